// SPDX-License-Identifier: Apache-2.0
// A job: what host programs do on an elaborated machine, what lies in memory before time 0, and
// what must be there at the end. Each kind of workload (workload.h) makes one.
#ifndef STRETTO_PLATFORM_JOBS_JOB_H_
#define STRETTO_PLATFORM_JOBS_JOB_H_

#include <boost/json/object.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/common/component.h"
#include "models/fabric/chunk_mirror.h"
#include "models/host/host.h"
#include "platform/check/check.h"
#include "platform/config/machine_spec.h"
#include "sw/driver/stretto_driver.h"

namespace stretto {

class Job {
 public:
  virtual ~Job() = default;

  // Contents of memory at time 0; called once, before the run.
  virtual void place_contents() = 0;
  // The host programs. A program throws UserError if the driver refuses what it was asked for,
  // CheckError if the machine fails: throw_status().
  virtual void add_programs(Host& host) = 0;
  // For a mirrored machine: how its own packets come back to it.
  virtual MirrorMap mirror() const = 0;
  // Compares results with a reference. Call after the run.
  virtual CheckReport check() const = 0;
  // Laws of the job on simulated GPU `rank`.
  virtual void audit(uint32_t rank, AuditSink& sink) const = 0;
  // When the last program ended.
  virtual Time ended() const = 0;
  // Name and SHA-256 of each kernel file that is loaded.
  virtual std::vector<std::pair<std::string, std::string>> kernel_sha256() const = 0;

  // How many payload bytes have left over links between GPUs so far; given before programs are added.
  virtual void set_meter(std::function<uint64_t()> link_bytes) { (void)link_bytes; }
  // Where programs stand, for the report of a run that got stuck.
  virtual std::vector<std::string> waiting_on() const { return {}; }

  // What the job itself has to say: a table for people, printed after the summary of the run, and
  // the same for machines, `job` in stats.json. Also of a run that was cut short.
  virtual std::string table() const { return ""; }
  virtual boost::json::object details() const { return {}; }
};

// Where the host programs of all ranks wait for each other, in words of host memory.
class Meeting {
 public:
  explicit Meeting(size_t ranks) : met_(ranks) {}
  // All pass when all have come for the nth time.
  void meet(HostCore& core, size_t rank);

 private:
  std::vector<uint64_t> met_;  // By rank.
};

// What the driver needs, from a core of the host model.
stretto_host_ops_t host_ops(HostCore& core);

stretto_driver_costs_t driver_costs(const SoftwareSpec& software);

// Throws what a negative status of the driver means: UserError if what the machine was asked to do
// was wrong, CheckError if what it did was.
[[noreturn]] void throw_status(stretto_status_t status, const std::string& message);

// The bytes of a kernel ELF.
std::vector<uint8_t> kernel_file(const std::string& name);
// Its file: of a shipped kernel, or the name itself if it has a slash.
std::string kernel_path(const std::string& name);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_JOB_H_
