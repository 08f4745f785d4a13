// SPDX-License-Identifier: Apache-2.0
// Reductions, what goes along one dimension, products and normalisation against values of
// torch 2.13, in several memory orders.
#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/portable/one_call.h"

namespace deuteron {
namespace reductions_test {
using namespace test;

constexpr ScalarType F = ScalarType::f32, I = ScalarType::s32, L = ScalarType::s64,
                     B = ScalarType::b8;
const Sizes kSizes = {2, 3, 4};
const std::vector<float> kX = {0.75f,  -0.25f, 1,     0.25f, 1.25f, -2.25f, 0.5f,  1.5f,
                               -1.25f, 0.75f,  1.25f, -2,    2.25f, 1.75f,  2.25f, -0.75f,
                               0.5f,   -0.75f, 2,     1,     1.5f,  0.5f,   -1.5f, 1};
const Order kOrders[] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}};

void expect_close(const std::vector<float>& got, const std::vector<float>& want,
                  const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-6 * std::max(1.0f, std::fabs(want[i])))
        << what << " element " << i;
}

using Arguments = std::function<std::vector<int32_t>(OneCall&)>;
std::vector<int32_t> between(OneCall& p, int32_t x, const Arguments& arguments,
                             const std::vector<int32_t>& outs) {
  std::vector<int32_t> all = arguments(p);
  all.insert(all.begin(), x);
  all.insert(all.end(), outs.begin(), outs.end());
  all.push_back(outs.size() == 1 ? outs[0] : p.tensor_list(outs));
  return all;
}

// name.overload of kX with these arguments; the second out, if any, holds int64 or floats.
struct Case {
  const char *name, *overload;
  Arguments arguments;
  Sizes out;
  std::vector<float> want;
  std::vector<int64_t> positions;
  std::vector<float> second;
};

