# SPDX-License-Identifier: Apache-2.0
"""Does coverage.py say what is not met, and fail when it must? Data as Verilator writes it, made up here."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def point(file, page, line, comment, count):
    fields = {"f": file, "l": line, "n": 1, "page": page, "o": comment, "h": "TOP.mca"}
    return "C '" + "".join(f"\x01{key}\x02{value}" for key, value in fields.items()) + f"' {count}\n"


class CoverageTest(unittest.TestCase):
    def judge(self, points, exclusions="", log="coverage mca          7  R1: a grant\n"):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "a.dat").write_text("# SystemC::Coverage-3\n" + "".join(points))
            (folder / "a.log").write_text(log)
            (folder / "exclusions.txt").write_text(exclusions)
            run = subprocess.run([sys.executable, HERE / "coverage.py", "--exclusions", folder / "exclusions.txt", folder, "mca"],
                                 capture_output=True, text=True)
            return run.returncode, run.stdout + run.stderr

    LINES = [point("rtl/mca/mca.sv", "v_line/mca", line, "block", 3) for line in range(1, 20)]
    TOGGLES = [point("rtl/mca/mca.sv", "v_toggle/mca", 5, f"limit[{bit}]", 1) for bit in range(19)]
    GOOD = LINES + TOGGLES
    UNMET = point("rtl/mca/mca.sv", "v_toggle/mca", 5, "drains_q[47]", 0)

    def test_all_met_passes(self):
        status, text = self.judge(self.GOOD)
        self.assertEqual(status, 0, text)
        self.assertIn("100.00 %", text)

    def test_nineteen_of_twenty_is_enough_and_eighteen_are_not(self):
        status, text = self.judge(self.GOOD + [self.UNMET])
        self.assertEqual(status, 0, text)
        self.assertIn("not met: rtl/mca/mca.sv:5 drains_q[47]", text)
        status, text = self.judge(self.LINES + self.TOGGLES[1:] + [self.UNMET])
        self.assertEqual(status, 1)
        self.assertIn("mca: toggle coverage 94.74 % is below 95 %", text)

    def test_a_point_is_met_if_any_instance_or_test_met_it(self):
        met = point("rtl/mca/mca.sv", "v_toggle/mca", 5, "drains_q[47]", 1)
        _, text = self.judge(self.GOOD + [self.UNMET, met])
        self.assertNotIn("not met", text)

    def test_an_exclusion_needs_a_reason_and_something_to_exclude(self):
        exclusion = "rtl/mca/mca.sv toggle drains_q\\[4[0-7]\\]"
        status, text = self.judge(self.GOOD + [self.UNMET], exclusion + "  # a 48-bit count\n")
        self.assertEqual(status, 0, text)
        self.assertIn("1 excluded", text)
        status, text = self.judge(self.GOOD + [self.UNMET], exclusion + "\n")
        self.assertNotEqual(status, 0)
        status, text = self.judge(self.GOOD, exclusion + "  # a 48-bit count\n")
        self.assertEqual(status, 1)
        self.assertIn("exclusions.txt:1 excludes nothing", text)

    def test_no_data_no_bins_and_an_empty_bin_fail(self):
        for points, log, what in ((self.TOGGLES, "coverage mca          7  R1: a grant\n", "no line data"),
                                  (self.GOOD, "", "no random test says what it met"),
                                  (self.GOOD, "coverage mca          0  R1: a grant\n", "nothing met the bin 'R1: a grant'")):
            status, text = self.judge(points, log=log)
            self.assertEqual(status, 1)
            self.assertIn(what, text)


if __name__ == "__main__":
    unittest.main()
