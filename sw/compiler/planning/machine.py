# SPDX-License-Identifier: Apache-2.0
"""Rates of a machine of platform/machines, from its parameters: what plans and estimates need.

Keys that a file leaves out have the platform's defaults (`stretto list parameters`); those used here are repeated
below, and a test compares them.
"""

import dataclasses
import os
import pathlib

import yaml

from front import graph as graphs

HERE = pathlib.Path(__file__).resolve()
# That of the platform that calls, else the source tree's or the one beside the installed compiler.
SHARES = [pathlib.Path(os.environ["STRETTO_SHARE"])] if os.environ.get("STRETTO_SHARE") else \
    [HERE.parents[3] / "platform", HERE.parents[2]]
FOLDER = next((share / "machines" for share in SHARES if (share / "machines").is_dir()), SHARES[0] / "machines")
DEFAULTS = {
    "gpu.cus": 80, "gpu.clock_mhz": 1400, "gpu.lds_bytes": 131072, "gpu.tensor_fma_per_cycle": 512,
    "gpu.tensor_efficiency_numerator": 4, "gpu.tensor_efficiency_denominator": 5, "gpu.simt_lanes": 64,
    "gpu.simt_fp16_per_lane": 2, "l2.bytes": 16777216, "l2.ways": 16, "l2.persist_percent": 75, "l2.banks": 64,
    "l2.request_cycles": 105, "l2.response_cycles": 105, "l2.memory_cycles": 0, "l2.partitions": 1, "l2.partition_link_cycles": 0,
    "l2.bank_bytes_per_cycle": 32, "l2.cu_load_bytes_per_cycle": 64, "l2.cu_store_bytes_per_cycle": 32,
    "hbm.clock_mhz": 1000, "hbm.channels": 32, "cp.mhz": 1500, "software.call_ns": 200, "software.packet_ns": 100,
    "software.launch_ns": 0}
MAY_BE_0 = ("l2.persist_percent", "l2.request_cycles", "l2.response_cycles", "l2.memory_cycles", "l2.partition_link_cycles",
            "software.call_ns", "software.packet_ns", "software.launch_ns")
HBM_BYTES_PER_CYCLE = 32  # Of a channel: 128 bits, both edges.


@dataclasses.dataclass(frozen=True)
class Machine:
    """Rates are in numbers or bytes a microsecond."""
    name: str
    units: int
    lds_bytes: int
    l2_bytes: int
    l2_way_bytes: int
    l2_partitions: int     # Each keeps a copy of what its units read of another one's.
    pinned_bytes: int      # Of the L2, at most.
    tensor_flops: float    # With the pipe's sustained share.
    simt_flops: float      # FP16,
    simt_fp32: float       # FP32.
    load_bytes: float      # Ports of all units.
    store_bytes: float
    l2_rate: float
    dram_rate: float
    l2_us: float           # Of a load that hits, a mean of near and far,
    memory_us: float       # and of one that misses, DRAM's own time left out.
    cp_mhz: int            # Of the processor that runs the firmware.
    call_ns: int           # Of the host: a call, a packet, a launch.
    packet_ns: int
    launch_ns: int
    sets: tuple = ()       # path=value beyond its file.


def load(name, folder=FOLDER, sets=()):
    """A shipped machine, or a file, with parameters set beyond it: path=value."""
    values = dict(DEFAULTS)
    read(name, pathlib.Path(folder), values, 0)
    given = dict(split(one) for one in sets)
    for key in values:
        if key in given:
            values[key] = whole("--set", key, given[key])
    cycles = values["gpu.cus"] * values["gpu.clock_mhz"]  # Of all units in a microsecond.
    efficiency = values["gpu.tensor_efficiency_numerator"] / values["gpu.tensor_efficiency_denominator"]
    hit = values["l2.request_cycles"] + values["l2.response_cycles"] + (  # Of another partition as often as not.
        values["l2.partition_link_cycles"] * (values["l2.partitions"] - 1) / values["l2.partitions"])
    return Machine(
        name=name, units=values["gpu.cus"], lds_bytes=values["gpu.lds_bytes"], l2_bytes=values["l2.bytes"],
        l2_way_bytes=values["l2.bytes"] // values["l2.ways"], l2_partitions=values["l2.partitions"],
        pinned_bytes=values["l2.bytes"] // values["l2.ways"] * pinned_ways(values),
        tensor_flops=2 * cycles * values["gpu.tensor_fma_per_cycle"] * efficiency,
        simt_flops=cycles * values["gpu.simt_lanes"] * values["gpu.simt_fp16_per_lane"],
        simt_fp32=cycles * values["gpu.simt_lanes"],
        load_bytes=cycles * values["l2.cu_load_bytes_per_cycle"],
        store_bytes=cycles * values["l2.cu_store_bytes_per_cycle"],
        l2_rate=values["l2.banks"] * values["l2.bank_bytes_per_cycle"] * values["gpu.clock_mhz"],
        dram_rate=values["hbm.channels"] * HBM_BYTES_PER_CYCLE * values["hbm.clock_mhz"],
        l2_us=hit / values["gpu.clock_mhz"], memory_us=(hit + values["l2.memory_cycles"]) / values["gpu.clock_mhz"],
        cp_mhz=values["cp.mhz"], call_ns=values["software.call_ns"], packet_ns=values["software.packet_ns"],
        launch_ns=values["software.launch_ns"],
        sets=tuple(sorted(f"{key}={value}" for key, value in given.items()
                          if not key.startswith("sim.") and key != "gpu.tile_values")))


def pinned_ways(values):
    """Whole ways of each set, never all of them (L2Spec::persist_ways of models/gpu/base/gpu_spec.h)."""
    return min(values["l2.ways"] * values["l2.persist_percent"] // 100, values["l2.ways"] - 1)


def whole(where, key, value):
    least = 0 if key in MAY_BE_0 else 1
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise graphs.GraphError(f"{where} {key}={value}: must be a whole number from {least} on")
    return value


def split(text):
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise graphs.GraphError(f"--set {text}: must be path.to.key=value")
    try:
        return key, int(value, 0)
    except ValueError:
        return key, value


def read(name, folder, values, depth):
    path = pathlib.Path(name) if name.endswith(".yaml") else folder / f"{name}.yaml"
    if not path.is_file():
        names = sorted(one.stem for one in folder.glob("*.yaml"))
        raise graphs.GraphError(f"--machine {name}: no such machine{graphs.near(name, names)}")
    if depth == 8:
        raise graphs.GraphError(f"--machine {name}: extends goes in a circle")
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise graphs.GraphError(f"{path}: " + " ".join(str(error).split())) from error
    if not isinstance(data, dict):
        raise graphs.GraphError(f"{path}: must be a map of a machine's parameters")
    if "extends" in data:
        base = str(data["extends"])
        beside = path.parent / base
        read(str(beside) if base.endswith(".yaml") else base, folder, values, depth + 1)
    for key in values:
        room, _, leaf = key.partition(".")
        given = data.get(room)
        if isinstance(given, dict) and leaf in given:
            values[key] = whole(f"{path}:", key, given[leaf])
