// SPDX-License-Identifier: Apache-2.0
#include "sw/transform/transform_c.h"

#include <cstdlib>
#include <cstring>

#include "sw/transform/transform.h"

using namespace stretto::transform;

struct stretto_subject {
  Subject subject;
};

stretto_subject_t* stretto_subject_new(const void* elf, size_t bytes, stretto_refused_t refused,
                                       void* context) {
  const auto* const first = static_cast<const uint8_t*>(elf);
  try {
    return new stretto_subject{Subject({first, first + bytes})};
  } catch (const Refused& why) {
    refused(context, "", why.what());
    return nullptr;
  }
}

void stretto_subject_free(stretto_subject_t* subject) { delete subject; }

void* stretto_transform_elf(const stretto_subject_t* subject, int form, int stock,
                            stretto_refused_t refused, void* context, size_t* out_bytes) {
  Options options;
  options.form = form == STRETTO_FORM_SLICE ? Form::slice : Form::preempt;
  options.isa = stock != 0 ? Isa::stock : Isa::tile;
  try {
    const Result result = subject->subject.transform(options);
    for (const Outcome& one : result.kernels)
      if (!one.refusal.empty()) refused(context, one.kernel.c_str(), one.refusal.c_str());
    void* const out = std::malloc(result.elf.size());
    if (out == nullptr) return nullptr;
    std::memcpy(out, result.elf.data(), result.elf.size());
    *out_bytes = result.elf.size();
    return out;
  } catch (const Refused& why) {
    refused(context, "", why.what());
    return nullptr;
  }
}
