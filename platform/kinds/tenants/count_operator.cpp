// SPDX-License-Identifier: Apache-2.0
#include "platform/kinds/tenants/count_operator.h"

#include <fmt/format.h>

#include "sw/include/formats/address_map.h"
#include "sw/kernels/count.h"

namespace stretto {

CountOperator::CountOperator(Fields fields)
    : Operator("count", fields.text().substr(fields.text().find(':') + 1)) {
  const std::vector<uint32_t> sizes = fields.numbers("", 2);
  if (sizes.empty()) fields.refuse("needs work-groups x rounds, as count:200x1000");
  fields.end("work-groups x rounds");
  work_groups_ = sizes[0];
  rounds_ = sizes[1];
}

std::vector<Launch> CountOperator::launches(const Places& places) const {
  return {
      {"count", argument_bytes(stretto_count_arguments_t{places.output, rounds_}), work_groups_}};
}

std::string CountOperator::how() const { return fmt::format("{} rounds", rounds_); }

void CountOperator::expect(const Places& places, MemoryImage& memory, uint64_t times,
                           const std::string& subject, CheckReport& report) const {
  std::vector<uint64_t> words(work_groups_);
  memory.read(places.output & STRETTO_OFFSET_MASK, reinterpret_cast<uint8_t*>(words.data()),
              8 * words.size());
  for (uint32_t i = 0; i < work_groups_; ++i) {
    ++report.elements;
    if (words[i] != times)
      report.wrong(
          fmt::format("{}: work-group {} ran {} times, launched {}", subject, i, words[i], times));
  }
}

}  // namespace stretto
