// SPDX-License-Identifier: Apache-2.0
// One kernel's new words: what replaces which instruction, and the code in front of and around the
// body. Two kernels that share a function must want the same there.
#ifndef STRETTO_SW_TRANSFORM_REWRITE_H_
#define STRETTO_SW_TRANSFORM_REWRITE_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sw/transform/analysis.h"
#include "sw/transform/transform.h"

namespace stretto::transform {

constexpr uint32_t kMaxPrivate = 65536;  // Bytes, of the GPU.

// What becomes of one instruction.
struct Change {
  std::string what;            // Equal texts, equal changes.
  uint32_t word = 0;           // In place, if `stub` is empty ...
  std::vector<uint32_t> stub;  // ... else a jump to these words, then back;
  bool leaves = false;         // or to the code behind a task.
  bool is_neutral = false;     // Means the same in a kernel that was not transformed.
};

class Rewrite {
 public:
  // `shared_ends`: where several kernels of the file end. Throws Refused.
  Rewrite(const Kernel& kernel, const Analysis& analysis, const std::set<uint64_t>& shared_ends,
          const Options& options);

  const std::map<uint64_t, Change>& changes() const { return changes_; }
  // The new descriptor but for its entry.
  const stretto_kernel_descriptor_t& descriptor() const { return descriptor_; }
  // Appends the code around the body and returns the address of the new entry.
  uint64_t frame_code(Assembler& out);
  // Where a task ends. REQUIRES: frame_code() was called, and the form is preemptive.
  uint64_t behind_task() const { return behind_task_; }

 private:
  void change(uint64_t address, const Instruction& instruction);
  void change_csr(uint64_t address, const Instruction& instruction);
  std::vector<uint32_t> argument(unsigned rd, size_t field) const;
  void load_argument(Assembler& out, unsigned rd, size_t field, const char* what) const;
  bool is_stock() const { return options_.isa == Isa::stock && options_.form == Form::preempt; }
  // rd <- the worker's mail; `other` is overwritten.
  std::vector<uint32_t> mail(unsigned rd, unsigned other) const;
  std::vector<uint32_t> stock_barrier() const;
  void share_task(Assembler& out) const;
  void hold_returned(Assembler& out) const;
  void take_tasks(Assembler& out);
  void begin_body(Assembler& out) const;
  void zero_private(Assembler& out) const;
  void end_task(Assembler& out, uint64_t loop) const;

  const Kernel& kernel_;
  const Analysis& analysis_;
  const std::set<uint64_t>& shared_ends_;
  const Options& options_;
  stretto_kernel_descriptor_t descriptor_;
  uint32_t arguments_at_;  // Of stretto_transformed_arguments_t in the arguments.
  bool has_place_;         // Uses ids of dimensions.
  bool has_shared_end_;
  bool has_frame_;  // 48 bytes above the stack.
  uint64_t behind_task_ = 0;
  std::map<uint64_t, Change> changes_;
};

}  // namespace stretto::transform

#endif  // STRETTO_SW_TRANSFORM_REWRITE_H_
