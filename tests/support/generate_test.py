#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Question: does sw/include/regs/generate.py refuse what is wrong in a register file, and does --check fire?
# Each bad file differs from GOOD in one place; the message must name the register and the rule.

import pathlib
import subprocess
import sys
import tempfile
import unittest

GENERATOR = pathlib.Path(__file__).resolve().parents[2] / "sw/include/regs/generate.py"
GOOD = """
block: demo
description: A block for this test.
rtl: true
registers:
  - name: control
    offset: 0x0
    access: rw
    reset: 0x1
    description: Policy.
    fields:
      - {name: policy, bits: "3:0", description: Which., enum: {first: 0, second: 1}}
  - {name: limit, offset: 0x40, count: 4, stride: 8, access: rw, description: Limit.}
"""


class GenerateTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        (self.root / "sw/include/regs").mkdir(parents=True)

    def tearDown(self):
        self.folder.cleanup()

    def generate(self, text, *options):
        (self.root / "sw/include/regs/demo.yaml").write_text(text)
        return subprocess.run([sys.executable, GENERATOR, "--root", self.root, *options],
                              capture_output=True, text=True, check=False)

    def expect_refused(self, old, new, *words):
        self.assertIn(old, GOOD)
        result = self.generate(GOOD.replace(old, new))
        self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_a_good_file_is_generated_once_and_then_up_to_date(self):
        self.assertEqual(self.generate(GOOD).returncode, 0)
        self.assertEqual(self.generate(GOOD, "--check").returncode, 0)
        header = (self.root / "sw/include/regs/demo_regs.h").read_text()
        self.assertIn("#define DEMO_CONTROL_POLICY_MASK 0xf\n", header)
        self.assertIn("#define DEMO_LIMIT_OFFSET_AT(i) (0x40 + (i) * 0x8)\n", header)
        package = (self.root / "rtl/demo/demo_regs_pkg.sv").read_text()
        self.assertIn("localparam logic [15:0] LimitOffset = 16'h40;", package)

    def test_check_reports_a_stale_file_and_the_cure(self):
        self.generate(GOOD)
        result = self.generate(GOOD.replace("0x40", "0x80"), "--check")
        self.assertEqual(result.returncode, 1)
        self.assertIn("demo_regs.h", result.stdout)
        self.assertIn("generate.py", result.stdout)

    def test_check_reports_a_missing_file(self):
        self.assertEqual(self.generate(GOOD, "--check").returncode, 1)

    def test_overlapping_registers_are_refused(self):
        self.expect_refused("offset: 0x40", "offset: 0x0", "limit", "control", "overlap")

    def test_an_unknown_key_is_refused(self):
        self.expect_refused("count: 4", "number: 4", "limit", "number", "allowed")

    def test_an_unaligned_offset_is_refused(self):
        self.expect_refused("offset: 0x40", "offset: 0x44", "limit", "multiple of 8")

    def test_a_value_that_does_not_fit_its_field_is_refused(self):
        self.expect_refused("second: 1", "second: 16", "policy.second", "0xf")

    def test_a_reset_outside_all_fields_is_refused(self):
        self.expect_refused("reset: 0x1", "reset: 0x10", "control", "outside all fields")

    def test_an_unknown_access_is_refused(self):
        self.expect_refused("access: rw\n", "access: w\n", "control", "rw, ro, wo")


if __name__ == "__main__":
    unittest.main()
