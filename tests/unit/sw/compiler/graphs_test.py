#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Question: does the graph compiler take what it promises, put the same things where its plan says, and refuse
the rest with one line that names the culprit? Generated kernels run in tests/system/graph_test.cpp."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tests/support"))

from nets import COMPILER, compile_py  # noqa: E402

HEAD = "name: t\ntensors:\n  x: {shape: [8, 16], kind: input}\n  w: {shape: [16, 4], kind: weight}\n  y: {shape: [8, 4]}\n"


class Scratch(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def plan(self, graph, name="out", *options):
        done = compile_py(graph, "-o", self.path / name, "--source-only", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.path / f"{name}.json").read_text()), (self.path / f"{name}.c").read_text()

    def refused(self, text, *words, file="g.yaml"):
        (self.path / file).write_text(text)
        done = compile_py(self.path / file, "-o", self.path / "out", "--source-only")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for word in (file, *words):
            self.assertIn(word, done.stderr)
        self.assertFalse((self.path / "out.c").exists())


class Yaml(Scratch):
    def test_refuses_what_is_wrong(self):
        op = "ops:\n  - {op: MatMul, in: [x, w], out: y%s}\n"
        for text, words in [
                ("[1]\n", ("must be a map",)),
                ("name: t\nop: []\n", ("unknown key 'op'", "ops")),
                ("name: t\ntensors: {}\n", ("has no ops",)),
                (HEAD + "ops:\n  - {op: MatMu, in: [x, w], out: y}\n", ("operator 0", "MatMul")),
                (HEAD + "ops:\n  - {op: MatMul, in: [x], out: y}\n", ("has 1 inputs", "2 or 3")),
                (HEAD + "ops:\n  - {op: MatMul, in: [x, v], out: y}\n", ("no tensor 'v'",)),
                (HEAD + op % ", transpose: 1", ("unknown attribute 'transpose'", "transpose_a")),
                (HEAD + op % ", transpose_b: 1", ("8 x 16 by 4 x 16",)),
                (HEAD + op % ", transpose_a: foo", ("transpose_a 'foo'", "0 or 1")),
                (HEAD + "ops:\n  - {op: Softmax, in: [x], out: y, scale: .nan}\n", ("scale nan", "a number")),
                (HEAD.replace("[8, 16]", "64") + op % "", ("shape 64",)),
                (HEAD + "ops:\n  - {op: Gelu, in: [y], out: y}\n", ("y is read before",)),
                (HEAD + op % "" + "  - {op: MatMul, in: [x, w], out: y}\n", ("y is written already",)),
                (HEAD + op % "" + "  - {op: AllReduce, in: [y], out: y}\n", ("must be a gradient",)),
                (HEAD + op % "" + "  - {op: Update, in: [w, y], out: w}\n", ("[8, 4]", "[16, 4]")),
                (HEAD.replace("kind: input", "kind: in") + op % "", ("unknown kind 'in'", "input")),
                (HEAD.replace("[8, 16]", "[8, 0]") + op % "", ("shape [8, 0]",)),
                ("name: [\n", ("expected",))]:
            with self.subTest(text=text):
                self.refused(text, *words)

    def test_no_file_and_no_form(self):
        for graph in ("missing.yaml", "graph.txt", "bert:layer=2", "bert:layers=x"):
            done = compile_py(graph, "-o", self.path / "out")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(graph, done.stderr)


