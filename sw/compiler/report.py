# SPDX-License-Identifier: Apache-2.0
"""What `compile.py --report` prints of a plan, and Table 2 of the Kitsune paper beside it.

  report.py [MACHINE]     all rows of Table 2, as Markdown: here / paper
"""

import pathlib
import sys
import tempfile

import yaml

import apps

TARGETS = pathlib.Path(__file__).resolve().parents[2] / "tests/reproduction/targets/kitsune.yaml"
# Application and whether it is trained -> result of the targets. Llama by its tokens: context or token.
ROWS = {("dlrm", False): "KT-R31", ("graphcast", False): "KT-R32", ("mgn", False): "KT-R33", ("nerf", False): "KT-R34",
        ("llama", False): "KT-R35", ("llama-tokens1-", False): "KT-R36", ("dlrm", True): "KT-R37",
        ("graphcast", True): "KT-R38", ("mgn", True): "KT-R39", ("nerf", True): "KT-R40", ("llama", True): "KT-R41"}


def table_row(graph_name):
    """The row of Table 2 for a graph of apps/, or None."""
    training = graph_name.endswith("-training")
    names = [name for name, trained in ROWS if trained == training and graph_name.startswith(name) and
             name.split("-")[0] in apps.NAMES]
    if not names or not TARGETS.is_file():
        return None
    wanted = ROWS[max(names, key=len), training]
    results = yaml.safe_load(TARGETS.read_text(encoding="utf-8"))["results"]
    return next(one["value"] for one in results if one["id"] == wanted)


def mib(count):
    return f"{count / 2**20:.2f} MiB"


def show(plan):
    s = plan["summary"]
    print(f"{plan['graph']}, mode {plan['mode']}, machine {plan['machine']}")
    for step in plan["steps"]:
        if step["kind"] == "kernel":
            continue
        count = sum(one["output"] in step["operators"] for one in plan["operators"])
        print(f"{step['kind']} {step['name']} ({step['pattern']}): {count} operators, DRAM {mib(step['dram_bytes'])}, "
              f"alone {mib(step['bsp_dram_bytes'])}")
        for stage in step.get("stages", []):
            parts = f", {stage['column_parts']} column parts" if stage["column_parts"] > 1 else ""
            print(f"  stage {stage['name']:28} {stage['class']:6} {stage['ctas']:4} work-groups{parts}: "
                  f"{', '.join(stage['kinds'])}")
        for queue in step.get("queues", []):
            print(f"  queue {queue['name']:28} {queue['producer']} -> {', '.join(queue['consumers'])}: depth "
                  f"{queue['depth_tiles']}, {queue['entries']} entries of {queue['payload_bytes']} bytes")
        if step["kind"] == "pipeline":
            p = step["predicted"]
            print(f"  {step['tiles']} tiles of {step['tile_rows']} rows, queues {mib(step['queue_bytes'])}; {p['us']:.1f} us "
                  f"bound by {p['limit']}, alone {p['bsp_us']:.1f} us ({p['source']}); " +
                  "".join(f"with {peak} TB/s of L2 {us:.1f} us; " for peak, us in p["us_by_l2_tb_s"].items()) + step["lp"])
    for reason in plan["left_out"]:
        print(f"left out: {reason}")
    print(f"operators {s['operators']}, in groups {s['grouped']} ({s['coverage_percent']:.1f} %); "
          f"DRAM {mib(s['dram_bytes'])} of {mib(s['bsp_dram_bytes'])} (cut by {s['traffic_cut_percent']:.2f} %); "
          f"arena {mib(s['arena_bytes'])}, without reuse {mib(s['arena_bytes_without_reuse'])}")
    row = table_row(plan["graph"])
    if row is not None:
        mode = plan["mode"]
        print(f"Table 2: operators {row['ops']}" + ("" if mode == "bsp" else
              f", in groups {row[mode + '_ops']} ({row[mode + '_pct']} %), DRAM cut by {row[mode + '_traffic_red']} %"))


def table(machine_name):
    """All rows of Table 2, here and in the paper."""
    from front import autodiff, load
    from planning import machine, modes
    print("| | operators | vertical: in groups | DRAM cut, % | Kitsune: in groups | DRAM cut, % |\n" + "|---" * 6 + "|")
    cases = [("DLRM", "dlrm:"), ("GraphCast", "graphcast:"), ("MeshGraphNets", "mgn:"), ("NeRF", "nerf:"),
             ("Llama context", "llama:"), ("Llama token", "llama:tokens=1,cached=2048")]
    for training in (False, True):
        for name, text in cases[:5] if training else cases:
            graph = load.load(text)
            graph = autodiff.backward(graph) if training else graph
            graph.check()
            with tempfile.TemporaryDirectory() as folder:
                plans = [modes.Planner(graph, mode, machine.load(machine_name), pathlib.Path(folder) / "plan").plan()
                         for mode in ("vertical", "kitsune")]
            row = table_row(graph.name)
            cells = [f"{name.split()[0] if training else name}{', training' if training else ''}",
                     f"{plans[0]['summary']['operators']} / {row['ops']}"]
            for plan in plans:
                s, mode = plan["summary"], plan["mode"]
                paper = f"{row[mode + '_ops']} ({row[mode + '_pct']} %)"
                cells += [f"{s['grouped']} ({s['coverage_percent']:.0f} %) / {paper}",
                          f"{s['traffic_cut_percent']:.2f} / {row[mode + '_traffic_red']}"]
            print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    table(sys.argv[1] if len(sys.argv) > 1 else "a100-nvswitch")
