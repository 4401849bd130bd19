// SPDX-License-Identifier: Apache-2.0
#include "models/host/service_core.h"

#include <fmt/format.h>

#include <bit>
#include <cassert>
#include <cstring>

#include "models/common/error.h"

namespace stretto {

using riscv::MemStatus;
using riscv::StopReason;
using Kind = riscv::PendingAccess::Kind;

namespace {

constexpr uint64_t kSteps = 10'000;  // Between looks at the clock; changes no result.
constexpr uint64_t kExit = 93, kWrite = 64;
constexpr unsigned kA0 = 10, kA1 = 11, kA2 = 12, kA7 = 17;
constexpr size_t kMostOutput = 4'096;

bool is_power_of_two_sets(uint32_t kib, uint32_t ways) {
  const uint64_t lines = uint64_t{kib} << 10 >> LineTags::kLineShift;
  return lines % ways == 0 && std::has_single_bit(lines / ways);
}

}  // namespace

std::string ServiceCoreSpec::check() const {
  const auto refuse = [](const char* level, uint32_t kib, uint32_t ways) {
    return fmt::format(
        "{0}_kib ({1}) of lines of 64 B in {0}_ways ({2}) must be a power of two of sets", level,
        kib, ways);
  };
  if (!is_power_of_two_sets(l1_kib, l1_ways)) return refuse("l1", l1_kib, l1_ways);
  if (!is_power_of_two_sets(l2_kib, l2_ways)) return refuse("l2", l2_kib, l2_ways);
  if (!is_power_of_two_sets(l3_kib, l3_ways)) return refuse("l3", l3_kib, l3_ways);
  return "";
}

void describe(ServiceCoreSpec& spec, ParameterSet& set) {
  set.number("mhz", spec.mhz, 100, 10'000, "Clock of cores of the host that serve command queues.");
  // Unsourced: ComP-Net's Table 1 has 8-wide cores and no rate. Wide cores retire 1 to 3.
  set.number("ipc_percent", spec.ipc_percent, 10, 800,
             "Instructions a core retires in 100 cycles, as far as no cache or device keeps it.");
  set.number("l1_kib", spec.l1_kib, 1, 1'024, "First data cache, KiB.");
  set.number("l1_ways", spec.l1_ways, 1, 64, "Its ways; lines have 64 bytes.");
  set.number("l2_kib", spec.l2_kib, 1, 65'536, "Second cache of a core, KiB.");
  set.number("l2_ways", spec.l2_ways, 1, 64, "Its ways.");
  set.number("l2_cycles", spec.l2_cycles, 0, 1'000, "What a load takes longer that hits there.");
  set.number("l3_kib", spec.l3_kib, 1, 1'048'576, "Third cache, KiB.");
  set.number("l3_ways", spec.l3_ways, 1, 64, "Its ways.");
  set.number("l3_cycles", spec.l3_cycles, 0, 1'000, "What a load takes longer that hits there.");
  set.number("memory_ns", spec.memory_ns, 0, 10'000,
             "What a load takes longer that hits in no cache; as host.read_ns.");
}

// Port

bool ServiceCore::Port::fetch(uint64_t address, uint16_t& parcel) {
  if (address - kOwnBase > kOwnBytes - 2) return false;
  std::memcpy(&parcel, own_ + (address - kOwnBase), 2);
  return true;
}

MemStatus ServiceCore::Port::outside(uint64_t address, unsigned bytes) {
  if (address >> 48 != 0 || address >> STRETTO_NODE_SHIFT == STRETTO_NODE_LOCAL)
    return MemStatus::kFault;
  return address % bytes == 0 ? MemStatus::kPending : MemStatus::kMisaligned;
}

bool ServiceCore::Port::csr_read(uint32_t csr, uint64_t& value) {
  constexpr uint32_t kTime = 0xC01;
  if (csr != kTime) return false;
  value = owner_.local_time() / kNanosecond;
  return true;
}

// Core

ServiceCore::ServiceCore(const ServiceCoreSpec& spec, const ElfImage& image)
    : spec_(spec),
      image_(image),
      slots_(spec.mhz * spec.ipc_percent / 100),
      own_(kOwnBytes),
      caches_({{{spec.l1_kib, spec.l1_ways},
                {spec.l2_kib, spec.l2_ways},
                {spec.l3_kib, spec.l3_ways}}}),
      code_({.compressed = true, .machine_mode = false}, {.taken_branch = 1, .jump = 1}),
      port_(*this),
      hart_(port_, code_) {
  assert(spec.check().empty());
  for (const ElfImage::Segment& segment : image.segments()) {
    const uint64_t offset = segment.address - kOwnBase;
    if (image.position_independent() || offset > kOwnBytes ||
        segment.memory_bytes > kOwnBytes - offset)
      throw UserError(fmt::format(
          "{}: segment {} at {:#x} is out of place; allowed is a thread's own memory, {:#x}..{:#x}",
          image.path(), segment.number, segment.address, kOwnBase, kOwnBase + kOwnBytes - 1));
    std::copy(segment.data.begin(), segment.data.end(),
              own_.begin() + static_cast<ptrdiff_t>(offset));
  }
  hart_.set_yield_on_ecall(true);
}

ServiceCore::~ServiceCore() {
  if (core_ != nullptr) core_->host().ignore_memory(*this);
}

int ServiceCore::run(HostCore& core, uint64_t a0, uint64_t a1) {
  assert(core_ == nullptr);
  core_ = &core;
  core.host().watch_memory(*this);
  begin_ = core.now();
  hart_.reset(image_.entry());
  hart_.set_reg(kA0, a0);
  hart_.set_reg(kA1, a1);
  for (int status = 0;;) {
    switch (hart_.run(kSteps)) {
      case StopReason::kPending: access(); break;
      case StopReason::kBudget: reach_local_time(); break;
      case StopReason::kEcall:
        if (!call(status)) break;
        reach_local_time();
        counters_.instructions = hart_.instret();
        return status;
      default:
        fail(fmt::format("{} (value {:#x})", riscv::cause_name(hart_.fault().cause),
                         hart_.fault().value));
    }
  }
}

void ServiceCore::fail(const std::string& what) const {
  throw CheckError(fmt::format("{}: {} at pc {:#x} <{}>", core_->basename(), what, hart_.pc(),
                               image_.symbolize(hart_.pc())));
}

void ServiceCore::reach_local_time() {
  const Time local = local_time(), now = core_->now();
  if (local <= now) return;
  counters_.busy += local - now;
  core_->charge(local - now);
}

void ServiceCore::catch_up() {
  const uint64_t cycle = slots_.cycle_from(core_->now() - begin_);
  if (cycle > hart_.cycles()) hart_.add_cycles(cycle - hart_.cycles());
}

void ServiceCore::access() {
  const riscv::PendingAccess pending = hart_.pending();
  const uint64_t address = pending.addr;
  const bool at_host = address >> STRETTO_NODE_SHIFT == STRETTO_NODE_HOST;
  const bool load = pending.kind == Kind::kLoad;
  uint64_t value = port_.store_value();
  if (!load || !at_host || local_time() >= core_->unchanged_until()) reach_local_time();
  if (at_host) {
    if (load) {
      const LineCaches::Level level = caches_.use(address & STRETTO_OFFSET_MASK);
      const uint32_t cycles[] = {0, spec_.l2_cycles, spec_.l3_cycles,
                                 spec_.memory_ns * spec_.mhz / 1000};
      value = 0;
      core_->peek(address, &value, pending.size_bytes);
      hart_.add_cycles(uint64_t{cycles[level]} * spec_.ipc_percent / 100);
      ++counters_.loads[level];
    } else {
      core_->poke(address, &value, pending.size_bytes);
      (void)caches_.use(address & STRETTO_OFFSET_MASK);
    }
  } else {
    const Time before = core_->now();
    if (load) {
      value = core_->load_device(address, pending.size_bytes);
      ++counters_.device_loads;
    } else {
      core_->write(address, &value, pending.size_bytes);
      ++counters_.device_stores;
    }
    counters_.waiting += core_->now() - before;
    catch_up();
  }
  if (load) {
    hart_.complete_load(value);
  } else {
    hart_.complete_store();
  }
}

bool ServiceCore::call(int& status) {
  const uint64_t number = hart_.reg(kA7), from = hart_.reg(kA1) - kOwnBase, bytes = hart_.reg(kA2);
  if (number == kExit) {
    status = static_cast<int>(hart_.reg(kA0));
    return true;
  }
  if (number != kWrite) fail(fmt::format("system call {}, which there is not,", number));
  if (from > kOwnBytes || bytes > kOwnBytes - from) fail("text outside of its own memory");
  output_.append(reinterpret_cast<const char*>(own_.data() + from),
                 std::min(bytes, kMostOutput - std::min(kMostOutput, output_.size())));
  hart_.retire_system();
  return false;
}

void ServiceCore::on_host_write(uint64_t offset, uint64_t bytes) { caches_.written(offset, bytes); }

}  // namespace stretto
