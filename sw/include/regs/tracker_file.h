// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/tracker.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Register file of the model of tracker: twin of rtl/tracker/tracker_regs.sv.
#ifndef STRETTO_SW_INCLUDE_REGS_TRACKER_FILE_H_
#define STRETTO_SW_INCLUDE_REGS_TRACKER_FILE_H_

#include <cstdint>

#include "sw/include/regs/field.h"
#include "sw/include/regs/tracker_regs.h"

namespace stretto {

struct TrackerRegisters {
  enum class Name : uint8_t { control, clear, counter_clear, status, tiles, strips, untracked, event, threshold, updates, half_words, ignored, triggers, spills, spill_reads, refills, max_live, none };
  struct Place {
    Name name = Name::none;
    unsigned index = 0;  // In an array.
  };

  struct Control {
    bool enable = false;
    uint8_t ways = 8;
    static constexpr Control from(uint64_t data) {
      return {
          STRETTO_FIELD_GET(data, TRACKER_CONTROL_ENABLE) != 0,
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, TRACKER_CONTROL_WAYS)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(TRACKER_CONTROL_ENABLE, enable) |
             STRETTO_FIELD(TRACKER_CONTROL_WAYS, ways);
    }
  };

  struct Status {
    bool busy = false;
    uint8_t outstanding = 0;
    uint32_t live = 0;
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(TRACKER_STATUS_BUSY, busy) |
             STRETTO_FIELD(TRACKER_STATUS_OUTSTANDING, outstanding) |
             STRETTO_FIELD(TRACKER_STATUS_LIVE, live);
    }
  };

