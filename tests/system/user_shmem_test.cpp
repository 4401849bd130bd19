// SPDX-License-Identifier: Apache-2.0
// Question: do programs over shmem.h and cuda_runtime.h that this project does not ship compile from what the headers
// document, by the commands that users give, and are they right in every mode, wherever who serves them is? What a
// program does wrong gets one line, and nothing waits for ever.
#include <catch2/catch.hpp>

#include <boost/json.hpp>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/system/compile.h"

using namespace stretto::test;

namespace {

const std::string kPrograms[] = {"tokens", "histogram", "halo", "ticket_lock", "all_to_all"};
const std::string kModes[] = {"compnet", "compnet-nolock", "dgpu", "dgpu-host", "apu"};

// A program of `source` with kernels of shmem_five_kernel.c, on `servers` servers.
class Program {
 public:
  explicit Program(const std::string& source)
      : object_(compile(scratch_, source)),
        kernels_(compile_kernel(scratch_, "shmem_five_kernel.c", "tokens")) {}

  Finished run(const std::string& what, const std::string& options, unsigned servers = 4) const {
    return run(what, options, servers, scratch_.path + "/r" + Scratch::next());
  }
  Finished run(const std::string& what, const std::string& options, unsigned servers,
               const std::string& out) const {
    const std::string count = std::to_string(servers);
    return run_stretto("run " + object_ + " --machine compnet --impl all=model --set gpus=" +
                           count + " --set servers=" + count + " --set program.arguments='" +
                           kernels_ + " " + what + "' " + options + " --out " + out,
                       "timeout 300");
  }

  void expect_right(const std::string& what, const std::string& mode, unsigned servers) const {
    const Finished finished = run(what, "--mode " + mode, servers);
    INFO(what << " " << mode << " " << servers << "\n" << finished.output);
    CHECK(finished.status == 0);
    for (unsigned pe = 0; pe < servers; ++pe)
      CHECK(finished.says("PE " + std::to_string(pe) + " of " + std::to_string(servers) + ": " +
                          what + " is right"));
    CHECK(finished.says(" 0 violations"));
  }

  // When the first kernel of such a run begins.
  uint64_t first_kernel_ns(const std::string& what, const std::string& options) const {
    const std::string out = scratch_.path + "/timed";
    (void)run(what, options + " --timeline", 4, out);
    std::ifstream stream(out + "/timeline.json");
    std::ostringstream text;
    text << stream.rdbuf();
    const boost::json::value timeline = boost::json::parse(text.str());
    for (const auto& event : timeline.as_array()) {
      if (event.at("ph").as_string() == "X" && event.at("name").as_string() == "kernels")
        return static_cast<uint64_t>(event.at("ts").to_number<double>() * 1000);
    }
    throw std::runtime_error("no kernel began");
  }

 private:
  const Scratch scratch_;
  const std::string object_, kernels_;
};

}  // namespace

TEST_CASE("five programs of a user are right, each mode has some of them",
          "[CN-API-01][CN-API-03][CN-API-04][CN-API-05]") {
  const Program five("shmem_five.c");
  unsigned pairs = 0;  // Every other one: each program in two modes or three, each mode likewise.
  for (const std::string& what : kPrograms)
    for (const std::string& mode : kModes)
      if (++pairs % 2 != 0)
        five.expect_right(what, mode, pairs % 4 == 1 ? 4 : what == "halo" ? 6 : 3);
}

TEST_CASE("five programs of a user are right in every mode on both numbers of servers", "[.long]") {
  const Program five("shmem_five.c");
  for (const std::string& what : kPrograms)
    for (const std::string& mode : kModes)
      for (const unsigned servers : {what == "halo" ? 6u : 3u, 4u})
        five.expect_right(what, mode, servers);
}

