// SPDX-License-Identifier: Apache-2.0
#include "platform/cli/words.h"

#include <cstdlib>

#include "models/common/error.h"
#include "models/common/spec.h"

namespace stretto {

std::string shell_quoted(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,=:@%+";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string shell_quoted(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    text += shell_quoted(word);
  }
  return text;
}

uint64_t whole_number(const std::string& option, const std::string& text, uint64_t low,
                      uint64_t high) {
  uint64_t value = 0;
  ParameterSet set;
  set.number(option, value, low, high, "");
  if (set.all()[0].set(text)) return value;
  throw UserError("--" + option + " " + text + ": must be a whole number " + std::to_string(low) +
                  ".." + std::to_string(high));
}

double seconds(const std::string& option, const std::string& text) {
  constexpr double kMost = 1e9;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (!text.empty() && *end == '\0' && value > 0 && value <= kMost) return value;
  throw UserError("--" + option + " " + text +
                  ": must be a number of seconds, more than 0, at most 1e9");
}

std::string joined(const std::vector<std::string>& words, const std::string& between,
                   const std::string& last) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? last : between) + words[i];
  return text;
}

}  // namespace stretto
