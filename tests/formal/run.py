# SPDX-License-Identifier: Apache-2.0
"""The proof run; called by run.sh. What it reads and what it refuses: README.md beside this file.

In the order of a run: the files of a block are read and held against each other (block.py), each row of its
.tasks file is elaborated by yosys (Design) and proven, each mutant is applied to a copy and must be refuted.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

from block import Block, Failure, is_lemma, rule_of

MULTIPLIER = pathlib.Path(__file__).resolve().with_name("multiplier.v")
QUICK_MUTANTS = 1  # Mutants a block under --quick: the first ones.
# All limits count processor time of the tool, so that a busy machine turns no proof red.
PROVE_SECONDS = 300  # Default limit of one assertion; most take less than one.
BMC_SECONDS = 600  # Of one assertion or cover, bounded.
SMT_SECONDS = 600  # Of one run of yosys-smtbmc, z3 included.
HUNT_SECONDS = 60  # Of one assertion in the search that comes before PDR when a mutant is hunted.
STEPS = 4  # Of the induction that is tried before PDR.
BEFORE = "run.before."  # Begins the names of the assumptions that the run adds (Design.remember).
BMC_FRAMES = 40  # A mutant is hunted that deep before PDR is asked, or as deep as its bounded row goes.


# --------------------------------------------------------------------------------------------------- the tools
slots = threading.Semaphore()  # So many tools run at a time; main() sets it.
spent = collections.Counter()  # Processor seconds by folder of a Design.
spent_lock = threading.Lock()


def run_tool(folder, name, command, seconds=None):
    """(output, status) of `command`; the output, also kept as <name>.log, is None when it took too much time."""
    log = folder / f"{name}.log"
    limited = ["sh", "-c", 'ulimit -c 0; ulimit -S -t "$0"; exec "$@"', str(seconds or "unlimited"), *command]
    with slots, log.open("wb") as sink:
        process = subprocess.Popen(limited, cwd=folder, stdout=sink, stderr=subprocess.STDOUT)
        # A tool that hangs without using time.
        watch = threading.Timer(600 + 20 * seconds, process.kill) if seconds else None
        if watch:
            watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if watch:
            watch.cancel()
    used = usage.ru_utime + usage.ru_stime
    with spent_lock:
        spent[folder] += used
    output = log.read_text(errors="replace")
    if process.returncode < 0 or (seconds and process.returncode != 0 and used >= seconds):
        return None, process.returncode
    return output, process.returncode


def yosys(folder, name, lines, products):
    """Runs a yosys script; its products must not be there before and must be there afterwards."""
    for product in products:
        if (folder / product).exists():
            raise Failure(f"{product} is there before yosys ran")
    (folder / f"{name}.ys").write_text("\n".join(lines) + "\n")
    output, status = run_tool(folder, name, ["yosys", "-Q", "-T", f"{name}.ys"])
    if status != 0 or not all((folder / product).exists() for product in products):
        errors = [line for line in (output or "").splitlines() if "ERROR" in line or "Warning" in line]
        raise Failure("yosys: " + (" / ".join(errors[-3:]) or f"no {products}"))
    return output


def label_of(cell):
    """The label of a property's cell: its last name, without the index of a generate loop."""
    return cell.split(".")[-1].split("[")[0]


