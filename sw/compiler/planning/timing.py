# SPDX-License-Identifier: Apache-2.0
"""How long a pipeline takes from the end of the step before to its own end: launch, way through the stages, waves, steady
state, end. Algorithm 2 (balance.py) knows throughput alone (KT-LB-07).

A stage has two times. `tile`: from tile to tile of a work-group. `first`: from when a tile has left the stages before
until it leaves this one. Both are from a profile, or from the machine's rates and latencies. The schedule is then run
with them: a work-group takes its next tile when it is there, when its last one is through, and when there is room behind
it. So each stage takes ceil(tiles / work-groups) waves, the pipeline fills and drains, and a short queue holds its writer
up. No more tiles pass than memory and L2 have bytes for.
"""

import dataclasses

from planning import stage_kinds

STEP = 64         # STAGE_STEP: of K.
PIECES_BYTES = 8 << 10  # Of four wavefronts: STAGE_MAP_WAVEFRONTS x STAGE_PIECE.
PACKED = ("Relu", "ReluGrad", "Add", "Sub", "Mul", "Concat", "Expand", "ReduceSum", "LayerNormGammaGrad", "LayerNormBetaGrad")
GRANULE = 16      # Of rows, columns and K of a product on the tensor pipe.
# What firmware does between the end of a kernel and the first work-group of the next one, in clocks of its processor
# (sw/firmware/services/packet_service.c, dispatch_service.c): for one kernel, and each further member of a pipeline. Counted
# on machine a100; tests/system/own_graph_test.cpp holds runs to it.
LAUNCH_CLOCKS = 2640
MEMBER_CLOCKS = 2130


@dataclasses.dataclass(frozen=True)
class Times:
    """Of a stage, microseconds."""
    tile: float
    first: float


@dataclasses.dataclass(frozen=True)
class Prediction:
    """Microseconds. `way`: until the first tile has left the last stage. `run`: from the first work-group to the last."""
    launch: float
    way: float
    run: float

    @property
    def us(self):
        return self.launch + self.run


def launch_us(machine, members):
    return (LAUNCH_CLOCKS + MEMBER_CLOCKS * (members - 1)) / machine.cp_mhz


def submit_us(machine, packets):
    """Of the host, for a call that launches."""
    return (machine.call_ns + machine.launch_ns + machine.packet_ns * packets) / 1000


def of_stages(pipeline, machine, profile=None):
    """Times of each stage of a pipeline."""
    found = []
    for stage in pipeline.stages:
        times, known = ran(pipeline, stage, profile, machine), measured(pipeline, stage, profile)
        if times is None:
            times = estimated(pipeline, stage, machine)
            if known:
                tile = machine.units * known[1] / known[0] / stage.parts
                times = Times(tile, max(tile, times.first))
        found.append(times)
    return found


def results(pipeline, stage):
    return tuple(pipeline.flow.ops[number].output for number in stage.operators)


def ran(pipeline, stage, profile, machine):
    """Of a stage that made tiles in a pipeline. A tile is measured with one work-group, of all column parts. Where it had other
    rows, the time is what the estimate of this one is to that of the other."""
    if not profile or stage.role == "final":
        return None
    names, rows = results(pipeline, stage), pipeline.tile_rows
    measured_rows = [one for name, one in profile.tiles if name == names]
    if not measured_rows:
        return None
    other = min(measured_rows, key=lambda one: (one != rows, -one))
    known, scale = profile.tiles[names, other], 1.0
    if other != rows:
        scale = estimated(pipeline, stage, machine, rows).tile / estimated(pipeline, stage, machine, other).tile
    return Times(known.tile_us * scale / stage.parts, max((known.first_us or known.tile_us / stage.parts) * scale, 1e-9))


def measured(pipeline, stage, profile):
    """Of a stage whose operators ran as kernels of their own: tiles a microsecond, bulk-synchronous, and the share of the SIMT
    or the tensor pipe that they used, the larger."""
    known = profile.operators if profile else {}
    names = results(pipeline, stage)
    if stage.role == "final" or any(name not in known for name in names):
        return None
    whole = sum(known[name]["us"] for name in names)
    share = max(sum(known[name]["us"] * known[name][pipe] for name in names) for pipe in ("tensor", "simt"))
    return pipeline.tiles / whole, max(share / whole, 1e-6)


