#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Equal digests whatever way a run is made: RTL, models, lockstep; timeline on and off; no sleeping; GPUs constructed in
# falling order; one thread and several; shorter windows; other builds. A pipeline leaves the same results at any depth of
# its queues.
#
#   bash tests/determinism.sh [quick|full|builds] [BUILD_DIR [OTHER_BUILD_DIR...]]
#
# quick:  t3/small, graph/pipeline and compnet/jacobi (4 servers) on BUILD_DIR, and on the other builds given (clang,
#         Debug); without any, on BUILD_DIR/debug if it is there.
#         Builds with assertions (Debug, and STRETTO_ASSERTIONS) run a collective, a graph, a gather, a card and a switch
#         besides, with a checker on every socket.
# full:   also a ragged real-data case, the main job and T-NLG OP at TP 16; Debug builds only t3/small.
# builds: full, after building with gcc, clang and as Debug (build/, build-clang/, build-debug/).
set -uo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
depth=${1:-quick}
build=${2:-${STRETTO_BUILD_DIR:-build}}
shift $(($# > 2 ? 2 : $#))
others=("$@")
if [ ${#others[@]} -eq 0 ] && [ -x "$build/debug/stretto" ]; then others=("$build/debug"); fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
runs=0
export STRETTO_SW=${STRETTO_SW:-$build/sw}  # The same firmware and kernels for every build.

# digest EXECUTABLE ARGUMENTS...: prints the digest of a run.
digest() { field digest "$@"; }
# results EXECUTABLE ARGUMENTS...: the hash of what a graph has left in memory.
results() { field job.results_sha256 "$@"; }
# field NAME EXECUTABLE ARGUMENTS...: of stats.json.
field() {
  local name=$1 executable=$2
  shift 2
  if ! "$executable" run "$@" --out "$scratch/out" >"$scratch/log" 2>&1; then
    printf 'run failed: %s run %s\n' "$executable" "$*" >&2
    tail -n 3 "$scratch/log" >&2
    return 1
  fi
  python3 - "$scratch/out/stats.json" "$name" <<'END'
import functools, json, sys
print(functools.reduce(dict.__getitem__, sys.argv[2].split("."), json.load(open(sys.argv[1]))))
END
}

# is_debug DIR
is_debug() { grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=Debug' "$1/CMakeCache.txt" 2>/dev/null; }
# has_assertions DIR: and protocol checkers.
has_assertions() { is_debug "$1" || grep -q '^STRETTO_ASSERTIONS:BOOL=ON' "$1/CMakeCache.txt" 2>/dev/null; }

# every_socket_is_checked: of the last run, in a build with protocol checkers (models/common/tlm_checker.h).
every_socket_is_checked() {
  python3 - "$scratch/out/stats.json" <<'END'
import json, sys
tlm = {k[4:]: v for k, v in json.load(open(sys.argv[1]))["statistics"].items() if k.startswith("tlm.")}
ok = tlm.get("checked", 0) > 0 and tlm["checked"] == tlm["sockets"] and tlm["transactions"] > tlm["checked"]
print("  %-32s %s" % ("TLM protocol checkers", "on %(checked)d of %(sockets)d sockets, %(transactions)d transactions" % tlm if tlm else "ABSENT"))
sys.exit(not ok)
END
}

# compare WORKLOAD MODE [ARGUMENTS...]: every way to run it gives the digest of RTL on $build.
compare() {
  local base=("$1" --mode "$2" "${@:3}") reference other
  reference=$(digest "$build/stretto" "${base[@]}") || { failed=1; return; }
  runs=$((runs + 1))
  printf '%s\n  %-32s %s\n' "$1" "rtl" "$reference"
  if has_assertions "$build"; then every_socket_is_checked || failed=1; fi
  one() {
    local title=$1 executable=$2 value
    shift 2
    runs=$((runs + 1))
    value=$(digest "$executable" "${base[@]}" "$@") || { failed=1; return; }
    if [ "$value" = "$reference" ]; then
      printf '  %-32s equal\n' "$title"
    else
      printf '  %-32s DIFFERS %s\n' "$title" "$value"
      failed=1
    fi
  }
  one "model" "$build/stretto" --impl all=model
  one "lockstep" "$build/stretto" --impl all=lockstep
  one "timeline on" "$build/stretto" --timeline
  one "no sleeping" "$build/stretto" --set sim.sleep=false
  one "GPUs in falling order" "$build/stretto" --impl all=model --set sim.reverse_elaboration=true
  one "one thread" "$build/stretto" --impl all=model --set sim.threads=1
  one "three threads" "$build/stretto" --impl all=model --set sim.threads=3
  one "shorter windows" "$build/stretto" --impl all=model --set sim.window_ns=50
  for other in ${others[@]+"${others[@]}"}; do
    if is_debug "$other" && [[ $1 = t3/* && $1 != t3/small ]]; then continue; fi
    one "$(basename "$other")" "$other/stretto" --impl all=model
    if has_assertions "$other"; then every_socket_is_checked || failed=1; fi
  done
}

# with_assertions ARGUMENTS...: a run on each build with assertions has a protocol checker on every socket, and the
# digest of $build.
with_assertions() {
  local reference value other
  if has_assertions "$build"; then
    printf '%s\n' "$*"
    reference=$(digest "$build/stretto" "$@" --impl all=model) && every_socket_is_checked || failed=1
    runs=$((runs + 1))
  fi
  for other in ${others[@]+"${others[@]}"}; do
    has_assertions "$other" || continue
    reference=$(digest "$build/stretto" "$@" --impl all=model) || { failed=1; return; }
    value=$(digest "$other/stretto" "$@" --impl all=model) || { failed=1; return; }
    runs=$((runs + 2))
    printf '%s\n' "$*"
    if [ "$value" = "$reference" ]; then
      printf '  %-32s equal\n' "$(basename "$other")"
    else
      printf '  %-32s DIFFERS %s from %s\n' "$(basename "$other")" "$value" "$reference"
      failed=1
    fi
    every_socket_is_checked || failed=1
  done
}

# compare_depths: a pipeline whose queues hold 1 to 4 tiles for each work-group leaves what it leaves with 2.
compare_depths() {
  local reference value tiles
  reference=$(results "$build/stretto" graph/pipeline --mode kitsune --impl all=rtl) || { failed=1; return; }
  runs=$((runs + 1))
  printf 'graph/pipeline, results\n  %-32s %s\n' "depth 2, rtl" "$reference"
  for tiles in 1 2 3 4; do
    sed "s/\(^  - {stages: {.*}\)}.*/\1, depth: $tiles}/" sw/compiler/graphs/pipeline.yaml >"$scratch/pipeline.yaml"
    grep -q "depth: $tiles}" "$scratch/pipeline.yaml" || { echo "no depth in pipeline.yaml" >&2; failed=1; }
    /usr/bin/python3 sw/compiler/compile.py "$scratch/pipeline.yaml" -o "$scratch/pipeline" || failed=1
    printf 'machine: a100-nvswitch\nset: {gpus: 1}\nmodes: [kitsune]\ngraph: {plan: %s, iterations: 2}\n' \
      "$scratch/pipeline" >"$scratch/workload.yaml"
    value=$(results "$build/stretto" "$scratch/workload.yaml" --mode kitsune --impl all=model) || { failed=1; return; }
    runs=$((runs + 1))
    if [ "$value" = "$reference" ]; then
      printf '  %-32s equal\n' "depth $tiles"
    else
      printf '  %-32s DIFFERS %s\n' "depth $tiles" "$value"
      failed=1
    fi
  done
}

if [ "$depth" = builds ]; then
  for preset in release clang debug; do
    cmake --preset "$preset" >"$scratch/log" && cmake --build --preset "$preset" --target stretto stretto_sw >>"$scratch/log" || {
      tail -n 20 "$scratch/log"
      exit 1
    }
  done
  build=build
  STRETTO_SW=build/sw
  others=(build-clang build-debug)
  depth=full
fi
for folder in "$build" "${others[@]}"; do
  [ -x "$folder/stretto" ] || { echo "determinism.sh: nothing is built in $folder" >&2; exit 2; }
done
compare t3/small t3-mca
compare graph/pipeline kitsune --set gpus=2
few=(--set jacobi.iterations=6)
if [ "$depth" = full ]; then few=(); fi
compare compnet/jacobi compnet ${few[@]+"${few[@]}"}  # GPUs that run ahead of switches and NICs.
compare_depths
# What else a machine has: copy kernels, a loop kernel with request ring, gates, a card, a switch.
few=(--set gpus=3 --set gpu.cus=8 --set collective.counts=1,10007 --set collective.iterations=1)
with_assertions collectives/all_reduce --mode mmio "${few[@]}"
with_assertions graph/mlp --mode loop --set gpus=2
with_assertions t3/gather-small --mode t3-agc
with_assertions gpu-driven/p2p --machine v100-pcie-fpga --mode g-drv-h --set gpus=2 --set point_to_point.min_bytes=4096 \
  --set point_to_point.max_bytes=16384 --set point_to_point.messages=8 --set point_to_point.rounds=1
with_assertions collectives/all_to_all --machine a100-nvswitch --mode dma "${few[@]}"
if [ "$depth" = full ]; then
  compare t3/ragged-c t3-mca
  compare t3/tnlg-fc2-tp8 t3-mca
  compare t3/tnlg-op-tp16 t3-mca
fi
if [ "$failed" -eq 0 ]; then printf 'all %d digests equal those of their workload\n' "$runs"; fi
exit "$failed"
