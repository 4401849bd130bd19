// SPDX-License-Identifier: Apache-2.0
// Question: does a run whose work-groups are sampled take the time of the simulated one, always the
// same, and is what it cannot sample refused in one line? Through the executable, as users do.
#include <catch2/catch.hpp>

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

const std::string kGraph = "graph/mlp --mode launched --set gpus=1 --impl all=model";

// One for all: its name is that of the process.
const Scratch& scratch() {
  static const Scratch one;
  return one;
}

boost::json::value run(const std::string& arguments) {
  const std::string out = scratch().path + "/r";
  const Finished finished = run_stretto("run " + arguments + " --out " + out);
  INFO(arguments << "\n" << finished.output);
  REQUIRE(finished.status == 0);
  return stats(out);
}

// The table of kGraph.
const std::string& bodies() {
  static const std::string file = [] {
    (void)run(kGraph + " --set gpu.executor=measured");
    const std::string to = scratch().path + "/bodies.txt";
    std::filesystem::copy_file(scratch().path + "/r/bodies.txt", to);
    return to;
  }();
  return file;
}

std::string sampled() {
  return kGraph + " --set gpu.executor=sampled --set sampled.bodies=" + bodies();
}

uint64_t total_ns(const boost::json::value& root) {
  return root.at("time_ns").at("total").to_number<uint64_t>();
}

void refused(const std::string& arguments, const std::vector<std::string>& says) {
  const Finished finished =
      run_stretto("run " + arguments + " --out " + scratch().path + "/refused");
  INFO(arguments << "\n" << finished.output);
  CHECK(finished.status == 2);
  CHECK(finished.lines() == 1);
  for (const std::string& text : says) CHECK(finished.says(text));
}

}  // namespace

TEST_CASE("a workload without kernels has nothing to characterise") {
  const Scratch scratch;
  const Finished finished = run_stretto(
      "characterise compnet/get --impl all=model --no-check --set one_sided.max_bytes=8 "
      "--out " +
      scratch.path + "/r --bodies " + scratch.path + "/bodies.txt");
  INFO(finished.output);
  CHECK(finished.status == 2);
  CHECK(finished.says("these workloads launch no kernel"));
}

TEST_CASE("what characterise chooses itself, and work that is there twice, is refused") {
  const std::string list = "tally/models/tiny-inference";
  const std::map<std::string, std::string> cases{
      {"--set sampled.residency_percent=20", "characterise chooses sampled.residency_percent"},
      {"--set sampled.bodies=own.txt", "characterise chooses sampled.bodies itself"},
      {"--set sampled.correct=true", "characterise chooses sampled.correct itself"},
      {"--set gpu.executor=iss", "characterise chooses gpu.executor itself"},
      {list, list + " is there twice"},
      {"--no-check --check t3/small", "--no-check leaves checks out"}};
  for (const auto& [arguments, line] : cases) {
    const Scratch scratch;
    const Finished finished =
        run_stretto("characterise " + list + " " + arguments + " --out " + scratch.path +
                    "/r --bodies " + scratch.path + "/bodies.txt");
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says(line));
    CHECK_FALSE(std::filesystem::exists(scratch.path + "/r"));
  }
}

TEST_CASE("a pair is checked in the mode that is named, request by request, and runs say so") {
  const Scratch scratch;
  const std::string lists = "tally/models/tiny-inference tally/models/tiny-training";
  const std::string table = scratch.path + "/bodies.txt";
  const std::string set = " --impl all=model --set gpu.tile_values=false --set tenants.requests=4";
  const Finished checked = run_stretto("characterise " + lists + " --check tally/small:mps" + set +
                                       " --bodies " + table + " --out " + scratch.path + "/r");
  INFO(checked.output);
  REQUIRE(checked.status == 0);
  CHECK(checked.says("tally/small mps, sampled: ok"));
  for (const char* const each : {"p50.tally_small_mps.client0", "p99.tally_small_mps.client1",
                                 "rate.tally_small_mps.client0", "time.tally_small_mps"})
    CHECK(checked.says(std::string("checked.") + each));
  const Finished sampled = run_stretto(
      "run tally/small --mode mps --set gpu.executor=sampled --set sampled.bodies=" + table + set +
      " --out " + scratch.path + "/s");
  INFO(sampled.output);
  CHECK(sampled.says(" %  checked."));
  CHECK(sampled.says(" %  by itself: "));
  // Of another machine: before anything is simulated.
  const struct {
    std::string arguments;
    const char* says;
  } cases[] = {{lists + set + " --set gpu.cus=4", "was measured on another machine"},
               {lists + " graph/mlp", "have different machines"},
               {lists + " --check nerf:rows=300", "nerf:rows=300: graph needs plan"},
               {lists + set + " --check tally/small:mpx", "--mode mpx"}};
  for (const auto& [arguments, says] : cases) {
    const Finished refused = run_stretto("characterise " + arguments + " --bodies " + table +
                                         " --out " + scratch.path + "/none");
    INFO(refused.output);
    CHECK(refused.status == 2);
    CHECK(refused.lines() == 1);
    CHECK(refused.says(says));
    CHECK_FALSE(std::filesystem::exists(scratch.path + "/none"));
  }
}

