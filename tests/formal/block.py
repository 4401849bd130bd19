# SPDX-License-Identifier: Apache-2.0
"""The files of a block, read and held against each other; what they say and what is refused: README.md beside this
file."""
import fnmatch
import re

MIN_MUTANTS = 8


class Failure(Exception):
    """A check of this run failed; the text says which and what to do."""


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
        self.quick = self.gate = self.apart = False
        self.only, self.lemmas, self.scorr, self.cut = ["*"], [], True, None
        for word in (cells[4].split() if len(cells) == 5 else []):
            if word == "quick":
                self.quick = True
            elif word == "gate":
                self.quick = self.gate = True
            elif word == "noscorr":
                self.scorr = False
            elif word == "apart":
                self.apart = True
            elif word.startswith("cut="):
                self.cut = word[4:]
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
        self.asserted = asserted = {}  # Rule to its assertions, lemmas apart.
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
            if not any(task.selects(label) and not task.gate for task in proofs):
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
        return any(other.what == "prove" and (other.parameters, other.cut) == (task.parameters, task.cut) and
                   other.selects(label) for other in self.tasks)

    def task_of(self, mutant):
        proofs = [task for task in self.tasks if task.what == "prove"]
        if mutant.task:
            return next(task for task in proofs if task.name == mutant.task)
        return next((task for task in proofs if task.quick), proofs[0])
