// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "compile/calibrate/calibrate.h"
#include "compile/calibrate/test_graph.h"

namespace deuteron {
namespace {

Observation ranged(float low, float high) {
  Observation seen;
  seen.low = low;
  seen.high = high;
  seen.seen = true;
  return seen;
}

Observation observation_of(std::span<const float> data) {
  Observation o;
  o.low = *std::ranges::min_element(data), o.high = *std::ranges::max_element(data), o.seen = true;
  std::vector<i64> bins(kHistogramBins);
  for (const float x : data) {
    const double p = o.high > o.low ? (static_cast<double>(x) - o.low) /
                                          (static_cast<double>(o.high) - o.low) * kHistogramBins
                                    : 0;
    ++bins[std::min(static_cast<size_t>(p), bins.size() - 1)];
  }
  o.bins = Histogram(bins);
  return o;
}

double error_of(std::span<const float> data, const ActivationQuant& q, i32 low = -128,
                i32 high = 127) {
  double sum = 0;
  for (const float x : data) {
    const double e = x - static_cast<double>(q.scale) *
                             (quantize_value(x, q.scale, q.zero_point, low, high) - q.zero_point);
    sum += e * e;
  }
  return sum / static_cast<double>(data.size());
}

// Printed by torchao's MinMaxObserver(dtype=torch.int8, quant_min=-128, quant_max=127, eps=2**-23).
TEST(Choose, MinMaxIsPt2e) {
  struct Row {
    double low, high;
    bool symmetric;
    float scale;
    i32 zero_point;
  };
  const Row rows[] = {
      {-1, 1, false, 0.00784313772f, -1},           {-1, 1, true, 0.00784313772f, 0},
      {0, 6, false, 0.0235294122f, -128},           {0, 6, true, 0.0470588244f, 0},
      {-3, 0, false, 0.0117647061f, 127},           {-3, 0, true, 0.0235294122f, 0},
      {0.5, 2.25, false, 0.00882352982f, -128},     {0.5, 2.25, true, 0.0176470596f, 0},
      {-2, -0.5, false, 0.00784313772f, 127},       {-2, -0.5, true, 0.0156862754f, 0},
      {-1e-06, 3e-06, false, 1.1920929e-07f, -120}, {-1e-06, 3e-06, true, 1.1920929e-07f, 0},
      {0, 3.4e+38, false, 1.33333328e+36f, -128},   {0, 3.4e+38, true, 2.66666656e+36f, 0},
      {-123.456, 7.89, false, 0.515082359f, 112},   {-123.456, 7.89, true, 0.968282342f, 0},
      {-0.1, 25.3, false, 0.0996078402f, -127},     {-0.1, 25.3, true, 0.198431373f, 0},
  };
  for (const Row& row : rows) {
    const std::vector<float> data{static_cast<float>(row.low), static_cast<float>(row.high)};
    const ActivationQuant q =
        choose(observation_of(data), Observer::min_max, row.symmetric, -128, 127);
    EXPECT_EQ(q.scale, row.scale) << row.low << " .. " << row.high;
    EXPECT_EQ(q.zero_point, row.zero_point) << row.low << " .. " << row.high;
  }
}

std::vector<float> bell(size_t count, unsigned seed, float outlier, bool relu) {
  std::mt19937 random(seed);
  std::vector<float> data(count);
  for (float& x : data) {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 8) * 0x1p-24;
    x = static_cast<float>(sum - 6);
    if (relu) x = std::max(x, 0.0f);
  }
  data[count / 2] = outlier;
  return data;
}

TEST(Choose, ErrorIsWhatQuantizingCosts) {
  for (const bool relu : {false, true})
    for (const float outlier : {0.0f, 30.0f, -90.0f})
      for (const bool symmetric : {false, true}) {
        const std::vector<float> data = bell(200000, 3, outlier, relu);
        const Observation o = observation_of(data);
        for (const Observer observer : {Observer::min_max, Observer::histogram}) {
          const ActivationQuant q = choose(o, observer, symmetric, -128, 127);
          EXPECT_DOUBLE_EQ(mean_squared_error(o, q.scale, q.zero_point, -128, 127),
                           q.mean_squared_error);
          // Zeros of a relu are spread over the lowest bin; that costs at most the square of half a
          // bin for each.
          const double bin = (static_cast<double>(o.high) - o.low) / kHistogramBins,
                       real = error_of(data, q);
          EXPECT_NEAR(q.mean_squared_error, real, real * 0.02 + (relu ? bin * bin : 0.0))
              << relu << " " << outlier << " " << symmetric;
        }
      }
}

// No range on a grid of 24 x 24 is better by more than 1 %.
TEST(Choose, HistogramFindsTheBestRange) {
  unsigned seed = 40;
  for (const auto& [outlier, relu] :
       {std::pair{8.0f, false}, {100.0f, false}, {60.0f, true}, {-25.0f, false}}) {
    const std::vector<float> data = bell(20000, ++seed, outlier, relu);
    const Observation o = observation_of(data);
    const ActivationQuant q = choose(o, Observer::histogram, false, -128, 127),
                          all = choose(o, Observer::min_max, false, -128, 127);
    EXPECT_LT(q.mean_squared_error, all.mean_squared_error) << outlier;
    double best = all.mean_squared_error;
    for (int i = 0; i <= 24; ++i)
      for (int j = 0; j <= 24; ++j) {
        const float low = std::min(0.0f, o.low) * static_cast<float>(i) / 24,
                    high = std::max(0.0f, o.high) * static_cast<float>(j) / 24;
        if (high - low <= 0) continue;
        best = std::min(
            best, error_of(data, choose(ranged(low, high), Observer::min_max, false, -128, 127)));
      }
    EXPECT_LE(error_of(data, q), best * 1.01) << outlier;
  }
}

TEST(Choose, ZeroIsExactAndAlwaysInside) {
  for (const auto& [low, high] : {std::pair{2.0f, 5.0f}, {-9.0f, -4.0f}, {-0.3f, 11.0f}})
    for (const Observer observer : {Observer::min_max, Observer::histogram}) {
      const std::vector<float> data = random_floats(5000, 8, low, high);
      const ActivationQuant q = choose(observation_of(data), observer, false, -128, 127);
      EXPECT_GE(q.zero_point, -128);
      EXPECT_LE(q.zero_point, 127);
      EXPECT_EQ(quantize_value(0, q.scale, q.zero_point, -128, 127), q.zero_point);
    }
}

TEST(Choose, DegenerateValuesGetSensibleParameters) {
  const auto of = [](std::vector<float> data, Observer observer, bool symmetric = false) {
    return choose(observation_of(data), observer, symmetric, -128, 127);
  };
  for (const Observer observer : {Observer::min_max, Observer::histogram})
    for (const bool symmetric : {false, true}) {
      for (const std::vector<float>& data : {std::vector<float>{0, 0, 0},
                                             {3, 3},
                                             {-3, -3},
                                             {1e-45f, 1e-45f},
                                             {-1e-42f, 3e-42f},
                                             {3.4e38f, -3.4e38f},
                                             {1e-20f, 0},
                                             {-3.4e38f, -3.4e38f},
                                             {1e30f, 1e30f, 0, 1}}) {
        const ActivationQuant q = of(data, observer, symmetric);
        EXPECT_TRUE(std::isfinite(q.scale) && q.scale >= 0x1p-23f && std::isfinite(1 / q.scale))
            << data[0];
        EXPECT_TRUE(q.zero_point >= -128 && q.zero_point <= 127);
        EXPECT_FALSE(std::isnan(q.mean_squared_error));
        EXPECT_TRUE(!symmetric || q.zero_point == 0);
      }
      // a constant is exact but for rounding of the scale
      const ActivationQuant three = of({3, 3}, observer, symmetric);
      EXPECT_NEAR(three.scale * static_cast<float>(
                                    quantize_value(3, three.scale, three.zero_point, -128, 127) -
                                    three.zero_point),
                  3, symmetric ? 0.013 : 1e-6);
    }
  EXPECT_EQ(choose(Observation{}, Observer::histogram, false, -128, 127).zero_point,
            0);  // nothing seen
}

TEST(Observation, MergeKeepsEveryCount) {
  const std::vector<float> a = random_floats(3000, 1, -1, 2), b = random_floats(5000, 2, 0.5f, 9),
                           c(700, 0.0f);
  const Observation parts[] = {observation_of(a), observation_of(b), observation_of(c),
                               Observation{}};
  const Observation* pointers[] = {&parts[0], &parts[1], &parts[2], &parts[3]};
  const Observation all = merged(pointers);
  EXPECT_EQ(all.low, parts[0].low);
  EXPECT_EQ(all.high, parts[1].high);
  i64 below_half = 0, expected_below = 0;
  EXPECT_EQ(all.bins.total(), 8700);
  const size_t half = static_cast<size_t>((0.5 - all.low) / (all.high - all.low) * kHistogramBins);
  for (size_t i = 0; i < half; ++i) below_half += all.bins.counts()[i];
  for (const float x : a) expected_below += x < 0.5f;
  EXPECT_NEAR(static_cast<double>(below_half), static_cast<double>(expected_below) + 700, 15);
}

TEST(ByteGrid, IsFoundWhereEveryNumberOfAnInputLiesOnIt) {
  const auto grid_of_values = [](float step, float low, float off) {
    std::vector<float> data;
    for (int k = 10; k < 200; k += 3) data.push_back(low + step * (static_cast<float>(k) + off));
    const Samples samples{{{low + 10 * step}}, {data}};
    const size_t all[] = {0, 1};
    return byte_grid(samples, all, 0);
  };
  for (const ByteGrid& grid : kByteGrids)
    EXPECT_EQ(grid_of_values(grid.step, grid.low, 0), grid) << grid.step;
  EXPECT_FALSE(grid_of_values(1, 0, 0.5f));     // between the steps
  EXPECT_FALSE(grid_of_values(1, 100, 0));      // past the last one
  EXPECT_FALSE(grid_of_values(0.0123f, 0, 0));  // no grid of ours
  const size_t one[] = {0};
  EXPECT_FALSE(byte_grid({{{0, 40, 3}}}, one, 0));  // too few steps to know
}

TEST(ByteGrid, GivesItsOwnSteps) {
  const auto bytes = choose({1, 0}, false, -128);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->scale, 1);
  EXPECT_EQ(bytes->zero_point, -128);
  EXPECT_FALSE(choose({1, 0}, true, -128));
  EXPECT_EQ(choose({1, -128}, true, -128)->zero_point, 0);
}

