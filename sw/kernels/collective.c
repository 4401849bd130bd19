// SPDX-License-Identifier: Apache-2.0
// Collectives on compute units (GD-USE-01) over any engine. One wavefront a work-group; work-group
// = channel: it owns a share of each rank's block and a link to each peer.
//
// Ring (links to rank + 1, from rank - 1). A buffer is cut into one block a rank, the blocks into
// shares of the channels, the shares into pieces of half a FIFO: in step 0 of a piece all ranks
// send and nobody receives, so it must fit. N ranks, r = own:
//   reduce-scatter  step 0 sends block r - 1; step j adds what came to block r - 1 - j and sends it;
//                   step N - 1 keeps it, block r. Block c is summed in the order c + 1, c + 2, ..
//                   c.
//   all-gather      step 0 sends block r; step j keeps and passes on block r - j; N - 1 keeps.
//   all-reduce      one after the other, piece by piece.
//   all-to-all      blocks for rank r + k go k steps around, k = 1 .. N - 1. Those of k and N - k leave together,
//                   so a piece is a quarter of a FIFO: a rank that passes on holds one slot and
//                   wants another, and when all FIFOs are full nobody can.
//   broadcast, reduce  a chain that begins behind or at the root.
// Engine gdma may pass on from target to target (direct_id): what has arrived is sent as it lies,
// no wavefront touches it. A rank's target is written only when it has begun: an all-reduce knows
// that from the reduction, others wait for its word. Direct (links between all pairs): blocks go
// straight to their rank, and are added in the order r, r - 1, r - 2, ...
//
// Every loop below depends on what all ranks know (count, ranks, channels), so ranks agree on the
// number of slots of each link. An empty piece is no slot.
#include "sw/kernels/stretto_comm.h"

// This file makes the kernels of one protocol; collective_ll.c those of the other.
#if STRETTO_LINES
#define COLLECTIVE collective_ll
#define SEND_RECEIVE send_receive_ll
#else
#define COLLECTIVE collective
#define SEND_RECEIVE send_receive
#endif
#define PROTOCOL_KERNEL(name, ...) STRETTO_KERNEL(name, __VA_ARGS__)

typedef struct run {
  const stretto_collective_arguments_t* a;
  stretto_sender_t* to;
  stretto_receiver_t* from;
  uint64_t block;  // Bytes of a rank's block; the last ones may have fewer, or none.
  uint64_t total;  // Bytes of all blocks.
  uint64_t share;  // Bytes of a channel's share of a block.
  uint64_t begin;  // Of this channel's share in a block.
  uint64_t piece;  // Bytes of a piece.
  uint64_t align;  // Of shares.
} run_t;

#ifndef COLLECTIVE_BEYOND
#define COLLECTIVE_BEYOND 0u  // Bytes that are moved too many: for tests of the checks.
#endif

#define SHARE_BYTES 8192u  // Of a transfer: a channel takes part from so many bytes on.

KERNEL_INLINE uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
KERNEL_INLINE uint64_t align_up(uint64_t a, uint64_t b) { return (a + b - 1) / b * b; }
KERNEL_INLINE uint32_t wrap(uint32_t rank, uint32_t ranks) {
  while (rank >= ranks) rank -= ranks;
  return rank;
}

// Shares of a block among the channels that were launched.
static void cut(run_t* run, uint64_t bytes, uint64_t total) {
  const stretto_comm_t* comm = &run->a->comm;
  run->block = bytes;
  run->total = total;
  const uint64_t channels = tile_csr(TILE_CSR_GRID);
  run->share = align_up((bytes + channels - 1) / channels, run->align);
  run->begin = run->share * tile_csr(TILE_CSR_WG_ID);
  run->piece = stretto_fifo_data(comm) / 2;
  if (run->a->op == STRETTO_ALL_TO_ALL)
    run->piece =
        STRETTO_LINES ? (comm->slots + 2u) / 4 * STRETTO_LINES_DATA : align_up(run->piece / 2, 64);
}

// The piece at `at` of this channel's share of block `index`: offset in the buffer and bytes.
typedef struct span {
  uint64_t offset;
  uint64_t bytes;
} span_t;

static span_t span_of(const run_t* run, uint32_t index, uint64_t at) {
  span_t span = {0, 0};
  const uint64_t inside = run->begin + at;
  const uint64_t block_end = min_u64(run->block, inside + min_u64(run->piece, run->share - at));
  span.offset = run->block * index + inside;
  const uint64_t end = min_u64(run->total, run->block * index + block_end);
  if (inside < block_end && span.offset < end) span.bytes = end - span.offset;
  return span;
}

