// SPDX-License-Identifier: Apache-2.0
// Pipelines of the grid scheduler: slots that are placed all or nothing (P1, P2). One at a time is
// checked slot by slot, tried on empty units, tried on what is free until that succeeds, and then
// placed from the log of the trial. It stands still in a clock with a register write. Its trials
// use the arbiters of its launch, so that what fitted the empty units fits them again.
module grid_scheduler_pipeline #(
  parameter int unsigned MaxCus = 160,
  parameter int unsigned Slots = 32,
  parameter int unsigned IdWidth = 32,
  parameter int unsigned Entries = 512,  // Work-groups of one pipeline, a power of two.
  localparam int unsigned CuWidth = MaxCus < 2 ? 1 : $clog2(MaxCus),
  localparam int unsigned SlotWidth = $clog2(Slots),
  localparam int unsigned LogWidth = $clog2(Entries)
) (
  input  logic                 clk_i,
  input  logic                 rst_i,
  input  logic                 hold_i,  // A register write.
  input  logic [Slots-1:0]     start_i,
  input  logic                 two_arbiters_i,
  output logic                 idle_o,     // Another one may start.
  output logic                 settled_o,  // Without inputs it changes nothing more.
  output logic [Slots-1:0]     slots_o,
  output logic [Slots-1:0]     unchecked_o,
  output logic [1:0]           priority_o,  // Of its lowest slot.

  // The slot that comes next: it is checked, or this pass enters it.
  output logic                 check_o,
  output logic [SlotWidth-1:0] next_o,
  input  logic [1:0]           next_priority_i,
  input  logic [IdWidth-1:0]   next_undispatched_i,
  input  logic                 launched_i,  // The slot of check_o, or of a write.
  input  logic [LogWidth:0]    left_i,      // Work-groups of the checked slot.
  output logic [LogWidth:0]    total_o,

  // Trial: of slot_o, which may have more work-groups than the one at the place stage.
  output logic                 begin_o,
  output logic                 enter_o,
  output logic                 trial_o,
  output logic                 trial_empty_o,
  output logic                 trial_two_o,  // With two arbiters.
  output logic [SlotWidth-1:0] slot_o,
  output logic                 more_o,
  input  logic                 found_i,
  input  logic                 pick_valid_i,
  input  logic                 try_i,  // One fits, on unit try_cu_i.
  input  logic [CuWidth-1:0]   try_cu_i,

  // Placement.
  output logic                 placing_o,
  output logic                 log_valid_o,
  output logic [CuWidth-1:0]   log_cu_o,

  // Ends, preemption, refusals.
  input  logic                 served_i,     // Slots of no lower priority can be placed.
  input  logic                 outranked_i,  // Slots of higher priority go first (S3).
  input  logic                 leave_i,      // A work-group leaves: there may be room.
  input  logic [Slots-1:0]     preempt_i,
  input  logic [Slots-1:0]     finished_i,
  input  logic [Slots-1:0]     refused_i,
  output logic                 stop_o,        // All its slots are stopped (T1).
  output logic                 never_fits_o   // All its slots are refused.
);

  typedef enum logic [2:0] {PipeIdle, PipeCheck, PipeEmpty, PipeWait, PipeNow, PipePlace} pipe_e;
  pipe_e                state_q, state;
  logic [Slots-1:0]     slots_q, todo_q;  // Its slots; those that this pass has not entered.
  logic [Slots-1:0]     check_q;          // Those that are still to be checked.
  logic [SlotWidth-1:0] slot_q;
  logic [IdWidth-1:0]   left_q;           // Work-groups of slot_q left in this pass.
  logic                 retry_q;          // A trial may succeed: none yet, or room was made.
  logic [1:0]           priority_q;
  logic                 two_q;            // Arbiters of its trials.
  logic [LogWidth:0]    total_q, log_index_q;
  logic [CuWidth-1:0]   log_q [Entries];  // Units in the order of the trial.

  logic [Slots-1:0] next, below;  // The lowest slot to be checked or entered; those below it.
  always_comb begin : lowest
    next = check_q != '0 ? check_q : todo_q;
    next = next & (~next + Slots'(1));
    below = next - Slots'(1);
    next_o = next == '0 ? '0 : SlotWidth'($countones(below));
  end

  always_comb begin
    idle_o = state_q == PipeIdle;
    settled_o = idle_o || (state_q == PipeWait && (!retry_q || outranked_i) &&
                           (preempt_i & slots_q) == '0);
    trial_o = state_q == PipeEmpty || state_q == PipeNow;
    trial_empty_o = state_q == PipeEmpty;
    trial_two_o = two_q;
    placing_o = state_q == PipePlace;
    slots_o = slots_q;
    unchecked_o = check_q;
    priority_o = priority_q;
    slot_o = slot_q;
    more_o = left_q > IdWidth'(pick_valid_i);
    total_o = total_q;
    log_cu_o = log_q[log_index_q[LogWidth-1:0]];
  end

  // What this clock does, and what comes after a pass.
  logic enter, place;
  always_comb begin : step
    check_o = 1'b0;
    begin_o = 1'b0;
    enter = 1'b0;
    place = 1'b0;
    log_valid_o = 1'b0;
    stop_o = 1'b0;
    never_fits_o = 1'b0;
    state = state_q;
    if (state_q != PipeIdle && !hold_i) begin
      if (check_q != '0) begin
        check_o = 1'b1;
      end else if (state_q == PipeCheck) begin
        begin_o = 1'b1;
        state = PipeEmpty;
      end else if (state_q != PipePlace && (preempt_i & slots_q) != '0) begin
        // T1: who waits together is stopped together.
        stop_o = 1'b1;
        state = PipeIdle;
      end else if (state_q == PipeWait) begin
        if (retry_q && !served_i && !outranked_i) begin
          begin_o = 1'b1;
          state = PipeNow;
        end
      end else if (left_q != '0) begin
        if (state_q == PipePlace) begin
          log_valid_o = 1'b1;
        end else if (!found_i && !pick_valid_i) begin
          // P2: no unit has room, so the pass has failed.
          if (state_q == PipeEmpty) never_fits_o = 1'b1;
          else state = PipeWait;
        end
      end else if (todo_q != '0) begin
        enter = 1'b1;
      end else if (state_q == PipeEmpty) begin
        state = PipeWait;
      end else if (state_q == PipeNow) begin
        place = 1'b1;
        state = PipePlace;
      end else if (!pick_valid_i) begin
        state = PipeIdle;
      end
    end
    enter_o = enter && trial_o;
  end

  // The state, its slots, and how far their check has come; a refused one ends it.
  logic             refused;
  logic [Slots-1:0] unchecked;
  always_comb begin
    refused = (refused_i & slots_q) != '0;
    unchecked = check_o ? check_q & ~next : check_q | start_i;
  end
  always_ff @(posedge clk_i) begin : members
    state_q <= start_i != '0 ? PipeCheck : refused ? PipeIdle : state;
    // A member that ends before the last one is placed has left the pipeline.
    slots_q <= (slots_q | start_i) & ~finished_i;
    if (refused || (state_q != PipeIdle && state == PipeIdle)) slots_q <= '0;
    check_q <= (unchecked & refused_i) != '0 ? '0 : unchecked;
    if (start_i != '0) two_q <= two_arbiters_i;
    if (check_o && check_q == slots_q) priority_q <= next_priority_i;
    if (check_q == '0) total_q <= '0;
    else if (check_o && launched_i) total_q <= total_q + left_i;
    if (leave_i || (state_q == PipeEmpty && state == PipeWait)) retry_q <= 1'b1;
    else if (begin_o) retry_q <= 1'b0;
    if (rst_i) begin
      state_q <= PipeIdle;
      slots_q <= '0;
      check_q <= '0;
      priority_q <= '0;
      two_q <= 1'b0;
      total_q <= '0;
      retry_q <= 1'b0;
    end
  end

  // A pass through the slots, and the log.
  always_ff @(posedge clk_i) begin : pass
    if (try_i) log_q[log_index_q[LogWidth-1:0]] <= try_cu_i;
    if (try_i || log_valid_o) begin
      log_index_q <= log_index_q + (LogWidth+1)'(1);
      left_q <= left_q - IdWidth'(1);
    end
    if (enter) begin
      slot_q <= next_o;
      left_q <= next_undispatched_i;
      todo_q <= todo_q & ~next;
    end
    if (begin_o || place) begin
      todo_q <= slots_q;
      log_index_q <= '0;
    end
    if (begin_o) left_q <= '0;
    if (rst_i) begin
      todo_q <= '0;
      slot_q <= '0;
      left_q <= '0;
      log_index_q <= '0;
    end
  end

endmodule
