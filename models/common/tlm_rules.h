// SPDX-License-Identifier: Apache-2.0
// The rules of the TLM-2.0 base protocol (IEEE 1666-2011) as one hop, the pair of an initiator and
// a target socket, must keep them; tlm_checker.h puts one TlmHop into every bound pair.
//
// TlmHop is told of each call before it is forwarded and of its return after it, and throws
// CheckError at the first violation; the text names the rule, its clause, both sockets and the
// payload. It changes nothing: a run with hops is the run without them. A hop belongs to one
// partition and is not shared between threads. The memory side (StrettoProtocol) keeps all rules of
// the standard but the two exceptions noted at rules 7 and 15, and further ones of its own.
#ifndef STRETTO_MODELS_COMMON_TLM_RULES_H_
#define STRETTO_MODELS_COMMON_TLM_RULES_H_

#include <cstdint>
#include <string>
#include <tlm>
#include <unordered_map>
#include <vector>

#include "models/common/event_queue.h"
#include "models/common/payload_extension.h"

namespace stretto {

enum class TlmProtocol : uint8_t { base, memory_side };

// What a violation is called; the numbers are the rules' names in documents and messages.
enum class TlmRule : uint8_t {
  memory_manager = 1,
  reference_count,
  status_reset,
  dmi_reset,
  option,
  command,
  data_pointer,
  data_length,
  byte_enables,
  streaming_width,
  phase_direction,
  phase_order,
  request_exclusion,
  response_exclusion,
  nesting,
  accepted,
  time_order,
  delay,
  mixed_transport,
  attributes,
  arrays,
  status_set,
  loose_extension,
  dmi_request,
  dmi_grant,
  debug,
  extension,
  operation,
  rows,
  streaming,
  routing,
  one_step,
};

struct TlmRuleText {
  TlmRule rule;
  const char* clause;  // Of IEEE 1666-2011, or the file of this project that states it.
  const char* sentence;
};

// All of them, in the order of their numbers.
const std::vector<TlmRuleText>& tlm_rules();

class TlmHop final {
 public:
  // `queue` is the calendar from whose now() the delays on this hop count.
  TlmHop(std::string name, TlmProtocol protocol, const EventQueue& queue)
      : name_(std::move(name)), protocol_(protocol), queue_(queue) {}

  enum class Path : uint8_t { none, forward, backward };
  // Each call is followed by its return, unless an exception ends the run.
  struct Call {
    tlm::tlm_phase phase;
    sc_core::sc_time delay;
    Path outer;       // Innermost call around it.
    uint64_t id = 0;  // Of the transaction.
  };
  Call forward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase,
               const sc_core::sc_time& delay);
  void forward_returns(const Call& call, tlm::tlm_generic_payload& payload,
                       const tlm::tlm_phase& phase, const sc_core::sc_time& delay,
                       tlm::tlm_sync_enum status);
  Call backward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase,
                const sc_core::sc_time& delay);
  // `payload` may be gone by now: it serves as a key only.
  void backward_returns(const Call& call, const tlm::tlm_generic_payload* payload,
                        const tlm::tlm_phase& phase, const sc_core::sc_time& delay,
                        tlm::tlm_sync_enum status);
  void blocking(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
  void blocking_returns(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
  void dmi(const tlm::tlm_generic_payload& payload, const tlm::tlm_dmi& granted);
  void dmi_returns(const tlm::tlm_generic_payload& payload, const tlm::tlm_dmi& granted, bool ok);
  void debug(const tlm::tlm_generic_payload& payload);
  void debug_returns(const tlm::tlm_generic_payload& payload, unsigned count);

  uint64_t begun() const { return begun_; }
  uint64_t ended() const { return ended_; }

 private:
  enum class State : uint8_t { request, accepted, response, blocking };
  struct Transaction {
    uint64_t id;
    State state;
    Time time;  // Latest annotated so far.
    // As the initiator sent them.
    tlm::tlm_command command;
    uint64_t address;
    const unsigned char* data;
    const unsigned char* byte_enables;
    unsigned length;
    unsigned byte_enable_length;
    unsigned streaming_width;
    bool managed;
    uint64_t data_hash;
    uint64_t byte_enable_hash;
    const StrettoExtension* extension;
    Operation operation;
    uint64_t cookie;
  };

  [[noreturn]] void violated(TlmRule rule, const tlm::tlm_generic_payload* payload,
                             const std::string& what) const;
  Time annotated(const tlm::tlm_generic_payload* payload, const sc_core::sc_time& delay) const;
  void advance(Transaction& of, const tlm::tlm_generic_payload* payload,
               const sc_core::sc_time& delay);
  void check_alive(const tlm::tlm_generic_payload& payload, bool nonblocking) const;
  void check_request(const tlm::tlm_generic_payload& payload) const;
  void check_memory_side(const tlm::tlm_generic_payload& payload) const;
  void check_unchanged(const Transaction& of, const tlm::tlm_generic_payload& payload) const;
  void check_response(const Transaction& of, const tlm::tlm_generic_payload& payload) const;
  uint64_t begin(const tlm::tlm_generic_payload& payload, State state,
                 const sc_core::sc_time& delay);
  void begin_request(const tlm::tlm_generic_payload& payload, Call& call);
  void end_request(Transaction& of, const tlm::tlm_generic_payload& payload);
  void begin_response(Transaction& of, const tlm::tlm_generic_payload& payload);
  void end(const tlm::tlm_generic_payload* payload);
  // Null if there is none, or another one by now.
  Transaction* find(const tlm::tlm_generic_payload* payload, uint64_t id);

  const std::string name_;
  const TlmProtocol protocol_;
  const EventQueue& queue_;
  std::unordered_map<const tlm::tlm_generic_payload*, Transaction> open_;
  const tlm::tlm_generic_payload* requesting_ = nullptr;  // Between BEGIN_REQ and END_REQ.
  const tlm::tlm_generic_payload* responding_ = nullptr;  // Between BEGIN_RESP and END_RESP.
  const tlm::tlm_generic_payload* answered_ = nullptr;    // Whose BEGIN_RESP call is running.
  Path inside_ = Path::none;  // Innermost nb_transport call that is running.
  uint64_t begun_ = 0;
  uint64_t ended_ = 0;
};

}  // namespace stretto

#endif  // STRETTO_MODELS_COMMON_TLM_RULES_H_
