#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The layout of what is committed: C and C++ by clang-format 14 (Debian's) and .clang-format, but generated files; SystemVerilog
# in 100 columns; Markdown in 120, tables and code blocks apart.
#
#   bash tests/house/format.sh          checks; names each place, exit status 1
#   bash tests/house/format.sh --fix    lays out C and C++
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
git=(git -c safe.directory="$PWD")
[ -e .git ] || { echo "format.sh: not a git checkout: no list of files"; exit 0; }
command -v clang-format-14 >/dev/null || { echo "format.sh: clang-format-14 is missing: bash platform/scripts/install.sh" >&2; exit 2; }

mapfile -t sources < <("${git[@]}" ls-files '*.h' '*.c' '*.cpp' | grep -v '^sw/include/regs/')
if [ "${1:-}" = --fix ]; then
  clang-format-14 -i "${sources[@]}"
  exit 0
fi
status=0
clang-format-14 --dry-run -Werror "${sources[@]}" 2>&1 | grep ' error: ' && status=1
# Longer than $1 columns, but for rows of tables and code blocks of Markdown; generated files say so in line one.
too_long() {
  local columns=$1
  shift
  "${git[@]}" ls-files "$@" | xargs awk -v columns="$columns" '
    FNR == 1 { code = 0; generated = /[Gg]enerated/ }
    /^ *```/ { code = !code }
    generated || code || /^\|/ { next }
    length > columns { printf "%s:%d: %d columns, at most %d\n", FILENAME, FNR, length, columns; found = 1 }
    END { exit found }'
}
too_long 100 'rtl/*.sv' 'rtl/*.svh' || status=1
too_long 120 '*.md' || status=1
exit $status
