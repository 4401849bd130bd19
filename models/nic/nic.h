// SPDX-License-Identifier: Apache-2.0
// Nic: the network interface of a server. Software announces work entries by doorbells; the NIC reads
// them and their data over PCIe, talks to other NICs in packets, places what arrives, and writes
// completions. ComP-Net, 5.1; formats: sw/include/formats/nic.h.
//
// Sockets: `bus.socket` to the router of its PCIe link; `aperture`, 8-byte writes from there, offset
// in the doorbell aperture; `nothing`, where a GPU has its memory.
//
// Invariants
//  1 Data of an operation are placed once, packets of a queue pair in their order.
//  2 What arrives keeps its place, and so the credit of its link, until PCIe has taken it.
//  3 Receiving never waits for sending.
#ifndef STRETTO_MODELS_NIC_NIC_H_
#define STRETTO_MODELS_NIC_NIC_H_

#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/common/component.h"
#include "models/common/partition.h"
#include "models/common/register_bank.h"
#include "models/fabric/link_port.h"
#include "models/nic/atomic_unit.h"
#include "models/nic/loopback.h"
#include "models/nic/nic_context.h"
#include "models/nic/requester.h"
#include "models/nic/responder.h"
#include "models/nic/transmitter.h"

namespace stretto {

class Nic final : public sc_core::sc_module, public Component, private LinkPortOwner {
 public:
  tlm_utils::simple_target_socket_optional<Nic> aperture;
  tlm_utils::simple_target_socket_optional<Nic, 32, StrettoProtocol> nothing;
  BusMaster bus;

  // `network`: its link, at port `port` of the partition; the ports before it are PCIe's.
  Nic(sc_core::sc_module_name name, const NicSpec& spec, const PortSpec& network, unsigned port,
      Partition& partition);
  ~Nic() override;

  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

  // Before the run.
  void set_watch(NicWatch watch) { context_.watch = std::move(watch); }

  const NicCounters& counters() const { return counters_; }
  const LinkPort& network() const { return link_; }
  uint64_t atomics_under_way() const { return atomics_.under_way(); }

 private:
  struct Pair {
    explicit Pair(NicContext& context) : requester(context, status), responder(context, status) {}
    QueuePairStatus status;
    Requester requester;
    Responder responder;
  };

  void describe_registers();
  void write(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  void ring(unsigned page, uint64_t value);
  void configure_pair(uint32_t index, uint64_t config);
  Pair* ready_pair(uint16_t number, unsigned page);
  void on_region_free(uint32_t region, uint8_t generation, uint64_t address);
  tlm::tlm_sync_enum refuse(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                            sc_core::sc_time& delay);
  void look_at(NicMessage&& message, uint64_t late_ns, std::function<void()> taken);
  void dispatch(NicMessage&& message, std::function<void()> taken);

  void write_row(unsigned port, uint64_t incoming, const Packet& packet, uint32_t row) override;
  void read_row(unsigned, uint64_t, Packet&, uint32_t) override {
  }  // Nobody reads over the network.
  bool perform(unsigned, uint64_t, Packet&) override { return false; }  // Messages ask for atomics.
  void completed(const Packet&) override {}
  void ring_doorbell(uint64_t, uint64_t, uint8_t) override {}
  void answer(uint32_t request) override { transmitter_.taken(request); }
  void rewrite(unsigned, Packet&& packet, std::vector<Packet>& out) override {
    out.push_back(std::move(packet));
  }

  const NicSpec spec_;
  PartitionServices& services_;
  NicCounters counters_;
  LaterCalls later_;
  MemoryRegions regions_;
  CompletionQueues completions_;
  AtomicUnit atomics_;
  NicContext context_;
  Transmitter transmitter_;
  LinkPort link_;
  Loopback loopback_;
  RegisterBank registers_;
  std::array<std::unique_ptr<Pair>, NIC_PAIR_CONFIG_COUNT> pairs_;  // Null: never configured.
  uint64_t arrived_ = 0;  // Packets of the network, also those that a fault loses.
  uint64_t refused_ = 0;
};

// Laws between the NICs of one network, all of them.
void audit_network(const std::vector<const Nic*>& nics, AuditSink& sink);

}  // namespace stretto

#endif  // STRETTO_MODELS_NIC_NIC_H_
