// SPDX-License-Identifier: Apache-2.0
// Host: the CPU side of the machine. Host memory, cores that run host programs, and PCIe: a link a
// GPU, or one to a switch.
//
// A host program is an ordinary function on a HostCore (an SC_THREAD); it may block in any call.
// Time passes for it only in calls: posted writes, waits, stores and charged CPU work. The host
// lives in SystemC time; packets for it are due at their arrival.
//
// Invariants
//  1 Posted writes of one core to one GPU arrive in the order of the calls (the receiver lets no
//    flag pass, see link_port.h).
//  2 Packets for the host take effect in the order (arrival, source node, sequence).
//  3 When the last program has returned the conductor is told to finish; an exception of a program
//    ends the run.
//  4 Where several GPUs are behind one link, the root complex takes writes at edges of a clock of 1
//    ns: those that waited before the edge, in the order (time of the call, program). So their
//    order is not that in which SystemC runs processes.
//  5 A wait polls every poll_ns from its call on; between polls that cannot succeed it costs no
//    host time.
//  6 An atomic of a device takes effect once, when it has come in: behind all that came before it,
//    and before anything that comes later.
#ifndef STRETTO_MODELS_HOST_HOST_H_
#define STRETTO_MODELS_HOST_HOST_H_

#include <systemc>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/common/component.h"
#include "models/common/error.h"
#include "models/common/memory_image.h"
#include "models/common/partition.h"
#include "models/common/spec.h"
#include "models/fabric/link_wire.h"
#include "models/fabric/router.h"
#include "models/fabric/switch.h"
#include "models/fabric/topology.h"
#include "models/host/copy_engine.h"
#include "models/host/line_mover.h"

namespace stretto {

struct HostSpec {
  uint32_t cores = 64;
  uint32_t poll_ns = 100;
  uint32_t write_ns = 25;
  uint32_t store_ns = 5;
  uint32_t lock_ns = 25;
  uint32_t wake_ns = 5'000;
  uint32_t idle_exit_ns = 0;
  uint32_t idle_after_ns = 600'000;
  uint32_t switch_ns = 3'800;
  uint32_t slice_ns = 3'000'000;
  uint32_t root_complex_ns = 0;
  uint32_t read_ns = 90;
  uint32_t fill_buffers = 12;
  CopyEngineSpec copy_engine;
};

inline void describe(HostSpec& spec, ParameterSet& set) {
  set.number(
      "cores", spec.cores, 1, 1024,
      "Cores; each host program has one of its own, but where a job says that two share one.");
  set.number("poll_ns", spec.poll_ns, 1, 1'000'000,
             "One poll of a word of host memory that a device has written.");
  set.number("write_ns", spec.write_ns, 1, 1'000'000,
             "CPU time of a posted write, for each 64 B begun.");
  set.number("store_ns", spec.store_ns, 0, 1'000'000, "CPU time of a store to host memory.");
  set.number("lock_ns", spec.lock_ns, 0, 1'000'000, "CPU time of locking or unlocking a mutex.");
  set.number(
      "wake_ns", spec.wake_ns, 0, 1'000'000'000,
      "From handing a mutex to a thread that sleeps for it until the thread runs, if its core "
      "is idle.");
  set.number("idle_exit_ns", spec.idle_exit_ns, 0, 1'000'000'000,
             "On top of wake_ns, the way out of the state in which a core idles (Linux intel_idle, "
             "Skylake-SP: C1 2, C1E 10, C6 133 us); 0 = none, or wake_ns has it.");
  set.number(
      "idle_after_ns", spec.idle_after_ns, 0, 1'000'000'000,
      "So long a core has had nothing to run before it is in that state (target residency: C1 "
      "2, C1E 20, C6 600 us).");
  set.number("switch_ns", spec.switch_ns, 0, 1'000'000'000,
             "From one thread of a core to the next one (Li, Ding, Shen, ExpCS'07: 3.8 us).");
  set.number("slice_ns", spec.slice_ns, 1, 1'000'000'000,
             "So long a thread keeps its core from others that are ready (Linux CFS, 8 CPUs or "
             "more: sched_min_granularity, 3 ms).");
  set.number(
      "root_complex_ns", spec.root_complex_ns, 0, 100'000,
      "Root complex, each way, on top of pcie.latency_ns; 0 where that is from processor to GPU.");
  // A row miss of DDR4-2400 (tRCD 14, CL 14, burst 3 ns) and the way through mesh and controller.
  set.number("read_ns", spec.read_ns, 0, 100'000,
             "From a device's read of host memory being in to its data being ready to leave.");
  // Skylake's first cache: 12, of 64 B; Nehalem to Broadwell have 10 (Stack Overflow, question
  // 49959963). Intel's optimization manual: write-combining memory goes through them, too.
  set.number("fill_buffers", spec.fill_buffers, 1, 65'536,
             "Lines that a core has under way when it copies device memory by loads and stores.");
  set.group("copy_engine", spec.copy_engine);
}

class Host;
class HostCore;

// Is told of each write to host memory.
class HostMemoryWatcher {
 public:
  virtual ~HostMemoryWatcher() = default;
  virtual void on_host_write(uint64_t offset, uint64_t bytes) = 0;
};

// A core, which one thread has at a time.
struct Processor {
  HostCore* runs = nullptr;
  std::deque<HostCore*> ready;  // In order.
  bool preempts = false;        // Who is ready takes the core from the one that runs.
  Time idle_since = 0;
};

// What a host program sees. Addresses have 48 bits; host memory is node 0xFF.
class HostCore final : public sc_core::sc_module {
 public:
  enum class Condition { not_equal, at_least };  // Unsigned.
  using Program = std::function<void(HostCore&)>;

