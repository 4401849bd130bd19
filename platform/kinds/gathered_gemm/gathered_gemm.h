// SPDX-License-Identifier: Apache-2.0
// Workloads of kind gathered_gemm: a tensor-parallel GEMM whose input is all-gathered (T3-AGC).
// Every GPU holds a chunk of A's rows, gets the others' and multiplies all of A with its own B. The
// host program is sw/apps/gathered_gemm.c.
//
// Real data only: memory of rows that have not arrived holds NaN, so a work-group that begins too
// early is found out.
#ifndef STRETTO_PLATFORM_KINDS_GATHERED_GEMM_GATHERED_GEMM_H_
#define STRETTO_PLATFORM_KINDS_GATHERED_GEMM_GATHERED_GEMM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/common/memory_image.h"
#include "platform/jobs/job.h"
#include "platform/jobs/run_request.h"
#include "platform/jobs/workload.h"
#include "sw/apps/gathered_gemm.h"

namespace stretto {

class GatheredGemmKind final : public WorkloadKind {
 public:
  void describe(ParameterSet& set) override;
  std::string wrong() const override;
  const std::vector<std::pair<std::string, std::string>>& modes() const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const RunRequest& request) const override;
  std::vector<std::string> kernel_files(const RunRequest& request) const override;
  std::unique_ptr<Job> make_job(const RunRequest& request,
                                std::vector<MemoryImage*> memories) const override;

  uint32_t m = 0;              // Rows of the gathered input: tokens of all GPUs.
  uint32_t n = 0;              // Columns of one GPU's output.
  uint32_t k = 0;              // Columns of the input.
  bool b_k_contiguous = true;  // B stored N x K ("transposed"); else K x N.
};

class GatheredGemm final : public Job {
 public:
  // REQUIRES: the workload's check() has passed. `memories` outlive this.
  GatheredGemm(const RunRequest& request, std::vector<MemoryImage*> memories);

  void place_contents() override;
  void add_programs(Host& host) override;
  MirrorMap mirror() const override;
  CheckReport check() const override;
  // Laws: what was written lies where somebody may write, and the input is what the owners of its
  // rows had.
  void audit(uint32_t rank, AuditSink& sink) const override;
  Time ended() const override { return ended_; }
  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override;

 private:
  uint32_t owner_of(uint32_t row) const;
  uint16_t a_value(uint32_t row, uint32_t k) const;
  uint16_t b_value(uint32_t rank, uint32_t k, uint32_t column) const;
  uint64_t expected_word(uint32_t rank, uint64_t offset) const;

  const RunRequest& request_;
  const MachineSpec& spec_;
  const GatheredGemmKind& workload_;
  const uint32_t ranks_;
  std::vector<MemoryImage*> memories_;
  std::vector<uint8_t> gemm_elf_;
  std::vector<gathered_gemm_parameters_t> parameters_;  // By rank.
  std::vector<gathered_gemm_plan_t> plans_;
  Time ended_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_GATHERED_GEMM_GATHERED_GEMM_H_
