// SPDX-License-Identifier: Apache-2.0
#include "platform/base/say.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace stretto {

void say(const std::string& text) {
  std::fflush(stdout);  // What was printed before comes first.
  const std::string line = "stretto: " + text + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t count = write(STDERR_FILENO, line.data() + done, line.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

}  // namespace stretto
