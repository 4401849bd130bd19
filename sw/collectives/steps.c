// SPDX-License-Identifier: Apache-2.0
// Engine dma: a collective as packets of a stream, no communication kernel (C-Drv; GD-CASYNC). The
// host has the copy engine move blocks into memory of other ranks, lets streams wait for each other
// by words of GPU memory, and launches kernel `combine` where something is added.
//
// Words of a rank, in its block, 1 = armed; others write 0, its stream waits for that and arms
// again:
//   [slot]                what is sent under this slot has arrived
//   [WORD_READY + rank]   that rank has begun this collective: its memory may be written
// A word is written again only when its owner has begun the next collective, so after it was armed;
// therefore a rank says that it is ready only to those who send it something.
//
// Blocks that are summed or passed on land in a staging area, one place a step. Blocks of a ring go
// to rank + 1, as in collective.c. A queue holds 64 packets and one thread may have several ranks,
// so a collective is submitted in rounds: what a round waits for was submitted in an earlier one or
// is in the same round of another rank's list, in front of what waits.
#include "sw/collectives/internal.h"
#include "sw/include/formats/machine_types.h"

#define WORD_READY 256u
#define WORD_FREE (WORD_READY + STRETTO_COMM_MAX_RANKS)  // Nobody waits for it.
#define SLOT_GATHER 64u                                  // Second half of an all-reduce.
#define SLOT_TRANSFER 192u                               // + rank that sends.
#define PIECE_BYTES (512u << 10)
#define PIECES 128u           // Of a chain; slots.
#define COMBINE_BYTES 32768u  // A work-group takes part from so many bytes on.
#define COMBINE_GROUPS 64u

_Static_assert((WORD_FREE + 1) * 8 <= STRETTO_COMM_STEP_BYTES - STRETTO_COMM_UNIT,
               "words fit into the block");

typedef struct span {
  uint64_t offset;
  uint64_t bytes;
} span_t;

typedef struct steps {
  const operation_t* o;
  ncclComm_t c;
  const stretto_api_t* api;
  stretto_client_t* client;
  stretto_stream_t* stream;
  uint32_t n, r;
  uint64_t source, target, stage;
  uint64_t block;  // Bytes of a rank's block.
  uint64_t total;  // Bytes of all blocks.
  stretto_status_t status;
} steps_t;

static steps_t steps_of(const operation_t* o) {
  const ncclComm_t c = o->comm;
  steps_t s = {.o = o,
               .c = c,
               .api = c->device->client->api,
               .client = c->device->client,
               .stream = o->stream->stream,
               .n = c->comm.ranks,
               .r = c->comm.rank,
               .source = o->arguments.source,
               .target = o->arguments.target,
               .stage = c->stage};
  const uint64_t bytes = o->arguments.count * o->arguments.element_bytes;
  s.block = bytes;
  s.total = bytes * s.n;
  if (o->arguments.op == STRETTO_ALL_REDUCE) {
    s.block = ((bytes + s.n - 1) / s.n + 63) & ~63ull;
    s.total = bytes;
  } else if (o->arguments.op == STRETTO_BROADCAST || o->arguments.op == STRETTO_REDUCE) {
    s.total = bytes;
  }
  return s;
}

static uint32_t wrap(const steps_t* s, uint32_t rank) { return rank % s->n; }
static uint32_t next_of(const steps_t* s) { return wrap(s, s->r + 1); }
static uint32_t previous_of(const steps_t* s) { return wrap(s, s->r + s->n - 1); }
static int is_ring(const steps_t* s) { return s->c->comm.links == STRETTO_LINKS_RING; }

static span_t span_of(const steps_t* s, uint32_t index) {
  span_t span = {s->block * wrap(s, index), 0};
  const uint64_t end = span.offset + s->block < s->total ? span.offset + s->block : s->total;
  if (span.offset < end) span.bytes = end - span.offset;
  return span;
}

// Packets

static void copy(steps_t* s, uint64_t to, uint64_t from, uint64_t bytes) {
  if (s->status == STRETTO_OK && bytes != 0 && to != from)
    s->status = s->api->copy(s->client, s->stream, to, from, bytes,
                             s->o->comm->runtime->options.accounts.move);
}

