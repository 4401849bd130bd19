// SPDX-License-Identifier: Apache-2.0
// What the driver's files share.
#ifndef STRETTO_SW_DRIVER_INTERNAL_H_
#define STRETTO_SW_DRIVER_INTERNAL_H_

#include "sw/driver/stretto_driver.h"

struct stretto_stream {
  uint32_t queue;
  uint64_t written;        // Packets submitted.
  uint64_t read;           // Packets known to be taken by the firmware.
  uint64_t checked;        // Packets whose completion was seen.
  stretto_status_t error;  // First error since the last synchronize.
  uint64_t acquired;       // Host writes that the last acquire at system scope has made seen.
  int unreleased;          // Kernels have left dirty data in the L2.
  int behind_kernel;       // The last packet is a kernel.
  int preempted;           // By this client, and not resumed.
};

typedef struct argument_owner {
  stretto_stream_t* stream;  // Null: nobody's yet.
  uint64_t packet;           // With which its kernel has ended.
} argument_owner_t;

typedef struct module_symbol {
  char* name;  // Without ".kd".
  uint64_t offset;
  stretto_kernel_descriptor_t descriptor;
} module_symbol_t;

struct stretto_module {
  stretto_module_t* next;
  uint64_t base;
  uint64_t bytes;
  size_t kernels;
  module_symbol_t* kernel;
};

// A relocated image on the host, before it is written to the device.
typedef struct kernel_image {
  uint8_t* data;
  uint64_t bytes;
  size_t kernels;
  module_symbol_t* kernel;
} kernel_image_t;

// Notes why a call failed and returns `status`.
stretto_status_t driver_fail(stretto_client_t* client, stretto_status_t status, const char* format,
                             ...) __attribute__((format(printf, 3, 4)));

// Reads a static PIE and relocates it to `base`; `error` gets one line on failure. The image is
// aligned to 4 KiB.
stretto_status_t kernel_image_size(const void* elf, size_t bytes, uint64_t* image_bytes,
                                   char* error, size_t error_bytes);
stretto_status_t kernel_image_load(const void* elf, size_t bytes, uint64_t base,
                                   kernel_image_t* image, char* error, size_t error_bytes);
void kernel_image_free(kernel_image_t* image);

#define MODULE_ALIGNMENT 4096u
#define ARGUMENT_ALIGNMENT 128u
#define ARGUMENT_UNITS (STRETTO_ARGUMENT_BUFFER_BYTES / ARGUMENT_ALIGNMENT)

// Memory (memory.c)

// Of the client's device memory, for good.
stretto_status_t driver_take_memory(stretto_client_t* client, uint64_t bytes, uint64_t alignment,
                                    uint64_t* address);
int driver_in_client_memory(const stretto_client_t* client, uint64_t address, uint64_t bytes);
stretto_status_t driver_copy_to_device(stretto_client_t* client, uint64_t address, const void* data,
                                       uint64_t bytes);
stretto_status_t driver_copy_host_memory(stretto_client_t* client, uint64_t address,
                                         uint64_t host_address, uint64_t bytes);

stretto_status_t driver_allocate(stretto_client_t* client, stretto_stream_t* stream, uint64_t bytes,
                                 uint64_t alignment, uint32_t allocation, uint64_t* address);
stretto_status_t driver_release(stretto_client_t* client, stretto_stream_t* stream,
                                uint64_t address);
stretto_status_t driver_map(stretto_client_t* client, stretto_stream_t* stream, uint64_t address,
                            uint64_t bytes, uint32_t allocation);

// Packets and signals (packets.c)

// Of an offset in host memory.
uint64_t driver_host_address(uint64_t offset);
// CPU time of a call; of something else, if any.
void driver_call(const stretto_client_t* client);
void driver_charge(const stretto_client_t* client, uint32_t nanoseconds);
// Of the completion signal of a packet.
uint64_t driver_signal_address(const stretto_client_t* client, const stretto_stream_t* stream,
                               uint64_t packet);
// Waits for the oldest packet that was not yet seen complete.
void driver_check_oldest(stretto_client_t* client, stretto_stream_t* stream);
// Looks whether that is complete.
int driver_look_at_oldest(stretto_client_t* client, stretto_stream_t* stream);
// Waits until the queue has room for so many packets; refused if that takes a resume.
stretto_status_t driver_queue_room(stretto_client_t* client, stretto_stream_t* stream,
                                   uint32_t packets);
// Sets the completion signal of the packet and submits it.
stretto_status_t driver_put(stretto_client_t* client, stretto_stream_t* stream,
                            stretto_packet_t* packet);
// Complete when all before it is, and what that left in the L2 has left it.
stretto_status_t driver_put_barrier(stretto_client_t* client, stretto_stream_t* stream);
// A packet other than a kernel reads or tells what kernels wrote: first all of it leaves the L2.
stretto_status_t driver_release_earlier(stretto_client_t* client, stretto_stream_t* stream);
// Room, then the packet behind what earlier kernels leave.
stretto_status_t driver_submit(stretto_client_t* client, stretto_stream_t* stream,
                               stretto_packet_t* packet);
