# SPDX-License-Identifier: Apache-2.0
"""Reads a linear program in CPLEX LP form, and says what of Algorithm 2 (balance.py) it lacks.

The answer of a solver shows a dropped constraint only if that one binds. So what the solver has read (`glpsol --wlp`) is
compared with the stages and limits that the program was made for, name by name.
"""

import re

SECTIONS = ("maximize", "subject to", "bounds", "generals", "end")
CLOSE = 1e-6  # Relative: numbers are printed with 12 digits or fewer.


def sections(text):
    """Lines of each section, those that a name does not begin joined to the one before."""
    found, at = {name: [] for name in SECTIONS}, None
    for line in re.sub(r"\\.*", "", text).splitlines():
        line = " ".join(line.split())
        if line.lower() in SECTIONS:
            at = line.lower()
        elif line and at:
            if at in ("maximize", "subject to") and ":" not in line and found[at]:
                found[at][-1] += " " + line
            else:
                found[at].append(line)
    return found


def terms(text):
    """Variable -> factor."""
    found = {}
    for sign, factor, name in re.findall(r"([+-]?) ?(\d[\d.]*(?:e[+-]?\d+)?)? ?([a-z]\w*)", text):
        found[name] = found.get(name, 0) + (-1.0 if sign == "-" else 1.0) * float(factor or 1)
    return found


def rows(text):
    """Name -> (factors, <= or =, limit) of constraints."""
    found = {}
    for line in sections(text)["subject to"]:
        name, _, rest = line.partition(":")
        left, sense, right = re.fullmatch(r"(.*?) (<=|>=|=) (\S+)", rest.strip()).groups()
        found[name.strip()] = (terms(left), sense, float(right))
    return found


def bounds(text):
    """Name -> (lowest, highest) of variables that have both."""
    found = {}
    for line in sections(text)["bounds"]:
        both = re.fullmatch(r"(\S+) <= (\w+) <= (\S+)", line)
        fixed = re.fullmatch(r"(\w+) = (\S+)", line)
        if both:
            found[both[2]] = (float(both[1]), float(both[3]))
        elif fixed:
            found[fixed[1]] = (float(fixed[2]), float(fixed[2]))
    return found


def expected(program):
    """Constraints of Algorithm 2: name -> (what it is of, factors, sense, limit)."""
    found = {}
    for at, load in enumerate(program.loads):
        found[f"stage_{at}"] = (f"stage {load.name}", {"thr": 1, f"a{at}": -load.rate(1, program.units)}, "<=", 0)
        if load.step > 1:
            found[f"parts_{at}"] = (f"column parts of {load.name}", {f"a{at}": 1, f"g{at}": -load.step}, "=", 0)
    found["dram"] = ("DRAM", {"thr": program.dram_bytes}, "<=", program.dram_peak)
    found["l2"] = ("L2", {"thr": program.l2_bytes}, "<=", program.l2_peak)
    for kind in ("SIMT", "TENSOR"):
        these = {f"a{at}": 1 for at, load in enumerate(program.loads) if load.kind == kind}
        if these:
            found[kind.lower()] = (f"{kind} work-groups", these, "<=", program.units)
    return found


def is_close(one, other):
    return abs(one - other) <= CLOSE * max(abs(one), abs(other), 1e-30)


def lacking(program, text):
    """What of Algorithm 2 a program's text does not have, or has otherwise: sentences that begin with the constraint."""
    there, found = rows(text), []
    for name, (what, factors, sense, limit) in expected(program).items():
        if name not in there:
            found.append(f"constraint {name} ({what}) is missing")
            continue
        has, its_sense, its_limit = there[name]
        if its_sense != sense or not is_close(its_limit, limit) or set(has) != set(factors) or \
                not all(is_close(has[one], factor) for one, factor in factors.items()):
            found.append(f"constraint {name} ({what}) is another one")
    limits = bounds(text)
    whole = set(" ".join(sections(text)["generals"]).split())
    for at, load in enumerate(program.loads):
        if limits.get(f"a{at}") != (load.lowest, load.highest):
            found.append(f"bounds of a{at} (work-groups of {load.name}) are missing, or others")
        if f"a{at}" not in whole:
            found.append(f"a{at} (work-groups of {load.name}) need not be whole")
    return found
