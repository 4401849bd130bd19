// SPDX-License-Identifier: Apache-2.0
// A job that runs kernels of several clients and knows whose is which.
#ifndef STRETTO_PLATFORM_JOBS_CODE_OWNER_H_
#define STRETTO_PLATFORM_JOBS_CODE_OWNER_H_

#include <cstdint>
#include <string>

namespace stretto {

class CodeOwner {
 public:
  virtual ~CodeOwner() = default;
  // A kernel has faulted at `offset` in the memory of GPU `gpu`, which ends the run. Whose it is, "client 1 (b.so)", of
  // which results say so, too; "" if the job has no such client.
  virtual std::string faulted(uint32_t gpu, uint64_t offset) = 0;
  // "client1" whose code lies there, for timelines; "" if the job has no such client, or one alone.
  virtual std::string client_at(uint32_t gpu, uint64_t offset) const = 0;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_CODE_OWNER_H_
