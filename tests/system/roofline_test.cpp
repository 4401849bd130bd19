// SPDX-License-Identifier: Apache-2.0
// Question: do the kernels of the library compute what they should, whatever the shape, and does the workload that
// measures them tell the truth about their shares of a machine? Results are compared with sums in double precision
// (platform/kinds/roofline). Through the executable.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

Finished run(const std::string& operators, const std::string& more, const std::string& out = "") {
  return run_stretto("run kernels/roofline --impl all=model --set roofline.operators=" + operators +
                     " " + more + (out.empty() ? "" : " --out " + out));
}

// Every element of `operators` is right on the machine.
void expect_right(const std::string& machine, const std::string& operators) {
  const Scratch scratch;
  const Finished finished =
      run(operators, "--set gpu.tile_values=true --set roofline.warm=0 --machine " + machine,
          scratch.path + "/r");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  const auto root = stats(scratch.path + "/r");
  CHECK(root.at("check").at("mismatches").to_number<uint64_t>() == 0);
  CHECK(root.at("check").at("elements").to_number<uint64_t>() > 1000);
}

boost::json::array measure(const std::string& operators, const std::string& more) {
  const Scratch scratch;
  const Finished finished = run(operators, more, scratch.path + "/r");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  return stats(scratch.path + "/r").at("job").at("operators").as_array();
}

double number(const boost::json::value& line, const char* key) {
  return line.at(key).to_number<double>();
}

}  // namespace

TEST_CASE("every tile, K step and number of buffers of the GEMM family multiplies right") {
  std::string operators;
  const auto add = [&](const std::string& tile) {
    operators += "gemm:300x270x200:tile=" + tile + ",";
  };
  for (const std::string tile : {"256x128", "128x256", "128x128", "128x64", "64x64"})
    for (const std::string step : {"x32", "x64"})
      for (const std::string buffers : {"x2", "x3"}) add(tile + step + buffers);
  for (const std::string tile : {"256x128x32", "128x256x32", "128x128x64", "128x64x64", "64x64x32"})
    add(tile + "x4");
  expect_right("a100-nvswitch", operators);
}

TEST_CASE(
    "GEMMs are right for every element and layout, batched, at ragged sizes, with every epilogue") {
  std::string operators;
  for (const std::string element : {"fp16", "bf16", "tf32", "fp32"})
    for (const std::string layout : {"nn", "tn", "nt", "tt"})
      operators += "gemm:131x77x99:batch=2:bias:" + element + ":" + layout + ",";
  expect_right("a100-nvswitch",
               operators +
                   "gemm:129x200x33:relu,gemm:129x200x33:bias:gelu,gemm:63x65x17:bf16:bias:relu,"
                   "gemm:1x1x1,gemm:1x300x7:tf32:gelu,gemm:257x1x1025:fp32:nt:relu");
}

TEST_CASE(
    "a product is added to a matrix that was there, in every element and layout, by parts too") {
  std::string operators;
  for (const std::string element : {"fp16", "bf16", "tf32", "fp32"})
    operators += "gemm:131x77x99:batch=2:add:" + element +
                 ",gemm:70x300x1000:split=5:add:tt:" + element + ",";
  expect_right("a100-nvswitch",
               operators +
                   "gemm:300x270x200:add:tile=256x128x64x3,gemm:257x1x40:add:bias:relu,"
                   "gemm:129x200x33:add:bias:gelu,gemm:65x66x2100:split=17:batch=3:add:relu,"
                   "gemm:256x256x8192:tn:add");
}

TEST_CASE("parts of K add up to the product, with bias and activation applied once") {
  expect_right(
      "v100-pcie",
      "gemm:70x300x1000:split=2,gemm:70x300x1000:split=5:bias:gelu,gemm:33x65x999:split=13:bf16:"
      "relu,"
      "gemm:40x600x700:split=3:fp32:bias,gemm:65x66x2100:tt:split=17:batch=3,gemm:64x64x4000:nt");
}

