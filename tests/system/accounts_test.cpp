// SPDX-License-Identifier: Apache-2.0
// Question: do results say what a job names, its accounts and phases, from stats.json to `compare`,
// and nothing of another kind? Through the executable, with workloads that are no GEMM.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

boost::json::value run(const std::string& arguments, const std::string& folder) {
  const Finished finished = run_stretto("run " + arguments + " --out " + folder);
  INFO(arguments << "\n" << finished.output);
  REQUIRE(finished.status == 0);
  boost::json::value root = stats(folder);
  CHECK(root.at("audit").at("violations").to_number<uint64_t>() == 0);
  return root;
}

std::set<std::string> keys(const boost::json::value& root, const char* group) {
  std::set<std::string> all;
  for (const auto& item : root.at(group).as_object()) all.insert(item.key());
  return all;
}

uint64_t number(const boost::json::value& root, const char* group, const std::string& key) {
  return root.at(group).at(key).to_number<uint64_t>();
}

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// The keys of `dram_bytes` for accounts of the job and the machine.
std::set<std::string> directions(std::set<std::string> accounts) {
  accounts.insert({"other", "sync", "spill", "cp"});
  std::set<std::string> all;
  for (const std::string& account : accounts) {
    all.insert(account + "_read");
    all.insert(account + "_write");
  }
  return all;
}

std::set<std::string> with_machine_times(std::set<std::string> phases) {
  phases.insert({"total", "setup", "write_back", "no_phase"});
  return phases;
}

const std::string kInterference =
    "gpu-driven/interference --impl all=model --mode l2-mmio --set "
    "interference.gather_bytes=262144 --set interference.min_gather_bytes=0 "
    "--set interference.max_kernel_percent=50 --set gpus=4";

}  // namespace

TEST_CASE("each kind has accounts and phases of its own in its results") {
  const Scratch scratch;
  const auto check = [&](const std::string& arguments, const std::set<std::string>& accounts) {
    INFO(arguments);
    const auto root = run(arguments + " --impl all=model", scratch.path + "/r");
    CHECK(keys(root, "dram_bytes") == directions(accounts));
    CHECK(keys(root, "time_ns") == with_machine_times(accounts));
  };
  check("t3/small --mode t3", {"gemm", "rs", "ag", "init"});
  check("t3/gather-small", {"gemm", "ag", "init"});
  check(
      "collectives/all_reduce --mode dma --set gpus=2 --set collective.min_bytes=1024 "
      "--set collective.max_bytes=1024 --set collective.place=out",
      {"reduce", "move", "init"});
  check("gpu-driven/p2p --set point_to_point.max_bytes=4096", {"send", "put", "init"});
  check("graph/mlp --mode launched", {"compute", "comm", "init"});
}

TEST_CASE("the accounts of a job that is no GEMM reach statistics, CSV, summary and comparison") {
  const Scratch scratch;
  const std::string folder = scratch.path + "/interference";
  const auto root = run(kInterference, folder);
  CHECK(keys(root, "dram_bytes") == directions({"load", "gather", "init"}));
  CHECK(keys(root, "time_ns") == with_machine_times({"load", "gather", "init"}));
  // The kernel reads 1 MiB on each of 4 GPUs, and misses once at the least; the all-gather writes
  // three quarters of 256 KiB on each GPU in each of three turns.
  CHECK(number(root, "dram_bytes", "load_read") >= 4 * 1048576);
  // Five kernels note two clocks of each of two work-groups a unit.
  CHECK(number(root, "dram_bytes", "load_write") == 4 * 5 * 2 * 80 * 16);
  CHECK(number(root, "dram_bytes", "gather_write") >= 4 * 3 * 196608);
  CHECK(number(root, "statistics", "gpu0.hbm.read_atoms.load") > 0);
  CHECK(number(root, "statistics", "gpu0.compute.front_end.first_dispatch.load") > 0);
  const std::string csv = text_of(folder + "/stats.csv");
  for (const char* line : {"\ntime_ns.load,", "\ntime_ns.gather,", "\ntime_ns.no_phase,",
                           "\ndram_bytes.gather_write,", "\ngpu0.hbm.read_atoms.load,"})
    CHECK(csv.find(line) != std::string::npos);
  for (const char* foreign : {"gemm", "rs_", ".rs", "ag_", ".ag", "account"})
    CHECK(csv.find(std::string("dram_bytes.") + foreign) == std::string::npos);

  run("t3/small --mode t3 --impl all=model", scratch.path + "/small");
  const Finished table = run_stretto("compare " + folder + " " + scratch.path + "/small");
  INFO(table.output);
  for (const char* row : {"\nload ms", "\ngather ms", "\ngemm ms", "\nno_phase ms",
                          "\nDRAM gather_write MB", "\nDRAM rs_write MB"})
    CHECK(table.says(row));
  CHECK_FALSE(table.says(" 0.000000"));  // What does not come in one of them.
}

