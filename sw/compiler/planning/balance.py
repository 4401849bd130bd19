# SPDX-License-Identifier: Apache-2.0
"""How many work-groups each stage gets: the integer linear program of Kitsune, 5.3 (Algorithm 2).

  maximise    thr                                                    tiles a millisecond
  such that   thr <= r_i s_i t_i         r_i = a_i / units           each stage
              thr * DRAM bytes of a tile <= DRAM peak,  thr * L2 bytes of a tile <= L2 peak
              lowest_i <= a_i <= highest_i,  sum of a_i over SIMT stages <= units, likewise TENSOR

t_i is the stage's bulk-synchronous throughput and s_i = 1 / u_i, u_i the larger share that it uses of the SIMT and the
tensor pipe: from a profile, or estimated from the machine's rates. A stage that ran in a pipeline is measured with what
it has on chip and with its latencies: what a tile takes with one work-group, its waiting for others left out, is
r_i s_i t_i for one, with s_i = 1. Sums are bounds (KT-U06): a class without stages has
none. glpsol solves the file NAME.lp, which stays beside the plan. What it has read is compared with all that Algorithm 2 has
(lp.py), and its answer with each constraint. Work-groups that are left over then go to the slowest stages.
"""

import dataclasses
import math
import pathlib
import re
import shutil
import subprocess
import tempfile

from front import graph as graphs
from planning import lp, stage_kinds, timing

PER_MS = 1000.0
TOLERANCE = 1e-6
TIMES = (2, 1.5, 1)  # The fewest work-groups, that a stage gets at most.


@dataclasses.dataclass(frozen=True)
class Load:
    """A stage as the program sees it."""
    name: str
    kind: str       # SIMT or TENSOR.
    t: float        # Tiles a millisecond, bulk-synchronous, all units.
    u: float        # Share of the SIMT or the tensor pipe, the larger.
    lowest: int     # Work-groups,
    highest: int
    step: int = 1   # in multiples of column parts.
    is_final: bool = False
    is_measured: bool = False  # In a pipeline.

    def rate(self, a, units):
        return a / units / self.u * self.t


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    loads: tuple
    units: int
    dram_bytes: float   # Of a tile,
    l2_bytes: float
    dram_peak: float    # and a millisecond.
    l2_peak: float


