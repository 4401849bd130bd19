// SPDX-License-Identifier: Apache-2.0
// Litmus tests on ranges of class shared, whose caches have bytes: at each scope that is wide enough
// the reader sees the new value, and at each that is not the old one is really read. Agents of one
// GPU: compute units, command processor, DMA engine, host; sw/include/MEMORY_MODEL.md has the rules.
// A reader reads its data before it is written, so that its caches hold the old value.
#include "tests/support/litmus.h"
#include "tests/system/programs/scopes_arguments.h"

namespace stretto {
namespace {

using test::kNew;
using test::kOld;
constexpr uint32_t kNoAcquire = 3u << 9, kNoRelease = 3u << 11;  // Of a packet's header, queue.h.
constexpr unsigned kWavefront = TILE_SCOPE_WAVEFRONT, kGroup = TILE_SCOPE_WORK_GROUP,
                   kDevice = TILE_SCOPE_DEVICE, kSystem = TILE_SCOPE_SYSTEM;

using Operation = scopes_operation_t;
using Group = std::vector<Operation>;

Operation load(uint64_t from, uint64_t to = 0) { return {SCOPES_LOAD, 0, from, to}; }
Operation store(uint64_t to, uint64_t value) { return {SCOPES_STORE, 0, to, value}; }
Operation tile(uint64_t to, uint64_t from, uint32_t rows) { return {SCOPES_TILE, rows, to, from}; }
Operation fence(unsigned scope) { return {SCOPES_FENCE, scope, 0, 0}; }
Operation riscv_fence() { return {SCOPES_RISCV_FENCE, 0, 0, 0}; }
Operation add(uint64_t to, uint64_t value, uint32_t order = 0) {
  return {SCOPES_ADD, order, to, value};
}
// Of atomics and RISC-V fences from here on.
Operation riscv_scope(unsigned scope) { return {SCOPES_SCOPE, scope, 0, 0}; }
Operation wait_at_l2(uint64_t word) { return {SCOPES_WAIT, 1, word, 1}; }
Operation wait_at_memory(uint64_t word) { return {SCOPES_WAIT, 0, word, 1}; }

// Atomics without an address get `word`.
void append(Group& group, const Group& more, uint64_t word) {
  for (Operation one : more) {
    if (one.what == SCOPES_ADD) one.address = word;
    group.push_back(one);
  }
}

class Litmus : public test::LitmusMachine {
 public:
  using Program = std::function<stretto_status_t(Litmus&)>;

  explicit Litmus(const Program& program, uint32_t spoil = 0) : LitmusMachine("scopes", spoil) {
    run([&]() -> stretto_status_t {
      for (uint64_t* const one : {&data, &other, &flag, &elsewhere})
        TRY(allocate(STRETTO_ALLOCATION_SHARED, one));
      for (uint64_t* const one : {&out, &ready, &go, &fresh})
        TRY(allocate(STRETTO_ALLOCATION_UNCACHED, one));
      for (const uint64_t one : {data, other}) TRY(write(one, kOld));
      TRY(write(fresh, kNew));
      TRY(write(ready, 1));  // Agents other than compute units wait for 0.
      TRY(api->remote_map(client, a, host_word(), 4096, host_word(), 0));
      TRY(synchronize());
      return program(*this);
    });
  }

  uint64_t seen(unsigned reader = 0) const { return word(out + 8 * reader); }

  // A kernel that neither acquires nor releases more than device scope: what it lacks, fences have.
  stretto_status_t play(const std::vector<Group>& groups) {
    scopes_arguments_t arguments{};
    for (size_t i = 0; i < groups.size(); ++i)
      std::copy(groups[i].begin(), groups[i].end(), arguments.does[i]);
    return launch(a, arguments, groups.size(), true);
  }

