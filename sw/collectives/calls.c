// SPDX-License-Identifier: Apache-2.0
// The calls of nccl.h: arguments are checked here, the work is enqueue.c's.
#include <stdio.h>

#include "sw/collectives/internal.h"
#include "sw/include/formats/machine_types.h"

static const uint8_t kTypeBytes[ncclNumTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

// The machine's element, or -1 if it cannot reduce this type so.
static int element_of(ncclDataType_t type, ncclRedOp_t reduction) {
  switch (type) {
    case ncclFloat16: return STRETTO_FP16;
    case ncclBfloat16: return STRETTO_BF16;
    case ncclFloat32: return STRETTO_FP32;
    case ncclInt32: return STRETTO_INT32;
    case ncclUint32: return reduction == ncclSum || reduction == ncclProd ? STRETTO_INT32 : -1;
    default: return -1;
  }
}

static ncclResult_t check_call(stretto_runtime_t* runtime, const char* what, ncclComm_t comm,
                               ncclDataType_t type, size_t count,
                               const struct CUstream_st* stream) {
  if (runtime == NULL) return ncclInvalidUsage;
  if (!comm_is_known(comm))
    return runtime_fail(runtime, ncclInvalidArgument, "%s: no communicator of this program", what);
  if ((unsigned)type >= ncclNumTypes)
    return runtime_fail(runtime, ncclInvalidArgument, "%s: data type %d", what, (int)type);
  if (count > (size_t)1 << 36)
    return runtime_fail(runtime, ncclInvalidArgument, "%s: count %llu", what,
                        (unsigned long long)count);
  if (stream != NULL && stream->device != comm->device)
    return runtime_fail(runtime, ncclInvalidArgument,
                        "%s: the stream belongs to another device than the communicator", what);
  return ncclSuccess;
}

static ncclResult_t check_buffer(const char* what, const char* name, ncclComm_t comm,
                                 const void* buffer, uint64_t bytes) {
  if (bytes == 0 || runtime_has_memory(comm->device, (uint64_t)(uintptr_t)buffer, bytes))
    return ncclSuccess;
  return runtime_fail(comm->runtime, ncclInvalidArgument,
                      "%s: rank %u: %s 0x%llx, %llu bytes are not allocated on device %u", what,
                      comm->comm.rank, name, (unsigned long long)(uintptr_t)buffer,
                      (unsigned long long)bytes, comm->device->number);
}

// Groups

// A call that fails inside a group fails the group: other ranks would wait for it for ever.
static ncclResult_t in_group(ncclResult_t result) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime != NULL && runtime->group_depth > 0 && runtime->group_result == ncclSuccess)
    runtime->group_result = result;
  return result;
}

static ncclResult_t finish_call(stretto_runtime_t* runtime) {
  return runtime->group_depth == 0 ? operations_carry_out(runtime) : ncclSuccess;
}

ncclResult_t ncclGroupStart(void) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL) return ncclInvalidUsage;
  ++runtime->group_depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL) return ncclInvalidUsage;
  if (runtime->group_depth == 0)
    return runtime_fail(runtime, ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--runtime->group_depth > 0 || runtime->group_result == ncclSuccess)
    return finish_call(runtime);
  const ncclResult_t result = runtime->group_result;
  runtime->group_result = ncclSuccess;
  operations_free(runtime);
  return result;
}

// Communicators

static ncclResult_t init_rank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  stretto_runtime_t* runtime = runtime_current();
  unsigned number = 0;
  if (runtime == NULL) return ncclInvalidUsage;
  if (sscanf(id.internal, "stretto %u", &number) != 1 || number >= COMM_IDS)
    return runtime_fail(runtime, ncclInvalidArgument, "ncclCommInitRank: not a unique id");
  TRY_NCCL(comm_create(runtime, runtime->device, ranks, number, rank, comm));
  if (operations_append(*comm, OPERATION_INIT, NULL) == NULL) return ncclSystemError;
  return finish_call(runtime);
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return in_group(init_rank(comm, ranks, id, rank));
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  ncclUniqueId id;
  int before = 0;
  TRY_NCCL(ncclGetUniqueId(&id));
  if (cudaGetDevice(&before) != cudaSuccess) return ncclUnhandledCudaError;
  TRY_NCCL(ncclGroupStart());
  ncclResult_t result = ncclSuccess;
  for (int i = 0; i < count && result == ncclSuccess; ++i) {
    const int device = devices == NULL ? i : devices[i];
    if (cudaSetDevice(device) != cudaSuccess)
      result = runtime_fail(runtime_current(), ncclInvalidArgument, "ncclCommInitAll: device %d",
                            device);
    else
      result = ncclCommInitRank(&comms[i], count, id, i);
  }
  if (result != ncclSuccess) operations_free(runtime_current());
  const ncclResult_t ended = ncclGroupEnd();
  cudaSetDevice(before);
  return result != ncclSuccess ? result : ended;
}

