// SPDX-License-Identifier: Apache-2.0
// Programs that this project does not ship, written for nccl.h and cuda_runtime.h, compiled by the
// system's compiler as users do: right data with every engine, in C and C++; and what goes wrong in
// one is said in words, with nothing moved: ranks that do not agree, a buffer that is too short, a
// rank that never calls, a file that is none. Their calls are found as on Linux: a library that is preloaded
// comes before libstretto_cudart.so, and the simulator itself has none.
#include <elf.h>

#include <catch2/catch.hpp>

#include <fstream>

#include "tests/system/compile.h"

using namespace stretto::test;

namespace {

Finished run(const Scratch& scratch, const std::string& source, const std::string& arguments,
             const std::string& prefix = "") {
  return run_stretto("run " + compile(scratch, source) + " --set gpu.cus=8 " + arguments +
                         " --out " + scratch.path + "/r",
                     prefix);
}

void right(const std::string& source, const std::string& arguments, const std::string& says) {
  const Scratch scratch;
  const Finished finished = run(scratch, source, arguments);
  INFO(arguments << "\n" << finished.output);
  CHECK(finished.status == 0);
  CHECK(finished.says(says));
  CHECK(stats(scratch.path + "/r").at("audit").at("violations").to_number<int>() == 0);
}

void wrong(const std::string& what, int status, const std::vector<std::string>& says) {
  const Scratch scratch;
  const Finished finished =
      run(scratch, "devices.c", "--set gpus=3 --set program.arguments=" + what);
  INFO(what << "\n" << finished.output);
  CHECK(finished.status == status);
  for (const std::string& one : says) CHECK(finished.says(one));
  const boost::json::value root = stats(scratch.path + "/r");
  CHECK(root.at("status").as_string() == "failed");
  CHECK(root.at("link_bytes").to_number<uint64_t>() == 0);
}

}  // namespace

TEST_CASE("a C program adds up what all devices have") {
  right("devices.c", "--set gpus=4 --mode mmio", "sum over 4 devices is right");
  right("devices.c", "--set gpus=4 --mode gdma", "sum over 4 devices is right");
  right("devices.c", "--set gpus=1", "sum over 1 devices is right");
  right("devices.c", "--set gpus=4 --mode dma", "sum over 4 devices is right");
  right("devices.c", "--set gpus=4 --mode t3", "sum over 4 devices is right");
}

TEST_CASE("a C++ program transposes a matrix over all devices") {
  right("transpose.cpp", "--set gpus=5 --mode mmio", "transposed on 5 devices");
  right("transpose.cpp", "--set gpus=3 --mode gdma", "transposed on 3 devices");
  right("transpose.cpp", "--machine a100-nvswitch --set gpus=4 --mode gdma",
        "transposed on 4 devices");
  right("transpose.cpp", "--set gpus=3 --mode dma", "transposed on 3 devices");
  right("transpose.cpp", "--machine a100-nvswitch --set gpus=4 --mode dma",
        "transposed on 4 devices");
}

TEST_CASE("ranks with different counts get a sentence and nothing moves") {
  wrong(
      "count", 1,
      {"rank 0 asks for all_reduce of 5003 float32 sum, rank 1 for all_reduce of 17 float32 sum"});
}
TEST_CASE("ranks with different operations get a sentence and nothing moves") {
  wrong("op", 1, {"5003 float32 sum, rank 1 for all_reduce of 5003 float32 max"});
}
TEST_CASE("a buffer that is too short is refused") {
  wrong("buffer", 1, {"rank 1: sendbuff", "20012 bytes are not allocated on device 1"});
}
TEST_CASE("a communicator whose ranks have no link to the next is refused") {
  for (const std::string engine : {"mmio", "gdma", "dma", "t3"})
    wrong("some --set gpus=4 --mode " + engine, 1,
          {"ranks 2 and 0 of 3 are on GPUs 2 and 0, which have no link"});
  right("devices.c", "--set program.arguments=some --machine a100-nvswitch --set gpus=4",
        "sum over 3 devices is right");
}
TEST_CASE("a rank that never calls is named by those who wait for it") {
  wrong("absent", 1,
        {"deadlock",
         "rank 0, collective 1, all_reduce of 5003 float32 sum: waits for rank 2 to call"});
}

TEST_CASE("a device's memory is not the host's, and the run says so") {
  wrong("touch", 1,
        {"main() used address 0x",
         "where the host has no memory; what cudaMalloc gives is a device's"});
}
TEST_CASE("a thread that a program makes has no calls") {
  right("devices.c", "--set gpus=2 --set program.arguments=thread",
        "a thread of its own: called from another thread than that of main()");
  right("devices.c", "--set gpus=2 --set program.arguments=thread",
        "cudaMalloc there: 1, called from another thread than that of main()");
}

