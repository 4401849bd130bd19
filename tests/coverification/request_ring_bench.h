// SPDX-License-Identifier: Apache-2.0
// The request ring with GPU threads, an engine, a memory and a scoreboard around it.
//
// The scoreboard knows the contract (rtl/request_ring/README.md), not the model: what must become
// of a request it derives from what was written to the tables, in arithmetic of its own. It throws
// CheckError with the rule at the first violation.
#ifndef STRETTO_TESTS_COVERIFICATION_REQUEST_RING_BENCH_H_
#define STRETTO_TESTS_COVERIFICATION_REQUEST_RING_BENCH_H_

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/common/error.h"
#include "platform/adapters/rtl_blocks.h"
#include "sw/include/formats/send_request.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/request_ring_regs.h"
#include "tests/support/block_waves.h"
#include "tests/support/seeded_rng.h"

namespace stretto {

class RingBench {
 public:
  struct Buffer {
    bool valid = false, readable = false, writable = false;
    uint64_t base = 0;
    unsigned unit = 0;
    uint64_t units = 0;
  };
  struct Connection {
    bool valid = false;
    unsigned limit = 0;
    uint64_t node = 0;
    uint64_t rc_base = 0;
  };
  struct Transfer {
    uint64_t sr = 0;
    uint16_t tag = 0;
    uint64_t source = 0, destination = 0, bytes = 0;
    bool taken = false, done = false, failed = false;
    bool sc_written = false, rc_written = false;
  };

  explicit RingBench(Impl impl = Impl::lockstep, uint64_t salt = 0)
      : RingBench(make_request_ring(impl, "test.request_ring", test::wave_probe("request_ring")),
                  salt) {}
  RingBench(std::unique_ptr<RequestRing> ring, uint64_t salt) : rng(salt), ring_(std::move(ring)) {}

  test::Rng rng;
  RequestRingInputs in;
  RequestRingOutputs out;
  // The engine: chances of not ready in 16ths, clocks to completion, chance of failure in 256ths.
  unsigned issue_stall = 0, write_stall = 0;
  uint64_t latency_min = 1, latency_max = 12;
  unsigned failures = 0;
  bool engine_stopped = false;    // Completes nothing.
  bool software_by_hand = false;  // The test is the software engine.

  // What happened; read by the coverage bins.
  std::map<std::string, uint64_t> seen;
  uint64_t pushes = 0, drops = 0, refusals = 0, issues = 0, flags = 0, replicas = 0;

  RequestRingOutputs step() {
    in.cycle = cycle_++;
    in.issue_ready = !rng.chance(issue_stall, 16);
    in.write_ready = !rng.chance(write_stall, 16);
    drive_engine();
    const RequestRingOutputs before = out;
    out = ring_->step(in);
    ring_->snapshot();  // Lockstep compares the state inside, too.
    account(before);
    in = RequestRingInputs();
    return out;
  }
  void steps(unsigned n) {
    while (n-- != 0) step();
  }
  void push(uint64_t sr) {
    in.sr_valid = true;
    in.sr_data = sr;
    step();
  }
  // The engine completes the open transfer at `position` of a connection now, whatever its turn.
  void complete(unsigned connection, size_t position) {
    Log& log = s_.logs[connection];
    const uint64_t number = log.first + position;
    std::erase_if(
        now_, [&](const Flight& f) { return f.connection == connection && f.number == number; });
    log.open[position].done = true;
    in.done_valid = true;
    in.done_tag = log.open[position].tag;
    step();
  }
  void write(uint16_t address, uint64_t data) {
    in.reg = {true, false, address, data};
    step();
  }
  uint64_t read(uint16_t address) {
    in.reg = {false, true, address, 0};
    step();
    return step().reg_rdata;
  }
  void reset() {
    ring_->reset();
    out = RequestRingOutputs();
    s_ = State();
    now_.clear();
  }

