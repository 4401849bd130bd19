// SPDX-License-Identifier: Apache-2.0
// `stretto report` and `stretto compare`: the results of one or more folders as a table, one column
// a folder.
#ifndef STRETTO_PLATFORM_COMPARE_H_
#define STRETTO_PLATFORM_COMPARE_H_

#include <boost/json/value.hpp>

#include <string>
#include <vector>

namespace stretto {

// stats.json of a result folder; UserError if it is missing or damaged.
boost::json::value load_results(const std::string& folder);
// Number at a path like {"time_ns", "total"}; 0 if absent.
uint64_t number_at(const boost::json::value& root, std::initializer_list<const char*> path);

// No ratio to or of a result that is unfinished, failed its checks or is of another workload: exit
// status 1 then. A difference beside the mode is said on standard error.
int compare(const std::vector<std::string>& folders);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_COMPARE_H_
