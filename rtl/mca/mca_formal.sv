// SPDX-License-Identifier: Apache-2.0
// The MCA beside its properties, and beside a copy that sleeps whenever R8 allows it.
module mca_formal #(
  parameter int unsigned PendingWidth = 3,
  parameter int unsigned CycleWidth = 48,
  parameter int unsigned StarveWidth = 32,
  parameter int unsigned SampleWidth = 4,
  parameter int unsigned CountWidth = 2,
  parameter int unsigned Atoms = 0  // That many are on their way at most; 0: no such promise.
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
  input logic        reg_we_i,
  input logic        reg_re_i,
  input logic [15:0] reg_addr_i,
  input logic [63:0] reg_wdata_i,
  input logic        sleep_i  // The solver wants the copy to sleep.
);

  logic        grant_compute_o, grant_comm_o, drain_done_o, idle_o;
  logic [7:0]  threshold_o;
  logic [CycleWidth-1:0] wake_cycle_o;
  logic [63:0] reg_rdata_o;

  mca #(.PendingWidth(PendingWidth), .CycleWidth(CycleWidth), .StarveWidth(StarveWidth),
        .SampleWidth(SampleWidth), .CountWidth(CountWidth)) u_mca (.*);
  mca_props #(.PendingWidth(PendingWidth), .CycleWidth(CycleWidth), .StarveWidth(StarveWidth),
              .SampleWidth(SampleWidth)) u_props (.*);

  logic [7:0] on_their_way_q;
  logic [6:0] parked_q;
  always_ff @(posedge clk_i) begin
    parked_q <= rst_i ? '0 : dram_parked_i;
    on_their_way_q <= rst_i ? '0 : on_their_way_q + 8'(compute_push_i) + 8'(comm_push_i) - 8'(dram_pop_i);
    if (!rst_i) m_atoms: assume (Atoms == 0 || on_their_way_q + 8'(compute_push_i) + 8'(comm_push_i) <= 8'(Atoms));
  end

  // R8: `hold` stops every flip-flop of u_hold (tests/formal/README.md), which must not be noticed.
  // That the wait began in the past is a_r8_order; as a condition it makes the equality of the
  // copies inductive.
  logic [PendingWidth-1:0] comm_q, comm;
  logic [CycleWidth-1:0] cycle_q, since_q, since;
  always_comb begin
    comm = comm_q - PendingWidth'(grant_comm_o);
    since = grant_comm_o ? cycle_q : since_q;
  end
  always_ff @(posedge clk_i) begin
    cycle_q <= cycle_i;
    comm_q <= rst_i ? '0 : comm + PendingWidth'(comm_push_i);
    since_q <= rst_i ? '0 : comm == '0 && comm_push_i != '0 ? cycle_i : since;
  end
  logic        hold_grant_compute, hold_grant_comm, hold_drain_done, hold_idle, hold;
  logic [7:0]  hold_threshold;
  logic [CycleWidth-1:0] hold_wake_cycle;
  logic [63:0] hold_reg_rdata;
  always_comb begin
    hold = sleep_i && !rst_i && compute_push_i == '0 && comm_push_i == '0 && dram_pop_i == '0 &&
        dram_parked_i == parked_q && !kernel_start_i && !first_wg_done_i && !kernel_end_i &&
        !reg_we_i && !reg_re_i && cycle_i < wake_cycle_o &&
        since <= cycle_i && CycleWidth >= 8;
  end
  mca #(.PendingWidth(PendingWidth), .CycleWidth(CycleWidth), .StarveWidth(StarveWidth),
        .SampleWidth(SampleWidth), .CountWidth(CountWidth)) u_hold (
    .grant_compute_o(hold_grant_compute), .grant_comm_o(hold_grant_comm), .drain_done_o(hold_drain_done),
    .threshold_o(hold_threshold), .idle_o(hold_idle), .wake_cycle_o(hold_wake_cycle),
    .reg_rdata_o(hold_reg_rdata), .*);
  logic live_q = 1'b0;
  always_ff @(posedge clk_i) begin
    live_q <= 1'b1;
    if (live_q) begin
      a_r8_hold: assert (grant_compute_o == hold_grant_compute && grant_comm_o == hold_grant_comm &&
          drain_done_o == hold_drain_done && threshold_o == hold_threshold && idle_o == hold_idle &&
          wake_cycle_o == hold_wake_cycle && reg_rdata_o == hold_reg_rdata);
    end
  end
endmodule
