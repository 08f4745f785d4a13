// SPDX-License-Identifier: Apache-2.0
// An image with other extents: nearest neighbour, or bilinear between the four neighbours. y has
// the steps of x. In int8 bilinear weights are rounded to 2^-kResizeBits (kernel.h).
//   axis by axis, output element o of `out` lies at
//     align_corners  o * (in - 1) / (out - 1)
//     half_pixel     (o + 0.5) * in / out, for bilinear less 0.5 and at least 0
//     neither        o * in / out
//   nearest takes the element below that (with align_corners the one nearest to it), bilinear
//   weighs the one below and the next one. float32.
// Of bytes that came from TFLite, bilinear is computed in float32 from 0..255
// (kernels/resize2d/bytes/kernel.h). Operands  x [n,h,w,c]     Result  y [n,size.h,size.w,c]
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
class FormBuilder;
struct HostTensor;
struct LowerContext;
struct Lowered;
template <class T>
struct Result;

struct Resize2d {
  static constexpr i64 kNearest = 0, kBilinear = 1;
  i64 mode = kNearest;
  HW size;
  bool align_corners = false;
  bool half_pixel = false;
  bool of_bytes = false;
  bool operator==(const Resize2d&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("mode", self.mode);
    visit("size", self.size);
    visit("align_corners", self.align_corners);
    visit("half_pixel", self.half_pixel);
    visit("of_bytes", self.of_bytes);
  }
};
const OpDef<Resize2d>& def_of(const Resize2d&);
void execute(const Resize2d&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

Result<Lowered> deuteron_call(const Resize2d&, const LowerContext&);  // lowering.cpp

// forms.cpp
bool kernel_form(const Resize2d&, FormBuilder&);

// Where the elements of a result with `out` elements along an axis come from. Bilinear: (1 -
// weight) * x[first] + weight * x[second].
struct ResizedElement {
  i64 first, second;
  float weight;
  bool operator==(const ResizedElement&) const = default;
};
std::vector<ResizedElement> sources_of(const Resize2d&, i64 in, i64 out);
Axes nearest_sources(const Resize2d&, i64 in, i64 out);

}  // namespace deuteron
