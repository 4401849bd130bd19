// SPDX-License-Identifier: Apache-2.0
// Runs shipped kernels of ops.elf in all forms (equality.h), from many seeds of points of preemption. What
// is launched comes from the operators' own plans (platform/kinds/roofline, the library's plans): shapes
// with rests on every side, several work-groups. Kernels that the transformer refuses, or that no
// operator here launches, must be exactly those that the tables below name.
#include <fmt/format.h>

#include <boost/program_options.hpp>

#include <algorithm>
#include <iostream>
#include <regex>
#include <set>

#include "models/common/error.h"
#include "platform/config/library_machine.h"
#include "platform/jobs/operators/operators.h"
#include "sw/kernels/ops/elementwise_plan.h"
#include "sw/kernels/ops/index_plan.h"
#include "sw/kernels/ops/rows_plan.h"
#include "tests/unit/sw/transform/equality.h"

namespace po = boost::program_options;
using namespace stretto;
using test::Bytes;
using test::Equality;
using test::FormsOfKernel;
using test::Grid;
using test::kForms;
using test::kNode;
using test::Region;
using test::Rng;
using test::TransformBench;
using test::Unequal;

namespace {

constexpr uint64_t kImages = kNode + 0x2000000,
                   kImageBytes = 0x800000;  // Original, then each form.
constexpr uint64_t kArena = kNode + 0x10000000, kArenaBytes = 0x4000000;

struct Options {
  uint64_t seeds = 2, seed = 1;
  std::vector<std::string> kernels;  // Those whose names have one of them; all if empty.
};

// What refused kernels wait for, by a part of their names.
const std::vector<std::pair<const char*, const char*>> kRefused = {
    {"_stream", "tile.wait_until"},
    {"bag_", "a loop reads the same memory"},
};

// Texts of operators (platform/jobs/operators/operators.h). With the GEMM tiles they launch every kernel
// that is not refused.
std::vector<std::string> operator_texts() {
  std::vector<std::string> texts = {"attention:3x100x150x64", "attention:2x130x70x128"};
  for (const char* element : {"fp16", "bf16", "fp32"}) {
    const uint32_t size = element == std::string("fp32") ? 4 : 2;
    const auto add = [&](const std::string& shape) { texts.push_back(shape + ":" + element); };
    for (const char* map :
         {"copy", "gelu", "relu", "add", "mul", "gelu_grad", "relu_grad", "triad"})
      add(fmt::format("{}:50007", map));
    // Rows that one wavefront holds, teams of four and eight, and longer ones.
    for (const char* rows : {"softmax", "layer_norm", "softmax_grad", "layer_norm_grad"})
      for (const uint32_t bytes : {400, 6000, 12000, 20000, 40000, 90000})
        add(fmt::format("{}:{}x{}", rows, bytes < 1000 ? 37 : 7, bytes / size));
    for (const char* sums : {"sum_rows", "sum_columns"})
      for (const uint32_t bytes : {600, 7000, 40000})
        add(fmt::format("{}:{}x{}", sums, bytes < 1000 ? 700 : 60, bytes / size));
    for (const uint32_t bytes : {1600, 7200}) add(fmt::format("gemv:40x{}", bytes / size));
    add("concat:40x300x200");
    add("gather:300x60x500");
    add("gather:40x3000x70");
    add("scatter_add:200x48x30");
    add("gemm:150x100x700:split=3:bias");
  }
  texts.push_back("gemm:150x100x700:tf32:split=3:bias:relu");
  return texts;
}

// One launch, and where what it may write lies.
struct Case {
  std::string kernel, text;
  Bytes arguments;
  uint32_t work_groups;
  std::vector<Region> regions;
};

class Arena {
 public:
  explicit Arena(uint64_t bytes) : bytes_(bytes) {}
  Region take(const char* name, uint64_t bytes) {
    const Region region = {name, kArena + next_, std::max<uint64_t>(bytes, 64)};
    next_ = (next_ + region.bytes + 4095) / 4096 * 4096;
    if (next_ > bytes_) throw std::runtime_error("the arena is full");
    return region;
  }

