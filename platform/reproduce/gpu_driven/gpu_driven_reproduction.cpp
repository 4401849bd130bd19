// SPDX-License-Identifier: Apache-2.0
// `stretto reproduce gpu-driven`: messages between two GPUs under all engines, kernels beside an
// all-gather, training steps of BERT-Large; the table, lists and pictures. Simulates what the
// targets of --figure need.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "models/common/error.h"
#include "platform/base/atomic_file.h"
#include "platform/campaign/campaign.h"
#include "platform/campaign/plot.h"
#include "platform/reproduce/gpu_driven/gpu_driven_targets.h"
#include "platform/reproduce/reproduction.h"

namespace stretto {

namespace {

constexpr const char* kFigures = "1, 4, 5, I";
constexpr const char* kMessages = "gpu-driven/p2p";
const std::vector<std::string> kPcieModes{"memcpy",  "c-drv",   "c-async",
                                          "g-drv-s", "g-drv-d", "g-drv-h"};
const std::vector<std::string> kNvlinkModes{"memcpy", "c-drv"};  // Fig 1.
const std::vector<std::string> kInterferenceModes{"l2-mmio", "l2-gdma", "issue-mmio", "issue-gdma"};
// 16 MiB to gather, and a kernel as long as that, each alone: neither runs on by itself.
const std::vector<std::string> kInterferenceSets{"interference.min_gather_bytes=0",
                                                 "interference.min_kernel_percent=100",
                                                 "interference.max_kernel_percent=100"};
// With all wavefront slots taken: eight work-groups of eight wavefronts a compute unit.
const std::vector<std::string> kFullSets = [] {
  std::vector<std::string> sets = kInterferenceSets;
  sets.push_back("interference.work_groups=640");
  return sets;
}();
// G-Drv-S, PT-TRT and Megatron-LM: a bucket is reduced as soon as it is full, or all of them after
// back-propagation.
constexpr const char* kAfterMode = "launched-after";
const std::vector<std::string> kBertModes{"loop-s", "launched", kAfterMode};
constexpr const char* kNvlinkMode = "launched";  // II-C: NCCL beside computing.
constexpr unsigned kAfterGpus = 2;
constexpr unsigned kNvlinkGpus[] = {8, 1};
constexpr unsigned kCheckedLayers = 3;  // With 1 GPU: how well one and two layers predict it.
constexpr const char* kPlatforms[] = {"pcie", "nvlink"};

const char* machine_of(const std::string& platform) {
  return platform == "pcie" ? "v100-pcie" : "a100-nvswitch";
}
// Layers that are simulated. Those of `launched-after` only show that it may be composed of
// `launched` (bert_us).
std::vector<unsigned> bert_layers(const std::string& mode, unsigned gpus) {
  if (mode == kAfterMode)
    return gpus == kAfterGpus ? std::vector<unsigned>{1, 2} : std::vector<unsigned>{};
  return gpus == 1 ? std::vector<unsigned>{1, 2, kCheckedLayers} : std::vector<unsigned>{1, 2};
}

class GpuDriven {
 public:
  explicit GpuDriven(const ReproduceOptions& options)
      : options_(options),
        campaign_(options),
        targets_(targets_of_figure("gpu_driven", gpu_driven_ids(), options.figure, kFigures)) {
    if (wanted(GpuDrivenSource::messages)) add_messages();
    if (wanted(GpuDrivenSource::interference)) {
      for (const std::string& mode : kInterferenceModes)
        add(interference_folder(mode), "gpu-driven/interference", "v100-pcie", mode,
            kInterferenceSets);
      add(interference_folder("issue-mmio-full"), "gpu-driven/interference", "v100-pcie",
          "issue-mmio", kFullSets);
    }
    // What the published results need first, then the points that only Fig 5 has.
    if (wanted(GpuDrivenSource::bert)) add_bert({8, 1});
    if (wanted(GpuDrivenSource::bert_nvlink)) add_bert_nvlink();
    if (wanted(GpuDrivenSource::bert)) {
      add_all_reduce("pcie");
      add_bert({4, 2});
    }
    campaign_.lock();
  }

