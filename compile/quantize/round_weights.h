// SPDX-License-Identifier: Apache-2.0
// Rounds the weights of a filter together. Rounded one by one, their errors meet inputs that are
// alike (neighbouring pixels) and add up. Here each weight is rounded so as to take back what the
// ones before it did to the layer's result: the nearest-plane step of Babai in the geometry of the
// inputs, known from post-training quantization as optimal brain quantization and GPTQ.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/tensor/type.h"
#include "compile/calibrate/input_moments.h"
#include "compile/quantize/int4_weights.h"

namespace deuteron {

// weight [filters, .., inputs] of so many terms by filter, as integers of `quant` (its scales by
// filter or one for all, its low..high). What counts is the variance of the result: its mean is the
// bias's (mean_loss). `int4`: null, or the factors of weights of four bits.
std::vector<int8_t> round_weights(std::span<const float> weight, const Quant& quant,
                                  const InputMoments& moments, const Int4Factors* int4 = nullptr);

// The same, remembered: a layer that is rounded again to the same steps, for the same moments (at
// the same place), costs a copy. One at a time may ask.
class RoundedWeights {
 public:
  const std::vector<int8_t>& of(std::span<const float> weight, const Quant& quant,
                                const InputMoments& moments, const Int4Factors* int4 = nullptr);

 private:
  struct Known {
    Quant quant;
    std::optional<Int4Factors> int4;
    std::vector<int8_t> rounded;
  };
  std::map<const InputMoments*, std::vector<Known>> known_;
};

// The mean of what the layer loses, by filter: what to add to the bias.
std::vector<float> mean_loss(std::span<const float> weight, std::span<const int8_t> rounded,
                             const Quant& quant, const InputMoments& moments);

}  // namespace deuteron
