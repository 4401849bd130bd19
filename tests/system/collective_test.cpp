// SPDX-License-Identifier: Apache-2.0
// Workloads of kind collective through the executable: every element of every rank right, nothing
// else written, in the units of the table. State space: op x engine x ranks x count x place x type
// x reduction; counts are those at which something in the cut into blocks, shares and slots
// changes: none, one, fewer and more than ranks, one that nothing divides. Bytes on the wire are
// those of the algorithms (ring: derived in the test). tests/collectives.sh runs the whole space.
#include <catch2/catch.hpp>

#include "tests/support/run_json.h"

using namespace stretto::test;

namespace {

// Runs, and returns `job` of stats.json if nothing was wrong.
boost::json::value run(const std::string& workload, const std::string& mode,
                       const std::vector<std::string>& sets) {
  std::string command = "collectives/" + workload + " --mode " + mode;
  for (const std::string& set : sets) command += " --set " + set;
  const RunResult run = run_correctly(command);
  CHECK(run.says("# Out of bounds values : 0 OK"));
  return run.at("job");
}

// Both places, counts around `ranks`, all engines.
void odd_counts(const std::string& op, unsigned ranks) {
  const std::string n = std::to_string(ranks - 1) + "," + std::to_string(ranks + 1);
  std::vector<std::string> engines{"mmio", "gdma", "dma"};
  if (op == "all_reduce" || op == "reduce_scatter") engines.push_back("t3");
  for (const std::string& engine : engines) {
    const boost::json::value job =
        run(op, engine,
            {"gpus=" + std::to_string(ranks), "gpu.cus=8",
             "collective.counts=0,1,2," + n + ",10007", "collective.iterations=1"});
    REQUIRE(job.at("sizes").as_array().size() == 6);
    for (const boost::json::value& size : job.at("sizes").as_array()) {
      CHECK(size.at("out_of_place").at("wrong").to_number<int>() == 0);
      CHECK(size.at("in_place").at("wrong").to_number<int>() == 0);
    }
  }
}

uint64_t wire_bytes(const std::string& op, const std::string& engine, uint64_t count) {
  const boost::json::value job =
      run(op, engine, {"gpus=4", "gpu.cus=8", "collective.counts=" + std::to_string(count)});
  return job.at("sizes").at(0).at("out_of_place").at("wire_bytes").to_number<uint64_t>();
}

}  // namespace

TEST_CASE("all-reduce of odd counts on 2, 3, 4, 8 ranks",
          "[GD-MMIO-01][GD-NCCLREPL-01][GD-USE-01]") {
  for (unsigned ranks : {2, 3, 4, 8}) odd_counts("all_reduce", ranks);
}
TEST_CASE("reduce-scatter of odd counts on 3 and 4 ranks") {
  for (unsigned ranks : {3, 4}) odd_counts("reduce_scatter", ranks);
}
TEST_CASE("all-gather of odd counts on 3 and 4 ranks", "[GD-USE-01]") {
  for (unsigned ranks : {3, 4}) odd_counts("all_gather", ranks);
}
TEST_CASE("all-to-all of odd counts on 3 and 4 ranks", "[GD-USE-01]") {
  for (unsigned ranks : {3, 4}) odd_counts("all_to_all", ranks);
}
TEST_CASE("broadcast of odd counts on 3 and 4 ranks") {
  for (unsigned ranks : {3, 4}) odd_counts("broadcast", ranks);
}
TEST_CASE("send and receive of odd counts on 3 and 4 ranks") {
  for (unsigned ranks : {3, 4}) odd_counts("sendrecv", ranks);
}
TEST_CASE("what is no all-reduce, of odd counts on 2 and 8 ranks", "[.long]") {
  for (const char* what : {"reduce_scatter", "all_gather", "all_to_all", "broadcast", "sendrecv"})
    for (unsigned ranks : {2, 8}) odd_counts(what, ranks);
}

TEST_CASE("every type and reduction") {
  for (const char* type : {"half", "bfloat16", "float", "int32"}) {
    for (const char* reduction : {"sum", "prod", "max", "min"}) {
      run("all_reduce", "gdma",
          {"gpus=3", "gpu.cus=8", "collective.counts=1,4099",
           std::string("collective.type=") + type, std::string("collective.redop=") + reduction,
           "collective.iterations=1"});
    }
  }
}

