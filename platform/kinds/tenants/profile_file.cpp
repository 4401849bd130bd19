// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tenants/profile_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "platform/base/atomic_file.h"

namespace stretto {

namespace {

const std::string kFirst = "stretto tally profiles 1";

}  // namespace

std::string profile_scope(const JobRequest& request, const tally_policy_t& policy, bool stock_isa) {
  MachineSpec spec = request.spec;
  ParameterSet set;
  describe(spec, set);
  std::string text;
  for (const Parameter& one : set.all()) text += one.path + "=" + one.get() + "\n";
  text += fmt::format("{} {} {} {} {} {} {} {}", policy.turnaround_threshold_ns,
                      policy.ptb_max_threads_per_unit, policy.min_worker_blocks,
                      policy.fallback_speed_threshold, policy.short_kernel_speed_threshold,
                      policy.preemption_estimate_divisor, static_cast<int>(policy.objective),
                      stock_isa);
  return sha256_hex(text.data(), text.size());
}

std::vector<tally_known_t> read_profiles(const std::string& file, const std::string& scope) {
  check_writable(file);
  if (!std::filesystem::exists(file)) return {};
  std::istringstream lines(read_file(file));
  std::string first, second, line;
  std::getline(lines, first);
  std::getline(lines, second);
  if (first != kFirst || second.rfind("scope ", 0) != 0)
    throw UserError(file + ": begins with other lines than a file of tenants.profiles; remove it");
  std::vector<tally_known_t> known;
  for (unsigned number = 3; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    tally_known_t one{};
    std::string rest;
    words >> std::hex >> one.key >> std::dec >> one.configuration.form >>
        one.configuration.groups >> one.original_ns >> one.duration_ns;
    if (words.fail() || words >> rest || line.find('-') != std::string::npos ||
        one.configuration.form > STRETTO_FORM_PREEMPT)
      throw UserError(fmt::format("{}:{}: '{}' is no line of tenants.profiles; remove the file",
                                  file, number, line));
    known.push_back(one);
  }
  if (second.substr(6) != scope) known.clear();
  return known;
}

void write_profiles(const std::string& file, const std::string& scope,
                    std::vector<tally_known_t> known, const TenantLog& log) {
  for (const TenantRecord& one : log) {
    const tally_record_t& r = one.told;
    const auto has_key = [&](const tally_known_t& other) { return other.key == r.key; };
    if (r.kind != TALLY_CHOSEN) continue;
    // What the server did not take of the file was measured again.
    const tally_known_t chosen{r.key, {r.form, r.groups}, r.original_ns, r.duration_ns};
    const auto place = std::find_if(known.begin(), known.end(), has_key);
    if (place == known.end())
      known.push_back(chosen);
    else
      *place = chosen;
  }
  std::string text = kFirst + "\nscope " + scope + "\n";
  for (const tally_known_t& one : known)
    text += fmt::format("{:016x} {} {} {} {}\n", one.key, one.configuration.form,
                        one.configuration.groups, one.original_ns, one.duration_ns);
  write_atomically(file, text);
}

}  // namespace stretto
