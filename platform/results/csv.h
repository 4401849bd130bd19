// SPDX-License-Identifier: Apache-2.0
// Text as a field of a CSV file (RFC 4180).
#ifndef STRETTO_PLATFORM_RESULTS_CSV_H_
#define STRETTO_PLATFORM_RESULTS_CSV_H_

#include <string>

namespace stretto {

inline std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RESULTS_CSV_H_
