#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every application, forward and with its backward pass, in every mode, on batches of two ragged sizes: RTL in the loop,
# all results and gradients within their bounds of double precision. RTL, models and lockstep leave the same bits, and so
# do queues of 2, 3 and 4 tiles. Kernels of one name are the same file in all runs, and in those of RESULTS, a folder of
# `stretto reproduce kitsune`. Half an hour on two cores; not part of the gate.
#
#   bash tests/applications.sh [--only WORD] [BUILD_DIR [RESULTS]]
set -u
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0" | sed '/^set /d'
  exit 0
fi
only=
[ "${1:-}" = --only ] && { only=$2; shift 2; }
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-${STRETTO_BUILD_DIR:-build}}
large=${2:-}
[ -x "$build/stretto" ] || { echo "applications.sh: nothing is built in $build" >&2; exit 2; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0

# leaves ARGUMENTS...: the hash of what a run leaves, which double precision has confirmed; its kernels are noted.
leaves() {
  echo "$*" >>"$out/runs"
  if ! "$build/stretto" run "$@" --out "$out/r" >"$out/log" 2>&1; then
    echo "FAILED: $build/stretto run $*" >&2
    tail -n 1 "$out/log" >&2
    echo failed
    return 1
  fi
  python3 - "$out/r/stats.json" "$out/kernels" <<'PYTHON'
import json, sys
root = json.load(open(sys.argv[1]))
assert root["check"]["elements"] > 0 and root["check"]["mismatches"] == 0 and root["audit"]["violations"] == 0
with open(sys.argv[2], "a") as kernels:
    for name, sha256 in root["kernel_sha256"].items():
        if not name.startswith("graph"):
            print(name, sha256, file=kernels)
print(root["job"]["results_sha256"])
PYTHON
}

# same WHAT EXPECTED FOUND
same() {
  [ "$2" = "$3" ] && return
  echo "FAILED: $1 leaves $3, not $2"
  failed=1
}

# of_depth TILES GRAPH [--training]: as leaves(), by a plan whose queues hold so many tiles.
of_depth() {
  /usr/bin/python3 sw/compiler/compile.py "${@:2}" --mode kitsune --machine a100 --depth "$1" -o "$out/depth" >"$out/log" ||
    { echo failed; return; }
  printf 'machine: a100\nmodes: [kitsune]\ngraph: {plan: %s/depth.graph, iterations: 2}\n' "$out" >"$out/depth.yaml"
  leaves "$out/depth.yaml" --impl all=model
}

graphs=(nerf:rows=300 nerf:rows=77 dlrm:batch=130,entries=20 dlrm:batch=45,entries=20
  mgn:nodes=150,edges=333 mgn:nodes=61,edges=95
  graphcast:grid=150,mesh=70,to_mesh=200,in_mesh=130,to_grid=210,latent=128
  graphcast:grid=67,mesh=33,to_mesh=91,in_mesh=60,to_grid=75,latent=128
  llama:tokens=150,hidden=256,heads=4,kv_heads=2,between=392 llama:tokens=61,hidden=256,heads=4,kv_heads=2,between=392
  llama:tokens=1,cached=37,hidden=256,heads=4,kv_heads=2,between=392
  llama:tokens=3,cached=20,hidden=256,heads=4,kv_heads=2,between=392)
for graph in "${graphs[@]}"; do
  for training in "" --training; do
    case $graph$training in *cached*--training) continue ;; esac
    case $graph$training in *"$only"*) ;; *) continue ;; esac
    for mode in bsp vertical kitsune; do
      what="$graph $training --mode $mode"
      reference=$(leaves $graph $training --mode $mode) || failed=1
      for impl in model lockstep; do
        same "$what --impl all=$impl" "$reference" "$(leaves $graph $training --mode $mode --impl all=$impl)"
      done
      [ $mode = kitsune ] && for depth in 2 3 4; do
        same "$what, queues of $depth tiles" "$reference" "$(of_depth $depth $graph $training)"
      done
      printf '%-90s %s\n' "$what" "${reference:0:16}"
    done
  done
done
if [ -n "$large" ]; then
  python3 - "$out/kernels" "$large" <<'PYTHON' || failed=1
import glob, json, sys
small = {line.split()[0] for line in open(sys.argv[1])}
seen = set()
with open(sys.argv[1], "a") as kernels:
    for file in glob.glob(sys.argv[2] + "/**/stats.json", recursive=True):
        for name, sha256 in json.load(open(file))["kernel_sha256"].items():
            if name in small:
                seen.add(name)
                print(name, sha256, file=kernels)
print(f"{len(seen)} of {len(small)} files of kernels ran in {sys.argv[2]}, too")
sys.exit(not seen)
PYTHON
fi
sort -u "$out/kernels" | awk '{print $1}' | uniq -d | while read -r name; do
  echo "FAILED: kernel $name is not the same file in all runs"
  touch "$out/failed"
done
[ -e "$out/failed" ] && failed=1
echo "$(wc -l <"$out/runs") runs, $(sort -u "$out/kernels" | wc -l) files of kernels"
[ $failed = 0 ] && echo "all results and gradients are right, and the same bits"
exit $failed
