// SPDX-License-Identifier: Apache-2.0
// Runs original and transformed kernels on one GPU's compute side, images loaded by the driver's own
// loader. What the server of a shared GPU would do is here the host: it launches slices, or workers
// that it stops at random times and launches again. What its firmware would do is here the
// firmware's own code: block ranges, and preemption of kernels that nobody rewrote.
#ifndef STRETTO_TESTS_UNIT_SW_TRANSFORM_BENCH_H_
#define STRETTO_TESTS_UNIT_SW_TRANSFORM_BENCH_H_

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "sw/firmware/hal/grid_control.h"
#include "sw/transform/transform.h"
#include "tests/support/seeded_rng.h"
#include "tests/unit/gpu/gpu_machine.h"
#include "tests/unit/sw/transform/subjects.h"

extern "C" {
#include "sw/driver/internal.h"
}

namespace stretto::test {

using Bytes = std::vector<uint8_t>;

Bytes read_kernel_file(const std::string& name);  // build/sw/kernels/NAME.elf

// A run that does not end, and why.
struct Hangs : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr uint64_t kOut = kNode + 0x1000000, kRan = kNode + 0x1100000, kMarks = kNode + 0x1200000;
constexpr uint64_t kControl = kNode + 0x1300000, kFlag = kNode + 0x1400000;
constexpr uint64_t kOther = kNode + 0x400000;  // Of a second image.
constexpr uint32_t kTasks = 60;
constexpr uint32_t kMaxWorkers = 8;  // Of run_workers().

struct Grid {
  uint32_t x = 1, y = 1, z = 1;
  uint32_t tasks() const { return x * y * z; }
};

struct Preemptions {
  unsigned launches = 0, stopped = 0;  // Stopped: with tasks left.
};

class TransformBench {
 public:
  explicit TransformBench(GpuSpec spec = GpuMachine::small());
  ~TransformBench();

  // The launches of all kernels of this file, by name, which is loaded at `base`; of one.
  std::map<std::string, Launch> load(const Bytes& elf, uint64_t base);
  Launch load(const Bytes& elf, const std::string& kernel, uint64_t base);
  // The kernel's own arguments.
  template <class T>
  void set_arguments(const T& arguments) {
    const auto* const from = reinterpret_cast<const uint8_t*>(&arguments);
    set_argument_bytes({from, from + sizeof arguments});
  }
  void set_argument_bytes(Bytes bytes) { arguments_ = std::move(bytes); }
  void set_subject_arguments(uint64_t count = 0);

  void run(const Launch& launch, const Grid& grid);
  // In slices of random sizes; returns how many.
  unsigned run_slices(Launch launch, const Grid& grid, Rng& rng);
  // In block ranges of random sizes, which the grid scheduler knows; returns how many.
  unsigned run_ranges(const Launch& launch, const Grid& grid, Rng& rng);
  // Stopped by the grid scheduler at random times, with or without draining, and launched again.
  Preemptions run_preempted(const Launch& launch, const Grid& grid, Rng& rng);
  // Random workers, stopped at random times; at most one launch if `stops` is false.
  Preemptions run_workers(Launch launch, const Grid& grid, Rng& rng, bool stops = true);
  // Workers of one launch, until it ends.
  void run_once(Launch launch, const Grid& grid, uint32_t workers);
  // The same, and `delay` later the flag rises; returns the time from then to the end.
  Time stop_once(Launch launch, const Grid& grid, uint32_t workers, Time delay);
  // Likewise an original kernel, which the grid scheduler stops.
  Time preempt_once(const Launch& launch, const Grid& grid, Time delay);

  stretto_task_control_t control() { return machine.value_at<stretto_task_control_t>(kControl); }
  void set_control(stretto_task_control_t value) { machine.set_value(kControl, value); }
  bool has_fault(FaultKind kind) const;
  // Words of what a subject leaves; and clears it.
  std::vector<uint64_t> take_words(uint64_t address, uint32_t count);
  // Work-groups that did not run exactly once, by wavefronts; clears the counts.
  unsigned take_wrong_runs(uint32_t tasks);

  GpuMachine machine;
  Time last_time = 0;  // Of run().
  // A run that takes longer, or ends with a fault, throws Hangs. 0: neither is looked at.
  Time longest = 0;
  bool forgets_index = false;  // A host that clears the whole control block before it goes on.

 private:
  std::string why_no_end();
  void begin_workers(Launch launch, const Grid& grid, uint32_t workers);
  void raise_flag();
  struct Range {
    uint32_t first, count, start, skip;
  };
  void begin_range(Launch launch, const Grid& grid, const Range& range);
  void finish_range();
  void put_arguments(const Launch& launch, const stretto_transformed_arguments_t* further);
  void finish();

  std::vector<uint8_t> arguments_;
  grid_scheduler_t scheduler_{};
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_SW_TRANSFORM_BENCH_H_
