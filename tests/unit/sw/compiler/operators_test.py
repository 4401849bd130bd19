#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Question: are operators of graphs checked as their shapes demand, read from ONNX as ONNX defines them, and refused
by loop kernels that have no code for them? Expected numbers are numpy's own, or worked out here by hand."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "sw/compiler"))

try:
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    from front import evaluate, load
except ImportError:
    numpy = None
from emission import emit  # noqa: E402
from front import graph as graphs  # noqa: E402

OUT = {"Slice": [8, 4], "Pad": [8, 20], "Concat": [16, 16], "Gather": [5, 16], "ScatterAdd": [3, 16],
       "ReduceSum": [8, 1], "ReduceMean": [1, 16], "Transpose": [16, 8], "Reshape": [4, 32], "MatMul": [8, 4]}
GOOD = [  # Operator, inputs, attributes; the result has the shape above, or that of x.
    ("Relu", ["x"], {}), ("Sigmoid", ["x"], {}), ("Silu", ["x"], {}), ("Tanh", ["x"], {}), ("Neg", ["x"], {}),
    ("Sqrt", ["x"], {"epsilon": 1e-5}), ("Pow", ["x"], {"exponent": 2}), ("Div", ["x", "column"], {}),
    ("Mul", ["x", "row"], {}), ("Sub", ["x", "scalar"], {}), ("Add", ["x", "x2"], {}),
    ("ReluGrad", ["x", "x2"], {}), ("SigmoidGrad", ["x", "x2"], {}), ("SiluGrad", ["x", "x2"], {}),
    ("Slice", ["x"], {"axis": 1, "start": 4, "stop": 8}), ("Pad", ["x"], {"axis": 1, "before": 1, "after": 3}),
    ("Concat", ["x", "x2"], {"axis": 0}), ("Gather", ["x", "five"], {"axis": 0}),
    ("ScatterAdd", ["x", "eight"], {"axis": 0}), ("ReduceSum", ["x"], {"axis": 1}),
    ("ReduceMean", ["x"], {"axis": 0}), ("Transpose", ["x"], {"perm": [1, 0]}), ("Reshape", ["x"], {}),
    ("Rope", ["x", "cosines", "sines"], {"heads": 4}), ("MatMul", ["x", "w", "b"], {})]


def tensors():
    graph = graphs.Graph("t")
    for name, shape, kind in [("x", [8, 16], "input"), ("x2", [8, 16], "input"), ("row", [16], "input"),
                              ("column", [8, 1], "input"), ("scalar", [1], "input"), ("five", [5], "index"),
                              ("eight", [8], "index"), ("cosines", [8, 4], "input"), ("sines", [8, 4], "input"),
                              ("w", [16, 4], "weight"), ("b", [4], "weight")]:
        graph.tensor(name, shape, kind)
    return graph


