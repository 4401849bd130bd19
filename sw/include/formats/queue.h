// SPDX-License-Identifier: Apache-2.0
// Queues between the host driver and the firmware of a GPU: HSA AQL packets of 64 bytes, vendor
// packets of the same size, doorbells and completion signals. C (firmware), C and C++ (driver,
// models, tests) read this file.
//
// A queue is a ring of 64 packets in GPU memory at a fixed place. The driver writes bytes 4..63 of
// a packet, then its first four bytes (the header last, with release), then the packet's index to
// the doorbell of the queue through the doorbell aperture. Packet i lies in slot i % 64. The
// firmware handles the packets of a queue in order; a dispatch, fill or wait goes on in the
// background, and a packet whose barrier bit is set waits until all earlier ones of its queue are
// complete. After a packet is taken the firmware marks its slot invalid and writes the number of
// packets taken to the queue's read index in host memory, so a driver that keeps write index - read
// index <= 64 never overwrites a packet.
//
// Completion signal: the address of a 64-bit word in host memory (0 = none), set to 1 by the driver
// before it submits. The firmware writes 0 for success or a negative stretto_status_t. Complete
// means, for a dispatch: the kernel has ended and, released at system scope, left nothing dirty in
// the L2 (a barrier: nor has all before it); a fill: the bytes are in memory; a map or
// configuration: the registers are programmed; a collective wait: every DMA-mapped tile has left
// over the link and every tracked local tile has received all its updates.
#ifndef STRETTO_SW_INCLUDE_FORMATS_QUEUE_H_
#define STRETTO_SW_INCLUDE_FORMATS_QUEUE_H_

#ifdef __cplusplus
#include <cstdint>
#define STRETTO_STATIC_ASSERT static_assert
#else
#include <stdint.h>
#define STRETTO_STATIC_ASSERT _Static_assert
#endif

// Places. The first MiB of every GPU's memory is the system's: rings, then the firmware's.
#define STRETTO_SYSTEM_BYTES 0x100000
#define STRETTO_QUEUE_COUNT 15
#define STRETTO_WAKE_DOORBELL 15  // Of no queue: makes the firmware look at held packets again.
#define STRETTO_QUEUE_PACKETS 64
#define STRETTO_QUEUE_OFFSET(queue) (0x10000 + (queue)*0x1000)
// Host memory, 64 KiB a GPU: read indices, signals (256 a queue), words of the host's threads.
#define STRETTO_HOST_WINDOW_BYTES 0x10000
#define STRETTO_READ_INDEX_OFFSET(gpu, queue) ((gpu)*STRETTO_HOST_WINDOW_BYTES + (queue)*8)
#define STRETTO_SIGNAL_OFFSET(gpu, index) ((gpu)*STRETTO_HOST_WINDOW_BYTES + 0x1000 + (index)*8)
#define STRETTO_SIGNALS_PER_QUEUE 256
#define STRETTO_HOST_WORD_OFFSET(gpu, index) ((gpu)*STRETTO_HOST_WINDOW_BYTES + 0xF000 + (index)*8)
#define STRETTO_SIGNAL_PENDING 1
// From here on host memory is for the applications: words that GPUs write, rings that CPUs read.
#define STRETTO_HOST_APPLICATION_OFFSET 0x1000000
// Jobs that share the host, and what each has of that and of the words with which threads meet.
#define STRETTO_MAX_JOBS 5
#define STRETTO_HOST_JOB_BYTES 0x3C00000
#define STRETTO_HOST_JOB_OFFSET(job) \
  (STRETTO_HOST_APPLICATION_OFFSET + (job) * (uint64_t)STRETTO_HOST_JOB_BYTES)
#define STRETTO_HOST_JOB_WORDS 2

// Header (HSA 1.2, 2.9): type [7:0], barrier [8], acquire scope [10:9], release scope [12:11].
#define STRETTO_PACKET_VENDOR 0
#define STRETTO_PACKET_INVALID 1
#define STRETTO_PACKET_KERNEL_DISPATCH 2
#define STRETTO_PACKET_BARRIER_AND 3
#define STRETTO_PACKET_BARRIER (1u << 8)
#define STRETTO_SCOPE_DEVICE 1u  // Of this GPU: the L2 is left alone.
#define STRETTO_SCOPE_SYSTEM 2u  // MEMORY_MODEL.md.
#define STRETTO_PACKET_SCOPES(acquire, release) ((acquire) << 9 | (release) << 11)
#define STRETTO_PACKET_ACQUIRE(header) ((header) >> 9 & 3u)
#define STRETTO_PACKET_RELEASE(header) ((header) >> 11 & 3u)

