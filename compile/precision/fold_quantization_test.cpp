// SPDX-License-Identifier: Apache-2.0
// What stands between dequantize and quantize becomes int8, by text: the operators that are left,
// and the numbers against the float graph.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compile/calibrate/float_executor.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "ir/text.h"
#include "targets/target.h"

namespace deuteron {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

// conv, quantized by itself; then relu6, quantized with other parameters; then what the test adds.
std::string conv_and_relu6(const std::string& middle, const std::string& rest) {
  return R"(graph "t"
source 0 "conv2d" "aten.conv2d.default"
source 1 "relu6" "aten.relu6.default"
source 2 "rest" "aten.rest.default"
input x : f32[2,5,4,3] order=0,2,3,1
x_q = quantize(x) quant=q(scale=0.02 zero=-3) : s8[2,5,4,3] q(scale=0.02 zero=-3) from 0
x_f = dequantize(x_q) : f32[2,5,4,3] from 0
w_q = const s8[6,1,1,3] q(axis=0 scale=0.031;0.02;0.05;0.04;0.06;0.033 )"
    R"(zero=0;0;0;0;0;0 range=-127..127) random(3)
w = dequantize(w_q) : f32[6,1,1,3] from 0
b = const f32[6] 0.5,-0.25,0,1,-1,0.75
conv = conv2d(x_f, w, b) : f32[2,5,4,6] from 0
conv_q = quantize(conv) quant=)" +
         middle + " : s8[2,5,4,6] " + middle + R"( from 0
conv_f = dequantize(conv_q) : f32[2,5,4,6] from 0
relu6 = clamp(conv_f) bounds=0,6 : f32[2,5,4,6] from 1
)" + rest;
}

struct Folded {
  std::vector<std::string> operators;
  double worst = 0;  // difference from the float answer of the text, in steps of the result
};

Folded fold(const std::string& text, float step) {
  Diagnostics diagnostics;
  std::optional<Graph> g = parse(text, "t.txt", diagnostics);
  for (const Diagnostic& d : diagnostics.list()) ADD_FAILURE() << format_diagnostic(d);
  if (!g) return {};
  const std::optional<Target> target = find_target("cortex-m55", diagnostics);
  CompileOptions options;
  options.stop_after = "fold-quantization";
  const std::optional<Compilation> c = compile(*g, *target, {}, options, diagnostics);
  for (const Diagnostic& d : diagnostics.list()) ADD_FAILURE() << format_diagnostic(d);
  if (!c) return {};
  Folded result;
  for (const Node& n : c->graph.nodes) result.operators.emplace_back(name_of(n.op));
  std::mt19937 random(5);
  std::vector<float> x(static_cast<size_t>(g->type(g->inputs[0].value).elements()));
  for (float& v : x) v = std::uniform_real_distribution<float>(-2.5f, 2.5f)(random);
  const std::vector<std::vector<float>> inputs = {x};
  const auto expected = FloatExecutor(*g).run(inputs, {})[0],
             found = FloatExecutor(c->graph).run(inputs, {})[0];
  for (size_t i = 0; i < expected.size(); ++i)
    result.worst = std::max<double>(result.worst, std::abs(expected[i] - found[i]) / step);
  return result;
}

const std::string kRequantized =
    R"(relu6_q = quantize(relu6) quant=q(scale=0.0235 zero=-128) : )"
    R"(s8[2,5,4,6] q(scale=0.0235 zero=-128) from 1
y = dequantize(relu6_q) : f32[2,5,4,6] from 1
output y order=0,2,3,1
)";

TEST(FoldQuantization, AnActivationQuantizedApartIsABoundOfTheConvolution) {
  for (const double scale : {0.09, 0.02}) {  // wider than 0..6; up to 4.54 only
    const std::string middle = fmt::format("q(scale={} zero=-100)", scale);
    const Folded f = fold(conv_and_relu6(middle, kRequantized), 0.0235f);
    EXPECT_THAT(f.operators, ElementsAre("quantize", "conv2d", "dequantize")) << middle;
    // The text rounds twice: to half a step of the middle, then of the result.
    EXPECT_LE(f.worst, scale / 2 / 0.0235 + 1) << middle;
  }
}

TEST(FoldQuantization, AMiddleThatIsReadElsewhereStays) {
  const Folded f =
      fold(conv_and_relu6("q(scale=0.09 zero=5)", kRequantized + "output conv_f order=0,2,3,1\n"),
           0.0235f);
  EXPECT_THAT(f.operators, Contains("clamp"));
}

TEST(FoldQuantization, ParametersPassThroughAnActivationThatNobodyQuantizes) {
  const Folded f =
      fold(conv_and_relu6("q(scale=0.05 zero=5)",
                          R"(mean = avg_pool2d(relu6) kernel=5,4 stride=5,4 : f32[2,1,1,6] from 2
mean_q = quantize(mean) quant=q(scale=0.03 zero=-128) : s8[2,1,1,6] q(scale=0.03 zero=-128) from 2
y = dequantize(mean_q) : f32[2,1,1,6] from 2
output y order=0,2,3,1
)"),
           0.03f);
  EXPECT_THAT(f.operators, ElementsAre("quantize", "conv2d", "clamp", "reduce", "dequantize"));
  EXPECT_LE(f.worst, 2);
  const Folded pooled =
      fold(conv_and_relu6("q(scale=0.05 zero=5)",
                          R"(most = max_pool2d(relu6) kernel=2,2 stride=1,1 : f32[2,4,3,6] from 2
output most order=0,2,3,1
)"),
           0.05f);
  EXPECT_THAT(pooled.operators,
              ElementsAre("quantize", "conv2d", "clamp", "max_pool2d", "dequantize"));
  EXPECT_LE(pooled.worst, 1);
}

}  // namespace
}  // namespace deuteron
