// SPDX-License-Identifier: Apache-2.0
// A wavefront: a RISC-V hart with private memory, the list of its asynchronous tile operations, and
// what it waits for. Passive state; the compute unit steps it.
//
// What a wavefront sees of memory through scalar loads and stores:
//   private window  kPrivateBase.. in node 0: its own stack; free. What it holds at the start is
//                   undefined, as are the registers but x2: zero, or kUndefined bytes in Debug
//   kernel arguments and the code object (constants): loads only; free
//   everything else  a timed 8-byte request that the range table must know; the wavefront stops until it is answered
#ifndef STRETTO_MODELS_GPU_COMPUTE_UNIT_WAVEFRONT_H_
#define STRETTO_MODELS_GPU_COMPUTE_UNIT_WAVEFRONT_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "models/common/l1_cache.h"
#include "models/common/memory_image.h"
#include "models/common/payload_pool.h"
#include "models/gpu/base/dispatch.h"
#include "models/gpu/compute_unit/issue_port.h"
#include "models/riscv/hart.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/tile.h"

namespace stretto {

inline constexpr uint64_t kPrivateBase =
    0x40000000;  // In node 0; every wavefront sees its own memory there.

#ifdef NDEBUG
inline constexpr uint8_t kUndefined = 0;
#else
inline constexpr uint8_t kUndefined = 0xA5;
#endif

// What a wavefront fetches where its work-group's body begins (DispatchContext::body): no encoding
// of tile.h. It stops the hart, and nothing executes it.
inline constexpr uint32_t kBodyFunct7 = 0x7F;
inline constexpr uint32_t kBodyWord = kBodyFunct7 << 25 | TILE_CONTROL_F3 << 12 | 0x0B;

class WavefrontPort {
 public:
  static constexpr bool kMachineMode = false;
  static constexpr bool kCompressed = false;
  static constexpr bool kWatchCodeWrites =
      false;  // Kernels do not write code; a launch forgets decoded code.
  static constexpr bool kFetchTiming = false;  // Instruction caches are ideal (README, Simplified).

  void start(MemoryImage& memory, const DispatchContext& context, uint32_t wg_id, uint8_t wf_id,
             uint8_t gpu) {
    memory_ = &memory;
    context_ = &context;
    wg_id_ = wg_id;
    wf_id_ = wf_id;
    gpu_ = gpu;
    scratch_ = {};
    scope_ = TILE_SCOPE_DEVICE;
    flag_ = 0;
    private_.assign(context.private_bytes, kUndefined);
  }

  bool fetch(uint64_t address, uint16_t& parcel) {
    if (context_->body != 0 && address - context_->body < 4) {
      parcel = static_cast<uint16_t>(kBodyWord >> 8 * (address - context_->body));
      return true;
    }
    if (!inside(address, 2, context_->code_base, context_->code_bytes)) return false;
    memory_->read(address & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&parcel), 2);
    return true;
  }

  template <class T>
  riscv::MemStatus load(uint64_t address, T& value, uint64_t&) {
    if (inside(address, sizeof(T), kPrivateBase, private_.size())) {
      std::memcpy(&value, private_.data() + (address - kPrivateBase), sizeof(T));
      return riscv::MemStatus::kDone;
    }
    if (inside(address, sizeof(T), context_->kernarg, context_->kernarg_bytes) ||
        inside(address, sizeof(T), context_->code_base, context_->code_bytes)) {
      memory_->read(address & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(&value), sizeof(T));
      return riscv::MemStatus::kDone;
    }
    if (address % sizeof(T) != 0) return riscv::MemStatus::kMisaligned;
    return riscv::MemStatus::kPending;
  }

  template <class T>
  riscv::MemStatus store(uint64_t address, T value, uint64_t&) {
    if (inside(address, sizeof(T), kPrivateBase, private_.size())) {
      std::memcpy(private_.data() + (address - kPrivateBase), &value, sizeof(T));
      return riscv::MemStatus::kDone;
    }
    if (address % sizeof(T) != 0) return riscv::MemStatus::kMisaligned;
    value_ = value;
    return riscv::MemStatus::kPending;
  }

