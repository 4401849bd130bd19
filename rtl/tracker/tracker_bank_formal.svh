// SPDX-License-Identifier: Apache-2.0
// The part of tracker_bank that only the proof run reads: what links its flip-flops to what its
// ports have seen. The rules of README.md do not follow from the ports alone by induction, because
// the count of one tile is spread over two memories, queues and pipeline; they follow from these
// books. The books know nothing of what comes next: each is about one state.
//
// One tile, formal_key_i, is followed; the rest is said of all tiles, rows and entries.

  localparam int unsigned Keys = 2 ** KeyWidth;
  localparam int unsigned Places = QueueDepth + WaitingDepth + Ways + 4;

  logic [RowWidth-1:0] k_row;
  logic [TagWidth-1:0] k_tag;
  assign k_row = formal_key_i[WfWidth+:RowWidth];
  assign k_tag = {formal_key_i[WfWidth+RowWidth+:HighWidth], formal_key_i[WfWidth-1:0]};

  // Buffers hold no more than they can.
  logic book_sizes;
  always_comb begin
    book_sizes =
        32'(queue_size_q) + 32'(input_valid_q) <= QueueDepth &&
        32'(waiting_size_q) + 32'(s1_valid_q && !s1_refill_q) <= WaitingDepth &&
        retry_q <= waiting_size_q &&
        32'(trigger_size_q) + 32'(s1_valid_q) + 32'(s2_valid_q) <= TriggerDepth &&
        32'(send_size_q) <= Entries && 32'(arrived_size_q) <= Entries &&
        32'(outstanding_q) == 32'($countones(entry_busy_q)) &&
        // T7: what is not tried again waits for a transaction.
        (waiting_size_q == retry_q || entry_busy_q != '0);
  end

  // A transaction is in one place, and the memory knows of those that wait for it.
  logic             book_entries, book_memory;
  logic [Keys-1:0]  reading, writing;
  logic [Keys-1:0]  outside;  // The tile has a part in memory or on its way there.
  logic [Entries-1:0] waits;
  logic             k_read, k_write, k_found, k_out_fill, k_out_send, k_back, k_busy, k_entry_class;
  logic [EntryWidth-1:0] k_data;
  always_comb begin : entries
    logic in_send, in_arrived, in_fill, twice;
    logic [EntryIndexWidth-1:0] at;
    book_entries = 1'b1;
    book_memory = 1'b1;
    reading = '0;
    writing = '0;
    outside = formal_spilled_i;
    waits = '0;
    k_read = 1'b0;
    k_write = 1'b0;
    k_found = 1'b0;
    k_out_fill = 1'b0;
    k_out_send = 1'b0;
    k_back = 1'b0;
    k_busy = 1'b0;
    k_entry_class = 1'b1;
    k_data = '0;
    for (int unsigned e = 0; e < Entries; e++) begin
      in_send = 1'b0;
      in_arrived = s1_valid_q && s1_refill_q && 32'(s1_id_q) == e;
      twice = 1'b0;
      for (int unsigned j = 0; j < Entries; j++) begin
        at = send_head_q + EntryIndexWidth'(j);
        if (j < 32'(send_size_q) && 32'(send_q[at]) == e) begin
          twice = twice || in_send;
          in_send = 1'b1;
        end
        at = arrived_head_q + EntryIndexWidth'(j);
        if (j < 32'(arrived_size_q) && 32'(arrived_q[at]) == e) begin
          twice = twice || in_arrived;
          in_arrived = 1'b1;
        end
      end
      in_fill = s2_valid_q && s2_spill_q && 32'(s2_id_q) == e;
      if (twice) book_entries = 1'b0;
      if (!entry_busy_q[e]) begin
        if (in_send || in_arrived || in_fill) book_entries = 1'b0;
      end else begin
        for (int unsigned d = 0; d < e; d++) begin
          if (entry_busy_q[d] && entry_key_q[d] == entry_key_q[e]) book_entries = 1'b0;  // T6
        end
        if (entry_key_q[e] == formal_key_i) k_busy = 1'b1;
        case (entry_state_q[e])
          tracker_pkg::EntryFillWrite: begin
            if (in_send || in_arrived || !in_fill) book_entries = 1'b0;
            if (formal_spilled_i[entry_key_q[e]]) book_memory = 1'b0;
            outside[entry_key_q[e]] = 1'b1;
            if (entry_key_q[e][WfWidth+:RowWidth] != s2_wg_q[RowWidth-1:0]) book_entries = 1'b0;
            if (entry_key_q[e] == formal_key_i) begin
              k_out_fill = 1'b1;
              k_data = slot_q;
            end
          end
          tracker_pkg::EntrySendWrite: begin
            if (!in_send || in_arrived || in_fill) book_entries = 1'b0;
            if (formal_spilled_i[entry_key_q[e]] == entry_data_q[e][EntryWidth-1])
              book_memory = 1'b0;
            outside[entry_key_q[e]] = entry_data_q[e][EntryWidth-1];
            if (entry_key_q[e] == formal_key_i) begin
              k_out_send = entry_data_q[e][EntryWidth-1];
              k_back = !entry_data_q[e][EntryWidth-1];
              k_found = !entry_data_q[e][EntryWidth-1];
              k_data = entry_data_q[e];
            end
          end
          tracker_pkg::EntryWaitWrite: begin
            if (in_send || in_arrived || in_fill) book_entries = 1'b0;
            waits[e] = 1'b1;
            writing[entry_key_q[e]] = 1'b1;
            if (entry_key_q[e] == formal_key_i) k_write = 1'b1;
          end
          tracker_pkg::EntrySendRead: begin
            if (!in_send || in_arrived || in_fill) book_entries = 1'b0;
          end
          tracker_pkg::EntryWaitRead: begin
            if (in_send || in_arrived || in_fill) book_entries = 1'b0;
            waits[e] = 1'b1;
            reading[entry_key_q[e]] = 1'b1;
            if (entry_key_q[e] == formal_key_i) k_read = 1'b1;
          end
          tracker_pkg::EntryArrived: begin
            if (in_send || !in_arrived || in_fill) book_entries = 1'b0;
            if (formal_spilled_i[entry_key_q[e]] != entry_data_q[e][EntryWidth-1])
              book_memory = 1'b0;
            if (entry_key_q[e] == formal_key_i) begin
              k_found = entry_data_q[e][EntryWidth-1];
              if (k_found && entry_data_q[e] != formal_entry_i) book_memory = 1'b0;
            end
          end
          default: book_entries = 1'b0;
        endcase
        // The slot that a read will be merged into.
        if (entry_state_q[e] == tracker_pkg::EntrySendRead ||
            entry_state_q[e] == tracker_pkg::EntryWaitRead ||
            entry_state_q[e] == tracker_pkg::EntryArrived) begin
          if (entry_key_q[e] == formal_key_i && entry_slot_q[e][WayWidth+:2] != formal_class_i)
            k_entry_class = 1'b0;
        end
      end
    end
    if (reading != formal_reading_i || writing != formal_writing_i ||
        formal_owed_i != 8'($countones(waits)) || k_read != formal_read_i ||
        k_write != formal_write_i || k_found != formal_found_i ||
        formal_entry_i[EntryWidth-1] != formal_spilled_i[formal_key_i]) book_memory = 1'b0;
  end

  // A valid slot is the only place of its tile, or its entry is being read.
  logic book_rows;
  logic [Ways-1:0] k_ways, k_pending;
  always_comb begin : rows
    logic                live, awaits, being_read;
    logic [TagWidth-1:0] its_tag;
    logic [KeyWidth-1:0] its_key;
    logic [SpilledWidth-1:0] spilled_count;
    logic [Ways-1:0]     row_valid, row_pending;
    book_rows = 1'b1;
    k_ways = '0;
    k_pending = '0;
    for (int unsigned r = 0; r < Rows; r++) begin
      row_valid = used_q[r] ? valid_q[r] : '0;
      row_pending = used_q[r] ? pending_q[r] : '0;
      if ((row_valid & ({Ways{1'b1}} << control_i.ways)) != '0) book_rows = 1'b0;
      if ((row_pending & ~row_valid) != '0) book_rows = 1'b0;
      if (used_q[r] && 32'(oldest_q[r]) >= 32'(control_i.ways)) book_rows = 1'b0;
      spilled_count = '0;
      for (int unsigned i = 0; i < 2 ** TagWidth; i++) begin
        its_tag = TagWidth'(i);
        its_key = {its_tag[WfWidth+:HighWidth], RowWidth'(r), its_tag[WfWidth-1:0]};
        spilled_count = spilled_count + SpilledWidth'(outside[its_key]);
      end
      if (spilled_count != (used_q[r] ? spilled_q[r] : '0)) book_rows = 1'b0;
      for (int unsigned w = 0; w < Ways; w++) begin
        live = row_valid[w];
        awaits = row_pending[w];
        its_tag = tag_mem[r][w*TagWidth+:TagWidth];
        its_key = {its_tag[WfWidth+:HighWidth], RowWidth'(r), its_tag[WfWidth-1:0]};
        if (live && !awaits && outside[its_key]) book_rows = 1'b0;
        for (int unsigned v = 0; v < w; v++) begin
          if (live && row_valid[v] && tag_mem[r][v*TagWidth+:TagWidth] == its_tag)
            book_rows = 1'b0;
        end
        being_read = 1'b0;
        for (int unsigned e = 0; e < Entries; e++) begin
          if (entry_busy_q[e] && (entry_state_q[e] == tracker_pkg::EntrySendRead ||
                                  entry_state_q[e] == tracker_pkg::EntryWaitRead ||
                                  entry_state_q[e] == tracker_pkg::EntryArrived) &&
              entry_key_q[e][WfWidth+:RowWidth] == RowWidth'(r) &&
              32'(entry_slot_q[e][WayWidth-1:0]) == w) begin
            if (being_read || entry_key_q[e] != its_key) book_rows = 1'b0;
            being_read = 1'b1;
          end
        end
        if (being_read != awaits) book_rows = 1'b0;
        if (r == 32'(k_row) && its_tag == k_tag) begin
          k_ways[w] = live;
          k_pending[w] = awaits;
        end
      end
    end
    for (int unsigned e = 0; e < Entries; e++) begin
      if (entry_busy_q[e] && (entry_state_q[e] == tracker_pkg::EntrySendRead ||
                              entry_state_q[e] == tracker_pkg::EntryWaitRead ||
                              entry_state_q[e] == tracker_pkg::EntryArrived) &&
          32'(entry_slot_q[e][WayWidth-1:0]) >= Ways) book_rows = 1'b0;
    end
  end

  // The pipeline agrees with the table.
  logic book_pipeline;
  always_comb begin : pipeline
    logic [RowWidth-1:0] row_1, row_2;
    logic [Ways-1:0]     valid_2, pending_2;
    row_1 = s1_wg_q[RowWidth-1:0];
    row_2 = s2_wg_q[RowWidth-1:0];
    valid_2 = used_q[row_2] ? valid_q[row_2] : '0;
    pending_2 = used_q[row_2] ? pending_q[row_2] : '0;
    book_pipeline = 1'b1;
    if (s1_valid_q) begin
      if (s2_valid_q && row_1 == row_2) book_pipeline = 1'b0;
      if (tag_row_q != tag_mem[row_1]) book_pipeline = 1'b0;
      if (s1_refill_q) begin
        if (!entry_busy_q[s1_id_q] || entry_state_q[s1_id_q] != tracker_pkg::EntryArrived ||
            entry_key_q[s1_id_q] != {s1_wg_q, s1_wf_q} ||
            entry_slot_q[s1_id_q] != {s1_class_q, s1_way_q} ||
            s1_found_q != entry_data_q[s1_id_q][EntryWidth-1] ||
            s1_count_q != (s1_found_q ? entry_data_q[s1_id_q][EntryWidth-2:AddressWidth] : '0) ||
            s1_address_q != (s1_found_q ? entry_data_q[s1_id_q][AddressWidth-1:0] : '1))
          book_pipeline = 1'b0;
      end
    end
    if (s2_valid_q) begin
      if (32'(s2_way_q) >= Ways || !valid_2[s2_way_q] || s2_check_q == pending_2[s2_way_q] ||
          tag_mem[row_2][s2_way_q*TagWidth+:TagWidth] != {s2_wg_q[RowWidth+:HighWidth], s2_wf_q} ||
          slot_q != slot_mem[{row_2, s2_way_q}] || (s2_spill_q && !s2_fresh_q) ||
          (s2_spill_q && entry_key_q[s2_id_q] == {s2_wg_q, s2_wf_q}))
        book_pipeline = 1'b0;
    end
  end

  // The followed tile: what was taken is in one of these places, or it has triggered.
  logic book_tile, book_lowest, book_class, book_untracked;
  always_comb begin : tile
    logic [Places-1:0] present;
    logic [CounterWidth+3:0] sum, amount;
    logic [AddressWidth-1:0] lowest, address;
    logic [QueueWidth-1:0]   at_queue;
    logic [WaitingWidth-1:0] at_waiting;
    logic [TriggerWidth-1:0] at_trigger;
    logic [WgWidth-1:0]  its_wg;
    logic [WfWidth-1:0]  its_wf;
    logic [UpdateWidth-1:0] its_count;
    logic [IdWidth-1:0]  its_strip, its_tile, its_along;
    logic [1:0]          its_class;
    logic                triggered, s2_here;
    present = '0;
    sum = '0;
    lowest = '1;
    book_tile = 1'b1;
    book_lowest = 1'b1;
    book_class = k_entry_class;
    triggered = formal_done_i;
    for (int unsigned j = 0; j < TriggerDepth; j++) begin
      at_trigger = trigger_head_q + TriggerWidth'(j);
      if (j < 32'(trigger_size_q) && trigger_q[at_trigger] == formal_key_i) begin
        if (triggered) book_tile = 1'b0;
        if (trigger_address_q[at_trigger] != formal_lowest_i) book_lowest = 1'b0;
        triggered = 1'b1;
      end
    end
    // Input, queue, waiting updates, S1.
    if (input_valid_q && {input_wg_q, input_wf_q} == formal_key_i) begin
      present[0] = 1'b1;
      sum = sum + (CounterWidth+4)'(input_count_q);
      if (input_address_q < lowest) lowest = input_address_q;
      if (input_count_q == '0) book_tile = 1'b0;
    end
    for (int unsigned j = 0; j < QueueDepth; j++) begin
      at_queue = queue_head_q + QueueWidth'(j);
      {its_wg, its_wf, its_count, its_strip} = queue_q[at_queue];
      its_tile = {its_wg, bank_i};
      its_along = (its_tile >> strips_i.width) - IdWidth'(strips_i.along[IdWidth-1:0] * its_strip);
      its_class = {16'(its_tile) >= tiles_i.last_strip &&
              (~its_tile[2:0] & ~(3'b111 << strips_i.width)) == '0,
          its_along == strips_i.along[IdWidth-1:0] - IdWidth'(1)};
      if (j < 32'(queue_size_q) && {its_wg, its_wf} == formal_key_i) begin
        present[1+j] = 1'b1;
        sum = sum + (CounterWidth+4)'(its_count);
        if (queue_address_q[at_queue] < lowest) lowest = queue_address_q[at_queue];
        if (its_count == '0) book_tile = 1'b0;
        if (its_class != formal_class_i) book_class = 1'b0;
      end
    end
    for (int unsigned j = 0; j < WaitingDepth; j++) begin
      at_waiting = waiting_head_q + WaitingWidth'(j);
      {its_wg, its_wf, its_class, its_count} = waiting_q[at_waiting];
      if (j < 32'(waiting_size_q) && {its_wg, its_wf} == formal_key_i) begin
        present[1+QueueDepth+j] = 1'b1;
        sum = sum + (CounterWidth+4)'(its_count);
        if (waiting_address_q[at_waiting] < lowest) lowest = waiting_address_q[at_waiting];
        if (its_count == '0) book_tile = 1'b0;
        if (its_class != formal_class_i) book_class = 1'b0;
      end
    end
    if (s1_valid_q && {s1_wg_q, s1_wf_q} == formal_key_i) begin
      if (s1_class_q != formal_class_i) book_class = 1'b0;
      if (!s1_refill_q) begin
        present[1+QueueDepth+WaitingDepth] = 1'b1;
        sum = sum + (CounterWidth+4)'(s1_count_q);
        if (s1_address_q < lowest) lowest = s1_address_q;
        if (s1_count_q == '0) book_tile = 1'b0;
      end
    end
    // S2 and the slot.
    s2_here = s2_valid_q && {s2_wg_q, s2_wf_q} == formal_key_i;
    if (s2_here) begin
      present[2+QueueDepth+WaitingDepth] = 1'b1;
      sum = sum + (CounterWidth+4)'(s2_count_q);
      if (s2_address_q < lowest) lowest = s2_address_q;
      if (s2_threshold_q != 16'(formal_threshold_i)) book_class = 1'b0;
      if (s2_fresh_q && s2_count_q == '0) book_tile = 1'b0;
    end
    for (int unsigned w = 0; w < Ways; w++) begin
      amount = (CounterWidth+4)'(slot_mem[{k_row, WayWidth'(w)}][AddressWidth+:CounterWidth]);
      address = slot_mem[{k_row, WayWidth'(w)}][AddressWidth-1:0];
      if (k_ways[w]) begin
        present[3+QueueDepth+WaitingDepth+w] = 1'b1;
        if (!(s2_here && s2_fresh_q)) begin
          sum = sum + amount;
          if (address < lowest) lowest = address;
          if (amount == '0) book_tile = 1'b0;
        end
        if (!s2_here && !k_pending[w] && amount >= (CounterWidth+4)'(formal_threshold_i))
          book_tile = 1'b0;
      end
    end
    // What is in memory, or on its way there.
    if (k_out_fill || k_out_send || (formal_entry_i[EntryWidth-1] && !k_back)) begin
      present[3+QueueDepth+WaitingDepth+Ways] = 1'b1;
      amount = k_out_fill ? (CounterWidth+4)'(k_data[AddressWidth+:CounterWidth])
          : k_out_send ? (CounterWidth+4)'(k_data[AddressWidth+:CounterWidth-1])
          : (CounterWidth+4)'(formal_entry_i[AddressWidth+:CounterWidth-1]);
      address = k_out_fill || k_out_send ? k_data[AddressWidth-1:0]
          : formal_entry_i[AddressWidth-1:0];
      sum = sum + amount;
      if (address < lowest) lowest = address;
      if (amount == '0 || amount >= (CounterWidth+4)'(formal_threshold_i)) book_tile = 1'b0;
    end
    if (formal_count_i > formal_threshold_i) book_tile = 1'b0;
    if (triggered) begin
      if (present != '0 || formal_count_i != formal_threshold_i) book_tile = 1'b0;
    end else begin
      if (sum != (CounterWidth+4)'(formal_count_i)) book_tile = 1'b0;
      if (lowest != formal_lowest_i) book_lowest = 1'b0;
    end
    // T9: what is not tracked gets as far as S1 at most; what is not accepted, not beyond the
    // input.
    book_untracked = 1'b1;
    if (!formal_tracked_i) begin
      book_tile = 1'b1;
      book_lowest = 1'b1;
      if (triggered || k_busy || s2_here || k_ways != '0 || formal_entry_i[EntryWidth-1] ||
          present[1+QueueDepth+:WaitingDepth] != '0) book_untracked = 1'b0;
      if (!formal_accepted_i && present[1+QueueDepth+WaitingDepth:1] != '0) book_untracked = 1'b0;
    end
  end

  // T3, T9: what was taken was counted, ignored, or is on its way. (Both are taken modulo 2^width.)
  logic book_statistics;
  assign book_statistics = formal_taken_i == updates_q + ignored_q + StatisticWidth'(input_valid_q) +
      StatisticWidth'(queue_size_q) + StatisticWidth'(waiting_size_q) +
      StatisticWidth'(s1_valid_q && !s1_refill_q);
  assign formal_books_o = {book_lowest, book_statistics, book_untracked, book_class, book_tile, book_pipeline,
      book_rows, book_memory, book_entries, book_sizes};

  // T3: what a stream of updates to tiles of high bits 0 leaves behind, each for one clock (the
  // rows in turn, or a clock without an update after each); memory is not needed.
  always_comb begin : stream
    logic [RowWidth-1:0] queue_row, its_row;
    logic [TagWidth-1:0] its_tag;
    logic                input_turn, queue_turn, s1_turn;
    queue_row = queue_q[queue_head_q][UpdateWidth+IdWidth+WfWidth+:RowWidth];
    input_turn = formal_stream_i == 2'd1 ? input_wg_q[RowWidth-1:0] != formal_stream_row_i
        : !formal_stream_now_i;
    queue_turn = formal_stream_i == 2'd1 ? queue_row == formal_stream_row_i : formal_stream_now_i;
    s1_turn = formal_stream_i == 2'd1 ? s1_wg_q[RowWidth-1:0] != formal_stream_row_i
        : !formal_stream_now_i;
    formal_stream_o = entry_busy_q == '0 && outstanding_q == '0 && waiting_size_q == '0 &&
        retry_q == '0 && arrived_size_q == '0 && send_size_q == '0 &&
        trigger_size_q <= (TriggerWidth+1)'(1) && queue_size_q <= (QueueWidth+1)'(1) &&
        (!input_valid_q || (input_turn && input_wg_q[WgWidth-1:RowWidth] == '0)) &&
        (queue_size_q == '0 || (queue_turn &&
            queue_q[queue_head_q][UpdateWidth+IdWidth+WfWidth+RowWidth+:HighWidth] == '0)) &&
        (!s1_valid_q || (s1_turn && !s1_refill_q && s1_wg_q[WgWidth-1:RowWidth] == '0 &&
            tag_row_q == tag_mem[s1_wg_q[RowWidth-1:0]])) &&
        (!s2_valid_q || !s2_spill_q);
    for (int unsigned r = 0; r < Rows; r++) begin
      its_row = RowWidth'(r);
      if (used_q[its_row] && (pending_q[its_row] != '0 || spilled_q[its_row] != '0))
        formal_stream_o = 1'b0;
      for (int unsigned w = 0; w < Ways; w++) begin
        its_tag = tag_mem[its_row][w*TagWidth+:TagWidth];
        if (used_q[its_row] && valid_q[its_row][w]) begin
          if (its_tag[WfWidth+:HighWidth] != '0) formal_stream_o = 1'b0;
          for (int unsigned v = 0; v < w; v++) begin
            if (valid_q[its_row][v] && tag_mem[its_row][v*TagWidth+:TagWidth] == its_tag)
              formal_stream_o = 1'b0;
          end
        end
      end
    end
  end

  // T7: a clock in which nothing comes in and triggers and requests are taken brings the bank
  // closer to its rest: each step of an operation weighs more than all that it can bring about; a
  // refill may bring all waiting updates back.
  localparam int unsigned Retries = 7 * WaitingDepth;
  assign formal_rank_o = 16'(grew_q) + 16'(trigger_size_q) + 16'(send_size_q) +
      (s2_valid_q ? 16'd3 : 16'd0) +
      (!s1_valid_q ? 16'd0 : s1_refill_q ? 16'(5 + Retries) : 16'd6) +
      16'd7 * 16'(retry_q) + 16'd7 * 16'(queue_size_q) + (input_valid_q ? 16'd8 : 16'd0) +
      16'(6 + Retries) * 16'(arrived_size_q);

  // What rules T4, T5 and T9 say of a step: the clock before beside this one.
  logic [RowWidth-1:0]     w_row, now_row;
  logic                    w_spilled_q, w_fresh_room_q, w_arrived_q, w_retry_q, w_ignores_q;
  logic [WayWidth-1:0]     w_oldest_q, now_oldest;
  logic [Ways-1:0]         w_valid_q, w_pending_q, now_pending;
  logic [QueueWidth-1:0]   w_queue_head_q;
  logic [StatisticWidth-1:0] w_updates_q;
  assign w_row = s1_wg_q[RowWidth-1:0];
  assign now_row = s2_wg_q[RowWidth-1:0];
  assign now_oldest = oldest_q[now_row];
  assign now_pending = pending_q[now_row];
  always_ff @(posedge clk_i) begin
    w_oldest_q <= used_q[w_row] ? oldest_q[w_row] : '0;
    w_valid_q <= used_q[w_row] ? valid_q[w_row] : '0;
    w_pending_q <= used_q[w_row] ? pending_q[w_row] : '0;
    w_spilled_q <= used_q[w_row] && spilled_q[w_row] != '0;
    w_fresh_room_q <= !rst_i && 32'(trigger_size_q) + 32'(s1_valid_q) + 32'(s2_valid_q) < TriggerDepth;
    w_arrived_q <= arrived_size_q != '0;
    w_retry_q <= retry_q != '0;
    w_queue_head_q <= queue_head_q;
    w_ignores_q <= !rst_i && s1_valid_q && !s1_refill_q && {s1_wg_q, s1_wf_q} == formal_key_i;
    w_updates_q <= updates_q;
  end
  always_comb begin : steps
    logic skipped, full;
    skipped = 1'b1;
    full = 1'b1;
    for (int unsigned w = 0; w < Ways; w++) begin
      if (w < 32'(control_i.ways) && !w_valid_q[w]) full = 1'b0;
      if (w < 32'(control_i.ways) && !w_pending_q[w] &&
          (w_oldest_q <= s2_way_q ? w >= 32'(w_oldest_q) && w < 32'(s2_way_q)
               : w >= 32'(w_oldest_q) || w < 32'(s2_way_q))) skipped = 1'b0;
    end
    formal_full_o = !s2_valid_q || !s2_fresh_q || s2_spill_q == full;
    formal_oldest_o = !s2_valid_q || !s2_spill_q || (skipped && !w_pending_q[s2_way_q]);
    formal_next_o = !s2_valid_q || !s2_fresh_q || 32'(now_oldest) ==
        (32'(s2_way_q) + 1 >= 32'(control_i.ways) ? 0 : 32'(s2_way_q) + 1);
    formal_reads_o = !s2_valid_q || !s2_fresh_q || now_pending[s2_way_q] == w_spilled_q;
    formal_refill_first_o = !w_fresh_room_q || !w_arrived_q || !s1_valid_q || s1_refill_q;
    formal_waiting_next_o = !w_fresh_room_q || !w_retry_q || queue_head_q == w_queue_head_q;
    formal_not_counted_o = !w_ignores_q || updates_q == w_updates_q;
  end
