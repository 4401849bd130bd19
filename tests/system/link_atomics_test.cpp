// SPDX-License-Identifier: Apache-2.0
// Question: do atomics of kernels on words of the host and of a peer count once each, whoever asks, and
// take what PCIe says? Four GPUs and a host on one PCIe switch; {add of 8, of 4 bytes, swap} x {host's
// word, a peer's uncached, a peer's shared one}. What links do not carry is refused in words, and a
// lock that nobody gives back is a deadlock.
#include <catch2/catch.hpp>

#include "tests/system/compile.h"

using namespace stretto::test;

namespace {

constexpr unsigned kGpus = 4, kWavefronts = 6;  // LINK_GROUPS x LINK_WAVEFRONTS.

class Program {
 public:
  Finished run(const std::string& what, const std::string& options = "--impl all=model",
               const std::string& machine = "v100-pcie") const {
    return run_stretto("run " + object_ + " --machine " + machine + " --set gpus=" +
                           std::to_string(kGpus) + " --set gpu.cus=8 --set program.arguments='" +
                           kernels_ + " " + what + "' " + options + " --out " + out(),
                       "timeout 100");
  }
  boost::json::value right(const std::string& what,
                           const std::string& options = "--impl all=model") const {
    const Finished finished = run(what, options);
    INFO(what << " " << options << "\n" << finished.output);
    CHECK(finished.status == 0);
    CHECK(finished.says(what.substr(0, what.find(' ')) + ": right"));
    const boost::json::value all = stats(out());
    CHECK(all.at("audit").at("violations").to_number<uint64_t>() == 0);
    return all;
  }
  std::string out() const { return scratch_.path + "/r"; }

 private:
  const Scratch scratch_;
  const std::string object_ = compile(scratch_, "link_atomics.c");
  const std::string kernels_ = compile_kernel(scratch_, "link_atomics_kernel.c", "link_atomics");
};

uint64_t number(const boost::json::value& all, const std::string& path) {
  const boost::json::object& statistics = all.at("statistics").as_object();
  const auto found = statistics.find(path);
  INFO(path);
  REQUIRE(found != statistics.end());
  return found->value().to_number<uint64_t>();
}

}  // namespace

TEST_CASE("adds of four GPUs to a word of the host or of a peer count once each", "[CN-HOST-03]") {
  const Program program;
  for (const char* const where : {"host", "uncached", "shared"}) {
    program.right(std::string("add ") + where + " 4");
    program.right(std::string("add_w ") + where + " 3");
    program.right(std::string("swap ") + where + " 3");
    program.right(std::string("cas ") + where + " 2");
  }
}

TEST_CASE("what a GPU has stored at a peer is there when its atomic behind it is seen") {
  Program().right("messages uncached 4");
}

TEST_CASE("atomics are the same for RTL and models, windows and threads") {
  const Program program;
  const std::string what = "add host 4";
  const boost::json::value first = program.right(what);
  for (const char* const options :
       {"--impl all=rtl", "--impl all=lockstep", "--impl all=model --set sim.threads=1",
        "--impl all=model --set sim.window_ns=50"}) {
    INFO(options);
    CHECK(program.right(what, options).at("digest") == first.at("digest"));
  }
}

TEST_CASE("an add takes 24 and 8 bytes of PCIe there, 20 and 8 back") {
  const Program program;
  const boost::json::value few = program.right("add host 2"), more = program.right("add host 7");
  const auto grown = [&](const std::string& path) {
    return number(more, path) - number(few, path);
  };
  const uint64_t atomics = 5 * kWavefronts;  // Of a GPU.
  for (unsigned gpu = 0; gpu < kGpus; ++gpu) {
    const std::string port = "gpu" + std::to_string(gpu) + ".router.port0.";
    CHECK(grown(port + "atomics_sent") == atomics);
    CHECK(grown(port + "header_bytes") == 24 * atomics);
    CHECK(grown(port + "bytes_sent") == 8 * atomics);
    CHECK(grown(port + "bytes_received") == 8 * atomics);
  }
  CHECK(grown("host.pcie0.atomics_received") == kGpus * atomics);
  CHECK(grown("host.pcie0.header_bytes") == 20 * kGpus * atomics);
  CHECK(grown("host.pcie0.bytes_sent") == 8 * kGpus * atomics);
}

TEST_CASE("what a link does not carry is refused, and named with what it does") {
  const Program program;
  const Finished other = program.run("xor host 1");
  INFO(other.output);
  CHECK(other.status == 1);
  CHECK(other.says("a peer or the host executes PCIe AtomicOps alone: amoadd"));
  const Finished device = program.run("device host 1");
  INFO(device.output);
  CHECK(device.status == 1);
  CHECK(device.says("an atomic on a peer or the host has system scope"));
}

TEST_CASE("an atomic on a DMA card, which executes none, is answered so and faults") {
  const Program program;
  const Finished finished = program.run("refused card 1", "--impl all=model", "v100-pcie-fpga");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("gpu1 cu0"));
  CHECK(finished.says("bus_error"));
  CHECK(finished.says("there is no word, or nothing that executes an atomic on it"));
  const boost::json::value all = stats(program.out());
  CHECK(number(all, "card1.router.port0.atomics_received") == 2);  // Of each wavefront.
  CHECK(number(all, "card1.router.port0.atomics_refused") == 2);
}

TEST_CASE("a lock of the host that nobody gives back is a deadlock") {
  const Program program;
  const Finished finished =
      program.run("spin host 1", "--impl all=model --set sim.progress_limit_us=200");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("deadlock"));
  CHECK(finished.says("polls over the network that bring nothing new"));
  CHECK(finished.says(": swap of 0xff0001100000 has brought 0x1 "));
}

TEST_CASE("an atomic that is executed twice, or not written, is noticed") {
  const Program program;
  const Finished twice =
      program.run("add host 4", "--impl all=model --set pcie.fault.repeat_atomic=5");
  INFO(twice.output);
  CHECK(twice.status == 1);
  const Finished lost =
      program.run("add host 4", "--impl all=model --set pcie.fault.lose_atomic=5");
  INFO(lost.output);
  CHECK(lost.status == 1);
  CHECK(lost.says("wrong: value 5 of 96 that atomics found is 4"));
}
