// SPDX-License-Identifier: Apache-2.0
// Reports that check 42 failed.
#include "guest.h"

int guest_main(uint64_t hart) { return hart == 0 ? 42 : 0; }
