# SPDX-License-Identifier: Apache-2.0
"""Operator graphs: tensors of FP16, operators in the order in which they run, and the errors of both.

A tensor has a shape (rows ..., columns), row-major. Kinds: input, weight (both have contents before the
first iteration), master (a weight in FP32, which its Update alone takes), index (whole numbers of 32 bits, an input),
constant (one value), value (an operator writes it), gradient (likewise; reduced over all ranks if an AllReduce takes it).
"""

import dataclasses
import difflib
import math


class CheckError(Exception):
    """What was made here, or by a solver, is wrong."""


class GraphError(Exception):
    """What is wrong with a graph, in one line."""


KINDS = ("input", "weight", "master", "index", "constant", "value", "gradient")
GIVEN = ("input", "weight", "master", "index", "constant")  # Have contents before the first operator.
# Name -> (inputs, attributes).
OPERATORS = {
    "MatMul": ((2, 3), ("transpose_a", "transpose_b", "heads_a", "heads_b", "heads_out", "sequences")),
    # Element by element. The second operand may be broadcast: a row, a column, a scalar, a mask for a batch.
    "Add": ((2, 2), ()), "Sub": ((2, 2), ()), "Mul": ((2, 2), ()), "Div": ((2, 2), ()),
    "Gelu": ((1, 1), ()), "GeluGrad": ((2, 2), ()),
    "Relu": ((1, 1), ()), "ReluGrad": ((2, 2), ()),            # of y (or x), dy
    "Sigmoid": ((1, 1), ()), "SigmoidGrad": ((2, 2), ()),      # of y, dy
    "Tanh": ((1, 1), ()), "TanhGrad": ((2, 2), ()),            # of y, dy
    "Silu": ((1, 1), ()), "SiluGrad": ((2, 2), ()),            # of x, dy
    "Neg": ((1, 1), ()), "Sqrt": ((1, 1), ("epsilon",)), "Pow": ((1, 1), ("exponent",)),
    # Rotary embedding of rows of `heads` heads: x, cosines, sines (rows, columns / heads); inverse: its gradient.
    "Rope": ((3, 3), ("heads", "inverse")),
    # Rows.
    "Softmax": ((1, 1), ("scale",)), "SoftmaxGrad": ((2, 2), ("scale",)),
    "LayerNorm": ((3, 3), ("epsilon",)), "LayerNormGrad": ((3, 3), ("epsilon",)),
    # By-products of the kernel of LayerNormGrad, rows: of x, dy; of dy.
    "LayerNormGammaGrad": ((2, 2), ("epsilon",)), "LayerNormBetaGrad": ((1, 1), ()),
    # Sums and means over one axis, which then has extent 1 or is left out. Expand: its gradient.
    "ReduceSum": ((1, 1), ("axis",)), "ReduceMean": ((1, 1), ("axis",)), "Expand": ((1, 1), ("axis", "scale")),
    # What moves data. Pad puts zeros before and after. ScatterAdd adds to zeros.
    "Concat": ((1, 64), ("axis",)), "Slice": ((1, 1), ("axis", "start", "stop")),
    "Pad": ((1, 1), ("axis", "before", "after")),
    "Gather": ((2, 2), ("axis",)), "ScatterAdd": ((2, 2), ("axis",)),
    # The same bytes seen otherwise: no kernel.
    "Reshape": ((1, 1), ()), "Transpose": ((1, 1), ("perm",)),
    "Update": ((2, 3), ("rate",)),  # weight, gradient, perhaps master
    "AllReduce": ((1, 1), ()),
}


