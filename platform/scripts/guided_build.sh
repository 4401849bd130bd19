#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Profile-guided build of the simulator: compiles `stretto` with counters, runs a workload of each system, compiles it
# again by what was counted, and shows that figures are the same and how much faster they come. Needs gcc.
#
#   bash platform/scripts/guided_build.sh [BUILD_DIR [JOBS]]     default: build-guided, a job a core; install by cmake --install
set -euo pipefail
cd "$(dirname "$0")/../.."
case "${1:-}" in
  -h | --help) sed -n '3,7s/^# \{0,1\}//p' "$0"; exit 0 ;;
  -*) echo "guided_build.sh: unknown option '$1'; allowed: [BUILD_DIR [JOBS]], --help" >&2; exit 2 ;;
esac
build=${1:-build-guided}
jobs=${2:-$(nproc)}
case "$jobs" in '' | *[!0-9]* | 0) echo "guided_build.sh: JOBS: '$jobs' is not a positive number" >&2; exit 2 ;; esac
source platform/scripts/steps.sh
steps_total=4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What training runs: every system, RTL and reference models, kernels that wait, stream and multiply.
workloads=(
  't3/overlap --mode t3-mca'
  't3/overlap --mode t3-mca --impl all=model'
  't3/small --mode sequential'
  'graph/bert-small --mode loop'
  'graph/bert-small --mode launched'
  'graph/pipeline --mode kitsune'
  'collectives/all_reduce --mode gdma --set collective.max_bytes=262144'
  'collectives/all_reduce --mode mmio --set collective.max_bytes=65536'
  'compnet/get --mode compnet --set one_sided.max_bytes=65536'
  'tally/small --mode tally'
)

compile() {
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTRETTO_UNITY=ON -DSTRETTO_GUIDED="$1" >"$scratch/cmake.log" ||
    { cat "$scratch/cmake.log"; return 1; }
  ninja -C "$build" -j "$jobs" stretto sw/all
}

# run_all FOLDER: every workload once, its results into FOLDER/<number>.
run_all() {
  local number=0 workload
  for workload in "${workloads[@]}"; do
    number=$((number + 1))
    printf '  %d/%d %s\n' "$number" "${#workloads[@]}" "$workload"
    # shellcheck disable=SC2086  # A workload and its options.
    "$build/stretto" run $workload --out "$scratch/$1/$number" >"$scratch/log" 2>&1 || { tail -n 5 "$scratch/log"; return 1; }
  done
}

train() {
  find "$build" -name '*.gcda' -delete
  run_all counted
}

compare() {
  run_all guided
  python3 - "$scratch" "${workloads[@]}" <<'PYTHON'
import json, sys
folder, workloads = sys.argv[1], sys.argv[2:]
different = []
for number, workload in enumerate(workloads, 1):
    counted, guided = (json.load(open(f"{folder}/{kind}/{number}/stats.json")) for kind in ("counted", "guided"))
    print(f"  {workload:66} {guided['host']['cpu_s']:7.1f} s")
    for result in (counted, guided):
        del result["host"]
    if counted != guided:
        different.append(workload)
for workload in different:
    print(f"figures differ between the two builds: {workload}", file=sys.stderr)
sys.exit(1 if different else 0)
PYTHON
}

step "with counters" compile generate
step "training" train
step "by what was counted" compile use
step "same figures" compare
printf '\n%s/stretto is ready\n' "$build"
