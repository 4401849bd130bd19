#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Question: does a graph that names pipelines get the stages and queues that its operators demand, and is one refused
in a line that no pipeline can be made of? What is expected is worked out here by hand."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "sw/compiler"))
# covers: KT-MODEL-02

import emit  # noqa: E402
import graph as graphs  # noqa: E402
import load  # noqa: E402

PIPELINE = (ROOT / "sw/compiler/graphs/pipeline.yaml").read_text(encoding="utf-8")
NAMED = PIPELINE[PIPELINE.index("pipelines:"):]


def described(text):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "g.yaml"
        file.write_text(text, encoding="utf-8")
        graph = load.load(str(file))
    graph.check()
    return emit.Plan(graph).describe()["groups"]


def with_pipelines(pipelines):
    return PIPELINE.replace(NAMED, f"pipelines:\n  - {pipelines}\n")


class Stages(unittest.TestCase):
    def test_shipped_one(self):
        """Queues inside, memory at both ends; a0 has two readers."""
        group, = described(PIPELINE)
        self.assertEqual((group["first"], group["ops"], group["rows"], group["tile_rows"]), (0, 5, 700, 128))
        self.assertEqual([(q["tensor"], q["columns"], q["readers"], q["entries"]) for q in group["queues"]],
                         [("a0", 256, 2, 4), ("h1", 256, 1, 2), ("s", 256, 1, 6), ("y", 300, 1, 4)])
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

    def test_entries_are_no_more_than_tiles(self):
        group, = described(with_pipelines("{stages: {a0: 100, h1: 1}}"))  # 700 rows are 6 tiles of 128.
        self.assertEqual((group["queues"][0]["entries"], group["stages"][0]["work_groups"]), (6, 6))


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

    def test_a_row_for_all_rows_is_no_stage(self):
        text = PIPELINE.replace("{op: Add, in: [h1, a0], out: s}", "{op: Add, in: [h1, b0], out: s}")
        self.refused(text, "b0", "700")

    def test_other_rows(self):
        text = PIPELINE.replace("z:  {shape: [700, 70]}", "z:  {shape: [70, 700]}").replace(
            "{op: MatMul, in: [y, w3], out: z}", "{op: MatMul, in: [w3, y], out: z, transpose_a: 1, transpose_b: 1}")
        self.refused(text, "z", "70")


if __name__ == "__main__":
    unittest.main()
