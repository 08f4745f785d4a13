// SPDX-License-Identifier: Apache-2.0
// Convolutions over three axes.
#pragma once
#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// The whole operator; the weight has five axes.
void import_conv3d(Call& c);
void import_conv_transpose3d(Call& c);

}  // namespace deuteron::pt2
