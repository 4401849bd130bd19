// SPDX-License-Identifier: Apache-2.0
// Statistics, audit laws and waiting_on() of hbm.h.
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "models/hbm/hbm.h"

namespace stretto {
namespace {

void add_sums(ChannelCounters& sum, const ChannelCounters& part) {
  for (unsigned account = 0; account < STRETTO_ACCOUNTS; ++account) {
    for (unsigned direction = 0; direction < 2; ++direction) {
      sum.atoms[account][direction] += part.atoms[account][direction];
      sum.bytes[account][direction] += part.bytes[account][direction];
    }
  }
  for (uint64_t ChannelCounters::*field :
       {&ChannelCounters::updates_received, &ChannelCounters::tracked_half_words,
        &ChannelCounters::busy_cycles, &ChannelCounters::waiting_cycles,
        &ChannelCounters::idle_cycles, &ChannelCounters::held_atoms,
        &ChannelCounters::ordered_atoms, &ChannelCounters::atomics, &ChannelCounters::hazards,
        &ChannelCounters::ticks, &ChannelCounters::mca_steps,
        &ChannelCounters::dram_occupancy_sum}) {
    sum.*field += part.*field;
  }
  for (uint64_t ChannelCounters::*field :
       {&ChannelCounters::compute_high_water, &ChannelCounters::communication_high_water,
        &ChannelCounters::staged_high_water, &ChannelCounters::dram_high_water}) {
    sum.*field = std::max(sum.*field, part.*field);
  }
}

uint64_t atoms_of(const ChannelCounters& counters) {
  uint64_t atoms = 0;
  for (const auto& of_account : counters.atoms) atoms += of_account[0] + of_account[1];
  return atoms;
}

}  // namespace

ChannelCounters Hbm::totals() const {
  ChannelCounters sum;
  for (const auto& of : channels_) add_sums(sum, of->counters(cycle()));
  return sum;
}

std::pair<uint64_t, uint64_t> Hbm::bytes() const {
  std::pair<uint64_t, uint64_t> all;
  for (const auto& of : channels_) {
    for (const auto& [read, written] : of->bytes()) {
      all.first += read;
      all.second += written;
    }
  }
  return all;
}

// Draws what was moved from `begin` to `end`, in whole atoms, and how full the MCA's queues are at
// the end.
void Hbm::trace_interval(Time begin, Time end) {
  const ChannelCounters sum = totals();
  const std::string track = "gpu" + std::to_string(services_.gpu) + "/hbm ";
  constexpr const char* kNames[2] = {"read MB/s", "write MB/s"};
  for (unsigned direction = 0; direction < 2; ++direction) {
    uint64_t bytes = 0;
    for (const auto& of_account : sum.atoms) bytes += kAtomBytes * of_account[direction];
    services_.trace->counter(track + kNames[direction], begin,
                             (bytes - traced_bytes_[direction]) * kMicrosecond / (end - begin));
    traced_bytes_[direction] = bytes;
  }
  std::array<uint64_t, 2> queued{};
  for (const auto& of : channels_) {
    for (unsigned stream = 0; stream < 2; ++stream)
      queued[stream] += of->queued(static_cast<Stream>(stream));
  }
  services_.trace->counter(track + "compute queue atoms", end, queued[0]);
  services_.trace->counter(track + "communication queue atoms", end, queued[1]);
  traced_at_ = end;
}

// Mean rates of about a microsecond each; where nothing ticked for longer the rate is zero.
void Hbm::trace_traffic(Time now) {
  if (ticked_at_ == 0) traced_at_ = now;
  if (ticked_at_ > traced_at_ && now - traced_at_ >= kMicrosecond) {
    trace_interval(traced_at_, ticked_at_);
    if (now - ticked_at_ >= kMicrosecond) {
      for (const char* name : {"read MB/s", "write MB/s"})
        services_.trace->counter("gpu" + std::to_string(services_.gpu) + "/hbm " + name, ticked_at_,
                                 0);
      traced_at_ = now;
    }
  }
  ticked_at_ = now;
}

void Hbm::trace_end() {
  if (services_.trace == nullptr || ticked_at_ == 0) return;
  const Time end = ticked_at_ + clock_.edge(1);
  trace_interval(traced_at_, end);
  for (const char* name : {"read MB/s", "write MB/s"})
    services_.trace->counter("gpu" + std::to_string(services_.gpu) + "/hbm " + name, end, 0);
}

void Hbm::report(StatisticSink& sink) const {
  const ChannelCounters sum = totals();
  for (unsigned account = 0; account < STRETTO_ACCOUNTS; ++account) {
    if (!sink.has_name(account) && sum.atoms[account][0] + sum.atoms[account][1] == 0) continue;
    const std::string name = "." + sink.account(account);
    sink.add("read_bytes" + name, sum.bytes[account][0], "bytes",
             "Bytes read from DRAM on this account.");
    sink.add("write_bytes" + name, sum.bytes[account][1], "bytes",
             "Bytes written or added in DRAM on this account.");
    sink.add("read_atoms" + name, sum.atoms[account][0], "count",
             "64 B read accesses on this account.");
    sink.add("write_atoms" + name, sum.atoms[account][1], "count",
             "64 B write and update accesses on this account.");
  }
  for (unsigned account = 0; account < STRETTO_ACCOUNTS; ++account) {
    if (core_.first_cycle[account] == 0) continue;
    const std::string name = "." + sink.account(account);
    sink.add("first_access" + name, clock_.edge(core_.first_cycle[account] - 1), "fs",
             "First column command on this account.");
    sink.add("last_access" + name, clock_.edge(core_.last_cycle[account]), "fs",
             "Last column command on this account.");
  }
  constexpr const char* kStreams[2] = {"compute", "communication"};
  for (unsigned stream = 0; stream < 2; ++stream) {
    std::string name(".");
    name += kStreams[stream];
    sink.add("requests" + name, latency_[stream].requests, "count", "Requests answered.");
    sink.add("latency_sum" + name, latency_[stream].sum_fs, "fs",
             "Arrival to end of data, summed over requests.");
    sink.add("latency_max" + name, latency_[stream].max_fs, "fs",
             "Longest arrival to end of data.");
  }
  sink.add("requests_high_water", requests_high_water_, "count", "Most requests inside at once.");
  sink.add("updates_received", sum.updates_received, "count", "Update atoms that entered a queue.");
  sink.add("updates_applied", core_.data.updates_applied(), "count",
           "Update atoms added to memory.");
  sink.add("updates_read", sum.atomics, "count",
           "Update atoms that an atomic unit of the controller read before it added.");
  sink.add("held_atoms", sum.held_atoms, "count",
           "Atoms held beside the queues for an elder in the other queue.");
  sink.add("ordered_atoms", sum.ordered_atoms, "count",
           "Atoms that entered the DRAM queue behind a conflicting elder.");
  sink.add("hazards", sum.hazards, "count",
           "Atoms that overtook a conflicting elder (same_atom_order off).");
  sink.add("ticks", sum.ticks, "count", "Channel ticks simulated.");
  sink.add("mca_steps", sum.mca_steps, "count", "MCA clocks evaluated.");
  if (checker_ != nullptr)
    sink.add("checked_commands", checker_->commands(), "count", "DRAM commands checked.");

  const TrackerPort::Counters& tracker = core_.tracker_port.counters();
  sink.add("tracker.updates", tracker.updates, "count", "Joined updates taken by the Tracker.");
  sink.add("tracker.half_words", tracker.half_words, "count",
           "Half-words in the joined updates that the Tracker took.");
  sink.add("tracker.triggers", tracker.triggers, "count", "Triggers.");
  sink.add("tracker.events", tracker.events, "count",
           "Triggers that were scheduling events instead of DMA (T3-AGC-01).");
  sink.add("tracker.spill_writes", tracker.spill_writes, "count", "Entries written to memory.");
  sink.add("tracker.spill_reads", tracker.spill_reads, "count", "Entries read from memory.");
  sink.add("tracker.fifo_high_water", tracker.fifo_high_water, "count",
           "Most joined updates waiting at one bank.");

  if (const auto state = core_.tracker_port.state(); state.has_value()) {
    sink.add("tracker.max_live", state->max_live, "count",
             "Most tiles with a slot or a spilled entry at once.");
  }
  report_mca(sink);

  uint64_t total_commands[kDramCommands] = {};
  for (unsigned i = 0; i < channels_.size(); ++i) {
    const ChannelCounters counters = channels_[i]->counters(cycle());
    const DramScheduler& scheduler = channels_[i]->scheduler();
    const DramScheduler::Counters& dram = scheduler.counters();
    const std::string name = "channel" + std::to_string(i) + ".";
    const uint64_t atoms = atoms_of(counters);
    sink.add(name + "atoms", atoms, "count", "Column accesses of 64 B.");
    sink.add(name + "row_hits", atoms - dram.row_misses - dram.row_conflicts, "count",
             "Atoms that found their row open.");
    sink.add(name + "row_misses", dram.row_misses, "count",
             "Atoms for which a closed bank was activated.");
    sink.add(name + "row_conflicts", dram.row_conflicts, "count",
             "Atoms for which another row was closed.");
    sink.add(name + "busy_cycles", counters.busy_cycles, "cycles", "Data bus reserved.");
    sink.add(name + "waiting_cycles", counters.waiting_cycles, "cycles",
             "Atoms present, data bus not reserved.");
    sink.add(name + "idle_cycles", counters.idle_cycles, "cycles", "No atom present.");
    sink.add(name + "compute_high_water", counters.compute_high_water, "count",
             "Most atoms in the compute queue.");
    sink.add(name + "communication_high_water", counters.communication_high_water, "count",
             "Most atoms in the communication queue.");
    sink.add(name + "staged_high_water", counters.staged_high_water, "count",
             "Most arrivals waiting before the queues.");
    sink.add(name + "dram_high_water", counters.dram_high_water, "count",
             "Most atoms in the DRAM queue.");
    sink.add(name + "dram_occupancy_sum", counters.dram_occupancy_sum, "count",
             "DRAM queue occupancy seen by entering atoms, summed.");
    for (unsigned command = 0; command < kDramCommands; ++command) {
      const auto is = [&](DramCommand one) { return static_cast<DramCommand>(command) == one; };
      total_commands[command] += is(scheduler.refresh_command()) ? scheduler.refreshes(cycle())
                                 : is(DramCommand::precharge)    ? scheduler.precharges(cycle())
                                                                 : dram.commands[command];
    }
  }
  // Energy-bearing events. An atom is timing_.columns_per_atom column commands.
  const uint64_t columns = timing_.columns_per_atom;
  sink.add("events.activate", total_commands[0], "count", "Row activations.");
  sink.add("events.precharge", total_commands[1], "count", "Precharges of one bank.");
  sink.add("events.read", total_commands[2] * columns, "count", "Column reads.");
  sink.add("events.write", total_commands[3] * columns, "count", "Column writes.");
  sink.add("events.near_memory", total_commands[4] * columns, "count",
           "Column op-and-stores of near-bank ALUs.");
  sink.add("events.refresh", total_commands[5], "count", "All-bank refreshes.");
  sink.add("events.refresh_bank", total_commands[6], "count", "Refreshes of one bank.");
}

// Sums over the channels; none if the arbiters do not show their state.
void Hbm::report_mca(StatisticSink& sink) const {
  McaSnapshot sum;
  std::map<uint64_t, uint64_t> limits{{0, 0}, {5, 0}, {10, 0}, {30, 0}};
  for (const auto& of : channels_) {
    const std::optional<McaSnapshot> state = of->mca_state();
    if (!state.has_value()) return;
    sum.grants_compute += state->grants_compute;
    sum.grants_comm += state->grants_comm;
    sum.grants_starved += state->grants_starved;
    sum.drains += state->drains;
    ++limits[state->limit];
  }
  sink.add("mca.grants_compute", sum.grants_compute, "count", "Compute atoms granted.");
  sink.add("mca.grants_communication", sum.grants_comm, "count", "Communication atoms granted.");
  sink.add("mca.grants_starved", sum.grants_starved, "count",
           "Atoms granted because of the starvation limit.");
  sink.add("mca.drains", sum.drains, "count", "Drains completed, summed over channels.");
  for (const auto& [limit, count] : limits) {
    sink.add("mca.channels_at_limit_" + std::to_string(limit), count, "count",
             "Channels whose occupancy limit is this at the end; 0 = none.");
  }
}

void Hbm::audit(AuditSink& sink) const {
  const ChannelCounters sum = totals();
  sink.equal("received updates = written updates", sum.updates_received,
             core_.data.updates_applied());
  if (core_.spec.updates == Updates::controller)
    sink.equal("updates read by the controller = received updates", sum.atomics,
               sum.updates_received);
  sink.equal("tracked writes = tracker updates (half-words)", sum.tracked_half_words,
             core_.tracker_port.counters().half_words);
  sink.equal("no access overtakes another to the same atom", sum.hazards, 0);
  for (unsigned i = 0; i < channels_.size(); ++i) {
    const ChannelCounters counters = channels_[i]->counters(cycle());
    const uint64_t cycles =
        std::max(cycle(), counters.busy_cycles + counters.waiting_cycles + counters.idle_cycles);
    const std::string name = "channel " + std::to_string(i);
    // A burst reserved past the present cycle is part of the time that it will have taken.
    const uint64_t total =
        std::min(cycles, cycle() + timing_.burst_cycles) < cycles ? cycle() : cycles;
    sink.equal("busy + waiting + idle = total (" + name + ")",
               counters.busy_cycles + counters.waiting_cycles + counters.idle_cycles, total);
    sink.at_most("peak of a channel (" + name + ")", atoms_of(counters) * timing_.burst_cycles,
                 total);
  }
}

std::vector<std::string> Hbm::waiting_on() const {
  std::vector<std::string> items;
  for (const auto& of : channels_) {
    if (!of->quiet()) items.push_back("hbm " + of->waiting_on());
  }
  if (const uint64_t waiting = core_.tracker_port.waiting(); waiting != 0) {
    items.push_back("hbm tracker: " + std::to_string(waiting) + " updates wait, " +
                    std::to_string(core_.tracker_port.spills_outstanding()) +
                    " spill accesses outstanding");
  }
  for (std::string& line : core_.tracker_port.incomplete()) items.push_back(std::move(line));
  return items;
}

}  // namespace stretto
