// SPDX-License-Identifier: Apache-2.0
// What calls of nccl.h ask for is kept until the outermost group ends, then compared with what the
// other ranks ask for, and launched. The calls themselves are in calls.c.
//
// Comparison. Before a rank launches its collective number n it says in words of host memory what
// it asks for and waits until all others have said so: ranks that do not agree get an error and
// nothing moves. Words of collective n (1, 2, ..; two sets, so that none is overwritten before it
// is read: who writes n + 2 has seen all at n + 1, and who is there has read n):
//   [8 + 8 (n & 1)] n   [+ 1] op, type, reduction, root   [+ 2] count   [+ 3] target
// Engines dma and t3 say their staging area too, [+ 4].
// Transfer n between two ranks likewise: each says (n << 40) + bytes to the other,
//   [64 + 4 peer + (n & 1)] of sends, [+ 2] of receives; [320 + 2 peer + (n & 1)] the receiver's
//   buffer.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/collectives/internal.h"
#include "sw/include/formats/machine_types.h"

#define SAID_AT 8u
#define TRANSFER_AT 64u
#define BUFFER_AT 320u
#define TRANSFER_SHIFT 40
#define TRANSFER_MASK ((1ull << TRANSFER_SHIFT) - 1)
#define SHARE_BYTES \
  8192u  // A channel takes part from so many bytes on; of transfers as in collective.c.

static uint64_t said_word(const struct ncclComm* comm, uint32_t rank, uint64_t number,
                          uint32_t index) {
  return comm_word(comm, rank, SAID_AT + 8 * (uint32_t)(number & 1) + index);
}

static int is_driven_by_host(const operation_t* o) {
  return !stretto_comm_has_links(&o->comm->comm);
}

// A staging area that is large enough for all that is asked of this communicator: others are told
// its place before the first of it is carried out.
static ncclResult_t stage(const operation_t* first) {
  ncclComm_t comm = first->comm;
  uint64_t bytes = 0;
  for (const operation_t* o = first; o != NULL; o = o->next) {
    if (o->comm != comm || o->kind != OPERATION_COLLECTIVE) continue;
    TRY_NCCL(steps_check(o));
    const uint64_t wanted = steps_stage_bytes(o);
    if (wanted > bytes) bytes = wanted;
  }
  if (bytes <= comm->stage_bytes) return ncclSuccess;
  TRY_NCCL(runtime_quiet(comm->device));
  if (comm->stage != 0 && runtime_release(comm->device, comm->stage) != cudaSuccess)
    return ncclUnhandledCudaError;
  comm->stage = comm->stage_bytes = 0;
  if (runtime_allocate(comm->device, bytes, &comm->stage) != cudaSuccess)
    return ncclUnhandledCudaError;
  comm->stage_bytes = bytes;
  return ncclSuccess;
}

static ncclResult_t say_collective(operation_t* o) {
  ncclComm_t comm = o->comm;
  const stretto_host_ops_t* ops = &comm->runtime->options.ops;
  const uint32_t rank = comm->comm.rank;
  uint64_t target = o->arguments.target;
  if (is_driven_by_host(o)) {
    TRY_NCCL(stage(o));
    target = steps_landing(o);
    ops->store(ops->context, said_word(comm, rank, comm->collectives + 1, 4), comm->stage);
  }
  o->number = ++comm->collectives;
  ops->store(ops->context, said_word(comm, rank, o->number, 1), operation_summary(o));
  ops->store(ops->context, said_word(comm, rank, o->number, 2), o->arguments.count);
  ops->store(ops->context, said_word(comm, rank, o->number, 3), target);
  ops->store(ops->context, said_word(comm, rank, o->number, 0), o->number);
  return ncclSuccess;
}

static uint64_t said(const operation_t* o, uint32_t rank, uint32_t index) {
  const stretto_host_ops_t* ops = &o->comm->runtime->options.ops;
  return ops->wait(ops->context, said_word(o->comm, rank, o->number, index), STRETTO_WAIT_AT_LEAST,
                   0);
}

// The same call of another rank of this program, or null: what it says need not pass host memory.
static const operation_t* call_beside(const operation_t* o, uint32_t rank) {
  for (const operation_t* one = o->comm->runtime->first; one != NULL; one = one->next)
    if (one->kind == OPERATION_COLLECTIVE && one->comm->words == o->comm->words &&
        one->comm->comm.rank == rank && one->number == o->number)
      return one;
  return NULL;
}

