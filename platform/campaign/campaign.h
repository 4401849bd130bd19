// SPDX-License-Identifier: Apache-2.0
// The simulations of a reproduction or sweep: each a child process with a result folder of its own. A
// complete result of the same machine, workload, executable and programs is not simulated again.
// Each stats.json is parsed once, and once more after its simulation has run.
#ifndef STRETTO_PLATFORM_CAMPAIGN_CAMPAIGN_H_
#define STRETTO_PLATFORM_CAMPAIGN_CAMPAIGN_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/base/atomic_file.h"
#include "platform/campaign/reproduce_options.h"
#include "platform/results/result_file.h"

namespace stretto {

struct CampaignRun {
  std::string folder;    // Below the campaign's.
  std::string title;     // For people.
  std::string workload;  // Shipped name or file.
  std::string mode;
  std::string machine;            // Empty: the workload's.
  std::vector<std::string> sets;  // Of this simulation; those of the options come behind.
};

// "graph_bert-small" of "graph/bert-small": for a folder, or a word of a table.
std::string plain_name(std::string text);

class Campaign {
 public:
  // `options` outlives it. Nothing is written before lock().
  explicit Campaign(const ReproduceOptions& options) : options_(options) {}

  // Builds the machine description of a simulation, so that what is wrong with it is said before
  // any simulation; throws UserError. Returns the key: what must be equal for a result to be taken.
  const std::string& add(CampaignRun run);
  // Takes the folder for itself. With table_only it must exist.
  void lock();
  // Says which results cannot be taken, then runs what is missing, unless table_only. Exit status
  // of the first failure; throws Interrupted.
  int simulate();
  // Of a simulation that was completed and passed its checks; else null. REQUIRES: after
  // simulate().
  const ResultFile* result(const std::string& folder) const;
  // "12 of 140 simulations have no result"; empty: all have one.
  std::string missing_results() const;

 private:
  enum class State {
    missing,   // No result, or of a run that was cut short.
    damaged,   // Cannot be read, or was changed.
    stale,     // Of another build, firmware, kernel, machine or option.
    rejected,  // Complete, but it failed its own checks: measures nothing.
    usable,
  };
  struct Simulation {
    CampaignRun run;
    std::string key;
    State state = State::missing;
    std::string why = "";  // damaged, rejected: what is wrong.
    std::optional<ResultFile> result = std::nullopt;
  };

  std::string checked_key(const CampaignRun& run) const;
  std::vector<std::string> arguments(const CampaignRun& run) const;
  std::string path(const CampaignRun& run) const { return options_.out + "/" + run.folder; }
  void inspect(Simulation& simulation) const;
  void print_plan() const;
  const std::string& sum_of(const std::string& file) const;

  const ReproduceOptions& options_;
  std::vector<Simulation> simulations_;
  std::unique_ptr<OutputFolder> folder_;
  mutable std::map<std::string, std::string> sums_;  // SHA-256 of files, by name.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CAMPAIGN_CAMPAIGN_H_