// What a step does with its slots.
#define SEND 1u
#define RECEIVE 2u
#define REDUCE 4u  // What came is combined with `source`,
#define FINAL 8u   // for the last time: an average is divided.

#if STRETTO_LINES

#ifdef COLLECTIVE_ONE_FLAG  // Deliberately wrong: old lines have the flag, too.
#define FLAG_OF(slot) 1u
#else
#define FLAG_OF(slot) ((slot) + 1u)
#endif

// What is under way of a step.
typedef struct line_step {
  const run_t* run;
  stretto_movement_t m;  // Of all its bytes; `to` = 0: none.
  unsigned how;
  uint32_t slot;  // Next one to be loaded.
} line_step_t;

KERNEL_INLINE uint64_t line_shape(const line_step_t* s, uint64_t at) {
  return tile_shape(1, (uint32_t)min_u64(STRETTO_LINES_DATA, s->m.bytes - at), 0);
}

KERNEL_INLINE void line_load(line_step_t* s, uint64_t at, const int own, const int other) {
  if (at >= s->m.bytes) return;
  const uint64_t shape = line_shape(s, at);
  const unsigned what = s->how & (RECEIVE | REDUCE);
  if (what != RECEIVE) STRETTO_LOAD_AS(own, s->m.from + at, shape, s->m.element);
  if ((what & RECEIVE) == 0) return;
  const stretto_receiver_t* from = s->run->from;
  tile_set_flag(FLAG_OF(s->slot));
  const uint64_t slot = stretto_slot_at(from->comm, from->fifo, s->slot++);
  if ((what & REDUCE) != 0)
    STRETTO_LOAD_LIKE(other, slot, shape, s->m.element, TILE_LINES);
  else
    tile_load(own, slot, shape, STRETTO_BYTE | TILE_LINES, 0);
}

// Returns whether there is more. To the peer first: it waits.
KERNEL_INLINE int line_store(line_step_t* s, uint64_t at, const int own, const int other) {
  const uint64_t shape = line_shape(s, at);
  if ((s->how & REDUCE) != 0) stretto_move_combine(&s->m, shape, own, other);
  if ((s->how & SEND) != 0) {
    const uint64_t slot = stretto_sender_slot(s->run->to);
    tile_set_flag(FLAG_OF(s->run->to->sent));
    tile_store(own, slot, shape, STRETTO_BYTE | TILE_LINES);
    stretto_put(s->run->to, STRETTO_LINES_DATA);
  }
  if (s->m.to != 0) tile_store(own, s->m.to + at, shape, STRETTO_BYTE);
  if ((s->how & RECEIVE) != 0) stretto_release(s->run->from);
  return at + STRETTO_LINES_DATA < s->m.bytes;
}

// Moves `bytes` slot by slot, a tile each: from `source` and/or what comes, to `target` (0 = none)
// and/or the peer. The next tile is loaded meanwhile.
static __attribute__((noinline)) void step(const run_t* run, unsigned how, uint64_t source,
                                           uint64_t target, uint64_t bytes) {
  line_step_t s = {.run = run, .how = how};
  if (bytes == 0) return;
  s.m.from = source;
  s.m.to = target;
  s.m.bytes = (uint32_t)bytes + COLLECTIVE_BEYOND;
  s.m.element = (how & REDUCE) != 0 ? run->a->element : STRETTO_BYTE;
  s.m.reduction = run->a->reduction;
  s.m.scale = (how & FINAL) != 0 ? run->a->scale : 0;
  if ((how & RECEIVE) != 0) s.slot = run->from->received;
  line_load(&s, 0, TILE_R(0), TILE_R(1));
  for (uint64_t at = 0;; at += 2 * STRETTO_LINES_DATA) {
    line_load(&s, at + STRETTO_LINES_DATA, TILE_R(2), TILE_R(3));
    if (!line_store(&s, at, TILE_R(0), TILE_R(1))) return;
    line_load(&s, at + 2 * STRETTO_LINES_DATA, TILE_R(0), TILE_R(1));
    if (!line_store(&s, at + STRETTO_LINES_DATA, TILE_R(2), TILE_R(3))) return;
  }
}

#else

