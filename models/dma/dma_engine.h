// SPDX-License-Identifier: Apache-2.0
// DmaEngine: sends output tiles to a peer when the Tracker says that they are complete, and runs
// fills and copies that firmware queues (T3 4.2.2, 4.3; T3-DMA-01..08).
//
// A trigger marks its wavefront tile in the command table. What is ready is read once from the
// local memory, row by row, communication stream, and handed to the link as one two-dimensional
// write or update with the tile's wg id and wf id for the receiver's Tracker. Reduction happens at
// the receiver's memory.
//
// Invariants
//  1 A tile is sent exactly once a mark; a descriptor is executed exactly once a push.
//  2 With read_pacing = link, at most in_flight_limit bytes (but at least one tile) of one
//    destination are being read or wait for the link.
//  3 Descriptors start in order; queue_completed rises in order.
//  4 Direct transfers (GD-DMA-06) share the limits of queued copies; each is reported once, in any
//    order. Their source may be at a peer: it is read over the link.
//  5 A region's done bit is set when all its tiles are triggered and, if it transfers, taken by the
//    link.
// Timing: a trigger costs nothing (T3-DMA-07); reads of a tile are issued together; memory and link
// give the rest.
#ifndef STRETTO_MODELS_DMA_DMA_ENGINE_H_
#define STRETTO_MODELS_DMA_DMA_ENGINE_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/common/component.h"
#include "models/common/interrupt_line.h"
#include "models/common/payload_pool.h"
#include "models/common/register_bank.h"
#include "models/common/trigger_sink.h"
#include "models/dma/command_table.h"
#include "models/dma/dma_spec.h"

