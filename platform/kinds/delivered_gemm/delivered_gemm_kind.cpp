// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/delivered_gemm/delivered_gemm_kind.h"

#include <cassert>

#include "models/common/error.h"
#include "models/common/stamp.h"
#include "platform/jobs/operands.h"
#include "sw/include/regs/mca_regs.h"

namespace stretto {

namespace {

constexpr uint16_t kNotThere = 0x7E00;  // NaN: rows of A that a GPU does not have.

const Account kInit{DELIVERED_GEMM_ACCOUNT_INIT, "init"},
    kGemm{DELIVERED_GEMM_ACCOUNT_GEMM, "gemm"}, kMove{DELIVERED_GEMM_ACCOUNT_MOVE, "move"};

// All but the kernels.
delivered_gemm_parameters_t parameters_of(const DeliveredGemmKind& kind, const JobRequest& request,
                                          uint32_t rank) {
  const MachineSpec& spec = request.spec;
  delivered_gemm_parameters_t p{};
  p.mode = mode_named(request.mode, DELIVERED_GEMM_MODES, delivered_gemm_mode_name);
  p.collective = kind.collective;
  p.rank = rank;
  p.ranks = request.ranks();
  p.m = kind.gemm.m;
  p.n = kind.gemm.n;
  p.k = kind.gemm.k;
  p.b_k_contiguous = kind.gemm.b_k_contiguous;
  p.tile_m = spec.software.tile_m;
  p.collective_groups =
      spec.software.collective_groups != 0 ? spec.software.collective_groups : spec.gpu.cus;
  p.block_tiles = spec.software.block_tiles;
  p.tracker_ways = spec.software.tracker_ways;
  p.arbiter = arbiter_parameters(spec.software, MCA_CONTROL_POLICY_ROUND_ROBIN);
  if (p.arbiter.policy == MCA_CONTROL_POLICY_ROUND_ROBIN)
    p.arbiter.starve_limit = 0;  // Nobody starves.
  p.job = host_job(request);
  p.client = client_options(request, rank);
  if (p.mode == DELIVERED_GEMM_SEQUENTIAL && p.collective == DELIVERED_GEMM_ALL_TO_ALL)
    p.client.queue_count = p.ranks;  // One a peer copies.
  return p;
}

void check_fits(const DeliveredGemmKind& kind, const JobRequest& request) {
  refuse_split_k(request);
  const std::string who = request.subject() + ": does not fit: it ";
  delivered_gemm_parameters_t p = parameters_of(kind, request, 0);
  const uint64_t tiles_m = kind.gemm.tiles_m(p.tile_m), tiles_n = kind.gemm.tiles_n();
  if (p.ranks > DELIVERED_GEMM_MAX_RANKS) {
    throw UserError(who + "has " + std::to_string(p.ranks) + " GPUs, at most " +
                    std::to_string(DELIVERED_GEMM_MAX_RANKS) + " are allowed");
  }
  if (p.client.queue_count > request.share.queue_count) {
    throw UserError(who + "copies to each GPU through a queue of its own, and has " +
                    std::to_string(request.share.queue_count) + " of the " +
                    std::to_string(p.client.queue_count) + "; let fewer jobs share GPUs");
  }
  if (kind.collective != DELIVERED_GEMM_NEXT) check_even_rows(who, kind.gemm, p.tile_m, p.ranks);
  if (kind.collective == DELIVERED_GEMM_ALL_TO_ALL && p.m % p.tile_m != 0) {
    throw UserError(who + "has " + std::to_string(p.m) + " rows: in an all-to-all each GPU sends " +
                    "whole row blocks of " + std::to_string(p.tile_m) + "; change m");
  }
  if (tiles_m * tiles_n > 65536) {
    throw UserError(who + "has " + std::to_string(tiles_m * tiles_n) +
                    " output tiles, ids go up to 65536; make m or n smaller");
  }
  p.client.memory_end = UINT64_MAX;
  delivered_gemm_plan_t plan;
  const stretto_status_t status = delivered_gemm_plan(&p, &plan);
  if (status != STRETTO_OK) throw UserError(who + "fails: " + stretto_status_text(status));
  check_memory(request, plan.memory, kModuleBytes, "delivered_gemm.m, n or k");
}

class DeliveredGemm final : public Job {
 public:
  DeliveredGemm(const DeliveredGemmKind& kind, const JobRequest& request, Memories memories);

  std::vector<Account> accounts() const override { return {kGemm, kMove, kInit}; }
  std::vector<PhaseRule> phases() const override;
  void place_contents() override;
  void add_programs(Host& host, uint32_t) override;
  CheckReport check() const override;
  std::vector<std::pair<std::string, std::string>> kernel_sha256() const override;

