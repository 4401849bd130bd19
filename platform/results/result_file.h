// SPDX-License-Identifier: Apache-2.0
// stats.json of a result folder, read back: parsed once, checked, typed.
//
// Nothing is guessed: a key that is missing, has another type or is negative is a UserError that
// names the file and the key, with the nearest key that is there. A file whose contents do not have
// the sum that was written into it was changed and is refused.
#ifndef STRETTO_PLATFORM_RESULTS_RESULT_FILE_H_
#define STRETTO_PLATFORM_RESULTS_RESULT_FILE_H_

#include <boost/json/object.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stretto {

// A value of a file, with its place for messages. Valid as long as the ResultFile it is from.
class ResultValue {
 public:
  ResultValue(const std::string& file, std::string path, const boost::json::value& value)
      : file_(&file), path_(std::move(path)), value_(&value) {}

  // Of an object: the value of a key that must be there.
  ResultValue at(const std::string& key) const;
  std::optional<ResultValue> find(const std::string& key) const;
  std::vector<std::pair<std::string, ResultValue>> members() const;
  // Of an array.
  std::vector<ResultValue> items() const;

  uint64_t whole() const;  // A whole number, not negative.
  double number() const;   // Any number.
  std::string text() const;
  std::map<std::string, uint64_t> whole_numbers() const;  // An object of nothing else.
  std::map<std::string, std::string> texts() const;       // Likewise.

  const boost::json::value& json() const { return *value_; }

 private:
  [[noreturn]] void refuse(const char* wanted) const;
  const boost::json::object& object() const;

  const std::string* file_;
  std::string path_;  // "time_ns.total"; empty: the whole file.
  const boost::json::value* value_;
};

class ResultFile {
 public:
  // Throws UserError if stats.json in `folder` (or the earlier one that a killed run left) is
  // missing, damaged, changed or incomplete.
  explicit ResultFile(const std::string& folder);

  std::string folder;
  std::string suffix;  // Of its files: see result_suffix().
  std::string status, message, machine, workload, mode, data, digest, firmware_sha256;
  std::string executor = "iss";  // gpu.executor
  uint64_t seed = 0;
  uint64_t gpus = 0;
  std::map<std::string, std::string> parameters;  // Of the workload's kind.
  std::map<std::string, uint64_t> time_ns;        // By phase, and `total`.
  std::map<std::string, uint64_t> dram_bytes;     // By account and direction.
  uint64_t link_bytes = 0;
  uint64_t elements = 0;    // That were checked.
  uint64_t mismatches = 0;  // Of them.
  uint64_t violations = 0;  // Of laws.

  // Of `time_ns` and `dram_bytes`; UserError with the nearest names.
  uint64_t time(const std::string& phase) const;
  uint64_t dram(const std::string& account) const;
  // Why the result measures nothing, as "status is 'failed'"; empty: it is complete and right.
  std::string why_unusable() const;
  // Everything else.
  ResultValue root() const;

 private:
  std::string file_;
  std::shared_ptr<const boost::json::value> root_;
};

// SHA-256 of everything in `root` but the key `sha256` itself, whatever the layout of the file.
std::string contents_sha256(const boost::json::object& root);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_RESULTS_RESULT_FILE_H_
