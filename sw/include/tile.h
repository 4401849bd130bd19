// SPDX-License-Identifier: Apache-2.0
// The tile extension of wavefronts: instruction table, intrinsics for kernels, and constants for
// the decoder. C (kernels, riscv64-unknown-elf-gcc) and C++ (model) read this file; it is the only
// definition.
//
// Encoding: custom-0 (opcode 0x0B), R-type. Tiles are named by 5-bit fields (rd, rs1 or rs2 used as
// a name):
//   0..7   r0..r7   register tiles of the wavefront          (home: registers, owner: wavefront)
//   8..23  l0..l15  LDS tiles of the work-group              (home: LDS,       owner: work-group)
//   24..31 a0..a7   accumulators of the work-group, FP32     (home: registers, owner: work-group)
// Work-group-owned tiles may be used by any wavefront of the group; barriers order uses by
// different ones. A shape is one 64-bit value: rows [15:0], row_bytes [31:16], pitch [63:32] (bytes
// between rows in memory).
//
//  instruction                     f3 f7                operands                      pipe    issue  cycles                    asynchronous
//  tile.load   t, x1, x2           0  [0] streaming     t <- memory x1, shape x2      memory  1      memory                    yes
//                                     [3:1] element
//                                     [4] lines
//  tile.store  t, x1, x2           1  [3:1] element     t -> memory x1, shape x2      memory  1      row bytes / store port    yes
//                                     [4] lines
//  tile.mma    a, ta, tb           2  [0] A is K x M    a += A * B                    tensor  1      m*n*k / FMA rate          yes
//                                     [1] B is N x K
//                                     [4:2] element
//  tile.simt   t, t1, t2           3  operation         t <- t1 op t2                 SIMT    1      elements / SIMT rate *    yes
//  tile.epilogue r, a, x2          4  [2:0] element     r <- rows of a, converted     SIMT    1      elements / SIMT rate      yes
//     x2: first row [15:0], rows [31:16], first column [47:32], columns [63:48]
//  tile.zero   a, x1               5  0                 a <- 0; x1: m [15:0] n [31:16] SIMT   1      1                         yes
//  tile.wait   imm                 5  1                 until <= imm (rs2 field) of this wavefront's loads and stores are
//                                                       outstanding, in issue order   -       1      -                         blocks
//  tile.barrier                    5  2                 all wavefronts of the group   -       1      -                         blocks
//  tile.end                        5  3                 end of program (waits for its stores, frees its register tiles)   blocks
//  tile.vote   x, x1               5  4                 a barrier; x <- OR of x1 of all   -       1      -                         blocks
//  tile.release                    5  5                 until no tile of the group is in use; they become never written,
//                                                       their share of registers and LDS is free         -                     blocks
//  tile.fence  imm                 5  6                 release and acquire of scope imm (rs2 field, MEMORY_MODEL.md),
//                                                       behind this wavefront's earlier stores; at wavefront
//                                                       scope nothing                                    -                     blocks
//  tile.wait_until x1, x2          6  [1:0] condition   until mem64[x1] cond x2 (sleeps on a watch); polls past the            blocks
//                                     [2] device scope  L2, or, at device scope, as the range is cached
//  tile.locked_store x1, x2        7  0                 mem64[x1] <- x2 after all earlier stores of this wavefront are performed   yes
//  tile.llc_store x1, x2           7  2                 as tile.locked_store; the 64 bytes around x1 stay in the L2 until a
//                                                       hart accesses them (l2.lock_ways)                                yes
//  tile.red    x1, x2          7  1                     mem64[x1] += x2 at the L2, after all earlier stores of this
//                                                       wavefront are performed; nothing waits     -       1      an AMO's    yes
//
// * Times 2 (rows, RELU_GRAD), 4 (EXP, RSQRT, RECIP), 12 (GELU), 20 (GELU_GRAD); conversions at the rate of FP32.
// FP8 is computed in FP32: a conversion an operand and one of the result more. Products of FP8 need a
// machine that has them; k is rounded up to 32 then.
// Issue: a tile instruction takes the slots of the native ones that it stands for (gpu_spec.h): loads
// and stores those of their wavefront, products and SIMT operations those of all wavefronts of the
// work-group, while the pipe works. Products of FP32 are the SIMT pipe's; element TILE_TF32 of
// tile.mma multiplies FP32 tiles with 10 bits behind the point, on machines that have it.
// Lines: a row of at most 7168 bytes lies in memory as lines of 64, from x1 on (a multiple of 64):
// 56 of the row, then a flag, which is CSR 0x803 when the instruction issues. A store writes both.
// A load is done when every line has the flag; it polls, past the L2 where the range is uncached,
// and nothing else waits. Why no fence is needed: MEMORY_MODEL.md.
// tile.locked_store is ordered behind stores; it locks nothing. tile.llc_store is ComP-Net's locked
// store (4.2.3): of a range that the L2 does not cache, or without room for locks, it is the former.
// tile.red is ordered behind tile and locked stores, not behind other reductions. It counts for
// tile.wait and waits in the memory unit: the wavefront goes on.
// At the start all registers but x2, and private memory, are undefined.
// Rules: an instruction that names a tile in use by an earlier asynchronous one of the same
// work-group stalls until that one is done (scoreboard, per tile). tile.load defines the tile's
// shape; bytes beyond it read as zero. tile.mma uses k = the K extent of both operands, rounded up
// to 16 for time; m, n are those of tile.zero. Traps (reported as wavefront faults): unmapped
// address, row_bytes 0 or > 8192, rows 0 or > 1024, a tile larger than the work-group's share of
// registers or LDS, mma on a tile never loaded, unknown encoding. Ids and arguments come from CSRs
// only. CSRs 0x800 and 0x801 are reserved for tools that rewrite kernels. RISC-V names no scopes:
// its fences and atomics have that of CSR 0x802.
#ifndef STRETTO_SW_INCLUDE_TILE_H_
#define STRETTO_SW_INCLUDE_TILE_H_

