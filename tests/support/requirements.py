#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Behind tests/requirements.sh: requirement ids of the targets against the tests that name them.

requirements.py ROOT [--check | --tests]
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

SYSTEMS = ("t3", "gpu_driven", "kitsune", "compnet", "tally")
REPRODUCTIONS = {"t3": "t3", "gpu_driven": "gpu-driven", "kitsune": "kitsune", "compnet": "compnet", "tally": "tally"}
LIST = "tests/reproduction/requirements.txt"
ID = r"\b(?:T3|GD|KT|CN|TL)-[A-Z0-9]+-\d+\b"
RANGE = re.compile(ID + r"(?:\s*\.\.|\s*/\s*\d|,\s*-?\d\d\b)")
TEST_CASE = re.compile(r'TEST_CASE(?:_METHOD)?\(((?:[^;{"]|"(?:[^"\\]|\\.)*")*)\)\s*\{')
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


class Targets:
    """Ids of requirements and results, per system."""

    def __init__(self, root):
        self.requirements, self.results = {}, {}
        for system in SYSTEMS:
            path = root / "tests/reproduction/targets" / f"{system}.yaml"
            if not path.exists():
                continue
            data = yaml.safe_load(path.read_text())
            self.requirements[system] = [r["id"] for m in data["mechanisms"] for r in m["requirements"]]
            self.results[system] = [r["id"] for r in data["results"]]
        self.all = [one for ids in self.requirements.values() for one in ids]


def split_arguments(text):
    """The strings of a TEST_CASE's arguments: adjacent literals are one."""
    parts, depth = [""], 0
    for token in re.finditer(r'"((?:[^"\\]|\\.)*)"|([(,)])', text):
        if token.group(2) is None:
            parts[-1] += token.group(1)
        elif token.group(2) == "," and depth == 0:
            parts.append("")
        else:
            depth += {"(": 1, ")": -1}.get(token.group(2), 0)
    return parts


def citations(root, errors):
    """id -> list of "file: sentence"."""
    cited = {}
    for path in sorted((root / "tests").rglob("*")):
        where = path.relative_to(root)
        if path.suffix not in (".cpp", ".h", ".py", ".sh") or where.parts[:3] == ("tests", "reproduction", "targets"):
            continue
        if where.name in ("requirements.py", "requirements_test.py", "requirements.sh"):
            continue
        text = path.read_text()
        for match in RANGE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            errors.append(f"{where}:{line}: {match.group(0)}: a range or a shortened id; write each id")
        if path.suffix == ".cpp":
            for case in TEST_CASE.finditer(text):
                arguments = split_arguments(case.group(1))
                tags = arguments[1] if len(arguments) > 1 else ""
                if "[.long]" in tags:  # The gate leaves it out: a shorter test must name the id.
                    continue
                for one in re.findall(r"\[(" + ID + r")\]", tags):
                    cited.setdefault(one, []).append(f"{where}: {arguments[0]}")
        else:
            for match in re.finditer(r"# covers: (.*)", text):
                for one in re.findall(ID, match.group(1))[:1]:
                    cited.setdefault(one, []).append(str(where))
                if not re.fullmatch(ID, match.group(1).strip()):
                    errors.append(f"{where}: '{match.group(0)}': one id a comment")
    return cited


def mentions_are_known(root, targets, errors):
    """Ids of requirements that occur in tests but in no target are misspelt."""
    groups = {one.rsplit("-", 1)[0] for one in targets.all}
    known = set(targets.all)
    for path in sorted((root / "tests").rglob("*")):
        where = path.relative_to(root)
        if path.suffix not in (".cpp", ".h", ".py", ".sh") or where.name.startswith("requirements"):
            continue
        for one in sorted(set(re.findall(ID, path.read_text()))):
            if one not in known:
                near = one.rsplit("-", 1)[0]
                errors.append(f"{where}: {one}: no such requirement" + (f" (of {near})" if near in groups else ""))


