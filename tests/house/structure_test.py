#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Question: does structure.py notice what it is there for? Each test makes a small tree with one fault."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import structure  # noqa: E402


class Structure(unittest.TestCase):
    def errors_of(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, included in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(included if isinstance(included, str) else
                                "".join(f'#include "{one}"\n' for one in included))
            return structure.check(root)

    def expect(self, files, words):
        errors = self.errors_of(files)
        self.assertTrue(any(words in error for error in errors), errors)

    def test_a_sound_tree_passes(self):
        self.assertEqual(self.errors_of({"platform/cli/a.cpp": ["platform/base/b.h"], "platform/base/b.h": [],
                                         "models/gpu/c.h": ["sw/include/d.h"], "sw/include/d.h": []}), [])

    def test_an_empty_tree_is_an_error(self):
        self.expect({}, "no sources")

    def test_a_cycle_of_headers(self):
        self.expect({"models/gpu/a.h": ["models/gpu/b.h"], "models/gpu/b.h": ["models/gpu/a.h"]}, "include cycle")

    def test_a_cycle_of_folders(self):
        self.expect({"models/gpu/a.h": ["models/hbm/b.h"], "models/gpu/c.h": [], "models/hbm/b.h": [],
                     "models/hbm/d.h": ["models/gpu/c.h"]}, "folders include each other")

    def test_an_include_upward(self):
        self.expect({"platform/base/a.h": ["platform/cli/b.h"], "platform/cli/b.h": []}, "stands above")

    def test_a_room_beside(self):
        self.expect({"platform/kinds/a/a.h": ["platform/machine/b.h"], "platform/machine/b.h": []}, "stands beside")

    def test_a_kind_that_sees_another(self):
        self.expect({"platform/kinds/a/a.h": ["platform/kinds/b/b.h"], "platform/kinds/b/b.h": []}, "do not see each other")

    def test_an_unknown_room(self):
        self.expect({"platform/attic/a.h": ["platform/base/b.h"], "platform/base/b.h": []}, "is no room")

    def test_a_model_that_sees_the_platform(self):
        self.expect({"models/gpu/a.h": ["platform/base/b.h"], "platform/base/b.h": []}, "a model includes only")

    def test_software_that_sees_a_model(self):
        self.expect({"sw/apps/a.h": ["models/gpu/b.h"], "models/gpu/b.h": []}, "runs on the machine")

    def test_two_types_of_one_name(self):
        one = "namespace a {\nstruct B final : C {\n  int x;\n};\n}  // namespace a\n"
        for other in ("class B {", "class B final\n    : public C {", "class B final : public C,\n  public D {",
                      "enum class B : int { c };", "template <class T>\nstruct B {"):
            with self.subTest(other):
                self.expect({"platform/base/a.h": one,
                             "platform/cli/b.cpp": one.replace("struct B final : C {", other)},
                            "a::B is defined in platform/base/a.h and platform/cli/b.cpp")

    def test_types_of_other_namespaces_and_declarations(self):
        one = "namespace a {\nstruct B {\n};\n}  // namespace a\n"
        self.assertEqual(self.errors_of({
            "models/gpu/a.h": one, "models/gpu/b.h": one.replace("namespace a", "namespace c"),
            "models/gpu/c.cpp": one.replace("namespace a", "namespace"),
            "models/gpu/d.h": "namespace a {\nstruct B;\n}  // namespace a\n"}), [])

    def test_calls_in_a_circle(self):
        self.assertEqual(structure.circles({"a.o": {"b.o"}, "b.o": {"a.o"}, "c.o": {"a.o"}}), [["a.o", "b.o"]])


if __name__ == "__main__":
    unittest.main()
