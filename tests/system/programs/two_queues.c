// SPDX-License-Identifier: Apache-2.0
// Two queues of one GPU: a kernel that fills it, and work that shall not wait for it. Each
// work-group of every kernel counts once, whatever was stopped in between.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/collectives/runtime.h"
#include "tests/system/programs/load_kernels.h"
#include "tests/system/programs/must.h"
#include "tests/system/programs/two_queues_arguments.h"

#define BACKGROUND 200u
#define URGENT 8u
#define MANY 4000u
#define PLACES (STRETTO_ARGUMENT_BUFFER_BYTES / 128u)

typedef struct queue {
  cudaStream_t cuda;
  stretto_stream_t* stream;
} queue_t;

static stretto_client_t* client;
static stretto_kernel_t kernel, more, most;  // By the registers of a work-group.

static queue_t create(int priority) {
  queue_t queue;
  MUST(cudaStreamCreateWithPriority(&queue.cuda, 0, priority) == cudaSuccess);
  queue.stream = stretto_runtime_stream(queue.cuda, &client);
  return queue;
}

static uint64_t words(uint32_t count) {
  void* memory = NULL;
  MUST(cudaMalloc(&memory, 8 * count) == cudaSuccess);
  MUST(cudaMemset(memory, 0, 8 * count) == cudaSuccess);
  return (uint64_t)memory;
}

static stretto_launch_t of(const count_arguments_t* arguments, uint32_t work_groups) {
  return (stretto_launch_t){.kernel = &kernel,
                            .arguments = arguments,
                            .argument_bytes = sizeof *arguments,
                            .work_groups = work_groups,
                            .account = STRETTO_ACCOUNT_JOB,
                            .after_all_earlier = 1};
}

static void launch(const queue_t* queue, uint64_t counts, uint32_t work_groups, uint64_t rounds) {
  const count_arguments_t arguments = {.counts = counts, .rounds = rounds};
  const stretto_launch_t one = of(&arguments, work_groups);
  MUST(client->api->launch(client, queue->stream, &one) == STRETTO_OK);
}

static unsigned long long wait_for(const queue_t* queue) {
  MUST(cudaStreamSynchronize(queue->cuda) == cudaSuccess);
  return stretto_time();
}

