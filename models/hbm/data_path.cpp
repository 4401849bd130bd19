// SPDX-License-Identifier: Apache-2.0
// See data_path.h.
#include "models/hbm/data_path.h"

#include <array>
#include <cassert>

#include "models/common/arithmetic.h"

namespace stretto {

void DataPath::access(HbmRequest& request, uint64_t address, uint32_t at, uint32_t bytes) {
  if (request.tags_only) {
    if (request.operation == Operation::update) ++updates_issued_, ++updates_applied_;
    return;
  }
  if (request.operation == Operation::read) {
    image_.read(address, request.data + at, bytes);
  } else if (request.operation == Operation::update) {
    update(request, image_.span(address, bytes, true), at, bytes);
    image_.changed(address, bytes);
  } else {
    write(request, address, at, bytes);
  }
}

void DataPath::write(const HbmRequest& request, uint64_t address, uint32_t at, uint32_t bytes) {
  const uint8_t* const data = request.data + at;
  if (request.operation == Operation::fill) {
    std::array<uint8_t, 64> pattern;  // An atom.
    assert(bytes <= pattern.size());
    for (uint32_t i = 0; i < bytes; ++i) pattern[i] = request.data[(at + i) & 7];
    image_.write(address, pattern.data(), bytes);
  } else if (!request.enabled) {
    image_.write(address, data, bytes);
  } else {
    uint8_t* const to = image_.span(address, bytes, true);
    const uint8_t* enable = request.payload->get_byte_enable_ptr();
    const uint32_t length = request.payload->get_byte_enable_length();
    for (uint32_t i = 0, e = at % length; i < bytes; ++i) {
      to[i] = enable[e] != 0 ? data[i] : to[i];
      e = e + 1 == length ? 0 : e + 1;
    }
    image_.changed(address, bytes);
  }
}

void DataPath::update(const HbmRequest& request, uint8_t* to, uint32_t at, uint32_t bytes) {
  const uint64_t number = ++updates_issued_;
  const unsigned times = number == drop_update_ ? 0 : number == double_update_ ? 2 : 1;
  for (unsigned i = 0; i < times; ++i) {
    if (request.multiply) {
      multiply_elements(request.element, to, request.data + at, bytes);
    } else {
      add_elements(request.element, to, request.data + at, bytes);
    }
  }
  updates_applied_ += times;
}

}  // namespace stretto
