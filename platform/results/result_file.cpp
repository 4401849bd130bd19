// SPDX-License-Identifier: Apache-2.0
#include "platform/results/result_file.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include "models/common/component.h"
#include "models/common/error.h"
#include "models/common/read_file.h"
#include "models/common/spec.h"
#include "platform/base/atomic_file.h"

namespace stretto {

namespace json = boost::json;

namespace {

std::string join(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

[[noreturn]] void refuse_missing(const std::string& file, const std::string& path,
                                 const std::string& key, const json::object& object) {
  std::vector<std::string> names;
  for (const auto& item : object) names.emplace_back(item.key());
  const std::string near = nearest_names(key, names);
  throw UserError(fmt::format("{}: missing '{}'{}", file, join(path, key),
                              near.empty() ? "" : "; nearest: " + near));
}

json::value parse_file(const std::string& file) {
  boost::system::error_code error;
  json::value value = json::parse(read_file(file), error);
  if (error)
    throw UserError(fmt::format("{}: not a result of stretto ({})", file, error.message()));
  if (!value.is_object()) throw UserError(file + ": not a result of stretto (no object)");
  return value;
}

}  // namespace

void ResultValue::refuse(const char* wanted) const {
  std::string shown = json::serialize(*value_);
  if (shown.size() > 40) shown = shown.substr(0, 40) + "...";
  throw UserError(fmt::format("{}: '{}' is {}, must be {}", *file_, path_, shown, wanted));
}

const json::object& ResultValue::object() const {
  if (!value_->is_object()) refuse("an object");
  return value_->get_object();
}

std::optional<ResultValue> ResultValue::find(const std::string& key) const {
  const json::value* at = object().if_contains(key);
  if (at == nullptr) return std::nullopt;
  return ResultValue(*file_, join(path_, key), *at);
}

ResultValue ResultValue::at(const std::string& key) const {
  if (std::optional<ResultValue> found = find(key)) return *found;
  refuse_missing(*file_, path_, key, object());
}

std::vector<std::pair<std::string, ResultValue>> ResultValue::members() const {
  std::vector<std::pair<std::string, ResultValue>> all;
  for (const auto& item : object()) {
    const std::string key(item.key());
    all.emplace_back(key, ResultValue(*file_, join(path_, key), item.value()));
  }
  return all;
}

std::vector<ResultValue> ResultValue::items() const {
  if (!value_->is_array()) refuse("an array");
  std::vector<ResultValue> all;
  for (const json::value& one : value_->get_array())
    all.emplace_back(*file_, fmt::format("{}[{}]", path_, all.size()), one);
  return all;
}

uint64_t ResultValue::whole() const {
  if (value_->is_uint64()) return value_->get_uint64();
  if (value_->is_int64() && value_->get_int64() >= 0)
    return static_cast<uint64_t>(value_->get_int64());
  refuse("a whole number, not negative");
}

double ResultValue::number() const {
  if (!value_->is_number()) refuse("a number");
  return value_->to_number<double>();
}

std::string ResultValue::text() const {
  if (!value_->is_string()) refuse("a text");
  return std::string(value_->get_string());
}

std::map<std::string, uint64_t> ResultValue::whole_numbers() const {
  std::map<std::string, uint64_t> all;
  for (const auto& [key, value] : members()) all[key] = value.whole();
  return all;
}

std::map<std::string, std::string> ResultValue::texts() const {
  std::map<std::string, std::string> all;
  for (const auto& [key, value] : members()) all[key] = value.text();
  return all;
}

ResultFile::ResultFile(const std::string& path)
    : folder(path),
      suffix(result_suffix(path)),
      file_(path + "/stats.json" + suffix),
      root_(std::make_shared<const json::value>(parse_file(file_))) {
  const ResultValue all = root();
  if (all.at("sha256").text() != contents_sha256(root_->get_object()))
    throw UserError(file_ + ": was changed after it was written; remove it to simulate again");
  status = all.at("status").text();
  message = all.at("message").text();
  machine = all.at("machine").text();
  workload = all.at("workload").text();
  mode = all.at("mode").text();
  data = all.at("data").text();
  digest = all.at("digest").text();
  firmware_sha256 = all.at("firmware_sha256").text();
  if (const auto who = all.find("executor")) executor = who->text();
  seed = all.at("seed").whole();
  gpus = all.at("gpus").whole();
  parameters = all.at("parameters").texts();
  time_ns = all.at("time_ns").whole_numbers();
  dram_bytes = all.at("dram_bytes").whole_numbers();
  link_bytes = all.at("link_bytes").whole();
  elements = all.at("check").at("elements").whole();
  mismatches = all.at("check").at("mismatches").whole();
  violations = all.at("audit").at("violations").whole();
  (void)time("total");
}

ResultValue ResultFile::root() const { return {file_, "", *root_}; }

uint64_t ResultFile::time(const std::string& phase) const {
  const auto found = time_ns.find(phase);
  return found != time_ns.end() ? found->second : root().at("time_ns").at(phase).whole();
}

uint64_t ResultFile::dram(const std::string& account) const {
  const auto found = dram_bytes.find(account);
  return found != dram_bytes.end() ? found->second : root().at("dram_bytes").at(account).whole();
}

std::string ResultFile::why_unusable() const {
  if (status != "complete") return "status is '" + status + "'";
  if (elements == 0 && executor == "iss") return "no element was checked";
  if (mismatches != 0) return "its data is wrong";
  if (violations != 0) return "it violates laws";
  return "";
}

std::string contents_sha256(const json::object& root) {
  std::string text;
  for (const auto& item : root) {
    if (item.key() != "sha256")
      text += json::serialize(item.key()) + ":" + json::serialize(item.value()) + "\n";
  }
  return sha256_hex(text.data(), text.size());
}

}  // namespace stretto
