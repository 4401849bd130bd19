// SPDX-License-Identifier: Apache-2.0
// Question: do priorities, preemption and pipelines, said in packets, do on the machine what they
// promise, and does each work-group run once? Through the executable, by a program of a user with
// two streams and a kernel of its own. Times are held against the same work without.
#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

Finished run(const Scratch& scratch, const std::string& what, const std::string& machine,
             const std::string& prefix = "timeout 100") {
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
  return run_stretto("run " + object + " --set gpus=1 " + machine + " --set program.arguments='" +
                         elf + " " + what + "' --out " + scratch.path + "/r",
                     prefix);
}

const std::string kEightUnits = "--set gpu.cus=8 --impl all=lockstep";

boost::json::object right(const std::string& what, const std::string& machine = kEightUnits) {
  const Scratch scratch;
  const Finished finished = run(scratch, what, machine);
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

TEST_CASE("a kernel waits until all of the one before is placed if the driver asks for it",
          "[KT-BSP-02]") {
  right("order");
}

TEST_CASE("a preempted queue leaves the GPU to others and goes on, each work-group once") {
  right("preempt");
}

TEST_CASE("pipelines are placed one after another, each as one, beside a kernel that fills the GPU",
          "[KT-SCHED-01]") {
  right("pipeline");
}

// 108 work-groups of each type on 108 units, in four stages whose types alternate; their types come
// with the packets alone.
TEST_CASE("two arbiters put a SIMT and a TENSOR work-group on each unit, one does not",
          "[KT-SCHED-03][KT-SCHED-04]") {
  const auto paired = [](const std::string& policy) {
    const auto statistics = right("pair" + policy + "108", "--machine a100 --impl all=model");
    const double time = statistics.at("gpu0.compute.front_end.pipeline_time").to_number<double>();
    const double share =
        statistics.at("gpu0.compute.front_end.paired_time").to_number<double>() / (108 * time);
    const uint64_t units = number(statistics, "gpu0.compute.front_end.paired_units");
    CHECK(share <= static_cast<double>(units) / 108);
    return units;
  };
  CHECK(paired("t2") >= 103);  // 95 %.
  CHECK(paired("o2") >= 103);
  CHECK(paired("t1") < 103);
}

TEST_CASE(
    "a pipeline that can never be resident is refused with its reason, and the next one runs") {
  const Scratch scratch;
  const Finished finished = run(scratch, "refused", kEightUnits);
  INFO(finished.output);
  CHECK(finished.status == 0);
  const std::string room = "; 8 units have 262144 each, room for 16";
  CHECK(
      finished.says("packet 1 (pipeline): refused: 17 work-groups of member 1 need 131072 bytes of "
                    "registers each, 2752512 in all with the members before" +
                    room));
  CHECK(finished.says(
      "(pipeline): refused: 9 work-groups of member 1 need 131072 bytes of registers each, "
      "2228224 in all with the members before" +
      room));
  // 5 units have one of the first each and 96 KiB left, 3 one of the second each.
  CHECK(
      finished.says("pipeline of 2 kernels from slot 0 on: refused by the scheduler: never "
                    "co-resident"));
  CHECK(finished.says("pipeline: 33 kernels (1..32)"));
  CHECK(finished.says("persisting L2 cache size: "));
  CHECK(finished.says("each work-group counted once"));
}

TEST_CASE("a work-group that faults in the middle of a pipeline ends the run with its name") {
  const Scratch scratch;
  const Finished finished = run(scratch, "wild", kEightUnits);
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("wg 0 wf "));
  CHECK(finished.says("unmapped_store at 0x1fffffff000: no range entry holds it, in count+"));
  const boost::json::value root = stats(scratch.path + "/r");
  CHECK(root.at("status").as_string() == "failed");
  CHECK(number(root.at("statistics").as_object(), "gpu0.compute.front_end.dispatched") == 3);
}

TEST_CASE("SIGINT in the middle of a pipeline leaves complete results") {
  const Scratch scratch;
  const Finished finished =
      run(scratch, "long", "--set gpu.cus=8 --impl all=model --set sim.progress_limit_us=0",
          "timeout --preserve-status -s INT 5");
  INFO(finished.output);
  CHECK(finished.status == 130);
  const boost::json::value root = stats(scratch.path + "/r");
  CHECK(root.at("status").as_string() == "interrupted");
  CHECK(number(root.at("statistics").as_object(), "gpu0.compute.front_end.dispatched") == 3);
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
