// SPDX-License-Identifier: Apache-2.0
// Both ends of a checked hop, scripted: a well-behaved initiator and target of which a test spoils
// one thing.
#ifndef STRETTO_TESTS_UNIT_COMMON_TLM_ENDS_H_
#define STRETTO_TESTS_UNIT_COMMON_TLM_ENDS_H_

#include <functional>

#include "models/common/payload_pool.h"
#include "models/common/tlm_checker.h"

namespace stretto::test {

using tlm::BEGIN_REQ;
using tlm::BEGIN_RESP;
using tlm::END_REQ;
using tlm::END_RESP;
using tlm::TLM_ACCEPTED;
using tlm::TLM_COMPLETED;
using tlm::TLM_UPDATED;
using Payload = tlm::tlm_generic_payload;
using Base = tlm::tlm_base_protocol_types;

// Answers of both ends; what is not set is never called in a test.
template <class Protocol>
struct Ends final : tlm::tlm_fw_transport_if<Protocol>, tlm::tlm_bw_transport_if<Protocol> {
  using Transport = std::function<tlm::tlm_sync_enum(Payload&, tlm::tlm_phase&, sc_core::sc_time&)>;
  Transport forward, backward;
  std::function<void(Payload&, sc_core::sc_time&)> blocking;
  std::function<bool(Payload&, tlm::tlm_dmi&)> dmi;
  std::function<unsigned(Payload&)> debug;

  tlm::tlm_sync_enum nb_transport_fw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return forward(payload, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(Payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return backward(payload, phase, delay);
  }
  void b_transport(Payload& payload, sc_core::sc_time& delay) override { blocking(payload, delay); }
  bool get_direct_mem_ptr(Payload& payload, tlm::tlm_dmi& granted) override {
    return dmi(payload, granted);
  }
  unsigned transport_dbg(Payload& payload) override { return debug(payload); }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

// A well-behaved initiator and target; a case spoils one thing. By default the target accepts at
// once (TLM_UPDATED, END_REQ) and the initiator answers BEGIN_RESP with TLM_COMPLETED.
template <class Protocol>
struct Bench {
  Bench() {
    ends.forward = [](Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
      if (phase == END_RESP) return TLM_COMPLETED;
      phase = END_REQ;
      return TLM_UPDATED;
    };
    ends.backward = [](Payload&, tlm::tlm_phase&, sc_core::sc_time&) { return TLM_COMPLETED; };
    ends.blocking = [](Payload& payload, sc_core::sc_time&) {
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
    };
  }

  PooledPayload& make(tlm::tlm_command command = tlm::TLM_WRITE_COMMAND) {
    PooledPayload& payload = pool.acquire();
    payload.set_command(command);
    payload.set_address(0x1000);
    payload.set_data_ptr(data);
    payload.set_data_length(sizeof data);
    payload.set_streaming_width(sizeof data);
    payload.set_byte_enable_length(0);
    payload.extension.operation =
        command == tlm::TLM_READ_COMMAND ? Operation::read : Operation::write;
    return payload;
  }
  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase phase, Time delay = 0) {
    sc_core::sc_time annotated = delay_of(delay);
    return checker.nb_transport_fw(payload, phase, annotated);
  }
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase phase, Time delay = 0) {
    sc_core::sc_time annotated = delay_of(delay);
    return checker.nb_transport_bw(payload, phase, annotated);
  }
  tlm::tlm_sync_enum request(Payload& payload) { return forward(payload, BEGIN_REQ); }
  tlm::tlm_sync_enum respond(Payload& payload, Time delay = 0) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return backward(payload, BEGIN_RESP, delay);
  }
  void block(Payload& payload, Time delay = 0) {
    sc_core::sc_time annotated = delay_of(delay);
    checker.b_transport(payload, annotated);
  }
  void target_returns(tlm::tlm_sync_enum status, tlm::tlm_phase becomes) {
    ends.forward = [=](Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
      phase = becomes;
      return status;
    };
  }
  // The target accepts and says nothing; END_REQ and END_RESP come as calls of their own.
  void all_four_phases() {
    const auto accept = [](Payload&, tlm::tlm_phase&, sc_core::sc_time&) { return TLM_ACCEPTED; };
    ends.forward = accept;
    ends.backward = accept;
  }
  uint64_t open() const { return checker.hop().begun() - checker.hop().ended(); }

  EventQueue queue;
  Ends<Protocol> ends;
  TlmChecker<Protocol> checker{sc_core::sc_gen_unique_name("checker"), "from -> to", ends, ends,
                               queue};
  PayloadPool pool;
  unsigned char data[64] = {};
  unsigned char enables[8] = {};
};

struct NoManager final : tlm::tlm_mm_interface {
  void free(Payload*) override {}
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_COMMON_TLM_ENDS_H_
