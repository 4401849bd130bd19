// SPDX-License-Identifier: Apache-2.0
#include "platform/machine/collect.h"

#include <algorithm>
#include <cassert>

#include "models/common/error.h"
#include "models/common/spec.h"
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
  bool has(const std::string& name) const {
    return over_gpus(name, [](uint64_t, uint64_t) { return uint64_t{1}; }) != 0;
  }
  uint64_t sum(const std::string& name) const {
    return over_gpus(name, [](uint64_t a, uint64_t b) { return a + b; });
  }
  // As sum(), of a statistic that every GPU reports: a name that none does is a mistake here.
  uint64_t required(const std::string& name) const {
    if (has(name)) return sum(name);
    std::vector<std::string> names;
    for (const Statistic& one : all) names.push_back(one.path.substr(one.path.find('.') + 1));
    throw CheckError("no GPU reports the statistic " + name +
                     "; nearest: " + nearest_names(name, names));
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

// Some laws name their instance in brackets; a law has one name and many places.
AuditResult normalised(AuditResult one) {
  const size_t bracket = one.law.find(" (");
  if (bracket == std::string::npos) return one;
  one.where += ' ';
  one.where.append(one.law, bracket + 2, one.law.size() - bracket - 3);
  one.law.resize(bracket);
  return one;
}

// The statistic that holds a moment, without its account.
const char* statistic_of(Moment::Event event) {
  switch (event) {
    case Moment::first_dispatch: return "compute.front_end.first_dispatch.";
    case Moment::last_end: return "compute.front_end.last_end.";
    case Moment::first_access: return "hbm.first_access.";
    case Moment::last_access: break;
  }
  return "hbm.last_access.";
}

// Of [0, end), what lies in none of the spans.
std::vector<TimeSpan> outside_of(std::vector<TimeSpan> spans, Time end) {
  std::sort(spans.begin(), spans.end());
  std::vector<TimeSpan> outside;
  Time at = 0;
  for (const auto& [from, to] : spans) {
    if (at < std::min(from, end)) outside.emplace_back(at, std::min(from, end));
    at = std::max(at, to);
  }
  if (at < end) outside.emplace_back(at, end);
  return outside;
}

Time sum_of(const std::vector<TimeSpan>& spans) {
  Time sum = 0;
  for (const auto& [from, to] : spans) sum += to - from;
  return sum;
}

// What is seen of a phase until `cut`: kNever and 0 for what did not come. Behind the cut partitions
// have gone on, to the end of their windows.
struct Seen {
  Time begin = kNever, end = 0;
  bool runs = false;  // A work-group of its accounts.

  Seen(const Lookup& find, const StatisticSink& names, const PhaseRule& rule, Time cut) {
    for (const Moment& moment : rule.begin) {
      const std::string& account = names.account(moment.account);
      begin = std::min(begin, find.earliest(statistic_of(moment.event) + account));
      runs = runs || find.sum("compute.front_end.running." + account) != 0;
    }
    for (const Moment& moment : rule.end)
      end = std::max(end, find.highest(statistic_of(moment.event) + names.account(moment.account)));
    if (begin > cut) begin = kNever;
    runs = runs || end > cut;
  }
};

// The phases that the job defines, over all GPUs, before them `setup`: what comes before the first
// phase that does not prepare (if one has come), without those that do; behind them `write_back`:
// what lies in none, between the end of the last kernel of an account and its last DRAM access. Of a
// run that was cut short, a phase has ended if none of its work-groups runs and another phase has
// begun since; one that has begun and not ended lasts to the cut.
void collect_phases(const Lookup& find, const StatisticSink& names,
                    const std::vector<Account>& accounts, const std::vector<PhaseRule>& phases,
                    Results& results) {
  const bool cut = results.status != RunStatus::complete;
  std::vector<Seen> seen;
  for (const PhaseRule& rule : phases)
    seen.emplace_back(find, names, rule, cut ? results.total : kNever);
  std::vector<TimeSpan> spans, preparations;
  Time work_begins = kNever;
  for (size_t i = 0; i < phases.size(); ++i) {
    const PhaseRule& rule = phases[i];
    const Seen& one = seen[i];
    PhaseTime phase{rule.name, {}, 0};
    phase.known = !cut || (!one.runs && one.end != 0 &&
                           std::any_of(seen.begin(), seen.end(), [&](const Seen& other) {
                             return other.begin != kNever && other.begin >= one.end;
                           }));
    const Time end = phase.known ? one.end : results.total;
    if (one.begin < end) {
      phase.spans.emplace_back(one.begin, end);
      spans.emplace_back(one.begin, end);
      if (rule.prepares) preparations.emplace_back(one.begin, end);
    }
    if (!rule.prepares && !phase.spans.empty()) work_begins = std::min(work_begins, one.begin);
    phase.time = sum_of(phase.spans);
    results.phases.push_back(phase);
  }
  if (work_begins != kNever || (cut && !phases.empty())) {
    const bool known = work_begins != kNever;
    const Time end = known ? work_begins : results.total;
    const std::vector<TimeSpan> setup = outside_of(preparations, end);
    results.phases.insert(results.phases.begin(), {"setup", setup, sum_of(setup), known});
    spans.emplace_back(0, end);
  }
  const Time outside = sum_of(outside_of(spans, results.total));
  for (const Account& account : accounts) {
    const Time end = find.highest(statistic_of(Moment::last_end) + names.account(account.number));
    const Time access =
        find.highest(statistic_of(Moment::last_access) + names.account(account.number));
    if (end != 0 && end < access) spans.emplace_back(end, access);
  }
  results.no_phase = sum_of(outside_of(spans, results.total));
  results.write_back = outside - results.no_phase;
}

// Bytes of DRAM by account, in whole atoms of 64 B. Law: the job has named every account that is
// used.
void collect_dram(const Lookup& find, const StatisticSink& names, bool has_jobs, Results& results,
                  AuditSink& audit) {
  std::vector<unsigned> order;
  for (unsigned account = STRETTO_ACCOUNT_JOB; account < STRETTO_ACCOUNTS; ++account)
    order.push_back(account);
  for (unsigned account = 0; account < STRETTO_ACCOUNT_JOB; ++account) order.push_back(account);
  uint64_t nameless = 0;
  for (const unsigned account : order) {
    for (const char* direction : {"read", "write"}) {
      const std::string& name = names.account(account);
      const uint64_t bytes = 64 * find.sum(std::string("hbm.") + direction + "_atoms." + name);
      if (!names.has_name(account)) nameless += bytes;
      if (names.has_name(account) || bytes != 0)
        results.dram_bytes.emplace_back(name + "_" + direction, bytes);
    }
  }
  if (!has_jobs) return;
  audit.set_where("job");
  audit.equal("DRAM bytes on accounts that the job does not name = 0", nameless, 0);
}

// What the protocol checkers saw; that one sits on every bound socket is a law, so that none is
// missing in silence.
void collect_sockets(StatisticSink& statistics, AuditSink& audit) {
  const TlmCensus census = tlm_census();
  statistics.set_prefix("tlm");
  statistics.add("sockets", census.bound, "count", "Bound pairs of TLM sockets.");
  statistics.add("checked", census.checked, "count",
                 "Bound pairs of TLM sockets with a protocol checker between.");
  statistics.add("transactions", census.begun, "count", "Transactions that the checkers followed.");
  audit.set_where("tlm");
  audit.equal("sockets bound = checked", census.bound, census.checked);
  audit.equal("transactions begun = ended", census.begun, census.ended);
}

const SwitchNode* switch_at(const MachineParts& parts, uint8_t node) {
  for (const SwitchNode* const one : parts.switches)
    if (one->partition.node() == node) return one;
  return nullptr;
}

// Laws between the parts: what one has sent, another has received.
void audit_wires(const MachineParts& parts, const std::vector<const Router*>& routers,
                 AuditSink& audit) {
  uint64_t kept = 0;
  for (const SwitchNode* const one : parts.switches) kept += one->crossbar.bytes_kept();
  // What crosses PCIe between GPUs and processors of SmartNICs.
  for (const Host* const host : parts.hosts) {
    if (host->node() != kHostNode) kept += host->bytes_from_devices() - host->bytes_to_devices();
  }
  audit_links(routers, kept, audit);
  for (const SwitchNode* const one : parts.switches) {
    std::vector<const LinkPort*> ends;
    for (const Node* const node : parts.nodes) {
      for (const LinkPort* const end : node->link_ports())
        if (end->spec().peer_node == one->partition.node()) ends.push_back(end);
    }
    audit_switch(one->crossbar, one->basename(), ends, audit);
  }
  if (!parts.nics.empty()) audit_network(parts.nics, audit);
  for (const Host* const host : parts.hosts) {
    const SwitchNode* const behind = switch_at(parts, host->link(0).peer_node);
    if (behind != nullptr) audit_pcie(*host, behind->crossbar, audit);
    audit_pcie(*host, routers, audit);
  }
}

}  // namespace

