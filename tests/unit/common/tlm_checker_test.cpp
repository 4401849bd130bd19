// SPDX-License-Identifier: Apache-2.0
// Question: does the protocol checker let every legal exchange of IEEE 1666-2011 pass unchanged, in
// every form the base protocol has (with and without return path, early completion, left-out
// END_REQ, overlapping transactions), and does it sit on every pair of sockets? What it stops is in
// tlm_rules_test.cpp.
#include "models/common/tlm_checker.h"

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/unit/common/tlm_ends.h"

namespace stretto {
namespace {

using namespace test;

// Legal traffic

TEST_CASE("four phases in four calls are legal and reach the other end unchanged") {
  Bench<Base> bench;
  bench.all_four_phases();
  std::vector<std::string> seen;
  bench.ends.forward = [&](Payload&, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    seen.push_back("fw " + std::string(phase.get_name()) + " " + std::to_string(delay.value()));
    return TLM_ACCEPTED;
  };
  bench.ends.backward = [&](Payload&, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    seen.push_back("bw " + std::string(phase.get_name()) + " " + std::to_string(delay.value()));
    return TLM_ACCEPTED;
  };
  PooledPayload& payload = bench.make();
  CHECK(bench.forward(payload, BEGIN_REQ, 5) == TLM_ACCEPTED);
  CHECK(bench.backward(payload, END_REQ, 6) == TLM_ACCEPTED);
  payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(bench.backward(payload, BEGIN_RESP, 7) == TLM_ACCEPTED);
  CHECK(bench.open() == 1);
  CHECK(bench.forward(payload, END_RESP, 7) == TLM_ACCEPTED);
  CHECK(seen == std::vector<std::string>{"fw BEGIN_REQ 5", "bw END_REQ 6", "bw BEGIN_RESP 7",
                                         "fw END_RESP 7"});
  CHECK(bench.open() == 0);
}

TEST_CASE("return path, early completion and a left-out END_REQ are legal") {
  Bench<Base> bench;
  PooledPayload& payload = bench.make();
  CHECK(bench.request(payload) == TLM_UPDATED);  // END_REQ on the return path.
  CHECK(bench.respond(payload) == TLM_COMPLETED);

  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  bench.ends.forward = [](Payload& of, tlm::tlm_phase&, sc_core::sc_time& delay) {
    of.set_response_status(tlm::TLM_OK_RESPONSE);
    delay = delay_of(9);
    return TLM_COMPLETED;
  };
  CHECK(bench.request(payload) == TLM_COMPLETED);  // At once.

  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  bench.ends.forward = [](Payload& of, tlm::tlm_phase& phase, sc_core::sc_time&) {
    if (phase == END_RESP) return TLM_COMPLETED;
    of.set_response_status(tlm::TLM_OK_RESPONSE);
    phase = BEGIN_RESP;
    return TLM_UPDATED;
  };
  CHECK(bench.request(payload) == TLM_UPDATED);  // BEGIN_RESP on the return path.
  CHECK(bench.forward(payload, END_RESP) == TLM_COMPLETED);

  payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  bench.all_four_phases();
  CHECK(bench.request(payload) == TLM_ACCEPTED);
  bench.ends.backward = [](Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
    phase = END_RESP;
    return TLM_UPDATED;
  };
  CHECK(bench.respond(payload) == TLM_UPDATED);  // BEGIN_RESP means END_REQ too.
  CHECK(bench.open() == 0);
  CHECK(bench.checker.hop().begun() == 4);
}

TEST_CASE("transactions may overlap and be answered in another order") {
  Bench<Base> bench;
  PooledPayload& a = bench.make();
  PooledPayload& b = bench.make(tlm::TLM_READ_COMMAND);
  bench.request(a);
  bench.request(b);
  bench.data[0] = 0;  // The same value.
  CHECK(bench.open() == 2);
  bench.respond(b);
  bench.respond(a);
  CHECK(bench.open() == 0);
}

TEST_CASE("b_transport is legal with and without a memory manager") {
  Bench<Base> bench;
  PooledPayload& managed = bench.make();
  bench.block(managed);
  Payload payload;
  payload.set_read();
  payload.set_data_ptr(bench.data);
  payload.set_data_length(8);
  payload.set_streaming_width(8);
  bench.ends.blocking = [](Payload& of, sc_core::sc_time& delay) {
    of.get_data_ptr()[0] = 1;              // A read may write.
    of.set_address(of.get_address() + 4);  // An interconnect may route.
    of.set_dmi_allowed(true);
    of.set_response_status(tlm::TLM_OK_RESPONSE);
    delay += delay_of(3);
  };
  bench.block(payload, 2);
  CHECK(bench.checker.hop().ended() == 2);
}

TEST_CASE("the memory side carries tags, tiles, fills and atomics") {
  Bench<StrettoProtocol> bench;
  PooledPayload& tags = bench.make();
  tags.set_data_ptr(nullptr);
  tags.extension.tags_only = true;
  PooledPayload& tile = bench.make();
  tile.extension.rows = 4;
  tile.extension.row_bytes = 16;
  tile.extension.pitch = 4096;
  PooledPayload& fill = bench.make();
  fill.extension.operation = Operation::fill;
  fill.set_data_length(1 << 20);  // Longer than the pattern behind the pointer.
  fill.set_streaming_width(1 << 20);
  PooledPayload& atomic = bench.make();
  atomic.extension.operation = Operation::atomic;
  unsigned char word[8] = {};
  atomic.set_data_ptr(word);
  atomic.set_data_length(8);
  for (PooledPayload* payload : {&tags, &tile, &fill, &atomic}) bench.request(*payload);
  word[0] = 1;  // The old value, in place of the operand.
  for (PooledPayload* payload : {&tags, &tile, &fill, &atomic}) bench.respond(*payload);
  CHECK(bench.open() == 0);
}

TEST_CASE(
    "on the memory side an initiator sends on from inside the answer, even the same payload") {
  Bench<StrettoProtocol> bench;
  PooledPayload& first = bench.make();
  bool again = false;
  bench.ends.backward = [&](Payload& payload, tlm::tlm_phase&, sc_core::sc_time&) {
    payload.release();
    if (!again) {
      again = true;
      PooledPayload& next = bench.make();
      CHECK(&next == &first);
      bench.request(next);
    }
    return TLM_COMPLETED;
  };
  bench.request(first);
  bench.respond(first);
  CHECK(bench.open() == 1);
  bench.respond(first);
  CHECK(bench.open() == 0);
  CHECK(bench.checker.hop().begun() == 2);
}

TEST_CASE("DMI and debug accesses as the standard has them pass") {
  Bench<Base> bench;
  PooledPayload& payload = bench.make();
  tlm::tlm_dmi granted;
  bench.ends.dmi = [](Payload&, tlm::tlm_dmi&) { return false; };
  CHECK_FALSE(bench.checker.get_direct_mem_ptr(payload, granted));
  bench.ends.dmi = [&](Payload&, tlm::tlm_dmi& to) {
    to.set_dmi_ptr(bench.data);
    to.allow_read_write();
    return true;
  };
  CHECK(bench.checker.get_direct_mem_ptr(payload, granted));
  bench.ends.debug = [](Payload&) { return 8u; };
  CHECK(bench.checker.transport_dbg(payload) == 8);
}

// Through sockets

template <class Protocol>
struct Module final : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Module, 32, Protocol> out;
  tlm_utils::simple_target_socket<Module, 32, Protocol> in;
  unsigned calls = 0;

