// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/server_log.h"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

namespace stretto {

namespace {

// The high-priority client, or a number that is none's.
uint32_t high_of(const ServerLog& log) {
  const auto found = std::find_if(log.begin(), log.end(), [](const ServerRecord& one) {
    return one.told.kind == TALLY_HIGH_ACTIVE;
  });
  return found == log.end() ? UINT32_MAX : found->told.client;
}

std::vector<const tally_record_t*> best_effort_of(const ServerLog& log, tally_record_kind_t kind) {
  std::vector<const tally_record_t*> found;
  const uint32_t high = high_of(log);
  for (const ServerRecord& one : log)
    if (one.told.kind == kind && one.told.client != high) found.push_back(&one.told);
  return found;
}

// A kernel that a client has asked for.
struct Kernel {
  uint32_t form = 0, work_groups = 0, workers = 0;
  std::vector<uint8_t> launched;  // By id, up to 2.
  uint64_t control = 0;
  unsigned launches = 0;
  bool ended = false;
  bool is_told_to_stop = false;  // And not launched again.
};

using Kernels = std::map<std::pair<uint32_t, uint64_t>, Kernel>;

Kernels kernels_of(const ServerLog& log) {
  Kernels kernels;
  for (const ServerRecord& one : log) {
    const tally_record_t& r = one.told;
    if (r.kind != TALLY_LAUNCHED && r.kind != TALLY_ENDED && r.kind != TALLY_STOPPED) continue;
    Kernel& k = kernels[{r.client, r.launch}];
    if (r.kind == TALLY_ENDED) k.ended = r.is_last != 0;
    if (r.kind == TALLY_STOPPED) k.is_told_to_stop = true;
    if (r.kind != TALLY_LAUNCHED) continue;
    k.form = r.form;
    k.work_groups = r.work_groups;
    k.workers = r.groups;
    k.control = r.control;
    k.is_told_to_stop = false;
    k.launched.resize(r.work_groups);
    const bool all = r.form == STRETTO_FORM_PREEMPT;
    const uint32_t first = all ? 0 : r.first, count = all ? r.work_groups : r.groups;
    // Of workers, the control block says more.
    for (uint32_t id = first; id < first + uint64_t{count} && id < r.work_groups; ++id)
      if (!all || k.launches == 0) k.launched[id] = std::min(k.launched[id] + 1, 2);
    ++k.launches;
  }
  return kernels;
}

}  // namespace

void note_record(void* log, const tally_record_t* record) {
  ServerRecord copy{*record, record->kernel == nullptr ? "" : record->kernel,
                    record->text == nullptr ? "" : record->text};
  copy.told.kernel = copy.told.text = nullptr;
  static_cast<ServerLog*>(log)->push_back(std::move(copy));
}

std::vector<HostSpan> active_spans(const ServerLog& log, uint64_t end_ns) {
  std::vector<HostSpan> spans;
  bool active = false;
  for (const ServerRecord& one : log) {
    if (one.told.kind == TALLY_HIGH_ACTIVE) {
      spans.push_back({one.told.time_ns, end_ns});
      active = true;
    }
    if (one.told.kind == TALLY_HIGH_IDLE && active) {
      spans.back().end_ns = one.told.time_ns;
      active = false;
    }
  }
  return spans;
}

std::vector<HostSpan> draining_spans(const ServerLog& log, uint64_t end_ns) {
  std::vector<HostSpan> spans;
  const uint32_t high = high_of(log);
  bool draining = false;
  for (const ServerRecord& one : log) {
    if (one.told.kind == TALLY_STOPPED) {
      spans.push_back({one.told.time_ns, end_ns});
      draining = true;
    }
    if (one.told.kind == TALLY_ENDED && draining && one.told.client != high) {
      spans.back().end_ns = one.told.time_ns;
      draining = false;
    }
  }
  return spans;
}

ServerCounts counts_of(const ServerLog& log) {
  ServerCounts counts;
  std::map<std::pair<uint32_t, uint64_t>, bool> seen;
  for (const tally_record_t* r : best_effort_of(log, TALLY_LAUNCHED)) {
    const bool is_first = !seen[{r->client, r->launch}];
    seen[{r->client, r->launch}] = true;
    counts.launches += is_first;
    counts.originals += is_first && r->form == STRETTO_FORM_ORIGINAL;
    counts.relaunches += !is_first && r->form == STRETTO_FORM_PREEMPT;
    counts.slices += r->form == STRETTO_FORM_SLICE;
    if (is_first && r->form == STRETTO_FORM_PREEMPT) counts.tasks += r->work_groups;
  }
  counts.relaunches += best_effort_of(log, TALLY_RESUMED).size();
  counts.preemptions = best_effort_of(log, TALLY_STOPPED).size();
  for (const HostSpan& span : draining_spans(log, 0))
    if (span.end_ns != 0) counts.drain_ns.push_back(span.end_ns - span.begin_ns);
  return counts;
}

std::set<std::string> still_measured(const ServerLog& log) {
  const uint32_t high = high_of(log);
  // Of a kernel each grid is measured for itself.
  std::set<std::tuple<uint32_t, std::string, uint32_t>> launched, settled;
  std::set<std::pair<uint32_t, std::string>> refused;
  for (const ServerRecord& one : log) {
    const tally_record_t& told = one.told;
    if (told.kind == TALLY_REFUSED) refused.emplace(told.client, one.kernel);
    if (told.kind == TALLY_CHOSEN) settled.emplace(told.client, one.kernel, told.work_groups);
    if (told.kind == TALLY_LAUNCHED && told.client != high)
      launched.emplace(told.client, one.kernel, told.work_groups);
  }
  std::set<std::string> names;
  for (const auto& each : launched) {
    const auto& [client, kernel, work_groups] = each;
    if (!settled.contains(each) && !refused.contains({client, kernel})) names.insert(kernel);
  }
  return names;
}

ServerLaws laws_of(const ServerLog& log, const std::function<uint64_t(uint64_t)>& word,
                   bool scheduled) {
  ServerLaws laws;
  const Kernels kernels = kernels_of(log);
  std::map<uint64_t, std::pair<uint32_t, uint64_t>> owner;  // Of a control block: the last kernel.
  for (const ServerRecord& one : log)
    if (one.told.kind == TALLY_LAUNCHED && one.told.control != 0)
      owner[one.told.control] = {one.told.client, one.told.launch};
  for (const auto& [name, k] : kernels) {
    ++laws.kernels;
    laws.unfinished += !k.ended;
    for (const uint8_t times : k.launched) laws.ids += times != 1;
    if (k.control == 0 || owner[k.control] != name || !k.ended) continue;
    ++laws.controls;
    const auto control = std::bit_cast<stretto_task_control_t>(word(k.control));
    const uint64_t next = control.next, flag = control.preempt;
    laws.counters += next < k.work_groups || next > uint64_t{k.work_groups} + k.workers;
    laws.flags += flag != (k.is_told_to_stop ? 1 : 0);
  }
  const uint32_t high = high_of(log);
  bool in_flight = false, active = false;
  for (const ServerRecord& one : log) {
    const tally_record_t& r = one.told;
    if (r.kind == TALLY_HIGH_ACTIVE) active = true;
    if (r.kind == TALLY_HIGH_IDLE) active = false;
    if (r.kind == TALLY_LAUNCHED && r.client == high)
      laws.modified += r.form != STRETTO_FORM_ORIGINAL || r.groups != r.work_groups;
    if (!scheduled || r.client == high) continue;
    if (r.kind == TALLY_LAUNCHED || r.kind == TALLY_RESUMED) {
      laws.overlapping += in_flight;
      laws.early += active;
      in_flight = true;
    }
    if (r.kind == TALLY_ENDED) in_flight = false;
  }
  return laws;
}

}  // namespace stretto
