// SPDX-License-Identifier: Apache-2.0
// Passes keep the numbers: every graph here runs in float before and after the float passes, on the
// same data in the user's axes; and they leave exactly the operators that they should.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "compile/calibrate/float_executor.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/lower/float_calls.h"
#include "compile/options.h"
#include "compile/pipeline.h"
#include "ir/rewrite/fuse_rules.h"
#include "ir/rewrite/view_rules.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "targets/target.h"

namespace deuteron {
namespace {

Graph graph_of(const std::string& text) {
  Diagnostics diagnostics;
  std::optional<Graph> g = parse(text, "test.txt", diagnostics);
  for (const Diagnostic& d : diagnostics.list()) ADD_FAILURE() << format_diagnostic(d);
  return g ? std::move(*g) : Graph{};
}

std::vector<std::vector<float>> run(const Graph& g,
                                    const std::vector<std::vector<float>>& user_inputs) {
  std::vector<std::vector<float>> outputs;
  const std::vector<std::vector<float>> raw =
      FloatExecutor(g).run(stored_inputs(g, user_inputs), {});
  for (size_t o = 0; o < raw.size(); ++o)
    outputs.push_back(to_user(g.outputs[o], g.type(g.outputs[o].value).shape, raw[o]));
  return outputs;
}

std::vector<std::string> operators(const Graph& g) {
  std::vector<std::string> names;
  for (const Node& n : g.nodes) names.emplace_back(name_of(n.op));
  return names;
}

// The float passes in pipeline order.
Graph optimized(Graph g, bool contiguous_io = false) {
  CompileOptions options;
  options.contiguous_io = contiguous_io;
  const Target target;
  const Samples samples;
  Compilation result;
  Diagnostics diagnostics;
  i64 budget = 1 << 20;
  PassContext context{g, target, samples, options, result, diagnostics, &budget};
  EXPECT_TRUE(run_passes(context, "fold-constants", "fuse-again"));
  return g;
}

// Optimizes, checks that outputs agree to float rounding, and returns the operators that are left.
std::vector<std::string> left_after(const std::string& text, bool contiguous_io = false) {
  const Graph before = graph_of(text);
  const Graph after = optimized(before, contiguous_io);
  std::mt19937 random(7);
  std::uniform_real_distribution<float> real(-2, 2);
  std::vector<std::vector<float>> inputs;
  for (const Port& p : before.inputs) {
    inputs.emplace_back(before.type(p.value).elements());
    for (float& x : inputs.back()) x = real(random);
  }
  const auto expected = run(before, inputs), got = run(after, inputs);
  EXPECT_EQ(expected.size(), got.size());
  for (size_t o = 0; o < expected.size(); ++o) {
    EXPECT_EQ(logical_shape(before.outputs[o], before.type(before.outputs[o].value).shape),
              logical_shape(after.outputs[o], after.type(after.outputs[o].value).shape));
    EXPECT_EQ(expected[o].size(), got[o].size());
    for (size_t k = 0; k < expected[o].size(); ++k) {
      EXPECT_NEAR(expected[o][k], got[o][k], 1e-4 * (1 + std::abs(expected[o][k])))
          << "output " << o << " element " << k << "\n"
          << print(after);
      if (::testing::Test::HasFailure()) return {};
    }
  }
  return operators(after);
}

using ::testing::ElementsAre;

const char* const kSources =
    "graph \"t\"\nsource 0 \"a\" \"aten.a.default\"\nsource 1 \"b\" \"aten.b.default\"\n";

TEST(Passes, FoldBatchNormAndReluIntoTheConvolutionAndPermutesIntoThePorts) {
  EXPECT_THAT(left_after(std::string(kSources) + R"(
input x : f32[2,3,5,7]
w = const f32[4,3,3,2] random(1)
g = const f32[4] 0.5,1.5,-1,2
b = const f32[4] 0.1,-0.2,0.3,0
m = const f32[4] 0.3,0.1,-0.4,0.2
v = const f32[4] 0.9,1.1,0.5,2
wp = permute(w) perm=0,2,3,1 : f32[4,3,2,3] from 0
xp = permute(x) perm=0,2,3,1 : f32[2,5,7,3] from 0
c = conv2d(xp, wp) pad_before=1,0 pad_after=1,0 : f32[2,5,6,4] from 0
cp = permute(c) perm=0,3,1,2 : f32[2,4,5,6] from 0
np = permute(cp) perm=0,2,3,1 : f32[2,5,6,4] from 1
n = batch_norm(np, g, b, m, v) : f32[2,5,6,4] from 1
nq = permute(n) perm=0,3,1,2 : f32[2,4,5,6] from 1
r = clamp(nq) bounds=0,inf : f32[2,4,5,6] from 1
output r
)"),
              ElementsAre("conv2d"));
}

TEST(Passes, KeepTheUsersOrderWhenAsked) {
  const std::string text = std::string(kSources) + R"(
input x : f32[1,3,5,7]
w = const f32[4,3,2,3] random(1)
xp = permute(x) perm=0,2,3,1 : f32[1,5,7,3] from 0
c = conv2d(xp, w) : f32[1,3,6,4] from 0
cp = permute(c) perm=0,3,1,2 : f32[1,4,3,6] from 0
output cp
)";
  EXPECT_THAT(left_after(text), ElementsAre("conv2d"));
  EXPECT_THAT(left_after(text, true), ElementsAre("permute", "conv2d", "permute"));
}

TEST(Passes, FlattenBecomesAnOrderOfColumns) {
  EXPECT_THAT(left_after(std::string(kSources) + R"(
input x : f32[2,4,5,3] order=0,2,3,1
w = const f32[4,3,2,3] random(1)
c = conv2d(x, w) : f32[2,2,4,4] from 0
cp = permute(c) perm=0,3,1,2 : f32[2,4,2,4] from 0
f = reshape(cp) shape=2,32 : f32[2,32] from 1
k = const f32[5,32] random(3)
y = linear(f, k) : f32[2,5] from 1
output y
)"),
              ElementsAre("conv2d", "reshape", "linear"));
}

TEST(Passes, ResidualAdditionWithConstantAndScalarKeepsNoPermute) {
  EXPECT_THAT(left_after(std::string(kSources) + R"(
input x : f32[1,4,5,7]
w = const f32[4,3,3,4] random(1)
k = const f32[4,1,1] 0.5,-1,2,0.25
s = const f32[] 3
xp = permute(x) perm=0,2,3,1 : f32[1,5,7,4] from 0
c = conv2d(xp, w) pad_before=1,1 pad_after=1,1 : f32[1,5,7,4] from 0
cp = permute(c) perm=0,3,1,2 : f32[1,4,5,7] from 0
a = add(cp, x) : f32[1,4,5,7] from 1
m = mul(a, k) : f32[1,4,5,7] from 1
t = add(m, s) : f32[1,4,5,7] from 1
tp = permute(t) perm=0,2,3,1 : f32[1,5,7,4] from 0
d = conv2d(tp, w) : f32[1,3,5,4] from 0
dp = permute(d) perm=0,3,1,2 : f32[1,4,3,5] from 0
output dp
)"),
              ::testing::Not(::testing::Contains("permute")));
}

TEST(Passes, ZeroPadGoesIntoTheConvolutionAnyOtherStays) {
  const auto text = [](const char* value) {
    return std::string(kSources) + R"(
input x : f32[1,3,6,8]
w = const f32[4,3,3,3] random(1)
p = pad(x) before=0,0,0,0 after=0,0,1,2)" +
           value + R"( : f32[1,3,7,10] from 0
pp = permute(p) perm=0,2,3,1 : f32[1,7,10,3] from 0
c = conv2d(pp, w) stride=2,2 : f32[1,3,4,4] from 0
cp = permute(c) perm=0,3,1,2 : f32[1,4,3,4] from 0
output cp
)";
  };
  EXPECT_THAT(left_after(text("")), ElementsAre("conv2d"));
  EXPECT_THAT(left_after(text(" value=0.5")), ElementsAre("pad", "conv2d"));
}

