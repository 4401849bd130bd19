# SPDX-License-Identifier: Apache-2.0
"""Groups of a plan as spatial pipelines: the stages and queues that `stretto run --mode kitsune` launches.

A group is a run of operators of the plan (emit.Plan.ops); stage_kinds.py says which of them are a stage. What only
operators of the group read goes through a queue; weights and what comes from outside are read from memory. An output
that others read, too, is written to memory as well (KT-U16). A sum over all rows is two stages: fan-in, whose
work-groups sum the tiles that they get, and final, a tree over their sums. The gradient of layer norm makes tiles and
is the fan-in of those of gamma and beta, which come behind it.
"""

import copy
import dataclasses

from front import flow, graph as graphs
from planning.stage_kinds import ACTIVATIONS, BLOCK, MAPS, NORM_COLUMNS, NORM_SUMS, ROPE_COLUMNS, ROWS, Stage, \
    is_sum, most_finals, repeated

SUM_COLUMNS = 512   # STAGE_SUM_COLUMNS.
SUM_ROWS = 4        # STAGE_MAP_WAVEFRONTS: a row of sums of each.
MOST_SUMS = 1024    # STAGE_MOST_SUMS.
TENSOR_KERNELS = ("linear", "fan_in_product")
MOST_STAGES = 32    # STRETTO_PIPELINE_MEMBERS.
SMALL_QUEUE = 1 << 20


@dataclasses.dataclass
class Group:
    """Operators from `first` on; how many each stage has, its work-groups and their parts of its columns."""
    first: int
    stages: list
    tile_rows: int = ROWS
    depth: int = 2  # Entries of a queue for each work-group that writes it.
    entries: dict = dataclasses.field(default_factory=dict)  # Or so many, by tensor.
    finals: dict = dataclasses.field(default_factory=dict)   # Work-groups of final stages, by result.
    units: int = 0  # Each has a SIMT work-group at most; 0 says nothing.


def ordered(graph, steps):
    """The graph with its operators in the order of a plan's steps (modes.py): those of a pipeline beside each other, as its
    stages have them. What costs nothing, as views, follows what it is made of."""
    at = {}
    for place, step in enumerate(steps):
        names = [name for stage in step.get("stages", ()) if stage["role"] != "final" for name in stage["operators"]]
        at.update((name, (place, number)) for number, name in enumerate(names or step["operators"]))
    for op in graph.ops:
        if op.output not in at:
            at[op.output] = at.get(op.inputs[0], (0, 0))
    result = copy.copy(graph)
    result.ops = sorted(graph.ops, key=lambda op: at[op.output])
    return result


def made_by(stage):
    """What makes a plan's stage the one here that has this name."""
    if stage["role"] == "fan-in":
        return stage["name"]
    return [name for name, kind in zip(stage["operators"], stage["kinds"]) if kind not in flow.BY_PRODUCTS][-1]


def planned(plan, steps, machine=None):
    """The groups of a plan of modes.py whose pipelines can be run, and why others cannot, by their first result. `plan`
    has the same operators, none fused."""
    order = {op.output: i for i, op in enumerate(plan.ops)}
    groups, alone = [], {}
    for step in steps:
        if step["kind"] != "pipeline":
            continue
        try:
            group = _planned(step, order, machine)
            if machine is not None and _queue_bytes(_Pipeline(plan, group).describe()) > machine.pinned_bytes:
                group = _planned(step, order, machine, has_room=False)
            _Pipeline(plan, group).describe()
            groups.append(group)
        except graphs.GraphError as error:
            alone[step["name"]] = str(error)
    return groups, alone


