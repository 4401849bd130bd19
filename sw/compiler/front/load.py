# SPDX-License-Identifier: Apache-2.0
"""Reads graphs: the YAML form, a subset of ONNX, and the builders of BERT and of applications (apps/)."""

import sys

import apps
from front import graph as graphs


def load(what):
    if what.startswith("bert:"):
        from front import bert
        return bert.build(what[len("bert:"):])
    name, colon, text = what.partition(":")
    if colon and name in apps.NAMES:
        from apps import builder
        return from_model(builder.build(name, text), builder.import_onnx())
    if what.endswith((".yaml", ".yml")):
        return from_yaml(what)
    if what.endswith(".onnx"):
        return from_onnx(what)
    raise graphs.GraphError("must end in .yaml or .onnx, or begin with bert:, " +
                            ", ".join(one + ":" for one in apps.NAMES))


KEYS = ("name", "tensors", "ops", "pipelines", "master_weights")


def from_yaml(file):
    import yaml
    try:
        with open(file, encoding="utf-8") as stream:
            data = yaml.safe_load(stream)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise graphs.GraphError(" ".join(str(error).split())) from error
    if not isinstance(data, dict):
        raise graphs.GraphError("must be a map with name, tensors and ops")
    for key in data:
        if key not in KEYS:
            raise graphs.GraphError(f"unknown key {key!r}{graphs.near(str(key), KEYS)}")
    graph = graphs.Graph(str(data.get("name", "graph")))
    for name, about in (data.get("tensors") or {}).items():
        if not isinstance(about, dict) or "shape" not in about:
            raise graphs.GraphError(f"tensor {name}: needs shape")
        extra = set(about) - {"shape", "kind", "value"}
        if extra:
            raise graphs.GraphError(f"tensor {name}: unknown key {sorted(extra)[0]!r}")
        graph.tensor(name, about["shape"], about.get("kind", "value"), about.get("value", 0.0))
    for place, about in enumerate(data.get("ops") or []):
        if not isinstance(about, dict) or not {"op", "in", "out"} <= set(about):
            raise graphs.GraphError(f"operator {place}: needs op, in and out")
        rest = {key: value for key, value in about.items() if key not in ("op", "in", "out")}
        graph.op(about["op"], about["in"], about["out"], **rest)
    if not graph.ops:
        raise graphs.GraphError("has no ops")
    if not isinstance(data.get("master_weights", False), bool):
        raise graphs.GraphError(f"master_weights {data['master_weights']!r} must be true or false")
    if data.get("master_weights"):
        graph.keep_masters()
    for place, about in enumerate(data.get("pipelines") or []):
        graph.pipelines.append(pipeline(place, about))
    return graph


def pipeline(place, about):
    """Checks an entry of `pipelines`: work-groups of stages by what they make, depth of queues, rows of a tile."""
    where = f"pipeline {place}"

    def count(name, value, most):
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise graphs.GraphError(f"{where}: {name} {value!r} must be a whole number, 1 to {most}")
        return value
    if not isinstance(about, dict) or not isinstance(about.get("stages"), dict) or not about["stages"]:
        raise graphs.GraphError(f"{where}: needs stages, a map of outputs to work-groups")
    for key in about:
        if key not in ("stages", "depth", "tile_rows"):
            raise graphs.GraphError(f"{where}: unknown key {key!r}{graphs.near(str(key), ['stages', 'depth', 'tile_rows'])}")
    return {"stages": {name: count(name, value, 65536) for name, value in about["stages"].items()},
            "depth": count("depth", about.get("depth", 2), 64), "tile_rows": count("tile_rows", about.get("tile_rows", 128), 128)}


