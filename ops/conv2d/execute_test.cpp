// SPDX-License-Identifier: Apache-2.0
// Convolution and linear in float against plain sums in double, over shapes that oneDNN has code
// for and shapes that it lacks.
#include "compile/calibrate/test_graph.h"
#include "ops/common/dnn.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

struct Case {
  Shape x;  // n,h,w,c
  i64 oc, kh, kw;
  Conv2d a;
  bool bias = true;
};

// The sum and the sum of magnitudes, which bounds the rounding of any order of additions.
struct Exact {
  double sum, magnitude;
};

Exact exact(const Case& c, std::span<const float> x, std::span<const float> w, const float* bias,
            i64 n, i64 oh, i64 ow, i64 o) {
  const i64 cg = c.x[3] / c.a.groups, group = o / (c.oc / c.a.groups);
  Exact e{bias ? bias[o] : 0.0, bias ? std::abs(bias[o]) : 0.0};
  for (i64 kh = 0; kh < c.kh; ++kh)
    for (i64 kw = 0; kw < c.kw; ++kw)
      for (i64 k = 0; k < cg; ++k) {
        const i64 h = oh * c.a.stride.h - c.a.pad_before.h + kh * c.a.dilation.h,
                  ww = ow * c.a.stride.w - c.a.pad_before.w + kw * c.a.dilation.w;
        if (h < 0 || h >= c.x[1] || ww < 0 || ww >= c.x[2]) continue;
        const double term =
            static_cast<double>(x[((n * c.x[1] + h) * c.x[2] + ww) * c.x[3] + group * cg + k]) *
            w[((o * c.kh + kh) * c.kw + kw) * cg + k];
        e.sum += term;
        e.magnitude += std::abs(term);
      }
  return e;
}

void check(const Case& c, unsigned seed) {
  const i64 cg = c.x[3] / c.a.groups;
  const Shape w_shape{c.oc, c.kh, c.kw, cg};
  const std::vector<float> x = random_floats(numel(c.x), seed),
                           w = random_floats(numel(w_shape), seed + 1),
                           bias = random_floats(c.oc, seed + 2);
  std::vector<std::pair<Shape, std::vector<float>>> operands{{c.x, x}, {w_shape, w}};
  if (c.bias) operands.push_back({{c.oc}, bias});
  const std::vector<float> y = run_op(c.a, operands);
  const i64 oh =
      out_extent(c.x[1], c.kh, c.a.stride.h, c.a.dilation.h, c.a.pad_before.h + c.a.pad_after.h);
  const i64 ow =
      out_extent(c.x[2], c.kw, c.a.stride.w, c.a.dilation.w, c.a.pad_before.w + c.a.pad_after.w);
  ASSERT_EQ(static_cast<i64>(y.size()), c.x[0] * oh * ow * c.oc);
  const double terms = static_cast<double>(c.kh * c.kw * cg + 1);
  for (i64 i = 0; i < static_cast<i64>(y.size()); ++i) {
    const Exact e = exact(c, x, w, c.bias ? bias.data() : nullptr, i / (oh * ow * c.oc),
                          i / (ow * c.oc) % oh, i / c.oc % ow, i % c.oc);
    const double expected = std::clamp<double>(e.sum, c.a.bounds.low, c.a.bounds.high);
    ASSERT_NEAR(y[i], expected, e.magnitude * terms * 0x1p-24)
        << "x " << to_text(c.x) << " weight " << to_text(w_shape) << " element " << i;
  }
}

TEST(Conv2dExecute, MatchesPlainSums) {
  const Case cases[] = {
      {{1, 9, 7, 16}, 24, 3, 3, {.pad_before = {1, 1}, .pad_after = {1, 1}}},
      {{2, 8, 11, 3},
       16,
       3,
       5,
       {.stride = {2, 1}, .pad_before = {0, 2}, .pad_after = {1, 1}}},  // asymmetric
      {{3, 13, 10, 5},
       7,
       4,
       2,
       {.stride = {3, 2}, .pad_before = {2, 0}, .pad_after = {1, 1}, .dilation = {2, 3}}},
      {{1, 49, 10, 1},
       64,
       10,
       4,
       {.stride = {2, 2}, .pad_before = {4, 1}, .pad_after = {5, 1}}},  // one input channel
      {{2, 7, 9, 16},
       16,
       3,
       3,
       {.stride = {2, 1}, .pad_before = {1, 1}, .pad_after = {1, 1}, .groups = 16}},  // depthwise
      {{1, 6, 5, 11},
       11,
       3,
       3,
       {.pad_before = {1, 1}, .pad_after = {1, 1}, .groups = 11},
       false},  // odd channels
      {{2, 6, 5, 6},
       18,
       3,
       2,
       {.pad_before = {1, 0}, .pad_after = {0, 1}, .groups = 6}},  // multiplier 3
      {{1, 8, 7, 12}, 20, 3, 3, {.pad_before = {1, 1}, .pad_after = {1, 1}, .groups = 4}},
      {{1, 5, 4, 32}, 48, 1, 1, {.bounds = {0, 0.5f}}},
      {{2, 4, 3, 8}, 5, 4, 3, {.bounds = {.low = 0}}, false},  // the kernel covers the image
      {{1, 7, 7, 4},
       4,
       3,
       3,
       {.pad_before = {-1, -2}, .pad_after = {0, 1}}},  // negative padding crops
      {{1, 1, 37, 6}, 10, 1, 9, {.stride = {1, 4}, .pad_before = {0, 4}, .pad_after = {0, 3}}},
      {{1, 12, 12, 8},
       8,
       3,
       3,
       {.pad_before = {4, 4}, .pad_after = {4, 4}, .dilation = {4, 4}, .groups = 8}},
      {{1, 3, 3, 2},
       2,
       1,
       1,
       {.stride = {2, 2}, .pad_before = {5, 5}, .pad_after = {5, 5}}},  // whole windows of padding
  };
  unsigned seed = 1;
  for (const Case& c : cases) check(c, seed += 10);
}

