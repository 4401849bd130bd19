// SPDX-License-Identifier: Apache-2.0
#include "platform/config/yaml_file.h"

#include <algorithm>
#include <map>

#include "models/common/error.h"
#include "models/common/read_file.h"

namespace stretto {

namespace {

constexpr int kMaxDepth = 16;

// Every key of every map below `node` is a word, and there once: yaml-cpp would take any of several.
void check_keys(const std::string& file, const YAML::Node& node, int depth) {
  if (depth == kMaxDepth) {
    throw UserError(where(file, node) + ": nested deeper than " + std::to_string(kMaxDepth) +
                    " levels");
  }
  if (node.IsSequence()) {
    for (const auto& item : node) check_keys(file, item, depth + 1);
  }
  if (!node.IsMap()) return;
  std::map<std::string, int> lines;
  for (const auto& item : node) {
    if (!item.first.IsScalar()) throw UserError(where(file, item.first) + ": a key must be a word");
    const int line = item.first.Mark().line + 1;
    const auto [first, fresh] = lines.emplace(item.first.Scalar(), line);
    if (!fresh) {
      throw UserError(where(file, item.first) + ": key '" + first->first +
                      "' is there twice; first in line " + std::to_string(first->second));
    }
    check_keys(file, item.second, depth + 1);
  }
}

}  // namespace

YAML::Node load_yaml(const std::string& file) {
  const std::string text = read_file(file);
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.empty() || !documents[0].IsMap())
      throw UserError(file + ": not a YAML map of keys and values");
    if (documents.size() > 1)
      throw UserError(where(file, documents[1]) + ": a second document; one is allowed");
    check_keys(file, documents[0], 0);
    return documents[0];
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

uint64_t yaml_number(const std::string& file, const YAML::Node& node, const std::string& key,
                     uint64_t low, uint64_t high) {
  uint64_t value = 0;
  ParameterSet set;
  set.number(key, value, low, high, "");
  set.assign(key, yaml_text(file, node, key), where(file, node), "");
  return value;
}

bool yaml_flag(const std::string& file, const YAML::Node& node, const std::string& key) {
  bool value = false;
  ParameterSet set;
  set.flag(key, value, "");
  set.assign(key, yaml_text(file, node, key), where(file, node), "");
  return value;
}

void assign_tree(ParameterSet& set, const std::string& file, const YAML::Node& node,
                 const std::string& prefix, const std::string& origin,
                 const std::vector<std::string>& skip) {
  for (const auto& item : node) {
    const std::string key = item.first.Scalar();
    if (prefix.empty() && std::find(skip.begin(), skip.end(), key) != skip.end()) continue;
    const std::string path = prefix.empty() ? key : prefix + "." + key;
    if (item.second.IsMap()) {
      if (!set.is_group(path))
        set.assign(path, "", where(file, item.first), origin);  // Throws: unknown.
      assign_tree(set, file, item.second, path, origin, skip);
    } else if (set.is_group(path)) {
      throw UserError(where(file, item.first) + ": " + path +
                      " is a group: its parameters go below it as NAME: VALUE; 'stretto list "
                      "parameters' shows them");
    } else {
      set.assign(path, yaml_text(file, item.second, path), where(file, item.first), origin);
    }
  }
}

}  // namespace stretto
