// SPDX-License-Identifier: Apache-2.0
// Host time of one GPU's compute side: the GEMM of T-NLG FC-2, TP 8 (8192 x 4256 x 2128, stamp
// data) with a memory of fixed latency, so that what is measured is wavefronts, tiles and L2.
// Arguments: [K [M [N]]].
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "sw/kernels/kernel_arguments.h"
#include "tests/unit/gpu/gpu_machine.h"

int sc_main(int argc, char* argv[]) {
  using namespace stretto;
  const uint32_t k = argc > 1 ? std::strtoul(argv[1], nullptr, 0) : 2128;
  const uint32_t m = argc > 2 ? std::strtoul(argv[2], nullptr, 0) : 8192;
  const uint32_t n = argc > 3 ? std::strtoul(argv[3], nullptr, 0) : 4256;
  test::GpuMachine machine{GpuSpec{}};
  test::Launch launch =
      machine.load_kernel(STRETTO_BUILD_DIR "/sw/kernels/gemm.elf", "gemm_128x128");
  stretto_gemm_arguments_t arguments{};
  const uint32_t pitch = (2 * k + 127) / 128 * 128;
  arguments.a = test::kNode + 0x1000'0000;
  arguments.b = test::kNode + 0x2000'0000;
  arguments.c = test::kNode + 0x3000'0000;
  arguments.lda = arguments.ldb = pitch;
  arguments.m = m;
  arguments.n = n;
  arguments.k = k;
  arguments.layout = GEMM_B_NK;
  arguments.ldc = 2 * n;
  arguments.tiles_n = (n + 127) / 128;
  machine.load_arguments(arguments);
  const auto stamp = [&](uint64_t base, uint32_t rows, uint8_t role) {
    StampMatrix matrix;
    matrix.base = base & STRETTO_OFFSET_MASK;
    matrix.pitch = pitch;
    matrix.rows = rows;
    matrix.columns = k;
    matrix.role = role;
    matrix.k_total = k;
    matrix.seed = 7;
    machine.image.add_stamp(matrix);
    machine.map(base, uint64_t{rows} * pitch);
  };
  stamp(arguments.a, m, 0);
  stamp(arguments.b, n, 1);
  const bool update = std::getenv("UPDATE") != nullptr;
  RangeEntry output;
  output.base = arguments.c;
  output.row_bytes = uint64_t{m} * 2 * n;
  output.rows = 1;
  output.update = output.tracked = update;
  output.allocation = update ? AllocationClass::uncached : AllocationClass::cached;
  machine.map(output);
  launch.update = update;
  launch.workgroups = (m + 127) / 128 * arguments.tiles_n;
  const auto begin = std::chrono::steady_clock::now();
  const Time end = machine.run_kernel(launch);
  const double host =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const L2Counters& l2 = machine.gpu.l2.counters();
  const uint64_t lookups = machine.gpu.l2.total(l2.hits) + machine.gpu.l2.total(l2.merges) +
                           machine.gpu.l2.total(l2.misses) + machine.gpu.l2.total(l2.written);
  const double fma = static_cast<double>(m) * n * k;
  std::printf("machine time %.3f ms, %.1f TFLOP/s, %llu instructions, %llu events, %llu faults\n",
              end / 1e12, 2 * fma / (end / 1e15) / 1e12,
              static_cast<unsigned long long>(machine.gpu.instructions()),
              static_cast<unsigned long long>(machine.queue.executed()),
              static_cast<unsigned long long>(machine.gpu.front_end.fault_count()));
  std::printf(
      "hits %llu merges %llu misses %llu written %llu write-backs %llu; memory requests %llu\n",
      static_cast<unsigned long long>(machine.gpu.l2.total(l2.hits)),
      static_cast<unsigned long long>(machine.gpu.l2.total(l2.merges)),
      static_cast<unsigned long long>(machine.gpu.l2.total(l2.misses)),
      static_cast<unsigned long long>(machine.gpu.l2.total(l2.written)),
      static_cast<unsigned long long>(machine.gpu.l2.total(l2.write_backs)),
      static_cast<unsigned long long>(machine.memory.requests));
  std::printf("host %.3f s, %.1f ns a sector lookup\n", host,
              host / static_cast<double>(lookups) * 1e9);
  for (const GpuFault& fault : machine.gpu.front_end.faults())
    std::printf("%s\n", describe_fault(0, fault).c_str());
  return 0;
}
