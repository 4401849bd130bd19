// SPDX-License-Identifier: Apache-2.0
// Shared by the sources of this folder.
#ifndef STRETTO_SW_COLLECTIVES_INTERNAL_H_
#define STRETTO_SW_COLLECTIVES_INTERNAL_H_

#include "sw/collectives/runtime.h"

#define COMM_IDS_OF_GPU 8u  // Unique ids that a program gives out for its current device.
#define COMM_IDS (COMM_IDS_OF_GPU * STRETTO_MAX_GPUS * STRETTO_MAX_JOBS)

typedef struct memory_block {
  struct memory_block* next;
  uint64_t address;
  uint64_t bytes;
  uint64_t used;  // What was asked for; 0 = free, and not mapped.
} memory_block_t;

// Of cudaMallocHost.
typedef struct host_block {
  struct host_block* next;
  void* pointer;
} host_block_t;

#define OPERATION_TEXT 160u

// What was submitted to a stream that has not been waited for since.
typedef struct memory_use {
  struct memory_use* next;
  struct CUstream_st* stream;
  uint64_t address;
  uint64_t bytes;
  char by[OPERATION_TEXT];
} memory_use_t;

struct CUstream_st {
  struct CUstream_st* next;
  struct device* device;
  stretto_stream_t* stream;
  int destroyed;      // May be given out again.
  uint32_t priority;  // Of the driver.
  int unreleased;     // A kernel has left what may be dirty in the L2.
  int acquires;       // Its next kernel reads what others may have written.
};

#define RUNTIME_ALIGNMENT 512u  // Of cudaMalloc.

// Device memory through which the host's bytes go to where a stream wants them, in slots.
#define STAGING_BYTES (1ull << 20)
#define STAGING_SLOTS 4u
typedef struct staging_slot {
  int used;
  stretto_event_t read;  // The copy out of it is done.
} staging_slot_t;

typedef struct device {
  uint32_t number;  // As the program sees it.
  struct stretto_runtime* runtime;
  stretto_client_t* client;
  struct CUstream_st* streams;  // The default stream is the last.
  struct CUstream_st* default_stream;
  memory_block_t* blocks;
  memory_use_t* uses;
  uint64_t staging;  // 0 = not allocated.
  staging_slot_t slots[STAGING_SLOTS];
  uint32_t next_slot;
  struct arrival* arrivals;  // Copies to the host that were not delivered, the oldest first.
  uint64_t arrivals_next;    // Where in their ring the next one goes.
  uint64_t words;            // Of events; 0 = not allocated.
  uint32_t words_used;
  stretto_kernel_t collective[2];  // By protocol, STRETTO_PROTOCOL_*.
  stretto_kernel_t send_receive[2];
  stretto_kernel_t combine;
  stretto_kernel_t contribute;
  uint32_t next_id;  // Buffer ids and connections of the request ring that are free.
  uint32_t next_connection;
  uint64_t ring;  // Its words, 0 = not started: ticket, replica, send flags.
} device_t;

typedef enum operation_kind {
  OPERATION_INIT,
  OPERATION_COLLECTIVE,
  OPERATION_SEND,
  OPERATION_RECEIVE
} operation_kind_t;

// What a call of nccl.h asks for; carried out when the outermost group ends.
typedef struct operation {
  struct operation* next;
  operation_kind_t kind;
  ncclComm_t comm;
  struct CUstream_st* stream;
  stretto_collective_arguments_t arguments;  // But `comm`.
  ncclDataType_t type;
  ncclRedOp_t reduction;
  uint32_t peer;          // Send, receive.
  uint64_t bytes;         // Likewise.
  uint64_t source_bytes;  // Of this rank's buffers.
  uint64_t target_bytes;
  uint64_t number;
  int done;
  int under_way;
  // Engines dma, t3: where each rank wants what is sent to it, and its staging area.
  uint64_t targets[STRETTO_COMM_MAX_RANKS];
  uint64_t stages[STRETTO_COMM_MAX_RANKS];
} operation_t;

// Targets of all ranks that are registered for direct transfers.
#define DIRECT_ENTRIES 8u
typedef struct direct_entry {
  uint64_t bytes;
  uint64_t targets[STRETTO_COMM_MAX_RANKS];
} direct_entry_t;

