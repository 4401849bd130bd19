// SPDX-License-Identifier: Apache-2.0
// The Verilated Tracker behind tracker_if.h.
#include "Vtracker.h"
#include "Vtracker___024root.h"
#include "platform/adapters/rtl_blocks.h"
#include "platform/adapters/verilated_block.h"

namespace stretto {
namespace {

struct TrackerPins {
  static void drive(Vtracker& top, const TrackerInputs& in) {
    drive_updates(top, in);
    top.trigger_ready_i = in.trigger_ready;
    top.spill_req_ready_i = in.spill_req_ready;
    top.spill_rsp_valid_i = in.spill_rsp_valid;
    if (in.spill_rsp_valid) {
      top.spill_rsp_write_i = in.spill_rsp_write;
      top.spill_rsp_index_i = in.spill_rsp_index;
      top.spill_rsp_data_i = in.spill_rsp_data;
    }
  }

  static void drive_updates(Vtracker& top, const TrackerInputs& in) {
    uint32_t valid = 0;
    for (unsigned b = 0; b < kTrackerBanks; ++b) valid |= uint32_t{in.update[b].valid} << b;
    top.update_valid_i = static_cast<CData>(valid);
    if (valid == 0) return;
    uint64_t wg_id = 0;
    uint64_t count = 0;
    uint32_t wf_id = 0;
    for (unsigned b = 0; b < kTrackerBanks; ++b) {
      wg_id |= uint64_t{in.update[b].wg_id} << 16 * b;
      count |= uint64_t{in.update[b].count & 0x1fffu} << 13 * b;
      wf_id |= uint32_t{in.update[b].wf_id & 7u} << 3 * b;
    }
    top.update_wg_id_i = wg_id;
    top.update_count_i = count;
    top.update_wf_id_i = static_cast<SData>(wf_id);
    // Addresses of 48 bits: a pair of banks fills three words of 32.
    for (unsigned pair = 0; pair < 2; ++pair) {
      const uint64_t even = in.update[2 * pair].address;
      const uint64_t odd = in.update[2 * pair + 1].address;
      top.update_address_i[3 * pair] = static_cast<uint32_t>(even);
      top.update_address_i[3 * pair + 1] = static_cast<uint32_t>((even >> 32 & 0xffff) | odd << 16);
      top.update_address_i[3 * pair + 2] = static_cast<uint32_t>(odd >> 16);
    }
  }

  static TrackerInputs quiet(const TrackerInputs&) { return {}; }

  static TrackerOutputs sample(const Vtracker& top) {
    TrackerOutputs out;
    for (unsigned b = 0; b < kTrackerBanks; ++b) out.update_ready[b] = top.update_ready_o >> b & 1;
    out.trigger_valid = top.trigger_valid_o;
    out.trigger_event = top.trigger_event_o;
    out.trigger_wg_id = top.trigger_wg_id_o;
    out.trigger_wf_id = top.trigger_wf_id_o;
    out.trigger_address = top.trigger_address_o;
    out.spill_req_valid = top.spill_req_valid_o;
    out.spill_req_write = top.spill_req_write_o;
    out.spill_req_index = top.spill_req_index_o;
    out.spill_req_data = top.spill_req_data_o;
    out.idle = top.idle_o;
    out.reg_rdata = top.reg_rdata_o;
    return out;
  }

  template <class Root>
  static std::optional<TrackerSnapshot> read_state(const Root& root) {
    if constexpr (requires { root.tracker__DOT__max_live_q; }) {
      return TrackerSnapshot{.max_live = root.tracker__DOT__max_live_q};
    } else {
      return std::nullopt;
    }
  }
};

}  // namespace

std::unique_ptr<Tracker> make_verilated_tracker(WaveProbe* probe) {
  return std::make_unique<VerilatedBlock<Tracker, Vtracker, TrackerPins>>("tracker", probe);
}

}  // namespace stretto
