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

#endif  // STRETTO_SW_DRIVER_INTERNAL_H_
