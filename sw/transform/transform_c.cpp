// SPDX-License-Identifier: Apache-2.0
#include "sw/transform/transform_c.h"

#include <cstdlib>
#include <cstring>

#include "sw/transform/transform.h"

void* stretto_transform_elf(const void* elf, size_t bytes, int form, int stock,
                            stretto_refused_t refused, void* context, size_t* out_bytes) {
  using namespace stretto::transform;
  const auto* const first = static_cast<const uint8_t*>(elf);
  Options options;
  options.form = form == STRETTO_FORM_SLICE ? Form::slice : Form::preempt;
  options.isa = stock != 0 ? Isa::stock : Isa::tile;
  try {
    const Result result = transform({first, first + bytes}, options);
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
