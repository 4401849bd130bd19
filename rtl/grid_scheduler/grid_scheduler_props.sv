// SPDX-License-Identifier: Apache-2.0
// Properties of the grid scheduler: the rules of README.md, from its ports alone.
//
// They speak of the books of grid_scheduler_books.svh.
module grid_scheduler_props #(
  parameter int unsigned MaxCus = 160,
  parameter int unsigned Slots = 32,
  parameter int unsigned IdWidth = 32,
  parameter int unsigned ResourceWidth = 10,
  parameter int unsigned CountWidth = 8,
  parameter int unsigned Gates = 1024,
  parameter int unsigned PipelineEntries = 512,
  parameter int unsigned ReturnedEntries = 256,
  localparam int unsigned CuWidth = MaxCus < 2 ? 1 : $clog2(MaxCus),
  localparam int unsigned SlotWidth = $clog2(Slots)
) (
  input logic                 clk_i,
  input logic                 rst_i,

  input logic                 dispatch_valid_o,
  input logic [CuWidth-1:0]   dispatch_cu_o,
  input logic [SlotWidth-1:0] dispatch_slot_o,
  input logic [IdWidth-1:0]   dispatch_wg_id_o,
  input logic                 done_valid_i,
  input logic                 drained_valid_i,
  input logic                 drained_ready_o,
  input logic [CuWidth-1:0]   done_cu_i,
  input logic [SlotWidth-1:0] done_slot_i,
  input logic [IdWidth-1:0]   drained_wg_id_i,
  input logic                 preempt_valid_o,
  input logic [SlotWidth-1:0] preempt_slot_o,

  input logic                 event_valid_i,
  input logic [15:0]          event_gate_i,

  input logic                 kernel_start_o,
  input logic [SlotWidth-1:0] start_slot_o,
  input logic                 first_wg_done_o,
  input logic                 kernel_done_o,
  input logic [SlotWidth-1:0] done_slot_o,
  input logic [Slots-1:0]     refused_o,
  input logic                 irq_o,
  input logic                 idle_o,

  input logic                 reg_we_i,
  input logic                 reg_re_i,
  input logic [15:0]          reg_addr_i,
  input logic [63:0]          reg_wdata_i,
  input logic [63:0]          reg_rdata_o
);

  localparam int unsigned ResidentWidth = CuWidth + CountWidth;
  localparam int unsigned SumWidth = ResourceWidth + CountWidth + SlotWidth + 1;
  localparam int unsigned TotalWidth = $clog2(PipelineEntries) + 1;
  localparam int unsigned BatchWidth = IdWidth < 16 ? IdWidth : 16;
  localparam int unsigned GateBits = $clog2(Gates);
  localparam int unsigned ReturnedWidth = $clog2(ReturnedEntries);
  localparam logic [63:0] ResetCapacity = grid_scheduler_regs_pkg::CapacityReset;
  localparam logic [15:0] UseBase = grid_scheduler_regs_pkg::UnitUseOffset;

