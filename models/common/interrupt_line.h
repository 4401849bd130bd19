// SPDX-License-Identifier: Apache-2.0
// An interrupt input of the CP's controller, as seen by a device. Lines are levels, STRETTO_IRQ_*
// of address_map.h.
#ifndef STRETTO_MODELS_COMMON_INTERRUPT_LINE_H_
#define STRETTO_MODELS_COMMON_INTERRUPT_LINE_H_

namespace stretto {

class InterruptLine {
 public:
  virtual ~InterruptLine() = default;
  virtual void set(unsigned line, bool level) = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_INTERRUPT_LINE_H_
