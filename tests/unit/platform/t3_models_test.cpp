// SPDX-License-Identifier: Apache-2.0
// Question: is an iteration of a model the sum of what a Transformer layer computes, and are the
// end-to-end figures those of its parts? Work is checked against closed forms of the layer (6
// products of T x H^2 and two of attention forward, twice that backward), times with numbers that
// are easy to add.
#include <catch2/catch.hpp>

#include <cstdio>

#include "platform/reproduce/t3/t3_targets.h"

namespace stretto {
namespace {

// Multiply-adds of "gemm:MxNxK:...:batch=B".
double multiply_adds(const T3Operator& one) {
  if (!one.is_product()) return 0;
  double m = 0, n = 0, k = 0, batch = 1;
  REQUIRE(std::sscanf(one.text.c_str(), "gemm:%lfx%lfx%lf", &m, &n, &k) == 3);
  if (const size_t at = one.text.find("batch="); at != std::string::npos)
    batch = std::stod(one.text.substr(at + 6));
  return m * n * k * batch;
}

// Every operator 1 ms; a sub-layer 10 ms sequentially (GEMM 4, RS 3, AG 3), `t3` and `mca` fused.
T3Results simple(double t3, double mca) {
  T3Results results{.cases = {}, .models = t3_models()};
  for (T3Model& model : results.models) {
    model.us.assign(model.operators.size(), 1000);
    for (const char* layer : {"op", "fc2", "fc1", "ip"}) {
      T3Case one{.name = model.model + "-" + layer + "-tp" + std::to_string(model.tp),
                 .model = model.model,
                 .layer = layer,
                 .tp = model.tp,
                 .runs = {}};
      const auto run = [](double ms) {
        T3Run fused;
        fused.setup = 500'000;
        fused.init = 500'000;
        fused.total = static_cast<uint64_t>(ms * 1e6) + 1'000'000;
        fused.gemm = 4'000'000;
        fused.rs = fused.ag = 3'000'000;
        return fused;
      };
      one.runs = {{"sequential", run(10)}, {"t3", run(t3)}, {"t3-mca", run(mca)}};
      results.cases.push_back(std::move(one));
    }
  }
  return results;
}

TEST_CASE("a model has the products of a Transformer layer, training three times those of a prompt",
          "[T3-SIM-06]") {
  const std::map<std::string, std::pair<double, double>> sizes{{"mega", {16384, 3072}},
                                                               {"tnlg", {8192, 4256}},
                                                               {"gpt3", {2048, 12288}},
                                                               {"palm", {2048, 18432}},
                                                               {"mtnlg", {2048, 20480}}};
  REQUIRE(t3_models().size() == 7);
  for (const T3Model& model : t3_models()) {
    const auto [tokens, hidden] = sizes.at(model.model);
    double prompt = 0, training = 0;
    for (const T3Operator& one : model.operators) {
      prompt += one.prompt * multiply_adds(one);
      training += one.training * multiply_adds(one);
    }
    const double square = tokens * hidden * hidden / model.tp;
    const double attention = 2 * tokens * 1024 * hidden / model.tp;
    // IP and FC-1; OP and FC-2 are sub-layers, as are the gradients of the inputs of IP and FC-1.
    CHECK(prompt == Approx(7 * square + attention));
    CHECK(training == Approx(3 * (12 * square + attention) - 5 * square - 7 * square));
  }
}

TEST_CASE("an iteration is its operators and its sub-layers, each counted as often as it comes") {
  const T3Results results = simple(9, 8);
  const T3Model& model = results.models.front();
  unsigned prompt = 0, training = 0;
  for (const T3Operator& one : model.operators) {
    prompt += one.prompt;
    training += one.training;
  }
  const auto of = [&](T3Phase phase, const char* mode, bool whole = false) {
    return iteration_of(model, results.cases, phase, mode, whole);
  };
  CHECK(of(T3Phase::prompt, "sequential").total() == Approx(prompt + 2 * 10));
  CHECK(of(T3Phase::training, "sequential").total() == Approx(training + 4 * 10));
  CHECK(of(T3Phase::training, "t3-mca").total() == Approx(training + 4 * 8));
  CHECK(of(T3Phase::training, "t3-mca", true).total() == Approx(training + 4 * 9));
  CHECK(of(T3Phase::prompt, "sequential").communication == Approx(2 * 6));
  CHECK(of(T3Phase::prompt, "sequential").sub_layer_gemm == Approx(2 * 4));
}

TEST_CASE("end-to-end figures follow from the parts", "[T3-SIM-06]") {
  const T3Results results = simple(9, 8);
  const T3Model& model = results.models.front();
  const T3Iteration prompt = iteration_of(model, results.cases, T3Phase::prompt, "sequential");
  const double all = prompt.total();
  CHECK(*measure_t3("T3-R07", results).value == Approx(all / (all - 4)));
  REQUIRE(measure_t3("T3-R82", results).range.size() == 2);
  CHECK(measure_t3("T3-R82", results).range[1] == Approx(all / (all - 2)));  // All have the same.
  CHECK(measure_t3("T3-R82", results).range[0] == Approx(all / (all - 2)));
  CHECK(*measure_t3("T3-R11", results).value == Approx(100 * 12 / all));
  // More of a prompt than of training are sub-layers; all models have the same parts, so the share
  // is that of every degree.
  CHECK(measure_t3("T3-R85", results).holds);
  CHECK_FALSE(measure_t3("T3-R84", results).holds);
  // Products at twice the rate.
  const double faster = all - prompt.products() / 2;
  CHECK(*measure_t3("T3-R14", results).value == Approx(100 * 12 / faster));
  // 1 ms an operator, all heads.
  const double attention = prompt.attention * 16;
  CHECK(measure_t3("T3-R86", results)
            .note.find(std::to_string(std::lround(
                100 * attention / (all - prompt.attention + attention)))) != std::string::npos);
}

TEST_CASE("without gain nothing is gained, with an operator missing nothing is claimed") {
  T3Results results = simple(10, 10);
  for (const char* id : {"T3-R06", "T3-R07", "T3-R88", "T3-R89"})
    CHECK(*measure_t3(id, results).value == Approx(1));
  CHECK_FALSE(measure_t3("T3-R85", results).holds);
  results.models[0].us.clear();
  CHECK(measure_t3("T3-R06", results).needs == "mega-tp8 operators");
  CHECK(measure_t3("T3-R88", results).needs.empty());
}

}  // namespace
}  // namespace stretto
