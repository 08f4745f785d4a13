// SPDX-License-Identifier: Apache-2.0
// Average pooling on cores with neither vectors nor the DSP extension.
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
#include "kernels/avg_pool2d/words.h"

namespace deuteron {
namespace {

bool goes_by_words(const AvgPool2dArgs& a, const int8_t* x, const int8_t* y) {
  const int32_t h = a.kernel_h < a.in_h ? a.kernel_h : a.in_h,
                w = a.kernel_w < a.in_w ? a.kernel_w : a.in_w;
  return a.channels >= kAverageChannels && h * w <= kMostAverageTaps && has_words(a.channels, x, y);
}

}  // namespace

void avg_pool2d_s8_scalar(const AvgPool2dArgs& a, const int8_t* x, int8_t* y) {
  if (!goes_by_words(a, x, y)) return avg_pool2d_s8(a, x, y);
  avg_pool2d_s8_words(a, x, y, [](const int8_t*, int32_t, int32_t, int8_t*) {});
}

}  // namespace deuteron
#endif
