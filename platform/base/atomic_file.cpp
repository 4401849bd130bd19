// SPDX-License-Identifier: Apache-2.0
#include "platform/base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

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

OutputFolder::OutputFolder(const std::string& folder) {
  prepare_folder(folder);
  descriptor_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Where a file system knows no locks, nobody is kept out.
  if (descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(descriptor_);
    throw UserError(folder + ": another stretto is writing there; choose another --out");
  }
}

OutputFolder::~OutputFolder() {
  if (descriptor_ >= 0) close(descriptor_);
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

}  // namespace stretto
