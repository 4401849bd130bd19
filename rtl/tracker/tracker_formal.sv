// SPDX-License-Identifier: Apache-2.0
// A bank of the Tracker beside the properties of a tile, with the configuration and the memory
// around it; or (Whole) a small Tracker beside the properties of its ports. One at a time: the
// banks are most of the work of yosys. What no port shows is asserted here.
module tracker_formal #(
  parameter bit Whole = 1'b0,
  parameter int unsigned Ways = 2,
  parameter int unsigned Rows = 2,
  parameter int unsigned HighWidth = 1,
  parameter int unsigned WfWidth = 1,
  parameter int unsigned UpdateWidth = 2,
  parameter int unsigned CounterWidth = 3,
  parameter int unsigned AddressWidth = 2,
  parameter int unsigned QueueDepth = 2,
  parameter int unsigned WaitingDepth = 2,
  parameter int unsigned Entries = 2,
  parameter int unsigned TriggerDepth = 2,
  parameter int unsigned Along = 3,
  // An update every so many clocks, 1 to the rows in turn or 2 to any, of tiles that have room.
  parameter int unsigned Stream = 0,
  parameter bit Hold = 1'b0  // A second bank, which may stop while the first is idle.
) (
  input logic clk_i,
  input logic rst_i
);

  localparam int unsigned RowWidth = $clog2(Rows);
  localparam int unsigned WgWidth = HighWidth + RowWidth;
  localparam int unsigned IdWidth = WgWidth + 2;
  localparam int unsigned KeyWidth = WgWidth + WfWidth;
  localparam int unsigned Keys = 2 ** KeyWidth;
  localparam int unsigned EntryWidth = CounterWidth + AddressWidth;
  localparam int unsigned StatisticWidth = 2;
  localparam int unsigned Classes = 4 * 2 ** WfWidth;  // Thresholds {class, wf}.

  // Always true, but not to yosys, which removes an assertion of a constant: the run wants to see
  // every assertion in every row, and merges equal ones. What a row has not is `absent`.
  (* anyconst *) logic [25:0] absent;
  always_comb m_absent: assume (&absent);

  // --------------------------------------------------------------------------- what firmware
  // programs
  (* anyconst *) logic [1:0]         bank_i;
  (* anyconst *) logic [IdWidth:0]   any_total, any_untracked_count;
  (* anyconst *) logic [IdWidth-1:0] any_last_strip, any_untracked_first;
  (* anyconst *) logic [3:0]         any_ways;
  (* anyconst *) logic               any_enable;
  (* anyconst *) logic [1:0]         any_width;
  (* anyconst *) logic [Classes*CounterWidth-1:0] any_threshold;
  tracker_regs_pkg::control_t control_i;
  tracker_regs_pkg::tiles_t tiles_i;
  tracker_regs_pkg::strips_t strips_i;
  tracker_regs_pkg::untracked_t untracked_i;
  logic [511:0] thresholds_i;
  logic thresholds_fit;
  always_comb begin
    thresholds_i = '0;
    control_i.enable = any_enable;
    control_i.ways = any_ways;
    tiles_i.total = 17'(any_total);
    tiles_i.last_strip = 16'(any_last_strip);
    strips_i.along = 16'(Along);
    strips_i.width = any_width;
    strips_i.reciprocal = 25'((2 ** 24 + Along - 1) / Along);
    untracked_i.first = 16'(any_untracked_first);
    untracked_i.count = 17'(any_untracked_count);
    thresholds_fit = 1'b1;
    for (int unsigned i = 0; i < Classes; i++) begin
      thresholds_i[i*16+:16] = 16'(any_threshold[i*CounterWidth+:CounterWidth]);
      if (any_threshold[i*CounterWidth+:CounterWidth] > CounterWidth'(2 ** (CounterWidth - 1)))
        thresholds_fit = 1'b0;
    end
    m_ways: assume (any_ways >= 4'd1 && any_ways <= 4'(Ways));
    m_total: assume (any_total >= (IdWidth+1)'(1) && any_total <= (IdWidth+1)'(2 ** IdWidth));
    m_untracked: assume ({1'b0, any_untracked_first} < any_total &&
                         any_untracked_count <= any_total);
    m_thresholds: assume (thresholds_fit);
  end

  // The followed tile: class by row and column, tracked or not.
  (* anyconst *) logic [KeyWidth-1:0] formal_key_i;
  logic [IdWidth-1:0]      f_id;
  logic [IdWidth:0]        f_offset;
  logic [1:0]              formal_class_i;
  logic [CounterWidth-1:0] formal_threshold_i;
  logic                    formal_tracked_i, formal_accepted_i;
  always_comb begin
    f_id = {formal_key_i[KeyWidth-1:WfWidth], bank_i};
    // Across: the number of the tile in its step; a step has 2 ** width tiles.
    formal_class_i = {f_id >= any_last_strip &&
            ((f_id + IdWidth'(1)) & IdWidth'((16'd1 << any_width) - 16'd1)) == '0,
        (f_id >> any_width) % IdWidth'(Along) == IdWidth'(Along - 1)};
    formal_threshold_i =
        any_threshold[{formal_class_i, formal_key_i[WfWidth-1:0]}*CounterWidth+:CounterWidth];
    f_offset = f_id >= any_untracked_first ? {1'b0, f_id} - {1'b0, any_untracked_first}
        : {1'b0, f_id} + any_total - {1'b0, any_untracked_first};
    formal_accepted_i = any_enable && {1'b0, f_id} < any_total && f_offset >= any_untracked_count;
    formal_tracked_i = formal_accepted_i && formal_threshold_i != '0;
  end

  // --------------------------------------------------------------------------------------- one
  // bank
  (* anyseq *) logic                    update_valid_i, trigger_taken, request_taken;
  (* anyseq *) logic                    response_valid_i, response_write_i, stops;
  (* anyseq *) logic [WgWidth-1:0]      update_wg_i, response_wg_i;
  (* anyseq *) logic [WfWidth-1:0]      update_wf_i, response_wf_i;
  (* anyseq *) logic [UpdateWidth-1:0]  update_count_i;
  (* anyseq *) logic [AddressWidth-1:0] update_address_i;
  (* anyseq *) logic [EntryWidth-1:0]   response_data_i;
  logic                    update_ready_o, trigger_valid_o, request_valid_o, request_write_o;
  logic                    trigger_take_i, request_take_i, idle_o, busy_o;
  logic [WgWidth-1:0]      trigger_wg_o, request_wg_o;
  logic [WfWidth-1:0]      trigger_wf_o, request_wf_o;
  logic [AddressWidth-1:0] trigger_address_o;
  logic [EntryWidth-1:0]   request_data_o;
  logic [CounterWidth-1:0] formal_count_i;
  logic [AddressWidth-1:0] formal_lowest_i;
  logic                    formal_done_i, formal_read_i, formal_write_i, formal_found_i;
  logic [EntryWidth-1:0]   formal_entry_i;
  logic [7:0]              formal_owed_i;
  logic [StatisticWidth-1:0] formal_taken_i;
  logic [Keys-1:0]         formal_spilled_i, formal_reading_i, formal_writing_i;
  logic [1:0]              formal_stream_i;
  logic [RowWidth-1:0]     formal_stream_row_i;
  logic                    formal_stream_now_i;
  logic [9:0]              formal_books_o;
  logic                    formal_stream_o;
  logic [15:0]             formal_rank_o;
  logic                    formal_full_o, formal_oldest_o, formal_next_o, formal_reads_o;
  logic                    formal_refill_first_o, formal_waiting_next_o, formal_not_counted_o;
  logic                    hold, same;  // The second bank stands still; both banks show the same.
  assign trigger_take_i = trigger_valid_o && trigger_taken;
  assign request_take_i = request_valid_o && request_taken;
  if (Whole) begin : gen_no_bank
    assign update_ready_o = absent[12];
    assign trigger_valid_o = !absent[12];
    assign trigger_wg_o = '0;
    assign trigger_wf_o = '0;
    assign trigger_address_o = '0;
    assign request_valid_o = !absent[12];
    assign request_write_o = !absent[12];
    assign request_wg_o = '0;
    assign request_wf_o = '0;
    assign request_data_o = '0;
    assign idle_o = absent[10];
    assign busy_o = !absent[11];
    assign formal_books_o = absent[25:16];
    assign formal_stream_o = absent[2];
    assign formal_rank_o = '0;
    assign {formal_full_o, formal_oldest_o, formal_next_o, formal_reads_o} = absent[6:3];
    assign {formal_refill_first_o, formal_waiting_next_o, formal_not_counted_o} = absent[9:7];
  end else begin : gen_bank
    tracker_bank #(
      .Ways(Ways), .Rows(Rows), .HighWidth(HighWidth), .WfWidth(WfWidth), .UpdateWidth(UpdateWidth),
      .CounterWidth(CounterWidth), .AddressWidth(AddressWidth), .QueueDepth(QueueDepth),
      .WaitingDepth(WaitingDepth), .Entries(Entries), .TriggerDepth(TriggerDepth),
      .StatisticWidth(StatisticWidth)
    ) u_tracker (
      .counter_clear_i(rst_i), .counter_read_i(1'b0), .counter_select_i(3'd0), .counter_o(),
      .grew_o(), .live_o(), .outstanding_o(), .*
    );
  end

  logic [KeyWidth-1:0] update_key, trigger_key, request_key, response_key;
  logic                taken;
  always_comb begin
    update_key = {update_wg_i, update_wf_i};
    trigger_key = {trigger_wg_o, trigger_wf_o};
    request_key = {request_wg_o, request_wf_o};
    response_key = {response_wg_i, response_wf_i};
    taken = update_valid_i && update_ready_o;
  end
  tracker_tile_props #(
    .UpdateWidth(UpdateWidth), .CounterWidth(CounterWidth), .AddressWidth(AddressWidth)
  ) u_tile (
    .clk_i, .rst_i, .threshold_i(formal_threshold_i), .tracked_i(formal_tracked_i),
    .update_i(taken && update_key == formal_key_i), .update_count_i, .update_address_i,
    .trigger_i(trigger_take_i && trigger_key == formal_key_i),
    .trigger_address_i(trigger_address_o),
    .request_i(request_take_i && request_key == formal_key_i),
    .request_write_i(request_write_o), .request_data_i(request_data_o),
    .response_i(response_valid_i && response_key == formal_key_i), .response_write_i,
    .response_data_i, .refused_i(!update_ready_o), .trigger_valid_i(trigger_valid_o),
    .request_valid_i(request_valid_o), .request_taken_i(request_take_i), .response_valid_i,
    .idle_i(idle_o), .books_count_o(formal_count_i), .books_lowest_o(formal_lowest_i),
    .books_done_o(formal_done_i), .books_read_o(formal_read_i), .books_write_o(formal_write_i),
    .books_found_o(formal_found_i), .books_entry_o(formal_entry_i), .books_owed_o(formal_owed_i)
  );

  // The memory: which entries are valid and which transactions are outstanding, of all tiles; the
  // content of the followed one is the properties' business.
  always_comb begin
    m_answers: assume (!response_valid_i ||
        (response_write_i ? formal_writing_i[response_key] : formal_reading_i[response_key]));
    m_found: assume (!response_valid_i || response_write_i ||
        response_data_i[EntryWidth-1] == formal_spilled_i[response_key]);
    // A row has room for all tiles with the same high bits.
    formal_stream_i = 2'(Stream);
    m_stream: assume (Stream == 0 || (trigger_taken && update_valid_i == formal_stream_now_i &&
        any_ways == 4'(2 ** WfWidth) && update_wg_i[WgWidth-1:RowWidth] == '0 &&
        (Stream == 2 || update_wg_i[RowWidth-1:0] == formal_stream_row_i)));
  end
  always_ff @(posedge clk_i) begin
    formal_stream_row_i <= formal_stream_row_i + RowWidth'(1);
    formal_stream_now_i <= Stream == 1 || !formal_stream_now_i;
    if (taken) formal_taken_i <= formal_taken_i + StatisticWidth'(1);
    if (response_valid_i && response_write_i) formal_writing_i[response_key] <= 1'b0;
    if (response_valid_i && !response_write_i) formal_reading_i[response_key] <= 1'b0;
    if (request_take_i) begin
      if (request_write_o) begin
        formal_writing_i[request_key] <= 1'b1;
        formal_spilled_i[request_key] <= request_data_o[EntryWidth-1];
      end else begin
        formal_reading_i[request_key] <= 1'b1;
      end
    end
    if (rst_i) begin
      formal_stream_row_i <= '0;
      formal_stream_now_i <= 1'b1;
      formal_taken_i <= '0;
      formal_spilled_i <= '0;
      formal_reading_i <= '0;
      formal_writing_i <= '0;
    end
  end

  // The clock before.
  logic        quiet_q;  // Nothing came in, what was offered was taken, and the bank was not idle.
  logic        live_q = 1'b0;
  logic [15:0] rank_q;
  always_ff @(posedge clk_i) begin
    live_q <= !rst_i;
    quiet_q <= !idle_o && !taken && !response_valid_i && trigger_take_i == trigger_valid_o &&
        request_take_i == request_valid_o;
    rank_q <= formal_rank_o;
  end
  always_comb begin
    // T3: all that was taken is in one place, with its count and address: the books of
    // tracker_bank_formal.svh, from which the rest follows.
    a_t3_book_sizes: assert (formal_books_o[0]);
    a_t3_book_entries: assert (formal_books_o[1]);
    a_t3_book_memory: assert (formal_books_o[2]);
    a_t3_book_rows: assert (formal_books_o[3]);
    a_t3_book_pipeline: assert (formal_books_o[4]);
    a_t3_book_tile: assert (formal_books_o[5]);
    a_t3_book_class: assert (formal_books_o[6]);
    a_t3_book_untracked: assert (formal_books_o[7]);
    a_t3_book_statistics: assert (formal_books_o[8]);
    a_t3_book_lowest: assert (formal_books_o[9]);
    a_t3_book_stream: assert (Stream == 0 ? absent[2] : formal_stream_o);
    // T3: a stream of updates to different rows is taken at one a clock, to any row at one every
    // two.
    a_t3_rate: assert (Stream == 0 ? absent[0] : update_ready_o || !update_valid_i);
    // T4: the victim, the order of allocation, and that an entry is looked for when there is any.
    a_t4_full: assert (formal_full_o);
    a_t4_oldest: assert (formal_oldest_o);
    a_t4_next: assert (formal_next_o);
    a_t4_reads: assert (formal_reads_o);
    // T5: refills go before updates that waited, these before new ones.
    a_t5_refill_first: assert (formal_refill_first_o);
    a_t5_waiting_next: assert (formal_waiting_next_o);
    // T7: whatever is inside, the bank comes to rest (each such clock brings it closer), and when
    // it rests with updates inside, memory owes an answer.
    a_t7_rests: assert (!live_q || !quiet_q || formal_rank_o < rank_q);
    a_t7_owed: assert (!idle_o || !busy_o || formal_owed_i != '0);
    // T8: `status.busy` is 0 only when nothing is on its way or outstanding.
    a_t8_busy: assert (busy_o || (idle_o && formal_owed_i == '0 &&
                                           formal_reading_i == '0 && formal_writing_i == '0));
    // T9: an update of a tile that is not tracked is not counted.
    a_t9_not_counted: assert (!live_q || formal_tracked_i || formal_not_counted_o);
  end

  // T8, sleeping: a bank that stops while it is idle and nothing comes shows the same for ever.
  if (Hold) begin : gen_hold
    logic hold_update_ready, hold_trigger_valid, hold_request_valid, hold_request_write, hold_idle;
    logic hold_busy;
    logic [WgWidth-1:0]      hold_trigger_wg, hold_request_wg;
    logic [WfWidth-1:0]      hold_trigger_wf, hold_request_wf;
    logic [AddressWidth-1:0] hold_trigger_address;
    logic [EntryWidth-1:0]   hold_request_data;
    tracker_bank #(
      .Ways(Ways), .Rows(Rows), .HighWidth(HighWidth), .WfWidth(WfWidth), .UpdateWidth(UpdateWidth),
      .CounterWidth(CounterWidth), .AddressWidth(AddressWidth), .QueueDepth(QueueDepth),
      .WaitingDepth(WaitingDepth), .Entries(Entries), .TriggerDepth(TriggerDepth),
      .StatisticWidth(StatisticWidth)
    ) u_hold (
      .counter_clear_i(rst_i), .counter_read_i(1'b0), .counter_select_i(3'd0), .counter_o(),
      .grew_o(), .live_o(), .outstanding_o(), .update_ready_o(hold_update_ready),
      .trigger_valid_o(hold_trigger_valid), .trigger_wg_o(hold_trigger_wg),
      .trigger_wf_o(hold_trigger_wf), .trigger_address_o(hold_trigger_address),
      .request_valid_o(hold_request_valid), .request_write_o(hold_request_write),
      .request_wg_o(hold_request_wg), .request_wf_o(hold_request_wf),
      .request_data_o(hold_request_data), .idle_o(hold_idle), .busy_o(hold_busy),
      .formal_books_o(), .formal_stream_o(), .formal_rank_o(), .formal_full_o(),
      .formal_oldest_o(), .formal_next_o(), .formal_reads_o(), .formal_refill_first_o(),
      .formal_waiting_next_o(), .formal_not_counted_o(), .*
    );
    assign hold = stops && idle_o && !update_valid_i && !response_valid_i && !rst_i;
    assign same = hold_update_ready == update_ready_o && hold_trigger_valid == trigger_valid_o &&
        hold_request_valid == request_valid_o && hold_idle == idle_o && hold_busy == busy_o &&
        (!trigger_valid_o || {hold_trigger_wg, hold_trigger_wf, hold_trigger_address} ==
                             {trigger_wg_o, trigger_wf_o, trigger_address_o}) &&
        (!request_valid_o || {hold_request_write, hold_request_wg, hold_request_wf,
                              hold_request_data} ==
                             {request_write_o, request_wg_o, request_wf_o, request_data_o});
  end else begin : gen_no_hold
    assign hold = 1'b0;
    assign same = absent[1];
  end
  always_comb a_t8_bank_sleeps: assert (same);

  // ---------------------------------------------------------------------------- the whole Tracker
  (* anyseq *) logic [3:0]                 any_update_valid;
  (* anyseq *) logic [4*IdWidth-1:0]       any_update_wg;
  (* anyseq *) logic [4*WfWidth-1:0]       any_update_wf;
  (* anyseq *) logic [4*UpdateWidth-1:0]   any_update_count;
  (* anyseq *) logic [4*AddressWidth-1:0]  any_update_address;
  (* anyseq *) logic                       any_trigger_ready, any_request_ready;
  (* anyseq *) logic                       any_response_valid, any_response_write;
  (* anyseq *) logic [IdWidth+WfWidth-1:0] any_response_index;
  (* anyseq *) logic [EntryWidth-1:0]      any_response_data;
  (* anyseq *) logic                       any_we, any_re;
  (* anyseq *) logic [15:0]                any_addr;
  (* anyseq *) logic [63:0]                any_wdata;
  (* anyconst *) logic [1:0]               k;  // The bank that is looked at.
  logic                       w_trigger_valid, w_trigger_event, w_request_valid, w_request_write;
  logic                       w_idle;
  logic [IdWidth-1:0]         w_trigger_wg;
  logic [WfWidth-1:0]         w_trigger_wf;
  logic [AddressWidth-1:0]    w_trigger_address;
  logic [IdWidth+WfWidth-1:0] w_request_index;
  logic [EntryWidth-1:0]      w_request_data;
  logic [63:0]                w_rdata;
  logic [3:0]                 w_trigger_take, w_request_take;
  logic [4*(KeyWidth+AddressWidth)-1:0] w_trigger;
  logic [4*(KeyWidth+EntryWidth+1)-1:0] w_request;
  logic [3:0]                 w_bank_idle, w_bank_offers;
  if (Whole) begin : gen_whole
    (* inside = "gen_whole.u_whole.bank_idle" *) logic [3:0] bank_idle;
    (* inside = "gen_whole.u_whole.trigger_valid" *) logic [3:0] trigger_valid;
    (* inside = "gen_whole.u_whole.request_valid" *) logic [3:0] request_valid;
    assign w_bank_idle = bank_idle;
    assign w_bank_offers = trigger_valid | request_valid;
    tracker #(
      .Ways(Ways), .Rows(Rows), .HighWidth(HighWidth), .WfWidth(WfWidth), .UpdateWidth(UpdateWidth),
      .CounterWidth(CounterWidth), .AddressWidth(AddressWidth), .QueueDepth(QueueDepth),
      .WaitingDepth(WaitingDepth), .Entries(Entries), .TriggerDepth(TriggerDepth),
      .StatisticWidth(StatisticWidth)
    ) u_whole (
      .clk_i, .rst_i, .update_valid_i(any_update_valid), .update_ready_o(),
      .update_wg_id_i(any_update_wg), .update_wf_id_i(any_update_wf),
      .update_count_i(any_update_count), .update_address_i(any_update_address),
      .trigger_valid_o(w_trigger_valid), .trigger_ready_i(any_trigger_ready),
      .trigger_event_o(w_trigger_event), .trigger_wg_id_o(w_trigger_wg),
      .trigger_wf_id_o(w_trigger_wf), .trigger_address_o(w_trigger_address),
      .spill_req_valid_o(w_request_valid), .spill_req_ready_i(any_request_ready),
      .spill_req_write_o(w_request_write), .spill_req_index_o(w_request_index),
      .spill_req_data_o(w_request_data), .spill_rsp_valid_i(any_response_valid),
      .spill_rsp_write_i(any_response_write), .spill_rsp_index_i(any_response_index),
      .spill_rsp_data_i(any_response_data), .formal_trigger_take_o(w_trigger_take),
      .formal_trigger_o(w_trigger), .formal_request_take_o(w_request_take),
      .formal_request_o(w_request), .idle_o(w_idle), .reg_we_i(any_we), .reg_re_i(any_re),
      .reg_addr_i(any_addr), .reg_wdata_i(any_wdata), .reg_rdata_o(w_rdata)
    );
  end else begin : gen_nothing
    assign w_trigger_valid = !absent[12];
    assign w_trigger_event = !absent[12];
    assign w_request_valid = !absent[12];
    assign w_request_write = !absent[12];
    assign w_idle = !absent[12];
    assign w_trigger_wg = {$bits(w_trigger_wg){!absent[13]}};
    assign w_trigger_wf = {$bits(w_trigger_wf){!absent[13]}};
    assign w_trigger_address = {$bits(w_trigger_address){!absent[13]}};
    assign w_request_index = {$bits(w_request_index){!absent[13]}};
    assign w_request_data = {$bits(w_request_data){!absent[13]}};
    assign w_rdata = {$bits(w_rdata){!absent[13]}};
    assign w_trigger_take = {$bits(w_trigger_take){!absent[13]}};
    assign w_trigger = {$bits(w_trigger){!absent[13]}};
    assign w_request_take = {$bits(w_request_take){!absent[13]}};
    assign w_request = {$bits(w_request){!absent[13]}};
    assign w_bank_idle = {4{absent[14]}};
    assign w_bank_offers = {4{!absent[14]}};
  end
  tracker_port_props #(
    .IdWidth(IdWidth), .WfWidth(WfWidth), .AddressWidth(AddressWidth), .EntryWidth(EntryWidth)
  ) u_ports (
    .clk_i, .rst_i, .update_valid_i(any_update_valid), .trigger_valid_o(w_trigger_valid),
    .trigger_ready_i(any_trigger_ready), .trigger_event_o(w_trigger_event),
    .trigger_wg_id_o(w_trigger_wg), .trigger_wf_id_o(w_trigger_wf),
    .trigger_address_o(w_trigger_address), .spill_req_valid_o(w_request_valid),
    .spill_req_ready_i(any_request_ready), .spill_req_write_o(w_request_write),
    .spill_req_index_o(w_request_index), .spill_req_data_o(w_request_data),
    .spill_rsp_valid_i(any_response_valid), .idle_o(w_idle), .reg_we_i(any_we),
    .reg_re_i(any_re), .reg_addr_i(any_addr), .reg_wdata_i(any_wdata), .reg_rdata_o(w_rdata)
  );

  // Between banks and ports: a trigger that leaves its bank is at the port after the edge with all
  // that belongs to it, and nothing else is; and so of requests.
  logic                      clear_q, w_stalled_q, w_request_stalled_q;
  logic [3:0]                w_bank_sleeps_q;
  logic [3:0]                w_trigger_take_q, w_request_take_q;
  logic [KeyWidth+AddressWidth-1:0] w_trigger_q;
  logic [KeyWidth+EntryWidth:0]     w_request_q;
  always_ff @(posedge clk_i) begin
    clear_q <= any_we && any_addr == tracker_regs_pkg::ClearOffset;
    w_stalled_q <= w_trigger_valid && !any_trigger_ready;
    w_request_stalled_q <= w_request_valid && !any_request_ready;
    w_trigger_take_q <= rst_i || clear_q ? '0 : w_trigger_take;
    w_request_take_q <= rst_i || clear_q ? '0 : w_request_take;
    w_trigger_q <= w_trigger[k*(KeyWidth+AddressWidth)+:KeyWidth+AddressWidth];
    w_request_q <= w_request[k*(KeyWidth+EntryWidth+1)+:KeyWidth+EntryWidth+1];
    if (rst_i || clear_q) begin
      w_stalled_q <= 1'b0;
      w_request_stalled_q <= 1'b0;
    end
    w_bank_sleeps_q <= rst_i || clear_q || any_update_valid != '0 || any_response_valid ? '0
        : w_bank_idle;
    if (rst_i) clear_q <= 1'b0;
  end
  logic [KeyWidth+AddressWidth-1:0] w_trigger_now;
  logic [KeyWidth+EntryWidth:0]     w_request_now;
  assign w_trigger_now = {w_trigger_wg[IdWidth-1:2], w_trigger_wf, w_trigger_address};
  assign w_request_now = {w_request_index[IdWidth+WfWidth-1:WfWidth+2],
      w_request_index[WfWidth-1:0], w_request_write, w_request_data};
  always_comb begin
    // Of a bank, which this row replaces by anything: a_t8_quiet and a_t8_bank_sleeps.
    m_bank_quiet: assume ((w_bank_idle & w_bank_offers) == '0);
    m_bank_sleeps: assume ((w_bank_sleeps_q & ~w_bank_idle) == '0);
    a_t1_arrives: assert (!w_trigger_take_q[k] ||
        (w_trigger_valid && w_trigger_wg[1:0] == k && w_trigger_now == w_trigger_q));
    a_t1_from_a_bank: assert (w_trigger_valid == (w_stalled_q || w_trigger_take_q != '0));
    a_t1_one_bank: assert ($onehot0(w_trigger_take_q) && !(w_stalled_q && w_trigger_take_q != '0));
    a_t4_arrives: assert (!w_request_take_q[k] ||
        (w_request_valid && w_request_index[WfWidth+:2] == k && w_request_now == w_request_q));
    a_t4_from_a_bank: assert (w_request_valid == (w_request_stalled_q || w_request_take_q != '0));
    a_t4_one_bank: assert ($onehot0(w_request_take_q) &&
                           !(w_request_stalled_q && w_request_take_q != '0));
  end

endmodule
