// SPDX-License-Identifier: Apache-2.0
// Returned work-groups of the grid scheduler (T3): ids that left their unit undone, in order, until
// firmware takes them.
module grid_scheduler_returned #(
  parameter int unsigned SlotWidth = 3,
  parameter int unsigned IdWidth = 32,
  parameter int unsigned Entries = 256,  // A power of two.
  localparam int unsigned Width = $clog2(Entries)
) (
  input  logic                 clk_i,
  input  logic                 rst_i,
  input  logic                 put_i,   // While it is full, the work-group is lost.
  input  logic [SlotWidth-1:0] slot_i,
  input  logic [IdWidth-1:0]   id_i,
  input  logic                 take_i,
  output logic                 full_o,
  output logic                 lost_o,
  output logic                 valid_o,  // There is a work-group, and this is the oldest:
  output logic [SlotWidth-1:0] slot_o,
  output logic [IdWidth-1:0]   id_o
);

  logic [SlotWidth-1:0] slot_q [Entries];
  logic [IdWidth-1:0]   id_q [Entries];
  logic [Width:0]       in_q, out_q;
  logic                 lost_q;

  always_comb begin
    full_o = in_q - out_q == (Width+1)'(Entries);
    lost_o = lost_q;
    valid_o = in_q != out_q;
    slot_o = slot_q[out_q[Width-1:0]];
    id_o = id_q[out_q[Width-1:0]];
  end

  always_ff @(posedge clk_i) begin
    if (put_i) begin
      if (full_o) begin
        lost_q <= 1'b1;
      end else begin
        slot_q[in_q[Width-1:0]] <= slot_i;
        id_q[in_q[Width-1:0]] <= id_i;
        in_q <= in_q + (Width+1)'(1);
      end
    end
    if (take_i && valid_o) out_q <= out_q + (Width+1)'(1);
    if (rst_i) begin
      in_q <= '0;
      out_q <= '0;
      lost_q <= 1'b0;
    end
  end

endmodule
