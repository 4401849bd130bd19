// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tenants/known_choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "models/common/error.h"
#include "platform/results/result_file.h"

namespace stretto {

namespace {

constexpr std::array kForms{"original", "slice", "preempt"};  // By STRETTO_FORM_*.

}  // namespace

const char* form_name(uint32_t form) { return kForms.at(form); }

std::string profile_scope(const JobRequest& request, const tally_policy_t& policy, bool stock_isa) {
  MachineSpec spec = request.spec;
  ParameterSet set;
  describe(spec, set);
  std::string text;
  for (const Parameter& one : set.all())
    if (one.path.rfind("sim.", 0) != 0) text += one.path + "=" + one.get() + "\n";
  text += fmt::format("{} {} {} {} {} {} {} {}", policy.turnaround_threshold_ns,
                      policy.ptb_max_threads_per_unit, policy.min_worker_blocks,
                      policy.fallback_speed_threshold, policy.short_kernel_speed_threshold,
                      policy.preemption_estimate_divisor, static_cast<int>(policy.objective),
                      stock_isa);
  return sha256_hex(text.data(), text.size());
}

std::vector<tally_known_t> known_choices(const std::string& folder, const std::string& scope) {
  const ResultFile result(folder);
  const auto server = result.root().at("job").find("server");
  const auto of = server ? server->find("profile_scope") : std::nullopt;
  if (!of || !result.why_unusable().empty())
    throw UserError(
        fmt::format("tenants.profiles: {} is no complete result of a mode that transforms (tally, "
                    "tally-stock-isa)",
                    folder));
  if (of->text() != scope)
    throw UserError(fmt::format(
        "tenants.profiles: {} is of another machine or policy: its choices do not hold here",
        folder));
  std::vector<tally_known_t> known;
  for (const ResultValue& one : server->at("chosen").items()) {
    tally_known_t choice{};
    const std::string key = one.at("key").text(), form = one.at("form").text();
    std::from_chars(key.data(), key.data() + key.size(), choice.key, 16);
    choice.configuration = {
        static_cast<uint32_t>(std::find(kForms.begin(), kForms.end(), form) - kForms.begin()),
        static_cast<uint32_t>(one.at("groups").whole())};
    choice.original_ns = one.at("original_ns").whole();
    choice.duration_ns = one.at("duration_ns").whole();
    known.push_back(choice);
  }
  return known;
}

}  // namespace stretto
