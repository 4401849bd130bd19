// SPDX-License-Identifier: Apache-2.0
#include "models/sampled/measurement.h"

#include <algorithm>
#include <cmath>

namespace stretto {
namespace {

constexpr uint64_t kKept = 8;  // Launches of a kernel whose times are kept apart.

constexpr uint64_t BodyDemand::*kDemands[] = {
    &BodyDemand::tensor_cycles, &BodyDemand::simt_cycles,    &BodyDemand::issue_slots,
    &BodyDemand::l2_bytes,      &BodyDemand::hbm_read_bytes, &BodyDemand::hbm_written_bytes};

}  // namespace

void Measurement::Sum::add(const MeasuredBody& body) {
  ++bodies;
  time += body.time;
  on_unit += body.on_unit;
  on_gpu += body.on_gpu;
}

void Measurement::Sum::add(const Sum& sum, uint64_t all) {
  bodies += all;
  time += sum.time * all / sum.bodies;
  on_unit += sum.on_unit * all / sum.bodies;
  on_gpu += sum.on_gpu * all / sum.bodies;
}

bool Measurement::keep(Kernel& kernel, uint64_t launch, const MeasuredBody& body) {
  ++kernel.measured;
  if (body.is_left_over) return false;  // What it took is what fewer take.
  if (launch >= kKept) return true;
  if (kernel.kept.size() <= launch) kernel.kept.resize(launch + 1);
  Kernel::Launch& one = kernel.kept[launch];
  Kernel::Bodies& bodies = body.first ? one.first : one.rest;
  bodies.times.push_back(body.time);
  bodies.joined += body.behind <= body.refill ? 1 : 0;
  bodies.company += static_cast<double>(body.of_launch) / static_cast<double>(body.time);
  bodies.refill += static_cast<double>(body.refill);
  return true;
}

void Measurement::body(const std::string& key, uint64_t grid, uint64_t launch,
                       const MeasuredBody& body) {
  Kernel& kernel = kernels_[key];
  kernel.grid = grid;
  if (keep(kernel, launch, body)) kernel.sum.add(body);
}

void Measurement::part(const std::string& key, uint64_t grid, uint64_t launch,
                       const MeasuredLaunch& part) {
  Kernel& kernel = kernels_[key];
  kernel.grid = grid;
  const uint64_t others = grid - part.first().size();
  for (const MeasuredBody& one : part.first()) body(key, grid, launch, one);
  Sum rest;
  for (const MeasuredBody& one : part.rest())
    if (keep(kernel, launch, one)) rest.add(one);
  if (launch < kKept) kernel.kept[launch].stands_for = others;
  if (rest.bodies != 0) kernel.sum.add(rest, others);
}

void Measurement::begin(const std::string& key) {
  interval_ = key;
  interval_bodies_ = 0;
  is_mixed_ = false;
  before_ = settled_before_ = counters_();
  settled_bodies_ = 0;
}

void Measurement::settled() {
  settled_bodies_ = interval_bodies_;
  settled_before_ = counters_();
}

void Measurement::end_part() {
  if (!is_mixed_) use(interval_bodies_ - settled_bodies_, settled_before_);
  is_mixed_ = true;  // What runs on does not count.
}

void Measurement::end() {
  if (!is_mixed_ && interval_bodies_ != 0) use(interval_bodies_, before_);
  interval_bodies_ = 0;
}

void Measurement::use(uint64_t bodies, const BodyDemand& before) {
  const BodyDemand now = counters_();
  Kernel& kernel = kernels_[interval_];
  kernel.demand_bodies += bodies;
  for (const auto demand : kDemands) kernel.demand.*demand += now.*demand - before.*demand;
}

void Measurement::launch(const std::string& key, uint64_t launch, Time time) {
  std::vector<Kernel::Launch>& kept = kernels_[key].kept;
  if (launch < kept.size()) kept[launch].time = time;
}

bool Measurement::has(const std::string& key) const {
  const auto found = kernels_.find(key);
  return found != kernels_.end() && found->second.sum.time != 0;
}

// Those that ended together, beyond those that would if times had nothing to do with each other. Then ends of a
// unit come evenly over the time of a body, but of the first wave, which begins together, over the times that
// these take.
TimeDistribution Measurement::distribution(Kernel::Bodies bodies, bool is_first) {
  if (bodies.times.empty()) return {};
  TimeDistribution one = TimeDistribution::of(bodies.times);
  const double count = static_cast<double>(one.count);
  const Time over = is_first ? one.at.back() - one.at.front() : one.mean();
  const double ends =
      bodies.company / count * (bodies.refill / count) / std::max(static_cast<double>(over), 1.0);
  const double by_chance = count * (1 - std::exp(-ends));
  const double more =
      (static_cast<double>(bodies.joined) - by_chance) / std::max(count - by_chance, 1.0);
  one.joined_ppm = static_cast<uint64_t>(std::max(more, 0.0) * TimeDistribution::kAll);
  return one;
}

BodyTimes Measurement::kernel(const std::string& key) const {
  const Kernel& kernel = kernels_.at(key);
  BodyTimes times;
  times.grid = kernel.grid;
  times.groups = kernel.measured;
  for (const auto demand : kDemands) {
    if (kernel.demand_bodies != 0)
      times.demand.*demand = kernel.demand.*demand / kernel.demand_bodies;
  }
  times.points.push_back({residency_percent_, limit_,
                          static_cast<uint64_t>(1000 * kernel.sum.on_unit / kernel.sum.time),
                          static_cast<uint64_t>(1000 * kernel.sum.on_gpu / kernel.sum.time),
                          static_cast<Time>(kernel.sum.time / kernel.sum.bodies)});
  for (Kernel::Launch one : kernel.kept) {
    if (one.first.times.empty() && one.rest.times.empty()) continue;
    LaunchTimes& launch = times.launches.emplace_back();
    launch.time = one.time;
    launch.first = distribution(one.first, true);
    launch.rest = distribution(one.rest, false);
    if (one.stands_for != 0 && launch.rest.count != 0) launch.rest.count = one.stands_for;
  }
  return times;
}

std::map<std::string, BodyTimes> Measurement::kernels() const {
  std::map<std::string, BodyTimes> all;
  for (const auto& [key, kernel] : kernels_) {
    if (kernel.sum.time != 0) all.emplace(key, this->kernel(key));
  }
  return all;
}

}  // namespace stretto
