// SPDX-License-Identifier: Apache-2.0
// Host driver of a GPU: device memory, modules, streams, events, maps, fills, kernel launches. C,
// callable from C++.
//
// A client (stretto_client_t) is one user of one GPU; its functions are reached through its table,
// client->api, so that a layer between can put its own table there. Several clients share a GPU
// when they own different queues. The driver reaches the machine only through stretto_host_ops_t:
// posted writes over PCIe, and words of host memory that the GPU writes. It never reads GPU memory.
//
// Work is submitted to streams (one queue each) and goes on in the background; every packet has a
// completion signal. A stream's errors are collected by stream_synchronize, which returns the first
// one. Calls are not thread-safe per client. Device memory is given out in ascending order; what
// was released may be mapped again, and belongs to the client as long as it lives.
#ifndef STRETTO_SW_DRIVER_STRETTO_DRIVER_H_
#define STRETTO_SW_DRIVER_STRETTO_DRIVER_H_

#ifdef __cplusplus
#include <cstddef>
#else
#include <stddef.h>
#endif

#include "sw/include/formats/address_map.h"
#include "sw/include/formats/code_object.h"
#include "sw/include/formats/machine_types.h"
#include "sw/include/formats/queue.h"
#include "sw/include/formats/send_request.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum stretto_wait {
  STRETTO_WAIT_NOT_EQUAL,
  STRETTO_WAIT_AT_LEAST,  // Unsigned.
} stretto_wait_t;

// A condition on a word of host memory.
typedef struct stretto_host_word {
  uint64_t address;
  stretto_wait_t condition;
  uint64_t value;
} stretto_host_word_t;

// What the driver needs from the host it runs on. Every function may block its caller in machine
// time.
typedef struct stretto_host_ops {
  void* context;  // First argument of all functions.
  // Posted write over PCIe to a 48-bit address (GPU memory or doorbell aperture); writes arrive in
  // order.
  void (*write)(void* context, uint64_t address, const void* data, uint64_t bytes);
  // Blocks until the 64-bit word of host memory meets the condition; returns it. 48-bit address,
  // node 0xFF.
  uint64_t (*wait)(void* context, uint64_t address, stretto_wait_t condition, uint64_t value);
  // The same with bytes of host memory, as from a mapping of it: nothing is copied in between. Not
  // used but for copy_host_memory.
  void (*write_from)(void* context, uint64_t address, uint64_t host_address, uint64_t bytes);
  // Copies bytes out of host memory.
  void (*read)(void* context, uint64_t address, void* data, uint64_t bytes);
  // Bytes of host memory as they are now, at no CPU time: for programs that compute with them and
  // charge what that costs (sw/apps/shmem/host_compute.h). Not used by the driver itself.
  void (*peek)(void* context, uint64_t address, void* data, uint64_t bytes);
  void (*poke)(void* context, uint64_t address, const void* data, uint64_t bytes);
  // Writes a 64-bit word of host memory.
  void (*store)(void* context, uint64_t address, uint64_t value);
  // Copies bytes into host memory. Not used by the driver itself.
  void (*store_bytes)(void* context, uint64_t address, const void* data, uint64_t bytes);
  // Blocks until one of the words meets its condition, and returns the number of the first that
  // does; or until now_ns() is `until_ns` (UINT64_MAX: never), and returns `count`. Not used by the
  // driver itself.
  uint32_t (*wait_any)(void* context, const stretto_host_word_t* words, uint32_t count,
                       uint64_t until_ns);
  // Copies device memory to device memory by loads and stores of the calling thread, 48-bit
  // addresses; returns when the last store is on its way. Not used by the driver itself.
  void (*move)(void* context, uint64_t to, uint64_t from, uint64_t bytes);
  // Has the DMA engine of the processor do that, and write `value` to the word of host memory at
  // `signal` when its last write is on its way. Not used by the driver itself.
  void (*start_copy)(void* context, uint64_t to, uint64_t from, uint64_t bytes, uint64_t signal,
                     uint64_t value);
  // The calling thread computes for so long.
  void (*charge_cpu_ns)(void* context, uint64_t nanoseconds);
  uint64_t (*now_ns)(void* context);
  // Threads of a program, not used by the driver itself: mutexes named by numbers, and the
  // condition variable of each (sleep and notify are called with the mutex held).
  void (*lock)(void* context, uint64_t mutex);
  void (*unlock)(void* context, uint64_t mutex);
  void (*sleep)(void* context, uint64_t mutex);
  void (*notify)(void* context, uint64_t mutex);
  // For tools, may be null: a code object has been loaded at `base`, a 48-bit address.
  void (*code_loaded)(void* context, uint64_t base, const void* elf, size_t bytes);
} stretto_host_ops_t;

