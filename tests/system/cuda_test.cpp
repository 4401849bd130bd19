// SPDX-License-Identifier: Apache-2.0
// Question: does a program that was written by the documents of cuda_runtime.h alone, with kernels built by
// stretto-kernel, compute what it should: libraries, launches, events, streams that wait for events,
// copies and sets that nobody waits for? Is what it does wrong said by a code of CUDA and one line?
// tests/system/programs/vector_add.c checks every element itself.
#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <regex>

#include "tests/system/compile.h"

using namespace stretto::test;

namespace {

struct VectorAdd {
  const Scratch scratch;
  const std::string program = compile(scratch, "vector_add.c");
  const std::string elf = compile_kernel(scratch, "vector_add_kernel.c", "vector_add");

  Finished run(const std::string& what, const std::string& options = "") const {
    const Finished finished = run_stretto(
        "run " + program + " --set gpus=1 --set gpu.cus=8 --impl all=model " + options +
            " --set program.arguments='" + elf + " " + what + "' --out " + scratch.path + "/r",
        "timeout 100");
    INFO(what << "\n" << finished.output);
    CHECK(finished.status == 0);
    CHECK(finished.says("vector_add: all right"));
    CHECK(stats(scratch.path + "/r").at("audit").at("violations").to_number<int>() == 0);
    return finished;
  }
};

// The numbers behind `text`.
std::vector<double> numbers_after(const Finished& finished, const std::string& text) {
  std::vector<double> numbers;
  const size_t at = finished.output.find(text);
  if (at == std::string::npos) return numbers;
  const std::string line =
      finished.output.substr(at + text.size(), finished.output.find('\n', at) - at - text.size());
  const std::regex number("[0-9]+\\.[0-9]+");
  for (std::sregex_iterator one(line.begin(), line.end(), number), none; one != none; ++one)
    numbers.push_back(std::stod(one->str()));
  return numbers;
}

}  // namespace

TEST_CASE("a program loads kernels of its own, launches them on streams and times them by events") {
  const VectorAdd program;
  const Finished finished = program.run("all");
  CHECK(finished.says("added 100003 elements in "));
  CHECK(finished.says("10 turns in order"));
  CHECK(stats(program.scratch.path + "/r").at("time_ns").at("kernels").to_number<uint64_t>() > 0);
  program.run("all", "--mode gdma --machine a100-nvswitch");
}

