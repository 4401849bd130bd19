// SPDX-License-Identifier: Apache-2.0
// An L2 alone: ports that call when a test says so, a memory of fixed latency.
#ifndef STRETTO_TESTS_UNIT_GPU_L2_BENCH_H_
#define STRETTO_TESTS_UNIT_GPU_L2_BENCH_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/gpu/gpu_machine.h"

namespace stretto::test {

// Where a line lies, from the description: 32 channels of 256 B blocks, the XOR of all 5-bit pieces
// of the block number; two banks a channel, by the line's lowest bit; the set is the block's number
// in its channel, folded.
inline unsigned channel_of(uint64_t address) {
  unsigned channel = 0;
  for (uint64_t rest = address / 256; rest != 0; rest /= 32) channel ^= rest % 32;
  return channel;
}
inline uint64_t set_in_bank(uint64_t line, uint64_t sets) {
  uint64_t set = 0;
  for (uint64_t rest = line / 2 / 32, i = 0; i < 3; ++i, rest /= sets) set ^= rest;
  return set % sets;
}

// An L2 with nothing but initiators and a memory.
class L2Bench : public sc_core::sc_module {
 public:
  static constexpr unsigned kChannels = 32;
  static constexpr unsigned kHart = 0x100;  // Port of hart 0; the next ones are others.
  struct Wanted {
    unsigned port;
    uint64_t clock;  // Of arrival.
    bool store;
    uint64_t address;
    uint32_t bytes;
    AllocationClass allocation = AllocationClass::cached;
    uint64_t* adds = nullptr;  // An atomic of 8 bytes: what is added, then what was there.
    std::optional<Operation> operation = {};  // If it is no plain load or store.
    bool locks_line = false;
    uint8_t* data = nullptr;  // If bytes move.
  };

  // `in_queue`: how long an atom waits for the memory's arbiter. Without `plays_harts` the L2's `cp`
  // is left to the test.
  L2Bench(sc_core::sc_module_name name, const L2Spec& spec, unsigned ports, Time in_queue = 0,
          unsigned channels = kChannels, bool plays_harts = true)
      : sc_module(name),
        unit("unit", ports),
        mapping_(channels, 256, 2048, true),
        memory_("memory", channels, 300 * kNanosecond, queue, image_),
        l2("l2", spec, mapping_, ports, clock_, with_queue(), image_),
        cp_("cp"),
        device_("device") {
    for (unsigned i = 0; i < ports; ++i) {
      unit[i].bind(l2.cu[i]);
      unit[i].register_nb_transport_bw(this, &L2Bench::answer_unit, static_cast<int>(i));
    }
    for (unsigned i = 0; i < channels; ++i) l2.channel[i].bind(memory_.channel[i]);
    l2.remote.bind(memory_.fabric);
    if (plays_harts) cp_.bind(l2.cp);
    cp_.register_nb_transport_bw(this, &L2Bench::answer_hart);
    memory_.in_queue = in_queue;
    memory_.queue_sink = l2.queue_sink();
  }