static ncclResult_t compare_collective(operation_t* o) {
  ncclComm_t comm = o->comm;
  const stretto_host_ops_t* ops = &comm->runtime->options.ops;
  const int direct = direct_bytes(o) != 0, driven = is_driven_by_host(o);
  o->targets[comm->comm.rank] = o->arguments.target;
  o->stages[comm->comm.rank] = comm->stage;
  char own[96], other[96];
  summary_text(operation_summary(o), o->arguments.count, own, sizeof own);
  for (uint32_t rank = 0; rank < comm->comm.ranks; ++rank) {
    if (rank == comm->comm.rank) continue;
    const operation_t* beside = call_beside(o, rank);
    if (beside == NULL) {
      runtime_at(comm->runtime, "rank %u, collective %llu, %s: waits for rank %u to call",
                 comm->comm.rank, (unsigned long long)o->number, own, rank);
      ops->wait(ops->context, said_word(comm, rank, o->number, 0), STRETTO_WAIT_AT_LEAST,
                o->number);
    }
    const uint64_t what = beside != NULL ? operation_summary(beside) : said(o, rank, 1);
    const uint64_t count = beside != NULL ? beside->arguments.count : said(o, rank, 2);
    if (direct || driven)
      o->targets[rank] = beside == NULL ? said(o, rank, 3)
                         : driven       ? steps_landing(beside)
                                        : beside->arguments.target;
    if (driven) o->stages[rank] = beside != NULL ? beside->comm->stage : said(o, rank, 4);
    if (what == operation_summary(o) && count == o->arguments.count) continue;
    summary_text(what, count, other, sizeof other);
    return runtime_fail(comm->runtime, ncclInvalidUsage,
                        "collective %llu: rank %u asks for %s, rank %u for %s",
                        (unsigned long long)o->number, comm->comm.rank, own, rank, other);
  }
  runtime_at(comm->runtime, "rank %u, collective %llu, %s: under way on the GPU", comm->comm.rank,
             (unsigned long long)o->number, own);
  return direct ? direct_prepare(o, o->targets) : ncclSuccess;
}

static uint64_t transfer_word(const struct ncclComm* comm, uint32_t rank, uint32_t peer,
                              uint64_t number, operation_kind_t kind) {
  return comm_word(
      comm, rank,
      TRANSFER_AT + 4 * peer + (uint32_t)(number & 1) + (kind == OPERATION_SEND ? 0 : 2));
}

static uint64_t buffer_word(const struct ncclComm* comm, uint32_t rank, uint32_t peer,
                            uint64_t number) {
  return comm_word(comm, rank, BUFFER_AT + 2 * peer + (uint32_t)(number & 1));
}

static ncclResult_t say_transfer(operation_t* o) {
  ncclComm_t comm = o->comm;
  if (is_driven_by_host(o)) TRY_NCCL(steps_check(o));
  const stretto_host_ops_t* ops = &comm->runtime->options.ops;
  o->number = o->kind == OPERATION_SEND ? ++comm->sends[o->peer] : ++comm->receives[o->peer];
  if (o->kind == OPERATION_RECEIVE)
    ops->store(ops->context, buffer_word(comm, comm->comm.rank, o->peer, o->number),
               o->arguments.source);
  ops->store(ops->context, transfer_word(comm, comm->comm.rank, o->peer, o->number, o->kind),
             o->number << TRANSFER_SHIFT | o->bytes);
  return ncclSuccess;
}

