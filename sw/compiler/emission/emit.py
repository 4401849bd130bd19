# SPDX-License-Identifier: Apache-2.0
"""From a graph to the C source of its loop kernel and the plan of its memory."""

import hashlib
import struct

from emission import stages
from front import graph as graphs

ALIGN = 4096
UNIT = 8192            # LOOP_UNIT: gradients begin at whole units.
BUCKET_BYTES = 32 << 20  # GD-U13.
ROW_BYTES = 2048       # LOOP_ROW_BYTES.
TILE = 128
WAVEFRONTS = 8
CONSTANT_COLUMNS = 1024
LOOP_COLUMNS = 1024    # Of a row that a loop kernel takes whole,
LOOP_BIAS_COLUMNS = 2048  # and that it adds to others.
BLOCK_ROWS, MAX_BLOCKS = 128, 16384  # LOOP_BLOCK_ROWS, LOOP_MAX_BLOCKS.
NORM_ROWS = 128        # Of a tile of layer norm, which has columns beside its pieces.
# OPS_ROWS_*: words of a row operator, FP32.
WORDS = ("1 / columns", "epsilon", "lowest", "zero", "factor")
LOWEST = -struct.unpack("f", b"\xff\xff\x7f\x7f")[0]

ROW_KINDS = {"Add": "LOOP_ADD", "Sub": "LOOP_SUB", "Mul": "LOOP_MUL", "Gelu": "LOOP_GELU",
             "GeluGrad": "LOOP_GELU_GRAD", "Softmax": "LOOP_SOFTMAX", "SoftmaxGrad": "LOOP_SOFTMAX_GRAD",
             "LayerNorm": "LOOP_LAYER_NORM", "LayerNormGrad": "LOOP_LAYER_NORM_GRAD", "Update": "LOOP_UPDATE"}
ELEMENTWISE = ("Add", "Sub", "Mul", "Gelu", "GeluGrad", "Update")


def up(value, step):
    return (value + step - 1) // step * step


