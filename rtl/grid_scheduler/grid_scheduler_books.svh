// SPDX-License-Identifier: Apache-2.0
// The part of grid_scheduler_props.sv that keeps books: what was programmed, placed and ended, seen
// from the ports.
//
// Names with _q are the books of before the last edge, which the dispatch that the outputs show is
// not in yet; those without _q have it. `w_` (was) are inputs and facts of the last clock. A quiet
// clock has no input; in a row of quiet clocks use only grows and work only shrinks, so that what
// holds now held when the choice was made (two clocks ago).

  logic started_q = 1'b0;  // The first clock, a reset, is behind us.
  logic live_q = 1'b0;     // The last clock was not a reset.

  // The unit and the slot that some rules look at: any in the proof, all in turn in simulation.
  logic [CuWidth-1:0]   k;
  logic [SlotWidth-1:0] h;
`ifdef VERILATOR
  logic [CuWidth-1:0]   k_q = '0;
  logic [SlotWidth-1:0] h_q = '0;
  always_ff @(posedge clk_i) begin
    k_q <= k_q == CuWidth'(MaxCus - 1) ? '0 : k_q + CuWidth'(1);
    h_q <= h_q + SlotWidth'(1);
  end
  always_comb begin
    k = k_q;
    h = h_q;
  end
`else
  (* anyconst *) logic [CuWidth-1:0]   any_k;
  (* anyconst *) logic [SlotWidth-1:0] any_h;
  always_comb begin
    k = any_k < CuWidth'(MaxCus - 1) ? any_k : CuWidth'(MaxCus - 1);
    h = any_h;
  end
