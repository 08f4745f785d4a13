// SPDX-License-Identifier: Apache-2.0
// Arithmetic, reductions and normalization in int8, end to end: float graphs are calibrated,
// compiled and run by the kernels, on targets of each instruction set. Every operator must be one
// of the dialect, and the result near that of the float graph. Extents differ, batches are above 1,
// either operand broadcasts.
#include <fmt/format.h>

#include "base/tensor/elements.h"
#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/test_graph.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "explain/report/accuracy.h"
#include "explain/report/program_report.h"
#include "ops/pointwise/pointwise.h"
#include "targets/target.h"

namespace deuteron {
namespace {

struct Outcome {
  double steps = 0, sqnr_db = 0;  // largest error in steps of the (first) result
  std::vector<std::string> operators;
};

Outcome compiled(const Graph& graph, float low = -2, float high = 3) {
  Outcome outcome;
  for (const char* name : {"cortex-m55", "cortex-m33", "cortex-m3"}) {
    Diagnostics diagnostics;
    const std::optional<Target> target = find_target(name, diagnostics);
    Samples samples;
    for (unsigned s = 0; s < 3; ++s) {
      samples.emplace_back();
      for (const Port& port : graph.inputs)
        samples.back().push_back(random_floats(graph.type(port.value).elements(),
                                               10 * s + 7 + static_cast<unsigned>(port.value), low,
                                               high));
    }
    CompileOptions options;
    options.quantize.observer = Observer::min_max;
    const auto c = compile(graph, *target, samples, options, diagnostics);
    for (const Diagnostic& d : diagnostics.list()) ADD_FAILURE() << format_diagnostic(d);
    if (!c) return outcome;
    outcome.operators.clear();
    for (const OperatorReport& op : report_program(*c, *target).operators) {
      EXPECT_TRUE(op.op.starts_with("cortex_m::") || op.op == "deuteron::sum") << op.op;
      outcome.operators.push_back(op.op.substr(op.op.find(':') + 2));
    }
    const Accuracy accuracy = measure_accuracy(*c, samples, 1);
    const Node* last = nullptr;
    for (const Node& n : c->graph.nodes)
      if (n.outputs[0] == c->graph.outputs[0].value) last = &n;
    while (last && std::holds_alternative<Reshape>(last->op)) {
      const ValueId from = last->inputs[0];
      last = nullptr;
      for (const Node& n : c->graph.nodes)
        if (n.outputs[0] == from) last = &n;
    }
    const double step = last ? c->graph.type(last->inputs[0]).quant.scale[0] : 1;
    outcome.steps = std::max(outcome.steps, accuracy.max_abs_error / step);
    outcome.sqnr_db =
        outcome.sqnr_db == 0 ? accuracy.sqnr_db : std::min(outcome.sqnr_db, accuracy.sqnr_db);
  }
  return outcome;
}

const std::pair<Shape, Shape> kPairs[] = {{{3, 5}, {3, 5}},
                                          {{2, 3, 5}, {5}},
                                          {{5}, {2, 3, 5}},
                                          {{2, 3, 5}, {3, 1}},
                                          {{2, 3, 5}, {2, 1, 1}},
                                          {{2, 4, 3, 5}, {1, 1, 1, 5}},
                                          {{2, 4, 3, 5}, {2, 1, 1, 5}},
                                          {{1, 4, 1, 5}, {2, 1, 3, 1}},
                                          {{3, 1}, {1, 4}},
                                          {{2, 3}, {}},
                                          {{2, 1, 3, 1, 2}, {1, 4, 1, 5, 1}},
                                          {{4, 1, 5}, {2, 1, 3, 5}},
                                          {{1}, {3, 2}}};

TEST(Int8Arithmetic, BroadcastsOperandsThatAreBothComputed) {
  for (const auto& [a, b] : kPairs) {
    SCOPED_TRACE(to_text(a) + " and " + to_text(b));
    const std::pair<Op, double> operators[] = {
        {Add{}, 2.2}, {Add{Bounds{}, -1}, 2.2}, {Add{Bounds{}, 0.5f}, 2.2},
        {Mul{}, 4.5}, {Minimum{}, 1.01},        {Maximum{}, 1.01}};
    for (const auto& [op, bound] : operators) {
      TestGraph t;
      const ValueId x = t.input("a", a), y = t.input("b", b);
      t.output(t.node("y", op, {x, y}));
      const Outcome outcome = compiled(t.g);
      EXPECT_LE(outcome.steps, bound) << name_of(op);
    }
    TestGraph t;  // away from zero, where a quotient has no bound
    const ValueId x = t.input("a", a), y = t.input("b", b);
    t.output(t.node("y", Div{}, {x, y}));
    EXPECT_LE(compiled(t.g, 1, 3).steps, 6.0);
  }
}

TEST(Int8Arithmetic, BroadcastsConstantsOnEitherSide) {
  for (const auto& [a, b] : kPairs)
    for (const bool first : {false, true}) {
      SCOPED_TRACE(to_text(a) + " and " + to_text(b));
      for (const Op& op :
           {Op(Add{}), Op(Add{Bounds{}, -1}), Op(Mul{}), Op(Minimum{}), Op(Maximum{})}) {
        TestGraph t;
        const ValueId x = t.input("a", a),
                      y = t.constant("b", b, random_floats(numel(b), 99, -2, 3));
        t.output(t.node("y", op, first ? std::vector<ValueId>{y, x} : std::vector<ValueId>{x, y}));
        EXPECT_LE(compiled(t.g).steps, 4.5) << name_of(op);
      }
    }
}

TEST(Int8Arithmetic, AFunctionOfOneElementIsOneTable) {
  TestGraph t;
  const ValueId x = t.input("x", {2, 3, 4, 5}), three = t.constant("three", {}, {3}),
                six = t.constant("six", {1}, {6});
  const ValueId plus = t.node("plus", Add{Bounds{0, 6}}, {x, three}),
                product = t.node("product", Mul{}, {plus, x});
  const ValueId swish = t.node("swish", Div{}, {product, six});
  t.output(t.node("y", Minimum{},
                  {t.node("less", Add{Bounds{}, -1}, {three, swish}),
                   t.node("z", Unary{UnaryFn::exp, 0}, {x})}));
  const Outcome outcome = compiled(t.g, -4, 4);
  EXPECT_EQ(outcome.operators,
            (std::vector<std::string>{"quantize_per_tensor", "quantized_activation",
                                      "dequantize_per_tensor"}));
  EXPECT_GE(outcome.sqnr_db, 35);
}

TEST(Int8Arithmetic, ReducesOverAnyAxes) {
  const Shape shape{2, 3, 4, 5};
  for (const Axes& axes : {Axes{3}, Axes{2}, Axes{0}, Axes{1, 2}, Axes{0, 3}, Axes{1, 3},
                           Axes{0, 1, 2, 3}, Axes{2, 3}})
    for (const i64 fn : {Reduce::kMean, Reduce::kSum, Reduce::kMax, Reduce::kMin}) {
      SCOPED_TRACE(fmt::format("{} over {}", fn, to_text(axes)));
      TestGraph t;
      Reduce op;
      op.fn = fn;
      op.axes = axes;
      t.output(t.node("y", op, {t.input("x", shape)}));
      const Outcome outcome = compiled(t.g);
      EXPECT_LE(outcome.steps, fn == Reduce::kMean || fn == Reduce::kSum ? 4.0 : 2.1);
      EXPECT_GE(outcome.sqnr_db, 30);
    }
}

// Slopes below, above and on both sides of 1, of either sign; the last one is a table.
TEST(Int8Arithmetic, PreluHasASlopeForEachChannel) {
  const std::pair<std::vector<float>, std::string> cases[] = {
      {{0.25f, -0.5f, 1, 0}, "maximum"},
      {{1, 1.5f, 2.25f, 1.1f}, "minimum"},
      {{0.5f, 1.75f, -0.3f, 0}, "quantized_add"},
      {{0.3f, 0.3f, 0.3f, 0.3f}, "quantized_activation"}};
  for (const auto& [slopes, last] : cases)
    for (const Shape& shape : {Shape{3, 4}, Shape{2, 3, 5, 4}, Shape{2, 3, 4}}) {
      TestGraph t;
      const ValueId x = t.input("x", shape);
      t.output(t.node("y", Prelu{}, {x, t.constant("slope", {4}, slopes)}));
      const Outcome outcome = compiled(t.g);
      EXPECT_LE(outcome.steps, 2.1) << last << " " << to_text(shape);
      ASSERT_GE(outcome.operators.size(), 2u);
      EXPECT_EQ(outcome.operators[outcome.operators.size() - 2], last);
    }
}

// What a mask hides has no part in the result, wherever the scores lie and whether it is filled in
// or added.
TEST(Int8Arithmetic, MinusInfinityHidesScoresFromSoftmax) {
  const std::vector<bool> hidden{false, true, true,  true,  false, false,
                                 true,  true, false, false, false, true};
  std::vector<float> keep, fill;
  for (const bool h : hidden)
    keep.push_back(h ? 0.0f : 1.0f), fill.push_back(h ? kMinusInfinity : 0.0f);
  for (const bool added : {false, true})
    for (const float low : {-2.0f, -40.0f, 30.0f}) {
      TestGraph t;
      const ValueId x = t.input("x", {2, 3, 4});
      const ValueId kept = added ? x : t.node("kept", Mul{}, {x, t.constant("keep", {3, 4}, keep)});
      t.output(t.node("y", Softmax{2},
                      {t.node("masked", Add{}, {kept, t.constant("fill", {3, 4}, fill)})}));
      const Outcome outcome = compiled(t.g, low, low + 4);
      // The steps of the masked scores reach from 16 below the largest one, and from 0. A score
      // that is half a step off changes p by p (1 - p) of that.
      const double high = low + 4,
                   step = (std::max(high, 0.0) - std::min({double{low}, high - 16, 0.0})) / 255;
      EXPECT_LE(outcome.steps, 3 + 0.25 * step * 256) << added << " " << low;
    }
}

TEST(Int8Arithmetic, SoftmaxOverAnyAxis) {
  for (const Shape& shape : {Shape{2, 3, 4, 5}, Shape{3, 4}, Shape{2, 3, 2, 4, 5}})
    for (i64 axis = 0; axis < static_cast<i64>(shape.size()); ++axis) {
      TestGraph t;
      t.output(t.node("y", Softmax{axis}, {t.input("x", shape)}));
      EXPECT_LE(compiled(t.g, -4, 4).steps, 6.0) << to_text(shape) << " axis " << axis;
    }
}

TEST(Int8Arithmetic, SubtractsWithANegativeMultiplierAndKeepsImagesChannelsLast) {
  TestGraph t;
  const ValueId x = t.input("x", {1, 6, 5, 4}),
                w = t.constant("w", {6, 1, 1, 6}, random_floats(36, 3));
  const ValueId image = t.node("image", Permute{{0, 2, 3, 1}}, {x});
  AvgPool2d pool;
  pool.kernel = pool.stride = {5, 4};
  const ValueId squeezed = t.node("gate", Unary{UnaryFn::hardsigmoid, 0},
                                  {t.node("conv", Conv2d{}, {t.node("pool", pool, {image}), w})});
  const ValueId gate = t.node("first", Permute{{0, 3, 1, 2}}, {squeezed});
  t.output(t.node("y", Mul{}, {x, gate}));
  const Outcome outcome = compiled(t.g);
  EXPECT_EQ(
      outcome.operators,
      (std::vector<std::string>{"quantize_per_tensor", "sum", "quantized_conv2d",
                                "quantized_activation", "quantized_mul", "dequantize_per_tensor"}));
}

TEST(PointProgram, TextAndBack) {
  const char* const text = "add(x,3) clamp(%0,0,6) mul(x,%1) tanh(%2,0) div(1,%3) minimum(%4,-0.5)";
  const auto program = point_program_named(text);
  ASSERT_TRUE(program);
  EXPECT_EQ(to_text(*program), text);
  EXPECT_FLOAT_EQ(evaluate(*program, -2), -1 / std::tanh(2.0f));
  for (const char* wrong :
       {"add(x)", "add(%0,x)", "mul(x,1", "nothing(x,1)", "clamp(x,1)", "add(x,1) sub(%1,x)"})
    EXPECT_FALSE(point_program_named(wrong)) << wrong;
  EXPECT_FALSE(line_of(*program));
  const auto line = line_of(*point_program_named("mul(x,2) sub(1,%0) div(%1,4)"));
  ASSERT_TRUE(line);
  EXPECT_DOUBLE_EQ(line->slope, -0.5);
  EXPECT_DOUBLE_EQ(line->offset, 0.25);
}

}  // namespace
}  // namespace deuteron