 private:
  bool gathers() const { return kind_.collective == DELIVERED_GEMM_ALL_GATHER; }
  bool passes_on() const { return kind_.collective == DELIVERED_GEMM_NEXT; }
  // Rows of a chunk; the last one may be shorter.
  uint32_t chunk_rows() const { return plans_[0].tiles_m / ranks_ * spec_.software.tile_m; }
  uint32_t rows_for(uint32_t rank, uint32_t chunk) const;
  uint16_t a_value(uint32_t rank, uint32_t row, uint32_t k) const;
  uint16_t b_value(uint32_t rank, uint32_t k, uint32_t column) const;
  void read(uint32_t rank, uint32_t row, uint32_t column, uint32_t count, uint16_t* bits) const;

  const DeliveredGemmKind& kind_;
  const uint32_t ranks_;
  const std::vector<uint8_t> gemm_elf_, ring_elf_;
  std::vector<delivered_gemm_parameters_t> parameters_;  // By rank.
  std::vector<delivered_gemm_plan_t> plans_;
};

DeliveredGemm::DeliveredGemm(const DeliveredGemmKind& kind, const JobRequest& request,
                             Memories memories)
    : Job(request, std::move(memories)),
      kind_(kind),
      ranks_(request.ranks()),
      gemm_elf_(kernel_file(spec_.software.gemm)),
      ring_elf_(kernel_file(spec_.software.ring)) {
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    delivered_gemm_parameters_t& p = parameters_.emplace_back(parameters_of(kind, request, rank));
    p.gemm_elf = gemm_elf_.data();
    p.gemm_elf_bytes = gemm_elf_.size();
    p.ring_elf = ring_elf_.data();
    p.ring_elf_bytes = ring_elf_.size();
    [[maybe_unused]] const stretto_status_t status =
        delivered_gemm_plan(&p, &plans_.emplace_back());
    assert(status == STRETTO_OK && "checked");
    layouts_[rank].add(plans_.back().memory, kModuleBytes);
  }
}

std::vector<PhaseRule> DeliveredGemm::phases() const {
  return {preparation_of(kInit), kernels_of(kGemm), work_of(kMove)};
}

// Rows that an expert has for a rank, at most its capacity (a chunk) and at least half of that. What
// is left are rows of zeros: mixtures pad so (expert capacity of GShard, Lepikhin et al., ICLR 2021).
uint32_t DeliveredGemm::rows_for(uint32_t rank, uint32_t chunk) const {
  const uint32_t capacity = chunk_rows();
  return capacity - stamp_row_key(request_.seed, rank, chunk) % (capacity / 2 + 1);
}

uint16_t DeliveredGemm::a_value(uint32_t rank, uint32_t row, uint32_t k) const {
  if (passes_on()) return random_fp16(request_.seed, rank, kA, row, k);
  const uint32_t chunk = row / chunk_rows();
  if (gathers()) return random_fp16(request_.seed, chunk, kA, row, k);
  return row % chunk_rows() < rows_for(rank, chunk) ? random_fp16(request_.seed, rank, kA, row, k)
                                                    : uint16_t{0};
}

uint16_t DeliveredGemm::b_value(uint32_t rank, uint32_t k, uint32_t column) const {
  return random_fp16(request_.seed, gathers() ? 0 : rank, kB, column, k);
}

void DeliveredGemm::place_contents() {
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    const delivered_gemm_plan_t& plan = plans_[rank];
    place_operands(
        *memories_[rank], kind_.gemm,
        {plan.a, plan.a_bytes, plan.lda, plan.b, plan.b_bytes, plan.ldb},
        [this, rank](uint32_t row, uint32_t k) {
          return gathers() && row / chunk_rows() != rank ? kNotThere : a_value(rank, row, k);
        },
        [this, rank](uint32_t k, uint32_t column) { return b_value(rank, k, column); });
  }
}

void DeliveredGemm::add_programs(Host& host, uint32_t) {
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    add_rank(host, rank, [this, rank](HostCore& core) {
      run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
        return delivered_gemm_run(&parameters_[rank], ops, error);
      });
    });
  }
}

// Part of row `row` of the product of `rank`, where it is in the end: with the owner of its chunk, or
// of a gathered output, with the rank itself, or with the next one.
void DeliveredGemm::read(uint32_t rank, uint32_t row, uint32_t column, uint32_t count,
                         uint16_t* bits) const {
  uint32_t at = rank, place = row;
  uint64_t array = plans_[rank].c;
  if (!gathers()) {
    at = passes_on() ? (rank + 1) % ranks_ : row / chunk_rows();
    if (!passes_on()) place = rank * chunk_rows() + row % chunk_rows();
    const delivered_gemm_plan_t& plan = plans_[at];
    array = plan.received != 0 && at != rank ? plan.received : plan.c;
  }
  const uint64_t address =
      offset_of(array) + uint64_t{place} * plans_[at].ldc + 2 * uint64_t{column};
  memories_[at]->read(address, reinterpret_cast<uint8_t*>(bits), 2 * uint64_t{count});
}

