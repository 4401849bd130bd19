// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tenants/tenant_alone.h"

#include <fmt/format.h>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "platform/kinds/tenants/profiles.h"
#include "platform/kinds/tenants/tenants_kind.h"
#include "platform/results/result_file.h"

namespace stretto {

uint32_t host_ns_of(const TenantsKind& kind, size_t number) {
  return number == 0 ? kind.host_ns : 0;
}

namespace {

// A rate of requests depends on when they come.
std::string arrivals_text(const TenantsKind& kind, size_t number) {
  if (number != 0) return fmt::format("{}", kind.best_effort_interval_ns);
  const std::string trace = kind.trace.empty() ? "" : read_file(kind.trace);
  return fmt::format("{} {} {} {} {} {}", static_cast<int>(kind.arrivals), kind.interval_ns,
                     kind.burst_requests, kind.burst_interval_ns, kind.load_profile, trace);
}

}  // namespace

std::string contents_of(const TenantsKind& kind, const TenantText& text, size_t number) {
  const std::string all =
      fmt::format("{} {} {} {}\n{}\n{}", text.name, kind.least_times, kind.most_times,
                  host_ns_of(kind, number), arrivals_text(kind, number), text.kernels);
  return sha256_hex(all.data(), all.size());
}

std::vector<TenantAlone> alone_of(const TenantsKind& kind, const JobRequest& request,
                                  const std::vector<TenantText>& texts) {
  if (kind.alone.empty()) return {};
  const ResultFile file(kind.alone);
  if (file.mode != "ideal" || !file.why_unusable().empty())
    throw UserError(
        fmt::format("tenants.alone: {} is no complete result of mode ideal", kind.alone));
  const ResultValue job = file.root().at("job");
  if (job.at("scope").text() != machine_scope(request))
    throw UserError(fmt::format(
        "tenants.alone: {} is of another machine, or has another gpu.executor", kind.alone));
  std::vector<TenantAlone> all;
  std::vector<std::string> contents;
  for (const ResultValue& one : job.at("clients").items()) {
    contents.push_back(one.at("contents").text());
    const auto service = one.find("service_us");
    all.push_back({one.at("requests_per_s").number(), service ? service->at("p99").number() : 0});
  }
  std::vector<std::string> asked;
  for (const TenantText& text : texts) asked.push_back(contents_of(kind, text, asked.size()));
  if (contents != asked)
    throw UserError(fmt::format(
        "tenants.alone: {} has other clients, or their requests come otherwise", kind.alone));
  return all;
}

}  // namespace stretto
