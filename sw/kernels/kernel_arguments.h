// SPDX-License-Identifier: Apache-2.0
// Arguments of the kernels in this folder, as they lie in memory at the kernarg address. C and C++
// (applications, tests).
#ifndef STRETTO_SW_KERNELS_KERNEL_ARGUMENTS_H_
#define STRETTO_SW_KERNELS_KERNEL_ARGUMENTS_H_

#ifdef __cplusplus
#include <cstdint>
#else
#include <stdint.h>
#endif

// C[m, n] = sum over k of A[m, k] B[k, n], FP16 or FP8 with FP32 accumulation. Work-group t computes
// output tile t of the order (tile_order.h).
typedef struct stretto_gemm_arguments {
  uint64_t a;
  uint64_t b;
  uint32_t lda;  // Bytes between rows of A as it is stored (K x M if GEMM_A_KM, else M x K).
  uint32_t ldb;  // Bytes between rows of B as it is stored (N x K if GEMM_B_NK, else K x N).
  uint32_t m;
  uint32_t n;
  uint32_t k;
  uint32_t layout;   // GEMM_A_KM, GEMM_B_NK, order << GEMM_ORDER_SHIFT.
  uint32_t ldc;      // Bytes between rows of C.
  uint32_t tiles_n;  // ceil(n / columns of a tile).
  uint64_t c;
} stretto_gemm_arguments_t;

// gemm_split.elf, split-K: work-groups t * split .. t * split + split - 1 add to tile t, each the
// product of its part of K. Tiles whole_first .. whole_first + whole_count - 1 are not split (what
// is stored straight to a peer must arrive once): the first of their work-groups does all, the
// others nothing.
typedef struct stretto_gemm_split_arguments {
  stretto_gemm_arguments_t gemm;
  uint32_t split;  // At most ceil(k / 32).
  uint32_t whole_first;
  uint32_t whole_count;
  uint32_t reserved;
} stretto_gemm_split_arguments_t;

#define GEMM_A_KM 1u
#define GEMM_B_NK 2u
#define GEMM_ORDER_SHIFT 8u
#define GEMM_TILE_N 128u
#define GEMM_WAVEFRONTS 8u

// Kernel of gemm.elf whose tiles have so many rows, or null.
static inline const char* gemm_kernel_of_tile(uint32_t tile_m) {
  return tile_m == 16    ? "gemm_16x128"
         : tile_m == 128 ? "gemm_128x128"
         : tile_m == 256 ? "gemm_256x128"
                         : 0;
}

// The ring kernels. An output of m x n elements is cut into tiles and the tiles, in the
// order `order`, into `ranks` chunks: chunk c = tiles c * tiles / ranks .. (c + 1) * tiles / ranks - 1. Rank
// r sends to r - 1 and receives from r + 1.
typedef struct stretto_ring_arguments {
  uint64_t output;      // Own array.
  uint64_t receive;     // reduce_scatter: own receive array, laid out like the output; follow_on:
                        // what is multiplied; else 0.
  uint64_t peer;        // reduce_scatter: receive array of rank r - 1; follow_on: own array that is
                        // added; else the output of rank r - 1.
  uint64_t flags;       // Own flags: ranks x work-groups words of 8 bytes, written by rank r + 1.
  uint64_t peer_flags;  // Those of rank r - 1.
  uint64_t flag_value;  // Written to flags; larger than any value they held before.
  uint32_t m;
  uint32_t n;
  uint32_t pitch;  // Bytes between rows of all arrays.
  uint32_t along;  // Tiles along a strip of the order.
  uint32_t tiles;
  uint16_t tile_m;  // A multiple of 8.
  uint16_t tile_n;
  uint32_t rank;
  uint32_t ranks;
  uint32_t order;  // Of tiles (tile_order.h).
  uint32_t reserved;
} stretto_ring_arguments_t;

// Where a kernel sends (send.h).
typedef struct stretto_send_ring {
  uint64_t window;   // Send window: of this GPU, of a card, or a ring in host memory.
  uint64_t ticket;   // Word in this GPU to which every sender of the ring adds.
  uint64_t replica;  // Head replica, in this GPU.
  uint64_t depth;    // Of the ring: requests that may be on their way.
} stretto_send_ring_t;