TEST_CASE("a characterisation that is there is not made again, but for what has lost its table",
          "[.long]") {
  const Scratch scratch;
  const std::string command =
      "characterise tally/models/tiny-inference --impl all=model --set gpu.tile_values=false --set "
      "tenants.requests=2 --out " +
      scratch.path + "/r --bodies " + scratch.path + "/bodies.txt";
  REQUIRE(run_stretto(command).status == 0);
  const Finished same = run_stretto(command);
  INFO(same.output);
  CHECK(same.status == 0);
  CHECK(same.says("0 of 2 simulations to run"));
  CHECK_FALSE(same.says("simulated again"));
  const struct {
    const char* table;
    const char* says;
  } cases[] = {{"measured/tally_models_tiny-inference/half", "1 of 4 simulations to run"},
               {"corrected/1/tally_models_tiny-inference/launches", "1 of 1 simulations to run"}};
  for (const auto& [table, says] : cases) {
    std::filesystem::remove(scratch.path + "/r/" + table + "/bodies.txt");
    const Finished again = run_stretto(command);
    INFO(again.output);
    CHECK(again.status == 0);
    CHECK(again.says(says));
  }
}

TEST_CASE("a measured run has the digest of a simulated one") {
  CHECK(run(kGraph).at("digest") == run(kGraph + " --set gpu.executor=measured").at("digest"));
}

TEST_CASE(
    "a sampled run is at most 5 % from the simulated one, keeps all laws and says what it is") {
  const uint64_t simulated = total_ns(run(kGraph));
  const boost::json::value root = run(sampled());
  CHECK(total_ns(root) > simulated * 95 / 100);
  CHECK(total_ns(root) < simulated * 105 / 100);
  CHECK(root.at("executor") == "sampled");
  CHECK(root.at("audit").at("violations").to_number<uint64_t>() == 0);
}

