// SPDX-License-Identifier: Apache-2.0
#include "models/nic/bus_master.h"

#include <algorithm>
#include <string>

#include "models/common/payload_builder.h"

namespace stretto {

namespace {

constexpr std::array<const char*, static_cast<size_t>(BusUse::count)> kUses = {
    "entries", "data", "completions", "order", "atomics", "release"};

}  // namespace

void LaterCalls::at(Time at, std::function<void()> call) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(calls_.size()));
    calls_.emplace_back();
  }
  const uint32_t index = free_.back();
  free_.pop_back();
  calls_[index] = std::move(call);
  queue_.schedule(at, *this, index);
}

void LaterCalls::on_event(uint64_t tag) {
  const std::function<void()> call = std::move(calls_[tag]);
  free_.push_back(static_cast<uint32_t>(tag));
  call();
}

BusMaster::BusMaster(sc_core::sc_module_name name, PartitionServices& services, uint32_t reads)
    : sc_module(name), socket("socket"), services_(services), reads_limit_(reads) {
  socket.register_nb_transport_bw(this, &BusMaster::on_response);
}

void BusMaster::read(BusUse use, uint64_t address, uint32_t bytes, OnData on_data) {
  waiting_.push_back({use, address, bytes, std::move(on_data)});
  ++under_way_;
  send_reads();
}

void BusMaster::send_reads() {
  while (!waiting_.empty() && reads_ < reads_limit_) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    reads_high_water_ = std::max<uint64_t>(reads_high_water_, ++reads_);
    read_bytes_[static_cast<size_t>(next.use)] += next.bytes;
    send(next.use, Operation::read, next.address,
         {Bytes(next.bytes), std::move(next.on_data), nullptr});
  }
}

void BusMaster::write(BusUse use, uint64_t address, Bytes data, OnTaken on_taken) {
  ++under_way_;
  written_bytes_[static_cast<size_t>(use)] += data.size();
  send(use, Operation::write, address, {std::move(data), nullptr, std::move(on_taken)});
}

void BusMaster::wait_visible(uint64_t address, std::function<void(bool ok)> done) {
  read(BusUse::order, address & ~uint64_t{7}, 8,
       [done = std::move(done)](bool ok, Bytes&&) { done(ok); });
}

void BusMaster::send(BusUse use, Operation operation, uint64_t address, Access access) {
  if (free_.empty()) {
    free_.push_back(static_cast<uint32_t>(accesses_.size()));
    accesses_.push_back(std::make_unique<Access>());
  }
  const uint32_t index = free_.back();
  free_.pop_back();
  Access& slot = *accesses_[index];
  slot = std::move(access);
  const bool syncs = use == BusUse::atomics || use == BusUse::completions || use == BusUse::order;
  PooledPayload& payload =
      communication_payload(pool_, Engine::link, services_.gpu, operation,
                            syncs ? STRETTO_ACCOUNT_SYNC : STRETTO_ACCOUNT_OTHER, address,
                            slot.data.data(), static_cast<uint32_t>(slot.data.size()));
  payload.extension.cookie = index;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  socket->nb_transport_fw(payload, phase, delay);
}

tlm::tlm_sync_enum BusMaster::on_response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                          sc_core::sc_time&) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  const bool ok = payload.is_response_ok();
  const bool was_read = payload.is_read();
  const uint32_t index =
      static_cast<uint32_t>(static_cast<PooledPayload&>(payload).extension.cookie);
  phase = tlm::END_RESP;
  payload.release();
  Access access = std::move(*accesses_[index]);
  free_.push_back(index);
  --under_way_;
  if (was_read) {
    --reads_;
    access.on_data(ok, std::move(access.data));
    send_reads();
  } else if (access.on_taken) {
    access.on_taken(ok);
  }
  return tlm::TLM_COMPLETED;
}

void BusMaster::report(StatisticSink& sink) const {
  for (size_t use = 0; use < kUses.size(); ++use) {
    sink.add(std::string("pcie_read_bytes.") + kUses[use], read_bytes_[use], "bytes",
             "Asked for over PCIe.");
    sink.add(std::string("pcie_written_bytes.") + kUses[use], written_bytes_[use], "bytes",
             "Written over PCIe.");
  }
  sink.add("pcie_reads_high_water", reads_high_water_, "count",
           "Most reads over PCIe without their data.");
}

}  // namespace stretto
