// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/roofline/roofline_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <cstring>
#include <set>
#include <tuple>

#include "models/common/error.h"
#include "platform/config/peaks.h"
#include "platform/jobs/operands.h"
#include "platform/jobs/operators/operators.h"
#include "sw/apps/kernel_list.h"

namespace stretto {

namespace json = boost::json;

namespace {

const Account kOperator{ROOFLINE_ACCOUNT_OPERATOR, "operator"};
const Account kWarmUp{ROOFLINE_ACCOUNT_WARM_UP, "warm_up"};
// Beyond them a reference in double precision takes longer than people wait.
constexpr double kMaxReferenceGflop = 40;
constexpr double kBound = 0.6;  // Of a peak, from which on an operator is bound by it.

struct Kernel {
  Time begin = 0, end = 0;
  GpuActivity before, after;
};

// What one operator did, from the begin of its first kernel to the end of its last.
struct Measured {
  double us = 0;  // 0: not measured.
  double turn_us =
      0;  // From the end of the launch before to its end: what a benchmark's loop sees.
  double tflop_s = 0, gb_s = 0;
  double tensor = 0, simt = 0, l2 = 0, hbm = 0;  // Shares of peaks.
  double read = 0, written = 0;                  // DRAM bytes.
  const char* bound_by = "";
};

class Roofline final : public Job {
 public:
  Roofline(const RooflineKind& kind, const JobRequest& request, Memories memories)
      : Job(request, std::move(memories)),
        kind_(kind),
        operators_(parse_operators(kind.operators, spec_, "roofline.operators")),
        elf_(kernel_file("ops")) {
    p_.client = client_options(request, 0);
    p_.memory = memory_plan(&p_.client, 65536);
    const uint32_t cached = STRETTO_ALLOCATION_CACHED;
    uint64_t flags = 64;  // The host program wants some.
    for (const auto& one : operators_) flags = std::max(flags, one->flag_bytes());
    Places all;
    all.flags = memory_plan_add(&p_.memory, "words", flags, cached);
    uint64_t scratch = 0, outputs = 0, inputs[OPS_ELEMENTS] = {};
    for (const auto& one : operators_) {
      places_.push_back({});
      places_.back().output = outputs;
      outputs += (one->output_bytes() + 4095) & ~uint64_t{4095};
      scratch = std::max(scratch, one->scratch_bytes());
      places_.back().constants = constants_.size();
      for (const uint8_t byte : one->constants()) constants_.push_back(byte);
      constants_.resize((constants_.size() + 4095) / 4096 * 4096);
      const ops_element_t element = one->element == OPS_TF32 ? OPS_FP32 : one->element;
      inputs[element] =
          std::max(inputs[element], one->input_elements() * ops_element_bytes(element));
    }
    for (const ops_element_t element : {OPS_FP16, OPS_BF16, OPS_FP32}) {
      if (inputs[element] == 0) continue;
      all.input[element] =
          memory_plan_add_input(&p_.memory, ops_element_name(element), inputs[element], cached);
      inputs_.push_back({element, all.input[element], inputs[element]});
    }
    all.input[OPS_TF32] = all.input[OPS_FP32];
    if (!constants_.empty())
      all.constants = memory_plan_add_input(&p_.memory, "constants", constants_.size(), cached);
    constants_at_ = all.constants;
    if (scratch != 0) all.scratch = memory_plan_add(&p_.memory, "scratch", scratch, cached);
    all.output = memory_plan_add(&p_.memory, "outputs", outputs, cached);
    for (size_t i = 0; i < operators_.size(); ++i) {
      const uint64_t output = all.output + places_[i].output, constants = places_[i].constants;
      places_[i] = all;
      places_[i].output = output;
      places_[i].constants += constants;
      launches_.push_back(operators_[i]->launches(places_[i]));
    }
    for (const auto& launches : launches_) {
      for (uint32_t turn = 0; turn <= kind.warm; ++turn) {
        for (const Launch& launch : launches) {
          const bool measured = turn == kind.warm, cold = kind.warm == 0;
          const bool last = measured && &launch == &launches.back();
          entries_.push_back({.kernel = launch.kernel.c_str(),
                              .arguments = launch.arguments.data(),
                              .argument_bytes = static_cast<uint32_t>(launch.arguments.size()),
                              .work_groups = launch.work_groups,
                              .account = measured ? kOperator.number : kWarmUp.number,
                              .device_scope = !last || !cold,
                              .queued = !last,
                              .cold = cold && &launch == &launches.front()});
        }
      }
    }
    layouts_[0].add(p_.memory, KERNEL_LIST_MODULE_BYTES);
    p_.entries = entries_.data();
    p_.count = static_cast<uint32_t>(entries_.size());
    p_.elf = elf_.data();
    p_.elf_bytes = elf_.size();
    check_memory(request, p_.memory, KERNEL_LIST_MODULE_BYTES, "roofline.operators");
    const std::set<std::string> names = [&] {
      std::set<std::string> all_names;
      for (const kernel_list_entry_t& entry : entries_) all_names.insert(entry.kernel);
      return all_names;
    }();
    for (const std::string& name : names) check_kernels("ops", {name});
  }

