// SPDX-License-Identifier: Apache-2.0
// Round-robin choice: the first request at or after `turn_i`, cyclically. Combinational; whoever
// uses it keeps the turn and sets it to index_o + 1 when the choice was used. Rules:
//  A1 valid_o = some request.
//  A2 index_o is a requester (when valid_o).
//  A3 A requester is chosen after at most N - 1 used choices of others.
module rr_arbiter #(
  parameter int unsigned N = 4,  // Requesters, a power of two >= 2; depth grows with log N.
  localparam int unsigned IndexWidth = $clog2(N)
) (
  input  logic [N-1:0]          request_i,
  input  logic [IndexWidth-1:0] turn_i,
  output logic                  valid_o,
  output logic [IndexWidth-1:0] index_o
);

  if (N < 2 || N != 2 ** IndexWidth) begin : gen_bad_n
    $error("rr_arbiter: N must be a power of two, at least 2");
  end

  logic [N-1:0] upper, chosen, below;
  always_comb begin
    upper = request_i & ({N{1'b1}} << turn_i);
    chosen = upper != '0 ? upper : request_i;
    valid_o = request_i != '0;
    // The ones below the lowest set bit are as many as its index. A variable, because yosys 0.23
    // makes $countones of an expression with a size cast 0.
    below = (chosen & (~chosen + N'(1))) - N'(1);
    index_o = IndexWidth'($countones(below));
  end

endmodule
