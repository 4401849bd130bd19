// SPDX-License-Identifier: Apache-2.0
// The Verilated request ring behind request_ring_if.h.
#include "Vrequest_ring.h"
#include "Vrequest_ring___024root.h"
#include "platform/adapters/rtl_blocks.h"
#include "platform/adapters/verilated_block.h"

namespace stretto {
namespace {

struct RequestRingPins {
  static void drive(Vrequest_ring& top, const RequestRingInputs& in) {
    top.sr_valid_i = in.sr_valid;
    if (in.sr_valid) top.sr_data_i = in.sr_data;
    top.issue_ready_i = in.issue_ready;
    top.done_valid_i = in.done_valid;
    if (in.done_valid) {
      top.done_tag_i = in.done_tag & 0xfff;
      top.done_failed_i = in.done_failed;
    }
    top.write_ready_i = in.write_ready;
  }

  static RequestRingInputs quiet(const RequestRingInputs&) { return {}; }

  static RequestRingOutputs sample(const Vrequest_ring& top) {
    RequestRingOutputs out;
    out.issue_valid = top.issue_valid_o;
    out.issue_tag = top.issue_tag_o;
    out.issue_read = top.issue_read_o;
    out.issue_source = top.issue_source_o;
    out.issue_destination = top.issue_destination_o;
    out.issue_bytes = top.issue_bytes_o;
    out.write_valid = top.write_valid_o;
    out.write_kind = top.write_kind_o;
    out.write_tag = top.write_tag_o;
    out.write_address = top.write_address_o;
    out.write_data = top.write_data_o;
    out.pop = top.pop_o;
    out.refuse = top.refuse_o;
    out.accept = top.accept_o;
    out.judged = top.judged_o;
    out.drop = top.drop_o;
    out.retire = top.retire_o;
    out.retire_tag = top.retire_tag_o;
    out.irq = top.irq_o;
    out.busy = top.busy_o;
    out.idle = top.idle_o;
    out.reg_rdata = top.reg_rdata_o;
    return out;
  }

  template <class Root>
  static std::optional<RequestRingSnapshot> read_state(const Root& root) {
    if constexpr (requires {
                    root.request_ring__DOT__level_q;
                    root.request_ring__DOT__in_flight_q;
                  }) {
      return RequestRingSnapshot{
          .level = static_cast<uint16_t>(root.request_ring__DOT__level_q),
          .in_flight = static_cast<uint16_t>(root.request_ring__DOT__in_flight_q)};
    } else {
      return std::nullopt;
    }
  }
};

}  // namespace

std::unique_ptr<RequestRing> make_verilated_request_ring(WaveProbe* probe) {
  return std::make_unique<VerilatedBlock<RequestRing, Vrequest_ring, RequestRingPins>>(
      "request_ring", probe);
}

}  // namespace stretto
