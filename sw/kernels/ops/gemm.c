// SPDX-License-Identifier: Apache-2.0
// GEMM family, see gemm.h. Wavefront 0 runs the K loop: with S buffers the loads of S - 1 steps fly while a step is
// multiplied. Then all wavefronts convert and store their rows in pieces, so that registers hold the accumulator and
// little else and two work-groups share a unit where the accumulator permits it.
//
// An edge tile is multiplied as a full tile (what lies beyond an operand reads as zero), like a tensor kernel that
// masks its loads.
#include "sw/kernels/ops/gemm_tile.h"

KERNEL_INLINE _Noreturn void gemm(const config_t* config, k_loop_t run, const int element) {
  const ops_gemm_arguments_t* const g = arguments();
  const uint32_t element_bytes = element == STRETTO_FP32 ? 4 : 2;
  const uint32_t id = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  const uint32_t wavefront = (uint32_t)tile_csr(TILE_CSR_WF_ID);
  const uint32_t wavefronts = (uint32_t)tile_csr(TILE_CSR_WAVEFRONTS);
  const uint32_t tiles = g->tiles_m * g->tiles_n;
  const uint32_t matrix = id / tiles;  // Of all parts.
  const uint32_t part = matrix / g->batch, batch = matrix % g->batch;
  const place_t place = place_of(g, config, batch, id % tiles);
  if (wavefront == 0) {
    const uint32_t steps = (g->k + config->step - 1) / config->step;
    operands_t o = OPERANDS_AT(g, config, place, (uint32_t)((uint64_t)steps * part / g->split),
                               (uint32_t)((uint64_t)steps * (part + 1) / g->split), element_bytes);
    tile_zero(ACCUMULATOR, (uint64_t)config->m | (uint64_t)config->n << 16);
    run(&o, g->layout);
  }
  const uint32_t rows_each = config->m / wavefronts;
  const uint32_t mine = wavefront * rows_each;
  if (wavefront == 0 && g->activation == OPS_GEMM_RELU && g->split == 1)
    tile_zero(ZEROS,
              (uint64_t)(config->piece / (config->n * element_bytes)) | (uint64_t)config->n << 16);
  tile_barrier();
  if (mine < place.rows) {
    const uint32_t out_bytes = g->split > 1 ? 4 : element_bytes;
    output_t o = {.address = matrix_of(g->c, g->c_outer, g->c_stride, place.outer, place.inner),
                  .pitch = g->ldc,
                  .columns = place.columns,
                  .first = mine,
                  .rows = min_u32(rows_each, place.rows - mine),
                  .piece_rows = config->piece / (config->n * out_bytes),
                  .activation = g->activation};
    if (g->split > 1) {
      o.address = g->partials + (uint64_t)matrix * g->m * g->partial_pitch;
      o.pitch = g->partial_pitch;
      o.activation = OPS_GEMM_NO_ACTIVATION;
    } else {
      if (g->bias != 0) o.bias = g->bias + place.column * element_bytes;
      if (g->addend != 0) o.addend = g->addend - g->c + o.address;
    }
    const uint64_t inside = (uint64_t)(place.row + mine) * o.pitch + place.column * out_bytes;
    o.address += inside;
    if (o.addend != 0) o.addend += inside;
    if (g->split > 1)
      store_rows(&o, STRETTO_FP32);
    else
      store_rows(&o, element);
  }
  tile_end();
  __builtin_unreachable();
}

GEMM_ELEMENTS(gemm)
#define TILE(...) GEMM_TILE(, OPS_GEMM_ARGUMENT_BYTES, __VA_ARGS__)
OPS_GEMM_TILES(TILE)

// Sums of parts: a product with a row of ones, on the SIMT pipe, in FP32 and in the order of the parts.
KERNEL_INLINE _Noreturn void reduce(const int element) {
  const ops_gemm_arguments_t* const g = arguments();
  const uint32_t id = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  const uint32_t chunks = (g->n + g->reduce_columns - 1) / g->reduce_columns;
  const uint32_t line = id / chunks, column = id % chunks * g->reduce_columns;  // Of all matrices.
  const uint32_t columns = min_u32(g->reduce_columns, g->n - column);
  const uint32_t element_bytes = element == STRETTO_FP32 ? 4 : 2;
  const uint32_t parts = g->reduce_parts, split = g->split;
  const uint64_t plane = (uint64_t)g->batch * g->m * g->partial_pitch;
  uint64_t from = g->partials + (uint64_t)line * g->partial_pitch + column * 4;
  const uint64_t ones = (uint64_t)1 << 16 | (uint64_t)parts << 48;
  tile_zero(ACCUMULATOR, 1 | (uint64_t)columns << 16);
  tile_zero(ZEROS, 1 | (uint64_t)g->reduce_columns << 16);
  tile_epilogue(TILE_R(3), ZEROS, ones, STRETTO_FP32);
  tile_simt(TILE_SIMT_EXP, TILE_R(3), TILE_R(3), TILE_R(3));
  for (uint32_t at = 0; at < split; at += 2 * parts) {
    tile_load(TILE_R(0), from, tile_shape(min_u32(parts, split - at), columns * 4, plane),
              STRETTO_FP32, 0);
    from += parts * plane;
    if (at + parts < split) {
      tile_load(TILE_R(1), from, tile_shape(min_u32(parts, split - at - parts), columns * 4, plane),
                STRETTO_FP32, 0);
      from += parts * plane;
    }
    tile_mma(ACCUMULATOR, TILE_R(3), TILE_R(0), 0, 0, STRETTO_FP32);
    if (at + parts < split) tile_mma(ACCUMULATOR, TILE_R(3), TILE_R(1), 0, 0, STRETTO_FP32);
  }
  const uint64_t size = (uint64_t)1 << 16 | (uint64_t)columns << 48;
  const uint64_t shape = tile_shape(1, columns * element_bytes, 0);
  tile_epilogue(TILE_R(2), ACCUMULATOR, size, element);
  if (g->bias != 0) {
    tile_load(TILE_R(4), g->bias + column * element_bytes, shape, element, 0);
    tile_simt(TILE_SIMT_ADD, TILE_R(2), TILE_R(2), TILE_R(4));
  }
  const uint32_t batch = line / g->m, row = line % g->m;
  const uint64_t to = matrix_of(g->c, g->c_outer, g->c_stride, batch / g->inner, batch % g->inner) +
                      (uint64_t)row * g->ldc + column * element_bytes;
  if (g->addend != 0) {
    tile_load(TILE_R(4), g->addend - g->c + to, shape, element, 0);
    tile_simt(TILE_SIMT_ADD, TILE_R(2), TILE_R(2), TILE_R(4));
  }
  activate(TILE_R(2), TILE_R(4), g->activation, size, element);
  tile_store(TILE_R(2), to, shape, element);
  tile_end();
  __builtin_unreachable();
}

#define REDUCE(name, element)                                                        \
  void gemm_reduce_##name(void) { reduce(element); }                                 \
  STRETTO_KERNEL(gemm_reduce_##name, .type = STRETTO_KERNEL_SIMT,                    \
                 .registers_bytes = OPS_GEMM_REDUCE_REGISTERS, .private_bytes = 256, \
                 .wavefronts = 1, .kernarg_bytes = OPS_GEMM_ARGUMENT_BYTES)
REDUCE(fp16, STRETTO_FP16);
#ifndef OPS_FP16_ALONE
REDUCE(bf16, STRETTO_BF16);
REDUCE(fp32, STRETTO_FP32);
#endif