// 1 / 3 is no number of any type: the quotient is rounded.
TEST_CASE("averages of floating-point types, with every engine that has them") {
  for (const char* engine : {"mmio", "gdma", "dma"}) {
    for (const char* type : {"half", "bfloat16", "float"}) {
      run("all_reduce", engine,
          {"gpus=3", "gpu.cus=8", "collective.counts=1,20011",
           std::string("collective.type=") + type, "collective.redop=avg",
           "collective.iterations=1"});
    }
    run("broadcast", engine,
        {"gpus=4", "gpu.cus=8", "collective.op=reduce", "collective.root=2", "collective.redop=avg",
         "collective.counts=1,999", "collective.iterations=1"});
    run("reduce_scatter", engine,
        {"gpus=5", "gpu.cus=8", "topology=fully_connected", "software.algorithm=direct",
         "collective.redop=avg", "collective.counts=1,999", "collective.iterations=1"});
  }
}

// More than one tile a block, types of both sizes, and blocks that end in the middle of a tile.
TEST_CASE("the Tracker drives a reduction of any type and length") {
  for (const char* type : {"half", "bfloat16", "float", "int32"}) {
    run("all_reduce", "t3",
        {"gpus=4", "gpu.cus=8", "collective.counts=8,100003,65536",
         std::string("collective.type=") + type, "collective.iterations=2"});
    run("reduce_scatter", "t3",
        {"gpus=3", "gpu.cus=8", "collective.counts=40001", std::string("collective.type=") + type,
         "collective.iterations=1"});
  }
}

TEST_CASE("a root other than the first, and reduce") {
  run("broadcast", "mmio", {"gpus=4", "gpu.cus=8", "collective.root=2", "collective.counts=1,999"});
  for (const char* engine : {"gdma", "dma"}) {
    run("broadcast", engine,
        {"gpus=4", "gpu.cus=8", "collective.op=reduce", "collective.root=3",
         "collective.counts=1,999"});
  }
  // Several pieces of a chain.
  run("broadcast", "dma",
      {"gpus=3", "gpu.cus=8", "collective.root=2", "collective.counts=300003",
       "collective.iterations=1"});
}

TEST_CASE("blocks go straight to their rank where links allow it", "[.long]") {
  for (const char* op :
       {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "sendrecv"}) {
    for (const char* engine : {"mmio", "gdma", "dma"}) {
      const boost::json::value job =
          run(op, engine,
              {"gpus=5", "gpu.cus=8", "topology=fully_connected", "software.algorithm=direct",
               "collective.counts=0,1,4,6,20011", "collective.iterations=1"});
      CHECK(job.at("algorithm").as_string() == "direct");
    }
  }
  run("broadcast", "gdma",
      {"gpus=5", "gpu.cus=8", "topology=fully_connected", "software.algorithm=direct",
       "collective.op=reduce", "collective.root=3", "collective.counts=1,20011"});
}

TEST_CASE("buffers of several rounds of the FIFOs", "[.long]") {
  for (const char* engine : {"mmio", "gdma"}) {
    run("all_reduce", engine,
        {"gpus=3", "collective.counts=1000003", "collective.type=half", "software.fifo_slots=4",
         "software.slot_bytes=4096"});
    run("all_to_all", engine,
        {"gpus=3", "collective.counts=100003", "software.fifo_slots=4", "software.slot_bytes=16384",
         "software.channels=3"});
    // Blocks that travel more than one hop in both directions: what leaves together must not fill
    // the FIFOs.
    for (const char* slots : {"software.fifo_slots=4", "software.fifo_slots=6"}) {
      run("all_to_all", engine,
          {"gpus=5", "gpu.cus=8", "collective.counts=40003", slots, "software.slot_bytes=4096",
           "software.channels=2", "collective.iterations=1"});
    }
  }
}

// Engine gdma passes on from target to target from 64 KiB on: whole units; blocks at a unit above
// 64 B (beyond
// 8 MiB); more calls than targets are kept; one rank's block shorter than the others'; then sizes
//   that do not qualify.
TEST_CASE("targets are written directly, and not where units do not fit") {
  run("all_reduce", "gdma",
      {"gpus=4", "gpu.cus=8", "collective.counts=16384,20000,16385,81920",
       "collective.iterations=3"});
  run("all_reduce", "gdma",
      {"gpus=2", "gpu.cus=8", "collective.counts=2098176", "software.channels=3"});
  run("all_gather", "gdma",
      {"gpus=5", "gpu.cus=8", "collective.counts=4096,4097,30000,15,3200",
       "collective.iterations=2"});
  run("broadcast", "gdma",
      {"gpus=4", "gpu.cus=8", "collective.root=1", "collective.counts=16384,16400,100000"});
}

