// SPDX-License-Identifier: Apache-2.0
// See graph_stages.h.
#include "sw/apps/graph/graph_stages.h"

#include <string.h>

#include "sw/driver/l2_ways.h"

static void resolve(stage_edge_t* edge, const graph_stage_memory_t* memory) {
  if (edge->entries == 0) {
    edge->base += memory->arena;
    return;
  }
  edge->base += memory->payloads;
  edge->words += memory->words;
}

static int is_linear(const graph_stage_t* stage) {
  return strcmp(stage->kernel, "stage_linear") == 0;
}

int graph_stage_is_resident(const graph_stage_t* stage, uint32_t lds_bytes) {
  const stage_arguments_t* g = &stage->arguments;
  return STAGE_IS_RESIDENT(g->k, STAGE_PART_BLOCKS(g->n, g->parts)) &&
         STAGE_RESIDENT_LDS <= lds_bytes;
}

const char* graph_stage_kernel(const graph_stage_t* stage, uint32_t lds_bytes) {
  if (!is_linear(stage)) return stage->kernel;
  return graph_stage_is_resident(stage, lds_bytes) ? "stage_linear_resident"
                                                   : "stage_linear_stream";
}

static uint32_t map_lds(const graph_stage_t* stage) {
  if (strcmp(stage->kernel, "stage_map_layer_norm_grad") == 0) return STAGE_NORM_GRAD_LDS;
  if (strcmp(stage->kernel, "stage_map_expand") == 0) return STAGE_EXPAND_LDS;
  if (strcmp(stage->kernel, "stage_map_layer_norm") == 0) return STAGE_NORM_LDS;
  return strcmp(stage->kernel, "stage_map_rms_norm") == 0 ? STAGE_NORM_LDS : 0;
}

graph_stage_needs_t graph_stage_needs(const graph_stage_t* stage, uint32_t lds_bytes) {
  if (!stage->is_tensor)
    return (graph_stage_needs_t){STAGE_MAP_REGISTERS, map_lds(stage), STAGE_MAP_WAVEFRONTS};
  if (!is_linear(stage))
    return (graph_stage_needs_t){STAGE_FAN_IN_REGISTERS, STAGE_FAN_IN_LDS, STAGE_FAN_IN_WAVEFRONTS};
  const uint32_t lds =
      graph_stage_is_resident(stage, lds_bytes) ? STAGE_RESIDENT_LDS : STAGE_STREAM_LDS;
  return (graph_stage_needs_t){STAGE_LINEAR_REGISTERS, lds, STAGE_STORING + 1};
}

#define CLOSE (64u << 10)  // Bytes between weights, as of biases.

uint32_t graph_streamed_weights(const graph_group_t* groups, uint32_t count, uint32_t lds_bytes,
                                uint64_t arena, graph_range_t* ranges, uint32_t most) {
  uint32_t found = 0;
  for (uint32_t group = 0; group < count; ++group) {
    for (uint32_t i = 0; i < groups[group].stages; ++i) {
      const graph_stage_t* stage = &groups[group].stage[i];
      const stage_arguments_t* g = &stage->arguments;
      if (!is_linear(stage) || graph_stage_is_resident(stage, lds_bytes)) continue;
      const uint64_t lines = (g->layout & GEMM_B_NK) != 0 ? g->n : g->k;
      const uint64_t at = arena + g->weights, line = STRETTO_L2_LINE_BYTES;
      const graph_range_t one = {at / line * line, (at + lines * g->ldb + line - 1) / line * line};
      graph_range_t* last = found == 0 ? NULL : &ranges[found - 1];
      if (last != NULL && one.begin <= last->end + CLOSE && last->begin <= one.end + CLOSE) {
        if (one.begin < last->begin) last->begin = one.begin;
        if (one.end > last->end) last->end = one.end;
      } else if (found < most) {
        ranges[found++] = one;
      }
    }
  }
  return found;
}

graph_pins_t graph_pins(const graph_group_t* group, const stretto_client_options_t* options,
                        const graph_stage_memory_t* memory) {
  graph_pins_t pins = {.count = 1, .has_weights = 1};
  const uint64_t way = options->l2_way_bytes, most = options->l2_persist_bytes;
  graph_range_t weights[STRETTO_L2_PINNED_RANGES];  // One too many.
  const uint32_t found = graph_streamed_weights(group, 1, options->unit_lds_bytes, memory->arena,
                                                weights, STRETTO_L2_PINNED_RANGES);
  const uint64_t end = memory->payloads + group->payload_bytes;
  pins.range[0] = (graph_range_t){memory->words, end};
  uint64_t ways = way == 0 ? 0 : stretto_l2_ways(memory->words, end, way);
  for (uint32_t i = 0; i < found; ++i) {
    const uint64_t more = way == 0 ? 0 : stretto_l2_ways(weights[i].begin, weights[i].end, way);
    if (pins.count == STRETTO_L2_PINNED_RANGES || (ways + more) * way > most) {
      pins.has_weights = 0;
      continue;
    }
    ways += more;
    pins.range[pins.count++] = weights[i];
  }
  return pins;
}

stage_arguments_t graph_stage_arguments(const graph_group_t* group, uint32_t stage,
                                        const graph_stage_memory_t* memory, uint32_t iteration) {
  stage_arguments_t g = group->stage[stage].arguments;
  for (int i = 0; i < 3; ++i) resolve(&g.in[i], memory);
  resolve(&g.out, memory);
  for (int i = 0; i < 2; ++i)
    if (g.sums[i].entries != 0) resolve(&g.sums[i], memory);
  for (int i = 0; i < 2; ++i)
    if (g.keep[i].pitch != 0) resolve(&g.keep[i], memory);
  g.clocks += memory->words;
  g.first += (uint64_t)iteration * group->tiles;
  if (g.copy_pitch != 0) g.copy += memory->arena;
  if (is_linear(&group->stage[stage]) || g.has_norm) g.weights += memory->arena;
  if (g.has_bias) g.bias += memory->arena;
  if (g.has_norm) g.epsilon += memory->arena;
  if (g.factor != 0) g.factor += memory->arena;
  return g;
}

stretto_status_t graph_stages_launch(stretto_client_t* client, stretto_stream_t* stream,
                                     const stretto_module_t* module, const graph_group_t* group,
                                     const graph_stage_memory_t* memory, uint32_t iteration,
                                     uint32_t account, int device_scope) {
  stretto_kernel_t kernels[GRAPH_MAX_STAGES];
  stage_arguments_t arguments[GRAPH_MAX_STAGES];
  stretto_launch_t launches[GRAPH_MAX_STAGES];
  for (uint32_t i = 0; i < group->stages; ++i) {
    const graph_stage_t* stage = &group->stage[i];
    const stretto_status_t status = client->api->module_kernel(
        client, module, graph_stage_kernel(stage, client->options.unit_lds_bytes), &kernels[i]);
    if (status != STRETTO_OK) return status;
    arguments[i] = graph_stage_arguments(group, i, memory, iteration);
    launches[i] = (stretto_launch_t){
        .kernel = &kernels[i],
        .arguments = &arguments[i],
        .argument_bytes = sizeof arguments[i],
        .work_groups = stage->work_groups,
        .account = account,
        .device_scope = device_scope,
        .type =
            STRETTO_DISPATCH_TYPE(stage->is_tensor ? STRETTO_KERNEL_TENSOR : STRETTO_KERNEL_SIMT),
        .after_all_earlier = 1};
  }
  return client->api->launch_pipeline(client, stream, launches, group->stages);
}
