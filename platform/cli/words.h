// SPDX-License-Identifier: Apache-2.0
// Words of a command line: values of options to numbers, and words to text that a shell reads back.
#ifndef STRETTO_PLATFORM_CLI_WORDS_H_
#define STRETTO_PLATFORM_CLI_WORDS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace stretto {

// As a shell reads it back: quoted if it has to be.
std::string shell_quoted(const std::string& word);
std::string shell_quoted(const std::vector<std::string>& words);

// A whole number in [low, high] for --`option`; UserError with the range. "-1" is none: it would
// wrap around.
uint64_t whole_number(const std::string& option, const std::string& text, uint64_t low,
                      uint64_t high);
// A number of seconds, more than 0, for --`option`; UserError with the range.
double seconds(const std::string& option, const std::string& text);

// "a, b or c".
std::string joined(const std::vector<std::string>& words, const std::string& between = ", ",
                   const std::string& last = " or ");

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CLI_WORDS_H_