// Shares shorter than a tile (parts in the middle of K), longer than one, of all tiles and of some.
TEST_CASE(
    "work-groups that share tiles add up to the product, whatever the element and the shares") {
  std::string operators;
  for (const std::string element : {"fp16", "bf16", "tf32", "fp32"})
    for (const std::string layout : {"nn", "tn", "nt", "tt"})
      operators += "gemm:131x77x999:batch=2:bias:streams=7:" + element + ":" + layout +
                   ",gemm:70x300x1000:streams=13:add:gelu:" + element + ":" + layout + ",";
  for (const std::string tile :
       {"256x128x64x3", "128x256x32x2", "128x128x64x4", "128x64x32x3", "64x64x64x2"})
    operators += "gemm:300x270x2001:relu:streams=5:tile=" + tile +
                 ",gemm:257x513x777:bias:add:relu:streams=2:tile=" + tile + ",";
  expect_right(
      "a100-nvswitch",
      operators +
          "gemm:64x64x3999:streams=40:tile=64x64x32x2,gemm:1x1x1:streams=1,"
          "gemm:1000x1000x128:streams=11:tile=64x64x32x2,gemm:65x1x2100:streams=17:batch=3,"
          // Flags that the first one leaves would let the second one go on too early.
          "gemm:256x128x4096:streams=2:tile=256x128x64x2,"
          "gemm:256x128x4099:streams=2:tile=256x128x64x2");
}

TEST_CASE("shares need not be resident together: one work-group after the other does") {
  const Scratch scratch;
  const Finished finished =
      run("gemm:512x300x999:streams=5:tile=256x128x32x2,gemm:128x128x999:streams=5",
          "--machine t3 --set gpu.cus=1 --set gpu.tile_values=true --set roofline.warm=0",
          scratch.path + "/r");
  INFO(finished.output);
  CHECK(finished.status == 0);
}

// 119 tiles on 108 units.
TEST_CASE("tiles that do not fill their last turn are shared, and done sooner than by other ways",
          "[.long]") {
  const auto lines = measure(
      "gemm:1792x2176x4096,gemm:1792x2176x4096:split=1,gemm:1792x2176x4096:split=2,"
      "gemm:1792x2176x4096:split=3",
      "--machine a100-nvswitch");
  CHECK(std::string(lines[0].at("how").as_string()).find("streams 108") != std::string::npos);
  for (size_t i = 1; i < lines.size(); ++i) CHECK(number(lines[0], "us") < number(lines[i], "us"));
}

TEST_CASE("products whose work-groups need not wait for each other can be asked for") {
  const auto lines = measure("gemm:768x768x1536:fp32,gemm:768x768x1536:fp32:streams=0",
                             "--machine a100-nvswitch --set roofline.warm=0");
  const auto how = [&](size_t i) { return std::string(lines[i].at("how").as_string()); };
  CHECK(how(0).find("streams") != std::string::npos);
  CHECK(how(1).find("streams") == std::string::npos);
}

TEST_CASE("a work-group that does not wait for others' sums is found out") {
  const Scratch scratch;
  const Finished finished = run_stretto(
      "run kernels/roofline --impl all=model --machine a100-nvswitch --set gpu.tile_values=true "
      "--set roofline.warm=0 --set "
      "roofline.operators=gemm:128x128x4099:streams=5:tile=128x128x64x4 --out " +
          scratch.path + "/r",
      "env STRETTO_SW=" + software_with(scratch, "ops_stream_no_wait", "ops") + " timeout 100");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("should be"));
}

TEST_CASE("vector operators are right for every element, ragged, in rows short and long") {
  std::string operators;
  for (const std::string element : {"fp16", "bf16", "fp32"}) {
    for (const std::string name :
         {"copy", "gelu", "relu", "add", "mul", "gelu_grad", "relu_grad", "triad"})
      operators += name + ":70001:" + element + "," + name + ":3:" + element + ",";
    for (const std::string name : {"softmax", "layer_norm", "gemv"})
      operators += name + ":300x16:" + element + "," + name + ":37x501:" + element + "," + name +
                   ":7x2048:" + element + ",";
    operators += "concat:100x300x900:" + element + ",concat:33x1x5000:" + element + ",";
  }
  expect_right("a100-nvswitch", operators + "softmax:5x4096,layer_norm:5x3999,gemv:1x1");
}

TEST_CASE("rows that a team of wavefronts holds, and longer ones, are right for every element") {
  std::string operators;
  for (const std::string element : {"fp16", "bf16", "fp32"})
    for (const std::string name : {"softmax", "layer_norm"})
      for (const std::string shape : {"6x4999", "3x20001", "3x33001"})
        operators += name + ":" + shape + ":" + element + ",";
  expect_right("a100-nvswitch", operators);
}

