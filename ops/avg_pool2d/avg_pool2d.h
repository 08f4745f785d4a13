// SPDX-License-Identifier: Apache-2.0
// Average over a sliding window. A window that reaches past the padded image is cut there; padding
// counts as zeros when count_include_pad, else it counts neither above nor below the line.
// `divisor` replaces the count when it is not 0. In int8 halves are rounded away from zero; with
// halves_up they are rounded up, as TFLite's pool of uint8 has it. Operands  x [n,h,w,c]     Result
// y [n,oh,ow,c]
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
template <class T>
struct Result;
struct HostTensor;
struct LowerContext;
struct Lowered;
class FormBuilder;

struct AvgPool2d {
  HW kernel{1, 1}, stride{1, 1}, pad;
  bool ceil_mode = false, count_include_pad = true;
  i64 divisor = 0;
  bool halves_up = false;
  bool operator==(const AvgPool2d&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("kernel", self.kernel);
    visit("stride", self.stride);
    visit("pad", self.pad);
    visit("ceil_mode", self.ceil_mode);
    visit("count_include_pad", self.count_include_pad);
    visit("divisor", self.divisor);
    visit("halves_up", self.halves_up);
  }
};
const OpDef<AvgPool2d>& def_of(const AvgPool2d&);
void execute(const AvgPool2d&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool simpler_form(const AvgPool2d&, FormBuilder&);
bool portable_form(const AvgPool2d&, FormBuilder&);
Result<Lowered> float_form(
    const AvgPool2d&,
    const LowerContext&);  // avg_pool2d.cpp; compile/lower/float_calls.cpp asks for it

}  // namespace deuteron
