// SPDX-License-Identifier: Apache-2.0
// See gemm_plan.h.
#include "sw/kernels/ops/gemm_plan.h"

#include <stdio.h>

typedef struct tile_row {
  uint32_t m, n, wavefronts, piece;
} tile_row_t;

#define TILE_ROW(m, n, wavefronts, piece) {m, n, wavefronts, piece},
static const tile_row_t kTiles[] = {OPS_GEMM_TILES(TILE_ROW)};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define MAX_SPLIT 64u
// Estimates that differ by less are equal, for they are no finer; then fewer parts and fewer bytes are better.
#define EQUAL 1.06
// Of the L2's peak, what streams of many units reach (SI-MEM-10 and -12: 86 % on a V100, 75 % on an A100).
#define L2_SHARE 0.75
// A part has at least so many K steps, that its first loads do not outweigh it.
#define MIN_PART_STEPS 8u

static double larger(double a, double b) { return a > b ? a : b; }
static uint32_t less(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t divide_up(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

uint32_t ops_element_bytes(ops_element_t element) {
  return element == OPS_FP16 || element == OPS_BF16 ? 2 : 4;
}

const char* ops_element_name(ops_element_t element) {
  static const char* const names[] = {"fp16", "bf16", "tf32", "fp32"};
  return names[element];
}

// Work-groups that fit on a unit.
static uint32_t resident(const ops_machine_t* machine, const tile_row_t* tile, uint32_t step_bytes,
                         uint32_t stages) {
  const uint32_t registers = OPS_GEMM_REGISTERS(tile->m, tile->n, tile->wavefronts, tile->piece);
  const uint32_t lds = OPS_GEMM_LDS(tile->m, tile->n, step_bytes, stages);
  return less(less(machine->registers_bytes / registers, machine->lds_bytes / lds),
              less(machine->wavefronts / tile->wavefronts, machine->work_groups));
}

static double products(const ops_machine_t* machine, ops_element_t element) {
  return element == OPS_TF32   ? machine->tf32_products
         : element == OPS_FP32 ? machine->fp32_products
                               : machine->fp16_products;
}

static double estimate(const ops_machine_t* machine, const ops_gemm_shape_t* shape,
                       const ops_gemm_choice_t* choice, const tile_row_t* tile) {
  const double bytes = ops_element_bytes(shape->element);
  const uint32_t steps = divide_up(shape->k, choice->step);
  const double part_k = (double)divide_up(steps, choice->split) * choice->step;
  const uint32_t in_turn = divide_up(choice->work_groups, machine->units);  // On the fullest unit.
  const uint32_t at_once = less(in_turn, choice->resident);
  // Of one work-group.
  const double loaded = (double)(tile->m + tile->n) * part_k * bytes;
  const double product = tile->m * tile->n * part_k / products(machine, shape->element);
  const double out = (double)tile->m * tile->n * (choice->split > 1 ? 4 : bytes);
  const double ends = machine->miss_clocks + (double)tile->m * tile->n / machine->fp32_products +
                      out / machine->store_bytes;
  // Beside another work-group, only the first load and the last store are nobody's gain.
  const double flight =
      at_once * (choice->stages - 1.0) * (tile->m + tile->n) * choice->step * bytes;
  double busy = in_turn * product;
  busy = larger(busy, in_turn * loaded / machine->load_bytes);
  busy = larger(busy, in_turn * out / machine->store_bytes);
  busy = larger(busy, choice->work_groups * (loaded + out) / (L2_SHARE * machine->l2_bytes));
  const double least =
      ((double)shape->m * shape->k + (double)shape->k * shape->n + (double)shape->m * shape->n) *
      shape->batch * bytes;
  // Partial sums that the L2 does not hold are written and read there.
  const double partial = (double)choice->partial_bytes;
  const double spilled = larger(0, partial - machine->l2_capacity / 2);
  // Work-groups go in step: what is in flight arrives a latency and its transfer later, then comes the next.
  busy = larger(busy, in_turn * loaded * machine->miss_clocks / flight +
                          (least + spilled) / machine->dram_bytes);
  busy += at_once > 1 ? ends : in_turn * ends;
  if (choice->split == 1) return busy;
  return busy + machine->launch_clocks + 2 * machine->miss_clocks +
         larger(partial / (L2_SHARE * machine->l2_bytes), spilled / machine->dram_bytes);
}

void ops_gemm_derive(const ops_gemm_shape_t* shape, ops_gemm_choice_t* choice) {
  const char* element = ops_element_name(shape->element);
  const uint32_t tiles =
      divide_up(shape->m, choice->tile_m) * divide_up(shape->n, choice->tile_n) * shape->batch;
  snprintf(choice->kernel, sizeof choice->kernel, "gemm_%s_%ux%u_k%u_s%u", element, choice->tile_m,
           choice->tile_n, choice->step, choice->stages);
  choice->work_groups = tiles * choice->split;
  choice->reduce[0] = '\0';
  choice->partial_bytes = choice->reduce_work_groups = 0;
  if (choice->split == 1) return;
  snprintf(choice->reduce, sizeof choice->reduce, "gemm_reduce_%s",
           shape->element == OPS_TF32 ? "fp32" : element);
  ops_gemm_arguments_t arguments;
  ops_gemm_fill(shape, choice, &arguments);
  choice->partial_bytes =
      (uint64_t)choice->split * shape->batch * shape->m * arguments.partial_pitch;
  choice->reduce_work_groups =
      shape->batch * shape->m * divide_up(shape->n, arguments.reduce_columns);
}

void ops_gemm_fill(const ops_gemm_shape_t* shape, const ops_gemm_choice_t* choice,
                   ops_gemm_arguments_t* arguments) {
  // What is resident is about as many tiles high as wide, so that it shares its operands in the L2: CUTLASS's
  // Identity8 for 64 to 128 of them.
  const uint32_t resident = less(choice->work_groups, choice->resident * choice->units);
  uint32_t strip = 8;
  while (2 * strip * strip < resident) strip *= 2;
  *arguments = (ops_gemm_arguments_t){.m = shape->m,
                                      .strip = strip,
                                      .n = shape->n,
                                      .k = shape->k,
                                      .batch = shape->batch,
                                      .inner = shape->batch,
                                      .layout = shape->layout,
                                      .tiles_m = divide_up(shape->m, choice->tile_m),
                                      .tiles_n = divide_up(shape->n, choice->tile_n),
                                      .split = choice->split};
  if (choice->split == 1) return;
  arguments->partial_pitch = (shape->n * 4 + 63) & ~63u;
  // As many columns as fit beside all parts, 512 at most.
  arguments->reduce_parts = choice->split <= 4 ? 4 : choice->split <= 8 ? 8 : 16;
  arguments->reduce_columns = OPS_GEMM_REDUCE_BYTES / 4 / arguments->reduce_parts;
}

typedef void (*visitor_t)(void* context, const ops_gemm_choice_t* one);

// Every kernel and split that runs on the machine and is as wanted.
static void for_each(const ops_machine_t* machine, const ops_gemm_shape_t* shape,
                     const ops_gemm_choice_t* wanted, visitor_t visit, void* context) {
  const uint32_t bytes = ops_element_bytes(shape->element);
  const uint64_t plane = (uint64_t)shape->batch * shape->m * ((shape->n * 4 + 63) & ~63u);
  for (size_t i = 0; i < COUNT(kTiles); ++i) {
    const tile_row_t* tile = &kTiles[i];
    if (wanted->tile_m != 0 && wanted->tile_m != tile->m) continue;
    if (wanted->tile_n != 0 && wanted->tile_n != tile->n) continue;
    for (uint32_t step = OPS_GEMM_MAX_STEP_BYTES; step >= OPS_GEMM_MIN_STEP_BYTES; step /= 2) {
      if (wanted->step != 0 && wanted->step * bytes != step) continue;
      const uint32_t steps = divide_up(shape->k, step / bytes);
      for (uint32_t stages = machine->stages; stages >= 2; --stages) {
        if (wanted->stages != 0 && wanted->stages != stages) continue;
        ops_gemm_choice_t one = {
            .tile_m = tile->m, .tile_n = tile->n, .step = step / bytes, .stages = stages};
        one.units = machine->units;
        one.resident = resident(machine, tile, step, stages);
        if (one.resident == 0) continue;
        for (one.split = 1; one.split <= less(MAX_SPLIT, steps); ++one.split) {
          const int whole = one.split == 1;
          if (!whole && plane > UINT32_MAX) break;  // A pitch of gemm_reduce_*.
          if (wanted->split != 0 ? one.split != wanted->split
                                 : !whole && steps / one.split < MIN_PART_STEPS)
            continue;
          ops_gemm_derive(shape, &one);
          one.clocks = estimate(machine, shape, &one, tile);
          visit(context, &one);
        }
      }
    }
  }
}

typedef struct search {
  const ops_gemm_shape_t* shape;
  double limit;  // Of clocks; 0 = look for the least.
  double bytes;
  ops_gemm_choice_t* best;
} search_t;

// Between the units and the L2.
static double moved(const ops_gemm_shape_t* shape, const ops_gemm_choice_t* one) {
  const double bytes = ops_element_bytes(shape->element);
  return one->work_groups * (double)(one->tile_m + one->tile_n) *
             ((double)shape->k / one->split * bytes) +
         2.0 * (double)one->partial_bytes;
}

static void keep_fastest(void* context, const ops_gemm_choice_t* one) {
  search_t* const search = context;
  if (search->best->clocks == 0 || one->clocks < search->best->clocks) *search->best = *one;
}

// Of those within the limit the one with fewest parts, then bytes, then clocks.
static void keep_thriftiest(void* context, const ops_gemm_choice_t* one) {
  search_t* const search = context;
  const ops_gemm_choice_t* const best = search->best;
  const double bytes = moved(search->shape, one);
  if (one->clocks > search->limit || one->split > best->split ||
      (one->split == best->split && bytes > search->bytes) ||
      (one->split == best->split && bytes == search->bytes && one->clocks >= best->clocks))
    return;
  search->bytes = bytes;
  *search->best = *one;
}

int ops_gemm_choose(const ops_machine_t* machine, const ops_gemm_shape_t* shape,
                    const ops_gemm_choice_t* wanted, ops_gemm_choice_t* choice) {
  *choice = (ops_gemm_choice_t){0};
  if (products(machine, shape->element) == 0) return 0;
  search_t search = {.shape = shape, .best = choice};
  for_each(machine, shape, wanted, keep_fastest, &search);
  if (choice->clocks == 0) return 0;
  search.limit = choice->clocks * EQUAL;
  search.bytes = moved(shape, choice);
  for_each(machine, shape, wanted, keep_thriftiest, &search);
  return 1;
}
