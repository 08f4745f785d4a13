// SPDX-License-Identifier: Apache-2.0
// The inner loop of windows that meet four filters where they lie
// (kernels/conv2d/long_windows_dsp.h), with the DSP extension.
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kFiltersOfLong = 4;

// Adds the products of `quads` quads of elements to the sums of four filters, which lie `stride`
// bytes apart; `offset` is added to each element, in both halves. At least one quad. Sums wrap
// modulo 2^32. Nothing is read beyond the quads.
extern "C" void deuteron_add_long_dsp(const int8_t* x, int32_t quads, uint32_t offset,
                                      const int8_t* weight, int32_t stride,
                                      int32_t (&sums)[kFiltersOfLong]);

}  // namespace deuteron
