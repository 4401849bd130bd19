#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The demonstration: installs, builds, runs the main job in its three modes and prints them side by side.
# Of a workload that is not T3's it runs all modes.
#
#   bash platform/demo.sh [WORKLOAD]      default: t3/tnlg-fc2-tp8 (8 GPUs); quick: t3/small, compnet/jacobi
#
# Results: results/demo/<mode>/ (stats.json, stats.csv, timeline.json for Perfetto). Run it again at will.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. platform/scripts/steps.sh
workload=${1:-t3/tnlg-fc2-tp8}
build=${STRETTO_BUILD_DIR:-build}
out=results/demo
modes=(sequential t3 t3-mca)
file=platform/workloads/$workload.yaml
if [ -f "$file" ] && ! grep -q '^modes:.*sequential' "$file"; then
  IFS=', ' read -r -a modes < <(sed -n 's/^modes: \[\(.*\)\]$/\1/p' "$file")
fi
steps_total=$((4 + ${#modes[@]}))

step "packages" bash platform/scripts/install.sh
step "configure" cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release
step "build" cmake --build "$build" -j "$(nproc)" --target stretto stretto_sw
directories=()
for mode in "${modes[@]}"; do
  directories+=("$out/$mode")
  step "run $workload, mode $mode" \
    "$build/stretto" run "$workload" --mode "$mode" --out "$out/$mode" --timeline --progress
done
step "compare" "$build/stretto" compare "${directories[@]}"
