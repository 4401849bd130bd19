// SPDX-License-Identifier: Apache-2.0
// Arithmetic of tile.simt beyond adding and multiplying: differences, functions of one element, and
// reductions of rows. Own code, so that every compiler and C library gives the same bits; elements
// become FP32, one function rounds once, rows are reduced in ascending order.
#ifndef STRETTO_MODELS_GPU_COMPUTE_UNIT_TILE_FUNCTIONS_H_
#define STRETTO_MODELS_GPU_COMPUTE_UNIT_TILE_FUNCTIONS_H_

#include <cstdint>

#include "models/gpu/compute_unit/tile_state.h"

namespace stretto {

// e^x: within two units in the last place, 0 below -87.3, infinity above 88.7.
float tile_exp(float x);
// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) and its derivative.
float tile_gelu(float x);
float tile_gelu_derivative(float x);

// NaN if either is, else the larger: the result does not depend on the order of the operands.
inline float larger(float a, float b) { return a > b || a != a ? a : b; }

// Whether tile.simt has such an operation; one that looks at its first operand only; its cost in
// issues of a SIMT lane an element: special functions run at a quarter of the rate, reductions pass
// twice.
bool simt_exists(unsigned operation);
bool simt_is_unary(unsigned operation);
bool simt_converts(unsigned operation);
unsigned simt_issues(unsigned operation);
// Lanes compute with FP8 in FP32: conversions of an element of `element`, an issue each.
unsigned simt_conversions(unsigned operation, ElementType element);
// What the result of an operation on `first` is.
ElementType simt_result_element(unsigned operation, const Tile& first);
TileShape simt_result_shape(unsigned operation, const Tile& first);

// The operations from TILE_SIMT_SUB on. `out` has the size of the result and may not overlap the
// operands. The element is a floating-point one.
void simt_function(unsigned operation, const Tile& first, const Tile& second, uint8_t* out);

}  // namespace stretto

#endif  // STRETTO_MODELS_GPU_COMPUTE_UNIT_TILE_FUNCTIONS_H_
