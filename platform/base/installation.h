// SPDX-License-Identifier: Apache-2.0
// Where the files are that ship with stretto: machines, workloads, kernels, firmware.
#ifndef STRETTO_PLATFORM_BASE_INSTALLATION_H_
#define STRETTO_PLATFORM_BASE_INSTALLATION_H_

#include <string>
#include <vector>

#include "models/cp/cp_spec.h"

namespace stretto {

// Where the running executable lies.
std::string executable_folder();
// The folder that holds machines/ and workloads/: $STRETTO_SHARE, ../share/stretto of the
// executable (installed), or the source tree's.
std::string share_folder();
// The folder of published targets (reproduce).
std::string targets_folder();
// The folder of the graph compiler, compile.py and apps/.
std::string compiler_folder();
// The folder of kernels and firmware: $STRETTO_SW, ../lib/stretto/sw of the executable (installed),
// or the build's sw/.
std::string software_folder();

// A shared library that ships: below ../lib of the executable (installed), or the build's sw/.
std::string library_file(const std::string& name);

// The firmware that `given` names; empty: the shipped one for this kind of private memory.
std::string firmware_file(const std::string& given, PrivateMemory memory);

// Names of the *.yaml below share_folder()/`kind`, sorted, without suffix: "t3/small".
std::vector<std::string> shipped(const std::string& kind);
// The file of `name_or_file`; throws UserError that lists near names and begins with `place`, the
// line that names it.
std::string find_shipped(const std::string& kind, const std::string& name_or_file,
                         const std::string& place = "");
// A file that `file` names, with its suffix: beside it if it is there, else as it stands.
std::string beside(const std::string& file, const std::string& name);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_BASE_INSTALLATION_H_
