// SPDX-License-Identifier: Apache-2.0
#include "platform/adapters/rtl_blocks.h"

#include "models/common/error.h"
#include "models/reference/mca_model.h"
#include "platform/adapters/rtl_sources.h"

namespace stretto {

#ifndef STRETTO_HAVE_RTL
bool rtl_is_traced() { return false; }

std::map<std::string, RtlSources> rtl_sources() { return {}; }

void refuse_without_rtl(const char* block) {
  throw UserError(std::string("--impl ") + block +
                  ": this build has no RTL (CMake option STRETTO_RTL is OFF); allowed: model");
}
#endif

std::unique_ptr<Mca> make_inverted_mca(Impl impl, [[maybe_unused]] const std::string& instance,
                                       [[maybe_unused]] WaveProbe* probe) {
  if (impl == Impl::model)
    throw UserError(
        "the inverted MCA exists in RTL only: allowed are --impl mca=rtl and mca=lockstep");
#ifdef STRETTO_HAVE_RTL
  if (impl == Impl::rtl) return make_verilated_inverted_mca(probe);
  return make_lockstep(make_verilated_inverted_mca(probe), std::make_unique<McaModel>(), instance);
#else
  refuse_without_rtl("mca");
#endif
}

}  // namespace stretto
