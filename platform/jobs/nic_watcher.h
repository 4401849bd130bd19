// SPDX-License-Identifier: Apache-2.0
// What a job adds that measures network interfaces.
#ifndef STRETTO_PLATFORM_JOBS_NIC_WATCHER_H_
#define STRETTO_PLATFORM_JOBS_NIC_WATCHER_H_

#include <cstdint>

#include "models/nic/nic_moment.h"

namespace stretto {

class NicWatcher {
 public:
  virtual ~NicWatcher() = default;
  // At the NIC of server `server`. May be called for several servers at the same time.
  virtual void on_nic(uint32_t server, const NicMoment& moment) = 0;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_NIC_WATCHER_H_
