// SPDX-License-Identifier: Apache-2.0
// An HBM with reference MCAs and Tracker behind test initiators, in a calendar of its own.
//
//   HbmFixture hbm(spec);
//   const auto id = hbm.read(address, 64, at);     (arrives at time `at`)
//   hbm.run();                                     (until nothing is left)
//   hbm.done(id)                                   (end of its data)
#ifndef STRETTO_TESTS_UNIT_HBM_HBM_FIXTURE_H_
#define STRETTO_TESTS_UNIT_HBM_HBM_FIXTURE_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/common/payload_pool.h"
#include "models/hbm/hbm.h"
#include "models/reference/mca_model.h"
#include "models/reference/tracker_model.h"
#include "sw/include/formats/address_map.h"

namespace stretto::test {

struct TestRequest {
  std::vector<uint8_t> data;
  std::vector<uint8_t> enable;
  Time arrival = 0;
  Time done = 0;
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  uint64_t order = 0;  // Of its response among all.
};

struct Trigger {
  Time at;
  uint16_t wg_id;
  uint8_t wf_id;
  uint64_t address;
};

class CommandLog final : public CommandObserver {
 public:
  struct Entry {
    unsigned channel;
    uint64_t cycle;
    DramCommand command;
    unsigned bank;
    uint32_t row;
  };
  void on_command(unsigned channel, uint64_t cycle, DramCommand command, unsigned bank,
                  uint32_t row) override {
    all.push_back({channel, cycle, command, bank, row});
  }
  // Cycles at which `command` was issued.
  std::vector<uint64_t> cycles_of(DramCommand command) const {
    std::vector<uint64_t> cycles;
    for (const Entry& entry : all) {
      if (entry.command == command) cycles.push_back(entry.cycle);
    }
    return cycles;
  }
  std::vector<Entry> all;
};

class HbmFixture final : public sc_core::sc_module, public TriggerSink, public InterruptLine {
 public:
  using Initiator = tlm_utils::simple_initiator_socket_tagged<HbmFixture, 32, StrettoProtocol>;

  explicit HbmFixture(const HbmSpec& spec, unsigned peers = 2, bool with_tracker = true,
                      const sc_core::sc_module_name& name = "fixture", bool log_commands = true)
      : sc_core::sc_module(name),
        channel("channel", spec.channels),
        peer("peer", peers),
        mca_regs("mca_regs"),
        tracker_regs("tracker_regs") {
    services.queue = &queue;
    services.digest = &digest;
    Hbm::Parts parts;
    for (unsigned i = 0; i < spec.channels; ++i) parts.mca.push_back(std::make_unique<McaModel>());
    if (with_tracker) parts.tracker = std::make_unique<TrackerModel>();
    if (log_commands) parts.observer = &log;
    // One peer socket more, for a test that brings its own initiator.
    hbm = std::make_unique<Hbm>("hbm", spec, peers + 1, services, image, std::move(parts));
    hbm->set_triggers(*this);
    hbm->set_interrupts(*this);
    for (unsigned i = 0; i < spec.channels; ++i) {
      channel[i].register_nb_transport_bw(this, &HbmFixture::on_response, static_cast<int>(i));
      channel[i].bind(hbm->channel[i]);
    }
    for (unsigned i = 0; i < peers; ++i) {
      peer[i].register_nb_transport_bw(this, &HbmFixture::on_response, static_cast<int>(i));
      peer[i].bind(hbm->peer[i]);
    }
    mca_regs.bind(hbm->mca_regs);
    tracker_regs.bind(hbm->tracker_regs);
  }

  // Sends `request`; a null socket chooses the channel of the address (compute) or peer 0
  // (communication).
  size_t send(Operation operation, uint64_t address, std::vector<uint8_t> data, Time at,
              Stream stream = Stream::compute,
              const std::function<void(PooledPayload&)>& adjust = {}, int peer_index = -1) {
    elaborate();
    PooledPayload& payload = pool.acquire();
    requests.emplace_back();
    TestRequest& request = requests.back();
    request.data = std::move(data);
    request.arrival = at;
    payload.set_address(address);
    payload.set_command(operation == Operation::read ? tlm::TLM_READ_COMMAND
                                                     : tlm::TLM_WRITE_COMMAND);
    payload.set_data_ptr(request.data.data());
    payload.set_data_length(static_cast<unsigned>(request.data.size()));
    StrettoExtension& extension = payload.extension;
    extension = StrettoExtension{};
    extension.operation = operation;
    extension.stream = stream;
    extension.cookie = requests.size() - 1;
    if (adjust) adjust(payload);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = delay_of(at - queue.now());
    if (peer_index < 0 && stream == Stream::communication) peer_index = 0;
    Initiator& socket = peer_index >= 0
                            ? peer[static_cast<size_t>(peer_index)]
                            : channel[hbm->mapping().channel_of(address & STRETTO_OFFSET_MASK)];
    const tlm::tlm_sync_enum answer = socket->nb_transport_fw(payload, phase, delay);
    accepted = accepted && answer == tlm::TLM_UPDATED && phase == tlm::END_REQ;
    return requests.size() - 1;
  }
  size_t read(uint64_t address, size_t bytes, Time at, Stream stream = Stream::compute) {
    return send(Operation::read, address, std::vector<uint8_t>(bytes), at, stream);
  }
  size_t write(uint64_t address, std::vector<uint8_t> data, Time at,
               Stream stream = Stream::compute) {
    return send(Operation::write, address, std::move(data), at, stream);
  }
  size_t update(uint64_t address, std::vector<uint8_t> data, Time at,
                Stream stream = Stream::compute, ElementType element = ElementType::fp16) {
    return send(Operation::update, address, std::move(data), at, stream,
                [element](PooledPayload& payload) { payload.extension.element = element; });
  }

