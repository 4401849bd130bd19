# SPDX-License-Identifier: Apache-2.0
"""From a graph to the C source of its loop kernel and the plan of its memory."""

import graph as graphs
import stages

ALIGN = 4096
UNIT = 8192            # LOOP_UNIT: gradients begin at whole units.
BUCKET_BYTES = 32 << 20  # GD-U13.
ROW_BYTES = 2048       # LOOP_ROW_BYTES.
TILE = 128
WAVEFRONTS = 8
CONSTANT_COLUMNS = 1024

ROW_KINDS = {"Add": "LOOP_ADD", "Sub": "LOOP_SUB", "Mul": "LOOP_MUL", "Gelu": "LOOP_GELU",
             "GeluGrad": "LOOP_GELU_GRAD", "Softmax": "LOOP_SOFTMAX", "SoftmaxGrad": "LOOP_SOFTMAX_GRAD",
             "LayerNorm": "LOOP_LAYER_NORM", "LayerNormGrad": "LOOP_LAYER_NORM_GRAD", "Update": "LOOP_UPDATE"}
ELEMENTWISE = ("Add", "Sub", "Mul", "Gelu", "GeluGrad", "Update")


def up(value, step):
    return (value + step - 1) // step * step


class Plan:
    """Places of tensors, buckets of gradients, and which operator waits for which."""

    def __init__(self, graph):
        for op in graph.ops:
            refuse(graph, op)
        self.graph = graph
        self.places = {}   # Name -> (space, offset).
        self.sizes = {"arena": 0, "gradients": 0}
        self.constants = {}
        self.ops = [op for op in fuse(graph) if op.kind != "AllReduce"]
        reduced = {op.output for op in graph.ops if op.kind == "AllReduce"}
        producers = {}
        self.waits, self.bucket_waits = [], []
        # Gradients lie in the order in which they are made, so that a bucket is one piece of memory.
        order = [op.output for op in self.ops if graph.tensors[op.output].kind == "gradient"]
        made = {op.output for op in self.ops}
        for tensor in graph.tensors.values():
            # A product that only its bias sees has no place.
            if tensor.kind != "gradient" and (tensor.kind != "value" or tensor.name in made):
                self._place(tensor.name, tensor.bytes, "arena", ALIGN)
        for name in order:
            self._place(name, graph.tensors[name].bytes, "gradients", UNIT)
        self.buckets = self._buckets([name for name in order if name in reduced])
        bucket_of = {name: i for i, bucket in enumerate(self.buckets) for name in bucket["tensors"]}
        readers = {}
        for i, op in enumerate(self.ops):
            wanted = {producers[name] for name in op.inputs if name in producers}
            if op.kind == "Update":  # In place: nobody reads the old values any more.
                wanted |= set(readers.get(op.output, ()))
            buckets = set()
            if op.kind == "Update" and op.inputs[1] in bucket_of:
                buckets.add(bucket_of[op.inputs[1]])
            self.waits.append(sorted(wanted))
            self.bucket_waits.append(sorted(buckets))
            producers[op.output] = i
            for name in op.inputs:
                readers.setdefault(name, []).append(i)
        for bucket in self.buckets:
            bucket["ops"] = sorted(producers[name] for name in bucket["tensors"])
        for op in self.ops:
            for name, value in extra_constants(op):
                self._constant(name, value)
        self.sizes = {space: up(size, 1 << 16) for space, size in self.sizes.items()}

    def _place(self, name, size, space, align):
        at = up(self.sizes[space], align)
        self.places[name] = (space, at)
        self.sizes[space] = at + up(size, align)

    def _constant(self, name, value):
        if name not in self.places:
            self._place(name, 2 * CONSTANT_COLUMNS, "arena", ALIGN)
            self.constants[name] = value

    def _buckets(self, names):
        buckets = []
        for name in names:
            at, size = self.places[name][1], up(self.graph.tensors[name].bytes, UNIT)
            last = buckets[-1] if buckets else None
            if last and last["offset"] + last["bytes"] == at and last["bytes"] + size <= BUCKET_BYTES:
                last["bytes"] += size
                last["tensors"].append(name)
            else:
                buckets.append({"offset": at, "bytes": size, "tensors": [name]})
        return buckets

    def place(self, name):
        space, offset = self.places[name]
        return f"{offset:#x}" + (" | LOOP_GRADIENTS" if space == "gradients" else "")

    def describe(self):
        """The plan as data: what places contents and checks results needs."""
        tensors = [{"name": t.name, "kind": t.kind, "rows": t.rows, "columns": t.columns,
                    "space": self.places[t.name][0], "offset": self.places[t.name][1], "value": t.value}
                   for t in self.graph.tensors.values() if t.name in self.places]
        tensors += [{"name": name, "kind": "constant", "rows": 1, "columns": CONSTANT_COLUMNS, "space": "arena",
                     "offset": self.places[name][1], "value": value} for name, value in self.constants.items()]
        ops = []
        for op in self.graph.ops:
            one = {"kind": op.kind, "inputs": op.inputs, "output": op.output,
                   "attributes": {k: v for k, v in op.attributes.items()}}
            if op.kind == "MatMul":
                one["matmul"] = graphs.matmul_shape(self.graph, op)
            ops.append(one)
        return {"name": self.graph.name, "arena_bytes": self.sizes["arena"], "gradient_bytes": self.sizes["gradients"],
                "tensors": tensors, "ops": ops, "buckets": self.buckets,
                "launches": [self._launch(i, op) for i, op in enumerate(self.ops)],
                "groups": stages.describe(self, stages.forced(self))}

    def _launch(self, i, op):
        """An operator as a kernel of its own: all that choosing one and its arguments needs."""
        one = {"kind": op.kind, "inputs": op.inputs, "constants": [name for name, _ in extra_constants(op)],
               "output": op.output, "attributes": op.attributes, "tiles": tiles(self.graph, op),
               "after": self.waits[i], "after_buckets": self.bucket_waits[i]}
        if op.kind == "MatMul":
            one["matmul"] = graphs.matmul_shape(self.graph, op)
        return one


