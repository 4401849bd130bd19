#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles an operator graph into one loop kernel (GD-LOOP-01, -02), or plans how its operators run together.

  compile.py GRAPH -o NAME        writes NAME.c, NAME.json (plan) and, with GCC and lld, NAME.elf
  compile.py GRAPH -o NAME --source-only      no NAME.elf
  compile.py GRAPH --list         what is in the graph
  compile.py GRAPH --master-weights ...       weights that are updated have masters of FP32
  compile.py GRAPH --mode bsp|vertical|kitsune [--machine M] [-o NAME] [--report]
                                  writes NAME.json (groups, stages, queues, places), NAME.N.lp of each pipeline and
                                  NAME.graph.json, which `stretto run` takes (graph: {plan: ./NAME.graph})

GRAPH is a .yaml file, an .onnx model, bert:layers=L,... (sw/compiler/front/bert.py), or an application of sw/compiler/apps:
nerf:rows=N, dlrm:, mgn:, graphcast:, llama:. Exit status 2: something is wrong; one line says what. README.md and
PIPELINES.md explain the forms.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import report  # noqa: E402
from emission import emit, fused, stages  # noqa: E402
from front import autodiff, graph as graphs, load  # noqa: E402
from planning import machine as machines, modes  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = ("-march=rv64ima -misa-spec=2.2 -mabi=lp64 -mcmodel=medany -fPIE -ffreestanding "
         "-fno-tree-loop-distribute-patterns -O2 -Wall -Wextra -std=gnu11").split()
LINK = "-pie --no-dynamic-linker --emit-relocs --no-relax -z norelro -z text --fatal-warnings -e loop".split()


def tool(names):
    for name in names:
        if shutil.which(name):
            return name
    raise graphs.GraphError(f"none of {', '.join(names)} is installed: see platform/scripts/install.sh")


