// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/gpu/gpu_machine.h"

namespace stretto::test {
namespace {

template <class Socket>
uint64_t transport(Socket& socket, uint32_t offset, bool write, uint64_t value) {
  tlm::tlm_generic_payload payload;
  payload.set_address(offset);
  payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
  payload.set_data_length(8);
  payload.set_streaming_width(8);
  payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  socket->b_transport(payload, delay);
  if (payload.is_response_error()) throw std::runtime_error("register access refused");
  return value;
}

}  // namespace

FixedMemory::FixedMemory(sc_core::sc_module_name name, unsigned channels, Time latency,
                         EventQueue& queue, MemoryImage& image)
    : sc_module(name),
      EventHandler(queue),
      channel("channel", channels),
      fabric("fabric"),
      latency_(latency),
      queue_(queue),
      image_(image) {
  for (unsigned i = 0; i < channels; ++i)
    channel[i].register_nb_transport_fw(this, &FixedMemory::forward, int(i));
  fabric.register_nb_transport_fw(this, &FixedMemory::forward, -1);
}

tlm::tlm_sync_enum FixedMemory::forward(int port, tlm::tlm_generic_payload& payload,
                                        tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const StrettoExtension& extension = *extension_of(payload);
  ++requests;
  const unsigned bytes = payload.get_data_length();
  if (time_of(delay) > 1'000'000'000 * kNanosecond)  // Negative.
    throw std::runtime_error("a request of the L2 reaches memory before it is sent");
  Access access{queue_.now() + time_of(delay),
                payload.get_command(),
                payload.get_address(),
                bytes,
                extension,
                {}};
  if (payload.is_write() && payload.get_data_ptr() != nullptr && !extension.tags_only) {
    access.data.assign(payload.get_data_ptr(), payload.get_data_ptr() + bytes);
  }
  if (port < 0) {
    remote.push_back(access);
  } else {
    if (bytes > 256 || (access.address & 255) + bytes > 256)
      throw std::logic_error("payload crosses a block");
    const uint64_t offset = access.address & STRETTO_OFFSET_MASK;
    if (payload.is_read()) {
      read_bytes += bytes;
      if (!extension.tags_only) image_.read(offset, payload.get_data_ptr(), bytes);
    } else {
      written_bytes += bytes;
      written_by[extension.account] += bytes;
      if (extension.operation == Operation::update) updated_bytes += bytes;
      if (!late) perform(payload);
    }
    if (record) accesses.push_back(std::move(access));
  }
  payload.set_response_status(errors ? tlm::TLM_GENERIC_ERROR_RESPONSE : tlm::TLM_OK_RESPONSE);
  if (free_.empty()) {
    waiting_.push_back({});
    free_.push_back(waiting_.size() - 1);
  }
  const size_t slot = free_.back();
  free_.pop_back();
  waiting_[slot] = {port, &payload};
  const Time arrival = queue_.now() + time_of(delay);
  if (queue_sink != nullptr && port >= 0 && !errors) {
    const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
    for (uint64_t at = offset & ~uint64_t{63}; at < offset + bytes; at += 64)
      queue_.schedule(arrival + in_queue, *this, kLeavesQueue | at);
  }
  queue_.schedule(arrival + latency_, *this, slot);
  phase = tlm::END_REQ;
  return tlm::TLM_UPDATED;
}

void FixedMemory::perform(tlm::tlm_generic_payload& payload) {
  const StrettoExtension& extension = *extension_of(payload);
  const uint64_t offset = payload.get_address() & STRETTO_OFFSET_MASK;
  const unsigned bytes = payload.get_data_length();
  if (extension.operation == Operation::update) {
    std::vector<uint8_t> sum(bytes);
    image_.read(offset, sum.data(), bytes);
    add_elements(extension.element, sum.data(), payload.get_data_ptr(), bytes);
    image_.write(offset, sum.data(), bytes);
  } else if (!extension.tags_only && payload.get_byte_enable_ptr() != nullptr) {
    image_.write_masked(offset, payload.get_data_ptr(), payload.get_byte_enable_ptr(), bytes);
  } else if (!extension.tags_only) {
    image_.write(offset, payload.get_data_ptr(), bytes);
  }
}

void FixedMemory::on_event(uint64_t slot) {
  if ((slot & kLeavesQueue) != 0) {
    queue_sink->on_place_free(slot & ~kLeavesQueue);
    return;
  }
  const auto [port, payload] = waiting_[slot];
  free_.push_back(slot);
  if (late && port >= 0 && payload->is_write()) perform(*payload);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  (port < 0 ? fabric : channel[static_cast<size_t>(port)])->nb_transport_bw(*payload, phase, delay);
}

GpuMachineModule::GpuMachineModule(sc_core::sc_module_name name, GpuSpec gpu_spec, L2Spec l2_spec,
                                   Time latency, std::unique_ptr<GridScheduler> scheduler)
    : sc_module(name),
      spec(gpu_spec),
      mapping(kChannels, 256, 2048, true),
      memory("memory", kChannels, latency, queue, image),
      gpu("gpu", spec, l2_spec, mapping, with_queue(), image, std::move(scheduler)),
      cp("cp"),
      links("links"),
      regs("regs"),
      scheduler_regs("scheduler_regs"),
      range_regs("range_regs") {
  regs.bind(gpu.front_end.regs);
  scheduler_regs.bind(gpu.front_end.scheduler_regs);
  range_regs.bind(gpu.ranges.regs);
  for (unsigned i = 0; i < kChannels; ++i) gpu.l2.channel[i].bind(memory.channel[i]);
  gpu.l2.remote.bind(memory.fabric);
  cp.bind(gpu.l2.cp);
  cp.register_nb_transport_bw(this, &GpuMachineModule::cp_backward);
  links.bind(gpu.l2.link);
  links.register_nb_transport_bw(this, &GpuMachineModule::cp_backward);
  gpu.front_end.set_interrupts(lines);
}

GpuMachineModule::~GpuMachineModule() = default;

void GpuMachineModule::write(uint32_t offset, uint64_t value) {
  transport(regs, offset, true, value);
}

uint64_t GpuMachineModule::read(uint32_t offset) { return transport(regs, offset, false, 0); }

void GpuMachineModule::write_scheduler(uint32_t offset, uint64_t value) {
  transport(scheduler_regs, offset, true, value);
}

uint64_t GpuMachineModule::read_scheduler(uint32_t offset) {
  return transport(scheduler_regs, offset, false, 0);
}

void GpuMachineModule::write_ranges(uint32_t offset, uint64_t value) {
  transport(range_regs, offset, true, value);
}

uint64_t GpuMachineModule::read_ranges(uint32_t offset) {
  return transport(range_regs, offset, false, 0);
}

void GpuMachineModule::map(const RangeEntry& entry) {
  const unsigned i = entries++;
  write_ranges(RANGE_TABLE_ENTRY_BASE_OFFSET_AT(i), entry.base);
  write_ranges(RANGE_TABLE_ENTRY_PITCH_OFFSET_AT(i), entry.pitch);
  write_ranges(RANGE_TABLE_ENTRY_ROW_BYTES_OFFSET_AT(i), entry.row_bytes);
  write_ranges(RANGE_TABLE_ENTRY_ROWS_OFFSET_AT(i), entry.rows);
  write_ranges(RANGE_TABLE_ENTRY_PEER_BASE_OFFSET_AT(i), entry.peer_base);
  write_ranges(RANGE_TABLE_ENTRY_FLAGS_OFFSET_AT(i),
               STRETTO_FIELD(RANGE_TABLE_ENTRY_FLAGS_VALID, 1) |
                   STRETTO_FIELD(RANGE_TABLE_ENTRY_FLAGS_KIND, static_cast<unsigned>(entry.kind)) |
                   STRETTO_FIELD(RANGE_TABLE_ENTRY_FLAGS_UPDATE, entry.update) |
                   STRETTO_FIELD(RANGE_TABLE_ENTRY_FLAGS_TRACKED, entry.tracked) |
                   STRETTO_FIELD(RANGE_TABLE_ENTRY_FLAGS_ALLOCATION,
                                 static_cast<unsigned>(entry.allocation)));
}

void GpuMachineModule::map(uint64_t base, uint64_t bytes, AllocationClass allocation) {
  RangeEntry entry;
  entry.base = base;
  entry.row_bytes = bytes;
  entry.rows = 1;
  entry.allocation = allocation;
  map(entry);
}

void GpuMachineModule::load_words(const std::vector<uint32_t>& words, uint64_t address) {
  image.load(address & STRETTO_OFFSET_MASK, reinterpret_cast<const uint8_t*>(words.data()),
             4 * words.size());
}

Launch GpuMachineModule::load_kernel(const std::string& file, const std::string& kernel) {
  ElfImage elf = ElfImage::load(file);
  elf.relocate(kCode);
  for (const ElfImage::Segment& segment : elf.segments()) {
    image.load(segment.address & STRETTO_OFFSET_MASK, segment.data.data(), segment.data.size());
  }
  stretto_kernel_descriptor_t descriptor;
  image.read(elf.symbol(kernel + ".kd").value() & STRETTO_OFFSET_MASK,
             reinterpret_cast<uint8_t*>(&descriptor), sizeof descriptor);
  Launch launch;
  launch.entry = descriptor.entry;
  launch.code_bytes = elf.high_address() - kCode;
  launch.kernarg_bytes = descriptor.kernarg_bytes;
  launch.registers_bytes = descriptor.registers_bytes;
  launch.lds_bytes = descriptor.lds_bytes;
  launch.private_bytes = descriptor.private_bytes;
  launch.wavefronts = descriptor.wavefronts;
  return launch;
}

void GpuMachineModule::set_context(const Launch& what, unsigned slot) {
  const uint32_t at = slot * GPU_CONTEXT_ENTRY_STRIDE;
  write(GPU_CONTEXT_ENTRY_OFFSET + at, what.entry);
  write(GPU_CONTEXT_KERNARG_OFFSET + at, kArguments);
  write(GPU_CONTEXT_KERNARG_BYTES_OFFSET + at, what.kernarg_bytes);
  write(GPU_CONTEXT_CODE_BASE_OFFSET + at, what.code_base);
  write(GPU_CONTEXT_CODE_BYTES_OFFSET + at, what.code_bytes);
  write(GPU_CONTEXT_REGISTERS_BYTES_OFFSET + at, what.registers_bytes);
  write(GPU_CONTEXT_LDS_BYTES_OFFSET + at, what.lds_bytes);
  write(GPU_CONTEXT_PRIVATE_BYTES_OFFSET + at, what.private_bytes);
  write(GPU_CONTEXT_WAVEFRONTS_OFFSET + at, what.wavefronts);
  write(GPU_CONTEXT_GRID_OFFSET + at, STRETTO_FIELD(GPU_CONTEXT_GRID_WORKGROUPS, what.workgroups) |
                                          STRETTO_FIELD(GPU_CONTEXT_GRID_Y, what.grid_y) |
                                          STRETTO_FIELD(GPU_CONTEXT_GRID_Z, what.grid_z));
  write(GPU_CONTEXT_FLAGS_OFFSET + at,
        STRETTO_FIELD(GPU_CONTEXT_FLAGS_UPDATE, what.update) |
            STRETTO_FIELD(GPU_CONTEXT_FLAGS_COMMUNICATION, what.communication) |
            STRETTO_FIELD(GPU_CONTEXT_FLAGS_ACCOUNT, what.account));
}

void GpuMachineModule::launch(const Launch& what, unsigned slot) {
  set_context(what, slot);
  const uint32_t scheduler = slot * GRID_SCHEDULER_SLOT_NEEDS_STRIDE;
  write_scheduler(
      GRID_SCHEDULER_SLOT_NEEDS_OFFSET + scheduler,
      STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_REGISTERS_KIB, (what.registers_bytes + 1023) / 1024) |
          STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_LDS_KIB, (what.lds_bytes + 1023) / 1024) |
          STRETTO_FIELD(GRID_SCHEDULER_SLOT_NEEDS_WAVEFRONTS, what.wavefronts));
  write_scheduler(GRID_SCHEDULER_SLOT_RANGE_OFFSET + scheduler,
                  STRETTO_FIELD(GRID_SCHEDULER_SLOT_RANGE_COUNT, what.workgroups));
  write_scheduler(GRID_SCHEDULER_SLOT_ORDER_OFFSET + scheduler,
                  STRETTO_FIELD(GRID_SCHEDULER_SLOT_ORDER_GRID, what.workgroups) |
                      STRETTO_FIELD(GRID_SCHEDULER_SLOT_ORDER_START, what.start));
  write_scheduler(GRID_SCHEDULER_SLOT_CONTROL_OFFSET + scheduler,
                  GRID_SCHEDULER_SLOT_CONTROL_LAUNCH_MASK);
}

