// SPDX-License-Identifier: Apache-2.0
// Question: do programs that know of no server share a GPU through one, with the results that they have alone?
// The same files run with devices of their own and as clients: libtally_client.so is preloaded and sends
// their calls on. What clients do wrong, early or late is theirs alone. Forwarding costs little.
#include <elf.h>

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <set>
#include <string>

#include "models/common/read_file.h"
#include "tests/system/compile.h"

using namespace stretto::test;

namespace {

const std::string kMachine = " --set gpus=1 --set gpu.cus=8 --impl all=model";

struct Programs {
  const Scratch scratch;
  const std::string elf = compile_kernel(scratch, "vector_add_kernel.c", "vector_add");

  Finished run(const std::string& program, const std::string& arguments,
               const std::string& options) const {
    return run_stretto("run " + program + kMachine + " --set program.arguments='" + arguments +
                           "' " + options + " --out " + scratch.path + "/r",
                       "timeout 200");
  }
  // With status 0 and all laws kept.
  Finished right(const std::string& program, const std::string& arguments,
                 const std::string& options) const {
    const Finished finished = run(program, arguments, options);
    INFO(options << "\n" << finished.output);
    CHECK(finished.status == 0);
    CHECK(results().at("audit").at("violations").to_number<int>() == 0);
    return finished;
  }
  boost::json::value results() const { return stats(scratch.path + "/r"); }
  const boost::json::array clients() const { return results().at("job").at("clients").as_array(); }
};

size_t count(const Finished& finished, const std::string& text) {
  size_t times = 0;
  for (size_t at = finished.output.find(text); at != std::string::npos;
       at = finished.output.find(text, at + 1))
    ++times;
  return times;
}

// Nanoseconds that a client says.
double time_of(const Finished& finished) {
  const std::string before = "rounds right in ";
  const size_t at = finished.output.find(before);
  REQUIRE(at != std::string::npos);
  return std::stod(finished.output.substr(at + before.size()));
}

const std::vector<std::string> kServers{"no-scheduling", "no-transformation", "tally",
                                        "tally-stock-isa", "tally-unmodified"};

}  // namespace

TEST_CASE("a program runs unchanged alone and under the server, with equal results",
          "[TL-VIRT-01][TL-ARCH-05]") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "vector_add.c");
  programs.right(program, programs.elf, "");
  for (const std::string& server : kServers) {
    for (const std::string priority : {"0", "1"}) {
      const Finished served = programs.right(
          program, programs.elf,
          "--set program.server=" + server + " --set program.high_priority=" + priority);
      INFO(server << " " << priority << "\n" << served.output);
      CHECK(served.says("vector_add: all right"));
      CHECK(served.says("10 turns in order"));
    }
  }
}

void expect_ten(const std::vector<std::string>& servers) {
  const Programs programs;
  const std::string program = compile(programs.scratch, "client.c");
  for (const std::string& server : servers) {
    const Finished finished = programs.right(
        program, programs.elf + " work", "--set program.clients=10 --set program.server=" + server);
    INFO(server << "\n" << finished.output);
    CHECK(count(finished, "client work: 4 rounds right") == 10);
    const boost::json::array clients = programs.clients();
    REQUIRE(clients.size() == 10);
    CHECK(clients[0].at("priority").as_string() == "high");
    CHECK(clients[9].at("priority").as_string() == "best effort");
  }
}

TEST_CASE(
    "one client of high priority and nine of best effort share a GPU, each with its own variables",
    "[TL-ARCH-02]") {
  expect_ten({"no-transformation", "tally"});
}
TEST_CASE("ten clients share a GPU whatever serves them", "[.long][TL-ARCH-02]") {
  expect_ten(kServers);
}

TEST_CASE("a client that ends early, comes late, fails or crashes is no other's business") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "client.c");
  const std::string& elf = programs.elf;
  const std::string arguments = elf + " work | " + elf + " early | " + elf + " late | " + elf +
                                " fail | " + elf + " crash | " + elf + " exit | " + elf +
                                " work | " + elf + " block";
  for (const std::string server : {"no-scheduling", "tally"}) {
    const Finished finished =
        programs.run(program, arguments, "--set program.clients=8 --set program.server=" + server);
    INFO(server << "\n" << finished.output);
    CHECK(finished.status == 1);
    CHECK(count(finished, "client work: 4 rounds right") == 2);
    CHECK(count(finished, "client early: 1 rounds right") == 1);
    CHECK(count(finished, "client late: 4 rounds right") == 1);
    CHECK(finished.says("stretto: failed: wrong data: client 3, "));
    CHECK(finished.says("main() returned 3"));
    CHECK(finished.says("main() used address 0x8"));
    CHECK(finished.says("called exit(0)"));
    CHECK(finished.says("called sigprocmask(): it has no process of its own"));
    CHECK(programs.results().at("audit").at("violations").to_number<int>() == 0);
    const boost::json::array clients = programs.clients();
    CHECK(clients[4].at("failure").as_string().find("main() used address") != std::string::npos);
    CHECK(clients[1].at("ended_ns").to_number<uint64_t>() <
          clients[6].at("ended_ns").to_number<uint64_t>());
  }
}

