// SPDX-License-Identifier: Apache-2.0
// See gemm_plan.h.
#include "sw/kernels/ops/gemm_plan.h"

#include <math.h>
#include <stdio.h>

typedef struct tile_row {
  uint32_t m, n, wavefronts, piece;
} tile_row_t;

#define TILE_ROW(m, n, wavefronts, piece) {m, n, wavefronts, piece},
static const tile_row_t kTiles[] = {OPS_GEMM_TILES(TILE_ROW)};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
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

double ops_products(const ops_machine_t* machine, ops_element_t element) {
  return element == OPS_TF32   ? machine->tf32_products
         : element == OPS_FP32 ? machine->fp32_products
                               : machine->fp16_products;
}

// What is resident is about as many tiles high as wide, so that it shares its operands in the L2: CUTLASS's Identity8
// for 64 to 128 of them.
static uint32_t strip_of(const ops_gemm_choice_t* choice) {
  const uint32_t resident = less(choice->work_groups, choice->resident * choice->units);
  uint32_t strip = 8;
  while (2 * strip * strip < resident) strip *= 2;
  return strip;
}

static uint32_t tiles_of(const ops_gemm_shape_t* shape, const ops_gemm_choice_t* choice) {
  return divide_up(shape->m, choice->tile_m) * divide_up(shape->n, choice->tile_n) * shape->batch;
}

// Bytes of A and B that shared tiles have, see ordered() in gemm_loop.h.
static double stream_operands(const ops_gemm_shape_t* shape, const ops_gemm_choice_t* choice) {
  const uint32_t tiles_m = divide_up(shape->m, choice->tile_m),
                 tiles_n = divide_up(shape->n, choice->tile_n);
  const double k_bytes = (double)shape->k * ops_element_bytes(shape->element);
  const double matrices = (double)choice->stream_tiles / tiles_m / tiles_n;
  if (matrices >= 1) return matrices * k_bytes * ((double)shape->m + shape->n);
  const int rows = tiles_m <= tiles_n;
  const uint32_t along = rows ? tiles_n : tiles_m;
  uint32_t width = less(strip_of(choice), rows ? tiles_m : tiles_n), length = along;
  if (choice->stream_tiles < width * along)
    length = divide_up(choice->stream_tiles, width);
  else
    width = divide_up(choice->stream_tiles, along);
  return k_bytes * ((double)(rows ? width : length) * choice->tile_m +
                    (double)(rows ? length : width) * choice->tile_n);
}

// Bytes that the memory gives more than once, because shares are at different places of K: of what the L2 does not hold.
static double read_again(const ops_machine_t* machine, const ops_gemm_shape_t* shape,
                         const ops_gemm_choice_t* choice, double loaded) {
  if (choice->streams == 0) return 0;
  const double operands = stream_operands(shape, choice);
  return larger(0, 1 - machine->l2_operands / operands) *
         larger(0, choice->stream_tiles * loaded - operands);
}