  // `index`: number of the program.
  HostCore(sc_core::sc_module_name name, Host& host, size_t index, Program program);

  // Posted write to GPU memory or a doorbell. Returns when it is on its way; blocks while PCIe has
  // no room for it. Throws UserError if the address is not in a GPU of the machine.
  void write(uint64_t address, const void* data, uint64_t bytes);
  // The same with bytes of host memory, which cost what the write does: the processor loads them as
  // it would load `data`.
  void write_from(uint64_t address, uint64_t host_address, uint64_t bytes);
  // Polls the 64-bit word of host memory until it meets the condition; returns it.
  uint64_t wait_word(uint64_t address, Condition condition, uint64_t value);
  // Polls several words in turn until one meets its condition, and returns the number of the first
  // that does, or their count when it is `until`. All of them are looked at in each poll. REQUIRES:
  // words, or an end.
  struct Word {
    uint64_t address;
    Condition condition;
    uint64_t value;
  };
  size_t wait_any(std::span<const Word> words, Time until);
  // 64-bit words of host memory.
  void store(uint64_t address, uint64_t value);
  // Copies bytes into host memory, at the CPU time of a write of as many.
  void store_bytes(uint64_t address, const void* data, uint64_t bytes);
  uint64_t load(uint64_t address);
  // Copies bytes out of host memory, at the CPU time of a write of as many.
  void read(uint64_t address, void* data, uint64_t bytes);
  // Computes, or sleeps, for so long.
  void charge_ns(uint64_t nanoseconds);
  void charge(Time time);
  Time now() const;

  // Copies device memory to device memory by vector loads and stores of write-combining mappings, a
  // line of 64 B each; returns when the last store has left. Stores of later calls stay behind it.
  // UserError: no device, or a link to it that the root complex does not share out (topology.h).
  // CheckError: there is no memory.
  void move(uint64_t to, uint64_t from, uint64_t bytes);

  // Has the DMA engine of the processor copy device memory to device memory, at the CPU time of two
  // writes, descriptor and doorbell; the engine writes `value` to the word of host memory at
  // `signal` when its last write has left. UserError, CheckError: as above.
  void start_copy(uint64_t to, uint64_t from, uint64_t bytes, uint64_t signal, uint64_t value);

