// SPDX-License-Identifier: Apache-2.0
// Kernel boundaries of L2Cache, and its coherence law. Scopes and who passes the L2 by:
// sw/include/MEMORY_MODEL.md.
//
// A sector that is changed behind the cache loses its valid bit, so that a hit costs nothing more
// than before: only a lookup that would miss in a line that is here asks whether this is why.
// Bytes are told apart: a sector may hold ends of two rows, one dirty here, one changed in memory.
#include <cassert>
#include <cstdio>
#include <string>

#include "models/common/error.h"
#include "models/gpu/l2/l2_partitions.h"
#include "sw/include/formats/address_map.h"

namespace stretto {
namespace {

const char* engine_name(Engine engine) {
  switch (engine) {
    case Engine::wavefront: return "compute unit";
    case Engine::hart: return "hart";
    case Engine::l2: return "the L2";
    case Engine::dma: return "the DMA engine, queue";
    case Engine::link: return "a peer or the host, by port";
    case Engine::tracker: return "the Tracker";
    case Engine::host: return "the host";
    case Engine::test: break;
  }
  return "a test, unit";
}

// One bit a byte of the sector: those of [first, last] of the line that lie in it.
uint64_t bytes_of(unsigned sector, unsigned first, unsigned last) {
  const unsigned begin = sector * L2Tags::kSectorBytes, end = begin + L2Tags::kSectorBytes;
  if (last < begin || first >= end) return 0;
  const unsigned from = first < begin ? 0 : first - begin;
  const unsigned count = (last < end ? last - begin : L2Tags::kSectorBytes - 1) - from + 1;
  return (count == L2Tags::kSectorBytes ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << from;
}

}  // namespace

void L2Cache::write_back() {
  assert(!boundary_active_);
  boundary_active_ = true;
  ++counters_.boundaries;
  for (uint32_t index = 0; index < tags_.set_count(); ++index) {
    L2Tags::Set& set = tags_.set(index);
    if (!L2Tags::is_dirty(set)) continue;
    for (unsigned way = 0; way < tags_.ways(); ++way) {
      const uint8_t dirty = set.state[way] >> L2Tags::kDirtyShift & 3;
      if (dirty == 0) continue;
      const uint64_t line = tags_.line_of(index, way);
      boundary_[tags_.channel_of(line << L2Tags::kLineBits)].push_back(
          {line, dirty, L2Tags::account(set, way)});
      ++boundary_lines_;
      set.state[way] &= static_cast<uint8_t>(~L2Tags::kDirty);
    }
  }
  for (uint32_t to = 0; to < boundary_.size(); ++to) {
    for (uint32_t i = 0; i < spec_.write_backs_in_flight && send_boundary_line(to); ++i) continue;
  }
  send_all();
  check_boundary();
}

void L2Cache::invalidate() {
  ++counters_.invalidations;
  if (locks_.any()) {
    locks_.expire(clock_.cycle_from(services_.queue->now()));
    locks_.forget();
  }
  for (uint32_t index = 0; index < tags_.set_count(); ++index) {
    L2Tags::Set& set = tags_.set(index);
    if (L2Tags::is_empty(set)) continue;
    for (unsigned way = 0; way < tags_.ways(); ++way) {
      uint8_t& state = set.state[way];
      if (set.tag[way] == L2Tags::kNoTag || (state & L2Tags::kKept) != 0) continue;
      if ((state & L2Tags::kCopy) != 0) {
        partitions_->drop(set, way, 3);
        continue;
      }
      if (!shared_.empty() && shared_.holds(tags_.line_of(index, way))) continue;
      const unsigned dirty = state >> L2Tags::kDirtyShift & 3;
      state = static_cast<uint8_t>((state & (L2Tags::kDirty | L2Tags::kPending)) |
                                   dirty << L2Tags::kValidShift);
      if (state == 0) set.tag[way] = L2Tags::kNoTag;
    }
  }
  if (!shared_.empty()) forget_shared();
  std::erase_if(changed_, [this](const auto& entry) {
    const L2Tags::Set& set = tags_.set(tags_.place_of(entry.first).set);
    const int way = L2Tags::find(set, L2Tags::tag_of(entry.first));
    return way < 0 || (set.state[way] & L2Tags::kKept) == 0;
  });
}

void L2Cache::passes(const StrettoExtension& by, uint64_t offset, uint64_t bytes) {
  const bool reads = by.operation == Operation::read || by.operation == Operation::update;
  const bool writes = by.operation != Operation::read;
  const uint64_t end = offset + bytes - 1;
  const uint64_t from = offset >> L2Tags::kLineBits, to = end >> L2Tags::kLineBits;
  counters_.passed_by += to - from + 1;
  for (uint64_t line = from; line <= to; ++line) {
    const uint32_t index = tags_.place_of(line).set;
    L2Tags::Set& set = tags_.set(index);
    const int found = L2Tags::find(set, L2Tags::tag_of(line));
    if (found < 0 || (!shared_.empty() && shared_.holds(line))) continue;
    uint8_t& state = set.state[found];
    const size_t way = size_t{index} * L2Tags::kMaxWays + static_cast<unsigned>(found);
    const Writer& writer = writers_[way];
    const unsigned first = line == from ? offset & 127 : 0, last = line == to ? end & 127 : 127;
    for (unsigned sector = 0; sector < 2; ++sector) {
      const uint64_t wanted = bytes_of(sector, first, last);
      if ((state >> L2Tags::kDirtyShift >> sector & 1) != 0 && wanted != 0 &&
          ((writer.parts >> sector & 1) == 0 || (wanted & written_[way][sector]) != 0)) {
        incoherent(reads ? "read past the L2 by" : "written past the L2 by", line, sector,
                   {by.wg_id, by.unit, by.engine}, "is dirty there, written by",
                   {writer.wg_id, writer.unit, writer.engine});
      }
      if (!writes || wanted == 0 || (state >> L2Tags::kValidShift >> sector & 1) == 0) continue;
      Change& change = changed_[line];
      change.by = {by.wg_id, by.unit, by.engine};
      change.bytes[sector] |= wanted;
      state &= static_cast<uint8_t>(~(1u << sector << L2Tags::kValidShift));
      if (partitions_ != nullptr) partitions_->drop_copy(line, 1u << sector);
    }
  }
}

void L2Cache::check_changed(const Lookup& lookup, const StrettoExtension& by) {
  const auto changed = changed_.find(lookup.line);
  if (changed == changed_.end()) return;
  for (unsigned sector = 0; sector < 2; ++sector) {
    if ((changed->second.bytes[sector] & bytes_of(sector, lookup.first, lookup.last)) == 0)
      continue;
    incoherent("read in the L2 by", lookup.line, sector, {by.wg_id, by.unit, by.engine},
               "was changed behind it by", changed->second.by);
  }
  // Bytes beside the changed ones are wanted: the sectors are fetched again.
  for (unsigned sector = 0; sector < 2; ++sector) {
    if ((lookup.mask >> sector & 1) != 0) changed->second.bytes[sector] = 0;
  }
}

void L2Cache::note_writer(const Lookup& lookup, unsigned way, const StrettoExtension& by) {
  const size_t index = size_t{lookup.set} * L2Tags::kMaxWays + way;
  Writer& writer = writers_[index];
  writer.wg_id = by.wg_id;
  writer.unit = by.unit;
  writer.engine = by.engine;
  if (lookup.first == 0 && lookup.last == L2Shared::kLineBytes - 1 && changed_.empty()) {
    writer.parts = 0;
    return;
  }
  const unsigned dirty = tags_.set(lookup.set).state[way] >> L2Tags::kDirtyShift;
  const auto change = changed_.empty() ? changed_.end() : changed_.find(lookup.line);
  for (unsigned sector = 0; sector < 2; ++sector) {
    const uint64_t bytes = bytes_of(sector, lookup.first, lookup.last);
    if (bytes == 0) continue;
    if (change != changed_.end()) change->second.bytes[sector] &= ~bytes;
    const uint64_t before = (dirty >> sector & 1) == 0          ? 0
                            : (writer.parts >> sector & 1) == 0 ? ~uint64_t{0}
                                                                : written_[index][sector];
    const bool part = (before | bytes) != ~uint64_t{0};
    writer.parts =
        static_cast<uint8_t>((writer.parts & ~(1u << sector)) | unsigned{part} << sector);
    if (part) written_[index][sector] = before | bytes;
  }
}

void L2Cache::incoherent(const char* what, uint64_t line, unsigned sector, const Agent& by,
                         const char* and_what, const Agent& other) const {
  const auto name = [](const Agent& agent) {
    std::string text = engine_name(agent.engine);
    text += " " + std::to_string(agent.unit);
    if (agent.engine == Engine::wavefront)
      text += " (work-group " + std::to_string(agent.wg_id) + ")";
    return text;
  };
  char address[24];
  std::snprintf(address, sizeof address, "0x%llx",
                static_cast<unsigned long long>(node_ | line << L2Tags::kLineBits |
                                                uint64_t{sector} << L2Tags::kSectorBits));
  throw CheckError("coherence: gpu" + std::to_string(services_.gpu) + ": sector " + address + " " +
                   what + " " + name(by) + " " + and_what + " " + name(other) +
                   " (a release or acquire at system scope is missing)");
}

}  // namespace stretto
