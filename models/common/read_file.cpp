// SPDX-License-Identifier: Apache-2.0
#include "models/common/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "models/common/error.h"

namespace stretto {
namespace {

struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

[[noreturn]] void fail(const std::string& file, const std::string& cause) {
  throw UserError(file + ": cannot be read (" + cause + ")");
}

}  // namespace

std::string read_file(const std::string& file) {
  // Without O_NONBLOCK the open of a pipe waits until somebody writes into it.
  const Descriptor from{open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  if (from.number < 0) fail(file, std::strerror(errno));
  struct stat about {};
  if (fstat(from.number, &about) != 0) fail(file, std::strerror(errno));
  if (S_ISDIR(about.st_mode)) fail(file, "is a directory; give a file");
  if (!S_ISREG(about.st_mode)) fail(file, "is not a regular file");
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = read(from.number, buffer, sizeof buffer);
    if (count == 0) return text;
    if (count > 0) {
      text.append(buffer, static_cast<size_t>(count));
    } else if (errno != EINTR) {
      fail(file, std::strerror(errno));
    }
  }
}

}  // namespace stretto
