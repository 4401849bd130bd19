// SPDX-License-Identifier: Apache-2.0
// Loops that wait for another work-group although an address or a bound seems to move, and loops that
// look like them and do not wait. In assembly, so that they stay as they are written.
#include "sw/kernels/kernel.h"
#include "tests/unit/sw/transform/subjects.h"

#define LOOP(name, text)                                                                          \
  void name(void) {                                                                               \
    const subject_arguments_t* a =                                                                \
        (const subject_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);                        \
    register uint64_t flags __asm__("a0") = a->flag;                                              \
    register uint64_t count __asm__("a1") = a->count;                                             \
    register uint64_t marks __asm__("a2") = a->marks;                                             \
    register uint64_t own __asm__("a3") = (uint64_t)(uintptr_t)a;                                 \
    __asm__ volatile("li t0, 0\n li t1, 0\n li t2, 8\n" text                                      \
                     : "+r"(flags), "+r"(count), "+r"(marks), "+r"(own)                           \
                     :                                                                            \
                     : "t0", "t1", "t2", "t3", "t4", "t5", "t6", "s2", "ra", "memory");           \
    tile_end();                                                                                   \
    __builtin_unreachable();                                                                      \
  }                                                                                               \
  STRETTO_KERNEL(name, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 16384, .lds_bytes = 65536, \
                 .private_bytes = 1024, .kernarg_bytes = sizeof(subject_arguments_t),             \
                 .wavefronts = SUBJECT_WAVEFRONTS)

// Until the flag t4 bytes behind the first is up. a0: flags, a1: how many, a2: other memory, a3: the
// arguments; t0 and t1 begin at 0, t2 at 8.
#define UNTIL_UP " add t4, t4, a0\n ld t5, 0(t4)\n beqz t5, 1b\n"

// --- they wait: the address comes again ---

LOOP(minus_itself, "1: addi t0, t0, 8\n sub t4, t0, t0\n" UNTIL_UP);
LOOP(product_minus_itself, "1: addi t0, t0, 8\n mul t4, t0, a1\n sub t4, t4, t0\n" UNTIL_UP);
LOOP(two_cancel, "1: addi t0, t0, 8\n addi t1, t1, -8\n add t4, t0, t1\n" UNTIL_UP);
LOOP(square, "1: addi t0, t0, 8\n mul t4, t0, t0\n" UNTIL_UP);
LOOP(times_nothing, "1: addi t0, t0, 8\n li t3, 0\n mul t4, t0, t3\n" UNTIL_UP);
LOOP(masked_by_shifts, "1: addi t0, t0, 8\n slli t4, t0, 58\n srli t4, t4, 58\n" UNTIL_UP);
LOOP(masked_to_half, "1: addi t0, t0, 8\n slli t4, t0, 48\n srli t4, t4, 48\n" UNTIL_UP);
LOOP(shifted_out, "1: addi t0, t0, 1\n slli t4, t0, 62\n" UNTIL_UP);
LOOP(shifted_out_of_word, "1: addi t0, t0, 1\n slliw t4, t0, 9\n" UNTIL_UP);
LOOP(multiplied_out, "1: addi t0, t0, 1\n lui t3, 0x10000\n mulw t4, t0, t3\n" UNTIL_UP);
LOOP(shift_by_what_steps, "1: addi t0, t0, 1\n li t3, 8\n sll t4, t3, t0\n" UNTIL_UP);
LOOP(shifted_down, "1: addi t0, t0, 1\n srli t4, t0, 40\n slli t4, t4, 3\n" UNTIL_UP);
LOOP(word_shifted_down, "1: addiw t0, t0, 1\n sraiw t4, t0, 7\n slli t4, t4, 3\n" UNTIL_UP);
LOOP(unsigned_by_257, "1: addiw t0, t0, 257\n slli t4, t0, 32\n srli t4, t4, 32\n" UNTIL_UP);
LOOP(divided, "1: addi t0, t0, 8\n divu t4, t0, a1\n" UNTIL_UP);
LOOP(with_bits_set, "1: addi t0, t0, -8\n ori t4, t0, -64\n" UNTIL_UP);
LOOP(with_all_set, "1: addi t0, t0, 8\n or t4, t0, a1\n" UNTIL_UP);
LOOP(half_of_a_word,
     "1: lui t3, 0x80000\n add t0, t0, t3\n slli t4, t0, 32\n srli t4, t4, 32\n" UNTIL_UP);
