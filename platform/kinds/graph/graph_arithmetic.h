// SPDX-License-Identifier: Apache-2.0
// Operators of a graph in double precision, and how far the machine's results may be from them: bounds that follow from
// the roundings of its kernels, element by element. Shares no code with the machine's arithmetic.
//
// u = 2^-11 is half an ulp of FP16, f = 2^-24 of FP32. Each of the n additions of a sum is off by f times what has been
// added up, at most twice the largest sum of first terms, in however many runs of terms it is added.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_ARITHMETIC_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_ARITHMETIC_H_

#include <boost/json/value.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "platform/kinds/graph/graph_contents.h"

namespace stretto {

struct Numbers {
  std::vector<double> value;
  std::vector<double> error;  // Of each; empty: none.
  double error_of(uint64_t i) const { return error.empty() ? 0 : error[i]; }
};

// Which kernels: those of a loop kernel have FP16 between their steps where those of the library have FP32.
enum class GraphKernels : uint8_t { loop, library };

// What errors of operands come to in the sum of a product: all at their bound and of one sign, or independent of each
// other, so that they add up in quadrature.
enum class OperandErrors : uint8_t { worst, independent };

// The result of an operator of `plan.ops`, not an AllReduce, before it is rounded to FP16, and its bound with that
// rounding. `columns`: of the result's rows.
Numbers work_out(const boost::json::object& op, const std::vector<const Numbers*>& inputs,
                 uint64_t columns, GraphKernels kernels,
                 OperandErrors errors = OperandErrors::worst);

// By which an Update multiplies, as it lies in memory: FP16, or FP32 for a master.
double update_rate(const boost::json::object& op);
// A master less one step, FP32, and its bound: the step is rounded and the difference.
Numbers update_master(const boost::json::object& op, const Numbers& master,
                      const Numbers& gradient);
inline bool has_master(const boost::json::object& op) {
  return op.at("kind").as_string() == "Update" && op.at("inputs").as_array().size() == 3;
}

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_GRAPH_ARITHMETIC_H_
