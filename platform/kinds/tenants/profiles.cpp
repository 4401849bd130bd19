// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tenants/profiles.h"

#include <fmt/format.h>

#include <charconv>

#include "models/common/error.h"
#include "platform/jobs/server_report.h"
#include "platform/results/result_file.h"

namespace stretto {

std::string machine_scope(const JobRequest& request) {
  MachineSpec spec = request.spec;
  ParameterSet set;
  describe(spec, set);
  std::string text;
  for (const Parameter& one : set.all())
    if (one.path.rfind("sim.", 0) != 0) text += one.path + "=" + one.get() + "\n";
  return sha256_hex(text.data(), text.size());
}

std::vector<tally_known_t> read_profiles(const std::string& folder, const JobRequest& request) {
  const ResultFile result(folder);
  if (result.mode != request.mode || !result.why_unusable().empty())
    throw UserError(
        fmt::format("tenants.profiles: {} is no complete result of mode {}", folder, request.mode));
  const ResultValue job = result.root().at("job");
  if (job.at("scope").text() != machine_scope(request))
    throw UserError(fmt::format(
        "tenants.profiles: {} is of another machine: its times do not hold here", folder));
  std::vector<tally_known_t> known;
  for (const ResultValue& one : job.at("server").at("measured").items()) {
    tally_known_t measured{};
    const std::string key = one.at("key").text(), form = one.at("form").text();
    std::from_chars(key.data(), key.data() + key.size(), measured.key, 16);
    measured.configuration = {form_of(form), static_cast<uint32_t>(one.at("groups").whole())};
    measured.duration_ns = one.at("duration_ns").whole();
    known.push_back(measured);
  }
  return known;
}

}  // namespace stretto
