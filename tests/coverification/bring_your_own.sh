#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows what bringing your own RTL is like (rtl/README.md), with the variants of tests/coverification/variants:
# a wrong MCA that the tests catch, and a legal one with another starvation policy, which passes what every MCA
# must pass and changes the times of a run. Minutes the first time: each variant is a build of its own.
#
#   bash tests/coverification/bring_your_own.sh [--workload NAME] [BUILD]
#
# --workload NAME   what runs, default t3/small; the main job is t3/tnlg-fc2-tp8
# BUILD             where stretto and stretto_sw are built, default build; the variants go to BUILD-own-<variant>, beside
#                   it, so that ccache has most of their objects
#
# Exit status 0 only if the wrong one is caught and the legal one passes and differs.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
workload=t3/small
if [ "${1:-}" = --workload ] && [ $# -ge 2 ]; then
  workload=$2
  shift 2
fi
if [ $# -gt 1 ] || [[ ${1:-} == -* ]]; then
  sed -n 's/^#   \(bash .*\)/bring_your_own.sh: usage: \1/p' "$0" >&2
  exit 2
fi
build=$(realpath -m "${1:-build}")
jobs=${STRETTO_JOBS:-$(nproc)}
failures=0
# A limit that holds communication back, so that starvation decides something.
job=(run "$workload" --mode t3-mca --set software.mca_fixed_threshold=true --set software.mca_threshold=5)

# verdict IS MUST-BE WHAT
verdict() {
  if [ "$1" = "$2" ]; then
    printf '  as it must be: %s\n' "$3"
  else
    printf '  NOT AS IT MUST BE: %s\n' "$3"
    failures=$((failures + 1))
  fi
}

# Runs a command with its output in a file; its exit status is 0 or 1 in `status`.
attempt() {
  local log=$1
  shift
  status=0
  "$@" >"$log" 2>&1 || status=1
}

build_with() {
  local variant=$1 block=$2 folder=$build-own-$1
  python3 tests/coverification/variants/apply.py "tests/coverification/variants/$variant.txt" "$block" "$folder/rtl-$block"
  cmake -S . -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release -DSTRETTO_SW=OFF \
    "-DSTRETTO_RTL_$block=$folder/rtl-$block" >"$folder/configure.log"
  cmake --build "$folder" -j "$jobs" --target stretto stretto_checked "${block}_contract_test" "${block}_lockstep_test" \
    >"$folder/build.log" || { tail -20 "$folder/build.log"; exit 1; }
}

# One value of stats.json: value DIR KEY...
value() {
  python3 - "$@" <<'PY'
import json, sys
at = json.load(open(sys.argv[1] + "/stats.json"))
for key in sys.argv[2:]:
    at = at[key]
print(at)
PY
}
# Phases that take another time, and starved grants: differences DIR DIR
differences() {
  python3 - "$@" <<'PY'
import json, sys
one, other = (json.load(open(folder + "/stats.json")) for folder in sys.argv[1:])
times = [f"{phase} {ns / 1000} us, now {other['time_ns'][phase] / 1000}"
         for phase, ns in one["time_ns"].items() if ns != other["time_ns"][phase]]
if times:
    grants = [stats["mca"]["grants_starved"] for stats in (one, other)]
    print("; ".join([*times, f"grants by starvation {grants[0]}, now {grants[1]}"]))
PY
}

[ -x "$build/stretto" ] || { echo "bring_your_own.sh: nothing is built in $build" >&2; exit 2; }
export STRETTO_SW=$build/sw

echo "== the shipped MCA, $workload"
"$build/stretto" "${job[@]}" --out "$build/own-shipped" >/dev/null
echo "  digest $(value "$build/own-shipped" digest | cut -c1-8); RTL: $(value "$build/own-shipped" rtl mca sources)"

echo "== mca_wrong: grants without room"
build_with mca_wrong mca
own=$build-own-mca_wrong
attempt "$own/contract.log" "$own/tests/mca_contract_test"
verdict $status 1 "the contract test fails: $(grep -m1 -E '(^| )R[0-9]+: |Assertion' "$own/contract.log" | sed 's/^ *//')"
attempt "$own/lockstep.log" "$own/tests/mca_lockstep_test"
verdict $status 1 "the lockstep test fails: $(grep -m1 -E 'lockstep: |R[0-9]+: |Assertion' "$own/lockstep.log" | sed 's/^ *//')"
attempt "$own/run.log" "$own/stretto" "${job[@]}" --impl mca=lockstep --out "$own/run"
verdict $status 1 "the machine in lockstep stops: $(grep -m1 -oE 'lockstep: mca [^;]*' "$own/run.log" || tail -1 "$own/run.log")"

echo "== mca_other_starvation: communication starves the sooner the more of it waits"
build_with mca_other_starvation mca
own=$build-own-mca_other_starvation
attempt "$own/contract.log" "$own/tests/mca_contract_test"
verdict $status 0 "it passes the contract test"
attempt "$own/run.log" "$own/stretto_checked" "${job[@]}" --out "$own/run"
verdict $status 0 "it passes $workload with assertions on:$(grep -hE '^ *(check|audit) ' "$own/run.log" | tr -s ' ' | tr '\n' ';')"
differ=$(differences "$build/own-shipped" "$own/run")
verdict "${differ:+yes}" yes "times differ from the shipped: ${differ:-not at all}"
verdict "$(value "$own/run" rtl mca sources)" "$own/rtl-mca" "stats.json names the RTL: $(value "$own/run" rtl mca sources)"
attempt "$own/lockstep.log" "$own/tests/mca_lockstep_test"
verdict $status 1 "lockstep with the reference model, which has the shipped policy, finds the difference"

[ $failures -eq 0 ] || { echo "$failures expectations failed; logs: $build-own-*/*.log"; exit 1; }
