// SPDX-License-Identifier: Apache-2.0
// Windows of a convolution for the DSP extension that are too long to be widened side by side, or
// too odd: each meets its filters four at a time where it lies. An element is widened once for four
// products: a multiply-add takes 1.6 instructions, where windows that were widened before take 1.
// Contract: conv2d_s8_dsp() in kernels/conv2d/kernel.h.
#pragma once
#include "kernels/conv2d/kernel.h"

namespace deuteron {

void run_long_windows(const Conv2dArgs& a, const int8_t* x, const int8_t* weight,
                      const int32_t* bias, int8_t* y);

}  // namespace deuteron
