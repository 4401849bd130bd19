// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/operands.h"

#include "platform/jobs/contents.h"
#include "platform/jobs/job.h"

namespace stretto {

uint16_t random_fp16(uint64_t seed, uint32_t rank, uint32_t what, uint32_t i, uint32_t j) {
  const uint64_t x = content_word(seed, rank * 8 + what, uint64_t{i} << 32 | j);
  const uint16_t exponent = static_cast<uint16_t>(9 + (x >> 20) % 6);
  return static_cast<uint16_t>((x >> 40 & 0x8000) | exponent << 10 | (x & 0x3FF));
}

uint8_t random_e4m3(uint64_t seed, uint32_t rank, uint32_t what, uint32_t i, uint32_t j) {
  const uint64_t x = content_word(seed, rank * 8 + what, uint64_t{i} << 32 | j);
  const uint64_t exponent = 1 + (x >> 20) % 6;
  return static_cast<uint8_t>((x >> 40 & 0x80) | exponent << 3 | (x & 0x7));
}

MemoryImage::Generator random_words(uint64_t seed, uint32_t rank, uint64_t base) {
  return [=](uint64_t address, uint8_t* bytes, uint64_t count) {
    uint64_t word = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = address - base + i;
      if (i == 0 || at % 8 == 0) word = content_word(seed, rank, at / 8);
      bytes[i] = static_cast<uint8_t>(word >> at % 8 * 8);
    }
  };
}

stretto_client_options_t client_options(const JobRequest& request, uint32_t rank) {
  const JobShare& share = request.share;
  stretto_client_options_t client{};
  client.gpu = share.gpus[rank];
  client.first_queue = share.first_queue;
  client.queue_count = 1;
  client.memory_begin = share.memory_begin;
  client.memory_end = share.memory_end;
  client.costs = driver_costs(request.spec.software);
  client.account_base = share.account_base;
  client.unit_registers_bytes = request.spec.gpu.registers_bytes;
  client.unit_lds_bytes = request.spec.gpu.lds_bytes;
  client.unit_wavefronts = request.spec.gpu.wavefront_slots;
  client.l2_way_bytes = request.spec.l2.bytes / request.spec.l2.ways;
  client.l2_persist_bytes = client.l2_way_bytes * request.spec.l2.persist_ways();
  return client;
}

arbiter_parameters_t arbiter_parameters(const SoftwareSpec& software, uint32_t usual) {
  arbiter_parameters_t arbiter{};
  arbiter.policy = software.mca_policy == kMcaPolicyOfMode ? usual : software.mca_policy;
  arbiter.fixed_threshold = software.mca_fixed_threshold;
  arbiter.threshold = software.mca_threshold;
  arbiter.starve_limit = software.mca_starve_limit;
  return arbiter;
}

}  // namespace stretto
