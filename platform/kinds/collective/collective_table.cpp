// SPDX-License-Identifier: Apache-2.0
// The table of nccl-tests.
#include <fmt/format.h>
#include <boost/json.hpp>

#include <optional>

#include "platform/kinds/collective/collective_kind.h"

namespace stretto {

namespace json = boost::json;

namespace {

// Times and rates of one place; `wrong` is absent from a run that was cut short, `wire_bytes` where
// jobs share GPUs.
std::string cell(const json::object& size, const char* place) {
  const json::value* value = size.if_contains(place);
  if (value == nullptr) return fmt::format("  {0:>9} {0:>7} {0:>7} {0:>12} {0:>6}", "-");
  const json::object& one = value->as_object();
  const json::value* wrong = one.if_contains("wrong");
  const json::value* wire = one.if_contains("wire_bytes");
  const auto count = [](const json::value* value) {
    return value == nullptr ? "-" : std::to_string(value->to_number<uint64_t>());
  };
  return fmt::format("  {:9.2f} {:7.2f} {:7.2f} {:>12} {:>6}",
                     one.at("time_us").to_number<double>(),
                     one.at("algbw_gb_s").to_number<double>(),
                     one.at("busbw_gb_s").to_number<double>(), count(wire), count(wrong));
}

constexpr const char* kPlaces[2] = {"out_of_place", "in_place"};

// Wrong elements of all sizes, or nothing if they were not compared.
std::optional<uint64_t> wrong_of(const json::object& details) {
  std::optional<uint64_t> sum;
  for (const json::value& size : details.at("sizes").as_array()) {
    for (const char* place : kPlaces) {
      const json::value* one = size.as_object().if_contains(place);
      const json::value* wrong = one == nullptr ? nullptr : one->as_object().if_contains("wrong");
      if (wrong != nullptr) sum = sum.value_or(0) + wrong->to_number<uint64_t>();
    }
  }
  return sum;
}

std::string text_of(const json::object& object, const char* key) {
  return std::string(object.at(key).as_string());
}

}  // namespace

std::string collective_table(const json::object& details) {
  const char* names = "       time   algbw   busbw         wire #wrong";
  const char* units = "       (us)  (GB/s)  (GB/s)          (B)       ";
  std::string text = "# " + text_of(details, "collective") + ", engine " +
                     text_of(details, "engine") + ", " +
                     std::to_string(details.at("ranks").to_number<int>()) + " ranks, " +
                     text_of(details, "algorithm") + "\n";
  text += "#" + std::string(55, ' ') + "  out-of-place" + std::string(33, ' ') + "in-place\n";
  text +=
      std::string("#       size         count      type   redop    root") + names + names + "\n";
  text +=
      std::string("#        (B)    (elements)                           ") + units + units + "\n";
  for (const json::value& value : details.at("sizes").as_array()) {
    const json::object& size = value.as_object();
    if (!size.contains(kPlaces[0]) && !size.contains(kPlaces[1])) continue;
    text +=
        fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:6}", size.at("size_bytes").to_number<uint64_t>(),
                    size.at("count").to_number<uint64_t>(), text_of(details, "type"),
                    text_of(details, "redop"), details.at("root").to_number<int>());
    text += cell(size, kPlaces[0]) + cell(size, kPlaces[1]) + "\n";
  }
  if (const std::optional<uint64_t> wrong = wrong_of(details); wrong)
    text += "# Out of bounds values : " + std::to_string(*wrong) +
            (*wrong == 0 ? " OK" : " FAILED") + "\n";
  if (const json::value* average = details.if_contains("average_busbw_gb_s"))
    text += fmt::format("# Avg bus bandwidth    : {:.4f}\n", average->to_number<double>());
  return text;
}

}  // namespace stretto
