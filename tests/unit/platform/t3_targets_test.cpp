// SPDX-License-Identifier: Apache-2.0
// The table of T3: every recipe has a published target, verdicts follow the bands of
// targets/README.md, and traffic made from the closed forms (derived_traffic_in_chunks) reproduces
// the published ratios.
#include <catch2/catch.hpp>

#include <algorithm>

#include "platform/reproduce/t3/t3_targets.h"

namespace stretto {
namespace {

const std::vector<Target>& targets() {
  static const std::vector<Target> all = load_targets("t3");
  return all;
}

const Target& target(const std::string& id) {
  return *std::find_if(targets().begin(), targets().end(),
                       [&](const Target& t) { return t.id == id; });
}

// 16 cases whose times are those of an ideal machine and whose traffic follows the closed forms.
T3Results closed_forms() {
  std::vector<T3Case> cases;
  for (const char* model : {"mega", "tnlg"}) {
    for (const char* layer : {"op", "fc2", "fc1", "ip"}) {
      for (unsigned n : {8u, 16u}) {
        T3Case one;
        one.model = model;
        one.layer = layer;
        one.tp = n;
        one.name = std::string(model) + "-" + layer + "-tp" + std::to_string(n);
        T3Run sequential, mca;
        sequential.total = 3'000'000;
        sequential.dram = {{"rs_read", 1000 * (2 * n - 1)},
                           {"gemm_write", 1000 * n},
                           {"rs_write", 1000 * n},
                           {"gemm_read", 3000},
                           {"ag_read", 0},
                           {"ag_write", 0}};
        mca.total = 2'000'000;
        mca.dram = {{"rs_read", 1000 * (n - 2)},
                    {"gemm_write", 1000 * (n - 1)},
                    {"rs_write", 1000 * (n - 1)},
                    {"gemm_read", 2000}};
        one.runs = {{"sequential", sequential}, {"t3-mca", mca}};
        cases.push_back(one);
      }
    }
  }
  return {.cases = std::move(cases)};
}

TEST_CASE("the table has every published target once") {
  REQUIRE(t3_ids().size() == 66);
  REQUIRE(targets().size() == 66);
  for (const Target& one : targets())
    CHECK(std::count(t3_ids().begin(), t3_ids().end(), one.id) == 1);
}

TEST_CASE("traffic of the closed forms meets the published reductions") {
  const auto results = closed_forms();
  for (const char* id : {"T3-R60", "T3-R61", "T3-R62", "T3-R63", "T3-R64", "T3-R65"}) {
    CHECK(verdict(target(id), measure_t3(id, results)) == "met");
  }
  CHECK(*measure_t3("T3-R61", results).value == Approx(2.5));
  CHECK(*measure_t3("T3-R65", results).value == Approx(100.0 / 15));
  CHECK(*measure_t3("T3-R01", results).value == Approx(1.5));
}

// T3 5.3: Ideal-GEMM-RS-Overlap = max(GEMM, RS) + AG of isolated runs, Ideal-RS+NMC the same with
// RS by near-memory computing. What prepares a machine is no part of a sub-layer.
TEST_CASE("ideals are the longer of GEMM and reduce-scatter, then the all-gather", "[T3-SIM-07]") {
  auto results = closed_forms();
  const auto isolated = [&](uint64_t gemm, uint64_t rs, uint64_t rs_nmc, uint64_t ag) {
    for (T3Case& one : results.cases) {
      T3Run& sequential = one.runs["sequential"];
      sequential.setup = 100'000;
      sequential.init = 200'000;
      for (const char* mode : {"gemm", "rs", "rs-nmc", "ag"}) one.runs[mode].total = 9'999'999;
      one.runs["gemm"].gemm = gemm;
      one.runs["rs"].rs = rs;
      one.runs["rs-nmc"].rs = rs_nmc;
      one.runs["ag"].ag = ag;
    }
  };
  // The reduce-scatter is longer: 1400 + 500; by near-memory computing 1100 + 500.
  isolated(1'000'000, 1'400'000, 1'100'000, 500'000);
  CHECK(*measure_t3("T3-R30", results).value == Approx(2700.0 / 1900));
  CHECK(*measure_t3("T3-R35", results).value == Approx(18.75));
  // Near-memory computing makes it the shorter one: 1000 + 500.
  isolated(1'000'000, 1'400'000, 900'000, 500'000);
  CHECK(*measure_t3("T3-R35", results).value == Approx(100.0 * 400 / 1500));
  // The GEMM is longer: 2000 + 500 in both.
  isolated(2'000'000, 1'400'000, 900'000, 500'000);
  CHECK(*measure_t3("T3-R30", results).value == Approx(2700.0 / 2500));
  CHECK(*measure_t3("T3-R35", results).value == Approx(0).margin(1e-9));
}

TEST_CASE("what needs a case that is missing is not judged, and names it") {
  auto results = closed_forms();
  results.cases[3].runs.erase("t3-mca");
  REQUIRE(results.cases[3].name == "mega-fc2-tp16");
  const auto said = [&](const char* id) { return verdict(target(id), measure_t3(id, results)); };
  CHECK(said("T3-R01") == "not judged: needs mega-fc2-tp16 t3-mca");
  CHECK(said("T3-R02") == "not judged: needs mega-fc2-tp16 t3-mca");
  CHECK(said("T3-R69") == "not judged: needs mega-fc2-tp16 t3-mca");  // A bound over all cases.
  CHECK(said("T3-R40") == "not judged: needs mega-op-tp8 t3 and 15 more");
  CHECK(said("T3-R61") == "met");  // TP 8 only: nothing is missing.
}

// Fig 6: shares of the compute units, the longer of GEMM and all-reduce.
TEST_CASE("a partition gives the longer of GEMM and all-reduce on their shares") {
  auto results = closed_forms();
  const auto run = [](uint64_t gemm, uint64_t rs, uint64_t ag) {
    T3Run one;
    one.gemm = gemm;
    one.rs = rs;
    one.ag = ag;
    return one;
  };
  for (T3Case& one : results.cases) {
    one.runs = {{"gemm", run(1000, 0, 0)},      {"rs", run(0, 400, 0)},
                {"ag", run(0, 0, 400)},         {"gemm-72cu", run(1050, 0, 0)},
                {"gemm-64cu", run(1250, 0, 0)}, {"rs-8cu", run(0, 700, 0)},
                {"ag-8cu", run(0, 0, 500)},     {"rs-16cu", run(0, 420, 0)},
                {"ag-16cu", run(0, 0, 420)}};
  }
  CHECK(*measure_t3("T3-R20", results).value == Approx(1.8));
  CHECK(*measure_t3("T3-R21", results).value == Approx(50));    // 1200 / 800.
  CHECK(*measure_t3("T3-R22", results).value == Approx(1.5));   // 1800 / 1200.
  CHECK(*measure_t3("T3-R23", results).value == Approx(5));     // 840 / 800.
  CHECK(*measure_t3("T3-R24", results).value == Approx(25));    // 1250 / 1000.
  CHECK(*measure_t3("T3-R25", results).value == Approx(1.44));  // 1800 / 1250.
  for (T3Case& one : results.cases) {
    if (one.name == "tnlg-fc2-tp8") one.runs.erase("ag-8cu");
  }
  CHECK(measure_t3("T3-R22", results).needs == "tnlg-fc2-tp8 ag-8cu");
  CHECK(measure_t3("T3-R25", results).needs.empty());
}

// Fig 20.
TEST_CASE("twice the compute units are compared by the speed-ups of their layers") {
  auto results = closed_forms();  // Speed-up 1.5 with 80.
  for (T3Case& one : results.cases) {
    one.runs["sequential-160cu"].total = one.layer == "fc2" ? 1'800'000 : 1'400'000;
    one.runs["t3-mca-160cu"].total = 1'000'000;
  }
  CHECK(*measure_t3("T3-R90", results).value == Approx(1.2));
  CHECK(measure_t3("T3-R90", results).holds);
  CHECK(*measure_t3("T3-R91", results).value == Approx(1.4 / 1.5));
  CHECK(measure_t3("T3-R91", results).holds);
  for (T3Case& one : results.cases) one.runs["t3-mca-160cu"].total = 1'250'000;
  CHECK_FALSE(measure_t3("T3-R90", results).holds);  // 1.44 is less than 1.5.
}

// 7.1, 7.4.
TEST_CASE("a direct reduce-scatter moves nothing itself, and atomics keep the speed") {
  auto results = closed_forms();
  CHECK(measure_t3("T3-R92", results).needs == "linked GPUs direct and 1 more");
  T3Run direct, ring;
  direct.gpus = ring.gpus = 4;
  direct.total = ring.total = 1'000'000;
  direct.dram = {{"gemm_write", 4000}, {"rs_read", 0}, {"rs_write", 0}, {"ag_write", 3000}};
  ring.dram = {{"gemm_write", 3000}, {"rs_read", 2000}, {"rs_write", 3000}, {"ag_write", 3000}};
  results.direct.runs = {{"direct", direct}, {"t3", ring}};
  CHECK(*measure_t3("T3-R92", results).value == 0);
  CHECK(measure_t3("T3-R92", results).holds);
  results.direct.runs["direct"].dram["rs_read"] = 64;
  CHECK(*measure_t3("T3-R92", results).value == 1);
  CHECK_FALSE(measure_t3("T3-R92", results).holds);
  results.direct.runs["direct"] = direct;
  results.direct.runs["direct"].dram["gemm_write"] = 5000;  // Something is stored twice.
  CHECK_FALSE(measure_t3("T3-R92", results).holds);

  CHECK(measure_t3("T3-R93", results).needs.find("t3-mca-atomics") != std::string::npos);
  for (T3Case& one : results.cases) {
    one.runs["t3-mca-atomics"] = one.run("t3-mca");
    one.runs["t3-mca-atomics"].total = 2'100'000;
  }
  CHECK(*measure_t3("T3-R93", results).value == Approx(20. / 21));
  CHECK(measure_t3("T3-R93", results).holds);
  for (T3Case& one : results.cases) one.runs["t3-mca-atomics"].total = 2'200'000;
  CHECK_FALSE(measure_t3("T3-R93", results).holds);
}

// Fig 14: its times are in no text.
TEST_CASE("a sweep of reduce-scatters is shown and not judged") {
  auto results = closed_forms();
  for (const uint64_t mb : {6, 192}) results.sweep.push_back({mb << 20});
  CHECK(measure_t3("T3-R08", results).needs == "reduce-scatter of 6 MB and 1 more");
  for (T3Transfer& one : results.sweep) one.time_ns = one.bytes / 100;  // 3/4 of it: 75 B/ns.
  const Measured measured = measure_t3("T3-R08", results);
  CHECK(measured.note == "simulated: 75.0 to 75.0 GB/s a link, 6 to 192 MB");
  CHECK(verdict(target("T3-R08"), measured).rfind("not judged: ", 0) == 0);
}

TEST_CASE("nothing is claimed without simulations") {
  auto results = closed_forms();
  for (T3Case& one : results.cases) one.runs.clear();
  results.models = t3_models();
  results.sweep.push_back({6u << 20});
  for (const std::string& id : t3_ids()) {
    const Measured measured = measure_t3(id, results);
    CHECK_FALSE(measured.value);
    CHECK(measured.range.empty());
    if (measured.not_run.empty() && measured.not_judged.empty())
      CHECK(verdict(target(id), measured).rfind("not judged: needs ", 0) == 0);
  }
}

TEST_CASE("verdicts are tight at the edge of the band") {
  const auto at = [](const char* id, double value) {
    return verdict(target(id), {value, false, ""});
  };
  CHECK(at("T3-R01", 1.2551) == "met");  // Headline: gain 0.30 +- 15 %.
  CHECK(at("T3-R01", 1.2549) == "missed");
  CHECK(at("T3-R40", 1.1501) == "met");  // Per figure: gain 0.20 +- 25 %.
  CHECK(at("T3-R40", 1.1499) == "missed");
  CHECK(at("T3-R03", 17.01) == "met");  // Headline reduction: 22 +- 5 points.
  CHECK(at("T3-R03", 16.99) == "missed");
}

TEST_CASE("a trend is met or missed by what it states") {
  CHECK(verdict(target("T3-R54"), {1.0, true, ""}) == "met");
  CHECK(verdict(target("T3-R54"), {1.0, false, ""}) == "missed");
}

}  // namespace
}  // namespace stretto
