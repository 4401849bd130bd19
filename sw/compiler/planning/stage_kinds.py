# SPDX-License-Identifier: Apache-2.0
"""What the stages of sw/kernels/stages can be made of: operators, and which others the same stage takes behind them."""

import dataclasses

from front import flow, graph as graphs

ROWS = 128          # STAGE_TILE_ROWS.
BLOCK = 128         # STAGE_BLOCK.
STORING = 4         # STAGE_STORING.
MAP_WAVEFRONTS = 4  # STAGE_MAP_WAVEFRONTS.
NORM_COLUMNS = {"LayerNorm": 1024, "LayerNormGrad": 512}  # Of STAGE_PIECE bytes; STAGE_NORM_GRAD_COLUMNS.
NORM_SUMS = {"LayerNormGammaGrad": "gamma_sums", "LayerNormBetaGrad": "beta_sums"}
ROPE_COLUMNS = 1024  # STAGE_ROPE_COLUMNS.
MAPS = {"Relu": "relu", "Gelu": "gelu", "Neg": "neg", "Sigmoid": "sigmoid", "Tanh": "tanh", "Silu": "silu",
        "LayerNorm": "layer_norm", "LayerNormGrad": "layer_norm_grad", "Add": "add", "Mul": "mul", "Sub": "sub",
        "Div": "div", "ReluGrad": "relu_grad", "GeluGrad": "gelu_grad", "SigmoidGrad": "sigmoid_grad",
        "TanhGrad": "tanh_grad", "SiluGrad": "silu_grad", "Concat": "concat", "Rope": "rope",
        "Expand": "expand"}
REPEATS = ("Add", "Sub", "Mul", "Div")  # The second operand may be a row, a column, one element.
ACTIVATIONS = {"Relu": "relu", "Gelu": "gelu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Silu": "silu"}
RMS_NORM = ("Pow", "ReduceMean", "Sqrt", "Div", "Mul")
TREE = 4            # STAGE_TREE, KT-U14: partial sums that a node of a tree adds. A final stage loads them at once,
FINAL_FOLDS = 16384  # STAGE_FINAL_FOLDS: of a result of so many elements at most TREE times as many, of smaller pieces.
FINAL_PIECE = 512   # Elements of a result that a wavefront of a final stage sums at once.
MOST_FINAL = 32


def final_rows(elements):
    """Sums in a tile of a final stage."""
    return TREE if elements <= FINAL_FOLDS else 1


def most_finals(elements):
    """Work-groups of a final stage: a piece for each wavefront."""
    return max(1, min(MOST_FINAL, -(-elements * final_rows(elements) // (FINAL_PIECE * MAP_WAVEFRONTS))))


def is_sum(op):
    """Whether an operator sums over all rows."""
    return op.kind == "MatMul" and bool(op.get("transpose_a")) or op.kind == "ReduceSum" and op.get("axis") == 0


def takes(graph, ops, op):
    """Whether the stage of these operators takes another one that reads the last one's result."""
    if is_sum(ops[0]):
        return False
    if ops[0].kind == "MatMul":
        return _follows_product(graph, ops, op)
    if ops[0].kind == "LayerNormGrad":
        return op.kind in NORM_SUMS
    return _is_rms_norm(graph, [*ops, op])


def _follows_product(graph, ops, op):
    last = ops[-1].output
    if op.kind in ACTIVATIONS:
        return len(ops) == 1 and not ops[0].get("gelu") and not ops[0].get("relu")
    return (op.kind == "Add" and ops[-1].kind != "Add" and
            (op.inputs[0] == last) != (op.inputs[1] == last) and _is_same(graph, *op.inputs))


def repeated(graph, op):
    """How the second operand of a stage is repeated, or None."""
    if op.kind not in REPEATS:
        return None
    x, y = (graph.tensors[name] for name in op.inputs)
    if (y.rows, y.columns) == (x.rows, x.columns):
        return None
    if (y.rows, y.columns) == (x.rows, 1):
        return "column"
    return "one" if y.elements == 1 else "row" if y.elements == x.columns else None


def _is_same(graph, one, other):
    return graph.tensors[one].elements == graph.tensors[other].elements and \
        graph.tensors[one].columns == graph.tensors[other].columns


def _is_rms_norm(graph, ops):
    """Whether operators are the first ones of a norm by the root mean square."""
    if [op.kind for op in ops] != list(RMS_NORM[:len(ops)]) or ops[0].get("exponent") != 2:
        return False
    x = graph.tensors[ops[0].inputs[0]]
    wanted = (None, lambda op: op.get("axis") == len(x.shape) - 1, None,
              lambda op: op.inputs[0] == x.name and graph.tensors[op.inputs[1]].columns == 1,
              lambda op: graph.tensors[op.inputs[1]].elements == x.columns)
    for before, op, is_right in zip(ops, ops[1:], wanted[1:]):
        reads = op.inputs[1] if op.kind == "Div" else op.inputs[0]
        if reads != before.output or (is_right and not is_right(op)):
            return False
    return True


@dataclasses.dataclass
class Stage:
    """Operators that are one, its work-groups, and how many parts of columns they have."""
    ops: list
    work_groups: int
    parts: int = 1

    @property
    def first(self):
        return self.ops[0]

    @property
    def is_sum(self):
        return is_sum(self.first)

    @property
    def sums(self):
        """By-products: sums over all rows."""
        return [op for op in self.ops if op.kind in flow.BY_PRODUCTS]

    @property
    def result(self):
        """What tiles it makes."""
        return [op for op in self.ops if op.kind not in flow.BY_PRODUCTS][-1].output

    @property
    def addend(self):
        """What is added behind a product, or None."""
        last = self.ops[-1]
        if self.first.kind != "MatMul" or len(self.ops) == 1 or last.kind != "Add":
            return None
        return next(name for name in last.inputs if name != self.ops[-2].output)

    @property
    def operands(self):
        """What it reads tiles of."""
        op = self.first
        if op.kind == "MatMul":
            return op.inputs[:2] if self.is_sum else op.inputs[:1] + [self.addend] * (self.addend is not None)
        if op.kind == "LayerNormGrad":
            return [op.inputs[0], op.inputs[2]]
        return op.inputs[:1] if op.kind in ("LayerNorm", "ReduceSum", "Pow") else op.inputs

    def readers(self, place):
        """How many of a work-group give back an entry of an operand."""
        if self.is_sum:
            return 1
        if self.first.kind == "MatMul":
            return STORING if place == 1 and self.addend is not None else 1
        return MAP_WAVEFRONTS

    def wrong(self, graph):
        """Why these are no stage, or None."""
        ops = self.ops
        for place in range(1, len(ops)):
            if not takes(graph, ops[:place], ops[place]):
                return f"{ops[place].kind} -> {ops[place].output} is no epilogue of {ops[0].kind}"
        op = self.first
        if op.kind == "Pow" and len(ops) < len(RMS_NORM):
            return f"{op.kind} -> {op.output} is no stage but as the first of {', '.join(RMS_NORM)}"
        if op.kind not in (*MAPS, "MatMul", "ReduceSum", "Pow"):
            return f"{op.kind} -> {op.output} is no stage{graphs.near(op.kind, MAPS)}"
        return None
