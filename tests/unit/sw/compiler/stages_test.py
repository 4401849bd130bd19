#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Question: does a graph that names pipelines get the stages and queues that its operators demand, and is one refused
in a line that no pipeline can be made of? What is expected is worked out here by hand."""

import dataclasses
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "sw/compiler"))
# covers: KT-MODEL-02

from emission import emit, stages  # noqa: E402
from front import autodiff, graph as graphs, load  # noqa: E402

PIPELINE = (ROOT / "sw/compiler/graphs/pipeline.yaml").read_text(encoding="utf-8")
NAMED = PIPELINE[PIPELINE.index("pipelines:"):]


def planned(text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "g.yaml"
        file.write_text(text, encoding="utf-8")
        graph = load.load(str(file))
    graph.check()
    return emit.Plan(graph)


def described(text):
    return planned(text).describe()["groups"]


def with_pipelines(pipelines):
    return PIPELINE.replace(NAMED, f"pipelines:\n  - {pipelines}\n")


class Stages(unittest.TestCase):
    def test_shipped_one(self):
        """Queues inside, memory at both ends; a0 has two readers. Of a map stage each of four wavefronts gives back."""
        group, = described(PIPELINE)
        self.assertEqual((group["first"], group["ops"], group["rows"], group["tile_rows"]), (0, 5, 700, 128))
        self.assertEqual([(q["tensor"], q["columns"], q["readers"], q["entries"]) for q in group["queues"]],
                         [("a0", 256, 1 + 4, 4), ("h1", 256, 4, 2), ("s", 256, 1, 6), ("y", 300, 1, 4)])
        self.assertEqual([s["kernel"] for s in group["stages"]], ["linear", "linear", "map_add", "linear", "linear"])
        self.assertEqual(group["stages"][0]["inputs"], [{"tensor": "x"}])
        self.assertEqual((group["stages"][0]["bias"], group["stages"][0]["activation"]), ("b0", "gelu"))
        self.assertEqual(group["stages"][2]["inputs"], [{"queue": 1}, {"queue": 0}])
        self.assertEqual(group["stages"][4]["output"], {"tensor": "z"})
        self.assertFalse(any("copy" in stage for stage in group["stages"]))

    def test_what_others_read_is_written_to_memory_too(self):
        """The first two operators as a pipeline: a0 is read by s, which is outside."""
        group, = described(with_pipelines("{stages: {a0: 2, h1: 2}, depth: 3, tile_rows: 64}"))
        self.assertEqual(group["queues"], [{"tensor": "a0", "columns": 256, "readers": 1, "entries": 6}])
        self.assertEqual(group["stages"][0]["copy"], "a0")
        self.assertEqual(group["stages"][1]["output"], {"tensor": "h1"})

    def test_what_a_result_is_a_view_of_is_written_to_memory_too(self):
        """Nobody reads v, whose bytes are those of a0."""
        text = with_pipelines("{stages: {a0: 2, h1: 2, s: 1, y: 1, z: 1}}").replace(
            "ops:\n", "  v: {shape: [350, 512]}\nops:\n", 1).replace(
            "pipelines:", "  - {op: Reshape, in: [a0], out: v}\npipelines:", 1)
        group, = described(text)
        self.assertEqual([stage.get("copy") for stage in group["stages"]], ["a0", None, None, None, None])

    # covers: KT-PIPE-01
    def test_who_reads_a_view_subscribes_to_what_it_is_a_view_of(self):
        """n reads the rows of a, y the same ones as 7 times 100: four wavefronts of each give an entry back."""
        group, = described("""name: g
tensors:
  x: {shape: [700, 64], kind: input}
  a: {shape: [700, 64]}
  n: {shape: [700, 64]}
  v: {shape: [7, 100, 64]}
  y: {shape: [7, 100, 64]}
ops:
  - {op: Relu, in: [x], out: a}
  - {op: Reshape, in: [a], out: v}
  - {op: Neg, in: [a], out: n}
  - {op: Neg, in: [v], out: y}
pipelines:
  - {stages: {a: 2, n: 1, y: 1}}
