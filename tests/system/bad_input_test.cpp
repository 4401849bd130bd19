// SPDX-License-Identifier: Apache-2.0
// Whatever a user gets wrong ends in one clear line and the right exit status, and nothing is lost:
// unknown keys, wrong types, ranges, names, ELFs, folders, signals, time limits (issue "Bad
// input").
#include <sys/stat.h>

#include <algorithm>
#include <csignal>

#include <catch2/catch.hpp>

#include "tests/system/process.h"

using namespace stretto::test;

namespace {

// One line, exit 2, and the line says what it must.
void bad(const std::string& arguments, const std::vector<std::string>& says,
         const std::string& prefix = "timeout 60") {
  const Finished run = run_stretto(arguments, prefix);
  INFO(arguments << " -> " << run.status << ": " << run.output);
  CHECK(run.status == 2);
  // The console of the command processors is the machine's; what stretto says is one line.
  size_t own = run.lines();
  for (size_t at = run.output.find("firmware: "); at != std::string::npos;
       at = run.output.find("firmware: ", at + 1)) {
    if (at == 0 || run.output[at - 1] != '-') --own;
  }
  CHECK(own == 1);
  for (const std::string& text : says) CHECK(run.says(text));
}

const std::string kShort = "run t3/small --mode gemm --impl all=model ";

}  // namespace

TEST_CASE("an unknown parameter names itself and its nearest neighbours") {
  bad(kShort + "--set hbm.chanels=4",
      {"--set hbm.chanels=4", "unknown parameter 'hbm.chanels'", "hbm.channels"});
}

TEST_CASE("a wrong type and a value out of range name what is allowed") {
  bad(kShort + "--set gpus=few", {"gpus = 'few'", "1..32"});
  bad(kShort + "--set gpus=33", {"gpus = '33'", "1..32"});
  bad(kShort + "--set gpus", {"must be path.to.key=value"});
}

TEST_CASE("a wrong key in a machine file is named with file and line") {
  const Scratch scratch;
  const std::string file = scratch.file("mine.yaml", "extends: t3\ngpu:\n  cu: 3\n");
  bad(kShort + "--machine " + file, {"mine.yaml:3", "gpu.cu", "gpu.cus"});
}

TEST_CASE("a machine that a file names and nobody has is named with file and line") {
  const Scratch scratch;
  bad("run " + scratch.file("w.yaml", "modes: [t3]\nmachine: t4\nsub_layer: {m: 1, n: 1, k: 1}\n"),
      {"w.yaml:2", "unknown machine 't4'", "t3"});
  bad(kShort + "--machine " + scratch.file("m.yaml", "gpus: 4\nextends: m\n"),
      {"m.yaml:2", "unknown machine 'm'"});
}

TEST_CASE("unknown workloads, machines, modes, blocks, commands and options are named") {
  bad("run t3/smal", {"t3/smal", "t3/small"});
  bad("run t3/small --machine t4", {"t4", "t3"});
  bad(kShort + "--set hbm.fault.timing_rule=tXY", {"no rule 'tXY'", "tCCD_L, ", "tRCDRD, "});
  bad(kShort + "--set l2.banks=3", {"l2.bytes = 16777216", "l2.ways = 16", "l2.banks = 3"});
  bad("run t3/small --mode fast", {"fast", "sequential"});
  bad("run t3/small --impl nic=rtl", {"nic"});
  bad("run t3/small --impl mca=fpga", {"rtl|model|lockstep"});
  bad("rn t3/small", {"unknown command 'rn'",
                      "run, show, reproduce, characterise, sweep, list, report or compare"});
  bad("run t3/small --fast", {"--fast"});
  bad("run t3/small --data random", {"stamp or real"});
  bad("list planets", {"planets"});
  bad("list", {"needs a topic", "machines, workloads, modes, reproductions, blocks or parameters"});
  bad("reproduce t5", {"t5", "t3, gpu-driven, collectives, silicon, kitsune, tally or compnet"});
  bad("reproduce gpu-driven --cases tnlg", {"--cases", "only of reproduce t3"});
  bad("reproduce collectives --figure 4", {"--figure", "collectives has none"});
  bad("reproduce t3 --machines ,", {"--machines", "at least one"});
  bad("report /nowhere", {"/nowhere/stats.json"});
}

