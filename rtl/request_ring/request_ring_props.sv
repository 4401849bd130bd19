// SPDX-License-Identifier: Apache-2.0
// Rules of the request ring (README.md) over its ports.
//
// Pulses (pop, refuse, accept, drop, retire) tell what happened at the edge before; so books named
// x_q hold the state before that edge and x, with the pulses entered, the state now. Inputs and
// conditions of the edge before are kept as _p. Buffers 0 and 1 and connection 0 stand for all of
// R3, the solver chooses the bit (R1) and the connection (R6) that are looked at.
module request_ring_props #(
  parameter int unsigned RingDepth = 256,
  parameter int unsigned Buffers = 256,
  parameter int unsigned Connections = 16,
  parameter int unsigned Slots = 8,
  parameter int unsigned NumberWidth = 32,
  parameter int unsigned CounterWidth = 48
) (
  input logic        clk_i,
  input logic        rst_i,
  input logic        sr_valid_i,
  input logic [63:0] sr_data_i,
  input logic        issue_valid_o,
  input logic        issue_ready_i,
  input logic [11:0] issue_tag_o,
  input logic        issue_read_o,
  input logic [47:0] issue_source_o,
  input logic [47:0] issue_destination_o,
  input logic [33:0] issue_bytes_o,
  input logic        done_valid_i,
  input logic [11:0] done_tag_i,
  input logic        done_failed_i,
  input logic        write_valid_o,
  input logic        write_ready_i,
  input logic [1:0]  write_kind_o,
  input logic [11:0] write_tag_o,
  input logic [47:0] write_address_o,
  input logic [63:0] write_data_o,
  input logic        pop_o,
  input logic        refuse_o,
  input logic        accept_o,
  input logic [63:0] judged_o,
  input logic        drop_o,
  input logic        retire_o,
  input logic [11:0] retire_tag_o,
  input logic        irq_o,
  input logic        busy_o,
  input logic        idle_o,
  input logic        reg_we_i,
  input logic        reg_re_i,
  input logic [15:0] reg_addr_i,
  input logic [63:0] reg_wdata_i,
  input logic [63:0] reg_rdata_o
);

  localparam int unsigned RingWidth = $clog2(RingDepth);
  localparam int unsigned LevelWidth = $clog2(RingDepth + 1);
  localparam int unsigned ConnWidth = $clog2(Connections);
  localparam int unsigned SlotWidth = $clog2(Slots);
  localparam int unsigned ConnCount = 2 ** ConnWidth;
  localparam int unsigned Tags = 2 ** (ConnWidth + SlotWidth);

`ifdef VERILATOR
  logic                 mark_i;
  logic [5:0]           bit_k;
  logic [ConnWidth-1:0] conn_k;
  always_ff @(posedge clk_i) mark_i <= !mark_i;
  always_comb begin
    bit_k = 6'd25;
    conn_k = ConnWidth'(1);
  end
`else
  (* anyseq *)   logic                 mark_i;
  (* anyconst *) logic [5:0]           bit_k;
  (* anyconst *) logic [ConnWidth-1:0] conn_k;
