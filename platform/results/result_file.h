// SPDX-License-Identifier: Apache-2.0
// What a run left in its folder, read back.
#ifndef STRETTO_PLATFORM_RESULTS_RESULT_FILE_H_
#define STRETTO_PLATFORM_RESULTS_RESULT_FILE_H_

#include <boost/json/value.hpp>

#include <initializer_list>
#include <string>

namespace stretto {

// stats.json of a result folder; UserError if it is missing or damaged.
boost::json::value load_results(const std::string& folder);
// Number at a path like {"time_ns", "total"}; 0 if absent.
uint64_t number_at(const boost::json::value& root, std::initializer_list<const char*> path);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RESULTS_RESULT_FILE_H_
