// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/sub_layer/sub_layer_checks.h"

#include "models/common/error.h"
#include "platform/jobs/operands.h"
#include "sw/include/regs/mca_regs.h"

namespace stretto {

ring_gemm_mode_t sub_layer_mode(const std::string& name) {
  return mode_named(name, RING_GEMM_MODES, ring_gemm_mode_name);
}

bool sub_layer_fuses(ring_gemm_mode_t mode) {
  return mode == RING_GEMM_T3 || mode == RING_GEMM_T3_MCA || mode == RING_GEMM_DIRECT;
}

std::string sub_layer_kernels(const SubLayerKind& kind, const std::string& kernels) {
  const bool shipped = kernel_path(kernels) != kernels;  // A file is of 8 bits as it stands.
  return kind.element == ElementType::e4m3 && shipped ? kernels + "_e4m3" : kernels;
}

ring_gemm_parameters_t sub_layer_parameters(const SubLayerKind& kind, const JobRequest& request,
                                            uint32_t rank) {
  const MachineSpec& spec = request.spec;
  const SoftwareSpec& software = spec.software;
  ring_gemm_parameters_t p{};
  p.mode = sub_layer_mode(request.mode);
  p.rank = rank;
  p.ranks = request.ranks();
  p.host_ranks = spec.sim.mirror ? 1 : p.ranks;
  p.m = kind.m;
  p.n = kind.n;
  p.k = kind.k;
  p.a_k_contiguous = kind.a_k_contiguous;
  p.b_k_contiguous = kind.b_k_contiguous;
  p.e4m3 = kind.element == ElementType::e4m3;
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

namespace {

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
  if (sub_layer_fuses(p.mode) && (order.along - 1) * (steps - 1) >= kMaxProduct) {
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
  if (p.e4m3) throw UserError(split + "needs sub_layer.element=fp16");
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
  if (!sub_layer_fuses(p.mode) && p.mode != RING_GEMM_SEQUENTIAL)
    throw UserError(who + "needs a whole sub-layer: mode sequential, t3, t3-mca or direct");
  if (p.e4m3) throw UserError(who + "needs sub_layer.element=fp16");
  if (request.spec.sim.mirror) throw UserError(who + "cannot be mirrored");
  if (p.mode == RING_GEMM_DIRECT && request.data == DataMode::real)
    throw UserError(who + "in mode direct needs --data stamp: the order of additions is not known");
}

// The machine must multiply FP8, and sums of stamps be whole numbers that it holds: up to 16.
void check_element(const JobRequest& request, const ring_gemm_parameters_t& p) {
  constexpr uint32_t kWhole = 16;
  if (!p.e4m3) return;
  const std::string who = "sub_layer.element=e4m3 ";
  const GpuSpec& gpu = request.spec.gpu;
  if (p.mode <= RING_GEMM_GEMM && gpu.tensor_fp8_rate == 0) {
    throw UserError(who + "needs a machine that multiplies it: gpu.tensor_fp8_rate=2, as H100, " +
                    "or 4, by area");
  }
  if (request.data != DataMode::stamp || gpu.stamp_limit <= kWhole / request.spec.gpus) return;
  const std::string needs = who + "holds whole sums up to 16: --data stamp of " +
                            std::to_string(request.spec.gpus) + " GPUs needs ";
  throw UserError(needs + (request.spec.gpus > kWhole
                               ? "at most 16"
                               : "gpu.stamp_limit=" + std::to_string(kWhole / request.spec.gpus)));
}

void check_fits(const SubLayerKind& kind, const JobRequest& request) {
  ring_gemm_parameters_t p = sub_layer_parameters(kind, request, 0);
  check_element(request, p);
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
  if (spec.hbm.updates == Updates::none &&
      (sub_layer_fuses(sub_layer_mode(mode)) || mode == "rs-nmc"))
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
  const std::string gemm_name = sub_layer_kernels(kind, software.gemm),
                    ring_name = sub_layer_kernels(kind, software.ring);
  const std::vector<uint8_t> gemm = kernel_file(gemm_name), ring = kernel_file(ring_name);
  ring_gemm_parameters_t p = sub_layer_parameters(kind, request, 0);
  p.gemm_elf = gemm.data();
  p.gemm_elf_bytes = gemm.size();
  p.ring_elf = ring.data();
  p.ring_elf_bytes = ring.size();
  char error[256];
  if (ring_gemm_check_gemm_elf(&p, error, sizeof error) != STRETTO_OK)
    throw UserError(kernel_path(gemm_name) + ": " + error);
  if (ring_gemm_check_ring_elf(&p, error, sizeof error) != STRETTO_OK)
    throw UserError(kernel_path(ring_name) + ": " + error);
}

}  // namespace

void check_sub_layer(const SubLayerKind& kind, const JobRequest& request) {
  check_machine(request);
  check_fits(kind, request);
  check_kernels(kind, request);
}

}  // namespace stretto