class Design:
    """One elaboration: RTL, properties and harness, flattened; then as AIGER and SMT-LIB2. Of the properties it has
    those labels only that `wanted` names; the others cost as much as the block."""

    def __init__(self, block, task, folder, wanted, replaced=None):
        self.block, self.folder, self.top = block, folder, f"{block.name}_formal"
        folder.mkdir(parents=True)
        sources = [(replaced or {}).get(path, path) for path in block.sources]
        sources += [block.files["props"], block.files["formal"]]
        for path in sources:
            if not path.exists():
                raise Failure(f"{path} does not exist")
        chparam = "".join(f" -chparam {name} {value}" for name, value in task.parameters)
        # yosys names it <module>, $paramod\<module>\<parameters> or $paramod$<hash>\<module>.
        cut = [line for name in (task.cut, rf"$paramod*\\{task.cut}", rf"$paramod\\{task.cut}\\*") if task.cut
               for line in (f"cutpoint ={name}", f"delete {name}/m:*")]
        sleeps = re.search(r"\bu_hold\b", block.files["formal"].read_text())
        memories = ["memory_collect", "memory_map", "dffunmap"] if sleeps else []
        output = yosys(folder, "read", [
            *(f"read_verilog -defer -sv -formal -I {block.root} {path}" for path in sources),
            f"hierarchy -check -top {self.top}{chparam}",
            "proc", *cut, "flatten", *memories, "write_json read.json",
        ], ["read.json"])
        if cut and not re.search(rf"Making all outputs of module (\$paramod\S*\\)?{task.cut}(\\\S*)? cut points", output):
            raise Failure(f"no module {task.cut} to cut")
        initial, unwanted = self.prepare(wanted)
        output += yosys(folder, "elaborate", [
            "read_json read.json", "chformal -early", *unwanted, *initial, f"prep -top {self.top}", "check",
            "write_json design.json", "write_rtlil design.il",
        ], ["design.json", "design.il"])
        for line in output.splitlines():
            if "$rdmux" in line:  # Beyond the last word of a memory: any value.
                continue
            if re.search(r"implicitly declared|Warning: (Wire|multiple conflicting|found logic loop)", line):
                raise Failure(f"implicit or undriven wire (a hierarchical name?) or loop: {line.strip()}")
        cells = self.netlist("design")["cells"]
        self.cells = {"$assert": {}, "$assume": {}, "$cover": {}}
        for name, cell in cells.items():
            if cell["type"] in self.cells:
                self.cells[cell["type"]].setdefault(label_of(name), []).append(name)
        for kind, letter in (("$assert", "a"), ("$assume", "m"), ("$cover", "c")):
            found, labels = set(self.cells[kind]), block.labels[letter]
            # An assumption that always holds for these parameters is not needed.
            labels = labels & (found if letter == "m" else wanted)
            if not labels <= found:
                raise Failure(f"{len(labels - found)} of {len(labels)} {kind} cells are gone after elaboration: " +
                              ", ".join(sorted(labels - found)[:4]))
            if found != labels:
                raise Failure(f"{kind} cells without a label of {block.files['props'].name}: " +
                              ", ".join(sorted(found - labels)[:4]))

    def netlist(self, name):
        return json.loads((self.folder / f"{name}.json").read_text())["modules"][self.top]

    def prepare(self, wanted):
        """Rewrites read.json: connects the wires of the harness that stand for inner ones, and holds the copy of the
        block. Returns the commands that find the initial state (what one clock of reset leaves of any state, with any
        inputs) and those that delete the properties whose labels are not wanted."""
        path = self.folder / "read.json"
        design = json.loads(path.read_text())
        module = design["modules"][self.top]
        nets, cells = module["netnames"], module["cells"]
        unwanted = [f"{self.top}/{name}" for name, cell in cells.items() if cell["type"] in ("$assert", "$cover") and
                    label_of(name) in (self.block.labels["a"] | self.block.labels["c"]) - wanted]
        self.connect(nets, cells, module["ports"])
        self.hold(nets, cells)
        for item in [*nets.values(), *cells.values()]:
            item["attributes"].pop("src", None)  # Half of the file.
        path.write_text(json.dumps(design))
        return (["sim -clock clk_i -reset rst_i -rstlen 1 -n 1 -w"] if {"rst_i", "clk_i"} <= set(module["ports"]) else [],
                ["delete " + " ".join(unwanted), "opt_clean"] if unwanted else [])

    def connect(self, nets, cells, ports):
        """Connects the wires of the harness that stand for inner ones."""
        inner = {}
        for name, net in nets.items():
            target = net["attributes"].get("inside")
            if target is not None:
                index = re.search(r"\[\d+\]", name)
                target = target.replace("[]", index.group() if index else "[]")
                if target not in nets or len(nets[target]["bits"]) != len(net["bits"]):
                    raise Failure(f"{name}: no '{target}' of {len(net['bits'])} bits inside")
                inner.update(zip(net["bits"], nets[target]["bits"]))
        for item in [*nets.values(), *ports.values()] if inner else []:
            item["bits"] = [inner.get(bit, bit) for bit in item["bits"]]
        for cell in cells.values() if inner else []:
            cell["connections"] = {port: [inner.get(bit, bit) for bit in bits]
                                   for port, bits in cell["connections"].items()}

    def hold(self, nets, cells):
        """Lets the flip-flops of the copy u_hold, if there is one, start as the block's and stand still while hold is
        high."""
        held = [cell for name, cell in cells.items()
                if "u_hold." in name and ("dff" in cell["type"] or "latch" in cell["type"])]
        if any("u_hold." in name for name in cells):
            if "hold" not in nets:
                raise Failure("u_hold needs a signal 'hold' in the harness")
            if not held:
                raise Failure("u_hold has no flip-flop")
            block = f"u_{self.block.name}."
            inside = {name.split(block)[1]: net for name, net in nets.items() if block in name}
            twins = {bit: twin for name, net in nets.items() if "u_hold." in name for bit, twin in
                     zip(net["bits"], inside.get(name.split("u_hold.")[1], net)["bits"])}
            fresh = 1 + max(bit for net in nets.values() for bit in net["bits"] if isinstance(bit, int))
            first, fresh = fresh, fresh + 1
            cells["hold_first"] = {"type": "$initstate", "parameters": {}, "attributes": {},
                                   "port_directions": {"Y": "output"}, "connections": {"Y": [first]}}
            def mux(name, a, b, select, y):
                cells[name] = {"type": "$mux", "parameters": {"WIDTH": f"{len(a):032b}"}, "attributes": {},
                               "port_directions": {"A": "input", "B": "input", "S": "input", "Y": "output"},
                               "connections": {"A": a, "B": b, "S": select, "Y": y}}

            for number, cell in enumerate(held):
                if cell["type"] != "$dff":
                    raise Failure(f"flip-flop of kind {cell['type']} in u_hold")
                pins = cell["connections"]
                value, next_value = pins["Q"], pins["D"]
                pins["Q"] = list(range(fresh, fresh + len(value)))
                pins["D"] = list(range(fresh + len(value), fresh + 2 * len(value)))
                fresh += 2 * len(value)
                start = [twins.get(bit, own) for bit, own in zip(value, pins["Q"])]
                mux(f"hold_start_{number}", pins["Q"], start, [first], value)
                mux(f"hold_{number}", next_value, value, nets["hold"]["bits"], pins["D"])
            started = {bit for name, cell in cells.items() if name.startswith("hold_start_")
                       for bit in cell["connections"]["Y"]}
            copies = {name.split("u_hold.")[1]: net["bits"] for name, net in nets.items()
                      if "u_hold." in name and "$" not in name and started.issuperset(net["bits"])}
            for answer in [net for net in nets.values() if "twins" in net["attributes"]]:
                others = answer["attributes"]["twins"].split()
                # A flip-flop has the names of the wires behind it too, so it is left out by its bits.
                apart = {bit for name, bits in copies.items() for bit in bits
                         if any(fnmatch.fnmatchcase(name, other) for other in others)}
                pairs = sorted({pair for name, bits in copies.items() if name in inside
                                for pair in zip(bits, inside[name]["bits"]) if pair[0] not in apart})
                if not pairs:
                    raise Failure("no flip-flop of u_hold to compare")
                cells["hold_twins"] = {
                    "type": "$eq", "attributes": {}, "port_directions": {"A": "input", "B": "input", "Y": "output"},
                    "parameters": {"A_SIGNED": "0", "B_SIGNED": "0", "Y_WIDTH": f"{1:032b}",
                                   "A_WIDTH": f"{len(pairs):032b}", "B_WIDTH": f"{len(pairs):032b}"},
                    "connections": {"A": [own for own, _ in pairs], "B": [its for _, its in pairs],
                                    "Y": answer["bits"]}}

    def names(self, kind, labels):
        return [name for label in sorted(labels) for name in self.cells[kind][label]]

    def delete(self, kind, keep):
        return [f"delete {self.top}/{name}" for label, names in self.cells[kind].items()
                if label not in keep for name in names]

    def remember(self, labels):
        """The design with a copy of these assertions, an assumption about the clock before; the commands to read it."""
        text = (self.folder / "design.il").read_text()
        for cell in self.names("$assert", labels):
            text, count = re.subn(rf"( *)cell \$assert \\?{re.escape(cell)}\n(?:\1 .*\n)*\1end\n",
                                  lambda match: match.group() + re.sub(r"\$assert .*\n", lambda _, cell=cell:
                                      f"$assume \\{BEFORE}{cell}\n", match.group(), count=1), text)
            if count != 1:
                raise Failure(f"no copy of {cell}")
        (self.folder / "remembers.il").write_text(text)
        # Without the delay they would assume themselves, and prove anything.
        return ["read_rtlil remembers.il", f"chformal -assume -delay 1 {self.top}/{BEFORE}*",
                f"select -assert-count {len(self.names('$assert', labels))} {self.top}/{BEFORE}*",
                f"select -assert-min 1 {self.top}/t:$ff", "select -clear"]

    def aiger(self, name, asserts=(), assumes=(), covers=(), before=()):
        """<name>.aig with one output for each assertion (or cover, inverted), in the order returned; those of `before`
        are assumed to have held a clock ago."""
        lines = [*(self.remember(before) if before else ["read_rtlil design.il"]), *self.delete("$cover", covers),
                 *self.delete("$assert", set(asserts) | set(assumes))]
        lines += [f"chformal -assert2assume {self.top}/{cell}" for cell in self.names("$assert", assumes)]
        if covers:
            (self.folder / "cover.v").write_text(
                '(* techmap_celltype = "$cover" *) module cover_is_assert(input A, input EN);\n'
                "  \\$assert _TECHMAP_REPLACE_ (.A(!A), .EN(EN));\nendmodule\n")
            lines += ["techmap -map cover.v"]
        lines += [f"techmap -map {MULTIPLIER}", "opt_clean", "memory_map", "setundef -anyseq",
                  "setundef -undriven -anyseq", "opt -fast", "alumacc", "opt -fast", "techmap", "opt_expr", "opt_merge",
                  "opt_clean", "dffunmap", "aigmap", "setundef -anyseq", "opt_clean", f"write_json {name}.json",
                  f"write_aiger -zinit -map {name}.aim {name}.aig"]
        yosys(self.folder, name, lines, [f"{name}.json", f"{name}.aim", f"{name}.aig"])
        cells = self.netlist(name)["cells"]
        return [cell for cell, body in cells.items() if body["type"] == "$assert"]

    def smt2(self, name, asserts=(), assumes=(), covers=()):
        lines = ["read_rtlil design.il", *self.delete("$cover", covers),
                 *self.delete("$assert", set(asserts) | set(assumes))]
        lines += [f"chformal -assert2assume {self.top}/{cell}" for cell in self.names("$assert", assumes)]
        lines += ["opt_clean", "dffunmap", f"write_smt2 -wires {name}.smt2"]
        yosys(self.folder, name + "_smt2", lines, [f"{name}.smt2"])

    def merge(self, name, seconds):
        """Merges equal nodes in <name>.aig, once for all outputs; most rules follow from that alone."""
        run_tool(self.folder, f"{name}_merge", ["yosys-abc", "-c", f"read_aiger {name}.aig; fold; strash; scorr; "
                                                f"write_aiger {name}_merged.aig"], seconds)

    def abc(self, name, output, engine, seconds, witness=None):
        """(verdict, clocks) of one output; verdict: proven, false, or None when the engine gave up."""
        engine = f"cone -s -O {output}; scleanup; {engine}" + (f"; write_cex -a {witness}" if witness else "")
        return self.run_abc(f"{name}_{output}", name, engine, seconds)[:2]

    def hunt(self, name, engine, seconds):
        """(verdict, clocks, output) of the outputs together: "false" when one of them is, then which."""
        return self.run_abc(name, name, engine, seconds)

    def run_abc(self, log, name, engine, seconds):
        merged = self.folder / f"{name}_merged.aig"
        read = f"read_aiger {merged.name}" if merged.exists() else f"read_aiger {name}.aig; fold"
        text, _ = run_tool(self.folder, log, ["yosys-abc", "-c", f"{read}; strash; {engine}"], seconds)
        if text is None:
            return None, None, None
        match = re.search(r"Output\s+(\d+)\D.*was asserted in frame\s+(\d+)", text)
        if match:
            return "false", int(match.group(2)), int(match.group(1))
        if "Property proved" in text or "Networks are equivalent" in text or "Explored all reachable states" in text:
            return "proven", None, None
        match = re.search(r"No output asserted in (\d+) frames", text)
        return None, int(match.group(1)) if match else None, None


