// SPDX-License-Identifier: Apache-2.0
#include "platform/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "models/common/error.h"

namespace stretto {

namespace {

[[noreturn]] void fail(const std::string& file) {
  throw UserError(file + ": cannot be written (" + std::strerror(errno) +
                  "); choose another --out");
}

}  // namespace

void prepare_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw UserError(folder + ": cannot be made (" + error.message() + "); choose another --out");
  const std::string probe = folder + "/.probe." + std::to_string(getpid());
  write_atomically(probe, std::string(4096, ' '));
  std::filesystem::remove(probe, error);
}

void write_atomically(const std::string& file, const std::string& contents) {
  const std::string temporary = file + ".tmp." + std::to_string(getpid());
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) fail(file);
  size_t done = 0;
  while (done < contents.size()) {
    const ssize_t count = write(descriptor, contents.data() + done, contents.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const int reason = errno;
      close(descriptor);
      unlink(temporary.c_str());
      errno = reason;
      fail(file);
    }
    done += static_cast<size_t>(count);
  }
  if (close(descriptor) != 0 || rename(temporary.c_str(), file.c_str()) != 0) {
    const int reason = errno;
    unlink(temporary.c_str());
    errno = reason;
    fail(file);
  }
}

std::string read_file(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw UserError(file + ": cannot be read");
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace stretto
