// SPDX-License-Identifier: Apache-2.0
// YAML files with errors that name file and line.
#ifndef STRETTO_PLATFORM_CONFIG_YAML_FILE_H_
#define STRETTO_PLATFORM_CONFIG_YAML_FILE_H_

#include <yaml-cpp/yaml.h>

#include <string>
#include <vector>

#include "models/common/spec.h"

namespace stretto {

YAML::Node load_yaml(const std::string& file);
// "machines/t3.yaml:12".
std::string where(const std::string& file, const YAML::Node& node);
// A scalar of the wanted kind, or UserError.
std::string yaml_text(const std::string& file, const YAML::Node& node, const std::string& key);

// A text in double quotes that YAML reads back as it is.
std::string yaml_quoted(const std::string& text);

// Assigns every scalar below the map `node` to the parameter of its path, each at most once;
// `group` is what the paths begin with.
void assign_tree(ParameterSet& set, const std::string& file, const YAML::Node& node,
                 const std::string& origin, const std::vector<std::string>& skip = {},
                 const std::string& group = "");

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CONFIG_YAML_FILE_H_
