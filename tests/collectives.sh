#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The whole space of collectives: op x engine x ranks x type, out of place and in place, counts 0, 1, 2,
# ranks - 1, ranks + 1 and 1000003; each reduction on a part of it. About 45 minutes on two cores; not
# part of the gate (tests/system/collective_test.cpp is).
#
#   bash tests/collectives.sh [BUILD_DIR]
set -u
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
build=${1:-${STRETTO_BUILD_DIR:-build}}
[ -x "$build/stretto" ] || { echo "collectives.sh: nothing is built in $build" >&2; exit 2; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0
runs=0

try() {
  runs=$((runs + 1))
  if ! "$build/stretto" run "$@" --out "$out/r" > "$out/log" 2>&1 ||
     ! grep -q "Out of bounds values : 0 OK" "$out/log"; then
    failed=$((failed + 1))
    echo "FAILED: $build/stretto run $*"
    tail -n 5 "$out/log"
  fi
}

reductions=(sum prod max min avg)
i=0
for ranks in 2 3 4 8; do
  for op in all_reduce reduce_scatter all_gather all_to_all broadcast sendrecv; do
    for engine in mmio gdma dma t3; do
      for type in half bfloat16 float int32; do
        i=$((i + 1))
        redop=${reductions[$((i % 5))]}
        # What the machine does not have.
        [ $engine = t3 ] && [ $op != all_reduce ] && [ $op != reduce_scatter ] && continue
        [ $engine = t3 ] && redop=sum
        [ $type = int32 ] && [ $redop = avg ] && redop=sum
        settings=(--set gpus=$ranks --set collective.type=$type --set collective.iterations=1
                  --set collective.redop=$redop
                  --set "collective.counts=0,1,2,$((ranks - 1)),$((ranks + 1)),1000003")
        try "collectives/$op" --mode $engine "${settings[@]}"
        [ $type = float ] && [ $engine != t3 ] && try "collectives/$op" --mode $engine "${settings[@]}" \
          --set topology=fully_connected --set software.algorithm=direct
      done
    done
  done
done
echo "$runs runs, $failed failed"
[ $failed = 0 ]
