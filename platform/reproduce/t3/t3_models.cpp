// SPDX-License-Identifier: Apache-2.0
#include "platform/reproduce/t3/t3_models.h"

#include <fmt/format.h>

#include <algorithm>

namespace stretto {

namespace {

// T3 Table 2, and heads as published with the models: Megatron-LM (arXiv 1909.08053, Table 1), T-NLG
// (Microsoft, 2020), GPT-3 (arXiv 2005.14165), PaLM (arXiv 2204.02311), MT-NLG (arXiv 2201.11990).
struct Hyperparameters {
  const char* name;
  uint64_t hidden;
  unsigned layers;
  uint64_t sequence, batch, heads;
};

constexpr Hyperparameters kMega{"mega", 3072, 74, 1024, 16, 32};
constexpr Hyperparameters kTnlg{"tnlg", 4256, 78, 1024, 8, 28};
constexpr Hyperparameters kGpt3{"gpt3", 12288, 96, 1024, 2, 96};
constexpr Hyperparameters kPalm{"palm", 18432, 118, 1024, 2, 48};
constexpr Hyperparameters kMtnlg{"mtnlg", 20480, 105, 1024, 2, 128};

// Forward GEMMs have both inputs K-contiguous (nt). Gradients of inputs: nn; of weights: tn.
std::vector<T3Operator> operators_of(const Hyperparameters& h, uint64_t tp) {
  const uint64_t tokens = h.sequence * h.batch, hidden = h.hidden, slice = hidden / tp;
  const uint64_t inner = 4 * hidden / tp, fused = 3 * hidden / tp;
  // All models have whole B * heads / TP, though T-NLG and PALM have not whole heads / TP.
  const uint64_t heads = h.batch * h.heads / tp, width = hidden / h.heads;
  const uint64_t scores = heads * h.sequence * h.sequence;
  std::vector<T3Operator> all;
  const auto add = [&](T3Part part, unsigned prompt, unsigned training, std::string text) {
    all.push_back({std::move(text), part, prompt, training});
  };
  const auto product = [](uint64_t m, uint64_t n, uint64_t k, const std::string& how) {
    return fmt::format("gemm:{}x{}x{}{}", m, n, k, how);
  };
  using enum T3Part;
  const std::string each = fmt::format(":batch={}", heads);
  const uint64_t s = h.sequence;
  // Attention. The heads are laid apart and together by copies.
  add(gemm, 1, 1, product(tokens, fused, hidden, ":nt:bias"));
  add(attention, 4, 8, fmt::format("copy:{}", tokens * slice));
  add(attention, 1, 2, product(s, s, width, ":nt" + each));  // Scores; gradient of P.
  add(attention, 1, 4, fmt::format("mul:{}", scores));       // Scale, dropout and their gradients.
  add(attention, 1, 1, fmt::format("add:{}", scores));       // Mask.
  add(attention, 1, 1, fmt::format("softmax:{}x{}", heads * s, s));
  add(attention, 1, 2, product(s, width, s, each));          // Context; gradient of Q.
  add(attention, 0, 2, product(s, width, s, ":tn" + each));  // Gradients of V, K.
  add(attention, 0, 1, fmt::format("softmax_grad:{}x{}", heads * s, s));
  add(gemm, 0, 1, product(tokens, slice, hidden, ""));     // OP, gradient of its input
  add(gemm, 0, 1, product(hidden, slice, tokens, ":tn"));  // and of its weights;
  add(gemm, 0, 1, product(fused, hidden, tokens, ":tn"));  // those of IP.
  // Feed-forward.
  add(gemm, 1, 1, product(tokens, inner, hidden, ":nt:bias"));
  add(rest, 1, 1, fmt::format("gelu:{}", tokens * inner));
  add(gemm, 0, 1, product(tokens, inner, hidden, ""));     // FC-2, gradient of its input
  add(gemm, 0, 1, product(hidden, inner, tokens, ":tn"));  // and of its weights;
  add(gemm, 0, 1, product(inner, hidden, tokens, ":tn"));  // those of FC-1.
  add(rest, 0, 1, fmt::format("gelu_grad:{}", tokens * inner));
  // After both: dropout, residual, norm; and gradients of biases.
  add(rest, 0, 4, fmt::format("mul:{}", tokens * hidden));
  add(rest, 2, 4, fmt::format("add:{}", tokens * hidden));
  add(rest, 2, 2, fmt::format("layer_norm:{}x{}", tokens, hidden));
  add(rest, 0, 2, fmt::format("layer_norm_grad:{}x{}", tokens, hidden));
  add(rest, 0, 2, fmt::format("sum_rows:{}x{}", tokens, hidden));
  add(rest, 0, 1, fmt::format("sum_rows:{}x{}", tokens, inner));
  add(rest, 0, 1, fmt::format("sum_rows:{}x{}", tokens, fused));
  // Adam: both moments and the weights, each an array of 12 H^2 / TP that becomes b + s * c.
  add(rest, 0, 3, fmt::format("triad:{}:fp32", 12 * hidden * hidden / tp));
  return all;
}

std::vector<std::string> sub_layers_of(T3Phase phase) {
  if (phase == T3Phase::prompt) return {"op", "fc2"};
  return {"op", "fc2", "fc1", "ip"};
}

const T3Case* find_case(const T3Model& model, const std::vector<T3Case>& cases,
                        const std::string& layer) {
  const auto at = std::find_if(cases.begin(), cases.end(), [&](const T3Case& one) {
    return one.model == model.model && one.tp == model.tp && one.layer == layer;
  });
  return at == cases.end() ? nullptr : &*at;
}

}  // namespace

std::vector<T3Model> t3_models() {
  std::vector<T3Model> all;
  const auto add = [&](const Hyperparameters& h, unsigned tp) {
    all.push_back({.name = fmt::format("{}-tp{}", h.name, tp),
                   .model = h.name,
                   .tp = tp,
                   .layers = h.layers,
                   .operators = operators_of(h, tp)});
  };
  for (const Hyperparameters* h : {&kMega, &kTnlg}) {
    add(*h, 8);
    add(*h, 16);
  }
  for (const Hyperparameters* h : {&kGpt3, &kPalm, &kMtnlg}) add(*h, 32);
  return all;
}

std::string operator_list(const T3Model& model) {
  std::string list;
  for (const T3Operator& one : model.operators) list += (list.empty() ? "" : ",") + one.text;
  return list;
}

std::vector<std::string> missing_for(const T3Model& model, const std::vector<T3Case>& cases,
                                     T3Phase phase, const char* mode) {
  std::vector<std::string> missing;
  if (model.us.empty()) missing.push_back(model.name + " operators");
  for (const std::string& layer : sub_layers_of(phase)) {
    const T3Case* one = find_case(model, cases, layer);
    if (one == nullptr || !one->has({mode}))
      missing.push_back(fmt::format("{}-{}-tp{} {}", model.model, layer, model.tp, mode));
  }
  return missing;
}

T3Iteration iteration_of(const T3Model& model, const std::vector<T3Case>& cases, T3Phase phase,
                         const char* mode, bool whole) {
  T3Iteration sum;
  for (size_t i = 0; i < model.operators.size(); ++i) {
    const T3Operator& one = model.operators[i];
    const unsigned times = phase == T3Phase::prompt ? one.prompt : one.training;
    const double ms = model.us[i] / 1e3 * times;
    (one.part == T3Part::attention ? sum.attention
     : one.part == T3Part::gemm    ? sum.gemm
                                   : sum.rest) += ms;
    if (one.part == T3Part::attention && one.is_product()) sum.attention_products += ms;
  }
  for (const std::string& layer : sub_layers_of(phase)) {
    const T3Run& run = find_case(model, cases, layer)->run(mode);
    sum.sub_layers += (whole ? static_cast<double>(run.total) : run.layer()) / 1e6;
    sum.sub_layer_gemm += static_cast<double>(run.gemm) / 1e6;
    sum.communication += static_cast<double>(run.rs + run.ag) / 1e6;
  }
  return sum;
}

}  // namespace stretto
