// Sums of slices on cores with neither vectors nor the DSP extension: 4 neighbours at a time, whose sums stay in registers. A row of its own
// is met as four columns. Two sums in a word, as with the DSP extension, would save nothing: taking bytes apart costs what it spares.
#include "runtime/instruction_set.h"

#if defined(DEUTERON_SCALAR)
#include "ops/reduce/kernel.h"
#include "ops/reduce/result.h"

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

int8_t sum_of_row(const SumArgs& a, const int8_t* x) {
  const FourSums four = four_sums(x, a.slice / 4, 4);
  int32_t sum = four.of[0] + four.of[1] + four.of[2] + four.of[3];
  for (int32_t k = a.slice - a.slice % 4; k < a.slice; ++k) sum += x[k];
  return sum_result(a, sum);
}

}  // namespace

void sum_s8_scalar(const SumArgs& a, const int8_t* x, int8_t* y) {
  if (a.inner != 1 && a.inner < 4) return sum_s8(a, x, y);
  for (int32_t o = 0; o < a.outer; ++o, x += a.slice * a.inner, y += a.inner) {
    if (a.inner == 1) *y = sum_of_row(a, x);
    for (int32_t i = 0; a.inner != 1 && i < a.inner; i += 4) {
      const int32_t from = a.inner - i < 4 ? a.inner - 4 : i;  // the last ones overlap
      const FourSums sums = four_sums(x + from, a.slice, a.inner);
      for (int32_t k = 0; k < 4; ++k) y[from + k] = sum_result(a, sums.of[k]);
    }
  }
}

}  // namespace deuteron
#endif
