// SPDX-License-Identifier: Apache-2.0
// Cycle-exact reference model of the request ring (rtl/request_ring/request_ring.sv); rules R1..R10
// are those of rtl/request_ring/README.md.
//
// One object per GPU. Every member is a flip-flop or memory of the RTL; a step computes everything
// from the state before the edge. Memories of the RTL that reset leaves alone are cleared here:
// nothing reads them before they are written.
#ifndef STRETTO_MODELS_REFERENCE_REQUEST_RING_MODEL_H_
#define STRETTO_MODELS_REFERENCE_REQUEST_RING_MODEL_H_

#include <array>

#include "models/reference/request_ring_if.h"
#include "sw/include/regs/request_ring_file.h"

namespace stretto {

class RequestRingModel final : public RequestRing {
 public:
  void reset() override { *this = RequestRingModel(); }
  RequestRingOutputs step(const RequestRingInputs& in) override;
  std::optional<RequestRingSnapshot> snapshot() const override {
    return RequestRingSnapshot{static_cast<uint16_t>(level_), static_cast<uint16_t>(in_flight_)};
  }

 private:
  struct Buffer {
    uint64_t base = 0;
    RequestRingRegisters::BufferConfig config;
  };
  struct Slot {
    bool taken = false;
    bool done = false;
    bool failed = false;
    bool sc = false;
    bool rc = false;
    uint8_t source = 0;
    uint8_t destination = 0;
  };
  struct Connection {
    RequestRingRegisters::ConnectionConfig config;
    uint64_t rc_base = 0;
    uint8_t oldest = 0;
    uint8_t next = 0;
    uint8_t count = 0;
    uint32_t completed = 0;
    std::array<Slot, kRingSlots> slots{};
  };
  // A request beside what the tables said when it passed them.
  struct Judged {
    uint64_t sr = 0;
    bool connection_known = false;
    uint8_t node = 0;
    Buffer source;
    Buffer destination;
  };
  struct Completion {
    bool valid = false;
    unsigned connection = 0;
    unsigned slot = 0;
    bool failed = false;
  };

  uint16_t reason() const;
  bool room() const;
  int retire_connection() const;
  bool replica_due() const;
  bool busy() const;
  bool idle() const;
  Completion completion(uint64_t tag, bool failed) const;
  void write(uint16_t address, uint64_t data, bool was_busy);
  RequestRingRegisters::Hardware hardware(unsigned index) const;
  bool software() const { return registers_.control.engine; }

  RequestRingRegisters registers_;
  std::array<Buffer, kRingBuffers> buffers_{};
  std::array<Connection, kRingConnections> connections_{};

  std::array<uint64_t, kRingDepth> ring_{};
  unsigned ring_write_ = 0;
  unsigned ring_read_ = 0;
  unsigned level_ = 0;
  uint64_t tail_ = 0;
  uint64_t head_ = 0;
  uint64_t replica_sent_ = 0;

  bool s1_valid_ = false;
  uint64_t s1_ = 0;
  bool s2_valid_ = false;
  Judged s2_;
  bool issue_ = false;

  unsigned in_flight_ = 0;
  unsigned retire_turn_ = 0;
  bool sc_pending_ = false;
  bool rc_pending_ = false;
  bool replica_turn_ = false;
  uint8_t flag_source_ = 0;
  uint8_t flag_destination_ = 0;
  uint32_t flag_number_ = 0;
  uint64_t flag_rc_base_ = 0;

  uint8_t error_ = 0;
  RequestRingRegisters::Hardware counters_;  // The counters and the first error; the rest is 0.
  bool read_pending_ = false;
  uint16_t read_address_ = 0;
  RequestRingOutputs out_;  // The registered outputs.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_REFERENCE_REQUEST_RING_MODEL_H_
