// SPDX-License-Identifier: Apache-2.0
// The tables of lookup_s16 against the functions that they stand for, on every number.
#include "ops/unary/table_s16.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/unary/s16/kernel.h"
#include "ops/unary/tflite_table_s16.h"
#include "ops/unary/unary.h"

namespace deuteron {
namespace {

// A function that bends by at most `bend` (the second derivative), and has no corners but at zero,
// where an entry is.
struct Smooth {
  UnaryFn fn;
  float alpha;
  double bend;
  float y_most;  // what 32767 stands for
};

// 128^2 / 8 * bend for the line, half a step for an entry's rounding and half for the line's own:
// table.h. The last line ends at 32768, where a result that y cannot hold is one step off: it
// counts with the part of the line, at most 127 / 128.
TEST(LookupS16Table, IsWithinTheBoundOfItsFormula) {
  const float ranges[] = {1, 8, 40};
  const Smooth functions[] = {
      {UnaryFn::sigmoid, 0, 0.0963, 1}, {UnaryFn::tanh, 0, 0.7699, 1},
      {UnaryFn::silu, 0, 0.5, 0},       {UnaryFn::gelu, 0, 0.7979, 0},
      {UnaryFn::softplus, 0, 0.25, 0},  {UnaryFn::leaky_relu, 0.1f, 0, 0},
      {UnaryFn::abs, 0, 0, 0},          {UnaryFn::sin, 0, 1, 1},
  };
  for (const Smooth& s : functions)
    for (const float range : ranges) {
      const float most = s.y_most != 0 ? s.y_most : evaluate(s.fn, range, s.alpha);
      const Quant x = per_tensor(range / 32767, 0, -32768, 32767),
                  y = per_tensor(most / 32767, 0, -32768, 32767);
      const std::vector<int16_t> table =
          table_s16(x, y, [&](float v) { return evaluate(s.fn, v, s.alpha); });
      const double bend = s.bend * x.scale[0] * x.scale[0] / y.scale[0];
      const double bound = 128.0 * 128 / 8 * bend + 0.5 + 0.5;
      // the functions are computed in float32: a few units of its last place
      constexpr double kFloat = 32768 * 0x1p-22;
      for (int32_t v = -32768; v <= 32767; ++v) {
        const auto step = static_cast<int16_t>(v);
        int16_t result = 0;
        lookup_s16(1, table.data(), &step, &result);
        const double exact =
            static_cast<double>(evaluate(s.fn, static_cast<float>(v) * x.scale[0], s.alpha)) /
            y.scale[0];
        const double at_end = v >= 32767 - 127 || v <= -32768 + 127 ? 1 : 0;
        ASSERT_LE(std::abs(result - std::min(std::max(exact, -32768.0), 32767.0)),
                  bound + at_end + kFloat)
            << static_cast<int>(s.fn) << " range " << range << " at " << v;
      }
    }
}

// What largest_error() says is what the lines miss: of a corner between two entries, a quarter of
// its change of slope times 128.
TEST(LookupS16Table, KnowsTheCornersThatItsLinesCut) {
  const Quant steps = per_tensor(1, 0, -32768, 32767);
  const auto corner = [](float v) { return v > 64 ? 2 * (v - 64) : 0; };
  const std::vector<int16_t> table = table_s16(steps, steps, corner);
  EXPECT_EQ(largest_error(table, steps, steps, corner), 64);
  const auto jump = [](float v) { return v > 1000 ? 20000.0f : 0.0f; };
  EXPECT_GT(largest_error(table_s16(steps, steps, jump), steps, steps, jump), kMostTableError);
  const auto nothing = [](float v) { return v < 0 ? NAN : v; };
  EXPECT_GT(largest_error(table_s16(steps, steps, nothing), steps, steps, nothing),
            kMostTableError);
  const Quant positive = per_tensor(1, 0, 0, 32767);
  EXPECT_EQ(largest_error(table_s16(positive, steps, nothing), positive, steps, nothing), 0);
}

// An entry gives half of what the line misses in its middle: f(0) = 0, and between 0 and 128 a line
// lies 10.24 above f(64).
TEST(LookupS16Table, OfTfliteMissesBothEndsAndTheMiddleAlike) {
  const auto square = [](float v) { return v * v / 400; };
  const std::vector<int16_t> table = tflite_table_s16(1.0f, 0, 1.0f, square);
  ASSERT_EQ(table.size(), 513u);
  EXPECT_EQ(table[256], -5);
  EXPECT_EQ(table[0], 32767);
  const std::vector<int16_t> line = tflite_table_s16(1.0f, 0, 1.0f, [](float v) { return v; });
  EXPECT_EQ(line[0], -32768);
  EXPECT_EQ(line[512], 32767);
  // Infinities have no middle.
  const std::vector<int16_t> beyond =
      tflite_table_s16(1.0f, 0, 1.0f, [](float v) { return std::exp(v); });
  EXPECT_EQ(beyond[100], 0);
  EXPECT_EQ(beyond[400], 0);
  EXPECT_EQ(beyond[512], 32767);
}

}  // namespace
}  // namespace deuteron
