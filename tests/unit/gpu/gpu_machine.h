// SPDX-License-Identifier: Apache-2.0
// One GPU's compute side on a test bench: memory and fabric of fixed latency, registers written as
// firmware would.
#ifndef STRETTO_TESTS_UNIT_GPU_GPU_MACHINE_H_
#define STRETTO_TESTS_UNIT_GPU_GPU_MACHINE_H_

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/common/arithmetic.h"
#include "models/common/atomic_op.h"
#include "models/common/elf_image.h"
#include "models/common/queue_sink.h"
#include "models/gpu/gpu.h"
#include "models/reference/grid_scheduler_model.h"
#include "sw/include/formats/code_object.h"
#include "sw/include/regs/field.h"
#include "sw/include/regs/gpu_regs.h"
#include "sw/include/regs/grid_scheduler_regs.h"
#include "sw/include/regs/range_table_regs.h"

namespace stretto::test {

// Every channel (and the fabric) answers after the same time. Bytes move when the request arrives.
class FixedMemory final : public sc_core::sc_module, private EventHandler {
 public:
  using Socket = tlm_utils::simple_target_socket_tagged<FixedMemory, 32, StrettoProtocol>;
  sc_core::sc_vector<Socket> channel;
  Socket fabric;

  struct Access {
    Time at;
    tlm::tlm_command command;
    uint64_t address;
    unsigned bytes;
    StrettoExtension extension;
    std::vector<uint8_t> data;
  };

  FixedMemory(sc_core::sc_module_name name, unsigned channels, Time latency, EventQueue& queue,
              MemoryImage& image);

  bool record = false;
  std::vector<Access> accesses;  // If `record`.
  std::vector<Access> remote;    // Always.
  uint64_t read_bytes = 0, written_bytes = 0, updated_bytes = 0, requests = 0;
  std::array<uint64_t, STRETTO_ACCOUNTS> written_by{};
  bool errors = false;  // Answer everything with an error.
  // Hears of each atom that it has left its queue `in_queue` after it came; if set.
  QueueSink* queue_sink = nullptr;
  Time in_queue = 0;
  bool late = false;  // Bytes of writes move when they are answered.

 private:
  static constexpr uint64_t kLeavesQueue = uint64_t{1} << 63;  // Event: the atom at this offset.
  tlm::tlm_sync_enum forward(int port, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void perform(tlm::tlm_generic_payload& payload);
  void on_event(uint64_t slot) override;

  const Time latency_;
  EventQueue& queue_;
  MemoryImage& image_;
  std::vector<std::pair<int, tlm::tlm_generic_payload*>> waiting_;
  std::vector<size_t> free_;
};

struct Lines final : InterruptLine {
  std::map<unsigned, bool> level;
  void set(unsigned line, bool value) override { level[line] = value; }
};

// The memory map of the tests; offsets in GPU 0.
inline constexpr uint64_t kNode = uint64_t{1} << STRETTO_NODE_SHIFT;
inline constexpr uint64_t kCode = kNode + 0x10000;
inline constexpr uint64_t kArguments = kNode + 0x8000;

constexpr uint8_t kKernelAccount = 9;

struct Launch {
  uint64_t entry = kCode;
  uint64_t code_base = kCode;
  uint64_t code_bytes = 0x10000;
  uint32_t kernarg_bytes = 256;
  uint32_t registers_bytes = 128 * 1024;
  uint32_t lds_bytes = 64 * 1024;
  uint32_t private_bytes = 1024;
  uint32_t wavefronts = 1;
  uint32_t workgroups = 1;
  uint32_t grid_y = 0, grid_z = 0;
  uint32_t start = 0;
  bool update = false;
  bool communication = false;
  uint8_t account = kKernelAccount;
};

struct GpuMachineModule : sc_core::sc_module {
  static constexpr unsigned kChannels = 32;

  GpuMachineModule(sc_core::sc_module_name name, GpuSpec gpu_spec, L2Spec l2_spec, Time latency,
                   std::unique_ptr<GridScheduler> scheduler);
  ~GpuMachineModule() override;
  static GpuSpec small() {
    GpuSpec spec;
    spec.cus = 4;
    return spec;
  }

  // Registers, through b_transport as the CP's bus would.
  void write(uint32_t offset, uint64_t value);
  uint64_t read(uint32_t offset);
  void write_scheduler(uint32_t offset, uint64_t value);
  uint64_t read_scheduler(uint32_t offset);
  void write_ranges(uint32_t offset, uint64_t value);
  uint64_t read_ranges(uint32_t offset);

  void map(const RangeEntry& entry);
  void map(uint64_t base, uint64_t bytes, AllocationClass allocation = AllocationClass::cached);

  void load_words(const std::vector<uint32_t>& words, uint64_t address = kCode);
  template <class Arguments>
  void load_arguments(const Arguments& arguments) {
    image.load(kArguments & STRETTO_OFFSET_MASK, reinterpret_cast<const uint8_t*>(&arguments),
               sizeof arguments);
  }
  // Loads build/sw/kernels/<file> at kCode and returns the launch of `kernel`.
  Launch load_kernel(const std::string& file, const std::string& kernel);

  void set_context(const Launch& what, unsigned slot);
  void launch(const Launch& what, unsigned slot = 0);
  void clear_done(unsigned slot = 0) { write_scheduler(GRID_SCHEDULER_DONE_OFFSET, 1u << slot); }
  // Runs until nothing is scheduled; returns the time of the last event.
  Time run(Time limit = 100'000 * kMicrosecond);
  Time run_kernel(const Launch& what);

  // A request of the command processor; done when `cp_done` counts it.
  PooledPayload& cp_request(tlm::tlm_command command, Operation operation, uint64_t address,
                            uint8_t* data, unsigned bytes,
                            AllocationClass allocation = AllocationClass::cached);
  tlm::tlm_sync_enum cp_backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                 sc_core::sc_time&);

  template <class T>
  T value_at(uint64_t address) {
    T value;
    image.read(address & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&value), sizeof value);
    return value;
  }
  template <class T>
  void set_value(uint64_t address, T value) {
    image.write(address & STRETTO_OFFSET_MASK, reinterpret_cast<const uint8_t*>(&value),
                sizeof value);
  }

  PartitionServices& with_queue() {
    services.queue = &queue;
    return services;
  }

  GpuSpec spec;
  EventQueue queue;
  PartitionServices services;
  MemoryImage image;
  HbmAddressMapping mapping;
  FixedMemory memory;
  Gpu gpu;
  tlm_utils::simple_initiator_socket<GpuMachineModule, 32, StrettoProtocol> cp;
  tlm_utils::simple_initiator_socket<GpuMachineModule, 32, StrettoProtocol> links;  // As `cp`.
  tlm_utils::simple_initiator_socket<GpuMachineModule> regs;
  tlm_utils::simple_initiator_socket<GpuMachineModule> scheduler_regs;
  tlm_utils::simple_initiator_socket<GpuMachineModule> range_regs;
  PayloadPool cp_pool;
  std::vector<tlm::tlm_generic_payload*> cp_done;
  Lines lines;
  unsigned entries = 0;
};

// Elaborated, with the scheduler told what a unit has.
struct GpuMachine : GpuMachineModule {
  explicit GpuMachine(
      GpuSpec gpu_spec = small(), L2Spec l2_spec = {}, Time latency = 300 * kNanosecond,
      std::unique_ptr<GridScheduler> scheduler = std::make_unique<GridSchedulerModel>());
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_GPU_GPU_MACHINE_H_
