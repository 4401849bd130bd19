// SPDX-License-Identifier: Apache-2.0
#include "platform/config/options.h"

#include "models/common/error.h"

namespace stretto {

const char* impl_name(Impl impl) {
  return impl == Impl::rtl ? "rtl" : impl == Impl::model ? "model" : "lockstep";
}

void set_impl(const std::string& text, std::map<std::string, Impl>& impl) {
  const size_t equals = text.find('=');
  const std::string block = text.substr(0, equals);
  const std::string kind = equals == std::string::npos ? "" : text.substr(equals + 1);
  Impl value = Impl::rtl;
  if (kind == "model") {
    value = Impl::model;
  } else if (kind == "lockstep") {
    value = Impl::lockstep;
  } else if (kind != "rtl") {
    throw UserError("--impl " + text + ": must be BLOCK=rtl|model|lockstep or all=...");
  }
  bool known = false;
  std::string allowed = "all";
  for (const std::string& name : block_names()) {
    allowed += ", " + name;
    if (block != "all" && block != name) continue;
    impl[name] = value;
    known = true;
  }
  if (!known) throw UserError("--impl " + text + ": no block '" + block + "'; allowed: " + allowed);
}

}  // namespace stretto