struct ncclComm {
  struct ncclComm* next;  // Of the runtime.
  stretto_runtime_t* runtime;
  device_t* device;
  stretto_comm_t comm;
  uint64_t words;        // Host memory in which the ranks meet.
  uint64_t collectives;  // Numbers of what has been enqueued.
  uint32_t sends[STRETTO_COMM_MAX_RANKS];
  uint32_t receives[STRETTO_COMM_MAX_RANKS];
  uint32_t direct_entries;  // That there are ids for.
  uint32_t direct_used;
  uint32_t direct_next;  // The oldest is replaced.
  direct_entry_t direct[DIRECT_ENTRIES];
  uint64_t stage;  // Engines dma, t3: staging area.
  uint64_t stage_bytes;
  struct CUstream_st* last_stream;  // Of the last operation.
};

struct stretto_runtime {
  stretto_runtime_options_t options;
  device_t* devices[STRETTO_MAX_GPUS];
  uint32_t device;  // Current.
  uint32_t ids;     // Unique ids given out.
  int group_depth;
  ncclResult_t group_result;  // The first call of the group that failed.
  stretto_runtime_layer_t layer;
  struct ncclComm* comms;
  struct CUevent_st* events;
  stretto_runtime_library_t* libraries;
  host_block_t* host_blocks;
  struct nodes* pipelines;             // Of cudaPipelineCreate,
  struct nodes* pipeline_execs;        // of cudaPipelineInstantiate.
  struct symmetric_memory* symmetric;  // Null: none so far.
  operation_t* first;
  operation_t* last;
  stretto_status_t status;
  cudaError_t cuda_error;
  char error[320];
  char position[200];
};

#define TRY_CUDA(call)                                \
  do {                                                \
    const cudaError_t try_error_ = (call);            \
    if (try_error_ != cudaSuccess) return try_error_; \
  } while (0)
#define TRY_NCCL(call)                                  \
  do {                                                  \
    const ncclResult_t try_result_ = (call);            \
    if (try_result_ != ncclSuccess) return try_result_; \
  } while (0)

stretto_runtime_t* runtime_current(void);
// Forgets what calls have asked for and has not been carried out.
void operations_free(stretto_runtime_t* runtime);
// The device with its client, or null (runtime->error says why).
device_t* runtime_device(stretto_runtime_t* runtime, uint32_t number);
struct CUstream_st* runtime_stream(const device_t* device, cudaStream_t stream);
// That of the current device, likewise.
device_t* runtime_current_device(void);
// Keeps the error for cudaGetLastError and returns it.
cudaError_t runtime_keep(cudaError_t error);
// A stream of `priority` of the driver, new or one that was destroyed.
cudaError_t runtime_create_stream(device_t* device, uint32_t priority, struct CUstream_st** stream);
// The stream that a program means, null being the current device's default one; null: none, which
// runtime_no_stream() says.
struct CUstream_st* runtime_given_stream(cudaStream_t stream);
cudaError_t runtime_no_stream(const char* call, cudaStream_t stream);
// What the driver needs to launch a kernel in the stream; loads it into its device.
cudaError_t runtime_prepare_launch(const char* call, const stretto_runtime_kernel_t* kernel,
                                   dim3 grid, const void* arguments, struct CUstream_st* stream,
                                   stretto_launch_t* launch);
// All work-groups of all of them at the same time, or none.
cudaError_t runtime_launch_together(const char* call, const stretto_launch_t* launches,
                                    uint32_t count, struct CUstream_st* stream);
// Whether all that was submitted to it is done; does not wait.
int runtime_is_done(const struct CUstream_st* stream);
// Host memory for all devices from `offset` on, `bytes` each: that of this one.
uint64_t runtime_host_area(const device_t* device, uint64_t offset, uint64_t bytes);
// Whether cudaMalloc has given out [address, address + bytes) of the device, in one piece.
int runtime_has_memory(const device_t* device, uint64_t address, uint64_t bytes);

__attribute__((format(printf, 3, 4))) ncclResult_t runtime_fail(stretto_runtime_t* runtime,
                                                                ncclResult_t result,
                                                                const char* format, ...);
// What a driver status means; keeps the client's own words.
ncclResult_t runtime_status(stretto_runtime_t* runtime, const device_t* device,
                            stretto_status_t status);
__attribute__((format(printf, 2, 3))) void runtime_at(stretto_runtime_t* runtime,
                                                      const char* format, ...);

ncclResult_t comm_create(stretto_runtime_t* runtime, uint32_t gpu, int ranks, uint32_t id, int rank,
                         ncclComm_t* comm);
