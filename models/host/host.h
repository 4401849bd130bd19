// SPDX-License-Identifier: Apache-2.0
// Host: the CPU side of the machine. Host memory, cores that run host programs, and one PCIe link a GPU.
//
// A host program is an ordinary function on a HostCore (an SC_THREAD); it may block in any call. Time passes for it only in
// calls: posted writes, waits, stores and charged CPU work. The host lives in SystemC time; packets for it are due at
// their arrival.
//
// Invariants
//  1 Posted writes of one core to one GPU arrive in the order of the calls (the receiver lets no flag pass, see link_port.h).
//  2 Packets for the host take effect in the order (arrival, source node, sequence).
//  3 When the last program has returned the conductor is told to finish; an exception of a program ends the run.
//  4 A wait polls every poll_ns from its call on; between polls that cannot succeed it costs no host time.
#ifndef STRETTO_MODELS_HOST_HOST_H_
#define STRETTO_MODELS_HOST_HOST_H_

#include <systemc>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/common/component.h"
#include "models/common/memory_image.h"
#include "models/common/partition.h"
#include "models/common/spec.h"
#include "models/fabric/router.h"
#include "models/fabric/serialiser.h"
#include "models/fabric/topology.h"

namespace stretto {

struct HostSpec {
  uint32_t cores = 64;
  uint32_t poll_ns = 100;
  uint32_t write_ns = 25;
  uint32_t store_ns = 5;
  uint32_t lock_ns = 25;
  uint32_t wake_ns = 5'000;
};

inline void describe(HostSpec& spec, ParameterSet& set) {
  set.number("cores", spec.cores, 1, 1024, "Cores; each host program has one of its own.");
  set.number("poll_ns", spec.poll_ns, 1, 1'000'000, "One poll of a word of host memory that a device has written.");
  set.number("write_ns", spec.write_ns, 0, 1'000'000, "CPU time of a posted write, for each 64 B begun.");
  set.number("store_ns", spec.store_ns, 0, 1'000'000, "CPU time of a store to host memory.");
  set.number("lock_ns", spec.lock_ns, 0, 1'000'000, "CPU time of locking or unlocking a mutex.");
  set.number("wake_ns", spec.wake_ns, 0, 1'000'000'000,
             "From handing a mutex to a thread that sleeps for it until the thread runs.");
}

class Host;

// What a host program sees. Addresses have 48 bits; host memory is node 0xFF.
class HostCore final : public sc_core::sc_module {
 public:
  enum class Condition { not_equal, at_least };  // Unsigned.
  using Program = std::function<void(HostCore&)>;

  HostCore(sc_core::sc_module_name name, Host& host, Program program);

  // Posted write to GPU memory or a doorbell. Returns when it is on its way; blocks while PCIe has no room for it.
  // Throws UserError if the address is not in a GPU of the machine.
  void write(uint64_t address, const void* data, uint64_t bytes);
  // Polls the 64-bit word of host memory until it meets the condition; returns it.
  uint64_t wait_word(uint64_t address, Condition condition, uint64_t value);
  // 64-bit words of host memory.
  void store(uint64_t address, uint64_t value);
  uint64_t load(uint64_t address);
  // Computes for so long.
  void charge_ns(uint64_t nanoseconds);
  Time now() const;

  // Mutexes, named by numbers. A thread that finds one taken sleeps; unlocking hands it to the one
  // that has waited longest, which runs wake_ns later. Unlocking what one does not hold: CheckError.
  void lock(uint64_t mutex);
  void unlock(uint64_t mutex);
  // Condition variable of the mutex, which the caller holds: sleeps until another thread notifies,
  // then waits for the mutex like any other. notify() wakes the one that sleeps longest, if any does.
  void sleep(uint64_t mutex);
  void notify(uint64_t mutex);

 private:
  friend class Host;
  void main();
  void pass(Time time);  // wait() of SystemC, counted.
  std::string waiting_on() const;

  Host& host_;
  const Program program_;
  Digest digest_;
  sc_core::sc_event changed_;    // Of the word it waits for.
  uint64_t waits_for_ = 0;       // Address of the word; 0 = does not wait.
  Time waits_since_ = 0;
  bool blocked_on_pcie_ = false;
  sc_core::sc_event handed_;     // The mutex it waits for.
  const char* mutex_wait_ = nullptr;  // What it does with it, for waiting_on().
  uint64_t mutex_ = 0;
  bool done_ = false;
};

class Host final : public sc_core::sc_module, public HostSide, public Component {
 public:
  // `gpus` have nodes 1 .. gpus; their PCIe port is `pcie_port(g)`, from their RouterSpec.
  Host(sc_core::sc_module_name name, const HostSpec& spec, const LinkSpec& pcie, const std::vector<uint8_t>& pcie_ports,
       Conductor& conductor);
  ~Host() override;

  // Before the run. Programs start at time 0. Throws UserError if there is no core left.
  void add_program(const std::string& name, HostCore::Program program);

  MemoryImage& memory() { return memory_; }
  // Of what each program wrote and of what came in; call once. Programs that act at one time act side by side: SystemC orders
  // their processes at will, so the order between programs is no part of the digest.
  std::string digest_hex();

  void deliver(Packet&& packet) override;
  uint64_t progress() const override { return progress_; }
  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

  uint64_t bytes_sent(unsigned gpu) const { return links_[gpu]->bytes_sent; }
  uint64_t bytes_received(unsigned gpu) const { return links_[gpu]->bytes_received; }

 private:
  friend class HostCore;
  struct Link {
    Link(const LinkSpec& spec, uint8_t port) : wire(spec.bandwidth_mb_s), credits(spec.credit_bytes), peer_port(port) {}
    Serialiser wire;
    uint64_t credits;
    const uint8_t peer_port;
    sc_core::sc_event credit_came;
    uint64_t packets_sent = 0;
    uint64_t bytes_sent = 0;
    uint64_t wire_bytes = 0;
    uint64_t packets_received = 0;
    uint64_t bytes_received = 0;
    uint64_t credit_returns = 0;
  };
  struct Mutex {
    HostCore* owner = nullptr;
    std::deque<HostCore*> waiting;   // For the mutex, in order.
    std::deque<HostCore*> sleeping;  // For a notification, in order.
  };
  void hand_on(Mutex& mutex);
  void due();
  void receive(Packet&& packet);
  void changed(uint64_t offset, uint64_t bytes);
  void program_ended();
  // The link to the GPU that holds [address, address + bytes), or UserError.
  Link& link_to(uint64_t address, uint64_t bytes);

  const HostSpec spec_;
  const LinkSpec pcie_;
  Conductor& conductor_;
  MemoryImage memory_;
  Digest digest_;  // Of what came in.
  std::vector<std::unique_ptr<Link>> links_;  // By GPU.
  std::vector<std::unique_ptr<HostCore>> cores_;
  std::vector<Packet> arriving_;  // Heap, earliest first.
  std::map<uint64_t, Mutex> mutexes_;
  uint64_t handed_on_ = 0;
  sc_core::sc_event arrival_;
  unsigned running_ = 0;          // Programs.
  uint64_t progress_ = 0;
  uint64_t polls_ = 0;
  uint64_t writes_ = 0;
  uint64_t stores_ = 0;
  Time charged_ = 0;
  Time waited_ = 0;               // Polling.
  Time blocked_ = 0;              // On PCIe.
};

// Laws between the host's and the GPUs' ends of PCIe. `routers` in the order of GPUs.
void audit_pcie(const Host& host, const std::vector<const Router*>& routers, AuditSink& sink);

}  // namespace stretto

#endif  // STRETTO_MODELS_HOST_HOST_H_