# Operators of ONNX that are one of ours, operand by operand. add_node knows the attributes of others.
ONNX = {"MatMul": "MatMul", "Gemm": "MatMul", "Add": "Add", "Sub": "Sub", "Mul": "Mul", "Div": "Div", "Gelu": "Gelu",
        "Relu": "Relu", "Sigmoid": "Sigmoid", "Tanh": "Tanh", "Silu": "Silu", "Swish": "Silu", "Neg": "Neg",
        "Sqrt": "Sqrt", "Pow": "Pow", "Softmax": "Softmax", "LayerNormalization": "LayerNorm",
        "ReduceSum": "ReduceSum", "ReduceMean": "ReduceMean", "Concat": "Concat", "Slice": "Slice", "Split": "Slice",
        "Gather": "Gather", "ScatterElements": "ScatterAdd", "ScatterND": "ScatterAdd", "Reshape": "Reshape",
        "Flatten": "Reshape", "Squeeze": "Reshape", "Unsqueeze": "Reshape", "Transpose": "Transpose",
        "RotaryEmbedding": "Rope", "AllReduce": "AllReduce"}
OWN = ("heads_a", "heads_b", "heads_out", "sequences", "transpose_a", "transpose_b", "scale")  # Of domain `stretto`.
SMALL = 64  # Elements of an initialiser that may be an operator's parameter: a scalar, axes, a shape.


