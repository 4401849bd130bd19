// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/sub_layer/sub_layer_kind.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "models/common/fp8.h"
#include "models/common/stamp.h"
#include "platform/jobs/operands.h"
#include "platform/kinds/sub_layer/sub_layer_checks.h"
#include "sw/include/formats/address_map.h"

namespace stretto {

namespace {

const Account kInit{RING_GEMM_ACCOUNT_INIT, "init"}, kGemm{RING_GEMM_ACCOUNT_GEMM, "gemm"},
    kReduceScatter{RING_GEMM_ACCOUNT_RS, "rs"}, kAllGather{RING_GEMM_ACCOUNT_AG, "ag"};

// What a mode leaves in the output.
CheckOutput output_of(ring_gemm_mode_t mode) {
  switch (mode) {
    case RING_GEMM_GEMM: return CheckOutput::product;
    case RING_GEMM_RS:
    case RING_GEMM_RS_NMC: return CheckOutput::own_sum;
    case RING_GEMM_AG: return CheckOutput::gathered;
    default: return CheckOutput::sum;
  }
}

}  // namespace

void SubLayerKind::describe(ParameterSet& set) {
  set.number("m", m, 1, 1u << 20, "Rows of the output.");
  set.number("n", n, 1, 1u << 20, "Columns of the output.");
  set.number("k", k, 1, 1u << 20, "Reduction dimension of one GPU.");
  set.flag("a_k_contiguous", a_k_contiguous, "A is stored M x K, else K x M.");
  set.flag("b_k_contiguous", b_k_contiguous, "B is stored N x K, else K x N.");
  set.choice("element", element, {{"fp16", ElementType::fp16}, {"e4m3", ElementType::e4m3}},
             "Of operands and outputs; e4m3: FP8 (OFP8), by the shipped kernels software.gemm and "
             "software.ring with _e4m3 behind their names, or by files, on a machine with "
             "gpu.tensor_fp8_rate.");
  set.flag("follow_on", follow_on,
           "Multiply the sum by a dropout mask and add a residual: fused modes in the own chunk in "
           "memory (T3 7.6), sequential in all of it by a kernel.");
  set.choice("tile_order", tile_order, {{"rows", RING_GEMM_ROWS}, {"strips", RING_GEMM_STRIPS}},
             "Order in which work-groups take output tiles: row-major, or strips of up to 8 tiles "
             "along the shorter side, as CUTLASS's Identity8 (T3-U20).");
}

std::string SubLayerKind::first_error() const {
  for (const auto& [key, value] : {std::pair("m", m), std::pair("n", n), std::pair("k", k)}) {
    if (value == 0) return std::string("needs ") + key;
  }
  return "";
}

const KindInfo& SubLayerKind::info() const {
  static const KindInfo info{
      .name = "sub_layer",
      .sentence = "One tensor-parallel sub-layer: a GEMM and the collectives behind it.",
      .accounts = 4,
      .modes =
          {{"sequential", "GEMM, then ring reduce-scatter kernel, then ring all-gather kernel"},
           {"t3",
            "GEMM fused with the reduce-scatter by Tracker and DMA, round-robin arbitration; then "
            "all-gather"},
           {"t3-mca", "as t3, with communication-aware memory arbitration"},
           {"direct",
            "GEMM fused with a direct reduce-scatter: its stores go to the owner of each chunk, "
            "where memory adds; then all-gather"},
           {"gemm", "the GEMM alone"},
           {"rs", "the reduce-scatter kernel alone"},
           {"rs-nmc", "the reduce-scatter kernel alone, reducing in memory"},
           {"ag", "the all-gather kernel alone"}},
      .data = {DataMode::stamp, DataMode::real},
      .can_mirror = true,
      .programs_arbiters = true};
  return info;
}

std::string SubLayerKind::work(const std::string& mode) const {
  if (mode == "gemm") return "the GEMM";
  if (mode == "rs" || mode == "rs-nmc") return "the reduce-scatter";
  return mode == "ag" ? "the all-gather" : "";
}

std::map<std::string, uint64_t> SubLayerKind::shape() const {
  return {{"m", m}, {"n", n}, {"k", k}};
}

void SubLayerKind::check(const JobRequest& request) const { check_sub_layer(*this, request); }

std::vector<std::string> SubLayerKind::claims(const JobRequest& request) const {
  const ring_gemm_mode_t mode = sub_layer_mode(request.mode);
  return sub_layer_fuses(mode) ? std::vector<std::string>{kTracker, kArbiter}
                               : std::vector<std::string>{kArbiter};
}

std::vector<std::string> SubLayerKind::kernel_files(const JobRequest& request) const {
  const SoftwareSpec& software = request.spec.software;
  return {kernel_path(sub_layer_kernels(*this, software.gemm)),
          kernel_path(sub_layer_kernels(*this, software.ring))};
}

std::unique_ptr<Job> SubLayerKind::make_job(const JobRequest& request, Memories memories) const {
  return std::make_unique<SubLayer>(*this, request, std::move(memories));
}

SubLayer::SubLayer(const SubLayerKind& kind, const JobRequest& request, Memories memories)
    : Job(request, std::move(memories)),
      kind_(kind),
      ranks_(request.ranks()),
      stamp_limit_(std::min(spec_.gpu.stamp_limit, 2048 / spec_.gpus)),
      mode_(request.mode),
      gemm_elf_(kernel_file(sub_layer_kernels(kind, spec_.software.gemm))),
      ring_elf_(kernel_file(sub_layer_kernels(kind, spec_.software.ring))) {
  for (uint32_t rank = 0; rank < memories_.size(); ++rank) {
    ring_gemm_parameters_t& p = parameters_.emplace_back(sub_layer_parameters(kind, request, rank));
    p.gemm_elf = gemm_elf_.data();
    p.gemm_elf_bytes = gemm_elf_.size();
    p.ring_elf = ring_elf_.data();
    p.ring_elf_bytes = ring_elf_.size();
    [[maybe_unused]] const stretto_status_t status = ring_gemm_plan(&p, &plans_.emplace_back());
    assert(status == STRETTO_OK && "checked");
    layouts_[rank].add(plans_.back().memory, kModuleBytes);
  }
}

std::vector<Account> SubLayer::accounts() const {
  return {kGemm, kReduceScatter, kAllGather, kInit};
}

std::vector<PhaseRule> SubLayer::phases() const {
  return {preparation_of(kInit), kernels_of(kGemm), work_of(kReduceScatter), work_of(kAllGather)};
}

// By work-groups: those of the GEMM, and those of the kernels of the collectives.
std::optional<double> SubLayer::done_share(uint64_t retired) const {
  uint64_t all = 0;
  for (size_t rank = 0; rank < plans_.size(); ++rank) {
    const ring_gemm_parameters_t& p = parameters_[rank];
    const bool multiplies = p.mode <= RING_GEMM_GEMM;
    if (multiplies) all += uint64_t{plans_[rank].tiles} * std::max(1u, p.split_k);
    const unsigned collectives = p.mode == RING_GEMM_SEQUENTIAL ? 2u + (p.follow_on ? 1 : 0)
                                 : p.mode == RING_GEMM_GEMM     ? 0
                                                                : 1;
    all += uint64_t{collectives} * p.collective_groups;
  }
  return all == 0 ? std::nullopt
                  : std::optional(
                        std::min(1.0, static_cast<double>(retired) / static_cast<double>(all)));
}

std::optional<MirrorMap> SubLayer::mirror() const {
  const ring_gemm_plan_t& plan = plans_[0];
  MirrorPlan mirror;
  mirror.arrays.push_back(offset_of(plan.c));
  if (plan.receive != 0) mirror.arrays.push_back(offset_of(plan.receive));
  mirror.m = kind_.m;
  mirror.n = kind_.n;
  mirror.pitch = plan.ldc;
  mirror.element_bytes = element_bytes(kind_.element);
  mirror.tile_m = spec_.software.tile_m;
  mirror.tile_n = 128;
  mirror.order = plan.order;
  for (uint32_t chunk = 0; chunk <= ranks_; ++chunk)
    mirror.chunk_first.push_back(ring_gemm_chunk_first(&plan, ranks_, chunk));
  return make_chunk_mirror(mirror);
}

// Contents before time 0

void SubLayer::place_contents() {
  for (uint32_t rank = 0; rank < memories_.size(); ++rank) {
    if (kind_.follow_on) place_follow_on(rank);
    if (plans_[rank].a == 0) {
      place_output(rank);
    } else if (request_.data == DataMode::stamp) {
      place_stamps(rank);
    } else {
      place_numbers(rank);
    }
  }
}

template <class Value>
void SubLayer::place(uint32_t rank, uint64_t address, uint64_t pitch, uint32_t rows,
                     uint32_t columns, Value value) {
  const uint64_t base = offset_of(address), bytes = rows * pitch;
  const auto byte = [=](uint32_t row, uint32_t column) {
    return static_cast<uint8_t>(value(row, column));
  };
  memories_[rank]->add_generator(base, bytes,
                                 kind_.element == ElementType::e4m3
                                     ? generator(base, pitch, rows, columns, byte)
                                     : generator(base, pitch, rows, columns, value));
}

uint16_t SubLayer::random(uint32_t rank, uint32_t what, uint32_t i, uint32_t j) const {
  return kind_.element == ElementType::e4m3 ? random_e4m3(request_.seed, rank, what, i, j)
                                            : random_fp16(request_.seed, rank, what, i, j);
}

// A quarter of the elements is dropped, the others make up for it.
uint16_t SubLayer::mask_at(uint32_t row, uint32_t column) const {
  constexpr uint16_t kFourThirds = 0x3D55;
  return random_fp16(request_.seed, 0, kMask, row, column) % 4 == 0 ? uint16_t{0} : kFourThirds;
}

uint16_t SubLayer::residual_at(uint32_t row, uint32_t column) const {
  return random_fp16(request_.seed, 0, kResidual, row, column);
}

// The same on all ranks, as in tensor parallelism.
void SubLayer::place_follow_on(uint32_t rank) {
  const ring_gemm_plan_t& plan = plans_[rank];
  const auto array = [&](uint64_t address, auto value) {
    place(rank, address, plan.ldc, kind_.m, kind_.n, value);
  };
  array(plan.mask, [this](uint32_t row, uint32_t column) { return mask_at(row, column); });
  array(plan.residual, [this](uint32_t row, uint32_t column) { return residual_at(row, column); });
}

void SubLayer::place_stamps(uint32_t rank) {
  const ring_gemm_plan_t& plan = plans_[rank];
  const auto matrix = [&](const char* name, uint64_t base, uint64_t pitch, uint32_t outer,
                          bool k_contiguous, uint8_t role) {
    StampMatrix stamp;
    stamp.name = name;
    stamp.base = offset_of(base);
    stamp.pitch = pitch;
    stamp.rows = k_contiguous ? outer : kind_.k;
    stamp.columns = k_contiguous ? kind_.k : outer;
    stamp.k_is_column = k_contiguous;
    stamp.role = role;
    stamp.k_total = kind_.k;
    stamp.element = kind_.element;
    stamp.seed = request_.seed;
    memories_[rank]->add_stamp(stamp);
  };
  matrix("A", plan.a, plan.lda, kind_.m, kind_.a_k_contiguous, 0);
  matrix("B", plan.b, plan.ldb, kind_.n, kind_.b_k_contiguous, 1);
}

void SubLayer::place_numbers(uint32_t rank) {
  const ring_gemm_plan_t& plan = plans_[rank];
  // Stored element (i, j) of an operand; k_first: K runs along the rows.
  const auto matrix = [&](uint64_t base, uint64_t pitch, uint32_t outer, bool k_contiguous,
                          What what) {
    const uint32_t rows = k_contiguous ? outer : kind_.k, columns = k_contiguous ? kind_.k : outer;
    place(rank, base, pitch, rows, columns, [=, this](uint32_t row, uint32_t column) {
      return k_contiguous ? random(rank, what, row, column) : random(rank, what, column, row);
    });
  };
  matrix(plan.a, plan.lda, kind_.m, kind_.a_k_contiguous, kA);
  matrix(plan.b, plan.ldb, kind_.n, kind_.b_k_contiguous, kB);
}

// An isolated collective starts with partial results (rs) or with the own chunk (ag) in the output.
void SubLayer::place_output(uint32_t rank) {
  const ring_gemm_plan_t& plan = plans_[rank];
  const bool own_only = mode_ == "ag";
  place(rank, plan.c, plan.ldc, kind_.m, kind_.n, [=, this](uint32_t row, uint32_t column) {
    const bool there = !own_only || chunk_at(row, column) == rank;
    return there ? output_value(rank, row, column) : uint16_t{0};
  });
}

uint16_t SubLayer::output_value(uint32_t rank, uint32_t row, uint32_t column) const {
  const uint64_t seed = request_.seed;
  if (request_.data == DataMode::real) return random(rank, kC, row, column);
  const uint32_t value = stamp_value(seed, rank, row, column, stamp_limit_);
  return kind_.element == ElementType::e4m3 ? E4m3::from_fp32(static_cast<float>(value))
                                            : fp16_from_whole(value);
}

uint32_t SubLayer::chunk_at(uint32_t row, uint32_t column) const {
  const ring_gemm_plan_t& plan = plans_[0];
  const uint64_t tile = tile_order_id(&plan.order, row / spec_.software.tile_m, column / 128);
  // The chunk whose first tile is the last at or before this one.
  uint32_t chunk = static_cast<uint32_t>(tile * ranks_ / plan.tiles);
  while (chunk + 1 < ranks_ && ring_gemm_chunk_first(&plan, ranks_, chunk + 1) <= tile) ++chunk;
  return chunk;
}

// Programs

void SubLayer::add_programs(Host& host, uint32_t) {
  for (uint32_t rank = 0; rank < memories_.size(); ++rank) {
    add_rank(host, rank, [this, rank](HostCore& core) { run_rank(core, rank); });
  }
}

void SubLayer::run_rank(HostCore& core, uint32_t rank) {
  run_app(core, [&](const stretto_host_ops_t* ops, char* error) {
    return ring_gemm_run(&parameters_[rank], ops, error);
  });
}

// Results

CheckReport SubLayer::check() const {
  CheckTask task;
  task.ranks = ranks_;
  task.simulated_ranks = static_cast<uint32_t>(memories_.size());
  task.mirrored = spec_.sim.mirror;
  task.m = kind_.m;
  task.n = kind_.n;
  task.k = kind_.k;
  task.tile_m = spec_.software.tile_m;
  task.strip_log2 = plans_[0].order.width;
  task.strips_down = plans_[0].order.down != 0;
  task.data = request_.data;
  task.output = output_of(parameters_[0].mode);
  task.any_order = parameters_[0].mode == RING_GEMM_DIRECT;
  task.from_zero = sub_layer_fuses(parameters_[0].mode);
  task.element = kind_.element;
  task.read = [this](uint32_t rank, uint32_t row, uint32_t column, uint32_t count, uint16_t* bits) {
    const unsigned size = element_bytes(kind_.element);
    const uint64_t address =
        offset_of(plans_[rank].c) + uint64_t{row} * plans_[rank].ldc + uint64_t{size} * column;
    uint8_t* const bytes = reinterpret_cast<uint8_t*>(bits);
    memories_[rank]->read(address, bytes, uint64_t{size} * count);
    if (size == 2) return;
    for (uint32_t i = count; i-- > 0;)
      bits[i] = bytes[i];  // From behind: each lies before its place.
  };
  const uint64_t seed = request_.seed;
  task.add_stamps = [this, seed](uint32_t rank, uint32_t row, uint32_t* sum) {
    // The machine derives what a stamped product is from the GPU that computes it.
    const uint32_t key = stamp_row_key(seed, request_.share.gpus[rank], row);
    for (uint32_t column = 0; column < kind_.n; ++column)
      sum[column] += stamp_from_key(key, column, stamp_limit_);
  };
  task.a = [this](uint32_t rank, uint32_t row, uint32_t k) { return random(rank, kA, row, k); };
  task.b = [this](uint32_t rank, uint32_t k, uint32_t column) {
    return random(rank, kB, column, k);
  };
  if (plans_[0].a == 0) {
    task.given = [this](uint32_t rank, uint32_t row, uint32_t column) {
      return output_value(rank, row, column);
    };
  }
  if (kind_.follow_on) {
    task.mask = [this](uint32_t row, uint32_t column) { return mask_at(row, column); };
    task.residual = [this](uint32_t row, uint32_t column) { return residual_at(row, column); };
  }
  return check_output(task);
}

std::vector<std::pair<std::string, std::string>> SubLayer::kernel_sha256() const {
  std::vector<std::pair<std::string, std::string>> sums;
  if (plans_[0].a != 0)
    sums.emplace_back(sub_layer_kernels(kind_, spec_.software.gemm),
                      sha256_hex(gemm_elf_.data(), gemm_elf_.size()));
  if (mode_ != "gemm")
    sums.emplace_back(sub_layer_kernels(kind_, spec_.software.ring),
                      sha256_hex(ring_elf_.data(), ring_elf_.size()));
  return sums;
}

}  // namespace stretto
