// SPDX-License-Identifier: Apache-2.0
// Pipelines of cuda_runtime.h, and what their queues need of the L2.
#include <stdlib.h>
#include <string.h>

#include "sw/collectives/internal.h"

typedef struct edge {
  uint32_t from, to;  // Numbers of nodes.
} edge_t;

struct CUpipelineNode_st {
  const stretto_runtime_kernel_t* kernel;
  dim3 grid;
  uint32_t type;  // Of the driver.
  void* arguments;
};

// Of both, what the program has made and what was made of that to launch it, in the order of `order`.
typedef struct nodes {
  struct nodes* next;  // Of the runtime.
  uint32_t count;
  struct CUpipelineNode_st node[STRETTO_PIPELINE_MEMBERS];
} nodes_t;

struct CUpipeline_st {
  nodes_t nodes;
  edge_t* edges;
  uint32_t edge_count;
};
struct CUpipelineExec_st {
  nodes_t nodes;
};

// Of the list, or null.
static nodes_t* given(nodes_t* list, const void* one) {
  while (list != NULL && list != one) list = list->next;
  return list;
}

static void forget(nodes_t** list, nodes_t* nodes) {
  while (*list != nodes) list = &(*list)->next;
  *list = nodes->next;
  for (uint32_t i = 0; i < nodes->count; ++i) free(nodes->node[i].arguments);
}

static struct CUpipeline_st* given_pipeline(const char* call, cudaPipeline_t pipeline) {
  stretto_runtime_t* runtime = runtime_current();
  nodes_t* found = runtime == NULL ? NULL : given(runtime->pipelines, pipeline);
  if (found == NULL)
    (void)stretto_runtime_refuse(cudaErrorInvalidResourceHandle, "%s: %p is no pipeline", call,
                                 (void*)pipeline);
  return (struct CUpipeline_st*)found;
}

// Its number; `count`: it is none of the pipeline.
static uint32_t number_of(const nodes_t* nodes, cudaPipelineNode_t node) {
  uint32_t i = 0;
  while (i < nodes->count && &nodes->node[i] != node) ++i;
  return i;
}

cudaError_t cudaPipelineCreate(cudaPipeline_t* pipeline, unsigned flags) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL || pipeline == NULL || flags != 0)
    return stretto_runtime_refuse(cudaErrorInvalidValue,
                                  "cudaPipelineCreate: a null pointer, or flags %u; 0", flags);
  struct CUpipeline_st* created = calloc(1, sizeof *created);
  if (created == NULL)
    return stretto_runtime_refuse(cudaErrorMemoryAllocation, "cudaPipelineCreate: no host memory");
  created->nodes.next = runtime->pipelines;
  runtime->pipelines = &created->nodes;
  *pipeline = created;
  return cudaSuccess;
}

cudaError_t cudaPipelineDestroy(cudaPipeline_t pipeline) {
  struct CUpipeline_st* p = given_pipeline("cudaPipelineDestroy", pipeline);
  if (p == NULL) return cudaErrorInvalidResourceHandle;
  forget(&runtime_current()->pipelines, &p->nodes);
  free(p->edges);
  free(p);
  return cudaSuccess;
}

// Of the kernel's arguments; null: no host memory, or there are none.
static void* copy_arguments(const void* arguments, uint32_t bytes) {
  void* copy = bytes == 0 ? NULL : malloc(bytes);
  if (copy != NULL) memcpy(copy, arguments, bytes);
  return copy;
}

