// SPDX-License-Identifier: Apache-2.0
// A command processor alone: test memory behind its memory socket, a test device on its bus, its
// calendar driven by the test. Times are those of GPU 0's calendar.
#ifndef STRETTO_TESTS_UNIT_CP_CP_MACHINE_H_
#define STRETTO_TESTS_UNIT_CP_CP_MACHINE_H_

#include <catch2/catch.hpp>

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/common/memory_image.h"
#include "models/common/tlm_checker.h"
#include "models/cp/cp.h"

namespace stretto::test {

// Memory of GPU 0 below 256 MiB, host memory for stores; answers after a fixed latency and keeps a
// log. Checks that locks are taken and released in pairs and that nobody else touches a locked
// line.
class TestMemory final : public sc_core::sc_module, private EventHandler {
 public:
  struct Entry {
    Time at;
    Operation operation;
    uint64_t address;
    unsigned bytes;
    unsigned hart;
    PrivateAccess private_access;
  };
  tlm_utils::simple_target_socket<TestMemory, 32, StrettoProtocol> in;

  TestMemory(const sc_core::sc_module_name& name, EventQueue& queue)
      : sc_core::sc_module(name), EventHandler(queue), in("in"), queue_(queue) {
    in.register_nb_transport_fw(this, &TestMemory::forward);
  }

  std::vector<Entry> log;
  Time latency = 100 * kNanosecond;
  bool silent = false;  // Never answers.
  unsigned waits_for_lock = 0;
  unsigned in_flight_high = 0;

  MemoryImage& image() { return image_; }
  uint64_t word(uint64_t offset) {
    uint64_t value = 0;
    image_.read(offset, reinterpret_cast<uint8_t*>(&value), 8);
    return value;
  }
  void set_word(uint64_t offset, uint64_t value) {
    image_.write(offset, reinterpret_cast<uint8_t*>(&value), 8);
  }
  void set_byte(uint64_t offset, uint8_t value) { image_.write(offset, &value, 1); }
  uint64_t host_word(uint64_t offset) {
    uint64_t value = 0;
    host_.read(offset, reinterpret_cast<uint8_t*>(&value), 8);
    return value;
  }

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay) {
    REQUIRE(phase == tlm::BEGIN_REQ);
    StrettoExtension* extension = extension_of(payload);
    REQUIRE(extension != nullptr);
    CHECK(extension->engine == Engine::hart);
    CHECK(extension->account == STRETTO_ACCOUNT_CP);
    const bool writes = extension->operation == Operation::write ||
                        extension->operation == Operation::unlocking_write;
    CHECK(payload.is_write() == writes);
    log.push_back({queue_.now(), extension->operation, payload.get_address(),
                   payload.get_data_length(), extension->unit, extension->private_access});
    CHECK((extension->private_access == PrivateAccess::none ||
           extension->allocation == AllocationClass::cached));
    payload.acquire();
    if (!silent) {
      pending_.push_back(&payload);
      in_flight_high = std::max(in_flight_high, static_cast<unsigned>(pending_.size()));
      queue_.schedule(queue_.now() + time_of(delay) + latency, *this, pending_.size());
    }
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }

  // Serves the oldest request; one that meets a lock goes to the end of the queue.
  void on_event(uint64_t) override {
    tlm::tlm_generic_payload& payload = *pending_.front();
    pending_.erase(pending_.begin());
    StrettoExtension& extension = *extension_of(payload);
    const uint64_t line = payload.get_address() >> 6;
    const bool unlocks = extension.operation == Operation::unlocking_write;
    const auto lock = locks_.find(line);
    if (lock != locks_.end() && !(unlocks && lock->second == extension.unit)) {
      ++waits_for_lock;
      pending_.push_back(&payload);
      queue_.schedule(queue_.now() + latency, *this);
      return;
    }
    CHECK((lock != locks_.end()) == unlocks);
    if (unlocks) locks_.erase(lock);
    if (extension.operation == Operation::locked_read) locks_[line] = extension.unit;
    const uint64_t node = payload.get_address() >> STRETTO_NODE_SHIFT;
    const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (node == STRETTO_NODE_HOST) {
      host_.write(offset, payload.get_data_ptr(), payload.get_data_length());
    } else if (node != 1 || offset >= 0x10000000) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    } else if (payload.is_write()) {
      image_.write(offset, payload.get_data_ptr(), payload.get_data_length());
    } else {
      image_.read(offset, payload.get_data_ptr(), payload.get_data_length());
    }
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    CHECK(in->nb_transport_bw(payload, phase, delay) == tlm::TLM_COMPLETED);
    payload.release();
  }

  EventQueue& queue_;
  MemoryImage image_;
  MemoryImage host_;
  std::vector<tlm::tlm_generic_payload*> pending_;
  std::map<uint64_t, unsigned> locks_;  // Hart that holds a line.
};

