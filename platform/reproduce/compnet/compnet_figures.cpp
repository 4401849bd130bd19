// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/compnet/compnet_figures.h"

#include <fmt/format.h>

#include <optional>

#include "platform/campaign/targets.h"
#include "platform/reproduce/compnet/compnet_training.h"

namespace stretto {

namespace {

std::optional<double> found(const std::function<double()>& measure) {
  try {
    return measure();
  } catch (const MissingSimulations&) {
    return {};
  }
}

// Lines of a figure: a design, or one with so many threads.
struct Figure {
  std::string name;
  std::string title, x, y;
  bool log_x = true, log_y = true;
  std::vector<PlotLine> lines = {};
  std::vector<std::string> bars = {};

  void add(const std::string& line, double at, const std::function<double()>& measure) {
    const std::optional<double> value = found(measure);
    if (!value) return;
    if (lines.empty() || lines.back().title != line) lines.push_back({line, {}});
    lines.back().points.emplace_back(at, *value);
  }
};

std::vector<Figure> all_figures(const CompnetResults& results) {
  std::vector<Figure> all;
  Figure queues{"4a", "Fig 4a: an entry of a queue, one thread of the host", "work-groups", "us"};
  for (const char* design : {kGpuQueueDesign, kHostQueueDesign})
    for (const unsigned groups : kQueueGroups)
      queues.add(design, groups, [&] { return queue_us(results, design, groups, 1); });
  all.push_back(queues);
  Figure threads{"4b", "Fig 4b: an entry of a queue by threads of the host", "threads", "us"};
  for (const char* design : {kGpuQueueDesign, kHostQueueDesign})
    for (const unsigned groups : kQueueGroups)
      for (const unsigned count : kThreads)
        threads.add(fmt::format("{} {}", design, groups), count,
                    [&] { return queue_us(results, design, groups, count); });
  all.push_back(threads);
  Figure gets{"8a", "Fig 8a: remote get", "bytes", "us"};
  for (const char* design : kServedDesigns) {
    if (results(get_folder(design)) == nullptr) continue;
    for (const auto& [bytes, us] : get_us(results, design))
      gets.add(design, bytes, [us = us] { return us; });
  }
  all.push_back(gets);
  Figure loaded{"8b", "Fig 8b: 480 work-groups", "threads", "us"};
  for (const char* design : kServedDesigns)
    for (const unsigned count : kThreads)
      loaded.add(design, count, [&] { return loaded_us(results, design, count); });
  all.push_back(loaded);
  Figure jacobi{"9", "Fig 9: Jacobi, 8 servers", "elements of a side and server",
                "speed-up over dgpu"};
  jacobi.log_y = false;
  for (const char* design : kAllDesigns)
    for (const unsigned side : kSides)
      jacobi.add(design, side, [&] {
        return jacobi_us(results, kGpuQueueDesign, side) / jacobi_us(results, design, side);
      });
  all.push_back(jacobi);
  Figure reduce{"10a", "Fig 10a: all-reduce of 64 MiB", "servers", "us"};
  reduce.log_y = false;
  for (const char* design : kAllDesigns)
    for (const unsigned servers : kReduceServers)
      reduce.add(design, servers, [&] { return reduce_us(results, design, servers); });
  all.push_back(reduce);
  Figure training{"11", "Fig 11: training, 8 servers", "", "speed-up over the CPU's all-reduce"};
  training.log_x = training.log_y = false;
  for (const TrainedNetwork& network : trained_networks()) training.bars.emplace_back(network.name);
  for (const char* design : kAllDesigns)
    for (size_t i = 0; i < trained_networks().size(); ++i)
      training.add(design, static_cast<double>(i),
                   [&] { return 1 / iteration_share(results, design, trained_networks()[i]); });
  all.push_back(training);
  return all;
}

}  // namespace

std::string figures_csv(const CompnetResults& results) {
  std::string csv = "figure,design,x,y,unit\n";
  for (const Figure& figure : all_figures(results))
    for (const PlotLine& line : figure.lines)
      for (const auto& [x, y] : line.points)
        csv += fmt::format("{},{},{},{:.4f},{}\n", figure.name, line.title, x, y,
                           figure.y == "us" ? "us" : "ratio");
  // Times behind the ratios.
  for (const char* design : kAllDesigns)
    for (const unsigned side : kSides)
      if (const auto us = found([&] { return jacobi_us(results, design, side); }))
        csv += fmt::format("9 times,{},{},{:.4f},us\n", design, side, *us);
  for (const char* design : kAllDesigns)
    for (const unsigned bytes : kTrainingBytes)
      if (const auto us =
              found([&] { return reduce_us(results, design, kTrainingServers, bytes); }))
        csv += fmt::format("11 sizes,{},{},{:.4f},us\n", design, bytes, *us);
  return csv;
}

std::string sensitivity_csv(const CompnetResults& results) {
  std::string csv = "parameter,value,what,design,us\n";
  for (const CompnetVariant& one : compnet_variants()) {
    const auto us = found([&] {
      const ResultValue job = compnet_job(results, one.run.folder);
      return one.what == "get"
                 ? job.at("sizes").items().front().at("latency_us").at("mean").number()
                 : job.at("blocking").at("span_us").number();
    });
    if (us)
      csv += fmt::format("{},{},{},{},{:.3f}\n", one.parameter, one.value, one.what, one.run.mode,
                         *us);
  }
  return csv;
}

std::vector<std::pair<std::string, Plot>> compnet_plots(const CompnetResults& results) {
  std::vector<std::pair<std::string, Plot>> all;
  for (Figure& figure : all_figures(results)) {
    if (figure.lines.empty()) continue;
    Plot plot{figure.title, figure.x, figure.y, figure.log_x, figure.log_y, figure.lines};
    plot.bars = figure.bars;
    all.emplace_back("fig" + figure.name, plot);
  }
  return all;
}

}  // namespace stretto