// Behind the header, host program and kernel stand side by side there.
TEST_CASE("the program of sw/net/README.md compiles and runs as it says") {
  const Scratch scratch;
  std::ifstream page(STRETTO_SOURCE_DIR "/sw/net/README.md");
  std::string header, host, kernel, line;
  size_t column = 0;
  while (std::getline(page, line) && line.find("stretto-kernel -e pass") == std::string::npos) {
    if (line.find("/* own.c */") != std::string::npos) column = line.find("/* own_kernel.c");
    if (column == 0) {
      if (!header.empty() || line.find("/* own.h") != std::string::npos) header += line + "\n";
      continue;
    }
    host += line.substr(0, column) + "\n";
    if (line.size() > column) kernel += line.substr(column) + "\n";
  }
  REQUIRE(column != 0);
  scratch.file("own.h", header);
  scratch.file("own.c", host);
  scratch.file("own_kernel.c", kernel);
  const std::string source = STRETTO_SOURCE_DIR, build = STRETTO_BUILD_DIR;
  command_succeeds("cd " + scratch.path + " && bash " + build +
                   "/stretto-kernel -e pass -o own.elf own_kernel.c && cc -shared -fPIC -I" +
                   source + " -I" + source + "/sw/include -o own.so own.c && " + build +
                   "/stretto run ./own.so --machine compnet --mode compnet --set servers=3 --set "
                   "gpus=3 --impl all=model");
}

TEST_CASE("random programs see what a sequential reference of the memory model says",
          "[CN-MEM-02][CN-API-05]") {
  const std::string script =
      "STRETTO_BUILD_DIR=" STRETTO_BUILD_DIR " bash " STRETTO_SOURCE_DIR "/tests/shmem_random.sh ";
  const auto run = [&](const std::string& arguments) { return run_command(script + arguments); };
  const Finished some = run("--programs 50");
  INFO(some.output);
  CHECK(some.status == 0);
  // Firmware whose quiet does not wait, on a slow network: what is under way outlasts a word by another way.
  const Finished wrong = run("--programs 40 --seed 2000 --machine 4 --firmware " STRETTO_BUILD_DIR
                             "/sw/firmware/main_net_no_quiet.elf");
  INFO(wrong.output);
  CHECK(wrong.status == 1);
  CHECK(wrong.says("seed 20"));
  CHECK(wrong.says("shmem_random.sh: wrong; again: "));
}

TEST_CASE("of the memory model no forbidden outcome is seen, allowed ones and faults are",
          "[CN-MEM-01][CN-MEM-02][CN-MEM-03]") {
  const Finished finished = run_command("STRETTO_BUILD_DIR=" STRETTO_BUILD_DIR
                                        " bash " STRETTO_SOURCE_DIR "/tests/litmus.sh --rounds 40");
  INFO(finished.output);
  CHECK(finished.status == 0);
  CHECK(finished.says("14 forbidden, 4 allowed, 0 wrong"));
}

TEST_CASE("one hart or many threads serve a program of a user, whatever windows and threads") {
  const Program five("shmem_five.c");
  for (const char* const options :
       {"--mode compnet --set program.threads=1", "--mode dgpu --set program.threads=7",
        "--mode compnet --set sim.threads=2", "--mode dgpu-host --set sim.window_ns=7",
        "--mode compnet --set l2.bytes=131072", "--mode compnet --set program.poll_rounds=1"}) {
    const Finished finished = five.run("halo", options);
    INFO(options << "\n" << finished.output);
    CHECK(finished.status == 0);
  }
}

