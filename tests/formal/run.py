# SPDX-License-Identifier: Apache-2.0
"""The proof run; called by run.sh. What it reads and what it refuses: README.md beside this file.

In the order of a run: the block's files are read and held against each other (Block), each row of its
.tasks file is elaborated by yosys and proven (Job), each mutant is applied to a copy and must be refuted.
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

MULTIPLIER = pathlib.Path(__file__).resolve().with_name("multiplier.v")
MIN_MUTANTS = 8
QUICK_MUTANTS = 2  # Mutants a block under --quick: the first ones.
# All limits count processor time of the tool, so that a busy machine turns no proof red.
PROVE_SECONDS = 300  # Default limit of one assertion; most take less than one.
BMC_SECONDS = 600  # Of one assertion or cover, bounded.
SMT_SECONDS = 600  # Of one run of yosys-smtbmc, z3 included.
HUNT_SECONDS = 20  # Of one assertion in the search that comes before PDR when a mutant is hunted.
STEPS = 3  # Of the induction that is tried before PDR.
BMC_FRAMES = 40  # A mutant is hunted that deep before PDR is asked.


class Failure(Exception):
    """A check of this run failed; the text says which and what to do."""


# ------------------------------------------------------------------------------------------- the files of a block
class Task:
    """One row of tests/formal/<block>.tasks."""

    def __init__(self, where, row):
        cells = [cell.strip() for cell in row.split("|")]
        if len(cells) not in (4, 5):
            raise Failure(f"{where}: a row is 'name | parameters | prove or cover | engine | options'")
        self.name, parameters, self.what, engine = cells[:4]
        self.parameters = []
        for word in parameters.split():
            match = re.fullmatch(r"(\w+)=(\S+)", word)
            if not match:
                raise Failure(f"{where}: '{word}' is not Parameter=value")
            self.parameters.append(match.groups())
        engine, _, self.reason = (part.strip() for part in engine.partition(":"))
        words = engine.split()
        self.engine = words[0] if words else ""
        allowed = {"prove": ("pdr", "induction", "bmc"), "cover": ("smtbmc", "bmc")}
        if self.engine not in allowed.get(self.what, ()):
            raise Failure(f"{where}: prove is by 'pdr [seconds]', 'induction K: why' or 'bmc K: why', "
                          "cover by 'smtbmc K' or 'bmc K'")
        if len(words) > 2 or not all(word.isdigit() for word in words[1:]):
            raise Failure(f"{where}: one number may follow '{self.engine}'")
        self.number = int(words[1]) if len(words) == 2 else None
        if self.engine != "pdr" and self.number is None:
            raise Failure(f"{where}: '{self.engine}' needs its number of clocks")
        if self.what == "prove" and self.engine != "pdr" and not self.reason:
            raise Failure(f"{where}: say why not PDR: '{self.engine} {self.number}: reason'")
        self.quick, self.only, self.lemmas, self.scorr = False, ["*"], [], True
        for word in (cells[4].split() if len(cells) == 5 else []):
            if word == "quick":
                self.quick = True
            elif word == "noscorr":
                self.scorr = False
            elif word.startswith("only="):
                self.only = word[5:].split(",")
            elif word.startswith("lemmas="):
                self.lemmas = word[7:].split(",")
            else:
                raise Failure(f"{where}: unknown option '{word}'")

    def selects(self, label):
        return any(fnmatch.fnmatchcase(label, pattern) for pattern in self.only)

    def is_lemma(self, label):
        return any(fnmatch.fnmatchcase(label, pattern) for pattern in self.lemmas)

    def how(self):
        text = self.engine if self.number is None else f"{self.engine} {self.number}"
        return text + (f" ({self.reason})" if self.reason else "")


class Mutant:
    """One line of mutants.txt."""
    FORM = re.compile(r"(\w+) \[([\w ]+)\](?: @(\w+))?: (.*?) => (.*)")

    def __init__(self, where, line):
        match = self.FORM.fullmatch(line)
        if not match:
            raise Failure(f"{where}: a mutant is 'name [RULES]: text => replacement' "
                          "or 'name [RULES] @task: text => replacement'")
        self.name, rules, self.task, self.text, self.replacement = match.groups()
        self.rules = rules.split()


def lines_of(path):
    """(place, line) of the lines that are neither empty nor comments."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield f"{path.name}:{number}", line.rstrip()


