// SPDX-License-Identifier: Apache-2.0
// Ring collectives on compute units, the baseline beside T3: reduce-scatter (T3-BASE-05/06),
// reduce-scatter with near-memory reduction, all-gather. One wavefront a work-group, as many
// work-groups as the compute units hold.
//
// Rank r sends to r - 1 and receives from r + 1, N ranks, chunks of output tiles
// (kernel_arguments.h). A chunk may begin anywhere in a strip of tiles, so it is taken as a run of
// units: 1/8 tile (tile_m / 8 rows x tile_n columns), clipped at the edges. Every work-group owns
// the same share of units of a chunk on all ranks, so one flag a (step, work-group) orders a share
// behind its data: the sender's locked store comes after its earlier stores.
//
//   reduce_scatter      step 1: send chunk r + 1 into the neighbour's receive array; steps 2 .. N -
//   1: wait for chunk r + s,
//                       add the own copy, send on; at last chunk r: wait, add, write to the own
//                       output.
//   reduce_scatter_nmc  step s: wait (s > 1) for chunk r + s of the own output, in which memory has
//   added what arrived,
//                       and send it as updates to the neighbour's output; at last wait for chunk r.
//   follow_on           output <- output * receive + peer, each rounded: all of the own output, no step.
//   all_gather          step s: wait (s > 1) for chunk r + s - 1 and send it to the neighbour's
//   output; at last wait for chunk r + N - 1.
//
// Receive buffers: every chunk of the receive array is written once a launch, so nothing has to be
// handed back. Flags are written in step order: word (step - 1) * work-groups + id; a step's flag
// has reached flag_value or more. Loads bypass the L2 (streaming). Four units are in flight: loads
// run three ahead of the addition and the store. RING_E4M3 builds ring_e4m3.elf, of FP8.
#include "sw/include/tile_order.h"
#include "sw/kernels/kernel.h"
#include "sw/kernels/kernel_arguments.h"

#define UNITS_OF_TILE 8u
#ifdef RING_E4M3
#define RING_ELEMENT STRETTO_E4M3
#define ELEMENT_BYTES 1u
#else
#define RING_ELEMENT STRETTO_FP16
#define ELEMENT_BYTES 2u
#endif

typedef struct place {
  uint64_t offset;  // From the start of the array.
  uint64_t shape;   // 0: beyond the last row, nothing to do.
} place_t;

typedef struct run {
  uint64_t source;  // Own array.
  uint64_t addend;  // Array whose elements are added, or 0.
  uint64_t target;
  uint32_t unit;  // Next unit to finish.
  uint32_t end;
} run_t;

KERNEL_INLINE place_t place_of(const stretto_ring_arguments_t* g, uint32_t unit) {
  const uint32_t rows_each = g->tile_m / UNITS_OF_TILE;
  const tile_order_t order = {g->along, g->order & TILE_ORDER_WIDTH, g->order & TILE_ORDER_DOWN};
  const tile_place_t tile = tile_order_place(&order, unit / UNITS_OF_TILE);
  const uint32_t row = tile.row * g->tile_m + unit % UNITS_OF_TILE * rows_each;
  const uint32_t column = tile.column * g->tile_n;
  place_t place = {0, 0};
  if (row >= g->m) return place;
  place.offset = (uint64_t)row * g->pitch + (uint64_t)column * ELEMENT_BYTES;
  place.shape = tile_shape(min_u32(rows_each, g->m - row),
                           min_u32(g->tile_n, g->n - column) * ELEMENT_BYTES, g->pitch);
  return place;
}

// Slot i of the pipeline uses r(2i) for the own copy and r(2i + 1) for the addend.
KERNEL_INLINE void load(const stretto_ring_arguments_t* g, const run_t* run, uint32_t unit,
                        const int own, const int other, place_t* place) {
  if (unit >= run->end) return;
  *place = place_of(g, unit);
  if (place->shape == 0) return;
  tile_load(own, run->source + place->offset, place->shape, RING_ELEMENT, 1);
  if (run->addend != 0)
    tile_load(other, run->addend + place->offset, place->shape, RING_ELEMENT, 1);
}

