// SPDX-License-Identifier: Apache-2.0
#include "models/host/line_mover.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include "models/host/host.h"
#include "sw/include/formats/address_map.h"

namespace stretto {

LineMover::LineMover(Host& host, size_t turn, uint32_t number, const Shape& shape, Digest& digest)
    : host_(host),
      turn_(turn),
      number_(number),
      shape_(shape),
      digest_(digest),
      free_(shape.buffers) {}

void LineMover::begin(uint64_t to, uint64_t from, uint64_t bytes) {
  assert(is_idle() && !failed_);
  to_ = to;
  from_ = from;
  bytes_ = bytes;
  asked_ = stored_ = 0;
  all_asked_ += bytes;
  load_on();
}

void LineMover::load_on() {
  for (; free_ != 0 && asked_ != bytes_; --free_) {
    auto read = std::make_unique<Packet>();
    read->operation = Operation::read;
    read->address = from_ + asked_;
    const uint64_t to_end_of_line = shape_.line_bytes - read->address % shape_.line_bytes;
    read->row_bytes = static_cast<uint32_t>(std::min(to_end_of_line, bytes_ - asked_));
    read->tag = kTag | number_;
    asked_ += read->row_bytes;
    host_.leave_in_turn(*this, std::move(read));
  }
}

void LineMover::answered(Packet&& packet) {
  if (packet.failed || failed_) {
    failed_ = true;
    stored_ = bytes_;
    ended_.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  all_loaded_ += packet.data.size();
  const uint64_t done = (packet.address - from_) & STRETTO_OFFSET_MASK;
  auto write = std::make_unique<Packet>();
  write->address = to_ + done;
  write->row_bytes = static_cast<uint32_t>(packet.data.size());
  write->data = std::move(packet.data);
  host_.leave_in_turn(*this, std::move(write));
}

void LineMover::stored(uint32_t bytes) {
  if (failed_) return;
  stored_ += bytes;
  all_stored_ += bytes;
  ++free_;
  load_on();
  if (is_idle()) ended_.notify(sc_core::SC_ZERO_TIME);
}

std::string LineMover::waiting_on() const {
  return "has moved " + std::to_string(stored_) + " of " + std::to_string(bytes_) +
         " bytes over PCIe, and waits for " + std::to_string(shape_.buffers - free_) + " lines";
}

void LineMover::audit(AuditSink& sink) const {
  sink.equal("bytes that lines were to bring = loaded", all_asked_, all_loaded_);
  sink.equal("bytes that lines have brought = stored", all_loaded_, all_stored_);
}

}  // namespace stretto
