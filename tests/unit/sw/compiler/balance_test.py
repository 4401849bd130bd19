#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Question: is the balance of work-groups the best that Algorithm 2 of Kitsune (arXiv 2502.18403, 5.3) allows?

Against trying everything by the paper's formulas, against the program's file read by a reader of its own, and against a
second solver.
"""

import dataclasses
import itertools
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tests/support"))

from nets import A100, APPS, Net, Scratch  # noqa: E402
import lp_file  # noqa: E402
from front import autodiff, flow as flows, graph as graphs, load  # noqa: E402
from planning import balance, modes, profiles, timing  # noqa: E402


def algorithm_2(program):
    """The best throughput over all work-groups, as the paper has it: thr <= r_i s_i t_i with r_i = a_i / units, s_i = 1 /
    u_i, and what memory and L2 give."""
    ranges = [range(load.lowest, load.highest + 1, load.step) for load in program.loads]
    best = 0.0
    for a in itertools.product(*ranges):
        sums = [sum(count for load, count in zip(program.loads, a) if load.kind == kind) for kind in ("SIMT", "TENSOR")]
        if max(sums) <= program.units:
            best = max(best, min(program.dram_peak / program.dram_bytes, program.l2_peak / program.l2_bytes,
                                 *(count / program.units / load.u * load.t for load, count in zip(program.loads, a))))
    return best


def cbc(path):
    """thr of an LP file by another solver."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        subprocess.run(["cbc", str(path), "solve", "solu", str(out)], capture_output=True, check=True)
        return next(float(line.split()[2]) for line in out.read_text().splitlines() if line.split()[1:2] == ["thr"])


