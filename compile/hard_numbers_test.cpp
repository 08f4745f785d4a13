// SPDX-License-Identifier: Apache-2.0
// Numbers at the edge of what int8 can hold: padding as wide as the kernel and wider, values that
// never vary, ranges below the finest scale.
#include "compile/calibrate/test_graph.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "explain/report/accuracy.h"
#include "targets/target.h"

namespace deuteron {
namespace {

struct Found {
  std::vector<std::string> rules;
  double steps = 0;  // largest error in steps of the result
};

Found outcome_of(const Graph& g, const std::vector<float>& x, const char* target = "cortex-m33") {
  Found outcome;
  Diagnostics diagnostics;
  const Samples samples{{x}};
  const auto c = compile(g, *find_target(target, diagnostics), samples, {}, diagnostics);
  for (const Diagnostic& d : diagnostics.list()) outcome.rules.push_back(d.rule);
  EXPECT_TRUE(c);
  if (!c) return outcome;
  outcome.steps =
      measure_accuracy(*c, samples, 1).max_abs_error / c->quantization.values.back().chosen.scale;
  return outcome;
}

TEST(HardNumbers, PaddingAsWideAsTheKernelAndWider) {
  for (const char* target : {"cortex-m55", "cortex-m33", "cortex-m3"})
    for (const i64 pad : {2, 3, 4, 7})
      for (const i64 after : {i64{0}, pad, pad + 3})
        for (const bool depthwise : {false, true}) {
          SCOPED_TRACE(testing::Message() << target << " pad " << pad << " and " << after
                                          << " depthwise " << depthwise);
          TestGraph t;
          const std::vector<float> x = random_floats(6 * 5 * 4, static_cast<unsigned>(pad));
          Conv2d conv;
          conv.pad_before = {pad, 1};
          conv.pad_after = {after, pad};
          conv.groups = depthwise ? 4 : 1;
          const Shape w{depthwise ? 4 : 3, 3, 3, depthwise ? 1 : 4};
          t.output(
              t.node("y", conv,
                     {t.input("x", {1, 6, 5, 4}), t.constant("w", w, random_floats(numel(w), 5))}));
          EXPECT_LE(outcome_of(t.g, x, target).steps, 3.0);
        }
}

TEST(HardNumbers, ValuesThatNeverVaryAreSaidAndRight) {
  for (const float value : {0.0f, 2.5f, -3.0f}) {
    TestGraph t;
    const ValueId x = t.input("x", {1, 4, 3, 2}),
                  w = t.constant("w", {3, 1, 1, 2}, random_floats(6, 1));
    t.output(t.node("y", Conv2d{}, {x, w}));
    const Found outcome = outcome_of(t.g, std::vector<float>(24, value));
    EXPECT_NE(std::find(outcome.rules.begin(), outcome.rules.end(), "calibrate.constant"),
              outcome.rules.end());
    EXPECT_LE(outcome.steps, 2.0) << value;
  }
}

TEST(HardNumbers, RangesBelowTheFinestScaleAreSaid) {
  for (const float factor : {1e-12f, 1e-20f, 1e-37f}) {
    TestGraph t;
    std::vector<float> weights = random_floats(6, 1);
    for (float& v : weights) v *= factor;
    t.output(t.node("y", Conv2d{},
                    {t.input("x", {1, 4, 3, 2}), t.constant("w", {3, 1, 1, 2}, weights)}));
    const Found outcome = outcome_of(t.g, random_floats(24, 2));
    EXPECT_NE(std::find(outcome.rules.begin(), outcome.rules.end(), "calibrate.tiny_range"),
              outcome.rules.end())
        << factor;
    EXPECT_LE(outcome.steps, 1.0);
  }
}

}  // namespace
}  // namespace deuteron
