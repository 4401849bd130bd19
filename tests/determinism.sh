#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Equal digests whatever way a run is made: RTL, models, lockstep; timeline on and off; no sleeping; GPUs constructed in
# falling order; one thread and several; gcc and clang if both were built.
#
#   bash tests/determinism.sh [quick|full] [BUILD_DIR [BUILD_DIR_OF_OTHER_COMPILER]]
#
# quick: t3/small and a ragged real-data case. full: also the main job and T-NLG OP at TP 16.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
depth=${1:-quick}
build=${2:-${STRETTO_BUILD_DIR:-build}}
other=${3:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# digest NAME EXECUTABLE ARGUMENTS...: prints the digest of a run.
digest() {
  local out=$scratch/$1
  local executable=$2
  shift 2
  if ! "$executable" run "$@" --out "$out" >"$out.log" 2>&1; then
    printf 'run failed: %s run %s\n' "$executable" "$*" >&2
    tail -n 3 "$out.log" >&2
    return 1
  fi
  python3 -c 'import json,sys; print(json.load(open(sys.argv[1]+"/stats.json"))["digest"])' "$out"
}

compare() {
  local workload=$1
  shift
  local base=("$workload" --mode t3-mca)
  local reference
  reference=$(digest reference "$build/stretto" "${base[@]}") || { failed=1; return; }
  printf '%s\n  %-34s %s\n' "$workload" "rtl" "$reference"
  local count=0
  one() {
    local title=$1 executable=$2 value
    shift 2
    count=$((count + 1))
    value=$(digest "$count" "$executable" "${base[@]}" "$@") || { failed=1; return; }
    if [ "$value" = "$reference" ]; then
      printf '  %-34s equal\n' "$title"
    else
      printf '  %-34s DIFFERS %s\n' "$title" "$value"
      failed=1
    fi
  }
  one "model" "$build/stretto" --impl all=model
  one "lockstep" "$build/stretto" --impl all=lockstep
  one "timeline on" "$build/stretto" --impl all=model --timeline
  one "sim.sleep=false" "$build/stretto" --impl all=model --set sim.sleep=false
  one "GPUs in falling order" "$build/stretto" --impl all=model --set sim.reverse_elaboration=true
  one "one thread" "$build/stretto" --impl all=model --set sim.threads=1
  one "three threads" "$build/stretto" --impl all=model --set sim.threads=3
  if [ -n "$other" ]; then one "other compiler ($other)" "$other/stretto"; fi
}

compare t3/small
compare t3/ragged-c
if [ "$depth" = full ]; then
  compare t3/tnlg-fc2-tp8
  compare t3/tnlg-op-tp16
fi
[ "$failed" -eq 0 ] && echo "all digests equal"
exit "$failed"
