// SPDX-License-Identifier: Apache-2.0
// Functions of one tensor against values computed by torch 2.13 in double and rounded to float.
#include <algorithm>
#include <cmath>
#include <functional>

#include "kernels/portable/one_call.h"

namespace deuteron {
namespace unary_test {
using namespace test;

constexpr ScalarType F = ScalarType::f32;
const std::vector<float> kX = {-3.25f, -1, -0.5f, -0.0f, 0.125f, 0.5f, 0.75f, 2.5f, 9};

void expect_close(const std::vector<float>& got, const std::vector<float>& want,
                  const std::string& name) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i]))
      EXPECT_TRUE(std::isnan(got[i])) << name << " element " << i << " is " << got[i];
    else if (std::isinf(want[i])) EXPECT_EQ(got[i], want[i]) << name << " element " << i;
    else
      EXPECT_NEAR(got[i], want[i], 4e-7 * std::max(1.0f, std::fabs(want[i])))
          << name << " element " << i;
  }
}

struct Row {
  const char* name;
  std::vector<float> values;
};
const Row kRows[] = {
    {"abs", {3.25f, 1, 0.5f, 0, 0.125f, 0.5f, 0.75f, 2.5f, 9}},
    {"neg", {3.25f, 1, 0.5f, 0, -0.125f, -0.5f, -0.75f, -2.5f, -9}},
    {"sign", {-1, -1, -1, 0, 1, 1, 1, 1, 1}},
    {"floor", {-4, -1, -1, -0, 0, 0, 0, 2, 9}},
    {"ceil", {-3, -1, -0, -0, 1, 1, 1, 3, 9}},
    {"trunc", {-3, -1, -0, -0, 0, 0, 0, 2, 9}},
    {"round", {-3, -1, -0, -0, 0, 0, 1, 2, 9}},
    {"exp",
     {0.0387742072f, 0.36787945f, 0.606530666f, 1, 1.13314843f, 1.64872122f, 2.1170001f,
      12.1824942f, 8103.08398f}},
    {"expm1",
     {-0.961225808f, -0.63212055f, -0.393469334f, -0, 0.133148447f, 0.648721278f, 1.11699998f,
      11.1824942f, 8102.08398f}},
    {"log",
     {NAN, NAN, NAN, -INFINITY, -2.07944155f, -0.693147182f, -0.287682086f, 0.91629076f,
      2.19722462f}},
    {"log1p",
     {NAN, -INFINITY, -0.693147182f, -0, 0.117783032f, 0.405465096f, 0.559615791f, 1.25276291f,
      2.30258512f}},
    {"log2", {NAN, NAN, NAN, -INFINITY, -3, -1, -0.415037513f, 1.32192814f, 3.16992497f}},
    {"log10",
     {NAN, NAN, NAN, -INFINITY, -0.90309f, -0.30103001f, -0.124938734f, 0.39794001f, 0.954242527f}},
    {"sqrt", {NAN, NAN, NAN, -0, 0.353553385f, 0.707106769f, 0.866025388f, 1.58113885f, 3}},
    {"rsqrt",
     {NAN, NAN, NAN, -INFINITY, 2.82842708f, 1.41421354f, 1.15470052f, 0.632455528f, 0.333333343f}},
    {"reciprocal",
     {-0.307692319f, -1, -2, -INFINITY, 8, 2, 1.33333337f, 0.400000006f, 0.111111112f}},
    {"erf",
     {-0.999995708f, -0.842700779f, -0.520499885f, -0, 0.140316203f, 0.520499885f, 0.711155653f,
      0.999593019f, 1}},
    {"sin",
     {0.108195134f, -0.841470957f, -0.47942555f, -0, 0.12467473f, 0.47942555f, 0.681638777f,
      0.598472118f, 0.412118495f}},
    {"cos",
     {-0.994129658f, 0.540302277f, 0.87758255f, 1, 0.992197692f, 0.87758255f, 0.731688857f,
      -0.801143587f, -0.91113025f}},
    {"tan",
     {-0.108834028f, -1.55740774f, -0.546302497f, -0, 0.12565513f, 0.546302497f, 0.931596458f,
      -0.747022271f, -0.452315658f}},
    {"asin",
     {NAN, -1.57079637f, -0.52359879f, -0, 0.125327826f, 0.52359879f, 0.848062098f, NAN, NAN}},
    {"acos",
     {NAN, 3.14159274f, 2.09439516f, 1.57079637f, 1.44546854f, 1.04719758f, 0.722734272f, NAN,
      NAN}},
    {"atan",
     {-1.27229738f, -0.785398185f, -0.463647604f, -0, 0.124354996f, 0.463647604f, 0.643501103f,
      1.19028997f, 1.46013916f}},
    {"sinh",
     {-12.875783f, -1.17520118f, -0.521095276f, -0, 0.125325769f, 0.521095276f, 0.822316706f,
      6.05020428f, 4051.54199f}},
    {"cosh",
     {12.9145575f, 1.54308069f, 1.12762594f, 1, 1.00782263f, 1.12762594f, 1.29468334f, 6.13228941f,
      4051.54199f}},
    {"tanh",
     {-0.996997654f, -0.761594176f, -0.462117165f, -0, 0.124352999f, 0.462117165f, 0.635148942f,
      0.986614287f, 0.99999994f}},
    {"asinh",
     {-1.89467216f, -0.881373584f, -0.481211811f, -0, 0.124676749f, 0.481211811f, 0.693147182f,
      1.6472311f, 2.89344406f}},
    {"acosh", {NAN, NAN, NAN, NAN, NAN, NAN, NAN, 1.56679928f, 2.88727093f}},
    {"atanh",
     {NAN, -INFINITY, -0.549306154f, -0, 0.125657216f, 0.549306154f, 0.972955048f, NAN, NAN}},
    {"sigmoid",
     {0.0373268872f, 0.268941432f, 0.377540678f, 0.5f, 0.53120935f, 0.622459352f, 0.679178715f,
      0.924141824f, 0.999876618f}},
};