# ---------------------------------------------------------------------------------------------------- the jobs
def counterexample(design, name, output, cell, clocks):
    """Writes the waves of a failed output; the path, or None when that was not cheap."""
    witness, vcd = f"{name}_{output}.aiw", f"{cell.split('.')[-1]}.vcd"
    verdict, _ = design.abc(name, output, f"bmc3 -F {clocks + 2}", HUNT_SECONDS, witness)
    if verdict != "false":
        return None
    if not (design.folder / f"{name}.smt2").exists():
        try:
            design.smt2(name, asserts=design.cells["$assert"])
        except Failure:
            return None
    run_tool(design.folder, f"{name}_{output}_vcd",
             ["yosys-smtbmc", "-s", "z3", "--aig", f"{name}.aim:{witness}", "--aig-noheader", "--dump-vcd", vcd,
              f"{name}.smt2"], 60)
    return design.folder / vcd if (design.folder / vcd).exists() else None


def judge(design, task, name, output):
    """(verdict, clocks) of one assertion, by bmc or pdr as `task` says."""
    if task.engine == "bmc":
        verdict, clocks = design.abc(name, output, f"bmc3 -F {task.number}", BMC_SECONDS)
        return ("proven" if verdict is None and clocks is not None and clocks >= task.number else verdict), clocks
    seconds = task.number or PROVE_SECONDS
    # Comparisons of wide words are inductive at once, or PDR takes them bit by bit, for ever.
    verdict, clocks = design.abc(name, output, f"ind -F {STEPS} -C 1000000", seconds)
    if verdict == "proven" and design.abc(name, output, f"bmc3 -F {STEPS + 1}", seconds)[0] == "false":
        verdict = None
    if verdict is None:
        verdict, clocks = design.abc(name, output, "pdr", seconds)
    return verdict, clocks