TEST_CASE("gradients of softmax and layer norm are right, by one wavefront a row or by several") {
  std::string operators;
  for (const std::string element : {"fp16", "bf16", "fp32"}) {
    for (const std::string shape : {"301x100", "37x1501", "9x5003", "9x8191", "3x20001"})
      operators += "softmax_grad:" + shape + ":" + element + ",";
    for (const std::string shape : {"301x100", "37x1003", "37x3003", "1x16"})
      operators += "layer_norm_grad:" + shape + ":" + element + ",";
  }
  // Those of more than 16 KiB, of which teams keep their sums over rows in memory.
  for (const std::string shape :
       {"9x8193", "200x9001", "3x20001:bf16", "2x5003:fp32", "170x4097:fp32"})
    operators += "layer_norm_grad:" + shape + ",";
  expect_right("v100-pcie", operators + "layer_norm_grad:9x8192");
}

TEST_CASE("sums over rows and over columns are right for every element, in one part or in many") {
  std::string operators;
  for (const std::string element : {"fp16", "bf16", "fp32"}) {
    for (const std::string shape : {"4000x256", "1001x3001", "20001x1", "3x100"})
      operators += "sum_rows:" + shape + ":" + element + ",";
    for (const std::string shape : {"4000x256", "301x3001", "7x30001", "5000x1"})
      operators += "sum_columns:" + shape + ":" + element + ",";
  }
  expect_right("t3", operators);
}

TEST_CASE("attention is right for blocks that are not full, of queries, of keys and of a head") {
  expect_right("a100-nvswitch",
               "attention:3x100x333x64,attention:1x17x64x128,attention:2x70x129x40,"
               "attention:1x64x1x128,attention:5x1x300x96");
}

TEST_CASE("rows by index are right, whether lists are empty, short or cut, names even or skewed") {
  std::string operators;
  for (const std::string element : {"fp16", "bf16", "fp32"}) {
    for (const std::string named : {":uniform", ":zipf"}) {
      operators +=
          "gather:1001x37x500:" + element + named + ",gather:33x3001x70:" + element + named;
      operators += ",embedding_bag:301x100x1000x5:" + element + named;
      operators += ",embedding_bag:7x1030x40x100:" + element + named;
      operators += ",scatter_add:3001x65x400:" + element + named;
      operators += ",scatter_add:500x300x3:" + element + named + ",";
    }
  }
  expect_right("a100-nvswitch", operators);
}

TEST_CASE(
    "a run says what it has not compared, and a launch behind warm ones finds their operands") {
  const Scratch scratch;
  const Finished finished = run("copy:1048576,sum_rows:4096x256", "", scratch.path + "/r");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  CHECK(finished.says("data own"));
  CHECK(finished.says("gpu.tile_values=true compares results"));
  const auto root = stats(scratch.path + "/r");
  // Operands of 2 MiB each lie in the L2 behind the warm launch.
  for (const auto& line : root.at("job").at("operators").as_array())
    CHECK(number(line, "dram_read_bytes") < 0.02 * number(line, "least_read_bytes"));
  CHECK(root.at("dram_bytes").at("warm_up_read").to_number<double>() >= 4 << 20);
  // Without, the first of two launches starts cold, too.
  for (const auto& line : measure("copy:1048576,sum_rows:4096x256", "--set roofline.warm=0"))
    CHECK(number(line, "dram_read_bytes") > 0.99 * number(line, "least_read_bytes"));
}