  int run() {
    const int status = campaign_.simulate();
    for (const std::string& mode : kPcieModes)
      load(messages_folder("pcie", mode), results_.pcie[mode]);
    for (const std::string& mode : kNvlinkModes)
      load(messages_folder("nvlink", mode), results_.nvlink[mode]);
    for (const std::string& mode : kInterferenceModes) load_interference(mode);
    load_interference("issue-mmio-full");
    load_bert();
    write_messages();
    write_bert();
    write_targets(
        {.name = options_.name,
         .columns = {"stretto"},
         .targets = targets_,
         .measure = [this](const std::string& id,
                           const std::string&) { return measure_gpu_driven(id, results_); },
         .out = options_.out,
         .partial = partial()});
    print_composition();
    fmt::print("written into {}: table.csv, table.json{}\n", options_.out, written_);
    return status;
  }

 private:
  // What makes this less than the whole reproduction.
  std::vector<std::string> partial() const {
    std::vector<std::string> all;
    if (!options_.figure.empty())
      all.push_back(fmt::format("--figure {}: {} of {} targets", options_.figure, targets_.size(),
                                gpu_driven_ids().size()));
    if (const std::string missing = campaign_.missing_results(); !missing.empty())
      all.push_back(missing);
    return all;
  }

  bool wanted(GpuDrivenSource source) const {
    return std::any_of(targets_.begin(), targets_.end(), [&](const Target& target) {
      return gpu_driven_source(target.id) == source;
    });
  }

  void add(const std::string& folder, const std::string& workload, const std::string& machine,
           const std::string& mode, std::vector<std::string> sets = {}) {
    CampaignRun run;
    run.folder = folder;
    run.title = folder + ", " + machine;
    run.workload = workload;
    run.mode = mode;
    run.machine = machine;
    run.sets = std::move(sets);
    campaign_.add(std::move(run));
  }

  void add_messages() {
    for (const std::string& mode : kPcieModes)
      add(messages_folder("pcie", mode), kMessages,
          mode == "g-drv-h" ? "v100-pcie-fpga" : "v100-pcie", mode);
    for (const std::string& mode : kNvlinkModes)
      add(messages_folder("nvlink", mode), kMessages, "a100-nvswitch", mode);
  }

  void add_bert(const std::vector<unsigned>& counts) {
    for (const unsigned gpus : counts) {
      for (const std::string& mode : kBertModes) {
        for (const unsigned layers : bert_layers(mode, gpus)) add_step("pcie", mode, gpus, layers);
      }
    }
  }

  void add_bert_nvlink() {
    for (const unsigned gpus : kNvlinkGpus) {
      for (const unsigned layers : {1u, 2u}) add_step("nvlink", kNvlinkMode, gpus, layers);
    }
    add_all_reduce("nvlink");
  }

  // One iteration: what the first has to load into caches adds 0.8 % to a step of a layer and
  // cancels in composing.
  void add_step(const std::string& platform, const std::string& mode, unsigned gpus,
                unsigned layers) {
    add(bert_folder(platform, mode, gpus, layers), "graph/bert-large-" + std::to_string(layers),
        machine_of(platform), mode, {"gpus=" + std::to_string(gpus), "graph.iterations=1"});
  }

  void add_all_reduce(const std::string& platform) {
    add(all_reduce_folder(platform), "collectives/all_reduce", machine_of(platform), "mmio",
        {"collective.min_bytes=33554432", "collective.max_bytes=33554432", "collective.place=in",
         "collective.warm_up=0", "collective.iterations=1"});
  }

  void load_interference(const std::string& mode) {
    const ResultFile* result = campaign_.result(interference_folder(mode));
    if (result == nullptr) return;
    for (const ResultValue& line : result->root().at("job").at("lines").items())
      results_.interference[mode] = {line.at("kernel_slowdown").number(),
                                     line.at("gather_slowdown").number()};
  }

