#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fits.py FILE.fst FILE.gtkw: does every signal of a save file exist in the waves, with the width that it names?

GTKWave leaves out what it does not find and says nothing. Uses fst2vcd of gtkwave. Exit 1, and a line for each, if not.
"""
import re
import subprocess
import sys


def names(fst):
    """name without range -> range, as "[3:0]" or ""."""
    found, scopes = {}, []
    with subprocess.Popen(["fst2vcd", "-f", fst], stdout=subprocess.PIPE, text=True, errors="replace") as vcd:
        for line in vcd.stdout:
            words = line.split()
            if words[:1] == ["$scope"]:
                scopes.append(words[2])
            elif words[:1] == ["$upscope"]:
                scopes.pop()
            elif words[:1] == ["$var"]:
                found[".".join([*scopes, words[4]])] = "".join(words[5:-1])
            elif words[:1] == ["$enddefinitions"]:
                break
        vcd.terminate()
    return found


def main(fst, save_file):
    found, wrong, count = names(fst), 0, 0
    for number, line in enumerate(open(save_file), 1):
        match = re.match(r"(?:\+\{.*\} )?(gpu\d+\..*?)(\[\d+:\d+\])?$", line.strip())
        if not match:
            continue
        count += 1
        name, width = match.group(1), match.group(2) or ""
        if name not in found:
            print(f"{save_file}:{number}: {name}: no such signal", file=sys.stderr)
        elif found[name] != width:
            print(f"{save_file}:{number}: {name}{width} is {name}{found[name]} in the waves", file=sys.stderr)
        else:
            continue
        wrong += 1
    if count == 0:
        print(f"{save_file}: names no signal", file=sys.stderr)
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
