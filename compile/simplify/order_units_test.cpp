// SPDX-License-Identifier: Apache-2.0
// Units that stand in another order are the same network: the same bits, fewer zeros in front. And
// where the order stays.
#include "compile/simplify/order_units.h"

#include <gmock/gmock.h>

#include "compile/calibrate/test_graph.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "compile/test_program.h"
#include "ir/text.h"
#include "targets/target.h"

namespace deuteron {
namespace {

using ::testing::ElementsAre;

TEST(OrderUnits, PutsWhatIsMostOftenNotZeroFirst) {
  const ActiveUnits seen{4,
                         {0, 1, 1, 0,  //
                          0, 1, 0, 0,  //
                          0, 1, 1, 0,  //
                          1, 1, 1, 0},
                         {1, 2, 3, 0}};
  EXPECT_THAT(by_activity(seen), ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(by_activity(seen, 1, 2), ElementsAre(1, 2, 0, 3))
      << "of the rows 1 and 3: the larger of equal ones";
  EXPECT_THAT(by_activity({3, {1, 1, 1}, {2, 2, 2}}), ElementsAre(0, 1, 2)) << "as they stood";
}

// Four units are never zero, four always, and eight take turns: of the order of one half nothing is
// known of the other.
TEST(OrderUnits, MeasuresOnOtherRows) {
  ActiveUnits seen{8, {}, std::vector<float>(8, 1)};
  for (int row = 0; row < 8; ++row)
    for (int u = 0; u < 8; ++u) seen.rows.push_back(u < 4 || (row % 2 == 0 && u == 5));
  // The order of even rows has unit 5 as its fifth, and odd rows end before it: 4 of 8. That of odd
  // rows has it among the last: 2 of 8.
  EXPECT_DOUBLE_EQ(share_left_out(seen, 1), (4 + 2) / 2.0 / 8);
  EXPECT_DOUBLE_EQ(share_left_out(seen, 4), (4 + 0) / 2.0 / 8);
  EXPECT_DOUBLE_EQ(share_left_out({8, std::vector<uint8_t>(8, 0), std::vector<float>(8)}, 1), 0)
      << "one row";
  EXPECT_DOUBLE_EQ(share_left_out({8, std::vector<uint8_t>(16, 0), std::vector<float>(8)}, 4), 0.5)
      << "a step is left of nothing";
}

// linear, relu, linear: hidden units with biases of all kinds, so that some are mostly zero.
struct Network {
  TestGraph t;
  std::vector<std::vector<float>> samples;
  explicit Network(bool has_relu = true, bool is_output = false, i64 units = 64) {
    const ValueId x = t.input("x", {1, 24});
    const auto constant = [&](const char* name, Shape shape, unsigned seed) {
      return t.constant(name, shape, random_floats(numel(shape), seed));
    };
    Linear relu;
    if (has_relu) relu.bounds.low = 0;
    std::vector<float> bias = random_floats(units, 3, -6, 2);
    const ValueId h = t.node("hidden", relu,
                             {x, constant("w0", {units, 24}, 1), t.constant("b0", {units}, bias)});
    const ValueId h2 = t.node(
        "second", relu,
        {h, constant("w1", {40, units}, 2), t.constant("b1", {40}, random_floats(40, 4, -4, 1))});
    t.output(t.node("last", Linear{}, {h2, constant("w2", {10, 40}, 5)}));
    if (is_output) t.output(h), t.output(h2);
    for (unsigned s = 0; s < 12; ++s) samples.push_back(random_floats(24, 100 + s));
  }
};

Compilation compiled(const Network& n, const char* target,
                     const std::vector<std::string>& skip = {}, bool packed = true,
                     const Graph* quantized = nullptr) {
  CompileOptions options;
  options.ports = PortTypes::steps;
  options.packed_weights = packed;
  options.quantize.observer = Observer::min_max;
  options.quantize.correct_bias = false;
  options.skip_passes = skip;
  Samples samples;
  for (const auto& x : n.samples) samples.push_back({x});
  Diagnostics diagnostics;
  const auto target_of = find_target(target, diagnostics);
  auto c = compile(quantized ? *quantized : n.t.g, *target_of, samples, options, diagnostics);
  EXPECT_TRUE(c) << (diagnostics.list().empty() ? "" : diagnostics.list()[0].what);
  return std::move(*c);
}

size_t count(const std::string& text, std::string_view what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(OrderUnits, GivesTheSameBits) {
  const Network n;
  for (const char* target : {"cortex-m55", "cortex-m4"}) {
    const Compilation ordered = compiled(n, target),
                      as_it_stood = compiled(n, target, {"order-units"});
    EXPECT_EQ(ordered.unit_order.values, 2);
    EXPECT_GT(ordered.unit_order.macs_left_out, 0);
    EXPECT_LT(ordered.unit_order.macs_left_out, ordered.unit_order.macs);
    EXPECT_EQ(ordered.unit_order.macs, 64 * 40 + 40 * 10);
    EXPECT_EQ(count(print(ordered.graph), "deuteron::packed_linear"), 2);
    EXPECT_EQ(count(print(as_it_stood.graph), "deuteron::packed_linear"), 0);
    for (unsigned s = 0; s < 20; ++s) {
      const std::vector<float> x = random_floats(24, 500 + s, -2, 2);
      EXPECT_EQ(int8_result_of(ordered, x), int8_result_of(as_it_stood, x)) << target << " " << s;
    }
  }
}

// What another tool quantized: int8 weights behind dequantize, with a scale for each row, and int8
// between the layers.
TEST(OrderUnits, GivesTheSameBitsOfAQuantizedModel) {
  const Network n;
  CompileOptions options;
  options.stop_after = "quantize";
  options.skip_passes = {"order-units"};
  Samples samples;
  for (const auto& x : n.samples) samples.push_back({x});
  Diagnostics diagnostics;
  const auto quantized =
      compile(n.t.g, *find_target("cortex-m4", diagnostics), samples, options, diagnostics);
  ASSERT_TRUE(quantized);
  for (const char* target : {"cortex-m55", "cortex-m4"}) {
    const Compilation ordered = compiled(n, target, {}, true, &quantized->graph),
                      as_it_stood = compiled(n, target, {"order-units"}, true, &quantized->graph);
    EXPECT_TRUE(ordered.quantization.model_was_quantized);
    EXPECT_EQ(ordered.unit_order.values, 2);
    EXPECT_EQ(count(print(ordered.graph), "deuteron::packed_linear"), 2);
    for (unsigned s = 0; s < 20; ++s) {
      const std::vector<float> x = random_floats(24, 500 + s, -2, 2);
      EXPECT_EQ(int8_result_of(ordered, x), int8_result_of(as_it_stood, x)) << target << " " << s;
    }
  }
}

TEST(OrderUnits, LeavesWhatOthersSee) {
  EXPECT_EQ(compiled(Network(true, true), "cortex-m4").unit_order.values, 0) << "outputs";
  EXPECT_EQ(compiled(Network(false), "cortex-m4").unit_order.values, 0) << "without relu";
  EXPECT_EQ(compiled(Network(true, false, 15), "cortex-m4").unit_order.values, 1)
      << "fewer units than two steps, and 40";
  EXPECT_EQ(compiled(Network(), "cortex-m3").unit_order.values, 0)
      << "no kernel leaves anything out";
  EXPECT_EQ(compiled(Network(), "cortex-m55", {}, false).unit_order.values, 0)
      << "as those of plain weights on MVE";
  EXPECT_EQ(compiled(Network(), "cortex-m4", {}, false).unit_order.values, 2);
}

}  // namespace
}  // namespace deuteron