static ncclResult_t compare_transfer(operation_t* o) {
  ncclComm_t comm = o->comm;
  const stretto_host_ops_t* ops = &comm->runtime->options.ops;
  const int sends = o->kind == OPERATION_SEND;
  const unsigned rank = comm->comm.rank;
  runtime_at(comm->runtime, "rank %u, %s %llu of %llu bytes: waits for rank %u to call %s", rank,
             sends ? "ncclSend" : "ncclRecv", (unsigned long long)o->number,
             (unsigned long long)o->bytes, o->peer, sends ? "ncclRecv" : "ncclSend");
  const operation_kind_t opposite = sends ? OPERATION_RECEIVE : OPERATION_SEND;
  const uint64_t word =
      ops->wait(ops->context, transfer_word(comm, o->peer, rank, o->number, opposite),
                STRETTO_WAIT_AT_LEAST, o->number << TRANSFER_SHIFT);
  const uint64_t theirs = word & TRANSFER_MASK;
  if (theirs != o->bytes)
    return runtime_fail(comm->runtime, ncclInvalidUsage,
                        "transfer %llu from rank %u to rank %u: %llu bytes are sent, %llu expected",
                        (unsigned long long)o->number, sends ? rank : o->peer,
                        sends ? o->peer : rank, (unsigned long long)(sends ? o->bytes : theirs),
                        (unsigned long long)(sends ? theirs : o->bytes));
  if (sends && is_driven_by_host(o))
    o->targets[o->peer] = ops->wait(ops->context, buffer_word(comm, o->peer, rank, o->number),
                                    STRETTO_WAIT_AT_LEAST, 0);
  runtime_at(comm->runtime, "rank %u, %s %llu with rank %u: under way on the GPU", rank,
             sends ? "ncclSend" : "ncclRecv", (unsigned long long)o->number, o->peer);
  return ncclSuccess;
}

static uint32_t channels_for(const stretto_comm_t* comm, uint64_t bytes) {
  const uint64_t most = bytes / SHARE_BYTES + 1;
  return most < comm->channels ? (uint32_t)most : comm->channels;
}

// Of a collective whose ranks have blocks of so many bytes; the kernel takes as many as there are.
static uint32_t channels_of_collective(const operation_t* o, uint64_t block_bytes) {
  const stretto_comm_t* comm = &o->comm->comm;
  const uint32_t least = o->comm->runtime->options.channel_bytes;
  const int chain = o->arguments.op == STRETTO_BROADCAST || o->arguments.op == STRETTO_REDUCE;
  if (least == 0) return channels_for(comm, block_bytes);
  const uint64_t most = (chain ? block_bytes / comm->ranks : block_bytes) / least;
  return most == 0 ? 1 : most < comm->channels ? (uint32_t)most : comm->channels;
}

// Work-groups of transfers with so many pairs of peers, the longest of so many bytes.
static uint32_t groups_for(const stretto_comm_t* comm, uint32_t pairs, uint64_t bytes) {
  const uint64_t all = (uint64_t)pairs * channels_for(comm, bytes);
  return all < comm->channels ? (uint32_t)all : comm->channels;
}

static ncclResult_t launch(const operation_t* o, const stretto_kernel_t* kernel,
                           const void* arguments, uint32_t bytes, uint32_t work_groups,
                           uint32_t account) {
  device_t* device = o->comm->device;
  const stretto_runtime_options_t* options = &o->comm->runtime->options;
  if (options->channel_ns != 0)
    options->ops.charge_cpu_ns(options->ops.context, (uint64_t)options->channel_ns * work_groups);
  const stretto_launch_t launch = {.kernel = kernel,
                                   .arguments = arguments,
                                   .argument_bytes = bytes,
                                   .work_groups = work_groups,
                                   .account = account,
                                   .communication = 1,
                                   .after_all_earlier = 1};
  return runtime_status(o->comm->runtime, device,
                        device->client->api->launch(device->client, o->stream->stream, &launch));
}

// Protocol of what puts so many bytes on a link in `hops` that follow each other. All ranks know
// both, so they agree.
static uint32_t protocol_for(const stretto_comm_t* comm, uint64_t link_bytes, uint32_t hops) {
  return comm->ranks > 1 && link_bytes <= (uint64_t)comm->lines_bytes * hops
             ? STRETTO_PROTOCOL_LL
             : STRETTO_PROTOCOL_SIMPLE;
}

