// SPDX-License-Identifier: Apache-2.0
// What a tile takes in a stage of a pipeline, from what its work-groups noted: the second pass of the compiler balances
// by it (sw/compiler/planning/balance.py).
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_STAGE_CLOCKS_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_STAGE_CLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stretto {

struct StageClocks {
  uint32_t tiles = 0;            // Of the pipeline.
  uint32_t queues_in = 0;        // That a work-group waits for with each tile,
  uint32_t queues_out = 0;       // and for room in.
  uint32_t parts = 1;            // Work-groups that take the same tile, each for some columns.
  std::vector<uint64_t> clocks;  // STAGE_CLOCKS of each work-group.
  std::vector<size_t> producers = {};  // Stages whose tiles it takes.

  uint64_t work_groups() const;
  // Sum over work-groups of one of their clocks, and of the time from begin to end.
  uint64_t sum(uint32_t clock) const;
  uint64_t whole() const;
  // Clocks a wait took at least, on average over a work-group's tiles: infinity without queues.
  double shortest_wait() const;
  // Clocks of a tile with one work-group, of all parts, without the time that it waited for others. A wait that others do not
  // prolong is the stage's own: `ready` clocks. Of two sides the longer one counts, or what neither waited for others: they
  // wait for each other in turn. The tensor pipe works on while they wait, so a tile takes no less than the shortest.
  double tile(double ready) const;
};

// What a stage adds to the way of a pipeline's first tiles: clocks from when a tile has left the last stage that it takes
// tiles from, else from its work-group's begin, until it leaves. Mean over tiles that are the first ones of all these
// work-groups. 0: the stage has none, for it begins behind all tiles.
double first_clocks(const std::vector<StageClocks>& stages, size_t stage);

// Clocks of a wait for what is there: the shortest of all stages. 0: nobody waits.
double ready_clocks(const std::vector<StageClocks>& stages);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_STAGE_CLOCKS_H_
