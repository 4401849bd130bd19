// SPDX-License-Identifier: Apache-2.0
// What the parts of one NIC share.
#ifndef STRETTO_MODELS_NIC_NIC_CONTEXT_H_
#define STRETTO_MODELS_NIC_NIC_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "models/common/component.h"
#include "models/nic/bus_master.h"
#include "models/nic/memory_regions.h"
#include "models/nic/nic_moment.h"
#include "models/nic/nic_spec.h"
#include "models/nic/rings.h"

namespace stretto {

class Transmitter;
class AtomicUnit;

// Bytes are data of operations, without headers.
struct NicCounters {
  uint64_t begun = 0;  // Operations,
  uint64_t ended = 0;
  uint64_t failed = 0;       // of these,
  uint64_t abandoned = 0;    // and those that ended without a status, with their queue pair.
  uint64_t ended_bytes = 0;  // Of operations that succeeded, but for datagrams.
  uint64_t atomics_ended = 0;
  uint64_t owed = 0;  // Completions of operations and receives.
  uint64_t timeouts = 0;
  uint64_t sent_again = 0;  // Packets.
  uint64_t packets_sent = 0;
  uint64_t bytes_sent = 0;
  uint64_t packets_unsent = 0;  // Behind fault.down_at_ns.
  uint64_t packets_received = 0;
  uint64_t bytes_received = 0;
  uint64_t packets_lost = 0;
  uint64_t bytes_lost = 0;
  uint64_t bytes_placed = 0;
  uint64_t datagram_bytes = 0;   // Of these, of datagrams.
  uint64_t bytes_discarded = 0;  // Seen before, out of sequence, refused, for nobody.
  uint64_t duplicates = 0;       // Packets,
  uint64_t out_of_sequence = 0;
  uint64_t not_ready = 0;  // Sends and datagrams without a receive entry.
  uint64_t refused = 0;    // Requests.
  uint64_t atomics_done = 0;
  uint64_t doorbells = 0;
  uint64_t doorbells_refused = 0;
  uint64_t overflows = 0;  // Doorbells beyond their ring.
};

// Of a queue pair, as the registers say.
struct QueuePairConfig {
  uint16_t number = 0;
  uint64_t send_base = 0;
  uint64_t receive_base = 0;
  uint32_t send_entries = 1;
  uint32_t receive_entries = 1;
  uint16_t send_completion = 0;
  uint16_t receive_completion = 0;
  uint8_t page = 0;
  uint8_t peer_node = 0;
  uint16_t peer = 0;
};

enum class PairState : uint8_t { reset, ready, error };

// What requester and responder of a queue pair share.
struct QueuePairStatus {
  QueuePairConfig config;
  PairState state = PairState::reset;
  std::function<void()> fail;  // Into error, with everything that it has under way.
};

struct NicContext {
  const NicSpec& spec;
  PartitionServices& services;
  const uint8_t node;
  LaterCalls& later;
  BusMaster& bus;
  MemoryRegions& regions;
  CompletionQueues& completions;
  Transmitter& transmitter;
  AtomicUnit& atomics;
  NicCounters& counters;
  NicWatch watch = {};  // Null: nobody measures.

  void tell(NicMoment moment) const {
    if (!watch) return;
    moment.at = now();
    watch(moment);
  }
  Time now() const { return later.now(); }
  void after_ns(uint64_t ns, std::function<void()> call) {
    later.at(now() + ns * kNanosecond, std::move(call));
  }
  // The send or receive ring of `pair`, whose errors put the pair into error.
  WorkRing work_ring(QueuePairStatus& pair, WorkRing::OnEntry on_entry) {
    return WorkRing(later, bus,
                    {.doorbell_ns = spec.doorbell_ns,
                     .decode_ns = spec.send_ns,
                     .fetch_entries = spec.fetch_entries,
                     .held = spec.operations},
                    std::move(on_entry), [this, &pair](WorkRing::Error error) {
                      if (error == WorkRing::Error::beyond) ++counters.overflows;
                      pair.fail();
                    });
  }
};

}  // namespace stretto

#endif  // STRETTO_MODELS_NIC_NIC_CONTEXT_H_
