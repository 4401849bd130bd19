// SPDX-License-Identifier: Apache-2.0
// Question: can a kernel of one GPU start DMA to another by itself, with firmware that only sets
// up, and does what it must not do end in a clear report and untouched memory? Two GPUs of machine
// t3 with 8 compute units each, the shipped firmware, the kernel `send`, one host program a GPU
// over the driver. Data are a function of GPU and place, worked out again by the checks.
#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "models/common/elf_image.h"
#include "models/common/error.h"
#include "models/common/read_file.h"
#include "models/host/host.h"
#include "platform/config/machine.h"
#include "platform/jobs/job.h"
#include "platform/machine/gpu_node.h"
#include "sw/apps/ranks.h"
#include "sw/driver/stretto_driver.h"
#include "sw/kernels/kernel_arguments.h"

namespace stretto {
namespace {

constexpr uint32_t kGpus = 2;
constexpr uint64_t kBytes = 256 * 1024;
constexpr uint32_t kUnitShift = 6;

uint8_t data_at(uint32_t gpu, uint64_t offset) {
  return static_cast<uint8_t>((offset * 7 + offset / 251 + gpu * 101) ^ 0x5a);
}

std::vector<uint8_t> file(const std::string& path) {
  const std::string bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
}

// What the kernels of all GPUs send and wait for.
struct Plan {
  std::vector<uint64_t> requests;
  std::vector<std::pair<uint64_t, uint64_t>> waits;  // Offset from the send flags (below 2048) or,
                                                     // from 2048 on, the receive flags; value.
  uint32_t work_groups = 4;
};

class TwoGpus {
  const Plan plan_;
  const MachineSpec spec_;
  Conductor conductor_;

 public:
  TwoGpus(Impl impl, Plan plan)
      : plan_(std::move(plan)),
        spec_(two_gpus()),
        conductor_("conductor", ConductorSpec{}, spec_.link.latency_ns * kNanosecond) {
    const std::map<std::string, Impl> impls{{"grid_scheduler", Impl::model},
                                            {"mca", Impl::model},
                                            {"request_ring", impl},
                                            {"tracker", Impl::model}};
    std::vector<uint8_t> ports;
    const auto firmware =
        std::make_shared<ElfImage>(ElfImage::load(STRETTO_BUILD_DIR "/sw/firmware/main.elf"));
    for (uint32_t i = 0; i < kGpus; ++i) {
      gpus.push_back(std::make_unique<GpuNode>(("gpu" + std::to_string(i)).c_str(), spec_, i, impls,
                                               conductor_, nullptr, nullptr));
      GpuNode& gpu = *gpus.back();
      gpu.cp.load(firmware);
      gpu.cp.on_end([&gpu, this, i](uint64_t tohost) {
        tohost_[i] = tohost;
        gpu.partition.finish(static_cast<int>(tohost));
      });
      gpu.cp.start();
      ports.push_back(static_cast<uint8_t>(gpu.router.ports() - 1));
    }
    host_ = std::make_unique<Host>("host", spec_.host, spec_.pcie, ports, conductor_);
    conductor_.attach_host(*host_);
    kernel_ = file(STRETTO_BUILD_DIR "/sw/kernels/send.elf");
    for (uint32_t i = 0; i < kGpus; ++i) {
      host_->add_program("rank" + std::to_string(i), [this, i](HostCore& core) { rank(core, i); });
    }
  }

  void run() { conductor_.run(); }

  // Bytes of GPU `gpu`'s destination buffer that differ from `expected`.
  template <class Expected>
  uint64_t wrong_bytes(uint32_t gpu, Expected expected) const {
    std::vector<uint8_t> bytes(kBytes);
    gpus[gpu]->memory.read(places_[gpu].destination & STRETTO_OFFSET_MASK, bytes.data(), kBytes);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < kBytes; ++i) wrong += bytes[i] != expected(i);
    return wrong;
  }
  uint64_t word(uint32_t gpu, uint64_t address) const {
    uint64_t value = 0;
    gpus[gpu]->memory.read(address & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&value), 8);
    return value;
  }
  uint64_t statistic(uint32_t gpu, const std::string& name) const {
    StatisticSink sink;
    gpus[gpu]->partition.report(sink);
    for (const Statistic& one : sink.all()) {
      if (one.path == "gpu" + std::to_string(gpu) + ".request_ring." + name) return one.value;
    }
    throw CheckError("no statistic " + name);
  }
  std::string violated_laws() const {
    std::string text;
    for (const auto& gpu : gpus) {
      AuditSink sink;
      gpu->partition.audit(sink);
      for (const AuditResult& one : sink.all()) {
        if (!one.holds) text += one.where + ": " + one.law + "\n";
      }
    }
    return text;
  }

