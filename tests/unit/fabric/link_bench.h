// SPDX-License-Identifier: Apache-2.0
// GPUs as links see them, for tests of the fabric: a router, a test memory, two requesters, a
// doorbell.
#ifndef STRETTO_TESTS_UNIT_FABRIC_LINK_BENCH_H_
#define STRETTO_TESTS_UNIT_FABRIC_LINK_BENCH_H_

#include <catch2/catch.hpp>

#include <cstring>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "models/common/tlm_checker.h"
#include "models/fabric/router.h"
#include "sw/include/formats/address_map.h"
#include "tests/unit/fabric/test_memory.h"

namespace stretto::test {

inline uint64_t address_in(unsigned gpu, uint64_t offset) {
  return (uint64_t{gpu + 1} << STRETTO_NODE_SHIFT) | offset;
}

// Sends requests and notes when they were answered. Calls wait for the calendar: sockets are bound
// when it runs.
class Requester final : public sc_core::sc_module, private EventHandler {
 public:
  tlm_utils::simple_initiator_socket<Requester, 32, StrettoProtocol> socket;
  Requester(sc_core::sc_module_name name, EventQueue& queue)
      : sc_module(name), EventHandler(queue), socket("socket"), queue_(queue) {
    socket.register_nb_transport_bw(this, &Requester::response);
  }
  PooledPayload& make(Operation operation, uint64_t address, std::vector<uint8_t>& data) {
    PooledPayload& payload = pool_.acquire();
    payload.set_command(operation == Operation::read ? tlm::TLM_READ_COMMAND
                                                     : tlm::TLM_WRITE_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(data.data());
    payload.set_data_length(static_cast<unsigned>(data.size()));
    payload.set_streaming_width(static_cast<unsigned>(data.size()));
    payload.extension = StrettoExtension{};
    payload.extension.operation = operation;
    payload.extension.row_bytes = static_cast<uint32_t>(data.size());
    return payload;
  }
  // At time `at`, for an arrival `annotated` later.
  void send(PooledPayload& payload, Time at = 0, Time annotated = 0) {
    call(at, [this, &payload, annotated] {
      tlm::tlm_phase phase = tlm::BEGIN_REQ;
      sc_core::sc_time delay = delay_of(annotated);
      accepted = socket->nb_transport_fw(payload, phase, delay) == tlm::TLM_UPDATED &&
                 phase == tlm::END_REQ;
    });
  }
  void call(Time at, std::function<void()> action) {
    queue_.schedule(at, *this, actions_.size());
    actions_.push_back(std::move(action));
  }
  bool accepted = false;
  std::vector<Time> answered;
  std::vector<tlm::tlm_response_status> status;

 private:
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay) {
    answered.push_back(queue_.now() + time_of(delay));
    status.push_back(payload.get_response_status());
    phase = tlm::END_RESP;
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  void on_event(uint64_t tag) override { actions_[tag](); }

  EventQueue& queue_;
  PayloadPool pool_;
  std::vector<std::function<void()>> actions_;
};

class Bells final : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Bells> socket;
  explicit Bells(sc_core::sc_module_name name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &Bells::ring);
  }
  std::vector<std::pair<uint64_t, uint64_t>> rung;

 private:
  void ring(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
    uint64_t value;
    std::memcpy(&value, payload.get_data_ptr(), 8);
    rung.emplace_back(payload.get_address(), value);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
};

// Executes atomics on the image of a memory when they come, by arithmetic of its own, and answers
// 100 ns later.
class Completer final : public sc_core::sc_module, private EventHandler {
 public:
  tlm_utils::simple_target_socket_optional<Completer, 32, StrettoProtocol> socket;
  struct Executed {
    Time at;
    uint64_t address;
    unsigned bytes;
    uint64_t operand, found;
    StrettoExtension extension;
  };
  Completer(sc_core::sc_module_name name, EventQueue& queue, MemoryImage& image)
      : sc_module(name), EventHandler(queue), socket("socket"), queue_(queue), image_(image) {
    socket.register_nb_transport_fw(this, &Completer::request);
  }
  std::vector<Executed> log;
  bool refuses = false;        // At once.
  bool answers_error = false;  // In its time.