namespace stretto {

// A copy that other hardware starts, and whom to tell when it is complete: what it writes here is
// in memory, what it sends has been taken by the link. The call comes at that time.
struct DirectTransfer {
  uint16_t tag = 0;
  uint64_t source = 0;       // 48-bit.
  uint64_t destination = 0;  // 48-bit.
  uint64_t bytes = 0;
  uint8_t account = STRETTO_ACCOUNT_OTHER;
};
class DirectTransferClient {
 public:
  virtual ~DirectTransferClient() = default;
  virtual void transfer_done(uint16_t tag, bool failed) = 0;
};

class DmaEngine final : public sc_core::sc_module,
                        public Component,
                        public TriggerSink,
                        private EventHandler {
 public:
  tlm_utils::simple_target_socket_optional<RegisterBank> csr;  // Registers of dma.yaml.
  tlm_utils::simple_initiator_socket_optional<DmaEngine, 32, StrettoProtocol>
      memory;  // Peer side of the HBM.
  tlm_utils::simple_initiator_socket_optional<DmaEngine, 32, StrettoProtocol> egress;  // Router.

  DmaEngine(sc_core::sc_module_name name, const DmaSpec& spec, PartitionServices& services);

  void set_interrupts(InterruptLine& lines) { interrupts_ = &lines; }
  void set_direct_client(DirectTransferClient& client) { direct_client_ = &client; }
  void on_trigger(Time at, uint16_t wg_id, uint8_t wf_id, uint64_t address) override;
  // Starts a copy from or to this GPU's memory, or neither. Direct transfers overlap and complete
  // in any order; what cannot be done fails.
  void start_direct(const DirectTransfer& transfer);

  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

 private:
  static constexpr unsigned kQueueEntries = 16;

  enum class Stage : uint8_t { read, write };
  // A tile or a piece of a copy between its first read and the answer to its write.
  struct Transfer {
    TileTransfer tile;  // A piece of a copy is a tile of one row.
    bool of_copy = false;
    bool remote = false;
    bool tracked = false;
    bool multiply = false;
    bool failed = false;
    Stage stage = Stage::read;
    Operation operation = Operation::write;
    ElementType element = ElementType::fp16;
    uint8_t account = STRETTO_ACCOUNT_OTHER;
    uint64_t descriptor = 0;
    uint32_t answers_left = 0;
    uint32_t bytes = 0;
    Time last = 0;  // Latest answer so far.
    Time begun = 0;
    uint64_t flow = 0;          // Of the timeline.
    std::vector<uint8_t> data;  // Kept from use to use.
  };
  // What goes to one node.
  struct Flow {
    std::deque<TileTransfer> ready;
    uint64_t in_flight = 0;
  };
  struct Descriptor {
    uint64_t id = 0;
    bool copy = false;
    bool direct = false;
    bool failed = false;  // Of a direct transfer.
    bool interrupt = false;
    uint16_t tag = 0;
    Operation operation = Operation::write;
    ElementType element = ElementType::fp16;
    uint8_t account = STRETTO_ACCOUNT_OTHER;
    uint64_t source = 0;
    uint64_t destination = 0;
    uint64_t bytes = 0;
    uint64_t pattern = 0;
    Time not_before = 0;
    uint64_t issued = 0;     // Bytes that were begun.
    uint64_t completed = 0;  // Bytes that are done.
  };

  // Registers.
  void describe_registers();
  void on_write_region_control(unsigned region, uint64_t value);
  void on_write_queue_push(uint64_t value, Time at);
  void raise_error(uint64_t bit, uint64_t info);
  void region_done(unsigned region);
  void update();

  // Stages of a transfer, in order.
  void queue_tiles(Time at);
  void trace_trigger(Time at);
  // Flows of the timeline: of this GPU, gapless.
  uint64_t next_flow() { return (uint64_t{services_.gpu} + 1) << 40 | ++flows_traced_; }
  void pump();
  void start_tiles(Flow& flow);
  bool start_piece(Descriptor& descriptor);
  void issue_fill(Descriptor& descriptor, uint64_t bytes);
  uint32_t make_transfer(const TileTransfer& tile);
  void issue_reads(uint32_t index);
  void issue_write(uint32_t index);
  void complete(uint32_t index);
  void complete_bytes(uint64_t descriptor, uint64_t bytes);
  void retire_descriptors();
  void retire_direct();
  tlm::tlm_sync_enum on_memory_response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay);
  tlm::tlm_sync_enum on_egress_response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay);
  void answered(uint32_t index, bool ok, Time at);
  void on_event(uint64_t tag) override;

  PooledPayload& make_payload(Operation operation, uint64_t address, uint8_t* data, uint32_t bytes,
                              uint8_t account, uint64_t cookie);
  Flow& flow_to(uint64_t address);
  bool is_local(uint64_t address) const;
  bool link_paced() const;

  const DmaSpec spec_;
  PartitionServices& services_;
  const std::string track_;  // Of the timeline: "gpu0/".
  uint64_t flows_traced_ = 0;
  const uint8_t node_;
  InterruptLine* interrupts_ = nullptr;
  RegisterBank registers_;
  CommandTable table_;
  PayloadPool pool_;
  std::array<std::unique_ptr<Flow>, 256> flows_;  // By node.
  std::vector<uint8_t> flow_nodes_;  // Of the flows there are, in the order of first use.
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<uint32_t> free_transfers_;
  std::vector<TileTransfer> scratch_;
  std::deque<Descriptor> queue_;
  std::vector<Descriptor> direct_;  // In the order of their start.
  uint64_t direct_started_ = 0;
  DirectTransferClient* direct_client_ = nullptr;
  uint64_t pushed_ = 0;
  uint64_t retired_ = 0;            // Id of the last complete descriptor.
  uint64_t local_outstanding_ = 0;  // Bytes of fills and local copies under way.

  struct Counters {
    uint64_t triggers = 0;
    uint64_t mapped_tiles = 0;
    uint64_t mapped_transfers = 0;
    uint64_t tiles_sent = 0;
    uint64_t bytes_read = 0;
    uint64_t bytes_sent = 0;
    uint64_t bytes_filled = 0;
    uint64_t bytes_copied = 0;  // Written to the local memory by copies.
    uint64_t bytes_failed = 0;
    uint64_t wrong_addresses = 0;
    uint64_t ready_high_water = 0;
    uint64_t in_flight_high_water = 0;
    Time transfer_time = 0;
  } counters_;
  uint64_t ready_tiles_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_DMA_DMA_ENGINE_H_
