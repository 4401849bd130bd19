// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/mca.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Register file of the model of mca: twin of rtl/mca/mca_regs.sv.
#ifndef STRETTO_SW_INCLUDE_REGS_MCA_FILE_H_
#define STRETTO_SW_INCLUDE_REGS_MCA_FILE_H_

#include <cstdint>

#include "sw/include/regs/field.h"
#include "sw/include/regs/mca_regs.h"

namespace stretto {

struct McaRegisters {
  enum class Name : uint8_t { control, threshold, cutoffs, starve_limit, dram_queue_depth, status, sample_sum, sample_cycles, grants_compute, grants_comm, grants_starved, drains, counter_clear, none };
  struct Place {
    Name name = Name::none;
    unsigned index = 0;  // In an array.
  };

  struct Control {
    uint8_t policy = 0;
    bool threshold_select = false;
    static constexpr Control from(uint64_t data) {
      return {
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, MCA_CONTROL_POLICY)),
          STRETTO_FIELD_GET(data, MCA_CONTROL_THRESHOLD_SELECT) != 0,
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(MCA_CONTROL_POLICY, policy) |
             STRETTO_FIELD(MCA_CONTROL_THRESHOLD_SELECT, threshold_select);
    }
  };

  struct Threshold {
    uint8_t limit = 0;
    static constexpr Threshold from(uint64_t data) {
      return {
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, MCA_THRESHOLD_LIMIT)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(MCA_THRESHOLD_LIMIT, limit);
    }
  };

  struct Cutoffs {
    uint8_t limit_5 = 32;
    uint8_t limit_10 = 16;
    uint8_t limit_30 = 8;
    static constexpr Cutoffs from(uint64_t data) {
      return {
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, MCA_CUTOFFS_LIMIT_5)),
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, MCA_CUTOFFS_LIMIT_10)),
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, MCA_CUTOFFS_LIMIT_30)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(MCA_CUTOFFS_LIMIT_5, limit_5) |
             STRETTO_FIELD(MCA_CUTOFFS_LIMIT_10, limit_10) |
             STRETTO_FIELD(MCA_CUTOFFS_LIMIT_30, limit_30);
    }
  };

  struct StarveLimit {
    uint32_t cycles = 1000;
    static constexpr StarveLimit from(uint64_t data) {
      return {
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, MCA_STARVE_LIMIT_CYCLES)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(MCA_STARVE_LIMIT_CYCLES, cycles);
    }
  };

  struct DramQueueDepth {
    uint8_t atoms = 64;
    static constexpr DramQueueDepth from(uint64_t data) {
      return {
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, MCA_DRAM_QUEUE_DEPTH_ATOMS)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(MCA_DRAM_QUEUE_DEPTH_ATOMS, atoms);
    }
  };

  struct Status {
    uint8_t occupancy = 0;
    uint8_t limit = 0;
    bool draining = false;
    bool measuring = false;
    uint8_t kernels = 0;
    uint16_t compute_pending = 0;
    uint16_t comm_pending = 0;
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(MCA_STATUS_OCCUPANCY, occupancy) |
             STRETTO_FIELD(MCA_STATUS_LIMIT, limit) |
             STRETTO_FIELD(MCA_STATUS_DRAINING, draining) |
             STRETTO_FIELD(MCA_STATUS_MEASURING, measuring) |
             STRETTO_FIELD(MCA_STATUS_KERNELS, kernels) |
             STRETTO_FIELD(MCA_STATUS_COMPUTE_PENDING, compute_pending) |
             STRETTO_FIELD(MCA_STATUS_COMM_PENDING, comm_pending);
    }
  };

  // Stored here.
  Control control;
  Threshold threshold;
  Cutoffs cutoffs;
  StarveLimit starve_limit;
  DramQueueDepth dram_queue_depth;

  // What a read returns of the registers of the block; of an array, of the element that is read.
  struct Hardware {
    Status status{};
    uint64_t sample_sum = 0;
    uint64_t sample_cycles = 0;
    uint64_t grants_compute = 0;
    uint64_t grants_comm = 0;
    uint64_t grants_starved = 0;
    uint64_t drains = 0;
  };

  static constexpr Place find(uint16_t address) {
    switch (address) {
      case MCA_CONTROL_OFFSET: return {Name::control, 0};
      case MCA_THRESHOLD_OFFSET: return {Name::threshold, 0};
      case MCA_CUTOFFS_OFFSET: return {Name::cutoffs, 0};
      case MCA_STARVE_LIMIT_OFFSET: return {Name::starve_limit, 0};
      case MCA_DRAM_QUEUE_DEPTH_OFFSET: return {Name::dram_queue_depth, 0};
      case MCA_STATUS_OFFSET: return {Name::status, 0};
      case MCA_SAMPLE_SUM_OFFSET: return {Name::sample_sum, 0};
      case MCA_SAMPLE_CYCLES_OFFSET: return {Name::sample_cycles, 0};
      case MCA_GRANTS_COMPUTE_OFFSET: return {Name::grants_compute, 0};
      case MCA_GRANTS_COMM_OFFSET: return {Name::grants_comm, 0};
      case MCA_GRANTS_STARVED_OFFSET: return {Name::grants_starved, 0};
      case MCA_DRAINS_OFFSET: return {Name::drains, 0};
      case MCA_COUNTER_CLEAR_OFFSET: return {Name::counter_clear, 0};
      default: break;
    }
    return {};
  }

  // Of a register that is stored here; nothing else happens.
  void write(Place place, uint64_t data) {
    switch (place.name) {
      case Name::control: control = Control::from(data); break;
      case Name::threshold: threshold = Threshold::from(data); break;
      case Name::cutoffs: cutoffs = Cutoffs::from(data); break;
      case Name::starve_limit: starve_limit = StarveLimit::from(data); break;
      case Name::dram_queue_depth: dram_queue_depth = DramQueueDepth::from(data); break;
      default: break;
    }
  }

  uint64_t read(Place place, const Hardware& hardware) const {
    switch (place.name) {
      case Name::control: return control.bits();
      case Name::threshold: return threshold.bits();
      case Name::cutoffs: return cutoffs.bits();
      case Name::starve_limit: return starve_limit.bits();
      case Name::dram_queue_depth: return dram_queue_depth.bits();
      case Name::status: return hardware.status.bits();
      case Name::sample_sum: return hardware.sample_sum;
      case Name::sample_cycles: return hardware.sample_cycles;
      case Name::grants_compute: return hardware.grants_compute;
      case Name::grants_comm: return hardware.grants_comm;
      case Name::grants_starved: return hardware.grants_starved;
      case Name::drains: return hardware.drains;
      default: return 0;
    }
  }
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_MCA_FILE_H_
