// SPDX-License-Identifier: Apache-2.0
// What becomes of the kernel slots of the grid scheduler: launched or refused (G2), its work-groups
// placed in order (G3) and gone again (G6), stopped (T1).
module grid_scheduler_progress #(
  parameter int unsigned Slots = 32,
  parameter int unsigned IdWidth = 32,
  parameter int unsigned ResidentWidth = 16,  // Of work-groups on all units.
  localparam int unsigned SlotWidth = $clog2(Slots),
  localparam int unsigned BatchWidth = IdWidth < 16 ? IdWidth : 16
) (
  input  logic                                 clk_i,
  input  logic                                 rst_i,

  // Launches and refusals; slots of a pipeline run from members_i on and are checked later.
  input  logic [Slots-1:0]                     members_i,
  input  logic                                 launch_i,
  input  logic [SlotWidth-1:0]                 launch_slot_i,
  input  logic [IdWidth-1:0]                   launch_position_i,
  input  logic [IdWidth-1:0]                   launch_left_i,
  input  logic [Slots-1:0]                     refused_i,
  input  logic [2:0]                           reason_i,

  // Registers.
  input  logic [Slots-1:0]                     free_i,
  input  logic [Slots-1:0]                     preempt_i,
  input  logic                                 gate_we_i,
  input  logic [SlotWidth-1:0]                 write_slot_i,
  input  logic [15:0]                          gate_i,
  input  logic [BatchWidth-1:0]                phase_i,

  // Place stage: a work-group of pick_slot_i is placed, or meets a closed gate.
  input  logic [SlotWidth-1:0]                 pick_slot_i,
  input  logic [IdWidth-1:0]                   pick_count_i,
  input  logic [BatchWidth-1:0]                pick_batch_i,
  input  logic                                 place_i,
  input  logic                                 meets_closed_i,
  input  logic                                 event_i,
  output logic                                 pick_may_go_o,
  output logic                                 pick_started_o,
  output logic [IdWidth-1:0]                   pick_position_o,
  output logic [15:0]                          pick_gate_o,

  // A work-group leaves.
  input  logic                                 done_valid_i,
  input  logic                                 drained_valid_i,
  input  logic [SlotWidth-1:0]                 leave_slot_i,
  output logic                                 first_wg_done_o,
  output logic                                 kernel_done_o,
  output logic [SlotWidth-1:0]                 done_slot_o,
  output logic [Slots-1:0]                     finished_o,  // Ends at this edge.

  input  logic [Slots-1:0]                     pipe_i,       // Slots of the pipeline,
  input  logic [Slots-1:0]                     unchecked_i,  // not checked yet.
  output logic [Slots-1:0]                     running_o,
  output logic [Slots-1:0]                     done_o,
  output logic [Slots-1:0]                     preempt_o,
  output logic [Slots-1:0]                     undispatched_o,  // Has work-groups left.
  output logic [Slots-1:0]                     work_o,          // Has one that may go.
  output logic [Slots-1:0]                     stopped_o,       // Ends by itself.

  // Of the slot that is checked, of the next one of a pipeline, and of registers, while read_i.
  input  logic [SlotWidth-1:0]                 check_slot_i,
  output logic [15:0]                          check_gate_o,
  output logic [BatchWidth-1:0]                check_phase_o,
  input  logic [SlotWidth-1:0]                 next_slot_i,
  output logic [IdWidth-1:0]                   next_undispatched_o,
  input  logic                                 read_i,
  input  logic [SlotWidth-1:0]                 read_slot_i,
  output grid_scheduler_regs_pkg::slot_state_t read_state_o,
  output logic [15:0]                          read_gate_o,
  output logic [15:0]                          read_phase_o
);

  // One bit a slot: neither running nor done is free; refused is done with a reason.
  logic [Slots-1:0]       running_q, done_q, preempt_q, started_q, first_done_q;
  logic [Slots-1:0]       closed_q;  // Met a closed gate; until the next event.
  logic [Slots-1:0]       left_q;    // Work-groups are left: undispatched_q is not 0.
  (* mem2reg *) logic [Slots-1:0]         reasons_q [3];  // Bit by bit.
  (* mem2reg *) logic [IdWidth-1:0]       position_q [Slots];  // The next id is first + position.
  (* mem2reg *) logic [IdWidth-1:0]       undispatched_q [Slots];
  (* mem2reg *) logic [ResidentWidth-1:0] resident_q [Slots];
  (* mem2reg *) logic [15:0]              gate_q [Slots];   // Of the next work-group.
  (* mem2reg *) logic [BatchWidth-1:0]    phase_q [Slots];  // Work-groups of it that are placed.

  // Who may place work-groups, and who only waits for its end (T1).
  logic [Slots-1:0] stop;
  always_comb begin : eligible
    running_o = running_q;
    done_o = done_q;
    preempt_o = preempt_q;
    stop = preempt_q & ~pipe_i;
    undispatched_o = running_q & left_q;
    stopped_o = stop & running_q;
    if (stopped_o != '0) begin
      for (int unsigned s = 0; s < Slots; s++) if (resident_q[s] != '0) stopped_o[s] = 1'b0;
    end
    work_o = undispatched_o & ~(preempt_q | pipe_i | closed_q);
    pick_may_go_o = undispatched_o[pick_slot_i] && !stop[pick_slot_i] && !unchecked_i[pick_slot_i];
    pick_started_o = started_q[pick_slot_i];
    pick_position_o = position_q[pick_slot_i];
    pick_gate_o = gate_q[pick_slot_i];
    next_undispatched_o = undispatched_q[next_slot_i];
  end
  always_comb begin
    check_gate_o = gate_q[check_slot_i];
    check_phase_o = phase_q[check_slot_i];
  end

  // G6: nothing is left to place, or to be placed, and the last one goes.
  // T1: a stopped slot without work-groups on units ends by itself, when no other slot is reported.
  logic                 leave, first_done;
  logic [SlotWidth-1:0] end_slot;
  always_comb begin : retire
    leave = done_valid_i || drained_valid_i;
    first_done = done_valid_i && !first_done_q[leave_slot_i];
    finished_o = '0;
    end_slot = leave_slot_i;
    if (leave) begin
      finished_o[leave_slot_i] = !(place_i && pick_slot_i == leave_slot_i) &&
          resident_q[leave_slot_i] == ResidentWidth'(1) &&
          (undispatched_q[leave_slot_i] == '0 || stop[leave_slot_i]);
    end
    if (finished_o == '0 && !first_done && stopped_o != '0) begin
      end_slot = '0;
      finished_o = stopped_o & (~stopped_o + Slots'(1));  // The lowest of them.
      for (int unsigned s = 0; s < Slots; s++) if (finished_o[s]) end_slot = SlotWidth'(s);
    end
  end
  always_ff @(posedge clk_i) begin : ends
    first_wg_done_o <= first_done;
    kernel_done_o <= finished_o != '0;
    if (finished_o != '0 || first_done) done_slot_o <= end_slot;
    if (rst_i) begin
      first_wg_done_o <= 1'b0;
      kernel_done_o <= 1'b0;
      done_slot_o <= '0;
    end
  end

  always_ff @(posedge clk_i) begin : state
    running_q <= (running_q | members_i) & ~(refused_i | finished_o);
    if (launch_i) running_q[launch_slot_i] <= 1'b1;
    done_q <= (done_q & ~free_i) | refused_i | finished_o;
    preempt_q <= (preempt_q & ~free_i) | preempt_i;
    if (place_i) started_q[pick_slot_i] <= 1'b1;
    if (done_valid_i) first_done_q[leave_slot_i] <= 1'b1;
    if (meets_closed_i) closed_q[pick_slot_i] <= 1'b1;
    if (event_i) closed_q <= '0;
    if (launch_i) begin
      started_q[launch_slot_i] <= 1'b0;
      first_done_q[launch_slot_i] <= 1'b0;
      closed_q[launch_slot_i] <= 1'b0;
    end
    if (rst_i) begin
      running_q <= '0;
      done_q <= '0;
      preempt_q <= '0;
      started_q <= '0;
      first_done_q <= '0;
      closed_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin : launched
    if (launch_i || refused_i != '0) begin
      for (int unsigned b = 0; b < 3; b++) begin
        reasons_q[b] <= (reasons_q[b] & ~(refused_i | (Slots'(launch_i) << launch_slot_i))) |
                        (refused_i & {Slots{reason_i[b]}});
      end
    end
    if (rst_i) begin
      for (int unsigned b = 0; b < 3; b++) reasons_q[b] <= '0;
    end
  end

  always_ff @(posedge clk_i) begin : counts
    if (place_i) begin
      undispatched_q[pick_slot_i] <= undispatched_q[pick_slot_i] - IdWidth'(1);
      if (undispatched_q[pick_slot_i] == IdWidth'(1)) left_q[pick_slot_i] <= 1'b0;
      resident_q[pick_slot_i] <= resident_q[pick_slot_i] + ResidentWidth'(1);
    end
    if (leave) begin
      resident_q[leave_slot_i] <= resident_q[leave_slot_i] -
                                  ResidentWidth'(!(place_i && pick_slot_i == leave_slot_i));
    end
    if (launch_i) begin
      undispatched_q[launch_slot_i] <= launch_left_i;
      left_q[launch_slot_i] <= 1'b1;  // skip < count (G2).
      resident_q[launch_slot_i] <= '0;
    end
    if (rst_i) begin
      left_q <= '0;
      for (int unsigned s = 0; s < Slots; s++) begin
        undispatched_q[s] <= '0;
        resident_q[s] <= '0;
      end
    end
  end

  // G3, E1: the next work-group of the order, and its gate.
  logic last;
  always_comb last = pick_position_o + IdWidth'(1) == pick_count_i;
  always_ff @(posedge clk_i) begin : order
    if (place_i) begin
      position_q[pick_slot_i] <= last ? '0 : pick_position_o + IdWidth'(1);
      if (last || phase_q[pick_slot_i] + BatchWidth'(1) == pick_batch_i) begin
        phase_q[pick_slot_i] <= '0;
        gate_q[pick_slot_i] <= last ? '0 : pick_gate_o + 16'd1;
      end else begin
        phase_q[pick_slot_i] <= phase_q[pick_slot_i] + BatchWidth'(1);
      end
    end
    if (gate_we_i) begin
      gate_q[write_slot_i] <= gate_i;
      phase_q[write_slot_i] <= phase_i;
    end
    if (launch_i) position_q[launch_slot_i] <= launch_position_i;
    if (rst_i) begin
      for (int unsigned s = 0; s < Slots; s++) begin
        position_q[s] <= '0;
        gate_q[s] <= '0;
        phase_q[s] <= '0;
      end
    end
  end

  always_comb begin : read
    logic [2:0] reason;
    reason = '0;
    read_gate_o = '0;
    read_phase_o = '0;
    read_state_o = '0;
    if (read_i) begin
      read_gate_o = gate_q[read_slot_i];
      read_phase_o = 16'(phase_q[read_slot_i]);
      read_state_o.preempted = preempt_q[read_slot_i];
      read_state_o.pipeline = pipe_i[read_slot_i];
      reason = {reasons_q[2][read_slot_i], reasons_q[1][read_slot_i], reasons_q[0][read_slot_i]};
      if (done_q[read_slot_i]) read_state_o.reason = reason;
      read_state_o.closed = closed_q[read_slot_i];
      read_state_o.resident = 16'(resident_q[read_slot_i]);
      read_state_o.undispatched = 32'(undispatched_q[read_slot_i]);
      if (running_q[read_slot_i]) begin
        read_state_o.state = grid_scheduler_regs_pkg::SlotStateStateRunning;
      end else if (done_q[read_slot_i]) begin
        read_state_o.state = reason == '0
                                 ? grid_scheduler_regs_pkg::SlotStateStateDone
                                 : grid_scheduler_regs_pkg::SlotStateStateRefused;
      end
    end
  end

endmodule
