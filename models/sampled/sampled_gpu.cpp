// SPDX-License-Identifier: Apache-2.0
#include "models/sampled/sampled_gpu.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "models/sampled/sampled_unit.h"

namespace stretto {
namespace {

// Up to a number of few leading bits: what changes little stays.
uint64_t rounded_up(uint64_t value, unsigned leading) {
  const unsigned bits = static_cast<unsigned>(std::bit_width(value));
  if (bits <= leading) return value;
  const uint64_t step = uint64_t{1} << (bits - leading);
  return (value + step - 1) / step * step;
}

// A launch so many times as long as the L2 takes to be filled is by a twentieth at most longer than one
// that finds all of its operands there.
constexpr unsigned kLong = 20;

}  // namespace

SampledGpu::SampledGpu(const GpuSpec& gpu_spec, const SampledSpec& spec, const BodyRates& rates,
                       PartitionServices& services, Gpu& gpu, BodyTable table, Parts parts)
    : EventHandler(*services.queue),
      gpu_spec_(gpu_spec),
      spec_(spec),
      rates_(rates),
      clock_(gpu_spec.clock_mhz),
      services_(services),
      gpu_(gpu),
      table_(std::move(table)),
      parts_(std::move(parts)),
      hbm_limit_(rates.hbm_limit(table_)),
      measurement_(spec.residency_percent, spec.groups, [this] { return counters(); }),
      keys_(*parts_.memory, gpu.ranges),
      saves_(*services.queue, gpu_spec.cus, port_rate(gpu.l2.spec().cu_store_bytes_per_cycle),
             rates.l2_bytes_per_us, l2_latency()),
      loads_(*services.queue, gpu_spec.cus, port_rate(gpu.l2.spec().cu_load_bytes_per_cycle),
             rates.l2_bytes_per_us, l2_latency()),
      memory_loads_(*services.queue, gpu_spec.cus, port_rate(gpu.l2.spec().cu_load_bytes_per_cycle),
                    hbm_limit_, l2_latency()) {
  stretch_.fill(kOne);
  std::vector<WorkGroupExecutor*> executors;
  for (size_t i = 0; i < gpu.units.size(); ++i) {
    units_.push_back(std::make_unique<SampledUnit>(*this, *gpu.units[i], static_cast<uint16_t>(i),
                                                   gpu.front_end));
    executors.push_back(units_.back().get());
  }
  gpu.front_end.connect(std::move(executors), &gpu.l2);
}

SampledGpu::~SampledGpu() = default;

uint64_t SampledGpu::port_rate(uint32_t bytes_per_cycle) const {
  return uint64_t{bytes_per_cycle} * gpu_spec_.clock_mhz;
}
Time SampledGpu::l2_latency() const {
  return clock_.edge(gpu_.l2.spec().request_cycles + gpu_.l2.spec().response_cycles);
}

void SampledGpu::save_state(unsigned unit, uint64_t bytes, std::function<void()> done) {
  state_bytes_ += bytes;
  saves_.move(unit, bytes, std::move(done));
}

void SampledGpu::load_state(unsigned unit, uint64_t bytes, uint64_t traffic_before,
                            std::function<void()> done) {
  const bool is_near = traffic() - traffic_before < gpu_.l2.spec().bytes;
  state_bytes_ += bytes;
  (is_near ? loads_ : memory_loads_).move(unit, bytes, std::move(done));
}

BodyDemand SampledGpu::counters() const {
  BodyDemand all;
  for (const auto& unit : gpu_.units) {
    all.tensor_cycles += unit->counters().tensor.busy;
    all.simt_cycles += unit->counters().simt.busy;
    all.issue_slots += unit->instructions();
  }
  all.l2_bytes = gpu_.l2.counters().tag_bytes + gpu_.l2.counters().bypass_bytes;
  std::tie(all.hbm_read_bytes, all.hbm_written_bytes) = parts_.hbm_bytes();
  return all;
}

// ---- Launches

SampledLaunch& SampledGpu::launch_of(uint8_t slot, const DispatchContext& context) {
  SampledLaunch& launch = launches_[slot];
  if (launch.number != context.launch) resolve(slot, context);
  return launch;
}

void SampledGpu::resolve(uint8_t slot, const DispatchContext& context) {
  assert(launches_[slot].running == 0);
  SampledLaunch launch;
  launch.number = context.launch;
  launch.kernel = keys_.of(context);
  const std::string& key = launch.kernel.key;
  const bool is_rewritten = launch.kernel.body != 0;
  launch.of_kernel = launches_of_[key]++;
  if (gpu_spec_.executor == Executor::sampled) {
    const auto times = table_.kernels.find(key);
    if (times == table_.kernels.end()) parts_.missing(key, context.entry);
    launch.law = &law(key, times->second);
  } else if (is_rewritten || launch.of_kernel >= spec_.launches || large_.count(key) != 0) {
    launch.is_left_out = !is_rewritten && spec_.waves != 0;
    if (!launch.is_left_out && measurement_.has(key)) {
      const auto times = times_.find(key);
      launch.law = &law(key, times != times_.end()
                                 ? times->second
                                 : times_.emplace(key, measurement_.kernel(key)).first->second);
    }
  }
  using Kind = SampledLaunch::Kind;
  if (launch.law != nullptr) {
    launch.kind = is_rewritten ? Kind::wrapped : Kind::sampled;
  } else if (!is_rewritten) {
    launch.kind = Kind::measured;
    if (!launch.is_left_out) measure(launch, context);
    entries_.emplace(key, context.entry);
  }
  if (launch.kind == Kind::wrapped) {
    launch.wrapper = context;
    launch.wrapper.wavefronts = 1;
    launch.wrapper.body = launch.kernel.body;
  }
  if (launch.law != nullptr) {
    launch.hash = hash_of(spec_.seed, launch.kernel.number, launch.number, 0);
    launch.strata = Strata(launch.kernel.grid, launch.hash);
  }
  launches_[slot] = std::move(launch);
}

uint32_t SampledGpu::most_that_fit(const DispatchContext& context) const {
  uint32_t most =
      std::min(gpu_spec_.workgroup_slots, gpu_spec_.wavefront_slots / context.wavefronts);
  if (context.registers_bytes != 0)
    most = std::min(most, gpu_spec_.registers_bytes / context.registers_bytes);
  if (context.lds_bytes != 0) most = std::min(most, gpu_spec_.lds_bytes / context.lds_bytes);
  return most;
}

uint32_t SampledGpu::most_resident(const DispatchContext& context) const {
  return std::max(1u, most_that_fit(context) * spec_.residency_percent / 100);
}

uint64_t SampledGpu::hbm_bytes() const {
  const auto [read, written] = parts_.hbm_bytes();
  return read + written;
}

// How much of it is simulated.
void SampledGpu::measure(SampledLaunch& launch, const DispatchContext& context) {
  launch.hbm_bytes = hbm_bytes();
  if (spec_.waves == 0) return;
  const uint64_t fit = most_that_fit(context), resident = most_resident(context);
  const bool has_limit = spec_.groups != 0;
  // stretto characterise measures all that fit and one, too.
  launch.is_left_out = !has_limit && spec_.residency_percent != 100 &&
                       (resident == fit || (resident == 1 && spec_.residency_percent != 0));
  // Work-groups that are all resident may wait for each other.
  if (launch.kernel.grid <= fit * units_.size()) return;
  uint64_t at_once = resident * units_.size();
  if (has_limit) at_once = std::min<uint64_t>(at_once, spec_.groups);
  // Few at a time leave the memory idle, whatever the L2 holds.
  launch.part.emplace(spec_.waves * at_once, has_limit ? 0 : turnover());
}

const BodyLaw& SampledGpu::law(const std::string& key, const BodyTimes& times) {
  const auto found = laws_.find(key);
  if (found != laws_.end()) return found->second;
  return laws_.emplace(key, BodyLaw(times, rates_, hbm_limit_)).first->second;
}

uint64_t SampledGpu::at_a_time(const SampledLaunch& launch, const DispatchContext& context) const {
  return std::min<uint64_t>(most_that_fit(context),
                            (launch.kernel.grid + units_.size() - 1) / units_.size());
}

DrawnTime SampledGpu::draw(const SampledLaunch& launch, uint32_t wg_id, uint16_t unit,
                           uint64_t order, uint64_t at_a_time) const {
  const uint64_t of_all =
      launch.kind == SampledLaunch::Kind::sampled
          ? launch.strata.at(wg_id)
          : hash_of(spec_.seed, launch.kernel.number, launch.number, uint64_t{wg_id} << 32 | order);
  const Strata on_unit(at_a_time, hash_of(launch.hash, unit, order / at_a_time, 0));
  const Wide part = Wide{on_unit.at(order % at_a_time)} * at_a_time >> 64;
  const auto random = static_cast<uint64_t>(((part << 64) + of_all) / at_a_time);
  Correction correction = Correction::none;
  if (running_slots_ <= 1)
    correction = launch.kind == SampledLaunch::Kind::sampled ? Correction::all : Correction::longer;
  return launch.law->draw(launch.of_kernel, launch.hash, !launch.body_has_ended, correction,
                          random);
}

void SampledGpu::group_started(uint8_t slot) {
  SampledLaunch& launch = launches_[slot];
  if (launch.running == 0 && launch.ended == 0) launch.begin = services_.queue->now();
  if (launch.running++ != 0) return;
  const bool measures = gpu_spec_.executor == Executor::measured;
  const bool is_alone = running_slots_++ == 0;
  if (measures && is_alone) measurement_.begin(launch.kernel.key);
  if (measures && (!is_alone || launch.kind != SampledLaunch::Kind::measured)) measurement_.join();
  if (is_alone) return;
  for (SampledLaunch& one : launches_) one.is_shared |= one.running != 0;
}

void SampledGpu::group_ended(uint8_t slot, bool drained) {
  SampledLaunch& launch = launches_[slot];
  if (!drained) {
    ++launch.ended;
    launch.end = services_.queue->now();
  }
  if (--launch.running != 0) return;
  if (--running_slots_ == 0 && gpu_spec_.executor == Executor::measured) measurement_.end();
  if (launch.ended != launch.kernel.grid) return;
  note(launch);
  if (!launch.is_shared) close(launch);
}

// Its launch takes longer than it would by itself.
void SampledGpu::group_suspended(uint8_t slot) {
  launches_[slot].is_shared = true;
  if (gpu_spec_.executor == Executor::measured) measurement_.join();
  group_ended(slot, true);
}

// All of it has run, and nothing else with it.
void SampledGpu::close(const SampledLaunch& launch) {
  const Time time = launch.end - launch.begin;
  if (launch.kind == SampledLaunch::Kind::measured) {
    if (launch.is_left_out) return;
    const bool passes = launch.part && launch.part->passes();
    const bool turns_over = passes || hbm_bytes() - launch.hbm_bytes >= turnover();
    const Time fill = gpu_.l2.spec().bytes * kMicrosecond / rates_.hbm_bytes_per_us;
    if (spec_.waves != 0 && (turns_over || time >= kLong * fill)) large_.insert(launch.kernel.key);
    if (passes) return;
    measurement_.launch(launch.kernel.key, launch.of_kernel, time);
  } else if (launch.kind == SampledLaunch::Kind::sampled) {
    const size_t index = launch.law->times->index_for(launch.of_kernel, launch.hash);
    const Time measured = launch.law->times->launches[index].time;
    if (measured == 0) return;
    Duration& duration = durations_[launch.kernel.key][index];
    duration.sampled += time;
    duration.measured += measured;
  }
}

BodyTable SampledGpu::corrected() const {
  BodyTable table = table_;
  for (const auto& [key, launches] : durations_) {
    for (const auto& [index, one] : launches) {
      uint64_t& ppm = table.kernels.at(key).launches[index].correction_ppm;
      const auto wanted = static_cast<uint64_t>(Wide{ppm} * one.measured / one.sampled);
      ppm = std::clamp(wanted, LaunchTimes::kLeastCorrection, LaunchTimes::kMostCorrection);
    }
  }
  return table;
}

// ---- Measured work-groups

void SampledGpu::measured_body(uint8_t slot, MeasuredLaunch::Counts counts, MeasuredBody body) {
  SampledLaunch& launch = launches_[slot];
  const auto company =
      static_cast<uint64_t>(1000 * Wide{body.of_launch} / std::max<Time>(body.time, 1));
  launch.most_company_milli = std::max(launch.most_company_milli, company);
  body.is_left_over = !body.first && launch.begun >= launch.kernel.grid &&
                      company < launch.most_company_milli * 3 / 4;
  launch.body_has_ended = true;
  measurement_.body_ended();
  if (!launch.part) {
    measurement_.body(launch.kernel.key, launch.kernel.grid, launch.of_kernel, body);
    return;
  }
  const auto change = launch.part->end(counts, body, hbm_bytes() - launch.hbm_bytes);
  if (change == MeasuredLaunch::Change::settles) measurement_.settled();
  if (change == MeasuredLaunch::Change::passes) measurement_.end_part();
}

// What was measured of part of it, or of all.
void SampledGpu::note(const SampledLaunch& launch) {
  if (!launch.part) return;
  if (launch.part->passes()) {
    measurement_.part(launch.kernel.key, launch.kernel.grid, launch.of_kernel, *launch.part);
    return;
  }
  for (const auto& bodies : {launch.part->first(), launch.part->rest()}) {
    for (const MeasuredBody& body : bodies)
      measurement_.body(launch.kernel.key, launch.kernel.grid, launch.of_kernel, body);
  }
}

Time SampledGpu::measured_running(int change) {
  const Time now = services_.queue->now();
  measured_integral_ += (now - measured_since_) * measured_now_;
  measured_since_ = now;
  measured_now_ += static_cast<uint64_t>(change);
  return measured_integral_;
}

void SampledGpu::start_held() {
  for (auto unit = held_.begin(); unit != held_.end() && has_room();) {
    if (!(*unit)->has_held() || (*unit)->start_held()) {
      unit = held_.erase(unit);
    } else {
      ++unit;
    }
  }
}

// ---- Shares of L2 and memory

void SampledGpu::ask(uint8_t slot, int64_t bodies, const std::array<int64_t, kGpuParts>& bytes) {
  Asked& asked = asked_[slot];
  asked.bodies += static_cast<uint64_t>(bodies);
  for (unsigned part = 0; part < kGpuParts; ++part) {
    asked.bytes[part] += static_cast<uint64_t>(bytes[part]);
    asked_in_all_[part] += static_cast<uint64_t>(bytes[part]);
  }
  if (settles_) return;
  const bool is_enough = asked_in_all_[kPartL2] <= 1000 * rates_.l2_bytes_per_us &&
                         asked_in_all_[kPartHbm] <= 1000 * hbm_limit_;
  if (is_enough && std::all_of(stretch_.begin(), stretch_.end(),
                               [](uint64_t stretch) { return stretch == kOne; }))
    return;
  settles_ = true;
  const uint64_t cycle = clock_.cycle_at(services_.queue->now());
  services_.queue->schedule(clock_.edge((cycle / spec_.settle_cycles + 1) * spec_.settle_cycles),
                            *this);
}

void SampledGpu::on_event(uint64_t) {
  settles_ = false;
  share();
}

void SampledGpu::share() {
  const std::array<uint64_t, kGpuParts> has{1000 * rates_.l2_bytes_per_us, 1000 * hbm_limit_};
  std::array<uint8_t, kGridSlots> slots;  // Of launches that have bodies.
  std::array<uint64_t, kGridSlots> stretch;
  unsigned count = 0;
  for (unsigned slot = 0; slot < kGridSlots; ++slot) {
    if (asked_[slot].bodies != 0) slots[count++] = static_cast<uint8_t>(slot);
  }
  std::fill_n(stretch.begin(), count, kOne);
  for (unsigned part = 0; part < kGpuParts; ++part) {
    std::array<Sharer, kGridSlots> sharers;
    for (unsigned i = 0; i < count; ++i) {
      const Asked& asked = asked_[slots[i]];
      sharers[i] = {asked.bodies, asked.bytes[part] / asked.bodies};
    }
    const uint64_t share = equal_share(sharers.data(), count, has[part]);
    for (unsigned i = 0; i < count; ++i) {
      if (sharers[i].each > share)
        stretch[i] = std::max(
            stretch[i],
            rounded_up(static_cast<uint64_t>((Wide{sharers[i].each} << kFractionBits) / share),
                       spec_.share_bits));
    }
  }
  uint32_t changes = 0;  // Bit s: the stretch of slot s.
  unsigned next = 0;
  for (unsigned slot = 0; slot < kGridSlots; ++slot) {
    uint64_t now = kOne;
    if (next < count && slots[next] == slot)
      now = count > 1 ? lengthened(stretch[next], spec_.contention_percent) : stretch[next];
    next += next < count && slots[next] == slot ? 1 : 0;
    changes |= uint32_t{now != stretch_[slot]} << slot;
    stretch_[slot] = now;
  }
  if (changes == 0) return;
  ++rerated_;
  for (const auto& unit : units_) {
    if (unit->has_bodies_of(changes)) unit->rerate();
  }
}

void SampledGpu::body_ended(const BodyLaw& law) {
  ++bodies_;
  const BodyDemand& one = law.times->demand;
  demand_.tensor_cycles += one.tensor_cycles;
  demand_.simt_cycles += one.simt_cycles;
  demand_.issue_slots += one.issue_slots;
  demand_.l2_bytes += one.l2_bytes;
  demand_.hbm_read_bytes += one.hbm_read_bytes;
  demand_.hbm_written_bytes += one.hbm_written_bytes;
}

// ---- Component

void SampledGpu::report(StatisticSink& sink) const {
  sink.add("sampled.bodies", bodies_, "count", "Bodies that took a time from a table.");
  sink.add("sampled.kernels", laws_.size(), "count", "Different kernels that they were of.");
  sink.add("sampled.tensor_cycles", demand_.tensor_cycles, "cycles",
           "Of tensor pipes, by these bodies.");
  sink.add("sampled.simt_cycles", demand_.simt_cycles, "cycles", "Of SIMT pipes.");
  sink.add("sampled.issue_slots", demand_.issue_slots, "count", "Of issue ports.");
  sink.add("sampled.l2_bytes", demand_.l2_bytes, "bytes", "Through the L2.");
  sink.add("sampled.hbm_read_bytes", demand_.hbm_read_bytes, "bytes", "From memory.");
  sink.add("sampled.hbm_written_bytes", demand_.hbm_written_bytes, "bytes", "To memory.");
  sink.add("sampled.rerated", rerated_, "count", "Changes of shares of L2 and memory.");
  for (const auto& [name, ppm] : table_.errors)
    sink.add("sampled.error." + name, ppm, "ppm",
             "Of sampled against simulated time, when the table was made.");
  std::vector<uint64_t> errors;
  for (const auto& [key, launches] : durations_) {
    Duration all;
    for (const auto& [index, one] : launches) {
      all.sampled += one.sampled;
      all.measured += one.measured;
    }
    const auto [less, more] = std::minmax(all.sampled, all.measured);
    errors.push_back(static_cast<uint64_t>(Wide{more - less} * 1'000'000 / all.measured));
  }
  sink.add("sampled.kernels_compared", errors.size(), "count",
           "Kernels with whole launches by themselves, of which the table has the time, too.");
  if (errors.empty()) return;
  std::sort(errors.begin(), errors.end());
  sink.add("sampled.kernel_error_median", errors[errors.size() / 2], "ppm",
           "Between both times, in the middle of these kernels.");
  sink.add("sampled.kernel_error_max", errors.back(), "ppm", "Between both times, at most.");
}

void SampledGpu::audit(AuditSink& sink) const {
  for (const auto& unit : units_) unit->audit(sink);
  const uint64_t us = services_.queue->now() / kMicrosecond + 1;
  sink.at_most("sampled bodies use no more of the L2 than it has", demand_.l2_bytes,
               rates_.l2_bytes_per_us * us);
  sink.at_most("sampled bodies use no more of the memory than it has", demand_.hbm_bytes(),
               rates_.hbm_bytes_per_us * us);
}

std::vector<std::string> SampledGpu::waiting_on() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < units_.size(); ++i) {
    if (units_[i]->bodies() != 0)
      lines.push_back("cu" + std::to_string(i) + " has " + std::to_string(units_[i]->bodies()) +
                      " sampled bodies");
  }
  return lines;
}

}  // namespace stretto
