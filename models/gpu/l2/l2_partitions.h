// SPDX-License-Identifier: Apache-2.0
// The two partitions of an L2, as an A100 has them: each has half of the channels with their banks,
// and half of the compute units. A line's home is the partition of its channel: there it is written,
// there atomics and locks are performed, from there memory is reached. What a unit reads from the
// other partition's lines is kept in its own one, too, as a copy.
//
//   read      near home: as ever. Else at the bank that keeps copies; what that lacks is read at home
//             as any other read and comes back over the link
//   write     each line at its home; a copy of what is written is dropped in that clock
//   atomic, lock, store inside a line   the request crosses as a whole and is served when it is at
//             home, so what near and far ones do to a line has one order: that of arrival there
//   past the cache   each piece at the slice of its home
//
// Invariants
//  1 A valid sector of a copy is valid at home, and nobody has written it since it was read there.
//  2 A copy is clean and never pinned. No copy outlives its line at home.
//  3 A slice never waits for the other partition: copies take no entry and merge without a limit.
//     So what slices wait for comes from memory alone, as without partitions (l2_slices.h).
//  4 Every sector asked for over the link comes back, once.
//
// Partition of a unit: the lower half of the units, with the command processor, is the first.
#ifndef STRETTO_MODELS_GPU_L2_L2_PARTITIONS_H_
#define STRETTO_MODELS_GPU_L2_L2_PARTITIONS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "models/gpu/l2/l2_cache.h"

namespace stretto {

class L2Partitions final : private EventHandler {
 public:
  // Port of what a partition asks of the other.
  static constexpr uint16_t kPort = 0xFFFF;

  L2Partitions(L2Cache& l2, unsigned cus);

  // Whether the first request of port `index` of ports_ crosses as a whole; it is on its way then.
  bool takes(uint32_t index, tlm::tlm_generic_payload& payload, uint64_t arrival);
  // For a request that has crossed; never busy.
  L2Cache::Port& past_ports(unsigned index);
  Time back_time() const { return back_time_; }

  // A line of `request` that is at the banks at `clock`: turns it into that of a copy if it is read
  // there; returns the clock in which it is at its bank, and whether that is beyond the link.
  uint64_t route(L2Cache::Lookup& lookup, uint32_t request, bool store, uint64_t clock, bool& far);
  // A piece past the cache, likewise; and its answer.
  uint64_t piece_at_home(uint32_t request, uint64_t offset, bool store, uint32_t bytes,
                         uint64_t clock);
  Time piece_is_back(uint32_t request, uint64_t offset, bool store, uint32_t bytes, Time at);
  // Asks the home for sectors of a copy, for `fill`, or for `request` alone if that is kNoFill.
  void fetch(const L2Cache::Lookup& lookup, unsigned mask, uint16_t fill, uint32_t request,
             const StrettoExtension& extension, uint64_t cycle);
  // The home has them: a near requester would have them at `done`.
  void served(PooledPayload& asked, Time done);

  // The line's sectors are written at home, changed in memory, or leave.
  void drop_copy(uint64_t line, unsigned sectors);
  void drop(L2Tags::Set& set, unsigned way, unsigned sectors);

  void report(StatisticSink& sink) const;
  void audit(AuditSink& sink) const;

 private:
  // What is on its way: a request to its home, or sectors back from there (unit < 0).
  struct Crossing {
    tlm::tlm_generic_payload* payload;
    int unit;
  };
  void on_event(uint64_t tag) override;
  void schedule(uint64_t clock, Crossing crossing);
  unsigned partition_of_port(unsigned port) const { return port >= first_units_ && port < cus_; }
  bool is_far(uint32_t request, uint32_t bank) const;
  uint32_t bank_of(uint64_t offset) const;
  unsigned valid_at_home(uint64_t line) const;
  // Takes the lane of the bank for `bytes`; returns the clock in which they are on the other side.
  uint64_t carry(uint32_t bank, bool to_home, uint64_t clock, uint64_t bytes);

  L2Cache& l2_;
  const unsigned cus_;
  const unsigned first_units_;
  const uint32_t to_cycles_;  // The two halves of partition_link_cycles.
  const uint32_t back_cycles_;
  const Time back_time_;
  const uint32_t lane_bytes_;
  BankCalendar lanes_;  // Two a bank: to its home, and back.
  std::array<L2Cache::Port, 2> past_ports_;
  std::vector<Crossing> crossings_;
  std::vector<uint32_t> free_crossings_;
  // Statistics.
  uint64_t asked_ = 0;  // Sectors.
  uint64_t came_ = 0;
  uint64_t kept_ = 0;
  uint64_t crossed_ = 0;             // Requests.
  uint64_t dropped_ = 0;             // Sectors.
  std::array<uint64_t, 2> bytes_{};  // Back, and to their home.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_L2_L2_PARTITIONS_H_
