// SPDX-License-Identifier: Apache-2.0
#include "ops/rows.h"

namespace deuteron {

Op take_rows(i64 axis, i64 first, i64 count) { return Slice{axis, first, count, 1}; }
Op join_rows(i64 axis) { return Concat{axis}; }

}  // namespace deuteron
