// SPDX-License-Identifier: Apache-2.0
// Switch: a partition of its own between GPUs (NVSwitch), or between GPUs and the root complex
// (PCIe). Every port is the end of one link, both directions; packets go from input buffers over a
// crossbar to output wires.
//
// In: a packet is announced when its head arrives and waits in the queue of (its input, its
// output): virtual output queues, so that one for a busy output does not hold those behind it for
// others. They share the input's buffer (credit_bytes of the link); its credits return when the
// packet has left through its output, so a busy output in the end stops the sender, which has one
// wire for all destinations. Out: packets of all inputs take turns, round-robin, a packet a turn.
// The one whose turn it is waits for credit of the receiver if it must; nobody passes it.
// Cut-through: a packet may leave latency_ns after its first link packet (max_payload_bytes and
// header) is in, but never so early that it would run out of bytes on the output wire. Links
// without max_payload_bytes are store-and-forward.
//
// Updates of what a GPU has asked for are added on their way to it (switch_adder.h, T3 7.4). Sums
// take turns with the inputs; what is not added pushes out the sums that hold something of its input,
// and leaves behind them.
//
// Registers (registers.md): posted writes of 8 bytes to node 0xFE, in the order of their input.
//
// Invariants
//  1 Packets of one (input, output) leave in the order of their arrival, each once, unchanged, but
//    for those that are added.
//  2 Bytes in the buffer of an input never exceed its credit_bytes.
//  3 Between packets of one output, an input waits for at most one packet of each other input.
#ifndef STRETTO_MODELS_FABRIC_SWITCH_H_
#define STRETTO_MODELS_FABRIC_SWITCH_H_

#include <systemc>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/common/component.h"
#include "models/common/partition.h"
#include "models/common/register_bank.h"
#include "models/common/spec.h"
#include "models/fabric/link_wire.h"
#include "models/fabric/switch_adder.h"
#include "models/fabric/topology.h"

namespace stretto {

struct SwitchSpec {
  uint32_t latency_ns = 150;
  uint32_t add_bytes = 0;
  uint32_t add_hold_ns = 20'000;
  uint64_t fault_skip_addition = 0;
  uint64_t fault_drop_packet = 0;
};

inline void describe(SwitchSpec& spec, ParameterSet& set) {
  set.number(
      "latency_ns", spec.latency_ns, 0, 100'000,
      "From the first packet of a burst being in to its leaving, when output and credit are free.");
  // NVLink SHARP adds in the switch; nobody publishes how much of sums it holds, nor for how long.
  set.number(
      "add_bytes", spec.add_bytes, 0, 1u << 30,
      "Sums of updates that each port holds on their way to its GPU, at least 65536; 0 = the "
      "switch adds nothing (topology switch).");
  set.number("add_hold_ns", spec.add_hold_ns, 1, 1'000'000'000,
             "A sum that waits for parts for so long leaves without them.");
  set.number("fault.skip_addition", spec.fault_skip_addition, 0, ~uint64_t{0},
             "Fault injection: the part of this number (from 1) of each port is counted and not "
             "added; 0 = none.");
  set.number(
      "fault.drop_packet", spec.fault_drop_packet, 0, ~uint64_t{0},
      "Fault injection: the packet of this number (from 1) is lost in the switch; 0 = none.");
}

class Switch final : public sc_core::sc_module, public Component, private EventHandler {
 public:
  struct Counters {
    uint64_t packets_in = 0;
    uint64_t bytes_in = 0;  // Payload.
    uint64_t packets_out = 0;
    uint64_t bytes_out = 0;
    uint64_t credit_returns = 0;
    uint64_t buffered_high_water = 0;  // Of the input.
    uint64_t register_writes = 0;      // Packets for the switch itself,
    uint64_t register_bytes = 0;
    Time credit_stall = 0;  // The output's turn was a packet without credit.
  };

  // Attaches its ports to the partition.
  Switch(sc_core::sc_module_name name, const SwitchSpec& spec, const RouterSpec& wiring,
         Partition& partition);

  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

  size_t ports() const { return ports_.size(); }
  const PortSpec& port(size_t index) const { return ports_[index]->spec; }
  const Counters& counters(size_t index) const { return ports_[index]->counters; }
  const LinkWire& wire(size_t index) const { return ports_[index]->wire; }
  const SwitchAdder& adder(size_t index) const { return ports_[index]->adder; }
  // Payload that came in and did not go out: what sums save, and registers.
  uint64_t bytes_kept() const;

 private:
  static constexpr uint8_t kNoPort = 0xFF;

  struct Waiting {
    Packet packet;
    Time ready;  // Earliest time to leave, or to be added.
    bool adds;   // It is a part of a sum.
  };
  struct Port final : PacketSink {
    Port(Switch& owner, const PortSpec& spec, uint8_t index, size_t ports,
         const SwitchSpec& of_switch);
    void receive(Packet&& packet) override { owner.receive(index, std::move(packet)); }

    Switch& owner;
    const PortSpec spec;
    const uint8_t index;
    // In.
    std::vector<std::deque<Waiting>> queues;  // By output.
    uint64_t buffered = 0;
    // Out.
    LinkWire wire;
    uint64_t credits;
    SwitchAdder adder;
    bool busy = false;
    uint8_t from = 0;  // Input and size of the packet on the wire; behind the inputs: a sum.
    uint64_t sending = 0;
    uint8_t next = 0;  // Input that has the next turn.
    Time stalled_since = kNever;
    Counters counters;
  };

  void receive(uint8_t in, Packet&& packet);
  Time ready_at(const Port& in, const Port& out, const Packet& packet) const;
  void write_register(Port& in, const Packet& packet);
  void free_input(Port& in, uint64_t bytes);
  void add_parts(Port& out);
  void arbitrate(Port& out);
  bool has_turn(Port& out, size_t source, Time now);
  void transmit(Port& out, size_t source);
  void left(Port& out);
  void return_credit(Port& in, uint64_t bytes);
  void on_event(uint64_t tag) override;

  const SwitchSpec spec_;
  Partition& partition_;
  PartitionServices& services_;
  std::vector<std::unique_ptr<Port>> ports_;
  RegisterBank registers_;
  std::array<uint8_t, 256> routes_;
  uint64_t packets_ = 0;
  uint64_t unroutable_ = 0;
};

// Laws between the switch, which `where` names, and the ports that are wired to it: what one end of a
// link sent, the other received.
class LinkPort;
void audit_switch(const Switch& crossbar, const std::string& where,
                  const std::vector<const LinkPort*>& ends, AuditSink& sink);

}  // namespace stretto

#endif  // STRETTO_MODELS_FABRIC_SWITCH_H_
