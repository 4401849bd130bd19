// SPDX-License-Identifier: Apache-2.0
// Question: do the request ring's RTL and its reference model agree where values are wide? All
// buffers and connections in use, bases anywhere in 48 bits, pieces of up to 2^34 bytes, a full
// engine, every register address. Lockstep only; what must become of each request
// request_ring_lockstep_test.cpp asks.
#include <catch2/catch.hpp>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "platform/adapters/rtl_blocks.h"
#include "sw/include/formats/send_request.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/request_ring_regs.h"
#include "tests/support/block_waves.h"
#include "tests/support/coverage_bins.h"
#include "tests/support/seeded_rng.h"

namespace stretto {
namespace {

class WideRing {
 public:
  void run(uint64_t clocks) {
    while (cycle_ < clocks) {
      if (cycle_ == 0 || rng_.chance(1, 4)) {
        ring_->reset();
        out_ = RequestRingOutputs();
        in_flight_.clear();
        program();
      }
      for (uint64_t end = cycle_ + kEpoch; cycle_ < end;) {
        if (rng_.chance(1, 300)) knobs();
        traffic();
      }
    }
  }

  uint64_t issued() const { return issued_; }

 private:
  static constexpr uint64_t kEpoch = 6000;

  void step() {
    in_.cycle = cycle_++;
    in_.issue_ready = !rng_.chance(issue_stall_, 16);
    in_.write_ready = !rng_.chance(write_stall_, 16);
    if (out_.issue_valid && in_.issue_ready) {
      in_flight_.push_back(out_.issue_tag);
      ++issued_;
    }
    out_ = ring_->step(in_);
    in_ = RequestRingInputs();
  }
  void write(unsigned address, uint64_t data) {
    in_.reg = {true, false, static_cast<uint16_t>(address), data};
    step();
  }
  // REQUIRES: a buffer stays in the memory of its node, 2^40 bytes; the largest has 2^35.
  uint64_t in_node(uint64_t node) { return node << 40 | (rng_.next() >> 24) / 32 * 31; }

