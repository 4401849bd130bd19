// SPDX-License-Identifier: Apache-2.0
#include "models/sampled/body_law.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

namespace stretto {
namespace {

constexpr Time kMillisecond = 1'000 * kMicrosecond;

uint64_t scaled(Wide value, uint64_t numerator, uint64_t denominator) {
  return static_cast<uint64_t>(value * numerator / std::max<uint64_t>(denominator, 1));
}

uint64_t mixed(uint64_t value) {
  value ^= value >> 30;
  value *= 0xBF58476D1CE4E5B9;
  value ^= value >> 27;
  value *= 0x94D049BB133111EB;
  return value ^ value >> 31;
}

unsigned resident_of(const BodyPoint& point) {
  return static_cast<unsigned>(
      std::clamp<uint64_t>((point.residency_milli + 500) / 1000, 1, BodyLaw::kMostResident));
}

// Values at some residencies to values at all; constant beyond the outermost.
using Column = std::array<uint64_t, BodyLaw::kMostResident + 1>;
void spread(const std::vector<std::pair<unsigned, uint64_t>>& known, Column& column) {
  for (unsigned r = 0; r < column.size(); ++r) {
    const auto above =
        std::find_if(known.begin(), known.end(), [r](const auto& one) { return one.first >= r; });
    if (above == known.begin() || above == known.end()) {
      column[r] = above == known.end() ? known.back().second : above->second;
      continue;
    }
    const auto below = above - 1;
    const uint64_t span = above->first - below->first, into = r - below->first;
    column[r] = (below->second * (span - into) + above->second * into) / span;
  }
}

}  // namespace

uint64_t BodyRates::hbm_limit(const BodyTable& table) const {
  uint64_t best = hbm_bytes_per_us / 2;
  for (const auto& [key, kernel] : table.kernels) {
    for (const BodyPoint& point : kernel.points) {
      const Wide bytes = Wide{point.groups_milli} * kernel.demand.hbm_bytes();
      best = std::max(best, scaled(bytes, kMicrosecond / 1000, point.time));
    }
  }
  return std::min(best, hbm_bytes_per_us);
}

BodyLaw::BodyLaw(const BodyTimes& of, const BodyRates& rates, uint64_t hbm_limit) : times(&of) {
  alone = of.points.front().time;
  for (const BodyPoint& point : of.points) alone = std::min(alone, point.time);
  full = of.group_time();
  for (const LaunchTimes& launch : of.launches)
    corrected.push_back(scaled(alone, launch.correction_ppm, 1'000'000));
  const uint64_t clocks = std::max<uint64_t>(scaled(alone, rates.clock_mhz, kMicrosecond), 1);
  load[kPartTensor] = scaled(of.demand.tensor_cycles, kOne, clocks);
  load[kPartSimt] = scaled(of.demand.simt_cycles, kOne, clocks);
  load[kPartIssue] = scaled(of.demand.issue_slots, kOne, clocks * rates.issue_ports);
  const std::array<uint64_t, kGpuParts> asked{scaled(of.demand.l2_bytes, kMillisecond, alone),
                                              scaled(of.demand.hbm_bytes(), kMillisecond, alone)};
  const std::array<uint64_t, kGpuParts> has{1000 * rates.l2_bytes_per_us, 1000 * hbm_limit};

  std::vector<std::pair<unsigned, uint64_t>> factors;
  std::array<std::vector<std::pair<unsigned, uint64_t>>, kGpuParts> demands;
  std::vector<BodyPoint> points = of.points;
  // Of points at one residency the last stands: without a limit, with all that fit.
  std::sort(points.begin(), points.end(), [](const BodyPoint& a, const BodyPoint& b) {
    return std::tuple(resident_of(a), a.limit == 0, a.residency_percent, a.groups_milli) <
           std::tuple(resident_of(b), b.limit == 0, b.residency_percent, b.groups_milli);
  });
  for (const BodyPoint& point : points) {
    const unsigned resident = resident_of(point);
    uint64_t stretch = kOne;  // By the unit's parts.
    for (const uint64_t part : load)
      stretch = std::max(stretch, part * point.residency_milli / 1000);
    std::array<uint64_t, kGpuParts> bytes = asked;
    uint64_t factor_here = scaled(point.time, kOne, scaled(alone, stretch, kOne));
    for (unsigned part = 0; part < kGpuParts; ++part) {
      const uint64_t used = scaled(Wide{asked[part]} * point.groups_milli / 1000, kOne, stretch);
      const uint64_t bound = scaled(used, kOne, has[part]);
      if (bound <= kOne) continue;
      // The part bounds it: all of its time is the part's.
      bytes[part] = scaled(asked[part], factor_here, bound);
      factor_here = kOne;
      break;
    }
    factor_here = std::max(factor_here, kOne);
    const auto note = [resident](auto& column, uint64_t value) {
      if (!column.empty() && column.back().first == resident) column.pop_back();
      column.emplace_back(resident, value);
    };
    note(factors, factor_here);
    for (unsigned part = 0; part < kGpuParts; ++part) note(demands[part], bytes[part]);
  }
  spread(factors, factor);
  for (unsigned part = 0; part < kGpuParts; ++part) spread(demands[part], bytes[part]);
  for (unsigned bodies = 1; bodies <= kMostResident; ++bodies) {
    Equals& all = equals[bodies];
    for (const uint64_t one : load) all.stretch = std::max(all.stretch, bodies * one);
    all.stretch = all.stretch * factor[bodies] >> kFractionBits;
    for (unsigned part = 0; part < kGpuParts; ++part)
      all.asked[part] = asked_by(bodies, bytes[part][bodies], all.stretch);
  }
}

DrawnTime BodyLaw::draw(uint64_t launch, uint64_t which, bool first, Correction correction,
                        uint64_t random) const {
  const size_t index = times->index_for(launch, which);
  const LaunchTimes& one = times->launches[index];
  const bool has_both = one.first.count != 0 && one.rest.count != 0;
  const bool takes_first = has_both ? first : one.first.count != 0;
  const TimeDistribution& from = takes_first ? one.first : one.rest;
  Time body = corrected[index];
  if (correction == Correction::none) body = alone;
  if (correction == Correction::longer) body = std::max(body, alone);
  const auto in_time_alone = [&](Time time) { return scaled(time, body, full); };
  return {in_time_alone(from.draw(random)), in_time_alone(from.at.front()),
          in_time_alone(from.at.back()), mixed(random) % TimeDistribution::kAll < from.joined_ppm};
}

namespace {

constexpr unsigned kMostCompanies = 32;

// By how much longer than alone a request of each part takes.
using Waits = std::array<uint64_t, kUnitParts>;

// Bodies whose requests of each part wait as `busy` says, those of a company for at least what it
// finds there of others (`found`).
class Unit {
 public:
  Unit(Company* companies, unsigned number, const Waits* found)
      : companies_(companies), number_(number), found_(found) {
    wait();
  }

