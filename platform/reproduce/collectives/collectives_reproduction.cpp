// SPDX-License-Identifier: Apache-2.0
// `stretto reproduce collectives`: the tables of all collectives under all engines, workloads
// collectives/*. At the time limit the tables of what has a result are printed.
#include <fmt/format.h>
#include <boost/json.hpp>

#include <string>

#include "platform/base/atomic_file.h"
#include "platform/campaign/campaign.h"
#include "platform/kinds/collective/collective_kind.h"
#include "platform/reproduce/reproduction.h"

namespace stretto {

namespace {

// The longest first.
constexpr const char* kOperations[] = {"all_to_all", "all_reduce", "reduce_scatter",
                                       "all_gather", "broadcast",  "sendrecv"};
constexpr const char* kEngines[] = {"mmio", "gdma", "dma", "t3"};

bool has_engine(const std::string& operation, const std::string& engine) {
  return engine != "t3" || operation == "all_reduce" || operation == "reduce_scatter";
}

std::vector<CampaignRun> runs() {
  std::vector<CampaignRun> all;
  for (const std::string operation : kOperations) {
    for (const std::string engine : kEngines) {
      if (!has_engine(operation, engine)) continue;
      CampaignRun run;
      run.folder = operation + "/" + engine;
      run.title = operation + " " + engine;
      run.workload = "collectives/" + operation;
      run.mode = engine;
      all.push_back(std::move(run));
    }
  }
  return all;
}

int run(const ReproduceOptions& options, const boost::program_options::variables_map&) {
  Campaign campaign(options);
  for (const CampaignRun& run : runs()) campaign.add(run);
  campaign.lock();
  const int status = campaign.simulate();
  const std::string missing = campaign.missing_results();
  std::string tables = missing.empty() ? "" : "# partial reproduction: " + missing + "\n\n";
  for (const CampaignRun& run : runs()) {
    const ResultFile* result = campaign.result(run.folder);
    tables += result == nullptr ? "# " + run.title + ": no result\n"
                                : collective_table(result->root().at("job").json().as_object());
    tables += "\n";
  }
  write_atomically(options.out + "/tables.txt", tables);
  fmt::print("{}written: {}/tables.txt\n", tables, options.out);
  return status;
}

}  // namespace

Reproduction collectives_reproduction() {
  return {.name = "collectives",
          .sentence = "tables of nccl-tests: all collectives under all engines",
          .figures = "",
          .time_limit_s = 2700,
          .run = run};
}

}  // namespace stretto
