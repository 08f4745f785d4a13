// SPDX-License-Identifier: Apache-2.0
// What holds after an import, on programs of a few operators. That the numbers are torch's is shown
// by fixtures_test.cpp.
#include "frontends/pt2/import.h"

#include <bit>
#include <cmath>
#include <numeric>

#include "frontends/pt2/operators/test_run.h"

namespace deuteron::pt2 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<float> counted(i64 count, float first = 1, float step = 1) {
  std::vector<float> data(count);
  for (i64 i = 0; i < count; ++i) data[i] = first + step * static_cast<float>(i);
  return data;
}

std::vector<float> run(const Graph& g, const std::vector<float>& input) {
  return FloatExecutor(g).run(std::vector<std::vector<float>>{to_storage(
                                  g.inputs[0], g.type(g.inputs[0].value).shape, input)},
                              {})[0];
}

template <class Op>
std::vector<const Node*> nodes_of(const Graph& g) {
  std::vector<const Node*> found;
  for (const Node& n : g.nodes)
    if (std::holds_alternative<Op>(n.op)) found.push_back(&n);
  return found;
}

// A model with one operator on `x`; `more` are the arguments behind the first.
TestModel one_operator(const std::string& target, const Shape& in, const Shape& out,
                       Arguments more = {}, const std::string& first = "self") {
  TestModel m;
  m.input("x", in);
  more.insert(more.begin(), {first, as_tensor("x")});
  m.node(target, {{"y", out}}, more);
  m.output("y");
  return m;
}

TestModel convolution(const Shape& in, const Shape& out, Shape input_strides = {},
                      Shape weight_strides = {}) {
  TestModel m;
  m.input("x", in, std::move(input_strides));
  m.parameter("c.weight", {5, 3, 2, 4}, counted(120, -0.5f, 0.01f), kF32,
              std::move(weight_strides));
  m.parameter("c.bias", {5}, counted(5));
  m.node("aten.conv2d.default", {{"conv2d", out}},
         {{"input", as_tensor("x")},
          {"weight", as_tensor("p_c.weight")},
          {"bias", as_tensor("p_c.bias")}});
  m.output("conv2d");
  return m;
}

TEST(Import, ConvolutionStandsBetweenPermutes) {
  const Graph g = imported(convolution({2, 3, 6, 7}, {2, 5, 5, 4}));
  ASSERT_EQ(g.nodes.size(), 4u);
  const Node& conv = *nodes_of<Conv2d>(g).at(0);
  EXPECT_EQ(g.type(conv.inputs[0]).shape, (Shape{2, 6, 7, 3}));
  EXPECT_EQ(g.type(conv.inputs[1]).shape, (Shape{5, 2, 4, 3}));
  EXPECT_EQ(g.type(conv.outputs[0]).shape, (Shape{2, 5, 4, 5}));
  EXPECT_EQ(g.type(g.outputs[0].value).shape, (Shape{2, 5, 5, 4}));
  EXPECT_EQ(g.values[g.outputs[0].value].name, "conv2d");
  EXPECT_THAT(g.inputs[0].order, ElementsAre(0, 1, 2, 3));
}

TEST(Import, ChannelsLastInputKeepsItsStorage) {
  const Graph plain = imported(convolution({2, 3, 6, 7}, {2, 5, 5, 4}));
  const Graph g = imported(convolution({2, 3, 6, 7}, {2, 5, 5, 4}, {126, 1, 21, 3}));
  EXPECT_EQ(g.type(g.inputs[0].value).shape, (Shape{2, 6, 7, 3}));
  EXPECT_THAT(g.inputs[0].order, ElementsAre(0, 2, 3, 1));
  EXPECT_THAT(g.outputs[0].order, ElementsAre(0, 1, 2, 3));
  const std::vector<float> x = counted(252, -1, 0.013f);
  EXPECT_EQ(run(g, x), run(plain, x));
}

