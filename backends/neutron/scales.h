// The integers that an int8 operator computes with, derived from scales and zero points exactly as TFLite's kernels derive them (some
// products of scales are rounded to float32 there, some are not).
#pragma once
#include "backends/neutron/steps.h"

namespace deuteron::neutron {

// scale ~= value * 2^(shift - 31)
struct Factor {
  i32 value = 0, shift = 0;
};
// Empty: the scale is 2^30 or more, or not finite. Below 2^-32 it is 0.
std::optional<Factor> factor_of(double scale);

// One for each output channel: x * weight[c] / y.
std::optional<std::vector<Factor>> convolution_factors(const Quant& x, const Quant& weight, const Quant& y, i64 channels);
std::optional<std::vector<Factor>> fully_connected_factors(const Quant& x, const Quant& weight, const Quant& y, i64 channels);
std::optional<Factor> matmul_factor(const Quant& x, const Quant& other, const Quant& y);

// add, sub: y = y_zero + rq(y, rq(x, (a - x_zero) << left_shift) +- rq(other, (b - other_zero) << left_shift)); mul: rq(y, product).
struct PairFactors {
  i32 left_shift = 0;
  Factor x, other, y;
};
std::optional<PairFactors> pair_factors(PairFn fn, const Quant& x, const Quant& other, const Quant& y);
i32 pair_value(PairFn fn, const PairFactors& f, const Quant& x, const Quant& other, const Quant& y, i32 a, i32 b);  // not bounded

struct PreluFactors {
  Factor positive, negative;
};
std::optional<PreluFactors> prelu_factors(const Quant& x, const Quant& slope, const Quant& y);
i32 prelu_value(const PreluFactors& f, const Quant& x, const Quant& slope, const Quant& y, i32 a, i32 s);

// Of the sum of `count` elements less their zero point.
std::optional<Factor> mean_factor(const Quant& x, const Quant& y, i64 count);
std::optional<Factor> sum_factor(const Quant& x, const Quant& y);

struct SoftmaxFactors {
  Factor input;
  i32 diff_min = 0;
};
std::optional<SoftmaxFactors> softmax_factors(const Quant& x, float beta);

}  // namespace deuteron::neutron
