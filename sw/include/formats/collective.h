// SPDX-License-Identifier: Apache-2.0
// A communicator as kernels see it: the block of memory that each rank owns, and what a launch says
// about it. C and C++: kernels (sw/kernels/stretto_comm.h), the host library (sw/collectives),
// tests.
//
// A link joins two ranks in one channel and has a FIFO of slots at each end, for what comes in.
// Ranks have equal layouts at equal offsets of their GPU's memory:
//
//   words    of link (peer, channel): 64 bytes, see STRETTO_LINK_*
//   flags    receive flags of the request ring (engine gdma)
//   fifo     of link (peer, channel): `slots` slots of `slot_bytes`, written by the peer
//   staging  likewise, for what leaves by DMA (engine gdma)
//   lines    of link (peer, channel): `slots` slots of STRETTO_LINES_SLOT, written by the peer
//
// Protocols of engine mmio. simple: the bytes of a slot, then a word that says so. ll: lines with
// the slot's number + 1 as flag in each (sw/include/tile.h); no word follows. Each has slots,
// numbers and credit of its own.
//
// Slot number n (from 0) of a link lies in slot n % slots. Words written by a peer only grow.
#ifndef STRETTO_SW_INCLUDE_FORMATS_COLLECTIVE_H_
#define STRETTO_SW_INCLUDE_FORMATS_COLLECTIVE_H_

#ifdef __cplusplus
#include <cstdint>
#define STRETTO_COMM_ASSERT static_assert
#else
#include <stdint.h>
#define STRETTO_COMM_ASSERT _Static_assert
#endif

#include "sw/include/formats/send_request.h"

#define STRETTO_COMM_MAX_RANKS 64
#define STRETTO_COMM_MAX_CHANNELS 32

// How a slot gets to the peer.
#define STRETTO_ENGINE_MMIO 0  // Tile stores into the peer's FIFO, a locked store as flag.
#define STRETTO_ENGINE_GDMA 1  // A send request: the DMA engine copies, its receive flag tells.
#define STRETTO_ENGINE_DMA 2   // No slots: the host has the DMA engine copy whole blocks by steps.
#define STRETTO_ENGINE_T3 3    // Likewise; the Tracker lets the DMA engine send the updates.

// Of engine mmio, see above.
#define STRETTO_PROTOCOL_SIMPLE 0
#define STRETTO_PROTOCOL_LL 1

// Words of a link.
#define STRETTO_LINK_BYTES 64
#define STRETTO_LINK_ARRIVED 0    // mmio: slots that the peer has filled; written by the peer.
#define STRETTO_LINK_CREDIT 8     // Slots that the peer has emptied; written by the peer.
#define STRETTO_LINK_SENT 16      // Between launches: slots sent and
#define STRETTO_LINK_RECEIVED 20  // received, 32 bits each.
#define STRETTO_LINK_READY 24  // Number of the last launch that the peer has begun; written by it.
#define STRETTO_LINK_LINES 32  // From here on credit, sent and received of protocol ll, likewise.

// Which ranks have links.
#define STRETTO_LINKS_RING 0    // To rank + 1 slots leave, from rank - 1 they come.
#define STRETTO_LINKS_DIRECT 1  // Between all pairs.

// Of protocol ll: bytes that a slot takes in memory, and of data.
#define STRETTO_LINES_SLOT 8192u
#define STRETTO_LINES_DATA 7168u

typedef struct stretto_comm {
  uint64_t block;   // Of this rank.
  uint64_t window;  // gdma: send window, ticket word and head replica of this GPU.
  uint64_t ticket;
  uint64_t replica;
  uint16_t rank;
  uint16_t ranks;
  uint16_t channels;
  uint16_t slots;       // Of a FIFO; even, at least 2.
  uint32_t slot_bytes;  // A multiple of STRETTO_COMM_UNIT.
  uint8_t engine;
  uint8_t links;
  uint8_t first_id;          // gdma: lowest buffer id of FIFOs.
  uint8_t staging_id;        // gdma: lowest buffer id of staging areas, one a link.
  uint8_t first_connection;  // gdma: of the request ring.
  uint8_t direct_id;         // gdma: lowest buffer id for targets, 0 = there are none.
  uint8_t reserved[2];
  // mmio: a link carries up to so many bytes a hop by protocol ll; 0: no room for it.
  uint32_t lines_bytes;
  uint8_t gpu[STRETTO_COMM_MAX_RANKS];  // Of each rank.
} stretto_comm_t;

