// SPDX-License-Identifier: Apache-2.0
#include "compile/quantize/int4_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compile/calibrate/test_graph.h"
#include "compile/quantize/round_weights.h"

namespace deuteron {
namespace {

double error_of(std::span<const float> weight, std::span<const int8_t> rounded, const Quant& q,
                i64 terms) {
  double sum = 0;
  for (size_t k = 0; k < weight.size(); ++k)
    sum += std::pow(
        weight[k] - static_cast<double>(q.scale[k / static_cast<size_t>(terms)]) * rounded[k], 2);
  return sum;
}

// Each weight is -8..7 times the factor of its run, and no -128.
void expect_int4(std::span<const int8_t> rounded, const Int4Factors& f) {
  for (size_t k = 0; k < rounded.size(); ++k) {
    const i64 filter = static_cast<i64>(k) / f.terms, term = static_cast<i64>(k) % f.terms;
    const i32 factor = f.of(filter, term);
    ASSERT_TRUE(factor >= 1 && factor <= 16) << factor;
    ASSERT_EQ(rounded[k] % factor, 0) << k;
    ASSERT_TRUE(rounded[k] / factor >= -8 && rounded[k] / factor <= 7 && rounded[k] >= -127) << k;
  }
}

InputMoments independent_inputs(i64 terms) {
  InputMoments m;
  m.groups = 1, m.terms = terms, m.windows = 1;
  m.sum.assign(static_cast<size_t>(terms), 0);
  m.products.assign(static_cast<size_t>(terms * terms), 0);
  for (i64 t = 0; t < terms; ++t) m.products[t * terms + t] = 1;
  return m;
}

TEST(Int4Weights, AreProductsOfFourBitsAndAFactor) {
  for (const Shape& shape :
       {Shape{5, 40}, {4, 3, 3, 16}, {3, 2, 3, 48}, {6, 3, 3, 8}, {2, 1, 1, 7}}) {
    const std::vector<float> weight = random_floats(numel(shape), 3);
    const Quant q = int4_weight_quant(weight, shape, nullptr);
    const Int4Factors f = int4_factors(weight, shape, q, nullptr);
    EXPECT_EQ(f.terms, numel(shape) / shape[0]);
    expect_int4(round_to_int4(weight, q, f), f);
    const InputMoments m = independent_inputs(f.terms);
    expect_int4(round_weights(weight, q, m, &f), f);
  }
}

// Runs that the kernels would cut elsewhere have no factors.
TEST(Int4Weights, HaveFactorsWhereRunsAreWholeTaps) {
  const auto some_factor = [](const Shape& shape) {
    std::vector<float> weight = random_floats(numel(shape), 4);
    for (size_t k = 0; k < weight.size(); k += 2) weight[k] *= 0.1f * static_cast<float>(k % 7);
    const Int4Factors f =
        int4_factors(weight, shape, int4_weight_quant(weight, shape, nullptr), nullptr);
    return std::ranges::any_of(f.factor, [](int8_t v) { return v != 1; });
  };
  EXPECT_TRUE(some_factor({4, 3, 3, 32}));
  EXPECT_TRUE(some_factor({4, 40}));
  EXPECT_FALSE(some_factor({4, 3, 3, 24}));
}

// Where one run of a filter is a hundred times as small as another, one step for both leaves
// nothing of it.
TEST(Int4Weights, KeepRunsOfSmallWeights) {
  const Shape shape{1, 32};
  std::vector<float> weight = random_floats(32, 5);
  for (size_t k = 16; k < 32; ++k) weight[k] *= 0.06f;
  const Quant q = int4_weight_quant(weight, shape, nullptr);
  Int4Factors f = int4_factors(weight, shape, q, nullptr);
  EXPECT_LE(f.of(0, 16), 2);
  EXPECT_GE(f.of(0, 0), 12);
  const double error = error_of(weight, round_to_int4(weight, q, f), q, 32);
  f.factor.assign(2, static_cast<int8_t>(f.of(0, 0)));
  EXPECT_LT(error, error_of(weight, round_to_int4(weight, q, f), q, 32));
}

// Inputs that never vary may be rounded as they come; the factor follows those that do.
TEST(Int4Weights, CareForWhatVaries) {
  const Shape shape{1, 16};
  std::vector<float> weight = random_floats(16, 6);
  weight[0] = 20;
  InputMoments m = independent_inputs(16);
  m.products[0] = 0;
  const auto error_without_first = [&](const InputMoments* moments) {
    const Quant q = int4_weight_quant(weight, shape, moments);
    const std::vector<int8_t> rounded =
        round_to_int4(weight, q, int4_factors(weight, shape, q, moments));
    return error_of(std::span(weight).subspan(1), std::span(rounded).subspan(1), q, 16);
  };
  EXPECT_LT(error_without_first(&m), error_without_first(nullptr));
}

}  // namespace
}  // namespace deuteron
