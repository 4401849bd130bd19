// SPDX-License-Identifier: Apache-2.0
// Question: does a sweep show, for every combination of values, what a run of its own shows, go on
// where it was, and refuse in one line what it cannot vary? Through the executable, as users do.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

const std::string kSmall = "t3/small --impl all=model";

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void refused(const std::string& arguments, const std::vector<std::string>& says) {
  const Scratch scratch;
  const Finished finished =
      run_stretto("sweep " + kSmall + " --out " + scratch.path + "/s " + arguments);
  INFO(arguments << "\n" << finished.output);
  CHECK(finished.status == 2);
  CHECK(finished.lines() == 1);
  for (const std::string& text : says) CHECK(finished.says(text));
  CHECK_FALSE(std::filesystem::exists(scratch.path + "/s"));
}

}  // namespace

TEST_CASE("a sweep has the time and values of a run of each combination, and does none twice") {
  const Scratch scratch;
  const std::string out = scratch.path + "/s";
  const std::string sweep = "sweep " + kSmall +
                            " --vary gpus=2,3 --vary mode=sequential,t3 --value link_bytes "
                            "--value time_ns.write_back --value 'statistics.*.front_end.launches' "
                            "--jobs 2 --out " +
                            out;
  const Finished finished = run_stretto(sweep);
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  const std::vector<std::string> table = lines_of(out + "/sweep.csv");
  REQUIRE(table.size() == 5);
  CHECK(table[0] ==
        "gpus,mode,time_us,to_first,link_bytes,time_ns.write_back,statistics.*.front_end.launches");
  double first = 0;
  size_t line = 1;
  std::string third_time;
  for (const char* gpus : {"2", "3"}) {
    for (const char* mode : {"sequential", "t3"}) {
      const std::string own = scratch.path + "/own";
      REQUIRE(
          run_stretto("run " + kSmall + " --mode " + mode + " --set gpus=" + gpus + " --out " + own)
              .status == 0);
      const boost::json::value root = stats(own);
      const double time_us = 1e-3 * root.at("time_ns").at("total").to_number<double>();
      if (first == 0) first = time_us;
      uint64_t launches = 0;
      for (const auto& [name, value] : root.at("statistics").as_object()) {
        if (std::string_view(name).ends_with(".front_end.launches"))
          launches += value.to_number<uint64_t>();
      }
      std::istringstream cells(table[line++]);
      std::vector<std::string> cell;
      for (std::string one; std::getline(cells, one, ',');) cell.push_back(one);
      REQUIRE(cell.size() == 7);
      if (line == 4) third_time = cell[2];
      CHECK(cell[0] == gpus);
      CHECK(cell[1] == mode);
      CHECK(std::stod(cell[2]) == Approx(time_us));
      CHECK(std::stod(cell[3]) == Approx(time_us / first).margin(1e-4));
      CHECK(cell[4] == std::to_string(root.at("link_bytes").to_number<uint64_t>()));
      CHECK(cell[6] == std::to_string(launches));
      const auto* const phase = root.at("time_ns").as_object().if_contains("write_back");
      CHECK(cell[5] == (phase ? std::to_string(phase->to_number<uint64_t>()) : ""));
    }
  }
  std::ifstream json_file(out + "/sweep.json");
  const boost::json::value root =
      boost::json::parse(std::string(std::istreambuf_iterator<char>(json_file), {}));
  const boost::json::array& simulations = root.at("simulations").as_array();
  REQUIRE(simulations.size() == 4);
  CHECK(simulations[2].at("varied").at("gpus").to_number<uint64_t>() == 3);
  CHECK(simulations[2].at("varied").at("mode").as_string() == "sequential");
  CHECK(simulations[2].at("time_ns").to_number<double>() == Approx(1e3 * std::stod(third_time)));
  CHECK(simulations[2].at("values").at("link_bytes").is_number());
  CHECK(std::filesystem::exists(out + "/sweep.gp"));

  const Finished again = run_stretto(sweep);
  CHECK(again.status == 0);
  CHECK(again.says("0 of 4 simulations to run"));
  CHECK(lines_of(out + "/sweep.csv") == table);
  const Finished other = run_stretto(sweep + " --set sub_layer.k=64");
  CHECK(other.says("4 of 4 simulations to run"));
}

