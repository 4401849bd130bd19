#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Question: have tensors of a plan places that nobody else writes while they are needed, and machines the platform's rates?"""

import itertools
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "tests/support"))

from nets import A100, ROOT, Net, Scratch  # noqa: E402
from front import autodiff, flow as flows, graph as graphs, load  # noqa: E402
from planning import alloc, machine as machines, modes  # noqa: E402


class Memory(Scratch):
    def test_places_that_live_at_the_same_time_do_not_overlap(self):
        for text in ("mgn:", "nerf:", "llama:"):
            graph = autodiff.backward(load.load(text))
            flow = flows.Flow(graph)
            steps = [[number] for number in range(len(flow.ops))]
            places, total, forever = alloc.places(flow, steps)
            self.assertLess(total, 0.75 * forever)
            for (one, (at, first, last)), (other, (to, begin, end)) in itertools.combinations(places.items(), 2):
                if first <= end and begin <= last:
                    self.assertTrue(at + flow.tensor(one).bytes <= to or to + flow.tensor(other).bytes <= at,
                                    (one, other))

    def test_nobody_reads_what_another_has_overwritten(self):
        """Walks the steps of a plan with its places alone: every read finds its own tensor, in a group, too."""
        for text in ("nerf:", "mgn:", "dlrm:", "llama:"):
            for mode in modes.MODES:
                plan = self.plan(autodiff.backward(load.load(text)), mode)
                tensors = {one["name"]: one for one in plan["tensors"]}
                operators = {one["output"]: one for one in plan["operators"]}
                memory = {}  # First byte -> (end, tensor).

                def write(name, memory=memory, tensors=tensors):
                    begin, end = tensors[name]["offset"], tensors[name]["offset"] + tensors[name]["bytes"]
                    for at in [at for at, (last, _) in memory.items() if at < end and begin < last]:
                        del memory[at]
                    memory[begin] = (end, name)
                for one in plan["tensors"]:
                    if one["kind"] in graphs.GIVEN:
                        write(one["name"])
                for step in plan["steps"]:
                    reads = {tensors[name].get("same_bytes_as", name) for made in step["operators"]
                             for name in operators[made]["inputs"]} - set(step["operators"])
                    for name in [name for name in step["operators"] if "offset" in tensors[name]]:
                        write(name)
                    for name in reads:  # Still there when the step's results are written.
                        self.assertEqual(memory[tensors[name]["offset"]][1], name, (text, mode, step["operators"]))
                for name in tensors:
                    if tensors[name]["kind"] == "gradient":
                        self.assertEqual(memory[tensors[name]["offset"]][1], name)

    def test_a_value_lives_until_its_last_reader(self):
        net = Net(rows=64)
        for place, x in enumerate(["x", "t0", "t1", "t2", "t3"]):
            net.map("Relu", f"t{place}", x)
        places, total, _ = alloc.places(net.flow(), [[number] for number in range(5)])
        self.assertEqual([places[f"t{at}"][0] for at in range(5)], [32768, 65536, 32768, 65536, 32768])
        self.assertEqual(total, 3 * 32768)

    def test_a_machine_has_the_platforms_rates(self):
        # NVIDIA's white paper: 312 TFLOP/s (997 of 1000 sustained), 78 TFLOP/s FP16, 1555 GB/s, 40 MB.
        self.assertAlmostEqual(A100.tensor_flops / 1e6, 312 * 0.997, delta=1)
        self.assertAlmostEqual(A100.simt_flops / 1e6, 39, delta=0.1)  # Multiply-adds.
        self.assertAlmostEqual(A100.dram_rate / 1e3, 1555, delta=1)
        self.assertEqual((A100.units, A100.l2_bytes), (108, 40 << 20))
        self.assertEqual(machines.load("t3-2x-cu").units, 160)


    def test_nothing_pinned_matters_to_pipelines_alone(self):
        machine = machines.load("a100", sets=["l2.persist_percent=0"])
        self.assertEqual(machine.pinned_bytes, 0)
        for mode in ("bsp", "vertical"):
            modes.Planner(load.load("nerf:rows=64"), mode, machine).plan()

    def test_defaults_are_the_platforms(self):
        stretto = pathlib.Path(os.environ.get("STRETTO_BUILD_DIR", ROOT / "build")) / "stretto"
        if not stretto.is_file():
            self.skipTest(f"{stretto} is not built")
        listed = subprocess.run([stretto, "list", "parameters"], capture_output=True, text=True, check=True).stdout
        defaults = dict(re.findall(r"^(\S+) +integer +default (\d+)", listed, re.M))
        defaults.update(re.findall(r"^(\S+) +choice +default (\d+)", listed, re.M))
        for key, value in machines.DEFAULTS.items():
            self.assertEqual(defaults.get(key), str(value), key)


if __name__ == "__main__":
    unittest.main()