static uint64_t word_of(const steps_t* s, uint32_t rank, uint32_t word) {
  return stretto_gpu_address(s->c->comm.gpu[rank], s->c->comm.block & STRETTO_OFFSET_MASK) +
         8ull * word;
}

static void tell(steps_t* s, uint32_t rank, uint32_t word) {
  if (s->status == STRETTO_OK)
    s->status = s->api->signal(s->client, s->stream, word_of(s, rank, word), 0);
}

static void await(steps_t* s, uint32_t word) {
  const uint64_t address = word_of(s, s->r, word);
  if (s->status == STRETTO_OK) s->status = s->api->stream_wait(s->client, s->stream, address, 0);
  if (s->status == STRETTO_OK) s->status = s->api->signal(s->client, s->stream, address, 1);
}

static void tell_ready(steps_t* s, uint32_t rank) { tell(s, rank, WORD_READY + s->r); }
static void await_ready(steps_t* s, uint32_t rank) { await(s, WORD_READY + rank); }

static void send(steps_t* s, uint32_t rank, uint64_t to, uint64_t from, uint64_t bytes,
                 uint32_t slot) {
  copy(s, to, from, bytes);
  tell(s, rank, slot);
}

// target <- a op b; `last`: an average is divided.
static void combine(steps_t* s, uint64_t target, uint64_t a, uint64_t b, uint64_t bytes, int last) {
  const stretto_collective_arguments_t* op = &s->o->arguments;
  const stretto_combine_arguments_t arguments = {.target = target,
                                                 .a = a,
                                                 .b = b,
                                                 .bytes = bytes,
                                                 .scale = last ? op->scale : 0,
                                                 .element = op->element,
                                                 .reduction = op->reduction};
  const uint64_t groups = bytes / COMBINE_BYTES + 1;
  const stretto_launch_t launch = {
      .kernel = &s->c->device->combine,
      .arguments = &arguments,
      .argument_bytes = sizeof arguments,
      .work_groups = groups < COMBINE_GROUPS ? (uint32_t)groups : COMBINE_GROUPS,
      .account = s->o->comm->runtime->options.accounts.reduce,
      .communication = 1,
      .after_all_earlier = 1};
  if (s->status == STRETTO_OK && bytes != 0)
    s->status = s->api->launch(s->client, s->stream, &launch);
}

// Ring. Each returns whether there is another round.

// Place of step j in a staging area.
static uint64_t place(const steps_t* s, uint32_t rank, uint32_t j) {
  return s->o->stages[rank] + s->block * j;
}

// Step j of N: sends block r - 1 - j, which came in step j - 1; keeps block r at `kept`.
static void ring_reduce_step(steps_t* s, uint32_t j, uint64_t kept) {
  const span_t span = span_of(s, s->r + 2 * s->n - 1 - j);
  const uint32_t next = next_of(s);
  if (j == 0) {
    tell_ready(s, previous_of(s));
    await_ready(s, next);
  }
  if (span.bytes == 0) return;
  uint64_t from = s->source + span.offset;
  if (j > 0) {
    const int last = j == s->n - 1;
    const uint64_t here = place(s, s->r, j - 1);
    await(s, j - 1);
    combine(s, last ? kept : here, from, here, span.bytes, last);
    from = here;
    if (last) return;
  }
  send(s, next, place(s, next, j), from, span.bytes, j);
}

// Step j of N: sends block r - j from target to target, but for the last.
static void ring_gather_step(steps_t* s, uint32_t j) {
  const uint32_t next = next_of(s);
  const span_t span = span_of(s, s->r + s->n - j);
  if (span.bytes == 0) return;
  if (j > 0) await(s, SLOT_GATHER + j - 1);
  if (j < s->n - 1)
    send(s, next, s->o->targets[next] + span.offset, s->target + span.offset, span.bytes,
         SLOT_GATHER + j);
}

static int ring_reduce_scatter(steps_t* s, uint32_t round) {
  ring_reduce_step(s, round, s->target);
  return round + 1 < s->n;
}