TEST_CASE(
    "a machine without TF32 products refuses them, and texts that name no operator are refused in "
    "a line") {
  const auto bad = [](const std::string& operators, const std::string& says,
                      const std::string& machine) {
    const Finished finished = run(operators, "--machine " + machine);
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.says("roofline.operators"));
    CHECK(finished.says(says));
    CHECK(finished.lines() == 1);
  };
  bad("gemm:64x64x64:tf32", "no products of tf32; it has fp16, bf16, fp32", "v100-pcie");
  bad("gemm:64x64x64:tile=256x128x64x4", "needs 212 KiB of registers and 192 of LDS",
      "a100-nvswitch");
  bad("gemm:64x64x64:tile=100x100x64x2",
      "no tile 100x100; allowed: 256x128, 128x256, 128x128, 128x64, 64x64", "t3");
  bad("gemm:64x64x64:tile=64x64x33x2", "no K step of 33 fp16; allowed: 32, 64", "t3");
  bad("gemm:64x64x64:fp32:tile=64x64x64x2", "no K step of 64 fp32; allowed: 16, 32", "t3");
  bad("gemm:64x64x64:tile=64x64x64x9", "9 buffers; allowed on this machine: 2", "v100-pcie");
  bad("gemm:64x64x64:tile=64x64x64x5", "5 buffers; allowed on this machine: 2 to 4",
      "a100-nvswitch");
  bad("gemm:64x64x64:tile=64x64x64x1", "1 buffers; allowed", "t3");
  bad("gemm:64x64x64:split=3", "split=3; allowed: 1 to 2", "t3");
  bad("gemm:64x64x6400:split=65", "split=65; allowed: 1 to 64", "t3");
  bad("gemm:64x64x64:streams=3", "streams=3; allowed: 0 to 2", "t3");
  bad("gemm:64x64x64:streams=2:split=2", "exclude each other", "t3");
  bad("gemm:64x64", "3 numbers", "t3");
  bad("gemm:64x64x64:nan", "'nan' is unknown", "t3");
  bad("gemm:64x64x0", "no size", "t3");
  bad("gem:64x64x64", "there is gemm", "t3");
  bad("concat:1x2147483648x2147483649", "at most 2147483647 columns, of both together", "t3");
  bad("softmax:1x2147483648", "at most 2147483647 columns", "t3");
  bad("gather:4x2147483648x4", "at most 2147483647 columns", "t3");
  bad("gemv:4x4097", "at most 4096 columns", "t3");
  bad("gather:4x4", "3 numbers", "t3");
  bad("scatter_add:4x4x4:skewed", "allowed: fp16, bf16, fp32, uniform, zipf", "t3");
  bad("sum_rows:4x4:tf32", "allowed: fp16, bf16, fp32", "t3");
  bad("gemm:64x64x64:nan", "allowed: fp16, bf16, tf32, fp32, nn, tn", "t3");
  bad("add:4:tf32", "'tf32' is unknown", "t3");
  bad("layer_norm:64", "2 numbers", "t3");
  const Finished large = run("gemm:8192x8192x8192", "--set gpu.tile_values=true");
  CHECK(large.status == 2);
  CHECK(large.says("gpu.tile_values=false"));
}

TEST_CASE(
    "large GEMMs reach what an A100's library reaches, and read operands hardly more than once") {
  // SI-GEMM-04 (silicon.yaml): 223.7 TFLOP/s at 2048 x 2048 x 2048 of cuBLAS, launch included, 312 at most.
  // The median of nine launches: where the first of 256 work-groups end, the last 40 are placed within 1.4 us. If
  // units get two of them, which nanoseconds decide, the launch takes a quarter longer (timeline).
  std::string operators = "gemm:16384x256x256";
  for (unsigned i = 0; i < 9; ++i) operators += ",gemm:2048x2048x2048";
  const auto lines = measure(operators, "--set roofline.warm=0");
  std::vector<double> rates;
  for (size_t i = 1; i < lines.size(); ++i) rates.push_back(number(lines[i], "tflop_s"));
  std::sort(rates.begin(), rates.end());
  CHECK(rates[4] > 0.8 * 223.7);
  CHECK(rates[4] < 1.1 * 223.7);
  for (const auto& line : lines)
    CHECK(number(line, "dram_read_bytes") < 1.1 * number(line, "least_read_bytes"));
}

TEST_CASE("vector operators stream what they must and nothing else") {
  const auto lines = measure("triad:4194304,softmax:8192x1024,concat:8192x300x700",
                             "--machine v100-pcie --set roofline.warm=0");
  for (const auto& line : lines) {
    CHECK(number(line, "dram_read_bytes") < 1.02 * number(line, "least_read_bytes"));
    CHECK(number(line, "share_of_hbm") > 0.8);
  }
}

TEST_CASE("a kernel that is faster than its machine breaks a law") {
  const Finished finished = run(
      "gemm:2048x1280x2048:tile=256x128x64x2",
      "--machine v100-pcie --set gpu.fault.product_speed=40 --set l2.cu_load_bytes_per_cycle=256");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("operator's share of tensor pipes <= peak"));
}