#define TILE_LOAD_F3 0
#define TILE_STORE_F3 1
#define TILE_MMA_F3 2
#define TILE_SIMT_F3 3
#define TILE_EPILOGUE_F3 4
#define TILE_CONTROL_F3 5
#define TILE_WAIT_UNTIL_F3 6
#define TILE_LOCKED_STORE_F3 7  // And tile.red, tile.llc_store.

#define TILE_LINES 8  // Of tile.load and tile.store, beside the element.
#define TILE_LINE_BYTES 64
#define TILE_LINE_DATA 56
#define TILE_LINES_MAX 7168  // Bytes of such a row.

#define TILE_LOCKED_STORE 0
#define TILE_RED 1
#define TILE_LLC_STORE 2

#define TILE_CONTROL_ZERO 0
#define TILE_CONTROL_WAIT 1
#define TILE_CONTROL_BARRIER 2
#define TILE_CONTROL_END 3
#define TILE_CONTROL_VOTE 4
#define TILE_CONTROL_RELEASE 5
#define TILE_CONTROL_FENCE 6

#define TILE_SCOPE_WAVEFRONT 0
#define TILE_SCOPE_WORK_GROUP 1
#define TILE_SCOPE_DEVICE 2
#define TILE_SCOPE_SYSTEM 3

#define TILE_SIMT_ADD 0
#define TILE_SIMT_COPY 1  // t <- t1
#define TILE_SIMT_MAX 2
#define TILE_SIMT_MUL 3
#define TILE_SIMT_MIN 4
// From here on floating-point elements only. Rows: every element of the result's row is the sum,
// mean or maximum of the first operand's row. Unary: t <- f(t1). GELU_GRAD: t <- t2 * gelu'(t1).
// Cost in tile_functions.h.
#define TILE_SIMT_SUB 5
#define TILE_SIMT_ROW_SUM 6
#define TILE_SIMT_ROW_MEAN 7
#define TILE_SIMT_ROW_MAX 8
#define TILE_SIMT_EXP 9
#define TILE_SIMT_RSQRT 10
#define TILE_SIMT_RECIP 11
#define TILE_SIMT_GELU 12
#define TILE_SIMT_GELU_GRAD 13
// t <- t1 in another element, rounded once; the rate is that of FP32.
#define TILE_SIMT_FP32 14
#define TILE_SIMT_FP16 15
#define TILE_SIMT_BF16 16
#define TILE_SIMT_RELU_GRAD 17  // t <- t1 > 0 ? t2 : 0
#define TILE_SIMT_FIRST 18      // t <- the first element of each row of t1, a tile of one column.
#define TILE_SIMT_E4M3 19       // As TILE_SIMT_FP32.
#define TILE_SIMT_E5M2 20
// t2 of an operation with two operands may have one column: its element stands for all of a row. It may have one
// element alone: that stands for all.