 private:
  const uint64_t bytes_;
  uint64_t next_ = 0;
};

class Equivalence {
 public:
  explicit Equivalence(const Options& options) : options_(options), bench_(unit()) {
    bench_.machine.map(kArena, kArenaBytes, AllocationClass::uncached);
    spec_.gpu = unit();
    library_ = library_machine(spec_);
    const Bytes ops = test::read_kernel_file("ops");
    originals_ = bench_.load(ops, kImages);
    for (size_t form = 0; form < kForms.size(); ++form) {
      const transform::Result result =
          transform::transform(ops, {kForms[form].form, kForms[form].isa, "", false});
      transformed_[form] = bench_.load(result.elf, kImages + kImageBytes * (form + 1));
      for (const transform::Outcome& outcome : result.kernels)
        if (!outcome.refusal.empty()) refusals_[outcome.kernel] = outcome.refusal;
    }
  }

  int run() {
    check_refusals();
    for (const auto& [name, launch] : originals_) run_gemm(name);
    for (const std::string& text : operator_texts()) run_operator(text);
    run_elementwise();
    run_gather_columns();
    run_sum_groups();
    report();
    return failed_ ? 1 : 0;
  }

 private:
  static GpuSpec unit() {
    GpuSpec spec = test::GpuMachine::small();
    spec.tensor_tf32_passes = 2;
    spec.lds_bytes = 192 * 1024;
    spec.lds_instruction_bytes = 0;  // Loads go to LDS at once: up to four buffers.
    return spec;
  }

  void check_refusals() {
    for (const auto& [name, reason] : refusals_) {
      bool known = false;
      for (const auto& [part, why] : kRefused)
        known |= name.find(part) != std::string::npos && reason.find(why) != std::string::npos;
      if (!known) fail(fmt::format("{} is refused: {}", name, reason));
    }
  }

  // Of gemm_ELEMENT_MxN_kK_sS: two tiles each way, the second not whole, and a step more than buffers.
  void run_gemm(const std::string& name) {
    static const std::regex form(
        "gemm_(fp16|bf16|tf32|fp32)_([0-9]+)x([0-9]+)_k([0-9]+)_s([0-9]+)");
    std::smatch part;
    if (!std::regex_match(name, part, form)) return;
    const unsigned m = std::stoul(part[2]), n = std::stoul(part[3]), k = std::stoul(part[4]),
                   stages = std::stoul(part[5]);
    static constexpr std::array<const char*, 4> kLayouts = {"nn", "tn", "nt", "tt"};
    static constexpr std::array<const char*, 3> kBehind = {"bias:gelu", "add", "bias:relu"};
    const unsigned turn = gemms_++;
    run_operator(fmt::format("gemm:{}x{}x{}:{}:{}:{}:batch=2:tile={}x{}x{}x{}", m + m / 2,
                             n + n / 4, k * (stages + 1) + 8, part[1].str(), kLayouts[turn % 4],
                             kBehind[turn % 3], m, n, k, stages));
  }

  void run_operator(const std::string& text) {
    Arena arena(kArenaBytes);
    std::unique_ptr<Operator> one;
    try {
      one = std::move(parse_operators(text, spec_, "operator").front());
    } catch (const UserError& error) {
      return fail(error.what());
    }
    Places places;
    const Region input =
        arena.take("input", one->input_elements() * ops_element_bytes(one->element));
    places.input[one->element] = input.base;
    const Bytes constants = one->constants();
    const Region constant = arena.take("constants", constants.size());
    const std::vector<Region> written = {arena.take("output", one->output_bytes()),
                                         arena.take("scratch", one->scratch_bytes()),
                                         arena.take("flags", one->flag_bytes())};
    places.output = written[0].base;
    places.scratch = written[1].base;
    places.flags = written[2].base;
    places.constants = constant.base;
    std::vector<Case> cases;
    for (const stretto::Launch& launch : one->launches(places))
      cases.push_back({launch.kernel, text, launch.arguments, launch.work_groups, written});
    if (!is_wanted(cases)) return;
    fill(input, one->element);
    put(constant.base, constants);
    for (const Region& region : written) put(region.base, Bytes(region.bytes, 0));
    for (const Case& each : cases) run_case(each);
  }

