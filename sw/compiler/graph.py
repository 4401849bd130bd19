# SPDX-License-Identifier: Apache-2.0
"""Operator graphs: tensors of FP16, operators in the order in which they run, and the errors of both.

A tensor has a shape (rows ..., columns), row-major. Kinds: input, weight (both have contents before the
first iteration), constant (one value), value (an operator writes it), gradient (likewise; reduced over all
ranks if an AllReduce takes it).
"""

import dataclasses
import difflib
import math


class GraphError(Exception):
    """What is wrong with a graph, in one line."""


KINDS = ("input", "weight", "constant", "value", "gradient")
# Name -> (inputs, attributes).
OPERATORS = {
    "MatMul": ((2, 3), ("transpose_a", "transpose_b", "heads_a", "heads_b", "heads_out", "sequences")),
    "Add": ((2, 2), ()), "Sub": ((2, 2), ()), "Mul": ((2, 2), ()),
    "Gelu": ((1, 1), ()), "GeluGrad": ((2, 2), ()),
    "Softmax": ((1, 1), ("scale",)), "SoftmaxGrad": ((2, 2), ("scale",)),
    "LayerNorm": ((3, 3), ("epsilon",)), "LayerNormGrad": ((3, 3), ("epsilon",)),
    "Update": ((2, 2), ("rate",)),
    "AllReduce": ((1, 1), ()),
}


REALS = ("scale", "epsilon", "rate")


@dataclasses.dataclass
class Tensor:
    name: str
    shape: tuple
    kind: str = "value"
    value: float = 0.0  # Of a constant.

    @property
    def columns(self):
        return self.shape[-1]

    @property
    def rows(self):
        return self.elements // self.shape[-1]

    @property
    def elements(self):
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    @property
    def bytes(self):
        return 2 * self.elements


@dataclasses.dataclass
class Op:
    kind: str
    inputs: list
    output: str
    attributes: dict = dataclasses.field(default_factory=dict)

    def get(self, name, default=0):
        return self.attributes.get(name, default)


def near(word, words):
    found = difflib.get_close_matches(word, list(words), 3, 0.5)
    return "; nearest: " + ", ".join(found) if found else "; allowed: " + ", ".join(sorted(words))


def number(value):
    """The value as a float, or None; YAML has 1e-3, without a point, as text."""
    try:
        real = None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
    return real if real is not None and math.isfinite(real) else None


class Graph:
    def __init__(self, name):
        self.name = name
        self.tensors = {}
        self.ops = []

    def tensor(self, name, shape, kind="value", value=0.0):
        if name in self.tensors:
            raise GraphError(f"tensor {name} is there twice")
        if kind not in KINDS:
            raise GraphError(f"tensor {name}: unknown kind {kind!r}{near(kind, KINDS)}")
        given, shape = shape, tuple(shape) if isinstance(shape, (list, tuple)) else ()
        if not shape or any(not isinstance(extent, int) or extent < 1 for extent in shape):
            raise GraphError(f"tensor {name}: shape {list(shape) or given} must be a list of numbers from 1 on")
        if number(value) is None:
            raise GraphError(f"tensor {name}: value {value!r} is no number")
        self.tensors[name] = Tensor(name, shape, kind, float(value))
        return name

    def op(self, kind, inputs, output, shape=None, out_kind="value", **attributes):
        """Appends an operator; makes its output if `shape` is given."""
        if shape is not None:
            self.tensor(output, shape, out_kind)
        self.ops.append(Op(kind, list(inputs), output, attributes))
        return output

    def check(self):
        """Raises GraphError unless every operator has what it needs, written before it is read."""
        written = {t.name for t in self.tensors.values() if t.kind in ("input", "weight", "constant")}
        for place, op in enumerate(self.ops):
            where = f"operator {place} ({op.kind} -> {op.output})"
            if op.kind not in OPERATORS:
                raise GraphError(f"operator {place}: unknown kind {op.kind!r}{near(op.kind, OPERATORS)}")
            (least, most), allowed = OPERATORS[op.kind]
            if not least <= len(op.inputs) <= most:
                raise GraphError(f"{where}: has {len(op.inputs)} inputs, must have {least}" +
                                 (f" or {most}" if most != least else ""))
            for name, value in list(op.attributes.items()):
                if name not in allowed:
                    raise GraphError(f"{where}: unknown attribute {name!r}{near(name, allowed or ['(none)'])}")
                if name in REALS:
                    good = number(value) is not None
                    op.attributes[name] = number(value)
                else:
                    good = isinstance(value, int) and 0 <= value <= (1 if name.startswith("transpose") else 1 << 20)
                if not good:
                    raise GraphError(f"{where}: {name} {value!r} is not allowed; allowed: " + (
                        "a number" if name in REALS else "0 or 1" if name.startswith("transpose") else "a whole number"))
            for name in [*op.inputs, op.output]:
                if name not in self.tensors:
                    raise GraphError(f"{where}: no tensor {name!r}{near(name, self.tensors)}")
            for name in op.inputs:
                if name not in written:
                    raise GraphError(f"{where}: {name} is read before it is written")
            self._check_shapes(where, op)
            target = self.tensors[op.output]
            in_place = op.kind in ("Update", "AllReduce")
            if in_place != (op.output == op.inputs[0]) and in_place:
                raise GraphError(f"{where}: works in place, so its output must be {op.inputs[0]}")
            if not in_place and op.output in written:
                raise GraphError(f"{where}: {op.output} is written already")
            if op.kind == "AllReduce" and target.kind != "gradient":
                raise GraphError(f"{where}: {op.output} is a {target.kind}, must be a gradient")
            written.add(op.output)

    def _check_shapes(self, where, op):
        inputs = [self.tensors[name] for name in op.inputs]
        out = self.tensors[op.output]
        if op.kind == "MatMul":
            matmul_shape(self, op)
            return
        if op.kind in ("LayerNorm", "LayerNormGrad"):
            rows = [inputs[1]] if op.kind == "LayerNormGrad" else inputs[1:]
            for row in rows:
                if row.elements != inputs[0].columns:
                    raise GraphError(f"{where}: {row.name} has {row.elements} elements, a row of "
                                     f"{inputs[0].name} has {inputs[0].columns}")
            inputs = [inputs[0], inputs[2]] if op.kind == "LayerNormGrad" else inputs[:1]
        if op.kind == "Add" and inputs[1].elements == inputs[0].columns:
            inputs = inputs[:1]  # A row for all rows.
        for one in inputs:
            if one.elements != out.elements or one.columns != out.columns:
                raise GraphError(f"{where}: {one.name} is {list(one.shape)}, {out.name} is {list(out.shape)}")
        if op.kind.startswith(("Softmax", "LayerNorm")) and out.columns > 1024:
            raise GraphError(f"{where}: rows of {out.columns} elements, at most 1024 fit into a tile")


