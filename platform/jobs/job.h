// SPDX-License-Identifier: Apache-2.0
// A job: what host programs do on an elaborated machine, what lies in memory before time 0, and
// what must be there at the end. Each kind of workload (workload_kind.h) makes one.
#ifndef STRETTO_PLATFORM_JOBS_JOB_H_
#define STRETTO_PLATFORM_JOBS_JOB_H_

#include <boost/json/object.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/common/component.h"
#include "models/common/error.h"
#include "models/common/memory_image.h"
#include "models/fabric/chunk_mirror.h"
#include "models/host/host.h"
#include "platform/check/check.h"
#include "platform/config/machine_spec.h"
#include "platform/jobs/job_request.h"
#include "platform/jobs/memory_plan.h"
#include "sw/driver/stretto_driver.h"

namespace stretto {

// Of the simulated GPUs of a job, by rank.
using Memories = std::vector<MemoryImage*>;

// An account that a job has for itself (machine_types.h), and its name in results.
struct Account {
  uint8_t number;  // From STRETTO_ACCOUNT_JOB, below STRETTO_ACCOUNTS.
  std::string name;
};

// A moment of the run, over all GPUs: of kernels on an account, or of DRAM accesses on it.
struct Moment {
  enum Event : uint8_t { first_dispatch, last_end, first_access, last_access };
  Event event;
  uint8_t account;
};

// A phase of the run. It lasts from the earliest of `begin` to the latest of `end`, moments that
// did not come left out. Phases may overlap.
struct PhaseRule {
  std::string name;
  std::vector<Moment> begin, end;
  bool prepares = false;  // No part of the work, but of what comes before it beside `setup`.
};
// Zeroing and the like: from the first DRAM access on the account to the last.
PhaseRule preparation_of(const Account& account);
// From the first work-group of the account's kernels to the end of the last.
PhaseRule kernels_of(const Account& account);
// From the first work-group or DRAM access to the last.
PhaseRule work_of(const Account& account);

// What a GPU has done since the begin of the run.
struct GpuActivity {
  uint64_t multiply_adds = 0;  // Of tensor pipes.
  uint64_t simt_cycles = 0;    // In which SIMT pipes worked, of all units.
  uint64_t l2_bytes = 0;       // Of tiles between units and L2.
  uint64_t dram_read_bytes = 0;
  uint64_t dram_written_bytes = 0;
};

// The first work-group of a kernel of the job starts, or its last one has ended.
struct KernelMoment {
  uint32_t rank = 0;
  uint8_t account = 0;  // As the job numbers them.
  bool ended = false;
  Time at = 0;
  GpuActivity so_far;  // Of the GPU, for whatever job.
};

class Job {
 public:
  Job(const JobRequest& request, Memories memories)
      : request_(request),
        spec_(request.spec),
        memories_(std::move(memories)),
        layouts_(memories_.size()) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const JobRequest& request() const { return request_; }

  // The accounts on which its programs and kernels work. Results print their names.
  virtual std::vector<Account> accounts() const = 0;
  // The phases whose times results give beside `total` and `setup`.
  virtual std::vector<PhaseRule> phases() const = 0;

  // Contents of memory at time 0; called once, before the run.
  virtual void place_contents() = 0;
  // The host programs. A program throws UserError if the driver refuses what it was asked for,
  // CheckError if the machine fails: throw_status(). Called for each server in which the job has
  // GPUs, in their order; once, unless its kind spans servers (KindInfo).
  virtual void add_programs(Host& host, uint32_t server) = 0;
  // Likewise those of the processor of the SmartNIC that serves rank `rank`.
  virtual void add_smartnic_programs(Host&, uint32_t /*rank*/) {}
  // For a mirrored machine: how its own packets come back to it. None: no GPU can stand for all
  // (KindInfo).
  virtual std::optional<MirrorMap> mirror() const { return std::nullopt; }
  // Compares results with a reference. Call after the run.
  virtual CheckReport check() const = 0;
  // What lies where in the memory of simulated rank `rank`; complete after the run.
  const MemoryPlan& layout(uint32_t rank) const { return layouts_[rank]; }
  // Laws of its own on the GPU of simulated rank `rank`.
  virtual void audit(uint32_t rank, AuditSink& sink) const { (void)rank, (void)sink; }
  // When the last program of a rank ended; none if one goes on.
  std::optional<Time> ended() const { return running_ == 0 ? std::optional(ended_) : std::nullopt; }
  // What files hold that parameters of its kind name, by parameter, in some short form: where that is the same, so is
  // the work, whatever the files are called. Empty: the parameter says how the work is done, and is no part of it.
  virtual std::map<std::string, std::string> contents() const { return {}; }
  // Name and SHA-256 of each kernel file that is loaded.
  virtual std::vector<std::pair<std::string, std::string>> kernel_sha256() const = 0;

