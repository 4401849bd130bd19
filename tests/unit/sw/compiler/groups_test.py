#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Question: are groups of operators contiguous by definition, of rows that stream, and for vertical fusion as large as a tile
in LDS allows (Kitsune, 3 and 5.1)?"""

import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tests/support"))

from nets import A100, APPS, Net, Scratch  # noqa: E402
from front import autodiff, flow as flows, graph as graphs, load  # noqa: E402
from planning import machine as machines, patterns, pipeline as pipelines, vertical  # noqa: E402


def is_contiguous(flow, members):
    """The definition: no path leaves the members and comes back."""
    inside = set(members)

    def comes_back(number, is_out):
        for other in flow.after[number]:
            if other in inside:
                if is_out:
                    return True
            elif comes_back(other, True):
                return True
        return False
    return not any(comes_back(number, False) for number in members)


class Selection(Scratch):
    def groups(self, net, library=patterns.PIPELINES, check=None, **given):
        flow = net.flow() if isinstance(net, Net) else flows.Flow(net)
        found, left_out = patterns.select(flow, library, check or (
            lambda members: pipelines.stream_error(flow, members, A100)), **given)
        return [[flow.ops[number].output for number in group.members] for group in found], left_out

    # covers: KT-SEL-02
    def test_contiguity_is_the_definition_on_random_graphs(self):
        pick = random.Random(7)
        seen = set()
        for _ in range(300):
            net, made = Net(rows=4, columns=4), ["x"]
            for place in range(8):
                made.append(net.map("Add", f"t{place}", pick.choice(made[-3:]), pick.choice(made)))
            flow = net.flow()
            members = sorted(pick.sample(range(8), pick.randint(2, 5)))
            error = patterns.contiguity_error(flow, members)
            self.assertEqual(error is None, is_contiguous(flow, members), members)
            seen.add(error is None)
        self.assertEqual(seen, {True, False})

    # covers: KT-SEL-02
    def test_a_group_by_hand_is_contiguous_or_refused(self):
        net = Net(rows=4, columns=4)
        net.map("Relu", "a", "x")
        net.map("Relu", "between", "a")
        net.map("Add", "b", "a", "between")
        flow = net.flow()
        with self.assertRaisesRegex(graphs.GraphError, "not contiguous: a leaves it, between comes back into b"):
            patterns.forced(flow, ["a", "b"], lambda members: None)
        self.assertEqual(patterns.forced(flow, ["a", "between", "b"], lambda members: None).members, [0, 1, 2])

    # covers: KT-SEL-03
    def test_gathers_scatters_and_batched_products_are_excluded(self):
        for text in ("mgn:", "dlrm:", "llama:"):
            flow = flows.Flow(load.load(text))
            groups, _ = patterns.select(flow, patterns.PIPELINES,
                                        lambda members, f=flow: pipelines.stream_error(f, members, A100))
            inside = {flow.ops[number].output for group in groups for number in group.members}
            for number, op in enumerate(flow.ops):
                if flow.letters[number] in "GBS":
                    self.assertNotIn(op.output, inside)
        net = Net()
        net.mlp("x", "l", [64, 64])
        self.assertEqual(self.groups(net)[0], [["l0", "l0.a", "l1"]])
        self.assertEqual(self.groups(net, exclude=("l1",))[0], [["l0", "l0.a"]])

    # covers: KT-SEL-04
    def test_adding_a_pattern_is_one_line(self):
        net = Net()
        net.map("Add", "y", net.norm(net.norm("x", "a"), "b"), "x")
        self.assertEqual(self.groups(net)[0], [])
        library = (*patterns.PIPELINES, patterns.Pattern("norms", "NN+E", "a test's"))
        self.assertEqual(self.groups(net, library)[0], [["a", "b", "y"]])

    def test_selection_is_one_pass_over_the_topological_order_and_the_same_each_time(self):
        graph = load.load("mgn:")
        first, second = self.groups(graph), self.groups(graph)
        self.assertEqual(first, second)
        flat = [name for group in first[0] for name in group]
        self.assertEqual(len(flat), len(set(flat)))

    # covers: KT-SEL-05
    def test_basic_patterns_of_figure_2(self):
        net = Net()  # (a) linear, element by element, linear.
        net.mlp("x", "l", [1024, 256])
        self.assertEqual(self.groups(net)[0], [["l0", "l0.a", "l1"]])
        back = Net()  # (c) one that feeds two products, and (b) the sum over the batch.
        back.map("Relu", "b", back.linear(back.map("Relu", "a", back.linear("x", "p", 256)), "q", 256))
        graph = autodiff.backward(back.graph)
        self.assertEqual(self.groups(graph)[0], [["p", "a", "q", "b"], ["d.q", "d.a", "d.q.w", "d.q.b"],
                                                 ["d.p", "d.p.w", "d.p.b"]])

    def test_what_nothing_passes_between_is_no_group(self):
        net = Net()
        net.linear("x", "a", 256)
        net.linear("x", "b", 256)
        self.assertEqual(self.groups(net)[0], [])

    def test_a_product_of_two_made_matrices_ends_a_group(self):
        net = Net(rows=256, columns=256)
        net.linear("x", "a", 256)
        net.map("Relu", "r", "a")
        net.graph.op("MatMul", ["x", "r"], "y", [256, 256])
        groups, reasons = self.groups(net)
        self.assertEqual(groups, [["a", "r"]])
        self.assertIn("MatMul -> y: r is made in the group, must be there as a whole", reasons)

    def test_steps_come_after_what_they_read(self):
        for text in APPS[:4]:
            graph = autodiff.backward(load.load(text))
            flow = flows.Flow(graph)
            groups, _ = patterns.select(flow, patterns.PIPELINES,
                                        lambda members, f=flow: pipelines.stream_error(f, members, A100))
            done = set()
            for step in patterns.order(flow, groups):
                members = [step] if isinstance(step, int) else step.members
                for number in members:
                    self.assertTrue(flow.before[number] <= done | set(members))
                done |= set(members)
            self.assertEqual(done, set(range(len(flow.ops))))


class VerticalFusion(Scratch):
    def fused(self, widths, machine=A100, norm=False, columns=256):
        net = Net(rows=4096, columns=columns)
        net.mlp("x", "l", widths, norm)
        flow = net.flow()
        groups, _ = patterns.select(flow, patterns.FUSIONS, lambda members: vertical.error(flow, members, machine))
        return [[flow.ops[number].output for number in group.members] for group in groups]

    # covers: KT-VF-02
    def test_products_fuse_where_two_tiles_and_weights_fit(self):
        self.assertEqual(self.fused([128, 128, 128], norm=True, columns=128),  # MeshGraphNets.
                         [["l0", "l0.a", "l1", "l1.a", "l2", "l.n"]])
        self.assertEqual(self.fused([256, 256]), [["l0", "l0.a"]])  # NeRF (KT-R56).
        self.assertEqual(self.fused([512, 512]), [["l0", "l0.a"]])  # GraphCast.

    def test_from_768_columns_on_a_product_never_follows_another(self):
        paper = machines.Machine(**{**A100.__dict__, "lds_bytes": 192 << 10})  # KT-R81.
        for columns in (8, 64, 128, 256):
            self.assertEqual(self.fused([768, columns], paper), [["l0", "l0.a"]])
        self.assertEqual(self.fused([256, 128], paper), [["l0", "l0.a", "l1"]])

    # covers: KT-VF-04
    def test_sums_over_rows_are_out_of_reach(self):
        net = Net(rows=4096)
        net.map("Relu", "a", "x")
        net.graph.op("ReduceSum", ["a"], "s", [256], axis=0)
        flow = net.flow()
        self.assertIn("ReduceSum -> s", vertical.error(flow, [0, 1], A100))
        self.assertEqual(patterns.select(flow, patterns.FUSIONS, lambda m: vertical.error(flow, m, A100))[0], [])

    # covers: KT-VF-05
    def test_training_fuses_the_forward_pass_alone(self):
        for text in APPS[:5]:
            plan = self.plan(autodiff.backward(load.load(text)), "vertical")
            backward = {one["output"] for one in plan["operators"] if one["pass"] == "backward"}
            self.assertGreater(plan["summary"]["grouped"], 0)
            for step in plan["steps"]:
                if step["kind"] == "fused":
                    self.assertFalse(backward & set(step["operators"]))


if __name__ == "__main__":
    unittest.main()
