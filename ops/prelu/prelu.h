// SPDX-License-Identifier: Apache-2.0
// y = x where x is at least 0, else slope * x; a slope for each index of the last axis, or one for
// all. Operands  x [..,c], slope [c] or [1], constant     Result  y, as x
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

struct Prelu {
  bool operator==(const Prelu&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {}
};
const OpDef<Prelu>& def_of(const Prelu&);
void execute(const Prelu&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool simpler_form(const Prelu&, FormBuilder&);
bool kernel_form(const Prelu&, FormBuilder&);

}  // namespace deuteron
