# SPDX-License-Identifier: Apache-2.0
"""From a group of operators to the stages and queues of a spatial pipeline (Kitsune, 5.2, Algorithm 1).

Rows stream in tiles. A stage is an operator with those that its epilogue can take; a sum over rows is split into fan-in
(partial sums of the tiles that a work-group gets) and final (a tree over the partial sums). Every result that another
stage reads has one queue, to which all its readers subscribe. What others read is written to memory as well.

Liveness is shown by running the schedule (schedule.py). A work-group takes the next tile's inputs before it gives back
this one's where a queue holds more than one tile, so edges that meet again need entries for the tiles under way beside
them.
"""

import dataclasses
import math

from front import graph as graphs
from planning import schedule, stage_kinds

PAYLOAD_BYTES = 256 << 10     # KT-Q-07: at most,
BLOCK_BYTES = 64 << 10        # and what a tile that is larger is cut into.
WORDS_BYTES = 256             # TILE_QUEUE_WORDS_BYTES: full and free, a line each.
TILE_ROWS = (128, 64, 32, 16)  # The largest whose queues can be pinned.
COLUMNS = 128                 # Of a product that a work-group makes at least; a block.
BLOCKS_AT_ONCE = 2            # That a work-group makes of a tile that it reads once.
ACCUMULATOR_BYTES = 128 << 10  # Of a work-group: half of the registers of a unit.
DEPTH = 2                     # KT-U07.
TURNS = 8                     # Tiles that a work-group has: the last turn, of part of them, is an eighth of the time.
SHARES = 32                   # Steps in which entries of queues are given up.
STEP = 64                     # STAGE_STEP: of K.
RESIDENT_STEPS = 8            # Of K, one behind the other, of all blocks of COLUMNS: weights that stay in LDS,
RESIDENT_BLOCKS = 2           # of so many blocks at most.
RESIDENT_BYTES = 160 << 10    # STAGE_RESIDENT_LDS.
SECTOR_BYTES = 64             # Of the L2.
LDS_BYTES = {"L": 96 << 10, "W": 96 << 10}  # STAGE_STREAM_LDS, STAGE_FAN_IN_LDS: that a work-group takes at least.


@dataclasses.dataclass
class Stage:
    name: str
    kind: str                 # TENSOR or SIMT.
    role: str                 # map, fan-in, final.
    operators: list
    parts: int = 1            # Column parts of the result, work-groups of their own.
    sums: list = dataclasses.field(default_factory=list)     # Operators whose partial sums it makes.
    ctas: int = 1
    reads: list = dataclasses.field(default_factory=list)    # Tensors from memory.
    writes: list = dataclasses.field(default_factory=list)   # To memory.
    weight_bytes: int = 0
    weights_stay: bool = False
    tree: list = dataclasses.field(default_factory=list)     # Nodes of each level.


@dataclasses.dataclass
class Queue:
    name: str
    tensor: str
    producer: int             # Stages.
    consumers: list
    payload_bytes: int
    blocks: int = 1           # Entries a tile: column parts of the producer, each in payloads that are allowed.
    parts: int = 1            # Of them, those of different work-groups.
    slack: int = 0            # Tiles beside those of `depth`, where ways meet again.
    reads: int = 1            # Of an entry: one for each column part of its consumers.
    readers: int = 1          # Work-groups that give an entry back.
    depth: int = DEPTH        # Tiles, or where a tile has several blocks and nothing meets again, blocks.
    is_partial: bool = False  # Sums, once, after all tiles.
    capacity: int = DEPTH     # Tiles that all its entries hold.
    is_grown: bool = False
    tile_entries: int = 1     # Of a tile: block b of tile t is in number b mod tile_entries of tile t mod capacity.
    entries: int = 0

    @property
    def bytes(self):
        return self.entries * (self.payload_bytes + WORDS_BYTES)


