#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bash tests/reproduction/table.sh build/stretto t3|gpu-driven ID-PREFIX TARGETS
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
