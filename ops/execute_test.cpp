// SPDX-License-Identifier: Apache-2.0
// Float execution of the operators that move, combine or window elements, against definitions
// written element by element.
#include "compile/calibrate/test_graph.h"

#include "compile/calibrate/samples.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Position of a flat index along each axis, and back.
Axes position(i64 at, const Shape& shape) {
  Axes p(shape.size());
  for (size_t k = shape.size(); k-- > 0; at /= shape[k]) p[k] = at % shape[k];
  return p;
}
i64 flat(const Axes& p, const Shape& shape) {
  i64 at = 0;
  for (size_t k = 0; k < shape.size(); ++k) at = at * shape[k] + p[k];
  return at;
}

TEST(Execute, AddAndMulBroadcast) {
  const std::tuple<Shape, Shape, Shape> cases[] = {
      {{2, 3, 5}, {2, 3, 5}, {2, 3, 5}},
      {{2, 3, 5}, {5}, {2, 3, 5}},
      {{5}, {2, 3, 5}, {2, 3, 5}},
      {{2, 1, 5}, {3, 1}, {2, 3, 5}},
      {{1, 4, 1, 7}, {6, 1, 3, 1}, {6, 4, 3, 7}},
      {{}, {3, 2}, {3, 2}},
      {{}, {}, {}},
      {{1}, {1, 1, 1}, {1, 1, 1}},
      {{2, 3, 4, 5, 6}, {4, 1, 6}, {2, 3, 4, 5, 6}},
  };
  unsigned seed = 0;
  for (const auto& [a_shape, b_shape, y_shape] : cases) {
    const std::vector<float> a = random_floats(numel(a_shape), ++seed),
                             b = random_floats(numel(b_shape), ++seed);
    const std::vector<float> sum = run_op(Add{{-0.25f, 0.5f}}, {{a_shape, a}, {b_shape, b}}),
                             product = run_op(Mul{}, {{a_shape, a}, {b_shape, b}});
    ASSERT_EQ(static_cast<i64>(sum.size()), numel(y_shape));
    for (i64 i = 0; i < numel(y_shape); ++i) {
      const auto pick = [&, &y_shape = y_shape](const std::vector<float>& data,
                                                const Shape& shape) {
        Axes p = position(i, y_shape);
        p.erase(p.begin(), p.end() - static_cast<i64>(shape.size()));
        for (size_t k = 0; k < shape.size(); ++k) p[k] = shape[k] == 1 ? 0 : p[k];
        return data[flat(p, shape)];
      };
      const float x = pick(a, a_shape), y = pick(b, b_shape);
      ASSERT_EQ(sum[i], std::min(0.5f, std::max(-0.25f, x + y)))
          << to_text(a_shape) << " + " << to_text(b_shape) << " at " << i;
      ASSERT_EQ(product[i], x * y);
    }
  }
}

TEST(Execute, PermuteOfAnyRank) {
  const std::pair<Shape, Axes> cases[] = {{{2, 3}, {1, 0}},
                                          {{2, 3, 4, 5}, {0, 2, 3, 1}},
                                          {{2, 3, 4, 5}, {3, 1, 0, 2}},
                                          {{2, 3, 4, 5, 6}, {4, 0, 3, 2, 1}},
                                          {{7}, {0}},
                                          {{1, 1, 6, 1}, {2, 3, 0, 1}},
                                          {{}, {}},
                                          {{2, 1, 3, 1, 2, 2}, {5, 4, 3, 2, 1, 0}}};
  for (const auto& [shape, perm] : cases) {
    const std::vector<float> x = random_floats(numel(shape), 3);
    const std::vector<float> y = run_op(Permute{perm}, {{shape, x}});
    Shape y_shape;
    for (const i64 axis : perm) y_shape.push_back(shape[axis]);
    for (i64 i = 0; i < numel(shape); ++i) {
      const Axes p = position(i, y_shape);
      Axes from(p.size());
      for (size_t k = 0; k < p.size(); ++k) from[perm[k]] = p[k];
      ASSERT_EQ(y[i], x[flat(from, shape)]) << to_text(shape) << " by " << to_text(perm);
    }
  }
}