REALS = ("scale", "epsilon", "rate", "exponent")
FLAGS = ("transpose_a", "transpose_b", "inverse")
BROADCAST = ("Add", "Sub", "Mul", "Div")


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
        return (4 if self.kind in ("index", "master") else 2) * self.elements


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
        self.forward_ops = None  # How many are the forward pass, where there is a backward pass.
        self.other_numbers = []  # Kinds of numbers in the file that are taken as FP16 here.
        self.outputs = []  # Values that are results although operators read them.
        self.pipelines = []  # Groups that the graph itself names: stages, depth, tile_rows (stages.py).

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

    def keep_masters(self):
        """Gives every weight that is updated a master of FP32, which is updated instead and rounded to the weight."""
        updates = [op for op in self.ops if op.kind == "Update"]
        if not updates:
            raise GraphError("has no Update, so there is nothing that master weights are of")
        for op in updates:
            if len(op.inputs) == 2 and op.inputs[0] in self.tensors:
                name = op.inputs[0] + ".master"
                op.inputs.append(self.tensor(name, self.tensors[op.inputs[0]].shape, "master"))

    def results(self):
        """What the graph is run for: declared outputs, what nobody reads, gradients, and weights that are updated."""
        read = {name for op in self.ops for name in op.inputs}
        return [name for name in dict.fromkeys(op.output for op in self.ops)
                if name not in read or name in self.outputs or self.tensors[name].kind in ("gradient", "weight")]

    def check(self):
        """Raises GraphError unless every operator has what it needs, written before it is read."""
        written = {t.name for t in self.tensors.values() if t.kind in GIVEN}
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
                wanted = attribute_error(name, value)
                if wanted:
                    raise GraphError(f"{where}: {name} {value!r} is not allowed; allowed: {wanted}")
                if name in REALS:
                    op.attributes[name] = number(value)
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
        masters = {name for op in self.ops for name in op.inputs[2:] if op.kind == "Update"}
        for one in self.tensors.values():
            if one.kind == "master" and one.name not in masters:
                raise GraphError(f"tensor {one.name}: no Update takes this master")

    def _check_shapes(self, where, op):
        inputs = [self.tensors[name] for name in op.inputs]
        out = self.tensors[op.output]
        indexed = op.kind in ("Gather", "ScatterAdd")
        for place, one in enumerate(inputs):
            if (one.kind == "index") != (indexed and place == 1):
                raise GraphError(f"{where}: {one.name} is " + (
                    "a tensor of indices, must be of numbers" if one.kind == "index" else
                    f"a tensor of numbers ({one.kind}), must be of indices"))
        self._check_masters(where, op)
        if op.kind == "MatMul":
            matmul_shape(self, op)
            return
        if op.kind in SHAPES:
            SHAPES[op.kind](where, op, inputs, out)
            return
        if op.kind in ("LayerNorm", "LayerNormGrad"):
            rows = [inputs[1]] if op.kind == "LayerNormGrad" else inputs[1:]
            for row in rows:
                if row.elements != inputs[0].columns:
                    raise GraphError(f"{where}: {row.name} has {row.elements} elements, a row of "
                                     f"{inputs[0].name} has {inputs[0].columns}")
            inputs = [inputs[0], inputs[2]] if op.kind == "LayerNormGrad" else inputs[:1]
        if op.kind in BROADCAST and is_broadcast(inputs[0], inputs[1]):
            inputs = inputs[:1]
        for one in inputs:
            if one.elements != out.elements or one.columns != out.columns:
                raise GraphError(f"{where}: {one.name} is {list(one.shape)}, {out.name} is {list(out.shape)}")


    def _check_masters(self, where, op):
        for place, name in enumerate(op.inputs):
            is_master = op.kind == "Update" and place == 2
            if (self.tensors[name].kind == "master") != is_master:
                raise GraphError(f"{where}: {name} is of kind {self.tensors[name].kind}, " + (
                    "must be a master" if is_master else "which the Update of its weight alone takes, behind the gradient"))
            if not is_master:
                continue
            if self.tensors[op.output].kind != "weight":
                raise GraphError(f"{where}: {op.output} is of kind {self.tensors[op.output].kind}; a master is of a weight")
            if [one.inputs[2:] for one in self.ops].count([name]) > 1 or \
                    [one.output for one in self.ops if one.kind == "Update"].count(op.output) > 1:
                raise GraphError(f"{where}: {name} must be the only master of {op.output}, and of nothing else")


