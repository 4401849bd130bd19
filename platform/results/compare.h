// SPDX-License-Identifier: Apache-2.0
// `stretto report` and `stretto compare`: the results of one or more folders as a table, one column
// a folder.
#ifndef STRETTO_PLATFORM_RESULTS_COMPARE_H_
#define STRETTO_PLATFORM_RESULTS_COMPARE_H_

#include <string>
#include <vector>

namespace stretto {

struct ComparedResults {
  std::string text;        // The table, and below it the tables that the runs have printed.
  std::string complaints;  // A line for each ratio that is not shown or doubtful.
  bool all_comparable = true;
};

// No ratio to or of a result that is unfinished, failed its checks or did other work: another
// workload, or a mode that does another part of it. Throws UserError.
ComparedResults compare_results(const std::vector<std::string>& folders);
// Prints it. Exit status: 1 if a ratio is not shown.
int compare(const std::vector<std::string>& folders);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RESULTS_COMPARE_H_