class Plan(Scratch):
    def test_places_do_not_overlap(self):
        plan, _ = self.plan("bert:layers=2,hidden=64,heads=2,sequence=32,batch=1")
        for space, size in (("arena", plan["arena_bytes"]), ("gradients", plan["gradient_bytes"])):
            end = 0
            for one in sorted((t for t in plan["tensors"] if t["space"] == space), key=lambda t: t["offset"]):
                self.assertGreaterEqual(one["offset"], end, one["name"])
                end = one["offset"] + 2 * one["rows"] * one["columns"]
            self.assertLessEqual(end, size)

    def test_everything_is_waited_for(self):
        plan, _ = self.plan("bert:layers=2,hidden=64,heads=2,sequence=32,batch=1")
        made = {}
        for i, one in enumerate(plan["launches"]):
            self.assertTrue(all(before < i for before in one["after"]))
            if one["kind"] != "Update":
                made[one["output"]] = i
        fused = {op["output"]: op for op in plan["ops"] if op["kind"] not in ("Update", "AllReduce")}
        for op in plan["ops"]:
            if op["output"] not in made or op["kind"] in ("AllReduce", "Update"):
                continue
            after = plan["launches"][made[op["output"]]]["after"]
            for name in op["inputs"]:
                if name in made:
                    self.assertIn(made[name], after, f"{op['output']} after {name}")
                elif name in fused:  # Its product is part of this operator.
                    self.assertEqual((op["kind"], fused[name]["kind"]), ("Add", "MatMul"))

    def test_updates_wait_for_readers_and_buckets(self):
        plan, _ = self.plan("bert:layers=1,hidden=64,heads=2,sequence=32,batch=1")
        readers = [i for i, one in enumerate(plan["launches"]) if one["output"] == "l0.f1.dx"]
        update = next(one for one in plan["launches"] if one["kind"] == "Update" and one["output"] == "l0.f1.w")
        self.assertTrue(set(readers) <= set(update["after"]))
        self.assertEqual(update["after_buckets"], [0])

    def test_masters_are_of_all_weights_that_are_updated_and_move_nothing_else(self):
        graph = "bert:layers=1,hidden=64,heads=2,sequence=32,batch=1"
        without, with_masters = self.plan(graph, "a")[0], self.plan(graph, "b", "--master-weights")[0]
        places = {t["name"]: t["offset"] for t in with_masters["tensors"]}
        updated = [op["output"] for op in without["ops"] if op["kind"] == "Update"]
        self.assertEqual([t["of"] for t in with_masters["tensors"] if t["kind"] == "master"], updated)
        for op in with_masters["launches"]:
            if op["kind"] == "Update":
                self.assertEqual(op["inputs"][2], op["output"] + ".master")
        for tensor in without["tensors"]:
            if tensor["kind"] not in ("constant", "words"):
                self.assertEqual(places[tensor["name"]], tensor["offset"], tensor["name"])

    def test_buckets_have_32_mib_at_most_and_all_gradients(self):
        plan, _ = self.plan("bert:layers=4")
        names = [name for bucket in plan["buckets"] for name in bucket["tensors"]]
        self.assertEqual(sorted(names), sorted(t["name"] for t in plan["tensors"] if t["kind"] == "gradient"))
        for bucket in plan["buckets"]:
            self.assertLessEqual(bucket["bytes"], 32 << 20)
            self.assertEqual(bucket["offset"] % 8192, 0)
        # BERT-Large: 12 h^2 + 9 h parameters a layer with gradients (biases of the six products), FP16, in whole
        # pieces of 8 KiB.
        self.assertAlmostEqual(sum(bucket["bytes"] for bucket in plan["buckets"]) / (4 * 2 * (12 * 1024**2 + 9 * 1024)),
                               1, places=2)

    def test_flops_of_bert_large(self):
        done = compile_py("bert:layers=1", "--list")
        # 6 x tokens x 12 h^2 of the linear layers, 3 x 4 x tokens x sequence x h of the attention, biases beside.
        tokens, hidden, sequence = 3840, 1024, 384
        expected = (6 * tokens * 12 * hidden**2 + 12 * tokens * sequence * hidden) / 1e9
        found = float(done.stdout.split("products ")[1].split()[0])
        self.assertAlmostEqual(found / expected, 1, places=2)

    def test_is_the_same_every_time(self):
        graph = "bert:layers=1,hidden=64,heads=2,sequence=32,batch=1"
        self.assertEqual(self.plan(graph, "a"), self.plan(graph, "b"))


class Onnx(Scratch):
    def model(self, nodes, last, columns=4):
        import numpy
        from onnx import TensorProto, helper, numpy_helper
        weight = numpy_helper.from_array(numpy.zeros((16, 4), numpy.float16), "w")
        bias = numpy_helper.from_array(numpy.zeros((4,), numpy.float16), "b")
        made = [helper.make_node(kind, ins, [out], name=out, **given) for kind, ins, out, given in nodes]
        graph = helper.make_graph(made, "net", [helper.make_tensor_value_info("x", TensorProto.FLOAT16, [8, 16])],
                                  [helper.make_tensor_value_info(last, TensorProto.FLOAT16, [8, columns])], [weight, bias])
        import onnx
        onnx.save(helper.make_model(graph), str(self.path / "net.onnx"))
        return self.path / "net.onnx"

    def setUp(self):
        super().setUp()
        try:
            import onnx  # noqa: F401
        except ImportError:
            self.skipTest("python3-onnx is not installed")

    def test_reads_products_biases_and_softmax(self):
        plan, source = self.plan(self.model([("MatMul", ["x", "w"], "p", {}), ("Add", ["p", "b"], "h", {}),
                                             ("Softmax", ["h"], "y", {"axis": -1})], "y"))
        self.assertEqual([one["kind"] for one in plan["launches"]], ["MatMul", "Softmax"])
        self.assertIn(".m = 8, .n = 4, .k = 16", source)

    def test_refuses_what_it_cannot(self):
        for node, columns, word in [(("Gemm", ["x", "w", "b"], "y", {"alpha": 2.0}), 4, "alpha"),
                                    (("Softmax", ["x"], "y", {"axis": 0}), 16, "axis"),
                                    (("Sin", ["x"], "y", {}), 16, "not supported")]:
            done = compile_py(self.model([node], "y", columns), "-o", self.path / "out", "--source-only")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
            self.assertIn(word, done.stderr)

    def test_says_which_package_is_missing(self):
        (self.path / "onnx.py").write_text("raise ImportError('none here')\n")
        done = subprocess.run([sys.executable, str(COMPILER / "compile.py"), "net.onnx", "--list"], capture_output=True,
                              text=True, check=False, env={**os.environ, "PYTHONPATH": str(self.path)})
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("python3-onnx", done.stderr)

    def test_refuses_what_is_none(self):
        (self.path / "net.onnx").write_bytes(b"\xff\x00 no model")
        done = compile_py(self.path / "net.onnx", "-o", self.path / "out")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)


if __name__ == "__main__":
    unittest.main()