static uint32_t protocol_of_collective(const stretto_collective_arguments_t* a) {
  const stretto_comm_t* comm = &a->comm;
  const uint64_t bytes = a->count * a->element_bytes;
  const uint32_t others = comm->ranks - 1u;
  const int ring = comm->links == STRETTO_LINKS_RING;
  if (comm->lines_bytes == 0) return STRETTO_PROTOCOL_SIMPLE;
  switch (a->op) {
    case STRETTO_ALL_REDUCE:  // A rank's block a hop; direct: to all others, in two hops.
      return protocol_for(comm, 2 * others * (bytes / comm->ranks), ring ? 2 * others : 2);
    case STRETTO_BROADCAST:
    case STRETTO_REDUCE:
      return protocol_for(comm, ring ? bytes : others * bytes, ring ? others : 1);
    case STRETTO_ALL_TO_ALL:  // A ring: blocks for k ranks ahead go k hops.
      return protocol_for(comm, ring ? others * comm->ranks / 2 * bytes : others * bytes,
                          ring ? others : 1);
    default: return protocol_for(comm, others * bytes, ring ? others : 1);
  }
}

static ncclResult_t launch_collective(const operation_t* o) {
  stretto_collective_arguments_t arguments = o->arguments;
  arguments.comm = o->comm->comm;
  arguments.number = o->number;
  const stretto_comm_t* comm = &arguments.comm;
  uint64_t block = arguments.count * arguments.element_bytes;
  // As collective.c rounds it.
  const uint64_t align = stretto_collective_alignment(arguments.direct_shift);
  if (arguments.op == STRETTO_ALL_REDUCE)
    block = ((block + comm->ranks - 1) / comm->ranks + align - 1) / align * align;
  uint32_t groups = channels_of_collective(o, block);
  // Pairs of peers side by side.
  if (arguments.op == STRETTO_ALL_TO_ALL && comm->links == STRETTO_LINKS_DIRECT && comm->ranks > 1)
    groups = groups_for(comm, comm->ranks / 2u, block);
  return launch(o, &o->comm->device->collective[protocol_of_collective(&arguments)], &arguments,
                sizeof arguments, groups,
                op_reduces(arguments.op) ? o->comm->runtime->options.accounts.reduce
                                         : o->comm->runtime->options.accounts.move);
}

// The transfers of a group on one communicator and stream that have this protocol become one
// kernel, as far as each has a direction and peer of its own.
static ncclResult_t launch_transfers_of(operation_t* first, uint32_t protocol) {
  const stretto_comm_t* comm = &first->comm->comm;
  stretto_send_receive_arguments_t arguments = {.comm = *comm};
  uint64_t most = 0;
  uint32_t pairs = 0;
  uint8_t is_counted[STRETTO_COMM_MAX_RANKS] = {0};  // Pairs of peers, by distance.
  for (operation_t* o = first; o != NULL; o = o->next) {
    if ((o->kind != OPERATION_SEND && o->kind != OPERATION_RECEIVE) || o->done) continue;
    if (o->comm != first->comm || o->stream != first->stream) continue;
    if (protocol_for(comm, o->bytes, 1) != protocol) continue;
    stretto_transfer_t* with = &arguments.with[o->peer];
    uint64_t* bytes = o->kind == OPERATION_SEND ? &with->source_bytes : &with->target_bytes;
    if (*bytes != 0) continue;
    *bytes = o->bytes;
    *(o->kind == OPERATION_SEND ? &with->source : &with->target) = o->arguments.source;
    if (o->bytes > most) most = o->bytes;
    o->done = 1;
    const uint32_t ahead = (o->peer + comm->ranks - comm->rank) % comm->ranks;
    const uint32_t distance = 2 * ahead > comm->ranks ? comm->ranks - ahead : ahead;
    if (o->bytes != 0 && !is_counted[distance]) is_counted[distance] = 1, ++pairs;
  }
  if (most == 0) return ncclSuccess;
  return launch(first, &first->comm->device->send_receive[protocol], &arguments, sizeof arguments,
                groups_for(comm, pairs, most), first->comm->runtime->options.accounts.move);
}

// Every rank has those of ll first: kernels that wait for each other start in the same order.
static ncclResult_t launch_transfers(operation_t* first) {
  TRY_NCCL(launch_transfers_of(first, STRETTO_PROTOCOL_LL));
  return launch_transfers_of(first, STRETTO_PROTOCOL_SIMPLE);
}

// Operations of one communicator follow each other whatever their streams are.
static ncclResult_t follow(const operation_t* o) {
  const ncclComm_t comm = o->comm;
  struct CUstream_st* last = comm->last_stream;
  comm->last_stream = o->stream;
  if (last == NULL || last == o->stream) return ncclSuccess;
  return runtime_synchronize(last);
}