cudaError_t cudaPipelineAddKernelNode(cudaPipelineNode_t* node, cudaPipeline_t pipeline,
                                      const cudaPipelineNode_t* dependencies, size_t count,
                                      const cudaPipelineKernelNodeParams* parameters) {
  static const char kCall[] = "cudaPipelineAddKernelNode";
  struct CUpipeline_st* p = given_pipeline(kCall, pipeline);
  if (p == NULL) return cudaErrorInvalidResourceHandle;
  if (node == NULL || parameters == NULL || (count != 0 && dependencies == NULL))
    return stretto_runtime_refuse(cudaErrorInvalidValue, "%s: a null pointer", kCall);
  const stretto_runtime_kernel_t* k =
      stretto_runtime_given_kernel(runtime_current()->libraries, parameters->func);
  if (k == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                  "%s: %p is no kernel of cudaLibraryGetKernel", kCall,
                                  parameters->func);
  TRY_CUDA(stretto_runtime_check_launch(kCall, k->name, &k->descriptor, parameters->gridDim,
                                        parameters->blockDim, parameters->kernelParams,
                                        parameters->sharedMemBytes));
  if ((unsigned)parameters->type > cudaPipelineKernelTypeTensor)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "%s: %.60s: type %u (0..%u)", kCall,
                                  k->name, (unsigned)parameters->type,
                                  (unsigned)cudaPipelineKernelTypeTensor);
  if (p->nodes.count == STRETTO_PIPELINE_MEMBERS)
    return stretto_runtime_refuse(cudaErrorInvalidConfiguration,
                                  "%s: %.60s: a pipeline has at most %u kernels", kCall, k->name,
                                  STRETTO_PIPELINE_MEMBERS);
  void* arguments = NULL;
  const uint32_t bytes = k->descriptor.kernarg_bytes;
  if (bytes != 0) {
    arguments = copy_arguments(parameters->kernelParams[0], bytes);
    if (arguments == NULL)
      return stretto_runtime_refuse(cudaErrorMemoryAllocation, "%s: no host memory", kCall);
  }
  struct CUpipelineNode_st* created = &p->nodes.node[p->nodes.count];
  *created = (struct CUpipelineNode_st){
      .kernel = k,
      .grid = parameters->gridDim,
      .type = parameters->type == cudaPipelineKernelTypeDeclared
                  ? 0
                  : STRETTO_DISPATCH_TYPE(parameters->type == cudaPipelineKernelTypeSimt
                                              ? STRETTO_KERNEL_SIMT
                                              : STRETTO_KERNEL_TENSOR),
      .arguments = arguments};
  ++p->nodes.count;
  for (size_t i = 0; i < count; ++i) {
    const cudaError_t error = cudaPipelineAddDependencies(pipeline, &dependencies[i], &created, 1);
    if (error == cudaSuccess) continue;
    p->edge_count -= (uint32_t)i;
    --p->nodes.count;
    free(arguments);
    return error;
  }
  *node = created;
  return cudaSuccess;
}

cudaError_t cudaPipelineAddDependencies(cudaPipeline_t pipeline, const cudaPipelineNode_t* from,
                                        const cudaPipelineNode_t* to, size_t count) {
  static const char kCall[] = "cudaPipelineAddDependencies";
  struct CUpipeline_st* p = given_pipeline(kCall, pipeline);
  if (p == NULL) return cudaErrorInvalidResourceHandle;
  if (count != 0 && (from == NULL || to == NULL))
    return stretto_runtime_refuse(cudaErrorInvalidValue, "%s: a null pointer", kCall);
  for (size_t i = 0; i < count; ++i)
    for (int end = 0; end < 2; ++end) {
      const cudaPipelineNode_t node = end == 0 ? from[i] : to[i];
      if (number_of(&p->nodes, node) == p->nodes.count)
        return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                      "%s: %p is no kernel of this pipeline", kCall, (void*)node);
    }
  edge_t* edges = realloc(p->edges, (p->edge_count + count + 1) * sizeof *edges);
  if (edges == NULL)
    return stretto_runtime_refuse(cudaErrorMemoryAllocation, "%s: no host memory", kCall);
  p->edges = edges;
  for (size_t i = 0; i < count; ++i)
    edges[p->edge_count++] = (edge_t){number_of(&p->nodes, from[i]), number_of(&p->nodes, to[i])};
  return cudaSuccess;
}

// The first node that is not in `placed` and waits for none that is not; `count`: there is none.
static uint32_t next_of(const struct CUpipeline_st* p, uint64_t placed) {
  uint32_t node = 0;
  for (; node < p->nodes.count; ++node) {
    int is_free = (placed >> node & 1) == 0;
    for (uint32_t i = 0; i < p->edge_count && is_free; ++i)
      is_free = p->edges[i].to != node || (placed >> p->edges[i].from & 1) != 0;
    if (is_free) break;
  }
  return node;
}

