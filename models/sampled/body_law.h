// SPDX-License-Identifier: Apache-2.0
// How long a body takes beside others.
//
// Alone on the GPU a work-group takes `alone`. It uses the unit's tensor pipe, SIMT pipe and issue
// slots, the L2's banks and the memory as `demand` says. Of the unit's parts a wavefront asks for one
// thing after another, and what it asks for waits in turn with what others do: for the requests of
// other kernels that it finds there, and in a part that is asked for more than it has until the part
// is just busy. A body takes longer by as much as it uses the part. (A closed queueing network: who
// comes finds what is there without him, and the bottleneck is busy. Reiser, Lavenberg: Mean-Value
// Analysis of Closed Multichain Queuing Networks, JACM 27(2), 1980.) Of L2 and memory many are under
// way at once: whoever needs less than an equal share has what it needs, the others an equal share of
// the rest, and take as much longer. What that does not explain of the time that was measured with so
// many resident is a factor, kept by residency: latency under load. Of a kernel that the memory
// bounds, it is memory time, and makes its demand larger.
//
// Integers only; kOne stands for 1.
#ifndef STRETTO_MODELS_SAMPLED_BODY_LAW_H_
#define STRETTO_MODELS_SAMPLED_BODY_LAW_H_

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/sampled/body_table.h"

namespace stretto {

using Wide = unsigned __int128;

inline constexpr unsigned kFractionBits = 20;
inline constexpr uint64_t kOne = uint64_t{1} << kFractionBits;

// What a machine has.
struct BodyRates {
  uint32_t clock_mhz = 1400;
  uint32_t issue_ports = 4;
  uint32_t units = 80;
  uint64_t l2_bytes_per_us = 0;   // Of all banks.
  uint64_t hbm_bytes_per_us = 0;  // Of all pins.
  // The most that any kernel of the table had; at least half of the pins.
  uint64_t hbm_limit(const BodyTable& table) const;
};

enum UnitPart : uint8_t { kPartTensor, kPartSimt, kPartIssue, kUnitParts };
enum GpuPart : uint8_t { kPartL2, kPartHbm, kGpuParts };

// Which of a launch's corrections count: what makes it shorter is room that its work-groups find
// late, and of a rewritten kernel workers take tasks where they are.
enum class Correction : uint8_t {
  none,    // It is not by itself on the GPU.
  longer,  // Of a rewritten kernel.
  all,
};

// What a body takes alone on the GPU, within what such bodies take, and whether it ends together with
// another of its launch on its unit, if one ends within that.
struct DrawnTime {
  Time time = 0;
  Time least = 0, most = 0;
  bool joins = false;
};

// When a body that joins others ends: as the nearest of them within what such bodies take, the earlier of
// two. Those that have begun in this instant are not seen, so the order of calls does not matter.
class JoinedEnd {
 public:
  JoinedEnd(const DrawnTime& drawn, Time now) : drawn_(drawn), now_(now) {}
  // One that began at `since` and, alone, would end in `left`.
  void see(Time left, Time since) {
    if (since == now_ || left < drawn_.least || left > drawn_.most) return;
    if (std::pair(distance(left), left) < std::pair(distance(nearest_), nearest_)) nearest_ = left;
  }
  // What the body takes alone.
  Time need() const { return nearest_ == kNever ? drawn_.time : nearest_; }

 private:
  Time distance(Time need) const {
    return need < drawn_.time ? drawn_.time - need : need - drawn_.time;
  }
  const DrawnTime drawn_;
  const Time now_;
  Time nearest_ = kNever;
};

struct BodyLaw {
  static constexpr unsigned kMostResident = 40;

  BodyLaw(const BodyTimes& times, const BodyRates& rates, uint64_t hbm_limit);

  // Of a body in the first wave or a later one of the `launch`-th launch.
  // What is in the L2 makes a difference for all of its work-groups (BodyTimes::launch_for).
  DrawnTime draw(uint64_t launch, uint64_t which, bool first, Correction correction,
                 uint64_t random) const;

  const BodyTimes* times;
  Time alone = 0;
  Time full = 0;                            // Mean of the work-groups whose times are drawn,
  std::vector<Time> corrected;              // and by launch, what such a one takes alone.
  std::array<uint64_t, kUnitParts> load{};  // Of a part of the unit by one work-group alone.
  // By work-groups on the unit, from 1 on.
  std::array<uint64_t, kMostResident + 1> factor{};
  // Bytes per ms of one work-group alone, likewise.
  std::array<std::array<uint64_t, kMostResident + 1>, kGpuParts> bytes{};

  // What the unit makes of equal bodies, by their number, where no others are; how much longer they
  // take, and the bytes per ms that all of them ask for.
  struct Equals {
    uint64_t stretch = kOne;
    std::array<uint64_t, kGpuParts> asked{};
  };
  std::array<Equals, kMostResident + 1> equals{};
};

// Bodies of one kernel that share a unit: how many, of what law, and how much longer they take.
struct Company {
  uint64_t count = 0;
  const BodyLaw* law = nullptr;
  uint64_t stretch = kOne;
};
// By how much they lengthen each other by the unit's parts, factors left aside.
// REQUIRES: number <= 32, each with a count.
void lengthen_on_unit(Company* companies, unsigned number);

// What is beyond 1 of it, times percent / 100.
inline uint64_t lengthened(uint64_t stretch, uint32_t percent) {
  return kOne + (stretch - kOne) * percent / 100;
}
// Bytes per ms of bodies that take so much longer than alone, where each would ask for `bytes`.
inline uint64_t asked_by(uint64_t bodies, uint64_t bytes, uint64_t stretch) {
  return bodies * (bytes << kFractionBits) / stretch;
}

// Of those who share a part: how many, and what each asks for.
struct Sharer {
  uint64_t count = 0;
  uint64_t each = 0;
};
// The most that one of them gets; ~0 if there is enough for all. REQUIRES: number <= 32
uint64_t equal_share(const Sharer* sharers, unsigned number, uint64_t capacity);

// Of `count` numbers, one for each index, one in each of `count` equal parts of all: `hash` says in
// which part, and where in it.
class Strata {
 public:
  Strata() = default;
  // REQUIRES: count != 0.
  Strata(uint64_t count, uint64_t hash);
  uint64_t at(uint64_t index) const;

 private:
  uint64_t count_ = 1;
  uint64_t hash_ = 0;
  uint64_t step_ = 1;  // Has no factor in common with the count, so that each part comes once.
};
// A uniform number that depends on all four.
uint64_t hash_of(uint64_t seed, uint64_t kernel, uint64_t launch, uint64_t group);

}  // namespace stretto

#endif  // STRETTO_MODELS_SAMPLED_BODY_LAW_H_
