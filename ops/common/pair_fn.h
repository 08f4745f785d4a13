// SPDX-License-Identifier: Apache-2.0
// The functions of two operands that int8 computes element for element (ops/common/pair.h).
#pragma once
#include <cstdint>

namespace deuteron {

enum class PairFn : uint8_t { add, sub, mul, maximum, minimum };

}  // namespace deuteron
