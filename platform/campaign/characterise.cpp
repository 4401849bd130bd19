// SPDX-License-Identifier: Apache-2.0
#include "platform/campaign/characterise.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "models/sampled/body_table.h"
#include "platform/base/atomic_file.h"
#include "platform/base/exit_status.h"
#include "platform/campaign/campaign.h"
#include "platform/config/machine.h"
#include "platform/jobs/run_request.h"

namespace stretto {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kAloneUnits = 8;   // Alone: a work-group on one of so many units.
constexpr unsigned kCorrections = 2;  // What lengthens bodies changes their company, too.

class Characterisation {
 public:
  explicit Characterisation(const CharacteriseOptions& options)
      : options_(options), merged_(options.campaign.out + "/bodies.txt") {}

  int run() {
    check_options();
    check_writable(options_.bodies);
    read_earlier();
    if (const int status = measure(); status != kExitSuccess) return status;
    for (unsigned pass = 1; pass <= kCorrections; ++pass)
      if (const int status = correct(pass); status != kExitSuccess) return status;
    write_table(merged_);
    if (!options_.no_check) {
      if (const int status = check(); status != kExitSuccess) return status;
    }
    write_atomically(options_.bodies, table_.text());
    print();
    return kExitSuccess;
  }

 private:
  void check_options() const {
    for (const std::string& set : options_.campaign.sets) {
      for (const char* own : {"gpu.executor", "sampled.residency_percent", "sampled.groups",
                              "sampled.bodies", "sampled.correct"})
        if (set.starts_with(std::string(own) + "="))
          throw UserError(fmt::format("--set {}: characterise chooses {} itself", set, own));
    }
    std::vector<std::string> all = options_.workloads;
    all.insert(all.end(), options_.checks.begin(), options_.checks.end());
    for (const std::string& workload : all)
      if (std::count(all.begin(), all.end(), workload) != 1)
        throw UserError(fmt::format("characterise: {} is there twice", workload));
    if (options_.no_check && !options_.checks.empty())
      throw UserError(fmt::format("--check {}: --no-check leaves checks out", options_.checks[0]));
    for (const std::string& workload : all) (void)resolve(workload);
  }

  CampaignRun run_of(const std::string& workload, const std::string& folder,
                     std::vector<std::string> sets) const {
    const Resolved resolved = resolve(workload);
    return {.folder = plain_name(workload) + "/" + folder,
            .title = workload + " " + resolved.mode + ", " + folder,
            .workload = workload,
            .mode = resolved.mode,
            .machine = options_.machine,
            .sets = std::move(sets)};
  }

  struct Resolved {
    std::string mode;
    uint32_t cus;
  };
  Resolved resolve(const std::string& workload) const {
    const bool is_checked_alone =
        std::count(options_.checks.begin(), options_.checks.end(), workload) != 0;
    RunOptions options;
    options.workload = workload;
    if (!is_checked_alone) options.mode = options_.mode;
    options.machine = options_.machine;
    options.sets = options_.campaign.sets;
    Machine machine;
    prepare_request(options, machine);
    return {options.mode, machine.spec().gpu.cus};
  }

  void read_earlier() {
    if (fs::exists(options_.bodies))
      earlier_ = BodyTable::parse(options_.bodies, read_file(options_.bodies));
  }

  // A table of all runs of one machine; throws UserError if it is not one.
  void take(const std::string& file) {
    const BodyTable one = BodyTable::parse(file, read_file(file));
    if (table_.machine.empty()) {
      table_.machine = one.machine;
      if (earlier_ && earlier_->machine != one.machine)
        throw UserError(
            fmt::format("{}: was measured on another machine (sum {}, this one has {}): give "
                        "another --bodies",
                        options_.bodies, earlier_->machine, one.machine));
      if (earlier_) table_.merge(*earlier_);
      if (earlier_) table_.errors = earlier_->errors;
    }
    if (table_.machine != one.machine)
      throw UserError(fmt::format("{}: these workloads have different machines: give --machine",
                                  options_.bodies));
    table_.merge(one);
  }

  // What has a result and no table any more is simulated again.
  static void forget_without_table(const std::string& out,
                                   const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
      const std::string path = out + "/" + folder;
      std::error_code ignored;
      if (!fs::exists(path + "/bodies.txt")) fs::remove(path + "/key", ignored);
    }
  }
  // Without errors, which are of the finished table: runs of a second time find what those of the first found.
  void write_table(const std::string& file) const {
    BodyTable table = table_;
    table.errors.clear();
    write_atomically(file, table.text());
  }