static int ring_all_reduce(steps_t* s, uint32_t round) {
  if (round < s->n)
    ring_reduce_step(s, round, s->target + span_of(s, s->r).offset);
  else
    ring_gather_step(s, round - s->n);
  return round + 1 < 2 * s->n;
}

// Engine t3: the other way round, to rank r - 1 (tracked.c).
static int tracked(steps_t* s, uint32_t round) {
  const int gathers = s->o->arguments.op == STRETTO_ALL_REDUCE;
  const span_t own = span_of(s, s->r);
  if (round == 0) {
    s->status = tracked_configure(s->o, s->block, word_of(s, s->r, WORD_FREE));
    tell_ready(s, next_of(s));
    return 1;
  }
  if (round > 1) {
    ring_gather_step(s, round - 2);
    return round - 1 < s->n;
  }
  await_ready(s, previous_of(s));
  if (s->status == STRETTO_OK) s->status = tracked_start(s->o, s->block, s->total);
  const tracked_plan_t plan = tracked_plan(s->o, s->block);
  copy(s, s->target + (gathers ? own.offset : 0), s->stage + plan.tiles * plan.tile_bytes * s->r,
       own.bytes);
  return gathers;
}

static int ring_all_gather(steps_t* s, uint32_t round) {
  const span_t own = span_of(s, s->r);
  if (round == 0) {
    tell_ready(s, previous_of(s));
    copy(s, s->target + own.offset, s->source, own.bytes);
    await_ready(s, next_of(s));
  }
  ring_gather_step(s, round);
  return round + 1 < s->n;
}

// In step j all that has further to go moves on, as one copy: the staging area of step j holds N -
// j blocks, for this rank, the next, and so on.
static uint64_t bundle(const steps_t* s, uint32_t rank, uint32_t j) {
  return s->o->stages[rank] + s->block * ((j - 1) * s->n - (j - 1) * j / 2);
}

static int ring_all_to_all(steps_t* s, uint32_t round) {
  const uint32_t next = next_of(s), behind = s->n - 1 - s->r;
  if (round == 0) {
    tell_ready(s, previous_of(s));
    copy(s, s->target + s->block * s->r, s->source + s->block * s->r, s->block);
    await_ready(s, next);
    copy(s, bundle(s, next, 1), s->source + s->block * (s->r + 1), s->block * behind);
    send(s, next, bundle(s, next, 1) + s->block * behind, s->source, s->block * s->r, 0);
    return 1;
  }
  const uint64_t here = bundle(s, s->r, round);
  await(s, round - 1);
  copy(s, s->target + s->block * wrap(s, s->r + s->n - round), here, s->block);
  if (round == s->n - 1) return 0;
  send(s, next, bundle(s, next, round + 1), here + s->block, s->block * (s->n - round - 1), round);
  return 1;
}

// A chain, piece by piece. Broadcast: root first; reduce: root last.
static int ring_chain(steps_t* s, uint32_t round) {
  const int reduce = s->o->arguments.op == STRETTO_REDUCE;
  const uint32_t begin = wrap(s, s->o->arguments.root + (reduce ? 1 : 0));
  const uint32_t at = wrap(s, s->r + s->n - begin), next = next_of(s);
  uint64_t piece = (s->total / PIECES + 64) & ~63ull;
  if (piece < PIECE_BYTES) piece = PIECE_BYTES;
  const uint64_t offset = piece * round;
  const uint64_t bytes = s->total - offset < piece ? s->total - offset : piece;
  if (round == 0 && at > 0) tell_ready(s, previous_of(s));
  if (round == 0 && at < s->n - 1) await_ready(s, next);
  if (at > 0) await(s, round);
  uint64_t from = s->source;
  if (reduce) {
    if (at > 0) {
      const int last = at == s->n - 1;
      from = last ? s->target : s->stage;
      combine(s, from + offset, s->source + offset, s->stage + offset, bytes, last);
    }
  } else {
    if (at == 0) copy(s, s->target + offset, s->source + offset, bytes);
    from = s->target;
  }
  const uint64_t there = reduce ? s->o->stages[next] : s->o->targets[next];
  if (at < s->n - 1) send(s, next, there + offset, from + offset, bytes, round);
  return offset + bytes < s->total;
}

