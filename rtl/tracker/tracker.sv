// SPDX-License-Identifier: Apache-2.0
// The Tracker: four banks, the registers, and two arbiters towards the DMA engine and the spill
// table. Contract, rules, latency and programming: README.md.
module tracker #(
  // Ways built; 8 make the paper's 19,456 bytes. Fewer save 2,432 bytes each and spill more.
  parameter int unsigned Ways = tracker_pkg::MaxWays,
  // The rest is fixed by tracker_if.h and by what tracker_pkg says; smaller sizes are for the
  // proofs.
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
  localparam int unsigned WgWidth = HighWidth + $clog2(Rows),
  localparam int unsigned IdWidth = WgWidth + 2,
  localparam int unsigned EntryWidth = CounterWidth + AddressWidth
) (
  input  logic                         clk_i,
  input  logic                         rst_i,

  // One update a bank; bank b at bits b * width.
  input  logic [3:0]                   update_valid_i,
  output logic [3:0]                   update_ready_o,
  input  logic [4*IdWidth-1:0]         update_wg_id_i,
  input  logic [4*WfWidth-1:0]         update_wf_id_i,
  input  logic [4*UpdateWidth-1:0]     update_count_i,
  input  logic [4*AddressWidth-1:0]    update_address_i,

  output logic                         trigger_valid_o,
  input  logic                         trigger_ready_i,
  output logic                         trigger_event_o,  // A scheduling event instead of a DMA.
  output logic [IdWidth-1:0]           trigger_wg_id_o,
  output logic [WfWidth-1:0]           trigger_wf_id_o,
  output logic [AddressWidth-1:0]      trigger_address_o,

  output logic                         spill_req_valid_o,
  input  logic                         spill_req_ready_i,
  output logic                         spill_req_write_o,
  output logic [IdWidth+WfWidth-1:0]   spill_req_index_o,
  output logic [EntryWidth-1:0]        spill_req_data_o,
  input  logic                         spill_rsp_valid_i,
  input  logic                         spill_rsp_write_i,
  input  logic [IdWidth+WfWidth-1:0]   spill_rsp_index_i,
  input  logic [EntryWidth-1:0]        spill_rsp_data_i,

`ifdef FORMAL
  // The hand-over between banks and output registers, for the properties.
  output logic [3:0]                   formal_trigger_take_o,
  output logic [4*(WgWidth+WfWidth+AddressWidth)-1:0] formal_trigger_o,
  output logic [3:0]                   formal_request_take_o,
  output logic [4*(WgWidth+WfWidth+EntryWidth+1)-1:0] formal_request_o,
`endif
  output logic                         idle_o,

  input  logic                         reg_we_i,
  input  logic                         reg_re_i,
  input  logic [15:0]                  reg_addr_i,
  input  logic [63:0]                  reg_wdata_i,
  output logic [63:0]                  reg_rdata_o
);

  localparam int unsigned Banks = tracker_pkg::Banks;

  // Registers.
  tracker_regs_pkg::control_t control, used;  // As written; with the ways that are used.
  tracker_regs_pkg::tiles_t tiles;
  tracker_regs_pkg::strips_t strips;
  tracker_regs_pkg::untracked_t untracked;
  tracker_regs_pkg::event_t event_range;
  tracker_regs_pkg::status_t status;
  logic [511:0] thresholds;
  logic         clear, counter_clear, read_pending;
  logic [15:0]  read_address;
  logic         clear_q, counter_clear_q;
  logic [19:0]  max_live_q;

  // What the banks say; wider outputs are in gen_bank.
  logic [Banks-1:0] trigger_valid, request_valid, request_write, bank_idle, bank_busy, bank_grew;
  logic             counter_read;
  logic [2:0]       counter_select;
  logic [StatisticWidth-1:0] counter_sum;

  // Arbiters: a choice is used when the output register is empty or taken.
  logic [1:0] trigger_turn_q, request_turn_q, trigger_bank, request_bank;
  logic       trigger_any, request_any, trigger_load, request_load;
  always_comb begin
    trigger_load = (!trigger_valid_o || trigger_ready_i) && trigger_any;
    request_load = (!spill_req_valid_o || spill_req_ready_i) && request_any;
  end
  rr_arbiter #(.N(Banks)) u_trigger_arbiter (
    .request_i(trigger_valid), .turn_i(trigger_turn_q), .valid_o(trigger_any),
        .index_o(trigger_bank)
  );
  rr_arbiter #(.N(Banks)) u_request_arbiter (
    .request_i(request_valid), .turn_i(request_turn_q), .valid_o(request_any),
        .index_o(request_bank)
  );

  for (genvar b = 0; b < Banks; b++) begin : gen_bank
    logic [WgWidth-1:0] trigger_wg, request_wg;
    logic [WfWidth-1:0] trigger_wf, request_wf;
    logic [AddressWidth-1:0]   trigger_address;
    logic [StatisticWidth-1:0] counter;
    logic [EntryWidth-1:0]     request_data;
    logic [19:0]               live;
