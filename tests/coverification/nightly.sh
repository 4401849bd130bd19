#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Long co-verification: the tests of every RTL block with random traffic of 10^7 clocks, from a new seed.
#
#   bash tests/coverification/nightly.sh [--cycles N] [--seed N] [--block BLOCK]...
#
# --cycles N     clocks of each random test, default 10000000 (the gate runs 100000)
# --seed N       the same seed, the same run; default: a new one, which is printed
# --block BLOCK  of rtl/blocks.txt; several; default: all
# STRETTO_BUILD_DIR=DIR: the build, default build/. As many tests at a time as there are processors (STRETTO_JOBS=N).
#
# Says what of its functional coverage each random test met least often. A failure prints what differs, the command that
# repeats it, and the file of waves; logs are in results/nightly/. Exit status 0 only if every test passed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. platform/scripts/steps.sh
build=${STRETTO_BUILD_DIR:-build}
cycles=10000000
seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
blocks=()

usage() {
  echo "nightly.sh: $1" >&2
  sed -n 's/^#   \(bash .*\)/usage: \1/p' "$0" >&2
  exit 2
}
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
while [ $# -ne 0 ]; do
  [ $# -ge 2 ] || usage "$1: an option and its value"
  case $1 in
    --cycles) cycles=$2 ;;
    --seed) seed=$2 ;;
    --block) blocks+=("$2") ;;
    *) usage "unknown option $1" ;;
  esac
  shift 2
done
[[ $cycles =~ ^[1-9][0-9]{0,14}$ ]] || usage "--cycles $cycles: a number of clocks, below 10^15"
[[ $seed =~ ^[0-9]{1,19}$ ]] || usage "--seed $seed: a number below 10^19"
[ ${#blocks[@]} -ne 0 ] || mapfile -t blocks < <(rtl_blocks)
tests=()
for block in "${blocks[@]}"; do
  [ -f "tests/coverification/${block}_lockstep_test.cpp" ] || usage "--block $block: no such block"
  mapfile -t -O ${#tests[@]} tests < <(cd tests/coverification && ls "$block"_*_test.cpp | sed 's/\.cpp$//')
done
[ -f "$build/build.ninja" ] || usage "nothing is built in $build"

out=results/nightly
mkdir -p "$out"
rm -f "$out"/*
ninja -C "$build" "${tests[@]}" >"$out/build.log" || { tail -20 "$out/build.log"; exit 1; }
export STRETTO_COVERIFICATION_CYCLES=$cycles STRETTO_SEED=$seed
echo "seed $seed, $cycles clocks a random test, ${#tests[@]} test programs"

# Bins of a log: "coverage BLOCK COUNT  RULE: what".
bins() {
  awk '/^coverage / { count = $3; $1 = $2 = $3 = ""; met[substr($0, 4)] += count }
       END {
         for (bin in met) if (!n++ || met[bin] < met[least]) least = bin
         if (n) printf "; %d bins, least often (%d) %s", n, met[least], least
       }' "$1"
}

run_one() {
  local test=$1 log=$out/$1.log begin=$SECONDS
  if "$build/tests/$test" >"$log" 2>&1; then
    printf '%-30s passed, %3d s%s\n' "$test" $((SECONDS - begin)) "$(bins "$log")"
    return
  fi
  touch "$out/$test.failed"
  printf '%-30s FAILED after %d s\n' "$test" $((SECONDS - begin))
  grep -E -m8 'lockstep:|Assertion|%Error|FAILED:|: R[0-9]+:|^waves:' "$log" | cut -c1-600 || tail -5 "$log"
  printf '  repeat: STRETTO_SEED=%s STRETTO_COVERIFICATION_CYCLES=%s %s/tests/%s\n' "$seed" "$cycles" "$build" "$test"
}

jobs=${STRETTO_JOBS:-$(nproc)}
for test in "${tests[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  run_one "$test" &
done
while [ "$(jobs -rp | wc -l)" -ne 0 ]; do
  sleep 1
  [ $((SECONDS % 30)) -ne 0 ] || echo "... $SECONDS s, $(jobs -rp | wc -l) running"
done
wait

failed=$(find "$out" -name '*.failed' | wc -l)
for block in "${blocks[@]}"; do
  # Else nothing random ran.
  grep -qh "^coverage $block " "$out/$block"_*.log || { echo "$block: no random test says what it met"; failed=$((failed + 1)); }
done
echo "$((${#tests[@]} - failed)) of ${#tests[@]} passed in $SECONDS s; seed $seed"
[ "$failed" -eq 0 ]