  riscv::MemStatus amo(const riscv::AmoRequest& request, uint64_t&, uint64_t&) {
    // No reservations across the L2: a kernel uses AMOs (README, Absent).
    if (request.op == riscv::AmoOp::kLoadReserved ||
        request.op == riscv::AmoOp::kStoreConditional) {
      return riscv::MemStatus::kFault;
    }
    value_ = request.operand;
    amo_ = request;
    return riscv::MemStatus::kPending;
  }

  riscv::MemStatus fence(const riscv::FenceRequest& request, uint64_t&) {
    fence_ = request;
    return riscv::MemStatus::kPending;
  }

  bool csr_read(uint32_t csr, uint64_t& value);
  bool csr_waits(uint32_t csr) const { return csr == TILE_CSR_CYCLE; }
  bool csr_write(uint32_t csr, uint64_t value) {
    if (csr == TILE_CSR_SCOPE && value <= TILE_SCOPE_SYSTEM) {
      scope_ = static_cast<uint8_t>(value);
      return true;
    }
    if (csr == TILE_CSR_FLAG) {
      flag_ = value;
      return true;
    }
    if (csr != TILE_CSR_SCRATCH0 && csr != TILE_CSR_SCRATCH1) return false;
    scratch_[csr - TILE_CSR_SCRATCH0] = value;
    return true;
  }

  // What a hart has beside its registers, as words; private memory.
  static constexpr unsigned kWords = 4;
  std::array<uint64_t, kWords> words() const { return {scratch_[0], scratch_[1], scope_, flag_}; }
  void set_words(const std::array<uint64_t, kWords>& words) {
    scratch_ = {words[0], words[1]};
    scope_ = static_cast<uint8_t>(words[2]);
    flag_ = words[3];
  }
  std::vector<uint8_t>& private_memory() { return private_; }

  // The operand of the store or AMO that the hart stopped for.
  uint64_t store_value() const { return value_; }
  const riscv::AmoRequest& amo_request() const { return amo_; }
  const riscv::FenceRequest& fence_request() const { return fence_; }
  Scope scope() const { return static_cast<Scope>(scope_); }  // Of AMOs and fences.
  uint64_t flag() const { return flag_; }                     // Of lines.
  uint64_t private_top() const { return kPrivateBase + private_.size(); }
  // Where the hart notes when it can issue.
  void set_trace(IssueTrace& trace) { trace_ = &trace; }
  void enter_block(const riscv::Block& block) { trace_->enter_block(block); }
  void leave_block(const riscv::Block& block, const riscv::Op* first) {
    trace_->leave_block(block, first);
  }
  void stall(uint32_t clocks) { trace_->add_stall(clocks); }

 private:
  static bool inside(uint64_t address, uint64_t bytes, uint64_t base, uint64_t size) {
    return address >= base && bytes <= size && address - base <= size - bytes;
  }

  MemoryImage* memory_ = nullptr;
  const DispatchContext* context_ = nullptr;
  uint64_t value_ = 0;
  riscv::AmoRequest amo_{};
  riscv::FenceRequest fence_{};
  uint8_t scope_ = TILE_SCOPE_DEVICE;
  uint64_t flag_ = 0;
  IssueTrace* trace_ = nullptr;
  uint32_t wg_id_ = 0;
  uint8_t wf_id_ = 0;
  uint8_t gpu_ = 0;
  std::array<uint64_t, 2> scratch_{};
  std::vector<uint8_t> private_;
};

