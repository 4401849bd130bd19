// SPDX-License-Identifier: Apache-2.0
// What jobs whose kernels communicate by sw/include/shmem.h share: what lies where in the memory of
// a server's GPU, and laws on what its command processor has done.
#ifndef STRETTO_PLATFORM_JOBS_SHMEM_PLAN_H_
#define STRETTO_PLATFORM_JOBS_SHMEM_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "models/common/component.h"
#include "models/common/memory_image.h"
#include "platform/jobs/job_request.h"
#include "platform/jobs/memory_plan.h"
#include "sw/apps/shmem_list.h"

namespace stretto {

inline constexpr const char* kNoLockMode = "compnet-nolock";

struct ShmemPlan {
  shmem_list_parameters_t list{};
  std::vector<shmem_launch_t> launches;  // As many at all servers; set before finish().
  uint64_t heap = 0;                     // Addresses.
  uint64_t data = 0;                     // Of the heap, behind its words of barriers.
  uint64_t results = 0;                  // What kernels note; zero at first.
  uint64_t arrays = 0;                   // Of the GPU alone, class CACHED; 0: none.

  // Of a server, whose GPU is that of rank `rank`. Adds its ranges to `layout`.
  void place(const JobRequest& request, uint32_t server, uint32_t rank, uint32_t work_groups,
             uint64_t data_bytes, uint64_t results_bytes, MemoryPlan& layout,
             uint64_t arrays_bytes = 0);
  // Host memory of the cluster; the kernels' file; rounds between looks at completions.
  void finish(uint64_t cluster_memory, const std::vector<uint8_t>& elf, uint32_t poll_rounds);

  // Of all harts, when the service has stopped.
  stretto_shmem_counts_t counts(MemoryImage& memory) const;
  // Entries written = taken = ended, operations posted = completed; `begun`: by the NIC, of which
  // `different` are not the same one again.
  void audit(MemoryImage& memory, uint64_t begun, uint64_t different, AuditSink& sink) const;
};

// The first queue pair of harts at a NIC; those of the cluster are below.
inline constexpr uint16_t kFirstHartPair = STRETTO_CLUSTER_SERVERS + 1;

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_SHMEM_PLAN_H_
