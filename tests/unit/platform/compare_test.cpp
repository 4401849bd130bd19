// SPDX-License-Identifier: Apache-2.0
// `stretto compare` and `report`: which times may be divided, and that what a run measured is
// shown. Times are made up: 1 ms unless a case says otherwise.
#include <catch2/catch.hpp>

#include "platform/results/compare.h"
#include "tests/unit/platform/result_folder.h"

namespace stretto {
namespace {

using test::ResultFolder;

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

TEST_CASE("results of equal work are divided") {
  const ResultFolder scratch;
  const ComparedResults all =
      compare_results({scratch.result("a"), scratch.result("b", [](Results& r) {
                         r.mode = "t3";
                         test::set_total(r, 800 * kMicrosecond);
                       })});
  CHECK(all.all_comparable);
  CHECK(all.complaints.empty());
  CHECK(has(all.text, "1.250"));
}

TEST_CASE("files that parameters name are the same work if they hold the same") {
  const ResultFolder scratch;
  const auto with = [](const std::string& file) {
    return [=](Results& r) { r.parameters["plan"] = file, r.contents["plan"] = "1"; };
  };
  CHECK(
      compare_results({scratch.result("a", with("a.graph")), scratch.result("b", with("b.graph"))})
          .all_comparable);
}

TEST_CASE("results that are unfinished, wrong or of other work have no speed-up") {
  const ResultFolder scratch;
  const std::string first = scratch.result("first", [](Results& r) { r.contents["plan"] = "1"; });
  const std::pair<const char*, std::function<void(Results&)>> others[] = {
      {"status is 'interrupted'", [](Results& r) { r.status = RunStatus::interrupted; }},
      {"its data is wrong", [](Results& r) { r.check.mismatches = 2; }},
      {"no element was checked", [](Results& r) { r.check.elements = 0; }},
      {"workload v", [](Results& r) { r.workload = "v"; }},
      {"type is float", [](Results& r) { r.parameters["type"] = "float"; }},
      {"another shape", [](Results& r) { r.shape["m"] = 9; }},
      {"./b.graph holds another plan",
       [](Results& r) { r.parameters["plan"] = "./b.graph", r.contents["plan"] = "2"; }},
      {"mode sequential does all of it, mode rs does a part",
       [](Results& r) { r.mode = std::string("rs"), r.work = "a part"; }},
  };
  for (const auto& [why, change] : others) {
    const std::string other = scratch.result("other", change);
    const ComparedResults all = compare_results({first, other});
    INFO(why);
    CHECK_FALSE(all.all_comparable);
    CHECK(has(all.complaints, "/other: no speed-up: "));
    CHECK(has(all.complaints, why));
    CHECK(has(all.text, "1.000"));  // Of the first to itself.
    CHECK(compare({first, other}) == 1);
  }
}

TEST_CASE("a difference beside the mode is said, and the ratio is shown") {
  const ResultFolder scratch;
  const ComparedResults all =
      compare_results({scratch.result("a"), scratch.result("b", [](Results& r) { r.seed = 2; })});
  CHECK(all.all_comparable);
  CHECK(has(all.complaints, "not only the mode differs"));
  CHECK(has(all.complaints, "seed (0, 2)"));
}

TEST_CASE("how work is done is no other work, and a difference in it is said") {
  const ResultFolder scratch;
  const auto with = [](const std::string& server) {
    return [=](Results& r) { r.parameters["server"] = server, r.contents["server"] = ""; };
  };
  const ComparedResults all =
      compare_results({scratch.result("a", with("none")), scratch.result("b", with("tally"))});
  CHECK(all.all_comparable);
  CHECK(has(all.complaints, "not only the mode differs"));
  CHECK(has(all.complaints, "server (none, tally)"));
}

TEST_CASE("names are whole, and runs with other implementations of blocks are told apart") {
  const ResultFolder scratch;
  const auto with = [](const std::string& machine, const std::string& mca) {
    return [=](Results& r) {
      r.machine = machine;
      r.impl = {{"mca", mca}, {"request_ring", "rtl"}, {"tracker", "rtl"}};
    };
  };
  const ComparedResults all =
      compare_results({scratch.result("a", with("folder/machine-one.yaml", "rtl")),
                       scratch.result("b", with("folder/machine-two.yaml", "model"))});
  CHECK(has(all.complaints, "machine (folder/machine-one.yaml, folder/machine-two.yaml)"));
  CHECK(has(all.complaints, "impl (rtl, mca=model, else rtl)"));
  CHECK(has(all.text, "impl"));
  CHECK(has(all.text, "mca=model, else rtl\n"));
}

TEST_CASE("a result whose machine.yaml is missing is compared, and it is said without what") {
  const ResultFolder scratch;
  const std::string whole = scratch.result("whole"), half = scratch.result("half");
  CHECK(compare_results({whole, half}).complaints.empty());
  std::filesystem::remove(half + "/machine.yaml");
  const std::string said = half + ": parameters are not compared: " + half + "/machine.yaml";
  CHECK(has(compare_results({whole, half}).complaints, said));
  CHECK(has(compare_results({half, whole}).complaints, said));
}

TEST_CASE("figures and table of the job are printed") {
  const ResultFolder scratch;
  const ComparedResults report = compare_results({scratch.result("a", [](Results& r) {
    r.job["kernel_slowdown"] = 1.25;
    r.job["engine"] = "gdma";
    r.table = "# size  rate\n  8     1.5\n";
  })});
  CHECK(has(report.text, "job kernel_slowdown"));
  CHECK(has(report.text, "1.25"));
  CHECK(has(report.text, "gdma"));
  CHECK(has(report.text, "/a:\n# size  rate\n  8     1.5\n"));
}

TEST_CASE("phases that do not sum up to the total are explained") {
  const ResultFolder scratch;
  const ComparedResults gap = compare_results({scratch.result("a")});
  CHECK(has(gap.text, "-1.000000"));  // No phase, 1 ms in all.
  CHECK(has(gap.text, "differs from the total"));
}

}  // namespace
}  // namespace stretto