// Ring, N ranks: each rank sends 2 (N - 1) / N of the buffer, and beside it at most one flag of 8 B
// and one credit a slot.
TEST_CASE("wire bytes are those of the ring") {
  const uint64_t count = 1 << 18, bytes = 4 * count, slots = 4 * 6 * 8;
  for (const char* engine : {"mmio", "gdma", "dma", "t3"}) {
    const uint64_t wire = wire_bytes("all_reduce", engine, count);
    CHECK(wire >= 6 * bytes);
    CHECK(wire <= 6 * bytes + slots * 16);
  }
}

// Bytes too many come from behind a block: they overwrite the next block of an all-gather, and what
// lies behind the one block of a reduce-scatter.
TEST_CASE("a kernel that moves bytes too many is found by check and audit") {
  const auto beyond = [](const std::string& op) {
    const Scratch scratch;
    return run_stretto(
        "run collectives/" + op +
        " --mode mmio --set gpus=2 --set gpu.cus=8 "
        "--set collective.counts=1000,1001 --set software.collective=" STRETTO_BUILD_DIR
        "/sw/kernels/collective_beyond.elf --out " +
        scratch.path + "/r");
  };
  const Finished gather = beyond("all_gather"), scatter = beyond("reduce_scatter");
  INFO(gather.output << scatter.output);
  CHECK(gather.status == 1);
  CHECK(gather.says("FAILED"));
  CHECK(gather.says("rank 1 element 1000: got bits 0x0"));
  CHECK(scatter.status == 1);
  CHECK(scatter.says("bytes written outside of what was given"));
}

// Among them one of a kernel's object and one of a queue: firmware refuses what it finds instead.
TEST_CASE("a packet that the fabric loses ends the run in words") {
  for (const char* const packet : {"28", "33", "38"}) {
    const Scratch scratch;
    const Finished finished = run_stretto(
        std::string("run collectives/all_reduce --mode gdma --machine v100-pcie --impl all=model "
                    "--set gpus=2 --set collective.max_bytes=16 --set sim.progress_limit_us=500 "
                    "--set switch.fault.drop_packet=") +
        packet + " --out " + scratch.path + "/r");
    INFO(packet << "\n" << finished.output);
    CHECK((finished.status == 1 || finished.status == 2));
    CHECK(finished.says("stretto: "));
    CHECK_FALSE(finished.says("cudaStreamSynchronize("));
  }
}

// Counts around a line (14 floats), a slot of lines (1792) and ranks; several rounds of the FIFOs.
TEST_CASE("both protocols give the right bytes at ragged counts, in place and out of place") {
  for (const char* protocol : {"ll", "simple"}) {
    const std::string set = std::string("software.protocol=") + protocol;
    for (const char* op :
         {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "sendrecv"}) {
      run(op, "mmio",
          {"gpus=4", "gpu.cus=8", set, "software.fifo_slots=4", "software.channels=2",
           "collective.counts=0,1,3,13,15,1791,1793,20011", "collective.iterations=2"});
    }
  }
}

TEST_CASE("lines of every type and reduction") {
  for (const char* type : {"half", "bfloat16", "float", "int32"}) {
    for (const char* reduction : {"sum", "prod", "max", "min"}) {
      run("all_reduce", "mmio",
          {"gpus=3", "gpu.cus=8", "software.protocol=ll", "collective.counts=1,4099",
           std::string("collective.type=") + type, std::string("collective.redop=") + reduction,
           "collective.iterations=1"});
    }
  }
}