def together(design):
    """Whether the lemmas follow from the clocks before, given each other."""
    return (design.hunt("lemmas", f"orpos; ind -F {STEPS} -C 100000000", BMC_SECONDS)[0] == "proven" and
            design.hunt("lemmas", f"orpos; bmc3 -F {STEPS + 1}", HUNT_SECONDS)[0] is None)


def prove(block, task, folder, keep, parallel):
    labels = {label for label in block.labels["a"] if task.selects(label)}
    if not labels:
        raise Failure("selects no assertion")
    design = Design(block, task, folder, labels)
    problems, count = [], 0
    lemmas = {label for label in labels if task.is_lemma(label)}
    for name, asserts, assumes in (("lemmas", lemmas, set()), ("rules", labels - lemmas, lemmas)):
        if not asserts:
            continue
        if task.engine == "induction":
            design.smt2(name, asserts, assumes)
            for step in ([], ["-i"]):
                text, _ = run_tool(folder, name + "".join(step), ["yosys-smtbmc", "-s", "z3", "-t", str(task.number),
                                                                  *step, f"{name}.smt2"], SMT_SECONDS)
                if text is None or "Status: PASSED" not in text:
                    failed = sorted(set(re.findall(r"Assert failed in \w+: (\S+)", text or ""))) or ["time limit"]
                    problems.append(("induction step: " if step else "base case: ") + ", ".join(failed))
            count += len(design.names("$assert", asserts))
            continue
        apart = name == "lemmas" and task.apart
        outputs = design.aiger(name, asserts, assumes, before=lemmas if apart else ())
        if sorted(outputs) != sorted(design.names("$assert", asserts)):
            raise Failure(f"{len(outputs)} outputs for {len(asserts)} assertions")
        count += len(outputs)
        if name == "lemmas" and task.engine == "pdr" and not apart and together(design):
            continue
        if task.engine == "pdr" and task.scorr:
            design.merge(name, task.number or PROVE_SECONDS)
        with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
            verdicts = pool.map(lambda output: judge(design, task, name, output), range(len(outputs)))
        for output, (cell, (verdict, clocks)) in enumerate(zip(outputs, verdicts)):
            if verdict == "proven":
                continue
            rule = rule_of(cell.split(".")[-1])
            text = f"{cell.split('.')[-1]} is " + ("FALSE" if verdict == "false" else "UNDECIDED in its time")
            text += f"\n        {rule}: {block.rules.get(rule, '')}"
            if verdict == "false":
                vcd = counterexample(design, name, output, cell, clocks) if keep else None
                text += f"\n        waves: {vcd}" if vcd else f"\n        after {clocks} clocks; waves: --keep DIR"
            problems.append(text)
    if problems:
        raise Failure("\n      ".join(problems))
    return f"{count} assertions"


