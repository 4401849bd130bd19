#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Question: does a prediction have what a pipeline takes beside its throughput: launch, way, waves, room, memory?

Expected numbers are worked out here, from times of stages that the test gives, or from the machine's file.
"""

import dataclasses
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tests/support"))

from nets import A100, Net, Scratch  # noqa: E402
from front import flow as flows  # noqa: E402
from planning import machine as machines, modes, profiles, timing  # noqa: E402


class Timing(Scratch):
    def chain(self, ctas, rows=128 * 7, widths=(256, 256, 256), capacity=99):
        """Products in a row with so many work-groups each, and room for so many tiles in each queue."""
        net = Net(rows=rows)
        net.mlp("x", "l", widths)
        made = self.pipeline(net)
        for stage, count in zip(made.stages, ctas):
            stage.ctas, stage.parts = count, 1
        for queue in made.queues:
            queue.capacity = capacity
        return made

    def schedule(self, made, *times):
        return timing.schedule(made, [timing.Times(*one) for one in times])

    def test_a_tile_goes_through_all_stages_and_the_slowest_one_takes_its_waves(self):
        # 7 tiles. The second stage has 2 work-groups: 4 waves of 5 us; its first tile comes at 3, its last one leaves at 3 + 3
        # x 5 + 6, and takes 4 in the third stage.
        way, end = self.schedule(self.chain([7, 2, 7]), (2, 3), (5, 6), (1, 4))
        self.assertEqual(way, 3 + 6 + 4)
        self.assertEqual(end, 3 + 3 * 5 + 6 + 4)

    def test_waves_are_whole(self):
        # 7 tiles with 4, 5 and 6 work-groups are 2 waves, with 7 one.
        ends = [self.schedule(self.chain([7, count, 7]), (1, 1), (10, 10), (1, 1))[1] for count in (4, 5, 6, 7)]
        self.assertEqual(ends, [22, 22, 22, 12])

    def test_the_way_is_the_longest_one(self):
        net = Net()
        a = net.map("Relu", "a", net.linear("x", "l", 256))
        net.map("Add", "s", net.map("Mul", "m", net.map("Silu", "b", a), a), a)
        made = self.pipeline(net)
        self.assertEqual([stage.name for stage in made.stages], ["l", "b", "m", "s"])
        for queue in made.queues:
            queue.capacity = 99
        self.assertEqual(self.schedule(made, (1, 2), (1, 3), (1, 5), (1, 7))[0], 2 + 3 + 5 + 7)

    def test_a_stage_that_is_slow_holds_its_writer_up_where_room_is_short(self):
        # Of one entry: tile t + 1 leaves the first stage when tile t has been read. Seven tiles of 10 us, one behind the other.
        ends = []
        for capacity in (1, 99):
            made = self.chain([1, 1, 1], capacity=capacity)
            ends.append(self.schedule(made, (1, 1), (10, 2), (1, 1))[1])
        self.assertEqual(ends, [1 + 6 * 10 + 2 + 1] * 2)  # The slowest stage decides.
        # In turn, where the writer has only begun when there was room: a tile takes both.
        made = self.chain([1, 1], widths=(256, 256), capacity=1)
        self.assertEqual(self.schedule(made, (4, 4), (10, 10))[1], 4 + 7 * 10)
        made.queues[0].capacity = 2
        self.assertEqual(self.schedule(made, (4, 4), (10, 10))[1], 4 + 7 * 10)

    # covers: KT-LB-07
    def test_launch_way_and_waves_are_beside_the_throughput_of_algorithm_2(self):
        net = Net(rows=128 * 3)
        net.mlp("x", "l", [256, 256, 256])
        predicted = self.plan(net.graph, forced=[["l0", "l0.a", "l1", "l1.a", "l2"]])["steps"][0]["predicted"]
        launch = (timing.LAUNCH_CLOCKS + 2 * timing.MEMBER_CLOCKS) / 1500
        self.assertAlmostEqual(predicted["launch_us"], launch)
        self.assertGreater(predicted["us"], predicted["launch_us"] + predicted["way_us"])
        self.assertAlmostEqual(predicted["tiles_a_ms"], 3000 / predicted["us"])
        self.assertLess(predicted["tiles_a_ms"], predicted["steady_tiles_a_ms"] / 2)
        made = self.pipeline(net)
        quick = timing.predict(made, A100)
        self.assertAlmostEqual(quick.launch, launch)
        self.assertAlmostEqual(quick.us, launch + quick.run)
        slow = dataclasses.replace(A100, cp_mhz=750)
        self.assertAlmostEqual(timing.launch_us(slow, 3), 2 * launch)

    def test_a_pipeline_waits_for_a_host_that_is_slower(self):
        net = Net(rows=128 * 3)
        net.mlp("x", "l", [256, 256, 256])
        net.graph.check()
        host = dataclasses.replace(A100, launch_ns=100_000)
        predicted = modes.Planner(net.graph, "kitsune", host, self.path / "plan").plan()["steps"][0]["predicted"]
        self.assertAlmostEqual(predicted["us"], (200 + 100_000 + 4 * 100) / 1000)

    def test_many_tiles_come_near_the_throughput_of_algorithm_2(self):
        net = Net(rows=128 * 20000)
        net.mlp("x", "l", [256, 256, 256])
        predicted = self.plan(net.graph)["steps"][0]["predicted"]
        self.assertGreater(predicted["tiles_a_ms"], 0.98 * predicted["steady_tiles_a_ms"])
        self.assertLessEqual(predicted["tiles_a_ms"], predicted["steady_tiles_a_ms"])

    def test_no_more_tiles_pass_than_memory_has_bytes_for(self):
        made = self.chain([7, 7, 7])
        for slow, size in (("dram_rate", made.dram_bytes), ("l2_rate", made.l2_bytes)):
            machine = dataclasses.replace(A100, **{slow: 1000.0})
            found = timing.predict(made, machine)
            self.assertAlmostEqual(found.run, found.way + size / 1000 + machine.l2_us)

    def test_what_a_stage_takes_is_of_a_profile_that_has_it(self):
        made = self.chain([6, 6, 6])
        made.stages[1].parts = 2
        known = profiles.Profile({}, {(("l0", "l0.a"), 128): profiles.Tiles(4.0, 5.0), (("l1", "l1.a"), 128): profiles.Tiles(4.0)})
        times = timing.of_stages(made, A100, known)
        self.assertEqual(times[0], timing.Times(4.0, 5.0))
        self.assertEqual(times[1], timing.Times(2.0, 2.0))  # A work-group makes half of the columns.
        self.assertEqual(times[2], timing.estimated(made, made.stages[2], A100))

    def test_an_estimate_has_products_bytes_and_latencies(self):
        made = self.chain([1, 1, 1])
        clocks = 1410.0
        near, far = 200 / clocks, 154 / 2 / clocks
        tile = 2 * 128 * 256 * 256 / (2 * 1024 * 0.997) / clocks  # Products of a unit.
        found = timing.estimated(made, made.stages[1], A100)
        self.assertAlmostEqual(found.tile, tile, places=6)
        # A word that is looked at, the first step of K and the bias from memory, conversion and bias, 128 x 256 x 2 bytes, a
        # store on its way.
        way = 2.5 * (near + far) + 128 * 64 * 2 / 64 / clocks + (near + far + 217 / clocks)
        simt = 128 * 256 * (1 / 64 + 2 / 256) / clocks
        self.assertAlmostEqual(found.first, tile + way + simt + 128 * 256 * 2 / 32 / clocks, places=5)

    def test_a_final_stage_waits_for_four_sums_after_the_other(self):
        made = self.backward_of_a_product()
        stages = {one.name: one for one in made.stages}
        latency = (200 + 154 / 2) / 1410.0
        # 256 sums of each column, by four wavefronts of 20 work-groups: 80, 16 at once, of two pieces of 128.
        stages["d.q.b.fan-in"].ctas = 20
        self.assertAlmostEqual(timing.estimated(made, stages["d.q.b.final"], A100).first, (3 + 5) * latency, places=6)
        # Of a product one for each replica of two parts; pieces of 512 of its 65,536, by four wavefronts.
        stages["d.q.w.fan-in"].ctas = 40
        found = timing.estimated(made, stages["d.q.w.final"], A100)
        self.assertAlmostEqual(found.first, (3 + 5) * latency, places=6)
        self.assertGreaterEqual(found.tile * made.tiles, 5 * latency * (65536 / 512 / 4 - 1) - 1e-6)

    def test_profiles_with_a_first_tile_that_is_no_time_are_refused(self):
        net = Net()
        net.mlp("x", "l", [256, 256])
        flow, file = flows.Flow(net.graph), self.path / "p.json"
        about = {"graph": flow.hash(), "machine": A100.name, "operators": {}}
        for first in (-1, "x"):
            file.write_text(json.dumps({**about, "stages": [
                {"operators": ["l1"], "tile_rows": 128, "tile_us": 1, "first_us": first}]}))
            with self.assertRaisesRegex(profiles.graphs.GraphError, "first_us not below 0"):
                profiles.read([file], flow, A100)

    def test_pinned_bytes_are_whole_ways(self):
        # 7 of 10 ways of 40 MiB, not 75 %; never all ways.
        self.assertEqual(A100.pinned_bytes, 7 * (40 << 20) // 10)
        self.assertEqual(machines.load("a100", sets=["l2.persist_percent=100"]).pinned_bytes, 9 * (40 << 20) // 10)
        self.assertEqual(machines.load("a100", sets=["l2.persist_percent=9"]).pinned_bytes, 0)


if __name__ == "__main__":
    unittest.main()