TEST_CASE("misuse of communicators is refused in words, and a run that it ends says so") {
  const struct {
    const char* what;
    int status;
    std::vector<std::string> says;
  } cases[] = {
      {"none", 0, {"end 0", "destroy 0"}},
      {"stack", 0, {"destroy 0"}},
      {"exit",
       1,
       {"failed: ", "misuse.c.so: the program called exit(0); it must return from main()"}},
      {"_exit",
       1,
       {"failed: ", "misuse.c.so: the program called exit(0); it must return from main()"}},
      {"assert", 1, {"failed: ", "misuse.c.so: main() aborted: abort() or an assertion"}},
      {"divide", 1, {"failed: ", "misuse.c.so: main() divided by zero"}},
      {"recurse", 1, {"failed: ", "misuse.c.so: main() ran out of stack (8 MiB)"}},
      {"thread",
       1,
       {"failed: ", "misuse.c.so: a thread that the program made: Segmentation fault"}},
      {"above", 1, {"failed: ", "misuse.c.so: main() used address 0x", "above its stack"}},
      {"open", 1, {"main() returned inside a group: ncclGroupEnd is missing"}},
      {"type", 0, {"end 4 all_reduce: data type 77"}},
      {"abort",
       0,
       {"abort 5 ncclCommAbort: rank 1, collective 1, all_reduce of 16 float32 sum waits for the "
        "end of its group",
        "end 0"}},
      {"twice",
       0,
       {"again 4 ncclCommDestroy: no communicator", "count 4 ncclCommCount: no communicator"}},
  };
  for (const auto& [what, status, says] : cases) {
    for (const std::string engine : {"mmio", "dma"}) {
      if (engine == "dma" && says[0] == "failed: ") continue;  // It has no communicator.
      const Scratch scratch;
      const Finished finished =
          run(scratch, "misuse.c",
              "--set gpus=2 --mode " + engine + " --set program.arguments=" + what);
      INFO(what << " " << engine << "\n" << finished.output);
      CHECK(finished.status == status);
      for (const std::string& one : says) CHECK(finished.says(one));
      CHECK(stats(scratch.path + "/r").at("status").as_string() ==
            (status == 0 ? "complete" : "failed"));
    }
  }
}

TEST_CASE("a program that lets no time pass is stopped, and what there is of results is kept") {
  // In its own code, in a call that takes no time, in the operating system.
  for (const std::string what : {"spin", "clock", "sleep"}) {
    const Scratch scratch;
    const std::string options = "--set gpus=2 --set program.arguments=" + what;
    const Finished late = run(scratch, "misuse.c", options + " --time-limit 1");
    INFO(what << "\n" << late.output);
    CHECK(late.status == 124);
    CHECK(stats(scratch.path + "/r").at("status").as_string() == "time limit");
    std::filesystem::remove_all(scratch.path + "/r");
    const Finished ended =
        run(scratch, "misuse.c", options, "timeout --preserve-status -k 20 -s TERM 1");
    INFO(ended.output);
    CHECK(ended.status == 143);
    CHECK(stats(scratch.path + "/r").at("status").as_string() == "interrupted");
    CHECK(stats(scratch.path + "/r").at("statistics").as_object().size() > 1000);
  }
}

