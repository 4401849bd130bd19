// SPDX-License-Identifier: Apache-2.0
#include "models/common/partition.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <map>
#include <thread>
#include <utility>

#include "models/common/error.h"
#include "models/common/payload_pool.h"

namespace stretto {
namespace {

std::string in_nanoseconds(Time time) { return std::to_string(time / kNanosecond) + " ns"; }

}  // namespace

// Runs the partitions of a window on the calling thread and `threads - 1` others. A thread runs
// those it ran last time, in the opposite order (the state of the last one is in its caches), then
// takes what others have not begun.
class WindowPool {
 public:
  WindowPool(unsigned threads, size_t partitions) : threads_(threads), claimed_(partitions) {
    try {
      for (unsigned i = 1; i < threads_; ++i) workers_.emplace_back([this, i] { work(i); });
    } catch (...) {
      leave();  // The host gives no more threads.
      throw;
    }
  }
  ~WindowPool() { leave(); }

  void run(const std::vector<Partition*>& partitions, bool backwards, Time end) {
    backwards_ = backwards;
    if (threads_ == 1 || partitions.size() <= 1) {
      for (size_t i = 0; i < partitions.size(); ++i)
        partitions[turn(i, partitions.size())]->run_window(end);
      return;
    }
    partitions_ = &partitions;
    end_ = end;
    for (size_t i = 0; i < partitions.size(); ++i)
      claimed_[i].store(false, std::memory_order_relaxed);
    pending_.store(threads_ - 1, std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_release);
    epoch_.notify_all();
    take(0);
    wait_while([&] { return pending_.load(std::memory_order_acquire) != 0; },
               [&] {
                 const uint32_t seen = pending_.load(std::memory_order_acquire);
                 if (seen != 0) pending_.wait(seen, std::memory_order_acquire);
               });
  }

 private:
  void leave() {
    leaving_ = true;
    epoch_.fetch_add(1, std::memory_order_release);
    epoch_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  static constexpr int kSpins = 2'000;  // Some microseconds: less than a wake-up costs.

  template <class Condition, class Block>
  static void wait_while(Condition condition, Block block) {
    for (int i = 0; i < kSpins && condition(); ++i) {
    }
    while (condition()) block();
  }
  void work(unsigned self) {
    uint64_t seen = 0;
    for (;;) {
      wait_while([&] { return epoch_.load(std::memory_order_acquire) == seen; },
                 [&] { epoch_.wait(seen, std::memory_order_acquire); });
      ++seen;
      if (leaving_) return;
      take(self);
      if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
    }
  }
  void take(unsigned self) {
    const std::vector<Partition*>& all = *partitions_;
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t mine = turn(i, all.size());
      if (all[mine]->node() % threads_ == self) try_run(mine);
    }
    for (size_t i = 0; i < all.size(); ++i) try_run(i);
  }
  size_t turn(size_t i, size_t count) const { return backwards_ ? count - 1 - i : i; }
  void try_run(size_t i) {
    if (claimed_[i].load(std::memory_order_relaxed)) return;
    if (!claimed_[i].exchange(true, std::memory_order_acquire)) (*partitions_)[i]->run_window(end_);
  }

