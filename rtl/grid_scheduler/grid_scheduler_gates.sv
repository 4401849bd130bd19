// SPDX-License-Identifier: Apache-2.0
// Gates of the grid scheduler (E1): one bit each, opened by events and by firmware.
module grid_scheduler_gates #(
  parameter int unsigned Gates = 1024  // A power of two.
) (
  input  logic        clk_i,
  input  logic        rst_i,
  input  logic        event_valid_i,
  input  logic [15:0] event_gate_i,
  input  logic        set_valid_i,
  input  logic [15:0] set_gate_i,
  input  logic        clear_i,  // All of them.
  input  logic [15:0] gate_i,
  output logic        open_o
);

  localparam int unsigned Words = (Gates + 31) / 32;
  localparam int unsigned WordBits = Words < 2 ? 1 : $clog2(Words);

  (* mem2reg *) logic [31:0] gates_q [Words];

  always_comb open_o = gates_q[WordBits'(gate_i >> 5)][gate_i[4:0]];

  always_ff @(posedge clk_i) begin
    if (event_valid_i && {1'b0, event_gate_i} < 17'(Gates)) begin
      gates_q[WordBits'(event_gate_i >> 5)][event_gate_i[4:0]] <= 1'b1;
    end
    if (set_valid_i && {1'b0, set_gate_i} < 17'(Gates)) begin
      gates_q[WordBits'(set_gate_i >> 5)][set_gate_i[4:0]] <= 1'b1;
    end
    if (clear_i || rst_i) begin
      for (int unsigned w = 0; w < Words; w++) gates_q[w] <= '0;
    end
  end

endmodule
