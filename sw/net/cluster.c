// SPDX-License-Identifier: Apache-2.0
// See cluster.h.
#include "sw/net/cluster.h"

#include <stdio.h>
#include <string.h>

#define RING_BYTES ((1ull << STRETTO_CLUSTER_RING_LOG2) * STRETTO_NIC_WORK_ENTRY_BYTES)
#define RELEASE_OFFSET 0x0ull      // Words of regions.
#define WORDS_OFFSET 0x1000ull     // Words of barriers, then twice of exchanges.
#define MESSAGES_OFFSET 0x2000ull  // To each server, then those that come.
#define COMPLETIONS_OFFSET 0x8000ull
#define RINGS_OFFSET 0x50000ull  // Two a queue pair, of the datagrams first.
#define RECEIVES 64u
#define RESEND_NS 50000u
#define JOIN_ROUNDS 200u  // 10 ms.
#define TOLD_ID UINT64_MAX
// Twice the entries of the rings of 32 pairs and of the datagrams, a power of two.
#define COMPLETIONS_LOG2 13

typedef struct message {
  uint64_t heap, heap_bytes, words;
  uint32_t heap_key, words_key;
  uint32_t knows;  // The sender knows the receiver,
  uint32_t asks;   // and has not heard whether that one knows it.
} message_t;

_Static_assert(sizeof(message_t) <= 64, "a slot");
_Static_assert(MESSAGES_OFFSET + 64 * (STRETTO_CLUSTER_SERVERS + RECEIVES) <= COMPLETIONS_OFFSET,
               "in front of the completions");
_Static_assert(WORDS_OFFSET + 24 * STRETTO_CLUSTER_SERVERS <= MESSAGES_OFFSET,
               "in front of the messages");
_Static_assert(COMPLETIONS_OFFSET + (STRETTO_NIC_COMPLETION_BYTES << COMPLETIONS_LOG2) <=
                   RINGS_OFFSET,
               "in front of the rings");
_Static_assert(RINGS_OFFSET + 2 * (STRETTO_CLUSTER_SERVERS + 1) * RING_BYTES <=
                   STRETTO_CLUSTER_BYTES,
               "all rings");
_Static_assert(STRETTO_NIC_RELEASE_BYTES <= WORDS_OFFSET, "in front of the words");

#define TRY_NIC(call)                                     \
  do {                                                    \
    const stretto_nic_result_t result_ = (call);          \
    if (result_ != STRETTO_NIC_RESULT_OK) return result_; \
  } while (0)

static uint64_t at(const stretto_cluster_t* cluster, uint64_t offset) {
  return cluster->options.memory + offset;
}

static int is_self(const stretto_cluster_t* cluster, uint32_t server) {
  return server == cluster->options.server;
}

// Queue pair 0 is that of datagrams; server s has pair 1 + s to each other one.
static uint32_t pair_of(uint32_t server) { return 1 + server; }

// Datagrams

static uint64_t message_to(const stretto_cluster_t* cluster, uint64_t server) {
  return at(cluster, MESSAGES_OFFSET) + 64 * server;
}

static uint64_t message_in(const stretto_cluster_t* cluster, uint64_t slot) {
  return at(cluster, MESSAGES_OFFSET) + 64 * (STRETTO_CLUSTER_SERVERS + slot);
}

static stretto_nic_result_t offer_receive(stretto_cluster_t* cluster, uint64_t slot) {
  const stretto_nic_work_entry_t entry = {
      .id = slot,
      .local_address = message_in(cluster, slot),
      .local_key = cluster->words_key,
      .length = sizeof(message_t),
  };
  return stretto_nic_post_receive(&cluster->datagrams, &entry);
}