TEST(Passes, SoftmaxOverChannelsWorksOverTheLastAxis) {
  const std::string text = std::string(kSources) + R"(
input x : f32[1,3,5,7]
w = const f32[6,2,2,3] random(1)
xp = permute(x) perm=0,2,3,1 : f32[1,5,7,3] from 0
c = conv2d(xp, w) : f32[1,4,6,6] from 0
cp = permute(c) perm=0,3,1,2 : f32[1,6,4,6] from 0
y = softmax(cp) axis=1 : f32[1,6,4,6] from 1
output y
)";
  EXPECT_THAT(left_after(text), ElementsAre("conv2d", "softmax"));
}

TEST(Passes, CountedPaddingBecomesAPad) {
  EXPECT_THAT(left_after(std::string(kSources) + R"(
input x : f32[2,5,7,3]
y = avg_pool2d(x) kernel=3,2 stride=2,1 pad=1,1 : f32[2,3,8,3] from 0
output y
)"),
              ElementsAre("pad", "avg_pool2d"));
}

TEST(Passes, BatchNormWithoutAConvolutionIsADepthwiseOne) {
  EXPECT_THAT(left_after(std::string(kSources) + R"(
input x : f32[2,5,7,3]
g = const f32[3] 0.5,1.5,-1
b = const f32[3] 0.1,-0.2,0.3
m = const f32[3] 0.3,0.1,-0.4
v = const f32[3] 0.9,1.1,0.5
y = batch_norm(x, g, b, m, v) epsilon=0.001 : f32[2,5,7,3] from 0
output y
)"),
              ElementsAre("reshape", "conv2d",
                          "reshape"));  // as one image: the depthwise kernels take no more
}

