// SPDX-License-Identifier: Apache-2.0
// See verbs.h.
#include "sw/net/verbs.h"

#include "sw/include/regs/field.h"
#include "sw/include/regs/nic_regs.h"  // Generated.

#define MAX_ENTRIES_LOG2 15u
#define ALL_ACCESS                                                                \
  (STRETTO_NIC_LOCAL_WRITE | STRETTO_NIC_REMOTE_READ | STRETTO_NIC_REMOTE_WRITE | \
   STRETTO_NIC_REMOTE_ATOMIC)

_Static_assert(STRETTO_NIC_REGIONS == NIC_REGION_CONFIG_COUNT, "as many as there are registers");
_Static_assert(STRETTO_NIC_QUEUES == NIC_COMPLETION_CONFIG_COUNT, "as many as there are registers");
_Static_assert(STRETTO_NIC_PAIRS == NIC_PAIR_CONFIG_COUNT, "as many as there are registers");

static void write64(const stretto_nic_t* nic, uint64_t offset, uint64_t value) {
  nic->ops->write(nic->ops->context, nic->base + offset, &value, 8);
}

static void set(const stretto_nic_t* nic, uint64_t offset, uint64_t value) {
  write64(nic, STRETTO_NIC_REGISTERS + offset, value);
}

static void ring_doorbell(const stretto_nic_t* nic, uint32_t page, uint8_t kind, uint32_t queue,
                          uint32_t index) {
  write64(nic, STRETTO_DOORBELL_APERTURE + (uint64_t)page * STRETTO_NIC_PAGE_BYTES,
          stretto_nic_doorbell(kind, (uint16_t)queue, index));
}

// Memory that the ops reach: where the release words lie.
static int in_own_memory(const stretto_nic_t* nic, uint64_t address, uint64_t alignment) {
  return address >> STRETTO_NODE_SHIFT == nic->release >> STRETTO_NODE_SHIFT &&
         address % alignment == 0;
}

static int is_memory(uint64_t address, uint64_t alignment) {
  const uint64_t node = address >> STRETTO_NODE_SHIFT;
  return (node == STRETTO_NODE_HOST || (node >= 1 && node <= STRETTO_MAX_GPUS)) &&
         address % alignment == 0;
}

stretto_nic_result_t stretto_nic_attach(stretto_nic_t* nic, const stretto_host_ops_t* ops,
                                        uint32_t server) {
  if (server >= STRETTO_MAX_SERVERS) return STRETTO_NIC_RESULT_ARGUMENT;
  *nic = (stretto_nic_t){.ops = ops,
                         .base = (uint64_t)(STRETTO_NODE_NIC + server) << STRETTO_NODE_SHIFT};
  return STRETTO_NIC_RESULT_OK;
}

stretto_nic_result_t stretto_nic_init(stretto_nic_t* nic, const stretto_host_ops_t* ops,
                                      uint32_t server, uint64_t release) {
  if (!is_memory(release, 8)) return STRETTO_NIC_RESULT_ARGUMENT;
  const stretto_nic_result_t result = stretto_nic_attach(nic, ops, server);
  if (result != STRETTO_NIC_RESULT_OK) return result;
  nic->release = release;
  set(nic, NIC_RELEASE_OFFSET, release);
  return STRETTO_NIC_RESULT_OK;
}

// Memory

stretto_nic_result_t stretto_nic_register(stretto_nic_t* nic, uint32_t region, uint64_t address,
                                          uint64_t bytes, uint32_t access, uint32_t* key) {
  if (region >= STRETTO_NIC_REGIONS || nic->registered[region] || bytes == 0 ||
      (access & ~ALL_ACCESS) != 0 || address >> STRETTO_NODE_SHIFT > STRETTO_NODE_HOST ||
      bytes - 1 > STRETTO_OFFSET_MASK - (address & STRETTO_OFFSET_MASK))
    return STRETTO_NIC_RESULT_ARGUMENT;
  const uint8_t generation = nic->generation[region]++;
  nic->registered[region] = 1;
  set(nic, NIC_REGION_BASE_OFFSET_AT(region), address);
  set(nic, NIC_REGION_BYTES_OFFSET_AT(region), bytes);
  set(nic, NIC_REGION_CONFIG_OFFSET_AT(region),
      NIC_REGION_CONFIG_VALID_MASK | STRETTO_FIELD(NIC_REGION_CONFIG_ACCESS, access) |
          STRETTO_FIELD(NIC_REGION_CONFIG_GENERATION, generation));
  *key = stretto_nic_key(region, generation);
  return STRETTO_NIC_RESULT_OK;
}

stretto_nic_result_t stretto_nic_deregister(stretto_nic_t* nic, uint32_t region) {
  if (region >= STRETTO_NIC_REGIONS || !nic->registered[region]) return STRETTO_NIC_RESULT_ARGUMENT;
  // The word of an earlier registration must not be taken for this one's.
  const uint64_t word = nic->release + 8 * (uint64_t)region;
  nic->ops->store(nic->ops->context, word, 0);
  set(nic, NIC_REGION_CONFIG_OFFSET_AT(region), 0);
  nic->ops->wait(nic->ops->context, word, STRETTO_WAIT_NOT_EQUAL, 0);
  nic->registered[region] = 0;
  return STRETTO_NIC_RESULT_OK;
}

