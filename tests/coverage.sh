#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Line, toggle and functional coverage of the RTL blocks by their co-verification tests.
#
#   bash tests/coverage.sh [--cycles N] [BLOCK...]      blocks: those of rtl/blocks.txt; default: all
#
# --cycles N     clocks of each random test, default 1000000
# STRETTO_BUILD_DIR=DIR: builds in DIR/coverage, default build/coverage; STRETTO_JOBS=N: processes.
#
# Fails under 95 % of lines or of toggles in any block, and for a functional bin that nothing met. What is not counted, and why:
# tests/coverification/exclusions.txt. In results/coverage/: summary.txt, annotated/ (the sources, each line with its count),
# logs and data of each test.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. platform/scripts/steps.sh
steps_total=4
build=${STRETTO_BUILD_DIR:-build}/coverage
jobs=${STRETTO_JOBS:-$(nproc)}
out=$PWD/results/coverage
cycles=1000000
if [ "${1:-}" = --cycles ]; then
  cycles=${2:-}
  [[ $cycles =~ ^[1-9][0-9]{0,14}$ ]] || { echo "coverage.sh: --cycles $cycles: a number of clocks, below 10^15" >&2; exit 2; }
  shift 2
fi
blocks=("$@")
[ ${#blocks[@]} -ne 0 ] || mapfile -t blocks < <(rtl_blocks)
tests=()
for block in "${blocks[@]}"; do
  [ -f "tests/coverification/${block}_lockstep_test.cpp" ] || { echo "coverage.sh: no block $block" >&2; exit 2; }
  mapfile -t -O ${#tests[@]} tests < <(cd tests/coverification && ls "$block"_*_test.cpp | sed 's/\.cpp$//')
done
export STRETTO_COVERIFICATION_CYCLES=$cycles

# Each instance of a block writes a file of its own; a test's are added up.
run_one() {
  local test=$1 begin=$SECONDS
  mkdir "$out/$test"
  if ! STRETTO_COVERAGE_DIR=$out/$test "$build/tests/$test" >"$out/$test.log" 2>&1; then
    echo "$test failed:"
    tail -30 "$out/$test.log"
    touch "$out/$test.failed"
    return
  fi
  verilator_coverage --write "$out/$test.dat" "$out/$test"/*.dat >"$out/$test.merge.log" || touch "$out/$test.failed"
  rm -r "${out:?}/$test"
  echo "$test: $((SECONDS - begin)) s"
}

run_tests() {
  rm -rf "$out"
  mkdir -p "$out"
  local test
  for test in "${tests[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do sleep 0.2; done
    run_one "$test" &
  done
  wait
  # Not by the status of each: of two processes with one number, the shell remembers the later.
  [ -z "$(find "$out" -name '*.failed')" ]
}

judge() {
  verilator_coverage --annotate "$out/annotated" --annotate-all "$out"/*.dat >"$out/annotate.log"
  python3 tests/coverification/coverage.py --least 95 "$out" "${blocks[@]}" | tee "$out/summary.txt"
}

step "configure" cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTRETTO_COVERAGE=ON -DSTRETTO_SW=OFF
step "build" cmake --build "$build" -j "$jobs" --target "${tests[@]}"
step "tests" run_tests
step "coverage" judge
