// One step of TFLite's SVDF: a layer whose weights are, for each unit, a sum of `rank` products of features and time. Its state holds the
// features of the last `memory` steps in int16, oldest first.
//   feature[f]     = clamp(requantize(sum over i of (x[i] - x_zero) * feature_weight[f,i], feature_multiplier, feature_shift), -32768,
//   32767) new_state[f,:] = state[f,1..], feature[f] y[u]           = clamp(y_zero + requantize(bias[u] + sum over the unit's f, over m of
//   new_state[f,m] * time_weight[f,m], y_multiplier,
//                    y_shift), -128, 127)
// Shapes   x [batch, inputs]   feature_weight [filters, inputs]   time_weight [filters, memory]   bias [units], or null: zeros
//          state, new_state [batch, filters, memory]   y [batch, units], filters = units * rank
// Units    x_zero, y_zero in steps; multipliers and shifts: ops/integer/requantize.h, rounded twice
// Limits   inputs <= kMostSvdfInputs: the sum stays within int32. Sums over time are taken modulo 2^32, as TFLite takes them
// Scratch  none   Errors  none   Aliasing  none
// Source   TFLite's reference kernel EvalIntegerSVDF
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kMostSvdfInputs = INT32_MAX / (255 * 128);

struct SvdfArgs {
  int32_t batch, inputs, filters, memory, units;
  int32_t x_zero, feature_multiplier, feature_shift;
  int32_t y_zero, y_multiplier, y_shift;
};

void svdf_s8(const SvdfArgs& a, const int8_t* x, const int8_t* feature_weight, const int16_t* time_weight, const int32_t* bias,
             const int16_t* state, int8_t* y, int16_t* new_state);

}  // namespace deuteron
