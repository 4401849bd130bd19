// SPDX-License-Identifier: Apache-2.0
// What an operation between two servers takes, part by part, from what programs and NICs have noted.
#ifndef STRETTO_PLATFORM_KINDS_ONE_SIDED_OPERATION_LOG_H_
#define STRETTO_PLATFORM_KINDS_ONE_SIDED_OPERATION_LOG_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "models/common/event_queue.h"
#include "models/nic/nic_moment.h"

namespace stretto {

// Parts, one ends where the next begins: together they are the latency.
//   of a host program  post         it writes entry and doorbell
//                      doorbell     the doorbell comes to the NIC
//   of a work-group    enqueue      it writes the entry of its queue
//                      detect       a hart of the command processor finds that
//                      service      it writes the NIC's entry and doorbell, until that comes to the NIC
//   of both            fetch        the NIC reads its entry
//                      local_read   it reads the data of a put, until the first packet leaves
//                      outward      until the last packet (of a get the only one) is at the other NIC
//                      remote       that one reads the first data of a get, or writes those of a put until
//                                   they can be seen
//                      homeward     until the last packet of the answer is back
//                      local_write  data of a get are written until they can be seen
//                      completion   the completion is written, and who has asked finds it
using OperationParts = std::vector<Time>;

// Of who asks; 0: has not come.
struct AskerMoments {
  Time call = 0;
  Time posted = 0;  // Its entry is written, of a host program with its doorbell.
  Time taken = 0;   // Of a work-group: a hart has found that.
  Time noticed = 0;
};

// Of all servers. Programs write host(), each NIC the list of its server.
class OperationLog {
 public:
  OperationLog(uint32_t servers, bool by_kernels)
      : by_kernels_(by_kernels), nics_(servers), askers_(servers) {}

  std::vector<std::string> part_names() const;
  AskerMoments& asker(uint32_t server, uint64_t id) { return askers_[server][id]; }
  void add(uint32_t server, const NicMoment& moment) { nics_[server].push_back(moment); }

  // After the run: sorts what was noted.
  void close();
  // How many operations the NIC of a server has begun from queue pair `first_pair` on, and how many
  // of them are of their own.
  std::pair<uint64_t, uint64_t> begun(uint32_t server, uint16_t first_pair) const;
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

  const bool by_kernels_;
  std::vector<std::vector<NicMoment>> nics_;
  std::vector<std::map<uint64_t, AskerMoments>> askers_;
  std::vector<std::map<uint64_t, Seen>> seen_;
  std::map<Packet, Time> first_;  // At the other NIC.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_ONE_SIDED_OPERATION_LOG_H_
