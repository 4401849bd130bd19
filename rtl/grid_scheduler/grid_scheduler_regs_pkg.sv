// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/grid_scheduler.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, resets, field positions and values.
// A package offers more than one user needs:
// verilator lint_off UNUSEDPARAM
package grid_scheduler_regs_pkg;

  // Compute units in use; change it and capacity only while no slot runs. (read, write)
  localparam logic [15:0] CusOffset = 16'h0;
  localparam logic [63:0] CusReset = 64'h50;
  localparam int unsigned CusCountLsb = 0;  // 1..160; 0 or more than are built means all.
  localparam int unsigned CusCountWidth = 8;
  typedef struct packed {
    logic [7:0] count;
  } cus_t;

  // What one compute unit has (reset: 256 KiB of registers, 96 KiB of LDS, 64 wavefronts, 32 work-groups). (read, write)
  localparam logic [15:0] CapacityOffset = 16'h8;
  localparam logic [63:0] CapacityReset = 64'h20004000600100;
  localparam int unsigned CapacityRegistersKibLsb = 0;  // Register file in KiB.
  localparam int unsigned CapacityRegistersKibWidth = 10;
  localparam int unsigned CapacityLdsKibLsb = 16;  // Local data share in KiB.
  localparam int unsigned CapacityLdsKibWidth = 10;
  localparam int unsigned CapacityWavefrontsLsb = 32;  // Wavefront slots.
  localparam int unsigned CapacityWavefrontsWidth = 8;
  localparam int unsigned CapacityWorkGroupsLsb = 48;  // Work-group slots.
  localparam int unsigned CapacityWorkGroupsWidth = 8;
  typedef struct packed {
    logic [7:0] work_groups;
    logic [7:0] wavefronts;
    logic [9:0] lds_kib;
    logic [9:0] registers_kib;
  } capacity_t;

  // Slots whose kernel ended or was refused; clearing a bit frees the slot. (read, write 1 to clear)
  localparam logic [15:0] DoneOffset = 16'h10;
  localparam logic [63:0] DoneReset = 64'h0;
  localparam int unsigned DoneSlotsLsb = 0;  // One bit a slot.
  localparam int unsigned DoneSlotsWidth = 32;
  typedef struct packed {
    logic [31:0] slots;
  } done_t;

  // The interrupt is high while (done and irq_enable) is not zero. (read, write)
  localparam logic [15:0] IrqEnableOffset = 16'h18;
  localparam logic [63:0] IrqEnableReset = 64'h0;
  localparam int unsigned IrqEnableSlotsLsb = 0;  // One bit a slot.
  localparam int unsigned IrqEnableSlotsWidth = 32;
  typedef struct packed {
    logic [31:0] slots;
  } irq_enable_t;

  // All slots at a glance. (read only)
  localparam logic [15:0] StatusOffset = 16'h20;
  localparam logic [63:0] StatusReset = 64'h0;
  localparam int unsigned StatusRunningLsb = 0;  // One bit a slot that runs.
  localparam int unsigned StatusRunningWidth = 32;
  localparam int unsigned StatusUndispatchedLsb = 32;  // One bit a slot with work-groups not yet placed.
  localparam int unsigned StatusUndispatchedWidth = 32;
  typedef struct packed {
    logic [31:0] undispatched;
    logic [31:0] running;
  } status_t;

  // Work-groups placed since reset or counter_clear (48 bits). (read only)
  localparam logic [15:0] DispatchedOffset = 16'h28;
  localparam logic [63:0] DispatchedReset = 64'h0;

  // Work-groups ended since reset or counter_clear (48 bits). (read only)
  localparam logic [15:0] FinishedOffset = 16'h30;
  localparam logic [63:0] FinishedReset = 64'h0;

  // Work-groups that left their unit preempted since reset or counter_clear (48 bits). (read only)
  localparam logic [15:0] DrainedOffset = 16'h38;
  localparam logic [63:0] DrainedReset = 64'h0;

  // A write of any value clears the three counters above. (write only, reads 0)
  localparam logic [15:0] CounterClearOffset = 16'h40;
  localparam logic [63:0] CounterClearReset = 64'h0;

  // Who is served, and how units are searched; may change at any time. (read, write)
  localparam logic [15:0] PolicyOffset = 16'h48;
  localparam logic [63:0] PolicyReset = 64'h0;
  localparam int unsigned PolicyOrderLsb = 0;  // launch: a slot waits until those launched before it (of its class, with two arbiters) have placed all.
  localparam int unsigned PolicyOrderWidth = 1;
  localparam logic [0:0] PolicyOrderInTurn = 1'd0;
  localparam logic [0:0] PolicyOrderLaunch = 1'd1;
  localparam int unsigned PolicyArbitersLsb = 1;  // two: SIMT and TENSOR each walk the units with a pointer of their own and alternate. A pipeline keeps what it was at its launch.
  localparam int unsigned PolicyArbitersWidth = 1;
  localparam logic [0:0] PolicyArbitersOne = 1'd0;
  localparam logic [0:0] PolicyArbitersTwo = 1'd1;
  localparam int unsigned PolicyPriorityLsb = 2;  // strict: a slot waits until those of higher priority have placed all, even where these find no room and it would.
  localparam int unsigned PolicyPriorityWidth = 1;
  localparam logic [0:0] PolicyPriorityWorkConserving = 1'd0;
  localparam logic [0:0] PolicyPriorityStrict = 1'd1;
  typedef struct packed {
    logic priority_;
    logic arbiters;
    logic order;
  } policy_t;

  // A write launches these slots as one spatial pipeline, all or nothing; it reads which slots wait for that. (read, write)
  localparam logic [15:0] PipelineOffset = 16'h50;
  localparam logic [63:0] PipelineReset = 64'h0;
  localparam int unsigned PipelineSlotsLsb = 0;  // One bit a slot.
  localparam int unsigned PipelineSlotsWidth = 32;
  typedef struct packed {
    logic [31:0] slots;
  } pipeline_t;

  // Opens a gate, as the event input does. (write only, reads 0)
  localparam logic [15:0] GateSetOffset = 16'h58;
  localparam logic [63:0] GateSetReset = 64'h0;
  localparam int unsigned GateSetGateLsb = 0;  // Number of the gate, 0..1023; others are ignored.
  localparam int unsigned GateSetGateWidth = 16;
  typedef struct packed {
    logic [15:0] gate;
  } gate_set_t;

  // A write of any value closes all gates. (write only, reads 0)
  localparam logic [15:0] GateClearOffset = 16'h60;
  localparam logic [63:0] GateClearReset = 64'h0;

  // Oldest work-group that left its unit preempted and was not taken yet. (read only)
  localparam logic [15:0] ReturnedOffset = 16'h68;
  localparam logic [63:0] ReturnedReset = 64'h0;
  localparam int unsigned ReturnedIdLsb = 0;  // Its id.
  localparam int unsigned ReturnedIdWidth = 32;
  localparam int unsigned ReturnedSlotLsb = 32;  // Its kernel slot.
  localparam int unsigned ReturnedSlotWidth = 5;
  localparam int unsigned ReturnedLostLsb = 62;  // One was reported while the queue was full; until reset.
  localparam int unsigned ReturnedLostWidth = 1;
  localparam int unsigned ReturnedValidLsb = 63;  // There is one.
  localparam int unsigned ReturnedValidWidth = 1;
  typedef struct packed {
    logic valid;
    logic lost;
    logic [4:0] slot;
    logic [31:0] id;
  } returned_t;

  // A write of any value takes the work-group that `returned` shows. (write only, reads 0)
  localparam logic [15:0] ReturnedTakeOffset = 16'h70;
  localparam logic [63:0] ReturnedTakeReset = 64'h0;

  // What one work-group needs and how the slot is served; ignored unless the slot is free. (read, write)
  localparam logic [15:0] SlotNeedsOffset = 16'h800;
  localparam int unsigned SlotNeedsCount = 32;
  localparam int unsigned SlotNeedsStride = 64;
  localparam int unsigned SlotNeedsIndexLsb = 6;  // Of the index in the address.
  localparam logic [63:0] SlotNeedsReset = 64'h0;
  localparam int unsigned SlotNeedsRegistersKibLsb = 0;  // Register file in KiB, rounded up.
  localparam int unsigned SlotNeedsRegistersKibWidth = 10;
  localparam int unsigned SlotNeedsLdsKibLsb = 16;  // Local data share in KiB, rounded up.
  localparam int unsigned SlotNeedsLdsKibWidth = 10;
  localparam int unsigned SlotNeedsWavefrontsLsb = 32;  // Wavefronts.
  localparam int unsigned SlotNeedsWavefrontsWidth = 8;
  localparam int unsigned SlotNeedsTypeLsb = 48;  // Class of the kernel; chooses the arbiter if policy.arbiters is two.
  localparam int unsigned SlotNeedsTypeWidth = 1;
  localparam logic [0:0] SlotNeedsTypeSimt = 1'd0;
  localparam logic [0:0] SlotNeedsTypeTensor = 1'd1;
  localparam int unsigned SlotNeedsPriorityLsb = 56;  // Higher is served first, equal in turn.
  localparam int unsigned SlotNeedsPriorityWidth = 2;
  typedef struct packed {
    logic [1:0] priority_;
    logic type_;
    logic [7:0] wavefronts;
    logic [9:0] lds_kib;
    logic [9:0] registers_kib;
  } slot_needs_t;

  // Block range, the ids that this launch places; ignored unless the slot is free. (read, write)
  localparam logic [15:0] SlotRangeOffset = 16'h808;
  localparam int unsigned SlotRangeCount = 32;
  localparam int unsigned SlotRangeStride = 64;
  localparam int unsigned SlotRangeIndexLsb = 6;  // Of the index in the address.
  localparam logic [63:0] SlotRangeReset = 64'h0;
  localparam int unsigned SlotRangeFirstLsb = 0;  // First id.
  localparam int unsigned SlotRangeFirstWidth = 32;
  localparam int unsigned SlotRangeCountLsb = 32;  // Number of ids, at least 1.
  localparam int unsigned SlotRangeCountWidth = 32;
  typedef struct packed {
    logic [31:0] count;
    logic [31:0] first;
  } slot_range_t;

  // Grid and staggered order; ignored unless the slot is free. (read, write)
  localparam logic [15:0] SlotOrderOffset = 16'h810;
  localparam int unsigned SlotOrderCount = 32;
  localparam int unsigned SlotOrderStride = 64;
  localparam int unsigned SlotOrderIndexLsb = 6;  // Of the index in the address.
  localparam logic [63:0] SlotOrderReset = 64'h0;
  localparam int unsigned SlotOrderGridLsb = 0;  // Work-groups of the whole grid; first + count may not exceed it.
  localparam int unsigned SlotOrderGridWidth = 32;
  localparam int unsigned SlotOrderStartLsb = 32;  // Ids leave in the order first + (start + i) mod count; less than count.
  localparam int unsigned SlotOrderStartWidth = 32;
  typedef struct packed {
    logic [31:0] start;
    logic [31:0] grid;
  } slot_order_t;

  // Commands. (write only, reads 0)
  localparam logic [15:0] SlotControlOffset = 16'h818;
  localparam int unsigned SlotControlCount = 32;
  localparam int unsigned SlotControlStride = 64;
  localparam int unsigned SlotControlIndexLsb = 6;  // Of the index in the address.
  localparam logic [63:0] SlotControlReset = 64'h0;
  localparam int unsigned SlotControlLaunchLsb = 0;  // 1 starts a free slot; otherwise ignored.
  localparam int unsigned SlotControlLaunchWidth = 1;
  localparam int unsigned SlotControlPreemptLsb = 1;  // 1 stops placing in a running slot; it is done when its work-groups have left.
  localparam int unsigned SlotControlPreemptWidth = 1;
  localparam int unsigned SlotControlDrainLsb = 2;  // 1 with preempt asks the units to hand back work-groups that have not begun.
  localparam int unsigned SlotControlDrainWidth = 1;
  typedef struct packed {
    logic drain;
    logic preempt;
    logic launch;
  } slot_control_t;

  // State of the slot. (read only)
  localparam logic [15:0] SlotStateOffset = 16'h820;
  localparam int unsigned SlotStateCount = 32;
  localparam int unsigned SlotStateStride = 64;
  localparam int unsigned SlotStateIndexLsb = 6;  // Of the index in the address.
  localparam logic [63:0] SlotStateReset = 64'h0;
  localparam int unsigned SlotStateStateLsb = 0;  // State; `reason` says why a launch was refused.
  localparam int unsigned SlotStateStateWidth = 2;
  localparam logic [1:0] SlotStateStateFree = 2'd0;
  localparam logic [1:0] SlotStateStateRunning = 2'd1;
  localparam logic [1:0] SlotStateStateDone = 2'd2;
  localparam logic [1:0] SlotStateStateRefused = 2'd3;
  localparam int unsigned SlotStatePreemptedLsb = 2;  // It was told to stop placing.
  localparam int unsigned SlotStatePreemptedWidth = 1;
  localparam int unsigned SlotStatePipelineLsb = 3;  // It waits for the rest of its pipeline to fit.
  localparam int unsigned SlotStatePipelineWidth = 1;
  localparam int unsigned SlotStateReasonLsb = 4;  // Why the launch was refused: needs above the capacity, range or start, gates, another pipeline or slot in the way, too many work-groups for a pipeline, never co-resident.
  localparam int unsigned SlotStateReasonWidth = 3;
  localparam logic [2:0] SlotStateReasonNone = 3'd0;
  localparam logic [2:0] SlotStateReasonNeeds = 3'd1;
  localparam logic [2:0] SlotStateReasonRange = 3'd2;
  localparam logic [2:0] SlotStateReasonGates = 3'd3;
  localparam logic [2:0] SlotStateReasonBusy = 3'd4;
  localparam logic [2:0] SlotStateReasonTooMany = 3'd5;
  localparam logic [2:0] SlotStateReasonNeverFits = 3'd6;
  localparam int unsigned SlotStateClosedLsb = 7;  // It waits for the gate of its next work-group.
  localparam int unsigned SlotStateClosedWidth = 1;
  localparam int unsigned SlotStateResidentLsb = 16;  // Work-groups on compute units.
  localparam int unsigned SlotStateResidentWidth = 16;
  localparam int unsigned SlotStateUndispatchedLsb = 32;  // Work-groups not yet placed; skip of a later launch that resumes it is count less this.
  localparam int unsigned SlotStateUndispatchedWidth = 32;
  typedef struct packed {
    logic [31:0] undispatched;
    logic [15:0] resident;
    logic closed;
    logic [2:0] reason;
    logic pipeline;
    logic preempted;
    logic [1:0] state;
  } slot_state_t;

  // Resumption; ignored unless the slot is free, 0 again when the slot is freed. (read, write)
  localparam logic [15:0] SlotSkipOffset = 16'h828;
  localparam int unsigned SlotSkipCount = 32;
  localparam int unsigned SlotSkipStride = 64;
  localparam int unsigned SlotSkipIndexLsb = 6;  // Of the index in the address.
  localparam logic [63:0] SlotSkipReset = 64'h0;
  localparam int unsigned SlotSkipSkipLsb = 0;  // Work-groups at the begin of the order that were placed already; less than count.
  localparam int unsigned SlotSkipSkipWidth = 32;
  typedef struct packed {
    logic [31:0] skip;
  } slot_skip_t;

  // Gates: work-group first + p waits until gate p / batch is open; ignored unless the slot is free, 0 again when it is freed. (read, write)
  localparam logic [15:0] SlotGateOffset = 16'h830;
  localparam int unsigned SlotGateCount = 32;
  localparam int unsigned SlotGateStride = 64;
  localparam int unsigned SlotGateIndexLsb = 6;  // Of the index in the address.
  localparam logic [63:0] SlotGateReset = 64'h0;
  localparam int unsigned SlotGateBatchLsb = 0;  // Work-groups of one gate; 0 = not gated.
  localparam int unsigned SlotGateBatchWidth = 16;
  localparam int unsigned SlotGateGateLsb = 16;  // Quotient of the first position, (start + skip) mod count, by batch.
  localparam int unsigned SlotGateGateWidth = 16;
  localparam int unsigned SlotGatePhaseLsb = 32;  // Remainder of that.
  localparam int unsigned SlotGatePhaseWidth = 16;
  typedef struct packed {
    logic [15:0] phase;
    logic [15:0] gate;
    logic [15:0] batch;
  } slot_gate_t;

  // What of a compute unit is taken; layout of `capacity`. (read only)
  localparam logic [15:0] UnitUseOffset = 16'h1000;
  localparam int unsigned UnitUseCount = 160;
  localparam int unsigned UnitUseStride = 8;
  localparam int unsigned UnitUseIndexLsb = 3;  // Of the index in the address.
  localparam logic [63:0] UnitUseReset = 64'h0;
  localparam int unsigned UnitUseRegistersKibLsb = 0;  // Register file in KiB.
  localparam int unsigned UnitUseRegistersKibWidth = 10;
  localparam int unsigned UnitUseLdsKibLsb = 16;  // Local data share in KiB.
  localparam int unsigned UnitUseLdsKibWidth = 10;
  localparam int unsigned UnitUseWavefrontsLsb = 32;  // Wavefront slots.
  localparam int unsigned UnitUseWavefrontsWidth = 8;
  localparam int unsigned UnitUseWorkGroupsLsb = 48;  // Work-group slots.
  localparam int unsigned UnitUseWorkGroupsWidth = 8;
  typedef struct packed {
    logic [7:0] work_groups;
    logic [7:0] wavefronts;
    logic [9:0] lds_kib;
    logic [9:0] registers_kib;
  } unit_use_t;

endpackage
// verilator lint_on UNUSEDPARAM
