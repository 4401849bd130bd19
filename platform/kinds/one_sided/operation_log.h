// SPDX-License-Identifier: Apache-2.0
// What an operation between two servers takes, part by part, from what programs and NICs have noted.
#ifndef STRETTO_PLATFORM_KINDS_ONE_SIDED_OPERATION_LOG_H_
#define STRETTO_PLATFORM_KINDS_ONE_SIDED_OPERATION_LOG_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "models/common/event_queue.h"
#include "models/nic/nic_moment.h"

namespace stretto {

// One ends where the next begins: together they are the latency.
enum OperationPart : unsigned {
  kPost,       // The program writes entry and doorbell.
  kDoorbell,   // The doorbell comes to the NIC.
  kFetch,      // The NIC reads the entry.
  kLocalRead,  // It reads the data of a put, until the first packet leaves.
  kOutward,    // Until the last packet (of a get the only one) is at the other NIC.
  kRemote,  // That one reads the first data of a get, or writes those of a put until they can be seen.
  kHomeward,    // Until the last packet of the answer is back.
  kLocalWrite,  // Data of a get are written until they can be seen.
  kCompletion,  // The completion is written, and the program finds it.
  kOperationParts,
};
inline constexpr std::array<const char*, kOperationParts> kOperationPartNames = {
    "post",   "doorbell", "fetch",       "local_read", "outward",
    "remote", "homeward", "local_write", "completion"};

using OperationParts = std::array<Time, kOperationParts>;

// At the host; 0: has not come.
struct HostMoments {
  Time call = 0, posted = 0, noticed = 0;
};

// Of all servers. Programs write host(), each NIC the list of its server.
class OperationLog {
 public:
  explicit OperationLog(uint32_t servers) : nics_(servers), hosts_(servers) {}

  HostMoments& host(uint32_t server, uint64_t id) { return hosts_[server][id]; }
  void add(uint32_t server, const NicMoment& moment) { nics_[server].push_back(moment); }

  // After the run: sorts what was noted.
  void close();
  // Of operation `id` of a server, alone on its queue pair; `packets` of data. Null: it has not ended, or what was noted
  // is not in order.
  std::optional<OperationParts> parts(uint32_t server, uint64_t id, bool is_get,
                                      uint32_t packets) const;

 private:
  // As its own NIC saw it.
  struct Seen {
    uint8_t node = 0;
    uint16_t pair = 0;
    uint32_t number = 0;  // Of its first packet.
    Time doorbell = 0, entry = 0, out = 0, back = 0, end = 0;
  };
  using Packet = std::tuple<NicMoment::Event, uint8_t, uint16_t, uint32_t>;  // Node, pair, number.

  std::vector<std::vector<NicMoment>> nics_;
  std::vector<std::map<uint64_t, HostMoments>> hosts_;
  std::vector<std::map<uint64_t, Seen>> seen_;
  std::map<Packet, Time> first_;  // At the other NIC.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_ONE_SIDED_OPERATION_LOG_H_
