// SPDX-License-Identifier: Apache-2.0
// The Verilated Tracker behind tracker_if.h. A step is one tick(). Pins of a port whose valid is
// low keep their last value.
#include "Vtracker.h"
#include "Vtracker___024root.h"
#include "platform/adapters/verilated_blocks.h"
#include "platform/adapters/verilated_clock.h"

namespace stretto {
namespace {

class VerilatedTracker final : public Tracker {
 public:
  explicit VerilatedTracker(WaveProbe* probe) : top_(&context_, "tracker"), clock_(top_, probe) {
    VerilatedTracker::reset();
  }
  ~VerilatedTracker() override { top_.final(); }

  void reset() override {
    top_.rst_i = 1;
    step(TrackerInputs());
    top_.rst_i = 0;
  }

  TrackerOutputs step(const TrackerInputs& in) override {
    drive(in);
    clock_.tick(in.cycle, [&] { drive(TrackerInputs()); });
    TrackerOutputs out;
    for (unsigned b = 0; b < kTrackerBanks; ++b) out.update_ready[b] = top_.update_ready_o >> b & 1;
    out.trigger_valid = top_.trigger_valid_o;
    out.trigger_event = top_.trigger_event_o;
    out.trigger_wg_id = top_.trigger_wg_id_o;
    out.trigger_wf_id = top_.trigger_wf_id_o;
    out.trigger_address = top_.trigger_address_o;
    out.spill_req_valid = top_.spill_req_valid_o;
    out.spill_req_write = top_.spill_req_write_o;
    out.spill_req_index = top_.spill_req_index_o;
    out.spill_req_data = top_.spill_req_data_o;
    out.idle = top_.idle_o;
    out.reg_rdata = top_.reg_rdata_o;
    return out;
  }

 private:
  void drive(const TrackerInputs& in) {
    drive_updates(in);
    top_.trigger_ready_i = in.trigger_ready;
    top_.spill_req_ready_i = in.spill_req_ready;
    top_.spill_rsp_valid_i = in.spill_rsp_valid;
    if (in.spill_rsp_valid) {
      top_.spill_rsp_write_i = in.spill_rsp_write;
      top_.spill_rsp_index_i = in.spill_rsp_index;
      top_.spill_rsp_data_i = in.spill_rsp_data;
    }
    top_.reg_we_i = in.reg.write;
    top_.reg_re_i = in.reg.read;
    if (in.reg.write || in.reg.read) {
      top_.reg_addr_i = in.reg.address;
      top_.reg_wdata_i = in.reg.wdata;
    }
  }

  void drive_updates(const TrackerInputs& in) {
    uint32_t valid = 0;
    for (unsigned b = 0; b < kTrackerBanks; ++b) valid |= uint32_t{in.update[b].valid} << b;
    top_.update_valid_i = static_cast<CData>(valid);
    if (valid == 0) return;
    uint64_t wg_id = 0;
    uint64_t count = 0;
    uint32_t wf_id = 0;
    for (unsigned b = 0; b < kTrackerBanks; ++b) {
      wg_id |= uint64_t{in.update[b].wg_id} << 16 * b;
      count |= uint64_t{in.update[b].count & 0x1fffu} << 13 * b;
      wf_id |= uint32_t{in.update[b].wf_id & 7u} << 3 * b;
    }
    top_.update_wg_id_i = wg_id;
    top_.update_count_i = count;
    top_.update_wf_id_i = static_cast<SData>(wf_id);
    // Addresses of 48 bits: a pair of banks fills three words of 32.
    for (unsigned pair = 0; pair < 2; ++pair) {
      const uint64_t even = in.update[2 * pair].address;
      const uint64_t odd = in.update[2 * pair + 1].address;
      top_.update_address_i[3 * pair] = static_cast<uint32_t>(even);
      top_.update_address_i[3 * pair + 1] =
          static_cast<uint32_t>((even >> 32 & 0xffff) | odd << 16);
      top_.update_address_i[3 * pair + 2] = static_cast<uint32_t>(odd >> 16);
    }
  }

  VerilatedContext context_;
  Vtracker top_;
  VerilatedClock<Vtracker> clock_;
};

}  // namespace

std::unique_ptr<Tracker> make_verilated_tracker(WaveProbe* probe) {
  return std::make_unique<VerilatedTracker>(probe);
}

}  // namespace stretto
