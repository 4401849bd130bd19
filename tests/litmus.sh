#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Litmus tests of the memory model of shmem.h (sw/include/SHMEM_MODEL.md): forbidden outcomes are never seen, allowed ones
# at least once, and each forbidden one is seen with a fault planted.
#
#   bash tests/litmus.sh [--rounds N] [--seed S]
#
# N rounds (1,000) of each test in all, with other delays, lengths and parts of PEs each, on six machines; then 24 from
# seed 1 with each fault. Half a minute of CPU with 40. Exit status: 0; 1 if an outcome is wrong, or one is missing; 2 else.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${STRETTO_BUILD_DIR:-build}
rounds=1000
seed=${STRETTO_SEED:-$((RANDOM * 32768 + RANDOM))}
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || { echo "litmus.sh: $1 needs a value" >&2; exit 2; }
  case $1 in
    --rounds) rounds=$2 ;;
    --seed) seed=$2 ;;
    *) echo "litmus.sh: $1: --rounds or --seed" >&2; exit 2 ;;
  esac
  shift 2
done
[[ $rounds =~ ^[1-9][0-9]*$ && $seed =~ ^[0-9]+$ ]] || { echo "litmus.sh: numbers, at least one round" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cc -O1 -shared -fPIC -I. -Isw/include -o "$scratch/litmus.so" tests/system/programs/shmem_litmus.c
echo "seed $seed"

# play KERNELS ROUNDS OPTION...: "test forbidden|allowed seen rounds" of all PEs
play() {
  local kernels=$1 count=$2
  shift 2
  rm -rf "$scratch/result"
  "$build/stretto" run "$scratch/litmus.so" --machine compnet --impl all=model --set gpus=4 --set servers=4 "$@" \
    --set program.arguments="$kernels $count $seed" --out "$scratch/result" --time-limit 600 >"$scratch/log" 2>&1 ||
    { cat "$scratch/log" >&2; echo "litmus.sh: the run failed: $*" >&2; exit 1; }
  awk '/^litmus /{seen[$2 " " $3] += $4; rounds[$2 " " $3] = $5} END {for (i in seen) print i, seen[i], rounds[i]}' "$scratch/log"
}
kernel() { bash "$build/stretto-kernel" -e litmus -o "$scratch/$1.elf" tests/system/programs/shmem_litmus_kernel.c "${@:2}"; }

slow="--set network.bandwidth_mb_s=1000 --set nic.mtu_bytes=1024"
kernel whole
machines=(
  "--mode compnet"
  "--mode compnet $slow"
  "--mode compnet-nolock --set l2.bytes=131072 --set program.poll_rounds=1"
  "--mode dgpu --set program.threads=4"
  "--mode dgpu-host --set network.bandwidth_mb_s=3000"
  "--mode apu"
)
each=$(((rounds + 5) / 6))
for machine in "${machines[@]}"; do
  read -ra options <<<"$machine"
  play "$scratch/whole.elf" $each "${options[@]}" >>"$scratch/all"
  seed=$((seed + each))
done

seed=1
# name | flags of the kernels | options
planted=(
  "additions of a get and a put|-DLITMUS_GET_AND_PUT|"
  "a second put by another context|-DLITMUS_NO_ORDER|"
  "a quiet that does not wait||--firmware $build/sw/firmware/main_net_no_quiet.elf $slow"
  "blocking entries that end on their way||--firmware $build/sw/firmware/main_net_no_wait.elf"
  "fences that do nothing|-DLITMUS_NO_FENCE|"
)
for fault in "${planted[@]}"; do
  IFS='|' read -r name flags more <<<"$fault"
  read -ra options <<<"$more"
  # shellcheck disable=SC2086
  kernel spoiled $flags
  play "$scratch/spoiled.elf" 24 --mode compnet "${options[@]}" | sed "s/\$/ $name/" >>"$scratch/spoiled"
done

awk -v spoiled="$scratch/spoiled" '
  BEGIN { while ((getline line < spoiled) > 0) { split(line, w, " "); if (w[3] > 0 && !(w[1] in by)) {
            by[w[1]] = line; sub(/^[^ ]* [^ ]* [^ ]* [^ ]* /, "", by[w[1]]); count[w[1]] = w[3] " of " w[4] } } }
  { seen[$1] += $3; rounds[$1] += $4; kind[$1] = $2 }
  END {
    for (i in seen) {
      bad = kind[i] == "forbidden" ? seen[i] != 0 : seen[i] == 0
      text = kind[i] == "forbidden" ? (i in by ? "; " count[i] " with " by[i] : "; no fault shows it") : ""
      printf "%-16s %-9s %5d of %d%s%s\n", i, kind[i], seen[i], rounds[i], text, bad ? "  WRONG" : "" | "sort -b -k2,2r -k1,1"
      wrong += bad || (kind[i] == "forbidden" && !(i in by)); forbidden += kind[i] == "forbidden"; allowed += kind[i] == "allowed"
    }
    close("sort -b -k2,2r -k1,1")
    printf "%d forbidden, %d allowed, %d wrong\n", forbidden, allowed, wrong
    exit wrong != 0 || forbidden < 12 || allowed < 4
  }' "$scratch/all"