typedef enum stretto_status {
  STRETTO_OK = 0,
  STRETTO_ERROR_PACKET = -1,      // Unknown packet type or vendor operation.
  STRETTO_ERROR_ARGUMENT = -2,    // A field is out of range.
  STRETTO_ERROR_OVERLAP = -3,     // The map overlaps an earlier one.
  STRETTO_ERROR_UNMAPPED = -4,    // An address or tile is outside of what was configured.
  STRETTO_ERROR_TABLE_FULL = -5,  // Range table, DMA table, kernel slots or descriptor queue.
  STRETTO_ERROR_RESOURCES = -6,   // The kernel needs more than a compute unit has.
  STRETTO_ERROR_KERNEL = -7,      // No kernel descriptor at that address.
  STRETTO_ERROR_DEVICE = -8,      // A device reported an error.
  STRETTO_ERROR_FAULT = -9,       // A wavefront or access faulted.
  STRETTO_ERROR_STATE =
      -10,  // Not possible now (an allocation with mapped tiles is freed, no output configured).
} stretto_status_t;

// HSA kernel dispatch packet. A work-item is a wavefront: workgroup_size_x is the wavefronts of a
// work-group, grid_size_x the wavefronts of a row of the grid; work-groups have one dimension
// (workgroup_size_y = z = 1), grids up to three (setup). Ids count along x first, then y, then z.
typedef struct stretto_dispatch_packet {
  uint16_t header;
  uint16_t setup;
  uint16_t workgroup_size_x;
  uint16_t workgroup_size_y;
  uint16_t workgroup_size_z;
  uint16_t flags;  // STRETTO_DISPATCH_* (reserved in HSA).
  uint32_t grid_size_x;
  uint32_t grid_size_y;
  uint32_t grid_size_z;
  uint32_t private_segment_bytes;  // 0 = what the descriptor says.
  uint32_t group_segment_bytes;    // 0 = what the descriptor says.
  uint64_t kernel_object;          // Address of the kernel descriptor in GPU memory.
  uint64_t kernarg_address;
  uint64_t order;  // STRETTO_ORDER (reserved in HSA).
  uint64_t completion_signal;
} stretto_dispatch_packet_t;

#define STRETTO_DISPATCH_UPDATE \
  (1u << 0)  // Tile stores into range entries carry the update bit (T3-NMC-03).
#define STRETTO_DISPATCH_ACCOUNT_SHIFT 4  // Account of the kernel's memory accesses, 4 bits.
#define STRETTO_DISPATCH_ACCOUNT_MASK 0xF0u
#define STRETTO_DISPATCH_COMMUNICATION (1u << 8)  // Accesses use the communication stream.
// Ids leave in the order first + (stagger + i) mod count; count 0 = all of the grid. With `batch`,
// work-group first + p waits until gate p / batch is open (stretto_gates_t); 0 = it waits for none.
#define STRETTO_ORDER(first, count, stagger, batch)                              \
  ((uint64_t)(first) | ((uint64_t)(count) << 16) | ((uint64_t)(stagger) << 33) | \
   ((uint64_t)(batch) << 49))