TEST_CASE("what a program does wrong is said in a line", "[CN-API-06]") {
  const Program misuse("shmem_misuse.c");
  const struct {
    const char* what;
    int status;
    const char* says;
  } cases[] = {
      {"early", 0, "early: shmem_my_pe: before shmem_wg_init, or behind shmem_finalize"},
      {"queues", 0, "queues: shmem_wg_init: 1025 work-groups; 1 to 1024"},
      {"heaps", 0,
       "heaps: shmem_wg_init: heap of 16781312 bytes, of PE 1 16782336: all must have as many "
       "work-groups and bytes"},
      {"twice", 0, "twice: shmem_wg_init: called for a second time"},
      {"sizes", 0, "sizes: shmem_malloc: PE 1 asks for 4096, this one for 2048"},
      {"sizes", 0, "sizes: shmem_malloc: PE 0 asks for 2048, this one for 4096"},
      {"large", 0, "large: shmem_malloc: 16777217 bytes do not fit into a heap of 16777216"},
      {"align", 0, "align: shmem_align: 96 is no power of two up to 512"},
      {"free", 0, "is no address that shmem_malloc gave"},
      {"running", 0,
       "running: shmem_finalize: PE 2: a stream has not ended, and its kernels may communicate; "
       "wait for it first"},
      {"other", 0, "other: shmem_malloc: PE 1 asks for another call"},
      {"cooperative", 1, "all its work-groups at once more than the GPU"},
      {"open", 1, "shmem_misuse.c.so: main() returned without shmem_finalize"},
  };
  for (const auto& [what, status, says] : cases) {
    for (const char* const mode : {"compnet", "dgpu"}) {
      const Finished finished = misuse.run(what, std::string("--mode ") + mode, 3);
      INFO(what << " " << mode << "\n" << finished.output);
      CHECK(finished.status == status);
      CHECK(finished.says(says));
    }
  }
}

TEST_CASE("an operation that must not be is told to its context, and no byte of any heap changes") {
  const Program misuse("shmem_misuse.c");
  // Status by number of shmem_five_kernel.c: one byte beyond, behind and before the heap, a source that is not
  // registered, no such PE, one byte beyond the own one, a word that is not aligned, too long.
  const unsigned status[] = {4, 4, 4, 3, 3, 64, 4, 6, 2, 4, 4, 4};
  const char* const options[] = {"--mode compnet", "--mode dgpu"};
  for (unsigned i = 0; i < std::size(status); ++i) {
    const std::string what = "bad" + std::to_string(i);
    const Finished finished =
        misuse.run(what,
                   options[i % 2] + std::string(" --set program.heap_bytes=4096 "
                                                "--set program.return_errors=true"),
                   3);
    INFO(finished.output);
    CHECK(finished.status == 0);
    CHECK(finished.says(what + ": status " + std::to_string(status[i]) + "\n"));
    CHECK(finished.says(" 0 violations"));
  }
  const Finished ends = misuse.run("bad0", "--mode compnet --set program.heap_bytes=4096", 3);
  INFO(ends.output);
  CHECK(ends.status == 1);
  CHECK(ends.says("firmware: gpu 0: work-group 0: put of 9 bytes, PE 1 at 0x2"));
  CHECK(ends.says(", here at 0x1"));
  CHECK(ends.says("remote key does not allow it"));
  for (const char* const mode : {"compnet", "dgpu"}) {
    const Finished word =
        misuse.run("bad11", std::string("--set program.heap_bytes=4096 --mode ") + mode, 3);
    INFO(word.output);
    CHECK(word.status == 1);
    CHECK(word.says(": put of 8 bytes, PE 1 at 0x2"));
    CHECK(word.says(", value 0x1: remote key does not allow it"));
  }
}

TEST_CASE("a message about a PE that is not there says what was asked for") {
  const Program misuse("shmem_misuse.c");
  for (const char* const mode : {"compnet", "dgpu"}) {
    const Finished finished =
        misuse.run("bad5", std::string("--set program.heap_bytes=4096 --mode ") + mode, 3);
    INFO(finished.output);
    CHECK(finished.status == 1);
    CHECK(finished.says(": put of 64 bytes, PE 3 at 0x1"));
    CHECK(finished.says(", here at 0x1"));
    CHECK(finished.says(": no such PE"));
  }
}

TEST_CASE("a context that is not destroyed is called that") {
  const Program misuse("shmem_misuse.c");
  for (const char* const mode : {"compnet", "dgpu"}) {
    const Finished finished =
        misuse.run("bad12", std::string("--set program.heap_bytes=4096 --mode ") + mode, 3);
    INFO(finished.output);
    CHECK(finished.status == 1);
    CHECK(
        finished.says("stretto: failed: law violated: contexts that work-groups left without "
                      "shmem_wg_ctx_destroy = 0, at gpu0: 1 against 0\n"));
  }
}