`ifdef FORMAL
    assign formal_trigger_take_o[b] = trigger_load && trigger_bank == 2'(b);
    assign formal_request_take_o[b] = request_load && request_bank == 2'(b);
    assign formal_trigger_o[b*(WgWidth+WfWidth+AddressWidth)+:WgWidth+WfWidth+AddressWidth] =
        {trigger_wg, trigger_wf, trigger_address};
    assign formal_request_o[b*(WgWidth+WfWidth+EntryWidth+1)+:WgWidth+WfWidth+EntryWidth+1] =
        {request_wg, request_wf, request_write[b], request_data};
`endif
    logic [$clog2(Entries+1)-1:0] outstanding;
    tracker_bank #(
      .Ways(Ways), .Rows(Rows), .HighWidth(HighWidth), .WfWidth(WfWidth), .UpdateWidth(UpdateWidth),
      .CounterWidth(CounterWidth), .AddressWidth(AddressWidth), .QueueDepth(QueueDepth),
      .WaitingDepth(WaitingDepth), .Entries(Entries), .TriggerDepth(TriggerDepth),
      .StatisticWidth(StatisticWidth)
    ) u_bank (
      .clk_i,
      .rst_i            (rst_i || clear_q),
      .counter_clear_i  (rst_i || counter_clear_q),
      .control_i        (used),
      .tiles_i          (tiles),
      .strips_i         (strips),
      .untracked_i      (untracked),
      .thresholds_i     (thresholds),
      .bank_i           (2'(b)),
      .update_valid_i   (update_valid_i[b]),
      .update_ready_o   (update_ready_o[b]),
      .update_wg_i      (update_wg_id_i[IdWidth*b+2+:WgWidth]),
      .update_wf_i      (update_wf_id_i[WfWidth*b+:WfWidth]),
      .update_count_i   (update_count_i[UpdateWidth*b+:UpdateWidth]),
      .update_address_i (update_address_i[AddressWidth*b+:AddressWidth]),
      .trigger_valid_o  (trigger_valid[b]),
      .trigger_take_i   (trigger_load && trigger_bank == 2'(b)),
      .trigger_wg_o     (trigger_wg),
      .trigger_wf_o     (trigger_wf),
      .trigger_address_o(trigger_address),
      .request_valid_o  (request_valid[b]),
      .request_take_i   (request_load && request_bank == 2'(b)),
      .request_write_o  (request_write[b]),
      .request_wg_o     (request_wg),
      .request_wf_o     (request_wf),
      .request_data_o   (request_data),
      .response_valid_i (spill_rsp_valid_i && spill_rsp_index_i[WfWidth+:2] == 2'(b)),
      .response_write_i (spill_rsp_write_i),
      .response_wg_i    (spill_rsp_index_i[WfWidth+2+:WgWidth]),
      .response_wf_i    (spill_rsp_index_i[WfWidth-1:0]),
      .response_data_i  (spill_rsp_data_i),
`ifdef FORMAL
      .formal_key_i('0), .formal_threshold_i('0), .formal_class_i('0), .formal_tracked_i('0),
      .formal_accepted_i('0), .formal_count_i('0), .formal_lowest_i('0), .formal_done_i('0),
      .formal_read_i('0), .formal_write_i('0), .formal_found_i('0), .formal_entry_i('0),
      .formal_owed_i('0), .formal_taken_i('0), .formal_spilled_i('0), .formal_reading_i('0),
      .formal_writing_i('0), .formal_stream_i('0), .formal_stream_row_i('0),
      .formal_stream_now_i('0), .formal_books_o(), .formal_stream_o(), .formal_rank_o(),
      .formal_full_o(), .formal_oldest_o(), .formal_next_o(), .formal_reads_o(),
      .formal_refill_first_o(), .formal_waiting_next_o(), .formal_not_counted_o(),
`endif
      .idle_o           (bank_idle[b]),
      .busy_o           (bank_busy[b]),
      .grew_o           (bank_grew[b]),
      .live_o           (live),
      .outstanding_o    (outstanding),
      .counter_read_i   (counter_read),
      .counter_select_i (counter_select),
      .counter_o        (counter)
    );
  end
  logic [19:0] live_sum;
  always_comb begin
    live_sum = gen_bank[0].live + gen_bank[1].live + gen_bank[2].live + gen_bank[3].live;
    // Registers `updates` .. `refills` are the counters of the banks, summed.
    counter_read = read_pending && (read_address & ~16'h38) == tracker_regs_pkg::UpdatesOffset;
    counter_select = read_address[5:3];
    counter_sum = gen_bank[0].counter + gen_bank[1].counter + gen_bank[2].counter +
        gen_bank[3].counter;
    idle_o = &bank_idle && !trigger_valid_o && !spill_req_valid_o && !clear_q &&
        !counter_clear_q && !read_pending;
    status.busy = bank_busy != '0 || trigger_valid_o || spill_req_valid_o || clear_q;
    status.outstanding = 7'(gen_bank[0].outstanding) + 7'(gen_bank[1].outstanding) +
        7'(gen_bank[2].outstanding) + 7'(gen_bank[3].outstanding);
    status.live = live_sum;
    used = control;
    if (control.ways == '0 || control.ways > 4'(Ways)) used.ways = 4'(Ways);
  end
  tracker_regs u_regs (
    .clk_i, .rst_i, .reg_we_i, .reg_re_i, .reg_addr_i, .reg_wdata_i, .reg_rdata_o,
    .read_pending_o(read_pending), .address_o(read_address), .control_o(control),
    .clear_we_o(clear), .counter_clear_we_o(counter_clear), .status_i(status), .tiles_o(tiles),
    .strips_o(strips), .untracked_o(untracked), .event_o(event_range), .threshold_o(thresholds),
    .updates_i(64'(counter_sum)), .half_words_i(64'(counter_sum)), .ignored_i(64'(counter_sum)),
    .triggers_i(64'(counter_sum)), .spills_i(64'(counter_sum)), .spill_reads_i(64'(counter_sum)),
    .refills_i(64'(counter_sum)), .max_live_i(64'(max_live_q))
  );

  always_ff @(posedge clk_i) begin : outputs
    logic [IdWidth-1:0] wg_id;
    logic [16:0]        distance;
    if (!trigger_valid_o || trigger_ready_i) trigger_valid_o <= trigger_any;
    if (trigger_load) begin
      trigger_turn_q <= trigger_bank + 2'd1;
      case (trigger_bank)
        2'd0: begin
          wg_id = {gen_bank[0].trigger_wg, 2'd0};
          trigger_wf_id_o <= gen_bank[0].trigger_wf;
          trigger_address_o <= gen_bank[0].trigger_address;
        end
        2'd1: begin
          wg_id = {gen_bank[1].trigger_wg, 2'd1};
          trigger_wf_id_o <= gen_bank[1].trigger_wf;
          trigger_address_o <= gen_bank[1].trigger_address;
        end
        2'd2: begin
          wg_id = {gen_bank[2].trigger_wg, 2'd2};
          trigger_wf_id_o <= gen_bank[2].trigger_wf;
          trigger_address_o <= gen_bank[2].trigger_address;
        end
        default: begin
          wg_id = {gen_bank[3].trigger_wg, 2'd3};
          trigger_wf_id_o <= gen_bank[3].trigger_wf;
          trigger_address_o <= gen_bank[3].trigger_address;
        end
      endcase
      trigger_wg_id_o <= wg_id;
      // T10: the interval wraps from tiles.total to 0.
      distance = 17'(wg_id) - {1'b0, event_range.first};
      if (16'(wg_id) < event_range.first) distance = distance + tiles.total;
      trigger_event_o <= distance < event_range.count;
    end
    if (!spill_req_valid_o || spill_req_ready_i) spill_req_valid_o <= request_any;
    if (request_load) begin
      request_turn_q <= request_bank + 2'd1;
      spill_req_write_o <= request_write[request_bank];
      case (request_bank)
        2'd0: begin
          spill_req_index_o <= {gen_bank[0].request_wg, 2'd0, gen_bank[0].request_wf};
          spill_req_data_o <= gen_bank[0].request_data;
        end
        2'd1: begin
          spill_req_index_o <= {gen_bank[1].request_wg, 2'd1, gen_bank[1].request_wf};
          spill_req_data_o <= gen_bank[1].request_data;
        end
        2'd2: begin
          spill_req_index_o <= {gen_bank[2].request_wg, 2'd2, gen_bank[2].request_wf};
          spill_req_data_o <= gen_bank[2].request_data;
        end
        default: begin
          spill_req_index_o <= {gen_bank[3].request_wg, 2'd3, gen_bank[3].request_wf};
          spill_req_data_o <= gen_bank[3].request_data;
        end
      endcase
    end
    if (clear_q) begin
      trigger_valid_o <= 1'b0;
      spill_req_valid_o <= 1'b0;
    end
    if (rst_i) begin
      trigger_valid_o <= 1'b0;
      trigger_turn_q <= '0;
      trigger_event_o <= 1'b0;
      trigger_wg_id_o <= '0;
      trigger_wf_id_o <= '0;
      trigger_address_o <= '0;
      spill_req_valid_o <= 1'b0;
      spill_req_write_o <= 1'b0;
      spill_req_index_o <= '0;
      spill_req_data_o <= '0;
      request_turn_q <= '0;
    end
  end

  always_ff @(posedge clk_i) begin : registers
    clear_q <= clear;
    counter_clear_q <= counter_clear;
    if (counter_clear_q || (bank_grew != '0 && live_sum > max_live_q)) max_live_q <= live_sum;
    if (rst_i) begin
      clear_q <= 1'b0;
      counter_clear_q <= 1'b0;
      max_live_q <= '0;
    end
  end

  // The two low bits of each id are the number of its bank.
  logic unused;
  assign unused = ^{update_wg_id_i[3*IdWidth+:2], update_wg_id_i[2*IdWidth+:2],
      update_wg_id_i[IdWidth+:2], update_wg_id_i[1:0]};

endmodule
