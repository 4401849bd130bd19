// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/graph/graph_check.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

namespace stretto {

namespace json = boost::json;

namespace {

constexpr double kOverflow = 65520;  // From here on FP16 has infinity.
// Within a pipeline several products follow each other, and a bound that takes all errors at their worst grows to many
// times the values. Results are then held to so many times what independent errors come to. Likewise masters, to so many
// times what gradients were seen to differ: a weight's own rounding is larger.
constexpr double kSpread = 8;

std::string text_of(const json::value& value) { return value.as_string().c_str(); }

std::vector<double> contents(const GraphPlan& plan, size_t index, uint32_t rank, uint64_t seed) {
  if (plan.tensors[index].kind == "index") {
    std::vector<double> indices(plan.tensors[index].elements() / 2);
    for (uint64_t i = 0; i < indices.size(); ++i)
      indices[i] = graph_index(seed, plan.tensors[index], index, i);
    return indices;
  }
  if (plan.tensors[index].kind == "master")
    return contents(plan, plan.tensors[index].master_of, rank, seed);
  const GraphContent content(seed, plan.tensors[index], index, rank);
  std::vector<double> values(plan.tensors[index].elements());
  for (uint64_t e = 0; e < values.size(); ++e) values[e] = number_from_fp16(content(e));
  return values;
}

using State = std::map<std::string, Numbers>;  // Tensors of one rank.

class Checker {
 public:
  Checker(const GraphPlan& plan, const GraphRun& run, CheckReport& report)
      : plan_(plan),
        run_(run),
        report_(report),
        states_(run.ranks),
        spread_(run.ranks),
        memory_(run.ranks) {
    for (size_t i = 0; i < plan.tensors.size(); ++i) {
      index_[plan.tensors[i].name] = i;
      has_pipelines_ = has_pipelines_ || !run.is_left(i);
    }
    for (const json::value& value : plan.ops) {
      const json::object& op = value.as_object();
      const std::string kind = text_of(op.at("kind")), output = text_of(op.at("output"));
      if (kind == "AllReduce") reduced_.insert(output);
      if (kind == "Update") updates_[output] = &op;
    }
    for (const auto& [weight, op] : updates_) moving_.insert(weight);
    for (const json::value& op : plan.ops) {
      for (const json::value& name : op.at("inputs").as_array())
        if (moving_.contains(text_of(name))) moving_.insert(text_of(op.at("output")));
    }
  }

  void check() {
    for (uint32_t rank = 0; rank < run_.ranks; ++rank) {
      for (size_t i = 0; i < plan_.tensors.size(); ++i) read(rank, i);
    }
    const auto is_compared = [this](const auto& update) { return !is_exact(*update.second); };
    if (run_.iterations > 1 && std::any_of(updates_.begin(), updates_.end(), is_compared))
      run_whole();
    for (uint32_t rank = 0; rank < run_.ranks; ++rank) begin(rank);
    if (has_pipelines_) spread_ = states_;
    for (const json::value& value : plan_.ops) {
      const json::object& op = value.as_object();
      const std::string kind = text_of(op.at("kind"));
      if (kind == "AllReduce") {
        reduce(op);
        continue;
      }
      for (uint32_t rank = 0; rank < run_.ranks; ++rank) {
        if (has_master(op))
          compare_master(rank, op);
        else
          kind == "Update" && run_.iterations > 1 ? compare_update(rank, op) : compare(rank, op);
      }
    }
  }

 private:
  Numbers evaluate(const State& state, const json::object& op,
                   OperandErrors errors = OperandErrors::worst) const {
    std::vector<const Numbers*> inputs;
    for (const json::value& name : op.at("inputs").as_array())
      inputs.push_back(&state.at(text_of(name)));
    const auto known = index_.find(text_of(op.at("output")));
    // A value without a place has gone into the next operator: the sum of a product, with or without its row.
    const uint64_t columns =
        known != index_.end() ? plan_.tensors[known->second].columns : inputs.back()->value.size();
    return work_out(op, inputs, columns, run_.kernels, errors);
  }

