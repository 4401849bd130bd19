// SPDX-License-Identifier: Apache-2.0. Generated from sw/include/regs/card.yaml by `python3 sw/include/regs/generate.py`; do not edit.
// Offsets, fields and values for C, C++ and assembler. A field's MASK is in place;
// STRETTO_FIELD_GET/SET of field.h use MASK and SHIFT.
#ifndef STRETTO_SW_INCLUDE_REGS_CARD_REGS_H_
#define STRETTO_SW_INCLUDE_REGS_CARD_REGS_H_

// card: A DMA card on the PCIe switch, beside its request ring. Reached by posted writes alone.

// Where errors of the ring that its irq_enable lets through are reported (formats/card.h); 0 = nowhere. (read, write)
#define CARD_REPORT_OFFSET 0x0
#define CARD_REPORT_ADDRESS_SHIFT 0  // 48-bit address of two 8-byte words.
#define CARD_REPORT_ADDRESS_MASK 0xffffffffffff

// Requests that the collective engine makes of a collective request (formats/send_request.h); 0 = it is off. Only there is such a register. (read, write)
#define CARD_PEERS_OFFSET 0x8
#define CARD_PEERS_COUNT_SHIFT 0  // At most 16, the connections of a ring.
#define CARD_PEERS_COUNT_MASK 0x1f

#endif  // STRETTO_SW_INCLUDE_REGS_CARD_REGS_H_