TEST(Import, ChannelsLastWeightIsNotCopied) {
  const TestModel m = convolution({1, 3, 6, 7}, {1, 5, 5, 4}, {}, {24, 1, 12, 3});
  const std::string bytes = m.bytes();
  Diagnostics diagnostics;
  auto owner = std::make_shared<std::string>(bytes);
  auto g = import_pt2(std::as_bytes(std::span(*owner)), owner, "net.pt2", diagnostics);
  ASSERT_TRUE(g) << text_of(diagnostics);
  const auto inside = [&](const Constant& c) {
    const char* p = reinterpret_cast<const char*>(c.bytes.data());
    return p >= owner->data() && p + c.bytes.size() <= owner->data() + owner->size();
  };
  int constants = 0;
  for (const auto& value : g->values) {
    if (!value.constant) continue;
    ++constants;
    const bool aligned = reinterpret_cast<uintptr_t>(owner->data()) % 4 == 0;
    EXPECT_EQ(inside(*value.constant), aligned) << value.name;
    EXPECT_EQ(value.type.shape, value.name == "p_c.weight" ? (Shape{5, 2, 4, 3}) : Shape{5})
        << value.name;
  }
  EXPECT_EQ(constants, 2);
}

TEST(Import, MisalignedAndStridedWeightsAreGathered) {
  TestModel m;
  m.input("x", {2, 3});
  m.parameter("w", {4, 3}, counted(40), kF32, {7, 2}, 5);  // elements 5+7i+2j
  m.node("aten.linear.default", {{"y", {2, 4}}},
         {{"input", as_tensor("x")}, {"weight", as_tensor("p_w")}});
  m.output("y");
  for (const size_t alignment : {64, 1}) {
    m.alignment = alignment;
    const Graph g = imported(m);
    EXPECT_THAT(run(g, {1, 0, 0, 0, 1, 0}), ElementsAre(6, 13, 20, 27, 8, 15, 22, 29)) << alignment;
  }
}

TEST(Import, SamePaddingPutsTheOddOneBehind) {
  TestModel m = convolution({1, 3, 6, 7}, {1, 5, 6, 7});
  m.node_json(0)["target"] = "torch.ops.aten.conv2d.padding";
  m.node_json(0)["inputs"].push_back({{"name", "padding"}, {"arg", as_text("same")}, {"kind", 1}});
  const Graph g = imported(m);
  const Conv2d& conv = std::get<Conv2d>(nodes_of<Conv2d>(g)[0]->op);
  EXPECT_EQ(conv.pad_before, (HW{0, 1}));
  EXPECT_EQ(conv.pad_after, (HW{1, 2}));
}

TEST(Import, ImagesWithoutBatch) {
  const Graph g = imported(convolution({3, 6, 7}, {5, 5, 4}));
  const Graph batched = imported(convolution({1, 3, 6, 7}, {1, 5, 5, 4}));
  const std::vector<float> x = counted(126, 2, -0.02f);
  EXPECT_EQ(run(g, x), run(batched, x));
}

TEST(Import, DeadParametersAreNotEvenRead) {
  TestModel m = convolution({2, 3, 6, 7}, {2, 5, 5, 4});
  m.parameter("dead", {2}, std::vector<float>{NAN, 1});
  const Graph g = imported(m);
  for (const auto& value : g.values) EXPECT_NE(value.name, "p_dead");
}

TEST(Import, WeightsThatAreNotFiniteAreNamed) {
  TestModel m = convolution({2, 3, 6, 7}, {2, 5, 5, 4});
  m.blobs["data/weights/weight_1"] = std::string(
      reinterpret_cast<const char*>(std::vector<float>{0, 1, INFINITY, 3, 4}.data()), 20);
  EXPECT_THAT(refusal_of(m), HasSubstr("parameter `c.bias`: error: holds a value that is not "
                                       "finite: element 2 is inf  [pt2.weights.finite]"));
  m.blobs["data/weights/weight_1"] = std::string(
      reinterpret_cast<const char*>(std::vector<float>{0, 1, -INFINITY, 3, 4}.data()), 20);
  EXPECT_THAT(refusal_of(m),
              HasSubstr("holds a value that is not finite: -inf  [pt2.weights.finite]"));
}

// Masks: minus infinity is a number so low that softmax makes 0 of it, exactly.
TEST(Import, MinusInfinityMasks) {
  TestModel m;
  m.input("x", {1, 4});
  m.parameter("mask", {4}, std::vector<float>{0, -INFINITY, 0, -INFINITY});
  m.node("aten.add.Tensor", {{"masked", {1, 4}}},
         {{"self", as_tensor("x")}, {"other", as_tensor("p_mask")}});
  m.node("aten.softmax.int", {{"y", {1, 4}}}, {{"self", as_tensor("masked")}, {"dim", as_int(-1)}});
  m.output("y");
  const std::vector<float> y = run(imported(m), {1, 100, 1, 100});
  EXPECT_THAT(y, ElementsAre(0.5f, 0, 0.5f, 0));
}