TEST_CASE("what passes in no phase is what the phases leave of the total") {
  const Scratch scratch;
  // One kernel alone: its phases do not overlap.
  const auto alone = run("t3/small --mode gemm --impl all=model", scratch.path + "/alone");
  const auto time = [](const boost::json::value& root, const std::string& phase) {
    return number(root, "time_ns", phase);
  };
  const uint64_t sum =
      time(alone, "setup") + time(alone, "init") + time(alone, "gemm") + time(alone, "write_back");
  CHECK(time(alone, "no_phase") > 0);  // The host is told after the last work-group.
  // Each of the figures is cut to whole ns.
  CHECK(time(alone, "total") >= sum + time(alone, "no_phase"));
  CHECK(time(alone, "total") <= sum + time(alone, "no_phase") + 4);

  const auto fused = run("t3/small --mode t3 --impl all=model", scratch.path + "/fused");
  const uint64_t covered =
      time(fused, "total") - time(fused, "no_phase") - time(fused, "write_back");
  uint64_t all = 0, longest = 0;
  for (const char* phase : {"setup", "init", "gemm", "rs", "ag"}) {
    all += time(fused, phase);
    longest = std::max(longest, time(fused, phase));
  }
  CHECK(covered > longest);
  CHECK(covered < all);  // GEMM and reduce-scatter overlap.
}

TEST_CASE(
    "clocks of every part add up to the time that the statistics cover, which holds the run") {
  // Table 1 of T3: units at 1.4 GHz, memory at 1 GHz; harts have 1.5 GHz, a choice of ours.
  const std::map<std::string, double> clocks{
      {"tensor.", 1.4}, {"simt.", 1.4}, {"channel", 1.0}, {"hart", 1.5}};
  const Scratch scratch;
  for (const char* arguments : {"t3/small --mode t3", "t3/small --mode sequential"}) {
    INFO(arguments);
    const auto root = run(std::string(arguments) + " --impl all=model", scratch.path + "/r");
    const double horizon = root.at("horizon_ns").to_number<double>();
    CHECK(horizon + 1 > root.at("time_ns").at("total").to_number<double>());
    std::map<std::string, uint64_t> sums;
    for (const auto& one : root.at("statistics").as_object()) {
      const std::string path = one.key();
      for (const char* part : {"busy_cycles", "waiting_cycles", "idle_cycles", "wfi_cycles"}) {
        if (path.ends_with(part))
          sums[path.substr(0, path.size() - std::strlen(part))] +=
              one.value().to_number<uint64_t>();
      }
    }
    std::map<std::string, unsigned> parts;
    for (const auto& [path, sum] : sums) {
      for (const auto& [part, ghz] : clocks) {
        if (path.find(part) == std::string::npos) continue;
        ++parts[part];
        INFO(path);
        CHECK(std::abs(double(sum) - horizon * ghz) <= 2 * ghz + 1);
      }
    }
    // Four GPUs of 80 units, 32 channels and two harts.
    CHECK(parts == std::map<std::string, unsigned>{
                       {"tensor.", 320}, {"simt.", 320}, {"channel", 128}, {"hart", 8}});
  }
}

