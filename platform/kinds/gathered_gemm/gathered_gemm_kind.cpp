// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/gathered_gemm/gathered_gemm_kind.h"

#include <algorithm>
#include <cassert>

#include "models/common/error.h"
#include "platform/jobs/operands.h"
#include "sw/apps/overlap/gathered_gemm.h"
#include "sw/include/regs/mca_regs.h"

namespace stretto {

namespace {

constexpr uint16_t kNotThere = 0x7E00;  // NaN: what rows hold that have not arrived.

const Account kInit{GATHERED_GEMM_ACCOUNT_INIT, "init"}, kGemm{GATHERED_GEMM_ACCOUNT_GEMM, "gemm"},
    kAllGather{GATHERED_GEMM_ACCOUNT_AG, "ag"};

// All but the kernel.
gathered_gemm_parameters_t parameters_of(const GatheredGemmKind& kind, const JobRequest& request,
                                         uint32_t rank) {
  const MachineSpec& spec = request.spec;
  gathered_gemm_parameters_t p{};
  p.mode = request.mode == gathered_gemm_mode_name(GATHERED_GEMM_AGC) ? GATHERED_GEMM_AGC
                                                                      : GATHERED_GEMM_SEQUENTIAL;
  p.rank = rank;
  p.ranks = request.ranks();
  p.m = kind.gemm.m;
  p.n = kind.gemm.n;
  p.k = kind.gemm.k;
  p.b_k_contiguous = kind.gemm.b_k_contiguous;
  p.tile_m = spec.software.tile_m;
  p.tracker_ways = spec.software.tracker_ways;
  p.arbiter = arbiter_parameters(spec.software, MCA_CONTROL_POLICY_ROUND_ROBIN);
  if (p.arbiter.policy == MCA_CONTROL_POLICY_ROUND_ROBIN)
    p.arbiter.starve_limit = 0;  // Nobody starves.
  p.job = host_job(request);
  p.client = client_options(request, rank);
  return p;
}

void check_fits(const GatheredGemmKind& kind, const JobRequest& request) {
  refuse_split_k(request);
  const std::string who = request.subject() + ": does not fit: it ";
  gathered_gemm_parameters_t p = parameters_of(kind, request, 0);
  const uint64_t tiles_m = kind.gemm.tiles_m(p.tile_m), tiles_n = kind.gemm.tiles_n();
  const uint64_t input_tiles = (uint64_t{p.m} + 15) / 16 * ((uint64_t{p.k} + 255) / 256);
  check_even_rows(who, kind.gemm, p.tile_m, p.ranks);
  if (p.mode == GATHERED_GEMM_AGC && tiles_m > STRETTO_GATES) {
    throw UserError(who + "needs " + std::to_string(tiles_m) + " gates, one a row block of " +
                    std::to_string(p.tile_m) + ", and a GPU has " + std::to_string(STRETTO_GATES) +
                    "; make m smaller, or software.tile_m=256");
  }
  if (tiles_m * tiles_n > 65536 || input_tiles > 65536) {
    throw UserError(who + "has " + std::to_string(tiles_m * tiles_n) + " output tiles and " +
                    std::to_string(input_tiles) +
                    " input tiles of 16 x 256, ids go up to 65536; make m, n or k smaller");
  }
  p.client.memory_end = UINT64_MAX;
  gathered_gemm_plan_t plan;
  const stretto_status_t status = gathered_gemm_plan(&p, &plan);
  if (status != STRETTO_OK) throw UserError(who + "fails: " + stretto_status_text(status));
  check_memory(request, plan.memory, kModuleBytes, "gathered_gemm.m, n or k");
}

class GatheredGemm final : public Job {
 public:
  GatheredGemm(const GatheredGemmKind& kind, const JobRequest& request, Memories memories);

  std::vector<Account> accounts() const override;
  std::vector<PhaseRule> phases() const override;
  void place_contents() override;
  void add_programs(Host& host, uint32_t) override;
  CheckReport check() const override;
  // Law: the input is what the owners of its rows had.
  void audit(uint32_t rank, AuditSink& sink) const override;
  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override;

 private:
  uint32_t owner_of(uint32_t row) const;
  uint16_t a_value(uint32_t row, uint32_t k) const;
  uint16_t b_value(uint32_t rank, uint32_t k, uint32_t column) const;

  const GatheredGemmKind& kind_;
  const uint32_t ranks_;
  const std::vector<uint8_t> gemm_elf_;
  std::vector<gathered_gemm_parameters_t> parameters_;  // By rank.
  std::vector<gathered_gemm_plan_t> plans_;
};

GatheredGemm::GatheredGemm(const GatheredGemmKind& kind, const JobRequest& request,
                           Memories memories)
    : Job(request, std::move(memories)),
      kind_(kind),
      ranks_(request.ranks()),
      gemm_elf_(kernel_file(spec_.software.gemm)) {
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    gathered_gemm_parameters_t& p = parameters_.emplace_back(parameters_of(kind, request, rank));
    p.gemm_elf = gemm_elf_.data();
    p.gemm_elf_bytes = gemm_elf_.size();
    [[maybe_unused]] const stretto_status_t status = gathered_gemm_plan(&p, &plans_.emplace_back());
    assert(status == STRETTO_OK && "checked");
    layouts_[rank].add(plans_.back().memory, kModuleBytes);
  }
}

std::vector<Account> GatheredGemm::accounts() const { return {kGemm, kAllGather, kInit}; }

std::vector<PhaseRule> GatheredGemm::phases() const {
  return {preparation_of(kInit), kernels_of(kGemm), work_of(kAllGather)};
}

uint32_t GatheredGemm::owner_of(uint32_t row) const {
  const uint32_t row_blocks = plans_[0].tiles_m / ranks_;
  return row / spec_.software.tile_m / row_blocks;
}

uint16_t GatheredGemm::a_value(uint32_t row, uint32_t k) const {
  return random_fp16(request_.seed, owner_of(row), kA, row, k);
}

uint16_t GatheredGemm::b_value(uint32_t rank, uint32_t k, uint32_t column) const {
  return random_fp16(request_.seed, rank, kB, column, k);
}

void GatheredGemm::place_contents() {
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    const gathered_gemm_plan_t& plan = plans_[rank];
    place_operands(
        *memories_[rank], kind_.gemm,
        {plan.a, plan.a_bytes, plan.lda, plan.b, plan.b_bytes, plan.ldb},
        [this, rank](uint32_t row, uint32_t k) {
          return owner_of(row) == rank ? a_value(row, k) : kNotThere;
        },
        [this, rank](uint32_t k, uint32_t column) { return b_value(rank, k, column); });
  }
}

