// SPDX-License-Identifier: Apache-2.0
// What the verbs library needs of a host, from a core of the host model.
#ifndef STRETTO_TESTS_UNIT_NIC_VERBS_OPS_H_
#define STRETTO_TESTS_UNIT_NIC_VERBS_OPS_H_

#include <vector>

#include "models/host/host.h"
#include "sw/driver/stretto_driver.h"

namespace stretto::test {

// By the core that runs the program.
inline stretto_host_ops_t ops_of(HostCore& core) {
  stretto_host_ops_t ops{};
  ops.context = &core;
  ops.write = [](void* core, uint64_t address, const void* data, uint64_t bytes) {
    static_cast<HostCore*>(core)->write(address, data, bytes);
  };
  ops.wait = [](void* core, uint64_t address, stretto_wait_t condition, uint64_t value) {
    return static_cast<HostCore*>(core)->wait_word(address,
                                                   condition == STRETTO_WAIT_AT_LEAST
                                                       ? HostCore::Condition::at_least
                                                       : HostCore::Condition::not_equal,
                                                   value);
  };
  ops.wait_any = [](void* core, const stretto_host_word_t* words, uint32_t count,
                    uint64_t until_ns) {
    std::vector<HostCore::Word> all;
    for (uint32_t i = 0; i < count; ++i)
      all.push_back({words[i].address,
                     words[i].condition == STRETTO_WAIT_AT_LEAST ? HostCore::Condition::at_least
                                                                 : HostCore::Condition::not_equal,
                     words[i].value});
    const Time until = until_ns == UINT64_MAX ? kNever : until_ns * kNanosecond;
    return static_cast<uint32_t>(static_cast<HostCore*>(core)->wait_any(all, until));
  };
  ops.now_ns = [](void* core) { return static_cast<HostCore*>(core)->now() / kNanosecond; };
  ops.read = [](void* core, uint64_t address, void* data, uint64_t bytes) {
    static_cast<HostCore*>(core)->read(address, data, bytes);
  };
  ops.store = [](void* core, uint64_t address, uint64_t value) {
    static_cast<HostCore*>(core)->store(address, value);
  };
  ops.store_bytes = [](void* core, uint64_t address, const void* data, uint64_t bytes) {
    static_cast<HostCore*>(core)->store_bytes(address, data, bytes);
  };
  return ops;
}

}  // namespace stretto::test

#endif  // STRETTO_TESTS_UNIT_NIC_VERBS_OPS_H_
