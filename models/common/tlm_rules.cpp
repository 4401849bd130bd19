// SPDX-License-Identifier: Apache-2.0
#include "models/common/tlm_rules.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string_view>

#include "models/common/error.h"

namespace stretto {

namespace {

constexpr const char* kMemorySide = "models/common/payload_extension.h";

uint64_t hash_of(const unsigned char* bytes, uint64_t count) {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes), count});
}

const StrettoExtension* extension_in(const tlm::tlm_generic_payload& payload) {
  return payload.get_extension<StrettoExtension>();
}

// The bytes behind the data pointer that a target must leave alone: none where it writes itself
// (atomics answer in place) or where nothing is behind it.
uint64_t constant_bytes(const tlm::tlm_generic_payload& payload) {
  if (payload.get_command() != tlm::TLM_WRITE_COMMAND || payload.get_data_ptr() == nullptr)
    return 0;
  const StrettoExtension* extension = extension_in(payload);
  if (extension == nullptr) return payload.get_data_length();
  if (extension->tags_only || extension->operation == Operation::atomic) return 0;
  if (extension->operation == Operation::fill) return 8;
  return payload.get_data_length();
}

bool reads(Operation operation) {
  return operation == Operation::read || operation == Operation::locked_read;
}

std::string name_of(const tlm::tlm_phase& phase) { return phase.get_name(); }

}  // namespace

const std::vector<TlmRuleText>& tlm_rules() {
  using R = TlmRule;
  static const std::vector<TlmRuleText> rules = {
      {R::memory_manager, "14.5", "a payload of nb_transport has a memory manager, and keeps it"},
      {R::reference_count, "14.5", "whoever passes a managed payload on holds a reference"},
      {R::status_reset, "14.17", "an initiator sends TLM_INCOMPLETE_RESPONSE"},
      {R::dmi_reset, "14.16", "an initiator sends dmi_allowed = false"},
      {R::option, "14.8", "gp_option is TLM_MIN_PAYLOAD and stays so"},
      {R::command, "14.9", "the command is read, write or ignore"},
      {R::data_pointer, "14.11",
       "the data pointer is not null (memory side: unless the extension says tags_only)"},
      {R::data_length, "14.12", "the data length is not 0"},
      {R::byte_enables, "14.14", "a byte-enable array has a length"},
      {R::streaming_width, "14.15", "the streaming width is not 0"},
      {R::phase_direction, "15.2.3",
       "an initiator sends BEGIN_REQ and END_RESP, a target END_REQ and BEGIN_RESP"},
      {R::phase_order, "15.2.4",
       "phases of a transaction come in the order BEGIN_REQ, END_REQ, BEGIN_RESP, END_RESP"},
      {R::request_exclusion, "15.2.6", "no BEGIN_REQ before the last request has ended"},
      {R::response_exclusion, "15.2.6", "no BEGIN_RESP before the last response has ended"},
      {R::nesting, "11.1.2.3",
       "forward and backward calls do not nest (memory side: an initiator may send its next "
       "request from inside the call that answers another)"},
      {R::accepted, "11.1.2.6", "TLM_ACCEPTED leaves phase and delay alone"},
      {R::time_order, "15.2.7", "annotated times of a transaction do not decrease"},
      {R::delay, "11.1.3", "a delay is not negative"},
      {R::mixed_transport, "15.2.10",
       "a transaction uses b_transport or nb_transport, not both at once"},
      {R::attributes, "14.7",
       "command, pointers, lengths and widths do not change while a transaction is under way"},
      {R::arrays, "14.7",
       "write data and byte enables do not change while a transaction is under way"},
      {R::status_set, "14.17", "a response has a status"},
      {R::loose_extension, "14.5",
       "an extension added to a payload without memory manager is taken off before the return"},
      {R::dmi_request, "11.2.5", "a DMI descriptor starts with its defaults"},
      {R::dmi_grant, "11.2.5", "granted DMI has a pointer and a range that holds the address"},
      {R::debug, "11.3.4", "debug accesses have data, and move no more than was asked for"},
      {R::extension, kMemorySide, "a payload carries the StrettoExtension"},
      {R::operation, kMemorySide, "reads travel as read commands, all else as write commands"},
      {R::rows, kMemorySide, "rows x row_bytes is the data length"},
      {R::streaming, kMemorySide, "there is no streaming: the width covers the data"},
      {R::routing, kMemorySide,
       "address, operation, cookie and extension do not change while a transaction is under way"},
      {R::one_step, kMemorySide,
       "targets accept at once, TLM_UPDATED and END_REQ, or TLM_COMPLETED; BEGIN_RESP is answered "
       "TLM_COMPLETED"},
  };
  return rules;
}

