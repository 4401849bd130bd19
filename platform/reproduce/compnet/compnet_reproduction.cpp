// SPDX-License-Identifier: Apache-2.0
// `stretto reproduce compnet`: queues, gets, Jacobi, all-reduce and training, by the command
// processor, by threads of the host, between kernels and on the CPU. The paper does not say where the
// queue of its dGPU design lies (CN-D7): both are columns. What nobody has built is in the table with
// its reason.
#include <fmt/format.h>

#include <set>

#include "platform/base/atomic_file.h"
#include "platform/campaign/campaign.h"
#include "platform/reproduce/compnet/compnet_energy.h"
#include "platform/reproduce/compnet/compnet_figures.h"
#include "platform/reproduce/compnet/compnet_targets.h"
#include "platform/reproduce/compnet/compnet_training.h"
#include "platform/reproduce/compnet/llc_study.h"
#include "platform/reproduce/reproduction.h"

namespace stretto {

namespace {

constexpr const char* kFigures = "4a, 4b, 7, 8a, 8b, 8c, 9, 10a, 10b, 11";
constexpr const char* kGpuColumn = "GPU queue";
constexpr const char* kHostColumn = "host queue";

// Each folder once: sources overlap.
void add_runs(Campaign& campaign, const std::vector<Target>& targets, bool with_variants) {
  std::set<CompnetSource> needed;
  for (const Target& target : targets)
    for (const CompnetSource source : compnet_sources(target.id)) needed.insert(source);
  std::set<std::string> folders;
  const auto add = [&](const CampaignRun& one) {
    if (folders.insert(one.folder).second) campaign.add(one);
  };
  for (const CompnetSource source : needed)
    for (const CampaignRun& one : compnet_runs(source)) add(one);
  if (!with_variants) return;
  for (const CompnetVariant& one : compnet_variants()) add(one.run);
}

std::string write_lists(const CompnetResults& results, const std::string& out) {
  std::string written;
  const auto write = [&](const char* name, const std::string& text) {
    write_atomically(out + "/" + name, text);
    written += std::string(", ") + name;
  };
  write("figures.csv", figures_csv(results));
  write("energy.csv", energy_csv(results));
  write("training.csv", training_csv(results));
  write("sensitivity.csv", sensitivity_csv(results));
  for (const auto& [name, plot] : compnet_plots(results)) {
    write_plot(out + "/" + name, plot);
    written += ", " + name;
  }
  if (const std::string csv = llc_csv(results); !csv.empty()) {
    write("figure7.csv", csv);
    plot_llc(out, results);
    written += ", fig7.svg";
  }
  return written;
}

int run(const ReproduceOptions& options, const boost::program_options::variables_map&) {
  Campaign campaign(options);
  const std::vector<Target> targets =
      targets_of_figure("compnet", compnet_ids(), options.figure, kFigures);
  add_runs(campaign, targets, options.figure.empty());
  campaign.lock();
  const int status = campaign.simulate();
  const CompnetResults results = [&](const std::string& folder) { return campaign.result(folder); };
  std::vector<std::string> partial;
  if (!options.figure.empty()) partial.push_back("--figure " + options.figure);
  if (const std::string missing = campaign.missing_results(); !missing.empty())
    partial.push_back(missing);
  write_targets({.name = options.name,
                 .columns = {kGpuColumn, kHostColumn},
                 .targets = targets,
                 .measure =
                     [&](const std::string& id, const std::string& column) {
                       return measure_compnet(id, column == kHostColumn, results);
                     },
                 .out = options.out,
                 .partial = partial});
  fmt::print("written into {}: table.csv, table.json{}\n", options.out,
             write_lists(results, options.out));
  return status;
}

}  // namespace

Reproduction compnet_reproduction() {
  return {.name = "compnet",
          .sentence = "ComP-Net (PACT'18): networking from kernels by command processor or host",
          .figures = kFigures,
          .time_limit_s = 1800,
          .run = run};
}

}  // namespace stretto