// Moves `bytes` slot by slot: from `source` and/or what comes, to `target` (0 = none) and/or the
// peer.
static __attribute__((noinline)) void step(const run_t* run, unsigned how, uint64_t source,
                                           uint64_t target, uint64_t bytes) {
  const uint32_t slot_bytes = run->a->comm.slot_bytes;
  stretto_movement_t m = {0};
  m.element = (how & REDUCE) != 0 ? run->a->element : STRETTO_BYTE;
  m.reduction = run->a->reduction;
  m.scale = (how & FINAL) != 0 ? run->a->scale : 0;
  for (uint64_t done = 0; done < bytes; done += slot_bytes) {
    m.bytes = (uint32_t)min_u64(slot_bytes, bytes - done + COLLECTIVE_BEYOND);
    m.from = source + done;
    m.with = 0;
    m.to = target == 0 ? 0 : target + done;
    m.also = 0;
    if ((how & RECEIVE) != 0) {
      const uint64_t slot = stretto_receiver_slot(run->from);
      if ((how & REDUCE) != 0)
        m.with = slot;
      else
        m.from = slot;
    }
    if ((how & SEND) != 0) m.also = stretto_sender_slot(run->to);
    stretto_move(&m);
    if ((how & SEND) != 0) stretto_put(run->to, m.bytes);
    if ((how & RECEIVE) != 0) stretto_release(run->from);
  }
}

#endif

// From target to target

// Sends what lies in the target.
static __attribute__((noinline)) void send_direct(const run_t* run, span_t span) {
  const stretto_collective_arguments_t* a = run->a;
  const stretto_comm_t* comm = &a->comm;
  const uint32_t channel = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  const uint32_t next = comm->rank + 1u < comm->ranks ? comm->rank + 1u : 0;
  for (uint64_t done = 0; done < span.bytes; done += comm->slot_bytes) {
    const uint64_t bytes = min_u64(comm->slot_bytes, span.bytes - done);
    (void)stretto_sender_slot(run->to);
    stretto_put_from(run->to, a->direct_id, a->direct_id + 1u + channel,
                     comm->first_connection + stretto_comm_outgoing(comm, next, channel),
                     (uint32_t)((span.offset + done) >> a->direct_shift),
                     (uint32_t)(bytes >> a->direct_shift));
  }
}

// Waits for what comes into the target, and passes it on or not.
static __attribute__((noinline)) void receive_direct(const run_t* run, span_t span, int pass_on) {
  const stretto_collective_arguments_t* a = run->a;
  const uint32_t channel = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  const uint64_t flag =
      a->comm.block + stretto_comm_flags_at(&a->comm) + 8 * (a->direct_id + 1u + channel);
  for (uint64_t done = 0; done < span.bytes; done += a->comm.slot_bytes) {
    const span_t part = {span.offset + done, min_u64(a->comm.slot_bytes, span.bytes - done)};
    tile_wait_until(flag, TILE_GEU, (uint64_t)run->from->received + 1);
    stretto_release(run->from);
    if (pass_on) send_direct(run, part);
  }
}

// Buffers in bytes; 0 + offset is never used where there is no buffer.
KERNEL_INLINE uint64_t in(const run_t* run, span_t span) { return run->a->source + span.offset; }
KERNEL_INLINE uint64_t out(const run_t* run, span_t span) { return run->a->target + span.offset; }

// Ring

// Where the reduced block goes: its place in the target, or the target's begin (reduce-scatter).
static void ring_reduce_scatter(const run_t* run, uint64_t at, int in_place, unsigned last) {
  const uint32_t n = run->a->comm.ranks, r = run->a->comm.rank;
  for (uint32_t j = 0; j < n; ++j) {
    const span_t span = span_of(run, wrap(r + 2 * n - 1 - j, n), at);
    if (span.bytes == 0) continue;
    if (j == 0) {
      step(run, SEND, in(run, span), 0, span.bytes);
    } else if (j < n - 1) {
      step(run, SEND | RECEIVE | REDUCE, in(run, span), 0, span.bytes);
    } else {
      const uint64_t target = in_place ? out(run, span) : run->a->target + run->begin + at;
      step(run, RECEIVE | REDUCE | FINAL | last, in(run, span), target, span.bytes);
    }
  }
}

// Steps 1 .. N - 1 of an all-gather: block r has been sent.
static void ring_pass_on(const run_t* run, uint64_t at) {
  const uint32_t n = run->a->comm.ranks, r = run->a->comm.rank;
  for (uint32_t j = 1; j < n; ++j) {
    const span_t span = span_of(run, wrap(r + n - j, n), at);
    if (span.bytes == 0) continue;
    if (run->a->direct_id != 0)
      receive_direct(run, span, j < n - 1);
    else
      step(run, RECEIVE | (j < n - 1 ? SEND : 0), 0, out(run, span), span.bytes);
  }
}

