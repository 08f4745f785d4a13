// SPDX-License-Identifier: Apache-2.0
// Integer weights and biases of convolution and linear.
#pragma once
#include <span>
#include <vector>

#include "compile/calibrate/calibrate.h"
#include "ir/graph.h"

namespace deuteron {

// The float data as integers of the dtype, rounded half to even.
Constant to_integers(std::span<const float> data, const Shape& shape, const Quant& quant,
                     DType dtype);

// Scales are made larger where the bias would not fit int32 otherwise. `bias` may be empty.
void make_room_for_bias(Quant& weight, float x_scale, std::span<const float> bias);

// int32 with scale x_scale * weight.scale, for each channel that the weight has.
Quant bias_quant(float x_scale, const Quant& weight);

// The mean of what a convolution or linear layer loses when its weights are rounded, by output
// channel:
//   sum over taps and inputs of (weight - rounded weight) * mean of that input, where a tap that
//   lies in the padding reads nothing.
// `channel_mean` is of x, by index of its last axis.
std::vector<float> mean_loss(const Op& op, const Type& x, const Type& weight, const Type& y,
                             std::span<const float> data, const Constant& rounded,
                             const Quant& quant, std::span<const float> channel_mean);

}  // namespace deuteron
