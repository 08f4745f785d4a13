// SPDX-License-Identifier: Apache-2.0
// What picks, places, pads and rearranges elements, against values of torch 2.13: the input is 0,
// 1, 2, ... throughout.
#include <algorithm>
#include <functional>
#include <numeric>

#include "kernels/portable/one_call.h"

namespace deuteron {
namespace placing_test {
using namespace test;

constexpr ScalarType I = ScalarType::s32, L = ScalarType::s64;
const Sizes kSizes = {2, 3, 4};
using Ints = std::vector<int32_t>;

Ints count_up(int32_t n) {
  Ints v(static_cast<size_t>(n));
  std::iota(v.begin(), v.end(), 0);
  return v;
}

using Arguments = std::function<Ints(OneCall&)>;
struct Case {
  const char *name, *overload;
  Sizes in;
  Arguments arguments;
  Sizes out;
  Ints want;
};

TEST(PortablePlacing, ValuesOfTorch) {
  const Case cases[] = {
      {"constant_pad_nd",
       "out",
       kSizes,
       [](OneCall& p) {
         return Ints{p.ints({1, -1, 0, 2}), p.integer(-7)};
       },
       {2, 5, 4},
       {-7, 0,  1,  2,  -7, 4,  5,  6,  -7, 8,  9,  10, -7, -7, -7, -7, -7, -7, -7, -7,
        -7, 12, 13, 14, -7, 16, 17, 18, -7, 20, 21, 22, -7, -7, -7, -7, -7, -7, -7, -7}},
      {"replication_pad2d",
       "out",
       kSizes,
       [](OneCall& p) {
         return Ints{p.ints({1, -1, 0, 2})};
       },
       {2, 5, 4},
       {0,  0,  1,  2,  4,  4,  5,  6,  8,  8,  9,  10, 8,  8,  9,  10, 8,  8,  9,  10,
        12, 12, 13, 14, 16, 16, 17, 18, 20, 20, 21, 22, 20, 20, 21, 22, 20, 20, 21, 22}},
      {"reflection_pad1d",
       "out",
       {3, 4},
       [](OneCall& p) {
         return Ints{p.ints({3, 1})};
       },
       {3, 8},
       {3, 2, 1, 0, 1, 2, 3, 2, 7, 6, 5, 4, 5, 6, 7, 6, 11, 10, 9, 8, 9, 10, 11, 10}},
      {"roll",
       "out",
       kSizes,
       [](OneCall& p) {
         return Ints{p.ints({1, -3}), p.ints({1, 2})};
       },
       kSizes,
       {11, 8, 9, 10, 3, 0, 1, 2, 7, 4, 5, 6, 23, 20, 21, 22, 15, 12, 13, 14, 19, 16, 17, 18}},
      {"pixel_shuffle",
       "out",
       {1, 8, 2, 3},
       [](OneCall& p) { return Ints{p.integer(2)}; },
       {1, 2, 4, 6},
       {0,  6,  1,  7,  2,  8,  12, 18, 13, 19, 14, 20, 3,  9,  4,  10,
        5,  11, 15, 21, 16, 22, 17, 23, 24, 30, 25, 31, 26, 32, 36, 42,
        37, 43, 38, 44, 27, 33, 28, 34, 29, 35, 39, 45, 40, 46, 41, 47}},
      {"diagonal_copy",
       "out",
       kSizes,
       [](OneCall& p) {
         return Ints{p.integer(1), p.integer(2), p.integer(0)};
       },
       {3, 1},
       {12, 16, 20}},
      {"diagonal_copy",
       "out",
       kSizes,
       [](OneCall& p) {
         return Ints{p.integer(-1), p.integer(1), p.integer(2)};
       },
       {2, 2},
       {4, 9, 16, 21}},
      {"unfold_copy",
       "out",
       kSizes,
       [](OneCall& p) {
         return Ints{p.integer(1), p.integer(2), p.integer(1)};
       },
       {2, 2, 4, 2},
       {0,  4,  1,  5,  2,  6,  3,  7,  4,  8,  5,  9,  6,  10, 7,  11,
        12, 16, 13, 17, 14, 18, 15, 19, 16, 20, 17, 21, 18, 22, 19, 23}},
      {"transpose_copy",
       "int_out",
       {2, 3},
       [](OneCall& p) {
         return Ints{p.integer(0), p.integer(-1)};
       },
       {3, 2},
       {0, 3, 1, 4, 2, 5}},
      {"t_copy", "out", {2, 3}, [](OneCall&) { return Ints{}; }, {3, 2}, {0, 3, 1, 4, 2, 5}},
      {"squeeze_copy",
       "dim_out",
       {2, 1, 3},
       [](OneCall& p) { return Ints{p.integer(1)}; },
       {2, 3},
       {0, 1, 2, 3, 4, 5}},
      {"alias_copy", "out", {2, 3}, [](OneCall&) { return Ints{}; }, {2, 3}, {0, 1, 2, 3, 4, 5}},
      {"full_like",
       "out",
       {2, 3},
       [](OneCall& p) {
         return Ints{p.integer(9), p.none()};
       },
       {2, 3},
       {9, 9, 9, 9, 9, 9}},
      {"fill", "Scalar_out", {2}, [](OneCall& p) { return Ints{p.boolean(true)}; }, {2}, {1, 1}},
  };
  for (const Case& c : cases)
    for (const bool turned : {false, true}) {
      Order from = dense(c.in.size()), to = dense(c.out.size());
      if (turned)
        std::rotate(from.begin(), from.begin() + 1, from.end()), std::reverse(to.begin(), to.end());
      OneCall p;
      const int32_t x = p.in(I, c.in, from), y = p.out(I, c.out, to);
      Ints args = c.arguments(p);
      args.insert(args.begin(), x);
      args.insert(args.end(), {y, y});
      p.call(std::string("aten::") + c.name, c.overload, args);
      p.set(0, count_up(count_of(c.in)));
      p.run();
      EXPECT_EQ(p.get<int32_t>(), c.want) << c.name << (turned ? " turned" : "");
    }
}

const std::vector<int64_t> kIndex = {2, 0, 1, 0, 1, 1, 2, 0};

TEST(PortablePlacing, GatherAndScatter) {
  for (const Order& order : {Order{0, 1, 2}, Order{2, 0, 1}}) {
    OneCall p;
    const int32_t x = p.in(I, kSizes, order), index = p.in(L, {2, 1, 4}, {2, 1, 0}),
                  y = p.out(I, {2, 1, 4});
    p.call("aten::gather", {x, p.integer(1), index, p.boolean(false), y});
    p.set(0, count_up(24));
    p.set(1, kIndex);
    p.run();
    EXPECT_EQ(p.get<int32_t>(), (Ints{8, 1, 6, 3, 16, 17, 22, 15}));
    const std::vector<std::pair<const char*, Ints>> wants = {
        {"src_out", {0,  -1, 2,  -1, 4,  5,  -2, 7,  -3, 9,  10, 11,
                     12, 13, 14, -1, -2, -2, 18, 19, 20, 21, -3, 23}},
        {"value_out", {0,  -5, 2,  -5, 4,  5,  -5, 7,  -5, 9,  10, 11,
                       12, 13, 14, -5, -5, -5, 18, 19, 20, 21, -5, 23}},
        {"out", {0,  101, 2,  103, 4,   5,   206, 7,  308, 9,  10,  11,
                 12, 13,  14, 115, 216, 217, 18,  19, 20,  21, 322, 23}}};
    for (const auto& [overload, want] : wants) {
      const bool adds = std::string(overload) == "out",
                 number = std::string(overload) == "value_out";
      OneCall q;
      const int32_t u = q.in(I, kSizes, order), at = q.in(L, {2, 1, 4}),
                    source = q.in(I, {2, 1, 4}, {2, 0, 1}), v = q.out(I, kSizes, {1, 2, 0});
      q.call(adds ? "aten::scatter_add" : "aten::scatter", overload,
             {u, q.integer(-2), at, number ? q.integer(-5) : source, v, v});
      q.set(0, count_up(24));
      q.set(1, kIndex);
      Ints values(8);
      for (size_t i = 0; i < 8; ++i)
        values[i] = static_cast<int32_t>(adds ? 100 * (kIndex[i] + 1) : -kIndex[i] - 1);
      q.set(2, values);
      q.run();
      EXPECT_EQ(q.get<int32_t>(), want) << overload;
    }
  }
}

TEST(PortablePlacing, IndexByTensors) {
  for (const Order& order : {Order{0, 1, 2}, Order{2, 0, 1}}) {
    const auto of = [&](const std::function<Ints(int32_t a, int32_t b)>& list, const Sizes& out) {
      OneCall p;
      const int32_t x = p.in(I, kSizes, order), a = p.in(L, {3}), b = p.in(I, {2, 1}, {1, 0}),
                    y = p.out(I, out);
      p.call("aten::index", "Tensor_out", {x, p.optional_tensor_list(list(a, b)), y, y});
      p.set(0, count_up(24));
      p.set<int64_t>(1, {1, 0, -1});
      p.set<int32_t>(2, {2, 0});
      p.run();
      return p.get<int32_t>();
    };
    EXPECT_EQ(of(
                  [](int32_t a, int32_t b) {
                    return Ints{a, -1, b};
                  },
                  {2, 3, 3}),
              (Ints{14, 18, 22, 2, 6, 10, 14, 18, 22, 12, 16, 20, 0, 4, 8, 12, 16, 20}));
    EXPECT_EQ(of(
                  [](int32_t a, int32_t b) {
                    return Ints{-1, b, a};
                  },
                  {2, 2, 3}),
              (Ints{9, 8, 11, 1, 0, 3, 21, 20, 23, 13, 12, 15}));
    EXPECT_EQ(of(
                  [](int32_t a, int32_t) {
                    return Ints{-1, a};
                  },
                  {2, 3, 4}),
              (Ints{4,  5,  6,  7,  0,  1,  2,  3,  8,  9,  10, 11,
                    16, 17, 18, 19, 12, 13, 14, 15, 20, 21, 22, 23}));
  }
  OneCall p;
  const int32_t x = p.in(I, kSizes), a = p.in(L, {3}), b = p.in(L, {3}), values = p.in(I, {3, 1}),
                y = p.out(I, kSizes, {1, 0, 2});
  p.call("aten::index_put", {x, p.optional_tensor_list({a, b}), values, p.boolean(true), y});
  p.set(0, count_up(24));
  p.set<int64_t>(1, {0, 1, 0});
  p.set<int64_t>(2, {2, 0, 2});
  p.set<int32_t>(3, {100, 200, 300});
  p.run();
  EXPECT_EQ(p.get<int32_t>(), (Ints{0,   1,   2,   3,   4,  5,  6,  7,  408, 409, 410, 411,
                                    212, 213, 214, 215, 16, 17, 18, 19, 20,  21,  22,  23}));
}

TEST(PortablePlacing, WrittenOverTheInput) {
  OneCall p;
  const int32_t x = p.in(I, kSizes), at = p.in(L, {2, 1, 4}), from = p.in(I, {2, 1, 4}),
                y = p.out_over(0, I, kSizes);
  p.call("aten::scatter", "src_out", {x, p.integer(1), at, from, y, y});
  OneCall q;
  const int32_t u = q.in(I, kSizes), a = q.in(L, {2}), values = q.in(I, {3, 4}),
                v = q.out_over(0, I, kSizes);
  q.call("aten::index_put", {u, q.optional_tensor_list({a}), values, q.boolean(true), v});
  p.set(0, count_up(24)), q.set(0, count_up(24));
  p.set(1, kIndex), q.set<int64_t>(1, {1, 1});
  p.set<int32_t>(2, {-1, -2, -3, -4, -5, -6, -7, -8}), q.set(2, Ints(12, 100));
  p.run(), q.run();
  Ints want = count_up(24);
  for (size_t i = 0; i < 8; ++i) {
    const auto row = static_cast<size_t>(kIndex[i] < 0 ? kIndex[i] + 3 : kIndex[i]);
    want[i / 4 * 12 + row * 4 + i % 4] = -static_cast<int32_t>(i) - 1;
  }
  EXPECT_EQ(p.get<int32_t>(), want);
  want = count_up(24);
  for (size_t i = 12; i < 24; ++i) want[i] += 200;
  EXPECT_EQ(q.get<int32_t>(), want);

  // In another order, and over what is written or where.
  const auto refused = [](size_t over, const Sizes& sizes, Order order) {
    OneCall r;
    const int32_t in = r.in(I, sizes), index = r.in(I, sizes), source = r.in(I, sizes),
                  out = r.out_over(over, I, sizes, std::move(order));
    r.call("aten::scatter", "src_out", {in, r.integer(1), index, source, out, out});
    return r.refused();
  };
  EXPECT_EQ(refused(0, {2, 3}, {}), -1);
  EXPECT_EQ(refused(0, {2, 3}, {1, 0}), 0);
  EXPECT_EQ(refused(1, {2, 3}, {}), 0);
  EXPECT_EQ(refused(2, {2, 3}, {}), 0);
}

TEST(PortablePlacing, Embedding) {
  OneCall p;
  const int32_t w = p.in(I, {5, 3}, {1, 0}), index = p.in(L, {2, 2}, {1, 0}),
                y = p.out(I, {2, 2, 3}, {2, 0, 1});
  p.call("aten::embedding", {w, index, p.integer(-1), p.boolean(false), p.boolean(false), y});
  p.set(0, count_up(15));
  p.set<int64_t>(1, {4, 0, 2, 4});
  p.run();
  EXPECT_EQ(p.get<int32_t>(), (Ints{12, 13, 14, 0, 1, 2, 6, 7, 8, 12, 13, 14}));
}

// Indexes are data: whatever they are, nothing outside is touched.
TEST(PortablePlacing, WrongIndexesStayInside) {
  const std::vector<int64_t> wrong = {INT64_MIN, -4, 3, INT64_MAX, 1, -1, 1 << 30, 0};
  OneCall p;
  const int32_t x = p.in(I, kSizes), index = p.in(L, {2, 1, 4}), y = p.out(I, {2, 1, 4});
  p.call("aten::gather", {x, p.integer(1), index, p.boolean(false), y});
  p.set(0, count_up(24));
  p.set(1, wrong);
  p.run();
  EXPECT_EQ(p.get<int32_t>(), (Ints{0, 1, 10, 11, 16, 13, 22, 15}));
  OneCall q;
  const int32_t u = q.in(I, kSizes), at = q.in(L, {2, 1, 4}), v = q.out(I, kSizes);
  q.call("aten::scatter", "value_out", {u, q.integer(1), at, q.integer(-5), v, v});
  q.set(0, count_up(24));
  q.set(1, wrong);
  q.run();
  Ints want = count_up(24);
  want[16] = want[15] = -5;
  EXPECT_EQ(q.get<int32_t>(), want);
}

TEST(PortablePlacing, PiecesTogetherAndApart) {
  OneCall p;
  const int32_t a = p.in(I, {2, 3}), b = p.in(I, {2, 3}, {1, 0}),
                y = p.out(I, {2, 2, 3}, {2, 1, 0});
  p.call("aten::stack", {p.tensor_list({a, b}), p.integer(1), y});
  p.set(0, count_up(6));
  p.set(1, Ints{10, 11, 12, 13, 14, 15});
  p.run();
  EXPECT_EQ(p.get<int32_t>(), (Ints{0, 1, 2, 10, 11, 12, 3, 4, 5, 13, 14, 15}));
  OneCall q;
  const int32_t x = q.in(I, {2, 5}, {1, 0}), s = q.out(I, {2, 2}), t = q.out(I, {2, 2}, {1, 0}),
                u = q.out(I, {2, 1});
  const int32_t outs = q.tensor_list({s, t, u});
  q.call("aten::split_copy", "Tensor_out", {x, q.integer(2), q.integer(-1), outs, outs});
  q.set(0, count_up(10));
  q.run();
  EXPECT_EQ(q.get<int32_t>(0), (Ints{0, 1, 5, 6}));
  EXPECT_EQ(q.get<int32_t>(1), (Ints{2, 3, 7, 8}));
  EXPECT_EQ(q.get<int32_t>(2), (Ints{4, 9}));
  OneCall r;
  const int32_t x2 = r.in(I, {2, 5}, {1, 0}), source = r.in(I, {2, 2}), z = r.out(I, {2, 5});
  r.call("aten::slice_scatter",
         {x2, source, r.integer(1), r.integer(1), r.integer(-1), r.integer(2), z});
  r.set(0, count_up(10));
  r.set(1, Ints{-1, -2, -3, -4});
  r.run();
  EXPECT_EQ(r.get<int32_t>(), (Ints{0, -1, 2, -2, 4, 5, -3, 7, -4, 9}));
}

TEST(PortablePlacing, Refuses) {
  const auto refused = [](const char* name, const char* overload, const Arguments& arguments,
                          const Sizes& out, ScalarType type = I) {
    OneCall p;
    const int32_t x = p.in(I, kSizes), y = p.out(type, out);
    Ints args = arguments(p);
    args.insert(args.begin(), x);
    args.insert(args.end(), {y, y});
    p.call(std::string("aten::") + name, overload, args);
    return p.refused();
  };
  const auto pads = [](std::vector<int64_t> n) {
    return [n](OneCall& p) { return Ints{p.ints(n), p.integer(0)}; };
  };
  const auto mirror = [](std::vector<int64_t> n) {
    return [n](OneCall& p) { return Ints{p.ints(n)}; };
  };
  EXPECT_EQ(refused("constant_pad_nd", "out", pads({1, 1}), {2, 3, 6}), -1);
  EXPECT_EQ(refused("constant_pad_nd", "out", pads({1}), {2, 3, 6}), 1);
  EXPECT_EQ(refused("constant_pad_nd", "out", pads({-6, 6}), kSizes), 1);
  EXPECT_EQ(refused("constant_pad_nd", "out", pads({INT64_MAX, INT64_MAX}), kSizes), 1);
  EXPECT_EQ(refused("constant_pad_nd", "out", pads({1, 1}), {2, 3, 6}, L), 3);
  EXPECT_EQ(refused("reflection_pad2d", "out", mirror({4, 0, 0, 0}), {2, 3, 8}), 1);
  EXPECT_EQ(refused("reflection_pad3d", "out", mirror({0, 0, 0, 0, 0, 0}), kSizes), 0);
  EXPECT_EQ(refused(
                "roll", "out",
                [](OneCall& p) {
                  return Ints{p.ints({1}), p.ints({3})};
                },
                kSizes),
            2);
  EXPECT_EQ(
      refused("pixel_shuffle", "out", [](OneCall& p) { return Ints{p.integer(2)}; }, {1, 6, 8}), 2);
  EXPECT_EQ(refused(
                "t_copy", "out", [](OneCall&) { return Ints{}; }, kSizes),
            0);
  EXPECT_EQ(refused(
                "index", "Tensor_out",
                [](OneCall& p) {
                  return Ints{p.optional_tensor_list({-1, -1})};
                },
                kSizes),
            1);
  EXPECT_EQ(
      refused(
          "index", "Tensor_out",
          [](OneCall& p) { return Ints{p.optional_tensor_list({p.in(ScalarType::b8, {2})})}; },
          kSizes),
      1);
  EXPECT_EQ(refused(
                "index", "Tensor_out",
                [](OneCall& p) { return Ints{p.optional_tensor_list({p.in(L, {2})})}; }, kSizes, L),
            2);
  EXPECT_EQ(refused("gather", "out",
                    [](OneCall& p) {
                      return Ints{p.integer(1), p.in(L, {3, 1, 4}), p.boolean(false)};
                    },
                    {3, 1, 4}),
            2);
}

}  // namespace placing_test
}  // namespace deuteron
