// SPDX-License-Identifier: Apache-2.0
// L2Cache: the second-level cache of one GPU and its crossbar: tile requests of the compute units
// and line requests of the command processor come in, contiguous payloads of at most 256 bytes go
// out to the HBM channels.
//
// What it does with an access, by operation and allocation class of the extension:
//   read, cached      64 B sectors; hit, merge with a pending fill, or fill
//   write, cached     write-back, write-allocate without fetch; a sector written in part counts as written
//   read/write, shared   as cached, with bytes of the cache's own (l2_shared.h)
//   read/write, uncached or streaming; update        past the tags, one payload a contiguous piece
//   atomic            read-modify-write here (device scope); an uncached one, and one of system scope
//                     in a shared range, costs a DRAM read and write
//   fence             release: writes the dirty bytes of shared lines back; acquire: forgets the others
//   locked_read       locks the line until the unlocking_write of it; accesses to a locked line wait
//   locked_store      a write; with `locks_line` its sector stays here until a hart accesses it
//   atomic of a link  as one of system scope, whatever the range: bytes of a shared line go to memory
//                     first; where no word is it is refused
//   another node's address   to the `remote` socket, one payload, two-dimensional
//   this node, beyond its memory   to the `device` socket, as it came
// Bytes: but for shared ranges the cache has tags only (memory_image.h); cached bytes move when the
// L2 serves the access. What hardware would give instead of these bytes is guarded by the coherence
// law (l2_coherence.cpp).
//
// Invariants
//  1 A sector is fetched once however many requests wait for it (pending-sector merging).
//  2 A dirty sector is written back exactly once, on the account that wrote the line last.
//  3 Requests are served in the order in which they leave their port (at equal times in that of the
//    ports), whatever the order of the calls: a port takes what has arrived first, and tags are
//    looked up when the request is at the banks. Slices with limits (l2_slices.h) look up each line
//    when it is at its bank, and may stop there.
//  4 A bank serves in order of arrival (bank_calendar.h).
//  5 A response is sent when the last sector has arrived.
//  6 A set holds at most persist_ways_ pinned lines, fewer than it has ways, and at most lock_ways
//    locked ones; one way at least is neither: pins and locks take no fill its last way. A line of a
//    pinned range, or a store that locks, that comes beyond that is an ordinary one. While there are
//    pinned ranges, fills of other lines that are under way leave persist_ways_ of each set, so that
//    a line of these finds one.
//  7 Coherence law: nobody passes the L2 by where a sector is dirty, and no access reads a sector
//    here that somebody has changed behind it. A breach ends the run and names both.
//
// Timing, in GPU clocks: port of the unit -> request_cycles -> bank (bank_bytes_per_cycle) ->
// response_cycles. A miss leaves when the bank has looked, and pays response_cycles after the last
// byte arrived; between bank and memory it takes half of memory_cycles each way.
#ifndef STRETTO_MODELS_GPU_L2_L2_CACHE_H_
#define STRETTO_MODELS_GPU_L2_L2_CACHE_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <tlm>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "models/common/clock_domain.h"
#include "models/common/coherence_observer.h"
#include "models/common/component.h"
#include "models/common/memory_image.h"
#include "models/common/payload_pool.h"
#include "models/gpu/base/bank_calendar.h"
#include "models/gpu/base/gpu_spec.h"
#include "models/gpu/l2/l2_locks.h"
#include "models/gpu/l2/l2_shared.h"
#include "models/gpu/l2/l2_tags.h"

