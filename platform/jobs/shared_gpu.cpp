// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/shared_gpu.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/common/error.h"
#include "platform/jobs/operands.h"

namespace stretto {

namespace {

constexpr uint64_t kUnit = uint64_t{1} << 20;  // Of memory.

uint64_t up(uint64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

// Control blocks with mail, as the stock instruction set needs them.
uint64_t server_bytes(const MachineSpec& spec) {
  const uint64_t block = tally_control_bytes(1, spec.gpu.cus * spec.gpu.workgroup_slots);
  return up(STRETTO_ARGUMENT_BUFFER_BYTES + TALLY_CONTROL_BLOCKS * block);
}

}  // namespace

SharedGpu share_gpu(const JobRequest& request, uint32_t clients) {
  const JobShare& share = request.share;
  if (clients > TALLY_CLIENTS || clients + 1 > share.queue_count)
    throw UserError(
        fmt::format("{}: {} clients and their server need {} queues of the GPU; the job has {}",
                    request.subject(), clients, clients + 1, share.queue_count));
  const uint64_t begin = up(share.memory_begin), server = server_bytes(request.spec);
  const uint64_t all = share.memory_end - std::min(begin, share.memory_end);
  const uint64_t each = all < server ? 0 : (all - server) / clients / kUnit * kUnit;
  if (each == 0)
    throw UserError(fmt::format(
        "{}: {} bytes of the GPU's memory are too few for {} clients and the {} of their server",
        request.subject(), all, clients, server));
  SharedGpu gpu;
  gpu.server = client_options(request, 0);
  gpu.server.first_queue = share.first_queue + clients;
  gpu.server.memory_begin = begin + clients * each;
  gpu.server.memory_end = gpu.server.memory_begin + server;
  for (uint32_t i = 0; i < clients; ++i) {
    stretto_client_options_t& one = gpu.clients.emplace_back(client_options(request, 0));
    one.first_queue = share.first_queue + i;
    one.memory_begin = begin + i * each;
    one.memory_end = one.memory_begin + each;
  }
  return gpu;
}

tally_server_parameters_t server_parameters(const JobRequest& request, const SharedGpu& gpu,
                                            tally_mode_t mode, bool stock_isa,
                                            const tally_policy_t& policy) {
  tally_server_parameters_t p{};
  p.mode = mode;
  p.policy = policy;
  if (mode == TALLY_WHOLE_KERNELS) p.policy.min_idle_before_best_effort_ns = 0;
  p.stock_isa = stock_isa;
  p.job = request.share.number;
  p.clients = static_cast<uint32_t>(gpu.clients.size());
  std::copy(gpu.clients.begin(), gpu.clients.end(), p.client);
  p.own = gpu.server;
  p.units = request.spec.gpu.cus;
  p.unit_workgroups = request.spec.gpu.workgroup_slots;
  return p;
}

}  // namespace stretto
