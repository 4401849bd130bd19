// SPDX-License-Identifier: Apache-2.0
// What passes between the grid scheduler's front end and the compute units, and the faults both
// report.
//
// `dispatch` (start), `done` and `drained` are the only messages of a compute unit and the
// scheduler. A unit stands behind WorkGroupExecutor, so that another way to execute work-groups can
// take the place of the instruction-set simulator.
#ifndef STRETTO_MODELS_GPU_BASE_DISPATCH_H_
#define STRETTO_MODELS_GPU_BASE_DISPATCH_H_

#include <cstdint>
#include <memory>
#include <string>

#include "models/common/event_queue.h"
#include "models/gpu/base/save_area.h"
#include "sw/include/formats/machine_types.h"

namespace stretto {

// A kernel slot's dispatch context (sw/include/regs/gpu.yaml), sampled at launch.
struct DispatchContext {
  uint64_t entry = 0;
  uint64_t kernarg = 0;
  uint64_t kernarg_bytes = 0;
  uint64_t code_base = 0;
  uint64_t code_bytes = 0;
  uint32_t registers_bytes = 0;
  uint32_t lds_bytes = 0;
  uint32_t private_bytes = 0;
  uint32_t wavefronts = 1;
  uint32_t grid = 0;  // Work-groups: grid_x * grid_y * grid_z.
  uint32_t grid_x = 0;
  uint32_t grid_y = 1;
  uint32_t grid_z = 1;
  uint32_t split = 1;          // Work-groups of an output tile.
  bool update = false;         // The update bit of the dispatch packet.
  bool communication = false;  // MCA stream of its traffic.
  uint8_t account = STRETTO_ACCOUNT_OTHER;
  uint64_t launch = 0;  // Counts the GPU's launches, from 1.
  // Where a wavefront hands its work-group to a BodyExecutor; 0: it executes everything itself.
  uint64_t body = 0;
};

struct WorkGroupResources {
  uint32_t registers_bytes = 0;
  uint32_t lds_bytes = 0;
  uint32_t wavefronts = 0;
  uint32_t workgroups = 0;
};

// Told about work-groups by their executor, at the time when it happens.
class WorkGroupListener {
 public:
  virtual ~WorkGroupListener() = default;
  // `multiply_adds`: what it did on the tensor pipe, in those of FP16.
  virtual void done(uint16_t cu, uint8_t slot, uint32_t wg_id, uint64_t multiply_adds) = 0;
  virtual void drained(uint16_t cu, uint8_t slot, uint32_t wg_id) = 0;
  // Its state is in memory; `multiply_adds`: since it started or was resumed.
  virtual void suspended(uint16_t cu, uint8_t slot, uint32_t wg_id, SavedGroup saved,
                         uint64_t multiply_adds) = 0;
};

// Takes the place of part of a kernel (DispatchContext::body).
class BodyExecutor {
 public:
  virtual ~BodyExecutor() = default;
  // The first wavefront of the work-group in `group` of the unit is about to execute its body. It
  // stands until ComputeUnit::leave_body().
  virtual void enter_body(unsigned group, uint8_t slot, uint32_t wg_id) = 0;
};

class WorkGroupExecutor {
 public:
  virtual ~WorkGroupExecutor() = default;
  // REQUIRES: the work-group fits into resources(). `context` outlives the work-group.
  virtual void start(uint8_t slot, uint32_t wg_id, const DispatchContext& context) = 0;
  // A kernel begins: what the unit has cached of shared ranges is forgotten.
  virtual void begin_kernel() {}
  // Work-groups of the slot that have not issued an instruction leave (drained); the others run to
  // their end.
  virtual void preempt(uint8_t slot) = 0;
  // Likewise, and those that have begun freeze: they issue nothing more, what memory and pipes owe
  // them ends, their state goes to a block of `area`, and they leave (suspended). One for which
  // there is no block runs to its end.
  virtual void suspend(uint8_t slot, SaveArea& area) = 0;
  // A work-group that was suspended here or on another unit: its state is read back, the block given
  // back, and it goes on. REQUIRES: as start().
  virtual void resume(uint8_t slot, uint32_t wg_id, const DispatchContext& context,
                      SavedGroup saved, SaveArea& area) = 0;
  virtual bool finished() const = 0;                 // Nothing is resident.
  virtual WorkGroupResources resources() const = 0;  // What is free.
};

// Kinds and their register values: gpu.yaml, fault_kind.kind.
enum class FaultKind : uint8_t {
  none = 0,
  unmapped_load = 1,
  unmapped_store = 2,
  remote_load = 3,
  illegal_instruction = 4,
  bad_shape = 5,
  no_room = 6,
  empty_tile = 7,
  fetch = 8,
  misaligned = 9,
  bus_error = 10,
  kernel_too_large = 11,
  bad_context = 12,
  remote_atomic = 13,
};

struct GpuFault {
  FaultKind kind = FaultKind::none;
  uint8_t cause = 0;  // RISC-V exception cause where there is one.
  uint8_t slot = 0;
  uint16_t cu = 0;
  uint8_t wf_id = 0;
  uint32_t wg_id = 0;
  uint64_t pc = 0;
  uint64_t address = 0;
  Time at = 0;
  std::string detail;  // One line for people.
};

const char* fault_name(FaultKind kind);
// "gpu0 cu3 wg 17 wf 2 pc 0x10000001234: unmapped_store at 0x100deadbee0: ..."
std::string describe_fault(unsigned gpu, const GpuFault& fault);

class FaultSink {
 public:
  virtual ~FaultSink() = default;
  virtual void fault(const GpuFault& fault) = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_BASE_DISPATCH_H_
