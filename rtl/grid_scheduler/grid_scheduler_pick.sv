// SPDX-License-Identifier: Apache-2.0
// Pick stage of the grid scheduler: the slot that is served (G7, S1, S2, S3, P3) and its next candidate
// unit (G4), or the unit that a pipeline tries, or the next one of a pipeline's log.
// It owns the candidates: a unit is one until it was found full, and again after an end there.
module grid_scheduler_pick #(
  parameter int unsigned MaxCus = 160,
  parameter int unsigned Slots = 32,
  localparam int unsigned CuWidth = MaxCus < 2 ? 1 : $clog2(MaxCus),
  localparam int unsigned SlotWidth = $clog2(Slots)
) (
  input  logic                   clk_i,
  input  logic                   rst_i,

  // Slots: who has work that may go, and who goes before whom.
  input  logic [Slots-1:0]       work_i,
  input  logic [Slots-1:0]       tensor_i,
  input  logic [Slots-1:0]       priority_high_i,
  input  logic [Slots-1:0]       priority_low_i,
  input  logic                   launch_i,
  input  logic [SlotWidth-1:0]   launch_slot_i,
  input  logic                   launch_order_i,
  input  logic                   two_arbiters_i,
  input  logic                   strict_i,

  // Pipeline.
  input  logic                   pipe_any_i,       // There is one;
  input  logic [1:0]             pipe_priority_i,  // lower priorities wait for it.
  input  logic                   trial_i,          // It tries units for pipe_slot_i,
  input  logic                   trial_two_i,      // with two arbiters,
  input  logic                   trial_more_i,     // for more than the picked work-group.
  input  logic                   trial_begin_i,
  input  logic                   log_busy_i,       // Only its log is placed;
  input  logic                   log_valid_i,      // this unit is next.
  input  logic [CuWidth-1:0]     log_cu_i,
  input  logic [SlotWidth-1:0]   pipe_slot_i,

  // Candidates: the picked unit is full; a work-group leaves a unit; a row starts with all units.
  input  logic                   full_i,
  input  logic                   leave_valid_i,
  input  logic [CuWidth-1:0]     leave_cu_i,
  input  logic                   fill_valid_i,
  input  logic                   fill_trial_i,
  input  logic [SlotWidth-1:0]   fill_slot_i,
  input  logic [7:0]             cus_i,

  output logic                   served_o,     // A slot can be served.
  output logic                   outranked_o,  // The pipeline waits for one of higher priority (S3).
  output logic                   found_o,      // There will be a pick from the candidates.
  output logic                   valid_o,
  output logic                   trial_o,
  output logic [SlotWidth-1:0]   slot_o,
  output logic [7:0]             cu_o
);

  localparam int unsigned Words = (MaxCus + 31) / 32;  // Candidate bits in words of 32.
  localparam int unsigned LastWord = Words - 1;
  localparam int unsigned RowWidth = $clog2(Slots * 32);

  // Of 32 units: row after row, the candidate bits of a slot, so that an end sets one bit of each
  // row at once.
  (* mem2reg *) logic [Slots*32-1:0] candidates_q [Words];
  (* mem2reg *) logic [31:0]         trial_candidates_q [Words];
  logic [Slots-1:0]     any_q;  // Rows with a candidate,
  logic                 trial_any_q;
  (* mem2reg *) logic [Slots-1:0]    older_q [Slots];  // Those launched before each slot.
  logic                 valid_q, trial_q;
  logic [SlotWidth-1:0] slot_q, turn_slot_q;
  logic                 turn_class_q;  // Class that goes first, with two arbiters.
  logic [7:0]           cu_q;
  logic [7:0]           turn_cu_q, turn_tensor_q, trial_cu_q, trial_tensor_q;  // Next to look at.

  // Who wants to place a work-group, and among whom the turn decides.
  logic [Slots-1:0]     at_least_1, at_least_3;  // Priorities.
  always_comb begin
    at_least_1 = priority_high_i | priority_low_i;
    at_least_3 = priority_high_i & priority_low_i;
  end
  logic [Slots-1:0]     wants, served;
  logic                 any_served;
  logic [SlotWidth-1:0] served_slot;
  always_comb begin : serve
    logic [Slots-1:0] same_class, no_lower, preferred;
    same_class = '1;
    no_lower = '1;
    preferred = '0;
    served = '0;
    wants = work_i & any_q;
    if (wants != '0) begin
      // S2.
      if (launch_order_i) begin
        for (int unsigned s = 0; s < Slots; s++) begin
          if (wants[s]) begin
            if (two_arbiters_i) same_class = tensor_i ^ {Slots{!tensor_i[s]}};
            no_lower = priority_high_i[s] ? (priority_low_i[s] ? at_least_3 : priority_high_i)
                                          : (priority_low_i[s] ? at_least_1 : '1);
            if ((older_q[s] & work_i & no_lower & same_class) != '0) wants[s] = 1'b0;
          end
        end
      end
      // P3.
      if (pipe_any_i) begin
        case (pipe_priority_i)
          2'd0: ;
          2'd1: wants = wants & at_least_1;
          2'd2: wants = wants & priority_high_i;
          default: wants = wants & at_least_3;
        endcase
      end
      // S3: of all that have work, whether or not it may have room.
      if (strict_i) begin
        if ((work_i & at_least_3) != '0) wants = wants & at_least_3;
        else if ((work_i & priority_high_i) != '0) wants = wants & priority_high_i;
        else if ((work_i & at_least_1) != '0) wants = wants & at_least_1;
      end
      // G7.
      if ((wants & at_least_3) != '0) served = wants & at_least_3;
      else if ((wants & priority_high_i) != '0) served = wants & priority_high_i;
      else if ((wants & at_least_1) != '0) served = wants & at_least_1;
      else served = wants;
      // S1.
      preferred = served & (tensor_i ^ {Slots{!turn_class_q}});
      if (two_arbiters_i && preferred != '0) served = preferred;
    end
  end
  rr_arbiter #(.N(Slots)) u_slot_arbiter (
    .request_i(served), .turn_i(turn_slot_q), .valid_o(any_served), .index_o(served_slot)
  );

  // S3: a pipeline is not tried while a slot of higher priority has work.
  always_comb begin : outrank
    logic [Slots-1:0] higher;
    higher = '0;
    if (strict_i && pipe_any_i) begin
      case (pipe_priority_i)
        2'd0: higher = at_least_1;
        2'd1: higher = priority_high_i;
        2'd2: higher = at_least_3;
        default: ;
      endcase
    end
    outranked_o = (work_i & higher) != '0;
  end

  // G4: the first candidate at or behind the pointer of the slot's arbiter, cyclically.
  logic                 second;  // The slot uses the pointer of the second arbiter (S1).
  logic [SlotWidth-1:0] slot;
  logic [7:0]           cu, next_turn;
  always_comb begin : find
    logic [2:0]          word;
    logic [RowWidth-1:0] row;
    logic [7:0]          turn;
    logic [31:0]         bits;
    found_o = trial_i ? trial_more_i && trial_any_q : any_served && !log_busy_i;
    slot = trial_i ? pipe_slot_i : served_slot;
    second = 1'b0;
    word = '0;
    row = RowWidth'(slot) << 5;
    turn = '0;
    bits = '0;
    cu = '0;
    next_turn = '0;
    if (found_o) begin
      second = (trial_i ? trial_two_i : two_arbiters_i) && tensor_i[slot];
      if (trial_i) turn = second ? trial_tensor_q : trial_cu_q;
      else turn = second ? turn_tensor_q : turn_cu_q;
      word = turn[7:5];
      bits = (trial_i ? trial_candidates_q[word] : candidates_q[word][row+:32]) &
             (32'hffff_ffff << turn[4:0]);
      for (int unsigned i = 0; i < Words; i++) begin
        if (bits == '0) begin
          word = word == 3'(LastWord) ? 3'd0 : word + 3'd1;
          bits = trial_i ? trial_candidates_q[word] : candidates_q[word][row+:32];
        end
      end
      cu = {word, 5'($countones((bits & (~bits + 32'd1)) - 32'd1))};
      next_turn = cu == 8'(MaxCus-1) ? '0 : cu + 8'd1;
    end
  end

  always_ff @(posedge clk_i) begin : pick
    valid_q <= found_o || log_valid_i;
    trial_q <= trial_i;
    if (found_o) begin
      slot_q <= slot;
      cu_q <= cu;
    end else if (log_valid_i) begin
      slot_q <= pipe_slot_i;
      cu_q <= 8'(log_cu_i);
    end
    if (rst_i) begin
      valid_q <= 1'b0;
      trial_q <= 1'b0;
      slot_q <= '0;
      cu_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin : turns
    if (found_o && trial_i) begin
      if (second) trial_tensor_q <= next_turn;
      else trial_cu_q <= next_turn;
    end else if (found_o) begin
      turn_slot_q <= slot + SlotWidth'(1);
      turn_class_q <= !tensor_i[slot];
      if (second) turn_tensor_q <= next_turn;
      else turn_cu_q <= next_turn;
    end
    if (trial_begin_i || rst_i) begin
      trial_cu_q <= '0;
      trial_tensor_q <= '0;
    end
    if (rst_i) begin
      turn_slot_q <= '0;
      turn_class_q <= 1'b0;
      turn_cu_q <= '0;
      turn_tensor_q <= '0;
    end
  end

  logic [7:0]          leave_cu;
  logic [Words*32-1:0] all_units;  // Units in use.
  always_comb begin : units_in_use
    logic [7:0] cus;
    cus = cus_i == '0 || cus_i > 8'(MaxCus) ? 8'(MaxCus) : cus_i;
    all_units = '0;
    if (fill_valid_i) begin
      for (int unsigned w = 0; w < Words; w++) begin
        for (int unsigned b = 0; b < 32; b++) all_units[w*32+b] = 8'(w*32 + b) < cus;
      end
    end
  end

  // Whether the bit that is cleared is the last one of its row.
  logic last;
  always_comb begin : empties
    logic [31:0] bits;
    last = 1'b1;
    bits = '0;
    if (full_i) begin
      for (int unsigned w = 0; w < Words; w++) begin
        bits = trial_q ? trial_candidates_q[w] : candidates_q[w][{slot_q, 5'b0}+:32];
        if (cu_q[7:5] == 3'(w)) bits[cu_q[4:0]] = 1'b0;
        if (bits != '0) last = 1'b0;
      end
    end
  end

  logic [31:0] left;  // The unit that a work-group leaves, in its word.
  always_comb begin
    leave_cu = 8'(leave_cu_i);
    left = 32'd1 << leave_cu[4:0];
  end
  always_ff @(posedge clk_i) begin : candidates
    if (full_i && trial_q) begin
      trial_candidates_q[cu_q[7:5]][cu_q[4:0]] <= 1'b0;
      trial_any_q <= !last;
    end else if (full_i) begin
      any_q[slot_q] <= !last;
    end
    if (leave_valid_i) begin
      candidates_q[leave_cu[7:5]] <= candidates_q[leave_cu[7:5]] | {Slots{left}};
      any_q <= '1;
    end
    if (full_i && !trial_q && !(leave_valid_i && leave_cu == cu_q)) begin
      candidates_q[cu_q[7:5]][{slot_q, cu_q[4:0]}] <= 1'b0;
    end
    if (fill_valid_i && fill_trial_i) begin
      for (int unsigned w = 0; w < Words; w++) trial_candidates_q[w] <= all_units[w*32+:32];
      trial_any_q <= 1'b1;
    end else if (fill_valid_i) begin
      for (int unsigned w = 0; w < Words; w++) begin
        candidates_q[w][{fill_slot_i, 5'b0}+:32] <= all_units[w*32+:32];
      end
      any_q[fill_slot_i] <= 1'b1;
    end
    if (rst_i) begin
      for (int unsigned w = 0; w < Words; w++) begin
        candidates_q[w] <= '0;
        trial_candidates_q[w] <= '0;
      end
      any_q <= '0;
      trial_any_q <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin : ages
    if (launch_i) begin
      for (int unsigned s = 0; s < Slots; s++) older_q[s][launch_slot_i] <= 1'b0;
      older_q[launch_slot_i] <= ~(Slots'(1) << launch_slot_i);
    end
    if (rst_i) begin
      for (int unsigned s = 0; s < Slots; s++) older_q[s] <= '0;
    end
  end

  always_comb begin
    served_o = any_served;
    valid_o = valid_q;
    trial_o = trial_q;
    slot_o = slot_q;
    cu_o = cu_q;
  end

endmodule