class Plan:
    """Places of tensors, buckets of gradients, and which operator waits for which."""

    def __init__(self, graph, fused=True):
        """`fused`: bias and activation are put into the product that they follow."""
        self.groups = None  # Those that the graph names, or stages.Group.
        self.no_pipelines = ""  # Why none of those that are planned can be run.
        self.graph = graph
        self.places = {}   # Name -> (space, offset).
        self.sizes = {"arena": 0, "gradients": 0}
        self.constants = {}
        self.words = {}
        self.ops = [op for op in (fuse(graph) if fused else graph.ops)
                    if op.kind != "AllReduce" and not is_view(graph, op)]
        self.refusal = next(filter(None, (refusal(graph, op) for op in self.ops)), None)
        # Results that are the bytes of another tensor, and what they are of.
        self.views = {op.output: op.inputs[0] for op in graph.ops if is_view(graph, op)}
        reduced = {op.output for op in graph.ops if op.kind == "AllReduce"}
        producers = {}
        self.waits, self.bucket_waits = [], []
        # Gradients lie in the order in which they are made, so that a bucket is one piece of memory.
        order = [op.output for op in self.ops if graph.tensors[op.output].kind == "gradient"]
        made = {op.output for op in self.ops}
        for tensor in graph.tensors.values():
            # A product that only its bias sees has no place.
            if tensor.kind != "gradient" and tensor.name not in self.views and \
                    (tensor.kind != "value" or tensor.name in made):
                self._place(tensor.name, tensor.bytes, "arena", ALIGN)
        for name in order:
            self._place(name, graph.tensors[name].bytes, "gradients", UNIT)
        for name in self.views:
            self.places[name] = self.places[self.root(name)]
        self.buckets = self._buckets([name for name in order if name in reduced])
        bucket_of = {name: i for i, bucket in enumerate(self.buckets) for name in bucket["tensors"]}
        readers = {}
        self.makers = []  # Of each operator: input -> the operator whose blocks its tiles may wait for.
        self.row_waits = []  # Of those, the operators that nothing else of it waits for.
        self.blocks, self.block_words = {}, 0  # Operator that counts blocks -> the first one's word.
        for i, op in enumerate(self.ops):
            wanted = {producers[name] for name in map(self.root, op.inputs) if name in producers}
            if op.kind == "Update":  # In place: nobody reads the old values any more.
                wanted |= set(readers.get(op.output, ()))
            buckets = set()
            if op.kind == "Update" and op.inputs[1] in bucket_of:
                buckets.add(bucket_of[op.inputs[1]])
            self.waits.append(sorted(wanted))
            self.makers.append(self._makers(op, producers))
            whole = {producers.get(self.root(name)) for place, name in enumerate(op.inputs)
                     if place not in self.makers[i]}
            self.row_waits.append(sorted(set(self.makers[i].values()) - whole))
            self.bucket_waits.append(sorted(buckets))
            producers[op.output] = i
            for name in map(self.root, op.inputs):
                readers.setdefault(name, []).append(i)
        for bucket in self.buckets:
            bucket["ops"] = sorted(producers[name] for name in bucket["tensors"])
        for op in self.ops:
            for name, value in extra_constants(op):
                self._constant(name, value)
        for op in self.ops:
            name, values = words(graph, op)
            if values and name not in self.places:
                self._place(name, 4 * len(values), "arena", 64)
                self.words[name] = values
        self.lists = {f"lists {op.output}": op for op in self.ops if op.kind == "ScatterAdd"}
        for name, op in self.lists.items():
            self._place(name, 2 * list_elements(graph, op), "arena", 64)
        self.sizes = {space: up(size, 1 << 16) for space, size in self.sizes.items()}

    def _makers(self, op, producers):
        makers = {place: producers[self.root(op.inputs[place])] for place in tiled_inputs(self.graph, op)
                  if self.root(op.inputs[place]) in producers}
        return {place: maker for place, maker in makers.items() if maker in self.blocks or self._take_blocks(maker)}

    def _take_blocks(self, maker):
        """Words for the blocks of a result, if there are as many and each row lies in one piece; False: none."""
        op = self.ops[maker]
        out = self.graph.tensors[op.output]
        if self.refusal or op.kind == "Update" or out.bytes >= 1 << 32 or \
                self.block_words + block_count(out) > MAX_BLOCKS or \
                (op.kind == "MatMul" and graphs.matmul_shape(self.graph, op)["pitch"][2] != 2 * out.columns):
            return False
        self.blocks[maker] = self.block_words
        self.block_words += block_count(out)
        return True

    def root(self, name):
        while name in self.views:
            name = self.views[name]
        return name

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
        extents = index_extents(self.graph)
        # Whole numbers of 32 bits, and FP32, are two elements each.
        masters = {name: op.inputs[0] for op in self.ops if has_master(op) for name in op.inputs[2:]}
        tensors = [{"name": t.name, "kind": t.kind, "rows": t.rows, "columns": t.columns * t.bytes // (2 * t.elements),
                    "extent": extents.get(t.name, 1), "space": self.places[t.name][0], "offset": self.places[t.name][1], "value": t.value,
                    **({"of": masters[t.name]} if t.name in masters else {})}
                   for t in self.graph.tensors.values() if t.name in self.places]
        tensors += [{"name": name, "kind": "constant", "rows": 1, "columns": CONSTANT_COLUMNS, "space": "arena",
                     "offset": self.places[name][1], "value": value} for name, value in self.constants.items()]
        tensors += [{"name": name, "kind": "words", "rows": 1, "columns": 2 * len(values), "space": "arena",
                     "offset": self.places[name][1], "values": values} for name, values in self.words.items()]
        tensors += [{"name": name, "kind": "lists", "rows": 1, "columns": list_elements(self.graph, op), "space": "arena",
                     "offset": self.places[name][1], "of": op.inputs[1], "value": 0} for name, op in self.lists.items()]
        ops = []
        for op in self.graph.ops:
            one = {"kind": op.kind, "inputs": op.inputs, "output": op.output,
                   "attributes": {k: v for k, v in op.attributes.items()}}
            if is_view(self.graph, op):
                one["kind"] = "View"
            ops.append({**one, **repeated(self.graph, op), **moved(self.graph, op)})
            if op.kind == "MatMul":
                ops[-1]["matmul"] = graphs.matmul_shape(self.graph, op)
        results = dict.fromkeys(self.root(name) for name in self.graph.results())
        return {"name": self.graph.name, "results": [name for name in results if name in self.places], "arena_bytes": self.sizes["arena"], "gradient_bytes": self.sizes["gradients"],
                "no_loop": self.refusal or "", "tensors": tensors, "ops": ops, "buckets": self.buckets,
                "launches": [self._launch(i, op) for i, op in enumerate(self.ops)],
                "groups": stages.describe(self, stages.forced(self) if self.groups is None else self.groups),
                **({"no_pipelines": self.no_pipelines} if self.no_pipelines else {})}

    def words_of(self, op):
        return words(self.graph, op)[0]

    def _launch(self, i, op):
        """An operator as a kernel of its own: all that choosing one and its arguments needs."""
        name, values = words(self.graph, op)
        one = {"kind": op.kind, "inputs": op.inputs, "words": [name] if values else [], "output": op.output,
               "attributes": op.attributes, "after": self.waits[i], "after_buckets": self.bucket_waits[i]}
        if i in self.blocks:
            one["first_block"] = self.blocks[i]
        one.update({**repeated(self.graph, op), **moved(self.graph, op)})
        if op.kind == "ScatterAdd":
            one["lists"] = f"lists {op.output}"
        if op.kind == "MatMul":
            one["matmul"] = graphs.matmul_shape(self.graph, op)
        return one