TEST_CASE("a firmware that is missing, truncated, empty or for another machine is named") {
  const Scratch scratch;
  bad("run --firmware " + scratch.path + "/none.elf", {"none.elf"});
  bad("run --firmware " + scratch.file("empty.elf", ""), {"empty.elf"});
  bad("run --firmware " + scratch.file("text.elf", std::string(4096, 'x')), {"text.elf"});
  bad("run --firmware /bin/true", {"/bin/true"});
  std::ifstream stream(STRETTO_BUILD_DIR "/sw/firmware/main.elf", std::ios::binary);
  std::ostringstream whole;
  whole << stream.rdbuf();
  if (whole.str().size() > 2000) {
    bad("run --firmware " + scratch.file("half.elf", whole.str().substr(0, whole.str().size() / 2)),
        {"half.elf"});
  }
}

TEST_CASE(
    "a kernel that no compute unit can hold, a file that is no kernel and too little memory are "
    "named") {
  // gemm.c: 64 KiB of accumulator, 8 row tiles of 4 KiB, 8 x 2 KiB of scalar registers; 32 KiB.
  bad(kShort + "--set gpu.registers_bytes=65536",
      {"kernel needs more than a compute unit has: 114688 bytes of registers, it has 65536"});
  bad(kShort + "--set gpu.lds_bytes=16384", {"32768 bytes of LDS, it has 16384"});
  bad(kShort + "--set software.gemm=nothing", {"nothing.elf", "./nothing"});
  bad(kShort + "--set software.gemm=own.elf", {"a file of your own", "./own.elf"});
  bad(kShort + "--set software.gemm=/bin/true", {"/bin/true: kernel ELF: not for RISC-V"});
  const Scratch scratch;
  bad(kShort + "--set software.gemm=" +
          scratch.file("cut.elf",
                       "\x7f"
                       "ELF"),
      {"cut.elf: kernel ELF: truncated header"});
  bad(kShort + "--set software.gemm=ring", {"kernels/ring.elf", "no kernel gemm_128x128"});
  bad("run t3/small --mode rs --impl all=model --set software.ring=gemm",
      {"kernels/gemm.elf", "no kernel ring_reduce_scatter"});
  bad("run t3/tnlg-fc2-tp8 --impl all=model --set sim.mirror=true --set software.memory_gib=1 "
      "--data real",
      {"sim.mirror"});
}

TEST_CASE("a program that is cut off or for another processor is refused before it is loaded") {
  const Scratch scratch;
  const std::string whole = scratch.path + "/whole.so", half = scratch.path + "/half.so";
  const std::string source = scratch.file("p.c", "int main(void) { return 0; }");
  const Finished built = run_command("cc -shared -fPIC -o " + whole + " " + source);
  REQUIRE(built.status == 0);
  for (const char* bytes : {"70", "1000", "5000", "12288"}) {
    REQUIRE(run_command("head -c " + std::string(bytes) + " " + whole + " > " + half).status == 0);
    bad("run " + half, {"half.so: truncated"});
  }
  const std::string other = scratch.path + "/gemm.so";
  std::filesystem::copy_file(STRETTO_BUILD_DIR "/sw/kernels/gemm.elf", other);
  bad("run " + other, {"gemm.so: is for another processor"});
  std::filesystem::create_directory(scratch.path + "/dir.so");
  bad("run " + scratch.path + "/dir.so", {"dir.so: is a directory"});
}

TEST_CASE("parameters that take away what a mode computes with are refused by name") {
  bad("run t3/small --mode t3 --set hbm.updates=none", {"hbm.updates=none"});
  bad("run collectives/all_reduce --mode t3 --set hbm.updates=none", {"hbm.updates=none"});
  bad("run t3/small --mode sequential --set gpu.tile_values=false", {"gpu.tile_values=false"});
  bad("run t3/small --mode t3 --data real --set gpu.tile_values=false", {"gpu.tile_values=false"});
  bad("run t3/small --mode t3 --set software.split_k=3", {"software.gemm=gemm_split"});
  bad("run t3/small --mode t3 --set host.cores=1", {"host.cores (1)", "at least 2"});
}

TEST_CASE("an output folder that cannot be written ends the run before it begins") {
  bad(kShort + "--out /proc/nothing", {"/proc/nothing"});
  const Scratch scratch;
  bad(kShort + "--out " + scratch.file("file", "in the way") + "/deeper", {"file/deeper"});
}

TEST_CASE("a full disk is one line and exit 2") {
  const Scratch scratch;
  const std::string small = scratch.path + "/small";
  std::filesystem::create_directories(small);
  // Needs a file system of its own; without the right to mount, the size limit of the shell stands
  // in for it.
  const Finished run = run_stretto(kShort + "--out " + small, "ulimit -f 1; trap '' XFSZ; exec");
  INFO(run.output);
  CHECK(run.status == 2);
  CHECK(run.says(small + ": cannot be written"));
  CHECK_FALSE(std::filesystem::exists(small + "/stats.json"));
}