  // Contents of registers, as values.
  static uint64_t config(const Buffer& b) {
    return STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_UNITS, b.units) |
           STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_UNIT, b.unit) |
           STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_READABLE, b.readable) |
           STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_WRITABLE, b.writable) |
           STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_VALID, b.valid);
  }
  static uint64_t config(const Connection& c) {
    return STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_VALID, c.valid) |
           STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_LIMIT, c.limit) |
           STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_NODE, c.node);
  }
  void set_buffer(unsigned id, const Buffer& b) {
    write(static_cast<uint16_t>(REQUEST_RING_BUFFER_BASE_OFFSET_AT(id)), b.base);
    write(static_cast<uint16_t>(REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(id)), config(b));
  }
  void set_connection(unsigned id, const Connection& c) {
    write(static_cast<uint16_t>(REQUEST_RING_CONNECTION_RC_BASE_OFFSET_AT(id)), c.rc_base);
    write(static_cast<uint16_t>(REQUEST_RING_CONNECTION_CONFIG_OFFSET_AT(id)), config(c));
  }
  void control(bool enable, bool software, bool replica, unsigned batch) {
    write(REQUEST_RING_CONTROL_OFFSET, STRETTO_FIELD(REQUEST_RING_CONTROL_ENABLE, enable) |
                                           STRETTO_FIELD(REQUEST_RING_CONTROL_ENGINE, software) |
                                           STRETTO_FIELD(REQUEST_RING_CONTROL_REPLICA, replica) |
                                           STRETTO_FIELD(REQUEST_RING_CONTROL_BATCH, batch));
  }
  // Everything quiet and every promise kept.
  void drain(unsigned limit = 20000) {
    issue_stall = write_stall = 0;
    engine_stopped = false;
    for (unsigned i = 0; !out.idle || !now_.empty() || s_.level != 0 || !quiet(); ++i) {
      if (i == limit) fail("R10", "the ring does not fall quiet");
      step();
    }
    if (s_.replica && s_.replica_value != s_.pops) fail("R7", "the replica was left behind");
  }
  bool quiet() const {
    if (!s_.waiting.empty()) return false;
    for (const Log& log : s_.logs) {
      if (!log.open.empty()) return false;
    }
    return true;
  }
  // R9 and the counters, from here on; until audit() nobody else clears them.
  void begin_audit(uint64_t irq_enable) {
    write(REQUEST_RING_COUNTER_CLEAR_OFFSET, 0);
    write(REQUEST_RING_ERROR_OFFSET, 7);
    write(REQUEST_RING_IRQ_ENABLE_OFFSET, irq_enable);
    irq_enable_ = irq_enable;
    counts_ = counts();
  }
  // REQUIRES: drained.
  void audit() {
    constexpr std::array<std::pair<uint16_t, const char*>, kCounts> kCounters{
        {{REQUEST_RING_REFUSED_OFFSET, "refused"},
         {REQUEST_RING_DROPPED_OFFSET, "dropped"},
         {REQUEST_RING_FAILED_OFFSET, "failed"},
         {REQUEST_RING_ISSUED_OFFSET, "issued"},
         {REQUEST_RING_COMPLETED_OFFSET, "completed"},
         {REQUEST_RING_FLAGS_OFFSET, "flags"},
         {REQUEST_RING_REPLICAS_OFFSET, "replicas"}}};
    const auto now = counts();
    uint64_t errors = 0;  // Malformed, dropped, failed.
    for (size_t i = 0; i < 3; ++i) errors |= uint64_t{now[i] != counts_[i]} << i;
    if (read(REQUEST_RING_ERROR_OFFSET) != errors) fail("R9", "error is not what happened");
    if (out.irq != ((errors & irq_enable_) != 0)) fail("R9", "the line is not what error says");
    for (size_t i = 0; i < kCounts; ++i) {
      if (read(kCounters[i].first) != now[i] - counts_[i])
        fail("R9", std::string("counter of ") + kCounters[i].second + " is wrong");
    }
  }
  uint64_t cycle() const { return cycle_; }
  uint64_t level() const { return s_.level; }
  // Requests whose fate is not known yet.
  size_t undecided() const { return s_.waiting.size(); }
  uint64_t in_flight() const {
    uint64_t count = 0;
    for (const Log& log : s_.logs) count += log.in_flight();
    return count;
  }
  const Buffer& buffer(unsigned id) const { return s_.buffers[id]; }
  // Transfers of a connection that are not complete with their flags, the oldest first.
  const std::deque<Transfer>& open(unsigned connection) const { return s_.logs[connection].open; }

  // Why a request is malformed, bits of error_first.reason; from the tables as they are now.
  uint64_t malformed(uint64_t sr) const {
    const uint64_t opcode = sr & 3, connection = sr >> 18 & 127;
    const Buffer& from = s_.buffers[sr >> 10 & 255];
    const Buffer& to = s_.buffers[sr >> 2 & 255];
    const uint64_t length = sr >> 25 & 0x1ffff, offset = sr >> 42 & 0x1ffff;
    uint64_t why = 0;
    const bool opcode_ok = opcode == 1 || opcode == 2;
    const bool known = connection < kRingConnections && s_.connections[connection].valid;
    if (!opcode_ok) why |= 1;
    if (sr >> 61 != 0) why |= 2;
    if (!known) why |= 4;
    if (!from.valid) why |= 8;
    if (!to.valid) why |= 16;
    if (length == 0) why |= 256;
    if (!opcode_ok || !known || !from.valid || !to.valid) return why;
    const uint64_t peer = s_.connections[connection].node;
    if (!from.readable || !to.writable) why |= 32;
    if (from.base >> 40 != (opcode == 1 ? s_.node : peer) ||
        to.base >> 40 != (opcode == 1 ? peer : s_.node))
      why |= 64;
    if (from.unit != to.unit || from.unit > 17) why |= 128;
    if (offset + length > from.units) why |= 512;
    if (offset + length > to.units) why |= 1024;
    return why;
  }

 private:
  static constexpr size_t kCounts = 7;
  // In the order of audit().
  std::array<uint64_t, kCounts> counts() {
    return {refusals, drops, seen["transfer failed"], issues, issues, flags, replicas};
  }

  struct Waiting {
    uint64_t sr;
    bool uncertain = false;  // A table it names changed on its way.
  };
  // The transfers of a connection, numbered from `first`.
  struct Log {
    uint64_t first = 1;
    uint64_t last_flag = 0;
    std::deque<Transfer> open;
    uint64_t in_flight() const {
      uint64_t count = 0;
      for (const Transfer& t : open) count += !t.done;
      return count;
    }
    // Forgets what is complete with its flags.
    void trim() {
      while (!open.empty()) {
        const Transfer& t = open.front();
        const bool flags_due = !t.failed && (((t.sr & STRETTO_SR_SC) != 0 && !t.sc_written) ||
                                             ((t.sr & STRETTO_SR_RC) != 0 && !t.rc_written));
        if (!t.done || flags_due) return;
        open.pop_front();
        ++first;
      }
    }
  };
  // What a reset forgets.
  struct State {
    bool enable = false, replica = false, software = false;
    uint64_t node = 0, sc_base = 0, replica_address = 0;
    std::array<Buffer, kRingBuffers> buffers{};
    std::array<Connection, kRingConnections> connections{};
    std::deque<Waiting> waiting;  // In the ring or between ring and judgement.
    uint64_t level = 0;           // Of those, in the ring.
    uint64_t pops = 0, replica_value = 0;
    std::array<Log, kRingConnections> logs{};
  };

  [[noreturn]] void fail(const char* rule, const std::string& what) const {
    throw CheckError(std::string(rule) + ": " + what + " (cycle " + std::to_string(cycle_ - 1) +
                     ")");
  }

  // A transfer under way to its completion.
  struct Flight {
    unsigned connection;
    uint64_t number;
    uint64_t due;
  };

  void drive_engine() {
    if (s_.software && !software_by_hand && offered() != nullptr && !in.reg.write && !in.reg.read &&
        rng.chance(1, 4)) {
      in.reg = {true, false, REQUEST_RING_SOFTWARE_TAKE_OFFSET, 0};
    }
    if (in.done_valid || engine_stopped || now_.empty()) return;
    // Any that is due, not the oldest: completions come out of order.
    const size_t first = rng.below(now_.size());
    for (size_t i = 0; i < now_.size(); ++i) {
      const size_t at = (first + i) % now_.size();
      if (now_[at].due > cycle_) continue;
      Log& log = s_.logs[now_[at].connection];
      Transfer& t = log.open[now_[at].number - log.first];
      t.done = true;
      t.failed = rng.chance(failures, 256);
      if (s_.software && !in.reg.write && !in.reg.read && rng.chance(1, 2)) {
        in.reg = {true, false, REQUEST_RING_SOFTWARE_DONE_OFFSET,
                  uint64_t{t.tag} | uint64_t{t.failed} << 16};
        ++seen["done by software"];
      } else {
        in.done_valid = true;
        in.done_tag = t.tag;
        in.done_failed = t.failed;
      }
      for (const Flight& other : now_) {
        if (other.connection == now_[at].connection && other.number < now_[at].number) {
          ++seen["done out of order"];
          break;
        }
      }
      if (t.failed) ++seen["transfer failed"];
      now_.erase(now_.begin() + static_cast<std::ptrdiff_t>(at));
      log.trim();
      return;
    }
  }

  void account(const RequestRingOutputs& before) {
    // R5: what was offered and not taken is still offered.
    if (before.issue_valid && !in.issue_ready) {
      ++seen["issue stalled"];
      if (!out.issue_valid || out.issue_tag != before.issue_tag ||
          out.issue_source != before.issue_source ||
          out.issue_destination != before.issue_destination ||
          out.issue_bytes != before.issue_bytes)
        fail("R5", "a transfer that was not taken changed");
    }
    if (before.write_valid && !in.write_ready) {
      ++seen["write stalled"];
      if (!out.write_valid || out.write_address != before.write_address ||
          out.write_data != before.write_data || out.write_kind != before.write_kind)
        fail("R5", "a write that was not taken changed");
    }
    if (before.idle && !in.sr_valid && !in.done_valid && !in.reg.write && !in.reg.read &&
        out != before)
      fail("R8", "something changed while it was idle");
    take_issue(before);
    take_write(before);
    take_sr(before);
    take_judgement(before);
    take_register_write(before);
    uint64_t in_flight = 0;
    for (const Log& log : s_.logs) in_flight = std::max(in_flight, log.in_flight());
    if (in_flight > kRingSlots) fail("R4", "a connection has more transfers in flight than slots");
    if (in_flight == kRingSlots) ++seen["connection full"];
    if (out.idle) ++seen["idle"];
    if (out.irq) ++seen["irq"];
  }

  // The transfer that waits to be taken; there is at most one.
  Transfer* offered() {
    Log& log = s_.logs[out.issue_tag >> 4];
    if (log.open.empty() || log.open.back().taken) return nullptr;
    return &log.open.back();
  }

  void take_issue(const RequestRingOutputs& before) {
    const bool by_software =
        in.reg.write && in.reg.address == REQUEST_RING_SOFTWARE_TAKE_OFFSET && s_.software;
    if (s_.software && before.issue_valid)
      fail("R5", "offered to the engine, though software has it");
    if (!by_software && (!before.issue_valid || !in.issue_ready)) return;
    Log& log = s_.logs[before.issue_tag >> 4];
    if (log.open.empty() || log.open.back().taken) {
      if (by_software) return;  // Nothing waited.
      fail("R3", "a transfer was offered twice");
    }
    log.open.back().taken = true;
    if (by_software) ++seen["taken by software"];
    now_.push_back({unsigned{before.issue_tag} >> 4, log.first + log.open.size() - 1,
                    cycle_ + rng.between(latency_min, latency_max)});
  }

  void take_write(const RequestRingOutputs& before) {
    if (!before.write_valid || !in.write_ready) return;
    if (before.write_kind == static_cast<uint8_t>(RingWrite::replica)) {
      ++replicas;
      if (before.write_address != s_.replica_address) fail("R7", "replica at a wrong address");
      if (before.write_data > s_.pops) fail("R7", "the replica is ahead of the head");
      if (before.write_data < s_.replica_value) fail("R7", "the replica went back");
      if (before.write_data + 1 < s_.pops) ++seen["replica coalesced"];
      s_.replica_value = before.write_data;
      return;
    }
    ++flags;
    const bool sc = before.write_kind == static_cast<uint8_t>(RingWrite::sent);
    const unsigned connection = before.write_tag >> 4;
    Log& log = s_.logs[connection];
    const uint64_t number = before.write_data;
    if (number < log.first || number >= log.first + log.open.size())
      fail("R6", "a flag without its transfer, or a second one");
    if (number < log.last_flag) fail("R6", "flags of a connection out of order");
    log.last_flag = number;
    for (uint64_t i = log.first; i <= number; ++i) {
      if (!log.open[i - log.first].done)
        fail("R6", "a flag before its transfer or an earlier one was done");
    }
    Transfer& t = log.open[number - log.first];
    if (t.tag != before.write_tag) fail("R6", "a flag with another transfer's tag");
    if (!sc && (t.sr & STRETTO_SR_SC) != 0 && !t.sc_written)
      fail("R6", "the receive flag before the send flag");
    const uint64_t wanted = sc ? s_.sc_base + 8 * (t.sr >> 10 & 255)
                               : s_.connections[connection].rc_base + 8 * (t.sr >> 2 & 255);
    if (before.write_address != wanted) fail("R6", "flag at a wrong address");
    if ((t.sr & (sc ? STRETTO_SR_SC : STRETTO_SR_RC)) == 0 || t.failed)
      fail("R6", "a flag that was not asked for");
    bool& written = sc ? t.sc_written : t.rc_written;
    if (written) fail("R6", "a flag was written twice");
    written = true;
    if (sc) ++seen["send flag"];
    if (!sc) ++seen["receive flag"];
    log.trim();
  }

  void take_sr(const RequestRingOutputs& before) {
    if (out.pop) {
      if (s_.level == 0) fail("R1", "a request left an empty ring");
      --s_.level;
      ++s_.pops;
    }
    if (!in.sr_valid) {
      if (out.drop) fail("R2", "dropped what never came");
      return;
    }
    // The level before this edge, with what left at it.
    const uint64_t level = s_.level + out.pop;
    const bool room = s_.enable && level < kRingDepth && !cleared(before);
    if (room == out.drop)
      fail(room ? "R1" : "R2", room ? "dropped with room" : "taken without room");
    if (out.drop) {
      ++drops;
      ++seen[s_.enable ? "dropped: full" : "dropped: disabled"];
      return;
    }
    ++pushes;
    ++s_.level;
    s_.waiting.push_back({in.sr_data});
    if (s_.level == kRingDepth) ++seen["ring full"];
  }

  // A `clear` has an effect only while nothing is past the ring.
  bool cleared(const RequestRingOutputs& before) const {
    return in.reg.write && in.reg.address == REQUEST_RING_CLEAR_OFFSET && !before.busy;
  }

  void take_judgement(const RequestRingOutputs& before) {
    const bool fresh = out.issue_valid && (!before.issue_valid || in.issue_ready);
    if (!s_.software && out.accept != fresh)
      fail("R3", "accepted and not offered, or offered again");
    if (!out.refuse && !out.accept) return;
    if (out.refuse && out.accept) fail("R3", "refused and issued in one clock");
    if (s_.waiting.empty()) fail("R3", "a judgement without request");
    const Waiting request = s_.waiting.front();
    s_.waiting.pop_front();
    if (out.judged != request.sr) fail("R1", "requests changed or left in another order");
    const uint64_t why = malformed(request.sr);
    if (!request.uncertain && (why != 0) != out.refuse)
      fail("R3", out.refuse ? "a good request was refused" : "a malformed request was issued");
    if (out.refuse) {
      ++refusals;
      for (unsigned bit = 0; bit < 11; ++bit) {
        if (why == uint64_t{1} << bit) ++seen["refused: " + std::to_string(bit)];
      }
      return;
    }
    ++issues;
    Transfer t;
    t.sr = request.sr;
    t.tag = out.issue_tag;
    t.source = out.issue_source;
    t.destination = out.issue_destination;
    t.bytes = out.issue_bytes;
    const unsigned connection = request.sr >> 18 & 127;
    if (unsigned{out.issue_tag} >> 4 != connection) fail("R3", "issued for another connection");
    if (out.issue_read) ++seen["read"];
    if (!request.uncertain) {
      const Buffer& from = s_.buffers[request.sr >> 10 & 255];
      const Buffer& to = s_.buffers[request.sr >> 2 & 255];
      const uint64_t offset = (request.sr >> 42 & 0x1ffff) << from.unit;
      if (t.bytes != (request.sr >> 25 & 0x1ffff) << from.unit || t.source != from.base + offset ||
          t.destination != to.base + offset)
        fail("R3", "wrong addresses or length");
      if (t.source + t.bytes > from.base + (from.units << from.unit) ||
          t.destination + t.bytes > to.base + (to.units << to.unit))
        fail("R3", "a transfer leaves its buffer");
      if (t.source + t.bytes == from.base + (from.units << from.unit)) ++seen["to the last byte"];
    }
    Log& log = s_.logs[connection];
    for (const Transfer& open : log.open) {
      if (open.tag == t.tag && !open.done) fail("R4", "a tag in flight was given out again");
    }
    log.open.push_back(t);
    const unsigned limit = s_.connections[connection].limit;
    if (!request.uncertain && limit != 0 && log.in_flight() > limit)
      fail("R4", "a connection has more transfers in flight than its limit");
    if (limit != 0 && log.in_flight() == limit) ++seen["connection at its limit"];
  }

  void take_register_write(const RequestRingOutputs& before) {
    if (!in.reg.write) return;
    const uint64_t data = in.reg.wdata;
    const uint16_t at = in.reg.address;
    if (s_.level + s_.waiting.size() != 0) ++seen["register write under traffic"];
    if (at == REQUEST_RING_CONTROL_OFFSET) {
      s_.enable = (data & 1) != 0;
      if (!before.busy) s_.software = (data & 2) != 0;
      s_.replica = (data & 4) != 0;
    } else if (at == REQUEST_RING_NODE_OFFSET) {
      s_.node = data & 0xff;
      for (Waiting& w : s_.waiting) w.uncertain = true;
    } else if (at == REQUEST_RING_SC_BASE_OFFSET) {
      s_.sc_base = data & 0xffffffffffff;
    } else if (at == REQUEST_RING_REPLICA_ADDRESS_OFFSET) {
      s_.replica_address = data & 0xffffffffffff;
    } else if (cleared(before)) {
      s_.waiting.clear();
      s_.level = 0;
      s_.pops = s_.replica_value = 0;
      s_.logs = {};
      ++seen["clear"];
    } else if (at >= 0x1000 && at < 0x2000) {
      const unsigned id = (at - 0x1000) / 16;
      Buffer& b = s_.buffers[id];
      if (at % 16 == 0) {
        b.base = data & 0xffffffffffff;
      } else {
        b.units = data & 0x3ffff;
        b.unit = data >> 20 & 31;
        b.readable = (data >> 28 & 1) != 0;
        b.writable = (data >> 29 & 1) != 0;
        b.valid = (data >> 31 & 1) != 0;
      }
      for (Waiting& w : s_.waiting) {
        if ((w.sr >> 10 & 255) == id || (w.sr >> 2 & 255) == id) w.uncertain = true;
      }
    } else if (at >= 0x400 && at < 0x600) {
      const unsigned id = (at - 0x400) / 32;
      Connection& c = s_.connections[id];
      if (at % 32 == 0) {
        c.valid = (data & 1) != 0;
        c.limit = data >> 4 & 15;
        c.node = data >> 8 & 255;
        for (Waiting& w : s_.waiting) {
          if ((w.sr >> 18 & 127) == id) w.uncertain = true;
        }
      } else if (at % 32 == 8) {
        c.rc_base = data & 0xffffffffffff;
      }
    }
  }

  State s_;
  std::vector<Flight> now_;
  std::array<uint64_t, kCounts> counts_{};  // When the audit began.
  uint64_t irq_enable_ = 0;
  uint64_t cycle_ = 0;
  std::unique_ptr<RequestRing> ring_;
};

}  // namespace stretto

#endif  // STRETTO_TESTS_COVERIFICATION_REQUEST_RING_BENCH_H_
