// SPDX-License-Identifier: Apache-2.0
// The logistic function and tanh on int16 as TFLite computes them.
#pragma once
#include "ops/op.h"

namespace deuteron {

// TFLite's table: logistic(i / 24) in parts of 65536, each a uint16 in the bits of an int16.
std::vector<int16_t> sigmoid_16x8_table();

Result<Lowered> lower_sigmoid_16x8(const LowerContext& c, bool is_tanh);

}  // namespace deuteron