LOOP(by_two_ways, "1: addi t0, t0, 8\n mv t4, t0\n beqz a1, 2f\n sub t4, t4, t0\n 2:" UNTIL_UP);
LOOP(adds_what_it_read,
     "1: addi t0, t0, 8\n addi a2, a2, 8\n ld t3, 0(a2)\n sub t4, t0, t3\n" UNTIL_UP);
LOOP(goes_back_to_the_first,
     "1: addi t0, t0, 8\n mv t4, t0\n 2: addi t4, t4, -8\n bnez t4, 2b\n" UNTIL_UP);
// What is stored where it moves was read where it does not.
LOOP(through_memory,
     "1: ld t3, 0(a0)\n addi a2, a2, 8\n sd t3, 0(a2)\n fence rw, rw\n ld t5, 0(a2)\n"
     " beqz t5, 1b\n");
LOOP(through_tile,
     "li t3, 0x4000400001\n"
     "1: .insn r 0x0B, 0, 6, x0, a0, t3\n addi a2, a2, 64\n .insn r 0x0B, 1, 6, x0, a2, t3\n"
     " ld t5, 0(a2)\n beqz t5, 1b\n");
LOOP(through_tile_on_stack,
     "li t3, 0x800080001\n"
     "1: .insn r 0x0B, 0, 6, x0, a0, t3\n .insn r 0x0B, 1, 6, x0, sp, t3\n"
     " ld t5, 0(sp)\n beqz t5, 1b\n");
LOOP(through_stack, "1: ld t3, 0(a0)\n amoswap.d zero, t3, (sp)\n ld t5, 0(sp)\n beqz t5, 1b\n");

// --- they wait: what should step does not ---

LOOP(up_or_down, "1: mv t4, t0\n beqz a1, 2f\n addi t0, t0, 16\n 2: addi t0, t0, -8\n" UNTIL_UP);
LOOP(up_and_down_by_edges,
     "1: add t4, a0, t0\n ld t5, 0(t4)\n bnez t5, 3f\n xori t1, t1, 1\n beqz t1, 2f\n"
     " addi t0, t0, 8\n j 1b\n 2: addi t0, t0, -8\n j 1b\n 3:\n");
LOOP(by_stride_up_or_down,
     "1: mv t4, t0\n xori t1, t1, 1\n beqz t1, 2f\n add t0, t0, a1\n j 3f\n 2: sub t0, t0, a1\n"
     " 3:" UNTIL_UP);
LOOP(by_stride_and_way,
     "1: mv t4, t0\n addi t0, t0, 8\n beqz a1, 2f\n addi t0, t0, 8\n 2: add t0, t0, a1\n" UNTIL_UP);
LOOP(up_or_not, "1: mv t4, t0\n beqz a1, 2f\n addi t0, t0, 8\n 2:" UNTIL_UP);
LOOP(adds_how_often_it_turned,
     "1: addi t0, t0, 8\n li t3, 0\n 2: addi t3, t3, -8\n add t4, t0, t3\n bnez t4, 2b\n" UNTIL_UP);
LOOP(by_way_and_stride,
     "1: mv t4, t0\n add t0, t0, a1\n beqz a2, 2f\n addi t0, t0, 8\n 2: addi t0, t0, 8\n" UNTIL_UP);
LOOP(by_stride_of_two_ways,
     "1: mv t4, t0\n xori t1, t1, 1\n mv t3, a1\n beqz t1, 2f\n neg t3, a1\n"
     " 2: add t0, t0, t3\n" UNTIL_UP);