def read_list(root, targets, errors):
    """id -> (state, reason)."""
    listed = {}
    path = root / LIST
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.fullmatch(r"(\S+)\s+(covered|absent)(?:\s+(.*))?", line)
        if not match:
            errors.append(f"{LIST}:{number}: not 'ID covered' or 'ID absent REASON'")
            continue
        one, state, reason = match.groups()
        if one not in targets.all:
            errors.append(f"{LIST}:{number}: {one}: no such requirement")
        if one in listed:
            errors.append(f"{LIST}:{number}: {one} is there twice")
        if state == "absent" and not reason:
            errors.append(f"{LIST}:{number}: {one} is absent without a reason")
        if state == "covered" and reason:
            errors.append(f"{LIST}:{number}: {one}: only what is absent has a reason")
        listed[one] = (state, reason or "")
    return listed


def check(root):
    errors = []
    targets = Targets(root)
    cited = citations(root, errors)
    mentions_are_known(root, targets, errors)
    listed = read_list(root, targets, errors)
    for one in targets.all:
        state = listed.get(one, (None,))[0]
        if state is None:
            errors.append(f"{LIST}: {one} is not there")
        elif state == "absent" and one in cited:
            errors.append(f"{LIST}: {one} is called absent, and {cited[one][0]} names it")
        elif state == "covered" and one not in cited:
            errors.append(f"{LIST}: {one} is called covered, and no test names it")
    return targets, cited, listed, errors


def reproduced(root, system):
    """Ids in the table of `stretto reproduce`, each with whether it is only listed; None without a build."""
    build = pathlib.Path(os.environ.get("STRETTO_BUILD_DIR", "build"))
    executable = (build if build.is_absolute() else root / build) / "stretto"
    if not executable.exists():
        return None
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([executable, "reproduce", REPRODUCTIONS[system], "--table-only", "--out", out],
                              capture_output=True, text=True, cwd=root)
        table = pathlib.Path(out) / "table.json"
        if done.returncode != 0 or not table.exists():
            return []
        rows = []
        for row in json.loads(table.read_text())["targets"]:
            columns = [value for value in row.values() if isinstance(value, dict) and "verdict" in value]
            # Nothing was run, so the verdict is what is needed; of some nothing is measured whatever was run.
            rows.append((row["id"], all(column["verdict"] == "not measured" for column in columns)))
        return rows


def ids_text(ids):
    lines, line = [], "   "
    for one in ids:
        if len(line) + len(one) > 118:
            lines.append(line)
            line = "   "
        line += " " + one
    return "\n".join([*lines, line]) if ids else ""


def report(root):
    targets, cited, listed, errors = check(root)
    for system, ids in targets.requirements.items():
        named = [one for one in ids if one in cited]
        print(f"{system}: {len(named)} of {len(ids)} requirements are named by a test")
        missing = [one for one in ids if one not in cited]
        reasons = {one: listed.get(one, ("", ""))[1] for one in missing}
        if len(set(reasons.values())) == 1 and len(missing) > 1:
            print(f"  not named: {len(missing)}: {reasons[missing[0]]}")
        else:
            for one in missing:
                print(f"  {one:<16} {reasons[one]}")
        rows = reproduced(root, system)
        if rows is None:
            print("  results: build stretto to see which are computed")
            continue
        shown = [one for one, note in rows if note]
        computed = [one for one, note in rows if not note]
        there = {one for one, _ in rows}
        print(f"  results: {len(computed)} of {len(targets.results[system])} are computed by stretto reproduce")
        if shown:
            print("  listed without a figure:\n" + ids_text(shown))
        absent = [one for one in targets.results[system] if one not in there]
        if absent and rows:
            print("  not in the table:\n" + ids_text(absent))
    return errors


def main(arguments):
    root = pathlib.Path(arguments[0])
    mode = arguments[1] if len(arguments) > 1 else ""
    if mode not in ("", "--check", "--tests") or len(arguments) > 2:
        print(f"requirements.sh: unknown option {mode}; --check or --tests", file=sys.stderr)
        return 2
    if mode == "--tests":
        for one, where in sorted(citations(root, []).items()):
            for test in where:
                print(f"{one:<16} {test}")
        return 0
    if mode == "--check":
        targets, cited, _, errors = check(root)
        named = sum(one in cited for one in targets.all)
        print(f"{named} of {len(targets.all)} requirements are named by a test; {len(errors)} differences")
    else:
        errors = report(root)
    for error in errors:
        print(error, file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
