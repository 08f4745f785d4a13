// SPDX-License-Identifier: Apache-2.0
#include "ops/common/multiplier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "kernels/integer/requantize.h"
#include "ops/common/bounds.h"
#include "ops/common/pair.h"
#include "ops/prelu/multiplier.h"
#include "ops/reduce/multiplier.h"
#include "ops/softmax/multiplier.h"

namespace deuteron {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Scales whose product, over a power of two, ends in an exact half of the multiplier's last bit;
// the even neighbour is the smaller one. tests/stock/rounding.py shows with the same scales that
// ExecuTorch's compiler takes the even one and TFLite's kernels the other.
constexpr float kTieX = 0x1.0002p0f, kTieWeight = 0x1.0001p0f;
constexpr Multiplier kTieEven = {(1 << 30) + (1 << 15) + (1 << 14), 1},
                     kTieAway = {kTieEven.value + 1, 1};

TEST(Multiplier, RoundsAnExactHalfAsItsReaderDoes) {
  for (const i64 k : {i64{1} << 30, (i64{1} << 30) + 1, i64{1610612736}, i64{2147483645}})
    for (const int exponent : {0, -3, 5, -31, 30}) {
      const double factor = std::ldexp(static_cast<double>(2 * k + 1), exponent - 32);
      const i32 even = static_cast<i32>(k % 2 == 0 ? k : k + 1), away = static_cast<i32>(k + 1);
      EXPECT_EQ(*multiplier_of(factor, Ties::to_even), (Multiplier{even, exponent})) << k;
      EXPECT_EQ(*multiplier_of(factor, Ties::away), (Multiplier{away, exponent})) << k;
    }
  for (const Ties ties : {Ties::to_even, Ties::away})  // the mantissa becomes 1
    EXPECT_EQ(*multiplier_of(1 - 0x1p-32, ties), (Multiplier{1 << 30, 1}));
}

TEST(Multiplier, OfAChannelRoundsAsTheRoundingSays) {
  const Quant x = per_tensor(kTieX, 3), weight = per_tensor(kTieWeight, 0), y = per_tensor(1, -5);
  EXPECT_EQ((*channel_multipliers(x, weight, y, 1, {Ties::to_even}, ""))[0], kTieEven);
  EXPECT_EQ((*channel_multipliers(x, weight, y, 1, form_of(Rounding::tflite), ""))[0], kTieAway);
  // Without a shift there are fewer bits, and here no half. 2^-2 keeps 29.
  const Quant coarse = per_tensor(4, -5);
  EXPECT_EQ((*channel_multipliers(x, weight, coarse, 1, form_of(Rounding::once), ""))[0],
            (Multiplier{(1 << 29) + (1 << 14) + (1 << 13), 0}));
}

TEST(Multiplier, HasNoShiftWhereEnoughBitsRemain) {
  const MultiplierForm form = form_of(Rounding::once), tflite = form_of(Rounding::reference_once);
  EXPECT_EQ(*multiplier_of(0x1p-16, form), (Multiplier{1 << 15, 0}));
  EXPECT_EQ(*multiplier_of(0x1.fffffep-17, form), (Multiplier{0x7fffff80, -16}));
  EXPECT_EQ(*multiplier_of(0x1p-12, tflite), (Multiplier{1 << 19, 0}));
  EXPECT_EQ(*multiplier_of(0x1.fffffep-13, tflite), (Multiplier{0x7fffff80, -12}));
  EXPECT_EQ(unshifted_form_of(Rounding::tflite).least_unshifted, tflite.least_unshifted);
  EXPECT_EQ(*multiplier_of(0.75, form), (Multiplier{3 << 29, 0}));
  EXPECT_EQ(*multiplier_of(1, form), (Multiplier{1 << 30, 1}));
  EXPECT_EQ(*multiplier_of(1 - 0x1p-33, form),
            (Multiplier{1 << 30, 1}));  // rounds to 1, which Q0.31 does not have
  EXPECT_EQ(*multiplier_of(0.75, form_of(Rounding::tflite)), (Multiplier{3 << 29, 0}));
  EXPECT_EQ(*multiplier_of(0.25, form_of(Rounding::tflite)), (Multiplier{1 << 30, -1}));
}

// Every sum of the range, against the sum times 31 bits, rounded once.
TEST(Multiplier, GivesTheStepsOfARoundingOnceWhereItSaysSo) {
  std::mt19937 random(3);
  int found = 0, other = 0;
  for (int round = 0; round < 300; ++round) {
    const double factor = std::ldexp(1 + static_cast<double>(random() % 1000000) / 1e6,
                                     -static_cast<int>(2 + random() % 13));
    const i64 reach =
        std::min<i64>(static_cast<i64>(static_cast<double>(random() % 300) / factor), 200000);
    const i64 low = -static_cast<i64>(random() % 256);
    const SumRange sums{-reach, static_cast<i64>(random() % 4) * reach / 3};
    const auto m =
        multiplier_rounding_once(factor, sums, static_cast<i32>(low), static_cast<i32>(low + 255));
    if (!m) continue;
    ++found, other += *m != *multiplier_of(factor, form_of(Rounding::reference_once)) ? 1 : 0;
    const Multiplier exact = *multiplier_of(factor, Ties::away);
    const int t = 31 - exact.shift;
    for (i64 v = sums.low; v <= sums.high; ++v) {
      const i64 once = (v * exact.value + (i64{1} << (t - 1))) >> t,
                ours = requantize(static_cast<i32>(v), m->value, m->shift);
      ASSERT_EQ(std::clamp(ours, low, low + 255), std::clamp(once, low, low + 255))
          << v << " * " << factor;
    }
  }
  EXPECT_GT(found, 200);
  EXPECT_GT(other, 10);
  EXPECT_FALSE(multiplier_rounding_once(0.1, {0, i64{1} << 40}, -128, 127));
}

TEST(Multiplier, RefusesWhatNoShiftCanSay) {
  for (const Ties ties : {Ties::to_even, Ties::away}) {
    EXPECT_EQ(*multiplier_of(0, ties), Multiplier{});
    EXPECT_EQ(*multiplier_of(0x1p-32, ties), (Multiplier{1 << 30, -31}));
    EXPECT_EQ(*multiplier_of(0x1.ffffp-33, ties), Multiplier{});
    EXPECT_EQ(*multiplier_of(0x1.ffp29, ties), (Multiplier{0x7fc00000, 30}));
    for (const double bad : {0x1p30, 0x1p30 - 0x1p-3, 1e300, kInfinity, -0.5, std::nan("")})
      EXPECT_FALSE(multiplier_of(bad, ties)) << bad;
  }
  const auto refused = checked_multiplier(1e300, Ties::away, "some.rule");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.why.measured, "1e+300");
  EXPECT_EQ(refused.why.limit, "2^30");
  EXPECT_EQ(refused.why.rule, "some.rule");
  EXPECT_FALSE(pair_multipliers(PairFn::add, per_tensor(1, 0), per_tensor(3e38f, 0),
                                per_tensor(1, 0), Rounding::once, "", 1e300));
}

