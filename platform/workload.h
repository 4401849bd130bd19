// SPDX-License-Identifier: Apache-2.0
// A workload: one tensor-parallel sub-layer (T3-BASE-01), its modes and its default machine. C = A
// * B on every GPU gives a partial M x N result; the ring reduces it into one chunk a GPU (rs) and
// gathers the chunks (ag).
#ifndef STRETTO_PLATFORM_WORKLOAD_H_
#define STRETTO_PLATFORM_WORKLOAD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "platform/machine.h"

namespace stretto {

struct Workload {
  std::string name;
  std::string description;
  std::string file;
  std::string machine = "t3";
  std::vector<std::string> modes;
  std::string data = "stamp";
  uint32_t m = 0;              // Rows of the output: tokens.
  uint32_t n = 0;              // Columns of the output: hidden size.
  uint32_t k = 0;              // Of one GPU: the reduction dimension is cut TP ways.
  bool a_k_contiguous = true;  // A stored M x K; else K x M.
  bool b_k_contiguous = true;  // B stored N x K ("transposed"); else K x N.

  bool has_mode(const std::string& mode) const;
  // Applies the file's `set` to a machine. Throws UserError.
  void configure(Machine& machine) const;
};

// `name_or_file` of a shipped workload or a path that ends in .yaml. Throws UserError.
Workload load_workload(const std::string& name_or_file);

// All modes there are, with a sentence each.
const std::vector<std::pair<std::string, std::string>>& workload_modes();

}  // namespace stretto

#endif  // STRETTO_PLATFORM_WORKLOAD_H_
