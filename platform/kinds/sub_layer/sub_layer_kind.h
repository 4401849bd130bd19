// SPDX-License-Identifier: Apache-2.0
// Workloads of kind sub_layer: one tensor-parallel sub-layer (T3-BASE-01). C = A * B on every GPU
// gives a partial M x N result; the ring reduces it into one chunk a GPU (rs) and gathers the
// chunks (ag). The host program is sw/apps/overlap/ring_gemm_rs.c, over the driver.
#ifndef STRETTO_PLATFORM_KINDS_SUB_LAYER_SUB_LAYER_KIND_H_
#define STRETTO_PLATFORM_KINDS_SUB_LAYER_SUB_LAYER_KIND_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/jobs/workload_kind.h"
#include "sw/apps/overlap/ring_gemm_rs.h"

namespace stretto {

class SubLayerKind final : public WorkloadKind {
 public:
  const KindInfo& info() const override;
  void describe(ParameterSet& set) override;
  std::string first_error() const override;
  std::string work(const std::string& mode) const override;
  std::map<std::string, uint64_t> shape() const override;
  void check(const JobRequest& request) const override;
  std::vector<std::string> claims(const JobRequest& request) const override;
  std::vector<std::string> kernel_files(const JobRequest& request) const override;
  std::unique_ptr<Job> make_job(const JobRequest& request, Memories memories) const override;

  uint32_t m = 0;              // Rows of the output: tokens.
  uint32_t n = 0;              // Columns of the output: hidden size.
  uint32_t k = 0;              // Of one GPU: the reduction dimension is cut TP ways.
  bool a_k_contiguous = true;  // A stored M x K; else K x M.
  bool b_k_contiguous = true;  // B stored N x K ("transposed"); else K x N.
  ElementType element = ElementType::fp16;
  bool follow_on = false;  // Dropout and residual behind the reduction.
  ring_gemm_tile_order_t tile_order = RING_GEMM_STRIPS;
};

class SubLayer final : public Job {
 public:
  // Reads the kernels; throws UserError. REQUIRES: the workload's check() has passed.
  SubLayer(const SubLayerKind& kind, const JobRequest& request, Memories memories);

  std::vector<Account> accounts() const override;
  std::vector<PhaseRule> phases() const override;
  // Operands, and in isolated collectives what the output holds at their start.
  void place_contents() override;
  // One program a simulated rank.
  void add_programs(Host& host, uint32_t) override;
  CheckReport check() const override;
  std::optional<MirrorMap> mirror() const override;
  std::optional<double> done_share(uint64_t retired) const override;
  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override;

  const ring_gemm_plan_t& plan(uint32_t rank) const { return plans_[rank]; }

 private:
  void place_stamps(uint32_t rank);
  void place_numbers(uint32_t rank);
  void place_output(uint32_t rank);
  void place_follow_on(uint32_t rank);
  // Numbers of the kind's element in rows of `columns`; value(row, column) gives their bits.
  template <class Value>
  void place(uint32_t rank, uint64_t address, uint64_t pitch, uint32_t rows, uint32_t columns,
             Value value);
  uint16_t random(uint32_t rank, uint32_t what, uint32_t i, uint32_t j) const;
  uint16_t mask_at(uint32_t row, uint32_t column) const;
  uint16_t residual_at(uint32_t row, uint32_t column) const;
  uint16_t output_value(uint32_t rank, uint32_t row, uint32_t column) const;
  uint32_t chunk_at(uint32_t row, uint32_t column) const;
  void run_rank(HostCore& core, uint32_t rank);

  const SubLayerKind& kind_;
  const uint32_t ranks_;
  const uint32_t stamp_limit_;
  const std::string mode_;
  const std::vector<uint8_t> gemm_elf_, ring_elf_;
  std::vector<ring_gemm_parameters_t> parameters_;  // By simulated rank.
  std::vector<ring_gemm_plan_t> plans_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_SUB_LAYER_SUB_LAYER_KIND_H_
