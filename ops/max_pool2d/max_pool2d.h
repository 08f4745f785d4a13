// SPDX-License-Identifier: Apache-2.0
// Largest element of a sliding window; padding never wins. y = bounds(max)
// Operands  x [n,h,w,c]     Result  y [n,oh,ow,c]
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

struct MaxPool2d {
  HW kernel{1, 1}, stride{1, 1}, pad, dilation{1, 1};
  bool ceil_mode = false;
  Bounds bounds;
  bool operator==(const MaxPool2d&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("kernel", self.kernel);
    visit("stride", self.stride);
    visit("pad", self.pad);
    visit("dilation", self.dilation);
    visit("ceil_mode", self.ceil_mode);
    visit("bounds", self.bounds);
  }
};
const OpDef<MaxPool2d>& def_of(const MaxPool2d&);
void execute(const MaxPool2d&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool kernel_form(const MaxPool2d&, FormBuilder&);

}  // namespace deuteron
