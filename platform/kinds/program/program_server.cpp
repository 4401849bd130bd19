// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/program/program_server.h"

#include <fmt/format.h>

#include "models/common/error.h"
#include "platform/jobs/host_runtime.h"
#include "platform/jobs/operands.h"

namespace stretto {

namespace {

constexpr uint64_t kUnit = uint64_t{1} << 20;  // Of memory.

// The server's own: its driver's arguments, and control blocks.
uint64_t own_bytes(const MachineSpec& spec, bool stock_isa) {
  const uint64_t blocks = TALLY_CONTROL_BLOCKS *
                          tally_control_bytes(stock_isa, spec.gpu.cus * spec.gpu.workgroup_slots);
  return (blocks + STRETTO_ARGUMENT_BUFFER_BYTES) / kUnit * kUnit + 2 * kUnit;
}

tally_mode_t mode_of(ProgramServer server) {
  switch (server) {
    case ProgramServer::no_transformation: return TALLY_WHOLE_KERNELS;
    case ProgramServer::tally:
    case ProgramServer::tally_stock_isa: return TALLY_TRANSFORMED;
    case ProgramServer::tally_firmware: return TALLY_UNMODIFIED;
    default: return TALLY_FORWARD;
  }
}

}  // namespace

ServerProgram::ServerProgram(const JobRequest& request, ProgramServer server, uint32_t clients) {
  const JobShare& share = request.share;
  if (clients + 1 > share.queue_count || clients > TALLY_CLIENTS)
    throw UserError(
        fmt::format("program.clients: {} clients and the server need {} queues; the "
                    "job has {}",
                    clients, clients + 1, share.queue_count));
  parameters_.stock_isa = server == ProgramServer::tally_stock_isa;
  const uint64_t bytes = share.memory_end - share.memory_begin;
  const uint64_t own = own_bytes(request.spec, parameters_.stock_isa != 0);
  const uint64_t each = bytes < own ? 0 : (bytes - own) / clients / kUnit * kUnit;
  if (each == 0)
    throw UserError(
        fmt::format("program.clients: {} bytes of device memory are not enough for {} "
                    "clients",
                    bytes, clients));
  const std::vector<Account> accounts = program_accounts(request);
  parameters_.mode = mode_of(server);
  parameters_.policy = tally_policy_defaults();
  // The ablation of the authors' code waits for no idle time (TL-ABL-02).
  if (parameters_.mode == TALLY_WHOLE_KERNELS)
    parameters_.policy.min_idle_before_best_effort_ns = 0;
  parameters_.job = share.number;
  parameters_.clients = clients;
  parameters_.own = client_options(request, 0);
  parameters_.own.memory_end = share.memory_begin + own;
  for (uint32_t i = 0; i < clients; ++i) {
    stretto_client_options_t& one = parameters_.client[i];
    one = client_options(request, 0);
    one.first_queue = share.first_queue + 1 + i;
    one.memory_begin = parameters_.own.memory_end + i * each;
    one.memory_end = one.memory_begin + each;
  }
  parameters_.units = request.spec.gpu.cus;
  parameters_.unit_workgroups = request.spec.gpu.workgroup_slots;
  parameters_.high_account = parameters_.best_effort_account = accounts.back().number;
  parameters_.own_account = accounts.back().number;
  parameters_.log = note;
  parameters_.log_context = this;
}

void ServerProgram::note(void* context, const tally_record_t* record) {
  if (record->kind != TALLY_REFUSED) return;
  static_cast<ServerProgram*>(context)->refused_.push_back(
      fmt::format("{}: {}", record->kernel, record->text));
}

void ServerProgram::run(HostCore& core) {
  const stretto_host_ops_t ops = host_ops(core);
  char error[256] = "";
  const stretto_status_t status = tally_server_run(&parameters_, &ops, &result_, error);
  if (status != STRETTO_OK) throw_status(status, error);
}

}  // namespace stretto