static void ring_all_gather(const run_t* run, uint64_t at) {
  const span_t span = span_of(run, run->a->comm.rank, at);
  const uint64_t source = run->a->source + run->begin + at;
  const uint64_t target = out(run, span);
  if (run->a->direct_id != 0) {
    if (target != source) step(run, 0, source, target, span.bytes);
    send_direct(run, span);
  } else if (span.bytes != 0) {
    step(run, SEND, source, target == source ? 0 : target, span.bytes);
  }
  ring_pass_on(run, at);
}

static void ring_all_reduce(const run_t* run, uint64_t at) {
  const int direct = run->a->direct_id != 0;
  ring_reduce_scatter(run, at, 1, direct ? 0 : SEND);
  if (direct) send_direct(run, span_of(run, run->a->comm.rank, at));
  ring_pass_on(run, at);
}

// Blocks of one distance go one hop, or arrive.
static void ring_hop(const run_t* run, uint64_t at, uint32_t distance, uint32_t hop) {
  const uint32_t n = run->a->comm.ranks, r = run->a->comm.rank;
  if (hop > distance) return;
  const span_t span = span_of(run, wrap(r + (hop == 0 ? distance : n - distance), n), at);
  if (hop == 0)
    step(run, SEND, in(run, span), 0, span.bytes);
  else
    step(run, hop < distance ? SEND | RECEIVE : RECEIVE, 0, hop < distance ? 0 : out(run, span),
         span.bytes);
}

// Distances k and N - k together: block r - k arrives where the one lay that left for r - k, so the
// buffers may be the same.
static void ring_all_to_all(const run_t* run, uint64_t at) {
  const uint32_t n = run->a->comm.ranks;
  const span_t own = span_of(run, run->a->comm.rank, at);
  if (in(run, own) != out(run, own)) step(run, 0, in(run, own), out(run, own), own.bytes);
  for (uint32_t k = 1; 2 * k <= n; ++k) {
    for (uint32_t hop = 0; hop <= n - k; ++hop) {
      ring_hop(run, at, k, hop);
      if (n - k != k) ring_hop(run, at, n - k, hop);
    }
  }
}

// The block is the whole buffer. Broadcast: root first; reduce: root last.
static void ring_chain(const run_t* run, uint64_t at) {
  const uint32_t n = run->a->comm.ranks;
  const int reduce = run->a->op == STRETTO_REDUCE;
  const uint32_t begin = wrap(run->a->root + (reduce ? 1 : 0), n);
  const uint32_t place = wrap(run->a->comm.rank + n - begin, n);
  const span_t span = span_of(run, 0, at);
  if (span.bytes == 0) return;
  const unsigned send = place < n - 1 ? SEND : 0;
  const unsigned receive = place > 0 ? RECEIVE | (reduce ? REDUCE : 0) : 0;
  const uint64_t source = in(run, span);
  uint64_t target = out(run, span);
  if (run->a->direct_id != 0) {
    if (place > 0) {
      receive_direct(run, span, send != 0);
    } else {
      if (target != source) step(run, 0, source, target, span.bytes);
      send_direct(run, span);
    }
    return;
  }
  if (reduce ? send != 0 : place == 0 && target == source) target = 0;
  step(run, send | receive | (reduce && send == 0 ? FINAL : 0), source, target, span.bytes);
}

static void ring_piece(const run_t* run, uint64_t at) {
  switch (run->a->op) {
    case STRETTO_ALL_REDUCE: ring_all_reduce(run, at); break;
    case STRETTO_REDUCE_SCATTER: ring_reduce_scatter(run, at, 0, 0); break;
    case STRETTO_ALL_GATHER: ring_all_gather(run, at); break;
    case STRETTO_ALL_TO_ALL: ring_all_to_all(run, at); break;
    default: ring_chain(run, at); break;
  }
}

static void ring(run_t* run) {
  const stretto_comm_t* comm = &run->a->comm;
  const uint32_t n = comm->ranks, channel = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  stretto_sender_t to;
  stretto_receiver_t from;
  stretto_sender_open(&to, comm, wrap(comm->rank + 1, n), channel);
  stretto_receiver_open(&from, comm, wrap(comm->rank + n - 1, n), channel);
  run->to = &to;
  run->from = &from;
  if (run->a->direct_id != 0 && run->a->op != STRETTO_ALL_REDUCE) {
    tile_locked_store(from.credit - STRETTO_LINK_CREDIT + STRETTO_LINK_READY, run->a->number);
    tile_wait_until(to.words + STRETTO_LINK_READY, TILE_GEU, run->a->number);
  }
  for (uint64_t at = 0; at < run->share; at += run->piece) ring_piece(run, at);
  // The target may be used again when this kernel has ended.
  if (run->a->direct_id != 0) stretto_sender_drain(&to);
  stretto_sender_close(&to);
  stretto_receiver_close(&from);
}