namespace stretto {

class L2Partitions;
class L2Slices;
class QueueSink;
class RaceLaw;

struct L2Counters {
  std::array<uint64_t, STRETTO_ACCOUNTS> hits{};         // Sectors.
  std::array<uint64_t, STRETTO_ACCOUNTS> merges{};       // Sectors that found their fill pending.
  std::array<uint64_t, STRETTO_ACCOUNTS> misses{};       // Sectors fetched.
  std::array<uint64_t, STRETTO_ACCOUNTS> written{};      // Sectors written into the cache.
  std::array<uint64_t, STRETTO_ACCOUNTS> write_backs{};  // Dirty sectors written to memory.
  uint64_t evictions = 0;                                // Valid lines replaced.
  uint64_t unallocated = 0;           // Sectors that found no way: pending, pinned;
  uint64_t fetched_past = 0;          // of these, those that were read from memory.
  uint64_t pinned = 0;                // Lines of pinned ranges that came in and were pinned,
  uint64_t unpinned = 0;              // and those beyond the share of their set.
  uint64_t pinned_evictions = 0;      // Dirty sectors of pinned ranges that had to make room,
  uint64_t unpinned_write_backs = 0;  // and those of ranges that were pinned before.
  uint64_t bypass_bytes = 0;
  uint64_t remote_bytes = 0;
  uint64_t atomics = 0;
  uint64_t link_atomics = 0;    // Of these, of peers.
  uint64_t remote_atomics = 0;  // Sent to other nodes.
  uint64_t fences = 0;
  uint64_t lock_waits = 0;
  // Of harts: from shared ranges, of data and of code in their private memory.
  struct HartReads {
    uint64_t all = 0;
    uint64_t found = 0;  // Their sector was here.
  };
  HartReads hart_shared, hart_data, hart_code;
  HartReads hart_announced;  // The first of a shared sector behind a locked store to it, if it was
                             // sent behind that.
  uint64_t requests = 0;
  uint64_t responses = 0;
  uint64_t tag_bytes = 0;       // Sectors that requests of cached memory touched.
  uint64_t boundaries = 0;      // Write-backs of all that is dirty.
  uint64_t invalidations = 0;   // Of all that is clean.
  uint64_t passed_by = 0;       // Lines in accesses that passed the L2 by.
  uint64_t fills_sent = 0;      // Sectors.
  uint64_t fills_received = 0;  // Sectors.
};

class L2Cache final : public sc_core::sc_module,
                      public Component,
                      public CoherenceObserver,
                      private EventHandler {
 public:
  using Target = tlm_utils::simple_target_socket_tagged_optional<L2Cache, 32, StrettoProtocol>;
  using Initiator =
      tlm_utils::simple_initiator_socket_tagged_optional<L2Cache, 32, StrettoProtocol>;

  sc_core::sc_vector<Target> cu;          // One per compute unit.
  Target cp;                              // Harts of the command processor.
  Target link;                            // Atomics that come over links, and nothing else.
  sc_core::sc_vector<Initiator> channel;  // One per HBM channel.
  Initiator remote;                       // To the fabric: stores and updates into other nodes.
  Initiator device;                       // Beyond the memory of this node: the send window.

  L2Cache(sc_core::sc_module_name name, const L2Spec& spec, const HbmAddressMapping& mapping,
          unsigned cus, ClockDomain clock, PartitionServices& services, MemoryImage& memory);
  ~L2Cache() override;

  // Release at system scope: writes back everything dirty; lines stay. REQUIRES: !write_back_busy().
  void write_back();
  bool write_back_busy() const { return boundary_active_; }
  uint32_t write_backs_completed() const { return boundaries_completed_; }
  // Called when a write-back is complete, perhaps inside write_back().
  void on_written_back(std::function<void()> f) { on_written_back_ = std::move(f); }
  // Acquire at system scope: forgets what is neither dirty nor pinned nor on its way.
  void invalidate();
  // `by` passes the L2 by to [offset, offset + bytes) of this GPU's memory.
  void passes(const StrettoExtension& by, uint64_t offset, uint64_t bytes) override;
  // Lines inside [base, base + bytes) are not replaced, up to set_persist_ways() in each set; 0
  // bytes frees range `index`.
  void pin(unsigned index, uint64_t base, uint64_t bytes);
  void set_persist_ways(unsigned ways);
  // Hears of pinned ranges.
  void set_race_law(RaceLaw& law) { race_law_ = &law; }
  // Is to hear of the queues behind `channel`; null where nothing depends on them.
  QueueSink* queue_sink() const;

  const L2Spec& spec() const { return spec_; }
  // What an access at the L2 sees of shared ranges.
  L2Shared& shared() { return shared_; }
  const L2Counters& counters() const { return counters_; }
  const L2Locks& locks() const { return locks_; }
  uint64_t total(const std::array<uint64_t, STRETTO_ACCOUNTS>& accounts) const;
  // Sectors that memory has not, outside of ranges that are pinned or were.
  uint64_t dirty_sectors() const;
  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;

 private:
  friend class L2Slices;      // Serves lines and pieces in its slices' order.
  friend class L2Partitions;  // Takes accesses from one half to the other.

  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr uint32_t kDevice = kNone - 1;
  static constexpr uint16_t kNoFill = 0xFFFF;
  static constexpr uint64_t kNotDue = ~uint64_t{0};
  static constexpr unsigned kMaxPayloadBytes = 256;

  // A request that waits for memory.
  struct Request {
    tlm::tlm_generic_payload* payload;
    Time done;           // Latest arrival so far.
    uint32_t remaining;  // Sectors and payloads to come, plus one while it is being served.
    uint16_t port;
    bool copies;   // A load of cached memory whose bytes are taken when the last sector has come.
    bool crossed;  // Has come over the link between the partitions, and its answer goes back there.
    bool shared;   // Of a shared range. This and `account` spare a hit the look into its payload.
    uint8_t account;
  };
  // A line with sectors on their way: who waits for each of them, from the third on in groups.
  struct alignas(32) Fill {
    uint32_t set;
    uint32_t first[2];  // Requests.
    uint32_t second[2];
    uint32_t others[2];  // Newest group of waiters_.
    uint8_t way;
    uint8_t pending;
    uint8_t dropped;  // Of a copy: written at home since, so not to be kept.
  };
  struct alignas(64) Waiters {
    uint32_t count;
    uint32_t next;  // The group before, which is full.
    uint32_t request[14];
  };
  struct Arrival {
    tlm::tlm_generic_payload* payload;
    uint64_t clock;
  };
  // What a port has not yet sent, loads or stores, by arrival; at equal clocks in order of the
  // calls.
  struct Port {
    uint64_t free = 0;       // First free clock.
    uint64_t due = kNotDue;  // When its first request is at the banks, as due_ has it.
    std::deque<Arrival> waits;
  };
  struct Outgoing {
    PooledPayload* payload;
    Time at;
    uint32_t channel;  // kNone = remote, kDevice = device.
  };
  struct BoundaryLine {
    uint64_t line;
    uint8_t dirty;
    uint8_t account;
  };
  struct Agent {
    uint32_t wg_id = 0;
    uint16_t unit = 0;
    Engine engine = Engine::test;
  };
  // Who wrote a way of the cache last. Small, since each store of a line comes here.
  struct Writer {
    uint32_t wg_id = 0;
    uint16_t unit = 0;
    Engine engine = Engine::test;
    uint8_t parts = 0;  // Dirty sectors of which written_ says what is dirty; others are in full.
  };
  static_assert(sizeof(Writer) == 8);
  using Bytes = std::array<uint64_t, 2>;  // A bit each, by sector.
  // Who changed which bytes of a line behind the cache.
  struct Change {
    Agent by;
    Bytes bytes{};
  };
  struct PinRange {
    uint64_t base = 0;
    uint64_t bytes = 0;
  };
  // What a payload's cookie says about it.
  enum class Kind : uint8_t { fill, past, child, write_back, boundary, copy, copy_past };
  static uint64_t cookie(Kind kind, uint64_t value) {
    return static_cast<uint64_t>(kind) << 56 | value;
  }

  tlm::tlm_sync_enum forward(int port, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(int channel, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);

  void on_event(uint64_t tag) override;

  // Stages of a request, in the order it lives: it waits for its port, is served when it is at the
  // banks, and completes. The stages of serving return when all that is in the cache is there.
  void enqueue(int unit, tlm::tlm_generic_payload& payload, uint64_t arrival);
  void set_due(uint32_t port);
  void schedule_due();
  // What has crossed is at the banks, whenever it has arrived; its ports have had it before.
  void serve(int unit, tlm::tlm_generic_payload& payload, uint64_t arrival, bool crossed = false);
  Time serve_read(uint32_t request, Port& port, tlm::tlm_generic_payload& payload,
                  const StrettoExtension& extension, uint64_t arrival);
  Time serve_write(uint32_t request, Port& port, tlm::tlm_generic_payload& payload,
                   const StrettoExtension& extension, uint64_t arrival);
  Time serve_bypass(uint32_t request, Port& port, tlm::tlm_generic_payload& payload,
                    const StrettoExtension& extension, uint64_t arrival);
  Time serve_remote(uint32_t request, Port& port, tlm::tlm_generic_payload& payload,
                    const StrettoExtension& extension, uint64_t arrival);
  // Takes `bytes` through the port; returns the clock in which the first of them are at the banks.
  uint64_t pass(Port& port, uint64_t arrival, uint64_t clocks) const;
  static bool is_store(const StrettoExtension& extension);
  void copy_bytes(tlm::tlm_generic_payload& payload, const StrettoExtension& extension,
                  bool to_memory);
  void apply_atomic(tlm::tlm_generic_payload& payload, const StrettoExtension& extension);
  // Locks (l2_locking.cpp).
  struct KeptWays {
    unsigned all = 0;
    unsigned locked = 0;  // Of these, until a hart reads them.
  };
  KeptWays kept_ways(uint32_t set) const;
  bool keep(uint64_t line);
  void free_if_unlocked(uint64_t line);
  void performed(const tlm::tlm_generic_payload& payload, const StrettoExtension& extension);
  void note_announced(const tlm::tlm_generic_payload& payload, const StrettoExtension& extension);
  void count_hart_read(const tlm::tlm_generic_payload& payload, const StrettoExtension& extension);
  bool blocked_by_lock(tlm::tlm_generic_payload& payload, const StrettoExtension& extension) const;
  void unlock(uint64_t line, uint16_t hart);
  void unlock_bypassed(tlm::tlm_generic_payload& payload);

  struct Lookup {
    uint64_t line;
    uint32_t set;
    uint32_t sector;  // Number in the request, for the port's time.
    uint16_t bank;
    uint8_t mask;
    uint8_t first;  // Bytes of the line, first to last.
    uint8_t last;
    bool copy = false;  // Place and bank are not those of its home.
    uint32_t tag() const { return L2Tags::tag_of(line); }
  };
  static_assert(sizeof(Lookup) == 24);
  // Collects the lines of a tile in lookups_; returns its sectors.
  uint32_t gather(uint64_t offset, const StrettoExtension& extension);
  void add_waiter(uint32_t& list, uint32_t request);
  // A line at its bank at clock `at`; they return the clock in which the bank has moved it. `hits`
  // counts sectors of lines that are there. `extension()` is called for others alone.
  template <class Extension>
  uint64_t read_line(const Lookup& lookup, uint32_t request, Extension extension, uint64_t at,
                     uint64_t& hits);
  uint64_t write_line(const Lookup& lookup, const StrettoExtension& extension, uint64_t at);
  void read_slow(const Lookup& lookup, L2Tags::Set& set, int way, uint32_t request,
                 const StrettoExtension& extension, uint64_t cycle);
  // Makes room; returns the way, or -1. Sends the victim's dirty sectors away.
  int allocate(const Lookup& lookup, uint64_t cycle);
  void fetch_past(const Lookup& lookup, unsigned mask, uint32_t request,
                  const StrettoExtension& extension, uint64_t cycle);
  void send_write_back(uint64_t line, uint8_t dirty, uint8_t account, Kind kind, Time at);
  void add_fill(uint64_t line, uint8_t mask, uint16_t fill, const StrettoExtension& extension,
                uint64_t cycle);
  void flush_fill();
  void send_pieces(uint32_t request, tlm::tlm_generic_payload& payload,
                   const StrettoExtension& extension, uint64_t cycle, uint32_t bytes_per_cycle);
  PooledPayload& make_payload(tlm::tlm_command command, uint64_t address, unsigned char* data,
                              unsigned bytes, const StrettoExtension& from);
  void send_all();
  void response(PooledPayload& payload, Time at);
  // Those of `keep` are valid from now on.
  void sectors_arrived(uint16_t fill, uint8_t mask, Time at, uint8_t keep = 3);
  void arrived(uint32_t request, Time at);
  void complete(uint32_t request);
  bool send_boundary_line(uint32_t channel);
  void check_boundary();
  bool in_pinned_range(uint64_t line) const;
  bool was_pinned(uint64_t line) const;
  bool may_pin(const L2Tags::Set& set) const;
  bool leaves_share(const L2Tags::Set& set, const Lookup& lookup) const;
  void pin_again();
  void check_changed(const Lookup& lookup, const StrettoExtension& by);
  // Before the sectors are marked dirty.
  void note_writer(const Lookup& lookup, unsigned way, const StrettoExtension& by);
  // Brings into the host's cache what a read or a write of a line in this set needs.
  void prefetch_set(uint32_t set, bool store) const {
    tags_.prefetch(set);
    if (store)
      prefetch_lines(&writers_[size_t{set} * L2Tags::kMaxWays], L2Tags::kMaxWays * sizeof(Writer));
  }
  // Shared ranges (l2_shared.cpp).
  void serve_fence(int unit, tlm::tlm_generic_payload& payload, const StrettoExtension& extension,
                   uint64_t arrival);
  bool line_is_in_memory(int unit, tlm::tlm_generic_payload& payload);
  bool is_of_link(int unit) const { return static_cast<size_t>(unit) == cu.size() + 1; }
  tlm::tlm_response_status check_link(tlm::tlm_generic_payload& payload,
                                      const StrettoExtension& extension) const;
  void complete_shared(tlm::tlm_generic_payload& payload, const StrettoExtension& extension);
  static bool has_bytes(const StrettoExtension& extension, const tlm::tlm_generic_payload& payload);
  uint64_t write_shared_line(const Lookup& lookup, const tlm::tlm_generic_payload& payload,
                             const StrettoExtension& extension, uint64_t at);
  void open_shared_line(const Lookup& lookup);
  uint8_t take_from_boundary(uint64_t line);
  void release_line(uint64_t line, uint64_t cycle);
  void forget_line(uint64_t line);
  void forget_shared();
  uint64_t carry(PooledPayload& payload, uint64_t line, uint8_t sectors);
  void landed(uint32_t index, Time at);
  [[noreturn]] void incoherent(const char* what, uint64_t line, unsigned sector, const Agent& by,
                               const char* and_what, const Agent& other) const;
  uint32_t take_request(int port, tlm::tlm_generic_payload& payload);

  const L2Spec spec_;
  const ClockDomain clock_;
  PartitionServices& services_;
  MemoryImage& memory_;
  L2Tags tags_;
  const uint64_t node_;        // This GPU's node, in place in an address.
  const Time response_time_;   // response_cycles as a duration.
  const Time to_memory_time_;  // The two halves of memory_cycles.
  const Time from_memory_time_;
  const uint32_t sector_cycles_;  // Of a bank.

  PayloadPool pool_;
  BankCalendar banks_;
  // Two a compute unit (loads, stores), then the command processor's and the links'.
  std::vector<Port> ports_;
  // (Clock, port) at which the first request of a port is at the banks; an entry that does not
  // agree with its port's `due` is void.
  std::priority_queue<std::pair<uint64_t, uint32_t>, std::vector<std::pair<uint64_t, uint32_t>>,
                      std::greater<>>
      due_;
  uint64_t scheduled_ = kNotDue;  // The earliest clock for which an event is on its way.
  std::vector<Request> requests_;
  std::vector<uint32_t> free_requests_;
  std::vector<Fill, HugeAllocator<Fill>> fills_;
  std::vector<uint16_t> free_fills_;
  std::vector<Waiters, HugeAllocator<Waiters>> waiters_;
  std::vector<uint32_t> free_waiters_;
  std::vector<Lookup> lookups_;
  std::vector<Outgoing> outbox_;  // Filled while serving, sent when the request is consistent.
  std::vector<Outgoing> sending_;

  // The fill payload that serve_read is building: sectors of one 256 B block.
  struct {
    uint64_t block = ~uint64_t{0};
    uint8_t mask = 0;
    uint32_t fills = kNone;  // Of both lines, 16 bits each: one word, as the cookie takes it.
    uint64_t cycle = 0;
    const StrettoExtension* extension = nullptr;
  } building_;

  const bool locking_;  // Locked lines stay.
  L2Locks locks_;
  std::unordered_set<uint64_t> announced_;  // Sectors with a locked store that no hart has read.
  struct Deferred {
    int unit;
    tlm::tlm_generic_payload* payload;
  };
  std::vector<Deferred> deferred_;
  L2Shared shared_;
  std::vector<Deferred> behind_write_back_;  // Atomics at memory, until the L2's bytes are there.
  std::array<PinRange, 4> pins_{};
  bool any_pin_ = false;
  std::vector<PinRange> once_pinned_;  // By base; what is pinned now, too.
  unsigned persist_ways_ = 0;
  RaceLaw* race_law_ = nullptr;

  std::vector<std::deque<BoundaryLine>> boundary_;  // By channel, in set order.
  bool boundary_active_ = false;
  uint64_t boundary_lines_ = 0;  // Not yet answered.
  uint32_t boundaries_completed_ = 0;
  std::function<void()> on_written_back_;
  std::vector<Writer, HugeAllocator<Writer>> writers_;  // By set and way, as written_ is.
  std::vector<Bytes, HugeAllocator<Bytes>> written_;
  std::unordered_map<uint64_t, Change> changed_;  // Lines here with sectors changed behind them.
  uint64_t write_backs_in_flight_ = 0;
  uint64_t outstanding_ = 0;
  L2Counters counters_;
  std::unique_ptr<L2Slices> slices_;  // Null: slices have no limits, and there is one partition.
  std::unique_ptr<L2Partitions> partitions_;  // Null: there is one.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_L2_L2_CACHE_H_
