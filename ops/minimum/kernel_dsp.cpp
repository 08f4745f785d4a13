// Minimum and maximum with the DSP extension: four elements of a row at a time, if its operands lie in one piece or are one element.
#include <cstring>

#include "ops/integer/extremes_dsp.h"
#include "ops/minimum/kernel.h"
#include "ops/minimum/rows.h"

namespace deuteron {
namespace {

uint32_t four_of(const int8_t* x, int32_t step) {
  if (step == 0) return four_times(*x);
  uint32_t word;
  std::memcpy(&word, x, sizeof word);
  return word;
}

template <class F, uint32_t (*pick)(uint32_t, uint32_t)>
void row(int32_t count, const int8_t* x, int32_t x_step, const int8_t* other, int32_t other_step, int8_t* y) {
  const bool in_words = x_step <= 1 && other_step <= 1;
  for (; in_words && count >= 4; count -= 4, x += 4 * x_step, other += 4 * other_step, y += 4) {
    const uint32_t four = pick(four_of(x, x_step), four_of(other, other_step));
    std::memcpy(y, &four, sizeof four);
  }
  extremum_row(F{}, count, x, x_step, other, other_step, y);
}

}  // namespace

void minimum_s8_dsp(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  extremum(row<Least, smaller_bytes>, a, x, other, y);
}
void maximum_s8_dsp(const ExtremumArgs& a, const int8_t* x, const int8_t* other, int8_t* y) {
  extremum(row<Most, larger_bytes>, a, x, other, y);
}

}  // namespace deuteron
