// SPDX-License-Identifier: Apache-2.0
// Reads an FST file of waves: names and changes, with GTKWave's own reader.
#ifndef STRETTO_TESTS_SUPPORT_FST_FILE_H_
#define STRETTO_TESTS_SUPPORT_FST_FILE_H_

#include <fstapi.h>

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace stretto::test {

class FstFile {
 public:
  struct Change {
    uint64_t time;  // Picoseconds.
    std::string value;
  };

  // Throws if the file cannot be read.
  explicit FstFile(const std::string& path) : reader_(fstReaderOpen(path.c_str())) {
    if (reader_ == nullptr) throw std::runtime_error(path + " cannot be read");
    read_names();
    fstReaderSetFacProcessMaskAll(reader_);
    fstReaderIterBlocks(reader_, &FstFile::on_change, this, nullptr);
  }
  ~FstFile() { fstReaderClose(reader_); }
  FstFile(const FstFile&) = delete;
  FstFile& operator=(const FstFile&) = delete;

  uint64_t begin() const { return fstReaderGetStartTime(reader_); }
  uint64_t end() const { return fstReaderGetEndTime(reader_); }
  bool has(const std::string& name) const { return handles_.count(name) != 0; }
  // "gpu0.mca[3].occupancy_q[7:0]" and its handle, sorted.
  const std::map<std::string, fstHandle>& names() const { return handles_; }
  // In the order of time, the value at begin() first.
  const std::vector<Change>& changes(const std::string& name) const {
    return changes_.at(handles_.at(name));
  }
  // The last value at or before `time`.
  std::string value(const std::string& name, uint64_t time) const {
    std::string value;
    for (const Change& change : changes(name)) {
      if (change.time > time) break;
      value = change.value;
    }
    return value;
  }
  uint64_t number(const std::string& name, uint64_t time) const {
    return std::stoull(value(name, time), nullptr, 2);
  }
  // Times at which the signal becomes 1.
  std::vector<uint64_t> rises(const std::string& name) const {
    std::vector<uint64_t> times;
    bool high = true;
    for (const Change& change : changes(name)) {
      if (change.value == "1" && !high) times.push_back(change.time);
      high = change.value == "1";
    }
    return times;
  }

 private:
  void read_names() {
    std::vector<std::string> scopes;
    while (const fstHier* const entry = fstReaderIterateHier(reader_)) {
      if (entry->htyp == FST_HT_SCOPE) {
        scopes.push_back(entry->u.scope.name);
      } else if (entry->htyp == FST_HT_UPSCOPE) {
        scopes.pop_back();
      } else if (entry->htyp == FST_HT_VAR) {
        std::string name;
        for (const std::string& scope : scopes) name += scope + ".";
        for (const char* c = entry->u.var.name; *c != '\0'; ++c) {
          if (*c != ' ') name += *c;
        }
        handles_[name] = entry->u.var.handle;
        changes_[entry->u.var.handle];
      }
    }
  }
  static void on_change(void* self, uint64_t time, fstHandle handle, const unsigned char* value) {
    std::vector<Change>& all = static_cast<FstFile*>(self)->changes_[handle];
    const std::string text = reinterpret_cast<const char*>(value);
    if (all.empty() || all.back().value != text) all.push_back({time, text});
  }

  void* reader_;
  std::map<std::string, fstHandle> handles_;
  std::map<fstHandle, std::vector<Change>> changes_;
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SUPPORT_FST_FILE_H_
