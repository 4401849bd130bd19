// SPDX-License-Identifier: Apache-2.0
// The list of reproductions. A new one is a folder beside this file, with a CMakeLists.txt that
// names its sources, a declaration and an entry here.
#include "platform/reproduce/reproduction.h"

namespace stretto {

Reproduction t3_reproduction();
Reproduction gpu_driven_reproduction();
Reproduction collectives_reproduction();
Reproduction silicon_reproduction();
Reproduction kitsune_reproduction();
Reproduction tally_reproduction();
Reproduction compnet_reproduction();

const std::vector<Reproduction>& reproductions() {
  static const std::vector<Reproduction> all{
      t3_reproduction(),      gpu_driven_reproduction(), collectives_reproduction(),
      silicon_reproduction(), kitsune_reproduction(),    tally_reproduction(),
      compnet_reproduction(),
  };
  return all;
}

}  // namespace stretto
