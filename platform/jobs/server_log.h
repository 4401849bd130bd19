// SPDX-License-Identifier: Apache-2.0
// What Tally's server has told, and what must hold of it.
#ifndef STRETTO_PLATFORM_JOBS_SERVER_LOG_H_
#define STRETTO_PLATFORM_JOBS_SERVER_LOG_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sw/tally/server.h"

namespace stretto {

struct ServerRecord {
  tally_record_t told;       // But for the texts,
  std::string kernel, text;  // which live here.
};
using ServerLog = std::vector<ServerRecord>;

// tally_server_parameters_t::log, whose context is a ServerLog.
void note_record(void* log, const tally_record_t* record);

// A span of the host's time.
struct HostSpan {
  uint64_t begin_ns, end_ns;
};
// When high priority was active, as the server has seen it; `end_ns` closes the last one.
std::vector<HostSpan> active_spans(const ServerLog& log, uint64_t end_ns);
// From TALLY_STOPPED to TALLY_ENDED.
std::vector<HostSpan> draining_spans(const ServerLog& log, uint64_t end_ns);

struct ServerCounts {
  uint64_t launches = 0;    // Of kernels, of best effort.
  uint64_t originals = 0;   // Of those, in their own form.
  uint64_t relaunches = 0;  // Of kernels that were stopped.
  uint64_t slices = 0;
  uint64_t tasks = 0;              // Of preemptive kernels.
  uint64_t preemptions = 0;        // Kernels told to stop while they were on the GPU.
  std::vector<uint64_t> drain_ns;  // From being told to having left, in order.
};
ServerCounts counts_of(const ServerLog& log);

// Kernels of best effort that were launched and whose form and size are not chosen: they are still measured.
std::set<std::string> still_measured(const ServerLog& log);

// Violations of each law; all 0.
struct ServerLaws {
  uint64_t kernels = 0;     // Looked at,
  uint64_t controls = 0;    // and control blocks that no later kernel has taken over.
  uint64_t ids = 0;         // Work-groups that were not launched once.
  uint64_t unfinished = 0;  // Kernels that were launched and have not ended.
  uint64_t counters = 0;    // Task counters not in [tasks, tasks + workers].
  uint64_t flags = 0;       // Flags that are up though the kernel was resumed behind its last stop.
  uint64_t overlapping = 0;  // Best-effort launches while another one was in flight.
  uint64_t early = 0;        // Best-effort launches while high priority was active.
  uint64_t modified = 0;     // High-priority kernels that were not launched whole, as they are.
};
// `word`: of the GPU's memory, by address, at the end. `scheduled`: best effort is, one at a time.
ServerLaws laws_of(const ServerLog& log, const std::function<uint64_t(uint64_t)>& word,
                   bool scheduled);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_SERVER_LOG_H_