TEST_CASE("lines go straight to their rank where links allow it", "[.long]") {
  for (const char* op :
       {"all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "sendrecv"}) {
    for (const char* channels : {"software.channels=1", "software.channels=8"}) {
      run(op, "mmio",
          {"gpus=5", "gpu.cus=8", "topology=fully_connected", "software.algorithm=direct",
           "software.protocol=ll", "software.fifo_slots=4", channels,
           "collective.counts=0,1,4,6,40011", "collective.iterations=1"});
    }
  }
}

// 56 of 64 bytes are data; beside them one credit of 8 B a slot of 7168.
TEST_CASE("wire bytes of lines are 8/7 of the ring's") {
  const uint64_t count = 7 << 15, bytes = 4 * count;
  const boost::json::value job = run("all_reduce", "mmio",
                                     {"gpus=4", "gpu.cus=8", "software.protocol=ll",
                                      "collective.counts=" + std::to_string(count)});
  const uint64_t wire =
      job.at("sizes").at(0).at("out_of_place").at("wire_bytes").to_number<uint64_t>();
  CHECK(wire >= 6 * bytes / 7 * 8);
  CHECK(wire <= 6 * bytes / 7 * 8 * 102 / 100);
}

TEST_CASE("small messages are faster by lines, large ones by slots, and auto takes the faster",
          "[.long]") {
  const auto times = [](const char* protocol) {
    const boost::json::value sizes =
        run("all_gather", "mmio",
            {"gpus=4", std::string("software.protocol=") + protocol, "collective.place=out",
             "collective.counts=64,1048576", "collective.iterations=1"})
            .at("sizes");
    std::vector<double> us;
    for (const boost::json::value& size : sizes.as_array())
      us.push_back(size.at("out_of_place").at("time_us").to_number<double>());
    return us;
  };
  const std::vector<double> lines = times("ll"), slots = times("simple"), both = times("auto");
  CHECK(lines[0] < slots[0]);
  CHECK(lines[1] > slots[1]);
  CHECK(both[0] < slots[0]);
  CHECK(both[1] < lines[1]);
}

TEST_CASE("lines whose flag never changes are read before they have come, and the check says so") {
  const Scratch scratch;
  const Finished finished = run_stretto(
      "run collectives/all_gather --mode mmio --set gpus=2 --set gpu.cus=8 "
      "--set software.protocol=ll --set software.fifo_slots=4 --set collective.counts=100000 "
      "--set software.collective=" STRETTO_BUILD_DIR "/sw/kernels/collective_one_flag.elf --out " +
      scratch.path + "/r");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("got bits"));
}

TEST_CASE("the tables of all collectives and engines are printed, and resumed from what is there") {
  const Scratch scratch;
  const std::string command =
      "reproduce collectives --set gpus=2 --set gpu.cus=8 --set collective.max_bytes=32 --out " +
      scratch.path + "/r";
  const Finished first = run_stretto(command), again = run_stretto(command + " --table-only");
  INFO(first.output << again.output);
  CHECK(first.status == 0);
  CHECK(again.status == 0);
  for (const Finished* one : {&first, &again}) {
    CHECK(one->says("# all_reduce, engine mmio, 2 ranks, ring"));
    CHECK(one->says("# sendrecv, engine gdma, 2 ranks, ring"));
    CHECK(one->says("# reduce_scatter, engine t3, 2 ranks, ring"));
    CHECK(one->says("# all_to_all, engine dma, 2 ranks, direct"));
    CHECK_FALSE(one->says("FAILED"));
    CHECK_FALSE(one->says("no result"));
  }
}

TEST_CASE("the unit of transfer shrinks with the number of GPUs", "[GD-USE-02]") {
  const uint64_t bytes = 65536;  // Split among the peers; a slot holds any part.
  for (const uint64_t gpus : {2, 4, 8}) {
    const RunResult root = run_correctly(
        "collectives/all_to_all --mode gdma --machine a100-nvswitch --set software.channels=1 "
        "--set "
        "collective.place=out --set collective.warm_up=0 --set collective.iterations=1 --set "
        "collective.min_bytes=65536 --set collective.max_bytes=65536 --set gpus=" +
        std::to_string(gpus));
    uint64_t transfers = 0, moved = 0;
    for (uint64_t gpu = 0; gpu < gpus; ++gpu) {
      const std::string ring = "statistics.gpu" + std::to_string(gpu) + ".request_ring.";
      transfers += root.number(ring + "transfers");
      moved += root.number(ring + "bytes");
    }
    CHECK(transfers == gpus * (gpus - 1));
    CHECK(moved == transfers * bytes / gpus);
  }
}

TEST_CASE("at its time limit a reproduction keeps what is there and says how to go on") {
  const Scratch scratch;
  const Finished finished =
      run_stretto("reproduce collectives --time-limit 1 --set collective.min_bytes=4194304 --out " +
                  scratch.path + "/r");
  INFO(finished.output);
  CHECK(finished.status == 124);
  CHECK(finished.says("time limit of 1 s; this goes on from here:"));
  CHECK(finished.says("# sendrecv dma: no result"));
}