static void say(stretto_cluster_t* cluster, uint32_t server) {
  const stretto_cluster_options_t* o = &cluster->options;
  const message_t message = {.heap = o->heap,
                             .heap_bytes = o->heap_bytes,
                             .words = at(cluster, WORDS_OFFSET),
                             .heap_key = cluster->heap_key,
                             .words_key = cluster->words_key,
                             .knows = cluster->peer[server].known,
                             .asks = !cluster->peer[server].knows};
  o->ops->store_bytes(o->ops->context, message_to(cluster, server), &message, sizeof message);
  const stretto_nic_work_entry_t entry = {
      .opcode = STRETTO_NIC_SEND,
      .id = server,
      .peer_node = (uint8_t)(STRETTO_NODE_NIC + server),
      .local_address = message_to(cluster, server),
      .local_key = cluster->words_key,
      .length = sizeof message,
  };
  // If the ring is full it is said again later.
  if (stretto_nic_post(&cluster->datagrams, &entry) == STRETTO_NIC_RESULT_OK)
    ++cluster->datagrams_open;
}

static void hear(stretto_cluster_t* cluster, const stretto_nic_completion_t* completion) {
  if (completion->opcode != STRETTO_NIC_RECEIVE) {
    --cluster->datagrams_open;
    return;
  }
  const stretto_host_ops_t* ops = cluster->options.ops;
  const uint32_t server = (uint32_t)(completion->value >> 16) - STRETTO_NODE_NIC;
  message_t message;
  ops->read(ops->context, message_in(cluster, completion->id), &message, sizeof message);
  offer_receive(cluster, completion->id);
  if (server >= cluster->options.servers || is_self(cluster, server)) return;
  stretto_cluster_peer_t* peer = &cluster->peer[server];
  peer->heap = message.heap;
  peer->heap_bytes = message.heap_bytes;
  peer->words = message.words;
  peer->heap_key = message.heap_key;
  peer->words_key = message.words_key;
  peer->known = 1;
  if (message.knows) peer->knows = 1;
  if (message.asks) say(cluster, server);
}

// Joining

static stretto_nic_result_t refuse(stretto_cluster_t* cluster, const char* what) {
  snprintf(cluster->error, sizeof cluster->error, "cluster: %s", what);
  return STRETTO_NIC_RESULT_ARGUMENT;
}

static stretto_nic_result_t open_pairs(stretto_cluster_t* cluster) {
  const stretto_cluster_options_t* o = &cluster->options;
  TRY_NIC(stretto_nic_init(&cluster->nic, o->ops, o->server, at(cluster, RELEASE_OFFSET)));
  TRY_NIC(stretto_nic_queue_init(&cluster->queue, &cluster->nic, 0, at(cluster, COMPLETIONS_OFFSET),
                                 COMPLETIONS_LOG2));
  TRY_NIC(stretto_nic_register(&cluster->nic, STRETTO_CLUSTER_HEAP_REGION, o->heap, o->heap_bytes,
                               STRETTO_NIC_LOCAL_WRITE | STRETTO_NIC_REMOTE_READ |
                                   STRETTO_NIC_REMOTE_WRITE | STRETTO_NIC_REMOTE_ATOMIC,
                               &cluster->heap_key));
  TRY_NIC(stretto_nic_register(&cluster->nic, STRETTO_CLUSTER_WORDS_REGION,
                               at(cluster, WORDS_OFFSET), COMPLETIONS_OFFSET - WORDS_OFFSET,
                               STRETTO_NIC_LOCAL_WRITE | STRETTO_NIC_REMOTE_WRITE,
                               &cluster->words_key));
  for (uint32_t i = 0; i <= o->servers; ++i) {  // i: number of the pair.
    const uint64_t rings = at(cluster, RINGS_OFFSET) + 2 * i * RING_BYTES;
    stretto_nic_pair_t* pair = i == 0 ? &cluster->datagrams : &cluster->peer[i - 1].pair;
    if (i == pair_of(o->server)) continue;
    TRY_NIC(stretto_nic_pair_init(pair, &cluster->nic, i, rings, rings + RING_BYTES,
                                  STRETTO_CLUSTER_RING_LOG2, &cluster->queue, 0));
    TRY_NIC(stretto_nic_connect(pair, i == 0 ? 0 : i - 1, i == 0 ? 0 : pair_of(o->server)));
  }
  for (uint64_t slot = 0; slot < RECEIVES; ++slot) TRY_NIC(offer_receive(cluster, slot));
  return STRETTO_NIC_RESULT_OK;
}

