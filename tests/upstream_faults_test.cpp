// SPDX-License-Identifier: Apache-2.0
// What ExecuTorch 1.5's Cortex-M flow gets silently wrong, or cannot run: here it is right, on
// every instruction set. Each case is a graph, random samples, and the program that comes of it
// beside the float model; the bound is in steps of 1/255 of the output's range.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "compile/calibrate/float_executor.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "explain/report/accuracy.h"
#include "explain/report/program_report.h"
#include "ir/text.h"
#include "targets/target.h"

namespace deuteron {
namespace {

Target bare_target(Isa isa) {
  Target t;
  t.name = "test";
  t.isa = isa;
  return t;
}

struct Result {
  double steps = 0;  // the worst of the instruction sets
  std::vector<std::string> operators;
  Shape output;
};

// `body`: the lines between the inputs and the output `y`.
Result run(const std::string& inputs, const std::string& body, float low = -2, float high = 2,
           const std::string& order = "", double least_step = 0) {
  const std::string text = "graph \"case\"\nsource 0 \"op\" \"aten.op.default\"\n" + inputs + body +
                           "output y" + order + "\n";
  Result result;
  for (const Isa isa : {Isa::scalar, Isa::dsp, Isa::mve}) {
    Diagnostics diagnostics;
    const std::optional<Graph> graph = parse(text, "case", diagnostics);
    if (!graph) {
      for (const Diagnostic& d : diagnostics.list()) ADD_FAILURE() << d.what;
      return result;
    }
    std::mt19937 random(3);
    Samples samples(4);
    for (auto& sample : samples)
      for (const Port& port : graph->inputs) {
        std::vector<float> values(static_cast<size_t>(graph->type(port.value).elements()));
        for (float& v : values)
          v = low + (high - low) * static_cast<float>(random() % 4096) / 4095.0f;
        sample.push_back(std::move(values));
      }
    const auto c = compile(*graph, bare_target(isa), samples, {}, diagnostics);
    for (const Diagnostic& d : diagnostics.list()) ADD_FAILURE() << d.where << ": " << d.what;
    if (!c) return result;
    result.operators.clear();
    for (const OperatorReport& op : report_program(*c, bare_target(isa)).operators) {
      result.operators.push_back(op.op);
      EXPECT_NE(op.placement, Placement::portable) << op.op;
    }
    const Port& port = c->graph.outputs[0];
    result.output = logical_shape(port, c->graph.type(port.value).shape);
    float lowest = 0, highest = 0;  // of the float model's output
    const FloatExecutor executor(c->reference);
    for (const auto& sample : samples) {
      std::vector<std::vector<float>> stored;
      for (size_t i = 0; i < sample.size(); ++i) {
        const Port& in = c->reference.inputs[i];
        stored.push_back(to_storage(in, c->reference.type(in.value).shape, sample[i]));
      }
      const std::vector<std::vector<float>> outputs = executor.run(stored, {});
      for (const float v : outputs[0]) lowest = std::min(lowest, v), highest = std::max(highest, v);
    }
    const double step = std::max((highest - lowest) / 255.0, least_step);
    result.steps = std::max(result.steps, measure_accuracy(*c, samples, 1).max_abs_error / step);
  }
  return result;
}

const std::string kImages =
    "input a : f32[1,4,5,6] order=0,2,3,1\ninput b : f32[1,4,5,6] order=0,2,3,1\n";
const std::string kImage = "input x : f32[1,5,5,6] order=0,2,3,1\n";

TEST(UpstreamFaults, MinimumAndMaximumOfChannelsLastTensors) {
  for (const char* op : {"minimum", "maximum"}) {
    const Result same = run(kImages, fmt::format("y = {}(a, b) : f32[1,4,5,6] from 0\n", op), -2, 2,
                            " order=0,2,3,1");
    EXPECT_LE(same.steps, 2) << op;
    const Result channels = run(
        "input a : f32[1,4,5,6] order=0,2,3,1\n",
        fmt::format("k = const f32[1,1,1,6] random(5)\ny = {}(a, k) : f32[1,4,5,6] from 0\n", op),
        -2, 2, " order=0,2,3,1");
    EXPECT_LE(channels.steps, 4) << op;  // the operands reach further than the result
  }
}

TEST(UpstreamFaults, PermuteOfChannelsLastTensors) {
  EXPECT_LE(run(kImages,
                "s = add(a, b) : f32[1,4,5,6] from 0\ny = permute(s) perm=0,3,1,2 : f32[1,6,4,5] "
                "from 0\n")
                .steps,
            3);
  // The identity of rank 2 stays what it is.
  EXPECT_LE(run("input x : f32[3,6]\n", "y = permute(x) perm=0,1 : f32[3,6] from 0\n").steps, 1);
}

TEST(UpstreamFaults, SoftmaxOverManyNearlyEqualElements) {
  for (const i64 count : {511, 512, 700, 4096}) {
    const Result r = run(fmt::format("input x : f32[2,{}]\n", count),
                         fmt::format("y = softmax(x) axis=1 : f32[2,{}] from 0\n", count), 0.99f,
                         1.0f, "", 1.0 / 256);
    EXPECT_LE(r.steps, 1) << count;  // each probability is far below one step
  }
}

// 54 products of rounded numbers are off by about 8 steps of so narrow a result; without the
// rescaling it would be 170.
TEST(UpstreamFaults, AnActivationWhoseBoundsAreNotTheRange) {
  const std::string conv =
      "w = const f32[3,3,3,6] random(17)\nc = conv2d(x, w) pad_before=1,1 pad_after=1,1 : "
      "f32[1,5,5,3] from 0\n";
  EXPECT_LE(run(kImage, conv + "y = clamp(c) bounds=0.2,0.6 : f32[1,5,5,3] from 0\n", -2, 2,
                " order=0,2,3,1")
                .steps,
            12);
  EXPECT_LE(run(kImage, conv + "y = clamp(c) bounds=-1,1 : f32[1,5,5,3] from 0\n", -2, 2,
                " order=0,2,3,1")
                .steps,
            12);
}

TEST(UpstreamFaults, AveragePoolWithCeilAndCountedPadding) {
  const Result r =
      run(kImage,
          "y = avg_pool2d(x) kernel=2,2 stride=2,2 pad=1,1 ceil_mode=true : f32[1,3,3,6] from 0\n",
          -2, 2, " order=0,2,3,1");
  EXPECT_EQ(r.output, (Shape{1, 6, 3, 3}));
  EXPECT_LE(r.steps, 3);
}

TEST(UpstreamFaults, EveryFormOfGelu) {
  for (const char* fn : {"gelu", "gelu_tanh"})
    EXPECT_LE(run("input x : f32[7,9]\n", fmt::format("y = unary(x) fn={} : f32[7,9] from 0\n", fn),
                  -4, 4)
                  .steps,
              3)
        << fn;
}

// Strides that reach further than the kernel, and rows of padding that the stock kernel writes past
// its output.
TEST(UpstreamFaults, TransposedConvolutionWithinItsOutput) {
  struct Case {
    i64 kernel, stride, pad, out;
  };
  for (const Case& k : {Case{1, 2, 0, 9}, Case{2, 2, 1, 8}, Case{3, 2, 2, 7}, Case{4, 2, 3, 6},
                        Case{2, 3, 0, 14}, Case{3, 3, 1, 13}}) {
    const Result r =
        run(kImage,
            fmt::format("w = const f32[3,{0},{0},6] random(9)\ny = conv_transpose2d(x, w) "
                        "stride={1},{1} pad={2},{2} : f32[1,{3},{3},3] from 0\n",
                        k.kernel, k.stride, k.pad, k.out),
            -2, 2, " order=0,2,3,1");
    EXPECT_LE(r.steps, 4) << k.kernel << " " << k.stride << " " << k.pad;
  }
}

TEST(UpstreamFaults, NegativePadsCrop) {
  EXPECT_LE(
      run("input x : f32[2,5,7]\n", "y = pad(x) before=0,-1,1 after=0,-2,-3 : f32[2,2,5] from 0\n")
          .steps,
      1);
}

TEST(UpstreamFaults, ActivationsThatFollowNoConvolution) {
  for (const char* fn : {"hardswish", "hardsigmoid", "silu", "sigmoid", "tanh"})
    EXPECT_LE(run("input x : f32[3,4,5]\n",
                  fmt::format("y = unary(x) fn={} : f32[3,4,5] from 0\n", fn), -5, 5)
                  .steps,
              3)
        << fn;
}

TEST(UpstreamFaults, SoftmaxOverAnyAxisOfAnImage) {
  EXPECT_LE(
      run(kImage, "y = softmax(x) axis=3 : f32[1,5,5,6] from 0\n", -3, 3, " order=0,2,3,1").steps,
      4);
  EXPECT_LE(
      run(kImage, "y = softmax(x) axis=2 : f32[1,5,5,6] from 0\n", -3, 3, " order=0,2,3,1").steps,
      4);
  EXPECT_LE(run("input x : f32[1,4,7,1] order=0,2,3,1\n",
                "y = softmax(x) axis=2 : f32[1,4,7,1] from 0\n", -3, 3, " order=0,2,3,1")
                .steps,
            4);
}

TEST(UpstreamFaults, ValuesFarOutsideTheRangeSaturateOnTheirOwnSide) {
  const Result r = run("input x : f32[4,8]\n",
                       "k = const f32[1,1] 1000\ny = mul(x, k) : f32[4,8] from 0\n", -3e4f, 3e4f);
  EXPECT_LE(r.steps, 2);
}

}  // namespace
}  // namespace deuteron