def attribute_error(name, value):
    """What an attribute may be, if this value is not allowed."""
    if name in REALS:
        return None if number(value) is not None else "a number"
    if name == "perm":
        good = isinstance(value, list) and all(isinstance(one, int) for one in value)
        return None if good and sorted(value) == list(range(len(value))) else "each dimension's number once"
    if name in FLAGS:
        return None if isinstance(value, int) and 0 <= value <= 1 else "0 or 1"
    # The end of a slice and what is padded are as long as a tensor.
    most = 1 << 40 if name in ("start", "stop", "before", "after") else 1 << 20
    return None if isinstance(value, int) and 0 <= value <= most else "a whole number"


def is_broadcast(x, y):
    """Whether y, smaller than x, is repeated along x: a row, a column, a scalar, or a mask for each of a batch."""
    if y.elements == x.elements:
        return False
    shape = (1,) * (len(x.shape) - len(y.shape)) + tuple(y.shape)
    if len(shape) > len(x.shape):
        return y.elements == x.columns  # A row, whatever its dimensions.
    return all(b in (1, a) for a, b in zip(x.shape, shape)) or y.elements == x.columns


def the_axis(where, op, x):
    axis = op.get("axis")
    if axis >= len(x.shape):
        raise GraphError(f"{where}: axis {axis}, {x.name} has {len(x.shape)} dimensions")
    return axis


def expect(where, out, *allowed):
    if tuple(out.shape) not in [tuple(one) for one in allowed]:
        raise GraphError(f"{where}: {out.name} is {list(out.shape)}, must be " +
                         " or ".join(str(list(one)) for one in allowed))


def with_extent(shape, axis, extent):
    return (*shape[:axis], extent, *shape[axis + 1:])


