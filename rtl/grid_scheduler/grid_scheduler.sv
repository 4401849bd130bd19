// SPDX-License-Identifier: Apache-2.0
// Grid scheduler: places the work-groups of up to eight kernels on the compute units. Contract and
// rules: README.md.
//
//   pick:     the slot (priority, then order) and its next candidate unit; or what a pipeline tries
//   place:    compare with the unit's capacity; dispatch, enter the trial, or clear the candidate
//   pipeline: check, trial on empty units, trial on what is free, placement from the log
// A unit is a candidate of a slot until it was found full for it, and again after a work-group left
// it; so the search costs one comparison a clock and ends by itself.
module grid_scheduler #(
  // Compute units built, 1..160: 36 flip-flops of use, Slots + 2 bits and 36 bits of RAM each.
  parameter int unsigned MaxCus = 160,
  // Kernel slots, a power of two, 2..8: about 430 flip-flops each.
  parameter int unsigned Slots = 8,
  parameter int unsigned IdWidth = 32,         // Of ids, counts and positions; four adders a slot.
  parameter int unsigned ResourceWidth = 10,   // Of registers and LDS, in KiB.
  parameter int unsigned CountWidth = 8,       // Of wavefronts and work-groups of a unit.
  parameter int unsigned Gates = 1024,         // A power of two: one flip-flop each.
  // Work-groups of one pipeline, a power of two; 8 bits of RAM and two clocks of trial each.
  parameter int unsigned PipelineEntries = 512,
  // Drained work-groups that firmware has not taken, a power of two; 35 bits of RAM each.
  parameter int unsigned ReturnedEntries = 256,
  localparam int unsigned CuWidth = MaxCus < 2 ? 1 : $clog2(MaxCus),
  localparam int unsigned SlotWidth = $clog2(Slots)
) (
  input  logic                 clk_i,
  input  logic                 rst_i,

  output logic                 dispatch_valid_o,
  output logic [CuWidth-1:0]   dispatch_cu_o,
  output logic [SlotWidth-1:0] dispatch_slot_o,
  output logic [IdWidth-1:0]   dispatch_wg_id_o,
  input  logic                 done_valid_i,
  input  logic                 drained_valid_i,
  output logic                 drained_ready_o,
  input  logic [CuWidth-1:0]   done_cu_i,
  input  logic [SlotWidth-1:0] done_slot_i,
  input  logic [IdWidth-1:0]   drained_wg_id_i,
  output logic                 preempt_valid_o,
  output logic [SlotWidth-1:0] preempt_slot_o,

  input  logic                 event_valid_i,
  input  logic [15:0]          event_gate_i,

  output logic                 kernel_start_o,
  output logic [SlotWidth-1:0] start_slot_o,
  output logic                 first_wg_done_o,
  output logic                 kernel_done_o,
  output logic [SlotWidth-1:0] done_slot_o,
  output logic [Slots-1:0]     refused_o,
  output logic                 irq_o,
  output logic                 idle_o,

  input  logic                 reg_we_i,
  input  logic                 reg_re_i,
  input  logic [15:0]          reg_addr_i,
  input  logic [63:0]          reg_wdata_i,
  output logic [63:0]          reg_rdata_o
);

  localparam int unsigned Words = (MaxCus + 31) / 32;  // Candidate bits in words of 32.
  localparam int unsigned LastWord = Words - 1;
  localparam int unsigned TrialBase = Slots * Words;   // The trial's own candidates come last.
  localparam int unsigned ResidentWidth = CuWidth + CountWidth;
  localparam int unsigned GateWords = (Gates + 31) / 32;
  localparam int unsigned GateBits = $clog2(Gates);
  localparam int unsigned GateWordBits = GateWords < 2 ? 1 : $clog2(GateWords);
  localparam int unsigned BatchWidth = IdWidth < 16 ? IdWidth : 16;
  localparam int unsigned LogWidth = $clog2(PipelineEntries);
  localparam int unsigned ReturnedWidth = $clog2(ReturnedEntries);
  localparam logic [15:0] SlotsBase = grid_scheduler_regs_pkg::SlotNeedsOffset;
  localparam logic [15:0] UseBase = grid_scheduler_regs_pkg::UnitUseOffset;
  localparam logic [63:0] ResetCapacity = grid_scheduler_regs_pkg::CapacityReset;

  if (MaxCus < 1 || MaxCus > 160) begin : gen_bad_cus
    $error("grid_scheduler: MaxCus must be 1..160");
  end
  if (Slots > 8 || IdWidth > 32 || ResourceWidth > 10 || CountWidth > 8 || Gates > 65536) begin : gen_bad_width
    $error("grid_scheduler: a parameter is wider than its register field");
  end
  if (Gates < 2 || Gates != 2 ** GateBits || PipelineEntries < 2 ||
      PipelineEntries != 2 ** LogWidth || ReturnedEntries < 2 ||
      ReturnedEntries != 2 ** ReturnedWidth) begin : gen_bad_power
    $error("grid_scheduler: Gates, PipelineEntries, ReturnedEntries must be powers of two, >= 2");
  end

  // Configuration and use of the units.
  logic [7:0] cus_q;
  logic       launch_order_q, two_arbiters_q;
  logic [ResourceWidth-1:0] capacity_registers_q, capacity_lds_q;
  logic [CountWidth-1:0]    capacity_wavefronts_q, capacity_work_groups_q;
  (* mem2reg *) logic [ResourceWidth-1:0] used_registers_q [MaxCus];
  (* mem2reg *) logic [ResourceWidth-1:0] used_lds_q [MaxCus];
  (* mem2reg *) logic [CountWidth-1:0]    used_wavefronts_q [MaxCus];
  (* mem2reg *) logic [CountWidth-1:0]    used_work_groups_q [MaxCus];
  logic [Slots-1:0] irq_enable_q;

  // Kernel slots.
  (* mem2reg *) logic [ResourceWidth-1:0] needs_registers_q [Slots];
  (* mem2reg *) logic [ResourceWidth-1:0] needs_lds_q [Slots];
  (* mem2reg *) logic [CountWidth-1:0]    needs_wavefronts_q [Slots];
  (* mem2reg *) logic [1:0]               priority_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       first_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       count_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       grid_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       start_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       skip_q [Slots];
  (* mem2reg *) logic [BatchWidth-1:0]    batch_q [Slots];
  (* mem2reg *) logic [15:0]              gate_q [Slots];    // Of the next work-group.
  (* mem2reg *) logic [BatchWidth-1:0]    phase_q [Slots];   // Work-groups of it that are placed.
  (* mem2reg *) logic [IdWidth-1:0]       position_q [Slots];  // The next id is first + position.
  (* mem2reg *) logic [IdWidth-1:0]       undispatched_q [Slots];
  (* mem2reg *) logic [ResidentWidth-1:0] resident_q [Slots];
  (* mem2reg *) logic [31:0]              candidates_q [(Slots+1)*Words];
  // One bit a slot: neither running nor done is free; refused is done with a reason.
  logic [Slots-1:0]       running_q, done_q, tensor_q, started_q, first_done_q, preempt_q;
  logic [Slots-1:0]       resumes_q, gated_q;  // skip and batch count.
  logic [Slots*3-1:0]     reasons_q;
  logic [Slots*Slots-1:0] older_q;  // Row s: those launched before slot s.
  logic [Slots-1:0] closed_q;  // Found its gate closed; until the next event.
  (* mem2reg *) logic [31:0] gates_q [GateWords];

  // Pick stage.
  logic                 pick_valid_q, pick_trial_q;
  logic [SlotWidth-1:0] pick_slot_q, turn_slot_q;
  logic [7:0]           pick_cu_q, turn_cu_q, turn_tensor_q;
  logic                 turn_class_q;  // Class that goes first, with two arbiters.

  // Pipeline.
  typedef enum logic [2:0] {PipeIdle, PipeCheck, PipeEmpty, PipeWait, PipeNow, PipePlace} pipe_e;
  pipe_e                pipe_state_q;
  logic [Slots-1:0]     pipe_q, pipe_todo_q;  // Its slots; those that this pass has not entered.
  logic [Slots-1:0]     pipe_check_q;         // Those that are still to be checked.
  logic [SlotWidth-1:0] pipe_slot_q;
  logic [IdWidth-1:0]   pipe_left_q;          // Work-groups of pipe_slot_q left in this pass.
  logic                 pipe_retry_q;         // A trial may succeed: none yet, or room was made.
  logic [1:0]           pipe_priority_q;
  logic [LogWidth:0]    pipe_total_q, log_index_q;
  logic [7:0]           trial_cu_q, trial_tensor_q;  // Pointers of the trial.
  (* mem2reg *) logic [31:0] touched_q [Words];  // Units whose use is in trial_*_q.
  logic [ResourceWidth-1:0] trial_registers_q [MaxCus];
  logic [ResourceWidth-1:0] trial_lds_q [MaxCus];
  logic [CountWidth-1:0]    trial_wavefronts_q [MaxCus];
  logic [CountWidth-1:0]    trial_work_groups_q [MaxCus];
  logic [CuWidth-1:0]       log_q [PipelineEntries];  // Units in the order of the trial.

  // Drained work-groups for firmware.
  logic [SlotWidth-1:0]   returned_slot_q [ReturnedEntries];
  logic [IdWidth-1:0]     returned_id_q [ReturnedEntries];
  logic [ReturnedWidth:0] returned_in_q, returned_out_q;
  logic                   returned_lost_q;

  // Counters and register reads.
  logic [47:0] dispatched_q, finished_q, drained_q;
  logic        read_pending_q;
  logic [15:0] read_address_q;

  // Who wants to place a work-group, and who of them is served.
  logic [Slots-1:0]     work, wants, served, ahead, stop, stopped;
  logic [3:0]           present;  // Priorities of those who want.
  logic                 pick_any;
  logic [SlotWidth-1:0] pick_slot;
  always_comb begin
    present = '0;
    served = '0;
    ahead = '0;
    stopped = '0;
    work = running_q & ~(preempt_q | pipe_q | closed_q);
    if (work != '0) begin
      for (int unsigned s = 0; s < Slots; s++) if (undispatched_q[s] == '0) work[s] = 1'b0;
    end
    wants = work;
    if (work != '0) begin
      for (int unsigned s = 0; s < Slots; s++) begin
        ahead = '0;
        for (int unsigned w = 0; w < Words; w++) begin
          if (candidates_q[s*Words+w] != '0) ahead[0] = 1'b1;
        end
        if (!ahead[0]) wants[s] = 1'b0;
      end
      // S2: in order of launch, who is behind an older slot waits.
      if (launch_order_q) begin
        for (int unsigned s = 0; s < Slots; s++) begin
          ahead = older_q[s*Slots+:Slots] & work;
          for (int unsigned t = 0; t < Slots; t++) begin
            if (priority_q[t] < priority_q[s]) ahead[t] = 1'b0;
            if (two_arbiters_q && tensor_q[t] != tensor_q[s]) ahead[t] = 1'b0;
          end
          if (ahead != '0) wants[s] = 1'b0;
        end
      end
      // P4: a waiting pipeline holds back lower priorities.
      if (pipe_q != '0) begin
        for (int unsigned s = 0; s < Slots; s++) begin
          if (priority_q[s] < pipe_priority_q) wants[s] = 1'b0;
        end
      end
    end
    if (wants != '0) begin
      for (int unsigned s = 0; s < Slots; s++) if (wants[s]) present[priority_q[s]] = 1'b1;
      for (int unsigned s = 0; s < Slots; s++) begin
        served[s] = wants[s] && (present >> priority_q[s]) == 4'd1;
      end
      if (two_arbiters_q && (served & (tensor_q ^ {Slots{!turn_class_q}})) != '0) begin
        served = served & (tensor_q ^ {Slots{!turn_class_q}});
      end
    end
    stop = preempt_q & ~pipe_q;
    if (stop != '0) begin
      for (int unsigned s = 0; s < Slots; s++) begin
        stopped[s] = stop[s] && running_q[s] && resident_q[s] == '0;
      end
    end
  end
  rr_arbiter #(.N(Slots)) u_slot_arbiter (
    .request_i(served), .turn_i(turn_slot_q), .valid_o(pick_any), .index_o(pick_slot)
  );

  logic returned_full;
  always_comb begin
    returned_full = returned_in_q - returned_out_q == (ReturnedWidth+1)'(ReturnedEntries);
    drained_ready_o = !returned_full;
    irq_o = (done_q & irq_enable_q) != '0;
    idle_o = !pick_valid_q && !read_pending_q && !dispatch_valid_o && !first_wg_done_o &&
             !kernel_done_o && !preempt_valid_o && refused_o == '0 && served == '0 &&
             stopped == '0 &&
             (pipe_state_q == PipeIdle || (pipe_state_q == PipeWait && !pipe_retry_q &&
                                            (preempt_q & pipe_q) == '0));
  end

  always_ff @(posedge clk_i) begin : state
    logic                   fits, placed, tried, same_cu, open, is_event, check, in_trial, in_pipe;
    logic                   last, found, enter;
    logic [7:0]             cu, cus, turn;
    logic [Slots-1:0]       clear, mask, launched_mask, refused_mask, finished_mask, preempt_set;
    logic [Slots-1:0]       pipe_set, pipe_clear, pipe_check;
    logic [SlotWidth-1:0]   slot;
    logic [2:0]             word, reason;
    logic [5:0]             base;
    logic [31:0]            bits, all_bits;
    logic [ResourceWidth-1:0] used_registers, used_lds;
    logic [CountWidth-1:0]    used_wavefronts, used_work_groups;
    logic [ResourceWidth:0] registers_sum, lds_sum;
    logic [CountWidth:0]    wavefronts_sum;
    logic [CountWidth-1:0]  work_groups_sum;
    logic [IdWidth:0]       range_end, order_sum;
    logic [IdWidth-1:0]     left, skip;
    logic [Slots*3-1:0]     reasons;
    logic [Slots*Slots-1:0] older;
    logic [15:0]            offset;

    launched_mask = '0;
    refused_mask = '0;
    finished_mask = '0;
    enter = 1'b0;
    reason = '0;

    // Pick.
    in_trial = pipe_state_q == PipeEmpty || pipe_state_q == PipeNow;
    tried = in_trial && pick_valid_q;  // Not yet counted in pipe_left_q.
    pick_valid_q <= 1'b0;
    pick_trial_q <= in_trial;
    found = 1'b0;
    base = '0;
    turn = '0;
    slot = pick_slot;
    if (in_trial) begin
      base = 6'(TrialBase);
      slot = pipe_slot_q;
      turn = two_arbiters_q && tensor_q[slot] ? trial_tensor_q : trial_cu_q;
      if (pipe_left_q > IdWidth'(tried)) begin
        for (int unsigned w = 0; w < Words; w++) begin
          if (candidates_q[TrialBase+w] != '0) found = 1'b1;
        end
      end
    end else if (pick_any && pipe_state_q != PipePlace) begin
      base = 6'(slot * Words);
      turn = two_arbiters_q && tensor_q[slot] ? turn_tensor_q : turn_cu_q;
      found = 1'b1;
      turn_slot_q <= slot + SlotWidth'(1);
      turn_class_q <= !tensor_q[slot];
    end
    if (found) begin
      word = turn[7:5];
      bits = candidates_q[base + {3'b0, word}] & (32'hffff_ffff << turn[4:0]);
      for (int unsigned i = 0; i < Words; i++) begin
        if (bits == '0) begin
          word = word == 3'(LastWord) ? 3'd0 : word + 3'd1;
          bits = candidates_q[base + {3'b0, word}];
        end
      end
      cu = {word, 5'($countones((bits & (~bits + 32'd1)) - 32'd1))};
      pick_valid_q <= 1'b1;
      pick_cu_q <= cu;
      pick_slot_q <= slot;
      turn = cu == 8'(MaxCus-1) ? '0 : cu + 8'd1;
      if (in_trial) begin
        if (two_arbiters_q && tensor_q[slot]) trial_tensor_q <= turn;
        else trial_cu_q <= turn;
      end else begin
        if (two_arbiters_q && tensor_q[slot]) turn_tensor_q <= turn;
        else turn_cu_q <= turn;
      end
    end

    // Place.
    dispatch_valid_o <= 1'b0;
    kernel_start_o <= 1'b0;
    placed = 1'b0;
    slot = pick_slot_q;
    registers_sum = '0;
    lds_sum = '0;
    wavefronts_sum = '0;
    work_groups_sum = '0;
    is_event = event_valid_i || (reg_we_i && reg_addr_i == grid_scheduler_regs_pkg::GateSetOffset);
    if (pick_valid_q && (pick_trial_q || (running_q[slot] && undispatched_q[slot] != '0 &&
                                          !stop[slot] && !pipe_check_q[slot]))) begin
      used_registers = used_registers_q[pick_cu_q[CuWidth-1:0]];
      used_lds = used_lds_q[pick_cu_q[CuWidth-1:0]];
      used_wavefronts = used_wavefronts_q[pick_cu_q[CuWidth-1:0]];
      used_work_groups = used_work_groups_q[pick_cu_q[CuWidth-1:0]];
      if (pick_trial_q) begin
        if (touched_q[pick_cu_q[7:5]][pick_cu_q[4:0]]) begin
          used_registers = trial_registers_q[pick_cu_q[CuWidth-1:0]];
          used_lds = trial_lds_q[pick_cu_q[CuWidth-1:0]];
          used_wavefronts = trial_wavefronts_q[pick_cu_q[CuWidth-1:0]];
          used_work_groups = trial_work_groups_q[pick_cu_q[CuWidth-1:0]];
        end else if (pipe_state_q == PipeEmpty) begin
          used_registers = '0;
          used_lds = '0;
          used_wavefronts = '0;
          used_work_groups = '0;
        end
      end
      registers_sum = {1'b0, used_registers} + {1'b0, needs_registers_q[slot]};
      lds_sum = {1'b0, used_lds} + {1'b0, needs_lds_q[slot]};
      wavefronts_sum = {1'b0, used_wavefronts} + {1'b0, needs_wavefronts_q[slot]};
      work_groups_sum = used_work_groups + CountWidth'(1);
      // G1.
      fits = registers_sum <= {1'b0, capacity_registers_q} && lds_sum <= {1'b0, capacity_lds_q} &&
             wavefronts_sum <= {1'b0, capacity_wavefronts_q} &&
             used_work_groups < capacity_work_groups_q;
      // E1.
      open = 1'b1;
      if (gated_q[slot]) begin
        open = gates_q[GateWordBits'(gate_q[slot] >> 5)][gate_q[slot][4:0]];
      end
      if (!fits) begin
        candidates_q[(pick_trial_q ? 6'(TrialBase) : 6'(slot * Words)) +
                     {3'b0, pick_cu_q[7:5]}][pick_cu_q[4:0]] <= 1'b0;
      end else if (pick_trial_q) begin
        touched_q[pick_cu_q[7:5]][pick_cu_q[4:0]] <= 1'b1;
        trial_registers_q[pick_cu_q[CuWidth-1:0]] <= registers_sum[ResourceWidth-1:0];
        trial_lds_q[pick_cu_q[CuWidth-1:0]] <= lds_sum[ResourceWidth-1:0];
        trial_wavefronts_q[pick_cu_q[CuWidth-1:0]] <= wavefronts_sum[CountWidth-1:0];
        trial_work_groups_q[pick_cu_q[CuWidth-1:0]] <= work_groups_sum;
        log_q[log_index_q[LogWidth-1:0]] <= pick_cu_q[CuWidth-1:0];
        log_index_q <= log_index_q + (LogWidth+1)'(1);
        pipe_left_q <= pipe_left_q - IdWidth'(1);
      end else if (!open) begin
        closed_q[slot] <= 1'b1;
      end else begin
        placed = 1'b1;
        used_registers_q[pick_cu_q[CuWidth-1:0]] <= registers_sum[ResourceWidth-1:0];
        used_lds_q[pick_cu_q[CuWidth-1:0]] <= lds_sum[ResourceWidth-1:0];
        used_wavefronts_q[pick_cu_q[CuWidth-1:0]] <= wavefronts_sum[CountWidth-1:0];
        used_work_groups_q[pick_cu_q[CuWidth-1:0]] <= work_groups_sum;
        dispatch_valid_o <= 1'b1;
        dispatch_cu_o <= pick_cu_q[CuWidth-1:0];
        dispatch_slot_o <= slot;
        dispatch_wg_id_o <= first_q[slot] + position_q[slot];
        kernel_start_o <= !started_q[slot];
        if (!started_q[slot]) start_slot_o <= slot;
        started_q[slot] <= 1'b1;
        last = position_q[slot] + IdWidth'(1) == count_q[slot];
        position_q[slot] <= last ? '0 : position_q[slot] + IdWidth'(1);
        if (last || phase_q[slot] + BatchWidth'(1) == batch_q[slot]) begin
          phase_q[slot] <= '0;
          gate_q[slot] <= last ? '0 : gate_q[slot] + 16'd1;
        end else begin
          phase_q[slot] <= phase_q[slot] + BatchWidth'(1);
        end
        undispatched_q[slot] <= undispatched_q[slot] - IdWidth'(1);
        resident_q[slot] <= resident_q[slot] + ResidentWidth'(1);
        dispatched_q <= dispatched_q + 48'd1;
      end
    end

    // E1: an event opens its gate; whoever waits looks again.
    if (is_event) begin
      closed_q <= '0;
      if (event_valid_i && {1'b0, event_gate_i} < 17'(Gates)) begin
        gates_q[GateWordBits'(event_gate_i >> 5)][event_gate_i[4:0]] <= 1'b1;
      end
    end

    // G5: a work-group leaves.
    first_wg_done_o <= 1'b0;
    kernel_done_o <= 1'b0;
    if (done_valid_i || drained_valid_i) begin
      same_cu = placed && pick_cu_q[CuWidth-1:0] == done_cu_i;
      used_registers_q[done_cu_i] <=
          (same_cu ? registers_sum[ResourceWidth-1:0] : used_registers_q[done_cu_i]) -
          needs_registers_q[done_slot_i];
      used_lds_q[done_cu_i] <=
          (same_cu ? lds_sum[ResourceWidth-1:0] : used_lds_q[done_cu_i]) - needs_lds_q[done_slot_i];
      used_wavefronts_q[done_cu_i] <=
          (same_cu ? wavefronts_sum[CountWidth-1:0] : used_wavefronts_q[done_cu_i]) -
          needs_wavefronts_q[done_slot_i];
      used_work_groups_q[done_cu_i] <=
          (same_cu ? work_groups_sum : used_work_groups_q[done_cu_i]) - CountWidth'(1);
      cu = 8'(done_cu_i);
      for (int unsigned s = 0; s < Slots; s++) begin
        candidates_q[6'(s*Words) + {3'b0, cu[7:5]}][cu[4:0]] <= 1'b1;
      end
      if (placed && slot == done_slot_i) begin
        resident_q[slot] <= resident_q[slot];
      end else begin
        resident_q[done_slot_i] <= resident_q[done_slot_i] - ResidentWidth'(1);
        // G6: nothing is left to place, or to be placed, and the last one has gone.
        if (resident_q[done_slot_i] == ResidentWidth'(1) &&
            (undispatched_q[done_slot_i] == '0 || stop[done_slot_i])) begin
          kernel_done_o <= 1'b1;
          done_slot_o <= done_slot_i;
          finished_mask[done_slot_i] = 1'b1;
        end
      end
      if (done_valid_i) begin
        first_wg_done_o <= !first_done_q[done_slot_i];
        if (!first_done_q[done_slot_i]) done_slot_o <= done_slot_i;
        first_done_q[done_slot_i] <= 1'b1;
        finished_q <= finished_q + 48'd1;
      end else begin
        drained_q <= drained_q + 48'd1;
        if (returned_full) begin
          returned_lost_q <= 1'b1;
        end else begin
          returned_slot_q[returned_in_q[ReturnedWidth-1:0]] <= done_slot_i;
          returned_id_q[returned_in_q[ReturnedWidth-1:0]] <= drained_wg_id_i;
          returned_in_q <= returned_in_q + (ReturnedWidth+1)'(1);
        end
      end
      pipe_retry_q <= 1'b1;
    end else if (stopped != '0) begin
      // T3: a stopped slot without work-groups on units ends by itself.
      slot = '0;
      for (int unsigned s = 0; s < Slots; s++) if (stopped[Slots-1-s]) slot = SlotWidth'(Slots-1-s);
      kernel_done_o <= 1'b1;
      done_slot_o <= slot;
      finished_mask[slot] = 1'b1;
    end

    // Registers: write.
    clear = '0;
    preempt_set = '0;
    pipe_set = '0;
    pipe_check = pipe_check_q;
    in_pipe = 1'b0;
    pipe_clear = '0;
    check = 1'b0;
    slot = '0;
    preempt_valid_o <= 1'b0;
    if (reg_we_i && reg_addr_i >= SlotsBase) begin
      offset = {10'd8, reg_addr_i[5:0]};
      slot = SlotWidth'(reg_addr_i[8:6]);
      if (reg_addr_i[15:9] == 7'd1 && {1'b0, reg_addr_i[8:6]} < 4'(Slots)) begin
        if (!running_q[slot] && !done_q[slot]) begin
          case (offset)
            grid_scheduler_regs_pkg::SlotNeedsOffset: begin
              needs_registers_q[slot] <=
                  reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsRegistersKibLsb+:ResourceWidth];
              needs_lds_q[slot] <=
                  reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsLdsKibLsb+:ResourceWidth];
              needs_wavefronts_q[slot] <=
                  reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsWavefrontsLsb+:CountWidth];
              tensor_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsTypeLsb];
              priority_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsPriorityLsb+:2];
            end
            grid_scheduler_regs_pkg::SlotRangeOffset: begin
              first_q[slot] <= reg_wdata_i[0+:IdWidth];
              count_q[slot] <= reg_wdata_i[32+:IdWidth];
            end
            grid_scheduler_regs_pkg::SlotOrderOffset: begin
              grid_q[slot] <= reg_wdata_i[0+:IdWidth];
              start_q[slot] <= reg_wdata_i[32+:IdWidth];
            end
            grid_scheduler_regs_pkg::SlotSkipOffset: begin
              skip_q[slot] <= reg_wdata_i[0+:IdWidth];
              resumes_q[slot] <= 1'b1;
            end
            grid_scheduler_regs_pkg::SlotGateOffset: begin
              batch_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotGateBatchLsb+:BatchWidth];
              gated_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotGateBatchLsb+:BatchWidth] != '0;
              gate_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotGateGateLsb+:16];
              phase_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotGatePhaseLsb+:BatchWidth];
            end
            grid_scheduler_regs_pkg::SlotControlOffset: begin
              check = reg_wdata_i[grid_scheduler_regs_pkg::SlotControlLaunchLsb];
            end
            default: ;
          endcase
        end else if (running_q[slot] &&
                     offset == grid_scheduler_regs_pkg::SlotControlOffset &&
                     reg_wdata_i[grid_scheduler_regs_pkg::SlotControlPreemptLsb]) begin
          // T1.
          preempt_set[slot] = 1'b1;
          preempt_valid_o <= reg_wdata_i[grid_scheduler_regs_pkg::SlotControlDrainLsb];
          preempt_slot_o <= slot;
        end
      end
    end else if (reg_we_i) begin
      case (reg_addr_i)
        grid_scheduler_regs_pkg::CusOffset: cus_q <= reg_wdata_i[7:0];
        grid_scheduler_regs_pkg::CapacityOffset: begin
          capacity_registers_q <=
              reg_wdata_i[grid_scheduler_regs_pkg::CapacityRegistersKibLsb+:ResourceWidth];
          capacity_lds_q <= reg_wdata_i[grid_scheduler_regs_pkg::CapacityLdsKibLsb+:ResourceWidth];
          capacity_wavefronts_q <=
              reg_wdata_i[grid_scheduler_regs_pkg::CapacityWavefrontsLsb+:CountWidth];
          capacity_work_groups_q <=
              reg_wdata_i[grid_scheduler_regs_pkg::CapacityWorkGroupsLsb+:CountWidth];
        end
        grid_scheduler_regs_pkg::DoneOffset: begin
          clear = done_q & reg_wdata_i[Slots-1:0];
          resumes_q <= resumes_q & ~clear;
          gated_q <= gated_q & ~clear;
        end
        grid_scheduler_regs_pkg::IrqEnableOffset: irq_enable_q <= reg_wdata_i[Slots-1:0];
        grid_scheduler_regs_pkg::CounterClearOffset: begin
          dispatched_q <= '0;
          finished_q <= '0;
          drained_q <= '0;
        end
        grid_scheduler_regs_pkg::PolicyOffset: begin
          launch_order_q <= reg_wdata_i[grid_scheduler_regs_pkg::PolicyOrderLsb];
          two_arbiters_q <= reg_wdata_i[grid_scheduler_regs_pkg::PolicyArbitersLsb];
        end
        grid_scheduler_regs_pkg::PipelineOffset: begin
          // P1: launched together or refused together.
          mask = reg_wdata_i[Slots-1:0] & ~running_q & ~done_q;
          launched_mask = mask;
          if (pipe_state_q != PipeIdle || stopped != '0 || mask != reg_wdata_i[Slots-1:0]) begin
            refused_mask = mask;
            reason = grid_scheduler_regs_pkg::SlotStateReasonBusy;
          end else if (mask != '0) begin
            pipe_state_q <= PipeCheck;
            pipe_set = mask;
            pipe_check = mask;
          end
        end
        grid_scheduler_regs_pkg::GateSetOffset: begin
          if ({1'b0, reg_wdata_i[15:0]} < 17'(Gates)) begin
            gates_q[GateWordBits'(reg_wdata_i[15:0] >> 5)][reg_wdata_i[4:0]] <= 1'b1;
          end
        end
        grid_scheduler_regs_pkg::GateClearOffset: begin
          for (int unsigned w = 0; w < GateWords; w++) gates_q[w] <= '0;
        end
        grid_scheduler_regs_pkg::ReturnedTakeOffset: begin
          if (returned_in_q != returned_out_q) begin
            returned_out_q <= returned_out_q + (ReturnedWidth+1)'(1);
          end
        end
        default: ;
      endcase
    end

    // Pipeline: what a pass enters next, and what comes after a pass.
    mask = pipe_check_q != '0 ? pipe_check_q : pipe_todo_q;
    mask = mask & (~mask + Slots'(1));  // The lowest of them.
    if (pipe_check_q == '0) pipe_total_q <= '0;
    // It stands still in a clock with a register write.
    if (reg_we_i) begin
      mask = '0;
    end else if (pipe_check_q != '0) begin
      in_pipe = 1'b1;
      check = 1'b1;
      for (int unsigned s = 0; s < Slots; s++) if (mask[s]) slot = SlotWidth'(s);
      pipe_check = pipe_check_q & ~mask;
      if (pipe_check_q == pipe_q) pipe_priority_q <= priority_q[slot];
    end else if (pipe_state_q == PipeCheck) begin
      pipe_state_q <= PipeEmpty;
      pipe_todo_q <= pipe_q;
      pipe_left_q <= '0;
      log_index_q <= '0;
      for (int unsigned w = 0; w < Words; w++) touched_q[w] <= '0;
      trial_cu_q <= '0;
      trial_tensor_q <= '0;
    end else if (pipe_state_q != PipeIdle) begin
      if (pipe_state_q != PipePlace && (preempt_q & pipe_q) != '0) begin
        // T4: who waits together is stopped together.
        preempt_set = preempt_set | pipe_q;
        pipe_clear = '1;
        pipe_state_q <= PipeIdle;
      end else if (pipe_state_q == PipeWait) begin
        if (pipe_retry_q && served == '0) begin
          pipe_state_q <= PipeNow;
          pipe_retry_q <= done_valid_i || drained_valid_i;
          pipe_todo_q <= pipe_q;
          pipe_left_q <= '0;
          log_index_q <= '0;
          for (int unsigned w = 0; w < Words; w++) touched_q[w] <= '0;
          trial_cu_q <= '0;
          trial_tensor_q <= '0;
        end
      end else if (pipe_left_q != '0) begin
        if (pipe_state_q == PipePlace) begin
          pick_valid_q <= 1'b1;
          pick_cu_q <= 8'(log_q[log_index_q[LogWidth-1:0]]);
          pick_slot_q <= pipe_slot_q;
          log_index_q <= log_index_q + (LogWidth+1)'(1);
          pipe_left_q <= pipe_left_q - IdWidth'(1);
        end else if (!found && !pick_valid_q) begin
          // P3: no unit has room, so the pass has failed.
          if (pipe_state_q == PipeEmpty) begin
            refused_mask = pipe_q;
            reason = grid_scheduler_regs_pkg::SlotStateReasonNeverFits;
          end else begin
            pipe_state_q <= PipeWait;
          end
        end
      end else if (pipe_todo_q != '0) begin
        enter = in_trial;
        for (int unsigned s = 0; s < Slots; s++) begin
          if (mask[s]) begin
            pipe_slot_q <= SlotWidth'(s);
            pipe_left_q <= undispatched_q[s];
          end
        end
        pipe_todo_q <= pipe_todo_q & ~mask;
      end else if (pipe_state_q == PipeEmpty) begin
        pipe_state_q <= PipeWait;
        pipe_retry_q <= 1'b1;
      end else if (pipe_state_q == PipeNow) begin
        pipe_state_q <= PipePlace;
        pipe_todo_q <= pipe_q;
        log_index_q <= '0;
      end else if (!pick_valid_q) begin
        pipe_state_q <= PipeIdle;
        pipe_clear = '1;
      end
    end

    // Launch, by register or as the next slot of a pipeline.
    if (check) begin
      // G2: what can never be placed is refused.
      range_end = {1'b0, first_q[slot]} + {1'b0, count_q[slot]};
      skip = resumes_q[slot] ? skip_q[slot] : '0;
      order_sum = {1'b0, start_q[slot]} + {1'b0, skip};
      left = count_q[slot] - skip;
      if (needs_registers_q[slot] > capacity_registers_q || needs_lds_q[slot] > capacity_lds_q ||
          needs_wavefronts_q[slot] > capacity_wavefronts_q || capacity_work_groups_q == '0) begin
        reason = grid_scheduler_regs_pkg::SlotStateReasonNeeds;
      end else if (count_q[slot] == '0 || range_end > {1'b0, grid_q[slot]} ||
                   start_q[slot] >= count_q[slot] || skip >= count_q[slot]) begin
        reason = grid_scheduler_regs_pkg::SlotStateReasonRange;
      end else if (gated_q[slot] &&
                   (in_pipe || {1'b0, gate_q[slot]} >= 17'(Gates) ||
                    phase_q[slot] >= batch_q[slot] ||
                    ((count_q[slot] - IdWidth'(1)) >> GateBits) >= IdWidth'(batch_q[slot]))) begin
        reason = grid_scheduler_regs_pkg::SlotStateReasonGates;
      end else if (in_pipe && 40'(pipe_total_q) + 40'(left) > 40'(PipelineEntries)) begin
        reason = grid_scheduler_regs_pkg::SlotStateReasonTooMany;
      end else begin
        reason = grid_scheduler_regs_pkg::SlotStateReasonNone;
      end
      if (reason != grid_scheduler_regs_pkg::SlotStateReasonNone) begin
        if (in_pipe) refused_mask = pipe_q;
        else refused_mask[slot] = 1'b1;
      end else begin
        launched_mask[slot] = 1'b1;
        reasons_q[slot*3+:3] <= grid_scheduler_regs_pkg::SlotStateReasonNone;
        started_q[slot] <= 1'b0;
        first_done_q[slot] <= 1'b0;
        closed_q[slot] <= 1'b0;
        position_q[slot] <= order_sum >= {1'b0, count_q[slot]}
                                ? IdWidth'(order_sum - {1'b0, count_q[slot]})
                                : order_sum[IdWidth-1:0];
        undispatched_q[slot] <= left;
        resident_q[slot] <= '0;
        if (in_pipe) pipe_total_q <= pipe_total_q + (LogWidth+1)'(left);
        older = older_q;
        for (int unsigned s = 0; s < Slots; s++) older[s*Slots + 32'(slot)] = 1'b0;
        older[slot*Slots+:Slots] = ~(Slots'(1) << slot);
        older_q <= older;
      end
    end
    // All units in use become candidates of a launched slot, or of a slot that a trial enters.
    if (check || enter) begin
      cus = cus_q == '0 || cus_q > 8'(MaxCus) ? 8'(MaxCus) : cus_q;
      base = check ? 6'(slot * Words) : 6'(TrialBase);
      for (int unsigned w = 0; w < Words; w++) begin
        all_bits = '0;
        for (int unsigned b = 0; b < 32; b++) all_bits[b] = 8'(w*32 + b) < cus;
        candidates_q[base + 6'(w)] <= all_bits;
      end
    end

    refused_o <= refused_mask;
    pipe_check_q <= (pipe_check & refused_mask) != '0 ? '0 : pipe_check;
    if (refused_mask != '0) begin
      reasons = reasons_q;
      for (int unsigned s = 0; s < Slots; s++) if (refused_mask[s]) reasons[s*3+:3] = reason;
      reasons_q <= reasons;
      if ((refused_mask & pipe_q) != '0) begin
        pipe_clear = '1;
        pipe_state_q <= PipeIdle;
      end
    end
    // A member that ends before the last one is placed has left the pipeline.
    pipe_q <= (pipe_q | pipe_set) & ~(pipe_clear | finished_mask);
    running_q <= (running_q | launched_mask) & ~(refused_mask | finished_mask);
    done_q <= (done_q & ~clear) | refused_mask | finished_mask;
    preempt_q <= (preempt_q & ~clear) | preempt_set;

    // Registers: read.
    read_pending_q <= reg_re_i;
    if (reg_re_i) read_address_q <= reg_addr_i;
    if (read_pending_q) begin
      slot = SlotWidth'(read_address_q[8:6]);
      offset = read_address_q[15:9] == 7'd1 ? {10'd8, read_address_q[5:0]} : read_address_q;
      if (read_address_q >= UseBase) offset = UseBase;
      reg_rdata_o <= '0;
      case (offset)
        grid_scheduler_regs_pkg::CusOffset: reg_rdata_o <= {56'b0, cus_q};
        grid_scheduler_regs_pkg::CapacityOffset: begin
          reg_rdata_o <= {16'(capacity_work_groups_q), 16'(capacity_wavefronts_q),
                          16'(capacity_lds_q), 16'(capacity_registers_q)};
        end
        grid_scheduler_regs_pkg::DoneOffset: reg_rdata_o <= 64'(done_q);
        grid_scheduler_regs_pkg::IrqEnableOffset: reg_rdata_o <= 64'(irq_enable_q);
        grid_scheduler_regs_pkg::StatusOffset: begin
          for (int unsigned s = 0; s < Slots; s++) begin
            reg_rdata_o[grid_scheduler_regs_pkg::StatusRunningLsb+s] <= running_q[s];
            reg_rdata_o[grid_scheduler_regs_pkg::StatusUndispatchedLsb+s] <=
                running_q[s] && undispatched_q[s] != '0;
          end
        end
        grid_scheduler_regs_pkg::DispatchedOffset: reg_rdata_o <= {16'b0, dispatched_q};
        grid_scheduler_regs_pkg::FinishedOffset: reg_rdata_o <= {16'b0, finished_q};
        grid_scheduler_regs_pkg::DrainedOffset: reg_rdata_o <= {16'b0, drained_q};
        grid_scheduler_regs_pkg::PolicyOffset: begin
          reg_rdata_o <= {62'b0, two_arbiters_q, launch_order_q};
        end
        grid_scheduler_regs_pkg::PipelineOffset: reg_rdata_o <= 64'(pipe_q);
        grid_scheduler_regs_pkg::ReturnedOffset: begin
          reg_rdata_o[grid_scheduler_regs_pkg::ReturnedLostLsb] <= returned_lost_q;
          if (returned_in_q != returned_out_q) begin
            reg_rdata_o[61:0] <= {30'(returned_slot_q[returned_out_q[ReturnedWidth-1:0]]),
                                  32'(returned_id_q[returned_out_q[ReturnedWidth-1:0]])};
            reg_rdata_o[grid_scheduler_regs_pkg::ReturnedValidLsb] <= 1'b1;
          end
        end
        grid_scheduler_regs_pkg::SlotNeedsOffset: begin
          reg_rdata_o <= {6'b0, priority_q[slot], 7'b0, tensor_q[slot],
                          16'(needs_wavefronts_q[slot]), 16'(needs_lds_q[slot]),
                          16'(needs_registers_q[slot])};
        end
        grid_scheduler_regs_pkg::SlotRangeOffset: begin
          reg_rdata_o <= {32'(count_q[slot]), 32'(first_q[slot])};
        end
        grid_scheduler_regs_pkg::SlotOrderOffset: begin
          reg_rdata_o <= {32'(start_q[slot]), 32'(grid_q[slot])};
        end
        grid_scheduler_regs_pkg::SlotSkipOffset: begin
          if (resumes_q[slot]) reg_rdata_o <= 64'(skip_q[slot]);
        end
        grid_scheduler_regs_pkg::SlotGateOffset: begin
          if (gated_q[slot]) begin
            reg_rdata_o <= {16'b0, 16'(phase_q[slot]), gate_q[slot], 16'(batch_q[slot])};
          end
        end
        grid_scheduler_regs_pkg::SlotStateOffset: begin
          reason = done_q[slot] ? reasons_q[slot*3+:3] : '0;
          reg_rdata_o <= {32'(undispatched_q[slot]), 16'(resident_q[slot]), 8'b0, closed_q[slot],
                          reason, pipe_q[slot], preempt_q[slot], 2'b0};
          if (running_q[slot]) reg_rdata_o[1:0] <= grid_scheduler_regs_pkg::SlotStateStateRunning;
          if (done_q[slot]) begin
            reg_rdata_o[1:0] <= reason == '0 ? grid_scheduler_regs_pkg::SlotStateStateDone
                                             : grid_scheduler_regs_pkg::SlotStateStateRefused;
          end
        end
        UseBase: begin
          cu = 8'((read_address_q - UseBase) >> 3);
          if (read_address_q < UseBase + 16'(8 * MaxCus)) begin
            reg_rdata_o <= {16'(used_work_groups_q[cu[CuWidth-1:0]]),
                            16'(used_wavefronts_q[cu[CuWidth-1:0]]),
                            16'(used_lds_q[cu[CuWidth-1:0]]),
                            16'(used_registers_q[cu[CuWidth-1:0]])};
          end
        end
        default: ;
      endcase
    end

    if (rst_i) begin
      cus_q <= grid_scheduler_regs_pkg::CusReset[7:0];
      launch_order_q <= 1'b0;
      two_arbiters_q <= 1'b0;
      capacity_registers_q <=
          ResetCapacity[grid_scheduler_regs_pkg::CapacityRegistersKibLsb+:ResourceWidth];
      capacity_lds_q <= ResetCapacity[grid_scheduler_regs_pkg::CapacityLdsKibLsb+:ResourceWidth];
      capacity_wavefronts_q <=
          ResetCapacity[grid_scheduler_regs_pkg::CapacityWavefrontsLsb+:CountWidth];
      capacity_work_groups_q <=
          ResetCapacity[grid_scheduler_regs_pkg::CapacityWorkGroupsLsb+:CountWidth];
      // Two loops, because Verilator unrolls at most 64 rounds of one.
      for (int unsigned w = 0; w < Words; w++) begin
        for (int unsigned b = 0; b < 32; b++) begin
          if (w*32 + b < MaxCus) begin
            used_registers_q[w*32+b] <= '0;
            used_lds_q[w*32+b] <= '0;
            used_wavefronts_q[w*32+b] <= '0;
            used_work_groups_q[w*32+b] <= '0;
          end
        end
      end
      for (int unsigned s = 0; s < Slots; s++) begin
        needs_registers_q[s] <= '0;
        needs_lds_q[s] <= '0;
        needs_wavefronts_q[s] <= '0;
        priority_q[s] <= '0;
        first_q[s] <= '0;
        count_q[s] <= '0;
        grid_q[s] <= '0;
        start_q[s] <= '0;
        skip_q[s] <= '0;
        batch_q[s] <= '0;
        gate_q[s] <= '0;
        phase_q[s] <= '0;
        position_q[s] <= '0;
        undispatched_q[s] <= '0;
        resident_q[s] <= '0;
      end
      for (int unsigned w = 0; w < (Slots + 1) * Words; w++) candidates_q[w] <= '0;
      for (int unsigned w = 0; w < GateWords; w++) gates_q[w] <= '0;
      running_q <= '0;
      resumes_q <= '0;
      gated_q <= '0;
      reasons_q <= '0;
      older_q <= '0;
      tensor_q <= '0;
      started_q <= '0;
      first_done_q <= '0;
      preempt_q <= '0;
      closed_q <= '0;
      irq_enable_q <= '0;
      done_q <= '0;
      pick_valid_q <= 1'b0;
      pick_trial_q <= 1'b0;
      pick_slot_q <= '0;
      pick_cu_q <= '0;
      turn_slot_q <= '0;
      turn_cu_q <= '0;
      turn_tensor_q <= '0;
      turn_class_q <= 1'b0;
      pipe_state_q <= PipeIdle;
      pipe_q <= '0;
      pipe_todo_q <= '0;
      pipe_check_q <= '0;
      pipe_slot_q <= '0;
      pipe_left_q <= '0;
      pipe_retry_q <= 1'b0;
      pipe_priority_q <= '0;
      pipe_total_q <= '0;
      log_index_q <= '0;
      trial_cu_q <= '0;
      trial_tensor_q <= '0;
      for (int unsigned w = 0; w < Words; w++) touched_q[w] <= '0;
      returned_in_q <= '0;
      returned_out_q <= '0;
      returned_lost_q <= 1'b0;
      dispatched_q <= '0;
      finished_q <= '0;
      drained_q <= '0;
      read_pending_q <= 1'b0;
      read_address_q <= '0;
      reg_rdata_o <= '0;
      dispatch_valid_o <= 1'b0;
      dispatch_cu_o <= '0;
      dispatch_slot_o <= '0;
      dispatch_wg_id_o <= '0;
      preempt_valid_o <= 1'b0;
      preempt_slot_o <= '0;
      kernel_start_o <= 1'b0;
      start_slot_o <= '0;
      first_wg_done_o <= 1'b0;
      kernel_done_o <= 1'b0;
      done_slot_o <= '0;
      refused_o <= '0;
    end
  end

endmodule
