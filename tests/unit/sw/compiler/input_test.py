#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Question: does the compiler end with one line that names what is wrong, and what is allowed?"""

import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tests/support"))

from nets import Scratch, compile_py  # noqa: E402

try:
    import numpy
    import onnx
except ImportError:
    numpy = None
from front import flow as flows, load  # noqa: E402


class BadInput(Scratch):
    def refused(self, *arguments, words, **given):
        done = compile_py(*arguments, **given)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_one_line_each(self):
        good = ("--mode", "kitsune", "--report")
        wrong = self.path / "profile.json"
        wrong.write_text(json.dumps({"graph": "other", "machine": "a100-nvswitch", "operators": {}}))
        text, empty, machine = self.path / "text.json", self.path / "empty.json", self.path / "machine.yaml"
        own = {"graph": flows.Flow(load.load("nerf:")).hash(), "machine": "a100-nvswitch", "operators": {}}
        stage, narrow, right = self.path / "stage.json", self.path / "narrow.json", self.path / "right.json"
        stage.write_text(json.dumps({**own, "stages": [{"operators": ["p0"], "tile_us": 0}]}))
        tall, strange = self.path / "tall.json", self.path / "strange.json"
        tall.write_text(json.dumps({**own, "stages": [{"operators": ["p0"], "tile_us": 1, "tile_rows": -3}]}))
        strange.write_text(json.dumps({**own, "operators": {"p9": {"us": 1, "tensor": 0, "simt": 0}}}))
        narrow.write_text(json.dumps({**own, "set": ["gpu.cus=54"]}))
        right.write_text(json.dumps(own))
        text.write_text("no json")
        empty.write_text("{}")
        machine.write_text("gpu: {cus: many}")
        for arguments, words in [
                (("nerf:", "--mode", "kitsun", "--report"), ("--mode kitsun", "nearest: kitsune")),
                (("nerf:", "--mode", "bsp"), ("-o NAME or --report is missing",)),
                (("nerf:", *good, "--machine", "a100-nvswich"), ("--machine a100-nvswich", "nearest: a100-nvswitch")),
                (("nerf:", *good, "--group", "p0,p2"), ("not contiguous", "p0 leaves it", "p1.a comes back into p2")),
                (("nerf:", *good, "--group", "p0,densty"), ("'densty'", "nearest: density")),
                (("mgn:", *good, "--group", "b0.sent,b0.edge.in"), ("Gather -> b0.sent", "indexes all data")),
                (("nerf:", *good, "--queue", "density=1"), ("cannot move", "density (depth 1")),
                (("nerf:", *good, "--queue", "density"), ("--queue density", "NAME=1..1024")),
                (("nerf:", *good, "--queue", "p0.b=2"), ("--queue p0.b", "nearest: p0.a")),
                (("nerf:", *good, "--depth", "0"), ("--depth 0",)),
                (("nerf:", *good, "--exclude", "p0.b"), ("--exclude p0.b", "nearest")),
                (("nerf:", *good, "--profile", wrong), ("is of graph 'other'",)),
                (("nerf:", *good, "--profile", text), ("is no JSON",)),
                (("nerf:", *good, "--profile", empty), ("a map of operators",)),
                (("nerf:", *good, "--profile", self.path / "none.json"), ("none.json: no such file",)),
                (("nerf:", *good, "--profile", stage), ("a stage must have operators",)),
                (("nerf:", *good, "--profile", narrow), ("is of set ['gpu.cus=54'], this is []",)),
                (("nerf:", *good, "--set", "gpu.cus=54", "--profile", right), ("is of set [], this is",)),
                (("nerf:", *good, "--set", "gpu.cus=many"), ("--set gpu.cus=many", "whole number")),
                (("nerf:", *good, "--machine", text), ("no such machine",)),
                (("nerf:", *good, "--machine", machine), ("gpu.cus=many", "whole number")),
                (("nerf:", *good, "--set", "l2.persist_percent=0"), ("its queues take", "rows, 0 of the L2 may be pinned")),
                (("nerf:", *good, "--set", "gpu.lds_bytes=65536", "--group", "p0,p0.a"),
                 ("its stage takes 98304 bytes of LDS, a unit has 65536",)),
                (("nerf:", *good, "--profile", tall), ("tile_rows of 1 to 128",)),
                (("nerf:", *good, "--profile", strange), ("operator p9: no operator makes 'p9'; nearest: p",)),
                (("nerf:", *good, "--profile", "/dev/zero"), ("--profile /dev/zero: is no file",)),
                (("none.yaml", *good), ("none.yaml: No such file or directory",))]:
            with self.subTest(arguments=arguments):
                self.refused(*arguments, words=words)

    def test_a_profile_of_another_machine(self):
        file = self.path / "profile.json"
        file.write_text(json.dumps({"graph": flows.Flow(load.load("nerf:")).hash(), "machine": "t3", "operators": {}}))
        self.refused("nerf:", "--mode", "kitsune", "--report", "--profile", file, words=("is of machine 't3'",))

    def test_a_missing_solver(self):
        self.refused("nerf:", "--mode", "kitsune", "--report", env={**os.environ, "PATH": "/nowhere"},
                     words=("glpsol is not installed", "glpk-utils"))

    @unittest.skipIf(numpy is None, "python3-onnx is not installed")
    def test_models_that_cannot_be_read(self):
        from onnx import TensorProto, helper
        for kind, rows, words in [("Relu", "batch", ("tensor x", "not static")),
                                  ("Selu", 4, ("node y (Selu)", "not supported", "nearest: Silu"))]:
            graph = helper.make_graph([helper.make_node(kind, ["x"], ["y"], name="y")], "net", [
                helper.make_tensor_value_info("x", TensorProto.FLOAT16, [rows, 8])], [
                helper.make_tensor_value_info("y", TensorProto.FLOAT16, [rows, 8])])
            onnx.save(helper.make_model(graph), str(self.path / "net.onnx"))
            self.refused(self.path / "net.onnx", "--mode", "kitsune", "--report", words=("net.onnx", *words))

    @unittest.skipIf(numpy is None, "python3-onnx is not installed")
    def test_what_no_kernel_moves(self):
        from onnx import TensorProto, helper
        nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]), helper.make_node("Relu", ["t"], ["y"])]
        graph = helper.make_graph(nodes, "net", [
            helper.make_tensor_value_info("x", TensorProto.FLOAT16, [4, 8])], [
            helper.make_tensor_value_info("y", TensorProto.FLOAT16, [8, 4])])
        onnx.save(helper.make_model(graph), str(self.path / "net.onnx"))
        self.refused(self.path / "net.onnx", "--mode", "bsp", "-o", self.path / "out/net",
                     words=("net.onnx: Transpose -> t: no kernel moves elements",))

    def test_what_training_cannot_take(self):
        self.refused("bert:layers=1", "--training", "--mode", "bsp", "--report", words=("belongs to training already",))

    def test_good_plans_are_written(self):
        done = compile_py("nerf:rows=256", "--mode", "kitsune", "--training", "-o", self.path / "out/nerf", "--report")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Table 2: operators 69", done.stdout)
        plan = json.loads((self.path / "out/nerf.json").read_text())
        for step in plan["steps"]:
            if step["kind"] == "pipeline":
                self.assertTrue((self.path / "out" / step["lp"]).is_file())


if __name__ == "__main__":
    unittest.main()
