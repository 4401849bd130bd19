// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/request_ring.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Register file: storage, decode, reset and read mux. x_o: stored here; x_i: what a read of a
// register of the block returns; x_we_o: such a register is written at this edge (reg_wdata_i).
module request_ring_regs #(
  // Built of connection_config, connection_rc_base, connection_state; at most the default.
  parameter int unsigned Connections = 16,
  // Built of buffer_base, buffer_config; at most the default.
  parameter int unsigned Buffers = 256
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
  output request_ring_regs_pkg::control_t control_o,
  input  logic control_engine_lock_i,  // While high, a write leaves the field.
  output logic clear_we_o,
  output logic counter_clear_we_o,
  input  request_ring_regs_pkg::status_t status_i,
  input  request_ring_regs_pkg::limits_t limits_i,
  output request_ring_regs_pkg::node_t node_o,
  output request_ring_regs_pkg::replica_address_t replica_address_o,
  output request_ring_regs_pkg::sc_base_t sc_base_o,
  input  request_ring_regs_pkg::error_t error_i,
  output logic error_we_o,
  output request_ring_regs_pkg::irq_enable_t irq_enable_o,
  input  request_ring_regs_pkg::error_first_t error_first_i,
  input  logic [63:0] error_request_i,
  input  logic [63:0] tail_i,
  input  logic [63:0] head_i,
  input  logic [63:0] refused_i,
  input  logic [63:0] dropped_i,
  input  logic [63:0] issued_i,
  input  logic [63:0] completed_i,
  input  logic [63:0] failed_i,
  input  logic [63:0] flags_i,
  input  logic [63:0] replicas_i,
  input  request_ring_regs_pkg::software_source_t software_source_i,
  input  request_ring_regs_pkg::software_destination_t software_destination_i,
  input  request_ring_regs_pkg::software_bytes_t software_bytes_i,
  output logic software_take_we_o,
  output logic software_done_we_o,
  // Of the element at address_o.
  input  request_ring_regs_pkg::connection_config_t connection_config_i,
  output logic connection_config_we_o,
  output logic connection_rc_base_we_o,
  // Of the element at address_o.
  input  request_ring_regs_pkg::connection_state_t connection_state_i,
  output logic buffer_base_we_o,
  output logic buffer_config_we_o
);
  // verilator coverage_on

  always_comb begin : strobes
    clear_we_o = 1'b0;
    counter_clear_we_o = 1'b0;
    error_we_o = 1'b0;
    software_take_we_o = 1'b0;
    software_done_we_o = 1'b0;
    connection_config_we_o = 1'b0;
    connection_rc_base_we_o = 1'b0;
    buffer_base_we_o = 1'b0;
    buffer_config_we_o = 1'b0;
    if (reg_we_i) begin
      case (reg_addr_i)
        request_ring_regs_pkg::ClearOffset: clear_we_o = 1'b1;
        request_ring_regs_pkg::CounterClearOffset: counter_clear_we_o = 1'b1;
        request_ring_regs_pkg::ErrorOffset: error_we_o = 1'b1;
        request_ring_regs_pkg::SoftwareTakeOffset: software_take_we_o = 1'b1;
        request_ring_regs_pkg::SoftwareDoneOffset: software_done_we_o = 1'b1;
        default: ;
      endcase
      if ((reg_addr_i & 16'hfe1f) == request_ring_regs_pkg::ConnectionConfigOffset &&
          32'(reg_addr_i[8:5]) < Connections) begin
        connection_config_we_o = 1'b1;
      end
      if ((reg_addr_i & 16'hfe1f) == request_ring_regs_pkg::ConnectionRcBaseOffset &&
          32'(reg_addr_i[8:5]) < Connections) begin
        connection_rc_base_we_o = 1'b1;
      end
      if ((reg_addr_i & 16'hf00f) == request_ring_regs_pkg::BufferBaseOffset &&
          32'(reg_addr_i[11:4]) < Buffers) begin
        buffer_base_we_o = 1'b1;
      end
      if ((reg_addr_i & 16'hf00f) == request_ring_regs_pkg::BufferConfigOffset &&
          32'(reg_addr_i[11:4]) < Buffers) begin
        buffer_config_we_o = 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin : registers
    read_pending_o <= reg_re_i;
    if (reg_re_i) address_o <= reg_addr_i;
    if (read_pending_o) begin
      case (address_o)
        request_ring_regs_pkg::ControlOffset: begin
          reg_rdata_o <= {48'b0, control_o.batch, 5'b0, control_o.replica, control_o.engine,
                          control_o.enable};
        end
        request_ring_regs_pkg::StatusOffset: begin
          reg_rdata_o <= {16'b0, status_i.in_flight, status_i.level, 14'b0, status_i.work,
                          status_i.busy};
        end
        request_ring_regs_pkg::LimitsOffset: begin
          reg_rdata_o <= {limits_i.slots, limits_i.connections, limits_i.buffers, limits_i.depth};
        end
        request_ring_regs_pkg::NodeOffset: reg_rdata_o <= {56'b0, node_o.node};
        request_ring_regs_pkg::ReplicaAddressOffset: begin
          reg_rdata_o <= {16'b0, replica_address_o.address};
        end
        request_ring_regs_pkg::ScBaseOffset: reg_rdata_o <= {16'b0, sc_base_o.address};
        request_ring_regs_pkg::ErrorOffset: begin
          reg_rdata_o <= {61'b0, error_i.transfer, error_i.dropped, error_i.malformed};
        end
        request_ring_regs_pkg::IrqEnableOffset: begin
          reg_rdata_o <= {60'b0, irq_enable_o.work, irq_enable_o.errors};
        end
        request_ring_regs_pkg::ErrorFirstOffset: begin
          reg_rdata_o <= {46'b0, error_first_i.kind, 5'b0, error_first_i.reason};
        end
        request_ring_regs_pkg::ErrorRequestOffset: reg_rdata_o <= error_request_i;
        request_ring_regs_pkg::TailOffset: reg_rdata_o <= tail_i;
        request_ring_regs_pkg::HeadOffset: reg_rdata_o <= head_i;
        request_ring_regs_pkg::RefusedOffset: reg_rdata_o <= refused_i;
        request_ring_regs_pkg::DroppedOffset: reg_rdata_o <= dropped_i;
        request_ring_regs_pkg::IssuedOffset: reg_rdata_o <= issued_i;
        request_ring_regs_pkg::CompletedOffset: reg_rdata_o <= completed_i;
        request_ring_regs_pkg::FailedOffset: reg_rdata_o <= failed_i;
        request_ring_regs_pkg::FlagsOffset: reg_rdata_o <= flags_i;
        request_ring_regs_pkg::ReplicasOffset: reg_rdata_o <= replicas_i;
        request_ring_regs_pkg::SoftwareSourceOffset: begin
          reg_rdata_o <= {16'b0, software_source_i.address};
        end
        request_ring_regs_pkg::SoftwareDestinationOffset: begin
          reg_rdata_o <= {16'b0, software_destination_i.address};
        end
        request_ring_regs_pkg::SoftwareBytesOffset: begin
          reg_rdata_o <= {software_bytes_i.valid, software_bytes_i.read, 10'b0,
                          software_bytes_i.tag, 6'b0, software_bytes_i.bytes};
        end
        default: reg_rdata_o <= '0;
      endcase
      if ((address_o & 16'hfe1f) == request_ring_regs_pkg::ConnectionConfigOffset &&
          32'(address_o[8:5]) < Connections) begin
        reg_rdata_o <= {48'b0, connection_config_i.node, connection_config_i.limit, 3'b0,
                        connection_config_i.valid};
      end
      if ((address_o & 16'hfe1f) == request_ring_regs_pkg::ConnectionStateOffset &&
          32'(address_o[8:5]) < Connections) begin
        reg_rdata_o <= {24'b0, connection_state_i.in_flight, connection_state_i.completed};
      end
    end
    if (reg_we_i) begin
      case (reg_addr_i)
        request_ring_regs_pkg::ControlOffset: begin
          control_o.enable <= reg_wdata_i[0];
          if (!control_engine_lock_i) control_o.engine <= reg_wdata_i[1];
          control_o.replica <= reg_wdata_i[2];
          control_o.batch <= reg_wdata_i[15:8];
        end
        request_ring_regs_pkg::NodeOffset: begin
          node_o.node <= reg_wdata_i[7:0];
        end
        request_ring_regs_pkg::ReplicaAddressOffset: begin
          replica_address_o.address <= reg_wdata_i[47:0];
        end
        request_ring_regs_pkg::ScBaseOffset: begin
          sc_base_o.address <= reg_wdata_i[47:0];
        end
        request_ring_regs_pkg::IrqEnableOffset: begin
          irq_enable_o.errors <= reg_wdata_i[2:0];
          irq_enable_o.work <= reg_wdata_i[3];
        end
        default: ;
      endcase
    end
    if (rst_i) begin
      control_o.enable <= 1'd0;
      control_o.engine <= 1'd0;
      control_o.replica <= 1'd0;
      control_o.batch <= 8'd16;
      node_o <= '0;
      replica_address_o <= '0;
      sc_base_o <= '0;
      irq_enable_o <= '0;
      read_pending_o <= 1'b0;
      address_o <= '0;
      reg_rdata_o <= '0;
    end
  end

endmodule
