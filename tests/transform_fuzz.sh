#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Random kernels through the transformer: each runs as it is, in slices, by workers that are stopped at random times, with
# the stock ISA, and stopped by the grid scheduler. All that it may write must be equal, or it is refused: at most 5 %.
#
#   bash tests/transform_fuzz.sh [--kernels N] [--seed S] [--keep FOLDER]
#
# Seed S + i has kernel S + i, so what is found repeats with --kernels 1 --seed X. 2,000 kernels take half a minute,
# 100,000 half an hour. --keep leaves assembly and ELF. Exit status: 0; 1 if a kernel differs, hangs or faults; 2 else.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${STRETTO_BUILD_DIR:-build}
[ -x "$build/tests/transform_fuzz" ] || { echo "transform_fuzz.sh: ninja -C $build transform_fuzz first" >&2; exit 2; }
exec "$build/tests/transform_fuzz" "$@"
