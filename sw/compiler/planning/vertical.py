# SPDX-License-Identifier: Apache-2.0
"""Vertical fusion (Kitsune, 3): operators of a group one after another on a tile of rows that stays in LDS.

A work-group has a tile of 128 rows to itself. What follows a product element by element is its epilogue. A norm needs
its whole row in the tile. A second product needs the first one's tile, its own, and its weights in LDS at once
(KT-U13), and weights whose rows are whole 16 bytes, as tensor cores load them. Sums over rows are out of reach, and so
is the backward pass.
"""

TILE_ROWS = 128
ALIGNED = 8  # Elements of 16 bytes.


def error(flow, members, machine):
    """Why these operators are no kernel of one tile, or None."""
    inside, rows = set(members), flow.rows(flow.ops[members[0]].output)
    products = set()
    for number in members:
        op, letter, out = flow.ops[number], flow.letters[number], flow.tensor(flow.ops[number].output)
        where = f"{op.kind} -> {op.output}"
        if letter not in "LENr" or number >= flow.split:
            return f"{where}: tiles of rows do not go through it in a forward pass"
        if out.rows != rows:
            return f"{where}: {out.rows} rows, others {rows}"
        producers = [flow.made[name] for name in flow.inputs[number] if flow.made.get(name) in inside]
        for name, base in zip(op.inputs, flow.inputs[number]):
            if flow.made.get(base) in inside and flow.rows(name) != flow.rows(base):
                return f"{where}: {name} has {flow.rows(name)} rows, the same bytes as {base} {flow.rows(base)}"
        behind_product = any(one in products for one in producers)
        if letter == "L" and producers:
            if flow.made.get(flow.inputs[number][1]) in inside:
                return f"{where}: {flow.inputs[number][1]} is made in the group, must be there as a whole"
            wrong = capacity_error(flow, number, machine)
            if wrong:
                return f"{where}: {wrong}"
        if letter == "N" and behind_product and 2 * TILE_ROWS * out.columns > machine.lds_bytes:
            return f"{where}: rows of {out.columns} columns do not fit {machine.lds_bytes} bytes of LDS"
        if letter == "L" or behind_product:
            products.add(number)
    return None


def capacity_error(flow, number, machine):
    """KT-U13 for a product behind another one."""
    op = flow.ops[number]
    inner, columns = flow.tensor(op.inputs[0]).columns, flow.tensor(op.output).columns
    needed = 2 * (TILE_ROWS * inner + TILE_ROWS * columns + inner * columns)
    if needed > machine.lds_bytes:
        return f"two tiles and its weights take {needed} bytes, {machine.lds_bytes} of LDS are there"
    if columns % ALIGNED:
        return f"rows of {columns} weights are no whole 16 bytes"
    return None


def dram_bytes(flow, members):
    """Closed form: distinct operands from outside, and what leaves."""
    inside = set(members)
    outside = {}
    for number in members:
        for name in flow.inputs[number]:
            if flow.made.get(name) not in inside:
                outside[name] = max(outside.get(name, 0), flow.bytes_of(number, name))
    leaves = [flow.ops[number].output for number in members
              if flow.ops[number].output in flow.results or
              any(one not in inside for one in flow.readers.get(flow.ops[number].output, []))]
    return sum(outside.values()) + sum(flow.tensor(name).bytes for name in leaves)
