// SPDX-License-Identifier: Apache-2.0
// Kernels of all devices work on one word: of the host, or of device 0, by atomics over PCIe.
//   link_atomics ELF WHAT host|uncached|shared|card COUNT      card: of device 1, executes none
// It compares what each wavefront found and what is in the word at the end with what one after the
// other would give.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sw/collectives/runtime.h"
#include "sw/include/formats/card.h"
#include "tests/system/programs/link_atomics_arguments.h"
#include "tests/system/programs/load_kernels.h"
#include "tests/system/programs/must.h"

#define MOST 16
#define PAGE 4096u
#define WAVEFRONTS (LINK_GROUPS * LINK_WAVEFRONTS)
#define VALUES (WAVEFRONTS * LINK_MOST)
#define HOST_PAGE \
  (((uint64_t)STRETTO_NODE_HOST << STRETTO_NODE_SHIFT) + STRETTO_HOST_JOB_OFFSET(0) + 0x100000)

typedef struct device {
  stretto_client_t* client;
  cudaStream_t cuda;
  stretto_stream_t* stream;
  stretto_kernel_t kernel;
  void* out;
  uint64_t found[VALUES];
} device_t;

static device_t device[MOST];
static int devices;
static uint64_t word;  // Of all.
static uint64_t count;
static int of_host;

static void start(uint32_t d, uint64_t what, uint32_t groups, uint64_t until) {
  const link_arguments_t arguments = {.word = word,
                                      .out = (uint64_t)device[d].out,
                                      .number = d,
                                      .what = what,
                                      .count = count,
                                      .until = until};
  const stretto_launch_t launch = {.kernel = &device[d].kernel,
                                   .arguments = &arguments,
                                   .argument_bytes = sizeof arguments,
                                   .work_groups = groups,
                                   .account = STRETTO_ACCOUNT_JOB,
                                   .after_all_earlier = 1};
  MUST(device[d].client->api->launch(device[d].client, device[d].stream, &launch) == STRETTO_OK);
}

static void finish(uint32_t d) {
  MUST(cudaSetDevice((int)d) == cudaSuccess);
  const cudaError_t error = cudaStreamSynchronize(device[d].cuda);
  if (error != cudaSuccess) {
    printf("device %u: %s\n", d, device[d].client->api->last_error(device[d].client));
    exit(1);
  }
  MUST(cudaMemcpy(device[d].found, device[d].out, sizeof device[d].found, cudaMemcpyDeviceToHost) ==
       cudaSuccess);
}

static void start_all(uint64_t what) {
  for (int d = 0; d < devices; ++d) start((uint32_t)d, what, LINK_GROUPS, 0);
  for (int d = 0; d < devices; ++d) finish((uint32_t)d);
}

static void set_up(const char* elf, const char* where) {
  MUST(cudaGetDeviceCount(&devices) == cudaSuccess && devices <= MOST);
  of_host = strcmp(where, "host") == 0;
  for (int d = 0; d < devices; ++d) {
    device_t* const one = &device[d];
    MUST(cudaSetDevice(d) == cudaSuccess);
    MUST(cudaStreamCreate(&one->cuda) == cudaSuccess);
    one->stream = stretto_runtime_stream(one->cuda, &one->client);
    one->kernel = kernel_of(one->client, load_module(one->client, elf), "link_atomics");
    MUST(cudaMalloc(&one->out, sizeof one->found) == cudaSuccess);
    MUST(cudaMemset(one->out, 0, sizeof one->found) == cudaSuccess);
  }
  const stretto_api_t* const api = device[0].client->api;
  const uint64_t zeros[PAGE / 8] = {0};
  if (of_host) {
    word = HOST_PAGE;
    device[0].client->ops.store(device[0].client->ops.context, word, 0);
  } else if (strcmp(where, "card") == 0) {
    word = ((uint64_t)(STRETTO_NODE_CARD + 1) << STRETTO_NODE_SHIFT) + STRETTO_SEND_APERTURE;
  } else {
    MUST(api->allocate(
             device[0].client, device[0].stream, PAGE, PAGE,
             strcmp(where, "shared") == 0 ? STRETTO_ALLOCATION_SHARED : STRETTO_ALLOCATION_UNCACHED,
             &word) == STRETTO_OK);
    MUST(api->copy_to_device(device[0].client, word, zeros, PAGE) == STRETTO_OK);
  }
  const int first = of_host ? 0 : 1, last = strcmp(where, "card") == 0 ? 2 : devices;
  for (int d = first; d < last; ++d)
    MUST(api->remote_map(device[d].client, device[d].stream, word, PAGE, word, 0) == STRETTO_OK);
  for (int d = 0; d < devices; ++d) MUST(cudaStreamSynchronize(device[d].cuda) == cudaSuccess);
}

