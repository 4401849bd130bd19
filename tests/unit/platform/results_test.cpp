// SPDX-License-Identifier: Apache-2.0
// Result files: the keys that others read, exit codes, and folders that cannot be written.
#include <catch2/catch.hpp>

#include <boost/json.hpp>

#include <filesystem>

#include "models/common/error.h"
#include "models/common/read_file.h"
#include "platform/base/atomic_file.h"
#include "platform/results/result_file.h"
#include "platform/results/results.h"
#include "platform/results/timeline.h"

namespace stretto {
namespace {

struct Folder {
  std::string path =
      (std::filesystem::temp_directory_path() / ("results_test." + std::to_string(getpid())))
          .string();
  Folder() { prepare_folder(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

TEST_CASE("README explains every key of stats.json") {
  const std::string readme = read_file("README.md");
  Results results;
  results.use.both_low = kNanosecond;
  results.phases.push_back({"gemm", {{0, kNanosecond}}, kNanosecond, false});
  const boost::json::value root = boost::json::parse(to_json(results));
  for (const auto& item : root.as_object()) {
    INFO(item.key());
    CHECK(readme.find('`' + std::string(item.key()) + '`') != std::string::npos);
  }
}

TEST_CASE("stats.json has the keys of the interface") {
  const Folder folder;
  Results results;
  results.total = 5 * kMicrosecond;
  results.audit.push_back({"link bytes sent = received", "gpu0.link", 3, 4, false});
  write_results(folder.path, results, "gpus: 8\n");
  const ResultFile result(folder.path);
  for (const char* key : {"machine", "workload", "mode", "seed", "impl", "rtl", "kernel_sha256",
                          "firmware_sha256", "time_ns", "dram_bytes", "link_bytes", "cp", "tracker",
                          "mca", "check", "audit", "digest", "host", "status"}) {
    CHECK(result.root().find(key));
  }
  CHECK(result.time("total") == 5000);
  CHECK(result.violations == 1);
  CHECK(result.root()
            .at("audit")
            .at("laws")
            .at("link bytes sent = received")
            .at("violated")
            .whole() == 1);
  CHECK(std::filesystem::exists(folder.path + "/stats.csv"));
  CHECK(std::filesystem::exists(folder.path + "/machine.yaml"));
}

TEST_CASE("exit codes: complete 0, anything wrong 1, time limit 124") {
  Results results;
  CHECK(results.exit_code() == 0);
  results.check.mismatches = 1;
  CHECK(results.exit_code() == 1);
  results.check.mismatches = 0;
  results.audit.push_back({"law", "gpu0", 1, 2, false});
  CHECK(results.exit_code() == 1);
  results.audit.clear();
  results.status = RunStatus::interrupted;
  results.signal = 15;
  CHECK(results.exit_code() == 143);
  results.status = RunStatus::time_limit;
  CHECK(results.exit_code() == 124);
}

TEST_CASE("a run with wrong data, outside its error bound or with a violated law has failed") {
  const auto judged = [](auto spoil) {
    Results results;
    results.check.elements = 4;
    spoil(results);
    results.judge();
    const boost::json::value root = boost::json::parse(to_json(results));
    return std::string(root.at("status").as_string()) + ": " + results.message;
  };
  CHECK(judged([](Results&) {}) == "complete: ");
  CHECK(judged([](Results& r) {
          r.check.mismatches = 4;
          r.check.first = "rank 0: 1 is not 2";
        }) == "failed: wrong data: rank 0: 1 is not 2 (4 of 4 elements)");
  CHECK(judged([](Results& r) { r.check.max_error = 1.5; }) ==
        "failed: partial products are outside of their error bound");
  CHECK(judged([](Results& r) {
          r.audit.push_back({"sent = received", "gpu0.link", 3, 4, false});
        }) == "failed: law violated: sent = received, at gpu0.link: 3 against 4");
  // What ended early has not been judged.
  CHECK(judged([](Results& r) {
          r.status = RunStatus::interrupted;
          r.check.mismatches = 1;
        }) == "interrupted: ");
}

TEST_CASE("a folder that cannot be made and a full disk are user errors") {
  CHECK_THROWS_AS(prepare_folder("/proc/no/such"), UserError);
  if (std::filesystem::exists("/dev/full"))
    CHECK_THROWS_AS(write_atomically("/dev/full/x", "text"), UserError);
}

TEST_CASE("a place where nothing can be written is known before there is something to write") {
  const Folder folder;
  CHECK_NOTHROW(check_writable(folder.path + "/bodies.txt"));
  CHECK_THROWS_AS(check_writable(folder.path + "/no/such/bodies.txt"), UserError);
  CHECK_THROWS_AS(check_writable(folder.path), UserError);  // A folder.
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 0);
}

TEST_CASE("a failed write leaves neither a half file nor a temporary one") {
  const Folder folder;
  std::filesystem::create_directory(folder.path + "/stats.json");  // In the way of the rename.
  CHECK_THROWS_AS(write_atomically(folder.path + "/stats.json", "text"), UserError);
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
}

TEST_CASE("a timeline is valid JSON, also when it was cut at its size cap") {
  const Folder folder;
  Timeline timeline({folder.path + "/timeline.json", 2000}, 1);
  for (int i = 0; i < 100; ++i)
    timeline.page(0).span("gpu0/cu1", "wg \"1\"", i * kMicrosecond, (i + 1) * kMicrosecond);
  timeline.page(0).counter("gpu0/dram", 3, 4);
  timeline.close();
  const boost::json::value root = boost::json::parse(read_file(folder.path + "/timeline.json"));
  CHECK(root.as_array().size() < 60);
  CHECK(root.as_array().back().at("args").at("events_left_out").to_number<int>() > 50);
}

TEST_CASE("spans that overlap get lanes, those of one lane never do") {
  const Folder folder;
  Timeline timeline({folder.path + "/timeline.json", 1 << 20}, 1);
  // In the order of their ends, as components draw: 1..3, 2..4 beside it, 3..5 behind the first.
  for (const Time begin : {1, 2, 3})
    timeline.page(0).span("gpu0/dma", "tile", begin * kMicrosecond, (begin + 2) * kMicrosecond);
  timeline.close();
  const boost::json::value root = boost::json::parse(read_file(folder.path + "/timeline.json"));
  std::vector<int64_t> lanes;
  for (const auto& event : root.as_array())
    if (event.at("ph") == "X") lanes.push_back(event.at("tid").to_number<int64_t>());
  REQUIRE(lanes.size() == 3);
  CHECK(lanes[0] != lanes[1]);
  CHECK(lanes[0] == lanes[2]);
}

TEST_CASE(
    "a timeline's window leaves out what does not touch it, kernels are named by their code") {
  const Folder folder;
  Timeline timeline({folder.path + "/timeline.json", 1 << 20, 5 * kMicrosecond, 6 * kMicrosecond},
                    2);
  timeline.set_kernel_names([](unsigned page, uint64_t code) {
    return page == 1 && code == 64 ? std::string("gemm") : std::string();
  });
  timeline.page(1).span("gpu1/cu0", "wg 1", 1 * kMicrosecond, 4 * kMicrosecond, {.code = 64});
  timeline.page(1).span("gpu1/cu0", "wg 2", 4 * kMicrosecond, 5 * kMicrosecond, {.code = 64});
  timeline.page(1).span("gpu1/cu0", "wg 3", 7 * kMicrosecond, 8 * kMicrosecond, {.code = 64});
  timeline.close();
  const boost::json::value root = boost::json::parse(read_file(folder.path + "/timeline.json"));
  std::vector<std::string> names;
  for (const auto& event : root.as_array())
    if (event.at("ph") == "X") names.emplace_back(event.at("name").as_string());
  CHECK(names == std::vector<std::string>{"gemm wg 2"});
}

}  // namespace
}  // namespace stretto
