// SPDX-License-Identifier: Apache-2.0
// Iterations of the Transformers of T3 on one GPU of a tensor-parallel group (T3-SIM-06). The paper
// scales a measured breakdown of BERT; here each operator of a layer is simulated at its own size,
// and the four sub-layers with collectives are those of the cases. No time is an input.
//
// A layer is that of Megatron-LM (heads and inner sizes sliced; norms, dropout and residuals on
// every GPU), attention as in google-research/bert, modeling.py: scale, mask, softmax and dropout
// are operators of their own. Prompt: forward without dropout. Training: forward, backward and
// Adam's update in FP32. Embeddings and the loss come once an iteration and are left out.
#ifndef STRETTO_PLATFORM_REPRODUCE_T3_T3_MODELS_H_
#define STRETTO_PLATFORM_REPRODUCE_T3_T3_MODELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "platform/reproduce/t3/t3_cases.h"

namespace stretto {

enum class T3Part : uint8_t { attention, gemm, rest };
enum class T3Phase : uint8_t { prompt, training };

struct T3Operator {
  std::string text;       // As of roofline.operators.
  T3Part part;            // attention: between the projections, its products too.
  unsigned prompt = 0;    // Times a layer in a prompt,
  unsigned training = 0;  // and in a step of training.
  bool is_product() const { return text.rfind("gemm:", 0) == 0; }
};

struct T3Model {
  std::string name;   // "tnlg-tp8".
  std::string model;  // "tnlg".
  unsigned tp = 0;
  unsigned layers = 0;
  std::vector<T3Operator> operators;
  std::vector<double> us = {};  // Of each operator; empty: not simulated.
  bool large() const { return tp == 32; }
};

// One layer, in ms.
struct T3Iteration {
  double attention = 0, gemm = 0, rest = 0;  // What no collective follows.
  double attention_products = 0;             // Of attention.
  double sub_layers = 0;                     // With collectives, by the mode.
  double sub_layer_gemm = 0;                 // Of them: the GEMMs;
  double communication = 0;                  // RS and AG; sequential only.
  double total() const { return attention + gemm + rest + sub_layers; }
  double products() const { return attention_products + gemm + sub_layer_gemm; }
};

// The models of Table 2 with their TP degrees.
std::vector<T3Model> t3_models();
// Operators of a layer as text of roofline.operators.
std::string operator_list(const T3Model& model);
// What an iteration still needs: "tnlg-tp8 operators", "tnlg-op-tp8 t3"; empty: nothing.
std::vector<std::string> missing_for(const T3Model& model, const std::vector<T3Case>& cases,
                                     T3Phase phase, const char* mode);
// REQUIRES: missing_for() is empty. `whole`: sub-layers with setup and init.
T3Iteration iteration_of(const T3Model& model, const std::vector<T3Case>& cases, T3Phase phase,
                         const char* mode, bool whole = false);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_T3_T3_MODELS_H_
