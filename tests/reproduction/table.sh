#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bash tests/reproduction/table.sh build/stretto t3|gpu-driven|kitsune|tally|compnet ID-PREFIX TARGETS
set -euo pipefail
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$1" reproduce "$2" --table-only --out "$out" >"$out/log"
listed=$(grep -cE "^$3[0-9]+ " "$out/log")
claimed=$(grep -cE "^$3[0-9]+ .* (met|missed|input) *$" "$out/log" || true)
test -s "$out/table.csv" && test -s "$out/table.json"
[ "$2" != t3 ] || test -s "$out/cases.csv"
echo "$listed targets listed, $claimed claimed"
[ "$listed" -eq "$4" ] && [ "$claimed" -eq 0 ]
# It says that it is partial, to people and in data.
grep -qE '^partial reproduction: (([0-9]+) of \2 simulations have no result|no table of work-groups)' "$out/log"
python3 -c 'import json, sys; sys.exit(not json.load(open(sys.argv[1]))["partial"])' "$out/table.json"
