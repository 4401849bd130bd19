// SPDX-License-Identifier: Apache-2.0
// An L2 alone: ports that call when a test says so, a memory of fixed latency.
#ifndef STRETTO_TESTS_UNIT_GPU_L2_BENCH_H_
#define STRETTO_TESTS_UNIT_GPU_L2_BENCH_H_

#include <functional>
#include <map>

#include "tests/unit/gpu/gpu_machine.h"

namespace stretto::test {

// An L2 with nothing but initiators and a memory.
class L2Bench final : public sc_core::sc_module {
 public:
  static constexpr unsigned kChannels = 32;
  struct Wanted {
    unsigned port;
    uint64_t clock;  // Of arrival.
    bool store;
    uint64_t address;
    uint32_t bytes;
    AllocationClass allocation = AllocationClass::cached;
    uint64_t* adds = nullptr;  // An atomic of 8 bytes: what is added, then what was there.
  };

  // `in_queue`: how long an atom waits for the memory's arbiter.
  L2Bench(sc_core::sc_module_name name, const L2Spec& spec, unsigned ports, Time in_queue = 0)
      : sc_module(name),
        unit("unit", ports),
        mapping_(kChannels, 256, 2048, true),
        memory_("memory", kChannels, 300 * kNanosecond, queue, image_),
        l2("l2", spec, mapping_, ports, clock_, with_queue(), image_),
        cp_("cp"),
        device_("device") {
    for (unsigned i = 0; i < ports; ++i) {
      unit[i].bind(l2.cu[i]);
      unit[i].register_nb_transport_bw(this, &L2Bench::answer, static_cast<int>(i));
    }
    for (unsigned i = 0; i < kChannels; ++i) l2.channel[i].bind(memory_.channel[i]);
    l2.remote.bind(memory_.fabric);
    cp_.bind(l2.cp);
    memory_.in_queue = in_queue;
    memory_.queue_sink = l2.queue_sink();
  }

  // Calls at once; the request arrives at its clock.
  void call(const Wanted& wanted, uint64_t id) {
    PooledPayload& payload = pool_.acquire();
    payload.set_command(wanted.store ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(kNode + wanted.address);
    payload.set_data_ptr(nullptr);
    payload.set_data_length(wanted.bytes);
    payload.extension = StrettoExtension{};
    payload.extension.operation = wanted.store ? Operation::write : Operation::read;
    payload.extension.allocation = wanted.allocation;
    payload.extension.tags_only = true;
    payload.extension.rows = 1;
    payload.extension.cookie = id;
    if (wanted.adds != nullptr) {
      payload.set_data_ptr(reinterpret_cast<unsigned char*>(wanted.adds));
      payload.extension.operation = Operation::atomic;
      payload.extension.atomic_op = AtomicOp::add;
      payload.extension.tags_only = false;
    }
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = delay_of(clock_.edge(wanted.clock) - queue.now());
    if (unit[wanted.port]->nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED)
      done(payload, time_of(delay));
  }
  void refuse(bool all) { memory_.errors = all; }
  uint64_t clock() const { return clock_.cycle_from(queue.now()); }
  // Runs until nothing is scheduled.
  void run() {
    while (!queue.empty()) queue.run_until(queue.next_time() + 1);
  }
  // Until the clock has come.
  void run_to(uint64_t clock) { queue.run_until(clock_.edge(clock)); }
  // So that what follows hits.
  void warm(uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at += 4096) call({0, clock(), true, at, 4096}, ~uint64_t{0});
    run();
    ended.clear();
  }

  sc_core::sc_vector<tlm_utils::simple_initiator_socket_tagged<L2Bench, 32, StrettoProtocol>> unit;
  EventQueue queue;
  std::map<uint64_t, uint64_t> ended;  // Clock of the answer by id.
  std::function<void(unsigned port, uint64_t clock)> on_answer;

 private:
  tlm::tlm_sync_enum answer(int port, tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                            sc_core::sc_time& delay) {
    done(static_cast<PooledPayload&>(payload), time_of(delay));
    if (on_answer)
      on_answer(static_cast<unsigned>(port), clock_.cycle_from(queue.now() + time_of(delay)));
    return tlm::TLM_COMPLETED;
  }
  void done(PooledPayload& payload, Time delay) {
    ended[payload.extension.cookie] = clock_.cycle_from(queue.now() + delay);
    payload.release();
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
  tlm_utils::simple_initiator_socket<L2Bench, 32, StrettoProtocol> cp_;
  tlm_utils::simple_initiator_socket_optional<L2Bench, 32, StrettoProtocol> device_;
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_GPU_L2_BENCH_H_
