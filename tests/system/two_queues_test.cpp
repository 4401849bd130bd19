// SPDX-License-Identifier: Apache-2.0
// Question: do priorities, preemption and pipelines, said in packets, do on the machine what they
// promise, and does each work-group run once? Through the executable, by a program of a user with
// two streams and a kernel of its own. Times are held against the same work without.
#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

boost::json::object right(const std::string& what) {
  const Scratch scratch;
  const std::string programs = STRETTO_SOURCE_DIR "/tests/system/programs/";
  const std::string object = scratch.path + "/two_queues.so", elf = scratch.path + "/count.elf";
  for (const std::string& command : {"cc -shared -fPIC -Wall -Werror -I" STRETTO_SOURCE_DIR
                                     " -I" STRETTO_SOURCE_DIR "/sw/include -o " +
                                         object + " " + programs + "two_queues.c",
                                     "bash " STRETTO_BUILD_DIR "/stretto-kernel -e count -o " +
                                         elf + " " + programs + "two_queues_kernel.c"}) {
    const Finished finished = run_command(command);
    INFO(finished.output);
    REQUIRE(finished.status == 0);
  }
  const Finished finished =
      run_stretto("run " + object +
                      " --set gpus=1 --set gpu.cus=8 --set program.arguments=" + std::string("'") +
                      elf + " " + what + "' --impl all=lockstep --out " + scratch.path + "/r",
                  "timeout 100");
  INFO(what << "\n" << finished.output);
  CHECK(finished.status == 0);
  CHECK(finished.says("each work-group counted once"));
  const boost::json::value root = stats(scratch.path + "/r");
  CHECK(root.at("status").as_string() == "complete");
  CHECK(root.at("audit").at("violations").to_number<uint64_t>() == 0);
  return root.at("statistics").as_object();
}

uint64_t number(const boost::json::object& statistics, const char* path) {
  return statistics.at(path).to_number<uint64_t>();
}

}  // namespace

TEST_CASE("a kernel of a high queue does not wait for those of a low one that fill the GPU") {
  right("priority");
}

TEST_CASE("a preempted queue leaves the GPU to others and goes on, each work-group once") {
  right("preempt");
}

TEST_CASE(
    "pipelines are placed one after another, each as one, beside a kernel that fills the GPU") {
  right("pipeline");
}

TEST_CASE("work-groups that have not begun leave their units with a drain, and run once") {
  const auto statistics = right("drain");
  const uint64_t dispatched = number(statistics, "gpu0.compute.front_end.dispatched");
  CHECK(dispatched > number(statistics, "gpu0.compute.front_end.retired"));
}

TEST_CASE("a pipeline is one kernel boundary: written back once, when its last member has ended") {
  CHECK(number(right("boundary"), "gpu0.compute.l2.boundaries") == 1);
}

TEST_CASE("launches go on past the arguments of a kernel that is stopped") { right("arguments"); }
