// SPDX-License-Identifier: Apache-2.0
// Rows of cells, aligned for a terminal: the first column to the left, the others to the right.
#ifndef STRETTO_PLATFORM_BASE_TEXT_TABLE_H_
#define STRETTO_PLATFORM_BASE_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace stretto {

class TextTable {
 public:
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  // A line a row; columns are as wide as their widest cell.
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_BASE_TEXT_TABLE_H_