TEST_CASE("what a kernel sends by a request ring is on the account of the kernel") {
  const Scratch scratch;
  // Whatever crosses a link has been read from memory: by the ring of the GPU, or by that of a card,
  // and then it crosses two.
  const auto check = [&](const std::string& arguments, const std::string& account) {
    INFO(arguments);
    const auto root = run(arguments + " --impl all=model", scratch.path + "/r");
    const uint64_t crossed = root.at("link_bytes").to_number<uint64_t>();
    CHECK(number(root, "dram_bytes", account + "_read") > crossed / 3);
    CHECK(number(root, "dram_bytes", "other_read") < crossed / 100);
  };
  check("gpu-driven/p2p --mode g-drv-d --set point_to_point.max_bytes=4096", "send");
  check(
      "gpu-driven/p2p --machine v100-pcie-fpga --mode g-drv-h --set "
      "point_to_point.max_bytes=4096",
      "send");
  check(
      "collectives/all_gather --mode gdma --set gpus=2 --set collective.min_bytes=65536 --set "
      "collective.max_bytes=65536",
      "move");
}

TEST_CASE("what the L2 writes back after a kernel is a time of its own") {
  const Scratch scratch;
  const auto root = run("t3/small --mode gemm --impl all=model", scratch.path + "/r");
  uint64_t end = 0, access = 0;
  for (const auto& [path, value] : root.at("statistics").as_object()) {
    if (path.ends_with("front_end.last_end.gemm"))
      end = std::max(end, value.to_number<uint64_t>() / 1'000'000);
    if (path.ends_with("hbm.last_access.gemm"))
      access = std::max(access, value.to_number<uint64_t>() / 1'000'000);
  }
  REQUIRE(access > end);
  CHECK(number(root, "time_ns", "write_back") + 1 >= access - end);
  CHECK(number(root, "time_ns", "write_back") <= access - end + 1);
}

TEST_CASE("reduce-scatter writes its chunks and what the L2 rounds up to sectors, to the byte") {
  const Scratch scratch;
  const bool down = GENERATE(false, true);  // Tiles row by row, or strips of one column each.
  const auto root = run(std::string("t3/small --mode rs --impl all=model ") +
                            (down ? "" : "--set sub_layer.tile_order=rows"),
                        scratch.path + "/r");
  // 330 x 530 of 2 B in 3 x 5 tiles of 128 x 128. Each GPU gets three chunks over links, byte for
  // byte; it stores the sum of its own chunk through the L2, which writes sectors of 64 B.
  constexpr uint64_t kRows = 330, kPitch = 530 * 2, kTiles = 15, kColumns = 5, kGpus = 4,
                     kTileRows = 3;
  uint64_t expected = 0;
  for (uint64_t gpu = 0; gpu < kGpus; ++gpu) {
    std::set<uint64_t> sectors;
    uint64_t own = 0;
    for (uint64_t tile = gpu * kTiles / kGpus; tile < (gpu + 1) * kTiles / kGpus; ++tile) {
      const uint64_t row = (down ? tile % kTileRows : tile / kColumns) * 128;
      const uint64_t column = (down ? tile / kTileRows : tile % kColumns) * 256;
      const uint64_t bytes = std::min<uint64_t>(256, kPitch - column);
      for (uint64_t r = row; r < std::min(row + 128, kRows); ++r) {
        const uint64_t begin = r * kPitch + column;
        for (uint64_t sector = begin / 64; sector <= (begin + bytes - 1) / 64; ++sector)
          sectors.insert(sector);
        own += bytes;
      }
    }
    expected += kRows * kPitch - own + sectors.size() * 64;
  }
  // 0.113 C, 0.226 C; C: a chunk on each GPU.
  CHECK(expected - kGpus * kRows * kPitch == (down ? 79'128 : 39'576));
  uint64_t written = 0;
  for (uint64_t gpu = 0; gpu < kGpus; ++gpu)
    written += number(root, "statistics", "gpu" + std::to_string(gpu) + ".hbm.write_bytes.rs");
  CHECK(written == expected);
}

TEST_CASE("each sentence of stats.csv stands alone") {
  const Scratch scratch;
  run("t3/small --mode gemm --impl all=model", scratch.path + "/r");
  const std::string csv = text_of(scratch.path + "/r/stats.csv");
  REQUIRE(csv.find("Clocks in which") != std::string::npos);
  for (const char* leaning : {"ikewise", ",Of them", ",\"Of them", "The same of", " in them."})
    CHECK(csv.find(leaning) == std::string::npos);
}
