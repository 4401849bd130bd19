// SPDX-License-Identifier: Apache-2.0
#include "models/fabric/switch_adder.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "models/common/arithmetic.h"

namespace stretto {

// The same elements, in the same arrangement, for the same tile.
SwitchAdder::Sums::iterator SwitchAdder::find(const Packet& packet) {
  return std::find_if(waiting_.begin(), waiting_.end(), [&](const Sum& sum) {
    const Packet& other = sum.packet;
    return other.address == packet.address && other.rows == packet.rows &&
           other.row_bytes == packet.row_bytes && other.pitch == packet.pitch &&
           other.element == packet.element && other.tracked == packet.tracked &&
           other.wg_id == packet.wg_id && other.wf_id == packet.wf_id &&
           other.account == packet.account;
  });
}

bool SwitchAdder::add(Packet& packet, uint8_t input, Time now, bool& opened) {
  assert(takes(packet) && packet.data.size() <= bytes_);
  const uint64_t bytes = packet.data.size();
  Sums::iterator sum = find(packet);
  opened = sum == waiting_.end();
  if (opened && used_ + bytes > bytes_) {
    ++counters_.waits;
    make_room(bytes, now);
    return false;
  }
  ++counters_.parts;
  counters_.part_bytes += bytes;
  counters_.parts_counted += packet.parts;
  if (opened) {
    used_ += bytes;
    counters_.high_water = std::max(counters_.high_water, used_);
    waiting_.push_back({std::move(packet), 0, now});
    sum = waiting_.end() - 1;
  } else {
    sum->packet.parts = static_cast<uint8_t>(sum->packet.parts + packet.parts);
    if (++additions_ != fault_skip_)
      add_elements(packet.element, sum->packet.data.data(), packet.data.data(), bytes);
  }
  sum->inputs |= uint64_t{1} << input;
  if (sum->packet.parts >= parts_) leave(sum, now);
  return true;
}

SwitchAdder::Sums::iterator SwitchAdder::leave(Sums::iterator sum, Time now) {
  leaving_bytes_ += sum->packet.data.size();
  counters_.early += sum->packet.parts < parts_;
  sum->since = now;
  leaving_.push_back(std::move(*sum));
  return waiting_.erase(sum);
}

// The oldest leave until what leaves makes room.
void SwitchAdder::make_room(uint64_t bytes, Time now) {
  while (!waiting_.empty() && used_ - leaving_bytes_ + bytes > bytes_) leave(waiting_.begin(), now);
}

void SwitchAdder::push_out_all(Time now) {
  while (!waiting_.empty()) leave(waiting_.begin(), now);
}

void SwitchAdder::expire(Time now) {
  while (!waiting_.empty() && waiting_.front().since + hold_ <= now) leave(waiting_.begin(), now);
}

bool SwitchAdder::push_out(uint8_t input, Time now) {
  const uint64_t bit = uint64_t{1} << input;
  for (Sums::iterator sum = waiting_.begin(); sum != waiting_.end();)
    sum = (sum->inputs & bit) != 0 ? leave(sum, now) : sum + 1;
  return std::any_of(leaving_.begin(), leaving_.end(),
                     [bit](const Sum& sum) { return (sum.inputs & bit) != 0; });
}

Packet SwitchAdder::take() {
  Packet packet = std::move(leaving_.front().packet);
  leaving_.pop_front();
  ++counters_.sums;
  counters_.sum_bytes += packet.data.size();
  counters_.parts_left += packet.parts;
  return packet;
}

void SwitchAdder::left(uint64_t bytes) {
  used_ -= bytes;
  leaving_bytes_ -= bytes;
}

void SwitchAdder::report(StatisticSink& sink, const std::string& prefix) const {
  if (bytes_ == 0) return;
  const auto add = [&](const char* what, uint64_t value, const char* unit, const char* sentence) {
    sink.add(prefix + what, value, unit, sentence);
  };
  add("parts", counters_.parts, "count", "Updates that were added on their way to this port.");
  add("part_bytes", counters_.part_bytes, "bytes", "Payload of these.");
  add("sums", counters_.sums, "count", "Updates that left for them.");
  add("sum_bytes", counters_.sum_bytes, "bytes", "Payload of these.");
  add("early", counters_.early, "count", "Sums that left before all their parts had come.");
  add("waits", counters_.waits, "count", "Times that a part found no room.");
  add("high_water", counters_.high_water, "bytes", "Most payload in the table.");
}

void SwitchAdder::audit(AuditSink& sink) const {
  sink.equal("parts that came = parts in sums that left", counters_.parts_counted,
             counters_.parts_left);
  sink.equal("no sum is left in a switch", used_, 0);
  sink.at_most("sums within the table of a port", counters_.high_water, bytes_);
}

}  // namespace stretto
