# SPDX-License-Identifier: Apache-2.0
"""apply.py VARIANT.txt BLOCK FOLDER: makes FOLDER, the variant's RTL as a user would bring it (README.md)."""
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]


def main():
    rules, block, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files = {}
    for number, rule in enumerate(rules.read_text().splitlines(), 1):
        if rule.startswith("//") or not rule.strip():
            continue
        match = re.fullmatch(r"(\w+\.sv): (.+) => (.+)", rule)
        if not match:
            sys.exit(f"{rules}:{number}: not `file: text => line`")
        name, text, replacement = match.groups()
        lines = files.setdefault(name, (ROOT / "rtl" / block / name).read_text().splitlines())
        found = [i for i, line in enumerate(lines) if text in line]
        if len(found) != 1:
            sys.exit(f"{rules}:{number}: '{text}' is in {len(found)} lines of rtl/{block}/{name}")
        indent = re.match(r" *", lines[found[0]])[0]
        lines[found[0]] = indent + replacement
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n")
    # The list names the changed files beside it; the others, as the registers, stay the repository's. Changed properties
    # are in no list: they are bound because they lie beside it.
    listing = (ROOT / "rtl" / block / f"{block}.f").read_text().splitlines()
    listing = [pathlib.Path(line).name if pathlib.Path(line).name in files else line for line in listing]
    (folder / f"{block}.f").write_text("\n".join(listing) + "\n")


if __name__ == "__main__":
    main()
