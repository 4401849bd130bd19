// SPDX-License-Identifier: Apache-2.0
// The grid scheduler beside its properties; sizes are set by tests/formal/grid_scheduler.tasks.
// With Sleeps=1, beside a copy too that sleeps whenever G9 allows it.
module grid_scheduler_formal #(
  parameter int unsigned MaxCus = 3,
  parameter int unsigned Slots = 2,
  parameter int unsigned IdWidth = 3,
  parameter int unsigned ResourceWidth = 2,
  parameter int unsigned CountWidth = 2,
  parameter int unsigned Gates = 2,
  parameter int unsigned PipelineEntries = 4,
  parameter int unsigned ReturnedEntries = 2,
  parameter int unsigned Sleeps = 0,
  // The only writes launch a pipeline of all slots (1), or the lowest one and then the others, alone or as a pipeline
  // (2); policies follow.
  parameter int unsigned Script = 0,
  localparam int unsigned CuWidth = $clog2(MaxCus),
  localparam int unsigned SlotWidth = $clog2(Slots)
) (
  input logic                 clk_i,
  input logic                 rst_i,
  input logic                 done_valid_i,
  input logic                 drained_valid_i,
  input logic [CuWidth-1:0]   done_cu_i,
  input logic [SlotWidth-1:0] done_slot_i,
  input logic [IdWidth-1:0]   drained_wg_id_i,
  input logic                 event_valid_i,
  input logic [15:0]          event_gate_i,
  input logic                 reg_we_i,
  input logic                 reg_re_i,
  input logic [15:0]          reg_addr_i,
  input logic [63:0]          reg_wdata_i,
  input logic                 sleep_i  // The solver wants the copy to sleep.
);

  logic                 dispatch_valid_o, drained_ready_o, preempt_valid_o, kernel_start_o;
  logic                 first_wg_done_o, kernel_done_o, irq_o, idle_o;
  logic [CuWidth-1:0]   dispatch_cu_o;
  logic [SlotWidth-1:0] dispatch_slot_o, preempt_slot_o, start_slot_o, done_slot_o;
  logic [IdWidth-1:0]   dispatch_wg_id_o;
  logic [Slots-1:0]     refused_o;
  logic [63:0]          reg_rdata_o;

  grid_scheduler #(.MaxCus(MaxCus), .Slots(Slots), .IdWidth(IdWidth), .ResourceWidth(ResourceWidth),
                   .CountWidth(CountWidth), .Gates(Gates), .PipelineEntries(PipelineEntries),
                   .ReturnedEntries(ReturnedEntries)) u_grid_scheduler (.*);
  grid_scheduler_props #(.MaxCus(MaxCus), .Slots(Slots), .IdWidth(IdWidth),
                         .ResourceWidth(ResourceWidth), .CountWidth(CountWidth), .Gates(Gates),
                         .PipelineEntries(PipelineEntries),
                         .ReturnedEntries(ReturnedEntries)) u_props (.*);

  // G9: `hold` stops every flip-flop of u_hold (tests/formal/README.md), which must not be noticed.
  localparam int unsigned OutputBits = 64 + 8 + CuWidth + 4 * SlotWidth + IdWidth + Slots;
  logic                  hold;
  logic [OutputBits-1:0] outputs, hold_outputs;
  always_comb begin
    hold = sleep_i && idle_o && !rst_i && !done_valid_i && !drained_valid_i && !event_valid_i && !reg_we_i && !reg_re_i;
    outputs = {dispatch_valid_o, drained_ready_o, preempt_valid_o, kernel_start_o, first_wg_done_o, kernel_done_o,
               irq_o, idle_o, dispatch_cu_o, dispatch_slot_o, preempt_slot_o, start_slot_o, done_slot_o,
               dispatch_wg_id_o, refused_o, reg_rdata_o};
  end
  if (Sleeps == 0) begin : gen_awake
    always_comb hold_outputs = outputs;
  end else begin : gen_sleeps
    logic                 dispatch_valid, drained_ready, preempt_valid, kernel_start, first_wg_done, kernel_done;
    logic                 irq, idle;
    logic [CuWidth-1:0]   dispatch_cu;
    logic [SlotWidth-1:0] dispatch_slot, preempt_slot, start_slot, done_slot;
    logic [IdWidth-1:0]   dispatch_wg_id;
    logic [Slots-1:0]     refused;
    logic [63:0]          reg_rdata;
    grid_scheduler #(.MaxCus(MaxCus), .Slots(Slots), .IdWidth(IdWidth), .ResourceWidth(ResourceWidth),
                     .CountWidth(CountWidth), .Gates(Gates), .PipelineEntries(PipelineEntries),
                     .ReturnedEntries(ReturnedEntries)) u_hold (
      .dispatch_valid_o(dispatch_valid), .dispatch_cu_o(dispatch_cu), .dispatch_slot_o(dispatch_slot),
      .dispatch_wg_id_o(dispatch_wg_id), .drained_ready_o(drained_ready), .preempt_valid_o(preempt_valid),
      .preempt_slot_o(preempt_slot), .kernel_start_o(kernel_start), .start_slot_o(start_slot),
      .first_wg_done_o(first_wg_done), .kernel_done_o(kernel_done), .done_slot_o(done_slot), .refused_o(refused),
      .irq_o(irq), .idle_o(idle), .reg_rdata_o(reg_rdata), .*);
    always_comb begin
      hold_outputs = {dispatch_valid, drained_ready, preempt_valid, kernel_start, first_wg_done, kernel_done, irq, idle,
                      dispatch_cu, dispatch_slot, preempt_slot, start_slot, done_slot, dispatch_wg_id, refused,
                      reg_rdata};
    end
  end
  always_ff @(posedge clk_i) a_g9_hold: assert (outputs == hold_outputs);

  // A pipeline takes some 30 clocks, too many to look for one among all inputs. First the units, then each slot, the
  // launches, and from then on the policy.
  localparam int unsigned Launch = 2 + 3 * Slots;
  logic [7:0]  clock_q = '0;
  logic [80:0] write;  // Enable, address, data.
  always_comb begin
    write = {reg_we_i, grid_scheduler_regs_pkg::PolicyOffset, reg_wdata_i};  // Any.
    if (clock_q == 8'd0) write = {1'b1, grid_scheduler_regs_pkg::CapacityOffset, reg_wdata_i};
    if (clock_q == 8'd1) write = {1'b1, grid_scheduler_regs_pkg::CusOffset, reg_wdata_i};
    for (int unsigned s = 0; s < Slots; s++) begin
      if (clock_q == 8'(2 + 3*s)) write = {1'b1, 16'(32'h800 + s*32'h40), reg_wdata_i};  // Needs.
      if (clock_q == 8'(3 + 3*s)) begin
        write = {1'b1, 16'(32'h808 + s*32'h40), s == 0 && Slots == 2 ? 32'd2 : 32'd1, 32'(s)};  // Count, first.
      end
      if (clock_q == 8'(4 + 3*s)) write = {1'b1, 16'(32'h810 + s*32'h40), 32'd0, 32'(Slots + 1)};  // Start, grid.
    end
    if (Script == 1 && clock_q == 8'(Launch)) begin
      write = {1'b1, grid_scheduler_regs_pkg::PipelineOffset, 64'(2**Slots - 1)};
    end
    if (Script == 2 && clock_q == 8'(Launch)) write = {1'b1, 16'h818, 64'd1};
    for (int unsigned s = 1; s < Slots; s++) begin
      if (Script == 2 && clock_q == 8'(Launch + s)) begin
        write = reg_wdata_i[0] ? {1'b1, 16'(32'h818 + s*32'h40), 64'd1}
                               : {1'b1, grid_scheduler_regs_pkg::PipelineOffset, 64'(2**s)};
      end
    end
  end
  always_ff @(posedge clk_i) begin
    clock_q <= rst_i ? '0 : clock_q == 8'(Launch + Slots) ? clock_q : clock_q + 8'd1;
    m_script: assume (Script == 0 || (!rst_i && {reg_we_i, reg_addr_i, reg_wdata_i} == write && !reg_re_i &&
        !done_valid_i && !drained_valid_i && !event_valid_i));
  end

  // ---- Lemmas: how this RTL and the books of the properties hang together. Each follows from the
  // clock before, given the others, and with them most rules do. What has the name of a register is
  // that register of the block.
  localparam int unsigned LogWidth = $clog2(PipelineEntries);
  localparam int unsigned GateBits = $clog2(Gates);
  localparam int unsigned BatchWidth = IdWidth < 16 ? IdWidth : 16;
  localparam int unsigned ReturnedWidth = $clog2(ReturnedEntries);
  localparam int unsigned ResidentWidth = CuWidth + CountWidth;
  localparam int unsigned W = IdWidth + SlotWidth + LogWidth + 2;                       // Of sums of work-groups,
  localparam int unsigned U = ResourceWidth + CountWidth + SlotWidth + LogWidth + 1;  // of use.
  localparam logic [2:0] Idle = 3'd0, Check = 3'd1, Empty = 3'd2, Wait = 3'd3, Now = 3'd4, Place = 3'd5;
  (* inside = "u_grid_scheduler.u_progress.running_q" *) logic [Slots-1:0] running_q;
  (* inside = "u_grid_scheduler.u_progress.done_q" *) logic [Slots-1:0] done_q;
  (* inside = "u_grid_scheduler.u_progress.preempt_q" *) logic [Slots-1:0] preempt_q;
  (* inside = "u_grid_scheduler.u_progress.closed_q" *) logic [Slots-1:0] closed_q;
  (* inside = "u_grid_scheduler.u_slots.gated_q" *) logic [Slots-1:0] gated_q;
  (* inside = "u_grid_scheduler.u_slots.tensor_q" *) logic [Slots-1:0] tensor_q;
  (* inside = "u_grid_scheduler.u_slots.resumes_q" *) logic [Slots-1:0] resumes_q;
  (* inside = "u_grid_scheduler.u_progress.started_q" *) logic [Slots-1:0] started_q;
  (* inside = "u_grid_scheduler.u_progress.first_done_q" *) logic [Slots-1:0] first_done_q;
  (* inside = "u_grid_scheduler.u_progress.left_q" *) logic [Slots-1:0] left_q;
  (* inside = "u_grid_scheduler.u_regs.cus_o" *) logic [7:0] cus_q;
  (* inside = "u_grid_scheduler.u_regs.policy_o" *) logic [2:0] policy_q;
  (* inside = "u_grid_scheduler.u_regs.capacity_o" *) logic [35:0] capacity_q;
  (* inside = "u_grid_scheduler.u_slots.priority_high_q" *) logic [Slots-1:0] priority_high_q;
  (* inside = "u_grid_scheduler.u_slots.priority_low_q" *) logic [Slots-1:0] priority_low_q;
  (* inside = "u_grid_scheduler.u_pick.any_q" *) logic [Slots-1:0] any_q;
  (* inside = "u_grid_scheduler.u_pick.trial_any_q" *) logic trial_any_q;
  (* inside = "u_grid_scheduler.u_gates.gates_q[0]" *) logic [31:0] gates_q;
  (* inside = "u_grid_scheduler.u_pick.valid_q" *) logic pick_valid_q;
  (* inside = "u_grid_scheduler.u_pick.trial_q" *) logic pick_trial_q;
  (* inside = "u_grid_scheduler.u_pick.slot_q" *) logic [SlotWidth-1:0] pick_slot_q;
  (* inside = "u_grid_scheduler.u_pick.cu_q" *) logic [7:0] pick_cu_q;
  (* inside = "u_grid_scheduler.u_pick.turn_cu_q" *) logic [7:0] turn_cu_q;
  (* inside = "u_grid_scheduler.u_pick.turn_tensor_q" *) logic [7:0] turn_tensor_q;
  (* inside = "u_grid_scheduler.u_pick.trial_cu_q" *) logic [7:0] trial_cu_q;
  (* inside = "u_grid_scheduler.u_pick.trial_tensor_q" *) logic [7:0] trial_tensor_q;
  (* inside = "u_grid_scheduler.u_pipeline.state_q" *) logic [2:0] pipe_state_q;
  (* inside = "u_grid_scheduler.u_pipeline.slots_q" *) logic [Slots-1:0] pipe_q;
  (* inside = "u_grid_scheduler.u_pipeline.todo_q" *) logic [Slots-1:0] pipe_todo_q;
  (* inside = "u_grid_scheduler.u_pipeline.check_q" *) logic [Slots-1:0] pipe_check_q;
  (* inside = "u_grid_scheduler.u_pipeline.slot_q" *) logic [SlotWidth-1:0] pipe_slot_q;
  (* inside = "u_grid_scheduler.u_pipeline.left_q" *) logic [IdWidth-1:0] pipe_left_q;
  (* inside = "u_grid_scheduler.u_pipeline.priority_q" *) logic [1:0] pipe_priority_q;
  (* inside = "u_grid_scheduler.u_pipeline.two_q" *) logic pipe_two_q;
  (* inside = "u_grid_scheduler.u_pipeline.retry_q" *) logic pipe_retry_q;
  (* inside = "u_grid_scheduler.u_pipeline.total_q" *) logic [LogWidth:0] pipe_total_q;
  (* inside = "u_grid_scheduler.u_pipeline.log_index_q" *) logic [LogWidth:0] log_index_q;
  (* inside = "u_grid_scheduler.u_units.touched_q[0]" *) logic [31:0] touched_q;
  (* inside = "u_grid_scheduler.u_returned.in_q" *) logic [ReturnedWidth:0] returned_in_q;
  (* inside = "u_grid_scheduler.u_returned.out_q" *) logic [ReturnedWidth:0] returned_out_q;
  (* inside = "u_grid_scheduler.u_regs.read_pending_o" *) logic read_pending_q;
  (* inside = "u_grid_scheduler.u_regs.address_o" *) logic [15:0] read_address_q;
  (* inside = "u_props.live_q" *) logic live_q;
  (* inside = "u_props.running" *) logic [Slots-1:0] book_running;
  (* inside = "u_props.running_q" *) logic [Slots-1:0] book_running_q;
  (* inside = "u_props.over" *) logic [Slots-1:0] book_over;
  (* inside = "u_props.preempted_q" *) logic [Slots-1:0] book_preempted_q;
  (* inside = "u_props.waits" *) logic [Slots-1:0] waits;
  (* inside = "u_props.waits_q" *) logic [Slots-1:0] waits_q;
  (* inside = "u_props.goes" *) logic [Slots-1:0] goes;
  (* inside = "u_props.ended" *) logic [Slots-1:0] ended;
  (* inside = "u_props.asked_q" *) logic [Slots-1:0] asked_q;
  (* inside = "u_props.todo" *) logic [Slots-1:0] book_todo;
  (* inside = "u_props.waits_priority" *) logic [1:0] waits_priority;
  (* inside = "u_props.w_launched" *) logic [Slots-1:0] launched;
  (* inside = "u_props.w_bad" *) logic bad;
  (* inside = "u_props.gated_q" *) logic [Slots-1:0] book_gated_q;
  (* inside = "u_props.tensor_q" *) logic [Slots-1:0] book_tensor_q;
  (* inside = "u_props.resumes_q" *) logic [Slots-1:0] book_resumes_q;
  (* inside = "u_props.started_slot_q" *) logic [Slots-1:0] book_started_q;
  (* inside = "u_props.first_done_q" *) logic [Slots-1:0] book_first_done_q;
  (* inside = "u_props.older_q" *) logic [Slots*Slots-1:0] book_older_q;
  (* inside = "u_props.last_q" *) logic [Slots-1:0] book_last_q;
  (* inside = "u_props.cus_q" *) logic [7:0] book_cus_q;
  (* inside = "u_props.cus" *) logic [7:0] cus;
  (* inside = "u_props.launch_order_q" *) logic book_launch_order_q;
  (* inside = "u_props.two_arbiters_q" *) logic book_two_arbiters_q;
  (* inside = "u_props.strict_q" *) logic book_strict_q;
  (* inside = "u_props.outranks_q" *) logic [Slots-1:0] outranks_q;
  (* inside = "u_props.capacity_registers_q" *) logic [ResourceWidth-1:0] book_capacity_registers_q;
  (* inside = "u_props.capacity_lds_q" *) logic [ResourceWidth-1:0] book_capacity_lds_q;
  (* inside = "u_props.capacity_wavefronts_q" *) logic [CountWidth-1:0] book_capacity_wavefronts_q;
  (* inside = "u_props.capacity_work_groups_q" *) logic [CountWidth-1:0] book_capacity_work_groups_q;
  (* inside = "u_props.gates_q" *) logic [Gates-1:0] book_gates_q;
  (* inside = "u_props.total_q" *) logic [LogWidth:0] book_total_q;
  (* inside = "u_props.there_q" *) logic [MaxCus*Slots*CountWidth-1:0] there_q;
  (* inside = "u_props.returned_in_q" *) logic [ReturnedWidth:0] book_in_q;
  (* inside = "u_props.returned_out_q" *) logic [ReturnedWidth:0] book_out_q;
  (* inside = "u_props.quiet_q" *) logic [2:0] quiet_q;
  (* inside = "u_props.trail_q" *) logic [1:0] trail_q;
  (* inside = "u_props.trail_0_q" *) logic [CuWidth-1:0] trail_0_q;
  (* inside = "u_props.trail_1_q" *) logic [CuWidth-1:0] trail_1_q;
  (* inside = "u_props.w_read" *) logic book_read_q;
  (* inside = "u_props.w_address" *) logic [15:0] book_address_q;

  logic                     launch_order_q, two_arbiters_q, strict_q;
  logic [ResourceWidth-1:0] capacity_registers_q, capacity_lds_q;
  logic [CountWidth-1:0]    capacity_wavefronts_q, capacity_work_groups_q;
  always_comb begin
    {strict_q, two_arbiters_q, launch_order_q} = policy_q;
    capacity_registers_q = capacity_q[0+:ResourceWidth];
    capacity_lds_q = capacity_q[10+:ResourceWidth];
    capacity_wavefronts_q = capacity_q[20+:CountWidth];
    capacity_work_groups_q = capacity_q[28+:CountWidth];
  end

  // Of each slot.
  logic [Slots-1:0]               same, in_order, in_gates, in_capacity, not_itself, leaves_some, on, mine;
  logic [Slots*IdWidth-1:0]       undispatched;
  logic [Slots*ResourceWidth-1:0] needs_registers, needs_lds;
  logic [Slots*CountWidth-1:0]    needs_wavefronts;
  logic [Slots-1:0]               resident, open;
  logic [Slots*Slots-1:0]         older_q;
  logic [Slots*ResidentWidth-1:0] book_resident;
  logic [(Slots+1)*MaxCus-1:0]    candidates;  // The trial's come last.
  logic [Slots:0]                 beyond;      // Units that are not built.
  for (genvar s = 0; s < Slots; s++) begin : gen_slot
    (* inside = "u_grid_scheduler.u_slots.registers_q[]" *) logic [ResourceWidth-1:0] needs_registers_q;
    (* inside = "u_props.registers_q[]" *) logic [ResourceWidth-1:0] book_registers;
    (* inside = "u_grid_scheduler.u_slots.lds_q[]" *) logic [ResourceWidth-1:0] needs_lds_q;
    (* inside = "u_props.lds_q[]" *) logic [ResourceWidth-1:0] book_lds;
    (* inside = "u_grid_scheduler.u_slots.wavefronts_q[]" *) logic [CountWidth-1:0] needs_wavefronts_q;
    (* inside = "u_props.wavefronts_q[]" *) logic [CountWidth-1:0] book_wavefronts;
    (* inside = "u_props.priority_q[]" *) logic [1:0] book_priority;
    (* inside = "u_grid_scheduler.u_slots.first_q[]" *) logic [IdWidth-1:0] first_q;
    (* inside = "u_props.first_q[]" *) logic [IdWidth-1:0] book_first;
    (* inside = "u_grid_scheduler.u_slots.count_q[]" *) logic [IdWidth-1:0] count_q;
    (* inside = "u_props.count_q[]" *) logic [IdWidth-1:0] book_count;
    (* inside = "u_grid_scheduler.u_slots.grid_q[]" *) logic [IdWidth-1:0] grid_q;
    (* inside = "u_props.grid_q[]" *) logic [IdWidth-1:0] book_grid;
    (* inside = "u_grid_scheduler.u_slots.start_q[]" *) logic [IdWidth-1:0] start_q;
    (* inside = "u_props.start_q[]" *) logic [IdWidth-1:0] book_start;
    (* inside = "u_grid_scheduler.u_slots.skip_q[]" *) logic [IdWidth-1:0] skip_q;
    (* inside = "u_props.skip_q[]" *) logic [IdWidth-1:0] book_skip;
    (* inside = "u_grid_scheduler.u_slots.batch_q[]" *) logic [BatchWidth-1:0] batch_q;
    (* inside = "u_props.batch_q[]" *) logic [BatchWidth-1:0] book_batch;
    (* inside = "u_grid_scheduler.u_progress.gate_q[]" *) logic [15:0] gate_q;
    (* inside = "u_props.gate[]" *) logic [15:0] book_gate;
    (* inside = "u_grid_scheduler.u_progress.phase_q[]" *) logic [BatchWidth-1:0] phase_q;
    (* inside = "u_props.phase[]" *) logic [BatchWidth-1:0] book_phase;
    (* inside = "u_grid_scheduler.u_progress.position_q[]" *) logic [IdWidth-1:0] position_q;
    (* inside = "u_props.position[]" *) logic [IdWidth-1:0] book_position;
    (* inside = "u_grid_scheduler.u_progress.undispatched_q[]" *) logic [IdWidth-1:0] undispatched_q;
    (* inside = "u_props.count_left[]" *) logic [IdWidth-1:0] book_count_left;
    (* inside = "u_grid_scheduler.u_progress.resident_q[]" *) logic [ResidentWidth-1:0] resident_q;
    (* inside = "u_props.count_resident[]" *) logic [ResidentWidth-1:0] book_count_resident;
    (* inside = "u_props.position_q[]" *) logic [IdWidth-1:0] book_position_q;
    (* inside = "u_props.left_q[]" *) logic [IdWidth-1:0] book_left_q;
    (* inside = "u_props.resident_q[]" *) logic [ResidentWidth-1:0] book_resident_q;
    (* inside = "u_grid_scheduler.u_pick.older_q[]" *) logic [Slots-1:0] older_row;
    always_comb begin
      older_q[s*Slots+:Slots] = older_row;
      on[s] = dispatch_valid_o && dispatch_slot_o == SlotWidth'(s);
      mine[s] = pick_valid_q && pick_slot_q == SlotWidth'(s);
      same[s] = {needs_registers_q, needs_lds_q, needs_wavefronts_q, priority_high_q[s], priority_low_q[s], first_q,
          count_q, grid_q, start_q, skip_q, batch_q, gate_q, phase_q, position_q, undispatched_q, resident_q,
          started_q[s]} ==
          {book_registers, book_lds, book_wavefronts, book_priority, book_first, book_count, book_grid,
              book_start, book_skip, book_batch, book_gate, book_phase, book_position, book_count_left,
              book_count_resident, book_started_q[s] || on[s]};
      in_order[s] = (!running_q[s] || pipe_check_q[s] || (undispatched_q <= count_q && position_q < count_q)) &&
          (!book_running_q[s] || launched[s] || book_last_q[s] == (book_position_q + IdWidth'(1) == count_q));
      in_gates[s] = !(gated_q[s] && running_q[s] && !pipe_check_q[s] && undispatched_q != '0) ||
          (((count_q - IdWidth'(1)) >> GateBits) < IdWidth'(batch_q) && phase_q < batch_q &&
           32'(gate_q) * 32'(batch_q) + 32'(phase_q) == 32'(position_q));
      in_capacity[s] = !running_q[s] || pipe_check_q[s] || (needs_registers_q <= capacity_registers_q &&
          needs_lds_q <= capacity_lds_q && needs_wavefronts_q <= capacity_wavefronts_q && capacity_work_groups_q != '0);
      not_itself[s] = !older_row[s];
      leaves_some[s] = book_left_q != '0;
      undispatched[s*IdWidth+:IdWidth] = undispatched_q;
      needs_registers[s*ResourceWidth+:ResourceWidth] = needs_registers_q;
      needs_lds[s*ResourceWidth+:ResourceWidth] = needs_lds_q;
      needs_wavefronts[s*CountWidth+:CountWidth] = needs_wavefronts_q;
      resident[s] = resident_q != '0;
      book_resident[s*ResidentWidth+:ResidentWidth] = book_resident_q;
      open[s] = gates_q[gate_q[GateBits-1:0]];
    end
  end
  (* inside = "u_grid_scheduler.u_pick.candidates_q[0]" *) logic [Slots*32-1:0] candidates_q;
  (* inside = "u_grid_scheduler.u_pick.trial_candidates_q[0]" *) logic [31:0] trial_candidates_q;
  logic [Slots:0] some_candidate;
  always_comb begin
    candidates[Slots*MaxCus+:MaxCus] = trial_candidates_q[MaxCus-1:0];
    beyond[Slots] = trial_candidates_q[31:MaxCus] != '0;
    some_candidate[Slots] = trial_candidates_q != '0;
    for (int unsigned s = 0; s < Slots; s++) begin
      candidates[s*MaxCus+:MaxCus] = candidates_q[s*32+:MaxCus];
      beyond[s] = candidates_q[s*32+MaxCus+:32-MaxCus] != '0;
      some_candidate[s] = candidates_q[s*32+:32] != '0;
    end
  end

  // The log, and whose entries of it are whose: in a trial from the first on, when it is placed
  // from log_index_q on.
  logic [PipelineEntries*CuWidth-1:0]   log_units;
  logic [PipelineEntries*SlotWidth-1:0] owners;
  logic [PipelineEntries-1:0]           counts;  // Entries that are in the trial's use, or will be in the units'.
  logic [PipelineEntries-1:0]           strange;  // Those of them on no unit in use.
  for (genvar j = 0; j < PipelineEntries; j++) begin : gen_log
    (* inside = "u_grid_scheduler.u_pipeline.log_q[]" *) logic [CuWidth-1:0] entry;
    always_comb begin
      log_units[j*CuWidth+:CuWidth] = entry;
      strange[j] = counts[j] && 8'(entry) >= cus;
    end
  end
  logic [W-1:0] entered, to_come, all_of_it, checked, low;
  logic         trial, in_log;
  always_comb begin
    trial = pipe_state_q == Empty || pipe_state_q == Now;
    entered = '0;
    to_come = '0;
    checked = '0;
    low = pipe_state_q == Place ? W'(log_index_q) + W'(pipe_left_q) : '0;
    counts = '0;
    owners = '0;
    for (int unsigned j = 0; j < PipelineEntries; j++) begin
      owners[j*SlotWidth+:SlotWidth] = pipe_slot_q;
      if (pipe_state_q == Place) counts[j] = j >= 32'(log_index_q) && W'(j) < low;
    end
    for (int unsigned s = 0; s < Slots; s++) begin
      if (pipe_q[s] && pipe_todo_q[s]) to_come = to_come + W'(undispatched[s*IdWidth+:IdWidth]);
      if (pipe_q[s] && !pipe_todo_q[s]) entered = entered + W'(undispatched[s*IdWidth+:IdWidth]);
      if (pipe_q[s] && !pipe_check_q[s]) checked = checked + W'(undispatched[s*IdWidth+:IdWidth]);
      if (pipe_q[s] && (pipe_todo_q[s] || pipe_state_q != Place)) begin
        for (int unsigned j = 0; j < PipelineEntries; j++) begin
          if (W'(j) >= low && W'(j) < low + W'(undispatched[s*IdWidth+:IdWidth])) begin
            owners[j*SlotWidth+:SlotWidth] = SlotWidth'(s);
            counts[j] = pipe_state_q == Place || j < 32'(log_index_q);
          end
        end
        low = low + W'(undispatched[s*IdWidth+:IdWidth]);
      end
    end
    all_of_it = pipe_state_q == Place ? W'(log_index_q) + W'(pipe_left_q) + to_come : checked;
  end

  // P2: the log that a trial on empty units makes is a function of what the slots need. `so_far` is the use after the
  // first log_index_q entries, and where each arbiter looks next then. A trial of empty units follows it: while
  // nothing is on the units and nothing has left them since the trial began, it ends as the first one did.
  logic [PipelineEntries-1:0]       follows;         // Entries of the log that are those of that trial.
  logic                             fits_empty, fits_so_far;
  logic [MaxCus*ResourceWidth-1:0]  so_far_registers, so_far_lds, empty_registers, empty_lds;
  logic [MaxCus*CountWidth-1:0]     so_far_wavefronts, so_far_work_groups, empty_wavefronts, empty_work_groups;
  logic [2*CuWidth-1:0]             so_far_next, empty_next;
  logic [MaxCus-1:0]                fits_now;        // Units with room for one more work-group of pipe_slot_q then.
  logic [SlotWidth-1:0]             owner;
  logic                             arbiter, lands;
  logic [CuWidth-1:0]               unit;
  always_comb begin : greedy
    follows = '0;
    fits_empty = 1'b1;
    fits_so_far = 1'b1;
    empty_registers = '0;
    empty_lds = '0;
    empty_wavefronts = '0;
    empty_work_groups = '0;
    empty_next = '0;
    so_far_registers = '0;
    so_far_lds = '0;
    so_far_wavefronts = '0;
    so_far_work_groups = '0;
    so_far_next = '0;
    for (int unsigned j = 0; j < PipelineEntries; j++) begin
      owner = owners[j*SlotWidth+:SlotWidth];
      arbiter = pipe_two_q && tensor_q[owner];
      unit = empty_next[arbiter*CuWidth+:CuWidth];
      lands = 1'b0;
      for (int unsigned k = 0; k < MaxCus; k++) begin
        if (!lands) begin
          lands =
              {1'b0, empty_registers[unit*ResourceWidth+:ResourceWidth]} +
              {1'b0, needs_registers[owner*ResourceWidth+:ResourceWidth]} <= {1'b0, capacity_registers_q} &&
              {1'b0, empty_lds[unit*ResourceWidth+:ResourceWidth]} +
              {1'b0, needs_lds[owner*ResourceWidth+:ResourceWidth]} <= {1'b0, capacity_lds_q} &&
              {1'b0, empty_wavefronts[unit*CountWidth+:CountWidth]} +
              {1'b0, needs_wavefronts[owner*CountWidth+:CountWidth]} <= {1'b0, capacity_wavefronts_q} &&
              empty_work_groups[unit*CountWidth+:CountWidth] < capacity_work_groups_q;
          if (!lands) unit = 8'(unit) + 8'd1 >= cus ? '0 : unit + CuWidth'(1);
        end
      end
      if (W'(j) < checked) begin
        follows[j] = lands && log_units[j*CuWidth+:CuWidth] == unit;
        if (!lands) fits_empty = 1'b0;
        empty_registers[unit*ResourceWidth+:ResourceWidth] = empty_registers[unit*ResourceWidth+:ResourceWidth] +
            needs_registers[owner*ResourceWidth+:ResourceWidth];
        empty_lds[unit*ResourceWidth+:ResourceWidth] = empty_lds[unit*ResourceWidth+:ResourceWidth] +
            needs_lds[owner*ResourceWidth+:ResourceWidth];
        empty_wavefronts[unit*CountWidth+:CountWidth] = empty_wavefronts[unit*CountWidth+:CountWidth] +
            needs_wavefronts[owner*CountWidth+:CountWidth];
        empty_work_groups[unit*CountWidth+:CountWidth] = empty_work_groups[unit*CountWidth+:CountWidth] +
            CountWidth'(1);
        empty_next[arbiter*CuWidth+:CuWidth] = 8'(unit) + 8'd1 >= cus ? '0 : unit + CuWidth'(1);
      end
      if (j < 32'(log_index_q)) begin
        fits_so_far = fits_empty;
        so_far_registers = empty_registers;
        so_far_lds = empty_lds;
        so_far_wavefronts = empty_wavefronts;
        so_far_work_groups = empty_work_groups;
        so_far_next = empty_next;
      end else begin
        follows[j] = 1'b1;
      end
    end
    for (int unsigned u = 0; u < MaxCus; u++) begin
      fits_now[u] = 8'(u) < cus &&
          {1'b0, so_far_registers[u*ResourceWidth+:ResourceWidth]} +
          {1'b0, needs_registers[pipe_slot_q*ResourceWidth+:ResourceWidth]} <= {1'b0, capacity_registers_q} &&
          {1'b0, so_far_lds[u*ResourceWidth+:ResourceWidth]} +
          {1'b0, needs_lds[pipe_slot_q*ResourceWidth+:ResourceWidth]} <= {1'b0, capacity_lds_q} &&
          {1'b0, so_far_wavefronts[u*CountWidth+:CountWidth]} +
          {1'b0, needs_wavefronts[pipe_slot_q*CountWidth+:CountWidth]} <= {1'b0, capacity_wavefronts_q} &&
          so_far_work_groups[u*CountWidth+:CountWidth] < capacity_work_groups_q;
    end
  end
  // The trial looks from there on, and has passed only units without room.
  logic                 of_empty, passed, walker, past;
  logic [2*CuWidth-1:0] looks;
  logic [CuWidth-1:0]   reached, walk;
  always_comb begin : walks
    of_empty = pipe_state_q == Empty || (pipe_state_q == Now && !pipe_retry_q && occupied == '0);
    walker = pipe_two_q && tensor_q[pipe_slot_q];
    looks[0+:CuWidth] = trial_cu_q >= cus ? '0 : CuWidth'(trial_cu_q);
    looks[CuWidth+:CuWidth] = trial_tensor_q >= cus ? '0 : CuWidth'(trial_tensor_q);
    passed = looks[!walker*CuWidth+:CuWidth] == so_far_next[!walker*CuWidth+:CuWidth];
    reached = looks[walker*CuWidth+:CuWidth];
    walk = so_far_next[walker*CuWidth+:CuWidth];
    past = 1'b0;
    if (pipe_left_q == '0) begin
      if (reached != walk) passed = 1'b0;
    end else begin
      if (pick_valid_q) begin
        if (reached != (pick_cu_q + 8'd1 >= cus ? '0 : CuWidth'(pick_cu_q) + CuWidth'(1))) passed = 1'b0;
        reached = CuWidth'(pick_cu_q);
      end
      for (int unsigned k = 0; k < MaxCus; k++) begin
        if (walk == reached) past = 1'b1;
        if (!past && fits_now[walk]) passed = 1'b0;
        walk = 8'(walk) + 8'd1 >= cus ? '0 : walk + CuWidth'(1);
      end
      if ((fits_now & ~candidates[Slots*MaxCus+:MaxCus]) != '0) passed = 1'b0;
    end
  end

  // Of each unit: use, its sum over the slots, and what the log adds to it.
  logic [MaxCus-1:0] used_same, summed, promised, use_in_use, full;
  logic [MaxCus*Slots-1:0] room;  // Of a unit for a slot.
  logic [MaxCus-1:0] occupied, tried;  // It has work-groups, is what the trial on empty units makes of it.
  for (genvar u = 0; u < MaxCus; u++) begin : gen_unit
    (* inside = "u_grid_scheduler.u_units.used_registers_q[]" *) logic [ResourceWidth-1:0] used_registers_q;
    (* inside = "u_props.used_registers[]" *) logic [ResourceWidth-1:0] book_registers;
    (* inside = "u_grid_scheduler.u_units.trial_registers_q[]" *) logic [ResourceWidth-1:0] trial_registers_q;
    (* inside = "u_grid_scheduler.u_units.used_lds_q[]" *) logic [ResourceWidth-1:0] used_lds_q;
    (* inside = "u_props.used_lds[]" *) logic [ResourceWidth-1:0] book_lds;
    (* inside = "u_grid_scheduler.u_units.trial_lds_q[]" *) logic [ResourceWidth-1:0] trial_lds_q;
    (* inside = "u_grid_scheduler.u_units.used_wavefronts_q[]" *) logic [CountWidth-1:0] used_wavefronts_q;
    (* inside = "u_props.used_wavefronts[]" *) logic [CountWidth-1:0] book_wavefronts;
    (* inside = "u_grid_scheduler.u_units.trial_wavefronts_q[]" *) logic [CountWidth-1:0] trial_wavefronts_q;
    (* inside = "u_grid_scheduler.u_units.used_work_groups_q[]" *) logic [CountWidth-1:0] used_work_groups_q;
    (* inside = "u_props.used_work_groups[]" *) logic [CountWidth-1:0] book_work_groups;
    (* inside = "u_grid_scheduler.u_units.trial_work_groups_q[]" *) logic [CountWidth-1:0] trial_work_groups_q;
    logic [U-1:0] there, sum_registers, sum_lds, sum_wavefronts, sum_work_groups;
    logic [U-1:0] log_registers, log_lds, log_wavefronts, log_work_groups;
    logic         logged;
    always_comb begin
      used_same[u] = {used_registers_q, used_lds_q, used_wavefronts_q, used_work_groups_q} ==
          {book_registers, book_lds, book_wavefronts, book_work_groups};
      sum_registers = '0;
      sum_lds = '0;
      sum_wavefronts = '0;
      sum_work_groups = '0;
      for (int unsigned s = 0; s < Slots; s++) begin
        there = U'(there_q[(u*Slots + s)*CountWidth+:CountWidth]) + U'(on[s] && dispatch_cu_o == CuWidth'(u));
        sum_registers = sum_registers + there * U'(needs_registers[s*ResourceWidth+:ResourceWidth]);
        sum_lds = sum_lds + there * U'(needs_lds[s*ResourceWidth+:ResourceWidth]);
        sum_wavefronts = sum_wavefronts + there * U'(needs_wavefronts[s*CountWidth+:CountWidth]);
        sum_work_groups = sum_work_groups + there;
      end
      summed[u] = sum_registers == U'(used_registers_q) && sum_lds == U'(used_lds_q) &&
          sum_wavefronts == U'(used_wavefronts_q) && sum_work_groups == U'(used_work_groups_q) &&
          used_registers_q <= capacity_registers_q && used_lds_q <= capacity_lds_q &&
          used_wavefronts_q <= capacity_wavefronts_q && used_work_groups_q <= capacity_work_groups_q;
      use_in_use[u] = used_work_groups_q == '0 || 8'(u) < cus;

      log_registers = U'(used_registers_q);
      log_lds = U'(used_lds_q);
      log_wavefronts = U'(used_wavefronts_q);
      log_work_groups = U'(used_work_groups_q);
      if (pipe_state_q == Place && pick_valid_q && pick_cu_q == 8'(u)) begin
        log_registers = log_registers + U'(needs_registers[pick_slot_q*ResourceWidth+:ResourceWidth]);
        log_lds = log_lds + U'(needs_lds[pick_slot_q*ResourceWidth+:ResourceWidth]);
        log_wavefronts = log_wavefronts + U'(needs_wavefronts[pick_slot_q*CountWidth+:CountWidth]);
        log_work_groups = log_work_groups + U'(1);
      end
      logged = 1'b0;
      for (int unsigned j = 0; j < PipelineEntries; j++) begin
        if (counts[j] && log_units[j*CuWidth+:CuWidth] == CuWidth'(u)) begin
          logged = 1'b1;
          log_registers = log_registers +
              U'(needs_registers[owners[j*SlotWidth+:SlotWidth]*ResourceWidth+:ResourceWidth]);
          log_lds = log_lds + U'(needs_lds[owners[j*SlotWidth+:SlotWidth]*ResourceWidth+:ResourceWidth]);
          log_wavefronts = log_wavefronts +
              U'(needs_wavefronts[owners[j*SlotWidth+:SlotWidth]*CountWidth+:CountWidth]);
          log_work_groups = log_work_groups + U'(1);
        end
      end
      promised[u] = 1'b1;
      if (pipe_state_q == Place) begin
        promised[u] = log_registers <= U'(capacity_registers_q) && log_lds <= U'(capacity_lds_q) &&
            log_wavefronts <= U'(capacity_wavefronts_q) && log_work_groups <= U'(capacity_work_groups_q);
      end else if (pipe_state_q == Now && touched_q[u]) begin
        promised[u] = log_registers <= U'(trial_registers_q) && log_lds <= U'(trial_lds_q) &&
            log_wavefronts <= U'(trial_wavefronts_q) && log_work_groups <= U'(trial_work_groups_q) &&
            trial_registers_q <= capacity_registers_q && trial_lds_q <= capacity_lds_q &&
            trial_wavefronts_q <= capacity_wavefronts_q && trial_work_groups_q <= capacity_work_groups_q;
      end else if (pipe_state_q == Now) begin
        promised[u] = !logged;
      end
      occupied[u] = used_work_groups_q != '0;
      tried[u] = touched_q[u] ? {trial_registers_q, trial_lds_q, trial_wavefronts_q, trial_work_groups_q} ==
                                {so_far_registers[u*ResourceWidth+:ResourceWidth],
                                 so_far_lds[u*ResourceWidth+:ResourceWidth],
                                 so_far_wavefronts[u*CountWidth+:CountWidth],
                                 so_far_work_groups[u*CountWidth+:CountWidth]}
                              : so_far_work_groups[u*CountWidth+:CountWidth] == '0;
      // A unit that is no candidate of a slot has no room for it.
      full[u] = 1'b1;
      for (int unsigned s = 0; s < Slots; s++) begin
        room[u*Slots + s] = 8'(u) < cus &&
            U'(used_registers_q) + U'(needs_registers[s*ResourceWidth+:ResourceWidth]) <= U'(capacity_registers_q) &&
            U'(used_lds_q) + U'(needs_lds[s*ResourceWidth+:ResourceWidth]) <= U'(capacity_lds_q) &&
            U'(used_wavefronts_q) + U'(needs_wavefronts[s*CountWidth+:CountWidth]) <= U'(capacity_wavefronts_q) &&
            used_work_groups_q < capacity_work_groups_q;
        if (running_q[s] && !pipe_check_q[s]) begin
          if (candidates[s*MaxCus + u] && 8'(u) >= cus) full[u] = 1'b0;
          if (!candidates[s*MaxCus + u] && room[u*Slots + s]) full[u] = 1'b0;
        end
      end
      if (trial && candidates[Slots*MaxCus + u] && pipe_left_q != '0 && 8'(u) >= cus) full[u] = 1'b0;
    end
  end
  logic [Slots-1:0] agree;
  logic [U+CuWidth-1:0] sum;
  always_comb begin
    for (int unsigned s = 0; s < Slots; s++) begin
      sum = '0;
      for (int unsigned u = 0; u < MaxCus; u++) begin
        sum = sum + (U+CuWidth)'(there_q[(u*Slots + s)*CountWidth+:CountWidth]);
      end
      agree[s] = sum == (U+CuWidth)'(book_resident[s*ResidentWidth+:ResidentWidth]);
    end
  end

  // A pass of a trial enters the slots from the lowest on; when it is placed, what is left of each
  // is to come.
  logic [Slots-1:0] entry_order, rest;
  always_comb begin
    for (int unsigned s = 0; s < Slots; s++) begin
      entry_order[s] = 1'b1;
      if (trial && pipe_q[s] && !pipe_todo_q[s]) begin
        if (SlotWidth'(s) > pipe_slot_q || pipe_todo_q[pipe_slot_q] || !pipe_q[pipe_slot_q]) entry_order[s] = 1'b0;
        for (int unsigned t = 0; t < s; t++) if (pipe_q[t] && pipe_todo_q[t]) entry_order[s] = 1'b0;
      end
      rest[s] = !(pipe_state_q == Place && pipe_q[s]) ||
          (pipe_todo_q[s] ? undispatched[s*IdWidth+:IdWidth] != '0 && !resident[s]
                          : W'(undispatched[s*IdWidth+:IdWidth]) ==
                            (pipe_slot_q == SlotWidth'(s) ? W'(pipe_left_q) : '0) + W'(mine[s]));
    end
  end

  logic [Slots-1:0] some;  // Slots with work-groups left.
  always_comb begin
    for (int unsigned s = 0; s < Slots; s++) some[s] = undispatched[s*IdWidth+:IdWidth] != '0;
  end

  // Behind the last placement of an arbiter: where it looks next, if one slot alone has work for
  // it.
  logic [1:0]         valid, hit;
  logic [2*8-1:0]     from, turns;
  logic [Slots-1:0]   by_two, alone, goes_on;
  logic [7:0]         turn_of_pick;
  always_comb begin
    by_two = two_arbiters_q ? tensor_q : '0;
    turns = {turn_tensor_q, turn_cu_q};
    turn_of_pick = turns[by_two[pick_slot_q]*8+:8];
    hit = '0;
    hit[by_two[dispatch_slot_o]] = dispatch_valid_o;
    from = {8'(trail_1_q), 8'(trail_0_q)};
    valid = dispatch_valid_o && !some[dispatch_slot_o] ? '0 : trail_q;
    for (int unsigned a = 0; a < 2; a++) begin
      if (hit[a]) begin
        from[a*8+:8] = 8'(dispatch_cu_o);
        valid[a] = quiet_q == '1 && some[dispatch_slot_o] && waits == '0 && goes == '0;
      end
      from[a*8+:8] = from[a*8+:8] + 8'd1 >= cus ? '0 : from[a*8+:8] + 8'd1;
    end
    for (int unsigned s = 0; s < Slots; s++) begin
      alone[s] = running_q[s] && some[s] && !gated_q[s] && !preempt_q[s];
      for (int unsigned t = 0; t < Slots; t++) begin
        if (t != s && running_q[t] && some[t] && !preempt_q[t] && by_two[t] == by_two[s]) alone[s] = 1'b0;
      end
      goes_on[s] = 1'b1;
      if (alone[s] && valid[by_two[s]] && room[from[by_two[s]*8+:CuWidth]*Slots + s]) begin
        if (pick_valid_q && !pick_trial_q && by_two[pick_slot_q] == by_two[s]) begin
          goes_on[s] = mine[s] && pick_cu_q == from[by_two[s]*8+:8];
        end else begin
          goes_on[s] = turns[by_two[s]*8+:8] == from[by_two[s]*8+:8] ||
              (from[by_two[s]*8+:8] == '0 && turns[by_two[s]*8+:8] >= cus);
        end
      end
    end
  end

  // The sleeping copy has the registers of the block; that of a choice counts only when there is
  // one.
  logic copy_same;
  if (Sleeps == 0) begin : gen_no_copy
    always_comb copy_same = pipe_state_q <= Place;  // Anything that holds; what is constant would be removed.
  end else begin : gen_copy
    (* twins = "u_pick.trial_q" *) logic registers_same;
    (* inside = "gen_sleeps.u_hold.u_pick.trial_q" *) logic hold_trial_q;
    always_comb copy_same = registers_same && (!pick_valid_q || hold_trial_q == pick_trial_q);
  end

  always_ff @(posedge clk_i) begin
    a_g2_lemma_reset: assert (live_q || ({running_q, done_q, book_running_q, waits_q, preempt_q, book_preempted_q,
        asked_q, launched, refused_o, some, resident} == '0 && !dispatch_valid_o && !pick_valid_q &&
        !kernel_done_o && pipe_state_q == Idle));
    a_g2_lemma_both: assert ({cus_q, launch_order_q, two_arbiters_q, strict_q, capacity_registers_q, capacity_lds_q,
        capacity_wavefronts_q, capacity_work_groups_q, running_q, done_q, first_done_q, older_q, resumes_q, gated_q,
        tensor_q, gates_q, pipe_check_q, pipe_total_q} == {book_cus_q, book_launch_order_q, book_two_arbiters_q,
        book_strict_q, book_capacity_registers_q, book_capacity_lds_q, book_capacity_wavefronts_q,
        book_capacity_work_groups_q, book_running, book_over, book_first_done_q, book_older_q, book_resumes_q,
        book_gated_q, book_tensor_q, 32'(book_gates_q), book_todo, book_total_q});
    a_g2_lemma_slots: assert (same == '1);
    a_g2_lemma_capacity: assert (in_capacity == '1);
    a_g2_lemma_launched: assert ((launched & ~book_running_q) == '0 && (!bad || (launched & ~refused_o) == '0) &&
        (bad || (launched & (refused_o | ~running_q | resident)) == '0));
    a_g2_lemma_refused: assert ((refused_o & ended) == '0 && (running_q & done_q) == '0 &&
        ((refused_o | ended) & (~book_running_q | running_q | ~done_q)) == '0);
    a_g2_lemma_placed: assert ((on & (~book_running_q | launched | pipe_check_q | asked_q | ~leaves_some)) == '0 &&
        (!dispatch_valid_o || 8'(dispatch_cu_o) < cus));
    a_g3_lemma_order: assert (in_order == '1);
    a_g5_lemma_both: assert (used_same == '1);
    a_g5_lemma_sum: assert (summed == '1);
    a_g5_lemma_agree: assert (agree == '1 && (resident & ~running_q) == '0);
    a_g1_lemma_units: assert (use_in_use == '1 && beyond == '0);
    a_g1_lemma_pick: assert (!pick_valid_q || (pick_cu_q < 8'(MaxCus) && (!running_q[pick_slot_q] || pick_cu_q < cus)));
    a_g4_lemma_turns: assert (turn_cu_q < 8'(MaxCus) && turn_tensor_q < 8'(MaxCus) && trial_cu_q < 8'(MaxCus) &&
        trial_tensor_q < 8'(MaxCus));
    a_g4_lemma_pick: assert ((trail_q == '0 || (quiet_q[0] && pipe_state_q == Idle)) &&
        (!(pick_valid_q && !pick_trial_q && quiet_q[0] && pipe_state_q != Place) ||
         turn_of_pick == (pick_cu_q == 8'(MaxCus - 1) ? '0 : pick_cu_q + 8'd1)));
    a_g4_lemma_next: assert (goes_on == '1);
    a_g8_lemma_full: assert (full == '1);
    a_g8_lemma_rows: assert ({trial_any_q, any_q} == some_candidate && left_q == some);
    a_s2_lemma_older: assert (not_itself == '1);
    a_s3_lemma_pipeline: assert (outranks_q == '0 || waits == '0 || !(pipe_state_q == Now || pipe_state_q == Place));
    a_e1_lemma_gate: assert (in_gates == '1);
    a_e1_lemma_closed: assert ((closed_q & running_q & ~pipe_check_q & (~gated_q | open)) == '0);

    a_p2_lemma_asked: assert (asked_q == '0 || ((asked_q & (~book_running_q | launched)) == '0 &&
        ((asked_q & refused_o) == '0 ? pipe_check_q == asked_q && pipe_q == asked_q
                                     : (asked_q & ~refused_o) == '0 && (asked_q & pipe_q) == '0)));
    a_p2_lemma_check: assert ((pipe_check_q & ~pipe_q) == '0 && (pipe_check_q == '0 || pipe_state_q == Check) &&
        (pipe_check_q & (~running_q | done_q | refused_o | resident)) == '0);
    a_p2_lemma_state: assert (pipe_state_q <= Place && (pipe_q & ~running_q) == '0 &&
        (pipe_state_q != Idle || pipe_q == '0) && (pipe_state_q == Idle || pipe_state_q == Place || pipe_q != '0));
    a_p2_lemma_members: assert ((pipe_q & ~pipe_check_q & gated_q) == '0 && (pipe_state_q == Place ||
        (pipe_q & ~pipe_check_q & (resident | ~some)) == '0));
    a_p2_lemma_waits: assert (
        pipe_state_q == Idle ? goes == '0 && (waits & (~preempt_q | ~running_q | resident | ~some)) == '0 :
        pipe_state_q == Place ? (waits == '0 ? goes == (pipe_q & some)
                                             : waits == pipe_q && goes == '0 && (waits & (resident | ~some)) == '0)
                              : waits == pipe_q && goes == '0);
    a_p2_lemma_total: assert ((pipe_state_q == Idle || all_of_it <= W'(PipelineEntries)) &&
        (pipe_check_q == '0 || W'(pipe_total_q) == checked));
    a_p2_lemma_empty: assert (!of_empty || (follows == '1 && fits_so_far));
    a_p2_lemma_tried: assert (!of_empty || tried == '1);
    a_p2_lemma_passed: assert (!of_empty || passed);
    a_p2_lemma_fits: assert (!(pipe_state_q == Wait || pipe_state_q == Now) || fits_empty);
    a_p2_lemma_awake: assert (pipe_state_q != Wait || pipe_retry_q || occupied != '0);
    a_p3_lemma_priority: assert (pipe_state_q == Idle || pipe_state_q == Place || pipe_check_q == pipe_q ||
        pipe_priority_q == waits_priority);
    a_t1_lemma_both: assert ((book_preempted_q & ~preempt_q) == '0 && (preempt_q & ~running_q & ~done_q) == '0 &&
        ((waits_q & ended) == '0 || (waits_q & ~preempt_q) == '0) && (preempt_q & ~book_preempted_q &
         ~(pipe_state_q == Idle ? waits : '0) & ~((waits_q & ended) != '0 ? waits_q : '0)) == '0);

    a_p1_lemma_pick: assert (!pick_valid_q || (
        pipe_state_q == Now && !pick_trial_q ? 1'b0 :
        pick_trial_q ? pipe_state_q == Idle || (trial && pipe_left_q != '0 && pick_slot_q == pipe_slot_q) :
        pipe_state_q == Place ? pipe_q[pick_slot_q] && !pipe_todo_q[pick_slot_q] : !pipe_q[pick_slot_q]));
    a_p1_lemma_pass: assert (!(trial || pipe_state_q == Place) || ((pipe_todo_q & ~pipe_q) == '0 &&
        (pipe_left_q == '0 || (pipe_q[pipe_slot_q] && !pipe_todo_q[pipe_slot_q] &&
         pipe_left_q <= undispatched[pipe_slot_q*IdWidth+:IdWidth]))));
    a_p1_lemma_trial: assert (entry_order == '1 && (!trial || W'(log_index_q) + W'(pipe_left_q) == entered));
    a_p1_lemma_rest: assert (rest == '1);
    a_p1_lemma_log: assert (strange == '0 || !(pipe_state_q == Now || pipe_state_q == Place));
    a_p1_lemma_promised: assert (promised == '1);
  end

  // What a read shows: registers both have, and the ids that wait.
  logic [ReturnedEntries-1:0] returned_same;
  logic [ReturnedWidth:0]     returned_level;
  always_comb returned_level = returned_in_q - returned_out_q;
  for (genvar i = 0; i < ReturnedEntries; i++) begin : gen_returned
    (* inside = "u_grid_scheduler.u_returned.slot_q[]" *) logic [SlotWidth-1:0] returned_slot_q;
    (* inside = "u_props.returned_slot_q[]" *) logic [SlotWidth-1:0] book_returned_slot_q;
    (* inside = "u_grid_scheduler.u_returned.id_q[]" *) logic [IdWidth-1:0] returned_id_q;
    (* inside = "u_props.returned_id_q[]" *) logic [IdWidth-1:0] book_returned_id_q;
    logic [ReturnedWidth-1:0] place;
    always_comb begin
      place = ReturnedWidth'(i) - returned_out_q[ReturnedWidth-1:0];
      returned_same[i] = {returned_slot_q, returned_id_q} == {book_returned_slot_q, book_returned_id_q} ||
          {1'b0, place} >= returned_level;
    end
  end
  always_ff @(posedge clk_i) begin
    a_g9_lemma_same: assert (copy_same);
    a_t3_lemma_returned: assert ({returned_in_q, returned_out_q} == {book_in_q, book_out_q} && returned_same == '1 &&
        returned_level <= (ReturnedWidth+1)'(ReturnedEntries));
    a_t2_lemma_read: assert (read_pending_q == book_read_q && (!read_pending_q || read_address_q == book_address_q));
  end
endmodule
