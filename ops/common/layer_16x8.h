// SPDX-License-Identifier: Apache-2.0
// What lowerings of layers on int16 with int8 weights share, with TFLite's arithmetic
// (deuteron::*_16x8).
#pragma once
#include <vector>

#include "ops/op.h"

namespace deuteron {

// TFLite's multiplier of a sum in int64: value * 2^-shift, value 0..32767, shift 8..46.
struct WideMultiplier {
  i32 value, shift;
};
Result<WideMultiplier> wide_multiplier(double factor, const char* rule);

// Nothing for operands x, weight and perhaps a bias, and a result, that such a layer takes: x and
// the result int16, the weight a constant of int8 with zero point 0 and `length` elements a filter,
// the bias a constant of int32 or int64; no sum leaves 47 bits.
std::optional<Refusal> why_not_layer_16x8(const LowerContext& c, i64 length);

// What brings sums to the result's steps, for each filter. narrow: sums in int32, where the bias is
// of int32.
struct LayerNumbers16x8 {
  std::vector<i32> multiplier, shift;
};
Result<LayerNumbers16x8> layer_numbers_16x8(const LowerContext& c, i64 filters);

// Whether the bias is of int32, so that sums are, and one may leave that, or once it is shifted to
// the left.
bool narrow_sums_wrap(const LowerContext& c, std::span<const i32> shifts = {});

// Appends the three arguments of read_sums_16x8(): bias, multipliers, shifts.
void add_sums_16x8(CallBuilder& call, const LowerContext& c, LayerNumbers16x8 numbers);

}  // namespace deuteron