  void load_bert() {
    for (const std::string platform : kPlatforms) {
      for (const std::string& mode : kBertModes) {
        for (const unsigned gpus : kBertGpus) {
          for (const unsigned layers : bert_layers(mode, gpus))
            load_step(platform, mode, gpus, layers);
        }
      }
      const ResultFile* result = campaign_.result(all_reduce_folder(platform));
      if (result == nullptr) continue;
      for (const ResultValue& size : result->root().at("job").at("sizes").items())
        results_.all_reduce_gb_s[platform] = size.at("in_place").at("busbw_gb_s").number();
    }
  }

  void load_step(const std::string& platform, const std::string& mode, unsigned gpus,
                 unsigned layers) {
    const ResultFile* result = campaign_.result(bert_folder(platform, mode, gpus, layers));
    if (result == nullptr) return;
    const ResultValue job = result->root().at("job");
    TrainingStep step;
    // The last iteration.
    for (const ResultValue& ns : job.at("iteration_ns").items()) step.step_us = ns.number() / 1000;
    step.compute_us = job.at("compute_ns").number() / 1000;
    for (const ResultValue& bucket : job.at("buckets").items())
      step.buckets.push_back({bucket.at("ns").number() / 1000, bucket.at("busbw_gb_s").number()});
    if (const auto ends = job.find("op_end_us")) {
      for (const ResultValue& us : ends->items()) step.op_end_us.push_back(us.number());
      size_t i = 0;
      for (const ResultValue& bucket : job.at("buckets").items()) {
        step.buckets[i].begin_us = bucket.at("begin_us").number();
        step.buckets[i++].end_us = bucket.at("end_us").number();
      }
    }
    results_.bert[platform][mode][gpus][layers] = std::move(step);
  }

  void load(const std::string& folder, std::vector<MessageRow>& rows) const {
    const ResultFile* result = campaign_.result(folder);
    if (result == nullptr) return;
    for (const ResultValue& value : result->root().at("job").at("messages").items()) {
      MessageRow row;
      row.bytes = value.at("bytes").whole();
      // Neither is there if it was not measured.
      if (const auto rate = value.find("rate_gb_s")) row.rate = rate->number();
      if (const auto latency = value.find("latency_us")) row.latency = latency->number();
      if (const auto request = value.find("request_us")) row.request = request->number();
      if (const auto parts = value.find("parts_us")) {
        for (const auto& [name, us] : parts->members()) row.parts[name] = us.number();
      }
      rows.push_back(std::move(row));
    }
  }

  // The sweeps as numbers and pictures (Fig 1, Fig 4).
  void write_messages() {
    std::string csv = "bus,mode,bytes,rate_gb_s,latency_us\n";
    Plot rate{"Fig 4: rate of messages, PCIe v3", "message in bytes", "GB/s", true, false, {}};
    Plot latency{"Fig 4: latency one way, PCIe v3", "message in bytes", "us", true, true, {}};
    Plot fig1{"Fig 1: CPU-controlled transfers, one at a time",
              "message in bytes",
              "GB/s",
              true,
              true,
              {}};
    const auto each = [&](const char* bus,
                          const std::map<std::string, std::vector<MessageRow>>& all) {
      for (const auto& [mode, rows] : all) {
        PlotLine rates{mode, {}}, latencies{mode, {}}, one{mode + std::string(" ") + bus, {}};
        for (const MessageRow& row : rows) {
          csv += fmt::format("{},{},{},{:.6g},", bus, mode, row.bytes, row.rate);
          if (row.latency > 0) csv += fmt::format("{:.6g}", row.latency);
          csv += '\n';
          const double bytes = static_cast<double>(row.bytes);
          rates.points.emplace_back(bytes, row.rate);
          one.points.emplace_back(bytes, row.rate);
          if (row.latency > 0) latencies.points.emplace_back(bytes, row.latency);
        }
        if (rows.empty()) continue;
        if (bus == std::string("pcie")) rate.lines.push_back(rates);
        if (bus == std::string("pcie") && !latencies.points.empty())
          latency.lines.push_back(latencies);
        if (mode == "memcpy" || mode == "c-drv") fig1.lines.push_back(one);
      }
    };
    each("pcie", results_.pcie);
    each("nvlink", results_.nvlink);
    if (rate.lines.empty() && fig1.lines.empty()) return;
    write_list("messages.csv", csv);
    for (const auto& [plot, name] : {std::pair(&rate, "fig4-rate"),
                                     std::pair(&latency, "fig4-latency"), std::pair(&fig1, "fig1")})
      write_picture(name, *plot);
  }

