// SPDX-License-Identifier: Apache-2.0
// What becomes int16 of a network some layers of which, or all, work on it.
#include <algorithm>

#include "compile/quantize/quantization_clusters.h"
#include "compile/quantize/test_quantized.h"

#pragma GCC diagnostic ignored \
    "-Wmissing-field-initializers"  // attributes that a case does not name keep their defaults

namespace deuteron {
namespace {

QuantizeOptions int16_at(const std::string& name,
                         LayerPrecision precision = LayerPrecision::int16) {
  QuantizeOptions options;
  options.precision_of = [name, precision](const Graph& g, const Node& n) {
    return g.values[n.outputs[0]].name == name ? precision : LayerPrecision::int8;
  };
  return options;
}

// Every int8 number is a whole number of the int16 steps that it becomes.
TEST(InsertQuantization, Int8BecomesInt16ExactlyAndInt16IsRoundedOnce) {
  TestGraph t;
  const ValueId a = t.node("a", Add{}, {t.input("x", {3, 8}), t.input("z", {3, 8})});
  const ValueId b = t.node("b", Add{}, {a, a});
  t.output(t.node("c", MaxPool2d{{1, 1}, {1, 1}, {}}, {t.node("i", Reshape{{1, 3, 8, 1}}, {b})}));
  const Quantized q = quantize(t.g, samples_of(t.g, 4, -0.5f, 1.5f), int16_at("b"));
  const Type &narrow = q.g.type(find_value(q.g, "a_q")), &wide = q.g.type(find_value(q.g, "a_q16"));
  EXPECT_EQ(narrow.dtype, DType::s8);
  EXPECT_EQ(wide.dtype, DType::s16);
  const i32 zero = narrow.quant.zero_point[0];
  EXPECT_NE(zero, 0);
  EXPECT_EQ(wide.quant,
            per_tensor(narrow.quant.scale[0] / 128, 0, (-128 - zero) * 128, (127 - zero) * 128));
  for (i32 step = -128; step <= 127; ++step)
    EXPECT_EQ(quantize_value(static_cast<float>(step - zero) * narrow.quant.scale[0],
                             wide.quant.scale[0], 0, wide.quant.low, wide.quant.high),
              (step - zero) * 128);
  EXPECT_EQ(q.g.type(find_value(q.g, "b_q")).dtype, DType::s16);
  EXPECT_EQ(q.g.type(find_value(q.g, "i_q")).dtype, DType::s16);  // a view follows
  EXPECT_EQ(q.g.type(find_value(q.g, "c_q")).dtype, DType::s8);
  EXPECT_EQ(q.g.type(find_value(q.g, "i_q8")).quant,
            quant_of(q.g, "c"));  // a maximum shares its parameters with what it reads
}

// Operands and weights stay int8, and the result is int16.
TEST(InsertQuantization, AResultAloneCanBeInt16) {
  TestGraph t;
  const ValueId x = t.input("x", {3, 8});
  const ValueId y = t.node("y", Linear{}, {x, t.constant("w", {4, 8}, random_floats(32, 1))});
  t.output(t.node("z", Add{}, {y, y}));
  const Samples samples = samples_of(t.g, 4);
  const Quantized q = quantize(t.g, samples, int16_at("y", LayerPrecision::int16_result));
  EXPECT_EQ(q.g.type(find_value(q.g, "x_q")).dtype, DType::s8);
  EXPECT_EQ(q.g.type(find_value(q.g, "w_q")).dtype, DType::s8);
  EXPECT_EQ(q.g.type(find_value(q.g, "y_q")).dtype, DType::s16);
  EXPECT_EQ(q.g.type(find_value(q.g, "y_q8")).dtype, DType::s8);
  EXPECT_EQ(q.g.type(find_value(q.g, "z_q")).dtype, DType::s8);
}

TEST(InsertQuantization, AnInputIsInt16IfAnythingReadsItAsThat) {
  for (const bool wide_first : {false, true}) {
    TestGraph t;
    const ValueId x = t.input("x", {3, 8});
    t.output(t.node(wide_first ? "wide" : "narrow", Add{}, {x, x}));
    t.output(t.node(wide_first ? "narrow" : "wide", Add{}, {x, x}));
    const Samples samples = samples_of(t.g, 4);
    const Quantized q = quantize(t.g, samples, int16_at("wide"));
    EXPECT_EQ(q.g.type(find_value(q.g, "x_q")).dtype, DType::s16);
    EXPECT_EQ(q.g.type(find_value(q.g, "x_q8")).dtype, DType::s8);
    EXPECT_EQ(count_nodes<Quantize>(q.g), 4u);
    EXPECT_GT(sqnr(t.g, q.g, samples), 40);
  }
}

TEST(InsertQuantization, AnInputIsInt16ForWhoReadsAViewOfIt) {
  TestGraph t;
  const ValueId x = t.input("x", {3, 8});
  const ValueId flat = t.node("flat", Reshape{{24}}, {x});
  t.output(t.node("wide", Add{}, {flat, flat}));
  const Samples samples = samples_of(t.g, 4);
  const Quantized q = quantize(t.g, samples, int16_at("wide"));
  EXPECT_EQ(q.g.type(find_value(q.g, "x_q")).dtype, DType::s16);
  EXPECT_EQ(q.g.type(find_value(q.g, "flat_q")).dtype, DType::s16);
  for (const GraphValue& v : q.g.values) EXPECT_NE(v.type.dtype, DType::s8) << v.name;
  EXPECT_GT(sqnr(t.g, q.g, samples), 80);
}

// What has no int16 form and is asked for all the same stays in float, and its operand needs no
// int8 form.
TEST(InsertQuantization, WhatHasNoInt16FormStaysInFloat) {
  TestGraph t;
  const ValueId x = t.input("x", {3, 8});
  const ValueId wide = t.node("wide", Add{}, {x, x});
  t.output(t.node("y", Cumsum{1}, {wide}));
  const Samples samples = samples_of(t.g, 4);
  QuantizeOptions all;
  all.precision_of = [](const Graph&, const Node&) { return LayerPrecision::int16; };
  const Quantized q = quantize(t.g, samples, all);
  for (const GraphValue& v : q.g.values) EXPECT_NE(v.type.dtype, DType::s8) << v.name;
  EXPECT_EQ(q.g.type(find_value(q.g, "wide_q")).dtype, DType::s16);
  EXPECT_EQ(find_value(q.g, "y_q"), -1);
  EXPECT_GT(sqnr(t.g, q.g, samples), 70);
}

// A softmax, as int8 has it with a step of 1/256 from 0 on, has steps of 2^-15 on both sides of 0.
TEST(InsertQuantization, FixedRangesReachAsFarInInt16) {
  TestGraph t;
  t.output(t.node("y", Softmax{1}, {t.input("x", {3, 8})}));
  const Samples samples = samples_of(t.g, 4);
  const Quantized q = quantize(t.g, samples, {.precision = Precision::int16});
  EXPECT_EQ(quant_of(q.g, "y"), per_tensor(0x1p-15f, 0, -32768, 32767));
  EXPECT_GT(sqnr(t.g, q.g, samples), 70);
}

// A recurrent layer without an int16 form works on int8 among int16. What is only another view of
// its result has numbers of both signs.
TEST(InsertQuantization, ALayerWithAStateStaysInt8WhereItHasNoOtherForm) {
  TestGraph t;
  const ValueId x = t.input("x", {5, 1, 4});
  const Rnn rnn{.form = {.sequence = false}};
  const ValueId h = t.node(
      "h", rnn,
      {x, t.constant("w", {6, 4}, random_floats(24, 1)),
       t.constant("u", {6, 6}, random_floats(36, 2)), t.constant("b", {6}, random_floats(6, 3)),
       t.constant("c", {6}, random_floats(6, 4))});
  const ValueId v = t.node("v", Reshape{{1, 6}}, {h});
  t.output(t.node("z", Linear{}, {v, t.constant("f", {2, 6}, random_floats(12, 5))}));
  const Samples samples = samples_of(t.g, 4);
  const Quantized q = quantize(t.g, samples, {.precision = Precision::int16});
  EXPECT_EQ(q.g.type(find_value(q.g, "h_q")).dtype, DType::s8);
  EXPECT_EQ(q.g.type(find_value(q.g, "h_q16")).quant.low, -32768);
  EXPECT_EQ(q.g.type(find_value(q.g, "z_q")).dtype, DType::s16);
  EXPECT_GT(sqnr(t.g, q.g, samples), 30);
}

}  // namespace
}  // namespace deuteron
