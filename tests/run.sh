#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The gate: installs what is missing, configures, builds, tests, and checks that the tree is as it was.
#
#   bash tests/run.sh                        everything but tests labelled long
#   bash tests/run.sh -L long                these; further arguments go to ctest (-L unit: one suite; -L .: everything)
#   STRETTO_BUILD_DIR=DIR bash tests/run.sh  another build folder than build/
#   STRETTO_UNITY=ON bash tests/run.sh       quicker from nothing (platform/cmake/stretto_unity.cmake)
#   STRETTO_ASSERTIONS=ON bash tests/run.sh  one build, with assertions: all tests run with them. Without it the
#                                            executable is built a second time, as Debug, for some runs.
#
# Exit status 0 only if every step passed; the output ends with CTest's own summary.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. platform/scripts/steps.sh
steps_total=8
if [ "${STRETTO_ASSERTIONS:-OFF}" = ON ]; then steps_total=7; fi
build=${STRETTO_BUILD_DIR:-build}
jobs=$(nproc)
log=$(mktemp)
trap closing_lines EXIT

# CTest's own summary, last, whether or not it is good.
closing_lines() {
  if grep -q 'tests passed,' "$log"; then
    printf '\n'
    grep -E 'tests passed,|^Total Test time' "$log"
  fi
  rm -f "$log" "$log.before"
}

tree_state() {
  git -c safe.directory="$PWD" status --porcelain
}

# The executable with assertions on, for the determinism test. Without RTL: that has lint and assertions of its own.
build_debug() {
  cmake -S . -B "$build/debug" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
    -DSTRETTO_RTL=OFF -DSTRETTO_SW=OFF -DSTRETTO_TESTS=OFF -DSTRETTO_DEBUG_INFO=OFF -DSTRETTO_UNITY=ON >/dev/null &&
    cmake --build "$build/debug" -j "$jobs" --target stretto
}

run_tests() {
  if [ $# -eq 0 ]; then set -- -LE '^long$'; fi
  ctest --test-dir "$build" -j "$jobs" --output-on-failure --no-tests=error "$@" | tee "$log"
}

# A checkout may have local edits; building and testing must not add to them.
tree_is_unchanged() {
  if [ ! -e .git ]; then
    echo "not a git checkout: nothing to compare with"
    return 0
  fi
  tree_state | diff "$log.before" - || {
    echo "the build or a test wrote into the source tree (lines marked > above)"
    return 1
  }
}

step "packages" bash platform/scripts/install.sh
step "layout of the text" bash tests/house/format.sh
if [ -e .git ]; then tree_state >"$log.before"; fi
step "configure" cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  ${STRETTO_UNITY:+-DSTRETTO_UNITY="$STRETTO_UNITY"} ${STRETTO_ASSERTIONS:+-DSTRETTO_ASSERTIONS="$STRETTO_ASSERTIONS"}
step "generated files" python3 sw/include/regs/generate.py --check
step "build" cmake --build "$build" -j "$jobs"
if [ "${STRETTO_ASSERTIONS:-OFF}" != ON ]; then step "build with assertions" build_debug; fi
step "tests" run_tests "$@"
step "tree unchanged" tree_is_unchanged
printf '\nall steps passed in %d s\n' "$SECONDS"
