// SPDX-License-Identifier: Apache-2.0
// What passes through the queues of a plan's pipelines and comes from memory for them, against the plan: of the first
// time that each pipeline of rank 0 runs.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_TRAFFIC_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_TRAFFIC_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "models/common/component.h"
#include "platform/jobs/queue_owner.h"
#include "platform/kinds/graph/graph_plan.h"

namespace stretto {

class GraphTraffic {
 public:
  // So far: of a queue of the plan, and DRAM bytes that were read, and that stores outside of queues have left; sectors of
  // queues that had to make room in the L2, and those that were read past it, for want of a way.
  using OfQueue = std::function<QueueTraffic(const GraphQueue& queue)>;
  struct Bytes {
    uint64_t read = 0, left = 0;
    uint64_t evicted = 0, fetched_past = 0;
  };

  explicit GraphTraffic(const GraphPlan& plan)
      : plan_(plan),
        passed_(plan.groups.size()),
        fused_(plan.fused.size()),
        updates_(plan.with_master.size()) {}

  // The first kernel begins, or one has ended, while no operator from `op` on is over. Kernels of a group come in any
  // order of its stages.
  void note(uint32_t op, bool has_ended, const std::function<Bytes()>& bytes,
            const OfQueue& traffic);

  // Each payload is stored once, and loaded whole by every reading stage, by some more than once.
  void audit_queues(AuditSink& sink) const;
  // DRAM bytes that a pipeline reads: what its stages take from memory, each once. An operand of several stages or
  // parts comes at least once, one that an operator before has touched may be in the L2. Weights that stay neither in
  // units nor pinned may come again with each wave of tiles, a sector that finds no way with each reader, and tiles with
  // each part of a product if the L2 has no room for as many as its queue lets parts be apart. Not of pipelines of which
  // queues have left the L2. REQUIRES: queues are pinned.
  struct Caches {
    uint64_t l2_bytes;
    uint32_t l2_partitions;
    uint32_t lds_bytes;
    std::vector<bool> pins_weights;  // By group.
  };
  void audit_reads(const Caches& caches, AuditSink& sink) const;
  // And that it writes: results that leave, each once. What is still dirty in the L2 counts. Likewise.
  void audit_writes(AuditSink& sink) const;
  // What a fused kernel reads and writes, likewise: operands from outside, each once, but what an operator before has
  // left in the L2, and rows of tiles that work-groups share (fused_most_reads()); results that leave.
  void audit_fused(uint64_t l2_bytes, AuditSink& sink) const;
  // Updates of masters: 4 bytes of DRAM an element are read, for nobody has touched masters before, and at most 2 for the
  // gradient; 4 and 2 are left, of master and weight.
  void audit_updates(AuditSink& sink) const;

 private:
  // At its begin and end.
  struct Passed {
    bool has_begun = false;
    std::array<Bytes, 2> bytes{};
    std::array<std::vector<QueueTraffic>, 2> queues;
  };
  struct Range {
    uint64_t least, most;
  };
  bool queues_stayed(size_t group) const {
    return passed_[group].bytes[1].evicted == passed_[group].bytes[0].evicted;
  }
  Range written_of(const GraphQueue& queue) const;
  uint64_t readers_of(const GraphQueue& queue) const;  // Stages.
  Range reads_of(size_t group, const Caches& caches) const;
  uint64_t writes_of(size_t group) const;
  // Whether the L2 holds tiles from memory from the first part of a product that reads them to the last one, beside
  // pinned lines: the tiles, of which each partition keeps what its units read, and what is written to memory meanwhile.
  bool tiles_stay(size_t group, const stage_arguments_t& stage, const Caches& caches) const;

  const GraphPlan& plan_;
  std::vector<Passed> passed_;   // By group,
  std::vector<Passed> fused_;    // by fused group,
  std::vector<Passed> updates_;  // by update of a master.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_TRAFFIC_H_
