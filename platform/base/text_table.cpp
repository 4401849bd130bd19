// SPDX-License-Identifier: Apache-2.0
#include "platform/base/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace stretto {

std::string TextTable::text() const {
  std::vector<size_t> width;
  for (const auto& row : rows_) {
    width.resize(std::max(width.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  std::string all;
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i)
      all += i == 0 ? fmt::format("{:<{}}", row[i], width[i])
                    : fmt::format("  {:>{}}", row[i], width[i]);
    all += "\n";
  }
  return all;
}

}  // namespace stretto
