# SPDX-License-Identifier: Apache-2.0
"""What the applications' graphs are written with: an ONNX model, node by node, with all shapes.

Numbers of weights are left out (external data without a file): shapes are all that a plan needs, and tests make their
own numbers. Rows (a batch) are a parameter: few for values, many for times.
"""

import importlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from front import graph as graphs, parameters  # noqa: E402


MOST_NODES = 8192


def import_onnx():
    try:
        import onnx
    except ImportError as error:
        raise graphs.GraphError(f"needs the Python package onnx (Debian: python3-onnx) for {sys.executable}") from error
    return onnx


class Model:
    def __init__(self, name):
        self.onnx = import_onnx()
        self.name = name
        self.nodes, self.inputs, self.weights, self.shapes, self.kinds = [], [], [], {}, {}

    def input(self, name, shape, kind="FLOAT16"):
        self.inputs.append(name)
        return self._tensor(name, shape, kind)

    def index(self, name, count):
        return self.input(name, [count], "INT64")

    def weight(self, name, shape):
        proto = self.onnx.TensorProto
        one = proto(name=name, data_type=proto.FLOAT16, dims=shape, data_location=proto.EXTERNAL)
        one.external_data.add(key="location", value="none")
        self.weights.append(one)
        self.shapes[name] = list(shape)
        return name

    def numbers(self, name, values, kind="INT64"):
        """A small constant: a shape, axes, a scalar."""
        proto = self.onnx.TensorProto
        dims = [len(values)] if isinstance(values, list) else []
        self.weights.append(self.onnx.helper.make_tensor(name, getattr(proto, kind), dims,
                                                         values if isinstance(values, list) else [values]))
        self.shapes[name] = dims
        return name

    def node(self, kind, inputs, output, shape, domain="", number_kind="FLOAT16", **attributes):
        if len(self.nodes) == MOST_NODES:
            raise graphs.GraphError(f"{self.name} has more than {MOST_NODES} operators")
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes))
        return self._tensor(output, shape, number_kind)

    def _tensor(self, name, shape, kind):
        self.shapes[name], self.kinds[name] = list(shape), kind
        return name

    def columns(self, name):
        return self.shapes[name][-1]

    def linear(self, name, x, columns, bias=True):
        rows, inner = self.shapes[x]
        given = [x, self.weight(name + ".w", [inner, columns])]
        if not bias:
            return self.node("MatMul", given, name, [rows, columns])
        return self.node("Gemm", [*given, self.weight(name + ".b", [columns])], name, [rows, columns])

    def map(self, kind, x, name, **attributes):
        """An operator that keeps the shape of x, of one operand or with others of x's or a smaller shape."""
        inputs = x if isinstance(x, list) else [x]
        return self.node(kind, inputs, name, self.shapes[inputs[0]], **attributes)

    def layer_norm(self, name, x):
        row = [self.columns(x)]
        return self.node("LayerNormalization", [x, self.weight(name + ".g", row), self.weight(name + ".b", row)], name,
                         self.shapes[x], axis=-1)

    def concat(self, name, *inputs):
        shape = list(self.shapes[inputs[0]])
        shape[-1] = sum(self.columns(one) for one in inputs)
        return self.node("Concat", list(inputs), name, shape, axis=-1)

    def gather(self, name, table, indices):
        return self.node("Gather", [table, indices], name, [self.shapes[indices][0], self.columns(table)], axis=0)

    def scatter(self, name, updates, indices, rows):
        """Rows of `updates` are added where `indices` say, to `rows` rows of zeros."""
        shape = [rows, self.columns(updates)]
        zero = self.onnx.helper.make_tensor("value", self.onnx.TensorProto.FLOAT16, [1], [0])
        zeros = self.node("ConstantOfShape", [self.numbers(name + ".shape", shape)], name + ".zeros", shape, value=zero)
        column = self.node("Unsqueeze", [indices, self.numbers(name + ".axis", [1])], name + ".column",
                           [self.shapes[indices][0], 1], number_kind="INT64")
        return self.node("ScatterND", [zeros, column, updates], name, shape, reduction="add")

    def mlp(self, name, x, widths, activation="Relu", norm=False, last=None):
        """Linear layers, the activation between them; `last` behind the last one, or a layer norm."""
        for place, columns in enumerate(widths):
            x = self.linear(f"{name}.l{place}", x, columns)
            kind = activation if place + 1 < len(widths) else last
            if kind:
                x = self.map(kind, x, f"{name}.a{place}", **self.domain(kind))
        return self.layer_norm(f"{name}.n", x) if norm else x

    @staticmethod
    def domain(kind):
        return {"domain": "stretto"} if kind == "Silu" else {}

    def model(self, *outputs):
        """The ONNX model."""
        helper, proto = self.onnx.helper, self.onnx.TensorProto

        def info(name):
            return helper.make_tensor_value_info(name, getattr(proto, self.kinds[name]), self.shapes[name])
        made = [info(name) for name in self.shapes
                if name in self.kinds and name not in self.inputs and name not in outputs]
        graph = helper.make_graph(self.nodes, self.name, [info(name) for name in self.inputs],
                                  [info(name) for name in outputs], self.weights, value_info=made)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("stretto", 1)])


def build(name, text):
    """The ONNX model of an application with KEY=NUMBER,..."""
    module = importlib.import_module("apps." + name)
    return module.build(parameters.parse(text, module.DEFAULTS))


def main(name):
    """nerf.py [KEY=NUMBER,...] FILE.onnx"""
    try:
        if not 2 <= len(sys.argv) <= 3 or not sys.argv[-1].endswith(".onnx"):
            raise graphs.GraphError(f"usage: {name}.py [KEY=NUMBER,...] FILE.onnx")
        import_onnx().save(build(name, sys.argv[1] if len(sys.argv) == 3 else ""), sys.argv[-1])
        return 0
    except (graphs.GraphError, OSError) as error:
        print(f"{name}.py: {error}", file=sys.stderr)
        return 2
