// SPDX-License-Identifier: Apache-2.0
#include "frontends/tflite/operators/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace deuteron::tflite {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr i64 kMostStep = 1 << 24;  // of strides, dilations and kernels

Bounds bounds_of(Call& c, ActivationFunctionType activation) {
  using A = ActivationFunctionType;
  switch (activation) {
    case A::NONE:
      return {};
    case A::RELU:
      return {0, kInfinity};
    case A::RELU6:
      return {0, 6};
    case A::RELU_N1_TO_1:
      return {-1, 1};
    default:
      const char* name = EnumNameActivationFunctionType(activation);
      c.refuse({"has a fused activation that is not supported",
                name && *name ? name : std::to_string(static_cast<int>(activation)),
                "NONE, RELU, RELU6, RELU_N1_TO_1", "tflite.operator.activation"});
      return {};
  }
}

ValueId activated(Call& c, ValueId v, ActivationFunctionType activation) {
  const Bounds bounds = bounds_of(c, activation);
  return bounds.none() ? v : c.add(Clamp{bounds}, {c.rounded(v)}, "activation");
}

void pad_side(Call& c, Padding padding, Side& s) {
  const auto in_range = [](i64 v) { return v >= 1 && v <= kMostStep; };
  c.require(in_range(s.kernel) && in_range(s.stride) && in_range(s.dilation),
            "has a kernel, stride or dilation out of range",
            fmt::format("{}, {}, {}", s.kernel, s.stride, s.dilation),
            fmt::format("1..{}", kMostStep), "tflite.window.range");
  c.require(padding == Padding::SAME || padding == Padding::VALID, "has an unknown padding",
            std::to_string(static_cast<int>(padding)), "SAME, VALID", "tflite.window.padding");
  if (!c.ok()) return;
  const i64 span = (s.kernel - 1) * s.dilation + 1;
  if (padding == Padding::VALID) {
    c.require(span <= s.extent, "has a window that is larger than the image", std::to_string(span),
              std::to_string(s.extent), "tflite.window.extent");
    s.out = (s.extent - span) / s.stride + 1;
    return;
  }
  s.out = (s.extent + s.stride - 1) / s.stride;
  const i64 total = std::max<i64>(0, (s.out - 1) * s.stride + span - s.extent);
  s.before = total / 2;
  s.after = total - s.before;
}

}  // namespace deuteron::tflite