def cover(block, task, folder):
    labels = {label for label in block.labels["c"] if task.selects(label)}
    if not labels:
        raise Failure("selects no cover")
    design = Design(block, task, folder, labels)
    wanted = set(design.names("$cover", labels))
    reached = set()
    if task.engine == "smtbmc":
        design.smt2("covers", covers=labels)
        text, _ = run_tool(folder, "covers", ["yosys-smtbmc", "-s", "z3", "-c", "-t", str(task.number),
                                              "covers.smt2"], SMT_SECONDS)
        reached = set(re.findall(r"Reached cover statement at (\S+) in step", text or ""))
    else:
        for output, cell in enumerate(design.aiger("covers", covers=labels)):
            if design.abc("covers", output, f"bmc3 -F {task.number}", BMC_SECONDS)[0] == "false":
                reached.add(cell)
    if wanted - reached:
        raise Failure(f"not reached in {task.number} clocks: " + ", ".join(sorted(wanted - reached)))
    return f"{len(wanted)} covers"


def refute(block, mutant, folder):
    task = block.task_of(mutant)
    changed = folder.with_name(folder.name + "_rtl")
    changed.mkdir(parents=True)
    replaced = {}
    for path in block.sources:
        text = path.read_text()
        if mutant.text in text:
            replaced[path] = changed / path.name
            replaced[path].write_text(text.replace(mutant.text, mutant.replacement))
    broken = {rule: {label for label in block.labels["a"] if rule_of(label) == rule and not is_lemma(label) and
                     block.proves(task, label)} for rule in mutant.rules}
    for rule, labels in broken.items():
        if not labels:
            raise Failure(f"no row with the parameters of task {task.name} proves an assertion of {rule}")
    design = Design(block, task, folder, set().union(*broken.values()), replaced)
    found = []
    for rule, labels in broken.items():
        outputs = design.aiger(f"rule_{rule}", labels)
        frames = max(BMC_FRAMES, task.number) if task.engine == "bmc" else BMC_FRAMES
        verdict, _, output = design.hunt(f"rule_{rule}", f"bmc3 -F {frames}", HUNT_SECONDS)
        if verdict != "false":
            verdict, _, output = design.hunt(f"rule_{rule}", "scorr; pdr", PROVE_SECONDS)
        if verdict != "false":
            raise Failure(f"SURVIVED: no assertion of {rule} breaks in task {task.name}")
        found.append(outputs[output].split(".")[-1])
    return "refuted by " + ", ".join(found)


