// SPDX-License-Identifier: Apache-2.0
// The tables of functions of one element that TFLite's reference kernels compute on int8, to the
// bit: some by a table of their own, some by integers of 16 or 32 bits. For models that came with
// their parameters from TFLite.
#pragma once
#include <vector>

#include "base/tensor/type.h"
#include "ops/unary/unary.h"

namespace deuteron {

// Entry q + 128, as of table_of(). Source: tensorflow/lite/kernels (activations.cc, elementwise.cc)
// and reference/hard_swish.h, leaky_relu.h.
std::vector<int8_t> reference_table(const Unary&, const Quant& x, const Quant& y);

// RELU and its kin; without bounds QUANTIZE from int8 to int8.
std::vector<int8_t> reference_clamp(const Bounds&, const Quant& x, const Quant& y);

}  // namespace deuteron
