// SPDX-License-Identifier: Apache-2.0
// What happens to operations at a NIC, for those who measure.
#ifndef STRETTO_MODELS_NIC_NIC_MOMENT_H_
#define STRETTO_MODELS_NIC_NIC_MOMENT_H_

#include <cstdint>
#include <functional>

#include "models/common/event_queue.h"

namespace stretto {

struct NicMoment {
  enum class Event : uint8_t {
    doorbell,     // A doorbell for work entries was heard; number: entries so far.
    entry,        // The NIC has the work entry; id.
    end,          // The operation has ended, its completion leaves; id.
    request_out,  // A packet of the operation leaves for the network,
    request_in,   // has arrived at the other NIC;
    answer_out,   // a packet of its answer leaves there,
    answer_in,    // has arrived.
  };
  Event event;
  uint8_t node = 0;   // NIC of the operation's queue pair.
  uint16_t pair = 0;  // The queue pair.
  uint32_t number =
      0;  // Of the packet in the queue pair; acknowledgements: of the last one that they answer.
  uint64_t id = 0;  // Of the work entry.
  Time at = 0;
  // End: the operation polls, it has brought once more what the last one from there had.
  bool polls = false;
  uint8_t opcode = 0, peer = 0;  // Peer: node of the other NIC.
  uint64_t address = 0, value = 0;
};

// Called inside the partition of the NIC; datagrams and refusals are left out.
using NicWatch = std::function<void(const NicMoment& moment)>;

}  // namespace stretto

#endif  // STRETTO_MODELS_NIC_NIC_MOMENT_H_