// Returns whether the run goes on.
KERNEL_INLINE int finish(run_t* run, const int own, const int other, const place_t* place) {
  if (place->shape != 0) {
    if (run->addend != 0) tile_simt(TILE_SIMT_ADD, own, own, other);
    tile_store(own, run->target + place->offset, place->shape, RING_ELEMENT);
  }
  return ++run->unit < run->end;
}

// Moves (and adds) the units of a run. REQUIRES: at least one.
static __attribute__((noinline)) void move(const stretto_ring_arguments_t* g, run_t run) {
  place_t p0 = {0, 0}, p1 = {0, 0}, p2 = {0, 0}, p3 = {0, 0};
  load(g, &run, run.unit, TILE_R(0), TILE_R(1), &p0);
  load(g, &run, run.unit + 1, TILE_R(2), TILE_R(3), &p1);
  load(g, &run, run.unit + 2, TILE_R(4), TILE_R(5), &p2);
  for (;;) {
    load(g, &run, run.unit + 3, TILE_R(6), TILE_R(7), &p3);
    if (!finish(&run, TILE_R(0), TILE_R(1), &p0)) return;
    load(g, &run, run.unit + 3, TILE_R(0), TILE_R(1), &p0);
    if (!finish(&run, TILE_R(2), TILE_R(3), &p1)) return;
    load(g, &run, run.unit + 3, TILE_R(2), TILE_R(3), &p1);
    if (!finish(&run, TILE_R(4), TILE_R(5), &p2)) return;
    load(g, &run, run.unit + 3, TILE_R(4), TILE_R(5), &p2);
    if (!finish(&run, TILE_R(6), TILE_R(7), &p3)) return;
  }
}

// The share of this work-group in the units of a chunk; empty on all ranks or on none.
typedef struct share {
  uint32_t begin, end;
} share_t;

static __attribute__((noinline)) share_t share_of(const stretto_ring_arguments_t* g,
                                                  uint32_t chunk) {
  const uint64_t id = tile_csr(TILE_CSR_WG_ID);
  const uint64_t groups = tile_csr(TILE_CSR_GRID);
  while (chunk >= g->ranks) chunk -= g->ranks;
  const uint64_t first = (uint64_t)chunk * g->tiles / g->ranks * UNITS_OF_TILE;
  const uint64_t units = (uint64_t)(chunk + 1) * g->tiles / g->ranks * UNITS_OF_TILE - first;
  const share_t share = {(uint32_t)(first + id * units / groups),
                         (uint32_t)(first + (id + 1) * units / groups)};
  return share;
}

KERNEL_INLINE uint64_t flag_offset(uint32_t step) {
  return (uint64_t)((step - 1) * (uint32_t)tile_csr(TILE_CSR_GRID) +
                    (uint32_t)tile_csr(TILE_CSR_WG_ID)) *
         8;
}

KERNEL_INLINE void wait_for_step(const stretto_ring_arguments_t* g, uint32_t step) {
  tile_wait_until(g->flags + flag_offset(step), TILE_GEU, g->flag_value);
}

KERNEL_INLINE void tell_neighbour(const stretto_ring_arguments_t* g, uint32_t step) {
  tile_locked_store(g->peer_flags + flag_offset(step), g->flag_value);
}

#define ARGUMENTS ((const stretto_ring_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG))

void ring_reduce_scatter(void) {
  const stretto_ring_arguments_t* g = ARGUMENTS;
  for (uint32_t step = 1; step <= g->ranks; ++step) {
    const share_t share = share_of(g, g->rank + step);
    if (share.begin == share.end) continue;
    const int last = step == g->ranks;
    if (step > 1) wait_for_step(g, step - 1);
    if (step > 1 || !last) {
      move(g, (run_t){.source = g->output,
                      .addend = step > 1 ? g->receive : 0,
                      .target = last ? g->output : g->peer,
                      .unit = share.begin,
                      .end = share.end});
    }
    if (!last) tell_neighbour(g, step);
  }
  tile_end();
  __builtin_unreachable();
}

