// SPDX-License-Identifier: Apache-2.0
// Who may write where in the memory of one GPU: what the firmware and the jobs on it were given, by
// offsets. All else stays as it was at time 0, operands too; one law holds everybody to it.
#ifndef STRETTO_PLATFORM_JOBS_MEMORY_PLAN_H_
#define STRETTO_PLATFORM_JOBS_MEMORY_PLAN_H_

#include <cstdint>
#include <map>

#include "models/common/component.h"
#include "models/common/memory_image.h"

namespace stretto {

class MemoryPlan {
 public:
  // Somebody may write [begin, begin + bytes).
  void give(uint64_t begin, uint64_t bytes);
  // Law: nobody wrote outside of what was given.
  void audit(const MemoryImage& memory, AuditSink& sink) const;

 private:
  uint64_t strays(const MemoryImage& memory) const;

  std::map<uint64_t, uint64_t> given_;  // Begin and end; apart from each other.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_MEMORY_PLAN_H_