// The kernel stores where no memory is; the first client has not returned then.
TEST_CASE(
    "a fault ends the run, and the message and the table name the client whose kernel it was") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "client.c");
  const std::string source = programs.scratch.file("wild.c", R"(
#include "sw/kernels/kernel.h"
#include "tests/system/programs/vector_add_arguments.h"
void scale(void) {
  *(volatile uint64_t*)0x20000000000 = 1;
  tile_end();
  __builtin_unreachable();
}
STRETTO_KERNEL(scale, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 4096, .private_bytes = 256,
               .wavefronts = 1, .kernarg_bytes = sizeof(scale_arguments_t));
)");
  const std::string wild = programs.scratch.path + "/wild.elf";
  command_succeeds("bash " STRETTO_BUILD_DIR "/stretto-kernel -e scale -o " + wild + " " + source);
  const Finished finished =
      programs.run(program, programs.elf + " work | " + wild + " work | " + programs.elf + " early",
                   "--set program.clients=3 --set program.server=no-scheduling");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("unmapped_store at 0x20000000000"));
  CHECK(finished.says(", a kernel of client 1 (" + program + ")"));
  CHECK(!finished.says(" right\n"));
  CHECK(programs.clients()[0].at("outcome") == "not returned");
  CHECK(programs.clients()[1].at("outcome") == "its kernel faulted");
}

TEST_CASE("a client that is given no more memory is told, and the other is not touched") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "client.c");
  programs.right(program, programs.elf + " fills", "");
  for (const std::string& server : {"no-scheduling", "tally", "tally-unmodified"}) {
    for (const std::string high : {"0", "1"}) {
      const std::string work = programs.elf + " work", fills = programs.elf + " fills";
      const Finished served =
          programs.right(program, high == "0" ? work + " | " + fills : fills + " | " + work,
                         "--set program.clients=2 --set program.server=" + server +
                             " --set program.high_priority=" + high);
      INFO(served.output);
      CHECK(served.says("filled 1: some hundred pieces"));
      CHECK(count(served, "rounds right in ") == 2);
    }
  }
}
TEST_CASE("a damaged section of one client's ELF ends no run") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "client.c");
  std::string bytes = stretto::read_file(programs.elf);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const size_t size_of_text = header.e_shoff + header.e_shentsize + offsetof(Elf64_Shdr, sh_size);
  const uint64_t beyond = uint64_t{1} << 40;
  std::memcpy(bytes.data() + size_of_text, &beyond, sizeof beyond);
  const std::string damaged = programs.scratch.file("damaged.elf", bytes);
  programs.right(program, damaged + " work", "");
  programs.right(program, programs.elf + " work | " + damaged + " work",
                 "--set program.clients=2 --set program.server=tally");
}
TEST_CASE("clients may be different programs, and one may ask for nothing") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "vector_add.c"),
                    other = compile(programs.scratch, "client.c");
  const Finished finished = programs.right(
      program, programs.elf + " | " + programs.elf + " work | " + programs.elf + " idle",
      "--set program.clients=3 --set program.server=tally --set 'program.beside=" + other + " " +
          other + "'");
  CHECK(finished.says("vector_add: all right"));
  CHECK(finished.says("client work: 4 rounds right"));
  CHECK(programs.clients()[2].at("messages").to_number<uint64_t>() == 0);
}

TEST_CASE("a set waits for the copy before it, alone and under the server") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "set_behind.c");
  for (const std::string server : {"none", "no-scheduling", "tally"})
    CHECK(programs.right(program, "", "--set program.server=" + server).says("sets behind copies"));
}

TEST_CASE("files of clients and libraries to preload lie beside the workload that names them") {
  const Programs programs;
  for (const std::string source : {"client.c", "vector_add.c", "interposer.c"})
    compile(programs.scratch, source);
  const std::string workload = programs.scratch.path + "/two.yaml";
  std::ofstream(workload)
      << "machine: t3\nset: {gpus: 1}\nmodes: [mmio]\nprogram:\n  file: client.c.so\n"
         "  beside: vector_add.c.so\n  preload: interposer.c.so\n"
         "  server: tally\n  arguments: "
      << programs.elf << " work | " << programs.elf << "\n";
  const Finished finished = run_stretto(
      "run " + workload + " --set gpu.cus=8 --impl all=model --out " + programs.scratch.path + "/r",
      "timeout 200");
  INFO(finished.output);
  CHECK(finished.status == 0);
  CHECK(finished.says("client work: 4 rounds right"));
  CHECK(finished.says("vector_add: all right"));
  CHECK(finished.says("interposer: cudaMalloc of "));
}

// Stores and loads of host memory at one time: whose is first is decided by number, not by who else waits.
TEST_CASE("what three clients and their server do at one time depends on no window") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "client.c");
  std::set<std::string> digests;
  for (const char* const ns : {"0", "1"}) {
    programs.right(program, programs.elf + " work",
                   "--set program.clients=3 --set program.server=no-scheduling "
                   "--set sim.window_ns=" +
                       std::string(ns));
    digests.insert(programs.results().at("digest").as_string().c_str());
  }
  CHECK(digests.size() == 1);
}