// Collectives

typedef struct request {
  stretto_collective_op_t op;
  const void* source;
  uint64_t source_blocks;  // Of `count` elements, in the buffers.
  void* target;
  uint64_t target_blocks;
  size_t count;
  ncclDataType_t type;
  ncclRedOp_t reduction;
  int root;
} request_t;

static ncclResult_t check_request(const request_t* r, ncclComm_t comm, int* element) {
  stretto_runtime_t* runtime = comm->runtime;
  const char* what = op_name(r->op);
  const uint64_t bytes = (uint64_t)r->count * kTypeBytes[r->type];
  *element = STRETTO_BYTE;
  if (op_reduces(r->op)) {
    if ((unsigned)r->reduction >= ncclNumOps)
      return runtime_fail(runtime, ncclInvalidArgument, "%s: reduction %d", what,
                          (int)r->reduction);
    *element = element_of(r->type, r->reduction);
    if (r->reduction == ncclAvg && *element == STRETTO_INT32) *element = -1;
    if (*element < 0)
      return runtime_fail(runtime, ncclInvalidArgument, "%s: the machine has no %s of %s", what,
                          reduction_name(r->reduction), type_name(r->type));
  }
  if (r->root < 0 || r->root >= comm->comm.ranks)
    return runtime_fail(runtime, ncclInvalidArgument, "%s: root %d of %u ranks", what, r->root,
                        comm->comm.ranks);
  TRY_NCCL(check_buffer(what, "sendbuff", comm, r->source, bytes * r->source_blocks));
  return check_buffer(what, "recvbuff", comm, r->target, bytes * r->target_blocks);
}

static ncclResult_t ask(const request_t* r, ncclComm_t comm, cudaStream_t stream) {
  int element = 0;
  TRY_NCCL(check_call(runtime_current(), op_name(r->op), comm, r->type, r->count, stream));
  TRY_NCCL(check_request(r, comm, &element));
  operation_t* operation = operations_append(comm, OPERATION_COLLECTIVE, stream);
  if (operation == NULL) return ncclSystemError;
  operation->type = r->type;
  operation->reduction = r->reduction;
  operation->arguments.source = (uint64_t)(uintptr_t)r->source;
  operation->arguments.target = (uint64_t)(uintptr_t)r->target;
  operation->source_bytes = (uint64_t)r->count * kTypeBytes[r->type] * r->source_blocks;
  operation->target_bytes = (uint64_t)r->count * kTypeBytes[r->type] * r->target_blocks;
  operation->arguments.count = r->count;
  operation->arguments.op = (uint8_t)r->op;
  const int average = op_reduces(r->op) && r->reduction == ncclAvg;
  operation->arguments.reduction =
      average ? STRETTO_REDUCTION_SUM : (uint8_t)r->reduction;  // The same order.
  if (average) operation->arguments.scale = comm_scale(comm, (uint32_t)element);
  operation->arguments.element = (uint8_t)element;
  operation->arguments.element_bytes = kTypeBytes[r->type];
  operation->arguments.root = (uint32_t)r->root;
  return finish_call(comm->runtime);
}

static ncclResult_t call(const request_t* r, ncclComm_t comm, cudaStream_t stream) {
  return in_group(ask(r, comm, stream));
}

_Static_assert((int)ncclSum == STRETTO_REDUCTION_SUM && (int)ncclProd == STRETTO_REDUCTION_PROD &&
                   (int)ncclMax == STRETTO_REDUCTION_MAX && (int)ncclMin == STRETTO_REDUCTION_MIN,
               "kernels know NCCL's reductions by their numbers");