// CPU time of the driver's work, charged through the ops.
typedef struct stretto_driver_costs {
  uint32_t call_ns;          // Each call of the table.
  uint32_t packet_ns;        // Each packet, on top.
  uint32_t load_ns_per_kib;  // Reading and relocating a module.
  uint32_t launch_ns;        // A kernel launch, on top of call and packet.
  uint32_t copy_ns;          // A copy, likewise.
} stretto_driver_costs_t;

typedef struct stretto_client_options {
  uint32_t gpu;
  uint32_t first_queue;  // This client owns queues first_queue .. first_queue + queue_count - 1.
  uint32_t queue_count;
  // Device memory this client may give out: [memory_begin, memory_end), offsets in the GPU's
  // memory; memory_begin is not below STRETTO_SYSTEM_BYTES.
  uint64_t memory_begin;
  uint64_t memory_end;
  stretto_driver_costs_t costs;
  uint32_t account_base;  // Added to accounts from STRETTO_ACCOUNT_JOB on.
  // What a compute unit has. All 0: not known here, the command processor alone checks.
  uint32_t unit_registers_bytes;
  uint32_t unit_lds_bytes;
  uint32_t unit_wavefronts;
  // What of the L2 pinned ranges may have: from a way up to so many bytes. Likewise.
  uint64_t l2_way_bytes;
  uint64_t l2_persist_bytes;
} stretto_client_options_t;

typedef struct stretto_client stretto_client_t;
typedef struct stretto_stream stretto_stream_t;
typedef struct stretto_module stretto_module_t;

typedef struct stretto_kernel {
  uint64_t object;  // Address of the descriptor in GPU memory.
  stretto_kernel_descriptor_t descriptor;
} stretto_kernel_t;

typedef struct stretto_event {
  stretto_stream_t* stream;
  uint64_t packet;
} stretto_event_t;

typedef struct stretto_launch {
  const stretto_kernel_t* kernel;
  const void* arguments;
  uint32_t argument_bytes;
  uint32_t work_groups;     // Of a row of the grid,
  uint32_t grid_y, grid_z;  // and its rows and planes, 0 = 1; STRETTO_MAX_GRID in all.
  uint32_t first;           // Block range: ids first .. first + count - 1; count 0 = all.
  uint32_t count;
  uint32_t stagger;    // Position in the range at which the order of ids starts.
  uint32_t batch;      // Work-groups of a gate: first + p waits for gate p / batch; 0 = for none.
  uint32_t account;    // Its account, see machine_types.h.
  int update;          // The update bit (T3-NMC-03).
  int communication;   // The kernel's traffic belongs to the communication stream.
  int device_scope;    // Read by kernels of this stream next: its output stays in the L2 until the
                       // driver releases it for something else (MEMORY_MODEL.md).
  int system_acquire;  // Even so the L2 forgets what it has read before.
  uint32_t type;       // For the scheduler: 0 = as the kernel's code object says, else
                       // STRETTO_DISPATCH_TYPE(STRETTO_KERNEL_SIMT or _TENSOR).
  int after_all_earlier;  // Barrier bit: starts when everything before it in the stream is
                          // complete.
} stretto_launch_t;

// A buffer of one GPU for requests of others: what ring_export gives and ring_import takes.
typedef struct stretto_ring_export {
  uint64_t base;
  uint64_t bytes;
  uint32_t unit_shift;
  uint32_t flags;  // STRETTO_RING_READABLE, STRETTO_RING_WRITABLE.
} stretto_ring_export_t;