// A packet that is not a kernel's.
stretto_packet_t driver_vendor(stretto_operation_t operation, uint32_t flags);

// Modules, launches, priorities (launches.c)

stretto_status_t driver_module_load(stretto_client_t* client, const void* elf, size_t bytes,
                                    stretto_module_t** module);
stretto_status_t driver_module_kernel(stretto_client_t* client, const stretto_module_t* module,
                                      const char* name, stretto_kernel_t* kernel);
// Whether the packet is complete. Waits for it, but not for one of a stream that this client has
// preempted: who would resume it?
int driver_complete(stretto_client_t* client, stretto_stream_t* stream, uint64_t packet);
// The account of the machine behind one of this client's job.
uint32_t driver_account_of(const stretto_client_t* client, uint32_t account);
// Says that the machine has no such account.
stretto_status_t driver_bad_account(stretto_client_t* client, const char* call, uint32_t account);
stretto_status_t driver_launch(stretto_client_t* client, stretto_stream_t* stream,
                               const stretto_launch_t* launch);
stretto_status_t driver_launch_pipeline(stretto_client_t* client, stretto_stream_t* stream,
                                        const stretto_launch_t* members, uint32_t count);
stretto_status_t driver_stream_priority(stretto_client_t* client, stretto_stream_t* stream,
                                        uint32_t priority);
stretto_status_t driver_preempt(stretto_client_t* client, stretto_stream_t* stream,
                                const stretto_stream_t* other, int drain);
stretto_status_t driver_resume(stretto_client_t* client, stretto_stream_t* stream,
                               const stretto_stream_t* other);
stretto_status_t driver_time_slice(stretto_client_t* client, stretto_stream_t* stream,
                                   const uint32_t* queues, uint32_t count, uint64_t slice_ns,
                                   uint64_t save_bytes);
stretto_status_t driver_share(stretto_client_t* client, stretto_stream_t* stream,
                              const stretto_share_t* share);
stretto_status_t driver_network(stretto_client_t* client, stretto_stream_t* stream, uint64_t table);
stretto_status_t driver_scheduler_policy(stretto_client_t* client, stretto_stream_t* stream,
                                         const stretto_scheduler_policy_t* policy);

// Maps, configuration, request ring (maps.c)

stretto_status_t driver_remote_map(stretto_client_t* client, stretto_stream_t* stream,
                                   uint64_t base, uint64_t bytes, uint64_t peer_base,
                                   uint32_t flags);
stretto_status_t driver_configure_output(stretto_client_t* client, stretto_stream_t* stream,
                                         const stretto_output_config_t* output);
stretto_status_t driver_remote_map_tiles(stretto_client_t* client, stretto_stream_t* stream,
                                         const stretto_tile_map_t* map);
stretto_status_t driver_dma_map_tiles(stretto_client_t* client, stretto_stream_t* stream,
                                      const stretto_tile_map_t* map);
stretto_status_t driver_local_map_tiles(stretto_client_t* client, stretto_stream_t* stream,
                                        const stretto_tile_map_t* map);
stretto_status_t driver_configure_gates(stretto_client_t* client, stretto_stream_t* stream,
                                        const stretto_gates_t* gates);
stretto_status_t driver_spill_table(stretto_client_t* client, stretto_stream_t* stream,
                                    uint64_t base, uint64_t bytes);
stretto_status_t driver_configure_mca(stretto_client_t* client, stretto_stream_t* stream,
                                      const stretto_mca_config_t* mca, uint32_t flags);
stretto_status_t driver_reset_maps(stretto_client_t* client, stretto_stream_t* stream,
                                   uint32_t flags);
stretto_status_t driver_collective_wait(stretto_client_t* client, stretto_stream_t* stream);
stretto_status_t driver_ring_start(stretto_client_t* client, stretto_stream_t* stream,
                                   uint64_t replica, uint64_t sc_base, uint32_t batch);
stretto_status_t driver_ring_connect(stretto_client_t* client, stretto_stream_t* stream,
                                     uint32_t connection, uint32_t peer, uint64_t rc_base,
                                     uint32_t limit);
stretto_status_t driver_ring_register(stretto_client_t* client, stretto_stream_t* stream,
                                      uint32_t id, uint64_t base, uint64_t bytes,
                                      uint32_t unit_shift, uint32_t flags);
stretto_status_t driver_ring_export(stretto_client_t* client, uint32_t id,
                                    stretto_ring_export_t* exported);
stretto_status_t driver_ring_import(stretto_client_t* client, stretto_stream_t* stream, uint32_t id,
                                    const stretto_ring_export_t* exported);
stretto_status_t driver_ring_unregister(stretto_client_t* client, stretto_stream_t* stream,
                                        uint32_t id);

#endif  // STRETTO_SW_DRIVER_INTERNAL_H_