// TFLite forms the product of two scales in float32, and of an elementwise product the quotient
// too.
TEST(Multiplier, OfAProductRoundsTheScalesToFloatForTflite) {
  const float a = 0.1f, b = 0.3f, y = 0.7f;
  const Quant qa = per_tensor(a, 0), qb = per_tensor(b, 0), qy = per_tensor(y, 0);
  EXPECT_EQ(product_factor(qa, qb, qy, Rounding::once, Quotient::wide),
            static_cast<double>(a) * b / y);
  EXPECT_EQ(product_factor(qa, qb, qy, Rounding::tflite, Quotient::wide),
            static_cast<double>(a * b) / y);
  EXPECT_EQ(product_factor(qa, qb, qy, Rounding::tflite, Quotient::single),
            static_cast<double>(a * b / y));
  EXPECT_NE(pair_multipliers(PairFn::mul, qa, qb, qy, Rounding::once, "")->y,
            pair_multipliers(PairFn::mul, qa, qb, qy, Rounding::tflite, "")->y);
}

// Rounded twice: half a step of the result, and half a unit of what the shift then divides. Terms
// of a sum add theirs 20 bits below.
double bound_of(const Multiplier& m) {
  return 0.5 + std::ldexp(0.5, std::min(m.shift, 0)) + 0x1p-16;
}

