# SPDX-License-Identifier: Apache-2.0
"""Which operators become a group: patterns over classes of operators in topological order (Kitsune, 5.1).

A pattern is a regular expression over the letters of flow.py. Patterns are tried in their order from left to right;
what matches is cut into pieces that intermediate results connect, and a piece is a group if it is contiguous, streams,
and has an intermediate result at all. Otherwise its last operators are left out, one by one.

Add a pattern: one line in a library below, and the row of the README. Excluded by their class: gathers and scatters
(they index all data), batched products and softmax (bulk-synchronous friendly: a matrix is whole before the next
begins), updates.
"""

import dataclasses
import re

from front import graph as graphs


@dataclasses.dataclass(frozen=True)
class Pattern:
    name: str
    expression: str
    why: str
    passes: str = "forward"  # Or backward, both.


PIPELINES = (
    Pattern("mlp-norm", "(?:LE+)+LN", "linear, activation, ..., linear and the norm of its rows (Fig. 8b)"),
    Pattern("run", "[LECr]*L[LECr]*", "linear layers, what is element by element and joins between (Fig. 2a)"),
    Pattern("linear-back", "[DEM]+p*(?:LW|WL?)R?", "a gradient that feeds two products and a sum (Fig. 2c, 8e)",
            "backward"),
    Pattern("reduce", "[DE]+R+", "element by element, then a sum over rows (Fig. 2b)", "backward"),
)
RESTS = (  # Of a group whose wide products are left to kernels.
    Pattern("rest", "[LECr]+", "what lies between them", "both"),
)
FUSIONS = (
    Pattern("mlp-norm", "(?:LE+)+LN", "as for pipelines, where tiles fit the LDS"),
    Pattern("mlp", "(?:LE+)+L?", "likewise"),
    Pattern("epilogue", "LE+N?|LN", "what a product does to its tile before it stores it"),
    Pattern("rows", "[Er]*r[Er]*", "stitched operators on rows"),
    Pattern("elementwise", "EE+", "one pass over the elements"),
)


@dataclasses.dataclass
class Group:
    pattern: str
    members: list  # Numbers of operators, ascending.


def select(flow, library, check, exclude=()):
    """Groups, and why pieces were left out. `check(members)` returns None, or what is wrong with a group. `exclude`:
    results of operators that run on their own."""
    letters = "".join("x" if flow.ops[at].output in exclude else one for at, one in enumerate(flow.letters))
    groups, taken, left_out = [], set(), []
    for pattern in library:
        at = flow.split if pattern.passes == "backward" else 0
        end = flow.split if pattern.passes == "forward" else len(letters)
        while True:
            # What is taken is invisible to later patterns, and ends their matches.
            visible = "".join("." if number in taken else one for number, one in enumerate(letters))
            match = re.compile(pattern.expression).search(visible, at, end)
            if match is None or match.end() == match.start():
                break
            at = match.start() + 1  # What is left of a match may be one of its own.
            for piece in connected(flow, list(range(*match.span()))):
                members, reason = shrink(flow, piece, check)
                if reason and reason not in left_out:
                    left_out.append(reason)
                if members:
                    groups.append(Group(pattern.name, members))
                    taken |= set(members)
    groups.sort(key=lambda group: group.members[0])
    return groups, left_out


def connected(flow, members):
    """The pieces of a run that intermediate results hold together, in order."""
    piece = {number: {number} for number in members}
    for number in members:
        links = flow.before[number] & set(members)
        if flow.letters[number] == "p":  # Of the kernel of its gradient: the same operands.
            links |= {other for other in members if flow.letters[other] == "M" and
                      flow.ops[other].inputs[-1] == flow.ops[number].inputs[-1]}
        for other in links:
            if piece[other] is not piece[number]:
                merged = piece[other] | piece[number]
                for one in merged:
                    piece[one] = merged
    return sorted({min(one): sorted(one) for one in piece.values()}.values())


def shrink(flow, members, check):
    """The longest beginning that is a group, or nothing; and what its first failure was."""
    reason = None
    while len(members) > 1:
        wrong = contiguity_error(flow, members) or check(members)
        if wrong is not None:
            reason = reason or wrong
            members = members[:-1]
            continue
        pieces = connected(flow, members)
        if len(pieces) == 1:
            return (members if has_intermediate(flow, members) else None), reason
        members = max(pieces, key=len)
    return None, reason


def has_intermediate(flow, members):
    return any(flow.before[number] & set(members) for number in members)


def contiguity_error(flow, members):
    """What leaves the group and comes back (KT-SEL-02), or None."""
    inside = set(members)
    outside_after = {number for number in flow.reach(members, flow.after) if number not in inside}
    for number in sorted(members):
        for before in sorted(flow.before[number]):
            if before in outside_after:
                source = next(one for one in sorted(members) if before in flow.reach([one], flow.after))
                return (f"group of {names(flow, members)} is not contiguous: {flow.ops[source].output} leaves it, "
                        f"{flow.ops[before].output} comes back into {flow.ops[number].output}")
    return None


def names(flow, members):
    found = [flow.ops[number].output for number in members]
    return ", ".join(found if len(found) <= 4 else [*found[:2], "...", found[-1]])


def forced(flow, outputs, check):
    """The group whose operators make these results; raises GraphError where it is none."""
    members = []
    for name in outputs:
        if name not in flow.made:
            raise graphs.GraphError(f"--group: no operator makes {name!r}{graphs.near(name, flow.made)}")
        members.append(flow.made[name])
    members = sorted(set(members))
    wrong = contiguity_error(flow, members) or check(members)
    if wrong is None and len(connected(flow, members)) > 1:
        wrong = f"group of {names(flow, members)}: nothing passes between its operators"
    if wrong is not None:
        raise graphs.GraphError("--group: " + wrong)
    return Group("forced", members)


def order(flow, groups):
    """Steps of a plan: groups and single operators so that each comes after what it reads; raises GraphError if
    groups wait for each other."""
    of = {number: place for place, group in enumerate(groups) for number in group.members}
    steps, done, waiting = [], set(), list(range(len(flow.ops)))
    placed = set()
    while waiting:
        for number in waiting:
            members = groups[of[number]].members if number in of else [number]
            if all(flow.before[one] <= done | set(members) for one in members):
                break
        else:
            raise graphs.GraphError("groups wait for each other: " + names(flow, waiting))
        if number in of:
            placed.add(of[number])
            steps.append(groups[of[number]])
        else:
            steps.append(number)
        done |= set(members)
        waiting = [one for one in waiting if one not in done]
    return steps
