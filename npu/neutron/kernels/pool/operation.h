// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/converter/operation_def.h"

namespace deuteron::neutron {

// Padding takes no part in either.
struct Pool {
  bool average = false;
  Window window;
};

}  // namespace deuteron::neutron
