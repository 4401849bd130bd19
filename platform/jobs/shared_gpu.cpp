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

std::optional<size_t> client_at(const SharedGpu& shared, uint32_t gpu, uint64_t offset) {
  for (size_t i = 0; i < shared.clients.size(); ++i) {
    const stretto_client_options_t& one = shared.clients[i];
    if (gpu == one.gpu && offset >= one.memory_begin && offset < one.memory_end) return i;
  }
  return std::nullopt;
}

uint64_t bytes_for_clients(const JobRequest& request) {
  const uint64_t begin = up(request.share.memory_begin), end = request.share.memory_end;
  const uint64_t server = server_bytes(request.spec);
  return end < begin + server ? 0 : (end - begin - server) / kUnit * kUnit;
}

SharedGpu share_gpu(const JobRequest& request, uint32_t clients) {
  return share_gpu(request, std::vector<uint64_t>(
                                clients, bytes_for_clients(request) / clients / kUnit * kUnit));
}

SharedGpu share_gpu(const JobRequest& request, const std::vector<uint64_t>& bytes) {
  const JobShare& share = request.share;
  const auto clients = static_cast<uint32_t>(bytes.size());
  if (clients > TALLY_CLIENTS || clients + 1 > share.queue_count)
    throw UserError(
        fmt::format("{}: {} clients and their server need {} queues of the GPU; the job has {}",
                    request.subject(), clients, clients + 1, share.queue_count));
  uint64_t needed = 0;
  for (const uint64_t one : bytes) needed += up(one);
  const uint64_t begin = up(share.memory_begin), all = bytes_for_clients(request);
  if (*std::min_element(bytes.begin(), bytes.end()) == 0 || needed > all)
    throw UserError(fmt::format(
        "{}: {} bytes of the GPU's memory are too few for {} clients and the {} of their server",
        request.subject(), share.memory_end - std::min(begin, share.memory_end), clients,
        server_bytes(request.spec)));
  SharedGpu gpu;
  gpu.clients.assign(clients, client_options(request, 0));
  gpu.server = client_options(request, 0);
  gpu.server.first_queue = share.first_queue + clients;
  gpu.server.memory_begin = begin + all;
  gpu.server.memory_end = gpu.server.memory_begin + server_bytes(request.spec);
  uint64_t end = gpu.server.memory_begin;
  for (uint32_t i = clients; i-- > 0;) {
    gpu.clients[i].first_queue = share.first_queue + i;
    gpu.clients[i].memory_end = end;
    end = i == 0 ? begin : end - up(bytes[i]);
    gpu.clients[i].memory_begin = end;
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
