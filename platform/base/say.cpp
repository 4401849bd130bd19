// SPDX-License-Identifier: Apache-2.0
#include "platform/base/say.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>

namespace stretto {

namespace {

void write_line(std::string_view line) {
  for (size_t done = 0; done < line.size();) {
    const ssize_t count = write(STDERR_FILENO, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

}  // namespace

void say(const std::string& text) {
  std::fflush(stdout);  // What was printed before comes first.
  write_line("stretto: " + text + "\n");
}

void say_out_of_memory() {
  write_line("stretto: out of memory of this computer, or more than ulimit -v allows\n");
}

}  // namespace stretto
