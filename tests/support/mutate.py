#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the source that a row `name file: text => replacement` of MUTANTS changes: mutate.py MUTANTS NAME SOURCE CHANGED."""
import os
import sys

mutants, name, source, changed = sys.argv[1:]
rows = [line for line in open(mutants) if line.startswith(name + " ")]
text, replacement = rows[0].split(": ", 1)[1].rstrip("\n").split(" =>", 1)
before = open(source).read()
if before.count(text) != 1:
    sys.exit(f"{mutants}: {name}: its text is {before.count(text)} times in {source}")
os.makedirs(os.path.dirname(changed), exist_ok=True)
open(changed, "w").write(before.replace(text, replacement.strip()))
