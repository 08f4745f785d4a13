// SPDX-License-Identifier: Apache-2.0
// Shapes of element-wise operators with two operands, as NumPy broadcasts them.
#pragma once
#include "ops/op.h"

namespace deuteron {

// Nothing when they do not fit.
inline std::optional<Shape> broadcast_shape(const Shape& a, const Shape& b) {
  Shape y(std::max(a.size(), b.size()));
  for (size_t k = 0; k < y.size(); ++k) {
    const i64 ea = k < a.size() ? a[a.size() - 1 - k] : 1,
              eb = k < b.size() ? b[b.size() - 1 - k] : 1;
    if (ea != eb && ea != 1 && eb != 1) return std::nullopt;
    y[y.size() - 1 - k] = ea == 1 ? eb : ea;
  }
  return y;
}

inline Result<std::vector<Type>> infer_broadcast(TypeView in, const char* rule) {
  if (in.size() != 2) return Refusal{"takes two operands", "", "", rule};
  std::optional<Shape> y = broadcast_shape(in[0].shape, in[1].shape);
  if (!y)
    return Refusal{"shapes do not broadcast", to_text(in[0].shape), to_text(in[1].shape), rule};
  return std::vector<Type>{{in[0].dtype, *std::move(y), {}}};
}

// The numbers of a tensor of shape `of`, repeated to the shape `to`, which it broadcasts to.
std::vector<float> broadcast_numbers(std::span<const float> numbers, const Shape& of,
                                     const Shape& to);

// Two operands and their result with axes merged where both operands behave alike; the same bytes.
struct MergedAxes {
  Shape a, b, y;
};
MergedAxes merged_axes(const Shape& a, const Shape& b, const Shape& y);
// cortex_m::minimum, maximum: NumPy's broadcasting over four axes
inline constexpr size_t kMostMergedAxes = 4;

// The operand's elements are those of y's last axes, again and again: [c] beside [n,h,w,c], or one
// element.
bool is_repeated_whole(const Shape& operand, const Shape& y);

// cortex_m::minimum and cortex_m::maximum
Result<Lowered> lower_extremum(const char* name, const LowerContext& c, const std::string& rule);
Result<Lowered> extremum_call(const char* name, const LowerContext& c,
                              const std::string& rule);  // dtypes are the caller's

// The element-wise kernels of the dialect take equal shapes, or [1,1,1,c] beside [n,h,w,c].
inline bool kernel_broadcasts(const Shape& a, const Shape& b) {
  if (a == b) return true;
  if (a.size() != 4 || b.size() != 4 || a[3] != b[3]) return false;
  return numel(a) == a[3] || numel(b) == b[3];
}

}  // namespace deuteron
