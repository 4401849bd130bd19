# SPDX-License-Identifier: Apache-2.0
"""Groups of a plan as spatial pipelines: the stages and queues that `stretto run --mode kitsune` launches.

A group is a run of operators of the plan (emit.Plan.ops). A stage of sw/kernels/stages is an operator, or a product
with the activation that only reads it. What only operators of the group read goes through a queue; weights and what
comes from outside are read from memory. An output that others read, too, is written to memory as well (KT-U16). A sum
over all rows is two stages: fan-in, whose work-groups sum the tiles that they get, and final, a tree over their sums.
"""

import copy
import dataclasses

import graph as graphs

ROWS = 128          # STAGE_TILE_ROWS.
NORM_COLUMNS = 1024  # Of STAGE_PIECE bytes.
BLOCK = 128         # STAGE_BLOCK.
SUM_COLUMNS = 512   # STAGE_SUM_COLUMNS.
SUM_ROWS = 4        # STAGE_MAP_WAVEFRONTS: a row of sums of each.
MOST_SUMS = 1024    # STAGE_MOST_SUMS.
FINAL_ELEMENTS = 2048  # That a work-group of a final stage has at least; its wavefronts take a quarter at a time.
MOST_FINAL = 32
MOST_STAGES = 32    # STRETTO_PIPELINE_MEMBERS.
SMALL_QUEUE = 1 << 20
MAPS = {"Relu": "relu", "Gelu": "gelu", "Neg": "neg", "Sigmoid": "sigmoid", "Tanh": "tanh", "Silu": "silu",
        "LayerNorm": "layer_norm", "Add": "add", "Mul": "mul", "Sub": "sub", "Div": "div", "ReluGrad": "relu_grad",
        "GeluGrad": "gelu_grad", "SigmoidGrad": "sigmoid_grad", "TanhGrad": "tanh_grad", "SiluGrad": "silu_grad",
        "Concat": "concat"}
ACTIVATIONS = {"Relu": "relu", "Gelu": "gelu", "Sigmoid": "sigmoid", "Tanh": "tanh", "Silu": "silu"}


@dataclasses.dataclass
class Group:
    """Operators from `first` on; how many each stage has, its work-groups, column parts of a product's tile."""
    first: int
    stages: list
    tile_rows: int = ROWS
    depth: int = 2  # Entries of a queue for each work-group that writes it.
    entries: dict = dataclasses.field(default_factory=dict)  # Or so many, by tensor.


def ordered(graph, steps):
    """The graph with its operators in the order of a plan's steps (modes.py): those of a pipeline beside each other.
    What costs nothing, as views, follows what it is made of."""
    at = {name: place for place, step in enumerate(steps) for name in step["operators"]}
    last, keyed = 0, []
    for op in graph.ops:
        last = at.get(op.output, last)
        keyed.append((last, op))
    result = copy.copy(graph)
    result.ops = [op for _, op in sorted(keyed, key=lambda one: one[0])]
    return result


def planned(plan, steps):
    """The groups of a plan of modes.py whose pipelines can be run, and why others cannot, by their first result. `plan`
    has the same operators, none fused."""
    order = {op.output: i for i, op in enumerate(plan.ops)}
    groups, alone = [], {}
    for step in steps:
        if step["kind"] != "pipeline":
            continue
        try:
            groups.append(_planned(plan, step, order))
            _Pipeline(plan, groups[-1]).describe()
        except graphs.GraphError as error:
            alone[step["name"]] = str(error)
            if groups and groups[-1].first == min(order[name] for name in step["operators"]):
                groups.pop()
    return groups, alone