TEST(PortableUnary, FunctionsOfFloats) {
  for (const Row& row : kRows)
    for (const Order& to : {Order{0, 1}, Order{1, 0}}) {
      OneCall p;
      const int32_t x = p.in(F, {3, 3}, {1, 0}), y = p.out(F, {3, 3}, to);
      p.call(std::string("aten::") + row.name, {x, y});
      p.set(0, kX);
      p.run();
      expect_close(p.get<float>(), row.values, row.name);
    }
}

// Integers are read as float, except by what keeps them whole.
TEST(PortableUnary, FunctionsOfIntegers) {
  for (const Row& row : kRows) {
    const bool whole = &row - kRows < 7;
    OneCall p, q;
    const int32_t x = p.in(ScalarType::s32, {5}), y = p.out(whole ? ScalarType::s32 : F, {5});
    p.call(std::string("aten::") + row.name, {x, y});
    p.set<int32_t>(0, {-3, 0, 1, 2, 7});
    p.run();
    if (whole) {
      const std::string name = row.name;
      const auto want = name == "abs"    ? std::vector<int32_t>{3, 0, 1, 2, 7}
                        : name == "neg"  ? std::vector<int32_t>{3, 0, -1, -2, -7}
                        : name == "sign" ? std::vector<int32_t>{-1, 0, 1, 1, 1}
                                         : std::vector<int32_t>{-3, 0, 1, 2, 7};
      EXPECT_EQ(p.get<int32_t>(), want) << name;
      continue;
    }
    const int32_t u = q.in(F, {5}), v = q.out(F, {5});
    q.call(std::string("aten::") + row.name, {u, v});
    q.set<float>(0, {-3, 0, 1, 2, 7});
    q.run();
    expect_close(p.get<float>(), q.get<float>(), row.name);
  }
}

TEST(PortableUnary, EluScalesBothSides) {
  OneCall p;
  const int32_t x = p.in(F, {9}), y = p.out(F, {9});
  p.call("aten::elu", {x, p.real(0.5), p.real(3), p.real(1), y});
  p.set(0, kX);
  p.run();
  std::vector<float> want;
  for (const float v : kX)
    want.push_back(v > 0 ? 3 * v : static_cast<float>(0.5 * 3 * std::expm1(double{v})));
  expect_close(p.get<float>(), want, "elu");
}

TEST(PortableUnary, GeluAndLogit) {
  const auto of = [](const char* name, const std::function<int32_t(OneCall&)>& parameter) {
    OneCall p;
    const int32_t x = p.in(F, {9}), y = p.out(F, {9});
    p.call(name, {x, parameter(p), y});
    p.set(0, kX);
    p.run();
    return p.get<float>();
  };
  expect_close(of("aten::gelu", [](OneCall& p) { return p.string("none"); }),
               {-0.00187533139f, -0.158655256f, -0.154268771f, 0, 0.0687172785f, 0.345731229f,
                0.580029488f, 2.48447585f, 9},
               "gelu");
  expect_close(of("aten::gelu", [](OneCall& p) { return p.string("tanh"); }),
               {-0.00156862719f, -0.158808008f, -0.154285997f, 0, 0.0687171966f, 0.345714003f,
                0.579960585f, 2.48491573f, 9},
               "gelu tanh");
  expect_close(of("aten::logit", [](OneCall& p) { return p.real(0.1); }),
               {-2.19722462f, -2.19722462f, -2.19722462f, -2.19722462f, -1.9459101f, 0, 1.09861231f,
                2.19722462f, 2.19722462f},
               "logit");
  expect_close(of("aten::logit", [](OneCall& p) { return p.none(); }),
               {NAN, NAN, NAN, -INFINITY, -1.9459101f, 0, 1.09861231f, NAN, NAN},
               "logit without epsilon");
}

TEST(PortableUnary, Refuses) {
  const auto refused = [](const char* name, ScalarType from, ScalarType to, const Sizes& out) {
    OneCall p;
    const int32_t x = p.in(from, {2, 3}), y = p.out(to, out);
    p.call(name, {x, y});
    return p.refused();
  };
  EXPECT_EQ(refused("aten::sigmoid", F, F, {2, 3}), -1);
  EXPECT_EQ(refused("aten::sigmoid", F, ScalarType::s8, {2, 3}), 1);
  EXPECT_EQ(refused("aten::sigmoid", ScalarType::f64, F, {2, 3}), 0);
  EXPECT_EQ(refused("aten::sigmoid", ScalarType::f16, F, {2, 3}), 0);
  EXPECT_EQ(refused("aten::sigmoid", F, F, {3, 2}), 0);
  EXPECT_EQ(refused("aten::sign", ScalarType::s8, F, {2, 3}), 1);
  EXPECT_EQ(refused("aten::neg", ScalarType::b8, ScalarType::b8, {2, 3}), 0);
  OneCall p;
  const int32_t x = p.in(F, {2}), y = p.out(F, {2});
  p.call("aten::gelu", {x, p.string("tan"), y});
  EXPECT_EQ(p.refused(), 1);
}

}  // namespace unary_test
}  // namespace deuteron
