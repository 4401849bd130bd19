// SPDX-License-Identifier: Apache-2.0
// Runs random kernels (random_kernel.h) as they are, in slices of the transformer and of the grid
// scheduler, by workers that are stopped at random times, with the stock ISA too, and preempted by
// the grid scheduler. All that they may write must be equal; else the seed that shows it is printed.
#include <fmt/format.h>

#include <boost/program_options.hpp>

#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/system/process.h"
#include "tests/unit/sw/transform/equality.h"
#include "tests/unit/sw/transform/random_kernel.h"

namespace po = boost::program_options;
using namespace stretto;
using namespace stretto::test;

namespace {

constexpr uint64_t kBatch = 50;  // Kernels of one ELF.
constexpr uint64_t kCommon = kRan + 0x8000, kTiles = kOut + 0x80000;
constexpr double kMaxRefused = 0.05;

struct Options {
  uint64_t kernels = 200, seed = 1;
  std::string transformer = STRETTO_BUILD_DIR "/stretto-transform";
  std::string keep;
};

std::string run_or_fail(const std::string& command, int worst) {
  const Finished finished = run_command(command);
  if (finished.status > worst)
    throw std::runtime_error(
        fmt::format("exit status {}: {}\n{}", finished.status, command, finished.output));
  return finished.output;
}

// Batches of random kernels, built and transformed.
class Batch {
 public:
  Batch(const Options& options, uint64_t first, uint64_t count, const Scratch& scratch) {
    const std::string path = scratch.path + "/batch";
    std::ofstream source(path + ".S");
    for (uint64_t i = 0; i < count; ++i) {
      kernels.push_back(make_random_kernel(first + i));
      source << kernels.back().assembly;
    }
    source.close();
    run_or_fail("riscv64-unknown-elf-gcc -march=rv64ima -misa-spec=2.2 -mabi=lp64 -c " + path +
                    ".S -o " + path + ".o",
                0);
    run_or_fail(
        "ld.lld -pie --no-dynamic-linker --emit-relocs --no-relax -z norelro -z text "
        "--fatal-warnings -e " +
            kernels.front().names.front() + " " + path + ".o -o " + path + ".elf",
        0);
    original = read(path + ".elf");
    for (size_t form = 0; form < kForms.size(); ++form) transform(options, path, form);
    if (!options.keep.empty()) {
      std::filesystem::create_directories(options.keep);
      for (const char* end : {".S", ".elf"})
        std::filesystem::copy_file(path + end, fmt::format("{}/{}{}", options.keep, first, end),
                                   std::filesystem::copy_options::overwrite_existing);
    }
  }

  std::vector<RandomKernel> kernels;
  Bytes original;
  std::array<Bytes, kForms.size()> transformed;
  std::array<std::map<std::string, std::string>, kForms.size()> refusals;

 private:
  static Bytes read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return Bytes((std::istreambuf_iterator<char>(file)), {});
  }

  void transform(const Options& options, const std::string& path, size_t form) {
    const std::string out = fmt::format("{}.{}", path, form);
    std::filesystem::remove(out);
    const std::string said =
        run_or_fail(fmt::format("timeout 60 {} {}.elf {} -o {}", options.transformer, path,
                                kForms[form].arguments, out),
                    2);
    transformed[form] = read(out);
    const std::regex line("[^\n]*: (k[0-9]+(?:_b)?) stays as it is: ([^\n]*)");
    for (std::sregex_iterator at(said.begin(), said.end(), line), end; at != end; ++at)
      refusals[form][(*at)[1]] = (*at)[2];
    if (std::filesystem::exists(out)) return;
    // Nothing could be transformed: one line for all.
    for (const RandomKernel& kernel : kernels)
      for (const std::string& name : kernel.names)
        refusals[form].emplace(name, said.substr(0, said.find('\n')));
  }
};

class Runner {
 public:
  Runner() {
    Rng rng(1, 1);
    for (uint32_t i = 0; i < RandomKernel::kInputBytes / 2; ++i)
      bench_.machine.set_value(
          kFlag + 2 * i, static_cast<uint16_t>(0x3000 + rng.below(0x1000) + 0x8000 * rng.below(2)));
    bench_.set_arguments(RandomKernelArguments{kOut, kMarks, kRan, kCommon, kFlag, kTiles});
  }

  void load(const Batch& batch) {
    original_ = bench_.load(batch.original, kCode);
    for (size_t form = 0; form < kForms.size(); ++form) {
      transformed_[form].clear();
      if (!batch.transformed[form].empty())
        transformed_[form] = bench_.load(batch.transformed[form], kOther + 0x400000 * form);
    }
  }

