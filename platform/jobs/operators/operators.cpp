// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/operators/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <charconv>
#include <cmath>
#include <cstring>

#include "models/common/arithmetic.h"
#include "models/common/error.h"
#include "platform/jobs/contents.h"
#include "sw/include/formats/address_map.h"

namespace stretto {

const char* const kOperatorsText =
    "Operators with commas between, each NAME:SHAPE with options: gemm:MxNxK, fp16|bf16|tf32|fp32, "
    "nn|tn|nt|tt (t: stored transposed), batch=B, bias, add, relu|gelu, tile=MxNxKxBUFFERS, "
    "split=S or streams=G (0: none shares a tile); "
    "attention:HEADSxQUERIESxKEYSxD (fp16); "
    "copy|gelu|relu|add|mul|gelu_grad|relu_grad|triad:ELEMENTS, "
    "softmax|layer_norm|gemv|softmax_grad|layer_norm_grad|sum_rows|sum_columns:ROWSxCOLUMNS, "
    "concat:ROWSxCOLUMNSxCOLUMNS, each fp16|bf16|fp32; "
    "gather:ROWSxCOLUMNSxTABLE_ROWS, embedding_bag:BAGSxCOLUMNSxTABLE_ROWSxMEAN_ROWS_OF_A_BAG, "
    "scatter_add:SOURCE_ROWSxCOLUMNSxROWS, likewise and uniform|zipf: how often a row is named.";

namespace {

std::vector<std::string> parts_of(const std::string& text, const char* separators) {
  std::vector<std::string> parts;
  boost::split(parts, text, boost::is_any_of(separators));
  for (std::string& part : parts) boost::trim(part);
  return parts;
}

}  // namespace

// Magnitudes in [2^-6, 1), either sign, all fraction bits: no sum overflows.
uint32_t input_bits(ops_element_t element, uint64_t seed, uint64_t index) {
  const uint64_t x = content_word(seed, element == OPS_TF32 ? OPS_FP32 : element, index);
  const auto below_one = static_cast<uint32_t>(1 + (x >> 32) % 6);  // Exponent -1 .. -6.
  const auto sign = static_cast<uint32_t>(x >> 63);
  const auto fraction = static_cast<uint32_t>(x);
  if (element == OPS_FP16) return sign << 15 | (15 - below_one) << 10 | (fraction & 0x3FF);
  if (element == OPS_BF16) return sign << 15 | (127 - below_one) << 7 | (fraction & 0x7F);
  return sign << 31 | (127 - below_one) << 23 | (fraction & 0x7FFFFF);
}

double value_of(ops_element_t element, uint32_t bits) {
  if (element == OPS_FP16) return fp32_from_fp16(static_cast<uint16_t>(bits));
  if (element == OPS_BF16) return fp32_from_bf16(static_cast<uint16_t>(bits));
  return std::bit_cast<float>(bits);
}

double input_value(ops_element_t element, uint64_t seed, uint64_t index) {
  return value_of(element, input_bits(element, seed, index));
}

double unit_roundoff(ops_element_t element) {
  return element == OPS_FP16 ? 0x1p-11 : element == OPS_BF16 ? 0x1p-8 : 0x1p-24;
}

void Comparison::expect(ops_element_t element, uint64_t address, double wanted, double error,
                        uint64_t row, uint64_t column) {
  uint32_t bits = 0;
  memory_.read(address & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&bits),
               ops_element_bytes(element));
  const double got = value_of(element, bits);
  ++report_.elements;
  if (std::abs(got - wanted) <= error) return;
  if (report_.mismatches++ == 0)
    report_.first = fmt::format("{}: element ({}, {}) is {}, should be {} +- {:.2g}", subject_, row,
                                column, got, wanted, error);
}

std::vector<uint32_t> Fields::numbers(const std::string& key, size_t count, uint32_t least) {
  for (auto field = fields_.begin(); field != fields_.end(); ++field) {
    if (!key.empty() && field->rfind(key + "=", 0) != 0) continue;
    if (key.empty() && !std::isdigit(static_cast<unsigned char>(field->front()))) continue;
    std::vector<uint32_t> values;
    for (const std::string& part : parts_of(field->substr(key.empty() ? 0 : key.size() + 1), "x")) {
      uint32_t value = 0;
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
      if (error != std::errc() || end != part.data() + part.size() || value < least)
        refuse(fmt::format("'{}' is no size; allowed: whole numbers from {} on{}", *field, least,
                           count > 1 ? ", with x between" : ""));
      values.push_back(value);
    }
    if (values.size() != count)
      refuse(fmt::format("'{}' needs {} numbers with x between", *field, count));
    fields_.erase(field);
    return values;
  }
  return {};
}

size_t Fields::word(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    const auto field = std::find(fields_.begin(), fields_.end(), words[i]);
    if (field == fields_.end()) continue;
    fields_.erase(field);
    return i;
  }
  return 0;
}

void Fields::refuse(const std::string& why) const {
  throw UserError(fmt::format("{}: '{}': {}", where_, text_, why));
}

void Fields::end(const std::string& allowed) const {
  if (!fields_.empty())
    refuse(fmt::format("'{}' is unknown or comes twice; allowed: {}", fields_.front(), allowed));
}

ops_element_t Fields::element() {
  return std::array{OPS_FP16, OPS_BF16, OPS_FP32}[word({"fp16", "bf16", "fp32"})];
}

std::unique_ptr<Operator> parse_operator(const std::string& text, const MachineSpec& spec,
                                         const std::string& where, const char* others) {
  std::vector<std::string> parts = parts_of(text, ":");
  const std::string name = parts.front();
  parts.erase(parts.begin());
  std::erase(parts, "");
  const Fields fields(where, text, std::move(parts));
  std::unique_ptr<Operator> one = name == "gemm"        ? make_gemm(fields, spec)
                                  : name == "attention" ? make_attention(fields)
                                                        : make_vector(name, fields, spec);
  if (one == nullptr) one = make_rows(name, fields, spec);
  if (one == nullptr) one = make_index(name, fields, spec);
  if (one == nullptr)
    fields.refuse(fmt::format("there is {}gemm, attention, {}, {}, {}", others,
                              boost::join(vector_names(), ", "), boost::join(rows_names(), ", "),
                              boost::join(index_names(), ", ")));
  return one;
}

std::vector<std::unique_ptr<Operator>> parse_operators(const std::string& list,
                                                       const MachineSpec& spec,
                                                       const std::string& where) {
  std::vector<std::unique_ptr<Operator>> operators;
  for (const std::string& text : parts_of(list, ",\n"))
    if (!text.empty()) operators.push_back(parse_operator(text, spec, where));
  if (operators.empty()) throw UserError(where + ": names no operator");
  return operators;
}

}  // namespace stretto
