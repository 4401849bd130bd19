// SPDX-License-Identifier: Apache-2.0
// Lists of libraries and their kernels. See runtime.h.
#include <stdlib.h>
#include <string.h>

#include "sw/collectives/runtime.h"

stretto_runtime_library_t* stretto_runtime_add_library(stretto_runtime_library_t** list, void* elf,
                                                       size_t bytes, size_t struct_bytes) {
  stretto_runtime_library_t* created = calloc(1, struct_bytes);
  if (created == NULL) return NULL;
  *created = (stretto_runtime_library_t){.next = *list, .elf = elf, .bytes = bytes};
  return *list = created;
}

stretto_runtime_kernel_t* stretto_runtime_add_kernel(stretto_runtime_library_t* library,
                                                     const char* name,
                                                     const stretto_kernel_descriptor_t* descriptor,
                                                     size_t struct_bytes) {
  stretto_runtime_kernel_t* created = calloc(1, struct_bytes);
  if (created != NULL) created->name = strdup(name);
  if (created == NULL || created->name == NULL) {
    free(created);
    return NULL;
  }
  created->library = library;
  created->descriptor = *descriptor;
  created->next = library->kernels;
  return library->kernels = created;
}

stretto_runtime_library_t* stretto_runtime_given_library(stretto_runtime_library_t* list,
                                                         const void* library) {
  for (; list != NULL; list = list->next)
    if (list == library) return list;
  return NULL;
}

stretto_runtime_kernel_t* stretto_runtime_given_kernel(stretto_runtime_library_t* list,
                                                       const void* kernel) {
  for (; list != NULL; list = list->next)
    for (stretto_runtime_kernel_t* k = list->kernels; k != NULL; k = k->next)
      if (k == kernel) return k;
  return NULL;
}

stretto_runtime_kernel_t* stretto_runtime_named_kernel(stretto_runtime_library_t* library,
                                                       const char* name) {
  for (stretto_runtime_kernel_t* k = library->kernels; k != NULL; k = k->next)
    if (strcmp(k->name, name) == 0) return k;
  return NULL;
}

void stretto_runtime_remove_library(stretto_runtime_library_t** list,
                                    stretto_runtime_library_t* library) {
  while (*list != library) list = &(*list)->next;
  *list = library->next;
  while (library->kernels != NULL) {
    stretto_runtime_kernel_t* next = library->kernels->next;
    free(library->kernels->name);
    free(library->kernels);
    library->kernels = next;
  }
  free(library->elf);
  free(library);
}

void stretto_runtime_remove_libraries(stretto_runtime_library_t** list) {
  while (*list != NULL) stretto_runtime_remove_library(list, *list);
}
