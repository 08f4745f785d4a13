#include "ops/integer/int16.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deuteron {

std::optional<Refusal> require_int16(const Type& t) {
  if (t.dtype == DType::s16 && !t.quant.empty() && !t.quant.per_channel() && t.quant.zero_point[0] == 0) return std::nullopt;
  return Refusal{"an operand or the result is not int16 with one scale and zero point 0", to_text(t), "s16 with scale and zero point 0",
                 "int16.steps"};
}

template <class T>
static SumRange range_of_sums(std::span<const T> filter, const Quant& x, i64 bias) {
  SumRange sum{bias, bias};
  for (const T w : filter) {
    const i64 at_low = i64{w} * (x.low - x.zero_point[0]), at_high = i64{w} * (x.high - x.zero_point[0]);
    sum.low += std::min(at_low, at_high), sum.high += std::max(at_low, at_high);
  }
  return sum;
}

SumRange sum_range(std::span<const int16_t> filter, const Quant& x, i64 bias) { return range_of_sums(filter, x, bias); }
SumRange sum_range(std::span<const int8_t> filter, const Quant& x, i64 bias) { return range_of_sums(filter, x, bias); }

std::optional<Int16Factor> int16_product_factor(double factor) {
  int exponent = 0;
  i64 value = std::llround(std::ldexp(std::frexp(factor, &exponent), 31));
  if (value > std::numeric_limits<i32>::max()) value /= 2, ++exponent;
  if (!(factor > 0) || exponent > 0 || exponent < -30) return std::nullopt;
  return Int16Factor{static_cast<i32>(value), -exponent};
}

bool fits_int32(const SumRange& sum) { return sum.low >= std::numeric_limits<i32>::min() && sum.high <= std::numeric_limits<i32>::max(); }

}  // namespace deuteron
