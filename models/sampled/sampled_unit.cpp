// SPDX-License-Identifier: Apache-2.0
#include "models/sampled/sampled_unit.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <iterator>
#include <string>
#include <utility>

namespace stretto {
namespace {

constexpr uint32_t kDigestDispatch = 0x4711;
constexpr uint32_t kDigestRetire = 0x4712;
constexpr uint32_t kDigestSuspend = 0x4713;
constexpr uint32_t kDigestResume = 0x4714;
constexpr unsigned kRateBits = 32;
constexpr uint64_t kPassed = uint64_t{1} << 63;  // Tag of an event: | slot << 32 | work-group.

bool passes(const SampledLaunch& launch) {
  return launch.is_left_out || (launch.part && launch.part->passes());
}

// for (const unsigned slot : SlotsOf(bits))
class SlotsOf {
 public:
  explicit SlotsOf(uint32_t bits) : bits_(bits) {}
  SlotsOf begin() const { return *this; }
  SlotsOf end() const { return SlotsOf(0); }
  unsigned operator*() const { return static_cast<unsigned>(std::countr_zero(bits_)); }
  SlotsOf& operator++() {
    bits_ &= bits_ - 1;
    return *this;
  }
  bool operator!=(const SlotsOf& other) const { return bits_ != other.bits_; }