  uint64_t data = 0, other = 0, flag = 0, elsewhere = 0;  // Shared; data and other hold kOld.
  uint64_t out = 0, ready = 0, go = 0, fresh = 0;         // Uncached; fresh holds kNew.
};

uint64_t seen_by(const Litmus::Program& program, uint32_t spoil = 0) {
  return Litmus(program, spoil).seen();
}

// Compute unit to compute unit. What the writer does between data and flag, and the reader between
// flag and data.

uint64_t cu_to_cu(const Group& between, const Group& behind) {
  return seen_by([&](Litmus& l) {
    Group writer{wait_at_memory(l.go), store(l.data, kNew)};
    Group reader{load(l.data), store(l.go, 1), wait_at_l2(l.flag)};
    append(writer, between, l.flag);
    writer.push_back(add(l.flag, 1));
    append(reader, behind, l.flag);
    reader.push_back(load(l.data, l.out));
    return l.play({writer, reader});
  });
}
uint64_t cu_to_cu(unsigned scope) { return cu_to_cu({fence(scope)}, {fence(scope)}); }

TEST_CASE("shared, CU to CU: fences of device scope") { CHECK(cu_to_cu(kDevice) == kNew); }
TEST_CASE("shared, CU to CU: fences of system scope") { CHECK(cu_to_cu(kSystem) == kNew); }
TEST_CASE("shared, CU to CU, spoiled: fences of a work-group") { CHECK(cu_to_cu(kGroup) == kOld); }
TEST_CASE("shared, CU to CU, spoiled: fences of a wavefront") {
  CHECK(cu_to_cu(kWavefront) == kOld);
}
TEST_CASE("shared, CU to CU: RISC-V fences have device scope at the start") {
  CHECK(cu_to_cu({riscv_fence()}, {riscv_fence()}) == kNew);
}
TEST_CASE("shared, CU to CU, spoiled: a RISC-V fence of a work-group") {
  CHECK(cu_to_cu({}, {riscv_scope(kGroup), riscv_fence()}) == kOld);
}
TEST_CASE("shared, CU to CU: an AMO that acquires at device scope") {
  CHECK(cu_to_cu({}, {add(0, 0, SCOPES_ACQUIRE)}) == kNew);
}
TEST_CASE("shared, CU to CU, spoiled: an AMO that acquires for its work-group") {
  CHECK(cu_to_cu({}, {riscv_scope(kGroup), add(0, 0, SCOPES_ACQUIRE)}) == kOld);
}
TEST_CASE("shared, CU to CU, spoiled: an AMO that acquires nothing") {
  CHECK(cu_to_cu({}, {add(0, 0)}) == kOld);
}

// A tile store is under way when the next instruction issues; an AMO passes it by.

uint64_t tile_to_cu(const Group& between, uint32_t order = 0) {
  return seen_by([&](Litmus& l) {
    Group writer{wait_at_memory(l.go), tile(l.elsewhere, l.fresh, 112), tile(l.data, l.fresh, 1)};
    writer.insert(writer.end(), between.begin(), between.end());
    writer.push_back(add(l.flag, 1, order));
    return l.play(
        {writer,
         {load(l.data), store(l.go, 1), wait_at_l2(l.flag), fence(kDevice), load(l.data, l.out)}});
  });
}
TEST_CASE("shared, CU to CU: a tile before a fence of device scope") {
  CHECK(tile_to_cu({fence(kDevice)}) == kNew);
}
TEST_CASE("shared, CU to CU: a tile before an AMO that releases") {
  CHECK(tile_to_cu({}, SCOPES_RELEASE) == kNew);
}
TEST_CASE("shared, CU to CU, spoiled: a tile before a fence of a wavefront") {
  CHECK(tile_to_cu({fence(kWavefront)}) == kOld);
}
TEST_CASE("shared, CU to CU, spoiled: a tile before an AMO that releases nothing") {
  CHECK(tile_to_cu({}) == kOld);
}

// Compute unit to DMA engine, which a stream sets to work when the kernel clears `ready`.

uint64_t cu_to_dma(const Group& between, uint32_t order = 0) {
  return seen_by([&](Litmus& l) -> stretto_status_t {
    TRY(l.api->stream_wait(l.client, l.b, l.ready, 1000));
    TRY(l.copy(l.b, l.out, l.data));
    Group writer{load(l.data), store(l.data, kNew)};
    writer.insert(writer.end(), between.begin(), between.end());
    writer.push_back(add(l.ready, ~uint64_t{0}, order));
    return l.play({writer});
  });
}
TEST_CASE("shared, CU to DMA: a fence of system scope") {
  CHECK(cu_to_dma({fence(kSystem)}) == kNew);
}
TEST_CASE("shared, CU to DMA, spoiled: a fence of device scope") {
  CHECK(cu_to_dma({fence(kDevice)}) == kOld);
}
TEST_CASE("shared, CU to DMA, spoiled: a fence of a work-group") {
  CHECK(cu_to_dma({fence(kGroup)}) == kOld);
}
TEST_CASE("shared, CU to DMA, spoiled: a fence of a wavefront") {
  CHECK(cu_to_dma({fence(kWavefront)}) == kOld);
}
TEST_CASE("shared, CU to DMA: a RISC-V fence of system scope") {
  CHECK(cu_to_dma({riscv_scope(kSystem), riscv_fence()}) == kNew);
}
TEST_CASE("shared, CU to DMA, spoiled: a RISC-V fence of device scope") {
  CHECK(cu_to_dma({riscv_fence()}) == kOld);
}
TEST_CASE("shared, CU to DMA: an AMO that releases at system scope") {
  CHECK(cu_to_dma({riscv_scope(kSystem)}, SCOPES_RELEASE) == kNew);
}
TEST_CASE("shared, CU to DMA, spoiled: an AMO that releases at device scope") {
  CHECK(cu_to_dma({}, SCOPES_RELEASE) == kOld);
}

// An atomic itself.

uint64_t atomic_to_dma(unsigned scope) {
  return seen_by([&](Litmus& l) -> stretto_status_t {
    TRY(l.api->stream_wait(l.client, l.b, l.ready, 1000));
    TRY(l.copy(l.b, l.out, l.data));
    return l.play({{load(l.data), store(l.data, kOld + 4), riscv_scope(scope), add(l.data, 3),
                    store(l.ready, 0)}});
  });
}
TEST_CASE("shared, CU to DMA: an atomic of system scope is performed at memory") {
  CHECK(atomic_to_dma(kSystem) == kOld + 7);
}
TEST_CASE("shared, CU to DMA, spoiled: an atomic of device scope is performed at the L2") {
  CHECK(atomic_to_dma(kDevice) == kOld);
}

// DMA engine to compute unit.

uint64_t dma_to_cu(const Group& behind) {
  return seen_by([&](Litmus& l) -> stretto_status_t {
    TRY(l.api->stream_wait(l.client, l.b, l.ready, 1000));
    TRY(l.copy(l.b, l.data, l.fresh));
    TRY(l.api->signal(l.client, l.b, l.go, 1));
    Group reader{load(l.data), store(l.ready, 0), wait_at_memory(l.go)};
    append(reader, behind, l.flag);
    reader.push_back(load(l.data, l.out));
    return l.play({reader});
  });
}
TEST_CASE("shared, DMA to CU: a fence of system scope") {
  CHECK(dma_to_cu({fence(kSystem)}) == kNew);
}
TEST_CASE("shared, DMA to CU: a RISC-V fence of system scope") {
  CHECK(dma_to_cu({riscv_scope(kSystem), riscv_fence()}) == kNew);
}
TEST_CASE("shared, DMA to CU: an AMO that acquires at system scope") {
  CHECK(dma_to_cu({riscv_scope(kSystem), add(0, 0, SCOPES_ACQUIRE)}) == kNew);
}
TEST_CASE("shared, DMA to CU, spoiled: an AMO that acquires at device scope") {
  CHECK(dma_to_cu({add(0, 0, SCOPES_ACQUIRE)}) == kOld);
}
TEST_CASE("shared, DMA to CU, spoiled: a fence of device scope") {
  CHECK(dma_to_cu({fence(kDevice)}) == kOld);
}
TEST_CASE("shared, DMA to CU, spoiled: a fence of a work-group") {
  CHECK(dma_to_cu({fence(kGroup)}) == kOld);
}
TEST_CASE("shared, DMA to CU, spoiled: a fence of a wavefront") {
  CHECK(dma_to_cu({fence(kWavefront)}) == kOld);
}

// Compute unit to host: the host is told, and has the data copied to it.

uint64_t cu_to_host(unsigned scope) {
  uint64_t seen = 0;
  Litmus([&](Litmus& l) -> stretto_status_t {
    const uint64_t flag = Litmus::host_word(), copy = Litmus::host_word(1);
    TRY(l.play({{load(l.data), store(l.data, kNew), fence(scope), store(flag, 1)}}));
    l.core->wait_word(flag, HostCore::Condition::at_least, 1);
    TRY(l.copy(l.b, copy, l.data));
    TRY(l.api->stream_synchronize(l.client, l.b));
    seen = l.core->load(copy);
    return STRETTO_OK;
  });
  return seen;
}
TEST_CASE("shared, CU to host: a fence of system scope") { CHECK(cu_to_host(kSystem) == kNew); }
TEST_CASE("shared, CU to host, spoiled: a fence of device scope") {
  CHECK(cu_to_host(kDevice) == kOld);
}
TEST_CASE("shared, CU to host, spoiled: a fence of a work-group") {
  CHECK(cu_to_host(kGroup) == kOld);
}
TEST_CASE("shared, CU to host, spoiled: a fence of a wavefront") {
  CHECK(cu_to_host(kWavefront) == kOld);
}

// Host to compute unit.

uint64_t host_to_cu(unsigned scope) {
  return seen_by([&](Litmus& l) -> stretto_status_t {
    const uint64_t ready = Litmus::host_word();
    TRY(l.play({{load(l.data), store(ready, 1), wait_at_memory(l.go), fence(scope),
                 load(l.data, l.out)}}));
    l.core->wait_word(ready, HostCore::Condition::at_least, 1);
    TRY(l.write(l.data, kNew));
    return l.write(l.go, 1);
  });
}
TEST_CASE("shared, host to CU: a fence of system scope") { CHECK(host_to_cu(kSystem) == kNew); }
TEST_CASE("shared, host to CU, spoiled: a fence of device scope") {
  CHECK(host_to_cu(kDevice) == kOld);
}
TEST_CASE("shared, host to CU, spoiled: a fence of a work-group") {
  CHECK(host_to_cu(kGroup) == kOld);
}
TEST_CASE("shared, host to CU, spoiled: a fence of a wavefront") {
  CHECK(host_to_cu(kWavefront) == kOld);
}

// Packets: what a kernel leaves to another agent, and finds of it.

uint64_t kernel_to_dma(uint32_t spoil) {
  return seen_by(
      [](Litmus& l) -> stretto_status_t {
        TRY(l.play({{store(l.data, kNew)}}));
        return l.copy(l.a, l.out, l.data);
      },
      spoil);
}
TEST_CASE("shared, packets: a copy behind a kernel that is released at system scope") {
  CHECK(kernel_to_dma(0) == kNew);
}
TEST_CASE("shared, packets, spoiled: a copy behind a kernel without release") {
  CHECK(kernel_to_dma(kNoRelease) == kOld);
}

uint64_t dma_to_kernel(uint32_t spoil) {
  return seen_by(
      [](Litmus& l) -> stretto_status_t {
        TRY(l.play({{load(l.data)}}));
        TRY(l.copy(l.a, l.data, l.fresh));
        return l.play({{load(l.data, l.out)}});
      },
      spoil);
}
TEST_CASE("shared, packets: a kernel that acquires at system scope behind a copy") {
  CHECK(dma_to_kernel(0) == kNew);
}
TEST_CASE("shared, packets, spoiled: a kernel without acquire behind a copy") {
  CHECK(dma_to_kernel(kNoAcquire) == kOld);
}

// Store buffering: each of two writes its word and reads the other's. Not both may read old values.

bool both_old(unsigned scope) {
  const Litmus litmus([&](Litmus& l) -> stretto_status_t {
    TRY(l.write(l.ready, 0));
    const auto group = [&](uint64_t mine, uint64_t others, uint64_t out) -> Group {
      // Each has the other's word cached when it begins: `flag` counts them.
      return {load(others),      add(l.flag, 1), {SCOPES_WAIT, 1, l.flag, 2},
              store(mine, kNew), fence(scope),   load(others, out)};
    };
    return l.play({group(l.data, l.other, l.out), group(l.other, l.data, l.out + 8)});
  });
  return litmus.seen(0) == kOld && litmus.seen(1) == kOld;
}
TEST_CASE("shared, store buffering: fences of device scope") { CHECK(!both_old(kDevice)); }
TEST_CASE("shared, store buffering: fences of system scope") { CHECK(!both_old(kSystem)); }
TEST_CASE("shared, store buffering, spoiled: fences of a work-group") { CHECK(both_old(kGroup)); }

// Two writers of independent words, two readers that read them in opposite order. The readers may
// not disagree on which was written first.

bool readers_disagree(unsigned scope) {
  const Litmus litmus([&](Litmus& l) -> stretto_status_t {
    const auto reader = [&](uint64_t first, uint64_t second, uint64_t out) -> Group {
      return {load(second),     add(l.flag, 1), {SCOPES_WAIT, 1, l.flag, 4},
              load(first, out), fence(scope),   load(second, out + 8)};
    };
    const auto writer = [&](uint64_t word) -> Group {
      return {{SCOPES_WAIT, 1, l.flag, 2}, store(word, kNew), add(l.flag, 1)};
    };
    return l.play({writer(l.data), writer(l.other), reader(l.data, l.other, l.out),
                   reader(l.other, l.data, l.out + 16)});
  });
  return litmus.seen(0) == kNew && litmus.seen(1) == kOld && litmus.seen(2) == kNew &&
         litmus.seen(3) == kOld;
}
TEST_CASE("shared, independent writes: fences of device scope") {
  CHECK(!readers_disagree(kDevice));
}
TEST_CASE("shared, independent writes, spoiled: fences of a work-group") {
  CHECK(readers_disagree(kGroup));
}

}  // namespace
}  // namespace stretto