class Shapes(unittest.TestCase):
    def refused(self, kind, inputs, shape, *words, **attributes):
        graph = tensors()
        graph.op(kind, inputs, "y", shape, **attributes)
        with self.assertRaises(graphs.GraphError) as caught:
            graph.check()
        for word in (kind, *words):
            self.assertIn(word, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_good_ones_are_taken(self):
        for kind, inputs, attributes in GOOD:
            with self.subTest(kind=kind):
                graph = tensors()
                graph.op(kind, inputs, "y", OUT.get(kind, [8, 16]), **attributes)
                graph.check()

    def test_a_result_of_another_shape_is_refused(self):
        for kind, inputs, attributes in GOOD:
            with self.subTest(kind=kind):
                self.refused(kind, inputs, [7, 3], **attributes)

    def test_says_what_is_wrong(self):
        self.refused("Mul", ["x", "five"], [8, 16], "five is a tensor of indices")
        self.refused("Gather", ["x", "row"], [16, 16], "row is a tensor of numbers")
        self.refused("Add", ["x", "w"], [8, 16], "w is [16, 4]")
        self.refused("Slice", ["x"], [8, 4], "12 to 20 is no part of dimension 1", axis=1, start=12, stop=20)
        self.refused("Slice", ["x"], [8, 4], "axis 2, x has 2 dimensions", axis=2, start=0, stop=4)
        self.refused("Concat", ["x", "w"], [24, 16], "w is [16, 4]", "dimension 0 only", axis=0)
        self.refused("ScatterAdd", ["x", "five"], [3, 16], "five has 5 indices, dimension 0 of x is 8")
        self.refused("ReduceSum", ["x"], [8], "must be [1, 16] or [16]", axis=0)
        self.refused("Transpose", ["x"], [16, 8], "perm [0, 0]", "each dimension's number once", perm=[0, 0])
        self.refused("Rope", ["x", "cosines", "sines"], [8, 16], "3 heads", heads=3)
        self.refused("Pow", ["x"], [8, 16], "exponent 'two'", "a number", exponent="two")
        self.refused("Sigmod", ["x"], [8, 16], "nearest: Sigmoid")

    def test_heads_of_queries_share_heads_of_keys(self):
        graph = graphs.Graph("t")
        graph.tensor("q", [6, 8 * 4], "input")
        graph.tensor("k", [6, 2 * 4], "input")
        graph.op("MatMul", ["q", "k"], "s", [8, 6, 6], heads_a=8, heads_b=2, transpose_b=1, sequences=1)
        graph.check()
        shape = graphs.matmul_shape(graph, graph.ops[0])
        self.assertEqual((shape["outer"], shape["inner"]), (2, 4))
        # Bytes from head to head: queries 8, keys 8 for each four of them, scores 72.
        self.assertEqual(shape["strides"], [(32, 8), (8, 0), (4 * 72, 72)])
        graph.tensors["k"].shape = (6, 3 * 4)
        graph.ops[0].attributes["heads_b"] = 3
        with self.assertRaises(graphs.GraphError):
            graph.check()

    def test_loop_kernels_refuse_by_name(self):
        for kind, inputs, attributes in GOOD:
            graph = tensors()
            graph.op(kind, inputs, "y", OUT.get(kind, [8, 16]), **attributes)
            with self.subTest(kind=kind):
                if kind in ("Add", "MatMul", "Reshape"):
                    self.assertIsNone(emit.Plan(graph).refusal)
                else:
                    self.assertRegex(emit.Plan(graph).refusal, f"{kind} -> y: .*a loop kernel")


@unittest.skipIf(numpy is None, "python3-onnx is not installed")
class Onnx(unittest.TestCase):
    """A model is read, worked out, and compared with numpy."""

    def read(self, nodes, inputs, outputs, numbers=None, indices=(), opset=16):
        values = [numpy_helper.from_array(numpy.asarray(value), name) for name, value in (numbers or {}).items()]
        given = [helper.make_tensor_value_info(
            name, TensorProto.INT64 if name in indices else TensorProto.FLOAT16, shape) for name, shape in inputs.items()]
        graph = helper.make_graph(nodes, "net", given, [
            helper.make_tensor_value_info(name, TensorProto.FLOAT16, shape) for name, shape in outputs.items()], values)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("stretto", 1)])
        with tempfile.TemporaryDirectory() as folder:
            onnx.save(model, folder + "/net.onnx")
            graph = load.load(folder + "/net.onnx")
        graph.check()
        return graph

    def compare(self, graph, output, expected, given=None):
        given = {**evaluate.contents(graph), **(given or {})}
        found = evaluate.run(graph, given)
        numpy.testing.assert_allclose(found[output], expected({**found}), rtol=1e-12)

    def node(self, kind, inputs, output, **given):
        return helper.make_node(kind, inputs, output if isinstance(output, list) else [output], **given)

    def test_element_by_element(self):
        for kind, expected in [("Relu", lambda x: numpy.maximum(x, 0)), ("Sigmoid", lambda x: 1 / (1 + numpy.exp(-x))),
                               ("Tanh", numpy.tanh), ("Neg", lambda x: -x)]:
            graph = self.read([self.node(kind, ["x"], "y")], {"x": [4, 6]}, {"y": [4, 6]})
            self.compare(graph, "y", lambda v, e=expected: e(v["x"]))

    def test_rms_norm_has_five_operators(self):
        nodes = [self.node("Pow", ["x", "two"], "squares"), self.node("ReduceMean", ["squares"], "mean", axes=[-1]),
                 self.node("Add", ["mean", "eps"], "sum"), self.node("Sqrt", ["sum"], "root"),
                 self.node("Div", ["x", "root"], "unit"), self.node("Mul", ["g", "unit"], "y")]
        graph = self.read(nodes, {"x": [4, 6]}, {"y": [4, 6]}, {
            "two": numpy.float16(2), "eps": numpy.array([0.25], numpy.float16), "g": numpy.zeros(6, numpy.float16)})
        self.assertEqual([op.kind for op in graph.ops], ["Pow", "ReduceMean", "Sqrt", "Div", "Mul"])
        self.compare(graph, "y", lambda v: v["x"] / numpy.sqrt((v["x"]**2).mean(-1, keepdims=True) + 0.25) * v["g"])

    def test_slices_splits_and_concatenations(self):
        nodes = [self.node("Split", ["x"], ["a", "b"], axis=1), self.node("Slice", ["x", "from", "to", "axes"], "c"),
                 self.node("Concat", ["b", "c", "a"], "y", axis=-1)]
        graph = self.read(nodes, {"x": [4, 6]}, {"y": [4, 8]},
                          {"from": numpy.array([-3]), "to": numpy.array([5]), "axes": numpy.array([1])})
        self.compare(graph, "y", lambda v: numpy.hstack([v["x"][:, 3:], v["x"][:, 3:5], v["x"][:, :3]]))

    def test_gathers_and_scatters_of_rows(self):
        zero = numpy_helper.from_array(numpy.zeros(1, numpy.float16))
        nodes = [self.node("Gather", ["x", "senders"], "sent"), self.node("ConstantOfShape", ["shape"], "zeros", value=zero),
                 self.node("Unsqueeze", ["receivers", "one"], "column"), self.node("ScatterND", ["zeros", "column", "sent"],
                                                                                  "y", reduction="add")]
        graph = self.read(nodes, {"x": [4, 6], "senders": [9], "receivers": [9]}, {"y": [3, 6]},
                          {"shape": numpy.array([3, 6]), "one": numpy.array([1])}, ("senders", "receivers"))
        self.assertEqual([op.kind for op in graph.ops], ["Gather", "ScatterAdd"])

        def expected(v):
            y = numpy.zeros((3, 6))
            for sender, receiver in zip(v["senders"], v["receivers"]):
                y[receiver] += v["x"][sender]
            return y
        self.compare(graph, "y", expected, {"senders": numpy.arange(9) % 4, "receivers": numpy.arange(9) * 7 % 3})

    def test_scatters_onto_a_tensor_by_expanded_indices(self):
        nodes = [self.node("Unsqueeze", ["i", "one"], "column"), self.node("Expand", ["column", "shape"], "all"),
                 self.node("ScatterElements", ["x", "all", "u"], "y", reduction="add", axis=0)]
        graph = self.read(nodes, {"x": [4, 6], "u": [2, 6], "i": [2]}, {"y": [4, 6]},
                          {"shape": numpy.array([2, 6]), "one": numpy.array([1])}, ("i",))
        self.assertEqual([op.kind for op in graph.ops], ["ScatterAdd", "Add"])
        self.compare(graph, "y", lambda v: v["x"] + numpy.vstack([0 * v["u"][:1], v["u"], 0 * v["u"][:1]]),
                     {"i": numpy.array([1, 2])})

    def test_a_gather_of_many_indices_and_of_columns(self):
        nodes = [self.node("Gather", ["table", "ids"], "rows"), self.node("Gather", ["x", "columns"], "y", axis=1)]
        graph = self.read(nodes, {"table": [7, 6], "ids": [4, 3], "x": [4, 6], "columns": [2]},
                          {"rows": [4, 3, 6], "y": [4, 2]}, indices=("ids", "columns"))
        self.assertEqual([op.kind for op in graph.ops], ["Gather", "Reshape", "Gather"])
        self.compare(graph, "rows", lambda v: v["table"][v["ids"]])
        self.compare(graph, "y", lambda v: v["x"][:, v["columns"].ravel()])

    def test_sums_over_neighbouring_axes(self):
        graph = self.read([self.node("ReduceSum", ["x", "axes"], "y", keepdims=0)], {"x": [3, 4, 6]}, {"y": [6]},
                          {"axes": numpy.array([0, 1])})
        self.compare(graph, "y", lambda v: v["x"].sum((0, 1)))

    def test_a_transposed_operand_is_the_products(self):
        nodes = [self.node("Transpose", ["w"], "wt", perm=[1, 0]), self.node("MatMul", ["x", "wt"], "y")]
        graph = self.read(nodes, {"x": [4, 6], "w": [5, 6]}, {"y": [4, 5]})
        self.assertEqual([(op.kind, op.get("transpose_b")) for op in graph.ops], [("MatMul", 1)])
        self.compare(graph, "y", lambda v: v["x"] @ v["w"].T)

    def test_attention_without_copies(self):
        own = {"domain": "stretto"}
        nodes = [self.node("MatMul", ["q", "k"], "s", heads_a=4, heads_b=2, transpose_b=1, sequences=1, **own),
                 self.node("Add", ["s", "mask"], "m"), self.node("Softmax", ["m"], "p", scale=0.5),
                 self.node("MatMul", ["p", "v"], "y", heads_b=2, heads_out=4, sequences=1, **own)]
        graph = self.read(nodes, {"q": [5, 8], "k": [5, 4], "v": [5, 4], "mask": [5, 5]},
                          {"s": [4, 5, 5], "m": [4, 5, 5], "p": [4, 5, 5], "y": [5, 8]})

        def expected(v):
            heads = []
            for head in range(4):
                q, k, w = (v[name][:, 2 * at:2 * at + 2] for name, at in (("q", head), ("k", head // 2), ("v", head // 2)))
                powers = numpy.exp(0.5 * (q @ k.T + v["mask"]))
                heads.append(powers / powers.sum(1, keepdims=True) @ w)
            return numpy.hstack(heads)
        self.compare(graph, "y", expected)

    def test_rotary_embedding_turns_pairs(self):
        nodes = [self.node("RotaryEmbedding", ["x", "c", "s"], "y", heads=2, domain="stretto")]
        graph = self.read(nodes, {"x": [3, 8], "c": [3, 4], "s": [3, 4]}, {"y": [3, 8]})

        def expected(v):
            y = numpy.zeros((3, 8))
            for row in range(3):
                for at in range(8):
                    i, pair = at % 4, at + 2 if at % 4 < 2 else at - 2
                    sign = -1 if i < 2 else 1
                    y[row, at] = v["x"][row, at] * v["c"][row, i] + sign * v["x"][row, pair] * v["s"][row, i]
            return y
        self.compare(graph, "y", expected)

    def test_numbers_of_weights_may_be_left_out(self):
        weight = TensorProto(name="w", data_type=TensorProto.FLOAT16, dims=[6, 5],
                             data_location=TensorProto.EXTERNAL)
        weight.external_data.add(key="location", value="nowhere")
        graph = helper.make_graph([self.node("MatMul", ["x", "w"], "y")], "net", [
            helper.make_tensor_value_info("x", TensorProto.FLOAT16, [4, 6])], [
            helper.make_tensor_value_info("y", TensorProto.FLOAT16, [4, 5])], [weight])
        with tempfile.TemporaryDirectory() as folder:
            onnx.save(helper.make_model(graph), folder + "/net.onnx")
            graph = load.load(folder + "/net.onnx")
        graph.check()
        self.assertEqual(graph.tensors["w"].kind, "weight")

    def test_refuses_by_name(self):
        for nodes, inputs, outputs, words in [
                ([self.node("Tan", ["x"], "y")], {"x": [4, 6]}, {"y": [4, 6]}, ("Tan", "not supported", "nearest: Tanh")),
                ([self.node("Relu", ["x"], "y")], {"x": ["rows", 6]}, {"y": ["rows", 6]}, ("x", "not static")),
                ([self.node("Slice", ["x", "a", "a"], "y")], {"x": [4, 6], "a": [1]}, {"y": [4, 6]},
                 ("a", "no constant", "static")),
                ([self.node("Pow", ["x", "x"], "y")], {"x": [4, 6]}, {"y": [4, 6]}, ("exponent x", "constant")),
                ([self.node("ScatterND", ["x", "a", "u"], "y")], {"x": [4, 6], "a": [2, 1], "u": [2, 6]}, {"y": [4, 6]},
                 ("reduction must be add",)),
                ([self.node("ReduceSum", ["x"], "y", axes=[0, 2])], {"x": [4, 6, 2]}, {"y": [1, 6, 1]}, ("[0, 2]",))]:
            with self.subTest(nodes=nodes[0].op_type), self.assertRaises(graphs.GraphError) as caught:
                self.read(nodes, inputs, outputs, indices=("a",), opset=11 if "axes" in str(nodes) else 16)
            for word in words:
                self.assertIn(word, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
