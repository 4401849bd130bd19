# SPDX-License-Identifier: Apache-2.0
"""Called by cost.sh, which says what for."""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
RAM_WORDS = 64
# Without the passes that look for equal nodes, which take abc a quarter of an hour at 200,000 gates (grid_scheduler).
MAP = "strash; dc2; &get -n; &nf; &put\n"
LINE = re.compile(r"^Cost \(`rtl/cost\.sh`\): .*$", re.M)


def synthesize(block):
    """{memory_bits, gates, flip_flops} of the block with its default parameters."""
    sources = [line for line in (ROOT / "rtl" / block / f"{block}.f").read_text().splitlines()
               if line.strip() and not line.startswith("//")]
    with tempfile.TemporaryDirectory() as folder:
        # Each module by itself, once, however many instances it has: the Tracker's banks are four.
        script = [*(f"read_verilog -sv -I . {path}" for path in sources),
                  f"hierarchy -check -top {block}", "proc", "opt", "wreduce", "opt_clean",
                  "memory -nomap", "opt_clean", f"memory_map t:$mem* r:SIZE<{RAM_WORDS} %i", "opt", "alumacc",
                  "techmap", "opt", "opt_dff", f"abc -g AND,OR,XOR,MUX -script {folder}/map.abc", "opt_clean",
                  f"write_json {folder}/gates.json"]
        pathlib.Path(folder, "map.abc").write_text(MAP)
        done = subprocess.run(["yosys", "-q", "-p", "; ".join(script)], cwd=ROOT, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            said = done.stdout.strip().splitlines()
            sys.exit(f"cost.sh: {block}: " + (said[-1] if said else f"yosys ended with status {done.returncode}, "
                                              "without a word (killed? out of memory?)"))
        modules = json.loads(pathlib.Path(folder, "gates.json").read_text())["modules"]
    return count(modules, block)


def count(modules, name):
    """What a module costs with everything in it."""
    cost = dict.fromkeys(("memory_bits", "gates", "flip_flops"), 0)
    for cell in modules[name]["cells"].values():
        if cell["type"] in modules:
            for what, number in count(modules, cell["type"]).items():
                cost[what] += number
        elif cell["type"].startswith("$mem"):
            cost["memory_bits"] += int(cell["parameters"]["SIZE"], 2) * int(cell["parameters"]["WIDTH"], 2)
        elif "DFF" in cell["type"]:
            cost["flip_flops"] += 1
        elif cell["type"].startswith("$_"):
            cost["gates"] += 1
        else:
            sys.exit(f"cost.sh: {name}: {cell['type']} was not mapped")
    return cost


def readme_is_right(block, cost, update):
    line = (f"Cost (`rtl/cost.sh`): {cost['memory_bits']:,} bits of memory, {cost['gates']:,} gates, "
            f"{cost['flip_flops']:,} flip-flops.")
    path = ROOT / "rtl" / block / "README.md"
    text = path.read_text()
    found = LINE.search(text)
    if not found:
        print(f"cost.sh: rtl/{block}/README.md lacks the line\n  {line}", file=sys.stderr)
        return False
    if found.group(0) != line and not update:
        print(f"cost.sh: rtl/{block}/README.md says\n  {found.group(0)}\nand yosys\n  {line}\n"
              "  (bash rtl/cost.sh --update)", file=sys.stderr)
        return False
    if found.group(0) != line:
        path.write_text(text.replace(found.group(0), line))
    return True


def refuse(why):
    print(f"cost.sh: {why}", file=sys.stderr)
    sys.exit(2)


def main():
    options = [word for word in sys.argv[1:] if word.startswith("-")]
    wanted = [word for word in sys.argv[1:] if word not in options]
    blocks = [path.parent.name for path in sorted(ROOT.glob("rtl/*/*.f")) if path.stem == path.parent.name]
    for word in options:
        if word not in ("--json", "--update"):
            refuse(f"no option {word}; there are: --json, --update, --help")
    for word in wanted:
        if word not in blocks:
            refuse(f"no block {word}; there are: {', '.join(blocks)}")
    if "--json" not in options:
        print(f"{'block':<16} {'memory bits':>12} {'gates':>9} {'flip-flops':>11}", flush=True)
    costs = {}
    right = True
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for block, cost in zip(wanted or blocks, pool.map(synthesize, wanted or blocks)):
            costs[block] = cost
            if "--json" not in options:
                print(f"{block:<16} {cost['memory_bits']:>12,} {cost['gates']:>9,} {cost['flip_flops']:>11,}", flush=True)
            right = readme_is_right(block, cost, "--update" in options) and right
    if "--json" in options:
        print(json.dumps(costs, indent=2))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
