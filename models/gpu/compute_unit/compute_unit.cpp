// SPDX-License-Identifier: Apache-2.0
// See compute_unit.h. This file: work-groups, stepping of wavefronts, barriers and ends,
// statistics. compute_unit_tiles.cpp: the tile instructions and the scoreboard.
// compute_unit_memory.cpp: requests to the L2. compute_unit_lines.cpp: lines with flags.
#include "models/gpu/compute_unit/compute_unit.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdio>
#include <string>
#include <utility>

namespace stretto {
namespace {

constexpr uint32_t kDigestDispatch = 0x4701;
constexpr uint32_t kDigestRetire = 0x4702;

}  // namespace

ComputeUnit::ComputeUnit(sc_core::sc_module_name name, const GpuSpec& spec, uint16_t index,
                         PartitionServices& services, const Parts& parts)
    : sc_core::sc_module(name),
      EventHandler(*services.queue),
      l2("l2"),
      spec_(spec),
      clock_(spec.clock_mhz),
      index_(index),
      services_(services),
      parts_(parts),
      node_((uint64_t{services.gpu} + 1) << STRETTO_NODE_SHIFT),
      track_("gpu" + std::to_string(services.gpu) + "/cu" + std::to_string(index)),
      wavefronts_(spec.wavefront_slots),
      groups_(spec.workgroup_slots) {
  l2.register_nb_transport_bw(this, &ComputeUnit::backward);
  const unsigned positions = (spec.wavefront_slots + spec.issue_ports - 1) / spec.issue_ports;
  ports_.reserve(spec.issue_ports);
  for (unsigned i = 0; i < spec.issue_ports; ++i) ports_.push_back({i, positions, *this});
}

bool ComputeUnit::is_free(unsigned wavefront) const {
  return wavefronts_[wavefront] == nullptr ||
         wavefronts_[wavefront]->state == Wavefront::State::free;
}

Wavefront& ComputeUnit::occupy(unsigned wavefront) {
  std::unique_ptr<Wavefront>& place = wavefronts_[wavefront];
  if (place == nullptr) {
    place = std::make_unique<Wavefront>(*parts_.code);
    place->slot = static_cast<uint8_t>(wavefront);
    place->port.set_trace(port_of(*place).trace(position_of(*place)));
  }
  place->state = Wavefront::State::ready;
  return *place;
}

WorkGroupResources ComputeUnit::resources() const {
  return {spec_.registers_bytes - used_.registers_bytes, spec_.lds_bytes - used_.lds_bytes,
          spec_.wavefront_slots - used_.wavefronts, spec_.workgroup_slots - used_.workgroups};
}

// A work-group takes its place: nothing of it has begun.
ComputeUnit::Group& ComputeUnit::place(uint8_t slot, uint32_t wg_id,
                                       const DispatchContext& context) {
  const WorkGroupResources free = resources();
  assert(context.registers_bytes <= free.registers_bytes && context.lds_bytes <= free.lds_bytes);
  assert(context.wavefronts <= free.wavefronts && free.workgroups > 0);
  (void)free;
  used_.registers_bytes += context.registers_bytes;
  used_.lds_bytes += context.lds_bytes;
  used_.wavefronts += context.wavefronts;
  used_.workgroups += 1;
  const Cycle now = now_cycle();
  if (resident_++ == 0) {
    resident_since_ = now;
    counters_.idle_cycles += now - idle_since_;
  }
  const auto at = std::find_if(groups_.begin(), groups_.end(),
                               [](const Group& group) { return !group.active; });
  Group& group = *at;
  group.active = true;
  group.phase = Phase::runs;
  group.is_left = false;
  group.begin = now;
  group.slot = slot;
  group.wg_id = wg_id;
  group.tile_id = wg_id / context.split;
  group.context = &context;
  group.wavefronts = group.live = context.wavefronts;
  group.at_barrier = 0;
  group.barrier = group.ended = group.votes = 0;
  group.started = services_.queue->now();
  group.register_bytes = group.lds_bytes = group.fp16_work = 0;
  group.operations = 0;
  group.slots.resize(std::max(group.slots.size(), group.tiles()));
  if (std::exchange(group.has_tiles, false)) {
    // Buffers are kept: the next work-group is usually of the same kernel.
    for (Slot& tile : group.slots) {
      tile.tile.clear();
      tile.accumulator.zero(0, 0);
      tile.written = tile.read = 0;
      tile.stores = tile.reads = tile.bytes = 0;
    }
  }
  unsigned index = 0;
  for (unsigned id = 0; id < context.wavefronts; ++id) {
    while (!is_free(index)) ++index;
    Wavefront& wavefront = occupy(index);
    group.members[id] = static_cast<uint8_t>(index);
    wavefront.group = static_cast<uint8_t>(at - groups_.begin());
    wavefront.id = static_cast<uint8_t>(id);
    wavefront.first = wavefront.last = wavefront.words = 0;
    wavefront.waiting = false;
    wavefront.port.start(*parts_.memory, context, wg_id, wavefront.id, services_.gpu);
    wavefront.at = 0;
  }
  return group;
}

void ComputeUnit::start(uint8_t slot, uint32_t wg_id, const DispatchContext& context) {
  Group& group = place(slot, wg_id, context);
  ++counters_.started;
  group.begin = now_cycle() + spec_.start_cycles;
  for (unsigned id = 0; id < context.wavefronts; ++id) {
    Wavefront& wavefront = *wavefronts_[group.members[id]];
    wavefront.hart.reset(context.entry);
    for (unsigned reg = 1; kUndefined != 0 && reg < 32; ++reg)
      wavefront.hart.set_reg(reg, kUndefined * uint64_t{0x0101010101010101});
    wavefront.hart.set_reg(2, wavefront.port.private_top());
    retired(wavefront, 0);
    wake(wavefront, group.begin);
  }
  if (services_.digest != nullptr) {
    services_.digest->event(services_.queue->now(), kDigestDispatch, uint64_t{index_} << 8 | slot,
                            wg_id);
  }
}

void ComputeUnit::preempt(uint8_t slot) {
  for (Group& group : groups_) {
    if (!group.active || now_cycle() >= group.begin || group.slot != slot) continue;
    ++counters_.drained;
    leave(group);
    parts_.listener->drained(index_, group.slot, group.wg_id);
  }
}

// Frees what the work-group holds.
void ComputeUnit::leave(Group& group) {
  const DispatchContext& context = *group.context;
  used_.registers_bytes -= context.registers_bytes;
  used_.lds_bytes -= context.lds_bytes;
  used_.wavefronts -= context.wavefronts;
  used_.workgroups -= 1;
  for (unsigned id = 0; id < group.wavefronts; ++id) {
    Wavefront& wavefront = *wavefronts_[group.members[id]];
    IssuePort& port = port_of(wavefront);
    port.advance(now_cycle());
    if (port.holds(position_of(wavefront))) port.leave(position_of(wavefront));
    wavefront.state = Wavefront::State::free;
  }
  group.active = false;
  if (parts_.races->watches())
    parts_.races->ended(index_, static_cast<uint8_t>(&group - groups_.data()));
  schedule_tick();
  if (--resident_ != 0) return;
  for (IssuePort& port : ports_) port.forget();
  idle_since_ = now_cycle();
  counters_.resident_cycles += idle_since_ - resident_since_;
  for (unsigned i = 0; i < kPipes; ++i)
    counters_of(i).waiting += idle_since_ - std::max(pipes_[i].free, resident_since_);
}

void ComputeUnit::retire(Group& group) {
  ++counters_.retired;
  if (group.fp16_work > (now_cycle() - clock_.cycle_at(group.started)) * spec_.tensor_fma_per_cycle)
    ++counters_.above_peak;
  ++services_.progress;
  leave(group);
  if (services_.digest != nullptr) {
    services_.digest->event(services_.queue->now(), kDigestRetire,
                            uint64_t{index_} << 8 | group.slot, group.wg_id);
  }
  if (services_.trace != nullptr) {
    const std::string stage = stage_of(group);
    services_.trace->span(
        track_, (stage.empty() ? "wg " : "stage " + stage + " wg ") + std::to_string(group.wg_id),
        group.started, services_.queue->now(), {.code = group.context->entry});
  }
  parts_.listener->done(index_, group.slot, group.wg_id, group.fp16_work);
}

void ComputeUnit::wake(Wavefront& wavefront, Cycle at) {
  wavefront.state = Wavefront::State::ready;
  wavefront.at = std::max(wavefront.at, at);
  if (Group& group = groups_[wavefront.group]; group.phase != Phase::runs) {
    look_at_frozen(group);  // It issues when it has been resumed.
    return;
  }
  IssuePort& port = port_of(wavefront);
  port.advance(now_cycle());
  port.enter(position_of(wavefront), wavefront.at);
  schedule_tick();
}

void ComputeUnit::on_event(uint64_t tag) {
  if (tag >= kMoveTag) {
    const auto moved = moves_.extract(static_cast<uint32_t>(tag - kMoveTag));
    const Move& move = moved.mapped();
    (move.saved_bytes != 0 ? counters_.saving_time : counters_.loading_time) +=
        services_.queue->now() - move.since;
    counters_.saved_bytes += move.saved_bytes;
    move.done();
  } else if (tag >= kFrozenTag) {
    look_at_frozen(groups_[tag - kFrozenTag]);
  } else if (tag != kTickTag) {
    retire(groups_[tag]);
  } else if (now_cycle() >= next_tick_) {
    next_tick_ = kUnknown;
    tick();
  }
}

// Ports in order: what shares a clock does not depend on when events were scheduled.
void ComputeUnit::tick() {
  const Cycle now = now_cycle();
  ticking_ = true;
  // A port of which nothing happens now keeps what it has looked ahead.
  const bool pipe = std::min(pipes_[kTensor].look, pipes_[kSimt].look) <= now;
  for (IssuePort& port : ports_) {
    if (pipe || port.next() <= now) port.advance(now);
  }
  for (unsigned i = 0; i < kPipes; ++i) look_at(i, now);
  for (unsigned i = 0; i < ports_.size(); ++i) {
    IssuePort& port = ports_[i];
    while (const std::optional<unsigned> position = port.turn(now))
      issue(port, *wavefronts_[*position * spec_.issue_ports + i], now);
  }
  ticking_ = false;
  schedule_tick();
}

void ComputeUnit::schedule_tick() {
  if (ticking_) return;
  Cycle next = kUnknown;
  for (IssuePort& port : ports_) next = std::min(next, port.next());
  for (const Pipe& pipe : pipes_) next = std::min(next, pipe.look);
  if (next >= next_tick_) return;
  next_tick_ = next;
  services_.queue->schedule(std::max(clock_.edge(next), services_.queue->now()), *this, kTickTag);
}

void ComputeUnit::issue(IssuePort& port, Wavefront& wavefront, Cycle now) {
  const unsigned position = position_of(wavefront);
  port.leave(position);
  port.trace(position).clear();
  wavefront.at = now;
  const Step step = perform(wavefront);
  if (step != Step::stop) port.take(position);
  if (step == Step::go_on) port.enter(position, wavefront.at);
}

// Runs the hart ahead to its next instruction that others see.
bool ComputeUnit::extend(unsigned port, unsigned position) {
  Wavefront& wavefront = *wavefronts_[position * spec_.issue_ports + port];
  if (wavefront.stop != riscv::StopReason::kBudget) return false;
  wavefront.stop = wavefront.hart.run(spec_.step_instructions);
  if (wavefront.stop == riscv::StopReason::kYield) wavefront.stop = riscv::StopReason::kBudget;
  ports_[port].trace(position).close();
  return wavefront.stop == riscv::StopReason::kBudget;
}

// What a kernel says that ends itself (tile_abort): register a0 has the address.
static std::string abort_text(MemoryImage& memory, uint64_t address) {
  char text[97] = "";
  memory.read(address & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(text), sizeof text - 1);
  return {text, std::find_if_not(text, text + sizeof text - 1,
                                 [](char byte) { return byte >= ' ' && byte <= '~'; })};
}

ComputeUnit::Step ComputeUnit::perform(Wavefront& wavefront) {
  if (wavefront.stop == riscv::StopReason::kCustom)
    return tile_instruction(wavefront, wavefront.hart.custom());
  if (wavefront.stop == riscv::StopReason::kPending) return scalar_access(wavefront);
  const riscv::Fault& fault_of_hart = wavefront.hart.fault();
  FaultKind kind = FaultKind::illegal_instruction;
  if (fault_of_hart.cause == riscv::Cause::kFetchAccess ||
      fault_of_hart.cause == riscv::Cause::kFetchMisaligned) {
    kind = FaultKind::fetch;
  } else if (fault_of_hart.cause == riscv::Cause::kLoadMisaligned ||
             fault_of_hart.cause == riscv::Cause::kStoreMisaligned) {
    kind = FaultKind::misaligned;
  }
  const std::string text = fault_of_hart.cause == riscv::Cause::kBreakpoint
                               ? abort_text(*parts_.memory, wavefront.hart.reg(10))
                               : "";
  return fault(wavefront, kind, fault_of_hart.value, static_cast<uint8_t>(fault_of_hart.cause),
               text.empty() ? riscv::cause_name(fault_of_hart.cause) : text);
}

// The tile instruction at which the wavefront stands has issued; it takes so many slots.
ComputeUnit::Step ComputeUnit::finish(Wavefront& wavefront, uint64_t slots) {
  wavefront.hart.retire_custom();
  retired(wavefront, slots - 1);
  wavefront.at += wavefront.hart.code().cost().custom;
  return Step::go_on;
}

// The hart goes on; `slots` are to be issued before its next instruction.
void ComputeUnit::retired(Wavefront& wavefront, uint64_t slots) {
  wavefront.stop = riscv::StopReason::kBudget;
  IssueTrace& trace = port_of(wavefront).trace(position_of(wavefront));
  trace.clear();
  trace.add_slots(static_cast<uint32_t>(slots));
}

uint64_t ComputeUnit::instructions() const {
  uint64_t sum = 0;
  for (const IssuePort& port : ports_) sum += port.issued();
  return sum;
}

// Issue slots of a tile load or store.
uint64_t ComputeUnit::memory_instructions(uint64_t bytes, bool to_lds) const {
  uint64_t slots = 1;
  if (spec_.memory_instruction_bytes != 0)
    slots = (bytes + spec_.memory_instruction_bytes - 1) / spec_.memory_instruction_bytes;
  if (to_lds && spec_.lds_instruction_bytes != 0)
    slots += (bytes + spec_.lds_instruction_bytes - 1) / spec_.lds_instruction_bytes;
  return slots;
}

ComputeUnit::Step ComputeUnit::barrier(Wavefront& wavefront, Group& group) {
  ++counters_.barriers;
  wavefront.state = Wavefront::State::barrier;
  ++group.at_barrier;
  group.barrier = std::max(group.barrier, wavefront.at);
  return release_barrier(group, &wavefront) ? Step::go_on : Step::wait;
}

// Lets everyone go if all live wavefronts are there; `current` is being run and needs no event.
bool ComputeUnit::release_barrier(Group& group, Wavefront* current) {
  if (group.at_barrier == 0 || group.at_barrier != group.live) return false;
  const Cycle at = group.barrier;
  const uint64_t votes = std::exchange(group.votes, 0);
  group.at_barrier = 0;
  group.barrier = 0;
  if (parts_.races->watches()) {
    std::array<Cycle, RaceLaw::kWavefronts> since{};
    for (unsigned id = 0; id < group.wavefronts; ++id) {
      const Wavefront& member = *wavefronts_[group.members[id]];
      if (member.state == Wavefront::State::barrier) since[id] = member.at;
    }
    parts_.races->barrier(index_, static_cast<uint8_t>(&group - groups_.data()), since);
  }
  for (unsigned id = 0; id < group.wavefronts; ++id) {
    Wavefront& member = *wavefronts_[group.members[id]];
    if (member.state != Wavefront::State::barrier) continue;
    member.at = at + member.hart.code().cost().custom;
    if (member.hart.custom().funct7 == TILE_CONTROL_VOTE) {
      member.hart.retire_custom(votes);
    } else {
      member.hart.retire_custom();
    }
    retired(member, 0);
    if (&member == current) {
      member.state = Wavefront::State::ready;
    } else {
      wake(member, member.at);
    }
  }
  return true;
}

ComputeUnit::Step ComputeUnit::enter_body(Wavefront& wavefront, const Group& group) {
  wavefront.state = Wavefront::State::body;
  parts_.bodies->enter_body(wavefront.group, group.slot, group.wg_id);
  return Step::wait;
}

void ComputeUnit::leave_body(unsigned index, uint64_t pc) {
  Group& group = groups_[index];
  Wavefront& wavefront = *wavefronts_[group.members[0]];
  assert(group.active && wavefront.state == Wavefront::State::body);
  wavefront.at = now_cycle();
  if (pc == 0) {
    end(wavefront, group);
    return;
  }
  wavefront.hart.retire_custom();
  wavefront.hart.set_pc(pc);
  retired(wavefront, 0);
  wake(wavefront, wavefront.at);
}

ComputeUnit::Step ComputeUnit::end(Wavefront& wavefront, Group& group) {
  finish(wavefront);
  wavefront.state = Wavefront::State::ended;
  if (group.has_tiles) {  // Its registers are free.
    for (unsigned name = 0; name < TILE_FIRST_LDS; ++name) {
      Slot& slot = slot_of(group, wavefront, name);
      group.register_bytes -= std::exchange(slot.bytes, 0);
    }
  }
  group.ended = std::max(group.ended, wavefront.at);
  --group.live;
  if (group.live == 0) {
    retire_when_done(group);
  } else {
    release_barrier(group, nullptr);
  }
  return Step::wait;
}

// What nobody waited for still ends before the work-group does.
void ComputeUnit::retire_when_done(Group& group) {
  if (group.live != 0 || group.operations != 0) return;
  if (group.has_tiles) {
    for (const Slot& slot : group.slots) {
      if (slot.written != kUnknown) group.ended = std::max({group.ended, slot.written, slot.read});
    }
  }
  const Time at = std::max(clock_.edge(group.ended), services_.queue->now());
  services_.queue->schedule(at, *this, static_cast<uint64_t>(&group - groups_.data()));
}

ComputeUnit::Step ComputeUnit::fault(Wavefront& wavefront, FaultKind kind, uint64_t address,
                                     uint8_t cause, std::string detail) {
  const Group& group = groups_[wavefront.group];
  wavefront.state = Wavefront::State::faulted;
  GpuFault report;
  report.kind = kind;
  report.cause = cause;
  report.slot = group.slot;
  report.cu = index_;
  report.wf_id = wavefront.id;
  report.wg_id = group.wg_id;
  report.pc = wavefront.hart.pc();
  report.address = address;
  report.at = services_.queue->now();
  report.detail = std::move(detail);
  parts_.faults->fault(report);
  return Step::wait;
}

void ComputeUnit::report(StatisticSink& sink) const {
  const std::string prefix = "cu" + std::to_string(index_) + ".";
  const Cycle now = now_cycle();
  const bool resident = resident_ != 0;
  const uint64_t idle = counters_.idle_cycles + (resident ? 0 : now - idle_since_);
  const auto unit = [&](const char* name, uint64_t busy, uint64_t waiting, uint64_t free,
                        const char* what) {
    const std::string path = prefix + name;
    sink.add(path + ".busy_cycles", busy, "cycles", what);
    sink.add(path + ".waiting_cycles", waiting, "cycles",
             "Clocks in which a work-group was there and the part had nothing to do.");
    sink.add(path + ".idle_cycles", free, "cycles", "Clocks in which no work-group was there.");
  };
  const auto report_pipe = [&](const char* name, const PipeCounters& counters, const Pipe& pipe) {
    const bool works = !pipe.queue.empty();
    const Cycle since = works ? now : std::max(pipe.free, resident_since_);
    unit(name, counters.busy + (works ? now - pipe.begin : 0),
         counters.waiting + (resident && now > since ? now - since : 0), idle,
         "Clocks in which the pipe worked.");
    sink.add(prefix + name + ".operations", counters.operations, "count", "Operations done.");
  };
  report_pipe("tensor", counters_.tensor, pipes_[kTensor]);
  report_pipe("simt", counters_.simt, pipes_[kSimt]);
  const uint64_t present = counters_.resident_cycles + (resident ? now - resident_since_ : 0);
  const uint64_t issued = instructions();
  unit(
      "issue", issued, present * spec_.issue_ports - std::min(present * spec_.issue_ports, issued),
      idle * spec_.issue_ports,
      "Port clocks in which an instruction issued, or one of those a tile instruction stands for.");
  sink.add(prefix + "instructions", issued, "count", "Issue slots taken by all wavefronts.");
  sink.add(prefix + "multiply_adds", counters_.multiply_adds, "count",
           "Multiply-adds of the tensor pipe.");
  sink.add(prefix + "tile_loads", counters_.tile_loads, "count", "tile.load executed.");
  sink.add(prefix + "tile_stores", counters_.tile_stores, "count", "tile.store executed.");
  sink.add(prefix + "load_bytes", counters_.load_bytes, "bytes", "Bytes of tile loads.");
  sink.add(prefix + "store_bytes", counters_.store_bytes, "bytes", "Bytes of tile stores.");
  sink.add(prefix + "scalar_accesses", counters_.scalar_accesses, "count",
           "Scalar accesses to global memory.");
  sink.add(prefix + "atomics", counters_.atomics, "count", "Atomics.");
  sink.add(prefix + "barriers", counters_.barriers, "count",
           "tile.barrier executed, by wavefront.");
  sink.add(prefix + "waits", counters_.waits, "count", "tile.wait_until executed.");
  sink.add(prefix + "charged_polls", counters_.charged_polls, "count",
           "Polls that the waits and loads of lines stand for.");
  sink.add(prefix + "workgroups", counters_.retired, "count", "Work-groups ended.");
}

void ComputeUnit::audit(AuditSink& sink) const {
  sink.equal("work-groups started + resumed = ended + preempted + suspended + resident",
             counters_.started + counters_.resumed,
             counters_.retired + counters_.drained + counters_.suspended + resident_);
  const Cycle now = now_cycle();
  if (resident_ == 0) {
    const uint64_t idle = counters_.idle_cycles + now - idle_since_;
    sink.equal("unit busy + waiting + idle = total",
               counters_.tensor.busy + counters_.tensor.waiting + idle, now);
    sink.equal("unit busy + waiting + idle = total",
               counters_.simt.busy + counters_.simt.waiting + idle, now);
  }
  const uint64_t present = counters_.resident_cycles + (resident_ != 0 ? now - resident_since_ : 0);
  sink.at_most("no pipe above its peak", counters_.fp16_work,
               counters_.tensor.busy * spec_.tensor_fma_per_cycle);
  sink.equal("work-groups above the tensor peak over their time = 0", counters_.above_peak, 0);
  for (const IssuePort& port : ports_)
    sink.at_most("no issue port above a slot a clock", port.issued(), present);
}

std::string ComputeUnit::stage_of(const Group& group) const {
  return parts_.races->stage_at(group.context->kernarg & STRETTO_OFFSET_MASK);
}

std::string ComputeUnit::describe_wait(const riscv::CustomOp& op) const {
  static constexpr std::array<const char*, 4> kConditions{"==", "!=", ">=", "<"};
  const std::string place = parts_.races->place_at(op.rs1_value & STRETTO_OFFSET_MASK);
  char text[128];
  std::snprintf(text, sizeof text, "waits until memory at 0x%llx %s %llu, it is %llu",
                static_cast<unsigned long long>(op.rs1_value), kConditions[op.funct7 & 3],
                static_cast<unsigned long long>(op.rs2_value),
                static_cast<unsigned long long>(peek(op.rs1_value, waits_at_l2(op))));
  return text + (place.empty() ? "" : " (" + place + ")");
}

std::vector<std::string> ComputeUnit::waiting_on() const {
  std::vector<std::string> lines;
  for (const Group& group : groups_) {
    if (!group.active) continue;
    for (unsigned id = 0; id < group.wavefronts; ++id) {
      const Wavefront& wavefront = *wavefronts_[group.members[id]];
      std::string what;
      uint32_t requests = 0;
      for (uint32_t i = wavefront.first; i != wavefront.last; ++i)
        requests += wavefront.ring[i % Wavefront::kMaxOperations].requests;
      std::string polled;
      for (uint32_t i = wavefront.first; i != wavefront.last; ++i) {
        const Wavefront::Operation& one = wavefront.ring[i % Wavefront::kMaxOperations];
        if (!one.lines || one.done != kUnknown || !polled.empty()) continue;
        char text[80];
        std::snprintf(text, sizeof text, ", lines at 0x%llx with flag 0x%llx",
                      static_cast<unsigned long long>(one.target + one.found * TILE_LINE_BYTES),
                      static_cast<unsigned long long>(one.data));
        polled = text;
      }
      switch (wavefront.state) {
        case Wavefront::State::tile:
          what = "waits for tile " + std::to_string(wavefront.waits_for) + polled;
          break;
        case Wavefront::State::count:
        case Wavefront::State::stores:
          what = "waits for " + std::to_string(requests) + " tile requests" + polled;
          break;
        case Wavefront::State::barrier:
          what = "waits at a barrier (" + std::to_string(group.at_barrier) + " of " +
                 std::to_string(group.live) + ")";
          break;
        case Wavefront::State::body: what = "is in its body, which is not executed"; break;
        case Wavefront::State::access: what = "waits for a scalar access"; break;
        case Wavefront::State::watch:
        case Wavefront::State::confirm: what = describe_wait(wavefront.hart.custom()); break;
        case Wavefront::State::faulted: what = "stopped by a fault"; break;
        case Wavefront::State::ready: {
          char text[64];
          std::snprintf(text, sizeof text, "runs at pc 0x%llx",
                        static_cast<unsigned long long>(wavefront.hart.pc()));
          what = text;
          break;
        }
        default: continue;
      }
      const std::string stage = stage_of(group);
      lines.push_back("cu" + std::to_string(index_) + " wg " + std::to_string(group.wg_id) +
                      " wf " + std::to_string(id) +
                      (stage.empty() ? " " : " (stage " + stage + ") ") + what);
    }
  }
  return lines;
}

const char* fault_name(FaultKind kind) {
  switch (kind) {
    case FaultKind::none: return "none";
    case FaultKind::unmapped_load: return "unmapped_load";
    case FaultKind::unmapped_store: return "unmapped_store";
    case FaultKind::remote_load: return "remote_load";
    case FaultKind::illegal_instruction: return "illegal_instruction";
    case FaultKind::bad_shape: return "bad_shape";
    case FaultKind::no_room: return "no_room";
    case FaultKind::empty_tile: return "empty_tile";
    case FaultKind::fetch: return "fetch";
    case FaultKind::misaligned: return "misaligned";
    case FaultKind::bus_error: return "bus_error";
    case FaultKind::kernel_too_large: return "kernel_too_large";
    case FaultKind::bad_context: return "bad_context";
    case FaultKind::remote_atomic: return "remote_atomic";
  }
  return "?";
}

std::string describe_fault(unsigned gpu, const GpuFault& fault) {
  char text[256];
  std::snprintf(text, sizeof text, "gpu%u cu%u wg %u wf %u pc 0x%llx: %s at 0x%llx%s%s", gpu,
                fault.cu, fault.wg_id, fault.wf_id, static_cast<unsigned long long>(fault.pc),
                fault_name(fault.kind), static_cast<unsigned long long>(fault.address),
                fault.detail.empty() ? "" : ": ", fault.detail.c_str());
  return text;
}

}  // namespace stretto