def stream_error(flow, members, machine):
    """Why rows of these operators cannot stream through a pipeline, or None."""
    inside = set(members)
    rows = None
    for number in members:
        op, letter = flow.ops[number], flow.letters[number]
        where = f"{op.kind} -> {op.output}"
        if letter not in "LWEDNMprRC":
            return f"{where}: no stage: it indexes all data, or a matrix must be whole"
        if LDS_BYTES.get(letter, 0) > machine.lds_bytes:
            return f"{where}: its stage takes {LDS_BYTES[letter]} bytes of LDS, a unit has {machine.lds_bytes}"
        if letter == "W" and 4 * flow.tensor(op.output).elements > machine.units * ACCUMULATOR_BYTES:
            return f"{where}: partial sums of {list(flow.tensor(op.output).shape)} do not stay on chip"
        made = op.output if letter not in "RWp" else op.inputs[-1]
        rows = rows or flow.rows(made)
        if flow.rows(made) != rows:
            return f"{where}: {made} has {flow.rows(made)} rows, others {rows}"
        for place, (name, base) in enumerate(zip(op.inputs, flow.inputs[number])):
            producer = flow.made.get(base)
            if producer not in inside:
                continue
            if flow.letters[producer] in "RWp":
                return f"{where}: {base} is a sum over all rows"
            if flow.rows(name) != flow.rows(base):
                return f"{where}: {name} has {flow.rows(name)} rows, the same bytes as {base} {flow.rows(base)}"
            if letter == "L" and place > 0:
                return f"{where}: {name} is made in the group, must be there as a whole"
        if letter == "C" and op.get("axis") != len(flow.tensor(op.inputs[0]).shape) - 1:
            return f"{where}: axis {op.get('axis')} is not columns"
    return None


