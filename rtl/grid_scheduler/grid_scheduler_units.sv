// SPDX-License-Identifier: Apache-2.0
// Place stage of the grid scheduler: what is used of each unit (G5), and whether one more
// work-group fits on the picked one (G1). A pipeline's trial counts in tables of its own, which
// begin as the use of the units, or as nothing at all (P2).
module grid_scheduler_units #(
  parameter int unsigned MaxCus = 160,
  parameter int unsigned ResourceWidth = 10,
  parameter int unsigned CountWidth = 8,
  localparam int unsigned CuWidth = MaxCus < 2 ? 1 : $clog2(MaxCus)
) (
  input  logic                                clk_i,
  input  logic                                rst_i,
  input  grid_scheduler_regs_pkg::capacity_t  capacity_i,

  // The picked unit, and what a work-group of the picked slot needs.
  input  logic                                pick_valid_i,
  input  logic                                pick_trial_i,
  input  logic [CuWidth-1:0]                  pick_cu_i,
  input  logic [ResourceWidth-1:0]            pick_registers_i,
  input  logic [ResourceWidth-1:0]            pick_lds_i,
  input  logic [CountWidth-1:0]               pick_wavefronts_i,
  output logic                                fits_o,
  input  logic                                place_i,          // It fits, and is placed;
  input  logic                                try_i,            // or is placed in the trial.
  input  logic                                trial_begin_i,    // No unit is touched yet.
  input  logic                                trial_empty_i,    // Untouched units count as empty.

  // A work-group leaves, and gives back what it needed.
  input  logic                                leave_valid_i,
  input  logic [CuWidth-1:0]                  leave_cu_i,
  input  logic [ResourceWidth-1:0]            leave_registers_i,
  input  logic [ResourceWidth-1:0]            leave_lds_i,
  input  logic [CountWidth-1:0]               leave_wavefronts_i,

  // Register unit_use, while read_i.
  input  logic                                read_i,
  input  logic [CuWidth-1:0]                  read_cu_i,
  output grid_scheduler_regs_pkg::unit_use_t  read_use_o
);

  localparam int unsigned Words = (MaxCus + 31) / 32;
  localparam int unsigned WordBits = Words < 2 ? 1 : $clog2(Words);

  (* mem2reg *) logic [ResourceWidth-1:0] used_registers_q [MaxCus];
  (* mem2reg *) logic [ResourceWidth-1:0] used_lds_q [MaxCus];
  (* mem2reg *) logic [CountWidth-1:0]    used_wavefronts_q [MaxCus];
  (* mem2reg *) logic [CountWidth-1:0]    used_work_groups_q [MaxCus];
  logic [ResourceWidth-1:0] trial_registers_q [MaxCus];
  logic [ResourceWidth-1:0] trial_lds_q [MaxCus];
  logic [CountWidth-1:0]    trial_wavefronts_q [MaxCus];
  logic [CountWidth-1:0]    trial_work_groups_q [MaxCus];
  (* mem2reg *) logic [31:0] touched_q [Words];  // Units whose use is in trial_*_q.

  // What the picked unit would have in use.
  logic [WordBits-1:0]      word;
  logic [ResourceWidth:0]   registers_sum, lds_sum;
  logic [CountWidth:0]      wavefronts_sum;
  logic [CountWidth-1:0]    work_groups_sum;
  always_comb begin : place
    logic [ResourceWidth-1:0] used_registers, used_lds;
    logic [CountWidth-1:0]    used_wavefronts, used_work_groups;
    used_registers = '0;
    used_lds = '0;
    used_wavefronts = '0;
    used_work_groups = '0;
    registers_sum = '0;
    lds_sum = '0;
    wavefronts_sum = '0;
    work_groups_sum = '0;
    fits_o = 1'b0;
    word = WordBits'(8'(pick_cu_i) >> 5);
    if (pick_valid_i) begin
      if (pick_trial_i && touched_q[word][5'(pick_cu_i)]) begin
        used_registers = trial_registers_q[pick_cu_i];
        used_lds = trial_lds_q[pick_cu_i];
        used_wavefronts = trial_wavefronts_q[pick_cu_i];
        used_work_groups = trial_work_groups_q[pick_cu_i];
      end else if (!(pick_trial_i && trial_empty_i)) begin
        used_registers = used_registers_q[pick_cu_i];
        used_lds = used_lds_q[pick_cu_i];
        used_wavefronts = used_wavefronts_q[pick_cu_i];
        used_work_groups = used_work_groups_q[pick_cu_i];
      end
      registers_sum = {1'b0, used_registers} + {1'b0, pick_registers_i};
      lds_sum = {1'b0, used_lds} + {1'b0, pick_lds_i};
      wavefronts_sum = {1'b0, used_wavefronts} + {1'b0, pick_wavefronts_i};
      work_groups_sum = used_work_groups + CountWidth'(1);
      fits_o = 11'(registers_sum) <= {1'b0, capacity_i.registers_kib} &&
               11'(lds_sum) <= {1'b0, capacity_i.lds_kib} &&
               9'(wavefronts_sum) <= {1'b0, capacity_i.wavefronts} &&
               8'(used_work_groups) < capacity_i.work_groups;
    end
  end

  always_ff @(posedge clk_i) begin : trial
    if (try_i) begin
      touched_q[word][5'(pick_cu_i)] <= 1'b1;
      trial_registers_q[pick_cu_i] <= registers_sum[ResourceWidth-1:0];
      trial_lds_q[pick_cu_i] <= lds_sum[ResourceWidth-1:0];
      trial_wavefronts_q[pick_cu_i] <= wavefronts_sum[CountWidth-1:0];
      trial_work_groups_q[pick_cu_i] <= work_groups_sum;
    end
    if (trial_begin_i || rst_i) begin
      for (int unsigned w = 0; w < Words; w++) touched_q[w] <= '0;
    end
  end

  // G5: a work-group comes, another one leaves, perhaps the same unit.
  logic same_cu;
  always_comb same_cu = place_i && leave_cu_i == pick_cu_i;
  always_ff @(posedge clk_i) begin : used
    if (place_i) begin
      used_registers_q[pick_cu_i] <= registers_sum[ResourceWidth-1:0];
      used_lds_q[pick_cu_i] <= lds_sum[ResourceWidth-1:0];
      used_wavefronts_q[pick_cu_i] <= wavefronts_sum[CountWidth-1:0];
      used_work_groups_q[pick_cu_i] <= work_groups_sum;
    end
    if (leave_valid_i) begin
      used_registers_q[leave_cu_i] <=
          (same_cu ? registers_sum[ResourceWidth-1:0] : used_registers_q[leave_cu_i]) -
          leave_registers_i;
      used_lds_q[leave_cu_i] <=
          (same_cu ? lds_sum[ResourceWidth-1:0] : used_lds_q[leave_cu_i]) - leave_lds_i;
      used_wavefronts_q[leave_cu_i] <=
          (same_cu ? wavefronts_sum[CountWidth-1:0] : used_wavefronts_q[leave_cu_i]) -
          leave_wavefronts_i;
      used_work_groups_q[leave_cu_i] <=
          (same_cu ? work_groups_sum : used_work_groups_q[leave_cu_i]) - CountWidth'(1);
    end
    if (rst_i) begin
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
    end
  end

  always_comb begin : read
    read_use_o = '0;
    if (read_i) begin
      read_use_o.registers_kib = 10'(used_registers_q[read_cu_i]);
      read_use_o.lds_kib = 10'(used_lds_q[read_cu_i]);
      read_use_o.wavefronts = 8'(used_wavefronts_q[read_cu_i]);
      read_use_o.work_groups = 8'(used_work_groups_q[read_cu_i]);
    end
  end

endmodule