// Queues

stretto_nic_result_t stretto_nic_queue_configure(const stretto_nic_t* nic, uint32_t number,
                                                 uint64_t memory, uint32_t entries_log2) {
  if (number >= STRETTO_NIC_QUEUES || entries_log2 > MAX_ENTRIES_LOG2 ||
      !is_memory(memory, STRETTO_NIC_COMPLETION_BYTES))
    return STRETTO_NIC_RESULT_ARGUMENT;
  set(nic, NIC_COMPLETION_BASE_OFFSET_AT(number), memory);
  set(nic, NIC_COMPLETION_CONFIG_OFFSET_AT(number),
      NIC_COMPLETION_CONFIG_VALID_MASK |
          STRETTO_FIELD(NIC_COMPLETION_CONFIG_ENTRIES_LOG2, entries_log2));
  return STRETTO_NIC_RESULT_OK;
}

stretto_nic_result_t stretto_nic_queue_attach(stretto_nic_queue_t* queue, stretto_nic_t* nic,
                                              uint32_t number, uint64_t memory,
                                              uint32_t entries_log2) {
  if (number >= STRETTO_NIC_QUEUES || entries_log2 > MAX_ENTRIES_LOG2 ||
      !is_memory(memory, STRETTO_NIC_COMPLETION_BYTES))
    return STRETTO_NIC_RESULT_ARGUMENT;
  *queue = (stretto_nic_queue_t){
      .nic = nic, .number = number, .memory = memory, .entries = 1u << entries_log2};
  return STRETTO_NIC_RESULT_OK;
}

stretto_nic_result_t stretto_nic_queue_init(stretto_nic_queue_t* queue, stretto_nic_t* nic,
                                            uint32_t number, uint64_t memory,
                                            uint32_t entries_log2) {
  if (!in_own_memory(nic, memory, STRETTO_NIC_COMPLETION_BYTES)) return STRETTO_NIC_RESULT_ARGUMENT;
  const stretto_nic_result_t result =
      stretto_nic_queue_attach(queue, nic, number, memory, entries_log2);
  if (result != STRETTO_NIC_RESULT_OK) return result;
  return stretto_nic_queue_configure(nic, number, memory, entries_log2);
}

stretto_nic_result_t stretto_nic_pair_attach(stretto_nic_pair_t* pair, stretto_nic_t* nic,
                                             uint32_t number, uint64_t send_memory,
                                             uint64_t receive_memory, uint32_t entries_log2,
                                             stretto_nic_queue_t* completions, uint32_t page) {
  if (number >= STRETTO_NIC_PAIRS || entries_log2 > MAX_ENTRIES_LOG2 || page >= STRETTO_NIC_PAGES ||
      completions->nic != nic || !is_memory(send_memory, STRETTO_NIC_WORK_ENTRY_BYTES) ||
      !is_memory(receive_memory, STRETTO_NIC_WORK_ENTRY_BYTES))
    return STRETTO_NIC_RESULT_ARGUMENT;
  *pair =
      (stretto_nic_pair_t){.nic = nic,
                           .number = number,
                           .page = page,
                           .completions = completions,
                           .send = {.memory = send_memory, .entries = 1u << entries_log2},
                           .receive = {.memory = receive_memory, .entries = 1u << entries_log2}};
  nic->pairs[number] = pair;
  return STRETTO_NIC_RESULT_OK;
}

stretto_nic_result_t stretto_nic_pair_init(stretto_nic_pair_t* pair, stretto_nic_t* nic,
                                           uint32_t number, uint64_t send_memory,
                                           uint64_t receive_memory, uint32_t entries_log2,
                                           stretto_nic_queue_t* completions, uint32_t page) {
  if (!in_own_memory(nic, send_memory, STRETTO_NIC_WORK_ENTRY_BYTES) ||
      !in_own_memory(nic, receive_memory, STRETTO_NIC_WORK_ENTRY_BYTES))
    return STRETTO_NIC_RESULT_ARGUMENT;
  return stretto_nic_pair_attach(pair, nic, number, send_memory, receive_memory, entries_log2,
                                 completions, page);
}

static uint32_t log2_of(uint32_t entries) {
  uint32_t log2 = 0;
  while (entries >> log2 != 1) ++log2;
  return log2;
}

