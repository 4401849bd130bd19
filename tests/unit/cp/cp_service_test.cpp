// SPDX-License-Identifier: Apache-2.0
// Question: does a hart that serves queues find in the L2 what work-groups announce, whatever
// streams through? A hart runs guest/service.c; before it is a compute unit's share of ComP-Net's L2
// (Table 1: 1 MB for 12 units; here 64 KiB, 16 ways, 8 banks). The unit is played: work-groups put
// entries of 64 B into a queue each and announce them by a locking store of the status word.
// Streaming wavefronts load private arrays, 1 KiB at a time, one load after the other. Parameters:
// streaming wavefronts, locks, and whether a work-group waits for its entry's end, polling the
// status word as well.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include <sstream>

#include "models/cp/cp.h"
#include "tests/unit/common/in_child.h"
#include "tests/unit/gpu/l2_bench.h"

namespace stretto::test {
namespace {

constexpr unsigned kQueues = 8, kEntries = 64, kEntryBytes = 64;  // As in guest/service.c.
constexpr uint64_t kQueueAt = 0x100000, kStreamAt = 0x4000000, kStreamBytes = 1 << 20;
constexpr uint64_t kPollClocks = 700;     // A work-group's polls, 500 ns apart.
constexpr uint64_t kThinkClocks = 8'000;  // Between entries for whose end it does not wait.
constexpr uint64_t kRunClocks = 700'000;  // 0.5 ms.
enum Status : uint64_t { kNothing, kAnnounced, kDone, kStop };

struct Case {
  unsigned streaming = 0;
  bool locks = false;
  bool waits = false;  // A work-group waits for the end of its entry.
};
struct Result {
  uint64_t polls = 0, polls_hit = 0;  // Of the hart,
  uint64_t found = 0;                 // of these, those that found an entry,
  uint64_t after = 0, after_hit = 0;  // and were sent after its announcement had been performed.
  uint64_t lock_clocks = 0, refused = 0, laws = 0;
  double hit_rate() const { return static_cast<double>(polls_hit) / static_cast<double>(polls); }
  double found_rate() const { return static_cast<double>(after_hit) / static_cast<double>(after); }
};

L2Spec share_of_a_unit(bool locks) {
  L2Spec spec;
  spec.bytes = 64 * 1024;
  spec.banks = 8;
  spec.request_cycles = spec.response_cycles = 75;
  spec.lock_ways = locks ? 15 : 0;
  return spec;
}

CpSpec one_hart() {  // Table 1.
  CpSpec spec;
  spec.harts = 1;
  spec.mhz = 2'000;
  spec.l1d_hit_cycles = 4;
  spec.uart = "none";
  return spec;
}

// Between a hart and the L2: hears what passes.
class Tap final : public sc_core::sc_module {
 public:
  using Hears = std::function<void(const tlm::tlm_generic_payload&)>;
  tlm_utils::simple_target_socket<Tap, 32, StrettoProtocol> in;
  tlm_utils::simple_initiator_socket<Tap, 32, StrettoProtocol> out;
  tlm_utils::simple_initiator_socket<Tap, 32, StrettoProtocol> doorbell;  // Never rung.
  Hears on_request, on_answer;

  explicit Tap(sc_core::sc_module_name name)
      : sc_module(name), in("in"), out("out"), doorbell("doorbell") {
    in.register_nb_transport_fw(this, &Tap::forward);
    out.register_nb_transport_bw(this, &Tap::backward);
  }

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    on_request(payload);
    return out->nb_transport_fw(payload, phase, delay);
  }
  tlm::tlm_sync_enum backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay) {
    on_answer(payload);
    return in->nb_transport_bw(payload, phase, delay);
  }
};

// All memory is shared.
class Shared final : public RangeLookup {
 public:
  Shared() { entry_.allocation = AllocationClass::shared; }
  const RangeEntry* find(uint64_t, uint64_t) const override { return &entry_; }

 private:
  RangeEntry entry_;
};

