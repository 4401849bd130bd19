// SPDX-License-Identifier: Apache-2.0
// A machine: the Specs of all its components as one tree, filled from a YAML file and --set.
//
// A machine file has `description`, optionally `extends` (the name of another machine, read first)
// and parameters under the same paths as in `stretto list parameters`. Precedence: default <
// machine < workload < --set.
#ifndef STRETTO_PLATFORM_CONFIG_MACHINE_H_
#define STRETTO_PLATFORM_CONFIG_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "models/common/spec.h"
#include "platform/config/machine_spec.h"

namespace stretto {

class Machine {
 public:
  Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // `name_or_file`: the name of a shipped machine, or a path that ends in .yaml.
  void load(const std::string& name_or_file);
  // One "path=value" of the command line; `also`: keys that may have been meant.
  void set(const std::string& assignment, const std::vector<std::string>& also = {});
  // The whole tree after all assignments: relations between parameters. Throws UserError.
  void check() const;

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  MachineSpec& spec() { return spec_; }
  const MachineSpec& spec() const { return spec_; }
  ParameterSet& parameters() { return parameters_; }
  const ParameterSet& parameters() const { return parameters_; }
  // YAML of every parameter with a comment that says who set it.
  std::string resolved() const;

 private:
  // `name`: who sets what is in the file, as resolved() says it: a machine, or one that it extends.
  void load_file(const std::string& name, const std::string& file, int depth);

  std::string name_ = "none";
  std::string description_;
  MachineSpec spec_;
  ParameterSet parameters_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_CONFIG_MACHINE_H_
