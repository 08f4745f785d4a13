// SPDX-License-Identifier: Apache-2.0
// Beside an NPU that computes nothing of a float network, the CPU gives the numbers that it gives
// alone.
#include <gtest/gtest.h>

#include <algorithm>

#include "compile/calibrate/test_graph.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "compile/quantize/test_quantized.h"
#include "explain/report/accuracy.h"
#include "targets/target.h"

namespace deuteron {
namespace {

TEST(Rounding, IsThatOfTheCpuWhereNothingRunsOnTheNpu) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 4, 16});
  const ValueId mean = t.node("mean", Reduce{Reduce::kMean, {1}}, {x});  // of four: many halves
  t.output(t.node("y", Linear{}, {mean, t.constant("w", {5, 16}, random_floats(80, 2))}));
  const Samples samples = samples_of(t.g, 32), others = samples_of(t.g, 512, -1, 1, 900);
  std::vector<double> db, largest;
  for (const char* name : {"imxrt700cm", "cortex-m33"}) {
    Diagnostics d;
    CompileOptions options;
    Target target = *find_target(name, d);
    // as a recipe says it, no option of the user's
    target.options.min_macs = options.npu.min_macs = 1 << 20;
    const std::optional<Compilation> c = compile(Graph(t.g), target, samples, options, d);
    ASSERT_TRUE(c);
    EXPECT_TRUE(c->npu.kernels.empty());
    const Accuracy accuracy = measure_accuracy(*c, others, 1);
    db.push_back(accuracy.sqnr_db), largest.push_back(accuracy.max_abs_error);
  }
  EXPECT_EQ(db[0], db[1]);
  EXPECT_EQ(largest[0], largest[1]);
}

}  // namespace
}  // namespace deuteron
