// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/listing.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "models/common/error.h"
#include "platform/base/installation.h"
#include "platform/config/machine.h"
#include "platform/config/options.h"
#include "platform/jobs/workload.h"

namespace stretto {

namespace {

void list_machines() {
  for (const std::string& name : shipped("machines")) {
    Machine machine;
    machine.load(name);
    std::printf("%-16s %s\n", name.c_str(), machine.description().c_str());
  }
}

void list_workloads() {
  for (const std::string& name : shipped("workloads")) {
    const Workload workload = load_workload(name);
    std::string shape;
    for (const auto& [key, size] : workload.kind->shape())
      shape.append(" ").append(key).append(" ").append(std::to_string(size));
    std::printf("%-20s %-34s machine %s; %s:%s; data %s\n", name.c_str(),
                workload.description.c_str(), workload.machine.c_str(),
                workload.kind->info().name.c_str(), shape.c_str(), workload.data.c_str());
  }
  for (const auto& kind : workload_kinds()) {
    const KindInfo& info = kind->info();
    std::printf("\n%s: %s\nmodes of %s\n", info.name.c_str(), info.sentence.c_str(),
                info.name.c_str());
    for (const auto& [name, sentence] : info.modes)
      std::printf("  %-12s %s\n", name.c_str(), sentence.c_str());
  }
}

void list_blocks() {
  std::printf("%-16s one per GPU: places work-groups on compute units\n", "grid_scheduler");
  std::printf("%-16s one per HBM channel: arbitrates compute and communication\n", "mca");
  std::printf("%-16s one per GPU: takes and checks send requests of kernels\n", "request_ring");
  std::printf("%-16s one per GPU: counts updates, triggers DMA\n", "tracker");
  std::printf(
      "\n--impl BLOCK=rtl (Verilated, default) | model (cycle-exact C++) | lockstep (both, "
      "compared each cycle)\n");
}

void print_parameters(const ParameterSet& set, const std::string& prefix) {
  for (const Parameter& one : set.all()) {
    std::printf("%-34s %-8s default %-12s %s%s\n%-34s %s\n", (prefix + one.path).c_str(),
                one.type.c_str(), one.fallback.c_str(), one.range.empty() ? "" : "allowed ",
                one.range.c_str(), "", one.sentence.c_str());
  }
}

// Of machines, then of each kind of workload.
void list_parameters() {
  const Machine machine;
  print_parameters(machine.parameters(), "");
  for (const auto& kind : workload_kinds()) {
    ParameterSet set;
    kind->describe(set);
    std::printf("\n");
    print_parameters(set, kind->info().name + ".");
  }
}

}  // namespace

int list(const std::string& what) {
  if (what == "machines") {
    list_machines();
  } else if (what == "workloads") {
    list_workloads();
  } else if (what == "blocks") {
    list_blocks();
  } else if (what == "parameters") {
    list_parameters();
  } else {
    throw UserError("list " + what + ": must be machines, workloads, blocks or parameters");
  }
  return 0;
}

}  // namespace stretto
