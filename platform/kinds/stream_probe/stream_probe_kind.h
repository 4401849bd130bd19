// SPDX-License-Identifier: Apache-2.0
// Workloads of kind stream_probe: what a GPU streams, as a thread an element does it, by operation
// and by threads in flight; to its own memory, a peer's, or, by the DMA engine, the host's. Of two
// GPUs both may do it at once.
#ifndef STRETTO_PLATFORM_KINDS_STREAM_PROBE_STREAM_PROBE_KIND_H_
#define STRETTO_PLATFORM_KINDS_STREAM_PROBE_STREAM_PROBE_KIND_H_

#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"

namespace stretto {

enum class StreamTarget { local, peer, host };

class StreamProbeKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  uint64_t bytes = 64 << 20;   // Of each array.
  uint32_t piece_bytes = 256;  // Of a wavefront: 32 lanes of 8 B.
  uint32_t wavefronts = 64;    // Of a compute unit.
  uint32_t copies = 4;         // Of the DMA engine, in a row.
  StreamTarget target = StreamTarget::local;
  bool both = false;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_STREAM_PROBE_STREAM_PROBE_KIND_H_
