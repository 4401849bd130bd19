#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Question: do groups that are planned as vertically fused become what one kernel each can work out, and does the user
learn why others do not? What is expected is worked out here by hand."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "sw/compiler"))
# covers: KT-VF-01
# covers: KT-VF-02

from emission import emit, fused, stages  # noqa: E402
from front import load  # noqa: E402
from planning import machine, modes  # noqa: E402

# Two products with what follows them, the second one's weights n x k; a norm.
GRAPH = """name: g
tensors:
  x: {shape: [300, 63], kind: input}
  v: {shape: [63, 128], kind: weight}
  b: {shape: [128], kind: weight}
  w: {shape: [96, 128], kind: weight}
  gamma: {shape: [96], kind: weight}
  beta: {shape: [96], kind: weight}
  p: {shape: [300, 128]}
  a: {shape: [300, 128]}
  q: {shape: [300, 96]}
  y: {shape: [300, 96]}
ops:
  - {op: MatMul, in: [x, v, b], out: p}
  - {op: Relu, in: [p], out: a}
  - {op: MatMul, in: [a, w], out: q, transpose_b: 1}
  - {op: LayerNorm, in: [q, gamma, beta], out: y}
"""


def planned(text, forced=()):
    if ":" not in text.split("\n", 1)[0] or "\n" in text:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "g.yaml"
            file.write_text(text, encoding="utf-8")
            graph = load.load(str(file))
    else:
        graph = load.load(text)
    graph.check()
    plan = modes.Planner(graph, "vertical", machine.load("a100"), forced=forced).plan()
    groups, alone = fused.planned(emit.Plan(stages.ordered(graph, plan["steps"]), fused=False), plan["steps"],
                                  machine.load("a100"))
    return fused.describe(groups), alone


class Fused(unittest.TestCase):
    def test_what_a_result_is_a_view_of_is_not_inside(self):
        """Nobody reads u, whose bytes are those of a."""
        text = GRAPH.replace("ops:\n", "  u: {shape: [600, 64]}\nops:\n", 1) + "  - {op: Reshape, in: [a], out: u}\n"
        groups, _ = planned(text)
        self.assertTrue(groups)
        self.assertFalse(any("a" in group["operators"][:-1] for group in groups))

    def test_a_chain_with_a_norm(self):
        (group,), alone = planned(GRAPH)
        self.assertEqual(alone, {})
        self.assertEqual((group["kernel"], group["first"], group["ops"], group["rows"]), ("chain", 0, 4, 300))
        self.assertEqual((group["input"], group["output"], group["operators"]), ("x", "y", ["p", "a", "q", "y"]))
        self.assertEqual(group["products"],
                         [{"weights": "v", "transpose_b": 0, "activation": "relu", "bias": "b"},
                          {"weights": "w", "transpose_b": 1, "activation": "none"}])
        self.assertEqual((group["norm"]["gamma"], group["norm"]["beta"]), ("gamma", "beta"))
        # x, both weights, three vectors, y.
        self.assertEqual(group["dram_bytes"], 2 * (300 * 63 + 63 * 128 + 128 + 128 * 96 + 2 * 96 + 300 * 96))

    def test_a_product_and_its_epilogue_are_the_librarys(self):
        text = GRAPH.replace("[a, w], out: q", "[x2, w], out: q")
        text = text.replace("  p: {", "  x2: {shape: [300, 128], kind: input}\n  p: {")
        groups, _ = planned(text)
        self.assertEqual([(one["kernel"], one["operators"]) for one in groups],
                         [("product", ["p", "a"]), ("chain", ["q", "y"])])

    def test_what_others_read_stays_in_no_kernel(self):
        """Then the group is two: what is read leaves the first one."""
        text = GRAPH.replace("  y: {", "  z: {shape: [300, 128]}\n  y: {") + "  - {op: Softmax, in: [a], out: z}\n"
        groups, alone = planned(text)
        self.assertEqual([one["operators"] for one in groups], [["p", "a"], ["q", "y"]])
        self.assertEqual(alone, {"p": "a stays in a fused kernel, and others read it or it is a result; 4 of its 4 "
                                      "operators are fused, 2 kernels"})
        # x, weights and bias, a.
        self.assertEqual(groups[0]["dram_bytes"], 2 * (300 * 63 + 63 * 128 + 128 + 300 * 128))

    def test_a_function_in_fp32_is_the_last(self):
        groups, alone = planned(GRAPH.replace("{op: Relu, in", "{op: Silu, in"))
        self.assertEqual([(one["kernel"], one["operators"]) for one in groups],
                         [("chain", ["p", "a"]), ("chain", ["q", "y"])])
        self.assertIn("silu is worked out in FP32", alone["p"])

    def test_rows_too_long(self):
        for columns, most in ((272, 1), (520, 0)):
            text = GRAPH.replace("[96, 128]", f"[{columns}, 128]").replace("[96]", f"[{columns}]")
            groups, alone = planned(text.replace("300, 96", f"300, {columns}"), [["q", "y"]])
            self.assertEqual([one["operators"] for one in groups], [["p", "a"], ["q", "y"]][:1 + most])
            if not most:
                self.assertEqual(alone, {"q": "it has rows of 520 columns, at most 512 are a tile of a fused kernel"})

    def test_what_is_added_to_a_product(self):
        text = GRAPH.replace("{op: LayerNorm, in: [q, gamma, beta], out: y}", "{op: Add, in: [r, q], out: y}")
        text = text.replace("  y: {", "  r: {shape: [300, 96], kind: input}\n  y: {")
        groups, _ = planned(text, [["q", "y"]])
        self.assertEqual([(one["kernel"], one["operators"], one.get("addend")) for one in groups],
                         [("product", ["p", "a"], None), ("product", ["q", "y"], "r")])


class Applications(unittest.TestCase):
    def setUp(self):
        try:
            import onnx  # noqa: F401
        except ImportError:
            self.skipTest("no python3-onnx")

    def test_all_groups_of_four(self):
        """Groups, operators in them (Table 2 by modes.py), those that are chains."""
        for text, counts in (("nerf:rows=300", (9, 18, 0)), ("dlrm:batch=300", (7, 16, 2)),
                             ("mgn:nodes=300,edges=700", (7, 40, 7)),
                             ("graphcast:", (14, 28, 14))):
            groups, alone = planned(text)
            self.assertEqual(alone, {})
            self.assertEqual((len(groups), sum(one["ops"] for one in groups),
                              sum(one["kernel"] == "chain" for one in groups)), counts)


if __name__ == "__main__":
    unittest.main()
