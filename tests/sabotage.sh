#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every check must fire: each sabotage must end with exit 1 and name the culprit, except an inverted priority of the
# memory arbiter, which changes times and not data.
#
#   bash tests/sabotage.sh [BUILD_DIR]
set -uo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:-${STRETTO_BUILD_DIR:-build}}
[ -x "$build/stretto" ] || { echo "sabotage.sh: nothing is built in $build" >&2; exit 2; }
stretto=$build/stretto
workload=t3/small
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# Runs stretto and compares exit status and message: sabotage LETTER "what" STATUS 'regular expression' ARGUMENTS...
sabotage() {
  local letter=$1 what=$2 wanted=$3 pattern=$4
  shift 4
  local log=$scratch/$letter.log
  timeout -s KILL 60 "$stretto" run "$workload" --out "$scratch/$letter" "$@" >"$log" 2>&1
  local status=$?
  local line
  line=$(grep -E "$pattern" "$log" | tail -n 1)
  if [ "$status" -eq "$wanted" ] && [ -n "$line" ]; then
    printf 'ok    (%s) %s: exit %d: %s\n' "$letter" "$what" "$status" "${line:0:200}"
  else
    printf 'FAIL  (%s) %s: exit %d, wanted %d and a line like /%s/; it said:\n' "$letter" "$what" "$status" "$wanted" "$pattern"
    tail -n 6 "$log"
    printf '      repeat with: %s run %s %s\n' "$stretto" "$workload" "$*"
    failed=1
  fi
}

# digest and total time of a result folder.
field() { python3 -c 'import json,sys; d=json.load(open(sys.argv[1]+"/stats.json")); print(eval(sys.argv[2]))' "$1" "$2"; }

sabotage 0 "nothing (control)" 0 'complete' --mode t3-mca
sabotage a "firmware that programs no Tracker" 1 'region . .*: 0 of [0-9]+ wavefront tiles triggered' --mode t3 --firmware "$build/sw/firmware/main_no_tracker.elf"
sabotage k "firmware that never writes the L2 back" 1 'coherence: gpu[0-9]+: sector .* is dirty there, written by' --mode sequential --firmware "$build/sw/firmware/main_no_write_back.elf"
sabotage b "GEMM that skips one K step" 1 'wrong data: rank' --mode t3 --set software.gemm=gemm_skip_step
sabotage c "GEMM that swaps two tiles" 1 'wrong data: rank' --mode t3 --set software.gemm=gemm_swap_tiles
sabotage e "one update dropped" 1 'written updates' --mode t3 --set hbm.fault.drop_update=100
sabotage f "one update doubled" 1 'written updates' --mode t3 --set hbm.fault.double_update=100
sabotage g "one link credit lost" 1 'credit' --mode t3 --set link.fault.lose_credit=3
sabotage h "same-atom ordering disabled" 1 'wrong data: rank|same-atom|order' --mode t3 --set hbm.same_atom_order=false
sabotage l "products faster than the tensor cores" 1 'pipe above its peak|above the tensor peak' --set gpu.fault.product_speed=2
sabotage p "copies of the other half of the L2 that nobody drops" 1 'copies that their home does not have' --set l2.partitions=2 --set l2.partition_link_cycles=100 --set l2.fault.keep_copies=true
sabotage i "one DRAM timing rule off" 1 'tRCD|timing' --mode t3 --set hbm.fault.timing_rule=tRCDRD
workload=collectives/all_gather
sabotage o "lines whose flag is always the same" 1 'FAILED.*rank|wrong data: rank|got bits' --mode mmio --set gpus=2 --set software.protocol=ll --set software.fifo_slots=4 --set collective.counts=100000 --set software.collective="$build/sw/kernels/collective_one_flag.elf"
# Queues between units: a kernel that breaks one of their rules (sw/include/tile_queue.h).
workload=machine/queue
mkdir "$scratch/sw"
cp -rL "$build"/sw/{firmware,kernels,graphs} "$scratch/sw/" 2>/dev/null
queue() {
  local letter=$1 what=$2 rule=$3 pattern=$4
  cp "$build/sw/kernels/tile_queue$rule.elf" "$scratch/sw/kernels/tile_queue.elf"
  STRETTO_SW=$scratch/sw sabotage "$letter" "$what" $([ -z "$rule" ] && echo 0 || echo 1) "$pattern" \
    --set gpus=1 --set tile_queue.min_bytes=8192 --set tile_queue.max_bytes=8192 --impl all=model
}
race='race: gpu0: queue data at 0x[0-9a-f]*, entry [0-9]* of queue [0-9]* of 54 of 8192 bytes,'
queue q0 "nothing, queues (control)" "" complete
queue q "consumers that do not wait" _breaks_acquires "$race read by compute unit .* of compute unit"
queue r "releases before the barrier" _breaks_barrier "$race read by compute unit .* of compute unit"
queue s "releases before the stores are performed" _breaks_stores "$race read by compute unit .* of compute unit"
queue t "payloads that are released twice" _breaks_releases_once "$race read by compute unit .* of compute unit"
queue u "consumers that wait for the round before" _breaks_round "$race read by compute unit .* of compute unit"
queue v "producers that count a reader too few" _breaks_readers "$race written by compute unit .* of compute unit"
sabotage w "queues that nobody pins" 1 'queue 0 of 54 of 8192 bytes: 0 bytes were stored to pinned lines' --set gpus=1 --set tile_queue.min_bytes=8192 --set tile_queue.max_bytes=8192 --impl all=model --firmware "$build/sw/firmware/main_no_pin.elf"
# Stages of pipelines: five in a row, of which two read the first one's queue; sums over rows.
stages() {
  local letter=$1 what=$2 elf=$3 pattern=$4
  shift 4
  cp "$build/sw/kernels/$elf.elf" "$scratch/sw/kernels/stages.elf"
  STRETTO_SW=$scratch/sw sabotage "$letter" "$what" $([ "$elf" = stages ] && echo 0 || echo 1) "$pattern" --mode kitsune --impl all=model "$@"
}
race='race: gpu0: queue data at 0x[0-9a-f]*, queue a0, entry [0-9]*,'
workload=graph/pipeline
few="--set l2.bytes=2621440"  # 1.4 of them for queues.
stages x0 "nothing, a pipeline in a small L2 (control)" stages complete $few
stages x "stages that swap two tiles" stages_swap_tiles "$race read by compute unit .* before the store of compute unit"
stages x1 "stages that swap two tiles, unseen by the race law" stages_swap_tiles 'wrong data: .*element' --set l2.persist_percent=0
stages y "a queue of five readers that waits for one" stages_reader_too_few "$race .* compute unit"
sabotage z "queues that are within the pinned share and leave the L2" 1 'sectors of queues that were written back to make room = 0, at queues that fit the L2.s share of pinned lines' --mode kitsune --impl all=model $few --firmware "$build/sw/firmware/main_one_way.elf"
cat >"$scratch/sums.yaml" <<'END'
name: sums
tensors:
  x: {shape: [700, 300], kind: input}
  d: {shape: [700, 600], kind: input}
  e: {shape: [700, 600]}
  w: {shape: [300, 600]}
