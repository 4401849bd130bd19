# SPDX-License-Identifier: Apache-2.0
"""What runs have measured: the "dictionary of kernel characteristics" of Kitsune, 5.3 (KT-LB-06).

A run writes profile.json (platform/kinds/graph): mode bsp what each operator takes as a kernel of its own and how much
of the pipes it uses, mode kitsune what a tile takes in each stage with one work-group. Several files are one profile,
in any order; what two of them measured is refused. The compiler has two passes: without, and with a profile.
"""

import dataclasses
import json
import pathlib

from front import graph as graphs
from planning import stage_kinds


@dataclasses.dataclass(frozen=True)
class Tiles:
    """Of a stage: microseconds of a tile with one work-group, of all column parts; those that its first tiles took from the
    stages before until they left it, or None."""
    tile_us: float
    first_us: float = None


@dataclasses.dataclass(frozen=True)
class Profile:
    operators: dict                                         # Result -> {"us", "tensor", "simt"}; shares of the pipes.
    tiles: dict = dataclasses.field(default_factory=dict)   # (operators' results, rows of a tile) -> Tiles.


def read(files, flow, machine):
    """Profile of this graph on this machine. Raises GraphError."""
    operators, tiles, seen = {}, {}, {}
    for file in files:
        data = load(file, flow, machine)
        found = [(f"operator {name}", name, one, operators) for name, one in data["operators"].items()]
        for one in data["stages"]:
            key = stage_key(file, one)
            found.append((f"stage {key[0][-1]}", key, Tiles(one["tile_us"], one.get("first_us") or None), tiles))
        for what, key, value, where in found:
            names = [key] if where is operators else key[0]
            for name in names:
                if name not in flow.made:
                    raise graphs.GraphError(f"--profile {file}: {what}: no operator makes {name!r}"
                                            f"{graphs.near(name, flow.made)}")
            if where is operators:
                check_operator(file, key, value)
            if (what, key) in seen:
                raise graphs.GraphError(f"--profile {file}: {what} is in {seen[what, key]}, too")
            seen[what, key] = file
            where[key] = value
    return Profile(operators, tiles)


def load(file, flow, machine):
    where, path = f"--profile {file}", pathlib.Path(file)
    if not path.is_file():
        raise graphs.GraphError(f"{where}: " + ("is no file" if path.exists() else "no such file"))
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise graphs.GraphError(f"{where}: {error.strerror}") from error
    except (ValueError, UnicodeDecodeError, RecursionError) as error:
        raise graphs.GraphError(f"{where}: is no JSON: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("operators"), dict):
        raise graphs.GraphError(f"{where}: must have graph, machine and a map of operators")
    for key, mine, absent in (("graph", flow.hash(), None), ("machine", machine.name, None),
                              ("set", list(machine.sets), [])):
        if data.setdefault(key, absent) != mine:
            raise graphs.GraphError(f"{where}: is of {key} {data[key]!r}, this is {mine!r}")
    if not isinstance(data.setdefault("stages", []), list):
        raise graphs.GraphError(f"{where}: stages must be a list")
    return data


def check_operator(file, name, one):
    numbers = [graphs.number(one.get(key)) if isinstance(one, dict) else None for key in ("us", "tensor", "simt")]
    if None in numbers or numbers[0] <= 0 or min(numbers) < 0:
        raise graphs.GraphError(f"--profile {file}: operator {name} must have us above 0, tensor and simt")


def stage_key(file, one):
    one = one if isinstance(one, dict) else {}
    members, rows, us = one.get("operators"), one.get("tile_rows"), graphs.number(one.get("tile_us"))
    first = graphs.number(one.get("first_us", 0))
    if not isinstance(members, list) or not members or not all(isinstance(name, str) for name in members) or \
            isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= stage_kinds.ROWS or us is None or us <= 0 or \
            first is None or first < 0:
        raise graphs.GraphError(f"--profile {file}: a stage must have operators, tile_rows of 1 to {stage_kinds.ROWS}, and "
                                "tile_us above 0, and first_us not below 0 if there is one")
    return tuple(members), rows
