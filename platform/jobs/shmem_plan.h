// SPDX-License-Identifier: Apache-2.0
// What jobs whose kernels communicate by sw/include/shmem.h share: who serves their queues, what lies
// where in the memory of a server's GPU and of its host, and laws on what the service has done.
#ifndef STRETTO_PLATFORM_JOBS_SHMEM_PLAN_H_
#define STRETTO_PLATFORM_JOBS_SHMEM_PLAN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/common/component.h"
#include "models/common/memory_image.h"
#include "models/host/service_core.h"
#include "platform/jobs/job_request.h"
#include "platform/jobs/memory_plan.h"
#include "platform/jobs/workload_kind.h"
#include "sw/apps/shmem/server_program.h"
#include "sw/apps/shmem/shmem_list.h"
#include "sw/collectives/runtime.h"

namespace stretto {

// Modes of kinds whose kernels communicate, with a sentence each. All run the same kernel files.
inline constexpr const char* kNoLockMode = "compnet-nolock";
inline constexpr const char* kDgpuMode = "dgpu";
inline constexpr const char* kDgpuHostMode = "dgpu-host";
inline constexpr const char* kApuMode = "apu";
std::vector<std::pair<std::string, std::string>> shmem_modes();
// What they need of the machine: KindInfo::machine_of_mode.
std::map<std::string, std::string> shmem_machines();
// Whether threads of the host serve the queues, and not harts of the command processor.
bool is_served_by_host(const std::string& mode);

// Throws UserError if the mode cannot have so many threads that serve, or the machine has no host of
// its kind.
void check_service_threads(const JobRequest& request, uint32_t threads);

struct ShmemPlan {
  shmem_list_parameters_t list{};
  std::vector<shmem_launch_t> launches;  // As many at all servers; set before finish().
  uint64_t heap = 0;                     // Addresses.
  uint64_t data = 0;                     // Of the heap, behind its words of barriers.
  uint64_t results = 0;                  // What kernels note; zero at first.
  uint64_t arrays = 0;                   // Of the GPU alone, class CACHED; 0: none.

  uint32_t threads = STRETTO_SHMEM_HARTS;  // That serve; set before place().

  // Of a server, whose GPU is that of rank `rank`. Adds its ranges to `layout`.
  void place(const JobRequest& request, uint32_t server, uint32_t rank, uint32_t work_groups,
             uint64_t data_bytes, uint64_t results_bytes, MemoryPlan& layout,
             uint64_t arrays_bytes = 0);
  // Host memory of the cluster; the kernels' file; rounds between looks at completions.
  void finish(uint64_t cluster_memory, const std::vector<uint8_t>& elf, uint32_t poll_rounds);
  // Behind that: of a host program that communicates itself; kernel of the same file, null: none.
  server_parameters_t program(const char* kernel, uint32_t work_groups) const;

  // For a program that opens symmetric memory itself (sw/collectives/shmem.c): what it needs. `threads` is set.
  stretto_runtime_network_t network(const JobRequest& request, uint32_t server,
                                    uint64_t cluster_memory, uint64_t heap_bytes,
                                    uint32_t poll_rounds);
  // What it has opened; null: nothing, then threads of the host return.
  void opened(HostCore& core, const stretto_symmetric_options_t* symmetric);

  // Threads of the host that serve, each for a core of its own; none where harts do. REQUIRES: the
  // plan stays where it is. Call once.
  std::vector<HostCore::Program> service_programs(Host& host);

  // Of all threads, when the service has stopped; `memory` is that of the GPU.
  stretto_shmem_counts_t counts(MemoryImage& memory) const;
  // What cores of the host have done that served.
  const std::vector<ServiceCore::Counters>& cores() const { return cores_; }
  // Entries written = taken = ended, operations posted = completed; `begun`: by the NIC, of which
  // `different` are not the same one again.
  void audit(MemoryImage& memory, uint64_t begun, uint64_t different, AuditSink& sink) const;

 private:
  void set_service(const JobRequest& request);

  bool by_host_ = false;
  ServiceCoreSpec service_core_;
  Host* host_ = nullptr;  // by_host_: of the server.
  std::shared_ptr<const ElfImage> image_;
  std::vector<ServiceCore::Counters> cores_;
};

// The first queue pair of the service at a NIC; those of the cluster are below.
inline constexpr uint16_t kFirstServicePair = STRETTO_CLUSTER_SERVERS + 1;

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_SHMEM_PLAN_H_
