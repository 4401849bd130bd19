// SPDX-License-Identifier: Apache-2.0
// Files that are complete or absent: written beside their place, then renamed into it.
#ifndef STRETTO_PLATFORM_BASE_ATOMIC_FILE_H_
#define STRETTO_PLATFORM_BASE_ATOMIC_FILE_H_

#include <string>

namespace stretto {

// Makes `folder` and tries a write in it; UserError (one line) if that fails, so that a run does
// not end with results it cannot keep.
void prepare_folder(const std::string& folder);

// A prepared folder that belongs to this process until the object goes: results of two runs must
// not mix. UserError if another process has it.
class OutputFolder {
 public:
  explicit OutputFolder(const std::string& folder);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

 private:
  int descriptor_;
};

// Throws UserError if anything fails, also when the disk is full.
void write_atomically(const std::string& file, const std::string& contents);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_BASE_ATOMIC_FILE_H_
