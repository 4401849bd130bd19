// SPDX-License-Identifier: Apache-2.0
#include "platform/config/yaml_file.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "models/common/error.h"
#include "models/common/read_file.h"

namespace stretto {

namespace {

constexpr size_t kMaxBytes = 4 << 20;
constexpr unsigned kMaxNodes = 100'000;
constexpr size_t kMaxDepth = 16;

// Looks at a file before anything is built from it: yaml-cpp 0.7 takes memory without end for a
// stray comma (each reads as one more empty document) and for aliases of aliases. A key is a word
// and stands in its map once: yaml-cpp would take any of several.
class Inspector final : public YAML::EventHandler {
 public:
  explicit Inspector(const std::string& file) : file_(file) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ != 0)
      fail(mark, "a second document; one is allowed (a stray ',', ']' or '}' begins one, too)");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { scalar(mark, ""); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    fail(mark, "an alias ('*name'); write the value itself");
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string& value) override {
    scalar(mark, value);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, false);
  }
  void OnSequenceEnd() override { levels_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, true);
  }
  void OnMapEnd() override { levels_.pop_back(); }

  bool is_map() const { return is_map_; }

 private:
  struct Level {
    bool is_map;
    bool at_key = true;
    std::map<std::string, int> lines;  // Of keys.
  };

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& what) const {
    throw UserError(file_ + ":" + std::to_string(mark.line + 1) + ": " + what);
  }
  // True: the node is a key of its map.
  bool count(const YAML::Mark& mark) {
    if (++nodes_ > kMaxNodes)
      fail(mark, "more than " + std::to_string(kMaxNodes) + " keys and values");
    if (levels_.empty() || !levels_.back().is_map) return false;
    levels_.back().at_key = !levels_.back().at_key;
    return !levels_.back().at_key;
  }
  void scalar(const YAML::Mark& mark, const std::string& value) {
    if (!count(mark)) return;
    const auto [first, fresh] = levels_.back().lines.emplace(value, mark.line + 1);
    if (!fresh)
      fail(mark,
           "key '" + value + "' is there twice; first in line " + std::to_string(first->second));
  }
  void open(const YAML::Mark& mark, bool is_map) {
    if (count(mark)) fail(mark, "a key must be a word");
    if (levels_.size() == kMaxDepth)
      fail(mark, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
    is_map_ = is_map_ || (is_map && levels_.empty());
    levels_.push_back({is_map, true, {}});
  }

  const std::string& file_;
  std::vector<Level> levels_;
  unsigned documents_ = 0;
  unsigned nodes_ = 0;
  bool is_map_ = false;
};

}  // namespace

YAML::Node load_yaml(const std::string& file) {
  const std::string text = read_file(file);
  if (text.size() > kMaxBytes)
    throw UserError(file + ": larger than " + std::to_string(kMaxBytes >> 20) + " MiB");
  try {
    Inspector inspector(file);
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(inspector) || !inspector.is_map())
      throw UserError(file + ": not a YAML map of keys and values");
    parser.HandleNextDocument(inspector);  // Throws if there is another.
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw UserError(file + ":" + std::to_string(error.mark.line + 1) + ": " + error.msg);
  }
}

std::string where(const std::string& file, const YAML::Node& node) {
  return file + ":" + std::to_string(node.Mark().line + 1);
}

std::string yaml_text(const std::string& file, const YAML::Node& node, const std::string& key) {
  if (!node.IsScalar()) throw UserError(where(file, node) + ": " + key + " must be one value");
  return node.Scalar();
}

std::string yaml_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\x{:02x}", c);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

namespace {

// `places`: where each parameter of the tree was set. "cus" below "gpu" and "gpu.cus" are one.
void assign_branch(ParameterSet& set, const std::string& file, const YAML::Node& node,
                   const std::string& prefix, const std::string& origin,
                   const std::vector<std::string>& skip,
                   std::map<std::string, std::string>& places) {
  for (const auto& item : node) {
    const std::string key = item.first.Scalar();
    if (prefix.empty() && std::find(skip.begin(), skip.end(), key) != skip.end()) continue;
    const std::string path = prefix.empty() ? key : prefix + "." + key;
    const std::string place = where(file, item.first);
    if (item.second.IsMap()) {
      if (set.find(path) != nullptr)
        throw UserError(place + ": " + path + " is one parameter: write '" + path + ": VALUE'");
      if (!set.is_group(path)) set.assign(path, "", place, origin);  // Throws: unknown.
      assign_branch(set, file, item.second, path, origin, skip, places);
    } else if (set.is_group(path)) {
      throw UserError(place + ": " + path +
                      " is a group: its parameters go below it as NAME: VALUE; 'stretto list "
                      "parameters' shows them");
    } else {
      const std::string column = ", column " + std::to_string(item.first.Mark().column + 1);
      const auto [first, fresh] = places.emplace(path, place + column);
      if (!fresh)
        throw UserError(place + column + ": " + path + " is there twice; first at " +
                        first->second);
      set.assign(path, yaml_text(file, item.second, path), place, origin);
    }
  }
}

}  // namespace

void assign_tree(ParameterSet& set, const std::string& file, const YAML::Node& node,
                 const std::string& origin, const std::vector<std::string>& skip,
                 const std::string& group) {
  std::map<std::string, std::string> places;
  assign_branch(set, file, node, group, origin, skip, places);
}

}  // namespace stretto
