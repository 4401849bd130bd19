// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_traffic.h"

#include <algorithm>
#include <map>
#include <utility>

#include "platform/kinds/graph/graph_fused.h"
#include "sw/include/tile_queue.h"

namespace stretto {

namespace {

constexpr uint64_t kSectorBytes = 64;  // Of the L2.
constexpr double kTolerance = 0.02;
constexpr uint64_t kArguments = 4096;  // Bytes of descriptors and kernels' own reads.

bool is_of(const stage_edge_t& edge, const GraphQueue& queue) {
  return edge.entries != 0 && edge.words == queue.edge.words;
}

uint64_t weights_of(const graph_group_t& group) {
  uint64_t bytes = 0;
  for (uint32_t s = 0; s < group.stages; ++s)
    bytes += kElementBytes * group.stage[s].arguments.k * uint64_t{group.stage[s].arguments.n};
  return bytes;
}

uint64_t waves(const graph_group_t& group, const graph_stage_t& stage) {
  const uint64_t at_once = stage.work_groups / stage.arguments.parts;
  return (group.tiles + at_once - 1) / at_once;
}

uint64_t least_of(uint64_t bytes) {
  return static_cast<uint64_t>((1 - kTolerance) * static_cast<double>(bytes));
}
uint64_t most_of(uint64_t bytes) {
  return static_cast<uint64_t>((1 + kTolerance) * static_cast<double>(bytes)) + kArguments;
}

void within(AuditSink& sink, const std::string& what, uint64_t found, uint64_t least,
            uint64_t most) {
  sink.at_most("least by the plan <= " + what, least, found);
  sink.at_most(what + " <= most by the plan", found, most);
}

}  // namespace

void GraphTraffic::note(uint32_t op, bool has_ended, const std::function<Bytes()>& bytes,
                        const OfQueue& traffic) {
  const auto is_in = [&](const auto& group, const Passed& passed) {
    return op >= group.first_op && op < group.first_op + group.ops &&
           (has_ended || !passed.has_begun);
  };
  for (size_t i = 0; i < plan_.fused.size(); ++i)
    if (Passed& passed = fused_[i]; is_in(plan_.fused[i], passed))
      passed.bytes[std::exchange(passed.has_begun, true)] = bytes();
  for (size_t i = 0; i < plan_.with_master.size(); ++i)
    if (Passed& passed = updates_[i];
        op == plan_.with_master[i] && (has_ended || !passed.has_begun))
      passed.bytes[std::exchange(passed.has_begun, true)] = bytes();
  for (size_t i = 0; i < plan_.groups.size(); ++i) {
    const graph_group_t& group = plan_.groups[i];
    Passed& passed = passed_[i];
    if (!is_in(group, passed)) continue;
    const bool ends = std::exchange(passed.has_begun, true);
    passed.bytes[ends] = bytes();
    passed.queues[ends].clear();
    for (const GraphQueue& queue : plan_.queue)
      if (queue.group == i) passed.queues[ends].push_back(traffic(queue));
  }
}

void GraphTraffic::audit_fused(uint64_t l2_bytes, AuditSink& sink) const {
  for (size_t i = 0; i < plan_.fused.size(); ++i) {
    const graph_fused_t& fused = plan_.fused[i];
    const uint64_t reads = fused_reads(fused), writes = fused_writes(fused);
    // Nobody has touched what the first operator reads.
    const uint64_t least = fused.first_op == 0 ? reads : reads - std::min(reads, l2_bytes);
    const Bytes &begin = fused_[i].bytes[0], &end = fused_[i].bytes[1];
    sink.set_where("the fused kernel of " + plan_.outputs[fused.first_op]);
    sink.equal("DRAM bytes of a fused kernel, by its arguments = by its plan", reads + writes,
               plan_.fused_bytes[i]);
    // A product of the library may leave partial sums, too.
    const ops_gemm_choice_t& choice = fused.op.choice;
    const uint64_t most = writes + choice.partial_bytes + choice.flag_bytes;
    within(sink, "bytes that a fused kernel has left for DRAM", end.left - begin.left,
           least_of(writes), most_of(most));
    if (fused_weights(fused) > l2_bytes / 2) continue;  // They come again with each wave of tiles.
    within(sink, "DRAM bytes that a fused kernel has read", end.read - begin.read, least_of(least),
           most_of(fused_most_reads(fused)));
  }
}

void GraphTraffic::audit_updates(AuditSink& sink) const {
  for (size_t i = 0; i < plan_.with_master.size(); ++i) {
    const size_t op = plan_.with_master[i];
    const uint64_t elements = plan_.operators[op].columns;
    const Bytes &begin = updates_[i].bytes[0], &end = updates_[i].bytes[1];
    sink.set_where("the update of " + plan_.outputs[op]);
    within(sink, "DRAM bytes that an update of masters has read", end.read - begin.read,
           least_of(4 * elements), most_of(6 * elements));
    within(sink, "bytes that an update of masters has left for DRAM", end.left - begin.left,
           least_of(6 * elements), most_of(6 * elements));
  }
}

GraphTraffic::Range GraphTraffic::written_of(const GraphQueue& queue) const {
  if (!queue.has_sums) {
    const uint64_t rows = plan_.stages[queue.group][0].arguments.rows;
    return {rows * queue.edge.pitch, rows * queue.edge.pitch};
  }
  return {queue.payloads * (queue.edge.entry_bytes - TILE_QUEUE_LINE_BYTES),
          queue.payloads * queue.edge.entry_bytes};
}

uint64_t GraphTraffic::readers_of(const GraphQueue& queue) const {
  uint64_t readers = 0;
  for (const graph_stage_t& stage : plan_.stages[queue.group])
    for (const stage_edge_t& in : stage.arguments.in) readers += is_of(in, queue) ? 1 : 0;
  return readers;
}

void GraphTraffic::audit_queues(AuditSink& sink) const {
  std::vector<size_t> next(plan_.groups.size());
  for (const GraphQueue& queue : plan_.queue) {
    const Passed& passed = passed_[queue.group];
    const size_t at = next[queue.group]++;
    if (at >= passed.queues[1].size()) continue;
    const uint64_t written = passed.queues[1][at].written - passed.queues[0][at].written;
    const uint64_t read = passed.queues[1][at].read - passed.queues[0][at].read;
    const Range range = written_of(queue);
    const uint64_t readers = readers_of(queue);
    sink.set_where("queue " + queue.name);
    within(sink, "bytes stored to pinned lines of a queue", written,
           std::max<uint64_t>(1, range.least), range.most);
    sink.at_most("bytes stored to pinned lines of a queue, for each stage that reads <= loaded",
                 written * readers, read);
    sink.equal("bytes loaded from pinned lines of a queue are whole payloads",
               written == 0 ? read : read % written, 0);
  }
}

GraphTraffic::Range GraphTraffic::reads_of(size_t group, const Caches& caches) const {
  const graph_group_t& of = plan_.groups[group];
  std::map<uint64_t, uint64_t> operands;  // By place: bytes.
  Range range{};
  const auto add = [&](uint64_t place, uint64_t elements, uint64_t times) {
    operands[place] = kElementBytes * elements;
    range.most += kElementBytes * elements * times;
  };
  for (uint32_t s = 0; s < of.stages; ++s) {
    const stage_arguments_t& g = of.stage[s].arguments;
    for (int in = 0; in < 3; ++in)
      if (g.columns[in] != 0 && g.in[in].entries == 0)
        add(g.in[in].base, uint64_t{g.in[in].pitch != 0 ? g.rows : 1} * g.columns[in],
            g.k != 0 && tiles_stay(group, g, caches) ? 1 : std::max(1u, g.parts));
    const bool comes_again = g.k != 0 && !caches.pins_weights[group] &&
                             !graph_stage_is_resident(&of.stage[s], caches.lds_bytes);
    if (g.k != 0) add(g.weights, uint64_t{g.k} * g.n, comes_again ? waves(of, of.stage[s]) : 1);
    if (g.has_bias != 0) add(g.bias, g.has_norm != 0 ? g.columns[0] : g.n, 1);
    if (g.has_norm != 0) add(g.weights, g.columns[0], 1);
  }
  for (const GraphQueue& queue : plan_.queue)  // Words were zeroed in memory; a sector each.
    range.most += queue.group == group ? 2 * uint64_t{queue.edge.entries} * kSectorBytes : 0;
  for (const auto& [place, bytes] : operands) range.least += of.first_op == 0 ? bytes : 0;
  return range;
}

bool GraphTraffic::tiles_stay(size_t group, const stage_arguments_t& stage,
                              const Caches& caches) const {
  if (stage.parts <= 1) return true;
  const graph_group_t& of = plan_.groups[group];
  const uint64_t apart =
      stage.out.entries != 0 ? std::min(of.tiles, stage.out.entries) : uint64_t{of.tiles};
  const uint64_t tile = kElementBytes * stage.tile_rows * uint64_t{stage.columns[0]};
  uint64_t pinned = caches.pins_weights[group] ? weights_of(of) : 0;
  for (const GraphQueue& queue : plan_.queue)
    if (queue.group == group) pinned += uint64_t{queue.edge.entries} * queue.edge.entry_bytes;
  const uint64_t passing = caches.l2_partitions * tile + writes_of(group) / of.tiles;
  return apart * passing + pinned <= caches.l2_bytes;
}

void GraphTraffic::audit_reads(const Caches& caches, AuditSink& sink) const {
  for (size_t i = 0; i < plan_.groups.size(); ++i) {
    const graph_group_t& group = plan_.groups[i];
    if (!queues_stayed(i)) continue;
    if (weights_of(group) > caches.l2_bytes / 2) continue;
    Range range = reads_of(i, caches);
    range.most +=
        kSectorBytes * (passed_[i].bytes[1].fetched_past - passed_[i].bytes[0].fetched_past);
    const uint64_t found = passed_[i].bytes[1].read - passed_[i].bytes[0].read;
    sink.set_where("the pipeline of " + plan_.outputs[group.first_op]);
    within(sink, "DRAM bytes that a pipeline has read", found, least_of(range.least),
           most_of(range.most));
  }
}

uint64_t GraphTraffic::writes_of(size_t group) const {
  uint64_t bytes = 0;
  for (uint32_t s = 0; s < plan_.groups[group].stages; ++s) {
    const stage_arguments_t& g = plan_.groups[group].stage[s].arguments;
    bytes += uint64_t{g.rows} * g.copy_pitch;
    for (const stage_edge_t& keep : g.keep) bytes += uint64_t{g.rows} * keep.pitch;
    if (g.out.entries == 0)
      bytes += g.elements != 0 ? kElementBytes * g.elements : uint64_t{g.rows} * g.out.pitch;
  }
  return bytes;
}

void GraphTraffic::audit_writes(AuditSink& sink) const {
  for (size_t i = 0; i < plan_.groups.size(); ++i) {
    if (!queues_stayed(i)) continue;
    const uint64_t expected = writes_of(i);
    const uint64_t least = least_of(expected);
    const uint64_t found = passed_[i].bytes[1].left - passed_[i].bytes[0].left;
    sink.set_where("the pipeline of " + plan_.outputs[plan_.groups[i].first_op]);
    within(sink, "bytes that a pipeline has left for DRAM", found,
           least - std::min(least, kArguments), most_of(expected));
  }
}

}  // namespace stretto
