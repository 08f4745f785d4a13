// SPDX-License-Identifier: Apache-2.0
// The fields of the arguments, for the calls that have the addition in them.
#pragma once
#include "kernels/common/fields.h"
#include "kernels/linear/packed_add/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(LinearAddArgs, count, period, x_factor, other_factor, first)

}  // namespace deuteron
