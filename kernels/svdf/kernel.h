// SPDX-License-Identifier: Apache-2.0
// One step of TFLite's SVDF: a layer whose weights are, for each unit, a sum of `rank` products of
// features and time. Its state holds the features of the last `memory` steps in int16 or, as TFLite
// Micro alone has it, int8, oldest first.
//   feature[f]     = clamp(requantize(sum over i of (x[i] - x_zero) * feature_weight[f,i],
//   feature_multiplier, feature_shift), the
//                    state's type) + state_zero, modulo 2^8 in int8
//   new_state[f,:] = state[f,1..], feature[f]
//   y[u]           = clamp(y_zero + requantize(bias[u] + sum over the unit's f, over m of
//                    (new_state[f,m] - state_zero) * time_weight[f,m], y_multiplier, y_shift),
//                    -128, 127)
// Shapes   x [batch, inputs]   feature_weight [filters, inputs]   time_weight [filters, memory]
// bias [units], or null: zeros
//          state, new_state [batch, filters, memory]   y [batch, units], filters = units * rank
// Units    x_zero, y_zero in steps, and state_zero: 0 of int16; multipliers and shifts:
// kernels/integer/requantize.h, rounded twice Limits   inputs <= kMostSvdfInputs: the sum stays
// within int32. Sums over time saturate at int32, where TFLite's wrap Scratch  none   Errors  none
// Aliasing  none Source   TFLite's reference kernel EvalIntegerSVDF, TFLite Micro's
// EvalInt8SvdfReference
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr int32_t kMostSvdfInputs = INT32_MAX / (255 * 128);

struct SvdfArgs {
  int32_t batch, inputs, filters, memory, units;
  int32_t x_zero, feature_multiplier, feature_shift;
  int32_t y_zero, y_multiplier, y_shift;
  int32_t state_zero;
};

void svdf_s8(const SvdfArgs& a, const int8_t* x, const int8_t* feature_weight,
             const int16_t* time_weight, const int32_t* bias, const int16_t* state, int8_t* y,
             int16_t* new_state);
void svdf_bytes(const SvdfArgs& a, const int8_t* x, const int8_t* feature_weight,
                const int8_t* time_weight, const int32_t* bias, const int8_t* state, int8_t* y,
                int8_t* new_state);

}  // namespace deuteron
