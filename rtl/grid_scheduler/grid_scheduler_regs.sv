// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/grid_scheduler.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Register file: storage, decode, reset and read mux. x_o: stored here; x_i: what a read of a
// register of the block returns; x_we_o: such a register is written at this edge (reg_wdata_i).
module grid_scheduler_regs #(
  // Built of capacity.registers_kib, capacity.lds_kib; at most the default.
  parameter int unsigned ResourceWidth = 10,
  // Built of capacity.wavefronts, capacity.work_groups; at most the default.
  parameter int unsigned CountWidth = 8,
  // Built of irq_enable.slots, slot_needs, slot_range, slot_order, slot_control, slot_state, slot_skip, slot_gate; at most the default.
  parameter int unsigned Slots = 32,
  // Built of unit_use; at most the default.
  parameter int unsigned MaxCus = 160
) (
  // verilator coverage_off
  input  logic clk_i,
  input  logic rst_i,
  input  logic reg_we_i,
  input  logic reg_re_i,
  input  logic [15:0] reg_addr_i,
  // verilator lint_off UNUSEDSIGNAL
  input  logic [63:0] reg_wdata_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic [63:0] reg_rdata_o,
  output logic read_pending_o,  // A read is answered at the next edge.
  output logic [15:0] address_o,  // Of the last read.
  output grid_scheduler_regs_pkg::cus_t cus_o,
  output grid_scheduler_regs_pkg::capacity_t capacity_o,
  input  grid_scheduler_regs_pkg::done_t done_i,
  output logic done_we_o,
  output grid_scheduler_regs_pkg::irq_enable_t irq_enable_o,
  input  grid_scheduler_regs_pkg::status_t status_i,
  input  logic [63:0] dispatched_i,
  input  logic [63:0] finished_i,
  input  logic [63:0] drained_i,
  output logic counter_clear_we_o,
  output grid_scheduler_regs_pkg::policy_t policy_o,
  input  grid_scheduler_regs_pkg::pipeline_t pipeline_i,
  output logic pipeline_we_o,
  output logic gate_set_we_o,
  output logic gate_clear_we_o,
  input  grid_scheduler_regs_pkg::returned_t returned_i,
  output logic returned_take_we_o,
  input  grid_scheduler_regs_pkg::slot_needs_t slot_needs_i,  // Of the element at address_o.
  output logic slot_needs_we_o,
  input  grid_scheduler_regs_pkg::slot_range_t slot_range_i,  // Of the element at address_o.
  output logic slot_range_we_o,
  input  grid_scheduler_regs_pkg::slot_order_t slot_order_i,  // Of the element at address_o.
  output logic slot_order_we_o,
  output logic slot_control_we_o,
  input  grid_scheduler_regs_pkg::slot_state_t slot_state_i,  // Of the element at address_o.
  input  grid_scheduler_regs_pkg::slot_skip_t slot_skip_i,  // Of the element at address_o.
  output logic slot_skip_we_o,
  input  grid_scheduler_regs_pkg::slot_gate_t slot_gate_i,  // Of the element at address_o.
  output logic slot_gate_we_o,
  input  grid_scheduler_regs_pkg::unit_use_t unit_use_i  // Of the element at address_o.
);
  // verilator coverage_on

  always_comb begin : strobes
    done_we_o = 1'b0;
    counter_clear_we_o = 1'b0;
    pipeline_we_o = 1'b0;
    gate_set_we_o = 1'b0;
    gate_clear_we_o = 1'b0;
    returned_take_we_o = 1'b0;
    slot_needs_we_o = 1'b0;
    slot_range_we_o = 1'b0;
    slot_order_we_o = 1'b0;
    slot_control_we_o = 1'b0;
    slot_skip_we_o = 1'b0;
    slot_gate_we_o = 1'b0;
    if (reg_we_i) begin
      case (reg_addr_i)
        grid_scheduler_regs_pkg::DoneOffset: done_we_o = 1'b1;
        grid_scheduler_regs_pkg::CounterClearOffset: counter_clear_we_o = 1'b1;
        grid_scheduler_regs_pkg::PipelineOffset: pipeline_we_o = 1'b1;
        grid_scheduler_regs_pkg::GateSetOffset: gate_set_we_o = 1'b1;
        grid_scheduler_regs_pkg::GateClearOffset: gate_clear_we_o = 1'b1;
        grid_scheduler_regs_pkg::ReturnedTakeOffset: returned_take_we_o = 1'b1;
        default: ;
      endcase
      if ((reg_addr_i & 16'hf83f) == grid_scheduler_regs_pkg::SlotNeedsOffset &&
          32'(reg_addr_i[10:6]) < Slots) begin
        slot_needs_we_o = 1'b1;
      end
      if ((reg_addr_i & 16'hf83f) == grid_scheduler_regs_pkg::SlotRangeOffset &&
          32'(reg_addr_i[10:6]) < Slots) begin
        slot_range_we_o = 1'b1;
      end
      if ((reg_addr_i & 16'hf83f) == grid_scheduler_regs_pkg::SlotOrderOffset &&
          32'(reg_addr_i[10:6]) < Slots) begin
        slot_order_we_o = 1'b1;
      end
      if ((reg_addr_i & 16'hf83f) == grid_scheduler_regs_pkg::SlotControlOffset &&
          32'(reg_addr_i[10:6]) < Slots) begin
        slot_control_we_o = 1'b1;
      end
      if ((reg_addr_i & 16'hf83f) == grid_scheduler_regs_pkg::SlotSkipOffset &&
          32'(reg_addr_i[10:6]) < Slots) begin
        slot_skip_we_o = 1'b1;
      end
      if ((reg_addr_i & 16'hf83f) == grid_scheduler_regs_pkg::SlotGateOffset &&
          32'(reg_addr_i[10:6]) < Slots) begin
        slot_gate_we_o = 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin : registers
    read_pending_o <= reg_re_i;
    if (reg_re_i) address_o <= reg_addr_i;
    if (read_pending_o) begin
      case (address_o)
        grid_scheduler_regs_pkg::CusOffset: reg_rdata_o <= {56'b0, cus_o.count};
        grid_scheduler_regs_pkg::CapacityOffset: begin
          reg_rdata_o <= {8'b0, capacity_o.work_groups, 8'b0, capacity_o.wavefronts, 6'b0,
                          capacity_o.lds_kib, 6'b0, capacity_o.registers_kib};
        end
        grid_scheduler_regs_pkg::DoneOffset: reg_rdata_o <= {32'b0, done_i.slots};
        grid_scheduler_regs_pkg::IrqEnableOffset: reg_rdata_o <= {32'b0, irq_enable_o.slots};
        grid_scheduler_regs_pkg::StatusOffset: begin
          reg_rdata_o <= {status_i.undispatched, status_i.running};
        end
        grid_scheduler_regs_pkg::DispatchedOffset: reg_rdata_o <= dispatched_i;
        grid_scheduler_regs_pkg::FinishedOffset: reg_rdata_o <= finished_i;
        grid_scheduler_regs_pkg::DrainedOffset: reg_rdata_o <= drained_i;
        grid_scheduler_regs_pkg::PolicyOffset: begin
          reg_rdata_o <= {61'b0, policy_o.priority_, policy_o.arbiters, policy_o.order};
        end
        grid_scheduler_regs_pkg::PipelineOffset: reg_rdata_o <= {32'b0, pipeline_i.slots};
        grid_scheduler_regs_pkg::ReturnedOffset: begin
          reg_rdata_o <= {returned_i.valid, returned_i.lost, 25'b0, returned_i.slot, returned_i.id};
        end
        default: reg_rdata_o <= '0;
      endcase
      if ((address_o & 16'hf83f) == grid_scheduler_regs_pkg::SlotNeedsOffset &&
          32'(address_o[10:6]) < Slots) begin
        reg_rdata_o <= {6'b0, slot_needs_i.priority_, 7'b0, slot_needs_i.type_, 8'b0,
                        slot_needs_i.wavefronts, 6'b0, slot_needs_i.lds_kib, 6'b0,
                        slot_needs_i.registers_kib};
      end
      if ((address_o & 16'hf83f) == grid_scheduler_regs_pkg::SlotRangeOffset &&
          32'(address_o[10:6]) < Slots) begin
        reg_rdata_o <= {slot_range_i.count, slot_range_i.first};
      end
      if ((address_o & 16'hf83f) == grid_scheduler_regs_pkg::SlotOrderOffset &&
          32'(address_o[10:6]) < Slots) begin
        reg_rdata_o <= {slot_order_i.start, slot_order_i.grid};
      end
      if ((address_o & 16'hf83f) == grid_scheduler_regs_pkg::SlotStateOffset &&
          32'(address_o[10:6]) < Slots) begin
        reg_rdata_o <= {slot_state_i.undispatched, slot_state_i.resident, 8'b0, slot_state_i.closed,
                        slot_state_i.reason, slot_state_i.pipeline, slot_state_i.preempted,
                        slot_state_i.state};
      end
      if ((address_o & 16'hf83f) == grid_scheduler_regs_pkg::SlotSkipOffset &&
          32'(address_o[10:6]) < Slots) begin
        reg_rdata_o <= {32'b0, slot_skip_i.skip};
      end
      if ((address_o & 16'hf83f) == grid_scheduler_regs_pkg::SlotGateOffset &&
          32'(address_o[10:6]) < Slots) begin
        reg_rdata_o <= {16'b0, slot_gate_i.phase, slot_gate_i.gate, slot_gate_i.batch};
      end
      if ((address_o & 16'hf807) == grid_scheduler_regs_pkg::UnitUseOffset &&
          32'(address_o[10:3]) < MaxCus) begin
        reg_rdata_o <= {8'b0, unit_use_i.work_groups, 8'b0, unit_use_i.wavefronts, 6'b0,
                        unit_use_i.lds_kib, 6'b0, unit_use_i.registers_kib};
      end
    end
    if (reg_we_i) begin
      case (reg_addr_i)
        grid_scheduler_regs_pkg::CusOffset: begin
          cus_o.count <= reg_wdata_i[7:0];
        end
        grid_scheduler_regs_pkg::CapacityOffset: begin
          capacity_o.registers_kib <= 10'(reg_wdata_i[0+:ResourceWidth]);
          capacity_o.lds_kib <= 10'(reg_wdata_i[16+:ResourceWidth]);
          capacity_o.wavefronts <= 8'(reg_wdata_i[32+:CountWidth]);
          capacity_o.work_groups <= 8'(reg_wdata_i[48+:CountWidth]);
        end
        grid_scheduler_regs_pkg::IrqEnableOffset: begin
          irq_enable_o.slots <= 32'(reg_wdata_i[0+:Slots]);
        end
        grid_scheduler_regs_pkg::PolicyOffset: begin
          policy_o.order <= reg_wdata_i[0];
          policy_o.arbiters <= reg_wdata_i[1];
          policy_o.priority_ <= reg_wdata_i[2];
        end
        default: ;
      endcase
    end
    if (rst_i) begin
      cus_o.count <= 8'd80;
      capacity_o.registers_kib <= 10'(ResourceWidth'(10'd256));
      capacity_o.lds_kib <= 10'(ResourceWidth'(10'd96));
      capacity_o.wavefronts <= 8'(CountWidth'(8'd64));
      capacity_o.work_groups <= 8'(CountWidth'(8'd32));
      irq_enable_o <= '0;
      policy_o <= '0;
      read_pending_o <= 1'b0;
      address_o <= '0;
      reg_rdata_o <= '0;
    end
  end

endmodule
