#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The layout of what is committed: C and C++ by clang-format 14 (Debian's) and .clang-format, but generated files; SystemVerilog
# and Markdown in 120 columns, tables and code apart.
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
# Longer than $1 columns, but for rows of tables and code of Markdown; generated files say so in line one.
too_long() {
  local columns=$1
  shift
  "${git[@]}" ls-files "$@" | python3 -c '
import sys
limit, found = int(sys.argv[1]), False
for name in sys.stdin.read().split():
    code = False
    for number, line in enumerate(open(name, encoding="utf-8"), 1):
        line = line.rstrip("\n")
        if number == 1 and "enerated" in line:
            break
        fence = line.lstrip().startswith("```")
        code ^= fence
        if len(line) > limit and not (name.endswith(".md") and (code or fence or line.startswith(("|", "    ")))):
            print(f"{name}:{number}: {len(line)} columns, at most {limit}")
            found = True
sys.exit(found)' "$columns"
}
too_long 120 'rtl/*.sv' 'rtl/*.svh' || status=1
too_long 120 '*.md' || status=1
exit $status
