// SPDX-License-Identifier: Apache-2.0
#include "platform/machine/collect.h"

#include <algorithm>

#include "models/common/tlm_checker.h"

namespace stretto {

namespace {

// Sum and maximum of the statistic `name` ("hbm.tracker.updates") over all GPUs.
struct Lookup {
  const std::vector<Statistic>& all;

  template <class Combine>
  uint64_t over_gpus(const std::string& name, Combine combine, uint64_t start = 0) const {
    uint64_t value = start;
    for (const Statistic& one : all) {
      const size_t dot = one.path.find('.');
      if (dot != std::string::npos && one.path.compare(dot + 1, std::string::npos, name) == 0)
        value = combine(value, one.value);
    }
    return value;
  }
  uint64_t sum(const std::string& name) const {
    return over_gpus(name, [](uint64_t a, uint64_t b) { return a + b; });
  }
  uint64_t highest(const std::string& name) const {
    return over_gpus(name, [](uint64_t a, uint64_t b) { return std::max(a, b); });
  }
  // kNever if no GPU has it.
  Time earliest(const std::string& name) const {
    return over_gpus(
        name, [](uint64_t a, uint64_t b) { return std::min(a, b); }, kNever);
  }
};

// Digests cover the ordered events of a partition and, here, the memory it has written, in address
// order.
std::string digest_of(GpuNode& gpu) {
  Digest& digest = gpu.partition.digest();
  gpu.memory.for_each_written_page([&](uint64_t address, const uint8_t* bytes) {
    digest.bytes(&address, sizeof address);
    digest.bytes(bytes, MemoryImage::kPageBytes);
  });
  return digest.hex();
}

// Some laws name their instance in brackets; a law has one name and many places.
AuditResult normalised(AuditResult one) {
  const size_t bracket = one.law.find(" (");
  if (bracket == std::string::npos) return one;
  one.where += ' ';
  one.where.append(one.law, bracket + 2, one.law.size() - bracket - 3);
  one.law.resize(bracket);
  return one;
}

// The phases of DESIGN "Phases", over all GPUs. A collective begins with its first access on its
// account, or with the first work-group of its kernel, and ends with the last update applied.
void collect_phases(const Lookup& find, Results& results) {
  const auto time = [&](Phase phase) -> Time& {
    return results.time[static_cast<unsigned>(phase)];
  };
  const auto span = [](Time begin, Time end) { return end > begin ? end - begin : 0; };
  time(Phase::gemm) = span(find.earliest("compute.front_end.first_dispatch.gemm"),
                           find.highest("compute.front_end.last_end.gemm"));
  for (const auto& [phase, name] :
       {std::pair(Phase::rs, std::string("rs")), std::pair(Phase::ag, std::string("ag"))}) {
    const Time begin = std::min(find.earliest("hbm.first_access." + name),
                                find.earliest("compute.front_end.first_dispatch." + name));
    time(phase) = span(begin, std::max(find.highest("hbm.last_access." + name),
                                       find.highest("compute.front_end.last_end." + name)));
  }
  time(Phase::init) =
      span(find.earliest("hbm.first_access.init"), find.highest("hbm.last_access.init"));
  Time first = kNever;
  for (const char* name : {"gemm", "rs", "ag"}) {
    first = std::min(first, find.earliest(std::string("compute.front_end.first_dispatch.") + name));
  }
  // What comes before the first dispatch and is not init.
  if (first != kNever) time(Phase::setup) = span(time(Phase::init), first);
}

// What the protocol checkers saw; that one sits on every bound socket is a law, so that none is
// missing in silence.
void collect_sockets(StatisticSink& statistics, AuditSink& audit) {
  const TlmCensus census = tlm_census();
  statistics.set_prefix("tlm");
  statistics.add("sockets", census.bound, "count", "Bound pairs of TLM sockets.");
  statistics.add("checked", census.checked, "count", "Of them, with a protocol checker between.");
  statistics.add("transactions", census.begun, "count", "Transactions that the checkers followed.");
  audit.set_where("tlm");
  audit.equal("sockets bound = checked", census.bound, census.checked);
  audit.equal("transactions begun = ended", census.begun, census.ended);
}

}  // namespace

void collect_machine(const std::vector<std::unique_ptr<GpuNode>>& gpus,
                     const std::vector<std::unique_ptr<CardNode>>& cards, SwitchNode* crossbar,
                     Host* host, Results& results) {
  StatisticSink statistics;
  AuditSink audit;
  std::vector<const Router*> routers;
  for (const auto& gpu : gpus) {
    gpu->partition.report(statistics);
    gpu->partition.audit(audit);
    audit.set_where(std::string(gpu->name()));
    audit.equal("scheduling events raised = taken", gpu->hbm.tracker_counters().events,
                gpu->gpu.front_end.events().events());
    routers.push_back(&gpu->router);
  }
  for (const auto& card : cards) {
    card->partition.report(statistics);
    card->partition.audit(audit);
    routers.push_back(&card->router);
  }
  audit_links(routers, audit);
  if (crossbar != nullptr) {
    crossbar->partition.report(statistics);
    crossbar->partition.audit(audit);
    audit_switch(crossbar->crossbar, routers, audit);
  }
  if (host != nullptr) {
    statistics.set_prefix("host");
    host->report(statistics);
    audit.set_where("host");
    host->audit(audit);
    if (host->link(0).to_switch()) {
      audit_pcie(*host, crossbar->crossbar, audit);
    } else {
      audit_pcie(*host, routers, audit);
    }
  }
  if constexpr (kCheckSockets) collect_sockets(statistics, audit);
  results.statistics = statistics.all();
  // Laws balance when the machine has fallen quiet; a run that was cut short has things in flight.
  if (results.status == "complete") {
    for (const AuditResult& one : audit.all()) results.audit.push_back(normalised(one));
  }

  const Lookup find{results.statistics};
  // DRAM moves whole atoms of 64 B.
  for (const char* name : {"gemm", "rs", "ag", "init", "sync", "spill", "cp", "other"}) {
    for (const char* direction : {"read", "write"}) {
      results.dram_bytes[std::string(name) + "_" + direction] =
          64 * find.sum(std::string("hbm.") + direction + "_atoms." + name);
    }
  }
  collect_phases(find, results);
  for (const Router* router : routers) results.link_bytes += router->bytes_sent();
  for (const auto& gpu : gpus) results.cp_instructions += gpu->cp.instructions();
  for (const char* hart : {"hart0", "hart1", "hart2", "hart3"}) {
    results.cp_cycles += find.sum(std::string("cp.") + hart + ".busy_cycles");
  }
  results.tracker["updates"] = find.sum("hbm.tracker.updates");
  results.tracker["triggers"] = find.sum("hbm.tracker.triggers");
  results.tracker["spills"] = find.sum("hbm.tracker.spill_writes");
  results.tracker["max_live"] = find.highest("hbm.tracker.max_live");
  for (const char* counter :
       {"grants_compute", "grants_communication", "grants_starved", "drains", "channels_at_limit_0",
        "channels_at_limit_5", "channels_at_limit_10", "channels_at_limit_30"}) {
    results.mca[counter] = find.sum(std::string("hbm.mca.") + counter);
  }
  results.mca["steps"] = find.sum("hbm.mca_steps");
  results.mca["held_atoms"] = find.sum("hbm.held_atoms");
  results.mca["ordered_atoms"] = find.sum("hbm.ordered_atoms");

  std::string all;
  for (const auto& gpu : gpus) all += digest_of(*gpu);
  for (const auto& card : cards) all += card->partition.digest().hex();
  if (crossbar != nullptr) all += crossbar->partition.digest().hex();
  if (host != nullptr) all += host->digest_hex();
  results.digest = sha256_hex(all.data(), all.size());
}

}  // namespace stretto