TEST(Import, IdentitiesAreFolded) {
  TestModel m = one_operator("aten.clone.default", {2, 3}, {2, 3});
  m.node("aten.dropout.default", {{"z", {2, 3}}},
         {{"input", as_tensor("y")}, {"p", as_float(0.5)}, {"train", as_bool(false)}});
  m.node("aten.relu.default", {{"r", {2, 3}}}, {{"self", as_tensor("z")}});
  m.output("r");
  const Graph g = imported(m);
  EXPECT_EQ(g.nodes.size(), 1u);
  ASSERT_EQ(g.folded.size(), 2u);
  EXPECT_EQ(g.folded[1].origin, Origin{1});
  EXPECT_EQ(g.folded[1].reason, "identity");
  EXPECT_EQ(g.outputs.size(), 2u);
  EXPECT_EQ(g.outputs[0].value, g.inputs[0].value);
}

TEST(Import, ResizesByTheFactorThatTheModelGives) {
  const auto scaled = [](const char* target, json factors, Arguments more = {}) {
    more.push_back({"output_size", as_none()});
    more.push_back({"scale_factors", std::move(factors)});
    return one_operator(target, {1, 1, 1, 5}, {1, 1, 1, 7}, more, "input");
  };
  const json factors{{"as_floats", {1.0, 1.5}}};
  // By torch.nn.functional.interpolate: 5 / 7 would give other numbers than 1 / 1.5.
  Graph g = imported(
      scaled("aten.upsample_bilinear2d.vec", factors, {{"align_corners", as_bool(false)}}));
  EXPECT_TRUE(nodes_of<Resize2d>(g).empty());
  const std::vector<float> expected{1, 1.5f, 2.3333333f, 3.6666667f, 6, 9.333333f, 14.666667f},
      y = run(g, {1, 2, 4, 8, 16});
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(y[i], expected[i], 2e-6) << i;
  g = imported(scaled("aten.upsample_nearest2d.vec", factors));
  EXPECT_EQ(nodes_of<Resize2d>(g).size(), 1u);
  EXPECT_THAT(run(g, {1, 2, 4, 8, 16}), ElementsAre(1, 1, 2, 4, 4, 8, 16));

  const auto sized = [](const char* target, const Shape& in, const Shape& out,
                        const std::vector<i64>& size) {
    return one_operator(target, in, out,
                        {{"output_size", as_ints(size)}, {"align_corners", as_bool(true)}}, "self");
  };
  g = imported(sized("aten.upsample_bilinear2d.default", {2, 3, 4, 5}, {2, 3, 7, 2}, {7, 2}));
  ASSERT_EQ(nodes_of<Resize2d>(g).size(), 1u);
  EXPECT_EQ(std::get<Resize2d>(nodes_of<Resize2d>(g)[0]->op),
            (Resize2d{Resize2d::kBilinear, {7, 2}, true, false}));
  EXPECT_EQ(g.type(nodes_of<Resize2d>(g)[0]->outputs[0]).shape, (Shape{2, 7, 2, 3}));
}

TEST(Import, TrainingModeIsRefused) {
  EXPECT_THAT(refusal_of(one_operator("aten.dropout.default", {2, 3}, {2, 3},
                                      {{"p", as_float(0.5)}, {"train", as_bool(true)}}, "input")),
              HasSubstr("pt2.dropout.training"));
}

TEST(Import, TensorsWithoutElementsOrWithTooManyAxesAreRefused) {
  EXPECT_THAT(refusal_of(one_operator("aten.relu.default", {0, 4}, {0, 4})),
              HasSubstr("input `x` has no elements: shape 0,4  [pt2.input.empty]"));
  EXPECT_THAT(
      refusal_of(one_operator("aten.slice.Tensor", {3, 4}, {0, 4},
                              {{"dim", as_int(0)}, {"start", as_int(2)}, {"end", as_int(2)}})),
      HasSubstr("output `y` has no elements: shape 0,4  [pt2.output.empty]"));
  const Shape nine{2, 1, 3, 1, 1, 2, 1, 2, 1};
  EXPECT_THAT(refusal_of(one_operator("aten.relu.default", nine, nine)),
              HasSubstr("`x` has 9 axes, limit 8  [pt2.tensor.rank]"));
}