#define STRETTO_ORDER_FIRST(order) ((uint32_t)((order)&0xFFFF))
#define STRETTO_ORDER_COUNT(order) ((uint32_t)(((order) >> 16) & 0x1FFFF))
#define STRETTO_ORDER_STAGGER(order) ((uint32_t)(((order) >> 33) & 0xFFFF))
#define STRETTO_ORDER_BATCH(order) ((uint32_t)(((order) >> 49) & 0x7FFF))
#define STRETTO_ORDER_MAX_BATCH 0x7FFFu
// With this flag `order` is first | count << 32, without stagger and gates: for ids above 65,535.
#define STRETTO_DISPATCH_RANGE (1u << 9)
// Type of the kernel for the scheduler's arbiters (KT-SCHED-03): 0 = as its descriptor says, else
// STRETTO_DISPATCH_TYPE(STRETTO_KERNEL_SIMT or _TENSOR).
#define STRETTO_DISPATCH_TYPE(type) (((type) + 1u) << 10)
#define STRETTO_DISPATCH_TYPE_OF(flags) ((flags) >> 10 & 3u)
#define STRETTO_RANGE(first, count) ((uint64_t)(first) | ((uint64_t)(count) << 32))
#define STRETTO_MAX_GRID 0x7FFFFFFFu  // Work-groups; those of a kernel with updates: 65,536.
#define STRETTO_MAX_GRID_YZ 0xFFFFu   // Each of y and z.
#define STRETTO_GATES 1024u           // That a GPU has.

// HSA barrier-and packet. A dependent signal is a 64-bit word in the GPU's own memory and must
// become 0. poll_ns = 0: whoever writes it rings a doorbell of this GPU afterwards (SIGNAL rings
// STRETTO_WAKE_DOORBELL); else the firmware looks again every poll_ns and at no other time.
typedef struct stretto_barrier_packet {
  uint16_t header;
  uint16_t reserved0;
  uint32_t reserved1;
  uint64_t dep_signal[5];
  uint64_t poll_ns;  // Reserved in HSA.
  uint64_t completion_signal;
} stretto_barrier_packet_t;

typedef enum stretto_operation {
  STRETTO_OP_FILL = 1,  // The DMA engine writes a pattern.
  STRETTO_OP_LOCAL_MAP =
      2,  // An allocation with its class; or tiles that are tracked and stay here.
  STRETTO_OP_REMOTE_MAP = 3,     // Addresses or tiles whose stores go to a peer (T3-CFG-02).
  STRETTO_OP_DMA_MAP = 4,        // Tiles that the DMA sends when they are complete (T3-CFG-03).
  STRETTO_OP_OUTPUT_CONFIG = 5,  // Shape of the output that tiles refer to; programs the Tracker.
  STRETTO_OP_SPILL_TABLE = 6,    // Memory for the Tracker's overflow; must be zero.
  STRETTO_OP_MCA_CONFIG = 7,     // Arbitration between computation and communication.
  STRETTO_OP_RESET_MAPS =
      8,  // Forgets output, tiles and Tracker state; allocations too if the flag is set.
  STRETTO_OP_COLLECTIVE_WAIT = 9,   // Completes when every mapped tile is sent or locally complete.
  STRETTO_OP_RING_CONFIG = 10,      // Empties and starts the request ring, maps its send window.
  STRETTO_OP_RING_CONNECTION = 11,  // Sets up a connection of the request ring.
  STRETTO_OP_RING_BUFFER = 12,  // Registers a buffer of this GPU or of a peer, or takes it back.
  STRETTO_OP_COPY = 13,         // The DMA engine copies bytes of this GPU to any memory.
  STRETTO_OP_SIGNAL = 14,       // Tells another GPU that everything before it is complete.
  STRETTO_OP_GATES = 15,        // What opens the gates that work-groups wait for.
  STRETTO_OP_UNMAP = 16,        // Forgets the allocation or remote range that begins at map.base.
  STRETTO_OP_PRIORITY = 17,     // Of the queue that it is in.
  STRETTO_OP_PREEMPT = 18,      // Stops the kernels of another queue between work-groups.
  STRETTO_OP_RESUME = 19,       // Lets them go on.
  STRETTO_OP_PIPELINE = 20,     // The dispatches behind it are one pipeline.
  STRETTO_OP_SCHEDULER_POLICY = 21,  // How the GPU serves kernels.
  STRETTO_OP_L2_PERSIST = 22,        // What stays in the L2.
  STRETTO_OP_SHARE = 23,             // Which queues the command processor schedules by itself.
  STRETTO_OP_TIME_SLICE = 24,        // Which queues have the GPU in turn.
  STRETTO_OP_NETWORK = 25,           // Starts and stops the network service.
} stretto_operation_t;

typedef struct stretto_fill {
  uint64_t address;  // Multiple of 8, in this GPU.
  uint64_t bytes;    // Multiple of 8.
  uint64_t pattern;
  uint8_t account;  // Below STRETTO_ACCOUNTS.
  uint8_t reserved0[7];
  uint64_t reserved[2];
} stretto_fill_t;