  // What is not written by an operator must be there to the bit.
  void read(uint32_t rank, size_t index) {
    const GraphTensor& tensor = plan_.tensors[index];
    const bool is_written =
        tensor.kind == "value" || tensor.kind == "gradient" || updates_.contains(tensor.name);
    if (!run_.is_left(index)) return;
    const std::vector<uint16_t> elements = run_.read(rank, index);
    std::vector<double>& numbers = memory_[rank][tensor.name];
    for (uint64_t e = 0; tensor.kind == "master" && e < elements.size(); e += 2)
      numbers.push_back(std::bit_cast<float>(elements[e] | uint32_t{elements[e + 1]} << 16));
    if (tensor.kind == "master") return;
    const GraphContent content(run_.seed, tensor, index, rank);
    for (uint64_t e = 0; e < elements.size(); ++e) {
      numbers.push_back(number_from_fp16(elements[e]));
      if (is_written) continue;
      ++report_.elements;
      const uint16_t expected = content(e);
      if (elements[e] != expected)
        mismatch(rank, tensor, e,
                 fmt::format("got {:#06x}, expected {:#06x}", elements[e], expected));
    }
  }

  // What the last iteration has found.
  void begin(uint32_t rank) {
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      const GraphTensor& tensor = plan_.tensors[i];
      if (tensor.kind == "value" || tensor.kind == "gradient" || tensor.kind == "master") continue;
      Numbers& numbers = states_[rank][tensor.name];
      const auto update = updates_.find(tensor.name);
      if (update == updates_.end() || run_.iterations == 1) {
        numbers.value = contents(plan_, i, rank, run_.seed);
      } else if (has_master(*update->second)) {
        numbers = before_master_update(rank, *update->second);
      } else {
        numbers = before_update(rank, tensor.name, *update->second);
      }
    }
  }

  // The step is known to the bit: a product of two FP16 numbers, rounded once. The weight was rounded behind it.
  Numbers before_update(uint32_t rank, const std::string& weight, const json::object& op) const {
    Numbers before{memory_[rank].at(weight), {}};
    std::vector<double> step = memory_[rank].at(text_of(op.at("inputs").at(1)));
    const double rate = update_rate(op);
    for (double& value : step) value *= rate;
    round_to_fp16(step);
    for (uint64_t i = 0; i < step.size(); ++i) {
      before.error.push_back(half_ulp(std::abs(before.value[i])));
      before.value[i] += step[i];
    }
    return before;
  }

  // The master that was rounded to the weight: the step is known to the bit, the difference was rounded once.
  Numbers before_master_update(uint32_t rank, const json::object& op) const {
    Numbers before{memory_[rank].at(text_of(op.at("inputs").at(2))), {}};
    const std::vector<double>& gradient = memory_[rank].at(text_of(op.at("inputs").at(1)));
    const double rate = update_rate(op);
    for (uint64_t i = 0; i < gradient.size(); ++i) {
      const double master = before.value[i] + static_cast<float>(rate * gradient[i]);
      const double error = half_ulp_fp32(std::abs(before.value[i]));
      std::vector<double> ends{master - error, master + error};
      round_to_fp16(ends);
      const bool is_known = ends[0] == ends[1];
      before.value[i] = is_known ? ends[0] : master;
      before.error.push_back(is_known ? 0 : error + half_ulp(std::abs(master) + error));
    }
    return before;
  }

  void compare(uint32_t rank, const json::object& op) {
    const std::string output = text_of(op.at("output"));
    Numbers out = evaluate(states_[rank], op), spread;
    if (has_pipelines_) {
      spread = evaluate(spread_[rank], op, OperandErrors::independent);
      for (uint64_t i = 0; i < out.error.size(); ++i)
        out.error[i] = std::min(out.error[i], kSpread * spread.error[i]);
    }
    const auto known = index_.find(output);
    const bool is_last = reduced_.count(output) == 0 || text_of(op.at("kind")) == "Update";
    if (known != index_.end() && is_last && run_.is_left(known->second)) {
      expect(rank, known->second, out);
      out = spread = {memory_[rank].at(output), {}};
    }
    if (has_pipelines_) spread_[rank][output] = std::move(spread);
    states_[rank][output] = std::move(out);
  }

