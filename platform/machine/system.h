// SPDX-License-Identifier: Apache-2.0
// The elaborated machine with its software: what `run` simulates and asks for results.
#ifndef STRETTO_PLATFORM_MACHINE_SYSTEM_H_
#define STRETTO_PLATFORM_MACHINE_SYSTEM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "models/common/partition.h"
#include "models/sampled/body_table.h"
#include "platform/check/check.h"
#include "platform/jobs/run_request.h"
#include "platform/results/results.h"
#include "platform/results/timeline.h"

namespace stretto {

class Waves;

class System {
 public:
  // Builds everything; throws UserError (files, sizes). `timeline` and `waves` may be null.
  System(const RunRequest& request, Timeline* timeline, Waves* waves);
  ~System();
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  // Pages that a timeline of this machine needs: one a GPU, then one a host.
  static unsigned timeline_pages(const MachineSpec& spec);

  Conductor& conductor();
  uint64_t work_groups_retired() const;
  // How much of a single job is done, 0 .. 1, where that is known.
  std::optional<double> done_share() const;
  // What a firmware said that ended the run before the host programs did; empty if none has.
  std::string firmware_end() const;
  // What a bare-metal program wrote to `tohost` if that is not 1, which is success; else 0.
  uint64_t tohost_failure() const;
  // Where the run stands, in one line.
  std::string progress_text() const;
  // Where host programs stand, a line each; empty if they do not say.
  std::string waiting_text() const;
  // Compares the output with the reference. Call after the run.
  CheckReport check();
  // Whether work-groups compute nothing that could be checked.
  bool is_sampled() const;
  // What was measured, if that was asked for; of all GPUs together.
  std::optional<BodyTable> measured_bodies() const;
  // Everything but status, check and host figures.
  void collect(Results& results);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_SYSTEM_H_
