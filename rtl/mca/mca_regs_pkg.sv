// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/mca.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, resets, field positions and values.
// A package offers more than one user needs:
// verilator lint_off UNUSEDPARAM
package mca_regs_pkg;

  // Policy of the arbiter; may be written under traffic. (read, write)
  localparam logic [15:0] ControlOffset = 16'h0;
  localparam logic [63:0] ControlReset = 64'h0;
  localparam int unsigned ControlPolicyLsb = 0;  // Who goes first; a value without a name is compute_exclusive (during a drain every policy is round_robin).
  localparam int unsigned ControlPolicyWidth = 4;
  localparam logic [3:0] ControlPolicyRoundRobin = 4'd0;
  localparam logic [3:0] ControlPolicyCommunicationAware = 4'd1;
  localparam logic [3:0] ControlPolicyComputeFirstNoLimit = 4'd2;
  localparam logic [3:0] ControlPolicyComputeExclusive = 4'd3;
  localparam int unsigned ControlThresholdSelectLsb = 4;  // Where the occupancy limit of communication_aware comes from.
  localparam int unsigned ControlThresholdSelectWidth = 1;
  localparam logic [0:0] ControlThresholdSelectFixed = 1'd0;
  localparam logic [0:0] ControlThresholdSelectAutomatic = 1'd1;
  typedef struct packed {
    logic threshold_select;
    logic [3:0] policy;
  } control_t;

  // The limit under threshold_select fixed. (read, write)
  localparam logic [15:0] ThresholdOffset = 16'h8;
  localparam logic [63:0] ThresholdReset = 64'h0;
  localparam int unsigned ThresholdLimitLsb = 0;  // Communication is granted only while the DRAM queue holds fewer atoms; 0 = no limit. The paper uses 5, 10, 30 and none.
  localparam int unsigned ThresholdLimitWidth = 7;
  typedef struct packed {
    logic [6:0] limit;
  } threshold_t;

  // Mean DRAM-queue occupancies that choose the limit under threshold_select automatic (T3-U05). (read, write)
  localparam logic [15:0] CutoffsOffset = 16'h10;
  localparam logic [63:0] CutoffsReset = 64'h81020;
  localparam int unsigned CutoffsLimit5Lsb = 0;  // Mean above this gives limit 5.
  localparam int unsigned CutoffsLimit5Width = 7;
  localparam int unsigned CutoffsLimit10Lsb = 8;  // Otherwise, mean above this gives limit 10.
  localparam int unsigned CutoffsLimit10Width = 7;
  localparam int unsigned CutoffsLimit30Lsb = 16;  // Otherwise, mean above this gives limit 30, else none.
  localparam int unsigned CutoffsLimit30Width = 7;
  typedef struct packed {
    logic [6:0] limit_30;
    logic [6:0] limit_10;
    logic [6:0] limit_5;
  } cutoffs_t;

  // Communication that has waited this long goes first (not in round_robin, which cannot starve). (read, write)
  localparam logic [15:0] StarveLimitOffset = 16'h18;
  localparam logic [63:0] StarveLimitReset = 64'h3e8;
  localparam int unsigned StarveLimitCyclesLsb = 0;  // Memory clock cycles since the last communication grant, or since the queue became non-empty.
  localparam int unsigned StarveLimitCyclesWidth = 32;
  typedef struct packed {
    logic [31:0] cycles;
  } starve_limit_t;

  // Capacity of the DRAM queue. (read, write)
  localparam logic [15:0] DramQueueDepthOffset = 16'h20;
  localparam logic [63:0] DramQueueDepthReset = 64'h40;
  localparam int unsigned DramQueueDepthAtomsLsb = 0;  // Atoms, 1..127; no grant while the queue holds that many.
  localparam int unsigned DramQueueDepthAtomsWidth = 7;
  typedef struct packed {
    logic [6:0] atoms;
  } dram_queue_depth_t;

  // State of the arbiter. (read only)
  localparam logic [15:0] StatusOffset = 16'h28;
  localparam logic [63:0] StatusReset = 64'h0;
  localparam int unsigned StatusOccupancyLsb = 0;  // Atoms in the DRAM queue.
  localparam int unsigned StatusOccupancyWidth = 8;
  localparam int unsigned StatusLimitLsb = 8;  // Occupancy limit in force; 0 = none.
  localparam int unsigned StatusLimitWidth = 7;
  localparam int unsigned StatusDrainingLsb = 16;  // A kernel ended and the communication queue is not empty yet.
  localparam int unsigned StatusDrainingWidth = 1;
  localparam int unsigned StatusMeasuringLsb = 17;  // Between kernel_start and first_wg_done.
  localparam int unsigned StatusMeasuringWidth = 1;
  localparam int unsigned StatusKernelsLsb = 20;  // Kernels started and not ended.
  localparam int unsigned StatusKernelsWidth = 4;
  localparam int unsigned StatusComputePendingLsb = 32;  // Atoms in the compute queue.
  localparam int unsigned StatusComputePendingWidth = 16;
  localparam int unsigned StatusCommPendingLsb = 48;  // Atoms in the communication queue.
  localparam int unsigned StatusCommPendingWidth = 16;
  typedef struct packed {
    logic [15:0] comm_pending;
    logic [15:0] compute_pending;
    logic [3:0] kernels;
    logic measuring;
    logic draining;
    logic [6:0] limit;
    logic [7:0] occupancy;
  } status_t;

  // Sum of the DRAM-queue occupancy over the measured cycles (48 bits). (read only)
  localparam logic [15:0] SampleSumOffset = 16'h30;
  localparam logic [63:0] SampleSumReset = 64'h0;

  // Measured cycles, those with an empty communication queue between kernel_start and first_wg_done (40 bits). (read only)
  localparam logic [15:0] SampleCyclesOffset = 16'h38;
  localparam logic [63:0] SampleCyclesReset = 64'h0;

  // Compute atoms granted since reset or counter_clear (48 bits). (read only)
  localparam logic [15:0] GrantsComputeOffset = 16'h40;
  localparam logic [63:0] GrantsComputeReset = 64'h0;

  // Communication atoms granted since reset or counter_clear (48 bits). (read only)
  localparam logic [15:0] GrantsCommOffset = 16'h48;
  localparam logic [63:0] GrantsCommReset = 64'h0;

  // Communication atoms granted because of starve_limit alone (48 bits). (read only)
  localparam logic [15:0] GrantsStarvedOffset = 16'h50;
  localparam logic [63:0] GrantsStarvedReset = 64'h0;

  // Drains completed since reset or counter_clear (48 bits). (read only)
  localparam logic [15:0] DrainsOffset = 16'h58;
  localparam logic [63:0] DrainsReset = 64'h0;

  // A write of any value clears the four counters above. (write only, reads 0)
  localparam logic [15:0] CounterClearOffset = 16'h60;
  localparam logic [63:0] CounterClearReset = 64'h0;

endpackage
// verilator lint_on UNUSEDPARAM