  explicit Module(sc_core::sc_module_name name) : sc_module(name), out("out"), in("in") {
    out.register_nb_transport_bw(this, &Module::backward);
    in.register_nb_transport_fw(this, &Module::forward);
    in.register_b_transport(this, &Module::blocking);
  }
  tlm::tlm_sync_enum forward(Payload&, tlm::tlm_phase& phase, sc_core::sc_time&) {
    ++calls;
    phase = END_REQ;
    return TLM_UPDATED;
  }
  tlm::tlm_sync_enum backward(Payload&, tlm::tlm_phase&, sc_core::sc_time&) {
    ++calls;
    return TLM_COMPLETED;
  }
  void blocking(Payload& payload, sc_core::sc_time&) {
    ++calls;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

TEST_CASE("the census finds a pair of sockets that is bound without a checker") {
  EventQueue queue;
  Module<Base> a("a"), b("b");
  Module<StrettoProtocol> c("c"), d("d");
  connect_checked(a.out, b.in, queue);
  connect_checked(c.out, d.in, queue);
  b.out.bind(a.in);
  connect_checked(d.out, c.in, queue);
  Bench<Base> source;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  PooledPayload& plain = source.make();
  sc_core::sc_time delay;
  a.out->b_transport(plain, delay);
  PooledPayload& memory = source.make();
  tlm::tlm_phase phase = BEGIN_REQ;
  CHECK(c.out->nb_transport_fw(memory, phase, delay) == TLM_UPDATED);
  CHECK(phase == END_REQ);
  memory.set_response_status(tlm::TLM_OK_RESPONSE);
  phase = BEGIN_RESP;
  CHECK(d.in->nb_transport_bw(memory, phase, delay) == TLM_COMPLETED);
  CHECK(b.calls == 1);
  CHECK(c.calls == 1);
  CHECK(d.calls == 1);

  const TlmCensus census = tlm_census();
  CHECK(census.bound == 4);
  CHECK(census.checked == 3);
  CHECK(census.unchecked == std::vector<std::string>{"b.out"});
  CHECK(census.begun == 2);
  CHECK(census.ended == 2);

  PooledPayload& broken = source.make();
  broken.set_data_length(0);
  CHECK_THROWS_WITH(a.out->b_transport(broken, delay), Catch::Contains("a.out -> b.in"));
}

TEST_CASE("connect inserts a checker exactly in test builds") {
  EventQueue queue;
  Module<Base> a("a"), b("b");
  connect(a.out, b.in, queue);
  connect(b.out, a.in, queue);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const TlmCensus census = tlm_census();
  CHECK(census.bound == 2);
  CHECK(census.checked == (kCheckSockets ? 2 : 0));
}

}  // namespace
}  // namespace stretto