def up(number, step):
    return -(-number // step) * step


def product_us(rows, columns, inner, machine):
    """Of the tensor pipe of a unit."""
    return 2 * up(rows, GRANULE) * up(columns, GRANULE) * up(inner, GRANULE) / (machine.tensor_flops / machine.units)


def simt_us(pipeline, stage, machine, rows):
    """Of the SIMT pipe of a unit, for a tile. Norms and functions are worked out in FP32, with a conversion before and one
    behind; so is what leaves an accumulator."""
    flow, packed, wide = pipeline.flow, 0.0, 0.0
    for number in stage.operators:
        op = flow.ops[number]
        if op.kind == "MatMul":
            elements = flow.tensor(op.output).elements if stage.role == "map" else 0
            wide, packed = wide + elements, packed + elements * (len(op.inputs) == 3)
        elif op.kind in PACKED:
            packed += flow.simt(number)
        else:
            wide += flow.simt(number) + 2 * flow.tensor(op.output).elements
    share = machine.units * rows / pipeline.rows / stage.parts
    return (packed / machine.simt_flops + wide / machine.simt_fp32) * share


def streamed(pipeline, stage):
    """Tensors that a stage reads tiles of."""
    flow = pipeline.flow
    made = {flow.ops[number].output for number in stage.operators}
    return [name for name in dict.fromkeys(name for number in stage.operators for name in flow.inputs[number])
            if name not in made and flow.rows(name) == pipeline.rows]


def estimated(pipeline, stage, machine, rows=None):
    """By the machine's rates and latencies, as the kernels of sw/kernels/stages work; of tiles of the pipeline's rows, or of
    others."""
    if stage.role == "final":
        return final(pipeline, stage, machine)
    flow, rows, units = pipeline.flow, rows or pipeline.tile_rows, machine.units
    op, names, poll = flow.ops[stage.operators[0]], streamed(pipeline, stage), machine.l2_us
    simt, tensor = simt_us(pipeline, stage, machine, rows), 0.0
    sizes = {name: flow.tensor(name).bytes * rows / pipeline.rows for name in names}
    begin = sizes[names[0]]  # What is loaded before work begins.
    if stage.kind == "TENSOR" and stage.role == "map":
        inner, columns = flow.tensor(names[0]).columns, -(-flow.tensor(op.output).columns // stage.parts)
        tensor = product_us(rows, columns, inner, machine)
        # A tile is read once for two blocks.
        loaded = sizes[names[0]] * -(-columns // (2 * stage_kinds.BLOCK)) + sum(list(sizes.values())[1:]) / stage.parts
        loaded += 0 if stage.weights_stay else 2 * inner * columns
        begin = begin / -(-inner // STEP) + (0 if stage.weights_stay else 2 * STEP * min(columns, 2 * stage_kinds.BLOCK))
    else:
        loaded = sum(sizes.values())
        if stage.kind == "TENSOR":
            made = flow.tensor(op.output)
            tensor = product_us(made.rows, -(-made.columns // stage.parts), rows, machine)
        begin = loaded if stage.kind == "TENSOR" else min(begin, PIECES_BYTES)
    places = len(stage.writes) + any(queue.producer == pipeline.stages.index(stage) for queue in pipeline.queues)
    stored = 0 if stage.role == "fan-in" else \
        flow.tensor(flow.ops[stage.operators[-1]].output).bytes * rows / pipeline.rows / stage.parts * places
    load, store, begin = (size * units / rate for size, rate in (
        (loaded, machine.load_bytes), (stored, machine.store_bytes), (begin, machine.load_bytes)))
    far = poll if any(flow.made.get(name) in pipeline.inside for name in names) else machine.memory_us
    cold = machine.memory_us if len(op.inputs) == 3 else 0  # A bias or the like, for the first tile.
    if stage.kind == "TENSOR":  # One side multiplies while the other one stores; each looks at a word first.
        return Times(max(tensor, load, poll + max(simt, store), 2 * poll),
                     poll + far + begin + max(tensor, load) + cold + simt + store + poll / 2)
    return Times(max(simt, load, store) + 2 * poll, 2 * poll + far + begin + cold + max(simt, load, store) + poll / 2)


def final(pipeline, stage, machine):
    """All partial sums, once: a tile's share of that with one work-group, and what it costs beside. Its wavefronts take
    pieces of the result in turn; of each the sums come one or four TREE after the other, and each waits for its loads."""
    queue = next(one for one in pipeline.queues if one.is_partial and pipeline.stages.index(stage) in one.consumers)
    producer = pipeline.stages[queue.producer]
    replicas = max(1, producer.ctas // producer.parts)
    result = pipeline.flow.tensor(pipeline.flow.ops[stage.operators[0]].output).elements
    sums = replicas * (1 if producer.kind == "TENSOR" else stage_kinds.MAP_WAVEFRONTS)
    rows = stage_kinds.final_rows(result)
    in_turn = -(-sums // (stage_kinds.TREE * rows)) * machine.l2_us
    us = max(replicas * result / machine.simt_flops, 4 * sums * result / machine.load_bytes) * machine.units
    pieces = result * rows / (stage_kinds.FINAL_PIECE * stage_kinds.MAP_WAVEFRONTS)  # Of a wavefront.
    return Times(max(us, in_turn * max(0.0, pieces - 1)) / pipeline.tiles, 3 * machine.l2_us + in_turn)


def predict(pipeline, machine, profile=None):
    """The whole of it."""
    times = of_stages(pipeline, machine, profile)
    way, run = schedule(pipeline, times)
    for size, rate in ((pipeline.dram_bytes, machine.dram_rate), (pipeline.l2_bytes, machine.l2_rate)):
        run = max(run, way + size / rate)
    return Prediction(launch_us(machine, len(pipeline.stages)), way, run + machine.l2_us)


def least_us(pipeline, machine):
    """What no balance can go below: bytes of memory and L2, operations of both pipes, at the whole machine's rates."""
    tensor = sum(pipeline.flow.flops(number) for number in pipeline.group.members) / machine.tensor_flops
    simt = sum(pipeline.flow.simt(number) for number in pipeline.group.members) / machine.simt_flops
    return max(pipeline.dram_bytes / machine.dram_rate, pipeline.l2_bytes / machine.l2_rate, tensor, simt)


def schedule(pipeline, times):
    """When the first tile has left the last stage, and when all have: microseconds from the pipeline's begin."""
    stages, queues, tiles = pipeline.stages, pipeline.queues, pipeline.tiles
    maps = [place for place, stage in enumerate(stages) if stage.role != "final"]
    inputs = {place: [queue.producer for queue in queues if place in queue.consumers and not queue.is_partial]
              for place in maps}
    outputs = {place: [(queue.capacity, queue.consumers) for queue in queues
                       if queue.producer == place and not queue.is_partial] for place in maps}
    free = {place: [0.0] * max(1, stages[place].ctas // stages[place].parts) for place in maps}
    left = {place: [0.0] * tiles for place in maps}      # When each tile is there for others,
    through = {place: [0.0] * tiles for place in maps}   # and its inputs have been read.
    for tile in range(tiles):
        for place in maps:
            lanes, one = free[place], times[place]
            begin = max([lanes[tile % len(lanes)], *(left[producer][tile] for producer in inputs[place])])
            for capacity, consumers in outputs[place]:
                if tile >= capacity:  # Its entry is stored to at the end.
                    begin = max(begin, *(through[reader][tile - capacity] - one.first for reader in consumers))
            left[place][tile] = begin + one.first
            lanes[tile % len(lanes)] = through[place][tile] = begin + one.tile
    way = max(left[place][0] for place in maps)
    end = max(max(left[place]) for place in maps)
    for place, stage in enumerate(stages):
        if stage.role == "final":
            end = max(end, max(max(left[one]) for one in maps) + times[place].first + times[place].tile * tiles / stage.ctas)
    return way, end
