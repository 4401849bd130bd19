// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/tracker.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, resets, field positions and values.
// A package offers more than one user needs:
// verilator lint_off UNUSEDPARAM
package tracker_regs_pkg;

  // Mode; change it only while status.busy is 0. (read, write)
  localparam logic [15:0] ControlOffset = 16'h0;
  localparam logic [63:0] ControlReset = 64'h80;
  localparam int unsigned ControlEnableLsb = 0;  // 0 = updates are taken and forgotten.
  localparam int unsigned ControlEnableWidth = 1;
  localparam int unsigned ControlWaysLsb = 4;  // Ways that new tiles may take, 1..8; fewer make the table smaller. 0 or more than are built means all.
  localparam int unsigned ControlWaysWidth = 4;
  typedef struct packed {
    logic [3:0] ways;
    logic enable;
  } control_t;

  // A write of any value empties the table and forgets what was spilled; only while status.busy is 0. (write only, reads 0)
  localparam logic [15:0] ClearOffset = 16'h8;
  localparam logic [63:0] ClearReset = 64'h0;

  // A write of any value clears the counters (max_live becomes live). (write only, reads 0)
  localparam logic [15:0] CounterClearOffset = 16'h10;
  localparam logic [63:0] CounterClearReset = 64'h0;

  // State of the Tracker. (read only)
  localparam logic [15:0] StatusOffset = 16'h18;
  localparam logic [63:0] StatusReset = 64'h0;
  localparam int unsigned StatusBusyLsb = 0;  // An update, trigger or spill transaction is on its way through the Tracker or outstanding in memory.
  localparam int unsigned StatusBusyWidth = 1;
  localparam int unsigned StatusOutstandingLsb = 8;  // Spill reads and writes outstanding or waiting to be sent.
  localparam int unsigned StatusOutstandingWidth = 7;
  localparam int unsigned StatusLiveLsb = 32;  // Tiles with a slot or a spilled entry.
  localparam int unsigned StatusLiveWidth = 20;
  typedef struct packed {
    logic [19:0] live;
    logic [6:0] outstanding;
    logic busy;
  } status_t;

  // Tiles of the output; ids run through strips of tiles, one after the other (sw/include/tile_order.h). (read, write)
  localparam logic [15:0] TilesOffset = 16'h20;
  localparam logic [63:0] TilesReset = 64'h0;
  localparam int unsigned TilesTotalLsb = 0;  // Number of tiles, 1..65536; updates of ids from here on are forgotten.
  localparam int unsigned TilesTotalWidth = 17;
  localparam int unsigned TilesLastStripLsb = 32;  // Id of the first tile of the last strip.
  localparam int unsigned TilesLastStripWidth = 16;
  typedef struct packed {
    logic [15:0] last_strip;
    logic [16:0] total;
  } tiles_t;

  // Shape of the strips; lets the Tracker find the place of an id in its strip without a divider. (read, write)
  localparam logic [15:0] StripsOffset = 16'h28;
  localparam logic [63:0] StripsReset = 64'h0;
  localparam int unsigned StripsAlongLsb = 0;  // Tiles along a strip; the place is exact while (along - 1) x ((tiles.total >> width) - 1) < 2^24, so always for along <= 256.
  localparam int unsigned StripsAlongWidth = 16;
  localparam int unsigned StripsWidthLsb = 16;  // log2 of the tiles across a strip; 0 and strips along the rows are row-major order.
  localparam int unsigned StripsWidthWidth = 2;
  localparam int unsigned StripsReciprocalLsb = 32;  // ceil(2^24 / along), 25 bits.
  localparam int unsigned StripsReciprocalWidth = 25;
  typedef struct packed {
    logic [24:0] reciprocal;
    logic [1:0] width;
    logic [15:0] along;
  } strips_t;

  // Ids that are not tracked, the remote chunk (T3-TRK-11); the interval wraps from tiles.total to 0. (read, write)
  localparam logic [15:0] UntrackedOffset = 16'h30;
  localparam logic [63:0] UntrackedReset = 64'h0;
  localparam int unsigned UntrackedFirstLsb = 0;  // First id not tracked.
  localparam int unsigned UntrackedFirstWidth = 16;
  localparam int unsigned UntrackedCountLsb = 32;  // Number of ids not tracked; 0 = all are tracked.
  localparam int unsigned UntrackedCountWidth = 17;
  typedef struct packed {
    logic [16:0] count;
    logic [15:0] first;
  } untracked_t;

  // Ids whose completion raises a work-group scheduling event instead of a DMA (T3-AGC-01); the interval wraps from tiles.total to 0. (read, write)
  localparam logic [15:0] EventOffset = 16'h38;
  localparam logic [63:0] EventReset = 64'h0;
  localparam int unsigned EventFirstLsb = 0;  // First id of an event.
  localparam int unsigned EventFirstWidth = 16;
  localparam int unsigned EventCountLsb = 32;  // Number of ids; 0 = every trigger is for the DMA.
  localparam int unsigned EventCountWidth = 17;
  typedef struct packed {
    logic [16:0] count;
    logic [15:0] first;
  } event_t;

  // Half-words written that complete a wavefront tile; register class x 2 + wavefront / 4, class 0 interior, 1 end of a strip, 2 far edge of the last strip, 3 both. (read, write)
  localparam logic [15:0] ThresholdOffset = 16'h40;
  localparam int unsigned ThresholdCount = 8;
  localparam int unsigned ThresholdStride = 8;
  localparam int unsigned ThresholdIndexLsb = 3;  // Of the index in the address.
  localparam logic [63:0] ThresholdReset = 64'h0;
  localparam int unsigned ThresholdWf0Lsb = 0;  // Wavefront 0 or 4, 1..32768; 0 = this wavefront's part is empty and is not tracked.
  localparam int unsigned ThresholdWf0Width = 16;
  localparam int unsigned ThresholdWf1Lsb = 16;  // Wavefront 1 or 5.
  localparam int unsigned ThresholdWf1Width = 16;
  localparam int unsigned ThresholdWf2Lsb = 32;  // Wavefront 2 or 6.
  localparam int unsigned ThresholdWf2Width = 16;
  localparam int unsigned ThresholdWf3Lsb = 48;  // Wavefront 3 or 7.
  localparam int unsigned ThresholdWf3Width = 16;
  typedef struct packed {
    logic [15:0] wf3;
    logic [15:0] wf2;
    logic [15:0] wf1;
    logic [15:0] wf0;
  } threshold_t;

  // Updates counted (48 bits). (read only)
  localparam logic [15:0] UpdatesOffset = 16'h80;
  localparam logic [63:0] UpdatesReset = 64'h0;

  // Half-words in the counted updates (48 bits). (read only)
  localparam logic [15:0] HalfWordsOffset = 16'h88;
  localparam logic [63:0] HalfWordsReset = 64'h0;

  // Updates taken and not counted (disabled, untracked id, empty wavefront; 48 bits). (read only)
  localparam logic [15:0] IgnoredOffset = 16'h90;
  localparam logic [63:0] IgnoredReset = 64'h0;

  // Tiles completed (48 bits). (read only)
  localparam logic [15:0] TriggersOffset = 16'h98;
  localparam logic [63:0] TriggersReset = 64'h0;

  // Slots written to memory (48 bits). (read only)
  localparam logic [15:0] SpillsOffset = 16'ha0;
  localparam logic [63:0] SpillsReset = 64'h0;

  // Entries read from memory (48 bits). (read only)
  localparam logic [15:0] SpillReadsOffset = 16'ha8;
  localparam logic [63:0] SpillReadsReset = 64'h0;

  // Entries found valid and merged into a slot; each was also written back invalid (48 bits). (read only)
  localparam logic [15:0] RefillsOffset = 16'hb0;
  localparam logic [63:0] RefillsReset = 64'h0;

  // Largest value of live (a tile that misses counts twice until its entry has been read). (read only)
  localparam logic [15:0] MaxLiveOffset = 16'hb8;
  localparam logic [63:0] MaxLiveReset = 64'h0;

endpackage
// verilator lint_on UNUSEDPARAM