TEST(Execute, PadGrowsAndCrops) {
  const std::tuple<Shape, Axes, Axes> cases[] = {
      {{2, 3, 4, 5}, {0, 1, 2, 0}, {0, 2, 1, 0}},
      {{4, 5}, {-1, 2}, {3, -2}},
      {{6}, {-2}, {-1}},
      {{3, 3}, {-5, 0}, {4, 1}},
      {{2, 3, 2, 3, 2}, {1, 0, 1, 0, 1}, {0, 1, -1, 1, 2}},
      {{}, {}, {}}};
  for (const auto& [shape, before, after] : cases) {
    const std::vector<float> x = random_floats(numel(shape), 4);
    Shape y_shape;
    for (size_t k = 0; k < shape.size(); ++k) y_shape.push_back(before[k] + shape[k] + after[k]);
    const std::vector<float> y = run_op(Pad{before, after, -7.5f}, {{shape, x}});
    for (i64 i = 0; i < numel(y_shape); ++i) {
      Axes p = position(i, y_shape);
      bool inside = true;
      for (size_t k = 0; k < p.size(); ++k) {
        p[k] -= before[k];
        inside = inside && p[k] >= 0 && p[k] < shape[k];
      }
      ASSERT_EQ(y[i], inside ? x[flat(p, shape)] : -7.5f)
          << to_text(shape) << " before " << to_text(before) << " at " << i;
    }
  }
}

TEST(Execute, SoftmaxOverAnyAxis) {
  for (const Shape& shape : {Shape{3, 5}, Shape{2, 7, 3}, Shape{4}, Shape{2, 3, 4, 5}}) {
    const std::vector<float> x = random_floats(numel(shape), 6, -30, 30);
    for (i64 axis = 0; axis < static_cast<i64>(shape.size()); ++axis) {
      const std::vector<float> y = run_op(Softmax{axis}, {{shape, x}});
      for (i64 i = 0; i < numel(shape); ++i) {
        double sum = 0;
        for (i64 k = 0; k < shape[axis]; ++k) {
          Axes p = position(i, shape);
          p[axis] = k;
          sum += std::exp(static_cast<double>(x[flat(p, shape)]) - x[i]);
        }
        // x - max is rounded once, at most 60 * 2^-24, and exp turns that into a relative error
        ASSERT_NEAR(y[i], 1 / sum, 70 * 0x1p-24 / sum + 1e-36)
            << to_text(shape) << " axis " << axis;
      }
    }
  }
  EXPECT_EQ(run_op(Softmax{0}, {{{3}, {1000, 1000, -1000}}}), (std::vector<float>{0.5f, 0.5f, 0}));
  EXPECT_TRUE(std::isnan(run_op(Softmax{0}, {{{2}, {std::nanf(""), 1}}})[1]));
}

TEST(Execute, ClampKeepsNaN) {
  const std::vector<float> y = run_op(Clamp{{0, 6}}, {{{5}, {-1, 3, 7, kInfinity, std::nanf("")}}});
  EXPECT_EQ(std::vector<float>(y.begin(), y.begin() + 4), (std::vector<float>{0, 3, 6, 6}));
  EXPECT_TRUE(std::isnan(y[4]));
}

TEST(Execute, BatchNormUsesTheLastAxis) {
  const Shape shape{2, 3, 4};
  const std::vector<float> x = random_floats(24, 1), w = random_floats(4, 2),
                           b = random_floats(4, 3), m = random_floats(4, 4),
                           v = random_floats(4, 5, 0.1f, 2);
  const std::vector<float> y =
      run_op(BatchNorm{0.01f}, {{shape, x}, {{4}, w}, {{4}, b}, {{4}, m}, {{4}, v}});
  for (size_t i = 0; i < 24; ++i) {
    const size_t c = i % 4;
    EXPECT_NEAR(y[i], (x[i] - m[c]) / std::sqrt(static_cast<double>(v[c]) + 0.01) * w[c] + b[c],
                2e-6);
  }
}

