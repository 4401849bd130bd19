// SPDX-License-Identifier: Apache-2.0
// Message passing between the agents of one GPU: one writes data, then tells; the other one is
// told, then reads. sw/include/MEMORY_MODEL.md says what makes it right. Each case is run as it
// should be and spoiled: by a packet without the scope in question, by a read past the L2, or by a
// flag before its data. Then the forbidden outcome must show: old data, or a breach of the
// coherence law that names both agents. Machine t3 with 8 compute units, the shipped firmware, the
// driver.
#include "tests/support/litmus.h"
#include "tests/system/programs/litmus_arguments.h"

namespace stretto {
namespace {

using test::kNew;
using test::kOld;
constexpr uint32_t kNoAcquire = 3u << 9, kNoRelease = 3u << 11;  // Of a packet's header, queue.h.

class Litmus : public test::LitmusMachine {
 public:
  using Program = std::function<stretto_status_t(Litmus&)>;

  Litmus(uint32_t spoil, const Program& program) : LitmusMachine("litmus", spoil) {
    run([&]() -> stretto_status_t {
      TRY(allocate(STRETTO_ALLOCATION_CACHED, &data));
      for (uint64_t* const one : {&flag, &out, &fresh})
        TRY(allocate(STRETTO_ALLOCATION_UNCACHED, one));
      TRY(write(data, kOld));
      TRY(write(fresh, kNew));
      TRY(synchronize());
      return program(*this);
    });
  }

  // What the reader has seen.
  uint64_t seen() const { return word(out); }

  // In the program.
  stretto_status_t launch(stretto_stream_t* stream, std::vector<uint32_t> does,
                          uint64_t flag_value = 1, bool device_scope = false) {
    const litmus_arguments_t arguments{data, flag,       out,
                                       kNew, flag_value, {does.front(), does.back()}};
    return LitmusMachine::launch(stream, arguments, does.size(), device_scope);
  }
  stretto_status_t copy(uint64_t to, uint64_t from) { return LitmusMachine::copy(a, to, from); }

