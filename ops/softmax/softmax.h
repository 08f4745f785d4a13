// y = exp(x - max) / sum of exp(x - max) over one axis.
// Operands  x     Result  y, as x
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

struct Softmax {
  i64 axis = 0;  // 0..rank-1
  bool operator==(const Softmax&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) { visit("axis", self.axis); }
};
const OpDef<Softmax>& def_of(const Softmax&);
void execute(const Softmax&, std::span<const HostTensor> in, std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool simpler_form(const Softmax&, FormBuilder&);
bool kernel_form(const Softmax&, FormBuilder&);

}  // namespace deuteron
