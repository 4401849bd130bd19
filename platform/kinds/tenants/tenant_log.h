// SPDX-License-Identifier: Apache-2.0
// What Tally's server has told, and what must hold of it.
#ifndef STRETTO_PLATFORM_KINDS_TENANTS_TENANT_LOG_H_
#define STRETTO_PLATFORM_KINDS_TENANTS_TENANT_LOG_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sw/tally/server.h"

namespace stretto {

struct TenantRecord {
  tally_record_t told;       // But for the texts,
  std::string kernel, text;  // which live here.
};
using TenantLog = std::vector<TenantRecord>;

struct TenantCounts {
  uint64_t launches = 0;    // Of kernels, of best effort.
  uint64_t originals = 0;   // Of those, in their own form.
  uint64_t relaunches = 0;  // Of kernels that were stopped.
  uint64_t slices = 0;
  uint64_t tasks = 0;              // Of preemptive kernels.
  uint64_t preemptions = 0;        // Kernels told to stop while they were on the GPU.
  std::vector<uint64_t> drain_ns;  // From being told to having left, in order.
};
TenantCounts counts_of(const TenantLog& log);

// Kernels of best effort that were launched and whose form and size are not chosen: they are still measured.
std::set<std::string> still_measured(const TenantLog& log);

// Violations of each law; all 0.
struct TenantLaws {
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
TenantLaws laws_of(const TenantLog& log, const std::function<uint64_t(uint64_t)>& word,
                   bool scheduled);

// A span of the host's time.
struct TenantSpan {
  uint64_t begin_ns, end_ns;
};
// When high priority was active, as the server has seen it; `end_ns` closes the last one.
std::vector<TenantSpan> active_spans(const TenantLog& log, uint64_t end_ns);
// Best-effort kernels that began (`begins_ns`) more than `latency_ns` after high priority had become
// active, and while it was.
uint64_t late_begins(const std::vector<TenantSpan>& active, const std::vector<uint64_t>& begins_ns,
                     uint64_t latency_ns);

// How long, of a span of time, the GPU worked for whom. The parts add up to the span.
struct TenantOwners {
  uint64_t span_ns = 0;
  uint64_t high_ns = 0;         // Kernels of the high-priority client alone,
  uint64_t best_effort_ns = 0;  // of best effort alone,
  uint64_t both_ns = 0;
  uint64_t draining_ns = 0;  // best effort that was told to stop, whoever else;
  uint64_t boundary_ns = 0;  // none, within a request of high priority;
  uint64_t idle_ns = 0;      // none at all.
  uint64_t sum_ns() const {
    return high_ns + best_effort_ns + both_ns + draining_ns + boundary_ns + idle_ns;
  }
};
// A kernel of high priority or of best effort has begun or ended on the GPU.
struct TenantMoment {
  uint64_t at_ns;
  bool high, ended;
};
// When kernels of high priority were on the GPU, or had been less than `rest_ns` ago. `moments` in the order
// of their times.
std::vector<TenantSpan> high_kernel_spans(const std::vector<TenantMoment>& moments,
                                          uint64_t rest_ns);
TenantOwners owners_of(const std::vector<TenantMoment>& moments,
                       const std::vector<TenantSpan>& draining,
                       const std::vector<TenantSpan>& requests, TenantSpan span);
// From TALLY_STOPPED to TALLY_ENDED.
std::vector<TenantSpan> draining_spans(const TenantLog& log, uint64_t end_ns);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TENANTS_TENANT_LOG_H_
