// SPDX-License-Identifier: Apache-2.0
// Question: is a table of bodies read as it was written, and refused when it was not written so?
#include <catch2/catch.hpp>

#include "models/common/component.h"
#include "models/common/error.h"
#include "models/sampled/body_table.h"

using namespace stretto;

namespace {

BodyTable example() {
  BodyTable table;
  table.machine = "0123456789abcdef";
  table.l2_bytes = 1 << 20;
  BodyTimes& kernel = table.kernels["00112233445566aa"];
  kernel.name = "gemm";
  kernel.grid = 48;
  kernel.groups = 96;
  kernel.demand = {1000, 20, 3000, 4096, 2048, 1024};
  kernel.points = {{100, 0, 1900, 40'000, 20 * kMicrosecond},
                   {0, 13, 1000, 12'500, 15'000'000'000}};
  std::vector<Time> times;
  for (Time i = 0; i < 96; ++i) times.push_back(20 * kMicrosecond + i * kNanosecond);
  kernel.launches.push_back({50 * kMicrosecond, TimeDistribution::of(times), {}});
  kernel.launches.back().correction_ppm = 1'020'000;
  kernel.launches.back().first.joined_ppm = 250'000;
  table.errors["kernel_median"] = 12'345;
  return table;
}

std::string error_of(const std::string& text) {
  try {
    BodyTable::parse("bodies.txt", text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

// Lines are changed and the sum fits.
std::string with_sum(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  text.resize(text.rfind("\nend ") + 1);
  return text + "end " + sha256_hex(text.data(), text.size()) + "\n";
}

}  // namespace

TEST_CASE("a table is read as it was written") {
  const std::string text = example().text();
  const BodyTable read = BodyTable::parse("bodies.txt", text);
  REQUIRE(read.text() == text);
  REQUIRE(read.kernels.begin()->second.points.size() == 2);
  REQUIRE(read.kernels.begin()->second.launches[0].correction_ppm == 1'020'000);
  REQUIRE(read.kernels.begin()->second.launches[0].first.joined_ppm == 250'000);
  REQUIRE(read.errors.at("kernel_median") == 12'345);
}

TEST_CASE("a table that was changed, cut or has lines of another kind is refused in one line") {
  const std::string text = example().text();
  std::string changed = text;
  changed[text.find("grid 48") + 5] = '5';
  const struct {
    std::string text;
    const char* says;
  } cases[] = {
      {changed, "its sum does not fit"},
      {text.substr(0, text.size() / 2), "cut off"},
      {"", "no table of bodies"},
      {with_sum(text, "bodies 2", "bodies 1"), "another version"},
      {with_sum(text, "bodies 2", "bodies 20"), "another version"},
      {with_sum(text, "demand tensor", "demand tensors"), "no tensor"},
      {with_sum(text, "demand tensor 1000", "demand tensor 18446744073709551615"), "is more than"},
      {with_sum(text, "point 100", "dot 100"), "what is 'dot'"},
      {with_sum(text, "point 100", "point 4294967396"), "is more than 100"},
      {with_sum(text, "grid 48", "grid 0"), "a grid of nothing"},
      {with_sum(text, "groups 96", "groups 96 7"), "what is '7'"},
      {with_sum(text, "first 96", "first x"), "not a number"},
      {with_sum(text, "first 96", "first 0"), "has no times"},
      {with_sum(text, "joined 250000", "joined"), "is more than 1000000"},
      {with_sum(text, "joined 250000", "joined 1000001"), "1000001 is more than 1000000"},
      {with_sum(text, "time 20000000000", "time -1"), "not a number"},
      {with_sum(text, "time 20000000000", "time 0"), "a point of nothing"},
      {with_sum(text, "time 20000000000", "time 18446744073709551615"), "is more than"},
      {with_sum(text, "correct 1020000", "correct 499999"), "less than half"},
      {with_sum(text, "correct 1020000", "correct 2000001"), "is more than 2000000"},
      {with_sum(text, "launch 50000000000", "launch 50000000000\nlaunch 0"), "has no times"}};
  for (const auto& [table, says] : cases) {
    const std::string error = error_of(table);
    INFO(error);
    CHECK(error.find(says) != std::string::npos);
    CHECK(error.find('\n') == std::string::npos);
  }
}

TEST_CASE("merging keeps points of both tables and takes times of a full measurement") {
  BodyTable table = example();
  BodyTable other = example();
  BodyTimes& kernel = other.kernels.begin()->second;
  kernel.points = {{100, 0, 2000, 42'000, 22 * kMicrosecond},
                   {50, 0, 1000, 30'000, 18'000'000'000}};
  kernel.demand.tensor_cycles = 7;
  table.merge(other);
  const BodyTimes& merged = table.kernels.begin()->second;
  REQUIRE(merged.points.size() == 3);
  REQUIRE(merged.points[0].time == 22 * kMicrosecond);
  REQUIRE(merged.demand.tensor_cycles == 7);
  kernel.points = {{50, 0, 1000, 31'000, 19'000'000'000}};
  kernel.demand.tensor_cycles = 8;
  table.merge(other);
  REQUIRE(table.kernels.begin()->second.demand.tensor_cycles == 7);
}

TEST_CASE("corrections are taken where a table differs from the one it was made of") {
  BodyTable base = example();
  base.kernels["ffeeddccbbaa0099"] = base.kernels["00112233445566aa"];
  const auto correction = [](BodyTable& table, const char* key) -> uint64_t& {
    return table.kernels.at(key).launches[0].correction_ppm;
  };
  BodyTable table = base, one = base, other = base;
  correction(one, "00112233445566aa") = 990'000;
  correction(other, "ffeeddccbbaa0099") = 1'000'000;
  table.take_corrections(one, base);
  table.take_corrections(other, base);
  REQUIRE(correction(table, "00112233445566aa") == 990'000);
  REQUIRE(correction(table, "ffeeddccbbaa0099") == 1'000'000);
}

TEST_CASE("a point whose operands the L2 lacked is left out, if it could have held them") {
  const auto points_with = [](uint64_t read, uint64_t grid, bool is_full = false) {
    BodyTable table = example();
    BodyTable other = example();
    table.kernels.begin()->second.grid = grid;
    BodyTimes& kernel = other.kernels.begin()->second;
    kernel.grid = grid;
    kernel.points = {{is_full ? 100u : 50u, 0, 1000, 30'000, 18'000'000'000}};
    kernel.demand.hbm_read_bytes = read;
    table.merge(other);
    return table.kernels.begin()->second.points.size();
  };
  // 4,096 bytes through the L2, of which 2,048 are read from memory; 1 MiB holds 512 such, twice.
  REQUIRE(points_with(2048 + 512, 512) == 3);
  REQUIRE(points_with(2048 + 513, 512) == 2);
  REQUIRE(points_with(2048 + 513, 513) == 3);
  REQUIRE(points_with(4096, 512, true) == 2);  // It is the full one.
}

TEST_CASE("drawn times lie between the least and the greatest and have the mean of all") {
  std::vector<Time> times;
  for (Time i = 0; i < 1000; ++i) times.push_back(1'000'000 + (i * i));
  const TimeDistribution all = TimeDistribution::of(times);
  REQUIRE(all.draw(0) == 1'000'000);
  REQUIRE(all.draw(~uint64_t{0}) <= 1'000'000 + 999 * 999);
  Time sum = 0;
  for (uint64_t i = 0; i < 4096; ++i) sum += all.draw(i << 52);
  const Time mean = sum / 4096;
  REQUIRE(mean > all.mean() * 999 / 1000);
  REQUIRE(mean < all.mean() * 1001 / 1000);
}
