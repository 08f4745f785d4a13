// SPDX-License-Identifier: Apache-2.0
// Sigmoid and tanh beside the NPU, whose result has fixed steps: none loses more than a decibel by
// them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compile/calibrate/test_graph.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "compile/quantize/test_quantized.h"
#include "explain/report/accuracy.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// y = factor * f(linear(x)), whose operand reaches as far as `reach`; a factor of 1 is left out.
Graph head(UnaryFn fn, float reach, float factor) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 12});
  const ValueId w = t.constant("w", {6, 12}, random_floats(72, 1, -reach / 6, reach / 6));
  ValueId y = t.node("f", Unary{fn, 0}, {t.node("layer", Linear{}, {x, w})});
  if (factor != 1) y = t.node("scaled", Mul{}, {y, t.constant("factor", {1}, {factor})});
  t.output(y);
  return t.g;
}

struct Measured {
  double db = 0;
  size_t tables = 0;
};
Measured measured(const Graph& g, const std::string& name, const std::string& prefer = "auto") {
  Diagnostics d;
  const Target target = *find_target(name, d);
  CompileOptions options;
  options.npu.prefer = prefer;
  const std::optional<Compilation> c = compile(Graph(g), target, samples_of(g, 64), options, d);
  EXPECT_TRUE(c && !d.has_errors());
  if (!c) return {};
  return {measure_accuracy(*c, samples_of(g, 128, -1, 1, 900), 1).sqnr_db, c->forms.tables.size()};
}

TEST(FixedSteps, ANarrowResultIsATableOnTheCpu) {
  for (const UnaryFn fn : {UnaryFn::sigmoid, UnaryFn::tanh})
    for (const float factor : {1.0f, 3.1416f, 160.0f}) {
      const Graph g = head(fn, fn == UnaryFn::sigmoid ? 1 : 0.3f, factor);
      const Measured cpu = measured(g, "cortex-m55"), both = measured(g, "imxrt700cm");
      EXPECT_GE(both.db, cpu.db - 1) << factor;
      EXPECT_EQ(both.tables, 1u) << factor;
    }
}

TEST(FixedSteps, AWideResultStaysOnTheNpu) {
  for (const UnaryFn fn : {UnaryFn::sigmoid, UnaryFn::tanh}) {
    const Graph g = head(fn, 24, 1);
    const Measured cpu = measured(g, "cortex-m55"), both = measured(g, "imxrt700cm");
    EXPECT_GE(both.db, cpu.db - 1);
    EXPECT_EQ(both.tables, 0u);
  }
}

TEST(FixedSteps, PreferNpuKeepsTheNpusForm) {
  const Graph g = head(UnaryFn::tanh, 0.3f, 3.1416f);
  EXPECT_EQ(measured(g, "imxrt700cm", "npu").tables, 0u);
}

}  // namespace
}  // namespace deuteron
