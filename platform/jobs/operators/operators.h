// SPDX-License-Identifier: Apache-2.0
// Operators of the kernel library as kinds run them: what their text asks for, the kernels that they launch, what they
// must at least do, and whether what they leave is right.
#ifndef STRETTO_PLATFORM_JOBS_OPERATORS_OPERATORS_H_
#define STRETTO_PLATFORM_JOBS_OPERATORS_OPERATORS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "models/common/memory_image.h"
#include "platform/check/check.h"
#include "platform/config/machine_spec.h"
#include "sw/kernels/ops/gemm_plan.h"

namespace stretto {

// Where things lie. Operators share inputs, of which there is one array an element, and scratch memory; every one has
// its own output.
struct Places {
  uint64_t input[OPS_ELEMENTS] = {};  // Address; TF32 and FP32 have the same.
  uint64_t scratch = 0;
  uint64_t flags = 0;      // Zero at first; operators leave them so.
  uint64_t constants = 0;  // Of the operator.
  uint64_t output = 0;
};

struct Launch {
  std::string kernel;
  std::vector<uint8_t> arguments;
  uint32_t work_groups = 0;
};

// Element `index` of an input array.
double input_value(ops_element_t element, uint64_t seed, uint64_t index);
// How it lies in memory.
uint32_t input_bits(ops_element_t element, uint64_t seed, uint64_t index);
double value_of(ops_element_t element, uint32_t bits);
// Relative error of one rounding.
double unit_roundoff(ops_element_t element);

// Compares elements with what they should be, a bound of the error for each.
class Comparison {
 public:
  Comparison(MemoryImage& memory, CheckReport& report, std::string subject)
      : memory_(memory), report_(report), subject_(std::move(subject)) {}
  void expect(ops_element_t element, uint64_t address, double wanted, double error, uint64_t row,
              uint64_t column);

 private:
  MemoryImage& memory_;
  CheckReport& report_;
  std::string subject_;
};

class Operator {
 public:
  virtual ~Operator() = default;
  const std::string& name() const { return name_; }    // "gemm".
  const std::string& shape() const { return shape_; }  // The rest of its text.
  ops_element_t element = OPS_FP16;

  virtual uint64_t input_elements() const = 0;
  virtual uint64_t output_bytes() const = 0;
  virtual uint64_t scratch_bytes() const { return 0; }
  virtual uint64_t flag_bytes() const { return 0; }
  // Further input, not random.
  virtual std::vector<uint8_t> constants() const { return {}; }
  // One after the other.
  virtual std::vector<Launch> launches(const Places& places) const = 0;
  virtual std::string how() const = 0;  // What was chosen: tile, split.

  virtual double products() const { return 0; }  // Multiply-adds that the result needs.
  virtual uint64_t least_read_bytes() const = 0;
  virtual uint64_t least_written_bytes() const { return output_bytes(); }
  // Work of the reference, in multiply-adds.
  virtual double reference_work() const = 0;
  virtual void check(const Places& places, uint64_t seed, Comparison& comparison) const = 0;

 protected:
  Operator(std::string name, std::string shape)
      : name_(std::move(name)), shape_(std::move(shape)) {}

 private:
  std::string name_, shape_;
};

// The fields of an operator's text behind its name, as they are taken one by one.
class Fields {
 public:
  // `where` is the subject of messages: "roofline.operators".
  Fields(std::string where, std::string text, std::vector<std::string> fields)
      : where_(std::move(where)), text_(std::move(text)), fields_(std::move(fields)) {}
  const std::string& text() const { return text_; }
  // Whole numbers from `least` with x between them, `count` of them; "KEY=" before it unless empty. Without such a
  // field, empty.
  std::vector<uint32_t> numbers(const std::string& key, size_t count, uint32_t least = 1);
  // The first of `words` that is there; else 0.
  size_t word(const std::vector<std::string>& words);
  [[noreturn]] void refuse(const std::string& why) const;
  void end(const std::string& allowed) const;  // Throws UserError if something is left.
  ops_element_t element();                     // fp16, bf16 or fp32.

 private:
  std::string where_, text_;
  std::vector<std::string> fields_;
};

// "gemm:512x512x512:fp16". Throws UserError with `where` before the message; `others`: what else the caller
// takes, "count, ".
std::unique_ptr<Operator> parse_operator(const std::string& text, const MachineSpec& spec,
                                         const std::string& where, const char* others = "");
// Of a list with commas.
std::vector<std::unique_ptr<Operator>> parse_operators(const std::string& list,
                                                       const MachineSpec& spec,
                                                       const std::string& where);
std::unique_ptr<Operator> make_attention(const Fields& fields);
std::unique_ptr<Operator> make_gemm(Fields fields, const MachineSpec& spec);
// Null: there is no vector operator of that name.
std::unique_ptr<Operator> make_vector(const std::string& name, const Fields& fields,
                                      const MachineSpec& spec);
std::vector<std::string> vector_names();
std::unique_ptr<Operator> make_rows(const std::string& name, const Fields& fields,
                                    const MachineSpec& spec);
std::vector<std::string> rows_names();
std::unique_ptr<Operator> make_index(const std::string& name, Fields fields,
                                     const MachineSpec& spec);
std::vector<std::string> index_names();
// Where an operand begins that lies behind `bytes` of others.
inline uint64_t operand_end(uint64_t bytes) { return (bytes + 4095) / 4096 * 4096; }
template <class Arguments>
std::vector<uint8_t> argument_bytes(const Arguments& arguments) {
  const auto* const first = reinterpret_cast<const uint8_t*>(&arguments);
  return {first, first + sizeof arguments};
}
constexpr float kLayerNormEpsilon = 0x1p-17F;  // Exact in every element.
// The words of rows.h.
std::vector<uint8_t> rows_constants(uint32_t columns);
// What operators there are and what their fields mean, for people.
extern const char* const kOperatorsText;

}  // namespace stretto

#endif  // STRETTO_PLATFORM_JOBS_OPERATORS_OPERATORS_H_
