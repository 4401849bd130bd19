// SPDX-License-Identifier: Apache-2.0
#include "platform/campaign/characterise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <optional>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "models/sampled/body_table.h"
#include "platform/base/atomic_file.h"
#include "platform/base/exit_status.h"
#include "platform/campaign/campaign.h"
#include "platform/config/body_machine_sum.h"
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
    check_machines();
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
    const std::vector<Compared> all = compared();
    for (const Compared& one : all)
      if (std::count_if(all.begin(), all.end(),
                        [&](const Compared& other) { return other.name == one.name; }) != 1)
        throw UserError(fmt::format("characterise: {} is there twice", one.workload));
    if (options_.no_check && !options_.checks.empty())
      throw UserError(fmt::format("--check {}: --no-check leaves checks out", options_.checks[0]));
  }

  // What runs sampled and simulated. `name` tells it from others, in folders and errors.
  struct Compared {
    std::string workload, mode, name;
    bool is_measured;
  };
  std::vector<Compared> compared() const {
    std::vector<Compared> all;
    for (const std::string& workload : options_.workloads)
      all.push_back({workload, options_.mode, plain_name(workload), true});
    for (const std::string& check : options_.checks) {
      // A mode has no dot, no slash and no `=`; file names and sizes of graphs (nerf:rows=300) have one.
      const size_t colon = check.rfind(':');
      const bool has_mode =
          colon != std::string::npos && check.find_first_of("./=", colon) == std::string::npos;
      all.push_back({check.substr(0, has_mode ? colon : check.size()),
                     has_mode ? check.substr(colon + 1) : "", plain_name(check), false});
    }
    return all;
  }

  CampaignRun run_of(const Compared& one, const std::string& folder,
                     std::vector<std::string> sets) const {
    const std::string mode = resolve(one).mode;
    return {.folder = one.name + "/" + folder,
            .title = one.workload + " " + mode + ", " + folder,
            .workload = one.workload,
            .mode = mode,
            .machine = options_.machine,
            .sets = std::move(sets)};
  }

  struct Resolved {
    std::string mode;
    uint32_t cus;
    std::string machine_sum;
  };
  Resolved resolve(const Compared& one) const {
    RunOptions options;
    options.workload = one.workload;
    options.mode = one.mode;
    options.machine = options_.machine;
    options.sets = options_.campaign.sets;
    Machine machine;
    prepare_request(options, machine);
    return {options.mode, machine.spec().gpu.cus, body_machine_sum(machine)};
  }

  // Before anything is simulated.
  void check_machines() const {
    const std::vector<Compared> all = compared();
    const std::string sum = resolve(all.front()).machine_sum;
    for (const Compared& one : all)
      if (resolve(one).machine_sum != sum)
        throw UserError(
            fmt::format("characterise: {} and {} have different machines: give --machine, or --set "
                        "what differs of gpu, l2 and hbm",
                        all.front().workload, one.workload));
    if (earlier_ && earlier_->machine != sum)
      throw UserError(
          fmt::format("{}: was measured on another machine (sum {}, this one has {}): give "
                      "another --bodies, or --set what differs of gpu, l2 and hbm",
                      options_.bodies, earlier_->machine, sum));
  }

  void read_earlier() {
    if (fs::exists(options_.bodies))
      earlier_ = BodyTable::parse(options_.bodies, read_file(options_.bodies));
  }

  void take(const std::string& file) {
    const BodyTable one = BodyTable::parse(file, read_file(file));
    if (table_.machine.empty()) {
      table_.machine = one.machine;
      if (earlier_) table_.merge(*earlier_);
      if (earlier_) table_.errors = earlier_->errors;
    }
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
    const auto add = [&](const Compared& one, const std::string& folder,
                         std::vector<std::string> sets) {
      sets.emplace_back("gpu.executor=measured");
      const CampaignRun run = run_of(one, folder, std::move(sets));
      folders.push_back(run.folder);
      campaign.add(run);
    };
    for (const Compared& one : compared()) {
      if (!one.is_measured) continue;
      const uint32_t alone = std::max(1u, resolve(one).cus / kAloneUnits);
      add(one, "full", {});
      add(one, "half", {"sampled.residency_percent=50"});
      add(one, "one", {"sampled.residency_percent=0"});
      add(one, "alone", {"sampled.residency_percent=0", fmt::format("sampled.groups={}", alone)});
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
    for (const Compared& one : compared()) {
      if (!one.is_measured) continue;
      const CampaignRun run = run_of(one, "launches",
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
    for (const Compared& one : compared()) {
      campaign.add(run_of(one, "simulated", {}));
      campaign.add(
          run_of(one, "sampled",
                 {"gpu.executor=sampled", "sampled.bodies=" + fs::absolute(merged_).string()}));
    }
    campaign.lock();
    if (const int status = campaign.simulate(); status != kExitSuccess) return status;
    if (const std::string missing = campaign.missing_results(); !missing.empty())
      throw CheckError("characterise: " + missing);
    for (const Compared& one : compared())
      compare(one, *campaign.result(one.name + "/simulated"),
              *campaign.result(one.name + "/sampled"));
    return kExitSuccess;
  }

  static uint64_t ppm(double sampled, double simulated) {
    return simulated == 0 ? 0 : static_cast<uint64_t>(std::abs(sampled / simulated - 1) * 1e6);
  }

  void compare(const Compared& of, const ResultFile& simulated, const ResultFile& sampled) {
    const std::string kind = of.is_measured ? "" : kCheckedError;
    const auto note = [&](const std::string& name, const ResultValue& other,
                          const ResultValue& one) {
      table_.errors[kind + name] = ppm(other.number(), one.number());
    };
    table_.errors[kind + "time." + of.name] = ppm(static_cast<double>(sampled.time("total")),
                                                  static_cast<double>(simulated.time("total")));
    if (const auto jobs = simulated.root().find("jobs")) {
      const std::vector<ResultValue> one = jobs->items(), other = sampled.root().at("jobs").items();
      for (size_t i = 0; i < one.size(); ++i)
        note(fmt::format("time.{}.job{}", of.name, i), other[i].at("time_ns"),
             one[i].at("time_ns"));
      return;
    }
    const auto job = simulated.root().find("job");
    const auto clients = job ? job->find("clients") : std::nullopt;
    if (clients && !of.is_measured) {
      const std::vector<ResultValue> one = clients->items(),
                                     other = sampled.root().at("job").at("clients").items();
      for (size_t i = 0; i < one.size(); ++i) {
        for (const char* const each : {"p50", "p99"})
          note(fmt::format("{}.{}.client{}", each, of.name, i), other[i].at("service_us").at(each),
               one[i].at("service_us").at(each));
        note(fmt::format("rate.{}.client{}", of.name, i), other[i].at("requests_per_s"),
             one[i].at("requests_per_s"));
      }
    }
    uint64_t median = 0, most = 0;
    for (const auto& [path, value] : sampled.root().at("statistics").whole_numbers()) {
      if (path.ends_with("sampled.kernel_error_median")) median = std::max(median, value);
      if (path.ends_with("sampled.kernel_error_max")) most = std::max(most, value);
    }
    table_.errors[kind + "kernels.median." + of.name] = median;
    table_.errors[kind + "kernels.max." + of.name] = most;
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
