#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The proof run: every rule of every RTL block an assertion, proven; every cover reached; every mutant refuted.
#
#   bash tests/formal/run.sh              all blocks
#   bash tests/formal/run.sh mca          one block
#   bash tests/formal/run.sh --quick      the subset that the gate runs
#   bash tests/formal/run.sh --help       all options; the formats of its files: tests/formal/README.md
#
# Exit status 0 only if nothing failed.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for tool in yosys yosys-abc yosys-smtbmc z3 python3; do
  command -v "$tool" >/dev/null || { echo "run.sh: $tool is missing: bash platform/scripts/install.sh" >&2; exit 2; }
done
exec python3 "$here/run.py" "$@"