typedef struct stretto_copy {
  uint64_t source;       // In this GPU.
  uint64_t destination;  // Here, in a peer or in host memory.
  uint64_t bytes;        // Any number but 0.
  uint8_t account;       // Below STRETTO_ACCOUNTS.
  uint8_t reserved0[7];
  uint64_t reserved[2];
} stretto_copy_t;

// A word of 8 bytes in memory of this GPU, a peer or the host. With the barrier bit it is written
// behind all that the packets before it have sent to that GPU.
typedef struct stretto_signal {
  uint64_t address;  // Multiple of 8; 0, with `time`: no word.
  uint64_t value;
  uint64_t time;  // Word of host memory that gets the clock of the command processor, nanoseconds,
                  // before; 0 = none.
  uint64_t reserved[3];
} stretto_signal_t;

// LOCAL_MAP, REMOTE_MAP and DMA_MAP. Without STRETTO_MAP_TILES a rectangle of bytes (rows = 1 for a
// plain range), else output tiles first_tile .. first_tile + tile_count - 1 of the configured
// output.
typedef struct stretto_map {
  uint64_t base;       // Rectangle: 48-bit address of its first byte. OPERAND: element (0, 0).
  uint64_t peer_base;  // Where `base` (rectangle) or element (0, 0) of the output (tiles) lies at
                       // the peer.
  uint64_t row_bytes;
  uint32_t pitch;
  uint32_t rows;
  uint32_t first_tile;
  uint32_t tile_count;
  uint16_t block_tiles;  // DMA_MAP: wavefront tiles of a DMA block, 0 = 1.
  uint8_t updates;       // DMA_MAP, tracked LOCAL_MAP: updates per element; must be those of the
                         // configuration.
  uint8_t allocation;    // STRETTO_ALLOCATION_*.
  uint16_t id_shift;  // REMOTE_MAP, tiles: from their ids here to those at the peer, modulo 65536.
  uint16_t reserved;
} stretto_map_t;

#define STRETTO_ALLOCATION_CACHED 0
#define STRETTO_ALLOCATION_STREAMING 1
#define STRETTO_ALLOCATION_UNCACHED 2
#define STRETTO_ALLOCATION_SHARED 3    // Cached, with bytes in the caches (MEMORY_MODEL.md).
#define STRETTO_SHARED_ALIGNMENT 128u  // Of base, rows and pitch of a shared range.

// Flags of maps.
//   TILES     the map names tiles of the configured output, not bytes
//   UPDATE    tagged stores and the DMA add instead of overwriting
//   TRACKED   the Tracker counts tagged stores and arriving updates
//   EVENT     LOCAL_MAP, tracked tiles: a complete tile raises a scheduling event (T3-AGC-01), no DMA
//             region; one map an output; a collective wait does not wait for them
//   READY     DMA_MAP, tiles: they are complete already and leave at once, in the order of ids, for
//             the peer's Tracker to count; may name tiles of other maps, once a peer
//   OPERAND   DMA_MAP, READY, UPDATE: `base` is an array laid out like the output, and memory adds its
//             tiles to those of the output, here; one map at a time, with a collective wait behind
//   MULTIPLY  with OPERAND: memory multiplies instead
//   ARRIVAL   REMOTE_MAP, tracked tiles: tiles of others arrive in their place and with their ids;
//             they are counted like those of a tracked LOCAL_MAP
//   SWITCH    LOCAL_MAP, tracked and UPDATE: the switch of the machine adds what the others send to
//             the output, updates - 1 for each element, until the maps are reset (T3-SW-01)
#define STRETTO_MAP_TILES (1u << 0)
#define STRETTO_MAP_UPDATE (1u << 1)
#define STRETTO_MAP_TRACKED (1u << 2)
#define STRETTO_MAP_EVENT (1u << 3)
#define STRETTO_MAP_READY (1u << 4)
#define STRETTO_MAP_ARRIVAL (1u << 5)
#define STRETTO_MAP_OPERAND (1u << 6)
#define STRETTO_MAP_MULTIPLY (1u << 7)
#define STRETTO_MAP_SWITCH (1u << 8)

