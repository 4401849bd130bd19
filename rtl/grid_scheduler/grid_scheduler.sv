// SPDX-License-Identifier: Apache-2.0
// Grid scheduler: places the work-groups of up to eight kernels on the compute units. Contract and
// rules: README.md.
//
//   pick:  the slot (priority, then in turn) and its next candidate unit
//   place: compare with the unit's capacity; dispatch or clear the candidate bit
// A unit is a candidate of a slot until it was found full for it, and again after a work-group left
// it; so the search costs one comparison a clock and ends by itself.
module grid_scheduler #(
  // Compute units built, 1..160: 36 flip-flops of use and 8 candidate bits each.
  parameter int unsigned MaxCus = 160
) (
  input  logic        clk_i,
  input  logic        rst_i,

  output logic        dispatch_valid_o,
  output logic [7:0]  dispatch_cu_o,
  output logic [2:0]  dispatch_slot_o,
  output logic [31:0] dispatch_wg_id_o,
  input  logic        done_valid_i,
  input  logic        drained_valid_i,
  input  logic [7:0]  done_cu_i,
  input  logic [2:0]  done_slot_i,

  output logic        kernel_start_o,
  output logic [2:0]  start_slot_o,
  output logic        first_wg_done_o,
  output logic        kernel_done_o,
  output logic [2:0]  done_slot_o,
  output logic        irq_o,
  output logic        idle_o,

  input  logic        reg_we_i,
  input  logic        reg_re_i,
  input  logic [15:0] reg_addr_i,
  input  logic [63:0] reg_wdata_i,
  output logic [63:0] reg_rdata_o
);

  localparam int unsigned Slots = 8;
  localparam int unsigned Words = 5;  // Candidate bits in words of 32.
  localparam logic [15:0] SlotsBase = grid_scheduler_regs_pkg::SlotNeedsOffset;

  localparam logic [63:0] ResetCapacity = grid_scheduler_regs_pkg::CapacityReset;

  if (MaxCus < 1 || MaxCus > 160) begin : gen_bad_cus
    $error("grid_scheduler: MaxCus must be 1..160");
  end

  localparam logic [1:0] Free = grid_scheduler_regs_pkg::SlotStateStateFree;
  localparam logic [1:0] Running = grid_scheduler_regs_pkg::SlotStateStateRunning;
  localparam logic [1:0] Done = grid_scheduler_regs_pkg::SlotStateStateDone;
  localparam logic [1:0] Refused = grid_scheduler_regs_pkg::SlotStateStateRefused;

  // Configuration and use of the units.
  logic [7:0] cus_q;
  logic [9:0] capacity_registers_q, capacity_lds_q;
  logic [7:0] capacity_wavefronts_q, capacity_work_groups_q;
  (* mem2reg *) logic [9:0] used_registers_q [MaxCus];
  (* mem2reg *) logic [9:0] used_lds_q [MaxCus];
  (* mem2reg *) logic [7:0] used_wavefronts_q [MaxCus];
  (* mem2reg *) logic [7:0] used_work_groups_q [MaxCus];
  logic [7:0] irq_enable_q, done_q;

  // Kernel slots.
  (* mem2reg *) logic [9:0]  needs_registers_q [Slots];
  (* mem2reg *) logic [9:0]  needs_lds_q [Slots];
  (* mem2reg *) logic [7:0]  needs_wavefronts_q [Slots];
  (* mem2reg *) logic        tensor_q [Slots];
  (* mem2reg *) logic [1:0]  priority_q [Slots];
  (* mem2reg *) logic [31:0] first_q [Slots];
  (* mem2reg *) logic [31:0] count_q [Slots];
  (* mem2reg *) logic [31:0] grid_q [Slots];
  (* mem2reg *) logic [31:0] start_q [Slots];
  (* mem2reg *) logic [1:0]  state_q [Slots];
  (* mem2reg *) logic        started_q [Slots];
  (* mem2reg *) logic        first_done_q [Slots];
  (* mem2reg *) logic [31:0] position_q [Slots];   // The next id is first + position.
  (* mem2reg *) logic [31:0] undispatched_q [Slots];
  (* mem2reg *) logic [31:0] unfinished_q [Slots];
  (* mem2reg *) logic [15:0] resident_q [Slots];
  (* mem2reg *) logic [31:0] candidates_q [Slots*Words];

  // Pick stage.
  logic       pick_valid_q;
  logic [2:0] pick_slot_q, turn_slot_q;
  logic [7:0] pick_cu_q, turn_cu_q;

  // Counters and register reads.
  logic [47:0] dispatched_q, finished_q, drained_q;
  logic        read_pending_q;
  logic [15:0] read_address_q;

  // Who wants to place a work-group, and who of them is served.
  logic [Slots-1:0] wants, served;
  logic [3:0]       present;  // Priorities of those who want.
  logic             pick_any;
  logic [2:0]       pick_slot;
  always_comb begin
    present = '0;
    served = '0;
    for (int unsigned s = 0; s < Slots; s++) begin
      wants[s] = state_q[s] == Running && undispatched_q[s] != '0 &&
                 (candidates_q[s*Words] | candidates_q[s*Words+1] | candidates_q[s*Words+2] |
                  candidates_q[s*Words+3] | candidates_q[s*Words+4]) != '0;
    end
    if (wants != '0) begin
      for (int unsigned s = 0; s < Slots; s++) if (wants[s]) present[priority_q[s]] = 1'b1;
      for (int unsigned s = 0; s < Slots; s++) begin
        served[s] = wants[s] && (present >> priority_q[s]) == 4'd1;
      end
    end
  end
  rr_arbiter #(.N(Slots)) u_slot_arbiter (
    .request_i(served), .turn_i(turn_slot_q), .valid_o(pick_any), .index_o(pick_slot)
  );

  always_comb begin
    irq_o = (done_q & irq_enable_q) != '0;
    idle_o = !pick_valid_q && !read_pending_q && !dispatch_valid_o && !first_wg_done_o &&
        !kernel_done_o &&
             wants == '0;
  end

  always_ff @(posedge clk_i) begin : state
    logic        fits, placed, same_cu, refused;
    logic [7:0]  cu, cus, clear, refused_mask, finished_mask;
    logic [2:0]  slot, word;
    logic [5:0]  base;
    logic [31:0] bits, all_bits;
    logic [10:0] registers_sum, lds_sum;
    logic [8:0]  wavefronts_sum;
    logic [7:0]  work_groups_sum;
    logic [32:0] range_end;
    logic [15:0] offset;

    // G3: pick.
    pick_valid_q <= pick_any;
    if (pick_any) begin
      word = turn_cu_q[7:5];
      base = 6'(pick_slot * 3'd5);
      bits = candidates_q[base + {3'b0, word}] & (32'hffff_ffff << turn_cu_q[4:0]);
      for (int unsigned i = 0; i < Words; i++) begin
        if (bits == '0) begin
          word = word == 3'd4 ? 3'd0 : word + 3'd1;
          bits = candidates_q[base + {3'b0, word}];
        end
      end
      cu = {word, 5'($countones((bits & (~bits + 32'd1)) - 32'd1))};
      pick_cu_q <= cu;
      pick_slot_q <= pick_slot;
      turn_cu_q <= cu == 8'd159 ? '0 : cu + 8'd1;
      turn_slot_q <= pick_slot + 3'd1;
    end

    // G1, G4: place.
    dispatch_valid_o <= 1'b0;
    kernel_start_o <= 1'b0;
    placed = 1'b0;
    slot = pick_slot_q;
    registers_sum = '0;
    lds_sum = '0;
    wavefronts_sum = '0;
    work_groups_sum = '0;
    if (pick_valid_q && state_q[slot] == Running && undispatched_q[slot] != '0) begin
      registers_sum = {1'b0, used_registers_q[pick_cu_q]} + {1'b0, needs_registers_q[slot]};
      lds_sum = {1'b0, used_lds_q[pick_cu_q]} + {1'b0, needs_lds_q[slot]};
      wavefronts_sum = {1'b0, used_wavefronts_q[pick_cu_q]} + {1'b0, needs_wavefronts_q[slot]};
      work_groups_sum = used_work_groups_q[pick_cu_q] + 8'd1;
      fits = registers_sum <= {1'b0, capacity_registers_q} && lds_sum <= {1'b0, capacity_lds_q} &&
             wavefronts_sum <= {1'b0, capacity_wavefronts_q} &&
             used_work_groups_q[pick_cu_q] < capacity_work_groups_q;
      if (fits) begin
        placed = 1'b1;
        used_registers_q[pick_cu_q] <= registers_sum[9:0];
        used_lds_q[pick_cu_q] <= lds_sum[9:0];
        used_wavefronts_q[pick_cu_q] <= wavefronts_sum[7:0];
        used_work_groups_q[pick_cu_q] <= work_groups_sum;
        dispatch_valid_o <= 1'b1;
        dispatch_cu_o <= pick_cu_q;
        dispatch_slot_o <= slot;
        dispatch_wg_id_o <= first_q[slot] + position_q[slot];
        kernel_start_o <= !started_q[slot];
        if (!started_q[slot]) start_slot_o <= slot;
        started_q[slot] <= 1'b1;
        position_q[slot] <= position_q[slot] + 32'd1 == count_q[slot] ? '0
                                                                       : position_q[slot] + 32'd1;
        undispatched_q[slot] <= undispatched_q[slot] - 32'd1;
        resident_q[slot] <= resident_q[slot] + 16'd1;
        dispatched_q <= dispatched_q + 48'd1;
      end else begin
        candidates_q[6'(slot * 3'd5) + {3'b0, pick_cu_q[7:5]}][pick_cu_q[4:0]] <= 1'b0;
      end
    end

    // G5: a work-group leaves.
    first_wg_done_o <= 1'b0;
    kernel_done_o <= 1'b0;
    finished_mask = '0;
    if (done_valid_i || drained_valid_i) begin
      same_cu = placed && pick_cu_q == done_cu_i;
      used_registers_q[done_cu_i] <=
          (same_cu ? registers_sum[9:0] : used_registers_q[done_cu_i]) -
          needs_registers_q[done_slot_i];
      used_lds_q[done_cu_i] <=
          (same_cu ? lds_sum[9:0] : used_lds_q[done_cu_i]) - needs_lds_q[done_slot_i];
      used_wavefronts_q[done_cu_i] <=
          (same_cu ? wavefronts_sum[7:0] : used_wavefronts_q[done_cu_i]) -
          needs_wavefronts_q[done_slot_i];
      used_work_groups_q[done_cu_i] <=
          (same_cu ? work_groups_sum : used_work_groups_q[done_cu_i]) - 8'd1;
      for (int unsigned s = 0; s < Slots; s++) begin
        candidates_q[6'(s*Words) + {3'b0, done_cu_i[7:5]}][done_cu_i[4:0]] <= 1'b1;
      end
      if (placed && slot == done_slot_i) resident_q[slot] <= resident_q[slot];
      else resident_q[done_slot_i] <= resident_q[done_slot_i] - 16'd1;
      if (done_valid_i) begin
        first_wg_done_o <= !first_done_q[done_slot_i];
        first_done_q[done_slot_i] <= 1'b1;
        unfinished_q[done_slot_i] <= unfinished_q[done_slot_i] - 32'd1;
        if (unfinished_q[done_slot_i] == 32'd1) begin
          kernel_done_o <= 1'b1;
          state_q[done_slot_i] <= Done;
          finished_mask = 8'd1 << done_slot_i;
        end
        if (!first_done_q[done_slot_i] || unfinished_q[done_slot_i] == 32'd1) begin
          done_slot_o <= done_slot_i;
        end
        finished_q <= finished_q + 48'd1;
      end else begin
        drained_q <= drained_q + 48'd1;
      end
    end

    // Registers: write.
    refused_mask = '0;
    clear = '0;
    if (reg_we_i && reg_addr_i >= SlotsBase) begin
      offset = {10'd8, reg_addr_i[5:0]};
      slot = reg_addr_i[8:6];
      if (reg_addr_i[15:9] == 7'd1 && state_q[slot] == Free) begin
        case (offset)
          grid_scheduler_regs_pkg::SlotNeedsOffset: begin
            needs_registers_q[slot] <=
                reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsRegistersKibLsb+:10];
            needs_lds_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsLdsKibLsb+:10];
            needs_wavefronts_q[slot] <=
                reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsWavefrontsLsb+:8];
            tensor_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsTypeLsb];
            priority_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsPriorityLsb+:2];
          end
          grid_scheduler_regs_pkg::SlotRangeOffset: begin
            first_q[slot] <= reg_wdata_i[31:0];
            count_q[slot] <= reg_wdata_i[63:32];
          end
          grid_scheduler_regs_pkg::SlotOrderOffset: begin
            grid_q[slot] <= reg_wdata_i[31:0];
            start_q[slot] <= reg_wdata_i[63:32];
          end
          grid_scheduler_regs_pkg::SlotControlOffset: begin
            if (reg_wdata_i[grid_scheduler_regs_pkg::SlotControlLaunchLsb]) begin
              // G2: what can never be placed is refused.
              range_end = {1'b0, first_q[slot]} + {1'b0, count_q[slot]};
              refused = needs_registers_q[slot] > capacity_registers_q ||
                        needs_lds_q[slot] > capacity_lds_q ||
                        needs_wavefronts_q[slot] > capacity_wavefronts_q ||
                        capacity_work_groups_q == '0 || count_q[slot] == '0 ||
                        range_end > {1'b0, grid_q[slot]} || start_q[slot] >= count_q[slot];
              if (refused) begin
                state_q[slot] <= Refused;
                refused_mask = 8'd1 << slot;
              end else begin
                state_q[slot] <= Running;
                started_q[slot] <= 1'b0;
                first_done_q[slot] <= 1'b0;
                position_q[slot] <= start_q[slot];
                undispatched_q[slot] <= count_q[slot];
                unfinished_q[slot] <= count_q[slot];
                resident_q[slot] <= '0;
                cus = cus_q == '0 || cus_q > 8'(MaxCus) ? 8'(MaxCus) : cus_q;
                for (int unsigned w = 0; w < Words; w++) begin
                  all_bits = '0;
                  for (int unsigned b = 0; b < 32; b++) all_bits[b] = 8'(w*32 + b) < cus;
                  candidates_q[6'(slot * 3'd5) + 6'(w)] <= all_bits;
                end
              end
            end
          end
          default: ;
        endcase
      end
    end else if (reg_we_i) begin
      case (reg_addr_i)
        grid_scheduler_regs_pkg::CusOffset: cus_q <= reg_wdata_i[7:0];
        grid_scheduler_regs_pkg::CapacityOffset: begin
          capacity_registers_q <= reg_wdata_i[grid_scheduler_regs_pkg::CapacityRegistersKibLsb+:10];
          capacity_lds_q <= reg_wdata_i[grid_scheduler_regs_pkg::CapacityLdsKibLsb+:10];
          capacity_wavefronts_q <= reg_wdata_i[grid_scheduler_regs_pkg::CapacityWavefrontsLsb+:8];
          capacity_work_groups_q <= reg_wdata_i[grid_scheduler_regs_pkg::CapacityWorkGroupsLsb+:8];
        end
        grid_scheduler_regs_pkg::DoneOffset: begin
          clear = done_q & reg_wdata_i[7:0];
          for (int unsigned s = 0; s < Slots; s++) if (clear[s]) state_q[s] <= Free;
        end
        grid_scheduler_regs_pkg::IrqEnableOffset: irq_enable_q <= reg_wdata_i[7:0];
        grid_scheduler_regs_pkg::CounterClearOffset: begin
          dispatched_q <= '0;
          finished_q <= '0;
          drained_q <= '0;
        end
        default: ;
      endcase
    end
    done_q <= (done_q & ~clear) | refused_mask | finished_mask;

    // Registers: read.
    read_pending_q <= reg_re_i;
    if (reg_re_i) read_address_q <= reg_addr_i;
    if (read_pending_q) begin
      slot = read_address_q[8:6];
      offset = read_address_q[15:9] == 7'd1 ? {10'd8, read_address_q[5:0]} : read_address_q;
      case (offset)
        grid_scheduler_regs_pkg::CusOffset: reg_rdata_o <= {56'b0, cus_q};
        grid_scheduler_regs_pkg::CapacityOffset: begin
          reg_rdata_o <= {8'b0, capacity_work_groups_q, 8'b0, capacity_wavefronts_q,
                          6'b0, capacity_lds_q, 6'b0, capacity_registers_q};
        end
        grid_scheduler_regs_pkg::DoneOffset: reg_rdata_o <= {56'b0, done_q};
        grid_scheduler_regs_pkg::IrqEnableOffset: reg_rdata_o <= {56'b0, irq_enable_q};
        grid_scheduler_regs_pkg::StatusOffset: begin
          reg_rdata_o <= '0;
          for (int unsigned s = 0; s < Slots; s++) begin
            reg_rdata_o[grid_scheduler_regs_pkg::StatusRunningLsb+s] <= state_q[s] == Running;
            reg_rdata_o[grid_scheduler_regs_pkg::StatusUndispatchedLsb+s] <=
                state_q[s] == Running && undispatched_q[s] != '0;
          end
        end
        grid_scheduler_regs_pkg::DispatchedOffset: reg_rdata_o <= {16'b0, dispatched_q};
        grid_scheduler_regs_pkg::FinishedOffset: reg_rdata_o <= {16'b0, finished_q};
        grid_scheduler_regs_pkg::DrainedOffset: reg_rdata_o <= {16'b0, drained_q};
        grid_scheduler_regs_pkg::SlotNeedsOffset: begin
          reg_rdata_o <= {6'b0, priority_q[slot], 7'b0, tensor_q[slot],
                          8'b0, needs_wavefronts_q[slot],
                          6'b0, needs_lds_q[slot], 6'b0, needs_registers_q[slot]};
        end
        grid_scheduler_regs_pkg::SlotRangeOffset: reg_rdata_o <= {count_q[slot], first_q[slot]};
        grid_scheduler_regs_pkg::SlotOrderOffset: reg_rdata_o <= {start_q[slot], grid_q[slot]};
        grid_scheduler_regs_pkg::SlotStateOffset: begin
          reg_rdata_o <= {undispatched_q[slot], resident_q[slot], 14'b0, state_q[slot]};
        end
        default: reg_rdata_o <= '0;
      endcase
    end

    if (rst_i) begin
      cus_q <= grid_scheduler_regs_pkg::CusReset[7:0];
      capacity_registers_q <= ResetCapacity[grid_scheduler_regs_pkg::CapacityRegistersKibLsb+:10];
      capacity_lds_q <= ResetCapacity[grid_scheduler_regs_pkg::CapacityLdsKibLsb+:10];
      capacity_wavefronts_q <= ResetCapacity[grid_scheduler_regs_pkg::CapacityWavefrontsLsb+:8];
      capacity_work_groups_q <= ResetCapacity[grid_scheduler_regs_pkg::CapacityWorkGroupsLsb+:8];
      // Two loops, because Verilator unrolls at most 64 rounds of one.
      for (int unsigned w = 0; w < Words; w++) begin
        for (int unsigned b = 0; b < 32; b++) begin
          if (w*32 + b < MaxCus) begin
            used_registers_q[w*32+b] <= '0;
            used_lds_q[w*32+b] <= '0;
            used_wavefronts_q[w*32+b] <= '0;
            used_work_groups_q[w*32+b] <= '0;
          end
        end
      end
      for (int unsigned s = 0; s < Slots; s++) begin
        needs_registers_q[s] <= '0;
        needs_lds_q[s] <= '0;
        needs_wavefronts_q[s] <= '0;
        tensor_q[s] <= 1'b0;
        priority_q[s] <= '0;
        first_q[s] <= '0;
        count_q[s] <= '0;
        grid_q[s] <= '0;
        start_q[s] <= '0;
        state_q[s] <= Free;
        started_q[s] <= 1'b0;
        first_done_q[s] <= 1'b0;
        position_q[s] <= '0;
        undispatched_q[s] <= '0;
        unfinished_q[s] <= '0;
        resident_q[s] <= '0;
      end
      for (int unsigned w = 0; w < Slots * Words; w++) candidates_q[w] <= '0;
      irq_enable_q <= '0;
      done_q <= '0;
      pick_valid_q <= 1'b0;
      pick_slot_q <= '0;
      pick_cu_q <= '0;
      turn_slot_q <= '0;
      turn_cu_q <= '0;
      dispatched_q <= '0;
      finished_q <= '0;
      drained_q <= '0;
      read_pending_q <= 1'b0;
      read_address_q <= '0;
      reg_rdata_o <= '0;
      dispatch_valid_o <= 1'b0;
      dispatch_cu_o <= '0;
      dispatch_slot_o <= '0;
      dispatch_wg_id_o <= '0;
      kernel_start_o <= 1'b0;
      start_slot_o <= '0;
      first_wg_done_o <= 1'b0;
      kernel_done_o <= 1'b0;
      done_slot_o <= '0;
    end
  end

endmodule
