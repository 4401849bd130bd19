// SPDX-License-Identifier: Apache-2.0
// Parameters of the compute side of a GPU. Defaults are T3 Table 1's machine.
#ifndef STRETTO_MODELS_GPU_BASE_GPU_SPEC_H_
#define STRETTO_MODELS_GPU_BASE_GPU_SPEC_H_

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "models/common/payload_extension.h"
#include "models/common/spec.h"

namespace stretto {

enum class StageMode : uint8_t {
  free,         // A work-group starts as soon as a unit has room for it.
  synchronous,  // A stage (what is resident at once) starts only when all of the one before has ended.
};

// Who executes work-groups.
enum class Executor : uint8_t {
  iss,       // The instruction-set simulator.
  sampled,   // Bodies take times that were measured (models/sampled).
  measured,  // The instruction-set simulator, and what it takes is noted.
};

// Of tests: what of a suspended work-group is lost.
enum class RestoreFault : uint8_t {
  none,
  tiles,
  registers,  // x5 .. x31
  bytes,      // The last line is not read.
};

struct GpuSpec {
  uint32_t cus = 80;
  uint32_t clock_mhz = 1400;
  uint32_t registers_bytes = 256 * 1024;
  uint32_t lds_bytes = 128 * 1024;
  uint32_t wavefront_slots = 64;
  uint32_t workgroup_slots = 32;
  uint32_t issue_ports = 4;
  uint32_t memory_instruction_bytes = 512;
  uint32_t lds_instruction_bytes = 512;
  uint32_t product_instruction_fma = 256;
  uint32_t operand_instruction_bytes = 256;
  uint32_t product_overhead_slots = 20;
  uint32_t simt_instruction_lanes = 32;
  uint32_t tensor_fma_per_cycle = 512;
  uint32_t tensor_efficiency_numerator = 4;
  uint32_t tensor_efficiency_denominator = 5;
  uint32_t tensor_tf32_passes = 0;
  uint32_t tensor_fp8_rate = 0;
  uint32_t simt_lanes = 64;
  uint32_t simt_fp16_per_lane = 2;
  uint32_t pipe_turn_cycles = 0;
  uint32_t start_cycles = 32;
  uint32_t step_instructions = 4096;
  uint32_t poll_interval_ns = 500;
  uint32_t scalar_cache_kib = 16;
  uint32_t scalar_cache_ways = 16;
  uint32_t scalar_cache_hit_cycles = 12;
  StageMode stage_mode = StageMode::free;
  Executor executor = Executor::iss;
  uint32_t stamp_limit = 256;
  bool tile_values = true;
  uint32_t fault_product_speed = 1;
  Scope fault_fence_scope = Scope::system;
  RestoreFault fault_restore = RestoreFault::none;

