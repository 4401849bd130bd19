// SPDX-License-Identifier: Apache-2.0
// Question: does the protocol checker stop each kind of illegal exchange with the rule that forbids
// it? For each rule of tlm_rules() there is at least one misbehaving initiator or target; a rule
// without one fails the test. Clauses are those of IEEE 1666-2011.
#include "models/common/tlm_rules.h"

#include <catch2/catch.hpp>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "models/common/error.h"
#include "tests/unit/common/tlm_ends.h"

namespace stretto {
namespace {

using namespace test;

// One misbehaviour a line

struct Misbehaviour {
  TlmRule rule;
  const char* what;
  std::function<void()> run;
};

// A request of the initiator, spoilt before it is sent.
template <class Protocol>
Misbehaviour bad_request(TlmRule rule, const char* what,
                         std::function<void(Bench<Protocol>&, PooledPayload&)> spoil) {
  return {rule, what, [spoil] {
            Bench<Protocol> bench;
            PooledPayload& payload = bench.make();
            spoil(bench, payload);
            bench.request(payload);
          }};
}

// Something is done to the payload between request and response.
template <class Protocol>
Misbehaviour bad_flight(TlmRule rule, const char* what,
                        std::function<void(Bench<Protocol>&, PooledPayload&)> spoil) {
  return {rule, what, [spoil] {
            Bench<Protocol> bench;
            PooledPayload& payload = bench.make();
            bench.request(payload);
            spoil(bench, payload);
            bench.respond(payload);
          }};
}

template <class Protocol>
Misbehaviour bad(TlmRule rule, const char* what,
                 std::function<void(Bench<Protocol>&, PooledPayload&)> act) {
  return {rule, what, [act] {
            Bench<Protocol> bench;
            act(bench, bench.make());
          }};
}

using B = Bench<Base>;
using M = Bench<StrettoProtocol>;
using P = PooledPayload;
using R = TlmRule;

std::vector<Misbehaviour> of_requests() {
  return {
      bad<Base>(R::memory_manager, "a payload of the stack in nb_transport",
                [](B& bench, P&) {
                  Payload payload;
                  bench.request(payload);
                }),
      bad<Base>(R::reference_count, "nobody holds the payload",
                [](B& bench, P&) {
                  NoManager manager;
                  Payload payload(&manager);
                  bench.request(payload);
                }),
      bad<Base>(R::reference_count, "b_transport of a freed payload",
                [](B& bench, P& payload) {
                  payload.release();
                  bench.block(payload);
                }),
      bad_request<Base>(R::status_reset, "the status of the last use",
                        [](B&, P& p) { p.set_response_status(tlm::TLM_OK_RESPONSE); }),
      bad_request<Base>(R::dmi_reset, "the DMI hint of the last use",
                        [](B&, P& p) { p.set_dmi_allowed(true); }),
      bad_request<Base>(R::option, "gp_option is set",
                        [](B&, P& p) { p.set_gp_option(tlm::TLM_FULL_PAYLOAD); }),
      bad_request<Base>(R::command, "no such command",
                        [](B&, P& p) { p.set_command(static_cast<tlm::tlm_command>(7)); }),
      bad_request<Base>(R::data_pointer, "no data", [](B&, P& p) { p.set_data_ptr(nullptr); }),
      bad_request<Base>(R::data_pointer, "tags_only does not count on the peripheral bus",
                        [](B&, P& p) {
                          p.set_data_ptr(nullptr);
                          p.extension.tags_only = true;
                        }),
      bad_request<StrettoProtocol>(R::data_pointer, "no data on the memory side",
                                   [](M&, P& p) { p.set_data_ptr(nullptr); }),
      bad_request<Base>(R::data_length, "0 bytes", [](B&, P& p) { p.set_data_length(0); }),
      bad_request<Base>(R::byte_enables, "byte enables without length",
                        [](B& b, P& p) { p.set_byte_enable_ptr(b.enables); }),
      bad_request<Base>(R::streaming_width, "width 0", [](B&, P& p) { p.set_streaming_width(0); }),
      bad_request<StrettoProtocol>(R::operation, "a read that travels as a write",
                                   [](M&, P& p) { p.extension.operation = Operation::read; }),
      bad_request<StrettoProtocol>(R::operation, "an ignore command",
                                   [](M&, P& p) { p.set_command(tlm::TLM_IGNORE_COMMAND); }),
      bad_request<StrettoProtocol>(R::rows, "no rows", [](M&, P& p) { p.extension.rows = 0; }),
      bad_request<StrettoProtocol>(R::rows, "rows that are not the data",
                                   [](M&, P& p) {
                                     p.extension.rows = 3;
                                     p.extension.row_bytes = 16;
                                   }),
      bad_request<StrettoProtocol>(R::streaming, "a streaming burst",
                                   [](M&, P& p) { p.set_streaming_width(8); }),
      bad<StrettoProtocol>(R::extension, "a payload without extension",
                           [](M& bench, P&) {
                             NoManager manager;
                             Payload payload(&manager);
                             payload.acquire();
                             payload.set_write();
                             payload.set_data_ptr(bench.data);
                             payload.set_data_length(8);
                             payload.set_streaming_width(8);
                             bench.request(payload);
                           }),
  };
}

std::vector<Misbehaviour> of_phases() {
  return {
      bad<Base>(R::phase_direction, "the initiator sends END_REQ",
                [](B& bench, P& p) { bench.forward(p, END_REQ); }),
      bad<Base>(R::phase_direction, "the target sends BEGIN_REQ",
                [](B& bench, P& p) { bench.backward(p, BEGIN_REQ); }),
      bad<Base>(R::phase_direction, "the target returns END_RESP",
                [](B& bench, P& p) {
                  bench.target_returns(TLM_UPDATED, END_RESP);
                  bench.request(p);
                }),
      bad<Base>(R::phase_direction, "the initiator returns END_REQ",
                [](B& bench, P& p) {
                  bench.request(p);
                  bench.ends.backward = [](Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
                    phase = END_REQ;
                    return TLM_UPDATED;
                  };
                  bench.respond(p);
                }),
      bad<Base>(R::phase_order, "a response to nothing", [](B& bench, P& p) { bench.respond(p); }),
      bad<Base>(R::phase_order, "the same payload is sent twice",
                [](B& bench, P& p) {
                  bench.request(p);
                  bench.request(p);
                }),
      bad<Base>(R::phase_order, "two END_REQ",
                [](B& bench, P& p) {
                  bench.request(p);
                  bench.backward(p, END_REQ);
                }),
      bad<Base>(R::phase_order, "two responses to one request",
                [](B& bench, P& p) {
                  bench.request(p);
                  bench.respond(p);
                  bench.respond(p);
                }),
      bad<Base>(R::phase_order, "END_RESP before the response",
                [](B& bench, P& p) {
                  bench.request(p);
                  bench.forward(p, END_RESP);
                }),
      bad<Base>(R::phase_order, "END_REQ is answered with a phase",
                [](B& bench, P& p) {
                  bench.target_returns(TLM_ACCEPTED, BEGIN_REQ);
                  bench.request(p);
                  bench.ends.backward = [](Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
                    phase = END_RESP;
                    return TLM_UPDATED;
                  };
                  bench.backward(p, END_REQ);
                }),
      bad<Base>(R::phase_order, "END_RESP is answered with a phase",
                [](B& bench, P& p) {
                  bench.all_four_phases();
                  bench.request(p);
                  bench.respond(p);
                  bench.target_returns(TLM_UPDATED, END_RESP);
                  bench.forward(p, END_RESP);
                }),
      bad<Base>(R::request_exclusion, "a second request before END_REQ",
                [](B& bench, P& p) {
                  bench.all_four_phases();
                  bench.request(p);
                  bench.request(bench.make());
                }),
      bad<Base>(R::response_exclusion, "a second response before END_RESP",
                [](B& bench, P& p) {
                  P& other = bench.make();
                  bench.request(p);
                  bench.request(other);
                  bench.ends.backward = [](Payload&, tlm::tlm_phase&, sc_core::sc_time&) {
                    return TLM_ACCEPTED;
                  };
                  bench.respond(p);
                  bench.respond(other);
                }),
      bad<Base>(R::nesting, "the target answers from inside the request",
                [](B& bench, P& p) {
                  bench.ends.forward = [&](Payload& of, tlm::tlm_phase&, sc_core::sc_time&) {
                    bench.respond(of);
                    return TLM_ACCEPTED;
                  };
                  bench.request(p);
                }),
      bad<Base>(R::nesting, "the initiator sends from inside the answer",
                [](B& bench, P& p) {
                  bench.request(p);
                  bench.ends.backward = [&](Payload&, tlm::tlm_phase&, sc_core::sc_time&) {
                    bench.request(bench.make());
                    return TLM_COMPLETED;
                  };
                  bench.respond(p);
                }),
      bad<StrettoProtocol>(R::nesting, "on the memory side too the target may not answer inside",
                           [](M& bench, P& p) {
                             bench.ends.forward = [&](Payload& of, tlm::tlm_phase&,
                                                      sc_core::sc_time&) {
                               bench.respond(of);
                               return TLM_ACCEPTED;
                             };
                             bench.request(p);
                           }),
      bad<Base>(R::accepted, "the target accepts and changes the phase",
                [](B& bench, P& p) {
                  bench.target_returns(TLM_ACCEPTED, END_REQ);
                  bench.request(p);
                }),
      bad<Base>(R::accepted, "the initiator accepts and changes the delay",
                [](B& bench, P& p) {
                  bench.request(p);
                  bench.ends.backward = [](Payload&, tlm::tlm_phase&, sc_core::sc_time& delay) {
                    delay += delay_of(1);
                    return TLM_ACCEPTED;
                  };
                  bench.respond(p);
                }),
      bad<StrettoProtocol>(R::one_step, "the target keeps the initiator waiting for END_REQ",
                           [](M& bench, P& p) {
                             bench.all_four_phases();
                             bench.request(p);
                           }),
      bad<StrettoProtocol>(R::one_step, "the initiator keeps the target waiting for END_RESP",
                           [](M& bench, P& p) {
                             bench.request(p);
                             bench.all_four_phases();
                             bench.respond(p);
                           }),
  };
}

std::vector<Misbehaviour> of_time() {
  return {
      bad<Base>(R::time_order, "END_REQ before BEGIN_REQ",
                [](B& bench, P& p) {
                  bench.ends.forward = [](Payload&, tlm::tlm_phase& phase,
                                          sc_core::sc_time& delay) {
                    phase = END_REQ;
                    delay = sc_core::SC_ZERO_TIME;
                    return TLM_UPDATED;
                  };
                  bench.forward(p, BEGIN_REQ, 10);
                }),
      bad<Base>(R::time_order, "the response one femtosecond before its request",
                [](B& bench, P& p) {
                  bench.forward(p, BEGIN_REQ, 10);
                  bench.queue.run_until(4);
                  bench.respond(p, 5);
                }),
      bad<Base>(R::time_order, "b_transport gives time back",
                [](B& bench, P& p) {
                  bench.ends.blocking = [](Payload& of, sc_core::sc_time& delay) {
                    of.set_response_status(tlm::TLM_OK_RESPONSE);
                    delay = delay_of(1);
                  };
                  bench.block(p, 2);
                }),
      bad<Base>(R::delay, "a request in the past",
                [](B& bench, P& p) { bench.forward(p, BEGIN_REQ, Time{5} - Time{6}); }),
      bad<Base>(R::mixed_transport, "b_transport of a payload that is under way",
                [](B& bench, P& p) {
                  bench.request(p);
                  bench.block(p);
                }),
      bad<Base>(R::mixed_transport, "nb_transport_fw from inside b_transport",
                [](B& bench, P& p) {
                  bench.ends.blocking = [&](Payload& of, sc_core::sc_time&) { bench.request(of); };
                  bench.block(p);
                }),
  };
}

std::vector<Misbehaviour> of_payloads() {
  return {
      bad<Base>(R::memory_manager, "the target adds a memory manager and leaves it there",
                [](B& bench, P&) {
                  NoManager manager;
                  Payload payload;
                  payload.set_write();
                  payload.set_data_ptr(bench.data);
                  payload.set_data_length(8);
                  payload.set_streaming_width(8);
                  bench.ends.blocking = [&](Payload& of, sc_core::sc_time&) {
                    of.set_mm(&manager);
                    of.acquire();
                    of.set_response_status(tlm::TLM_OK_RESPONSE);
                  };
                  bench.block(payload);
                }),
      bad_flight<Base>(R::attributes, "another command",
                       [](B&, P& p) { p.set_command(tlm::TLM_READ_COMMAND); }),
      bad_flight<Base>(R::attributes, "another buffer",
                       [](B& b, P& p) { p.set_data_ptr(b.data + 1); }),
      bad_flight<Base>(R::attributes, "another length", [](B&, P& p) { p.set_data_length(32); }),
      bad_flight<Base>(R::attributes, "byte enables appear",
                       [](B& b, P& p) { p.set_byte_enable_ptr(b.enables); }),
      bad_flight<Base>(R::attributes, "another byte-enable length",
                       [](B&, P& p) { p.set_byte_enable_length(4); }),
      bad_flight<Base>(R::attributes, "another width",
                       [](B&, P& p) { p.set_streaming_width(128); }),
      bad_flight<Base>(R::option, "gp_option is set on the way",
                       [](B&, P& p) { p.set_gp_option(tlm::TLM_FULL_PAYLOAD_ACCEPTED); }),
      bad_flight<Base>(R::arrays, "write data change", [](B& b, P&) { b.data[63] = 1; }),
      bad_flight<StrettoProtocol>(R::arrays, "write data change on the memory side",
                                  [](M& b, P&) { b.data[0] = 1; }),
      bad<Base>(R::arrays, "byte enables change",
                [](B& bench, P& p) {
                  p.set_byte_enable_ptr(bench.enables);
                  p.set_byte_enable_length(8);
                  bench.request(p);
                  bench.enables[7] = 0xFF;
                  bench.respond(p);
                }),
      bad<Base>(R::status_set, "a response without status",
                [](B& bench, P& p) {
                  bench.request(p);
                  bench.backward(p, BEGIN_RESP);
                }),
      bad<Base>(R::status_set, "early completion without status",
                [](B& bench, P& p) {
                  bench.target_returns(TLM_COMPLETED, BEGIN_REQ);
                  bench.request(p);
                }),
      bad<Base>(R::status_set, "b_transport without status",
                [](B& bench, P& p) {
                  bench.ends.blocking = [](Payload&, sc_core::sc_time&) {};
                  bench.block(p);
                }),
      bad<Base>(R::loose_extension, "an extension stays on a payload of the stack",
                [](B& bench, P&) {
                  StrettoExtension extension;
                  Payload payload;
                  payload.set_write();
                  payload.set_data_ptr(bench.data);
                  payload.set_data_length(8);
                  payload.set_streaming_width(8);
                  bench.ends.blocking = [&](Payload& of, sc_core::sc_time&) {
                    of.set_extension(&extension);
                    of.set_response_status(tlm::TLM_OK_RESPONSE);
                  };
                  try {
                    bench.block(payload);
                  } catch (const CheckError&) {
                    payload.clear_extension(&extension);
                    throw;
                  }
                }),
      bad_flight<StrettoProtocol>(R::routing, "the target moves the address",
                                  [](M&, P& p) { p.set_address(0); }),
      bad_flight<StrettoProtocol>(R::routing, "the target takes the cookie",
                                  [](M&, P& p) { p.extension.cookie = 1; }),
      bad_flight<StrettoProtocol>(R::routing, "the target changes the operation",
                                  [](M&, P& p) { p.extension.operation = Operation::update; }),
      bad<Base>(R::dmi_request, "a used DMI descriptor",
                [](B& bench, P& p) {
                  tlm::tlm_dmi granted;
                  granted.set_dmi_ptr(bench.data);
                  bench.checker.get_direct_mem_ptr(p, granted);
                }),
      bad<Base>(R::dmi_grant, "a region that does not hold the address",
                [](B& bench, P& p) {
                  bench.ends.dmi = [&](Payload&, tlm::tlm_dmi& granted) {
                    granted.set_dmi_ptr(bench.data);
                    granted.allow_read();
                    granted.set_start_address(0x1001);
                    return true;
                  };
                  tlm::tlm_dmi granted;
                  bench.checker.get_direct_mem_ptr(p, granted);
                }),
      bad<Base>(R::debug, "a debug access without data",
                [](B& bench, P& p) {
                  p.set_data_ptr(nullptr);
                  bench.checker.transport_dbg(p);
                }),
      bad<Base>(R::debug, "a debug access that moves more than asked for",
                [](B& bench, P& p) {
                  bench.ends.debug = [](Payload&) { return 65u; };
                  bench.checker.transport_dbg(p);
                }),
  };
}

TEST_CASE("every rule fires at the misbehaviour that it forbids") {
  std::set<TlmRule> fired;
  for (const auto& part : {of_requests(), of_phases(), of_time(), of_payloads()}) {
    for (const Misbehaviour& one : part) {
      const unsigned number = static_cast<unsigned>(one.rule);
      INFO("rule " << number << ": " << one.what);
      CHECK_THROWS_WITH(one.run(), Catch::StartsWith("TLM rule " + std::to_string(number) + " ("));
      fired.insert(one.rule);
    }
  }
  for (const TlmRuleText& text : tlm_rules()) {
    INFO("rule " << static_cast<unsigned>(text.rule) << ": " << text.sentence);
    CHECK(fired.count(text.rule) == 1);
  }
}

TEST_CASE("rules are numbered in their order and a message names both ends and the payload") {
  for (size_t i = 0; i < tlm_rules().size(); ++i)
    CHECK(static_cast<size_t>(tlm_rules()[i].rule) == i + 1);
  Bench<Base> bench;
  bench.queue.run_until(7 * kNanosecond);
  PooledPayload& payload = bench.make(tlm::TLM_READ_COMMAND);
  payload.set_streaming_width(0);
  CHECK_THROWS_WITH(
      bench.request(payload),
      Catch::Equals("TLM rule 10 (IEEE 1666-2011, 14.15: the streaming width is not 0): from -> "
                    "to, read of 64 bytes at 0x1000: the streaming width is 0, at 7000 ps"));
}

}  // namespace
}  // namespace stretto
