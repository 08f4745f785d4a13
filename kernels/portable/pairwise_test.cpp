// SPDX-License-Identifier: Apache-2.0
// Operators of two operands against torch 2.13's values and definitions, on tensors of several
// dtypes and memory orders and on numbers.
#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/portable/one_call.h"

namespace deuteron {
namespace pairwise_test {
using namespace test;

constexpr ScalarType F = ScalarType::f32, I = ScalarType::s32, L = ScalarType::s64,
                     B = ScalarType::b8;

const std::vector<float> kA = {7, -7, 7, -7, 5.5f, -5.5f, 0.3f, -6},
                         kB = {2, 2, -2, -2, -1.5f, 1.5f, 0.1f, 3};
const std::vector<int32_t> kWholeA = {7, -7, 7, -7, 6, -6, 0, -9},
                           kWholeB = {2, 2, -2, -2, -3, 3, 5, -4};

struct Row {
  const char *name, *overload, *mode;
  std::vector<float> reals;
  std::vector<int32_t> integers;  // none: float out
};
const Row kRows[] = {
    {"remainder",
     "Tensor_out",
     "",
     {1, 1, -1, -1, -0.5f, 0.5f, 7.4505806e-09f, 0},
     {1, 1, -1, -1, 0, 0, 0, -1}},
    {"fmod",
     "Tensor_out",
     "",
     {1, -1, 1, -1, 1, -1, 7.4505806e-09f, 0},
     {1, -1, 1, -1, 0, 0, 0, -1}},
    {"floor_divide", "out", "", {3, -4, -4, 3, -4, -4, 3, -2}, {3, -4, -4, 3, -2, -2, 0, 2}},
    {"div", "out_mode", "trunc", {3, -3, -3, 3, -3, -3, 3, -2}, {3, -3, -3, 3, -2, -2, 0, 2}},
    {"div", "out_mode", "floor", {3, -4, -4, 3, -4, -4, 3, -2}, {3, -4, -4, 3, -2, -2, 0, 2}},
    {"atan2",
     "out",
     "",
     {1.29249668f, -1.29249668f, 1.84909594f, -1.84909594f, 1.83704841f, -1.30454421f, 1.24904573f,
      -1.10714877f},
     {}},
    {"pow",
     "Tensor_Tensor_out",
     "",
     {49, 49, 0.0204081628f, 0.0204081628f, 0.0775275305f, NAN, 0.886568129f, -216},
     {49, 49, 0, 0, 0, -216, 0, 0}},
    {"minimum", "out", "", {2, -7, -2, -7, -1.5f, -5.5f, 0.1f, -6}, {2, -7, -2, -7, -3, -6, 0, -9}},
    {"maximum", "out", "", {7, 2, 7, -2, 5.5f, 1.5f, 0.3f, 3}, {7, 2, 7, -2, 6, 3, 5, -4}},
};

void call_pair(OneCall& p, const Row& row, int32_t a, int32_t b, int32_t y) {
  std::vector<int32_t> args = {a, b};
  if (*row.mode) args.push_back(p.string(row.mode));
  args.insert(args.end(), {y, y});
  p.call(std::string("aten::") + row.name, row.overload, args);
}

TEST(PortablePairwise, ValuesOfTorch) {
  for (const Row& row : kRows) {
    OneCall p;
    const int32_t a = p.in(F, {2, 4}, {1, 0}), b = p.in(F, {2, 4}), y = p.out(F, {2, 4}, {1, 0});
    call_pair(p, row, a, b, y);
    p.set(0, kA);
    p.set(1, kB);
    p.run();
    const auto got = p.get<float>();
    for (size_t i = 0; i < 8; ++i) {
      if (std::isnan(row.reals[i])) EXPECT_TRUE(std::isnan(got[i])) << row.name << " element " << i;
      else
        EXPECT_NEAR(got[i], row.reals[i], 4e-7 * std::max(1.0f, std::fabs(row.reals[i])))
            << row.name << " element " << i;
    }
    if (row.integers.empty()) continue;
    OneCall q;
    const int32_t u = q.in(I, {2, 4}, {1, 0}), v = q.in(I, {2, 4}, {1, 0}),
                  w = q.out(I, {2, 4}, {1, 0});
    call_pair(q, row, u, v, w);
    q.set(0, kWholeA);
    q.set(1, kWholeB);
    q.run();
    EXPECT_EQ(q.get<int32_t>(), row.integers) << row.name;
  }
}

// An integer divided by 0 stops nothing; the smallest integer has no positive counterpart.
TEST(PortablePairwise, IntegersThatCannotBeDivided) {
  for (const Row& row : {kRows[0], kRows[1], kRows[2], kRows[3]}) {
    OneCall p;
    const int32_t a = p.in(L, {3}), b = p.in(L, {3}), y = p.out(L, {3});
    call_pair(p, row, a, b, y);
    p.set<int64_t>(0, {5, INT64_MIN, INT64_MIN});
    p.set<int64_t>(1, {0, -1, 0});
    p.run();
    const bool divides = row.name[0] == 'd' || row.name[1] == 'l';
    EXPECT_EQ(p.get<int64_t>(), (std::vector<int64_t>{0, divides ? INT64_MIN : 0, 0})) << row.name;
  }
}

TEST(PortablePairwise, BroadcastsOneAgainstTheOther) {
  const Sizes out = {2, 3, 4};
  OneCall p;
  const int32_t a = p.in(F, {3, 1}, {1, 0}), b = p.in(F, {2, 1, 4}, {2, 0, 1}),
                y = p.out(F, out, {1, 2, 0});
  p.call("aten::maximum", {a, b, y});
  const auto da = random_floats(3, 1), db = random_floats(8, 2);
  p.set(0, da);
  p.set(1, db);
  p.run();
  const auto got = p.get<float>();
  for (int32_t i = 0; i < 24; ++i) {
    const Sizes at = index_of(i, out);
    EXPECT_EQ(got[static_cast<size_t>(i)],
              std::max(da[static_cast<size_t>(at[1])], db[static_cast<size_t>(at[0] * 4 + at[2])]));
  }
}

TEST(PortablePairwise, NanStaysInTheSmallerAndTheLarger) {
  for (const char* name : {"aten::minimum", "aten::maximum"}) {
    OneCall p;
    const int32_t a = p.in(F, {2}), b = p.in(F, {2}), y = p.out(F, {2});
    p.call(name, {a, b, y});
    p.set<float>(0, {NAN, 1});
    p.set<float>(1, {1, NAN});
    p.run();
    EXPECT_TRUE(std::isnan(p.get<float>()[0]) && std::isnan(p.get<float>()[1])) << name;
  }
}

// A double cannot hold it, so it must not become one.
TEST(PortablePairwise, AnIntegerFactorIsExact) {
  OneCall p;
  const int32_t x = p.in(ScalarType::s64, {2}), y = p.out(ScalarType::s64, {2});
  p.call("aten::add", "Scalar_out", {x, p.integer(1), p.integer(INT64_MAX), y, y});
  p.set<int64_t>(0, {5, INT64_MIN});
  p.run();
  EXPECT_EQ(p.get<int64_t>(), (std::vector<int64_t>{INT64_MIN + 4, -1}));
}

// (name, overload, other arguments) of one float tensor {-2, 0.5, 3}.
TEST(PortablePairwise, NumbersAsOperands) {
  using Arguments = std::function<std::vector<int32_t>(OneCall&, int32_t x)>;
  struct Case {
    const char *name, *overload;
    Arguments arguments;
    std::vector<float> want;
  };
  const Case cases[] = {
      {"add",
       "Scalar_out",
       [](OneCall& p, int32_t x) {
         return std::vector<int32_t>{x, p.real(1.5), p.integer(2)};
       },
       {1, 3.5f, 6}},
      {"sub",
       "Scalar_out",
       [](OneCall& p, int32_t x) {
         return std::vector<int32_t>{x, p.integer(1), p.real(0.5)};
       },
       {-2.5f, 0, 2.5f}},
      {"rsub",
       "Scalar_out",
       [](OneCall& p, int32_t x) {
         return std::vector<int32_t>{x, p.integer(1), p.integer(2)};
       },
       {5, 0, -5}},
      {"mul",
       "Scalar_out",
       [](OneCall& p, int32_t x) {
         return std::vector<int32_t>{x, p.real(-0.5)};
       },
       {1, -0.25f, -1.5f}},
      {"div",
       "Scalar_out",
       [](OneCall& p, int32_t x) {
         return std::vector<int32_t>{x, p.integer(4)};
       },
       {-0.5f, 0.125f, 0.75f}},
      {"div",
       "Scalar_mode_out",
       [](OneCall& p, int32_t x) {
         return std::vector<int32_t>{x, p.real(0.75), p.string("floor")};
       },
       {-3, 0, 4}},
      {"div",
       "Scalar_mode_out",
       [](OneCall& p, int32_t x) {
         return std::vector<int32_t>{x, p.integer(4), p.none()};
       },
       {-0.5f, 0.125f, 0.75f}},
      {"remainder",
       "Scalar_out",
       [](OneCall& p, int32_t x) {
         return std::vector<int32_t>{x, p.real(0.75)};
       },
       {0.25f, 0.5f, 0}},
      {"fmod",
       "Scalar_out",
       [](OneCall& p, int32_t x) {
         return std::vector<int32_t>{x, p.real(0.75)};
       },
       {-0.5f, 0.5f, 0}},
      {"pow",
       "Tensor_Scalar_out",
       [](OneCall& p, int32_t x) {
         return std::vector<int32_t>{x, p.integer(3)};
       },
       {-8, 0.125f, 27}},
      {"pow",
       "Scalar_out",
       [](OneCall& p, int32_t x) {
         return std::vector<int32_t>{p.integer(4), x};
       },
       {0.0625f, 2, 64}},
  };
  for (const Case& c : cases) {
    OneCall p;
    const int32_t x = p.in(F, {3}), y = p.out(F, {3});
    std::vector<int32_t> args = c.arguments(p, x);
    args.insert(args.end(), {y, y});
    p.call(std::string("aten::") + c.name, c.overload, args);
    p.set<float>(0, {-2, 0.5f, 3});
    p.run();
    EXPECT_EQ(p.get<float>(), c.want) << c.name;
  }
}

// Every order of two: less, equal, greater, unordered.
TEST(PortablePairwise, Comparisons) {
  struct Case {
    const char* name;
    std::vector<uint8_t> want;
  };
  const Case cases[] = {{"eq", {0, 1, 0, 0}}, {"ne", {1, 0, 1, 1}}, {"lt", {1, 0, 0, 0}},
                        {"le", {1, 1, 0, 0}}, {"gt", {0, 0, 1, 0}}, {"ge", {0, 1, 1, 0}}};
  for (const Case& c : cases) {
    OneCall p;
    const int32_t a = p.in(F, {4}), b = p.in(F, {4}), y = p.out(B, {4});
    p.call(std::string("aten::") + c.name, "Tensor_out", {a, b, y, y});
    p.set<float>(0, {-1, 2, 3, NAN});
    p.set<float>(1, {1, 2, -3, 1});
    p.run();
    EXPECT_EQ(p.get<uint8_t>(), c.want) << c.name;
    OneCall q;  // int64 that float could not tell apart
    const int32_t u = q.in(L, {3}), v = q.integer((int64_t{1} << 53) + 1), w = q.out(B, {3});
    q.call(std::string("aten::") + c.name, "Scalar_out", {u, v, w, w});
    q.set<int64_t>(0, {int64_t{1} << 53, (int64_t{1} << 53) + 1, (int64_t{1} << 53) + 2});
    q.run();
    EXPECT_EQ(q.get<uint8_t>(), std::vector<uint8_t>(c.want.begin(), c.want.end() - 1)) << c.name;
    OneCall r;  // 0.1 is compared as float, as torch does it
    const int32_t f = r.in(F, {1}), g = r.real(0.1), h = r.out(B, {1});
    r.call(std::string("aten::") + c.name, "Scalar_out", {f, g, h, h});
    r.set<float>(0, {0.1f});
    r.run();
    EXPECT_EQ(r.get<uint8_t>()[0], c.want[1]) << c.name;
  }
  OneCall p;
  const int32_t a = p.in(B, {2}), yes = p.boolean(true), y = p.out(B, {2});
  p.call("aten::eq", "Scalar_out", {a, yes, y, y});
  p.set<uint8_t>(0, {0, 1});
  p.run();
  EXPECT_EQ(p.get<uint8_t>(), (std::vector<uint8_t>{0, 1}));
}

TEST(PortablePairwise, LogicAndBits) {
  struct Case {
    const char* name;
    std::vector<uint8_t> logical;
    std::vector<int8_t> bits;
  };
  for (const Case& c :
       {Case{"and", {0, 0, 0, 1}, {0b0001, 4}}, Case{"or", {0, 1, 1, 1}, {0b0111, -1}},
        Case{"xor", {0, 1, 1, 0}, {0b0110, -5}}}) {
    OneCall p;
    const int32_t a = p.in(F, {4}), b = p.in(B, {4}), y = p.out(B, {4});
    p.call(std::string("aten::logical_") + c.name, {a, b, y});
    p.set<float>(0, {0, 0, 0.5f, -2});
    p.set<uint8_t>(1, {0, 1, 0, 1});
    p.run();
    EXPECT_EQ(p.get<uint8_t>(), c.logical) << c.name;
    OneCall q;
    const int32_t u = q.in(ScalarType::s8, {2}), v = q.in(ScalarType::s8, {2}),
                  w = q.out(ScalarType::s8, {2});
    q.call(std::string("aten::bitwise_") + c.name, "Tensor_out", {u, v, w, w});
    q.set<int8_t>(0, {0b0011, -4});
    q.set<int8_t>(1, {0b0101, 7});
    q.run();
    EXPECT_EQ(q.get<int8_t>(), c.bits) << c.name;
    OneCall r;
    const int32_t f = r.in(B, {2}), g = r.boolean(true), h = r.out(B, {2});
    r.call(std::string("aten::bitwise_") + c.name, "Scalar_out", {f, g, h, h});
    r.set<uint8_t>(0, {0, 1});
    r.run();
    EXPECT_EQ(r.get<uint8_t>(), (std::vector<uint8_t>{c.logical[1], c.logical[3]})) << c.name;
  }
  const auto unary = [](const char* name, ScalarType type, const std::vector<uint8_t>& in) {
    OneCall p;
    const int32_t x = p.in(type, {static_cast<int32_t>(in.size())}),
                  y = p.out(type, {static_cast<int32_t>(in.size())});
    p.call(name, {x, y});
    p.set(0, in);
    p.run();
    return p.get<uint8_t>();
  };
  EXPECT_EQ(unary("aten::bitwise_not", B, {0, 1}), (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(unary("aten::bitwise_not", ScalarType::u8, {0, 1, 0xF0}),
            (std::vector<uint8_t>{0xFF, 0xFE, 0x0F}));
  EXPECT_EQ(unary("aten::logical_not", B, {0, 1}), (std::vector<uint8_t>{1, 0}));
}

TEST(PortablePairwise, ShiftsBeyondTheWidth) {
  for (const bool left : {true, false}) {
    OneCall p;
    const int32_t a = p.in(ScalarType::s8, {5}), b = p.in(ScalarType::s8, {5}),
                  y = p.out(ScalarType::s8, {5});
    p.call(left ? "aten::bitwise_left_shift" : "aten::bitwise_right_shift", "Tensor_out",
           {a, b, y, y});
    p.set<int8_t>(0, {3, -3, -3, 5, -5});
    p.set<int8_t>(1, {2, 1, 100, -1, -1});
    p.run();
    EXPECT_EQ(p.get<int8_t>(), left ? (std::vector<int8_t>{12, -6, 0, 0, 0})
                                    : (std::vector<int8_t>{0, -2, -1, 0, -1}));
  }
}

TEST(PortablePairwise, QuestionsOfFloats) {
  for (const char* name : {"isnan", "isinf", "logical_not"}) {
    OneCall p;
    const int32_t x = p.in(F, {4}), y = p.out(B, {4});
    p.call(std::string("aten::") + name, {x, y});
    p.set<float>(0, {0, NAN, -INFINITY, 3});
    p.run();
    const std::string n = name;
    EXPECT_EQ(p.get<uint8_t>(), n == "isnan"   ? (std::vector<uint8_t>{0, 1, 0, 0})
                                : n == "isinf" ? (std::vector<uint8_t>{0, 0, 1, 0})
                                               : (std::vector<uint8_t>{1, 0, 0, 0}));
  }
}

TEST(PortablePairwise, MaskedFill) {
  OneCall p;
  const int32_t x = p.in(F, {2, 3}, {1, 0}), m = p.in(B, {3}), y = p.out(F, {2, 3});
  p.call("aten::masked_fill", "Scalar_out", {x, m, p.real(-INFINITY), y, y});
  p.set<float>(0, {1, 2, 3, 4, 5, 6});
  p.set<uint8_t>(1, {0, 1, 0});
  p.run();
  EXPECT_EQ(p.get<float>(), (std::vector<float>{1, -INFINITY, 3, 4, -INFINITY, 6}));
}

TEST(PortablePairwise, Refuses) {
  const auto refused = [](const char* name, const char* overload, ScalarType a, ScalarType b,
                          ScalarType y, const Sizes& out = {2, 3}) {
    OneCall p;
    const int32_t u = p.in(a, {2, 3}), v = p.in(b, {3}), w = p.out(y, out);
    p.call(name, overload, {u, v, w, w});
    return p.refused();
  };
  EXPECT_EQ(refused("aten::maximum", "out", F, F, F), -1);
  EXPECT_EQ(refused("aten::maximum", "out", I, F, F), -1);
  EXPECT_EQ(refused("aten::maximum", "out", I, F, I), 2);
  EXPECT_EQ(refused("aten::maximum", "out", I, L, B), 2);
  EXPECT_EQ(refused("aten::maximum", "out", F, F, F, {3, 3}), 0);
  EXPECT_EQ(refused("aten::maximum", "out", F, F, F, {2, 2}), 0);
  EXPECT_EQ(refused("aten::maximum", "out", F, F, F, {3}), 0);
  EXPECT_EQ(refused("aten::maximum", "out", ScalarType::f64, F, F), 0);
  EXPECT_EQ(refused("aten::maximum", "out", F, ScalarType::f16, F), 1);
  EXPECT_EQ(refused("aten::maximum", "out", F, F, ScalarType::f64), 2);
  EXPECT_EQ(refused("aten::bitwise_and", "Tensor_out", F, I, I), 0);
  EXPECT_EQ(refused("aten::bitwise_and", "Tensor_out", I, F, I), 1);
  EXPECT_EQ(refused("aten::bitwise_left_shift", "Tensor_out", B, B, B), 2);
  EXPECT_EQ(refused("aten::atan2", "out", I, I, I), 2);
  const auto number = [](const char* name, ScalarType x, ScalarType y,
                         const std::function<std::vector<int32_t>(OneCall&)>& more,
                         const char* overload = "Scalar_out") {
    OneCall p;
    const int32_t u = p.in(x, {3}), w = p.out(y, {3});
    std::vector<int32_t> args = more(p);
    args.insert(args.begin(), u);
    args.insert(args.end(), {w, w});
    p.call(name, overload, args);
    return p.refused();
  };
  EXPECT_EQ(number("aten::add", I, I,
                   [](OneCall& p) {
                     return std::vector<int32_t>{p.integer(1), p.real(0.5)};
                   }),
            2);
  EXPECT_EQ(number("aten::add", I, I,
                   [](OneCall& p) {
                     return std::vector<int32_t>{p.real(1), p.integer(1)};
                   }),
            3);
  EXPECT_EQ(number("aten::remainder", I, I,
                   [](OneCall& p) { return std::vector<int32_t>{p.integer(0)}; }),
            1);
  EXPECT_EQ(number("aten::remainder", F, F,
                   [](OneCall& p) { return std::vector<int32_t>{p.integer(0)}; }),
            -1);
  EXPECT_EQ(number(
                "aten::div", F, F,
                [](OneCall& p) {
                  return std::vector<int32_t>{p.real(2), p.string("up")};
                },
                "Scalar_mode_out"),
            2);
  EXPECT_EQ(
      number("aten::bitwise_or", I, I, [](OneCall& p) { return std::vector<int32_t>{p.real(2)}; }),
      1);
  OneCall p;
  const int32_t x = p.in(I, {2}), m = p.in(B, {2}), y = p.out(I, {2});
  p.call("aten::masked_fill", "Scalar_out", {x, m, p.real(0.5), y, y});
  EXPECT_EQ(p.refused(), 2);
}

}  // namespace pairwise_test
}  // namespace deuteron