// Of equal elements torch may name any; here it is the first.
TEST(PortableReductions, ValuesOfTorch) {
  const Case cases[] = {
      {"_softmax",
       "out",
       [](OneCall& p) {
         return std::vector<int32_t>{p.integer(1), p.boolean(false)};
       },
       kSizes,
       {0.3591881f, 0.2594965f, 0.3459542f,  0.2175927f,  0.5922011f,  0.03511903f,
        0.2098318f, 0.7594732f, 0.04861082f, 0.7053845f,  0.444214f,   0.0229341f,
        0.6074816f, 0.7306791f, 0.5548409f,  0.07994113f, 0.1055645f,  0.0599778f,
        0.4321105f, 0.4600294f, 0.286954f,   0.2093431f,  0.01304861f, 0.4600294f},
       {},
       {}},
      {"_log_softmax",
       "out",
       [](OneCall& p) {
         return std::vector<int32_t>{p.integer(-1), p.boolean(false)};
       },
       kSizes,
       {-1.181247f,  -2.181247f,  -0.9312472f, -1.681247f, -1.024818f,  -4.524818f,
        -1.774818f,  -0.7748184f, -3.046612f,  -1.046612f, -0.5466115f, -3.796612f,
        -0.9769409f, -1.476941f,  -0.9769409f, -3.976941f, -2.003763f,  -3.253763f,
        -0.5037632f, -1.503763f,  -0.7051732f, -1.705173f, -3.705173f,  -1.205173f},
       {},
       {}},
      {"cumsum",
       "out",
       [](OneCall& p) {
         return std::vector<int32_t>{p.integer(1), p.none()};
       },
       kSizes,
       {0.75f, -0.25f, 1,     0.25f,  2,     -2.5f, 1.5f,  1.75f, 0.75f, -1.75f, 2.75f, -0.25f,
        2.25f, 1.75f,  2.25f, -0.75f, 2.75f, 1,     4.25f, 0.25f, 4.25f, 1.5f,   2.75f, 1.25f},
       {},
       {}},
      {"topk",
       "values",
       [](OneCall& p) {
         return std::vector<int32_t>{p.integer(2), p.integer(1), p.boolean(true), p.boolean(true)};
       },
       {2, 2, 4},
       {1.25f, 0.75f, 1.25f, 1.5f, 0.75f, -0.25f, 1, 0.25f, 2.25f, 1.75f, 2.25f, 1, 1.5f, 0.5f, 2,
        1},
       {1, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 1, 2},
       {}},
      {"topk",
       "values",
       [](OneCall& p) {
         return std::vector<int32_t>{p.integer(3), p.integer(-1), p.boolean(false),
                                     p.boolean(true)};
       },
       {2, 3, 3},
       {-0.25f, 0.25f, 0.75f, -2.25f, 0.5f, 1.25f, -2, -1.25f, 0.75f, -0.75f, 1.75f, 2.25f, -0.75f,
        0.5f, 1, -1.5f, 0.5f, 1},
       {1, 3, 0, 1, 2, 0, 3, 0, 1, 3, 1, 0, 1, 0, 3, 2, 1, 3},
       {}},
      {"glu",
       "out",
       [](OneCall& p) { return std::vector<int32_t>{p.integer(2)}; },
       {2, 3, 2},
       {0.5482939f, -0.1405441f, 0.7780742f, -1.839543f, -0.9716248f, 0.08940219f, 2.035464f,
        0.5614373f, 0.4403985f, -0.5482939f, 0.2736383f, 0.3655293f},
       {},
       {}},
      {"amin",
       "out",
       [](OneCall& p) {
         return std::vector<int32_t>{p.ints({1}), p.boolean(false)};
       },
       {2, 4},
       {-1.25f, -2.25f, 0.5f, -2, 0.5f, -0.75f, -1.5f, -0.75f},
       {},
       {}},
      {"max",
       "dim_max",
       [](OneCall& p) {
         return std::vector<int32_t>{p.integer(1), p.boolean(true)};
       },
       {2, 1, 4},
       {1.25f, 0.75f, 1.25f, 1.5f, 2.25f, 1.75f, 2.25f, 1},
       {1, 2, 2, 1, 0, 0, 0, 1},
       {}},
      {"min",
       "dim_min",
       [](OneCall& p) {
         return std::vector<int32_t>{p.integer(-1), p.boolean(false)};
       },
       {2, 3},
       {-0.25f, -2.25f, -2, -0.75f, -0.75f, -1.5f},
       {1, 1, 3, 3, 1, 2},
       {}},
      {"max", "unary_out", [](OneCall&) { return std::vector<int32_t>{}; }, {}, {2.25f}, {}, {}},
      {"min", "unary_out", [](OneCall&) { return std::vector<int32_t>{}; }, {}, {-2.25f}, {}, {}},
      {"prod",
       "int_out",
       [](OneCall& p) {
         return std::vector<int32_t>{p.integer(1), p.boolean(false), p.none()};
       },
       {2, 4},
       {-1.171875f, 0.421875f, 0.625f, -0.75f, 1.6875f, -0.65625f, -6.75f, -0.75f},
       {},
       {}},
      {"mean",
       "dtype_out",
       [](OneCall& p) { return std::vector<int32_t>{p.none()}; },
       {},
       {0.46875f},
       {},
       {}},
      {"var",
       "out",
       [](OneCall& p) {
         return std::vector<int32_t>{p.ints({0, 2}), p.boolean(true), p.boolean(false)};
       },
       {3},
       {1.266741f, 1.882812f, 1.918527f},
       {},
       {}},
      {"var_mean",
       "correction_out",
       [](OneCall& p) {
         return std::vector<int32_t>{p.ints({0, 2}), p.integer(1), p.boolean(true)};
       },
       {1, 3, 1},
       {1.266741f, 1.882812f, 1.918527f},
       {},
       {0.90625f, 0.46875f, 0.03125f}},
  };
  for (const Case& c : cases)
    for (const Order& from : kOrders)
      for (const Order& to : kOrders) {
        OneCall p;
        Order order = c.out.size() == 3 ? to : dense(c.out.size());
        if (c.out.size() == 2 && to[0] != 0) order = {1, 0};
        const int32_t x = p.in(F, kSizes, from);
        std::vector<int32_t> outs = {p.out(F, c.out, order)};
        if (!c.positions.empty()) outs.push_back(p.out(L, c.out));
        if (!c.second.empty()) outs.push_back(p.out(F, c.out));
        p.call(std::string("aten::") + c.name, c.overload, between(p, x, c.arguments, outs));
        p.set(0, kX);
        p.run();
        expect_close(p.get<float>(), c.want, c.name);
        if (!c.positions.empty()) { EXPECT_EQ(p.get<int64_t>(1), c.positions) << c.name; }
        if (!c.second.empty()) expect_close(p.get<float>(1), c.second, c.name);
      }
}

