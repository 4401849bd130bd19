// SPDX-License-Identifier: Apache-2.0
// From which RTL the Verilated blocks of this executable were made.
#ifndef STRETTO_PLATFORM_ADAPTERS_RTL_SOURCES_H_
#define STRETTO_PLATFORM_ADAPTERS_RTL_SOURCES_H_

#include <map>
#include <string>

namespace stretto {

struct RtlSources {
  std::string folder;  // "rtl/mca"; a whole path if the user brought it (STRETTO_RTL_mca).
  std::string sha256;  // Of its sources, in the order of the list file.

  bool is_brought() const { return folder.starts_with('/'); }
};

// By block; empty in a build without RTL.
std::map<std::string, RtlSources> rtl_sources();

}  // namespace stretto

#endif  // STRETTO_PLATFORM_ADAPTERS_RTL_SOURCES_H_