`include "rtl/grid_scheduler/grid_scheduler_books.svh"

  // ------------------------------------------------------------------------ what neighbours
  // promise
  always_ff @(posedge clk_i) begin : promises
    if (!started_q) m_reset_first: assume (rst_i);
    if (started_q && !rst_i) begin
      // Only what was dispatched leaves, one at a time; and it comes back only while there is room.
      m_one_leaves: assume (!(done_valid_i && drained_valid_i));
      m_there: assume (!leaves || (leaver_there && 32'(done_cu_i) < MaxCus));
      m_gate: assume (!(launch && gated_q[slot] && !bad) ||
          32'(gate[slot]) * 32'(batch_q[slot]) + 32'(phase[slot]) == 32'(first_position));
      m_ready: assume (!drained_valid_i || drained_ready_o);
      m_configured: assume (!(reg_we_i && (reg_addr_i == grid_scheduler_regs_pkg::CusOffset ||
          reg_addr_i == grid_scheduler_regs_pkg::CapacityOffset)) || running == '0);
    end
  end

  // -------------------------------------------------------------------------------------- the
  // rules
  always_ff @(posedge clk_i) if (live_q) begin : rules
    // G1: a work-group is placed only on a unit in use with room.
    a_g1_unit: assert (!(dispatch_valid_o && dispatch_cu_o == k) || k_in_use);
    a_g1_room: assert (sum_registers <= SumWidth'(capacity_registers_q) &&
        sum_lds <= SumWidth'(capacity_lds_q) && sum_wavefronts <= SumWidth'(capacity_wavefronts_q) &&
        sum_work_groups <= SumWidth'(capacity_work_groups_q));

    // G2: what can never be placed is refused in the next clock, and nothing else is;
    a_g2_refused: assert (w_launched == '0 || ((refused_o & w_launched) != '0) == w_bad);
    // what is placed is of a slot that runs.
    a_g2_runs: assert (!dispatch_valid_o || (running_q[dispatch_slot_o] && !w_launched[dispatch_slot_o]));

    // G3: ids leave in order, each once.
    a_g3_order: assert (!dispatch_valid_o || dispatch_wg_id_o == first_q[dispatch_slot_o] + d_position);
    a_g3_once: assert (!dispatch_valid_o || left_q[dispatch_slot_o] != '0);

    // G4: the next unit gets the next work-group, if there is room for it.
    a_g4_next: assert (!(dispatch_valid_o && trail_q[0] && !two_arbiters_q && dispatch_slot_o == h &&
        next_unit == k && dispatch_cu_o != k && alone == '0 && !gated_q[h]) || !h_fits);

    // G5: what is on the units is what runs,
    a_g5_resident: assert (agree == '1);
    // what it needs is their use,
    a_g5_sum: assert (sum_registers == SumWidth'(k_registers) && sum_lds == SumWidth'(k_lds) &&
        sum_wavefronts == SumWidth'(k_wavefronts) && sum_work_groups == SumWidth'(k_work_groups));
    // and what a read shows.
    a_g5_use: assert (!(r_check_q && r_kind_q == 2'd1) || ((reg_rdata_o ^ r_value_q) & r_mask_q) == '0);

    // G6: start with the first dispatch,
    a_g6_start: assert (kernel_start_o == (dispatch_valid_o && !started_slot_q[dispatch_slot_o]) &&
        (!kernel_start_o || start_slot_o == dispatch_slot_o));
    // first end with the edge that takes it,
    a_g6_first: assert (first_wg_done_o == w_first && (!w_first || done_slot_o == w_leave_slot));
    // end when nothing is resident and nothing is to be placed,
    a_g6_done: assert (!kernel_done_o || (running_q[done_slot_o] && !resident[done_slot_o] &&
        (!left[done_slot_o] || preempted_q[done_slot_o] || waits_q[done_slot_o])));
    // and with the edge that takes the last.
    a_g6_last: assert (!(w_leave && !resident[w_leave_slot] && !left[w_leave_slot]) ||
        (kernel_done_o && done_slot_o == w_leave_slot));

    // G7: who is served has no one of higher priority beside it that may go.
    a_g7_priority: assert (!(dispatch_valid_o && steady && !goes_q[dispatch_slot_o] &&
        !waits_q[dispatch_slot_o] && priority_q[h] > priority_q[dispatch_slot_o]) || !(h_may_go && h_fits));

    // G8: idle, nobody who may go fits anywhere.
    a_g8_work: assert (!idle_o || !(h_may_go && h_fits));

    // G9: idle and without inputs, nothing changes.
    a_g9_still: assert (!w_idle || (idle_o && !dispatch_valid_o && !kernel_start_o && !first_wg_done_o &&
        !kernel_done_o && !preempt_valid_o && refused_o == '0 && reg_rdata_o == w_rdata && irq_o == w_irq));

    // S1: each arbiter goes on behind its own last unit,
    a_s1_next: assert (!(dispatch_valid_o && trail_q[by_two] && two_arbiters_q && dispatch_slot_o == h &&
        next_unit == k && dispatch_cu_o != k && alone == '0 && !gated_q[h]) || !h_fits);
    // and the classes alternate among equals.
    a_s1_turns: assert (!(dispatch_valid_o && w_dispatch && steady && two_arbiters_q &&
        goes_q == '0 && waits_q == '0 && tensor_q[w_slot] == tensor_q[dispatch_slot_o] &&
        tensor_q[h] != tensor_q[dispatch_slot_o] && priority_q[h] == priority_q[dispatch_slot_o]) ||
        !(h_may_go && h_fits));

    // S2: in order of launch, nobody who may go is older than who is served.
    a_s2_order: assert (!(dispatch_valid_o && dispatch_slot_o == h && steady && launch_order_q &&
        !goes_q[h] && !waits_q[h]) || ahead == '0);

    // S3: with strict priority, nobody who may go has a higher priority than who is served,
    a_s3_order: assert (!(dispatch_valid_o && dispatch_slot_o == h && steady && strict_q &&
        !goes_q[h] && !waits_q[h]) || above == '0);
    // and no pipeline goes while somebody above it has had work all the time.
    a_s3_pipeline: assert (!(dispatch_valid_o && waits_q[dispatch_slot_o]) || outranks_q == '0);

    // P1: while a pipeline is placed, only it is placed, and it is placed before anything is idle.
    a_p1_alone: assert (!dispatch_valid_o || goes_q == '0 || goes_q[dispatch_slot_o]);
    a_p1_all: assert (!idle_o || goes == '0);

    // P2: refused as a whole: busy,
    a_p2_busy: assert ((refused_o & w_busy) == w_busy);
    // or all that wait;
    a_p2_whole: assert ((refused_o & waits_q) == '0 || (refused_o & waits_q) == waits_q);
    // what runs is never refused.
    a_p2_never_later: assert ((refused_o & goes_q) == '0);
    // On an empty machine nothing waits.
    a_p2_waits: assert (!idle_o || waits == '0 || any_use);

    // P3: a waiting pipeline holds back lower priorities, until it is stopped (T1): its slots end one after the
    // other, which takes longer than three clocks where more slots have been stopped.
    a_p3_holds: assert (!(dispatch_valid_o && steady && waits != '0 && (waits & preempted_q) == '0) ||
        priority_q[dispatch_slot_o] >= waits_priority);

    // T1: a preempted slot places nothing, unless its pipeline is being placed,
    a_t1_stops: assert (!(dispatch_valid_o && preempted_q[dispatch_slot_o]) || goes_q[dispatch_slot_o] ||
        waits_q[dispatch_slot_o] || w_stopping[dispatch_slot_o]);
    // and is over when nothing of it is resident.
    a_t1_ends: assert (!idle_o || (running & preempted_q & ~resident) == '0);

    // T2: the report of a slot is what happened.
    a_t2_report: assert (!(r_check_q && r_kind_q == 2'd2) || ((reg_rdata_o ^ r_value_q) & r_mask_q) == '0);

    // T3: drained ids come out in order, and the units are asked for them.
    a_t3_returned: assert (!(r_check_q && r_kind_q == 2'd3) || ((reg_rdata_o ^ r_value_q) & r_mask_q) == '0);
    a_t3_asks: assert (preempt_valid_o == w_drain && (!w_drain || preempt_slot_o == w_drain_slot));

    // E1: a gated work-group leaves only when its gate is open.
    a_e1_open: assert (!(dispatch_valid_o && dispatch_slot_o == h && gated_q[h]) ||
        w_gates[gate_q[h][GateBits-1:0]]);
    // That gate is position / batch.
    a_e1_gate: assert (!(gated_q[h] && running[h] && !todo[h] && left[h]) || (position[h] < count_q[h] &&
        ((count_q[h] - IdWidth'(1)) >> GateBits) < IdWidth'(batch_q[h]) && phase[h] < batch_q[h] &&
        32'(gate[h]) * 32'(batch_q[h]) + 32'(phase[h]) == 32'(position[h])));
  end

  // ------------------------------------------------------------------------------------ the
  // stories
  always_ff @(posedge clk_i) if (live_q) begin : stories
    c_refused: cover (refused_o != '0);
    c_full_then_placed: cover (dispatch_valid_o && w_dispatch && k_work_groups == capacity_work_groups_q);
    c_staggered: cover (dispatch_valid_o && d_position == '0 && start_q[dispatch_slot_o] != '0);
    c_pipeline_waits_then_goes: cover (dispatch_valid_o && goes != '0 && w_waits != '0);
    c_pipeline_of_two: cover (dispatch_valid_o && goes_q != '0 && goes_q != goes && goes != '0);
    c_never_fits: cover ((refused_o & waits_q) != '0 && w_busy == '0);
    c_stopped_and_over: cover (kernel_done_o && left[done_slot_o]);
    c_resumed: cover (dispatch_valid_o && resumes_q[dispatch_slot_o] && skip_q[dispatch_slot_o] != '0);
    c_held_by_priority: cover (idle_o && h_under && h_fits && running[h] && left[h]);
    c_returned: cover (r_check_q && r_kind_q == 2'd3 && reg_rdata_o[63]);
    c_gate_opens: cover (dispatch_valid_o && gated_q[dispatch_slot_o]);
    c_second_arbiter: cover (dispatch_valid_o && by_two && trail_q == 2'b11);
    c_all_over: cover (kernel_done_o && running == '0 && over == {Slots{1'b1}});
  end

endmodule

`ifdef VERILATOR
bind grid_scheduler grid_scheduler_props #(.MaxCus(MaxCus), .Slots(Slots), .IdWidth(IdWidth),
      .ResourceWidth(ResourceWidth), .CountWidth(CountWidth), .Gates(Gates),
      .PipelineEntries(PipelineEntries), .ReturnedEntries(ReturnedEntries)) u_props (.*);
`endif
