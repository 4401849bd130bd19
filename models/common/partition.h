// SPDX-License-Identifier: Apache-2.0
// Partitions and the conductor that runs them window by window (models/README.md, Partitions).
//
// A partition is one GPU or a switch: a calendar, its services, an inbox and an outbox. Nothing
// inside it touches another partition or the SystemC kernel, so partitions may run in any order,
// and at once on several threads. What leaves is a Packet that arrives at least `lookahead` after
// it was sent. The conductor therefore repeats, from one SC_METHOD at SystemC time T: run every
// partition through [T, T + window), window <= lookahead; move the packets from the outboxes to the
// inboxes; sleep until the earliest event of any partition. The host lives in SystemC time itself.
//
// A GPU that is wired to switches and the host alone may run ahead of them: when they are at T +
// window, nothing can reach it for the latency of its link to them. So its windows are twice as long,
// and what it holds in the caches of the host is used for longer.
//
// Invariants
//  1 A packet is received at its arrival, before anything else of that time in its partition (the
//    inbox has source id 0); packets of one time in the order (source node, sequence).
//  2 Results depend neither on the window (<= lookahead), nor on who runs ahead, nor on the threads,
//    nor on the order of construction. So a run that ends well ends at a time that no window decides:
//    its last event plus one lookahead, and what partitions run ahead, or (a) if that is later, or
//    the end of (b) or of the drain.
//  3 An exception of a partition ends the run when all others have come to its time; of several
//    the earliest in simulated time counts, then the one of the lowest node. It leaves run() as
//    itself.
//  4 The run ends when (a) finish() was called and all calendars have run empty, at most
//    `drain_limit` later; (b) a partition called finish() and that time has passed; (c) a stop
//    was requested; (d) nothing can happen any more or nothing moves for `progress_limit`: then
//    run() throws CheckError with everybody's waiting_on(). So it does if for four times as long
//    polls over the network go on and nothing but bytes on links moves. Time in which a host program
//    computes or sleeps for long counts for neither: it ends. A host program that polls words which
//    are what it asks for counts as one that computes for short, once all others are at rest.
#ifndef STRETTO_MODELS_COMMON_PARTITION_H_
#define STRETTO_MODELS_COMMON_PARTITION_H_

#include <systemc>

#include <array>
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/common/component.h"
#include "models/common/event_queue.h"
#include "models/common/packet.h"
#include "models/common/spec.h"

namespace stretto {

inline constexpr uint8_t kHostNode = 0xFF;

struct ConductorSpec {
  uint32_t threads = 2;
  uint32_t window_ns = 0;
  uint32_t progress_limit_us = 20'000;
  uint32_t drain_limit_us = 1'000;
};

inline void describe(ConductorSpec& spec, ParameterSet& set) {
  set.number("threads", spec.threads, 1, 64,
             "Host threads that run partitions side by side; changes no result.");
  set.number(
      "window_ns", spec.window_ns, 0, 1'000'000,
      "Simulated time a partition runs ahead, at most the smallest link latency, and a GPU ahead "
      "of switches, at most its link's latency (0 = these); changes no result.");
  set.number("progress_limit_us", spec.progress_limit_us, 0, 1'000'000'000,
             "Busy simulated time without progress after which the run counts as deadlocked; of "
             "polls over the network alone four times as long; 0 = never.");
  set.number("drain_limit_us", spec.drain_limit_us, 1, 1'000'000,
             "Simulated time the machine gets to fall quiet after the host program has ended.");
}

class Conductor;
class WindowPool;

// One GPU or one switch. Construct it before the components that use its queue: the inbox has
// source id 0.
class Partition final : public sc_core::sc_module, public PacketPort {
 public:
  // `node`: of formats/address_map.h; unique in the conductor. Paths begin with the name of the
  // module that the partition is in, or with its own.
  Partition(sc_core::sc_module_name name, Conductor& conductor, uint8_t node);
  ~Partition() override;

