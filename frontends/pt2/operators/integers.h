// SPDX-License-Identifier: Apache-2.0
// Which calls compute integers from the model's inputs: portable kernels compute them exactly, as
// float32 would not.
#pragma once
#include <string_view>

#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// The result is declared to be int64 or int32, and `self` or `other` is computed. What depends on
// constants alone is computed while importing.
bool is_of_integers(Call& c);

// A number as a tensor without axes: an integer to its last digit, where the dtype has it.
ValueId number_as_tensor(Call& c, std::string_view argument, DType dtype);

// A tensor of that dtype, or a number as one.
ValueId integer_operand(Call& c, std::string_view argument, DType dtype);

// What is left of clamp and of div with a rounding mode, where is_of_integers(c).
void clamp_integers(Call& c);
void divide_integers(Call& c, bool towards_zero);

}  // namespace deuteron::pt2