TEST(Execute, QuantizeRoundsAsQuantizeValue) {
  for (const auto& [scale, zero] :
       {std::pair{0.05f, 3}, {1.0f, -128}, {0.0371f, 127}, {1e-7f, 0}, {3e30f, -5}}) {
    std::vector<float> x = random_floats(500, 9, -300 * scale, 300 * scale);
    for (int k = -300; k < 300; ++k) x.push_back((static_cast<float>(k) + 0.5f) * scale);  // ties
    for (const float special :
         {kInfinity, -kInfinity, std::nanf(""), 0.0f, -0.0f, 3.4e38f, -3.4e38f, 1e-40f})
      x.push_back(special);
    for (const auto& [low, high] :
         {std::pair{-128, 127}, {-127, 127}, {-32768, 32767}, {-2147483647 - 1, 2147483647}}) {
      const std::vector<float> y =
          run_op(Quantize{per_tensor(scale, zero, low, high)}, {{{static_cast<i64>(x.size())}, x}});
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_EQ(y[i], scale * static_cast<float>(
                                    i64{quantize_value(x[i], scale, zero, low, high)} - zero))
            << x[i] << " scale " << scale << " zero " << zero;
    }
  }
}

TEST(Execute, QuantizePerChannel) {
  const Shape shape{2, 3, 5};
  const std::vector<float> x = random_floats(30, 11, -4, 4);
  Quant q{{0.1f, 0.5f, 0.02f}, {0, 3, -9}, 1, -128, 127};
  const std::vector<float> y = run_op(Quantize{q}, {{shape, x}});
  for (size_t i = 0; i < 30; ++i) {
    const size_t c = i / 5 % 3;
    EXPECT_EQ(y[i], q.scale[c] * static_cast<float>(
                                     quantize_value(x[i], q.scale[c], q.zero_point[c], -128, 127) -
                                     q.zero_point[c]));
  }
}

struct Pooling {
  Shape x;
  HW kernel, stride, pad;
  bool ceil, include;
  i64 divisor;
};

// Every output from PyTorch's documentation: the window begins at -pad, is cut at extent + pad;
// zeros in the padding.
TEST(Execute, AveragePoolMatchesItsDefinition) {
  const Pooling cases[] = {{{2, 7, 9, 3}, {3, 2}, {2, 2}, {1, 1}, false, true, 0},
                           {{1, 7, 9, 3}, {3, 2}, {2, 2}, {1, 1}, true, true, 0},
                           {{1, 7, 8, 5}, {3, 3}, {2, 2}, {1, 1}, true, false, 0},
                           {{1, 25, 5, 64}, {25, 5}, {25, 5}, {0, 0}, false, false, 0},
                           {{3, 6, 5, 2}, {2, 3}, {2, 3}, {0, 1}, true, true, 5},
                           {{1, 5, 5, 4}, {2, 2}, {3, 3}, {0, 0}, true, true, 0}};
  for (const Pooling& c : cases) {
    const std::vector<float> x = random_floats(numel(c.x), 21);
    const AvgPool2d op{c.kernel, c.stride, c.pad, c.ceil, c.include, c.divisor};
    const Type type{DType::f32, c.x, {}};
    const Type* pointer = &type;
    const Shape y_shape = (*infer(op, TypeView({&pointer, 1})))[0].shape;
    const std::vector<float> y = run_op(op, {{c.x, x}});
    for (i64 i = 0; i < numel(y_shape); ++i) {
      const Axes p = position(i, y_shape);
      double sum = 0;
      i64 inside = 0, window = 0;
      for (i64 kh = 0; kh < c.kernel.h; ++kh)
        for (i64 kw = 0; kw < c.kernel.w; ++kw) {
          const i64 h = p[1] * c.stride.h - c.pad.h + kh, w = p[2] * c.stride.w - c.pad.w + kw;
          if (h >= c.x[1] + c.pad.h || w >= c.x[2] + c.pad.w) continue;
          ++window;
          if (h < 0 || w < 0 || h >= c.x[1] || w >= c.x[2]) continue;
          ++inside;
          sum += x[flat({p[0], h, w, p[3]}, c.x)];
        }
      const i64 count = c.divisor ? c.divisor : c.include ? window : inside;
      ASSERT_NEAR(y[i], sum / static_cast<double>(count), 1e-5)
          << to_text(c.x) << " at " << to_text(p);
    }
  }
}