TEST(PortableReductions, PositionOfTheSmallest) {
  OneCall p;
  const int32_t x = p.in(F, kSizes, {2, 0, 1}), y = p.out(L, {2, 3});
  p.call("aten::argmin", {x, p.integer(2), p.boolean(false), y});
  p.set(0, kX);
  p.run();
  EXPECT_EQ(p.get<int64_t>(), (std::vector<int64_t>{1, 1, 3, 3, 1, 2}));
  OneCall q;
  const int32_t u = q.in(F, {4}), v = q.out(L, {});
  q.call("aten::argmin", {u, q.none(), q.boolean(false), v});
  q.set<float>(0, {1, NAN, -5, NAN});
  q.run();
  EXPECT_EQ(q.get<int64_t>()[0], 1);
}

// As a stable sort orders them; NaN is larger than all.
TEST(PortableReductions, TheFirstFewOfManyEqualOnes) {
  constexpr int32_t kCount = 37;
  std::vector<float> x = random_floats(kCount, 5);
  for (size_t k = 0; k < x.size(); ++k) x[k] = k % 7 == 3 ? NAN : std::trunc(x[k]);
  for (const bool largest : {true, false}) {
    std::vector<int64_t> order(kCount);
    for (int64_t k = 0; k < kCount; ++k) order[static_cast<size_t>(k)] = k;
    const auto rank = [&](int64_t k) {
      return std::isnan(x[static_cast<size_t>(k)]) ? 1000.0f : x[static_cast<size_t>(k)];
    };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return largest ? rank(a) > rank(b) : rank(a) < rank(b);
    });
    for (int32_t count = 1; count <= kCount; ++count) {
      OneCall p;
      const int32_t in = p.in(F, {kCount}), y = p.out(F, {count}), z = p.out(L, {count});
      p.call("aten::topk", "values",
             {in, p.integer(count), p.integer(0), p.boolean(largest), p.boolean(true), y, z,
              p.tensor_list({y, z})});
      p.set(0, x);
      p.run();
      EXPECT_EQ(p.get<int64_t>(1), std::vector<int64_t>(order.begin(), order.begin() + count))
          << count;
      const std::vector<float> values = p.get<float>();
      for (size_t k = 0; k < values.size(); ++k) {
        const float wanted = x[static_cast<size_t>(order[k])];
        EXPECT_TRUE(values[k] == wanted || (std::isnan(values[k]) && std::isnan(wanted)))
            << count << ", " << k;
      }
    }
  }
}

// Beyond what a float or a double could hold.
TEST(PortableReductions, Integers) {
  const int64_t large = (int64_t{1} << 53) + 1;
  const auto of = [&](const char* name, const char* overload, const Arguments& arguments,
                      ScalarType type) {
    OneCall p;
    const int32_t x = p.in(L, {4}), y = p.out(type, {});
    p.call(std::string("aten::") + name, overload, between(p, x, arguments, {y}));
    p.set<int64_t>(0, {large - 1, -3, large, 2});
    p.run();
    return p.get<int64_t>()[0];
  };
  EXPECT_EQ(of(
                "amax", "out",
                [](OneCall& p) {
                  return std::vector<int32_t>{p.ints({0}), p.boolean(false)};
                },
                L),
            large);
  EXPECT_EQ(of(
                "amin", "out",
                [](OneCall& p) {
                  return std::vector<int32_t>{p.ints({}), p.boolean(false)};
                },
                L),
            -3);
  EXPECT_EQ(of(
                "argmax", "out",
                [](OneCall& p) {
                  return std::vector<int32_t>{p.none(), p.boolean(false)};
                },
                L),
            2);
  EXPECT_EQ(of(
                "sum", "IntList_out",
                [](OneCall& p) {
                  return std::vector<int32_t>{p.none(), p.boolean(false), p.none()};
                },
                L),
            2 * large - 2);
  OneCall p;
  const int32_t x = p.in(I, {4}), y = p.out(L, {});
  p.call("aten::prod", {x, p.none(), y});
  p.set<int32_t>(0, {1 << 20, -3, 1 << 20, 2});
  p.run();
  EXPECT_EQ(p.get<int64_t>()[0], -6 * (int64_t{1} << 40));
}