def view(tensor, heads, sequences):
    """A tensor as a batch of matrices: (outer, inner, rows, columns, outer bytes, inner bytes, pitch).

    heads = 0: the last two dimensions, those before them are the batch. heads = H: columns are cut into H
    heads, rows into `sequences` sequences (attention without a copy)."""
    if heads:
        if tensor.columns % heads or tensor.rows % sequences:
            raise GraphError(f"{tensor.name}: {tensor.rows} x {tensor.columns} cannot be cut into "
                             f"{sequences} sequences and {heads} heads")
        rows, columns = tensor.rows // sequences, tensor.columns // heads
        return sequences, heads, rows, columns, rows * tensor.columns * 2, columns * 2, tensor.columns * 2
    rows = tensor.shape[-2] if len(tensor.shape) > 1 else 1
    batch = tensor.rows // rows
    return 1, batch, rows, tensor.columns, 0, rows * tensor.columns * 2, tensor.columns * 2


def matmul_shape(graph, op):
    """(views of a, b and out, m, n, k, outer, inner) of a MatMul; raises GraphError."""
    where = f"MatMul -> {op.output}"
    sequences = op.get("sequences", 1)
    a, b, out = (graph.tensors[name] for name in (op.inputs[0], op.inputs[1], op.output))
    va, vb = view(a, op.get("heads_a"), sequences), view(b, op.get("heads_b"), sequences)
    vc = view(out, op.get("heads_out"), sequences)
    # One matrix for all of a batch: then the rows of the batch are rows of the product.
    batch = [v[0] * v[1] for v in (va, vb, vc)]
    if batch[1] == 1 and batch[0] > 1 and not op.get("transpose_a") and not op.get("heads_a"):
        va = (1, 1, a.rows, a.columns, 0, 0, a.columns * 2)
        vc = (1, 1, out.rows, out.columns, 0, 0, out.columns * 2)
        batch = [1, 1, 1]
    if len(set(batch)) != 1:
        raise GraphError(f"{where}: batches of {batch[0]}, {batch[1]} and {batch[2]} matrices")
    m, k = (va[3], va[2]) if op.get("transpose_a") else (va[2], va[3])
    kb, n = (vb[3], vb[2]) if op.get("transpose_b") else (vb[2], vb[3])
    if k != kb or (vc[2], vc[3]) != (m, n):
        raise GraphError(f"{where}: {m} x {k} by {kb} x {n} gives no {vc[2]} x {vc[3]}")
    heads = next((v for v in (va, vb, vc) if v[0] > 1), va)
    outer, inner = heads[0], heads[1]

    def strides(v):
        # A stacked tensor has all matrices of the batch in its inner dimension.
        return (v[4], v[5]) if v[0] == outer else (v[5] * inner, v[5])
    if len(op.inputs) == 3 and graph.tensors[op.inputs[2]].elements != n:
        raise GraphError(f"{where}: bias {op.inputs[2]} has {graph.tensors[op.inputs[2]].elements} elements, not {n}")
    return {"m": m, "n": n, "k": k, "outer": outer, "inner": inner,
            "strides": [strides(v) for v in (va, vb, vc)], "pitch": [va[6], vb[6], vc[6]]}