static uint64_t ranks_of(ncclComm_t comm) { return comm_is_known(comm) ? comm->comm.ranks : 1; }
static uint64_t is_root(ncclComm_t comm, int root) {
  return comm_is_known(comm) && root == comm->comm.rank;
}

ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  const request_t r = {STRETTO_ALL_REDUCE, sendbuff, 1, recvbuff, 1, count, type, op, 0};
  return call(&r, comm, stream);
}

ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t type,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  const request_t r = {STRETTO_REDUCE, sendbuff, 1,  recvbuff, is_root(comm, root),
                       count,          type,     op, root};
  return call(&r, comm, stream);
}

ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                               ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
  const request_t r = {
      STRETTO_REDUCE_SCATTER, sendbuff, ranks_of(comm), recvbuff, 1, recvcount, type, op, 0};
  return call(&r, comm, stream);
}

ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                           ncclDataType_t type, ncclComm_t comm, cudaStream_t stream) {
  const request_t r = {STRETTO_ALL_GATHER, sendbuff, 1,       recvbuff, ranks_of(comm),
                       sendcount,          type,     ncclSum, 0};
  return call(&r, comm, stream);
}

ncclResult_t ncclAlltoAll(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t type,
                          ncclComm_t comm, cudaStream_t stream) {
  const uint64_t ranks = ranks_of(comm);
  const request_t r = {
      STRETTO_ALL_TO_ALL, sendbuff, ranks, recvbuff, ranks, count, type, ncclSum, 0};
  return call(&r, comm, stream);
}

ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
  const request_t r = {STRETTO_BROADCAST, sendbuff, is_root(comm, root), recvbuff, 1, count, type,
                       ncclSum,           root};
  return call(&r, comm, stream);
}

ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return ncclBroadcast(buff, buff, count, type, root, comm, stream);
}

// Point to point

// On a ring, ranks send to the next and receive from the one before.
static ncclResult_t check_peer(operation_kind_t kind, const char* what, int peer, ncclComm_t comm) {
  const uint32_t ranks = comm->comm.ranks, rank = comm->comm.rank;
  if (peer < 0 || (uint32_t)peer >= ranks)
    return runtime_fail(comm->runtime, ncclInvalidArgument, "%s: peer %d of %u ranks", what, peer,
                        ranks);
  const uint32_t from = kind == OPERATION_SEND ? rank : (uint32_t)peer;
  const uint32_t to = kind == OPERATION_SEND ? (uint32_t)peer : rank;
  if (comm->comm.links != STRETTO_LINKS_RING || (to + ranks - from) % ranks <= 1)
    return ncclSuccess;
  return runtime_fail(
      comm->runtime, ncclInvalidUsage,
      "%s: ring: rank %u sends to rank %u and receives from rank %u only, not rank %d", what, rank,
      (rank + 1) % ranks, (rank + ranks - 1) % ranks, peer);
}

static ncclResult_t transfer(operation_kind_t kind, const void* buffer, size_t count,
                             ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream) {
  const int sends = kind == OPERATION_SEND;
  const char* what = sends ? "ncclSend" : "ncclRecv";
  TRY_NCCL(check_call(runtime_current(), what, comm, type, count, stream));
  TRY_NCCL(check_peer(kind, what, peer, comm));
  const uint64_t bytes = (uint64_t)count * kTypeBytes[type];
  TRY_NCCL(check_buffer(what, sends ? "sendbuff" : "recvbuff", comm, buffer, bytes));
  operation_t* operation = operations_append(comm, kind, stream);
  if (operation == NULL) return ncclSystemError;
  operation->peer = (uint32_t)peer;
  operation->bytes = operation->source_bytes = bytes;
  operation->arguments.source = (uint64_t)(uintptr_t)buffer;
  return finish_call(comm->runtime);
}

ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return in_group(transfer(OPERATION_SEND, sendbuff, count, type, peer, comm, stream));
}

ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return in_group(transfer(OPERATION_RECEIVE, recvbuff, count, type, peer, comm, stream));
}

// Errors

ncclResult_t ncclGetVersion(int* version) {
  if (version == NULL) return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess: return "no error";
    case ncclUnhandledCudaError: return "unhandled cuda error";
    case ncclSystemError: return "unhandled system error";
    case ncclInternalError: return "internal error";
    case ncclInvalidArgument: return "invalid argument";
    case ncclInvalidUsage: return "invalid usage";
    default: return "unknown result code";
  }
}

const char* ncclGetLastError(ncclComm_t comm) {
  (void)comm;
  if (runtime_current() == NULL)
    return "called from another thread than that of main(): the modelled host knows one thread a "
           "program, so ranks are those of a group or of ncclCommInitAll";
  return runtime_current()->error;
}
