// SPDX-License-Identifier: Apache-2.0
// DMA card on the PCIe switch, as others see it: its node, its apertures and its error reports. C
// and C++.
#ifndef STRETTO_SW_INCLUDE_FORMATS_CARD_H_
#define STRETTO_SW_INCLUDE_FORMATS_CARD_H_

#include "sw/include/formats/address_map.h"

// Card i, which serves GPU i, is node 0x80 + i. It has apertures and no memory: the registers of
// its request ring (request_ring.yaml) at STRETTO_DOORBELL_APERTURE, its own (card.yaml) here, the
// send window where GPUs have theirs. Where cards are SmartNICs the node is their memory.
#define STRETTO_NODE_CARD 0x80
#define STRETTO_CARD_REGISTERS 0xFF00010000

// What it writes to the address in its register `report` when a send request was refused, dropped
// or failed: two 8-byte words, the second one first.
#define STRETTO_CARD_REPORT_REASON 0   // error_first of request_ring.yaml, with
#define STRETTO_CARD_REPORT_REQUEST 8  // error_request
#define STRETTO_CARD_REPORT_BYTES 16
#define STRETTO_CARD_REPORT_VALID 0x8000000000000000u  // set in the reason.

#endif  // STRETTO_SW_INCLUDE_FORMATS_CARD_H_