  struct Places {
    uint64_t source = 0, destination = 0, sc = 0, rc = 0, words = 0, requests = 0, waits = 0;
  };
  const Places& places(uint32_t gpu) const { return places_[gpu]; }
  uint64_t tohost(uint32_t gpu) const { return tohost_[gpu]; }
  const std::string& refusal(uint32_t gpu) const { return refusals_[gpu]; }

  std::vector<std::unique_ptr<GpuNode>> gpus;
  // Called by each rank between setup and launch, for more driver calls.
  std::function<stretto_status_t(stretto_client_t*, stretto_stream_t*, uint32_t)> extra;

 private:
  static MachineSpec two_gpus() {
    Machine machine;
    machine.load("t3");
    machine.set("gpus=2");
    machine.set("gpu.cus=8");
    machine.check();
    return machine.spec();
  }

  void rank(HostCore& core, uint32_t gpu) {
    const stretto_host_ops_t ops = host_ops(core);
    stretto_client_options_t options{};
    options.gpu = gpu;
    options.queue_count = 1;
    options.memory_begin = STRETTO_SYSTEM_BYTES;
    options.memory_end = uint64_t{1} << 30;
    options.costs = {200, 100, 100, 0, 0};
    std::unique_ptr<stretto_client_t, void (*)(stretto_client_t*)> client(
        stretto_client_create(&options, &ops), stretto_client_destroy);
    stretto_stream_t* stream = nullptr;
    const stretto_status_t status = program(core, client.get(), stream, gpu);
    if (status != STRETTO_OK) refusals_[gpu] = client->api->last_error(client.get());
  }

  stretto_status_t program(HostCore& core, stretto_client_t* client, stretto_stream_t* stream,
                           uint32_t gpu) {
    const stretto_api_t* api = client->api;
    Places& at = places_[gpu];
    const stretto_host_ops_t ops = host_ops(core);
    ranks_t ranks{};
    ranks.ops = &ops;
    ranks.rank = gpu;
    ranks.ranks = kGpus;
    TRY(api->stream_create(client, &stream));
    const auto allocate = [&](uint64_t bytes, uint64_t* address) {
      return api->allocate(client, stream, bytes, 4096, STRETTO_ALLOCATION_UNCACHED, address);
    };
    TRY(allocate(kBytes, &at.source));
    TRY(allocate(kBytes, &at.destination));
    TRY(allocate(STRETTO_SEND_FLAG_BYTES, &at.sc));
    TRY(allocate(STRETTO_SEND_FLAG_BYTES, &at.rc));
    TRY(allocate(4096, &at.words));
    TRY(allocate(64 * 1024, &at.requests));
    TRY(allocate(4096, &at.waits));
    std::vector<uint8_t> data(kBytes);
    for (uint64_t i = 0; i < kBytes; ++i) data[i] = data_at(gpu, i);
    TRY(api->copy_to_device(client, at.source, data.data(), kBytes));
    if (!plan_.requests.empty())
      TRY(api->copy_to_device(client, at.requests, plan_.requests.data(),
                              8 * plan_.requests.size()));
    std::vector<uint64_t> waits;
    for (const auto& [offset, value] : plan_.waits) {
      waits.push_back(offset < 2048 ? at.sc + offset : at.rc + offset - 2048);
      waits.push_back(value);
    }
    if (!waits.empty()) TRY(api->copy_to_device(client, at.waits, waits.data(), 8 * waits.size()));

    TRY(api->ring_start(client, stream, at.words + 8, at.sc, 8));
    TRY(api->ring_register(client, stream, 1, at.source, kBytes, kUnitShift,
                           STRETTO_RING_READABLE));
    TRY(api->ring_register(client, stream, 2, at.destination, kBytes, kUnitShift,
                           STRETTO_RING_WRITABLE));
    TRY(api->ring_export(client, 2, &exports_[gpu]));
    ranks_barrier(&ranks);
    TRY(api->ring_connect(client, stream, 0, 1 - gpu, places_[1 - gpu].rc, 0));
    TRY(api->ring_import(client, stream, 3, &exports_[1 - gpu]));
    if (extra) TRY(extra(client, stream, gpu));
    stretto_module_t* module = nullptr;
    stretto_kernel_t kernel{};
    TRY(api->module_load(client, kernel_.data(), kernel_.size(), &module));
    TRY(api->module_kernel(client, module, "send_requests", &kernel));
    TRY(api->stream_synchronize(client, stream));
    ranks_barrier(&ranks);
    const stretto_send_arguments_t arguments{{stretto_gpu_address(gpu, STRETTO_SEND_APERTURE),
                                              at.words, at.words + 8, STRETTO_SEND_RING_DEPTH},
                                             at.requests,
                                             at.waits,
                                             static_cast<uint32_t>(plan_.requests.size()),
                                             static_cast<uint32_t>(plan_.waits.size())};
    stretto_launch_t launch{};
    launch.kernel = &kernel;
    launch.arguments = &arguments;
    launch.argument_bytes = sizeof arguments;
    launch.work_groups = plan_.work_groups;
    TRY(api->launch(client, stream, &launch));
    return api->stream_synchronize(client, stream);
  }