stretto_nic_result_t stretto_nic_connect(stretto_nic_pair_t* pair, uint32_t peer_server,
                                         uint32_t peer) {
  if (peer_server >= STRETTO_MAX_SERVERS || peer >= STRETTO_NIC_PAIRS)
    return STRETTO_NIC_RESULT_ARGUMENT;
  const uint32_t number = pair->number;
  const uint32_t entries_log2 = log2_of(pair->send.entries);
  pair->send.posted = pair->send.ended = pair->receive.posted = pair->receive.ended = 0;
  set(pair->nic, NIC_PAIR_SEND_BASE_OFFSET_AT(number), pair->send.memory);
  set(pair->nic, NIC_PAIR_RECEIVE_BASE_OFFSET_AT(number), pair->receive.memory);
  set(pair->nic, NIC_PAIR_PEER_OFFSET_AT(number),
      STRETTO_FIELD(NIC_PAIR_PEER_QUEUE_PAIR, peer) |
          STRETTO_FIELD(NIC_PAIR_PEER_NODE, STRETTO_NODE_NIC + peer_server));
  set(pair->nic, NIC_PAIR_CONFIG_OFFSET_AT(number),
      NIC_PAIR_CONFIG_VALID_MASK | STRETTO_FIELD(NIC_PAIR_CONFIG_SEND_ENTRIES_LOG2, entries_log2) |
          STRETTO_FIELD(NIC_PAIR_CONFIG_RECEIVE_ENTRIES_LOG2, entries_log2) |
          STRETTO_FIELD(NIC_PAIR_CONFIG_SEND_COMPLETION, pair->completions->number) |
          STRETTO_FIELD(NIC_PAIR_CONFIG_RECEIVE_COMPLETION, pair->completions->number) |
          STRETTO_FIELD(NIC_PAIR_CONFIG_PAGE, pair->page));
  return STRETTO_NIC_RESULT_OK;
}

// Operations

static stretto_nic_result_t post(const stretto_nic_pair_t* pair, stretto_nic_ring_t* ring,
                                 uint8_t kind, const stretto_nic_work_entry_t* entry) {
  if (ring->posted - ring->ended == ring->entries) return STRETTO_NIC_RESULT_FULL;
  const stretto_host_ops_t* ops = pair->nic->ops;
  ops->store_bytes(ops->context,
                   ring->memory + (uint64_t)(ring->posted % ring->entries) * sizeof *entry, entry,
                   sizeof *entry);
  ring_doorbell(pair->nic, pair->page, kind, pair->number, ++ring->posted);
  return STRETTO_NIC_RESULT_OK;
}

stretto_nic_result_t stretto_nic_post(stretto_nic_pair_t* pair,
                                      const stretto_nic_work_entry_t* entry) {
  stretto_nic_work_entry_t signaled = *entry;
  signaled.flags |= STRETTO_NIC_SIGNALED;  // So that it is known when its place is free.
  return post(pair, &pair->send, STRETTO_NIC_DOORBELL_SEND, &signaled);
}

stretto_nic_result_t stretto_nic_post_receive(stretto_nic_pair_t* pair,
                                              const stretto_nic_work_entry_t* entry) {
  stretto_nic_work_entry_t receive = *entry;
  receive.opcode = STRETTO_NIC_RECEIVE;
  return post(pair, &pair->receive, STRETTO_NIC_DOORBELL_RECEIVE, &receive);
}

static uint64_t next_entry(const stretto_nic_queue_t* queue) {
  return queue->memory + queue->read % queue->entries * STRETTO_NIC_COMPLETION_BYTES;
}

stretto_nic_result_t stretto_nic_poll(stretto_nic_queue_t* queue,
                                      stretto_nic_completion_t* completion) {
  const stretto_host_ops_t* ops = queue->nic->ops;
  ops->read(ops->context, next_entry(queue), completion, sizeof *completion);
  if (completion->serial != queue->read + 1) return STRETTO_NIC_RESULT_EMPTY;
  ++queue->read;
  // Not for each one: until it is told, the NIC takes what was read for places that are not free.
  const uint32_t step = queue->entries > 1 ? queue->entries / 2 : 1;
  if (queue->read % step == 0)
    ring_doorbell(queue->nic, 0, STRETTO_NIC_DOORBELL_COMPLETION, queue->number,
                  (uint32_t)queue->read);
  stretto_nic_pair_t* pair = queue->nic->pairs[completion->queue_pair];
  stretto_nic_ring_t* ring =
      completion->opcode == STRETTO_NIC_RECEIVE ? &pair->receive : &pair->send;
  ++ring->ended;
  return STRETTO_NIC_RESULT_OK;
}

void stretto_nic_wait(stretto_nic_queue_t* queue, stretto_nic_completion_t* completion) {
  const stretto_host_ops_t* ops = queue->nic->ops;
  do {
    // The entry held the serial of a round before, which is less.
    ops->wait(ops->context, next_entry(queue) + STRETTO_NIC_COMPLETION_BYTES - 8,
              STRETTO_WAIT_AT_LEAST, queue->read + 1);
  } while (stretto_nic_poll(queue, completion) != STRETTO_NIC_RESULT_OK);
}

const char* stretto_nic_status_text(uint32_t status) {
  static const char* const kTexts[] = {"ok",
                                       "no such operation or flag",
                                       "length not allowed",
                                       "local key does not allow it, or memory does not answer",
                                       "remote key does not allow it",
                                       "memory of the peer does not answer",
                                       "longer than what the peer has room for, or not aligned",
                                       "the peer does not answer",
                                       "flushed behind an error of its queue pair"};
  return status < sizeof kTexts / sizeof kTexts[0] ? kTexts[status] : "unknown status";
}