def refuse(graph, op):
    """Raises GraphError where a loop kernel has no code for an operator."""
    where = f"{op.kind} -> {op.output}"
    if op.kind not in (*ROW_KINDS, "MatMul", "AllReduce"):
        raise graphs.GraphError(f"{where}: a loop kernel has no such operator"
                                f"{graphs.near(op.kind, [*ROW_KINDS, 'MatMul', 'AllReduce'])}")
    x, out = graph.tensors[op.inputs[0]], graph.tensors[op.output]
    if op.kind in graphs.BROADCAST and graphs.is_broadcast(x, graph.tensors[op.inputs[1]]):
        y = graph.tensors[op.inputs[1]]
        if op.kind != "Add" or y.elements != x.columns:
            raise graphs.GraphError(f"{where}: {y.name} is {list(y.shape)}, {x.name} is {list(x.shape)}; "
                                    "a loop kernel repeats the row of an Add alone")
    if op.kind.startswith(("Softmax", "LayerNorm")) and out.columns > 1024:
        raise graphs.GraphError(f"{where}: rows of {out.columns} elements, at most 1024 fit into a tile")


def fuse(graph):
    """Operators with the bias and the GELU that only a product's result gets put into the product."""
    readers = {}
    for op in graph.ops:
        for name in op.inputs:
            readers.setdefault(name, []).append(op)
    result, skipped = [], set()
    for op in graph.ops:
        if id(op) in skipped:
            continue
        follow = readers.get(op.output, [])
        add = follow[0] if len(follow) == 1 else None
        if (op.kind == "MatMul" and len(op.inputs) == 2 and add is not None and add.kind == "Add" and
                add.inputs[0] == op.output and not op.get("heads_out") and
                graph.tensors[add.inputs[1]].elements == graph.tensors[op.output].columns and
                graph.tensors[add.inputs[1]].kind in ("weight", "input", "constant")):
            skipped.add(id(add))
            op = graphs.Op("MatMul", [*op.inputs, add.inputs[1]], add.output, op.attributes)
            follow = readers.get(op.output, [])
        if (op.kind == "MatMul" and len(follow) == 1 and follow[0].kind == "Gelu" and
                graph.tensors[follow[0].output].shape == graph.tensors[op.output].shape):
            skipped.add(id(follow[0]))
            op = graphs.Op("MatMul", op.inputs, follow[0].output, {**op.attributes, "gelu": 1})
        result.append(op)
    return result


def extra_constants(op):
    if op.kind.startswith("Softmax"):
        return [(f"scale {op.get('scale', 1.0)}", op.get("scale", 1.0))]
    if op.kind.startswith("LayerNorm"):
        return [(f"epsilon {op.get('epsilon', 1e-5)}", op.get("epsilon", 1e-5))]
    if op.kind == "Update":
        return [(f"rate {op.get('rate', 0.001)}", op.get("rate", 0.001))]
    return []