// Direct

typedef struct peers {
  stretto_sender_t to[STRETTO_COMM_MAX_RANKS];  // By distance: to rank r + p, from rank r - p.
  stretto_receiver_t from[STRETTO_COMM_MAX_RANKS];
} peers_t;

KERNEL_INLINE uint32_t ahead(const run_t* run, uint32_t p) {
  return wrap(run->a->comm.rank + p, run->a->comm.ranks);
}
KERNEL_INLINE uint32_t behind(const run_t* run, uint32_t p) {
  return wrap(run->a->comm.rank + run->a->comm.ranks - p, run->a->comm.ranks);
}

static void direct_send(run_t* run, peers_t* peers, uint32_t p, uint64_t source, uint64_t bytes) {
  run->to = &peers->to[p];
  step(run, SEND, source, 0, bytes);
}
static void direct_receive(run_t* run, peers_t* peers, uint32_t p, uint64_t target,
                           uint64_t bytes) {
  run->from = &peers->from[p];
  step(run, RECEIVE, 0, target, bytes);
}

// target <- source + what comes from all others.
static void direct_reduce(run_t* run, peers_t* peers, uint64_t source, uint64_t target,
                          uint64_t bytes) {
  for (uint32_t p = 1; p < run->a->comm.ranks; ++p) {
    run->from = &peers->from[p];
    step(run, RECEIVE | REDUCE | (p + 1u == run->a->comm.ranks ? FINAL : 0), source, target, bytes);
    tile_wait(0);  // The next one loads what this one stored.
    source = target;
  }
}

static void direct_reduce_scatter(run_t* run, peers_t* peers, uint64_t at, uint64_t target) {
  for (uint32_t p = 1; p < run->a->comm.ranks; ++p) {
    const span_t span = span_of(run, ahead(run, p), at);
    direct_send(run, peers, p, in(run, span), span.bytes);
  }
  const span_t own = span_of(run, run->a->comm.rank, at);
  direct_reduce(run, peers, in(run, own), target, own.bytes);
}

static void direct_all_gather(run_t* run, peers_t* peers, uint64_t at, uint64_t source) {
  const span_t own = span_of(run, run->a->comm.rank, at);
  for (uint32_t p = 1; p < run->a->comm.ranks; ++p) direct_send(run, peers, p, source, own.bytes);
  if (source != out(run, own)) step(run, 0, source, out(run, own), own.bytes);
  for (uint32_t p = 1; p < run->a->comm.ranks; ++p) {
    const span_t span = span_of(run, behind(run, p), at);
    direct_receive(run, peers, p, out(run, span), span.bytes);
  }
}

// The block is the whole buffer.
static void direct_rooted(run_t* run, peers_t* peers, uint64_t at) {
  const uint32_t n = run->a->comm.ranks, r = run->a->comm.rank, root = run->a->root;
  const span_t span = span_of(run, 0, at);
  const int reduce = run->a->op == STRETTO_REDUCE;
  if (r != root) {
    if (reduce)
      direct_send(run, peers, wrap(root + n - r, n), in(run, span), span.bytes);
    else
      direct_receive(run, peers, wrap(r + n - root, n), out(run, span), span.bytes);
  } else if (reduce) {
    direct_reduce(run, peers, in(run, span), out(run, span), span.bytes);
  } else {
    for (uint32_t p = 1; p < n; ++p) direct_send(run, peers, p, in(run, span), span.bytes);
    if (in(run, span) != out(run, span)) step(run, 0, in(run, span), out(run, span), span.bytes);
  }
}

static void direct_piece(run_t* run, peers_t* peers, uint64_t at) {
  const span_t own = span_of(run, run->a->comm.rank, at);
  switch (run->a->op) {
    case STRETTO_ALL_REDUCE:
      direct_reduce_scatter(run, peers, at, out(run, own));
      direct_all_gather(run, peers, at, out(run, own));
      break;
    case STRETTO_REDUCE_SCATTER:
      direct_reduce_scatter(run, peers, at, run->a->target + run->begin + at);
      break;
    case STRETTO_ALL_GATHER:
      direct_all_gather(run, peers, at, run->a->source + run->begin + at);
      break;
    default: direct_rooted(run, peers, at); break;
  }
}

static __attribute__((noinline)) void direct(run_t* run) {
  const stretto_comm_t* comm = &run->a->comm;
  const uint32_t channel = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  peers_t peers;
  for (uint32_t p = 1; p < comm->ranks; ++p) {
    stretto_sender_open(&peers.to[p], comm, ahead(run, p), channel);
    stretto_receiver_open(&peers.from[p], comm, behind(run, p), channel);
  }
  for (uint64_t at = 0; at < run->share; at += run->piece) direct_piece(run, &peers, at);
  for (uint32_t p = 1; p < comm->ranks; ++p) {
    stretto_sender_close(&peers.to[p]);
    stretto_receiver_close(&peers.from[p]);
  }
}

