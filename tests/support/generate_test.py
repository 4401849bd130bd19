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

    def generate_file(self, text):
        result = self.generate(text.replace("rtl: true", "rtl: true\nregister_file: true"))
        self.assertEqual(result.returncode, 0, result.stderr)
        return ((self.root / "rtl/demo/demo_regs.sv").read_text(), (self.root / "sw/include/regs/demo_file.h").read_text())

    def test_a_register_file_stores_decodes_and_resets_what_is_read_and_written(self):
        verilog, cpp = self.generate_file(GOOD)
        self.assertIn("control_o.policy <= reg_wdata_i[3:0];", verilog)
        self.assertIn("control_o.policy <= 4'd1;", verilog)
        self.assertIn("ControlOffset: reg_rdata_o <= {60'b0, control_o.policy};", verilog)
        self.assertIn("output logic [255:0] limit_o", verilog)
        self.assertIn("uint8_t policy = 1;", cpp)
        self.assertIn("case Name::control: control = Control::from(data); break;", cpp)
        self.assertIn("case Name::limit: limit[place.index] = data; break;", cpp)

    def test_a_register_of_the_block_is_asked_for_and_a_write_of_it_is_told(self):
        verilog, cpp = self.generate_file(GOOD.replace("access: rw, description", "access: w1c, description"))
        self.assertIn("output logic limit_we_o", verilog)
        self.assertIn("input  logic [63:0] limit_i,  // Of the element at address_o.", verilog)
        self.assertIn("uint64_t limit = 0;", cpp)
        self.assertNotIn("case Name::limit: limit", cpp)

    def test_a_parameter_bounds_what_is_built(self):
        verilog, _ = self.generate_file(GOOD.replace("count: 4", "count: 4, parameter: Limits")
                                            .replace("{name: policy", "{name: policy, parameter: PolicyWidth"))
        self.assertIn("parameter int unsigned Limits = 4\n", verilog)
        self.assertIn("32'(reg_addr_i[4:3]) < Limits", verilog)
        self.assertIn("control_o.policy <= 4'(reg_wdata_i[0+:PolicyWidth]);", verilog)

    def test_a_register_file_refuses_what_it_cannot_hold(self):
        file = GOOD.replace("rtl: true", "rtl: true\nregister_file: true")
        for old, new, words in (("offset: 0x40", "offset: 0x48", ("limit", "multiple of 0x20")),
                                ("count: 4", "storage: here, count: 4", ("limit", "file, block")),
                                ("policy, bits", "policy, access: ro, bits", ("control", "all fields are rw")),
                                ("count: 4", "parameter: limits, count: 4", ("limit", "CamelCase")),
                                ("rtl: true", "rtl: false", ("register_file", "RTL blocks"))):
            result = self.generate(file.replace(old, new))
            self.assertEqual(result.returncode, 2, new)
            for word in words:
                self.assertIn(word, result.stderr)


if __name__ == "__main__":
    unittest.main()
