// SPDX-License-Identifier: Apache-2.0
// Numbers as reports spell them.
#pragma once
#include <string>

#include "base/tensor/type.h"

namespace deuteron {

std::string grouped(i64 number);  // "1 234 567"

}  // namespace deuteron
