// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/sub_layer/sub_layer_kind.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "models/common/error.h"
#include "models/common/stamp.h"
#include "platform/jobs/operands.h"
#include "sw/include/formats/address_map.h"
#include "sw/include/regs/mca_regs.h"

namespace stretto {

namespace {

const Account kInit{RING_GEMM_ACCOUNT_INIT, "init"}, kGemm{RING_GEMM_ACCOUNT_GEMM, "gemm"},
    kReduceScatter{RING_GEMM_ACCOUNT_RS, "rs"}, kAllGather{RING_GEMM_ACCOUNT_AG, "ag"};

ring_gemm_mode_t mode_of(const std::string& name) {
  return mode_named(name, RING_GEMM_MODES, ring_gemm_mode_name);
}

// Tracker, range table and memory that adds do the reduce-scatter.
bool is_fused(ring_gemm_mode_t mode) {
  return mode == RING_GEMM_T3 || mode == RING_GEMM_T3_MCA || mode == RING_GEMM_DIRECT;
}

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

// All but the kernels.
ring_gemm_parameters_t parameters_of(const SubLayerKind& kind, const JobRequest& request,
                                     uint32_t rank) {
  const MachineSpec& spec = request.spec;
  const SoftwareSpec& software = spec.software;
  ring_gemm_parameters_t p{};
  p.mode = mode_of(request.mode);
  p.rank = rank;
  p.ranks = request.ranks();
  p.host_ranks = spec.sim.mirror ? 1 : p.ranks;
  p.m = kind.m;
  p.n = kind.n;
  p.k = kind.k;
  p.a_k_contiguous = kind.a_k_contiguous;
  p.b_k_contiguous = kind.b_k_contiguous;
  p.tile_m = software.tile_m;
  p.tile_order = kind.tile_order;
  p.split_k = software.split_k;
  p.follow_on = kind.follow_on;
  p.in_switch = spec.switch_.add_bytes != 0;
  p.collective_groups = software.collective_groups != 0 ? software.collective_groups : spec.gpu.cus;
  p.block_tiles = software.block_tiles;
  p.tracker_ways = software.tracker_ways;
  p.arbiter = arbiter_parameters(software, p.mode == RING_GEMM_T3_MCA
                                               ? MCA_CONTROL_POLICY_COMMUNICATION_AWARE
                                               : MCA_CONTROL_POLICY_ROUND_ROBIN);
  p.job = host_job(request);
  p.client = client_options(request, rank);
  return p;
}

// One GPU can stand for all only if all do the same: equal chunks of whole tile rows. Where only
// some chunks have tiles that are clipped on the right, packets are cut or stretched (chunk_mirror.h).
void check_mirror(const SubLayerKind& kind, const JobRequest& request,
                  const ring_gemm_plan_t& plan) {
  const MachineSpec& spec = request.spec;
  if (request.data == DataMode::real) throw UserError("sim.mirror needs --data stamp");
  if (plan.tiles % spec.gpus != 0 || kind.m % spec.software.tile_m != 0) {
    throw UserError("sim.mirror: workload " + request.workload + " does not give equal chunks to " +
                    std::to_string(spec.gpus) + " GPUs; simulate all of them");
  }
}

std::string times(uint64_t a, uint64_t b) { return std::to_string(a) + " x " + std::to_string(b); }

// What the formats can hold: ids of work-groups have 16 bits, the Tracker finds the strip of a tile
// by a reciprocal of 24 (tracker.yaml).
void check_grid(const ring_gemm_parameters_t& p, const std::string& who) {
  constexpr uint64_t kMaxTiles = 65536, kMaxProduct = uint64_t{1} << 24;
  const uint64_t tiles_m = (uint64_t{p.m} + p.tile_m - 1) / p.tile_m,
                 tiles_n = (uint64_t{p.n} + 127) / 128;
  const std::string has =
      who + "has " + times(tiles_m, tiles_n) + " output tiles of " + times(p.tile_m, 128) + ", ";
  if (tiles_m * tiles_n > kMaxTiles) {
    throw UserError(has + "more than the " + std::to_string(kMaxTiles) +
                    " that a kernel may have; make m or n smaller, or software.tile_m=256");
  }
  if (p.split_k > 1 && tiles_m * tiles_n * p.split_k > kMaxTiles) {
    throw UserError(has + std::to_string(p.split_k) + " work-groups each are more than the " +
                    std::to_string(kMaxTiles) +
                    " that a kernel may have; make software.split_k smaller");
  }
  const uint32_t code = p.tile_order == RING_GEMM_STRIPS
                            ? tile_order_strips(p.m, p.n, static_cast<uint32_t>(tiles_m),
                                                static_cast<uint32_t>(tiles_n))
                            : TILE_ORDER_ROWS;
  const tile_order_t order =
      tile_order(code, static_cast<uint32_t>(tiles_m), static_cast<uint32_t>(tiles_n));
  const uint64_t steps = tiles_m * tiles_n >> order.width;
  if (is_fused(p.mode) && (order.along - 1) * (steps - 1) >= kMaxProduct) {
    throw UserError(has + "which the Tracker cannot tell apart: (" + std::to_string(order.along) +
                    " tiles along a strip - 1) x (" + std::to_string(steps) +
                    " steps - 1) must be below 2^24 = 16777216, always so with " +
                    "sub_layer.tile_order=strips");
  }
}

// Split-K: several work-groups add to a tile, so their order, and that of rounding, is not known.
void check_split(const JobRequest& request, const ring_gemm_parameters_t& p) {
  if (p.split_k == 1) return;
  const std::string split = "software.split_k=" + std::to_string(p.split_k) + " ";
  if (p.mode != RING_GEMM_T3 && p.mode != RING_GEMM_T3_MCA)
    throw UserError(split + "needs mode t3 or t3-mca: only there does memory add");
  if (request.data == DataMode::real)
    throw UserError(split + "needs --data stamp: rounding depends on the order of additions");
  if (request.spec.sim.mirror) throw UserError(split + "cannot be mirrored");
  if (request.spec.software.gemm == "gemm")
    throw UserError(split + "needs a kernel that splits K: software.gemm=gemm_split");
  const uint32_t steps = (p.k + 31) / 32, counted = p.tile_m == 256 ? 7 : 15;
  if (p.split_k > steps || p.split_k > counted) {
    throw UserError(split + "is more than " +
                    (p.split_k > steps ? std::to_string(steps) + ", the K steps of 32"
                                       : std::to_string(counted) +
                                             ", what the Tracker can count for tiles of 256 rows"));
  }
}

// Stores go to every other GPU, and each element of the own chunk gets an update of each.
void check_direct(const JobRequest& request, const ring_gemm_parameters_t& p) {
  if (p.mode != RING_GEMM_DIRECT) return;
  const std::string who = request.subject() + ": mode direct ";
  if (!request.spec.are_all_linked()) {
    throw UserError(who + "sends to all others, so " + std::to_string(request.spec.gpus) +
                    " GPUs need topology=fully_connected");
  }
  if (request.spec.sim.mirror) throw UserError(who + "cannot be mirrored: its peers are all GPUs");
  if (p.ranks > ring_gemm_most_updates(p.tile_m)) {
    throw UserError(who + "adds " + std::to_string(p.ranks) + " updates to an element, and the " +
                    "Tracker can count " + std::to_string(ring_gemm_most_updates(p.tile_m)) +
                    " for tiles of " + std::to_string(p.tile_m) + " rows");
  }
}

// What follows is applied to the sum over all GPUs.
void check_follow_on(const JobRequest& request, const ring_gemm_parameters_t& p) {
  if (!p.follow_on) return;
  const std::string who = "sub_layer.follow_on=true ";
  if (!is_fused(p.mode) && p.mode != RING_GEMM_SEQUENTIAL)
    throw UserError(who + "needs a whole sub-layer: mode sequential, t3, t3-mca or direct");
  if (request.spec.sim.mirror) throw UserError(who + "cannot be mirrored");
  if (p.mode == RING_GEMM_DIRECT && request.data == DataMode::real)
    throw UserError(who + "in mode direct needs --data stamp: the order of additions is not known");
}

void check_fits(const SubLayerKind& kind, const JobRequest& request) {
  ring_gemm_parameters_t p = parameters_of(kind, request, 0);
  check_split(request, p);
  check_direct(request, p);
  check_follow_on(request, p);
  const std::string who = request.subject() + ": does not fit: it ";
  check_grid(p, who);
  p.client.memory_end = UINT64_MAX;
  ring_gemm_plan_t plan;
  const stretto_status_t status = ring_gemm_plan(&p, &plan);
  if (status != STRETTO_OK) throw UserError(who + "fails: " + stretto_status_text(status));
  check_memory(request, plan.memory, kModuleBytes, "sub_layer.m, n or k");
  if (request.spec.sim.mirror) check_mirror(kind, request, plan);
}

// Parameters that take away what the mode computes with.
void check_machine(const JobRequest& request) {
  const MachineSpec& spec = request.spec;
  const std::string& mode = request.mode;
  if (spec.hbm.updates == Updates::none && (is_fused(mode_of(mode)) || mode == "rs-nmc"))
    throw UserError("hbm.updates=none: in mode " + mode + " memory adds: near_bank or controller");
  if (!spec.gpu.tile_values &&
      (request.data == DataMode::real || mode == "sequential" || mode == "rs")) {
    throw UserError(
        "gpu.tile_values=false: nothing could be checked, since additions yield zeros; without "
        "values run a mode in which memory adds, with --data stamp");
  }
}

void check_kernels(const SubLayerKind& kind, const JobRequest& request) {
  const SoftwareSpec& software = request.spec.software;
  const std::vector<uint8_t> gemm = kernel_file(software.gemm), ring = kernel_file(software.ring);
  ring_gemm_parameters_t p = parameters_of(kind, request, 0);
  p.gemm_elf = gemm.data();
  p.gemm_elf_bytes = gemm.size();
  p.ring_elf = ring.data();
  p.ring_elf_bytes = ring.size();
  char error[256];
  if (ring_gemm_check_gemm_elf(&p, error, sizeof error) != STRETTO_OK)
    throw UserError(kernel_path(software.gemm) + ": " + error);
  if (ring_gemm_check_ring_elf(&p, error, sizeof error) != STRETTO_OK)
    throw UserError(kernel_path(software.ring) + ": " + error);
}

}  // namespace

void SubLayerKind::describe(ParameterSet& set) {
  set.number("m", m, 1, 1u << 20, "Rows of the output.");
  set.number("n", n, 1, 1u << 20, "Columns of the output.");
  set.number("k", k, 1, 1u << 20, "Reduction dimension of one GPU.");
  set.flag("a_k_contiguous", a_k_contiguous, "A is stored M x K, else K x M.");
  set.flag("b_k_contiguous", b_k_contiguous, "B is stored N x K, else K x N.");
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

void SubLayerKind::check(const JobRequest& request) const {
  check_machine(request);
  check_fits(*this, request);
  check_kernels(*this, request);
}

std::vector<std::string> SubLayerKind::claims(const JobRequest& request) const {
  const ring_gemm_mode_t mode = mode_of(request.mode);
  return is_fused(mode) ? std::vector<std::string>{kTracker, kArbiter}
                        : std::vector<std::string>{kArbiter};
}

std::vector<std::string> SubLayerKind::kernel_files(const JobRequest& request) const {
  const SoftwareSpec& software = request.spec.software;
  return {kernel_path(software.gemm), kernel_path(software.ring)};
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
      gemm_elf_(kernel_file(spec_.software.gemm)),
      ring_elf_(kernel_file(spec_.software.ring)) {
  for (uint32_t rank = 0; rank < memories_.size(); ++rank) {
    ring_gemm_parameters_t& p = parameters_.emplace_back(parameters_of(kind, request, rank));
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
    const uint64_t base = offset_of(address);
    memories_[rank]->add_generator(base, uint64_t{kind_.m} * plan.ldc,
                                   generator(base, plan.ldc, kind_.m, kind_.n, value));
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
    stamp.seed = request_.seed;
    memories_[rank]->add_stamp(stamp);
  };
  matrix("A", plan.a, plan.lda, kind_.m, kind_.a_k_contiguous, 0);
  matrix("B", plan.b, plan.ldb, kind_.n, kind_.b_k_contiguous, 1);
}

void SubLayer::place_numbers(uint32_t rank) {
  const ring_gemm_plan_t& plan = plans_[rank];
  const uint64_t seed = request_.seed;
  // Stored element (i, j) of an operand; k_first: K runs along the rows.
  const auto matrix = [&](uint64_t base, uint64_t pitch, uint32_t outer, bool k_contiguous,
                          What what) {
    const uint32_t rows = k_contiguous ? outer : kind_.k, columns = k_contiguous ? kind_.k : outer;
    const uint64_t at = offset_of(base);
    memories_[rank]->add_generator(
        at, rows * pitch, generator(at, pitch, rows, columns, [=](uint32_t row, uint32_t column) {
          return k_contiguous ? random_fp16(seed, rank, what, row, column)
                              : random_fp16(seed, rank, what, column, row);
        }));
  };
  matrix(plan.a, plan.lda, kind_.m, kind_.a_k_contiguous, kA);
  matrix(plan.b, plan.ldb, kind_.n, kind_.b_k_contiguous, kB);
}

// An isolated collective starts with partial results (rs) or with the own chunk (ag) in the output.
void SubLayer::place_output(uint32_t rank) {
  const ring_gemm_plan_t& plan = plans_[rank];
  const bool own_only = mode_ == "ag";
  const uint64_t base = offset_of(plan.c);
  memories_[rank]->add_generator(
      base, uint64_t{kind_.m} * plan.ldc,
      generator(base, plan.ldc, kind_.m, kind_.n, [=, this](uint32_t row, uint32_t column) {
        const bool there = !own_only || chunk_at(row, column) == rank;
        return there ? output_value(rank, row, column) : uint16_t{0};
      }));
}

uint16_t SubLayer::output_value(uint32_t rank, uint32_t row, uint32_t column) const {
  const uint64_t seed = request_.seed;
  if (request_.data == DataMode::real) return random_fp16(seed, rank, kC, row, column);
  return fp16_from_whole(stamp_value(seed, rank, row, column, stamp_limit_));
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
  task.read = [this](uint32_t rank, uint32_t row, uint32_t column, uint32_t count, uint16_t* bits) {
    const uint64_t address =
        offset_of(plans_[rank].c) + uint64_t{row} * plans_[rank].ldc + 2 * uint64_t{column};
    memories_[rank]->read(address, reinterpret_cast<uint8_t*>(bits), 2 * uint64_t{count});
  };
  const uint64_t seed = request_.seed;
  task.add_stamps = [this, seed](uint32_t rank, uint32_t row, uint32_t* sum) {
    // The machine derives what a stamped product is from the GPU that computes it.
    const uint32_t key = stamp_row_key(seed, request_.share.gpus[rank], row);
    for (uint32_t column = 0; column < kind_.n; ++column)
      sum[column] += stamp_from_key(key, column, stamp_limit_);
  };
  task.a = [seed](uint32_t rank, uint32_t row, uint32_t k) {
    return random_fp16(seed, rank, kA, row, k);
  };
  task.b = [seed](uint32_t rank, uint32_t k, uint32_t column) {
    return random_fp16(seed, rank, kB, column, k);
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
    sums.emplace_back(spec_.software.gemm, sha256_hex(gemm_elf_.data(), gemm_elf_.size()));
  if (mode_ != "gemm")
    sums.emplace_back(spec_.software.ring, sha256_hex(ring_elf_.data(), ring_elf_.size()));
  return sums;
}

}  // namespace stretto