""")
        self.assertEqual(group["queues"], [{"tensor": "a", "columns": 64, "readers": 4 + 4, "entries": 4}])
        self.assertEqual([stage["inputs"] for stage in group["stages"]],
                         [[{"tensor": "x"}], [{"queue": 0}], [{"queue": 0}]])

    def test_entries_are_no_more_than_tiles(self):
        group, = described(with_pipelines("{stages: {a0: 100, h1: 1}}"))  # 700 rows are 6 tiles of 128.
        self.assertEqual((group["queues"][0]["entries"], group["stages"][0]["work_groups"]), (6, 6))


class Sums(unittest.TestCase):
    """w = x^T e, 300 x 600: 3 by 5 blocks of 128 x 128, two of them beside each other a part. b: sums of 600 columns, 512
    and 88. u = x^T v, 300 x 70: 3 blocks, two below each other a part."""
    GRAPH = """name: g
tensors:
  x: {shape: [700, 300], kind: input}
  d: {shape: [700, 600], kind: input}
  v: {shape: [700, 70], kind: input}
  e: {shape: [700, 600]}
  w: {shape: [300, 600]}
  b: {shape: [600]}
  u: {shape: [300, 70]}
ops:
  - {op: Relu, in: [d], out: e}
  - {op: MatMul, in: [x, e], out: w, transpose_a: 1}
  - {op: ReduceSum, in: [e], out: b, axis: 0}
  - {op: MatMul, in: [x, v], out: u, transpose_a: 1}
"""

    # covers: KT-PIPE-01
    def test_fan_in_and_final(self):
        group, = described(self.GRAPH + "pipelines:\n  - {stages: {e: 2, w: 20, b: 9, u: 1}}\n")
        self.assertEqual([(s["name"], s["kernel"], s["work_groups"], s.get("parts")) for s in group["stages"]], [
            ("e", "map_relu", 2, None), ("w.fan-in", "fan_in_product", 18, 9), ("w.final", "final", 32, None),
            ("b.fan-in", "fan_in_sum", 8, 2), ("b.final", "final", 2, None),
            ("u.fan-in", "fan_in_product", 2, 2), ("u.final", "final", 11, None)])
        # A tile of e is read by 9 and 2 work-groups. Sums: an entry a replica, which each of the final stage's frees.
        self.assertEqual([(q["tensor"], q.get("sums"), q["columns"], q["readers"], q["entries"]) for q in group["queues"]],
                         [("e", None, 600, 11, 4), ("w.partial", 300, 600, 32, 2), ("b.partial", 4, 600, 2, 4),
                          ("u.partial", 300, 70, 11, 1)])
        self.assertEqual(group["stages"][1]["inputs"], [{"tensor": "x"}, {"queue": 0}])
        self.assertEqual(group["stages"][2]["output"], {"tensor": "w"})

    # covers: KT-SCHED-02
    def test_final_stages_leave_no_more_simt_work_groups_than_units(self):
        """Of the 55 above, 2 + 32 + 8 + 2 + 11, all but 2 + 8 may be fewer, each one at least."""
        plan = planned(self.GRAPH + "pipelines:\n  - {stages: {e: 2, w: 20, b: 9, u: 1}}\n")
        group, = stages.forced(plan)

        def fitted(units):
            about, = stages.describe(plan, [dataclasses.replace(group, units=units)])
            finals = [one["work_groups"] for one in about["stages"] if one["kernel"] == "final"]
            self.assertEqual([one["readers"] for one in about["queues"] if "sums" in one], finals)
            return finals
        self.assertEqual(fitted(55), [32, 2, 11])
        group = dataclasses.replace(group, finals={"w": 5, "b": 9})  # Of a plan: no more than there are pieces for.
        self.assertEqual(fitted(55), [5, 2, 11])
        group = dataclasses.replace(group, finals={})
        self.assertEqual(fitted(54), [31, 2, 11])
        self.assertEqual(fitted(13), [1, 1, 1])
        with self.assertRaisesRegex(graphs.GraphError, "12 can be there at once"):
            fitted(12)

    def test_a_sum_is_not_read_before_it_is_whole(self):
        with self.assertRaisesRegex(graphs.GraphError, "w is a sum over all rows, and read in the pipeline"):
            described(self.GRAPH.replace("[300, 70]", "[300, 300]").replace("{op: MatMul, in: [x, v], out: u, transpose_a: 1}",
                      "{op: MatMul, in: [w, w], out: u, transpose_b: 1}") +
                      "pipelines:\n  - {stages: {e: 2, w: 20, b: 9, u: 1}}\n")


class NormGradients(unittest.TestCase):
    """Of 700 rows of 300 elements, by three work-groups: tiles of x's gradient, and sums that leave four rows each."""
    GRAPH = """name: g
tensors:
  x: {shape: [700, 300], kind: input}
  g: {shape: [300], kind: weight}
  d: {shape: [700, 300], kind: input}
  e: {shape: [700, 300]}
  dx: {shape: [700, 300]}
  dg: {shape: [300], kind: gradient}
  db: {shape: [300], kind: gradient}
ops:
  - {op: Relu, in: [d], out: e}
  - {op: LayerNormGrad, in: [x, g, e], out: dx}
  - {op: LayerNormGammaGrad, in: [x, e], out: dg}
  - {op: LayerNormBetaGrad, in: [e], out: db}
"""
    PIPELINES = "pipelines:\n  - {stages: {e: 2, dx: 3, dg: 1, db: 1}}\n"

    # covers: KT-PIPE-01
    def test_sums_are_of_the_stage_that_makes_tiles(self):
        group, = described(self.GRAPH + self.PIPELINES)
        self.assertEqual([(s["name"], s["kernel"], s["work_groups"]) for s in group["stages"]],
                         [("e", "map_relu", 2), ("dx", "map_layer_norm_grad", 3), ("dg.final", "final", 1),
                          ("db.final", "final", 1)])
        stage = group["stages"][1]
        self.assertEqual((stage["inputs"], stage["gamma"], stage["output"]),
                         ([{"tensor": "x"}, {"queue": 0}], "g", {"tensor": "dx"}))
        self.assertEqual((stage["gamma_sums"], stage["beta_sums"]), ({"queue": 1}, {"queue": 2}))
        self.assertEqual([(q["tensor"], q.get("sums"), q["readers"], q["entries"]) for q in group["queues"]],
                         [("e", None, 4, 4), ("dg.partial", 4, 1, 3), ("db.partial", 4, 1, 3)])

    def test_rows_that_are_too_long(self):
        with self.assertRaisesRegex(graphs.GraphError, "dx has rows of 600 elements, at most 512 fit a stage"):
            described((self.GRAPH + self.PIPELINES).replace("300", "600"))

    def test_a_sum_without_the_gradient_that_makes_it(self):
        with self.assertRaisesRegex(graphs.GraphError, "LayerNormBetaGrad -> db is no stage"):
            described(self.GRAPH + "pipelines:\n  - {stages: {db: 1}}\n")