  // Has the requests of each part wait until it is just busy, or no longer than for what is found.
  void fill() {
    constexpr unsigned kRounds = 8;
    for (unsigned round = 0; round < kRounds; ++round) {
      const Waits before = busy_;
      for (unsigned part = 0; part < kUnitParts; ++part) fill(part);
      if (std::equal(busy_.begin(), busy_.end(), before.begin(), [](uint64_t a, uint64_t b) {
            return std::max(a, b) - std::min(a, b) <= kOne >> 12;
          }))
        break;
    }
    // Nobody gets more than there is, though the rounds have not come to rest.
    Wide most = kOne;
    for (unsigned part = 0; part < kUnitParts; ++part) most = std::max(most, asked_of(part).all);
    for (unsigned i = 0; i < number_ && most > kOne; ++i)
      companies_[i].stretch = static_cast<uint64_t>(companies_[i].stretch * most >> kFractionBits);
  }

  // Requests of each part that one finds there who comes from outside.
  Waits found() const {
    Waits all{};
    for (unsigned part = 0; part < kUnitParts; ++part) {
      for (unsigned i = 0; i < number_; ++i)
        all[part] += companies_[i].count * scaled(companies_[i].law->load[part],
                                                  kOne + wait_of(i, part), companies_[i].stretch);
    }
    return all;
  }

 private:
  // What is asked of a part, of what it has; by how much that falls as its requests take longer.
  struct Asked {
    Wide all = 0, slope = 0;
  };

  uint64_t wait_of(unsigned company, unsigned part) const {
    return found_ == nullptr ? busy_[part] : std::max(busy_[part], found_[company][part]);
  }