static uint64_t word_now(void) {
  uint64_t value = 0;
  if (of_host) {
    device[0].client->ops.peek(device[0].client->ops.context, word, &value, sizeof value);
  } else {
    static uint64_t kept[VALUES];  // The kernel that reads takes the place of what was found.
    memcpy(kept, device[0].found, sizeof kept);
    start(0, LINK_READ, 1, 0);
    finish(0);
    value = device[0].found[0];
    memcpy(device[0].found, kept, sizeof kept);
  }
  return value;
}

static int compare(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;
  return x < y ? -1 : x > y;
}

// All values that wavefronts have found, in rising order; returns how many.
static size_t all_found(uint64_t* values) {
  size_t n = 0;
  for (int d = 0; d < devices; ++d)
    for (uint32_t w = 0; w < WAVEFRONTS; ++w)
      for (uint64_t i = 0; i < count; ++i) values[n++] = device[d].found[w * LINK_MOST + i];
  qsort(values, n, sizeof *values, compare);
  return n;
}

// Each of 0 .. n - 1 once.
static void expect_each_once(uint64_t final) {
  static uint64_t values[MOST * VALUES];
  const size_t n = all_found(values);
  for (size_t i = 0; i < n; ++i) {
    if (values[i] == i) continue;
    printf("wrong: value %zu of %zu that atomics found is %llu\n", i, n,
           (unsigned long long)values[i]);
    exit(1);
  }
  if (final != n) {
    printf("wrong: the word is %llu after %zu atomics\n", (unsigned long long) final, n);
    exit(1);
  }
}

// What was left by one has been found by one other; what is left at the end by none.
static void expect_chain(uint64_t final) {
  static uint64_t values[MOST * VALUES + 1];
  size_t n = all_found(values);
  values[n++] = final;
  qsort(values, n, sizeof *values, compare);
  for (size_t i = 0; i < n; ++i) {
    if (values[i] == i) continue;
    printf("wrong: swaps found %llu where %zu is next\n", (unsigned long long)values[i], i);
    exit(1);
  }
}

static void pass_messages(void) {
  MUST(!of_host && count * (uint64_t)devices <= LINK_MOST);
  const uint64_t each = count;
  for (int d = 1; d < devices; ++d) start((uint32_t)d, LINK_SEND, 1, 0);
  count = each * (uint64_t)devices;
  start(0, LINK_RECEIVE, 1, LINK_WAVEFRONTS * (uint64_t)(devices - 1));
  for (int d = 0; d < devices; ++d) finish((uint32_t)d);
  for (uint64_t d = 1; d < (uint64_t)devices; ++d)
    for (uint64_t i = 0; i < each; ++i) MUST(device[0].found[d * each + i] == (d << 32 | i));
}

int main(int argc, char** argv) {
  MUST(argc == 5);
  count = (uint64_t)atoi(argv[4]);
  MUST(count <= LINK_MOST);
  set_up(argv[1], argv[3]);
  const char* const what = argv[2];
  if (strcmp(what, "add") == 0) {
    start_all(LINK_ADD);
    expect_each_once(word_now());
  } else if (strcmp(what, "cas") == 0) {
    start_all(LINK_CAS);
    expect_each_once(word_now());
  } else if (strcmp(what, "add_w") == 0) {
    start_all(LINK_ADD_W);
    const uint64_t final = word_now();
    MUST((uint32_t) final == 0);
    expect_each_once(final >> 32);
  } else if (strcmp(what, "swap") == 0) {
    start_all(LINK_SWAP);
    expect_chain(word_now());
  } else if (strcmp(what, "messages") == 0) {
    pass_messages();
  } else if (strcmp(what, "refused") == 0) {
    start(1, LINK_ADD, 1, 0);
    finish(1);
  } else if (strcmp(what, "spin") == 0) {
    start_all(LINK_SPIN);
  } else if (strcmp(what, "xor") == 0) {
    start_all(LINK_XOR);
  } else {
    MUST(strcmp(what, "device") == 0);
    start_all(LINK_DEVICE);
  }
  printf("%s: right\n", what);
  return 0;
}