TEST_CASE("the server gets the ELF of a library when the program loads it, and transforms it",
          "[TL-ARCH-01][TL-VIRT-02]") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "client.c");
  programs.right(program, programs.elf + " work",
                 "--set program.server=tally --set program.high_priority=0");
  const boost::json::value job = programs.results().at("job");
  CHECK(job.at("server").at("refused").as_array().empty());
  CHECK(job.at("server").at("refused_launches").to_number<uint64_t>() == 0);
}

TEST_CASE("the policy behind which programs run is theirs to set, and results say what it did") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "client.c");
  const auto served = [&](const std::string& set) {
    const Finished finished =
        programs.right(program, programs.elf + " work",
                       "--set program.server=tally --set program.high_priority=0" + set);
    // Six arguments, four launches of each: two as it is, then its candidates.
    CHECK(finished.says("still measured, form and size not chosen: scale"));
    return programs.results().at("job").at("server");
  };
  const auto number = [](const boost::json::value& server, const char* key) {
    return server.at(key).to_number<uint64_t>();
  };
  const boost::json::value two = served("");
  CHECK(number(two, "launches") == 24);
  CHECK(number(two, "originals") == 12);
  CHECK(number(two, "tasks") + number(two, "slices") > 0);
  const boost::json::value laws = programs.results().at("audit").at("laws");
  for (const char* const law :
       {"work-groups that were not launched once", "task counters not in tasks .. tasks + workers",
        "best-effort launches while high priority was active"})
    CHECK(laws.at(law).at("checked").to_number<uint64_t>() == 1);
  CHECK(number(served(" --set program.profile_warm_up_iterations=10"), "originals") == 24);
}

TEST_CASE("calls that need no more than the client knows take no message and no time",
          "[TL-VIRT-04]") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "client.c");
  const auto of = [&](const std::string& what) {
    const Finished finished =
        programs.right(program, programs.elf + " " + what, "--set program.server=no-scheduling");
    const boost::json::value client = programs.clients()[0];
    return std::make_tuple(client.at("messages").to_number<uint64_t>(),
                           client.at("calls_answered_by_client").to_number<uint64_t>(),
                           time_of(finished));
  };
  const auto [few, answered_few, time_few] = of("work");
  const auto [many, answered_many, time_many] = of("devices");
  CHECK(few == many);
  CHECK(answered_many == answered_few + 4000);
  CHECK(time_few == time_many);
}

// Requests as an inference makes them: bytes in, kernels, bytes out. Of 60 kernels of 4 us, of 6, and of 6 with 32 KiB
// either way. What is left is the client's copy of the first piece, and the server's share of each message.
TEST_CASE("forwarding alone costs at most 4 percent of a program's time", "[TL-VIRT-05]") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "client.c");
  for (const std::string request : {"10 60 512", "10 6 512", "10 6 4096"}) {
    const std::string arguments = programs.elf + " work " + request;
    const double alone = time_of(programs.right(program, arguments, ""));
    const double served =
        time_of(programs.right(program, arguments, "--set program.server=no-scheduling"));
    INFO(request << ": " << alone << " ns alone, " << served << " ns forwarded");
    CHECK(served < 1.04 * alone);
  }
}

// Events are noted by the GPU: a server that is busy with messages does not see when the first one is done.
TEST_CASE("events behind the server stand where the GPU was, as those of a program alone",
          "[TL-VIRT-01]") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "vector_add.c");
  const auto us = [&](const std::string& options) {
    const Finished finished = programs.right(program, programs.elf + " row", options);
    const std::string before = "16 kernels in a row: ";
    const size_t at = finished.output.find(before);
    REQUIRE(at != std::string::npos);
    return std::stod(finished.output.substr(at + before.size()));
  };
  const double alone = us("");
  for (const std::string& server : kServers) {
    const double served = us("--set program.server=" + server);
    INFO(server << ": " << served << " us, alone " << alone);
    CHECK(std::abs(served / alone - 1) < 0.1);
  }
}

TEST_CASE("clients that cannot be are refused in one line") {
  const Programs programs;
  const std::string program = compile(programs.scratch, "client.c");
  const auto refused = [&](const std::string& options, const std::string& why) {
    const Finished finished = programs.run(program, programs.elf + " work", options);
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says(why));
  };
  refused("--set program.clients=2", "has 2 clients and no server");
  refused("--set program.clients=11 --set program.server=tally", "program.clients");
  refused("--set program.server=mps", "program.server");
  refused("--set program.server=tally --set gpus=2", "clients share one GPU; this job has 2");
  refused("--set program.server=tally --set program.beside=nowhere.so", "nowhere.so: no such file");
  refused("--set program.server=tally --set program.arguments='work|work'",
          "'work|work': | between those of clients has spaces around it");
}
