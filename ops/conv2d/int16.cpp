// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/int16.h"

#include "ops/conv2d/layer_s16.h"

namespace deuteron {

Result<Lowered> int16_form(const Conv2d& a, const LowerContext& c) {
  return lower_int16_layer({c.in[0].shape, c.in[1].shape, c.out[0].shape, a.stride, a.pad_before,
                            a.dilation, a.groups, a.bounds},
                           c);
}

}  // namespace deuteron
