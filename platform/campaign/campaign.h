// SPDX-License-Identifier: Apache-2.0
// The simulations of a reproduction: each a child process with a result folder of its own. What is
// there, complete and of the same machine, workload, executable and programs, is not run again.
#ifndef STRETTO_PLATFORM_CAMPAIGN_CAMPAIGN_H_
#define STRETTO_PLATFORM_CAMPAIGN_CAMPAIGN_H_

#include <boost/json/value.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/base/atomic_file.h"
#include "platform/campaign/reproduce_options.h"

namespace stretto {

struct CampaignRun {
  std::string folder;    // Below the campaign's.
  std::string title;     // For people.
  std::string workload;  // Shipped name or file.
  std::string mode;
  std::string machine;            // Empty: the workload's.
  std::vector<std::string> sets;  // Of this simulation; those of the options come behind.
  std::string key;                // Filled in by add().
};

class Campaign {
 public:
  // `name`: "t3", for messages. Nothing is written before simulate() or lock().
  Campaign(std::string name, const ReproduceOptions& options);

  // Builds the machine description of a simulation, so that what is wrong with it is said before any
  // simulation; throws UserError.
  void add(CampaignRun run);
  // Takes the folder for itself. With table_only it must be there.
  void lock();
  // Says which results are damaged or of another build, then runs what is missing, unless table_only.
  // Exit status of the first failure; throws Interrupted.
  int simulate();
  // stats.json of a simulation that was completed and passed its checks.
  std::optional<boost::json::value> result(const std::string& folder) const;
  const std::vector<CampaignRun>& runs() const { return runs_; }

 private:
  std::string checked_key(const CampaignRun& run) const;
  std::vector<std::string> arguments(const CampaignRun& run) const;
  std::string path(const CampaignRun& run) const { return options_.out + "/" + run.folder; }
  bool there(const CampaignRun& run) const;
  bool done(const CampaignRun& run) const;
  void tell() const;
  const std::string& sum_of(const std::string& file) const;

  const std::string name_;
  const ReproduceOptions& options_;
  std::vector<CampaignRun> runs_;
  std::unique_ptr<OutputFolder> folder_;
  mutable std::map<std::string, std::string> sums_;  // SHA-256 of files, by name.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CAMPAIGN_CAMPAIGN_H_