TEST(Conv2dExecute, UsesOneDnnWhereItCountsAndLoopsElsewhere) {
  const std::vector<float> w(64 * 9 * 64, 0.5f);
  const Shape x{1, 8, 8, 64};
  EXPECT_TRUE(PreparedLayer(Conv2d{.pad_before = {1, 1}, .pad_after = {1, 1}}, x, {64, 3, 3, 64}, x,
                            w.data(), nullptr)
                  .uses_onednn());
  EXPECT_TRUE(PreparedLayer(Conv2d{.pad_before = {1, 1}, .pad_after = {1, 1}, .groups = 64}, x,
                            {64, 3, 3, 1}, x, w.data(), nullptr)
                  .uses_onednn());
  EXPECT_FALSE(PreparedLayer(Conv2d{.pad_before = {-1, 1}, .pad_after = {3, 1}}, x, {64, 3, 3, 64},
                             x, w.data(), nullptr)
                   .uses_onednn());
}

// Rows that are made as they are packed, in runs that end within a block of oneDNN's or at the last
// channel.
TEST(LayerWeight, RowsGiveTheBitsOfTheWhole) {
  const auto rows_of = [](const std::vector<float>& w, i64 row, i64& calls) {
    return LayerWeight::Rows([&w, row, &calls](i64 first, i64 count) {
      ++calls;
      return std::vector<float>(w.begin() + first * row, w.begin() + (first + count) * row);
    });
  };
  const auto same = [](const PreparedLayer& one, const PreparedLayer& other, const Shape& x,
                       i64 results) {
    const std::vector<float> data = random_floats(numel(x), 3);
    std::vector<float> a(static_cast<size_t>(results)), b(a);
    one.run(data.data(), a.data());
    other.run(data.data(), b.data());
    EXPECT_EQ(a, b);
  };
  for (const i64 inputs : {1 << 14, 5003}) {
    const Shape x{3, inputs}, shape{413, inputs};
    const std::vector<float> w = random_floats(numel(shape), 1), bias = random_floats(413, 2);
    i64 calls = 0;
    same({Linear{}, x, shape, w.data(), bias.data()},
         {Linear{}, x, shape, rows_of(w, inputs, calls), bias.data()}, x, 3 * 413);
    EXPECT_GT(calls, 1);
  }
  for (const Conv2d& a : {Conv2d{.pad_before = {1, 1}, .pad_after = {1, 1}},
                          Conv2d{.pad_before = {3, -1}, .pad_after = {-1, 3}}}) {
    const Shape x{1, 4, 3, 1100}, shape{141, 3, 3, 1100}, y{1, 4, 3, 141};
    const std::vector<float> w = random_floats(numel(shape), 1);
    i64 calls = 0;
    same({a, x, shape, y, w.data(), nullptr}, {a, x, shape, y, rows_of(w, 9900, calls), nullptr}, x,
         numel(y));
    EXPECT_GT(calls, 1);
  }
  const Conv2d depthwise{.pad_before = {1, 1}, .pad_after = {1, 1}, .groups = 64};
  const Shape x{1, 4, 3, 64};
  const std::vector<float> w = random_floats(64 * 9, 1);
  i64 calls = 0;
  same({depthwise, x, {64, 3, 3, 1}, x, w.data(), nullptr},
       {depthwise, x, {64, 3, 3, 1}, x, rows_of(w, 9, calls), nullptr}, x, numel(x));
}

TEST(LinearExecute, MatchesPlainSums) {
  unsigned seed = 5;
  for (const Shape& x :
       {Shape{1, 640}, Shape{3, 17}, Shape{2, 5, 9}, Shape{7}, Shape{2, 1, 3, 33}}) {
    for (const i64 outputs : {1, 10, 129}) {
      const i64 inputs = x.back(), rows = numel(x) / inputs;
      const std::vector<float> data = random_floats(numel(x), ++seed),
                               w = random_floats(outputs * inputs, ++seed),
                               b = random_floats(outputs, ++seed);
      const std::vector<float> y =
          run_op(Linear{{.low = -0.5f}}, {{x, data}, {{outputs, inputs}, w}, {{outputs}, b}});
      const std::vector<float> no_bias = run_op(Linear{}, {{x, data}, {{outputs, inputs}, w}});
      ASSERT_EQ(static_cast<i64>(y.size()), rows * outputs);
      for (i64 r = 0; r < rows; ++r)
        for (i64 o = 0; o < outputs; ++o) {
          double sum = 0, magnitude = std::abs(b[o]);
          for (i64 i = 0; i < inputs; ++i) {
            const double term = static_cast<double>(data[r * inputs + i]) * w[o * inputs + i];
            sum += term, magnitude += std::abs(term);
          }
          const double bound = magnitude * static_cast<double>(inputs + 1) * 0x1p-24;
          ASSERT_NEAR(y[r * outputs + o], std::max(-0.5, sum + b[o]), bound)
              << to_text(x) << " -> " << outputs;
          ASSERT_NEAR(no_bias[r * outputs + o], sum, bound);
        }
    }
  }
}

}  // namespace
}  // namespace deuteron
