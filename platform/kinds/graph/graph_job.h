// SPDX-License-Identifier: Apache-2.0
// The job of a graph: its host programs, contents of tensors, checks, and what it says afterwards.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_JOB_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_JOB_H_

#include <memory>

#include "platform/jobs/job.h"
#include "platform/kinds/graph/graph_kind.h"

namespace stretto {

// REQUIRES: as WorkloadKind::make_job().
std::unique_ptr<Job> make_graph_job(const GraphKind& kind, const JobRequest& request,
                                    Memories memories);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_JOB_H_
