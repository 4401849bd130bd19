// SPDX-License-Identifier: Apache-2.0
// Clocks a Verilated block and, in the flavour checked, hands its signals to a WaveProbe.
//
// The plain way of a clock is two evaluations, low and high. The low one changes nothing in a block
// that uses the rising edge only: it tells Verilator that the next rise is one. Where Verilator's
// record of the last clock level is reachable (5.006: a public member of the root module), it is
// set instead, which saves a fifth of an MCA's step. Waves want both edges. Inputs change before
// tick(), outputs are valid after it.
#ifndef STRETTO_PLATFORM_ADAPTERS_VERILATED_CLOCK_H_
#define STRETTO_PLATFORM_ADAPTERS_VERILATED_CLOCK_H_

#include <cstdint>

#include "platform/adapters/wave_probe.h"

#ifdef STRETTO_COVERED
#include "platform/adapters/verilated_coverage.h"
#endif
#ifdef STRETTO_TRACED
#include <string>

#include <verilated_vcd_c.h>
#endif

namespace stretto {

// The block's step with the inputs as they are.
template <typename Top>
void clock_once(Top& top) {
  if constexpr (requires { top.rootp->__Vtrigrprev__TOP__clk_i = 0; }) {
    top.clk_i = 1;
    top.rootp->__Vtrigrprev__TOP__clk_i = 0;
    top.eval();
  } else {
    top.clk_i = 0;
    top.eval();
    top.clk_i = 1;
    top.eval();
  }
}

// Verilator 5.006 forgets the scopes of a dying model in the context that the thread used last,
// which may be gone already when several models die. REQUIRES: called before the model dies.
template <typename Top>
void end_of_clock(Top& top) {
  Verilated::threadContextp(top.contextp());
#ifdef STRETTO_COVERED
  keep_coverage(*top.contextp());
#endif
}

#ifndef STRETTO_TRACED

template <typename Top>
class VerilatedClock final {
 public:
  // Only the flavour checked has probes.
  VerilatedClock(Top& top, WaveProbe*) : top_(top) {
    top_.clk_i = 0;
    top_.eval();
  }
  ~VerilatedClock() { end_of_clock(top_); }

  template <typename IdleInputs>
  void tick(uint64_t, const IdleInputs&) {
    clock_once(top_);
  }

 private:
  Top& top_;
};

#else

template <typename Top>
class VerilatedClock final : public WaveProbe::Source {
 public:
  // `probe` may be null.
  VerilatedClock(Top& top, WaveProbe* probe) : top_(top), probe_(probe) {
    if (probe_ != nullptr) {
      top_.contextp()->traceEverOn(true);
      top_.trace(&trace_, kAllLevels);
      trace_.open("");  // Into text_: the header.
      trace_.flush();
      probe_->declare(*this, text_.all);
      text_.all.clear();
    }
    level(0);
  }

  ~VerilatedClock() override { end_of_clock(top_); }

  // `idle_inputs` sets the pins as they are between clocks: a block that then sleeps shows no push
  // that lasts.
  template <typename IdleInputs>
  void tick(uint64_t cycle, const IdleInputs& idle_inputs) {
    if (probe_ == nullptr || !probe_->recording()) {
      clock_once(top_);
      return;
    }
    level(0);
    record(cycle, WaveMoment::inputs);
    level(1);
    record(cycle, WaveMoment::rise);
    idle_inputs();
    level(0);
    record(cycle, WaveMoment::fall);
  }

  void snapshot() override {
    level(0);
    dump();
    probe_->record_all(text_.all);
    text_.all.clear();
  }

 private:
  static constexpr int kAllLevels = 99;

  // Collects what Verilator would write to a file.
  struct Text final : public VerilatedVcdFile {
    bool open(const std::string&) override { return true; }
    void close() override {}
    ssize_t write(const char* text, ssize_t size) override {
      all.append(text, static_cast<size_t>(size));
      return size;
    }
    std::string all;
  };

  void level(uint8_t clock) {
    top_.clk_i = clock;
    top_.eval();
  }
  // The time is a count: the probe knows the real one. The first dump holds every signal.
  void dump() {
    trace_.dump(++dumps_);
    trace_.flush();
  }
  void record(uint64_t cycle, WaveMoment moment) {
    dump();
    probe_->record(cycle, moment, text_.all);
    text_.all.clear();
  }

  Top& top_;
  WaveProbe* const probe_;
  Text text_;
  VerilatedVcdC trace_{&text_};
  uint64_t dumps_ = 0;
};

#endif

}  // namespace stretto

#endif  // STRETTO_PLATFORM_ADAPTERS_VERILATED_CLOCK_H_
