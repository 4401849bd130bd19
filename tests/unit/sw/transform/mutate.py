#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the source that a row of mutants.txt changes: mutate.py MUTANTS NAME SOURCE CHANGED."""
import sys

mutants, name, source, changed = sys.argv[1:]
rows = [line for line in open(mutants) if line.startswith(name + " ")]
text, replacement = rows[0].split(": ", 1)[1].rstrip("\n").split(" =>", 1)
before = open(source).read()
if before.count(text) != 1:
    sys.exit(f"{mutants}: {name}: its text is {before.count(text)} times in {source}")
open(changed, "w").write(before.replace(text, replacement.strip()))