  std::vector<Account> accounts() const override { return {kOperator, kWarmUp}; }
  std::vector<PhaseRule> phases() const override {
    if (kind_.warm == 0) return {kernels_of(kOperator)};
    return {kernels_of(kOperator), kernels_of(kWarmUp)};
  }

  void place_contents() override {
    if (!constants_.empty()) {
      memories_[0]->add_generator(offset_of(constants_at_), constants_.size(),
                                  [this](uint64_t at, uint8_t* out, uint64_t count) {
                                    std::memcpy(out, &constants_[at - offset_of(constants_at_)],
                                                count);
                                  });
    }
    if (!spec_.gpu.tile_values) return;
    for (const auto& [element, address, bytes] : inputs_) {
      const uint64_t size = ops_element_bytes(element), base = offset_of(address);
      memories_[0]->add_generator(
          base, bytes,
          [size, base, element = element, seed = request_.seed](uint64_t at, uint8_t* out,
                                                                uint64_t count) {
            for (uint64_t i = 0; i < count; ++i) {
              const uint32_t bits = input_bits(element, seed, (at + i - base) / size);
              out[i] = static_cast<uint8_t>(bits >> (at + i - base) % size * 8);
            }
          });
    }
  }

  void add_programs(Host& host, uint32_t) override {
    add_rank(host, 0, [this](HostCore& core) {
      run_app(core, [this](const stretto_host_ops_t* ops, char* error) {
        return kernel_list_run(&p_, ops, nullptr, error);
      });
    });
  }

  bool watches_kernels() const override { return true; }
  void on_kernel(const KernelMoment& moment) override {
    if (!moment.ended) kernels_.push_back({moment.at, 0, moment.so_far, {}});
    if (moment.ended) {
      kernels_.back().end = moment.at;
      kernels_.back().after = moment.so_far;
    }
  }

  CheckReport check() const override {
    CheckReport report;
    report.elements += entries_.size();
    if (!spec_.gpu.tile_values)
      report.limit = "only that kernels ran; gpu.tile_values=true compares results";
    if (kernels_.size() != entries_.size()) {
      ++report.mismatches;
      report.first = fmt::format("{} of {} kernels have begun", kernels_.size(), entries_.size());
    }
    for (size_t i = 0; spec_.gpu.tile_values && i < operators_.size(); ++i) {
      Comparison comparison(*memories_[0], report,
                            fmt::format("{}:{}", operators_[i]->name(), operators_[i]->shape()));
      operators_[i]->check(places_[i], request_.seed, comparison);
    }
    return report;
  }

