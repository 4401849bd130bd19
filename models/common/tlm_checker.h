// SPDX-License-Identifier: Apache-2.0
// How sockets are bound: connect(initiator, target, queue) instead of initiator.bind(target). In
// test builds it puts a TlmChecker between the two, which holds every call against the rules of
// tlm_rules.h and forwards it; neither socket can tell. Otherwise it is bind() and costs nothing.
// Test builds are those with assertions (Debug, -DSTRETTO_ASSERTIONS=ON) and those with
// -DSTRETTO_CHECK_SOCKETS=ON.
#ifndef STRETTO_MODELS_COMMON_TLM_CHECKER_H_
#define STRETTO_MODELS_COMMON_TLM_CHECKER_H_

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>
#include <type_traits>
#include <vector>

#include "models/common/tlm_rules.h"

namespace stretto {

#if defined(STRETTO_CHECK_SOCKETS) || !defined(NDEBUG)
inline constexpr bool kCheckSockets = true;
#else
inline constexpr bool kCheckSockets = false;
#endif

// What the sockets of the elaborated machine have seen.
struct TlmCensus {
  uint64_t bound = 0;    // Pairs of bound sockets.
  uint64_t checked = 0;  // Of them, with a checker in between.
  uint64_t begun = 0;    // Transactions over all checkers.
  uint64_t ended = 0;
  std::vector<std::string> unchecked;  // Initiator sockets without a checker.
};
TlmCensus tlm_census();

// By this the census knows a checker.
class TlmChecked {
 public:
  virtual ~TlmChecked() = default;
  virtual const TlmHop& hop() const = 0;
};

template <class Protocol>
class TlmChecker final : public sc_core::sc_module,
                         public TlmChecked,
                         public tlm::tlm_fw_transport_if<Protocol>,
                         public tlm::tlm_bw_transport_if<Protocol> {
 public:
  using Forward = tlm::tlm_fw_transport_if<Protocol>;
  using Backward = tlm::tlm_bw_transport_if<Protocol>;
  static constexpr TlmProtocol kProtocol =
      std::is_same_v<Protocol, StrettoProtocol> ? TlmProtocol::memory_side : TlmProtocol::base;

  // `hop_name` tells both ends in messages.
  TlmChecker(sc_core::sc_module_name name, std::string hop_name, Forward& target,
             Backward& initiator, const EventQueue& queue)
      : sc_module(name),
        hop_(std::move(hop_name), kProtocol, queue),
        target_(target),
        initiator_(initiator) {}

  const TlmHop& hop() const override { return hop_; }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const TlmHop::Call call = hop_.forward(payload, phase, delay);
    const tlm::tlm_sync_enum status = target_.nb_transport_fw(payload, phase, delay);
    hop_.forward_returns(call, payload, phase, delay, status);
    return status;
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const TlmHop::Call call = hop_.backward(payload, phase, delay);
    const tlm::tlm_sync_enum status = initiator_.nb_transport_bw(payload, phase, delay);
    hop_.backward_returns(call, &payload, phase, delay, status);
    return status;
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
    hop_.blocking(payload, delay);
    target_.b_transport(payload, delay);
    hop_.blocking_returns(payload, delay);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& granted) override {
    hop_.dmi(payload, granted);
    const bool ok = target_.get_direct_mem_ptr(payload, granted);
    hop_.dmi_returns(payload, granted, ok);
    return ok;
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) override {
    hop_.debug(payload);
    const unsigned count = target_.transport_dbg(payload);
    hop_.debug_returns(payload, count);
    return count;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) override {
    initiator_.invalidate_direct_mem_ptr(start, end);
  }

 private:
  TlmHop hop_;
  Forward& target_;
  Backward& initiator_;
};

// Binds with a checker in every build; SystemC owns it.
template <class Protocol>
void connect_checked(
    tlm::tlm_base_initiator_socket_b<32, tlm::tlm_fw_transport_if<Protocol>,
                                     tlm::tlm_bw_transport_if<Protocol>>& initiator,
    tlm::tlm_base_target_socket_b<32, tlm::tlm_fw_transport_if<Protocol>,
                                  tlm::tlm_bw_transport_if<Protocol>>& target,
    const EventQueue& queue) {
  const std::string ends =
      std::string(initiator.get_base_port().name()) + " -> " + target.get_base_export().name();
  auto* checker =
      new TlmChecker<Protocol>(sc_core::sc_gen_unique_name("tlm_checker"), ends,
                               target.get_base_interface(), initiator.get_base_interface(), queue);
  sc_core::sc_module_dynalloc(checker);
  initiator.get_base_port()(*checker);
  target.get_base_port()(*checker);
}

// `queue` is the calendar of the partition that holds both. Before the end of elaboration.
template <class Initiator, class Target>
void connect(Initiator& initiator, Target& target, const EventQueue& queue) {
  if constexpr (kCheckSockets) {
    connect_checked(initiator, target, queue);
  } else {
    initiator.bind(target);
  }
}

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_TLM_CHECKER_H_