def link(source, elf):
    compiler, linker = tool(["riscv64-unknown-elf-gcc"]), tool(["ld.lld", "ld.lld-14", "ld.lld-15", "ld.lld-16"])
    made = elf.with_suffix(".o")
    for command in ([compiler, *FLAGS, f"-I{ROOT}", "-c", str(source), "-o", str(made)],
                    [linker, *LINK, str(made), "-o", str(elf)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise graphs.GraphError(f"{command[0]} failed: {done.stderr.strip().splitlines()[0]}")
    made.unlink()


def show(graph, plan):
    print(f"{graph.name}: {len(graph.tensors)} tensors, {len(plan.ops)} operators, {len(plan.buckets)} buckets")
    print(f"  weights and activations {plan.sizes['arena'] / 2**20:.1f} MiB, gradients {plan.sizes['gradients'] / 2**20:.1f} MiB")
    flops = 0
    for op in plan.ops:
        if op.kind == "MatMul":
            shape = graphs.matmul_shape(graph, op)
            flops += 2 * shape["m"] * shape["n"] * shape["k"] * shape["outer"] * shape["inner"]
    print(f"  products {flops / 1e9:.3f} GFLOP an iteration")
    for op in plan.ops:
        count = 0 if plan.refusal else emit.tiles(graph, op)
        print(f"  {op.kind:14} {count:7} tiles  {', '.join(op.inputs)} -> {op.output}")


def queue_depth(text):
    name, equals, value = text.rpartition("=")
    if not equals or not value.isdigit() or not 1 <= int(value) <= 1024:
        raise graphs.GraphError(f"--queue {text}: must be NAME=1..1024")
    return name, int(value)


def runnable(graph, plan, machine, output):
    """NAME.graph.json, which `stretto run` takes: the operators in the order of the plan, none fused, the pipelines that
    there are stages for and the groups that are fused kernels; other operators run as kernels of their own."""
    made = emit.Plan(stages.ordered(graph, plan["steps"]), fused=False)
    for op in made.ops:
        if op.kind == "Transpose":
            raise graphs.GraphError(f"Transpose -> {op.output}: no kernel moves elements; a product reads transposed "
                                    "operands, and dimensions of extent 1 may have any order")
    made.groups, alone = stages.planned(made, plan["steps"], machine)
    if not made.groups:
        made.no_pipelines = next(iter([f"pipeline {name}: {why}" for name, why in alone.items()] + plan["left_out"]), "")
    chains, unfused = fused.planned(made, plan["steps"], machine)
    about = {**made.describe(), "hash": plan["hash"]}
    if plan["mode"] == "vertical":
        about.update(fused=fused.describe(chains),
                     not_fused=[{"name": name, "why": why} for name, why in unfused.items()])
    steps = {name: step for step in plan["steps"] if step["kind"] == "pipeline" for name in step["operators"]}
    for one in about["groups"]:
        step = steps[made.ops[one["first"]].output]
        one["predicted"] = {key: step["predicted"][key] for key in ("tiles_a_ms", "us", "launch_us", "way_us", "limit", "source")}
        one["predicted"]["tiles_a_ms"] *= -(-one["rows"] // one["tile_rows"]) / step["tiles"]
        planned = {stages.made_by(stage): stage["operators"] for stage in step["stages"] if stage["role"] != "final"}
        for stage in one["stages"]:
            if stage["name"] in planned:
                stage["operators"] = planned[stage["name"]]
    pathlib.Path(f"{output}.graph.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    for name, why in alone.items():
        print(f"pipeline {name} is planned and cannot be run: {why}")
    for name, why in unfused.items():
        print(f"group {name} is planned and is no kernel as a whole: {why}")


def plan_mode(options, graph):
    """Everything for --mode."""
    if not 1 <= options.depth <= 1024:
        raise graphs.GraphError(f"--depth {options.depth}: must be 1..1024")
    machine = machines.load(options.machine, sets=options.set)
    with tempfile.TemporaryDirectory() as scratch:
        stem = options.output or pathlib.Path(scratch) / "plan"
        os.makedirs(stem.parent, exist_ok=True)
        plan = modes.Planner(graph, options.mode, machine, stem, options.profile, options.depth,
                             dict(queue_depth(one) for one in options.queue),
                             [one.split(",") for one in options.group], options.exclude).plan()
    if options.output:
        pathlib.Path(f"{options.output}.json").write_text(json.dumps(plan, indent=1) + "\n", encoding="utf-8")
        runnable(graph, plan, machine, options.output)
    if options.report:
        report.show(plan)
    if not options.output and not options.report:
        raise graphs.GraphError("-o NAME or --report is missing")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", metavar="GRAPH")
    parser.add_argument("-o", "--output", metavar="NAME", type=pathlib.Path)
    parser.add_argument("--source-only", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--mode", metavar="bsp|vertical|kitsune")
    parser.add_argument("--training", action="store_true", help="forward, then backward (autodiff.py)")
    parser.add_argument("--master-weights", action="store_true", help="FP32 beside each weight that is updated")
    parser.add_argument("--machine", metavar="NAME", default="a100-nvswitch")
    parser.add_argument("--report", action="store_true", help="prints groups, stages, queues, coverage and DRAM bytes")
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help="a parameter of the machine")
    parser.add_argument("--profile", metavar="FILE", action="append", default=[],
                        help="what a run has measured, beside estimates; may be repeated")
    parser.add_argument("--group", metavar="A,B,..", action="append", default=[], help="operators by their results")
    parser.add_argument("--exclude", metavar="A", action="append", default=[], help="runs on its own")
    parser.add_argument("--depth", metavar="N", type=int, default=2, help="tiles that a queue holds")
    parser.add_argument("--queue", metavar="NAME=N", action="append", default=[], help="tiles that this queue holds")
    options = parser.parse_args()
    try:
        graph = load.load(options.graph)
        graph.check()
        if graph.other_numbers:
            print(f"{graph.name}: {', '.join(graph.other_numbers)} of the file is kept and computed as FP16; sums are FP32")
        if options.training:
            graph = autodiff.backward(graph)
            graph.check()
        if options.master_weights:
            graph.keep_masters()
            graph.check()
        if options.mode is not None:
            return plan_mode(options, graph)
        plan = emit.Plan(graph)
        if len(plan.ops) > 4096 or len(plan.buckets) > 512:
            raise graphs.GraphError(f"{len(plan.ops)} operators (at most 4096), {len(plan.buckets)} buckets (at most 512)")
        if options.list:
            show(graph, plan)
        if options.output is None:
            if not options.list:
                raise graphs.GraphError("-o NAME is missing")
            return 0
        name = str(options.output)
        os.makedirs(options.output.parent, exist_ok=True)
        source, text = pathlib.Path(name + ".c"), json.dumps(plan.describe(), indent=1) + "\n"
        pathlib.Path(name + ".json").write_text(text, encoding="utf-8")
        if plan.refusal is not None:
            for suffix in (".c", ".elf"):  # Of an earlier graph.
                pathlib.Path(name + suffix).unlink(missing_ok=True)
            print(f"{plan.refusal}; no loop kernel is made, --mode launched runs the graph")
            return 0
        source.write_text(emit.source(plan, text), encoding="utf-8")
        if not options.source_only:
            link(source, pathlib.Path(name + ".elf"))
        return 0
    except (graphs.CheckError, graphs.GraphError, OSError) as error:
        text = str(error)
        if isinstance(error, OSError) and error.strerror:
            named = error.filename and str(error.filename) != options.graph
            text = (f"{error.filename}: " if named else "") + error.strerror
        print(f"compile.py: {options.graph}: {text}", file=sys.stderr)
        return 1 if isinstance(error, graphs.CheckError) else 2


if __name__ == "__main__":
    sys.exit(main())
