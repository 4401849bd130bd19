// SPDX-License-Identifier: Apache-2.0
// Whether a kernel leaves the same bytes as it is, in slices of the transformer and of the grid
// scheduler, by workers that are stopped at random times, with the stock ISA too, and preempted by the
// grid scheduler.
#ifndef STRETTO_TESTS_UNIT_SW_TRANSFORM_EQUALITY_H_
#define STRETTO_TESTS_UNIT_SW_TRANSFORM_EQUALITY_H_

#include <array>

#include "tests/unit/sw/transform/bench.h"

namespace stretto::test {

// What is wrong, and in which form.
struct Unequal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Memory that a kernel may write.
struct Region {
  const char* name;
  uint64_t base, bytes;
};

struct TransformedForm {
  const char* name;
  const char* arguments;  // Of stretto-transform.
  transform::Form form;
  transform::Isa isa;
};
enum { kSliceForm, kPreemptForm, kStockForm, kTransformedForms };
constexpr std::array<TransformedForm, kTransformedForms> kForms = {
    TransformedForm{"slices", "--form slice", transform::Form::slice, transform::Isa::tile},
    TransformedForm{"workers", "--form preempt", transform::Form::preempt, transform::Isa::tile},
    TransformedForm{"workers, stock ISA", "--form preempt --isa stock", transform::Form::preempt,
                    transform::Isa::stock}};

// One kernel's launch in all forms; null: not in this one.
struct FormsOfKernel {
  const Launch* original = nullptr;
  std::array<const Launch*, kTransformedForms> transformed{};
};

class Equality {
 public:
  // The regions are, before each run, as they are now.
  Equality(TransformBench& bench, std::vector<Region> regions);
  // Runs the original and keeps what it leaves. Throws Unequal if it does not end.
  void run_original(const FormsOfKernel& kernel, const Grid& grid);
  // Each form once, with points of preemption from `rng`. REQUIRES: run_original().
  void run_all(const FormsOfKernel& kernel, const Grid& grid, Rng& rng);

 private:
  void restore();
  std::vector<Bytes> contents();
  template <class Run>
  void require_equal(const char* form, Run&& run);

  TransformBench& bench_;
  std::vector<Region> regions_;
  std::vector<Bytes> before_, expected_;
  Time span_ = 0;
};

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_SW_TRANSFORM_EQUALITY_H_