TEST_CASE("the summary is printed also when results cannot be written") {
  const Scratch scratch;
  // No file may grow beyond 8 KiB: the probe of the folder passes, stats.json does not.
  const Finished run =
      run_stretto(kShort + "--out " + scratch.path + "/small", "ulimit -f 8; trap '' XFSZ; exec");
  INFO(run.output);
  CHECK(run.status == 2);
  CHECK(run.says("complete"));
  CHECK(run.says("digest"));
  CHECK(run.says("small/stats.json: cannot be written"));
  CHECK_FALSE(std::filesystem::exists(scratch.path + "/small/stats.csv"));
  const Finished mute = run_stretto("list parameters > /dev/full");
  CHECK(mute.status == 2);
}

TEST_CASE(
    "parameters can be listed by group, and a group that is none is refused with those that are") {
  const Finished hbm = run_stretto("list parameters hbm");
  CHECK(hbm.status == 0);
  CHECK(hbm.says("hbm.channels"));
  CHECK_FALSE(hbm.says("\ngpu."));
  CHECK(run_stretto("list parameters collective").says("collective.min_bytes"));
  bad("list parameters hbm2", {"hbm2: no such group", "gpu, ", "hbm, ", "collective, "});
  bad("list machines hbm", {"list machines hbm"});
}

TEST_CASE("a directory, a pipe and an empty file are refused where a file is wanted") {
  const Scratch scratch;
  const std::string pipe = scratch.path + "/pipe.yaml";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  std::filesystem::create_directory(scratch.path + "/folder.yaml");
  for (const std::string& option : {std::string("run --firmware "), kShort + "--machine ",
                                    std::string("run "), kShort + "--set software.gemm="}) {
    bad(option + scratch.path + "/folder.yaml", {"folder.yaml", "is a directory"});
    bad(option + pipe, {"pipe.yaml", "not a regular file"});
  }
  bad(kShort + "--machine " + scratch.file("empty.yaml", ""), {"empty.yaml", "not a YAML map"});
  bad(kShort + "--set cp.uart=" + pipe, {"cp.uart", "pipe.yaml"});
  bad(kShort + "--out " + scratch.file("taken", "x"), {"taken"});
}

TEST_CASE("two runs do not write into one folder") {
  const Scratch scratch;
  const std::string out = scratch.path + "/one";
  bad(kShort + "--out " + out, {"another stretto is writing there"},
      "mkdir " + out + "; exec flock " + out);
}

TEST_CASE("a key that is there twice is an error with both lines") {
  const Scratch scratch;
  bad(kShort + "--machine " + scratch.file("twice.yaml", "extends: t3\ngpus: 4\ngpus: 8\n"),
      {"twice.yaml:3", "'gpus'", "line 2"});
  bad("run " + scratch.file("w.yaml", "modes: [t3]\nsub_layer:\n  m: 1\n  n: 1\n  k: 1\n  m: 2\n"),
      {"w.yaml:6", "'m'", "line 3"});
}