class Balance(Scratch):
    def program(self, pick, stages=4, units=9, dram=1e12, l2=1e12):
        loads = tuple(balance.Load(f"s{at}", pick.choice(("SIMT", "TENSOR")), pick.uniform(1, 50),
                                   pick.uniform(0.05, 1), 1, pick.randint(1, units)) for at in range(stages))
        return balance.Program("test", loads, units, pick.uniform(1, 5), pick.uniform(1, 5), dram, l2)

    def solve(self, program):
        return balance.solve(program, self.path / "p.lp")

    # covers: KT-LB-01
    def test_trying_everything_finds_no_more(self):
        pick = random.Random(11)
        for _ in range(40):
            program = self.program(pick, pick.randint(1, 4))
            thr, a = self.solve(program)
            self.assertAlmostEqual(thr / algorithm_2(program), 1, places=5)
            self.assertGreaterEqual(balance.bound(program, a)[0], thr * (1 - 1e-5))

    def test_work_groups_come_in_multiples_of_column_parts(self):
        pick = random.Random(7)
        for _ in range(30):
            program = self.program(pick, pick.randint(1, 4), units=12)
            steps = [pick.randint(1, 3) for _ in program.loads]
            loads = tuple(dataclasses.replace(load, lowest=step, highest=load.highest * step, step=step)
                          for load, step in zip(program.loads, steps))
            program = dataclasses.replace(program, loads=loads)
            thr, a = self.solve(program)
            self.assertEqual([count % step for count, step in zip(a, steps)], [0] * len(a))
            self.assertAlmostEqual(thr / algorithm_2(program), 1, places=5)

    # covers: KT-LB-02
    def test_memory_and_l2_bound_the_throughput(self):
        pick = random.Random(5)
        for _ in range(20):
            program = self.program(pick, 3, dram=pick.uniform(5, 60), l2=pick.uniform(5, 60))
            thr, _ = self.solve(program)
            self.assertAlmostEqual(thr / algorithm_2(program), 1, places=5)
            self.assertLessEqual(thr * program.dram_bytes, program.dram_peak * 1.00001)
            self.assertLessEqual(thr * program.l2_bytes, program.l2_peak * 1.00001)

    def test_final_stages_get_what_shortens_the_whole_most(self):
        """Behind W / a for all tiles comes F / f: against trying all f of as many units."""
        pick = random.Random(3)
        for _ in range(40):
            units, maps, most = 108, [pick.uniform(1, 900) for _ in range(pick.randint(1, 3))], pick.randint(1, 60)
            last = pick.uniform(0.1, 300)
            loads = [balance.Load(f"s{at}", "SIMT", units / work, 1, 1, units) for at, work in enumerate(maps)]
            loads.append(balance.Load("f", "SIMT", units / last, 1, 1, most, is_final=True))
            found = balance.with_finals(loads, units)
            self.assertEqual(found[:-1], loads[:-1])

            def whole(finals):
                return sum(maps) / (units - finals) + last / finals
            best = min(whole(finals) for finals in range(1, min(most, units - len(maps)) + 1))
            self.assertLess(whole(found[-1].lowest) / best, 1.05)

    def test_what_is_left_over_goes_to_final_stages_first_and_nobody_gets_too_many(self):
        loads = (balance.Load("a", "SIMT", 54, 1, 1, 108), balance.Load("f", "SIMT", 900, 1, 3, 32, is_final=True),
                 balance.Load("g", "SIMT", 9000, 1, 1, 1, is_final=True))
        # DRAM allows what 12 work-groups of the first give.
        program = balance.Program("t", loads, 108, 1, 1, 6, 1e9)
        thr, a = self.solve(program)
        self.assertAlmostEqual(thr, 6, places=5)
        self.assertEqual([balance.spread(program, a, most) for most in (2, 1.5, 1)],
                         [[24, 32, 1], [18, 32, 1], [12, 32, 1]])
        # Where units are few: the first needs its 90.
        program = dataclasses.replace(program, dram_peak=45)
        self.assertEqual(balance.spread(program, self.solve(program)[1]), [90, 17, 1])

    def test_what_memory_bounds_gets_no_more_than_the_fewest_once_it_was_measured(self):
        loads = (balance.Load("a", "SIMT", 54, 1, 1, 108, is_measured=True),
                 balance.Load("f", "SIMT", 900, 1, 1, 32, is_final=True))
        for dram, l2, is_measured, tries in [(6, 1e9, True, (1,)), (1e9, 6, True, (2, 1.5, 1)), (6, 1e9, False, (2, 1.5, 1)),
                                             (1e9, 1e9, True, (2, 1.5, 1))]:
            program = balance.Program("t", (dataclasses.replace(loads[0], is_measured=is_measured), loads[1]), 108, 1, 1,
                                      dram, l2)
            self.assertEqual(balance.times(program, self.solve(program)[1]), tries)

    def test_queues_make_way_before_tiles_get_smaller(self):
        """A gradient of a norm whose tiles take 128 KiB: 44 work-groups keep up with the product behind it, and queues of
        twice as many cannot be pinned."""
        net = Net(rows=65160)
        net.norm(net.linear(net.map("Relu", "a", net.linear("x", "p", 512)), "q", 512), "n")
        graph = autodiff.backward(net.graph)
        graph.check()
        file = self.write_profile("p.json", graph, stages=[
            {"operators": names, "tile_rows": 128, "tile_us": us, "first_us": us} for names, us in (
                (["d.q", "d.n.g", "d.n.b"], 30.0), (["d.a"], 40.0), (["d.q.w"], 20.0), (["d.q.b"], 3.0))])
        found = {}
        for pinned in (21 << 20, 40 << 20):
            machine = dataclasses.replace(A100, pinned_bytes=pinned)
            plan = modes.Planner(graph, "kitsune", machine, self.path / "plan", profile=[file]).plan()
            step = next(one for one in plan["steps"] if one.get("name") == "d.q")
            self.assertEqual(step["tile_rows"], 128)
            self.assertLess(step["queue_bytes"], pinned)
            found[pinned] = next(one["ctas"] for one in step["stages"] if one["name"] == "d.q")
        self.assertLess(found[21 << 20], found[40 << 20])

    def test_a_second_solver_agrees(self):
        if shutil.which("cbc") is None:
            self.skipTest("coinor-cbc is not installed")
        pick = random.Random(2)
        for _ in range(10):
            program = self.program(pick, pick.randint(3, 15), units=108)
            thr, _ = self.solve(program)
            self.assertAlmostEqual(cbc(self.path / "p.lp") / thr, 1, places=5)

    def test_a_second_solver_agrees_on_the_applications(self):
        if shutil.which("cbc") is None:
            self.skipTest("coinor-cbc is not installed")
        for text in APPS[:3]:
            plan = self.plan(load.load(text))
            for step in plan["steps"]:
                if step["kind"] == "pipeline":
                    path = self.path / step["lp"]
                    self.assertAlmostEqual(cbc(path) / balance.glpsol(path)[0], 1, places=5)

    # covers: KT-LB-03
    def test_a_stage_runs_at_its_share_over_its_use_of_a_pipe(self):
        net = Net(rows=12800)
        net.mlp("x", "l", [256, 256])
        made = self.pipeline(net)
        profile = {"l0": {"us": 30.0, "tensor": 0.4, "simt": 0.1}, "l0.a": {"us": 10.0, "tensor": 0.0, "simt": 0.2},
                   "l1": {"us": 20.0, "tensor": 0.25, "simt": 0.3}}
        program = balance.of(made, A100, profiles.Profile(profile))
        # l0 with its epilogue: 100 tiles in 40 us, of them 12 us of the tensor pipe, 5 of the SIMT pipe.
        self.assertAlmostEqual(program.loads[0].t, 2500)
        self.assertAlmostEqual(program.loads[0].u, 0.3)
        self.assertAlmostEqual(program.loads[1].u, 0.3)  # The larger of both.
        self.assertAlmostEqual(program.loads[1].rate(27, 108), 27 / 108 / 0.3 * 5000)

    def test_what_a_tile_takes_with_one_work_group_bounds_its_stage(self):
        net = Net(rows=12800)
        net.mlp("x", "l", [256, 256])
        made = self.pipeline(net)
        tiles = {(("l0", "l0.a"), 128): profiles.Tiles(25.0), (("l1",), 64): profiles.Tiles(400.0)}
        loads = balance.of(made, A100, profiles.Profile({}, tiles)).loads
        # 10 work-groups, 25 us a tile: 400 tiles a ms.
        self.assertAlmostEqual(loads[0].rate(10, 108), 400)
        # l1 was measured with tiles of half the rows: so many times what is estimated of those.
        half = self.pipeline(net, tile_rows=64)
        estimates = [timing.estimated(one, one.stages[1], A100).tile for one in (half, made)]
        self.assertAlmostEqual(loads[1].rate(10, 108), 25 * estimates[0] / estimates[1])
        # What ran is measured better than what was a kernel of its own.
        operators = {name: {"us": 1.0, "tensor": 1.0, "simt": 1.0} for name in ("l0", "l0.a", "l1")}
        self.assertEqual(balance.of(made, A100, profiles.Profile(operators, tiles)).loads[0], loads[0])
        # Where a tile is made in two column parts, each by a work-group, it is the time of both.
        made.stages[0].parts = 2
        load = balance.of(made, A100, profiles.Profile({}, tiles)).loads[0]
        self.assertAlmostEqual(load.rate(10, 108), 400)
        self.assertEqual((load.lowest, load.highest, load.step), (2, 108, 2))

    def test_of_a_sum_the_time_is_that_of_all_parts_and_its_final_stage_is_no_tile(self):
        made = self.backward_of_a_product()
        loads = {one.name: one for one in balance.of(made, A100, profiles.Profile(
            {}, {(("d.q.w",), 128): profiles.Tiles(20.0)})).loads}
        self.assertEqual(next(one.parts for one in made.stages if one.name == "d.q.w.fan-in"), 2)
        self.assertAlmostEqual(loads["d.q.w.fan-in"].rate(10, 108), 500)
        plain = {one.name: one for one in balance.of(made, A100).loads}
        self.assertEqual((loads["d.q.w.final"].t, loads["d.q.w.final"].u), (plain["d.q.w.final"].t, plain["d.q.w.final"].u))
        self.assertGreater(loads["d.q.w.final"].lowest, 1)  # Behind all tiles, of 65,536 elements.

    def write_profile(self, name, graph, operators=(), stages=(), **other):
        file = self.path / name
        file.write_text(json.dumps({"graph": flows.Flow(graph).hash(), "machine": A100.name, "set": [],
                                    "operators": dict(operators), "stages": list(stages), **other}))
        return file

    # covers: KT-LB-06
    def test_the_second_pass_gives_a_slow_stage_more_work_groups(self):
        graph = load.load("nerf:rows=131072")
        first = self.plan(graph)["steps"][0]
        ctas = {one["name"]: one["ctas"] for one in first["stages"]}
        self.assertEqual(ctas["colour"], 1)  # 128 columns to 3: next to nothing, but for latency.
        slow = self.write_profile("p.json", graph, stages=[
            {"operators": ["colour"], "tile_rows": 128, "work_groups": 1, "tile_us": 1.1}])
        second = self.plan(graph, profile=[slow])["steps"][0]
        after = {one["name"]: one["ctas"] for one in second["stages"]}
        self.assertGreaterEqual(after["colour"] / 1.1e-3, second["predicted"]["tiles_a_ms"])
        self.assertGreater(after["colour"], 1)
        self.assertEqual(second["predicted"]["source"], "profile")

    def test_profiles_are_one_in_any_order_and_the_plan_is_the_same_every_time(self):
        graph = load.load("nerf:rows=131072")
        stages = [{"operators": [name], "tile_rows": 128, "work_groups": 1, "tile_us": us}
                  for name, us in (("colour", 1.1), ("density", 2.0), ("feature", 9.0))]
        one = self.write_profile("one.json", graph, [("p1", {"us": 90.0, "tensor": 0.5, "simt": 0.1})], stages[:1])
        other = self.write_profile("other.json", graph, stages=stages[1:])
        again = self.write_profile("again.json", graph, stages=stages[2:])
        plans = [json.dumps(self.plan(graph, profile=files)) for files in ([one, other], [other, one], [one, other])]
        self.assertEqual(len(set(plans)), 1)
        with self.assertRaisesRegex(graphs.GraphError, "again.json: stage feature is in .*other.json, too"):
            self.plan(graph, profile=[other, again])

    # covers: KT-LB-04
    def test_each_class_has_all_units_to_itself_and_an_absent_one_no_constraint(self):
        loads = (balance.Load("a", "TENSOR", 1, 1, 1, 108), balance.Load("b", "TENSOR", 1, 1, 1, 108),
                 balance.Load("c", "SIMT", 1, 1, 1, 108))
        thr, a = self.solve(balance.Program("t", loads, 108, 1, 1, 1e9, 1e9))
        self.assertAlmostEqual(thr, 0.5, places=5)
        self.assertEqual(a[:2], [54, 54])
        self.assertLessEqual(a[2], 108)
        thr, a = self.solve(balance.Program("t", loads[:2], 108, 1, 1, 1e9, 1e9))
        self.assertEqual(a, [54, 54])
        self.assertNotIn("simt:", (self.path / "p.lp").read_text())

    # covers: KT-LB-05
    def test_a_simt_stage_takes_nothing_from_a_tensor_stage(self):
        tensor = (balance.Load("a", "TENSOR", 3, 1, 1, 108),)
        both = (*tensor, balance.Load("c", "SIMT", 9, 1, 1, 108))
        alone = self.solve(balance.Program("t", tensor, 108, 1, 1, 1e9, 1e9))[0]
        self.assertAlmostEqual(self.solve(balance.Program("t", both, 108, 1, 1, 1e9, 1e9))[0], alone, places=5)

    # covers: KT-LB-06
    def test_a_profile_changes_the_balance(self):
        graph = load.load("nerf:rows=131072")
        flow = flows.Flow(graph)
        operators = {op.output: {"us": 100.0, "tensor": 0.5, "simt": 0.5} for op in flow.ops}
        operators["p3"]["us"] = 1000.0
        file = self.path / "profile.json"
        file.write_text(json.dumps({"graph": flow.hash(), "machine": A100.name, "operators": operators}))
        before, after = self.plan(graph), self.plan(graph, profile=[file])
        ctas = [{one["name"]: one["ctas"] for one in plan["steps"][0]["stages"]} for plan in (before, after)]
        self.assertGreater(ctas[1]["p3"], 2 * ctas[1]["p2"])
        self.assertLess(ctas[0]["p3"], 2 * ctas[0]["p2"])
        self.assertEqual(after["steps"][0]["predicted"]["source"], "profile")

    def test_what_a_profile_shows_to_be_slower_as_a_pipeline_is_left_out(self):
        net = Net(rows=12800)
        net.mlp("x", "l", [256, 256])
        flow, file = flows.Flow(net.graph), self.path / "profile.json"
        # Both products use the tensor pipe all the time: side by side each has half of the units.
        for use, kinds in [(1.0, ["kernel"] * 3), (0.3, ["pipeline"])]:
            operators = {name: {"us": us, "tensor": use, "simt": 0.1}
                         for name, us in (("l0", 50.0), ("l0.a", 0.1), ("l1", 10.0))}
            file.write_text(json.dumps({"graph": flow.hash(), "machine": A100.name, "operators": operators}))
            plan = self.plan(net.graph, profile=[file])
            self.assertEqual([step["kind"] for step in plan["steps"]], kinds)
            self.assertEqual(plan["summary"]["grouped"], 0 if use == 1.0 else 3)
        self.assertEqual(self.plan(net.graph, forced=[["l0", "l0.a", "l1"]])["steps"][0]["pattern"], "forced")

    def test_with_profiles_of_kernels_and_of_stages_what_takes_longer_is_left_out(self):
        net = Net(rows=12800)
        net.mlp("x", "l", [256, 256])
        net.graph.check()
        kernels = self.write_profile("k.json", net.graph, [(name, {"us": 20.0, "tensor": 0.3, "simt": 0.1})
                                                           for name in ("l0", "l0.a", "l1")])
        # 100 tiles with 54 work-groups of a stage at most: two waves and the way, beside 60 us of kernels.
        for tile_us, kinds in [(12.0, ["pipeline"]), (40.0, ["kernel"] * 3)]:
            stages = self.write_profile("s.json", net.graph, stages=[
                {"operators": names, "tile_rows": 128, "tile_us": tile_us, "first_us": 5.0}
                for names in (["l0", "l0.a"], ["l1"])])
            plan = self.plan(net.graph, profile=[stages, kernels])
            self.assertEqual([step["kind"] for step in plan["steps"]], kinds)
            self.assertEqual(len(plan["left_out"]), len(kinds) // 2)

    # covers: KT-SEL-03
    def test_of_a_pipeline_that_cannot_be_faster_only_what_is_between_its_wide_products_is_left(self):
        """Llama's context: 386 MB of weights come with each of 16 tiles, so the group behind attention is kernels but for the
        sum and the norm between them."""
        plan = self.plan(load.load("llama:"))
        self.assertEqual(len(plan["left_out"]), 1)
        self.assertRegex(plan["left_out"][0], r"^group of l0.o, l0.r1, ..., l0.r2: [\d.]+ us as a pipeline, [\d.]+ us alone "
                         r"\(estimate\)$")
        slow, alone = (float(one.split()[0]) for one in plan["left_out"][0].split(": ")[1].split(", "))
        self.assertGreater(slow, alone)
        kernels = [step["operators"][0] for step in plan["steps"] if step["kind"] == "kernel"]
        self.assertLessEqual({"l0.o", "l0.gate", "l0.up", "l0.down"}, set(kernels))
        rest = next(step for step in plan["steps"] if step.get("pattern") == "rest")
        self.assertEqual([stage["kinds"] for stage in rest["stages"]], [["Add"], ["Pow", "ReduceMean", "Sqrt", "Div", "Mul"]])
        # Without a product there is a tile for each unit, though rows are few.
        self.assertEqual((rest["tile_rows"], rest["tiles"]), (16, 128))
        self.assertLess(rest["dram_bytes"], rest["bsp_dram_bytes"] / 2)
        # Queues of whole tiles before attention fit with four at once in each product: weights come 4 times, not 16.
        before = plan["steps"][0]
        at_once = [stage["ctas"] // stage["column_parts"] for stage in before["stages"] if stage["class"] == "TENSOR"]
        self.assertEqual(at_once, [4, 4, 4])
        self.assertLess(before["dram_bytes"], before["bsp_dram_bytes"])

    # covers: KT-LB-07
    def test_the_model_has_no_latency(self):
        steady = [self.plan(load.load("mgn:"), depth=depth)["steps"][0]["predicted"]["steady_tiles_a_ms"] for depth in (2, 3)]
        self.assertEqual(steady[0], steady[1])

    def programs(self):
        """Small ones, in which each constraint binds now and then."""
        pick = random.Random(3)
        while True:
            program = self.program(pick, pick.randint(2, 4), units=pick.randint(4, 9), dram=pick.uniform(2, 60),
                                   l2=pick.uniform(2, 60))
            steps = [pick.randint(1, 2) for _ in program.loads]
            program = dataclasses.replace(program, loads=tuple(
                dataclasses.replace(load, lowest=step, highest=max(step, load.highest), step=step)
                for load, step in zip(program.loads, steps)))
            if algorithm_2(program) > 0:  # Else they are more than the units hold.
                yield program

    def test_the_file_says_what_algorithm_2_says(self):
        """Read by nobody who knows its writer."""
        for program in itertools.islice(self.programs(), 40):
            self.assertAlmostEqual(lp_file.Program(balance.text(program)).best() / algorithm_2(program), 1, places=6)

    def test_a_dropped_constraint_is_noticed(self):
        """Each of them: the optimum of what is left is another one for some program, and an answer that uses it is refused
        by name."""
        noticed, refused = set(), {}
        for program in itertools.islice(self.programs(), 150):
            best, whole = algorithm_2(program), balance.text(program)
            for name in re.findall(r"^ (\w+): .*=", whole, re.M):
                kind, left = re.sub(r"_\d+$", "", name), re.sub(rf"^ {name}: .*\n", "", whole, flags=re.M)
                if name == "obj" or lp_file.Program(left).best() <= best * 1.001:
                    continue
                noticed.add(kind)
                if kind not in refused:
                    path = self.path / "p.lp"
                    path.write_text(left)
                    with self.assertRaises(graphs.CheckError) as error:  # Though the solver says that it had all of it.
                        balance.answer(program, path, lambda one: (*balance.glpsol(one)[:2], whole))
                    refused[kind] = str(error.exception)
        self.assertEqual(noticed, {"stage", "dram", "l2", "simt", "tensor", "parts"})
        for kind, word in [("stage", "stage s"), ("dram", "DRAM"), ("l2", "L2"), ("simt", "SIMT work-groups"),
                           ("tensor", "TENSOR work-groups"), ("parts", "work-groups of s")]:
            self.assertIn(word, refused[kind])

    def test_what_the_solver_was_not_given_is_named_though_it_does_not_bind(self):
        loads = (balance.Load("a", "TENSOR", 10, 1, 1, 9), balance.Load("b", "TENSOR", 500, 1, 2, 8, 2),
                 balance.Load("c", "SIMT", 900, 1, 1, 9))
        program, path = balance.Program("t", loads, 108, 1, 1, 1e9, 1e9), self.path / "p.lp"
        whole = balance.text(program)
        best = lp_file.Program(whole).best()
        for left_out, word in [("stage_1", r"constraint stage_1 \(stage b\) is missing"),
                               ("parts_1", r"constraint parts_1 \(column parts of b\) is missing"),
                               ("dram", r"constraint dram \(DRAM\) is missing"), ("l2", r"constraint l2 \(L2\) is missing"),
                               ("simt", r"constraint simt \(SIMT work-groups\) is missing"),
                               ("tensor", r"constraint tensor \(TENSOR work-groups\) is missing")]:
            path.write_text(re.sub(rf"^ {left_out}: .*\n", "", whole, flags=re.M))
            self.assertAlmostEqual(lp_file.Program(path.read_text()).best(), best)
            with self.assertRaisesRegex(graphs.CheckError, word):
                balance.answer(program, path)
        for other, changed, word in [("<= 108", "<= 109", "tensor .*is another one"), (" a2 <= 0", " a1 <= 0", "stage_2 .*another"),
                                     ("1 <= a2 <= 9", "1 <= a2 <= 99", "bounds of a2 .*work-groups of c"),
                                     (" a0 a1 a2", " a0 a1", "a2 .*need not be whole")]:
            self.assertIn(other, whole)
            path.write_text(whole.replace(other, changed))
            with self.assertRaisesRegex(graphs.CheckError, word):
                balance.answer(program, path)
        path.write_text(whole)
        balance.answer(program, path)

    def test_an_answer_that_breaks_a_constraint_is_noticed(self):
        program = self.program(random.Random(1), 4, dram=12, l2=9)
        path = self.path / "p.lp"
        thr, a = self.solve(program)
        for wrong, word in [((thr * 1.01, a), "breaks Algorithm 2"), ((thr, [200] * 4), "work-groups"),
                            ((1e9, a), "DRAM, L2")]:
            with self.assertRaisesRegex(graphs.CheckError, word):
                balance.answer(program, path, lambda _, w=wrong: (w[0], dict(enumerate(w[1])), balance.text(program)))


if __name__ == "__main__":
    unittest.main()
