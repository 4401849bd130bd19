// SPDX-License-Identifier: Apache-2.0
// The kernels of collective.c by protocol ll.
#define STRETTO_LINES 1
#include "sw/kernels/collective.c"
