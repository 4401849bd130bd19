// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/cp.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;
// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.
#ifndef STRETTO_SW_INCLUDE_REGS_CP_REGS_H_
#define STRETTO_SW_INCLUDE_REGS_CP_REGS_H_

// intc: Interrupt controller of the CP, at STRETTO_INTC_BASE. Lines are STRETTO_IRQ_* of address_map.h.

// Bit n is the level of line n. (read only)
#define INTC_PENDING_OFFSET 0x0

// Bit n lets line n interrupt hart i; its external interrupt is the or of pending, enabled and unclaimed lines. (read, write)
#define INTC_ENABLE_OFFSET 0x100
#define INTC_ENABLE_COUNT 4
#define INTC_ENABLE_STRIDE 0x8
#define INTC_ENABLE_OFFSET_AT(i) (0x100 + (i) * 0x8)

// A read by hart i gives the lowest pending, enabled and unclaimed line (0 = none) and claims it; writing the line's number completes it, so that it can interrupt again while its level is high. (read, write)
#define INTC_CLAIM_OFFSET 0x200
#define INTC_CLAIM_COUNT 4
#define INTC_CLAIM_STRIDE 0x8
#define INTC_CLAIM_OFFSET_AT(i) (0x200 + (i) * 0x8)
#define INTC_CLAIM_LINE_SHIFT 0  // Line number.
#define INTC_CLAIM_LINE_MASK 0xff

// Node of the GPU that this CP belongs to, g + 1; its memory starts at node << STRETTO_NODE_SHIFT. (read only)
#define INTC_NODE_OFFSET 0x300
#define INTC_NODE_NODE_SHIFT 0  // 1..64.
#define INTC_NODE_NODE_MASK 0xff

// doorbell: Doorbells of the CP, at STRETTO_DOORBELL_BASE; rung through the doorbell aperture of the GPU's memory.

// Last value written to doorbell q (the index of the newest packet of queue q). (read only)
#define DOORBELL_VALUE_OFFSET 0x0
#define DOORBELL_VALUE_COUNT 16
#define DOORBELL_VALUE_STRIDE 0x8
#define DOORBELL_VALUE_OFFSET_AT(i) (0x0 + (i) * 0x8)

// Bit q is set by each write to doorbell q; line STRETTO_IRQ_DOORBELL is high while any bit is set. (read, write 1 to clear)
#define DOORBELL_PENDING_OFFSET 0x100
#define DOORBELL_PENDING_QUEUES_SHIFT 0  // One bit a doorbell.
#define DOORBELL_PENDING_QUEUES_MASK 0xffff

// uart: Console of the CP, at STRETTO_UART_BASE; never busy.

// Writing sends one character. (write only, reads 0)
#define UART_TX_OFFSET 0x0
#define UART_TX_DATA_SHIFT 0  // The character.
#define UART_TX_DATA_MASK 0xff

// State of the transmitter. (read only)
#define UART_STATUS_OFFSET 0x8
#define UART_STATUS_RESET 0x1
#define UART_STATUS_TX_READY_SHIFT 0  // A character can be written.
#define UART_STATUS_TX_READY_MASK 0x1

// clint: Core-local interruptor with the standard offsets, at STRETTO_CLINT_BASE.

// Software interrupt of hart i. (read, write)
#define CLINT_MSIP_OFFSET 0x0
#define CLINT_MSIP_COUNT 4
#define CLINT_MSIP_STRIDE 0x4
#define CLINT_MSIP_OFFSET_AT(i) (0x0 + (i) * 0x4)
#define CLINT_MSIP_PENDING_SHIFT 0  // Level of the software interrupt.
#define CLINT_MSIP_PENDING_MASK 0x1

// The timer interrupt of hart i is pending while mtime >= this. (read, write)
#define CLINT_MTIMECMP_OFFSET 0x4000
#define CLINT_MTIMECMP_COUNT 4
#define CLINT_MTIMECMP_STRIDE 0x8
#define CLINT_MTIMECMP_OFFSET_AT(i) (0x4000 + (i) * 0x8)
#define CLINT_MTIMECMP_RESET 0xffffffffffffffff

// Nanoseconds since reset. (read, write)
#define CLINT_MTIME_OFFSET 0xbff8

#endif  // STRETTO_SW_INCLUDE_REGS_CP_REGS_H_
