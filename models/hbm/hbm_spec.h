// SPDX-License-Identifier: Apache-2.0
// Parameters of the HBM of one GPU.
#ifndef STRETTO_MODELS_HBM_HBM_SPEC_H_
#define STRETTO_MODELS_HBM_HBM_SPEC_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "models/common/spec.h"
#include "models/hbm/address_mapping.h"

namespace stretto {

enum class WritePolicy : uint8_t { mixed, watermark };
enum class Refresh : uint8_t { none, all_bank, single_bank };
enum class Updates : uint8_t { near_bank, controller, none };

struct HbmSpec {
  uint32_t clock_mhz = 1000;
  uint32_t channels = 32;
  uint32_t interleave_bytes = 256;
  bool interleave_hash = true;
  uint32_t row_bytes = 2048;
  uint32_t input_queue_atoms = 64;
  uint32_t dram_queue_atoms = 64;
  uint32_t queue_unit_bytes = 64;
  WritePolicy write_policy = WritePolicy::mixed;
  uint32_t write_high_atoms = 32;
  uint32_t write_low_atoms = 8;
  std::string timing = "t3";
  Refresh refresh = Refresh::all_bank;
  Updates updates = Updates::near_bank;
  uint32_t atomic_cycles = 4;
  bool same_atom_order = true;
  bool check = true;
  bool sleep = true;
  uint64_t fault_drop_update = 0;
  uint64_t fault_double_update = 0;
  std::string fault_timing_rule;

  // Entries of the two queues, an atom each.
  uint32_t input_queue_depth() const {
    return std::max(1u, input_queue_atoms * queue_unit_bytes / 64);
  }
  uint32_t dram_queue_depth() const {
    return std::max(4u, dram_queue_atoms * queue_unit_bytes / 64);
  }
  HbmAddressMapping mapping() const {
    return {channels, interleave_bytes, row_bytes, interleave_hash};
  }
};

inline void describe(HbmSpec& spec, ParameterSet& set) {
  set.number("clock_mhz", spec.clock_mhz, 100, 4000,
             "Memory clock in MHz; timing sets count its cycles.");
  set.choice<uint32_t>("channels", spec.channels,
                       {{"1", 1}, {"2", 2}, {"4", 4}, {"8", 8}, {"16", 16}, {"32", 32}},
                       "Channels; each moves at most 64 B in two cycles.");
  set.choice<uint32_t>(
      "interleave_bytes", spec.interleave_bytes, {{"256", 256}, {"512", 512}, {"1024", 1024}},
      "Bytes of a block that lies in one channel; larger blocks hit rows more and spread less.");
  set.flag("interleave_hash", spec.interleave_hash,
           "XOR higher address bits into channel and bank group.");
  set.choice<uint32_t>("row_bytes", spec.row_bytes,
                       {{"1024", 1024}, {"2048", 2048}, {"4096", 4096}},
                       "Bytes of a row of one bank.");
  set.number("input_queue_atoms", spec.input_queue_atoms, 1, 4096,
             "Depth of a channel's compute and of its communication queue; what does not fit waits "
             "before it.");
  set.number("dram_queue_atoms", spec.dram_queue_atoms, 4, 64,
             "Depth of the FR-FCFS queue; deeper finds more row hits and delays more.");
  // 64 entries of 32 B: SM7_QV100/gpgpusim.config of Accel-Sim, -gpgpu_frfcfs_dram_sched_queue_size 64
  // and -gpgpu_dram_partition_queues 64:64:64:64, whose entries are sectors of 32 B.
  set.choice<uint32_t>("queue_unit_bytes", spec.queue_unit_bytes, {{"32", 32}, {"64", 64}},
                       "What counts as an atom in the depths of both queues; 32 halves them.");
  set.choice(
      "write_policy", spec.write_policy,
      {{"mixed", WritePolicy::mixed}, {"watermark", WritePolicy::watermark}},
      "mixed: reads and writes compete by FR-FCFS; watermark: writes wait and leave in batches.");
  set.number("write_high_atoms", spec.write_high_atoms, 1, 64,
             "watermark: a batch begins at this many writes queued.");
  set.number("write_low_atoms", spec.write_low_atoms, 0, 63,
             "watermark: a batch ends at this many.");
  set.choice<std::string>("timing", spec.timing, {{"t3", "t3"}, {"hbm2_generic", "hbm2_generic"}},
                          "Name of the timing set (models/hbm/timing_table.cpp).");
  // JESD235C has both commands.
  set.choice("refresh", spec.refresh,
             {{"none", Refresh::none},
              {"all_bank", Refresh::all_bank},
              {"single_bank", Refresh::single_bank}},
             "all_bank: a channel stands still for tRFC each tREFI; single_bank: one bank of 16 at "
             "a time, "
             "for tRFCSB.");
  set.choice(
      "updates", spec.updates,
      {{"near_bank", Updates::near_bank},
       {"controller", Updates::controller},
       {"none", Updates::none}},
      "Who adds: near_bank: an op-and-store beside the banks; controller: an atomic unit of "
      "the channel's memory controller, which reads, adds and writes back (T3-NMC-07); none: "
      "updates are refused.");
  set.number("atomic_cycles", spec.atomic_cycles, 0, 1000,
             "controller: from the end of the data that an atomic unit reads to its write, which "
             "may go then.");
  set.flag("same_atom_order", spec.same_atom_order,
           "Keep accesses to one atom in order. Fault injection when false: results may be wrong.");
  set.flag("check", spec.check, "Check every DRAM command against an independent timing table.");
  set.flag("sleep", spec.sleep,
           "Sleep to the next cycle with work; false ticks every cycle, for tests of equality.");
  set.number("fault.drop_update", spec.fault_drop_update, 0, ~uint64_t{0},
             "Fault injection: the update atom of this number (from 1) is not applied; 0 = none.");
  set.number(
      "fault.double_update", spec.fault_double_update, 0, ~uint64_t{0},
      "Fault injection: the update atom of this number (from 1) is applied twice; 0 = none.");
  set.text("fault.timing_rule", spec.fault_timing_rule,
           "Fault injection: the timing rule of this name (tRCDRD ...) is one cycle short.");
}

}  // namespace stretto

#endif  // STRETTO_MODELS_HBM_HBM_SPEC_H_
