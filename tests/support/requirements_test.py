#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Question: does tests/requirements.sh notice every way in which tests and list can disagree?"""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import requirements  # noqa: E402

TARGETS = """
mechanisms:
  - id: T3-TRK
    requirements: [{id: T3-TRK-01, sec: "1", req: a}, {id: T3-TRK-02, sec: "1", req: b}]
results: [{id: T3-R01}]
"""
TEST = 'TEST_CASE("counts; and (more)",\n          "[T3-TRK-01]") {\n'
LIST = "# ids\nT3-TRK-01  covered\nT3-TRK-02  absent  not built (topic)\n"


class Check(unittest.TestCase):
    def said(self, test=TEST, listed=LIST, other=""):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in (("tests/reproduction/targets/t3.yaml", TARGETS), ("tests/unit/a_test.cpp", test),
                               ("tests/reproduction/requirements.txt", listed), ("tests/b_test.py", other)):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = requirements.main([folder, "--check"])
            self.assertEqual(status, 1 if err.getvalue() else 0)
            return err.getvalue()

    def fires(self, words, **tree):
        said = self.said(**tree)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertIn(words, said)

    def test_agreement(self):
        self.assertEqual(self.said(), "")
        self.assertEqual(self.said(test="", other="# covers: T3-TRK-01\n"), "")

    def test_citations(self):
        self.fires("T3-TRK-03: no such requirement (of T3-TRK)", test=TEST + "// T3-TRK-03\n")
        self.fires("T3-TRX-01: no such requirement", test=TEST.replace('")', '[T3-TRX-01]")'))
        for text in ("T3-TRK-01..02", "T3-TRK-01/02", "T3-TRK-01, -02", "T3-TRK-01, 02"):
            self.fires("write each id", test=TEST + f"// {text}\n")
        self.fires("one id a comment", test="", other="# covers: T3-TRK-01 T3-TRK-02\n")
        self.fires("T3-TRK-02 is called absent", test=TEST.replace("]", "][T3-TRK-02]"))
        self.fires("T3-TRK-01 is called covered, and no test", test=TEST.replace("[T3", "[.long][T3"))
        self.fires("T3-TRK-01 is called covered, and no test", test='TEST_CASE("T3-TRK-01: in the name only") {')

    def test_list(self):
        self.fires("T3-TRK-02 is not there", listed="T3-TRK-01 covered\n")
        self.fires("T3-TRK-02 is absent without a reason", listed="T3-TRK-01 covered\nT3-TRK-02 absent\n")
        self.fires("T3-TRK-09: no such requirement", listed=LIST + "T3-TRK-09 absent what\n")
        self.fires("T3-TRK-01 is there twice", listed=LIST + "T3-TRK-01 covered\n")
        self.fires("only what is absent", listed=LIST.replace("covered", "covered well"))
        self.fires("not 'ID covered'", listed=LIST + "T3-TRK-02 maybe\n")


if __name__ == "__main__":
    unittest.main()
