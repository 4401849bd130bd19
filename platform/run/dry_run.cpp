// SPDX-License-Identifier: Apache-2.0
#include "platform/run/dry_run.h"

#include <fmt/format.h>

#include <sstream>

#include "platform/config/peaks.h"
#include "platform/config/yaml_file.h"

namespace stretto {

namespace {

std::string indented(const std::string& text, const std::string& by) {
  std::string out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out += by + line + "\n";
  return out;
}

template <class Map>
std::string map_of(const char* key, const Map& map) {
  if (map.empty()) return fmt::format("  {}: {{}}\n", key);
  std::string text = fmt::format("  {}:\n", key);
  for (const auto& [name, value] : map) text += fmt::format("    {}: {}\n", name, value);
  return text;
}

std::string workload_text(const RunRequest& request) {
  const Workload& workload = request.workload;
  const RunOptions& options = request.options;
  std::map<std::string, std::string> parameters, blocks;
  for (const auto& [key, value] : workload.parameters) parameters[key] = yaml_quoted(value);
  for (const auto& [block, impl] : options.impl) blocks[block] = impl_name(impl);
  std::string text = fmt::format("workload:\n  name: {}\n", yaml_quoted(workload.name));
  if (workload.kind != nullptr) text += fmt::format("  kind: {}\n", workload.kind->info().name);
  text +=
      fmt::format("  mode: {}\n  data: {}\n  seed: {}\n", options.mode, options.data, options.seed);
  if (workload.kind != nullptr) {
    text += map_of("shape", workload.kind->shape()) + map_of("parameters", parameters);
  } else {
    text += "  jobs:\n";
    for (const JobRequest& job : request.jobs)
      text += fmt::format("    - {{workload: {}, kind: {}, mode: {}, gpus: [{}]}}\n",
                          yaml_quoted(job.workload), job.kind->info().name, job.mode,
                          fmt::join(job.share.gpus, ", "));
  }
  text += map_of("impl", blocks);
  text += "  kernels:\n";
  for (const JobRequest& job : request.jobs) {
    for (const std::string& file : job.kind->kernel_files(job))
      text += fmt::format("    - {}\n", yaml_quoted(file));
  }
  return text;
}

}  // namespace

std::string machine_file(const Machine& machine) {
  return machine.resolved() + indented(peaks_yaml(peaks_of(machine.spec())), "# ");
}

std::string resolved_text(const RunRequest& request) {
  const Machine& machine = request.machine;
  return (request.has_workload ? workload_text(request) : "") + "machine:\n" +
         indented(machine.resolved(), "  ") + peaks_yaml(peaks_of(machine.spec()));
}

}  // namespace stretto
