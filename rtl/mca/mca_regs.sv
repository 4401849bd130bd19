// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/mca.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Register file: storage, decode, reset and read mux. x_o: stored here; x_i: what a read of a
// register of the block returns; x_we_o: such a register is written at this edge (reg_wdata_i).
module mca_regs #(
  // Built of starve_limit.cycles; at most the default.
  parameter int unsigned StarveWidth = 32
) (
  // verilator coverage_off
  input  logic clk_i,
  input  logic rst_i,
  input  logic reg_we_i,
  input  logic reg_re_i,
  input  logic [15:0] reg_addr_i,
  // verilator lint_off UNUSEDSIGNAL
  input  logic [63:0] reg_wdata_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic [63:0] reg_rdata_o,
  output logic read_pending_o,  // A read is answered at the next edge.
  output mca_regs_pkg::control_t control_o,
  output mca_regs_pkg::threshold_t threshold_o,
  output mca_regs_pkg::cutoffs_t cutoffs_o,
  output mca_regs_pkg::starve_limit_t starve_limit_o,
  output mca_regs_pkg::dram_queue_depth_t dram_queue_depth_o,
  input  mca_regs_pkg::status_t status_i,
  input  logic [63:0] sample_sum_i,
  input  logic [63:0] sample_cycles_i,
  input  logic [63:0] grants_compute_i,
  input  logic [63:0] grants_comm_i,
  input  logic [63:0] grants_starved_i,
  input  logic [63:0] drains_i,
  output logic counter_clear_we_o
);

  logic [15:0] address_q;  // Of the last read.
  // verilator coverage_on

  always_comb begin : strobes
    counter_clear_we_o = 1'b0;
    if (reg_we_i) begin
      case (reg_addr_i)
        mca_regs_pkg::CounterClearOffset: counter_clear_we_o = 1'b1;
        default: ;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin : registers
    read_pending_o <= reg_re_i;
    if (reg_re_i) address_q <= reg_addr_i;
    if (read_pending_o) begin
      case (address_q)
        mca_regs_pkg::ControlOffset: begin
          reg_rdata_o <= {59'b0, control_o.threshold_select, control_o.policy};
        end
        mca_regs_pkg::ThresholdOffset: reg_rdata_o <= {57'b0, threshold_o.limit};
        mca_regs_pkg::CutoffsOffset: begin
          reg_rdata_o <= {41'b0, cutoffs_o.limit_30, 1'b0, cutoffs_o.limit_10, 1'b0,
                          cutoffs_o.limit_5};
        end
        mca_regs_pkg::StarveLimitOffset: reg_rdata_o <= {32'b0, starve_limit_o.cycles};
        mca_regs_pkg::DramQueueDepthOffset: reg_rdata_o <= {57'b0, dram_queue_depth_o.atoms};
        mca_regs_pkg::StatusOffset: begin
          reg_rdata_o <= {status_i.comm_pending, status_i.compute_pending, 8'b0, status_i.kernels,
                          2'b0, status_i.measuring, status_i.draining, 1'b0, status_i.limit,
                          status_i.occupancy};
        end
        mca_regs_pkg::SampleSumOffset: reg_rdata_o <= sample_sum_i;
        mca_regs_pkg::SampleCyclesOffset: reg_rdata_o <= sample_cycles_i;
        mca_regs_pkg::GrantsComputeOffset: reg_rdata_o <= grants_compute_i;
        mca_regs_pkg::GrantsCommOffset: reg_rdata_o <= grants_comm_i;
        mca_regs_pkg::GrantsStarvedOffset: reg_rdata_o <= grants_starved_i;
        mca_regs_pkg::DrainsOffset: reg_rdata_o <= drains_i;
        default: reg_rdata_o <= '0;
      endcase
    end
    if (reg_we_i) begin
      case (reg_addr_i)
        mca_regs_pkg::ControlOffset: begin
          control_o.policy <= reg_wdata_i[3:0];
          control_o.threshold_select <= reg_wdata_i[4];
        end
        mca_regs_pkg::ThresholdOffset: begin
          threshold_o.limit <= reg_wdata_i[6:0];
        end
        mca_regs_pkg::CutoffsOffset: begin
          cutoffs_o.limit_5 <= reg_wdata_i[6:0];
          cutoffs_o.limit_10 <= reg_wdata_i[14:8];
          cutoffs_o.limit_30 <= reg_wdata_i[22:16];
        end
        mca_regs_pkg::StarveLimitOffset: begin
          starve_limit_o.cycles <= 32'(reg_wdata_i[0+:StarveWidth]);
        end
        mca_regs_pkg::DramQueueDepthOffset: begin
          dram_queue_depth_o.atoms <= reg_wdata_i[6:0];
        end
        default: ;
      endcase
    end
    if (rst_i) begin
      control_o <= '0;
      threshold_o <= '0;
      cutoffs_o.limit_5 <= 7'd32;
      cutoffs_o.limit_10 <= 7'd16;
      cutoffs_o.limit_30 <= 7'd8;
      starve_limit_o.cycles <= 32'(StarveWidth'(32'd1000));
      dram_queue_depth_o.atoms <= 7'd64;
      read_pending_o <= 1'b0;
      address_q <= '0;
      reg_rdata_o <= '0;
    end
  end

endmodule
