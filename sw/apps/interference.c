// SPDX-License-Identifier: Apache-2.0
// See interference.h.
#include "sw/apps/interference.h"

#include "sw/apps/over_nccl.h"
#include "sw/include/formats/machine_types.h"
#include "sw/kernels/kernel_arguments.h"

// Where the kernels of a rank count their ends.
static uint64_t end_word(const interference_parameters_t* p) {
  return job_host_memory(&p->job) + 8ull * p->rank;
}

static uint64_t now_ns(const stretto_host_ops_t* ops) { return ops->now_ns(ops->context); }

#define TRY_DRIVER(call) TRY(app_driver(client, p->rank, call, error))

stretto_status_t interference_rank(const interference_parameters_t* p,
                                   const stretto_host_ops_t* ops, ncclUniqueId* id,
                                   interference_result_t* result, char* error) {
  ranks_t ranks = {
      .ops = ops, .job = p->job, .rank = p->rank, .ranks = p->ranks, .host_ranks = p->ranks};
  void* block = NULL;
  TRY(app_memory(&p->job, p->rank, p->block_bytes * (p->ranks + 1), p->source, &block, error));
  void* const gathered = (void*)((uintptr_t)block + p->block_bytes);
  cudaStream_t kernels = NULL, gathers = NULL;
  TRY_CALL(cudaStreamCreate(&kernels));
  TRY_CALL(cudaStreamCreate(&gathers));
  ncclComm_t comm = NULL;
  TRY(app_communicator(&ranks, id, &comm, error));
  stretto_client_t* client = NULL;
  stretto_stream_t* stream = stretto_runtime_stream(kernels, &client);
  stretto_module_t* module = NULL;
  stretto_kernel_t kernel;
  TRY_DRIVER(client->api->module_load(client, p->load_elf, p->load_elf_bytes, &module));
  TRY_DRIVER(client->api->module_kernel(client, module, p->kernel, &kernel));
  // Cached, whatever the engine needs for what it moves.
  uint64_t loaded = 0;
  TRY_DRIVER(client->api->allocate(client, stream, p->load_bytes, 4096, STRETTO_ALLOCATION_CACHED,
                                   &loaded));
  result->loaded = loaded & STRETTO_OFFSET_MASK;
  const stretto_load_arguments_t arguments = {loaded, p->load_bytes, p->rounds};
  const stretto_launch_t launch = {.kernel = &kernel,
                                   .arguments = &arguments,
                                   .argument_bytes = sizeof arguments,
                                   .work_groups = p->work_groups,
                                   .account = INTERFERENCE_ACCOUNT_LOAD};
  uint64_t kernels_ended = 0;
  for (unsigned turn = 0; turn < INTERFERENCE_TURNS; ++turn) {
    ranks_barrier(&ranks);
    result->begin_ns[turn] = now_ns(ops);
    // The kernel first: it finds the GPU empty, the all-gather finds it full.
    if (turn != INTERFERENCE_GATHER) TRY_DRIVER(client->api->launch(client, stream, &launch));
    if (turn != INTERFERENCE_KERNEL)
      TRY_COMM(ncclAllGather(block, gathered, p->block_bytes, ncclInt8, comm, gathers));
    if (turn != INTERFERENCE_GATHER)
      TRY_DRIVER(client->api->signal(client, stream, end_word(p), ++kernels_ended));
    TRY_CALL(cudaStreamSynchronize(gathers));
    if (turn != INTERFERENCE_KERNEL) result->gather_end_ns[turn] = now_ns(ops);
    TRY_CALL(cudaStreamSynchronize(kernels));
  }
  return stretto_runtime_outcome(ncclCommDestroy(comm), error);
}

void interference_watch(const interference_parameters_t* p, const stretto_host_ops_t* ops,
                        interference_result_t* result) {
  uint64_t number = 0;
  for (unsigned turn = 0; turn < INTERFERENCE_TURNS; ++turn) {
    if (turn == INTERFERENCE_GATHER) continue;
    ops->wait(ops->context, end_word(p), STRETTO_WAIT_AT_LEAST, ++number);
    result->kernel_end_ns[turn] = now_ns(ops);
  }
}
