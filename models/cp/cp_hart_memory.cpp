// SPDX-License-Identifier: Apache-2.0
// What a hart sends to the L2: write-backs, fills, fetches, atomics, and what its store buffer holds.
#include <bit>
#include <cassert>
#include <cstring>

#include <fmt/format.h>

#include "models/common/error.h"
#include "models/cp/cp_hart.h"

namespace stretto {

namespace {

// Calls act(first, count) for each run of ones.
template <class Act>
void for_runs(uint64_t mask, Act act) {
  while (mask != 0) {
    const unsigned first = static_cast<unsigned>(std::countr_zero(mask));
    const unsigned count = static_cast<unsigned>(std::countr_one(mask >> first));
    act(first, count);
    if (first + count == L1Cache::kLineBytes) break;
    mask &= ~uint64_t{0} << (first + count);
  }
}

}  // namespace

// One transaction for each run of dirty bytes; almost always one.
void CpHart::queue_write_back(uint32_t slot) {
  L1Cache& cache = port_.cache();
  const uint64_t dirty = cache.dirty(slot);
  if (dirty == 0) return;
  ++written_back_lines_;
  if (port_.buffer().exists()) return buffer_write_back(slot);
  const uint64_t base = cache.line_of(slot) << L1Cache::kLineShift;
  for_runs(dirty, [&](unsigned first, unsigned count) {
    enqueue(Operation::write, base + first, count, cache.bytes(slot) + first);
  });
  cache.clean(slot);
}

// The lines of a block of code that are not there.
void CpHart::queue_fetches() {
  const HartPort::Request& request = port_.request();
  const uint64_t last = (request.address + request.bytes - 1) >> L1Cache::kLineShift;
  for (uint64_t line = request.address >> L1Cache::kLineShift; line <= last; ++line) {
    if (port_.code_cache().find(line) != L1Cache::kMiss) continue;
    ++fetched_lines_;
    enqueue(Operation::read, line << L1Cache::kLineShift, L1Cache::kLineBytes);
  }
}

void CpHart::enqueue(Operation operation, uint64_t address, uint32_t bytes, const void* data) {
  Transaction transaction{operation, address, bytes, {}};
  if (data != nullptr) std::memcpy(transaction.data.data(), data, bytes);
  queue_.push_back(transaction);
}

CpHart::Slot* CpHart::free_slot(unsigned& index) {
  for (index = 0; index < slots_.size(); ++index)
    if (slots_[index].payload == nullptr) return &slots_[index];
  return nullptr;
}

void CpHart::pump() {
  unsigned index = 0;
  while (!queue_.empty()) {
    Slot* const slot = free_slot(index);
    if (slot == nullptr) return;
    const Transaction transaction = queue_.front();
    queue_.pop_front();
    slot->data = transaction.data;
    slot->entry = 0;
    ++outstanding_;
    send(*slot, index, transaction.operation, transaction.address, transaction.bytes,
         steps_[step_ - 1] == Step::fetch ? PrivateAccess::code : PrivateAccess::data);
  }
}

void CpHart::send(Slot& slot, unsigned index, Operation operation, uint64_t address, uint32_t bytes,
                  PrivateAccess private_access) {
  PooledPayload& payload = pool_.acquire();
  slot.payload = &payload;
  const bool write = operation == Operation::write || operation == Operation::unlocking_write;
  payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(slot.data.data());
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  payload.set_dmi_allowed(false);
  StrettoExtension& extension = payload.extension;
  extension = StrettoExtension{};
  extension.engine = Engine::hart;
  extension.gpu = shared_.services->gpu;
  extension.unit = static_cast<uint16_t>(id_);
  extension.operation = operation;
  extension.account = STRETTO_ACCOUNT_CP;
  extension.row_bytes = bytes;
  extension.cookie = uint64_t{id_} << 32 | index;
  // Rings, code objects and words of the system are written by the host, past the L2.
  extension.allocation = AllocationClass::uncached;
  if (port_.is_private(address >> L1Cache::kLineShift)) {
    extension.allocation = AllocationClass::cached;
    extension.private_access = private_access;
  } else if (*shared_.ranges != nullptr) {
    const RangeEntry* entry = (*shared_.ranges)->find(address, bytes);
    if (entry != nullptr) extension.allocation = entry->allocation;
  }
  ++requests_;
  (write ? written_bytes_ : read_bytes_) += bytes;
  owner_.send(payload);
}

void CpHart::answer(PooledPayload& payload, Time delay) {
  const uint64_t index = payload.extension.cookie & 0xFFFF'FFFF;
  owner_.schedule(shared_.services->queue->now() + delay, id_, kAnswer | index << 8);
}

void CpHart::on_answer(unsigned index) {
  Slot& slot = slots_[index];
  if (slot.entry != 0) return on_stored(slot);
  assert(state_ == State::memory && slot.payload != nullptr && outstanding_ > 0);
  PooledPayload& payload = *slot.payload;
  ++answers_;
  const Step step = steps_[step_ - 1];
  const Operation operation = payload.extension.operation;
  if (!payload.is_response_ok()) {
    failed_ = true;
  } else if (step == Step::fill && operation == Operation::read) {
    L1Cache& cache = port_.cache();
    const uint32_t place = cache.victim(line());
    cache.install(place, line());
    std::memcpy(cache.bytes(place), slot.data.data(), L1Cache::kLineBytes);
  } else if (step == Step::fetch) {
    L1Cache& cache = port_.code_cache();
    const uint64_t fetched = payload.get_address() >> L1Cache::kLineShift;
    const uint32_t place = cache.victim(fetched);
    cache.drop(place);
    cache.install(place, fetched);
  } else if (operation == Operation::read || operation == Operation::locked_read) {
    result_ = 0;
    std::memcpy(&result_, slot.data.data(), payload.get_data_length());
  }
  slot.payload = nullptr;
  payload.release();
  --outstanding_;
  pump();
  pump_buffer();
  if (outstanding_ == 0 && queue_.empty()) next_step();
}

// The store buffer

// Whether it has room for what the step gives it, or has sent what the step waits for.
bool CpHart::may_begin(Step step) {
  StoreBuffer& buffer = port_.buffer();
  if (!buffer.exists()) return true;
  switch (step) {
    case Step::write_back_all:
    case Step::write_back_line:
    case Step::fill: return has_room_for_write_backs();
    case Step::buffer_store:
      if (buffer.full()) close_for_room();
      return !buffer.full();
    case Step::drain_line:
      buffer.close_line(line());
      pump_buffer();
      return !buffer.holds(line());
    case Step::drain_all:
      buffer.close(true);
      pump_buffer();
      return buffer.empty();
    case Step::bus_write: pump_buffer(); return !buffer.holds_devices();
    default: return true;
  }
}

// An open entry gives up waiting for more bytes.
void CpHart::close_for_room() {
  port_.buffer().close_oldest();
  pump_buffer();
}

// What the step writes back goes into the buffer as far as that has room.
bool CpHart::has_room_for_write_backs() {
  const HartPort::Request& request = port_.request();
  StoreBuffer& buffer = port_.buffer();
  L1Cache& cache = port_.cache();
  const auto takes = [&](uint32_t slot) {
    if (cache.dirty(slot) == 0) return true;
    if (buffer.full()) close_for_room();
    if (buffer.full()) return false;
    queue_write_back(slot);
    return true;
  };
  if (steps_[step_] == Step::write_back_all) {
    for (uint32_t slot = 0; slot < cache.slots(); ++slot)
      if ((request.fences_private || !port_.is_private(cache.line_of(slot))) && !takes(slot))
        return false;
    return true;
  }
  const uint32_t slot = steps_[step_] == Step::fill ? cache.victim(line()) : cache.find(line());
  return slot == L1Cache::kMiss || takes(slot);
}

void CpHart::buffer_write_back(uint32_t slot) {
  L1Cache& cache = port_.cache();
  const uint64_t line = cache.line_of(slot);
  StoreBuffer::Entry& entry =
      port_.buffer().push(line, cache.dirty(slot), StoreBuffer::State::closed);
  entry.is_private = port_.is_private(line);
  std::memcpy(entry.data.data(), cache.bytes(slot), L1Cache::kLineBytes);
  cache.clean(slot);
  pump_buffer();
}

void CpHart::buffer_store() {
  const HartPort::Request& request = port_.request();
  const bool remote = request.region == Region::remote;
  const uint64_t in_line = request.address % L1Cache::kLineBytes;
  ++buffered_;
  StoreBuffer::Entry& entry =
      port_.buffer().push(line(), StoreBuffer::mask_of(in_line, request.bytes),
                          remote ? StoreBuffer::State::closed : StoreBuffer::State::open);
  entry.is_remote = remote;
  entry.is_private = port_.is_private(line());
  std::memcpy(entry.data.data() + in_line, &request.value, request.bytes);
  if (port_.buffer().full()) port_.buffer().close_oldest();  // The next one finds room.
  pump_buffer();
}

// Sends what may go, as slots allow.
void CpHart::pump_buffer() {
  StoreBuffer& buffer = port_.buffer();
  for (size_t i = 0; i < buffer.entries().size(); ++i) {
    if (!buffer.may_send(i)) continue;
    StoreBuffer::Entry& entry = buffer.entries()[i];
    unsigned index = 0;
    while (entry.mask != entry.sent) {
      Slot* const slot = free_slot(index);
      if (slot == nullptr) return;
      const uint64_t left = entry.mask & ~entry.sent;
      const unsigned first = static_cast<unsigned>(std::countr_zero(left));
      const unsigned count = static_cast<unsigned>(std::countr_one(left >> first));
      entry.sent |= StoreBuffer::mask_of(first, count);
      ++entry.unanswered;
      ++storing_;
      slot->entry = entry.serial;
      std::memcpy(slot->data.data(), entry.data.data() + first, count);
      send(*slot, index, Operation::write, (entry.line << L1Cache::kLineShift) + first, count,
           PrivateAccess::data);
    }
  }
}

// The hart has gone on long since: what fails now is no trap.
void CpHart::on_stored(Slot& slot) {
  PooledPayload& payload = *slot.payload;
  ++answers_;
  if (!payload.is_response_ok())
    throw CheckError(
        fmt::format("gpu{} cp hart {}: a store to {:#x} was answered with an error when the hart "
                    "had gone on to pc {:#x} <{}>",
                    shared_.services->gpu, id_, payload.get_address(), core_.pc(),
                    owner_.symbolize(core_.pc())));
  port_.buffer().answered(slot.entry);
  slot.entry = 0;
  slot.payload = nullptr;
  payload.release();
  --storing_;
  if (state_ == State::memory) pump();
  pump_buffer();
  if (state_ == State::memory && outstanding_ == 0 && waits_) next_step();
}

}  // namespace stretto
