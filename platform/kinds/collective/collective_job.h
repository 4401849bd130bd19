// SPDX-License-Identifier: Apache-2.0
// Workloads of kind collective: one collective over a range of sizes, out of place and in place, as
// nccl-tests does it; the mode is the engine that moves the data. One host program a rank, over nccl.h
// (sw/collectives). Prints the table of nccl-tests.
//
// Every size has buffers of its own, so that all of them can be compared with the reference after the
// run: a source and a target, and one buffer for each call in place (which changes its source).
#ifndef STRETTO_PLATFORM_KINDS_COLLECTIVE_COLLECTIVE_JOB_H_
#define STRETTO_PLATFORM_KINDS_COLLECTIVE_COLLECTIVE_JOB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/common/memory_image.h"
#include "platform/jobs/host_runtime.h"
#include "platform/jobs/job.h"
#include "platform/jobs/run_request.h"
#include "platform/jobs/workload.h"
#include "platform/kinds/collective/collective_data.h"

namespace stretto {

enum class CollectivePlace : uint8_t { both, out, in };

class CollectiveKind final : public WorkloadKind {
 public:
  void describe(ParameterSet& set) override;
  std::string wrong() const override;
  const std::vector<std::pair<std::string, std::string>>& modes() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const RunRequest& request) const override;
  std::vector<std::string> kernel_files(const RunRequest& request) const override;
  std::unique_ptr<Job> make_job(const RunRequest& request,
                                std::vector<MemoryImage*> memories) const override;

  // Counts of the calls, from `counts` or from the sizes. REQUIRES: wrong() is empty.
  std::vector<uint64_t> calls(uint32_t ranks) const;
  // What nccl-tests calls the size of a count.
  uint64_t size_of(uint64_t count, uint32_t ranks) const;

  CollectiveOp op = CollectiveOp::all_reduce;
  uint64_t min_bytes = 8;
  uint64_t max_bytes = uint64_t{64} << 20;
  uint32_t factor = 2;
  std::string counts;  // Instead of sizes.
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t reduction = ncclSum;
  uint32_t root = 0;
  CollectivePlace place = CollectivePlace::both;
  uint32_t warm_up = 1;
  uint32_t iterations = 4;
  uint64_t once_from_bytes = uint64_t{1} << 20;
  uint32_t large_factor = 0;
};

class CollectiveJob final : public Job {
 public:
  CollectiveJob(const RunRequest& request, std::vector<MemoryImage*> memories);

  void place_contents() override;
  void add_programs(Host& host) override;
  MirrorMap mirror() const override;
  CheckReport check() const override;
  void audit(uint32_t rank, AuditSink& sink) const override;
  Time ended() const override { return ended_; }
  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override;
  std::string table() const override;
  boost::json::object details() const override;
  std::vector<std::string> waiting_on() const override;
  void set_meter(std::function<uint64_t()> link_bytes) override { meter_ = std::move(link_bytes); }

  // One buffer of every rank.
  struct Buffer {
    unsigned size;  // Index of its row.
    BufferRole role;
    uint64_t offset;  // In the arena.
    uint64_t bytes;
  };
  // Calls of one size in one place.
  struct Measurement {
    bool done = false;
    uint64_t begin_ns = 0, end_ns = 0;  // Latest of the ranks.
    uint64_t wire_bytes = 0;            // Over all GPU links.
    uint32_t calls = 0;
    double microseconds() const { return static_cast<double>(end_ns - begin_ns) / 1000 / calls; }
  };
  struct Row {
    CollectiveData data;
    uint64_t bytes;  // As nccl-tests counts them.
    uint64_t count;
    uint32_t warm_up, iterations;
    std::vector<unsigned> buffers;  // Source, target, then one a call in place.
    Measurement measured[2];        // Out of place, in place.
  };

 private:
  void add_row(uint64_t count);
  unsigned add_buffer(BufferRole role);
  void run_rank(HostCore& core, uint32_t rank);
  void measure(HostCore& core, const HostRuntime& runtime, uint32_t rank, Row& row, unsigned place);
  ncclResult_t call(const Row& row, unsigned place, uint32_t index, uint32_t rank) const;
  uint64_t wrong(const Buffer& buffer, CheckReport& report) const;
  uint64_t wrong_of_rank(const Buffer& buffer, uint32_t rank, uint64_t begin, uint64_t end,
                         const std::vector<uint8_t>& expected, CheckReport& report) const;
  void expected_bytes(uint32_t rank, uint64_t begin, uint64_t end, uint8_t* bytes,
                      uint8_t* compared) const;
  double bus_factor() const;
  double average_bus_bandwidth() const;

  const MachineSpec& spec_;
  const CollectiveKind& workload_;
  const std::string mode_;
  const uint32_t ranks_;
  const uint64_t seed_;
  std::vector<MemoryImage*> memories_;
  const std::vector<uint8_t> kernels_;
  stretto_runtime_options_t options_;
  uint64_t arena_ = 0;  // Offset in each GPU's memory.
  uint64_t arena_bytes_ = 0;
  std::vector<Buffer> buffers_;  // In rising order of offset.
  std::vector<Row> rows_;
  struct Verdict {
    uint64_t wrong[2] = {};
  };
  mutable std::vector<Verdict> verdicts_;  // By row; written by check().
  // By rank.
  Meeting meeting_;
  std::vector<ncclComm_t> comms_;
  std::vector<cudaStream_t> streams_;
  std::vector<const HostRuntime*> runtimes_;
  ncclUniqueId id_{};
  std::function<uint64_t()> meter_;
  Time ended_ = 0;
};

// The table of nccl-tests, of what details() gives.
std::string collective_table(const boost::json::object& details);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_COLLECTIVE_COLLECTIVE_JOB_H_