  uint64_t data = 0;                      // Cached; holds kOld.
  uint64_t flag = 0, out = 0, fresh = 0;  // Uncached; fresh holds kNew.
};

void breach(uint32_t spoil, const Litmus::Program& program, const std::vector<std::string>& says) {
  std::string what;
  try {
    const Litmus litmus(spoil, program);
  } catch (const std::exception& error) {
    what = error.what();
  }
  CHECK_THAT(what, Catch::StartsWith("coherence: gpu0: sector 0x"));
  for (const std::string& one : says) CHECK_THAT(what, Catch::Contains(one));
}

void right(const Litmus::Program& program) { CHECK(Litmus(0, program).seen() == kNew); }
void stale(const Litmus::Program& program) { CHECK(Litmus(0, program).seen() == kOld); }

// Compute unit to compute unit, by the order of a stream.

stretto_status_t kernel_to_kernel(Litmus& l, uint32_t read) {
  TRY(l.launch(l.a, {LITMUS_STORE}, 1, true));
  return l.launch(l.a, {read}, 1, true);
}
TEST_CASE("CU to CU: the next kernel finds at device scope what the last one left in the L2") {
  right([](Litmus& l) { return kernel_to_kernel(l, LITMUS_READ); });
}
TEST_CASE("CU to CU, spoiled: a kernel that reads past the L2 needs a release at system scope") {
  breach(0, [](Litmus& l) { return kernel_to_kernel(l, LITMUS_READ_PAST); },
         {"read past the L2 by compute unit", "dirty there, written by compute unit"});
}

// Compute unit to compute unit inside a kernel.

stretto_status_t group_to_group(Litmus& l, uint32_t write, uint32_t read) {
  return l.launch(l.a, {write, LITMUS_WAIT | read});
}
TEST_CASE("CU to CU in one kernel: data before the flag, both through the L2") {
  right([](Litmus& l) { return group_to_group(l, LITMUS_STORE | LITMUS_FLAG, LITMUS_READ); });
}
TEST_CASE("CU to CU in one kernel, spoiled: the flag before the data") {
  stale([](Litmus& l) { return group_to_group(l, LITMUS_FLAG_FIRST | LITMUS_STORE, LITMUS_READ); });
}
TEST_CASE("CU to CU in one kernel, spoiled: the reader passes the L2 by") {
  breach(0,
         [](Litmus& l) { return group_to_group(l, LITMUS_STORE | LITMUS_FLAG, LITMUS_READ_PAST); },
         {"read past the L2 by compute unit", "dirty there, written by compute unit"});
}

// Compute unit to DMA engine.

stretto_status_t kernel_to_copy(Litmus& l) {
  TRY(l.launch(l.a, {LITMUS_STORE}));
  return l.copy(l.out, l.data);
}
TEST_CASE("CU to DMA: a copy behind a kernel that is released at system scope") {
  right(kernel_to_copy);
}
TEST_CASE("CU to DMA, spoiled: packets without release") {
  breach(kNoRelease, kernel_to_copy,
         {"read past the L2 by the DMA engine", "dirty there, written by compute unit"});
}

// DMA engine to compute unit.

stretto_status_t copy_to_kernel(Litmus& l) {
  TRY(l.launch(l.a, {LITMUS_TOUCH}));
  TRY(l.copy(l.data, l.fresh));
  return l.launch(l.a, {LITMUS_READ});
}
TEST_CASE("DMA to CU: a kernel that acquires at system scope behind a copy") {
  right(copy_to_kernel);
}
TEST_CASE("DMA to CU, spoiled: packets without acquire") {
  breach(kNoAcquire, copy_to_kernel,
         {"read in the L2 by compute unit", "changed behind it by the DMA engine"});
}

// Host to compute unit.

stretto_status_t host_to_kernel(Litmus& l) {
  TRY(l.launch(l.a, {LITMUS_TOUCH}));
  TRY(l.synchronize());
  TRY(l.api->copy_to_device(l.client, l.data, &kNew, 8));
  return l.launch(l.a, {LITMUS_READ}, 1, true);
}
TEST_CASE("host to CU: a kernel that acquires at system scope behind a write of the host") {
  right(host_to_kernel);
}
TEST_CASE("host to CU, spoiled: packets without acquire") {
  breach(kNoAcquire, host_to_kernel,
         {"read in the L2 by compute unit", "changed behind it by a peer or the host"});
}

// Compute unit to host, while the kernel runs: data and flag are words of host memory.

stretto_status_t kernel_to_host(Litmus& l, uint32_t write) {
  const uint64_t out = l.out;
  l.data = Litmus::host_word();
  l.flag = Litmus::host_word(1);
  l.core->store(l.data, kOld);
  TRY(l.api->remote_map(l.client, l.a, l.data, 8192, l.data, 0));
  TRY(l.launch(l.a, {write}));
  l.core->wait_word(l.flag, HostCore::Condition::at_least, 1);
  const uint64_t seen = l.core->load(l.data);
  return l.api->copy_to_device(l.client, out, &seen, 8);
}
TEST_CASE("CU to host: data before the flag") {
  right([](Litmus& l) { return kernel_to_host(l, LITMUS_STORE | LITMUS_FLAG); });
}
TEST_CASE("CU to host, spoiled: the flag before the data") {
  stale([](Litmus& l) { return kernel_to_host(l, LITMUS_FLAG_FIRST | LITMUS_STORE); });
}

// Compute unit to command processor: a stream waits for the semaphore that a kernel clears.

stretto_status_t kernel_to_stream(Litmus& l, uint32_t write) {
  const uint64_t one = 1;
  TRY(l.api->copy_to_device(l.client, l.flag, &one, 8));
  TRY(l.api->stream_wait(l.client, l.b, l.flag, 1000));
  TRY(l.launch(l.b, {LITMUS_READ}));
  return l.launch(l.a, {write}, 0);
}
TEST_CASE("CU to CP: data before the semaphore of another stream") {
  right([](Litmus& l) { return kernel_to_stream(l, LITMUS_STORE | LITMUS_FLAG); });
}
TEST_CASE("CU to CP, spoiled: the semaphore before the data") {
  stale([](Litmus& l) { return kernel_to_stream(l, LITMUS_FLAG_FIRST | LITMUS_STORE); });
}

// DMA engine and command processor to a kernel that runs: it waits for the signal behind a copy.

stretto_status_t signal_to_kernel(Litmus& l, uint32_t first, uint32_t read) {
  TRY(l.launch(l.b, {first | LITMUS_WAIT | read}));
  TRY(l.copy(l.data, l.fresh));
  return l.api->signal(l.client, l.a, l.flag, 1);
}
TEST_CASE("CP to CU: a kernel that is told reads past the L2 what the DMA engine wrote") {
  right([](Litmus& l) { return signal_to_kernel(l, LITMUS_TOUCH, LITMUS_READ_PAST); });
}
TEST_CASE("CP to CU, spoiled: a kernel that is told reads what it had in the L2") {
  breach(0, [](Litmus& l) { return signal_to_kernel(l, LITMUS_TOUCH, LITMUS_READ); },
         {"read in the L2 by compute unit", "changed behind it by the DMA engine"});
}

}  // namespace
}  // namespace stretto