def _planned(step, order, machine, has_room=True):
    at = sorted(order[name] for name in step["operators"])
    if at != list(range(at[0], at[0] + len(at))):
        raise graphs.GraphError("its operators do not follow each other")
    stages = []
    for stage in step["stages"]:
        names = stage["operators"]
        if stage["role"] == "final":  # Goes with its fan-in.
            continue
        if [order[name] for name in names] != list(range(order[names[0]], order[names[0]] + len(names))):
            raise graphs.GraphError(f"stage {stage['name']}: its operators do not follow each other")
        # Sums stay in registers: the number of their parts follows from their shape.
        parts = 1 if stage["role"] == "fan-in" else min(stage["column_parts"], stage["ctas"])
        stages.append((order[names[0]], (len(names), stage["ctas"] // parts * parts, parts)))
    under_way = 2 * sum(work_groups // parts for _, (_, work_groups, parts) in stages)
    return Group(at[0], [one for _, one in sorted(stages)], step["tile_rows"],
                 entries={queue["tensor"]: _entries(queue, under_way if has_room else 0) for queue in step["queues"]
                          if not queue["partial_sums"]},
                 finals={stage["operators"][0]: stage["ctas"] for stage in step["stages"] if stage["role"] == "final"},
                 units=machine.units if machine else 0)


def _queue_bytes(about):
    return sum(queue["entries"] * queue["columns"] * (4 * queue["sums"] if "sums" in queue else 2 * about["tile_rows"])
               for queue in about["queues"])


def _entries(queue, under_way):
    """Those of the plan are enough to move. A queue of small payloads gets one for every tile that may be under way: beside
    a longer way that meets it again, its writer need not stop."""
    entries = queue["capacity_tiles"]
    return max(entries, under_way) if under_way * queue["payload_bytes"] <= SMALL_QUEUE else entries


def forced(plan):
    """The groups that the graph itself names. Raises GraphError."""
    groups = []
    order = {op.output: i for i, op in enumerate(plan.ops)}
    for place, about in enumerate(plan.graph.pipelines):
        names = about["stages"]
        for name in names:
            if name not in order:
                raise graphs.GraphError(f"pipeline {place}: {name} is no output of an operator of its own"
                                        f"{graphs.near(name, order)}")
        at = sorted(order[name] for name in names)
        for before, behind in zip(at, at[1:]):
            if behind != before + 1:
                raise graphs.GraphError(f"pipeline {place} is not contiguous: {plan.ops[before + 1].output} is between "
                                        f"{plan.ops[before].output} and {plan.ops[behind].output}, and not of it")
        groups.append(Group(at[0], _stages_of([plan.ops[i] for i in at], names), about["tile_rows"], about["depth"]))
    groups.sort(key=lambda group: group.first)
    for one, other in zip(groups, groups[1:]):
        if one.first + sum(count for count, *_ in one.stages) > other.first:
            raise graphs.GraphError(f"{plan.ops[other.first].output} is in two pipelines")
    return groups


def _stages_of(ops, work_groups):
    """An operator each; by-products are of the gradient that they follow."""
    stages = []
    for op in ops:
        if op.kind in flow.BY_PRODUCTS and stages:
            stages[-1] = (stages[-1][0] + 1, *stages[-1][1:])
        else:
            stages.append((1, work_groups[op.output], 1))
    return stages


def describe(plan, groups):
    """The plan's `groups`. Raises GraphError."""
    return [_Pipeline(plan, group).describe() for group in groups]


def left_by(plan, ops):
    """What goes to memory: tensors whose bytes others than `ops` read, and results. A view's bytes are those beneath it."""
    mine = {id(op) for op in ops}
    leaves = {plan.root(name) for op in plan.ops if id(op) not in mine for name in op.inputs}
    return leaves | {plan.root(name) for name in plan.graph.results()}


class _Pipeline:
    def __init__(self, plan, group):
        self.plan, self.group = plan, group
        self.graph = plan.graph
        self.stages, at = [], group.first
        for count, work_groups, parts in group.stages:
            self.stages.append(Stage(plan.ops[at:at + count], work_groups, parts))
            at += count
        self.ops = plan.ops[group.first:at]
        self.where = f"operators {group.first} to {at - 1}"
        first = self.ops[0]
        self.rows = self.graph.tensors[first.inputs[0] if is_sum(first) else first.output].rows
        self.tiles = -(-self.rows // group.tile_rows)
        self.queues, self.queue_of = [], {}
        self.leaves = left_by(plan, self.ops)

    def describe(self):
        for stage in self.stages:
            wrong = stage.wrong(self.graph)
            if wrong:
                raise graphs.GraphError(f"{self.where}: {wrong}")
        for stage in self.stages:
            self._make_queue(stage)
        stages = []
        for stage in self.stages:
            inputs = [self._edge(name) for name in stage.operands]
            second = repeated(self.graph, stage.first)
            if second in ("one", "row"):
                inputs[1]["repeated"] = second
            stages += self._sum(stage, inputs) if stage.is_sum else self._tiles(stage, inputs)
        self._fit_finals(stages)
        if len(stages) > MOST_STAGES:
            raise graphs.GraphError(f"{self.where}: {len(stages)} stages, the scheduler has slots for {MOST_STAGES}")
        return {"first": self.group.first, "ops": len(self.ops), "rows": self.rows,
                "tile_rows": self.group.tile_rows, "queues": self.queues, "stages": stages}

    def _fit_finals(self, stages):
        """Work-groups of final stages beyond one each take the units that other SIMT stages leave."""
        finals = [one for one in stages if one["kernel"] == "final"]
        simt = sum(one["work_groups"] for one in stages if one["kernel"] not in TENSOR_KERNELS)
        for _ in range(simt - self.group.units if self.group.units else 0):
            largest = max(finals, key=lambda one: one["work_groups"], default=None)
            if largest is None or largest["work_groups"] == 1:
                raise graphs.GraphError(f"{self.where}: {simt} work-groups of SIMT stages, {self.group.units} can be there "
                                        "at once")
            largest["work_groups"] -= 1
            self.queues[largest["inputs"][0]["queue"]]["readers"] -= 1

    def _make_queue(self, stage):
        """For what other stages of the pipeline read."""
        name = stage.result
        out = self.graph.tensors[name]
        readers = sum((name == self.plan.root(read)) * self._parts(other) * other.readers(place)
                      for other in self.stages for place, read in enumerate(other.operands))
        if stage.is_sum:
            if readers:
                raise graphs.GraphError(f"{self.where}: {name} is a sum over all rows, and read in the pipeline")
            return
        if out.rows != self.rows:
            raise graphs.GraphError(f"{self.where}: {name} has {out.rows} rows, others {self.rows}")
        if readers:
            self.queue_of[name] = len(self.queues)
            replicas = max(1, stage.work_groups // stage.parts)
            entries = self.group.entries.get(name, self.group.depth * replicas)
            self.queues.append({"tensor": name, "columns": out.columns, "readers": readers,
                                "entries": min(self.tiles, entries)})

    def _tiles(self, stage, inputs):
        """A stage that makes a tile of each, and final stages of its by-products."""
        name = stage.result
        one = {"name": name, "work_groups": min(stage.work_groups // stage.parts, self.tiles) * stage.parts,
               "inputs": inputs, **(self._linear(stage) if stage.first.kind == "MatMul" else
                                    self._rms_norm(stage) if stage.first.kind == "Pow" else self._map(stage))}
        one["output"] = self._edge(name)
        if "queue" in one["output"] and name in self.leaves:
            one["copy"] = name
        added = []
        for op in stage.sums:
            one[NORM_SUMS[op.kind]], final = self._final(op, SUM_ROWS, self.graph.tensors[name].columns,
                                                         one["work_groups"])
            added.append(final)
        return [one, *added]

    def _kept(self, stage, places):
        """Of operators of a stage whose results stay in it: those that leave the pipeline, by key. `places`: key of each
        that can be kept."""
        kept = {}
        for op, key in zip(stage.ops, places):
            if op.output == stage.result or op.output not in self.leaves:
                continue
            if key is None:
                raise graphs.GraphError(f"{self.where}: {op.output} stays in a stage, and others read it or it is a result")
            kept[key] = op.output
        return kept

    def _parts(self, stage):
        """Work-groups that read a tile, each for its part of the columns."""
        if not stage.is_sum:
            return stage.parts
        wide = [self.graph.tensors[name].columns for name in stage.operands]
        if stage.first.kind == "ReduceSum":
            return -(-wide[0] // SUM_COLUMNS)
        down, across = (-(-columns // BLOCK) for columns in wide)
        return -(-down // 2) if across == 1 else down * -(-across // 2)

    def _sum(self, stage, inputs):
        """Fan-in and final."""
        op = stage.first
        shape = graphs.matmul_shape(self.graph, op) if op.kind == "MatMul" else None
        if shape and (shape["outer"] * shape["inner"] != 1 or op.get("transpose_b") or op.get("gelu") or
                      len(op.inputs) > 2):
            raise graphs.GraphError(f"{self.where}: {op.kind} -> {op.output} is no sum of a stage: it must be a product of "
                                    "two matrices over their rows, or a sum of rows")
        for name in stage.operands:
            if self.graph.tensors[name].rows != self.rows:
                raise graphs.GraphError(f"{self.where}: {name} has {self.graph.tensors[name].rows} rows, others {self.rows}")
        parts, rows = self._parts(stage), shape["m"] if shape else SUM_ROWS
        columns = self.graph.tensors[op.inputs[-1]].columns
        replicas = min(max(1, stage.work_groups // parts), self.tiles, MOST_SUMS // (1 if shape else SUM_ROWS))
        output, final = self._final(op, rows, columns, replicas)
        return [{"name": f"{op.output}.fan-in", "work_groups": replicas * parts, "parts": parts, "inputs": inputs,
                 "kernel": "fan_in_product" if shape else "fan_in_sum", "output": output}, final]

    def _final(self, op, rows, columns, replicas):
        """The edge that takes sums of replicas, and the stage behind it. Its work-groups have different elements, so their
        number changes no sum."""
        most = most_finals(self.graph.tensors[op.output].elements)
        finals = min(most, self.group.finals.get(op.output, most))
        edge = {"queue": len(self.queues)}
        self.queues.append({"tensor": f"{op.output}.partial", "columns": columns, "sums": rows, "readers": finals,
                            "entries": replicas})
        return edge, {"name": f"{op.output}.final", "work_groups": finals, "inputs": [edge], "kernel": "final",
                      "output": {"tensor": op.output}}

    def _edge(self, name):
        root = self.plan.root(name)
        return {"queue": self.queue_of[root]} if root in self.queue_of else {"tensor": name}

    def _linear(self, stage):
        op = stage.first
        shape = graphs.matmul_shape(self.graph, op)
        weights = self.graph.tensors[op.inputs[1]]
        if shape["outer"] * shape["inner"] != 1 or self.plan.root(weights.name) in self.queue_of:
            raise graphs.GraphError(f"{self.where}: the product {op.output} is no stage: its left side must be rows "
                                    "of tiles, its right side weights")
        one = {"kernel": "linear", "parts": stage.parts, "weights": weights.name, "transpose_b": op.get("transpose_b"),
               "activation": "gelu" if op.get("gelu") else "relu" if op.get("relu") else "none",
               **self._kept(stage, ["keep", None, None])}
        if len(stage.ops) > 1 and stage.ops[1].kind in ACTIVATIONS:
            one["activation"] = ACTIVATIONS[stage.ops[1].kind]
        if len(op.inputs) == 3:
            one["bias"] = op.inputs[2]
        return one

    def _rms_norm(self, stage):
        _, mean, root, _, last = stage.ops
        return {"kernel": "map_rms_norm", "gamma": last.inputs[1], "mean_words": self.plan.words_of(mean),
                "root_words": self.plan.words_of(root), **self._kept(stage, [None, None, "roots", "quotients", None])}

    def _map(self, stage):
        op, operands = stage.first, stage.operands
        scale = op.attributes.get("scale", 1)
        if (scale != 1 and op.kind != "Expand") or len(operands) > (3 if op.kind == "Rope" else 2):
            raise graphs.GraphError(f"{self.where}: {op.kind} -> {op.output} is no stage{graphs.near(op.kind, MAPS)}")
        second = repeated(self.graph, op)
        whole = operands if second is None else operands[:1]
        for name in [*whole, op.output]:
            tensor = self.graph.tensors[name]
            if tensor.rows != self.rows:
                raise graphs.GraphError(f"{self.where}: {name} has {tensor.rows} rows, others {self.rows}")
        wide = [self.graph.tensors[name].columns for name in whole]
        out = self.graph.tensors[op.output]
        one = {"kernel": "map_" + MAPS[op.kind]}
        if op.kind == "Expand":
            if wide != [1]:
                raise graphs.GraphError(f"{self.where}: {op.output} repeats {wide[0]} columns, a stage one")
            return {**one, "words": self.plan.words_of(op)}
        if op.kind == "Rope":
            if wide[1] != wide[2] or wide[1] * op.get("heads", 1) != out.columns or wide[1] > ROPE_COLUMNS:
                raise graphs.GraphError(f"{self.where}: {op.output} has {op.get('heads', 1)} heads and {out.columns} columns, "
                                        f"cosines {wide[1]}: a stage has those of one head, at most {ROPE_COLUMNS}")
            return {"kernel": "map_rope_back"} if op.get("inverse") else one
        if op.kind == "Concat" and (op.get("axis") % len(out.shape) != len(out.shape) - 1 or sum(wide) != out.columns):
            raise graphs.GraphError(f"{self.where}: {op.output} puts two tensors one behind the other, a stage beside")
        if op.kind != "Concat" and set(wide) != {out.columns}:
            raise graphs.GraphError(f"{self.where}: {op.output} has operands of {wide} columns, a stage's are as wide "
                                    "as its result")
        if op.kind in NORM_COLUMNS:
            if out.columns > NORM_COLUMNS[op.kind]:
                raise graphs.GraphError(f"{self.where}: {op.output} has rows of {out.columns} elements, at most "
                                        f"{NORM_COLUMNS[op.kind]} fit a stage")
            one.update(gamma=op.inputs[1], words=self.plan.words_of(op))
        if op.kind == "LayerNorm":
            one["beta"] = op.inputs[2]
        return one