// send_stream: one wavefront sends `count` times the request, its offset growing by `step` modulo
// `wrap`, the last time with the wish for both flags, and waits until `flag` is `flag_base` + count.
// It notes the cycle of the first request in stamps[0]. receive_stream: waits for the flag, too, at
// the receiver, and notes its cycle in stamps[0]. ping_pong: `count` times, the initiator sends and
// waits until `flag` has grown by one, the other one waits and sends. Both note the cycle of the
// first request and of the last flag in stamps[0] and [1].
typedef struct stretto_message_arguments {
  stretto_send_ring_t ring;
  uint64_t request;
  uint64_t flag;       // Word of the flag that is waited for.
  uint64_t flag_base;  // Its value before.
  uint64_t stamps;
  uint32_t count;
  uint32_t step;
  uint32_t wrap;
  uint32_t initiator;
} stretto_message_arguments_t;

// exchange: `calls` times a block to each of `peers` others, in the order of their numbers, and one
// from each; work-group w of G has peers w, w + G, ..., the first makes collective requests. It goes
// on to the next call when those of `ahead` calls at most are under way, and notes the cycle of the
// request after `warm_up` calls in stamps[2w], that of the last block in stamps[2w + 1]. The request
// is that of peer 0 and call 0, with the wish for the receive flag; with the number of the peer its
// ids and connection grow, with the call its offset.
typedef struct stretto_exchange_arguments {
  stretto_send_ring_t ring;
  uint64_t request;
  uint64_t flags;      // Receive flags, by peer.
  uint64_t flag_base;  // Their value before.
  uint64_t stamps;
  uint32_t peers;
  uint32_t step;  // Units of a buffer from a call to the next.
  uint32_t calls;
  uint32_t warm_up;  // Below calls.
  uint32_t ahead;    // At least 1.
  uint32_t form;     // STRETTO_EXCHANGE_*.
} stretto_exchange_arguments_t;

#define STRETTO_EXCHANGE_REQUESTS 0u         // A ticket and a request to each peer.
#define STRETTO_EXCHANGE_TICKETS_AT_ONCE 1u  // All tickets of a call, and a request to each peer.
#define STRETTO_EXCHANGE_COLLECTIVE 2u       // All tickets of a call, and one collective request.

// stamp: notes the cycle.
typedef struct stretto_stamp_arguments {
  uint64_t address;
} stretto_stamp_arguments_t;

// load_l2, load_issue.
typedef struct stretto_load_arguments {
  uint64_t base;
  uint32_t bytes;    // A multiple of 16 KiB.
  uint32_t repeats;  // load_l2: rounds of four tiles of 4 KiB; load_issue: of 16 additions.
  uint64_t clocks;   // Of each work-group, those of its begin and its end.
} stretto_load_arguments_t;

// send_requests: work-group w of G stores requests w, w + G, ... and then waits for words w, w + G,
// ...
typedef struct stretto_send_arguments {
  stretto_send_ring_t ring;
  uint64_t requests;  // Array of send requests.
  uint64_t waits;     // Array of pairs: address of a word here, value that it must reach.
  uint32_t count;     // Requests.
  uint32_t wait_count;
} stretto_send_arguments_t;

#ifdef __cplusplus
static_assert(sizeof(stretto_send_arguments_t) == 56 && sizeof(stretto_message_arguments_t) == 80 &&
                  sizeof(stretto_exchange_arguments_t) == 88,
              "read by kernels");
static_assert(sizeof(stretto_gemm_arguments_t) == 56 &&
                  sizeof(stretto_gemm_split_arguments_t) == 72 &&
                  sizeof(stretto_ring_arguments_t) == 88,
              "read by kernels");
#else
_Static_assert(sizeof(stretto_send_arguments_t) == 56 &&
                   sizeof(stretto_message_arguments_t) == 80 &&
                   sizeof(stretto_exchange_arguments_t) == 88,
               "read by kernels");
_Static_assert(sizeof(stretto_gemm_arguments_t) == 56 &&
                   sizeof(stretto_gemm_split_arguments_t) == 72 &&
                   sizeof(stretto_ring_arguments_t) == 88,
               "read by kernels");
#endif

#endif  // STRETTO_SW_KERNELS_KERNEL_ARGUMENTS_H_