ops:
  - {op: Neg, in: [d], out: e}
  - {op: MatMul, in: [x, e], out: w, transpose_a: 1}
pipelines:
  - {stages: {e: 2, w: 18}}
END
printf 'machine: a100-nvswitch\nset: {gpus: 1}\nmodes: [kitsune]\ngraph: {plan: %s/sums, iterations: 1}\n' "$scratch" >"$scratch/sums_run.yaml"
/usr/bin/python3 sw/compiler/compile.py "$scratch/sums.yaml" -o "$scratch/sums" >"$scratch/compiler.log" 2>&1 || { cat "$scratch/compiler.log"; failed=1; }
workload=$scratch/sums_run.yaml
stages ab0 "nothing, sums over rows (control)" stages complete
stages ab "a sum over rows that leaves out those of a replica" stages_skip_sum 'law violated: bytes stored to pinned lines of a queue, .* at queue w.partial'
stages ab1 "a sum over rows that leaves out those of a replica, by its elements" stages_skip_sum 'wrong data: .*tensor w' --set l2.persist_percent=0
# The balance of work-groups: a solver that is not given one constraint, whether it binds or not.
workload=nerf:rows=1000
mkdir "$scratch/solver"
solver() {
  local letter=$1 constraint=$2 pattern=$3
  printf '#!/bin/sh\nsed -i "/^ %s:/d" "$2"\nexec %s "$@"\n' "$constraint" "$(command -v glpsol)" >"$scratch/solver/glpsol"
  chmod +x "$scratch/solver/glpsol"
  PATH=$scratch/solver:$PATH sabotage "$letter" "constraint $constraint of the balance dropped" 1 "the solver was not given all of Algorithm 2: constraint $constraint \\($pattern\\) is missing" --impl all=model
}
solver ac tensor 'TENSOR work-groups'
solver ad stage_4 'stage p4'
solver ad1 stage_14 'stage result'
solver ad2 dram DRAM
solver ad3 l2 L2
solver ad4 simt 'SIMT work-groups'
# Work-groups whose times were measured before: a rate above the machine's.
"$stretto" characterise graph/bert-small --mode launched --set gpus=1 --no-check --impl all=model --bodies "$scratch/bodies.txt" \
  --out "$scratch/bodies" >"$scratch/bodies.log" 2>&1 || { cat "$scratch/bodies.log"; failed=1; }