class Repeated(unittest.TestCase):
    """700 x 300 elements with a row, a column from a queue and one element; and a column as wide."""
    GRAPH = """name: g
tensors:
  x: {shape: [700, 300], kind: input}
  c: {shape: [700, 1], kind: input}
  r: {shape: [300], kind: weight}
  k: {shape: [1], kind: constant, value: 2}
  a: {shape: [700, 300]}
  b: {shape: [700, 1]}
  d: {shape: [700, 300]}
  e: {shape: [700, 300]}
ops:
  - {op: Mul, in: [x, r], out: a}
  - {op: Sub, in: [c, k], out: b}
  - {op: Div, in: [a, b], out: d}
  - {op: Expand, in: [b], out: e, axis: 1}
"""

    def test_second_operands(self):
        group, = described(self.GRAPH + "pipelines:\n  - {stages: {a: 1, b: 1, d: 1, e: 1}}\n")
        self.assertEqual([stage["inputs"] for stage in group["stages"]], [
            [{"tensor": "x"}, {"tensor": "r", "repeated": "row"}], [{"tensor": "c"}, {"tensor": "k", "repeated": "one"}],
            [{"queue": 0}, {"queue": 1}], [{"queue": 1}]])
        self.assertEqual([(q["columns"], q["readers"]) for q in group["queues"]], [(300, 4), (1, 2 * 4)])
        self.assertEqual(group["stages"][3]["kernel"], "map_expand")

    def test_rows_that_are_repeated_in_turn(self):
        with self.assertRaisesRegex(graphs.GraphError, "r has 7 rows, others 700"):
            text = self.GRAPH[:self.GRAPH.index("  - {op: Sub")].replace("[300]", "[7, 300]").replace("[700, 300]",
                                                                                                  "[100, 7, 300]")
            described(text + "pipelines:\n  - {stages: {a: 1}}\n")