// A run of output tiles and where it goes. Columns of tiles are fastest.
typedef struct stretto_tile_map {
  uint32_t first_tile;
  uint32_t tile_count;
  uint64_t peer_base;    // Element (0, 0) of the output at the peer; remote_map and dma_map.
  uint32_t block_tiles;  // dma_map: wavefront tiles of a DMA block, 0 = 1.
  uint32_t updates;      // Updates per element; those of the configuration.
  uint32_t flags;  // STRETTO_MAP_UPDATE, _TRACKED, _EVENT, _READY, _ARRIVAL, _OPERAND, _MULTIPLY.
  uint32_t allocation;  // STRETTO_ALLOCATION_* for loads and untagged stores.
  uint64_t operand;   // dma_map, STRETTO_MAP_OPERAND: element (0, 0) of the array that is applied.
  uint16_t id_shift;  // remote_map: ids of the tiles at the peer less those here, modulo 65536.
} stretto_tile_map_t;

typedef struct stretto_api {
  // Device memory of class STRETTO_ALLOCATION_*, aligned (power of two, at least 64); mapped
  // through `stream`. Class SHARED comes in whole lines of 128 bytes. STRETTO_ERROR_TABLE_FULL: no
  // memory left.
  stretto_status_t (*allocate)(stretto_client_t* client, stretto_stream_t* stream, uint64_t bytes,
                               uint64_t alignment, uint32_t allocation, uint64_t* address);
  stretto_status_t (*stream_create)(stretto_client_t* client, stretto_stream_t** stream);
  // Waits for everything submitted and returns STRETTO_OK, or returns the first error as soon as it
  // is known; what was submitted behind it may then never complete.
  stretto_status_t (*stream_synchronize)(stretto_client_t* client, stretto_stream_t* stream);
  // An event completes when everything submitted before it is complete.
  stretto_status_t (*event_record)(stretto_client_t* client, stretto_stream_t* stream,
                                   stretto_event_t* event);
  stretto_status_t (*event_synchronize)(stretto_client_t* client, const stretto_event_t* event);
  // Copies bytes into device memory.
  stretto_status_t (*copy_to_device)(stretto_client_t* client, uint64_t address, const void* data,
                                     uint64_t bytes);
  // Relocates a kernel ELF and writes it into device memory. STRETTO_ERROR_KERNEL: not a kernel ELF
  // (see last_error).
  stretto_status_t (*module_load)(stretto_client_t* client, const void* elf, size_t bytes,
                                  stretto_module_t** module);
  stretto_status_t (*module_kernel)(stretto_client_t* client, const stretto_module_t* module,
                                    const char* name, stretto_kernel_t* kernel);
  // `account`, here and below: of machine_types.h; on it the memory accesses are counted.
  stretto_status_t (*launch)(stretto_client_t* client, stretto_stream_t* stream,
                             const stretto_launch_t* launch);
  stretto_status_t (*fill)(stretto_client_t* client, stretto_stream_t* stream, uint64_t address,
                           uint64_t bytes, uint64_t pattern, uint32_t account);
  // The DMA engine copies from this GPU's memory to memory of this or another GPU or of the host.
  // Starts when everything before it in the stream is complete.
  stretto_status_t (*copy)(stretto_client_t* client, stretto_stream_t* stream, uint64_t destination,
                           uint64_t source, uint64_t bytes, uint32_t account);
  // When everything before it in the stream is complete, writes `value` to a word in the memory of
  // this or another GPU, for a stream_wait there, or of the host.
  stretto_status_t (*signal)(stretto_client_t* client, stretto_stream_t* stream, uint64_t address,
                             uint64_t value);
  // What follows in the stream starts when the word at `address`, in this GPU's memory, has become
  // 0; the firmware looks when it is told of a signal, or every poll_ns if that is not 0.
  stretto_status_t (*stream_wait)(stretto_client_t* client, stretto_stream_t* stream,
                                  uint64_t address, uint64_t poll_ns);
  // Stores of kernels to `bytes` from `base`, and atomics that links carry (MEMORY_MODEL.md), go to
  // `peer_base` of another GPU (T3-CFG-02) or, without flags and at its own address, to host memory
  // or, stores alone, the window of its card (card.h). `base` may be the peer's own address.
  // `flags`: STRETTO_MAP_UPDATE, STRETTO_MAP_TRACKED.
  stretto_status_t (*remote_map)(stretto_client_t* client, stretto_stream_t* stream, uint64_t base,
                                 uint64_t bytes, uint64_t peer_base, uint32_t flags);
  // The output that tile maps refer to.
  stretto_status_t (*configure_output)(stretto_client_t* client, stretto_stream_t* stream,
                                       const stretto_output_config_t* output);
  stretto_status_t (*remote_map_tiles)(stretto_client_t* client, stretto_stream_t* stream,
                                       const stretto_tile_map_t* map);
  stretto_status_t (*dma_map_tiles)(stretto_client_t* client, stretto_stream_t* stream,
                                    const stretto_tile_map_t* map);
  stretto_status_t (*local_map_tiles)(stretto_client_t* client, stretto_stream_t* stream,
                                      const stretto_tile_map_t* map);
  // Closes all gates and says which tiles of the output open them (T3-AGC-02). The output has a map
  // with STRETTO_MAP_EVENT.
  stretto_status_t (*configure_gates)(stretto_client_t* client, stretto_stream_t* stream,
                                      const stretto_gates_t* gates);
  // Memory for the Tracker's overflow; must be zero.
  stretto_status_t (*spill_table)(stretto_client_t* client, stretto_stream_t* stream, uint64_t base,
                                  uint64_t bytes);
  // `flags`: STRETTO_MCA_FIXED_THRESHOLD.
  stretto_status_t (*configure_mca)(stretto_client_t* client, stretto_stream_t* stream,
                                    const stretto_mca_config_t* mca, uint32_t flags);
  // Forgets output and tile maps when everything before it is complete.
  stretto_status_t (*reset_maps)(stretto_client_t* client, stretto_stream_t* stream,
                                 uint32_t flags);
  // Completes when all mapped tiles are sent or locally complete.
  stretto_status_t (*collective_wait)(stretto_client_t* client, stretto_stream_t* stream);
  // Empties and starts the GPU's request ring (send_request.h). `replica` and the array of send
  // flags are allocated by this client and zero.
  stretto_status_t (*ring_start)(stretto_client_t* client, stretto_stream_t* stream,
                                 uint64_t replica, uint64_t sc_base, uint32_t batch);
  // Requests that name `connection` go to GPU `peer`, whose array of receive flags is `rc_base`.
  stretto_status_t (*ring_connect)(stretto_client_t* client, stretto_stream_t* stream,
                                   uint32_t connection, uint32_t peer, uint64_t rc_base,
                                   uint32_t limit);
  // Registers memory of this client as buffer `id`; unit 2^unit_shift bytes. Flags STRETTO_RING_*.
  stretto_status_t (*ring_register)(stretto_client_t* client, stretto_stream_t* stream, uint32_t id,
                                    uint64_t base, uint64_t bytes, uint32_t unit_shift,
                                    uint32_t flags);
  // Gives a registered buffer to other GPUs. STRETTO_ERROR_UNMAPPED: `id` is not registered here.
  stretto_status_t (*ring_export)(stretto_client_t* client, uint32_t id,
                                  stretto_ring_export_t* exported);
  // Registers a peer's exported buffer as `id` of this GPU.
  stretto_status_t (*ring_import)(stretto_client_t* client, stretto_stream_t* stream, uint32_t id,
                                  const stretto_ring_export_t* exported);
  // Takes a buffer back when no request that passed the check uses it any more.
  stretto_status_t (*ring_unregister)(stretto_client_t* client, stretto_stream_t* stream,
                                      uint32_t id);
  // What the last call of this client that failed had to say; "" if none did.
  const char* (*last_error)(const stretto_client_t* client);
  // Takes the map of an allocation back when everything before it in the stream is complete:
  // kernels that reach there fault. REQUIRES: no reduction with tiles is open on this GPU.
  stretto_status_t (*release)(stretto_client_t* client, stretto_stream_t* stream, uint64_t address);
  // Maps memory of this client in which nothing is mapped.
  stretto_status_t (*map)(stretto_client_t* client, stretto_stream_t* stream, uint64_t address,
                          uint64_t bytes, uint32_t allocation);
  // From here on packets of the stream are taken, and work-groups of its kernels placed, before
  // those of streams of lower priority. 0, as at its creation, to STRETTO_PRIORITIES - 1.
  stretto_status_t (*stream_priority)(stretto_client_t* client, stretto_stream_t* stream,
                                      uint32_t priority);
  // Stops the kernels of `other`, a stream of this GPU, between work-groups and takes nothing of it.
  // Complete in `stream` when those work-groups that had begun have ended. `drain`: those that are on
  // a unit and have issued nothing leave it at once. `resume`: they go on. Until then launches do not
  // wait for kernels of `other`.
  stretto_status_t (*preempt)(stretto_client_t* client, stretto_stream_t* stream,
                              const stretto_stream_t* other, int drain);
  stretto_status_t (*resume)(stretto_client_t* client, stretto_stream_t* stream,
                             const stretto_stream_t* other);
  // Launches kernels that are on the GPU at the same time: their work-groups are placed all or
  // nothing. Without `batch`; `after_all_earlier` of the first counts for all.
  stretto_status_t (*launch_pipeline)(stretto_client_t* client, stretto_stream_t* stream,
                                      const stretto_launch_t* members, uint32_t count);
  // How kernels are served on this GPU, from now on.
  stretto_status_t (*scheduler_policy)(stretto_client_t* client, stretto_stream_t* stream,
                                       const stretto_scheduler_policy_t* policy);
  // L2 persistence, when everything before it in the stream is complete. CUDA's
  // cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize): what pinned ranges have of the L2, in whole
  // ways; 0 at first.
  stretto_status_t (*set_persisting_l2_cache_size)(stretto_client_t* client,
                                                   stretto_stream_t* stream, uint64_t bytes);
  // CUDA's access policy window: lines of the range stay in the L2 (`persisting`), as many as the
  // limit allows, or no longer. Multiples of 128; at most STRETTO_L2_PINNED_RANGES of a GPU.
  stretto_status_t (*access_policy_window)(stretto_client_t* client, stretto_stream_t* stream,
                                           uint64_t base, uint64_t bytes, int persisting);
  // Memory that another client of the program has allocated on this GPU: windows may name it, too.
  // One range; a later call replaces it.
  stretto_status_t (*import_memory)(stretto_client_t* client, uint64_t base, uint64_t bytes);
  // cudaCtxResetPersistingL2Cache: no range of the GPU stays any longer.
  stretto_status_t (*reset_persisting_l2_cache)(stretto_client_t* client, stretto_stream_t* stream);
  // An event of what was submitted last to the stream, a kernel for example; no packet, and nothing
  // is released. STRETTO_ERROR_STATE: nothing was.
  stretto_status_t (*event_of_last)(stretto_client_t* client, stretto_stream_t* stream,
                                    stretto_event_t* event);
  // Whether all up to the event is known to be complete; does not wait. What failed is told by
  // stream_synchronize.
  int (*event_query)(stretto_client_t* client, const stretto_event_t* event);
  // What wait_any of the host must see before event_query may say yes. REQUIRES: the event was
  // recorded.
  stretto_host_word_t (*event_word)(const stretto_client_t* client, const stretto_event_t* event);
  // event_record that writes the command processor's clock, in nanoseconds, to word `time` of host
  // memory, and then 0 to `word`, in this GPU's memory, for a stream_wait; 0: to none.
  stretto_status_t (*event_record_time)(stretto_client_t* client, stretto_stream_t* stream,
                                        uint64_t time, uint64_t word, stretto_event_t* event);
  // fill, which starts when everything before it in the stream is complete.
  stretto_status_t (*fill_in_order)(stretto_client_t* client, stretto_stream_t* stream,
                                    uint64_t address, uint64_t bytes, uint64_t pattern,
                                    uint32_t account);
  // Has the command processor schedule several queues of the GPU, other clients' too (queue.h). Queues
  // that cannot share: stream_synchronize says so.
  stretto_status_t (*share)(stretto_client_t* client, stretto_stream_t* stream,
                            const stretto_share_t* share);
  // Gives the GPU to these contexts in turn, each a set of queues, for `slice_ns` each (queue.h,
  // TIME_SLICE). Allocates `save_bytes` for each, where what is on the units waits for its next slice.
  // STRETTO_ERROR_TABLE_FULL: not so much memory is left. Contexts that cannot be: stream_synchronize
  // says so. `count` 0: the GPU is in turn no longer; what was allocated stays with the client.
  stretto_status_t (*time_slice)(stretto_client_t* client, stretto_stream_t* stream,
                                 const uint32_t* queues, uint32_t count, uint64_t slice_ns,
                                 uint64_t save_bytes);
  // The command processor serves the queues of `table`, a stretto_shmem_table_t in this GPU
  // (shmem_queue.h); 0: when everything before it in the stream is complete, it ends what it has
  // taken and serves no longer.
  stretto_status_t (*network)(stretto_client_t* client, stretto_stream_t* stream, uint64_t table);
  // copy_to_device of bytes that lie in host memory, at a 48-bit address.
  stretto_status_t (*copy_host_memory)(stretto_client_t* client, uint64_t address,
                                       uint64_t host_address, uint64_t bytes);
} stretto_api_t;