  void wait() {
    for (unsigned i = 0; i < number_; ++i) {
      Wide more = 0;
      for (unsigned part = 0; part < kUnitParts; ++part)
        more += Wide{companies_[i].law->load[part]} * wait_of(i, part);
      companies_[i].stretch = kOne + static_cast<uint64_t>(more >> kFractionBits);
    }
  }

  Asked asked_of(unsigned part) const {
    Asked asked;
    for (unsigned i = 0; i < number_; ++i) {
      const Wide each = (companies_[i].law->load[part] << kFractionBits) / companies_[i].stretch;
      asked.all += companies_[i].count * each;
      if (wait_of(i, part) == busy_[part])
        asked.slope += companies_[i].count * each * each >> kFractionBits;
    }
    return asked;
  }

  // What one unit of it can take for one that asks, 1 / asked, is concave in the wait of those that
  // wait alike: Newton's steps never go too far but where more come to wait so.
  void fill(unsigned part) {
    constexpr unsigned kSteps = 16;
    busy_[part] = 0;
    wait();
    if (asked_of(part).all <= kOne) return;
    if (found_ != nullptr) {
      busy_[part] = ~uint64_t{0};
      for (unsigned i = 0; i < number_; ++i) busy_[part] = std::min(busy_[part], found_[i][part]);
    }
    for (unsigned step = 0; step < kSteps; ++step) {
      wait();
      const Asked asked = asked_of(part);
      if (asked.all <= kOne || asked.slope == 0) return;
      const auto more = static_cast<uint64_t>(asked.all * (asked.all - kOne) / asked.slope);
      if (more == 0) return;
      busy_[part] += more;
    }
    wait();
  }

  Company* const companies_;
  const unsigned number_;
  const Waits* const found_;  // Of each company; nullptr: nothing.
  Waits busy_{};
};

}  // namespace

void lengthen_on_unit(Company* companies, unsigned number) {
  if (number == 1) {
    Unit(companies, number, nullptr).fill();
    return;
  }
  std::array<Waits, kMostCompanies> found;
  std::array<Company, kMostCompanies> others;
  for (unsigned one = 0; one < number; ++one) {
    std::remove_copy_if(companies, companies + number, others.begin(),
                        [&](const Company& of) { return &of == companies + one; });
    Unit unit(others.data(), number - 1, nullptr);
    unit.fill();
    found[one] = unit.found();
  }
  Unit(companies, number, found.data()).fill();
}

uint64_t equal_share(const Sharer* sharers, unsigned number, uint64_t capacity) {
  uint64_t asked = 0, count = 0;
  for (unsigned i = 0; i < number; ++i) {
    asked += sharers[i].count * sharers[i].each;
    count += sharers[i].count;
  }
  if (asked <= capacity) return ~uint64_t{0};
  // Who needs no more than the share of this round has it, which leaves more for the others.
  uint32_t served = 0;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    const uint64_t share = capacity / count;
    for (unsigned i = 0; i < number; ++i) {
      if ((served >> i & 1) != 0 || sharers[i].count == 0 || sharers[i].each > share) continue;
      served |= 1u << i;
      capacity -= sharers[i].count * sharers[i].each;
      count -= sharers[i].count;
      goes_on = true;
    }
  }
  return std::max<uint64_t>(capacity / count, 1);
}

Strata::Strata(uint64_t count, uint64_t hash) : count_(count), hash_(hash) {
  step_ = 1 + (hash >> 32) % count;
  while (std::gcd(step_, count) != 1) ++step_;
}

uint64_t Strata::at(uint64_t index) const {
  const Wide part = (Wide{index % count_} * step_ + (hash_ & 0xFFFFFFFF)) % count_;
  const uint64_t place = mixed(hash_ + index);
  return static_cast<uint64_t>(((part << 64) + place) / count_);
}

uint64_t hash_of(uint64_t seed, uint64_t kernel, uint64_t launch, uint64_t group) {
  constexpr uint64_t kStep = 0x9E3779B97F4A7C15;
  uint64_t hash = mixed(seed + kStep);
  hash = mixed(hash ^ (kernel + kStep));
  hash = mixed(hash ^ (launch + kStep));
  return mixed(hash ^ (group + kStep));
}

}  // namespace stretto
