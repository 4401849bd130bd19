#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Host speed. On an idle machine:
#
#   bash tests/benchmark.sh [job] [BUILD_DIR [WORKLOAD [RUNS]]]   the main job (T-NLG FC-2, TP = 8, eight GPUs, t3-mca) with RTL and with
#                                                                 models: wall seconds and memory, the median of three runs against
#                                                                 the bars of 75 s, 50 s and 4 GiB, and the share that RTL takes
#   bash tests/benchmark.sh iss [BUILD_DIR [RUNS]]                the instruction-set simulator: a CoreMark-like loop with loads, stores,
#                                                                 L1s and counters in the running platform, bar 200 MIPS
#   bash tests/benchmark.sh sampled [BUILD_DIR [RUNS]]            sampled work-groups: 200 iterations of bert-small, small kernels launched by the
#                                                                 host, RTL scheduler: CPU seconds a machine second, bar 6; measures first
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
what=job
case ${1:-} in
  job | iss | sampled) what=$1; shift ;;
esac
build=${1:-${STRETTO_BUILD_DIR:-build}}
[ -x "$build/stretto" ] || { echo "benchmark.sh: nothing is built in $build" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Runs stretto $runs times into $scratch/$1.<run>.
repeat() {
  local title=$1
  shift
  for run in $(seq "$runs"); do
    "$build/stretto" run "$@" --out "$scratch/$title.$run" >"$scratch/log" 2>&1 || { tail -n 5 "$scratch/log"; exit 1; }
  done
}

measure_job() {
  local title=$1 bar=$2
  shift 2
  repeat "$title" "$workload" --mode t3-mca "$@"
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

measure_sampled() {
  local small=(graph/bert-small --mode launched --set gpus=1 --set gpu.tile_values=false)
  "$build/stretto" characterise "${small[@]}" --no-check --impl all=model --jobs 2 --bodies "$scratch/bodies.txt" \
    --out "$scratch/measured" >"$scratch/log" 2>&1 || { tail -n 5 "$scratch/log"; exit 1; }
  repeat sampled "${small[@]}" --set graph.iterations=200 --set gpu.executor=sampled --set sampled.bodies="$scratch/bodies.txt" \
    --set sim.threads=1
  python3 - "$scratch/sampled" "$runs" <<'PYTHON'
import json, statistics, sys
folder, runs = sys.argv[1], int(sys.argv[2])
results = [json.load(open(f"{folder}.{run}/stats.json")) for run in range(1, runs + 1)]
machine_s = 1e-9 * results[0]["time_ns"]["total"]
bodies = sum(value for path, value in results[0]["statistics"].items() if path.endswith("sampled.bodies"))
cpu = statistics.median(result["host"]["cpu_s"] for result in results)
memory = max(result["host"]["peak_rss_mib"] for result in results)
verdict = "within" if cpu <= 6 * machine_s else "ABOVE"
print(f"sampled: {1e3 * machine_s:.1f} ms of the machine, {bodies} work-groups: median {cpu:.2f} s cpu, {cpu / machine_s:.1f} s a machine second, "
      f"{memory:.0f} MiB; {verdict} the bar of 6 s")
PYTHON
}

measure_iss() {
  repeat iss --firmware "$build/sw/firmware/coremark_like.elf"
  python3 - "$scratch/iss" "$runs" <<'PYTHON'
import json, statistics, sys
folder, runs = sys.argv[1], int(sys.argv[2])
results = [json.load(open(f"{folder}.{run}/stats.json")) for run in range(1, runs + 1)]
instructions = results[0]["cp"]["instructions"]
wall, cpu = (statistics.median(1e-6 * instructions / result["host"][key] for result in results) for key in ("wall_s", "cpu_s"))
verdict = "within" if wall >= 200 else "BELOW"
print(f"coremark_like: {instructions} instructions, median {wall:.0f} MIPS ({cpu:.0f} by CPU time); {verdict} the bar of 200 MIPS")
PYTHON
}

cores="$(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"
if [ "$what" = iss ]; then
  runs=${2:-3}
  echo "instruction-set simulator, $cores"
  measure_iss
elif [ "$what" = sampled ]; then
  runs=${2:-3}
  echo "sampled work-groups, $cores"
  measure_sampled
else
  workload=${2:-t3/tnlg-fc2-tp8}
  runs=${3:-3}
  echo "$workload --mode t3-mca, $cores"
  measure_job rtl 75
  measure_job model 50 --impl all=model
  python3 - "$scratch" "$runs" <<'PYTHON'
import json, statistics, sys
cpu = {title: statistics.median(json.load(open(f"{sys.argv[1]}/{title}.{run}/stats.json"))["host"]["cpu_s"]
                                for run in range(1, int(sys.argv[2]) + 1)) for title in ("rtl", "model")}
share = 1 - cpu["model"] / cpu["rtl"]
print(f"RTL costs {100 * share:.0f} % of the CPU time beyond its models; {'within' if share <= 1 / 3 else 'ABOVE'} a third")
PYTHON
fi
