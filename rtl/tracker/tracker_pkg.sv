// SPDX-License-Identifier: Apache-2.0
// Sizes and types shared by the modules of the Tracker.
package tracker_pkg;

  localparam int unsigned Banks = 4;
  localparam int unsigned Rows = 64;          // Sets of a bank; 256 in all.
  localparam int unsigned MaxWays = 8;
  localparam int unsigned QueueDepth = 4;     // Updates between input and table, per bank.
  localparam int unsigned WaitingDepth = 8;   // Updates that wait for memory, per bank.
  localparam int unsigned Entries = 16;       // Spill transactions, per bank.
  localparam int unsigned TriggerDepth = 4;   // Triggers on their way out, per bank.

  localparam int unsigned HighWidth = 8;      // Bits of wg_id above the set: wg_id[15:8].
  localparam int unsigned WfWidth = 3;
  localparam int unsigned UpdateWidth = 13;   // Half-words of one update.
  localparam int unsigned CounterWidth = 16;
  localparam int unsigned AddressWidth = 48;
  localparam int unsigned StatisticWidth = 48;

  typedef enum logic [2:0] {
    EntryFillWrite,  // The victim's content arrives with the next edge.
    EntrySendWrite,
    EntryWaitWrite,
    EntrySendRead,
    EntryWaitRead,
    EntryArrived     // Read and not yet merged.
  } entry_state_e;

endpackage