// Each row of the weight divided by its norm, as nn.utils.parametrize leaves it.
TEST(Passes, ANormOfAWeightIsComputedHowOftenItIsRepeated) {
  const std::string weight = R"(
input x : f32[2,32]
w = const f32[80,32] random(3)
q = unary(w) fn=pow alpha=2 : f32[80,32] from 0
s = reduce(q) fn=1 axes=1 : f32[80,1] from 0
n = unary(s) fn=sqrt : f32[80,1] from 0
e = expand(n) shape=80,32 : f32[80,32] from 0
)";
  EXPECT_THAT(
      left_after(
          kSources + weight +
          "d = div(w, e) : f32[80,32] from 0\ny = linear(x, d) : f32[2,80] from 1\noutput y\n"),
      ElementsAre("linear"));
  // Elsewhere it would be a constant that takes flash.
  EXPECT_THAT(left_after(kSources + weight +
                         "y = clamp(x) bounds=0,inf : f32[2,32] from 1\noutput e\noutput y\n"),
              ElementsAre("expand", "clamp"));
}

TEST(Passes, AValueThatIsReadTwiceIsNotFusedAway) {
  EXPECT_THAT(left_after(std::string(kSources) + R"(
input x : f32[1,5,7,3]
w = const f32[4,3,3,3] random(1)
c = conv2d(x, w) : f32[1,3,5,4] from 0
r = clamp(c) bounds=0,6 : f32[1,3,5,4] from 1
y = add(r, c) : f32[1,3,5,4] from 1
output y
)"),
              ElementsAre("conv2d", "pointwise"));
}

TEST(Passes, EveryOperatorKeepsItsOrigin) {
  const Graph g = optimized(graph_of(std::string(kSources) + R"(
input x : f32[1,5,7,3]
w = const f32[4,3,3,3] random(1)
c = conv2d(x, w) : f32[1,3,5,4] from 0
r = clamp(c) bounds=0,6 : f32[1,3,5,4] from 1
output r
)"));
  ASSERT_EQ(g.nodes.size(), 1u);
  EXPECT_EQ(g.nodes[0].origin, (Origin{0, 1}));
}

TEST(Passes, FactorsGoIntoTheMatrixProduct) {
  EXPECT_THAT(left_after(std::string(kSources) + R"(
input q : f32[2,3,4,5]
input k : f32[2,3,6,5]
h = const f32[] 0.25
t = const f32[1] 3
s = mul(q, h) : f32[2,3,4,5] from 0
a = reshape(s) shape=6,4,5 : f32[6,4,5] from 0
b = reshape(k) shape=6,6,5 : f32[6,6,5] from 0
p = matmul(a, b) scale=0.5 : f32[6,4,6] from 0
r = reshape(p) shape=2,3,4,6 : f32[2,3,4,6] from 1
y = mul(t, r) : f32[2,3,4,6] from 1
output y
)"),
              ElementsAre("reshape", "reshape", "matmul", "reshape"));
}

TEST(Passes, FactorsStayWhereTheProductOrItsOperandIsReadElsewhereOrTheyAreNegative) {
  EXPECT_THAT(left_after(std::string(kSources) + R"(
input q : f32[2,3,5]
input k : f32[2,4,5]
h = const f32[] 0.25
n = const f32[] -2
s = mul(q, h) : f32[2,3,5] from 0
p = matmul(s, k) : f32[2,3,4] from 0
y = mul(p, n) : f32[2,3,4] from 1
output y
output s
)"),
              ElementsAre("pointwise", "matmul", "pointwise"));
}

// The command line asks for both before it compiles; other callers are told by the compiler.
TEST(Passes, CompileSaysWhatIsMissing) {
  const auto rule_of = [](const CompileOptions& options) {
    Diagnostics diagnostics;
    EXPECT_FALSE(compile(graph_of("input x : f32[2,3]\ny = unary(x) fn=tanh\noutput y\n"), Target(),
                         {}, options, diagnostics));
    return diagnostics.list().empty() ? "" : diagnostics.list()[0].rule;
  };
  CompileOptions unknown;
  unknown.stop_after = "nonsense";
  EXPECT_EQ(rule_of(unknown), "pipeline.pass");
  EXPECT_EQ(rule_of({}), "calibrate.none");
}

// The passes before it leave no operator in float that the runtime's kernel refuses.
TEST(Passes, AKernelThatRefusesItsOperandsIsNotCalled) {
  const Type integers{DType::s32, {2, 3}, {}};
  const std::vector<const Type*> one{&integers};
  const std::vector<const Constant*> none{nullptr};
  const LowerContext context{TypeView(one), TypeView(one), none, Isa::scalar};
  EXPECT_EQ(float_call(Softmax{1}, context).why.rule, "portable.call");
}

}  // namespace
}  // namespace deuteron