// Answers reads with 0x1000 + offset and keeps a log; each access takes 20 ns.
class TestDevice final : public sc_core::sc_module {
 public:
  struct Entry {
    Time at;
    bool write;
    uint64_t offset;
    uint64_t value;
    bool operator==(const Entry& other) const {
      return write == other.write && offset == other.offset && value == other.value;
    }
  };
  tlm_utils::simple_target_socket<TestDevice> csr;
  std::vector<Entry> log;

  TestDevice(const sc_core::sc_module_name& name, EventQueue& queue)
      : sc_core::sc_module(name), csr("csr"), queue_(queue) {
    csr.register_b_transport(this, &TestDevice::access);
  }

 private:
  void access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    uint64_t value = 0x1000 + payload.get_address();
    if (payload.is_write()) {
      value = 0;
      std::memcpy(&value, payload.get_data_ptr(), payload.get_data_length());
    } else {
      std::memcpy(payload.get_data_ptr(), &value, payload.get_data_length());
    }
    log.push_back({queue_.now(), payload.is_write(), payload.get_address(), value});
    delay += delay_of(20 * kNanosecond);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  EventQueue& queue_;
};

// The receiving end of the links, as far as doorbells are concerned.
class TestLinks final : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<TestLinks, 32, StrettoProtocol> out;
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;  // Of the last answer.

  explicit TestLinks(const sc_core::sc_module_name& name) : sc_core::sc_module(name), out("out") {
    out.register_nb_transport_bw(this, &TestLinks::answer);
  }
  // An 8-byte write into the doorbell aperture of GPU 0.
  void ring(unsigned doorbell, uint64_t value) {
    value_ = value;
    PooledPayload& payload = pool_.acquire();
    payload.set_command(tlm::TLM_WRITE_COMMAND);
    payload.set_address((uint64_t{1} << STRETTO_NODE_SHIFT) + STRETTO_DOORBELL_APERTURE +
                        8 * doorbell);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value_));
    payload.set_data_length(8);
    payload.set_streaming_width(8);
    payload.extension.operation = Operation::write;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    CHECK(out->nb_transport_fw(payload, phase, delay) == tlm::TLM_UPDATED);
    CHECK(phase == tlm::END_REQ);
  }

 private:
  tlm::tlm_sync_enum answer(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                            sc_core::sc_time&) {
    CHECK(phase == tlm::BEGIN_RESP);
    status = payload.get_response_status();
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  PayloadPool pool_;
  uint64_t value_ = 0;
};

struct CpMachine final : private EventHandler {
  EventQueue queue;
  PartitionServices services;
  Digest digest;
  std::unique_ptr<Cp> cp;
  TestMemory memory;
  TestDevice device;
  TestLinks links;
  std::optional<uint64_t> tohost;
  std::vector<std::function<void()>> actions;

  explicit CpMachine(const CpSpec& spec = quiet())
      : EventHandler(queue), memory("memory", queue), device("device", queue), links("links") {
    services.queue = &queue;
    services.digest = &digest;
    cp = std::make_unique<Cp>("cp", spec, services);
    if (spec.private_memory == PrivateMemory::gpu) cp->set_memory(memory.image());
    connect_checked(cp->mem, memory.in, queue);
    cp->bus.attach(STRETTO_DMA_BASE, 0x1000, device.csr);
    connect_checked(links.out, cp->doorbell, queue);
    cp->on_end([this](uint64_t value) { tohost = value; });
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  static CpSpec quiet() {
    CpSpec spec;
    spec.uart = "none";
    return spec;
  }

  void load(const std::string& file) {
    cp->load(std::make_shared<const ElfImage>(ElfImage::load(file)));
    cp->start();
  }
  void at(Time when, std::function<void()> action) {
    actions.push_back(std::move(action));
    queue.schedule(when, *this, actions.size() - 1);
  }
  void on_event(uint64_t tag) override { actions[tag](); }
  void run_us(uint64_t us) {
    const Time end = us * kMicrosecond;
    while (!tohost && queue.next_time() < end) queue.run_until(queue.next_time() + 1);
    if (!tohost) queue.run_until(end);
  }
  void expect_pass(uint64_t us = 1000) {
    run_us(us);
    for (const std::string& line : cp->waiting_on()) UNSCOPED_INFO(line);
    REQUIRE(tohost.has_value());
    CHECK(*tohost == 1);  // Else (number of the failed check << 1) | 1.
    AuditSink audits;
    cp->audit(audits);
    CHECK(audits.all().size() >= 2);
    for (const AuditResult& audit : audits.all()) {
      INFO(audit.law << ": " << audit.left << " and " << audit.right);
      CHECK(audit.holds);
    }
  }
  uint64_t statistic(const std::string& name) {
    StatisticSink sink;
    cp->report(sink);
    for (const Statistic& statistic : sink.all()) {
      if (statistic.path == name) return statistic.value;
    }
    FAIL("no statistic " << name);
    return 0;
  }
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_CP_CP_MACHINE_H_
