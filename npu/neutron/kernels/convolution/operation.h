// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/converter/operation_def.h"

namespace deuteron::neutron {

// Operands x [n,h,w,c], weight [oc,kh,kw,c], bias [oc] or none.
struct Convolution {
  Window window;
};

}  // namespace deuteron::neutron
