// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/run_request.h"

#include <algorithm>
#include <numeric>

#include "models/common/error.h"
#include "sw/include/formats/queue.h"

namespace stretto {

namespace {

// All of the machine, for a job that is alone on it.
JobShare whole_machine(const MachineSpec& spec) {
  JobShare share;
  share.gpus.resize(spec.gpus);
  std::iota(share.gpus.begin(), share.gpus.end(), 0);
  share.queue_count = STRETTO_QUEUE_COUNT;
  share.memory_begin = STRETTO_SYSTEM_BYTES;
  share.memory_end = uint64_t{spec.software.memory_gib} << 30;
  return share;
}

// Kinds that can do something, for messages.
std::string names_of(bool (*can)(const KindInfo&)) {
  std::string names;
  for (const auto& kind : workload_kinds())
    if (can(kind->info())) names += (names.empty() ? "" : ", ") + kind->info().name;
  return names;
}

// What is the same for all kinds.
void check_job(const JobRequest& job) {
  const KindInfo& info = job.kind->info();
  const auto has = [&](DataMode data) {
    return info.data.empty() ||
           std::find(info.data.begin(), info.data.end(), data) != info.data.end();
  };
  if (!has(job.data)) {
    throw UserError(job.subject() + ": kind " + info.name + " needs --data " +
                    (job.data == DataMode::real ? "stamp" : "real"));
  }
  if (job.spec.sim.mirror && !info.can_mirror) {
    throw UserError(job.subject() + ": sim.mirror: in kind " + info.name +
                    " no GPU can stand for all; kinds that can be mirrored: " +
                    names_of([](const KindInfo& kind) { return kind.can_mirror; }));
  }
  if (job.spec.software.mca_policy != kMcaPolicyOfMode && !info.programs_arbiters) {
    throw UserError(job.subject() + ": software.mca_policy: programs of kind " + info.name +
                    " leave the arbiters as they are; kinds that set their policy: " +
                    names_of([](const KindInfo& kind) { return kind.programs_arbiters; }));
  }
  if (job.ranks() < info.min_gpus) {
    throw UserError(job.subject() + ": kind " + info.name + " needs " +
                    std::to_string(info.min_gpus) + " GPUs, gpus is " +
                    std::to_string(job.ranks()));
  }
  job.kind->check(job);
}

void prepare_firmware(const RunOptions& options, Machine& machine) {
  if (options.firmware.empty())
    throw UserError("run needs a WORKLOAD or --firmware ELF; see 'stretto run --help'");
  if (!options.mode.empty()) throw UserError("--mode needs a WORKLOAD");
  if (!options.machine.empty()) machine.load(options.machine);
  // A bare-metal program runs on one GPU unless the machine or --set says otherwise.
  if (options.machine.empty()) machine.set("gpus=1");
}

void prepare_workload(RunOptions& options, Machine& machine, const Workload& workload) {
  if (options.mode.empty()) options.mode = workload.modes.front();
  if (!workload.has_mode(options.mode)) {
    std::string all;
    for (const std::string& mode : workload.modes) all += (all.empty() ? "" : ", ") + mode;
    throw UserError("--mode " + options.mode + ": workload " + workload.name + " has " + all);
  }
  machine.load(options.machine.empty() ? workload.machine : options.machine);
  workload.configure(machine);
  if (options.data.empty()) options.data = workload.data;
}

}  // namespace

RunRequest prepare_request(RunOptions& options, Machine& machine) {
  RunRequest request{machine, options, {}, !options.workload.empty(), {}};
  if (request.has_workload) {
    request.workload = load_workload(options.workload, options.sets);
    prepare_workload(options, machine, request.workload);
  } else {
    prepare_firmware(options, machine);
  }
  for (const std::string& set : options.sets) {
    if (!request.workload.owns(set)) machine.set(set);
  }
  machine.check();
  if (!request.has_workload) return request;
  request.jobs.push_back({machine.spec(), request.workload.name, request.workload.kind,
                          options.mode, options.data == "real" ? DataMode::real : DataMode::stamp,
                          options.seed, whole_machine(machine.spec())});
  for (const JobRequest& job : request.jobs) check_job(job);
  return request;
}

}  // namespace stretto
