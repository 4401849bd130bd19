// SPDX-License-Identifier: Apache-2.0
// The table of ComP-Net: every published result has a row, and recipes give on made-up simulations
// what was worked out by hand.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "platform/reproduce/compnet/compnet_energy.h"
#include "platform/reproduce/compnet/compnet_figures.h"
#include "platform/reproduce/compnet/compnet_targets.h"
#include "platform/reproduce/compnet/compnet_training.h"
#include "tests/unit/platform/result_folder.h"

namespace stretto {
namespace {

namespace json = boost::json;

// Times in us. Harts and threads: 3 of 4 parts of their time they wait.
class MadeUp {
 public:
  MadeUp() {
    for (const auto source :
         {CompnetSource::loaded, CompnetSource::all_reduce, CompnetSource::training,
          CompnetSource::jacobi, CompnetSource::queues})
      for (const CampaignRun& run : compnet_runs(source)) jobs_[run.folder] = job(run);
  }
  json::object& of(const std::string& folder) { return jobs_.at(folder); }
  Measured measure(const std::string& id, bool host_queue = false) {
    return measure_compnet(id, host_queue, results());
  }
  CompnetResults results() {
    return [this](const std::string& folder) -> const ResultFile* {
      if (jobs_.count(folder) == 0) return nullptr;
      if (files_.count(folder) == 0) {
        const std::string written = folder_.result(std::to_string(files_.size()));
        test::edit(
            written,
            [&](json::object& root) {
              root["job"] = jobs_.at(folder);
              root["statistics"] = statistics(folder);
            },
            true);
        files_.emplace(folder, ResultFile(written));
      }
      return &files_.at(folder);
    };
  }

 private:
  static bool is_twice(const std::string& folder) {
    return folder.find("rounds-2") != std::string::npos;
  }
  static json::object job(const CampaignRun& run) {
    const double us = run.mode == "compnet"        ? 100
                      : run.mode == "dgpu"         ? 120
                      : run.mode == "dgpu-host"    ? 90
                      : run.mode == "inter-kernel" ? 130
                                                   : 200;
    json::array cores;
    const double times = is_twice(run.folder) ? 2 : 1;
    for (unsigned server = 0; server < 32; ++server)
      cores.push_back({{"server", server}, {"busy_us", 50 * times}, {"waiting_us", 150 * times}});
    return {{"total_us", us},
            {"others_us", us},
            {"blocking", {{"mean_us", us}, {"span_us", us}}},
            {"cores", cores},
            {"energy", {{"hart_mw", 1000}, {"host_core_mw", 8000}, {"stall_percent", 50}}}};
  }
  static json::object statistics(const std::string& folder) {
    json::object all;
    for (unsigned server = 0; server < 32; ++server)
      for (unsigned hart = 0; hart < kHarts; ++hart) {
        const std::string name =
            "gpu" + std::to_string(server) + ".cp.hart" + std::to_string(hart) + ".";
        const unsigned times = is_twice(folder) ? 2 : 1;  // 2 GHz.
        all[name + "busy_cycles"] = 200'000 * times;
        all[name + "waiting_cycles"] = 600'000 * times;
      }
    return all;
  }

