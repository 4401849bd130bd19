// SPDX-License-Identifier: Apache-2.0
// Question: does a transformed kernel run on the machine as the driver loads and launches it, and
// what does the code around a task cost there? Through the executable, by a program of a user.
#include <catch2/catch.hpp>

#include <regex>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

unsigned task_ns(const std::string& isa, unsigned workers) {
  const Scratch scratch;
  const std::string object = scratch.path + "/task_cost.so", elf = scratch.path + "/nothing.elf";
  for (const std::string& command :
       {"cc -shared -fPIC -Wall -Werror -I" STRETTO_SOURCE_DIR " -I" STRETTO_SOURCE_DIR
        "/sw/include -o " +
            object + " " STRETTO_SOURCE_DIR "/tests/system/programs/task_cost.c",
        STRETTO_BUILD_DIR
            "/stretto-transform " STRETTO_BUILD_DIR
            "/sw/kernels/transform_subjects.elf --form preempt --kernel nothing --isa " +
            isa + " -o " + elf}) {
    const Finished finished = run_command(command);
    INFO(finished.output);
    REQUIRE(finished.status == 0);
  }
  const Finished finished =
      run_stretto("run " + object + " --machine a100-nvswitch --impl all=model --set gpus=1" +
                      " --set program.arguments='" + elf + " " + std::to_string(workers) +
                      "' --out " + scratch.path + "/r",
                  "timeout 100");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  std::smatch found;
  REQUIRE(std::regex_search(finished.output, found, std::regex("a task takes ([0-9]+) ns")));
  return static_cast<unsigned>(std::stoul(found[1]));
}

}  // namespace

TEST_CASE("on an A100 the code around a task takes at most 0.6 us", "[TL-PTB-06]") {
  const unsigned one = task_ns("tile", 1), all = task_ns("tile", 108), stock = task_ns("stock", 1);
  WARN("a task of one worker takes " << one << " ns, of each of 108 " << all
                                     << " ns, with the stock ISA " << stock << " ns");
  REQUIRE(one <= 600);
  REQUIRE(stock > 2 * one);
  REQUIRE(all >= one);
}
