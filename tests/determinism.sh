#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Equal digests whatever way a run is made: RTL, models, lockstep; timeline on and off; no sleeping; GPUs constructed in
# falling order; one thread and several; other builds.
#
#   bash tests/determinism.sh [quick|full|builds] [BUILD_DIR [OTHER_BUILD_DIR...]]
#
# quick:  t3/small on BUILD_DIR, and on the other builds given (clang, Debug); without any, on BUILD_DIR/debug if it is there.
#         Debug builds run a collective, a graph, a gather, a card and a switch besides, with a checker on every socket.
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
digest() {
  local executable=$1
  shift
  if ! "$executable" run "$@" --out "$scratch/out" >"$scratch/log" 2>&1; then
    printf 'run failed: %s run %s\n' "$executable" "$*" >&2
    tail -n 3 "$scratch/log" >&2
    return 1
  fi
  python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["digest"])' "$scratch/out/stats.json"
}

# is_debug DIR
is_debug() { grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=Debug' "$1/CMakeCache.txt" 2>/dev/null; }

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

# compare WORKLOAD: every way to run it gives the digest of RTL on $build.
compare() {
  local base=("$1" --mode t3-mca) reference other
  reference=$(digest "$build/stretto" "${base[@]}") || { failed=1; return; }
  runs=$((runs + 1))
  printf '%s\n  %-32s %s\n' "$1" "rtl" "$reference"
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
  for other in ${others[@]+"${others[@]}"}; do
    if is_debug "$other" && [ "$1" != t3/small ]; then continue; fi
    one "$(basename "$other")" "$other/stretto" --impl all=model
    if is_debug "$other"; then every_socket_is_checked || failed=1; fi
  done
}

# on_debug ARGUMENTS...: a run on each Debug build has the digest of $build, and a protocol checker on every socket.
on_debug() {
  local reference value other
  for other in ${others[@]+"${others[@]}"}; do
    is_debug "$other" || continue
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
compare t3/small
# What else a machine has: copy kernels, a loop kernel with request ring, gates, a card, a switch.
few=(--set gpus=3 --set gpu.cus=8 --set collective.counts=1,10007 --set collective.iterations=1)
on_debug collectives/all_reduce --mode mmio "${few[@]}"
on_debug graph/mlp --mode loop --set gpus=2
on_debug t3/gather-small --mode t3-agc
on_debug gpu-driven/p2p --machine v100-pcie-fpga --mode g-drv-h --set gpus=2 --set point_to_point.min_bytes=4096 \
  --set point_to_point.max_bytes=16384 --set point_to_point.messages=8 --set point_to_point.rounds=1
on_debug collectives/all_to_all --machine a100-nvswitch --mode dma "${few[@]}"
if [ "$depth" = full ]; then
  compare t3/ragged-c
  compare t3/tnlg-fc2-tp8
  compare t3/tnlg-op-tp16
fi
if [ "$failed" -eq 0 ]; then printf 'all %d digests equal those of their workload\n' "$runs"; fi
exit "$failed"