// Direct. Round 0: all who will be written say so; 1: all send; 2: all take what has come.

// Place of what comes from rank `from` in a staging area.
static uint64_t direct_place(const steps_t* s, uint32_t rank, uint32_t from) {
  return s->o->stages[rank] + s->block * wrap(s, from + s->n - rank - 1);
}

static void direct_begin(steps_t* s) {
  for (uint32_t p = 1; p < s->n; ++p) tell_ready(s, wrap(s, s->r + p));
}

static void direct_scatter(steps_t* s) {
  for (uint32_t p = 1; p < s->n; ++p) {
    const uint32_t rank = wrap(s, s->r + p);
    const span_t span = span_of(s, rank);
    await_ready(s, rank);
    send(s, rank, direct_place(s, rank, s->r), s->source + span.offset, span.bytes, s->r);
  }
}

static void direct_add(steps_t* s, uint64_t target, uint64_t own, uint64_t bytes) {
  for (uint32_t p = 1; p < s->n; ++p) {
    const uint32_t rank = wrap(s, s->r + p);
    await(s, rank);
    combine(s, target, own, direct_place(s, s->r, rank), bytes, p == s->n - 1);
    own = target;
  }
}

static void direct_spread(steps_t* s, uint64_t from, int ready) {
  const span_t own = span_of(s, s->r);
  for (uint32_t p = 1; p < s->n; ++p) {
    const uint32_t rank = wrap(s, s->r + p);
    if (!ready) await_ready(s, rank);
    send(s, rank, s->o->targets[rank] + own.offset, from, own.bytes, SLOT_GATHER + s->r);
  }
}

static void direct_take(steps_t* s) {
  for (uint32_t p = 1; p < s->n; ++p) await(s, SLOT_GATHER + wrap(s, s->r + p));
}

static int direct_reduce_scatter(steps_t* s, uint32_t round) {
  const span_t own = span_of(s, s->r);
  if (round == 0) direct_begin(s);
  if (round == 1) direct_scatter(s);
  if (round == 2) direct_add(s, s->target, s->source + own.offset, own.bytes);
  return round < 2;
}

static int direct_all_reduce(steps_t* s, uint32_t round) {
  const span_t own = span_of(s, s->r);
  if (round == 0) direct_begin(s);
  if (round == 1) direct_scatter(s);
  if (round == 2) direct_add(s, s->target + own.offset, s->source + own.offset, own.bytes);
  if (round == 3) direct_spread(s, s->target + own.offset, 1);
  if (round == 4) direct_take(s);
  return round < 4;
}

static int direct_all_gather(steps_t* s, uint32_t round) {
  if (round == 0) direct_begin(s);
  if (round == 1) {
    copy(s, s->target + span_of(s, s->r).offset, s->source, s->block);
    direct_spread(s, s->source, 0);
  }
  if (round == 2) direct_take(s);
  return round < 2;
}

// In place, what comes would overwrite what has not left: it lands in the staging area.
static int direct_all_to_all(steps_t* s, uint32_t round) {
  if (round == 0) direct_begin(s);
  for (uint32_t p = 1; p < s->n; ++p) {
    const uint32_t rank = wrap(s, s->r + p);
    const uint64_t at = s->block * rank;
    if (round == 1) {
      await_ready(s, rank);
      send(s, rank, s->o->targets[rank] + s->block * s->r, s->source + at, s->block, s->r);
    } else if (round == 2) {
      await(s, rank);
      if (s->source == s->target) copy(s, s->target + at, s->stage + at, s->block);
    }
  }
  if (round == 1) copy(s, s->target + s->block * s->r, s->source + s->block * s->r, s->block);
  return round < 2;
}

