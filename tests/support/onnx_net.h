// SPDX-License-Identifier: Apache-2.0
// A small graph as a user has it: an ONNX file.
#ifndef STRETTO_TESTS_SUPPORT_ONNX_NET_H_
#define STRETTO_TESTS_SUPPORT_ONNX_NET_H_

#include <string>

#include <catch2/catch.hpp>

#include "tests/system/process.h"

namespace stretto::test {

// A file of y = relu(x w0 + b0) w1, written by the ONNX package; `first` and `rows` as Python has them.
inline std::string net(const Scratch& scratch, const std::string& first = "Relu",
                       const std::string& rows = "700") {
  const std::string script = scratch.file("net.py", R"(
import onnx, sys
from onnx import TensorProto, helper
half = TensorProto.FLOAT16
shapes = {"w0": [200, 256], "b0": [256], "w1": [256, 70]}
weights = [helper.make_tensor(name, half, shape, bytes(2 * shape[0] * (shape + [1])[1]), raw=True)
           for name, shape in shapes.items()]
nodes = [helper.make_node("Gemm", ["x", "w0", "b0"], ["h"]), helper.make_node(FIRST, ["h"], ["a"]),
         helper.make_node("MatMul", ["a", "w1"], ["y"])]
graph = helper.make_graph(nodes, "net", [helper.make_tensor_value_info("x", half, [ROWS, 200])],
                          [helper.make_tensor_value_info("y", half, [ROWS, 70])], weights)
onnx.save(helper.make_model(graph), sys.argv[1])
)");
  const std::string file = scratch.path + "/net.onnx";
  const Finished made = run_command("sed -i 's/FIRST/\"" + first + "\"/; s/ROWS/" + rows + "/g' " +
                                    script + " && /usr/bin/python3 " + script + " " + file);
  INFO(made.output);
  REQUIRE(made.status == 0);
  return file;
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SUPPORT_ONNX_NET_H_