cudaError_t cudaPipelineInstantiate(cudaPipelineExec_t* exec, cudaPipeline_t pipeline,
                                    unsigned flags) {
  static const char kCall[] = "cudaPipelineInstantiate";
  struct CUpipeline_st* p = given_pipeline(kCall, pipeline);
  if (p == NULL) return cudaErrorInvalidResourceHandle;
  if (exec == NULL || flags != 0)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "%s: a null pointer, or flags %u; 0",
                                  kCall, flags);
  if (p->nodes.count == 0)
    return stretto_runtime_refuse(cudaErrorInvalidConfiguration, "%s: it has no kernels", kCall);
  struct CUpipelineExec_st* created = calloc(1, sizeof *created);
  if (created == NULL)
    return stretto_runtime_refuse(cudaErrorMemoryAllocation, "%s: no host memory", kCall);
  cudaError_t error = cudaSuccess;
  for (uint64_t placed = 0; created->nodes.count < p->nodes.count && error == cudaSuccess;) {
    const uint32_t number = next_of(p, placed);
    if (number == p->nodes.count) {
      const uint32_t waiting = (uint32_t)__builtin_ctzll(~placed);
      error = stretto_runtime_refuse(cudaErrorInvalidConfiguration,
                                     "%s: kernel %u, %.60s: its dependencies have a cycle", kCall,
                                     waiting, p->nodes.node[waiting].kernel->name);
      break;
    }
    placed |= 1ull << number;
    struct CUpipelineNode_st* copy = &created->nodes.node[created->nodes.count];
    *copy = p->nodes.node[number];
    const uint32_t bytes = copy->arguments == NULL ? 0 : copy->kernel->descriptor.kernarg_bytes;
    copy->arguments = copy_arguments(copy->arguments, bytes);
    if (bytes != 0 && copy->arguments == NULL)
      error = stretto_runtime_refuse(cudaErrorMemoryAllocation, "%s: no host memory", kCall);
    ++created->nodes.count;
  }
  stretto_runtime_t* runtime = runtime_current();
  created->nodes.next = runtime->pipeline_execs;
  runtime->pipeline_execs = &created->nodes;
  if (error != cudaSuccess) {
    (void)cudaPipelineExecDestroy(created);
    return error;
  }
  *exec = created;
  return cudaSuccess;
}

cudaError_t cudaPipelineExecDestroy(cudaPipelineExec_t exec) {
  stretto_runtime_t* runtime = runtime_current();
  nodes_t* found = runtime == NULL ? NULL : given(runtime->pipeline_execs, exec);
  if (found == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                  "cudaPipelineExecDestroy: %p is no pipeline to launch",
                                  (void*)exec);
  forget(&runtime->pipeline_execs, found);
  free(found);
  return cudaSuccess;
}

cudaError_t cudaPipelineLaunch(cudaPipelineExec_t exec, cudaStream_t stream) {
  static const char kCall[] = "cudaPipelineLaunch";
  stretto_runtime_t* runtime = runtime_current();
  const nodes_t* nodes = runtime == NULL ? NULL : given(runtime->pipeline_execs, exec);
  if (nodes == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidResourceHandle, "%s: %p is no pipeline to launch",
                                  kCall, (void*)exec);
  struct CUstream_st* s = runtime_given_stream(stream);
  if (s == NULL) return runtime_no_stream(kCall, stream);
  stretto_launch_t launches[STRETTO_PIPELINE_MEMBERS];
  for (uint32_t i = 0; i < nodes->count; ++i) {
    const struct CUpipelineNode_st* node = &nodes->node[i];
    if (stretto_runtime_given_kernel(runtime->libraries, node->kernel) == NULL)
      return stretto_runtime_refuse(cudaErrorInvalidResourceHandle,
                                    "%s: the library of kernel %u is unloaded", kCall, i);
    TRY_CUDA(
        runtime_prepare_launch(kCall, node->kernel, node->grid, node->arguments, s, &launches[i]));
    launches[i].type = node->type;
  }
  return runtime_launch_together(kCall, launches, nodes->count, s);
}