  // In parts of a million.
  void audit(uint32_t, AuditSink& sink) const override {
    for (size_t i = 0; i < operators_.size(); ++i) {
      const Measured m = measured(i);
      const auto at_most_peak = [&](const char* peak, double share) {
        sink.at_most(fmt::format("operator's share of {} <= peak", peak),
                     static_cast<uint64_t>(std::llround(share * 1e6)), 1'000'000);
      };
      at_most_peak("tensor pipes", m.tensor);
      at_most_peak("SIMT pipes", m.simt);
      at_most_peak("L2 bandwidth", m.l2);
      at_most_peak("HBM bandwidth", m.hbm);
    }
  }

  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override {
    return {{"ops", sha256_hex(elf_.data(), elf_.size())}};
  }

  std::string table() const override {
    size_t width = 5;
    for (const auto& one : operators_) width = std::max(width, one->shape().size());
    std::string text = fmt::format(
        "  {:<10}  {:<{}}  {:>10}  {:>8}  {:>8}  {:>7}  {:>7}  {:>7}  {:>7}  {:>9}  {:<8}  {}\n",
        "operator", "shape", width, "us", "TFLOP/s", "GB/s", "tensor%", "SIMT%", "L2%", "HBM%",
        "reads/min", "bound by", "by");
    const auto percent = [](double share) { return fmt::format("{:7.1f}", 100 * share); };
    for (size_t i = 0; i < operators_.size(); ++i) {
      const Measured m = measured(i);
      const Operator& one = *operators_[i];
      if (m.us == 0) {
        text += fmt::format("  {:<10}  {:<{}}  {:>10}\n", one.name(), one.shape(), width, "-");
        continue;
      }
      text += fmt::format(
          "  {:<10}  {:<{}}  {:10.2f}  {:8.2f}  {:8.1f}  {}  {}  {}  {}  {:9.2f}  {:<8}  {}\n",
          one.name(), one.shape(), width, m.us, m.tflop_s, m.gb_s, percent(m.tensor),
          percent(m.simt), percent(m.l2), percent(m.hbm),
          m.read / static_cast<double>(one.least_read_bytes()), m.bound_by, one.how());
    }
    return text;
  }

  json::object details() const override {
    json::array all;
    for (size_t i = 0; i < operators_.size(); ++i) {
      const Measured m = measured(i);
      const Operator& one = *operators_[i];
      json::object line{{"operator", one.name()}, {"shape", one.shape()}, {"how", one.how()}};
      if (m.us != 0) {
        line["us"] = m.us;
        if (m.turn_us != 0) line["turn_us"] = m.turn_us;
        line["tflop_s"] = m.tflop_s;
        line["gb_s"] = m.gb_s;
        line["share_of_tensor"] = m.tensor;
        line["share_of_simt"] = m.simt;
        line["share_of_l2"] = m.l2;
        line["share_of_hbm"] = m.hbm;
        line["dram_read_bytes"] = m.read;
        line["dram_written_bytes"] = m.written;
        line["least_read_bytes"] = one.least_read_bytes();
        line["least_written_bytes"] = one.least_written_bytes();
        // Of what the operator must move, as benchmarks count.
        line["useful_gb_s"] =
            static_cast<double>(one.least_read_bytes() + one.least_written_bytes()) / m.us / 1e3;
        line["bound_by"] = m.bound_by;
      }
      all.push_back(std::move(line));
    }
    return {{"operators", std::move(all)}};
  }