def refusal(graph, op):
    """Why a loop kernel cannot have an operator, or None."""
    where = f"{op.kind} -> {op.output}"
    if op.kind not in (*ROW_KINDS, "MatMul", "AllReduce"):
        return f"{where}: a loop kernel has no such operator{graphs.near(op.kind, [*ROW_KINDS, 'MatMul', 'AllReduce'])}"
    x, out = graph.tensors[op.inputs[0]], graph.tensors[op.output]
    if op.kind in graphs.BROADCAST and graphs.is_broadcast(x, graph.tensors[op.inputs[1]]):
        y = graph.tensors[op.inputs[1]]
        if op.kind != "Add" or y.elements != x.columns:
            return (f"{where}: {y.name} is {list(y.shape)}, {x.name} is {list(x.shape)}; "
                    "a loop kernel repeats the row of an Add alone")
    most = LOOP_COLUMNS if op.kind.startswith(("Softmax", "LayerNorm")) else LOOP_BIAS_COLUMNS
    if (most == LOOP_COLUMNS or (op.kind == "Add" and is_bias(graph, op))) and out.columns > most:
        return f"{where}: rows of {out.columns} elements, at most {most} fit into a tile of a loop kernel"
    return None


def block_count(tensor):
    return -(-tensor.rows // BLOCK_ROWS)


def tiled_inputs(graph, op):
    """Places of the inputs of which a tile reads a part: for the others it needs all that makes them."""
    if op.kind == "MatMul":
        return (0, 1)
    if op.kind == "LayerNormGrad":
        return (0, 2)
    if op.kind in ("Softmax", "LayerNorm", "Gelu"):
        return (0,)
    if op.kind == "Update" or op.kind not in ROW_KINDS:
        return ()
    out = graph.tensors[op.output]
    return tuple(i for i, name in enumerate(op.inputs) if graph.tensors[name].elements == out.elements)


def repeated(graph, op):
    """How the second operand of an operator element by element is repeated; rows: as often as need be."""
    if op.kind not in graphs.BROADCAST or not is_bias(graph, op):
        return {}
    x, y = graph.tensors[op.inputs[0]], graph.tensors[op.inputs[1]]
    shape = (1,) * (len(x.shape) - len(y.shape)) + tuple(y.shape)
    first = next((i for i, extent in enumerate(shape) if extent > 1), len(shape))
    if y.elements == 1:
        return {"second": "one"}
    if len(shape) == len(x.shape) and shape[-1] == 1 and y.elements == x.rows:
        return {"second": "column"}
    if y.elements == x.columns and (len(shape) > len(x.shape) or shape[-1] == x.columns):
        return {"second": "row"}
    if shape[first:] == tuple(x.shape[first:]):
        return {"second": "rows"}
    raise graphs.GraphError(f"{op.kind} -> {op.output}: {y.name} is {list(y.shape)}, {x.name} is {list(x.shape)}; "
                            "only leading dimensions, or the last one, may be repeated")


def is_view(graph, op):
    """Whether the result is the bytes of the input: the order of dimensions of extent 1 does not matter."""
    if op.kind == "Transpose":
        order = [axis for axis in op.get("perm") if graph.tensors[op.inputs[0]].shape[axis] > 1]
        return order == sorted(order)
    return op.kind == "Reshape"


def index_extents(graph):
    """Of each tensor of indices, how many rows they may name."""
    extents = {}
    for op in graph.ops:
        if op.kind in ("Gather", "ScatterAdd"):
            whole = graph.tensors[op.inputs[0] if op.kind == "Gather" else op.output]
            extent = whole.shape[op.get("axis")]
            extents[op.inputs[1]] = min(extent, extents.get(op.inputs[1], extent))
    return extents


def list_elements(graph, op):
    """Of what a ScatterAdd adds where: indices of 4 bytes, segments of 16 (index_plan.h) of both launches."""
    count, rows = graph.tensors[op.inputs[1]].elements, graph.tensors[op.output].shape[op.get("axis")]
    return 2 * (count + 1) + 8 * (rows + count // 32 + 1 + count // 64 + 1)


def cut(shape, axis):
    """What is before an axis, the axis, what is behind it."""
    before = after = 1
    for extent in shape[:axis]:
        before *= extent
    for extent in shape[axis + 1:]:
        after *= extent
    return [before, shape[axis], after]


def copy(graph, op, part, start, is_in=False, fill=None):
    """Rows of one tensor to or from a part of the axis of another. `fill`: of so many elements, zeros."""
    whole = graph.tensors[op.inputs[0] if is_in else op.output]
    before, extent, after = cut(whole.shape, op.get("axis"))
    length = fill or graph.tensors[part].shape[op.get("axis")]
    pitch, row = 2 * extent * after, 2 * length * after
    one = {"from": "" if fill else whole.name if is_in else part, "from_offset": 2 * start * after if is_in else 0,
           "to_offset": 0 if is_in else 2 * start * after, "rows": before, "row_bytes": row,
           "in_pitch": pitch if is_in else row, "out_pitch": row if is_in else pitch}
    return one


def moved(graph, op):
    """Of operators along an axis: how it cuts the larger tensor; and the copies that an operator is."""
    out = graph.tensors[op.output]
    if op.kind in ("ReduceSum", "ReduceMean", "Gather"):
        return {"axis": cut(graph.tensors[op.inputs[0]].shape, op.get("axis"))}
    if op.kind in ("Expand", "ScatterAdd"):
        return {"axis": cut(out.shape, op.get("axis"))}
    if op.kind == "Rope":
        heads = op.get("heads", 1)
        return {"axis": [out.rows, heads, out.columns // heads]}
    if op.kind == "Concat":
        copies, start = [], 0
        for name in op.inputs:
            copies.append(copy(graph, op, name, start))
            start += graph.tensors[name].shape[op.get("axis")]
        return {"copies": copies}
    if op.kind == "Slice":
        return {"copies": [copy(graph, op, op.output, op.get("start"), is_in=True)]}
    if op.kind == "Pad":
        before, after = op.get("before"), op.get("after")
        middle = graph.tensors[op.inputs[0]].shape[op.get("axis")]
        copies = [copy(graph, op, op.inputs[0], before)]
        copies += [copy(graph, op, None, start, fill=count) for start, count in ((0, before), (before + middle, after))
                   if count]
        return {"copies": copies}
    return {}


def has_master(op):
    return op.kind == "Update" and len(op.inputs) == 3


def is_bias(graph, op):
    return graph.tensors[op.inputs[1]].elements != graph.tensors[op.output].elements


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
                op.output not in graph.outputs and
                add.inputs[0] == op.output and not op.get("heads_out") and
                graph.tensors[add.inputs[1]].elements == graph.tensors[op.output].columns and
                graph.tensors[add.inputs[1]].kind in ("weight", "input", "constant")):
            skipped.add(id(add))
            op = graphs.Op("MatMul", [*op.inputs, add.inputs[1]], add.output, op.attributes)
            follow = readers.get(op.output, [])
        if (op.kind == "MatMul" and len(follow) == 1 and follow[0].kind == "Gelu" and op.output not in graph.outputs and
                graph.tensors[follow[0].output].shape == graph.tensors[op.output].shape):
            skipped.add(id(follow[0]))
            op = graphs.Op("MatMul", op.inputs, follow[0].output, {**op.attributes, "gelu": 1})
        result.append(op)
    return result


def extra_constants(op):
    """Rows of FP16 that a loop kernel multiplies by."""
    if op.kind.startswith("Softmax"):
        return [(f"scale {op.get('scale', 1.0)}", op.get("scale", 1.0))]
    if op.kind == "Update" and not has_master(op):
        return [(f"rate {op.get('rate', 0.001)}", op.get("rate", 0.001))]
    return []


def words(graph, op):
    """Name and WORDS of an operator that has some, as FP32."""
    columns, epsilon, factor = graph.tensors[op.output].columns, op.get("epsilon", 1e-5), 1.0
    if op.kind.startswith("Softmax"):
        factor = op.get("scale", 1.0)
    elif op.kind == "Update":
        columns, factor = 1, op.get("rate", 0.001)
    elif op.kind in ("ReduceMean", "Expand", "Sqrt"):
        extent = cut(graph.tensors[op.inputs[0]].shape, op.get("axis"))[1] if op.kind == "ReduceMean" else 1
        columns, factor = 1, {"ReduceMean": 1 / extent, "Expand": op.get("scale", 1.0),
                              "Sqrt": op.get("epsilon")}[op.kind]
    elif not op.kind.startswith("LayerNorm"):
        return None, []
    values = [struct.unpack("f", struct.pack("f", value))[0] for value in (1 / columns, epsilon, LOWEST, 0.0, factor)]
    return "words " + " ".join(f"{value!r}" for value in (columns, epsilon, factor)), values


def rows_shape(graph, op):
    """rows, columns, last_columns, rows_each of a row operator."""
    out = graph.tensors[op.output]
    bias = op.kind == "Add" and is_bias(graph, op)
    rows, columns = out.rows, out.columns
    last = columns
    if op.kind in ELEMENTWISE and not bias:
        columns = min(out.elements, ROW_BYTES // 2)
        rows = -(-out.elements // columns)
        last = out.elements - (rows - 1) * columns
    each = 1 if last != columns else max(1, ROW_BYTES // (2 * columns))
    if op.kind.startswith("LayerNorm"):
        each = min(each, NORM_ROWS)
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
    for i, (name, place, strides, pitch) in enumerate(
            zip("abc", [*op.inputs[:2], op.output], shape["strides"], shape["pitch"])):
        lines.append(f"    .{name} = {{{plan.place(place)}, {strides[0]}, {strides[1]}, {pitch}, "
                     f"{plan.makers[index].get(i, 'LOOP_NOBODY')}}},")
    layout = [flag for flag, wanted in (("GEMM_A_KM", op.get("transpose_a")), ("GEMM_B_NK", op.get("transpose_b"))) if wanted]
    bias = plan.place(op.inputs[2]) if len(op.inputs) == 3 else "LOOP_NONE"
    lines.append(f"    .bias = {bias}, .m = {shape['m']}, .n = {shape['n']}, .k = {shape['k']}, "
                 f".layout = {' | '.join(layout) or 0}, .self = {index},")
    lines.append(f"    .gelu = {op.get('gelu')}, .batch = {shape['outer'] * shape['inner']}, .inner = {shape['inner']}, "
                 f".choice = {choice}}};")
    return lines


def update_text(plan, op, index):
    """Of an Update with a master."""
    weight, gradient, master = map(plan.place, op.inputs)
    rate = f"{plan.place(words(plan.graph, op)[0])} + {4 * WORDS.index('factor')}"
    return [f"static const loop_master_t op_{index} = {{",
            f"    .weight = {weight}, .gradient = {gradient}, .master = {master}, .rate = {rate},",
            f"    .elements = {plan.graph.tensors[op.output].elements}, .tiles = {tiles(plan.graph, op)}}};"]


def rows_text(plan, op, index):
    rows, columns, last, each = rows_shape(plan.graph, op)
    names = list(op.inputs)
    kind = ROW_KINDS[op.kind]
    if op.kind == "Add" and is_bias(plan.graph, op):
        kind = "LOOP_BIAS"
    places = [plan.place(name) for name in (*names, *(name for name, _ in extra_constants(op)))]
    if op.kind.startswith("LayerNorm"):
        places.append(f"{plan.place(words(plan.graph, op)[0])} + {4 * WORDS.index('epsilon')}")
    makers = ", ".join(str(plan.makers[index].get(i, "LOOP_NOBODY")) for i in range(4))
    return [f"static const loop_rows_t op_{index} = {{",
            f"    .kind = {kind}, .in = {{{', '.join(places)}}}, .out = {plan.place(op.output)},",
            f"    .maker = {{{makers}}}, .self = {index},",
            f"    .rows = {rows}, .columns = {columns}, .last_columns = {last}, .rows_each = {each}, "
            f".tiles = {tiles(plan.graph, op)}}};"]


def made_text(plan, index):
    out = plan.graph.tensors[plan.ops[index].output]
    first = plan.blocks.get(index, "LOOP_UNCOUNTED")
    return f"    {{{plan.place(out.name)}, {out.rows}, {2 * out.columns}, {first}}},"


def waits_text(plan, index):
    """What an operator waits for before its first tile; by rows, not for those whose blocks its tiles wait for."""
    by_rows = plan.row_waits[index]
    whole = [wait for wait in plan.waits[index] if wait not in by_rows]
    lines = [f"    loop_wait(&l, {wait});" for wait in whole]
    lines += [f"    loop_wait_bucket(&l, {wait});" for wait in plan.bucket_waits[index]]
    if lines:
        lines.append("    tile_barrier();")
    if by_rows:
        waits = " ".join(f"loop_wait(&l, {wait});" for wait in by_rows)
        lines += ["    if (!l.a->by_rows) {", f"      {waits}", "      tile_barrier();", "    }"]
    return lines


def source(plan, text):
    """C source of the kernel `loop`: everything, many iterations. It names its plan, whose text is `text`."""
    out = ["// SPDX-License-Identifier: Apache-2.0",
           f"// Generated by sw/compiler/compile.py from graph {plan.graph.name}.",
           '#include "sw/compiler/loop.h"',
           *(['#include "sw/compiler/loop_master.h"'] if any(map(has_master, plan.ops)) else []), "",
           f'LOOP_PLAN("{hashlib.sha256(text.encode()).hexdigest()}");', ""]
    products = 0
    for i, op in enumerate(plan.ops):
        out.append(f"// {op.kind}: {', '.join(op.inputs)} -> {op.output}")
        out += (matmul_text(plan, op, i, products) if op.kind == "MatMul" else
                update_text(plan, op, i) if has_master(op) else rows_text(plan, op, i))
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
    out += ["", f"static const loop_made_t made[{len(plan.ops)}] = {{", *(made_text(plan, i) for i in range(len(plan.ops))),
            "};", "", "void loop(void) {", "  loop_t l = loop_begin(made);",
            "  if ((uint32_t)tile_csr(TILE_CSR_WG_ID) < l.a->comm_groups)",
            f"    loop_communicate(&l, buckets, {len(plan.buckets)}, bucket_ops);",
            "  for (l.iteration = 0; l.iteration < l.a->iterations; ++l.iteration) {", "    l.rotation = 0;"]
    for i, op in enumerate(plan.ops):
        out += waits_text(plan, i)
        out.append(f"    LOOP_PRODUCT(&l, &op_{i});" if op.kind == "MatMul" else
                   f"    LOOP_TILES(&l, loop_update, &op_{i});" if has_master(op) else f"    LOOP_ROWS(&l, &op_{i});")
        out.append(f"    loop_done(&l, {i});")
    out += [f"    loop_turn(&l, {len(plan.ops) - 1});", "  }", "  tile_end();", "  __builtin_unreachable();", "}"]
    out += ["", f"LOOP_KERNEL({products});", ""]
    return "\n".join(out)