  // The first thing wrong, in words; empty if nothing is.
  std::string check() const {
    if (tensor_efficiency_numerator > tensor_efficiency_denominator)
      return "gpu.tensor_efficiency is above 1";
    if (wavefront_slots < 8) return "gpu.wavefront_slots holds no work-group of 8 wavefronts";
    if (!std::has_single_bit(scalar_cache_kib * 16 / scalar_cache_ways) ||
        scalar_cache_kib * 16 % scalar_cache_ways != 0)
      return "gpu.scalar_cache_kib / (64 B * gpu.scalar_cache_ways) is not a power of two";
    return "";
  }
};

inline void describe(GpuSpec& spec, ParameterSet& set) {
  set.number("cus", spec.cus, 1, 160, "Compute units.");
  set.number("clock_mhz", spec.clock_mhz, 100, 5000,
             "Clock of compute units, L2 and grid scheduler.");
  set.number("registers_bytes", spec.registers_bytes, 4096, 1u << 20,
             "Register file of a compute unit.");
  set.number("lds_bytes", spec.lds_bytes, 1024, 1u << 20, "LDS of a compute unit.");
  set.number("wavefront_slots", spec.wavefront_slots, 8, 64,
             "Wavefronts resident on a compute unit.");
  set.number("workgroup_slots", spec.workgroup_slots, 1, 40,
             "Work-groups resident on a compute unit.");
  set.number("issue_ports", spec.issue_ports, 1, 16,
             "Instructions a compute unit issues a clock, one a scheduler.");
  set.number("memory_instruction_bytes", spec.memory_instruction_bytes, 0, 65536,
             "What one memory instruction of a wavefront moves (lanes x bytes each): a tile load "
             "or store takes that many issue "
             "slots (GD-MMIO-03); 0 = one, a unit beside the schedulers splits it.");
  set.number("lds_instruction_bytes", spec.lds_instruction_bytes, 0, 65536,
             "What one instruction of a wavefront puts from its registers into LDS: a tile load to "
             "LDS takes that many issue slots more; 0 = loads go there by themselves.");
  set.number("product_instruction_fma", spec.product_instruction_fma, 0, 1u << 20,
             "Multiply-adds of one native matrix instruction of a wavefront; a product takes the "
             "issue slots of those that it stands for while its pipe works; 0 = none.");
  set.number("operand_instruction_bytes", spec.operand_instruction_bytes, 0, 65536,
             "New operand bytes that one native load from LDS brings to a wavefront with a tile of "
             "64 x 64; issue slots of a product, too; 0 = none.");
  set.number("product_overhead_slots", spec.product_overhead_slots, 0, 10000,
             "Addresses, barriers and branches of a product, in issue slots of each wavefront of "
             "its work-group.");
  set.number("simt_instruction_lanes", spec.simt_instruction_lanes, 0, 1024,
             "Lanes of one native SIMT instruction, two FP16 each: a SIMT operation takes the "
             "issue slots of those that it stands for while its pipe works; 0 = none.");
  set.number("tensor_fma_per_cycle", spec.tensor_fma_per_cycle, 1, 65536,
             "FP16 multiply-adds a clock of a compute unit.");
  set.number("tensor_efficiency_numerator", spec.tensor_efficiency_numerator, 1, 1000,
             "Share of the tensor peak that a K loop sustains: LDS operand fetch and issue slots "
             "take the rest.");
  set.number("tensor_efficiency_denominator", spec.tensor_efficiency_denominator, 1, 1000,
             "Divisor of that share.");
  set.number("tensor_tf32_passes", spec.tensor_tf32_passes, 0, 16,
             "Passes of the FP16 array that a TF32 product takes; 0 = no such products.");
  set.number("tensor_fp8_rate", spec.tensor_fp8_rate, 0, 16,
             "FP8 multiply-adds for one of FP16: 2 on H100 (1979 and 989 TFLOP/s), 4 where a "
             "multiplier's area is the square of its bits (T3 7.5); 0 = no such products.");
  set.number("simt_lanes", spec.simt_lanes, 1, 4096,
             "FP32 elements a clock of the SIMT pipe; also the multiply-adds of FP32 products.");
  set.number("simt_fp16_per_lane", spec.simt_fp16_per_lane, 1, 8,
             "FP16 elements a clock of a SIMT lane; two of other elements below four bytes.");
  set.number("pipe_turn_cycles", spec.pipe_turn_cycles, 0, 1u << 20,
             "Clocks after which a pipe turns to the next work-group that has an operation for it; "
             "0 = operations run to their end.");
  set.number("start_cycles", spec.start_cycles, 0, 10000,
             "Clocks from dispatch to the first instruction of a work-group.");
  set.number("step_instructions", spec.step_instructions, 1, 1u << 20,
             "Instructions of a wavefront that are simulated at a time; changes host time only.");
  set.number("poll_interval_ns", spec.poll_interval_ns, 10, 100000,
             "What a wait_until is charged: one poll per interval.");
  set.number("scalar_cache_kib", spec.scalar_cache_kib, 1, 1024,
             "Cache of a compute unit for scalar loads of shared ranges, lines of 64 B; ComP-Net "
             "Table 1 (vector cache of a GCN3 unit).");
  set.number("scalar_cache_ways", spec.scalar_cache_ways, 1, 64, "Its associativity.");
  set.number("scalar_cache_hit_cycles", spec.scalar_cache_hit_cycles, 1, 1000,
             "Clocks of a load that hits in it.");
  set.choice<StageMode>("stage_mode", spec.stage_mode,
                        {{"free", StageMode::free}, {"synchronous", StageMode::synchronous}},
                        "Whether work-groups drift freely or a stage starts as one.");
  set.choice<Executor>(
      "executor", spec.executor,
      {{"iss", Executor::iss}, {"sampled", Executor::sampled}, {"measured", Executor::measured}},
      "Who executes work-groups: the instruction-set simulator; times that were measured, without "
      "what they compute; or the simulator, noting times (sampled.*).");
  set.flag("tile_values", spec.tile_values,
           "Work out what tensor and SIMT operations on numbers yield; false = zeros, where only "
           "time matters.");
  set.number("fault.product_speed", spec.fault_product_speed, 1, 1000,
             "Fault injection: products take so many times less than they may.");
  set.choice("fault.restore", spec.fault_restore,
             {{"none", RestoreFault::none},
              {"tiles", RestoreFault::tiles},
              {"registers", RestoreFault::registers},
              {"bytes", RestoreFault::bytes}},
             "What a resumed work-group does not get back, for tests.");
  set.choice<Scope>("fault.fence_scope", spec.fault_fence_scope,
                    {{"wavefront", Scope::wavefront},
                     {"work_group", Scope::work_group},
                     {"device", Scope::device},
                     {"system", Scope::system}},
                    "Fault injection: fences, .aq and .rl of wavefronts reach no cache beyond this "
                    "scope.");
  set.number("stamp_limit", spec.stamp_limit, 1, 2048,
             "Largest stamp value: 2048 / ranks, so that FP16 sums are exact.");
}

enum class L2Replacement : uint8_t {
  lru,     // True least recently used.
  plru,    // Tree of bits that point away from what was used.
  random,  // Any way, drawn from a fixed sequence.
};

struct L2Spec {
  uint32_t bytes = 16 * 1024 * 1024;
  uint32_t ways = 16;
  L2Replacement replacement = L2Replacement::lru;
  uint32_t persist_percent = 75;
  uint32_t lock_ways = 0;
  uint32_t lock_limit_cycles = 20'000;
  uint32_t banks = 64;
  uint32_t bank_bytes_per_cycle = 32;
  uint32_t request_cycles = 105;
  uint32_t response_cycles = 105;
  uint32_t memory_cycles = 0;
  uint32_t cu_load_bytes_per_cycle = 64;
  uint32_t cu_store_bytes_per_cycle = 32;
  uint32_t write_backs_in_flight = 64;
  // Limits of a slice; 0 = none. Accel-Sim's SM7_QV100/gpgpusim.config: -gpgpu_cache:dl2 ...,A:192:4,
  // -gpgpu_dram_partition_queues 64:64:64:64, both in sectors of 32 B: 96, 4 and 32 here.
  uint32_t miss_entries = 0;
  uint32_t merges = 0;
  uint32_t memory_queue_sectors = 0;
  uint32_t partitions = 1;
  uint32_t partition_link_cycles = 0;
  uint32_t partition_link_bytes_per_cycle = 0;
  bool fault_keep_copies = false;