def rope_shape(where, op, inputs, out):
    x, heads = inputs[0], op.get("heads", 1)
    expect(where, out, x.shape)
    if not heads or x.columns % heads or (x.columns // heads) % 2:
        raise GraphError(f"{where}: {x.columns} columns cannot be cut into {heads} heads of an even length")
    for one in inputs[1:]:
        expect(where, one, (x.rows, x.columns // heads))


def reduce_shape(where, op, inputs, out):
    whole, part = (out, inputs[0]) if op.kind == "Expand" else (inputs[0], out)
    axis = the_axis(where, op, whole)
    kept = with_extent(whole.shape, axis, 1)
    left = whole.shape[:axis] + whole.shape[axis + 1:]
    expect(where, part, kept, left or (1,))


def row_grad_shape(where, op, inputs, out):
    expect(where, inputs[-1], inputs[0].shape)
    if out.elements != inputs[0].columns:
        raise GraphError(f"{where}: {out.name} has {out.elements} elements, a row of {inputs[0].name} has "
                         f"{inputs[0].columns}")


def concat_shape(where, op, inputs, out):
    axis = the_axis(where, op, inputs[0])
    for one in inputs[1:]:
        if len(one.shape) != len(inputs[0].shape) or \
                with_extent(one.shape, axis, 0) != with_extent(inputs[0].shape, axis, 0):
            raise GraphError(f"{where}: {one.name} is {list(one.shape)}, {inputs[0].name} is "
                             f"{list(inputs[0].shape)}: they may differ in dimension {axis} only")
    expect(where, out, with_extent(inputs[0].shape, axis, sum(one.shape[axis] for one in inputs)))


def slice_shape(where, op, inputs, out):
    axis = the_axis(where, op, inputs[0])
    start, stop = op.get("start"), op.get("stop")
    if not start < stop <= inputs[0].shape[axis]:
        raise GraphError(f"{where}: {start} to {stop} is no part of dimension {axis} of {inputs[0].name}, "
                         f"{list(inputs[0].shape)}")
    expect(where, out, with_extent(inputs[0].shape, axis, stop - start))


def pad_shape(where, op, inputs, out):
    axis = the_axis(where, op, inputs[0])
    expect(where, out, with_extent(inputs[0].shape, axis, op.get("before") + inputs[0].shape[axis] + op.get("after")))


def gather_shape(where, op, inputs, out):
    axis = the_axis(where, op, inputs[0])
    expect(where, out, with_extent(inputs[0].shape, axis, inputs[1].elements))


def scatter_shape(where, op, inputs, out):
    axis = the_axis(where, op, inputs[0])
    if inputs[0].shape[axis] != inputs[1].elements:
        raise GraphError(f"{where}: {inputs[1].name} has {inputs[1].elements} indices, dimension {axis} of "
                         f"{inputs[0].name} is {inputs[0].shape[axis]}")
    if len(out.shape) != len(inputs[0].shape) or \
            with_extent(out.shape, axis, 0) != with_extent(inputs[0].shape, axis, 0):
        raise GraphError(f"{where}: {out.name} is {list(out.shape)}, must be {list(inputs[0].shape)} but for "
                         f"dimension {axis}")


def reshape_shape(where, op, inputs, out):
    if inputs[0].elements != out.elements:
        raise GraphError(f"{where}: {inputs[0].name} is {list(inputs[0].shape)}, {out.name} is {list(out.shape)}: "
                         "not as many elements")


def transpose_shape(where, op, inputs, out):
    perm = op.get("perm", [])
    if len(perm) != len(inputs[0].shape):
        raise GraphError(f"{where}: perm {perm} for the {len(inputs[0].shape)} dimensions of {inputs[0].name}")
    expect(where, out, [inputs[0].shape[one] for one in perm])


SHAPES = {"Rope": rope_shape, "ReduceSum": reduce_shape, "ReduceMean": reduce_shape, "Expand": reduce_shape,
          "LayerNormGammaGrad": row_grad_shape, "LayerNormBetaGrad": row_grad_shape, "Concat": concat_shape,
          "Slice": slice_shape, "Pad": pad_shape, "Gather": gather_shape, "ScatterAdd": scatter_shape,
          "Reshape": reshape_shape, "Transpose": transpose_shape}


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
    if batch[1] == 1 and batch[0] > 1 and not op.get("transpose_a") and not op.get("heads_a") and not op.get("heads_b"):
        va = (1, 1, a.rows, a.columns, 0, 0, a.columns * 2)
        vc = (1, 1, out.rows, out.columns, 0, 0, out.columns * 2)
        batch = [1, 1, 1]
    # Heads of queries share a head of keys and values: outer counts those, inner the queries' of each.
    group = batch[0] // batch[1] if op.get("heads_b") and batch[0] == batch[2] and batch[0] % batch[1] == 0 else 1
    if len(set(batch)) != 1 and (group == 1 or sequences != 1):
        raise GraphError(f"{where}: batches of {batch[0]}, {batch[1]} and {batch[2]} matrices")
    m, k = (va[3], va[2]) if op.get("transpose_a") else (va[2], va[3])
    kb, n = (vb[3], vb[2]) if op.get("transpose_b") else (vb[2], vb[3])
    if k != kb or (vc[2], vc[3]) != (m, n):
        raise GraphError(f"{where}: {m} x {k} by {kb} x {n} gives no {vc[2]} x {vc[3]}")
    heads = next((v for v in (va, vb, vc) if v[0] > 1), va)
    outer, inner = (batch[1], group) if group > 1 else (heads[0], heads[1])

    def strides(v):
        if group > 1:
            return (v[5], 0) if v is vb else (v[5] * group, v[5])
        # A stacked tensor has all matrices of the batch in its inner dimension.
        return (v[4], v[5]) if v[0] == outer else (v[5] * inner, v[5])
    if len(op.inputs) == 3 and graph.tensors[op.inputs[2]].elements != n:
        raise GraphError(f"{where}: bias {op.inputs[2]} has {graph.tensors[op.inputs[2]].elements} elements, not {n}")
    return {"m": m, "n": n, "k": k, "outer": outer, "inner": inner,
            "strides": [strides(v) for v in (va, vb, vc)], "pitch": [va[6], vb[6], vc[6]]}