  // For a core that is modelled by instructions (service_core.h) and charges what they take.
  // Reads 1 to 8 bytes of device memory over PCIe, behind the writes before it; waits for them.
  // CheckError: there is no memory. UserError: there is no device.
  uint64_t load_device(uint64_t address, unsigned bytes);
  // Bytes of host memory, now: after all that devices have written by now. Also for programs that
  // charge what they compute.
  void peek(uint64_t address, void* data, uint64_t bytes);
  void poke(uint64_t address, const void* data, uint64_t bytes);
  // No device changes host memory before.
  Time unchanged_until() const;
  Host& host() { return host_; }

  // Mutexes, named by numbers. A thread that finds one taken sleeps; unlocking hands it to the one
  // that has waited longest. That one runs wake_ns later if its core is idle, else it takes the
  // core from the thread there, which costs switch_ns. Unlocking what one does not hold: CheckError.
  void lock(uint64_t mutex);
  void unlock(uint64_t mutex);
  // Condition variable of the mutex, which the caller holds: sleeps until another thread notifies,
  // then waits for the mutex like any other. notify() wakes the one that sleeps longest, if any
  // does.
  void sleep(uint64_t mutex);
  void notify(uint64_t mutex);

  // Tells who watches (Host::on_code) that a code object lies at `base`. Takes no time.
  void code_loaded(uint64_t base, const void* elf, uint64_t bytes);

 private:
  friend class Host;
  void main();
  // A span of the timeline from `begin` to now, and what the program computed before it.
  void trace_wait(const char* what, Time begin);
  void leave(Packet&& packet);  // Over PCIe, in its turn; waits until it has left.
  size_t first_met(std::span<const Word> words);
  void pass(Time time);
  // Instead of SystemC's waits for a time, see Host::wake().
  void wait_until(Time at);
  void wait_until(Time at, const sc_core::sc_event& event);
  // For `time` it has done something of its own; `progress` of the machine meanwhile, or before.
  void spent(Time time, uint64_t progress);
  void met_at_once(std::span<const Word> words, size_t met);
  void block();     // Without the core, until somebody makes it ready.
  bool give_way();  // To the next thread of the core, if it is that one's turn.
  std::string waiting_on() const;
  // UserError: see move().
  void check_shared(uint64_t address, uint64_t bytes) const;

  Host& host_;
  const size_t index_;
  const Program program_;
  Digest digest_;
  sc_core::sc_event changed_;        // Of the words it waits for.
  sc_core::sc_event granted_;        // Its write has left over a shared link, or is next.
  std::span<const Word> waits_for_;  // Empty: does not wait.
  Time waits_since_ = 0;
  bool blocked_on_pcie_ = false;
  uint64_t* loads_ = nullptr;  // Where the answer to its read goes.
  bool load_failed_ = false;
  sc_core::sc_event loaded_;
  std::unique_ptr<LineMover> mover_;  // From its first move on.
  Processor* processor_ = nullptr;
  sc_core::sc_event woken_;
  Time scheduled_at_ = 0;             // It has the core since then.
  bool ready_ = false;                // For the core, which another one has.
  const char* mutex_wait_ = nullptr;  // What it does with a mutex, for waiting_on().
  uint64_t mutex_ = 0;
  bool done_ = false;
  Time traced_at_ = 0;     // The timeline is drawn up to here.
  uint64_t progress_ = 0;  // Of the machine when it last computed,
  Time computed_ = 0;      // and for how long it has since that changed,
  uint64_t calls_ = 0;     // how many times.
  uint64_t polled_ = 0;    // Word that met what it last asked for at once.
};

class Host final : public sc_core::sc_module, public HostSide, public Component {
 public:
  // `wiring`: its links and the nodes that they lead to (topology.h). `node`: of its memory; not
  // 0xFF for the processor of a card, which is a host of its own (HostGroup).
  Host(sc_core::sc_module_name name, const HostSpec& spec, const RouterSpec& wiring,
       Conductor& conductor, uint8_t node);
  Host(sc_core::sc_module_name name, const HostSpec& spec, const RouterSpec& wiring,
       Conductor& conductor)
      : Host(name, spec, wiring, conductor, kHostNode) {}
  // A link to each GPU: nodes 1 .., at their PCIe ports `pcie_ports`.
  Host(sc_core::sc_module_name name, const HostSpec& spec, const LinkSpec& pcie,
       const std::vector<uint8_t>& pcie_ports, Conductor& conductor)
      : Host(name, spec, host_direct(pcie, pcie_ports), conductor) {}
  ~Host() override;

