// SPDX-License-Identifier: Apache-2.0
// Sums of products of one vector with four rows, for cores with Thumb-1 (Cortex-M0, M0+, M23).
// Schedule: kernels/recurrent/rows_thumb1_scalar.S.
#pragma once
#include <cstdint>

namespace deuteron {

struct Thumb1Rows {
  const int8_t* v;       // `count` elements
  const int8_t* row[4];  // as many each
  int32_t count;         // 1..32768
  int32_t sums[4];       // results
};
extern "C" void deuteron_rows_4_thumb1(Thumb1Rows* a);

}  // namespace deuteron
