// SPDX-License-Identifier: Apache-2.0
// What every RTL block offers to whoever hosts it, whatever the implementation: Verilated,
// reference model, lockstep.
#ifndef STRETTO_MODELS_REFERENCE_BLOCK_H_
#define STRETTO_MODELS_REFERENCE_BLOCK_H_

#include <cstdint>
#include <optional>

#include "models/reference/register_port.h"

namespace stretto {

// Of the 48 bits that addresses and counters of slots have.
inline constexpr uint64_t kAddressMask = (uint64_t{1} << 48) - 1;

template <class InputPins, class OutputPins, class State>
class Block {
 public:
  using Inputs = InputPins;
  using Outputs = OutputPins;
  using Snapshot = State;

  virtual ~Block() = default;
  virtual void reset() = 0;
  // One clock: samples the inputs at its edge and returns the outputs after it.
  virtual Outputs step(const Inputs& in) = 0;
  // State inside as it is after the last step, also of a busy block; no clock passes. Empty if the
  // implementation does not show it: RTL that the user brought may have other signals.
  virtual std::optional<Snapshot> snapshot() const { return std::nullopt; }
};

}  // namespace stretto

#endif  // STRETTO_MODELS_REFERENCE_BLOCK_H_
