// SPDX-License-Identifier: Apache-2.0
// Convolutions whose weight is computed from the model's inputs: windows of the image as rows of a
// matrix, times the weight as another.
#pragma once
#include "frontends/pt2/call/call.h"

namespace deuteron::pt2 {

// x [n,h,w,c] and the weight [oc,kh,kw,ic/groups] of Conv2d, as such an operator has them; bias
// [oc] or -1. [n,oh,ow,oc]
ValueId convolution_by_matrix(Call& c, const Conv2d& op, ValueId x, ValueId weight, ValueId bias);
// The same of ConvTranspose2d: zeros between the elements of x, then the convolution with the
// weight reversed.
ValueId transposed_convolution_by_matrix(Call& c, const ConvTranspose2d& op, ValueId x,
                                         ValueId weight, ValueId bias);

}  // namespace deuteron::pt2
