// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/request_ring.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, resets, field positions and values.
// A package offers more than one user needs:
// verilator lint_off UNUSEDPARAM
package request_ring_regs_pkg;

  // Mode of the ring. (read, write)
  localparam logic [15:0] ControlOffset = 16'h0;
  localparam logic [63:0] ControlReset = 64'h1000;
  localparam int unsigned ControlEnableLsb = 0;  // 0 = send requests are dropped (and counted) and none leaves the ring.
  localparam int unsigned ControlEnableWidth = 1;
  localparam int unsigned ControlEngineLsb = 1;  // Who moves the data; a write while status.busy is 1 leaves this field as it is.
  localparam int unsigned ControlEngineWidth = 1;
  localparam logic [0:0] ControlEngineHardware = 1'd0;
  localparam logic [0:0] ControlEngineSoftware = 1'd1;
  localparam int unsigned ControlReplicaLsb = 2;  // 1 = the head is written to replica_address.
  localparam int unsigned ControlReplicaWidth = 1;
  localparam int unsigned ControlBatchLsb = 8;  // The replica is written when it is this far behind, or behind at all and the ring is empty; 0 counts as 1.
  localparam int unsigned ControlBatchWidth = 8;
  typedef struct packed {
    logic [7:0] batch;
    logic replica;
    logic engine;
    logic enable;
  } control_t;

  // A write of any value empties the ring and sets head, tail, replica and the numbers of all connections to 0; without effect while status.busy is 1. (write only, reads 0)
  localparam logic [15:0] ClearOffset = 16'h8;
  localparam logic [63:0] ClearReset = 64'h0;

  // A write of any value clears the counters refused .. replicas. (write only, reads 0)
  localparam logic [15:0] CounterClearOffset = 16'h10;
  localparam logic [63:0] CounterClearReset = 64'h0;

  // State of the ring. (read only)
  localparam logic [15:0] StatusOffset = 16'h18;
  localparam logic [63:0] StatusReset = 64'h0;
  localparam int unsigned StatusBusyLsb = 0;  // A request is past the ring and not retired, or a flag or the replica waits to be written.
  localparam int unsigned StatusBusyWidth = 1;
  localparam int unsigned StatusWorkLsb = 1;  // Software engine: software_bytes shows a transfer that nobody has taken.
  localparam int unsigned StatusWorkWidth = 1;
  localparam int unsigned StatusLevelLsb = 16;  // Requests in the ring.
  localparam int unsigned StatusLevelWidth = 16;
  localparam int unsigned StatusInFlightLsb = 32;  // Transfers issued (or waiting to be taken) and not retired.
  localparam int unsigned StatusInFlightWidth = 16;
  typedef struct packed {
    logic [15:0] in_flight;
    logic [15:0] level;
    logic work;
    logic busy;
  } status_t;

  // What is built. (read only)
  localparam logic [15:0] LimitsOffset = 16'h20;
  localparam logic [63:0] LimitsReset = 64'h0;
  localparam int unsigned LimitsDepthLsb = 0;  // Entries of the ring.
  localparam int unsigned LimitsDepthWidth = 16;
  localparam int unsigned LimitsBuffersLsb = 16;  // Buffer ids.
  localparam int unsigned LimitsBuffersWidth = 16;
  localparam int unsigned LimitsConnectionsLsb = 32;  // Connections.
  localparam int unsigned LimitsConnectionsWidth = 16;
  localparam int unsigned LimitsSlotsLsb = 48;  // Transfers in flight a connection can have.
  localparam int unsigned LimitsSlotsWidth = 16;
  typedef struct packed {
    logic [15:0] slots;
    logic [15:0] connections;
    logic [15:0] buffers;
    logic [15:0] depth;
  } limits_t;

  // Node of this GPU. (read, write)
  localparam logic [15:0] NodeOffset = 16'h28;
  localparam logic [63:0] NodeReset = 64'h0;
  localparam int unsigned NodeNodeLsb = 0;  // GPU number + 1.
  localparam int unsigned NodeNodeWidth = 8;
  typedef struct packed {
    logic [7:0] node;
  } node_t;

  // Where the head replica lies, an 8-byte word. (read, write)
  localparam logic [15:0] ReplicaAddressOffset = 16'h30;
  localparam logic [63:0] ReplicaAddressReset = 64'h0;
  localparam int unsigned ReplicaAddressAddressLsb = 0;  // 48-bit address.
  localparam int unsigned ReplicaAddressAddressWidth = 48;
  typedef struct packed {
    logic [47:0] address;
  } replica_address_t;

  // Array of send flags, 8 bytes a source buffer. (read, write)
  localparam logic [15:0] ScBaseOffset = 16'h38;
  localparam logic [63:0] ScBaseReset = 64'h0;
  localparam int unsigned ScBaseAddressLsb = 0;  // 48-bit address of flag 0.
  localparam int unsigned ScBaseAddressWidth = 48;
  typedef struct packed {
    logic [47:0] address;
  } sc_base_t;

  // What went wrong; the line STRETTO_IRQ_REQUEST_RING is high while a bit here or status.work is set that irq_enable lets through. (read, write 1 to clear)
  localparam logic [15:0] ErrorOffset = 16'h40;
  localparam logic [63:0] ErrorReset = 64'h0;
  localparam int unsigned ErrorMalformedLsb = 0;  // A request was refused; it touched no memory.
  localparam int unsigned ErrorMalformedWidth = 1;
  localparam int unsigned ErrorDroppedLsb = 1;  // A request came while the ring was full or disabled and is lost.
  localparam int unsigned ErrorDroppedWidth = 1;
  localparam int unsigned ErrorTransferLsb = 2;  // The engine reported that a transfer failed; its flags are not written.
  localparam int unsigned ErrorTransferWidth = 1;
  typedef struct packed {
    logic transfer;
    logic dropped;
    logic malformed;
  } error_t;

  // What raises the line. (read, write)
  localparam logic [15:0] IrqEnableOffset = 16'h48;
  localparam logic [63:0] IrqEnableReset = 64'h0;
  localparam int unsigned IrqEnableErrorsLsb = 0;  // Bit n: bit n of error.
  localparam int unsigned IrqEnableErrorsWidth = 3;
  localparam int unsigned IrqEnableWorkLsb = 3;  // status.work.
  localparam int unsigned IrqEnableWorkWidth = 1;
  typedef struct packed {
    logic work;
    logic [2:0] errors;
  } irq_enable_t;

  // The first error since error was last 0. (read only)
  localparam logic [15:0] ErrorFirstOffset = 16'h50;
  localparam logic [63:0] ErrorFirstReset = 64'h0;
  localparam int unsigned ErrorFirstReasonLsb = 0;  // Malformed: bit 0 opcode, 1 reserved bits, 2 connection, 3 source not registered, 4 destination not registered, 5 source may not be read or destination not written, 6 a buffer is not at the node it must be at, 7 units differ, 8 length 0, 9 beyond the source, 10 beyond the destination. 5, 6, 7, 9 and 10 are judged only if bits 0, 2, 3 and 4 are clear.
  localparam int unsigned ErrorFirstReasonWidth = 11;
  localparam int unsigned ErrorFirstKindLsb = 16;  // Bit of error that it is.
  localparam int unsigned ErrorFirstKindWidth = 2;
  localparam logic [1:0] ErrorFirstKindMalformed = 2'd0;
  localparam logic [1:0] ErrorFirstKindDropped = 2'd1;
  localparam logic [1:0] ErrorFirstKindTransfer = 2'd2;
  typedef struct packed {
    logic [1:0] kind;
    logic [10:0] reason;
  } error_first_t;

  // The request of error_first; of a failed transfer only buffers, connection and flags. (read only)
  localparam logic [15:0] ErrorRequestOffset = 16'h58;
  localparam logic [63:0] ErrorRequestReset = 64'h0;

  // Requests that entered the ring (48 bits). (read only)
  localparam logic [15:0] TailOffset = 16'h60;
  localparam logic [63:0] TailReset = 64'h0;

  // Requests that left the ring (48 bits); the replica follows it. (read only)
  localparam logic [15:0] HeadOffset = 16'h68;
  localparam logic [63:0] HeadReset = 64'h0;

  // Malformed requests (48 bits). (read only)
  localparam logic [15:0] RefusedOffset = 16'h70;
  localparam logic [63:0] RefusedReset = 64'h0;

  // Requests dropped (48 bits). (read only)
  localparam logic [15:0] DroppedOffset = 16'h78;
  localparam logic [63:0] DroppedReset = 64'h0;

  // Transfers taken by an engine (48 bits). (read only)
  localparam logic [15:0] IssuedOffset = 16'h80;
  localparam logic [63:0] IssuedReset = 64'h0;

  // Transfers retired, failed ones included (48 bits). (read only)
  localparam logic [15:0] CompletedOffset = 16'h88;
  localparam logic [63:0] CompletedReset = 64'h0;

  // Transfers that failed (48 bits). (read only)
  localparam logic [15:0] FailedOffset = 16'h90;
  localparam logic [63:0] FailedReset = 64'h0;

  // Send and receive flags written (48 bits). (read only)
  localparam logic [15:0] FlagsOffset = 16'h98;
  localparam logic [63:0] FlagsReset = 64'h0;

  // Writes of the head replica (48 bits). (read only)
  localparam logic [15:0] ReplicasOffset = 16'ha0;
  localparam logic [63:0] ReplicasReset = 64'h0;

  // Software engine, source of the transfer that waits to be taken. (read only)
  localparam logic [15:0] SoftwareSourceOffset = 16'hc0;
  localparam logic [63:0] SoftwareSourceReset = 64'h0;
  localparam int unsigned SoftwareSourceAddressLsb = 0;  // 48-bit address.
  localparam int unsigned SoftwareSourceAddressWidth = 48;
  typedef struct packed {
    logic [47:0] address;
  } software_source_t;

  // Software engine, its destination. (read only)
  localparam logic [15:0] SoftwareDestinationOffset = 16'hc8;
  localparam logic [63:0] SoftwareDestinationReset = 64'h0;
  localparam int unsigned SoftwareDestinationAddressLsb = 0;  // 48-bit address.
  localparam int unsigned SoftwareDestinationAddressWidth = 48;
  typedef struct packed {
    logic [47:0] address;
  } software_destination_t;

  // Software engine, its length and tag. (read only)
  localparam logic [15:0] SoftwareBytesOffset = 16'hd0;
  localparam logic [63:0] SoftwareBytesReset = 64'h0;
  localparam int unsigned SoftwareBytesBytesLsb = 0;  // Length in bytes.
  localparam int unsigned SoftwareBytesBytesWidth = 34;
  localparam int unsigned SoftwareBytesTagLsb = 40;  // For software_done.
  localparam int unsigned SoftwareBytesTagWidth = 12;
  localparam int unsigned SoftwareBytesReadLsb = 62;  // 1 = the opcode was read.
  localparam int unsigned SoftwareBytesReadWidth = 1;
  localparam int unsigned SoftwareBytesValidLsb = 63;  // A transfer waits.
  localparam int unsigned SoftwareBytesValidWidth = 1;
  typedef struct packed {
    logic valid;
    logic read;
    logic [11:0] tag;
    logic [33:0] bytes;
  } software_bytes_t;

  // Software engine, a write of any value takes the transfer that waits; the next one shows. (write only, reads 0)
  localparam logic [15:0] SoftwareTakeOffset = 16'hd8;
  localparam logic [63:0] SoftwareTakeReset = 64'h0;

  // Software engine, a transfer is complete; ignored if the tag is not in flight. (write only, reads 0)
  localparam logic [15:0] SoftwareDoneOffset = 16'he0;
  localparam logic [63:0] SoftwareDoneReset = 64'h0;
  localparam int unsigned SoftwareDoneTagLsb = 0;  // Of software_bytes.
  localparam int unsigned SoftwareDoneTagWidth = 12;
  localparam int unsigned SoftwareDoneFailedLsb = 16;  // 1 = it failed.
  localparam int unsigned SoftwareDoneFailedWidth = 1;
  typedef struct packed {
    logic failed;
    logic [11:0] tag;
  } software_done_t;

  // Connection c. Change it only while the connection has nothing in flight and no request names it. (read, write)
  localparam logic [15:0] ConnectionConfigOffset = 16'h400;
  localparam int unsigned ConnectionConfigCount = 16;
  localparam int unsigned ConnectionConfigStride = 32;
  localparam int unsigned ConnectionConfigIndexLsb = 5;  // Of the index in the address.
  localparam logic [63:0] ConnectionConfigReset = 64'h0;
  localparam int unsigned ConnectionConfigValidLsb = 0;  // Requests may name it.
  localparam int unsigned ConnectionConfigValidWidth = 1;
  localparam int unsigned ConnectionConfigLimitLsb = 4;  // Transfers in flight; 0 or more than are built means all that are built.
  localparam int unsigned ConnectionConfigLimitWidth = 4;
  localparam int unsigned ConnectionConfigNodeLsb = 8;  // Node of the peer.
  localparam int unsigned ConnectionConfigNodeWidth = 8;
  typedef struct packed {
    logic [7:0] node;
    logic [3:0] limit;
    logic valid;
  } connection_config_t;

  // Array of receive flags at the peer, 8 bytes a destination buffer. (write only, reads 0)
  localparam logic [15:0] ConnectionRcBaseOffset = 16'h408;
  localparam int unsigned ConnectionRcBaseCount = 16;
  localparam int unsigned ConnectionRcBaseStride = 32;
  localparam int unsigned ConnectionRcBaseIndexLsb = 5;  // Of the index in the address.
  localparam logic [63:0] ConnectionRcBaseReset = 64'h0;
  localparam int unsigned ConnectionRcBaseAddressLsb = 0;  // 48-bit address of flag 0.
  localparam int unsigned ConnectionRcBaseAddressWidth = 48;
  typedef struct packed {
    logic [47:0] address;
  } connection_rc_base_t;

  // State of connection c. (read only)
  localparam logic [15:0] ConnectionStateOffset = 16'h410;
  localparam int unsigned ConnectionStateCount = 16;
  localparam int unsigned ConnectionStateStride = 32;
  localparam int unsigned ConnectionStateIndexLsb = 5;  // Of the index in the address.
  localparam logic [63:0] ConnectionStateReset = 64'h0;
  localparam int unsigned ConnectionStateCompletedLsb = 0;  // Number of its last retired request.
  localparam int unsigned ConnectionStateCompletedWidth = 32;
  localparam int unsigned ConnectionStateInFlightLsb = 32;  // Transfers in flight.
  localparam int unsigned ConnectionStateInFlightWidth = 8;
  typedef struct packed {
    logic [7:0] in_flight;
    logic [31:0] completed;
  } connection_state_t;

  // Buffer b, first byte; written while the buffer is not valid. (write only, reads 0)
  localparam logic [15:0] BufferBaseOffset = 16'h1000;
  localparam int unsigned BufferBaseCount = 256;
  localparam int unsigned BufferBaseStride = 16;
  localparam int unsigned BufferBaseIndexLsb = 4;  // Of the index in the address.
  localparam logic [63:0] BufferBaseReset = 64'h0;
  localparam int unsigned BufferBaseAddressLsb = 0;  // 48-bit address, of this GPU or of a peer.
  localparam int unsigned BufferBaseAddressWidth = 48;
  typedef struct packed {
    logic [47:0] address;
  } buffer_base_t;

  // Buffer b, size and use; written after its base. Requests that are in flight keep what they were checked against. (write only, reads 0)
  localparam logic [15:0] BufferConfigOffset = 16'h1008;
  localparam int unsigned BufferConfigCount = 256;
  localparam int unsigned BufferConfigStride = 16;
  localparam int unsigned BufferConfigIndexLsb = 4;  // Of the index in the address.
  localparam logic [63:0] BufferConfigReset = 64'h0;
  localparam int unsigned BufferConfigUnitsLsb = 0;  // Size in units, at most 131072.
  localparam int unsigned BufferConfigUnitsWidth = 18;
  localparam int unsigned BufferConfigUnitLsb = 20;  // log2 of the bytes of a unit, at most 17.
  localparam int unsigned BufferConfigUnitWidth = 5;
  localparam int unsigned BufferConfigReadableLsb = 28;  // May be a source.
  localparam int unsigned BufferConfigReadableWidth = 1;
  localparam int unsigned BufferConfigWritableLsb = 29;  // May be a destination.
  localparam int unsigned BufferConfigWritableWidth = 1;
  localparam int unsigned BufferConfigValidLsb = 31;  // Requests may name it.
  localparam int unsigned BufferConfigValidWidth = 1;
  typedef struct packed {
    logic valid;
    logic writable;
    logic readable;
    logic [4:0] unit;
    logic [17:0] units;
  } buffer_config_t;

endpackage
// verilator lint_on UNUSEDPARAM
