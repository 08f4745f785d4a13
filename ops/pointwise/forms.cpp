// SPDX-License-Identifier: Apache-2.0
#include "ops/form.h"
#include "ops/pointwise/point_op.h"

namespace deuteron {

// A function that stayed float   becomes   an operator for each of its steps: the portable kernels
// know no programs
static bool split_float_pointwise(const Pointwise& a, FormBuilder& b) {
  if (b.result().dtype != DType::f32) return false;
  std::vector<ValueId> values;
  const auto value = [&](const PointOperand& o) {
    return o.from == PointOperand::kX ? ValueId{0}
           : o.from >= 0              ? values[static_cast<size_t>(o.from)]
                                      : b.constant(DType::f32, Shape(b.type(0).shape.size(), 1),
                                                   std::vector<float>{o.number});
  };
  const std::vector<PointStep>& steps = a.program.steps;
  std::vector<bool> used(steps.size(), false);
  if (!used.empty()) used.back() = true;
  for (size_t k = used.size(); k-- > 0;)
    for (const PointOperand* o : {&steps[k].a, &steps[k].b})
      if (used[k] && o->from >= 0) used[static_cast<size_t>(o->from)] = true;
  for (size_t k = 0; k < used.size(); ++k) {
    if (!used[k]) {
      values.push_back(-1);
      continue;
    }
    std::vector<ValueId> inputs{value(steps[k].a)};
    if (has_second_operand(steps[k].fn)) inputs.push_back(value(steps[k].b));
    values.push_back(b.add(op_of(steps[k]), std::move(inputs)));
  }
  if (values.empty() || b.type(values.back()) != b.result()) return false;
  return b.finish(values.back());
}

bool portable_form(const Pointwise& a, FormBuilder& b) { return split_float_pointwise(a, b); }

}  // namespace deuteron