`endif

  // Programmed.
  logic [7:0] cus_q, cus;
  logic       launch_order_q, two_arbiters_q, strict_q;
  logic [ResourceWidth-1:0] capacity_registers_q, capacity_lds_q;
  logic [CountWidth-1:0]    capacity_wavefronts_q, capacity_work_groups_q;
  (* mem2reg *) logic [ResourceWidth-1:0] registers_q [Slots];
  (* mem2reg *) logic [ResourceWidth-1:0] lds_q [Slots];
  (* mem2reg *) logic [CountWidth-1:0]    wavefronts_q [Slots];
  (* mem2reg *) logic [1:0]               priority_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       first_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       count_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       grid_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       start_q [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       skip_q [Slots];
  (* mem2reg *) logic [BatchWidth-1:0]    batch_q [Slots];
  (* mem2reg *) logic [15:0]              gate_q [Slots];
  (* mem2reg *) logic [BatchWidth-1:0]    phase_q [Slots];
  logic [Slots-1:0] tensor_q, resumes_q, gated_q;  // skip and gates count.
  logic [Gates-1:0] gates_q;

  // Slots.
  logic [Slots-1:0] running_q, running, over_q, over, started_slot_q, first_done_q, preempted_q, ended;
  logic [Slots-1:0] rejected_q;      // Over, because they were refused.
  logic [Slots-1:0] waits_q, waits;  // Of a pipeline of which nothing is placed.
  logic [Slots-1:0] goes_q, goes;    // Of a pipeline that is being placed: those with work-groups left.
  logic [Slots*Slots-1:0] older_q;
  (* mem2reg *) logic [IdWidth-1:0]       position_q [Slots], position [Slots];
  (* mem2reg *) logic [IdWidth-1:0]       left_q [Slots], count_left [Slots];
  (* mem2reg *) logic [ResidentWidth-1:0] resident_q [Slots], count_resident [Slots];
  (* mem2reg *) logic [15:0]              gate [Slots];   // gate_q and phase_q are of the next work-group.
  (* mem2reg *) logic [BatchWidth-1:0]    phase [Slots];
  logic [Slots-1:0] asked_q, todo_q, todo;  // Members of a pipeline that are still to be checked, one a clock.
  logic [TotalWidth-1:0] total_q;  // Work-groups of those that were.
  logic [Slots-1:0] last_q;    // Whose next work-group is the last of the order.
  logic [Slots-1:0] left;      // Slots with work-groups left,
  logic [Slots-1:0] resident;  // with work-groups on units.

  // The work-groups of each slot on each unit, and the use of the units.
  logic [MaxCus*Slots*CountWidth-1:0]     there_q;
  (* mem2reg *) logic [ResourceWidth-1:0] used_registers_q [MaxCus], used_registers [MaxCus];
  (* mem2reg *) logic [ResourceWidth-1:0] used_lds_q [MaxCus], used_lds [MaxCus];
  (* mem2reg *) logic [CountWidth-1:0]    used_wavefronts_q [MaxCus], used_wavefronts [MaxCus];
  (* mem2reg *) logic [CountWidth-1:0]    used_work_groups_q [MaxCus], used_work_groups [MaxCus];
  logic [ResourceWidth-1:0] k_registers, k_lds;
  logic [CountWidth-1:0]    k_wavefronts, k_work_groups;
  // The same of unit k, counted afresh.
  logic [SumWidth-1:0] sum_registers, sum_lds, sum_wavefronts, sum_work_groups, sum_there;
  logic [Slots-1:0]    agree;  // Slots whose resident work-groups are those on the units.
  logic [ResidentWidth-1:0] sum_slot;
  logic                leaver_there;

  // Returned work-groups.
  logic [SlotWidth-1:0]   returned_slot_q [ReturnedEntries];
  logic [IdWidth-1:0]     returned_id_q [ReturnedEntries];
  logic [ReturnedWidth:0] returned_in_q, returned_out_q;

  // The last clock.
  logic [2:0]  quiet_q;  // The last three clocks were quiet, newest first.
  logic        w_dispatch, w_leave, w_idle, w_irq, w_read, w_drain;
  logic [SlotWidth-1:0] w_slot, w_leave_slot, w_drain_slot;
  logic        w_first;
  logic [15:0] w_address;
  logic [63:0] w_rdata;
  logic [Slots-1:0] w_launched, w_busy, w_waits;
  logic        w_bad;
  // The last dispatch of each arbiter since which all clocks were quiet; its slot has work left.
  logic [Slots-1:0]   w_stopping;  // Written in the last clock: what was at the place stage then may go.
  logic [Gates-1:0]   w_gates;     // Open when the dispatch that is shown was made.
  logic [1:0]         trail_q;
  logic [CuWidth-1:0] trail_0_q, trail_1_q, next_unit;

  logic steady;  // Three quiet clocks lie behind.
  logic quiet, by_two, k_in_use, any_use, h_fits, h_open, h_ahead, h_under, h_may_go, second, leaves;
  logic [Slots-1:0] older, ahead, higher, above, alone;
  logic [Slots-1:0] outranks, outranks_q;  // S3: goes before the pipeline, and has since that waits.
  logic [1:0] waits_priority;

  // The slot that a register write is for, and what becomes of a launch.
  logic                 slot_write, launch, in_pipe, bad;
  logic [SlotWidth-1:0] slot;
  logic [5:0]           offset;
  logic [IdWidth:0]     order_sum, range_end;
  logic [IdWidth-1:0]   d_position, skip, first_position, first_left;
  logic [Slots-1:0]     members;

  always_comb begin
    cus = cus_q == '0 || cus_q > 8'(MaxCus) ? 8'(MaxCus) : cus_q;
    leaves = done_valid_i || drained_valid_i;
    steady = &quiet_q;
    quiet = !rst_i && !leaves && !event_valid_i && !reg_we_i && !reg_re_i;

    // Slots, with the dispatch, the end and the refusals that are shown.
    ended = '0;
    if (kernel_done_o) ended[done_slot_o] = 1'b1;
    running = running_q & ~refused_o & ~ended;
    over = over_q | refused_o | ended;
    for (int unsigned s = 0; s < Slots; s++) begin
      second = dispatch_valid_o && dispatch_slot_o == SlotWidth'(s) && !(w_launched[s] && !w_bad);
      count_left[s] = left_q[s] - IdWidth'(second);
      left[s] = count_left[s] != '0;
      count_resident[s] = resident_q[s] + ResidentWidth'(second);
      resident[s] = count_resident[s] != '0;
      position[s] = position_q[s];
      gate[s] = gate_q[s];
      phase[s] = phase_q[s];
      if (second) begin
        position[s] = position_q[s] + IdWidth'(1) == count_q[s] ? '0 : position_q[s] + IdWidth'(1);
      end
      if (dispatch_valid_o && dispatch_slot_o == SlotWidth'(s)) begin
        phase[s] = '0;
        if (last_q[s]) gate[s] = '0;
        else if (phase_q[s] + BatchWidth'(1) == batch_q[s]) gate[s] = gate_q[s] + 16'd1;
        else phase[s] = phase_q[s] + BatchWidth'(1);
      end
    end
    // Whom the last write asked to be a pipeline now waits, if it was not refused.
    waits = (waits_q & (refused_o | ended)) != '0 ? '0 : waits_q;
    todo = (todo_q & refused_o) != '0 ? '0 : todo_q;
    if (asked_q != '0 && (asked_q & refused_o) == '0) begin
      waits = asked_q;
      todo = asked_q;
    end
    goes = goes_q;
    if (dispatch_valid_o && waits_q[dispatch_slot_o]) begin
      goes = waits_q;
      waits = '0;
    end
    goes = goes & left;
    d_position = position_q[dispatch_slot_o];
    waits_priority = '0;
    for (int unsigned s = 0; s < Slots; s++) begin
      if (waits[Slots-1-s]) waits_priority = priority_q[Slots-1-s];
    end

    // Units.
    for (int unsigned w = 0; w < 5; w++) begin
      for (int unsigned b = 0; b < 32; b++) begin
        if (w*32 + b < MaxCus) begin
          used_registers[w*32+b] = used_registers_q[w*32+b];
          used_lds[w*32+b] = used_lds_q[w*32+b];
          used_wavefronts[w*32+b] = used_wavefronts_q[w*32+b];
          used_work_groups[w*32+b] = used_work_groups_q[w*32+b];
        end
      end
    end
    if (dispatch_valid_o) begin
      used_registers[dispatch_cu_o] = used_registers_q[dispatch_cu_o] + registers_q[dispatch_slot_o];
      used_lds[dispatch_cu_o] = used_lds_q[dispatch_cu_o] + lds_q[dispatch_slot_o];
      used_wavefronts[dispatch_cu_o] = used_wavefronts_q[dispatch_cu_o] + wavefronts_q[dispatch_slot_o];
      used_work_groups[dispatch_cu_o] = used_work_groups_q[dispatch_cu_o] + CountWidth'(1);
    end
    k_registers = used_registers[k];
    k_lds = used_lds[k];
    k_wavefronts = used_wavefronts[k];
    k_work_groups = used_work_groups[k];
    sum_registers = '0;
    sum_lds = '0;
    sum_wavefronts = '0;
    sum_work_groups = '0;
    for (int unsigned s = 0; s < Slots; s++) begin
      second = dispatch_valid_o && dispatch_cu_o == k && dispatch_slot_o == SlotWidth'(s);
      sum_there = SumWidth'(there_q[(32'(k)*Slots + s)*CountWidth+:CountWidth]) + SumWidth'(second);
      sum_registers = sum_registers + sum_there * SumWidth'(registers_q[s]);
      sum_lds = sum_lds + sum_there * SumWidth'(lds_q[s]);
      sum_wavefronts = sum_wavefronts + sum_there * SumWidth'(wavefronts_q[s]);
      sum_work_groups = sum_work_groups + sum_there;
    end
    agree = '1;
    sum_slot = '0;
    for (int unsigned s = 0; s < Slots; s++) begin
`ifdef VERILATOR
      if (h == SlotWidth'(s)) begin
`endif
      sum_slot = '0;
      for (int unsigned w = 0; w < 5; w++) begin
        for (int unsigned b = 0; b < 32; b++) begin
          if (w*32 + b < MaxCus) begin
            sum_slot = sum_slot + ResidentWidth'(there_q[((w*32+b)*Slots + s)*CountWidth+:CountWidth]);
          end
        end
      end
      if (sum_slot != resident_q[s] || (sum_slot != '0 && (!running_q[s] || todo[s]))) agree[s] = 1'b0;
`ifdef VERILATOR
      end
`endif
    end
    leaver_there = there_q[(32'(done_cu_i)*Slots + 32'(done_slot_i))*CountWidth+:CountWidth] != '0 ||
        (dispatch_valid_o && dispatch_cu_o == done_cu_i && dispatch_slot_o == done_slot_i);
    k_in_use = 8'(k) < cus;
    any_use = dispatch_valid_o;
    for (int unsigned w = 0; w < 5; w++) begin
      for (int unsigned b = 0; b < 32; b++) begin
        if (w*32 + b < MaxCus) begin
          if (used_registers_q[w*32+b] != '0 || used_lds_q[w*32+b] != '0 ||
              used_wavefronts_q[w*32+b] != '0 || used_work_groups_q[w*32+b] != '0) any_use = 1'b1;
        end
      end
    end

    // Slot h: may its next work-group go, and does it fit on k?
    h_fits = k_in_use &&
        {1'b0, k_registers} + {1'b0, registers_q[h]} <= {1'b0, capacity_registers_q} &&
        {1'b0, k_lds} + {1'b0, lds_q[h]} <= {1'b0, capacity_lds_q} &&
        {1'b0, k_wavefronts} + {1'b0, wavefronts_q[h]} <= {1'b0, capacity_wavefronts_q} &&
        k_work_groups < capacity_work_groups_q;
    h_open = !gated_q[h] || gates_q[gate[h][GateBits-1:0]];
    older = older_q[h*Slots+:Slots] & running & left & ~preempted_q & ~waits & ~goes;
    for (int unsigned s = 0; s < Slots; s++) begin
      if (priority_q[s] < priority_q[h] || (two_arbiters_q && tensor_q[s] != tensor_q[h])) older[s] = 1'b0;
    end
    higher = running & left & ~preempted_q & ~waits & ~goes;
    outranks = strict_q ? higher & ~gated_q : '0;
    for (int unsigned s = 0; s < Slots; s++) begin
      if (priority_q[s] <= priority_q[h]) higher[s] = 1'b0;
      if (priority_q[s] <= waits_priority) outranks[s] = 1'b0;
    end
    ahead = older;
    above = higher;
    for (int unsigned s = 0; s < Slots; s++) begin
      if (gated_q[s] && !gates_q[gate_q[s][GateBits-1:0]]) begin
        ahead[s] = 1'b0;
        above[s] = 1'b0;
      end
    end
    // A closed gate counts once it was met, which the ports do not show.
    h_ahead = launch_order_q && older != '0;
    h_under = strict_q && higher != '0;
    h_may_go = running[h] && left[h] && !preempted_q[h] && !waits[h] && !goes[h] && h_open && !h_ahead && !h_under &&
        (waits == '0 || priority_q[h] >= waits_priority);

    // G4, S1: behind the last unit of its arbiter.
    by_two = two_arbiters_q && tensor_q[dispatch_slot_o];
    next_unit = by_two ? trail_1_q : trail_0_q;
    next_unit = 8'(next_unit) + 8'd1 >= cus ? '0 : next_unit + CuWidth'(1);

    // Others may have moved the arbiter on: slots of it with work left, and gated ones.
    alone = running & left;
    alone[h] = 1'b0;
    for (int unsigned s = 0; s < Slots; s++) begin
      if (two_arbiters_q && tensor_q[s] != tensor_q[h]) alone[s] = 1'b0;
    end

    // Launches.
    slot_write = reg_we_i && reg_addr_i[15:11] == 5'd1 && {1'b0, reg_addr_i[10:6]} < 6'(Slots);
    slot = SlotWidth'(reg_addr_i[10:6]);
    offset = reg_addr_i[5:0];
    launch = slot_write && offset == 6'h18 && reg_wdata_i[0] && !running[slot] && !over[slot];
    in_pipe = !reg_we_i && todo != '0;
    if (in_pipe) begin
      launch = 1'b1;
      for (int unsigned s = 0; s < Slots; s++) if (todo[Slots-1-s]) slot = SlotWidth'(Slots-1-s);
    end
    range_end = {1'b0, first_q[slot]} + {1'b0, count_q[slot]};
    skip = resumes_q[slot] ? skip_q[slot] : '0;
    order_sum = {1'b0, start_q[slot]} + {1'b0, skip};
    first_position = order_sum >= {1'b0, count_q[slot]} ? IdWidth'(order_sum - {1'b0, count_q[slot]})
                                                        : order_sum[IdWidth-1:0];
    first_left = count_q[slot] - skip;
    bad = registers_q[slot] > capacity_registers_q || lds_q[slot] > capacity_lds_q ||
        wavefronts_q[slot] > capacity_wavefronts_q || capacity_work_groups_q == '0 ||
        count_q[slot] == '0 || range_end > {1'b0, grid_q[slot]} || start_q[slot] >= count_q[slot] ||
        skip >= count_q[slot] ||
        (gated_q[slot] && (in_pipe || {1'b0, gate[slot]} >= 17'(Gates) || phase[slot] >= batch_q[slot] ||
         ((count_q[slot] - IdWidth'(1)) >> GateBits) >= IdWidth'(batch_q[slot]))) ||
        (in_pipe && 40'(total_q) + 40'(first_left) > 40'(PipelineEntries));
    members = '0;
    if (reg_we_i && reg_addr_i == grid_scheduler_regs_pkg::PipelineOffset) begin
      members = reg_wdata_i[Slots-1:0] & ~running & ~over;
    end
  end

  always_ff @(posedge clk_i) begin : books
    started_q <= 1'b1;
    live_q <= !rst_i;

    // What is placed.
    if (dispatch_valid_o) begin
      started_slot_q[dispatch_slot_o] <= 1'b1;
      if (!leaves || done_slot_i != dispatch_slot_o || done_cu_i != dispatch_cu_o) begin
        there_q[(32'(dispatch_cu_o)*Slots + 32'(dispatch_slot_o))*CountWidth+:CountWidth] <=
            there_q[(32'(dispatch_cu_o)*Slots + 32'(dispatch_slot_o))*CountWidth+:CountWidth] + CountWidth'(1);
      end
    end
    for (int unsigned s = 0; s < Slots; s++) begin
      position_q[s] <= position[s];
      last_q[s] <= position[s] + IdWidth'(1) == count_q[s];
      left_q[s] <= count_left[s];
      resident_q[s] <= count_resident[s];
      gate_q[s] <= gate[s];
      phase_q[s] <= phase[s];
    end
    waits_q <= waits;
    outranks_q <= waits == '0 || todo != '0 ? '1 : outranks_q & outranks;
    todo_q <= todo;
    if (todo == '0) total_q <= '0;
    asked_q <= '0;
    goes_q <= goes;
    running_q <= running;
    over_q <= over;
    rejected_q <= (rejected_q | refused_o) & ~(kernel_done_o ? ended : '0);
    // T1: a waiting pipeline of which a member ends without a dispatch was stopped as a whole.
    if ((waits_q & ended) != '0) preempted_q <= preempted_q | waits_q;

    // What leaves.
    if (dispatch_valid_o) begin
      used_registers_q[dispatch_cu_o] <= used_registers[dispatch_cu_o];
      used_lds_q[dispatch_cu_o] <= used_lds[dispatch_cu_o];
      used_wavefronts_q[dispatch_cu_o] <= used_wavefronts[dispatch_cu_o];
      used_work_groups_q[dispatch_cu_o] <= used_work_groups[dispatch_cu_o];
    end
    if (leaves) begin
      used_registers_q[done_cu_i] <= used_registers[done_cu_i] - registers_q[done_slot_i];
      used_lds_q[done_cu_i] <= used_lds[done_cu_i] - lds_q[done_slot_i];
      used_wavefronts_q[done_cu_i] <= used_wavefronts[done_cu_i] - wavefronts_q[done_slot_i];
      used_work_groups_q[done_cu_i] <= used_work_groups[done_cu_i] - CountWidth'(1);
      if (!dispatch_valid_o || dispatch_cu_o != done_cu_i || dispatch_slot_o != done_slot_i) begin
        there_q[(32'(done_cu_i)*Slots + 32'(done_slot_i))*CountWidth+:CountWidth] <=
            there_q[(32'(done_cu_i)*Slots + 32'(done_slot_i))*CountWidth+:CountWidth] - CountWidth'(1);
      end
      resident_q[done_slot_i] <= count_resident[done_slot_i] - ResidentWidth'(1);
      if (done_valid_i) first_done_q[done_slot_i] <= 1'b1;
      if (drained_valid_i) begin
        returned_slot_q[returned_in_q[ReturnedWidth-1:0]] <= done_slot_i;
        returned_id_q[returned_in_q[ReturnedWidth-1:0]] <= drained_wg_id_i;
        returned_in_q <= returned_in_q + (ReturnedWidth+1)'(1);
      end
    end
    if (event_valid_i && {1'b0, event_gate_i} < 17'(Gates)) begin
      gates_q[event_gate_i[GateBits-1:0]] <= 1'b1;
    end
    // Registers.
    if (launch) begin
      if (!in_pipe || !bad) running_q[slot] <= 1'b1;  // If it is refused, the next clock says so.
      if (!bad) begin
        started_slot_q[slot] <= 1'b0;
        first_done_q[slot] <= 1'b0;
        left_q[slot] <= first_left;
        position_q[slot] <= first_position;
        resident_q[slot] <= '0;
        if (in_pipe) total_q <= total_q + TotalWidth'(first_left);
        for (int unsigned s = 0; s < Slots; s++) older_q[s*Slots + 32'(slot)] <= 1'b0;
        older_q[slot*Slots+:Slots] <= ~(Slots'(1) << slot);
      end
      if (in_pipe) todo_q[slot] <= 1'b0;
    end
    if (members != '0) begin
      running_q <= running | members;
      asked_q <= members;
    end
    if (slot_write && !running[slot] && !over[slot]) begin
      case (offset)
        6'h00: begin
          registers_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsRegistersKibLsb+:ResourceWidth];
          lds_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsLdsKibLsb+:ResourceWidth];
          wavefronts_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsWavefrontsLsb+:CountWidth];
          tensor_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsTypeLsb];
          priority_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotNeedsPriorityLsb+:2];
        end
        6'h08: begin
          first_q[slot] <= reg_wdata_i[0+:IdWidth];
          count_q[slot] <= reg_wdata_i[32+:IdWidth];
        end
        6'h10: begin
          grid_q[slot] <= reg_wdata_i[0+:IdWidth];
          start_q[slot] <= reg_wdata_i[32+:IdWidth];
        end
        6'h28: begin
          skip_q[slot] <= reg_wdata_i[0+:IdWidth];
          resumes_q[slot] <= 1'b1;
        end
        6'h30: begin
          gated_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotGateBatchLsb+:BatchWidth] != '0;
          batch_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotGateBatchLsb+:BatchWidth];
          gate_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotGateGateLsb+:16];
          phase_q[slot] <= reg_wdata_i[grid_scheduler_regs_pkg::SlotGatePhaseLsb+:BatchWidth];
        end
        default: ;
      endcase
    end
    if (slot_write && running[slot] && offset == 6'h18 && reg_wdata_i[1]) preempted_q[slot] <= 1'b1;
    if (reg_we_i) begin
      case (reg_addr_i)
        grid_scheduler_regs_pkg::CusOffset: cus_q <= reg_wdata_i[7:0];
        grid_scheduler_regs_pkg::CapacityOffset: begin
          capacity_registers_q <= reg_wdata_i[grid_scheduler_regs_pkg::CapacityRegistersKibLsb+:ResourceWidth];
          capacity_lds_q <= reg_wdata_i[grid_scheduler_regs_pkg::CapacityLdsKibLsb+:ResourceWidth];
          capacity_wavefronts_q <= reg_wdata_i[grid_scheduler_regs_pkg::CapacityWavefrontsLsb+:CountWidth];
          capacity_work_groups_q <= reg_wdata_i[grid_scheduler_regs_pkg::CapacityWorkGroupsLsb+:CountWidth];
        end
        grid_scheduler_regs_pkg::PolicyOffset: begin
          launch_order_q <= reg_wdata_i[0];
          two_arbiters_q <= reg_wdata_i[1];
          strict_q <= reg_wdata_i[2];
        end
        grid_scheduler_regs_pkg::GateSetOffset: begin
          if ({1'b0, reg_wdata_i[15:0]} < 17'(Gates)) gates_q[reg_wdata_i[GateBits-1:0]] <= 1'b1;
        end
        grid_scheduler_regs_pkg::GateClearOffset: gates_q <= '0;
        grid_scheduler_regs_pkg::ReturnedTakeOffset: begin
          if (returned_in_q != returned_out_q) returned_out_q <= returned_out_q + (ReturnedWidth+1)'(1);
        end
        grid_scheduler_regs_pkg::DoneOffset: begin
          for (int unsigned s = 0; s < Slots; s++) begin
            if (reg_wdata_i[s] && over[s]) begin
              over_q[s] <= 1'b0;
              preempted_q[s] <= 1'b0;
              resumes_q[s] <= 1'b0;
              gated_q[s] <= 1'b0;
            end
          end
        end
        default: ;
      endcase
    end

    // The last clock.
    quiet_q <= {quiet_q[1:0], quiet};
    w_dispatch <= dispatch_valid_o;
    w_slot <= dispatch_slot_o;
    w_first <= done_valid_i && !first_done_q[done_slot_i];
    w_leave <= leaves;
    w_leave_slot <= done_slot_i;
    w_idle <= idle_o && quiet;
    w_irq <= irq_o;
    w_rdata <= reg_rdata_o;
    w_launched <= '0;
    if (launch) w_launched[slot] <= 1'b1;
    w_bad <= bad;
    w_busy <= waits != '0 || goes != '0 || members != reg_wdata_i[Slots-1:0] ? members : '0;
    w_drain <= slot_write && running[slot] && offset == 6'h18 && reg_wdata_i[2:1] == 2'b11;
    w_drain_slot <= slot;
    w_waits <= waits;
    w_stopping <= '0;
    if (slot_write && offset == 6'h18 && reg_wdata_i[1]) w_stopping[slot] <= 1'b1;
    w_gates <= gates_q;

    // G4, S1.
    if (!quiet) trail_q <= '0;
    else if (dispatch_valid_o) begin
      if (by_two) trail_1_q <= dispatch_cu_o;
      else trail_0_q <= dispatch_cu_o;
      trail_q[by_two] <= steady && left[dispatch_slot_o] && waits == '0 && goes == '0;
      // Each choice of a slot that is through has moved its arbiter on.
      if (!left[dispatch_slot_o]) trail_q <= '0;
    end

    // What a read shows in the next clock but one.
    w_read <= reg_re_i;
    w_address <= reg_addr_i;

    if (rst_i) begin
      running_q <= '0;
      over_q <= '0;
      rejected_q <= '0;
      waits_q <= '0;
      todo_q <= '0;
      asked_q <= '0;
      total_q <= '0;
      resumes_q <= '0;
      gated_q <= '0;
      goes_q <= '0;
      preempted_q <= '0;
      started_slot_q <= '0;
      first_done_q <= '0;
      older_q <= '0;
      gates_q <= '0;
      tensor_q <= '0;
      cus_q <= grid_scheduler_regs_pkg::CusReset[7:0];
      launch_order_q <= 1'b0;
      two_arbiters_q <= 1'b0;
      strict_q <= 1'b0;
      outranks_q <= '1;
      capacity_registers_q <= ResetCapacity[grid_scheduler_regs_pkg::CapacityRegistersKibLsb+:ResourceWidth];
      capacity_lds_q <= ResetCapacity[grid_scheduler_regs_pkg::CapacityLdsKibLsb+:ResourceWidth];
      capacity_wavefronts_q <= ResetCapacity[grid_scheduler_regs_pkg::CapacityWavefrontsLsb+:CountWidth];
      capacity_work_groups_q <= ResetCapacity[grid_scheduler_regs_pkg::CapacityWorkGroupsLsb+:CountWidth];
      for (int unsigned s = 0; s < Slots; s++) begin
        registers_q[s] <= '0;
        lds_q[s] <= '0;
        wavefronts_q[s] <= '0;
        priority_q[s] <= '0;
        first_q[s] <= '0;
        count_q[s] <= '0;
        grid_q[s] <= '0;
        start_q[s] <= '0;
        skip_q[s] <= '0;
        batch_q[s] <= '0;
        gate_q[s] <= '0;
        phase_q[s] <= '0;
        position_q[s] <= '0;
        left_q[s] <= '0;
        resident_q[s] <= '0;
      end
      // Two loops, because Verilator unrolls at most 64 rounds of one.
      for (int unsigned w = 0; w < 5; w++) begin
        for (int unsigned b = 0; b < 32; b++) begin
          if (w*32 + b < MaxCus) begin
            used_registers_q[w*32+b] <= '0;
            used_lds_q[w*32+b] <= '0;
            used_wavefronts_q[w*32+b] <= '0;
            used_work_groups_q[w*32+b] <= '0;
          end
        end
      end
      // verilator lint_off WIDTHCONCAT
      there_q <= '0;
      // verilator lint_on WIDTHCONCAT
      returned_in_q <= '0;
      returned_out_q <= '0;
      quiet_q <= '0;
      trail_q <= '0;
      w_dispatch <= 1'b0;
      w_idle <= 1'b0;
      w_launched <= '0;
      w_busy <= '0;
      w_drain <= 1'b0;
      w_first <= 1'b0;
      w_leave <= 1'b0;
      w_waits <= '0;
      w_read <= 1'b0;
    end
  end

  // What a read that was asked for one clock ago will show.
  logic                 r_check_q;
  logic [63:0]          r_mask_q, r_value_q, read_mask, read_value;
  logic [1:0]           read_kind, r_kind_q;
  logic [SlotWidth-1:0] read_slot;
  logic [7:0]           read_unit;
  always_comb begin
    read_slot = SlotWidth'(w_address[10:6]);
    read_unit = 8'((w_address - UseBase) >> 3);
    read_mask = '0;
    read_value = '0;
    read_kind = 2'd0;
    if (w_address >= UseBase && w_address < UseBase + 16'(8 * MaxCus) && w_address[2:0] == '0) begin
      if (read_unit == 8'(k)) begin
        read_kind = 2'd1;
        read_mask = '1;
        read_value = {16'(k_work_groups), 16'(k_wavefronts), 16'(k_lds), 16'(k_registers)};
      end
    end else if (w_address[15:11] == 5'd1 && w_address[5:0] == 6'h20 && read_slot == h &&
                 {1'b0, w_address[10:6]} < 6'(Slots)) begin
      read_kind = 2'd2;
      read_mask = 64'h0000_0000_ffff_0006;  // Resident, preempted, done or refused.
      read_value[2] = preempted_q[h];
      read_value[1] = over[h];
      read_value[31:16] = 16'(resident_q[h] + ResidentWidth'(dispatch_valid_o && dispatch_slot_o == h));
      // While a pipeline is checked, nothing has been counted yet.
      if (waits_q[h]) read_mask[2] = 1'b0;
      if ((running[h] && !waits_q[h]) || (over[h] && !rejected_q[h] && !refused_o[h])) begin
        read_mask[63:32] = '1;
        read_value[63:32] = 32'(left_q[h] - IdWidth'(dispatch_valid_o && dispatch_slot_o == h));
      end
    end else if (w_address == grid_scheduler_regs_pkg::ReturnedOffset) begin
      read_kind = 2'd3;
      read_mask = '1;
      read_mask[62] = 1'b0;
      if (returned_in_q != returned_out_q) begin
        read_value = {1'b1, 31'(returned_slot_q[returned_out_q[ReturnedWidth-1:0]]),
                      32'(returned_id_q[returned_out_q[ReturnedWidth-1:0]])};
      end
    end
  end
  always_ff @(posedge clk_i) begin
    r_check_q <= w_read && live_q && !rst_i;
    r_kind_q <= read_kind;
    r_mask_q <= read_mask;
    r_value_q <= read_value;
  end
