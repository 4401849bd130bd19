// SPDX-License-Identifier: Apache-2.0
// Message passing between a hart of the command processor and a compute unit through a shared range:
// a bare-metal program launches the kernel and plays its part beside it. With the fence of its side
// the reader sees the new value, without it the old one, which its own cache or the hart's L1 holds.
#include <catch2/catch.hpp>

#include <map>
#include <memory>
#include <vector>

#include "models/common/elf_image.h"
#include "platform/config/machine.h"
#include "platform/machine/gpu_node.h"
#include "sw/include/formats/code_object.h"
#include "sw/include/tile.h"
#include "tests/system/programs/litmus_hart.h"

namespace stretto {
namespace {

constexpr uint64_t kOld = 0x1111'2222'3333'4444, kNew = 0x5555'6666'7777'8888;
constexpr uint64_t kNode = uint64_t{1} << STRETTO_NODE_SHIFT, kCode = kNode + 0x210000;
constexpr uint64_t kData = kNode + LITMUS_HART_SHARED, kFlag = kData + 0x1000;
constexpr uint64_t kOut = kNode + LITMUS_HART_UNCACHED, kGo = kOut + 0x1000, kDone = kOut + 0x2000;

using Operation = scopes_operation_t;
using Operations = std::vector<Operation>;

Operation load(uint64_t from, uint64_t to = 0) { return {SCOPES_LOAD, 0, from, to}; }
Operation store(uint64_t to, uint64_t value) { return {SCOPES_STORE, 0, to, value}; }
Operation add(uint64_t to) { return {SCOPES_ADD, 0, to, 1}; }
Operation fence(uint32_t detail) { return {SCOPES_FENCE, detail, 0, 0}; }
Operation wait(uint64_t word, uint32_t at_l2 = 0) { return {SCOPES_WAIT, at_l2, word, 1}; }

MachineSpec one_gpu() {
  Machine machine;
  machine.load("t3");
  machine.set("gpus=1");
  machine.set("gpu.cus=8");
  machine.check();
  return machine.spec();
}

template <class T>
void put(GpuNode& gpu, uint64_t address, const T& value) {
  gpu.memory.load(address & STRETTO_OFFSET_MASK, reinterpret_cast<const uint8_t*>(&value),
                  sizeof value);
}

// What the reader has left in kOut.
uint64_t play(const Operations& hart, const Operations& kernel) {
  const MachineSpec spec = one_gpu();
  Conductor conductor("conductor", ConductorSpec{}, spec.link.latency_ns * kNanosecond);
  const std::map<std::string, Impl> impls{{"grid_scheduler", Impl::model},
                                          {"mca", Impl::model},
                                          {"request_ring", Impl::model},
                                          {"tracker", Impl::model}};
  GpuNode gpu("gpu0", spec, 0, impls, conductor, nullptr, nullptr);
  gpu.cp.load(
      std::make_shared<ElfImage>(ElfImage::load(STRETTO_BUILD_DIR "/sw/firmware/litmus_hart.elf")));
  uint64_t tohost = 0;
  gpu.cp.on_end([&](uint64_t value) {
    tohost = value;
    gpu.partition.finish(0);
  });

  ElfImage elf = ElfImage::load(STRETTO_BUILD_DIR "/sw/kernels/scopes.elf");
  elf.relocate(kCode);
  for (const ElfImage::Segment& segment : elf.segments())
    gpu.memory.load(segment.address & STRETTO_OFFSET_MASK, segment.data.data(),
                    segment.data.size());
  const uint64_t descriptor_at = elf.symbol("scopes.kd").value();
  stretto_kernel_descriptor_t descriptor;
  gpu.memory.read(descriptor_at & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&descriptor),
                  sizeof descriptor);
  descriptor.code_base = kCode;
  descriptor.code_bytes = static_cast<uint32_t>(elf.high_address() - kCode);
  put(gpu, descriptor_at, descriptor);
  scopes_arguments_t arguments{};
  std::copy(kernel.begin(), kernel.end(), arguments.does[0]);
  litmus_hart_plan_t plan{descriptor_at, kNode + LITMUS_HART_PLAN + 0x1000, {}};
  std::copy(hart.begin(), hart.end(), plan.does);
  put(gpu, plan.kernarg, arguments);
  put(gpu, kNode + LITMUS_HART_PLAN, plan);
  put(gpu, kData, kOld);

  gpu.cp.start();
  conductor.run();
  CHECK(tohost == 1);
  uint64_t seen = 0;
  gpu.memory.read(kOut & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&seen), sizeof seen);
  return seen;
}

// The hart has the old value in its L1 when the unit writes.
uint64_t cu_to_cp(uint32_t hart_fence) {
  return play({load(kData), add(kGo), wait(kFlag), fence(hart_fence), load(kData, kOut)},
              {wait(kGo), store(kData, kNew), add(kFlag)});
}
TEST_CASE("shared, CU to CP: the hart acquires") { CHECK(cu_to_cp(SCOPES_ACQUIRE) == kNew); }
TEST_CASE("shared, CU to CP, spoiled: the hart does not acquire") { CHECK(cu_to_cp(0) == kOld); }

// The unit has the old value in its scalar cache when the hart writes.
uint64_t cp_to_cu(uint32_t hart_fence, unsigned scope) {
  return play({wait(kGo), store(kData, kNew), fence(hart_fence), add(kFlag), wait(kDone)},
              {load(kData), add(kGo), wait(kFlag, 1), fence(scope), load(kData, kOut), add(kDone)});
}
TEST_CASE("shared, CP to CU: the hart releases, the unit acquires at device scope") {
  CHECK(cp_to_cu(SCOPES_RELEASE, TILE_SCOPE_DEVICE) == kNew);
}
TEST_CASE("shared, CP to CU: the hart releases, the unit acquires at system scope") {
  CHECK(cp_to_cu(SCOPES_RELEASE, TILE_SCOPE_SYSTEM) == kNew);
}
TEST_CASE("shared, CP to CU, spoiled: the hart does not release") {
  CHECK(cp_to_cu(0, TILE_SCOPE_DEVICE) == kOld);
}
TEST_CASE("shared, CP to CU, spoiled: the unit acquires for its work-group") {
  CHECK(cp_to_cu(SCOPES_RELEASE, TILE_SCOPE_WORK_GROUP) == kOld);
}
TEST_CASE("shared, CP to CU, spoiled: the unit acquires nothing") {
  CHECK(cp_to_cu(SCOPES_RELEASE, TILE_SCOPE_WAVEFRONT) == kOld);
}

}  // namespace
}  // namespace stretto