  using CodeWatcher = std::function<void(uint64_t base, const void* elf, uint64_t bytes)>;
  void on_code(CodeWatcher watcher) { on_code_ = std::move(watcher); }
  // Where host programs draw; null: nowhere.
  void set_trace(TraceSink* trace) { trace_ = trace; }

  // Before the run. Programs start at time 0, each on a core of its own or on that of program
  // `beside`. Throws UserError if there is no core left.
  void add_program(const std::string& name, HostCore::Program program,
                   const std::string& beside = "");

  // Called when its last program has ended, instead of Conductor::finish().
  void on_end(std::function<void()> call) { on_end_ = std::move(call); }
  bool has_ended() const { return running_ == 0; }
  uint8_t node() const { return node_; }

  MemoryImage& memory() { return memory_; }
  void watch_memory(HostMemoryWatcher& watcher) { watchers_.push_back(&watcher); }
  void ignore_memory(HostMemoryWatcher& watcher) { std::erase(watchers_, &watcher); }
  // Of what each program wrote and of what came in; call once. Programs that act at one time act
  // side by side: SystemC orders their processes at will, so the order between programs is no part
  // of the digest.
  std::string digest_hex();

  void deliver(Packet&& packet) override;
  uint64_t progress() const override { return progress_; }
  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

  size_t links() const { return links_.size(); }
  const PortSpec& link(size_t index) const { return links_[index]->port; }
  uint64_t bytes_sent(size_t link) const { return links_[link]->bytes_sent; }
  uint64_t bytes_received(size_t link) const { return links_[link]->bytes_received; }
  // Payload to and from nodes other than 0xFF; of all links.
  uint64_t bytes_to_devices() const { return bytes_to_devices_; }
  uint64_t bytes_from_devices() const { return bytes_from_devices_; }

