// SPDX-License-Identifier: Apache-2.0
// The fields of the arguments of softmax, for what prints its calls.
#pragma once
#include "kernels/common/fields.h"
#include "kernels/softmax/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(SoftmaxArgs, rows, columns, multiplier, shift, diff_min)

}  // namespace deuteron
