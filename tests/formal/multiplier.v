// SPDX-License-Identifier: Apache-2.0
// A multiplier for the proof run, as rows of additions in the order of A's bits. What yosys puts in by itself adds the
// partial products in the order of wire names: two equal products then differ in structure, and a proof that they are
// equal takes minutes instead of nothing.
(* techmap_celltype = "$mul" *)
module multiplier_rows(A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;

  wire _TECHMAP_FAIL_ = A_SIGNED || B_SIGNED;
  wire [Y_WIDTH*(A_WIDTH+1)-1:0] sum;
  wire [Y_WIDTH-1:0] b = B;
  assign sum[0 +: Y_WIDTH] = 0;
  genvar i;
  generate for (i = 0; i < A_WIDTH; i = i + 1) begin : row
    wire [Y_WIDTH-1:0] part = (b & {Y_WIDTH{A[i]}}) << i;
    assign sum[(i+1)*Y_WIDTH +: Y_WIDTH] = sum[i*Y_WIDTH +: Y_WIDTH] + part;
  end endgenerate
  assign Y = sum[A_WIDTH*Y_WIDTH +: Y_WIDTH];
endmodule