 private:
  tlm::tlm_sync_enum request(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    if (refuses) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return tlm::TLM_COMPLETED;
    }
    const StrettoExtension& extension = *extension_of(payload);
    const unsigned bytes = payload.get_data_length();
    const uint64_t mask = bytes == 8 ? ~uint64_t{0} : 0xFFFF'FFFF;
    uint64_t found = 0, operand = 0;
    image_.read(payload.get_address() & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&found),
                bytes);
    std::memcpy(&operand, payload.get_data_ptr(), bytes);
    log.push_back(
        {queue_.now() + time_of(delay), payload.get_address(), bytes, operand, found, extension});
    uint64_t left = operand;
    if (extension.atomic_op == AtomicOp::add) left = (found + operand) & mask;
    if (extension.atomic_op == AtomicOp::compare_swap && found != (extension.compare & mask))
      left = found;
    if (!answers_error) {
      image_.write(payload.get_address() & STRETTO_OFFSET_MASK,
                   reinterpret_cast<const uint8_t*>(&left), bytes);
      std::memcpy(payload.get_data_ptr(), &found, bytes);
    }
    waiting_.push_back(&payload);
    queue_.schedule(queue_.now() + time_of(delay) + 100 * kNanosecond, *this);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void on_event(uint64_t) override {
    tlm::tlm_generic_payload& payload = *waiting_.front();
    waiting_.pop_front();
    payload.set_response_status(answers_error ? tlm::TLM_GENERIC_ERROR_RESPONSE
                                              : tlm::TLM_OK_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->nb_transport_bw(payload, phase, delay);
  }
  EventQueue& queue_;
  MemoryImage& image_;
  std::deque<tlm::tlm_generic_payload*> waiting_;
};

struct Gpu : sc_core::sc_module {
  // Without `executes` nothing here executes atomics.
  Gpu(sc_core::sc_module_name name, Conductor& conductor, unsigned gpu, const RouterSpec& spec,
      bool executes = true)
      : sc_module(name),
        partition("partition", conductor, static_cast<uint8_t>(gpu + 1)),
        memory("memory", partition.queue()),
        completer("completer", partition.queue(), memory.image),
        router("router", spec, 2, partition),
        first("first", partition.queue()),
        second("second", partition.queue()),
        bells("bells"),
        cp("cp") {
    partition.add("router", router);
    const EventQueue& queue = partition.queue();
    connect_checked(router.memory, memory.port[0], queue);
    if (executes) connect_checked(router.atomics, completer.socket, queue);
    connect_checked(router.doorbell, bells.socket, queue);
    connect_checked(first.socket, router.egress[0], queue);
    connect_checked(second.socket, router.egress[1], queue);
    cp.bind(router.csr);
  }
  Partition partition;
  TestMemory memory;
  Completer completer;
  Router router;
  Requester first;
  Requester second;
  Bells bells;
  tlm_utils::simple_initiator_socket<Gpu> cp;

  uint64_t read_register(uint64_t offset) { return access(tlm::TLM_READ_COMMAND, offset, 0); }
  uint64_t access(tlm::tlm_command command, uint64_t offset, uint64_t value) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(offset);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    payload.set_data_length(8);
    sc_core::sc_time delay;
    cp->b_transport(payload, delay);
    REQUIRE(payload.is_response_ok());
    return value;
  }
};

inline std::vector<uint8_t> pattern(size_t count) {
  std::vector<uint8_t> data(count);
  for (size_t i = 0; i < count; ++i) data[i] = static_cast<uint8_t>(i * 7 + i / 256);
  return data;
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_FABRIC_LINK_BENCH_H_