class Products(unittest.TestCase):
    """What a product's stage takes behind it, as modes.py plans it. p is 700 x 300: three blocks of columns."""

    def planned(self, ops, pinned_bytes=None, exclude=()):
        from planning import machine, modes
        text = "name: g\ntensors:\n  x: {shape: [700, 300], kind: input}\n  w: {shape: [300, 300], kind: weight}\n"
        text += "".join(f"  {op[-1]}: {{shape: [700, 300]}}\n" for op in ops)
        text += "ops:\n" + "".join(f"  - {{{op}}}\n" for op in ops)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "g.yaml"
            file.write_text(text, encoding="utf-8")
            graph = load.load(str(file))
            graph.check()
            a100 = machine.load("a100")
            a100 = dataclasses.replace(a100, pinned_bytes=pinned_bytes or a100.pinned_bytes)
            plan = modes.Planner(graph, "kitsune", a100, pathlib.Path(folder) / "plan", exclude=exclude).plan()
        made = emit.Plan(stages.ordered(graph, plan["steps"]), fused=False)
        groups, alone = stages.planned(made, plan["steps"], a100)
        self.assertEqual(alone, {})
        return stages.describe(made, groups)[0]

    RESIDUAL = ("op: Relu, in: [x], out: r", "op: MatMul, in: [r, w], out: p", "op: Silu, in: [p], out: a",
                "op: Add, in: [r, a], out: s")

    # covers: KT-PIPE-02
    def test_a_sum_behind_a_product_is_its_epilogue(self):
        """Parts of s, three by columns, give r back once as the left side, and four times as what is added."""
        group = self.planned(self.RESIDUAL)
        first, product = group["stages"]
        self.assertEqual((first["name"], product["name"], product["kernel"]), ("r", "s", "linear"))
        self.assertEqual((product["inputs"], product["activation"]), ([{"queue": 0}, {"queue": 0}], "silu"))
        self.assertEqual((product["parts"], product["work_groups"] % 3), (3, 0))
        self.assertEqual([(q["tensor"], q["readers"]) for q in group["queues"]], [("r", 3 * (1 + 4))])
        self.assertNotIn("keep", product)

    def test_what_an_activation_is_of_is_kept_for_others(self):
        group = self.planned([*self.RESIDUAL, "op: Neg, in: [p], out: c"], exclude=["c"])
        self.assertEqual(group["stages"][1]["keep"], "p")

    def test_queues_that_cannot_be_pinned_have_fewer_and_smaller_tiles(self):
        """r has 6 tiles of 128 x 300 elements; pinned are three, then one of two that are the fewest. r's stage has no
        matrix of weights to share: it has a work-group for each tile that its queue has room for."""
        tile = 2 * 128 * 300 + 256  # And words.
        group = self.planned(self.RESIDUAL, 3 * tile)
        self.assertEqual((group["tile_rows"], group["stages"][1]["parts"], group["stages"][1]["work_groups"]), (128, 3, 3))
        self.assertEqual((group["stages"][0]["work_groups"], group["queues"][0]["entries"]), (2, 2))
        group = self.planned(self.RESIDUAL, tile)
        self.assertLess(group["tile_rows"], 128)
        self.assertLessEqual(group["queues"][0]["entries"] * group["tile_rows"], 128)


