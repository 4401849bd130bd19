// SPDX-License-Identifier: Apache-2.0
// Steps two implementations of one block and compares every output (rtl_blocks.h).
#ifndef STRETTO_PLATFORM_ADAPTERS_LOCKSTEP_H_
#define STRETTO_PLATFORM_ADAPTERS_LOCKSTEP_H_

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/common/error.h"

namespace stretto {

// Names and values of the pins of one step.
class PinList {
 public:
  // What list_pins() of an interface calls.
  auto adder() {
    return [this](std::string name, uint64_t value) { pins_.emplace_back(std::move(name), value); };
  }
  const std::vector<std::pair<std::string, uint64_t>>& pins() const { return pins_; }

  // Pins whose value is not zero; the others are quiet.
  std::string text() const {
    std::string text;
    for (const auto& [name, value] : pins_) {
      if (value == 0) continue;
      text += fmt::format(" {}={:#x}", name, value);
    }
    return text.empty() ? " none" : text;
  }

 private:
  std::vector<std::pair<std::string, uint64_t>> pins_;
};

template <class Interface>
class Lockstep final : public Interface {
 public:
  using Inputs = typename Interface::Inputs;
  using Outputs = typename Interface::Outputs;
  using Snapshot = typename Interface::Snapshot;

  Lockstep(const char* block, std::unique_ptr<Interface> first, std::unique_ptr<Interface> second,
           std::string instance)
      : block_(block),
        instance_(std::move(instance)),
        first_(std::move(first)),
        second_(std::move(second)) {}

  void reset() override {
    first_->reset();
    second_->reset();
    steps_ = 0;
  }

  Outputs step(const Inputs& in) override {
    last_[steps_++ % last_.size()] = in;
    const Outputs a = first_->step(in);
    const Outputs b = second_->step(in);
    if (!(a == b)) {
      differ_ = true;
      report(in, a, b);
    }
    return a;
  }

  // After outputs differed the state does too: then it is that of the first, for what is left of
  // the results.
  std::optional<Snapshot> snapshot() const override {
    const std::optional<Snapshot> a = first_->snapshot();
    const std::optional<Snapshot> b = second_->snapshot();
    if (!differ_ && a.has_value() && b.has_value() && *a != *b) {
      throw CheckError("lockstep: " + std::string(block_) + " " + instance_ + ", after " +
                       std::to_string(steps_) + " clocks: other state inside" +
                       differences_of(*a, *b) + history());
    }
    return a;
  }

 private:
  // " name: rtl VALUE, model VALUE; ..." of what differs, for what list_pins() knows.
  template <class Values>
  static std::string differences_of(const Values& a, const Values& b) {
    std::string text;
    if constexpr (requires(PinList list) { list_pins(a, list.adder()); }) {
      PinList first, second;
      list_pins(a, first.adder());
      list_pins(b, second.adder());
      for (size_t i = 0; i < first.pins().size(); ++i) {
        if (first.pins()[i].second == second.pins()[i].second) continue;
        text += fmt::format("{} {}: rtl {:#x}, model {:#x}", text.empty() ? "" : ";",
                            first.pins()[i].first, first.pins()[i].second, second.pins()[i].second);
      }
    }
    return text;
  }

  [[noreturn]] void report(const Inputs& in, const Outputs& a, const Outputs& b) const {
    PinList inputs;
    list_pins(in, inputs.adder());
    throw CheckError("lockstep: " + std::string(block_) + " " + instance_ + ", cycle " +
                     std::to_string(in.cycle) + ":" + differences_of(a, b) +
                     "; inputs of this cycle:" + inputs.text() + history());
  }

  // The inputs of the last steps before this one, since reset.
  std::string history() const {
    std::string text;
    for (uint64_t i = steps_ - std::min<uint64_t>(steps_, last_.size()); i + 1 < steps_; ++i) {
      PinList pins;
      list_pins(last_[i % last_.size()], pins.adder());
      text += "\n  cycle " + std::to_string(last_[i % last_.size()].cycle) + ":" + pins.text();
    }
    return text.empty() ? "; the first after reset" : "\n last inputs before it:" + text;
  }

  const char* block_;
  std::string instance_;
  std::unique_ptr<Interface> first_;
  std::unique_ptr<Interface> second_;
  std::array<Inputs, 20> last_;  // Written by step(), read by a report only.
  uint64_t steps_ = 0;           // Since reset.
  bool differ_ = false;          // An output has.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_ADAPTERS_LOCKSTEP_H_