// Whether the calling program has made it and not destroyed it.
int comm_is_known(ncclComm_t comm);
// Host memory of communicator `id`: words of each rank.
uint64_t comm_words(uint32_t id, uint32_t rank, uint32_t index);
// Constants by which the sum of an average is multiplied.
uint64_t comm_scale(const struct ncclComm* comm, uint32_t element);
uint64_t comm_word(const struct ncclComm* comm, uint32_t rank, uint32_t index);

const char* op_name(uint32_t op);
const char* type_name(uint32_t type);
const char* reduction_name(uint32_t reduction);
int op_reduces(uint32_t op);

// What calls ask for, kept in the runtime. Null: no host memory.
operation_t* operations_append(ncclComm_t comm, operation_kind_t kind, cudaStream_t stream);
ncclResult_t operations_carry_out(stretto_runtime_t* runtime);

// Bytes of the target if it is written directly (gdma, ring), else 0; equal on all ranks.
uint64_t direct_bytes(const operation_t* o);
// Registers the targets of all ranks, or finds that they are; sets what the kernel is told.
ncclResult_t direct_prepare(operation_t* o, const uint64_t* targets);

// Waits for a stream; for all streams of the device.
ncclResult_t runtime_synchronize(struct CUstream_st* stream);
ncclResult_t runtime_quiet(device_t* device);
cudaError_t runtime_cuda_synchronize(struct CUstream_st* stream);
// Device memory for the library itself; released, it may be given out again. All streams of the
// device are quiet when it is released.
cudaError_t runtime_allocate(device_t* device, uint64_t bytes, uint64_t* address);
// Of a class that the library needs.
cudaError_t runtime_allocate_as(device_t* device, uint64_t bytes, uint32_t allocation,
                                uint64_t* address);
cudaError_t runtime_release(device_t* device, uint64_t address);

// A copy that a program asks for. Null: the host.
typedef struct copy {
  device_t* source;
  device_t* target;
  void* to;
  const void* from;
  uint64_t bytes;
} copy_t;
// Checks what `call` was given.
cudaError_t copy_find(const char* call, void* to, const void* from, uint64_t bytes,
                      cudaMemcpyKind kind, copy_t* copy);
cudaError_t copy_now(const copy_t* copy);
// Gives the program what has come to the host for it.
void copies_deliver(device_t* device);
void copies_free(device_t* device);
void events_free(stretto_runtime_t* runtime);
void symmetric_free(stretto_runtime_t* runtime);
void pipelines_free(stretto_runtime_t* runtime);
// What is known of them; they themselves stay, as what malloc() gave does.
void host_blocks_free(stretto_runtime_t* runtime);

// Until the stream is waited for, `by` uses this memory.
void runtime_use(struct CUstream_st* stream, uint64_t address, uint64_t bytes, const char* by);
// What a collective asks for but its count, in one word that ranks compare; and that in words.
uint64_t operation_summary(const operation_t* o);
void summary_text(uint64_t summary, uint64_t count, char* text, size_t bytes);
// "rank 0, collective 3, all_reduce of 17 float32 sum".
void operation_text(const operation_t* o, char* text, size_t bytes);

// Engines dma and t3 (steps.c). An operation is submitted in rounds, the same of all ranks of a
// program before the next; `more`: there is another.
ncclResult_t steps_round(operation_t* o, uint32_t round, int* more);
// Whether the engine can do it.
ncclResult_t steps_check(const operation_t* o);
// Bytes of the staging area; equal on ranks that agree.
uint64_t steps_stage_bytes(const operation_t* o);
// Where this rank wants what is sent to its target.
uint64_t steps_landing(const operation_t* o);

// The half of engine t3 that is not steps (tracked.c).
typedef struct tracked_plan {
  uint64_t tiles;  // Of a block.
  uint64_t tile_bytes;
  uint64_t bytes;  // Of the working area; the Tracker's overflow lies behind it.
  uint64_t spill_bytes;
} tracked_plan_t;

tracked_plan_t tracked_plan(const operation_t* o, uint64_t block_bytes);
ncclResult_t tracked_check(const operation_t* o, uint64_t block_bytes);
// `free_word`: of this GPU, may be written.
stretto_status_t tracked_configure(const operation_t* o, uint64_t block_bytes, uint64_t free_word);
stretto_status_t tracked_start(const operation_t* o, uint64_t block_bytes, uint64_t total_bytes);

// Two halves of ncclCommInitRank: what needs nobody, what needs all ranks.
ncclResult_t comm_set_up(ncclComm_t comm);
ncclResult_t comm_join(ncclComm_t comm);

#endif  // STRETTO_SW_COLLECTIVES_INTERNAL_H_