class Reader:
    """One ONNX model on its way into a graph."""

    def __init__(self, model, onnx):
        self.onnx = onnx
        self.model = model
        self.graph = graphs.Graph(model.graph.name or "onnx")
        self.initializers = {one.name: one for one in model.graph.initializer}
        self.producers = {name: node for node in model.graph.node for name in node.output}
        self.readers = {}
        for node in model.graph.node:
            for name in node.input:
                self.readers[name] = self.readers.get(name, 0) + 1
        self.renamed = {}  # Tensors that need no operator -> what they are.
        self.epsilons = {}  # Sums with a scalar that only a square root reads.

    def where(self, node):
        return f"node {node.name or ', '.join(node.output)} ({node.op_type})"

    def fail(self, node, text):
        raise graphs.GraphError(f"{self.where(node)}: {text}")

    def values(self, name):
        """The numbers of a small initialiser or Constant, or None."""
        one = self.initializers.get(name)
        if one is None:
            node = self.producers.get(name)
            if node is None or node.op_type != "Constant" or node.attribute[0].name != "value":
                return None
            one = node.attribute[0].t
        count = 1
        for extent in one.dims:
            count *= extent
        if count > SMALL or one.data_location == self.onnx.TensorProto.EXTERNAL:
            return None
        return [number.item() for number in self.onnx.numpy_helper.to_array(one).ravel()]

    def parameter(self, node, place, name, given):
        """Whole numbers that are an attribute (old operator sets) or a constant operand."""
        if name in given:
            return given[name] if isinstance(given[name], (list, tuple)) else [given[name]]
        if len(node.input) <= place or not node.input[place]:
            return None
        found = self.values(node.input[place])
        if found is None:
            self.fail(node, f"{name} ({node.input[place]}) is no constant: shapes must be static")
        return found

    def axis(self, node, axis, name):
        rank = len(self.graph.tensors[name].shape)
        if not -rank <= axis < rank:
            self.fail(node, f"axis {axis}, {name} has {rank} dimensions")
        return axis % rank

    def read(self):
        onnx, graph = self.onnx, self.graph
        numbers = {}
        proto = onnx.TensorProto
        scalars = {proto.FLOAT: "FP32", proto.FLOAT16: "FP16", proto.DOUBLE: "FP64", proto.BFLOAT16: "BF16"}
        kinds = {scalars.get(one.data_type) for one in self.model.graph.initializer}
        kinds |= {scalars.get(one.type.tensor_type.elem_type) for one in [*self.model.graph.input, *self.model.graph.value_info]}
        graph.other_numbers = sorted(kinds - {None, "FP16"})
        for one in self.model.graph.initializer:
            numbers[one.name] = one.data_type in scalars
            found = self.values(one.name) if numbers[one.name] else None
            if found is not None and len(found) == 1:
                graph.tensor(one.name, list(one.dims) or [1], "constant", found[0])
            else:
                graph.tensor(one.name, list(one.dims) or [1], "weight" if numbers[one.name] else "index")
        inputs = {one.name for one in self.model.graph.input}
        for one in [*self.model.graph.input, *self.model.graph.value_info, *self.model.graph.output]:
            if one.name in graph.tensors:
                continue
            shape = []
            for dimension in one.type.tensor_type.shape.dim:
                if not dimension.HasField("dim_value"):
                    raise graphs.GraphError(f"tensor {one.name}: its shape is not static")
                shape.append(dimension.dim_value)
            numbers[one.name] = one.type.tensor_type.elem_type in scalars
            kind = "value" if one.name not in inputs else "input" if numbers[one.name] else "index"
            graph.tensor(one.name, shape or [1], kind)
        for node in self.model.graph.node:
            try:
                self.add(node)
            except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
                self.fail(node, f"an attribute or an operand is missing or is of the wrong kind ({error})")
        used = {name for op in graph.ops for name in [*op.inputs, op.output]}
        graph.tensors = {name: one for name, one in graph.tensors.items() if name in used or one.kind == "input"}
        made = {op.output for op in graph.ops}
        graph.outputs = [name for name in (self.source(one.name) for one in self.model.graph.output) if name in made]
        return graph

    def source(self, name):
        while name in self.renamed:
            name = self.renamed[name]
        return name

    def add(self, node):
        if node.op_type in ("Constant", "ConstantOfShape", "Identity", "Cast", "Dropout", "Expand"):
            self.skip(node)
            return
        kind = ONNX.get(node.op_type)
        if kind is None:
            self.fail(node, f"not supported{graphs.near(node.op_type, ONNX)}")
        for name in filter(None, node.output):
            if name not in self.graph.tensors:
                self.fail(node, f"the shape of {name} is not known")
        given = {one.name: self.onnx.helper.get_attribute_value(one) for one in node.attribute}
        inputs = [self.source(name) for name in node.input]
        for name in inputs:
            if name and name not in self.graph.tensors:
                self.fail(node, f"no tensor {name!r}{graphs.near(name, self.graph.tensors)}")
        special = getattr(self, "add_" + node.op_type.lower(), None)
        if special is not None:
            special(node, inputs, given)
            return
        if node.op_type == "AllReduce":
            self.graph.tensors[inputs[0]].kind = "gradient"
        self.graph.op(kind, inputs, node.output[0])

    def skip(self, node):
        """What needs no operator: constants, and results that are another tensor by another name."""
        if node.op_type == "ConstantOfShape":
            if node.output[0] not in self.graph.tensors:
                self.graph.tensor(node.output[0], self.parameter(node, 0, "shape", {}))
            value = [self.onnx.numpy_helper.to_array(one.t).item(0) for one in node.attribute]
            tensor = self.graph.tensors[node.output[0]]
            tensor.kind, tensor.value = "constant", float((value or [0.0])[0])
            return
        if node.op_type == "Constant":
            one = node.attribute[0].t
            if node.output[0] not in self.graph.tensors:
                self.graph.tensor(node.output[0], list(one.dims) or [1])
            tensor, found = self.graph.tensors[node.output[0]], self.values(node.output[0])
            number = graphs.number(found[0]) if found and len(found) == 1 else None
            tensor.kind, tensor.value = ("constant", number) if number is not None else ("index", 0.0)
            return
        if node.op_type == "Expand" and self.graph.tensors[self.source(node.input[0])].kind != "index":
            self.fail(node, "only indices may be expanded; Add, Sub, Mul and Div repeat their second operand")
        self.renamed[node.output[0]] = node.input[0]

    def add_gemm(self, node, inputs, given):
        if given.get("alpha", 1.0) != 1.0 or given.get("beta", 1.0) != 1.0:
            self.fail(node, "alpha and beta must be 1")
        self.graph.op("MatMul", inputs, node.output[0], transpose_a=given.get("transA", 0),
                      transpose_b=given.get("transB", 0))

    def add_matmul(self, node, inputs, given):
        """A transposed operand is the product's own business; heads are attributes of domain `stretto`."""
        attributes = {name: given[name] for name in OWN if name in given}
        for place, flag in ((0, "transpose_a"), (1, "transpose_b")):
            made = self.made(inputs[place], "Transpose")
            if made is not None and self.is_matrix_transpose(made):
                inputs[place] = made.inputs[0]
                attributes[flag] = 1 - attributes.get(flag, 0)
                if self.readers[made.output] == 1:
                    self.graph.ops.remove(made)
        self.graph.op("MatMul", inputs, node.output[0], **attributes)

    def made(self, name, kind):
        return next((op for op in self.graph.ops if op.output == name and op.kind == kind), None)

    def is_matrix_transpose(self, op):
        perm = op.get("perm")
        return perm == [*range(len(perm) - 2), len(perm) - 1, len(perm) - 2]

    def add_softmax(self, node, inputs, given):
        if self.axis(node, given.get("axis", -1), inputs[0]) != len(self.graph.tensors[inputs[0]].shape) - 1:
            self.fail(node, "axis must be the last one")
        self.graph.op("Softmax", inputs, node.output[0], **{"scale": given["scale"]} if "scale" in given else {})

    def add_layernormalization(self, node, inputs, given):
        if self.axis(node, given.get("axis", -1), inputs[0]) != len(self.graph.tensors[inputs[0]].shape) - 1:
            self.fail(node, "axis must be the last one")
        self.graph.op("LayerNorm", inputs, node.output[0], epsilon=given.get("epsilon", 1e-5))

    def add_add(self, node, inputs, given):
        """A scalar that is added below a square root is the root's epsilon. The larger operand goes first."""
        del given
        reader = [one for one in self.model.graph.node if node.output[0] in one.input]
        scalar = [self.graph.tensors[name] for name in inputs if self.graph.tensors[name].kind == "constant"]
        if len(scalar) == 1 and scalar[0].elements == 1 and len(reader) == 1 and reader[0].op_type == "Sqrt":
            other = next(name for name in inputs if name != scalar[0].name)
            self.renamed[node.output[0]], self.epsilons[node.output[0]] = other, scalar[0].value
            return
        self.graph.op("Add", self.larger_first(inputs), node.output[0])

    def add_mul(self, node, inputs, given):
        del given
        self.graph.op("Mul", self.larger_first(inputs), node.output[0])

    def larger_first(self, inputs):
        return sorted(inputs, key=lambda name: -self.graph.tensors[name].elements)

    def add_sqrt(self, node, inputs, given):
        del given
        self.graph.op("Sqrt", inputs, node.output[0], epsilon=self.epsilons.get(node.input[0], 0.0))

    def add_pow(self, node, inputs, given):
        del given
        exponent = self.graph.tensors[inputs[1]]
        if exponent.kind != "constant" or exponent.elements != 1:
            self.fail(node, f"its exponent {exponent.name} must be one constant number")
        self.graph.op("Pow", inputs[:1], node.output[0], exponent=exponent.value)

    def reduce(self, node, inputs, given):
        shape = list(self.graph.tensors[inputs[0]].shape)
        axes = self.parameter(node, 1, "axes", given) or list(range(len(shape)))
        axes = sorted(self.axis(node, axis, inputs[0]) for axis in axes)
        # Neighbouring axes are one of a reshaped tensor.
        if axes != list(range(axes[0], axes[-1] + 1)):
            self.fail(node, f"axes {axes} are not neighbours")
        if len(axes) > 1:
            count = 1
            for axis in axes:
                count *= shape[axis]
            shape[axes[0]:axes[-1] + 1] = [count]
            inputs = [self.graph.op("Reshape", inputs[:1], node.output[0] + ".in", shape)]
        out = self.graph.tensors[node.output[0]]
        left = [*shape[:axes[0]], *shape[axes[0] + 1:]] or [1]
        kept = [*shape[:axes[0]], 1, *shape[axes[0] + 1:]]
        name = node.output[0]
        if list(out.shape) not in (left, kept):  # Several axes of extent 1.
            name = self.graph.op(ONNX[node.op_type], inputs[:1], name + ".out", left, axis=axes[0])
            self.graph.op("Reshape", [name], node.output[0])
            return
        self.graph.op(ONNX[node.op_type], inputs[:1], name, axis=axes[0])

    add_reducesum = add_reducemean = reduce

    def add_concat(self, node, inputs, given):
        self.graph.op("Concat", inputs, node.output[0], axis=self.axis(node, given["axis"], inputs[0]))

    def add_slice(self, node, inputs, given):
        starts, ends = (self.parameter(node, place, name, given) for place, name in ((1, "starts"), (2, "ends")))
        axes = self.parameter(node, 3, "axes", given) or list(range(len(starts)))
        if set(self.parameter(node, 4, "steps", given) or [1]) != {1}:
            self.fail(node, "steps must be 1")
        name = inputs[0]
        for place, axis in enumerate(axes):
            axis, shape = self.axis(node, axis, name), list(self.graph.tensors[name].shape)
            start, stop = (min(max(one + shape[axis] if one < 0 else one, 0), shape[axis])
                           for one in (starts[place], ends[place]))
            shape[axis] = stop - start
            last = place + 1 == len(axes)
            name = self.graph.op("Slice", [name], node.output[0] if last else f"{node.output[0]}.{place}",
                                 None if last else shape, axis=axis, start=start, stop=stop)

    def add_split(self, node, inputs, given):
        axis, start = self.axis(node, given.get("axis", 0), inputs[0]), 0
        for name in node.output:
            stop = start + self.graph.tensors[name].shape[axis]
            self.graph.op("Slice", inputs[:1], name, axis=axis, start=start, stop=stop)
            start = stop

    def add_gather(self, node, inputs, given):
        """Indices of several dimensions are one list of rows, and the result is seen otherwise."""
        axis = self.axis(node, given.get("axis", 0), inputs[0])
        shape, name = self.graph.tensors[inputs[0]].shape, node.output[0]
        flat = [*shape[:axis], self.graph.tensors[inputs[1]].elements, *shape[axis + 1:]]
        if list(self.graph.tensors[name].shape) == flat:
            self.graph.op("Gather", inputs, name, axis=axis)
            return
        self.graph.op("Gather", inputs, name + ".rows", flat, axis=axis)
        self.graph.op("Reshape", [name + ".rows"], name)

    def scatter(self, node, inputs, given):
        """Rows added at indices. `data` is what they are added to: zeros, or a tensor that is added afterwards."""
        if given.get("reduction", b"none") not in (b"add", "add"):
            self.fail(node, "reduction must be add")
        data, indices, updates = inputs
        axis = self.axis(node, given.get("axis", 0), data) if node.op_type == "ScatterElements" else 0
        if self.graph.tensors[indices].elements != self.graph.tensors[updates].shape[axis]:
            self.fail(node, f"{indices} must name a row for each of {updates}: one list of "
                            f"{self.graph.tensors[updates].shape[axis]} indices, expanded if need be")
        zeros = self.graph.tensors[data].kind == "constant" and self.graph.tensors[data].value == 0
        name = node.output[0] if zeros else node.output[0] + ".sum"
        shape = None if zeros else self.graph.tensors[data].shape
        self.graph.op("ScatterAdd", [updates, indices], name, shape, axis=axis)
        if not zeros:
            self.graph.op("Add", [name, data], node.output[0])

    add_scatterelements = add_scatternd = scatter

    def add_reshape(self, node, inputs, given):
        del given
        if self.graph.tensors[inputs[0]].kind == "index":
            self.renamed[node.output[0]] = node.input[0]
            return
        self.graph.op("Reshape", inputs[:1], node.output[0])

    add_flatten = add_squeeze = add_unsqueeze = add_reshape

    def add_transpose(self, node, inputs, given):
        rank = len(self.graph.tensors[inputs[0]].shape)
        self.graph.op("Transpose", inputs, node.output[0], perm=list(given.get("perm", range(rank - 1, -1, -1))))

    def add_rotaryembedding(self, node, inputs, given):
        self.graph.op("Rope", inputs, node.output[0], heads=given.get("heads", 1))


def from_onnx(file):
    """ONNX with static shapes and the operators of ONNX (above). Attributes of products with heads, AllReduce and
    RotaryEmbedding are of domain `stretto`. Initialisers are weights; their numbers are not read, so a file may
    leave them out (external data)."""
    try:
        import onnx
        import onnx.numpy_helper
    except ImportError as error:
        raise graphs.GraphError(f"needs the Python package onnx (Debian: python3-onnx) for {sys.executable}") from error
    try:
        model = onnx.shape_inference.infer_shapes(onnx.load(file, load_external_data=False))
    except Exception as error:  # protobuf raises what it likes.
        raise graphs.GraphError("is no ONNX model: " + str(error).splitlines()[0]) from error
    return from_model(model, onnx)


def from_model(model, onnx):
    import onnx.numpy_helper
    return Reader(model, onnx).read()