typedef struct stretto_output_config {
  uint64_t base;   // Element (0, 0), in this GPU.
  uint32_t m;      // Rows.
  uint32_t n;      // Columns, elements.
  uint32_t pitch;  // Bytes between rows.
  uint16_t tile_m;
  uint16_t tile_n;
  uint8_t wavefronts;    // Of a work-group; each covers tile_m / wavefronts rows.
  uint8_t updates;       // Expected per element (T3-TRK-07).
  uint8_t element;       // ElementType of machine_types.h.
  uint8_t account;       // Account of what the DMA sends.
  uint8_t tracker_ways;  // Ways in use, 0 = all.
  uint8_t tile_order;    // Of ids, tile_order.h; 0 = row-major.
  uint8_t reserved0[2];
  uint32_t
      work_groups;  // Of the kernel that writes it; 0 = one a tile. More is split-K of degree s =
                    // work_groups / tiles: work-group w adds to tile w / s, each tile gets s local
                    // updates instead of one (T3-SPLITK-01). Peers add once, as the DMA does.
  uint32_t reserved1;
  uint64_t reserved2;
} stretto_output_config_t;

// Which gates of the grid scheduler the events of the configured output open: tile t counts for
// gate t / tiles_per_gate, which opens when all of its tiles are complete (T3-AGC-02). Gates
// open_first .. open_first + open_count - 1 are open at once: what they stand for is there. All
// others are closed. The output has one wavefront a tile and a map with STRETTO_MAP_EVENT.
typedef struct stretto_gates {
  uint32_t tiles_per_gate;
  uint32_t open_first;
  uint32_t open_count;
  uint32_t reserved0;
  uint64_t reserved[4];
} stretto_gates_t;

// PRIORITY: between any two packets the highest queue that has one is served, queues of one priority
// in turn; work-groups of its kernels are placed first (G7 of the grid scheduler). All begin with 0.
#define STRETTO_PRIORITIES 4u
typedef struct stretto_priority {
  uint32_t priority;  // Below STRETTO_PRIORITIES.
  uint32_t reserved0;
  uint64_t reserved[5];
} stretto_priority_t;

// PREEMPT: no packet of `queue` is taken and no work-group of its kernels placed until it is resumed.
// Complete when none of its work-groups is on a unit; those that had begun ran to their end. Its
// fills, copies and waits go on. RESUME: its kernels place what was left, in their order, first what
// had come back.
typedef struct stretto_preempt {
  uint32_t queue;  // Not the one that the packet is in.
  uint32_t
      drain;  // PREEMPT, 1: work-groups that have issued nothing leave their units at once. Not
              // those of a pipeline: others of it may wait for them.
  uint64_t reserved[5];
} stretto_preempt_t;

// SHARE: the command processor itself schedules what shares its GPU, after Tally (sw/tally/policy.h).
// Kernels of `high` run at once. Those of `best_effort` run when these queues have rested, one at a
// time, and are stopped between work-groups as soon as a doorbell of `high` rings. Until a SHARE
// without queues. `high` needs a PRIORITY of its own.
typedef struct stretto_share {
  uint32_t high;         // Queues, one bit each; both 0: nothing is shared any longer.
  uint32_t best_effort;  // Others than these.
  uint64_t min_idle_ns;  // `high` rests so long before best effort goes on (TL-SCHED-09).
  uint64_t reserved[4];
} stretto_share_t;

// TIME_SLICE: adds a context, of the queues that it names. Contexts with work have the GPU in turn,
// for `slice_ns` each: no packet of other queues is taken, and at the end of a slice work-groups of
// its kernels leave their units as they are, their registers and LDS going to the save area; they go
// on when it is their turn. A context that has no work passes its turn on. Work-groups of pipelines
// and rewritten kernels, and those for which the area has no room, run to their end. Without queues:
// all contexts end. The area is the context's own until then.
#define STRETTO_CONTEXTS STRETTO_QUEUE_COUNT
typedef struct stretto_time_slice {
  uint32_t queues;  // One bit each, of no other context.
  uint32_t reserved0;
  uint64_t slice_ns;    // At least 1000; that of the last packet counts for all.
  uint64_t save_base;   // In this GPU, a multiple of 128.
  uint64_t save_bytes;  // 0: nothing is suspended.
  uint64_t reserved[2];
} stretto_time_slice_t;

