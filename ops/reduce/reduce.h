// SPDX-License-Identifier: Apache-2.0
// One number for each slice over `axes`, which keep extent 1. The CPU has it as pooling or as a
// layer whose weights are all the same. Operands  x     Result  y
#pragma once
#include "ops/attributes.h"

namespace deuteron {

template <class T>
struct OpDef;
struct HostTensor;
class FormBuilder;

struct Reduce {
  i64 fn = 0;  // Reduce::kMean, ..
  Axes axes;   // ascending, at least one
  static constexpr i64 kMean = 0, kSum = 1, kMax = 2, kMin = 3;
  bool operator==(const Reduce&) const = default;
  static void fields([[maybe_unused]] auto& self, [[maybe_unused]] auto&& visit) {
    visit("fn", self.fn);
    visit("axes", self.axes);
  }
};
const OpDef<Reduce>& def_of(const Reduce&);
void execute(const Reduce&, std::span<const HostTensor> in,
             std::span<const HostTensor> out);  // execute.cpp

// forms.cpp
bool kernel_form(const Reduce&, FormBuilder&);

}  // namespace deuteron
