// SPDX-License-Identifier: Apache-2.0
// The operands of the kernels with a shift and a factor for each channel.
#pragma once
#include "kernels/common/row.h"

namespace deuteron {

// Arguments 1 and 2 have an element for each of the channels that take turns in argument 0.
bool have_channels(const Call& call, int32_t channels, Status* why);

}  // namespace deuteron