void TlmHop::violated(TlmRule rule, const tlm::tlm_generic_payload* payload,
                      const std::string& what) const {
  const TlmRuleText& text = tlm_rules()[static_cast<size_t>(rule) - 1];
  char of[80] = "";
  if (payload != nullptr) {
    const char* const commands[] = {"read", "write", "ignore"};
    const unsigned command = std::min<unsigned>(payload->get_command(), 2);
    std::snprintf(of, sizeof of, ", %s of %u bytes at 0x%llx", commands[command],
                  payload->get_data_length(),
                  static_cast<unsigned long long>(payload->get_address()));
  }
  throw CheckError("TLM rule " + std::to_string(static_cast<unsigned>(rule)) + " (" +
                   (text.clause == kMemorySide ? "" : "IEEE 1666-2011, ") + text.clause + ": " +
                   text.sentence + "): " + name_ + of + ": " + what + ", at " +
                   std::to_string(queue_.now() / kPicosecond) + " ps");
}

// sc_time is unsigned: a negative delay is a huge one.
Time TlmHop::annotated(const tlm::tlm_generic_payload* payload,
                       const sc_core::sc_time& delay) const {
  if (delay.value() >> 63 != 0) violated(TlmRule::delay, payload, "the delay is negative");
  return queue_.now() + delay.value();
}

void TlmHop::advance(Transaction& of, const tlm::tlm_generic_payload* payload,
                     const sc_core::sc_time& delay) {
  const Time at = annotated(payload, delay);
  if (at < of.time) {
    violated(TlmRule::time_order, payload,
             std::to_string(at) + " fs comes after " + std::to_string(of.time) + " fs");
  }
  of.time = at;
}

void TlmHop::check_alive(const tlm::tlm_generic_payload& payload, bool nonblocking) const {
  if (nonblocking && !payload.has_mm())
    violated(TlmRule::memory_manager, &payload, "it has no memory manager");
  if (payload.has_mm() && payload.get_ref_count() < 1)
    violated(TlmRule::reference_count, &payload, "its reference count is 0");
}

void TlmHop::check_request(const tlm::tlm_generic_payload& payload) const {
  const tlm::tlm_command command = payload.get_command();
  if (payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE)
    violated(TlmRule::status_reset, &payload, "its status is " + payload.get_response_string());
  if (payload.is_dmi_allowed()) violated(TlmRule::dmi_reset, &payload, "dmi_allowed is set");
  if (payload.get_gp_option() != tlm::TLM_MIN_PAYLOAD)
    violated(TlmRule::option, &payload, "gp_option is set");
  if (command != tlm::TLM_READ_COMMAND && command != tlm::TLM_WRITE_COMMAND &&
      command != tlm::TLM_IGNORE_COMMAND) {
    violated(TlmRule::command, &payload, "the command is " + std::to_string(command));
  }
  const StrettoExtension* extension = extension_in(payload);
  const bool no_data =
      protocol_ == TlmProtocol::memory_side && extension != nullptr && extension->tags_only;
  if (command != tlm::TLM_IGNORE_COMMAND) {
    if (payload.get_data_ptr() == nullptr && !no_data)
      violated(TlmRule::data_pointer, &payload, "the data pointer is null");
    if (payload.get_data_length() == 0)
      violated(TlmRule::data_length, &payload, "the data length is 0");
  }
  if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0)
    violated(TlmRule::byte_enables, &payload, "the byte-enable length is 0");
  if (payload.get_streaming_width() == 0)
    violated(TlmRule::streaming_width, &payload, "the streaming width is 0");
  if (protocol_ == TlmProtocol::memory_side) check_memory_side(payload);
}

