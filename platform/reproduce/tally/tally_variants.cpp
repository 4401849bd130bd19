// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/tally/tally_variants.h"

#include <fmt/format.h>

#include "platform/results/csv.h"

namespace stretto {

namespace {

// A system that makes requests wait for work-groups, one that learns a rate, and Tally.
const std::vector<const char*> kSystems{"mps", "mps-priority", "tgs", kTallyMode};

std::vector<TallyVariant> all_variants() {
  std::vector<TallyVariant> all;
  // TL-U16: how bursty the trace is.
  all.push_back({.name = "poisson",
                 .sets = {"tenants.arrivals=poisson"},
                 .systems = kSystems,
                 .changes_arrivals = true});
  for (const unsigned requests : {5u, 80u})
    all.push_back(
        {.name = fmt::format("burst-{}", requests),
         .sets = {"tenants.arrivals=bursts", fmt::format("tenants.burst_requests={}", requests)},
         .systems = kSystems,
         .changes_arrivals = true});
  // TL-U01, TL-U02: how far an inference is bound by the GPU. A framework takes 10 us or so for a launch; 40 us are what
  // Table 2's 3.93 ms of BERT leave to each of its 99.
  for (const unsigned ns : {10'000u, 20'000u, 40'000u})
    all.push_back({.name = fmt::format("host-{}ns", ns),
                   .sets = {fmt::format("tenants.host_ns={}", ns)},
                   .systems = kSystems,
                   .changes_arrivals = true,
                   .changes_inference = true});
  // TL-U08: in which order MPS places work-groups.
  all.push_back({.name = "launch-order",
                 .sets = {"tenants.order=launch"},
                 .systems = {"mps"},
                 .with_all_trainings = true});
  // Whether best effort passes work-groups of high priority that find no room.
  all.push_back({.name = "work-conserving",
                 .sets = {"tenants.priority=work_conserving"},
                 .systems = {"mps-priority"},
                 .with_all_trainings = true});
  // TL-U11: what kernels lose beside each other, beyond what they share.
  for (const unsigned percent : {200u, 400u})
    all.push_back({.name = fmt::format("contention-{}", percent),
                   .sets = {fmt::format("sampled.contention_percent={}", percent)},
                   .systems = kSystems,
                   .changes_profile = true});
  // TL-U10: over what time TGS counts; 5 s in runs of 300 s, 19 ms in those of BERT here.
  for (const unsigned ms : {5u, 75u})
    all.push_back({.name = fmt::format("tgs-{}ms", ms),
                   .sets = {fmt::format("tenants.tgs_period_ns={}000000", ms)},
                   .systems = {"tgs"}});
  // TL-U07: how long a slice is.
  for (const unsigned us : {1000u, 4000u})
    all.push_back({.name = fmt::format("slice-{}us", us),
                   .sets = {fmt::format("tenants.slice_ns={}000", us)},
                   .systems = {"time-slicing"}});
  return all;
}

const TallyRun* find_run(const TallyResults& results, const std::string& folder) {
  const auto found = results.runs.find(folder);
  return found == results.runs.end() ? nullptr : &found->second;
}

std::string variant_line(const TallyResults& results, const std::string& variant,
                         const std::string& inference, const std::string& training,
                         const std::string& system, const std::string& folder,
                         const std::string& trace) {
  const TallyRun* const pair = find_run(results, folder);
  const TallyRun* const ideal = find_run(results, trace);
  const TallyRun* const alone = find_run(results, tally_alone_folder(training + "-training"));
  if (pair == nullptr || ideal == nullptr || alone == nullptr) return "";
  return fmt::format("{},{},{},{},{},{:.6f},{:.6f},{:.6f},{:.6f},{:.4f},{:.4f}\n", variant,
                     csv_text(inference), csv_text(training), system, pair->requests, ideal->p99_ms,
                     pair->p99_ms, pair->p99_low_ms, pair->p99_high_ms,
                     pair->p99_ms / ideal->p99_ms, pair->best_effort_per_s / alone->per_s);
}

}  // namespace

const std::vector<TallyVariant>& tally_variants() {
  static const std::vector<TallyVariant> all = all_variants();
  return all;
}

std::string tally_variant_folder(const TallyVariant& variant) { return "variants/" + variant.name; }
std::string tally_variant_alone_folder(const TallyVariant& variant) {
  return tally_variant_folder(variant) + "/alone";
}
std::string tally_variant_trace_folder(const TallyVariant& variant, const std::string& inference) {
  return variant.changes_arrivals ? tally_variant_folder(variant) + "/ideal"
                                  : tally_trace_folder(inference, kTallyLoad);
}
std::string tally_variant_profile_folder(const TallyVariant& variant) {
  return tally_variant_folder(variant) + "/profile";
}
std::string tally_variant_pair_folder(const TallyVariant& variant, const std::string& inference,
                                      const std::string& training, const char* system) {
  return fmt::format("{}/{}+{}/{}", tally_variant_folder(variant), inference, training, system);
}

std::string tally_variants_csv(const TallyResults& results, const std::string& inference,
                               const std::vector<std::string>& trainings) {
  std::string text =
      "variant,inference,training,system,requests,alone_p99_ms,p99_ms,p99_low_ms,p99_high_ms,"
      "over_alone,training_of_alone\n";
  for (const std::string& training : trainings)
    for (const char* system : kTallySystems)
      text += variant_line(results, "-", inference, training, system,
                           tally_pair_folder(inference, training, system),
                           tally_trace_folder(inference, kTallyLoad));
  for (const TallyVariant& variant : tally_variants())
    for (const std::string& training : trainings)
      for (const char* system : variant.systems)
        text += variant_line(results, variant.name, inference, training, system,
                             tally_variant_pair_folder(variant, inference, training, system),
                             tally_variant_trace_folder(variant, inference));
  return text;
}

}  // namespace stretto
