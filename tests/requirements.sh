#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which requirements of the reproduced papers (tests/reproduction/targets/*.yaml) does a test name, and which results
# does `stretto reproduce` compute and judge?
#
#   bash tests/requirements.sh           counts and open ids, per system; results as build/stretto knows them
#   bash tests/requirements.sh --check   compares with tests/reproduction/requirements.txt; exit 1 if anything differs
#   bash tests/requirements.sh --tests   every id with the tests that name it
#
# A test names an id by a Catch2 tag, TEST_CASE("...", "[T3-TRK-06]"), or, in Python and shell, by a comment
# "# covers: T3-TRK-06": one id each. It should fail without what the requirement asks for.
# STRETTO_BUILD_DIR=DIR: another build than build/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0" | sed '/^set /d'
  exit 0
fi
exec python3 tests/support/requirements.py . "$@"