// Bytes of a rank's block and of all of them.
static void cut_collective(run_t* run) {
  const stretto_collective_arguments_t* a = run->a;
  const uint64_t bytes = a->count * a->element_bytes;
  run->align = stretto_collective_alignment(a->direct_shift);
  switch (a->op) {
    case STRETTO_ALL_REDUCE:
      cut(run, align_up((bytes + a->comm.ranks - 1) / a->comm.ranks, run->align), bytes);
      break;
    case STRETTO_BROADCAST:
    case STRETTO_REDUCE: cut(run, bytes, bytes); break;
    default: cut(run, bytes, bytes * a->comm.ranks); break;
  }
}

// Point to point: transfers with all peers at the same time. A pair are two peers as far away, ahead
// and behind: one wavefront drives both directions of both, since what arrives may lie where the
// other half of the pair is sent from. Pairs and channels are divided among the work-groups; ranks
// need not agree on that, but on the channels of a transfer.

typedef struct end {  // Of the transfers with one peer, in one channel.
  const stretto_transfer_t* with;
  stretto_sender_t to;
  stretto_receiver_t from;
  uint32_t channel;
} end_t;

typedef struct exchange {
  const stretto_comm_t* comm;
  const stretto_transfer_t* with;  // By rank.
  uint64_t most;                   // Bytes of the longest share.
  uint64_t channels;               // Of the transfer with most of them.
  uint32_t pairs;                  // That move anything.
  uint32_t count;                  // Ends of this work-group; the two of a pair follow each other.
  end_t ends[STRETTO_COMM_MAX_RANKS];
} exchange_t;

KERNEL_INLINE uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
KERNEL_INLINE uint64_t channels_of(const stretto_comm_t* comm, uint64_t bytes) {
  return min_u64(comm->channels, bytes / SHARE_BYTES + 1);
}
KERNEL_INLINE uint64_t share_bytes(const stretto_comm_t* comm, uint64_t bytes) {
  const uint64_t channels = channels_of(comm, bytes);
  return align_up((bytes + channels - 1) / channels, stretto_collective_alignment(0));
}

// The piece at `at` of a channel's share of a transfer.
static span_t part_of(const stretto_comm_t* comm, uint32_t channel, uint64_t bytes, uint64_t at) {
  const uint64_t share = share_bytes(comm, bytes);
  const uint64_t begin = share * channel + at;
  const uint64_t end =
      min_u64(bytes, begin + min_u64(stretto_fifo_data(comm) / 2, at < share ? share - at : 0));
  const span_t span = {begin, begin < end ? end - begin : 0};
  return span;
}

// Peers of a pair: `distance` ahead, and behind.
KERNEL_INLINE uint32_t peer_of(const stretto_comm_t* comm, uint32_t distance, uint32_t behind_it) {
  return wrap(comm->rank + (behind_it != 0 ? comm->ranks - distance : distance), comm->ranks);
}

static uint64_t bytes_of_pair(const exchange_t* x, uint32_t distance) {
  const stretto_transfer_t* a = &x->with[peer_of(x->comm, distance, 0)];
  const stretto_transfer_t* b = &x->with[peer_of(x->comm, distance, 1)];
  return max_u64(max_u64(a->source_bytes, a->target_bytes),
                 max_u64(b->source_bytes, b->target_bytes));
}

static void open_end(exchange_t* x, uint32_t peer, uint32_t channel) {
  end_t* const end = &x->ends[x->count];
  const stretto_transfer_t* with = &x->with[peer];
  const int sends = part_of(x->comm, channel, with->source_bytes, 0).bytes != 0;
  const int receives = part_of(x->comm, channel, with->target_bytes, 0).bytes != 0;
  if (!sends && !receives) return;
  ++x->count;
  end->with = with;
  end->channel = channel;
  if (sends) stretto_sender_open(&end->to, x->comm, peer, channel);
  if (receives) stretto_receiver_open(&end->from, x->comm, peer, channel);
}

