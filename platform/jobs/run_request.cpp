// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/run_request.h"

#include <algorithm>
#include <numeric>

#include "models/common/error.h"
#include "sw/include/formats/queue.h"

namespace stretto {

namespace {

constexpr uint64_t kMaxSharers = 5;  // Of a GPU: each has three queues at least.

std::string gpu_list(const std::vector<uint32_t>& gpus) {
  std::string text;
  for (const uint32_t gpu : gpus) text += (text.empty() ? "" : ", ") + std::to_string(gpu);
  return text;
}

std::vector<uint32_t> all_gpus(const MachineSpec& spec) {
  std::vector<uint32_t> gpus(spec.gpus);
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

// Jobs that share GPUs, also by way of others, divide queues and memory evenly. So a job has the
// same on all of its GPUs, and one that shares none has all.
void divide(std::vector<JobRequest>& jobs) {
  std::vector<size_t> group(jobs.size());
  std::iota(group.begin(), group.end(), 0);
  for (size_t a = 0; a < jobs.size(); ++a) {
    for (size_t b = 0; b < a; ++b) {
      if (jobs[a].has_common_gpu(jobs[b]))
        std::replace(group.begin(), group.end(), size_t{group[a]}, size_t{group[b]});
    }
  }
  constexpr uint64_t kUnit = uint64_t{1} << 20;
  for (size_t i = 0; i < jobs.size(); ++i) {
    JobShare& share = jobs[i].share;
    const auto begin = group.begin(), place = begin + static_cast<int64_t>(i);
    const uint64_t sharers = static_cast<uint64_t>(std::count(begin, group.end(), group[i]));
    const uint64_t index = static_cast<uint64_t>(std::count(begin, place, group[i]));
    if (sharers > kMaxSharers)
      throw UserError(jobs[i].subject() + ": " + std::to_string(sharers) +
                      " jobs share GPUs; at most " + std::to_string(kMaxSharers) + " can");
    const uint64_t end = uint64_t{jobs[i].spec.software.memory_gib} << 30;
    const uint64_t bytes = (end - STRETTO_SYSTEM_BYTES) / sharers / kUnit * kUnit;
    share.queue_count = static_cast<uint32_t>(STRETTO_QUEUE_COUNT / sharers);
    share.first_queue = static_cast<uint32_t>(index) * share.queue_count;
    share.memory_begin = STRETTO_SYSTEM_BYTES + index * bytes;
    share.memory_end = index + 1 == sharers ? end : share.memory_begin + bytes;
  }
}

// Each of several jobs has as many as it uses.
void divide_accounts(std::vector<JobRequest>& jobs) {
  if (jobs.size() == 1) return;
  constexpr uint32_t kAll = STRETTO_ACCOUNTS - STRETTO_ACCOUNT_JOB;
  uint32_t used = 0;
  std::string needs;
  for (JobRequest& job : jobs) {
    JobShare& share = job.share;
    share.accounts = job.kind->accounts(job.mode);
    share.account_base = used;
    share.prefix = "job" + std::to_string(share.number) + "_";
    used += share.accounts;
    needs +=
        (needs.empty() ? "" : ", ") + job.kind->info().name + " " + std::to_string(share.accounts);
    if (used > kAll)
      throw UserError(job.subject() + ": jobs need more than " + std::to_string(kAll) +
                      " accounts: " + needs);
  }
}

// Who does not run keeps its share, so that the others lie where they lie beside it.
void drop_idle(std::vector<JobRequest>& jobs) {
  std::vector<JobRequest> on;
  for (JobRequest& job : jobs)
    if (job.share.is_on) on.push_back(std::move(job));
  jobs = std::move(on);
  for (JobRequest& a : jobs)
    for (const JobRequest& b : jobs) a.share.has_company |= &a != &b && a.has_common_gpu(b);
}

// What a GPU, or a server, has once only goes to one job.
void check_claims(const std::vector<JobRequest>& jobs) {
  for (const JobRequest& a : jobs) {
    const std::vector<std::string> claims = a.kind->claims(a);
    for (const JobRequest& b : jobs) {
      if (&a == &b) continue;
      const std::vector<std::string> others = b.kind->claims(b);
      for (const std::string& claim : claims) {
        if (std::find(others.begin(), others.end(), claim) == others.end()) continue;
        const bool of_server = claim == kNetworkInterface;
        if (!(of_server ? a.has_common_server(b) : a.has_common_gpu(b))) continue;
        throw UserError(a.subject() + " needs " + claim + " to itself, but shares " +
                        (of_server ? "servers" : "GPUs") + " with " + b.name() +
                        ", which needs it too" + (of_server ? "" : "; give them other GPUs"));
      }
    }
  }
}

// On a ring of more GPUs than have links to each other.
void check_links(const JobRequest& job) {
  for (size_t rank = 0; rank < job.share.gpus.size(); ++rank) {
    const uint32_t a = job.share.gpus[rank], b = job.share.gpus[(rank + 1) % job.share.gpus.size()];
    if (!job.spec.are_linked(a, b))
      throw UserError(job.subject() + ": GPUs " + gpu_list(job.share.gpus) + ": " +
                      std::to_string(a) + " and " + std::to_string(b) +
                      " have no link; on a ring of " + std::to_string(job.spec.gpus) +
                      " a job has all GPUs in their order, or two neighbours");
  }
}

// Kinds that can do something, for messages.
std::string names_of(bool (*can)(const KindInfo&)) {
  std::string names;
  for (const auto& kind : workload_kinds())
    if (can(kind->info())) names += (names.empty() ? "" : ", ") + kind->info().name;
  return names;
}

// A host program reaches the GPUs of its own server alone.
void check_server(const JobRequest& job) {
  const MachineSpec& spec = job.spec;
  for (const uint32_t gpu : job.share.gpus) {
    if (spec.server_of(gpu) == spec.server_of(job.share.gpus.front())) continue;
    throw UserError(job.subject() + ": kind " + job.kind->info().name +
                    " runs within one server; GPUs " + gpu_list(job.share.gpus) +
                    " are in several (" + std::to_string(spec.servers) + " servers of " +
                    std::to_string(spec.gpus_of_server()) + "); kinds that span servers: " +
                    names_of([](const KindInfo& kind) { return kind.spans_servers; }));
  }
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
  if (!job.kind->spans_servers(job.mode)) check_server(job);
  if (job.ranks() < info.min_gpus) {
    throw UserError(job.subject() + ": kind " + info.name + " needs " +
                    std::to_string(info.min_gpus) + " GPUs, gpus is " +
                    std::to_string(job.ranks()));
  }
  if (!job.kind->spans_servers(job.mode)) check_links(job);
  job.kind->check(job);
}

// Of several jobs one sets the policy of its GPUs' arbiters, and the others live with it.
void check_policy(const std::vector<JobRequest>& jobs) {
  const auto sets_policy = [](const JobRequest& job) { return job.kind->info().programs_arbiters; };
  const JobRequest& first = jobs.front();
  if (first.spec.software.mca_policy == kMcaPolicyOfMode ||
      std::any_of(jobs.begin(), jobs.end(), sets_policy))
    return;
  throw UserError(first.subject() + ": software.mca_policy: programs of kind " +
                  first.kind->info().name +
                  " leave the arbiters as they are; kinds that set their policy: " +
                  names_of([](const KindInfo& kind) { return kind.programs_arbiters; }));
}

void add_job(RunRequest& request, const Workload& workload, const std::string& mode,
             const std::string& data, std::vector<uint32_t> gpus, const std::string& place = "") {
  const MachineSpec& spec = request.machine.spec();
  for (const uint32_t gpu : gpus) {
    if (gpu >= spec.gpus)
      throw UserError(place + ": workload " + workload.name + ": gpus has " + std::to_string(gpu) +
                      ", the machine has GPUs 0 to " + std::to_string(spec.gpus - 1));
  }
  JobShare share;
  share.number = static_cast<uint32_t>(request.jobs.size());
  share.gpus = gpus.empty() ? all_gpus(spec) : std::move(gpus);
  request.jobs.push_back({spec, workload.name, workload.kind, mode,
                          data == "real" ? DataMode::real : DataMode::stamp, request.options.seed,
                          workload.parameters, std::move(share), place});
}

void prepare_firmware(const RunOptions& options, Machine& machine) {
  if (options.firmware.empty())
    throw UserError("run needs a WORKLOAD or --firmware ELF; see 'stretto run --help'");
  if (!options.mode.empty()) throw UserError("--mode needs a WORKLOAD");
  if (!options.machine.empty()) machine.load(options.machine);
  // A bare-metal program runs on one GPU unless the machine or --set says otherwise.
  if (options.machine.empty()) machine.set("gpus=1");
  if (!options.data.empty()) throw UserError("--data needs a WORKLOAD");
}

void prepare_workload(RunOptions& options, Machine& machine, const Workload& workload) {
  if (options.mode.empty()) options.mode = workload.modes.front();
  if (!workload.has_mode(options.mode)) {
    throw UserError("--mode " + options.mode + ": workload " + workload.name + " has " +
                    workload.mode_list());
  }
  machine.load(options.machine.empty() ? workload.machine : options.machine);
  workload.configure(machine);
  if (workload.kind != nullptr) {
    const auto& needs = workload.kind->info().machine_of_mode;
    if (const auto one = needs.find(options.mode); one != needs.end()) machine.set(one->second);
  }
  // Not stamps: what the kind places itself.
  const bool own = workload.kind != nullptr && workload.kind->info().data.empty();
  if (options.data.empty()) options.data = own ? "own" : workload.data;
}

// What of --set is no key of the workload's kind. One may have been meant.
void set_machine(Machine& machine, const std::string& set, const Workload& workload) {
  std::vector<std::string> own;
  for (const std::string& key : keys_of_kinds()) {
    if (workload.owns(key)) own.push_back(key);
    if (set.rfind(key + "=", 0) != 0) continue;
    throw UserError("--set " + set + ": " + key + " is a key of workloads of kind " +
                    key.substr(0, key.find('.')) + ", which " +
                    (workload.name.empty() ? "this run" : "workload " + workload.name) + " is not");
  }
  machine.set(set, own);
}

}  // namespace

RunRequest prepare_request(RunOptions& options, Machine& machine) {
  const std::string given_data = options.data;
  RunRequest request{machine, options, {}, !options.workload.empty(), {}};
  if (request.has_workload) {
    request.workload = load_workload(options.workload, options.sets);
    prepare_workload(options, machine, request.workload);
  } else {
    prepare_firmware(options, machine);
  }
  for (const std::string& set : options.sets) {
    if (!request.workload.owns(set)) set_machine(machine, set, request.workload);
  }
  machine.check();
  if (!request.has_workload) return request;
  const Workload& workload = request.workload;
  if (workload.jobs.empty()) add_job(request, workload, options.mode, options.data, {});
  for (const WorkloadJob& job : workload.jobs) {
    if (machine.spec().sim.mirror)
      throw UserError("workload " + workload.name +
                      ": sim.mirror: several jobs cannot be mirrored");
    add_job(request, job.workload, job.mode, given_data.empty() ? job.workload.data : given_data,
            job.gpus, job.place);
    request.jobs.back().share.is_on = job.is_on;
  }
  if (!given_data.empty() &&
      std::none_of(request.jobs.begin(), request.jobs.end(),
                   [](const JobRequest& job) { return !job.kind->info().data.empty(); }))
    throw UserError("--data " + given_data + ": does nothing: workload " + workload.name +
                    " has data of its own; kinds that can choose: " +
                    names_of([](const KindInfo& kind) { return kind.data.size() > 1; }));
  divide(request.jobs);
  divide_accounts(request.jobs);
  drop_idle(request.jobs);
  check_claims(request.jobs);
  for (const JobRequest& job : request.jobs) check_job(job);
  check_policy(request.jobs);
  return request;
}

}  // namespace stretto
