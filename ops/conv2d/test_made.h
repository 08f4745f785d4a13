// SPDX-License-Identifier: Apache-2.0
// What tests of packed layers make at random, and the call it becomes.
#pragma once
#include <random>

#include "ops/kernel_call/kernel_call.h"
#include "ops/kernel_call/numbers.h"

namespace deuteron {

struct Random {
  std::mt19937 bits;
  i64 in(i64 low, i64 high) {
    return low + static_cast<i64>(bits() % static_cast<uint32_t>(high - low + 1));
  }
};

struct Made {
  Lowered call;
  Type x, y;
  DenseNumbers numbers;
};

}  // namespace deuteron