TEST(PairArithmetic, IsTheFunctionToHalfAStep) {
  const Quant x = per_tensor(0.05f, 7), other = per_tensor(0.021f, -11), y = per_tensor(0.06f, 4);
  for (const PairFn fn : {PairFn::add, PairFn::sub, PairFn::mul})
    for (const Rounding rounding : {Rounding::once, Rounding::tflite}) {
      const auto m = pair_multipliers(fn, x, other, y, rounding, "");
      ASSERT_TRUE(m);
      for (i32 a = -128; a <= 127; a += 3)
        for (i32 b = -128; b <= 127; b += 5) {
          const double ra = static_cast<double>(x.scale[0]) * (a - 7),
                       rb = static_cast<double>(other.scale[0]) * (b + 11);
          const double exact = (fn == PairFn::add   ? ra + rb
                                : fn == PairFn::sub ? ra - rb
                                                    : ra * rb) /
                                   y.scale[0] +
                               4;
          ASSERT_NEAR(pair_value(fn, *m, x, other, y, a, b), exact, bound_of(m->y))
              << a << " " << b;
        }
    }
  EXPECT_EQ(pair_value(PairFn::maximum, {}, x, other, y, -3, 5), 5);
  EXPECT_EQ(pair_value(PairFn::minimum, {}, x, other, y, -3, 5), -3);
}

TEST(PairArithmetic, CountsTheOtherOperandByItsFactor) {
  const Quant x = per_tensor(0.25f, 0), other = per_tensor(0.5f, 0), y = per_tensor(1, 0);
  const auto m = pair_multipliers(PairFn::add, x, other, y, Rounding::once, "", 3);
  EXPECT_EQ(m->x, *multiplier_of(0.25 / 3, Ties::to_even));
  EXPECT_EQ(m->other, (Multiplier{1 << 30, 0}));
  EXPECT_EQ(m->y, (Multiplier{3 << 29, -18}));
}

// A bound that lies between two steps: PT2E multiplies by the reciprocal and takes the even step,
// TFLite divides and goes away from zero.
TEST(Bounds, RoundAsTheReaderDoes) {
  const Quant q = per_tensor(0.5f, 2);
  EXPECT_EQ(bound_step(1.25f, q, Rounding::once), 4);
  EXPECT_EQ(bound_step(1.25f, q, Rounding::tflite), 5);
  EXPECT_EQ(bound_step(-1.25f, q, Rounding::once), 0);
  EXPECT_EQ(bound_step(-1.25f, q, Rounding::tflite), -1);
  EXPECT_EQ(bound_step(1e30f, q, Rounding::tflite), 127);
  EXPECT_EQ(step_range({.low = 0}, q), (StepRange{2, 127}));
  EXPECT_EQ(step_range({.high = 6}, q, Rounding::tflite), (StepRange{-128, 14}));
}

TEST(PreluMultiplier, IsTheFunctionToHalfAStep) {
  const Quant x = per_tensor(0.05f, 7), slope = per_tensor(0.003f, -11), y = per_tensor(0.06f, 4);
  const auto m = prelu_multipliers(x, slope, y, "");
  ASSERT_TRUE(m);
  for (i32 a = -128; a <= 127; ++a)
    for (i32 s = -128; s <= 127; s += 5) {
      const double v = static_cast<double>(x.scale[0]) * (a - 7);
      const double exact =
          (v >= 0 ? v : v * static_cast<double>(slope.scale[0]) * (s + 11)) / y.scale[0] + 4;
      ASSERT_NEAR(prelu_value(*m, x, slope, y, a, s), exact,
                  bound_of(v >= 0 ? m->positive : m->negative))
          << a << " " << s;
    }
}

TEST(ReduceMultiplier, HasTheCountInIt) {
  const Quant x = per_tensor(0.5f, 0), y = per_tensor(0.25f, 0);
  EXPECT_EQ(*reduce_multiplier(x, y, 1, Ties::away, ""), (Multiplier{1 << 30, 2}));
  EXPECT_EQ(*reduce_multiplier(x, y, 8, Ties::away, ""), (Multiplier{1 << 30, -1}));
  EXPECT_EQ(*reduce_multiplier(x, y, 5, Ties::away, ""),
            (Multiplier{858993459, 0}));  // 2^32 / 5, cut off
}

TEST(SoftmaxMultiplier, IsInQ5_26) {
  const auto m = softmax_multiplier(per_tensor(0.125f, 0), 1, Ties::away, "");
  ASSERT_TRUE(m);
  EXPECT_EQ(m->input, (Multiplier{1 << 30, 24}));
  EXPECT_EQ(m->diff_min, -124);  // 31 * 2^(26 - 24)
  EXPECT_FALSE(softmax_multiplier(per_tensor(0x1p-28f, 0), 1, Ties::away, ""));
}

}  // namespace
}  // namespace deuteron
