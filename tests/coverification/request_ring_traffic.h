// SPDX-License-Identifier: Apache-2.0
// Random traffic for the request ring in its bench: random tables, requests that are mostly good,
// an engine and a memory that are slow at times, register accesses in between. Lockstep and
// contract test run the same.
#ifndef STRETTO_TESTS_COVERIFICATION_REQUEST_RING_TRAFFIC_H_
#define STRETTO_TESTS_COVERIFICATION_REQUEST_RING_TRAFFIC_H_

#include <array>

#include "tests/coverification/request_ring_bench.h"

namespace stretto {

inline constexpr uint64_t kRingOwnNode = 3, kRingPeerNode = 4;
inline constexpr uint32_t kShortUnits = 100;  // Units of the short buffers.
constexpr uint64_t ring_address(uint64_t node, uint64_t offset) { return node << 40 | offset; }

struct RingTraffic {
  RingBench& r;
  test::Rng& rng = r.rng;
  unsigned push_chance = 8;
  bool registers = true;  // Accessed under way.
  unsigned tables = 0;    // Written so far.

  RingBench::Buffer some_buffer() {
    const unsigned unit = rng.chance(1, 40) ? static_cast<unsigned>(rng.below(32))
                                            : static_cast<unsigned>(rng.below(3)) * 7;
    return {!rng.chance(1, 8),
            !rng.chance(1, 16),
            !rng.chance(1, 16),
            ring_address(rng.chance(1, 2) ? kRingOwnNode : kRingPeerNode + rng.below(2),
                         rng.below(1 << 30)),
            unit,
            rng.below(200)};
  }
  void retable() {
    for (unsigned id = 0; id < 24; ++id) r.set_buffer(id, some_buffer());
    constexpr unsigned kUnit = 17;
    const auto fixed = [&](unsigned id, bool is_readable, bool is_writable, uint64_t node,
                           uint64_t units) {
      r.set_buffer(id, {true, is_readable, is_writable, ring_address(node, 0), kUnit, units});
    };
    fixed(255, true, true, kRingPeerNode, 1u << 17);
    fixed(254, true, true, kRingOwnNode, 1u << 17);
    fixed(253, false, true, kRingOwnNode, 1u << 17);
    fixed(252, true, false, kRingPeerNode, 1u << 17);
    fixed(251, true, true, kRingOwnNode, kShortUnits);
    fixed(250, true, true, kRingPeerNode, kShortUnits);
    r.write(REQUEST_RING_SC_BASE_OFFSET, ring_address(kRingOwnNode, rng.below(1 << 20) * 8));
    r.write(REQUEST_RING_REPLICA_ADDRESS_OFFSET,
            ring_address(kRingOwnNode, rng.below(1 << 20) * 8));
    r.write(REQUEST_RING_NODE_OFFSET, kRingOwnNode);
    r.control(true, rng.chance(1, 4), rng.chance(3, 4), static_cast<unsigned>(rng.below(40)));
    if (tables++ % 4 == 0) fill();
    for (unsigned id = 0; id < kRingConnections; ++id) {
      r.set_connection(id, {!rng.chance(1, 8), static_cast<unsigned>(rng.below(12)),
                            rng.chance(1, 8) ? kRingOwnNode : kRingPeerNode + rng.below(2),
                            ring_address(kRingPeerNode, rng.below(1 << 20) * 8)});
    }
  }
  // All slots of all connections in flight, which random completions do not allow, and drained.
  void fill() {
    constexpr uint64_t kAll = kRingConnections * kRingSlots;
    for (unsigned id = 0; id < kRingConnections; ++id)
      r.set_connection(id, {true, 0, kRingPeerNode, ring_address(kRingPeerNode, id * 4096)});
    r.issue_stall = r.write_stall = 0;
    r.engine_stopped = true;
    for (unsigned i = 0; i < kAll; ++i)
      r.push(stretto_send_request(STRETTO_SR_WRITE, 254, 255, i % kRingConnections, i, 1,
                                  rng.chance(1, 2) ? STRETTO_SR_SC | STRETTO_SR_RC : 0));
    for (unsigned i = 0; i < 64 * kAll && r.in_flight() != kAll; ++i) r.step();
    r.steps(64);  // Software takes the last one.
    const uint64_t status = r.read(REQUEST_RING_STATUS_OFFSET);
    if (STRETTO_FIELD_GET(status, REQUEST_RING_STATUS_IN_FLIGHT) != kAll || !r.out.busy)
      throw CheckError("R4: not all slots of all connections are in flight, or status is wrong");
    ++r.seen["all connections full"];
    r.drain();
  }
  uint64_t any_request() {
    const uint64_t flags =
        (rng.chance(2, 3) ? STRETTO_SR_SC : 0) | (rng.chance(2, 3) ? STRETTO_SR_RC : 0);
    return stretto_send_request(
               rng.chance(1, 12) ? static_cast<uint32_t>(rng.below(4)) : 1 + rng.chance(1, 5),
               static_cast<uint32_t>(rng.below(26)), static_cast<uint32_t>(rng.below(26)),
               static_cast<uint32_t>(rng.below(rng.chance(1, 30) ? 128 : 16)),
               static_cast<uint32_t>(rng.chance(1, 20) ? rng.below(1 << 17) : rng.below(100)),
               static_cast<uint32_t>(rng.chance(1, 20) ? rng.below(1 << 17) : rng.below(60)),
               flags) |
           (rng.chance(1, 100) ? rng.next() & uint64_t{7} << 61 : 0);
  }
  // Good but for its buffers: 253 may not be read, 252 not be written; 251 and 250 are too short.
  uint64_t wrong_buffer() {
    constexpr std::array<std::array<uint32_t, 2>, 4> kPairs = {
        {{253, 255}, {254, 252}, {251, 255}, {254, 250}}};
    const auto [source, destination] = kPairs[rng.below(kPairs.size())];
    return stretto_send_request(STRETTO_SR_WRITE, source, destination,
                                static_cast<uint32_t>(rng.below(kRingConnections)),
                                static_cast<uint32_t>(rng.below(kShortUnits)), kShortUnits + 1, 0);
  }
  // Mostly good ones: random ones are tried until one is.
  uint64_t request() {
    uint64_t sr = any_request();
    if (rng.chance(1, 8)) return sr;
    if (rng.chance(1, 50)) return wrong_buffer();
    for (int i = 0; i < 200 && r.malformed(sr) != 0; ++i) sr = any_request();
    if (r.malformed(sr) != 0)
      sr = stretto_send_request(1, 254, 255, 0, static_cast<uint32_t>(rng.below(1000)), 70, 0);
    // Good but for one thing.
    if (rng.chance(1, 50)) sr |= uint64_t{1 + rng.below(7)} << 61;
    if (rng.chance(1, 50)) sr &= ~(uint64_t{0x1ffff} << 25);
    return sr;
  }
  void knobs() {
    push_chance = rng.chance(1, 6) ? 16 : static_cast<unsigned>(rng.below(12));
    r.issue_stall = rng.chance(1, 2) ? 0 : static_cast<unsigned>(rng.below(16));
    r.write_stall = rng.chance(1, 2) ? 0 : static_cast<unsigned>(rng.below(16));
    r.latency_max = rng.chance(1, 3) ? 200 : 1 + rng.below(30);
    r.failures = rng.chance(1, 4) ? 8 : 0;
    r.engine_stopped = rng.chance(1, 10);
  }
  void register_access() {
    if (rng.chance(1, 2)) {
      const uint64_t where[] = {rng.below(32) * 8, 0x400 + rng.below(64) * 8,
                                0x1000 + rng.below(512) * 8, rng.below(1 << 13) * 8};
      r.in.reg = {false, true, static_cast<uint16_t>(where[rng.below(4)]), 0};
      return;
    }
    switch (rng.below(8)) {
      case 0: {
        const unsigned id = static_cast<unsigned>(rng.below(24));
        r.in.reg = {true, false, static_cast<uint16_t>(REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(id)),
                    RingBench::config(some_buffer())};
        break;
      }
      case 1: r.in.reg = {true, false, REQUEST_RING_ERROR_OFFSET, rng.below(8)}; break;
      case 2: r.in.reg = {true, false, REQUEST_RING_IRQ_ENABLE_OFFSET, rng.below(16)}; break;
      case 3:
        r.in.reg = {true, false, REQUEST_RING_CONTROL_OFFSET,
                    uint64_t{!rng.chance(1, 6)} | rng.below(4) << 1 | rng.below(64) << 8};
        break;
      case 4: r.in.reg = {true, false, REQUEST_RING_COUNTER_CLEAR_OFFSET, 0}; break;
      case 5: r.in.reg = {true, false, REQUEST_RING_SOFTWARE_TAKE_OFFSET, 0}; break;
      case 6: r.in.reg = {true, false, REQUEST_RING_CLEAR_OFFSET, 0}; break;
      default: r.in.reg = {true, false, REQUEST_RING_LIMITS_OFFSET, rng.next()}; break;
    }
  }
  void step() {
    if (rng.chance(1, 400)) knobs();
    if (rng.chance(push_chance, 16)) {
      r.in.sr_valid = true;
      r.in.sr_data = request();
    }
    if (registers && rng.chance(1, 60)) register_access();
    r.step();
  }
};

}  // namespace stretto

#endif  // STRETTO_TESTS_COVERIFICATION_REQUEST_RING_TRAFFIC_H_
