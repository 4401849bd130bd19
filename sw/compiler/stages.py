# SPDX-License-Identifier: Apache-2.0
"""Groups of a plan as spatial pipelines: the stages and queues that `stretto run --mode kitsune` launches.

A group is a run of operators of the plan (emit.Plan.ops: bias and activation are in their products). Each is a stage
of sw/kernels/stages. What only operators of the group read goes through a queue; weights and what comes from outside
are read from memory. An output that others read, too, is written to memory as well (KT-U16).
"""

import dataclasses

import graph as graphs

ROWS = 128          # STAGE_TILE_ROWS.
ROW_BYTES = 2048    # STAGE_PIECE.
MAPS = {"Relu": "relu", "Gelu": "gelu", "Add": "add", "Mul": "mul", "Sub": "sub", "ReluGrad": "relu_grad",
        "GeluGrad": "gelu_grad", "Concat": "concat"}


@dataclasses.dataclass
class Group:
    """Operators first .. first + len(work_groups) - 1 of the plan, work-groups of each."""
    first: int
    work_groups: list
    tile_rows: int = ROWS
    depth: int = 2  # Entries of a queue for each work-group that writes it.


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
        groups.append(Group(at[0], [names[plan.ops[i].output] for i in at], about["tile_rows"], about["depth"]))
    groups.sort(key=lambda group: group.first)
    for one, other in zip(groups, groups[1:]):
        if one.first + len(one.work_groups) > other.first:
            raise graphs.GraphError(f"{plan.ops[other.first].output} is in two pipelines")
    return groups


def describe(plan, groups):
    """The plan's `groups`. Raises GraphError."""
    return [_Pipeline(plan, group).describe() for group in groups]


class _Pipeline:
    def __init__(self, plan, group):
        self.plan, self.group = plan, group
        self.graph = plan.graph
        self.ops = plan.ops[group.first:group.first + len(group.work_groups)]
        self.where = f"operators {group.first} to {group.first + len(self.ops) - 1}"
        self.rows = self.graph.tensors[self.ops[0].output].rows
        self.tiles = -(-self.rows // group.tile_rows)
        self.queues, self.queue_of = [], {}

    def describe(self):
        inside = {op.output for op in self.ops}
        read_outside = {name for op in self.plan.ops if op not in self.ops for name in op.inputs}
        final = {t.name for t in self.graph.tensors.values()} - {n for op in self.plan.ops for n in op.inputs}
        stages = []
        for op, work_groups in zip(self.ops, self.group.work_groups):
            out = self.graph.tensors[op.output]
            if out.rows != self.rows:
                raise graphs.GraphError(f"{self.where}: {op.output} has {out.rows} rows, others {self.rows}")
            readers = sum(name == op.output for other in self.ops for name in self._operands(other))
            if readers:
                self.queue_of[op.output] = len(self.queues)
                self.queues.append({"tensor": op.output, "columns": out.columns, "readers": readers,
                                    "entries": min(self.tiles, self.group.depth * work_groups)})
        for op, work_groups in zip(self.ops, self.group.work_groups):
            stage = {"name": op.output, "work_groups": min(work_groups, self.tiles),
                     "inputs": [self._edge(name, inside) for name in self._operands(op)],
                     **(self._linear(op) if op.kind == "MatMul" else self._map(op))}
            stage["output"] = self._edge(op.output, inside)
            if "queue" in stage["output"] and (op.output in read_outside or op.output in final or
                                               self.graph.tensors[op.output].kind == "gradient"):
                stage["copy"] = op.output
            stages.append(stage)
        return {"first": self.group.first, "ops": len(self.ops), "rows": self.rows,
                "tile_rows": self.group.tile_rows, "queues": self.queues, "stages": stages}

    def _operands(self, op):
        return op.inputs[:1] if op.kind == "MatMul" else op.inputs

    def _edge(self, name, inside):
        return {"queue": self.queue_of[name]} if name in inside and name in self.queue_of else {"tensor": name}

    def _linear(self, op):
        shape = graphs.matmul_shape(self.graph, op)
        weights = self.graph.tensors[op.inputs[1]]
        if shape["outer"] * shape["inner"] != 1 or op.get("transpose_a") or weights.name in self.queue_of:
            raise graphs.GraphError(f"{self.where}: the product {op.output} is no stage: its left side must be rows "
                                    "of tiles, its right side weights")
        stage = {"kernel": "linear", "weights": weights.name,
                 "transpose_b": op.get("transpose_b"),
                 "activation": "gelu" if op.get("gelu") else "relu" if op.get("relu") else "none"}
        if len(op.inputs) == 3:
            stage["bias"] = op.inputs[2]
        return stage

    def _map(self, op):
        if op.kind not in MAPS or op.attributes.get("scale", 1) != 1:
            raise graphs.GraphError(f"{self.where}: {op.kind} -> {op.output} is no stage{graphs.near(op.kind, MAPS)}")
        for name in [*op.inputs, op.output]:
            tensor = self.graph.tensors[name]
            if tensor.rows != self.rows:
                raise graphs.GraphError(f"{self.where}: {name} has {tensor.rows} rows, others {self.rows}")
            if name != op.output and tensor.columns * 2 > ROW_BYTES:
                raise graphs.GraphError(f"{self.where}: {name} has rows of {tensor.columns} elements, at most "
                                        f"{ROW_BYTES // 2} fit a stage")
        return {"kernel": "map_" + MAPS[op.kind]}
