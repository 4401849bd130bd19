// SPDX-License-Identifier: Apache-2.0
// Makes the RTL blocks: Verilated, as reference model, or both in lockstep, behind the interface of
// the block. blocks.h, generated from rtl/blocks.txt, declares for each block
//   make_<block>(impl, instance, probe)       reset; throws UserError for rtl and lockstep in a build without RTL
//   make_lockstep(first, second, instance)    of any two implementations
//   make_verilated_<block>(probe)             verilated_<block>.cpp; a translation unit each, because Verilator's
//                                             headers do not get along with SystemC's
//
// A lockstep block steps both and compares every output; at the first difference it throws a
// CheckError that names block, instance, cycle, signal, both values and the last 20 inputs. Its
// outputs are those of the first, the RTL. `instance` is the hierarchical name that such a report
// gives (for example "gpu0.hbm.channel3.mca"). `probe` records the RTL's signals in the flavour
// checked (rtl_is_traced()); the fast one ignores it, and a model has none.
#ifndef STRETTO_PLATFORM_ADAPTERS_RTL_BLOCKS_H_
#define STRETTO_PLATFORM_ADAPTERS_RTL_BLOCKS_H_

#include <memory>
#include <string>

#include "platform/adapters/blocks.h"
#include "platform/adapters/wave_probe.h"

namespace stretto {

enum class Impl { rtl, model, lockstep };

// True in an executable with STRETTO_RTL_FLAVOUR checked.
bool rtl_is_traced();

// Throws UserError: what make_<block>() says in a build without RTL.
[[noreturn]] void refuse_without_rtl(const char* block);

// The MCA with inverted priority (rtl/mca/mutants.txt), for sabotage tests: right data at other
// times; in lockstep it is found out. Throws UserError for model, which has no such fault.
std::unique_ptr<Mca> make_inverted_mca(Impl impl, const std::string& instance,
                                       WaveProbe* probe = nullptr);

std::unique_ptr<Mca> make_verilated_inverted_mca(WaveProbe* probe);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_ADAPTERS_RTL_BLOCKS_H_