void TlmHop::check_memory_side(const tlm::tlm_generic_payload& payload) const {
  const StrettoExtension* extension = extension_in(payload);
  if (extension == nullptr) violated(TlmRule::extension, &payload, "there is none");
  const tlm::tlm_command expected =
      reads(extension->operation) ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND;
  // An atomic reads and writes: either command is right.
  if (payload.get_command() != expected && (extension->operation != Operation::atomic ||
                                            payload.get_command() != tlm::TLM_READ_COMMAND)) {
    violated(TlmRule::operation, &payload,
             "operation " + std::to_string(static_cast<unsigned>(extension->operation)));
  }
  // Of a contiguous access the target may fill in row_bytes.
  const uint64_t bytes = uint64_t{extension->rows} * extension->row_bytes;
  if (extension->rows == 0 || (extension->rows > 1 && bytes != payload.get_data_length())) {
    violated(TlmRule::rows, &payload,
             std::to_string(extension->rows) + " rows of " + std::to_string(extension->row_bytes));
  }
  if (payload.get_streaming_width() < payload.get_data_length()) {
    violated(TlmRule::streaming, &payload,
             "the width is " + std::to_string(payload.get_streaming_width()));
  }
}

void TlmHop::check_unchanged(const Transaction& of, const tlm::tlm_generic_payload& payload) const {
  const auto same = [&](bool holds, const char* what) {
    if (!holds) violated(TlmRule::attributes, &payload, std::string(what) + " has changed");
  };
  same(payload.get_command() == of.command, "the command");
  same(payload.get_data_ptr() == of.data, "the data pointer");
  same(payload.get_data_length() == of.length, "the data length");
  same(payload.get_byte_enable_ptr() == of.byte_enables, "the byte-enable pointer");
  same(payload.get_byte_enable_length() == of.byte_enable_length, "the byte-enable length");
  same(payload.get_streaming_width() == of.streaming_width, "the streaming width");
  if (payload.get_gp_option() != tlm::TLM_MIN_PAYLOAD)
    violated(TlmRule::option, &payload, "gp_option has changed");
  if (payload.has_mm() != of.managed)
    violated(TlmRule::memory_manager, &payload, "the memory manager has changed");
  if (protocol_ == TlmProtocol::memory_side) {
    const StrettoExtension* extension = extension_in(payload);
    if (payload.get_address() != of.address)
      violated(TlmRule::routing, &payload, "the address has changed");
    if (extension != of.extension || extension->operation != of.operation)
      violated(TlmRule::routing, &payload, "extension or operation has changed");
    if (extension->cookie != of.cookie)
      violated(TlmRule::routing, &payload, "the initiator's cookie has changed");
  } else if (!of.managed && extension_in(payload) != of.extension) {
    violated(TlmRule::loose_extension, &payload, "the StrettoExtension has changed");
  }
  if (hash_of(of.byte_enables, of.byte_enables == nullptr ? 0 : of.byte_enable_length) !=
      of.byte_enable_hash) {
    violated(TlmRule::arrays, &payload, "the byte enables have changed");
  }
  if (hash_of(of.data, constant_bytes(payload)) != of.data_hash)
    violated(TlmRule::arrays, &payload, "the data of the write have changed");
}

void TlmHop::check_response(const Transaction& of, const tlm::tlm_generic_payload& payload) const {
  if (payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE)
    violated(TlmRule::status_set, &payload, "it is still TLM_INCOMPLETE_RESPONSE");
  check_unchanged(of, payload);
}

uint64_t TlmHop::begin(const tlm::tlm_generic_payload& payload, State state,
                       const sc_core::sc_time& delay) {
  const StrettoExtension* extension = extension_in(payload);
  const unsigned char* enables = payload.get_byte_enable_ptr();
  open_[&payload] = {++begun_,
                     state,
                     annotated(&payload, delay),
                     payload.get_command(),
                     payload.get_address(),
                     payload.get_data_ptr(),
                     enables,
                     payload.get_data_length(),
                     payload.get_byte_enable_length(),
                     payload.get_streaming_width(),
                     payload.has_mm(),
                     hash_of(payload.get_data_ptr(), constant_bytes(payload)),
                     hash_of(enables, enables == nullptr ? 0 : payload.get_byte_enable_length()),
                     extension,
                     extension == nullptr ? Operation::read : extension->operation,
                     extension == nullptr ? 0 : extension->cookie};
  return begun_;
}

TlmHop::Transaction* TlmHop::find(const tlm::tlm_generic_payload* payload, uint64_t id) {
  const auto place = open_.find(payload);
  return place == open_.end() || place->second.id != id ? nullptr : &place->second;
}

