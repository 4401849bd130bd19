// SPDX-License-Identifier: Apache-2.0
// CopyEngine: the DMA engine of a processor (Intel I/OAT, AMD PTDMA). Programs leave descriptors;
// channels take them in order, copy device memory to device memory over PCIe, line by line
// (line_mover.h), and write a word of host memory when the last line has left.
//
// Invariants
//  1 Channels begin descriptors in the order (time at which they are ready, program).
//  2 A descriptor's word is written once, when all of its writes have left; several channels end in
//    any order.
#ifndef STRETTO_MODELS_HOST_COPY_ENGINE_H_
#define STRETTO_MODELS_HOST_COPY_ENGINE_H_

#include <systemc>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/common/component.h"
#include "models/common/spec.h"
#include "models/host/line_mover.h"

namespace stretto {

struct CopyEngineSpec {
  uint32_t channels = 8;
  uint32_t buffers = 16;
  uint32_t line_bytes = 64;
  uint32_t start_ns = 300;
};

void describe(CopyEngineSpec& spec, ParameterSet& set);

class CopyEngine final : public sc_core::sc_module {
 public:
  struct Descriptor {
    uint64_t to, from, bytes;
    uint64_t signal, value;  // Word of host memory, and what is written there.
    size_t program;
    Time ready = 0;
  };

  CopyEngine(sc_core::sc_module_name name, Host& host, const CopyEngineSpec& spec);
  ~CopyEngine() override;

  // The doorbell has rung.
  void submit(Descriptor&& descriptor);

  bool was_used() const { return descriptors_ != 0; }
  std::string digest_hex() { return digest_.hex(); }
  void report(StatisticSink& sink) const;
  void audit(AuditSink& sink) const;
  std::vector<std::string> waiting_on() const;

 private:
  struct Channel {
    std::unique_ptr<LineMover> mover;
    Descriptor descriptor;
    bool busy = false;
  };
  void step();

  Host& host_;
  const CopyEngineSpec spec_;
  Digest digest_;
  std::vector<Channel> channels_;
  std::deque<Descriptor> waiting_;
  sc_core::sc_event wake_;
  uint64_t descriptors_ = 0, completed_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_HOST_COPY_ENGINE_H_