// y = x + 1; y.relu_() changes what `y` means from there on, and what its copy meant before stays.
TestModel in_place() {
  TestModel m;
  m.input("x", {1, 4});
  m.node("aten.add.Tensor", {{"y", {1, 4}}}, {{"self", as_tensor("x")}, {"other", as_int(1)}});
  m.node("aten.clone.default", {{"copy", {1, 4}}}, {{"self", as_tensor("y")}});
  m.node("aten.detach.default", {{"same", {1, 4}}}, {{"self", as_tensor("y")}});
  m.node("aten.view.default", {{"view", {4}}}, {{"self", as_tensor("y")}, {"size", as_ints({4})}});
  m.node("aten.relu_.default", {{"relu_", {1, 4}}}, {{"self", as_tensor("y")}});
  return m;
}

TEST(Import, InPlaceOperatorsChangeEveryNameOfTheirOperand) {
  const std::vector<float> x{-3, -2, 0, 2};
  for (const auto& [name, expected] :
       std::map<std::string, std::vector<float>>{{"y", {0, 0, 1, 3}},
                                                 {"same", {0, 0, 1, 3}},
                                                 {"relu_", {0, 0, 1, 3}},
                                                 {"copy", {-2, -1, 1, 3}}}) {
    TestModel m = in_place();
    m.output(name);
    EXPECT_EQ(run(imported(m), x), expected) << name;
  }
}

TEST(Import, InPlaceOnABufferIsState) {
  TestModel m;
  m.input("x", {3});
  m.parameter("n", {3}, counted(3));
  m.node("aten.add_.Tensor", {{"y", {3}}}, {{"self", as_tensor("p_n")}, {"other", as_tensor("x")}});
  m.output("y");
  const Graph g = imported(m);
  ASSERT_EQ(g.states.size(), 1u);
  EXPECT_EQ(g.user_inputs().size(), 1u);
  EXPECT_EQ(g.user_outputs().size(), 1u);
  EXPECT_EQ(g.state_inputs()[0].name, "n");
  EXPECT_EQ(g.state_outputs()[0].value, g.user_outputs()[0].value);
  EXPECT_EQ(g.states[0].initial.as<float>()[2], counted(3)[2]);
}

// `other` is the state before the call: what is written does not change what was read.
TEST(Import, StatesAreReadBeforeTheyAreWritten) {
  TestModel m;
  m.input("x", {3});
  m.parameter("n", {3}, counted(3));
  m.node("aten.neg.default", {{"old", {3}}}, {{"self", as_tensor("p_n")}});
  m.node("aten.copy_.default", {{"y", {3}}}, {{"self", as_tensor("p_n")}, {"src", as_tensor("x")}});
  m.output("old");
  const Graph g = imported(m);
  ASSERT_EQ(g.states.size(), 1u);
  EXPECT_EQ(g.state_outputs()[0].value, g.inputs[0].value);
}

TEST(Import, StatesThatNobodyNeedsAreNone) {
  TestModel m;
  m.input("x", {3});
  m.parameter("n", {3}, counted(3));
  m.node("aten.add_.Tensor", {{"y", {3}}}, {{"self", as_tensor("p_n")}, {"other", as_tensor("x")}});
  m.output("x");
  EXPECT_TRUE(imported(m).states.empty());
}

