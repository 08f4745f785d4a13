// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "backends/neutron/operation_def.h"

namespace deuteron::neutron {

// Padding takes no part in either.
struct Pool {
  bool average = false;
  Window window;
};

}  // namespace deuteron::neutron
