// SPDX-License-Identifier: Apache-2.0
// BusMaster: what a NIC reads and writes in its server's memories, over PCIe, and the calls that it
// makes later.
//
// Invariants
//  1 At most `reads` reads have no data yet; others wait in order.
//  2 Writes leave in the order of write(); a read leaves after the writes before it, so that its
//    data are there only when those have been issued to the same memory (models/fabric, Reads).
#ifndef STRETTO_MODELS_NIC_BUS_MASTER_H_
#define STRETTO_MODELS_NIC_BUS_MASTER_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "models/common/component.h"
#include "models/common/payload_pool.h"

namespace stretto {

// Calls functions at times of a partition.
class LaterCalls final : private EventHandler {
 public:
  explicit LaterCalls(EventQueue& queue) : EventHandler(queue), queue_(queue) {}
  Time now() const { return queue_.now(); }
  // REQUIRES: at >= now().
  void at(Time at, std::function<void()> call);

 private:
  void on_event(uint64_t tag) override;

  EventQueue& queue_;
  std::vector<std::function<void()>> calls_;
  std::vector<uint32_t> free_;
};

// What an access over PCIe is for.
enum class BusUse : uint8_t { entries, data, completions, order, atomics, release, count };

class BusMaster final : public sc_core::sc_module {
 public:
  using Bytes = std::vector<uint8_t>;
  using OnData = std::function<void(bool ok, Bytes&& data)>;
  using OnTaken = std::function<void(bool ok)>;

  tlm_utils::simple_initiator_socket_optional<BusMaster, 32, StrettoProtocol> socket;

  BusMaster(sc_core::sc_module_name name, PartitionServices& services, uint32_t reads);

  void read(BusUse use, uint64_t address, uint32_t bytes, OnData on_data);
  // `on_taken` when PCIe has taken it: it is not there yet.
  void write(BusUse use, uint64_t address, Bytes data, OnTaken on_taken = {});
  // `done` when all writes so far to the memory that holds `address` can be seen there.
  void wait_visible(uint64_t address, std::function<void(bool ok)> done);

  uint64_t under_way() const { return under_way_; }
  void report(StatisticSink& sink) const;

 private:
  struct Access {
    Bytes data;
    OnData on_data;
    OnTaken on_taken;
  };
  struct Waiting {
    BusUse use;
    uint64_t address;
    uint32_t bytes;
    OnData on_data;
  };
  void send(BusUse use, Operation operation, uint64_t address, Access access);
  void send_reads();
  tlm::tlm_sync_enum on_response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                 sc_core::sc_time& delay);

  PartitionServices& services_;
  const uint32_t reads_limit_;
  PayloadPool pool_;
  std::vector<std::unique_ptr<Access>> accesses_;  // Their data stay where they are.
  std::vector<uint32_t> free_;
  std::deque<Waiting> waiting_;
  uint32_t reads_ = 0;
  uint64_t under_way_ = 0;
  uint64_t reads_high_water_ = 0;
  std::array<uint64_t, static_cast<size_t>(BusUse::count)> read_bytes_{};
  std::array<uint64_t, static_cast<size_t>(BusUse::count)> written_bytes_{};
};

}  // namespace stretto

#endif  // STRETTO_MODELS_NIC_BUS_MASTER_H_
