// SPDX-License-Identifier: Apache-2.0
// A layer of int8 whose every result is known to the bit: a convolution, depthwise and grouped ones
// included, or a linear layer.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ops/common/bounds.h"

namespace deuteron {

struct Target;

// The smallest and the largest step that a channel can have.
struct Steps {
  i32 low = -128, high = 127;
  bool is_constant() const { return low == high; }
  bool operator==(const Steps&) const = default;
};

bool is_int8_per_tensor(const Type& t);

class Int8Layer {
 public:
  // Nothing where the sums may leave int32, or no int8 kernel takes the layer for another reason:
  // its arithmetic is that of floats then.
  static std::optional<Int8Layer> of(const Graph& g, const Node& node, const Target& target);

  // A weight of filter o is weights()[(o * taps + tap) * depth + i].
  i64 filters = 0, taps = 0, depth = 0, groups = 1;
  std::vector<bool> reads_padding{false};  // by tap: of some windows it lies in the padding

  std::span<const int8_t> filter(i64 o) const {
    return weights_.subspan(static_cast<size_t>(o * taps * depth),
                            static_cast<size_t>(taps * depth));
  }
  i32 bias(i64 o) const { return bias_.empty() ? 0 : bias_[static_cast<size_t>(o)]; }
  float weight_scale(i64 o) const {
    return weight_->scale[weight_->per_channel() ? static_cast<size_t>(o) : 0];
  }
  i32 x_zero() const { return x_->zero_point[0]; }
  // Every group has one input channel.
  bool is_depthwise() const { return groups > 1 && depth == 1; }
  bool is_dense() const { return groups == 1; }

  // Of filter o, whoever computes it, where the channels of x have these steps.
  Steps steps(i64 o, std::span<const Steps> x) const;

 private:
  Int8Layer() = default;
  void find_padding(const ImageWindow& window, const Shape& x, const Shape& w, const Shape& y);

  std::span<const int8_t> weights_;
  std::span<const i32> bias_;
  const Quant *x_ = nullptr, *weight_ = nullptr, *y_ = nullptr;
  std::vector<StepRange> ranges_;  // what holds a result, as bounds may be rounded
};

}  // namespace deuteron