static double estimate(const ops_machine_t* machine, const ops_gemm_shape_t* shape,
                       const ops_gemm_choice_t* choice, const tile_row_t* tile) {
  const double bytes = ops_element_bytes(shape->element);
  const uint32_t steps = divide_up(shape->k, choice->step);
  const double part_k = (double)divide_up(steps, choice->split) * choice->step;
  // On the fullest unit: whole work-groups, and shares as parts of one.
  const uint32_t shares = divide_up(choice->streams, machine->units);
  const uint32_t whole = divide_up(choice->work_groups - choice->streams, machine->units);
  const double in_turn =
      whole + (shares == 0 ? 0 : shares * (double)choice->stream_tiles / choice->streams);
  const uint32_t at_once = less(whole + shares, choice->resident);
  const double work_groups = choice->work_groups - choice->streams + choice->stream_tiles;
  // Of one work-group.
  const double loaded = (double)(tile->m + tile->n) * part_k * bytes;
  const double product = tile->m * tile->n * part_k / ops_products(machine, shape->element);
  const double out = (double)tile->m * tile->n * (choice->split > 1 ? 4 : bytes);
  const double ends = machine->miss_clocks + (double)tile->m * tile->n / machine->fp32_products +
                      out / machine->store_bytes;
  // Beside another work-group, only the first load and the last store are nobody's gain.
  const double flight =
      at_once * (choice->stages - 1.0) * (tile->m + tile->n) * choice->step * bytes;
  const double sums = (double)tile->m * tile->n * 4;  // Of a share that leaves some.
  // D is the second kernel's, where there is one.
  const double addend = (double)shape->m * shape->n * shape->batch * bytes * shape->has_addend;
  const double of_tile = choice->split == 1 ? tile->m * tile->n * bytes * shape->has_addend : 0;
  double busy = in_turn * product;
  busy = larger(busy, (in_turn * (loaded + of_tile) + shares * sums) / machine->load_bytes);
  busy = larger(busy, (in_turn * out + shares * sums) / machine->store_bytes);
  busy = larger(busy, (work_groups * (loaded + out + of_tile) + 2 * choice->streams * sums) /
                          (L2_SHARE * machine->l2_bytes));
  const double least =
      ((double)shape->m * shape->k + (double)shape->k * shape->n + (double)shape->m * shape->n) *
          shape->batch * bytes +
      addend;
  // Partial sums that the L2 does not hold are written and read there.
  const double partial = (double)choice->partial_bytes;
  const double spilled = larger(0, partial - machine->l2_capacity / 2);
  const double dram =
      (least + spilled + read_again(machine, shape, choice, loaded)) / machine->dram_bytes;
  // Work-groups go in step: what is in flight arrives a latency and its transfer later, then comes the next.
  busy = larger(busy, in_turn * loaded * machine->miss_clocks / flight + dram);
  if (shares != 0) {
    // Reads of the memory come in bursts, so products hide a part of them.
    busy = larger(busy, sqrt(in_turn * product * in_turn * product + dram * dram));
    // A share stores its sums, begins and ends two tiles, and waits for as many others as its last tile has.
    const double others = divide_up(choice->streams, choice->stream_tiles);
    const double fix_up = sums / machine->store_bytes + machine->miss_clocks +
                          others * (machine->miss_clocks + sums / machine->load_bytes +
                                    sums / 4 / machine->fp32_products) +
                          2 * sums / 4 / machine->fp32_products;
    return busy + fix_up + (at_once > 1 ? ends : (in_turn + shares) * ends);
  }
  busy += at_once > 1 ? ends : in_turn * ends;
  if (choice->split == 1) return busy;
  return busy + machine->launch_clocks + 2 * machine->miss_clocks +
         larger((partial + addend) / (L2_SHARE * machine->l2_bytes), spilled / machine->dram_bytes);
}

void ops_gemm_derive(const ops_gemm_shape_t* shape, ops_gemm_choice_t* choice) {
  const char* element = ops_element_name(shape->element);
  const uint32_t tiles = tiles_of(shape, choice), streams = choice->streams;
  snprintf(choice->kernel, sizeof choice->kernel, "gemm_%s_%ux%u_k%u_s%u%s", element,
           choice->tile_m, choice->tile_n, choice->step, choice->stages,
           streams == 0 ? "" : "_stream");
  choice->work_groups = tiles * choice->split - choice->stream_tiles + streams;
  choice->argument_bytes = streams == 0 ? OPS_GEMM_ARGUMENT_BYTES : sizeof(ops_gemm_arguments_t);
  choice->reduce[0] = '\0';
  choice->reduce_work_groups = 0;
  choice->partial_bytes = (uint64_t)streams * choice->tile_m * choice->tile_n * 4;
  choice->flag_bytes = (uint64_t)streams * OPS_GEMM_FLAG_BYTES;
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
  *arguments = (ops_gemm_arguments_t){.m = shape->m,
                                      .strip = strip_of(choice),
                                      .n = shape->n,
                                      .k = shape->k,
                                      .batch = shape->batch,
                                      .inner = shape->batch,
                                      .layout = shape->layout,
                                      .tiles_m = divide_up(shape->m, choice->tile_m),
                                      .tiles_n = divide_up(shape->n, choice->tile_n),
                                      .split = choice->split,
                                      .streams = choice->streams,
                                      .stream_tiles = choice->stream_tiles};
  if (choice->split == 1) return;
  arguments->partial_pitch = (shape->n * 4 + 63) & ~63u;
  // As many columns as fit beside all parts, 512 at most.
  arguments->reduce_parts = choice->split <= 4 ? 4 : choice->split <= 8 ? 8 : 16;
  arguments->reduce_columns = OPS_GEMM_REDUCE_BYTES / 4 / arguments->reduce_parts;
}