static void exchange_open(exchange_t* x) {
  const uint32_t group = (uint32_t)tile_csr(TILE_CSR_WG_ID), n = x->comm->ranks;
  const uint32_t groups = (uint32_t)tile_csr(TILE_CSR_GRID);
  for (uint32_t d = 1; 2 * d <= n; ++d) {
    const uint64_t bytes = bytes_of_pair(x, d);
    if (bytes != 0) ++x->pairs;
    x->most = max_u64(x->most, share_bytes(x->comm, bytes));
    x->channels = max_u64(x->channels, channels_of(x->comm, bytes));
  }
  const uint64_t own = share_bytes(x->comm, x->with[x->comm->rank].source_bytes);
  x->most = max_u64(x->most, own);
  uint32_t pair = 0;
  for (uint32_t d = 1; 2 * d <= n; ++d) {
    if (bytes_of_pair(x, d) == 0) continue;
    for (uint32_t channel = 0; channel < x->channels; ++channel) {
      if ((pair + x->pairs * channel) % groups != group) continue;
      open_end(x, peer_of(x->comm, d, 0), channel);
      if (2 * d != n) open_end(x, peer_of(x->comm, d, 1), channel);
    }
    ++pair;
  }
}

static void exchange_piece(exchange_t* x, run_t* run, uint64_t at) {
  const uint32_t group = (uint32_t)tile_csr(TILE_CSR_WG_ID);
  for (uint32_t i = 0; i < x->count; ++i) {
    end_t* const end = &x->ends[i];
    const span_t span = part_of(x->comm, end->channel, end->with->source_bytes, at);
    run->to = &end->to;
    if (span.bytes != 0) step(run, SEND, end->with->source + span.offset, 0, span.bytes);
  }
  const stretto_transfer_t* own = &x->with[x->comm->rank];
  for (uint32_t channel = group; channel < channels_of(x->comm, own->source_bytes);
       channel += (uint32_t)tile_csr(TILE_CSR_GRID)) {
    const span_t span = part_of(x->comm, channel, own->source_bytes, at);
    if (span.bytes != 0 && own->source != own->target)
      step(run, 0, own->source + span.offset, own->target + span.offset, span.bytes);
  }
  for (uint32_t i = 0; i < x->count; ++i) {
    end_t* const end = &x->ends[i];
    const span_t span = part_of(x->comm, end->channel, end->with->target_bytes, at);
    run->from = &end->from;
    if (span.bytes != 0) step(run, RECEIVE, 0, end->with->target + span.offset, span.bytes);
  }
}

static __attribute__((noinline)) void exchange(run_t* run, const stretto_transfer_t* with) {
  exchange_t x;
  x.comm = &run->a->comm;
  x.with = with;
  x.most = x.channels = x.pairs = x.count = 0;
  exchange_open(&x);
  const uint64_t piece = stretto_fifo_data(x.comm) / 2;
  for (uint64_t at = 0; at < x.most; at += piece) exchange_piece(&x, run, at);
  for (uint32_t i = 0; i < x.count; ++i) {
    end_t* const end = &x.ends[i];
    if (part_of(x.comm, end->channel, end->with->source_bytes, 0).bytes != 0)
      stretto_sender_close(&end->to);
    if (part_of(x.comm, end->channel, end->with->target_bytes, 0).bytes != 0)
      stretto_receiver_close(&end->from);
  }
}

// Between all pairs: a transfer with each rank.
static __attribute__((noinline)) void direct_all_to_all(run_t* run) {
  const stretto_collective_arguments_t* a = run->a;
  const uint64_t bytes = a->count * a->element_bytes;
  stretto_transfer_t with[STRETTO_COMM_MAX_RANKS];
  for (uint32_t rank = 0; rank < a->comm.ranks; ++rank) {
    with[rank].source = a->source + rank * bytes;
    with[rank].target = a->target + rank * bytes;
    with[rank].source_bytes = with[rank].target_bytes = bytes;
  }
  exchange(run, with);
}

