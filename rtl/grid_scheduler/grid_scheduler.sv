// SPDX-License-Identifier: Apache-2.0
// Grid scheduler: places the work-groups of up to 32 kernels on the compute units. Contract and
// rules: README.md.
//
// This file has the pins, decodes commands and connects the parts: registers (regs), slots as they
// were written (slots), stage 1 (pick), stage 2 (units), what becomes of a slot (progress),
// pipelines, gates, returned work-groups. README.md says which part keeps which rule.
module grid_scheduler #(
  // Compute units built, 1..160: 36 flip-flops of use, Slots + 2 bits and 36 bits of RAM each.
  parameter int unsigned MaxCus = 160,
  // Kernel slots, a power of two, 2..32: about 450 flip-flops each, and one for each pair.
  parameter int unsigned Slots = 32,
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

  localparam int unsigned ResidentWidth = CuWidth + CountWidth;
  localparam int unsigned GateBits = $clog2(Gates);
  localparam int unsigned BatchWidth = IdWidth < 16 ? IdWidth : 16;
  localparam int unsigned LogWidth = $clog2(PipelineEntries);
  localparam int unsigned ReturnedWidth = $clog2(ReturnedEntries);

  if (MaxCus < 1 || MaxCus > 160) begin : gen_bad_cus
    $error("grid_scheduler: MaxCus must be 1..160");
  end
  if (Slots > 32 || IdWidth > 32 || ResourceWidth > 10 || CountWidth > 8 ||
      Gates > 65536) begin : gen_bad_width
    $error("grid_scheduler: a parameter is wider than its register field");
  end
  if (Gates < 2 || Gates != 2 ** GateBits || PipelineEntries < 2 ||
      PipelineEntries != 2 ** LogWidth || ReturnedEntries < 2 ||
      ReturnedEntries != 2 ** ReturnedWidth) begin : gen_bad_power
    $error("grid_scheduler: Gates, PipelineEntries, ReturnedEntries must be powers of two, >= 2");
  end

  // Registers.
  grid_scheduler_regs_pkg::cus_t        cus;
  grid_scheduler_regs_pkg::capacity_t   capacity;
  grid_scheduler_regs_pkg::policy_t     policy;
  grid_scheduler_regs_pkg::irq_enable_t irq_enable;
  grid_scheduler_regs_pkg::done_t       read_done;
  grid_scheduler_regs_pkg::status_t     read_status;
  grid_scheduler_regs_pkg::pipeline_t   read_pipeline;
  grid_scheduler_regs_pkg::returned_t   read_returned;
  grid_scheduler_regs_pkg::slot_needs_t read_needs;
  grid_scheduler_regs_pkg::slot_range_t read_range;
  grid_scheduler_regs_pkg::slot_order_t read_order;
  grid_scheduler_regs_pkg::slot_state_t read_state;
  grid_scheduler_regs_pkg::slot_skip_t  read_skip;
  grid_scheduler_regs_pkg::slot_gate_t  read_gate;
  grid_scheduler_regs_pkg::unit_use_t   read_use;
  logic                 done_we, counter_clear, pipeline_we, gate_set, gate_clear, returned_take;
  logic                 needs_we, range_we, order_we, control_we, skip_we, gate_we;
  logic                 read_pending;
  logic [15:0]          read_batch, read_next_gate, read_phase;
  // verilator lint_off UNUSEDSIGNAL
  logic [15:0]          read_address;  // The index in an array is needed, the rest is decoded.
  // verilator lint_on UNUSEDSIGNAL
  logic [SlotWidth-1:0] read_slot, write_slot;

  // Slots.
  logic [Slots-1:0]       running, done, preempt, undispatched, work, stopped, tensor;
  logic [Slots-1:0]       priority_high, priority_low;
  logic [Slots-1:0]       freed, finished, refused, preempts, members;
  logic                   busy;             // A pipeline cannot start.
  logic                   launches, stops;  // What a write does to its slot.
  logic                   check, launched;
  logic [SlotWidth-1:0]   check_slot;
  logic [15:0]            check_gate;
  logic [BatchWidth-1:0]  check_phase;
  logic [2:0]             check_reason, reason;
  logic [IdWidth-1:0]     check_position, check_left;

  // Pick and place.
  logic                     served, outranked, found, pick_valid, pick_trial;
  logic [SlotWidth-1:0]     pick_slot;
  logic [7:0]               pick_cu;
  logic [ResourceWidth-1:0] pick_registers, pick_lds, leave_registers, leave_lds;
  logic [CountWidth-1:0]    pick_wavefronts, leave_wavefronts;
  logic [IdWidth-1:0]       pick_first, pick_count, pick_position;
  logic [BatchWidth-1:0]    pick_batch;
  logic [15:0]              pick_gate;
  logic                     pick_gated, pick_may_go, pick_started, open, attempt, fits;
  logic                     place, tries, leave, is_event;

  // Pipeline.
  logic                 pipe_idle, pipe_settled, pipe_check, pipe_begin, pipe_enter, pipe_stop;
  logic                 trial, trial_empty, trial_two, trial_more, placing, log_valid, never_fits;
  logic [Slots-1:0]     pipe, unchecked;
  logic [1:0]           pipe_priority;
  logic [SlotWidth-1:0] pipe_next, pipe_slot;
  logic [IdWidth-1:0]   pipe_undispatched;
  logic [LogWidth:0]    pipe_total;
  logic [CuWidth-1:0]   log_cu;

  logic                 returned_full, returned_valid, returned_lost;
  logic [SlotWidth-1:0] returned_slot;
  logic [IdWidth-1:0]   returned_id;
  logic [47:0]          dispatched_q, finished_q, drained_q;

  // ---------------------------------------------------------------------------------- registers
  always_comb read_slot = SlotWidth'(read_address[10:6]);
  always_comb begin : reads
    read_done.slots = 32'(done);
    read_status.running = 32'(running);
    read_status.undispatched = 32'(undispatched);
    read_pipeline.slots = 32'(pipe);
    read_returned = '0;
    read_gate = '0;
    if (read_pending) begin
      read_returned.lost = returned_lost;
      read_returned.valid = returned_valid;
      if (returned_valid) begin
        read_returned.slot = 5'(returned_slot);
        read_returned.id = 32'(returned_id);
      end
      if (read_batch != '0) begin
        read_gate.batch = read_batch;
        read_gate.gate = read_next_gate;
        read_gate.phase = read_phase;
      end
    end
  end
  grid_scheduler_regs #(
    .Slots(Slots), .MaxCus(MaxCus), .ResourceWidth(ResourceWidth), .CountWidth(CountWidth)
  ) u_regs (
    .clk_i, .rst_i, .reg_we_i, .reg_re_i, .reg_addr_i, .reg_wdata_i, .reg_rdata_o,
    .read_pending_o(read_pending), .address_o(read_address), .cus_o(cus), .capacity_o(capacity),
    .policy_o(policy), .irq_enable_o(irq_enable), .done_i(read_done), .done_we_o(done_we),
    .status_i(read_status), .dispatched_i(64'(dispatched_q)), .finished_i(64'(finished_q)),
    .drained_i(64'(drained_q)), .counter_clear_we_o(counter_clear), .pipeline_i(read_pipeline),
    .pipeline_we_o(pipeline_we), .gate_set_we_o(gate_set), .gate_clear_we_o(gate_clear),
    .returned_i(read_returned), .returned_take_we_o(returned_take), .slot_needs_i(read_needs),
    .slot_needs_we_o(needs_we), .slot_range_i(read_range), .slot_range_we_o(range_we),
    .slot_order_i(read_order), .slot_order_we_o(order_we), .slot_control_we_o(control_we),
    .slot_state_i(read_state), .slot_skip_i(read_skip), .slot_skip_we_o(skip_we),
    .slot_gate_i(read_gate), .slot_gate_we_o(gate_we), .unit_use_i(read_use)
  );

  // Commands: launches, preemption (T1), pipelines (P1), slots that are freed.
  logic writes_free;  // A write is for a slot that is free.
  always_comb begin : commands
    write_slot = SlotWidth'(reg_addr_i[10:6]);
    writes_free = 1'b0;
    launches = 1'b0;
    stops = 1'b0;
    freed = '0;
    members = '0;
    busy = 1'b0;
    preempts = pipe_stop ? pipe : '0;
    if (reg_we_i) begin
      writes_free = !running[write_slot] && !done[write_slot];
      launches = control_we && writes_free &&
          reg_wdata_i[grid_scheduler_regs_pkg::SlotControlLaunchLsb];
      stops = control_we && running[write_slot] &&
          reg_wdata_i[grid_scheduler_regs_pkg::SlotControlPreemptLsb];
      if (stops) preempts[write_slot] = 1'b1;
      if (done_we) freed = done & reg_wdata_i[Slots-1:0];
      if (pipeline_we) begin
        members = reg_wdata_i[Slots-1:0] & ~running & ~done;
        busy = !pipe_idle || stopped != '0 || members != reg_wdata_i[Slots-1:0];
      end
    end
  end

  // ------------------------------------------------------------------------------------ launches
  always_comb begin : launch
    check = launches || pipe_check;
    check_slot = launches ? write_slot : pipe_next;
  end
  grid_scheduler_slots #(
    .Slots(Slots), .IdWidth(IdWidth), .ResourceWidth(ResourceWidth), .CountWidth(CountWidth),
    .Gates(Gates), .PipelineEntries(PipelineEntries)
  ) u_slots (
    .clk_i, .rst_i, .capacity_i(capacity),
    .write_i(writes_free), .write_slot_i(write_slot), .needs_we_i(needs_we),
    .range_we_i(range_we), .order_we_i(order_we), .skip_we_i(skip_we), .gate_we_i(gate_we),
    .wdata_i(reg_wdata_i), .free_i(freed), .tensor_o(tensor),
    .priority_high_o(priority_high), .priority_low_o(priority_low), .pick_slot_i(pick_slot),
    .pick_registers_o(pick_registers), .pick_lds_o(pick_lds),
    .pick_wavefronts_o(pick_wavefronts), .pick_first_o(pick_first), .pick_count_o(pick_count),
    .pick_gated_o(pick_gated), .pick_batch_o(pick_batch),
    .leave_slot_i(done_slot_i), .leave_registers_o(leave_registers), .leave_lds_o(leave_lds),
    .leave_wavefronts_o(leave_wavefronts),
    .check_i(check), .check_slot_i(check_slot), .check_gate_i(check_gate),
    .check_phase_i(check_phase), .in_pipe_i(pipe_check), .total_i(pipe_total),
    .reason_o(check_reason), .position_o(check_position), .left_o(check_left),
    .read_i(read_pending), .read_slot_i(read_slot), .read_needs_o(read_needs),
    .read_range_o(read_range), .read_order_o(read_order), .read_skip_o(read_skip),
    .read_batch_o(read_batch)
  );

  // G2, P2: refused, alone or as a whole pipeline.
  always_comb begin : refuse
    launched = check && check_reason == grid_scheduler_regs_pkg::SlotStateReasonNone;
    refused = '0;
    reason = check_reason;
    if (busy) begin
      refused = members;
      reason = grid_scheduler_regs_pkg::SlotStateReasonBusy;
    end else if (never_fits) begin
      refused = pipe;
      reason = grid_scheduler_regs_pkg::SlotStateReasonNeverFits;
    end else if (check && !launched) begin
      if (pipe_check) refused = pipe;
      else refused[check_slot] = 1'b1;
    end
  end

  // ------------------------------------------------------------------------------------ stages
  grid_scheduler_pick #(.MaxCus(MaxCus), .Slots(Slots)) u_pick (
    .clk_i, .rst_i, .work_i(work), .tensor_i(tensor),
    .priority_high_i(priority_high), .priority_low_i(priority_low), .launch_i(launched),
    .launch_slot_i(check_slot), .launch_order_i(policy.order), .two_arbiters_i(policy.arbiters),
    .strict_i(policy.priority_), .pipe_any_i(pipe != '0), .pipe_priority_i(pipe_priority), .trial_i(trial),
    .trial_two_i(trial_two), .trial_more_i(trial_more), .trial_begin_i(pipe_begin),
    .log_busy_i(placing), .log_valid_i(log_valid), .log_cu_i(log_cu), .pipe_slot_i(pipe_slot),
    .full_i(attempt && !fits), .leave_valid_i(leave), .leave_cu_i(done_cu_i),
    .fill_valid_i(check || pipe_enter), .fill_trial_i(!check), .fill_slot_i(check_slot),
    .cus_i(cus.count), .served_o(served), .outranked_o(outranked), .found_o(found),
    .valid_o(pick_valid), .trial_o(pick_trial), .slot_o(pick_slot), .cu_o(pick_cu)
  );

  always_comb attempt = pick_valid && (pick_trial || pick_may_go);
  always_comb begin : decide
    tries = attempt && fits && pick_trial;
    place = attempt && fits && !pick_trial && (!pick_gated || open);  // E1.
    leave = done_valid_i || drained_valid_i;
    is_event = event_valid_i || gate_set;
  end
  grid_scheduler_units #(
    .MaxCus(MaxCus), .ResourceWidth(ResourceWidth), .CountWidth(CountWidth)
  ) u_units (
    .clk_i, .rst_i, .capacity_i(capacity), .pick_valid_i(attempt), .pick_trial_i(pick_trial),
    .pick_cu_i(pick_cu[CuWidth-1:0]), .pick_registers_i(pick_registers), .pick_lds_i(pick_lds),
    .pick_wavefronts_i(pick_wavefronts), .fits_o(fits), .place_i(place), .try_i(tries),
    .trial_begin_i(pipe_begin), .trial_empty_i(trial_empty),
    .leave_valid_i(leave), .leave_cu_i(done_cu_i), .leave_registers_i(leave_registers),
    .leave_lds_i(leave_lds), .leave_wavefronts_i(leave_wavefronts),
    .read_i(read_pending), .read_cu_i(CuWidth'(read_address[10:3])), .read_use_o(read_use)
  );

  grid_scheduler_progress #(
    .Slots(Slots), .IdWidth(IdWidth), .ResidentWidth(ResidentWidth)
  ) u_progress (
    .clk_i, .rst_i, .members_i(members), .launch_i(launched), .launch_slot_i(check_slot),
    .launch_position_i(check_position), .launch_left_i(check_left), .refused_i(refused),
    .reason_i(reason), .free_i(freed), .preempt_i(preempts), .gate_we_i(gate_we && writes_free),
    .write_slot_i(write_slot),
    .gate_i(reg_wdata_i[grid_scheduler_regs_pkg::SlotGateGateLsb+:16]),
    .phase_i(reg_wdata_i[grid_scheduler_regs_pkg::SlotGatePhaseLsb+:BatchWidth]),
    .pick_slot_i(pick_slot), .pick_count_i(pick_count), .pick_batch_i(pick_batch),
    .place_i(place), .meets_closed_i(attempt && fits && !pick_trial && !place),
    .event_i(is_event), .pick_may_go_o(pick_may_go), .pick_started_o(pick_started),
    .pick_position_o(pick_position), .pick_gate_o(pick_gate),
    .done_valid_i, .drained_valid_i, .leave_slot_i(done_slot_i), .first_wg_done_o, .kernel_done_o,
    .done_slot_o, .finished_o(finished), .pipe_i(pipe), .unchecked_i(unchecked),
    .running_o(running), .done_o(done), .preempt_o(preempt), .undispatched_o(undispatched),
    .work_o(work), .stopped_o(stopped),
    .check_slot_i(check_slot), .check_gate_o(check_gate), .check_phase_o(check_phase),
    .next_slot_i(pipe_next), .next_undispatched_o(pipe_undispatched),
    .read_i(read_pending), .read_slot_i(read_slot), .read_state_o(read_state),
    .read_gate_o(read_next_gate), .read_phase_o(read_phase)
  );

  grid_scheduler_pipeline #(
    .MaxCus(MaxCus), .Slots(Slots), .IdWidth(IdWidth), .Entries(PipelineEntries)
  ) u_pipeline (
    .clk_i, .rst_i, .hold_i(reg_we_i), .start_i(busy ? '0 : members),
    .two_arbiters_i(policy.arbiters), .idle_o(pipe_idle),
    .settled_o(pipe_settled), .slots_o(pipe), .unchecked_o(unchecked), .priority_o(pipe_priority),
    .check_o(pipe_check), .next_o(pipe_next), .next_priority_i({priority_high[pipe_next], priority_low[pipe_next]}),
    .next_undispatched_i(pipe_undispatched), .launched_i(launched),
    .left_i((LogWidth+1)'(check_left)), .total_o(pipe_total), .begin_o(pipe_begin),
    .enter_o(pipe_enter), .trial_o(trial), .trial_empty_o(trial_empty), .trial_two_o(trial_two),
    .slot_o(pipe_slot), .more_o(trial_more), .found_i(found), .pick_valid_i(pick_valid),
    .try_i(tries), .try_cu_i(pick_cu[CuWidth-1:0]), .placing_o(placing), .log_valid_o(log_valid),
    .log_cu_o(log_cu), .served_i(served), .outranked_i(outranked),
    .leave_i(leave), .preempt_i(preempt), .finished_i(finished), .refused_i(refused),
    .stop_o(pipe_stop), .never_fits_o(never_fits)
  );

  grid_scheduler_gates #(.Gates(Gates)) u_gates (
    .clk_i, .rst_i, .event_valid_i, .event_gate_i, .set_valid_i(gate_set),
    .set_gate_i(reg_wdata_i[15:0]), .clear_i(gate_clear), .gate_i(pick_gate), .open_o(open)
  );

  grid_scheduler_returned #(
    .SlotWidth(SlotWidth), .IdWidth(IdWidth), .Entries(ReturnedEntries)
  ) u_returned (
    .clk_i, .rst_i, .put_i(drained_valid_i), .slot_i(done_slot_i), .id_i(drained_wg_id_i),
    .take_i(returned_take), .full_o(returned_full), .lost_o(returned_lost),
    .valid_o(returned_valid), .slot_o(returned_slot), .id_o(returned_id)
  );

  // ------------------------------------------------------------------------------------ outputs
  always_comb begin : outputs
    drained_ready_o = !returned_full;
    irq_o = (32'(done) & irq_enable.slots) != '0;
    // G9.
    idle_o = !pick_valid && !read_pending && !dispatch_valid_o && !first_wg_done_o &&
             !kernel_done_o && !preempt_valid_o && refused_o == '0 && !served && stopped == '0 &&
             pipe_settled;
  end

  always_ff @(posedge clk_i) begin : dispatch
    dispatch_valid_o <= place;
    kernel_start_o <= place && !pick_started;
    if (place) begin
      dispatch_cu_o <= pick_cu[CuWidth-1:0];
      dispatch_slot_o <= pick_slot;
      dispatch_wg_id_o <= pick_first + pick_position;
      if (!pick_started) start_slot_o <= pick_slot;
    end
    if (rst_i) begin
      dispatch_valid_o <= 1'b0;
      kernel_start_o <= 1'b0;
      dispatch_cu_o <= '0;
      dispatch_slot_o <= '0;
      dispatch_wg_id_o <= '0;
      start_slot_o <= '0;
    end
  end

  always_ff @(posedge clk_i) begin : reports
    refused_o <= refused;
    preempt_valid_o <= stops && reg_wdata_i[grid_scheduler_regs_pkg::SlotControlDrainLsb];
    if (stops) preempt_slot_o <= write_slot;
    if (rst_i) begin
      refused_o <= '0;
      preempt_valid_o <= 1'b0;
      preempt_slot_o <= '0;
    end
  end

  always_ff @(posedge clk_i) begin : counters
    if (place) dispatched_q <= dispatched_q + 48'd1;
    if (done_valid_i) finished_q <= finished_q + 48'd1;
    else if (drained_valid_i) drained_q <= drained_q + 48'd1;
    if (counter_clear || rst_i) begin
      dispatched_q <= '0;
      finished_q <= '0;
      drained_q <= '0;
    end
  end

endmodule
