#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bash tests/system/completion.sh BUILD: does completion offer what a user may type next? Each line: the words so
# far, the last one begun, and what must and what must not be among the answers.
set -uo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
source platform/scripts/stretto-completion.bash
compopt() { :; }  # Belongs to an interactive shell.

failures=0
# offers "WORDS" WANTED [UNWANTED]
offers() {
  local answers
  read -ra COMP_WORDS <<<"$build/stretto $1"
  [ "${1: -1}" != " " ] || COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _stretto
  answers=" ${COMPREPLY[*]} "
  if [[ "$answers" != *" $2 "* ]]; then
    echo "stretto $1: $2 is not offered, but:$answers"
    failures=$((failures + 1))
  fi
  if [ $# -gt 2 ] && [[ "$answers" == *" $3 "* ]]; then
    echo "stretto $1: $3 is offered"
    failures=$((failures + 1))
  fi
}

offers "r" run list
offers "re" reproduce run
offers "sh" show
offers "characterise graph/ml" graph/mlp
offers "run t3/sm" t3/small t3/tnlg-fc2-tp8
offers "run t3/small --mo" --mode --machine
offers "run t3/small --mode " t3-mca loop
offers "run graph/mlp --mode " launched t3-mca
offers "run t3/small --machine a100" a100-nvswitch t3
offers "run t3/small --set hbm.ch" hbm.channels= hbm.clock_mhz=
offers "run t3/small --impl " tracker=
offers "run t3/small --dry" --dry-run
offers "show v100" v100-pcie a100-nvswitch
offers "show " t3
offers "show " t3/small README.md
offers "run t3/small --data " real
cd "$(mktemp -d)" && touch own.yaml own.so own.txt
offers "show " own.yaml own.so
offers "show o" own.yaml own.txt
offers "run " own.so own.txt
offers "run t3/small --machine o" own.yaml own.so
rm -r "$PWD" && cd /
offers "run t3/small --data = s" stamp real
offers "run t3/small --impl mca=" mca=lockstep
offers "run t3/small --impl mca = l" lockstep rtl
offers "run t3/small --set software.mca_policy=" software.mca_policy=round_robin
offers "run t3/small --set software.mca_policy = com" compute_exclusive round_robin
offers "run t3/small --set sim.mirror=" sim.mirror=true
offers "run collectives/all_reduce --set collective.op = b" broadcast
offers "reproduce " gpu-driven run
offers "reproduce t3 --ca" --cases
offers "reproduce t3 --t" --time-limit --cases
offers "list mach" machines
[ "$failures" -eq 0 ] && echo "completion offers what it should"
