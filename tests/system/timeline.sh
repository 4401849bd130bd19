#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Question: does a viewer take the timelines that runs write, and do they show what happened? For each kind of run: no spans
# overlap on a lane, arrows join spans, the integral of the DRAM counters is the bytes of the run, what must be named is.
#
#   bash tests/system/timeline.sh BUILD_DIR
set -euo pipefail
build=$(cd "$1" && pwd)
check=$(cd "$(dirname "${BASH_SOURCE[0]}")/../support" && pwd)/timeline_check.py
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

sound() {  # title, expected names (by commas), arguments of run
  local title=$1 names=$2 expect=()
  shift 2
  for name in ${names//,/ }; do expect+=(--expect "$name"); done
  "$build/stretto" run "$@" --impl all=model --timeline --out "$title" >log 2>&1 || { tail -n 3 log; exit 1; }
  local found
  found=$(python3 "$check" "$title/timeline.json" --stats "$title/stats.json" "${expect[@]}") || { echo "$found"; exit 1; }
  echo "$title: $found"
}
sound fused gemm_128x128,kernels,triggers,communication,hart0,host,gemm,rs,ag t3/small --mode t3-mca
sound collective collective,compute,host collectives/all_reduce --mode gdma --set collective.counts=16384 --set collective.iterations=2
sound graph host,kernels graph/mlp --mode launched
sound machine-with-switch gemm_128x128 t3/small --mode sequential --machine a100-nvswitch

sound pipeline queue,filled,stage graph/pipeline --mode kitsune
sound queues queue,filled machine/queue --set gpus=1 --set tile_queue.min_bytes=8192 --set tile_queue.max_bytes=8192

# A timeline changes no time, and the checker notices a queue that is not emptied and a work-group that is not drawn.
"$build/stretto" run graph/pipeline --mode kitsune --impl all=model --out plain >log 2>&1
python3 - pipeline plain <<'PYTHON'
import json, sys
drawn, plain = (json.load(open(f"{one}/stats.json")) for one in sys.argv[1:])
for key in ("digest", "time_ns", "statistics"):
    assert drawn[key] == plain[key], key
events = json.load(open("pipeline/timeline.json"))
freed = [event for event in events if event["ph"] == "C" and event["name"].startswith("queue")][-1]
work_group = next(event for event in events if event["ph"] == "X" and event["name"].endswith("stage s wg 2"))
work_groups = [event for event in events if event.get("name") == work_group["name"]]
for name, left_out in (("kept", [freed]), ("undrawn", work_groups)):
    json.dump([event for event in events if event not in left_out], open(f"{name}.json", "w"))
PYTHON
for wrong in "kept ends with 1 entries" "undrawn of stage s work-groups"; do
  if python3 "$check" "${wrong%% *}.json" --stats pipeline/stats.json >log; then echo "${wrong#* } was not noticed"; exit 1; fi
  grep -q "${wrong#* }" log
done

# The checker notices what it is there for: two spans of one thread are made to overlap.
python3 - fused/timeline.json <<'PYTHON'
import json, sys
events = json.load(open(sys.argv[1]))
span = next(event for event in events if event["ph"] == "X" and event["dur"] > 1)
events.append(dict(span, ts=span["ts"] + span["dur"] / 2))
json.dump(events, open("overlapping.json", "w"))
PYTHON
if python3 "$check" overlapping.json >log; then echo "an overlap was not noticed"; exit 1; fi
grep -q "spans overlap" log
"$build/stretto" run t3/small --mode t3 --impl all=model --timeline-window 40us..42us --out window >log 2>&1
python3 "$check" window/timeline.json
[ "$(stat -c %s window/timeline.json)" -lt "$(($(stat -c %s fused/timeline.json) / 2))" ]
# What is not drawn is said.
"$build/stretto" run t3/small --mode t3 --impl all=model --timeline-window 1000ms..2000ms --out beyond 2>&1 >/dev/null |
  grep -q "timeline.json is empty"
"$build/stretto" run collectives/all_reduce --mode gdma --set collective.counts=16384 --set collective.iterations=2 \
  --impl all=model --timeline --set sim.timeline_mib=1 --out cut 2>&1 >/dev/null |
  grep -q "has reached sim.timeline_mib"
echo "all timelines are sound"