TEST_CASE(
    "a buffer in use is not freed: before the group ends nothing moves, behind it data are right") {
  wrong(
      "pending", 1,
      {"cudaFree", "on device 0 is in use: rank 0, collective 1, all_reduce of 5003 float32 sum"});
  for (const std::string mode : {"mmio", "gdma", "dma", "t3"}) {
    const Scratch scratch;
    const Finished finished = run(
        scratch, "devices.c", "--set gpus=3 --mode " + mode + " --set program.arguments=flight");
    INFO(mode << "\n" << finished.output);
    CHECK(finished.status == 0);
    CHECK(
        finished.says("on device 1 is in use: rank 1, collective 1, all_reduce of 5003 float32 "
                      "sum; wait for its stream first"));
    CHECK(finished.says("sum over 3 devices is right"));
  }
}
TEST_CASE("a group holds several collectives of a communicator, with every engine") {
  for (const std::string mode : {"mmio", "gdma", "dma", "t3"})
    right("devices.c", "--set gpus=3 --set program.arguments=twice --mode " + mode,
          "sum over 3 devices is right");
}
TEST_CASE("freed memory gives its range back") {
  right("devices.c", "--set gpus=1 --set program.arguments=many", "sum over 1 devices is right");
}
TEST_CASE("a program times its calls by the machine's clock") {
  right("timing.c", "--set gpus=4 --mode gdma", "done after");
  right("real_clock.cpp", "--set gpus=1 --set program.arguments=machine", "slept 12345 ns");
}
TEST_CASE("a program that reads the real clock is ended and the call is named") {
  const std::pair<std::string, std::string> clocks[] = {{"steady", "clock_gettime"},
                                                        {"system", "clock_gettime"},
                                                        {"clock_gettime", "clock_gettime"},
                                                        {"gettimeofday", "gettimeofday"},
                                                        {"timespec_get", "timespec_get"},
                                                        {"time", "time"},
                                                        {"clock", "clock"}};
  for (const auto& [clock, call] : clocks) {
    const Scratch scratch;
    const Finished finished =
        run(scratch, "real_clock.cpp", "--set gpus=1 --set program.arguments=" + clock);
    INFO(clock << "\n" << finished.output);
    CHECK(finished.status == 1);
    CHECK(finished.says("real_clock.cpp.so: the program read the real clock, " + call +
                        "(); its time is that of the machine"));
    CHECK_FALSE(finished.says("read " + clock + "\n"));
  }
}

TEST_CASE("a call that would act on the simulator ends the program and is named") {
  const std::string shared = "it has no process of its own, but that of the simulator";
  for (const char* const call :
       {"alarm", "setitimer", "chdir", "fork", "execl", "execv", "pthread_exit", "signal",
        "sigaction", "sigprocmask", "pthread_sigmask", "sigaltstack", "sigsuspend", "sigwait",
        "raise", "kill", "pthread_kill"}) {
    const Scratch scratch;
    const Finished finished =
        run(scratch, "ends.cpp", std::string("--set gpus=1 --set program.arguments=") + call);
    INFO(call << "\n" << finished.output);
    CHECK(finished.status == 1);
    CHECK(finished.says(std::string("ends.cpp.so: the program called ") + call + "(): " +
                        (call == std::string("pthread_exit") ? "main() must return" : shared)));
    CHECK_FALSE(finished.says("main() has ended"));
  }
}
TEST_CASE("such a call is found in a thread that the program made, and where main() ends with it") {
  const Scratch scratch;
  const Finished thread = run(scratch, "ends.cpp", "--set gpus=1 --set program.arguments=raises");
  INFO(thread.output);
  CHECK(thread.status == 1);
  CHECK(thread.says("ends.cpp.so: a thread that the program made: called raise(): it has no"));
  const std::string source =
      scratch.file("last.c", "#include <signal.h>\nint main(void) { return raise(SIGUSR1); }\n");
  command_succeeds("cc -O2 -shared -fPIC -o " + scratch.path + "/last.so " + source);
  const Finished last =
      run_stretto("run " + scratch.path + "/last.so --set gpus=1 --out " + scratch.path + "/last");
  INFO(last.output);
  CHECK(last.status == 1);
  CHECK(last.says("last.so: the program called raise(): it has no process of its own"));
}
TEST_CASE("what runs behind main() belongs to the program") {
  right("ends.cpp", "--set gpus=1", "destroyed");
  right("ends.cpp", "--set gpus=1 --set program.arguments=joined", "destroyed");
  for (const auto& [way, cause] :
       {std::pair{"destructor", "aborted"}, {"atexit", "used address 0x8"}}) {
    const Scratch scratch;
    const Finished finished =
        run(scratch, "ends.cpp", std::string("--set gpus=1 --set program.arguments=") + way);
    INFO(way << "\n" << finished.output);
    CHECK(finished.status == 1);
    CHECK(finished.says(std::string("what runs behind main() (a destructor, atexit()) ") + cause));
    CHECK(finished.says("results  "));
  }
}
TEST_CASE("a thread that main() leaves behind ends with the process") {
  const Scratch scratch;
  const Finished finished = run(scratch, "ends.cpp", "--set gpus=1 --set program.arguments=thread");
  INFO(finished.output);
  CHECK(finished.status == 0);
  CHECK(finished.says("main() has ended"));
  CHECK_FALSE(finished.says("destroyed"));
}

