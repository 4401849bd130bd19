# SPDX-License-Identifier: Apache-2.0
"""A graph as plans see it: operators that are kernels, who reads what, bytes and work of each.

Views (Reshape, Transpose) are no kernels: their results are other names of the same bytes. By-products (gradients of
gamma and beta) are written by the kernel of LayerNormGrad: they count neither as operators nor as readers of memory.
"""

import hashlib
import json
import math

from front import graph as graphs

VIEWS = ("Reshape", "Transpose")
SECTOR_BYTES = 64  # Of the L2: what memory is read in.
BY_PRODUCTS = ("LayerNormGammaGrad", "LayerNormBetaGrad")
# Classes, one letter each, for patterns:
# L product of rows with weights, W product that sums over rows (gradient of weights), B batched product,
# E element by element, D gradient of an activation, N layer norm, M its gradient, p its by-products, S softmax,
# R sum over rows, r sum or mean of each row, A over an axis between others, C concatenation, slice, padding, G gather, scatter, U update, all-reduce.
CLASSES = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Gelu", "Relu", "Sigmoid", "Tanh", "Silu", "Neg", "Sqrt", "Pow",
                     "Rope", "Expand"), "E"),
    **dict.fromkeys(("GeluGrad", "ReluGrad", "SigmoidGrad", "TanhGrad", "SiluGrad"), "D"),
    **dict.fromkeys(("Softmax", "SoftmaxGrad"), "S"), "LayerNorm": "N", "LayerNormGrad": "M",
    **dict.fromkeys(BY_PRODUCTS, "p"), **dict.fromkeys(("Concat", "Slice", "Pad"), "C"),
    **dict.fromkeys(("Gather", "ScatterAdd"), "G"), **dict.fromkeys(("Update", "AllReduce"), "U")}
# SIMT instructions of FP16 for each element of the result; the gradient of softmax and norms per element of a row.
WORK = {"Relu": 1, "ReluGrad": 1, "Add": 1, "Sub": 1, "Mul": 1, "Neg": 1, "Div": 4, "Sqrt": 4, "Pow": 2, "Sigmoid": 8,
        "SigmoidGrad": 3, "Tanh": 8, "TanhGrad": 3, "Silu": 9, "SiluGrad": 12, "Gelu": 12, "GeluGrad": 16, "Rope": 3,
        "Softmax": 10, "SoftmaxGrad": 4, "LayerNorm": 6, "LayerNormGrad": 10, "ReduceSum": 1, "ReduceMean": 1,
        "Update": 2, "AllReduce": 1, "ScatterAdd": 1, "LayerNormGammaGrad": 2, "LayerNormBetaGrad": 1}


class Flow:
    """Operators by number, in their order; tensors by the name of their bytes (`base`)."""

    def __init__(self, graph):
        self.graph = graph
        self.renamed = {}
        self.ops, self.inputs, self.made = [], [], {}
        for op in graph.ops:
            if op.kind in VIEWS:
                self.renamed[op.output] = self.base(op.inputs[0])
                continue
            self.inputs.append([self.base(name) for name in op.inputs])
            self.made.setdefault(op.output, len(self.ops))
            self.ops.append(op)
        self.readers = {}
        self.before = [set() for _ in self.ops]
        self.after = [set() for _ in self.ops]
        writer = {}
        for number, op in enumerate(self.ops):
            for name in self.inputs[number]:
                self.readers.setdefault(name, []).append(number)
                if name in writer:
                    self.before[number].add(writer[name])
                    self.after[writer[name]].add(number)
            if op.kind in ("Update", "AllReduce"):  # In place: after all who read what was there before.
                for other in self.readers.get(op.output, [])[:-1]:
                    self.before[number].add(other)
                    self.after[other].add(number)
            writer[op.output] = number
        views = sum(op.kind in VIEWS for op in graph.ops[:graph.forward_ops])
        self.split = len(self.ops) if graph.forward_ops is None else graph.forward_ops - views  # Backward begins here.
        self.letters = "".join(self.letter(number) for number in range(len(self.ops)))
        # Of a result that is a view the bytes beneath it.
        self.results = {self.base(name) for name in graph.results() if self.tensor(name).kind != "weight"}

    def base(self, name):
        return self.renamed.get(name, name)

    def tensor(self, name):
        return self.graph.tensors[name]

    def rows(self, name):
        return self.tensor(name).rows

    def is_counted(self, number):
        return self.ops[number].kind not in BY_PRODUCTS

    def counted(self, numbers):
        return sum(self.is_counted(number) for number in numbers)

    def letter(self, number):
        op = self.ops[number]
        if op.kind == "MatMul":
            shape = graphs.matmul_shape(self.graph, op)
            if shape["outer"] * shape["inner"] != 1:
                return "B"
            return "W" if op.get("transpose_a") else "L"
        if op.kind in ("ReduceSum", "ReduceMean"):
            last = len(self.tensor(op.inputs[0]).shape) - 1
            return "r" if op.get("axis") == last else "R" if op.get("axis") == 0 else "A"
        return CLASSES[op.kind]

    def bytes_of(self, number, name):
        """What an operator reads of one operand: of slices what reaches the result, of gathers the sectors that have it."""
        op, size = self.ops[number], self.tensor(name).bytes
        if op.kind in BY_PRODUCTS or (op.kind == "Update" and len(op.inputs) == 3 and name == self.inputs[number][0]):
            return 0
        if op.kind == "Slice":
            return min(size, self.tensor(op.output).bytes)
        if op.kind == "Gather" and name == self.inputs[number][0]:
            taken = self.tensor(op.output)
            piece = taken.bytes // taken.elements * math.prod(taken.shape[op.get("axis") + 1:])
            return min(size, taken.bytes // piece * -(-piece // SECTOR_BYTES) * SECTOR_BYTES)
        return size

    def traffic(self, number):
        """Bytes of DRAM of an operator that is a kernel of its own: distinct operands, and its result."""
        op = self.ops[number]
        masters = op.inputs[2:] if op.kind == "Update" else []
        return sum(self.bytes_of(number, name) for name in dict.fromkeys(self.inputs[number])) + \
            sum(self.tensor(name).bytes for name in [op.output, *masters])

    def flops(self, number):
        """Of the tensor pipe."""
        op = self.ops[number]
        if op.kind != "MatMul":
            return 0
        shape = graphs.matmul_shape(self.graph, op)
        return 2 * shape["m"] * shape["n"] * shape["k"] * shape["outer"] * shape["inner"]

    def simt(self, number):
        """Operations of the SIMT pipe."""
        op = self.ops[number]
        biggest = max(self.tensor(name).elements for name in [op.output, *(op.inputs if op.kind in
                      ("ReduceSum", "ReduceMean", "ScatterAdd", *BY_PRODUCTS) else [])])
        return WORK.get(op.kind, 0) * biggest

    def hash(self):
        """The same for the same operators, shapes and results."""
        text = json.dumps([[[op.kind, op.inputs, op.output, sorted(op.attributes.items(), key=str),
                             self.tensor(op.output).shape] for op in self.graph.ops], sorted(self.results)])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def reach(self, start, step):
        """Operators that `start` leads to by `step` (before or after), those of `start` left out."""
        found, todo = set(), [one for number in start for one in step[number]]
        while todo:
            number = todo.pop()
            if number not in found:
                found.add(number)
                todo.extend(step[number])
        return found
