// SPDX-License-Identifier: Apache-2.0
// Rows by index, see sw/kernels/ops/index.h. Indices are constants of the operator, the same whatever the seed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>

#include "platform/config/library_machine.h"
#include "platform/jobs/contents.h"
#include "platform/jobs/operators/operators.h"
#include "sw/kernels/ops/index_plan.h"

namespace stretto {

namespace {

constexpr uint64_t kIndexSeed = 2026;
// Of ranks by how often they are named: P(k) ~ 1 / k^1.05, the skew of published recommendation traces.
constexpr double kZipf = 1.05;
constexpr uint64_t kMaxIndices = 1 << 24;

// `count` rows of `rows`. Rows that are named often lie anywhere.
std::vector<uint32_t> draw(uint32_t count, uint32_t rows, bool zipf) {
  std::vector<double> reached;
  for (uint32_t k = 0; zipf && k < rows; ++k)
    reached.push_back((k == 0 ? 0 : reached.back()) + std::pow(k + 1.0, -kZipf));
  uint64_t step = 2654435761 % rows;  // A permutation of rows: no common factor.
  while (std::gcd(step, uint64_t{rows}) != 1) ++step;
  std::vector<uint32_t> indices(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t word = content_word(kIndexSeed, OPS_FP32, i);
    uint64_t rank = (word >> 16) % rows;
    if (zipf) {
      const double at = static_cast<double>(word >> 11) * 0x1p-53 * reached.back();
      rank = static_cast<uint64_t>(std::upper_bound(reached.begin(), reached.end(), at) -
                                   reached.begin());
      rank = std::min<uint64_t>(rank, rows - 1);
    }
    indices[i] = static_cast<uint32_t>(rank * step % rows);
  }
  return indices;
}

class Index : public Operator {
 public:
  std::string how() const override {
    return fmt::format("{} x {}, {} rows named", launch_.work_groups, launch_.kernel, distinct_);
  }

 protected:
  // Sizes: rows of the result or source, columns, rows of the table or result, and more.
  Index(const std::string& name, Fields& fields, size_t sizes, const char* needs)
      : Operator(name, fields.text().substr(fields.text().find(':') + 1)) {
    element = fields.element();
    is_zipf_ = fields.word({"uniform", "zipf"}) == 1;
    shape_ = fields.numbers("", sizes);
    if (shape_.empty()) fields.refuse(fmt::format("needs {}", needs));
    bytes_ = ops_element_bytes(element);
    if (row_bytes() > std::numeric_limits<uint32_t>::max())
      fields.refuse(fmt::format("rows have at most {} columns",
                                std::numeric_limits<uint32_t>::max() / bytes_));
  }
  void draw_indices(const Fields& fields, uint64_t count) {
    fields.end("fp16, bf16, fp32, uniform, zipf");
    if (count > kMaxIndices || shape_[2] > kMaxIndices)
      fields.refuse(fmt::format("at most {} indices and rows of a table", kMaxIndices));
    indices_ = draw(static_cast<uint32_t>(count), shape_[2], is_zipf_);
    distinct_ = std::set<uint32_t>(indices_.begin(), indices_.end()).size();
  }
  uint64_t row_bytes() const { return uint64_t{shape_[1]} * bytes_; }
  double table(uint64_t seed, uint64_t row, uint64_t column) const {
    return input_value(element, seed, row * shape_[1] + column);
  }
  double rounding(double value) const {
    return unit_roundoff(element) * std::abs(value) + (element == OPS_FP16 ? 0x1p-25 : 0);
  }