void GatheredGemm::add_programs(Host& host, uint32_t) {
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    add_rank(host, rank, [this, rank](HostCore& core) {
      run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
        return gathered_gemm_run(&parameters_[rank], ops, error);
      });
    });
  }
}

CheckReport GatheredGemm::check() const {
  CheckTask task = product_task(kind_.gemm, ranks_, spec_.software.tile_m);
  task.read = [this](uint32_t rank, uint32_t row, uint32_t column, uint32_t count, uint16_t* bits) {
    const uint64_t address =
        offset_of(plans_[rank].c) + uint64_t{row} * plans_[rank].ldc + 2 * uint64_t{column};
    memories_[rank]->read(address, reinterpret_cast<uint8_t*>(bits), 2 * uint64_t{count});
  };
  task.a = [this](uint32_t, uint32_t row, uint32_t k) { return a_value(row, k); };
  task.b = [this](uint32_t rank, uint32_t k, uint32_t column) { return b_value(rank, k, column); };
  return check_output(task);
}

void GatheredGemm::audit(uint32_t rank, AuditSink& sink) const {
  const gathered_gemm_plan_t& plan = plans_[rank];
  const uint64_t begin = offset_of(plan.a), end = begin + plan.a_bytes;
  uint64_t wrong = 0;
  memories_[rank]->for_each_written_page([&](uint64_t page, const uint8_t* bytes) {
    for (uint64_t at = std::max(page, begin); at < std::min(page + MemoryImage::kPageBytes, end);
         at += 2) {
      const uint32_t row = static_cast<uint32_t>((at - begin) / plan.lda);
      const uint32_t k = static_cast<uint32_t>((at - begin) % plan.lda / 2);
      uint16_t is = 0;
      std::memcpy(&is, bytes + (at - page), 2);
      wrong += is != (k < kind_.gemm.k ? a_value(row, k) : 0);
    }
  });
  sink.equal("elements of gathered input not as their owner has them = 0", wrong, 0);
}

std::vector<std::pair<std::string, std::string>> GatheredGemm::kernel_sha256() const {
  return {{spec_.software.gemm, sha256_hex(gemm_elf_.data(), gemm_elf_.size())}};
}

}  // namespace

void GatheredGemmKind::describe(ParameterSet& set) {
  gemm.describe(set, "Rows of the gathered input.", "Columns of one GPU's output.",
                "Columns of the input.");
}

std::string GatheredGemmKind::first_error() const { return gemm.first_error(); }

const KindInfo& GatheredGemmKind::info() const {
  static const KindInfo info{
      .name = "gathered_gemm",
      .sentence = "A GEMM whose input is all-gathered.",
      .accounts = 3,
      .modes = {{"sequential", "all-gather of the input by the DMA engines, then the GEMM"},
                {"t3-agc",
                 "the same transfers; the Tracker's scheduling events start the GEMM's work-groups "
                 "as the "
                 "rows they read arrive"}},
      .data = {DataMode::real},
      .programs_arbiters = true};
  return info;
}

std::map<std::string, uint64_t> GatheredGemmKind::shape() const { return gemm.sizes(); }

void GatheredGemmKind::check(const JobRequest& request) const {
  const MachineSpec& spec = request.spec;
  if (!spec.are_all_linked()) {
    throw UserError(request.subject() + ": each GPU sends to all others, so " +
                    std::to_string(spec.gpus) + " GPUs need topology=fully_connected");
  }
  check_fits(*this, request);
  const std::vector<uint8_t> gemm = kernel_file(spec.software.gemm);
  gathered_gemm_parameters_t p = parameters_of(*this, request, 0);
  p.gemm_elf = gemm.data();
  p.gemm_elf_bytes = gemm.size();
  char error[256];
  if (gathered_gemm_check_elf(&p, error, sizeof error) != STRETTO_OK)
    throw UserError(kernel_path(spec.software.gemm) + ": " + error);
}

std::vector<std::string> GatheredGemmKind::claims(const JobRequest& request) const {
  (void)request;
  return {kTracker};
}

std::vector<std::string> GatheredGemmKind::kernel_files(const JobRequest& request) const {
  return {kernel_path(request.spec.software.gemm)};
}

std::unique_ptr<Job> GatheredGemmKind::make_job(const JobRequest& request,
                                                Memories memories) const {
  return std::make_unique<GatheredGemm>(*this, request, std::move(memories));
}

}  // namespace stretto