  // How many payload bytes have left over links between GPUs so far; given before programs are
  // added, but not to a job that shares GPUs: links do not tell whose bytes they carry.
  virtual void set_meter(std::function<uint64_t()> link_bytes) { (void)link_bytes; }
  // Whether the job wants on_kernel(). It may be called for several ranks at the same time.
  virtual bool watches_kernels() const { return false; }
  virtual void on_kernel(const KernelMoment& moment) { (void)moment; }
  // How much of the work is done, 0 .. 1, where the end is known; `retired`: work-groups of the
  // job's simulated GPUs so far. For people only.
  virtual std::optional<double> done_share(uint64_t retired) const {
    (void)retired;
    return std::nullopt;
  }
  // Where programs stand, for the report of a run that got stuck.
  virtual std::vector<std::string> waiting_on() const { return {}; }

  // What the job itself has to say: a table for people, printed after the summary of the run, and
  // the same for machines, `job` in stats.json. Also of a run that was cut short.
  virtual std::string table() const { return ""; }
  virtual boost::json::object details() const { return {}; }
  // Lines of requests.csv, of a job that serves requests: client,request,arrival_ns,begin_ns,end_ns.
  virtual std::vector<std::string> requests() const { return {}; }

 protected:
  uint32_t simulated_ranks() const { return static_cast<uint32_t>(memories_.size()); }
  // A host program; the job has ended when all of them have.
  void add_program(Host& host, const std::string& name, HostCore::Program program) {
    ++running_;
    add_thread(host, name, [this, program](HostCore& core) {
      program(core);
      --running_;
      ended_ = std::max(ended_, core.now());
    });
  }
  void add_rank(Host& host, uint32_t rank, HostCore::Program program) {
    add_program(host, "rank" + std::to_string(rank), std::move(program));
  }
  // A thread beside them, on a core of its own or on that of thread `beside`.
  void add_thread(Host& host, const std::string& name, HostCore::Program program,
                  const std::string& beside = "") {
    const std::string& prefix = request_.share.prefix;
    const auto run = [this, program](HostCore& core) {
      try {
        program(core);
      } catch (const UserError& error) {
        throw UserError(request_.subject() + ": " + error.what());
      } catch (const CheckError& error) {
        if (request_.share.prefix.empty()) throw;
        throw CheckError(request_.subject() + ": " + error.what());  // One of several.
      }
    };
    host.add_program(prefix + name, run, beside.empty() ? "" : prefix + beside);
  }

  const JobRequest& request_;
  const MachineSpec& spec_;
  const Memories memories_;
  std::vector<MemoryPlan> layouts_;  // By simulated rank.

 private:
  Time ended_ = 0;
  unsigned running_ = 0;  // Programs of ranks.
};

// What the driver needs, from a core of the host model.
stretto_host_ops_t host_ops(HostCore& core);

stretto_driver_costs_t driver_costs(const SoftwareSpec& software);

// Throws what a negative status of the driver means: UserError if what the machine was asked to do
// was wrong, CheckError if what it did was.
[[noreturn]] void throw_status(stretto_status_t status, const std::string& message);

// Calls program(ops, error), a function of sw/apps; throws what its status means.
template <class Program>
void run_app(HostCore& core, Program program) {
  const stretto_host_ops_t ops = host_ops(core);
  char error[256] = "";
  const stretto_status_t status = program(&ops, error);
  if (status != STRETTO_OK) throw_status(status, error);
}

// The mode of a program of sw/apps by its name: name_of gives those of 0 .. modes - 1.
template <class Mode>
Mode mode_named(const std::string& name, int modes, const char* (*name_of)(Mode)) {
  for (int mode = 0; mode < modes; ++mode)
    if (name == name_of(static_cast<Mode>(mode))) return static_cast<Mode>(mode);
  throw UserError("mode '" + name + "' has no host program");
}

// Throws UserError if the job has not this many bytes on each of its GPUs. The largest part of them
// is named, and the keys that make them fewer: "sub_layer.m, n or k".
void check_memory(const JobRequest& request, uint64_t needed, const std::string& largest,
                  uint64_t largest_bytes, const std::string& keys);
// Likewise of what a program allocates, with `more` bytes behind it.
void check_memory(const JobRequest& request, const memory_plan_t& program, uint64_t more,
                  const std::string& keys);

// Throws UserError if the driver would not load one of these kernels of a file.
void check_kernels(const std::string& name, std::initializer_list<std::string> kernels);
// A figure of a table for people, right-aligned with three decimals; "-" for 0: not measured.
std::string figure(double value, unsigned width);

// The bytes of a kernel ELF.
std::vector<uint8_t> kernel_file(const std::string& name);
// Its file: of a shipped kernel, or the name itself if it has a slash.
std::string kernel_path(const std::string& name);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_JOB_H_
