#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Host speed of the main job (T-NLG FC-2, TP = 8, eight GPUs, t3-mca) with RTL and with models: wall seconds and memory, the median
# of three runs against the bars of 90 s, 60 s and 4 GiB.
#
#   bash tests/benchmark.sh [BUILD_DIR [WORKLOAD [RUNS]]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-${STRETTO_BUILD_DIR:-build}}
workload=${2:-t3/tnlg-fc2-tp8}
runs=${3:-3}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

measure() {
  local title=$1 bar=$2
  shift 2
  for run in $(seq "$runs"); do
    "$build/stretto" run "$workload" --mode t3-mca --out "$scratch/$title.$run" "$@" >"$scratch/log" 2>&1 ||
      { tail -n 5 "$scratch/log"; exit 1; }
  done
  python3 - "$scratch/$title" "$runs" "$title" "$bar" <<'PYTHON'
import json, statistics, sys
folder, runs, title, bar = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
hosts = [json.load(open(f"{folder}.{run}/stats.json"))["host"] for run in range(1, runs + 1)]
wall = statistics.median(host["wall_s"] for host in hosts)
cpu = statistics.median(host["cpu_s"] for host in hosts)
memory = max(host["peak_rss_mib"] for host in hosts)
verdict = "within" if wall <= bar and memory <= 4096 else "ABOVE"
print(f"{title:9} median {wall:7.2f} s wall, {cpu:7.2f} s cpu, {memory:6.0f} MiB; {verdict} the bar of {bar:.0f} s and 4096 MiB")
PYTHON
}

printf '%s --mode t3-mca, %s cores, load %s\n' "$workload" "$(nproc)" "$(cut -d' ' -f1 /proc/loadavg)"
measure rtl 90
measure model 60 --impl all=model
