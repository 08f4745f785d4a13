// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/converter/operation_def.h"

namespace deuteron::neutron {

enum class PadFn : u8 { value, reflect, symmetric };
struct Padding {
  PadFn fn = PadFn::value;
  Axes before, after;
  i32 value = 0;
};

}  // namespace deuteron::neutron
