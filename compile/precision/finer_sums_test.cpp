// SPDX-License-Identifier: Apache-2.0
#include "compile/precision/finer_sums.h"

#include <cmath>

#include "compile/calibrate/test_graph.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace deuteron {
namespace {

// Weights of few bits with a scale for each filter, and a bias, as a quantized model has them.
struct FewBits {
  TestGraph t;
  ValueId w, b;
  explicit FewBits(std::vector<i32> bias) {
    Type x{DType::s8, {1, 3}, per_tensor(0.5f, 3)},
        weight{DType::s8, {2, 3}, Quant{{0.25f, 0.125f}, {0, 0}, 0, -7, 7}};
    Type of_bias{DType::s32, {2}, Quant{{0.125f, 0.0625f}, {0, 0}, 0}},
        y{DType::s8, {1, 2}, per_tensor(1, 0)};
    const ValueId input = t.g.add_value("x", x);
    t.g.inputs.push_back({input, "x", {0, 1}});
    w = t.g.add_value("w", weight, constant_of(std::vector<int8_t>{7, -3, 0, 1, 100, -2}));
    b = t.g.add_value("b", of_bias, constant_of(std::move(bias)));
    const ValueId out = t.g.add_value("y", y);
    t.g.nodes.push_back({Linear{}, {input, w, b}, {out}, {0}});
    t.g.outputs.push_back({out, "y", {0, 1}});
  }
  std::vector<double> weights() const {
    const std::span<const int8_t> data = t.g.values[w].constant->as<int8_t>();
    std::vector<double> all;
    for (size_t i = 0; i < data.size(); ++i)
      all.push_back(data[i] * double{t.g.type(w).quant.scale[i / 3]});
    return all;
  }
};

TEST(FinerSums, WeightsOfFewBitsFillInt8) {
  FewBits f({5, -9});
  const std::vector<double> before = f.weights();
  EXPECT_EQ(make_sums_finer(f.t.g), 1);
  EXPECT_EQ(f.weights(), before);
  EXPECT_EQ(f.t.g.type(f.w).quant.scale, (std::vector<float>{0.25f / 16, 0.125f}));
  EXPECT_EQ(f.t.g.type(f.b).quant.scale, (std::vector<float>{0.125f / 16, 0.0625f}));
  const std::span<const i32> bias = f.t.g.values[f.b].constant->as<i32>();
  EXPECT_EQ(std::vector<i32>(bias.begin(), bias.end()), (std::vector<i32>{5 * 16, -9}));
  EXPECT_EQ(make_sums_finer(f.t.g), 0);
}

TEST(FinerSums, ABiasStaysWithinInt32) {
  FewBits f({1 << 28, 0});
  EXPECT_EQ(make_sums_finer(f.t.g), 1);
  EXPECT_EQ(f.t.g.type(f.w).quant.scale[0], 0.25f / 2);
}

}  // namespace
}  // namespace deuteron
