// SPDX-License-Identifier: Apache-2.0
// From the call of cortex_m::quantized_add, which rounds three times, to that of
// deuteron::linear_add, which rounds once. The bits stay: its factors are looked for beside the
// real ones and where there is most room for them, and proved on all 65 536 pairs of values;
// without such factors the refusal says so.
#pragma once
#include <array>
#include <map>
#include <optional>

#include "ops/kernel_call/numbers.h"

namespace deuteron {

// The forms of the additions of a program. Bands of one addition ask for the same form, whose proof
// takes milliseconds.
class LinearForms {
 public:
  // Of its scales; the result has no bounds of its own. Nothing: no factors give the same bits for
  // all pairs of values.
  const std::optional<LinearForm>& of(const Rescale& x, const Rescale& other, const Rescale& y);

 private:
  std::map<std::array<i32, 9>, std::optional<LinearForm>> found_;
};

// The call in the place of one that was made of `n`.
Result<Lowered> linearize_add(const AddNumbers& n, LinearForms& forms);

}  // namespace deuteron
