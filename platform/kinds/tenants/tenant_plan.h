// SPDX-License-Identifier: Apache-2.0
// What one client of a shared GPU does: the kernels of a request, from their text, and where its data
// lie in the client's window of memory.
#ifndef STRETTO_PLATFORM_KINDS_TENANTS_TENANT_PLAN_H_
#define STRETTO_PLATFORM_KINDS_TENANTS_TENANT_PLAN_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/job_request.h"
#include "platform/jobs/memory_plan.h"
#include "platform/jobs/operators/operators.h"
#include "sw/apps/tenants/tenant.h"

namespace stretto {

struct TenantText {
  std::string name, kernels;
  std::string where;  // For messages.
};

class TenantPlan {
 public:
  // `kernels`: lines, of which each counts `least_times` at least and `most_times`, if not 0, at most. Throws
  // UserError with `where` before the message.
  TenantPlan(std::string name, const std::string& kernels, uint32_t least_times,
             uint32_t most_times, const MachineSpec& spec, uint64_t seed,
             const stretto_client_options_t& client, const std::string& where);
  TenantPlan(const TenantPlan&) = delete;

  const std::string& name() const { return name_; }
  const memory_plan_t& memory() const { return memory_; }
  const std::vector<tenant_step_t>& steps() const { return steps_; }
  uint32_t kernels() const { return static_cast<uint32_t>(kernels_.size()); }
  // Names of ELFs, in the order of tenant_step_t::file.
  const std::vector<std::string>& files() const { return files_; }
  const std::vector<uint8_t>& elf(uint32_t file) const { return elfs_[file]; }
  uint64_t work_groups() const;  // Of a request.

  void place_contents(MemoryImage& memory) const;
  // What a client that has done so much has left: values where the machine computes them and the
  // reference is not too long, and how often each work-group ran.
  void check(MemoryImage& memory, const tenant_result_t& done, CheckReport& report) const;
  // Of the outputs of all kernels but those that count.
  std::string outputs_sha256(MemoryImage& memory) const;

 private:
  struct Line {
    std::unique_ptr<Operator> op;
    uint32_t times, host_ns;
    Places places;
    std::vector<Launch> launches;
    uint32_t first_step;
  };
  struct Input {
    ops_element_t element;
    uint64_t address, bytes;
  };

  void parse(const std::string& kernels, const std::string& where);
  void place(const stretto_client_options_t& client);
  void make_steps(const std::string& where);
  uint32_t file_of(const std::string& kernel, const std::string& where);
  uint64_t executions(const Line& line, const tenant_result_t& done) const;

  const std::string name_;
  const MachineSpec& spec_;
  const uint64_t seed_;
  std::vector<Line> lines_;
  memory_plan_t memory_{};
  std::vector<Input> inputs_;
  std::vector<uint8_t> constants_;
  uint64_t constants_at_ = 0;
  std::map<std::string, uint32_t> kernels_;  // Names that steps point to, with their numbers.
  std::vector<std::string> files_;
  std::vector<std::vector<uint8_t>> elfs_;
  std::vector<tenant_step_t> steps_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TENANTS_TENANT_PLAN_H_