void collect_machine(const MachineParts& parts, const std::vector<Account>& accounts,
                     const std::vector<PhaseRule>& phases, Results& results) {
  const std::vector<Node*>& nodes = parts.nodes;
  const bool has_jobs = !parts.hosts.empty();
  StatisticSink statistics;
  AuditSink audit;
  for (const Account& account : accounts) {
    assert(account.number >= STRETTO_ACCOUNT_JOB && !statistics.has_name(account.number));
    statistics.name_account(account.number, account.name);
  }
  std::vector<const Router*> routers;
  for (const Node* node : nodes)
    results.horizon = std::max(results.horizon, node->partition.queue().now());
  for (const Node* node : nodes) {
    node->partition.report(statistics);
    node->audit(audit);
    audit.equal("statistics end at the horizon of the run", node->partition.queue().now(),
                results.horizon);
    if (node->to_links() != nullptr) routers.push_back(node->to_links());
  }
  for (const Host* const host : parts.hosts) {
    statistics.set_prefix(host->basename());
    host->report(statistics);
    audit.set_where(host->basename());
    host->audit(audit);
  }
  audit_wires(parts, routers, audit);
  if constexpr (kCheckSockets) collect_sockets(statistics, audit);
  results.statistics = statistics.all();
  const Lookup find{results.statistics};
  collect_dram(find, statistics, has_jobs, results, audit);
  // Laws balance when the machine has fallen quiet; a run that was cut short has things in flight.
  if (results.status == RunStatus::complete) {
    for (const AuditResult& one : audit.all()) results.audit.push_back(normalised(one));
  }
  if (has_jobs) collect_phases(find, statistics, accounts, phases, results);
  for (const Router* router : routers) results.link_bytes += router->bytes_sent();
  for (const Nic* nic : parts.nics) results.link_bytes += nic->network().counters().bytes_sent;
  for (const char* hart : {"hart0", "hart1", "hart2", "hart3"}) {
    results.cp_cycles += find.sum(std::string("cp.") + hart + ".busy_cycles");
  }
  results.tracker["updates"] = find.required("hbm.tracker.updates");
  results.tracker["triggers"] = find.required("hbm.tracker.triggers");
  results.tracker["spills"] = find.required("hbm.tracker.spill_writes");
  // State inside RTL blocks, which RTL that the user brought may not show.
  std::vector<std::string> unread;
  if (find.has("hbm.tracker.max_live")) {
    results.tracker["max_live"] = find.highest("hbm.tracker.max_live");
  } else {
    unread.push_back("tracker.max_live");
  }
  for (const char* counter :
       {"grants_compute", "grants_communication", "grants_starved", "drains", "channels_at_limit_0",
        "channels_at_limit_5", "channels_at_limit_10", "channels_at_limit_30"}) {
    const std::string name = std::string("hbm.mca.") + counter;
    if (find.has(name)) {
      results.mca[counter] = find.sum(name);
    } else {
      unread.push_back(std::string("mca.") + counter);
    }
  }
  results.mca["steps"] = find.required("hbm.mca_steps");
  results.mca["held_atoms"] = find.required("hbm.held_atoms");
  results.mca["ordered_atoms"] = find.required("hbm.ordered_atoms");

  for (const std::string& one : unread)
    results.message += (&one == &unread.front() ? " (could not be read: " : ", ") + one;
  if (!unread.empty()) results.message += ")";

  std::string all;
  for (Node* node : nodes) all += node->digest();
  for (Host* host : parts.hosts) all += host->digest_hex();
  results.digest = sha256_hex(all.data(), all.size());
}

}  // namespace stretto
