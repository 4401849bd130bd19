// SPDX-License-Identifier: Apache-2.0
// What components other than compute units and harts send: accesses of the communication stream,
// for the whole system, past the caches.
#ifndef STRETTO_MODELS_COMMON_PAYLOAD_BUILDER_H_
#define STRETTO_MODELS_COMMON_PAYLOAD_BUILDER_H_

#include "models/common/payload_pool.h"
#include "sw/include/formats/address_map.h"

namespace stretto {

inline void mark_communication(StrettoExtension& extension, Engine engine, uint8_t gpu,
                               Operation operation, uint8_t account) {
  extension.engine = engine;
  extension.gpu = gpu;
  extension.operation = operation;
  extension.stream = Stream::communication;
  extension.scope = Scope::system;
  extension.allocation = AllocationClass::uncached;
  extension.account = account;
}

inline PooledPayload& communication_payload(PayloadPool& pool, Engine engine, uint8_t gpu,
                                            Operation operation, uint8_t account, uint64_t address,
                                            void* data, uint32_t bytes) {
  PooledPayload& payload = pool.acquire();
  payload.set_command(operation == Operation::read ? tlm::TLM_READ_COMMAND
                                                   : tlm::TLM_WRITE_COMMAND);
  payload.set_address(address);
  payload.set_data_ptr(static_cast<uint8_t*>(data));
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  mark_communication(payload.extension, engine, gpu, operation, account);
  payload.extension.row_bytes = bytes;
  return payload;
}

// A store there is a send request, of a GPU's request ring or a card's.
inline bool in_send_window(uint64_t address) {
  const uint64_t offset = address & STRETTO_OFFSET_MASK;
  return offset >= STRETTO_SEND_APERTURE &&
         offset - STRETTO_SEND_APERTURE < STRETTO_SEND_APERTURE_BYTES;
}

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_PAYLOAD_BUILDER_H_