  // FP16 sums over the ranks, in whatever order.
  void reduce(const json::object& op) {
    const std::string name = text_of(op.at("output"));
    Numbers sum = states_[0].at(name);
    std::vector<double> size(sum.value.size());
    for (uint32_t rank = 0; rank < run_.ranks; ++rank) {
      const Numbers& one = states_[rank].at(name);
      for (uint64_t i = 0; i < size.size(); ++i) {
        size[i] += std::abs(one.value[i]) + one.error_of(i);
        if (rank == 0) continue;
        sum.value[i] += one.value[i];
        sum.error[i] += one.error_of(i);
      }
    }
    for (uint64_t i = 0; i < size.size(); ++i) sum.error[i] += (run_.ranks - 1) * half_ulp(size[i]);
    for (uint32_t rank = 0; rank < run_.ranks; ++rank) {
      expect(rank, index_.at(name), sum);
      states_[rank][name] = {memory_[rank].at(name), {}};
      if (has_pipelines_) spread_[rank][name] = states_[rank][name];
    }
  }

  // A run from the beginning, every tensor rounded, but for masters.
  void run_whole() {
    whole_.resize(run_.ranks);
    for (uint32_t rank = 0; rank < run_.ranks; ++rank)
      for (size_t i = 0; i < plan_.tensors.size(); ++i)
        whole_[rank][plan_.tensors[i].name].value = contents(plan_, i, rank, run_.seed);
    for (uint32_t iteration = 0; iteration < run_.iterations; ++iteration) {
      note_magnitudes();
      for (const json::value& value : plan_.ops) {
        const json::object& op = value.as_object();
        const std::string output = text_of(op.at("output"));
        std::vector<double> sum;
        for (uint32_t rank = 0; rank < run_.ranks; ++rank) {
          Numbers& out = whole_[rank][output];
          if (has_master(op)) {
            Numbers& master = whole_[rank].at(text_of(op.at("inputs").at(2)));
            const Numbers& gradient = whole_[rank].at(text_of(op.at("inputs").at(1)));
            master = {update_master(op, master, gradient).value, {}};
            out.value = master.value;
            round_to_fp16(out.value);
          } else if (text_of(op.at("kind")) != "AllReduce") {
            out.value = evaluate(whole_[rank], op).value;
            round_to_fp16(out.value);
          } else {
            sum.resize(out.value.size());
            for (uint64_t i = 0; i < sum.size(); ++i) sum[i] += out.value[i];
          }
        }
        round_to_fp16(sum);
        for (uint32_t rank = 0; !sum.empty() && rank < run_.ranks; ++rank)
          whole_[rank][output].value = sum;
      }
    }
  }

  // Of a weight, over the iterations of the whole run.
  void note_magnitudes() {
    for (const auto& [weight, op] : updates_) {
      for (uint32_t rank = 0; rank < run_.ranks; ++rank) {
        const std::vector<double>& value = whole_[rank].at(weight).value;
        std::vector<double>& most = magnitude_[{rank, weight}];
        most.resize(value.size());
        for (size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], std::abs(value[i]));
      }
    }
  }

  // Whether a master is known but for its own roundings.
  bool is_exact(const json::object& op) const {
    const bool is_same = !moving_.contains(text_of(op.at("inputs").at(1)));
    return has_master(op) && (run_.iterations == 1 || is_same);
  }

  void compare_master(uint32_t rank, const json::object& op) {
    const auto input = [&](size_t i) { return text_of(op.at("inputs").at(i)); };
    const std::string weight = input(0), master = input(2);
    Numbers out;
    if (is_exact(op)) {
      out.value = contents(plan_, index_.at(weight), rank, run_.seed);
      for (uint32_t iteration = 0; iteration < run_.iterations; ++iteration)
        out = update_master(op, out, states_[rank].at(input(1)));
    } else {
      out = of_whole(rank, master, op, half_ulp_fp32, kSpread);
    }
    expect(rank, index_.at(master), out);
    out = {memory_[rank].at(master), {}};
    round_to_fp16(out.value);
    expect(rank, index_.at(weight), out);
    states_[rank][weight] = {memory_[rank].at(weight), {}};
  }

