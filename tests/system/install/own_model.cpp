// SPDX-License-Identifier: Apache-2.0
// An own model against an installed Stretto: an adder that lets the near-bank ALUs of one HBM
// channel add what it sends, and reads the sum back. Prints the sum and the time that all of it
// took.
#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>

#include "models/common/payload_pool.h"
#include "models/hbm/hbm.h"
#include "models/reference/mca_model.h"
#include "sw/include/formats/address_map.h"

using namespace stretto;

class Adder final : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Adder, 32, StrettoProtocol> mem;

  Adder(const sc_core::sc_module_name& name, EventQueue& queue)
      : sc_module(name), mem("mem"), queue_(queue) {
    mem.register_nb_transport_bw(this, &Adder::on_response);
  }
  void access(Operation operation, void* word) {
    PooledPayload& payload = pool_.acquire();
    payload.set_address(uint64_t{1} << STRETTO_NODE_SHIFT);  // Offset 0 of GPU 0.
    payload.set_command(operation == Operation::read ? tlm::TLM_READ_COMMAND
                                                     : tlm::TLM_WRITE_COMMAND);
    payload.set_data_ptr(static_cast<uint8_t*>(word));
    payload.set_data_length(4);
    payload.extension.operation = operation;
    payload.extension.element = ElementType::int32;
    payload.extension.stream = Stream::communication;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    mem->nb_transport_fw(payload, phase, delay);
  }
  unsigned answers = 0;
  Time last = 0;

 private:
  tlm::tlm_sync_enum on_response(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                 sc_core::sc_time& delay) {
    ++answers;
    last = queue_.now() + time_of(delay);
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  EventQueue& queue_;
  PayloadPool pool_;
};

int sc_main(int, char*[]) {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  HbmSpec spec;
  spec.channels = 1;
  EventQueue queue;
  PartitionServices services;
  services.queue = &queue;
  MemoryImage image;
  Hbm::Parts parts;
  parts.mca.push_back(std::make_unique<McaModel>());
  Hbm hbm("hbm", spec, 1, services, image, std::move(parts));
  Adder adder("adder", queue);
  adder.mem.bind(hbm.peer[0]);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);

  int32_t addends[3] = {1, 20, 300};
  int32_t sum = 0;
  for (int32_t& addend : addends) adder.access(Operation::update, &addend);
  adder.access(Operation::read, &sum);  // Order of accesses to one atom is kept.
  while (!queue.empty()) queue.run_until(queue.next_time() + 1);
  std::printf("sum %d after %llu ns, %u answers\n", sum,
              static_cast<unsigned long long>(adder.last / kNanosecond), adder.answers);
  return sum == 321 && adder.answers == 4 ? 0 : 1;
}
