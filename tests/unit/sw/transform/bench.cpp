// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/sw/transform/bench.h"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>

namespace stretto::test {

Bytes read_kernel_file(const std::string& name) {
  std::ifstream file(STRETTO_BUILD_DIR "/sw/kernels/" + name + ".elf", std::ios::binary);
  REQUIRE(file);
  return Bytes((std::istreambuf_iterator<char>(file)), {});
}

TransformBench::TransformBench() {
  for (const uint64_t base : {kOut, kRan, kMarks, kControl, kFlag})
    machine.map(base, 0x100000, AllocationClass::uncached);
}

Launch TransformBench::load(const Bytes& elf, const std::string& kernel, uint64_t base) {
  kernel_image_t image;
  char error[256] = "";
  REQUIRE(kernel_image_load(elf.data(), elf.size(), base, &image, error, sizeof error) ==
          STRETTO_OK);
  machine.image.load(base & STRETTO_OFFSET_MASK, image.data, image.bytes);
  Launch launch;
  bool found = false;
  for (size_t i = 0; i < image.kernels; ++i) {
    if (kernel != image.kernel[i].name) continue;
    const stretto_kernel_descriptor_t& d = image.kernel[i].descriptor;
    launch.entry = d.entry;
    launch.code_base = d.code_base;
    launch.code_bytes = d.code_bytes;
    launch.kernarg_bytes = d.kernarg_bytes;
    launch.registers_bytes = d.registers_bytes;
    launch.lds_bytes = d.lds_bytes;
    launch.private_bytes = d.private_bytes;
    launch.wavefronts = d.wavefronts;
    found = true;
  }
  kernel_image_free(&image);
  REQUIRE(found);
  return launch;
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

void TransformBench::finish() {
  last_time = machine.run();
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

unsigned TransformBench::run_slices(Launch launch, const Grid& grid, Rng& rng) {
  unsigned slices = 0;
  for (uint32_t first = 0; first < grid.tasks(); ++slices) {
    launch.workgroups = static_cast<uint32_t>(rng.between(1, grid.tasks() - first));
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
    begin_workers(launch, grid, static_cast<uint32_t>(rng.between(1, 8)));
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
