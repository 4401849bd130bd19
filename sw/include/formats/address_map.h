// SPDX-License-Identifier: Apache-2.0
// The 48-bit address map. [47:40] node: 0 = the local devices and SRAM of the CP that issues the
// address, g + 1 = GPU g, 0x80 + i = DMA card i (card.h), 0xFE = the switch, which has no memory,
// 0xFF = host memory. [39:0] offset. C, C++ and assembler read this file.
#ifndef STRETTO_SW_INCLUDE_FORMATS_ADDRESS_MAP_H_
#define STRETTO_SW_INCLUDE_FORMATS_ADDRESS_MAP_H_

#define STRETTO_NODE_SHIFT 40
#define STRETTO_OFFSET_MASK 0xFFFFFFFFFF
#define STRETTO_NODE_LOCAL 0x00
#define STRETTO_NODE_SWITCH 0xFE
#define STRETTO_NODE_HOST 0xFF
#define STRETTO_MAX_GPUS 64

// Node 0: CP-local devices. Register banks are 64 bits wide; layouts come from
// sw/include/regs/*.yaml.
#define STRETTO_CLINT_BASE 0x02000000  // msip 0x0 + 4*hart, mtimecmp 0x4000 + 8*hart, mtime 0xBFF8
#define STRETTO_INTC_BASE 0x0C000000   // cp.yaml: pending, enable, claim per hart
#define STRETTO_UART_BASE 0x10000000   // cp.yaml
#define STRETTO_DOORBELL_BASE 0x11000000  // cp.yaml: one 64-bit doorbell a queue
#define STRETTO_TRACKER_BASE 0x20000000   // tracker.yaml
#define STRETTO_MCA_BASE 0x20010000       // mca.yaml; + channel * 0x400; channel 63 = write to all
#define STRETTO_MCA_STRIDE 0x400
#define STRETTO_MCA_BROADCAST 63
#define STRETTO_GRID_SCHEDULER_BASE 0x20020000  // grid_scheduler.yaml
#define STRETTO_DMA_BASE 0x20030000             // dma.yaml
#define STRETTO_RANGE_TABLE_BASE 0x20040000     // range_table.yaml
#define STRETTO_GPU_BASE 0x20050000   // gpu.yaml: dispatch contexts, L2 control, fault report
#define STRETTO_LINK_BASE 0x20060000  // link.yaml: route table, status
#define STRETTO_REQUEST_RING_BASE 0x20070000  // request_ring.yaml
#define STRETTO_SRAM_BASE 0x80000000          // RAM of both harts, DMI, single cycle
#define STRETTO_SRAM_BYTES 0x01000000

// Node g + 1: memory from offset 0; the last 4 GiB are apertures that peers and the host reach over
// links.
#define STRETTO_GPU_MEMORY_LIMIT 0xFF00000000
// An 8-byte write at + 8 q rings doorbell q of that GPU's CP.
#define STRETTO_DOORBELL_APERTURE 0xFF00000000

// The send window, in a GPU's own address space only: an 8-byte store of a kernel to any word of it
// is a send request (send_request.h).
#define STRETTO_SEND_APERTURE 0xFF10000000
#define STRETTO_SEND_APERTURE_BYTES 0x1000

// Interrupt lines of the CP's interrupt controller. Line 0 is never pending.
#define STRETTO_IRQ_DOORBELL 1        // a doorbell was rung
#define STRETTO_IRQ_GRID_SCHEDULER 2  // a kernel slot is done
#define STRETTO_IRQ_DMA 3        // a fill, copy or mapped region is complete (dma.yaml: done bits)
#define STRETTO_IRQ_DMA_ERROR 4  // a descriptor was rejected
#define STRETTO_IRQ_FAULT 5      // range-table or wavefront fault (gpu.yaml: fault report)
#define STRETTO_IRQ_MCA_DRAIN 6  // all channels reported drain_done
#define STRETTO_IRQ_REQUEST_RING 7  // an enabled error, or work for the software engine
#define STRETTO_IRQ_L2 8            // a write-back of the L2 is complete (gpu.yaml: l2_done)
#define STRETTO_IRQ_COUNT 16

#endif  // STRETTO_SW_INCLUDE_FORMATS_ADDRESS_MAP_H_
