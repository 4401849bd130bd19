// SPDX-License-Identifier: Apache-2.0
// What the modes of kind tenants are: who schedules, and how.
#ifndef STRETTO_PLATFORM_KINDS_TENANTS_TENANT_MODES_H_
#define STRETTO_PLATFORM_KINDS_TENANTS_TENANT_MODES_H_

#include <cstdint>
#include <string>

#include "sw/include/formats/queue.h"
#include "sw/tally/server.h"

namespace stretto {

class TenantsKind;

struct TenantMode {
  const char* name;
  bool by_server;
  tally_mode_t how;
  bool stock_isa;
  uint32_t stream_priority;  // Of the first client, without a server.
  bool is_limited = false;   // Best effort has a rate (TGS).
  bool by_firmware = false;  // The command processor schedules.
  bool is_sliced = false;    // It gives the GPU to each client in turn.

  bool has_priorities() const { return stream_priority != 0; }
};

// REQUIRES: a mode of kind tenants.
const TenantMode& tenant_mode(const std::string& name);
// For messages.
std::string modes_with_priorities();

// How the GPU's scheduler serves kernels.
stretto_scheduler_policy_t scheduler_policy_of(const TenantsKind& kind, const TenantMode& mode);
// Whether that is another way than at boot.
bool sets_policy(const TenantsKind& kind, const TenantMode& mode);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_TENANTS_TENANT_MODES_H_