  const unsigned threads_;
  std::vector<std::atomic<bool>> claimed_;
  std::vector<std::thread> workers_;
  const std::vector<Partition*>* partitions_ =
      nullptr;  // Published by epoch_, like the four below.
  Time end_ = 0;
  bool backwards_ = false;
  bool leaving_ = false;
  std::atomic<uint64_t> epoch_{0};
  std::atomic<uint32_t> pending_{0};
};

// Partition

Partition::Partition(sc_core::sc_module_name name, Conductor& conductor, uint8_t node)
    : sc_module(name),
      conductor_(conductor),
      node_(node),
      label_(get_parent_object() == nullptr ? basename() : get_parent_object()->basename()),
      inbox_(*this) {
  services_.queue = &queue_;
  services_.digest = &digest_;
  services_.gpu = static_cast<uint8_t>(node - 1);
  conductor_.enlist(*this);
}

Partition::~Partition() = default;

void Partition::attach(uint8_t link, PacketSink& sink) {
  assert(sinks_[link] == nullptr);
  sinks_[link] = &sink;
}

void Partition::add(std::string prefix, Component& component) {
  members_.push_back({std::move(prefix), &component});
}

void Partition::report(StatisticSink& sink) const {
  for (const Member& member : members_) {
    sink.set_prefix(label_ + "." + member.prefix);
    member.component->report(sink);
  }
}

void Partition::audit(AuditSink& sink) const {
  for (const Member& member : members_) {
    sink.set_where(label_ + "." + member.prefix);
    member.component->audit(sink);
  }
}

std::vector<std::string> Partition::waiting_on() const {
  std::vector<std::string> lines;
  for (const Member& member : members_) {
    for (std::string& line : member.component->waiting_on()) {
      lines.push_back(label_ + "." + member.prefix + ": " + line);
    }
  }
  return lines;
}

void Partition::send(Packet&& packet) {
  assert(packet.arrival >= queue_.now() + conductor_.lookahead());
  packet.source = node_;
  if (packet.origin == 0) packet.origin = node_;
  packet.sequence = sequence_[packet.destination]++;
  leaving_.push_back(std::move(packet));
}

void Partition::run_ahead(Time by_others, Time by_host) {
  conductor_.lead(*this, by_others, by_host);
}

void Partition::finish(int status) {
  finished_ = true;
  finished_at_ = queue_.now();
  status_ = status;
}

void Partition::accept(Packet&& packet) {
  if (packet.arrival < queue_.now()) {
    throw CheckError(label_ + " is at " + in_nanoseconds(queue_.now()) +
                     " and gets a packet of node " + std::to_string(packet.source) + " for " +
                     in_nanoseconds(packet.arrival));
  }
  queue_.schedule(packet.arrival, inbox_);
  arriving_.push_back(std::move(packet));
  std::push_heap(arriving_.begin(), arriving_.end(), arrives_later);
}

void Partition::Inbox::on_event(uint64_t) {
  std::vector<Packet>& heap = owner_.arriving_;
  std::pop_heap(heap.begin(), heap.end(), arrives_later);
  Packet packet = std::move(heap.back());
  heap.pop_back();
  assert(packet.arrival == owner_.queue_.now());
  PacketSink* sink = owner_.sinks_[packet.link];
  assert(sink != nullptr);
  sink->receive(std::move(packet));
}

void Partition::run_window(Time end) noexcept {
  ++services_.windows;
  try {
    run_until(end);
  } catch (...) {
    error_ = std::current_exception();
  }
}

void Partition::run_until(Time end) {
  while (next_each_ <= end) {
    queue_.run_until(next_each_);
    if (queue_.last_event() >= next_each_ - each_) on_each_(next_each_);
    // To the period of the next event: sleep of minutes has too many.
    const Time next = std::min(queue_.next_time(), end);
    next_each_ = std::max(next_each_, next / each_ * each_) + each_;
  }
  queue_.run_until(end);
}

void Partition::on_each(Time period, std::function<void(Time at)> call) {
  assert(period > 0 && on_each_ == nullptr);
  each_ = next_each_ = period;
  on_each_ = std::move(call);
}

// Conductor

Conductor::Conductor(sc_core::sc_module_name name, const ConductorSpec& spec, Time lookahead)
    : sc_module(name),
      spec_(spec),
      lookahead_(lookahead),
      window_(spec.window_ns == 0 ? lookahead : std::min(lookahead, spec.window_ns * kNanosecond)) {
  assert(lookahead > 0);
  assert(sc_core::sc_get_time_resolution() == sc_core::sc_time(1, sc_core::SC_FS));
  SC_HAS_PROCESS(Conductor);
  SC_METHOD(step);
}

Conductor::~Conductor() = default;

void Conductor::enlist(Partition& partition) {
  assert(by_node_[partition.node()] == nullptr && partition.node() != kHostNode &&
         partition.node() != 0);
  by_node_[partition.node()] = &partition;
  partitions_.clear();
  for (Partition* each : by_node_) {
    if (each != nullptr) partitions_.push_back(each);
  }
  together_.all = partitions_;
  std::erase_if(together_.all, [this](Partition* each) {
    return std::find(ahead_.all.begin(), ahead_.all.end(), each) != ahead_.all.end();
  });
}

void Conductor::lead(Partition& partition, Time by_others, Time by_host) {
  assert(by_others >= lookahead_ && by_host >= lookahead_);
  const Time most = spec_.window_ns == 0 ? kNever : spec_.window_ns * kNanosecond;
  lead_ = std::min({ahead_.all.empty() ? kNever : lead_, by_others, most});
  lead_of_host_ = std::min(lead_of_host_, by_host);
  latency_ahead_ = std::max(latency_ahead_, by_others);
  ahead_.all.push_back(&partition);
  std::erase(together_.all, &partition);
}

void Conductor::post(Packet&& packet) {
  assert(packet.arrival >= systemc_now() + lookahead_);
  assert(by_node_[packet.destination] != nullptr);
  packet.origin = packet.source;
  packet.sequence = host_sequence_[packet.destination]++;
  by_node_[packet.destination]->accept(std::move(packet));
  wake_.notify(sc_core::SC_ZERO_TIME);
}

void Conductor::finish(int status) {
  finishing_ = true;
  status_ = status;
  asked_at_ = systemc_now();
  drain_end_ = asked_at_ + spec_.drain_limit_us * kMicrosecond;
  wake_.notify(sc_core::SC_ZERO_TIME);
}

void Conductor::fail(std::exception_ptr error) {
  if (!error_) error_ = std::move(error);
  over_ = true;
  pause();
}

// Makes sc_start() return; unlike sc_stop() it says nothing on standard output.
void Conductor::pause() { sc_core::sc_pause(); }

Time Conductor::earliest() const {
  Time earliest = kNever;
  for (const Partition* partition : partitions_)
    earliest = std::min(earliest, partition->next_time());
  return earliest;
}

void Conductor::step() {
  if (over_) return;
  const Time now = systemc_now();
  if (earliest() <= now) {
    run_window(now);
    if (!over_) over_ = check_end();
    if (!over_) exchange();
    if (on_window_) on_window_();
  } else {
    over_ = must_stop();
  }
  if (const Partition* const failed = first_failed();
      !over_ && failed != nullptr && failed->queue_.now() < earliest()) {
    error_ = failed->error_;
    failed_at_ = failed->queue_.now();
    over_ = true;
  }
  if (over_) {
    pause();
    return;
  }
  const Time start = std::min(earliest(), std::max(drain_end_, now));
  if (start == kNever) {
    next_trigger(wake_);  // Nothing left anywhere: if the host sleeps too, sc_start() returns.
  } else {
    next_trigger(delay_of(start - now), wake_);
  }
}

void Conductor::run_window(Time now) {
  const Time last = std::max(drain_end_, now + 1);
  const Time end = std::min(now + window_, last);
  run_group(together_, end, end);
  if (!ahead_.all.empty()) {
    exchange();
    const Time of_host = lead_of_host_ == kNever ? kNever : now + lead_of_host_;
    run_group(ahead_, end, std::min({end + lead_, of_host, last}));
  }
  behind_ = end;
  ++windows_;
}

// Those without an event before `busy_before` only have their time moved.
void Conductor::run_group(Group& group, Time busy_before, Time end) {
  group.active.clear();
  for (Partition* partition : group.all) {
    if (partition->next_time() < busy_before) {
      group.active.push_back(partition);
    } else if (!partition->error_ && partition->queue_.now() < busy_before) {
      partition->run_window(busy_before);
    }
  }
  if (group.active.empty()) return;
  group.backwards = !group.backwards;
  pool_->run(group.active, group.backwards, end);
}

bool Conductor::must_stop() {
  if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) {
    stopped_ = true;
    return true;
  }
  return systemc_now() >= drain_end_;
}