TEST_CASE("a library that is preloaded sees a program's calls and hands them on") {
  const Scratch scratch;
  const std::string library = compile(scratch, "interposer.c");
  for (const std::string& prefix : {std::string(), "env LD_PRELOAD=" + library}) {
    const Finished finished =
        run(scratch, "devices.c", "--set gpus=2" + (prefix.empty() ? " --preload " + library : ""),
            prefix);
    INFO(prefix << "\n" << finished.output);
    CHECK(finished.status == 0);
    CHECK(finished.says("interposer: cudaMalloc of 20012 bytes gave 0"));
    CHECK(finished.says("sum over 2 devices is right"));
  }
  const Finished alone = run(scratch, "devices.c", "--set gpus=2");
  CHECK(alone.status == 0);
  CHECK_FALSE(alone.says("interposer"));
}
TEST_CASE("the simulator exports no call of cuda_runtime.h and nccl.h") {
  const Finished simulator = run_command("nm -D --defined-only " STRETTO_BUILD_DIR "/stretto");
  CHECK(simulator.says(" T exit"));
  CHECK_FALSE(simulator.says(" cuda"));
  CHECK_FALSE(simulator.says(" nccl"));
}
TEST_CASE("what cannot be preloaded is refused in one line") {
  const Scratch scratch;
  const std::string program = compile(scratch, "devices.c");
  const auto refused = [&](const std::string& arguments, const std::string& why) {
    const Finished finished = run_stretto("run " + arguments);
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says(why));
  };
  refused(program + " --preload " + scratch.path + "/none.so", "none.so: no such file");
  refused(program + " --preload " + scratch.file("text.so", "no ELF"),
          "text.so: is no ELF file; a library to preload is a shared object");
  std::filesystem::copy(compile(scratch, "interposer.c"), scratch.path + "/a:b.so");
  refused(program + " --preload " + scratch.path + "/a:b.so",
          "a:b.so: the name of a library to preload must not hold spaces or colons");
  refused(program + " --preload " + program,
          "devices.c.so: has main(): it is a program, for program.file");
  refused("t3/small --preload " + program, "program.preload is a key of workloads of kind program");
}
TEST_CASE("engine t3 says what it can do") {
  const Scratch scratch;
  const Finished finished = run(scratch, "transpose.cpp", "--set gpus=3 --mode t3");
  INFO(finished.output);
  CHECK(finished.status == 1);
  CHECK(finished.says("engine t3: only all_reduce and reduce_scatter with reduction sum"));
}

TEST_CASE("what is no program is refused in one line") {
  const Scratch scratch;
  const auto refused = [](const std::string& file, const std::string& why) {
    const Finished finished = run_stretto("run " + file);
    INFO(finished.output);
    CHECK(finished.status == 2);
    CHECK(finished.lines() == 1);
    CHECK(finished.says(why));
  };
  refused(scratch.path + "/none.so", "none.so: no such file");
  refused(scratch.file("text.so", "no ELF"), "text.so: is no ELF file");
  scratch.file("empty.c", "int other(void) { return 0; }\n");
  REQUIRE(
      run_command("cc -shared -fPIC -o " + scratch.path + "/empty.so " + scratch.path + "/empty.c")
          .status == 0);
  refused(scratch.path + "/empty.so", "has no main()");
}

// What the headers promise is there, and the table of what the loader needs is not.
TEST_CASE("a program with a damaged table is refused in one line") {
  const Scratch scratch;
  const std::string object = compile(scratch, "devices.c");
  std::fstream file(object, std::ios::in | std::ios::out | std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  Elf64_Phdr segment{};
  for (unsigned i = 0; segment.p_type != PT_DYNAMIC; ++i) {
    REQUIRE(i < header.e_phnum);
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * sizeof segment));
    file.read(reinterpret_cast<char*>(&segment), sizeof segment);
  }
  Elf64_Dyn entry{};
  for (unsigned i = 0; entry.d_tag != DT_STRTAB; ++i) {
    REQUIRE(i < segment.p_filesz / sizeof entry);
    file.seekg(static_cast<std::streamoff>(segment.p_offset + i * sizeof entry));
    file.read(reinterpret_cast<char*>(&entry), sizeof entry);
  }
  entry.d_un.d_ptr = 0x4141'4141'4141;
  file.seekp(-static_cast<std::streamoff>(sizeof entry), std::ios::cur);
  file.write(reinterpret_cast<const char*>(&entry), sizeof entry);
  file.close();
  const Finished finished = run_stretto("run " + object);
  INFO(finished.output);
  CHECK(finished.status == 2);
  CHECK(finished.lines() == 1);
  CHECK(finished.says("devices.c.so: damaged: the loader fails on it"));
}
