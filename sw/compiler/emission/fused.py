# SPDX-License-Identifier: Apache-2.0
"""Groups of a plan that are fused vertically (vertical.py) as what `stretto run --mode vertical` launches.

A product with its activation, or with what is added to it, is the library's product with an epilogue, where it has that
one. What else is a chain of
products, each with bias and activation, perhaps with a norm behind the last one, is a kernel of sw/kernels/fused: tiles
between the products stay in LDS. Of other groups, the parts that are one of these; the rest runs as kernels of its own.
"""

import dataclasses

from emission import stages
from front import flow as flows, graph as graphs
from planning import vertical

LIBRARY = {"Relu": "relu", "Gelu": "gelu"}  # Epilogues of its products.
INNER = ("none", *LIBRARY.values())         # What a tile in LDS can become.
MOST_PRODUCTS = 4                           # FUSED_MOST_PRODUCTS.
MOST_COLUMNS = 256                          # FUSED_MOST_COLUMNS.
NORM_COLUMNS = 512                          # FUSED_NORM_COLUMNS: of one product.


@dataclasses.dataclass
class Group:
    first: int
    ops: list
    about: dict


def planned(plan, steps, machine):
    """The groups of a plan of modes.py that can be launched, and why others cannot, by their first result. `plan` has
    the same operators, none fused. Of a group that is no kernel as a whole, runs of operators that are one."""
    order = {op.output: i for i, op in enumerate(plan.ops)}
    flow = flows.Flow(plan.graph)
    groups, alone = [], {}
    for step in steps:
        if step["kind"] != "fused":
            continue
        at = sorted(order[name] for name in step["operators"])
        if at != list(range(at[0], at[0] + len(at))):
            alone[step["name"]] = "its operators do not follow each other"
            continue
        made, why = _split(plan, flow, at, machine)
        groups += made
        if why:
            fused = sum(len(group.ops) for group in made)
            alone[step["name"]] = why + (f"; {fused} of its {len(at)} operators are fused, {len(made)} kernels"
                                         if made else "")
    return sorted(groups, key=lambda group: group.first), alone


def _split(plan, flow, at, machine):
    """From the first operator on, the longest runs that are a kernel each; why it is not the whole."""
    groups, why, first = [], None, 0
    while first < len(at):
        for end in range(len(at), first + 1, -1):
            try:
                groups.append(_Chain(plan, flow, at[first:end], machine).group)
            except graphs.GraphError as error:
                why = why or str(error)
                continue
            first = end
            break
        else:
            first += 1
    return groups, why


def describe(groups):
    return [{"first": group.first, "ops": len(group.ops), **group.about} for group in groups]


class _Chain:
    def __init__(self, plan, flow, at, machine):
        self.plan, self.graph, self.machine = plan, plan.graph, machine
        self.ops = [plan.ops[i] for i in at]
        self.rows = self.graph.tensors[self.ops[0].output].rows
        self.addend = None
        products, norm = self._products()
        kept = self._check_inside()
        about = {"name": self.ops[0].output, "operators": [op.output for op in self.ops], "rows": self.rows,
                 "input": self.ops[0].inputs[0], "output": self.ops[-1].output,
                 "dram_bytes": vertical.dram_bytes(flow, [flow.made[op.output] for op in self.ops]),
                 "products": products, **({"norm": norm} if norm else {}),
                 **({"addend": self.addend} if self.addend else {}), **({"keep": kept} if kept else {})}
        one = len(products) == 1 and not norm and not kept and (self.addend or products[0]["activation"] in LIBRARY.values())
        about["kernel"] = "product" if one else "chain"
        if about["kernel"] == "chain":
            self._check_chain(products, norm)
        self.group = Group(at[0], self.ops, about)

    def _products(self):
        """Products with their epilogues, and the norm."""
        products, norm, last = [], None, None
        for op in self.ops:
            where = f"{op.kind} -> {op.output}"
            added = self._addend(op, last)
            if norm or self.addend or (last is None and op.kind != "MatMul") or \
                    (last is not None and op.inputs[0] != last and not added):
                raise graphs.GraphError(f"{where} is no link of a chain of products")
            if op.kind == "MatMul":
                products.append(self._product(op))
            elif op.kind in stages.ACTIVATIONS and len(op.inputs) == 1 and products[-1]["activation"] == "none":
                products[-1]["activation"] = stages.ACTIVATIONS[op.kind]
            elif op.kind == "LayerNorm" and products[-1]["activation"] == "none":
                norm = {"gamma": op.inputs[1], "beta": op.inputs[2], "words": self.plan.words_of(op)}
            elif added and len(products) == 1 and products[0]["activation"] == "none":
                self.addend = added
            else:
                raise graphs.GraphError(f"{where} is no epilogue of a fused kernel")
            last = op.output
        return products, norm

    def _addend(self, op, last):
        """What an Add adds to `last`, if it is as large."""
        if op.kind != "Add" or last not in op.inputs:
            return None
        other = op.inputs[1 - op.inputs.index(last)]
        is_whole = self.graph.tensors[other].elements == self.graph.tensors[last].elements
        return other if is_whole and other != last else None

    def _product(self, op):
        shape, x = graphs.matmul_shape(self.graph, op), self.graph.tensors[op.inputs[0]]
        if shape["outer"] * shape["inner"] != 1 or op.get("transpose_a") or x.rows != self.rows:
            raise graphs.GraphError(f"{op.kind} -> {op.output}: its left side is no matrix of the group's rows")
        activation = "gelu" if op.get("gelu") else "relu" if op.get("relu") else "none"
        return {"weights": op.inputs[1], "transpose_b": int(bool(op.get("transpose_b"))), "activation": activation,
                **({"bias": op.inputs[2]} if len(op.inputs) == 3 else {})}

    def _check_inside(self):
        """What is between the operators may not leave them: it is nowhere else. But for the last product, which lies as its
        result does: it can be kept."""
        read = stages.left_by(self.plan, self.ops)
        last = max(i for i, op in enumerate(self.ops) if op.kind == "MatMul")
        for i, op in enumerate(self.ops[:-1]):
            if op.output in read and i != last:
                raise graphs.GraphError(f"{op.output} stays in a fused kernel, and others read it or it is a result")
        kept = self.ops[last].output if last + 1 < len(self.ops) and self.ops[last].output in read else None
        if kept and self.addend:
            raise graphs.GraphError(f"others read {kept} or it is a result, and something is added to it")
        return kept

    def _check_chain(self, products, norm):
        if len(products) > MOST_PRODUCTS:
            raise graphs.GraphError(f"it has {len(products)} products, at most {MOST_PRODUCTS} are one kernel")
        for product in products[:-1]:
            if product["activation"] not in INNER:
                raise graphs.GraphError(f"{product['activation']} is worked out in FP32, for which a tile in LDS has "
                                        "no room")
        weights = sum(self.graph.tensors[product["weights"]].bytes for product in products)
        if weights > self.machine.l2_bytes // 2:
            raise graphs.GraphError(f"its weights of {weights} bytes do not stay in the L2 of {self.machine.l2_bytes}")
        wide = max(self.graph.tensors[op.output].columns for op in self.ops)
        most = MOST_COLUMNS if len(products) > 1 else NORM_COLUMNS
        if (len(products) > 1 or norm) and wide > most:
            raise graphs.GraphError(f"it has rows of {wide} columns, at most {most} are a tile of a fused kernel")