// Whether an undone operation in front of `o` must come first: a collective of the same
// communicator, or a transfer with the same peer in the same direction.
static int is_behind(const operation_t* first, const operation_t* o) {
  for (const operation_t* before = first; before != o; before = before->next)
    if (!before->done && before->comm == o->comm &&
        (before->kind == OPERATION_COLLECTIVE || o->kind == OPERATION_COLLECTIVE ||
         (before->kind == o->kind && before->peer == o->peer)))
      return 1;
  return 0;
}

// Engines dma, t3: one operation of each communicator at a time, round by round.
static ncclResult_t drive(stretto_runtime_t* runtime) {
  int any = 1;
  while (any) {
    any = 0;
    for (operation_t* o = runtime->first; o != NULL; o = o->next) {
      if (o->done || o->kind == OPERATION_INIT || !is_driven_by_host(o)) continue;
      if (is_behind(runtime->first, o)) continue;
      TRY_NCCL(follow(o));
      o->under_way = any = 1;
    }
    for (uint32_t round = 0, more = any; more != 0; ++round) {
      more = 0;
      for (operation_t* o = runtime->first; o != NULL; o = o->next) {
        if (!o->under_way) continue;
        TRY_NCCL(steps_round(o, round, &o->under_way));
        o->done = !o->under_way;
        more += (uint32_t)o->under_way;
      }
    }
  }
  return ncclSuccess;
}

static void note_uses(const operation_t* o) {
  char text[OPERATION_TEXT];
  if (o->kind == OPERATION_INIT) return;
  operation_text(o, text, sizeof text);
  if (o->source_bytes != 0) runtime_use(o->stream, o->arguments.source, o->source_bytes, text);
  if (o->target_bytes != 0) runtime_use(o->stream, o->arguments.target, o->target_bytes, text);
}

static ncclResult_t say(operation_t* o) {
  if (o->kind == OPERATION_INIT) return ncclSuccess;
  return o->kind == OPERATION_COLLECTIVE ? say_collective(o) : say_transfer(o);
}

static ncclResult_t compare(operation_t* o) {
  if (o->kind == OPERATION_INIT) return comm_join(o->comm);
  return o->kind == OPERATION_COLLECTIVE ? compare_collective(o) : compare_transfer(o);
}

static ncclResult_t start(operation_t* o) {
  if (o->kind == OPERATION_INIT || o->done || is_driven_by_host(o)) return ncclSuccess;
  if (o->kind != OPERATION_COLLECTIVE) return launch_transfers(o);
  return o->arguments.count == 0 ? ncclSuccess : launch_collective(o);
}

operation_t* operations_append(ncclComm_t comm, operation_kind_t kind, cudaStream_t stream) {
  stretto_runtime_t* runtime = comm->runtime;
  operation_t* operation = calloc(1, sizeof *operation);
  if (operation == NULL) return NULL;
  operation->kind = kind;
  operation->comm = comm;
  operation->stream = runtime_stream(comm->device, stream);
  if (runtime->last != NULL)
    runtime->last->next = operation;
  else
    runtime->first = operation;
  runtime->last = operation;
  return operation;
}

// All say what they want before one waits: one thread may have several ranks.
ncclResult_t operations_carry_out(stretto_runtime_t* runtime) {
  ncclResult_t result = ncclSuccess;
  for (operation_t* o = runtime->first; o != NULL && result == ncclSuccess; o = o->next)
    if (o->kind == OPERATION_INIT) result = comm_set_up(o->comm);
  if (result == ncclSuccess)
    for (operation_t* o = runtime->first; o != NULL && result == ncclSuccess; o = o->next)
      result = say(o);
  for (operation_t* o = runtime->first; o != NULL && result == ncclSuccess; o = o->next)
    result = compare(o);
  for (operation_t* o = runtime->first; o != NULL && result == ncclSuccess; o = o->next)
    result = start(o);
  if (result == ncclSuccess) result = drive(runtime);
  for (operation_t* o = runtime->first; o != NULL && result == ncclSuccess; o = o->next)
    note_uses(o);
  operations_free(runtime);
  return result;
}