`endif

  // Registers are 8 bytes apart.
  always_ff @(posedge clk_i) m_aligned: assume (!(reg_we_i || reg_re_i) || reg_addr_i[2:0] == '0);

  logic live_q = 1'b0;  // The clock before was not reset.
  always_ff @(posedge clk_i) live_q <= !rst_i;

  // ---- What firmware programmed.
  logic        enable_q, software_q, replica_q, clear;
  logic [7:0]  batch_q;
  logic [3:0]  irq_enable_q;
  logic [ConnCount*4-1:0] limit_q;  // As in force.
  always_comb clear = reg_we_i && reg_addr_i == request_ring_regs_pkg::ClearOffset && !busy_o;
  always_ff @(posedge clk_i) begin : programmed
    logic [3:0] limit;
    limit = reg_wdata_i[7:4];
    if (reg_we_i) begin
      if (reg_addr_i == request_ring_regs_pkg::ControlOffset) begin
        enable_q <= reg_wdata_i[0];
        if (!busy_o) software_q <= reg_wdata_i[1];
        replica_q <= reg_wdata_i[2];
        batch_q <= reg_wdata_i[15:8];
      end
      if (reg_addr_i == request_ring_regs_pkg::IrqEnableOffset) irq_enable_q <= reg_wdata_i[3:0];
      if (reg_addr_i[15:9] == 7'h02 && reg_addr_i[4:3] == 2'd0 &&
          5'(reg_addr_i[8:5]) < 5'(Connections)) begin
        limit_q[{reg_addr_i[5+:ConnWidth], 2'b0}+:4] <=
            limit == '0 || limit > 4'(Slots) ? 4'(Slots) : limit;
      end
    end
    if (rst_i) begin
      enable_q <= 1'b0;
      software_q <= 1'b0;
      replica_q <= 1'b0;
      batch_q <= request_ring_regs_pkg::ControlReset[15:8];
      irq_enable_q <= '0;
      limit_q <= {ConnCount{4'(Slots)}};
    end
  end

  // ---- R1, R2: the ring, and one request on its way to judgement.
  logic        sr_p, enable_p, clear_p, mark_p, bit_p, pushed, judged;
  logic [LevelWidth-1:0] level_q, level;
  logic [RingWidth-1:0]  in_q, in, out_q, out, place_q;
  logic [1:0]  between_q, between;  // Left the ring and not judged.
  logic        marked_q, inside_q, value_q;  // A request is looked at; it is in the ring; its bit.
  logic [1:0]  before_q;                     // Requests between ring and judgement before it.
  always_comb begin
    pushed = sr_p && !drop_o;
    judged = refuse_o || accept_o;
    level = clear_p ? '0 : level_q + LevelWidth'(pushed) - LevelWidth'(pop_o);
    between = between_q + 2'(pop_o) - 2'(judged);
    in = in_q;
    if (pushed) in = in_q == RingWidth'(RingDepth - 1) ? '0 : in_q + 1'b1;
    out = out_q;
    if (pop_o) out = out_q == RingWidth'(RingDepth - 1) ? '0 : out_q + 1'b1;
    if (clear_p) begin
      in = '0;
      out = '0;
    end
  end
  always_ff @(posedge clk_i) begin
    sr_p <= sr_valid_i;
    bit_p <= sr_data_i[bit_k];
    mark_p <= mark_i;
    enable_p <= enable_q;
    clear_p <= clear;
    level_q <= level;
    between_q <= between;
    in_q <= in;
    out_q <= out;
    if (!marked_q) begin
      marked_q <= pushed && mark_p;
      inside_q <= 1'b1;
      place_q <= in_q;
      value_q <= bit_p;
    end else if (inside_q) begin
      if (pop_o && out_q == place_q) inside_q <= 1'b0;
      before_q <= between_q - 2'(judged);
    end else if (judged) begin
      before_q <= before_q - 2'd1;
      if (before_q == '0) marked_q <= 1'b0;
    end
    if (clear_p) marked_q <= 1'b0;
    if (rst_i) begin
      sr_p <= 1'b0;
      clear_p <= 1'b0;
      level_q <= '0;
      between_q <= '0;
      in_q <= '0;
      out_q <= '0;
      marked_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (live_q) begin
      // R1: with room it is taken; nothing leaves an empty ring; what leaves is what came, in its
      // order.
      a_r1_taken: assert (!(sr_p && enable_p && level_q != LevelWidth'(RingDepth) && !clear_p && drop_o));
      a_r1_not_empty: assert (!(pop_o && level_q == '0));
      a_r1_order: assert (!(marked_q && !inside_q && before_q == '0 && judged) ||
          judged_o[bit_k] == value_q);
      // R2: without room it is dropped, nothing else is, and the level stays in its bounds.
      a_r2_full: assert (!(sr_p && (!enable_p || level_q == LevelWidth'(RingDepth)) && !drop_o));
      a_r2_only: assert (!drop_o || sr_p);
      a_r2_level: assert (level_q <= LevelWidth'(RingDepth));
    end
  end

  // ---- R3: judgement.
  logic [47:0] base0_q, base1_q;
  logic [22:0] size0_q, size1_q;  // {unit, units}.
  logic        valid0_q, readable0_q, valid1_q, writable1_q, valid_c_q, dirty_q;
  logic        based0_q, based1_q;  // The base was written since reset, which leaves it alone.
  logic        table_write, own_case, good;
  logic [7:0]  node_q, node_c_q;
  logic [17:0] end_units;
  logic [47:0] offset_bytes;
  always_comb begin
    table_write = reg_we_i && (reg_addr_i[15:5] == 11'h080 || reg_addr_i == 16'h400 ||
        reg_addr_i == request_ring_regs_pkg::NodeOffset);
    own_case = judged_o[24:18] == '0 && judged_o[17:10] == 8'd0 && judged_o[9:2] == 8'd1 && !dirty_q &&
        based0_q && based1_q;
    end_units = {1'b0, judged_o[58:42]} + {1'b0, judged_o[41:25]};
    offset_bytes = {31'b0, judged_o[58:42]} << size0_q[22:18];
    good = (judged_o[1:0] == 2'd1 || judged_o[1:0] == 2'd2) && judged_o[63:61] == '0 && valid_c_q &&
        valid0_q && valid1_q && readable0_q && writable1_q &&
        base0_q[47:40] == (judged_o[0] ? node_q : node_c_q) &&
        base1_q[47:40] == (judged_o[0] ? node_c_q : node_q) &&
        size0_q[22:18] == size1_q[22:18] && size0_q[22:18] <= 5'd17 && judged_o[41:25] != '0 &&
        end_units <= size0_q[17:0] && end_units <= size1_q[17:0];
  end
  always_ff @(posedge clk_i) begin
    // A request that was on its way when a table changed may have met either contents.
    if (level == '0 && between == '0 && !sr_valid_i) dirty_q <= 1'b0;
    else if (table_write) dirty_q <= 1'b1;
    if (reg_we_i) begin
      case (reg_addr_i)
        16'h1000: begin
          base0_q <= reg_wdata_i[47:0];
          based0_q <= 1'b1;
        end
        16'h1008: begin
          size0_q <= {reg_wdata_i[24:20], reg_wdata_i[17:0]};
          readable0_q <= reg_wdata_i[28];
          valid0_q <= reg_wdata_i[31];
        end
        16'h1010: begin
          base1_q <= reg_wdata_i[47:0];
          based1_q <= 1'b1;
        end
        16'h1018: begin
          size1_q <= {reg_wdata_i[24:20], reg_wdata_i[17:0]};
          writable1_q <= reg_wdata_i[29];
          valid1_q <= reg_wdata_i[31];
        end
        16'h400: begin
          valid_c_q <= reg_wdata_i[0];
          node_c_q <= reg_wdata_i[15:8];
        end
        request_ring_regs_pkg::NodeOffset: node_q <= reg_wdata_i[7:0];
        default: ;
      endcase
    end
    if (rst_i) begin
      valid0_q <= 1'b0;
      valid1_q <= 1'b0;
      valid_c_q <= 1'b0;
      node_c_q <= '0;
      node_q <= '0;
      dirty_q <= 1'b0;
      based0_q <= 1'b0;
      based1_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (live_q) begin
      // R3: judged once, after it left the ring; accepted if and only if it is not malformed, never
      // with a field that cannot be right; and the transfer is what the request says.
      a_r3_once: assert (!(refuse_o && accept_o) && (!judged || between_q != '0));
      a_r3_accepts: assert (!(accept_o && own_case && !good));
      a_r3_refuses: assert (!(refuse_o && own_case && good));
      a_r3_fields: assert (!accept_o || (judged_o[63:61] == '0 && judged_o[1] != judged_o[0] &&
          judged_o[41:25] != '0 && judged_o[24:18] < 7'(Connections) &&
          9'(judged_o[17:10]) < 9'(Buffers) && 9'(judged_o[9:2]) < 9'(Buffers)));
      a_r3_unregistered: assert (!(accept_o && !dirty_q &&
          ((judged_o[17:10] == 8'd0 && !valid0_q) || (judged_o[9:2] == 8'd1 && !valid1_q))));
      a_r3_transfer: assert (!accept_o || (issue_read_o == judged_o[1] &&
          issue_tag_o[11:4] == {1'b0, judged_o[24:18]}));
      a_r3_place: assert (!(accept_o && own_case) ||
          (issue_source_o == base0_q + offset_bytes && issue_destination_o == base1_q + offset_bytes &&
           {14'b0, issue_bytes_o} == {31'b0, judged_o[41:25]} << size0_q[22:18]));
    end
  end

  // ---- R4, R6: every transfer by its tag, from acceptance to retirement.
  logic [Tags-1:0] taken_q, taken, done_q, done, failed_q, sc_q, sc, rc_q, rc, live, live_tags_q;
  logic [ConnCount*4-1:0] count_q, count, oldest_q, oldest, next_q, next;
  logic [ConnWidth+SlotWidth-1:0] a_tag, r_tag, hw_tag, sw_tag;
  logic [3:0]  a_conn_limit_p;
  logic        offered_q, offered, take, hw_done, sw_done, full, full_p, held_p, ready, ready_p;
  logic [ConnCount*4-1:0] limit_p;
  always_comb begin
    a_tag = {issue_tag_o[4+:ConnWidth], issue_tag_o[0+:SlotWidth]};
    r_tag = {retire_tag_o[4+:ConnWidth], retire_tag_o[0+:SlotWidth]};
    live = live_tags_q;
    taken = taken_q;
    done = done_q;
    sc = sc_q;
    rc = rc_q;
    count = count_q;
    oldest = oldest_q;
    next = next_q;
    if (accept_o) begin
      live[a_tag] = 1'b1;
      sc[a_tag] = judged_o[59];
      rc[a_tag] = judged_o[60];
      count[{a_tag[SlotWidth+:ConnWidth], 2'b0}+:4] = count[{a_tag[SlotWidth+:ConnWidth], 2'b0}+:4] + 4'd1;
      next[{a_tag[SlotWidth+:ConnWidth], 2'b0}+:4] =
          issue_tag_o[3:0] == 4'(Slots - 1) ? '0 : issue_tag_o[3:0] + 4'd1;
    end
    if (retire_o) begin
      live[r_tag] = 1'b0;
      taken[r_tag] = 1'b0;
      done[r_tag] = 1'b0;
      count[{r_tag[SlotWidth+:ConnWidth], 2'b0}+:4] = count[{r_tag[SlotWidth+:ConnWidth], 2'b0}+:4] - 4'd1;
      oldest[{r_tag[SlotWidth+:ConnWidth], 2'b0}+:4] =
          retire_tag_o[3:0] == 4'(Slots - 1) ? '0 : retire_tag_o[3:0] + 4'd1;
    end
    offered = accept_o || offered_q;
    take = offered && (software_q ? reg_we_i &&
        reg_addr_i == request_ring_regs_pkg::SoftwareTakeOffset : issue_ready_i);
    hw_tag = {done_tag_i[4+:ConnWidth], done_tag_i[0+:SlotWidth]};
    sw_tag = {reg_wdata_i[4+:ConnWidth], reg_wdata_i[0+:SlotWidth]};
    hw_done = done_valid_i && done_tag_i[11:4] < 8'(Connections) && done_tag_i[3:0] < 4'(Slots) &&
        taken[hw_tag] && !done[hw_tag];
    sw_done = reg_we_i && reg_addr_i == request_ring_regs_pkg::SoftwareDoneOffset &&
        reg_wdata_i[11:4] < 8'(Connections) && reg_wdata_i[3:0] < 4'(Slots) && taken[sw_tag] &&
        !done[sw_tag];
    full = 1'b0;
    ready = 1'b0;
    for (int unsigned c = 0; c < ConnCount; c++) begin
      if (count[c*4+:4] >= limit_q[c*4+:4]) full = 1'b1;
      if (done[(ConnWidth+SlotWidth)'(c * 2 ** SlotWidth) | (ConnWidth+SlotWidth)'(oldest[c*4+:4])]) begin
        ready = 1'b1;
      end
    end
    a_conn_limit_p = limit_p[{a_tag[SlotWidth+:ConnWidth], 2'b0}+:4];
  end
  always_ff @(posedge clk_i) begin
    live_tags_q <= live;
    taken_q <= taken;
    done_q <= done;
    sc_q <= sc;
    rc_q <= rc;
    count_q <= count;
    oldest_q <= oldest;
    next_q <= next;
    offered_q <= offered && !take;
    full_p <= full;
    held_p <= offered && !take;
    ready_p <= ready;
    limit_p <= limit_q;
    if (take) taken_q[a_tag] <= 1'b1;
    if (hw_done) begin
      done_q[hw_tag] <= 1'b1;
      failed_q[hw_tag] <= done_failed_i;
    end
    if (sw_done) begin
      done_q[sw_tag] <= 1'b1;
      failed_q[sw_tag] <= reg_wdata_i[16];
    end
    if (rst_i) begin
      live_tags_q <= '0;
      taken_q <= '0;
      done_q <= '0;
      failed_q <= '0;
      sc_q <= '0;
      rc_q <= '0;
      count_q <= '0;
      oldest_q <= '0;
      next_q <= '0;
      offered_q <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (live_q) begin
      // R4: below the limit when it is accepted, in the next slot, which is free.
      a_r4_limit: assert (!accept_o ||
          count_q[{a_tag[SlotWidth+:ConnWidth], 2'b0}+:4] < a_conn_limit_p);
      a_r4_tag: assert (!(accept_o && live_tags_q[a_tag]));
      a_r4_slot: assert (!accept_o || (issue_tag_o[11:4] < 8'(Connections) &&
          issue_tag_o[3:0] == next_q[{a_tag[SlotWidth+:ConnWidth], 2'b0}+:4] &&
          issue_tag_o[3:0] < 4'(Slots)));
    end
  end

  // ---- R5: handshakes.
  logic         issue_valid_p, issue_ready_p, write_valid_p, write_ready_p;
  logic [142:0] issue_p, issue_now;
  logic [125:0] write_p, write_now;
  always_comb begin
    issue_now = {issue_tag_o, issue_read_o, issue_source_o, issue_destination_o, issue_bytes_o};
    write_now = {write_kind_o, write_tag_o, write_address_o, write_data_o};
  end
  always_ff @(posedge clk_i) begin
    issue_valid_p <= issue_valid_o;
    issue_ready_p <= issue_ready_i;
    issue_p <= issue_now;
    write_valid_p <= write_valid_o;
    write_ready_p <= write_ready_i;
    write_p <= write_now;
    if (rst_i) write_valid_p <= 1'b0;
  end
  always_ff @(posedge clk_i) begin
    if (live_q) begin
      a_r5_issue: assert (!(issue_valid_p && !issue_ready_p) || (issue_valid_o && issue_now == issue_p));
      a_r5_write: assert (!(write_valid_p && !write_ready_p) || (write_valid_o && write_now == write_p));
      a_r5_engine: assert (issue_valid_o == (offered && !software_q));
    end
  end

  // ---- R6: retirement and flags.
  logic write_new, flag_new, f_sc_q, f_sc, f_rc_q, f_rc, f_left;
  logic [NumberWidth-1:0] number_q, number;  // Of connection conn_k.
  always_comb begin
    write_new = write_valid_o && !(write_valid_p && !write_ready_p);
    flag_new = write_new && write_kind_o != 2'd0;
    f_sc = f_sc_q && !flag_new;
    f_rc = f_rc_q && !(flag_new && !f_sc_q);
    f_left = f_sc || f_rc;
    if (retire_o) begin
      f_sc = sc_q[r_tag] && !failed_q[r_tag];
      f_rc = rc_q[r_tag] && !failed_q[r_tag];
    end
    number = clear_p ? '0 : number_q + NumberWidth'(retire_o && r_tag[SlotWidth+:ConnWidth] == conn_k);
  end
  logic [11:0] r_tag_q;  // The transfer retired last, before the edge.
  always_ff @(posedge clk_i) begin
    f_sc_q <= f_sc;
    f_rc_q <= f_rc;
    number_q <= number;
    r_tag_q <= retire_tag_o;
    if (rst_i) begin
      f_sc_q <= 1'b0;
      f_rc_q <= 1'b0;
      number_q <= '0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (live_q) begin
      // R6: only the oldest retires, and only when it is done; its flags, SC first, with its
      // number, and none is lost to the next.
      a_r6_done: assert (!retire_o || (live_tags_q[r_tag] && taken_q[r_tag] && done_q[r_tag]));
      a_r6_order: assert (!retire_o || (retire_tag_o[11:4] < 8'(Connections) &&
          retire_tag_o[3:0] == oldest_q[{r_tag[SlotWidth+:ConnWidth], 2'b0}+:4]));
      a_r6_flags: assert (!flag_new || (write_tag_o == r_tag_q &&
          (write_kind_o == 2'd1 ? f_sc_q : write_kind_o == 2'd2 && f_rc_q && !f_sc_q)));
      a_r6_number: assert (!(flag_new && write_tag_o[11:4] == 8'(conn_k)) ||
          write_data_o == 64'(number_q));
      a_r6_kept: assert (!(retire_o && f_left));
    end
  end

  // ---- R7: the replica. Short counters can be compared only while threads keep the protocol of
  // tickets.
  logic [CounterWidth-1:0] head_q, head, tail_q, tail, sent_q, sent, announced_q, announced,
      replica_data, behind;
  logic replica_new, honest_q, honest, due, due_p, pending_p, turn_q, turn, free_p;
  always_comb begin
    head = clear_p ? '0 : head_q + CounterWidth'(pop_o);
    tail = clear_p ? '0 : tail_q + CounterWidth'(pushed);
    replica_new = write_new && write_kind_o == 2'd0;
    replica_data = write_data_o[CounterWidth-1:0];
    sent = clear_p ? '0 : replica_new ? replica_data : sent_q;
    turn = flag_new || (turn_q && !replica_new);
    announced = clear_p ? '0 : announced_q;
    honest = honest_q && tail - announced <= CounterWidth'(RingDepth);
    behind = head - sent;
    due = replica_q && behind != '0 && (level == '0 || 48'(behind) >= 48'(batch_q));
  end
  always_ff @(posedge clk_i) begin
    head_q <= head;
    tail_q <= tail;
    sent_q <= sent;
    turn_q <= turn;
    honest_q <= honest;
    due_p <= due;
    pending_p <= f_sc || f_rc;
    free_p <= !write_valid_o || write_ready_i;
    announced_q <= write_valid_o && write_kind_o == 2'd0 && write_ready_i ? replica_data : announced;
    if (rst_i) begin
      head_q <= '0;
      tail_q <= '0;
      sent_q <= '0;
      turn_q <= 1'b0;
      announced_q <= '0;
      honest_q <= 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    if (live_q) begin
      // R7: it is the head of the edge before; it moves on; it comes at once unless a flag has the
      // turn.
      a_r7_head: assert (!replica_new || write_data_o == 64'(head_q));
      a_r7_forward: assert (!(replica_new && honest) || (replica_data != sent_q &&
          replica_data - sent_q <= CounterWidth'(RingDepth)));
      a_r7_soon: assert (!(due_p && free_p && (!pending_p || turn_q)) || replica_new);
    end
  end

  // ---- R8: idle clocks show nothing; that they change nothing is proven in the harness.
  logic idle_p, quiet_p;
  always_ff @(posedge clk_i) begin
    idle_p <= idle_o;
    quiet_p <= !sr_valid_i && !done_valid_i && !reg_we_i && !reg_re_i;
  end
  always_ff @(posedge clk_i) begin
    if (live_q) begin
      a_r8_quiet: assert (!(idle_p && quiet_p) || (idle_o && !pop_o && !judged && !drop_o && !retire_o &&
          !issue_valid_o && !write_valid_o));
    end
  end

  // ---- R9: errors.
  logic [2:0]  error_q, error, left, left_p;
  logic [63:0] first_q, first, sr_data_p;
  logic        first_known_q, first_known, read_p, read_pp, read_first_p, read_first_pp, known_p;
  logic [2:0]  error_p;
  logic [63:0] first_p;
  always_comb begin
    error = error_q | {retire_o && failed_q[r_tag], drop_o, refuse_o};
    left = reg_we_i && reg_addr_i == request_ring_regs_pkg::ErrorOffset ? error & ~reg_wdata_i[2:0] : error;
    first = first_q;
    first_known = first_known_q;
    if (left_p == '0 && error != '0) begin
      first = refuse_o ? judged_o : sr_data_p;
      first_known = refuse_o || drop_o;
    end
  end
  always_ff @(posedge clk_i) begin
    error_q <= left;
    left_p <= left;
    error_p <= error;
    first_q <= first;
    first_p <= first;
    first_known_q <= first_known;
    known_p <= first_known;
    sr_data_p <= sr_data_i;
    read_p <= reg_re_i && reg_addr_i == request_ring_regs_pkg::ErrorOffset;
    read_pp <= read_p;
    read_first_p <= reg_re_i && reg_addr_i == request_ring_regs_pkg::ErrorRequestOffset;
    read_first_pp <= read_first_p;
    if (rst_i) begin
      error_q <= '0;
      left_p <= '0;
      first_known_q <= 1'b0;
      read_p <= 1'b0;
      read_pp <= 1'b0;
      read_first_p <= 1'b0;
      read_first_pp <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    if (live_q) begin
      a_r9_line: assert (irq_o == ((error & irq_enable_q[2:0]) != '0 ||
          (irq_enable_q[3] && software_q && offered)));
      a_r9_read: assert (!read_pp || reg_rdata_o == 64'(error_p));
      a_r9_first: assert (!(read_first_pp && known_p) || reg_rdata_o == first_p);
    end
  end

  // ---- R10: what can go on does.
  logic level_p;
  always_ff @(posedge clk_i) level_p <= level != '0;
  always_ff @(posedge clk_i) begin
    if (live_q) begin
      a_r10_pops: assert (!(enable_p && level_p && !clear_p && (between_q != 2'd2 || judged)) || pop_o);
      a_r10_judges: assert (!(between_q == 2'd2 && !held_p && !full_p) || judged);
      a_r10_retires: assert (!(ready_p && !f_left) || retire_o);
      a_r10_flags: assert (!(pending_p && free_p && !(due_p && turn_q)) || flag_new);
    end
  end

  // ---- Stories.
  logic late_q;  // Another transfer of the connection was done before its oldest.
  always_ff @(posedge clk_i) begin
    late_q <= hw_done && !rst_i && hw_tag[0+:SlotWidth] !=
        SlotWidth'(oldest[{hw_tag[SlotWidth+:ConnWidth], 2'b0}+:4]);
    c_full_and_dropped: cover (live_q && drop_o && level_q == LevelWidth'(RingDepth) && enable_p);
    c_refused_then_accepted: cover (live_q && accept_o && error_q[0]);
    c_done_out_of_order: cover (live_q && late_q);
    c_held_by_limit: cover (live_q && full && level == LevelWidth'(RingDepth) && idle_o);
    c_software: cover (live_q && software_q && retire_o && flag_new);
    c_both_flags_and_replica: cover (live_q && replica_new && turn_q && f_rc_q);
    c_idle_in_flight: cover (live_q && idle_o && busy_o && count != '0);
  end

  // Registers that the rules name use the lower bits.
  logic unused;
  always_comb unused = ^reg_wdata_i[63:48];

endmodule

`ifdef VERILATOR
bind request_ring request_ring_props #(
  .RingDepth(RingDepth), .Buffers(Buffers), .Connections(Connections), .Slots(Slots),
  .NumberWidth(NumberWidth), .CounterWidth(CounterWidth)
) u_props (.*);
`endif