// PIPELINE: the next `members` packets of the queue are dispatches without gates, and their
// work-groups are placed all or nothing. It is complete when they are launched, each of them when it
// has ended. If one is refused, all are. It has one boundary at either end: if a member acquires at
// system scope, all do, before the first begins; if one is released at system scope, all are, when
// the last has ended.
#define STRETTO_PIPELINE_MEMBERS 32u
typedef struct stretto_pipeline {
  uint32_t members;  // 1 .. STRETTO_PIPELINE_MEMBERS.
  uint32_t reserved0;
  uint64_t reserved[5];
} stretto_pipeline_t;

// SCHEDULER_POLICY (rtl/grid_scheduler/README.md, S1 to S3). At boot all are 0.
typedef struct stretto_scheduler_policy {
  uint32_t in_order;         // 1: a kernel waits for all of those launched before it; 0: in turn.
  uint32_t two_arbiters;     // 1: SIMT and TENSOR kernels walk the units independently.
  uint32_t strict_priority;  // 1: a kernel waits while one of higher priority has work-groups to
  uint32_t reserved0;        // place, even where these find no room and its own would.
  uint64_t reserved[4];
} stretto_scheduler_policy_t;

// L2_PERSIST, after CUDA's L2 persistence. LIMIT sets aside `bytes` of the L2, rounded down to whole
// ways; at boot nothing. Lines of pinned ranges stay in the L2 while each set has no more of them
// than that; what comes beyond is an ordinary line. RESET unpins all ranges.
typedef enum stretto_l2_persist_action {
  STRETTO_L2_LIMIT = 0,
  STRETTO_L2_PIN = 1,
  STRETTO_L2_UNPIN = 2,
  STRETTO_L2_RESET = 3,
} stretto_l2_persist_action_t;
#define STRETTO_L2_PINNED_RANGES 4u
#define STRETTO_L2_LINE_BYTES 128u
typedef struct stretto_l2_persist {
  uint64_t base;    // PIN: multiple of 128, in this GPU. UNPIN: as it was pinned.
  uint64_t bytes;   // PIN: multiple of 128, below 4 GiB. LIMIT: 0, or from a way up to the share of
                    // the L2 that the machine allows.
  uint32_t action;  // stretto_l2_persist_action_t.
  uint32_t reserved0;
  uint64_t reserved[3];
} stretto_l2_persist_t;

// NETWORK: the command processor serves the command queues of work-groups (shmem_queue.h) until a
// NETWORK without table. That one is held until all that was taken has ended.
typedef struct stretto_network {
  uint64_t table;  // A stretto_shmem_table_t in this GPU, multiple of 64; 0: stops.
  uint64_t reserved[5];
} stretto_network_t;

typedef struct stretto_spill_table {
  uint64_t base;   // Multiple of 64, in this GPU.
  uint64_t bytes;  // At least 64 per output tile.
  uint64_t reserved[4];
} stretto_spill_table_t;

typedef struct stretto_mca_config {
  uint32_t policy;  // MCA_CONTROL_POLICY_* of mca_regs.h.
  uint32_t
      threshold;  // Entries of the DRAM queue; 0 = no limit; used with STRETTO_MCA_FIXED_THRESHOLD.
  uint32_t starve_limit;  // Memory clock cycles; 0 = leave as it is.
  uint32_t reserved0;
  uint64_t reserved[4];
} stretto_mca_config_t;

// The request ring (send_request.h). Replica and flags are zero before kernels send.
typedef struct stretto_ring_config {
  uint64_t replica;  // Word of this GPU that follows the head.
  uint64_t sc_base;  // Array of STRETTO_SEND_FLAG_BYTES in this GPU: send flags.
  uint32_t batch;    // Requests after which the replica is written; 0 = 1.
  uint32_t reserved0;
  uint64_t reserved[3];
} stretto_ring_config_t;

typedef struct stretto_ring_connection {
  uint64_t rc_base;     // Array of STRETTO_SEND_FLAG_BYTES in the peer: receive flags.
  uint32_t connection;  // Below STRETTO_SEND_CONNECTIONS.
  uint32_t peer;        // GPU.
  uint32_t limit;       // Transfers in flight, 0 = as many as are built.
  uint32_t reserved0;
  uint64_t reserved[3];
} stretto_ring_connection_t;

