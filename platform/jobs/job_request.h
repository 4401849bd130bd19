// SPDX-License-Identifier: Apache-2.0
// What one job is asked to do, and its share of the machine.
#ifndef STRETTO_PLATFORM_JOBS_JOB_REQUEST_H_
#define STRETTO_PLATFORM_JOBS_JOB_REQUEST_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/config/machine_spec.h"
#include "platform/config/options.h"
#include "sw/include/formats/machine_types.h"

namespace stretto {

class WorkloadKind;

// Jobs that share a GPU have disjoint queues and memory on it; all jobs have host words of their
// own.
struct JobShare {
  std::vector<uint32_t> gpus;  // Of each rank.
  uint32_t number = 0;         // Of the job: chooses its words of host memory.
  uint32_t first_queue = 0;    // On each of its GPUs.
  uint32_t queue_count = 0;
  uint64_t memory_begin = 0;  // On each of its GPUs.
  uint64_t memory_end = 0;
  uint32_t account_base = 0;  // Added to the numbers of its accounts.
  uint32_t accounts = STRETTO_ACCOUNTS - STRETTO_ACCOUNT_JOB;  // It may have.
  bool has_company = false;  // Another job runs on one of its GPUs.
  bool is_on = true;         // Else it has its share, and does not run.
  std::string prefix;        // Of the names of its host programs, accounts and phases.
};

struct JobRequest {
  const MachineSpec& spec;
  std::string workload;  // Name.
  std::shared_ptr<const WorkloadKind> kind;
  std::string mode;
  DataMode data = DataMode::stamp;
  uint64_t seed = 1;
  std::map<std::string, std::string> parameters;  // Of the kind.
  JobShare share;
  std::string place;  // File and line, of one of several.

  bool has_common_gpu(const JobRequest& other) const {
    const std::vector<uint32_t>& a = share.gpus;
    const std::vector<uint32_t>& b = other.share.gpus;
    return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
  }
  bool has_common_server(const JobRequest& other) const {
    return std::any_of(share.gpus.begin(), share.gpus.end(), [&](uint32_t gpu) {
      return other.rank_in(spec.server_of(gpu)) != other.ranks();
    });
  }
  uint32_t ranks() const { return static_cast<uint32_t>(share.gpus.size()); }
  // Of its first GPU in a server; ranks() if it has none there.
  uint32_t rank_in(uint32_t server) const {
    const auto found = std::find_if(share.gpus.begin(), share.gpus.end(),
                                    [&](uint32_t gpu) { return spec.server_of(gpu) == server; });
    return static_cast<uint32_t>(found - share.gpus.begin());
  }
  // The server of which the rank is the first; spec.servers if it is of none.
  uint32_t server_led_by(uint32_t rank) const {
    const uint32_t server = spec.server_of(share.gpus[rank]);
    return rank_in(server) == rank ? server : spec.servers;
  }
  // Its name in results: one of several has a number, as they may be equal.
  std::string name() const {
    return (place.empty() ? "" : "job " + std::to_string(share.number) + ", ") + "workload " +
           workload + ", mode " + mode;
  }
  // Subject of a message.
  std::string subject() const { return (place.empty() ? "" : place + ": ") + name(); }
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_JOB_REQUEST_H_
