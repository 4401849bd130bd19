# SPDX-License-Identifier: Apache-2.0
# For scripts made of steps (sourced): step NAME COMMAND... runs one step, says which and how long it took, and
# on failure prints the command that repeats it and leaves with its status. Set steps_total first.

steps_done=0

step() {
  local name=$1 status=0 begin=$SECONDS
  shift
  steps_done=$((steps_done + 1))
  printf '\n[%d/%d] %s ...\n' "$steps_done" "$steps_total" "$name"
  "$@" || status=$?
  if [ "$status" -ne 0 ]; then
    printf '[%d/%d] %s FAILED after %d s (exit %d). Repeat with:\n  cd %q &&' \
      "$steps_done" "$steps_total" "$name" $((SECONDS - begin)) "$status" "$PWD"
    if [ "$(type -t "$1")" = function ]; then printf ' bash %q' "$0"; else printf ' %q' "$@"; fi
    printf '\n'
    exit "$status"
  fi
  printf '[%d/%d] %s: %d s\n' "$steps_done" "$steps_total" "$name" $((SECONDS - begin))
}

# Names of the RTL blocks, a line each. Call it in the repository's root.
rtl_blocks() { awk '/^[a-z]/ { print $1 }' rtl/blocks.txt; }