def _planned(plan, step, order):
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
        stages.append((order[names[0]], (len(names), stage["ctas"], stage["column_parts"])))
    under_way = 2 * sum(work_groups // parts for _, (_, work_groups, parts) in stages)
    return Group(at[0], [one for _, one in sorted(stages)], step["tile_rows"],
                 entries={queue["tensor"]: _entries(queue, under_way) for queue in step["queues"]
                          if not queue["partial_sums"]})


def _entries(queue, under_way):
    """Those of the plan are enough to move. A queue of small payloads gets one for every tile that may be under way: beside
    a longer way that meets it again, its writer need not stop."""
    entries = max(1, queue["entries"] // queue["blocks_a_tile"])
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
        groups.append(Group(at[0], [(1, names[plan.ops[i].output], 1) for i in at], about["tile_rows"],
                            about["depth"]))
    groups.sort(key=lambda group: group.first)
    for one, other in zip(groups, groups[1:]):
        if one.first + sum(count for count, _, _ in one.stages) > other.first:
            raise graphs.GraphError(f"{plan.ops[other.first].output} is in two pipelines")
    return groups


def describe(plan, groups):
    """The plan's `groups`. Raises GraphError."""
    return [_Pipeline(plan, group).describe() for group in groups]


def is_sum(op):
    """Whether an operator sums over all rows."""
    return op.kind == "MatMul" and bool(op.get("transpose_a")) or op.kind == "ReduceSum" and op.get("axis") == 0


class _Pipeline:
    def __init__(self, plan, group):
        self.plan, self.group = plan, group
        self.graph = plan.graph
        self.stages, self.column_parts, at = [], {}, group.first
        for count, work_groups, parts in group.stages:
            self.stages.append((plan.ops[at:at + count], work_groups))
            self.column_parts[plan.ops[at].output] = parts
            at += count
        self.ops = plan.ops[group.first:at]
        self.where = f"operators {group.first} to {at - 1}"
        first = self.ops[0]
        self.rows = self.graph.tensors[first.inputs[0] if is_sum(first) else first.output].rows
        self.tiles = -(-self.rows // group.tile_rows)
        self.queues, self.queue_of = [], {}

    def describe(self):
        inside = {ops[-1].output for ops, _ in self.stages if not is_sum(ops[0])}
        mine = {id(op) for op in self.ops}
        outside = {name for op in self.plan.ops if id(op) not in mine for name in op.inputs}
        final = set(self.graph.tensors) - {name for op in self.plan.ops for name in op.inputs}
        for ops, work_groups in self.stages:
            name = ops[-1].output
            out = self.graph.tensors[name]
            readers = sum((name == read) * self._parts(other[0]) for other, _ in self.stages
                          for read in self._operands(other[0]))
            if is_sum(ops[0]):
                if readers:
                    raise graphs.GraphError(f"{self.where}: {name} is a sum over all rows, and read in the pipeline")
                continue
            if ops[0].kind != "MatMul" and ops[0].kind not in MAPS:
                raise graphs.GraphError(f"{self.where}: {ops[0].kind} -> {ops[0].output} is no stage"
                                        f"{graphs.near(ops[0].kind, MAPS)}")
            if out.rows != self.rows:
                raise graphs.GraphError(f"{self.where}: {name} has {out.rows} rows, others {self.rows}")
            if readers:
                self.queue_of[name] = len(self.queues)
                entries = self.group.entries.get(name, self.group.depth * work_groups // self._parts(ops[0]))
                self.queues.append({"tensor": name, "columns": out.columns, "readers": readers,
                                    "entries": min(self.tiles, entries)})
        stages = []
        for ops, work_groups in self.stages:
            name = ops[-1].output
            inputs = [self._edge(read, inside) for read in self._operands(ops[0])]
            if is_sum(ops[0]):
                stages += self._sum(ops, inputs, work_groups)
                continue
            parts = self._parts(ops[0])
            stage = {"name": name, "work_groups": min(max(1, work_groups // parts), self.tiles) * parts, "inputs": inputs,
                     **({"parts": parts, **self._linear(ops)} if ops[0].kind == "MatMul" else self._map(ops))}
            stage["output"] = self._edge(name, inside)
            if "queue" in stage["output"] and (name in outside or name in final or
                                               self.graph.tensors[name].kind == "gradient"):
                stage["copy"] = name
            for op in ops[:-1]:
                if op.output in outside or op.output in final:
                    raise graphs.GraphError(f"{self.where}: others read {op.output}, which stays in a stage")
            stages.append(stage)
        if len(stages) > MOST_STAGES:
            raise graphs.GraphError(f"{self.where}: {len(stages)} stages, the scheduler has slots for {MOST_STAGES}")
        return {"first": self.group.first, "ops": len(self.ops), "rows": self.rows,
                "tile_rows": self.group.tile_rows, "queues": self.queues, "stages": stages}

    def _operands(self, op):
        """What tiles are of."""
        if is_sum(op) and op.kind == "MatMul":
            return op.inputs[:2]
        return op.inputs[:1] if op.kind in ("MatMul", "LayerNorm", "ReduceSum") else op.inputs

    def _parts(self, op):
        """Work-groups that read a tile, each for its part of the result's columns."""
        if not is_sum(op):
            return self.column_parts[op.output] if op.kind == "MatMul" else 1
        wide = [self.graph.tensors[name].columns for name in self._operands(op)]
        if op.kind == "ReduceSum":
            return -(-wide[0] // SUM_COLUMNS)
        down, across = (-(-columns // BLOCK) for columns in wide)
        return -(-down // 2) if across == 1 else down * -(-across // 2)

    def _sum(self, ops, inputs, work_groups):
        """Fan-in and final. The latter's work-groups have different elements, so their number changes no sum."""
        op, out = ops[0], self.graph.tensors[ops[0].output]
        shape = graphs.matmul_shape(self.graph, op) if op.kind == "MatMul" else None
        if len(ops) > 1 or (shape and (shape["outer"] * shape["inner"] != 1 or op.get("transpose_b") or
                                       op.get("gelu") or len(op.inputs) > 2)):
            raise graphs.GraphError(f"{self.where}: {op.kind} -> {op.output} is no sum of a stage: it must be a product of "
                                    "two matrices over their rows, or a sum of rows")
        for name in self._operands(op):
            if self.graph.tensors[name].rows != self.rows:
                raise graphs.GraphError(f"{self.where}: {name} has {self.graph.tensors[name].rows} rows, others {self.rows}")
        parts, rows = self._parts(op), shape["m"] if shape else SUM_ROWS
        columns = self.graph.tensors[op.inputs[-1]].columns
        replicas = min(max(1, work_groups // parts), self.tiles, MOST_SUMS // (1 if shape else SUM_ROWS))
        finals = max(1, min(MOST_FINAL, -(-out.elements // FINAL_ELEMENTS)))
        queue = len(self.queues)
        self.queues.append({"tensor": f"{op.output}.partial", "columns": columns, "sums": rows, "readers": finals,
                            "entries": replicas})
        return [{"name": f"{op.output}.fan-in", "work_groups": replicas * parts, "parts": parts, "inputs": inputs,
                 "kernel": "fan_in_product" if shape else "fan_in_sum", "output": {"queue": queue}},
                {"name": f"{op.output}.final", "work_groups": finals, "inputs": [{"queue": queue}],
                 "kernel": "final", "output": {"tensor": op.output}}]

    def _edge(self, name, inside):
        return {"queue": self.queue_of[name]} if name in inside and name in self.queue_of else {"tensor": name}

    def _linear(self, ops):
        op = ops[0]
        shape = graphs.matmul_shape(self.graph, op)
        weights = self.graph.tensors[op.inputs[1]]
        if shape["outer"] * shape["inner"] != 1 or weights.name in self.queue_of:
            raise graphs.GraphError(f"{self.where}: the product {op.output} is no stage: its left side must be rows "
                                    "of tiles, its right side weights")
        activation = "gelu" if op.get("gelu") else "relu" if op.get("relu") else "none"
        if len(ops) > 1:
            if len(ops) > 2 or activation != "none" or ops[1].kind not in ACTIVATIONS or ops[1].inputs != [op.output]:
                raise graphs.GraphError(f"{self.where}: {ops[-1].kind} -> {ops[-1].output} is no epilogue of a stage"
                                        f"{graphs.near(ops[-1].kind, ACTIVATIONS)}")
            activation = ACTIVATIONS[ops[1].kind]
        stage = {"kernel": "linear", "weights": weights.name, "transpose_b": op.get("transpose_b"),
                 "activation": activation}
        if len(op.inputs) == 3:
            stage["bias"] = op.inputs[2]
        return stage

    def _map(self, ops):
        op = ops[0]
        if len(ops) > 1:
            raise graphs.GraphError(f"{self.where}: {ops[1].kind} -> {ops[1].output} is no epilogue of {op.kind}, "
                                    "a stage of its own has it")
        if op.attributes.get("scale", 1) != 1 or len(self._operands(op)) > 2:
            raise graphs.GraphError(f"{self.where}: {op.kind} -> {op.output} is no stage{graphs.near(op.kind, MAPS)}")
        for name in [*self._operands(op), op.output]:
            tensor = self.graph.tensors[name]
            if tensor.rows != self.rows:
                raise graphs.GraphError(f"{self.where}: {name} has {tensor.rows} rows, others {self.rows}")
        wide = [self.graph.tensors[name].columns for name in self._operands(op)]
        out = self.graph.tensors[op.output]
        if op.kind == "Concat" and (op.get("axis") % len(out.shape) != len(out.shape) - 1 or sum(wide) != out.columns):
            raise graphs.GraphError(f"{self.where}: {op.output} puts two tensors one behind the other, a stage beside")
        if op.kind != "Concat" and set(wide) != {out.columns}:
            raise graphs.GraphError(f"{self.where}: {op.output} has operands of {wide} columns, a stage's are as wide "
                                    "as its result")
        stage = {"kernel": "map_" + MAPS[op.kind]}
        if op.kind == "LayerNorm":
            if out.columns > NORM_COLUMNS:
                raise graphs.GraphError(f"{self.where}: {op.output} has rows of {out.columns} elements, at most "
                                        f"{NORM_COLUMNS} fit a stage")
            stage.update(gamma=op.inputs[1], beta=op.inputs[2], words=self.plan.words_of(op))
        return stage
