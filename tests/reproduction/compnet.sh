#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bash tests/reproduction/compnet.sh build/stretto
# A result of ComP-Net from its simulations: both places of the dGPU's queue; a second call simulates nothing.
set -euo pipefail
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
reproduce() {
  "$1" reproduce compnet --figure CN-R31 --impl all=model --out "$out/results" >"$out/log" 2>&1 ||
    { tail -n 20 "$out/log"; exit 1; }
}
reproduce "$1"
grep -q ' 4 of 4 simulations to run' "$out/log"
# Small gets take longest from a queue in GPU memory that threads of the host load over PCIe; large ones are as fast.
python3 - "$out/results/figures.csv" <<'PYTHON'
import csv, sys
us = {(row["design"], int(float(row["x"]))): float(row["y"])
      for row in csv.DictReader(open(sys.argv[1])) if row["figure"] == "8a"}
small, large = min(x for _, x in us), max(x for _, x in us)
print({key: us[key] for key in us if key[1] in (small, large)})
others = [us[design, small] for design in ("compnet", "apu", "dgpu-host")]
sys.exit(not (us["compnet", small] < us["dgpu-host", small] and 1.2 * max(others) < us["dgpu", small] and
              us["dgpu", large] < 1.05 * us["compnet", large]))
PYTHON
for list in energy.csv training.csv sensitivity.csv fig8a.gp; do test -s "$out/results/$list"; done
cp "$out/results/table.csv" "$out/first.csv"
reproduce "$1"
grep -q ' 0 of 4 simulations to run' "$out/log" || { grep simulations "$out/log"; exit 1; }
cmp "$out/first.csv" "$out/results/table.csv"
