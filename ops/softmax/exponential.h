// Exponentials in fixed point. Numbers are int32; Qm.n has n bits behind the point.
#pragma once
#include "ops/integer/requantize.h"

namespace deuteron::q31 {

inline int32_t add(int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); }

// exp(v / 2^26) for v <= 0, Q0.31: a polynomial on [-1/4, 0), then a factor exp(-2^k) for each bit of what is left. gemmlowp.
inline int32_t exp_of_negative(int32_t v) {
  constexpr int32_t kQuarter = 1 << 24;
  static constexpr int32_t kFactors[] = {1672461947, 1302514674, 790015084, 290630308,
                                         39332535,   720401,     242};  // exp(-1/4), exp(-1/2), .. exp(-16), Q0.31
  constexpr int32_t kExpOfEighth = 1895147668, kThird = 715827883;      // exp(-1/8), 1/3, Q0.31
  if (v == 0) return INT32_MAX;
  const int32_t part = (v & (kQuarter - 1)) - kQuarter;
  const int32_t rest = static_cast<int32_t>(static_cast<uint32_t>(part) - static_cast<uint32_t>(v));
  const int32_t x = part * 32 + (1 << 28);  // Q0.31, about -1/8
  const int32_t x2 = multiply_high(x, x), x3 = multiply_high(x2, x), x4 = multiply_high(x2, x2);
  const int32_t series = add(x, round_shift_right(add(multiply_high(add(round_shift_right(x4, 2), x3), kThird), x2), 1));
  int32_t e = add(kExpOfEighth, multiply_high(kExpOfEighth, series));
#pragma GCC unroll 1  // one step is 30 bytes
  for (int k = 0; k < 7; ++k)
    if (rest & (kQuarter << k)) e = multiply_high(e, kFactors[k]);
  return e;
}

}  // namespace deuteron::q31
