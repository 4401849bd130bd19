// SPDX-License-Identifier: Apache-2.0
// Results about vertical fusion. Groups that no fused kernel has run as kernels of their own, so an application always
// runs whole; notes have how many do not.
#ifndef STRETTO_PLATFORM_REPRODUCE_KITSUNE_KITSUNE_VERTICAL_H_
#define STRETTO_PLATFORM_REPRODUCE_KITSUNE_KITSUNE_VERTICAL_H_

#include "platform/reproduce/kitsune/kitsune_results.h"

namespace stretto::kitsune {

Measured vertical_low(const KitsuneResults& r, const Target& target);
Measured vertical_geomean(const KitsuneResults& r, const Target& target);
Measured vertical_best(const KitsuneResults& r, const Target& target);
Measured vertical_training(const KitsuneResults& r, const Target& target);
Measured above_vertical(const KitsuneResults& r, const Target& target);

}  // namespace stretto::kitsune

#endif  // STRETTO_PLATFORM_REPRODUCE_KITSUNE_KITSUNE_VERTICAL_H_
