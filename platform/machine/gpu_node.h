// SPDX-License-Identifier: Apache-2.0
// One GPU of the machine: its modules, constructed from the Spec tree and bound to each other. The
// only place that knows which socket goes where inside a GPU; the picture is in the top README.
//
// Construction order is part of the contract: it gives out the source ids by which events of one
// time are ordered.
#ifndef STRETTO_PLATFORM_MACHINE_GPU_NODE_H_
#define STRETTO_PLATFORM_MACHINE_GPU_NODE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "models/common/memory_image.h"
#include "models/common/payload_extension.h"
#include "models/cp/cp.h"
#include "models/cp/doorbell_bridge.h"
#include "models/dma/dma_engine.h"
#include "models/dma/request_ring_port.h"
#include "models/fabric/router.h"
#include "models/gpu/gpu.h"
#include "models/hbm/hbm.h"
#include "models/sampled/sampled_gpu.h"
#include "platform/config/machine_spec.h"
#include "platform/config/options.h"
#include "platform/machine/node.h"
#include "platform/waves/waves.h"

namespace stretto {

class GpuNode final : public Node {
 public:
  // `trace` and `waves` may be null.
  GpuNode(sc_core::sc_module_name name, const MachineSpec& spec, unsigned index,
          const std::map<std::string, Impl>& impl, Conductor& conductor, TraceSink* trace,
          Waves* waves);
  ~GpuNode() override;

  // Samples or measures work-groups from here on. REQUIRES: before the run.
  void sample(const MachineSpec& spec, const BodyRates& rates, const BodyTable& table,
              std::function<void(const std::string& key, uint64_t entry)> missing);

  void audit(AuditSink& sink) const override;
  const Router* to_links() const override { return &router; }
  std::string digest() override;

  MemoryImage memory;
  Gpu gpu;
  Hbm hbm;
  DmaEngine dma;
  Router router;
  Cp cp;
  RequestRingPort request_ring;
  std::unique_ptr<SampledGpu> sampled;  // Null: work-groups are executed.

 private:
  void bind();
  void enlist();
  // Unless it is wired to another GPU.
  void run_ahead(const MachineSpec& spec, unsigned index);

  DoorbellBridge doorbell_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_GPU_NODE_H_
