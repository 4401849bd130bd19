// SPDX-License-Identifier: Apache-2.0
// The Verilated blocks, one translation unit each (Verilator's headers do not get along with
// SystemC's). Only rtl_blocks.cpp calls these. `probe` may be null.
#ifndef STRETTO_PLATFORM_ADAPTERS_VERILATED_BLOCKS_H_
#define STRETTO_PLATFORM_ADAPTERS_VERILATED_BLOCKS_H_

#include <memory>

#include "models/reference/grid_scheduler_if.h"
#include "models/reference/mca_if.h"
#include "models/reference/request_ring_if.h"
#include "models/reference/tracker_if.h"
#include "platform/adapters/wave_probe.h"

namespace stretto {

std::unique_ptr<Mca> make_verilated_mca(WaveProbe* probe);
std::unique_ptr<Mca> make_verilated_inverted_mca(WaveProbe* probe);
std::unique_ptr<Tracker> make_verilated_tracker(WaveProbe* probe);
std::unique_ptr<GridScheduler> make_verilated_grid_scheduler(WaveProbe* probe);
std::unique_ptr<RequestRing> make_verilated_request_ring(WaveProbe* probe);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_ADAPTERS_VERILATED_BLOCKS_H_
