#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What several jobs on one machine cost each other: each is run alone, beside each other one, with all, and all without it.
# Who is left out is turned off (jobs.NAME=false) and leaves the others where they lie.
#
#   bash tests/interplay.sh [WORKLOAD (=sharing/five)] [--out DIR (=results/interplay)] [--impl KIND (=rtl)] [--jobs N (=1)]
#                           [--set KEY=VALUE]...
#
# Prints three tables and what the first GPU did; a result in DIR of the same executable, firmware, workload and options is
# not simulated again. A job is compared by the time until its last program ends; tenants by the median service time of a
# request of high priority, as arrivals say when the last one ends. Some minutes. Exit status: 0; 1 if a run fails; 2 else.
set -euo pipefail
if [ "${1:-}" = --help ]; then
  sed -n '3,/^set /s/^# \{0,1\}//p' "$0"
  exit 0
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export STRETTO_ROOT=$root
exec python3 - "${STRETTO_BUILD_DIR:-$root/build}" "$@" <<'PYTHON'
import argparse
import concurrent.futures
import hashlib
import itertools
import json
import os
import subprocess
import sys

import yaml

parser = argparse.ArgumentParser(prog="interplay.sh", add_help=False)
parser.add_argument("workload", nargs="?", default="sharing/five")
parser.add_argument("--out", default="results/interplay")
parser.add_argument("--impl", choices=["rtl", "model", "lockstep"], default="rtl")
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("--set", action="append", default=[], dest="sets")
build = sys.argv[1]
options = parser.parse_args(sys.argv[2:])
stretto = f"{build}/stretto"


def refuse(text):
    print(f"interplay.sh: {text}", file=sys.stderr)
    sys.exit(2)


if not os.access(stretto, os.X_OK):
    refuse(f"{stretto}: nothing is built there")
file = options.workload
if not file.endswith(".yaml"):
    file = f"{os.environ['STRETTO_ROOT']}/platform/workloads/{file}.yaml"
try:
    with open(file) as stream:
        text = stream.read()
    names = [job.get("name") for job in yaml.safe_load(text).get("jobs", [])]
except (OSError, yaml.YAMLError, AttributeError) as error:
    refuse(f"{options.workload}: {error}")
if len(names) < 2 or None in names:
    refuse(f"{options.workload}: needs several jobs, each with a name")
every = tuple(names)


def sum_of(path):
    with open(path, "rb") as stream:
        return hashlib.sha256(stream.read()).hexdigest()


identity = [sum_of(stretto), sum_of(f"{build}/sw/firmware/main.elf"), text, options.impl, options.sets]


def folder_of(company):
    return f"{options.out}/" + ("all" if company == every else "+".join(company))


def run(company):
    folder = folder_of(company)
    key = json.dumps(identity + [company])
    try:
        with open(f"{folder}/key") as stream:
            if stream.read() == key and os.path.exists(f"{folder}/stats.csv"):
                return company, 0, ""
    except OSError:
        pass
    arguments = [stretto, "run", options.workload, "--impl", f"all={options.impl}", "--out", folder]
    if options.jobs > 1:
        arguments += ["--set", "sim.threads=1"]
    for name in every:
        if name not in company:
            arguments += ["--set", f"jobs.{name}=false"]
    for one in options.sets:
        arguments += ["--set", one]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        with open(f"{folder}/key", "w") as stream:
            stream.write(key)
    return company, done.returncode, done.stdout


companies = [every] + [(name,) for name in every]
companies += list(itertools.combinations(every, 2))
companies += [tuple(other for other in every if other != name) for name in every]
companies = list(dict.fromkeys(companies))
stats = {}
with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
    for company, status, said in pool.map(run, companies):
        if status != 0:
            print(said[-2000:], file=sys.stderr)
            refuse(f"{' + '.join(company)} failed") if status == 2 else sys.exit(1)
        with open(f"{folder_of(company)}/stats.json") as stream:
            stats[company] = json.load(stream)
        if stats[company]["check"]["mismatches"] != 0 or stats[company]["audit"]["violations"] != 0:
            print(f"interplay.sh: {folder_of(company)}: data or a law is wrong", file=sys.stderr)
            sys.exit(1)


def figure_us(name, company):
    """Jobs that are on are listed in the order of the file."""
    job = stats[company]["jobs"][company.index(name)]
    if job["kind"] == "tenants":
        return job["job"]["clients"][0]["service_us"]["p50"]
    return job["time_ns"] / 1e3


def cost(name, company, without):
    """By how much a job takes longer than without somebody, per cent of what it takes alone."""
    return 100 * (figure_us(name, company) - figure_us(name, without)) / figure_us(name, (name,))


def matrix(title, of):
    print(f"\n{title}\n{'':<10}" + "".join(f"{name:>10}" for name in every))
    for name in every:
        cells = ["" if other == name else f"{of(name, other):+.1f} %" for other in every]
        print(f"{name:<10}" + "".join(f"{cell:>10}" for cell in cells))


def in_order(*some):
    return tuple(name for name in every if name in some)


print(f"{options.workload}: {stats[every]['stretto']}, {stats[every]['check']['elements']} elements of all "
      f"right, digest {stats[every]['digest'][:16]}")
print(f"{'job':<10}{'alone us':>12}{'with all us':>14}")
for name in every:
    print(f"{name:<10}{figure_us(name, (name,)):>12.1f}{figure_us(name, every):>14.1f}"
          f"{cost(name, every, (name,)):>+10.1f} %")
matrix("longer beside one other, by its time alone (row: whose; column: beside whom):",
       lambda name, other: cost(name, in_order(name, other), (name,)))
if len(every) > 2:
    matrix("shorter if one of all is left out, likewise:",
           lambda name, other: cost(name, every, tuple(one for one in every if one != other)))

print(f"\n{'GPU 0':<10}{'us':>10}{'DRAM MB':>10}{'GB/s':>8}{'L2 miss MB':>12}{'hart 0':>9}{'hart 1':>9}{'launches':>10}"
      f"{'out MB':>8}")
for company in [(name,) for name in every] + [every]:
    one = stats[company]["statistics"]
    us = stats[company]["horizon_ns"] / 1e3

    def total(prefix, one=one):
        return sum(value for key, value in one.items() if key.startswith(f"gpu0.{prefix}"))

    def busy(hart, one=one):
        cycles = [one[f"gpu0.cp.hart{hart}.{what}_cycles"] for what in ("busy", "waiting", "wfi")]
        return 100 * (cycles[0] + cycles[1]) / max(1, sum(cycles))

    dram = (total("hbm.read_bytes.") + total("hbm.write_bytes.")) / 1e6
    print(f"{'all' if company == every else company[0]:<10}{us:>10.1f}{dram:>10.2f}{dram / us * 1e3:>8.1f}"
          f"{64 * total('compute.l2.misses.') / 1e6:>12.2f}{busy(0):>7.1f} %{busy(1):>7.1f} %"
          f"{one['gpu0.compute.front_end.launches']:>10}{total('router.port0.bytes_sent') / 1e6:>8.2f}")
PYTHON
