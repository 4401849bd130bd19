// SPDX-License-Identifier: Apache-2.0
// What the buffers of a collective hold before and after: the independent reference of workloads of
// kind `collective`. Values are chosen so that every order of reduction gives the same bits (whole
// numbers whose sum the type holds, powers of two, any numbers for max and min); what is only moved
// has random bits. Shares no code with the machine's arithmetic (Eigen's half and bfloat16).
#ifndef STRETTO_PLATFORM_KINDS_COLLECTIVE_COLLECTIVE_DATA_H_
#define STRETTO_PLATFORM_KINDS_COLLECTIVE_COLLECTIVE_DATA_H_

#include <cstdint>
#include <vector>

#include "sw/apps/collective/timed_collective.h"
#include "sw/include/nccl.h"

namespace stretto {

enum class BufferRole : uint8_t { source, target, in_place };

class CollectiveData {
 public:
  struct Task {
    stretto_collective_op_t op = STRETTO_ALL_REDUCE;
    ncclDataType_t type = ncclFloat32;
    ncclRedOp_t reduction = ncclSum;
    uint32_t root = 0;
    uint32_t ranks = 1;
    uint64_t count = 0;  // As in the call.
    uint64_t seed = 0;
  };
  explicit CollectiveData(const Task& task) : task_(task) {}

  unsigned element_bytes() const {
    return task_.type == ncclFloat16 || task_.type == ncclBfloat16 ? 2 : 4;
  }
  // Elements of a rank's buffer.
  uint64_t elements(BufferRole role) const;
  // Where in a rank's buffer the collective's source and target lie.
  uint64_t source_at(uint32_t rank) const;
  uint64_t target_at(uint32_t rank) const;

  // Elements [begin, end) of a rank's buffer at the beginning.
  void before(BufferRole role, uint32_t rank, uint64_t begin, uint64_t end, uint8_t* bytes) const;
  // Likewise at the end.
  void after(BufferRole role, uint32_t rank, uint64_t begin, uint64_t end, uint8_t* bytes) const;
  // Whether the whole buffer at the end is the same on all ranks.
  bool same_everywhere() const;
  // Elements [begin, end) of a rank's buffer that the collective writes; equal: none.
  struct Range {
    uint64_t begin, end;
  };
  Range written(BufferRole role, uint32_t rank) const;

 private:
  bool reduces() const {
    return task_.op == STRETTO_ALL_REDUCE || task_.op == STRETTO_REDUCE_SCATTER ||
           task_.op == STRETTO_REDUCE;
  }
  uint32_t value(uint32_t rank, uint64_t index) const;  // Bits of a source's element.
  double number(uint32_t rank, uint64_t index) const;
  double average_of(double sum) const;
  uint32_t reduced(uint64_t index) const;
  uint32_t bits_of(double number) const;
  uint64_t random(uint32_t rank, uint64_t index) const;
  uint32_t result(uint32_t rank, uint64_t index) const;  // Of the target.
  void store(uint8_t*& at, uint32_t bits) const;

  const Task task_;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_COLLECTIVE_COLLECTIVE_DATA_H_