  void run_elementwise() {
    static constexpr std::array<uint32_t, 4> kSeconds = {OPS_EACH_ROWS, OPS_EACH_ROW,
                                                         OPS_EACH_COLUMN, OPS_EACH_ONE};
    unsigned turn = 0;
    for (const auto& [name, launch] : originals_) {
      if (name.rfind("each_", 0) != 0 || !is_wanted({{name, name, {}, 0, {}}})) continue;
      Arena arena(kArenaBytes);
      const uint32_t rows = 300, columns = 192;
      const Region first = arena.take("first", 2 * rows * columns),
                   second = arena.take("second", 2 * rows * columns);
      const Region factor = arena.take("factor", 2 * rows * columns);
      const std::vector<Region> written = {arena.take("output", 2 * rows * columns)};
      ops_elementwise_arguments_t a{};
      a.in[0] = first.base;
      a.in[1] = second.base;
      a.out = written[0].base;
      a.factor = factor.base;
      a.rows = rows;
      a.row_bytes = 2 * columns;
      const bool rope = name.rfind("each_rope", 0) == 0;
      a.second = rope ? uint32_t{OPS_EACH_ROWS} : kSeconds[turn++ % kSeconds.size()];
      a.period = rows;
      ops_vector_launch_t planned;
      ops_elementwise_plan(name.c_str() + 5, &a, &planned);
      for (const Region& region : {first, second, factor}) fill(region, OPS_FP16);
      put(written[0].base, Bytes(written[0].bytes, 0));
      run_case({planned.kernel, name, argument_bytes(a), planned.work_groups, written});
    }
  }

  // Columns of a table, which graphs gather (sw/apps/graph/graph_operators.c).
  void run_gather_columns() {
    if (!is_wanted({{"gather_columns", "", {}, 0, {}}})) return;
    constexpr uint32_t kRows = 500, kColumns = 96, kCount = 60;
    Arena arena(kArenaBytes);
    const Region table = arena.take("table", 2 * kRows * kColumns);
    const Region indices = arena.take("indices", 4 * kCount);
    const std::vector<Region> written = {arena.take("output", 2 * kRows * kCount)};
    fill(table, OPS_FP16);
    for (uint32_t i = 0; i < kCount; ++i)
      bench_.machine.set_value<uint32_t>(indices.base + 4 * i, i * 37 % kColumns);
    put(written[0].base, Bytes(written[0].bytes, 0));
    ops_index_arguments_t a{};
    a.table = table.base;
    a.out = written[0].base;
    a.indices = indices.base;
    a.count = kCount;
    a.row_bytes = 2;
    a.columns = kRows;
    a.pitch = 2 * kColumns;
    ops_vector_launch_t planned;
    ops_gather_plan(&library_, &a, &planned);
    run_case({planned.kernel, "columns", argument_bytes(a), planned.work_groups, written});
  }

  // Sums of groups of rows, likewise.
  void run_sum_groups() {
    for (const ops_element_t element : {OPS_FP16, OPS_BF16, OPS_FP32}) {
      if (!is_wanted({{std::string("sum_groups_") + ops_element_name(element), "", {}, 0, {}}}))
        continue;
      constexpr uint32_t kGroups = 70, kRowsEach = 9, kColumns = 300;
      const uint32_t row_bytes = kColumns * ops_element_bytes(element);
      Arena arena(kArenaBytes);
      const Region input = arena.take("input", uint64_t{kGroups} * kRowsEach * row_bytes);
      const std::vector<Region> written = {arena.take("output", uint64_t{kGroups} * row_bytes)};
      fill(input, element);
      put(written[0].base, Bytes(written[0].bytes, 0));
      ops_sum_arguments_t a{};
      a.in = input.base;
      a.out = written[0].base;
      a.rows = kGroups;
      a.row_bytes = row_bytes;
      a.part_count = kRowsEach;
      ops_sum_launch_t planned;
      ops_sum_groups_plan(&library_, element, &a, &planned);
      run_case(
          {planned.first.kernel, "groups", argument_bytes(a), planned.first.work_groups, written});
    }
  }

