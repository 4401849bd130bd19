// SPDX-License-Identifier: Apache-2.0
// Rewrites kernels of an ELF so that a launch runs a slice of the grid, or workers that take tasks
// and can be told to stop. README.md has the table of what becomes what.
#ifndef STRETTO_SW_TRANSFORM_TRANSFORM_H_
#define STRETTO_SW_TRANSFORM_TRANSFORM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sw/include/formats/transformed_kernel.h"
#include "sw/transform/analysis.h"
#include "sw/transform/assembler.h"
#include "sw/transform/kernel_elf.h"

namespace stretto::transform {

enum class Form : uint8_t { slice = STRETTO_FORM_SLICE, preempt = STRETTO_FORM_PREEMPT };

// What stubs are made of. stock: without tile.vote and tile.release.
enum class Isa : uint8_t { tile, stock };

struct Options {
  Form form = Form::preempt;
  Isa isa = Isa::tile;        // Of the preemptive form; the other needs neither.
  std::string kernel;         // One alone; empty: all that can be.
  bool zero_private = false;  // Private memory is zero when a task begins.
};

struct Patch {
  uint64_t address;
  uint32_t before, after;
  std::string what;
};

struct Outcome {
  std::string kernel;
  std::string refusal;  // Empty: it was transformed.
  bool faults =
      false;  // Not transformed, and it may run into rewritten code: a launch of it faults.
  std::vector<std::string> warnings;
  std::vector<Patch> patches;
};

struct Result {
  std::vector<uint8_t> elf;
  std::vector<Outcome> kernels;
  std::vector<Line> stubs;
};

// A file and what is known of its kernels, whatever becomes of them: that takes most of the time.
class Subject {
 public:
  // Throws Refused if the file is unfit.
  explicit Subject(const std::vector<uint8_t>& file);

  // Throws Refused if the kernel is not in it, or nothing could be transformed.
  Result transform(const Options& options) const;

 private:
  struct Known {
    std::optional<Analysis> analysis;  // Nothing: what it reaches is not known.
    std::string refusal;
  };
  friend class Transformation;

  KernelElf elf_;
  std::vector<Known> kernels_;  // In the order of those of the file.
};

// Of one form. Throws Refused likewise.
Result transform(const std::vector<uint8_t>& elf, const Options& options);

}  // namespace stretto::transform

#endif  // STRETTO_SW_TRANSFORM_TRANSFORM_H_
