// SPDX-License-Identifier: Apache-2.0
// Waves of co-verification tests that fail.
//
// A test case that fails is run once more, from the same seed, in a process of its own in which the
// probes record; at the first failed check (or lockstep mismatch, or assertion in the RTL) that one
// writes the last kWaveClocks clocks of every block to
//
//   <build>/waves/<executable>.<test case>.fst      scopes gpu0.<block>, gpu1.<block>, ...
//
// in the order in which the test made them; cycle n is at n ns (modulo 2^32), so a mismatch in
// cycle n is in what follows n ns. The save files in waves/ fit. REQUIRES: the executable has RTL
// of a traced flavour and links block_waves.cpp (stretto_block_waves); its test cases are
// deterministic.
#ifndef STRETTO_TESTS_SUPPORT_BLOCK_WAVES_H_
#define STRETTO_TESTS_SUPPORT_BLOCK_WAVES_H_

#include <cstdint>
#include <string>

#include "platform/adapters/wave_probe.h"

namespace stretto::test {

inline constexpr uint64_t kWaveClocks = 200;

// For make_mca() and the like: where the block records; null except in the second run.
WaveProbe* wave_probe(const std::string& block);

}  // namespace stretto::test

#endif  // STRETTO_TESTS_SUPPORT_BLOCK_WAVES_H_
