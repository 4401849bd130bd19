// SPDX-License-Identifier: Apache-2.0
#include "sw/transform/transform.h"

#include <fmt/format.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>

#include "sw/driver/stretto_driver.h"
#include "sw/include/formats/code_identity.h"
#include "sw/include/formats/transformed_kernel.h"
#include "sw/include/tile.h"
#include "sw/transform/rewrite.h"

namespace stretto::transform {
namespace {

// A word that no wavefront executes.
constexpr uint32_t kFault = 0;

// Of the GPU and the driver.
constexpr uint32_t kMaxWavefronts = 8;
constexpr uint32_t kMaxArguments =
    STRETTO_ARGUMENT_BUFFER_BYTES - sizeof(stretto_transformed_arguments_t);

// Why no launch of the transformed kernel would run; empty if one does.
std::string unfit(const stretto_kernel_descriptor_t& fields) {
  if (fields.wavefronts == 0 || fields.wavefronts > kMaxWavefronts)
    return fmt::format("its descriptor has {} wavefronts, not 1 to {}", fields.wavefronts,
                       kMaxWavefronts);
  if (fields.private_bytes != 0 &&
      (!std::has_single_bit(fields.private_bytes) || fields.private_bytes > kMaxPrivate))
    return fmt::format(
        "its descriptor has {} bytes of private memory, no power of two up to 64 KiB",
        fields.private_bytes);
  if (fields.kernarg_bytes > kMaxArguments)
    return fmt::format("its descriptor has {} bytes of arguments, which leave no room for more",
                       fields.kernarg_bytes);
  return {};
}

struct Candidate {
  const Kernel* kernel = nullptr;
  const Analysis* analysis = nullptr;  // Null: what it reaches is not known.
  std::unique_ptr<Rewrite> rewrite;    // Of those that are transformed.
  Outcome outcome;
};

}  // namespace

class Transformation {
 public:
  Transformation(const Subject& subject, const Options& options)
      : subject_(subject), elf_(subject.elf_), options_(options), out_(elf_.appendix()) {
    std::vector<uint8_t> image = elf_.image();
    stretto_code_unload(image.data(), image.size(), 0);
    SHA256(image.data(), image.size(), original_.data());
  }

  Result run() {
    for (size_t i = 0; i < elf_.kernels().size(); ++i)
      candidates_.push_back(candidate(elf_.kernels()[i], subject_.kernels_[i]));
    find_shared_ends();
    for (Candidate& candidate : candidates_) choose(candidate);
    if (!any_) throw Refused(why_nothing());
    for (Candidate& candidate : candidates_) {
      if (candidate.rewrite) write(candidate);
    }
    for (Candidate& candidate : candidates_) {
      if (!candidate.rewrite) keep(candidate);
    }
    std::vector<uint32_t> words;
    for (const Line& line : out_.lines()) words.push_back(line.word);
    elf_.append(words);
    Result result;
    result.elf = elf_.bytes();
    result.stubs = out_.lines();
    for (Candidate& candidate : candidates_) result.kernels.push_back(std::move(candidate.outcome));
    return result;
  }

 private:
  Candidate candidate(const Kernel& kernel, const Subject::Known& known) const {
    Candidate candidate;
    candidate.kernel = &kernel;
    candidate.outcome.kernel = kernel.name;
    candidate.outcome.refusal = known.refusal;
    if (known.analysis) {
      candidate.analysis = &*known.analysis;
      candidate.outcome.warnings = known.analysis->warnings;
    }
    if (candidate.outcome.refusal.empty()) candidate.outcome.refusal = unfit(kernel.fields);
    if (!options_.kernel.empty() && kernel.name != options_.kernel)
      candidate.outcome.refusal = "not asked for";
    return candidate;
  }

  // Where more than one kernel of the file ends, whatever becomes of it.
  void find_shared_ends() {
    std::set<uint64_t> ends;
    for (const Candidate& candidate : candidates_) {
      if (!candidate.analysis) continue;
      for (const auto& [address, instruction] : candidate.analysis->code)
        if (instruction.is_control(TILE_CONTROL_END) && !ends.insert(address).second)
          shared_ends_.insert(address);
    }
  }

  // Takes a kernel unless it wants a shared word otherwise than those before it.
  void choose(Candidate& candidate) {
    if (!candidate.outcome.refusal.empty()) return;
    try {
      auto rewrite =
          std::make_unique<Rewrite>(*candidate.kernel, *candidate.analysis, shared_ends_, options_);
      for (const auto& [address, instruction] : candidate.analysis->code) {
        const auto mine = rewrite->changes().find(address);
        const auto theirs = changes_.find(address);
        const bool wants = mine != rewrite->changes().end();
        const bool is_changed = theirs != changes_.end();
        if (wants == is_changed && (!wants || mine->second.what == theirs->second.first->what))
          continue;
        if (!is_changed && !reached_.contains(address)) continue;
        throw Refused(fmt::format("shares code at {} with another kernel: transform it alone",
                                  elf_.place(address)));
      }
      for (const auto& [address, change] : rewrite->changes())
        changes_.emplace(address, std::pair(&change, &candidate));
      for (const auto& [address, instruction] : candidate.analysis->code) reached_.insert(address);
      if (options_.form == Form::preempt && options_.isa == Isa::stock && candidate.analysis->tiles)
        candidate.outcome.warnings.push_back(
            "keeps the tiles of its tasks: a task that uses others may find no room");
      candidate.rewrite = std::move(rewrite);
      any_ = true;
    } catch (const Refused& refused) {
      candidate.outcome.refusal = refused.what();
    }
  }