class Service {
 public:
  explicit Service(const Case& which)
      : case_(which),
        bench_("bench", share_of_a_unit(which.locks), kQueues + 1, 0, 8, false),
        tap_("tap"),
        cp_("cp", one_hart(), bench_.services()) {
    cp_.mem.bind(tap_.in);
    tap_.out.bind(bench_.l2.cp);
    tap_.doorbell.bind(cp_.doorbell);
    cp_.set_ranges(ranges_);
    tap_.on_request = [this](const tlm::tlm_generic_payload&) {
      sent_at_ = bench_.clock();
      hits_before_ = bench_.l2.counters().hart_shared.found;
    };
    tap_.on_answer = [this](const tlm::tlm_generic_payload& payload) { hart_answered(payload); };
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  Result run() {
    bench_.on_answered = [this](uint64_t id, uint64_t clock) { answered(id, clock); };
    // The queues begin empty.
    for (unsigned i = 0; i < kQueues * kEntries; ++i)
      call(1, 1, kEmpty, i, true, kQueueAt + uint64_t{i} * kEntryBytes, kEntryBytes, empty_.data());
    bench_.run();
    const uint64_t begin = bench_.clock() + 1;
    end_ = begin + kRunClocks;
    for (unsigned i = 0; i < kQueues; ++i) put(i, begin + 100 * i);
    for (unsigned i = 0; i < case_.streaming; ++i) stream(i, begin + i);
    cp_.load(std::make_shared<const ElfImage>(ElfImage::load(STRETTO_GUEST_DIR "/service.elf")));
    cp_.start();
    bench_.run();
    const L2Locks::Counters& locks = bench_.l2.locks().counters();
    result_.lock_clocks = locks.accessed == 0 ? 0 : locks.clocks / locks.accessed;
    result_.refused = locks.refused;
    result_.laws = bench_.broken_laws().size();
    return result_;
  }

 private:
  enum Kind : uint64_t { kEmpty, kFill, kAnnounce, kLook, kEnd, kStream };
  struct Queue {
    uint64_t write = 0;  // Entries put,
    uint64_t read = 0;   // and served.
    uint64_t announced = 0;
    uint64_t status = 0;
    std::array<uint8_t, kEntryBytes> entry{};
  };
  static uint64_t at(unsigned queue, uint64_t entry) {
    return kQueueAt + (uint64_t{queue} * kEntries + entry % kEntries) * kEntryBytes;
  }
  void call(unsigned port, uint64_t clock, Kind kind, unsigned of, bool store, uint64_t address,
            uint32_t bytes, void* data, bool locks_line = false) {
    bench_.call({.port = port,
                 .clock = clock,
                 .store = store,
                 .address = address,
                 .bytes = bytes,
                 .allocation = kind == kStream ? AllocationClass::cached : AllocationClass::shared,
                 .operation = locks_line ? std::optional(Operation::locked_store) : std::nullopt,
                 .locks_line = locks_line,
                 .data = static_cast<uint8_t*>(data)},
                kind << 32 | of);
  }

  // Entry, then status; at the end of time nothing more, and the end itself behind the last one.
  void put(unsigned i, uint64_t clock) {
    Queue& queue = queues_[i];
    if (clock >= end_) {
      if (++ended_ < kQueues) return;
      status_ = kStop;
      call(1, clock, kEnd, 0, true, at(0, queues_[0].write), 8, &status_);
      return;
    }
    if (queue.write - queue.read == kEntries) return look(i, clock + kPollClocks);
    call(1 + i, clock, kFill, i, true, at(i, queue.write) + 8, kEntryBytes - 8,
         queue.entry.data() + 8);
  }
  void look(unsigned i, uint64_t clock) {
    Queue& queue = queues_[i];
    call(1 + i, clock, kLook, i, false, at(i, queue.write - 1), 8, &queue.status);
  }
  void stream(unsigned i, uint64_t clock) {
    if (clock >= end_) return;
    call(0, clock, kStream, i, false, kStreamAt + kStreamBytes * i + streamed_[i] % kStreamBytes,
         1024, nullptr);
    streamed_[i] += 1024;
  }
  void answered(uint64_t which, uint64_t clock) {
    const unsigned of = static_cast<unsigned>(which);
    Queue& queue = queues_[of % kQueues];
    switch (static_cast<Kind>(which >> 32)) {
      case kEmpty:
      case kEnd: break;
      case kFill:
        queue.status = kAnnounced;
        call(1 + of, clock, kAnnounce, of, true, at(of, queue.write), 8, &queue.status, true);
        break;
      case kAnnounce:
        ++queue.write;
        queue.announced = clock;
        if (case_.waits) return look(of, clock + kPollClocks);
        put(of, clock + kThinkClocks);
        break;
      case kLook:
        if (queue.status == kAnnounced) return look(of, clock + kPollClocks);
        put(of, clock + 1);
        break;
      case kStream: stream(of, clock + 1); break;
    }
  }
  // A line that it has polled, or a status that it has written.
  void hart_answered(const tlm::tlm_generic_payload& payload) {
    const uint64_t entry = ((payload.get_address() & STRETTO_OFFSET_MASK) - kQueueAt) / kEntryBytes;
    Queue& queue = queues_[entry / kEntries];
    if (payload.is_write()) {
      ++queue.read;
      return;
    }
    const bool hit = bench_.l2.counters().hart_shared.found != hits_before_;
    ++result_.polls;
    result_.polls_hit += hit;
    if (payload.get_data_ptr()[0] != kAnnounced) return;
    ++result_.found;
    if (queue.write <= queue.read || (queue.write == queue.read + 1 && queue.announced >= sent_at_))
      return;
    ++result_.after;
    result_.after_hit += hit;
  }

  const Case case_;
  const Shared ranges_;
  L2Bench bench_;
  Tap tap_;
  Cp cp_;
  std::array<Queue, kQueues> queues_;
  std::array<uint64_t, 32> streamed_{};
  std::array<uint8_t, kEntryBytes> empty_{};
  uint64_t status_ = kNothing;
  uint64_t end_ = 0;
  unsigned ended_ = 0;  // Work-groups.
  uint64_t sent_at_ = 0;
  uint64_t hits_before_ = 0;
  Result result_;
};

Result result_of(const Case& which) {
  const std::string text = in_child([&which] {
    const Result r = Service(which).run();
    return fmt::format("{} {} {} {} {} {} {} {}", r.polls, r.polls_hit, r.found, r.after,
                       r.after_hit, r.lock_clocks, r.refused, r.laws);
  });
  Result r;
  INFO(text);
  std::istringstream in(text);
  in >> r.polls >> r.polls_hit >> r.found >> r.after >> r.after_hit >> r.lock_clocks >> r.refused >>
      r.laws;
  REQUIRE(in.eof());
  REQUIRE_FALSE(in.fail());
  fmt::print(
      "streaming {:2}, locks {}, waits {}: {} polls, hit rate {:.3f}; {} entries, hit rate {:.3f} "
      "of "
      "{}; locked {} clocks, refused {}\n",
      which.streaming, which.locks, which.waits, r.polls, r.hit_rate(), r.found, r.found_rate(),
      r.after, r.lock_clocks, r.refused);
  CHECK(r.laws == 0);
  CHECK(r.found > 500);
  CHECK(r.after > 400);
  return r;
}

TEST_CASE("without locks a hart's hit rate falls with the streams, with them announcements stay",
          "[CN-LOCK-01]") {
  const Result alone = result_of({});
  CHECK(alone.hit_rate() > 0.99);
  const Result few = result_of({.streaming = 4});
  const Result many = result_of({.streaming = 32});
  CHECK(few.hit_rate() < alone.hit_rate());
  CHECK(many.hit_rate() < few.hit_rate());
  CHECK(many.hit_rate() <= 0.4 * alone.hit_rate());
  const Result locked = result_of({.streaming = 32, .locks = true});
  CHECK(locked.found_rate() >= 0.99);
  CHECK(locked.hit_rate() > many.hit_rate());
}

// Their own polls keep the lines young under LRU, so less is to be gained.
TEST_CASE("work-groups that wait lose fewer lines without locks, and none with them") {
  const Result alone = result_of({.waits = true});
  const Result many = result_of({.streaming = 32, .waits = true});
  CHECK(many.found_rate() < 0.9 * alone.found_rate());
  const Result locked = result_of({.streaming = 32, .locks = true, .waits = true});
  CHECK(locked.found_rate() >= 0.99);
}

}  // namespace
}  // namespace stretto::test