 private:
  Measured measured(size_t index) const {
    size_t first = 0;
    for (size_t i = 0; i < index; ++i) first += launches_[i].size() * (kind_.warm + 1);
    first += launches_[index].size() * kind_.warm;
    const size_t last = first + launches_[index].size() - 1;
    if (last >= kernels_.size() || kernels_[last].end == 0) return {};
    const Operator& one = *operators_[index];
    const Kernel &begin = kernels_[first], &end = kernels_[last];
    const auto spent = [&](uint64_t GpuActivity::*what) {
      return static_cast<double>(end.after.*what - begin.before.*what);
    };
    Measured m;
    m.us = static_cast<double>(end.end - begin.begin) / 1e9;
    if (kind_.warm != 0) m.turn_us = static_cast<double>(end.end - kernels_[first - 1].end) / 1e9;
    m.read = spent(&GpuActivity::dram_read_bytes);
    m.written = spent(&GpuActivity::dram_written_bytes);
    m.tflop_s = 2 * one.products() / m.us / 1e6;
    m.gb_s = (m.read + m.written) / m.us / 1e3;
    const double passes = one.element == OPS_TF32 ? spec_.gpu.tensor_tf32_passes : 1;
    m.tensor =
        2 * passes * spent(&GpuActivity::multiply_adds) / m.us / 1e6 / peaks_.tensor_fp16_tflop_s;
    // Not the multiply-adds of padding.
    if (one.element != OPS_FP32)
      m.tensor = std::min(m.tensor, passes * m.tflop_s / peaks_.tensor_fp16_tflop_s);
    m.simt = spent(&GpuActivity::simt_cycles) / (m.us * spec_.gpu.clock_mhz * spec_.gpu.cus);
    m.l2 = spent(&GpuActivity::l2_bytes) / m.us / 1e3 / peaks_.l2_gb_s;
    m.hbm = m.gb_s / peaks_.hbm_gb_s;
    const double sustained = m.tensor / peaks_.tensor_sustained_share;
    std::tie(std::ignore, m.bound_by) = std::max({std::pair<double, const char*>{kBound, "latency"},
                                                  {sustained, "tensor"},
                                                  {m.simt, "SIMT"},
                                                  {m.l2, "L2"},
                                                  {m.hbm, "HBM"}});
    return m;
  }

  struct Input {
    ops_element_t element;
    uint64_t address, bytes;
  };

  const RooflineKind& kind_;
  const Peaks peaks_ = peaks_of(spec_);
  const std::vector<std::unique_ptr<Operator>> operators_;
  const std::vector<uint8_t> elf_;
  kernel_list_parameters_t p_{};
  std::vector<Input> inputs_;
  std::vector<uint8_t> constants_;  // Of all operators.
  uint64_t constants_at_ = 0;
  std::vector<Places> places_;
  std::vector<std::vector<Launch>> launches_;  // Of one turn of each operator.
  std::vector<kernel_list_entry_t> entries_;
  std::vector<Kernel> kernels_;
};

}  // namespace

void RooflineKind::describe(ParameterSet& set) {
  set.text("operators", operators, kOperatorsText);
  set.number(
      "warm", warm, 0, 100,
      "Launches of an operator before the one that is measured, which finds in the L2 what they "
      "left there; 0: it starts cold, the L2 forgets what it has read before.");
}

const KindInfo& RooflineKind::info() const {
  static const KindInfo info{
      .name = "roofline",
      .sentence = "Operators of the kernel library on one GPU: time, and share of each peak.",
      .accounts = 2,
      .modes = {{"operators", "one after the other, each launched warm + 1 times"}}};
  return info;
}

std::map<std::string, uint64_t> RooflineKind::shape() const {
  return {{"operators", std::count(operators.begin(), operators.end(), ',') + 1}, {"warm", warm}};
}

void RooflineKind::check(const JobRequest& request) const {
  double work = 0;
  for (const auto& one : parse_operators(operators, request.spec, "roofline.operators"))
    work += one->reference_work();
  if (request.spec.gpu.tile_values && work > kMaxReferenceGflop * 1e9 / 2)
    throw UserError(fmt::format(
        "{}: {:.1f} GFLOP are too many to be worked out; set gpu.tile_values=false, and only times "
        "are measured, or roofline.operators of at most {} GFLOP",
        request.subject(), 2 * work / 1e9, kMaxReferenceGflop));
}

std::vector<std::string> RooflineKind::kernel_files(const JobRequest&) const {
  return {kernel_path("ops")};
}

std::unique_ptr<Job> RooflineKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<Roofline>(*this, request, std::move(memories));
}

}  // namespace stretto
