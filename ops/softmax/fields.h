// SPDX-License-Identifier: Apache-2.0
// The fields of the arguments of softmax, for what prints its calls.
#pragma once
#include "ops/device/fields.h"
#include "ops/softmax/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(SoftmaxArgs, rows, columns, multiplier, shift, diff_min)

}  // namespace deuteron
