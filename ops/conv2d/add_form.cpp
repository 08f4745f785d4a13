// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/add_form.h"

#include <cstdlib>
#include <utility>

#include "kernels/conv2d/packed_add/kernel.h"

namespace deuteron {

using PackedForm = PackedDense::Form;

bool takes_addition(const PackedDense& n) {
  return !n.addition && (n.form == PackedForm::plain || n.form == PackedForm::all_shifts);
}

Result<PackedDense> with_addition(PackedDense convolution, LinearForm addition, bool is_first) {
  const bool shifts = convolution.form == PackedForm::all_shifts;
  if (const char* why = (shifts ? why_not_added_rows : why_not_packed_conv2d_add)(convolution.a))
    return Refusal{std::string("the convolution ") + why, "", "", ""};
  // The call with shifts has the bits behind the point of linear_add.q21, the other one those of
  // linear_add.
  const bool is_q21 = addition.right == kLinearAddQ21Right;
  if (is_q21 && !shifts) return Refusal{"the addition has 21 bits behind the point", "", "", ""};
  LinearAddArgs& sum = addition.args;
  const i64 scale = shifts && !is_q21 ? 2 : 1;
  const i64 reach = (128 * (std::abs(i64{sum.x_factor}) + std::abs(i64{sum.other_factor})) +
                     std::abs(i64{sum.first})) *
                    scale;
  if (scale != 1 && reach > INT32_MAX)
    return Refusal{"a sum of the addition would wrap", "", "", ""};
  for (i32* number : {&sum.x_factor, &sum.other_factor, &sum.first})
    *number *= static_cast<i32>(scale);
  addition.right = shifts ? kLinearAddQ21Right : kLinearAddRight;
  if (!is_first) std::swap(sum.x_factor, sum.other_factor);
  convolution.addition = addition;
  return convolution;
}

}  // namespace deuteron
