// The integers of the NPU's calls: those of ops/integer/ with TFLite's rounding.
#pragma once
#include "backends/neutron/steps.h"
#include "ops/integer/pair.h"
#include "ops/prelu/multiplier.h"
#include "ops/reduce/multiplier.h"
#include "ops/softmax/multiplier.h"

namespace deuteron::neutron {

using Factor = Multiplier;
inline constexpr const char* kScaleRule = "";  // each call has its own

inline auto convolution_factors(const Quant& x, const Quant& weight, const Quant& y, i64 channels) {
  return channel_multipliers(x, weight, y, channels, {Ties::away}, kScaleRule);
}
// TFLite's kernel rounds once, in double: so does an accumulator here where the factor keeps enough bits without a shift.
inline auto fully_connected_factors(const Quant& x, const Quant& weight, const Quant& y, i64 channels) {
  return channel_multipliers(x, weight, y, channels, {Ties::away, true}, kScaleRule);
}
inline auto matmul_factor(const Quant& x, const Quant& other, const Quant& y) {
  return checked_multiplier(product_factor(x, other, y, Rounding::tflite, Quotient::wide), Ties::away, kScaleRule);
}
inline auto pair_factors(PairFn fn, const Quant& x, const Quant& other, const Quant& y) {
  return pair_multipliers(fn, x, other, y, Rounding::tflite, kScaleRule);
}
inline auto prelu_factors(const Quant& x, const Quant& slope, const Quant& y) { return prelu_multipliers(x, slope, y, kScaleRule); }
inline auto mean_factor(const Quant& x, const Quant& y, i64 count) { return reduce_multiplier(x, y, count, Ties::away, kScaleRule); }
inline auto softmax_factors(const Quant& x, float beta) { return softmax_multiplier(x, beta, Ties::away, kScaleRule); }

}  // namespace deuteron::neutron