void TlmHop::end_request(Transaction& of, const tlm::tlm_generic_payload& payload) {
  if (of.state != State::request) violated(TlmRule::phase_order, &payload, "a second END_REQ");
  of.state = State::accepted;
  requesting_ = nullptr;
}

// Ends the request too, if END_REQ was left out.
void TlmHop::begin_response(Transaction& of, const tlm::tlm_generic_payload& payload) {
  if (of.state == State::response) violated(TlmRule::phase_order, &payload, "a second BEGIN_RESP");
  if (responding_ != nullptr)
    violated(TlmRule::response_exclusion, &payload, "another response has not ended");
  check_response(of, payload);
  if (requesting_ == &payload) requesting_ = nullptr;
  responding_ = &payload;
  of.state = State::response;
}

void TlmHop::end(const tlm::tlm_generic_payload* payload) {
  if (requesting_ == payload) requesting_ = nullptr;
  if (responding_ == payload) responding_ = nullptr;
  open_.erase(payload);
  ++ended_;
}

// Forward path

void TlmHop::begin_request(const tlm::tlm_generic_payload& payload, Call& call) {
  if (const auto place = open_.find(&payload); place != open_.end()) {
    if (place->second.state == State::blocking)
      violated(TlmRule::mixed_transport, &payload, "BEGIN_REQ during b_transport");
    // From inside the call that answers it, the initiator may have freed and taken it anew.
    if (answered_ != &payload)
      violated(TlmRule::phase_order, &payload, "BEGIN_REQ while it is under way");
    end(&payload);
  }
  if (requesting_ != nullptr)
    violated(TlmRule::request_exclusion, &payload, "another request has not ended");
  check_request(payload);
  call.id = begin(payload, State::request, call.delay);
  requesting_ = &payload;
}

TlmHop::Call TlmHop::forward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase,
                             const sc_core::sc_time& delay) {
  Call call{phase, delay, inside_};
  if (phase != tlm::BEGIN_REQ && phase != tlm::END_RESP)
    violated(TlmRule::phase_direction, &payload, "the initiator sent " + name_of(phase));
  check_alive(payload, true);
  if (inside_ == Path::backward && protocol_ == TlmProtocol::base)
    violated(TlmRule::nesting, &payload, "nb_transport_fw from inside nb_transport_bw");
  if (phase == tlm::BEGIN_REQ) {
    begin_request(payload, call);
  } else {
    const auto place = open_.find(&payload);
    if (place == open_.end() || place->second.state != State::response)
      violated(TlmRule::phase_order, &payload, "END_RESP without a response");
    advance(place->second, &payload, delay);
    check_unchanged(place->second, payload);
    end(&payload);
  }
  inside_ = Path::forward;
  return call;
}

void TlmHop::forward_returns(const Call& call, tlm::tlm_generic_payload& payload,
                             const tlm::tlm_phase& phase, const sc_core::sc_time& delay,
                             tlm::tlm_sync_enum status) {
  inside_ = call.outer;
  if (status == tlm::TLM_ACCEPTED && (phase != call.phase || delay != call.delay))
    violated(TlmRule::accepted, &payload, "the target changed " + name_of(call.phase));
  if (call.phase == tlm::END_RESP) {
    if (status == tlm::TLM_UPDATED)
      violated(TlmRule::phase_order, &payload, "END_RESP was answered " + name_of(phase));
    return;
  }
  Transaction* const of = find(&payload, call.id);
  if (of == nullptr) violated(TlmRule::phase_order, &payload, "it ended before its request did");
  check_alive(payload, true);
  if (protocol_ == TlmProtocol::memory_side && status != tlm::TLM_COMPLETED &&
      (status != tlm::TLM_UPDATED || phase != tlm::END_REQ)) {
    violated(TlmRule::one_step, &payload, "the target returned " + name_of(phase));
  }
  if (status == tlm::TLM_ACCEPTED) return;
  advance(*of, &payload, delay);
  if (status == tlm::TLM_COMPLETED) {
    check_response(*of, payload);
    end(&payload);
  } else if (phase == tlm::END_REQ) {
    end_request(*of, payload);
  } else if (phase == tlm::BEGIN_RESP) {
    begin_response(*of, payload);
  } else {
    violated(TlmRule::phase_direction, &payload, "the target returned " + name_of(phase));
  }
}

