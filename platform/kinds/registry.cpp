// SPDX-License-Identifier: Apache-2.0
// The list of kinds; a new one is a line here.
#include "platform/jobs/workload.h"
#include "platform/kinds/collective/collective_job.h"
#include "platform/kinds/gathered_gemm/gathered_gemm.h"
#include "platform/kinds/graph/graph_job.h"
#include "platform/kinds/interference/interference.h"
#include "platform/kinds/point_to_point/point_to_point.h"
#include "platform/kinds/program/program_job.h"
#include "platform/kinds/sub_layer/sub_layer.h"

namespace stretto {

std::vector<std::pair<std::string, std::shared_ptr<WorkloadKind>>> workload_kinds() {
  return {{"sub_layer", std::make_shared<SubLayerKind>()},
          {"gathered_gemm", std::make_shared<GatheredGemmKind>()},
          {"point_to_point", std::make_shared<PointToPointKind>()},
          {"collective", std::make_shared<CollectiveKind>()},
          {"program", std::make_shared<ProgramKind>()},
          {"graph", std::make_shared<GraphKind>()},
          {"interference", std::make_shared<InterferenceKind>()}};
}

}  // namespace stretto
