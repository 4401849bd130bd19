// SPDX-License-Identifier: Apache-2.0
// One GPU with the shipped firmware, a host program that uses the driver, and a kernel of the test:
// what litmus tests are made of. Machine t3 with 8 compute units. Settings in STRETTO_SABOTAGE
// (--set KEY=VALUE) come on top: tests/sabotage.sh shows by them that a test can fail.
#ifndef STRETTO_TESTS_SUPPORT_LITMUS_H_
#define STRETTO_TESTS_SUPPORT_LITMUS_H_

#include <catch2/catch.hpp>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "models/common/elf_image.h"
#include "models/common/read_file.h"
#include "models/host/host.h"
#include "platform/config/machine.h"
#include "platform/jobs/job.h"
#include "platform/machine/gpu_node.h"
#include "sw/apps/ranks.h"
#include "sw/driver/stretto_driver.h"

namespace stretto::test {

inline constexpr uint64_t kOld = 0x1111'2222'3333'4444, kNew = 0x5555'6666'7777'8888;

class LitmusMachine {
 public:
  using Program = std::function<stretto_status_t()>;

  // `kernel` names ELF and entry in build/sw/kernels. Bits of `spoil` are taken out of the headers
  // of all packets.
  explicit LitmusMachine(const char* kernel, uint32_t spoil = 0)
      : spec_(one_gpu()),
        kernel_name_(kernel),
        conductor_("conductor", ConductorSpec{}, spec_.link.latency_ns * kNanosecond) {
    spoil_ = spoil;
    const std::map<std::string, Impl> impls{{"grid_scheduler", Impl::model},
                                            {"mca", Impl::model},
                                            {"request_ring", Impl::model},
                                            {"tracker", Impl::model}};
    gpu_ = std::make_unique<GpuNode>("gpu0", spec_, 0, impls, conductor_, nullptr, nullptr);
    gpu_->cp.load(
        std::make_shared<ElfImage>(ElfImage::load(STRETTO_BUILD_DIR "/sw/firmware/main.elf")));
    gpu_->cp.on_end([this](uint64_t tohost) { gpu_->partition.finish(static_cast<int>(tohost)); });
    gpu_->cp.start();
    const std::vector<uint8_t> ports{static_cast<uint8_t>(gpu_->router.ports() - 1)};
    host_ = std::make_unique<Host>("host", spec_.host, spec_.pcie, ports, conductor_);
    conductor_.attach_host(*host_);
  }

  // Runs it on the host, between two synchronized streams and the end. A law that does not hold
  // fails the test.
  void run(Program program) {
    host_->add_program("program", [&](HostCore& on) { run_on(on, program); });
    conductor_.run();
    AuditSink sink;
    gpu_->partition.audit(sink);
    for (const AuditResult& one : sink.all()) {
      INFO(one.where << ": " << one.law);
      CHECK(one.holds);
    }
    INFO(refusal_);
    CHECK(status_ == STRETTO_OK);
  }

  uint64_t word(uint64_t address) const {
    uint64_t value = 0;
    gpu_->memory.read(address & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&value), 8);
    return value;
  }
  static uint64_t host_word(unsigned page = 0) {
    return (uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT) + 0x20000 + 4096 * page;
  }

  // In the program.
  template <class Arguments>
  stretto_status_t launch(stretto_stream_t* stream, const Arguments& arguments, size_t work_groups,
                          bool device_scope) {
    stretto_launch_t launch{};
    launch.kernel = &kernel_;
    launch.arguments = &arguments;
    launch.argument_bytes = sizeof arguments;
    launch.work_groups = static_cast<uint32_t>(work_groups);
    launch.after_all_earlier = 1;
    launch.device_scope = device_scope;
    return api->launch(client, stream, &launch);
  }
  stretto_status_t copy(stretto_stream_t* stream, uint64_t to, uint64_t from) {
    return api->copy(client, stream, to, from, 8, STRETTO_ACCOUNT_OTHER);
  }
  stretto_status_t write(uint64_t to, uint64_t value) {
    return api->copy_to_device(client, to, &value, sizeof value);
  }
  stretto_status_t allocate(uint32_t allocation, uint64_t* address) {
    return api->allocate(client, a, 65536, 4096, allocation, address);
  }
  stretto_status_t synchronize() { return api->stream_synchronize(client, a); }

  HostCore* core = nullptr;
  stretto_client_t* client = nullptr;
  const stretto_api_t* api = nullptr;
  stretto_stream_t *a = nullptr, *b = nullptr;

 private:
  static MachineSpec one_gpu() {
    Machine machine;
    machine.load("t3");
    machine.set("gpus=1");
    machine.set("gpu.cus=8");
    const char* const sabotage = std::getenv("STRETTO_SABOTAGE");
    std::istringstream words(sabotage == nullptr ? "" : sabotage);
    for (std::string one; words >> one;) {
      if (one != "--set") machine.set(one);
    }
    machine.check();
    return machine.spec();
  }

  // Headers of packets, which alone have four bytes, lose their spoiled bits.
  static void write_spoiled(void* context, uint64_t address, const void* data, uint64_t bytes) {
    uint32_t header = 0;
    if (bytes == sizeof header) {
      std::memcpy(&header, data, sizeof header);
      header &= ~spoil_;
      data = &header;
    }
    write_(context, address, data, bytes);
  }

  void run_on(HostCore& on, const Program& program) {
    core = &on;
    stretto_host_ops_t ops = host_ops(on);
    write_ = ops.write;
    ops.write = write_spoiled;
    stretto_client_options_t options{};
    options.queue_count = 2;
    options.memory_begin = STRETTO_SYSTEM_BYTES;
    options.memory_end = uint64_t{1} << 30;
    options.costs = {200, 100, 100, 0, 0};
    client = stretto_client_create(&options, &ops);
    api = client->api;
    status_ = start(program);
    if (status_ != STRETTO_OK) refusal_ = api->last_error(client);
    stretto_client_destroy(client);
  }

  stretto_status_t start(const Program& program) {
    TRY(api->stream_create(client, &a));
    TRY(api->stream_create(client, &b));
    stretto_module_t* module = nullptr;
    const std::string elf =
        read_file(std::string(STRETTO_BUILD_DIR "/sw/kernels/") + kernel_name_ + ".elf");
    TRY(api->module_load(client, elf.data(), elf.size(), &module));
    TRY(api->module_kernel(client, module, kernel_name_, &kernel_));
    TRY(synchronize());
    TRY(program());
    TRY(api->stream_synchronize(client, b));
    return synchronize();
  }

  inline static decltype(stretto_host_ops_t::write) write_;  // One machine a process.
  inline static uint32_t spoil_;
  const MachineSpec spec_;
  const char* const kernel_name_;
  Conductor conductor_;
  std::unique_ptr<GpuNode> gpu_;
  std::unique_ptr<Host> host_;
  stretto_kernel_t kernel_{};
  stretto_status_t status_ = STRETTO_ERROR_STATE;
  std::string refusal_;
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SUPPORT_LITMUS_H_
