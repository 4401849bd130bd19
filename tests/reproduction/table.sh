#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bash tests/reproduction/table.sh build/stretto
set -euo pipefail
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$1" reproduce t3 --table-only --out "$out" >"$out/log"
listed=$(grep -cE '^T3-R[0-9]+ ' "$out/log")
claimed=$(grep -cE '^T3-R[0-9]+ .* met' "$out/log" || true)
test -s "$out/table.csv" && test -s "$out/table.json" && test -s "$out/cases.csv"
echo "$listed targets listed, $claimed claimed"
[ "$listed" -eq 36 ] && [ "$claimed" -eq 0 ]
