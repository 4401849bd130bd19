// SPDX-License-Identifier: Apache-2.0
// Properties of the MCA: rules R1..R9 of README.md, from its ports alone.
//
// The books below count what went in and out and remember what was programmed. Names with _q are
// the books of before the last edge; `w_` (was) are the facts on which that edge decided, so that
// an assertion speaks of the outputs now and the facts then.
module mca_props #(
  parameter int unsigned PendingWidth = 16,
  parameter int unsigned CycleWidth = 48,
  parameter int unsigned StarveWidth = 32,
  parameter int unsigned SampleWidth = 40
) (
  input logic        clk_i,
  input logic        rst_i,
  input logic [CycleWidth-1:0] cycle_i,

  input logic [1:0]  compute_push_i,
  input logic [1:0]  comm_push_i,
  input logic [1:0]  dram_pop_i,
  input logic [6:0]  dram_parked_i,
  input logic        kernel_start_i,
  input logic        first_wg_done_i,
  input logic        kernel_end_i,

  input logic        grant_compute_o,
  input logic        grant_comm_o,
  input logic        drain_done_o,
  input logic [7:0]  threshold_o,
  input logic        idle_o,
  input logic [CycleWidth-1:0] wake_cycle_o,

  input logic        reg_we_i,
  input logic        reg_re_i,
  input logic [15:0] reg_addr_i,
  input logic [63:0] reg_wdata_i,
  input logic [63:0] reg_rdata_o
);

  localparam int unsigned PolicyWidth = mca_regs_pkg::ControlPolicyWidth;
  localparam logic [PolicyWidth-1:0] Aware = mca_regs_pkg::ControlPolicyCommunicationAware;
  localparam logic [PolicyWidth-1:0] NoLimit = mca_regs_pkg::ControlPolicyComputeFirstNoLimit;
  localparam logic [PolicyWidth-1:0] Exclusive = mca_regs_pkg::ControlPolicyComputeExclusive;
  localparam int unsigned SumWidth = SampleWidth + 8;
  localparam int unsigned SinceWidth = CycleWidth < 32 ? CycleWidth : 32;
  // Time of full width never wraps; of a proof's reduced width it does, and no clock is skipped
  // then.
  localparam bit LongTime = CycleWidth >= 8;
  localparam logic [PendingWidth-1:0] MaxPending = {PendingWidth{1'b1}} - PendingWidth'(3);

  // ------------------------------------------------------------------------------------ the books
  logic started_q = 1'b0;  // The first clock, a reset, is behind us.
  logic live_q = 1'b0;     // The last clock was not a reset.

  // Programmed.
  logic [PolicyWidth-1:0] policy_q;
  logic       automatic_q;
  logic [6:0] limit_q, cutoff_5_q, cutoff_10_q, cutoff_30_q, depth_q;
  logic [StarveWidth-1:0] starve_limit_q;

  // Counted, not yet knowing of the grants that the outputs show; those without _q do.
  logic [PendingWidth-1:0] compute_q, comm_q, compute, comm;
  logic [7:0] occupancy_q, occupancy;
  logic [6:0] parked_q;
  logic       last_comm_q, last_comm;
  logic [CycleWidth-1:0] cycle_q, since_q, since, waited, passed;
  logic       draining_q, overdue_q;
  logic [3:0] kernels_q;

  // The facts for the next edge, and those of the last one.
  logic compute_waits, comm_waits, room, turns, starved, below;
  logic w_compute, w_comm, w_room, w_turns, w_starved, w_below, w_last_comm;
  logic w_none_runs, w_draining;
  logic [PolicyWidth-1:0] w_policy;

  // R9.
  logic measuring_q, decide_q;
  logic w_restart, w_measured, w_done;
  logic [SampleWidth-1:0] stage_q, clock_cycles_q, cycles_q, cycles, next_cycles_q, whole_cycles;
  logic [SumWidth-1:0] clock_sum_q, sum_q, sum, next_sum_q, whole_sum;
  logic [SinceWidth-1:0] from_q, from, held, open;
  logic [6:0] automatic_limit_q;

  // Inputs of the last clock.
  logic read_q, quiet_q, still_q, drained_q, skipped_q;
  logic [15:0] address_q;
  logic [63:0] w_rdata;
  logic [7:0]  w_threshold;
  logic [CycleWidth-1:0] w_wake;
  logic [PendingWidth-1:0] w_compute_count, w_comm_count;
  logic [7:0] w_occupancy;
  logic status_read_q;

  logic quiet, late, unused;
  always_comb begin
    unused = ^reg_wdata_i;
    // R7: communication was due, by its turn or starved, and there was room, but it got no grant.
    late = w_comm && w_room && (w_turns || w_starved) && !grant_comm_o;
    compute = compute_q - PendingWidth'(grant_compute_o);
    comm = comm_q - PendingWidth'(grant_comm_o);
    occupancy = occupancy_q + 8'(grant_compute_o || grant_comm_o);
    last_comm = grant_compute_o || grant_comm_o ? grant_comm_o : last_comm_q;
    since = grant_comm_o ? cycle_q : since_q;
    waited = cycle_i - since;
    passed = cycle_i - cycle_q;
    compute_waits = compute != '0;
    comm_waits = comm != '0;
    room = occupancy < {1'b0, depth_q};
    turns = draining_q || policy_q == mca_regs_pkg::ControlPolicyRoundRobin;
    starved = comm_waits && waited >= CycleWidth'(starve_limit_q);
    below = threshold_o == '0 || occupancy < threshold_o + {1'b0, parked_q};
    quiet = !rst_i && compute_push_i == '0 && comm_push_i == '0 && dram_pop_i == '0 &&
        dram_parked_i == parked_q && !kernel_start_i && !first_wg_done_i && !kernel_end_i && !reg_we_i && !reg_re_i;
  end

  // R9: what the last edge added to the sample, if it changed something.
  always_comb begin
    sum = sum_q;
    cycles = cycles_q;
    from = from_q;
    if (w_restart) begin
      sum = '0;
      cycles = '0;
      from = cycle_q[SinceWidth-1:0];
    end else if (w_measured && (w_done || occupancy != w_occupancy || comm_waits != w_comm)) begin
      sum = next_sum_q;
      cycles = next_cycles_q;
      from = cycle_q[SinceWidth-1:0];
    end
    open = cycle_q[SinceWidth-1:0] - from;
    held = cycle_i[SinceWidth-1:0] - from;
    whole_sum = sum;
    whole_cycles = cycles;
    if (!comm_waits) begin
      whole_sum = sum + SumWidth'(occupancy) * SumWidth'(open);
      whole_cycles = cycles + SampleWidth'(open);
    end
  end

  always_ff @(posedge clk_i) begin : books
    started_q <= 1'b1;
    live_q <= !rst_i;
    cycle_q <= cycle_i;
    compute_q <= compute + PendingWidth'(compute_push_i);
    comm_q <= comm + PendingWidth'(comm_push_i);
    occupancy_q <= occupancy - 8'(dram_pop_i);
    parked_q <= dram_parked_i;
    last_comm_q <= last_comm;
    since_q <= !comm_waits && comm_push_i != '0 ? cycle_i : since;
    draining_q <= kernel_end_i || (draining_q && comm_waits);
    if (kernel_start_i && !kernel_end_i && kernels_q != 4'd15) kernels_q <= kernels_q + 4'd1;
    if (kernel_end_i && !kernel_start_i && kernels_q != 4'd0) kernels_q <= kernels_q - 4'd1;

    w_compute <= compute_waits;
    w_comm <= comm_waits;
    w_room <= room;
    w_turns <= turns;
    w_starved <= starved;
    w_below <= below;
    w_last_comm <= last_comm;
    w_none_runs <= kernels_q == '0;
    w_draining <= draining_q;
    w_policy <= policy_q;
    w_rdata <= reg_rdata_o;
    w_threshold <= threshold_o;
    w_wake <= wake_cycle_o;
    w_compute_count <= compute;
    w_comm_count <= comm;
    w_occupancy <= occupancy;
    status_read_q <= read_q && address_q == mca_regs_pkg::StatusOffset;
    quiet_q <= quiet;
    still_q <= quiet && quiet_q;
    drained_q <= draining_q && (grant_comm_o || (drained_q && !drain_done_o));
    skipped_q <= live_q && cycle_i != cycle_q + CycleWidth'(1);
    overdue_q <= !rst_i && live_q && !grant_comm_o && (late || overdue_q);

    // R9, clock by clock (each stands for the skipped ones before it).
    stage_q <= kernel_start_i ? '0 : stage_q + SampleWidth'(passed);
    if (kernel_start_i) begin
      measuring_q <= 1'b1;
      clock_sum_q <= '0;
      clock_cycles_q <= '0;
    end else if (measuring_q) begin
      if (!comm_waits) begin
        clock_sum_q <= clock_sum_q + SumWidth'(occupancy) * SumWidth'(SampleWidth'(passed));
        clock_cycles_q <= clock_cycles_q + SampleWidth'(passed);
      end
      if (first_wg_done_i) measuring_q <= 1'b0;
    end
    // R9, change by change, as the block does it; a_r9_mean says that this is the same.
    w_restart <= kernel_start_i;
    w_measured <= measuring_q;
    w_done <= first_wg_done_i;
    sum_q <= sum;
    cycles_q <= cycles;
    next_sum_q <= comm_waits ? sum : sum + SumWidth'(occupancy) * SumWidth'(held);
    next_cycles_q <= comm_waits ? cycles : cycles + SampleWidth'(held);
    from_q <= from;
    decide_q <= measuring_q && first_wg_done_i && !kernel_start_i;
    if (decide_q && cycles != '0) begin
      automatic_limit_q <= sum > SumWidth'(cutoff_5_q) * SumWidth'(cycles) ? 7'd5 :
                           sum > SumWidth'(cutoff_10_q) * SumWidth'(cycles) ? 7'd10 :
                           sum > SumWidth'(cutoff_30_q) * SumWidth'(cycles) ? 7'd30 : 7'd0;
    end

    read_q <= reg_re_i;
    address_q <= reg_addr_i;

    if (reg_we_i) begin
      case (reg_addr_i)
        mca_regs_pkg::ControlOffset: begin
          policy_q <= reg_wdata_i[mca_regs_pkg::ControlPolicyLsb+:PolicyWidth];
          automatic_q <= reg_wdata_i[mca_regs_pkg::ControlThresholdSelectLsb];
        end
        mca_regs_pkg::ThresholdOffset: limit_q <= reg_wdata_i[6:0];
        mca_regs_pkg::CutoffsOffset: begin
          cutoff_5_q <= reg_wdata_i[6:0];
          cutoff_10_q <= reg_wdata_i[14:8];
          cutoff_30_q <= reg_wdata_i[22:16];
        end
        mca_regs_pkg::StarveLimitOffset: starve_limit_q <= reg_wdata_i[StarveWidth-1:0];
        mca_regs_pkg::DramQueueDepthOffset: depth_q <= reg_wdata_i[6:0];
        default: ;
      endcase
    end
    if (rst_i) begin
      policy_q <= mca_regs_pkg::ControlPolicyRoundRobin;
      automatic_q <= 1'b0;
      limit_q <= 7'd0;
      cutoff_5_q <= 7'd32;
      cutoff_10_q <= 7'd16;
      cutoff_30_q <= 7'd8;
      depth_q <= 7'd64;
      starve_limit_q <= StarveWidth'(1000);
      compute_q <= '0;
      comm_q <= '0;
      occupancy_q <= '0;
      parked_q <= '0;
      last_comm_q <= 1'b0;
      since_q <= '0;
      draining_q <= 1'b0;
      kernels_q <= '0;
      measuring_q <= 1'b0;
      decide_q <= 1'b0;
      automatic_limit_q <= '0;
      read_q <= 1'b0;
      w_restart <= 1'b0;
      w_measured <= 1'b0;
      sum_q <= '0;
      cycles_q <= '0;
      from_q <= '0;
    end
  end

  // -------------------------------------------------------------------------- what neighbours
  // promise
  always_ff @(posedge clk_i) begin : promises
    m_reset_first: assume (started_q || rst_i);
    // Time goes on from a reset, too; a measured stage fits its counter.
    m_time_goes_on: assume (!started_q || rst_i || (LongTime ? cycle_i >= cycle_q : passed == CycleWidth'(1)));
    m_stage: assume (!started_q || rst_i || !measuring_q || 64'(stage_q) + 64'(passed) < 64'd1 << SampleWidth);
    if (live_q && !rst_i) begin
      m_pops: assume ({6'b0, dram_pop_i} <= occupancy);
      m_parked: assume ({1'b0, dram_parked_i} <= occupancy - {6'b0, dram_pop_i});
      m_compute_pushes: assume (compute <= MaxPending - PendingWidth'(compute_push_i));
      m_comm_pushes: assume (comm <= MaxPending - PendingWidth'(comm_push_i));
      // Time does not go back (it stands while the machine accesses registers); clocks are skipped
      // only when R8 allows it.
      m_time: assume (!LongTime || (cycle_i >= cycle_q && (passed <= CycleWidth'(1) || cycle_i <= wake_cycle_o)));
      m_no_wrap: assume (!LongTime || !(&cycle_i[CycleWidth-1:StarveWidth]));
    end
  end

  // ---------------------------------------------------------------------------------------- the
  // rules R9: the sample is the sum over the clocks of the stage in which no communication is
  // pending. (After a reset no stage is measured; saying so there, too, makes this inductive.)
  always_ff @(posedge clk_i) if (started_q) begin : sample
    a_r9_mean: assert ((!decide_q || (clock_sum_q == sum && clock_cycles_q == cycles)) &&
        (!measuring_q || (64'(open) <= 64'(stage_q) && clock_sum_q == whole_sum && clock_cycles_q == whole_cycles)));
  end

  // R8 rests on this: a wait began in the past.
  always_ff @(posedge clk_i) if (started_q) a_r8_order: assert (!LongTime || since <= cycle_q);

  always_ff @(posedge clk_i) if (live_q) begin : rules
    // R1: at most one grant a clock.
    a_r1_one: assert (!(grant_compute_o && grant_comm_o));

    // R2: a grant goes only to a queue that is not empty, and only while the DRAM queue has room.
    a_r2_compute: assert (!grant_compute_o || w_compute);
    a_r2_comm: assert (!grant_comm_o || w_comm);
    a_r2_room: assert (!(grant_compute_o || grant_comm_o) || w_room);

    // R3: while compute is pending and there is room, somebody is granted.
    a_r3_works: assert (!(w_compute && w_room) || grant_compute_o || grant_comm_o);

    // R4, every policy but round robin: compute goes first, unless communication starved and had
    // not the last turn.
    a_r4_compute_first: assert (!(grant_comm_o && w_compute && !w_turns) || (w_starved && !w_last_comm));
    // Starved communication is granted, unless the last grant was for it and compute waits.
    a_r4_starved: assert (!(w_room && w_comm && w_starved && !(w_last_comm && w_compute)) || grant_comm_o || w_turns);
    // Communication aware: alone, communication is granted below the limit or while no kernel runs.
    if (w_policy == Aware && !w_turns && w_comm && !w_compute && w_room) begin
      a_r4_limit: assert (grant_comm_o == (w_below || w_none_runs || w_starved));
    end
    // Compute first without limit: alone, communication is granted.
    if (w_policy == NoLimit && !w_turns && w_comm && !w_compute && w_room) begin
      a_r4_no_limit: assert (grant_comm_o);
    end
    // Exclusive compute: communication is granted only while no kernel runs.
    if (w_policy == Exclusive && !w_turns && w_comm && !w_compute && w_room) begin
      a_r4_exclusive: assert (grant_comm_o == (w_none_runs || w_starved));
    end
    // Round robin: the queues alternate and one that is alone is granted.
    if (w_turns && w_comm && w_room) begin
      a_r4_round_robin: assert (grant_comm_o == (!w_compute || !w_last_comm));
    end

    // R5: a grant takes one atom, the head: pending is pushed minus granted, and status shows it.
    if (status_read_q) begin
      a_r5_pending: assert (reg_rdata_o[47:32] == 16'(w_compute_count) && reg_rdata_o[63:48] == 16'(w_comm_count));
      a_r5_occupancy: assert (reg_rdata_o[7:0] == w_occupancy);
    end

    // R6: a drain takes turns (a_r4_round_robin) until communication is empty; then the pulse.
    a_r6_done: assert (drain_done_o == (w_draining && !w_comm));
    if (w_draining && w_comm && w_room) begin
      a_r6_unlimited: assert (grant_comm_o || (w_compute && w_last_comm));
    end

    // R7: compute waits for one communication grant at most,
    a_r7_compute: assert (!(grant_comm_o && w_compute && w_last_comm));
    // and communication that is due for one other grant at most.
    a_r7_comm: assert (!(late && overdue_q));
    // for it has the next turn.
    a_r7_turn: assert (!overdue_q || !w_last_comm);

    // R8: with idle inputs, nothing that can be seen changes before the wake cycle.
    a_r8_idle: assert (idle_o == &wake_cycle_o);
    if (LongTime && quiet_q && cycle_q < w_wake) begin
      a_r8_quiet: assert (!grant_compute_o && !grant_comm_o && !drain_done_o && reg_rdata_o == w_rdata &&
          threshold_o == w_threshold && wake_cycle_o == w_wake);
    end
    // Two idle clocks without reads or pulses later, a full DRAM queue and empty queues are idle.
    a_r8_sleeps: assert (idle_o || !(quiet_q && still_q) || grant_compute_o || grant_comm_o || drain_done_o ||
        (room && (compute_waits || comm_waits)));

    // R9: the limit in force is the fixed one, or what the last measured stage chose.
    a_r9_limit: assert (threshold_o == {1'b0, automatic_q ? automatic_limit_q : limit_q});
  end

  // -------------------------------------------------------------------------------------- the
  // stories
  always_ff @(posedge clk_i) if (live_q) begin : stories
    c_alternates: cover (grant_comm_o && w_compute && w_turns && !w_draining);
    c_comm_starves_then_wins: cover (grant_comm_o && w_compute && !w_turns);
    c_compute_has_next_turn: cover (grant_compute_o && w_starved && w_last_comm && w_comm && !w_turns);
    c_held_by_limit: cover (w_comm && !w_compute && w_room && !w_below && !grant_comm_o && w_policy == Aware);
    c_held_by_kernel: cover (w_comm && !w_compute && w_room && !grant_comm_o && w_policy == Exclusive);
    c_drain_of_two: cover (drain_done_o && drained_q);
    c_full_and_idle: cover (idle_o && compute_waits && comm_waits);
    c_clocks_skipped: cover (grant_comm_o && skipped_q);
    c_limit_5: cover (automatic_q && threshold_o == 8'd5);
    c_limit_10: cover (automatic_q && threshold_o == 8'd10);
  end
endmodule

`ifdef VERILATOR
bind mca mca_props #(.PendingWidth(PendingWidth), .CycleWidth(CycleWidth), .StarveWidth(StarveWidth),
                     .SampleWidth(SampleWidth)) u_props (.*);
`endif
