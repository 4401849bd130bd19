// SPDX-License-Identifier: Apache-2.0
// Libraries that take calls of host programs before libstretto_cudart.so does: the loader's LD_PRELOAD, so
// that RTLD_NEXT and the order of symbols are those of Linux. It counts from the start of a process, so
// the simulator starts itself again.
#ifndef STRETTO_PLATFORM_RUN_PRELOAD_H_
#define STRETTO_PLATFORM_RUN_PRELOAD_H_

#include <string>
#include <vector>

namespace stretto {

// Goes on as this executable with `arguments` (argv[0] too) and `libraries` before what LD_PRELOAD has;
// returns if that is so already, or there are none. Throws UserError if a library's name holds what
// separates names there.
void preload(const std::vector<std::string>& libraries, const std::vector<std::string>& arguments);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RUN_PRELOAD_H_