LOOP(by_what_turns, "1: mv t4, t0\n neg t2, t2\n add t0, t0, t2\n" UNTIL_UP);
LOOP(by_what_steps_masked,
     "1: mv t4, t0\n addi t1, t1, 8\n andi t3, t1, 8\n addi t3, t3, -4\n"
     " add t0, t0, t3\n" UNTIL_UP);
LOOP(by_nothing, "1: mv t4, t0\n add t0, t0, zero\n" UNTIL_UP);
LOOP(by_8_and_back, "1: mv t4, t0\n addi t0, t0, 8\n addi t0, t0, -8\n" UNTIL_UP);
LOOP(by_the_clock, "1: mv t4, t0\n csrr t3, cycle\n add t0, t0, t3\n" UNTIL_UP);
LOOP(by_a_vote, "1: mv t4, t0\n .insn r 0x0B, 5, 4, t3, t2, x0\n add t0, t0, t3\n" UNTIL_UP);
LOOP(by_what_it_stored,
     "sd t2, 0(sp)\n 1: mv t4, t0\n ld t3, 0(sp)\n neg t6, t3\n sd t6, 0(sp)\n"
     " add t0, t0, t3\n" UNTIL_UP);
LOOP(doubles, "1: mv t4, t0\n addi t0, t0, 8\n slli t0, t0, 1\n" UNTIL_UP);
LOOP(halves, "1: mv t4, t0\n addi t0, t0, 8\n srli t0, t0, 1\n" UNTIL_UP);
LOOP(turns_round, "1: mv t4, t0\n addi t0, t0, 8\n sub t0, a1, t0\n" UNTIL_UP);
LOOP(wraps_a_mask, "1: mv t4, t0\n addi t0, t0, 8\n slli t0, t0, 48\n srli t0, t0, 48\n" UNTIL_UP);
LOOP(by_a_shifted_one, "li t2, 1\n slli t2, t2, 61\n 1: add t0, t0, t2\n mv t4, t0\n" UNTIL_UP);
LOOP(by_itself_less_itself, "sub t2, a1, a1\n 1: add t0, t0, t2\n mv t4, t0\n" UNTIL_UP);
LOOP(by_a_copy_less_itself,
     "1: mv t4, t0\n mv t3, a1\n sub t3, t3, a1\n add t0, t0, t3\n" UNTIL_UP);
LOOP(by_a_masked_bit,
     "andi t2, a1, 7\n slli t2, t2, 61\n 1: add t0, t0, t2\n mv t4, t0\n" UNTIL_UP);
LOOP(by_a_stride_of_41_zeros,
     "lui t2, 512\n slli t2, t2, 20\n mul t2, t2, a1\n 1: add t0, t0, t2\n mv t4, t0\n" UNTIL_UP);
LOOP(by_stride_and_back, "1: mv t4, t0\n add t0, t0, a1\n sub t0, t0, a1\n" UNTIL_UP);
LOOP(times_2_to_the_64,
     "li t3, 1\n slli t3, t3, 63\n slli t3, t3, 1\n"
     " 1: addi t0, t0, 1\n mul t4, t0, t3\n" UNTIL_UP);
LOOP(times_2_to_the_41,
     "li t3, 1\n slli t3, t3, 41\n 1: addi t0, t0, 1\n mul t4, t0, t3\n" UNTIL_UP);
LOOP(times_what_is_shifted_by_41,
     "slli t3, a1, 41\n 1: addi t0, t0, 1\n mul t4, t3, t0\n" UNTIL_UP);

// --- they wait: what steps is not compared with a bound ---

