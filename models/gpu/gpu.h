// SPDX-License-Identifier: Apache-2.0
// Gpu: the compute side of one GPU as one module: compute units and L2 bound together, range table,
// front end. What is left to bind: l2.channel[i] to the HBM, l2.cp to the harts, l2.remote to the
// fabric, l2.link to the atomics that come from there, and the register sockets front_end.regs,
// front_end.scheduler_regs and ranges.regs to the CP's bus.
#ifndef STRETTO_MODELS_GPU_GPU_H_
#define STRETTO_MODELS_GPU_GPU_H_

#include <memory>
#include <vector>

#include "models/gpu/base/range_table.h"
#include "models/gpu/compute_unit/compute_unit.h"
#include "models/gpu/gpu_front_end.h"
#include "models/gpu/l2/l2_cache.h"

namespace stretto {

class Gpu final : public sc_core::sc_module, public Component {
 private:
  riscv::CodeCache code_;  // Decoded instructions, shared by all wavefronts.

 public:
  RangeTable ranges;
  RaceLaw races;
  L2Cache l2;
  GpuFrontEnd front_end;
  std::vector<std::unique_ptr<ComputeUnit>> units;

  // `memory` and `services` outlive this.
  Gpu(sc_core::sc_module_name name, const GpuSpec& spec, const L2Spec& l2_spec,
      const HbmAddressMapping& mapping, PartitionServices& services, MemoryImage& memory,
      std::unique_ptr<GridScheduler> scheduler);

  uint64_t instructions() const;
  // Sum of a counter over all units.
  uint64_t sum(uint64_t ComputeUnitCounters::*counter) const;
  void report(StatisticSink& sink) const override;
  void audit(AuditSink& sink) const override;
  std::vector<std::string> waiting_on() const override;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_GPU_H_
