// SPDX-License-Identifier: Apache-2.0
// `stretto report` and `stretto compare`: the results of one or more folders as a table, one column
// a folder.
#ifndef STRETTO_PLATFORM_RESULTS_COMPARE_H_
#define STRETTO_PLATFORM_RESULTS_COMPARE_H_

#include <string>
#include <vector>

namespace stretto {

// No ratio to or of a result that is unfinished, failed its checks or is of another workload: exit
// status 1 then. A difference beside the mode is said on standard error.
int compare(const std::vector<std::string>& folders);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RESULTS_COMPARE_H_
