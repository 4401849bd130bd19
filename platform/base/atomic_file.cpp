// SPDX-License-Identifier: Apache-2.0
#include "platform/base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace stretto {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPrevious = ".previous";
constexpr const char* kResult = "stats.json";
constexpr const char* kTemporary = ".tmp.";  // Then the process that writes.

// As errno has it.
[[noreturn]] void fail(const std::string& file) {
  const std::string text =
      file + ": cannot be written (" + std::strerror(errno) + "); choose another place";
  if (errno == ENOSPC || errno == EDQUOT) throw DiskFullError(text);
  throw UserError(text);
}

// A file, or a folder with what is in it.
void remove(const std::string& file) {
  std::error_code ignored;
  fs::remove_all(file, ignored);
}

bool write_all(int descriptor, const std::string& contents) {
  for (size_t done = 0; done < contents.size();) {
    const ssize_t count = write(descriptor, contents.data() + done, contents.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

// Tried with a file that has no name, so that no kill leaves one.
bool can_write_in(const std::string& folder) {
  const int probe = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (probe < 0 && (errno == EOPNOTSUPP || errno == EISDIR))  // The file system has no such files.
    return access(folder.c_str(), W_OK | X_OK) == 0;
  if (probe < 0) return false;
  const bool written = write_all(probe, std::string(4096, ' '));
  const int reason = errno;
  close(probe);
  errno = reason;
  return written;
}

void remove_abandoned(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    const size_t at = name.rfind(kTemporary);
    if (at == std::string::npos) continue;
    const char* const number = name.c_str() + at + std::strlen(kTemporary);
    char* end = nullptr;
    const int process = static_cast<int>(std::strtol(number, &end, 10));
    if (*end == '\0' && process > 0 && kill(process, 0) != 0 && errno == ESRCH)
      unlink(entry.path().c_str());
  }
}

}  // namespace

void prepare_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw UserError(folder + ": cannot be made (" + error.message() + "); choose another --out");
  remove_abandoned(folder);
  if (!can_write_in(folder)) fail(folder);
}

OutputFolder::OutputFolder(const std::string& folder) {
  for (fs::path one = fs::absolute(folder).lexically_normal(); !fs::exists(one);
       one = one.parent_path())
    if (one.has_filename()) made_.push_back(one);
  prepare_folder(folder);
  descriptor_ = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // Where a file system knows no locks, nobody is kept out.
  if (descriptor_ >= 0 && flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(descriptor_);
    throw UserError(folder + ": another stretto is writing there; choose another --out");
  }
}

OutputFolder::~OutputFolder() {
  for (const std::string& one : made_)
    if (rmdir(one.c_str()) != 0) break;
  if (descriptor_ >= 0) close(descriptor_);
}

std::string result_suffix(const std::string& folder) {
  const fs::path file = fs::path(folder) / kResult;
  return fs::exists(file) || !fs::exists(file.string() + kPrevious) ? "" : kPrevious;
}

EarlierFiles::EarlierFiles(std::string folder, std::vector<std::string> names)
    : folder_(std::move(folder)), names_(std::move(names)) {
  assert(names_.front() == kResult);
  if (!result_suffix(folder_).empty()) {
    restore();  // The last run was killed before it had results,
  } else if (fs::exists(folder_ + "/" + kResult + kPrevious)) {
    discard();  // or when it had;
    discarded_ = false;
  } else {
    bring_back();  // or while files were set aside or came back.
  }
  for (auto name = names_.rbegin(); name != names_.rend(); ++name) {
    const std::string file = folder_ + "/" + *name;
    rename(file.c_str(), (file + kPrevious).c_str());
  }
}

EarlierFiles::~EarlierFiles() {
  if (!discarded_) restore();
}

void EarlierFiles::restore() const {
  for (const std::string& name : names_) {
    const std::string file = folder_ + "/" + name;
    if (!fs::exists(file + kPrevious)) remove(file);
  }
  bring_back();
}

void EarlierFiles::bring_back() const {
  for (const std::string& name : names_) {
    const std::string file = folder_ + "/" + name;
    if (!fs::exists(file + kPrevious)) continue;
    if (fs::is_directory(file)) remove(file);  // Which rename() does not replace.
    rename((file + kPrevious).c_str(), file.c_str());
  }
}

void EarlierFiles::discard() {
  discarded_ = true;
  for (auto name = names_.rbegin(); name != names_.rend(); ++name)
    remove(folder_ + "/" + *name + kPrevious);
}

std::string temporary_suffix() { return kTemporary + std::to_string(getpid()); }

void write_atomically(const std::string& file, const std::string& contents) {
  const std::string temporary = file + temporary_suffix();
  const int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) fail(file);
  bool done = write_all(descriptor, contents);
  int reason = errno;
  const auto then = [&](bool succeeded) {
    if (done && !succeeded) reason = errno;
    done = done && succeeded;
  };
  then(close(descriptor) == 0);
  then(done && rename(temporary.c_str(), file.c_str()) == 0);
  if (done) return;
  unlink(temporary.c_str());
  errno = reason;
  fail(file);
}

void check_writable(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) {
    errno = EISDIR;
    fail(file);
  }
  if (!can_write_in(folder.empty() ? "." : folder.string())) fail(file);
}

}  // namespace stretto