void COLLECTIVE(void) {
  const stretto_collective_arguments_t* a =
      (const stretto_collective_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  run_t run = {.a = a};
  cut_collective(&run);
  if (a->op == STRETTO_ALL_TO_ALL && a->comm.ranks > 1 && a->comm.links == STRETTO_LINKS_DIRECT) {
    direct_all_to_all(&run);
  } else if (run.begin < run.block) {
    if (a->comm.ranks == 1) {
      run.piece = run.share;
      const span_t all = span_of(&run, 0, 0);
      if (a->source != a->target) step(&run, 0, in(&run, all), out(&run, all), all.bytes);
    } else if (a->comm.links == STRETTO_LINKS_RING) {
      ring(&run);
    } else {
      direct(&run);
    }
  }
  tile_end();
  __builtin_unreachable();
}

void SEND_RECEIVE(void) {
  const stretto_send_receive_arguments_t* a =
      (const stretto_send_receive_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  // step() looks at the communicator only, when nothing is reduced.
  run_t run = {.a = (const stretto_collective_arguments_t*)(uintptr_t)a};
  exchange(&run, a->with);
  tile_end();
  __builtin_unreachable();
}

#if !STRETTO_LINES

// What engines dma and t3 leave to compute units (sw/collectives/steps.c, tracked.c).

void combine(void) {
  const stretto_combine_arguments_t* a =
      (const stretto_combine_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint64_t groups = tile_csr(TILE_CSR_GRID);
  const uint64_t share = align_up((a->bytes + groups - 1) / groups, 256);
  const uint64_t begin = share * tile_csr(TILE_CSR_WG_ID);
  if (begin < a->bytes) {
    const stretto_movement_t m = {.from = a->a + begin,
                                  .with = a->b + begin,
                                  .to = a->target + begin,
                                  .scale = a->scale,
                                  .bytes = (uint32_t)min_u64(share, a->bytes - begin),
                                  .element = a->element,
                                  .reduction = a->reduction};
    stretto_move(&m);
  }
  tile_end();
  __builtin_unreachable();
}

// An update is stored as elements, so that memory adds them.
KERNEL_INLINE void store_update(const stretto_contribute_arguments_t* a, uint64_t to,
                                uint64_t shape) {
  if (a->element == STRETTO_FP16)
    tile_store(TILE_R(0), to, shape, STRETTO_FP16);
  else if (a->element == STRETTO_BF16)
    tile_store(TILE_R(0), to, shape, STRETTO_BF16);
  else if (a->element == STRETTO_FP32)
    tile_store(TILE_R(0), to, shape, STRETTO_FP32);
  else
    tile_store(TILE_R(0), to, shape, STRETTO_INT32);
}

void contribute(void) {
  const stretto_contribute_arguments_t* a =
      (const stretto_contribute_arguments_t*)(uintptr_t)tile_csr(TILE_CSR_KERNARG);
  const uint64_t tile = tile_csr(TILE_CSR_WG_ID);
  const uint64_t block = tile / a->block_tiles;
  const uint64_t inside = tile % a->block_tiles * a->tile_bytes;
  const uint64_t begin = block * a->block_bytes + inside;
  const uint64_t end = min_u64(a->total_bytes, (block + 1) * a->block_bytes);
  for (uint64_t at = 0; at < a->tile_bytes; at += STRETTO_MOVE_BYTES) {
    const uint64_t bytes = min_u64(STRETTO_MOVE_BYTES, a->tile_bytes - at);
    const uint64_t there = begin + at < end ? min_u64(bytes, end - begin - at) : 0;
    // What a tile does not hold reads as zero.
    if (there != 0)
      STRETTO_LOAD_AS(TILE_R(0), a->source + begin + at, tile_shape(1, (uint32_t)there, 0),
                      a->element);
    else
      STRETTO_LOAD_AS(TILE_R(0), a->zeros, tile_shape(1, STRETTO_COMM_UNIT, 0), a->element);
    store_update(a, a->output + tile * a->tile_bytes + at, tile_shape(1, (uint32_t)bytes, 0));
  }
  tile_end();
  __builtin_unreachable();
}

#endif  // !STRETTO_LINES

// Eight tiles and 4 KiB of scalar registers. A link takes 112 bytes of private memory.
#define COLLECTIVE_REGISTERS (8 * STRETTO_MOVE_BYTES + 4096)

PROTOCOL_KERNEL(COLLECTIVE, .type = STRETTO_KERNEL_SIMT, .registers_bytes = COLLECTIVE_REGISTERS,
                .private_bytes = 16384, .wavefronts = 1,
                .kernarg_bytes = sizeof(stretto_collective_arguments_t));
PROTOCOL_KERNEL(SEND_RECEIVE, .type = STRETTO_KERNEL_SIMT, .registers_bytes = COLLECTIVE_REGISTERS,
                .private_bytes = 16384, .wavefronts = 1,
                .kernarg_bytes = sizeof(stretto_send_receive_arguments_t));
#if !STRETTO_LINES
STRETTO_KERNEL(combine, .type = STRETTO_KERNEL_SIMT, .registers_bytes = COLLECTIVE_REGISTERS,
               .private_bytes = 4096, .wavefronts = 1,
               .kernarg_bytes = sizeof(stretto_combine_arguments_t));
STRETTO_KERNEL(contribute, .type = STRETTO_KERNEL_SIMT, .registers_bytes = COLLECTIVE_REGISTERS,
               .private_bytes = 1024, .wavefronts = 1,
               .kernarg_bytes = sizeof(stretto_contribute_arguments_t));
#endif
