#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What each RTL block costs, by yosys: bits of memory, gates, flip-flops. Fails when a block's README says otherwise.
#
#   bash rtl/cost.sh             all blocks
#   bash rtl/cost.sh tracker     one block
#   bash rtl/cost.sh --update    writes the figures into the READMEs
#   bash rtl/cost.sh --json      {"<block>": {"memory_bits": N, "gates": N, "flip_flops": N}, ...}
#
# Memory: arrays of 64 words or more, counted in bits and kept out of the gates. Gates: two-input AND, OR, XOR,
# inverters and multiplexers after abc; flip-flops: with enable or synchronous reset counted as one. Every module
# is synthesized by itself and counts as often as it is instantiated.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
command -v yosys >/dev/null || { echo "cost.sh: yosys is missing: bash platform/scripts/install.sh" >&2; exit 2; }
exec python3 "$(dirname "${BASH_SOURCE[0]}")/cost.py" "$@"
