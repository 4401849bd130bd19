// SPDX-License-Identifier: Apache-2.0
// The table of nccl-tests, and `stretto reproduce collectives`, which prints those of all collectives.
#include <boost/json.hpp>

#include <cstdio>
#include <cstring>
#include <optional>

#include "platform/base/atomic_file.h"
#include "platform/campaign/campaign.h"
#include "platform/kinds/collective/collective_kind.h"
#include "platform/reproduce/t3/reproduce.h"

namespace stretto {

namespace json = boost::json;

namespace {

// Times and rates of one place; `wrong` is absent from a run that was cut short.
std::string cell(const json::object& size, const char* place) {
  char text[128];
  const json::value* value = size.if_contains(place);
  if (value == nullptr) {
    std::snprintf(text, sizeof text, "  %9s %7s %7s %12s %6s", "-", "-", "-", "-", "-");
    return text;
  }
  const json::object& one = value->as_object();
  const json::value* wrong = one.if_contains("wrong");
  std::snprintf(text, sizeof text, "  %9.2f %7.2f %7.2f %12llu %6s",
                one.at("time_us").to_number<double>(), one.at("algbw_gb_s").to_number<double>(),
                one.at("busbw_gb_s").to_number<double>(),
                static_cast<unsigned long long>(one.at("wire_bytes").to_number<uint64_t>()),
                wrong == nullptr ? "-" : std::to_string(wrong->to_number<uint64_t>()).c_str());
  return text;
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
    char line[160];
    std::snprintf(line, sizeof line, "%12llu  %12llu  %8s  %6s  %6d",
                  static_cast<unsigned long long>(size.at("size_bytes").to_number<uint64_t>()),
                  static_cast<unsigned long long>(size.at("count").to_number<uint64_t>()),
                  text_of(details, "type").c_str(), text_of(details, "redop").c_str(),
                  details.at("root").to_number<int>());
    text += line + cell(size, kPlaces[0]) + cell(size, kPlaces[1]) + "\n";
  }
  if (const std::optional<uint64_t> wrong = wrong_of(details); wrong)
    text += "# Out of bounds values : " + std::to_string(*wrong) +
            (*wrong == 0 ? " OK" : " FAILED") + "\n";
  char line[96];
  std::snprintf(line, sizeof line, "# Avg bus bandwidth    : %.4f\n",
                details.at("average_busbw_gb_s").to_number<double>());
  return text + line;
}

int reproduce_collectives(const ReproduceOptions& options) {
  Campaign campaign("collectives", options);
  // The longest first.
  for (const char* op :
       {"all_to_all", "all_reduce", "reduce_scatter", "all_gather", "broadcast", "sendrecv"}) {
    const bool reduces =
        std::strcmp(op, "all_reduce") == 0 || std::strcmp(op, "reduce_scatter") == 0;
    for (const char* engine : {"mmio", "gdma", "dma", "t3"}) {
      if (std::strcmp(engine, "t3") == 0 && !reduces) continue;
      CampaignRun run;
      run.folder = std::string(op) + "/" + engine;
      run.title = std::string(op) + " " + engine;
      run.workload = std::string("collectives/") + op;
      run.mode = engine;
      campaign.add(std::move(run));
    }
  }
  campaign.lock();
  const int status = campaign.simulate();
  std::string tables;
  for (const CampaignRun& run : campaign.runs()) {
    const std::optional<json::value> root = campaign.result(run.folder);
    tables +=
        root ? collective_table(root->at("job").as_object()) : "# " + run.title + ": no result\n";
    tables += "\n";
  }
  write_atomically(options.out + "/tables.txt", tables);
  std::printf("%swritten: %s/tables.txt\n", tables.c_str(), options.out.c_str());
  return status;
}

}  // namespace stretto
