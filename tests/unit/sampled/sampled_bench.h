// SPDX-License-Identifier: Apache-2.0
// A GPU whose bodies are measured, then take times of a table.
#ifndef STRETTO_TESTS_UNIT_SAMPLED_SAMPLED_BENCH_H_
#define STRETTO_TESTS_UNIT_SAMPLED_SAMPLED_BENCH_H_

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/sampled/sampled_gpu.h"
#include "tests/unit/gpu/gpu_machine.h"

namespace stretto::test {

class SampledBench {
 public:
  explicit SampledBench(GpuMachine& machine) : machine_(machine) {}

  // From here on. What was there before is gone.
  void measure(SampledSpec spec = {}) { replace(Executor::measured, spec, {}); }
  void sample(BodyTable table, SampledSpec spec = {}) {
    replace(Executor::sampled, spec, std::move(table));
  }
  SampledGpu& gpu() { return *gpu_; }
  BodyTable measured() const {
    BodyTable table;
    table.kernels = gpu_->measured();
    return table;
  }
  // The key of what is launched.
  std::string key_of(const Launch& launch) {
    DispatchContext context;
    context.entry = launch.entry;
    context.kernarg = kArguments;
    context.kernarg_bytes = launch.kernarg_bytes;
    context.code_base = launch.code_base;
    context.code_bytes = launch.code_bytes;
    context.wavefronts = launch.wavefronts;
    context.grid = context.grid_x = launch.workgroups;
    return KernelKeys(machine_.image, machine_.gpu.ranges).of(context).key;
  }
  uint64_t statistic(const std::string& name) const {
    StatisticSink sink;
    gpu_->report(sink);
    for (const Statistic& one : sink.all())
      if (one.path == "sampled." + name) return one.value;
    throw std::runtime_error("no statistic " + name);
  }
  uint64_t violations() const {
    AuditSink sink;
    gpu_->audit(sink);
    machine_.gpu.audit(sink);
    uint64_t count = 0;
    for (const AuditResult& one : sink.all()) count += one.holds ? 0 : 1;
    return count;
  }

 private:
  void replace(Executor executor, const SampledSpec& spec, BodyTable table) {
    gpu_.reset();
    GpuSpec gpu_spec = machine_.spec;
    gpu_spec.executor = executor;
    const BodyRates rates{.clock_mhz = gpu_spec.clock_mhz,
                          .issue_ports = gpu_spec.issue_ports,
                          .units = gpu_spec.cus,
                          .l2_bytes_per_us = 2'000'000,
                          .hbm_bytes_per_us = 900'000};
    gpu_ = std::make_unique<SampledGpu>(
        gpu_spec, spec, rates, machine_.services, machine_.gpu, std::move(table),
        SampledGpu::Parts{
            &machine_.image,
            [this] { return std::pair(machine_.memory.read_bytes, machine_.memory.written_bytes); },
            [](const std::string& key, uint64_t) { throw std::runtime_error("missing " + key); }});
  }

  GpuMachine& machine_;
  std::unique_ptr<SampledGpu> gpu_;
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_SAMPLED_SAMPLED_BENCH_H_