// A launch of 100 us hides a call of either size; a single call that shows it takes 1.3 times as
// long.
TEST_CASE(
    "all sizes are timed alike: those from 1 MiB on do not show the launch that others hide") {
  const boost::json::value sizes =
      run("all_reduce", "mmio",
          {"gpus=2", "collective.min_bytes=524288", "collective.max_bytes=1048576",
           "collective.place=out", "software.launch_ns=100000"})
          .at("sizes");
  const auto us = [&](size_t i) {
    return sizes.at(i).at("out_of_place").at("time_us").to_number<double>();
  };
  CHECK(us(1) / us(0) < 1.1);
}

TEST_CASE("a thread asks for several GPUs in a group with every engine") {
  for (const char* per_thread : {"collective.gpus_per_thread=2", "collective.gpus_per_thread=4"}) {
    for (const char* engine : {"mmio", "gdma", "dma", "t3"})
      run("all_reduce", engine,
          {"gpus=4", "gpu.cus=8", per_thread, "collective.counts=0,1,10007",
           "collective.iterations=2"});
    for (const char* op : {"all_gather", "all_to_all", "broadcast", "sendrecv"})
      run(op, "mmio", {"gpus=4", "gpu.cus=8", per_thread, "collective.counts=1,10007"});
  }
}

// 16 KiB are 4 KiB a rank, a channel; 128 KiB are eight. A thread takes 20 us a launch and 5 a
// channel, one GPU after the other; the GPUs take less. Beside it the driver's call, packet and
// writes: 0.5 us. A rank each: a quarter. Who waits for each call adds what the GPUs take.
TEST_CASE("one thread launches for its GPUs one after the other and pays for each channel") {
  const auto times = [](unsigned per_thread, bool blocking) {
    const boost::json::value sizes =
        run("all_reduce", "mmio",
            {"gpus=4", "collective.place=out", "collective.counts=4096,32768",
             "collective.iterations=20", "software.launch_ns=20000", "software.channel_ns=5000",
             "software.channel_bytes=4096",
             "collective.gpus_per_thread=" + std::to_string(per_thread),
             std::string("collective.blocking=") + (blocking ? "true" : "false")})
            .at("sizes");
    std::vector<double> us;
    for (const boost::json::value& size : sizes.as_array())
      us.push_back(size.at("out_of_place").at("time_us").to_number<double>());
    return us;
  };
  const std::vector<double> all = times(4, false), each = times(1, false), wait = times(4, true);
  CHECK(all[0] == Approx(4 * 25.5).epsilon(0.03));
  CHECK(all[1] == Approx(4 * 60.5).epsilon(0.03));
  CHECK(each[0] == Approx(25.5).epsilon(0.15));
  CHECK(each[1] == Approx(60.5).epsilon(0.15));
  for (const size_t i : {0, 1}) CHECK(wait[i] > all[i] + 5);
}

TEST_CASE("what a workload or the machine cannot do is refused in one line") {
  const auto refused = [](const std::string& arguments, const std::string& why) {
    const Finished finished = run_stretto("run collectives/all_reduce " + arguments);
    INFO(arguments << "\n" << finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says(why));
  };
  refused("--set collective.counts=1,x", "counts '1,x'");
  refused("--set collective.min_bytes=100 --set collective.max_bytes=10",
          "min_bytes above max_bytes");
  refused("--set collective.size=1", "unknown");
  refused("--set collective.op=gather", "gather");
  refused("--set collective.root=9", "root 9 of 8 GPUs");
  refused("--set collective.gpus_per_thread=3", "gpus_per_thread 3 of 8 GPUs");
  refused("--set software.algorithm=direct", "links between neighbours");
  refused("--mode gdma --set software.protocol=ll", "software.protocol=ll");
  refused("--set software.fifo_slots=5", "fifo_slots must be even");
  refused("--set collective.max_bytes=0x100000000 --set software.memory_gib=4", "does not fit");
  refused("--set sim.mirror=true", "sim.mirror");
  refused("--set collective.large_factor=1", "large_factor 1");
  refused("--mode t3 --set collective.redop=max --set gpus=2",
          "engine t3: only all_reduce and reduce_scatter with reduction sum");
  refused("--set collective.redop=avg --set collective.type=int32 --set gpus=2",
          "the machine has no avg of int32");
}