  bool is_wanted(const std::vector<Case>& cases) const {
    const auto is_in = [&](const std::string& part) {
      return std::any_of(cases.begin(), cases.end(), [&](const Case& each) {
        return each.kernel.find(part) != std::string::npos;
      });
    };
    return options_.kernels.empty() ||
           std::any_of(options_.kernels.begin(), options_.kernels.end(), is_in);
  }

  void run_case(const Case& one) {
    const auto original = originals_.find(one.kernel);
    if (original == originals_.end())
      return fail(fmt::format("{}: no kernel {}", one.text, one.kernel));
    if (refusals_.contains(one.kernel)) return run_alone(one, original->second);
    FormsOfKernel forms;
    forms.original = &original->second;
    for (size_t form = 0; form < kForms.size(); ++form)
      forms.transformed[form] = &transformed_[form].at(one.kernel);
    bench_.set_argument_bytes(one.arguments);
    const Grid grid = {one.work_groups, 1, 1};
    try {
      Equality equality(bench_, one.regions);
      equality.run_original(forms, grid);
      for (uint64_t i = 0; i < options_.seeds; ++i) {
        seed_ = options_.seed + i;
        Rng rng(seed_, 3);
        equality.run_all(forms, grid, rng);
      }
      ++equal_[one.kernel];
    } catch (const Unequal& unequal) {
      fail(fmt::format("{} ({}), seed {}: {}", one.kernel, one.text, seed_, unequal.what()));
      throw;
    }
  }

  // A refused one, whose results another launch needs.
  void run_alone(const Case& one, const test::Launch& launch) {
    bench_.set_argument_bytes(one.arguments);
    bench_.longest = 0;
    bench_.run(launch, {one.work_groups, 1, 1});
  }

  void fill(const Region& region, ops_element_t element) {
    const uint32_t size = ops_element_bytes(element);
    Bytes bytes(region.bytes);
    for (uint64_t i = 0; i < region.bytes / size; ++i) {
      const uint32_t bits = input_bits(element, 1, i);
      std::memcpy(bytes.data() + i * size, &bits, size);
    }
    put(region.base, bytes);
  }
  void put(uint64_t address, const Bytes& bytes) {
    bench_.machine.image.load(address & STRETTO_OFFSET_MASK, bytes.data(), bytes.size());
  }

  void fail(const std::string& what) {
    failed_ = true;
    fmt::print("FAILED: {}\n", what);
  }

  void report() {
    std::vector<std::string> missing;
    for (const auto& [name, launch] : originals_)
      if (!equal_.contains(name) && !refusals_.contains(name)) missing.push_back(name);
    fmt::print("{} kernels equal in every form, {} seeds from {} on; {} refused; {} not run\n",
               equal_.size(), options_.seeds, options_.seed, refusals_.size(), missing.size());
    if (!options_.kernels.empty()) return;
    for (const std::string& name : missing) fail(name + " is launched by no operator here");
  }

  const Options options_;
  TransformBench bench_;
  MachineSpec spec_;
  ops_machine_t library_{};
  std::map<std::string, test::Launch> originals_;
  std::array<std::map<std::string, test::Launch>, kForms.size()> transformed_;
  std::map<std::string, std::string> refusals_;
  std::map<std::string, unsigned> equal_;
  unsigned gemms_ = 0;
  uint64_t seed_ = 0;
  bool failed_ = false;
};

}  // namespace

const int kBannerIsOff = setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);

int sc_main(int argc, char* argv[]) {
  Options options;
  po::options_description described("Options");
  described.add_options()("help,h", "this text")("seeds", po::value(&options.seeds),
                                                 "of points of preemption; 2 if not given")(
      "seed", po::value(&options.seed), "the first")("kernels",
                                                     po::value(&options.kernels)->multitoken(),
                                                     "those whose names have one of these parts");
  try {
    po::variables_map values;
    po::store(po::parse_command_line(argc, argv, described), values);
    po::notify(values);
    if (values.count("help") != 0) {
      std::cout << described;
      return kBannerIsOff;
    }
    return Equivalence(options).run();
  } catch (const Unequal&) {
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "transform_equivalence: {}\n", error.what());
    return 2;
  }
}