static int direct_rooted(steps_t* s, uint32_t round) {
  const uint32_t root = s->o->arguments.root;
  const int reduce = s->o->arguments.op == STRETTO_REDUCE, is_root = s->r == root;
  if (round == 0 && is_root && reduce) direct_begin(s);
  if (round == 0 && !is_root && !reduce) tell_ready(s, root);
  if (round == 1 && !is_root && reduce) {
    await_ready(s, root);
    send(s, root, direct_place(s, root, s->r), s->source, s->total, s->r);
  }
  if (round == 1 && is_root && !reduce) {
    for (uint32_t p = 1; p < s->n; ++p) {
      const uint32_t rank = wrap(s, s->r + p);
      await_ready(s, rank);
      send(s, rank, s->o->targets[rank], s->source, s->total, root);
    }
    copy(s, s->target, s->source, s->total);
  }
  if (round == 2 && is_root && reduce) direct_add(s, s->target, s->source, s->total);
  if (round == 2 && !is_root && !reduce) await(s, root);
  return round < 2;
}

// Interface

uint64_t steps_stage_bytes(const operation_t* o) {
  const steps_t s = steps_of(o);
  const uint32_t n = s.n;
  if (n == 1) return 0;
  if (o->comm->comm.engine == STRETTO_ENGINE_T3) {
    const tracked_plan_t plan = tracked_plan(o, s.block);
    return plan.bytes + plan.spill_bytes;
  }
  switch (o->arguments.op) {
    case STRETTO_ALL_REDUCE:
    case STRETTO_REDUCE_SCATTER: return s.block * (n - 1);
    case STRETTO_ALL_TO_ALL: return is_ring(&s) ? s.block * n * (n - 1) / 2 : s.total;
    case STRETTO_REDUCE: return is_ring(&s) ? s.total : s.total * (n - 1);
    default: return 0;
  }
}

ncclResult_t steps_check(const operation_t* o) {
  if (o->comm->comm.engine != STRETTO_ENGINE_T3) return ncclSuccess;
  return tracked_check(o, steps_of(o).block);
}

uint64_t steps_landing(const operation_t* o) {
  const int staged = o->arguments.op == STRETTO_ALL_TO_ALL &&
                     o->comm->comm.links != STRETTO_LINKS_RING &&
                     o->arguments.source == o->arguments.target;
  return staged ? o->comm->stage : o->arguments.target;
}

static int collective_round(steps_t* s, uint32_t round) {
  const int ring = is_ring(s);
  if (s->total == 0) return 0;
  if (s->n == 1) {
    copy(s, s->target, s->source, s->total);
    return 0;
  }
  if (s->c->comm.engine == STRETTO_ENGINE_T3) return tracked(s, round);
  switch (s->o->arguments.op) {
    case STRETTO_ALL_REDUCE: return ring ? ring_all_reduce(s, round) : direct_all_reduce(s, round);
    case STRETTO_REDUCE_SCATTER:
      return ring ? ring_reduce_scatter(s, round) : direct_reduce_scatter(s, round);
    case STRETTO_ALL_GATHER: return ring ? ring_all_gather(s, round) : direct_all_gather(s, round);
    case STRETTO_ALL_TO_ALL: return ring ? ring_all_to_all(s, round) : direct_all_to_all(s, round);
    default: return ring ? ring_chain(s, round) : direct_rooted(s, round);
  }
}

static int transfer_round(steps_t* s, uint32_t round) {
  const operation_t* o = s->o;
  if (o->bytes == 0) return 0;
  if (o->peer == s->r) {
    if (o->kind == OPERATION_SEND) copy(s, o->targets[s->r], o->arguments.source, o->bytes);
    return 0;
  }
  if (o->kind == OPERATION_RECEIVE) {
    if (round == 0) tell_ready(s, o->peer);
    if (round == 2) await(s, SLOT_TRANSFER + o->peer);
  } else if (round == 1) {
    await_ready(s, o->peer);
    send(s, o->peer, o->targets[o->peer], o->arguments.source, o->bytes, SLOT_TRANSFER + s->r);
  }
  return round < 2;
}

ncclResult_t steps_round(operation_t* o, uint32_t round, int* more) {
  steps_t s = steps_of(o);
  *more = o->kind == OPERATION_COLLECTIVE ? collective_round(&s, round) : transfer_round(&s, round);
  return runtime_status(o->comm->runtime, o->comm->device, s.status);
}