TEST(Execute, MaxPoolMatchesItsDefinition) {
  const std::tuple<Shape, MaxPool2d> cases[] = {
      {{2, 7, 9, 3}, {.kernel = {3, 2}, .stride = {2, 1}, .pad = {1, 1}}},
      {{1, 9, 11, 5}, {.kernel = {3, 3}, .stride = {2, 2}, .pad = {0, 1}, .dilation = {2, 3}}},
      {{3, 8, 8, 4}, {.kernel = {1, 1}, .stride = {2, 2}, .bounds = {.low = 0}}},
      {{1, 6, 7, 2}, {.kernel = {2, 3}, .stride = {2, 2}, .ceil_mode = true}}};
  for (const auto& [shape, op] : cases) {
    const std::vector<float> x = random_floats(numel(shape), 22);
    const Type type{DType::f32, shape, {}};
    const Type* pointer = &type;
    const Shape y_shape = (*infer(op, TypeView({&pointer, 1})))[0].shape;
    const std::vector<float> y = run_op(op, {{shape, x}});
    for (i64 i = 0; i < numel(y_shape); ++i) {
      const Axes p = position(i, y_shape);
      float most = -kInfinity;
      for (i64 kh = 0; kh < op.kernel.h; ++kh)
        for (i64 kw = 0; kw < op.kernel.w; ++kw) {
          const i64 h = p[1] * op.stride.h - op.pad.h + kh * op.dilation.h,
                    w = p[2] * op.stride.w - op.pad.w + kw * op.dilation.w;
          if (h >= 0 && w >= 0 && h < shape[1] && w < shape[2])
            most = std::max(most, x[flat({p[0], h, w, p[3]}, shape)]);
        }
      ASSERT_EQ(y[i], std::clamp(most, op.bounds.low, op.bounds.high))
          << to_text(shape) << " at " << to_text(p);
    }
  }
  const std::vector<float> y = run_op(MaxPool2d{.kernel = {1, 2}, .stride = {1, 1}},
                                      {{{1, 1, 3, 1}, {std::nanf(""), 5, 1}}});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 5);
}

TEST(Execute, SamplesReachStorageOrderAndComeBack) {
  const Port port{0, "x", {0, 2, 3, 1}};
  const Shape storage{2, 3, 4, 5};
  EXPECT_EQ(logical_shape(port, storage), (Shape{2, 5, 3, 4}));
  const std::vector<float> user = random_floats(120, 8);
  const std::vector<float> stored = to_storage(port, storage, user);
  for (i64 n = 0; n < 2; ++n)
    for (i64 c = 0; c < 5; ++c)
      for (i64 h = 0; h < 3; ++h)
        for (i64 w = 0; w < 4; ++w)
          EXPECT_EQ(stored[flat({n, h, w, c}, storage)], user[flat({n, c, h, w}, {2, 5, 3, 4})]);
  EXPECT_EQ(to_user(port, storage, stored), user);
  EXPECT_EQ(to_user({0, "s", {}}, {}, std::vector<float>{4}), std::vector<float>{4});
}

}  // namespace
}  // namespace deuteron
