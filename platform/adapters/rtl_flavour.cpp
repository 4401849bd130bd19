// SPDX-License-Identifier: Apache-2.0
#include "platform/adapters/rtl_blocks.h"

namespace stretto {

bool rtl_is_traced() {
#ifdef STRETTO_TRACED
  return true;
#else
  return false;
#endif
}

}  // namespace stretto