  std::unique_ptr<Host> host_;
  std::vector<uint8_t> kernel_;
  Places places_[kGpus];
  stretto_ring_export_t exports_[kGpus] = {};
  uint64_t tohost_[kGpus] = {};
  std::string refusals_[kGpus];
};

constexpr uint64_t kBoth = STRETTO_SR_SC | STRETTO_SR_RC;
constexpr uint64_t kSent = 8 * 1,
                   kReceived = 2048 + 8 * 3;  // Flags of buffer 1 here, of 3 at the peer.

uint64_t send(uint32_t offset, uint32_t length, uint32_t source = 1) {
  return stretto_send_request(STRETTO_SR_WRITE, source, 3, 0, offset, length, kBoth);
}

// The whole buffer in pieces of 4 KiB.
Plan whole_buffer() {
  Plan plan;
  const uint32_t units = kBytes >> kUnitShift;
  for (uint32_t offset = 0; offset < units; offset += 64) plan.requests.push_back(send(offset, 64));
  plan.waits = {{kSent, plan.requests.size()}, {kReceived, plan.requests.size()}};
  return plan;
}

void both_ways(Impl impl) {
  TwoGpus machine(impl, whole_buffer());
  machine.run();
  for (uint32_t gpu = 0; gpu < kGpus; ++gpu) {
    CHECK(machine.refusal(gpu) == "");
    CHECK(machine.tohost(gpu) == 0);
    CHECK(machine.wrong_bytes(gpu, [&](uint64_t i) { return data_at(1 - gpu, i); }) == 0);
    CHECK(machine.word(gpu, machine.places(gpu).sc + kSent) == 64);
    CHECK(machine.word(gpu, machine.places(gpu).rc + kReceived - 2048) == 64);
    CHECK(machine.word(gpu, machine.places(gpu).words + 8) == 64);  // The head replica.
    CHECK(machine.statistic(gpu, "transfers") == 64);
    CHECK(machine.statistic(gpu, "bytes") == kBytes);
    CHECK(machine.statistic(gpu, "sent_flags") == 64);
  }
  CHECK(machine.violated_laws() == "");
}

TEST_CASE("kernels of two GPUs send a buffer to each other by themselves", "[GD-DMA-01]") {
  both_ways(Impl::rtl);
}
TEST_CASE("kernels send with the reference model in the place of the RTL") {
  both_ways(Impl::model);
}
TEST_CASE("kernels send with RTL and model in lockstep") { both_ways(Impl::lockstep); }

TEST_CASE("more requests than the ring holds wait for the replica and all arrive", "[GD-DMA-08]") {
  Plan plan;
  for (uint32_t i = 0; i < 1000; ++i) plan.requests.push_back(send(i, 1));
  plan.waits = {{kSent, 1000}, {kReceived, 1000}};
  plan.work_groups = 8;
  TwoGpus machine(Impl::rtl, plan);
  machine.run();
  for (uint32_t gpu = 0; gpu < kGpus; ++gpu) {
    CHECK(machine.wrong_bytes(gpu, [&](uint64_t i) {
      return i < 1000 << kUnitShift ? data_at(1 - gpu, i) : uint8_t{0};
    }) == 0);
    CHECK(machine.statistic(gpu, "dropped") == 0);
    CHECK(machine.statistic(gpu, "replicas") > 3);
  }
  CHECK(machine.violated_laws() == "");
}

