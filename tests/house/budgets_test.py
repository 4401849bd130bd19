#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Question: does budgets.py notice what it is there for? Each test puts one fault into a small tree."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import budgets  # noqa: E402

KINDS = ("interference", "gathered_gemm")
PARTS = ("t3", "gpu_driven")
BLOCKS = ("mca", "tracker")
SOUND = {
    "sw/include/regs/mca.yaml": "name: policy\nenum: {round_robin: 0, compute_first_no_limit: 1, compute_exclusive: 2}",
    "rtl/mca/mca.sv": "ControlPolicyRoundRobin",
    "rtl/mca/mca_props.sv": "ControlPolicyComputeExclusive",
    "models/reference/mca_model.h": "MCA_CONTROL_POLICY_COMPUTE_FIRST_NO_LIMIT",
    "platform/kinds/registry.cpp": "InterferenceKind GatheredGemmKind",
    "platform/CMakeLists.txt": "interference_kind.cpp gathered_gemm_kind.cpp",
    **{f"platform/kinds/{name}/{name}_kind.h": f"{name}_kind" for name in KINDS},
    "platform/reproduce/registry.cpp": "t3_reproduction gpu_driven_reproduction",
    **{f"platform/reproduce/{name}/{name}_reproduction.cpp": "" for name in PARTS},
    "rtl/blocks.txt": "mca channel arbitrates\ntracker gpu counts",
    **{name: "MCA_BASE TRACKER_BASE" for name in budgets.LISTS[-1].homes[1:] + budgets.LISTS[-1].users},
}


class Budgets(unittest.TestCase):
    def errors_of(self, **changes):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**SOUND, **changes.get("files", {})}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return budgets.check(root)

    def expect(self, files, words):
        errors = self.errors_of(files=files)
        self.assertTrue(any(words in error for error in errors), errors)

    def test_a_sound_tree_passes(self):
        self.assertEqual(self.errors_of(), [])

    def test_a_policy_that_somebody_else_names(self):
        self.expect({"sw/apps/arbiter.c": "MCA_CONTROL_POLICY_COMPUTE_EXCLUSIVE"}, "names the policy compute_exclusive")

    def test_a_kind_that_somebody_else_names(self):
        self.expect({"platform/cli/cli.cpp": "InterferenceKind kind;"}, "names the kind interference_kind")

    def test_a_reproduction_that_somebody_else_names(self):
        self.expect({"platform/cli/cli.cpp": "gpu_driven_reproduction()"}, "names the reproduction gpu_driven_reproduction")

    def test_a_second_list_of_blocks(self):
        self.expect({"platform/cli/listing.cpp": '{"mca", "tracker"}'}, "names every block: a second list")

    def test_a_budget_that_is_exceeded(self):
        kind = budgets.LISTS[1]
        homes, kind.homes = kind.homes, kind.homes + ("platform/kinds/registry.cpp",)
        try:
            self.expect({}, "a kind touches 3 files, allowed 2")
        finally:
            kind.homes = homes

    def test_a_home_that_is_stale(self):
        self.expect({"platform/CMakeLists.txt": ""}, "names no kind")

    def test_a_generated_file_does_not_count(self):
        text = "// Generated from sw/include/regs/mca.yaml\ncompute_exclusive"
        self.assertEqual(self.errors_of(files={"waves/x.txt": text, "sw/include/regs/mca_regs.h": text}), [])


if __name__ == "__main__":
    unittest.main()
