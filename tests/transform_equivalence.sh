#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shipped kernels of the library, as they are, in slices, by workers that are stopped, with the stock ISA, and stopped by the
# grid scheduler: all that they may write must be bit-identical. Kernels that are refused must be those that the test names.
#
#   bash tests/transform_equivalence.sh [--seeds N] [--seed S] [--kernels PART_OF_A_NAME...]
#
# A seed is one set of random slices, workers and points of preemption. Exit status: 0; 1 if a kernel differs, hangs or
# faults, is refused for another reason, or is not run; 2 else.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${STRETTO_BUILD_DIR:-build}
[ -x "$build/tests/transform_equivalence" ] || { echo "transform_equivalence.sh: ninja -C $build transform_equivalence first" >&2; exit 2; }
exec "$build/tests/transform_equivalence" "$@"
