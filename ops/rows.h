// SPDX-License-Identifier: Apache-2.0
// Rows of a tensor along one axis: some of them, and several parts one behind the other.
#pragma once
#include "ops/all.h"

namespace deuteron {

Op take_rows(i64 axis, i64 first, i64 count);
Op join_rows(i64 axis);

}  // namespace deuteron
