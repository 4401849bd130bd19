// SPDX-License-Identifier: Apache-2.0
// gemm: C = activation(A B + bias + D), see sw/kernels/ops/gemm.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "platform/config/library_machine.h"
#include "platform/jobs/operators/operators.h"

namespace stretto {

namespace {

constexpr uint64_t kAlign = 4096;  // Of operands.

uint64_t up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

// The operand of a TF32 product: 10 bits behind the point.
double rounded(ops_element_t element, double x) {
  if (element != OPS_TF32 || x == 0) return x;
  const double unit = std::ldexp(1.0, std::ilogb(x) - 10);
  return std::round(x / unit) * unit;
}

// What of the wish the library has not, and what there is instead.
std::string refusal(const ops_machine_t& machine, const ops_gemm_shape_t& shape,
                    const ops_gemm_choice_t& wanted) {
  const uint32_t bytes = ops_element_bytes(shape.element);
  if (ops_products(&machine, shape.element) == 0)
    return fmt::format("the machine has no products of {}; it has fp16, bf16, fp32",
                       ops_element_name(shape.element));
  std::string tiles;
  uint32_t registers = 0;
#define TILE(m, n, wavefronts, piece)                               \
  tiles += fmt::format("{}{}x{}", tiles.empty() ? "" : ", ", m, n); \
  if (wanted.tile_m == (m) && wanted.tile_n == (n))                 \
    registers = OPS_GEMM_REGISTERS(m, n, wavefronts, piece);
  OPS_GEMM_TILES(TILE)
#undef TILE
  if (wanted.tile_m != 0 && registers == 0)
    return fmt::format("there is no tile {}x{}; allowed: {}", wanted.tile_m, wanted.tile_n, tiles);
  const uint32_t least = OPS_GEMM_MIN_STEP_BYTES / bytes, most = OPS_GEMM_MAX_STEP_BYTES / bytes;
  if (wanted.step != 0 && wanted.step != least && wanted.step != most)
    return fmt::format("there is no K step of {} {}; allowed: {}, {}", wanted.step,
                       ops_element_name(shape.element), least, most);
  if (wanted.stages != 0 && (wanted.stages < 2 || wanted.stages > machine.stages))
    return fmt::format("{} buffers; allowed on this machine: {}", wanted.stages,
                       machine.stages == 2 ? "2" : fmt::format("2 to {}", machine.stages));
  if (registers != 0) {
    const uint32_t lds =
        OPS_GEMM_LDS(wanted.tile_m, wanted.tile_n, wanted.step * bytes, wanted.stages);
    if (registers > machine.registers_bytes || lds > machine.lds_bytes)
      return fmt::format(
          "the tile needs {} KiB of registers and {} of LDS, a unit has {} and {}; allowed: fewer "
          "buffers, a shorter K step, a smaller tile",
          registers / 1024, lds / 1024, machine.registers_bytes / 1024, machine.lds_bytes / 1024);
  }
  // Without a wish, of the smallest tile and the shortest step.
  const auto up = [](uint64_t value, uint32_t step) { return (value + step - 1) / step; };
  const uint64_t steps = up(shape.k, wanted.step != 0 ? wanted.step : least);
  const uint64_t all = steps * shape.batch * up(shape.m, registers != 0 ? wanted.tile_m : 64) *
                       up(shape.n, registers != 0 ? wanted.tile_n : 64);
  if (wanted.streams != 0 && wanted.streams != OPS_GEMM_NO_STREAMS)
    return fmt::format("streams={}; allowed: 0 to {}, and no split", wanted.streams,
                       std::min<uint64_t>(OPS_GEMM_MAX_STREAMS, all));
  if (wanted.split > 1)
    return fmt::format("split={}; allowed: 1 to {}, and partial sums of less than 4 GiB a part",
                       wanted.split, std::min<uint64_t>(OPS_GEMM_MAX_SPLIT, steps));
  return "no tile of the library fits a unit of this machine";
}

class Gemm final : public Operator {
 public:
  Gemm(Fields fields, const MachineSpec& spec) : Operator("gemm", shape_of(fields.text())) {
    element = static_cast<ops_element_t>(fields.word({"fp16", "bf16", "tf32", "fp32"}));
    const size_t layout = fields.word({"nn", "tn", "nt", "tt"});
    const std::vector<uint32_t> tile = fields.numbers("tile", 4),
                                split = fields.numbers("split", 1),
                                streams = fields.numbers("streams", 1, 0),
                                batch = fields.numbers("batch", 1), mnk = fields.numbers("", 3);
    if (mnk.empty()) fields.refuse("needs M x N x K, as gemm:4096x4096x4096");
    activation_ = static_cast<uint32_t>(fields.word({"", "relu", "gelu"}));
    has_bias_ = fields.word({"", "bias"}) != 0;
    has_addend_ = fields.word({"", "add"}) != 0;
    fields.end(
        "fp16, bf16, tf32, fp32, nn, tn, nt, tt, batch=B, bias, add, relu, gelu, "
        "tile=MxNxKxBUFFERS, split=S, streams=G");
    s_ = {element,
          mnk[0],
          mnk[1],
          mnk[2],
          batch.empty() ? 1 : batch[0],
          (layout & 1 ? GEMM_A_KM : 0) | (layout & 2 ? GEMM_B_NK : 0),
          has_addend_};
    ops_gemm_choice_t wanted{};
    if (!tile.empty()) {
      wanted.tile_m = tile[0];
      wanted.tile_n = tile[1];
      wanted.step = tile[2];
      wanted.stages = tile[3];
    }
    if (!split.empty()) wanted.split = split[0];
    if (!streams.empty()) wanted.streams = streams[0] == 0 ? OPS_GEMM_NO_STREAMS : streams[0];
    if (!split.empty() && !streams.empty())
      fields.refuse("split and streams exclude each other; allowed: one of them");
    const ops_machine_t machine = library_machine(spec);
    if (ops_gemm_choose(&machine, &s_, &wanted, &choice_) == 0)
      fields.refuse(refusal(machine, s_, wanted));
    const uint64_t bytes = ops_element_bytes(element);
    row_bytes_a_ = bytes * (s_.layout & GEMM_A_KM ? s_.m : s_.k);
    row_bytes_b_ = bytes * (s_.layout & GEMM_B_NK ? s_.k : s_.n);
    row_bytes_c_ = bytes * s_.n;
    a_bytes_ = row_bytes_a_ * (s_.layout & GEMM_A_KM ? s_.k : s_.m);
    b_bytes_ = row_bytes_b_ * (s_.layout & GEMM_B_NK ? s_.n : s_.k);
    b_at_ = up(a_bytes_ * s_.batch, kAlign);
    bias_at_ = up(b_at_ + b_bytes_ * s_.batch, kAlign);
    addend_at_ = bias_at_ + up(row_bytes_c_, kAlign);
  }