  std::vector<uint32_t> shape_;
  std::vector<uint32_t> indices_;
  uint64_t distinct_ = 0;
  uint64_t bytes_ = 0;  // Of an element.
  bool is_zipf_ = false;
  ops_vector_launch_t launch_{};
};

template <class T>
void append(std::vector<uint8_t>& bytes, const std::vector<T>& values) {
  const auto* const first = reinterpret_cast<const uint8_t*>(values.data());
  bytes.insert(bytes.end(), first, first + values.size() * sizeof(T));
  bytes.resize((bytes.size() + 63) / 64 * 64);
}

class Gather final : public Index {
 public:
  Gather(const std::string& name, Fields fields, const MachineSpec& spec)
      : Index(name, fields, 3, "rows x columns x rows of the table, as gather:65536x128x1000000") {
    draw_indices(fields, shape_[0]);
    const ops_machine_t machine = library_machine(spec);
    arguments_.count = shape_[0];
    arguments_.row_bytes = static_cast<uint32_t>(row_bytes());
    ops_gather_plan(&machine, &arguments_, &launch_);
  }
  uint64_t input_elements() const override { return uint64_t{shape_[2]} * shape_[1]; }
  uint64_t output_bytes() const override { return shape_[0] * row_bytes(); }
  uint64_t least_read_bytes() const override { return distinct_ * row_bytes() + 4 * shape_[0]; }
  double reference_work() const override { return 4.0 * shape_[0] * shape_[1]; }
  std::vector<uint8_t> constants() const override {
    std::vector<uint8_t> bytes;
    append(bytes, indices_);
    return bytes;
  }
  std::vector<Launch> launches(const Places& places) const override {
    ops_index_arguments_t a = arguments_;
    a.table = places.input[element];
    a.out = places.output;
    a.indices = places.constants;
    return {{launch_.kernel, argument_bytes(a), launch_.work_groups}};
  }
  void check(const Places& places, uint64_t seed, Comparison& comparison) const override {
    for (uint64_t i = 0; i < indices_.size(); ++i)
      for (uint64_t j = 0; j < shape_[1]; ++j)
        comparison.expect(element, places.output + i * row_bytes() + j * bytes_,
                          table(seed, indices_[i], j), 0, i, j);
  }

 private:
  ops_index_arguments_t arguments_{};
};

// Sums of rows by lists: embedding_bag: of a table's rows, lists of 0 to twice the mean; scatter_add: base plus the
// sources that name a row.
class Bag final : public Index {
 public:
  Bag(const std::string& name, Fields fields, const MachineSpec& spec, bool is_scatter)
      : Index(name, fields, is_scatter ? 3 : 4,
              is_scatter ? "rows of the source x columns x rows, as scatter_add:65536x128x8192"
                         : "bags x columns x rows of the table x mean rows of a bag, as "
                           "embedding_bag:8192x128x1000000x16"),
        is_scatter_(is_scatter) {
    results_ = is_scatter ? shape_[2] : shape_[0];
    offsets_.assign(results_ + 1, 0);
    if (is_scatter)
      sort_sources(fields);
    else
      draw_lists(fields);
    const ops_bag_cut_t cut = ops_bag_cut(offsets_.data(), results_, nullptr, nullptr);
    first_.resize(cut.first);
    second_.resize(cut.second);
    ops_bag_cut(offsets_.data(), results_, first_.data(), second_.data());
    parts_ = cut.parts;
    const ops_machine_t machine = library_machine(spec);
    arguments_.columns = shape_[1];
    arguments_.slices = 1;
    arguments_.count = cut.first;
    ops_bag_plan(&machine, element, 0, &arguments_, &launch_);
    ops_index_arguments_t second = arguments_;
    second.count = cut.second;
    if (cut.second != 0) ops_bag_plan(&machine, element, 1, &second, &second_launch_);
  }
  std::string how() const override {
    return Index::how() + (parts_ == 0 ? "" : fmt::format(", {} parts", parts_));
  }
  uint64_t input_elements() const override {
    if (is_scatter_) return (base_at() + results_ * row_bytes()) / bytes_;
    return uint64_t{shape_[2]} * shape_[1];
  }
  uint64_t output_bytes() const override { return results_ * row_bytes(); }
  uint64_t scratch_bytes() const override { return uint64_t{parts_} * shape_[1] * 4; }
  uint64_t least_read_bytes() const override {
    const uint64_t lists = 4 * list_.size() + 8 * results_;
    return lists + (is_scatter_ ? shape_[0] + results_ : distinct_) * row_bytes();
  }
  double reference_work() const override { return 4.0 * list_.size() * shape_[1]; }
  std::vector<uint8_t> constants() const override {
    std::vector<uint8_t> bytes;
    append(bytes, list_);
    append(bytes, first_);
    append(bytes, second_);
    return bytes;
  }
  std::vector<Launch> launches(const Places& places) const override {
    const auto behind = [](uint64_t bytes) { return (bytes + 63) / 64 * 64; };
    ops_index_arguments_t a = arguments_;
    a.table = places.input[element];
    a.base = is_scatter_ ? a.table + base_at() : 0;
    a.out = places.output;
    a.parts = places.scratch;
    a.indices = places.constants;
    a.segments = a.indices + behind(4 * list_.size());
    std::vector<Launch> all{{launch_.kernel, argument_bytes(a), launch_.work_groups}};
    if (second_.empty()) return all;
    a.segments += behind(sizeof(ops_index_segment_t) * first_.size());
    a.count = static_cast<uint32_t>(second_.size());
    a.table = a.parts;
    a.indices = 0;
    all.push_back({second_launch_.kernel, argument_bytes(a), second_launch_.work_groups});
    return all;
  }
  void check(const Places& places, uint64_t seed, Comparison& comparison) const override {
    std::vector<double> sum(shape_[1]), size(shape_[1]);
    for (uint64_t row = 0; row < results_; ++row) {
      for (uint64_t j = 0; j < shape_[1]; ++j) {
        sum[j] =
            is_scatter_ ? input_value(element, seed, base_at() / bytes_ + row * shape_[1] + j) : 0;
        size[j] = std::abs(sum[j]);
      }
      for (uint32_t i = offsets_[row]; i < offsets_[row + 1]; ++i) {
        for (uint64_t j = 0; j < shape_[1]; ++j) {
          const double value = table(seed, list_[i], j);
          sum[j] += value;
          size[j] += std::abs(value);
        }
      }
      const double terms = offsets_[row + 1] - offsets_[row] + 1.0;
      for (uint64_t j = 0; j < shape_[1]; ++j)
        comparison.expect(element, places.output + row * row_bytes() + j * bytes_, sum[j],
                          terms * 0x1p-24 * size[j] + rounding(sum[j]), row, j);
    }
  }

