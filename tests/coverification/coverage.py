# SPDX-License-Identifier: Apache-2.0
"""Sums Verilator's coverage data and the tests' functional bins by block and judges them; called by tests/coverage.sh.

Points of several instances of a block, tests and parameters are one point: it is covered if any of them met it.
exclusions.txt: lines `file line|toggle regex  # reason`; the regex is searched in the source line (line) or must match the
whole signal name (toggle). An exclusion that excludes nothing is an error, so is one without a reason.
"""
import argparse
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def read_points(folder):
    """{(file, kind, line, name): count} of all data files; properties and packages are not counted."""
    points = collections.Counter()
    for data in sorted(pathlib.Path(folder).glob("*.dat")):
        for entry in data.read_text(errors="replace").splitlines():
            match = re.match(r"C '(.*)' (\d+)$", entry)
            if not match:
                continue
            fields = dict(field.split("\x02", 1) for field in match[1].split("\x01") if "\x02" in field)
            path = pathlib.Path(fields["f"])
            file = str(path.relative_to(ROOT)) if path.is_absolute() and path.is_relative_to(ROOT) else str(path)
            kind = fields.get("page", "").split("/")[0].removeprefix("v_")
            if not file.startswith("rtl/") or file.endswith(("_props.sv", "_pkg.sv")):
                continue
            kind = "toggle" if kind == "toggle" else "line"
            points[(file, kind, int(fields["l"]), f"{fields.get('n', '')}:{fields.get('o', '')}")] += int(match[2])
    return points


def read_bins(folder):
    """{block: {bin: count}} of the lines `coverage BLOCK COUNT  RULE: what` in the logs."""
    bins = collections.defaultdict(collections.Counter)
    for log in sorted(pathlib.Path(folder).glob("*.log")):
        for line in log.read_text(errors="replace").splitlines():
            if match := re.match(r"coverage (\w+) +(\d+)  (.+)$", line):
                bins[match[1]][match[3]] += int(match[2])
    return bins


def read_exclusions(path):
    exclusions = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.match(r"(\S+)\s+(line|toggle)\s+(.+?)\s+#\s+(\S.*)$", line)
        if not match:
            sys.exit(f"{path}:{number}: not `file line|toggle regex  # reason`")
        exclusions.append({"file": match[1], "kind": match[2], "regex": re.compile(match[3]), "hits": 0, "where": number})
    return exclusions


def is_excluded(key, exclusions, sources):
    file, kind, line, name = key
    signal = name.split(":", 1)[1]
    for one in exclusions:
        if one["file"] != file or one["kind"] != kind:
            continue
        text = signal if kind == "toggle" else sources(file)[line - 1]
        if one["regex"].fullmatch(text) if kind == "toggle" else one["regex"].search(text):
            one["hits"] += 1
            return True
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("blocks", nargs="*")
    parser.add_argument("--least", type=float, default=95)
    parser.add_argument("--exclusions", type=pathlib.Path, default=ROOT / "tests/coverification/exclusions.txt")
    options = parser.parse_args()
    points = read_points(options.folder)
    exclusions = read_exclusions(options.exclusions)
    cache = {}

    def sources(file):
        if file not in cache:
            cache[file] = (ROOT / file).read_text().splitlines()
        return cache[file]

    totals = collections.defaultdict(lambda: [0, 0, 0])  # (block, kind): met, all, excluded.
    missing = collections.defaultdict(list)
    for key, count in sorted(points.items()):
        file, kind, line, name = key
        block = file.split("/")[1]
        total = totals[(block, kind)]
        if count == 0 and is_excluded(key, exclusions, sources):
            total[2] += 1
            continue
        total[1] += 1
        if count:
            total[0] += 1
        else:
            missing[(block, kind)].append(f"{file}:{line} {name.split(':', 1)[1]}")
    blocks = options.blocks or sorted({block for block, _ in totals})
    bad = [f"{options.exclusions.name}:{one['where']} excludes nothing" for one in exclusions
           if one["hits"] == 0 and one["file"].split("/")[1] in blocks]
    for block in blocks:
        for kind in ("line", "toggle"):
            met, all_points, excluded = totals[(block, kind)]
            if all_points == 0:
                bad.append(f"{block}: no {kind} data")
                continue
            percent = 100 * met / all_points
            print(f"{block:16} {kind:7} {percent:6.2f} %   {met} of {all_points} points, {excluded} excluded")
            for text in missing[(block, kind)][:40 if percent < options.least else 10]:
                print(f"    not met: {text}")
            if percent < options.least:
                bad.append(f"{block}: {kind} coverage {percent:.2f} % is below {options.least:g} %")
    bins = read_bins(options.folder)
    for block in options.blocks or sorted(bins):
        print(f"{block:16} bins    {sum(1 for count in bins[block].values() if count)} of {len(bins[block])} met")
        for name, count in sorted(bins[block].items()):
            print(f"    {count:10}  {name}")
            if count == 0:
                bad.append(f"{block}: nothing met the bin '{name}'")
        if not bins[block]:
            bad.append(f"{block}: no random test says what it met")
    for text in bad:
        print(text)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
