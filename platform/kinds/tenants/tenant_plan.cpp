// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tenants/tenant_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <charconv>
#include <cstring>
#include <sstream>
#include <utility>

#include "models/common/error.h"
#include "platform/jobs/job.h"
#include "platform/jobs/operands.h"
#include "platform/kinds/tenants/count_operator.h"

namespace stretto {

namespace {

// Beyond them a reference in double precision takes longer than people wait.
constexpr double kMaxReferenceGflop = 40;
constexpr uint64_t kAlign = 4096;
constexpr uint32_t kMostTimes = 1'000'000;  // Of a line, in a request.
// A client loads few of them: smaller ones first.
const std::vector<std::string> kFiles{
    "count",         "ops_gemm_fp16",   "ops_vector_fp16", "ops_elementwise_fp16",
    "ops_rows_fp16", "ops_reduce_fp16", "ops_index_fp16",  "ops"};

bool parse_number(const std::string& text, uint32_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// Operators begin with a letter.
bool is_number(const std::string& word) {
  const size_t first = word[0] == '-' || word[0] == '+' ? 1 : 0;
  return word.size() > first && word[first] >= '0' && word[first] <= '9';
}

uint64_t up(uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

const CountOperator* count_of(const Operator& op) {
  return dynamic_cast<const CountOperator*>(&op);
}

}  // namespace

TenantPlan::TenantPlan(std::string name, const std::string& kernels, uint32_t least_times,
                       uint32_t most_times, const MachineSpec& spec, uint64_t seed,
                       const stretto_client_options_t& client, const std::string& where)
    : name_(std::move(name)), spec_(spec), seed_(seed) {
  if (most_times != 0 && least_times > most_times)
    throw UserError(fmt::format("tenants.least_times={}: is more than tenants.most_times={}",
                                least_times, most_times));
  parse(kernels, where);
  for (Line& line : lines_) {
    line.times = std::max(line.times, least_times);
    if (most_times != 0) line.times = std::min(line.times, most_times);
  }
  place(client);
  make_steps(where);
}

void TenantPlan::parse(const std::string& kernels, const std::string& where) {
  std::vector<std::string> lines;
  boost::split(lines, kernels, [](char c) { return c == '\n'; });
  for (std::string& text : lines) {
    text = text.substr(0, text.find('#'));
    std::istringstream words(text);
    std::string word;
    Line line{nullptr, 1, 0, {}, {}, 0};
    bool has_times = false, has_host = false;
    while (words >> word) {
      const std::string host = "host_ns=";
      if (word.rfind(host, 0) == 0 && !std::exchange(has_host, true)) {
        if (!parse_number(word.substr(host.size()), line.host_ns))
          throw UserError(fmt::format("{}: '{}': host_ns is 0 to {}", where, word, UINT32_MAX));
      } else if (is_number(word) && line.op == nullptr && !std::exchange(has_times, true)) {
        if (!parse_number(word, line.times) || line.times == 0 || line.times > kMostTimes)
          throw UserError(fmt::format("{}: '{}': TIMES is 1 to {}", where, text, kMostTimes));
      } else if (line.op == nullptr && !is_number(word) && word.rfind(host, 0) != 0) {
        if (word.rfind("count:", 0) == 0) {
          std::vector<std::string> fields;
          boost::split(fields, word, [](char c) { return c == ':'; });
          fields.erase(fields.begin());
          line.op = std::make_unique<CountOperator>(Fields(where, word, fields));
        } else {
          line.op = parse_operator(word, spec_, where, "count, ");
        }
      } else {
        throw UserError(
            fmt::format("{}: '{}': a line is [TIMES] OPERATOR [host_ns=N], and # begins a comment",
                        where, word));
      }
    }
    if (line.op == nullptr && (has_times || has_host))
      throw UserError(fmt::format("{}: '{}' names no operator", where, text));
    if (line.op != nullptr) lines_.push_back(std::move(line));
  }
  if (lines_.empty()) throw UserError(where + ": names no operator");
}

void TenantPlan::place(const stretto_client_options_t& client) {
  memory_ = memory_plan(&client, 65536);
  const uint32_t cached = STRETTO_ALLOCATION_CACHED;
  uint64_t flags = kAlign, counts = 0, scratch = 0, outputs = 0, inputs[OPS_ELEMENTS] = {};
  for (const Line& line : lines_) flags = std::max(flags, up(line.op->flag_bytes()));
  for (Line& line : lines_) {
    const bool counts_up = count_of(*line.op) != nullptr;
    uint64_t& end = counts_up ? counts : outputs;
    line.places.output = end;
    end += up(line.op->output_bytes());
    scratch = std::max(scratch, line.op->scratch_bytes());
    line.places.constants = constants_.size();
    for (const uint8_t byte : line.op->constants()) constants_.push_back(byte);
    constants_.resize(up(constants_.size()));
    const ops_element_t element = line.op->element == OPS_TF32 ? OPS_FP32 : line.op->element;
    inputs[element] =
        std::max(inputs[element], line.op->input_elements() * ops_element_bytes(element));
  }
  Places all;
  all.flags = memory_plan_add(&memory_, "cleared", flags + counts, cached);
  for (const ops_element_t element : {OPS_FP16, OPS_BF16, OPS_FP32}) {
    if (inputs[element] == 0) continue;
    all.input[element] =
        memory_plan_add_input(&memory_, ops_element_name(element), inputs[element], cached);
    inputs_.push_back({element, all.input[element], inputs[element]});
  }
  all.input[OPS_TF32] = all.input[OPS_FP32];
  if (!constants_.empty())
    constants_at_ = memory_plan_add_input(&memory_, "constants", constants_.size(), cached);
  if (scratch != 0) all.scratch = memory_plan_add(&memory_, "scratch", scratch, cached);
  if (outputs != 0) all.output = memory_plan_add(&memory_, "outputs", outputs, cached);
  for (Line& line : lines_) {
    const uint64_t base = count_of(*line.op) != nullptr ? all.flags + flags : all.output;
    const uint64_t output = base + line.places.output,
                   constants = constants_at_ + line.places.constants;
    line.places = all;
    line.places.output = output;
    line.places.constants = constants;
    line.launches = line.op->launches(line.places);
  }
}

uint32_t TenantPlan::file_of(const std::string& kernel, const std::string& where) {
  char error[256];
  const auto has = [&](const std::vector<uint8_t>& elf) {
    return stretto_kernel_check(elf.data(), elf.size(), kernel.c_str(), nullptr, error,
                                sizeof error) == STRETTO_OK;
  };
  for (uint32_t i = 0; i < elfs_.size(); ++i)
    if (has(elfs_[i])) return i;
  for (const std::string& name : kFiles) {
    std::vector<uint8_t> elf = kernel_file(name);
    if (!has(elf)) continue;
    files_.push_back(name);
    elfs_.push_back(std::move(elf));
    if (elfs_.size() > TENANT_FILES) break;
    return static_cast<uint32_t>(elfs_.size() - 1);
  }
  throw UserError(fmt::format("{}: no shipped kernel is named {}", where, kernel));
}

void TenantPlan::make_steps(const std::string& where) {
  for (Line& line : lines_) {
    line.first_step = static_cast<uint32_t>(steps_.size());
    for (const Launch& launch : line.launches) {
      const auto kernel = kernels_.emplace(launch.kernel, kernels()).first;
      steps_.push_back({file_of(launch.kernel, where), kernel->first.c_str(), kernel->second,
                        launch.arguments.data(), static_cast<uint32_t>(launch.arguments.size()),
                        launch.work_groups, line.host_ns});
    }
    for (uint32_t i = 1; i < line.times; ++i)
      for (size_t j = 0; j < line.launches.size(); ++j)
        steps_.push_back(steps_[line.first_step + j]);
  }
}

uint64_t TenantPlan::work_groups() const {
  uint64_t sum = 0;
  for (const tenant_step_t& step : steps_) sum += step.work_groups;
  return sum;
}

void TenantPlan::place_contents(MemoryImage& memory) const {
  if (!constants_.empty())
    memory.add_generator(offset_of(constants_at_), constants_.size(),
                         [this](uint64_t at, uint8_t* out, uint64_t count) {
                           std::memcpy(out, &constants_[at - offset_of(constants_at_)], count);
                         });
  if (!spec_.gpu.tile_values) return;
  for (const Input& input : inputs_) {
    const uint64_t size = ops_element_bytes(input.element), base = offset_of(input.address);
    memory.add_generator(base, input.bytes,
                         [size, base, element = input.element, seed = seed_](
                             uint64_t at, uint8_t* out, uint64_t count) {
                           for (uint64_t i = 0; i < count; ++i) {
                             const uint64_t byte = at + i - base;
                             out[i] = static_cast<uint8_t>(input_bits(element, seed, byte / size) >>
                                                           byte % size * 8);
                           }
                         });
  }
}

// Of one line: complete requests, and what of it was launched in the one that was cut short.
uint64_t TenantPlan::executions(const Line& line, const tenant_result_t& done) const {
  const auto of_line = static_cast<uint32_t>(line.launches.size());
  const uint32_t cut = done.steps > line.first_step ? (done.steps - line.first_step) / of_line : 0;
  return uint64_t{done.requests} * line.times + std::min(cut, line.times);
}

void TenantPlan::check(MemoryImage& memory, const tenant_result_t& done,
                       CheckReport& report) const {
  double work = 0;
  for (const Line& line : lines_) work += line.op->reference_work();
  const bool compares = spec_.gpu.tile_values && work <= kMaxReferenceGflop * 1e9 / 2;
  if (!compares)
    report.limit = spec_.gpu.tile_values
                       ? "not the values of clients whose reference takes too long"
                       : "only that kernels ran; gpu.tile_values=true compares results";
  for (const Line& line : lines_) {
    const uint64_t times = executions(line, done);
    const std::string subject = fmt::format("{}: {}:{}", name_, line.op->name(), line.op->shape());
    if (const CountOperator* count = count_of(*line.op)) {
      count->expect(line.places, memory, times, subject, report);
    } else if (compares && times != 0) {
      Comparison comparison(memory, report, subject);
      line.op->check(line.places, seed_, comparison);
    } else if (times != 0) {
      ++report.elements;  // That it ran.
    }
  }
}

std::string TenantPlan::outputs_sha256(MemoryImage& memory) const {
  Digest digest;
  std::vector<uint8_t> bytes(1 << 20);
  for (const Line& line : lines_) {
    const uint64_t size = count_of(*line.op) != nullptr ? 0 : line.op->output_bytes();
    for (uint64_t at = 0; at < size; at += bytes.size()) {
      const uint64_t count = std::min<uint64_t>(bytes.size(), size - at);
      memory.read(offset_of(line.places.output) + at, bytes.data(), count);
      digest.bytes(bytes.data(), count);
    }
  }
  return digest.hex();
}

}  // namespace stretto
