// SPDX-License-Identifier: Apache-2.0
// Sums of slices on cores with neither vectors nor the DSP extension: 4 neighbours at a time, whose
// sums stay in registers. A row of its own is met as four columns. Two sums in a word, as with the
// DSP extension, would save nothing: taking bytes apart costs what it spares.
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
#include "kernels/reduce/kernel.h"
#include "kernels/reduce/result.h"

namespace deuteron {
namespace {

struct FourSums {
  int32_t of[4];
};

// Of so many rows, `step` apart.
DEUTERON_ONE_COPY FourSums four_sums(const int8_t* x, int32_t rows, int32_t step) {
  int32_t a = 0, b = 0, c = 0, d = 0;
  for (; rows > 0; --rows, x += step) a += x[0], b += x[1], c += x[2], d += x[3];
  return {{a, b, c, d}};
}

DEUTERON_ONE_COPY int32_t one_sum(const int8_t* x, int32_t count, int32_t step) {
  int32_t sum = 0;
  for (; count > 0; --count, x += step) sum += *x;
  return sum;
}

int32_t sum_along_row(const int8_t* x, int32_t count) {
  const FourSums four = four_sums(x, count / 4, 4);
  return four.of[0] + four.of[1] + four.of[2] + four.of[3] +
         one_sum(x + count - count % 4, count % 4, 1);
}

}  // namespace

void sum_s8_scalar(const SumArgs& a, const int8_t* x, int8_t* y) {
  for (int32_t o = 0; o < a.outer; ++o, x += a.slice * a.inner, y += a.inner) {
    if (a.inner < 4) {
      for (int32_t i = 0; i < a.inner; ++i)
        y[i] = sum_result(
            a, a.inner == 1 ? sum_along_row(x, a.slice) : one_sum(x + i, a.slice, a.inner));
      continue;
    }
    for (int32_t i = 0; i < a.inner; i += 4) {
      const int32_t from = a.inner - i < 4 ? a.inner - 4 : i;  // the last ones overlap
      const FourSums sums = four_sums(x + from, a.slice, a.inner);
      for (int32_t k = 0; k < 4; ++k) y[from + k] = sum_result(a, sums.of[k]);
    }
  }
}

}  // namespace deuteron
#endif
