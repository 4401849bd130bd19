// SPDX-License-Identifier: Apache-2.0
// The Verilated request ring behind request_ring_if.h. A step is one tick(). Pins of a port whose
// valid is low keep their last value.
#include "Vrequest_ring.h"
#include "Vrequest_ring___024root.h"
#include "platform/adapters/verilated_blocks.h"
#include "platform/adapters/verilated_clock.h"

namespace stretto {
namespace {

class VerilatedRequestRing final : public RequestRing {
 public:
  explicit VerilatedRequestRing(WaveProbe* probe)
      : top_(&context_, "request_ring"), clock_(top_, probe) {
    VerilatedRequestRing::reset();
  }
  ~VerilatedRequestRing() override { top_.final(); }

  void reset() override {
    top_.rst_i = 1;
    step(RequestRingInputs());
    top_.rst_i = 0;
  }

  RequestRingOutputs step(const RequestRingInputs& in) override {
    drive(in);
    clock_.tick(in.cycle, [&] { drive(RequestRingInputs()); });
    RequestRingOutputs out;
    out.issue_valid = top_.issue_valid_o;
    out.issue_tag = top_.issue_tag_o;
    out.issue_read = top_.issue_read_o;
    out.issue_source = top_.issue_source_o;
    out.issue_destination = top_.issue_destination_o;
    out.issue_bytes = top_.issue_bytes_o;
    out.write_valid = top_.write_valid_o;
    out.write_kind = top_.write_kind_o;
    out.write_tag = top_.write_tag_o;
    out.write_address = top_.write_address_o;
    out.write_data = top_.write_data_o;
    out.pop = top_.pop_o;
    out.refuse = top_.refuse_o;
    out.accept = top_.accept_o;
    out.judged = top_.judged_o;
    out.drop = top_.drop_o;
    out.retire = top_.retire_o;
    out.retire_tag = top_.retire_tag_o;
    out.irq = top_.irq_o;
    out.busy = top_.busy_o;
    out.idle = top_.idle_o;
    out.reg_rdata = top_.reg_rdata_o;
    return out;
  }

 private:
  void drive(const RequestRingInputs& in) {
    top_.sr_valid_i = in.sr_valid;
    if (in.sr_valid) top_.sr_data_i = in.sr_data;
    top_.issue_ready_i = in.issue_ready;
    top_.done_valid_i = in.done_valid;
    if (in.done_valid) {
      top_.done_tag_i = in.done_tag & 0xfff;
      top_.done_failed_i = in.done_failed;
    }
    top_.write_ready_i = in.write_ready;
    top_.reg_we_i = in.reg.write;
    top_.reg_re_i = in.reg.read;
    if (in.reg.write || in.reg.read) {
      top_.reg_addr_i = in.reg.address;
      top_.reg_wdata_i = in.reg.wdata;
    }
  }

  VerilatedContext context_;
  Vrequest_ring top_;
  VerilatedClock<Vrequest_ring> clock_;
};

}  // namespace

std::unique_ptr<RequestRing> make_verilated_request_ring(WaveProbe* probe) {
  return std::make_unique<VerilatedRequestRing>(probe);
}

}  // namespace stretto
