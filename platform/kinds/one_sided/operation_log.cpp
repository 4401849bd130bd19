// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/one_sided/operation_log.h"

#include <algorithm>
#include <utility>

namespace stretto {

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
  const auto host = hosts_[server].find(id);
  const auto found = seen_[server].find(id);
  if (host == hosts_[server].end() || found == seen_[server].end()) return std::nullopt;
  const Seen& seen = found->second;
  // What the other NIC waits for, and what it says then: data of a get begin with the first.
  const uint32_t number = is_get ? seen.number : seen.number + packets - 1;
  const auto in = first_.find({NicMoment::Event::request_in, seen.node, seen.pair, number});
  const auto answer = first_.find({NicMoment::Event::answer_out, seen.node, seen.pair, number});
  if (in == first_.end() || answer == first_.end()) return std::nullopt;
  const std::array<Time, kOperationParts + 1> at = {
      host->second.call, host->second.posted, seen.doorbell, seen.entry, seen.out,
      in->second,        answer->second,      seen.back,     seen.end,   host->second.noticed};
  if (!std::is_sorted(at.begin(), at.end()) || at.front() == 0) return std::nullopt;
  OperationParts parts;
  for (unsigned part = 0; part < kOperationParts; ++part) parts[part] = at[part + 1] - at[part];
  return parts;
}

}  // namespace stretto
