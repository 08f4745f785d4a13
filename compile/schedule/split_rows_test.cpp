// SPDX-License-Identifier: Apache-2.0
// Computing in bands of rows changes no bit of the result and keeps the promise about memory: on
// random chains of convolutions (all strides, paddings, dilations, depthwise and grouped), pools,
// sums and residual blocks, for each instruction set; and in bands of columns where images have one
// row.
#include "compile/schedule/split_rows.h"

#include <fmt/format.h>

#include "compile/calibrate/test_graph.h"
#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "compile/test_program.h"
#include "targets/target.h"

namespace deuteron {
namespace {

std::optional<Compilation> compiled(const Graph& g, const Target& target, i64 max_ram,
                                    const std::vector<float>& x, Diagnostics& diagnostics) {
  CompileOptions options;
  options.ports = PortTypes::steps;
  options.max_ram = max_ram;
  options.quantize.observer = Observer::min_max;
  return compile(g, target, {{x}}, options, diagnostics);
}
std::optional<Compilation> compiled(const Graph& g, const char* target, i64 max_ram,
                                    const std::vector<float>& x, Diagnostics& diagnostics) {
  return compiled(g, *find_target(target, diagnostics), max_ram, x, diagnostics);
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
      return t.constant(name + "_w", shape,
                        random_floats(numel(shape), static_cast<unsigned>(random())));
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
        const ValueId w = t.constant(name + "_w2", back,
                                     random_floats(numel(back), static_cast<unsigned>(random())));
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
          conv.pad_before = {below(kh * conv.dilation.h), below(kw)},
          conv.pad_after = {below(kh * conv.dilation.h), below(kw)};
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

// The same of images of one row. Pools are those of a column, and sums those of a sequence, as
// Keras has them: reshapes of the same bytes.
TestGraph random_line(std::mt19937& random) {
  const auto below = [&](i64 n) { return static_cast<i64>(random() % static_cast<unsigned>(n)); };
  TestGraph t;
  ValueId x = t.input("x", {1, 1, 40 + below(90), 2 + below(5)});
  for (i64 layer = 3 + below(4); layer > 0; --layer) {
    const i64 width = t.g.type(x).shape[2], channels = t.g.type(x).shape[3];
    const std::string name = fmt::format("layer{}", t.g.nodes.size());
    const auto conv = [&](const std::string& suffix, Conv2d a, ValueId from, i64 out, i64 kernel) {
      const Shape shape{out, 1, kernel, t.g.type(from).shape[3] / a.groups};
      const ValueId w = t.constant(name + suffix + "_w", shape,
                                   random_floats(numel(shape), static_cast<unsigned>(random())));
      return t.node(name + suffix, a, {from, w});
    };
    const auto reshaped = [&](const std::string& suffix, ValueId from, Shape shape) {
      return t.node(name + suffix, Reshape{std::move(shape)}, {from});
    };
    switch (below(6)) {
      case 0: {
        MaxPool2d pool;
        pool.kernel = {1 + below(3), 1}, pool.stride = {1 + below(2), 1};
        const ValueId y = t.node(name, pool, {reshaped("_column", x, {1, width, 1, channels})});
        x = reshaped("_row", y, {1, 1, t.g.type(y).shape[1], channels});
        break;
      }
      case 1: {
        AvgPool2d pool;
        pool.kernel = {1, 1 + below(3)}, pool.stride = {1, 1 + below(2)};
        x = t.node(name, pool, {x});
        break;
      }
      case 2: {
        Conv2d same;
        same.pad_before = same.pad_after = {0, 1};
        same.bounds.low = 0;
        const ValueId first = conv("_first", same, x, 2 + below(9), 3),
                      second = conv("_second", same, first, channels, 3);
        const Shape line{1, width, channels};
        const ValueId sum =
            t.node(name, Add{}, {reshaped("_line", second, line), reshaped("_x", x, line)});
        x = reshaped("_image", sum, {1, 1, width, channels});
        break;
      }
      default: {
        Conv2d a;
        const i64 kernel = 1 + below(5);
        a.stride.w = 1 + below(3), a.dilation.w = 1 + below(2);
        if (kernel > 1)
          a.pad_before.w = below(kernel * a.dilation.w),
          a.pad_after.w = below(kernel * a.dilation.w);
        if (below(2) == 0) a.groups = channels;
        if (below(2) == 0) a.bounds.low = 0;
        if (width + a.pad_before.w + a.pad_after.w < (kernel - 1) * a.dilation.w + 9) continue;
        x = conv("", a, x, a.groups > 1 ? channels : 2 + below(9), kernel);
      }
    }
  }
  if (t.g.nodes.empty()) x = t.node("y", Clamp{{.low = 0}}, {x});
  t.output(x);
  return t;
}

struct Seen {
  i64 split = 0, operators = 0, copies = 0;
};

void check_limits(const Graph& g, const Target& target, const std::vector<float>& x, Seen& seen) {
  Diagnostics diagnostics;
  const auto whole = compiled(g, target, 0, x, diagnostics);
  ASSERT_TRUE(whole);
  const std::vector<int8_t> expected = int8_result_of(*whole, x);
  for (const double part : {0.95, 0.7, 0.5, 0.4}) {
    const auto limit = static_cast<i64>(part * static_cast<double>(whole->plan.bytes));
    Diagnostics reasons;
    const auto bands = compiled(g, target, limit, x, reasons);
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
    seen.split += bands->row_bands.operators > 0;
    seen.operators += bands->row_bands.operators;
    seen.copies += bands->row_bands.copies;
  }
}

Target with_dialect(const char* name, const char* dialect) {
  Diagnostics diagnostics;
  Target target = *find_target(name, diagnostics);
  target.options.dialect = dialect;
  return target;
}

TEST(SplitRows, KeepsEveryBitAndTheLimit) {
  std::mt19937 random(20261121);
  Seen seen;
  for (int round = 0; round < 24; ++round) {
    const TestGraph t = random_network(random);
    const std::vector<float> x =
        random_floats(t.g.type(t.g.inputs[0].value).elements(), static_cast<unsigned>(round));
    for (const char* target : {"cortex-m55", "cortex-m33", "cortex-m3"}) {
      SCOPED_TRACE(fmt::format("round {} on {}", round, target));
      check_limits(t.g, with_dialect(target, "deuteron"), x, seen);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GE(seen.split, 60);
  EXPECT_GE(seen.operators, 120);
  EXPECT_GE(seen.copies, 60);
}

TEST(SplitRows, KeepsEveryBitOfImagesOfOneRow) {
  std::mt19937 random(20261128);
  Seen seen;
  for (int round = 0; round < 12; ++round) {
    const TestGraph t = random_line(random);
    const std::vector<float> x =
        random_floats(t.g.type(t.g.inputs[0].value).elements(), static_cast<unsigned>(round));
    for (const char* target : {"cortex-m55", "cortex-m33", "cortex-m3"})
      for (const char* dialect : {"deuteron", "stock"}) {
        SCOPED_TRACE(fmt::format("round {} on {}, {}", round, target, dialect));
        check_limits(t.g, with_dialect(target, dialect), x, seen);
        if (HasFatalFailure()) return;
      }
  }
  EXPECT_GE(seen.split, 100);
  EXPECT_GE(seen.operators, 280);
  EXPECT_GE(seen.copies, 90);
}

// The arguments of added calls lie in RAM too, a hundred bytes of each at the least.
TEST(SplitRows, LeastCountsTheTablesOfCalls) {
  std::mt19937 random(20261127);
  i64 split = 0;
  for (int round = 0; round < 24; ++round) {
    SCOPED_TRACE(round);
    const TestGraph t = random_network(random);
    const std::vector<float> x =
        random_floats(t.g.type(t.g.inputs[0].value).elements(), static_cast<unsigned>(round));
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

// What cannot be taken apart by rows: a batch, one pixel, a pool whose windows reach into padding.
// Of one row the columns can be, where windows see no other row.
TEST(SplitRows, KnowsWhatCannotBeSplit) {
  const auto length = [](Shape shape, Op op) {
    TestGraph t;
    t.output(t.node("y", std::move(op), {t.input("x", std::move(shape))}));
    return chain_up_to(t.g, Uses(t.g), 0, 4).size();
  };
  MaxPool2d plain, padded, hanging, column, line, line_of_three;
  plain.kernel = padded.kernel = hanging.kernel = {3, 3};
  plain.stride = padded.stride = {1, 1};
  hanging.stride = {2, 2};
  hanging.ceil_mode = true;
  padded.pad = {1, 1};
  column.kernel = {8, 1};
  line.kernel = {1, 3};
  line_of_three.kernel = {3, 3}, line_of_three.pad = {1, 0};
  EXPECT_EQ(length({1, 8, 7, 3}, plain), 1u);
  EXPECT_EQ(length({1, 8, 7, 3}, padded), 0u);
  EXPECT_EQ(length({1, 8, 7, 3}, hanging), 0u);
  EXPECT_EQ(length({2, 8, 7, 3}, plain), 0u);
  EXPECT_EQ(length({1, 8, 7, 3}, column), 0u);
  EXPECT_EQ(length({1, 1, 7, 3}, line), 1u);
  EXPECT_EQ(length({1, 1, 7, 3}, line_of_three), 0u);
  EXPECT_EQ(length({1, 1, 7, 3}, Clamp{}), 1u);
  EXPECT_EQ(length({1, 1, 1, 3}, Clamp{}), 0u);
  EXPECT_EQ(length({1, 2, 7, 3}, Clamp{}), 1u);
  EXPECT_EQ(length({1, 7, 3}, Clamp{}), 1u);
  EXPECT_EQ(length({8, 7, 3}, Clamp{}), 0u);
}

}  // namespace
}  // namespace deuteron
