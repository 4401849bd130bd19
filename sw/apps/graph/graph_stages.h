// SPDX-License-Identifier: Apache-2.0
// Groups of operators of a graph as spatial pipelines (Kitsune, 4): stages (sw/kernels/stages) and the queues between
// them, launched together.
#ifndef STRETTO_SW_APPS_GRAPH_GRAPH_STAGES_H_
#define STRETTO_SW_APPS_GRAPH_GRAPH_STAGES_H_

#include "sw/driver/stretto_driver.h"
#include "sw/include/tile_queue.h"
#include "sw/kernels/stages/stages.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAPH_MAX_STAGES STRETTO_PIPELINE_MEMBERS

// `arguments`: addresses are places, of memory from the arena's begin, of queues (entries above 0) from that of all
// payloads and of all words, of clocks from that of all words. `first` is that of the first iteration.
typedef struct graph_stage {
  char kernel[32];  // stage_linear stands for both of its kernels.
  uint32_t work_groups;
  uint32_t is_tensor;
  stage_arguments_t arguments;
} graph_stage_t;

typedef struct graph_group {
  uint32_t first_op;  // Operators first_op .. first_op + ops - 1 of the plan.
  uint32_t ops;
  uint32_t stages;
  uint32_t tiles;
  uint64_t payload_bytes;  // Of its queues, whole lines.
  const graph_stage_t* stage;
} graph_group_t;

// All groups' queues: words and clocks, then payloads. One group runs at a time: payloads of all begin at the same place,
// so what a group needs in pinned lines are words and as many payloads as it has.
typedef struct graph_queues {
  uint64_t payload_bytes;
  uint64_t word_bytes;
} graph_queues_t;

// Address of where they lie; words and payloads begin with a line of the L2.
typedef struct graph_stage_memory {
  uint64_t arena;
  uint64_t payloads;
  uint64_t words;
} graph_stage_memory_t;

// What a unit with so many bytes of LDS runs for a stage: linear ones keep their weights there if they can.
const char* graph_stage_kernel(const graph_stage_t* stage, uint32_t lds_bytes);
// Whether they stay there. REQUIRES: it is a linear one.
int graph_stage_is_resident(const graph_stage_t* stage, uint32_t lds_bytes);
// What a work-group of it takes of a unit.
typedef struct graph_stage_needs {
  uint32_t registers_bytes;
  uint32_t lds_bytes;
  uint32_t wavefronts;
} graph_stage_needs_t;
graph_stage_needs_t graph_stage_needs(const graph_stage_t* stage, uint32_t lds_bytes);
// Addresses of whole lines of the L2.
typedef struct graph_range {
  uint64_t begin, end;
} graph_range_t;
// Weights that units read again with every tile, what lies close together in one range; returns how many, at most
// `most`: of those behind, none.
uint32_t graph_streamed_weights(const graph_group_t* groups, uint32_t count, uint32_t lds_bytes,
                                uint64_t arena, graph_range_t* ranges, uint32_t most);
// What a group has in pinned lines of the L2: its queues, and of weights that its units read again with every tile those
// that fit beside for certain. Lines that units of the other partition alone read age at home, for they hit their copies.
typedef struct graph_pins {
  uint32_t count;
  uint32_t has_weights;  // All of them.
  graph_range_t range[STRETTO_L2_PINNED_RANGES];
} graph_pins_t;
graph_pins_t graph_pins(const graph_group_t* group, const stretto_client_options_t* options,
                        const graph_stage_memory_t* memory);
// The arguments of a stage in an iteration.
stage_arguments_t graph_stage_arguments(const graph_group_t* group, uint32_t stage,
                                        const graph_stage_memory_t* memory, uint32_t iteration);
// One pipeline; starts when everything before it in the stream is complete. `module` is stages.elf.
stretto_status_t graph_stages_launch(stretto_client_t* client, stretto_stream_t* stream,
                                     const stretto_module_t* module, const graph_group_t* group,
                                     const graph_stage_memory_t* memory, uint32_t iteration,
                                     uint32_t account, int device_scope);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_APPS_GRAPH_GRAPH_STAGES_H_
