// SPDX-License-Identifier: Apache-2.0
// The command processor as a module: sockets, image loading, and the wiring of harts and local
// devices.
#include "models/cp/cp.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "models/common/error.h"
#include "models/common/hex.h"
#include "models/common/tlm_checker.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/formats/private_memory.h"

namespace stretto {
namespace {

constexpr uint64_t kClintBytes = 0x10000;
constexpr uint64_t kBankBytes = 0x1000;
constexpr unsigned kDoorbellCount = 16;

bool in_sram(uint64_t address, uint64_t bytes) {
  return address >= STRETTO_SRAM_BASE && bytes <= STRETTO_SRAM_BYTES &&
         address - STRETTO_SRAM_BASE <= STRETTO_SRAM_BYTES - bytes;
}

bool in_private_memory(uint64_t address, uint64_t bytes) {
  return address >= STRETTO_PRIVATE_BASE && bytes <= STRETTO_PRIVATE_BYTES &&
         address - STRETTO_PRIVATE_BASE <= STRETTO_PRIVATE_BYTES - bytes;
}

std::string uart_of(const CpSpec& spec, uint8_t gpu) {
  if (spec.uart == "stdout" || spec.uart == "none" || gpu == 0) return spec.uart;
  return spec.uart + "." + std::to_string(gpu);
}

}  // namespace

Cp::Cp(const sc_core::sc_module_name& name, const CpSpec& spec, PartitionServices& services)
    : sc_core::sc_module(name),
      EventHandler(*services.queue),
      mem("mem"),
      doorbell("doorbell"),
      bus("bus", *services.queue),
      spec_(spec),
      services_(services),
      clock_(spec.mhz),
      bus_port_("bus_port"),
      clint_("clint", *services.queue, spec.timer_mhz, spec.harts, *this),
      intc_("intc", spec.harts, services.gpu + 1, *this),
      doorbells_("doorbells", intc_),
      uart_("uart", uart_of(spec, services.gpu)),
      sram_(static_cast<uint8_t*>(std::calloc(STRETTO_SRAM_BYTES, 1))),
      reservations_(spec.harts),
      code_({.line_blocks = spec.private_memory == PrivateMemory::gpu}, spec.cost) {
  assert(spec.check().empty());
  if (sram_ == nullptr) throw std::bad_alloc();
  mem.register_nb_transport_bw(this, &Cp::on_memory_answer);
  doorbell.register_nb_transport_fw(this, &Cp::on_doorbell);
  doorbell.register_b_transport(this, &Cp::doorbell_b_transport);
  connect(bus_port_, bus.in, *services.queue);
  bus.attach(STRETTO_CLINT_BASE, kClintBytes, clint_.csr);
  bus.attach(STRETTO_INTC_BASE, kBankBytes, intc_.csr);
  bus.attach(STRETTO_UART_BASE, kBankBytes, uart_.csr);
  bus.attach(STRETTO_DOORBELL_BASE, kBankBytes, doorbells_.csr);
  const CpHart::Shared shared{sram_.get(), &reservations_, &code_, &services_, &ranges_, &memory_};
  HartOwner& owner = *this;
  for (unsigned hart = 0; hart < spec_.harts; ++hart) {
    harts_.push_back(std::make_unique<CpHart>(hart, spec_, shared, owner));
  }
}

Cp::~Cp() = default;

std::string Cp::allowed_places() const {
  const auto range = [](uint64_t base, uint64_t bytes) {
    return hex(base) + ".." + hex(base + bytes - 1);
  };
  const std::string places = "allowed is the SRAM of the command processor, " +
                             range(STRETTO_SRAM_BASE, STRETTO_SRAM_BYTES);
  const std::string own = range(STRETTO_PRIVATE_BASE, STRETTO_PRIVATE_BYTES);
  return places + (memory_ != nullptr ? ", and private memory, " + own
                                      : "; " + own + " is there with cp.private_memory=gpu");
}

void Cp::load(std::shared_ptr<const ElfImage> image) {
  assert(image_ == nullptr);
  assert((memory_ != nullptr) == (spec_.private_memory == PrivateMemory::gpu));
  const auto is_place = [this](uint64_t address, uint64_t bytes) {
    return in_sram(address, bytes) || (memory_ != nullptr && in_private_memory(address, bytes));
  };
  const std::string allowed = allowed_places();
  if (image->position_independent()) {
    throw UserError(image->path() +
                    ": is a position-independent kernel; firmware is linked at fixed addresses; " +
                    allowed);
  }
  for (const ElfImage::Segment& segment : image->segments()) {
    for (const uint64_t address : {segment.address, segment.load_address}) {
      if (!is_place(address, segment.memory_bytes)) {
        throw UserError(image->path() + ": segment " + std::to_string(segment.number) + " at " +
                        hex(address) + ".." + hex(address + segment.memory_bytes - 1) +
                        " is out of place; " + allowed);
      }
    }
  }
  if (!is_place(image->entry(), 2) || image->entry() % 2 != 0) {
    throw UserError(image->path() + ": entry " + hex(image->entry()) + " is out of place; " +
                    allowed);
  }
  for (const ElfImage::Segment& segment : image->segments()) {
    if (in_sram(segment.load_address, segment.memory_bytes)) {
      std::copy(segment.data.begin(), segment.data.end(),
                sram_.get() + (segment.load_address - STRETTO_SRAM_BASE));
    } else {
      memory_->write(segment.load_address - STRETTO_PRIVATE_BASE + STRETTO_PRIVATE_OFFSET,
                     segment.data.data(), segment.data.size());
    }
  }
  image_ = std::move(image);
  const uint64_t tohost = image_->symbol("tohost").value_or(HartPort::kNoAddress);
  if (in_sram(tohost, 8)) {
    for (const auto& hart : harts_) hart->set_tohost(tohost);
  }
}

void Cp::start() {
  if (image_ == nullptr) return;
  for (const auto& hart : harts_) hart->start(image_->entry());
}

std::string Cp::symbolize(uint64_t address) const {
  return image_ == nullptr ? hex(address) : image_->symbolize(address);
}

// Calendar

void Cp::schedule(Time at, unsigned hart, uint64_t what) {
  services_.queue->schedule(at, *this, what << 16 | uint64_t{hart} << 8 | kHart);
}

void Cp::on_event(uint64_t tag) {
  if ((tag & 0xFF) == kHart) {
    harts_[tag >> 8 & 0xFF]->on_event(tag >> 16);
    return;
  }
  tlm::tlm_generic_payload& payload = *ringing_.front().payload;
  ringing_.erase(ringing_.begin());
  ring(payload);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  doorbell->nb_transport_bw(payload, phase, delay);
  if (payload.has_mm()) payload.release();
}

void Cp::set_interrupt(unsigned hart, unsigned number, bool level) {
  harts_[hart]->set_interrupt(number, level);
}

void Cp::set_timer(unsigned hart, Time fires) { harts_[hart]->set_timer(fires); }

void Cp::on_tohost(unsigned, uint64_t value) {
  for (const auto& hart : harts_) hart->halt();
  uart_.flush();
  if (on_end_) on_end_(value);
}

// Sockets

bool Cp::bus_access(bool write, uint64_t address, uint8_t* data, unsigned bytes, Time& delay) {
  bus_payload_.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  bus_payload_.set_address(address);
  bus_payload_.set_data_ptr(data);
  bus_payload_.set_data_length(bytes);
  bus_payload_.set_streaming_width(bytes);
  bus_payload_.set_byte_enable_ptr(nullptr);
  bus_payload_.set_dmi_allowed(false);
  bus_payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time annotated = sc_core::SC_ZERO_TIME;
  bus_port_->b_transport(bus_payload_, annotated);
  delay = time_of(annotated) + clock_.edge(spec_.bus_cycles);
  return bus_payload_.is_response_ok();
}

void Cp::send(PooledPayload& payload) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const tlm::tlm_sync_enum status = mem->nb_transport_fw(payload, phase, delay);
  const bool answered =
      status == tlm::TLM_COMPLETED || (status == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP);
  if (answered) harts_[payload.extension.unit]->answer(payload, time_of(delay));
}