class Planned(unittest.TestCase):
    """Pipelines of modes.py as stages that run. NeRF's 24 operators: 11 products, 9 of them with a ReLU, 3
    concatenations (apps/nerf.py)."""

    def setUp(self):
        try:
            import onnx  # noqa: F401
        except ImportError:
            self.skipTest("no python3-onnx")
        from planning import machine, modes
        with tempfile.TemporaryDirectory() as folder:
            self.graph = load.load("nerf:rows=131072")
            self.plan = modes.Planner(self.graph, "kitsune", machine.load("a100-nvswitch"),
                                      pathlib.Path(folder) / "plan").plan()
        self.made = emit.Plan(stages.ordered(self.graph, self.plan["steps"]), fused=False)

    def test_final_stages_have_the_work_groups_of_the_plan(self):
        from planning import machine, modes
        with tempfile.TemporaryDirectory() as folder:
            graph = autodiff.backward(load.load("nerf:rows=131072"))
            graph.check()
            a100 = machine.load("a100")
            plan = modes.Planner(graph, "kitsune", a100, pathlib.Path(folder) / "plan").plan()
        made = emit.Plan(stages.ordered(graph, plan["steps"]), fused=False)
        groups, _ = stages.planned(made, plan["steps"], a100)
        found = {one["name"]: one["work_groups"] for about in stages.describe(made, groups) for one in about["stages"]
                 if one["kernel"] == "final"}
        planned = {one["name"]: one["ctas"] for step in plan["steps"] for one in step.get("stages", [])
                   if one["role"] == "final"}
        self.assertEqual(found, planned)
        self.assertGreater(max(found.values()), 1)

    def test_nerf_is_one_pipeline(self):
        groups, alone = stages.planned(self.made, self.plan["steps"])
        self.assertEqual(alone, {})
        group, = stages.describe(self.made, groups)
        self.assertEqual((group["first"], group["ops"], group["rows"]), (0, 24, 131072))
        kernels = [stage["kernel"] for stage in group["stages"]]
        self.assertEqual((len(kernels), kernels.count("linear"), kernels.count("map_concat")), (15, 12, 3))
        self.assertEqual(sum(stage.get("activation") == "relu" for stage in group["stages"]), 9)
        planned = {queue["tensor"]: queue["entries"] // queue["blocks_a_tile"] for queue in self.plan["steps"][0]["queues"]}
        made = {queue["tensor"]: queue["entries"] for queue in group["queues"]}
        under_way = 2 * sum(stage["work_groups"] // stage.get("parts", 1) for stage in group["stages"])
        for name in ("density", "colour"):  # 256 and 768 bytes a tile: as many as may be under way.
            self.assertEqual(made.pop(name), under_way)
            del planned[name]
        self.assertEqual(made, planned)
        self.assertEqual([stage["name"] for stage in group["stages"] if stage["output"] == {"tensor": "result"}], ["result"])

    def test_what_no_stage_does_is_said(self):
        next(op for op in self.made.ops if op.output == "p3.a").kind = "Sqrt"
        groups, alone = stages.planned(self.made, self.plan["steps"])
        self.assertEqual(groups, [])
        self.assertIn("Sqrt -> p3.a is no epilogue of MatMul", alone["p0"])


class Refused(unittest.TestCase):
    def refused(self, text, *words):
        with self.assertRaises(graphs.GraphError) as caught:
            described(text)
        for word in words:
            self.assertIn(word, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_not_contiguous(self):
        """s is between h1 and y."""
        self.refused(with_pipelines("{stages: {h1: 1, y: 1}}"), "not contiguous", "s is between h1 and y")

    def test_no_such_output(self):
        self.refused(with_pipelines("{stages: {a0: 1, h2: 1}}"), "h2", "nearest", "h1")
        self.refused(with_pipelines("{stages: {p0: 1, h1: 1}}"), "p0")  # Fused into a0.

    def test_in_two_pipelines(self):
        self.refused(with_pipelines("{stages: {a0: 1, h1: 1}}\n  - {stages: {h1: 1, s: 1}}"), "h1", "two pipelines")

    def test_numbers_and_keys(self):
        self.refused(with_pipelines("{stages: {a0: 0}}"), "a0", "1 to 65536")
        self.refused(with_pipelines("{stages: {a0: 1}, depth: 0}"), "depth", "1 to 64")
        self.refused(with_pipelines("{stages: {a0: 1}, tile_rows: 129}"), "tile_rows", "1 to 128")
        self.refused(with_pipelines("{stages: {a0: 1}, depths: 2}"), "depths", "nearest: depth")
        self.refused(with_pipelines("{a0: 1}"), "needs stages")

    def test_operator_without_stage(self):
        text = PIPELINE.replace("{op: Add, in: [h1, a0], out: s}", "{op: Softmax, in: [h1], out: s}")
        self.refused(text, "Softmax -> s", "is no stage")

    def test_other_rows(self):
        text = PIPELINE.replace("z:  {shape: [700, 70]}", "z:  {shape: [300, 9]}\n  v: {shape: [70, 9], kind: weight}")
        self.refused(text.replace("{op: MatMul, in: [y, w3], out: z}", "{op: MatMul, in: [w3, v], out: z}"), "z", "300")


if __name__ == "__main__":
    unittest.main()