  struct Tiles {
    uint32_t total = 0;
    uint16_t last_strip = 0;
    static constexpr Tiles from(uint64_t data) {
      return {
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, TRACKER_TILES_TOTAL)),
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, TRACKER_TILES_LAST_STRIP)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(TRACKER_TILES_TOTAL, total) |
             STRETTO_FIELD(TRACKER_TILES_LAST_STRIP, last_strip);
    }
  };

  struct Strips {
    uint16_t along = 0;
    uint8_t width = 0;
    uint32_t reciprocal = 0;
    static constexpr Strips from(uint64_t data) {
      return {
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, TRACKER_STRIPS_ALONG)),
          static_cast<uint8_t>(STRETTO_FIELD_GET(data, TRACKER_STRIPS_WIDTH)),
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, TRACKER_STRIPS_RECIPROCAL)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(TRACKER_STRIPS_ALONG, along) |
             STRETTO_FIELD(TRACKER_STRIPS_WIDTH, width) |
             STRETTO_FIELD(TRACKER_STRIPS_RECIPROCAL, reciprocal);
    }
  };

  struct Untracked {
    uint16_t first = 0;
    uint32_t count = 0;
    static constexpr Untracked from(uint64_t data) {
      return {
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, TRACKER_UNTRACKED_FIRST)),
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, TRACKER_UNTRACKED_COUNT)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(TRACKER_UNTRACKED_FIRST, first) |
             STRETTO_FIELD(TRACKER_UNTRACKED_COUNT, count);
    }
  };

  struct Event {
    uint16_t first = 0;
    uint32_t count = 0;
    static constexpr Event from(uint64_t data) {
      return {
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, TRACKER_EVENT_FIRST)),
          static_cast<uint32_t>(STRETTO_FIELD_GET(data, TRACKER_EVENT_COUNT)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(TRACKER_EVENT_FIRST, first) |
             STRETTO_FIELD(TRACKER_EVENT_COUNT, count);
    }
  };

  struct Threshold {
    uint16_t wf0 = 0;
    uint16_t wf1 = 0;
    uint16_t wf2 = 0;
    uint16_t wf3 = 0;
    static constexpr Threshold from(uint64_t data) {
      return {
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, TRACKER_THRESHOLD_WF0)),
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, TRACKER_THRESHOLD_WF1)),
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, TRACKER_THRESHOLD_WF2)),
          static_cast<uint16_t>(STRETTO_FIELD_GET(data, TRACKER_THRESHOLD_WF3)),
      };
    }
    constexpr uint64_t bits() const {
      return STRETTO_FIELD(TRACKER_THRESHOLD_WF0, wf0) |
             STRETTO_FIELD(TRACKER_THRESHOLD_WF1, wf1) |
             STRETTO_FIELD(TRACKER_THRESHOLD_WF2, wf2) |
             STRETTO_FIELD(TRACKER_THRESHOLD_WF3, wf3);
    }
  };

  // Stored here.
  Control control;
  Tiles tiles;
  Strips strips;
  Untracked untracked;
  Event event;
  Threshold threshold[TRACKER_THRESHOLD_COUNT]{};

  // What a read returns of the registers of the block; of an array, of the element that is read.
  struct Hardware {
    Status status{};
    uint64_t updates = 0;
    uint64_t half_words = 0;
    uint64_t ignored = 0;
    uint64_t triggers = 0;
    uint64_t spills = 0;
    uint64_t spill_reads = 0;
    uint64_t refills = 0;
    uint64_t max_live = 0;
  };

  static constexpr Place find(uint16_t address) {
    switch (address) {
      case TRACKER_CONTROL_OFFSET: return {Name::control, 0};
      case TRACKER_CLEAR_OFFSET: return {Name::clear, 0};
      case TRACKER_COUNTER_CLEAR_OFFSET: return {Name::counter_clear, 0};
      case TRACKER_STATUS_OFFSET: return {Name::status, 0};
      case TRACKER_TILES_OFFSET: return {Name::tiles, 0};
      case TRACKER_STRIPS_OFFSET: return {Name::strips, 0};
      case TRACKER_UNTRACKED_OFFSET: return {Name::untracked, 0};
      case TRACKER_EVENT_OFFSET: return {Name::event, 0};
      case TRACKER_UPDATES_OFFSET: return {Name::updates, 0};
      case TRACKER_HALF_WORDS_OFFSET: return {Name::half_words, 0};
      case TRACKER_IGNORED_OFFSET: return {Name::ignored, 0};
      case TRACKER_TRIGGERS_OFFSET: return {Name::triggers, 0};
      case TRACKER_SPILLS_OFFSET: return {Name::spills, 0};
      case TRACKER_SPILL_READS_OFFSET: return {Name::spill_reads, 0};
      case TRACKER_REFILLS_OFFSET: return {Name::refills, 0};
      case TRACKER_MAX_LIVE_OFFSET: return {Name::max_live, 0};
      default: break;
    }
    if (address >= TRACKER_THRESHOLD_OFFSET && (address - TRACKER_THRESHOLD_OFFSET) % TRACKER_THRESHOLD_STRIDE == 0 &&
        address < TRACKER_THRESHOLD_OFFSET_AT(TRACKER_THRESHOLD_COUNT)) {
      return {Name::threshold, static_cast<unsigned>(address - TRACKER_THRESHOLD_OFFSET) / TRACKER_THRESHOLD_STRIDE};
    }
    return {};
  }

  // Of a register that is stored here; nothing else happens.
  void write(Place place, uint64_t data) {
    switch (place.name) {
      case Name::control: control = Control::from(data); break;
      case Name::tiles: tiles = Tiles::from(data); break;
      case Name::strips: strips = Strips::from(data); break;
      case Name::untracked: untracked = Untracked::from(data); break;
      case Name::event: event = Event::from(data); break;
      case Name::threshold: threshold[place.index] = Threshold::from(data); break;
      default: break;
    }
  }

  uint64_t read(Place place, const Hardware& hardware) const {
    switch (place.name) {
      case Name::control: return control.bits();
      case Name::status: return hardware.status.bits();
      case Name::tiles: return tiles.bits();
      case Name::strips: return strips.bits();
      case Name::untracked: return untracked.bits();
      case Name::event: return event.bits();
      case Name::threshold: return threshold[place.index].bits();
      case Name::updates: return hardware.updates;
      case Name::half_words: return hardware.half_words;
      case Name::ignored: return hardware.ignored;
      case Name::triggers: return hardware.triggers;
      case Name::spills: return hardware.spills;
      case Name::spill_reads: return hardware.spill_reads;
      case Name::refills: return hardware.refills;
      case Name::max_live: return hardware.max_live;
      default: return 0;
    }
  }
};

}  // namespace stretto

#endif  // STRETTO_SW_INCLUDE_REGS_TRACKER_FILE_H_
