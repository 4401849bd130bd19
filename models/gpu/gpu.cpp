// SPDX-License-Identifier: Apache-2.0
// See gpu.h.
#include "models/gpu/gpu.h"

#include "models/common/tlm_checker.h"

namespace stretto {
namespace {

riscv::IsaOptions wavefront_isa() {
  riscv::IsaOptions options;
  options.compressed = false;
  options.machine_mode = false;
  options.custom_opcodes = 1;  // custom-0: the tile extension.
  options.compare_swap = true;
  return options;
}

}  // namespace

Gpu::Gpu(sc_core::sc_module_name name, const GpuSpec& spec, const L2Spec& l2_spec,
         const HbmAddressMapping& mapping, PartitionServices& services, MemoryImage& memory,
         std::unique_ptr<GridScheduler> scheduler)
    : sc_core::sc_module(name),
      code_(wavefront_isa()),
      ranges("range_table"),
      races(services.gpu),
      l2("l2", l2_spec, mapping, spec.cus, ClockDomain(spec.clock_mhz), services, memory),
      front_end("front_end", spec, services, std::move(scheduler), code_) {
  std::vector<WorkGroupExecutor*> executors;
  for (uint32_t i = 0; i < spec.cus; ++i) {
    const ComputeUnit::Parts parts{&memory, &ranges,    &l2.shared(), &races,
                                   &code_,  &front_end, &front_end};
    units.push_back(std::make_unique<ComputeUnit>(("cu" + std::to_string(i)).c_str(), spec,
                                                  static_cast<uint16_t>(i), services, parts));
    connect(units.back()->l2, l2.cu[i], *services.queue);
    executors.push_back(units.back().get());
  }
  front_end.connect(std::move(executors), &l2);
  l2.set_race_law(races);
  front_end.set_instruction_count([this] { return instructions(); });
}

uint64_t Gpu::sum(uint64_t ComputeUnitCounters::*counter) const {
  uint64_t total = 0;
  for (const auto& unit : units) total += unit->counters().*counter;
  return total;
}

uint64_t Gpu::instructions() const {
  uint64_t sum = 0;
  for (const auto& unit : units) sum += unit->instructions();
  return sum;
}

void Gpu::report(StatisticSink& sink) const {
  front_end.report(sink);
  l2.report(sink);
  races.report(sink);
  sink.add("gpu.instructions", instructions(), "count", "Instructions of all wavefronts.");
  sink.add("gpu.multiply_adds", sum(&ComputeUnitCounters::multiply_adds), "count",
           "Multiply-adds of all tensor pipes.");
  sink.add("gpu.tile_load_bytes", sum(&ComputeUnitCounters::load_bytes), "bytes",
           "Bytes of tile loads.");
  sink.add("gpu.tile_store_bytes", sum(&ComputeUnitCounters::store_bytes), "bytes",
           "Bytes of tile stores.");
  sink.add("gpu.charged_polls", sum(&ComputeUnitCounters::charged_polls), "count",
           "Polls that wait_until stands for.");
  const uint64_t reductions = sum(&ComputeUnitCounters::reductions);
  if (reductions != 0) sink.add("gpu.reductions", reductions, "count", "tile.red executed.");
  if (sum(&ComputeUnitCounters::scalar_misses) != 0) {
    sink.add("gpu.scalar_hits", sum(&ComputeUnitCounters::scalar_hits), "count",
             "Scalar loads of shared ranges that hit in the units' caches.");
    sink.add("gpu.scalar_misses", sum(&ComputeUnitCounters::scalar_misses), "count",
             "Those that fetched a line from the L2.");
    sink.add("gpu.scalar_drops", sum(&ComputeUnitCounters::scalar_drops), "count",
             "Times that such a cache was emptied: acquires and begins of kernels.");
  }
  if (sum(&ComputeUnitCounters::saved_bytes) != 0) {
    const auto add = [&](const char* name, uint64_t ComputeUnitCounters::*counter, const char* unit,
                         const char* what) {
      sink.add(std::string("gpu.") + name, sum(counter), unit, what);
    };
    add("saved_bytes", &ComputeUnitCounters::saved_bytes, "bytes",
        "Of states of suspended work-groups, written.");
    add("loaded_bytes", &ComputeUnitCounters::loaded_bytes, "bytes", "And read back.");
    add("draining_time", &ComputeUnitCounters::draining_time, "fs",
        "Of work-groups that are to be suspended, from their last instruction until nothing of "
        "them "
        "was under way.");
    add("saving_time", &ComputeUnitCounters::saving_time, "fs",
        "Of their states, until they were in memory.");
    add("loading_time", &ComputeUnitCounters::loading_time, "fs",
        "Of states of resumed ones, until they were back.");
  }
  for (const auto& unit : units) unit->report(sink);
}

void Gpu::audit(AuditSink& sink) const {
  front_end.audit(sink);
  l2.audit(sink);
  // Harts have no atomics here: theirs are locked reads and unlocking writes.
  sink.equal("atomics and reductions of compute units and links = atomics of the L2 and sent",
             sum(&ComputeUnitCounters::atomics) + sum(&ComputeUnitCounters::reductions) +
                 l2.counters().link_atomics,
             l2.counters().atomics + l2.counters().remote_atomics);
  sink.equal("bytes of suspended work-groups written = read back + waiting",
             sum(&ComputeUnitCounters::saved_bytes),
             sum(&ComputeUnitCounters::loaded_bytes) + front_end.suspended_bytes());
  for (const auto& unit : units) unit->audit(sink);
}

std::vector<std::string> Gpu::waiting_on() const {
  std::vector<std::string> lines = front_end.waiting_on();
  for (std::string& line : l2.waiting_on()) lines.push_back(std::move(line));
  for (const auto& unit : units) {
    for (std::string& line : unit->waiting_on()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace stretto
