#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes waves of a block in the machine, and a picture of them as the save file shows them.
#
#   bash waves/render.sh BLOCK|all     BLOCK: of which waves/ has a .gtkw and a .job
#
# Leaves results/waves/BLOCK.fst, BLOCK.png and BLOCK-detail.png. STRETTO_BUILD_DIR=DIR takes another build than build/.
# Pictures need gtkwave and xvfb (apt-get install gtkwave xvfb xauth); without them the FST is made all the same.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${STRETTO_BUILD_DIR:-build}
out=results/waves

# waves/BLOCK.job says what is run (job, options), which window is recorded, and what of it the pictures show.
describe() {
  job=(t3/small --mode t3-mca) options=()
  if [ ! -f "waves/$1.job" ]; then
    echo "render.sh: no save file for '$1'; there are: $(cd waves && echo *.gtkw | sed 's/\.gtkw//g')" >&2
    exit 2
  fi
  . "waves/$1.job"
}

record() {
  "$build/stretto" run "${job[@]}" "${options[@]}" --waves "$1@$window" --out "$out/$1" >/dev/null
  mv "$out/$1/waves.fst" "$out/$1.fst"
}

# BLOCK.png, the whole story; BLOCK-detail.png, single clocks.
pictures() {
  local tcl part
  local -a files=("$out/$1.png" "$out/$1-detail.png")
  rm -f "${files[@]}"
  tcl=$(mktemp --suffix=.tcl)
  for part in 0 1; do
    cat <<TCL
gtkwave::setZoomRangeTimes ${show[$part]%..*} ${show[$part]#*..}
gtkwave::/File/Grab_To_File ${files[$part]}
TCL
  done >"$tcl"
  echo "gtkwave::/File/Quit" >>"$tcl"
  timeout 120 xvfb-run -a -s "-screen 0 1920x1200x24" gtkwave --nomenu \
    --rcvar "hide_sst on" --rcvar "initial_window_x 1800" --rcvar "initial_window_y 1120" \
    --rcvar "fontname_signals Monospace 10" --rcvar "fontname_waves Monospace 9" \
    --rcvar "splash_disable on" --rcvar "enable_vert_grid off" \
    --script "$tcl" --dump "$out/$1.fst" --save "waves/$1.gtkw" >"$out/$1.log" 2>&1 || true
  rm -f "$tcl"
  for part in 0 1; do
    if [ ! -s "${files[$part]}" ]; then
      echo "render.sh: gtkwave made no picture; what it said:" >&2
      tail -5 "$out/$1.log" >&2
      exit 1
    fi
    echo "${files[$part]}: ${show[$part]}"
  done
}

blocks=("$@")
[ "${1:-}" != all ] || mapfile -t blocks < <(cd waves && ls *.job | sed 's/\.job$//')
if [ ${#blocks[@]} -eq 0 ]; then
  sed -n 's/^# \{0,1\}//p' "$0" | sed -n '2,6p' >&2
  exit 2
fi
for block in "${blocks[@]}"; do describe "$block"; done
if [ ! -f "$build/build.ninja" ]; then
  echo "render.sh: nothing is built in $build; first: cmake -S . -B $build -G Ninja" >&2
  exit 2
fi
ninja -C "$build" stretto stretto_checked stretto_sw >/dev/null
mkdir -p "$out"
missing=()
for tool in gtkwave xvfb-run xauth; do command -v $tool >/dev/null || missing+=("${tool%-run}"); done
for block in "${blocks[@]}"; do
  describe "$block"
  record "$block"
  echo "$out/$block.fst: $window of ${job[0]}; gtkwave $out/$block.fst waves/$block.gtkw"
  if [ ${#missing[@]} -eq 0 ]; then
    python3 waves/fits.py "$out/$block.fst" "waves/$block.gtkw"
    pictures "$block"
  fi
done
if [ ${#missing[@]} -ne 0 ]; then
  echo "render.sh: no pictures: missing ${missing[*]}; apt-get install ${missing[*]}" >&2
  exit 1
fi