def rule_of(label):
    """The rule that a label names: a_r4_limit is of R4."""
    match = re.match(r"a_([a-z]+)([0-9]+[a-z]?)_", label)
    return match.group(1).upper() + match.group(2) if match else None


def is_lemma(label):
    """Whether it only helps to prove others: it neither stands for a rule nor refutes a mutant."""
    return "_lemma" in label


class Block:
    """The files of one block, read and held against each other."""

    def __init__(self, root, folder, name):
        self.root, self.folder, self.name = root, folder, name
        self.problems = []
        mutants = "mutants.txt" if folder.name == name else f"{name}_mutants.txt"
        self.files = {
            "props": folder / f"{name}_props.sv",
            "formal": folder / f"{name}_formal.sv",
            "list": folder / f"{name}.f",
            "mutants": folder / mutants,
            "readme": folder / "README.md",
            "tasks": root / "tests" / "formal" / f"{name}.tasks",
        }
        missing = [str(path.relative_to(root)) for path in self.files.values() if not path.exists()]
        if missing:
            raise Failure("missing: " + ", ".join(missing))
        self.sources = [root / line for line in self.files["list"].read_text().split("\n")
                        if line.strip() and not line.startswith("//")]
        self.sources = [path for path in self.sources if path != self.files["props"]]
        self.tasks = [Task(where, line) for where, line in lines_of(self.files["tasks"])]
        self.mutants = [Mutant(where, line) for where, line in lines_of(self.files["mutants"])]
        self.rules = self.read_rules()
        props = re.sub(r"//.*", "", self.files["props"].read_text() + self.files["formal"].read_text())
        self.labels = {kind: set(re.findall(rf"\b({kind}_\w+)\s*:\s*{word}\b", props))
                       for kind, word in (("a", "assert"), ("m", "assume"), ("c", "cover"))}
        self.check(props)

    def read_rules(self):
        rules = {}
        text = self.files["readme"].read_text()
        for match in re.finditer(r"^- \*\*([A-Z]+[0-9]+[a-z]?)\*\*(.*\n(?:[ \t]+\S.*\n)*)", text, re.M):
            if match.group(1) in rules:
                self.problems.append(f"README.md has two rules {match.group(1)}")
            rules[match.group(1)] = " ".join(match.group(2).split())
        return rules

    def check(self, props):
        """What can be said without a tool."""
        problems = self.problems
        statements = len(re.findall(r"\b(?:assert|assume|cover)\s*\(", props))
        if statements != sum(len(labels) for labels in self.labels.values()):
            problems.append(f"{self.files['props'].name} and _formal.sv: {statements} assert/assume/cover statements, but "
                            f"{sum(len(v) for v in self.labels.values())} different labels a_*, m_*, c_*")
        if not self.labels["a"]:
            problems.append(f"{self.files['props'].name} has no assertion")
        if not self.labels["c"]:
            problems.append(f"{self.files['props'].name} has no cover: nothing shows that its assumptions can be met")
        asserted = {}
        for label in sorted(self.labels["a"]):
            rule = rule_of(label)
            if rule not in self.rules:
                problems.append(f"{label}: README.md has no rule '{rule}' (labels are a_<rule>_<what>)")
            if not is_lemma(label):
                asserted.setdefault(rule, []).append(label)
        mutated = {rule for mutant in self.mutants for rule in mutant.rules}
        for rule in self.rules:
            if rule not in asserted:
                problems.append(f"rule {rule} of README.md has no assertion a_{rule.lower()}_*")
            if rule not in mutated:
                problems.append(f"rule {rule} of README.md has no mutant")
        for rule in sorted(mutated - set(self.rules)):
            problems.append(f"{self.files['mutants'].name}: README.md has no rule {rule}")
        if len(self.mutants) < MIN_MUTANTS:
            problems.append(f"{len(self.mutants)} mutants; at least {MIN_MUTANTS} are wanted")
        for kind, things in (("task", self.tasks), ("mutant", self.mutants)):
            names = [thing.name for thing in things]
            for name in sorted({name for name in names if names.count(name) > 1}):
                problems.append(f"two {kind}s are named {name}")
        proofs = [task for task in self.tasks if task.what == "prove"]
        covers = [task for task in self.tasks if task.what == "cover"]
        for label in sorted(self.labels["a"]):
            if not any(task.selects(label) for task in proofs):
                problems.append(f"no task proves {label}")
        for label in sorted(self.labels["c"]):
            if not any(task.selects(label) for task in covers):
                problems.append(f"no task covers {label}")
        for mutant in self.mutants:
            if mutant.task and mutant.task not in [task.name for task in proofs]:
                problems.append(f"mutant {mutant.name}: no prove task {mutant.task}")
        for mutant in self.mutants:
            count = sum(path.read_text().count(mutant.text) for path in self.sources)
            if count != 1:
                problems.append(f"mutant {mutant.name}: its text occurs {count} times in the sources of "
                                f"{self.files['list'].name}, not once")

    def proves(self, task, label):
        """Whether `label` is proven for the parameters of `task`; one that is not may be false without any mutant."""
        return any(other.what == "prove" and other.parameters == task.parameters and other.selects(label)
                   for other in self.tasks)

    def task_of(self, mutant):
        proofs = [task for task in self.tasks if task.what == "prove"]
        if mutant.task:
            return next(task for task in proofs if task.name == mutant.task)
        return next((task for task in proofs if task.quick), proofs[0])


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


