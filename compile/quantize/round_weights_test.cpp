// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/round_weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compile/calibrate/calibrate.h"
#include "compile/calibrate/test_graph.h"
#include "compile/quantize/quantized_weights.h"

namespace deuteron {
namespace {

// Of a 1x1 convolution over pixels whose channels are `alike`: 0, independent; 1, equal.
struct Case {
  i64 filters, terms;
  double alike;
  std::vector<float> weight;
  std::vector<std::vector<float>> x;
  InputMoments moments;
};

Case make(i64 filters, i64 terms, double alike, unsigned seed) {
  Case c{filters, terms, alike, random_floats(filters * terms, seed), {}, {}};
  InputMoments& m = c.moments;
  m.groups = 1, m.terms = terms, m.windows = 500;
  m.sum.resize(static_cast<size_t>(terms));
  m.products.resize(static_cast<size_t>(terms * terms));
  for (unsigned k = 0; k < 500; ++k) {
    std::vector<float> x = random_floats(terms + 1, 1000 + seed * 500 + k);
    for (i64 i = 0; i < terms; ++i)
      x[i] = static_cast<float>(alike * x[terms] + (1 - alike) * x[i]);
    x.pop_back();
    for (i64 i = 0; i < terms; ++i) {
      m.sum[i] += x[i];
      for (i64 j = 0; j < terms; ++j) m.products[i * terms + j] += static_cast<double>(x[i]) * x[j];
    }
    c.x.push_back(std::move(x));
  }
  return c;
}

// Mean square of what the results lose, the mean loss taken out by the bias.
double error_of(const Case& c, std::span<const int8_t> rounded, const Quant& q) {
  const std::vector<float> loss = mean_loss(c.weight, rounded, q, c.moments);
  double error = 0;
  for (const auto& x : c.x)
    for (i64 f = 0; f < c.filters; ++f) {
      double lost = -loss[f];
      for (i64 i = 0; i < c.terms; ++i)
        lost += (c.weight[f * c.terms + i] -
                 static_cast<double>(q.scale[f]) * rounded[f * c.terms + i]) *
                x[i];
      error += lost * lost;
    }
  return error;
}

Quant by_filter(const Case& c) {
  return weight_quant(c.weight, {c.filters, c.terms}, 0, -127, 127);
}

std::vector<int8_t> one_by_one(const Case& c, const Quant& q) {
  const Constant constant = to_integers(c.weight, {c.filters, c.terms}, q, DType::s8);
  const auto steps = constant.as<int8_t>();
  return {steps.begin(), steps.end()};
}

TEST(RoundWeights, LosesLessTheMoreAlikeTheInputsAre) {
  for (const auto& [alike, most] : {std::pair{0.5, 0.8}, {0.8, 0.3}, {0.95, 0.1}})
    for (unsigned seed = 1; seed < 4; ++seed) {
      const Case c = make(8, 27, alike, seed);
      const Quant q = by_filter(c);
      EXPECT_LT(error_of(c, round_weights(c.weight, q, c.moments), q),
                most * error_of(c, one_by_one(c, q), q))
          << alike << ", " << seed;
    }
}

TEST(RoundWeights, IsPlainRoundingWhereInputsAreIndependent) {
  Case c = make(5, 9, 0, 7);
  c.moments.sum.assign(9, 0);
  c.moments.products.assign(81, 0);
  for (size_t i = 0; i < 9; ++i) c.moments.products[i * 10] = static_cast<double>(i + 1);
  const Quant q = by_filter(c);
  EXPECT_EQ(round_weights(c.weight, q, c.moments), one_by_one(c, q));
}

TEST(RoundWeights, StaysWithinTheSteps) {
  Case c = make(16, 32, 0, 3);
  c.moments.sum.assign(32, 0);
  c.moments.products.assign(32 * 32, 0);
  for (size_t i = 0; i < 32; ++i) c.moments.products[i * 33] = 1;
  Quant q = by_filter(c);
  for (float& scale : q.scale) scale /= 16;
  const std::vector<int8_t> rounded = round_weights(c.weight, q, c.moments);
  i64 past = 0;
  for (size_t k = 0; k < rounded.size(); ++k) {
    const float steps = c.weight[k] / q.scale[k / 32];
    if (std::fabs(steps) < 128) continue;
    EXPECT_EQ(rounded[k], steps > 0 ? 127 : -127);
    ++past;
  }
  EXPECT_GT(past, 200);
}

TEST(RoundWeights, TakesInputsThatAreAlwaysTheSame) {
  Case c = make(3, 4, 0, 5);
  c.moments.sum.assign(4, 500 * 2.0);
  c.moments.products.assign(16, 500 * 4.0);
  const Quant q = by_filter(c);
  EXPECT_EQ(round_weights(c.weight, q, c.moments), one_by_one(c, q));
  const std::vector<float> loss = mean_loss(c.weight, one_by_one(c, q), q, c.moments);
  double expected = 0;
  for (size_t i = 0; i < 4; ++i)
    expected += 2 * (c.weight[i] - static_cast<double>(q.scale[0]) * one_by_one(c, q)[i]);
  EXPECT_NEAR(loss[0], expected, 1e-6);
}

}  // namespace
}  // namespace deuteron
