// SPDX-License-Identifier: Apache-2.0
// A memory for tests of initiators: real bytes, one bandwidth for all, a latency; answers in order
// of completion. Data moves when a request is served. It keeps a log of what it saw.
#ifndef STRETTO_TESTS_UNIT_FABRIC_TEST_MEMORY_H_
#define STRETTO_TESTS_UNIT_FABRIC_TEST_MEMORY_H_

#include <tlm_utils/simple_target_socket.h>
#include <systemc>

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "models/common/admission_sink.h"
#include "models/common/memory_image.h"
#include "models/common/payload_pool.h"
#include "models/fabric/serialiser.h"
#include "sw/include/formats/address_map.h"

namespace stretto::test {

class TestMemory final : public sc_core::sc_module, private EventHandler {
 public:
  using Socket = tlm_utils::simple_target_socket_tagged_optional<TestMemory, 32, StrettoProtocol>;
  sc_core::sc_vector<Socket> port;

  struct Seen {
    Time at;
    StrettoExtension extension;
    uint64_t address;
    uint64_t bytes;
  };

  TestMemory(sc_core::sc_module_name name, EventQueue& queue, uint32_t mb_per_s = 1'000'000,
             Time latency = 100 * kNanosecond)
      : sc_module(name),
        EventHandler(queue),
        port("port", 4),
        queue_(queue),
        bus_(mb_per_s),
        latency_(latency) {
    for (int i = 0; i < 4; ++i)
      port[static_cast<size_t>(i)].register_nb_transport_fw(this, &TestMemory::request, i);
  }

  MemoryImage image;
  std::vector<Seen> log;
  AdmissionSink* admissions = nullptr;  // Hears of each write at its arrival.
  uint64_t refuse_from = ~uint64_t{0};  // Offsets from here on do not exist.

 private:
  struct Pending {
    tlm::tlm_generic_payload* payload;
    int from;
  };
  tlm::tlm_sync_enum request(int from, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
    const Time at = std::max(queue_.now() + time_of(delay), bus_.free_at());
    pending_.push_back({&payload, from});
    if (admissions != nullptr && payload.is_write())
      admissions->on_admitted(extension_of(payload)->cookie);
    queue_.schedule(bus_.send(at, payload.get_data_length()) + latency_, *this);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void on_event(uint64_t) override {
    const Pending pending = pending_.front();
    pending_.pop_front();
    tlm::tlm_generic_payload& payload = *pending.payload;
    const StrettoExtension& extension = *extension_of(payload);
    const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
    const uint64_t bytes = payload.get_data_length();
    log.push_back({queue_.now(), extension, payload.get_address(), bytes});
    if (offset >= refuse_from) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    } else {
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      serve(extension.operation, offset, payload.get_data_ptr(), bytes);
    }
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    port[static_cast<size_t>(pending.from)]->nb_transport_bw(payload, phase, delay);
  }
  // Updates add 32-bit integers, which is enough for tests.
  void serve(Operation operation, uint64_t offset, uint8_t* data, uint64_t bytes) {
    if (operation == Operation::read) {
      image.read(offset, data, bytes);
    } else if (operation == Operation::fill) {
      for (uint64_t i = 0; i < bytes; i += 8) image.write(offset + i, data, 8);
    } else if (operation == Operation::update) {
      for (uint64_t i = 0; i + 4 <= bytes; i += 4) {
        uint32_t old_value;
        uint32_t added;
        image.read(offset + i, reinterpret_cast<uint8_t*>(&old_value), 4);
        std::memcpy(&added, data + i, 4);
        added += old_value;
        image.write(offset + i, reinterpret_cast<uint8_t*>(&added), 4);
      }
    } else {
      image.write(offset, data, bytes);
    }
  }

  EventQueue& queue_;
  Serialiser bus_;
  const Time latency_;
  std::deque<Pending> pending_;
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_FABRIC_TEST_MEMORY_H_
