// SPDX-License-Identifier: Apache-2.0
// Transposed 2-D convolution: every input pixel adds its filters to a window of the output.
//   y[n,oh,ow,oc] = bounds(bias[oc] + sum over ih,kh with ih*stride.h + kh*dilation.h - pad.h = oh,
//   iw and kw likewise, c of
//                          x[n,ih,iw, group(oc)*cg + c] * weight[oc,kh,kw,c])
// Operands  x [n,h,w,c], weight [oc,kh,kw,c/groups], optional bias [oc]     Result  y [n,oh,ow,oc]
//           oh = (h-1)*stride.h - 2*pad.h + dilation.h*(kh-1) + 1 + output_pad.h
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

struct ConvTranspose2d {
  HW stride{1, 1}, pad, output_pad, dilation{1, 1};
  i64 groups = 1;
  Bounds bounds;
  // of int8: the product of scales is formed in float32, as TFLite does for uint8
  bool of_bytes = false;
  bool operator==(const ConvTranspose2d&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("stride", self.stride);
    visit("pad", self.pad);
    visit("output_pad", self.output_pad);
    visit("dilation", self.dilation);
    visit("groups", self.groups);
    visit("bounds", self.bounds);
    visit("of_bytes", self.of_bytes);
  }
};
const OpDef<ConvTranspose2d>& def_of(const ConvTranspose2d&);
void execute(const ConvTranspose2d&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool kernel_form(const ConvTranspose2d&, FormBuilder&);

// The kernel's arguments without those that come from quantization. Dilation and groups are not
// among them.
struct ConvTranspose2dArgs;
ConvTranspose2dArgs kernel_args(const ConvTranspose2d&, const Shape& x, const Shape& weight,
                                const Shape& y);

}  // namespace deuteron
