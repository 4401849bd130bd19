#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts which files name the members of the lists: what must be edited for one more of them.

  python3 tests/house/budgets.py [--print]

A policy of the MCA touches at most 3 files written by hand, a kind of workload 2, a reproduction 1, an RTL block 5.
Rules
  - A sample of each list is named by its own files and the homes (LISTS) alone, and the homes are within the budget.
  - Another file that names all members of a list is a second list.
Not counted: generated files, documents, tests. Exit status 1 and a line a violation.
"""
import argparse
import dataclasses
import pathlib
import re
import sys

SUFFIXES = (".h", ".c", ".cpp", ".sv", ".svh", ".yaml", ".txt", ".cmake", ".py", ".sh", ".in")
ROOTS = ("platform", "models", "sw", "rtl")


@dataclasses.dataclass
class List:
    what: str
    budget: int
    homes: tuple  # Files that one more member touches.
    sample: tuple  # Members that nothing else may name; the newest, in no other role.
    members: object  # root -> names
    own: str  # Of the path of a file that is the member's; {} is its name.
    users: tuple = ()  # Other files that may name them: a new one need not be there.


def policies(root):
    text = (root / "sw/include/regs/mca.yaml").read_text()
    found = re.search(r"name: policy.*?enum: \{(.*?)\}", text, re.S)
    return re.findall(r"(\w+):", found[1]) if found else []


def folders_of(place, ending):
    return lambda root: sorted(path.name + ending for path in (root / place).iterdir() if path.is_dir())


def blocks(root):
    rows = (root / "rtl/blocks.txt").read_text().splitlines()
    return [row.split()[0] for row in rows if row and not row.startswith("#")]


LISTS = [
    List("policy", 3, ("sw/include/regs/mca.yaml", "rtl/mca/mca.sv", "models/reference/mca_model.h"),
         ("compute_first_no_limit", "compute_exclusive"), policies, r"^$", ("rtl/mca/mca_props.sv",)),
    List("kind", 2, ("platform/kinds/registry.cpp", "platform/CMakeLists.txt"),
         ("interference_kind", "gathered_gemm_kind"), folders_of("platform/kinds", "_kind"),
         r"^platform/kinds/[a-z0-9_]+/"),
    List("reproduction", 1, ("platform/reproduce/registry.cpp",), ("gpu_driven_reproduction",),
         folders_of("platform/reproduce", "_reproduction"),
         r"^platform/reproduce/[a-z0-9_]+/"),
    List("block", 5, ("rtl/blocks.txt", "sw/include/formats/address_map.h", "platform/machine/gpu_node.h",
                      "platform/machine/gpu_node.cpp"),
         (), blocks, r"^(rtl/{0}/|models/reference/{0}_|platform/adapters/verilated_{0}\.|sw/include/regs/{0}[._])",
         ("platform/adapters/rtl_bench.cpp", "sw/firmware/CMakeLists.txt")),
]


def sources(root):
    """{path: text} of files written by hand."""
    found = {}
    for top in ROOTS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            text = path.read_text(errors="replace")
            if "Generated from" not in text[:300] or path.suffix == ".in":
                found[path.relative_to(root).as_posix()] = text
    return found


def spelled(name):
    """A name as C, C++, SystemVerilog and YAML spell it."""
    camel = "".join(word.capitalize() for word in name.split("_"))
    return re.compile(rf"(?<![a-z0-9])({name}|{name.replace('_', '-')})(?![a-z0-9])|"
                      rf"{camel}(?![a-z0-9])|(?<![A-Z0-9]){name.upper()}(?![A-Z0-9])")


def named_by(files, one, name):
    pattern, own = spelled(name), re.compile(one.own.format(name))
    return [path for path, text in files.items() if not own.search(path) and pattern.search(text)]


def check(root, show=False):
    files = sources(root)
    errors = []
    for one in LISTS:
        members = one.members(root)
        if len(members) < 2:
            errors.append(f"{one.what}: no members found")
            continue
        if len(one.homes) > one.budget:
            errors.append(f"a {one.what} touches {len(one.homes)} files, allowed {one.budget}: {', '.join(one.homes)}")
        for name in one.sample:
            if name not in members:
                errors.append(f"{one.what}: the sample {name} is gone; choose another one")
        by = {name: named_by(files, one, name) for name in members}
        for path in one.homes + one.users:
            if not any(path in paths for paths in by.values()):
                errors.append(f"{path} names no {one.what}; take it out of LISTS")
        for name in one.sample:
            for path in by.get(name, []):
                if path not in one.homes + one.users:
                    errors.append(f"{path} names the {one.what} {name}: one more is named by {', '.join(one.homes)} alone")
        for path in set.intersection(*(set(paths) for paths in by.values())):
            if path not in one.homes + one.users:
                errors.append(f"{path} names every {one.what}: a second list; read {one.homes[0]}")
        if show:
            print(f"{one.what}: {len(members)} members, {len(one.homes)} of at most {one.budget} files")
    return errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--print", action="store_true", dest="show")
    options = parser.parse_args()
    errors = check(options.root, options.show)
    print("\n".join(errors) if errors else "policies, kinds, reproductions and blocks are within their budgets")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