// Element of tile.mma only: FP32 operands, multiplied as TF32.
#define TILE_TF32 5

#define TILE_EQ 0
#define TILE_NE 1
#define TILE_GEU 2
#define TILE_LTU 3
// With a condition: only this GPU's kernels and harts write the word. A wait acquires nothing.
#define TILE_WAIT_DEVICE 4

#define TILE_FIRST_REGISTER 0
#define TILE_FIRST_LDS 8
#define TILE_FIRST_ACCUMULATOR 24

#define TILE_CSR_WG_ID 0xCC0    // Linear work-group id (output-tile index).
#define TILE_CSR_WF_ID 0xCC1    // Wavefront in the work-group.
#define TILE_CSR_KERNARG 0xCC2  // 48-bit address of the kernel arguments.
#define TILE_CSR_GPU_ID 0xCC3
#define TILE_CSR_GRID 0xCC4        // Work-groups of the grid.
#define TILE_CSR_WAVEFRONTS 0xCC5  // Wavefronts of a work-group.
#define TILE_CSR_WG_X 0xCC6        // Of the linear id: id = x + GRID_X (y + GRID_Y z).
#define TILE_CSR_WG_Y 0xCC7
#define TILE_CSR_WG_Z 0xCC8
#define TILE_CSR_GRID_X 0xCC9
#define TILE_CSR_GRID_Y 0xCCA
#define TILE_CSR_GRID_Z 0xCCB
#define TILE_CSR_CYCLE 0xC00  // Standard `cycle`: GPU clocks.
#define TILE_CSR_SCRATCH0 0x800
#define TILE_CSR_SCRATCH1 0x801
#define TILE_CSR_SCOPE 0x802  // TILE_SCOPE_* of AMOs, .aq, .rl and fence; device at the start.
#define TILE_CSR_FLAG 0x803   // Of lines; 0 at the start.

#ifdef __riscv
#include <stdint.h>

#define TILE_R(n) (TILE_FIRST_REGISTER + (n))
#define TILE_L(n) (TILE_FIRST_LDS + (n))
#define TILE_A(n) (TILE_FIRST_ACCUMULATOR + (n))
#define TILE_STR_(x) #x
#define TILE_STR(x) TILE_STR_(x)

#define tile_csr(csr)                                                \
  ({                                                                 \
    uint64_t tile_value_;                                            \
    __asm__ volatile("csrr %0, " TILE_STR(csr) : "=r"(tile_value_)); \
    tile_value_;                                                     \
  })
// Of this wavefront's AMOs and RISC-V fences from here on.
#define tile_set_scope(scope) \
  __asm__ volatile("csrw " TILE_STR(TILE_CSR_SCOPE) ", %0" : : "r"((uint64_t)(scope)) : "memory")

// amocas.d (Zacas 1.0; GCC 12 has no name for it): stores `value` if the word is `expected`. What was
// there. `order`: TILE_ACQUIRE, TILE_RELEASE, both, or 0.
#define TILE_RELEASE 1
#define TILE_ACQUIRE 2
#define tile_compare_swap(address, expected, value, order)                                    \
  ({                                                                                          \
    uint64_t tile_value_ = (expected);                                                        \
    __asm__ volatile(".insn r 0x2F, 3, %[f7], %[was], %[a], %[v]"                             \
                     : [was] "+r"(tile_value_)                                                \
                     : [f7] "i"(0x14 | (order)), [a] "r"(address), [v] "r"((uint64_t)(value)) \
                     : "memory");                                                             \
    tile_value_;                                                                              \
  })

// Of lines that this wavefront loads and stores from here on.
#define tile_set_flag(flag) \
  __asm__ volatile("csrw " TILE_STR(TILE_CSR_FLAG) ", %0" : : "r"((uint64_t)(flag)) : "memory")

static inline uint64_t tile_shape(uint32_t rows, uint32_t row_bytes, uint32_t pitch) {
  return (uint64_t)rows | ((uint64_t)row_bytes << 16) | ((uint64_t)pitch << 32);
}

// Tile names are compile-time constants: they are register-number fields of the instruction. Each
// name below is written as "x<number>" so that the assembler puts the number into the field.
#define tile_load(t, address, shape, element, streaming)                                        \
  __asm__ volatile(                                                                             \
      ".insn r 0x0B, 0, %[f7], x%[rd], %[a], %[s]"                                              \
      :                                                                                         \
      : [f7] "i"((streaming) | ((element) << 1)), [rd] "i"(t), [a] "r"(address), [s] "r"(shape) \
      : "memory")
