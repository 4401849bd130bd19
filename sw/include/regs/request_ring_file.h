// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/request_ring.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Register file of the model of request_ring: twin of rtl/request_ring/request_ring_regs.sv.
#ifndef STRETTO_SW_INCLUDE_REGS_REQUEST_RING_FILE_H_
#define STRETTO_SW_INCLUDE_REGS_REQUEST_RING_FILE_H_

#include <cstdint>

#include "sw/include/regs/field.h"
#include "sw/include/regs/request_ring_regs.h"

namespace stretto {

struct RequestRingRegisters {
  enum class Name : uint8_t { control, clear, counter_clear, status, limits, node, replica_address, sc_base, error, irq_enable, error_first, error_request, tail, head, refused, dropped, issued, completed, failed, flags, replicas, software_source, software_destination, software_bytes, software_take, software_done, connection_config, connection_rc_base, connection_state, buffer_base, buffer_config, none };
  struct Place {
    Name name = Name::none;
    unsigned index = 0;  // In an array.
  };

  struct Control {
    bool enable = false;
    bool engine = false;
    bool replica = false;
    uint8_t batch = 16;
    static constexpr Control from(uint64_t data) {
      return {
          STRETTO_FIELD_GET(data, REQUEST_RING_CONTROL_ENABLE) != 0,
          STRETTO_FIELD_GET(data, REQUEST_RING_CONTROL_ENGINE) != 0,
          STRETTO_FIELD_GET(data, REQUEST_RING_CONTROL_REPLICA) != 0,
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, REQUEST_RING_CONTROL_BATCH)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_CONTROL_ENABLE, enable) |
             STRETTO_FIELD(REQUEST_RING_CONTROL_ENGINE, engine) |
             STRETTO_FIELD(REQUEST_RING_CONTROL_REPLICA, replica) |
             STRETTO_FIELD(REQUEST_RING_CONTROL_BATCH, batch);
    }
  };

