// SPDX-License-Identifier: Apache-2.0
// Compiles host programs and kernels of tests/system/programs as users do. Includes Catch2's checks.
#ifndef STRETTO_TESTS_SYSTEM_COMPILE_H_
#define STRETTO_TESTS_SYSTEM_COMPILE_H_

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

#include "tests/system/process.h"

namespace stretto::test {

inline void command_succeeds(const std::string& command) {
  const Finished finished = run_command(command);
  INFO(command << "\n" << finished.output);
  REQUIRE(finished.status == 0);
}

// The shared object, in the scratch folder. A test that asks for it again gets a copy.
inline std::string compile(const Scratch& scratch, const std::string& source) {
  static const Scratch all;
  const std::string first = all.path + "/" + source + ".so",
                    object = scratch.path + "/" + source + ".so";
  if (!std::filesystem::exists(first)) {
    const std::string compiler = source.ends_with(".c") ? "cc" : "c++ -std=c++20";
    command_succeeds(compiler +
                     " -shared -fPIC -Wall -Werror -I" STRETTO_SOURCE_DIR " -I" STRETTO_SOURCE_DIR
                     "/sw/include -o " +
                     first + " " STRETTO_SOURCE_DIR "/tests/system/programs/" + source);
  }
  std::filesystem::copy_file(first, object, std::filesystem::copy_options::skip_existing);
  return object;
}

// The ELF of the kernels of `source`, of which `entry` is the first.
inline std::string compile_kernel(const Scratch& scratch, const std::string& source,
                                  const std::string& entry) {
  const std::string elf = scratch.path + "/" + entry + ".elf";
  command_succeeds("bash " STRETTO_BUILD_DIR "/stretto-kernel -e " + entry + " -o " + elf +
                   " " STRETTO_SOURCE_DIR "/tests/system/programs/" + source);
  return elf;
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SYSTEM_COMPILE_H_