void Conductor::exchange() {
  for (Partition* partition : partitions_) {
    for (Packet& packet : partition->leaving_) {
      Partition* const receiver = by_node_[packet.destination];
      if (receiver != nullptr) {
        receiver->accept(std::move(packet));
      } else {
        assert(host_ != nullptr);
        host_->deliver(std::move(packet));
      }
    }
    partition->leaving_.clear();
  }
}

Time Conductor::ended_at() const { return failed_at_ == kNever ? systemc_now() : failed_at_; }

const Partition* Conductor::first_failed() const {
  const Partition* first = nullptr;
  for (const Partition* partition : partitions_) {
    if (partition->error_ && (first == nullptr || partition->queue_.now() < first->queue_.now()))
      first = partition;
  }
  return first;
}

bool Conductor::check_end() {
  if (const Partition* const first = first_failed();
      first != nullptr && first->queue_.now() < behind_) {
    if (!error_) {
      error_ = first->error_;
      failed_at_ = first->queue_.now();
    }
    return true;
  }
  take_finish();
  if (must_stop()) return true;

  // Simulated time, whatever the window; but where nobody did anything for long, somebody slept.
  constexpr Time kLongestStep = 50 * kMicrosecond;
  const Time step = computing_ != 0 ? 0 : std::min(systemc_now() - checked_at_, kLongestStep);
  checked_at_ = systemc_now();
  nothing_moves_.look(progress(), step);
  return beyond_limit(nothing_moves_.time) || only_polls(step);
}