def of(pipeline, machine, profile=None):
    """The program of a pipeline."""
    loads = []
    for stage in pipeline.stages:
        ran = timing.ran(pipeline, stage, profile, machine)
        t, u = (not ran and timing.measured(pipeline, stage, profile)) or \
            on_units(pipeline, stage, ran or timing.estimated(pipeline, stage, machine), machine)
        step = stage.parts  # Each is of a work-group of its own.
        highest = max(step, min(machine.units // step, pipeline.tiles) * step)
        if stage.role == "final":
            result = pipeline.flow.tensor(pipeline.flow.ops[stage.operators[0]].output)
            highest = stage_kinds.most_finals(result.elements)
        loads.append(Load(stage.name, stage.kind, t * PER_MS, u, step, highest, step, stage.role == "final", bool(ran)))
    loads = with_finals(loads, machine.units)
    for kind in ("SIMT", "TENSOR"):
        least = sum(load.lowest for load in loads if load.kind == kind)
        if least > machine.units:
            raise graphs.GraphError(f"the pipeline of {pipeline.name}: its {kind} stages need {least} work-groups at "
                                    f"least, {machine.units} can be there at once")
    return Program(pipeline.name, tuple(loads), machine.units, pipeline.dram_bytes / pipeline.tiles,
                   pipeline.l2_bytes / pipeline.tiles, machine.dram_rate * PER_MS, machine.l2_rate * PER_MS)


def with_finals(loads, units):
    """Final stages work behind all tiles: what they take comes on top. W / a + F / f, with work W of all other SIMT stages
    and F of a final one, is least where a and f are as the roots of W and F. No final stage gets fewer, as far as there
    are units."""
    simt = [load for load in loads if load.kind == "SIMT"]
    work = sum(1 / load.rate(1, units) for load in simt if not load.is_final)
    left, found = units - sum(load.lowest for load in simt), []
    for load in loads:
        if load.is_final:
            root = math.sqrt(1 / load.rate(1, units))
            more = max(0, min(load.highest, left, int(units * root / (root + math.sqrt(work)))) - load.lowest)
            left -= more
            load = dataclasses.replace(load, lowest=load.lowest + more)
        found.append(load)
    return found


def operator_times(flow, number, machine):
    """Estimate of an operator alone: microseconds, and of them those of the tensor and the SIMT pipe with its ports."""
    reads = sum(flow.bytes_of(number, name) for name in dict.fromkeys(flow.inputs[number]))
    writes = flow.tensor(flow.ops[number].output).bytes
    tensor = flow.flops(number) / machine.tensor_flops
    simt = max(flow.simt(number) / machine.simt_flops, reads / machine.load_bytes, writes / machine.store_bytes)
    return max(tensor, simt, (reads + writes) / machine.dram_rate), tensor, simt


def on_units(pipeline, stage, times, machine):
    """t in tiles a microsecond with a work-group on every unit, and u: its time is what it takes, not a share of it."""
    return machine.units / (times.tile * stage.parts), 1.0


def text(program):
    """The program as a CPLEX LP file."""
    loads = program.loads
    lines = [f"\\ Kitsune, Algorithm 2: {program.name}; thr in tiles a millisecond"]
    lines += [f"\\ a{at}: {load.name} ({load.kind}), t {load.t:.6g}, u {load.u:.6g}" for at, load in enumerate(loads)]
    lines += ["Maximize", " obj: thr", "Subject To"]
    lines += [f" stage_{at}: thr - {load.rate(1, program.units):.12g} a{at} <= 0" for at, load in enumerate(loads)]
    lines += [f" dram: {program.dram_bytes:.12g} thr <= {program.dram_peak:.12g}",
              f" l2: {program.l2_bytes:.12g} thr <= {program.l2_peak:.12g}"]
    for kind in ("SIMT", "TENSOR"):
        these = [f"a{at}" for at, load in enumerate(loads) if load.kind == kind]
        if these:
            lines.append(f" {kind.lower()}: {' + '.join(these)} <= {program.units}")
    lines += [f" parts_{at}: a{at} - {load.step} g{at} = 0" for at, load in enumerate(loads) if load.step > 1]
    lines += ["Bounds", " thr >= 0"]
    lines += [f" {load.lowest} <= a{at} <= {load.highest}" for at, load in enumerate(loads)]
    whole = [f"a{at}" for at in range(len(loads))] + [f"g{at}" for at, load in enumerate(loads) if load.step > 1]
    return "\n".join([*lines, "Generals", " " + " ".join(whole), "End", ""])


def glpsol(path):
    """thr and a_i of an LP file, by glpsol, and the program as it has read it."""
    if shutil.which("glpsol") is None:
        raise graphs.GraphError("glpsol is not installed (Debian: glpk-utils): see platform/scripts/install.sh")
    with tempfile.TemporaryDirectory() as folder:
        out, read = pathlib.Path(folder) / "out", pathlib.Path(folder) / "read.lp"
        done = subprocess.run(["glpsol", "--lp", str(path), "--tmlim", "60", "-w", str(out), "--wlp", str(read)],
                              capture_output=True, text=True, check=False)
        solved = read.read_text(encoding="utf-8") if read.exists() else ""
        lines = [line.split() for line in out.read_text(encoding="utf-8").splitlines()] if out.exists() else []
    # "s mip ROWS COLUMNS STATUS OBJECTIVE", "j COLUMN VALUE"; columns in the order in which the file names them.
    if done.returncode != 0 or not any(line[:2] == ["s", "mip"] and line[4] == "o" for line in lines):
        raise graphs.GraphError(f"{path}: glpsol finds no optimum")
    names = list(dict.fromkeys(re.findall(r"\b(thr|[ag]\d+)\b", re.sub(r"\\.*", "", path.read_text(encoding="utf-8")))))
    values = {names[int(line[1]) - 1]: float(line[2]) for line in lines if line[0] == "j"}
    return values["thr"], {int(name[1:]): round(value) for name, value in values.items() if name[0] == "a"}, solved


def violations(program, thr, a):
    """Constraints of Algorithm 2 that an answer breaks."""
    most = thr * (1 - TOLERANCE)
    found = [f"stage {load.name}" for load, count in zip(program.loads, a) if most > load.rate(count, program.units)]
    found += [f"work-groups of {load.name}" for load, count in zip(program.loads, a)
              if not load.lowest <= count <= load.highest or count % load.step]
    if most * program.dram_bytes > program.dram_peak:
        found.append("DRAM")
    if most * program.l2_bytes > program.l2_peak:
        found.append("L2")
    found += [f"{kind} work-groups" for kind in ("SIMT", "TENSOR")
              if sum(count for load, count in zip(program.loads, a) if load.kind == kind) > program.units]
    return found


def solve(program, path, solver=glpsol):
    """Writes the LP file, solves it, checks the answer: tiles a millisecond and work-groups of each stage."""
    path = pathlib.Path(path)
    path.write_text(text(program), encoding="utf-8")
    return answer(program, path, solver)


def answer(program, path, solver=glpsol):
    thr, found, solved = solver(path)
    lacks = lp.lacking(program, solved)
    if lacks:
        raise graphs.CheckError(f"{path}: the solver was not given all of Algorithm 2: {', '.join(lacks)}")
    a = [found.get(at, load.lowest) for at, load in enumerate(program.loads)]
    broken = violations(program, thr, a)
    if broken:
        raise graphs.CheckError(f"{path}: the solver's answer breaks Algorithm 2: {', '.join(broken)}")
    return thr, a


def times(program, a):
    """How many times the fewest work-groups stages may have, in the order in which to try: the first whose queues can be
    pinned. An estimate leaves out instructions, so a stage gets up to twice as many. What was measured in a pipeline has
    all; where memory bounds that, more would only wait for it, and open rows of DRAM more often."""
    is_measured = all(load.is_measured for load in program.loads if not load.is_final)
    return TIMES[-1:] if is_measured and bound(program, a)[1] == "DRAM" else TIMES


def spread(program, a, most=TIMES[0]):
    """From the fewest work-groups that give the throughput of `a`: those left over, one by one, to the slowest stage of
    their class, final ones first, for nothing hides what they take. Others get `most` times the fewest at most: more would
    only hold entries of their queues."""
    thr = bound(program, a)[0] * (1 - TOLERANCE)
    least = [max(load.lowest, math.ceil(thr / load.rate(load.step, program.units)) * load.step)
             for load in program.loads]
    a = list(least)
    for kind in ("SIMT", "TENSOR"):
        these = [at for at, load in enumerate(program.loads) if load.kind == kind]
        while True:
            left = program.units - sum(a[at] for at in these)
            room = [at for at in these if a[at] + program.loads[at].step <= min(
                program.loads[at].highest, a[at] + left, math.inf if program.loads[at].is_final else most * least[at])]
            if not room:
                break
            slowest = min(room, key=lambda at: (not program.loads[at].is_final,
                                                program.loads[at].rate(a[at], program.units), at))
            a[slowest] += program.loads[slowest].step
    return a


def bound(program, a):
    """What Algorithm 2 allows these work-groups: tiles a millisecond, and by which constraint."""
    limits = [(load.rate(count, program.units), f"stage {load.name}") for load, count in zip(program.loads, a)]
    limits += [(program.dram_peak / program.dram_bytes, "DRAM"), (program.l2_peak / program.l2_bytes, "L2")]
    return min(limits)