  // Throws Unequal.
  void run(const RandomKernel& kernel, const std::string& name, const Batch& batch) {
    const uint64_t tasks = kernel.grid.tasks();
    const std::vector<Region> regions = {{"out", kOut, tasks * 8 * 8 * RandomKernel::kOutWords},
                                         {"marks", kMarks, tasks * 64 * RandomKernel::kRounds},
                                         {"ran", kRan, tasks * 8},
                                         {"common", kCommon, 64},
                                         {"tiles", kTiles, tasks * 8 * RandomKernel::kTileBytes}};
    for (const Region& region : regions) fill(region);
    FormsOfKernel forms;
    forms.original = &original_.at(name);
    for (size_t form = 0; form < kForms.size(); ++form) {
      const bool has_room = kForms[form].isa != transform::Isa::stock || kernel.keeps_room;
      if (has_room && !batch.refusals[form].contains(name))
        forms.transformed[form] = &transformed_[form].at(name);
    }
    Rng rng(kernel.seed, 2);
    Equality equality(bench_, regions);
    equality.run_original(forms, kernel.grid);
    check_runs(kernel);
    equality.run_all(forms, kernel.grid, rng);
  }

 private:
  // Counts begin at 0.
  void fill(const Region& region) {
    const bool counts = region.base == kRan || region.base == kCommon;
    const Bytes pattern(region.bytes, counts ? 0 : 0x5A);
    bench_.machine.image.load(region.base & STRETTO_OFFSET_MASK, pattern.data(), pattern.size());
  }

  // The law of the original: every wavefront ran once.
  void check_runs(const RandomKernel& kernel) {
    uint64_t once = 0;
    for (unsigned w = 0; w < kernel.wavefronts; ++w) once |= uint64_t{1} << 8 * w;
    for (uint64_t id = 0; id < kernel.grid.tasks(); ++id) {
      if (bench_.machine.value_at<uint64_t>(kRan + 8 * id) != once)
        throw Unequal(fmt::format("original: work-group {} did not run once", id));
    }
  }

  TransformBench bench_;
  std::map<std::string, Launch> original_;
  std::array<std::map<std::string, Launch>, kForms.size()> transformed_;
};

struct Counts {
  uint64_t kernels = 0, refused = 0, votes = 0, room = 0;
  std::map<std::string, uint64_t> reasons;
};

void count(const Batch& batch, const RandomKernel& kernel, const std::string& name,
           Counts& counts) {
  ++counts.kernels;
  const auto refusal = [&](size_t form) {
    const auto found = batch.refusals[form].find(name);
    return found == batch.refusals[form].end() ? std::string() : found->second;
  };
  const std::string stock = refusal(kStockForm);
  counts.votes += stock.find("tile.vote") != std::string::npos;
  counts.room += !kernel.keeps_room;
  for (size_t form = 0; form < kForms.size(); ++form) {
    const std::string reason = refusal(form);
    if (reason.empty() || reason.find("tile.vote") != std::string::npos) continue;
    ++counts.refused;
    ++counts.reasons[std::regex_replace(reason, std::regex(" at .*"), "")];
    return;
  }
}

int fuzz(const Options& options) {
  const Scratch scratch;
  Runner runner;
  Counts counts;
  for (uint64_t first = 0; first < options.kernels; first += kBatch) {
    const Batch batch(options, options.seed + first, std::min(kBatch, options.kernels - first),
                      scratch);
    runner.load(batch);
    for (const RandomKernel& kernel : batch.kernels) {
      for (const std::string& name : kernel.names) {
        count(batch, kernel, name, counts);
        try {
          runner.run(kernel, name, batch);
        } catch (const Unequal& unequal) {
          fmt::print(
              "FAILED: kernel {}, {}\n  repeat with: bash tests/transform_fuzz.sh --kernels 1 "
              "--seed {}\n",
              name, unequal.what(), kernel.seed);
          return 1;
        }
      }
    }
  }
  const double refused = static_cast<double>(counts.refused) / static_cast<double>(counts.kernels);
  fmt::print("{} kernels of {} seeds from {} on: equal or refused; {} refused ({:.1f} %)\n",
             counts.kernels, options.kernels, options.seed, counts.refused, 100 * refused);
  for (const auto& [reason, times] : counts.reasons) fmt::print("  {}: {}\n", times, reason);
  fmt::print("not for the stock ISA: {} vote, tiles of {} have no room together\n", counts.votes,
             counts.room);
  if (counts.kernels >= 100 && refused > kMaxRefused) {
    fmt::print("FAILED: more than 5 % are refused\n");
    return 1;
  }
  return 0;
}

}  // namespace

const int kBannerIsOff = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);

int sc_main(int argc, char* argv[]) {
  Options options;
  po::options_description described("Options");
  described.add_options()("help,h", "this text")("kernels", po::value(&options.kernels),
                                                 "seeds: 200 if not given")(
      "seed", po::value(&options.seed), "the first; seed S + i has kernel S + i")(
      "transformer", po::value(&options.transformer), "executable that transforms")(
      "keep", po::value(&options.keep), "folder for assembly and ELF of each batch");
  try {
    po::variables_map values;
    po::store(po::parse_command_line(argc, argv, described), values);
    po::notify(values);
    if (values.count("help") != 0) {
      std::ostringstream text;
      text << described;
      fmt::print("{}", text.str());
      return kBannerIsOff;
    }
    return fuzz(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "transform_fuzz: {}\n", error.what());
    return 2;
  }
}
