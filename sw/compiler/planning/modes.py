# SPDX-License-Identifier: Apache-2.0
"""Plans of a graph for `--mode bsp|vertical|kitsune`: steps, what each moves, and what it all comes to.

bsp: an operator a kernel. vertical: groups are kernels whose tiles stay in LDS, in the forward pass. kitsune: groups
are spatial pipelines. What is in no group runs as in bsp.
"""

import dataclasses
import pathlib

from front import flow as flows, graph as graphs
from planning import alloc, balance, patterns, pipeline as pipelines, profiles, timing, vertical

MODES = ("bsp", "vertical", "kitsune")
L2_PEAKS = (4.5, 6.6)  # TB/s: three times DRAM, and 61 GB/s a unit (KT-D6).


class Planner:
    def __init__(self, graph, mode, machine, stem=None, profile=(), depth=pipelines.DEPTH, depths=None, forced=(),
                 exclude=()):
        if mode not in MODES:
            raise graphs.GraphError(f"--mode {mode}{graphs.near(mode, MODES)}")
        self.flow, self.mode, self.machine = flows.Flow(graph), mode, machine
        if not self.flow.ops:
            raise graphs.GraphError("has no operators")
        self.stem, self.depth, self.depths = stem, depth, dict(depths or {})
        self.profile = profiles.read(profile, self.flow, machine) if profile else None
        for name in exclude:
            if name not in self.flow.made:
                raise graphs.GraphError(f"--exclude {name}: no operator makes it{graphs.near(name, self.flow.made)}")
        self.groups, self.left_out = [], []
        if mode != "bsp":
            check = self.error_of_fusion if mode == "vertical" else self.error_of_pipeline
            self.groups = [patterns.forced(self.flow, names, check) for names in forced]
            alone = set(exclude) | {self.flow.ops[n].output for group in self.groups for n in group.members}
            library = patterns.FUSIONS if mode == "vertical" else patterns.PIPELINES
            more, self.left_out = patterns.select(self.flow, library, check, alone)
            self.groups += more
        self.steps = patterns.order(self.flow, self.groups)

    def error_of_fusion(self, members):
        return vertical.error(self.flow, members, self.machine)

    def error_of_pipeline(self, members):
        return pipelines.stream_error(self.flow, members, self.machine)

    def plan(self):
        """All of it, as data for JSON."""
        flow, steps, numbers, carried = self.flow, [], [], set()
        while len(steps) < len(self.steps):
            place, step = len(steps), self.steps[len(steps)]
            if isinstance(step, int):
                steps.append(self.kernel(step))
                numbers.append([step])
                continue
            one = {"pattern": step.pattern, "name": flow.ops[step.members[0]].output,
                   "operators": [flow.ops[number].output for number in step.members],
                   "bsp_dram_bytes": sum(flow.traffic(number) for number in step.members)}
            if self.mode == "vertical":
                rows = flow.rows(one["name"])
                one.update(kind="fused", dram_bytes=vertical.dram_bytes(flow, step.members),
                           tile_rows=vertical.TILE_ROWS, tiles=-(-rows // vertical.TILE_ROWS))
                kept = set(one["operators"])
            else:
                made, balanced = self.pipeline(step, place)
                if self.is_slower(step, balanced["predicted"]):
                    self.leave_out(step, made)  # Steps from here on are others.
                    pathlib.Path(f"{self.stem}.{place}.lp").unlink()
                    continue
                one.update(kind="pipeline", dram_bytes=made.dram_bytes, **made.describe(), **balanced)
                kept = {queue.tensor for queue in made.queues} | set(one["operators"])
            inside = set(step.members)
            carried |= {name for name in kept if name not in flow.results and
                        all(number in inside for number in flow.readers.get(name, []))}
            steps.append(one)
            numbers.append(step.members)
        if self.mode == "kitsune":
            self.submit(steps)
        for name in self.depths:
            raise graphs.GraphError(f"--queue {name}: no such queue" + graphs.near(name, [
                queue["name"] for step in steps for queue in step.get("queues", [])] or ["(none)"]))
        return self.whole(steps, numbers, carried)

    def submit(self, steps):
        """Adds to the launch of each pipeline what the GPU waits for the host, which submits steps one behind the other and
        runs ahead. Of the second iteration: in the first there is nothing yet that hides it."""
        host = gpu = 0.0
        for is_second in (False, True):
            for step in steps:
                pipeline = step.get("predicted")
                host += timing.submit_us(self.machine, len(step["stages"]) + 1 if pipeline else 1)
                waits = max(0.0, host - gpu)
                gpu += waits + (pipeline["us"] if pipeline else self.alone_us(self.flow.made[step["operators"][0]]))
                if is_second and pipeline:
                    pipeline["launch_us"] += waits
                    pipeline["us"] += waits
                    pipeline["tiles_a_ms"] = step["tiles"] / pipeline["us"] * balance.PER_MS

    def alone_us(self, number):
        """Of an operator that is a kernel of its own, from the end of the step before to its end."""
        known = self.profile.operators.get(self.flow.ops[number].output) if self.profile else None
        return known["us"] if known else timing.launch_us(self.machine, 1) + balance.operator_times(
            self.flow, number, self.machine)[0]

    def kernel(self, number):
        return {"kind": "kernel", "operators": [self.flow.ops[number].output], "dram_bytes": self.flow.traffic(number)}

    def is_slower(self, group, predicted):
        """Bulk-synchronous friendly (KT-SEL-03): left out, unless the user forced it. Where all operators were measured the
        whole times are compared. Else the least that a pipeline can take, by its bytes and operations and the machine's rates,
        with that of kernels: then it is slower however short its way, and however well its work-groups are balanced."""
        known = self.profile.operators if self.profile else {}
        is_measured = all(self.flow.ops[number].output in known for number in group.members)
        us = predicted["us"] if is_measured else predicted["least_us"]
        if group.pattern == "forced" or us <= predicted["bsp_us"]:
            return False
        self.left_out.append(f"group of {patterns.names(self.flow, group.members)}: {us:.1f} us as a "
                             f"pipeline, {predicted['bsp_us']:.1f} us alone ({'profile' if is_measured else 'estimate'})")
        return True

    def leave_out(self, group, made):
        """Instead of a group that is slower than kernels: what is a group without the products whose weights would come from
        memory with each wave of tiles, for kernels read them once (KT-SEL-03)."""
        self.groups.remove(group)
        heavy = {number for stage in made.stages if stage.weight_bytes and made.weight_passes(stage) > 1
                 for number in stage.operators[:1]}
        alone = {op.output for number, op in enumerate(self.flow.ops) if number not in group.members or number in heavy}
        if heavy:
            more, _ = patterns.select(self.flow, patterns.RESTS, self.error_of_pipeline, alone)
            self.groups += more
        self.steps = patterns.order(self.flow, self.groups)

    def pipeline(self, group, place):
        """The pipeline with the largest tiles whose queues can be pinned; more column parts before smaller ones."""
        path, widest = pathlib.Path(f"{self.stem}.{place}.lp"), None
        for tile_rows, is_narrow in [(rows, narrow) for rows in self.tile_rows(group) for narrow in (False, True)]:
            made = pipelines.Pipeline(self.flow, group, self.machine, tile_rows, self.depth, is_narrow)
            mine = [name for name in self.depths if made.has_queue(name)]
            for name in mine:
                made.set_depth(name, self.depths[name])
            made.check_moves()
            program = balance.of(made, self.machine, self.profile)
            _, fewest = balance.solve(program, path)
            for most in balance.times(program, fewest):
                made.finish(balance.spread(program, fewest, most))
                if made.queue_bytes <= self.machine.pinned_bytes:
                    break
            widest = widest or made
            if made.queue_bytes <= self.machine.pinned_bytes:
                break
        else:
            made = widest
        if made.whole_bytes > self.machine.pinned_bytes:
            made = self.of_few_tiles(made, mine)
        for name in mine:
            del self.depths[name]
        program = balance.of(made, self.machine, self.profile)
        ctas = [stage.ctas for stage in made.stages]
        thr, limit = balance.bound(program, ctas)
        alone = sum(self.alone_us(number) for number in group.members)
        whole = timing.predict(made, self.machine, self.profile)
        return made, {"lp": path.name, "predicted": {
            "tiles_a_ms": made.tiles / whole.us * balance.PER_MS, "us": whole.us, "launch_us": whole.launch, "way_us": whole.way,
            "steady_tiles_a_ms": thr, "least_us": timing.least_us(made, self.machine), "limit": limit, "bsp_us": alone, "us_by_l2_tb_s": {str(peak): made.tiles / balance.bound(dataclasses.replace(
                program, l2_peak=1e9 * peak), ctas)[0] * balance.PER_MS for peak in L2_PEAKS}, "source": "profile" if self.profile else "estimate"}}

    def tile_rows(self, group):
        """Rows of tiles to try, in this order. Without a product a tile need not fill the tensor pipe: then each unit has one,
        as far as there are rows."""
        if any(self.flow.letters[number] in "LW" for number in group.members):
            return pipelines.TILE_ROWS
        rows = self.flow.rows(self.flow.ops[group.members[0]].inputs[0])
        return [one for one in pipelines.TILE_ROWS if -(-rows // one) >= self.machine.units] or pipelines.TILE_ROWS[-1:]

    def of_few_tiles(self, made, mine):
        """The pipeline whose queues of whole tiles can be pinned: with so many tiles at once in each product, which its
        work-groups share, as are predicted to be through soonest; where none fit, with tiles of fewer rows."""
        ctas, tile_rows = [stage.ctas for stage in made.stages], made.tile_rows
        at_once = sorted({-(-made.tiles // waves) for waves in range(1, made.tiles + 1)})
        while True:
            fitting = []
            for lanes in at_once:
                few = pipelines.Pipeline(self.flow, made.group, self.machine, tile_rows, self.depth,
                                         parts=made.parts_of(lanes))
                for name in mine:
                    few.set_depth(name, self.depths[name])
                few.finish_few(ctas, lanes)
                if few.whole_bytes > self.machine.pinned_bytes:
                    break  # More tiles take more room.
                fitting.append((timing.predict(few, self.machine, self.profile).us, -lanes, few))
            if fitting:
                return min(fitting, key=lambda one: one[:2])[2]
            if tile_rows == pipelines.TILE_ROWS[-1]:
                raise graphs.GraphError(f"the pipeline of {made.name}: its queues take {few.whole_bytes} bytes with tiles of "
                                        f"{tile_rows} rows, {self.machine.pinned_bytes} of the L2 may be pinned")
            tile_rows //= 2

    def whole(self, steps, numbers, carried):
        flow = self.flow
        places, total, forever = alloc.places(flow, numbers, carried)
        tensors = [{"name": one.name, "kind": one.kind, "shape": list(one.shape), "bytes": one.bytes,
                    **({"offset": places[one.name][0]} if one.name in places else {}),
                    **({"same_bytes_as": flow.renamed[one.name]} if one.name in flow.renamed else {})}
                   for one in flow.graph.tensors.values()]
        operators = []
        for number, op in enumerate(flow.ops):
            one = {"kind": op.kind, "class": flow.letters[number], "inputs": op.inputs, "output": op.output,
                   "attributes": op.attributes, "dram_bytes": flow.traffic(number),
                   "pass": "forward" if number < flow.split else "backward"}
            if op.kind == "MatMul":
                one["matmul"] = graphs.matmul_shape(flow.graph, op)
            operators.append(one)
        every = range(len(flow.ops))
        bsp, bytes_here = sum(flow.traffic(number) for number in every), sum(step["dram_bytes"] for step in steps)
        count, grouped = flow.counted(every), sum(flow.counted(group.members) for group in self.groups)
        return {"graph": flow.graph.name, "hash": flow.hash(), "mode": self.mode, "machine": self.machine.name,
                "summary": {"operators": count, "grouped": grouped, "coverage_percent": 100 * grouped / count,
                            "bsp_dram_bytes": bsp, "dram_bytes": bytes_here,
                            "traffic_cut_percent": 100 * (1 - bytes_here / bsp),
                            "arena_bytes": total, "arena_bytes_without_reuse": forever},
                "tensors": tensors, "operators": operators, "steps": steps, "left_out": self.left_out}
