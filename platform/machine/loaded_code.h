// SPDX-License-Identifier: Apache-2.0
// Names of the code that programs have loaded into the memory of GPUs. The GPU runs what the driver takes; of a
// file that is too damaged to be read for names, there are none.
#ifndef STRETTO_PLATFORM_MACHINE_LOADED_CODE_H_
#define STRETTO_PLATFORM_MACHINE_LOADED_CODE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "models/common/elf_image.h"

namespace stretto {

class LoadedCode {
 public:
  // A kernel ELF lies at `base`, a 48-bit address, instead of what lay there before.
  void add(uint64_t base, const std::vector<uint8_t>& elf);
  // The function at `code` in the memory of a GPU, "name+0x12" inside it; of a rewritten kernel its name and
  // form, "gemm (preempt)". "": no program has loaded code there that has names.
  std::string at(unsigned gpu, uint64_t code) const;

 private:
  std::map<uint64_t, ElfImage> images_;  // By 48-bit address.
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_MACHINE_LOADED_CODE_H_