// The wavefront's loop takes the same cycles a round, so the difference of two lengths has nothing of launch
// and events in it: 190,000 rounds of it.
TEST_CASE("events stand where they were recorded, in the machine's time") {
  const VectorAdd program;
  const auto of_clock = [&](const std::string& mhz) {
    const Finished finished = program.run("times", "--set gpu.clock_mhz=" + mhz);
    const std::vector<double> us = numbers_after(finished, "kernels of 10000 and 200000 rounds: ");
    REQUIRE(us.size() == 2);
    return us[1] - us[0];
  };
  const double slow = of_clock("700"), fast = of_clock("1400");
  CHECK(slow > 190'000 / 700.0);  // A cycle a round at least.
  CHECK(std::abs(slow / fast - 2) < 0.02);
}

TEST_CASE("what a program asks wrongly is a code of CUDA and a line that names it") {
  const VectorAdd program;
  const Finished finished = program.run("errors");
  const Finished served = program.run("errors", "--set program.server=tally");
  INFO(finished.output << served.output);
  for (const char* line :
       {"load: cudaErrorFileNotFound: cudaLibraryLoadFromFile: nowhere.elf: no such file",
        "data: cudaErrorInvalidKernelImage: cudaLibraryLoadData: kernel ELF: not an ELF file",
        "kernel: cudaErrorSymbolNotFound: cudaLibraryGetKernel: kernel ELF: no kernel subtract in "
        "it",
        "unloaded: cudaErrorInvalidResourceHandle: cudaLibraryGetKernel: 0x",
        "block: cudaErrorInvalidConfiguration: cudaLaunchKernel: scale: a block of 256 x 1 x 1; it "
        "has "
        "1 x 1 x 1 wavefronts",
        "grid: cudaErrorInvalidConfiguration: cudaLaunchKernel: scale: a grid of 0 x 1 x 1",
        "shared: cudaErrorInvalidValue: cudaLaunchKernel: scale: 1024 bytes of shared memory; it "
        "has the 0",
        "arguments: cudaErrorInvalidValue: cudaLaunchKernel: scale: no arguments; it has 32 bytes",
        "handle: cudaErrorInvalidResourceHandle: cudaLaunchKernel: 0x",
        "stream: cudaErrorInvalidResourceHandle: cudaStreamSynchronize: 0x",
        "event: cudaErrorInvalidResourceHandle: cudaEventSynchronize: 0x",
        "copy: cudaErrorInvalidValue: cudaMemcpyAsync: 8 bytes at 0x",
        "set: cudaErrorInvalidValue: cudaMemsetAsync: 8 bytes at 0x",
        "no stream: cudaErrorInvalidValue: cudaStreamCreate: null",
        "no event: cudaErrorInvalidValue: cudaEventCreate: null",
        "no memory: cudaErrorInvalidValue: cudaMalloc: null",
        "no count: cudaErrorInvalidValue: cudaGetDeviceCount: null",
        "no kernel: cudaErrorInvalidValue: cudaLibraryGetKernel: a null pointer",
        "no name: cudaErrorInvalidValue: cudaLibraryGetKernel: a null pointer",
        "no attributes: cudaErrorInvalidValue: cudaFuncGetAttributes: null",
        "much: cudaErrorMemoryAllocation: cudaMallocHost: 18446744073709551615 bytes",
        "small: cudaErrorInvalidValue: cudaFreeHost: 0x8 is no address that cudaMallocHost gave",
        "again: cudaErrorInvalidValue: cudaFreeHost: 0x",
        "device: cudaErrorInvalidDevice: cudaSetDevice: device 77: there are 1"}) {
    INFO(line);
    CHECK(finished.says(line));
    CHECK(served.says(line));
  }
}

TEST_CASE("a program that finds wrong data where kernels are sampled is told that they are") {
  const VectorAdd program;
  program.run("all", "--set gpu.executor=measured");
  const std::string bodies = program.scratch.path + "/bodies.txt";
  std::filesystem::rename(program.scratch.path + "/r/bodies.txt", bodies);
  const Finished sampled = run_stretto(
      "run " + program.program + " --set gpus=1 --set gpu.cus=8 --impl all=model --set " +
          "program.arguments='" + program.elf + " all' --set gpu.executor=sampled --set " +
          "sampled.bodies=" + bodies + " --out " + program.scratch.path + "/s",
      "timeout 100");
  INFO(sampled.output);
  CHECK(sampled.status == 1);
  CHECK(sampled.says("; if it checks data: work-groups whose times are sampled (gpu.executor) "));
}

TEST_CASE("stretto-kernel says how to name the first kernel where none is given") {
  const Scratch scratch;
  const auto build = [&](const std::string& file) {
    return run_command("bash " STRETTO_BUILD_DIR "/stretto-kernel -o " + scratch.path + "/k.elf " +
                       file);
  };
  const Finished none = build(STRETTO_SOURCE_DIR "/tests/system/programs/vector_add_kernel.c");
  INFO(none.output);
  CHECK(none.status == 2);
  CHECK(none.lines() == 1);
  CHECK(none.says("stretto-kernel: no function _start; -e ENTRY names that of the first kernel"));
  CHECK(build(scratch.file("start.c", "void _start(void) {}\n")).status == 0);
}

TEST_CASE("a cooperative launch has all its work-groups on the GPU at once or fails") {
  const VectorAdd program;
  const Finished finished = program.run("together");
  CHECK(finished.says("too many: cudaErrorLaunch"));
}
