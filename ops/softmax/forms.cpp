// SPDX-License-Identifier: Apache-2.0
#include "ops/form.h"

namespace deuteron {

// softmax over another axis than the last   becomes   permute -> softmax -> permute
static bool softmax_axis_last(const Softmax& a, FormBuilder& b) {
  const Type &x = b.type(0), &y = b.result();
  const auto axis = static_cast<size_t>(a.axis);
  if ((y.dtype != DType::s8 && y.dtype != DType::s16) || axis + 1 == x.shape.size()) return false;
  Shape three{1, x.shape[axis], 1};
  for (size_t k = 0; k < x.shape.size(); ++k)
    if (k != axis) (k < axis ? three[0] : three[2]) *= x.shape[k];
  const ValueId split = b.add(Reshape{three}, {0}, x.quant);
  const ValueId turned = b.add(Permute{{0, 2, 1}}, {split}, x.quant);
  const ValueId result = b.add(Softmax{2, a.beta}, {turned}, y.quant, b.result_name());
  return b.finish(Reshape{y.shape}, {b.add(Permute{{0, 2, 1}}, {result}, y.quant)});
}

// softmax over an axis behind which there are only extents of 1   becomes   reshape -> softmax over
// the last axis -> reshape
static bool drop_ones_behind_axis(const Softmax& a, FormBuilder& b) {
  const Type &x = b.type(0), &y = b.result();
  const auto behind = static_cast<std::ptrdiff_t>(a.axis) + 1;
  if (behind == static_cast<std::ptrdiff_t>(x.shape.size()) ||
      numel(std::span(x.shape).subspan(static_cast<size_t>(behind))) != 1)
    return false;
  const ValueId rows =
      b.add(Reshape{Shape(x.shape.begin(), x.shape.begin() + behind)}, {0}, x.quant);
  return b.finish(Reshape{y.shape},
                  {b.add(Softmax{a.axis, a.beta}, {rows}, y.quant, b.result_name())});
}

// softmax with a factor, in float   becomes   a multiplication and softmax
static bool factor_before_softmax(const Softmax& a, FormBuilder& b) {
  if (b.result().dtype != DType::f32 || a.beta == 1) return false;
  const ValueId beta =
      b.constant(DType::f32, Shape(b.result().shape.size(), 1), std::vector<float>{a.beta}, "beta");
  return b.finish(Softmax{a.axis}, {b.add(Mul{}, {0, beta})});
}

bool simpler_form(const Softmax& a, FormBuilder& b) { return drop_ones_behind_axis(a, b); }
bool kernel_form(const Softmax& a, FormBuilder& b) { return softmax_axis_last(a, b); }
bool portable_form(const Softmax& a, FormBuilder& b) { return factor_before_softmax(a, b); }

}  // namespace deuteron