static uint64_t next_completion(const stretto_cluster_t* cluster) {
  const stretto_nic_queue_t* queue = &cluster->queue;
  return queue->memory + queue->read % queue->entries * STRETTO_NIC_COMPLETION_BYTES +
         STRETTO_NIC_COMPLETION_BYTES - 8;
}

// The first server that this one does not know, or that has not said that it knows this one.
static uint32_t first_missing(const stretto_cluster_t* cluster) {
  uint32_t i = 0;
  while (i < cluster->options.servers &&
         (is_self(cluster, i) || (cluster->peer[i].known && cluster->peer[i].knows)))
    ++i;
  return i;
}

// One that is not there yet, or whose datagram was lost, is told again.
static stretto_nic_result_t meet(stretto_cluster_t* cluster) {
  const stretto_cluster_options_t* o = &cluster->options;
  uint64_t until = 0;
  for (uint32_t rounds = 0; first_missing(cluster) < o->servers || cluster->datagrams_open != 0;) {
    const uint64_t now = o->ops->now_ns(o->ops->context);
    if (now >= until) {
      if (rounds++ == JOIN_ROUNDS) {
        snprintf(cluster->error, sizeof cluster->error, "cluster: server %u does not join",
                 first_missing(cluster));
        return STRETTO_NIC_RESULT_FAILED;
      }
      until = now + RESEND_NS;
      for (uint32_t i = 0; i < o->servers; ++i)
        if (!is_self(cluster, i) && !(cluster->peer[i].known && cluster->peer[i].knows))
          say(cluster, i);
    }
    const stretto_host_word_t word = {next_completion(cluster), STRETTO_WAIT_AT_LEAST,
                                      cluster->queue.read + 1};
    if (o->ops->wait_any(o->ops->context, &word, 1, until) == 1) continue;
    stretto_nic_completion_t completion;
    if (stretto_nic_poll(&cluster->queue, &completion) == STRETTO_NIC_RESULT_OK)
      hear(cluster, &completion);
  }
  return STRETTO_NIC_RESULT_OK;
}

stretto_nic_result_t stretto_cluster_join(stretto_cluster_t* cluster,
                                          const stretto_cluster_options_t* options) {
  memset(cluster, 0, sizeof *cluster);
  cluster->options = *options;
  if (options->servers < 2 || options->servers > STRETTO_CLUSTER_SERVERS ||
      options->server >= options->servers)
    return refuse(cluster, "2 to 32 servers, and a server of them");
  if (open_pairs(cluster) != STRETTO_NIC_RESULT_OK)
    return refuse(cluster, "memory or heap that there is not");
  return meet(cluster);
}

// Operations

uint64_t stretto_cluster_at(const stretto_cluster_t* cluster, uint32_t server, uint64_t offset) {
  return (is_self(cluster, server) ? cluster->options.heap : cluster->peer[server].heap) + offset;
}

stretto_nic_result_t stretto_cluster_post(stretto_cluster_t* cluster, uint32_t server,
                                          const stretto_nic_work_entry_t* entry) {
  if (server >= cluster->options.servers || is_self(cluster, server))
    return refuse(cluster, "no other server");
  return stretto_nic_post(&cluster->peer[server].pair, entry);
}

stretto_nic_result_t stretto_cluster_send(stretto_cluster_t* cluster, uint32_t server,
                                          uint64_t address, uint32_t bytes) {
  const stretto_nic_work_entry_t entry = {.opcode = STRETTO_NIC_SEND,
                                          .local_address = address,
                                          .local_key = cluster->heap_key,
                                          .length = bytes};
  return stretto_cluster_post(cluster, server, &entry);
}

stretto_nic_result_t stretto_cluster_receive(stretto_cluster_t* cluster, uint32_t server,
                                             uint64_t address, uint32_t bytes) {
  const stretto_nic_work_entry_t entry = {
      .local_address = address, .local_key = cluster->heap_key, .length = bytes};
  if (server >= cluster->options.servers || is_self(cluster, server))
    return refuse(cluster, "no other server");
  return stretto_nic_post_receive(&cluster->peer[server].pair, &entry);
}

