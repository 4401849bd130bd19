// SPDX-License-Identifier: Apache-2.0
// A build without RTL has nothing to look at.
#include "models/common/error.h"
#include "platform/waves/waves.h"

namespace stretto {

std::unique_ptr<Waves> make_waves(WavesSpec) {
  throw UserError("--waves: this build has no RTL (CMake option STRETTO_RTL is OFF)");
}

}  // namespace stretto
