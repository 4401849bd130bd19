// SPDX-License-Identifier: Apache-2.0
// One bank of the Tracker: a quarter of the sets (rows here), with its own spill transactions.
// Rules: README.md.
//
//   update -> input -> queue --+-> S1: find or make the slot -> S2: add, compare -> triggers
//        waiting updates ------+      |  (blocked: back to the      (victim -> its entry)
//        arrived refills ------+      |   waiting updates)
//                                     +-> entries (spill transactions) -> requests
//                                         responses -> entries
//
// Everything is in one clocked process with guarded branches: a Verilated bank costs what it does
// in that clock.
module tracker_bank #(
  // Ways: 76 bits of table per way and set; compare width of S1. Everything else is sized by the
  // interface (tracker_if.h) and by tracker_pkg; smaller sizes are for the proofs.
  parameter int unsigned Ways = tracker_pkg::MaxWays,
  parameter int unsigned Rows = tracker_pkg::Rows,
  parameter int unsigned HighWidth = tracker_pkg::HighWidth,
  parameter int unsigned WfWidth = tracker_pkg::WfWidth,
  parameter int unsigned UpdateWidth = tracker_pkg::UpdateWidth,
  parameter int unsigned CounterWidth = tracker_pkg::CounterWidth,
  parameter int unsigned AddressWidth = tracker_pkg::AddressWidth,
  parameter int unsigned QueueDepth = tracker_pkg::QueueDepth,
  parameter int unsigned WaitingDepth = tracker_pkg::WaitingDepth,
  parameter int unsigned Entries = tracker_pkg::Entries,
  parameter int unsigned TriggerDepth = tracker_pkg::TriggerDepth,
  parameter int unsigned StatisticWidth = tracker_pkg::StatisticWidth,
  localparam int unsigned RowWidth = $clog2(Rows),
  localparam int unsigned WgWidth = HighWidth + RowWidth,  // A work-group id without its bank.
  localparam int unsigned KeyWidth = WgWidth + WfWidth,    // {wg, wf}
  localparam int unsigned EntryWidth = CounterWidth + AddressWidth,
  localparam int unsigned OutstandingWidth = $clog2(Entries + 1),
  localparam int unsigned WayWidth = Ways > 1 ? $clog2(Ways) : 1,
  localparam int unsigned QueueWidth = $clog2(QueueDepth)
) (
  input  logic                            clk_i,
  input  logic                            rst_i,            // Also clears the table: the `clear` register.
  input  logic                            counter_clear_i,
  input  tracker_regs_pkg::control_t      control_i,        // Ways: 1..Ways.
  input  tracker_regs_pkg::tiles_t        tiles_i,
  input  tracker_regs_pkg::strips_t       strips_i,
  input  tracker_regs_pkg::untracked_t    untracked_i,
  input  logic [511:0]                    thresholds_i,     // 16 bits at (class x 8 + wf) x 16.
  input  logic [1:0]                      bank_i,           // wg_id[1:0] of all ids that come here.

  input  logic                            update_valid_i,
  output logic                            update_ready_o,
  input  logic [WgWidth-1:0]              update_wg_i,
  input  logic [WfWidth-1:0]              update_wf_i,
  input  logic [UpdateWidth-1:0]          update_count_i,
  input  logic [AddressWidth-1:0]         update_address_i,

  output logic                            trigger_valid_o,
  input  logic                            trigger_take_i,
  output logic [WgWidth-1:0]              trigger_wg_o,
  output logic [WfWidth-1:0]              trigger_wf_o,
  output logic [AddressWidth-1:0]         trigger_address_o,

  output logic                            request_valid_o,
  input  logic                            request_take_i,
  output logic                            request_write_o,
  output logic [WgWidth-1:0]              request_wg_o,
  output logic [WfWidth-1:0]              request_wf_o,
  output logic [EntryWidth-1:0]           request_data_o,

  input  logic                            response_valid_i,
  input  logic                            response_write_i,
  input  logic [WgWidth-1:0]              response_wg_i,
  input  logic [WfWidth-1:0]              response_wf_i,
  input  logic [EntryWidth-1:0]           response_data_i,

`ifdef FORMAL
  // Of tracker_bank_formal.svh: what the ports have seen, and what it says about that.
  input  logic [KeyWidth-1:0]             formal_key_i,
  input  logic [CounterWidth-1:0]         formal_threshold_i,
  input  logic [1:0]                      formal_class_i,
  input  logic                            formal_tracked_i,
  input  logic                            formal_accepted_i,
  input  logic [CounterWidth-1:0]         formal_count_i,
  input  logic [AddressWidth-1:0]         formal_lowest_i,
  input  logic                            formal_done_i,
  input  logic                            formal_read_i,
  input  logic                            formal_write_i,
  input  logic                            formal_found_i,
  input  logic [EntryWidth-1:0]           formal_entry_i,
  input  logic [7:0]                      formal_owed_i,
  input  logic [StatisticWidth-1:0]       formal_taken_i,
  input  logic [2**KeyWidth-1:0]          formal_spilled_i,
  input  logic [2**KeyWidth-1:0]          formal_reading_i,
  input  logic [2**KeyWidth-1:0]          formal_writing_i,
  input  logic [1:0]                      formal_stream_i,
  input  logic [RowWidth-1:0]             formal_stream_row_i,
  input  logic                            formal_stream_now_i,
  output logic [9:0]                      formal_books_o,
  output logic                            formal_stream_o,
  output logic [15:0]                     formal_rank_o,
  output logic                            formal_full_o,
  output logic                            formal_oldest_o,
  output logic                            formal_next_o,
  output logic                            formal_reads_o,
  output logic                            formal_refill_first_o,
  output logic                            formal_waiting_next_o,
  output logic                            formal_not_counted_o,
`endif
  output logic                            idle_o,
  output logic                            busy_o,
  output logic                            grew_o,           // live_o grew at the last edge.
  output logic [19:0]                     live_o,
  output logic [OutstandingWidth-1:0]     outstanding_o,
  input  logic                            counter_read_i,
  // Counter k of the register table, from `updates` on.
  input  logic [2:0]                      counter_select_i,
  output logic [StatisticWidth-1:0]       counter_o
);

  localparam int unsigned TagWidth = HighWidth + WfWidth;  // {wg_id[15:8], wf_id}
  localparam int unsigned IdWidth = WgWidth + 2;           // A whole work-group id.
  localparam int unsigned SpilledWidth = TagWidth + 1;     // Counts the entries of a row.
  localparam int unsigned WaitingWidth = $clog2(WaitingDepth);
  localparam int unsigned TriggerWidth = $clog2(TriggerDepth);
  localparam int unsigned EntryIndexWidth = $clog2(Entries);

  if (Ways < 1 || Ways > tracker_pkg::MaxWays) begin : gen_bad_ways
    $error("tracker_bank: Ways must be 1..8");
  end
  if (Rows < 2 || Rows != 2 ** RowWidth) begin : gen_bad_rows
    $error("tracker_bank: Rows must be a power of two, at least 2");
  end
  if (QueueDepth < 2 || QueueDepth != 2 ** QueueWidth || WaitingDepth < 2 ||
      WaitingDepth != 2 ** WaitingWidth || Entries < 2 || Entries != 2 ** EntryIndexWidth ||
      TriggerDepth < 2 || TriggerDepth != 2 ** TriggerWidth) begin : gen_bad_depth
    $error("tracker_bank: depths must be powers of two, at least 2");
  end
  if (UpdateWidth > CounterWidth - 1 || IdWidth > 16 || CounterWidth > 16) begin : gen_bad_width
    $error("tracker_bank: a width is out of range");
  end

  // The table: 76 bits a slot. Tags and slots are memories with a registered read; the directory of
  // a row (below) is read in S1 and written in S1 and S2, always of different rows.
  logic [Ways*TagWidth-1:0] tag_mem [Rows];
  logic [EntryWidth-1:0]    slot_mem [Rows*2**WayWidth];       // {count, address} at {row, way}
  // `used_q` says that a row's directory has been written since the last clear; until then it
  // counts as 0.
  logic [Rows-1:0]          used_q;
  logic [Ways-1:0]          valid_q [Rows];
  logic [Ways-1:0]          pending_q [Rows];        // The slot's refill has not been merged yet.
  logic [WayWidth-1:0]      oldest_q [Rows];
  logic [SpilledWidth-1:0]  spilled_q [Rows];        // Valid entries in memory.
  logic [Ways*TagWidth-1:0] tag_row_q;
  logic [EntryWidth-1:0]    slot_q;

  // Input stage and queue.
  logic               input_valid_q;
  logic [WgWidth-1:0] input_wg_q;
  logic [WfWidth-1:0] input_wf_q;
  logic [UpdateWidth-1:0]  input_count_q;
  logic [AddressWidth-1:0] input_address_q;
  // {wg, wf, count, strip}
  logic [KeyWidth+UpdateWidth+IdWidth-1:0] queue_q [QueueDepth];
  logic [AddressWidth-1:0] queue_address_q [QueueDepth];
  logic [QueueWidth-1:0] queue_head_q;
  logic [QueueWidth:0] queue_size_q;

  // Updates that wait for memory; `retry_q` of them are tried again.
  logic [KeyWidth+UpdateWidth+1:0] waiting_q [WaitingDepth];  // {wg, wf, class, count}
  logic [AddressWidth-1:0] waiting_address_q [WaitingDepth];
  logic [WaitingWidth-1:0] waiting_head_q;
  logic [WaitingWidth:0] waiting_size_q, retry_q;

  // Pipeline.
  logic               s1_valid_q, s1_refill_q, s1_found_q;
  logic [WayWidth-1:0] s1_way_q;
  logic [EntryIndexWidth-1:0] s1_id_q;
  logic [WgWidth-1:0] s1_wg_q;
  logic [WfWidth-1:0] s1_wf_q;
  logic [1:0]         s1_class_q;
  logic [CounterWidth-2:0] s1_count_q;
  logic [AddressWidth-1:0] s1_address_q;
  logic               s2_valid_q, s2_fresh_q, s2_check_q, s2_spill_q;
  logic [WayWidth-1:0] s2_way_q;
  logic [EntryIndexWidth-1:0] s2_id_q;
  logic [WgWidth-1:0] s2_wg_q;
  logic [WfWidth-1:0] s2_wf_q;
  logic [15:0]        s2_threshold_q;
  logic [CounterWidth-2:0] s2_count_q;
  logic [AddressWidth-1:0] s2_address_q;

  // Triggers on their way out.
  logic [KeyWidth-1:0] trigger_q [TriggerDepth];
  logic [AddressWidth-1:0] trigger_address_q [TriggerDepth];
  logic [TriggerWidth-1:0] trigger_head_q;
  logic [TriggerWidth:0] trigger_size_q;

  // Spill transactions, and the order in which they are sent and merged.
  logic [Entries-1:0] entry_busy_q;
  (* mem2reg *) tracker_pkg::entry_state_e entry_state_q [Entries];  // Of a busy entry.
  (* mem2reg *) logic [KeyWidth-1:0] entry_key_q [Entries];
  logic [WayWidth+1:0] entry_slot_q [Entries];       // {class, way} of a read
  logic [EntryWidth-1:0] entry_data_q [Entries];
  logic [OutstandingWidth-1:0] outstanding_q;
  logic [EntryIndexWidth-1:0] send_q [Entries];
  logic [EntryIndexWidth-1:0] send_head_q;
  logic [EntryIndexWidth:0] send_size_q;
  logic [EntryIndexWidth-1:0] arrived_q [Entries];
  logic [EntryIndexWidth-1:0] arrived_head_q;
  logic [EntryIndexWidth:0] arrived_size_q;

  logic               grew_q;
  logic [19:0]        live_q;
  logic [StatisticWidth-1:0] updates_q, half_words_q, ignored_q, triggers_q, spills_q, spill_reads_q,
      refills_q;

  // Outputs, from the state alone.
  logic [EntryIndexWidth-1:0] send_id;
  always_comb begin
    send_id = send_q[send_head_q];
    update_ready_o = queue_size_q + (QueueWidth+1)'(input_valid_q) < (QueueWidth+1)'(QueueDepth);
    trigger_valid_o = trigger_size_q != '0;
    {trigger_wg_o, trigger_wf_o} = trigger_q[trigger_head_q];
    trigger_address_o = trigger_address_q[trigger_head_q];
    request_valid_o = send_size_q != '0;
    request_write_o = entry_state_q[send_id] == tracker_pkg::EntrySendWrite;
    {request_wg_o, request_wf_o} = entry_key_q[send_id];
    request_data_o = request_write_o ? entry_data_q[send_id] : '0;
    idle_o = !input_valid_q && !s1_valid_q && !s2_valid_q && !grew_q && trigger_size_q == '0 &&
             arrived_size_q == '0 && send_size_q == '0 && retry_q == '0 &&
             (queue_size_q == '0 || waiting_size_q == (WaitingWidth+1)'(WaitingDepth));
    busy_o = !idle_o || queue_size_q != '0 || waiting_size_q != '0 || outstanding_q != '0;
    grew_o = grew_q;
    live_o = live_q;
    outstanding_o = outstanding_q;
  end

  always_comb begin
    counter_o = '0;
    if (counter_read_i) begin
      case (counter_select_i)
        3'd0: counter_o = updates_q;
        3'd1: counter_o = half_words_q;
        3'd2: counter_o = ignored_q;
        3'd3: counter_o = triggers_q;
        3'd4: counter_o = spills_q;
        3'd5: counter_o = spill_reads_q;
        3'd6: counter_o = refills_q;
        default: counter_o = '0;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin : state
    logic                issue, from_arrived, from_waiting, from_queue;
    logic [EntryIndexWidth-1:0] issue_id, id, free_first, free_second;
    logic [WgWidth-1:0]  issue_wg;
    logic [KeyWidth-1:0] victim;
    logic [WfWidth-1:0]  issue_wf;
    logic [UpdateWidth-1:0] issue_short;
    logic [1:0]          issue_class;
    logic [CounterWidth-2:0] issue_count;
    logic [AddressWidth-1:0] issue_address, address;
    logic [15:0]         threshold;
    logic [IdWidth-1:0]  wg_id, along, strip;
    logic                across_last;
    logic                issue_found, hit, evict, read, blocked, conflict_read, conflict_victim,
        retry_all, matched;
    logic                counted, ignored_s1, ignored_input, allocated, triggered, released_s1,
        released_response;
    logic                spilled, refilled, s1_update, arrived;
    logic [RowWidth-1:0] row;
    logic [WayWidth-1:0] way, issue_way;
    logic [Ways-1:0]     valid, pending, in_use, candidates, upper, chosen, below;
    logic [SpilledWidth-1:0] spilled_count;
    logic [WayWidth-1:0] oldest;
    logic [TagWidth-1:0] tag, victim_tag;
    // $countones gets a variable: yosys 0.23 makes it 0 for an expression with a size cast.
    logic [Entries-1:0]  free, free_others, free_below;
    logic [CounterWidth:0] sum;
    logic [16:0]         distance;
    logic [CounterWidth-1:0] total;
    logic [1:0]          occupied;

    // An idle bank keeps its state until something comes (T8); this is its clock enable.
    if (!idle_o || update_valid_i || response_valid_i || counter_clear_i || rst_i) begin
      // T5: what may enter the pipeline: refills, then updates that waited, then new ones.
      from_arrived = 1'b0;
      from_waiting = 1'b0;
      from_queue = 1'b0;
      s1_update = s1_valid_q && !s1_refill_q;
      if (trigger_size_q + (TriggerWidth+1)'(s1_valid_q) + (TriggerWidth+1)'(s2_valid_q) <
          (TriggerWidth+1)'(TriggerDepth)) begin
        from_arrived = arrived_size_q != '0;
        from_waiting = !from_arrived && retry_q != '0;
        from_queue = !from_arrived && !from_waiting && queue_size_q != '0 &&
                     waiting_size_q + (WaitingWidth+1)'(s1_update) <
                         (WaitingWidth+1)'(WaitingDepth);
      end

      // S2: add; complete the tile (T1, T2) or write the slot back; hand the victim to its entry.
      triggered = 1'b0;
      spilled = 1'b0;
      if (s2_valid_q) begin
        row = s2_wg_q[RowWidth-1:0];
        if (s2_spill_q) begin
          entry_state_q[s2_id_q] <= tracker_pkg::EntrySendWrite;
          entry_data_q[s2_id_q] <= {1'b1, slot_q[EntryWidth-2:0]};
          send_q[send_head_q + send_size_q[EntryIndexWidth-1:0]] <= s2_id_q;
          spilled = 1'b1;
        end
        sum = {1'b0, s2_fresh_q ? CounterWidth'(0) : slot_q[AddressWidth+:CounterWidth]} +
            {2'b0, s2_count_q};
        total = sum[CounterWidth] ? '1 : sum[CounterWidth-1:0];
        address = s2_fresh_q || s2_address_q < slot_q[AddressWidth-1:0] ? s2_address_q
            : slot_q[AddressWidth-1:0];
        triggered = s2_check_q && 16'(total) >= s2_threshold_q;
        if (triggered) begin
          valid_q[row] <= valid_q[row] & ~(Ways'(1) << s2_way_q);
          trigger_q[trigger_head_q + trigger_size_q[TriggerWidth-1:0]] <= {s2_wg_q, s2_wf_q};
          trigger_address_q[trigger_head_q + trigger_size_q[TriggerWidth-1:0]] <= address;
          triggers_q <= triggers_q + StatisticWidth'(1);
        end else begin
          slot_mem[{row, s2_way_q}] <= {total, address};
        end
      end
      if (trigger_take_i) trigger_head_q <= trigger_head_q + TriggerWidth'(1);
      trigger_size_q <= trigger_size_q + (TriggerWidth+1)'(triggered) -
                        (TriggerWidth+1)'(trigger_take_i);

      // S1: find the slot, or make one (T4, T6, T7).
      retry_all = 1'b0;
      blocked = 1'b0;
      counted = 1'b0;
      ignored_s1 = 1'b0;
      allocated = 1'b0;
      refilled = 1'b0;
      released_s1 = 1'b0;
      read = 1'b0;
      occupied = 2'd0;
      s2_valid_q <= 1'b0;
      if (s1_valid_q) begin
        row = s1_wg_q[RowWidth-1:0];
        threshold = thresholds_i[{s1_class_q, s1_wf_q, 4'b0}+:16];
        valid = used_q[row] ? valid_q[row] : '0;
        pending = used_q[row] ? pending_q[row] : '0;
        spilled_count = used_q[row] ? spilled_q[row] : '0;
        oldest = used_q[row] ? oldest_q[row] : '0;
        tag = {s1_wg_q[RowWidth+:HighWidth], s1_wf_q};
        s2_threshold_q <= threshold;
        s2_wg_q <= s1_wg_q;
        s2_wf_q <= s1_wf_q;
        s2_count_q <= s1_count_q;
        s2_address_q <= s1_address_q;
        s2_fresh_q <= 1'b0;
        s2_spill_q <= 1'b0;
        hit = 1'b0;
        way = '0;
        if (s1_refill_q) begin
          retry_all = 1'b1;
          refilled = s1_found_q;
          released_s1 = !s1_found_q;
          way = s1_way_q;
          pending_q[row] <= pending & ~(Ways'(1) << way);
          if (s1_found_q) begin
            spilled_q[row] <= spilled_count - SpilledWidth'(1);
            entry_state_q[s1_id_q] <= tracker_pkg::EntrySendWrite;  // Invalidates the entry.
            entry_data_q[s1_id_q] <= '0;
            id = send_head_q + send_size_q[EntryIndexWidth-1:0] + EntryIndexWidth'(spilled);
            send_q[id] <= s1_id_q;
            refills_q <= refills_q + StatisticWidth'(1);
          end else begin
            entry_busy_q[s1_id_q] <= 1'b0;
          end
          s2_valid_q <= 1'b1;
          s2_check_q <= 1'b1;
        end else if (threshold == '0) begin
          ignored_s1 = 1'b1;
        end else begin
          for (int unsigned w = 0; w < Ways; w++) begin
            if (valid[w] && tag_row_q[w*TagWidth+:TagWidth] == tag) begin
              hit = 1'b1;
              way = WayWidth'(w);
            end
          end
          if (hit) begin
            counted = 1'b1;
            s2_check_q <= !pending[way];
          end else begin
            in_use = ~({Ways{1'b1}} << control_i.ways);
            evict = (~valid & in_use) == '0;
            candidates = in_use & (evict ? ~pending : ~valid);
            upper = candidates & ({Ways{1'b1}} << oldest);
            if (upper == '0) upper = candidates;
            chosen = upper & (~upper + Ways'(1));
            below = chosen - Ways'(1);
            way = WayWidth'($countones(below));
            read = spilled_count != '0;
            victim_tag = tag_row_q[way*TagWidth+:TagWidth];
            victim = {victim_tag[WfWidth+:HighWidth], row, victim_tag[WfWidth-1:0]};
            conflict_read = 1'b0;
            conflict_victim = 1'b0;
            if (evict || read) begin
              for (int unsigned e = 0; e < Entries; e++) begin
                if (entry_busy_q[e]) begin
                  conflict_read = conflict_read || entry_key_q[e] == {s1_wg_q, s1_wf_q};
                  conflict_victim = conflict_victim || entry_key_q[e] == victim;
                end
              end
            end
            free = ~entry_busy_q;
            free_others = free & (free - Entries'(1));  // Without the lowest.
            free_below = (free & (~free + Entries'(1))) - Entries'(1);
            free_first = EntryIndexWidth'($countones(free_below));
            free_below = (free_others & (~free_others + Entries'(1))) - Entries'(1);
            free_second = EntryIndexWidth'($countones(free_below));
            blocked = candidates == '0 || (read && conflict_read) || (evict && conflict_victim) ||
                      ((evict || read) && free == '0) || (evict && read && free_others == '0);
            if (!blocked) begin
              counted = 1'b1;
              allocated = 1'b1;
              s2_fresh_q <= 1'b1;
              s2_check_q <= !read;
              used_q[row] <= 1'b1;
              valid_q[row] <= valid | chosen;
              pending_q[row] <= read ? pending | chosen : pending;
              spilled_q[row] <= spilled_count + SpilledWidth'(evict);
              tag_mem[row][way*TagWidth+:TagWidth] <= tag;
              oldest_q[row] <= 4'(way) + 4'd1 >= control_i.ways ? '0 : way + WayWidth'(1);
              if (evict) begin
                s2_spill_q <= 1'b1;
                s2_id_q <= free_first;
                entry_state_q[free_first] <= tracker_pkg::EntryFillWrite;
                entry_busy_q[free_first] <= 1'b1;
                entry_key_q[free_first] <= victim;
                spills_q <= spills_q + StatisticWidth'(1);
                occupied = occupied + 2'd1;
              end
              if (read) begin
                id = evict ? free_second : free_first;
                entry_state_q[id] <= tracker_pkg::EntrySendRead;
                entry_busy_q[id] <= 1'b1;
                entry_key_q[id] <= {s1_wg_q, s1_wf_q};
                entry_slot_q[id] <= {s1_class_q, way};
                send_q[send_head_q + send_size_q[EntryIndexWidth-1:0] + EntryIndexWidth'(spilled)] <= id;
                spill_reads_q <= spill_reads_q + StatisticWidth'(1);
                occupied = occupied + 2'd1;
              end
            end
          end
          s2_valid_q <= !blocked;
          if (blocked) begin
            waiting_q[waiting_head_q + waiting_size_q[WaitingWidth-1:0]] <= {s1_wg_q, s1_wf_q,
                s1_class_q, s1_count_q[UpdateWidth-1:0]};
            waiting_address_q[waiting_head_q + waiting_size_q[WaitingWidth-1:0]] <= s1_address_q;
          end
          if (counted) begin
            updates_q <= updates_q + StatisticWidth'(1);
            half_words_q <= half_words_q + StatisticWidth'(s1_count_q);
          end
        end
        s2_way_q <= way;
        slot_q <= slot_mem[{row, way}];
      end

      // The next operation enters S1.
      issue = 1'b0;
      if (from_arrived || from_waiting || from_queue) begin
        issue_id = arrived_q[arrived_head_q];
        {issue_class, issue_way} = entry_slot_q[issue_id];
        issue_found = 1'b0;
        if (from_arrived) begin
          issue_found = entry_data_q[issue_id][EntryWidth-1];
          {issue_wg, issue_wf} = entry_key_q[issue_id];
          issue_count = issue_found ? entry_data_q[issue_id][EntryWidth-2:AddressWidth] : '0;
          issue_address = issue_found ? entry_data_q[issue_id][AddressWidth-1:0] : '1;
        end else if (from_waiting) begin
          {issue_wg, issue_wf, issue_class, issue_short} = waiting_q[waiting_head_q];
          issue_count = (CounterWidth-1)'(issue_short);
          issue_address = waiting_address_q[waiting_head_q];
        end else begin
          {issue_wg, issue_wf, issue_short, strip} = queue_q[queue_head_q];
          wg_id = {issue_wg, bank_i};
          along = (wg_id >> strips_i.width) - IdWidth'(strips_i.along[IdWidth-1:0] * strip);
          across_last = (~wg_id[2:0] & ~(3'b111 << strips_i.width)) == '0;
          issue_class = {16'(wg_id) >= tiles_i.last_strip && across_last,
              along == strips_i.along[IdWidth-1:0] - IdWidth'(1)};
          issue_count = (CounterWidth-1)'(issue_short);
          issue_address = queue_address_q[queue_head_q];
        end
        // T3: the row of S1 is changing.
        issue = !(s1_valid_q && s1_wg_q[RowWidth-1:0] == issue_wg[RowWidth-1:0]);
        if (issue) begin
          s1_refill_q <= from_arrived;
          s1_found_q <= issue_found;
          s1_way_q <= issue_way;
          s1_id_q <= issue_id;
          s1_wg_q <= issue_wg;
          s1_wf_q <= issue_wf;
          s1_class_q <= issue_class;
          s1_count_q <= issue_count;
          s1_address_q <= issue_address;
          tag_row_q <= tag_mem[issue_wg[RowWidth-1:0]];
        end
      end
      s1_valid_q <= issue;

      // Requests leave in the order in which they arose.
      if (request_take_i) begin
        send_head_q <= send_head_q + EntryIndexWidth'(1);
        entry_state_q[send_id] <= request_write_o ? tracker_pkg::EntryWaitWrite
            : tracker_pkg::EntryWaitRead;
      end
      send_size_q <= send_size_q + (EntryIndexWidth+1)'(spilled) +
          (EntryIndexWidth+1)'(refilled || (allocated && read)) -
          (EntryIndexWidth+1)'(request_take_i);

      // T8: responses are always taken.
      released_response = 1'b0;
      arrived = 1'b0;
      if (response_valid_i) begin
        matched = 1'b0;
        id = '0;
        for (int unsigned e = 0; e < Entries; e++) begin
          if (entry_busy_q[e] && entry_key_q[e] == {response_wg_i, response_wf_i}) begin
            matched = 1'b1;
            id = EntryIndexWidth'(e);
          end
        end
        if (matched && response_write_i && entry_state_q[id] == tracker_pkg::EntryWaitWrite) begin
          entry_busy_q[id] <= 1'b0;
          released_response = 1'b1;
          retry_all = 1'b1;
        end
        if (matched && !response_write_i && entry_state_q[id] == tracker_pkg::EntryWaitRead) begin
          entry_state_q[id] <= tracker_pkg::EntryArrived;
          entry_data_q[id] <= response_data_i;
          arrived_q[arrived_head_q + arrived_size_q[EntryIndexWidth-1:0]] <= id;
          arrived = 1'b1;
        end
      end
      if (issue && from_arrived) arrived_head_q <= arrived_head_q + EntryIndexWidth'(1);
      arrived_size_q <= arrived_size_q + (EntryIndexWidth+1)'(arrived) -
                        (EntryIndexWidth+1)'(issue && from_arrived);
      outstanding_q <= outstanding_q + OutstandingWidth'(occupied) -
                       OutstandingWidth'(released_s1) - OutstandingWidth'(released_response);

      // Waiting updates: all are tried again when something was freed.
      if (issue && from_waiting) waiting_head_q <= waiting_head_q + WaitingWidth'(1);
      waiting_size_q <= waiting_size_q + (WaitingWidth+1)'(blocked) -
                        (WaitingWidth+1)'(issue && from_waiting);
      if (retry_all) begin
        retry_q <= waiting_size_q + (WaitingWidth+1)'(blocked) -
                   (WaitingWidth+1)'(issue && from_waiting);
      end else if (issue && from_waiting) begin
        retry_q <= retry_q - (WaitingWidth+1)'(1);
      end

      // Input: forget what is not tracked (T9); the strip of the id.
      ignored_input = 1'b0;
      if (input_valid_q) begin
        distance = 17'({input_wg_q, bank_i}) - {1'b0, untracked_i.first};
        if (16'({input_wg_q, bank_i}) < untracked_i.first) begin
          distance = distance + tiles_i.total;
        end
        ignored_input = !control_i.enable || 17'({input_wg_q, bank_i}) >= tiles_i.total ||
                        distance < untracked_i.count;
        if (!ignored_input) begin
          wg_id = {input_wg_q, bank_i};
          strip = IdWidth'(((41'(wg_id) >> strips_i.width) * {16'b0, strips_i.reciprocal}) >> 24);
          queue_q[queue_head_q + queue_size_q[QueueWidth-1:0]] <= {input_wg_q, input_wf_q,
              input_count_q, strip};
          queue_address_q[queue_head_q + queue_size_q[QueueWidth-1:0]] <= input_address_q;
        end
      end
      if (issue && from_queue) queue_head_q <= queue_head_q + QueueWidth'(1);
      queue_size_q <= queue_size_q + (QueueWidth+1)'(input_valid_q && !ignored_input) -
                      (QueueWidth+1)'(issue && from_queue);
      input_valid_q <= update_valid_i && update_ready_o;
      if (update_valid_i && update_ready_o) begin
        input_wg_q <= update_wg_i;
        input_wf_q <= update_wf_i;
        input_count_q <= update_count_i;
        input_address_q <= update_address_i;
      end

      // Bookkeeping.
      grew_q <= allocated;
      live_q <= live_q + {19'b0, allocated} - {19'b0, triggered} - {19'b0, refilled};
      if (ignored_s1 || ignored_input) begin
        ignored_q <= ignored_q + StatisticWidth'(ignored_s1) + StatisticWidth'(ignored_input);
      end
      if (counter_clear_i) begin
        updates_q <= '0;
        half_words_q <= '0;
        ignored_q <= '0;
        triggers_q <= '0;
        spills_q <= '0;
        spill_reads_q <= '0;
        refills_q <= '0;
      end

      if (rst_i) begin
        used_q <= '0;
        entry_busy_q <= '0;
        outstanding_q <= '0;
        input_valid_q <= 1'b0;
        queue_head_q <= '0;
        queue_size_q <= '0;
        waiting_head_q <= '0;
        waiting_size_q <= '0;
        retry_q <= '0;
        s1_valid_q <= 1'b0;
        s2_valid_q <= 1'b0;
        trigger_head_q <= '0;
        trigger_size_q <= '0;
        send_head_q <= '0;
        send_size_q <= '0;
        arrived_head_q <= '0;
        arrived_size_q <= '0;
        grew_q <= 1'b0;
        live_q <= '0;
      end
    end
  end

`ifdef FORMAL
`include "rtl/tracker/tracker_bank_formal.svh"
`endif

endmodule
