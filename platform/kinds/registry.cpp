// SPDX-License-Identifier: Apache-2.0
// The list of kinds; a new one is a line here.
#include "platform/kinds/all_reduce/all_reduce_kind.h"
#include "platform/kinds/collective/collective_kind.h"
#include "platform/kinds/delivered_gemm/delivered_gemm_kind.h"
#include "platform/kinds/exchange/exchange_kind.h"
#include "platform/kinds/gathered_gemm/gathered_gemm_kind.h"
#include "platform/kinds/graph/graph_kind.h"
#include "platform/kinds/interference/interference_kind.h"
#include "platform/kinds/jacobi/jacobi_kind.h"
#include "platform/kinds/l2_probe/l2_probe_kind.h"
#include "platform/kinds/launch_probe/launch_probe_kind.h"
#include "platform/kinds/loaded/loaded_kind.h"
#include "platform/kinds/one_sided/one_sided_kind.h"
#include "platform/kinds/open_shmem/open_shmem_kind.h"
#include "platform/kinds/point_to_point/point_to_point_kind.h"
#include "platform/kinds/program/program_kind.h"
#include "platform/kinds/roofline/roofline_kind.h"
#include "platform/kinds/shmem/shmem_kind.h"
#include "platform/kinds/stream_probe/stream_probe_kind.h"
#include "platform/kinds/sub_layer/sub_layer_kind.h"
#include "platform/kinds/tenants/tenants_kind.h"
#include "platform/kinds/tile_queue/tile_queue_kind.h"

namespace stretto {

std::vector<std::shared_ptr<WorkloadKind>> workload_kinds() {
  return {std::make_shared<SubLayerKind>(),     std::make_shared<GatheredGemmKind>(),
          std::make_shared<PointToPointKind>(), std::make_shared<CollectiveKind>(),
          std::make_shared<ProgramKind>(),      std::make_shared<GraphKind>(),
          std::make_shared<InterferenceKind>(), std::make_shared<L2ProbeKind>(),
          std::make_shared<TileQueueKind>(),    std::make_shared<LaunchProbeKind>(),
          std::make_shared<RooflineKind>(),     std::make_shared<StreamProbeKind>(),
          std::make_shared<TenantsKind>(),      std::make_shared<OneSidedKind>(),
          std::make_shared<ShmemKind>(),        std::make_shared<JacobiKind>(),
          std::make_shared<AllReduceKind>(),    std::make_shared<OpenShmemKind>(),
          std::make_shared<LoadedKind>(),       std::make_shared<DeliveredGemmKind>(),
          std::make_shared<ExchangeKind>()};
}

}  // namespace stretto
