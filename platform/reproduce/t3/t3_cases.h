// SPDX-License-Identifier: Apache-2.0
// The sub-layers of T3 on one machine, and what each simulation of them contributes.
#ifndef STRETTO_PLATFORM_REPRODUCE_T3_T3_CASES_H_
#define STRETTO_PLATFORM_REPRODUCE_T3_T3_CASES_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>

namespace stretto {

// Keys of `dram_bytes` that the targets use.
inline constexpr const char* kT3Traffic[] = {"gemm_read", "gemm_write", "rs_read",
                                             "rs_write",  "ag_read",    "ag_write"};

// What a simulation contributes; times in ns, traffic in bytes.
struct T3Run {
  uint64_t total = 0, setup = 0, init = 0, gemm = 0, rs = 0, ag = 0;
  std::map<std::string, uint64_t> dram;  // "gemm_read" ... "ag_write".
  uint64_t gpus = 0;
  uint64_t spills = 0;  // Entries that the Tracker wrote to memory, all GPUs.
  // From the first dispatch to the end: what T3 calls the sub-layer.
  double layer() const { return static_cast<double>(total - setup - init); }
  double dram_bytes(const char* key) const { return static_cast<double>(dram.at(key)); }
};

// One sub-layer on one machine: its simulations by mode, with another number of compute units by
// mode and number, "gemm-72cu".
struct T3Case {
  std::string name;        // "tnlg-fc2-tp8".
  std::string model = {};  // "tnlg".
  std::string layer = {};  // "op", "fc2", "fc1", "ip".
  unsigned tp = 0;
  std::map<std::string, T3Run> runs = {};

  bool large() const { return tp == 32; }
  bool has(std::initializer_list<const char*> modes) const;  // Results of all of them.
  const T3Run& run(const char* mode) const { return runs.at(mode); }
  double speedup(const char* mode) const;  // Against sequential.
  double ideal_time() const;               // max(gemm, rs) + ag, isolated.
  double ideal_nmc_time() const;
  double ideal_speedup() const;
};

}  // namespace stretto

#endif  // STRETTO_PLATFORM_REPRODUCE_T3_T3_CASES_H_