LOOP(bound_steps_too, "1: addi t0, t0, 8\n ld t3, 0(a0)\n add t3, t3, t0\n bltu t0, t3, 1b\n");
LOOP(bound_lies_behind, "1: addi t0, t0, 1\n ld t3, 0(a0)\n bgeu t0, t3, 1b\n");
LOOP(bound_lies_behind_downwards, "1: addi t0, t0, -1\n ld t3, 0(a0)\n bge t3, t0, 1b\n");
LOOP(bound_is_met, "1: addi t0, t0, 1\n ld t3, 0(a0)\n bne t0, t3, 1b\n");
LOOP(comes_to_a_bound_by_what_it_read, "1: ld t3, 0(a0)\n add t0, t0, t3\n bltu t0, a1, 1b\n");
LOOP(bound_is_met_downwards, "1: addi t0, t0, -1\n ld t3, 0(a0)\n bne t0, t3, 1b\n");
LOOP(bound_lies_behind_the_difference,
     "1: addi t0, t0, 1\n sub t4, a1, t0\n ld t3, 0(a0)\n bltu t4, t3, 1b\n");
LOOP(bound_of_two,
     "1: addi t0, t0, 1\n ld t3, 0(a0)\n li t4, 0\n bnez t3, 2f\n li t4, -1\n"
     " 2: bltu t0, t4, 1b\n");
LOOP(bound_is_met_by_one_way,
     "1: ld t3, 0(a0)\n addi t0, t0, 2\n beqz t3, 2f\n addi t0, t0, 1\n 2: bne t0, a1, 1b\n");
LOOP(bound_of_each_way,
     "1: addi t0, t0, 1\n ld t3, 0(a0)\n beqz t3, 2f\n bltu t0, a1, 1b\n j 3f\n"
     " 2: bltu t0, a2, 1b\n 3:\n");
LOOP(one_head_for_two, "1: ld t5, 0(a0)\n beqz t5, 1b\n addi t0, t0, 1\n bne t0, a1, 1b\n");

// --- they wait: on what seems their own, or without a loop of their own ---

static volatile uint64_t in_data;
void spins_on_data(void) {
  while (in_data == 0) {
  }
  tile_end();
  __builtin_unreachable();
}
STRETTO_KERNEL(spins_on_data, .type = STRETTO_KERNEL_SIMT, .registers_bytes = 16384,
               .lds_bytes = 65536, .private_bytes = 1024,
               .kernarg_bytes = sizeof(subject_arguments_t), .wavefronts = SUBJECT_WAVEFRONTS);
LOOP(word_in_arguments, "sd zero, 0(a3)\n 1: ld t5, 8(a3)\n beqz t5, 1b\n");
LOOP(by_distance, "sub t3, a0, sp\n 1: add t4, sp, t3\n ld t5, 0(t4)\n beqz t5, 1b\n");

