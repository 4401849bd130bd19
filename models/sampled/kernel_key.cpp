// SPDX-License-Identifier: Apache-2.0
#include "models/sampled/kernel_key.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "models/common/component.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/code_identity.h"
#include "sw/include/formats/transformed_kernel.h"

namespace stretto {
namespace {

constexpr uint64_t kLineBytes = 128;

std::string hex(const uint8_t* bytes, size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

// The descriptor whose entry is `entry`, in an image that was unloaded; or null.
const uint8_t* descriptor_of(const std::vector<uint8_t>& image, uint64_t entry,
                             stretto_kernel_descriptor_t& descriptor) {
  for (uint64_t at = 0; at + sizeof descriptor <= image.size(); at += 8) {
    std::memcpy(&descriptor, image.data() + at, sizeof descriptor);
    if (descriptor.magic == STRETTO_KERNEL_MAGIC && descriptor.entry == entry)
      return image.data() + at;
  }
  return nullptr;
}

std::vector<uint8_t> unloaded(MemoryImage& memory, const DispatchContext& context) {
  std::vector<uint8_t> image(context.code_bytes / 8 * 8);
  memory.read(context.code_base & STRETTO_OFFSET_MASK, image.data(), image.size());
  stretto_code_unload(image.data(), image.size(), context.code_base);
  return image;
}

}  // namespace

KernelKeys::~KernelKeys() {
  for (const auto& [base, code] : codes_) memory_.unwatch(base & STRETTO_OFFSET_MASK, *this, base);
}

void KernelKeys::on_memory_change(uint64_t, uint64_t base) { codes_.erase(base); }

KernelKeys::Entry KernelKeys::read_entry(const DispatchContext& context, const Code& code) {
  const std::vector<uint8_t> image = unloaded(memory_, context);
  Entry entry;
  entry.code = code.sum;
  entry.entry = context.entry - context.code_base;
  entry.arguments = context.kernarg_bytes;
  stretto_kernel_descriptor_t descriptor;
  stretto_transformed_frame_t frame;
  if (descriptor_of(image, entry.entry, descriptor) == nullptr ||
      descriptor.reserved[STRETTO_RESERVED_FORM] == STRETTO_FORM_ORIGINAL ||
      entry.entry < sizeof frame)
    return entry;
  std::memcpy(&frame, image.data() + (entry.entry - sizeof frame), sizeof frame);
  if (frame.magic != STRETTO_FRAME_MAGIC) return entry;
  entry.code = hex(frame.original, sizeof frame.original);
  entry.entry = entry.body = descriptor.reserved[STRETTO_RESERVED_BODY];
  entry.behind = frame.behind;
  entry.arguments = frame.arguments;
  return entry;
}

const KernelKeys::Entry& KernelKeys::entry_of(const DispatchContext& context) {
  auto found = codes_.find(context.code_base);
  if (found == codes_.end()) {
    const std::vector<uint8_t> image = unloaded(memory_, context);
    found =
        codes_.emplace(context.code_base, Code{sha256_hex(image.data(), image.size()), {}}).first;
    memory_.watch(context.code_base & STRETTO_OFFSET_MASK, *this, context.code_base);
  }
  Code& code = found->second;
  const uint64_t at = context.entry - context.code_base;
  const auto entry = code.entries.find(at);
  if (entry != code.entries.end()) return entry->second;
  return code.entries.emplace(at, read_entry(context, code)).first->second;
}

KernelLaunch KernelKeys::of(const DispatchContext& context) {
  const Entry& entry = entry_of(context);
  KernelLaunch launch;
  std::vector<uint64_t> words((context.kernarg_bytes + 7) / 8);
  memory_.read(context.kernarg & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(words.data()),
               context.kernarg_bytes);
  std::vector<uint64_t> what{entry.entry, context.wavefronts, context.split,
                             uint64_t{context.update} << 1 | context.communication};
  stretto_transformed_arguments_t further{};
  if (entry.body == 0) {
    further = {0, 0, context.grid, context.grid_x, context.grid_y, context.grid_z};
  } else {
    const uint64_t at = words.size() - sizeof further / 8;
    assert(words.size() >= sizeof further / 8);
    std::memcpy(&further, words.data() + at, sizeof further);
    launch.body = context.code_base + entry.body;
    launch.behind = entry.behind == 0 ? 0 : context.code_base + entry.behind;
  }
  launch.grid = further.tasks;
  for (const uint64_t size : {further.tasks, further.grid_x, further.grid_y, further.grid_z})
    what.push_back(size);
  words.resize(std::min<uint64_t>(words.size(), (entry.arguments + 7) / 8));
  if (entry.arguments % 8 != 0 && !words.empty())
    words.back() &= (uint64_t{1} << 8 * (entry.arguments % 8)) - 1;
  for (size_t i = 0; i < words.size(); ++i) {
    const RangeEntry* const range = ranges_.find(words[i], 1);
    if (range == nullptr) {
      what.push_back(words[i]);
      continue;
    }
    size_t same = 0;
    while (words[same] != words[i]) ++same;
    what.push_back(~uint64_t{0});  // Beginning of an address.
    what.push_back(uint64_t{same} << 32 | words[i] % kLineBytes << 16 |
                   static_cast<uint64_t>(range->kind) << 8 |
                   static_cast<uint64_t>(range->allocation));
  }
  std::string text = entry.code;
  text.append(reinterpret_cast<const char*>(what.data()), 8 * what.size());
  std::string& key = keys_[text];
  if (key.empty()) key = sha256_hex(text.data(), text.size()).substr(0, 16);
  launch.key = key;
  launch.number = std::strtoull(launch.key.c_str(), nullptr, 16);
  return launch;
}

}  // namespace stretto