static void expect(uint64_t counts, uint32_t work_groups, uint64_t times) {
  uint64_t* host = calloc(work_groups, 8);
  MUST(cudaMemcpy(host, (void*)counts, 8ul * work_groups, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (uint32_t i = 0; i < work_groups; ++i) {
    if (host[i] == times * WAVEFRONTS) continue;
    printf("work-group %u counted %llu\n", i, (unsigned long long)host[i]);
    exit(1);
  }
  free(host);
}

// Time of the urgent kernel beside the one that fills the GPU.
static unsigned long long urgent_time(const queue_t* background, const queue_t* urgent) {
  const uint64_t first = words(BACKGROUND), second = words(URGENT);
  launch(background, first, BACKGROUND, 20000);
  const unsigned long long begin = stretto_time();
  launch(urgent, second, URGENT, 20000);
  const unsigned long long took = wait_for(urgent) - begin;
  wait_for(background);
  expect(first, BACKGROUND, 1);
  expect(second, URGENT, 1);
  return took;
}

// A small kernel of another queue, of the same priority: as GPUs do it waits until all work-groups of
// the one before are placed; in turn it does not.
static void ordered(const queue_t* background, const queue_t* equal) {
  unsigned long long took[2];
  for (uint32_t in_order = 0; in_order < 2; ++in_order) {
    const stretto_scheduler_policy_t policy = {.in_order = in_order};
    MUST(client->api->scheduler_policy(client, equal->stream, &policy) == STRETTO_OK);
    wait_for(equal);
    took[in_order] = urgent_time(background, equal);
  }
  printf("in turn: %llu ns, in order of launch: %llu ns\n", took[0], took[1]);
  MUST(2 * took[0] < took[1]);
}

static void preempted(const queue_t* background, const queue_t* urgent) {
  const stretto_api_t* api = client->api;
  const uint64_t first = words(BACKGROUND), second = words(URGENT), behind = words(URGENT);
  launch(urgent, second, URGENT, 20000);
  unsigned long long begin = stretto_time();
  const unsigned long long alone = wait_for(urgent) - begin;
  begin = stretto_time();
  launch(background, first, BACKGROUND, 20000);
  launch(background, behind, URGENT, 100);
  MUST(api->preempt(client, urgent->stream, background->stream, 0) == STRETTO_OK);
  const unsigned long long stopped = wait_for(urgent);
  launch(urgent, second, URGENT, 20000);
  const unsigned long long beside = wait_for(urgent) - stopped;
  // Long enough for all that was left.
  launch(urgent, second, URGENT, 400000);
  const unsigned long long later = wait_for(urgent);
  MUST(api->resume(client, urgent->stream, background->stream) == STRETTO_OK);
  wait_for(urgent);
  const unsigned long long end = wait_for(background);
  expect(first, BACKGROUND, 1);
  expect(second, URGENT, 3);
  expect(behind, URGENT, 1);
  printf("stopped after %llu ns, urgent %llu ns alone and %llu ns beside, went on for %llu ns\n",
         stopped - begin, alone, beside, end - later);
  MUST(beside < alone + alone / 10);
  MUST(end - later > 2 * (stopped - begin));
  // What is not possible is said.
  MUST(api->resume(client, urgent->stream, background->stream) == STRETTO_OK);
  MUST(cudaStreamSynchronize(urgent->cuda) != cudaSuccess);
  MUST(api->preempt(client, urgent->stream, urgent->stream, 0) == STRETTO_ERROR_ARGUMENT);
}

// A kernel of many short work-groups is stopped again and again with a drain, which finds some that
// have not begun.
static void drained(const queue_t* background, const queue_t* urgent) {
  const stretto_api_t* api = client->api;
  const uint64_t counts = words(MANY);
  launch(background, counts, MANY, 50);
  for (unsigned i = 0; i < 12; ++i) {
    MUST(api->preempt(client, urgent->stream, background->stream, 1) == STRETTO_OK);
    MUST(api->resume(client, urgent->stream, background->stream) == STRETTO_OK);
    wait_for(urgent);
  }
  wait_for(background);
  expect(counts, MANY, 1);
}

// More launches than there are places for arguments, beside a kernel that is stopped and resumed
// behind them by the same thread.
static void arguments_beside(const queue_t* background, const queue_t* urgent) {
  const stretto_api_t* api = client->api;
  const uint64_t first = words(BACKGROUND), second = words(1);
  launch(background, first, BACKGROUND, 20000);
  MUST(api->preempt(client, urgent->stream, background->stream, 0) == STRETTO_OK);
  for (unsigned i = 0; i < PLACES + 8; ++i) launch(urgent, second, 1, 1);
  MUST(api->resume(client, urgent->stream, background->stream) == STRETTO_OK);
  wait_for(urgent);
  wait_for(background);
  expect(first, BACKGROUND, 1);
  expect(second, 1, PLACES + 8);
}

// Members of a pipeline that end one after the other, longest last: all that they have counted is in
// memory when they are complete.
static void boundary(const queue_t* queue) {
  const uint64_t counts = words(4 * URGENT);
  count_arguments_t arguments[4];
  stretto_launch_t members[4];
  for (unsigned k = 0; k < 4; ++k) {
    arguments[k] =
        (count_arguments_t){.counts = counts + 8 * URGENT * k, .rounds = 10000 + 20000 * k};
    members[k] = of(&arguments[k], URGENT / 2);
  }
  MUST(client->api->launch_pipeline(client, queue->stream, members, 4) == STRETTO_OK);
  wait_for(queue);
  for (unsigned k = 0; k < 4; ++k) expect(counts + 8 * URGENT * k, URGENT / 2, 1);
}

// Two pipelines of two kernels that wait for each other, each as large as the GPU, which is full. A
// part of each would fit, and would never end.
static void pipelines(const queue_t* background, const queue_t* queues) {
  const uint64_t first = words(BACKGROUND);
  const uint64_t counts[2] = {words(2 * URGENT), words(2 * URGENT)};
  const uint64_t meeting[2] = {words(1), words(1)};
  // No work-group ends before both pipelines have come.
  launch(background, first, BACKGROUND, 60000);
  for (unsigned i = 0; i < 2; ++i) {
    count_arguments_t arguments[2];
    stretto_launch_t members[2];
    for (unsigned k = 0; k < 2; ++k) {
      arguments[k] = (count_arguments_t){.counts = counts[i] + 8 * URGENT * k,
                                         .rounds = 100,
                                         .meeting = meeting[i],
                                         .all = 2 * URGENT * WAVEFRONTS};
      members[k] = of(&arguments[k], URGENT);
      members[k].after_all_earlier = 0;
    }
    MUST(client->api->launch_pipeline(client, queues[i].stream, members, 2) == STRETTO_OK);
  }
  const unsigned long long placed = wait_for(&queues[0]), also_placed = wait_for(&queues[1]);
  const unsigned long long end = wait_for(background);
  MUST(placed < end && also_placed < end);
  expect(first, BACKGROUND, 1);
  for (unsigned i = 0; i < 2; ++i) expect(counts[i], 2 * URGENT, 1);
}

// A pipeline of four kernels, types alternate and are in their packets alone; of each type there is a
// work-group for every unit. Work-groups stay until all have come.
static void pair(const queue_t* queue, uint32_t units, uint32_t in_order, uint32_t arbiters) {
  const stretto_scheduler_policy_t policy = {.in_order = in_order, .two_arbiters = arbiters == 2};
  MUST(client->api->scheduler_policy(client, queue->stream, &policy) == STRETTO_OK);
  const uint64_t counts = words(2 * units), meeting = words(1);
  count_arguments_t arguments[4];
  stretto_launch_t members[4];
  for (unsigned k = 0; k < 4; ++k) {
    arguments[k] = (count_arguments_t){.counts = counts + 4ul * units * k,
                                       .rounds = 1000,
                                       .meeting = meeting,
                                       .all = 2ul * units * WAVEFRONTS};
    members[k] = of(&arguments[k], units / 2);
    members[k].type =
        STRETTO_DISPATCH_TYPE(k % 2 == 0 ? STRETTO_KERNEL_SIMT : STRETTO_KERNEL_TENSOR);
  }
  MUST(client->api->launch_pipeline(client, queue->stream, members, 4) == STRETTO_OK);
  wait_for(queue);
  expect(counts, 2 * units, 1);
}

// Pipelines of two kernels that can never be resident at once; one that can runs behind them.
static void refused(const queue_t* queue) {
  const struct {
    const stretto_kernel_t* kernel[2];
    uint32_t work_groups[2];
  } cases[] = {
      {{&kernel, &kernel}, {4, 17}}, {{&kernel, &kernel}, {8, 9}}, {{&most, &more}, {5, 7}}};
  const uint64_t counts = words(2 * URGENT);
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const count_arguments_t arguments = {.counts = counts, .rounds = 1};
    stretto_launch_t members[2];
    for (unsigned k = 0; k < 2; ++k) {
      members[k] = of(&arguments, cases[i].work_groups[k]);
      members[k].kernel = cases[i].kernel[k];
    }
    MUST(client->api->launch_pipeline(client, queue->stream, members, 2) == STRETTO_OK);
    unsigned errors = 0;  // Packets of which each says so.
    while (client->api->stream_synchronize(client, queue->stream) == STRETTO_ERROR_RESOURCES)
      ++errors;
    MUST(errors >= 2);
    expect(counts, URGENT, 0);
  }
  const stretto_launch_t too_many[STRETTO_PIPELINE_MEMBERS + 1] = {0};
  MUST(client->api->launch_pipeline(client, queue->stream, too_many,
                                    STRETTO_PIPELINE_MEMBERS + 1) == STRETTO_ERROR_ARGUMENT);
  printf("%s\n", client->api->last_error(client));
  const uint64_t limit = client->options.l2_persist_bytes;
  MUST(client->api->set_persisting_l2_cache_size(client, queue->stream, limit + 1) ==
       STRETTO_ERROR_ARGUMENT);
  printf("%s\n", client->api->last_error(client));
  pair(queue, URGENT, 0, 2);
}

// One of three kernels of a pipeline counts where nothing is, while the others wait for it; or all run
// for long.
static void ended(const queue_t* queue, uint64_t wild, uint64_t rounds) {
  const uint64_t counts = words(4), meeting = words(1);
  count_arguments_t arguments[3];
  stretto_launch_t members[3];
  for (unsigned k = 0; k < 3; ++k) {
    arguments[k] = (count_arguments_t){.counts = k == 1 && wild ? wild : counts + 8 * k,
                                       .rounds = rounds,
                                       .meeting = k == 1 ? 0 : meeting,
                                       .all = (wild ? 3 : 2) * WAVEFRONTS};
    members[k] = of(&arguments[k], 1);
  }
  MUST(client->api->launch_pipeline(client, queue->stream, members, 3) == STRETTO_OK);
  wait_for(queue);
}

int main(int argc, char** argv) {
  MUST(argc == 3);
  const queue_t background = create(0), urgent = create(-3), equal = create(0);
  const stretto_module_t* module = load_module(client, argv[1]);
  kernel = kernel_of(client, module, "count");
  more = kernel_of(client, module, "count_more");
  most = kernel_of(client, module, "count_most");
  if (strcmp(argv[2], "priority") == 0) {
    // As GPUs do: a kernel waits for the work-groups of those before it.
    const stretto_scheduler_policy_t policy = {.in_order = 1, .two_arbiters = 1};
    MUST(client->api->scheduler_policy(client, urgent.stream, &policy) == STRETTO_OK);
    wait_for(&urgent);
    const unsigned long long first = urgent_time(&background, &urgent);
    const unsigned long long in_turn = urgent_time(&background, &equal);
    printf("urgent: %llu ns, in turn: %llu ns\n", first, in_turn);
    MUST(2 * first < in_turn);
  } else if (strcmp(argv[2], "order") == 0) {
    ordered(&background, &equal);
  } else if (strcmp(argv[2], "preempt") == 0) {
    preempted(&background, &urgent);
  } else if (strcmp(argv[2], "drain") == 0) {
    drained(&background, &urgent);
  } else if (strcmp(argv[2], "arguments") == 0) {
    arguments_beside(&background, &urgent);
  } else if (strcmp(argv[2], "boundary") == 0) {
    boundary(&urgent);
  } else if (strncmp(argv[2], "pair", 4) == 0) {
    pair(&urgent, (uint32_t)atoi(argv[2] + 6), argv[2][4] == 'o', (uint32_t)(argv[2][5] - '0'));
  } else if (strcmp(argv[2], "refused") == 0) {
    refused(&urgent);
  } else if (strcmp(argv[2], "wild") == 0) {
    ended(&urgent, stretto_gpu_address(0, 0xFFFFFFF000), 100);
  } else if (strcmp(argv[2], "long") == 0) {
    ended(&urgent, 0, 1ul << 40);
  } else if (strcmp(argv[2], "pipeline") == 0) {
    const queue_t queues[2] = {urgent, create(-3)};
    pipelines(&background, queues);
  } else {
    return 2;
  }
  printf("each work-group counted once\n");
  return 0;
}
