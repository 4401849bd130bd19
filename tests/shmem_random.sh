#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Random programs over shmem.h against a sequential reference of the memory model (tests/system/programs/shmem_random.c):
# what each load, get and atomic sees, and all words at the end, on six machines in five modes.
#
#   bash tests/shmem_random.sh [--programs N] [--seed S] [--machine M] [--firmware FILE]
#
# N programs (500), a sixth of them on each machine, or all on machine M (0 .. 5). Program i has seed S + i. When PEs begin
# depends on the programs before, so what is found repeats with the command that is printed. FILE: firmware instead of
# the shipped one, to see that a wrong one is found. 500 take 18 s of CPU. Exit status: 0; 1 if a program comes out
# wrong; 2 else.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${STRETTO_BUILD_DIR:-build}
programs=500
seed=${STRETTO_SEED:-$((RANDOM * 32768 + RANDOM))}
only=
firmware=()
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || { echo "shmem_random.sh: $1 needs a value" >&2; exit 2; }
  case $1 in
    --programs) programs=$2 ;;
    --seed) seed=$2 ;;
    --machine) only=$2 ;;
    --firmware) firmware=(--firmware "$2") ;;
    *) echo "shmem_random.sh: $1: --programs, --seed, --machine or --firmware" >&2; exit 2 ;;
  esac
  shift 2
done
machines=(
  "--mode compnet --set gpus=3 --set servers=3"
  "--mode compnet-nolock --set gpus=4 --set servers=4 --set l2.bytes=65536"
  "--mode dgpu --set gpus=2 --set servers=2 --set program.threads=3"
  "--mode dgpu-host --set gpus=3 --set servers=3 --set program.poll_rounds=1"
  "--mode compnet --set gpus=4 --set servers=4 --set network.bandwidth_mb_s=3000 --set nic.mtu_bytes=256"
  "--mode apu --set gpus=3 --set servers=3"
)
[[ $programs =~ ^[1-9][0-9]*$ && $seed =~ ^[0-9]+$ && ($only == "" || $only =~ ^[0-5]$) ]] ||
  { echo "shmem_random.sh: numbers; --machine 0 to 5" >&2; exit 2; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bash "$build/stretto-kernel" -e random_operations -o "$scratch/random.elf" tests/system/programs/shmem_random_kernel.c
cc -O1 -shared -fPIC -I. -Isw/include -o "$scratch/random.so" tests/system/programs/shmem_random.c
echo "seed $seed"
for m in ${only:-0 1 2 3 4 5}; do
  count=$([ -n "$only" ] && echo "$programs" || echo $(((programs + 5 - m) / 6)))
  [ "$count" -gt 0 ] || continue
  read -ra options <<<"${machines[m]}"
  if ! "$build/stretto" run "$scratch/random.so" --machine compnet --impl all=model "${options[@]}" "${firmware[@]}" \
      --set program.arguments="$scratch/random.elf $count $seed" --out "$scratch/result$m" --time-limit 300 >"$scratch/log" 2>&1; then
    cat "$scratch/log"
    echo "shmem_random.sh: wrong; again: bash tests/shmem_random.sh --programs $count --seed $seed --machine $m ${firmware[*]}"
    exit 1
  fi
  echo "machine $m (${machines[m]}): $(grep -m1 'programs from seed' "$scratch/log")"
  seed=$((seed + count))
done