class Design:
    """One elaboration: RTL, properties and harness, flattened; then as AIGER and SMT-LIB2."""

    def __init__(self, block, parameters, folder, replaced=None):
        self.block, self.folder, self.top = block, folder, f"{block.name}_formal"
        folder.mkdir(parents=True)
        sources = [(replaced or {}).get(path, path) for path in block.sources]
        sources += [block.files["props"], block.files["formal"]]
        for path in sources:
            if not path.exists():
                raise Failure(f"{path} does not exist")
        chparam = "".join(f" -chparam {name} {value}" for name, value in parameters)
        sleeps = re.search(r"\bu_hold\b", block.files["formal"].read_text())
        memories = ["memory_collect", "memory_map", "dffunmap"] if sleeps else []
        output = yosys(folder, "read", [
            *(f"read_verilog -sv -formal -I {block.root} {path}" for path in sources),
            f"hierarchy -check -top {self.top}{chparam}",
            "proc", "flatten", *memories, "write_json read.json",
        ], ["read.json"])
        initial = self.hold()
        output += yosys(folder, "elaborate", [
            "read_json read.json", "chformal -early", *initial, f"prep -top {self.top}", "check",
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
                self.cells[cell["type"]].setdefault(name.split(".")[-1].split("[")[0], []).append(name)
        for kind, letter in (("$assert", "a"), ("$assume", "m"), ("$cover", "c")):
            found, wanted = set(self.cells[kind]), block.labels[letter]
            if letter == "m":
                wanted = wanted & found  # One that always holds for these parameters is not needed.
            if not wanted <= found:
                raise Failure(f"{len(wanted - found)} of {len(wanted)} {kind} cells are gone after elaboration: " +
                              ", ".join(sorted(wanted - found)[:4]))
            if found != wanted:
                raise Failure(f"{kind} cells without a label of {block.files['props'].name}: " +
                              ", ".join(sorted(found - wanted)[:4]))

    def netlist(self, name):
        return json.loads((self.folder / f"{name}.json").read_text())["modules"][self.top]

    def hold(self):
        """Connects the wires of the harness that stand for inner ones; lets the flip-flops of the copy u_hold, if
        there is one, start as the block's and stand still while hold is high. Returns the commands that find the
        initial state: what one clock of reset leaves of any state, with any inputs."""
        path = self.folder / "read.json"
        design = json.loads(path.read_text())
        module = design["modules"][self.top]
        nets, cells = module["netnames"], module["cells"]
        inner = {}
        for name, net in nets.items():
            target = net["attributes"].get("inside")
            if target is not None:
                index = re.search(r"\[\d+\]", name)
                target = target.replace("[]", index.group() if index else "[]")
                if target not in nets or len(nets[target]["bits"]) != len(net["bits"]):
                    raise Failure(f"{name}: no '{target}' of {len(net['bits'])} bits inside")
                inner.update(zip(net["bits"], nets[target]["bits"]))
        for item in [*nets.values(), *module["ports"].values()] if inner else []:
            item["bits"] = [inner.get(bit, bit) for bit in item["bits"]]
        for cell in cells.values() if inner else []:
            cell["connections"] = {port: [inner.get(bit, bit) for bit in bits]
                                   for port, bits in cell["connections"].items()}
        held = [cell for name, cell in cells.items()
                if "u_hold." in name and ("dff" in cell["type"] or "latch" in cell["type"])]
        if any("u_hold." in name for name in cells):
            if "hold" not in nets:
                raise Failure("u_hold needs a signal 'hold' in the harness")
            if not held:
                raise Failure("u_hold has no flip-flop")
            twins = {bit: twin for name, net in nets.items() if "u_hold." in name for bit, twin in
                     zip(net["bits"], nets.get(f"u_{self.block.name}.{name.split('u_hold.')[1]}", net)["bits"])}
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
        if inner or held:
            path.write_text(json.dumps(design))
        if "rst_i" in module["ports"] and "clk_i" in module["ports"]:
            return ["sim -clock clk_i -reset rst_i -rstlen 1 -n 1 -w"]
        return []

    def names(self, kind, labels):
        return [name for label in sorted(labels) for name in self.cells[kind][label]]

    def delete(self, kind, keep):
        return [f"delete {self.top}/{name}" for label, names in self.cells[kind].items()
                if label not in keep for name in names]

    def aiger(self, name, asserts=(), assumes=(), covers=()):
        """<name>.aig with one output for each assertion (or cover, inverted), in the order returned."""
        lines = ["read_rtlil design.il", *self.delete("$cover", covers),
                 *self.delete("$assert", set(asserts) | set(assumes))]
        lines += [f"chformal -assert2assume {self.top}/{cell}" for cell in self.names("$assert", assumes)]
        if covers:
            (self.folder / "cover.v").write_text(
                '(* techmap_celltype = "$cover" *) module cover_is_assert(input A, input EN);\n'
                "  \\$assert _TECHMAP_REPLACE_ (.A(!A), .EN(EN));\nendmodule\n")
            lines += ["techmap -map cover.v"]
        lines += [f"techmap -map {MULTIPLIER}", "opt_clean", "memory_map", "setundef -anyseq",
                  "setundef -undriven -anyseq", "opt -fast", "techmap", "opt -fast",
                  "dffunmap", "aigmap", "setundef -anyseq", "opt_clean", f"write_json {name}.json",
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
    verdict, clocks = design.abc(name, output, f"ind -F {STEPS} -C 100000", seconds)
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
    design = Design(block, task.parameters, folder)
    labels = {label for label in block.labels["a"] if task.selects(label)}
    if not labels:
        raise Failure("selects no assertion")
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
        outputs = design.aiger(name, asserts, assumes)
        if sorted(outputs) != sorted(design.names("$assert", asserts)):
            raise Failure(f"{len(outputs)} outputs for {len(asserts)} assertions")
        count += len(outputs)
        if name == "lemmas" and task.engine == "pdr" and together(design):
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
    design = Design(block, task.parameters, folder)
    labels = {label for label in block.labels["c"] if task.selects(label)}
    if not labels:
        raise Failure("selects no cover")
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
    design = Design(block, task.parameters, folder, replaced)
    found = []
    for rule in mutant.rules:
        labels = {label for label in block.labels["a"] if rule_of(label) == rule and not is_lemma(label) and
                  block.proves(task, label)}
        if not labels:
            raise Failure(f"no row with the parameters of task {task.name} proves an assertion of {rule}")
        outputs = design.aiger(f"rule_{rule}", labels)
        verdict, _, output = design.hunt(f"rule_{rule}", f"bmc3 -F {BMC_FRAMES}", HUNT_SECONDS)
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
                        help=f"only rows marked quick and the first {QUICK_MUTANTS} mutants of a block")
    parser.add_argument("--list", action="store_true", help="print blocks, rules, tasks and mutants; run nothing")
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
    folders, bare = find_blocks(root)
    unknown = [name for name in options.blocks if name not in folders]
    if unknown:
        parser.error(f"no properties for {', '.join(unknown)}; there are: {', '.join(folders) or 'none'}")
    if options.keep and options.keep.exists() and any(options.keep.iterdir()):
        parser.error(f"{options.keep} is not empty")
    work = options.keep.resolve() if options.keep else pathlib.Path(tempfile.mkdtemp(prefix="stretto_formal_"))
    work.mkdir(parents=True, exist_ok=True)
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
            if (task.quick or not options.quick) and wanted(task.name):
                jobs.append((block, task.what, task))
        for mutant in block.mutants[:QUICK_MUTANTS if options.quick else None]:
            if wanted(mutant.name):
                jobs.append((block, "mutant", mutant))
    if not jobs and not failed:
        failed.append("nothing to do: no block has properties, or --only matches nothing")
        print(f"FAIL  {failed[-1]}")

    lock = threading.Lock()

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
