// SPDX-License-Identifier: Apache-2.0
#include "platform/machine/loaded_code.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "models/common/error.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/code_object.h"
#include "sw/include/formats/transformed_kernel.h"

namespace stretto {
namespace {

// Rewritten kernels start in code that has no symbol; their descriptors tell where.
void name_rewritten(ElfImage& image) {
  constexpr std::string_view kDescriptor = ".kd";
  image.relocate(0);
  const std::vector<ElfImage::Symbol> symbols = image.symbols();
  for (const ElfImage::Symbol& symbol : symbols) {
    stretto_kernel_descriptor_t descriptor;
    const uint8_t* const bytes = image.data(symbol.address, sizeof descriptor);
    if (!symbol.name.ends_with(kDescriptor) || bytes == nullptr) continue;
    std::memcpy(&descriptor, bytes, sizeof descriptor);
    const uint32_t form = descriptor.reserved[STRETTO_RESERVED_FORM];
    if (form != STRETTO_FORM_SLICE && form != STRETTO_FORM_PREEMPT) continue;
    const std::string kernel = symbol.name.substr(0, symbol.name.size() - kDescriptor.size());
    image.add_function(kernel + (form == STRETTO_FORM_SLICE ? " (slice)" : " (preempt)"),
                       descriptor.entry);
  }
}

}  // namespace

void LoadedCode::add(uint64_t base, const std::vector<uint8_t>& elf) {
  images_.erase(base);
  try {
    ElfImage image = ElfImage::parse("kernel", elf);
    if (image.position_independent()) name_rewritten(image);
    images_.emplace(base, std::move(image));
  } catch (const UserError&) {
    // Nobody has asked for names yet; whoever runs it gets the driver's answer.
  }
}

std::string LoadedCode::at(unsigned gpu, uint64_t code) const {
  const uint64_t address = uint64_t{gpu + 1} << STRETTO_NODE_SHIFT | (code & STRETTO_OFFSET_MASK);
  auto found = images_.upper_bound(address);
  if (found == images_.begin()) return "";
  --found;
  const ElfImage& image = found->second;
  if (address - found->first >= image.high_address()) return "";
  return image.symbolize(address - found->first);
}

}  // namespace stretto
