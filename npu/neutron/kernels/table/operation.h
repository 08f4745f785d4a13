// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/converter/operation_def.h"

namespace deuteron::neutron {

struct Table {
  std::array<int8_t, 256> entry{};  // y = entry[x + 128]
};

}  // namespace deuteron::neutron
