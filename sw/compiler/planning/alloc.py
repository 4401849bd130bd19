# SPDX-License-Identifier: Apache-2.0
"""Places of tensors in memory, used again when nobody reads them any more.

Inputs, weights, constants and results keep their places. A value lives from the step that makes it to the last that
reads it; operators of one step (a group) run at the same time. What only a pipeline's queues carry has no place.
"""

from front import graph as graphs

ALIGN = 4096


def up(value):
    return -(-value // ALIGN) * ALIGN


def places(flow, steps, carried=()):
    """(tensor -> (offset, first step, last step), bytes in all, bytes if nothing were used again)."""
    first, last, order = {}, {}, []
    for place, step in enumerate(steps):
        for number in step:
            name = flow.ops[number].output
            if name not in first and name not in carried and flow.tensor(name).kind not in graphs.GIVEN:
                first[name], last[name] = place, place
                order.append(name)
            for other in flow.inputs[number]:
                if other in first:
                    last[other] = place
    end, found = 0, {}
    for one in flow.graph.tensors.values():
        if one.kind in graphs.GIVEN:
            found[one.name] = (end, -1, len(steps))
            end += up(one.bytes)
    free, total, forever = [], end, end
    leaving = {}
    for place in range(len(steps)):
        for name in [one for one in order if first[one] == place and one not in found]:
            size = up(flow.tensor(name).bytes)
            forever += size
            fits = [hole for hole in free if hole[1] >= size]
            if fits:
                offset, room = min(fits, key=lambda hole: (hole[1], hole[0]))
                free.remove((offset, room))
                if room > size:
                    free.append((offset + size, room - size))
            else:
                offset = total
                tail = next((hole for hole in free if hole[0] + hole[1] == total), None)
                if tail:  # The last hole grows.
                    free.remove(tail)
                    offset = tail[0]
                total = offset + size
            keep = name in flow.results or flow.tensor(name).kind == "gradient"
            found[name] = (offset, place, len(steps) if keep else last[name])
            if not keep:
                leaving.setdefault(last[name], []).append((offset, size))
        free = merged(free + leaving.get(place, []))
    return found, total, forever


def merged(holes):
    result = []
    for offset, size in sorted(holes):
        if result and sum(result[-1]) == offset:
            result[-1] = (result[-1][0], result[-1][1] + size)
        else:
            result.append((offset, size))
    return result
