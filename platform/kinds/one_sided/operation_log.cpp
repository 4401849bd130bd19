// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/one_sided/operation_log.h"

#include <algorithm>
#include <utility>

namespace stretto {

std::vector<std::string> OperationLog::part_names() const {
  std::vector<std::string> names = {"post", "doorbell"};
  if (by_kernels_) names = {"enqueue", "detect", "service"};
  for (const char* const name :
       {"fetch", "local_read", "outward", "remote", "homeward", "local_write", "completion"})
    names.push_back(name);
  return names;
}

std::pair<uint64_t, uint64_t> OperationLog::begun(uint32_t server, uint16_t first_pair) const {
  uint64_t count = 0;
  std::set<std::pair<uint16_t, uint64_t>> ids;
  for (const NicMoment& one : nics_[server]) {
    if (one.event != NicMoment::Event::entry || one.pair < first_pair) continue;
    ++count;
    ids.insert({one.pair, one.id});
  }
  return {count, ids.size()};
}

void OperationLog::close() {
  using Event = NicMoment::Event;
  seen_.assign(nics_.size(), {});
  first_.clear();
  for (size_t server = 0; server < nics_.size(); ++server) {
    std::map<uint16_t, Time> doorbell;  // By pair: the last one.
    std::map<uint16_t, Seen*> current;  // The operation that has begun last.
    for (const NicMoment& one : nics_[server]) {
      Seen* const open = current.contains(one.pair) ? current[one.pair] : nullptr;
      switch (one.event) {
        case Event::doorbell: doorbell[one.pair] = one.at; break;
        case Event::entry:
          current[one.pair] = &(seen_[server][one.id] = {.node = one.node,
                                                         .pair = one.pair,
                                                         .doorbell = doorbell[one.pair],
                                                         .entry = one.at});
          break;
        case Event::end:
          if (open != nullptr) open->end = one.at;
          break;
        case Event::request_out:
          if (open == nullptr || open->out != 0) break;
          open->out = one.at;
          open->number = one.number;
          break;
        case Event::answer_in:
          if (open != nullptr && open->end == 0) open->back = one.at;
          break;
        case Event::request_in:
        case Event::answer_out:
          first_.try_emplace({one.event, one.node, one.pair, one.number}, one.at);
      }
    }
  }
}

std::optional<OperationParts> OperationLog::parts(uint32_t server, uint64_t id, bool is_get,
                                                  uint32_t packets) const {
  const auto asker = askers_[server].find(id);
  const auto found = seen_[server].find(id);
  if (asker == askers_[server].end() || found == seen_[server].end()) return std::nullopt;
  const Seen& seen = found->second;
  // What the other NIC waits for, and what it says then: data of a get begin with the first.
  const uint32_t number = is_get ? seen.number : seen.number + packets - 1;
  const auto in = first_.find({NicMoment::Event::request_in, seen.node, seen.pair, number});
  const auto answer = first_.find({NicMoment::Event::answer_out, seen.node, seen.pair, number});
  if (in == first_.end() || answer == first_.end()) return std::nullopt;
  std::vector<Time> at = {asker->second.call, asker->second.posted};
  if (by_kernels_) at.push_back(asker->second.taken);
  for (const Time when : {seen.doorbell, seen.entry, seen.out, in->second, answer->second,
                          seen.back, seen.end, asker->second.noticed})
    at.push_back(when);
  if (!std::is_sorted(at.begin(), at.end()) || at.front() == 0) return std::nullopt;
  OperationParts parts;
  for (size_t part = 0; part + 1 < at.size(); ++part) parts.push_back(at[part + 1] - at[part]);
  return parts;
}

}  // namespace stretto
