// SPDX-License-Identifier: Apache-2.0
// Question: does --waves mean what it says, and do changes reach the file at the right times, in
// order, whatever order they come in? The blocks here are two lines of VCD; real ones are in
// tests/system/waves_test.cpp. Clocks of 1000 MHz and 1400 MHz: edge k of the latter is at
// floor(k * 10^6 / 1400) ps.
#include <catch2/catch.hpp>

#include <filesystem>

#include "models/common/error.h"
#include "platform/waves/waves.h"
#include "tests/support/fst_file.h"
#include "tests/support/seeded_rng.h"

namespace stretto {
namespace {

using Catch::Matchers::Contains;

std::string header(const std::string& block) {
  return "$version x $end\n $scope module " + block +
         " $end\n  $var wire 1 # clk_i $end\n  $scope module " + block +
         " $end\n   $var wire 1 # clk_i $end\n   $var wire 4 $ count_q [3:0] $end\n"
         "   $scope module unnamedblk1 $end\n    $var wire 1 & i $end\n   $upscope $end\n"
         "   $scope module u_child $end\n    $var wire 1 % ready $end\n   $upscope $end\n"
         "  $upscope $end\n  $scope module some_pkg $end\n   $var wire 1 & Constant $end\n"
         "  $upscope $end\n $upscope $end\n$enddefinitions $end\n";
}

// A block that is clocked by hand: the count follows the cycle.
struct Block final : WaveProbe::Source {
  Block(WaveProbe* to, const std::string& name) : probe(to) { probe->declare(*this, header(name)); }
  void snapshot() override { probe->record_all("#1\n0#\n" + count() + "1%\n"); }
  void clock(uint64_t k) {
    if (!probe->recording()) return;
    probe->record(k, WaveMoment::inputs, "#2\n");
    cycle = k;
    probe->record(k, WaveMoment::rise, "#3\n1#\n" + count());
    probe->record(k, WaveMoment::fall, "#4\n0#\n");
  }
  std::string count() const {
    std::string bits;
    for (unsigned i = 4; i-- != 0;) bits += (cycle >> i & 1) != 0 ? '1' : '0';
    return "b" + bits + " $\n";
  }
  WaveProbe* probe;
  uint64_t cycle = 0;
};

struct Bench {
  std::string file =
      (std::filesystem::temp_directory_path() / ("waves." + std::to_string(getpid()) + ".fst"))
          .string();
  std::unique_ptr<Waves> waves;
  explicit Bench(const std::string& request, uint64_t limit = 1 << 20)
      : waves(make_waves({parse_waves(request), file, limit, kMicrosecond / 2})) {}
  ~Bench() { std::filesystem::remove(file); }
  Block block(unsigned gpu, const std::string& name, unsigned instance, uint32_t mhz) {
    return Block(waves->probe({gpu, name, instance, name == "mca"}, mhz), name);
  }
};

std::string refusal(const std::string& text) {
  try {
    const WaveRequest request = parse_waves(text);
    std::map<std::string, unsigned> instances;
    std::map<std::string, Impl> impl;
    for (const BlockInfo& block : kBlocks) {
      instances[block.name] = block.place == BlockPlace::gpu ? 1 : 32;
      impl[block.name] = Impl::model;
    }
    impl["mca"] = Impl::rtl;
    impl["tracker"] = Impl::lockstep;
    check_waves(request, 4, instances, impl);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("blocks, instances, GPUs and times are read") {
  const WaveRequest one = parse_waves("mca,gpu1.tracker@10us..12.5us");
  CHECK(one.selects(0, "mca", 31));
  CHECK_FALSE(one.selects(1, "mca", 0));
  CHECK(one.selects(1, "tracker", 0));
  CHECK_FALSE(one.selects(0, "tracker", 0));
  CHECK(one.from == 10 * kMicrosecond);
  CHECK(one.to == 12 * kMicrosecond + 500 * kNanosecond);

  const WaveRequest some = parse_waves("gpu*.mca[1-3],gpu[1-2].grid_scheduler,mca[7]@..800ns");
  CHECK(some.selects(3, "mca", 1));
  CHECK_FALSE(some.selects(3, "mca", 4));
  CHECK_FALSE(some.selects(3, "mca", 7));
  CHECK(some.selects(0, "mca", 7));
  CHECK_FALSE(some.selects(0, "grid_scheduler", 0));
  CHECK(some.selects(2, "grid_scheduler", 0));
  CHECK(some.from == 0);
  CHECK(some.to == 800 * kNanosecond);
  CHECK(parse_waves("all@2ms..").to == kNever);
  CHECK(parse_waves("all@2ms..").selects(0, "tracker", 0));
}

TEST_CASE("what is wrong with a request is said in one line") {
  CHECK(refusal("mca[31],tracker[0],all@1ns..2ns") == "");
  CHECK_THAT(refusal("trakcer"), Contains("no block 'trakcer'") && Contains("tracker"));
  CHECK_THAT(refusal("mca,"), Contains("'' is not BLOCK"));
  CHECK_THAT(refusal("mca[x]"), Contains("'mca[x]' is not BLOCK"));
  CHECK_THAT(refusal("mca[3-1]"), Contains("backwards"));
  CHECK_THAT(refusal("mca[32]"), Contains("mca 0..31"));
  CHECK_THAT(refusal("tracker[1]"), Contains("tracker 0..0"));
  CHECK_THAT(refusal("gpu4.mca"), Contains("GPU 0..3"));
  CHECK_THAT(refusal("mca@10..12us"), Contains("'10' is not a time"));
  CHECK_THAT(refusal("mca@10us"), Contains("not FROM..TO"));
  CHECK_THAT(refusal("mca@3us..3us"), Contains("end after it begins"));
  CHECK_THAT(refusal("mca@..999999999ms"), Contains("beyond"));
  CHECK_THAT(refusal("grid_scheduler"), Contains("--impl grid_scheduler=model"));
}

TEST_CASE("clock edges of two domains are at machine time, also when blocks sleep in between") {
  Bench bench("all");
  Block slow = bench.block(0, "tracker", 0, 1000);
  Block fast = bench.block(0, "grid_scheduler", 0, 1400);
  bench.waves->advance(0);
  // One partition's clocks come before those of another, although they are later.
  for (const uint64_t k : {3, 4, 100}) slow.clock(k);
  for (const uint64_t k : {5, 6, 140}) fast.clock(k);
  bench.waves->advance(kMicrosecond);
  bench.waves->close(kMicrosecond);
  const test::FstFile fst(bench.file);
  CHECK(fst.rises("gpu0.tracker.clk_i") == std::vector<uint64_t>{3000, 4000, 100000});
  CHECK(fst.rises("gpu0.grid_scheduler.clk_i") == std::vector<uint64_t>{3571, 4285, 100000});
  CHECK(fst.value("gpu0.tracker.clk_i", 3499) == "1");
  CHECK(fst.value("gpu0.tracker.clk_i", 50000) == "0");
  CHECK(fst.number("gpu0.tracker.count_q[3:0]", 2999) == 0);
  CHECK(fst.number("gpu0.tracker.count_q[3:0]", 3000) == 3);
  CHECK(fst.number("gpu0.tracker.count_q[3:0]", 99999) == 4);
  CHECK(fst.has("gpu0.tracker.u_child.ready"));
  CHECK(fst.names().size() == 6);  // Nothing twice, no constants of packages, no loop counters.
}

TEST_CASE("the window holds what happens in it, with the values at its beginning") {
  Bench bench("mca[2]@5us..6us");
  CHECK(bench.waves->probe({0, "mca", 1, true}, 1000) == nullptr);
  CHECK(bench.waves->probe({1, "mca", 2, true}, 1000) == nullptr);
  Block block = bench.block(0, "mca", 2, 1000);
  for (uint64_t us = 0; us < 10; ++us) {
    bench.waves->advance(us * kMicrosecond);
    if (us == 0) CHECK_FALSE(block.probe->recording());
    if (us == 4) CHECK(block.probe->recording());
    if (us == 8) CHECK_FALSE(block.probe->recording());
    block.clock(us * 1000 + 6);
    block.clock(us * 1000 + 999);
  }
  bench.waves->close(10 * kMicrosecond);
  const test::FstFile fst(bench.file);
  CHECK(fst.begin() == 5'000'000);
  CHECK(fst.end() == 6'000'000);
  CHECK(fst.rises("gpu0.mca[2].clk_i") == std::vector<uint64_t>{5'006'000, 5'999'000});
  CHECK(fst.number("gpu0.mca[2].count_q[3:0]", 5'000'000) == (4999 & 15));
}

TEST_CASE("several clocks in one cycle follow each other inside its period") {
  Bench bench("tracker");
  Block block = bench.block(0, "tracker", 0, 1000);
  bench.waves->advance(0);
  block.clock(7);
  block.clock(7);
  block.clock(7);
  block.clock(8);
  bench.waves->close(kMicrosecond);
  const std::vector<uint64_t> rises = test::FstFile(bench.file).rises("gpu0.tracker.clk_i");
  CHECK(rises == std::vector<uint64_t>{7000, 7625, 7812, 8000});
}

TEST_CASE("the limit ends the file, which stays readable") {
  Bench bench("tracker", 32 << 10);
  Block block = bench.block(0, "tracker", 0, 1000);
  test::Rng random;
  uint64_t k = 0;
  for (uint64_t us = 0; us < 1000 && (us == 0 || block.probe->recording()); ++us) {
    bench.waves->advance(us * kMicrosecond);
    // Every other clock on average, so that there is something to write.
    for (; k < (us + 1) * 1000; k += 1 + random.below(3)) block.clock(k);
  }
  CHECK(k < 900'000);
  bench.waves->close(1000 * kMicrosecond);
  CHECK_THAT(bench.waves->summary(), Contains("cut at --waves-limit"));
  CHECK(std::filesystem::file_size(bench.file) < (64 << 10));
  CHECK(test::FstFile(bench.file).rises("gpu0.tracker.clk_i").size() > 1000);
}

TEST_CASE("a run that ends before the window leaves no file") {
  Bench bench("tracker@5us..");
  Block block = bench.block(0, "tracker", 0, 1000);
  for (uint64_t us = 0; us < 4; ++us) bench.waves->advance(us * kMicrosecond);
  bench.waves->close(4 * kMicrosecond);
  CHECK_FALSE(std::filesystem::exists(bench.file));
  CHECK(bench.waves->summary() == "none");
}

}  // namespace
}  // namespace stretto
