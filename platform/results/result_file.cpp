// SPDX-License-Identifier: Apache-2.0
#include "platform/results/result_file.h"

#include <boost/json.hpp>

#include "models/common/error.h"
#include "models/common/read_file.h"

namespace stretto {

namespace json = boost::json;

json::value load_results(const std::string& folder) {
  const std::string file = folder + "/stats.json";
  boost::system::error_code error;
  json::value value = json::parse(read_file(file), error);
  if (error || !value.is_object())
    throw UserError(file + ": not a result of stretto (" + error.message() + ")");
  return value;
}

uint64_t number_at(const json::value& root, std::initializer_list<const char*> path) {
  const json::value* at = &root;
  for (const char* key : path) {
    const json::object* object = at->if_object();
    if (object == nullptr || (at = object->if_contains(key)) == nullptr) return 0;
  }
  if (at->is_uint64()) return at->get_uint64();
  if (at->is_int64()) return static_cast<uint64_t>(at->get_int64());
  return at->is_double() ? static_cast<uint64_t>(at->get_double()) : 0;
}

}  // namespace stretto