  // Fig 5: sequences a second over GPUs; steps as simulated, and of 24 layers as composed.
  void write_bert() {
    if (results_.bert.empty()) return;
    Plot plot{"Fig 5: BERT-Large, 24 layers, PCIe v3", "GPUs", "sequences/s", false, false, {}};
    const auto pcie = results_.bert.find("pcie");
    for (const std::string& mode : kBertModes) {
      if (pcie == results_.bert.end() || pcie->second.count(mode) == 0) continue;
      PlotLine rates{mode, {}};
      for (const unsigned gpus : kBertGpus) {
        if (const std::optional<double> rate = bert_throughput(results_, mode, gpus))
          rates.points.emplace_back(gpus, *rate);
      }
      if (!rates.points.empty()) plot.lines.push_back(std::move(rates));
    }
    write_list("bert.csv", bert_csv(results_));
    write_picture("fig5", plot);
  }

  void write_list(const std::string& name, const std::string& text) {
    write_atomically(options_.out + "/" + name, text);
    written_ += ", " + name;
  }
  void write_picture(const std::string& name, const Plot& plot) {
    if (plot.lines.empty()) return;
    write_plot(options_.out + "/" + name, plot);
    written_ += ", " + name;
  }

  // What composing a step costs in accuracy.
  void print_composition() const {
    const auto pcie = results_.bert.find("pcie");
    if (pcie == results_.bert.end()) return;
    const auto launched = pcie->second.find("launched"), after = pcie->second.find(kAfterMode);
    if (launched != pcie->second.end() && after != pcie->second.end()) {
      const auto one = launched->second.find(kAfterGpus), two = after->second.find(kAfterGpus);
      if (one != launched->second.end() && one->second.count(1) != 0 &&
          two != after->second.end()) {
        for (const auto& [layers, step] : two->second)
          print_error(kAfterMode, kAfterGpus, layers, layers * one->second.at(1).step_us,
                      step.step_us);
      }
    }
    for (const auto& [mode, steps] : pcie->second) {
      const auto one_gpu = steps.find(1);
      if (one_gpu == steps.end() || one_gpu->second.count(kCheckedLayers) == 0) continue;
      const std::optional<double> predicted = composed_us(steps, 1, kCheckedLayers);
      if (!predicted) continue;
      print_error(mode, 1, kCheckedLayers, *predicted, one_gpu->second.at(kCheckedLayers).step_us);
    }
  }

  static void print_error(const std::string& mode, unsigned gpus, unsigned layers, double predicted,
                          double simulated) {
    fmt::print(
        "composition, {}, {} GPU{}: {} layer{} predicted {:.1f} us, simulated {:.1f} us, error "
        "{:.2f} %\n",
        mode, gpus, gpus == 1 ? "" : "s", layers, layers == 1 ? "" : "s", predicted, simulated,
        100 * std::abs(predicted / simulated - 1));
  }

  const ReproduceOptions& options_;
  Campaign campaign_;
  const std::vector<Target> targets_;
  GpuDrivenResults results_;
  std::string written_;  // ", NAME" of each file and picture beside the table.
};

int run(const ReproduceOptions& options, const boost::program_options::variables_map&) {
  return GpuDriven(options).run();
}

}  // namespace

Reproduction gpu_driven_reproduction() {
  return {.name = "gpu-driven",
          .sentence = "GPU-driven code execution (MLArchSys'22): messages, interference, training",
          .figures = kFigures,
          .run = run};
}

}  // namespace stretto
