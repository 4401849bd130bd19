// SPDX-License-Identifier: Apache-2.0
// `stretto reproduce compnet`: a get of a work-group, 480 work-groups at a time, and Jacobi, by the
// command processor and by threads of the host. The paper does not say where the queue of its dGPU
// design lies (CN-D7): both are columns. What nobody has built is in the table with its reason.
#include <fmt/format.h>

#include <set>

#include "platform/base/atomic_file.h"
#include "platform/campaign/campaign.h"
#include "platform/reproduce/compnet/compnet_targets.h"
#include "platform/reproduce/reproduction.h"

namespace stretto {

namespace {

constexpr const char* kFigures = "4a, 4b, 7, 8a, 8b, 8c, 9, 10a, 10b, 11";
constexpr const char* kGpuColumn = "GPU queue";
constexpr const char* kHostColumn = "host queue";

int run(const ReproduceOptions& options, const boost::program_options::variables_map&) {
  Campaign campaign(options);
  const std::vector<Target> targets =
      targets_of_figure("compnet", compnet_ids(), options.figure, kFigures);
  std::set<CompnetSource> needed;
  for (const Target& target : targets)
    for (const CompnetSource source : compnet_sources(target.id)) needed.insert(source);
  for (const CompnetSource source : needed)
    for (const CampaignRun& one : compnet_runs(source)) campaign.add(one);
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
  write_atomically(options.out + "/figures.csv", compnet_csv(results));
  fmt::print("written into {}: table.csv, table.json, figures.csv\n", options.out);
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