  test::ResultFolder folder_;
  std::map<std::string, json::object> jobs_;
  std::map<std::string, ResultFile> files_;
};

uint64_t parameters_of(const char* name) {
  for (const TrainedNetwork& one : trained_networks())
    if (one.name == std::string(name)) {
      uint64_t sum = 0;
      for (const uint64_t count : one.parameters) sum += count;
      return sum;
    }
  return 0;
}

}  // namespace

TEST_CASE("every published result of ComP-Net has a row") {
  std::vector<std::string> published;
  for (const Target& one : load_targets("compnet")) published.push_back(one.id);
  CHECK(compnet_ids() == published);
}

// (784 + 1) x 768 + (768 + 1) x 512 + (512 + 1) x 256 + (256 + 1) x 10; and so on.
TEST_CASE("networks have the parameters of their descriptions", "[CN-AR-03]") {
  CHECK(parameters_of("MNIST Hidden") == 602'880 + 393'728 + 131'328 + 2'570);
  CHECK(parameters_of("MNIST Conv") == 832 + 13'872 + 27'712 + 55'392 + 970);
  CHECK(parameters_of("CIFAR") == 1'792 + 3 * 36'928 + 803'072 + 32'896 + 1'290);
  CHECK(parameters_of("AN4 LSTM") == 4096 * (363 + 512 + 1) + 2 * 4096 * (512 + 512 + 1) +
                                         3 * (3 * 1024 + 512 * 1024) + 513 * 132);
}

TEST_CASE("small gradients are reduced together, as CNTK does", "[CN-AR-03]") {
  const TrainedNetwork network{"", {8192, 8193, 100, 50}, 0.5};
  CHECK(reduced_bytes(network) == std::vector<uint64_t>{4 * 8193, 4 * (8192 + 150)});
}

TEST_CASE("an iteration has what is not blocked, and reductions by the table of sizes",
          "[CN-AR-03]") {
  MadeUp made;
  for (const unsigned bytes : kTrainingBytes) {
    for (const unsigned rings : reduce_rings("compnet", bytes))  // The best counts.
      made.of(reduce_folder("compnet", 8, bytes, rings))["total_us"] =
          bytes / 1e3 * (rings == 4 || bytes >= 8u << 20 ? 1 : 2);
    made.of(reduce_folder("cpu", 8, bytes))["total_us"] = bytes / 250.0;
  }
  const TrainedNetwork network{"", {1 << 18, 1 << 25}, 0.2};  // 1 MiB, and 128: above the table.
  CHECK(reduction_us(made.results(), "compnet", network) ==
        Approx(((1 << 20) + (128 << 20)) / 1e3));
  CHECK(iteration_share(made.results(), "compnet", network) == Approx(0.8 + 0.2 / 4));
  const TrainedNetwork between{"", {1 << 17}, 0.2};
  CHECK(reduction_us(made.results(), "compnet", between) == Approx((1 << 19) / 1e3));
}

// A round: harts 2 x (100 + 0.5 x 300) us at 1 W, one core of server 0 50 + 0.5 x 150 us at 8 W.
TEST_CASE("energy is that of a round, and is shown as an input") {
  MadeUp made;
  const EnergyRatio loaded = energy_ratio(made.results(), EnergyExperiment::loaded, "dgpu", 2);
  CHECK(loaded.ratio == Approx(500.0 / (125 * 8)));
  CHECK(loaded.needed_half == Approx(8));
  CHECK(loaded.needed_third == Approx(12));
  CHECK(loaded.less == 9);  // Times are 4 to 1: not with twice the power, nor with 4 times.
  CHECK(loaded.cells == 15);
  const Measured measured = made.measure("CN-R33");
  CHECK(measured.input);
  CHECK(*measured.value == Approx(0.5));
  CHECK(*made.measure("CN-R04").value == Approx(50));
}

TEST_CASE("trends hold or not by what simulations say") {
  MadeUp made;
  CHECK_FALSE(made.measure("CN-R50").holds);  // 100, 120, 130.
  CHECK_FALSE(made.measure("CN-R51").holds);  // Does not grow.
  CHECK_FALSE(made.measure("CN-R52").holds);
  CHECK(made.measure("CN-R62").holds);
  CHECK_FALSE(made.measure("CN-R62", true).holds);  // Threads of the host are faster.
  CHECK_FALSE(made.measure("CN-R40").holds);
  MadeUp grows;
  grows.of(reduce_folder("cpu", kReduceServers.back(), kReduceBytes))["total_us"] = 80;
  grows.of(reduce_folder("dgpu", kReduceServers.back(), kReduceBytes))["total_us"] = 150;
  grows.of(reduce_folder("inter-kernel", kReduceServers.back(), kReduceBytes))["total_us"] = 150;
  CHECK(grows.measure("CN-R51").holds);
  CHECK(grows.measure("CN-R52").holds);
}

}  // namespace stretto