// OpenSHMEM 1.5: an operation on 0 elements succeeds and moves nothing.
TEST_CASE("operations on no bytes succeed and send nothing but their signal", "[CN-API-01]") {
  const Program misuse("shmem_misuse.c");
  for (const std::string& mode : kModes) {
    const Finished finished = misuse.run("zero", "--mode " + mode, 3);
    INFO(mode << "\n" << finished.output);
    CHECK(finished.status == 0);
    CHECK(finished.says(" 0 violations"));
  }
}

TEST_CASE(
    "of a server that goes down, operations end within time-out x retries and the others go on") {
  const Program misuse("shmem_misuse.c");
  // When the first kernel has begun, so that all servers have met, and none has put.
  const uint64_t at = misuse.first_kernel_ns("down", "--mode compnet") + 1'000;
  const std::string options =
      "--mode compnet --set fault.nic_server=1 --set nic.fault.down_at_ns=" + std::to_string(at) +
      " ";
  const Finished told = misuse.run("down", options + "--set program.return_errors=true");
  INFO(told.output);
  for (const char* const pe : {"0", "2", "3"})
    CHECK(told.says(std::string("PE ") + pe + " is told 7 and 0"));
  CHECK(told.says("PE 1 is told 0 and 0"));
  CHECK_FALSE(told.says("deadlock"));
  const Finished ends = misuse.run("down", options);
  INFO(ends.output);
  CHECK(ends.status == 1);
  CHECK(ends.says(": work-group 0: put of 256 bytes, PE 1 at 0x2"));
  CHECK(ends.says("the peer does not answer"));
}

TEST_CASE("65 puts that nobody waits for fit into a ring of 64") {
  const Program misuse("shmem_misuse.c");
  for (const std::string& mode : kModes) CHECK(misuse.run("many", "--mode " + mode, 3).status == 0);
}

TEST_CASE("a context of two work-groups, a destroyed one and one too many end the run in a line",
          "[CN-API-04]") {
  const Program misuse("shmem_misuse.c");
  const std::pair<const char*, const char*> cases[] = {
      {"shared", "shmem_wg_ctx_create: the context is another work-group's"},
      {"destroyed", "shmem.h: the context was destroyed"},
      {"beyond", "shmem_wg_ctx_create: more contexts than shmem_wg_init was told"}};
  for (const auto& [what, says] : cases) {
    for (const std::string mode : {"compnet", "dgpu-host"}) {
      const Finished finished = misuse.run(what, "--mode " + mode, 3);
      INFO(what << " " << mode << "\n" << finished.output);
      CHECK(finished.status == 1);
      CHECK(finished.says(std::string(": ") + says));
      CHECK(finished.says(" wg 1 wf 0 "));
    }
  }
}

TEST_CASE("who waits for a signal that nobody sends is named, with its PE and both harts",
          "[CN-CP-02]") {
  const Program misuse("shmem_misuse.c");
  for (const std::string mode : {"compnet", "dgpu"}) {
    const Finished finished = misuse.run("unsent", "--mode " + mode, 3);
    INFO(mode << "\n" << finished.output);
    CHECK(finished.status == 1);
    const size_t at = finished.output.find("deadlock at ");
    REQUIRE(at != std::string::npos);
    CHECK(std::stoull(finished.output.substr(at + 12)) < 5'000'000);
    for (const char* const text :
         {"PE 1 is gpu1, its heap begins at 0x2",
          "PE 0: shmem_barrier_all: waits for the other PEs", "gpu1.cp: hart 0 ",
          "gpu1.cp: hart 1 ", " wg 1 wf 0 waits until memory at 0x2", " >= 77, it is 0"})
      CHECK(finished.says(text));
    CHECK_FALSE(finished.says("gpu0.compute: cu"));
  }
}

