// SPDX-License-Identifier: Apache-2.0
// Makes the RTL blocks: Verilated, as reference model, or both in lockstep, behind the interface of
// the block.
//
// A lockstep block steps both and compares every output; at the first difference it throws a
// CheckError that names block, instance, cycle, signal, both values and the last 20 inputs.
// Its outputs are those of the RTL. `instance` is the hierarchical name that such a report gives
// (for example "gpu0.hbm.channel3.mca"). `probe` records the RTL's signals in the flavours
// traced and checked (rtl_is_traced()); the fast one ignores it, and a model has none.
#ifndef STRETTO_PLATFORM_ADAPTERS_RTL_BLOCKS_H_
#define STRETTO_PLATFORM_ADAPTERS_RTL_BLOCKS_H_

#include <memory>
#include <string>

#include "models/reference/grid_scheduler_if.h"
#include "models/reference/mca_if.h"
#include "models/reference/request_ring_if.h"
#include "models/reference/tracker_if.h"
#include "platform/adapters/wave_probe.h"

namespace stretto {

enum class Impl { rtl, model, lockstep };

// True in an executable with STRETTO_RTL_FLAVOUR traced or checked.
bool rtl_is_traced();

// After construction a block is reset. Throws UserError for rtl and lockstep in a build without
// RTL.
std::unique_ptr<Mca> make_mca(Impl impl, const std::string& instance, WaveProbe* probe = nullptr);
std::unique_ptr<Tracker> make_tracker(Impl impl, const std::string& instance,
                                      WaveProbe* probe = nullptr);
std::unique_ptr<GridScheduler> make_grid_scheduler(Impl impl, const std::string& instance,
                                                   WaveProbe* probe = nullptr);
std::unique_ptr<RequestRing> make_request_ring(Impl impl, const std::string& instance,
                                               WaveProbe* probe = nullptr);

// The MCA with inverted priority (rtl/mca/mutants.txt), for sabotage tests: right data at other
// times; in lockstep it is found out. Throws UserError for model, which has no such fault.
std::unique_ptr<Mca> make_inverted_mca(Impl impl, const std::string& instance,
                                       WaveProbe* probe = nullptr);

// Lockstep of any two implementations; the outputs are those of `first`.
std::unique_ptr<Mca> make_lockstep(std::unique_ptr<Mca> first, std::unique_ptr<Mca> second,
                                   const std::string& instance);
std::unique_ptr<Tracker> make_lockstep(std::unique_ptr<Tracker> first,
                                       std::unique_ptr<Tracker> second,
                                       const std::string& instance);
std::unique_ptr<GridScheduler> make_lockstep(std::unique_ptr<GridScheduler> first,
                                             std::unique_ptr<GridScheduler> second,
                                             const std::string& instance);
std::unique_ptr<RequestRing> make_lockstep(std::unique_ptr<RequestRing> first,
                                           std::unique_ptr<RequestRing> second,
                                           const std::string& instance);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_ADAPTERS_RTL_BLOCKS_H_
