// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/tracker.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Register file: storage, decode, reset and read mux. x_o: stored here; x_i: what a read of a
// register of the block returns; x_we_o: such a register is written at this edge (reg_wdata_i).
module tracker_regs (
  // verilator coverage_off
  input  logic clk_i,
  input  logic rst_i,
  input  logic reg_we_i,
  input  logic reg_re_i,
  input  logic [15:0] reg_addr_i,
  input  logic [63:0] reg_wdata_i,
  output logic [63:0] reg_rdata_o,
  output logic read_pending_o,  // A read is answered at the next edge.
  output logic [15:0] address_o,  // Of the last read.
  output tracker_regs_pkg::control_t control_o,
  output logic clear_we_o,
  output logic counter_clear_we_o,
  input  tracker_regs_pkg::status_t status_i,
  output tracker_regs_pkg::tiles_t tiles_o,
  output tracker_regs_pkg::strips_t strips_o,
  output tracker_regs_pkg::untracked_t untracked_o,
  output tracker_regs_pkg::event_t event_o,
  output logic [511:0] threshold_o,
  input  logic [63:0] updates_i,
  input  logic [63:0] half_words_i,
  input  logic [63:0] ignored_i,
  input  logic [63:0] triggers_i,
  input  logic [63:0] spills_i,
  input  logic [63:0] spill_reads_i,
  input  logic [63:0] refills_i,
  input  logic [63:0] max_live_i
);
  // verilator coverage_on

  always_comb begin : strobes
    clear_we_o = 1'b0;
    counter_clear_we_o = 1'b0;
    if (reg_we_i) begin
      case (reg_addr_i)
        tracker_regs_pkg::ClearOffset: clear_we_o = 1'b1;
        tracker_regs_pkg::CounterClearOffset: counter_clear_we_o = 1'b1;
        default: ;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin : registers
    read_pending_o <= reg_re_i;
    if (reg_re_i) address_o <= reg_addr_i;
    if (read_pending_o) begin
      case (address_o)
        tracker_regs_pkg::ControlOffset: begin
          reg_rdata_o <= {56'b0, control_o.ways, 3'b0, control_o.enable};
        end
        tracker_regs_pkg::StatusOffset: begin
          reg_rdata_o <= {12'b0, status_i.live, 17'b0, status_i.outstanding, 7'b0, status_i.busy};
        end
        tracker_regs_pkg::TilesOffset: begin
          reg_rdata_o <= {16'b0, tiles_o.last_strip, 15'b0, tiles_o.total};
        end
        tracker_regs_pkg::StripsOffset: begin
          reg_rdata_o <= {7'b0, strips_o.reciprocal, 14'b0, strips_o.width, strips_o.along};
        end
        tracker_regs_pkg::UntrackedOffset: begin
          reg_rdata_o <= {15'b0, untracked_o.count, 16'b0, untracked_o.first};
        end
        tracker_regs_pkg::EventOffset: reg_rdata_o <= {15'b0, event_o.count, 16'b0, event_o.first};
        tracker_regs_pkg::UpdatesOffset: reg_rdata_o <= updates_i;
        tracker_regs_pkg::HalfWordsOffset: reg_rdata_o <= half_words_i;
        tracker_regs_pkg::IgnoredOffset: reg_rdata_o <= ignored_i;
        tracker_regs_pkg::TriggersOffset: reg_rdata_o <= triggers_i;
        tracker_regs_pkg::SpillsOffset: reg_rdata_o <= spills_i;
        tracker_regs_pkg::SpillReadsOffset: reg_rdata_o <= spill_reads_i;
        tracker_regs_pkg::RefillsOffset: reg_rdata_o <= refills_i;
        tracker_regs_pkg::MaxLiveOffset: reg_rdata_o <= max_live_i;
        default: reg_rdata_o <= '0;
      endcase
      if ((address_o & 16'hffc7) == tracker_regs_pkg::ThresholdOffset) begin
        reg_rdata_o <= threshold_o[64 * 32'(address_o[5:3])+:64];
      end
    end
    if (reg_we_i) begin
      case (reg_addr_i)
        tracker_regs_pkg::ControlOffset: begin
          control_o.enable <= reg_wdata_i[0];
          control_o.ways <= reg_wdata_i[7:4];
        end
        tracker_regs_pkg::TilesOffset: begin
          tiles_o.total <= reg_wdata_i[16:0];
          tiles_o.last_strip <= reg_wdata_i[47:32];
        end
        tracker_regs_pkg::StripsOffset: begin
          strips_o.along <= reg_wdata_i[15:0];
          strips_o.width <= reg_wdata_i[17:16];
          strips_o.reciprocal <= reg_wdata_i[56:32];
        end
        tracker_regs_pkg::UntrackedOffset: begin
          untracked_o.first <= reg_wdata_i[15:0];
          untracked_o.count <= reg_wdata_i[48:32];
        end
        tracker_regs_pkg::EventOffset: begin
          event_o.first <= reg_wdata_i[15:0];
          event_o.count <= reg_wdata_i[48:32];
        end
        default: ;
      endcase
      if ((reg_addr_i & 16'hffc7) == tracker_regs_pkg::ThresholdOffset) begin
        threshold_o[64 * 32'(reg_addr_i[5:3])+:64] <= reg_wdata_i[63:0];
      end
    end
    if (rst_i) begin
      control_o.enable <= 1'd0;
      control_o.ways <= 4'd8;
      tiles_o <= '0;
      strips_o <= '0;
      untracked_o <= '0;
      event_o <= '0;
      threshold_o <= '0;
      read_pending_o <= 1'b0;
      address_o <= '0;
      reg_rdata_o <= '0;
    end
  end

endmodule
