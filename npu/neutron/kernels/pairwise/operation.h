// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/converter/operation_def.h"
#include "ops/common/pair_fn.h"

namespace deuteron::neutron {

// Operands a, b, with broadcasting.
struct Pairwise {
  PairFn fn = PairFn::add;
};

}  // namespace deuteron::neutron