 private:
  uint64_t base_at() const { return operand_end(shape_[0] * row_bytes()); }

  // Sources by the row that they name, in ascending order.
  void sort_sources(const Fields& fields) {
    draw_indices(fields, shape_[0]);
    for (const uint32_t row : indices_) ++offsets_[row + 1];
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    list_.resize(indices_.size());
    std::vector<uint32_t> next(offsets_.begin(), offsets_.end() - 1);
    for (uint32_t source = 0; source < indices_.size(); ++source)
      list_[next[indices_[source]]++] = source;
  }

  void draw_lists(const Fields& fields) {
    const uint64_t mean = shape_[3];
    uint64_t total = 0;
    for (uint32_t bag = 0; bag < results_; ++bag) {
      total += content_word(kIndexSeed + 1, OPS_FP32, bag) % (2 * mean + 1);
      if (total > kMaxIndices) break;
      offsets_[bag + 1] = static_cast<uint32_t>(total);
    }
    draw_indices(fields, total);
    list_ = indices_;
  }

  const bool is_scatter_;
  uint32_t results_ = 0, parts_ = 0;
  std::vector<uint32_t> offsets_, list_;  // Of each result, rows of the table or source.
  std::vector<ops_index_segment_t> first_, second_;
  ops_index_arguments_t arguments_{};
  ops_vector_launch_t second_launch_{};
};

}  // namespace

std::unique_ptr<Operator> make_index(const std::string& name, Fields fields,
                                     const MachineSpec& spec) {
  if (name == "gather") return std::make_unique<Gather>(name, std::move(fields), spec);
  if (name == "embedding_bag" || name == "scatter_add")
    return std::make_unique<Bag>(name, std::move(fields), spec, name == "scatter_add");
  return nullptr;
}

std::vector<std::string> index_names() { return {"gather", "embedding_bag", "scatter_add"}; }

}  // namespace stretto
