// SPDX-License-Identifier: Apache-2.0
// Question: does a kernel of the library become a stage that reads and writes queues by 10 to 40 changed lines
// (Kitsune, 5.2: KT-R80), is it right, and is what the documentation shows what is built? Through the executable.
#include <fstream>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

const std::string kStages = STRETTO_SOURCE_DIR "/sw/kernels/stages/";

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  REQUIRE(stream);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Finished run(const Scratch& scratch, const std::string& queues) {
  const std::string object = scratch.path + "/vector_queues.so";
  const Finished built =
      run_command("cc -shared -fPIC -Wall -Werror -I" STRETTO_SOURCE_DIR " -I" STRETTO_SOURCE_DIR
                  "/sw/include -o " +
                  object + " " STRETTO_SOURCE_DIR "/tests/system/programs/vector_queues.c");
  INFO(built.output);
  REQUIRE(built.status == 0);
  return run_stretto("run " + object +
                         " --machine a100 --set gpus=1 --impl all=model --set "
                         "program.arguments='" STRETTO_BUILD_DIR
                         "/sw/kernels/ops_vector_fp16.elf " +
                         queues + "' --out " + scratch.path + "/r",
                     "timeout 100");
}

}  // namespace

TEST_CASE("a library kernel with queues leaves the bits that it leaves in memory") {
  const Scratch scratch;
  const Finished finished = run(scratch, STRETTO_BUILD_DIR "/sw/kernels/vector_queues.elf");
  INFO(finished.output);
  CHECK(finished.status == 0);
  CHECK(finished.says("98304 elements have the same bits"));
  const auto root = stats(scratch.path + "/r");
  CHECK(root.at("audit").at("violations").to_number<uint64_t>() == 0);
  // 12 payloads of 16 KiB through pinned lines; loads of words count, too, until one is written.
  const auto& statistics = root.at("statistics").as_object();
  CHECK(statistics.at("gpu0.compute.l2.pinned_written").to_number<uint64_t>() == 12 * 16384);
  CHECK(statistics.at("gpu0.compute.l2.pinned_read").to_number<uint64_t>() / 128 == 12 * 128);
}

TEST_CASE("pipelines that cannot be, and windows of the L2, are refused in a line",
          "[KT-SCHED-01]") {
  const Scratch scratch;
  const Finished finished = run(scratch, STRETTO_BUILD_DIR "/sw/kernels/vector_queues.elf refused");
  INFO(finished.output);
  CHECK(finished.status == 0);
  for (const char* line :
       {"flags: cudaErrorInvalidValue: cudaPipelineCreate: a null pointer, or flags 7; 0",
        "empty: cudaErrorInvalidConfiguration: cudaPipelineInstantiate: it has no kernels",
        "stranger: cudaErrorInvalidResourceHandle: cudaPipelineAddDependencies: 0x",
        "type: cudaErrorInvalidValue: cudaPipelineAddKernelNode: map_relu_fp16: type 3 (0..2)",
        "block: cudaErrorInvalidConfiguration: cudaPipelineAddKernelNode: map_relu_fp16: a block "
        "of 1 x 1 x 1; it "
        "has 4 x 1 x 1 wavefronts",
        "cycle: cudaErrorInvalidConfiguration: cudaPipelineInstantiate: kernel 0, map_relu_fp16: "
        "its "
        "dependencies have a cycle",
        "33: cudaErrorInvalidConfiguration: cudaPipelineAddKernelNode: map_relu_fp16: a pipeline "
        "has "
        "at most 32 kernels",
        "destroyed: cudaErrorInvalidResourceHandle: cudaPipelineInstantiate: 0x",
        "never made: cudaErrorInvalidResourceHandle: cudaPipelineLaunch: (nil) is no pipeline to "
        "launch",
        "limit: cudaErrorInvalidValue: cudaDeviceSetLimit: persisting L2 cache size: ",
        "ratio: cudaErrorNotSupported: cudaStreamSetAttribute: a window whose lines persist all "
        "(hitRatio 1) or are normal"})
    CHECK(finished.says(line));
}

TEST_CASE("a library kernel becomes one with queues by 10 to 40 changed lines, which are shown",
          "[KT-PIPE-04]") {
  const std::string diff = text_of(kStages + "vector_queues.diff");
  unsigned changed = 0;
  std::istringstream lines(diff);
  for (std::string line; std::getline(lines, line);)
    changed += (line.starts_with('+') && !line.starts_with("+++")) ||
               (line.starts_with('-') && !line.starts_with("---"));
  CHECK(changed >= 10);
  CHECK(changed <= 40);
  CHECK(text_of(kStages + "README.md").find("```diff\n" + diff + "```\n") != std::string::npos);
}