  int measure() {
    ReproduceOptions campaign_options = options_.campaign;
    campaign_options.out += "/measured";
    Campaign campaign(campaign_options);
    std::vector<std::string> folders;
    const auto add = [&](const std::string& workload, const std::string& folder,
                         std::vector<std::string> sets) {
      sets.emplace_back("gpu.executor=measured");
      const CampaignRun run = run_of(workload, folder, std::move(sets));
      folders.push_back(run.folder);
      campaign.add(run);
    };
    for (const std::string& workload : options_.workloads) {
      const uint32_t alone = std::max(1u, resolve(workload).cus / kAloneUnits);
      add(workload, "full", {});
      add(workload, "half", {"sampled.residency_percent=50"});
      add(workload, "one", {"sampled.residency_percent=0"});
      add(workload, "alone",
          {"sampled.residency_percent=0", fmt::format("sampled.groups={}", alone)});
    }
    campaign.lock();
    forget_without_table(campaign_options.out, folders);
    if (const int status = campaign.simulate(); status != kExitSuccess) return status;
    if (const std::string missing = campaign.missing_results(); !missing.empty())
      throw CheckError("characterise: " + missing);
    for (const std::string& folder : folders)
      take(campaign_options.out + "/" + folder + "/bodies.txt");
    if (table_.kernels.empty())
      throw UserError("characterise: these workloads launch no kernel: there is nothing to note");
    return kExitSuccess;
  }

  // Bodies that take longer than others of their launch end where few are left, which the law takes for less company.
  // So launches by themselves tell how much longer bodies must take.
  int correct(unsigned pass) {
    ReproduceOptions campaign_options = options_.campaign;
    campaign_options.out += fmt::format("/corrected/{}", pass);
    campaign_options.sets.insert(campaign_options.sets.end(), options_.correction_sets.begin(),
                                 options_.correction_sets.end());
    const std::string before =
        fmt::format("{}/before-correction-{}.txt", options_.campaign.out, pass);
    write_table(before);
    Campaign campaign(campaign_options);
    std::vector<std::string> folders;
    for (const std::string& workload : options_.workloads) {
      const CampaignRun run = run_of(workload, "launches",
                                     {"gpu.executor=sampled", "sampled.correct=true",
                                      "sampled.bodies=" + fs::absolute(before).string()});
      folders.push_back(run.folder);
      campaign.add(run);
    }
    campaign.lock();
    forget_without_table(campaign_options.out, folders);
    if (const int status = campaign.simulate(); status != kExitSuccess) return status;
    if (const std::string missing = campaign.missing_results(); !missing.empty())
      throw CheckError("characterise: " + missing);
    const BodyTable base = table_;
    for (const std::string& folder : folders) {
      const std::string file = campaign_options.out + "/" + folder + "/bodies.txt";
      table_.take_corrections(BodyTable::parse(file, read_file(file)), base);
    }
    return kExitSuccess;
  }

  int check() {
    ReproduceOptions campaign_options = options_.campaign;
    campaign_options.out += "/checked";
    Campaign campaign(campaign_options);
    std::vector<std::string> workloads = options_.workloads;
    workloads.insert(workloads.end(), options_.checks.begin(), options_.checks.end());
    for (const std::string& workload : workloads) {
      campaign.add(run_of(workload, "simulated", {}));
      campaign.add(
          run_of(workload, "sampled",
                 {"gpu.executor=sampled", "sampled.bodies=" + fs::absolute(merged_).string()}));
    }
    campaign.lock();
    if (const int status = campaign.simulate(); status != kExitSuccess) return status;
    if (const std::string missing = campaign.missing_results(); !missing.empty())
      throw CheckError("characterise: " + missing);
    for (const std::string& workload : workloads)
      compare(workload, *campaign.result(plain_name(workload) + "/simulated"),
              *campaign.result(plain_name(workload) + "/sampled"));
    return kExitSuccess;
  }

  static uint64_t ppm(uint64_t sampled, uint64_t simulated) {
    const uint64_t apart = sampled > simulated ? sampled - simulated : simulated - sampled;
    return apart * 1'000'000 / std::max<uint64_t>(simulated, 1);
  }

  void compare(const std::string& workload, const ResultFile& simulated,
               const ResultFile& sampled) {
    table_.errors["time." + plain_name(workload)] =
        ppm(sampled.time("total"), simulated.time("total"));
    const auto jobs = simulated.root().find("jobs");
    if (jobs) {
      const std::vector<ResultValue> one = jobs->items(), other = sampled.root().at("jobs").items();
      for (size_t i = 0; i < one.size(); ++i) {
        table_.errors[fmt::format("time.{}.job{}", plain_name(workload), i)] =
            ppm(other[i].at("time_ns").whole(), one[i].at("time_ns").whole());
      }
      return;
    }
    uint64_t median = 0, most = 0;
    for (const auto& [path, value] : sampled.root().at("statistics").whole_numbers()) {
      if (path.ends_with("sampled.kernel_error_median")) median = std::max(median, value);
      if (path.ends_with("sampled.kernel_error_max")) most = std::max(most, value);
    }
    table_.errors["kernels.median." + plain_name(workload)] = median;
    table_.errors["kernels.max." + plain_name(workload)] = most;
  }

  void print() const {
    std::cout << fmt::format("{}: {} kernels, machine {}\n", options_.bodies, table_.kernels.size(),
                             table_.machine);
    for (const auto& [name, error] : table_.errors)
      std::cout << fmt::format("  {:<48} {:8.3f} %\n", name, static_cast<double>(error) / 1e4);
  }

  const CharacteriseOptions& options_;
  const std::string merged_;  // The table before errors are in it.
  std::optional<BodyTable> earlier_;
  BodyTable table_;
};

}  // namespace

int characterise(const CharacteriseOptions& options) { return Characterisation(options).run(); }

}  // namespace stretto
