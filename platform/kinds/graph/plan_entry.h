// SPDX-License-Identifier: Apache-2.0
// Reading a plan of sw/compiler: every value with its place in the file, which errors name.
#ifndef STRETTO_PLATFORM_KINDS_GRAPH_PLAN_ENTRY_H_
#define STRETTO_PLATFORM_KINDS_GRAPH_PLAN_ENTRY_H_

#include <boost/json/value.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "models/common/error.h"

namespace stretto {

constexpr uint64_t kMostBytes = uint64_t{1} << 40;
constexpr uint64_t kMostRows = uint64_t{1} << 24;

// Whose plan errors are about: a file of the user, or the graph that was planned for this run, whose plan nobody has seen.
struct PlanSubject {
  std::string name;
  bool is_graph = false;
};

// A value of a plan and where it stands: "launches[3].tiles". REQUIRES: the subject outlives it.
class PlanEntry {
 public:
  PlanEntry(const PlanSubject& subject, const boost::json::value& value, std::string path,
            const std::string& of = "")
      : subject_(subject), value_(value), path_(std::move(path)), operator_(of) {
    const boost::json::object* object = value_.if_object();
    if (object == nullptr || !object->contains("kind") || !object->contains("output")) return;
    const boost::json::value &kind = object->at("kind"), &output = object->at("output");
    if (kind.is_string() && output.is_string())
      operator_ = std::string(kind.get_string()) + " -> " + std::string(output.get_string());
  }

  // An operator by its name, too: people know the graph, not the plan.
  [[noreturn]] void fail(const std::string& what) const {
    const std::string place = path_.empty() ? "the plan" : path_;
    if (subject_.is_graph)
      throw UserError(subject_.name + ": " + (operator_.empty() ? place : operator_) + " " + what);
    throw UserError(subject_.name + ": " + place +
                    (operator_.empty() ? "" : " (" + operator_ + ")") + " " + what);
  }
  PlanEntry operator[](const char* key) const {
    const boost::json::object* object = value_.if_object();
    if (object == nullptr) fail("must be an object");
    const boost::json::value* found = object->if_contains(key);
    if (found == nullptr) fail(std::string("has no '") + key + "'");
    return {subject_, *found, path_.empty() ? key : path_ + "." + key, operator_};
  }
  bool has(const char* key) const {
    const boost::json::object* object = value_.if_object();
    return object != nullptr && object->contains(key);
  }
  std::vector<PlanEntry> list(size_t fewest = 0, size_t most = ~size_t{0}) const {
    const boost::json::array* array = value_.if_array();
    if (array == nullptr) fail("must be a list");
    if (array->size() < fewest || array->size() > most)
      fail("must have " + std::to_string(fewest) + ".." + std::to_string(most) + " entries");
    std::vector<PlanEntry> entries;
    for (size_t i = 0; i < array->size(); ++i)
      entries.push_back({subject_, (*array)[i], path_ + "[" + std::to_string(i) + "]", operator_});
    return entries;
  }
  uint64_t number(uint64_t low, uint64_t high) const {
    const bool fits = value_.is_uint64() || (value_.is_int64() && value_.get_int64() >= 0);
    const uint64_t number = fits ? value_.to_number<uint64_t>() : 0;
    if (!fits || number < low || number > high)
      fail("must be a whole number " + std::to_string(low) + ".." + std::to_string(high));
    return number;
  }
  double real() const {
    if (!value_.is_number()) fail("must be a number");
    return value_.to_number<double>();
  }
  std::string text() const {
    if (!value_.is_string()) fail("must be a text");
    return value_.get_string().c_str();
  }
  std::string one_of(const std::vector<std::string>& names) const {
    const std::string name = text();
    std::string all;
    for (const std::string& one : names) {
      if (one == name) return name;
      all += (all.empty() ? "" : ", ") + one;
    }
    fail("is '" + name + "'; allowed: " + all);
  }

 private:
  const PlanSubject& subject_;
  const boost::json::value& value_;
  const std::string path_;
  std::string operator_;  // "KIND -> OUTPUT" of the one that it is of.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GRAPH_PLAN_ENTRY_H_
