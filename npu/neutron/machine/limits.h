// SPDX-License-Identifier: Apache-2.0
// The machine's limits. The converter refuses what is past them, and the driver checks every call
// against them. A target file may set lower ones for what the compiler gives the NPU
// ([npu.limits]).
#pragma once
#include <cstdint>

namespace deuteron::neutron {

inline constexpr int32_t kMostWindow = 1 << 12;  // kernel, stride, dilation: each way (facts,
                                                 // section 8.2); a pool's kernel may be a whole map
inline constexpr int64_t kMostProducts = UINT16_MAX;  // of a convolution's result: kernel height *
                                                      // width * channels rounded up to the lanes
inline constexpr int32_t kMostInner = 32768;     // of a matrix product: 255 * 255 * 32768 < 2^31
inline constexpr int64_t kMostSummed = 1 << 23;  // int8 values without their zero point
// height and width of a resized image: coordinates are in Q21.10
inline constexpr int32_t kMostResized = 1 << 16;
// along one axis of a map: times the largest stride it is within int32
inline constexpr int32_t kMostPixels = 1 << 18;
inline constexpr int64_t kMostBytes = INT32_MAX;  // of a tensor
inline constexpr int32_t kMostPadding = 1 << 24;

}  // namespace deuteron::neutron