// One bad request after good ones: the run ends, and says why; no byte but the good ones moved.
void refused(uint64_t bad, const std::string& why) {
  Plan plan;
  plan.requests = {bad};
  plan.waits = {{kSent, 1}};
  plan.work_groups = 1;
  TwoGpus machine(Impl::rtl, plan);
  machine.run();
  const std::string words = machine.gpus[0]->cp.last_words() + machine.gpus[1]->cp.last_words();
  INFO(words);
  CHECK((machine.tohost(0) | machine.tohost(1)) == (6 << 1 | 1));
  CHECK_THAT(words, Catch::Contains(why));
  for (uint32_t gpu = 0; gpu < kGpus; ++gpu) {
    CHECK(machine.wrong_bytes(gpu, [](uint64_t) { return uint8_t{0}; }) == 0);
    CHECK(machine.statistic(gpu, "transfers") == 0);
  }
}

TEST_CASE("a request that names a buffer nobody registered ends the run with its name") {
  refused(send(0, 1, 9),
          "buffer 9 -> 3, connection 0, offset 0, length 1: source buffer is not registered");
}
TEST_CASE("a request beyond its buffer ends the run and moves nothing") {
  refused(send((kBytes >> kUnitShift) - 1, 2), "goes beyond the source buffer");
}
TEST_CASE("a request with reserved bits ends the run and moves nothing") {
  refused(send(0, 1) | uint64_t{1} << 63, "reserved bits are set");
}

// Buffer 4 is the peer's source, as seen from here; 2 the own destination.
Plan reads(uint32_t pieces) {
  Plan plan;
  const uint32_t units = static_cast<uint32_t>(kBytes >> kUnitShift) / pieces;
  for (uint32_t i = 0; i < pieces; ++i) {
    plan.requests.push_back(
        stretto_send_request(STRETTO_SR_READ, 4, 2, 0, i * units, units, kBoth));
  }
  plan.waits = {{8 * 4, pieces}, {2048 + 8 * 2, pieces}};  // Sent here, received from the peer.
  return plan;
}

TEST_CASE("kernels of two GPUs read a buffer of each other by themselves") {
  TwoGpus machine(Impl::rtl, reads(16));
  machine.extra = [&](stretto_client_t* client, stretto_stream_t* stream, uint32_t gpu) {
    const stretto_ring_export_t peer{machine.places(1 - gpu).source, kBytes, kUnitShift,
                                     STRETTO_RING_READABLE};
    return client->api->ring_import(client, stream, 4, &peer);
  };
  machine.run();
  for (uint32_t gpu = 0; gpu < kGpus; ++gpu) {
    CHECK(machine.tohost(gpu) == 0);
    CHECK(machine.wrong_bytes(gpu, [&](uint64_t i) { return data_at(1 - gpu, i); }) == 0);
    CHECK(machine.statistic(gpu, "transfers") == 16);
    CHECK(machine.statistic(gpu, "failed") == 0);
  }
  CHECK(machine.violated_laws() == "");
}

TEST_CASE("a buffer that was taken back is not registered any more") {
  Plan plan;
  plan.requests = {send(0, 1)};
  TwoGpus machine(Impl::rtl, plan);
  machine.extra = [](stretto_client_t* client, stretto_stream_t* stream, uint32_t) {
    return client->api->ring_unregister(client, stream, 1);
  };
  machine.run();
  CHECK_THAT(machine.gpus[0]->cp.last_words() + machine.gpus[1]->cp.last_words(),
             Catch::Contains("source buffer is not registered"));
}

TEST_CASE("the firmware refuses flags and buffers outside of the GPUs") {
  TwoGpus machine(Impl::model, Plan{});
  machine.extra = [](stretto_client_t* client, stretto_stream_t* stream, uint32_t gpu) {
    if (gpu != 0)
      return client->api->ring_connect(client, stream, 1, 0, stretto_gpu_address(1, 0), 0);
    const stretto_ring_export_t beyond{uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT, 4096, 6,
                                       STRETTO_RING_WRITABLE};
    return client->api->ring_import(client, stream, 4, &beyond);
  };
  // Each program ends with its refusal; neither reaches the second meeting.
  machine.run();
  for (uint32_t gpu = 0; gpu < kGpus; ++gpu) {
    CHECK_THAT(machine.refusal(gpu), Catch::Contains("outside of what is mapped"));
  }
}

}  // namespace
}  // namespace stretto