  uint64_t input_elements() const override {
    return (addend_at_ + (has_addend_ ? output_bytes() : 0)) / ops_element_bytes(element);
  }
  uint64_t output_bytes() const override { return row_bytes_c_ * s_.m * s_.batch; }
  uint64_t scratch_bytes() const override { return choice_.partial_bytes; }
  uint64_t flag_bytes() const override { return choice_.flag_bytes; }
  double products() const override { return 1.0 * s_.m * s_.n * s_.k * s_.batch; }
  double reference_work() const override { return products(); }
  uint64_t least_read_bytes() const override {
    return (a_bytes_ + b_bytes_) * s_.batch + (has_addend_ ? output_bytes() : 0);
  }

  std::string how() const override {
    std::string text =
        fmt::format("{}x{}x{}x{}", choice_.tile_m, choice_.tile_n, choice_.step, choice_.stages);
    if (choice_.split > 1) text += fmt::format(" split {}", choice_.split);
    if (choice_.streams != 0)
      text += fmt::format(" streams {} of {}", choice_.streams, choice_.stream_tiles);
    return text;
  }

  std::vector<Launch> launches(const Places& places) const override {
    ops_gemm_arguments_t g;
    ops_gemm_fill(&s_, &choice_, &g);
    g.a = places.input[element];
    g.b = g.a + b_at_;
    g.c = places.output;
    g.bias = has_bias_ ? g.a + bias_at_ : 0;
    g.addend = has_addend_ ? g.a + addend_at_ : 0;
    g.partials = places.scratch;
    g.flags = places.flags;
    g.a_stride = a_bytes_;
    g.b_stride = b_bytes_;
    g.c_stride = row_bytes_c_ * s_.m;
    g.lda = static_cast<uint32_t>(row_bytes_a_);
    g.ldb = static_cast<uint32_t>(row_bytes_b_);
    g.ldc = static_cast<uint32_t>(row_bytes_c_);
    g.activation = activation_;
    std::vector<uint8_t> bytes(choice_.argument_bytes);
    std::memcpy(bytes.data(), &g, bytes.size());
    std::vector<Launch> all{{choice_.kernel, bytes, choice_.work_groups}};
    if (choice_.split > 1) all.push_back({choice_.reduce, bytes, choice_.reduce_work_groups});
    return all;
  }