workload=graph/bert-small
sampled=(--mode launched --set gpus=1 --impl all=model --set gpu.executor=sampled --set sampled.bodies="$scratch/bodies.txt")
sabotage ae0 "nothing, sampled work-groups (control)" 0 complete "${sampled[@]}"
sabotage ae "sampled work-groups that work faster than alone" 1 'law violated: times that' "${sampled[@]}" --set sampled.fault.rate=2
# Clients of one GPU: a command processor that does not stop best effort.
workload=tally/small
sabotage ai0 "nothing, clients of one GPU (control)" 0 complete --mode tally-firmware --impl all=model
sabotage ai "a command processor that does not stop best effort" 1 'best-effort kernels that began while high priority ran or had not rested' --mode tally-firmware --impl all=model --firmware "$build/sw/firmware/main_no_stop.elf"
# Variants of track and trigger: direct, updates by controllers, output that goes to others, operands of memory.
model=(--impl all=model --data stamp)
workload=t3/direct-small
sabotage aj0 "nothing, direct (control)" 0 complete --mode direct "${model[@]}"
sabotage aj "a share that goes to another GPU than its owner" 1 'wavefront tiles triggered' --mode direct "${model[@]}" --firmware "$build/sw/firmware/main_other_peer.elf"
sabotage al "one update by a controller dropped" 1 'wrong data: rank|written updates' --mode direct "${model[@]}" --set hbm.updates=controller --set hbm.fault.drop_update=100
sabotage al1 "a memory that does not add" 2 'hbm.updates=none: in mode direct memory adds' --mode direct "${model[@]}" --set hbm.updates=none
workload=t3/switch-small
sabotage ap0 "nothing, sums in the switch (control)" 0 complete --mode direct "${model[@]}"
sabotage ap "an addition left out in the switch" 1 'wrong data: rank' --mode direct "${model[@]}" --set switch.fault.skip_addition=3
workload=t3/nodes-small
sabotage aq "a credit lost between nodes" 1 'credit' --mode t3 "${model[@]}" --set link_between_nodes.fault.lose_credit=3
workload=t3/deliver-small
sabotage am "tiles that leave before their last row is there" 1 'law violated: trigger addresses that are not their tile' --mode t3 --impl all=model --firmware "$build/sw/firmware/main_early_trigger.elf"
workload=t3/small-fp8
sabotage at0 "nothing, FP8 (control)" 0 complete --mode t3 --impl all=model
sabotage at "FP8 GEMM that skips one K step" 1 'wrong data: rank' --mode t3 --impl all=model --set software.gemm=gemm_skip_step
sabotage at1 "one update of FP8 dropped" 1 'wrong data: rank|written updates' --mode t3 --impl all=model --set hbm.fault.drop_update=100
workload=t3/follow-small
sabotage ak0 "nothing, operations behind the sum (control)" 0 complete --mode t3 --impl all=model
sabotage ak "a collective wait that ends at once" 1 'wrong data: rank' --mode t3 --impl all=model --firmware "$build/sw/firmware/main_no_wait.elf"
sabotage an "a memory that adds the mask" 1 'wrong data: rank' --mode t3 --impl all=model --firmware "$build/sw/firmware/main_operand_adds.elf"
workload=t3/small

# (d) The inverted arbiter must be right in every element and different in time. Two channels: contention.
sabotage d0 "nothing, two channels (control)" 0 'complete' --mode t3-mca --set hbm.channels=2
sabotage d "MCA RTL with inverted priority" 0 'complete' --mode t3-mca --set hbm.channels=2 --set fault.mca_inverted=true
if [ "$failed" -eq 0 ]; then
  right=$(field "$scratch/d0" '"{total} ns, rs {rs} ns".format(**d["time_ns"])')
  inverted=$(field "$scratch/d" '"{total} ns, rs {rs} ns".format(**d["time_ns"])')
  if [ "$right" = "$inverted" ]; then
    echo "FAIL  (d) inverted priority changed no time (total $right)"
    failed=1
  else
    echo "ok    (d) total $right becomes $inverted, data right"
  fi
