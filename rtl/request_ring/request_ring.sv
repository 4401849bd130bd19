// SPDX-License-Identifier: Apache-2.0
// Request ring of a GPU: takes 8-byte send requests, checks them against registered buffers, starts
// their transfers and writes the completion flags; rules, latency and programming: README.md.
//
// A request lives in: ring -> s1 (popped) -> s2 (tables read, judged) -> issue (offered to the
// engine) -> slot of its connection (in flight, done) -> flag stage -> memory-write port.
module request_ring #(
  // Requests the ring holds; 64 bits each (1R1W memory). Fewer stall GPU threads earlier.
  parameter int unsigned RingDepth = 256,
  // Buffer ids, at most 256; 72 bits each in two copies (one a reader) and a flip-flop.
  parameter int unsigned Buffers = 256,
  // Connections, at most 16; 102 bits each and one input of the retirement arbiter.
  parameter int unsigned Connections = 16,
  // Transfers in flight a connection can have, at most 15; 21 bits each.
  parameter int unsigned Slots = 8,
  // Bits of a transfer's number, at most 32, and of head, tail, replica and counters, at most 48;
  // what firmware reads. Smaller ones are for proofs.
  parameter int unsigned NumberWidth = 32,
  parameter int unsigned CounterWidth = 48
) (
  input  logic        clk_i,
  input  logic        rst_i,

  // Stores of GPU threads; always taken, into the ring or dropped.
  input  logic        sr_valid_i,
  input  logic [63:0] sr_data_i,

  // Transfers for the engine; tag = {connection, slot[3:0]}.
  output logic        issue_valid_o,
  input  logic        issue_ready_i,
  output logic [11:0] issue_tag_o,
  output logic        issue_read_o,
  output logic [47:0] issue_source_o,
  output logic [47:0] issue_destination_o,
  output logic [33:0] issue_bytes_o,

  // Transfers that are complete, in any order.
  input  logic        done_valid_i,
  input  logic [11:0] done_tag_i,
  input  logic        done_failed_i,

  // Writes of 8-byte words: 0 head replica, 1 send flag, 2 receive flag.
  output logic        write_valid_o,
  input  logic        write_ready_i,
  output logic [1:0]  write_kind_o,
  output logic [11:0] write_tag_o,
  output logic [47:0] write_address_o,
  output logic [63:0] write_data_o,

  // Pulses: a request left the ring; was judged (judged_o) and refused, or accepted (issue_*_o,
  // whoever takes it); was dropped; a transfer retired.
  output logic        pop_o,
  output logic        refuse_o,
  output logic        accept_o,
  output logic [63:0] judged_o,
  output logic        drop_o,
  output logic        retire_o,
  output logic [11:0] retire_tag_o,
  output logic        irq_o,
  output logic        busy_o,
  output logic        idle_o,

  input  logic        reg_we_i,
  input  logic        reg_re_i,
  input  logic [15:0] reg_addr_i,
  input  logic [63:0] reg_wdata_i,
  output logic [63:0] reg_rdata_o
);

  localparam int unsigned RingWidth = $clog2(RingDepth);
  localparam int unsigned LevelWidth = $clog2(RingDepth + 1);
  localparam int unsigned BufferWidth = $clog2(Buffers);
  localparam int unsigned ConnWidth = $clog2(Connections);
  localparam int unsigned SlotWidth = $clog2(Slots);
  localparam int unsigned TagWidth = ConnWidth + SlotWidth;
  localparam int unsigned Tags = 2 ** TagWidth;
  localparam int unsigned ConnCount = 2 ** ConnWidth;  // Ids that ConnWidth bits can tell.

  if (RingDepth < 2 || RingDepth > 32768) begin : gen_bad_depth
    $error("request_ring: RingDepth must be 2..32768");
  end
  if (Buffers < 2 || Buffers > 256) begin : gen_bad_buffers
    $error("request_ring: Buffers must be 2..256");
  end
  if (Connections < 2 || Connections > 16) begin : gen_bad_connections
    $error("request_ring: Connections must be 2..16");
  end
  if (Slots < 2 || Slots > 15) begin : gen_bad_slots
    $error("request_ring: Slots must be 2..15");
  end
  if (NumberWidth < 1 || NumberWidth > 32 || CounterWidth < 1 || CounterWidth > 48) begin : gen_bad_width
    $error("request_ring: NumberWidth must be 1..32 and CounterWidth 1..48");
  end

  // Registers.
  request_ring_regs_pkg::control_t control;
  request_ring_regs_pkg::status_t status;
  request_ring_regs_pkg::irq_enable_t irq_enable;
  request_ring_regs_pkg::connection_config_t connection_config;
  request_ring_regs_pkg::connection_state_t connection_state;
  logic [7:0]  node;
  logic [47:0] replica_address, sc_base;
  logic [15:0] read_address;
  logic        read_pending, clear_we, counter_clear_we, error_we, take_we, done_we;
  logic        connection_config_we, rc_base_we, buffer_base_we, buffer_config_we;
  logic [ConnWidth-1:0] read_conn;
  logic        unused, enable, software, work;  // Work: a transfer waits for software.

  // Tables.
  logic [Connections-1:0]   conn_valid_q;
  logic [Connections*4-1:0] conn_limit_q;
  logic [Connections*8-1:0] conn_node_q;
  logic [47:0] rc_base_q [Connections];
  logic [Buffers-1:0] buffer_valid_q;
  logic [47:0] buffer_base_q [Buffers];
  logic [23:0] source_config_q [Buffers];       // {readable, unit[4:0], units[17:0]}.
  logic [23:0] destination_config_q [Buffers];  // {writable, unit[4:0], units[17:0]}.

  // Ring.
  logic [63:0] ring_q [RingDepth];
  logic [RingWidth-1:0]  ring_write_q, ring_read_q;
  logic [LevelWidth-1:0] level_q;
  logic [CounterWidth-1:0] tail_q, head_q, replica_sent_q;

  // Decode.
  logic        s1_valid_q, s2_valid_q;
  logic [63:0] s1_sr_q, s2_sr_q;
  logic        s2_conn_known_q, s2_source_known_q, s2_destination_known_q;
  logic [7:0]  s2_node_q;
  logic [47:0] s2_source_base_q, s2_destination_base_q;
  logic [23:0] s2_source_config_q, s2_destination_config_q;  // {may be used so, unit, units}.

  // In flight. Slot s of connection c is entry {c, s}; the oldest and count slots from it on are in
  // use.
  logic        issue_q;
  logic [Tags-1:0] taken_q, done_q, failed_q;
  logic [17:0] slot_q [Tags];  // {rc, sc, source id, destination id}.
  logic [ConnCount*4-1:0] oldest_q, next_q, count_q;
  logic [7:0]  in_flight_q;
  logic [Connections-1:0] numbered_q;  // Clear: nothing was retired yet, completed_q is not valid.
  logic [NumberWidth-1:0] completed_q [Connections];
  logic [ConnWidth-1:0] retire_turn_q;

  // Flags of the transfer that was retired last.
  logic        sc_pending_q, rc_pending_q, replica_turn_q;
  logic [7:0]  flag_source_q, flag_destination_q;
  logic [NumberWidth-1:0] flag_number_q;
  logic [47:0] flag_rc_base_q;

  // Errors and counters.
  logic [2:0]  error_q;
  logic [10:0] error_reason_q;
  logic [1:0]  error_kind_q;
  logic [63:0] error_request_q;
  logic [CounterWidth-1:0] refused_q, dropped_q, issued_q, completions_q, failures_q, flags_q,
                           replicas_q;

  always_comb begin
    enable = control.enable;
    software = control.engine;
    work = issue_q && software;
  end
  always_comb begin
    unused = ^read_address;
    status.busy = busy_o;
    status.work = work;
    status.level = 16'(level_q);
    status.in_flight = 16'(in_flight_q);
    connection_config = '0;
    connection_state = '0;
    read_conn = read_address[request_ring_regs_pkg::ConnectionConfigIndexLsb+:ConnWidth];
    if (read_pending) begin
      connection_config.valid = conn_valid_q[read_conn];
      connection_config.limit = conn_limit_q[{read_conn, 2'b0}+:4];
      connection_config.node = conn_node_q[{read_conn, 3'b0}+:8];
      connection_state.in_flight = 8'(count_q[{read_conn, 2'b0}+:4]);
      if (numbered_q[read_conn]) connection_state.completed = 32'(completed_q[read_conn]);
    end
  end
  request_ring_regs #(.Connections(Connections), .Buffers(Buffers)) u_regs (
    .clk_i, .rst_i, .reg_we_i, .reg_re_i, .reg_addr_i, .reg_wdata_i, .reg_rdata_o,
    .read_pending_o(read_pending), .address_o(read_address), .control_o(control),
    .control_engine_lock_i(busy_o), .clear_we_o(clear_we), .counter_clear_we_o(counter_clear_we),
    .status_i(status),
    .limits_i({16'(Slots), 16'(Connections), 16'(Buffers), 16'(RingDepth)}), .node_o(node),
    .replica_address_o(replica_address), .sc_base_o(sc_base), .error_i(error_q),
    .error_we_o(error_we), .irq_enable_o(irq_enable),
    .error_first_i({error_kind_q, error_reason_q}), .error_request_i(error_request_q),
    .tail_i(64'(tail_q)), .head_i(64'(head_q)), .refused_i(64'(refused_q)),
    .dropped_i(64'(dropped_q)), .issued_i(64'(issued_q)), .completed_i(64'(completions_q)),
    .failed_i(64'(failures_q)), .flags_i(64'(flags_q)), .replicas_i(64'(replicas_q)),
    .software_source_i(work ? issue_source_o : '0),
    .software_destination_i(work ? issue_destination_o : '0),
    .software_bytes_i(work ? {1'b1, issue_read_o, issue_tag_o, issue_bytes_o} : '0),
    .software_take_we_o(take_we), .software_done_we_o(done_we),
    .connection_config_i(connection_config), .connection_config_we_o(connection_config_we),
    .connection_rc_base_we_o(rc_base_we), .connection_state_i(connection_state),
    .buffer_base_we_o(buffer_base_we), .buffer_config_we_o(buffer_config_we)
  );

  // R3: what the state alone says of the request in s2.
  logic [10:0] reason;
  logic        bad, known, room, source_node_ok, destination_node_ok;
  logic [17:0] end_units;
  logic [4:0]  unit;
  logic [33:0] offset_bytes, length_bytes;
  logic [ConnWidth-1:0] s2_conn;
  logic [3:0]  s2_limit, s2_count;
  always_comb begin
    s2_conn = s2_sr_q[18+:ConnWidth];
    unit = s2_source_config_q[22:18];
    end_units = {1'b0, s2_sr_q[58:42]} + {1'b0, s2_sr_q[41:25]};
    offset_bytes = {17'b0, s2_sr_q[58:42]} << unit;
    length_bytes = {17'b0, s2_sr_q[41:25]} << unit;
    source_node_ok = s2_source_base_q[47:40] == (s2_sr_q[0] ? node : s2_node_q);
    destination_node_ok = s2_destination_base_q[47:40] == (s2_sr_q[0] ? s2_node_q : node);
    reason[0] = s2_sr_q[1] == s2_sr_q[0];
    reason[1] = s2_sr_q[63:61] != '0;
    reason[2] = !s2_conn_known_q;
    reason[3] = !s2_source_known_q;
    reason[4] = !s2_destination_known_q;
    reason[8] = s2_sr_q[41:25] == '0;
    known = !reason[0] && !reason[2] && !reason[3] && !reason[4];
    reason[5] = known && (!s2_source_config_q[23] || !s2_destination_config_q[23]);
    reason[6] = known && (!source_node_ok || !destination_node_ok);
    reason[7] = known && (unit != s2_destination_config_q[22:18] || unit > 5'd17);
    reason[9] = known && end_units > s2_source_config_q[17:0];
    reason[10] = known && end_units > s2_destination_config_q[17:0];
    bad = reason != '0;
    // R4: the bound of its connection.
    s2_limit = conn_limit_q[{s2_conn, 2'b0}+:4];
    if (s2_limit == '0 || s2_limit > 4'(Slots)) s2_limit = 4'(Slots);
    s2_count = count_q[{s2_conn, 2'b0}+:4];
    room = s2_count < s2_limit;
  end

  // R6: connections whose oldest transfer is done.
  logic [ConnCount-1:0] candidate;
  logic                 retire_any;
  logic [ConnWidth-1:0] retire_conn;
  logic [3:0]           retire_slot;
  always_comb begin
    for (int unsigned c = 0; c < ConnCount; c++) begin
      candidate[c] = c < Connections && done_q[TagWidth'(c * 2 ** SlotWidth) |
          TagWidth'(oldest_q[c*4+:4])];
    end
    retire_slot = oldest_q[{retire_conn, 2'b0}+:4];
  end
  rr_arbiter #(.N(ConnCount)) u_retire_arbiter (
    .request_i(candidate), .turn_i(retire_turn_q), .valid_o(retire_any), .index_o(retire_conn)
  );

  // R8: what the outside sees of the state.
  logic flag_pending, replica_due;
  logic [CounterWidth-1:0] behind;
  always_comb begin
    flag_pending = sc_pending_q || rc_pending_q;
    behind = head_q - replica_sent_q;
    replica_due = control.replica && behind != '0 && (level_q == '0 || 48'(behind) >= 48'(control.batch));
    busy_o = s1_valid_q || s2_valid_q || in_flight_q != '0 || flag_pending || write_valid_o ||
        replica_due;
    issue_valid_o = issue_q && !software;
    irq_o = (error_q & irq_enable.errors) != '0 || (work && irq_enable.work);
    idle_o = !(s2_valid_q && (bad || (room && !issue_q))) && !(s1_valid_q && !s2_valid_q) &&
        !(enable && level_q != '0 && !s1_valid_q) && !issue_valid_o && !write_valid_o &&
        !flag_pending && !replica_due && !retire_any && !pop_o && !refuse_o && !accept_o &&
        !drop_o && !retire_o &&
        !read_pending;
  end

  always_ff @(posedge clk_i) begin : state
    logic clear, push, drop, pop, s1_leave, s2_leave, issue_taken, issue_free, load;
    logic write_free, write_replica, write_flag, flag_free, retire, failed;
    logic done_ok, software_done_ok;
    logic [2:0] error_left, error_new;
    logic [TagWidth-1:0] retire_tag, load_tag, done_tag, software_tag;
    logic [3:0]  load_slot;
    logic [NumberWidth-1:0] number;
    logic [17:0] slot;
    logic [ConnWidth-1:0] conn;
    logic [BufferWidth-1:0] buffer;
    logic [22:0] size;

    clear = clear_we && !busy_o;

    // Who moves.
    issue_taken = issue_q && (software ? take_we : issue_ready_i);
    issue_free = !issue_q || issue_taken;
    load = s2_valid_q && !bad && room && issue_free;
    s2_leave = load || (s2_valid_q && bad);
    s1_leave = s1_valid_q && (!s2_valid_q || s2_leave);
    pop = enable && level_q != '0 && (!s1_valid_q || s1_leave) && !clear;
    push = sr_valid_i && enable && level_q != LevelWidth'(RingDepth) && !clear;
    drop = sr_valid_i && !push;
    write_free = !write_valid_o || write_ready_i;
    write_replica = write_free && replica_due && (!flag_pending || replica_turn_q);
    write_flag = write_free && flag_pending && !write_replica;
    flag_free = !flag_pending || (write_flag && !(sc_pending_q && rc_pending_q));
    retire = retire_any && flag_free;
    retire_tag = {retire_conn, SlotWidth'(retire_slot)};
    failed = retire && failed_q[retire_tag];
    slot = slot_q[retire_tag];
    number = (numbered_q[retire_conn] ? completed_q[retire_conn] : '0) + 1'b1;

    // R1, R2: the ring.
    if (push) begin
      ring_q[ring_write_q] <= sr_data_i;
      ring_write_q <= ring_write_q == RingWidth'(RingDepth - 1) ? '0 : ring_write_q + 1'b1;
      tail_q <= tail_q + 1'b1;
    end
    if (pop) begin
      s1_sr_q <= ring_q[ring_read_q];
      ring_read_q <= ring_read_q == RingWidth'(RingDepth - 1) ? '0 : ring_read_q + 1'b1;
      head_q <= head_q + 1'b1;
    end
    level_q <= level_q + LevelWidth'(push) - LevelWidth'(pop);
    pop_o <= pop;
    drop_o <= drop;
    s1_valid_q <= pop || (s1_valid_q && !s1_leave);

    // R3: tables.
    if (s1_leave) begin
      s2_sr_q <= s1_sr_q;
      s2_conn_known_q <= s1_sr_q[24:18] < 7'(Connections) && conn_valid_q[s1_sr_q[18+:ConnWidth]];
      s2_node_q <= conn_node_q[{s1_sr_q[18+:ConnWidth], 3'b0}+:8];
      s2_source_known_q <= 9'(s1_sr_q[17:10]) < 9'(Buffers) &&
          buffer_valid_q[s1_sr_q[10+:BufferWidth]];
      s2_source_base_q <= buffer_base_q[s1_sr_q[10+:BufferWidth]];
      s2_source_config_q <= source_config_q[s1_sr_q[10+:BufferWidth]];
      s2_destination_known_q <= 9'(s1_sr_q[9:2]) < 9'(Buffers) &&
          buffer_valid_q[s1_sr_q[2+:BufferWidth]];
      s2_destination_base_q <= buffer_base_q[s1_sr_q[2+:BufferWidth]];
      s2_destination_config_q <= destination_config_q[s1_sr_q[2+:BufferWidth]];
    end
    s2_valid_q <= s1_leave || (s2_valid_q && !s2_leave);
    refuse_o <= s2_valid_q && bad;
    accept_o <= load;
    if (s2_leave) judged_o <= s2_sr_q;

    // R4, R5: issue into the next slot of the connection.
    load_slot = next_q[{s2_conn, 2'b0}+:4];
    load_tag = {s2_conn, SlotWidth'(load_slot)};
    issue_q <= load || (issue_q && !issue_taken);
    if (issue_taken) taken_q[{issue_tag_o[4+:ConnWidth], issue_tag_o[0+:SlotWidth]}] <= 1'b1;
    if (load) begin
      issue_tag_o <= {8'(s2_conn), load_slot};
      issue_read_o <= s2_sr_q[1];
      issue_source_o <= s2_source_base_q + {14'b0, offset_bytes};
      issue_destination_o <= s2_destination_base_q + {14'b0, offset_bytes};
      issue_bytes_o <= length_bytes;
      slot_q[load_tag] <= {s2_sr_q[60:59], s2_sr_q[17:2]};
      next_q[{s2_conn, 2'b0}+:4] <= load_slot == 4'(Slots - 1) ? '0 : load_slot + 4'd1;
    end
    if (load && !(retire && retire_conn == s2_conn)) begin
      count_q[{s2_conn, 2'b0}+:4] <= s2_count + 4'd1;
    end
    if (retire && !(load && retire_conn == s2_conn)) begin
      count_q[{retire_conn, 2'b0}+:4] <= count_q[{retire_conn, 2'b0}+:4] - 4'd1;
    end
    in_flight_q <= in_flight_q + 8'(load) - 8'(retire);

    // Completions; tags that are not in flight are ignored.
    done_tag = {done_tag_i[4+:ConnWidth], done_tag_i[0+:SlotWidth]};
    done_ok = done_valid_i && done_tag_i[11:4] < 8'(Connections) && done_tag_i[3:0] < 4'(Slots) &&
        taken_q[done_tag] && !done_q[done_tag];
    software_tag = {reg_wdata_i[4+:ConnWidth], reg_wdata_i[0+:SlotWidth]};
    software_done_ok = done_we && reg_wdata_i[11:4] < 8'(Connections) &&
        reg_wdata_i[3:0] < 4'(Slots) && taken_q[software_tag] && !done_q[software_tag];
    if (done_ok) begin
      done_q[done_tag] <= 1'b1;
      failed_q[done_tag] <= done_failed_i;
    end
    if (software_done_ok) begin
      done_q[software_tag] <= 1'b1;
      failed_q[software_tag] <= reg_wdata_i[request_ring_regs_pkg::SoftwareDoneFailedLsb];
    end

    // R6: retirement in the order of the connection.
    retire_o <= retire;
    if (retire) begin
      taken_q[retire_tag] <= 1'b0;
      done_q[retire_tag] <= 1'b0;
      oldest_q[{retire_conn, 2'b0}+:4] <= retire_slot == 4'(Slots - 1) ? '0 : retire_slot + 4'd1;
      retire_turn_q <= retire_conn + 1'b1;
      numbered_q[retire_conn] <= 1'b1;
      completed_q[retire_conn] <= number;
      retire_tag_o <= {8'(retire_conn), retire_slot};
      flag_source_q <= slot[15:8];
      flag_destination_q <= slot[7:0];
      flag_number_q <= number;
      flag_rc_base_q <= rc_base_q[retire_conn];
    end
    sc_pending_q <= retire ? slot[16] && !failed : sc_pending_q && !write_flag;
    rc_pending_q <= retire ? slot[17] && !failed : rc_pending_q && !(write_flag && !sc_pending_q);

    // R5, R7: flags and replica.
    if (write_free) write_valid_o <= write_flag || write_replica;
    if (write_replica) begin
      write_kind_o <= 2'd0;
      write_tag_o <= '0;
      write_address_o <= replica_address;
      write_data_o <= 64'(head_q);
      replica_sent_q <= head_q;
    end
    if (write_flag) begin
      write_kind_o <= sc_pending_q ? 2'd1 : 2'd2;
      write_tag_o <= retire_tag_o;
      write_address_o <= sc_pending_q ? sc_base + {37'b0, flag_source_q, 3'b0}
                                      : flag_rc_base_q + {37'b0, flag_destination_q, 3'b0};
      write_data_o <= 64'(flag_number_q);
    end
    if (write_flag || write_replica) replica_turn_q <= write_flag;

    // R9: errors.
    error_new = {failed, drop, s2_valid_q && bad};
    error_left = error_we ? error_q & ~reg_wdata_i[2:0] : error_q;
    error_q <= error_left | error_new;
    if (error_left == '0 && error_new != '0) begin
      error_reason_q <= error_new[0] ? reason : '0;
      error_kind_q <= error_new[0] ? 2'd0 : error_new[1] ? 2'd1 : 2'd2;
      error_request_q <= error_new[0] ? s2_sr_q : error_new[1] ? sr_data_i
          : {3'b0, slot[17:16], 34'b0, 7'(retire_conn), slot[15:0], 2'b0};
    end

    // Counters.
    if (s2_valid_q && bad) refused_q <= refused_q + 1'b1;
    if (drop) dropped_q <= dropped_q + 1'b1;
    if (issue_taken) issued_q <= issued_q + 1'b1;
    if (retire) completions_q <= completions_q + 1'b1;
    if (failed) failures_q <= failures_q + 1'b1;
    if (write_flag) flags_q <= flags_q + 1'b1;
    if (write_replica) replicas_q <= replicas_q + 1'b1;

    if (clear) begin
      ring_write_q <= '0;
      ring_read_q <= '0;
      level_q <= '0;
      tail_q <= '0;
      head_q <= '0;
      replica_sent_q <= '0;
      numbered_q <= '0;
    end

    // Register writes beside what the register file stores.
    if (counter_clear_we) begin
      refused_q <= '0;
      dropped_q <= '0;
      issued_q <= '0;
      completions_q <= '0;
      failures_q <= '0;
      flags_q <= '0;
      replicas_q <= '0;
    end
    conn = reg_addr_i[request_ring_regs_pkg::ConnectionConfigIndexLsb+:ConnWidth];
    if (connection_config_we) begin
      conn_valid_q[conn] <= reg_wdata_i[request_ring_regs_pkg::ConnectionConfigValidLsb];
      conn_limit_q[{conn, 2'b0}+:4] <=
          reg_wdata_i[request_ring_regs_pkg::ConnectionConfigLimitLsb+:4];
      conn_node_q[{conn, 3'b0}+:8] <=
          reg_wdata_i[request_ring_regs_pkg::ConnectionConfigNodeLsb+:8];
    end
    if (rc_base_we) rc_base_q[conn] <= reg_wdata_i[47:0];
    buffer = reg_addr_i[request_ring_regs_pkg::BufferBaseIndexLsb+:BufferWidth];
    if (buffer_base_we) buffer_base_q[buffer] <= reg_wdata_i[47:0];
    if (buffer_config_we) begin
      buffer_valid_q[buffer] <= reg_wdata_i[request_ring_regs_pkg::BufferConfigValidLsb];
      size = {reg_wdata_i[request_ring_regs_pkg::BufferConfigUnitLsb+:5],
              reg_wdata_i[request_ring_regs_pkg::BufferConfigUnitsLsb+:18]};
      source_config_q[buffer] <=
          {reg_wdata_i[request_ring_regs_pkg::BufferConfigReadableLsb], size};
      destination_config_q[buffer] <=
          {reg_wdata_i[request_ring_regs_pkg::BufferConfigWritableLsb], size};
    end

    if (rst_i) begin
      conn_valid_q <= '0;
      conn_limit_q <= '0;
      conn_node_q <= '0;
      buffer_valid_q <= '0;
      ring_write_q <= '0;
      ring_read_q <= '0;
      level_q <= '0;
      tail_q <= '0;
      head_q <= '0;
      replica_sent_q <= '0;
      s1_valid_q <= 1'b0;
      s2_valid_q <= 1'b0;
      issue_q <= 1'b0;
      taken_q <= '0;
      done_q <= '0;
      failed_q <= '0;
      oldest_q <= '0;
      next_q <= '0;
      count_q <= '0;
      in_flight_q <= '0;
      numbered_q <= '0;
      retire_turn_q <= '0;
      sc_pending_q <= 1'b0;
      rc_pending_q <= 1'b0;
      replica_turn_q <= 1'b0;
      error_q <= '0;
      error_reason_q <= '0;
      error_kind_q <= '0;
      error_request_q <= '0;
      refused_q <= '0;
      dropped_q <= '0;
      issued_q <= '0;
      completions_q <= '0;
      failures_q <= '0;
      flags_q <= '0;
      replicas_q <= '0;
      issue_tag_o <= '0;
      issue_read_o <= 1'b0;
      issue_source_o <= '0;
      issue_destination_o <= '0;
      issue_bytes_o <= '0;
      write_valid_o <= 1'b0;
      write_kind_o <= '0;
      write_tag_o <= '0;
      write_address_o <= '0;
      write_data_o <= '0;
      pop_o <= 1'b0;
      refuse_o <= 1'b0;
      accept_o <= 1'b0;
      judged_o <= '0;
      drop_o <= 1'b0;
      retire_o <= 1'b0;
      retire_tag_o <= '0;
    end
  end

endmodule
