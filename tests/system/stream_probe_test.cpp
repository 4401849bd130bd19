// SPDX-License-Identifier: Apache-2.0
// Question: does a GPU stream what its memory carries and no more, is what it writes right, and do
// few threads stream less than many? Through the executable. SI-MEM-14 (silicon.yaml): a V100 scales
// at 809 GB/s of its 898; SI-P2P-03: an A100 copies to a peer at 270 to 276 GB/s of 300.
#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

double gb_s(const std::string& arguments) {
  const Scratch scratch;
  const Finished finished = run_stretto("run machine/stream --impl all=model " + arguments +
                                        " --out " + scratch.path + "/r");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  const auto root = stats(scratch.path + "/r");
  CHECK(root.at("check").at("mismatches").to_number<uint64_t>() == 0);
  CHECK(root.at("audit").at("violations").to_number<uint64_t>() == 0);
  return root.at("job").at("gb_s").to_number<double>();
}

}  // namespace

TEST_CASE("a scaled array streams at some 809 GB/s on a V100, with few threads far below") {
  const std::string v100 = "--machine v100-pcie --set stream_probe.bytes=8388608";
  const double many = gb_s(v100);
  CHECK(many == Approx(809).epsilon(0.15));
  const double few = gb_s(v100 + " --set stream_probe.wavefronts=4");
  CHECK(few < 0.5 * many);
}

TEST_CASE("a stream of writes is no faster than the memory that takes them") {
  // 898 GB/s, and 512 KiB (l2.memory_queue_sectors) are on their way when the last store is done.
  // The L2 is full of the stream before. Silicon: 897 (SI-MEM-14).
  const double written = gb_s("--machine v100-pcie --mode write --set stream_probe.bytes=16777216");
  CHECK(written < 898.0 * 16777216 / (16777216 - 524288));
  CHECK(written > 0.85 * 898);
}

TEST_CASE("a stream that is faster than memory, L2 and queues can be breaks a law") {
  const Finished finished = run_stretto(
      "run machine/stream --impl all=model --machine v100-pcie --mode write --set "
      "stream_probe.bytes=33554432 --set l2.memory_queue_sectors=0");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("bytes of a stream <= peak of HBM"));
}

TEST_CASE("each operation writes what it should, and reading writes nothing") {
  for (const char* mode : {"read", "write", "copy", "scale", "add", "triad", "dma"})
    CHECK(gb_s(std::string("--set stream_probe.bytes=1048576 --mode ") + mode) > 0);
}

// Silicon: SI-P2P-03 (270 to 276, both ways 520 GB/s), SI-P2P-05 (258 by kernels).
TEST_CASE("copies to a peer are as fast as on NVLink, by the engine, by kernels and both ways") {
  const std::string peer =
      "--set gpus=2 --set stream_probe.target=peer --set stream_probe.bytes=8388608 ";
  CHECK(gb_s(peer + "--mode dma") == Approx(273).epsilon(0.05));
  CHECK(gb_s(peer + "--mode dma --set stream_probe.both=true") == Approx(520).epsilon(0.05));
  CHECK(gb_s(peer + "--mode copy --set stream_probe.piece_bytes=512") == Approx(258).epsilon(0.05));
}

TEST_CASE("what a stream cannot be is refused in one line") {
  const auto refused = [](const std::string& arguments, const std::string& why) {
    const Finished finished = run_stretto("run machine/stream " + arguments);
    INFO(arguments << "\n" << finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says(why));
  };
  refused("--set stream_probe.bytes=1000000", "multiple of 65536");
  refused("--set stream_probe.wavefronts=3", "wavefronts of 2, 4, 8, 16, 24, 32 or 64");
  refused("--set stream_probe.target=peer", "need 2 GPUs, it has 1");
  refused("--set stream_probe.target=host --set stream_probe.bytes=1048576",
          "target=host is of mode dma only");
  refused("--set gpus=2 --mode read --set stream_probe.target=peer", "no result to put at a peer");
}