fi
# Atomics over PCIe: four GPUs add to one word of the host, or of GPU 0 (tests/system/programs/link_atomics.c).
cc -shared -fPIC -I. -Isw/include -o "$scratch/link_atomics.so" tests/system/programs/link_atomics.c || failed=1
bash "$build/stretto-kernel" -e link_atomics -o "$scratch/link_atomics.elf" tests/system/programs/link_atomics_kernel.c || failed=1
workload=$scratch/link_atomics.so
atomics() {
  local letter=$1 what=$2 wanted=$3 pattern=$4 where=$5
  shift 5
  sabotage "$letter" "$what" "$wanted" "$pattern" --machine v100-pcie --set gpus=4 --set gpu.cus=8 --impl all=model \
    --set program.arguments="$scratch/link_atomics.elf add $where 4" "$@"
}
atomics ar0 "nothing, atomics (control)" 0 'add: right' host
for where in host uncached; do
  atomics "ar-$where" "an atomic that is not written" 1 'wrong: value [0-9]* of 96 that atomics found is' $where --set pcie.fault.lose_atomic=5
  atomics "as-$where" "an atomic that is executed twice" 1 'atomics received = executed|wrong: ' $where --set pcie.fault.repeat_atomic=5
done
# What leaves all data right is noticed by a test of the gate: test LETTER "what" 'regular expression' TEST SENTENCE ARGUMENTS...
test_fails() {
  local letter=$1 what=$2 pattern=$3 test=$4 sentence=$5
  shift 5
  local log=$scratch/$letter.log
  [ -x "$build/tests/$test" ] || { echo "FAIL  ($letter) $build/tests/$test is not built"; failed=1; return; }
  STRETTO_SABOTAGE="$*" timeout -s KILL 120 "$build/tests/$test" "$sentence" >"$log" 2>&1
  local status=$? line
  line=$(grep -E "$pattern" "$log" | head -n 1)
  if [ "$status" -ne 0 ] && [ -n "$line" ]; then
    printf 'ok    (%s) %s: %s fails: %s\n' "$letter" "$what" "$test" "${line:0:160}"
  else
    printf 'FAIL  (%s) %s: %s "%s" ended with %d; it said:\n' "$letter" "$what" "$test" "$sentence" "$status"
    tail -n 6 "$log"
    failed=1
  fi
}
test_fails j "DMA that waits for whole chunks" 'rs_begin - times.gemm_begin' \
  overlap_test "the reduce-scatter hides*" --firmware "$build/sw/firmware/main_whole_chunks.elf"
test_fails ap1 "a switch that is told of a sender too few" 'sum_bytes' \
  in_switch_test "of N - 1 parts*" --firmware "$build/sw/firmware/main_sender_too_few.elf"
test_fails m "fences that reach no other unit" 'cu_to_cu\(kDevice\) == kNew' \
  litmus_shared_test "*CU to CU: fences of device scope" --set gpu.fault.fence_scope=work_group
test_fails n "fences that reach no memory" 'cu_to_dma\(.*kSystem.*\) == kNew' \
  litmus_shared_test "*CU to DMA: a fence of system scope" --set gpu.fault.fence_scope=device
# Transformers with a fault each (tests/unit/sw/transform/mutants.txt): random kernels find it and name the seed.
grep -o '^[a-z_]* [a-z]*\.cpp' tests/unit/sw/transform/mutants.txt | while read -r name source; do
  log=$scratch/$name.log
  timeout -s KILL 120 "$build/tests/transform_fuzz" --kernels 400 --transformer "$build/tests/transform_mutants/$name" >"$log" 2>&1
  status=$?
  line=$(grep -m 1 '^FAILED: kernel k[0-9]' "$log")
  if [ "$status" -eq 1 ] && [ -n "$line" ]; then
    printf 'ok    (%s) in %s of the transformer: %s\n' "$name" "$source" "${line:0:160}"
  else
    printf 'FAIL  (%s) in %s of the transformer: exit %d; it said:\n' "$name" "$source" "$status"
    tail -n 6 "$log"
    touch "$scratch/failed"
  fi
done
[ -e "$scratch/failed" ] && failed=1
# NICs, hosts and cards with a fault each (tests/unit/{nic,host,card}/mutants.txt): tests of the gate find it and name what it breaks.
for model in nic host card; do
  log=$scratch/$model.log
  ctest --test-dir "$build" -R "^unit/$model/mutants: " --no-tests=error --output-on-failure >"$log" 2>&1 || failed=1
  sed -n "s/^ *[0-9]*\/[0-9]* Test *#[0-9]*: unit.$model.mutants: \(.*[^ .]\) *\.*  *Passed.*/ok    ($model) \1/p" "$log"
  grep -E '\*\*\*|No tests' "$log" | sed "s/^/FAIL  ($model) /"
done
[ "$failed" -eq 0 ] && echo "every sabotage was noticed"
exit "$failed"
