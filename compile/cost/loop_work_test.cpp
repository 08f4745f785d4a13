// SPDX-License-Identifier: Apache-2.0
#include "compile/cost/loop_work.h"

#include <gtest/gtest.h>

#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/cost/cpu_cost.h"
#include "compile/options.h"
#include "ir/text.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// A pointwise convolution of 3 x 5 places, whose weights are packed.
Graph convolution(const char* core) {
  Diagnostics d;
  std::optional<Graph> g = parse(
      "input x : f32[1,3,5,8] order=0,3,1,2\n"
      "y = conv2d(x, random f32[6,1,1,8], random f32[6])\noutput y order=0,3,1,2\n",
      "f.txt", d);
  CompileOptions options;
  options.packed_weights = true, options.packed_growth_percent = 1000;
  options.ports = PortTypes::steps;
  Samples samples(1);
  for (int k = 0; k < 120; k++) {
    if (k == 0) samples[0].emplace_back();
    samples[0][0].push_back(static_cast<float>(k % 7) - 3.0f);
  }
  std::optional<Compilation> c = compile(*std::move(g), *find_target(core, d), samples, options, d);
  for (const Diagnostic& e : d.list())
    EXPECT_NE(e.severity, Severity::error) << format_diagnostic(e);
  return std::move(c.value().graph);
}

TEST(LoopWork, CountsTilesThatAreFilledUp) {
  const Graph g = convolution("cortex-m4");
  ASSERT_EQ(g.nodes.size(), 1u);
  const std::optional<LoopWork> found = loop_work(g, g.nodes[0], Isa::dsp);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kernel, "deuteron::packed_conv2d/pixels");
  EXPECT_EQ(found->work.results, 16 * 8);  // 15 windows two by two, 6 filters four by four
  EXPECT_EQ(found->work.macs, 16 * 8 * 8);
  EXPECT_EQ(found->work.windows, 15);
  const Graph scalar = convolution("cortex-m3");
  const std::optional<LoopWork> by_fours = loop_work(scalar, scalar.nodes.at(0), Isa::scalar);
  ASSERT_TRUE(by_fours);
  EXPECT_EQ(by_fours->kernel, "deuteron::packed_conv2d/windows");
  EXPECT_EQ(by_fours->work.results, 16 * 6);  // filters one by one
}

// Only a target that was measured has such lines.
TEST(LoopWork, IsAskedOfMeasuredTargets) {
  const Graph g = convolution("cortex-m4");
  Diagnostics d;
  Target target = find_target("cortex-m4", d).value();
  target.cpu_cycles.clear();
  target.cpu_cost.push_back({.kernel = "deuteron::packed_conv2d/pixels", .call = 1, .window = 512});
  EXPECT_NE(cpu_cycles(g, g.nodes.at(0), target), 31);
  target.measured = "a chip";
  EXPECT_EQ(cpu_cycles(g, g.nodes.at(0), target), 1 + 2 * 15);
}

}  // namespace
}  // namespace deuteron