#define tile_store(t, address, shape, element)                                               \
  __asm__ volatile(".insn r 0x0B, 1, %[f7], x%[rd], %[a], %[s]"                              \
                   :                                                                         \
                   : [f7] "i"((element) << 1), [rd] "i"(t), [a] "r"(address), [s] "r"(shape) \
                   : "memory")
#define tile_mma(acc, ta, tb, a_is_km, b_is_nk, element)                                       \
  __asm__ volatile(".insn r 0x0B, 2, %[f7], x%[rd], x%[r1], x%[r2]"                            \
                   :                                                                           \
                   : [f7] "i"((a_is_km) | ((b_is_nk) << 1) | ((element) << 2)), [rd] "i"(acc), \
                     [r1] "i"(ta), [r2] "i"(tb)                                                \
                   : "memory")
#define tile_simt(op, t, t1, t2)                                           \
  __asm__ volatile(".insn r 0x0B, 3, %[f7], x%[rd], x%[r1], x%[r2]"        \
                   :                                                       \
                   : [f7] "i"(op), [rd] "i"(t), [r1] "i"(t1), [r2] "i"(t2) \
                   : "memory")
#define tile_epilogue(t, acc, block, element)                                      \
  __asm__ volatile(".insn r 0x0B, 4, %[f7], x%[rd], x%[r1], %[b]"                  \
                   :                                                               \
                   : [f7] "i"(element), [rd] "i"(t), [r1] "i"(acc), [b] "r"(block) \
                   : "memory")
#define tile_zero(acc, m_n)                               \
  __asm__ volatile(".insn r 0x0B, 5, 0, x%[rd], %[v], x0" \
                   :                                      \
                   : [rd] "i"(acc), [v] "r"(m_n)          \
                   : "memory")
#define tile_wait(count) \
  __asm__ volatile(".insn r 0x0B, 5, 1, x0, x0, x%[n]" : : [n] "i"(count) : "memory")
#define tile_barrier() __asm__ volatile(".insn r 0x0B, 5, 2, x0, x0, x0" : : : "memory")
#define tile_end() __asm__ volatile(".insn r 0x0B, 5, 3, x0, x0, x0" : : : "memory")
// Ends the run with a line that names the work-group and says `text`, a constant.
static inline __attribute__((noreturn)) void tile_abort(const char* text) {
  register const char* a0 __asm__("a0") = text;
  __asm__ volatile("ebreak" : : "r"(a0) : "memory");
  __builtin_unreachable();
}
// The OR of `value` over the wavefronts of the work-group that have not ended; a barrier.
static inline uint64_t tile_vote(uint64_t value) {
  uint64_t all;
  __asm__ volatile(".insn r 0x0B, 5, 4, %[rd], %[v], x0"
                   : [rd] "=r"(all)
                   : [v] "r"(value)
                   : "memory");
  return all;
}
#define tile_release() __asm__ volatile(".insn r 0x0B, 5, 5, x0, x0, x0" : : : "memory")
#define tile_fence(scope) \
  __asm__ volatile(".insn r 0x0B, 5, 6, x0, x0, x%[n]" : : [n] "i"(scope) : "memory")
#define tile_wait_until(address, condition, value)                        \
  __asm__ volatile(".insn r 0x0B, 6, %[c], x0, %[a], %[v]"                \
                   :                                                      \
                   : [c] "i"(condition), [a] "r"(address), [v] "r"(value) \
                   : "memory")
#define tile_locked_store(address, value)               \
  __asm__ volatile(".insn r 0x0B, 7, 0, x0, %[a], %[v]" \
                   :                                    \
                   : [a] "r"(address), [v] "r"(value)   \
                   : "memory")

#define tile_llc_store(address, value)                  \
  __asm__ volatile(".insn r 0x0B, 7, 2, x0, %[a], %[v]" \
                   :                                    \
                   : [a] "r"(address), [v] "r"(value)   \
                   : "memory")

#define tile_red(address, value)                        \
  __asm__ volatile(".insn r 0x0B, 7, 1, x0, %[a], %[v]" \
                   :                                    \
                   : [a] "r"(address), [v] "r"(value)   \
                   : "memory")

#endif  // __riscv

#endif  // STRETTO_SW_INCLUDE_TILE_H_