  EventQueue& queue() { return queue_; }
  const EventQueue& queue() const { return queue_; }
  PartitionServices& services() { return services_; }
  Digest& digest() { return digest_; }
  uint8_t node() const { return node_; }

  // The sink of packets that arrive at port `link` of this node.
  void attach(uint8_t link, PacketSink& sink);
  // Registers a component for report(), audit() and waiting_on(); prefix e.g. "hbm".
  void add(std::string prefix, Component& component);
  void report(StatisticSink& sink) const;
  void audit(AuditSink& sink) const;
  std::vector<std::string> waiting_on() const;

  // Fills in source, sequence and, at the first hop, origin. REQUIRES: packet.arrival >=
  // queue().now() + lookahead.
  void send(Packet&& packet) override;
  // Calls `call(t)` at each multiple t of `period` > 0 that ends a period with events: after them and
  // before anything at t, so that what it reads depends on no window. One of them a partition.
  void on_each(Time period, std::function<void(Time at)> call);
  // From now on this partition runs ahead of those that do not. REQUIRES: only they and the host send
  // packets here, which take at least so long.
  void run_ahead(Time by_others, Time by_host);
  // Ends the run one lookahead from now (a bare-metal program wrote `tohost`), or as soon as all that
  // run ahead have come there. Call from inside the partition.
  void finish(int status);

 private:
  friend class Conductor;
  friend class WindowPool;
  class Inbox final : public EventHandler {
   public:
    explicit Inbox(Partition& owner) : EventHandler(owner.queue_), owner_(owner) {}
    void on_event(uint64_t tag) override;

   private:
    Partition& owner_;
  };
  struct Member {
    std::string prefix;
    Component* component;
  };
  void accept(Packet&& packet);  // Called between windows.
  void run_window(Time end) noexcept;
  void run_until(Time end);
  // That of its next event, unless it has failed.
  Time next_time() const { return error_ ? kNever : queue_.next_time(); }

  Conductor& conductor_;
  const uint8_t node_;
  const std::string label_;
  EventQueue queue_;
  Digest digest_;
  PartitionServices services_;
  Inbox inbox_;
  std::vector<Packet> arriving_;          // Heap, earliest first.
  std::vector<Packet> leaving_;           // Of this window.
  std::array<uint64_t, 256> sequence_{};  // Next of each destination.
  std::array<PacketSink*, 256> sinks_{};
  std::vector<Member> members_;
  std::function<void(Time at)> on_each_;
  Time each_ = 0, next_each_ = kNever;
  std::exception_ptr error_;
  bool finished_ = false;
  Time finished_at_ = 0;
  int status_ = 0;
};

// Hosts as the conductor sees them; they run in SystemC time.
class HostSide {
 public:
  virtual ~HostSide() = default;
  // A packet for node 0xFF, or another one that is no partition's; packet.arrival >= sc_time_stamp().
  // It is due at its arrival, not now.
  virtual void deliver(Packet&& packet) = 0;
  virtual uint64_t progress() const = 0;
  virtual std::vector<std::string> waiting_on() const = 0;
};

class Conductor final : public sc_core::sc_module {
 public:
  enum class Outcome {
    finished,  // finish(), or a partition's finish(): status() is its value.
    stopped,   // A stop was requested.
    quiet,     // No host, and everything has run empty with nobody waiting.
  };

  // `lookahead`: smallest latency of any link, PCIe included. REQUIRES: SystemC resolution 1 fs.
  Conductor(sc_core::sc_module_name name, const ConductorSpec& spec, Time lookahead);
  ~Conductor() override;