TEST_CASE("a stray comma, an alias and a file without end are refused at once") {
  const Scratch scratch;
  const std::string prefix = "ulimit -v 4000000; timeout 20";
  const auto refused = [&](const std::string& text, const std::vector<std::string>& says) {
    const std::string file = scratch.file("c.yaml", text);
    bad("run " + file, says, prefix);
    bad(kShort + "--machine " + file, says, prefix);
  };
  refused(", a\n", {"c.yaml: not a YAML map"});
  refused("modes: [t3]\n, b: 2\n", {"c.yaml:2"});
  refused("gpus: 2\n]\n", {"c.yaml:2"});
  refused("gpus: 2\n---\ngpus: 3\n", {"c.yaml:2", "a second document"});
  std::string bomb = "a: &a [x, x]\n";
  for (char name = 'b'; name <= 'z'; ++name) {
    bomb += std::string(1, name) + ": &" + name + " [*" + char(name - 1) + ", *" + char(name - 1) +
            "]\n";
  }
  refused(bomb, {"c.yaml:2", "an alias"});
  refused("a: " + std::string(100, '[') + std::string(100, ']'),
          {"c.yaml:1", "nested deeper than 16 levels"});
  std::string many;
  for (unsigned i = 0; i < 60'000; ++i) many.append("k").append(std::to_string(i)).append(": 1\n");
  refused(many, {"c.yaml:50000", "more than 100000 keys and values"});
  refused(std::string(5 << 20, '#'), {"c.yaml", "larger than 4 MiB"});
}

TEST_CASE("limits of the shell that are too low are one line") {
  bad(kShort, {"the stack may have 64 KiB", "raise ulimit -s"}, "ulimit -s 64; exec");
  bad(kShort, {"ulimit -v"}, "ulimit -v 300000; exec");
  for (const char* few : {"200000", "250000", "400000"})
    bad("run t3/small", {"ulimit -v"}, std::string("ulimit -v ") + few + "; exec");
  // There is not even the memory for the objects of libraries, or for libraries.
  for (unsigned kib = 18000; kib <= 22000; kib += 250) {
    const std::string few = std::to_string(kib);
    const Finished run = run_stretto("run t3/small", "ulimit -v " + few + "; exec");
    INFO(few << ": " << run.output);
    const bool of_loader = run.says("loading shared libraries") ||
                           run.says("cannot allocate TLS data structures") ||
                           run.says("Fatal glibc error: cannot allocate memory");
    if (run.status == 128 + SIGSEGV && run.output.empty()) {
      // glibc's loader dies itself at some sizes, before anything of a library runs.
      const Finished told =
          run_stretto("run t3/small", "ulimit -v " + few + "; LD_DEBUG=files exec");
      INFO(told.output);
      CHECK(told.says("generating link map"));
      CHECK_FALSE(told.says("calling init"));
      continue;
    }
    CHECK((run.status == 2 || (run.status == 127 && of_loader)));
    CHECK(run.lines() == 1);
  }
}

TEST_CASE("the address space of a run is that of its memory and few threads") {
  // Images of four GPUs and the host, 64 MiB each; four host programs and a worker, 8 MiB of stack
  // each; a heap of 64 MiB a thread that allocates. Blocks of RTL need no threads.
  const Scratch scratch;
  const Finished run =
      run_stretto("run t3/small --set sim.threads=2 --out " + scratch.path, "ulimit -v 1200000;");
  INFO(run.output);
  CHECK(run.status == 0);
}

TEST_CASE("a fault of a kernel names address, wavefront and function") {
  const Scratch scratch;
  const Finished run =
      run_stretto(kShort + "--set software.gemm=gemm_wild_store --out " + scratch.path);
  INFO(run.output);
  CHECK(run.status == 1);
  for (const char* part :
       {"failed: gpu", " wg ", " wf ", "unmapped_store at 0x", "dead00", ", in gemm_128x128+0x"})
    CHECK(run.says(part));
}

TEST_CASE("a run that a kernel's fault ends has the same time and phases whatever the window") {
  const Scratch scratch;
  const auto outcome = [&](const std::string& window_ns) {
    const Finished run = run_stretto(
        "run t3/small --mode t3 --impl all=model --set software.gemm=gemm_wild_store --out " +
        scratch.path + " --set sim.window_ns=" + window_ns);
    INFO(run.output);
    CHECK(run.status == 1);
    const auto all = stats(scratch.path);
    return std::pair(all.at("time_ns"), all.at("under_way_since_ns"));
  };
  const auto first = outcome("0");
  CHECK(first.first.at("total").to_number<double>() > first.second.at("gemm").to_number<double>());
  for (const char* const window_ns : {"1", "77", "333"}) CHECK(outcome(window_ns) == first);
}

TEST_CASE("a deadlock for wavefronts that store other rows names them", "[T3-TRK-13]") {
  const Scratch scratch;
  const std::string set = " --impl all=model --set software.gemm=gemm_other_rows --out ";
  CHECK(run_stretto("run t3/small --mode sequential" + set + scratch.path + "/s").status == 0);
  const Finished run = run_stretto("run t3/small --mode t3" + set + scratch.path + "/t");
  INFO(run.output);
  CHECK(run.status == 1);
  // 330 rows: the last tiles have 74, so that wavefront 3 stores the 10 of slice 4 and not 16, here
  // and at the neighbour; 128 columns.
  CHECK(run.says("deadlock"));
  CHECK(run.says("wavefront 3 has 2560 of 4096 updates: the wavefront stored other rows"));
  CHECK(run.says("wavefront tiles triggered (not work-group "));
}

TEST_CASE("a graph plan with a bad value is refused with its place and what is allowed") {
  const Scratch scratch;
  std::ifstream stream(STRETTO_BUILD_DIR "/sw/graphs/mlp.json");
  std::ostringstream whole;
  whole << stream.rdbuf();
  const boost::json::value plan = boost::json::parse(whole.str());
  const auto refused = [&](const std::string& pointer, const boost::json::value& value,
                           const std::vector<std::string>& says) {
    boost::json::value changed = plan;
    boost::json::value* at = &changed;
    std::istringstream steps(pointer);
    for (std::string step; steps >> step;)
      at = at->is_array() ? &at->as_array()[std::stoul(step)] : &at->as_object()[step];
    *at = value;
    scratch.file("p.json", boost::json::serialize(changed));
    bad("run graph/mlp --set graph.plan=" + scratch.path + "/p", says);
  };
  refused("arena_bytes", "many", {"p.json: arena_bytes must be a whole number"});
  refused("tensors 0 rows", -1, {"p.json: tensors[0].rows must be a whole number 1..16777216"});
  refused("tensors 0 offset", 100000000, {"tensors[0] ('x') does not lie in its space of 458752"});
  refused("ops 0 matmul m", 1000000,
          {"ops[0].inputs[0] (MatMul -> ", ") is smaller than the left side"});
  refused("ops 0 matmul k", 0, {"ops[0].matmul.k (MatMul -> ", ") must be"});
  refused("ops 0 inputs 0", "none", {"'none', which is no tensor and no output"});
  refused("ops 1 kind", "Erf", {"ops[1].kind (Erf -> ", ") is 'Erf'; allowed: MatMul"});
  refused("ops 1 kind", "Pow", {"ops[1].inputs (Pow -> ", ") must have 1..1 entries"});
  refused("launches 2 words", {"x"},
          {"launches[2].words[0] (Softmax -> ", ") is 'x', which has no words"});
  refused("launches 0 inputs 2", "none",
          {"launches[0].inputs[2] (MatMul -> ", ") is 'none', which is no tensor"});
  refused("launches 1 matmul n", 100000,
          {"launches[1].inputs[1] (MatMul -> ", ") is smaller than the right side"});
  refused("launches 1 after_buckets", {7},
          {"launches[1].after_buckets[0] (MatMul -> ", ") must be", "0..0"});
  refused("buckets 0 ops", {99}, {"buckets[0].ops[0] must be a whole number 0..4"});
  refused("buckets 0 bytes", 1000000000, {"buckets[0] does not lie in the 65536 bytes"});
}

TEST_CASE("a group, a missing size and a directory are called what they are") {
  const Scratch scratch;
  for (const char* text : {"gpu: [4]", "gpu:", "gpu: 4"}) {
    bad(kShort + "--machine " + scratch.file("g.yaml", std::string("extends: t3\n") + text + "\n"),
        {"g.yaml:2", "gpu is a group"});
  }
  bad(kShort + "--set gpu=4", {"gpu is a group", "gpu.NAME"});
  bad(kShort + "--machine " + scratch.file("p.yaml", "extends: t3\ngpus: {a: 1}\n"),
      {"p.yaml:2", "gpus is one parameter", "gpus: VALUE"});
  bad("run " + scratch.file("w.yaml", "modes: [t3]\nsub_layer: {m: 1, n: 1}\n"),
      {"w.yaml:2", "sub_layer needs k"});
  bad("run " + scratch.file("w.yaml", "modes: [t3]\n"),
      {"w.yaml", "sub_layer or gathered_gemm or ", " is missing"});
  bad("run " + scratch.file("w.yaml", "machine: " + scratch.path +
                                          "\nmodes: [t3]\nsub_layer: {m: 1, n: 1, k: 1}\n"),
      {scratch.path + ": is a directory", "must be a shipped machine"});
  bad("run " + scratch.file("w.yml", ""), {"w.yml", "does not end in .yaml"});
}

TEST_CASE("an option that is empty is not one that is absent") {
  for (const char* option : {"machine", "mode", "firmware", "set", "impl", "data", "out", "waves",
                             "seed", "time-limit"}) {
    bad(kShort.substr(0, kShort.find(" --mode")) + " --" + option + " ''",
        {std::string("--") + option + ": must not be empty"});
  }
  bad("run t3/small --out=", {"--out"});
  bad("run ''", {"workload: must not be empty"});
  for (const char* option : {"out", "cases", "modes", "machines", "figure"})
    bad(std::string("reproduce t3 --") + option + " ''", {option, "must not be empty"});
  bad("report ''", {"must not be empty"});
}

TEST_CASE("numbers of options are in their range and do not wrap around") {
  bad(kShort + "--seed -1", {"--seed -1", "0..18446744073709551615"});
  bad(kShort + "--time-limit nan", {"--time-limit nan", "more than 0"});
  bad(kShort + "--time-limit soon", {"--time-limit soon", "more than 0"});
  bad("reproduce t3 --jobs -1", {"--jobs -1", "1..256"});
}

TEST_CASE("a workload that is too large names the limit") {
  const Scratch scratch;
  const auto workload = [&](const std::string& m, const std::string& n, const std::string& k) {
    return "run " + scratch.file("big.yaml", "modes: [t3]\nsub_layer: {m: " + m + ", n: " + n +
                                                 ", k: " + k + "}\n");
  };
  // A and B: 8192 x 1048576 x 2 bytes each.
  bad(workload("8192", "8192", "1048576"),
      {"big.yaml", "the most for 'A': 17179869184", "software.memory_gib is 32",
       "make sub_layer.m, n or k smaller"});
  const std::string small = " --set software.memory_gib=1 --set ";
  bad("run collectives/all_reduce --set collective.max_bytes=2147483648" + small + "gpus=2",
      {"collective.max_bytes smaller"});
  bad("run gpu-driven/interference" + small + "interference.gather_bytes=4294967296",
      {"the gathered array: 4294967296", "interference.gather_bytes smaller"});
  bad("run graph/bert-large-3" + small + "gpus=2", {"the most for 'arena'", "graph.plan"});
  bad(workload("65536", "32768", "64"), {"512 x 256 output tiles", "65536"});
  // In strips along the shorter side, at most 256 tiles, it always can.
  bad(workload("128", "1048576", "64") + " --set sub_layer.tile_order=rows",
      {"1 x 8192 output tiles", "Tracker", "16777216", "sub_layer.tile_order=strips"});
}

TEST_CASE("a firmware that gives up is the failure, not the data it left undone") {
  const Scratch scratch;
  const Finished run = run_stretto(kShort + "--set cp.harts=1 --out " + scratch.path + "/r");
  INFO(run.output);
  CHECK(run.status == 1);
  CHECK(run.says("stretto: failed: the firmware of gpu0 ended the run"));
  CHECK(run.says("hart 1 does not answer"));
  CHECK_FALSE(run.says("wrong data"));
}

TEST_CASE("a reproduction refuses at once what no simulation could do") {
  const Scratch scratch;
  const std::string to = "reproduce t3 --out " + scratch.path + "/r ";
  bad("reproduce", {"t3"});
  bad(to + "--figure 99", {"--figure 99", "16, 17, 18"});
  bad(to + "--set hbm.chanels=3", {"hbm.chanels", "hbm.channels"});
  bad(to + "--set gpus=7", {"sim.mirror", "7 GPUs"});
  bad(to + "--set software.gemm=none", {"none.elf"});
  bad(to + "--impl all=fpga", {"rtl|model|lockstep"});
  bad(to + "--cases tnlg,none", {"--cases none"});
  bad(to + "--machines t3,t4", {"t4"});
  bad(to + "--modes t3,fast", {"--modes fast", "sequential"});
  CHECK_FALSE(std::filesystem::exists(scratch.path + "/r"));
}

TEST_CASE("a reproduction keeps results whatever the threads, and not those of another build") {
  const Scratch scratch;
  const std::string base =
      "reproduce t3 --cases tnlg-op-tp16 --modes ag --machines t3 --impl all=model --out " +
      scratch.path + "/r ";
  CHECK(run_stretto(base).says("1 of 1 simulations to run"));
  CHECK(run_stretto(base + "--jobs 2").says("0 of 1 simulations to run"));
  CHECK(run_stretto(base + "--set sim.threads=3").says("0 of 1 simulations to run"));
  std::ofstream(scratch.path + "/r/t3/tnlg-op-tp16/ag/key", std::ios::app) << "another build\n";
  const Finished stale = run_stretto(base + "--table-only");
  INFO(stale.output);
  CHECK(stale.says("1 results"));
  CHECK(stale.says("another build"));
}

TEST_CASE("a damaged result is simulated again, or left out of the table") {
  const Scratch scratch;
  const std::string base =
      "reproduce t3 --cases tnlg-op-tp16 --modes ag --machines t3 --impl all=model --out " +
      scratch.path + "/r ";
  const std::string file = "/r/t3/tnlg-op-tp16/ag/stats.json";
  CHECK(run_stretto(base).says("1 of 1 simulations to run"));
  for (const auto& contents : {"{\"status\": \"comp", "", "{\"status\": \"complete\"}"}) {
    scratch.file(file, contents);
    const Finished table = run_stretto(base + "--table-only");
    INFO(table.output);
    CHECK(table.status == 0);
    CHECK(table.says("1 results are damaged, the first is " + scratch.path + file + ": left out"));
  }
  const Finished again = run_stretto(base);
  INFO(again.output);
  CHECK(again.status == 0);
  CHECK(again.says(file + ": simulated again"));
  CHECK(again.says("1 of 1 simulations to run"));
  CHECK(run_stretto(base).says("0 of 1 simulations to run"));
}

TEST_CASE("a table of results that are nowhere is refused, and no folder is made for it") {
  const Scratch scratch;
  bad("reproduce t3 --table-only --out " + scratch.path + "/none", {"/none: no such folder"});
  CHECK_FALSE(std::filesystem::exists(scratch.path + "/none"));
}

TEST_CASE("an interrupted reproduction says so and how to go on") {
  const Scratch scratch;
  const std::string base =
      "reproduce t3 --cases mega-fc1-tp8 --modes t3 --machines t3 --impl all=model --set "
      "dma.in_flight_bytes=131072 --out '" +
      scratch.path + "/a b'";
  const Finished run = run_stretto(base, "timeout --preserve-status -s INT 2");
  INFO(run.output);
  CHECK(run.status == 130);
  CHECK(run.says("t3 mega-fc1-tp8 t3: interrupted (exit 130"));
  CHECK_FALSE(run.says("FAILED"));
  CHECK(run.says("goes on from here: " STRETTO_BUILD_DIR "/stretto " + base + "\n"));
}

TEST_CASE("a killed reproduction leaves no simulation behind") {
  const Scratch scratch;
  const std::string folder = scratch.path + "/r/t3/mega-fc1-tp8/t3";
  const Finished run = run_stretto(
      "reproduce t3 --cases mega-fc1-tp8 --modes t3 --machines t3 --impl all=model --out " +
          scratch.path + "/r",
      "timeout -s KILL 2");
  CHECK(run.status == 137);
  // It had begun, and has the folder no more.
  CHECK(std::filesystem::exists(folder + "/log"));
  CHECK(run_command("flock -w 1 " + folder + " true").status == 0);
}

TEST_CASE("a dry run and a shown machine print YAML, and nothing is simulated") {
  const Scratch scratch;
  const Finished dry = run_stretto("run t3/small --mode t3 --dry-run --set hbm.channels=16 --out " +
                                   scratch.path + "/r");
  INFO(dry.output);
  CHECK(dry.status == 0);
  for (const char* part : {"workload:\n", "  mode: t3\n", "machine:\n",
                           "    channels: 16  # --set\n", "peaks:", "  hbm_gb_s: 512 ", "gemm.elf"})
    CHECK(dry.says(part));
  CHECK_FALSE(std::filesystem::exists(scratch.path + "/r"));
  const Finished shown = run_stretto("show t3 --set gpu.cus=40");
  INFO(shown.output);
  CHECK(shown.status == 0);
  CHECK(shown.says("  cus: 40  # --set\n"));
  CHECK(shown.says("#   tensor_fp16_tflop_s: 57.344 "));  // 2 x 40 x 512 x 1.4 GHz.
  const std::string mine = scratch.file("mine.yaml", shown.output);
  const Finished again = run_stretto("run t3/small --dry-run --machine " + mine);
  CHECK(again.status == 0);
  CHECK(again.says("  tensor_fp16_tflop_s: 57.344 "));
  bad("show", {"show needs a machine"});
  bad("show t4", {"t4", "t3"});
  bad("show nerf:", {"nerf:: graph needs plan: 'stretto run' makes it"});
  const std::string own = scratch.file(
      "own.yaml", "machine: t3\nset: {gpus: 2}\ntenants:\n  kernels: count:1x1\nmodes: [ideal]\n");
  CHECK(run_stretto("show " + own).says("gpus: 2"));
  bad("run t3/small --dry-run --set hbm.channels=3", {"hbm.channels"});
}

TEST_CASE("a dry run refuses what the run would refuse") {
  const Scratch scratch;
  const std::string dry = "run t3/small --dry-run --out " + scratch.path + "/r ";
  bad(dry + "--waves mcaa", {"--waves mcaa", "nearest: mca"});
  bad(dry + "--waves mca[99]", {"mca[99]", "a GPU has mca 0..31"});
  bad(dry + "--waves mca --impl all=model", {"there is no RTL to look at"});
  bad(dry + "--timeline-window 5us..2us", {"--timeline-window", "must end after it begins"});
  bad(dry + "--firmware " + scratch.path + "/none.elf", {"none.elf"});
  bad(dry + "--set software.ring=/bin/true", {"/bin/true: kernel ELF: not for RISC-V"});
}

TEST_CASE("data that nothing asks for are refused") {
  const Scratch scratch;
  bad("run collectives/all_reduce --data real", {"--data real", "does nothing", "sub_layer"});
  bad("run " + scratch.file("d.yaml", "modes: [mmio]\ncollective: {op: all_reduce}\ndata: real\n"),
      {"d.yaml:3: data does nothing", "kind collective"});
  bad("run --firmware x.elf --data real", {"--data needs a WORKLOAD"});
}

TEST_CASE("a key of a kind that the workload is not of is named as such") {
  bad("run t3/small --set collective.op=broadcast",
      {"collective.op is a key of workloads of kind collective, which workload t3/small is not"});
  bad("run collectives/all_reduce --set colective.op=broadcast", {"nearest: collective.op"});
}

TEST_CASE("a window without begin and end is refused") {
  bad(kShort + "--timeline-window ..", {"--timeline-window", "a begin or an end"});
  bad("run t3/small --waves mca@..", {"--waves mca@..", "a begin or an end"});
}

TEST_CASE("a parameter that is there in two spellings is an error with both places") {
  const Scratch scratch;
  bad("run " + scratch.file("w.yaml",
                            "modes: [gemm]\nset: {gpu: {cus: 8}, \"gpu.cus\": 4}\n"
                            "sub_layer: {m: 1, n: 1, k: 1}\n"),
      {"w.yaml:2, column 22: gpu.cus is there twice", "first at", "w.yaml:2, column 13"});
  bad(kShort + "--machine " + scratch.file("m.yaml", "extends: t3\ngpu.cus: 8\ngpu:\n  cus: 4\n"),
      {"m.yaml:4", "gpu.cus is there twice", "m.yaml:2"});
}

TEST_CASE("what a run does not do is named and not shown as zero") {
  const Scratch scratch;
  const Finished run = run_stretto(kShort + "--out " + scratch.path + "/r");
  INFO(run.output);
  CHECK_FALSE(run.says("0.000000"));
  CHECK(run.says("  none        init, rs, ag: nothing ran under this name"));
}

TEST_CASE("SIGINT in mid-run leaves complete results") {
  const Scratch scratch;
  const Finished run =
      run_stretto("run t3/mega-fc1-tp8 --impl all=model --timeline --out " + scratch.path + "/cut",
                  "timeout --preserve-status -s INT 3");
  INFO(run.output);
  CHECK(run.status == 130);
  const boost::json::value root = stats(scratch.path + "/cut");
  CHECK(root.at("status").as_string() == "interrupted");
  CHECK(root.at("statistics").as_object().size() > 0);
  std::ifstream timeline(scratch.path + "/cut/timeline.json");
  std::ostringstream text;
  text << timeline.rdbuf();
  CHECK_NOTHROW(boost::json::parse(text.str()));
}

TEST_CASE("SIGHUP and SIGTERM end a run as SIGINT does") {
  for (const auto& [name, status] : {std::pair("HUP", 129), std::pair("TERM", 143)}) {
    const Scratch scratch;
    const Finished run =
        run_stretto("run t3/mega-fc1-tp8 --impl all=model --out " + scratch.path + "/cut",
                    std::string("timeout --preserve-status -s ") + name + " 2");
    INFO(run.output);
    CHECK(run.status == status);
    CHECK(stats(scratch.path + "/cut").at("status").as_string() == "interrupted");
  }
}

TEST_CASE("the time limit ends a run with 124 and results") {
  const Scratch scratch;
  const Finished run = run_stretto("run t3/mega-fc1-tp8 --impl all=model --time-limit 2 --out " +
                                   scratch.path + "/cut");
  CHECK(run.status == 124);
  const boost::json::value root = stats(scratch.path + "/cut");
  CHECK(root.at("status").as_string() == "time limit");
  // The GEMM has begun, the all-gather comes last: their times are not 0, there are none.
  CHECK_FALSE(root.at("time_ns").as_object().contains("gemm"));
  CHECK_FALSE(root.at("time_ns").as_object().contains("ag"));
  CHECK(root.at("under_way_since_ns").as_object().contains("gemm"));
  CHECK_FALSE(root.at("under_way_since_ns").as_object().contains("ag"));
  CHECK(run.says("under way   gemm since "));
  CHECK_FALSE(run.says("  ag "));
  CHECK_FALSE(run.says("0.000000"));
}

TEST_CASE("help and version are everywhere and succeed") {
  for (const char* arguments :
       {"--help", "--version", "run --help", "reproduce --help", "list --help", "report --help",
        "compare --help", "reproduce gpu-driven --help", "list reproductions", "list modes",
        "show --help", "list machines", "list workloads", "list blocks", "list parameters"}) {
    const Finished run = run_stretto(arguments);
    INFO(arguments);
    CHECK(run.status == 0);
    CHECK(run.output.size() > 8);
  }
}

TEST_CASE("a setting of the arbiters that would do nothing is refused") {
  bad(kShort + "--set software.mca_threshold=5",
      {"software.mca_threshold (5)", "software.mca_fixed_threshold=true"});
  bad(kShort + "--set software.mca_starve_limit=0",
      {"software.mca_starve_limit = '0'", "1..65535"});
  bad(kShort + "--set software.mca_policy=fair",
      {"software.mca_policy = 'fair'", "auto|round_robin|communication_aware",
       "compute_exclusive"});
  bad("run collectives/all_reduce --set software.mca_policy=round_robin",
      {"software.mca_policy", "kind collective", "sub_layer, gathered_gemm"});
}
