// SPDX-License-Identifier: Apache-2.0
// Kernel slots of the grid scheduler as firmware wrote them, and whether one can be launched (G2).
// A slot is written only while it is free; gate and phase move on with the work-groups
// (grid_scheduler_progress.sv).
module grid_scheduler_slots #(
  parameter int unsigned Slots = 32,
  parameter int unsigned IdWidth = 32,
  parameter int unsigned ResourceWidth = 10,
  parameter int unsigned CountWidth = 8,
  parameter int unsigned Gates = 1024,
  parameter int unsigned PipelineEntries = 512,
  localparam int unsigned SlotWidth = $clog2(Slots),
  localparam int unsigned BatchWidth = IdWidth < 16 ? IdWidth : 16,
  localparam int unsigned LogWidth = $clog2(PipelineEntries)
) (
  input  logic                                   clk_i,
  input  logic                                   rst_i,
  input  grid_scheduler_regs_pkg::capacity_t     capacity_i,

  // A write to slot write_slot_i, which is free; of which register.
  input  logic                                   write_i,
  input  logic [SlotWidth-1:0]                   write_slot_i,
  input  logic                                   needs_we_i,
  input  logic                                   range_we_i,
  input  logic                                   order_we_i,
  input  logic                                   skip_we_i,
  input  logic                                   gate_we_i,
  input  logic [63:0]                            wdata_i,
  input  logic [Slots-1:0]                       free_i,  // These are freed: no skip, no gates.

  output logic [Slots-1:0]                       tensor_o,
  output logic [Slots-1:0]                       priority_high_o,  // Bits 1 and
  output logic [Slots-1:0]                       priority_low_o,   // 0 of each.

  // Of the slot at the place stage.
  input  logic [SlotWidth-1:0]                   pick_slot_i,
  output logic [ResourceWidth-1:0]               pick_registers_o,
  output logic [ResourceWidth-1:0]               pick_lds_o,
  output logic [CountWidth-1:0]                  pick_wavefronts_o,
  output logic [IdWidth-1:0]                     pick_first_o,
  output logic [IdWidth-1:0]                     pick_count_o,
  output logic                                   pick_gated_o,
  output logic [BatchWidth-1:0]                  pick_batch_o,

  // Of the slot whose work-group leaves.
  input  logic [SlotWidth-1:0]                   leave_slot_i,
  output logic [ResourceWidth-1:0]               leave_registers_o,
  output logic [ResourceWidth-1:0]               leave_lds_o,
  output logic [CountWidth-1:0]                  leave_wavefronts_o,

  // The slot that is checked, perhaps one of a pipeline whose other ones have total_i work-groups.
  input  logic                                   check_i,
  input  logic [SlotWidth-1:0]                   check_slot_i,
  input  logic [15:0]                            check_gate_i,
  input  logic [BatchWidth-1:0]                  check_phase_i,
  input  logic                                   in_pipe_i,
  input  logic [LogWidth:0]                      total_i,
  output logic [2:0]                             reason_o,    // Why it is refused.
  output logic [IdWidth-1:0]                     position_o,  // Of its first work-group.
  output logic [IdWidth-1:0]                     left_o,      // Work-groups to place.

  // Registers, while read_i; gate and phase are not known here.
  input  logic                                   read_i,
  input  logic [SlotWidth-1:0]                   read_slot_i,
  output grid_scheduler_regs_pkg::slot_needs_t   read_needs_o,
  output grid_scheduler_regs_pkg::slot_range_t   read_range_o,
  output grid_scheduler_regs_pkg::slot_order_t   read_order_o,
  output grid_scheduler_regs_pkg::slot_skip_t    read_skip_o,
  output logic [15:0]                            read_batch_o
);

  localparam int unsigned GateBits = $clog2(Gates);

  (* mem2reg *) logic [ResourceWidth-1:0] registers_q [Slots];
  (* mem2reg *) logic [ResourceWidth-1:0] lds_q [Slots];
  (* mem2reg *) logic [CountWidth-1:0]    wavefronts_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       first_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       count_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       grid_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       start_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       skip_q [Slots];
  (* mem2reg *) logic [BatchWidth-1:0]    batch_q [Slots];
  logic [Slots-1:0] priority_high_q, priority_low_q, tensor_q;
  logic [Slots-1:0] resumes_q, gated_q;  // Skip and batch count.

  always_ff @(posedge clk_i) begin : written
    if (write_i) begin
      if (needs_we_i) begin
        registers_q[write_slot_i] <=
            wdata_i[grid_scheduler_regs_pkg::SlotNeedsRegistersKibLsb+:ResourceWidth];
        lds_q[write_slot_i] <=
            wdata_i[grid_scheduler_regs_pkg::SlotNeedsLdsKibLsb+:ResourceWidth];
        wavefronts_q[write_slot_i] <=
            wdata_i[grid_scheduler_regs_pkg::SlotNeedsWavefrontsLsb+:CountWidth];
        tensor_q[write_slot_i] <= wdata_i[grid_scheduler_regs_pkg::SlotNeedsTypeLsb];
        priority_low_q[write_slot_i] <= wdata_i[grid_scheduler_regs_pkg::SlotNeedsPriorityLsb];
        priority_high_q[write_slot_i] <=
            wdata_i[grid_scheduler_regs_pkg::SlotNeedsPriorityLsb+1];
      end
      if (range_we_i) begin
        first_q[write_slot_i] <= wdata_i[grid_scheduler_regs_pkg::SlotRangeFirstLsb+:IdWidth];
        count_q[write_slot_i] <= wdata_i[grid_scheduler_regs_pkg::SlotRangeCountLsb+:IdWidth];
      end
      if (order_we_i) begin
        grid_q[write_slot_i] <= wdata_i[grid_scheduler_regs_pkg::SlotOrderGridLsb+:IdWidth];
        start_q[write_slot_i] <= wdata_i[grid_scheduler_regs_pkg::SlotOrderStartLsb+:IdWidth];
      end
      if (skip_we_i) begin
        skip_q[write_slot_i] <= wdata_i[grid_scheduler_regs_pkg::SlotSkipSkipLsb+:IdWidth];
        resumes_q[write_slot_i] <= 1'b1;
      end
      if (gate_we_i) begin
        batch_q[write_slot_i] <= wdata_i[grid_scheduler_regs_pkg::SlotGateBatchLsb+:BatchWidth];
        gated_q[write_slot_i] <=
            wdata_i[grid_scheduler_regs_pkg::SlotGateBatchLsb+:BatchWidth] != '0;
      end
    end
    if (free_i != '0) begin
      resumes_q <= resumes_q & ~free_i;
      gated_q <= gated_q & ~free_i;
    end
    if (rst_i) begin
      for (int unsigned s = 0; s < Slots; s++) begin
        registers_q[s] <= '0;
        lds_q[s] <= '0;
        wavefronts_q[s] <= '0;
        first_q[s] <= '0;
        count_q[s] <= '0;
        grid_q[s] <= '0;
        start_q[s] <= '0;
        skip_q[s] <= '0;
        batch_q[s] <= '0;
      end
      priority_high_q <= '0;
      priority_low_q <= '0;
      tensor_q <= '0;
      resumes_q <= '0;
      gated_q <= '0;
    end
  end

  always_comb begin
    tensor_o = tensor_q;
    priority_high_o = priority_high_q;
    priority_low_o = priority_low_q;
    pick_registers_o = registers_q[pick_slot_i];
    pick_lds_o = lds_q[pick_slot_i];
    pick_wavefronts_o = wavefronts_q[pick_slot_i];
    pick_first_o = first_q[pick_slot_i];
    pick_count_o = count_q[pick_slot_i];
    pick_gated_o = gated_q[pick_slot_i];
    pick_batch_o = batch_q[pick_slot_i];
  end
  always_comb begin
    leave_registers_o = registers_q[leave_slot_i];
    leave_lds_o = lds_q[leave_slot_i];
    leave_wavefronts_o = wavefronts_q[leave_slot_i];
  end

  // G2: what can never be placed is refused. G3, T2: else it begins behind start and skip.
  always_comb begin : launch
    logic [IdWidth-1:0] count, skip;
    logic [IdWidth:0]   range_end, order_sum;
    count = count_q[check_slot_i];
    skip = '0;
    range_end = '0;
    order_sum = '0;
    position_o = '0;
    left_o = '0;
    reason_o = grid_scheduler_regs_pkg::SlotStateReasonNone;
    if (check_i) begin
      if (resumes_q[check_slot_i]) skip = skip_q[check_slot_i];
      range_end = {1'b0, first_q[check_slot_i]} + {1'b0, count};
      order_sum = {1'b0, start_q[check_slot_i]} + {1'b0, skip};
      position_o = order_sum >= {1'b0, count} ? IdWidth'(order_sum - {1'b0, count})
                                              : order_sum[IdWidth-1:0];
      left_o = count - skip;
      if (10'(registers_q[check_slot_i]) > capacity_i.registers_kib ||
          10'(lds_q[check_slot_i]) > capacity_i.lds_kib ||
          8'(wavefronts_q[check_slot_i]) > capacity_i.wavefronts ||
          capacity_i.work_groups == '0) begin
        reason_o = grid_scheduler_regs_pkg::SlotStateReasonNeeds;
      end else if (count == '0 || range_end > {1'b0, grid_q[check_slot_i]} ||
                   start_q[check_slot_i] >= count || skip >= count) begin
        reason_o = grid_scheduler_regs_pkg::SlotStateReasonRange;
      end else if (gated_q[check_slot_i] &&
                   (in_pipe_i || {1'b0, check_gate_i} >= 17'(Gates) ||
                    check_phase_i >= batch_q[check_slot_i] ||
                    ((count - IdWidth'(1)) >> GateBits) >= IdWidth'(batch_q[check_slot_i]))) begin
        reason_o = grid_scheduler_regs_pkg::SlotStateReasonGates;
      end else if (in_pipe_i && 40'(total_i) + 40'(left_o) > 40'(PipelineEntries)) begin
        reason_o = grid_scheduler_regs_pkg::SlotStateReasonTooMany;
      end
    end
  end

  always_comb begin : read
    read_needs_o = '0;
    read_range_o = '0;
    read_order_o = '0;
    read_skip_o = '0;
    read_batch_o = '0;
    if (read_i) begin
      read_needs_o.registers_kib = 10'(registers_q[read_slot_i]);
      read_needs_o.lds_kib = 10'(lds_q[read_slot_i]);
      read_needs_o.wavefronts = 8'(wavefronts_q[read_slot_i]);
      read_needs_o.type_ = tensor_q[read_slot_i];
      read_needs_o.priority_ = {priority_high_q[read_slot_i], priority_low_q[read_slot_i]};
      read_range_o.first = 32'(first_q[read_slot_i]);
      read_range_o.count = 32'(count_q[read_slot_i]);
      read_order_o.grid = 32'(grid_q[read_slot_i]);
      read_order_o.start = 32'(start_q[read_slot_i]);
      if (resumes_q[read_slot_i]) read_skip_o.skip = 32'(skip_q[read_slot_i]);
      if (gated_q[read_slot_i]) read_batch_o = 16'(batch_q[read_slot_i]);
    end
  end

endmodule
