// SPDX-License-Identifier: Apache-2.0
// A tensor-parallel sub-layer on the machine: what lies in memory before time 0, the host program
// of each rank, and what must be there at the end. The program itself is sw/apps/ring_gemm_rs.c,
// over the driver.
#ifndef STRETTO_PLATFORM_SUB_LAYER_H_
#define STRETTO_PLATFORM_SUB_LAYER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/common/memory_image.h"
#include "models/fabric/chunk_mirror.h"
#include "models/host/host.h"
#include "platform/check.h"
#include "platform/machine_spec.h"
#include "platform/system.h"
#include "sw/apps/ring_gemm_rs.h"

namespace stretto {

// The file of software.gemm or software.ring: of a shipped kernel, or the name itself if it has a
// slash.
std::string kernel_path(const std::string& name);

// Throws UserError, with the limit, if the workload is too large for the machine or cannot be
// mirrored. Reads no file.
void check_fits(const SystemRequest& request);

// Throws UserError naming the file if a kernel ELF that the mode needs would not load.
void check_kernels(const SystemRequest& request);

class SubLayer {
 public:
  // Reads the kernels; throws UserError. REQUIRES: check_fits() has passed. `memories` by simulated
  // GPU; they outlive this.
  SubLayer(const SystemRequest& request, std::vector<MemoryImage*> memories);

  // Operands, and in isolated collectives what the output holds at their start.
  void place_contents();
  // One program a simulated rank; throws from the run: UserError if the driver refuses, CheckError
  // if the machine fails.
  void add_programs(Host& host);
  CheckReport check() const;
  // Law: what was written lies where somebody may write. Operands and memory that nobody was given
  // stay as they were.
  void audit(uint32_t rank, AuditSink& sink) const;

  // For a mirrored machine: how its own packets come back to it.
  MirrorMap mirror() const;
  const ring_gemm_plan_t& plan(uint32_t rank) const { return plans_[rank]; }
  const std::vector<ring_gemm_result_t>& results() const { return results_; }
  // When the last program ended.
  Time ended() const { return ended_; }
  std::vector<std::pair<std::string, std::string>> kernel_sha256() const;

 private:
  void place_stamps(uint32_t rank);
  void place_numbers(uint32_t rank);
  void place_output(uint32_t rank);
  uint16_t output_value(uint32_t rank, uint32_t row, uint32_t column) const;
  uint32_t chunk_at(uint32_t row, uint32_t column) const;
  uint16_t operand_at(uint32_t rank, uint64_t offset) const;
  uint64_t changed_words(uint32_t rank, uint64_t begin, uint64_t end, const uint8_t* bytes) const;
  void run_rank(HostCore& core, uint32_t rank);

  const SystemRequest& request_;
  const MachineSpec& spec_;
  const Workload& workload_;
  const uint32_t ranks_;
  const uint32_t stamp_limit_;
  const std::string mode_;
  std::vector<MemoryImage*> memories_;
  std::vector<uint8_t> gemm_elf_;
  std::vector<uint8_t> ring_elf_;
  std::vector<ring_gemm_parameters_t> parameters_;  // By simulated rank.
  std::vector<ring_gemm_plan_t> plans_;
  std::vector<ring_gemm_result_t> results_;
  Time ended_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_SUB_LAYER_H_
