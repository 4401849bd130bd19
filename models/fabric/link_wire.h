// SPDX-License-Identifier: Apache-2.0
// The wire of one direction of a link, at its sender: packets with their headers, and between them
// the answers to what came the other way.
//
// What answers B bytes of packets, on PCIe: DLLPs, an Ack for each dllp_interval_bytes of them, and a
// flow-control update for each of those whose buffers have credits. Completions have none at an end
// of the link that advertises infinite ones, as endpoints and root complexes must, and switches must
// not (PCIe, 2.6.1). On NVLink: a response to each packet of a write, response_bytes long.
//
// Answers take the wire when it is free. Those that found it busy go with the next packet, which
// ends so much later: in hardware they go between the link's own packets of a burst. So traffic one
// way loses nothing, and a wire whose other direction brings B bytes of writes and requests gives
// B / dllp_interval_bytes * 2 * dllp_bytes of its own; one whose other direction brings P packets of
// writes gives P * response_bytes.
#ifndef STRETTO_MODELS_FABRIC_LINK_WIRE_H_
#define STRETTO_MODELS_FABRIC_LINK_WIRE_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "models/common/component.h"
#include "models/fabric/link_spec.h"
#include "models/fabric/serialiser.h"

namespace stretto {

class LinkWire {
 public:
  enum class CompletionCredits { infinite, counted };
  LinkWire(const LinkSpec& spec, CompletionCredits completions)
      : spec_(spec), wire_(spec.bandwidth_mb_s), completions_(completions) {}

  struct Passage {
    Time begin, end;  // First and last byte.
  };
  // The packet leaves as soon as it can. REQUIRES: now does not fall from call to call.
  Passage send(Time now, const Packet& packet) {
    take_over(now);
    answer(now);
    const uint64_t on_wire = wire_bytes(spec_, packet);
    payload_ += packet.data.size();
    headers_ += on_wire - packet.data.size();
    const Time begin = std::max(now, wire_.free_at());
    const uint64_t answers = due_;
    due_ = 0;
    return {begin, send(begin, on_wire, answers)};
  }
  // A packet came the other way, its first byte at `head` <= now. What leaves at this very time does
  // not know of it, in whatever order the two are called.
  void received(Time now, const Packet& packet, Time head) {
    if (spec_.dllp_bytes == 0 && spec_.response_bytes == 0) return;
    take_over(now);
    const uint64_t bytes = wire_bytes(spec_, packet);
    const bool credits = !packet.completion || completions_ == CompletionCredits::counted;
    const bool write = !packet.completion && !packet.is_non_posted();
    const uint64_t answers = dllps(not_acknowledged_, bytes) +
                             dllps(not_freed_, credits ? bytes : 0) +
                             (write ? spec_.response_bytes * link_packets(spec_, packet) : 0);
    owed_ += answers;
    if (++received_ == spec_.fault_lose_answer) return;
    if (fresh_ == 0) fresh_head_ = head;
    fresh_ += answers;
    fresh_at_ = now;
  }
  // The same at its tail.
  void received(Time now, const Packet& packet) {
    received(now, packet, now - std::min(now, wire_.duration(wire_bytes(spec_, packet))));
  }

  Time free_at() const { return wire_.free_at(); }
  Time duration(uint64_t bytes) const { return wire_.duration(bytes); }
  Time busy() const { return wire_.busy(); }
  uint64_t bytes() const { return bytes_; }
  uint64_t answer_bytes() const { return answers_; }

  void report(StatisticSink& sink, const std::string& prefix) const {
    const auto add = [&](const char* what, uint64_t value, const char* unit, const char* sentence) {
      sink.add(prefix + what, value, unit, sentence);
    };
    add("wire_bytes", bytes_, "bytes", "Payload, headers and answers that left.");
    add("header_bytes", headers_, "bytes", "Headers that left.");
    add("answer_bytes", answers_, "bytes",
        "Answers that left: Acks and flow control of PCIe, responses to writes of NVLink.");
    add("busy", wire_.busy(), "fs", "Time in which the wire carried something.");
  }
  void audit(AuditSink& sink) const {
    sink.equal("wire bytes = payload + headers + answers", bytes_, payload_ + headers_ + answers_);
    sink.equal("answers owed = sent + due", owed_, answers_ + due_ + fresh_);
    sink.at_most("no link above its peak", bytes_, wire_.peak_bytes(wire_.free_at()));
  }

 private:
  // DLLPs, in bytes, that `bytes` more make due.
  uint64_t dllps(uint64_t& open, uint64_t bytes) const {
    open += bytes;
    const uint64_t due = open / spec_.dllp_interval_bytes;
    open %= spec_.dllp_interval_bytes;
    return due * spec_.dllp_bytes;
  }
  Time send(Time begin, uint64_t packets, uint64_t answers) {
    bytes_ += packets + answers;
    answers_ += answers;
    return wire_.send(begin, packets + answers);
  }
  // What came before `now` is known from here on.
  void take_over(Time now) {
    if (fresh_ == 0 || fresh_at_ >= now) return;
    answer(fresh_head_);
    if (due_ == 0) due_since_ = fresh_head_;
    due_ += fresh_;
    fresh_ = 0;
  }
  // Answers that the wire carried while it was free, up to `now`.
  void answer(Time now) {
    const Time begin = std::max(wire_.free_at(), due_since_);
    if (due_ == 0 || begin >= now) return;
    const uint64_t answers = std::min(due_, wire_.fit(now - begin));
    if (answers == 0) return;
    due_ -= answers;
    send(begin, 0, answers);
  }

  const LinkSpec spec_;
  Serialiser wire_;
  const CompletionCredits completions_;
  uint64_t not_acknowledged_ = 0;  // Bytes of packets, less than dllp_interval_bytes.
  uint64_t not_freed_ = 0;         // The same of those with credits.
  uint64_t due_ = 0;               // Bytes of answers that have not left,
  Time due_since_ = 0;
  uint64_t fresh_ = 0;  // ... and of what came at fresh_at_ and later.
  Time fresh_head_ = 0;
  Time fresh_at_ = 0;
  uint64_t bytes_ = 0;
  uint64_t payload_ = 0;
  uint64_t headers_ = 0;
  uint64_t answers_ = 0;
  uint64_t owed_ = 0;
  uint64_t received_ = 0;  // Packets.
};

}  // namespace stretto

#endif  // STRETTO_MODELS_FABRIC_LINK_WIRE_H_