// The network takes 100 us a link, two of them a way, so that an acknowledgement of a put takes 400 us: 600,000 clocks
// of the GPU at 1.5 GHz (Table 1).
TEST_CASE("what nobody waits for is marked at once, and the read index follows", "[CN-Q-07]") {
  const Program misuse("shmem_misuse.c");
  for (const char* const mode : {"compnet", "dgpu"}) {
    const Finished finished =
        misuse.run("marked", std::string("--mode ") + mode + " --set network.latency_ns=100000", 2);
    INFO(mode << "\n" << finished.output);
    CHECK(finished.status == 0);
    for (unsigned i = 0; i < 3; ++i) {
      const std::string begin = "entry " + std::to_string(i) + ": status 0 read index ";
      const size_t at = finished.output.find(begin);
      REQUIRE(at != std::string::npos);
      unsigned index = 0, clocks = 0, all = 0;
      REQUIRE(std::sscanf(finished.output.c_str() + at + begin.size(), "%u after %u clocks of %u",
                          &index, &clocks, &all) == 3);
      CHECK(index >= i);  // It lags by one at most.
      CHECK(index <= i + 1);
      CHECK(clocks < 60'000);
      CHECK(all > 600'000);
    }
  }
}

// Polls move bytes, so nothing but what they bring tells them from work.
TEST_CASE("who asks for a lock that nobody gives back is named, in every mode", "[CN-CP-02]") {
  const Program misuse("shmem_misuse.c");
  for (const std::string& mode : kModes) {
    const Finished finished =
        misuse.run("spin", "--mode " + mode + " --set sim.progress_limit_us=250", 3);
    INFO(mode << "\n" << finished.output);
    CHECK(finished.status == 1);
    const size_t at = finished.output.find("deadlock at ");
    REQUIRE(at != std::string::npos);
    CHECK(std::stoull(finished.output.substr(at + 12)) < 1'500'000);
    for (const char* const text :
         {" polls over the network that bring nothing new", "PE 0 is gpu0, its heap begins at 0x1",
          "PE 1 work-group 0: compare-and-swap of PE 0 at 0x1",
          "PE 1 work-group 1: compare-and-swap of PE 0 at 0x1", " has brought 0x0 "})
      CHECK(finished.says(text));
    CHECK_FALSE(finished.says("PE 2 work-group"));
    if (mode.starts_with("compnet")) CHECK(finished.says("gpu1.cp: hart 1 "));
  }
}

TEST_CASE("a host program that sleeps for longer than the limits is no deadlock") {
  const Program misuse("shmem_misuse.c");
  for (const std::string mode : {"compnet", "dgpu"}) {
    for (const std::string what : {"held", "naps"}) {
      const Finished finished =
          misuse.run(what, "--mode " + mode + " --set sim.progress_limit_us=250", 3);
      INFO(what << " " << mode << "\n" << finished.output);
      CHECK(finished.status == 0);
      const size_t total = finished.output.find("total ");
      REQUIRE(total != std::string::npos);
      CHECK(std::stod(finished.output.substr(total + 6)) > 3.0);
    }
  }
}

TEST_CASE("a program is no PE on a machine without servers, or in another mode") {
  const Program misuse("shmem_misuse.c");
  const auto refused = [&](const std::string& options, unsigned servers, int status,
                           const std::string& why) {
    const Finished finished = misuse.run("twice", options, servers);
    INFO(options << "\n" << finished.output);
    CHECK(finished.status == status);
    CHECK(finished.says(why));
  };
  refused("--mode compnet", 1, 2, "needs topology=cluster and servers of 2 to 32");
  refused("--mode mmio", 2, 2, "kind program runs within one server");
  refused("--mode mmio", 1, 1,
          "the program is no PE; --mode compnet, compnet-nolock, dgpu, dgpu-host or apu");
  refused("--mode compnet --set program.threads=3", 2, 2, "3 threads cannot serve");
  refused("--mode compnet --set program.server=tally", 2, 2, "a PE has its GPU itself");
}