inline bool WavefrontPort::csr_read(uint32_t csr, uint64_t& value) {
  switch (csr) {
    case TILE_CSR_WG_ID: value = wg_id_; return true;
    case TILE_CSR_WF_ID: value = wf_id_; return true;
    case TILE_CSR_KERNARG: value = context_->kernarg; return true;
    case TILE_CSR_GPU_ID: value = gpu_; return true;
    case TILE_CSR_GRID: value = context_->grid; return true;
    case TILE_CSR_WAVEFRONTS: value = context_->wavefronts; return true;
    case TILE_CSR_WG_X: value = wg_id_ % context_->grid_x; return true;
    case TILE_CSR_WG_Y: value = wg_id_ / context_->grid_x % context_->grid_y; return true;
    case TILE_CSR_WG_Z: value = wg_id_ / context_->grid_x / context_->grid_y; return true;
    case TILE_CSR_GRID_X: value = context_->grid_x; return true;
    case TILE_CSR_GRID_Y: value = context_->grid_y; return true;
    case TILE_CSR_GRID_Z: value = context_->grid_z; return true;
    case TILE_CSR_SCRATCH0:
    case TILE_CSR_SCRATCH1: value = scratch_[csr - TILE_CSR_SCRATCH0]; return true;
    case TILE_CSR_SCOPE: value = scope_; return true;
    case TILE_CSR_FLAG: value = flag_; return true;
    default: return false;
  }
}

// What a fence, or an AMO by its .aq and .rl, does to caches.
struct Ordering {
  Scope scope = Scope::wavefront;
  bool acquire = false, release = false;
};

struct Wavefront {
  static constexpr unsigned kMaxOperations =
      64;  // Asynchronous operations in flight; one more waits.

  enum class State : uint8_t {
    free,
    ready,   // Issues, or will from `at` on.
    tile,    // Names a tile that memory has not finished.
    count,   // tile.wait, or the list of operations is full.
    stores,  // fence, locked store, end: earlier operations.
    barrier,
    body,     // Its work-group is in a body that a BodyExecutor has taken.
    access,   // Scalar access or atomic.
    watch,    // wait_until, asleep.
    confirm,  // wait_until, reading.
    ended,
    faulted,
  };
  // An asynchronous operation; in issue order.
  struct Operation {
    Cycle done = kUnknown;
    Cycle latest = 0;       // Of the requests answered so far.
    uint32_t requests = 0;  // Not yet answered.
    uint8_t tile = 0;       // Name; kNoTile for a locked store and a reduction.
    bool store = false;
    bool reduction = false;  // A store too: fences and locked stores wait for it.
    bool held = false;   // A reduction that waits for earlier stores; then latest = when it issued.
    bool lines = false;  // A load of lines: polls until all have the flag.
    bool polls = false;  // Waits for the flag of line `found`; not if it is being read.
    uint32_t found = 0;  // Lines that do, from the first on.
    Cycle since = 0;     // When it issued.
    uint64_t data = 0;   // Of a locked store or a reduction; flag of lines.
    uint64_t target = 0;  // Address of a locked store, a reduction, or lines.
  };
  static constexpr uint8_t kNoTile = 0xFF;
  static constexpr uint8_t kAnyTile = 0xFE;

  Wavefront(riscv::CodeCache& code) : hart(port, code) {}
  Wavefront(const Wavefront&) = delete;
  Wavefront& operator=(const Wavefront&) = delete;

  WavefrontPort port;
  riscv::Hart<WavefrontPort> hart;
  State state = State::free;
  riscv::StopReason stop =
      riscv::StopReason::kBudget;  // Why the hart stands; kBudget: it does not.
  uint8_t slot = 0;                // Of the unit.
  uint8_t group = 0;               // Work-group slot of the unit.
  uint8_t id = 0;                  // In the work-group.
  Cycle at = 0;                    // When it issued last, or what it waits for is there.
  uint8_t waits_for = 0;           // Tile name or kAnyTile, in state `tile`.
  bool waiting = false;            // A wait_until has begun.
  uint32_t until = 0;  // In states count and stores: operations below this number must be done.
  uint32_t first = 0;  // Operations first..last-1 are in the ring.
  uint32_t last = 0;
  uint32_t words = 0;  // Behind the last locked store or reduction.
  uint32_t held = 0;   // Reductions that wait for earlier stores.
  std::array<Operation, kMaxOperations> ring;
  uint64_t word = 0;                                // Data of a scalar access.
  std::array<uint8_t, L1Cache::kLineBytes> line{};  // Of a load that missed the scalar cache.
  Ordering ordering{};                              // Of the fence or AMO under way.
  Cycle wait_since = 0;                             // Of wait_until.

  Operation& operation(uint32_t number) { return ring[number % kMaxOperations]; }
};

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_COMPUTE_UNIT_WAVEFRONT_H_
