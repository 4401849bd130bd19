// SPDX-License-Identifier: Apache-2.0
// Reading and writing fields named in the generated headers: STRETTO_FIELD_GET(value, MCA_CONTROL_POLICY).
#ifndef STRETTO_SW_INCLUDE_REGS_FIELD_H_
#define STRETTO_SW_INCLUDE_REGS_FIELD_H_

// The field of `value`, right-aligned.
#define STRETTO_FIELD_GET(value, field) (((value)&field##_MASK) >> field##_SHIFT)

// `content` moved to the place of the field, cut to its width; to be or-ed with other fields.
#define STRETTO_FIELD(field, content) \
  (((unsigned long long)(content) << field##_SHIFT) & field##_MASK)

// `value` with the field replaced.
#define STRETTO_FIELD_SET(value, field, content) \
  (((value) & ~(unsigned long long)field##_MASK) | STRETTO_FIELD(field, content))

#endif  // STRETTO_SW_INCLUDE_REGS_FIELD_H_