// gdma: what send requests count in, as a power of two.
#define STRETTO_COMM_UNIT_SHIFT 6
#define STRETTO_COMM_UNIT (1u << STRETTO_COMM_UNIT_SHIFT)

static inline uint64_t stretto_comm_link(const stretto_comm_t* comm, uint32_t peer,
                                         uint32_t channel) {
  return (uint64_t)peer * comm->channels + channel;
}
static inline uint64_t stretto_comm_fifo_bytes(const stretto_comm_t* comm) {
  return (uint64_t)comm->slots * comm->slot_bytes;
}
// Offsets in a rank's block.
static inline uint64_t stretto_comm_flags_at(const stretto_comm_t* comm) {
  return (uint64_t)comm->ranks * comm->channels * STRETTO_LINK_BYTES;
}
static inline uint64_t stretto_comm_fifo_at(const stretto_comm_t* comm) {
  return (stretto_comm_flags_at(comm) + STRETTO_SEND_FLAG_BYTES + 4095) & ~(uint64_t)4095;
}
static inline uint64_t stretto_comm_staging_at(const stretto_comm_t* comm) {
  return stretto_comm_fifo_at(comm) +
         (uint64_t)comm->ranks * comm->channels * stretto_comm_fifo_bytes(comm);
}
// Engines dma and t3 have words only, and constants.
#define STRETTO_COMM_STEP_BYTES 4096u
#define STRETTO_COMM_SCALE_BYTES 8192u  // Of an element type, each one divided by the ranks.
static inline int stretto_comm_has_links(const stretto_comm_t* comm) {
  return comm->engine == STRETTO_ENGINE_MMIO || comm->engine == STRETTO_ENGINE_GDMA;
}
// Place of the constants of FP16, BF16, FP32: by which the sum of an average is multiplied.
static inline uint64_t stretto_comm_scale_at(const stretto_comm_t* comm) {
  const uint64_t staging = comm->engine == STRETTO_ENGINE_GDMA
                               ? stretto_comm_staging_at(comm) - stretto_comm_fifo_at(comm)
                               : 0;
  return stretto_comm_has_links(comm) ? stretto_comm_staging_at(comm) + staging
                                      : STRETTO_COMM_STEP_BYTES;
}
// The slots of protocol ll of one link.
static inline uint64_t stretto_comm_lines_fifo_bytes(const stretto_comm_t* comm) {
  return comm->lines_bytes == 0 ? 0 : (uint64_t)comm->slots * STRETTO_LINES_SLOT;
}
static inline uint64_t stretto_comm_lines_at(const stretto_comm_t* comm) {
  return stretto_comm_scale_at(comm) + 3 * STRETTO_COMM_SCALE_BYTES;
}
static inline uint64_t stretto_comm_block_bytes(const stretto_comm_t* comm) {
  return stretto_comm_lines_at(comm) +
         (uint64_t)comm->ranks * comm->channels * stretto_comm_lines_fifo_bytes(comm);
}

// Engine gdma. A FIFO has the same id at the rank that fills it (buffer) and at the rank that
// empties it (receive flag): no two FIFOs that one rank fills, and no two that it empties, share
// one. Each link out of a rank has a number, and a connection and a staging area of its own: the
// numbers of its requests are those of its slots.
static inline uint32_t stretto_comm_buffer_id(const stretto_comm_t* comm, uint32_t from,
                                              uint32_t to, uint32_t channel) {
  const uint32_t pair = comm->links == STRETTO_LINKS_RING ? 0 : (from + to) % comm->ranks;
  return comm->first_id + pair * comm->channels + channel;
}
static inline uint32_t stretto_comm_outgoing(const stretto_comm_t* comm, uint32_t peer,
                                             uint32_t channel) {
  const uint32_t distance = (peer + comm->ranks - comm->rank) % comm->ranks;
  return (comm->links == STRETTO_LINKS_RING ? 0 : distance - 1) * comm->channels + channel;
}