// Flags: STRETTO_RING_READABLE (may be a source), STRETTO_RING_WRITABLE (may be a destination).
typedef struct stretto_ring_buffer {
  uint64_t base;        // Here or at a peer.
  uint64_t bytes;       // A multiple of the unit; 0 = take it back.
  uint32_t buffer;      // Id.
  uint32_t unit_shift;  // log2 of the bytes in which requests count.
  uint64_t reserved[3];
} stretto_ring_buffer_t;

#define STRETTO_RING_READABLE (1u << 0)
#define STRETTO_RING_WRITABLE (1u << 1)

#define STRETTO_MCA_FIXED_THRESHOLD (1u << 0)  // Flag: `threshold` instead of the measured choice.
#define STRETTO_RESET_ALLOCATIONS (1u << 0)    // Flag of RESET_MAPS.

typedef struct stretto_vendor_packet {
  uint16_t header;
  uint16_t operation;  // stretto_operation_t.
  uint32_t flags;
  union {
    stretto_fill_t fill;
    stretto_copy_t copy;
    stretto_signal_t signal;
    stretto_map_t map;
    stretto_output_config_t output;
    stretto_spill_table_t spill;
    stretto_mca_config_t mca;
    stretto_ring_config_t ring;
    stretto_ring_connection_t connection;
    stretto_ring_buffer_t buffer;
    stretto_gates_t gates;
    stretto_priority_t priority;
    stretto_preempt_t preempt;
    stretto_pipeline_t pipeline;
    stretto_scheduler_policy_t policy;
    stretto_l2_persist_t persist;
    stretto_share_t share;
    stretto_time_slice_t time_slice;
    stretto_network_t network;
    uint64_t words[6];
  };
  uint64_t completion_signal;
} stretto_vendor_packet_t;

typedef union stretto_packet {
  uint16_t header;
  uint32_t first_word;  // What the driver writes last.
  uint64_t words[8];
  stretto_dispatch_packet_t dispatch;
  stretto_barrier_packet_t barrier;
  stretto_vendor_packet_t vendor;
} stretto_packet_t;

STRETTO_STATIC_ASSERT(sizeof(stretto_dispatch_packet_t) == 64, "AQL packets have 64 bytes");
STRETTO_STATIC_ASSERT(sizeof(stretto_barrier_packet_t) == 64, "AQL packets have 64 bytes");
STRETTO_STATIC_ASSERT(sizeof(stretto_vendor_packet_t) == 64, "vendor packets have 64 bytes");
STRETTO_STATIC_ASSERT(sizeof(stretto_packet_t) == 64, "packets have 64 bytes");
STRETTO_STATIC_ASSERT(sizeof(stretto_map_t) == 48 && sizeof(stretto_output_config_t) == 48,
                      "payload has 48 bytes");
STRETTO_STATIC_ASSERT(sizeof(stretto_fill_t) == 48 && sizeof(stretto_spill_table_t) == 48 &&
                          sizeof(stretto_mca_config_t) == 48 && sizeof(stretto_gates_t) == 48,
                      "payload has 48 bytes");
STRETTO_STATIC_ASSERT(sizeof(stretto_priority_t) == 48 && sizeof(stretto_preempt_t) == 48 &&
                          sizeof(stretto_pipeline_t) == 48 &&
                          sizeof(stretto_scheduler_policy_t) == 48 &&
                          sizeof(stretto_l2_persist_t) == 48 && sizeof(stretto_network_t) == 48,
                      "payload has 48 bytes");
STRETTO_STATIC_ASSERT(sizeof(stretto_copy_t) == 48 && sizeof(stretto_signal_t) == 48,
                      "payload has 48 bytes");
STRETTO_STATIC_ASSERT(sizeof(stretto_ring_config_t) == 48 &&
                          sizeof(stretto_ring_connection_t) == 48 &&
                          sizeof(stretto_ring_buffer_t) == 48,
                      "payload has 48 bytes");

#endif  // STRETTO_SW_INCLUDE_FORMATS_QUEUE_H_
