// SPDX-License-Identifier: Apache-2.0
// What a workload of kind sub_layer asks of its program, and whether it can be run: machine, sizes,
// kernels. Throws UserError, one line.
#ifndef STRETTO_PLATFORM_KINDS_SUB_LAYER_SUB_LAYER_CHECKS_H_
#define STRETTO_PLATFORM_KINDS_SUB_LAYER_SUB_LAYER_CHECKS_H_

#include <string>

#include "platform/kinds/sub_layer/sub_layer_kind.h"

namespace stretto {

ring_gemm_mode_t sub_layer_mode(const std::string& name);
// Tracker, range table and memory that adds do the reduce-scatter.
bool sub_layer_fuses(ring_gemm_mode_t mode);
// Shipped kernels of 8 bits have names of their own.
std::string sub_layer_kernels(const SubLayerKind& kind, const std::string& kernels);
// All but the kernels.
ring_gemm_parameters_t sub_layer_parameters(const SubLayerKind& kind, const JobRequest& request,
                                            uint32_t rank);

void check_sub_layer(const SubLayerKind& kind, const JobRequest& request);

}  // namespace stretto

#endif  // STRETTO_PLATFORM_KINDS_SUB_LAYER_SUB_LAYER_CHECKS_H_
