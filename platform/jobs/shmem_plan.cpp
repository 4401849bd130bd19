// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/shmem_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "models/common/error.h"
#include "platform/base/installation.h"
#include "platform/jobs/operands.h"

namespace stretto {

namespace {

// Of threads of the host.
std::string service_file() { return software_folder() + "/firmware/host_service.elf"; }

template <class Value>
Value in_memory(MemoryImage& memory, uint64_t address) {
  Value value{};
  memory.read(offset_of(address), reinterpret_cast<uint8_t*>(&value), sizeof value);
  return value;
}

// Of a job's host memory, behind what its cluster has: the service, then entries.
constexpr uint64_t kServiceOffset = 0x200000;
constexpr uint64_t kEntriesOffset = 0x1000000;
static_assert(kServiceOffset >= 4096 + STRETTO_CLUSTER_BYTES &&
              kEntriesOffset + uint64_t{STRETTO_SHMEM_QUEUES} * STRETTO_SHMEM_QUEUE_BYTES <=
                  STRETTO_HOST_JOB_BYTES);

// In the word that names the table: there is none, and will be none.
constexpr uint64_t kNoService = 1;

uint32_t handle_flags(const JobRequest& request) {
  return request.mode == "compnet" ? 0 : STRETTO_SHMEM_NO_LOCK;
}

bool has_host_entries(const JobRequest& request) {
  return request.mode == kDgpuHostMode || request.mode == kApuMode;
}

uint64_t host_memory(const JobRequest& request) {
  return uint64_t{STRETTO_NODE_HOST} << STRETTO_NODE_SHIFT |
         STRETTO_HOST_JOB_OFFSET(request.share.number);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> shmem_modes() {
  return {{"compnet", "the command processor serves queues of work-groups and drives the NIC"},
          {kNoLockMode, "the same, and entries may leave the L2 before they are seen"},
          {kDgpuMode, "threads of the host do, which poll queues in GPU memory over PCIe"},
          {kDgpuHostMode, "threads of the host do; entries go to host memory over PCIe"},
          {kApuMode, "likewise, where GPU and host are coherent on one die (coherent_host)"}};
}

std::map<std::string, std::string> shmem_machines() { return {{kApuMode, "coherent_host=true"}}; }

bool is_served_by_host(const std::string& mode) {
  return mode == kDgpuMode || mode == kDgpuHostMode || mode == kApuMode;
}

void check_service_threads(const JobRequest& request, uint32_t threads) {
  if (request.mode == kApuMode && !request.spec.coherent_host)
    throw UserError(fmt::format("{}: needs coherent_host=true", request.subject()));
  const bool by_host = is_served_by_host(request.mode);
  // A program has a core, too.
  const uint32_t most = by_host ? std::min(STRETTO_SHMEM_MAX_THREADS, request.spec.host.cores - 1)
                                : STRETTO_SHMEM_HARTS;
  if (threads == 0 || threads > most)
    throw UserError(fmt::format(
        "{}: {} threads cannot serve; {} 1 to {}", request.subject(), threads,
        by_host ? "one core of host.cores is the program's:" : "harts of the command processor do:",
        most));
  const uint32_t pairs = (STRETTO_NIC_PAIRS - 2 * STRETTO_CLUSTER_SERVERS) / request.spec.servers;
  if (threads > pairs)
    throw UserError(
        fmt::format("{}: {} threads need more queue pairs to {} servers than a NIC has; "
                    "at most {} threads",
                    request.subject(), threads, request.spec.servers, pairs));
  if (by_host) (void)ElfImage::load(service_file());
}

void ShmemPlan::set_service(const JobRequest& request) {
  by_host_ = is_served_by_host(request.mode);
  service_core_ = request.spec.service_core;
  if (by_host_) image_ = std::make_shared<ElfImage>(ElfImage::load(service_file()));
}

stretto_runtime_network_t ShmemPlan::network(const JobRequest& request, uint32_t server,
                                             uint64_t cluster_memory, uint64_t heap_bytes,
                                             uint32_t poll_rounds) {
  set_service(request);
  stretto_runtime_network_t network{};
  network.server = server;
  network.servers = request.spec.servers;
  network.memory = cluster_memory;
  network.heap_bytes = heap_bytes;
  network.by_host = by_host_;
  network.service = by_host_ ? host_memory(request) + kServiceOffset : 0;
  network.entries = has_host_entries(request) ? host_memory(request) + kEntriesOffset : 0;
  network.threads = threads;
  network.poll_rounds = poll_rounds;
  network.handle_flags = handle_flags(request);
  list.symmetric.service = network.service;
  return network;
}

void ShmemPlan::opened(HostCore& core, const stretto_symmetric_options_t* symmetric) {
  if (symmetric != nullptr) {
    list.symmetric = *symmetric;
  } else if (by_host_) {
    core.store(list.symmetric.service + stretto_symmetric_control_offset() +
                   offsetof(stretto_shmem_control_t, run),
               kNoService);
  }
}

void ShmemPlan::place(const JobRequest& request, uint32_t server, uint32_t rank,
                      uint32_t work_groups, uint64_t data_bytes, uint64_t results_bytes,
                      MemoryPlan& layout, uint64_t arrays_bytes) {
  const uint32_t servers = request.spec.servers;
  const uint64_t words = STRETTO_SHMEM_SYNC_BYTES(work_groups);
  set_service(request);
  list.client = client_options(request, rank);
  list.memory = memory_plan(&list.client, 4096);
  stretto_symmetric_options_t& symmetric = list.symmetric;
  symmetric.by_host = by_host_;
  symmetric.threads = threads;
  symmetric.service = by_host_ ? host_memory(request) + kServiceOffset
                               : memory_plan_add(&list.memory, "network service",
                                                 stretto_symmetric_service_bytes(threads, servers),
                                                 STRETTO_ALLOCATION_UNCACHED);
  symmetric.queues = memory_plan_add(
      &list.memory, "command queues", uint64_t{work_groups} * STRETTO_SHMEM_QUEUE_BYTES,
      by_host_ ? STRETTO_ALLOCATION_UNCACHED : STRETTO_ALLOCATION_SHARED);
  if (has_host_entries(request)) symmetric.entries = host_memory(request) + kEntriesOffset;
  symmetric.queue_count = work_groups;
  symmetric.handle_flags = handle_flags(request);
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

server_parameters_t ShmemPlan::program(const char* kernel, uint32_t work_groups) const {
  return {.client = list.client,
          .memory = list.memory,
          .cluster = list.symmetric.cluster,
          .elf = list.elf,
          .elf_bytes = list.elf_bytes,
          .kernel = kernel,
          .work_groups = work_groups};
}

std::vector<HostCore::Program> ShmemPlan::service_programs(Host& host) {
  if (!by_host_) return {};
  host_ = &host;
  cores_.resize(threads);
  std::vector<HostCore::Program> programs;
  for (uint32_t thread = 0; thread < threads; ++thread)
    programs.push_back([this, thread](HostCore& core) {
      const uint64_t control = list.symmetric.service + stretto_symmetric_control_offset();
      if (core.wait_word(control + offsetof(stretto_shmem_control_t, run),
                         HostCore::Condition::not_equal, 0) == kNoService)
        return;
      ServiceCore service(service_core_, *image_);
      const int status = service.run(core, control, thread);
      cores_[thread] = service.counters();
      if (status != 0)
        throw CheckError(fmt::format(
            "{}: {}", core.basename(),
            service.output().empty() ? "the service refuses its table" : service.output()));
    });
  return programs;
}

stretto_shmem_counts_t ShmemPlan::counts(MemoryImage& memory) const {
  stretto_shmem_counts_t sum{};
  if (list.symmetric.queue_count == 0) return sum;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    const auto one = in_memory<stretto_shmem_counts_t>(by_host_ ? host_->memory() : memory,
                                                       list.symmetric.service +
                                                           stretto_symmetric_counts_offset() +
                                                           thread * sizeof(stretto_shmem_counts_t));
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
  uint64_t written = 0, left = 0;
  for (uint32_t queue = 0; queue < list.symmetric.queue_count; ++queue) {
    const uint64_t base = list.symmetric.queues + uint64_t{queue} * STRETTO_SHMEM_QUEUE_BYTES;
    written += in_memory<uint64_t>(memory, base + STRETTO_SHMEM_WRITTEN);
    left += in_memory<uint64_t>(memory, base + STRETTO_SHMEM_TAKEN) != 0 ? 1 : 0;
  }
  sink.equal("contexts that work-groups left without shmem_wg_ctx_destroy = 0", left, 0);
  if (left == 0)  // Which notes what was written.
    sink.equal("entries that work-groups wrote = taken by the network service", written, sum.taken);
  sink.equal("entries taken = ended by the network service", sum.taken, sum.ended);
  sink.equal("operations posted by the network service = completed", sum.posted, sum.completed);
  sink.equal("operations posted by the network service = begun by the NIC", sum.posted, begun);
  sink.equal("operations begun by the NIC = those that differ", begun, different);
}

}  // namespace stretto