TEST(PortableReductions, Any) {
  const auto of = [](const char* overload, const Arguments& arguments, const Sizes& out) {
    OneCall p;
    const int32_t x = p.in(F, {2, 3}, {1, 0}), y = p.out(B, out);
    p.call("aten::any", overload, between(p, x, arguments, {y}));
    p.set<float>(0, {0, 0, 0, 0, NAN, 0.25f});
    p.run();
    return p.get<uint8_t>();
  };
  using Bytes = std::vector<uint8_t>;
  EXPECT_EQ(of("out",
               [](OneCall& p) {
                 return std::vector<int32_t>{p.integer(0), p.boolean(false)};
               },
               {3}),
            (Bytes{0, 1, 1}));
  EXPECT_EQ(of("dims_out",
               [](OneCall& p) {
                 return std::vector<int32_t>{p.ints({1}), p.boolean(true)};
               },
               {2, 1}),
            (Bytes{0, 1}));
  EXPECT_EQ(of("dims_out",
               [](OneCall& p) {
                 return std::vector<int32_t>{p.ints({}), p.boolean(true)};
               },
               {2, 3}),
            (Bytes{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(of("dims_out",
               [](OneCall& p) {
                 return std::vector<int32_t>{p.none(), p.boolean(false)};
               },
               {}),
            Bytes{1});
  EXPECT_EQ(of("all_out", [](OneCall&) { return std::vector<int32_t>{}; }, {}), Bytes{1});
}

TEST(PortableReductions, GroupNorm) {
  OneCall p;
  const int32_t x = p.in(F, {2, 6, 2}), w = p.in(F, {6}), b = p.in(F, {6}), y = p.out(F, {2, 6, 2}),
                mean = p.out(F, {2, 3}), inverse = p.out(F, {2, 3});
  p.call("aten::native_group_norm", "out",
         {x, w, b, p.integer(2), p.integer(6), p.integer(2), p.integer(3), p.real(1e-5), y, mean,
          inverse, p.tensor_list({y, mean, inverse})});
  p.set(0, kX);
  p.set<float>(1, {1, 2, 0.5f, -1, 3, 1});
  p.set<float>(2, {0, 1, -1, 0.5f, 2, 0});
  p.run();
  expect_close(p.get<float>(),
               {0.6509304f,  -1.432047f,  3.34335f,     0.2188835f, -0.6643282f, -1.839179f,
                0.3321641f,  -0.3391795f, -0.08234595f, 4.359992f,  1.156859f,   -1.249408f,
                0.7035242f,  0.3015104f,  2.407048f,    -2.417118f, -1.094679f,  -1.72587f,
                -0.8255015f, 0.1844044f,  4.963624f,    2.329292f,  -1.646458f,  0.5488192f},
               "group norm");
  EXPECT_NEAR(p.get<float>(1)[0], 0.4375, 1e-6);
}

TEST(PortableReductions, BatchedProductsAndLinear) {
  const Sizes xs = {2, 3, 5}, ws = {2, 5, 4}, ys = {2, 3, 4};
  const auto dx = random_floats(30, 1), dw = random_floats(40, 2), db = random_floats(4, 3);
  OneCall p;
  const int32_t a = p.in(F, xs, {0, 2, 1}), b = p.in(F, ws, {1, 2, 0}), y = p.out(F, ys, {2, 1, 0});
  p.call("aten::bmm", {a, b, y});
  p.set(0, dx);
  p.set(1, dw);
  p.run();
  OneCall q;
  const int32_t u = q.in(F, xs), w = q.in(F, {4, 5}, {1, 0}), c = q.in(F, {4}), v = q.out(F, ys);
  q.call("aten::linear", {u, w, c, v});
  q.set(0, dx);
  q.set(1, std::vector<float>(dw.begin(), dw.begin() + 20));
  q.set(2, db);
  q.run();
  for (int32_t i = 0; i < 24; ++i) {
    const Sizes at = index_of(i, ys);
    double product = 0, linear = double{db[static_cast<size_t>(at[2])]};
    for (int32_t k = 0; k < 5; ++k) {
      const double left = double{dx[static_cast<size_t>(flat({at[0], at[1], k}, xs))]};
      product += left * double{dw[static_cast<size_t>(flat({at[0], k, at[2]}, ws))]};
      linear += left * double{dw[static_cast<size_t>(at[2] * 5 + k)]};
    }
    EXPECT_NEAR(p.get<float>()[static_cast<size_t>(i)], product, 1e-4);
    EXPECT_NEAR(q.get<float>()[static_cast<size_t>(i)], linear, 1e-4);
  }
}

TEST(PortableReductions, Refuses) {
  const auto refused = [](const char* name, const char* overload, ScalarType from,
                          const Arguments& arguments,
                          const std::vector<std::pair<ScalarType, Sizes>>& outs) {
    OneCall p;
    const int32_t x = p.in(from, kSizes);
    std::vector<int32_t> ys;
    for (const auto& [type, sizes] : outs) ys.push_back(p.out(type, sizes));
    p.call(std::string("aten::") + name, overload, between(p, x, arguments, ys));
    return p.refused();
  };
  const auto dim = [](int64_t d) {
    return [d](OneCall& p) { return std::vector<int32_t>{p.integer(d), p.boolean(false)}; };
  };
  EXPECT_EQ(refused("_softmax", "out", F, dim(3), {{F, kSizes}}), 1);
  EXPECT_EQ(refused("_softmax", "out", L, dim(1), {{F, kSizes}}), 0);
  EXPECT_EQ(refused("_softmax", "out", F, dim(1), {{F, {2, 3, 5}}}), 3);
  EXPECT_EQ(refused("max", "dim_max", F, dim(1), {{F, {2, 4}}, {I, {2, 4}}}), 4);
  EXPECT_EQ(refused("max", "dim_max", F, dim(1), {{I, {2, 4}}, {L, {2, 4}}}), 3);
  EXPECT_EQ(refused("max", "dim_max", F, dim(1), {{F, {2, 4}}, {L, {2, 3}}}), 4);
  EXPECT_EQ(refused("max", "dim_max", F, dim(-4), {{F, {2, 4}}, {L, {2, 4}}}), 1);
  EXPECT_EQ(refused("any", "out", F, dim(1), {{F, {2, 4}}}), 3);
  EXPECT_EQ(refused("prod", "int_out", F,
                    [](OneCall& p) {
                      return std::vector<int32_t>{p.integer(1), p.boolean(false), p.none()};
                    },
                    {{I, {2, 4}}}),
            4);
  EXPECT_EQ(refused("cumsum", "out", F,
                    [](OneCall& p) {
                      return std::vector<int32_t>{p.integer(1), p.none()};
                    },
                    {{L, kSizes}}),
            3);
  EXPECT_EQ(refused("glu", "out", F, [](OneCall& p) { return std::vector<int32_t>{p.integer(1)}; },
                    {{F, {2, 1, 4}}}),
            2);
  const auto top = [](int64_t k) {
    return [k](OneCall& p) {
      return std::vector<int32_t>{p.integer(k), p.integer(1), p.boolean(true), p.boolean(true)};
    };
  };
  EXPECT_EQ(refused("topk", "values", F, top(4), {{F, {2, 4, 4}}, {L, {2, 4, 4}}}), 1);
  EXPECT_EQ(refused("topk", "values", F, top(2), {{F, {2, 3, 4}}, {L, {2, 3, 4}}}), 5);
  EXPECT_EQ(refused("topk", "values", F, top(2), {{F, {2, 2, 4}}, {L, {2, 3, 4}}}), 6);
  EXPECT_EQ(refused("topk", "values", F, top(2), {{F, {2, 2, 4}}, {I, {2, 2, 4}}}), 6);
  OneCall p;
  const int32_t a = p.in(F, {2, 3, 5}), b = p.in(F, {3, 5, 4}), y = p.out(F, {2, 3, 4});
  p.call("aten::bmm", {a, b, y});
  EXPECT_EQ(p.refused(), 1);
  OneCall q;
  const int32_t u = q.in(F, {2, 5}), w = q.in(F, {4, 5}), c = q.in(F, {5}), v = q.out(F, {2, 4});
  q.call("aten::linear", {u, w, c, v});
  EXPECT_EQ(q.refused(), 2);
}

}  // namespace reductions_test
}  // namespace deuteron
