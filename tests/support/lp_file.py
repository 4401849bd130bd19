# SPDX-License-Identifier: Apache-2.0
"""Reads a linear program as a CPLEX LP file has it, and finds its optimum by trying all whole numbers.

For programs of few variables: maximise one real variable, others whole and bounded, or given by an equation.
"""

import dataclasses
import itertools
import math
import re

SECTIONS = {"maximize": "objective", "subject to": "rows", "bounds": "bounds", "generals": "whole", "end": "end"}
TOLERANCE = 1e-9


@dataclasses.dataclass
class Row:
    name: str
    terms: dict  # Variable -> factor.
    sense: str   # <= or =.
    limit: float

    def value(self, point):
        return sum(factor * point[name] for name, factor in self.terms.items())


class Program:
    def __init__(self, text):
        self.rows, self.lowest, self.highest, self.whole = [], {}, {}, []
        section = None
        for line in re.sub(r"\\.*", "", text).splitlines():
            line = line.strip()
            if line.lower() in SECTIONS:
                section = SECTIONS[line.lower()]
            elif line:
                getattr(self, "read_" + section)(line)

    def read_objective(self, line):
        self.objective, = terms(line.partition(":")[2])

    def read_rows(self, line):
        name, _, rest = line.partition(":")
        left, sense, right = re.split(r"(<=|=)", rest)
        self.rows.append(Row(name, terms(left), sense, float(right)))

    def read_bounds(self, line):
        both = re.fullmatch(r"(\S+) <= (\w+) <= (\S+)", line)
        if both:
            self.lowest[both[2]], self.highest[both[2]] = float(both[1]), float(both[3])
            return
        name, least = re.fullmatch(r"(\w+) >= (\S+)", line).groups()
        self.lowest[name] = float(least)

    def read_whole(self, line):
        self.whole += line.split()

    def best(self):
        """The most that the objective can be; infinite if nothing bounds it."""
        tried = [name for name in self.whole if name in self.highest]
        most = -math.inf
        for values in itertools.product(*(range(round(self.lowest[name]), round(self.highest[name]) + 1) for name in tried)):
            point = dict(zip(tried, values))
            if self._solve_equations(point):
                most = max(most, self._room(point))
        return most

    def _solve_equations(self, point):
        """Adds variables that equations give. Whether they are whole."""
        for row in self.rows:
            open_ones = [name for name in row.terms if name not in point and name != self.objective]
            if row.sense != "=" or not open_ones:
                continue
            name, = open_ones
            rest = sum(factor * point[one] for one, factor in row.terms.items() if one != name)
            point[name] = (row.limit - rest) / row.terms[name]
            if abs(point[name] - round(point[name])) > TOLERANCE:
                return False
        return True

    def _room(self, point):
        point = {**point, self.objective: 0.0}
        room = math.inf
        for row in self.rows:
            left = row.limit - row.value(point)
            if self.objective in row.terms:
                room = min(room, left / row.terms[self.objective])
            elif left < -TOLERANCE or (row.sense == "=" and left > TOLERANCE):
                return -math.inf
        return room


def terms(text):
    """Variable -> factor of `thr - 2.5 a0`."""
    found = {}
    for sign, factor, name in re.findall(r"([+-]?)\s*(\d[\d.e+-]*)?\s*([a-z]\w*)", text):
        found[name] = (-1.0 if sign == "-" else 1.0) * float(factor or 1)
    return found
