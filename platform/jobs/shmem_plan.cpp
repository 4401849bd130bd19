// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/shmem_plan.h"

#include "platform/jobs/operands.h"

namespace stretto {

namespace {

template <class Value>
Value in_memory(MemoryImage& memory, uint64_t address) {
  Value value{};
  memory.read(offset_of(address), reinterpret_cast<uint8_t*>(&value), sizeof value);
  return value;
}

}  // namespace

void ShmemPlan::place(const JobRequest& request, uint32_t server, uint32_t rank,
                      uint32_t work_groups, uint64_t data_bytes, uint64_t results_bytes,
                      MemoryPlan& layout, uint64_t arrays_bytes) {
  const uint32_t servers = request.spec.servers;
  const uint64_t words = STRETTO_SHMEM_SYNC_BYTES(work_groups);
  list.client = client_options(request, rank);
  list.memory = memory_plan(&list.client, 4096);
  stretto_symmetric_options_t& symmetric = list.symmetric;
  symmetric.service =
      memory_plan_add(&list.memory, "network service", stretto_symmetric_service_bytes(servers),
                      STRETTO_ALLOCATION_UNCACHED);
  symmetric.queues =
      memory_plan_add(&list.memory, "command queues",
                      uint64_t{work_groups} * STRETTO_SHMEM_QUEUE_BYTES, STRETTO_ALLOCATION_SHARED);
  symmetric.queue_count = work_groups;
  symmetric.handle_flags = request.mode == kNoLockMode ? STRETTO_SHMEM_NO_LOCK : 0;
  const uint64_t heap_bytes = (words + data_bytes + STRETTO_SHARED_ALIGNMENT - 1) /
                              STRETTO_SHARED_ALIGNMENT * STRETTO_SHARED_ALIGNMENT;
  heap = memory_plan_add(&list.memory, "heap", heap_bytes, STRETTO_ALLOCATION_SHARED);
  data = heap + words;
  symmetric.cluster.server = server;
  symmetric.cluster.servers = servers;
  symmetric.cluster.heap = heap;
  symmetric.cluster.heap_bytes = heap_bytes;
  results = memory_plan_add(&list.memory, "results", results_bytes, STRETTO_ALLOCATION_UNCACHED);
  if (arrays_bytes != 0)
    arrays = memory_plan_add(&list.memory, "arrays", arrays_bytes, STRETTO_ALLOCATION_CACHED);
  layout.add(list.memory, SHMEM_LIST_MODULE_BYTES);
}

void ShmemPlan::finish(uint64_t cluster_memory, const std::vector<uint8_t>& elf,
                       uint32_t poll_rounds) {
  list.symmetric.cluster.memory = cluster_memory;
  list.symmetric.poll_rounds = poll_rounds;
  list.elf = elf.data();
  list.elf_bytes = elf.size();
  list.launches = launches.data();
  list.count = static_cast<uint32_t>(launches.size());
}

stretto_shmem_counts_t ShmemPlan::counts(MemoryImage& memory) const {
  stretto_shmem_counts_t sum{};
  for (uint32_t hart = 0; hart < STRETTO_SHMEM_MAX_HARTS; ++hart) {
    const auto one = in_memory<stretto_shmem_counts_t>(
        memory, list.symmetric.service + stretto_symmetric_counts_offset() +
                    hart * sizeof(stretto_shmem_counts_t));
    sum.taken += one.taken;
    sum.ended += one.ended;
    sum.posted += one.posted;
    sum.completed += one.completed;
    sum.bytes += one.bytes;
    sum.rounds += one.rounds;
  }
  return sum;
}

void ShmemPlan::audit(MemoryImage& memory, uint64_t begun, uint64_t different,
                      AuditSink& sink) const {
  const stretto_shmem_counts_t sum = counts(memory);
  uint64_t written = 0;
  for (uint32_t queue = 0; queue < list.symmetric.queue_count; ++queue)
    written += in_memory<uint64_t>(memory, list.symmetric.queues +
                                               uint64_t{queue} * STRETTO_SHMEM_QUEUE_BYTES +
                                               STRETTO_SHMEM_WRITTEN);
  sink.equal("entries that work-groups wrote = taken by the network service", written, sum.taken);
  sink.equal("entries taken = ended by the network service", sum.taken, sum.ended);
  sink.equal("operations posted by the network service = completed", sum.posted, sum.completed);
  sink.equal("operations posted by the network service = begun by the NIC", sum.posted, begun);
  sink.equal("operations begun by the NIC = those that differ", begun, different);
}

}  // namespace stretto