TEST_CASE("a combination without a result is left open, and the sweep's status says so") {
  const Scratch scratch;
  const std::string out = scratch.path + "/s";
  const std::string sweep = "sweep " + kSmall + " --out " + out;
  REQUIRE(run_stretto(sweep + " --vary gpus=2").status == 0);
  const Finished finished = run_stretto(sweep + " --vary gpus=2,3 --table-only");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("1 of 2 simulations have no result"));
  const std::vector<std::string> table = lines_of(out + "/sweep.csv");
  REQUIRE(table.size() == 3);
  CHECK(table[1].starts_with("2,"));
  CHECK(table[2] == "3,,");
  // Ratios are to the first combination, or there are none.
  const Finished other = run_stretto(sweep + " --vary gpus=3,2 --table-only");
  CHECK(other.says("gpus=3 has no result: there are no ratios"));
  CHECK(lines_of(out + "/sweep.csv").at(2).ends_with(","));
}

TEST_CASE("a sweep that is ended has a table of what has run, and goes on from there") {
  const Scratch scratch;
  const std::string sweep = "sweep " + kSmall + " --out " + scratch.path + "/s --vary gpus=2,3,4,5";
  const std::string stretto = STRETTO_BUILD_DIR "/stretto ";
  // Background processes of a shell ignore SIGINT.
  const Finished ended =
      run_command("(" + stretto + sweep + " & P=$!; until [ -e " + scratch.path +
                  "/s/gpus=3/key ]; do sleep 0.02; done; kill -TERM $P; wait $P)");
  INFO(ended.output);
  CHECK(ended.status == 143);
  const std::vector<std::string> table = lines_of(scratch.path + "/s/sweep.csv");
  REQUIRE(table.size() == 5);
  CHECK(table[1].starts_with("2,"));
  CHECK(table[1].ends_with("1.0000"));
  CHECK(table[4] == "5,,");
  const Finished rest = run_stretto(sweep);
  CHECK(rest.status == 0);
  CHECK_FALSE(rest.says("4 of 4 simulations"));
}

TEST_CASE("a simulation that is killed fails its sweep, which is not killed") {
  const Scratch scratch;
  const Finished finished = run_command(
      "(" STRETTO_BUILD_DIR "/stretto sweep t3/overlap --impl all=model --out " + scratch.path +
      "/s --vary gpus=4 & P=$!; until pkill -KILL -P $P; do sleep 0.05; done; wait $P)");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("gpus=4: FAILED"));
}

TEST_CASE("threads that are varied are those of the simulations, however many run at a time") {
  const Scratch scratch;
  const std::string out = scratch.path + "/s";
  const Finished finished =
      run_stretto("sweep " + kSmall + " --jobs 2 --vary sim.threads=1,2 --out " + out);
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  for (const char* threads : {"1", "2"}) {
    bool found = false;
    for (const std::string& line : lines_of(out + "/sim.threads=" + threads + "/machine.yaml"))
      found = found || line.starts_with(std::string("  threads: ") + threads + " ");
    CHECK(found);
  }
  const std::vector<std::string> table = lines_of(out + "/sweep.csv");
  CHECK(table.at(1).substr(1) == table.at(2).substr(1));  // They change nothing.
}

TEST_CASE("a workload file that was edited is simulated again") {
  const Scratch scratch;
  const auto sweep_with = [&](const std::string& data) {
    const std::string file =
        scratch.file("mine.yaml", "machine: t3\nmodes: [t3]\nset: {gpus: 2}\ndata: " + data +
                                      "\nsub_layer: {m: 330, n: 530, k: 100}\n");
    return run_stretto("sweep " + file + " --impl all=model --out " + scratch.path +
                       "/s --vary gpus=2");
  };
  const Finished first = sweep_with("stamp");
  INFO(first.output);
  REQUIRE(first.status == 0);
  CHECK(sweep_with("stamp").says("0 of 1 simulations to run"));
  CHECK(sweep_with("real").says("1 of 1 simulations to run"));
}

TEST_CASE(
    "no name or value of a sweep reaches a shell, and a bar keeps its place without its result") {
  const Scratch scratch;
  const std::string machine = scratch.file("a`touch PWNED`b.yaml", "extends: t3\n");
  const std::string sweep = "cd " + scratch.path + " && " STRETTO_BUILD_DIR "/stretto sweep " +
                            kSmall + " --out s --vary mode=gemm,t3,rs --vary 'machine=t3," +
                            machine + "'";
  const Finished finished = run_command(sweep + " --jobs 2");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  CHECK_FALSE(std::filesystem::exists(scratch.path + "/PWNED"));
  std::filesystem::remove(scratch.path + "/s/mode=gemm,machine=t3/stats.json");
  CHECK(run_command(sweep + " --table-only").status == 1);
  const std::vector<std::string> script = lines_of(scratch.path + "/s/sweep.gp");
  const auto block = std::find(script.begin(), script.end(), "$line1 << EOD");
  REQUIRE(script.end() - block > 3);
  CHECK(block[1] == "\"gemm\" ?");
  CHECK(block[2].starts_with("\"t3\" "));
  CHECK(block[3].starts_with("\"rs\" "));
}