  void attach_host(HostSide& host) { host_ = &host; }
  // A packet of a host, from a SystemC process. REQUIRES: arrival >= sc_time_stamp() + lookahead, and
  // a source. Fills in origin and sequence.
  void post(Packet&& packet);
  // The host program has ended.
  void finish(int status = 0);
  // An exception of a host program; ends the run at once.
  void fail(std::exception_ptr error);
  // What has moved so far (component.h), all partitions and the host together.
  uint64_t progress() const;
  // A host program has computed, or polled what was there, for `time` since progress() last changed:
  // beyond the limit the run counts as deadlocked. Ends it if a stop was requested, too.
  void spent_without_progress(Time time);
  // Nothing is under way in any partition, and no host program computes for long or waits for a time.
  bool is_at_rest() const;
  // A host program begins (1) or ends (-1) to compute or to sleep for long.
  void computes(int change) { computing_ += change; }
  // A host program begins (1) or ends (-1) to wait no longer than to some time.
  void waits_for_time(int change) { waiting_for_time_ += change; }
  // Looked at once a window, and while host programs compute; set by a signal handler or a timer.
  void watch_stop(const std::atomic<bool>& flag) { stop_ = &flag; }

  // Simulates until the end of the run, see invariant 4. Call once.
  Outcome run();

  Time lookahead() const { return lookahead_; }
  int status() const { return status_; }
  // Of a run that a partition failed: the time of the event that did, whatever the window. Else where
  // SystemC's time is.
  Time ended_at() const;
  uint64_t windows() const { return windows_; }
  // Called after each window, between the partitions.
  void on_window(std::function<void()> call) { on_window_ = std::move(call); }
  // In the order of nodes.
  const std::vector<Partition*>& partitions() const { return partitions_; }

 private:
  friend class Partition;
  // Those that are run by one bound, and which of them have something to do.
  struct Group {
    std::vector<Partition*> all, active;
    bool backwards = false;
  };
  void enlist(Partition& partition);
  void lead(Partition& partition, Time by_others, Time by_host);
  void step();
  void run_window(Time now);
  void run_group(Group& group, Time busy_before, Time end);
  void exchange();
  const Partition* first_failed() const;
  bool must_stop();
  bool check_end();  // True: the run is over.
  bool beyond_limit(Time without_progress);
  bool only_polls(Time step);
  void take_finish();
  void settle();
  std::string deadlock_report(const std::string& cause) const;
  Time earliest() const;
  void pause();

  const ConductorSpec spec_;
  const Time lookahead_;
  const Time window_;
  std::vector<Partition*> partitions_;
  Group together_, ahead_;
  // How far partitions of `ahead_` may be before those of `together_`, and before SystemC's time.
  Time lead_ = 0, lead_of_host_ = kNever;
  Time latency_ahead_ = 0;  // The longest lead that somebody may have, whatever the window.
  Time behind_ = 0;         // All events before are through.
  std::array<Partition*, 256> by_node_{};
  std::array<uint64_t, 256> host_sequence_{};
  HostSide* host_ = nullptr;
  const std::atomic<bool>* stop_ = nullptr;
  std::function<void()> on_window_;
  std::unique_ptr<WindowPool> pool_;
  sc_core::sc_event wake_;
  std::exception_ptr error_;
  Time failed_at_ = kNever;  // If it is a partition's.
  bool over_ = false;
  bool stopped_ = false;
  bool finishing_ = false;
  Time drain_end_ = kNever;
  Time asked_at_ = 0;  // When the host finished.
  int status_ = 0;
  uint64_t windows_ = 0;
  // How long a count has been what it is.
  struct Standstill {
    uint64_t count = 0;
    Time time = 0;
    void look(uint64_t now, Time step) {
      time = now == count ? time + step : 0;
      count = now;
    }
  };
  Standstill nothing_moves_;
  Standstill nothing_new_;     // Progress but for bytes on links.
  Standstill nobody_polls_;    // Over the network.
  uint64_t polls_before_ = 0;  // When something new was there last.
  int computing_ = 0;          // Host programs, and
  int waiting_for_time_ = 0;   // others.
  Time checked_at_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_PARTITION_H_