void stretto_cluster_wait(stretto_cluster_t* cluster, stretto_nic_completion_t* completion) {
  for (;;) {
    stretto_nic_wait(&cluster->queue, completion);
    if (completion->queue_pair == 0) {
      hear(cluster, completion);
    } else if (completion->id == TOLD_ID && completion->status == STRETTO_NIC_OK) {
      --cluster->told;
    } else {
      return;
    }
  }
}

// Puts the word of this server, of the row that begins with word `words`.
static stretto_nic_result_t tell(stretto_cluster_t* cluster, uint32_t server, uint32_t words,
                                 uint64_t value) {
  stretto_cluster_peer_t* peer = &cluster->peer[server];
  const stretto_nic_work_entry_t entry = {
      .opcode = STRETTO_NIC_PUT,
      .flags = STRETTO_NIC_INLINE,
      .id = TOLD_ID,
      .remote_address = peer->words + 8 * (words + cluster->options.server),
      .remote_key = peer->words_key,
      .length = 8,
      .operand = value};
  ++cluster->told;
  return stretto_nic_post(&peer->pair, &entry);
}

stretto_nic_result_t stretto_cluster_barrier(stretto_cluster_t* cluster) {
  const stretto_cluster_options_t* o = &cluster->options;
  ++cluster->barriers;
  for (uint32_t i = 0; i < o->servers; ++i)
    if (!is_self(cluster, i)) TRY_NIC(tell(cluster, i, 0, cluster->barriers));
  for (uint32_t i = 0; i < o->servers || cluster->told != 0;) {
    if (i < o->servers && is_self(cluster, i)) {
      ++i;
      continue;
    }
    const stretto_host_word_t words[2] = {
        {next_completion(cluster), STRETTO_WAIT_AT_LEAST, cluster->queue.read + 1},
        {at(cluster, WORDS_OFFSET) + 8 * i, STRETTO_WAIT_AT_LEAST, cluster->barriers}};
    if (o->ops->wait_any(o->ops->context, words, i < o->servers ? 2 : 1, UINT64_MAX) == 1) {
      ++i;
      continue;
    }
    stretto_nic_completion_t completion;
    if (stretto_nic_poll(&cluster->queue, &completion) != STRETTO_NIC_RESULT_OK) continue;
    if (completion.queue_pair == 0) {
      hear(cluster, &completion);
      continue;
    }
    --cluster->told;
    if (completion.status == STRETTO_NIC_OK) continue;
    snprintf(cluster->error, sizeof cluster->error, "cluster: barrier %llu: server %u: %s",
             (unsigned long long)cluster->barriers, completion.queue_pair - 1u,
             stretto_nic_status_text(completion.status));
    return STRETTO_NIC_RESULT_FAILED;
  }
  return STRETTO_NIC_RESULT_OK;
}

stretto_nic_result_t stretto_cluster_exchange(stretto_cluster_t* cluster, uint32_t value,
                                              uint32_t* values) {
  const stretto_cluster_options_t* o = &cluster->options;
  const uint64_t number = ++cluster->exchanges << 32;
  // A word is written again two exchanges later: all have read it then.
  const uint32_t words = STRETTO_CLUSTER_SERVERS * (1 + cluster->exchanges % 2);
  values[o->server] = value;
  for (uint32_t i = 1; i < o->servers; ++i)
    TRY_NIC(tell(cluster, (o->server + i) % o->servers, words, number | value));
  for (uint32_t i = 0; i < o->servers; ++i) {
    if (is_self(cluster, i)) continue;
    values[i] = (uint32_t)o->ops->wait(o->ops->context, at(cluster, WORDS_OFFSET) + 8 * (words + i),
                                       STRETTO_WAIT_AT_LEAST, number);
  }
  return STRETTO_NIC_RESULT_OK;
}