TEST(Import, Arithmetic) {
  const std::vector<float> x{1, 2, 4, 8};
  const auto scalar = [&](const std::string& target, const json& other, Arguments more = {}) {
    more.insert(more.begin(), {"other", other});
    return run(imported(one_operator(target, {4}, {4}, more)), x);
  };
  EXPECT_THAT(scalar("aten.add.Tensor", as_int(3), {{"alpha", as_float(0.5)}}),
              ElementsAre(2.5f, 3.5f, 5.5f, 9.5f));
  EXPECT_THAT(scalar("aten.sub.Tensor", as_float(0.5)), ElementsAre(0.5f, 1.5f, 3.5f, 7.5f));
  EXPECT_THAT(scalar("aten.sub.Tensor", as_tensor("x"), {{"alpha", as_int(2)}}),
              ElementsAre(-1, -2, -4, -8));
  EXPECT_THAT(scalar("aten.rsub.Scalar", as_int(1)), ElementsAre(0, -1, -3, -7));
  EXPECT_THAT(scalar("aten.mul.Tensor", as_float(0.25)), ElementsAre(0.25f, 0.5f, 1, 2));
  EXPECT_THAT(scalar("aten.div.Tensor", as_int(4)), ElementsAre(0.25f, 0.5f, 1, 2));
  EXPECT_THAT(refusal_of(one_operator("aten.div.Tensor", {4}, {4}, {{"other", as_int(0)}})),
              HasSubstr("[pt2.arithmetic.finite]"));
  EXPECT_THAT(scalar("aten.div.Tensor", as_tensor("x")), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(scalar("aten.minimum.default", as_tensor("x")), ElementsAre(1, 2, 4, 8));
}

TEST(Import, MatrixProductsWithAParameterOnEitherSide) {
  for (const bool left : {false, true}) {
    TestModel m;
    m.input("x", left ? Shape{2, 3} : Shape{3, 2});
    m.parameter("w", {2, 2}, std::vector<float>{1, 2, 3, 4});
    m.node("aten.mm.default", {{"y", left ? Shape{2, 3} : Shape{3, 2}}},
           {{"self", as_tensor(left ? "p_w" : "x")}, {"mat2", as_tensor(left ? "x" : "p_w")}});
    m.output("y");
    const auto y = run(imported(m), {1, 2, 3, 4, 5, 6});
    if (left) EXPECT_THAT(y, ElementsAre(9, 12, 15, 19, 26, 33));
    else EXPECT_THAT(y, ElementsAre(7, 10, 15, 22, 23, 34));
  }
}

TEST(Import, MeanKeepsOrDropsAxes) {
  const auto mean = [](const Shape& out, const std::vector<i64>& axes, bool keep) {
    return run(imported(one_operator("aten.mean.dim", {1, 2, 2, 3}, out,
                                     {{"dim", as_ints(axes)}, {"keepdim", as_bool(keep)}})),
               counted(12));
  };
  EXPECT_THAT(mean({1, 2}, {-1, -2}, false), ElementsAre(3.5f, 9.5f));
  EXPECT_THAT(mean({1, 2, 1, 1}, {2, 3}, true), ElementsAre(3.5f, 9.5f));
  EXPECT_THAT(mean({1, 2, 2}, {3}, false), ElementsAre(2, 5, 8, 11));
}

// Quantize, dequantize
std::vector<std::pair<std::string, json>> grid(const std::string& input, double scale, int zero,
                                               int low, int high, int dtype) {
  return {{"input", as_tensor(input)}, {"scale", as_float(scale)},  {"zero_point", as_int(zero)},
          {"quant_min", as_int(low)},  {"quant_max", as_int(high)}, {"dtype", as_dtype(dtype)}};
}

TestModel quantized(int dtype, int zero, int low, int high) {
  TestModel m;
  m.input("x", {2, 3});
  m.node("quantized_decomposed.quantize_per_tensor.default", {{"q", {2, 3}, dtype}},
         grid("x", 0.5, zero, low, high, dtype));
  m.node("quantized_decomposed.dequantize_per_tensor.default", {{"d", {2, 3}}},
         grid("q", 0.5, zero, low, high, dtype));
  m.output("d");
  return m;
}

TEST(Import, QuantizationParametersAreInTheTypes) {
  const Graph g = imported(quantized(kS8, -3, -128, 127));
  EXPECT_EQ(g.type(nodes_of<Quantize>(g).at(0)->outputs[0]),
            (Type{DType::s8, {2, 3}, per_tensor(0.5f, -3)}));
  EXPECT_THAT(run(g, {0.2f, 0.3f, -100, 100, 1, -0.25f}), ElementsAre(0, 0.5f, -62.5f, 65, 1, 0));
}

TEST(Import, UnsignedQuantizationIsShifted) {
  const Graph g = imported(quantized(kU8, 125, 0, 255));
  EXPECT_EQ(g.type(nodes_of<Quantize>(g).at(0)->outputs[0]),
            (Type{DType::s8, {2, 3}, per_tensor(0.5f, -3)}));
  EXPECT_THAT(run(g, {0.2f, 0.3f, -100, 100, 1, -0.25f}), ElementsAre(0, 0.5f, -62.5f, 65, 1, 0));
}

TEST(Import, ViewsOfQuantizedValuesKeepTheParameters) {
  TestModel m = quantized(kS8, 0, -127, 127);
  m.node("aten.view.default", {{"v", {3, 2}, kS8}},
         {{"self", as_tensor("q")}, {"size", as_ints({3, -1})}});
  m.node("quantized_decomposed.dequantize_per_tensor.default", {{"e", {3, 2}}},
         grid("v", 0.5, 0, -127, 127, kS8));
  m.output("e");
  EXPECT_EQ(nodes_of<Reshape>(imported(m)).size(), 1u);
}

TEST(Import, BadQuantizationIsRefused) {
  EXPECT_THAT(refusal_of(quantized(kS8, 200, -128, 127)), HasSubstr("[pt2.quantize.zero_point]"));
  EXPECT_THAT(refusal_of(quantized(kS8, 0, -200, 127)), HasSubstr("[pt2.quantize.range]"));
  EXPECT_THAT(refusal_of(quantized(kS32, 0, -200, 127)), HasSubstr("[pt2.quantize.dtype]"));
  TestModel m = quantized(kS8, 0, -128, 127);
  m.node_json(1)["inputs"][1]["arg"] = as_float(0.25);
  EXPECT_THAT(refusal_of(m), HasSubstr("[pt2.quantize.parameters]"));
  m.node_json(0)["inputs"][1]["arg"] = as_float(0);
  EXPECT_THAT(refusal_of(m), HasSubstr("[pt2.quantize.scale]"));
}

// linear with a weight [2,3] that is stored column by column, one scale for each row.
TestModel quantized_weight(int dtype) {
  TestModel m;
  m.input("x", {1, 3});
  const int shift = dtype == kU8 ? 128 : 0;
  std::vector<uint8_t> bytes;
  for (const int v : {1, 4, 2, 5, 3, 6}) bytes.push_back(static_cast<uint8_t>(v + shift));
  m.parameter("w", {2, 3}, bytes, dtype, {1, 2});
  m.parameter("s", {2}, std::vector<float>{0.5f, 2});
  m.parameter("z", {2}, std::vector<i64>{shift, shift + 1}, kS64);
  m.node("quantized_decomposed.dequantize_per_channel.default", {{"dw", {2, 3}}},
         {{"input", as_tensor("p_w")},
          {"scales", as_tensor("p_s")},
          {"zero_points", as_tensor("p_z")},
          {"axis", as_int(0)},
          {"quant_min", as_int(shift - 127)},
          {"quant_max", as_int(shift + 127)},
          {"dtype", as_dtype(dtype)}});
  m.node("aten.linear.default", {{"y", {1, 2}}},
         {{"input", as_tensor("x")}, {"weight", as_tensor("dw")}});
  m.output("y");
  return m;
}

TEST(Import, WeightsByChannelInTheirStorage) {
  for (const int dtype : {kS8, kU8}) {
    const Graph g = imported(quantized_weight(dtype));
    const Type& type = g.type(nodes_of<Dequantize>(g).at(0)->inputs[0]);
    EXPECT_EQ(type, (Type{DType::s8, {3, 2}, {{0.5f, 2}, {0, 1}, 1, -127, 127}})) << dtype;
    EXPECT_THAT(run(g, {1, 10, 100}), ElementsAre(160.5f, 2 * (3 + 40 + 500))) << dtype;
  }
}

// A depthwise transposed convolution has one scale along axis 1, an axis that its weight loses.
TEST(Import, OneChannelIsTheWholeTensor) {
  TestModel m;
  m.input("x", {1, 1});
  m.parameter("w", {2, 1}, std::vector<uint8_t>{4, 6}, kS8);
  m.parameter("s", {1}, std::vector<float>{0.5f});
  m.parameter("z", {1}, std::vector<i64>{0}, kS64);
  m.node("quantized_decomposed.dequantize_per_channel.default", {{"dw", {2, 1}}},
         {{"input", as_tensor("p_w")},
          {"scales", as_tensor("p_s")},
          {"zero_points", as_tensor("p_z")},
          {"axis", as_int(1)},
          {"quant_min", as_int(-127)},
          {"quant_max", as_int(127)},
          {"dtype", as_dtype(kS8)}});
  m.node("aten.linear.default", {{"y", {1, 2}}},
         {{"input", as_tensor("x")}, {"weight", as_tensor("dw")}});
  m.output("y");
  const Graph g = imported(m);
  EXPECT_FALSE(g.type(nodes_of<Dequantize>(g).at(0)->inputs[0]).quant.per_channel());
  EXPECT_THAT(run(g, {10}), ElementsAre(20, 30));
}

TEST(Import, ParametersSharedByTwoOperatorsAreReadOnce) {
  TestModel m = quantized_weight(kS8);
  m.node("quantized_decomposed.dequantize_per_channel.default", {{"dw2", {2, 3}}}, {});
  m.node_json(2)["inputs"] = m.node_json(0)["inputs"];
  m.node("aten.linear.default", {{"y2", {1, 2}}},
         {{"input", as_tensor("x")}, {"weight", as_tensor("dw2")}});
  m.output("y2");
  const Graph g = imported(m);
  int weights = 0;
  for (const auto& value : g.values) weights += value.constant && value.type.dtype == DType::s8;
  EXPECT_EQ(weights, 1);
}

TEST(Import, EverythingWrongIsSaidInOneRun) {
  TestModel m =
      one_operator("aten.cholesky.default", {2, 3, 3}, {2, 3, 3}, {{"mat2", as_tensor("x")}});
  m.input("ids", {4}, {}, kComplex64);
  m.node("aten.cholesky.default", {{"z", {2, 3, 3}}},
         {{"self", as_tensor("y")}, {"mat2", as_tensor("x")}});
  m.node("aten.special_zeta.default", {{"c", {2, 3, 3}}}, {{"self", as_tensor("z")}});
  m.node("aten.softmax.int", {{"s", {2, 3, 3}}}, {{"self", as_tensor("c")}, {"dim", as_int(3)}});
  m.node("aten.relu.default", {{"r", {2, 3, 3}}}, {{"self", as_tensor("s")}});
  m.output("r");
  m.node_json(1)["metadata"] = {
      {"nn_module_stack", "L__self__,,nets.Net;L__self__attn,attn,nets.Attention"},
      {"stack_trace", "File \"/home/a/nets.py\", line 7, in forward\n    z = torch.bmm(y, x)"}};
  const std::string text = refusal_of(m);
  EXPECT_THAT(text, HasSubstr("operator aten.cholesky.default is not supported, used 2 times: `y` "
                              "(source op 0); `z` (source op 1, module attn, "
                              "nets.py:7 in forward: z = torch.bmm(y, x))"));
  EXPECT_THAT(text, HasSubstr("operator aten.special_zeta.default is not supported, used 1 time"));
  EXPECT_THAT(
      text,
      HasSubstr("aten.softmax.int `s` (source op 3): error: axis is out of range: 3, limit -3..2"));
  EXPECT_THAT(text, HasSubstr("input `ids` has dtype complex64"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '['), 4) << text;
}

TEST(Import, DynamicSizesAreNamedWithTheirRange) {
  TestModel m = one_operator("aten.relu.default", {3, 6}, {3, 6});
  m.graph()["tensor_values"]["x"]["sizes"][1] = {
      {"as_expr",
       {{"expr_str", "Symbol('s10', positive=True, integer=True)"}, {"hint", {{"as_int", 6}}}}}};
  m.model["range_constraints"]["s10"] = {{"min_val", 2}, {"max_val", 64}};
  EXPECT_THAT(refusal_of(m), HasSubstr("axis 1 of `x` has a dynamic size, `s10`: 2..64, limit one "
                                       "fixed size  [pt2.shape.dynamic]"));
}

TEST(Import, GraphsThatDoNotHoldTogether) {
  TestModel m = one_operator("aten.relu.default", {3, 6}, {3, 7});
  EXPECT_THAT(refusal_of(m), HasSubstr("[pt2.graph.shape]"));
  m = one_operator("aten.relu.default", {3, 6}, {3, 6});
  m.node_json(0)["inputs"][0]["arg"] = as_tensor("y");  // itself
  EXPECT_THAT(refusal_of(m),
              HasSubstr("reads `y`, which nothing before it makes  [pt2.graph.undefined]"));
  m.node_json(0)["outputs"][0] = as_tensor("x");
  EXPECT_THAT(refusal_of(m), HasSubstr("[pt2.graph.duplicate]"));
  m = one_operator("aten.relu.default", {3, 6}, {3, 6});
  m.graph()["tensor_values"].erase("y");
  EXPECT_THAT(refusal_of(m), HasSubstr("[pt2.graph.shape]"));
  m.graph()["tensor_values"].erase("x");
  EXPECT_THAT(refusal_of(m), HasSubstr("[pt2.graph.shape]"));
  m = one_operator("aten.max_pool3d_with_indices.default", {1, 2, 4, 4, 4}, {1, 2, 2, 2, 2},
                   {{"kernel_size", as_ints({2, 2, 2})}});
  m.value("i", {1, 2, 2, 2, 2}, kS64);
  m.node_json(0)["outputs"].push_back(as_tensor("i"));
  imported(m);
  m.output("i");
  EXPECT_THAT(
      refusal_of(m),
      HasSubstr(
          "reads `i`, result 1 of aten.max_pool3d_with_indices.default, which is not supported"));
}

TEST(Import, AsStridedIsAViewOrPicksElements) {
  TestModel m = one_operator("aten.as_strided.default", {1, 5, 1, 1}, {1, 5, 1, 1},
                             {{"size", as_ints({1, 5, 1, 1})}, {"stride", as_ints({5, 1, 5, 5})}});
  EXPECT_TRUE(imported(m).nodes.empty());
  m = one_operator("aten.as_strided.default", {2, 5}, {5, 2},
                   {{"size", as_ints({5, 2})}, {"stride", as_ints({2, 1})}});
  EXPECT_EQ(nodes_of<Reshape>(imported(m)).size(), 1u);
  m = one_operator("aten.as_strided.default", {2, 5}, {4, 3},
                   {{"size", as_ints({4, 3})}, {"stride", as_ints({2, 1})}});
  const Graph g = imported(m);
  const auto frames = nodes_of<Gather>(g);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(std::get<Gather>(frames[0]->op).index, (Axes{0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8}));
  m = one_operator("aten.as_strided.default", {2, 5}, {5, 2},
                   {{"size", as_ints({5, 2})}, {"stride", as_ints({1, 6})}});
  EXPECT_THAT(refusal_of(m), HasSubstr("[pt2.as_strided]"));
}

TEST(Import, AttributesOutOfRange) {
  const auto pool = [](const json& kernel, const json& padding) {
    return refusal_of(one_operator("aten.avg_pool2d.default", {1, 2, 4, 4}, {1, 2, 2, 2},
                                   {{"kernel_size", kernel}, {"padding", padding}}));
  };
  EXPECT_THAT(pool(as_ints({0, 2}), as_int(0)), HasSubstr("[pt2.argument.range]"));
  EXPECT_THAT(pool(as_ints({2, 2}), as_int(INT64_MAX)), HasSubstr("[pt2.argument.range]"));
  EXPECT_THAT(pool(as_ints({2, 2}), as_int(2)), HasSubstr("[pt2.pool.padding]"));
  EXPECT_THAT(pool(as_ints({2, 2, 2}), as_int(0)), HasSubstr("[pt2.argument.count]"));
  EXPECT_THAT(pool(as_text("x"), as_int(0)), HasSubstr("[pt2.argument.kind]"));
  EXPECT_THAT(refusal_of(one_operator("aten.view.default", {4, 4}, {4, 4},
                                      {{"size", as_ints({i64{1} << 40, i64{1} << 40})}})),
              HasSubstr("[pt2.view.shape]"));
  TestModel m = convolution({2, 3, 6, 7}, {2, 5, 5, 4});
  m.node_json(0)["inputs"].push_back({{"name", "groups"}, {"arg", as_int(INT64_MAX)}, {"kind", 1}});
  EXPECT_THAT(refusal_of(m), HasSubstr("[pt2.conv2d.groups]"));
}

TEST(Import, SourcesCarryTheUsersNames) {
  TestModel m = convolution({2, 3, 6, 7}, {2, 5, 5, 4});
  EXPECT_EQ(imported(m).sources[0].module, "c");  // from the parameter
  m.node_json(0)["metadata"] = {
      {"nn_module_stack",
       "L__self__,,nets.Net;L__self__layers,layers,Sequential;L__self__layers.3.conv,layers.3.conv,"
       "torch.nn.modules.conv.Conv2d"},
      {"stack_trace",
       "File \"/home/a/nets.py\", line 7, in forward\n    x = self.l(x)\n  File "
       "\"/x/torch/nn/conv.py\", line 9, in forward\n    return "
       "y"}};
  const SourceOp source = imported(m).sources[0];
  EXPECT_EQ(source.name, "conv2d");
  EXPECT_EQ(source.target, "aten.conv2d.default");
  EXPECT_EQ(source.module, "layers.3.conv");
  EXPECT_EQ(source.stack,
            "nets.py:7 in forward: x = self.l(x)\ntorch/conv.py:9 in forward: return y");
}

}  // namespace
}  // namespace deuteron::pt2
