# SPDX-License-Identifier: Apache-2.0
"""The schedule of a pipeline, run with tiles as tokens: does it move to its end, and if not, which queues stop it?

A stage has lanes; lane l has tiles l, l + lanes, ... Before it works on one it waits for that tile in all its input
queues, and for its next one where `prefetches` says so; then for room in its output queues: tile t takes the place of
tile t - capacity, so all readers must have given that one back. A queue of partial sums is complete when all lanes of
its producer have ended; its reader has one token.
"""

import dataclasses


@dataclasses.dataclass
class Edge:
    producer: int
    consumers: list
    capacity: int         # Tiles.
    prefetches: bool
    is_partial: bool = False


@dataclasses.dataclass
class Wait:
    stage: int
    edge: int
    is_full: bool  # Waits for room, else for a tile.


class Schedule:
    def __init__(self, edges, lanes, tiles):
        self.edges, self.lanes, self.tiles = edges, lanes, tiles
        count = len(lanes)
        self.inputs = [[at for at, edge in enumerate(edges) if place in edge.consumers] for place in range(count)]
        self.outputs = [[at for at, edge in enumerate(edges) if edge.producer == place] for place in range(count)]
        self.is_final = [any(edges[at].is_partial for at in self.inputs[place]) for place in range(count)]
        self.next = [list(range(1 if final else lane)) for lane, final in zip(lanes, self.is_final)]
        self.made = [bytearray(tiles) for _ in edges]
        self.given_back = [[0] * tiles for _ in edges]

    def end(self, stage):
        return 1 if self.is_final[stage] else self.tiles

    def blocker(self, stage, lane):
        """What a lane waits for, and whose lane that is: (Wait, stage, lane), or None."""
        tile = self.next[stage][lane]
        for at in self.inputs[stage]:
            edge = self.edges[at]
            if edge.is_partial:
                left = [one for one, ahead in enumerate(self.next[edge.producer]) if ahead < self.tiles]
                if left:
                    return Wait(stage, at, False), edge.producer, left[0]
                continue
            wanted = [tile, tile + self.lanes[stage]] if edge.prefetches else [tile]
            for one in wanted:
                if one < self.tiles and not self.made[at][one]:
                    return Wait(stage, at, False), edge.producer, one % self.lanes[edge.producer]
        for at in self.outputs[stage]:
            edge, before = self.edges[at], tile - self.edges[at].capacity
            if not edge.is_partial and before >= 0 and self.given_back[at][before] < len(edge.consumers):
                for consumer in edge.consumers:
                    lane_of = before % self.lanes[consumer]
                    if self.next[consumer][lane_of] <= before:
                        return Wait(stage, at, True), consumer, lane_of
        return None

    def step(self, stage, lane):
        tile = self.next[stage][lane]
        for at in self.inputs[stage]:
            if not self.edges[at].is_partial:
                self.given_back[at][tile] += 1
        for at in self.outputs[stage]:
            if not self.edges[at].is_partial:
                self.made[at][tile] = 1
        self.next[stage][lane] += 1 if self.is_final[stage] else self.lanes[stage]

    def run(self):
        """None if it comes to its end, else the cycle of waits that stops it."""
        open_lanes = [(stage, lane) for stage in range(len(self.lanes)) for lane in range(len(self.next[stage]))]
        moved = True
        while open_lanes and moved:
            moved = False
            for stage, lane in open_lanes:
                while self.next[stage][lane] < self.end(stage) and self.blocker(stage, lane) is None:
                    self.step(stage, lane)
                    moved = True
            open_lanes = [(stage, lane) for stage, lane in open_lanes if self.next[stage][lane] < self.end(stage)]
        return self.cycle(*open_lanes[0]) if open_lanes else None

    def cycle(self, stage, lane):
        path, seen = [], []
        while (stage, lane) not in seen:
            seen.append((stage, lane))
            wait, stage, lane = self.blocker(stage, lane)
            path.append(wait)
        return path[seen.index((stage, lane)):]
