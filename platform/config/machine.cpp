// SPDX-License-Identifier: Apache-2.0
#include "platform/config/machine.h"

#include "models/common/error.h"
#include "platform/base/installation.h"
#include "platform/config/yaml_file.h"

namespace stretto {

Machine::Machine() { describe(spec_, parameters_); }

void Machine::load(const std::string& name_or_file) {
  name_ = name_or_file;
  load_file(name_, find_shipped("machines", name_or_file), 0);
}

void Machine::load_file(const std::string& name, const std::string& file, int depth) {
  const YAML::Node node = load_yaml(file);
  if (const YAML::Node base = node["extends"]; base) {
    if (depth == 8) throw UserError(where(file, base) + ": extends goes in a circle");
    const std::string parent = beside(file, yaml_text(file, base, "extends"));
    load_file(parent, find_shipped("machines", parent, where(file, base)), depth + 1);
  }
  if (const YAML::Node text = node["description"]; text)
    description_ = yaml_text(file, text, "description");
  assign_tree(parameters_, file, node, "machine " + name, {"extends", "description"});
}

void Machine::set(const std::string& assignment, const std::vector<std::string>& also) {
  const size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw UserError("--set " + assignment + ": must be path.to.key=value");
  }
  parameters_.assign(assignment.substr(0, equals), assignment.substr(equals + 1),
                     "--set " + assignment, "--set", also);
}

void Machine::check() const { check_machine(spec_); }

std::string Machine::resolved() const {
  std::string text =
      "# Every parameter of this run, with who set it. A machine file as it stands.\n";
  text += "description: " + yaml_quoted("resolved from machine " + name_) + "\n";
  std::vector<std::string> open;
  for (const Parameter& parameter : parameters_.all()) {
    std::vector<std::string> parts;
    size_t begin = 0;
    for (size_t dot = parameter.path.find('.'); dot != std::string::npos;
         dot = parameter.path.find('.', begin)) {
      parts.push_back(parameter.path.substr(begin, dot - begin));
      begin = dot + 1;
    }
    size_t same = 0;
    while (same < open.size() && same < parts.size() && open[same] == parts[same]) ++same;
    for (size_t i = same; i < parts.size(); ++i) text += std::string(2 * i, ' ') + parts[i] + ":\n";
    open = parts;
    std::string value = parameter.get();
    if (parameter.type == "text") value = yaml_quoted(value);
    text += std::string(2 * parts.size(), ' ') + parameter.path.substr(begin) + ": " + value;
    text += "  # " + parameter.origin + "\n";
  }
  return text;
}

}  // namespace stretto