TEST_CASE("what a sweep cannot vary is refused before anything runs") {
  refused("", {"--vary KEY=VALUE"});
  refused("--vary gpus", {"--vary gpus: must be KEY=VALUE"});
  refused("--vary gpus=2,", {"must be KEY=VALUE"});
  refused("--vary gpus=2,,3", {"must be KEY=VALUE"});
  refused("--vary 'gpus=\"2,3'", {"must be KEY=VALUE", "in double quotes"});
  refused("--vary 'gpus=\"2,3\",4'", {"--vary gpus=2,3: gpus = '2,3'"});
  refused("--vary 'gpus=2\n,4'", {"control characters"});
  refused("--vary gpus=2 --value gpus --value gpus", {"--value gpus: is there twice"});
  refused("--vary gpus=2,2", {"'2' is there twice"});
  refused("--vary gpus=2 --vary gpus=3", {"gpus: is there twice"});
  refused("--vary gpus=2,3 --set gpus=4", {"--set gives it a value, too"});
  refused("--vary mode=t3 --mode t3", {"--mode gives it a value, too"});
  refused("--vary gpus=2,x", {"--vary gpus=x: gpus = 'x'", "1..32"});
  refused("--vary gpu.cux=3", {"gpu.cux", "nearest: gpu.cus"});
  refused("--vary mode=t3,kitsune", {"--vary mode=kitsune", "t3-mca"});
  refused("--vary machine=nowhere", {"unknown machine 'nowhere'"});
}

TEST_CASE("values with commas stand in double quotes, and are one cell of the table") {
  const Scratch scratch;
  const Finished finished = run_stretto(
      "sweep kernels/roofline --impl all=model --set roofline.warm=0 --vary "
      "'roofline.operators=gemm:64x64x64,\"copy:1000:fp16,relu:500:fp16\"' --out " +
      scratch.path + "/s");
  INFO(finished.output);
  REQUIRE(finished.status == 0);
  const std::vector<std::string> table = lines_of(scratch.path + "/s/sweep.csv");
  REQUIRE(table.size() == 3);
  CHECK(table[1].starts_with("gemm:64x64x64,"));
  CHECK(table[2].starts_with("\"copy:1000:fp16,relu:500:fp16\","));
}

TEST_CASE("a call that has nothing leaves the table and the pictures of an earlier one") {
  const Scratch scratch;
  const std::string out = scratch.path + "/s", sweep = "sweep " + kSmall + " --out " + out;
  REQUIRE(run_stretto(sweep + " --vary gpus=2").status == 0);
  const std::vector<std::string> table = lines_of(out + "/sweep.csv");
  CHECK(run_stretto(sweep + " --vary gpus=3 --table-only").status == 1);
  CHECK(lines_of(out + "/sweep.csv") == table);
  CHECK(run_stretto(sweep + " --vary gpus=2 --value nothing").status == 2);
  CHECK(lines_of(out + "/sweep.csv") == table);
  CHECK(std::filesystem::exists(out + "/sweep.gp"));
}

TEST_CASE("a simulation that cannot be started fails alone") {
  const Scratch scratch;
  const std::string out = scratch.path + "/s";
  std::filesystem::create_directories(out + "/mode=gemm/key");  // In the way of a file.
  const Finished run = run_stretto("sweep " + kSmall + " --vary mode=gemm,rs --out " + out);
  INFO(run.output);
  CHECK(run.status == 2);
  CHECK(run.says("mode=gemm/key: cannot be written"));
  CHECK(run.says("mode=rs: ok"));
  CHECK(lines_of(out + "/sweep.csv").size() == 3);
}

TEST_CASE("a place that no result has is named, with what is there") {
  const Scratch scratch;
  const std::string sweep =
      "sweep " + kSmall + " --vary gpus=2 --out " + scratch.path + "/s --value ";
  const Finished missing = run_stretto(sweep + "tracker.hit");
  CHECK(missing.status == 2);
  CHECK(missing.says("--value tracker.hit"));
  CHECK(lines_of(scratch.path + "/s/sweep.csv").size() == 2);  // What has run is kept.
  const Finished counters = run_stretto(sweep + "'statistics.*.nothing'");
  CHECK(counters.status == 2);
  CHECK(counters.says("no counter"));
  for (const char* place : {"job", "time_ns", "time_ns.total.x", "rtl.nan", "''"})
    CHECK(run_stretto(sweep + place).status == 2);
}