  // Even buffers are here, odd ones at the peer of connection id % 16.
  void program() {
    node_ = rng_.below(256);
    unit_ = static_cast<unsigned>(rng_.below(18));
    for (unsigned c = 0; c < kRingConnections; ++c) {
      peer_[c] = rng_.below(256);
      write(REQUEST_RING_CONNECTION_RC_BASE_OFFSET_AT(c), rng_.next());
      write(REQUEST_RING_CONNECTION_CONFIG_OFFSET_AT(c),
            STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_VALID, 1) |
                STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_LIMIT,
                              rng_.chance(1, 2) ? 0 : rng_.below(16)) |
                STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_NODE, peer_[c]));
    }
    for (unsigned b = 0; b < kRingBuffers; ++b) {
      units_[b] = rng_.chance(1, 8) ? rng_.below(1 << 18) : (1 << 17) + rng_.below(1 << 17);
      write(REQUEST_RING_BUFFER_BASE_OFFSET_AT(b), in_node(b % 2 == 0 ? node_ : peer_[b / 2 % 16]));
      write(REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(b), config(b));
    }
    write(REQUEST_RING_NODE_OFFSET, node_);
    write(REQUEST_RING_SC_BASE_OFFSET, rng_.next());
    write(REQUEST_RING_REPLICA_ADDRESS_OFFSET, rng_.next());
    control();
  }
  uint64_t config(unsigned buffer) {
    return STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_UNITS, units_[buffer]) |
           STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_UNIT,
                         rng_.chance(1, 50) ? rng_.below(32) : unit_) |
           STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_READABLE, !rng_.chance(1, 50)) |
           STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_WRITABLE, !rng_.chance(1, 50)) |
           STRETTO_FIELD(REQUEST_RING_BUFFER_CONFIG_VALID, !rng_.chance(1, 50));
  }
  // The first time with the engine on the die: software's takes nothing by itself, and issues nothing.
  void control() {
    const bool first = !std::exchange(programmed_, true);
    write(REQUEST_RING_CONTROL_OFFSET,
          STRETTO_FIELD(REQUEST_RING_CONTROL_ENABLE, 1) |
              STRETTO_FIELD(REQUEST_RING_CONTROL_ENGINE, !first && rng_.chance(1, 6)) |
              STRETTO_FIELD(REQUEST_RING_CONTROL_REPLICA, rng_.chance(3, 4)) |
              STRETTO_FIELD(REQUEST_RING_CONTROL_BATCH, rng_.below(256)));
  }
  void knobs() {
    push_chance_ = static_cast<unsigned>(rng_.below(17));
    issue_stall_ = rng_.chance(1, 2) ? 0 : static_cast<unsigned>(rng_.below(16));
    write_stall_ = rng_.chance(1, 2) ? 0 : static_cast<unsigned>(rng_.below(17));
    failures_ = rng_.chance(1, 2) ? 1 : static_cast<unsigned>(rng_.below(17));
    done_chance_ = rng_.chance(1, 4) ? 0 : static_cast<unsigned>(rng_.below(17));
  }

  // Good ones but for what the tables and the length spoil.
  uint64_t request() {
    const bool read = rng_.chance(1, 3);
    const unsigned connection = static_cast<unsigned>(rng_.below(kRingConnections));
    const unsigned here = 2 * static_cast<unsigned>(rng_.below(kRingBuffers / 2));
    const unsigned there = 32 * static_cast<unsigned>(rng_.below(8)) + 2 * connection + 1;
    const uint64_t shortest = std::min(units_[here], units_[there]);
    const uint64_t length = rng_.below(std::min<uint64_t>(shortest, (1 << 17) - 1) + 1);
    const uint64_t offset = rng_.below(std::min<uint64_t>(shortest - length, (1 << 17) - 1) + 1);
    const uint64_t flags =
        (rng_.chance(2, 3) ? STRETTO_SR_SC : 0) | (rng_.chance(2, 3) ? STRETTO_SR_RC : 0);
    return stretto_send_request(read ? 2 : 1, read ? there : here, read ? here : there,
                                rng_.chance(1, 100) ? connection + 16 : connection,
                                static_cast<uint32_t>(offset), static_cast<uint32_t>(length),
                                flags);
  }

  void traffic() {
    if (rng_.chance(push_chance_, 16)) {
      in_.sr_valid = true;
      in_.sr_data = rng_.chance(1, 100) ? rng_.next() : request();
    }
    if (rng_.chance(done_chance_, 16) && !in_flight_.empty()) {
      const size_t i = rng_.below(in_flight_.size());
      in_.done_valid = true;
      in_.done_tag = in_flight_[i];
      in_.done_failed = rng_.chance(failures_, 16);
      in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (rng_.chance(1, 50)) {
      in_.done_valid = true;  // R10: not in flight, or it is complete early.
      in_.done_tag = static_cast<uint16_t>(rng_.below(1 << 12));
    }
    if (rng_.chance(1, 20)) access();
    step();
  }
  void access() {
    const auto any = [&] { return static_cast<uint16_t>(rng_.below(1 << 13) * 8); };
    const auto buffer = static_cast<unsigned>(rng_.below(kRingBuffers));
    switch (rng_.below(12)) {
      case 0: in_.reg = {true, false, REQUEST_RING_SOFTWARE_TAKE_OFFSET, rng_.next()}; break;
      case 1:
        in_.reg = {true, false, REQUEST_RING_SOFTWARE_DONE_OFFSET,
                   rng_.below(256) | rng_.below(2) << 16};
        break;
      case 2: in_.reg = {true, false, REQUEST_RING_ERROR_OFFSET, rng_.below(8)}; break;
      case 3: in_.reg = {true, false, REQUEST_RING_IRQ_ENABLE_OFFSET, rng_.below(16)}; break;
      case 4:
        in_.reg = {true, false, static_cast<uint16_t>(REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(buffer)),
                   config(buffer)};
        break;
      case 5: in_.reg = {true, false, REQUEST_RING_SC_BASE_OFFSET, rng_.next()}; break;
      case 6: in_.reg = {true, false, REQUEST_RING_REPLICA_ADDRESS_OFFSET, rng_.next()}; break;
      case 7: in_.reg = {false, true, any(), 0}; break;
      case 8: in_.reg = {false, true, static_cast<uint16_t>(0x400 + rng_.below(64) * 8), 0}; break;
      default: in_.reg = {false, true, static_cast<uint16_t>(rng_.below(32) * 8), 0}; break;
    }
  }

  std::unique_ptr<RequestRing> ring_ =
      make_request_ring(Impl::lockstep, "wide.request_ring", test::wave_probe("request_ring"));
  test::Rng rng_{72};
  RequestRingInputs in_;
  RequestRingOutputs out_;
  uint64_t cycle_ = 0, issued_ = 0;
  bool programmed_ = false;
  std::vector<uint16_t> in_flight_;
  uint64_t node_ = 0;
  uint64_t peer_[kRingConnections] = {};
  unsigned unit_ = 0;
  uint64_t units_[kRingBuffers] = {};
  unsigned push_chance_ = 8, issue_stall_ = 0, write_stall_ = 0, done_chance_ = 8;
  unsigned failures_ = 1;  // In 16ths.
};

TEST_CASE("request ring RTL and model agree on wide values") {
  WideRing ring;
  ring.run(test::coverification_cycles());
  CHECK(ring.issued() > 1000);
}

}  // namespace
}  // namespace stretto
