// SPDX-License-Identifier: Apache-2.0
// The integers that several calls of the NPU have: those of kernels/integer/ with TFLite's
// rounding.
#pragma once
#include "ops/common/pair.h"

namespace deuteron::neutron {

using Factor = Multiplier;
inline constexpr const char* kScaleRule = "";  // each call has its own

inline auto convolution_factors(const Quant& x, const Quant& weight, const Quant& y, i64 channels) {
  return channel_multipliers(x, weight, y, channels, {Ties::away}, kScaleRule);
}

}  // namespace deuteron::neutron
