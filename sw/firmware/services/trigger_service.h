// SPDX-License-Identifier: Apache-2.0
// Programs Tracker, DMA table and range table for one fused GEMM-collective (T3 4.2, 4.4), and the
// maps of allocations. Runs on hart 0, called once a map packet; never touches tile data.
//
// Order of a collective: spill table (once), output configuration, then one map for each chunk of
// output tiles, then the GEMM. Tiles are in the kernel's order; a chunk is a run of tiles and becomes
// at most TILE_ORDER_RECTANGLES of the range table.
#ifndef STRETTO_SW_FIRMWARE_SERVICES_TRIGGER_SERVICE_H_
#define STRETTO_SW_FIRMWARE_SERVICES_TRIGGER_SERVICE_H_

#include "sw/firmware/hal/range_table.h"
#include "sw/firmware/hal/tracker.h"
#include "sw/firmware/services/shared.h"
#include "sw/include/tile_order.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile_run {
  uint32_t first;
  uint32_t count;
} tile_run_t;

#define TRIGGER_MAX_RUNS 192

typedef struct trigger_service {
  shared_t* shared;
  tracker_t tracker;
  range_table_t ranges;
  stretto_spill_table_t spill;
  stretto_output_config_t output;
  tile_order_t order;
  uint32_t tiles_n;
  uint32_t tiles;        // 0: no output configured.
  uint32_t regions;      // DMA regions in use.
  tile_run_t untracked;  // Remote tiles; may go around the end.
  bool events;           // Tiles that raise events are mapped.
  bool in_switch;        // The switch adds what others send to the output.
  uint32_t runs;
  tile_run_t run[TRIGGER_MAX_RUNS];  // Mapped tiles.
} trigger_service_t;

FW_MUST_CHECK fw_result_t trigger_service_init(trigger_service_t* service, shared_t* shared);
// STRETTO_ERROR_UNMAPPED: not memory of this GPU; STRETTO_ERROR_ARGUMENT: not aligned to 64.
FW_MUST_CHECK fw_result_t trigger_service_spill_table(trigger_service_t* service,
                                                      const stretto_spill_table_t* spill);
// STRETTO_ERROR_STATE: tiles are mapped (reset first) or the Tracker is busy;
// STRETTO_ERROR_UNMAPPED: output outside this GPU or spill table too small; STRETTO_ERROR_ARGUMENT:
// a field out of range.
FW_MUST_CHECK fw_result_t trigger_service_output(trigger_service_t* service,
                                                 const stretto_output_config_t* output);
// `operation` is STRETTO_OP_LOCAL_MAP, _REMOTE_MAP or _DMA_MAP. STRETTO_ERROR_OVERLAP: tiles or
// bytes that are mapped already; STRETTO_ERROR_UNMAPPED: tiles outside the output or addresses
// outside GPU memory; STRETTO_ERROR_ARGUMENT: count 0, updates that are not those of the
// configuration, a rectangle without bytes; STRETTO_ERROR_TABLE_FULL, also for remote tiles that are
// not next to those mapped before; STRETTO_ERROR_STATE: tiles without output. Rectangles lie under tiles, whenever they come.
FW_MUST_CHECK fw_result_t trigger_service_map(trigger_service_t* service,
                                              stretto_operation_t operation, uint32_t flags,
                                              const stretto_map_t* map);
// Forgets the allocation or remote range that begins at `base`. STRETTO_ERROR_STATE: tiles in
// it are mapped; STRETTO_ERROR_UNMAPPED: there is none.
FW_MUST_CHECK fw_result_t trigger_service_unmap(trigger_service_t* service, uint64_t base);
// What opens the gates that gated kernels wait for (T3-AGC-02). STRETTO_ERROR_STATE: no tiles raise
// events, or more than one wavefront writes a tile; STRETTO_ERROR_ARGUMENT: more gates than there
// are. Before the first event can come.
FW_MUST_CHECK fw_result_t trigger_service_gates(trigger_service_t* service,
                                                const stretto_gates_t* gates);
// Lets kernels store to the send window of the request ring; once until allocations are forgotten.
FW_MUST_CHECK fw_result_t trigger_service_map_send_window(trigger_service_t* service);
// Forgets output, tiles and Tracker state, allocations too if `allocations`. STRETTO_ERROR_STATE: a
// wait is open or the Tracker is busy.
FW_MUST_CHECK fw_result_t trigger_service_reset(trigger_service_t* service, bool allocations);
// Completes `job` when every mapped region is done. STRETTO_ERROR_TABLE_FULL: another wait is open,
// try again.
FW_MUST_CHECK fw_result_t trigger_service_wait(trigger_service_t* service, job_t job);

#ifdef __cplusplus
}
#endif

#endif  // STRETTO_SW_FIRMWARE_SERVICES_TRIGGER_SERVICE_H_
