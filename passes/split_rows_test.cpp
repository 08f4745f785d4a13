// Computing in bands of rows changes no bit of the result and keeps the promise about memory: on random chains of convolutions (all
// strides, paddings, dilations, depthwise and grouped), pools, sums and residual blocks, for each instruction set.
#include "passes/split_rows.h"

#include <fmt/format.h>

#include "calibrate/test_graph.h"
#include "passes/compilation.h"
#include "passes/compile.h"
#include "passes/options.h"
#include "passes/test_program.h"
#include "targets/target.h"

namespace deuteron {
namespace {

std::optional<Compilation> compiled(const Graph& g, const char* target, i64 max_ram, const std::vector<float>& x,
                                    Diagnostics& diagnostics) {
  CompileOptions options;
  options.int8_io = true;
  options.max_ram = max_ram;
  options.quantize.observer = Observer::min_max;
  return compile(g, *find_target(target, diagnostics), {{x}}, options, diagnostics);
}

// 3 to 6 layers that have rows.
TestGraph random_network(std::mt19937& random) {
  const auto below = [&](i64 n) { return static_cast<i64>(random() % static_cast<unsigned>(n)); };
  TestGraph t;
  const i64 channels = 2 + below(5);
  ValueId x = t.input("x", {1, 14 + below(26), 5 + below(9), channels});
  for (i64 layer = 3 + below(4); layer > 0; --layer) {
    const Shape s = t.g.type(x).shape;
    const std::string name = fmt::format("layer{}", t.g.nodes.size());
    const auto constant = [&](Shape shape) {
      return t.constant(name + "_w", shape, random_floats(numel(shape), static_cast<unsigned>(random())));
    };
    switch (below(8)) {
      case 0: {
        MaxPool2d pool;
        pool.kernel = {1 + below(3), 1 + below(2)};
        pool.stride = {1 + below(2), 1};
        if (s[1] > 4) x = t.node(name, pool, {x});
        break;
      }
      case 1:
        x = t.node(name, Add{}, {x, t.node(name + "_sigmoid", Unary{UnaryFn::sigmoid, 0}, {x})});
        break;
      case 2: {
        Conv2d conv;
        conv.pad_before = conv.pad_after = {1, 1};
        conv.bounds.low = 0;
        const i64 inner = 2 + below(9);
        const ValueId first = t.node(name + "_first", conv, {x, constant({inner, 3, 3, s[3]})});
        const Shape back{s[3], 3, 3, inner};
        const ValueId w = t.constant(name + "_w2", back, random_floats(numel(back), static_cast<unsigned>(random())));
        x = t.node(name, Add{}, {t.node(name + "_second", conv, {first, w}), x});
        break;
      }
      default: {
        Conv2d conv;
        const bool depthwise = below(2) == 0;
        const i64 kh = 1 + below(3), kw = 1 + below(3);
        conv.stride = {1 + below(s[1] > 6 ? 2 : 1), 1};
        conv.dilation.h = 1 + below(2);
        if (kh * kw > 1)
          conv.pad_before = {below(kh * conv.dilation.h), below(kw)}, conv.pad_after = {below(kh * conv.dilation.h), below(kw)};
        conv.groups = depthwise ? s[3] : 1;
        if (below(2) == 0) conv.bounds.low = 0;
        if (s[1] + conv.pad_before.h + conv.pad_after.h < (kh - 1) * conv.dilation.h + 3) continue;
        const i64 out = depthwise ? s[3] : 2 + below(9);
        x = t.node(name, conv, {x, constant({out, kh, kw, depthwise ? 1 : s[3]})});
      }
    }
  }
  if (t.g.nodes.empty()) x = t.node("y", Clamp{{.low = 0}}, {x});
  t.output(x);
  return t;
}

TEST(SplitRows, KeepsEveryBitAndTheLimit) {
  std::mt19937 random(20261121);
  i64 split = 0, operators = 0, copies = 0;
  for (int round = 0; round < 24; ++round) {
    const TestGraph t = random_network(random);
    const std::vector<float> x = random_floats(t.g.type(t.g.inputs[0].value).elements(), static_cast<unsigned>(round));
    for (const char* target : {"cortex-m55", "cortex-m33", "cortex-m3"}) {
      SCOPED_TRACE(fmt::format("round {} on {}", round, target));
      Diagnostics diagnostics;
      const auto whole = compiled(t.g, target, 0, x, diagnostics);
      ASSERT_TRUE(whole);
      const std::vector<int8_t> expected = int8_result_of(*whole, x);
      for (const double part : {0.95, 0.7, 0.5, 0.4}) {
        const auto limit = static_cast<i64>(part * static_cast<double>(whole->plan.bytes));
        Diagnostics reasons;
        const auto bands = compiled(t.g, target, limit, x, reasons);
        if (!bands) {
          ASSERT_EQ(reasons.list().size(), 1u);
          EXPECT_EQ(reasons.list()[0].rule, "compile.max_ram");
          EXPECT_GT(std::stoll(reasons.list()[0].measured), limit);
          continue;
        }
        EXPECT_LE(bands->plan.bytes, limit);
        ASSERT_EQ(int8_result_of(*bands, x), expected);
        EXPECT_EQ(bands->row_bands.bytes_before, whole->plan.bytes);
        EXPECT_EQ(macs_of(*bands) - macs_of(*whole), bands->row_bands.extra_macs);
        split += bands->row_bands.operators > 0;
        operators += bands->row_bands.operators;
        copies += bands->row_bands.copies;
      }
    }
  }
  EXPECT_GE(split, 60);
  EXPECT_GE(operators, 120);
  EXPECT_GE(copies, 60);
}

// The arguments of added calls lie in RAM too, a hundred bytes of each at the least.
TEST(SplitRows, LeastCountsTheTablesOfCalls) {
  std::mt19937 random(20261127);
  i64 split = 0;
  for (int round = 0; round < 24; ++round) {
    SCOPED_TRACE(round);
    const TestGraph t = random_network(random);
    const std::vector<float> x = random_floats(t.g.type(t.g.inputs[0].value).elements(), static_cast<unsigned>(round));
    Diagnostics diagnostics;
    const auto least = compiled(t.g, "cortex-m55", kLeastRam, x, diagnostics);
    ASSERT_TRUE(least);
    const auto& bands = least->row_bands;
    if (bands.operators == 0) continue;
    EXPECT_GT(bands.bytes_before - bands.bytes_after, 100 * bands.extra_calls);
    ++split;
  }
  EXPECT_GE(split, 4);
}

TEST(SplitRows, LeavesAloneWhatFits) {
  std::mt19937 random(3);
  const TestGraph t = random_network(random);
  const std::vector<float> x = random_floats(t.g.type(t.g.inputs[0].value).elements(), 1);
  Diagnostics diagnostics;
  const auto whole = compiled(t.g, "cortex-m55", 0, x, diagnostics);
  const auto same = compiled(t.g, "cortex-m55", whole->plan.bytes, x, diagnostics);
  EXPECT_EQ(same->pte, whole->pte);
  EXPECT_EQ(same->row_bands.operators, 0);
}

// What cannot be taken apart by rows: a batch, one row, a pool whose windows reach into padding.
TEST(SplitRows, KnowsWhatCannotBeSplit) {
  const auto length = [](Shape shape, Op op) {
    TestGraph t;
    t.output(t.node("y", std::move(op), {t.input("x", std::move(shape))}));
    return chain_up_to(t.g, Uses(t.g), 0, 4).size();
  };
  MaxPool2d plain, padded, hanging;
  plain.kernel = padded.kernel = hanging.kernel = {3, 3};
  plain.stride = padded.stride = {1, 1};
  hanging.stride = {2, 2};
  hanging.ceil_mode = true;
  padded.pad = {1, 1};
  EXPECT_EQ(length({1, 8, 7, 3}, plain), 1u);
  EXPECT_EQ(length({1, 8, 7, 3}, padded), 0u);
  EXPECT_EQ(length({1, 8, 7, 3}, hanging), 0u);
  EXPECT_EQ(length({2, 8, 7, 3}, plain), 0u);
  EXPECT_EQ(length({1, 1, 7, 3}, Clamp{}), 0u);
  EXPECT_EQ(length({1, 2, 7, 3}, Clamp{}), 1u);
  EXPECT_EQ(length({8, 7, 3}, Clamp{}), 0u);
}

}  // namespace
}  // namespace deuteron