// Backward path

TlmHop::Call TlmHop::backward(tlm::tlm_generic_payload& payload, const tlm::tlm_phase& phase,
                              const sc_core::sc_time& delay) {
  if (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP)
    violated(TlmRule::phase_direction, &payload, "the target sent " + name_of(phase));
  if (inside_ == Path::forward)
    violated(TlmRule::nesting, &payload, "nb_transport_bw from inside nb_transport_fw");
  const auto place = open_.find(&payload);
  if (place == open_.end() || place->second.state == State::blocking)
    violated(TlmRule::phase_order, &payload, name_of(phase) + " without a request");
  check_alive(payload, true);
  advance(place->second, &payload, delay);
  if (phase == tlm::END_REQ) {
    end_request(place->second, payload);
  } else {
    begin_response(place->second, payload);
    answered_ = &payload;
  }
  const Call call{phase, delay, inside_, place->second.id};
  inside_ = Path::backward;
  return call;
}

void TlmHop::backward_returns(const Call& call, const tlm::tlm_generic_payload* payload,
                              const tlm::tlm_phase& phase, const sc_core::sc_time& delay,
                              tlm::tlm_sync_enum status) {
  inside_ = call.outer;
  if (answered_ == payload) answered_ = nullptr;
  if (status == tlm::TLM_ACCEPTED && (phase != call.phase || delay != call.delay))
    violated(TlmRule::accepted, nullptr, "the initiator changed " + name_of(call.phase));
  if (call.phase == tlm::END_REQ) {
    if (status != tlm::TLM_ACCEPTED)
      violated(TlmRule::phase_order, nullptr, "END_REQ was answered " + name_of(phase));
    return;
  }
  if (protocol_ == TlmProtocol::memory_side && status != tlm::TLM_COMPLETED)
    violated(TlmRule::one_step, nullptr, "BEGIN_RESP was not answered TLM_COMPLETED");
  if (status == tlm::TLM_ACCEPTED) return;
  if (status == tlm::TLM_UPDATED && phase != tlm::END_RESP)
    violated(TlmRule::phase_direction, nullptr, "the initiator returned " + name_of(phase));
  Transaction* const of = find(payload, call.id);
  if (of == nullptr) return;  // Ended by END_RESP, or sent anew, from inside.
  if (status == tlm::TLM_UPDATED) advance(*of, nullptr, delay);
  end(payload);
}

// Blocking transport, DMI, debug

void TlmHop::blocking(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
  check_alive(payload, false);
  if (open_.find(&payload) != open_.end())
    violated(TlmRule::mixed_transport, &payload, "b_transport while it is under way");
  check_request(payload);
  begin(payload, State::blocking, delay);
}

void TlmHop::blocking_returns(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
  check_alive(payload, false);
  Transaction& of = open_.at(&payload);
  advance(of, &payload, delay);
  check_response(of, payload);
  end(&payload);
}

void TlmHop::dmi(const tlm::tlm_generic_payload& payload, const tlm::tlm_dmi& granted) {
  if (granted.get_dmi_ptr() != nullptr || !granted.is_none_allowed() ||
      granted.get_start_address() != 0 || granted.get_end_address() != ~uint64_t{0}) {
    violated(TlmRule::dmi_request, &payload, "it describes a region already");
  }
}

void TlmHop::dmi_returns(const tlm::tlm_generic_payload& payload, const tlm::tlm_dmi& granted,
                         bool ok) {
  if (!ok) return;
  const uint64_t address = payload.get_address();
  if (granted.get_dmi_ptr() == nullptr || granted.is_none_allowed() ||
      address < granted.get_start_address() || address > granted.get_end_address()) {
    violated(TlmRule::dmi_grant, &payload, "pointer, access or range is missing");
  }
}

void TlmHop::debug(const tlm::tlm_generic_payload& payload) {
  if (payload.get_data_length() != 0 && payload.get_data_ptr() == nullptr)
    violated(TlmRule::debug, &payload, "the data pointer is null");
}

void TlmHop::debug_returns(const tlm::tlm_generic_payload& payload, unsigned count) {
  if (count > payload.get_data_length())
    violated(TlmRule::debug, &payload, std::to_string(count) + " bytes were moved");
}

}  // namespace stretto