#define FUNCTION(name, text) \
  __asm__(".pushsection .text\n .type " #name ", @function\n" #name ": " text "\n.popsection\n")
FUNCTION(calls_itself,
         "ld t5, 0(a0)\n bnez t5, 1f\n call calls_itself\n 1: .insn r 0x0B, 5, 3, x0, x0, x0");
LOOP(recurses, "call calls_itself\n");
FUNCTION(ends_when_up, "ld t5, 0(a0)\n beqz t5, 1f\n .insn r 0x0B, 5, 3, x0, x0, x0\n 1: ret");
LOOP(ends_in_call, "1: call ends_when_up\n j 1b\n");
LOOP(ends_in_call_or_later,
     "li s2, 1\n slli s2, s2, 60\n 1: call ends_when_up\n addi s2, s2, -1\n bnez s2, 1b\n");
LOOP(ends_in_call_or_never, "li s2, -3\n 1: call ends_when_up\n addi s2, s2, 8\n bnez s2, 1b\n");
FUNCTION(ends_when_not_0, "beqz a0, 1f\n .insn r 0x0B, 5, 3, x0, x0, x0\n 1: ret");
FUNCTION(ends_when_down, "ld a0, 0(a0)\n j ends_when_not_0");
FUNCTION(ends_in_callee,
         "addi sp, sp, -16\n sd ra, 0(sp)\n ld a0, 0(a0)\n call ends_when_not_0\n"
         " ld ra, 0(sp)\n addi sp, sp, 16\n ret");
LOOP(ends_in_call_by_what_it_gives, "mv s2, a0\n 1: ld a0, 0(s2)\n call ends_when_not_0\n j 1b\n");
FUNCTION(ends_by_s2, "beqz s2, 1f\n .insn r 0x0B, 5, 3, x0, x0, x0\n 1: ret");
LOOP(ends_in_call_by_what_it_keeps, "li s2, 0\n 1: call ends_by_s2\n lbu s2, 0(a0)\n j 1b\n");
FUNCTION(ends_behind_turns,
         "ld t5, 0(a0)\n li t3, 0\n 1: addi t3, t3, 1\n bltu t3, t5, 1b\n addi t3, t3, -9\n"
         " beqz t3, 2f\n .insn r 0x0B, 5, 3, x0, x0, x0\n 2: ret");
LOOP(ends_in_call_by_how_often_it_turned,
     "mv s2, a0\n 1: mv a0, s2\n call ends_behind_turns\n j 1b\n");
LOOP(ends_in_tail_call, "mv s2, a0\n 1: mv a0, s2\n call ends_when_down\n j 1b\n");
LOOP(ends_in_call_of_call, "mv s2, a0\n 1: mv a0, s2\n call ends_in_callee\n j 1b\n");
FUNCTION(steps_by_a1, "li t0, 0\n 1: add t0, t0, a1\n mv t4, t0\n" UNTIL_UP " ret");
LOOP(by_an_argument_of_0, "li a1, 0\n call steps_by_a1\n");
// Steps of 1 or 2, as memory says, miss what is one place wide, and a sign that comes and goes.
#define STEP_BY_FLAG "1: ld t5, 0(a0)\n addi t0, t0, 1\n bnez t5, 2f\n addi t0, t0, 1\n 2: "
LOOP(bound_is_one_place_wide, STEP_BY_FLAG "sub t4, t0, a1\n bgeu t4, t2, 1b\n");
LOOP(sign_comes_and_goes,
     "li t3, 1\n slli t3, t3, 63\n addi t3, t3, 1\n" STEP_BY_FLAG "mul t4, t0, t3\n bgez t4, 1b\n");
FUNCTION(changes_a3, "addi a3, a3, 1\n ret");
LOOP(kept_over_a_call, "1: ld t5, 0(a0)\n call changes_a3\n beqz t5, 1b\n");
FUNCTION(steps_by_a_bit_of_ra, "andi t2, ra, 1\n 1: add t0, t0, t2\n mv t4, t0\n" UNTIL_UP " ret");
LOOP(by_a_bit_of_ra, "li ra, 1\n call steps_by_a_bit_of_ra\n");
LOOP(by_pitch_and_back,
     "li t3, 0x800080002\n li t6, 0x800000000\n 1: addi a0, a0, 8\n sub t3, t3, t6\n"
     " .insn r 0x0B, 0, 0, x0, a0, t3\n .insn r 0x0B, 1, 0, x0, a2, t3\n"
     " ld t5, 8(a2)\n beqz t5, 1b\n");

// --- they do not wait ---

LOOP(by_pointer, "1: addi a0, a0, 8\n ld t5, 0(a0)\n beqz t5, 1b\n");
LOOP(by_index, "1: addi t0, t0, 1\n slli t4, t0, 3\n" UNTIL_UP);
LOOP(by_int, "1: addiw t0, t0, 1\n slli t4, t0, 3\n" UNTIL_UP);
LOOP(by_unsigned, "1: addiw t0, t0, 1\n slli t4, t0, 32\n srli t4, t4, 29\n" UNTIL_UP);
LOOP(by_unsigned_that_is_kept,
     "1: addi t0, t0, 1\n slli t0, t0, 32\n srli t0, t0, 32\n slli t4, t0, 3\n" UNTIL_UP);
LOOP(by_word_of_rows, "1: addiw t0, t0, 1\n slliw t4, t0, 8\n" UNTIL_UP);
LOOP(by_stride, "1: add t0, t0, a1\n mv t4, t0\n" UNTIL_UP);
LOOP(by_stride_downwards, "1: sub t0, t0, a1\n mv t4, t0\n" UNTIL_UP);
LOOP(by_row, "1: addi t0, t0, 1\n mul t4, t0, a1\n slli t4, t4, 3\n" UNTIL_UP);
LOOP(by_element_of_24_bytes, "1: addi t0, t0, 1\n li t3, 24\n mul t4, t0, t3\n" UNTIL_UP);
LOOP(from_the_end, "1: addi t0, t0, 8\n sub t4, a1, t0\n" UNTIL_UP);
LOOP(one_or_two, "1: addi t0, t0, 8\n beqz a1, 2f\n addi t0, t0, 8\n 2: mv t4, t0\n" UNTIL_UP);
LOOP(one_behind, "1: mv t4, t1\n mv t1, t0\n addi t0, t0, 8\n" UNTIL_UP);
LOOP(words_of_bits, "1: addi t0, t0, 1\n srli t4, t0, 6\n slli t4, t4, 3\n" UNTIL_UP);
LOOP(unsigned_by_256, "1: addiw t0, t0, 256\n slli t4, t0, 32\n srli t4, t4, 32\n" UNTIL_UP);
LOOP(to_a_bound, "1: addi t0, t0, 1\n ld t3, 0(a0)\n bltu t0, t3, 1b\n");
LOOP(down_to_a_bound, "1: addi t0, t0, -1\n ld t3, 0(a0)\n bltu t3, t0, 1b\n");
LOOP(by_a_stride_of_40_zeros,
     "lui t2, 256\n slli t2, t2, 20\n mul t2, t2, a1\n 1: add t0, t0, t2\n mv t4, t0\n" UNTIL_UP);
LOOP(times_2_to_the_40,
     "li t3, 1\n slli t3, t3, 40\n 1: addi t0, t0, 1\n mul t4, t0, t3\n" UNTIL_UP);
LOOP(bound_is_ahead_on_each_way,
     "1: ld t3, 0(a0)\n addi t0, t0, 2\n beqz t3, 2f\n addi t0, t0, 1\n 2: bltu t0, a1, 1b\n");
LOOP(same_bound_on_each_way,
     "1: addi t0, t0, 1\n ld t3, 0(a0)\n beqz t3, 2f\n bltu t0, a1, 1b\n j 3f\n"
     " 2: bltu t0, a1, 1b\n 3:\n");
// Rows of a sparse matrix, as GCC -O2 turns them: their ends at a0, values at a2, how many in the
// arguments, read again on either way.
LOOP(rows_of_a_sparse_matrix,
     "1: ld t3, 0(a0)\n ld t4, 8(a0)\n bgeu t3, t4, 3f\n slli t3, t3, 3\n slli t4, t4, 3\n"
     " add t3, t3, a2\n add t4, t4, a2\n li t5, 0\n"
     " 2: ld t6, 0(t3)\n addi t3, t3, 8\n add t5, t5, t6\n bne t4, t3, 2b\n"
     " sd t5, 0(a0)\n ld t6, 24(a3)\n addi t0, t0, 1\n addi a0, a0, 8\n bltu t0, t6, 1b\n j 4f\n"
     " 3: sd zero, 0(a0)\n ld t6, 24(a3)\n addi t0, t0, 1\n addi a0, a0, 8\n bltu t0, t6, 1b\n"
     " 4:\n");
FUNCTION(ends_by_count,
         "ld t5, 0(a0)\n addi a1, a1, -1\n bnez a1, 1f\n"
         " .insn r 0x0B, 5, 3, x0, x0, x0\n 1: add a0, a0, t5\n ret");
LOOP(ends_in_call_by_its_turn,
     "mv s2, a1\n 1: mv a1, s2\n call ends_by_count\n addi s2, s2, -1\n bnez s2, 1b\n");
LOOP(by_two_pointers,
     "1: addi a0, a0, 8\n addi a2, a2, 8\n ld t5, 0(a0)\n ld t3, 0(a2)\n beq t5, t3, 1b\n");
