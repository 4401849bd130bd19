// SPDX-License-Identifier: Apache-2.0
// `stretto reproduce gpu-driven`: see reproduce.h.
#include <boost/json.hpp>

#include <cstdio>
#include <optional>

#include "models/common/error.h"
#include "platform/atomic_file.h"
#include "platform/campaign.h"
#include "platform/gpu_driven_targets.h"
#include "platform/plot.h"
#include "platform/reproduce.h"

namespace stretto {

namespace json = boost::json;

namespace {

constexpr const char* kMessages = "gpu-driven/p2p";
const std::vector<std::string> kPcieModes{"memcpy", "c-drv", "c-async", "g-drv-s", "g-drv-d"};
const std::vector<std::string> kNvlinkModes{"memcpy", "c-drv"};  // Fig 1.

class GpuDriven {
 public:
  explicit GpuDriven(const ReproduceOptions& options) : options_(options), campaign_("gpu-driven", options) {
    for (const Target& target : load_targets("gpu_driven")) {
      if (in_figure(target, options.figure)) targets_.push_back(target);
    }
    if (targets_.empty())
      throw UserError("--figure " + options.figure + ": no target; allowed: 1, 4, 5, I or an id such as GD-R01");
    for (const std::string& mode : kPcieModes) add("messages-pcie/" + mode, "v100-pcie", mode);
    for (const std::string& mode : kNvlinkModes) add("messages-nvlink/" + mode, "a100-nvswitch", mode);
    campaign_.lock();
  }

  int run() {
    const int status = campaign_.simulate();
    for (const std::string& mode : kPcieModes) load("messages-pcie/" + mode, results_.pcie[mode]);
    for (const std::string& mode : kNvlinkModes) load("messages-nvlink/" + mode, results_.nvlink[mode]);
    write_messages();
    write_targets({{"stretto"}, targets_,
                   [this](const std::string& id, const std::string&) { return measure_gpu_driven(id, results_); },
                   options_.out});
    std::printf("written: %s/{table.csv,table.json,messages.csv,fig1,fig4-rate,fig4-latency.svg}\n", options_.out.c_str());
    return status;
  }

 private:
  void add(const std::string& folder, const std::string& machine, const std::string& mode) {
    CampaignRun run;
    run.folder = folder;
    run.title = machine + " " + mode;
    run.workload = kMessages;
    run.mode = mode;
    run.machine = machine;
    if (mode == "g-drv-h") run.sets.push_back("cards=2");
    campaign_.add(std::move(run));
  }

  void load(const std::string& folder, std::vector<MessageRow>& rows) const {
    const std::optional<json::value> root = campaign_.result(folder);
    if (!root) return;
    for (const json::value& value : root->at("job").at("messages").as_array()) {
      MessageRow row;
      row.bytes = value.at("bytes").to_number<uint64_t>();
      row.rate = value.at("rate_gb_s").to_number<double>();
      row.latency = value.at("latency_us").to_number<double>();
      if (const json::value* parts = value.as_object().if_contains("parts_us")) {
        for (const auto& item : parts->as_object()) row.parts[item.key()] = item.value().to_number<double>();
      }
      rows.push_back(std::move(row));
    }
  }

  // The sweeps as numbers and pictures (Fig 1, Fig 4).
  void write_messages() const {
    std::string csv = "bus,mode,bytes,rate_gb_s,latency_us\n";
    Plot rate{"Fig 4: rate of messages, PCIe v3", "message in bytes", "GB/s", true, false, {}};
    Plot latency{"Fig 4: latency one way, PCIe v3", "message in bytes", "us", true, true, {}};
    Plot fig1{"Fig 1: CPU-controlled transfers, one at a time", "message in bytes", "GB/s", true, true, {}};
    const auto each = [&](const char* bus, const std::map<std::string, std::vector<MessageRow>>& all) {
      for (const auto& [mode, rows] : all) {
        PlotLine rates{mode, {}}, latencies{mode, {}}, one{mode + std::string(" ") + bus, {}};
        for (const MessageRow& row : rows) {
          char line[160];
          std::snprintf(line, sizeof line, "%s,%s,%llu,%.6g,%.6g\n", bus, mode.c_str(),
                        static_cast<unsigned long long>(row.bytes), row.rate, row.latency);
          csv += line;
          const double bytes = static_cast<double>(row.bytes);
          rates.points.emplace_back(bytes, row.rate);
          one.points.emplace_back(bytes, row.rate);
          if (row.latency > 0) latencies.points.emplace_back(bytes, row.latency);
        }
        if (rows.empty()) continue;
        if (bus == std::string("pcie")) rate.lines.push_back(rates);
        if (bus == std::string("pcie") && !latencies.points.empty()) latency.lines.push_back(latencies);
        if (mode == "memcpy" || mode == "c-drv") fig1.lines.push_back(one);
      }
    };
    each("pcie", results_.pcie);
    each("nvlink", results_.nvlink);
    write_atomically(options_.out + "/messages.csv", csv);
    for (const auto& [plot, name] : {std::pair(&rate, "fig4-rate"), std::pair(&latency, "fig4-latency"), std::pair(&fig1, "fig1")})
      if (!plot->lines.empty()) write_plot(options_.out + "/" + name, *plot);
  }

  const ReproduceOptions& options_;
  Campaign campaign_;
  std::vector<Target> targets_;
  GpuDrivenResults results_;
};

}  // namespace

int reproduce_gpu_driven(const ReproduceOptions& options) { return GpuDriven(options).run(); }

}  // namespace stretto