tlm::tlm_sync_enum Cp::on_memory_answer(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                        sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;  // END_REQ
  PooledPayload& own = static_cast<PooledPayload&>(payload);
  harts_[own.extension.unit]->answer(own, time_of(delay));
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum Cp::on_doorbell(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;  // END_RESP
  if (payload.has_mm()) payload.acquire();
  const Time at = services_.queue->now() + time_of(delay);
  const auto after =
      std::upper_bound(ringing_.begin(), ringing_.end(), at,
                       [](Time time, const Ringing& other) { return time < other.at; });
  ringing_.insert(after, {at, &payload});
  services_.queue->schedule(at, *this, kDoorbell);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void Cp::doorbell_b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time&) {
  ring(payload);
}

void Cp::ring(tlm::tlm_generic_payload& payload) {
  const uint64_t offset = (payload.get_address() & STRETTO_OFFSET_MASK) - STRETTO_DOORBELL_APERTURE;
  if (!payload.is_write() || payload.get_data_length() != 8 || offset % 8 != 0) {
    payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
    return;
  }
  if (offset / 8 >= kDoorbellCount) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  uint64_t value = 0;
  std::memcpy(&value, payload.get_data_ptr(), 8);
  doorbells_.ring(static_cast<unsigned>(offset / 8), value);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

// Reports

uint64_t Cp::instructions() const {
  uint64_t sum = 0;
  for (const auto& hart : harts_) sum += hart->core().instret();
  return sum;
}

void Cp::report(StatisticSink& sink) const {
  for (const auto& hart : harts_) hart->report(sink);
  sink.add("doorbells", doorbells_.rings(), "count", "Doorbell writes that arrived.");
  sink.add("uart_characters", uart_.characters(), "count", "Characters sent to the console.");
}

void Cp::audit(AuditSink& sink) const {
  for (const auto& hart : harts_) hart->audit(sink);
}

std::vector<std::string> Cp::waiting_on() const {
  std::vector<std::string> lines;
  for (const auto& hart : harts_) {
    if (std::string line = hart->waiting_on(); !line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace stretto