  // Calls at once; the request arrives at its clock.
  void call(const Wanted& wanted, uint64_t id) {
    PooledPayload& payload = pool_.acquire();
    payload.set_command(wanted.store ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(kNode + wanted.address);
    payload.set_data_length(wanted.bytes);
    payload.extension = StrettoExtension{};
    payload.extension.operation = wanted.store ? Operation::write : Operation::read;
    payload.extension.allocation = wanted.allocation;
    payload.extension.tags_only = wanted.data == nullptr;
    payload.set_data_ptr(wanted.data);
    payload.extension.rows = 1;
    payload.extension.row_bytes = wanted.bytes;
    payload.extension.cookie = id;
    payload.extension.unit = static_cast<uint16_t>(wanted.port % kHart);
    if (wanted.port >= kHart) payload.extension.engine = Engine::hart;
    payload.extension.locks_line = wanted.locks_line;
    if (wanted.operation) payload.extension.operation = *wanted.operation;
    if (wanted.adds != nullptr) {
      payload.set_data_ptr(reinterpret_cast<unsigned char*>(wanted.adds));
      payload.extension.operation = Operation::atomic;
      payload.extension.atomic_op = AtomicOp::add;
      payload.extension.tags_only = false;
    }
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = delay_of(clock_.edge(wanted.clock) - queue.now());
    const tlm::tlm_sync_enum answer =
        wanted.port >= kHart ? cp_->nb_transport_fw(payload, phase, delay)
                             : unit[wanted.port]->nb_transport_fw(payload, phase, delay);
    if (answer == tlm::TLM_COMPLETED) done(payload, time_of(delay));
  }
  void refuse(bool all) { memory_.errors = all; }
  PartitionServices& services() { return services_; }
  uint64_t clock() const { return clock_.cycle_from(queue.now()); }
  // After run(), which stops behind it.
  uint64_t clock_of_last_event() const { return clock_.cycle_from(queue.now() - 1); }
  // Runs until nothing is scheduled.
  void run() {
    while (!queue.empty()) queue.run_until(queue.next_time() + 1);
  }
  // Until the clock has come.
  void run_to(uint64_t clock) { queue.run_until(clock_.edge(clock)); }
  // Clocks that it takes alone.
  uint64_t alone(Wanted wanted) {
    wanted.clock = clock() + 1000;
    ended.erase(kAlone);
    call(wanted, kAlone);
    run();
    return ended.at(kAlone) - wanted.clock;
  }
  std::vector<std::string> broken_laws() const {
    AuditSink sink;
    l2.audit(sink);
    std::vector<std::string> laws;
    for (const AuditResult& result : sink.all())
      if (!result.holds) laws.push_back(result.law);
    return laws;
  }
  // So that what follows hits.
  void warm(uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at += 4096) call({0, clock(), true, at, 4096}, ~uint64_t{0});
    run();
    ended.clear();
  }

  static constexpr uint64_t kAlone = 1'000'000;

  sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged<L2Bench, 32, StrettoProtocol>> unit;
  EventQueue queue;
  std::map<uint64_t, uint64_t> ended;  // Clock of the answer by id.
  std::function<void(unsigned port, uint64_t clock)> on_answer;
  std::function<void(uint64_t id, uint64_t clock)> on_answered;

 private:
  tlm::tlm_sync_enum answer_unit(int port, tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                 sc_core::sc_time& delay) {
    return answer(port, payload, delay);
  }
  tlm::tlm_sync_enum answer(int port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    done(static_cast<PooledPayload&>(payload), time_of(delay));
    if (on_answer)
      on_answer(static_cast<unsigned>(port), clock_.cycle_from(queue.now() + time_of(delay)));
    return tlm::TLM_COMPLETED;
  }
  tlm::tlm_sync_enum answer_hart(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                 sc_core::sc_time& delay) {
    return answer(static_cast<int>(kHart + extension_of(payload)->unit), payload, delay);
  }
  void done(PooledPayload& payload, Time delay) {
    const uint64_t id = payload.extension.cookie, clock = clock_.cycle_from(queue.now() + delay);
    payload.release();
    if (on_answered) return on_answered(id, clock);
    ended[id] = clock;
  }
  PartitionServices& with_queue() {
    services_.queue = &queue;
    return services_;
  }

  const ClockDomain clock_{1400};
  PartitionServices services_;
  MemoryImage image_;
  HbmAddressMapping mapping_;
  FixedMemory memory_;
  PayloadPool pool_;

 public:
  L2Cache l2;

 private:
  tlm_utils::simple_initiator_socket_optional<L2Bench, 32, StrettoProtocol> cp_;
  tlm_utils::simple_initiator_socket_optional<L2Bench, 32, StrettoProtocol> device_;
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_GPU_L2_BENCH_H_
