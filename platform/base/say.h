// SPDX-License-Identifier: Apache-2.0
// What stretto says on standard error.
#ifndef STRETTO_PLATFORM_BASE_SAY_H_
#define STRETTO_PLATFORM_BASE_SAY_H_

#include <string>

namespace stretto {

// "stretto: TEXT" and the end of line in one write, so that no other thread's line gets between.
void say(const std::string& text);
// What std::bad_alloc means to the user. Allocates nothing.
void say_out_of_memory();

}  // namespace stretto

#endif  // STRETTO_PLATFORM_BASE_SAY_H_
