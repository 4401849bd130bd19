// SPDX-License-Identifier: Apache-2.0
// Errors whose cause lies outside the simulator. The three kinds decide the exit status of
// `stretto`.
//
// UserError: bad usage, file, key or value; exit 2. The text is one line that names the file, key
// or
//   address, what is wrong and what is allowed.
// CheckError: the simulated machine failed a check (fault, deadlock, firmware assert, audit, data);
// exit 1. A defect of the simulator itself is an assert, never one of these.
#ifndef STRETTO_MODELS_COMMON_ERROR_H_
#define STRETTO_MODELS_COMMON_ERROR_H_

#include <stdexcept>
#include <string>

namespace stretto {

struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct CheckError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_ERROR_H_
