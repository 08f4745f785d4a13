// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/form.h"

namespace deuteron {

// avg_pool2d that counts its padding   becomes   pad(0) -> avg_pool2d without padding
// With ceil_mode the last window may hang over the padding's end, where both are cut; one that
// would begin in the padding is not wanted.
static bool split_counted_padding(const AvgPool2d& a, FormBuilder& b) {
  if (!a.count_include_pad || a.divisor != 0 || (a.pad.h == 0 && a.pad.w == 0)) return false;
  const Axes around = {0, a.pad.h, a.pad.w, 0};
  const ValueId padded = b.add(Pad{around, around, 0}, {0}, b.type(0).quant, b.name(0) + ".padded");
  AvgPool2d plain = a;
  plain.pad = {};
  const Type& y = b.result();
  ValueId v = b.add(plain, {padded}, y.quant, b.result_name());
  for (const i64 axis : {1, 2})
    if (b.type(v).shape[axis] != y.shape[axis])
      v = b.add(Slice{axis, 0, y.shape[axis], 1}, {v}, y.quant);
  return b.finish(v);
}

// avg_pool2d with a divisor of its own   becomes   a depthwise convolution with weights 1/divisor,
// to which padding adds nothing Refused in quantized models, where the weight would have no
// quantization.
static bool divided_pool_to_depthwise(const AvgPool2d& a, FormBuilder& b) {
  if (a.divisor == 0 || b.type(0).dtype != DType::f32 || b.site().operands[0].steps) return false;
  const Shape &x = b.type(0).shape, &y = b.result().shape;
  const auto behind = [](i64 extent, i64 out, i64 kernel, i64 stride, i64 pad) {
    return std::max<i64>(0, (out - 1) * stride + kernel - extent - pad);
  };
  Conv2d conv;
  conv.groups = x[3];
  conv.stride = a.stride;
  conv.pad_before = a.pad;
  conv.pad_after = {behind(x[1], y[1], a.kernel.h, a.stride.h, a.pad.h),
                    behind(x[2], y[2], a.kernel.w, a.stride.w, a.pad.w)};
  const i64 taps = x[3] * a.kernel.h * a.kernel.w;
  std::vector<float> share(static_cast<size_t>(taps), 1.0f / static_cast<float>(a.divisor));
  const ValueId weight =
      b.constant(DType::f32, {x[3], a.kernel.h, a.kernel.w, 1}, std::move(share));
  const ValueId v = b.add(conv, {0, weight}, {}, b.result_name());
  return b.type(v).shape == y && b.finish(v);
}

bool simpler_form(const AvgPool2d& a, FormBuilder& b) {
  return split_counted_padding(a, b) || divided_pool_to_depthwise(a, b);
}

// avg_pool2d in float over channels   becomes   one over images of a single channel, which are
// copied together and apart again: the stock kernel takes no other order.
bool portable_form(const AvgPool2d& a, FormBuilder& b) {
  const Shape &x = b.type(0).shape, &y = b.result().shape;
  if (b.result().dtype != DType::f32 || x[3] == 1) return false;
  const ValueId images =
      b.add(Reshape{{x[0] * x[3], x[1], x[2], 1}}, {b.add(Permute{{0, 3, 1, 2}}, {0})});
  return b.finish(b.add(Permute{{0, 2, 3, 1}},
                        {b.add(Reshape{{x[0], x[3], y[1], y[2]}}, {b.add(a, {images})})}));
}

}  // namespace deuteron