typedef void (*visitor_t)(void* context, const ops_gemm_choice_t* one);

typedef struct candidates {
  const ops_machine_t* machine;
  const ops_gemm_shape_t* shape;
  const ops_gemm_choice_t* wanted;
  int may_share;
  visitor_t visit;
  void* context;
} candidates_t;

static void visit(const candidates_t* c, const tile_row_t* tile, ops_gemm_choice_t* one) {
  ops_gemm_derive(c->shape, one);
  one->clocks = estimate(c->machine, c->shape, one, tile);
  c->visit(c->context, one);
}

// Parts of K.
static void for_each_split(const candidates_t* c, const tile_row_t* tile, ops_gemm_choice_t one) {
  const uint64_t plane = (uint64_t)c->shape->batch * c->shape->m * ((c->shape->n * 4 + 63) & ~63u);
  const uint32_t steps = divide_up(c->shape->k, one.step), wanted = c->wanted->split;
  for (one.split = 1; one.split <= less(OPS_GEMM_MAX_SPLIT, steps); ++one.split) {
    const int whole = one.split == 1;
    if (!whole && plane > UINT32_MAX) break;  // A pitch of gemm_reduce_*.
    if (wanted != 0 ? one.split != wanted : !whole && steps / one.split < MIN_PART_STEPS) continue;
    visit(c, tile, &one);
  }
}

// Shares of the tiles that do not fill a turn of `one.streams`, and of these and a turn.
static void for_each_share(const candidates_t* c, const tile_row_t* tile, ops_gemm_choice_t one,
                           uint64_t steps) {
  const uint32_t tiles = tiles_of(c->shape, &one);
  const uint64_t least = c->wanted->streams != 0 ? 1 : MIN_PART_STEPS;
  for (one.stream_tiles = tiles % one.streams; one.stream_tiles <= tiles;
       one.stream_tiles += one.streams) {
    if (one.stream_tiles >= 2 * one.streams) return;
    if (one.stream_tiles != 0 && one.stream_tiles * steps / one.streams >= least)
      visit(c, tile, &one);
  }
}

static void for_each_stream(const candidates_t* c, const tile_row_t* tile, ops_gemm_choice_t one) {
  const uint32_t tiles = tiles_of(c->shape, &one);
  const uint64_t steps = divide_up(c->shape->k, one.step), all = tiles * steps;
  one.split = 1;
  if (c->wanted->streams != 0) {
    one.streams = c->wanted->streams;
    if (one.streams <= OPS_GEMM_MAX_STREAMS) for_each_share(c, tile, one, steps);
    return;
  }
  for (uint32_t each = 1; each <= one.resident; ++each) {
    const uint32_t most = each * one.units;
    one.streams = all / MIN_PART_STEPS < most ? (uint32_t)(all / MIN_PART_STEPS) : most;
    // Unless nothing would be shared.
    if (one.streams > 1 && tiles % one.streams != 0) for_each_share(c, tile, one, steps);
    if (one.streams < most) break;
  }
}

