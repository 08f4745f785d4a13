// SPDX-License-Identifier: Apache-2.0
// Portable arithmetic against loops over logical indexes, on shapes whose extents all differ and on
// mixed memory orders.
#include <cmath>
#include <functional>

#include "kernels/portable/one_call.h"

namespace deuteron {
namespace arithmetic_test {
using namespace test;

constexpr ScalarType F = ScalarType::f32;

// The element of a broadcast operand that belongs to an index of the out.
int32_t broadcast(const Sizes& index, const Sizes& sizes) {
  Sizes at(sizes.size());
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int32_t i = index[index.size() - sizes.size() + d];
    at[d] = sizes[d] == 1 ? 0 : i;
  }
  return flat(at, sizes);
}

TEST(PortableArithmetic, Broadcasting) {
  const Sizes out = {2, 3, 5, 4};
  const std::vector<std::pair<Sizes, Order>> operands = {{{2, 3, 5, 4}, {0, 2, 3, 1}},
                                                         {{1, 3, 1, 1}, {0, 2, 3, 1}},
                                                         {{5, 1}, {1, 0}},
                                                         {{}, {}},
                                                         {{2, 3, 5, 4}, {3, 0, 1, 2}},
                                                         {{4}, {0}}};
  uint32_t seed = 10;
  for (const auto& [a_sizes, a_order] : operands)
    for (const auto& [b_sizes, b_order] : operands)
      for (const char op : {'+', '-', '*', '/'}) {
        OneCall p;
        const int32_t a = p.in(F, a_sizes, a_order), b = p.in(F, b_sizes, b_order),
                      y = p.out(F, out, {0, 2, 3, 1});
        if (op == '+') p.call("aten::add", {a, b, p.real(0.5), y});
        if (op == '-') p.call("aten::sub", {a, b, p.integer(2), y});
        if (op == '*') p.call("aten::mul", {a, b, y});
        if (op == '/') p.call("aten::div", {a, b, y});
        const auto da = random_floats(static_cast<size_t>(count_of(a_sizes)), ++seed),
                   db = random_floats(static_cast<size_t>(count_of(b_sizes)), ++seed);
        p.set(0, da);
        p.set(1, db);
        p.run();
        const auto got = p.get<float>();
        for (int32_t i = 0; i < count_of(out); ++i) {
          const Sizes at = index_of(i, out);
          const float u = da[static_cast<size_t>(broadcast(at, a_sizes))],
                      v = db[static_cast<size_t>(broadcast(at, b_sizes))];
          const float want = op == '+'   ? u + 0.5f * v
                             : op == '-' ? u - 2 * v
                             : op == '*' ? u * v
                                         : u / v;
          if (std::isnan(want)) continue;
          ASSERT_EQ(got[static_cast<size_t>(i)], want) << op << " element " << i;
        }
      }
}

TEST(PortableArithmetic, Int64AndRefusals) {
  OneCall p;
  const int32_t a = p.in(ScalarType::s64, {3}), b = p.in(ScalarType::s64, {}),
                y = p.out(ScalarType::s64, {3});
  p.call("aten::add", {a, b, p.integer(-2), y});
  p.set<int64_t>(0, {1, INT64_MAX, -5});
  p.set<int64_t>(1, {-1});
  p.run();
  EXPECT_EQ(p.get<int64_t>(), (std::vector<int64_t>{3, INT64_MIN + 1, -3}))
      << "integers wrap as in torch";
  OneCall wide;
  const int32_t c = wide.in(F, {3, 2}), d = wide.in(F, {2}), z = wide.out(F, {2});
  wide.call("aten::mul", {c, d, z});
  EXPECT_EQ(wide.refused(), 0);
  OneCall narrow;
  const int32_t e = narrow.in(F, {3}), f = narrow.in(F, {2}), g = narrow.out(F, {3});
  narrow.call("aten::mul", {e, f, g});
  EXPECT_EQ(narrow.refused(), 1);
  OneCall fraction;
  const int32_t h = fraction.in(ScalarType::s32, {3}), k = fraction.out(ScalarType::s32, {3});
  fraction.call("aten::add", {h, h, fraction.real(0.5), k});
  EXPECT_EQ(fraction.refused(), 2);
}

TEST(PortableArithmetic, ClampFloatAndInt8) {
  OneCall p;
  const int32_t x = p.in(F, {2, 3}, {1, 0}), y = p.out(F, {2, 3}, {1, 0});
  p.call("aten::hardtanh", {x, p.integer(0), p.real(6), y});
  p.set<float>(0, {-1, 0, 6, 7, NAN, 3.5f});
  p.run();
  const auto got = p.get<float>();
  EXPECT_EQ(got[0], 0);
  EXPECT_EQ(got[3], 6);
  EXPECT_TRUE(std::isnan(got[4])) << "NaN passes";
  EXPECT_EQ(got[5], 3.5f);
  OneCall q;
  const int32_t a = q.in(ScalarType::s8, {5}), b = q.out(ScalarType::s8, {5});
  q.call("aten::clamp", {a, q.none(), q.integer(25), b});
  q.set<int8_t>(0, {-128, 24, 25, 26, 127});
  q.run();
  EXPECT_EQ(q.get<int8_t>(), (std::vector<int8_t>{-128, 24, 25, 25, 25}));
  OneCall order;
  const int32_t c = order.in(F, {2, 3}), d = order.out(F, {2, 3}, {1, 0});
  order.call("aten::clamp", {c, order.integer(0), order.none(), d});
  EXPECT_EQ(order.refused(), 3);
  OneCall range;
  const int32_t e = range.in(ScalarType::s8, {5}), f = range.out(ScalarType::s8, {5});
  range.call("aten::clamp", {e, range.integer(-200), range.integer(25), f});
  EXPECT_EQ(range.refused(), 1);
}

TEST(PortableArithmetic, ClampIntegersExactly) {
  constexpr int64_t kFar = (int64_t{1} << 53) + 1;  // no double has it
  OneCall p;
  const int32_t x = p.in(ScalarType::s64, {5}), y = p.out(ScalarType::s64, {5});
  p.call("aten::clamp", {x, p.integer(-kFar), p.integer(kFar), y});
  p.set<int64_t>(0, {INT64_MIN, -kFar + 1, 0, kFar - 1, INT64_MAX});
  p.run();
  EXPECT_EQ(p.get<int64_t>(), (std::vector<int64_t>{-kFar, -kFar + 1, 0, kFar - 1, kFar}));
  OneCall q;
  const int32_t a = q.in(ScalarType::s32, {3}), b = q.out(ScalarType::s32, {3});
  q.call("aten::clamp", {a, q.none(), q.integer(7), b});
  q.set<int32_t>(0, {INT32_MIN, 7, 8});
  q.run();
  EXPECT_EQ(q.get<int32_t>(), (std::vector<int32_t>{INT32_MIN, 7, 7}));
  OneCall half;
  const int32_t c = half.in(ScalarType::s64, {3}), d = half.out(ScalarType::s64, {3});
  half.call("aten::clamp", {c, half.real(0.5), half.none(), d});
  EXPECT_EQ(half.refused(), 1);
  OneCall far;
  const int32_t e = far.in(ScalarType::s32, {3}), f = far.out(ScalarType::s32, {3});
  far.call("aten::clamp", {e, far.none(), far.integer(kFar), f});
  EXPECT_EQ(far.refused(), 2);
}

TEST(PortableArithmetic, ReductionsOverEverySetOfDimensions) {
  const Sizes sizes = {2, 3, 4};
  const auto data = random_floats(24, 77);
  for (uint32_t dims = 1; dims < 8; ++dims)
    for (const bool keep : {false, true}) {
      Sizes out;
      std::vector<int64_t> named;
      for (int d = 0; d < 3; ++d) {
        if (dims >> d & 1) named.push_back(d % 2 ? d - 3 : d);
        if (!(dims >> d & 1) || keep)
          out.push_back(dims >> d & 1 ? 1 : sizes[static_cast<size_t>(d)]);
      }
      std::vector<double> sum(static_cast<size_t>(count_of(out))), largest(sum.size(), -1e9),
          square(sum.size());
      const int32_t n = 24 / count_of(out);
      const auto place = [&](int32_t i) {
        const Sizes at = index_of(i, sizes);
        Sizes to;
        for (size_t d = 0; d < 3; ++d)
          if (!(dims >> d & 1) || keep) to.push_back(dims >> d & 1 ? 0 : at[d]);
        return static_cast<size_t>(flat(to, out));
      };
      for (int32_t i = 0; i < 24; ++i) {
        sum[place(i)] += double{data[static_cast<size_t>(i)]};
        largest[place(i)] = std::max(largest[place(i)], double{data[static_cast<size_t>(i)]});
      }
      for (int32_t i = 0; i < 24; ++i)
        square[place(i)] += std::pow(double{data[static_cast<size_t>(i)]} - sum[place(i)] / n, 2);
      for (const char* op : {"sum", "mean", "amax", "var"}) {
        OneCall p;
        const int32_t x = p.in(F, sizes, {2, 0, 1}), y = p.out(F, out), list = p.ints(named),
                      kept = p.boolean(keep);
        const std::string name = op;
        if (name == "sum") p.call("aten::sum", "IntList_out", {x, list, kept, p.none(), y, y});
        if (name == "mean") p.call("aten::mean", {x, list, kept, p.none(), y});
        if (name == "amax") p.call("aten::amax", {x, list, kept, y});
        if (name == "var")
          p.call("aten::var", "correction_out", {x, list, p.integer(0), kept, y, y});
        p.set(0, data);
        p.run();
        const auto got = p.get<float>();
        for (size_t i = 0; i < got.size(); ++i) {
          const double want = name == "sum"    ? sum[i]
                              : name == "mean" ? sum[i] / n
                              : name == "amax" ? largest[i]
                                               : square[i] / n;
          ASSERT_NEAR(got[i], want, 1e-5 * (1 + std::fabs(want)))
              << op << " dims " << dims << " keep " << keep;
        }
      }
    }
}

TEST(PortableArithmetic, Argmax) {
  OneCall p;
  const int32_t x = p.in(F, {2, 3, 4}, {1, 2, 0}), y = p.out(ScalarType::s64, {2, 4});
  p.call("aten::argmax", {x, p.integer(1), p.boolean(false), y});
  auto data = random_floats(24, 5);
  data[0] = data[4] = 100;  // [0, 0, 0] and [0, 1, 0]: the first wins
  data[23] = NAN;           // [1, 2, 3]: NaN is the largest
  p.set(0, data);
  p.run();
  const auto got = p.get<int64_t>();
  EXPECT_EQ(got[0], 0);
  EXPECT_EQ(got[7], 2);
}

TEST(PortableArithmetic, MatrixProducts) {
  OneCall p;
  const int32_t bias = p.in(F, {5}), a = p.in(F, {3, 7}, {1, 0}), b = p.in(F, {7, 5}),
                y = p.out(F, {3, 5}, {1, 0});
  p.call("aten::addmm", {bias, a, b, p.real(2), p.real(0.5), y});
  const auto db = random_floats(5, 1), da = random_floats(21, 2), dw = random_floats(35, 3);
  p.set(0, db);
  p.set(1, da);
  p.set(2, dw);
  p.run();
  const auto got = p.get<float>();
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 5; ++j) {
      double want = 0;
      for (size_t k = 0; k < 7; ++k) want += double{da[i * 7 + k]} * double{dw[k * 5 + j]};
      EXPECT_NEAR(got[i * 5 + j], want * 0.5 + 2 * double{db[j]}, 1e-4);
    }
}

