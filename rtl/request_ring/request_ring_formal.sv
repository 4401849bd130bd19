// SPDX-License-Identifier: Apache-2.0
// The request ring beside its properties, and beside a copy that sleeps whenever R8 allows it.
module request_ring_formal #(
  parameter int unsigned RingDepth = 2,
  parameter int unsigned Buffers = 2,
  parameter int unsigned Connections = 2,
  parameter int unsigned Slots = 2,
  parameter int unsigned NumberWidth = 3,
  parameter int unsigned CounterWidth = 4,
  parameter bit          Sleep = 0  // With the copy that sleeps.
) (
  input logic        clk_i,
  input logic        rst_i,
  input logic        sr_valid_i,
  input logic [63:0] sr_data_i,
  input logic        issue_ready_i,
  input logic        done_valid_i,
  input logic [11:0] done_tag_i,
  input logic        done_failed_i,
  input logic        write_ready_i,
  input logic        reg_we_i,
  input logic        reg_re_i,
  input logic [15:0] reg_addr_i,
  input logic [63:0] reg_wdata_i,
  input logic        sleep_i  // The solver wants the copy to sleep.
);

  logic issue_valid_o, issue_read_o, write_valid_o, pop_o, refuse_o, accept_o, drop_o, retire_o,
      irq_o, busy_o, idle_o;
  logic [1:0] write_kind_o;
  logic [11:0] issue_tag_o, write_tag_o, retire_tag_o;
  logic [33:0] issue_bytes_o;
  logic [47:0] issue_source_o, issue_destination_o, write_address_o;
  logic [63:0] write_data_o, judged_o, reg_rdata_o;

  request_ring #(
    .RingDepth(RingDepth), .Buffers(Buffers), .Connections(Connections), .Slots(Slots),
    .NumberWidth(NumberWidth), .CounterWidth(CounterWidth)
  ) u_request_ring (.*);
  request_ring_props #(
    .RingDepth(RingDepth), .Buffers(Buffers), .Connections(Connections), .Slots(Slots),
    .NumberWidth(NumberWidth), .CounterWidth(CounterWidth)
  ) u_props (.*);

  // R8: `hold` stops every flip-flop of u_hold (tests/formal/README.md), which must not be noticed.
  logic hold_issue_valid, hold_issue_read, hold_write_valid, hold_pop, hold_refuse, hold_accept,
      hold_drop, hold_retire, hold_irq, hold_busy, hold_idle;
  logic [1:0] hold_write_kind;
  logic [11:0] hold_issue_tag, hold_write_tag, hold_retire_tag;
  logic [33:0] hold_issue_bytes;
  logic [47:0] hold_issue_source, hold_issue_destination, hold_write_address;
  logic [63:0] hold_write_data, hold_judged, hold_reg_rdata;
  logic hold;
  always_comb hold = sleep_i && idle_o && !rst_i && !sr_valid_i && !done_valid_i && !reg_we_i && !reg_re_i;
  if (Sleep) begin : gen_sleep
    request_ring #(
      .RingDepth(RingDepth), .Buffers(Buffers), .Connections(Connections), .Slots(Slots),
      .NumberWidth(NumberWidth), .CounterWidth(CounterWidth)
    ) u_hold (
      .issue_valid_o(hold_issue_valid), .issue_tag_o(hold_issue_tag),
      .issue_read_o(hold_issue_read), .issue_source_o(hold_issue_source),
      .issue_destination_o(hold_issue_destination), .issue_bytes_o(hold_issue_bytes),
      .write_valid_o(hold_write_valid), .write_kind_o(hold_write_kind),
      .write_tag_o(hold_write_tag), .write_address_o(hold_write_address),
      .write_data_o(hold_write_data), .pop_o(hold_pop), .refuse_o(hold_refuse),
      .accept_o(hold_accept), .judged_o(hold_judged), .drop_o(hold_drop), .retire_o(hold_retire),
      .retire_tag_o(hold_retire_tag), .irq_o(hold_irq), .busy_o(hold_busy), .idle_o(hold_idle),
      .reg_rdata_o(hold_reg_rdata), .*
    );
  end
  logic live_q = 1'b0;
  always_ff @(posedge clk_i) begin
    live_q <= 1'b1;
    if (live_q) begin
      a_r8_hold: assert (!Sleep ||
        {issue_valid_o, issue_tag_o, issue_read_o, issue_source_o, issue_destination_o,
        issue_bytes_o, write_valid_o, write_kind_o, write_tag_o, write_address_o, write_data_o,
        pop_o, refuse_o, accept_o, judged_o, drop_o, retire_o, retire_tag_o, irq_o, busy_o,
        idle_o, reg_rdata_o} ==
        {hold_issue_valid, hold_issue_tag, hold_issue_read, hold_issue_source,
        hold_issue_destination, hold_issue_bytes, hold_write_valid, hold_write_kind,
        hold_write_tag, hold_write_address, hold_write_data, hold_pop, hold_refuse, hold_accept,
        hold_judged, hold_drop, hold_retire, hold_retire_tag, hold_irq, hold_busy, hold_idle,
        hold_reg_rdata});
    end
  end

  // ---- Lemmas: how this RTL and the books of the properties hang together. Each follows from the
  // clock before, given the others, and the rules follow from them.
  localparam int unsigned RingWidth = $clog2(RingDepth);
  localparam int unsigned LevelWidth = $clog2(RingDepth + 1);
  localparam int unsigned ConnWidth = $clog2(Connections);
  localparam int unsigned TagWidth = ConnWidth + $clog2(Slots);
  localparam int unsigned ConnCount = 2 ** ConnWidth;
  localparam int unsigned Tags = 2 ** TagWidth;
  (* inside = "u_request_ring.s1_valid_q" *) logic s1_valid_q;
  (* inside = "u_request_ring.s2_valid_q" *) logic s2_valid_q;
  (* inside = "u_request_ring.s2_conn_known_q" *) logic s2_conn_known_q;
  (* inside = "u_request_ring.s2_source_known_q" *) logic s2_source_known_q;
  (* inside = "u_request_ring.s2_destination_known_q" *) logic s2_destination_known_q;
  (* inside = "u_request_ring.s1_sr_q" *) logic [63:0] s1_sr_q;
  (* inside = "u_request_ring.s2_sr_q" *) logic [63:0] s2_sr_q;
  (* inside = "u_request_ring.s2_node_q" *) logic [7:0] s2_node_q;
  (* inside = "u_request_ring.s2_source_base_q" *) logic [47:0] s2_source_base_q;
  (* inside = "u_request_ring.s2_destination_base_q" *) logic [47:0] s2_destination_base_q;
  (* inside = "u_request_ring.s2_source_config_q" *) logic [23:0] s2_source_config_q;
  (* inside = "u_request_ring.s2_destination_config_q" *) logic [23:0] s2_destination_config_q;
  (* inside = "u_request_ring.in_flight_q" *) logic [7:0] in_flight_q;
  (* inside = "u_request_ring.sc_pending_q" *) logic sc_pending_q;
  (* inside = "u_request_ring.rc_pending_q" *) logic rc_pending_q;
  (* inside = "u_request_ring.replica_turn_q" *) logic replica_turn_q;
  (* inside = "u_request_ring.replica_sent_q" *) logic [CounterWidth-1:0] replica_sent_q;
  (* inside = "u_request_ring.flag_number_q" *) logic [NumberWidth-1:0] flag_number_q;
  (* inside = "u_request_ring.numbered_q" *) logic [Connections-1:0] numbered_q;
  (* inside = "u_request_ring.level_q" *) logic [LevelWidth-1:0] level_q;
  (* inside = "u_request_ring.ring_write_q" *) logic [RingWidth-1:0] ring_write_q;
  (* inside = "u_request_ring.ring_read_q" *) logic [RingWidth-1:0] ring_read_q;
  (* inside = "u_request_ring.tail_q" *) logic [CounterWidth-1:0] tail_q;
  (* inside = "u_request_ring.head_q" *) logic [CounterWidth-1:0] head_q;
  (* inside = "u_request_ring.issue_q" *) logic issue_q;
  (* inside = "u_request_ring.taken_q" *) logic [Tags-1:0] taken_q;
  (* inside = "u_request_ring.done_q" *) logic [Tags-1:0] done_q;
  (* inside = "u_request_ring.failed_q" *) logic [Tags-1:0] failed_q;
  (* inside = "u_request_ring.oldest_q" *) logic [ConnCount*4-1:0] oldest_q;
  (* inside = "u_request_ring.next_q" *) logic [ConnCount*4-1:0] next_q;
  (* inside = "u_request_ring.count_q" *) logic [ConnCount*4-1:0] count_q;
  (* inside = "u_request_ring.conn_limit_q" *) logic [Connections*4-1:0] conn_limit_q;
  (* inside = "u_request_ring.conn_node_q" *) logic [Connections*8-1:0] conn_node_q;
  (* inside = "u_request_ring.conn_valid_q" *) logic [Connections-1:0] conn_valid_q;
  (* inside = "u_request_ring.buffer_valid_q" *) logic [Buffers-1:0] buffer_valid_q;
  (* inside = "u_request_ring.buffer_base_q[0]" *) logic [47:0] base_0;
  (* inside = "u_request_ring.buffer_base_q[1]" *) logic [47:0] base_1;
  (* inside = "u_request_ring.source_config_q[0]" *) logic [23:0] source_0;
  (* inside = "u_request_ring.destination_config_q[1]" *) logic [23:0] destination_1;
  (* inside = "u_props.between" *) logic [1:0] between;
  (* inside = "u_props.level" *) logic [LevelWidth-1:0] level;
  (* inside = "u_props.in" *) logic [RingWidth-1:0] in;
  (* inside = "u_props.out" *) logic [RingWidth-1:0] out;
  (* inside = "u_props.out_q" *) logic [RingWidth-1:0] out_q;
  (* inside = "u_props.in_q" *) logic [RingWidth-1:0] in_q;
  (* inside = "u_props.pushed" *) logic pushed;
  (* inside = "u_props.bit_p" *) logic bit_p;
  (* inside = "u_props.place_q" *) logic [RingWidth-1:0] place_q;
  (* inside = "u_props.bit_k" *) logic [5:0] bit_k;
  (* inside = "u_props.before_q" *) logic [1:0] before_q;
  (* inside = "u_props.marked_q" *) logic marked_q;
  (* inside = "u_props.inside_q" *) logic inside_q;
  (* inside = "u_props.value_q" *) logic value_q;
  (* inside = "u_props.judged" *) logic judged;
  (* inside = "u_props.clear_p" *) logic clear_p;
  (* inside = "u_props.dirty_q" *) logic dirty_q;
  (* inside = "u_props.based0_q" *) logic based0_q;
  (* inside = "u_props.based1_q" *) logic based1_q;
  (* inside = "u_props.valid0_q" *) logic valid0_q;
  (* inside = "u_props.valid1_q" *) logic valid1_q;
  (* inside = "u_props.readable0_q" *) logic readable0_q;
  (* inside = "u_props.writable1_q" *) logic writable1_q;
  (* inside = "u_props.valid_c_q" *) logic valid_c_q;
  (* inside = "u_props.base0_q" *) logic [47:0] base0_q;
  (* inside = "u_props.base1_q" *) logic [47:0] base1_q;
  (* inside = "u_props.size0_q" *) logic [22:0] size0_q;
  (* inside = "u_props.size1_q" *) logic [22:0] size1_q;
  (* inside = "u_props.node_c_q" *) logic [7:0] node_c_q;
  (* inside = "u_props.live" *) logic [Tags-1:0] live;
  (* inside = "u_props.sc" *) logic [Tags-1:0] sc;
  (* inside = "u_props.rc" *) logic [Tags-1:0] rc;
  (* inside = "u_props.taken" *) logic [Tags-1:0] taken;
  (* inside = "u_props.done" *) logic [Tags-1:0] done;
  (* inside = "u_props.count" *) logic [ConnCount*4-1:0] count;
  (* inside = "u_props.oldest" *) logic [ConnCount*4-1:0] oldest;
  (* inside = "u_props.next" *) logic [ConnCount*4-1:0] next;
  (* inside = "u_props.offered" *) logic offered;
  (* inside = "u_props.a_tag" *) logic [TagWidth-1:0] a_tag;
  (* inside = "u_props.f_sc" *) logic f_sc;
  (* inside = "u_props.f_rc" *) logic f_rc;
  (* inside = "u_props.turn" *) logic turn;
  (* inside = "u_props.sent" *) logic [CounterWidth-1:0] sent;
  (* inside = "u_props.head" *) logic [CounterWidth-1:0] head;
  (* inside = "u_props.tail" *) logic [CounterWidth-1:0] tail;
  (* inside = "u_props.announced" *) logic [CounterWidth-1:0] announced;
  (* inside = "u_props.honest" *) logic honest;
  (* inside = "u_props.number" *) logic [NumberWidth-1:0] number;
  (* inside = "u_props.conn_k" *) logic [ConnWidth-1:0] conn_k;
  (* inside = "u_props.limit_q" *) logic [ConnCount*4-1:0] limit_q;
  (* inside = "u_request_ring.control" *) logic [10:0] dut_control;  // {batch, replica, engine, enable}
  (* inside = "u_props.enable_q" *) logic book_enable_q;
  (* inside = "u_props.software_q" *) logic book_software_q;
  (* inside = "u_props.replica_q" *) logic book_replica_q;
  (* inside = "u_props.batch_q" *) logic [7:0] book_batch_q;
  (* inside = "u_request_ring.node" *) logic [7:0] dut_node;
  (* inside = "u_props.node_q" *) logic [7:0] book_node_q;
  (* inside = "u_request_ring.error_q" *) logic [2:0] dut_error;
  (* inside = "u_request_ring.irq_enable" *) logic [3:0] dut_irq_enable;
  (* inside = "u_request_ring.read_pending" *) logic read_pending_q;
  (* inside = "u_request_ring.read_address" *) logic [15:0] read_address_q;
  (* inside = "u_request_ring.error_request_q" *) logic [63:0] error_request_q;
  (* inside = "u_props.error" *) logic [2:0] book_error;
  (* inside = "u_props.irq_enable_q" *) logic [3:0] book_irq_enable;
  (* inside = "u_props.read_p" *) logic read_p;
  (* inside = "u_props.read_first_p" *) logic read_first_p;
  (* inside = "u_props.first" *) logic [63:0] first;
  (* inside = "u_props.first_known" *) logic first_known;
  (* inside = "u_props.failed_q" *) logic [Tags-1:0] book_failed_q;
  logic [63:0] ring [RingDepth];
  for (genvar i = 0; i < RingDepth; i++) begin : gen_ring
    (* inside = "u_request_ring.ring_q[]" *) logic [63:0] entry;
    always_comb ring[i] = entry;
  end
  logic [NumberWidth-1:0] numbers [ConnCount];
  for (genvar c = 0; c < Connections; c++) begin : gen_number
    (* inside = "u_request_ring.completed_q[]" *) logic [NumberWidth-1:0] entry;
    always_comb numbers[c] = numbered_q[c] ? entry : '0;
  end
  for (genvar c = Connections; c < ConnCount; c++) begin : gen_no_number
    always_comb numbers[c] = '0;
  end
  logic [Tags-1:0] slot_sc, slot_rc;
  for (genvar t = 0; t < Tags; t++) begin : gen_slot
    (* inside = "u_request_ring.slot_q[]" *) logic [17:0] entry;
    always_comb {slot_rc[t], slot_sc[t]} = entry[17:16];
  end

  // What both keep.
  logic limits;
  always_comb begin
    limits = 1'b1;
    for (int unsigned c = 0; c < Connections; c++) begin
      if (limit_q[c*4+:4] != (conn_limit_q[c*4+:4] == '0 || conn_limit_q[c*4+:4] > 4'(Slots)
          ? 4'(Slots) : conn_limit_q[c*4+:4])) limits = 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    a_r1_lemma_both: assert ({dut_control, level_q, ring_write_q,
        ring_read_q, tail_q, head_q} == {book_batch_q, book_replica_q, book_software_q, book_enable_q, level, in,
        out, tail, head});
    a_r3_lemma_both: assert ({dut_node, conn_node_q[7:0], conn_valid_q[0], buffer_valid_q[1:0]} ==
        {book_node_q, node_c_q, valid_c_q, valid1_q, valid0_q});
    a_r4_lemma_both: assert ({issue_q, taken_q, done_q, oldest_q, next_q, count_q} ==
        {offered, taken, done, oldest, next, count} && (done & failed_q) == (done & book_failed_q) && limits);
  end

  // R1: where the request that is looked at is, and that it is whole there.
  logic [LevelWidth:0] depth, new_depth;  // Requests in the ring before it; before the one that came last.
  logic [1:0] left;            // Past the ring before it.
  logic in_ring, in_s1, in_s2;
  always_comb begin
    depth = (LevelWidth+1)'(place_q) - (LevelWidth+1)'(out);
    if (place_q < out) depth = depth + (LevelWidth+1)'(RingDepth);
    new_depth = (LevelWidth+1)'(in_q) - (LevelWidth+1)'(out);
    if (in_q < out) new_depth = new_depth + (LevelWidth+1)'(RingDepth);
    left = before_q - 2'(judged);
    in_ring = marked_q && inside_q && !clear_p && !(pop_o && out_q == place_q);
    in_s1 = marked_q && ((inside_q && !clear_p && pop_o && out_q == place_q) ||
        (!inside_q && ((left == 2'd1) || (left == 2'd0 && !s2_valid_q))));
    in_s2 = marked_q && !inside_q && left == 2'd0 && s2_valid_q;
  end
  always_ff @(posedge clk_i) begin
    a_r1_lemma_between: assert (between == 2'(s1_valid_q) + 2'(s2_valid_q));
    a_r1_lemma_ring: assert (out < (RingWidth+1)'(RingDepth) && level <= LevelWidth'(RingDepth) &&
        (RingWidth+2)'(in) == (RingWidth+2)'(out) + (RingWidth+2)'(level) -
            ((RingWidth+2)'(out) + (RingWidth+2)'(level) >= (RingWidth+2)'(RingDepth)
            ? (RingWidth+2)'(RingDepth) : '0) &&
        (!marked_q || !inside_q || place_q < (RingWidth+1)'(RingDepth)));
    a_r1_lemma_in_ring: assert (!in_ring || (ring[place_q][bit_k] == value_q && depth < (LevelWidth+1)'(level)));
    a_r1_lemma_pushed: assert (!pushed || (in_q < (RingWidth+1)'(RingDepth) && ring[in_q][bit_k] == bit_p &&
        new_depth < (LevelWidth+1)'(level)));
    a_r1_lemma_past: assert (!(marked_q && !inside_q) || (before_q == '0 && judged) || left == 2'd0 ||
        (left == 2'd1 && s2_valid_q));
    a_r1_lemma_in_s1: assert (!in_s1 || (before_q == '0 && judged && !inside_q) ||
        (s1_valid_q && s1_sr_q[bit_k] == value_q));
    a_r1_lemma_in_s2: assert (!in_s2 || (before_q == '0 && judged) || s2_sr_q[bit_k] == value_q);
  end

  // R3: tables, and what a request that no write has met read from them.
  logic clean;
  always_comb clean = s2_valid_q && !dirty_q;
  always_ff @(posedge clk_i) begin
    a_r3_lemma_known: assert (!s2_valid_q || (
        (!s2_conn_known_q || s2_sr_q[24:18] < 7'(Connections)) &&
        (!s2_source_known_q || 9'(s2_sr_q[17:10]) < 9'(Buffers)) &&
        (!s2_destination_known_q || 9'(s2_sr_q[9:2]) < 9'(Buffers))));
    a_r3_lemma_bases: assert ((!based0_q || base0_q == base_0) && (!based1_q || base1_q == base_1));
    a_r3_lemma_sizes: assert ((!valid0_q || {readable0_q, size0_q} == source_0) &&
        (!valid1_q || {writable1_q, size1_q} == destination_1));
    a_r3_lemma_source: assert (!(clean && s2_sr_q[17:10] == 8'd0) || (s2_source_known_q == valid0_q &&
        (!based0_q || s2_source_base_q == base0_q) &&
        (!valid0_q || s2_source_config_q == {readable0_q, size0_q})));
    a_r3_lemma_destination: assert (!(clean && s2_sr_q[9:2] == 8'd1) ||
        (s2_destination_known_q == valid1_q && (!based1_q || s2_destination_base_q == base1_q) &&
         (!valid1_q || s2_destination_config_q == {writable1_q, size1_q})));
    a_r3_lemma_connection: assert (!(clean && s2_sr_q[24:18] == '0) ||
        (s2_conn_known_q == valid_c_q && s2_node_q == node_c_q));
  end

  // R4: the live slots of a connection are those from its oldest on, and the counts count them.
  logic window, counts;
  logic [7:0] total;
  always_comb begin
    window = 1'b1;
    counts = 1'b1;
    total = '0;
    for (int unsigned c = 0; c < ConnCount; c++) begin
      total = total + 8'(count[c*4+:4]);
      if (count[c*4+:4] > 4'(Slots) || oldest[c*4+:4] >= 4'(Slots) || next[c*4+:4] >= 4'(Slots)) counts = 1'b0;
      if (c >= Connections && count[c*4+:4] != '0) counts = 1'b0;
      if (5'(next[c*4+:4]) != 5'(oldest[c*4+:4]) + 5'(count[c*4+:4]) -
          (5'(oldest[c*4+:4]) + 5'(count[c*4+:4]) >= 5'(Slots) ? 5'(Slots) : 5'd0)) counts = 1'b0;
      for (int unsigned s = 0; s < Tags / ConnCount; s++) begin
        if (live[c * (Tags / ConnCount) + s] != (s < Slots &&
            5'(s) - 5'(oldest[c*4+:4]) + (5'(s) < 5'(oldest[c*4+:4]) ? 5'(Slots) : 5'd0) <
            5'(count[c*4+:4]))) window = 1'b0;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    a_r4_lemma_window: assert (window && counts && total == in_flight_q);
    a_r4_lemma_taken: assert ((taken & ~live) == '0 && (done & ~taken) == '0 &&
        (!offered || (live[a_tag] && !taken[a_tag])));
  end

  // R6, R7: what waits to be written.
  always_ff @(posedge clk_i) begin
    a_r6_lemma_pending: assert (f_sc == sc_pending_q && f_rc == rc_pending_q && turn == replica_turn_q);
    a_r6_lemma_flags: assert (((sc ^ slot_sc) & live) == '0 && ((rc ^ slot_rc) & live) == '0);
    a_r6_lemma_number: assert (number == numbers[conn_k] && (!((f_sc || f_rc) && retire_tag_o[11:4] == 8'(conn_k)) ||
        flag_number_q == number));
    a_r7_lemma_sent: assert (sent == replica_sent_q &&
        (!(write_valid_o && write_kind_o == 2'd0) || write_data_o == 64'(sent)));
    a_r7_lemma_level: assert (tail - head == CounterWidth'(level));
    a_r7_lemma_order: assert (!honest || (sent - announced <= head - announced &&
        head - announced <= tail - announced && tail - announced <= CounterWidth'(RingDepth)));
    a_r7_lemma_announced: assert (write_valid_o && write_kind_o == 2'd0 || announced == sent);
  end

  // R9: errors and the reading of them.
  always_ff @(posedge clk_i) begin
    a_r9_lemma_error: assert ({dut_error, dut_irq_enable} == {book_error, book_irq_enable} &&
        (!first_known || error_request_q == first));
    a_r9_lemma_read: assert (
        read_p == (read_pending_q && read_address_q == request_ring_regs_pkg::ErrorOffset) &&
        read_first_p == (read_pending_q && read_address_q == request_ring_regs_pkg::ErrorRequestOffset));
  end

endmodule
