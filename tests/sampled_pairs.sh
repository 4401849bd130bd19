#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How far sampled work-groups are from simulated ones where two kernels share a GPU that nobody has measured together:
# random pairs of operators of the kernel library, each again and again beside the other, simulated and sampled, on t3.
#
#   bash tests/sampled_pairs.sh [--pairs N (=30)] [--seed S (=1)] [--arrays large|small (=large)] [--bar PERCENT (=15)] [--out DIR]
#
# Prints a line a pair and the median, the 95th percentile and the most of all errors. Results stay in DIR (default: none
# stay). Some ten minutes. Exit status: 0; 1 if the 95th percentile is above the bar or a run fails; 2 else.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
here=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec python3 - "$here" "${STRETTO_BUILD_DIR:-build}/stretto" "$@" <<'PYTHON'
import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile

# Of t3, whose L2 has 16 MiB: arrays that it does not hold, and such that it does while nobody else needs room there.
OPERATORS = {"large": ["gemm:1024x2048x2048", "gemm:2048x1024x512:fp32", "gemm:256x256x8192", "attention:16x512x512x64",
                       "softmax:8192x2048", "layer_norm:16384x1024", "softmax_grad:8192x1024", "sum_rows:65536x512",
                       "copy:16777216", "triad:8388608", "gelu:12582912", "concat:16384x512x512",
                       "gather:131072x128x1000000:uniform", "embedding_bag:8192x128x1000000x16:uniform"],
             "small": ["gemm:1024x512x512", "gemm:512x512x256:fp32", "gemm:256x256x8192", "attention:4x256x256x64",
                       "softmax:1024x2048", "layer_norm:2048x1024", "softmax_grad:1024x1024", "sum_rows:8192x512",
                       "copy:2097152", "triad:1048576", "gelu:2097152", "concat:4096x256x256",
                       "gather:16384x128x65536:uniform", "embedding_bag:1024x128x65536x16:zipf"]}
SET = "machine: t3\nset: {gpus: 1, gpu.cus: 8, gpu.tile_values: false, software.launch_ns: 0}\n"
LONG_NS = 1_000_000  # That a job takes at least, alone.

parser = argparse.ArgumentParser(prog="sampled_pairs.sh", add_help=False)
parser.add_argument("--pairs", type=int, default=30)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--arrays", choices=OPERATORS, default="large")
parser.add_argument("--bar", type=float, default=15)
parser.add_argument("--out")
here, stretto = sys.argv[1:3]
options = parser.parse_args(sys.argv[3:])
if not os.access(stretto, os.X_OK):
    print(f"sampled_pairs.sh: {stretto}: nothing is built there", file=sys.stderr)
    sys.exit(2)
operators = OPERATORS[options.arrays]
every_pair = list(itertools.combinations(range(len(operators)), 2))
if not 1 <= options.pairs <= len(every_pair):
    print(f"sampled_pairs.sh: --pairs {options.pairs}: 1 to {len(every_pair)}", file=sys.stderr)
    sys.exit(2)
temporary = None if options.out else tempfile.TemporaryDirectory()
out = os.path.join(here, options.out) if options.out else temporary.name
os.makedirs(out, exist_ok=True)


def write(name, text):
    with open(f"{out}/{name}.yaml", "w") as file:
        file.write(text)
    return f"{out}/{name}.yaml"


def run(arguments, folder):
    done = subprocess.run([stretto, *arguments, "--impl", "all=model", "--out", f"{out}/{folder}"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print(done.stdout[-2000:], f"sampled_pairs.sh: {folder} failed", sep="\n", file=sys.stderr)
        sys.exit(1)
    return f"{out}/{folder}/stats.json"


def operator_file(number, times):
    return write(f"operator{number}", SET + f"tenants:\n  kernels: |\n    {times} {operators[number]}\n"
                 "  requests: 1\nmodes: [ideal]\n")


def total_ns(file):
    with open(file) as stats:
        return json.load(stats)["time_ns"]["total"]


def job_times(file):
    with open(file) as stats:
        return [job["time_ns"] for job in json.load(stats)["jobs"]]


files = []
for number, operator in enumerate(operators):
    one = total_ns(run(["run", operator_file(number, 1)], f"one{number}"))
    two = total_ns(run(["run", operator_file(number, 2)], f"two{number}"))
    each = max(1, two - one)
    times = int(max(2, LONG_NS // each + 1))
    files.append(operator_file(number, times))
    print(f"{operator}: {each / 1000:.1f} us, {times} times", flush=True)
bodies = f"{out}/bodies.txt"
run(["characterise", *files, "--no-check", "--bodies", bodies], "measured")

random.seed(options.seed)
print(f"seed {options.seed}: {options.pairs} of {len(every_pair)} pairs; slower: than alone; error: sampled / simulated - 1")
alone = [total_ns(run(["run", file], f"alone{i}")) for i, file in enumerate(files)]
errors = []
for number, pair in enumerate(random.sample(every_pair, options.pairs)):
    jobs = write(f"pair{number}", SET + "jobs:\n" + "".join(f"  - {{workload: {files[i]}}}\n" for i in pair))
    simulated = job_times(run(["run", jobs], f"simulated{number}"))
    sampled = job_times(run(["run", jobs, "--set", "gpu.executor=sampled", "--set", f"sampled.bodies={bodies}"],
                            f"sampled{number}"))
    of_pair = [100 * (b / a - 1) for a, b in zip(simulated, sampled)]
    errors += [abs(error) for error in of_pair]
    for i, operator in enumerate(pair):
        print(f"{operators[operator]:40} {simulated[i] / alone[operator]:5.2f} slower, {of_pair[i]:+6.2f} %", flush=True)
errors.sort()
high = errors[min(len(errors) - 1, int(0.95 * len(errors)))]
print(f"{len(errors)} errors: median {errors[len(errors) // 2]:.2f} %, 95th percentile {high:.2f} %, most {errors[-1]:.2f} %")
sys.exit(1 if high > options.bar else 0)
PYTHON
