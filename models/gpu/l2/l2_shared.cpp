// SPDX-License-Identifier: Apache-2.0
// See l2_shared.h; and what L2Cache does with it: fences, atomics, lines that come and go.
#include "models/gpu/l2/l2_shared.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "models/common/atomic_op.h"
#include "models/gpu/l2/l2_lines.h"
#include "models/gpu/l2/l2_partitions.h"
#include "sw/include/formats/address_map.h"

namespace stretto {
namespace {

constexpr uint64_t kAll = ~uint64_t{0};

// Bits first .. last of a sector.
uint64_t bits(unsigned first, unsigned last) { return kAll >> (63 - (last - first)) << first; }

}  // namespace

std::vector<uint64_t> L2Shared::lines() const {
  std::vector<uint64_t> result;
  result.reserve(lines_.size());
  for (const auto& entry : lines_) result.push_back(entry.first);
  std::sort(result.begin(), result.end());
  return result;
}

unsigned L2Shared::dirty(uint64_t line) const {
  const auto found = lines_.find(line);
  if (found == lines_.end()) return 0;
  return (found->second.dirty[0] != 0 ? 1u : 0) | (found->second.dirty[1] != 0 ? 2u : 0);
}

unsigned L2Shared::dirty_in_full(uint64_t line) const {
  const auto found = lines_.find(line);
  if (found == lines_.end()) return 0;
  return (found->second.dirty[0] == kAll ? 1u : 0) | (found->second.dirty[1] == kAll ? 2u : 0);
}

void L2Shared::from_memory(uint64_t line, uint8_t* bytes) const {
  memory_.read(line << kLineBits, bytes, kLineBytes);
  const auto found = flying_.find(line);
  if (found == flying_.end()) return;
  for (const uint32_t index : found->second) {
    const WriteBack& one = write_backs_[index];
    for (unsigned i = 0; i < kLineBytes; ++i) {
      if (one.enable[i] != 0) bytes[i] = one.bytes[i];
    }
  }
}

void L2Shared::open(uint64_t line, unsigned present) { open(lines_[line], line, present); }

void L2Shared::open(Line& here, uint64_t line, unsigned present) const {
  std::array<uint8_t, kLineBytes> memory;
  bool has_memory = false;
  for (unsigned sector = 0; sector < 2; ++sector) {
    if ((present >> sector & 1) == 0 || here.valid[sector] == kAll) continue;
    const uint64_t kept = here.valid[sector];
    if (!has_memory) from_memory(line, memory.data());
    has_memory = true;
    const unsigned first = sector * kSectorBytes;
    if (kept == 0) {
      std::copy_n(&memory[first], kSectorBytes, &here.bytes[first]);
    } else {
      for (unsigned i = 0; i < kSectorBytes; ++i)
        if ((kept >> i & 1) == 0) here.bytes[first + i] = memory[first + i];
    }
    here.valid[sector] = kAll;
  }
}

void L2Shared::fetched(uint64_t line, unsigned sectors) {
  const auto found = lines_.find(line);
  if (found == lines_.end()) return;
  for (unsigned sector = 0; sector < 2; ++sector) {
    if ((sectors >> sector & 1) != 0) found->second.valid[sector] = found->second.dirty[sector];
  }
  open(found->second, line, sectors);
  changed(line);
}

void L2Shared::write(uint64_t line, unsigned first, unsigned last, const uint8_t* bytes) {
  Line& here = lines_.at(line);
  if ((here.dirty[0] | here.dirty[1]) == 0) dirty_lines_.insert(line);
  std::copy_n(bytes, last - first + 1, &here.bytes[first]);
  for (unsigned sector = first / kSectorBytes; sector <= last / kSectorBytes; ++sector) {
    const unsigned begin = sector * kSectorBytes;
    const uint64_t written =
        bits(std::max(first, begin) - begin, std::min(last - begin, kSectorBytes - 1));
    here.valid[sector] |= written;
    here.dirty[sector] |= written;
  }
  changed(line);
}

void L2Shared::read(uint64_t offset, uint8_t* bytes, uint64_t count) const {
  while (count > 0) {
    const uint64_t line = offset >> kLineBits;
    const unsigned first = offset % kLineBytes;
    const uint64_t part = std::min<uint64_t>(count, kLineBytes - first);
    const auto found = lines_.find(line);
    if (found != lines_.end() &&
        has(found->second, first, first + static_cast<unsigned>(part) - 1)) {
      std::memcpy(bytes, &found->second.bytes[first], part);
      offset += part;
      bytes += part;
      count -= part;
      continue;
    }
    std::array<uint8_t, kLineBytes> seen;
    from_memory(line, seen.data());
    for (unsigned at = first; found != lines_.end() && at < first + part; ++at) {
      const Line& here = found->second;
      if ((here.valid[at / kSectorBytes] >> at % kSectorBytes & 1) != 0) seen[at] = here.bytes[at];
    }
    std::memcpy(bytes, seen.data() + first, part);
    offset += part;
    bytes += part;
    count -= part;
  }
}

bool L2Shared::has(const Line& line, unsigned first, unsigned last) {
  for (unsigned sector = first / kSectorBytes; sector <= last / kSectorBytes; ++sector) {
    const unsigned begin = sector * kSectorBytes;
    const uint64_t wanted =
        bits(std::max(first, begin) - begin, std::min(last - begin, kSectorBytes - 1));
    if ((line.valid[sector] & wanted) != wanted) return false;
  }
  return true;
}

uint64_t L2Shared::word(uint64_t offset) const {
  uint64_t value = 0;
  read(offset, reinterpret_cast<uint8_t*>(&value), sizeof value);
  return value;
}

bool L2Shared::holds_word(uint64_t offset) const {
  const auto found = lines_.find(offset >> kLineBits);
  if (found == lines_.end()) return false;
  const uint64_t wanted = uint64_t{0xFF} << offset % kSectorBytes;
  return (found->second.valid[offset / kSectorBytes & 1] & wanted) == wanted;
}

void L2Shared::drop(uint64_t line) {
  assert(dirty(line) == 0);
  if (lines_.erase(line) != 0) changed(line);
}

void L2Shared::forget(uint64_t line) {
  Line& here = lines_.at(line);
  for (unsigned sector = 0; sector < 2; ++sector) here.valid[sector] = here.dirty[sector];
  changed(line);
}

uint32_t L2Shared::take(uint64_t line, unsigned sectors) {
  const auto found = lines_.find(line);
  if (found == lines_.end() || (dirty(line) & sectors) == 0) return kNone;
  if (free_.empty()) {
    write_backs_.emplace_back();
    free_.push_back(static_cast<uint32_t>(write_backs_.size() - 1));
  }
  const uint32_t index = free_.back();
  free_.pop_back();
  WriteBack& out = write_backs_[index];
  out.line = line;
  Line& here = found->second;
  out.bytes = here.bytes;
  for (unsigned sector = 0; sector < 2; ++sector) {
    uint8_t* const enable = &out.enable[sector * kSectorBytes];
    const uint64_t goes = (sectors >> sector & 1) != 0 ? here.dirty[sector] : 0;
    if (goes == 0 || goes == kAll) {
      std::fill_n(enable, kSectorBytes, goes == 0 ? uint8_t{0} : uint8_t{0xFF});
    } else {
      for (unsigned i = 0; i < kSectorBytes; ++i) enable[i] = (goes >> i & 1) != 0 ? 0xFF : 0;
    }
    here.dirty[sector] &= ~goes;
  }
  if ((here.dirty[0] | here.dirty[1]) == 0) dirty_lines_.erase(line);
  flying_[line].push_back(index);
  return index;
}

uint32_t L2Shared::wait(uint32_t request) {
  uint32_t count = 0;
  for (const auto& [line, indices] : flying_) {
    for (const uint32_t index : indices) write_backs_[index].waits.push_back(request);
    count += static_cast<uint32_t>(indices.size());
  }
  return count;
}

std::vector<uint32_t> L2Shared::landed(uint32_t index) {
  WriteBack& one = write_backs_[index];
  const auto found = flying_.find(one.line);
  found->second.erase(std::find(found->second.begin(), found->second.end(), index));
  if (found->second.empty()) flying_.erase(found);
  free_.push_back(index);
  return std::exchange(one.waits, {});
}

void L2Shared::watch(uint64_t offset, MemoryWatcher& watcher, uint64_t cookie) {
  const uint64_t word = offset & ~uint64_t{7};
  if (watches_.count(word) == 0) memory_.watch(word, *this, 0);
  watches_.insert({word, {&watcher, cookie}});
}

void L2Shared::on_memory_change(uint64_t address, uint64_t) {
  memory_.watch(address, *this, 0);  // As long as somebody watches: notify() ends it.
  notify(address, 8);
}

void L2Shared::notify(uint64_t offset, uint64_t count) {
  const auto first = watches_.lower_bound(offset), last = watches_.lower_bound(offset + count);
  std::vector<std::pair<uint64_t, Watch>> fired(first, last);  // A watcher may watch again.
  watches_.erase(first, last);
  for (size_t i = 0; i < fired.size(); ++i) {
    if (i == 0 || fired[i].first != fired[i - 1].first) memory_.unwatch(fired[i].first, *this, 0);
  }
  for (const auto& [at, watch] : fired) watch.watcher->on_memory_change(at, watch.cookie);
}

// L2Cache

// Before the shared line leaves the cache or is written back out of turn: a write-back of
// everything that has it queued does without. Returns what is to be written.
uint8_t L2Cache::take_from_boundary(uint64_t line) {
  unsigned dirty = shared_.dirty(line);
  if (dirty == 0 || !boundary_active_) return static_cast<uint8_t>(dirty);
  std::deque<BoundaryLine>& queue = boundary_[tags_.channel_of(line << L2Tags::kLineBits)];
  const auto queued = std::find_if(
      queue.begin(), queue.end(), [line](const BoundaryLine& entry) { return entry.line == line; });
  if (queued != queue.end()) {
    dirty |= queued->dirty;
    queue.erase(queued);
    --boundary_lines_;
  }
  return static_cast<uint8_t>(dirty);
}

void L2Cache::release_line(uint64_t line, uint64_t cycle) {
  const uint32_t index = tags_.place_of(line).set;
  L2Tags::Set& set = tags_.set(index);
  const int way = L2Tags::find(set, L2Tags::tag_of(line));
  assert(way >= 0);
  const uint8_t dirty = take_from_boundary(line) | (set.state[way] >> L2Tags::kDirtyShift & 3);
  set.state[way] &= static_cast<uint8_t>(~L2Tags::kDirty);
  send_write_back(line, dirty, L2Tags::account(set, static_cast<unsigned>(way)), Kind::write_back,
                  clock_.edge(cycle));
}

// What is dirty or on its way stays; the tag of a pinned line, too; and a line that is locked until a
// hart reads it, with memory's bytes, so that nobody finds there what others have overwritten.
void L2Cache::forget_line(uint64_t line) {
  if (partitions_ != nullptr) partitions_->drop_copy(line, 3);
  L2Tags::Set& set = tags_.set(tags_.place_of(line).set);
  const int way = L2Tags::find(set, L2Tags::tag_of(line));
  if (way < 0) return shared_.drop(line);
  uint8_t& state = set.state[way];
  constexpr unsigned kValid = 3u << L2Tags::kValidShift;
  const bool stays = locks_.holds(line);
  const unsigned kept = stays ? kValid : shared_.dirty_in_full(line) << L2Tags::kValidShift;
  state = static_cast<uint8_t>((state & ~kValid) | (state & kept));
  shared_.forget(line);
  if (stays)
    shared_.open(line, (state >> L2Tags::kValidShift) & ~(state >> L2Tags::kPendingShift) & 3);
  // Dirty bytes of a line without a dirty sector wait for a write-back of everything.
  if (state != 0 || shared_.dirty(line) != 0) return;
  set.tag[way] = L2Tags::kNoTag;
  shared_.drop(line);
}

void L2Cache::forget_shared() {
  for (const uint64_t line : shared_.lines()) forget_line(line);
}

// Release: all dirty bytes of shared lines go to memory, and the answer comes behind them. They
// leave at once; a limit of those in flight is the memory's. Acquire: complete() forgets.
void L2Cache::serve_fence(int unit, tlm::tlm_generic_payload& payload,
                          const StrettoExtension& extension, uint64_t arrival) {
  const uint32_t request = take_request(unit, payload);
  const uint64_t cycle = pass(ports_[2 * unit + 1], arrival, 1);
  ++counters_.fences;
  if (extension.release) {
    const std::vector<uint64_t> dirty(shared_.dirty_lines().begin(), shared_.dirty_lines().end());
    for (const uint64_t line : dirty) release_line(line, cycle);
    requests_[request].remaining += shared_.wait(request);
  }
  // It has been in both partitions.
  requests_[request].done = clock_.edge(cycle + spec_.response_cycles +
                                        (partitions_ != nullptr ? spec_.partition_link_cycles : 0));
  send_all();
  if (--requests_[request].remaining == 0) complete(request);
}

// An atomic at memory: the L2's bytes of the line go there first, and are forgotten. False: they
// are on their way, and the request comes back to its port behind them.
bool L2Cache::line_is_in_memory(int unit, tlm::tlm_generic_payload& payload) {
  const uint64_t line = (payload.get_address() & STRETTO_OFFSET_MASK) >> L2Tags::kLineBits;
  if (shared_.dirty(line) != 0) {
    release_line(line, clock_.cycle_from(services_.queue->now()));
    send_all();
  }
  if (shared_.flies(line)) {
    behind_write_back_.push_back({unit, &payload});
    return false;
  }
  if (shared_.holds(line)) forget_line(line);
  return true;
}

// The line of a lookup that has been made takes part in the bytes, if a way has it.
void L2Cache::open_shared_line(const Lookup& lookup) {
  const L2Tags::Set& set = tags_.set(lookup.set);
  const int way = L2Tags::find(set, lookup.tag());
  if (way < 0) return;
  const unsigned state = set.state[way];
  shared_.open(lookup.line,
               (state >> L2Tags::kValidShift) & ~(state >> L2Tags::kPendingShift) & lookup.mask);
}

// An atomic of device scope, when its sector is here.
void L2Cache::complete_shared(tlm::tlm_generic_payload& payload,
                              const StrettoExtension& extension) {
  if (extension.operation != Operation::atomic || extension.scope == Scope::system) return;
  const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
  const uint64_t line = offset >> L2Tags::kLineBits;
  const unsigned bytes = payload.get_data_length(), first = offset % L2Shared::kLineBytes;
  const L2Tags::Place place = tags_.place_of(line);
  open_shared_line({line, place.set, 0, static_cast<uint16_t>(place.bank),
                    static_cast<uint8_t>(1u << (first / L2Tags::kSectorBytes)),
                    static_cast<uint8_t>(first), static_cast<uint8_t>(first + bytes - 1)});
  uint64_t old_value = 0, operand = 0;
  shared_.read(offset, reinterpret_cast<uint8_t*>(&old_value), bytes);
  std::copy_n(payload.get_data_ptr(), bytes, reinterpret_cast<uint8_t*>(&operand));
  const uint64_t result =
      apply_atomic_op(extension.atomic_op, bytes, old_value, operand, extension.compare);
  const uint8_t* const stored = reinterpret_cast<const uint8_t*>(&result);
  if (shared_.holds(line)) {
    shared_.write(line, first, first + bytes - 1, stored);
  } else {  // No way was free: it is memory's.
    memory_.write(offset, stored, bytes);
  }
  std::copy_n(reinterpret_cast<const uint8_t*>(&old_value), bytes, payload.get_data_ptr());
}

// A store whose bytes the L2 keeps apart.
bool L2Cache::has_bytes(const StrettoExtension& extension,
                        const tlm::tlm_generic_payload& payload) {
  return extension.allocation == AllocationClass::shared && !extension.tags_only &&
         extension.operation != Operation::atomic && payload.get_data_ptr() != nullptr;
}

// The bytes first: if no way is free they leave with the write-back around the cache.
uint64_t L2Cache::write_shared_line(const Lookup& lookup, const tlm::tlm_generic_payload& payload,
                                    const StrettoExtension& extension, uint64_t at) {
  const uint64_t offset = (lookup.line << L2Tags::kLineBits | lookup.first) -
                          (payload.get_address() & STRETTO_OFFSET_MASK);
  const uint64_t row = extension.rows == 1 ? 0 : offset / extension.pitch;
  const uint64_t in_row = offset - row * extension.pitch;
  shared_.open(lookup.line, 0);
  shared_.write(lookup.line, lookup.first, lookup.last,
                payload.get_data_ptr() + row * extension.row_bytes + in_row);
  const uint64_t looked = write_line(lookup, extension, at);
  if (L2Tags::find(tags_.set(lookup.set), lookup.tag()) < 0) shared_.drop(lookup.line);
  return looked;
}

// The payload of a write-back carries what the line has dirty.
uint64_t L2Cache::carry(PooledPayload& payload, uint64_t line, uint8_t sectors) {
  const uint32_t index = shared_.take(line, sectors);
  if (index == L2Shared::kNone) return 0;
  L2Shared::WriteBack& out = shared_.write_back(index);
  const unsigned first = payload.get_address() % L2Shared::kLineBytes;
  payload.set_data_ptr(out.bytes.data() + first);
  payload.set_byte_enable_ptr(out.enable.data() + first);
  payload.set_byte_enable_length(payload.get_data_length());
  payload.extension.tags_only = false;
  return uint64_t{index + 1} << 32;
}

void L2Cache::landed(uint32_t index, Time at) {
  const uint64_t line = shared_.write_back(index).line;
  for (const uint32_t request : shared_.landed(index)) arrived(request, at);
  if (shared_.flies(line) || behind_write_back_.empty()) return;
  std::vector<Deferred> waiting;
  waiting.swap(behind_write_back_);
  const uint64_t clock = clock_.cycle_from(services_.queue->now());
  for (const Deferred& entry : waiting) enqueue(entry.unit, *entry.payload, clock);
}

}  // namespace stretto
