// SPDX-License-Identifier: Apache-2.0
#include "platform/jobs/host_runtime.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <thread>

#include "models/common/error.h"
#include "platform/base/stop_request.h"
#include "platform/jobs/operands.h"
#include "platform/jobs/workload_kind.h"
#include "sw/include/tile.h"

namespace stretto {

namespace {

const Account kInit{STRETTO_ACCOUNT_JOB, "init"}, kReduce{STRETTO_ACCOUNT_JOB + 1, "reduce"},
    kMove{STRETTO_ACCOUNT_JOB + 2, "move"}, kKernels{STRETTO_ACCOUNT_JOB + 3, "kernels"};

struct Owned {
  stretto_runtime_t* runtime = nullptr;
  std::thread::id thread;
};

sc_core::sc_event& never() {
  static sc_core::sc_event event;
  return event;
}

// By the process of the host program.
std::map<const void*, Owned>& runtimes() {
  static std::map<const void*, Owned> all;
  return all;
}

const void* current_process() {
  return sc_core::sc_get_current_process_handle().get_process_object();
}

// None for a thread that a program made by itself: it is no thread of the modelled host.
stretto_runtime_t* current_runtime() {
  const auto found = runtimes().find(current_process());
  if (found == runtimes().end() || found->second.thread != std::this_thread::get_id())
    return nullptr;
  // A program may call without end while no time passes.
  if (stop_request.requested) abandon_host_program();
  return found->second.runtime;
}

}  // namespace

void abandon_host_program() {
  for (;;) sc_core::wait(never());
}

// What a link carries a hop by protocol ll at most. A hop of simple waits for the answer of the data
// store before its flag leaves, and for a poll of the flag before it loads; ll spends 8 bytes of 64.
uint32_t lines_bytes(const MachineSpec& spec) {
  switch (spec.software.protocol) {
    case CollectiveProtocol::simple: return 0;
    case CollectiveProtocol::ll: return std::numeric_limits<uint32_t>::max();
    default: break;
  }
  if (spec.software.ll_bytes != 0) return spec.software.ll_bytes;
  const uint64_t round_trip = spec.l2.request_cycles + spec.l2.response_cycles;
  const uint64_t saved_cycles = 2 * round_trip + spec.l2.memory_cycles;
  uint64_t mb_s = spec.has_gpu_links() ? spec.link.bandwidth_mb_s : spec.pcie.bandwidth_mb_s;
  if (spec.has_nodes()) mb_s = std::min<uint64_t>(mb_s, spec.link_between_nodes.bandwidth_mb_s);
  return static_cast<uint32_t>(
      std::min<uint64_t>(saved_cycles * mb_s / spec.gpu.clock_mhz * TILE_LINE_DATA /
                             (TILE_LINE_BYTES - TILE_LINE_DATA),
                         std::numeric_limits<uint32_t>::max()));
}

stretto_runtime_options_t runtime_options(const JobRequest& request, const std::string& engine,
                                          bool all_pairs, const std::vector<uint8_t>& kernels) {
  const MachineSpec& spec = request.spec;
  const SoftwareSpec& software = spec.software;
  stretto_runtime_options_t options{};
  options.gpus = spec.gpus;
  options.devices = request.ranks();
  for (uint32_t rank = 0; rank < request.ranks(); ++rank)
    options.device_gpu[rank] = static_cast<uint8_t>(request.share.gpus[rank]);
  options.job = request.share.number;
  options.client = client_options(request, 0);
  options.client.queue_count = request.share.queue_count;
  options.engine = engine == "gdma"  ? STRETTO_ENGINE_GDMA
                   : engine == "dma" ? STRETTO_ENGINE_DMA
                   : engine == "t3"  ? STRETTO_ENGINE_T3
                                     : STRETTO_ENGINE_MMIO;
  const bool ring = !spec.are_all_linked();
  bool direct = software.algorithm == CollectiveAlgorithm::direct;
  if (software.algorithm == CollectiveAlgorithm::automatic)
    direct = all_pairs && !ring && options.engine != STRETTO_ENGINE_T3;
  if (direct && ring)
    throw UserError(
        "software.algorithm=direct needs links between all pairs of GPUs; topology=ring "
        "has links between neighbours");
  options.neighbours = ring;
  options.links = direct ? STRETTO_LINKS_DIRECT : STRETTO_LINKS_RING;
  if (options.engine == STRETTO_ENGINE_MMIO)
    options.lines_bytes = lines_bytes(spec);
  else if (software.protocol == CollectiveProtocol::ll)
    throw UserError("software.protocol=ll needs engine mmio; this is " + engine);
  options.channels = software.channels;
  options.channel_bytes = software.channel_bytes;
  options.channel_ns = software.channel_ns;
  options.slots = software.fifo_slots;
  options.slot_bytes = software.slot_bytes;
  options.copy_registers_bytes = software.copy_registers_bytes;
  if (options.engine == STRETTO_ENGINE_MMIO &&
      software.copy_registers_bytes > spec.gpu.registers_bytes)
    throw UserError(
        fmt::format("software.copy_registers_bytes ({}) does not fit into "
                    "gpu.registers_bytes ({})",
                    software.copy_registers_bytes, spec.gpu.registers_bytes));
  // One of four jobs has three accounts.
  options.accounts = {kInit.number, kReduce.number, kMove.number,
                      request.share.accounts > 3 ? kKernels.number : kReduce.number};
  options.kernels = kernels.data();
  options.kernel_bytes = kernels.size();
  return options;
}

std::vector<Account> runtime_accounts() { return {kReduce, kMove, kInit}; }

std::vector<Account> program_accounts(const JobRequest& request) {
  std::vector<Account> all = runtime_accounts();
  if (request.share.accounts > 3) all.push_back(kKernels);
  return all;
}

std::vector<PhaseRule> runtime_phases() {
  return {preparation_of(kInit), work_of(kReduce), work_of(kMove)};
}

std::vector<PhaseRule> program_phases(const JobRequest& request) {
  std::vector<PhaseRule> all = runtime_phases();
  if (request.share.accounts > 3) all.push_back(work_of(kKernels));
  return all;
}

std::vector<std::string> runtime_claims(const std::string& engine) {
  if (engine == "t3") return {kTracker};
  if (engine == "gdma") return {kRequestRing};
  return {};
}

HostRuntime::HostRuntime(HostCore& core, stretto_runtime_options_t options)
    : process_(current_process()) {
  never();  // It cannot be made in a handler of signals.
  options.ops = host_ops(core);
  runtime_ = stretto_runtime_create(&options);
  stretto_runtime_set_lookup(current_runtime);
  runtimes()[process_] = {runtime_, std::this_thread::get_id()};
}

HostRuntime::~HostRuntime() {
  runtimes().erase(process_);
  stretto_runtime_destroy(runtime_);
}

std::string HostRuntime::last_error() const { return stretto_runtime_last_error(runtime_); }

}  // namespace stretto