 private:
  friend class CopyEngine;
  friend class HostCore;
  friend class LineMover;
  struct Link {
    explicit Link(const PortSpec& spec)
        : port(spec),
          wire(spec.link, LinkWire::CompletionCredits::infinite),
          credits(spec.link.credit_bytes) {}
    const PortSpec port;
    LinkWire wire;
    uint64_t credits;
    sc_core::sc_event credit_came;
    // Only where the link is not shared: the programs whose writes are on their way to it, with the
    // time at which each one's CPU time is over.
    std::deque<std::pair<Time, size_t>> announced;
    void announce(Time at, size_t program);
    // Only where the link is shared: what waits for the root complex, in the order in which it takes
    // it: writes of programs, and data that devices have read.
    struct Leaving {
      Time since;
      size_t program;               // kAnswer: of none.
      Packet* packet;               // Of the program.
      std::unique_ptr<Packet> own;  // An answer to a device, or of the mover.
      LineMover* mover = nullptr;
      Packet& what() const { return own != nullptr ? *own : *packet; }
    };
    static constexpr size_t kAnswer = ~size_t{0};
    bool shared = false;
    std::deque<Leaving> leaving;
    uint64_t tags_used = 0;           // Where it is shared, of read_tags.
    std::deque<Leaving> without_tag;  // Reads that wait for one, in order.
    uint64_t reads_received = 0;
    uint64_t reads_answered = 0;
    uint64_t atomics_received = 0;
    uint64_t atomics_performed = 0;
    uint64_t atomics_answered = 0;
    uint64_t packets_sent = 0;
    uint64_t bytes_sent = 0;
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
  // A thread gets ready for its core; leaves it.
  void make_ready(HostCore& thread);
  void leave(HostCore& thread);
  // `thread` goes on at `at`: behind what arrives then, and those of one time in the order of programs. What one stores
  // when another one loads depends on nothing else; SystemC's order of one time would, on who else waits for what.
  void wake(HostCore& thread, Time at);
  void go_on();
  void due();  // What has arrived.
  void arbitrate();
  // When the link could take a piece of so many bytes; kNever: not before credit comes.
  Time room_at(const Link& link, uint64_t bytes) const;
  void send(Link& link, Digest& digest, Packet&& packet);
  void wait_turn(Link& link, Link::Leaving&& leaving);
  std::unique_ptr<LineMover> make_mover(size_t turn, const LineMover::Shape& shape, Digest& digest);
  void leave_in_turn(LineMover& mover, std::unique_ptr<Packet> packet);
  void write_word(uint64_t address, uint64_t value);
  void fail(const CheckError& error);
  void take_turn(Link& link, Link::Leaving&& first);
  void serve_read(Link& link, Packet&& packet);
  void serve_atomic(Link& link, Packet&& packet);
  void perform(Link& link, Packet& packet);
  void complete(Link& link, Packet&& packet);
  void return_credit(Link& link, const Packet& packet, uint64_t bytes);
  void answered(Link& link, Packet& packet);
  void receive(Packet&& packet);
  void changed(uint64_t offset, uint64_t bytes);
  void program_ended();
  // The link that a packet from this node of a hop came over.
  Link& link_from(uint8_t node);
  // The link to the GPU that holds [address, address + bytes), or UserError.
  Link& link_to(uint64_t address, uint64_t bytes);

  const HostSpec spec_;
  const uint8_t node_;
  Conductor& conductor_;
  MemoryImage memory_;
  Digest digest_;  // Of what came in.
  std::vector<std::unique_ptr<Link>> links_;
  std::array<uint8_t, 256> routes_;  // By node: its link.
  uint64_t nodes_ = 0;               // GPUs that have a route.
  std::vector<std::unique_ptr<HostCore>> cores_;
  std::vector<std::unique_ptr<Processor>> processors_;
  std::vector<LineMover*> movers_;  // By number.
  CopyEngine copy_engine_;
  std::vector<Packet> arriving_;             // Heap, earliest first.
  std::set<std::pair<Time, size_t>> wakes_;  // When, and whose.
  std::map<uint64_t, Mutex> mutexes_;
  uint64_t handed_on_ = 0;
  uint64_t switches_ = 0;
  std::vector<HostMemoryWatcher*> watchers_;
  sc_core::sc_event next_;  // Arrival or wake.
  sc_core::sc_event arbitration_;
  CodeWatcher on_code_;
  std::function<void()> on_end_;
  TraceSink* trace_ = nullptr;
  unsigned running_ = 0;  // Programs.
  uint64_t progress_ = 0;
  uint64_t bytes_to_devices_ = 0;
  uint64_t bytes_from_devices_ = 0;
  uint64_t polls_ = 0;
  uint64_t writes_ = 0;
  uint64_t stores_ = 0;
  uint64_t loads_sent_ = 0;
  uint64_t loads_answered_ = 0;
  Time charged_ = 0;
  Time waited_ = 0;   // Polling.
  Time moving_ = 0;   // Device memory.
  Time blocked_ = 0;  // On PCIe.
};

// Laws between the host's and the GPUs' ends of PCIe. `routers` in the order of GPUs.
void audit_pcie(const Host& host, const std::vector<const Router*>& routers, AuditSink& sink);
// The same where the host's only link ends in a switch.
void audit_pcie(const Host& host, const Switch& crossbar, AuditSink& sink);

}  // namespace stretto

#endif  // STRETTO_MODELS_HOST_HOST_H_