  // Until the calendar is empty, or `end`.
  void run(Time end = kNever) {
    while (!queue.empty() && queue.next_time() < end) queue.run_until(queue.next_time() + 1);
    if (end != kNever) queue.run_until(end);
  }
  Time done(size_t id) const { return requests[id].done; }
  uint64_t done_cycle(size_t id) const { return hbm->clock().cycle_at(done(id)); }
  size_t answered() const { return static_cast<size_t>(responses); }

  uint64_t read_register(bool mca, uint64_t offset) { return access(mca, offset, false, 0); }
  void write_register(bool mca, uint64_t offset, uint64_t value) {
    access(mca, offset, true, value);
  }
  tlm::tlm_response_status register_status = tlm::TLM_INCOMPLETE_RESPONSE;
  Time register_delay = 0;

  void on_trigger(Time at, uint16_t wg_id, uint8_t wf_id, uint64_t address) override {
    triggers.push_back({at, wg_id, wf_id, address});
  }
  void set(unsigned line, bool level) override { lines[line] = level; }

  std::vector<std::string> violations() const {
    AuditSink sink;
    hbm->audit(sink);
    std::vector<std::string> broken;
    for (const AuditResult& result : sink.all()) {
      if (!result.holds) {
        broken.push_back(result.law + ": " + std::to_string(result.left) +
                         " != " + std::to_string(result.right));
      }
    }
    return broken;
  }
  uint64_t statistic(const std::string& path) const {
    StatisticSink sink;
    hbm->report(sink);
    for (const Statistic& statistic : sink.all()) {
      if (statistic.path == path) return statistic.value;
    }
    throw std::runtime_error("no statistic " + path);
  }

  EventQueue queue;
  PartitionServices services;
  Digest digest;
  MemoryImage image;
  PayloadPool pool;
  CommandLog log;
  std::deque<TestRequest> requests;
  std::vector<Trigger> triggers;
  bool lines[STRETTO_IRQ_COUNT] = {};
  bool accepted = true;
  uint64_t responses = 0;
  sc_core::sc_vector<Initiator> channel;
  sc_core::sc_vector<Initiator> peer;
  tlm_utils::simple_initiator_socket<HbmFixture> mca_regs;
  tlm_utils::simple_initiator_socket<HbmFixture> tracker_regs;
  std::unique_ptr<Hbm> hbm;

 private:
  // Elaboration, once the module is complete.
  void elaborate() {
    if (!elaborated_) sc_core::sc_start(sc_core::SC_ZERO_TIME);
    elaborated_ = true;
  }
  bool elaborated_ = false;

  tlm::tlm_sync_enum on_response(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                 sc_core::sc_time& delay) {
    TestRequest& request = requests[extension_of(payload)->cookie];
    accepted =
        accepted && phase == tlm::BEGIN_RESP && request.status == tlm::TLM_INCOMPLETE_RESPONSE;
    request.done = queue.now() + time_of(delay);
    request.status = payload.get_response_status();
    request.order = responses++;
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  uint64_t access(bool mca, uint64_t offset, bool write, uint64_t value) {
    elaborate();
    tlm::tlm_generic_payload payload;
    payload.set_address(offset);
    payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_data_ptr(reinterpret_cast<uint8_t*>(&value));
    payload.set_data_length(8);
    payload.set_streaming_width(8);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    (mca ? mca_regs : tracker_regs)->b_transport(payload, delay);
    register_status = payload.get_response_status();
    register_delay = time_of(delay);
    return value;
  }
};

inline constexpr Time kCycle = kNanosecond;  // Of the shipped memory clock.

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_HBM_HBM_FIXTURE_H_
