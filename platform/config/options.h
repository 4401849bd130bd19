// SPDX-License-Identifier: Apache-2.0
// What a run was asked to do, before anything is built.
#ifndef STRETTO_PLATFORM_CONFIG_OPTIONS_H_
#define STRETTO_PLATFORM_CONFIG_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "platform/adapters/rtl_blocks.h"

namespace stretto {

enum class DataMode : uint8_t { stamp, real };

// The RTL blocks in the loop (kBlocks), in the order of `stretto list blocks`.
inline std::vector<std::string> block_names() {
  std::vector<std::string> names;
  for (const BlockInfo& block : kBlocks) names.push_back(block.name);
  return names;
}

struct RunOptions {
  std::string workload;           // Empty: boot `firmware` alone.
  std::string machine;            // Empty: the workload's default.
  std::string mode;               // Empty: the workload's first mode.
  std::string firmware;           // Empty: the shipped one.
  std::vector<std::string> sets;  // "path=value".
  uint64_t seed = 1;
  std::map<std::string, Impl> impl;
  std::string data;      // Empty: the workload's default.
  std::string out;       // Empty: default_out_folder(); without a workload: no files.
  bool dry_run = false;  // Only say what would run.
  bool timeline = false;
  std::string timeline_window;  // FROM..TO of machine time; empty: all.
  std::string waves;            // Empty: none. See waves/wave_request.h.
  uint32_t waves_limit_mib = 256;
  double time_limit_s = 0;                // Host seconds; 0 = none.
  bool progress = false;                  // From the start, not only after two seconds.
  bool quiet = false;                     // No summary on stdout.
  std::vector<std::string> command_line;  // To run the same again.
};

const char* impl_name(Impl impl);
// "mca=model", "all=lockstep": sets the blocks it names. Throws UserError.
void set_impl(const std::string& text, std::map<std::string, Impl>& impl);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CONFIG_OPTIONS_H_