TEST(Observation, BoundedMovesTheRestToTheBound) {
  const std::vector<float> data = random_floats(10000, 5, -8, 4);
  const Observation o = bounded(observation_of(data), -3, std::numeric_limits<float>::infinity());
  EXPECT_EQ(o.low, -3);
  i64 below = 0;
  for (const float x : data) below += x < -3;
  EXPECT_EQ(o.bins.total(), 10000);
  EXPECT_NEAR(static_cast<double>(o.bins.counts()[0]), static_cast<double>(below), 20);
  EXPECT_EQ(bounded(observation_of(data), -100, 100).bins, observation_of(data).bins);
}

TEST(WeightQuant, PerChannelAndPerTensor) {
  const Shape shape{3, 2, 2};
  const std::vector<float> w{0.5f, -1, 0.25f, 0, 0, 0, 0, 0, 4, 2, -1, 0.5f};
  const Quant q = weight_quant(w, shape, 0, -127, 127);
  EXPECT_EQ(q.axis, 0);
  EXPECT_EQ(q.scale, (std::vector<float>{1 / 127.0f, 1 / 127.0f,
                                         4 / 127.0f}));  // zeros take the finest of the others
  EXPECT_EQ(q.zero_point, (std::vector<i32>{0, 0, 0}));
  const Quant whole = weight_quant(w, shape, -1, -128, 127);
  EXPECT_FALSE(whole.per_channel());
  EXPECT_EQ(whole.scale, std::vector<float>{4 / 127.5f});
  EXPECT_EQ(weight_quant(w, shape, 1, -127, 127).scale,
            (std::vector<float>{4 / 127.0f, 1 / 127.0f}));
  EXPECT_EQ(weight_quant(std::vector<float>(4, 0.0f), {4}, 0, -127, 127).scale,
            std::vector<float>(4, 1 / 127.0f));
  EXPECT_EQ(weight_quant(std::vector<float>{1e-30f, 1}, {2}, 0, -127, 127).scale[0], 0x1p-23f);
}

TEST(Sqnr, IsTenLogOfTheRatio) {
  EXPECT_NEAR(sqnr_db(std::vector<float>{3, 4}, std::vector<float>{3, 4.5f}), 20, 1e-12);
  EXPECT_TRUE(std::isinf(sqnr_db(std::vector<float>{1, 2}, std::vector<float>{1, 2})));
}

}  // namespace
}  // namespace deuteron
