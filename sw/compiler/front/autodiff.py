# SPDX-License-Identifier: Apache-2.0
"""From a forward graph to the graph of a training step: forward, then backward, an operator at a time.

backward(graph) returns a new graph. Its backward operators are those that ahead-of-time automatic differentiation of
PyTorch emits: two products and a sum of a linear layer, the gradient of an activation, slices of a concatenation, sums
where a tensor has several readers. The loss is the sum of each result times a tensor `d.RESULT`, which is an input.
`d.WEIGHT` is the gradient of a weight. Inputs get none, and nothing is worked out that only an input would need.
"""

from front import graph as graphs

# Of y and dy, of x and dy.
OF_RESULT = {"Relu": "ReluGrad", "Sigmoid": "SigmoidGrad", "Tanh": "TanhGrad"}
OF_OPERAND = {"Silu": "SiluGrad", "Gelu": "GeluGrad"}


def backward(graph):
    return Backward(graph).graph


class Backward:
    def __init__(self, forward):
        self.graph = graph = graphs.Graph(forward.name + "-training")
        for one in forward.tensors.values():
            graph.tensor(one.name, one.shape, one.kind, one.value)
        graph.ops = [graphs.Op(op.kind, list(op.inputs), op.output, dict(op.attributes)) for op in forward.ops]
        graph.forward_ops = len(graph.ops)
        graph.outputs = list(forward.outputs)
        self.wanted = {one.name for one in graph.tensors.values() if one.kind == "weight"}
        for op in forward.ops:
            if op.kind in ("Update", "AllReduce") or op.kind.endswith("Grad"):
                raise graphs.GraphError(f"{op.kind} -> {op.output}: belongs to training already")
            if self.wanted & set(op.inputs):
                self.wanted.add(op.output)
        read = {name for op in forward.ops for name in op.inputs}
        self.parts = {}  # Tensor -> gradients from each of its readers.
        self.left = {}   # Tensor -> how many are still to come.
        for op in forward.ops:
            for name in op.inputs:
                if name in self.wanted and op.output in self.wanted:
                    self.left[name] = self.left.get(name, 0) + 1
        self.several = {name for name, count in self.left.items() if count > 1}
        for op in forward.ops:
            if op.output not in read and op.output in self.wanted:
                seed = graph.tensor("d." + op.output, graph.tensors[op.output].shape, "input")
                self.parts[op.output] = [seed]
        for op in reversed(forward.ops):
            if op.output in self.wanted:
                self.of(op, self.parts[op.output][0])

    def shape(self, name):
        return self.graph.tensors[name].shape

    def name(self, target):
        """The name of the next part of a tensor's gradient, and the kind of that tensor."""
        if target in self.several:
            return f"d.{target}.{len(self.parts.get(target, []))}", "value"
        return "d." + target, "gradient" if self.graph.tensors[target].kind == "weight" else "value"

    def emit(self, kind, inputs, target, **attributes):
        """An operator whose result is a part of the gradient of `target`, unless that is not wanted."""
        if target not in self.wanted:
            return
        name, tensor_kind = self.name(target)
        self.graph.op(kind, inputs, name, self.shape(target), tensor_kind, **attributes)
        self.add(target, name)

    def helper(self, kind, inputs, name, shape, **attributes):
        """An operator whose result is on the way to a gradient."""
        base, count = name, 1
        while name in self.graph.tensors:
            name, count = f"{base}.{count}", count + 1
        return self.graph.op(kind, inputs, name, shape, **attributes)

    def add(self, target, name):
        """One more part; sums of parts are made as they come, as reverse mode does."""
        parts = self.parts.setdefault(target, [])
        self.left[target] -= 1
        if not parts:
            parts.append(name)
            return
        last = self.left[target] == 0
        weight = self.graph.tensors[target].kind == "weight"
        total = f"d.{target}" if last else f"d.{target}.sum{self.left[target]}"
        parts[0] = self.graph.op("Add", [parts[0], name], total, self.shape(target),
                                 "gradient" if weight and last else "value")
        parts.append(name)

    def same(self, target, dy):
        """The gradient of an operand is that of the result."""
        if target not in self.wanted:
            return
        if self.graph.tensors[target].kind == "weight" and target not in self.several:
            self.emit("Reshape", [dy], target)
        else:
            self.add(target, dy)

    def reduced(self, target, dy, tag):
        """dy summed over what the operand was repeated along."""
        if target not in self.wanted:
            return
        small, large = self.graph.tensors[target], self.graph.tensors[dy]
        if small.elements == large.elements:
            self.same(target, dy)
            return
        if small.columns == 1 and small.elements == large.rows and small.elements > 1:
            self.emit("ReduceSum", [dy], target, axis=len(large.shape) - 1)
            return
        flat = (large.elements // small.elements, small.elements)
        if large.elements % small.elements or (small.elements > 1 and large.columns != small.columns):
            raise graphs.GraphError(f"gradient of {target}: it is repeated in a way that has no sum")
        if tuple(large.shape) != flat:
            dy = self.helper("Reshape", [dy], f"{dy}.{tag}", flat)
        name = dy
        if tuple(self.shape(target)) not in ((1, small.elements), (small.elements,)):
            name = self.helper("ReduceSum", [dy], f"{dy}.sum", (small.elements,), axis=0)
            self.emit("Reshape", [name], target)
        else:
            self.emit("ReduceSum", [name], target, axis=0)

    def of(self, op, dy):
        rule = getattr(self, "of_" + op.kind.lower(), None)
        if op.kind in OF_RESULT:
            self.emit(OF_RESULT[op.kind], [op.output, dy], op.inputs[0])
        elif op.kind in OF_OPERAND:
            self.emit(OF_OPERAND[op.kind], [op.inputs[0], dy], op.inputs[0])
        elif rule is None:
            raise graphs.GraphError(f"{op.kind} -> {op.output}: has no gradient")
        else:
            rule(op, dy, *op.inputs)

    def of_matmul(self, op, dy, a, b, *bias):
        shape = graphs.matmul_shape(self.graph, op)
        ta, tb = op.get("transpose_a"), op.get("transpose_b")
        heads = {name: op.get(name) for name in ("heads_a", "heads_b", "heads_out") if op.get(name)}
        batch = shape["outer"] * shape["inner"]
        x = a
        if batch == 1 and not heads and len(self.shape(a)) > 2:  # Rows of a batch are rows of one product.
            x = self.helper("Reshape", [a], f"{a}.rows", (shape["m"], shape["k"]))
            dy = self.helper("Reshape", [dy], f"{dy}.rows", (shape["m"], shape["n"]))

        def product(left, right, out, flags):
            cut = {key: op.get(role) for key, role in (("heads_a", left), ("heads_b", right), ("heads_out", out))
                   if op.get(role)}
            if cut or op.get("sequences"):
                cut["sequences"] = op.get("sequences", 1)
            return {**{key: 1 for key, value in flags.items() if value}, **cut}
        shared = heads and self.heads_of(b, "heads_b", op) < batch
        if ta:
            self.emit("MatMul", [b, dy], a, **product("heads_b", "heads_out", "heads_a",
                                                         {"transpose_a": tb, "transpose_b": 1}))
        else:
            to = (shape["m"], shape["k"]) if x != a else None
            flags = product("heads_out", "heads_b", "heads_a", {"transpose_b": not tb})
            if to and a in self.wanted:
                rows = self.helper("MatMul", [dy, b], f"d.{a}.rows", to, **flags)
                self.emit("Reshape", [rows], a)
            else:
                self.emit("MatMul", [dy, b], a, **flags)
        if shared:
            self.of_shared_heads(op, dy, a, b, shape)
        elif tb:
            self.emit("MatMul", [dy, x], b, **product("heads_out", "heads_a", "heads_b",
                                                         {"transpose_a": 1, "transpose_b": ta}))
        else:
            self.emit("MatMul", [x, dy], b, **product("heads_a", "heads_out", "heads_b", {"transpose_a": not ta}))
        for row in bias:
            self.reduced(row, dy, "rows")

    def heads_of(self, name, role, op):
        one = self.graph.tensors[name]
        parts = graphs.view(one, op.get(role), op.get("sequences", 1))
        return parts[0] * parts[1]

    def of_shared_heads(self, op, dy, a, b, shape):
        """Each head of b serves several of a: as many gradients as heads of a, then summed by groups."""
        if b not in self.wanted:
            return
        heads = shape["outer"] * shape["inner"]
        rows, columns = self.shape(b)
        size = columns // shape["outer"]
        wide = (rows, heads * size)
        left, right = ((dy, a) if op.get("transpose_b") else (a, dy))
        roles = ("heads_out", "heads_a") if op.get("transpose_b") else ("heads_a", "heads_out")
        flags = {key: op.get(role) for key, role in zip(("heads_a", "heads_b"), roles) if op.get(role)}
        each = self.helper("MatMul", [left, right], f"d.{b}.each", wide, transpose_a=1, heads_out=heads, sequences=1,
                           **flags)
        cut = self.helper("Reshape", [each], f"d.{b}.cut", (rows * shape["outer"], shape["inner"], size))
        total = self.helper("ReduceSum", [cut], f"d.{b}.groups", (rows * shape["outer"], size), axis=1)
        self.emit("Reshape", [total], b)

    def of_add(self, op, dy, x, y):
        self.same(x, dy)
        self.reduced(y, dy, "rows")

    def of_sub(self, op, dy, x, y):
        self.same(x, dy)
        if y in self.wanted:
            self.reduced(y, self.helper("Neg", [dy], f"d.{op.output}.neg", self.shape(dy)), "rows")

    def of_mul(self, op, dy, x, y):
        self.emit("Mul", [dy, y], x)
        self.second(op, dy, x, y)

    def second(self, op, dy, x, y):
        if y not in self.wanted:
            return
        if self.graph.tensors[x].elements == self.graph.tensors[y].elements:
            self.emit("Mul", [dy, x], y)
            return
        self.reduced(y, self.helper("Mul", [dy, x], f"d.{op.output}.x", self.shape(x)), "rows")

    def of_div(self, op, dy, x, y):
        self.emit("Div", [dy, y], x)
        if y not in self.wanted:
            return
        shape = self.shape(x)  # d(x / y) / dy = -(x / y) / y.
        part = self.helper("Mul", [dy, op.output], f"d.{op.output}.out", shape)
        part = self.helper("Div", [part, y], f"d.{op.output}.div", shape)
        self.reduced(y, self.helper("Neg", [part], f"d.{op.output}.neg", shape), "rows")

    def constant(self, value):
        name = f"constant {value}"
        if name not in self.graph.tensors:
            self.graph.tensor(name, (1,), "constant", value)
        return name

    def of_neg(self, op, dy, x):
        self.emit("Neg", [dy], x)

    def of_sqrt(self, op, dy, x):
        if x in self.wanted:
            twice = self.helper("Mul", [op.output, self.constant(2.0)], f"{op.output}.twice", self.shape(x))
            self.emit("Div", [dy, twice], x)

    def of_pow(self, op, dy, x):
        if x not in self.wanted:
            return
        exponent, base = op.get("exponent"), x
        if exponent != 2:
            base = self.helper("Pow", [x], f"{op.output}.less", self.shape(x), exponent=exponent - 1)
        slope = self.helper("Mul", [base, self.constant(exponent)], f"{op.output}.slope", self.shape(x))
        self.emit("Mul", [dy, slope], x)

    def of_rope(self, op, dy, x, cosines, sines):
        self.emit("Rope", [dy, cosines, sines], x, heads=op.get("heads", 1), inverse=1 - op.get("inverse"))

    def of_softmax(self, op, dy, x):
        self.emit("SoftmaxGrad", [op.output, dy], x, scale=op.get("scale", 1.0))

    def of_layernorm(self, op, dy, x, gamma, beta):
        epsilon = op.get("epsilon", 1e-5)
        self.emit("LayerNormGrad", [x, gamma, dy], x, epsilon=epsilon)
        self.emit("LayerNormGammaGrad", [x, dy], gamma, epsilon=epsilon)
        self.emit("LayerNormBetaGrad", [dy], beta)

    def of_reducesum(self, op, dy, x):
        self.emit("Expand", [dy], x, axis=op.get("axis"))

    def of_reducemean(self, op, dy, x):
        self.emit("Expand", [dy], x, axis=op.get("axis"), scale=1 / self.shape(x)[op.get("axis")])

    def of_expand(self, op, dy, x):
        if op.get("scale", 1.0) != 1.0:
            dy = self.helper("Mul", [dy, self.constant(op.get("scale"))], f"d.{op.output}.scaled", self.shape(dy))
        self.emit("ReduceSum", [dy], x, axis=op.get("axis"))

    def of_concat(self, op, dy, *inputs):
        axis, start = op.get("axis"), 0
        for place, x in enumerate(inputs):
            stop = start + self.shape(x)[axis]
            self.emit("Slice", [dy], x, axis=axis, start=start, stop=stop)
            start = stop

    def of_slice(self, op, dy, x):
        axis = op.get("axis")
        self.emit("Pad", [dy], x, axis=axis, before=op.get("start"), after=self.shape(x)[axis] - op.get("stop"))

    def of_pad(self, op, dy, x):
        axis, before = op.get("axis"), op.get("before")
        self.emit("Slice", [dy], x, axis=axis, start=before, stop=before + self.shape(x)[axis])

    def of_gather(self, op, dy, x, index):
        self.emit("ScatterAdd", [dy, index], x, axis=op.get("axis"))

    def of_scatteradd(self, op, dy, x, index):
        self.emit("Gather", [dy, index], x, axis=op.get("axis"))

    def of_reshape(self, op, dy, x):
        self.emit("Reshape", [dy], x)

    def of_transpose(self, op, dy, x):
        perm = op.get("perm")
        self.emit("Transpose", [dy], x, perm=[perm.index(one) for one in range(len(perm))])
