#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bash tests/reproduction/tally.sh build/stretto
# A pair of short lists through all steps of `reproduce tally`; a second call simulates nothing.
set -euo pipefail
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
reproduce() {
  "$1" reproduce tally --inferences tiny --trainings tiny --impl all=model --out "$out/results" "${@:2}" >"$out/log" 2>&1 ||
    { tail -n 20 "$out/log"; exit 1; }
}
reproduce "$1"
grep -q '^partial reproduction: 0 of 6 inferences$' "$out/log"
# Under load the training takes nothing from an inference that Tally protects, and a system without protection does.
python3 - "$out/results/simulations.csv" <<'PYTHON'
import csv, sys
p99 = {row["simulation"]: float(row["p99_ms"]) for row in csv.DictReader(open(sys.argv[1]))}
of = lambda mode: p99[f"pairs/load-500/tiny+tiny/{mode}"] / p99["pairs/load-500/tiny/ideal"]
print({mode: of(mode) for mode in ("time-slicing", "mps", "mps-priority", "no-transformation", "tally")})
sys.exit(not (1 <= of("tally") < min(of("mps"), of("time-slicing"))))
PYTHON
grep -qE '^tiny, tiny( +[0-9]+\.[0-9]{3}, [0-9]\.[0-9]{2}){5}$' "$out/log"
grep -q '^host-40000ns,tiny,tiny,tally,' "$out/results/variants.csv"
grep -q ',tally-firmware verdict,' "$out/results/table.csv"
cp "$out/results/simulations.csv" "$out/first.csv"
reproduce "$1"
grep -qE ' 0 of [0-9]+ simulations to run' "$out/log" || { grep simulations "$out/log"; exit 1; }
cmp "$out/first.csv" "$out/results/simulations.csv"
# Tally itself is there whatever columns are asked for.
reproduce "$1" --columns tally-firmware
grep -q '^pairs/load-500/tiny+tiny/tally,' "$out/results/simulations.csv"
