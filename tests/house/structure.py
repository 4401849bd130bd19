#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the structure of platform/, models/ and sw/: includes point downward, nothing is in a circle.

  python3 tests/house/structure.py [--build DIR] [--print]

Rules
  - No file includes itself through others, and no folder does.
  - A room of platform/ includes only what stands below it (ROOMS); kinds/X no other
    kind.
  - models/ includes nothing of platform/ but no more than sw/include of sw/; sw/ nothing of either.
  - No two files of platform/ and models/ define a type of one name: in one executable, which no tool
    complains about, members of one would be called for the other. Unnamed namespaces are free.
  - Sources of a library or firmware call each other in no circle (with --build: what nm finds there).
--print shows the arrows between folders. Exit status 1 and a line a violation.
"""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

# From below. Rooms in one entry do not include each other.
ROOMS = [{"base"}, {"adapters"}, {"config"}, {"waves", "check"}, {"jobs", "results"},
         {"machine", "campaign", "kinds"}, {"run", "reproduce"}, {"cli"}]
# Rooms of one floor that may look at another of it, in one direction.
BESIDE = {("results", "check"), ("jobs", "check")}
# Rooms whose folders do not see each other; sources beside the folders (a registry) see all.
FLATS = ("kinds",)


def sources(root):
    found = []
    for top in ("platform", "models", "sw"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".h", ".c", ".cpp"):
                found.append(path.relative_to(root).as_posix())
    return found


def includes_of(root, files):
    """{file: {included file of the repository}}"""
    known = set(files)
    result = {}
    for name in files:
        text = (root / name).read_text()
        found = set()
        for one in re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M):
            for candidate in (one, str(pathlib.PurePosixPath(name).parent / one)):
                if candidate in known:
                    found.add(candidate)
        result[name] = found
    return result


def circles(graph):
    """Strongly connected components of more than one node (Tarjan)."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in on_stack:
                low[node] = min(low[node], index[other])
        if low[node] != index[node]:
            return
        component = []
        while True:
            other = stack.pop()
            on_stack.discard(other)
            component.append(other)
            if other == node:
                break
        if len(component) > 1:
            found.append(sorted(component))

    sys.setrecursionlimit(100000)
    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def types_of(text):
    """Qualified names of classes, structures and enumerations that a file defines at the level of its namespaces."""
    spaces, found = [], set()
    for line in text.splitlines():
        opened = re.match(r"namespace ([\w:]*)\s*\{", line)
        if opened:
            spaces.append(opened[1])
        elif spaces and re.match(r"\}  // namespace", line):
            spaces.pop()
        elif "" not in spaces:
            named = re.match(r"(?:template <.*>\s*)?(?:class|struct|enum(?: class)?|union) (\w+)(?: final)?\s*(?:\{|:[^:]|$)",
                             line)
            if named and ("{" in line or not line.endswith(";")):  # A declaration defines nothing.
                found.add("::".join([*spaces, named[1]]))
    return found


def types_of_one_name(root, files):
    """{type: files that define it}, of those in several."""
    places = collections.defaultdict(list)
    for name in files:
        if name.split("/")[0] in ("platform", "models"):
            for one in types_of((root / name).read_text()):
                places[one].append(name)
    return {one: where for one, where in sorted(places.items()) if len(where) > 1}


def folder_of(name):
    return name.rsplit("/", 1)[0]


def folder_graph(includes):
    graph = collections.defaultdict(set)
    for name, others in includes.items():
        for other in others:
            if folder_of(name) != folder_of(other):
                graph[folder_of(name)].add(folder_of(other))
    return graph


def floor_of(room):
    return next((i for i, rooms in enumerate(ROOMS) if room in rooms), None)


def first_error_of(name, other):
    """What is wrong with `name` including `other`, or None."""
    top, below = name.split("/")[0], other.split("/")[0]
    if top == "models" and (below == "platform" or below == "sw" and not other.startswith("sw/include/")):
        return "a model includes only models/ and sw/include/"
    if top == "sw" and below != "sw":
        return "what runs on the machine includes only sw/"
    if top != "platform" or below != "platform":
        return None
    room, lower = name.split("/")[1], other.split("/")[1]
    for one in (room, lower):
        if floor_of(one) is None:
            return f"platform/{one} is no room; add it to ROOMS"
    if room == lower:
        mine, theirs = name.split("/")[2:-1], other.split("/")[2:-1]
        if room in FLATS and mine and theirs and mine[0] != theirs[0]:
            return f"folders of platform/{room} do not see each other"
        return None
    if floor_of(lower) > floor_of(room):
        return f"platform/{lower} stands above platform/{room}"
    if floor_of(lower) == floor_of(room) and (room, lower) not in BESIDE:
        return f"platform/{lower} stands beside platform/{room}"
    return None


def call_graph(nm, files):
    """{object: {objects that define what it calls}}, by `nm` over an archive or objects."""
    text = subprocess.run([nm, "-A", *map(str, files)], check=True, capture_output=True, text=True).stdout
    defined, wanted = {}, collections.defaultdict(set)
    for line in text.splitlines():
        found = re.match(r"(.+):[0-9a-f ]*\s([A-Za-z]) (\S+)$", line)
        if not found:
            continue
        where, kind, symbol = found.groups()
        where = where.rsplit(":", 1)[-1].rsplit("/", 1)[-1]
        if kind in "TDBR":
            defined[symbol] = where
        elif kind == "U":
            wanted[where].add(symbol)
    return {where: {defined[s] for s in symbols if s in defined and defined[s] != where}
            for where, symbols in wanted.items()}


def check_calls(build):
    jobs = [("nm", [path]) for path in sorted(build.glob("sw/**/lib*.a"))]
    for folder in sorted(build.glob("sw/firmware/*.dir")):
        objects = [one for one in sorted(folder.glob("*.o")) if not one.name.startswith("boot_")]
        if objects:  # The start code calls main.c and holds tohost: no part of a circle.
            jobs.append(("riscv64-unknown-elf-nm", objects))
    if not jobs:
        return [f"{build}: no library of sw/ is built there"]
    return [f"{files[0].parent if len(files) > 1 else files[0]}: calls in a circle: {', '.join(circle)}"
            for nm, files in jobs for circle in circles(call_graph(nm, files))]


def check(root, build=None):
    includes = includes_of(root, sources(root))
    if not includes:
        return [f"{root}: no sources in platform/, models/, sw/"]
    errors = [f"include cycle: {', '.join(one)}" for one in circles(includes)]
    errors += [f"folders include each other: {', '.join(one)}" for one in circles(folder_graph(includes))]
    errors += [f"{one} is defined in {' and '.join(where)}: two types of one name are taken for each other"
               for one, where in types_of_one_name(root, includes).items()]
    for name in sorted(includes):
        for other in sorted(includes[name]):
            error = first_error_of(name, other)
            if error:
                errors.append(f"{name} includes {other}: {error}")
    return errors + (check_calls(build) if build else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--print", action="store_true", dest="show")
    options = parser.parse_args()
    includes = includes_of(options.root, sources(options.root))
    if options.show:
        for folder, others in sorted(folder_graph(includes).items()):
            print(f"{folder}: {' '.join(sorted(others))}")
    errors = check(options.root, options.build)
    print("\n".join(errors) if errors else
          f"{len(includes)} files, {sum(map(len, includes.values()))} includes: no circle, none upward")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
