// SPDX-License-Identifier: Apache-2.0
// The factor of differences of softmax on steps, whose three numbers are in the struct.
#pragma once
#include "kernels/common/row.h"
#include "kernels/softmax/fields.h"

namespace deuteron {

// Differences of at most `range` steps stay within int32. `diff_min`: where it stands in the call.
bool keeps_differences(const SoftmaxArgs& a, int32_t range, int diff_min, Status* why);

}  // namespace deuteron
