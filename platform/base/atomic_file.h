// SPDX-License-Identifier: Apache-2.0
// Files that are complete or absent: written beside their place, then renamed into it.
#ifndef STRETTO_PLATFORM_BASE_ATOMIC_FILE_H_
#define STRETTO_PLATFORM_BASE_ATOMIC_FILE_H_

#include <string>
#include <vector>

#include "models/common/error.h"

namespace stretto {

// Makes `folder` and tries a write in it; UserError (one line) if that fails, so that a run does
// not end with results it cannot keep. Removes what killed processes have begun to write there.
void prepare_folder(const std::string& folder);

// A prepared folder that belongs to this process until the object goes: results of two runs must
// not mix. UserError if another process has it. Folders that were made for it go again if nothing is in them.
class OutputFolder {
 public:
  explicit OutputFolder(const std::string& folder);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  std::vector<std::string> made_;  // The innermost first.
  int descriptor_;
};

// What is behind the names of the files in `folder` that a reader should take: "" if stats.json is
// there, else ".previous" if a run has set an earlier one aside and is not over, or was killed.
std::string result_suffix(const std::string& folder);

// Files (or folders) of an earlier run in a folder, out of the way as NAME.previous while another run goes on
// there: they must not stand for it. They come back when the object goes, unless the new run has
// results. After a run that was killed they come back when the next one begins, and what it left
// goes. A kill may come between any two of the files: stats.json, the first name, is set aside last
// and comes back first, so that it says to which run the others belong.
class EarlierFiles {
 public:
  EarlierFiles(std::string folder, std::vector<std::string> names);
  ~EarlierFiles();
  EarlierFiles(const EarlierFiles&) = delete;
  EarlierFiles& operator=(const EarlierFiles&) = delete;
  // The new run has results: its files stay, the earlier ones go.
  void discard();

 private:
  void restore() const;
  void bring_back() const;  // Without a look at what the new run has left.

  const std::string folder_;
  const std::vector<std::string> names_;
  bool discarded_ = false;
};

// What to append to the name of a file while this process writes it: prepare_folder() removes such
// files of processes that are gone.
std::string temporary_suffix();

struct DiskFullError : UserError {
  using UserError::UserError;
};

// Throws UserError if anything fails; DiskFullError if there is no room.
void write_atomically(const std::string& file, const std::string& contents);

// UserError if write_atomically() to `file` would fail now: for results of a long run.
void check_writable(const std::string& file);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_BASE_ATOMIC_FILE_H_
