// SPDX-License-Identifier: Apache-2.0
// The inner loop of the recurrent kernels for cores with neither vectors nor the DSP extension:
// each element of v is loaded once and meets all rows.
#pragma once
#include <cstdint>

#include "kernels/recurrent/rows_thumb1_scalar.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
namespace deuteron {

struct ScalarRows {
  template <int32_t rows>
  static void sum(const int8_t* first, int32_t step, const int8_t* v, int32_t count,
                  int32_t (&sums)[rows]) {
    static_assert(rows == 3 || rows == 4);
#if DEUTERON_SCALAR >= 2
    const int8_t* row[rows];
    int32_t s[rows] = {};  // `sums` might be anything that an int32 pointer reaches, and would be
                           // stored each time
    for (int32_t r = 0; r < rows; ++r) row[r] = first + r * step;
    for (const int8_t* const end = v + count; v != end;) {
      const int32_t of_v = *v++;
      for (int32_t r = 0; r < rows; ++r) s[r] += *row[r]++ * of_v;
    }
    for (int32_t r = 0; r < rows; ++r) sums[r] = s[r];
#else
    Thumb1Rows call{v, {}, count, {}};
    for (int32_t r = 0; r < 4; ++r)
      // a fourth costs less than a loop of its own
      call.row[r] = first + (r < rows ? r : 0) * step;
    deuteron_rows_4_thumb1(&call);
    for (int32_t r = 0; r < rows; ++r) sums[r] = call.sums[r];
#endif
  }
};

}  // namespace deuteron
#endif
