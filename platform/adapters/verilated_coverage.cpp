// SPDX-License-Identifier: Apache-2.0
#include "platform/adapters/verilated_coverage.h"

#include <unistd.h>
#include <verilated_cov.h>

#include <cstdlib>
#include <string>

namespace stretto {

void keep_coverage(VerilatedContext& context) {
  static unsigned blocks = 0;
  const char* folder = std::getenv("STRETTO_COVERAGE_DIR");
  if (folder == nullptr) return;
  const std::string file = std::string(folder) + "/" + std::to_string(getpid()) + "." +
                           std::to_string(blocks++) + ".dat";
  context.coveragep()->write(file.c_str());
}

}  // namespace stretto