  // Ways of each set that pinned ranges may have; never all.
  uint32_t persist_ways() const { return std::min(ways * persist_percent / 100, ways - 1); }

  bool limited() const { return (miss_entries | merges | memory_queue_sectors) != 0; }
  std::string check() const {
    if (lock_ways >= ways)
      return "l2.lock_ways = " + std::to_string(lock_ways) +
             " leaves no way of l2.ways = " + std::to_string(ways) + " to other lines: at most " +
             std::to_string(ways - 1);
    if (partitions > 1 && partition_link_cycles < 2)
      return "l2.partitions = " + std::to_string(partitions) +
             " needs l2.partition_link_cycles of at least 2";
    if (!std::has_single_bit(bank_bytes_per_cycle))
      return "l2.bank_bytes_per_cycle = " + std::to_string(bank_bytes_per_cycle) +
             " is no power of two: a bank serves 64 B in whole clocks";
    const uint64_t line_ways = uint64_t{128} * ways * banks;
    const uint64_t sets = bytes / line_ways;
    if (bytes % line_ways == 0 && (sets & (sets - 1)) == 0) return "";
    return "l2.bytes = " + std::to_string(bytes) +
           " makes no power of two of sets a bank with l2.ways = " + std::to_string(ways) +
           " and l2.banks = " + std::to_string(banks) + ": it is 128 * l2.ways * l2.banks * sets";
  }
};

inline void describe(L2Spec& spec, ParameterSet& set) {
  set.number("bytes", spec.bytes, 64 * 1024, 1u << 30, "Size of the L2.");
  set.number("ways", spec.ways, 1, 16, "Associativity.");
  set.choice<L2Replacement>("replacement", spec.replacement,
                            {{"lru", L2Replacement::lru},
                             {"plru", L2Replacement::plru},
                             {"random", L2Replacement::random}},
                            "Which line of a full set gives way.");
  set.number("persist_percent", spec.persist_percent, 0, 100,
             "Share of the ways that pinned ranges may be given, rounded down; never all. 75 on an "
             "A100 (persistingL2CacheMaxSize).");
  set.number(
      "lock_ways", spec.lock_ways, 0, 15,
      "Lines of a set that tile.llc_store may lock until a hart reads them, fewer than ways; "
      "more keep more announcements and leave less to all other lines; 0 = it locks nothing.");
  // ComP-Net, 4.2.3: lines stay locked for 800 ns to 1 us.
  set.number("lock_limit_cycles", spec.lock_limit_cycles, 1, 1'000'000'000,
             "A lock ends so many clocks after its store though no hart has read the line.");
  set.number("banks", spec.banks, 1, 1024, "Banks, a multiple of the HBM channels.");
  set.number("bank_bytes_per_cycle", spec.bank_bytes_per_cycle, 8, 64,
             "What a bank moves a clock, a power of two: 64 B in whole clocks; 32 = 44.8 B/ns.");
  set.number("request_cycles", spec.request_cycles, 1, 10000,
             "Clocks from a compute unit to a bank's answer, going in.");
  set.number("response_cycles", spec.response_cycles, 1, 10000,
             "Clocks on the way back; together 150 ns at 1.4 GHz.");
  set.number("memory_cycles", spec.memory_cycles, 0, 10000,
             "Clocks from a bank to the memory's controller and back, of misses and of accesses "
             "that pass the cache.");
  set.number("cu_load_bytes_per_cycle", spec.cu_load_bytes_per_cycle, 16, 256,
             "Load port of a compute unit.");
  set.number("cu_store_bytes_per_cycle", spec.cu_store_bytes_per_cycle, 16, 256,
             "Store port of a compute unit.");
  set.number("write_backs_in_flight", spec.write_backs_in_flight, 1, 4096,
             "Write-backs a channel has outstanding during a kernel boundary.");
  set.number("miss_entries", spec.miss_entries, 0, 65535,
             "Sectors (64 B) that a slice, which is a bank, waits for from memory; an access that "
             "finds no entry stops its slice and all behind it; 0 = no limit.");
  set.number("merges", spec.merges, 0, 65535,
             "Requests that wait for one sector on its way, the first among them; one more stops "
             "its slice; 0 = no limit.");
  set.number("memory_queue_sectors", spec.memory_queue_sectors, 0, 65535,
             "Sectors of a slice on their way to the memory's arbiter or in its queue; a slice "
             "with so many stops, hits too; 0 = no limit.");
  set.number(
      "partitions", spec.partitions, 1, 2,
      "Halves of the L2, each with half of the channels, the banks and the compute units: a "
      "line has its home in one of them, and the other keeps a copy of what its units read.");
  set.number("partition_link_cycles", spec.partition_link_cycles, 0, 10000,
             "Clocks from one partition to the other and back.");
  set.number("partition_link_bytes_per_cycle", spec.partition_link_bytes_per_cycle, 0, 128,
             "What each bank's lane between the partitions carries a clock and direction; 0 = no "
             "limit.");
  set.flag("fault.keep_copies", spec.fault_keep_copies,
           "Fault injection: copies in the other partition stay when their line is written or "
           "leaves its home.");
}

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_BASE_GPU_SPEC_H_
