// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sw/transform/bench.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>

namespace {

constexpr uint32_t kHardwareSlot = 2;
stretto::test::GpuMachine* machine_of_bench = nullptr;

uint32_t offset_of(uint64_t address) {
  return static_cast<uint32_t>(address - STRETTO_GRID_SCHEDULER_BASE);
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

}  // namespace

extern "C" uint64_t mock_mmio_read(uint64_t address, unsigned) {
  return machine_of_bench->read_scheduler(offset_of(address));
}

extern "C" void mock_mmio_write(uint64_t address, unsigned, uint64_t value) {
  machine_of_bench->write_scheduler(offset_of(address), value);
}

namespace stretto::test {

Bytes read_kernel_file(const std::string& name) {
  const std::string path = STRETTO_BUILD_DIR "/sw/kernels/" + name + ".elf";
  std::ifstream file(path, std::ios::binary);
  require(file.good(), path + " cannot be read");
  return Bytes((std::istreambuf_iterator<char>(file)), {});
}

TransformBench::TransformBench(GpuSpec spec) : machine(spec) {
  machine_of_bench = &machine;
  const unit_limits_t limits = {spec.cus, spec.registers_bytes, spec.lds_bytes,
                                spec.wavefront_slots, spec.workgroup_slots};
  require(grid_scheduler_init(&scheduler_, &limits) == STRETTO_OK, "scheduler's limits");
  for (const uint64_t base : {kOut, kRan, kMarks, kControl, kFlag})
    machine.map(base, 0x100000, AllocationClass::uncached);
}

TransformBench::~TransformBench() { machine_of_bench = nullptr; }

std::map<std::string, Launch> TransformBench::load(const Bytes& elf, uint64_t base) {
  kernel_image_t image;
  char error[256] = "";
  require(
      kernel_image_load(elf.data(), elf.size(), base, &image, error, sizeof error) == STRETTO_OK,
      error);
  machine.image.load(base & STRETTO_OFFSET_MASK, image.data, image.bytes);
  std::map<std::string, Launch> launches;
  for (size_t i = 0; i < image.kernels; ++i) {
    const stretto_kernel_descriptor_t& d = image.kernel[i].descriptor;
    Launch& launch = launches[image.kernel[i].name];
    launch.entry = d.entry;
    launch.code_base = d.code_base;
    launch.code_bytes = d.code_bytes;
    launch.kernarg_bytes = d.kernarg_bytes;
    launch.registers_bytes = d.registers_bytes;
    launch.lds_bytes = d.lds_bytes;
    launch.private_bytes = d.private_bytes;
    launch.wavefronts = d.wavefronts;
  }
  kernel_image_free(&image);
  return launches;
}

Launch TransformBench::load(const Bytes& elf, const std::string& kernel, uint64_t base) {
  const std::map<std::string, Launch> launches = load(elf, base);
  require(launches.contains(kernel), "no kernel " + kernel);
  return launches.at(kernel);
}

void TransformBench::set_subject_arguments(uint64_t count) {
  set_arguments(subject_arguments_t{kOut, kRan, kMarks, kFlag, count});
}

void TransformBench::put_arguments(const Launch& launch,
                                   const stretto_transformed_arguments_t* further) {
  std::vector<uint8_t> block = arguments_;
  block.resize(launch.kernarg_bytes);
  if (further != nullptr)
    std::memcpy(block.data() + block.size() - sizeof *further, further, sizeof *further);
  machine.image.load(kArguments & STRETTO_OFFSET_MASK, block.data(), block.size());
}

std::string TransformBench::why_no_end() {
  for (const GpuFault& fault : machine.gpu.front_end.faults()) return describe_fault(0, fault);
  for (const std::string& line : machine.gpu.waiting_on()) return line;
  return "it runs and runs";
}

void TransformBench::finish() {
  last_time = machine.run(machine.queue.now() + (longest == 0 ? 100'000 * kMicrosecond : longest));
  if (longest != 0 && grid_scheduler_done(&scheduler_) == 0) throw Hangs(why_no_end());
  machine.clear_done();
  machine.run();
}

void TransformBench::run(const Launch& original, const Grid& grid) {
  Launch launch = original;
  launch.workgroups = grid.tasks();
  launch.grid_y = grid.y;
  launch.grid_z = grid.z;
  put_arguments(launch, nullptr);
  const Time begin = machine.queue.now();
  machine.launch(launch);
  finish();
  last_time -= begin;
}

void TransformBench::begin_range(Launch launch, const Grid& grid, const Range& range) {
  launch.workgroups = grid.tasks();
  launch.grid_y = grid.y;
  launch.grid_z = grid.z;
  put_arguments(launch, nullptr);
  machine.set_context(launch, kHardwareSlot);
  grid_job_t job{};
  job.slot = kHardwareSlot;
  job.skip = range.skip;
  job.launch = {launch.registers_bytes, launch.lds_bytes, launch.wavefronts, 0,
                grid.tasks(),           range.first,      range.count,       range.start};
  require(grid_control_launch(&scheduler_, &job) == STRETTO_OK, "block range");
}

void TransformBench::finish_range() {
  finish();
  grid_scheduler_release(&scheduler_, 1u << kHardwareSlot);
  machine.run();
}

unsigned TransformBench::run_ranges(const Launch& launch, const Grid& grid, Rng& rng) {
  unsigned ranges = 0;
  for (uint32_t first = 0; first < grid.tasks(); ++ranges) {
    const uint32_t count = static_cast<uint32_t>(rng.between(1, grid.tasks() - first));
    begin_range(launch, grid, {first, count, static_cast<uint32_t>(rng.below(count)), 0});
    finish_range();
    first += count;
  }
  return ranges;
}

Preemptions TransformBench::run_preempted(const Launch& launch, const Grid& grid, Rng& rng) {
  const Time span = last_time;
  Preemptions result;
  const uint32_t start = static_cast<uint32_t>(rng.below(grid.tasks()));
  std::vector<uint32_t> returned;
  for (uint32_t skip = 0; skip < grid.tasks();) {
    const Time begin = machine.queue.now();
    begin_range(launch, grid, {0, grid.tasks(), start, skip});
    ++result.launches;
    machine.queue.run_until(begin + rng.below(span));
    require(grid_control_preempt(&scheduler_, kHardwareSlot, rng.chance(1, 2)) == STRETTO_OK,
            "preemption");
    finish();
    grid_report_t report;
    require(grid_control_report(&scheduler_, kHardwareSlot, &report) == STRETTO_OK, "report");
    uint32_t slot = 0, id = 0;
    while (grid_control_take_returned(&scheduler_, &slot, &id)) returned.push_back(id);
    skip = grid.tasks() - report.undispatched;
    result.stopped += report.undispatched != 0;
    grid_scheduler_release(&scheduler_, 1u << kHardwareSlot);
    machine.run();
  }
  for (const uint32_t id : returned) {
    begin_range(launch, grid, {id, 1, 0, 0});
    finish_range();
  }
  return result;
}

Time TransformBench::preempt_once(const Launch& launch, const Grid& grid, Time delay) {
  const Time stopped = machine.queue.now() + delay;
  begin_range(launch, grid, {0, grid.tasks(), 0, 0});
  machine.queue.run_until(stopped);
  require(grid_control_preempt(&scheduler_, kHardwareSlot, true) == STRETTO_OK, "preemption");
  finish();
  const Time took = last_time - stopped;
  uint32_t slot = 0, id = 0;
  while (grid_control_take_returned(&scheduler_, &slot, &id)) continue;
  grid_scheduler_release(&scheduler_, 1u << kHardwareSlot);
  machine.run();
  return took;
}

unsigned TransformBench::run_slices(Launch launch, const Grid& grid, Rng& rng) {
  unsigned slices = 0;
  for (uint32_t first = 0; first < grid.tasks(); ++slices) {
    // At least two slices.
    launch.workgroups = static_cast<uint32_t>(rng.between(1, (grid.tasks() - first + 1) / 2));
    const stretto_transformed_arguments_t further = {0,      first,  grid.tasks(),
                                                     grid.x, grid.y, grid.z};
    put_arguments(launch, &further);
    machine.launch(launch);
    finish();
    first += launch.workgroups;
  }
  return slices;
}

Preemptions TransformBench::run_workers(Launch launch, const Grid& grid, Rng& rng, bool stops) {
  const Time span = last_time;
  Preemptions result;
  set_control({0, 0});
  while (control().next < grid.tasks() && result.launches < 200) {
    const Time begin = machine.queue.now();
    begin_workers(launch, grid, static_cast<uint32_t>(rng.between(1, kMaxWorkers)));
    ++result.launches;
    if (stops) {
      machine.queue.run_until(begin + rng.below(span));
      raise_flag();
    }
    finish();
    result.stopped += control().next < grid.tasks();
    set_control({forgets_index ? 0 : control().next, 0});
    if (!stops) break;
  }
  return result;
}

void TransformBench::begin_workers(Launch launch, const Grid& grid, uint32_t workers) {
  launch.workgroups = workers;
  const stretto_transformed_arguments_t further = {kControl, 0,      grid.tasks(),
                                                   grid.x,   grid.y, grid.z};
  put_arguments(launch, &further);
  machine.launch(launch);
}

void TransformBench::raise_flag() {
  machine.set_value<uint32_t>(kControl + offsetof(stretto_task_control_t, preempt), 1);
}

void TransformBench::run_once(Launch launch, const Grid& grid, uint32_t workers) {
  const Time begin = machine.queue.now();
  begin_workers(launch, grid, workers);
  finish();
  last_time -= begin;
}

Time TransformBench::stop_once(Launch launch, const Grid& grid, uint32_t workers, Time delay) {
  const Time risen = machine.queue.now() + delay;
  begin_workers(launch, grid, workers);
  machine.queue.run_until(risen);
  raise_flag();
  finish();
  return last_time - risen;
}

bool TransformBench::has_fault(FaultKind kind) const {
  const auto& faults = machine.gpu.front_end.faults();
  return std::any_of(faults.begin(), faults.end(),
                     [&](const GpuFault& fault) { return fault.kind == kind; });
}

std::vector<uint64_t> TransformBench::take_words(uint64_t address, uint32_t count) {
  std::vector<uint64_t> words;
  for (uint32_t i = 0; i < count; ++i) {
    words.push_back(machine.value_at<uint64_t>(address + 8 * i));
    machine.set_value<uint64_t>(address + 8 * i, 0);
  }
  return words;
}

unsigned TransformBench::take_wrong_runs(uint32_t tasks) {
  const std::vector<uint64_t> ran = take_words(kRan, tasks);
  return static_cast<unsigned>(std::count_if(
      ran.begin(), ran.end(), [](uint64_t count) { return count != 0x0001000100010001; }));
}

}  // namespace stretto::test
