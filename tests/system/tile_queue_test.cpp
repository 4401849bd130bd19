// SPDX-License-Identifier: Apache-2.0
// Question: do 54 queues in pinned lines of an A100's L2 move what Kitsune measured (4.1, Fig 5: KT-R12
// to KT-R17 of kitsune.yaml), is the data right, do pins and their limit matter, and is a kernel that
// breaks a rule of queues found out, producer and consumer named? Through the executable.
#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

boost::json::object queues(const std::string& set, const std::string& machine = "a100-nvswitch") {
  const Scratch scratch;
  const Finished finished = run_stretto("run machine/queue --impl all=model --machine " + machine +
                                        " --set gpus=1" + set + " --out " + scratch.path + "/r");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  const auto root = stats(scratch.path + "/r");
  CHECK(root.at("check").at("elements").to_number<uint64_t>() > 1000);
  CHECK(root.at("check").at("mismatches").to_number<uint64_t>() == 0);
  CHECK(root.at("audit").at("violations").to_number<uint64_t>() == 0);
  boost::json::object found = root.at("job").at("lines").as_array().at(0).as_object();
  double dram = 0;
  for (const char* path : {"queue_read", "queue_write"})
    dram += root.at("dram_bytes").at(path).to_number<double>();
  found["dram_bytes"] = dram;
  const auto& statistics = root.at("statistics").as_object();
  found["reductions"] = statistics.at("gpu0.compute.gpu.reductions");
  if (const auto* written = statistics.if_contains("gpu0.compute.l2.pinned_written"))
    found["written"] = *written;  // Absent where nothing was pinned.
  double waits = 0;
  for (const auto& [name, value] : statistics)
    if (name.starts_with("gpu0.compute.cu") && name.ends_with(".waits"))
      waits += value.to_number<double>();
  found["waits"] = waits;
  return found;
}

double number(const boost::json::object& object, const char* key) {
  return object.at(key).to_number<double>();
}

std::string payload(unsigned bytes) {
  return " --set tile_queue.min_bytes=" + std::to_string(bytes) +
         " --set tile_queue.max_bytes=" + std::to_string(bytes);
}

Finished broken(const std::string& rule, const std::string& set) {
  const Scratch scratch;
  return run_stretto(
      "run machine/queue --impl all=model --set gpus=1" + set + " --out " + scratch.path + "/r",
      "env STRETTO_SW=" + software_with(scratch, "tile_queue_breaks_" + rule, "tile_queue") +
          " timeout 100");
}

// Whatever the bytes were.
void raced(const std::string& rule, const std::string& what) {
  const Finished finished = broken(rule, payload(8192));
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("race: gpu0: queue data at 0x"));
  CHECK(finished.says(" of 54 of 8192 bytes,"));
  CHECK(finished.says(what));
  CHECK(finished.says(" of compute unit "));
}

}  // namespace

// KT-R12, KT-R13: 2 TB/s of 54 queues at 128 to 256 KB, 37 GB/s each. Half of what a consumer reads comes
// over the link between the L2's partitions, so one alone differs from each of many by some percent.
TEST_CASE("54 queues move 1.7 to 2.4 TB/s, and one alone as much as each of them", "[KT-Q-05]") {
  const auto line = queues(payload(131072));
  CHECK(number(line, "all_gb_s") >= 1700);
  CHECK(number(line, "all_gb_s") <= 2400);
  CHECK(number(line, "off_one") <= 0.1);
  CHECK(number(line, "most_gb_s") <= 1.41 * 32);  // The store port of a unit.
  // One wavefront of an end waits for a payload, and releases it; when it begins, each work-group of both launches adds 1
  // and waits for the others.
  CHECK(number(line, "reductions") == 2 * (54 + 1) * (number(line, "payloads") + 1));
  CHECK(number(line, "waits") == 2 * (54 + 1) * (number(line, "payloads") + 1));
}

// KT-R11: between 64 and 256 KB nothing but the payload counts for synchronisation.
TEST_CASE("tiles of 64 to 256 KB pass whole, at as many words a payload", "[.long][KT-Q-07]") {
  for (const unsigned bytes : {65536u, 262144u}) {
    const auto line = queues(payload(bytes) + " --set tile_queue.payloads=12");
    CHECK(number(line, "payload_bytes") == bytes);
    CHECK(number(line, "written") == (54.0 + 1) * 12 * bytes);
    CHECK(number(line, "reductions") == 2 * (54 + 1) * (12 + 1));
    CHECK(number(line, "least_gb_s") > 20);
  }
}

TEST_CASE("one queue moves within 5 % of each of 54 where an L2 has one partition", "[.long]") {
  CHECK(number(queues(payload(131072) + " --set l2.partitions=1"), "off_one") <= 0.05);
}

TEST_CASE("queues larger than the L2 go to memory", "[KT-Q-08]") {
  // 54 queues of two entries: 884,736 bytes.
  const auto beyond = queues(payload(8192) + " --set l2.bytes=655360"),
             within = queues(payload(8192) + " --set l2.bytes=2621440");
  CHECK(number(beyond, "dram_bytes") > 10 * number(within, "dram_bytes"));
  CHECK(number(beyond, "all_gb_s") < number(within, "all_gb_s"));
}

// KT-R14: beyond 256 KB entries exceed the L2 and go through the memory, 1555 GB/s of a product. What
// is pinned stays: 7 of 10 ways for two thirds of 54 MiB.
TEST_CASE("queues larger than the L2 are as slow as the memory, but for what is pinned",
          "[.long][KT-Q-01][KT-Q-08]") {
  const std::string larger = payload(524288) + " --set tile_queue.payloads=12";
  const auto pinned = queues(larger), loose = queues(larger + " --set tile_queue.pinned=false");
  CHECK(number(pinned, "all_gb_s") < 1555);
  CHECK(number(loose, "all_gb_s") < 0.8 * number(pinned, "all_gb_s"));
  CHECK(number(pinned, "dram_bytes") < 0.7 * number(loose, "dram_bytes"));
}

// Each variant of the kernel breaks the rule of tile_queue.h that it is named after. The payloads of all
// but the first arrive in time: only that nobody says so is wrong.
TEST_CASE("a consumer that does not wait is found out, by what it read or before", "[KT-Q-03]") {
  const Finished loose = broken("acquires", payload(8192) + " --set tile_queue.pinned=false");
  INFO(loose.output);
  CHECK(loose.status == 1);
  CHECK(loose.says("has read something else"));
  raced("acquires", " read by ");
}
TEST_CASE("a release before the barrier is found out", "[KT-Q-04]") {
  raced("barrier", " read by ");
}
TEST_CASE("a release before the stores are performed is found out") {
  raced("stores", " read by ");
}
TEST_CASE("a payload that is released twice is found out", "[KT-Q-02]") {
  raced("releases_once", " read by ");
}
TEST_CASE("a consumer that waits for the round before is found out", "[KT-Q-02]") {
  raced("round", " read by ");
}
TEST_CASE("an entry that is overwritten before its readers released it is found out") {
  raced("readers", " written by ");
}

TEST_CASE("queues that nobody pinned are found out", "[KT-Q-01]") {
  const Scratch scratch;
  const Finished finished = run_stretto(
      "run machine/queue --impl all=model --set gpus=1" + payload(8192) +
      " --firmware " STRETTO_BUILD_DIR "/sw/firmware/main_no_pin.elf --out " + scratch.path + "/r");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("queue 0 of 54 of 8192 bytes: 0 bytes were stored to pinned lines"));
}