// y[n, o, oh, ow] by the definition, in double.
TEST(PortableArithmetic, ConvolutionGroupedDilatedTransposed) {
  struct Case {
    int n, c, h, w, o, kh, kw, groups, stride, pad, dilation, added;
    bool transposed;
  };
  uint32_t seed = 100;
  for (const Case& t : {Case{2, 3, 6, 5, 4, 3, 2, 1, 1, 0, 1, 0, false},
                        Case{1, 4, 7, 5, 6, 3, 3, 2, 2, 1, 1, 0, false},
                        Case{1, 6, 9, 8, 6, 2, 3, 6, 1, 2, 2, 0, false},
                        Case{2, 3, 4, 5, 2, 3, 2, 1, 2, 1, 1, 1, true},
                        Case{1, 4, 3, 5, 6, 2, 3, 2, 3, 0, 2, 0, true}}) {
    const int oh = t.transposed
                       ? (t.h - 1) * t.stride - 2 * t.pad + t.dilation * (t.kh - 1) + 1 + t.added
                       : (t.h + 2 * t.pad - t.dilation * (t.kh - 1) - 1) / t.stride + 1;
    const int ow = t.transposed
                       ? (t.w - 1) * t.stride - 2 * t.pad + t.dilation * (t.kw - 1) + 1 + t.added
                       : (t.w + 2 * t.pad - t.dilation * (t.kw - 1) - 1) / t.stride + 1;
    const Sizes xs = {t.n, t.c, t.h, t.w}, ys = {t.n, t.o, oh, ow};
    const Sizes ws = t.transposed ? Sizes{t.c, t.o / t.groups, t.kh, t.kw}
                                  : Sizes{t.o, t.c / t.groups, t.kh, t.kw};
    OneCall p;
    const int32_t x = p.in(F, xs, {0, 2, 3, 1}), w = p.in(F, ws), b = p.in(F, {t.o}),
                  y = p.out(F, ys, {0, 2, 3, 1});
    const auto two = [&](int v) { return p.ints({v, v}); };
    p.call("aten::convolution", {x, w, b, two(t.stride), two(t.pad), two(t.dilation),
                                 p.boolean(t.transposed), two(t.added), p.integer(t.groups), y});
    const auto dx = random_floats(static_cast<size_t>(count_of(xs)), ++seed),
               dw = random_floats(static_cast<size_t>(count_of(ws)), ++seed),
               db = random_floats(static_cast<size_t>(t.o), ++seed);
    p.set(0, dx);
    p.set(1, dw);
    p.set(2, db);
    p.run();
    std::vector<double> want(static_cast<size_t>(count_of(ys)));
    for (int32_t i = 0; i < count_of(ys); ++i)
      want[static_cast<size_t>(i)] = double{db[static_cast<size_t>(index_of(i, ys)[1])]};
    // Every product of an input with a tap lands on one output: (input position, tap) -> output
    // position.
    for (int32_t i = 0; i < count_of(xs); ++i)
      for (int32_t k = 0; k < count_of(ws); ++k) {
        const Sizes at = index_of(i, xs), tap = index_of(k, ws);
        const int per_in = t.c / t.groups, per_out = t.o / t.groups, group = at[1] / per_in;
        const int o = t.transposed ? group * per_out + tap[1] : tap[0];
        if (t.transposed ? tap[0] != at[1]
                         : (tap[0] / per_out != group || tap[1] != at[1] % per_in))
          continue;
        int h, v;
        if (t.transposed) {
          h = at[2] * t.stride + tap[2] * t.dilation - t.pad;
          v = at[3] * t.stride + tap[3] * t.dilation - t.pad;
        } else {
          h = at[2] + t.pad - tap[2] * t.dilation;
          v = at[3] + t.pad - tap[3] * t.dilation;
          if (h < 0 || v < 0 || h % t.stride || v % t.stride) continue;
          h /= t.stride;
          v /= t.stride;
        }
        if (h < 0 || h >= oh || v < 0 || v >= ow) continue;
        want[static_cast<size_t>(flat({at[0], o, h, v}, ys))] +=
            double{dx[static_cast<size_t>(i)]} * double{dw[static_cast<size_t>(k)]};
      }
    const auto got = p.get<float>();
    for (size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(got[i], want[i], 1e-3) << "case with " << t.groups << " groups, element " << i;
  }
}

TEST(PortableArithmetic, LayerNormAndLogSoftmax) {
  OneCall p;
  const int32_t x = p.in(F, {3, 5}), y = p.out(F, {3, 5}), mean = p.out(F, {3, 1}),
                inverse = p.out(F, {3, 1});
  p.call("aten::native_layer_norm", "out",
         {x, p.ints({5}), p.none(), p.none(), p.real(1e-5), y, mean, inverse,
          p.tensor_list({y, mean, inverse})});
  const auto data = random_floats(15, 9);
  p.set(0, data);
  p.run();
  OneCall q;
  const int32_t a = q.in(F, {3, 5}, {1, 0}), b = q.out(F, {3, 5});
  q.call("aten::_log_softmax", {a, q.integer(-1), q.boolean(false), b});
  q.set(0, data);
  q.run();
  for (size_t r = 0; r < 3; ++r) {
    double sum = 0, square = 0, exponentials = 0;
    for (size_t i = 0; i < 5; ++i)
      sum += double{data[r * 5 + i]}, exponentials += std::exp(double{data[r * 5 + i]});
    for (size_t i = 0; i < 5; ++i) square += std::pow(double{data[r * 5 + i]} - sum / 5, 2);
    for (size_t i = 0; i < 5; ++i) {
      EXPECT_NEAR(p.get<float>(0)[r * 5 + i],
                  (double{data[r * 5 + i]} - sum / 5) / std::sqrt(square / 5 + 1e-5), 1e-4);
      EXPECT_NEAR(q.get<float>()[r * 5 + i], double{data[r * 5 + i]} - std::log(exponentials),
                  1e-5);
    }
    EXPECT_NEAR(p.get<float>(1)[r], sum / 5, 1e-6);
  }
}

TEST(PortableArithmetic, AveragePoolCountsThePaddingOrNot) {
  for (const bool count_pad : {false, true}) {
    OneCall p;
    const int32_t x = p.in(F, {1, 1, 3, 5}), y = p.out(F, {1, 1, 2, 3});
    p.call("aten::avg_pool2d", {x, p.ints({2, 2}), p.ints({2, 2}), p.ints({1, 1}), p.boolean(false),
                                p.boolean(count_pad), p.none(), y});
    p.set<float>(0, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    p.run();
    EXPECT_EQ(p.get<float>(), count_pad ? (std::vector<float>{0.25f, 1.25f, 2.25f, 4.25f, 10, 12})
                                        : (std::vector<float>{1, 2.5f, 4.5f, 8.5f, 10, 12}));
  }
}

}  // namespace arithmetic_test
}  // namespace deuteron
