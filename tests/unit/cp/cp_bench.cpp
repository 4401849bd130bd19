// SPDX-License-Identifier: Apache-2.0
// cp_bench [ELF] [quantum_ns]: speed of the command processor in a real partition under a real
// conductor, in million instructions a host second: guest/bench_loop.c on all harts, data in GPU
// memory behind the L1s, default quantum. Prints the figure of one run (SystemC elaborates once a
// process), then what the guest's caches did.
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

#include "models/common/error.h"
#include "models/common/memory_image.h"
#include "models/common/partition.h"
#include "models/cp/cp.h"

namespace {

using namespace stretto;

// Answers every access in the call, 200 ns later.
class Memory final : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<Memory, 32, StrettoProtocol> in;
  explicit Memory(const sc_core::sc_module_name& name) : sc_core::sc_module(name), in("in") {
    in.register_nb_transport_fw(this, &Memory::forward);
  }

 private:
  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                             sc_core::sc_time& delay) {
    const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
    if (payload.is_write()) {
      image_.write(offset, payload.get_data_ptr(), payload.get_data_length());
    } else {
      image_.read(offset, payload.get_data_ptr(), payload.get_data_length());
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    delay += delay_of(200 * kNanosecond);
    return tlm::TLM_COMPLETED;
  }
  MemoryImage image_;
};

class NoLinks final : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<NoLinks, 32, StrettoProtocol> out;
  explicit NoLinks(const sc_core::sc_module_name& name) : sc_core::sc_module(name), out("out") {}
};

int run(const char* file, uint32_t quantum_ns) {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  ConductorSpec conductor_spec;
  conductor_spec.threads = 1;
  conductor_spec.progress_limit_us = 0;
  Conductor conductor("conductor", conductor_spec, 500 * kNanosecond);
  Partition partition("gpu0", conductor, 1);
  CpSpec spec;
  spec.quantum_ns = quantum_ns;
  Cp cp("cp", spec, partition.services());
  Memory memory("memory");
  NoLinks links("links");
  cp.mem.bind(memory.in);
  links.out.bind(cp.doorbell);
  partition.add("cp", cp);
  cp.load(std::make_shared<const ElfImage>(ElfImage::load(file)));
  cp.on_end([&](uint64_t value) { partition.finish(value == 1 ? 0 : 1); });
  cp.start();
  const auto start = std::chrono::steady_clock::now();
  conductor.run();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (conductor.status() != 0) throw CheckError("the guest reports a wrong result");
  std::printf("cp_bench: %.0f MIPS  (%" PRIu64
              " instructions of %u harts in %.3f s, quantum %u ns, %" PRIu64 " events)\n",
              1e-6 * static_cast<double>(cp.instructions()) / elapsed.count(), cp.instructions(),
              spec.harts, elapsed.count(), quantum_ns, partition.queue().executed());
  StatisticSink sink;
  cp.report(sink);
  for (const Statistic& statistic : sink.all()) {
    if (statistic.value != 0)
      std::printf("  %-28s %12" PRIu64 "\n", statistic.path.c_str(), statistic.value);
  }
  return 0;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  try {
    return run(argc > 1 ? argv[1] : STRETTO_CP_BENCH_ELF,
               argc > 2 ? static_cast<uint32_t>(std::atoi(argv[2])) : CpSpec{}.quantum_ns);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cp_bench: %s\n", error.what());
    return 2;
  }
}
