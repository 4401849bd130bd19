#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Question: does an installed Stretto work without its source tree, wherever it stands? Installs into a scratch folder, moves
# it, runs a workload, builds a kernel and runs with it, builds an own model against the package and runs it.
#
#   bash tests/system/install/test.sh BUILD_DIR
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../../..
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
  echo "install test: $1" >&2
  exit 1
}

cmake --install "$build" --prefix "$scratch/first" >"$scratch/log" || fail "$(tail -n 3 "$scratch/log")"
mv "$scratch/first" "$scratch/moved"
prefix=$scratch/moved
cd "$scratch"
if grep -rlI "$build" "$prefix" --include='*.cmake' --include=stretto-kernel; then fail "the files above name the build folder"; fi

# As if the source tree were not there: stretto must take its files from where it stands.
"$prefix/bin/stretto" run t3/small --mode sequential --impl all=model --out run >log || fail "$(tail -n 3 log)"
[ "$("$prefix/bin/stretto" --version)" = "$("$build/stretto" --version)" ] || fail "the installed one has another commit"
"$prefix/bin/stretto" list machines | grep -q a100-nvswitch || fail "machines are missing"
"$prefix/bin/stretto" run graph/mlp --impl all=model --out graph >log || fail "$(tail -n 3 log)"
[ -f "$prefix/share/stretto/compiler/compile.py" ] || fail "the compiler is missing"
if /usr/bin/python3 "$prefix/share/stretto/compiler/compile.py" nerf: --mode bsp --machine nosuch 2>log; then fail "a machine that is not"; fi
grep -q "allowed: a100, a100-2x" log || fail "the installed compiler sees no machines: $(cat log)"
"$prefix/bin/stretto" run nerf:rows=130 --impl all=model --out nerf >log || fail "$(tail -n 3 log)"
if ls "$prefix"/lib/stretto/sw/kernels/{gemm_skip_step,collective_beyond}.elf 2>/dev/null; then fail "a wrong kernel"; fi

cd "$prefix/share/stretto/doc"
find . -name '*.md' | while read -r document; do
  { grep -oE '\]\([^)#:]+\.(md|svg)' "$document" || true; } | cut -c3- | while read -r link; do
    if [ ! -f "$(dirname "$document")/$link" ]; then echo "$document: $link"; fi
  done
done >"$scratch/log"
[ -f README.md ] && [ ! -s "$scratch/log" ] || fail "links of documents lead nowhere: $(cat "$scratch/log")"
cd "$scratch"

if "$prefix/bin/stretto" run t3/small --mode t3 --waves mca --out waves 2>log; then fail "signals are not installed"; fi
grep -q "it is not installed" log || fail "--waves: $(cat log)"

cp "$root/sw/kernels/gemm.c" own.c
"$prefix/bin/stretto-kernel" -o own.elf -e gemm_128x128 own.c || fail "a kernel does not build"
"$prefix/bin/stretto" run t3/small --mode gemm --impl all=model --set software.gemm=./own.elf --out own >log ||
  fail "$(tail -n 3 log)"
cmp own.elf "$prefix/lib/stretto/sw/kernels/gemm.elf" || echo "note: own.elf differs from the shipped one"
if "$prefix/bin/stretto-kernel" nowhere.c 2>log; then fail "a missing source was taken"; fi
grep -q "nowhere.c: no such file" log || fail "a missing source is not named"

cc -shared -fPIC -I"$prefix/include/stretto" -I"$prefix/include/stretto/sw/include" -o program.so "$root/tests/system/programs/devices.c"
cc -shared -fPIC -I"$prefix/include/stretto/sw/include" -o interposer.so "$root/tests/system/programs/interposer.c"
"$prefix/bin/stretto" run ./program.so --preload ./interposer.so --set gpus=2 --set gpu.cus=8 --impl all=model --out program >log ||
  fail "$(tail -n 3 log)"
grep -q "interposer: cudaMalloc" log || fail "a preloaded library sees no calls"

cmake -S "$here" -B model -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1 || fail "$(grep -m1 -A3 Error log)"
cmake --build model >log 2>&1 || fail "$(grep -m3 -E 'error|undefined' log)"
model/own_model | grep '^sum 321 ' || fail "the own model computes something else"
echo "installed, moved, run, kernel built, model built: all right"
