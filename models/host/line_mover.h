// SPDX-License-Identifier: Apache-2.0
// LineMover copies device memory to device memory over the PCIe of a host, a line after the other:
// a read of the line, and when its data are there a posted write of them. What a core does with
// loads and stores of write-combining memory, and its fill buffers bound; and a channel of the DMA
// engine of a processor.
//
// Invariants
//  1 A line takes a buffer from the time at which its read waits for the root complex until its
//    write has left there; no more lines than buffers are under way.
//  2 Bytes asked for = loaded = stored when it is idle.
#ifndef STRETTO_MODELS_HOST_LINE_MOVER_H_
#define STRETTO_MODELS_HOST_LINE_MOVER_H_

#include <systemc>

#include <cstdint>

#include "models/common/component.h"
#include "models/common/packet.h"

namespace stretto {

class Host;

class LineMover final {
 public:
  static constexpr uint32_t kTag = 1u << 31;  // Of its reads, and its number.

  struct Shape {
    uint32_t buffers;
    uint32_t line_bytes;
  };

  // `turn`: its place among those who ask the root complex at one time (host.h, invariant 4).
  LineMover(Host& host, size_t turn, uint32_t number, const Shape& shape, Digest& digest);

  // REQUIRES: idle; both links are shared. UserError: there is no such device.
  void begin(uint64_t to, uint64_t from, uint64_t bytes);
  bool is_idle() const { return stored_ == bytes_; }
  // What it has read is no memory; it is idle.
  bool has_failed() const { return failed_; }
  const sc_core::sc_event& ended() const { return ended_; }

  // Of the host: a read has its answer; a write has left.
  void answered(Packet&& packet);
  void stored(uint32_t bytes);

  size_t turn() const { return turn_; }
  Digest& digest() const { return digest_; }
  uint64_t moved() const { return all_stored_; }
  std::string waiting_on() const;
  void audit(AuditSink& sink) const;

 private:
  void load_on();

  Host& host_;
  const size_t turn_;
  const uint32_t number_;
  const Shape shape_;
  Digest& digest_;
  uint64_t to_ = 0, from_ = 0, bytes_ = 0;  // Of the present copy,
  uint64_t asked_ = 0;                      // of which so much has been read or is being read,
  uint64_t stored_ = 0;                     // and so much has left.
  uint32_t free_;                           // Buffers.
  bool failed_ = false;
  sc_core::sc_event ended_;
  uint64_t all_asked_ = 0, all_loaded_ = 0, all_stored_ = 0;  // Bytes of all copies.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HOST_LINE_MOVER_H_
