// SPDX-License-Identifier: Apache-2.0
// 2-D convolution, grouped and depthwise included.
//   y[n,oh,ow,oc] = bounds(bias[oc] + sum over kh,kw,c of x[n, oh*stride.h - pad_before.h +
//   kh*dilation.h, .., group(oc)*cg + c] * weight[oc,kh,kw,c])
// Operands  x [n,h,w,c], weight [oc,kh,kw,c/groups], optional bias [oc]     Result  y [n,oh,ow,oc]
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

struct Conv2d {
  HW stride{1, 1}, pad_before, pad_after, dilation{1, 1};
  i64 groups = 1;
  Bounds bounds;
  // of int8: the product of scales is formed in float32, as TFLite does for uint8
  bool of_bytes = false;
  bool operator==(const Conv2d&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("stride", self.stride);
    visit("pad_before", self.pad_before);
    visit("pad_after", self.pad_after);
    visit("dilation", self.dilation);
    visit("groups", self.groups);
    visit("bounds", self.bounds);
    visit("of_bytes", self.of_bytes);
  }
};
const OpDef<Conv2d>& def_of(const Conv2d&);
void execute(const Conv2d&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// Whether a kernel takes the windows along rows and columns: none begins too far behind the image.
bool takes_windows(const Conv2d&, const Shape& x, const Shape& w, const Shape& y);

// forms.cpp
bool kernel_form(const Conv2d&, FormBuilder&);
bool portable_form(const Conv2d&, FormBuilder&);

}  // namespace deuteron
