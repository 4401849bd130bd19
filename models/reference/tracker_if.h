// SPDX-License-Identifier: Apache-2.0
// Interface of the Tracker, one per GPU, used by the memory side, the adapters and the reference
// model. T3 4.2.1 (T3-TRK-01..13), overflow by spilling.
//
// Four banks (bank = wg_id[1:0]) each take at most one update a cycle; set = wg_id[7:0], tag =
// {wg_id[15:8], wf_id}. A channel joins successive updates of one (wg, wf) before it presents them.
// `count` is in half-words (2 B units) written; a slot's counter counts the same unit up to the
// threshold that firmware programmed for the tile's class and wavefront. When the counter reaches
// the threshold the slot is freed and a trigger goes out; for ids of the interval in register
// `event` it is marked as a scheduling event (T3-AGC-01). A full set spills its oldest slot to the
// table that firmware reserved in GPU memory: entry index wg_id * 8 + wf_id, 8 bytes {valid [63],
// counter [62:48], address [47:0]} (valid clear = never spilled). A miss in a set that has spilled
// slots reads the entry first (and writes it back invalid when it was valid). No update waits for a
// slot to be freed by other updates; it waits for memory responses only, and spill traffic never
// depends on the Tracker.
//
// One step() is one memory clock: inputs sampled by the edge, outputs registered. update_ready[b]
// after edge k says that an update presented at edge k + 1 is taken; an update presented while not
// ready is ignored (the sender holds it). A request on the spill port is taken at the edge at which
// spill_req_valid (output) and spill_req_ready (next input) are both high; so is a trigger with
// trigger_ready. Responses to reads come in any order and carry the index; every write is also
// answered. No index has two transactions outstanding. Updates to one tile may be counted in
// another order than they came: their sum and minimum do not depend on it.
#ifndef STRETTO_MODELS_REFERENCE_TRACKER_IF_H_
#define STRETTO_MODELS_REFERENCE_TRACKER_IF_H_

#include <array>
#include <cstdint>
#include <string>

#include "models/reference/block.h"

namespace stretto {

inline constexpr unsigned kTrackerSets = 256;
inline constexpr unsigned kTrackerMaxWays = 8;
inline constexpr unsigned kTrackerBanks = 4;
inline constexpr unsigned kTrackerSlotBits = 76;
inline constexpr unsigned kTrackerWgBits = 16;
inline constexpr unsigned kTrackerWfBits = 3;

struct TrackerUpdate {
  bool valid = false;
  uint16_t wg_id = 0;    // Output tile, in the order of the kernel.
  uint8_t wf_id = 0;     // 0..7.
  uint16_t count = 0;    // Half-words written, 1..4096.
  uint64_t address = 0;  // Lowest address of the joined updates, 48 bits.

  bool operator==(const TrackerUpdate&) const = default;
};

struct TrackerInputs {
  uint64_t cycle = 0;
  std::array<TrackerUpdate, kTrackerBanks> update;
  bool trigger_ready = true;
  bool spill_req_ready = true;
  bool spill_rsp_valid = false;
  uint32_t spill_rsp_index = 0;  // wg_id * 8 + wf_id, 19 bits.
  uint64_t spill_rsp_data = 0;   // Of a read; 0 for a write.
  bool spill_rsp_write = false;  // The response answers a write.
  RegisterPort reg;

  bool operator==(const TrackerInputs&) const = default;
};

struct TrackerOutputs {
  std::array<bool, kTrackerBanks> update_ready{true, true, true, true};
  bool trigger_valid = false;
  bool trigger_event = false;  // A work-group scheduling event instead of a DMA (T3-AGC-01).
  uint16_t trigger_wg_id = 0;
  uint8_t trigger_wf_id = 0;
  uint64_t trigger_address = 0;  // Start (smallest address) of the wavefront's output.
  bool spill_req_valid = false;
  bool spill_req_write = false;
  uint32_t spill_req_index = 0;
  uint64_t spill_req_data = 0;
  bool idle = true;
  uint64_t reg_rdata = 0;

  bool operator==(const TrackerOutputs&) const = default;
};

struct TrackerSnapshot {
  uint32_t max_live = 0;  // Most tiles with a slot or a spilled entry at once.

  bool operator==(const TrackerSnapshot&) const = default;
};

// For reports: add(name, value) for each pin in use.
template <class Add>
void list_pins(const TrackerInputs& in, Add add) {
  for (unsigned b = 0; b < kTrackerBanks; ++b) {
    const TrackerUpdate& u = in.update[b];
    if (!u.valid) continue;
    const std::string bank = "update[" + std::to_string(b) + "].";
    add(bank + "wg_id", u.wg_id);
    add(bank + "wf_id", u.wf_id);
    add(bank + "count", u.count);
    add(bank + "address", u.address);
  }
  add("trigger_ready", in.trigger_ready);
  add("spill_req_ready", in.spill_req_ready);
  if (in.spill_rsp_valid) {
    add("spill_rsp_valid", 1);
    add("spill_rsp_index", in.spill_rsp_index);
    add("spill_rsp_data", in.spill_rsp_data);
    add("spill_rsp_write", in.spill_rsp_write);
  }
  list_pins(in.reg, add);
}

template <class Add>
void list_pins(const TrackerOutputs& out, Add add) {
  for (unsigned b = 0; b < kTrackerBanks; ++b)
    add("update_ready[" + std::to_string(b) + "]", out.update_ready[b]);
  add("trigger_valid", out.trigger_valid);
  add("trigger_event", out.trigger_event);
  add("trigger_wg_id", out.trigger_wg_id);
  add("trigger_wf_id", out.trigger_wf_id);
  add("trigger_address", out.trigger_address);
  add("spill_req_valid", out.spill_req_valid);
  add("spill_req_write", out.spill_req_write);
  add("spill_req_index", out.spill_req_index);
  add("spill_req_data", out.spill_req_data);
  add("idle", out.idle);
  add("reg_rdata", out.reg_rdata);
}

class Tracker : public Block<TrackerInputs, TrackerOutputs, TrackerSnapshot> {};

}  // namespace stretto

#endif  // STRETTO_MODELS_REFERENCE_TRACKER_IF_H_
