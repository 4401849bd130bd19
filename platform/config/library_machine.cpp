// SPDX-License-Identifier: Apache-2.0
#include "platform/config/library_machine.h"

#include "platform/config/peaks.h"

namespace stretto {

ops_machine_t library_machine(const MachineSpec& spec) {
  const GpuSpec& gpu = spec.gpu;
  const double sustained = peaks_of(spec).tensor_sustained_share * gpu.tensor_fma_per_cycle;
  const double ghz = gpu.clock_mhz / 1e3;
  ops_machine_t machine{};
  machine.units = gpu.cus;
  machine.registers_bytes = gpu.registers_bytes;
  machine.lds_bytes = gpu.lds_bytes;
  machine.wavefronts = gpu.wavefront_slots;
  machine.work_groups = gpu.workgroup_slots;
  machine.stages = gpu.lds_instruction_bytes == 0 ? OPS_GEMM_MAX_STAGES : 2;
  machine.l2_capacity = spec.l2.bytes;
  machine.l2_operands =
      static_cast<double>(spec.l2.bytes) / spec.l2.partitions;  // Each has a copy.
  machine.fp16_products = sustained;
  machine.tf32_products = gpu.tensor_tf32_passes == 0 ? 0 : sustained / gpu.tensor_tf32_passes;
  machine.fp32_products = gpu.simt_lanes;
  machine.load_bytes = spec.l2.cu_load_bytes_per_cycle;
  machine.store_bytes = spec.l2.cu_store_bytes_per_cycle;
  machine.l2_bytes = peaks_of(spec).l2_gb_s / ghz;
  machine.dram_bytes = peaks_of(spec).hbm_gb_s / ghz;
  // Idle, with some 100 ns of DRAM.
  machine.miss_clocks =
      spec.l2.request_cycles + spec.l2.response_cycles + spec.l2.memory_cycles + 100 * ghz;
  machine.launch_clocks =
      2200 * ghz;  // SI-LAUNCH-01: 2.7 us from launch to launch, a short kernel in it.
  return machine;
}

}  // namespace stretto
