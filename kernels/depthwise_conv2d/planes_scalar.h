// SPDX-License-Identifier: Apache-2.0
// Depthwise 3x3 for Cortex-M3: some rows of a channel as a plane of int16, x_offset added. Rows of
// a plane are 32 elements.
#pragma once
#include "kernels/depthwise_conv2d/scalar_plane.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR) && DEUTERON_SCALAR >= 2
namespace deuteron {

using PlaneElement = int16_t;
inline constexpr int32_t kScalarPlaneRow = 32;  // elements

extern "C" void deuteron_depthwise_s1_scalar(const int16_t* plane, int8_t* y, const ScalarPlane* a);
extern "C" void deuteron_depthwise_s2_scalar(const int16_t* plane, int8_t* y, const ScalarPlane* a);

}  // namespace deuteron
#endif