// Every kernel, split and number of shares that runs on the machine and is as wanted.
static void for_each(const candidates_t* c) {
  const ops_gemm_choice_t* const wanted = c->wanted;
  const uint32_t bytes = ops_element_bytes(c->shape->element);
  for (size_t i = 0; i < COUNT(kTiles); ++i) {
    const tile_row_t* tile = &kTiles[i];
    if (wanted->tile_m != 0 && wanted->tile_m != tile->m) continue;
    if (wanted->tile_n != 0 && wanted->tile_n != tile->n) continue;
    for (uint32_t step = OPS_GEMM_MAX_STEP_BYTES; step >= OPS_GEMM_MIN_STEP_BYTES; step /= 2) {
      if (wanted->step != 0 && wanted->step * bytes != step) continue;
      for (uint32_t stages = c->machine->stages; stages >= 2; --stages) {
        if (wanted->stages != 0 && wanted->stages != stages) continue;
        const ops_gemm_choice_t one = {.tile_m = tile->m,
                                       .tile_n = tile->n,
                                       .step = step / bytes,
                                       .stages = stages,
                                       .units = c->machine->units,
                                       .resident = resident(c->machine, tile, step, stages)};
        if (one.resident == 0) continue;
        const int unshared = wanted->streams == OPS_GEMM_NO_STREAMS;
        if (wanted->streams == 0 || unshared) for_each_split(c, tile, one);
        if (wanted->split == 0 && c->may_share && !unshared) for_each_stream(c, tile, one);
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
  const uint32_t work_groups = one->work_groups - one->streams + one->stream_tiles;
  return work_groups * (double)(one->tile_m + one->tile_n) *
             ((double)shape->k / one->split * bytes) +
         2.0 * (double)one->partial_bytes;
}

static void keep_fastest(void* context, const ops_gemm_choice_t* one) {
  search_t* const search = context;
  if (search->best->clocks == 0 || one->clocks < search->best->clocks) *search->best = *one;
}

// A tile's, at least.
static uint32_t parts_of(const ops_gemm_choice_t* one) {
  return one->streams != 0 ? 2 : one->split;
}

// Of those within the limit the one with fewest parts, then bytes, then clocks.
static void keep_thriftiest(void* context, const ops_gemm_choice_t* one) {
  search_t* const search = context;
  const ops_gemm_choice_t* const best = search->best;
  const double bytes = moved(search->shape, one);
  const uint32_t parts = parts_of(one), fewest = parts_of(best);
  if (one->clocks > search->limit || parts > fewest || (parts == fewest && bytes > search->bytes) ||
      (parts == fewest && bytes == search->bytes && one->clocks >= best->clocks))
    return;
  search->bytes = bytes;
  *search->best = *one;
}

static void choose(const ops_machine_t* machine, const ops_gemm_shape_t* shape,
                   const ops_gemm_choice_t* wanted, int may_share, ops_gemm_choice_t* choice) {
  *choice = (ops_gemm_choice_t){0};
  search_t search = {.shape = shape, .best = choice};
  candidates_t candidates = {machine, shape, wanted, may_share, keep_fastest, &search};
  for_each(&candidates);
  if (choice->clocks == 0) return;
  search.limit = choice->clocks * EQUAL;
  search.bytes = moved(shape, choice);
  candidates.visit = keep_thriftiest;
  for_each(&candidates);
}

int ops_gemm_choose(const ops_machine_t* machine, const ops_gemm_shape_t* shape,
                    const ops_gemm_choice_t* wanted, ops_gemm_choice_t* choice) {
  *choice = (ops_gemm_choice_t){0};
  if (ops_products(machine, shape->element) == 0) return 0;
  choose(machine, shape, wanted, 1, choice);
  // What shares nothing is chosen among its like: a machine without such kernels takes the same.
  if (choice->clocks != 0 && choice->streams == 0) choose(machine, shape, wanted, 0, choice);
  return choice->clocks != 0;
}
