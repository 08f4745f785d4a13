// SPDX-License-Identifier: Apache-2.0
// Arithmetic with a number as operand, powers, the smaller and the larger of two, and the angle of
// two.
#include <cmath>

#include "kernels/portable/kernels.h"
#include "kernels/portable/pairwise.h"

namespace deuteron {
namespace {
using namespace portable;

constexpr PairOp kSum = {
    [](float a, float b, float alpha) { return a + alpha * b; },
    [](int64_t a, int64_t b, int64_t alpha) { return wrap_add(a, wrap_mul(alpha, b)); },
    PairRule::arithmetic};
constexpr PairOp kDifference = {[](float a, float b, float alpha) { return a - alpha * b; },
                                [](int64_t a, int64_t b, int64_t alpha) {
                                  return wrap_add(a, wrap_mul(wrap_mul(-1, alpha), b));
                                },
                                PairRule::arithmetic};
constexpr PairOp kReversed = {[](float a, float b, float alpha) { return b - alpha * a; },
                              [](int64_t a, int64_t b, int64_t alpha) {
                                return wrap_add(b, wrap_mul(wrap_mul(-1, alpha), a));
                              },
                              PairRule::arithmetic};
constexpr PairOp kProduct = {[](float a, float b, float) { return a * b; },
                             [](int64_t a, int64_t b, int64_t) { return wrap_mul(a, b); },
                             PairRule::arithmetic};
// NaN, once there, stays.
constexpr PairOp kSmaller = {[](float a, float b, float) { return a != a || a < b ? a : b; },
                             [](int64_t a, int64_t b, int64_t) { return a < b ? a : b; },
                             PairRule::arithmetic};
constexpr PairOp kLarger = {[](float a, float b, float) { return a != a || a > b ? a : b; },
                            [](int64_t a, int64_t b, int64_t) { return a > b ? a : b; },
                            PairRule::arithmetic};
constexpr PairOp kAngle = {[](float a, float b, float) { return std::atan2(a, b); }, nullptr,
                           PairRule::real};

float power(float a, float b, float) { return std::pow(a, b); }
// Negative exponents leave 0 of all bases but 1 and -1.
int64_t whole_power(int64_t a, int64_t b, int64_t) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  int64_t result = 1;
  for (; b > 0; b >>= 1, a = wrap_mul(a, a))
    if (b & 1) result = wrap_mul(result, a);
  return result;
}
constexpr PairOp kPower = {power, whole_power, PairRule::arithmetic};

// (x, number, alpha, out)
template <const PairOp& op>
Status prepare_with_alpha(Call& call, Prepared* prepared) {
  return keep_pairwise(call, prepared, 0, 1, 2, 3, op);
}

}  // namespace

extern const Kernel kAtenAddScalar = {"aten::add.Scalar_out", "TFFO", prepare_with_alpha<kSum>};
extern const Kernel kAtenSubScalar = {"aten::sub.Scalar_out", "TFFO",
                                      prepare_with_alpha<kDifference>};
extern const Kernel kAtenRsubScalar = {"aten::rsub.Scalar_out", "TFFO",
                                       prepare_with_alpha<kReversed>};
extern const Kernel kAtenMulScalar = {"aten::mul.Scalar_out", "TFO", prepare_pair<kProduct>};
extern const Kernel kAtenMinimum = {"aten::minimum.out", "TTO", prepare_pair<kSmaller>};
extern const Kernel kAtenMaximum = {"aten::maximum.out", "TTO", prepare_pair<kLarger>};
extern const Kernel kAtenAtan2 = {"aten::atan2.out", "TTO", prepare_pair<kAngle>};
extern const Kernel kAtenPow = {"aten::pow.Tensor_Tensor_out", "TTO", prepare_pair<kPower>};
extern const Kernel kAtenPowScalarBase = {"aten::pow.Scalar_out", "FTO", prepare_pair<kPower>};
extern const Kernel kAtenPowScalar = {"aten::pow.Tensor_Scalar_out", "TFO", prepare_pair<kPower>};

}  // namespace deuteron
