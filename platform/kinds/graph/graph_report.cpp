// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "platform/config/peaks.h"
#include "platform/kinds/graph/graph_fused.h"

namespace stretto {

namespace json = boost::json;

bool GraphReport::is_in_pipeline(size_t op) const {
  const auto groups = t_.plan.groups.begin();
  return std::any_of(groups, groups + static_cast<std::ptrdiff_t>(t_.groups),
                     [op](const graph_group_t& group) {
                       return group.first_op <= op && op < group.first_op + group.ops;
                     });
}

const graph_fused_t* GraphReport::fused_of(size_t op) const {
  for (size_t i = 0; i < t_.fused; ++i) {
    const graph_fused_t& fused = t_.plan.fused[i];
    if (fused.first_op <= op && op < fused.first_op + fused.ops) return &fused;
  }
  return nullptr;
}

std::vector<StageClocks> GraphReport::stage_clocks(const graph_group_t& group) const {
  std::vector<StageClocks> stages;
  for (uint32_t s = 0; s < group.stages; ++s) {
    const stage_arguments_t& arguments = group.stage[s].arguments;
    StageClocks& stage = stages.emplace_back();
    stage.tiles = group.tiles;
    // Sums go on once, not with each tile.
    const std::string_view kernel = group.stage[s].kernel;
    if (kernel != "stage_final")
      for (const stage_edge_t& in : arguments.in) stage.queues_in += in.entries != 0 ? 1 : 0;
    stage.queues_out = arguments.out.entries != 0 && !kernel.starts_with("stage_fan_in") ? 1 : 0;
    stage.parts = arguments.parts;
    for (uint32_t other = 0; other < s; ++other)
      for (const stage_edge_t& in : arguments.in)
        if (in.entries != 0 && in.words == group.stage[other].arguments.out.words)
          stage.producers.push_back(other);
    stage.clocks = t_.clocks(arguments, STAGE_CLOCKS * std::min(group.stage[s].work_groups,
                                                                group.tiles * arguments.parts));
  }
  return stages;
}

json::array GraphReport::stages_of(size_t group) const {
  const graph_group_t& of = t_.plan.groups[group];
  const std::vector<StageClocks> clocks = stage_clocks(of);
  const double ready = ready_clocks(clocks);
  json::array stages;
  for (uint32_t s = 0; s < of.stages; ++s) {
    const auto us = [&](uint64_t all) {
      return static_cast<double>(all) / t_.spec.gpu.clock_mhz /
             static_cast<double>(clocks[s].work_groups());
    };
    stages.push_back({{"name", t_.plan.stage_names[group][s]},
                      {"kernel", graph_stage_kernel(&of.stage[s], t_.spec.gpu.lds_bytes)},
                      {"work_groups", of.stage[s].work_groups},
                      {"parts", of.stage[s].arguments.parts},
                      {"us", us(clocks[s].whole())},
                      {"waits_for_input_us", us(clocks[s].sum(2))},
                      {"waits_for_room_us", us(clocks[s].sum(3))},
                      {"tile_us", clocks[s].tile(ready) / t_.spec.gpu.clock_mhz},
                      {"first_us", first_clocks(clocks, s) / t_.spec.gpu.clock_mhz}});
  }
  return stages;
}

// 0: it has no end, for updates come behind it.
double GraphReport::us_of(const graph_group_t& group) const {
  const uint32_t last = group.first_op + group.ops - 1;
  if (last >= t_.ends.size()) return 0;
  return t_.ends[last] - (group.first_op == 0 ? 0 : t_.ends[group.first_op - 1]);
}

json::array GraphReport::pipelines() const {
  json::array groups;
  for (size_t i = 0; i < t_.groups; ++i) {
    const graph_group_t& group = t_.plan.groups[i];
    json::object one{{"first", group.first_op}, {"operators", group.ops}};
    if (const double us = us_of(group); us > 0) {
      const double tiles_a_ms = 1000 * group.tiles / us;
      const GpuActivity& before = t_.activity[group.first_op];
      const GpuActivity& after = t_.activity[group.first_op + group.ops];
      one["dram_read_bytes"] = after.dram_read_bytes - before.dram_read_bytes;
      one["dram_written_bytes"] = after.dram_written_bytes - before.dram_written_bytes;
      one["tiles"] = group.tiles;
      one["us"] = us;
      one["tiles_a_ms"] = tiles_a_ms;
      const json::object& about = t_.plan.root.at("groups").at(i).as_object();
      if (const json::value* predicted = about.if_contains("predicted")) {
        one["predicted"] = *predicted;
        one["simulated_of_predicted"] =
            tiles_a_ms / predicted->at("tiles_a_ms").to_number<double>();
      }
    }
    one["stages"] = stages_of(i);
    groups.push_back(std::move(one));
  }
  return groups;
}

json::array GraphReport::operators() const {
  json::array all;
  const Peaks peaks = peaks_of(t_.spec);
  const double units = t_.spec.gpu.cus, clocks_a_us = t_.spec.gpu.clock_mhz;
  const double port = units * clocks_a_us *
                      (t_.spec.l2.cu_load_bytes_per_cycle + t_.spec.l2.cu_store_bytes_per_cycle);
  for (size_t op = 0; op < t_.ends.size(); ++op) {
    const graph_fused_t* const fused = fused_of(op);
    const size_t first = fused == nullptr ? op : fused->first_op;
    if (is_in_pipeline(op) || (fused != nullptr && op + 1 != first + fused->ops)) continue;
    const double us = t_.ends[op] - (first == 0 ? 0 : t_.ends[first - 1]);
    const GpuActivity &before = t_.activity[first], &after = t_.activity[op + 1];
    const auto share = [&](uint64_t GpuActivity::*what, double peak) {
      return static_cast<double>(after.*what - before.*what) / (peak * us);
    };
    json::object one{
        {"output", t_.plan.outputs[op]},
        {"kind", fused == nullptr ? t_.plan.launches[op] : fmt::format("{} fused", fused->ops)},
        {"operators", op + 1 - first},
        {"us", us},
        {"tensor", 2 * share(&GpuActivity::multiply_adds, 1e6 * peaks.tensor_fp16_tflop_s)},
        {"simt", share(&GpuActivity::simt_cycles, units * clocks_a_us)},
        {"ports", share(&GpuActivity::l2_bytes, port)},
        {"dram", share(&GpuActivity::dram_read_bytes, 1e3 * peaks.hbm_gb_s) +
                     share(&GpuActivity::dram_written_bytes, 1e3 * peaks.hbm_gb_s)},
        {"dram_read_bytes", after.dram_read_bytes - before.dram_read_bytes},
        {"dram_written_bytes", after.dram_written_bytes - before.dram_written_bytes}};
    if (fused != nullptr) one["planned_dram_read_bytes"] = fused_reads(*fused);
    all.push_back(std::move(one));
  }
  return all;
}

json::object GraphReport::profile() const {
  json::object by_result;
  for (const json::value& one : t_.groups == 0 ? operators() : json::array()) {
    if (one.at("operators").to_number<size_t>() != 1) continue;
    const double simt = std::max(one.at("simt").as_double(), one.at("ports").as_double());
    by_result[one.at("output").as_string()] =
        json::object{{"us", one.at("us")}, {"tensor", one.at("tensor")}, {"simt", simt}};
  }
  json::array stages;
  for (size_t i = 0; i < t_.groups; ++i) {
    const json::value& about = t_.plan.root.at("groups").at(i);
    const json::array measured = stages_of(i);
    for (size_t s = 0; s < measured.size(); ++s) {
      const json::value* const members =
          about.at("stages").at(s).as_object().if_contains("operators");
      if (members == nullptr) continue;
      stages.push_back({{"operators", *members},
                        {"tile_rows", about.at("tile_rows")},
                        {"work_groups", measured[s].at("work_groups")},
                        {"tile_us", measured[s].at("tile_us")},
                        {"first_us", measured[s].at("first_us")}});
    }
  }
  return {{"graph", t_.plan.root.at("hash")},
          {"operators", std::move(by_result)},
          {"stages", std::move(stages)}};
}

std::string GraphReport::operator_table() const {
  const json::array all = operators();
  if (all.empty()) return "";
  std::string text = fmt::format("  {:<24} {:<14} {:>10} {:>8} {:>6} {:>7} {:>6}\n", "operator",
                                 "kind", "us", "tensor%", "SIMT%", "ports%", "HBM%");
  for (const json::value& one : all) {
    const auto percent = [&](const char* key) { return 100 * one.at(key).as_double(); };
    text += fmt::format("  {:<24} {:<14} {} {:8.1f} {:6.1f} {:7.1f} {:6.1f}\n",
                        one.at("output").as_string().c_str(), one.at("kind").as_string().c_str(),
                        figure(one.at("us").as_double(), 10), percent("tensor"), percent("simt"),
                        percent("ports"), percent("dram"));
  }
  return text;
}

std::string GraphReport::pipeline_table() const {
  std::string text =
      fmt::format("  {:<24} {:>11} {:>10} {:>17} {:>16} {:>10}\n", "stage", "work-groups", "us",
                  "waits for input", "waits for room", "us a tile");
  for (const json::value& group : pipelines()) {
    for (const json::value& stage : group.at("stages").as_array())
      text += fmt::format("  {:<24} {:>11} {} {} {} {}\n", stage.at("name").as_string().c_str(),
                          stage.at("work_groups").to_number<uint64_t>(),
                          figure(stage.at("us").as_double(), 10),
                          figure(stage.at("waits_for_input_us").as_double(), 17),
                          figure(stage.at("waits_for_room_us").as_double(), 16),
                          figure(stage.at("tile_us").as_double(), 10));
    const json::object& one = group.as_object();
    if (!one.contains("simulated_of_predicted")) continue;
    const json::value& predicted = one.at("predicted");
    text += fmt::format(
        "  {} tiles a ms simulated, {} predicted ({}, bound by {}): {:.2f}; {} us\n",
        figure(one.at("tiles_a_ms").as_double(), 0),
        figure(predicted.at("tiles_a_ms").to_number<double>(), 0),
        predicted.at("source").as_string().c_str(), predicted.at("limit").as_string().c_str(),
        one.at("simulated_of_predicted").as_double(), figure(one.at("us").as_double(), 0));
  }
  return text;
}

}  // namespace stretto
