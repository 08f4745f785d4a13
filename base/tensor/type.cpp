// SPDX-License-Identifier: Apache-2.0
#include "base/tensor/type.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace deuteron {

static constexpr std::array<std::string_view, 10> kDTypeNames = {"f32", "s8", "s16", "s32",  "s64",
                                                                 "u8",  "b8", "f16", "bf16", "f64"};

i64 bytes_of(DType d) {
  static constexpr i64 kBytes[] = {4, 1, 2, 4, 8, 1, 1, 2, 2, 8};
  return kBytes[static_cast<int>(d)];
}

std::string_view name_of(DType d) { return kDTypeNames[static_cast<size_t>(d)]; }

std::optional<DType> dtype_named(std::string_view name) {
  for (size_t i = 0; i < kDTypeNames.size(); ++i)
    if (kDTypeNames[i] == name) return static_cast<DType>(i);
  return std::nullopt;
}

i64 numel(std::span<const i64> shape) {
  i64 n = 1;
  for (const i64 extent : shape) n *= extent;
  return n;
}

std::string to_text(std::span<const i64> shape) { return fmt::format("{}", fmt::join(shape, ",")); }

Quant per_tensor(float scale, i32 zero_point, i32 low, i32 high) {
  return {{scale}, {zero_point}, -1, low, high};
}

std::string to_text(const Type& t) {
  std::string text = fmt::format("{}[{}]", name_of(t.dtype), to_text(t.shape));
  if (t.quant.empty()) return text;
  if (t.quant.per_channel())
    text += fmt::format(" q(axis={} scale={} zero={}", t.quant.axis, fmt::join(t.quant.scale, ";"),
                        fmt::join(t.quant.zero_point, ";"));
  else text += fmt::format(" q(scale={} zero={}", t.quant.scale[0], t.quant.zero_point[0]);
  if (t.quant.low != -128 || t.quant.high != 127)
    text += fmt::format(" range={}..{}", t.quant.low, t.quant.high);
  return text + ")";
}

// As std::nearbyint, which is a call: a number that is added to one of 2^23 and a half keeps no
// fraction, and ties go to even.
static float to_whole(float x) {
  constexpr float kNoFraction = 0x1.8p23f, kMost = 0x1p22f;
  return std::abs(x) < kMost ? (x + kNoFraction) - kNoFraction : std::nearbyint(x);
}

i32 quantize_value(float x, float scale, i32 zero_point, i32 low, i32 high) {
  const float steps = to_whole(x * (1.0f / scale));
  if (!(steps > -2.0e9f)) return std::isnan(steps) ? zero_point : low;
  if (steps > 2.0e9f) return high;
  const i64 q = static_cast<i64>(steps) + zero_point;
  return static_cast<i32>(q < low ? low : q > high ? high : q);
}

}  // namespace deuteron