  struct Status {
    bool busy = false;
    bool work = false;
    uint16_t level = 0;
    uint16_t in_flight = 0;
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_STATUS_BUSY, busy) |
             STRETTO_FIELD(REQUEST_RING_STATUS_WORK, work) |
             STRETTO_FIELD(REQUEST_RING_STATUS_LEVEL, level) |
             STRETTO_FIELD(REQUEST_RING_STATUS_IN_FLIGHT, in_flight);
    }
  };

  struct Limits {
    uint16_t depth = 0;
    uint16_t buffers = 0;
    uint16_t connections = 0;
    uint16_t slots = 0;
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_LIMITS_DEPTH, depth) |
             STRETTO_FIELD(REQUEST_RING_LIMITS_BUFFERS, buffers) |
             STRETTO_FIELD(REQUEST_RING_LIMITS_CONNECTIONS, connections) |
             STRETTO_FIELD(REQUEST_RING_LIMITS_SLOTS, slots);
    }
  };

  struct Node {
    uint8_t node = 0;
    static constexpr Node from(uint64_t data) {
      return {
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, REQUEST_RING_NODE_NODE)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_NODE_NODE, node);
    }
  };

  struct ReplicaAddress {
    uint64_t address = 0;
    static constexpr ReplicaAddress from(uint64_t data) {
      return {
          static_cast<uint64_t>(STRETTO_FIELD_GET(data, REQUEST_RING_REPLICA_ADDRESS_ADDRESS)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_REPLICA_ADDRESS_ADDRESS, address);
    }
  };

  struct ScBase {
    uint64_t address = 0;
    static constexpr ScBase from(uint64_t data) {
      return {
          static_cast<uint64_t>(STRETTO_FIELD_GET(data, REQUEST_RING_SC_BASE_ADDRESS)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_SC_BASE_ADDRESS, address);
    }
  };

  struct Error {
    bool malformed = false;
    bool dropped = false;
    bool transfer = false;
    static constexpr Error from(uint64_t data) {
      return {
          STRETTO_FIELD_GET(data, REQUEST_RING_ERROR_MALFORMED) != 0,
          STRETTO_FIELD_GET(data, REQUEST_RING_ERROR_DROPPED) != 0,
          STRETTO_FIELD_GET(data, REQUEST_RING_ERROR_TRANSFER) != 0,
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_ERROR_MALFORMED, malformed) |
             STRETTO_FIELD(REQUEST_RING_ERROR_DROPPED, dropped) |
             STRETTO_FIELD(REQUEST_RING_ERROR_TRANSFER, transfer);
    }
  };

  struct IrqEnable {
    uint8_t errors = 0;
    bool work = false;
    static constexpr IrqEnable from(uint64_t data) {
      return {
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, REQUEST_RING_IRQ_ENABLE_ERRORS)),
          STRETTO_FIELD_GET(data, REQUEST_RING_IRQ_ENABLE_WORK) != 0,
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_IRQ_ENABLE_ERRORS, errors) |
             STRETTO_FIELD(REQUEST_RING_IRQ_ENABLE_WORK, work);
    }
  };

  struct ErrorFirst {
    uint16_t reason = 0;
    uint8_t kind = 0;
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_ERROR_FIRST_REASON, reason) |
             STRETTO_FIELD(REQUEST_RING_ERROR_FIRST_KIND, kind);
    }
  };

  struct SoftwareSource {
    uint64_t address = 0;
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_SOFTWARE_SOURCE_ADDRESS, address);
    }
  };

  struct SoftwareDestination {
    uint64_t address = 0;
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_SOFTWARE_DESTINATION_ADDRESS, address);
    }
  };

  struct SoftwareBytes {
    uint64_t bytes = 0;
    uint16_t tag = 0;
    bool read = false;
    bool valid = false;
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_SOFTWARE_BYTES_BYTES, bytes) |
             STRETTO_FIELD(REQUEST_RING_SOFTWARE_BYTES_TAG, tag) |
             STRETTO_FIELD(REQUEST_RING_SOFTWARE_BYTES_READ, read) |
             STRETTO_FIELD(REQUEST_RING_SOFTWARE_BYTES_VALID, valid);
    }
  };

  struct SoftwareDone {
    uint16_t tag = 0;
    bool failed = false;
    static constexpr SoftwareDone from(uint64_t data) {
      return {
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, REQUEST_RING_SOFTWARE_DONE_TAG)),
          STRETTO_FIELD_GET(data, REQUEST_RING_SOFTWARE_DONE_FAILED) != 0,
      };
    }
  };

  struct ConnectionConfig {
    bool valid = false;
    uint8_t limit = 0;
    uint8_t node = 0;
    static constexpr ConnectionConfig from(uint64_t data) {
      return {
          STRETTO_FIELD_GET(data, REQUEST_RING_CONNECTION_CONFIG_VALID) != 0,
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, REQUEST_RING_CONNECTION_CONFIG_LIMIT)),
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, REQUEST_RING_CONNECTION_CONFIG_NODE)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_VALID, valid) |
             STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_LIMIT, limit) |
             STRETTO_FIELD(REQUEST_RING_CONNECTION_CONFIG_NODE, node);
    }
  };

  struct ConnectionRcBase {
    uint64_t address = 0;
    static constexpr ConnectionRcBase from(uint64_t data) {
      return {
          static_cast<uint64_t>(STRETTO_FIELD_GET(data, REQUEST_RING_CONNECTION_RC_BASE_ADDRESS)),
      };
    }
  };

  struct ConnectionState {
    uint32_t completed = 0;
    uint8_t in_flight = 0;
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(REQUEST_RING_CONNECTION_STATE_COMPLETED, completed) |
             STRETTO_FIELD(REQUEST_RING_CONNECTION_STATE_IN_FLIGHT, in_flight);
    }
  };

  struct BufferBase {
    uint64_t address = 0;
    static constexpr BufferBase from(uint64_t data) {
      return {
          static_cast<uint64_t>(STRETTO_FIELD_GET(data, REQUEST_RING_BUFFER_BASE_ADDRESS)),
      };
    }
  };

  struct BufferConfig {
    uint32_t units = 0;
    uint8_t unit = 0;
    bool readable = false;
    bool writable = false;
    bool valid = false;
    static constexpr BufferConfig from(uint64_t data) {
      return {
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, REQUEST_RING_BUFFER_CONFIG_UNITS)),
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, REQUEST_RING_BUFFER_CONFIG_UNIT)),
          STRETTO_FIELD_GET(data, REQUEST_RING_BUFFER_CONFIG_READABLE) != 0,
          STRETTO_FIELD_GET(data, REQUEST_RING_BUFFER_CONFIG_WRITABLE) != 0,
          STRETTO_FIELD_GET(data, REQUEST_RING_BUFFER_CONFIG_VALID) != 0,
      };
    }
  };

  // Stored here.
  Control control;
  Node node;
  ReplicaAddress replica_address;
  ScBase sc_base;
  IrqEnable irq_enable;

  // What a read returns of the registers of the block; of an array, of the element that is read.
  struct Hardware {
    Status status{};
    Limits limits{};
    Error error{};
    ErrorFirst error_first{};
    uint64_t error_request = 0;
    uint64_t tail = 0;
    uint64_t head = 0;
    uint64_t refused = 0;
    uint64_t dropped = 0;
    uint64_t issued = 0;
    uint64_t completed = 0;
    uint64_t failed = 0;
    uint64_t flags = 0;
    uint64_t replicas = 0;
    SoftwareSource software_source{};
    SoftwareDestination software_destination{};
    SoftwareBytes software_bytes{};
    ConnectionConfig connection_config{};
    ConnectionState connection_state{};
  };

  static constexpr Place find(uint16_t address) {
    switch (address) {
      case REQUEST_RING_CONTROL_OFFSET: return {Name::control, 0};
      case REQUEST_RING_CLEAR_OFFSET: return {Name::clear, 0};
      case REQUEST_RING_COUNTER_CLEAR_OFFSET: return {Name::counter_clear, 0};
      case REQUEST_RING_STATUS_OFFSET: return {Name::status, 0};
      case REQUEST_RING_LIMITS_OFFSET: return {Name::limits, 0};
      case REQUEST_RING_NODE_OFFSET: return {Name::node, 0};
      case REQUEST_RING_REPLICA_ADDRESS_OFFSET: return {Name::replica_address, 0};
      case REQUEST_RING_SC_BASE_OFFSET: return {Name::sc_base, 0};
      case REQUEST_RING_ERROR_OFFSET: return {Name::error, 0};
      case REQUEST_RING_IRQ_ENABLE_OFFSET: return {Name::irq_enable, 0};
      case REQUEST_RING_ERROR_FIRST_OFFSET: return {Name::error_first, 0};
      case REQUEST_RING_ERROR_REQUEST_OFFSET: return {Name::error_request, 0};
      case REQUEST_RING_TAIL_OFFSET: return {Name::tail, 0};
      case REQUEST_RING_HEAD_OFFSET: return {Name::head, 0};
      case REQUEST_RING_REFUSED_OFFSET: return {Name::refused, 0};
      case REQUEST_RING_DROPPED_OFFSET: return {Name::dropped, 0};
      case REQUEST_RING_ISSUED_OFFSET: return {Name::issued, 0};
      case REQUEST_RING_COMPLETED_OFFSET: return {Name::completed, 0};
      case REQUEST_RING_FAILED_OFFSET: return {Name::failed, 0};
      case REQUEST_RING_FLAGS_OFFSET: return {Name::flags, 0};
      case REQUEST_RING_REPLICAS_OFFSET: return {Name::replicas, 0};
      case REQUEST_RING_SOFTWARE_SOURCE_OFFSET: return {Name::software_source, 0};
      case REQUEST_RING_SOFTWARE_DESTINATION_OFFSET: return {Name::software_destination, 0};
      case REQUEST_RING_SOFTWARE_BYTES_OFFSET: return {Name::software_bytes, 0};
      case REQUEST_RING_SOFTWARE_TAKE_OFFSET: return {Name::software_take, 0};
      case REQUEST_RING_SOFTWARE_DONE_OFFSET: return {Name::software_done, 0};
      default: break;
    }
    if (address >= REQUEST_RING_CONNECTION_CONFIG_OFFSET && (address - REQUEST_RING_CONNECTION_CONFIG_OFFSET) % REQUEST_RING_CONNECTION_CONFIG_STRIDE == 0 &&
        address < REQUEST_RING_CONNECTION_CONFIG_OFFSET_AT(REQUEST_RING_CONNECTION_CONFIG_COUNT)) {
      return {Name::connection_config, static_cast<unsigned>(address - REQUEST_RING_CONNECTION_CONFIG_OFFSET) / REQUEST_RING_CONNECTION_CONFIG_STRIDE};
    }
    if (address >= REQUEST_RING_CONNECTION_RC_BASE_OFFSET && (address - REQUEST_RING_CONNECTION_RC_BASE_OFFSET) % REQUEST_RING_CONNECTION_RC_BASE_STRIDE == 0 &&
        address < REQUEST_RING_CONNECTION_RC_BASE_OFFSET_AT(REQUEST_RING_CONNECTION_RC_BASE_COUNT)) {
      return {Name::connection_rc_base, static_cast<unsigned>(address - REQUEST_RING_CONNECTION_RC_BASE_OFFSET) / REQUEST_RING_CONNECTION_RC_BASE_STRIDE};
    }
    if (address >= REQUEST_RING_CONNECTION_STATE_OFFSET && (address - REQUEST_RING_CONNECTION_STATE_OFFSET) % REQUEST_RING_CONNECTION_STATE_STRIDE == 0 &&
        address < REQUEST_RING_CONNECTION_STATE_OFFSET_AT(REQUEST_RING_CONNECTION_STATE_COUNT)) {
      return {Name::connection_state, static_cast<unsigned>(address - REQUEST_RING_CONNECTION_STATE_OFFSET) / REQUEST_RING_CONNECTION_STATE_STRIDE};
    }
    if (address >= REQUEST_RING_BUFFER_BASE_OFFSET && (address - REQUEST_RING_BUFFER_BASE_OFFSET) % REQUEST_RING_BUFFER_BASE_STRIDE == 0 &&
        address < REQUEST_RING_BUFFER_BASE_OFFSET_AT(REQUEST_RING_BUFFER_BASE_COUNT)) {
      return {Name::buffer_base, static_cast<unsigned>(address - REQUEST_RING_BUFFER_BASE_OFFSET) / REQUEST_RING_BUFFER_BASE_STRIDE};
    }
    if (address >= REQUEST_RING_BUFFER_CONFIG_OFFSET && (address - REQUEST_RING_BUFFER_CONFIG_OFFSET) % REQUEST_RING_BUFFER_CONFIG_STRIDE == 0 &&
        address < REQUEST_RING_BUFFER_CONFIG_OFFSET_AT(REQUEST_RING_BUFFER_CONFIG_COUNT)) {
      return {Name::buffer_config, static_cast<unsigned>(address - REQUEST_RING_BUFFER_CONFIG_OFFSET) / REQUEST_RING_BUFFER_CONFIG_STRIDE};
    }
    return {};
  }

  // Of a register that is stored here; nothing else happens.
  void write(Place place, uint64_t data, bool control_engine_lock) {
    switch (place.name) {
      case Name::control: {
        Control value = Control::from(data);
        if (control_engine_lock) value.engine = control.engine;
        control = value;
        break;
      }
      case Name::node: node = Node::from(data); break;
      case Name::replica_address: replica_address = ReplicaAddress::from(data); break;
      case Name::sc_base: sc_base = ScBase::from(data); break;
      case Name::irq_enable: irq_enable = IrqEnable::from(data); break;
      default: break;
    }
  }

  uint64_t read(Place place, const Hardware& hardware) const {
    switch (place.name) {
      case Name::control: return control.bits();
      case Name::status: return hardware.status.bits();
      case Name::limits: return hardware.limits.bits();
      case Name::node: return node.bits();
      case Name::replica_address: return replica_address.bits();
      case Name::sc_base: return sc_base.bits();
      case Name::error: return hardware.error.bits();
      case Name::irq_enable: return irq_enable.bits();
      case Name::error_first: return hardware.error_first.bits();
      case Name::error_request: return hardware.error_request;
      case Name::tail: return hardware.tail;
      case Name::head: return hardware.head;
      case Name::refused: return hardware.refused;
      case Name::dropped: return hardware.dropped;
      case Name::issued: return hardware.issued;
      case Name::completed: return hardware.completed;
      case Name::failed: return hardware.failed;
      case Name::flags: return hardware.flags;
      case Name::replicas: return hardware.replicas;
      case Name::software_source: return hardware.software_source.bits();
      case Name::software_destination: return hardware.software_destination.bits();
      case Name::software_bytes: return hardware.software_bytes.bits();
      case Name::connection_config: return hardware.connection_config.bits();
      case Name::connection_state: return hardware.connection_state.bits();
      default: return 0;
    }
  }
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_REQUEST_RING_FILE_H_
