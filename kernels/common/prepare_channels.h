// SPDX-License-Identifier: Apache-2.0
// The operands of the kernels with a shift and a factor for each channel.
#pragma once
#include "kernels/common/prepare.h"

namespace deuteron {

// Arguments `shift` and the one behind it: an element for each of the channels that take turns in
// x.
inline Status check_channels(const Call& call, int shift, const Tensor& x) {
  for (const int k : {shift, shift + 1}) {
    const Tensor& t = call.tensor(k);
    if (const char* why = why_not_dense(t, ScalarType::f32, 1)) return bad_argument(k, why);
    if (!is_aligned(t, 4)) return bad_argument(k, "must be 4-aligned");
    if (t.numel < 1 || x.numel % t.numel != 0)
      return bad_argument(k, "must have an element for each channel");
  }
  if (call.tensor(shift).numel != call.tensor(shift + 1).numel)
    return bad_argument(shift + 1, "must have as many elements as the shift");
  return Status{};
}

}  // namespace deuteron
