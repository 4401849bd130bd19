// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/program/program_server.h"

#include <fmt/format.h>

#include "models/common/error.h"
#include "platform/jobs/host_runtime.h"

namespace stretto {

namespace {

tally_mode_t mode_of(ProgramServer server) {
  switch (server) {
    case ProgramServer::no_transformation: return TALLY_WHOLE_KERNELS;
    case ProgramServer::tally:
    case ProgramServer::tally_stock_isa: return TALLY_TRANSFORMED;
    case ProgramServer::tally_unmodified: return TALLY_UNMODIFIED;
    default: return TALLY_FORWARD;
  }
}

}  // namespace

ServerProgram::ServerProgram(const JobRequest& request, ProgramServer server,
                             const tally_policy_t& policy, uint32_t clients)
    : gpu_(share_gpu(request, clients)),
      parameters_(server_parameters(request, gpu_, mode_of(server),
                                    server == ProgramServer::tally_stock_isa, policy)) {
  parameters_.high_account = parameters_.best_effort_account = parameters_.own_account =
      program_accounts(request).back().number;
  parameters_.log = note_record;
  parameters_.log_context = &log_;
}

void ServerProgram::run(HostCore& core) {
  const stretto_host_ops_t ops = host_ops(core);
  char error[256] = "";
  const stretto_status_t status = tally_server_run(&parameters_, &ops, &result_, error);
  if (status != STRETTO_OK) throw_status(status, error);
}

}  // namespace stretto
