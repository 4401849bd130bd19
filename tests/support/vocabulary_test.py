#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No word of one paper is vocabulary of the machine: models/, rtl/ and sw/include/regs.

A citation is no vocabulary: "T3-TRK-04", "T3 4.2.1", "T3 Table 1"; a README.md may name what it compares with.
Everything else that contains one of WORDS as a whole word, or as a part of an identifier, is an error, unless
vocabulary_exceptions.txt has the line "PATH WORD REASON". An exception that nothing needs is an error, too.

    vocabulary_test.py [--root DIR]
"""
import argparse
import pathlib
import re
import subprocess
import sys

WORDS = {"gemm", "gemms", "rs", "ag", "agc", "nmc", "t3", "kitsune", "tally", "compnet"}
FOLDERS = ("models", "rtl", "sw/include/regs")
# Requirement ids, as "T3-TRK-01", and places in a paper.
CITATION = re.compile(
    r"\b(?:T3|GD|KT|CN|TL)-[A-Z]+[A-Z0-9]*(?:-[A-Z0-9]+)?\b"
    r"|\bT3 \(?(?:\d+(?:\.\d+)*|Figs? \d+|Table \d+)")
PART = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")


def words_of(line):
    """The words of WORDS in a line; "first_dispatch_gemm" and "kGemmAccount" contain gemm."""
    found = set()
    for token in re.findall(r"\w+", CITATION.sub(" ", line)):
        parts = {part.lower() for piece in token.split("_") for part in [piece, *PART.findall(piece)]}
        found |= parts & WORDS
    return found


def read_exceptions(path):
    exceptions = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split(None, 2)
        if len(fields) != 3 or fields[1] not in WORDS:
            sys.exit(f"{path}:{number}: expected PATH WORD REASON, WORD one of {', '.join(sorted(WORDS))}")
        exceptions[fields[0], fields[1]] = number
    return exceptions


def check(root, exceptions_file):
    exceptions = read_exceptions(exceptions_file)
    unused = set(exceptions)
    files = subprocess.run(["git", "-C", root, "ls-files", *FOLDERS], capture_output=True, text=True, check=True)
    names = [name for name in files.stdout.split() if not name.endswith("README.md")]
    if len(names) < 100:
        sys.exit(f"{root}: only {len(names)} files in {', '.join(FOLDERS)}")
    errors = 0
    for name in names:
        for number, line in enumerate((root / name).read_text(errors="replace").splitlines(), 1):
            for word in sorted(words_of(line)):
                if (name, word) in exceptions:
                    unused.discard((name, word))
                    continue
                print(f"{name}:{number}: '{word}' is the word of one paper: {line.strip()[:90]}")
                errors += 1
    for name, word in sorted(unused):
        print(f"{exceptions_file.name}:{exceptions[name, word]}: {name} has no '{word}' any more")
    return errors + len(unused)


def self_test():
    """The test can fail, and does not where it must not."""
    for line in ('sink.add("first_dispatch.gemm", t)', "uint8_t kGemmAccount", "enum {kRs, kAg}", "rs_flags_",
                 "name: ag", "the t3 machine", "tally_client", "RsFlags"):
        assert words_of(line), line
    for line in ("first (T3-TRK-01) and T3 4.2.1, T3 Figs 11-12, T3 Table 1", "args, tag, regs, flags", "RS1 + RS2 of CSRs",
                 "T3-SPLITK-02, KT-BSP-02", "storage average"):
        assert not words_of(line), (line, words_of(line))


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
here = pathlib.Path(__file__).resolve().parent
parser.add_argument("--root", type=pathlib.Path, default=here.parent.parent)
options = parser.parse_args()
self_test()
sys.exit(1 if check(options.root, here / "vocabulary_exceptions.txt") else 0)
