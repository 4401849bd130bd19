// SPDX-License-Identifier: Apache-2.0
// Kernels of a file, for programs that use the driver beside cuda_runtime.h.
#ifndef STRETTO_TESTS_SYSTEM_PROGRAMS_LOAD_KERNELS_H_
#define STRETTO_TESTS_SYSTEM_PROGRAMS_LOAD_KERNELS_H_

#include "sw/driver/stretto_driver.h"
#include "tests/system/programs/must.h"

static inline stretto_module_t* load_module(stretto_client_t* client, const char* path) {
  static char elf[1 << 20];
  FILE* file = fopen(path, "rb");
  MUST(file != NULL);
  const size_t bytes = fread(elf, 1, sizeof elf, file);
  fclose(file);
  stretto_module_t* module = NULL;
  MUST(client->api->module_load(client, elf, bytes, &module) == STRETTO_OK);
  return module;
}

static inline stretto_kernel_t kernel_of(stretto_client_t* client, const stretto_module_t* module,
                                         const char* name) {
  stretto_kernel_t kernel;
  MUST(client->api->module_kernel(client, module, name, &kernel) == STRETTO_OK);
  return kernel;
}

#endif  // STRETTO_TESTS_SYSTEM_PROGRAMS_LOAD_KERNELS_H_
