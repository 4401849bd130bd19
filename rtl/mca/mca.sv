// SPDX-License-Identifier: Apache-2.0
// Memory-controller arbiter of one HBM channel; contract, rules and latency: README.md.
//
// Only counts are kept here; the queues hold their atoms elsewhere. Whatever reads an input pin
// sits in the clocked process, so that no path leads through the block and a Verilated model
// evaluates it once a clock.
module mca #(
  // Width of the two pending counts: bounds the queues at 2^PendingWidth - 4 atoms; costs that many
  // flip-flops each.
  parameter int unsigned PendingWidth = 16,
  // Width of time; a wait and the distance to wake_cycle_o are shorter than 2^CycleWidth clocks.
  parameter int unsigned CycleWidth = 48,
  // Width of the starvation limit: bounds the wait of communication; 2 x StarveWidth flip-flops and
  // gates.
  parameter int unsigned StarveWidth = 32,
  // Width of the measured clocks: bounds a stage; costs two multipliers of this width.
  parameter int unsigned SampleWidth = 40,
  // Width of the four event counters, which wrap; costs as many flip-flops each.
  parameter int unsigned CountWidth = 48,
  localparam int unsigned SumWidth = SampleWidth + 8,
  localparam int unsigned SinceWidth = CycleWidth < 32 ? CycleWidth : 32
) (
  input  logic        clk_i,
  input  logic        rst_i,
  input  logic [CycleWidth-1:0] cycle_i,

  input  logic [1:0]  compute_push_i,
  input  logic [1:0]  comm_push_i,
  input  logic [1:0]  dram_pop_i,
  input  logic [6:0]  dram_parked_i,
  input  logic        kernel_start_i,
  input  logic        first_wg_done_i,
  input  logic        kernel_end_i,

  output logic        grant_compute_o,
  output logic        grant_comm_o,
  output logic        drain_done_o,
  output logic [7:0]  threshold_o,
  output logic        idle_o,
  output logic [CycleWidth-1:0] wake_cycle_o,

  input  logic        reg_we_i,
  input  logic        reg_re_i,
  input  logic [15:0] reg_addr_i,
  input  logic [63:0] reg_wdata_i,
  output logic [63:0] reg_rdata_o
);

  localparam int unsigned PolicyWidth = mca_regs_pkg::ControlPolicyWidth;
  localparam logic [PolicyWidth-1:0] RoundRobin = mca_regs_pkg::ControlPolicyRoundRobin;
  localparam logic [PolicyWidth-1:0] CommunicationAware =
      mca_regs_pkg::ControlPolicyCommunicationAware;
  localparam logic [PolicyWidth-1:0] ComputeFirstNoLimit =
      mca_regs_pkg::ControlPolicyComputeFirstNoLimit;

  if (PendingWidth < 3 || PendingWidth > 16) begin : gen_bad_pending
    $error("mca: PendingWidth must be 3..16");
  end
  if (CycleWidth < 4 || CycleWidth > 63 || StarveWidth < 1 || StarveWidth > 32 ||
      StarveWidth >= CycleWidth) begin : gen_bad_time
    $error("mca: CycleWidth must be 4..63, StarveWidth 1..32 and below it");
  end
  if (SampleWidth < 2 || SampleWidth > 56 || CountWidth < 1 || CountWidth > 63) begin : gen_bad_count
    $error("mca: SampleWidth must be 2..56, CountWidth 1..63");
  end

  // Registers.
  mca_regs_pkg::control_t control;
  mca_regs_pkg::threshold_t threshold;
  mca_regs_pkg::cutoffs_t cutoffs;
  mca_regs_pkg::starve_limit_t starve_limit;
  mca_regs_pkg::dram_queue_depth_t dram_queue_depth;
  mca_regs_pkg::status_t status;
  logic read_pending, counter_clear;

  // Arbitration.
  logic [PendingWidth-1:0] compute_pending_q, comm_pending_q;
  logic [7:0]  occupancy_q;
  logic [6:0]  parked_q;
  logic        last_comm_q;
  logic [CycleWidth-1:0] wait_since_q;
  logic        draining_q;
  logic [3:0]  kernels_q;

  // Measurement of the first stage.
  logic        measuring_q, decide_q;
  logic [SinceWidth-1:0] since_q;
  logic [SumWidth-1:0] sample_sum_q;
  logic [SampleWidth-1:0] sample_cycles_q;
  logic [6:0]  automatic_limit_q;

  logic [CountWidth-1:0] grants_compute_q, grants_comm_q, grants_starved_q, drains_q;

  // What the state alone says.
  logic [PolicyWidth-1:0] policy;
  logic [6:0] limit;
  logic       compute, comm, room, take_turns, below_limit, allowed;
  always_comb begin
    status.occupancy = occupancy_q;
    status.limit = limit;
    status.draining = draining_q;
    status.measuring = measuring_q;
    status.kernels = kernels_q;
    status.compute_pending = 16'(compute_pending_q);
    status.comm_pending = 16'(comm_pending_q);
  end
  mca_regs #(.StarveWidth(StarveWidth)) u_regs (
    .clk_i, .rst_i, .reg_we_i, .reg_re_i, .reg_addr_i, .reg_wdata_i, .reg_rdata_o,
    .read_pending_o(read_pending), .control_o(control), .threshold_o(threshold),
    .cutoffs_o(cutoffs), .starve_limit_o(starve_limit), .dram_queue_depth_o(dram_queue_depth),
    .status_i(status), .sample_sum_i(64'(sample_sum_q)), .sample_cycles_i(64'(sample_cycles_q)),
    .grants_compute_i(64'(grants_compute_q)), .grants_comm_i(64'(grants_comm_q)),
    .grants_starved_i(64'(grants_starved_q)), .drains_i(64'(drains_q)),
    .counter_clear_we_o(counter_clear)
  );

  always_comb begin
    policy = control.policy;
    limit = control.threshold_select ? automatic_limit_q : threshold.limit;
    compute = compute_pending_q != '0;
    comm = comm_pending_q != '0;
    room = occupancy_q < {1'b0, dram_queue_depth.atoms};
    take_turns = draining_q || policy == RoundRobin;
    below_limit = occupancy_q < {1'b0, limit} + {1'b0, parked_q};
    allowed = kernels_q == '0 || policy == ComputeFirstNoLimit ||
        (policy == CommunicationAware && (limit == '0 || below_limit));
  end

  // R8: the clocks that may be skipped.
  always_comb begin
    threshold_o = {1'b0, limit};
    if (grant_compute_o || grant_comm_o || drain_done_o || read_pending || decide_q ||
        (draining_q && !comm)) begin
      wake_cycle_o = '0;
    end else if (!room || (!compute && !comm)) begin
      wake_cycle_o = '1;
    end else if (compute || take_turns || allowed) begin
      wake_cycle_o = '0;
    end else begin
      wake_cycle_o = wait_since_q + CycleWidth'(starve_limit.cycles);
    end
    idle_o = &wake_cycle_o;
  end

  always_ff @(posedge clk_i) begin : state
    logic       starved, pick_comm, grant_comm, grant_compute;
    logic [7:0] occupancy_d;
    logic [PendingWidth-1:0] comm_pending_d;
    logic [CycleWidth-1:0] waited;
    logic [SumWidth-1:0] cycles;
    logic [SinceWidth-1:0] held;

    // R1..R5: the grant.
    waited = cycle_i - wait_since_q;
    starved = waited >= CycleWidth'(starve_limit.cycles) && !(last_comm_q && compute);
    pick_comm = take_turns ? comm && (!compute || !last_comm_q)
                           : comm && (starved || (!compute && allowed));
    grant_comm = room && pick_comm;
    grant_compute = room && compute && !pick_comm;
    occupancy_d = occupancy_q - {6'b0, dram_pop_i} + {7'b0, grant_comm || grant_compute};
    comm_pending_d = comm_pending_q + PendingWidth'(comm_push_i) - PendingWidth'(grant_comm);
    occupancy_q <= occupancy_d;
    parked_q <= dram_parked_i;
    comm_pending_q <= comm_pending_d;
    compute_pending_q <= compute_pending_q + PendingWidth'(compute_push_i) -
        PendingWidth'(grant_compute);
    grant_comm_o <= grant_comm;
    grant_compute_o <= grant_compute;
    if (grant_comm || (!comm && comm_push_i != '0)) wait_since_q <= cycle_i;
    if (grant_comm || grant_compute) last_comm_q <= grant_comm;
    if (grant_compute) grants_compute_q <= grants_compute_q + CountWidth'(1);
    if (grant_comm) begin
      grants_comm_q <= grants_comm_q + CountWidth'(1);
      if (!take_turns && (compute || !allowed)) grants_starved_q <= grants_starved_q + CountWidth'(1);
    end

    // R6: the drain at the kernel boundary.
    drain_done_o <= draining_q && !comm;
    if (draining_q && !comm) drains_q <= drains_q + CountWidth'(1);
    draining_q <= kernel_end_i || (draining_q && comm);
    if (kernel_start_i && !kernel_end_i && kernels_q != '1) kernels_q <= kernels_q + 4'd1;
    if (kernel_end_i && !kernel_start_i && kernels_q != '0) kernels_q <= kernels_q - 4'd1;

    // R9: the mean occupancy, accumulated when something changes, so that skipped clocks count.
    if (kernel_start_i) begin
      measuring_q <= 1'b1;
      sample_sum_q <= '0;
      sample_cycles_q <= '0;
      since_q <= cycle_i[SinceWidth-1:0];
    end else if (measuring_q) begin
      if (first_wg_done_i || occupancy_d != occupancy_q || (comm_pending_d != '0) != comm) begin
        held = cycle_i[SinceWidth-1:0] - since_q;
        if (!comm) begin
          sample_sum_q <= sample_sum_q + SumWidth'(occupancy_q) * SumWidth'(held);
          sample_cycles_q <= sample_cycles_q + SampleWidth'(held);
        end
        since_q <= cycle_i[SinceWidth-1:0];
      end
      if (first_wg_done_i) measuring_q <= 1'b0;
    end
    decide_q <= measuring_q && first_wg_done_i && !kernel_start_i;
    cycles = SumWidth'(sample_cycles_q);
    if (decide_q && sample_cycles_q != '0) begin
      if (sample_sum_q > SumWidth'(cutoffs.limit_5) * cycles) automatic_limit_q <= 7'd5;
      else if (sample_sum_q > SumWidth'(cutoffs.limit_10) * cycles) automatic_limit_q <= 7'd10;
      else if (sample_sum_q > SumWidth'(cutoffs.limit_30) * cycles) automatic_limit_q <= 7'd30;
      else automatic_limit_q <= 7'd0;
    end

    if (counter_clear) begin
      grants_compute_q <= '0;
      grants_comm_q <= '0;
      grants_starved_q <= '0;
      drains_q <= '0;
    end

    if (rst_i) begin
      compute_pending_q <= '0;
      comm_pending_q <= '0;
      occupancy_q <= '0;
      parked_q <= '0;
      last_comm_q <= 1'b0;
      wait_since_q <= '0;
      draining_q <= 1'b0;
      kernels_q <= '0;
      measuring_q <= 1'b0;
      decide_q <= 1'b0;
      since_q <= '0;
      sample_sum_q <= '0;
      sample_cycles_q <= '0;
      automatic_limit_q <= '0;
      grants_compute_q <= '0;
      grants_comm_q <= '0;
      grants_starved_q <= '0;
      drains_q <= '0;
      grant_comm_o <= 1'b0;
      grant_compute_o <= 1'b0;
      drain_done_o <= 1'b0;
    end
  end

endmodule
