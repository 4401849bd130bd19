# SPDX-License-Identifier: Apache-2.0
"""Called by cost.sh, which says what for."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
RAM_WORDS = 64
LINE = re.compile(r"^Cost \(`rtl/cost\.sh`\): .*$", re.M)


def synthesize(block):
    """(memory bits, gates, flip-flops) of the block with its default parameters."""
    sources = [line for line in (ROOT / "rtl" / block / f"{block}.f").read_text().splitlines()
               if line.strip() and not line.startswith("//")]
    with tempfile.TemporaryDirectory() as folder:
        script = [*(f"read_verilog -sv -I . {path}" for path in sources),
                  f"hierarchy -check -top {block}", "proc", "flatten", "opt", "wreduce", "opt_clean",
                  "memory -nomap", "opt_clean", f"write_json {folder}/memories.json",
                  f"memory_map t:$mem* r:SIZE<{RAM_WORDS} %i", "opt", "alumacc", "techmap", "opt", "opt_dff",
                  "abc -g AND,OR,XOR,MUX", "opt_clean", f"write_json {folder}/gates.json"]
        done = subprocess.run(["yosys", "-q", "-p", "; ".join(script)], cwd=ROOT, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"cost.sh: {block}: {done.stdout.strip().splitlines()[-1]}")
        cells = json.loads(pathlib.Path(folder, "gates.json").read_text())["modules"][block]["cells"].values()
    bits = gates = flip_flops = 0
    for cell in cells:
        if cell["type"].startswith("$mem"):
            value = {name: int(cell["parameters"][name], 2) for name in ("SIZE", "WIDTH")}
            bits += value["SIZE"] * value["WIDTH"]
        elif "DFF" in cell["type"]:
            flip_flops += 1
        elif cell["type"].startswith("$_"):
            gates += 1
        else:
            sys.exit(f"cost.sh: {block}: {cell['type']} was not mapped")
    return bits, gates, flip_flops


def main():
    update = "--update" in sys.argv[1:]
    wanted = [word for word in sys.argv[1:] if word != "--update"]
    blocks = [path.parent.name for path in sorted(ROOT.glob("rtl/*/*.f")) if path.stem == path.parent.name]
    unknown = [word for word in wanted if word not in blocks]
    if unknown:
        sys.exit(f"cost.sh: no block {' '.join(unknown)}; there are: {', '.join(blocks)}")
    print(f"{'block':<16} {'memory bits':>12} {'gates':>9} {'flip-flops':>11}")
    wrong = 0
    for block in wanted or blocks:
        bits, gates, flip_flops = synthesize(block)
        print(f"{block:<16} {bits:>12,} {gates:>9,} {flip_flops:>11,}", flush=True)
        line = f"Cost (`rtl/cost.sh`): {bits:,} bits of memory, {gates:,} gates, {flip_flops:,} flip-flops."
        path = ROOT / "rtl" / block / "README.md"
        text = path.read_text()
        found = LINE.search(text)
        if not found:
            print(f"cost.sh: rtl/{block}/README.md lacks the line\n  {line}", file=sys.stderr)
            wrong += 1
        elif found.group(0) != line and update:
            path.write_text(text.replace(found.group(0), line))
        elif found.group(0) != line:
            print(f"cost.sh: rtl/{block}/README.md says\n  {found.group(0)}\nand yosys\n  {line}\n"
                  "  (bash rtl/cost.sh --update)", file=sys.stderr)
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