CheckReport DeliveredGemm::check() const {
  CheckTask task = product_task(kind_.gemm, ranks_, spec_.software.tile_m);
  task.read = [this](uint32_t rank, uint32_t row, uint32_t column, uint32_t count, uint16_t* bits) {
    read(rank, row, column, count, bits);
  };
  task.a = [this](uint32_t rank, uint32_t row, uint32_t k) { return a_value(rank, row, k); };
  task.b = [this](uint32_t rank, uint32_t k, uint32_t column) { return b_value(rank, k, column); };
  return check_output(task);
}

std::vector<std::pair<std::string, std::string>> DeliveredGemm::kernel_sha256() const {
  std::vector<std::pair<std::string, std::string>> sums;
  sums.emplace_back(spec_.software.gemm, sha256_hex(gemm_elf_.data(), gemm_elf_.size()));
  if (gathers() && plans_[0].flags != 0)
    sums.emplace_back(spec_.software.ring, sha256_hex(ring_elf_.data(), ring_elf_.size()));
  return sums;
}

}  // namespace

void DeliveredGemmKind::describe(ParameterSet& set) {
  gemm.describe(set, "Rows of the output: of all GPUs if it is gathered, else of one GPU.",
                "Columns of the output.", "Reduction dimension.");
  set.choice("collective", collective,
             {{"all_gather", DELIVERED_GEMM_ALL_GATHER},
              {"all_to_all", DELIVERED_GEMM_ALL_TO_ALL},
              {"next", DELIVERED_GEMM_NEXT}},
             "all_gather: each GPU makes the rows of its chunk, all get all of them; all_to_all: "
             "each makes all rows with weights of its own, those of chunk c are for GPU c; next: "
             "likewise, all for the next GPU.");
}

std::string DeliveredGemmKind::first_error() const { return gemm.first_error(); }

const KindInfo& DeliveredGemmKind::info() const {
  static const KindInfo info{
      .name = "delivered_gemm",
      .sentence = "A GEMM whose output is all-gathered, exchanged all to all, or sent on.",
      .accounts = 3,
      .modes =
          {{"sequential", "the GEMM, then a ring all-gather kernel, or copies to the others"},
           {"t3",
            "tiles leave as they are complete: by DMA and around the ring (all_gather), as "
            "stores straight to their GPU (all_to_all, next); the Tracker counts what arrives"}},
      .data = {DataMode::real},
      .programs_arbiters = true};
  return info;
}

std::map<std::string, uint64_t> DeliveredGemmKind::shape() const { return gemm.sizes(); }

void DeliveredGemmKind::check(const JobRequest& request) const {
  const MachineSpec& spec = request.spec;
  if (collective == DELIVERED_GEMM_ALL_TO_ALL && !spec.are_all_linked()) {
    throw UserError(request.subject() + ": in an all-to-all each GPU sends to all others, so " +
                    std::to_string(spec.gpus) + " GPUs need topology=fully_connected");
  }
  check_fits(*this, request);
  const std::vector<uint8_t> gemm = kernel_file(spec.software.gemm);
  const std::vector<uint8_t> ring = kernel_file(spec.software.ring);
  delivered_gemm_parameters_t p = parameters_of(*this, request, 0);
  p.gemm_elf = gemm.data();
  p.gemm_elf_bytes = gemm.size();
  p.ring_elf = ring.data();
  p.ring_elf_bytes = ring.size();
  char error[256];
  if (delivered_gemm_check_gemm_elf(&p, error, sizeof error) != STRETTO_OK)
    throw UserError(kernel_path(spec.software.gemm) + ": " + error);
  if (delivered_gemm_check_ring_elf(&p, error, sizeof error) != STRETTO_OK)
    throw UserError(kernel_path(spec.software.ring) + ": " + error);
}

std::vector<std::string> DeliveredGemmKind::claims(const JobRequest& request) const {
  return request.mode == delivered_gemm_mode_name(DELIVERED_GEMM_T3)
             ? std::vector<std::string>{kTracker, kArbiter}
             : std::vector<std::string>{kArbiter};
}

std::vector<std::string> DeliveredGemmKind::kernel_files(const JobRequest& request) const {
  return {kernel_path(request.spec.software.gemm), kernel_path(request.spec.software.ring)};
}

std::unique_ptr<Job> DeliveredGemmKind::make_job(const JobRequest& request,
                                                 Memories memories) const {
  return std::make_unique<DeliveredGemm>(*this, request, std::move(memories));
}

}  // namespace stretto
