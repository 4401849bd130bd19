// SPDX-License-Identifier: Apache-2.0
// Properties of the Tracker: rules T1..T10 of README.md, in three modules. tracker_tile_props: what
// the ports show of one tile (T1..T4, T6..T9). tracker_port_props: what they show of the outputs,
// of events and of sleeping (T1, T4, T8, T10). tracker_props puts them beside a whole Tracker.
// What no port shows of T3, T4, T5, T7 and T9 is in tracker_formal.sv.
// verilator lint_off DECLFILENAME

// One tile, the solver's or the bench's choice: its updates are booked when they are taken, its
// entry in memory when its transactions are accepted and answered.
module tracker_tile_props #(
  parameter int unsigned UpdateWidth = 13,
  parameter int unsigned CounterWidth = 16,
  parameter int unsigned AddressWidth = 48,
  localparam int unsigned EntryWidth = CounterWidth + AddressWidth
) (
  input logic                    clk_i,
  input logic                    rst_i,         // Reset, or the table is cleared.
  input logic [CounterWidth-1:0] threshold_i,   // Of the tile, as programmed.
  input logic                    tracked_i,     // Not one of those that are forgotten (T9).
  input logic                    update_i,      // An update of the tile is taken.
  input logic [UpdateWidth-1:0]  update_count_i,
  input logic [AddressWidth-1:0] update_address_i,
  input logic                    trigger_i,     // A trigger of the tile is taken.
  input logic [AddressWidth-1:0] trigger_address_i,
  input logic                    request_i,     // A request of its entry is taken.
  input logic                    request_write_i,
  input logic [EntryWidth-1:0]   request_data_i,
  input logic                    response_i,    // A response to one arrives.
  input logic                    response_write_i,
  input logic [EntryWidth-1:0]   response_data_i,
  // Of any tile.
  input logic                    refused_i,     // An update would not be taken.
  input logic                    trigger_valid_i,
  input logic                    request_valid_i,
  input logic                    request_taken_i,
  input logic                    response_valid_i,
  input logic                    idle_i
`ifdef FORMAL
  ,
  output logic [CounterWidth-1:0] books_count_o,
  output logic [AddressWidth-1:0] books_lowest_o,
  output logic                    books_done_o,
  output logic                    books_read_o,
  output logic                    books_write_o,
  output logic                    books_found_o,
  output logic [EntryWidth-1:0]   books_entry_o,
  output logic [7:0]              books_owed_o
`endif
);

  logic started_q = 1'b0;  // A reset is behind us.
  logic over, over_q;      // More was written than firmware was told: nothing is said of the tile.
  logic now;
  assign now = started_q && !rst_i && !over && !over_q;

  logic [CounterWidth-1:0] count_q;          // Half-words taken,
  logic [AddressWidth-1:0] lowest_q;         // their lowest address.
  logic                    done_q;           // It has triggered.
  logic                    read_q, write_q;  // A transaction is outstanding.
  logic                    spilled_q;        // Its entry in memory is valid,
  logic [EntryWidth-2:0]   entry_q;          // with this content.
  logic                    found_q;          // It was read valid and not yet written back invalid.
  logic                    was_spilled_q;
  logic [7:0]              owed_q;           // Answers that memory owes, for all tiles.
  always_ff @(posedge clk_i) begin
    if (update_i) begin
      count_q <= count_q + CounterWidth'(update_count_i);
      if (update_address_i < lowest_q) lowest_q <= update_address_i;
    end
    if (trigger_i) done_q <= 1'b1;
    if (response_i && response_write_i) write_q <= 1'b0;
    if (response_i && !response_write_i) begin
      read_q <= 1'b0;
      found_q <= response_data_i[EntryWidth-1];
    end
    if (request_i && request_write_i) begin
      write_q <= 1'b1;
      spilled_q <= request_data_i[EntryWidth-1];
      entry_q <= request_data_i[EntryWidth-2:0];
      found_q <= 1'b0;
      if (request_data_i[EntryWidth-1]) was_spilled_q <= 1'b1;
    end
    if (request_i && !request_write_i) read_q <= 1'b1;
    owed_q <= owed_q + 8'(request_taken_i) - 8'(response_valid_i);
    if (over) over_q <= 1'b1;
    if (rst_i) begin
      over_q <= 1'b0;
      started_q <= 1'b1;
      count_q <= '0;
      lowest_q <= '1;
      done_q <= 1'b0;
      read_q <= 1'b0;
      write_q <= 1'b0;
      spilled_q <= 1'b0;
      found_q <= 1'b0;
      was_spilled_q <= 1'b0;
      owed_q <= '0;
    end
  end

  // What the environment promises: the kernel writes each element as often as firmware was told
  // (random tests write more), memory answers what it was asked, once, with what was written.
  assign over = update_i && tracked_i &&
      {1'b0, count_q} + (CounterWidth+1)'(update_count_i) > {1'b0, threshold_i};
  always_ff @(posedge clk_i) if (started_q && !rst_i) begin : promises
`ifndef VERILATOR
    m_threshold: assume (!over);
`endif
    m_count: assume (!update_i || update_count_i != '0);
    m_response: assume (!response_i || (response_write_i ? write_q : read_q));
    m_owed: assume (!response_valid_i || owed_q != '0);
    m_read: assume (!response_i || response_write_i ||
                    (response_data_i[EntryWidth-1] == spilled_q &&
                     (!spilled_q || response_data_i[EntryWidth-2:0] == entry_q)));
  end

  always_ff @(posedge clk_i) if (now) begin : rules
    // T1: a tile triggers exactly once: when the counts of its updates reach its threshold.
    a_t1_not_early: assert (!trigger_i || !tracked_i || count_q == threshold_i);
    a_t1_once: assert (!trigger_i || !tracked_i || !done_q);
    a_t1_happens: assert (!idle_i || owed_q != '0 || !tracked_i || count_q != threshold_i ||
                          done_q);
    // T2: the trigger carries the lowest address of all its updates.
    a_t2_lowest: assert (!trigger_i || trigger_address_i == lowest_q);
    // T3: nothing is lost (T1: all is found again), and what is spilled was taken.
    a_t3_spilled_was_taken: assert (!request_i || !request_write_i || !tracked_i ||
        !request_data_i[EntryWidth-1] ||
        (request_data_i[AddressWidth+:CounterWidth-1] != '0 &&
         {1'b0, request_data_i[AddressWidth+:CounterWidth-1]} <= count_q));
    // T4: an entry is not written over before it was read, and one that was read valid is written
    // back invalid.
    a_t4_write_over: assert (!request_i || !request_write_i ||
                             request_data_i[EntryWidth-1] != spilled_q);
    a_t4_write_back: assert (!request_i || !found_q ||
                             (request_write_i && !request_data_i[EntryWidth-1]));
    // T6: no index has two transactions outstanding.
    a_t6_one: assert (!request_i || !(read_q || write_q));
    // T7: at rest, an update is refused only while memory owes an answer.
    a_t7_refused: assert (!idle_i || !refused_i || owed_q != '0);
    // T8: idle_o means that nothing is offered.
    a_t8_quiet: assert (!idle_i || (!trigger_valid_i && !request_valid_i));
    // T9: what is not tracked leaves no trace.
    a_t9_no_trigger: assert (!trigger_i || tracked_i);
    a_t9_no_spill: assert (!request_i || tracked_i);
    // Stories. Three updates are the least of a split-K tile.
    c_triggers: cover (trigger_i && tracked_i && count_q > CounterWidth'(2));
    c_spills: cover (request_i && request_write_i && request_data_i[EntryWidth-1]);
    c_reads_and_finds: cover (response_i && !response_write_i && spilled_q);
    c_triggers_after_refill: cover (trigger_i && was_spilled_q);
    c_rests_with_updates_inside: cover (idle_i && refused_i);
  end

`ifdef FORMAL
  assign books_count_o = count_q;
  assign books_lowest_o = lowest_q;
  assign books_done_o = done_q;
  assign books_read_o = read_q;
  assign books_write_o = write_q;
  assign books_found_o = found_q;
  assign books_entry_o = {spilled_q, entry_q};
  assign books_owed_o = owed_q;
`endif

endmodule

// The ports of a whole Tracker that are not of one tile.
module tracker_port_props #(
  parameter int unsigned IdWidth = 16,
  parameter int unsigned WfWidth = 3,
  parameter int unsigned AddressWidth = 48,
  parameter int unsigned EntryWidth = 64
) (
  input logic                       clk_i,
  input logic                       rst_i,
  input logic [3:0]                 update_valid_i,
  input logic                       trigger_valid_o,
  input logic                       trigger_ready_i,
  input logic                       trigger_event_o,
  input logic [IdWidth-1:0]         trigger_wg_id_o,
  input logic [WfWidth-1:0]         trigger_wf_id_o,
  input logic [AddressWidth-1:0]    trigger_address_o,
  input logic                       spill_req_valid_o,
  input logic                       spill_req_ready_i,
  input logic                       spill_req_write_o,
  input logic [IdWidth+WfWidth-1:0] spill_req_index_o,
  input logic [EntryWidth-1:0]      spill_req_data_o,
  input logic                       spill_rsp_valid_i,
  input logic                       idle_o,
  input logic                       reg_we_i,
  input logic                       reg_re_i,
  input logic [15:0]                reg_addr_i,
  input logic [63:0]                reg_wdata_i,
  input logic [63:0]                reg_rdata_o
);

  localparam int unsigned TriggerWidth = IdWidth + WfWidth + AddressWidth + 1;
  localparam int unsigned RequestWidth = IdWidth + WfWidth + EntryWidth + 1;

  // What was programmed, and the clock before.
  logic        live_q = 1'b0;  // That clock was not a reset, and did not clear the table.
  logic        clear_q, stalled_q, request_stalled_q, still_q;
  logic [15:0] first_q, last_first_q;
  logic [16:0] count_q, total_q, last_count_q, last_total_q;
  logic [63:0] rdata_q;
  logic [TriggerWidth-1:0] trigger, trigger_q;
  logic [RequestWidth-1:0] request, request_q;
  assign trigger = {trigger_event_o, trigger_wg_id_o, trigger_wf_id_o, trigger_address_o};
  assign request = {spill_req_write_o, spill_req_index_o, spill_req_data_o};
  always_ff @(posedge clk_i) begin
    live_q <= !rst_i && !clear_q;
    clear_q <= reg_we_i && reg_addr_i == tracker_regs_pkg::ClearOffset;
    if (reg_we_i && reg_addr_i == tracker_regs_pkg::EventOffset) begin
      first_q <= reg_wdata_i[tracker_regs_pkg::EventFirstLsb+:16];
      count_q <= reg_wdata_i[tracker_regs_pkg::EventCountLsb+:17];
    end
    if (reg_we_i && reg_addr_i == tracker_regs_pkg::TilesOffset)
      total_q <= reg_wdata_i[tracker_regs_pkg::TilesTotalLsb+:17];
    if (rst_i) begin
      clear_q <= 1'b0;
      first_q <= '0;
      count_q <= '0;
      total_q <= '0;
    end
    last_first_q <= first_q;
    last_count_q <= count_q;
    last_total_q <= total_q;
    stalled_q <= trigger_valid_o && !trigger_ready_i;
    request_stalled_q <= spill_req_valid_o && !spill_req_ready_i;
    still_q <= idle_o && update_valid_i == '0 && !spill_rsp_valid_i && !reg_we_i && !reg_re_i;
    trigger_q <= trigger;
    request_q <= request;
    rdata_q <= reg_rdata_o;
  end

  // Bits that no register has.
  logic unused;
  assign unused = ^{reg_wdata_i[63:49], reg_wdata_i[31:17]};

  // T10: the interval wraps from tiles.total to 0.
  logic [16:0] id, offset;
  assign id = 17'(trigger_wg_id_o);
  assign offset = id - {1'b0, last_first_q} + (id < {1'b0, last_first_q} ? last_total_q : '0);
  always_ff @(posedge clk_i) if (live_q) begin : rules
    // T1: a trigger holds until it is taken. T4: so does a spill request.
    a_t1_held: assert (!stalled_q || (trigger_valid_o && trigger == trigger_q));
    a_t4_held: assert (!request_stalled_q || (spill_req_valid_o && request == request_q));
    // T8: more clocks with idle inputs change nothing.
    a_t8_sleeps: assert (!still_q || (idle_o && !trigger_valid_o && !spill_req_valid_o &&
                                      trigger == trigger_q && request == request_q &&
                                      reg_rdata_o == rdata_q));
    // T10: a trigger is an event if and only if its id lies in the interval.
    a_t10_event: assert (!trigger_valid_o || stalled_q ||
                         trigger_event_o == (offset < last_count_q));
    c_event: cover (trigger_valid_o && !stalled_q && trigger_event_o && id < {1'b0, last_first_q});
    c_no_event: cover (trigger_valid_o && !stalled_q && !trigger_event_o && last_count_q != '0);
  end

endmodule

// Beside a whole Tracker: in each bank the first tile that is updated after a reset or a clear is
// followed, as long as nobody programs the Tracker anew in the meantime.
module tracker_props #(
  parameter int unsigned HighWidth = tracker_pkg::HighWidth,
  parameter int unsigned Rows = tracker_pkg::Rows,
  parameter int unsigned WfWidth = tracker_pkg::WfWidth,
  parameter int unsigned UpdateWidth = tracker_pkg::UpdateWidth,
  parameter int unsigned CounterWidth = tracker_pkg::CounterWidth,
  parameter int unsigned AddressWidth = tracker_pkg::AddressWidth,
  localparam int unsigned IdWidth = HighWidth + $clog2(Rows) + 2,
  localparam int unsigned EntryWidth = CounterWidth + AddressWidth
) (
  input logic                       clk_i,
  input logic                       rst_i,
  input logic [3:0]                 update_valid_i,
  input logic [3:0]                 update_ready_o,
  input logic [4*IdWidth-1:0]       update_wg_id_i,
  input logic [4*WfWidth-1:0]       update_wf_id_i,
  input logic [4*UpdateWidth-1:0]   update_count_i,
  input logic [4*AddressWidth-1:0]  update_address_i,
  input logic                       trigger_valid_o,
  input logic                       trigger_ready_i,
  input logic                       trigger_event_o,
  input logic [IdWidth-1:0]         trigger_wg_id_o,
  input logic [WfWidth-1:0]         trigger_wf_id_o,
  input logic [AddressWidth-1:0]    trigger_address_o,
  input logic                       spill_req_valid_o,
  input logic                       spill_req_ready_i,
  input logic                       spill_req_write_o,
  input logic [IdWidth+WfWidth-1:0] spill_req_index_o,
  input logic [EntryWidth-1:0]      spill_req_data_o,
  input logic                       spill_rsp_valid_i,
  input logic                       spill_rsp_write_i,
  input logic [IdWidth+WfWidth-1:0] spill_rsp_index_i,
  input logic [EntryWidth-1:0]      spill_rsp_data_i,
  input logic                       idle_o,
  input logic                       reg_we_i,
  input logic                       reg_re_i,
  input logic [15:0]                reg_addr_i,
  input logic [63:0]                reg_wdata_i,
  input logic [63:0]                reg_rdata_o
);

  tracker_port_props #(
    .IdWidth(IdWidth), .WfWidth(WfWidth), .AddressWidth(AddressWidth), .EntryWidth(EntryWidth)
  ) u_ports (.*);

  // What was programmed.
  logic         enable_q, clear_q, programs;
  logic [16:0]  total_q, untracked_count_q;
  logic [15:0]  last_strip_q, along_q, untracked_first_q;
  logic [1:0]   width_q;
  logic [511:0] threshold_q;
  assign programs = reg_we_i && (reg_addr_i == tracker_regs_pkg::ControlOffset ||
      reg_addr_i == tracker_regs_pkg::TilesOffset || reg_addr_i == tracker_regs_pkg::StripsOffset ||
      reg_addr_i == tracker_regs_pkg::UntrackedOffset ||
      reg_addr_i[15:6] == tracker_regs_pkg::ThresholdOffset[15:6]);
  always_ff @(posedge clk_i) begin
    clear_q <= reg_we_i && reg_addr_i == tracker_regs_pkg::ClearOffset;
    if (reg_we_i) begin
      if (reg_addr_i[15:6] == tracker_regs_pkg::ThresholdOffset[15:6])
        threshold_q[{reg_addr_i[5:3], 6'b0}+:64] <= reg_wdata_i;
      case (reg_addr_i)
        tracker_regs_pkg::ControlOffset:
          enable_q <= reg_wdata_i[tracker_regs_pkg::ControlEnableLsb];
        tracker_regs_pkg::TilesOffset: begin
          total_q <= reg_wdata_i[tracker_regs_pkg::TilesTotalLsb+:17];
          last_strip_q <= reg_wdata_i[tracker_regs_pkg::TilesLastStripLsb+:16];
        end
        tracker_regs_pkg::StripsOffset: begin
          along_q <= reg_wdata_i[tracker_regs_pkg::StripsAlongLsb+:16];
          width_q <= reg_wdata_i[tracker_regs_pkg::StripsWidthLsb+:2];
        end
        tracker_regs_pkg::UntrackedOffset: begin
          untracked_first_q <= reg_wdata_i[tracker_regs_pkg::UntrackedFirstLsb+:16];
          untracked_count_q <= reg_wdata_i[tracker_regs_pkg::UntrackedCountLsb+:17];
        end
        default: ;
      endcase
    end
    if (rst_i) begin
      clear_q <= 1'b0;
      enable_q <= 1'b0;
      total_q <= '0;
      last_strip_q <= '0;
      along_q <= '0;
      width_q <= '0;
      untracked_first_q <= '0;
      untracked_count_q <= '0;
      threshold_q <= '0;
    end
  end

  for (genvar b = 0; b < 4; b++) begin : gen_bank
    logic                      known_q, left_q, taken, follows;
    logic [IdWidth+WfWidth-1:0] first_q, offered, followed;
    logic [15:0]               id, across;
    logic [16:0]               offset;
    logic [1:0]                tile_class;
    logic [CounterWidth-1:0]   threshold;
    assign taken = update_valid_i[b] && update_ready_o[b];
    assign offered = {update_wg_id_i[b*IdWidth+:IdWidth], update_wf_id_i[b*WfWidth+:WfWidth]};
    assign followed = known_q ? first_q : offered;
    assign follows = !left_q && (known_q || taken);
    assign id = 16'(followed[WfWidth+:IdWidth]);
    assign across = 16'd1 << width_q;
    assign tile_class = {id >= last_strip_q && id % across == across - 16'd1,
                         along_q != '0 && (id >> width_q) % along_q == along_q - 16'd1};
    assign threshold = threshold_q[{tile_class, followed[WfWidth-1:0], 4'b0}+:CounterWidth];
    assign offset = {1'b0, id} - {1'b0, untracked_first_q} +
        (id < untracked_first_q ? total_q : '0);
    always_ff @(posedge clk_i) begin
      if (taken && !known_q) first_q <= offered;
      if (taken) known_q <= 1'b1;
      if (programs && (known_q || taken)) left_q <= 1'b1;
      if (rst_i || clear_q) begin
        known_q <= 1'b0;
        left_q <= 1'b0;
      end
    end
    tracker_tile_props #(
      .UpdateWidth(UpdateWidth), .CounterWidth(CounterWidth), .AddressWidth(AddressWidth)
    ) u_tile (
      .clk_i, .rst_i(rst_i || clear_q), .threshold_i(threshold),
      .tracked_i(enable_q && {1'b0, id} < total_q && offset >= untracked_count_q &&
                 threshold != '0),
      .update_i(follows && taken && offered == followed),
      .update_count_i(update_count_i[b*UpdateWidth+:UpdateWidth]),
      .update_address_i(update_address_i[b*AddressWidth+:AddressWidth]),
      .trigger_i(follows && trigger_valid_o && trigger_ready_i &&
                 {trigger_wg_id_o, trigger_wf_id_o} == followed),
      .trigger_address_i(trigger_address_o),
      .request_i(follows && spill_req_valid_o && spill_req_ready_i &&
                 spill_req_index_o == followed),
      .request_write_i(spill_req_write_o), .request_data_i(spill_req_data_o),
      .response_i(follows && spill_rsp_valid_i && spill_rsp_index_i == followed),
      .response_write_i(spill_rsp_write_i), .response_data_i(spill_rsp_data_i),
      .refused_i(!update_ready_o[b]), .trigger_valid_i(trigger_valid_o),
      .request_valid_i(spill_req_valid_o),
      .request_taken_i(spill_req_valid_o && spill_req_ready_i),
      .response_valid_i(spill_rsp_valid_i), .idle_i(idle_o && follows)
    );
  end

endmodule

`ifdef VERILATOR
bind tracker tracker_props u_props (.*);
`endif
// verilator lint_on DECLFILENAME