bool Conductor::only_polls(Time step) {
  constexpr uint64_t kMany = 16;
  constexpr Time kPollLimit = 4;  // They may be what somebody measures.
  const Time limit = kPollLimit * spec_.progress_limit_us * kMicrosecond;
  uint64_t news = 0, polls = 0;
  for (const Partition* partition : partitions_) {
    news += partition->services_.progress - partition->services_.moved;
    polls += partition->services_.polls;
  }
  nothing_new_.look(news, step);
  nobody_polls_.look(polls, step);
  // Polls that have stopped are over: whoever waits then moves nothing.
  if (nobody_polls_.time > limit / kPollLimit) nothing_new_.time = 0;
  if (nothing_new_.time == 0) polls_before_ = polls;
  const uint64_t vain = polls - polls_before_;
  if (limit == 0 || nothing_new_.time < limit || vain < kMany || finishing_) return false;
  error_ = std::make_exception_ptr(CheckError(
      deadlock_report("in " + in_nanoseconds(limit) + " nothing but " + std::to_string(vain) +
                      " polls over the network that bring nothing new")));
  return true;
}

uint64_t Conductor::progress() const {
  uint64_t progress = host_ != nullptr ? host_->progress() : 0;
  for (const Partition* partition : partitions_) progress += partition->services_.progress;
  return progress;
}

bool Conductor::beyond_limit(Time without_progress) {
  const Time limit = spec_.progress_limit_us * kMicrosecond;
  if (limit == 0 || without_progress < limit || finishing_) return false;
  error_ = std::make_exception_ptr(
      CheckError(deadlock_report("no progress in " + in_nanoseconds(limit))));
  return true;
}

bool Conductor::is_at_rest() const {
  return computing_ == 0 && waiting_for_time_ == 0 && earliest() == kNever;
}

void Conductor::spent_without_progress(Time time) {
  if (over_ || (!must_stop() && !beyond_limit(time))) return;
  over_ = true;
  pause();
}

// Partitions run apart: what others do until they may have been at a finish(), and one lookahead
// more, belongs to the run whatever the window.
void Conductor::take_finish() {
  for (const Partition* partition : partitions_) {
    const Time end = partition->finished_at_ + lookahead_ + latency_ahead_;
    if (!partition->finished_ || end >= drain_end_) continue;
    finishing_ = true;
    status_ = partition->status_;
    drain_end_ = end;
  }
}

// All partitions to one time that does not depend on windows, for counters of idle time.
void Conductor::settle() {
  Time last = 0;
  for (const Partition* partition : partitions_)
    last = std::max(last, partition->queue_.last_event());
  const Time quiet = std::max(last + lookahead_ + latency_ahead_, asked_at_);
  const Time end = earliest() == kNever ? std::min(quiet, drain_end_) : drain_end_;
  for (Partition* partition : partitions_) partition->run_window(end);
}

std::string Conductor::deadlock_report(const std::string& cause) const {
  std::string text = "deadlock at " + in_nanoseconds(systemc_now()) + ": " + cause;
  std::vector<std::string> lines;
  if (host_ != nullptr) {
    for (std::string& line : host_->waiting_on()) lines.push_back("host: " + line);
  }
  for (const Partition* partition : partitions_) {
    for (std::string& line : partition->waiting_on()) lines.push_back(std::move(line));
  }
  // Of waits that differ in numbers only, the first few and a count.
  constexpr size_t kShown = 4;
  std::vector<std::string> kinds;
  std::map<std::string, std::vector<const std::string*>> alike;
  for (const std::string& line : lines) {
    std::string kind;
    for (const char c : line) {
      const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
      if (!digit || kind.empty() || kind.back() != '#') kind += digit ? '#' : c;
    }
    auto& same = alike[kind];
    if (same.empty()) kinds.push_back(kind);
    same.push_back(&line);
  }
  for (const std::string& kind : kinds) {
    const auto& same = alike[kind];
    for (size_t i = 0; i < std::min(kShown, same.size()); ++i) text += "\n  " + *same[i];
    if (same.size() > kShown)
      text += "\n  ... and " + std::to_string(same.size() - kShown) + " more like these";
  }
  return text;
}

Conductor::Outcome Conductor::run() {
  assert(pool_ == nullptr);
  const unsigned useful = static_cast<unsigned>(std::max<size_t>(1, partitions_.size()));
  pool_ = std::make_unique<WindowPool>(std::min(spec_.threads, useful), partitions_.size());
  sc_core::sc_start();
  over_ = true;
  if (error_) std::rethrow_exception(error_);
  // A host program that was given up may have been all that could go on.
  const bool asked = stop_ != nullptr && stop_->load(std::memory_order_relaxed);
  if (stopped_ || (asked && !finishing_)) return Outcome::stopped;
  if (finishing_) {
    settle();
    return Outcome::finished;
  }
  bool waits = host_ != nullptr;
  for (const Partition* partition : partitions_) waits = waits || !partition->waiting_on().empty();
  if (waits) throw CheckError(deadlock_report("nothing can happen any more"));
  return Outcome::quiet;
}

}  // namespace stretto