// Steps 1 .. N - 1 send chunk rank + step + shift of the own output to the neighbour's output.
KERNEL_INLINE _Noreturn void pass_on(const uint32_t shift) {
  const stretto_ring_arguments_t* g = ARGUMENTS;
  for (uint32_t step = 1; step <= g->ranks; ++step) {
    const share_t share = share_of(g, g->rank + step + g->ranks - shift);
    if (share.begin == share.end) continue;
    if (step > 1) wait_for_step(g, step - 1);
    if (step == g->ranks) break;
    move(g, (run_t){.source = g->output,
                    .addend = 0,
                    .target = g->peer,
                    .unit = share.begin,
                    .end = share.end});
    tell_neighbour(g, step);
  }
  tile_end();
  __builtin_unreachable();
}

void ring_reduce_scatter_nmc(void) { pass_on(0); }
void ring_all_gather(void) { pass_on(1); }

// Not a collective: what follows one, on all of its result. Two units are in flight.
KERNEL_INLINE void follow_on(const stretto_ring_arguments_t* g, uint32_t unit, const int own,
                             const int factor, const int addend) {
  const place_t place = place_of(g, unit);
  if (place.shape == 0) return;
  tile_load(own, g->output + place.offset, place.shape, RING_ELEMENT, 1);
  tile_load(factor, g->receive + place.offset, place.shape, RING_ELEMENT, 1);
  tile_load(addend, g->peer + place.offset, place.shape, RING_ELEMENT, 1);
  tile_simt(TILE_SIMT_MUL, own, own, factor);
  tile_simt(TILE_SIMT_ADD, own, own, addend);
  tile_store(own, g->output + place.offset, place.shape, RING_ELEMENT);
}

void ring_follow_on(void) {
  const stretto_ring_arguments_t* g = ARGUMENTS;
  const uint64_t units = (uint64_t)g->tiles * UNITS_OF_TILE;
  const uint64_t id = tile_csr(TILE_CSR_WG_ID), groups = tile_csr(TILE_CSR_GRID);
  const uint32_t end = (uint32_t)((id + 1) * units / groups);
  for (uint32_t unit = (uint32_t)(id * units / groups); unit < end; unit += 2) {
    follow_on(g, unit, TILE_R(0), TILE_R(1), TILE_R(2));
    if (unit + 1 < end) follow_on(g, unit + 1, TILE_R(3), TILE_R(4), TILE_R(5));
  }
  tile_end();
  __builtin_unreachable();
}

// Eight register tiles of 1/8 of a 256 x 128 tile, 4 KiB of scalar registers.
#define RING_REGISTERS ((8 * 4 * ELEMENT_BYTES + 4) * 1024)

STRETTO_KERNEL(ring_reduce_scatter, .type = STRETTO_KERNEL_SIMT, .registers_bytes = RING_REGISTERS,
               .private_bytes = 1024, .wavefronts = 1,
               .kernarg_bytes = sizeof(stretto_ring_arguments_t));
STRETTO_KERNEL(ring_reduce_scatter_nmc, .type = STRETTO_KERNEL_SIMT,
               .registers_bytes = RING_REGISTERS, .private_bytes = 1024, .wavefronts = 1,
               .kernarg_bytes = sizeof(stretto_ring_arguments_t));
STRETTO_KERNEL(ring_all_gather, .type = STRETTO_KERNEL_SIMT, .registers_bytes = RING_REGISTERS,
               .private_bytes = 1024, .wavefronts = 1,
               .kernarg_bytes = sizeof(stretto_ring_arguments_t));
STRETTO_KERNEL(ring_follow_on, .type = STRETTO_KERNEL_SIMT, .registers_bytes = RING_REGISTERS,
               .private_bytes = 1024, .wavefronts = 1,
               .kernarg_bytes = sizeof(stretto_ring_arguments_t));