  std::string why_nothing() const {
    if (options_.kernel.empty())
      return fmt::format("no kernel can be transformed; {}: {}", candidates_.front().outcome.kernel,
                         candidates_.front().outcome.refusal);
    for (const Candidate& candidate : candidates_)
      if (candidate.outcome.kernel == options_.kernel)
        return options_.kernel + ": " + candidate.outcome.refusal;
    std::string names;
    for (const Candidate& candidate : candidates_)
      if (names.size() < 200) names += (names.empty() ? "" : ", ") + candidate.outcome.kernel;
    return fmt::format("no kernel {}; there are {}", options_.kernel, names);
  }

  void write(Candidate& candidate) {
    Kernel kernel = *candidate.kernel;
    if (!encode::reaches(static_cast<int64_t>(kernel.fields.entry - out_.here())))
      throw Refused(too_far(kernel.fields.entry));
    kernel.fields = candidate.rewrite->descriptor();
    const uint64_t frame = out_.here();
    emit_frame(candidate);
    kernel.fields.entry = candidate.rewrite->frame_code(out_);
    out_.replace(frame + offsetof(stretto_transformed_frame_t, behind),
                 static_cast<uint32_t>(candidate.rewrite->behind_task()));
    elf_.describe(kernel);
    for (const auto& [address, change] : candidate.rewrite->changes()) {
      if (changes_.at(address).second == &candidate) patch(candidate, address, change);
    }
  }

  void emit_frame(const Candidate& candidate) {
    stretto_transformed_frame_t frame{};
    frame.magic = STRETTO_FRAME_MAGIC;
    frame.arguments = candidate.kernel->fields.kernarg_bytes;
    std::copy(original_.begin(), original_.end(), frame.original);
    std::array<uint32_t, sizeof frame / sizeof(uint32_t)> words;
    std::memcpy(words.data(), &frame, sizeof frame);
    for (const uint32_t word : words) out_.emit(word, "data: frame of " + candidate.kernel->name);
  }

  void patch(Candidate& candidate, uint64_t address, const Change& change) {
    uint32_t word = change.word;
    if (change.leaves) {
      word = jump(address, candidate.rewrite->behind_task());
    } else if (!change.stub.empty()) {
      word = jump(address, out_.here());
      for (const uint32_t stub : change.stub) out_.emit(stub, change.what);
      if (!encode::reaches(static_cast<int64_t>(address + 4 - out_.here())))
        throw Refused(too_far(address));
      out_.jump(address + 4, "");
    }
    candidate.outcome.patches.push_back({address, *elf_.code(address), word, change.what});
    elf_.patch(address, word);
  }

  uint32_t jump(uint64_t from, uint64_t to) const {
    const int64_t distance = static_cast<int64_t>(to - from);
    if (!encode::reaches(distance)) throw Refused(too_far(from));
    return encode::jal(encode::kZero, distance);
  }

  std::string too_far(uint64_t address) const {
    return fmt::format("text at {} lies farther than 1 MiB from the stubs", elf_.place(address));
  }

  // A kernel that stays must not run into code that was rewritten for others.
  void keep(Candidate& candidate) {
    const auto touches = [&](const auto& step) {
      const auto change = changes_.find(step.first);
      return change != changes_.end() && !change->second.first->is_neutral;
    };
    if (candidate.analysis &&
        std::none_of(candidate.analysis->code.begin(), candidate.analysis->code.end(), touches))
      return;
    candidate.outcome.faults = true;
    Kernel kernel = *candidate.kernel;
    kernel.fields.entry = out_.here();
    out_.emit(kFault, kernel.name + " is not to be launched: it may run into rewritten code");
    elf_.describe(kernel);
  }

  const Subject& subject_;
  KernelElf elf_;
  const Options& options_;
  Assembler out_;
  std::array<uint8_t, SHA256_DIGEST_LENGTH> original_{};  // Sum of the image as it was.
  bool any_ = false;
  std::vector<Candidate> candidates_;
  std::map<uint64_t, std::pair<const Change*, const Candidate*>> changes_;
  std::set<uint64_t> shared_ends_;
  std::set<uint64_t> reached_;  // By kernels that are transformed.
};

Subject::Subject(const std::vector<uint8_t>& file) : elf_(file) {
  for (const Kernel& kernel : elf_.kernels())
    if (kernel.fields.reserved[STRETTO_RESERVED_FORM] != STRETTO_FORM_ORIGINAL)
      throw Refused("is transformed already");
  for (const Kernel& kernel : elf_.kernels()) {
    Known& known = kernels_.emplace_back();
    try {
      known.analysis = analyse(elf_, kernel);
      known.refusal = known.analysis->refusal;
    } catch (const Refused& refused) {
      known.refusal = refused.what();
    }
  }
}

Result Subject::transform(const Options& options) const {
  return Transformation(*this, options).run();
}

Result transform(const std::vector<uint8_t>& file, const Options& options) {
  return Subject(file).transform(options);
}

}  // namespace stretto::transform