 private:
  uint32_t bits_;
};

}  // namespace

SampledUnit::SampledUnit(SampledGpu& gpu, ComputeUnit& unit, uint16_t index,
                         WorkGroupListener& listener)
    : EventHandler(*gpu.services().queue),
      gpu_(gpu),
      unit_(unit),
      index_(index),
      listener_(listener),
      queue_(*gpu.services().queue),
      clock_(gpu.gpu_spec().clock_mhz),
      start_time_(clock_.edge(gpu.gpu_spec().start_cycles)) {
  unit.set_executor(*this, *this);
}

WorkGroupResources SampledUnit::resources() const {
  const GpuSpec& spec = gpu_.gpu_spec();
  WorkGroupResources free{spec.registers_bytes, spec.lds_bytes, spec.wavefront_slots,
                          spec.workgroup_slots};
  for (unsigned slot = 0; slot < kGridSlots; ++slot) {
    if (resident_[slot] == 0) continue;
    free.registers_bytes -= resident_[slot] * contexts_[slot]->registers_bytes;
    free.lds_bytes -= resident_[slot] * contexts_[slot]->lds_bytes;
    free.wavefronts -= resident_[slot] * contexts_[slot]->wavefronts;
    free.workgroups -= resident_[slot];
  }
  return free;
}

// ---- Work-groups

void SampledUnit::start(uint8_t slot, uint32_t wg_id, const DispatchContext& context) {
  SampledLaunch& launch = gpu_.launch_of(slot, context);
  gpu_.group_started(slot);
  contexts_[slot] = &context;
  ++resident_[slot];
  switch (launch.kind) {
    case SampledLaunch::Kind::executed: unit_.start(slot, wg_id, context); break;
    case SampledLaunch::Kind::wrapped: unit_.start(slot, wg_id, launch.wrapper); break;
    case SampledLaunch::Kind::measured:
      if (passes(launch)) {
        pass(slot, wg_id);
        break;
      }
      held_.push_back({wg_id, slot, &context});
      gpu_.hold(*this);
      gpu_.start_held();
      break;
    case SampledLaunch::Kind::sampled: {
      if (Digest* const digest = gpu_.services().digest; digest != nullptr)
        digest->event(now(), kDigestDispatch, uint64_t{index_} << 8 | slot, wg_id);
      begin_body({wg_id, slot, false, 0, now(), 0},
                 gpu_.draw(launch, wg_id, index_, order_of(launch, slot),
                           gpu_.at_a_time(launch, context)));
    }
  }
}

void SampledUnit::preempt(uint8_t slot) {
  unit_.preempt(slot);
  send_back(slot);
}

void SampledUnit::send_back(uint8_t slot) {
  std::vector<uint32_t> leaving;
  std::erase_if(held_, [&](const Held& one) {
    if (one.slot == slot) leaving.push_back(one.wg_id);
    return one.slot == slot;
  });
  advance();
  std::erase_if(bodies_, [&](const Body& body) {
    if (body.slot != slot || body.is_wrapped || now() >= body.begin + start_time_) return false;
    leaving.push_back(body.wg_id);
    left_body(body);
    return true;
  });
  set_rates();
  schedule();
  for (const uint32_t wg_id : leaving) {
    release(slot);
    gpu_.group_ended(slot, true);
    listener_.drained(index_, slot, wg_id);
  }
}

// A body has no bytes: what it holds of the unit takes the time of its way to memory alone.
class SampledUnit::SuspendedBody final : public SuspendedState {
 public:
  SuspendedBody(Time time, uint64_t traffic) : left(time), traffic_before(traffic) {}
  const Time left;                // Alone on the GPU.
  const uint64_t traffic_before;  // SampledGpu::traffic()
};

void SampledUnit::suspend(uint8_t slot, SaveArea& area) {
  unit_.suspend(slot, area);
  send_back(slot);
  for (Loading& one : loading_) one.is_left |= one.slot == slot;
  std::vector<std::pair<uint32_t, Time>> leaving;
  std::vector<uint64_t> addresses;
  std::erase_if(bodies_, [&](const Body& body) {
    const Time clock = classes_[slot].clock;
    if (body.slot != slot || body.is_wrapped || body.finish <= clock) return false;
    const std::optional<uint64_t> address =
        area.take(slot, ComputeUnit::saved_bytes(*contexts_[slot]));
    if (!address.has_value()) return false;
    leaving.emplace_back(body.wg_id, body.finish - clock);
    addresses.push_back(*address);
    left_body(body);
    return true;
  });
  set_rates();
  schedule();
  for (size_t i = 0; i < leaving.size(); ++i)
    save(slot, leaving[i].first, leaving[i].second, addresses[i]);
}

void SampledUnit::save(uint8_t slot, uint32_t wg_id, Time left, uint64_t address) {
  ++moving_;
  const uint64_t bytes = ComputeUnit::saved_bytes(*contexts_[slot]);
  gpu_.save_state(index_, bytes, [=, this, since = now()] {
    --moving_;
    unit_.count_saved(bytes, now() - since);
    ++gpu_.services().progress;
    if (Digest* const digest = gpu_.services().digest; digest != nullptr)
      digest->event(now(), kDigestSuspend, uint64_t{index_} << 8 | slot, wg_id);
    suspended(index_, slot, wg_id,
              {address, bytes, std::make_unique<SuspendedBody>(left, gpu_.traffic())}, 0);
  });
}

void SampledUnit::suspended(uint16_t cu, uint8_t slot, uint32_t wg_id, SavedGroup saved,
                            uint64_t multiply_adds) {
  forget_measured(slot, wg_id);
  release(slot);
  gpu_.group_suspended(slot);
  listener_.suspended(cu, slot, wg_id, std::move(saved), multiply_adds);
}

void SampledUnit::resume(uint8_t slot, uint32_t wg_id, const DispatchContext& context,
                         SavedGroup saved, SaveArea& area) {
  gpu_.launch_of(slot, context);
  gpu_.group_started(slot);
  contexts_[slot] = &context;
  ++resident_[slot];
  const auto* const body = dynamic_cast<const SuspendedBody*>(saved.state.get());
  if (body == nullptr) {
    unit_.resume(slot, wg_id, context, std::move(saved), area);
    return;
  }
  ++moving_;
  if (Digest* const digest = gpu_.services().digest; digest != nullptr)
    digest->event(now(), kDigestResume, uint64_t{index_} << 8 | slot, wg_id);
  const uint64_t address = saved.address;
  const Time left = body->left;
  loading_.push_back({wg_id, slot, false});
  unit_.count_load(saved.bytes);
  gpu_.load_state(index_, saved.bytes, body->traffic_before, [=, this, &area, since = now()] {
    --moving_;
    unit_.count_loaded(now() - since);
    const auto loading = std::find_if(loading_.begin(), loading_.end(), [&](const Loading& one) {
      return one.slot == slot && one.wg_id == wg_id;
    });
    const bool is_left = loading->is_left;
    loading_.erase(loading);
    if (is_left) {
      save(slot, wg_id, left, address);
      return;
    }
    area.give_back(address);
    // It has begun: it cannot be sent back any more.
    begin_body({wg_id, slot, false, 0, now() - std::min(now(), start_time_), 0}, {.time = left});
  });
}

void SampledUnit::release(uint8_t slot) { --resident_[slot]; }

void SampledUnit::done(uint16_t cu, uint8_t slot, uint32_t wg_id, uint64_t multiply_adds) {
  const auto measured = std::find_if(measured_.begin(), measured_.end(), [&](const Measured& one) {
    return one.slot == slot && one.wg_id == wg_id;
  });
  if (measured != measured_.end()) {
    integrate();
    const Time on_gpu = gpu_.measured_running(-1);
    const Measured ended = *measured;
    measured_.erase(measured);
    // One a clock.
    const Time refill =
        clock_.edge(uint64_t{gpu_.gpu_spec().cus} * gpu_.most_resident(*contexts_[slot]));
    gpu_.measured_body(
        slot, ended.counts,
        {now() - ended.begin, integral_ - ended.on_unit, on_gpu - ended.on_gpu,
         slot_integrals_[slot] - ended.of_launch, ended.first, since_end(slot), refill});
  }
  release(slot);
  gpu_.group_ended(slot, false);
  listener_.done(cu, slot, wg_id, multiply_adds);
  gpu_.start_held();
}

Time SampledUnit::since_end(uint8_t slot) { return now() - std::exchange(last_ends_[slot], now()); }

void SampledUnit::integrate() {
  const Time step = now() - integral_to_;
  integral_to_ = now();
  integral_ += step * measured_.size();
  for (const Measured& one : measured_) slot_integrals_[one.slot] += step;
}

// What it has taken counts for nothing.
void SampledUnit::forget_measured(uint8_t slot, uint32_t wg_id) {
  const auto measured = std::find_if(measured_.begin(), measured_.end(), [&](const Measured& one) {
    return one.slot == slot && one.wg_id == wg_id;
  });
  if (measured == measured_.end()) return;
  integrate();
  gpu_.measured_running(-1);
  gpu_.forget_body(slot, measured->counts);
  measured_.erase(measured);
}

void SampledUnit::drained(uint16_t cu, uint8_t slot, uint32_t wg_id) {
  forget_measured(slot, wg_id);
  release(slot);
  gpu_.group_ended(slot, true);
  listener_.drained(cu, slot, wg_id);
}

// ---- Measured work-groups

void SampledUnit::pass(uint8_t slot, uint32_t wg_id) {
  ++passing_;
  ++gpu_.launch_of(slot, *contexts_[slot]).begun;
  if (Digest* const digest = gpu_.services().digest; digest != nullptr)
    digest->event(now(), kDigestDispatch, uint64_t{index_} << 8 | slot, wg_id);
  queue_.schedule(now() + start_time_, *this, kPassed | uint64_t{slot} << 32 | wg_id);
}

void SampledUnit::passed(uint8_t slot, uint32_t wg_id) {
  --passing_;
  ++gpu_.services().progress;
  if (Digest* const digest = gpu_.services().digest; digest != nullptr)
    digest->event(now(), kDigestRetire, uint64_t{index_} << 8 | slot, wg_id);
  release(slot);
  gpu_.group_ended(slot, false);
  listener_.done(index_, slot, wg_id, 0);
}

bool SampledUnit::start_held() {
  const Held held = held_.front();
  if (passes(gpu_.launch_of(held.slot, *held.context))) {
    held_.pop_front();
    pass(held.slot, held.wg_id);
    return true;
  }
  const auto running = std::count_if(measured_.begin(), measured_.end(),
                                     [&](const auto& one) { return one.slot == held.slot; });
  if (static_cast<uint32_t>(running) >= gpu_.most_resident(*held.context)) return false;
  held_.pop_front();
  start_measured(held.slot, held.wg_id, *held.context);
  return true;
}

void SampledUnit::start_measured(uint8_t slot, uint32_t wg_id, const DispatchContext& context) {
  integrate();
  SampledLaunch& launch = gpu_.launch_of(slot, context);
  const bool first = !launch.body_has_ended;
  const auto counts = launch.part ? launch.part->begin() : MeasuredLaunch::Counts::noted;
  measured_.push_back({wg_id, slot, first, counts, now(), integral_, gpu_.measured_running(1),
                       slot_integrals_[slot]});
  ++launch.begun;
  unit_.start(slot, wg_id, context);
}

// ---- Bodies

void SampledUnit::enter_body(unsigned group, uint8_t slot, uint32_t wg_id) {
  const SampledLaunch& launch = gpu_.launch_of(slot, *contexts_[slot]);
  DrawnTime drawn = gpu_.draw(launch, wg_id, index_, order_of(launch, slot), resident_[slot]);
  // The wrapper has paid for the start.
  for (Time* const time : {&drawn.time, &drawn.least, &drawn.most})
    *time -= std::min(*time, start_time_);
  begin_body({wg_id, slot, true, static_cast<uint8_t>(group), now(), 0}, drawn);
}

uint64_t SampledUnit::order_of(const SampledLaunch& launch, uint8_t slot) {
  Order& order = orders_[slot];
  if (order.launch != launch.number) order = {launch.number, 0};
  return order.next++;
}

void SampledUnit::begin_body(Body body, const DrawnTime& drawn) {
  advance();
  Class& of = classes_[body.slot];
  of.law = gpu_.launch_of(body.slot, *contexts_[body.slot]).law;
  ++of.bodies;
  active_ |= 1u << body.slot;
  body.need = drawn.joins ? need_to_join(body.slot, drawn) : drawn.time;
  body.finish = of.clock + body.need;
  body.since = now();
  bodies_.push_back(body);
  of.first = std::min(of.first, body.finish);
  set_rates();
  schedule();
}

Time SampledUnit::need_to_join(unsigned slot, const DrawnTime& drawn) const {
  JoinedEnd end(drawn, now());
  const Time clock = classes_[slot].clock;
  for (const Body& body : bodies_)
    if (body.slot == slot && body.finish >= clock) end.see(body.finish - clock, body.since);
  return end.need();
}

void SampledUnit::left_body(const Body& body) {
  Class& of = classes_[body.slot];
  wanted_ += of.clock - (body.finish - body.need);
  if (--of.bodies == 0) active_ &= ~(1u << body.slot);
  if (body.finish == of.first) firsts_left_ |= 1u << body.slot;
}

// Looks for the first body of launches whose first one has left.
void SampledUnit::find_firsts() {
  if (firsts_left_ == 0) return;
  for (const unsigned slot : SlotsOf(firsts_left_)) classes_[slot].first = kNever;
  for (const Body& body : bodies_) {
    if ((firsts_left_ >> body.slot & 1) == 0) continue;
    Time& first = classes_[body.slot].first;
    first = std::min(first, body.finish);
  }
  firsts_left_ = 0;
}

void SampledUnit::advance() {
  const Time step = now() - last_;
  last_ = now();
  if (step == 0 || bodies_.empty()) return;
  std::array<Wide, kUnitParts> used{};  // Of 2^20.
  for (const unsigned slot : SlotsOf(active_)) {
    Class& of = classes_[slot];
    const Wide worked = Wide{step} * of.rate + of.carry;
    const Time whole = static_cast<Time>(worked >> kRateBits);
    of.carry = static_cast<uint64_t>(worked) & ((uint64_t{1} << kRateBits) - 1);
    of.clock += whole;
    done_ += Wide{whole} * of.bodies;
    too_fast_ += whole > step + 1 ? 1 : 0;
    for (unsigned part = 0; part < kUnitParts; ++part)
      used[part] += Wide{whole} * of.bodies * of.law->load[part];
  }
  // Shares and stretches are rounded, clocks too.
  const Wide peak = Wide{step + step / 4096 + 2 * BodyLaw::kMostResident} << kFractionBits;
  above_peak_ +=
      std::any_of(used.begin(), used.end(), [&](Wide one) { return one > peak; }) ? 1 : 0;
}

// By what is resident now.
void SampledUnit::set_rates() {
  std::array<std::array<uint64_t, kGpuParts>, kGridSlots> asked;
  if (bodies_.size() <= BodyLaw::kMostResident && std::has_single_bit(active_)) {
    const unsigned slot = *SlotsOf(active_);
    const BodyLaw::Equals& equals = classes_[slot].law->equals[bodies_.size()];
    classes_[slot].stretch = equals.stretch;
    asked[slot] = equals.asked;
  } else {
    set_stretches();
    const size_t resident = std::min<size_t>(bodies_.size(), BodyLaw::kMostResident);
    for (const unsigned slot : SlotsOf(active_)) {
      const Class& of = classes_[slot];
      for (unsigned part = 0; part < kGpuParts; ++part)
        asked[slot][part] = asked_by(of.bodies, of.law->bytes[part][resident], of.stretch);
    }
  }
  for (const unsigned slot : SlotsOf(active_)) {
    Class& of = classes_[slot];
    const uint64_t all = of.stretch * gpu_.stretch(static_cast<uint8_t>(slot)) >> kFractionBits;
    if (all != of.all_stretch)
      of.rate = (uint64_t{1} << (kFractionBits + kRateBits)) / all * gpu_.spec().fault_rate;
    of.all_stretch = all;
  }
  for (const unsigned slot : SlotsOf(active_ | told_)) {
    if (classes_[slot].bodies == 0) asked[slot] = {};
    tell(slot, asked[slot]);
  }
  told_ = active_;
}

// Where bodies of several launches share the unit, or more than laws know of.
void SampledUnit::set_stretches() {
  const size_t resident = std::min<size_t>(bodies_.size(), BodyLaw::kMostResident);
  std::array<Company, kGridSlots> companies;
  unsigned count = 0;
  for (const unsigned slot : SlotsOf(active_))
    companies[count++] = {classes_[slot].bodies, classes_[slot].law};
  lengthen_on_unit(companies.data(), count);
  const Company* company = companies.data();
  for (const unsigned slot : SlotsOf(active_)) {
    Class& of = classes_[slot];
    of.stretch = (company++)->stretch;
    if (count > 1) of.stretch = lengthened(of.stretch, gpu_.spec().contention_percent);
    of.stretch = of.stretch * of.law->factor[resident] >> kFractionBits;
  }
}

// The GPU, of what has changed.
void SampledUnit::tell(unsigned slot, const std::array<uint64_t, kGpuParts>& asked) {
  Class& of = classes_[slot];
  if (asked == of.asked && of.bodies == of.told) return;
  std::array<int64_t, kGpuParts> more{};
  for (unsigned part = 0; part < kGpuParts; ++part)
    more[part] = static_cast<int64_t>(asked[part] - of.asked[part]);
  of.asked = asked;
  gpu_.ask(static_cast<uint8_t>(slot),
           static_cast<int64_t>(of.bodies) - static_cast<int64_t>(of.told), more);
  of.told = of.bodies;
}

void SampledUnit::rerate() {
  advance();
  set_rates();
  schedule();
}

void SampledUnit::schedule() {
  find_firsts();
  Time next = kNever;
  for (const unsigned slot : SlotsOf(active_)) {
    const Class& of = classes_[slot];
    const Wide left = (Wide{of.first - std::min(of.clock, of.first)} << kRateBits);
    const Wide wait = left <= of.carry ? 0 : (left - of.carry + of.rate - 1) / of.rate;
    next = std::min(next, now() + static_cast<Time>(wait));
  }
  if (next == kNever) return;
  next = std::max(clock_.edge_at_or_after(next), now());
  if (next >= next_) return;
  next_ = next;
  queue_.schedule(next, *this);
}

void SampledUnit::on_event(uint64_t tag) {
  if ((tag & kPassed) != 0) {
    passed(static_cast<uint8_t>(tag >> 32), static_cast<uint32_t>(tag));
    return;
  }
  if (now() != next_) return;  // Another one took its place.
  next_ = kNever;
  advance();
  ended_.clear();
  std::erase_if(bodies_, [&](const Body& body) {
    const Class& of = classes_[body.slot];
    if (body.finish > of.clock) return false;
    ended_.push_back(body);
    return true;
  });
  for (const Body& body : ended_) left_body(body);
  if (!ended_.empty()) set_rates();
  schedule();
  for (const Body& body : ended_) end_body(body);
}

void SampledUnit::end_body(const Body& body) {
  PartitionServices& services = gpu_.services();
  SampledLaunch& launch = gpu_.launch_of(body.slot, *contexts_[body.slot]);
  gpu_.body_ended(*launch.law);
  launch.body_has_ended = true;
  ++services.progress;
  if (services.trace != nullptr) {
    services.trace->span("gpu" + std::to_string(services.gpu) + "/cu" + std::to_string(index_),
                         "wg " + std::to_string(body.wg_id), body.begin, now(),
                         {.code = contexts_[body.slot]->entry});
  }
  if (body.is_wrapped) {
    unit_.leave_body(body.group, launch.kernel.behind);
    return;
  }
  if (services.digest != nullptr)
    services.digest->event(now(), kDigestRetire, uint64_t{index_} << 8 | body.slot, body.wg_id);
  release(body.slot);
  gpu_.group_ended(body.slot, false);
  listener_.done(index_, body.slot, body.wg_id, 0);
}

void SampledUnit::audit(AuditSink& sink) const {
  Wide begun = wanted_;
  for (const Body& body : bodies_) begun += classes_[body.slot].clock - (body.finish - body.need);
  sink.equal("work of sampled bodies = what they need and have got", static_cast<uint64_t>(done_),
             static_cast<uint64_t>(begun));
  sink.equal("times that sampled bodies used a part of a unit above its peak", above_peak_, 0);
  sink.equal("times that a sampled body worked faster than alone", too_fast_, 0);
}

}  // namespace stretto
