// SPDX-License-Identifier: Apache-2.0
// See channel.h.
#include "models/hbm/channel.h"

#include <algorithm>
#include <cassert>

#include "models/common/error.h"
#include "models/common/payload_pool.h"
#include "models/common/prefetch.h"

namespace stretto {
namespace {

constexpr uint16_t kJoinLimit = 4096;  // Half-words of one Tracker update.

}  // namespace

HbmChannel::HbmChannel(unsigned index, HbmCore& core, const TimingSet& set,
                       const TimingTable& table, std::unique_ptr<Mca> mca,
                       CommandObserver* observer)
    : core_(core),
      index_(index),
      input_depth_(core.spec.input_queue_depth()),
      burst_cycles_(set.burst_cycles),
      read_latency_(set.read_latency),
      write_latency_(set.write_latency),
      mca_(std::move(mca)),
      scheduler_(index, core.spec, set, table, observer) {
  buckets_.fill(kNone);
  atoms_.reserve(1024);
  free_atoms_.reserve(1024);
}

void HbmChannel::tick(uint64_t cycle, unsigned pulses) {
  ++counters_.ticks;
  for (; !added_.empty() && added_.front().first <= cycle; added_.pop())
    scheduler_.make_eligible(cycle - 1, added_.front().second);
  const uint32_t id = scheduler_.tick(cycle);
  const bool issued = id != DramScheduler::kNone, popped = issued && !atoms_[id].atomic;
  if (popped) end_atom(cycle, id);
  if (issued && !popped) read_for_update(cycle, id);
  if (const uint32_t coming = scheduler_.likely_next();
      coming != coming_ && coming != DramScheduler::kNone) {
    const Atom& atom = atoms_[coming];
    __builtin_prefetch(&core_.requests[atom.request], 1);
    core_.data.prefetch(atom.address);
    coming_ = coming;
  }
  if (!staged_[0].empty() && staged_[0].front_cycle() <= cycle) admit(cycle, 0);
  if (!staged_[1].empty() && staged_[1].front_cycle() <= cycle) admit(cycle, 1);
  if (join_.valid && !join_touched_) flush_join();
  join_touched_ = false;
  if (cycle >= mca_wake_ || popped || scheduler_.parked() != told_parked_ ||
      (untold_[0] | untold_[1]) != 0 || pulses != 0 || !core_.spec.sleep) {
    McaInputs in;
    in.dram_pop = popped ? 1 : 0;
    in.kernel_start = (pulses & kKernelStart) != 0;
    in.first_wg_done = (pulses & kFirstWgDone) != 0;
    in.kernel_end = (pulses & kKernelEnd) != 0;
    in.compute_push = static_cast<uint8_t>(std::min(untold_[0], kMcaMaxPush));
    in.comm_push = static_cast<uint8_t>(std::min(untold_[1], kMcaMaxPush));
    untold_[0] -= in.compute_push;
    untold_[1] -= in.comm_push;
    step_mca(cycle, in);
  }
}

template <class Action>
void HbmChannel::for_each_queued(Action action) const {
  for (unsigned i = 0; i < scheduler_.size(); ++i) action(scheduler_.id_at(i));
  for (const GrowingRing<uint32_t>& queue : queues_) {
    for (uint64_t i = 0; i < queue.size(); ++i) action(queue[i]);
  }
}

void HbmChannel::warm_state() const { prefetch_lines(this, sizeof(*this)); }

void HbmChannel::warm_atoms() const {
  for_each_queued([this](uint32_t id) { prefetch_line(&atoms_[id]); });
}

void HbmChannel::warm_requests() {
  for_each_queued([this](uint32_t id) { prefetch_line(&core_.requests[atoms_[id].request]); });
}

void HbmChannel::warm_payloads() {
  for_each_queued([this](uint32_t id) {
    const tlm::tlm_generic_payload* const payload = core_.requests[atoms_[id].request].payload;
    if (payload != nullptr) prefetch_lines(payload, sizeof(PooledPayload));
  });
}

uint64_t HbmChannel::next(uint64_t cycle) const {
  if (mca_wake_ == 0 || join_.valid || (untold_[0] | untold_[1]) != 0) return cycle + 1;
  uint64_t at = std::min(scheduler_.next(cycle), std::max(mca_wake_, cycle + 1));
  if (!added_.empty()) at = std::min(at, std::max(added_.front().first, cycle + 1));
  for (unsigned stream = 0; stream < 2; ++stream) {
    if (staged_[stream].empty() || queues_[stream].size() >= input_depth_) continue;
    at = std::min(at, std::max(staged_[stream].front_cycle(), cycle + 1));
  }
  return at;
}

uint64_t HbmChannel::step_registers(uint64_t cycle, const RegisterPort& reg) {
  McaInputs in;
  in.reg = reg;
  return step_mca(cycle, in).reg_rdata;
}

void HbmChannel::admit(uint64_t cycle, unsigned stream) {
  SegmentQueue& staged = staged_[stream];
  for (unsigned i = 0; i < kAdmissions; ++i) {
    if (staged.empty() || staged.front_cycle() > cycle) return;
    if (queues_[stream].size() >= input_depth_ || untold_[stream] >= kMcaMaxPush) return;
    HbmSegment& segment = staged.front(core_.segments);
    take_atom(cycle, segment, static_cast<Stream>(stream));
    if (segment.bytes != 0) continue;
    if (segment.reports && --core_.requests[segment.request].outside == 0)
      core_.admitted.push_back(segment.request);
    staged.pop(core_.segments);
    if (staged.empty()) return;
    const HbmSegment& coming = staged.front(core_.segments);
    if (coming.tracked) __builtin_prefetch(&core_.requests[coming.request]);
  }
}

void HbmChannel::take_atom(uint64_t cycle, HbmSegment& segment, Stream stream) {
  uint32_t id;
  if (free_atoms_.empty()) {
    id = static_cast<uint32_t>(atoms_.size());
    atoms_.emplace_back();
  } else {
    id = free_atoms_.back();
    free_atoms_.pop_back();
  }
  Atom& atom = atoms_[id];
  const uint32_t room = kAtomBytes - static_cast<uint32_t>(segment.address % kAtomBytes);
  prefetch_line(&core_.requests[segment.request]);
  atom = Atom{.address = segment.address,
              .at = segment.at,
              .request = segment.request,
              .older = kNone,
              .younger = kNone,
              .next = kNone,
              .bytes = static_cast<uint8_t>(std::min<uint32_t>(segment.bytes, room)),
              .command = segment.command,
              .where = Where::held};
  atom.stream = stream;
  atom.sunk = core_.queue_sink != nullptr && segment.order >> 48 < core_.spec.channels;
  atom.atomic = segment.command == DramCommand::update && core_.spec.updates == Updates::controller;
  segment.address += atom.bytes;
  segment.at += atom.bytes;
  segment.bytes = static_cast<uint16_t>(segment.bytes - atom.bytes);

  if (live_++ == 0 && cycle > mark_) {
    counters_.idle_cycles += cycle - mark_;
    mark_ = cycle;
  }
  if (atom.command == DramCommand::update) ++counters_.updates_received;
  if (segment.tracked) count_update(core_.requests[segment.request], atom);

  link(id);
  if (core_.spec.same_atom_order && is_held(atom)) {
    ++held_;
    ++counters_.held_atoms;
  } else {
    enqueue(id);
  }
}

bool HbmChannel::has_elder(const Atom& atom) const {
  for (uint32_t id = atom.older; id != kNone; id = atoms_[id].older) {
    if (conflict(atoms_[id], atom)) return true;
  }
  return false;
}

bool HbmChannel::is_held(const Atom& atom) const {
  if (held_ == 0 && queues_[1 - static_cast<unsigned>(atom.stream)].empty()) return false;
  for (uint32_t id = atom.older; id != kNone; id = atoms_[id].older) {
    if (conflict(atoms_[id], atom) && holds(atoms_[id], atom)) return true;
  }
  return false;
}

void HbmChannel::enqueue(uint32_t id) {
  const unsigned stream = static_cast<unsigned>(atoms_[id].stream);
  atoms_[id].where = queue_of(atoms_[id].stream);
  queues_[stream].push(id);
  ++untold_[stream];
  uint64_t& high = stream == 0 ? counters_.compute_high_water : counters_.communication_high_water;
  if (queues_[stream].size() > high) high = queues_[stream].size();
}

// T3-TRK-08: an access is counted when it enters a queue of the controller; a sum for all parts that
// are in it.
void HbmChannel::count_update(const HbmRequest& request, const Atom& atom) {
  const uint64_t address = request.tracked_address + atom.at;
  const uint16_t half_words =
      static_cast<uint16_t>(atom.bytes / tracked_unit(request.element) * request.parts);
  counters_.tracked_half_words += half_words;
  if (join_.valid && (join_.wg_id != request.wg_id || join_.wf_id != request.wf_id ||
                      join_.count + half_words > kJoinLimit)) {
    flush_join();
  }
  if (join_.valid) {
    join_.count = static_cast<uint16_t>(join_.count + half_words);
    join_.address = std::min(join_.address, address);
  } else {
    join_ = {true, static_cast<uint16_t>(request.wg_id), request.wf_id, half_words, address};
  }
  join_touched_ = true;
}

void HbmChannel::flush_join() {
  core_.tracker_port.push(join_);
  join_.valid = false;
}

McaOutputs HbmChannel::step_mca(uint64_t cycle, McaInputs& in) {
  in.cycle = cycle;
  in.dram_parked = static_cast<uint8_t>(scheduler_.parked());
  told_parked_ = in.dram_parked;
  const McaOutputs out = mca_.step(in);
  mca_wake_ = out.wake_cycle == kMcaNeverWakes ? kNoCycle : out.wake_cycle;
  if (out.grant_compute) grant(cycle, Stream::compute);
  if (out.grant_comm) grant(cycle, Stream::communication);
  if (out.drain_done) core_.drain_pulses |= 1u << index_;
  return out;
}

void HbmChannel::grant(uint64_t cycle, Stream stream) {
  GrowingRing<uint32_t>& queue = queues_[static_cast<unsigned>(stream)];
  const char* name = stream == Stream::compute ? "compute" : "communication";
  if (queue.empty())
    throw CheckError("mca of channel " + std::to_string(index_) + " granted an empty " + name +
                     " queue");
  if (scheduler_.full())
    throw CheckError("mca of channel " + std::to_string(index_) + " granted to a full DRAM queue");
  const uint32_t id = queue.front();
  queue.pop();
  Atom& atom = atoms_[id];
  atom.where = Where::dram;
  if (!queue.empty()) __builtin_prefetch(&atoms_[queue.front()], 1);
  if (atom.sunk) core_.queue_sink->on_place_free(atom.address);
  const bool waits = core_.spec.same_atom_order && has_elder(atom);
  if (waits) ++counters_.ordered_atoms;
  counters_.dram_occupancy_sum += scheduler_.size();
  const HbmAddressMapping::Place place = core_.mapping.place_of(atom.address);
  scheduler_.push(cycle, id, place.bank, place.row, atom.atomic ? DramCommand::read : atom.command,
                  !waits, atom.atomic);
  if (scheduler_.size() > counters_.dram_high_water) counters_.dram_high_water = scheduler_.size();
  if (held_ != 0) release_held(atom);
}

// `elder` has entered the DRAM queue: those held only by it enter their queues, oldest first.
void HbmChannel::release_held(const Atom& elder) {
  for (uint32_t id = elder.younger; id != kNone; id = atoms_[id].younger) {
    if (atoms_[id].where != Where::held || is_held(atoms_[id])) continue;
    --held_;
    enqueue(id);
  }
}

void HbmChannel::book_column(uint64_t cycle, const Atom& atom, DramCommand command) {
  const bool reads = command == DramCommand::read;
  const unsigned account = core_.requests[atom.request].account;
  ++counters_.atoms[account][reads ? 0 : 1];
  counters_.bytes[account][reads ? 0 : 1] += atom.bytes;
  if (core_.first_cycle[account] == 0) core_.first_cycle[account] = cycle + 1;
  core_.last_cycle[account] = cycle;
  if (cycle > mark_) {
    counters_.waiting_cycles += cycle - mark_;
    mark_ = cycle;
  }
  counters_.busy_cycles += burst_cycles_;
  mark_ += burst_cycles_;
  command_hash_ = (command_hash_ ^ cycle ^ atom.address << 20 ^ static_cast<uint64_t>(command)) *
                  0x9E3779B97F4A7C15u;
  command_hash_ ^= command_hash_ >> 29;
}

// First half of an update by the controller: the old value comes, the new one may be written then.
// The sum itself is made with the write (data_path.h); until then nobody reaches the atom.
void HbmChannel::read_for_update(uint64_t cycle, uint32_t id) {
  Atom& atom = atoms_[id];
  book_column(cycle, atom, DramCommand::read);
  atom.atomic = false;
  ++counters_.atomics;
  added_.push({cycle + read_latency_ + burst_cycles_ + core_.spec.atomic_cycles, id});
}

void HbmChannel::end_atom(uint64_t cycle, uint32_t id) {
  Atom& atom = atoms_[id];
  const uint32_t request_index = atom.request;
  HbmRequest& request = core_.requests[request_index];
  const bool reads = atom.command == DramCommand::read;
  core_.data.access(request, atom.address, atom.at, atom.bytes);
  book_column(cycle, atom, scheduler_.last_command());

  request.done_cycle = std::max(request.done_cycle,
                                cycle + (reads ? read_latency_ : write_latency_) + burst_cycles_);
  request.bytes_left -= atom.bytes;
  if (request.bytes_left == 0) {
    core_.completed.push_back(request_index);
    if (request.payload != nullptr) prefetch_lines(request.payload, sizeof(PooledPayload));
  }
  unlink(cycle, id);
  --live_;
  free_atoms_.push_back(id);
}

// As the youngest of its 64 B.
void HbmChannel::link(uint32_t id) {
  Atom& atom = atoms_[id];
  uint32_t* place = &bucket_of(atom.address);
  while (*place != kNone && !same_atom(atoms_[*place], atom)) place = &atoms_[*place].next;
  if (*place != kNone) {
    atom.older = *place;
    atom.next = atoms_[*place].next;
    atoms_[*place].younger = id;
  }
  *place = id;
}

void HbmChannel::unlink(uint64_t cycle, uint32_t id) {
  const Atom& ended = atoms_[id];
  if (!core_.spec.same_atom_order && has_elder(ended)) ++counters_.hazards;
  if (ended.older != kNone) atoms_[ended.older].younger = ended.younger;
  if (ended.younger != kNone) {
    atoms_[ended.younger].older = ended.older;
  } else {
    uint32_t* place = &bucket_of(ended.address);
    while (*place != id) place = &atoms_[*place].next;
    *place = ended.older != kNone ? ended.older : ended.next;
    if (ended.older != kNone) atoms_[ended.older].next = ended.next;
  }
  if (!core_.spec.same_atom_order || ended.older != kNone) return;
  // It was the oldest: the next one, and reads behind it, may go if they waited for it.
  for (uint32_t next = ended.younger; next != kNone; next = atoms_[next].younger) {
    const Atom& younger = atoms_[next];
    const bool reads = younger.command == DramCommand::read;
    if (reads ? !conflict(ended, younger) : next != ended.younger) return;
    if (younger.where == Where::dram) scheduler_.make_eligible(cycle, next);
    if (!reads) return;
  }
}

ChannelCounters HbmChannel::counters(uint64_t cycle) const {
  ChannelCounters result = counters_;
  result.mca_steps = mca_.steps();
  if (cycle > mark_) (live_ == 0 ? result.idle_cycles : result.waiting_cycles) += cycle - mark_;
  return result;
}

std::string HbmChannel::waiting_on() const {
  std::string text = "channel " + std::to_string(index_) + ": " +
                     std::to_string(queues_[0].size()) + " compute, " +
                     std::to_string(queues_[1].size()) + " communication atoms queued, " +
                     std::to_string(scheduler_.size()) + " in the DRAM queue";
  if (const uint64_t staged = staged_[0].size() + staged_[1].size(); staged != 0) {
    text += ", " + std::to_string(staged) + " arrivals wait for a queue";
  }
  if (held_ != 0)
    text += ", " + std::to_string(held_) + " held for an elder access to the same 64 B";
  return text;
}

}  // namespace stretto