Time GpuMachineModule::run(Time limit) {
  Time last = queue.now();
  while (!queue.empty() && queue.next_time() < limit) {
    last = queue.next_time();
    queue.run_until(last + 1);
  }
  return last;
}

Time GpuMachineModule::run_kernel(const Launch& what) {
  launch(what);
  const Time end = run();
  clear_done();
  run();
  return end;
}

PooledPayload& GpuMachineModule::cp_request(tlm::tlm_command command, Operation operation,
                                            uint64_t address, uint8_t* data, unsigned bytes,
                                            AllocationClass allocation) {
  PooledPayload& payload = cp_pool.acquire();
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.extension.operation = operation;
  payload.extension.engine = Engine::hart;
  payload.extension.allocation = allocation;
  payload.extension.account = STRETTO_ACCOUNT_CP;
  payload.extension.tags_only = false;
  payload.extension.rows = 1;
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  if (cp->nb_transport_fw(payload, phase, delay) == tlm::TLM_COMPLETED) cp_done.push_back(&payload);
  return payload;
}

tlm::tlm_sync_enum GpuMachineModule::cp_backward(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                                 sc_core::sc_time&) {
  cp_done.push_back(&payload);
  return tlm::TLM_COMPLETED;
}

GpuMachine::GpuMachine(GpuSpec gpu_spec, L2Spec l2_spec, Time latency,
                       std::unique_ptr<GridScheduler> scheduler)
    : GpuMachineModule("machine", gpu_spec, l2_spec, latency, std::move(scheduler)) {
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  write_scheduler(GRID_SCHEDULER_CUS_OFFSET, spec.cus);
  write_scheduler(
      GRID_SCHEDULER_CAPACITY_OFFSET,
      STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_REGISTERS_KIB, spec.registers_bytes / 1024) |
          STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_LDS_KIB, spec.lds_bytes / 1024) |
          STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_WAVEFRONTS, spec.wavefront_slots) |
          STRETTO_FIELD(GRID_SCHEDULER_CAPACITY_WORK_GROUPS, spec.workgroup_slots));
}

}  // namespace stretto::test