TEST_CASE("a sampled run corrects its table by launches that ran by themselves") {
  const auto most = [](const boost::json::value& root) {
    return root.at("statistics").at("gpu0.bodies.sampled.kernel_error_max").to_number<uint64_t>();
  };
  const uint64_t before = most(run(sampled() + " --set sampled.correct=true"));
  const std::string corrected = scratch().path + "/corrected.txt";
  std::filesystem::copy_file(scratch().path + "/r/bodies.txt", corrected);
  const boost::json::value root =
      run(kGraph + " --set gpu.executor=sampled --set sampled.bodies=" + corrected);
  CHECK(before > 10'000);  // ppm.
  CHECK(most(root) < 2'000);
  CHECK_FALSE(std::filesystem::exists(scratch().path + "/r/bodies.txt"));
}

TEST_CASE(
    "a sampled run has one digest for any windows, threads and blocks, and one for each seed") {
  const boost::json::value digest = run(sampled()).at("digest");
  for (const char* other : {" --set sim.window_ns=50", " --set sim.threads=1",
                            " --set sim.sleep=false", " --impl grid_scheduler=rtl"})
    CHECK(run(sampled() + other).at("digest") == digest);
  CHECK(run(sampled() + " --set sampled.seed=2").at("digest") != digest);
}

TEST_CASE(
    "what a table has no times of, or another machine's, is refused with the command to run") {
  refused(
      "graph/bert-small --mode launched --set gpus=1 --set gpu.executor=sampled --set "
      "sampled.bodies=" +
          bodies(),
      {"has no times of kernel", "stretto characterise graph/bert-small"});
  refused(sampled() + " --set l2.request_cycles=100", {"another machine", "stretto characterise"});
  refused(kGraph + " --set gpu.executor=sampled", {"sampled.bodies=FILE"});
  refused(kGraph + " --set gpu.executor=sampled --set sampled.bodies=" + scratch().path + "/none",
          {"none"});
}

TEST_CASE(
    "work-groups measured behind the turnover of the L2 stand for those of the whole launch") {
  const Scratch scratch;
  const std::string list = scratch.path + "/list.yaml";
  std::ofstream(list) << "description: an operator beyond the L2\n"
                         "machine: a100-nvswitch\n"
                         "set: {gpus: 1, gpu.cus: 8, l2.bytes: 5242880, gpu.tile_values: false}\n"
                         "tenants: {kernels: \"2 add:4194304:fp32\", requests: 1}\n"
                         "modes: [ideal]\n";
  const auto table = [&](const std::string& waves) {
    (void)run(list + " --impl all=model --set gpu.executor=measured --set sampled.launches=1 " +
              "--set sampled.waves=" + waves);
    std::ifstream file(::scratch().path + "/r/bodies.txt");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string whole = table("0"), part = table("2");
  CHECK(table("65535") == whole);
  const auto after = [](const std::string& text, const std::string& word) {
    const size_t at = text.find(word);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + word.size()));
  };
  CHECK(after(whole, " groups ") == 2048);
  CHECK(after(part, " groups ") < 1024);
  for (const char* const each : {" time ", " issue ", " l2 ", " read "}) {
    INFO(each << "\n" << whole << part);
    CHECK(after(part, each) == Approx(after(whole, each)).epsilon(0.05));
  }
  // 2,048 results of a work-group, all of which leave an L2 that is full of such.
  CHECK(after(part, " written ") == Approx(8192).epsilon(0.05));
  CHECK(after(whole, " written ") < 8192);
}

TEST_CASE("a damaged table is refused") {
  std::ifstream stream(bodies());
  std::ostringstream text;
  text << stream.rdbuf();
  const std::string all = text.str();
  const auto with = [&](const std::string& contents) {
    return kGraph + " --set gpu.executor=sampled --set sampled.bodies=" +
           scratch().file("damaged.txt", contents);
  };
  refused(with(all.substr(0, all.size() / 2)), {"damaged.txt", "cut off"});
  std::string changed = all;
  changed[changed.find("residency") + 11] ^= 1;
  refused(with(changed), {"damaged.txt", "its sum does not fit"});
  refused(with(""), {"no table of bodies"});
}

namespace {

// The 90th percentile of 60 requests beside best effort, simulated, and sampled in the mean of four seeds. Each client
// was measured by itself.
std::array<double, 2> p90_of(const std::string& mode) {
  const std::string table = scratch().path + "/lists.txt";
  if (!std::filesystem::exists(table)) {
    const Finished finished = run_stretto(
        "characterise tally/models/tiny-inference tally/models/tiny-training --no-check --impl "
        "all=model --set gpu.tile_values=false --set tenants.requests=24 --out " +
        scratch().path + "/lists --bodies " + table);
    INFO(finished.output);
    REQUIRE(finished.status == 0);
  }
  const auto p90 = [&](const std::string& set) {
    const boost::json::value root =
        run("tally/small --impl all=model --set tenants.requests=60 --mode " + mode + set);
    CHECK(root.at("audit").at("violations").to_number<uint64_t>() == 0);
    return root.at("job")
        .at("clients")
        .as_array()
        .at(0)
        .at("service_us")
        .at("p90")
        .to_number<double>();
  };
  double sampled = 0;
  for (const char* const seed : {"1", "2", "3", "4"})
    sampled += p90(" --set gpu.executor=sampled --set sampled.bodies=" + table +
                   " --set sampled.seed=" + seed) /
               4;
  return {p90(""), sampled};
}

}  // namespace

// Where bodies of a wave ended one by one this was twice too long.
TEST_CASE("a client whose work-groups need more room than one leaves waits for ends of waves") {
  const auto [simulated, sampled] = p90_of("mps");
  CHECK(sampled == Approx(simulated).epsilon(0.15));
}

// Where work-groups left over at the end of a launch counted among the others this was a third too short.
TEST_CASE("a client of higher priority waits for a wave that has begun") {
  const auto [simulated, sampled] = p90_of("mps-priority");
  CHECK(sampled == Approx(simulated).epsilon(0.15));
}