def rows_shape(graph, op):
    """rows, columns, last_columns, rows_each of a row operator."""
    out = graph.tensors[op.output]
    bias = op.kind == "Add" and graph.tensors[op.inputs[1]].elements != out.elements
    rows, columns = out.rows, out.columns
    last = columns
    if op.kind in ELEMENTWISE and not bias:
        columns = min(out.elements, ROW_BYTES // 2)
        rows = -(-out.elements // columns)
        last = out.elements - (rows - 1) * columns
    each = 1 if last != columns else max(1, ROW_BYTES // (2 * columns))
    return rows, columns, last, each


def tiles(graph, op):
    if op.kind == "MatMul":
        shape = graphs.matmul_shape(graph, op)
        return shape["outer"] * shape["inner"] * -(-shape["m"] // TILE) * -(-shape["n"] // TILE)
    rows, _, _, each = rows_shape(graph, op)
    return -(-rows // (each * WAVEFRONTS))


def matmul_text(plan, op, index, choice):
    shape = graphs.matmul_shape(plan.graph, op)
    lines = [f"static const loop_matmul_t op_{index} = {{"]
    for name, place, strides, pitch in zip("abc", [*op.inputs[:2], op.output], shape["strides"], shape["pitch"]):
        lines.append(f"    .{name} = {{{plan.place(place)}, {strides[0]}, {strides[1]}, {pitch}}},")
    layout = [flag for flag, wanted in (("GEMM_A_KM", op.get("transpose_a")), ("GEMM_B_NK", op.get("transpose_b"))) if wanted]
    bias = plan.place(op.inputs[2]) if len(op.inputs) == 3 else "LOOP_NONE"
    lines.append(f"    .bias = {bias}, .m = {shape['m']}, .n = {shape['n']}, .k = {shape['k']}, "
                 f".layout = {' | '.join(layout) or 0},")
    lines.append(f"    .gelu = {op.get('gelu')}, .batch = {shape['outer'] * shape['inner']}, .inner = {shape['inner']}, "
                 f".choice = {choice}}};")
    return lines


def rows_text(plan, op, index):
    rows, columns, last, each = rows_shape(plan.graph, op)
    names = list(op.inputs)
    kind = ROW_KINDS[op.kind]
    if op.kind == "Add" and plan.graph.tensors[names[1]].elements != plan.graph.tensors[op.output].elements:
        kind = "LOOP_BIAS"
    names += [name for name, _ in extra_constants(op)]
    places = ", ".join(plan.place(name) for name in names)
    return [f"static const loop_rows_t op_{index} = {{",
            f"    .kind = {kind}, .in = {{{places}}}, .out = {plan.place(op.output)},",
            f"    .rows = {rows}, .columns = {columns}, .last_columns = {last}, .rows_each = {each}, "
            f".tiles = {tiles(plan.graph, op)}}};"]


def source(plan):
    """C source with the kernels `loop` (everything, many iterations) and `graph_rows` (one operator on rows)."""
    out = ["// SPDX-License-Identifier: Apache-2.0",
           f"// Generated by sw/compiler/compile.py from graph {plan.graph.name}.",
           '#include "sw/compiler/loop.h"', ""]
    products = 0
    for i, op in enumerate(plan.ops):
        out.append(f"// {op.kind}: {', '.join(op.inputs)} -> {op.output}")
        out += matmul_text(plan, op, i, products) if op.kind == "MatMul" else rows_text(plan, op, i)
        products += op.kind == "MatMul"
    flat = [op for bucket in plan.buckets for op in bucket["ops"]]
    out.append("")
    first = 0
    rows = []
    for bucket in plan.buckets:
        rows.append(f"    {{{bucket['offset']:#x}, {bucket['bytes']:#x}, {first}, {len(bucket['ops'])}}},")
        first += len(bucket["ops"])
    out += [f"static const loop_bucket_t buckets[{max(1, len(rows))}] = {{", *rows, "};"]
    out.append(f"static const uint32_t bucket_ops[{max(1, len(flat))}] = {{{', '.join(map(str, flat))}}};")
    out += ["", "void loop(void) {", "  loop_t l = loop_begin();",
            "  if ((uint32_t)tile_csr(TILE_CSR_WG_ID) < l.a->comm_groups)",
            f"    loop_communicate(&l, buckets, {len(plan.buckets)}, bucket_ops);",
            "  for (l.iteration = 0; l.iteration < l.a->iterations; ++l.iteration) {", "    l.rotation = 0;"]
    for i, op in enumerate(plan.ops):
        out += [f"    loop_wait(&l, {wait});" for wait in plan.waits[i]]
        out += [f"    loop_wait_bucket(&l, {wait});" for wait in plan.bucket_waits[i]]
        if plan.waits[i] or plan.bucket_waits[i]:
            out.append("    tile_barrier();")
        out.append(f"    LOOP_PRODUCT(&l, &op_{i});" if op.kind == "MatMul" else f"    LOOP_TILES(&l, loop_rows, &op_{i});")
        out.append(f"    loop_done(&l, {i});")
    out += [f"    loop_turn(&l, {len(plan.ops) - 1});", "  }", "  tile_end();", "  __builtin_unreachable();", "}"]
    out += ["", "void graph_rows(void) {", "  loop_t l = loop_begin();",
            "  const uint32_t tile = (uint32_t)tile_csr(TILE_CSR_WG_ID);", "  switch (l.a->op) {"]
    out += [f"    case {i}: loop_rows(&l, &op_{i}, tile); break;" for i, op in enumerate(plan.ops) if op.kind != "MatMul"]
    out += ["    default: (void)tile; break;", "  }", "  tile_end();", "  __builtin_unreachable();", "}",
            "", f"LOOP_KERNEL(loop, LOOP_REGISTERS, LOOP_LDS_BYTES, {products});",
            "LOOP_KERNEL(graph_rows, LOOP_ROWS_REGISTERS, 0, 0);", ""]
    return "\n".join(out)
