// SPDX-License-Identifier: Apache-2.0
// The one mandatory extension of `stretto_protocol`: who asks, in which stream, what exactly, and
// for whose account.
//
// Memory-side sockets use StrettoProtocol (types of the TLM-2.0 base protocol, its phases and
// rules, plus this extension). A target that does not implement an operation answers
// TLM_COMMAND_ERROR_RESPONSE. Timing: BEGIN_REQ with an annotated delay from EventQueue::now() says
// when the request arrives. Targets accept at once (TLM_UPDATED, END_REQ); what a target can hold
// is bounded by its initiators' outstanding limits, and its high-water mark is a statistic.
// BEGIN_RESP comes on the backward path with its annotated delay and is answered TLM_COMPLETED;
// from inside that call the initiator may send its next request. `data_ptr` is valid from BEGIN_REQ
// to BEGIN_RESP; the HBM moves data with the DRAM column command, the L2 when it serves the access
// (cached allocations).
#ifndef STRETTO_MODELS_COMMON_PAYLOAD_EXTENSION_H_
#define STRETTO_MODELS_COMMON_PAYLOAD_EXTENSION_H_

#include <tlm>

#include <cstdint>

#include "sw/include/formats/machine_types.h"

namespace stretto {

struct StrettoProtocol {
  using tlm_payload_type = tlm::tlm_generic_payload;
  using tlm_phase_type = tlm::tlm_phase;
};

enum class Engine : uint8_t { wavefront, hart, l2, dma, link, tracker, host, test };

// The two streams that the MCA arbitrates (T3-MCA-01).
enum class Stream : uint8_t { compute, communication };

enum class Operation : uint8_t {
  read,
  write,
  update,           // Op-and-store: add to what is there, element-wise (T3-NMC-01), or `multiply`.
  atomic,           // Read-modify-write at the L2, `atomic_op`.
  locked_read,      // Locks the L2 line (CP AMO, first half).
  unlocking_write,  // Second half.
  locked_store,     // Store that is ordered behind all earlier ones of its requester.
  fill,             // Writes the 8-byte pattern in data_ptr over data_length bytes.
  fence,            // At the L2, of shared ranges: see `acquire` and `release`.
};

enum class AtomicOp : uint8_t { swap, add, and_, or_, xor_, min, max, minu, maxu, compare_swap };
// What a link can ask for: PCIe has FetchAdd, Swap and CAS.
inline bool is_link_atomic(AtomicOp op) {
  return op == AtomicOp::add || op == AtomicOp::swap || op == AtomicOp::compare_swap;
}

// How the allocation behind the address is cached.
// shared: as cached, with bytes in the caches.
enum class AllocationClass : uint8_t {
  cached,
  streaming,
  uncached,
  shared
};  // streaming: reads and writes pass the L2.
inline bool in_l2(AllocationClass allocation) {
  return allocation == AllocationClass::cached || allocation == AllocationClass::shared;
}

// What a hart asks for of its private memory (cp.private_memory).
enum class PrivateAccess : uint8_t { none, data, code };

// In the order of TILE_SCOPE_* (tile.h).
enum class Scope : uint8_t { wavefront, work_group, device, system };

struct StrettoExtension final : tlm::tlm_extension<StrettoExtension> {
  tlm::tlm_extension_base* clone() const override { return new StrettoExtension(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override {
    *this = static_cast<const StrettoExtension&>(other);
  }

  // Requester.
  Engine engine = Engine::test;
  uint8_t gpu = 0;
  uint16_t unit = 0;   // Compute unit, hart, link or DMA queue.
  uint32_t wg_id = 0;  // Linear output-tile index; valid if `tracked`, diagnostic otherwise.
  uint8_t wf_id = 0;
  bool tracked =
      false;  // Counted by the Tracker when it is enqueued (tagged update or store, T3-TRK-10).

  Operation operation = Operation::read;
  Stream stream = Stream::compute;
  Scope scope = Scope::device;
  ElementType element = ElementType::fp16;
  AllocationClass allocation = AllocationClass::cached;
  AtomicOp atomic_op = AtomicOp::add;
  bool acquire = false;     // Of a fence.
  bool release = false;     // Of a fence.
  bool locks_line = false;  // Of a locked store: its L2 sector stays until a hart accesses it.
  uint8_t account = STRETTO_ACCOUNT_OTHER;  // On whose account DRAM bytes are booked.
  bool tags_only =
      false;  // Timing only: data_ptr is not touched (L2 fills and write-backs; see memory_image.h).
  PrivateAccess private_access = PrivateAccess::none;
  bool multiply = false;  // Of an update, instead of adding (T3-FOLLOW-01).
  uint8_t parts = 1;      // Of an update: so many are in it (T3-SW-01), which the Tracker counts.

  // A tile request (CU-L2 only): `rows` rows of `row_bytes` bytes, `pitch` bytes apart, the first
  // at the payload's address; data_ptr holds them densely. rows = 1 is a plain contiguous access,
  // which has no pitch.
  uint32_t rows = 1;
  uint32_t row_bytes = 0;
  union {
    uint64_t pitch = 0;
    uint64_t compare;  // Of compare_swap; data_ptr has what is stored if this is there.
  };

  uint64_t cookie = 0;  // The initiator's own; targets leave it alone.
  uint64_t flow = 0;    // Of the timeline (TraceDetail); changes nothing.
};
static_assert(sizeof(StrettoExtension) == 64, "a cache line: there is one a request in flight");

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_PAYLOAD_EXTENSION_H_