struct stretto_client {
  const stretto_api_t* api;
  stretto_host_ops_t ops;
  stretto_client_options_t options;
  uint64_t memory_next;
  uint64_t imported_base, imported_bytes;
  uint32_t streams;          // Created.
  uint64_t argument_buffer;  // Ring of kernel arguments, device memory,
  uint32_t argument_next;    // where the next ones go, and whose they are, 128 bytes each.
  struct argument_owner* argument;
  stretto_stream_t* stream[STRETTO_QUEUE_COUNT];
  stretto_module_t* modules;            // List, for destruction.
  uint64_t host_writes;                 // Of copy_to_device and copy_host_memory.
  stretto_ring_export_t* ring_buffers;  // By id; null until the first is registered.
  char error[200];
};

// What a client takes from its device memory before anything else, aligned to 4096.
#define STRETTO_ARGUMENT_BUFFER_BYTES 65536u

// Whether module_load would take `elf` and find `kernel` in it (null: any); if not, `error` gets one
// line. `descriptor`, if not null, gets that of the kernel, not relocated. Needs no client.
stretto_status_t stretto_kernel_check(const void* elf, size_t bytes, const char* kernel,
                                      stretto_kernel_descriptor_t* descriptor, char* error,
                                      size_t error_bytes);
// Bytes of the whole file whose first ones these are, as its headers say; 0: no ELF of 64 bits.
// REQUIRES: the headers lie in memory.
size_t stretto_kernel_bytes(const void* elf);
// The contents of a file, which the caller frees; null: it cannot be read, or there is no memory.
void* stretto_kernel_read(const char* file, size_t* bytes);

// Null if an option is out of range.
stretto_client_t* stretto_client_create(const stretto_client_options_t* options,
                                        const stretto_host_ops_t* ops);
void stretto_client_destroy(stretto_client_t* client);

// The allocator's arithmetic, for those who must know addresses in advance: advances *next, returns
// the offset.
static inline uint64_t stretto_place(uint64_t* next, uint64_t bytes, uint64_t alignment) {
  const uint64_t offset = (*next + alignment - 1) & ~(alignment - 1);
  *next = offset + bytes;
  return offset;
}

static inline uint64_t stretto_gpu_address(uint32_t gpu, uint64_t offset) {
  return ((uint64_t)(gpu + 1) << STRETTO_NODE_SHIFT) + offset;
}

const char* stretto_status_text(stretto_status_t status);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_DRIVER_STRETTO_DRIVER_H_
