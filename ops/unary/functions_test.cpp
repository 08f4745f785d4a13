// SPDX-License-Identifier: Apache-2.0
// The functions against values that torch 2.13 printed: f(torch.tensor(kX)) in float32.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/op.h"
#include "ops/unary/unary.h"

namespace deuteron {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(),
                kInf = std::numeric_limits<float>::infinity();
constexpr float kX[] = {-87.5f, -20.25f, -3.5f, -3.0f, -2.0f, -1.0f, -0.3f, 0.0f, 0.3f,
                        0.5f,   1.0f,    1.5f,  2.5f,  3.0f,  6.5f,  20.5f, 88.0f};

struct Row {
  UnaryFn fn;
  float alpha;
  float y[std::size(kX)];
};
constexpr Row kRows[] = {
    {UnaryFn::identity,
     0.0f,
     {-87.5f, -20.25f, -3.5f, -3.0f, -2.0f, -1.0f, -0.300000012f, 0.0f, 0.300000012f, 0.5f, 1.0f,
      1.5f, 2.5f, 3.0f, 6.5f, 20.5f, 88.0f}},
    {UnaryFn::hardswish,
     0.0f,
     {-0.0f, -0.0f, -0.0f, -0.0f, -0.333333343f, -0.333333343f, -0.135000005f, 0.0f, 0.165000007f,
      0.291666657f, 0.666666687f, 1.125f, 2.29166675f, 3.0f, 6.5f, 20.5f, 88.0f}},
    {UnaryFn::hardsigmoid,
     0.0f,
     {0.0f, 0.0f, 0.0f, 0.0f, 0.166666672f, 0.333333343f, 0.450000018f, 0.5f, 0.550000012f,
      0.583333313f, 0.666666687f, 0.75f, 0.916666687f, 1.0f, 1.0f, 1.0f, 1.0f}},
    {UnaryFn::sigmoid,
     0.0f,
     {9.9823514e-39f, 1.60522817e-09f, 0.0293122306f, 0.0474258736f, 0.119202919f, 0.268941432f,
      0.425557494f, 0.5f, 0.574442506f, 0.622459352f, 0.731058598f, 0.817574441f, 0.924141824f,
      0.952574134f, 0.998498797f, 1.0f, 1.0f}},
    {UnaryFn::tanh,
     0.0f,
     {-1.0f, -1.0f, -0.998177886f, -0.995054781f, -0.964027584f, -0.761594176f, -0.291312635f, 0.0f,
      0.291312635f, 0.462117165f, 0.761594176f, 0.905148268f, 0.986614287f, 0.995054781f,
      0.99999547f, 1.0f, 1.0f}},
    {UnaryFn::silu,
     0.0f,
     {-8.73455744e-37f, -3.250587e-08f, -0.102592811f, -0.142277613f, -0.238405839f, -0.268941432f,
      -0.127667248f, 0.0f, 0.172332764f, 0.311229676f, 0.731058598f, 1.22636163f, 2.31035447f,
      2.85772252f, 6.490242f, 20.5f, 88.0f}},
    {UnaryFn::gelu,
     0.0f,
     {-0.0f, -0.0f, -0.000814333558f, -0.00405022502f, -0.0455002785f, -0.158655256f, -0.114626579f,
      0.0f, 0.18537344f, 0.345731229f, 0.841344714f, 1.39978909f, 2.48447585f, 2.99594975f, 6.5f,
      20.5f, 88.0f}},
    {UnaryFn::gelu_tanh,
     0.0f,
     {-0.0f, -0.0f, -0.000616148114f, -0.00363743305f, -0.0454022884f, -0.158807993f, -0.114629082f,
      0.0f, 0.185370937f, 0.345714003f, 0.841192007f, 1.39957154f, 2.48491573f, 2.99636269f, 6.5f,
      20.5f, 88.0f}},
    {UnaryFn::exp,
     0.0f,
     {9.9823514e-39f, 1.60522806e-09f, 0.0301973838f, 0.0497870669f, 0.135335281f, 0.36787945f,
      0.740818202f, 1.0f, 1.34985888f, 1.64872122f, 2.71828175f, 4.48168898f, 12.1824942f,
      20.085537f, 665.141663f, 799902208.0f, 1.65163627e+38f}},
    {UnaryFn::log,
     0.0f,
     {kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, -kInf, -1.20397282f, -0.693147182f, 0.0f,
      0.405465126f, 0.91629076f, 1.09861231f, 1.87180221f, 3.02042484f, 4.47733688f}},
    {UnaryFn::sqrt,
     0.0f,
     {kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, 0.0f, 0.547722578f, 0.707106769f, 1.0f, 1.22474492f,
      1.58113885f, 1.73205078f, 2.54950976f, 4.52769279f, 9.38083172f}},
    {UnaryFn::rsqrt,
     0.0f,
     {kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kInf, 1.82574177f, 1.41421354f, 1.0f, 0.816496551f,
      0.632455528f, 0.577350259f, 0.392232269f, 0.220863044f, 0.106600359f}},
    {UnaryFn::abs,
     0.0f,
     {87.5f, 20.25f, 3.5f, 3.0f, 2.0f, 1.0f, 0.300000012f, 0.0f, 0.300000012f, 0.5f, 1.0f, 1.5f,
      2.5f, 3.0f, 6.5f, 20.5f, 88.0f}},
    {UnaryFn::neg,
     0.0f,
     {87.5f, 20.25f, 3.5f, 3.0f, 2.0f, 1.0f, 0.300000012f, -0.0f, -0.300000012f, -0.5f, -1.0f,
      -1.5f, -2.5f, -3.0f, -6.5f, -20.5f, -88.0f}},
    {UnaryFn::reciprocal,
     0.0f,
     {-0.0114285713f, -0.0493827164f, -0.285714298f, -0.333333343f, -0.5f, -1.0f, -3.33333325f,
      kInf, 3.33333325f, 2.0f, 1.0f, 0.666666687f, 0.400000006f, 0.333333343f, 0.15384616f,
      0.048780486f, 0.0113636367f}},
    {UnaryFn::leaky_relu,
     0.1f,
     {-8.75f, -2.0250001f, -0.349999994f, -0.300000012f, -0.200000003f, -0.100000001f,
      -0.0300000012f, 0.0f, 0.300000012f, 0.5f, 1.0f, 1.5f, 2.5f, 3.0f, 6.5f, 20.5f, 88.0f}},
    {UnaryFn::elu,
     1.5f,
     {-1.5f, -1.5f, -1.45470393f, -1.42531943f, -1.29699707f, -0.948180795f, -0.388772696f, 0.0f,
      0.300000012f, 0.5f, 1.0f, 1.5f, 2.5f, 3.0f, 6.5f, 20.5f, 88.0f}},
    {UnaryFn::softplus,
     0.0f,
     {9.9823514e-39f, 1.60522806e-09f, 0.0297504179f, 0.048587352f, 0.126928002f, 0.313261688f,
      0.554355264f, 0.693147182f, 0.854355276f, 0.974076986f, 1.31326163f, 1.70141327f, 2.57888985f,
      3.04858732f, 6.50150251f, 20.5f, 88.0f}},
    {UnaryFn::pow,
     3.0f,
     {-669921.875f, -8303.76562f, -42.875f, -27.0f, -8.0f, -1.0f, -0.0270000026f, 0.0f,
      0.0270000026f, 0.125f, 1.0f, 3.375f, 15.625f, 27.0f, 274.625f, 8615.125f, 681472.0f}},
    {UnaryFn::pow,
     0.5f,
     {kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, kNaN, 0.0f, 0.547722578f, 0.707106769f, 1.0f, 1.22474492f,
      1.58113885f, 1.73205078f, 2.54950976f, 4.52769279f, 9.38083172f}},
    {UnaryFn::sin,
     0.0f,
     {0.448060155f, -0.985525131f, 0.350783229f, -0.141120002f, -0.909297407f, -0.841470957f,
      -0.295520216f, 0.0f, 0.295520216f, 0.47942555f, 0.841470957f, 0.997494996f, 0.598472118f,
      0.141120002f, 0.215119988f, 0.996829808f, 0.0353983045f}},
    {UnaryFn::cos,
     0.0f,
     {0.894003391f, 0.169529513f, -0.93645668f, -0.989992499f, -0.416146845f, 0.540302336f,
      0.955336511f, 1.0f, 0.955336511f, 0.87758255f, 0.540302336f, 0.070737198f, -0.801143587f,
      -0.989992499f, 0.976587653f, -0.0795635656f, 0.999373257f}},
    {UnaryFn::floor,
     0.0f,
     {-88.0f, -21.0f, -4.0f, -3.0f, -2.0f, -1.0f, -1.0f, 0.0f, 0.0f, 0.0f, 1.0f, 1.0f, 2.0f, 3.0f,
      6.0f, 20.0f, 88.0f}},
    {UnaryFn::round,
     0.0f,
     {-88.0f, -20.0f, -4.0f, -3.0f, -2.0f, -1.0f, -0.0f, 0.0f, 0.0f, 0.0f, 1.0f, 2.0f, 2.0f, 3.0f,
      6.0f, 20.0f, 88.0f}},
};

// torch's vector code and libm are each within a few units in the last place; where terms cancel (1
// + erf(-2.1) in gelu) the error is that of the larger term. Here libm is the closer one: gelu(-3)
// is -0.00404969.
TEST(Unary, AsTorchComputesIt) {
  for (const Row& row : kRows)
    for (size_t i = 0; i < std::size(kX); ++i) {
      const float y = evaluate(row.fn, kX[i], row.alpha);
      if (std::isnan(row.y[i])) EXPECT_TRUE(std::isnan(y)) << name_of(row.fn) << " " << kX[i];
      else if (std::isinf(row.y[i])) EXPECT_EQ(y, row.y[i]) << name_of(row.fn) << " " << kX[i];
      else
        EXPECT_NEAR(y, row.y[i],
                    std::max(std::abs(row.y[i]) * 5e-7f, std::min(1.0f, std::abs(kX[i])) * 6e-7f))
            << name_of(row.fn) << " " << kX[i];
    }
}

TEST(Unary, NamesGoBothWays) {
  for (int k = 0; k <= static_cast<int>(UnaryFn::round); ++k) {
    const UnaryFn fn = static_cast<UnaryFn>(k);
    EXPECT_EQ(unary_named(name_of(fn)), fn);
  }
  EXPECT_FALSE(unary_named("swish"));
}

}  // namespace
}  // namespace deuteron
