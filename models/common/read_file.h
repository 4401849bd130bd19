// SPDX-License-Identifier: Apache-2.0
// Reading the files that a user names. Anything but a regular file (a directory, a pipe, a device)
// is refused, and looking does not wait for a writer.
#ifndef STRETTO_MODELS_COMMON_READ_FILE_H_
#define STRETTO_MODELS_COMMON_READ_FILE_H_

#include <string>

namespace stretto {

// The whole file. Throws UserError that names the file and the cause.
std::string read_file(const std::string& file);

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_READ_FILE_H_