class Pipeline:
    """Stages and queues of a group for tiles of `tile_rows` rows."""

    def __init__(self, flow, group, machine, tile_rows=TILE_ROWS[0], depth=DEPTH, is_narrow=False, parts=None):
        """`parts`: of the columns of each stage, else as many as the rules below say."""
        self.flow, self.group, self.machine, self.depth, self.is_narrow = flow, group, machine, depth, is_narrow
        members = group.members
        self.inside = set(members)
        first = members[0]
        streamed = flow.ops[first]
        self.rows = flow.rows(streamed.output if flow.letters[first] not in "RWp" else streamed.inputs[-1])
        self.tile_rows = min(tile_rows, self.rows)
        self.tiles = -(-self.rows // self.tile_rows)
        self.stages, self.queues = [], []
        self.stage_of = {}
        self.fixed = set()  # Queues whose depth the user gave.
        self._stages(parts)
        self._memory()
        self._queues()
        self._depths()
        for stage in self.stages:  # Until there is a balance: as many as can be there.
            stage.ctas = machine.units

    # Algorithm 1.

    def _stages(self, parts):
        for number in self.group.members:
            letter, op = self.flow.letters[number], self.flow.ops[number]
            into = self._epilogue_of(number)
            if into is not None:
                self.stages[into].operators.append(number)
                self.stage_of[number] = into
            elif letter in "RW":
                self._add(Stage(op.output + ".fan-in", "TENSOR" if letter == "W" else "SIMT", "fan-in", [number],
                                sums=[number]), number)
                self._final(number)
            elif letter == "p":
                beside = next(other for other in self.group.members if self.flow.letters[other] == "M" and
                              self.flow.ops[other].inputs[-1] == op.inputs[-1])
                self.stages[self.stage_of[beside]].sums.append(number)
                self.stages[self.stage_of[beside]].operators.append(number)
                self.stage_of[number] = self.stage_of[beside]
                self._final(number)
            else:
                self._add(Stage(op.output, "TENSOR" if letter == "L" else "SIMT", "map", [number]), number)
        for place, stage in enumerate(self.stages):
            stage.parts = parts[place] if parts else self._parts(stage)

    def _add(self, stage, number):
        self.stage_of[number] = len(self.stages)
        self.stages.append(stage)

    def _final(self, number):
        self.stages.append(Stage(self.flow.ops[number].output + ".final", "SIMT", "final", [number]))

    def _epilogue_of(self, number):
        """The stage whose epilogue takes an operator: behind its last one, whose result nobody else reads here. Other
        operands come from memory, are what the stage reads already, or are made by stages before it."""
        flow = self.flow
        if flow.letters[number] not in "EDr":
            return None
        producers = [(name, flow.made[name]) for name in dict.fromkeys(flow.inputs[number])
                     if flow.made.get(name) in self.inside]
        for name, producer in producers:
            place = self.stage_of[producer]
            stage = self.stages[place]
            reads = {one for other in stage.operators for one in flow.inputs[other]}
            if stage.role == "map" and stage.operators[-1] == producer and not self._is_lost(stage) and \
                    {one for one in flow.readers[name] if one in self.inside} == {number} and \
                    all(other == name or other in reads or self.stage_of[made] < place for other, made in producers) and \
                    stage_kinds.takes(flow.graph, [flow.ops[one] for one in stage.operators], flow.ops[number]):
                return place
        return None

    def _is_lost(self, stage):
        """Whether the last result of a product's stage leaves the group, and cannot be kept with another one behind it."""
        return self._leaves(self.flow.ops[stage.operators[-1]].output) and stage.kind == "TENSOR" and \
            len(stage.operators) > 1

    def _leaves(self, name):
        """Whether others than the group's operators read a result, or it is one of the graph."""
        return name in self.flow.results or any(one not in self.inside for one in self.flow.readers.get(name, []))

    def _parts(self, stage):
        """Column parts, so that work-groups of few tiles have TURNS of them, and partial sums stay in registers. Narrow:
        as many as there can be, so that fewer tiles are under way. Work-groups come in multiples of them, so that half of
        what a product has on average is the most. Weights that come from memory with each wave of tiles want large waves:
        of those as few parts as occupy the machine."""
        tensor = self.flow.tensor(self.flow.ops[stage.operators[0]].output)
        if stage.role == "fan-in":
            return -(-4 * tensor.elements // ACCUMULATOR_BYTES) if stage.kind == "TENSOR" else 1
        if stage.role == "final" or stage.kind == "SIMT":
            return 1
        products = sum(one.kind == "TENSOR" for one in self.stages)
        blocks = -(-tensor.columns // COLUMNS)
        comes_again = self.flow.tensor(self.flow.inputs[stage.operators[0]][1]).bytes > self.machine.l2_bytes // 2
        flops = self.flow.flops(stage.operators[0]) / sum(
            self.flow.flops(one.operators[0]) for one in self.stages if one.kind == "TENSOR")
        work_groups = self.machine.units * max(1 / products, flops)
        turns = math.ceil((1 if comes_again else TURNS) * work_groups / self.tiles - 1e-9)
        most = max(1, self.machine.units // (2 * products))
        if self.flow.made.get(self.flow.inputs[stage.operators[0]][0]) not in self.inside and not comes_again:
            turns = max(turns, -(-blocks // BLOCKS_AT_ONCE))  # Rows from memory are read once.
        parts = min(blocks, most if self.is_narrow and not comes_again else min(turns, most))
        return -(-blocks // (blocks // parts))  # None is empty.

    def _stay(self, stage, blocks):
        """Whether weights of so many blocks of columns stay in the LDS of a work-group (STAGE_IS_RESIDENT)."""
        steps = -(-self.flow.tensor(self.flow.inputs[stage.operators[0]][0]).columns // STEP)
        return blocks <= RESIDENT_BLOCKS and blocks * steps <= RESIDENT_STEPS and \
            RESIDENT_BYTES <= self.machine.lds_bytes

    def _memory(self):
        """What each stage reads from memory and writes to it."""
        flow = self.flow
        for stage in self.stages:
            if stage.role == "final":
                stage.writes = [flow.ops[stage.operators[0]].output]
                continue
            for number in stage.operators:
                op = flow.ops[number]
                for name in flow.inputs[number]:
                    if flow.made.get(name) not in self.inside and name not in stage.reads and \
                            flow.letters[number] != "p":
                        stage.reads.append(name)
                        if flow.letters[number] == "L" and name == flow.inputs[number][1]:
                            stage.weight_bytes = flow.tensor(name).bytes
                if number in stage.sums:
                    continue
                if self._leaves(op.output):
                    stage.writes.append(op.output)
            if stage.weight_bytes:
                blocks = -(-flow.tensor(flow.ops[stage.operators[0]].output).columns // COLUMNS)
                stage.weights_stay = self._stay(stage, -(-blocks // stage.parts))

    def _queues(self):
        flow = self.flow
        for place, stage in enumerate(self.stages):
            for number in stage.operators if stage.role != "final" else []:
                if number in stage.sums:
                    final = next(at for at, other in enumerate(self.stages)
                                 if other.role == "final" and other.operators == [number])
                    elements = flow.tensor(flow.ops[number].output).elements
                    blocks = -(-4 * elements // stage.parts // ACCUMULATOR_BYTES) or 1
                    name = flow.ops[number].output
                    payload = -(-4 * elements // (stage.parts * blocks))
                    self.queues.append(Queue(name + ".partial", name, place, [final], payload, blocks, depth=1,
                                             is_partial=True))
                    continue
                name = flow.ops[number].output
                consumers = sorted({self.stage_of[one] for one in flow.readers.get(name, []) if one in self.inside} -
                                   {place})
                if consumers:
                    tensor = flow.tensor(name)
                    columns = -(-tensor.columns // stage.parts)
                    whole = 2 * self.tile_rows * columns
                    each = 1 if whole <= PAYLOAD_BYTES else -(-whole // BLOCK_BYTES)
                    reads = sum(self.stages[one].parts for one in consumers)
                    self.queues.append(Queue(name, name, place, consumers, 2 * self.tile_rows * -(-columns // each),
                                             stage.parts * each, stage.parts, reads=reads,
                                             readers=reads, depth=self.depth))

    def _depths(self):
        """Entries for the tiles that are under way on the longer way where ways meet again."""
        count = len(self.stages)
        before = [{queue.producer for queue in self.queues if place in queue.consumers} for place in range(count)]
        level, above = [0] * count, [set() for _ in range(count)]
        for place in range(count):  # Stages are in topological order: a consumer comes later.
            for one in before[place]:
                level[place] = max(level[place], level[one] + 1)
                above[place] |= above[one] | {one}
        for queue in self.queues:
            for consumer in queue.consumers if not queue.is_partial else []:
                others = [one for one in before[consumer] if one != queue.producer]
                mine = above[queue.producer] | {queue.producer}
                if any(mine & (above[one] | {one}) for one in others):
                    queue.slack = max(queue.slack, level[consumer] - level[queue.producer] - 1)
            queue.depth += queue.slack

    def set_depth(self, name, depth):
        for queue in self.queues:
            if queue.name == name:
                queue.depth = depth
                self.fixed.add(name)
                return
        raise graphs.GraphError(f"--queue {name}: no such queue{graphs.near(name, [one.name for one in self.queues])}")

    def has_queue(self, name):
        return any(queue.name == name for queue in self.queues)

    # After the balance.

    def finish(self, ctas):
        """Takes the work-groups of each stage: entries of queues, trees of partial sums."""
        for stage, count in zip(self.stages, ctas):
            stage.ctas = count
        self.settle()
        self._place_entries()
        self._leave_room()

    def _leave_room(self):
        """Entries beyond those that the pipeline needs to move make way for weights, which are pinned beside queues (graph_pins
        of sw/apps/graph), for tiles from memory that work-groups of several parts share, which are as far apart as their
        queue has entries, and for results whose blocks share sectors. Queues behind such tiles alone give up as few as fit
        all, else all queues do. If they never fit, queues behind such tiles keep as few as move; none gives up any if queues
        cannot be pinned themselves."""
        if max(self.queue_bytes, self.whole_bytes) > self.machine.pinned_bytes or not (
                self.pinned_weights or self.shared_tile_bytes or self.shared_sector_bytes):
            return
        most = [queue.capacity for queue in self.queues]
        behind_shared = {place for place, stage in enumerate(self.stages) if self._shared_tile_bytes(stage)}
        lanes = [1 if stage.role == "final" else self.tiles_at_once(stage) for stage in self.stages]
        kept = None
        for is_of_all in (False, True):
            for share in range(SHARES, SHARES // 2 - 1, -1):
                for queue, capacity in zip(self.queues, most):
                    may_shrink = (is_of_all or queue.producer in behind_shared) and not (
                        queue.is_partial or queue.is_grown or queue.name in self.fixed)
                    queue.capacity = max(1, capacity * share // SHARES) if may_shrink else capacity
                self._place_entries()
                pinned = (self._ways(self.queue_bytes) + self._ways(self.pinned_weights)) * self.machine.l2_way_bytes
                if pinned > self.machine.pinned_bytes or self.run(lanes):
                    continue
                if self.shared_tile_bytes + self.shared_sector_bytes <= self.machine.l2_bytes - pinned:
                    return
                if kept is None or not is_of_all:
                    kept = [queue.capacity for queue in self.queues]
        for queue, capacity in zip(self.queues, kept or most):
            queue.capacity = capacity
        self._place_entries()

    def _ways(self, size):
        return -(-size // self.machine.l2_way_bytes)

    @property
    def pinned_weights(self):
        """Bytes of those that come from the L2 again and again."""
        return sum(stage.weight_bytes for stage in self.stages if stage.weight_bytes and not stage.weights_stay and
                   stage.weight_bytes <= self.machine.l2_bytes // 2)

    @property
    def shared_tile_bytes(self):
        """Of the L2, for tiles from memory between the first and the last of the column parts that read them. Each partition
        keeps what its units read."""
        return self.machine.l2_partitions * sum(
            self._shared_tile_bytes(stage) * max([queue.capacity for queue in self.queues if queue.producer == place] or [0])
            for place, stage in enumerate(self.stages))

    def _shared_tile_bytes(self, stage):
        first = self.flow.inputs[stage.operators[0]][0]
        is_shared = stage.role == "map" and stage.parts > 1 and self.flow.made.get(first) not in self.inside
        return 2 * self.tile_rows * self.flow.tensor(first).columns if is_shared else 0

    @property
    def shared_sector_bytes(self):
        """Of the L2, for all that passes while a tile is made whose rows end within a sector: blocks of its columns that share
        one are stored as far apart, and a sector that was written back between them goes to memory twice."""
        lanes = [self.tiles_at_once(stage) for stage in self.stages if self._shares_sectors(stage)]
        return max(lanes, default=0) * self.dram_bytes // self.tiles

    def _shares_sectors(self, stage):
        return stage.kind == "TENSOR" and stage.role == "map" and any(
            2 * self.flow.tensor(name).columns % SECTOR_BYTES and self.flow.tensor(name).columns > BLOCKS_AT_ONCE * COLUMNS
            for name in stage.writes)

    def _place_entries(self):
        for queue in self.queues:
            producer = self.stages[queue.producer]
            if queue.is_partial:
                replicas = max(1, producer.ctas // producer.parts)
                queue.tile_entries = producer.parts * queue.blocks
                queue.entries = replicas * queue.tile_entries
                final, nodes = self.stages[queue.consumers[0]], replicas
                final.tree = []
                while nodes > 1:
                    nodes = -(-nodes // stage_kinds.TREE)
                    final.tree.append(nodes)
                continue
            queue.readers = sum(self.stages[one].parts for one in queue.consumers)
            # Blocks of a tile pass one by one, unless the whole tile waits for others.
            queue.tile_entries = queue.blocks if queue.slack or queue.is_grown else queue.parts
            queue.entries = queue.tile_entries * queue.capacity

    @staticmethod
    def tiles_at_once(stage):
        """Part p of tile t is of one work-group."""
        return max(1, stage.ctas // stage.parts)

    @property
    def queue_bytes(self):
        return sum(queue.bytes for queue in self.queues)

    # Where whole tiles do not fit.

    @property
    def whole_bytes(self):
        """Of queues as stages have them: a tile is whole before the next one takes it."""
        return sum(queue.bytes if queue.is_partial else queue.capacity * (
            2 * self.tile_rows * self.flow.tensor(queue.tensor).columns + WORDS_BYTES) for queue in self.queues)

    def parts_of(self, lanes):
        """Of each stage, if products have so many tiles at once: their work-groups share those; none is empty."""
        found = []
        for stage in self.stages:
            blocks = -(-self.flow.tensor(self.flow.ops[stage.operators[0]].output).columns // COLUMNS)
            is_product = stage.kind == "TENSOR" and stage.role == "map"
            found.append(-(-blocks // -(-blocks // min(max(1, stage.ctas // lanes), blocks))) if is_product else stage.parts)
        return found

    def finish_few(self, ctas, lanes):
        """As finish(), with at most so many tiles at once in each product, and queues that hold no more than their depth
        for those. Other stages have a work-group for each tile for which there is room."""
        for queue in self.queues:
            queue.capacity = min(self.tiles, queue.depth * lanes)
        for place, (stage, count) in enumerate(zip(self.stages, ctas)):
            at_once = max(1, count // stage.parts)
            if stage.kind == "TENSOR":
                at_once = min(at_once, lanes)
            elif stage.role == "map":
                rooms = [queue.capacity for queue in self.queues if queue.producer == place and not queue.is_partial] or \
                    [queue.capacity for queue in self.queues if place in queue.consumers]
                at_once = min(at_once, *rooms)
            stage.ctas = at_once * stage.parts
        # Stages give a tile back before they take the next one (sw/kernels/stages).
        cycle = self.run([1 if stage.role == "final" else self.tiles_at_once(stage) for stage in self.stages], False)
        if cycle:
            raise self.stopped(cycle)
        self._place_entries()

    def weight_passes(self, stage):
        """How often weights come from memory: once, or with each wave of tiles if neither LDS nor L2 hold them."""
        if stage.weights_stay or stage.weight_bytes <= self.machine.l2_bytes // 2:
            return 1
        return -(-self.tiles // self.tiles_at_once(stage))

    def stage_dram(self, stage):
        flow = self.flow
        total = sum(flow.tensor(name).bytes for name in stage.writes)
        for name in stage.reads:
            size = max(flow.bytes_of(number, name) for number in stage.operators if name in flow.inputs[number])
            is_weight = stage.weight_bytes and name == flow.inputs[stage.operators[0]][1]
            total += size * (self.weight_passes(stage) if is_weight else 1)
        return total

    @property
    def dram_bytes(self):
        """Closed form: what comes from outside, once for each stage that reads it, and what leaves."""
        return sum(self.stage_dram(stage) for stage in self.stages)

    def tensor_queue_bytes(self, queue):
        """Written, and read by each reader."""
        size = queue.entries * queue.payload_bytes if queue.is_partial else \
            self.tiles * queue.blocks * queue.payload_bytes
        return size, size * (1 if queue.is_partial else queue.reads)

    @property
    def l2_bytes(self):
        through = sum(sum(self.tensor_queue_bytes(queue)) for queue in self.queues)
        again = sum(stage.weight_bytes * (self.tiles - 1) for stage in self.stages if not stage.weights_stay)
        return through + again + self.dram_bytes

    # Liveness.

    def run(self, lanes=None, prefetches=True):
        """Runs the schedule, for as many tiles as show it: None, or the cycle of waits that stops it."""
        lanes = lanes or [1] * len(self.stages)
        most = max([queue.capacity for queue in self.queues], default=0)
        edges = [schedule.Edge(queue.producer, queue.consumers, queue.capacity, prefetches and queue.depth > 1,
                               queue.is_partial)
                 for queue in self.queues]
        return schedule.Schedule(edges, lanes, min(self.tiles, most + sum(lanes) + 2 * max(lanes))).run()

    def check_moves(self):
        """Raises GraphError with the cycle of queues if the pipeline stops."""
        for queue in self.queues:
            queue.capacity = queue.depth
        cycle = self.run()
        if cycle:
            raise self.stopped(cycle)

    def stopped(self, cycle):
        return graphs.GraphError(f"the pipeline of {self.name} cannot move: queues " + ", ".join(
            f"{self.queues[wait.edge].name} (depth {self.queues[wait.edge].depth}: {self.stages[wait.stage].name} "
            f"waits for {'entries' if wait.is_full else 'tiles'})" for wait in cycle))

    def settle(self):
        """Entries for the tiles that all work-groups have under way: more, until the schedule moves."""
        lanes = [1 if stage.role == "final" else self.tiles_at_once(stage) for stage in self.stages]
        for queue in self.queues:
            at_once = max(lanes[one] for one in (queue.producer, *queue.consumers))
            queue.capacity, queue.is_grown = min(self.tiles, queue.depth * at_once), False
        while True:
            cycle = self.run(lanes)
            if not cycle:
                return
            full = {wait.edge for wait in cycle if wait.is_full}
            grow = [self.queues[at] for at in sorted(full) if self.queues[at].capacity < self.tiles and
                    self.queues[at].name not in self.fixed]
            if not grow:
                raise self.stopped(cycle)
            for queue in grow:
                queue.capacity = min(self.tiles, queue.capacity + max(lanes))
                queue.is_grown = True

    @property
    def name(self):
        return self.flow.ops[self.group.members[0]].output

    def describe(self):
        flow = self.flow

        def edges(stage, place):
            found = [{"queue": queue.name} for queue in self.queues if place in queue.consumers]
            return found + [{"tensor": name} for name in stage.reads]
        stages = []
        for place, stage in enumerate(self.stages):
            one = {"name": stage.name, "class": stage.kind, "role": stage.role,
                   "operators": [flow.ops[number].output for number in stage.operators],
                   "kinds": [flow.ops[number].kind for number in stage.operators],
                   "ctas": stage.ctas, "column_parts": stage.parts, "inputs": edges(stage, place),
                   "queues_out": [queue.name for queue in self.queues if queue.producer == place],
                   "memory_out": stage.writes, "weight_bytes": stage.weight_bytes,
                   "weights_in_lds": stage.weights_stay, "dram_bytes": self.stage_dram(stage)}
            if stage.role == "final":
                one["tree"] = {"fan_in": stage_kinds.TREE, "nodes": stage.tree}
            stages.append(one)
        queues = [{"name": queue.name, "tensor": queue.tensor, "producer": self.stages[queue.producer].name,
                   "consumers": [self.stages[one].name for one in queue.consumers],
                   "readers": queue.readers, "reads": queue.reads, "columns": flow.tensor(queue.tensor).columns,
                   "payload_bytes": queue.payload_bytes,
                   "blocks_a_tile": queue.blocks, "depth_tiles": queue.depth, "capacity_tiles": queue.capacity,
                   "entries_a_tile": queue.tile_entries, "entries": queue.entries, "slack_tiles": queue.slack,
                   "partial_sums": queue.is_partial} for queue in self.queues]
        return {"rows": self.rows, "tile_rows": self.tile_rows, "tiles": self.tiles, "stages": stages,
                "queues": queues, "queue_bytes": self.queue_bytes, "l2_bytes": self.l2_bytes}