typedef enum stretto_collective_op {
  STRETTO_ALL_REDUCE,
  STRETTO_REDUCE_SCATTER,
  STRETTO_ALL_GATHER,
  STRETTO_ALL_TO_ALL,
  STRETTO_BROADCAST,
  STRETTO_REDUCE,
  STRETTO_COLLECTIVES,
} stretto_collective_op_t;

typedef enum stretto_reduction {
  STRETTO_REDUCTION_SUM,
  STRETTO_REDUCTION_PROD,
  STRETTO_REDUCTION_MAX,
  STRETTO_REDUCTION_MIN,
  STRETTO_REDUCTIONS,
} stretto_reduction_t;

// Whether a ring of GPUs has a link between these two.
static inline int stretto_ring_neighbours(uint32_t gpus, uint32_t a, uint32_t b) {
  const uint32_t distance = a < b ? b - a : a - b;
  return distance <= 1 || distance == gpus - 1;
}

// Shares and blocks of a collective begin at multiples of this.
static inline uint64_t stretto_collective_alignment(uint32_t direct_shift) {
  return direct_shift > 8 ? (uint64_t)1 << direct_shift : 256;
}

// Kernel `collective`. Counts are those of NCCL: of a rank's block for all-gather (sent),
// reduce-scatter (received) and all-to-all (a pair's), else of the whole buffer.
typedef struct stretto_collective_arguments {
  stretto_comm_t comm;
  uint64_t source;
  uint64_t target;
  uint64_t count;     // Elements.
  uint64_t number;    // Of this launch; grows.
  uint64_t scale;     // Constants by which the sum is multiplied, 0 = none.
  uint8_t op;         // stretto_collective_op_t.
  uint8_t reduction;  // stretto_reduction_t.
  uint8_t element;    // ElementType of machine_types.h.
  uint8_t element_bytes;
  uint16_t root;
  uint8_t
      direct_id;  // gdma, ring: what is passed on goes from target to target, without FIFOs: buffer
                  // id of the own target, + 1 + channel of the next rank's. 0 = does not.
  uint8_t direct_shift;  // Unit of those buffers, a power of two; blocks are whole units.
} stretto_collective_arguments_t;

// Kernel `send_receive`: what goes to each rank and what comes from it; bytes = 0: nothing.
typedef struct stretto_transfer {
  uint64_t source;
  uint64_t source_bytes;
  uint64_t target;
  uint64_t target_bytes;
} stretto_transfer_t;

typedef struct stretto_send_receive_arguments {
  stretto_comm_t comm;
  stretto_transfer_t with[STRETTO_COMM_MAX_RANKS];
} stretto_send_receive_arguments_t;

// Kernel `combine`: target <- (a op b) * scale; work-groups share the bytes.
typedef struct stretto_combine_arguments {
  uint64_t target;
  uint64_t a;
  uint64_t b;
  uint64_t bytes;
  uint64_t scale;  // As above.
  uint8_t element;
  uint8_t reduction;
  uint8_t reserved[6];
} stretto_combine_arguments_t;

// Kernel `contribute`, whose work-group t writes tile t of an output that the Tracker counts:
// blocks of the source, each as whole tiles, zeros behind its end.
typedef struct stretto_contribute_arguments {
  uint64_t source;
  uint64_t output;
  uint64_t zeros;        // STRETTO_COMM_UNIT bytes.
  uint64_t block_bytes;  // Of the source.
  uint64_t total_bytes;  // All blocks; the last ones may have fewer, or none.
  uint32_t tile_bytes;
  uint32_t block_tiles;
  uint8_t element;
  uint8_t reserved[7];
} stretto_contribute_arguments_t;

STRETTO_COMM_ASSERT(sizeof(stretto_combine_arguments_t) == 48, "read by kernels");
STRETTO_COMM_ASSERT(sizeof(stretto_contribute_arguments_t) == 56, "read by kernels");
STRETTO_COMM_ASSERT(sizeof(stretto_comm_t) == 120, "read by kernels");
STRETTO_COMM_ASSERT(sizeof(stretto_collective_arguments_t) == 168, "read by kernels");
STRETTO_COMM_ASSERT(sizeof(stretto_send_receive_arguments_t) == 120 + 32 * 64, "read by kernels");
#undef STRETTO_COMM_ASSERT

#endif  // STRETTO_SW_INCLUDE_FORMATS_COLLECTIVE_H_
