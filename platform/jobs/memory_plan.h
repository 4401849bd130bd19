// SPDX-License-Identifier: Apache-2.0
// What lies where in the memory of one GPU: named ranges of the firmware and of the jobs on it, by
// offsets. All but inputs may be written. All else stays as it was at time 0; one law holds
// everybody to it.
#ifndef STRETTO_PLATFORM_JOBS_MEMORY_PLAN_H_
#define STRETTO_PLATFORM_JOBS_MEMORY_PLAN_H_

#include <cstdint>
#include <map>
#include <string>

#include "models/common/component.h"
#include "models/common/memory_image.h"
#include "sw/apps/memory_plan.h"

namespace stretto {

class MemoryPlan {
 public:
  // [base, base + bytes) has a name; nobody may write an input.
  void add(const std::string& name, uint64_t base, uint64_t bytes, bool is_input = false);
  // What the program of a rank allocates, and room for its modules behind.
  void add(const memory_plan_t& program, uint64_t module_bytes);
  void add(const MemoryPlan& other);
  // Law: nobody wrote outside of what was given. If somebody did, `where` is told the first place.
  void audit(const MemoryImage& memory, AuditSink& sink, const std::string& where) const;

 private:
  std::string name_of(uint64_t address) const;

  std::map<uint64_t, std::string> names_;  // By base; inputs, too.
  std::map<uint64_t, uint64_t> given_;     // Begin and end; apart from each other.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_MEMORY_PLAN_H_