# ------------------------------------------------------------------------------------------------------- a run
def find_blocks(root):
    """{name: folder} of everything in rtl/ that has properties, and the names of block folders that have none."""
    blocks, bare = {}, []
    for folder in sorted(path for path in (root / "rtl").iterdir() if path.is_dir()):
        names = [path.name[:-len("_props.sv")] for path in sorted(folder.glob("*_props.sv"))]
        names += [path.name[:-len("_formal.sv")] for path in sorted(folder.glob("*_formal.sv"))]
        blocks.update({name: folder for name in names})
        if not names and (folder / f"{folder.name}.f").exists():
            bare.append(folder.name)
    return blocks, bare


def table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser(
        prog="tests/formal/run.sh",
        description="Proves the rules of the RTL blocks, reaches their covers, refutes their mutants.")
    parser.add_argument("blocks", metavar="BLOCK", nargs="*", help="only these (default: all)")
    parser.add_argument("--quick", action="store_true",
                        help=f"only rows marked quick or gate and the first {QUICK_MUTANTS} mutants of a block")
    parser.add_argument("--list", action="store_true", help="print rules with their assertions, tasks and mutants; run nothing")
    parser.add_argument("--only", metavar="NAME", help="only tasks and mutants whose name matches (* and ?)")
    parser.add_argument("--keep", metavar="DIR", type=pathlib.Path,
                        help="keep scripts, logs and counterexample waves in DIR (a new or empty folder)")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), metavar="N",
                        help="tools that run at a time (default: all CPUs)")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2],
                        help="another tree with rtl/ and tests/formal/")
    options = parser.parse_args()

    if options.jobs < 1:
        parser.error("--jobs must be at least 1")
    global slots
    slots = threading.Semaphore(options.jobs)
    root = options.root.resolve()
    if not (root / "rtl").is_dir():
        parser.error(f"--root {options.root}: no folder rtl in it")
    folders, bare = find_blocks(root)
    unknown = [name for name in options.blocks if name not in folders]
    if unknown:
        parser.error(f"no properties for {', '.join(unknown)}; there are: {', '.join(folders) or 'none'}")
    try:
        work = options.keep.resolve() if options.keep else pathlib.Path(tempfile.mkdtemp(prefix="stretto_formal_"))
        work.mkdir(parents=True, exist_ok=True)
        if any(work.iterdir()):
            parser.error(f"{work} is not empty")
    except OSError as error:
        parser.error(f"--keep: {error}")
    begin = time.monotonic()
    failed, summary, jobs, blocks = [], {}, [], []
    for name in options.blocks or folders:
        try:
            block = Block(root, folders[name], name)
        except Failure as failure:
            failed.append(f"{name}: {failure}")
            continue
        failed += [f"{name}: {problem}" for problem in block.problems]
        blocks.append(block)

    if options.list:
        for block in blocks:
            print(f"{block.name}: {len(block.rules)} rules, {len(block.labels['a'])} assertions, "
                  f"{len(block.labels['m'])} assumptions, {len(block.labels['c'])} covers")
            for rule, text in block.rules.items():
                print(f"  {rule}: {text}")
                print(f"    proven by {', '.join(block.asserted.get(rule, ['nothing']))}")
            table([["task", "parameters", "what", "how"]] +
                  [[task.name, " ".join("=".join(p) for p in task.parameters), task.what, task.how()]
                   for task in block.tasks] +
                  [[mutant.name, "", "refute", ", ".join(mutant.rules)] for mutant in block.mutants])
        print("\n".join(failed))
        return 1 if failed else 0

    for problem in failed:
        print(f"FAIL  {problem}")
    for block in blocks:
        def wanted(name):
            return not options.only or fnmatch.fnmatchcase(name, options.only)
        summary[block.name] = {"prove": 0, "cover": 0, "mutant": 0, "engines": [], "seconds": 0.0}
        if any(problem.startswith(block.name + ":") for problem in failed):
            continue
        for task in block.tasks:
            if (task.quick if options.quick else not task.gate) and wanted(task.name):
                jobs.append((block, task.what, task))
        for mutant in block.mutants[:QUICK_MUTANTS if options.quick else None]:
            if wanted(mutant.name):
                jobs.append((block, "mutant", mutant))
    if not jobs and not failed:
        failed.append("nothing to do: no block has properties, or --only matches nothing")
        print(f"FAIL  {failed[-1]}")

    jobs.sort(key=lambda job: job[1] != "prove")  # Proofs take longest; the others fill the rest.
    lock = threading.Lock()
    if len(jobs) > 1:
        print(f"{len(jobs)} rows and mutants, {options.jobs} at a time; a line when one ends, the longest after minutes", flush=True)

    def execute(job):
        block, what, item = job
        folder = work / block.name / f"{what}_{item.name}"
        error = None
        try:
            if what == "prove":
                result = prove(block, item, folder, options.keep, options.jobs)
            elif what == "cover":
                result = cover(block, item, folder)
            else:
                result = refute(block, item, folder)
        except Failure as failure:
            error = result = str(failure)
        seconds = spent[folder]
        with lock:
            how = item.how() if what != "mutant" else "[" + " ".join(item.rules) + "]"
            print(f"{'FAIL' if error else 'ok  '}  {block.name} {what} {item.name} {how}: {result}  ({seconds:.1f} CPU s)",
                  flush=True)
            entry = summary[block.name]
            entry["seconds"] += seconds
            if error:
                failed.append(f"{block.name} {what} {item.name}")
            else:
                entry[what] += 1
                if what == "prove":
                    entry["engines"].append(item.engine)
        return None

    try:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for future in [pool.submit(execute, job) for job in jobs]:
                future.result()
    finally:
        if not options.keep:
            shutil.rmtree(work, ignore_errors=True)

    rows = [["block", "rules", "assertions", "assumed", "proofs", "covers reached", "mutants refuted", "CPU s"]]
    for block in blocks:
        entry = summary[block.name]
        engines = sorted(set(entry["engines"]))
        rows.append([block.name, str(len(block.rules)), str(len(block.labels["a"])), str(len(block.labels["m"])),
                     f"{entry['prove']} ({', '.join(engines)})" if engines else "none",
                     str(len(block.labels["c"])) if entry["cover"] else "none",
                     f"{entry['mutant']} of {len(block.mutants)}", f"{entry['seconds']:.0f}"])
    print()
    table(rows)
    for name in bare:
        print(f"  {name}  has no properties")
    print(f"\n{'FAILED: ' + str(len(failed)) + ' checks' if failed else 'all proven'} "
          f"in {time.monotonic() - begin:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