  void check(const Places& places, uint64_t seed, Comparison& comparison) const override {
    const uint64_t bytes = ops_element_bytes(element);
    const uint64_t lda = row_bytes_a_ / bytes, ldb = row_bytes_b_ / bytes;
    const double eps = unit_roundoff(element);
    const uint32_t parts =  // Of a tile, at most.
        choice_.streams == 0 ? choice_.split : choice_.streams / choice_.stream_tiles + 2;
    std::vector<double> a(s_.k), sum(s_.n), size(s_.n);
    std::vector<double> b(uint64_t{s_.k} * s_.n);
    for (uint32_t batch = 0; batch < s_.batch; ++batch) {
      const uint64_t first_a = batch * a_bytes_ / bytes,
                     first_b = (b_at_ + batch * b_bytes_) / bytes;
      for (uint32_t k = 0; k < s_.k; ++k) {
        for (uint32_t j = 0; j < s_.n; ++j)
          b[uint64_t{k} * s_.n + j] =
              operand(seed, first_b + (s_.layout & GEMM_B_NK ? j * ldb + k : k * ldb + j));
      }
      for (uint32_t i = 0; i < s_.m; ++i) {
        std::fill(sum.begin(), sum.end(), 0);
        std::fill(size.begin(), size.end(), 0);
        for (uint32_t k = 0; k < s_.k; ++k) {
          const double x =
              operand(seed, first_a + (s_.layout & GEMM_A_KM ? k * lda + i : i * lda + k));
          const double* const row = b.data() + uint64_t{k} * s_.n;
          for (uint32_t j = 0; j < s_.n; ++j) {
            sum[j] += x * row[j];
            size[j] += std::abs(x * row[j]);
          }
        }
        for (uint32_t j = 0; j < s_.n; ++j) {
          // FP32 sums of K products and of parts, then a rounding of the sum and of each step behind it.
          double error = (s_.k + parts + 2) * 0x1p-24 * size[j] + eps * std::abs(sum[j]);
          double wanted = sum[j];
          if (has_bias_) {
            wanted += input_value(element, seed, bias_at_ / bytes + j);
            error += eps * std::abs(wanted);
          }
          if (has_addend_) {
            const uint64_t at = (uint64_t{batch} * s_.m + i) * s_.n + j;
            wanted += input_value(element, seed, addend_at_ / bytes + at);
            error += eps * std::abs(wanted);
          }
          if (activation_ == OPS_GEMM_RELU) wanted = std::max(wanted, 0.0);
          if (activation_ == OPS_GEMM_GELU) {
            wanted = gelu(wanted);
            error = 1.13 * error + eps * std::abs(wanted) + 0x1p-22;  // Its slope is at most 1.13.
          }
          if (element == OPS_FP16) error += 0x1p-25;  // Denormals.
          comparison.expect(element,
                            places.output + (uint64_t{batch} * s_.m + i) * row_bytes_c_ + j * bytes,
                            wanted, error, uint64_t{batch} * s_.m + i, j);
        }
      }
    }
  }

 private:
  static std::string shape_of(const std::string& text) { return text.substr(text.find(':') + 1); }
  double operand(uint64_t seed, uint64_t index) const {
    return rounded(element, input_value(element, seed, index));
  }

  ops_gemm_shape_t s_;
  ops_gemm_choice_t choice_;
  uint32_t activation_ = 0;
  bool has_bias_ = false;
  bool has_addend_ = false;
  uint64_t row_bytes_a_, row_bytes_b_, row_bytes_c_;
  uint64_t a_bytes_, b_bytes_;  // Of one matrix.
  uint64_t b_at_, bias_at_, addend_at_;
};

}  // namespace

std::unique_ptr<Operator> make_gemm(Fields fields, const MachineSpec& spec) {
  return std::make_unique<Gemm>(std::move(fields), spec);
}

}  // namespace stretto
