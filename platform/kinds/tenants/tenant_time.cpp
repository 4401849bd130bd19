// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tenants/tenant_time.h"

#include <algorithm>
#include <utility>

namespace stretto {

uint64_t late_begins(const std::vector<HostSpan>& active, const std::vector<uint64_t>& begins_ns,
                     uint64_t latency_ns) {
  return static_cast<uint64_t>(
      std::count_if(begins_ns.begin(), begins_ns.end(), [&](uint64_t begin) {
        return std::any_of(active.begin(), active.end(), [&](const HostSpan& span) {
          return begin > span.begin_ns + latency_ns && begin < span.end_ns;
        });
      }));
}

std::vector<HostSpan> high_kernel_spans(const std::vector<TenantMoment>& moments,
                                        uint64_t rest_ns) {
  std::vector<HostSpan> spans;
  int running = 0;
  for (const TenantMoment& one : moments) {
    if (!one.high) continue;
    if (!one.ended && running++ == 0) spans.push_back({one.at_ns, UINT64_MAX});
    if (one.ended && --running == 0) spans.back().end_ns = one.at_ns + rest_ns;
  }
  return spans;
}

TenantOwners owners_of(const std::vector<TenantMoment>& moments,
                       const std::vector<HostSpan>& draining, const std::vector<HostSpan>& requests,
                       HostSpan span) {
  enum What { kHigh, kBestEffort, kDraining, kRequest, kWhats };
  struct Change {
    uint64_t at;
    What what;
    int by;
  };
  std::vector<Change> changes;
  for (const TenantMoment& one : moments)
    changes.push_back({one.at_ns, one.high ? kHigh : kBestEffort, one.ended ? -1 : 1});
  for (const auto& [what, spans] : {std::pair(kDraining, &draining), {kRequest, &requests}}) {
    for (const HostSpan& one : *spans) {
      changes.push_back({one.begin_ns, what, 1});
      changes.push_back({one.end_ns, what, -1});
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.at < b.at; });
  TenantOwners owners;
  owners.span_ns = span.end_ns - span.begin_ns;
  int now[kWhats] = {};
  uint64_t from = span.begin_ns;
  const auto pass = [&](uint64_t until) {
    const uint64_t to = std::clamp(until, from, span.end_ns), time = to - from;
    from = to;
    const bool high = now[kHigh] > 0, best = now[kBestEffort] > 0;
    if (best && now[kDraining] > 0) {
      owners.draining_ns += time;
    } else if (high && best) {
      owners.both_ns += time;
    } else if (high) {
      owners.high_ns += time;
    } else if (best) {
      owners.best_effort_ns += time;
    } else if (now[kRequest] > 0) {
      owners.boundary_ns += time;
    } else {
      owners.idle_ns += time;
    }
  };
  for (const Change& change : changes) {
    pass(change.at);
    now[change.what] += change.by;
  }
  pass(span.end_ns);
  return owners;
}

}  // namespace stretto