void pipelines_free(stretto_runtime_t* runtime) {
  while (runtime->pipelines != NULL) {
    nodes_t* nodes = runtime->pipelines;
    forget(&runtime->pipelines, nodes);
    free(((struct CUpipeline_st*)nodes)->edges);
    free(nodes);
  }
  while (runtime->pipeline_execs != NULL) {
    nodes_t* nodes = runtime->pipeline_execs;
    forget(&runtime->pipeline_execs, nodes);
    free(nodes);
  }
}

// The L2

static cudaError_t outcome(const char* call, const device_t* device, stretto_status_t status) {
  if (status == STRETTO_OK) return cudaSuccess;
  return stretto_runtime_refuse(cudaErrorInvalidValue, "%s: %.200s", call,
                                device->client->api->last_error(device->client));
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  device_t* device = runtime_current_device();
  if (device == NULL) return cudaErrorInvalidDevice;
  if (limit != cudaLimitPersistingL2CacheSize)
    return stretto_runtime_refuse(cudaErrorNotSupported,
                                  "cudaDeviceSetLimit: limit %u; cudaLimitPersistingL2CacheSize",
                                  (unsigned)limit);
  TRY_CUDA(outcome("cudaDeviceSetLimit", device,
                   device->client->api->set_persisting_l2_cache_size(
                       device->client, device->default_stream->stream, value)));
  return runtime_cuda_synchronize(device->default_stream);  // Other streams find it.
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
  static const char kCall[] = "cudaStreamSetAttribute";
  struct CUstream_st* s = runtime_given_stream(stream);
  if (s == NULL) return runtime_no_stream(kCall, stream);
  if (attribute != cudaStreamAttributeAccessPolicyWindow || value == NULL)
    return stretto_runtime_refuse(cudaErrorNotSupported,
                                  "%s: attribute %u; cudaStreamAttributeAccessPolicyWindow", kCall,
                                  (unsigned)attribute);
  const cudaAccessPolicyWindow* window = &value->accessPolicyWindow;
  const int persists = window->hitProp == cudaAccessPropertyPersisting;
  if ((!persists && window->hitProp != cudaAccessPropertyNormal) ||
      window->missProp != cudaAccessPropertyNormal || (persists && window->hitRatio != 1.0f))
    return stretto_runtime_refuse(
        cudaErrorNotSupported,
        "%s: a window whose lines persist all (hitRatio 1) or are normal; "
        "what misses is normal",
        kCall);
  return outcome(kCall, s->device,
                 s->device->client->api->access_policy_window(s->device->client, s->stream,
                                                              (uint64_t)(uintptr_t)window->base_ptr,
                                                              window->num_bytes, persists));
}

cudaError_t cudaCtxResetPersistingL2Cache(void) {
  device_t* device = runtime_current_device();
  if (device == NULL) return cudaErrorInvalidDevice;
  TRY_CUDA(outcome("cudaCtxResetPersistingL2Cache", device,
                   device->client->api->reset_persisting_l2_cache(device->client,
                                                                  device->default_stream->stream)));
  return runtime_cuda_synchronize(device->default_stream);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  stretto_runtime_t* runtime = runtime_current();
  if (runtime == NULL || value == NULL)
    return stretto_runtime_refuse(cudaErrorInvalidValue, "cudaDeviceGetAttribute: null");
  if (attribute != cudaDevAttrMaxPersistingL2CacheSize)
    return stretto_runtime_refuse(
        cudaErrorNotSupported,
        "cudaDeviceGetAttribute: attribute %u; cudaDevAttrMaxPersistingL2CacheSize",
        (unsigned)attribute);
  const device_t* one = runtime_device(runtime, (uint32_t)device);
  if (one == NULL) return runtime_keep(cudaErrorInvalidDevice);
  *value = (int)one->client->options.l2_persist_bytes;
  return cudaSuccess;
}