  void compare_update(uint32_t rank, const json::object& op) {
    const std::string weight = text_of(op.at("output"));
    expect(rank, index_.at(weight), of_whole(rank, weight, op, half_ulp, 1));
    states_[rank][weight] = {memory_[rank].at(weight), {}};
  }

  // What the whole run gives a weight or its master, with its bound; `half`: half an ulp of what is updated, `times`:
  // what gradients of earlier iterations may have differed, in terms of those of the last one.
  Numbers of_whole(uint32_t rank, const std::string& updated, const json::object& op,
                   double (*half)(double), double times) const {
    const std::string weight = text_of(op.at("output")), gradient = text_of(op.at("inputs").at(1));
    const std::vector<double>&seen = memory_[rank].at(gradient),
          &expected = whole_[rank].at(gradient).value;
    double differ = 0, largest = 0;
    for (uint64_t i = 0; i < seen.size(); ++i) {
      differ = std::max(differ, std::abs(seen[i] - expected[i]));
      largest = std::max(largest, std::abs(expected[i]));
    }
    const double rate = std::abs(update_rate(op));
    Numbers out{whole_[rank].at(updated).value, {}};
    const std::vector<double>& magnitude = magnitude_.at({rank, weight});
    for (uint64_t i = 0; i < out.value.size(); ++i) {
      // Both runs round the step and the weight.
      const double each = times * rate * differ + 2 * half(rate * largest) +
                          2 * half(std::max(magnitude[i], std::abs(out.value[i])));
      out.error.push_back(run_.iterations * each);
    }
    return out;
  }

  void expect(uint32_t rank, size_t index, const Numbers& expected) {
    const GraphTensor& tensor = plan_.tensors[index];
    const std::vector<double>& got = memory_[rank].at(tensor.name);
    for (uint64_t e = 0; e < std::min(got.size(), expected.value.size()); ++e) {
      ++report_.elements;
      const double value = expected.value[e], bound = expected.error_of(e);
      const double error = std::abs(got[e] - value);
      const bool is_overflow =
          tensor.kind != "master" && std::isinf(got[e]) && std::isfinite(value) &&
          std::signbit(got[e]) == std::signbit(value) && std::abs(value) + bound >= kOverflow;
      if (got[e] == value || is_overflow || (std::isnan(got[e]) && std::isnan(value))) continue;
      if (!(error <= bound)) {
        mismatch(rank, tensor, e,
                 fmt::format("got {:.6g}, expected {:.6g} within {:.2g}", got[e], value, bound));
      } else {
        report_.max_error = std::max(report_.max_error, error / bound);
      }
    }
  }

  void mismatch(uint32_t rank, const GraphTensor& tensor, uint64_t e, const std::string& what) {
    const uint64_t columns = tensor.kind == "master" ? tensor.columns / 2 : tensor.columns;
    if (report_.mismatches++ == 0)
      report_.first = fmt::format("rank {} tensor {} row {} column {}: {}", rank, tensor.name,
                                  e / columns, e % columns, what);
  }

  const GraphPlan& plan_;
  const GraphRun& run_;
  CheckReport& report_;
  std::map<std::string, size_t> index_;
  std::set<std::string> reduced_;
  std::map<std::string, const json::object*> updates_;
  std::set<std::string> moving_;  // Tensors that weights reach that are updated.
  bool has_pipelines_ = false;
  std::vector<State> states_, spread_, whole_;
  std::map<std::pair<uint32_t, std::string>, std::vector<double>> magnitude_;
  std::vector<std::map<std::string, std::vector<double>>> memory_;
};

}  // namespace

void check_graph(const GraphPlan& plan, const GraphRun& run, CheckReport& report) {
  report.error_bound = 1;
  Checker(plan, run, report).check();
}

}  // namespace stretto
