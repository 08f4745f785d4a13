// SPDX-License-Identifier: Apache-2.0
// Convolutions with positions of a row as channels give the bits of those without.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "compile/compilation.h"
#include "compile/compile.h"
#include "compile/options.h"
#include "compile/test_program.h"
#include "ir/text.h"
#include "targets/target.h"

namespace deuteron {
namespace {

struct Layer {
  i64 slice = 0, length = 0, channels = 1, rows = 1;  // what the row begins behind in x
  i64 kernel = 0, other_kernel = 1, stride = 1, before = 0, after = 0, filters = 3;
  bool is_column = false;

  i64 windows() const { return (length + before + after - kernel) / stride + 1; }
  i64 source() const { return slice + length + slice % 3; }
};

std::string to_text(const Layer& l, std::mt19937& random) {
  const auto hw = [&](i64 along, i64 other) {
    return l.is_column ? fmt::format("{},{}", along, other) : fmt::format("{},{}", other, along);
  };
  std::uniform_int_distribution<int> step(-127, 127);
  std::string weight;
  const i64 elements = l.filters * l.other_kernel * l.kernel * l.channels;
  for (i64 k = 0; k < elements; ++k) weight += fmt::format("{}{}", k ? "," : "", step(random));
  const i64 rows_out = l.rows - l.other_kernel + 1;
  std::string text = "input image : f32[";
  std::string in = "x";
  const std::string shape = l.is_column ? fmt::format("1,{},1,{}", l.length, l.channels)
                                        : fmt::format("1,{},{},{}", l.rows, l.length, l.channels);
  if (l.slice > 0) {
    text += fmt::format("{}]\nx = quantize(image) quant=q(scale=0.05 zero=7)\n",
                        l.source() * l.channels);
    text += fmt::format("a = slice(x) axis=0 start={} count={} : s8[{}] q(scale=0.05 zero=7)\n",
                        l.slice * l.channels, l.length * l.channels, l.length * l.channels);
    text += fmt::format("b = reshape(a) shape={0} : s8[{0}] q(scale=0.05 zero=7)\n", shape);
    in = "b";
  } else {
    text += fmt::format("{}]\nx = quantize(image) quant=q(scale=0.05 zero=7)\n", shape);
  }
  text += fmt::format(
      "w = const s8[{},{},{}] q(scale=0.01 zero=0) {}\n", l.filters,
      l.is_column ? fmt::format("{},1", l.kernel) : fmt::format("{},{}", l.other_kernel, l.kernel),
      l.channels, weight);
  text += fmt::format(
      "y = conv2d({}, w) stride={} pad_before={} pad_after={} : s8[1,{},{}] q(scale=0.9 "
      "zero=-3)\noutput y\n",
      in, hw(l.stride, 1), hw(l.before, 0), hw(l.after, 0),
      l.is_column ? fmt::format("{},1", l.windows()) : fmt::format("{},{}", rows_out, l.windows()),
      l.filters);
  return text;
}

struct FoldedRun {
  std::vector<int8_t> bits;
  i64 channels = 0;  // of the filters on the NPU
};

FoldedRun compiled(const std::string& text, bool folds, const std::vector<float>& x) {
  Diagnostics diagnostics;
  std::optional<Graph> g = parse(text, "test", diagnostics);
  EXPECT_TRUE(g) << text
                 << (diagnostics.list().empty() ? "" : format_diagnostic(diagnostics.list()[0]));
  if (!g) return {};
  CompileOptions options;
  if (!folds) options.skip_passes = {"fold-rows"};
  const Target target = *find_target("imxrt700cm", diagnostics);
  const std::optional<Compilation> c = compile(std::move(*g), target, {}, options, diagnostics);
  EXPECT_TRUE(c) << text
                 << (diagnostics.list().empty() ? "" : format_diagnostic(diagnostics.list()[0]));
  if (!c) return {};
  FoldedRun result{int8_result_of(*c, x), 0};
  for (const GraphValue& v : c->partition.graph.values)
    if (v.constant && v.type.dtype == DType::s8) result.channels = v.type.shape.back();
  return result;
}

TEST(FoldRows, TheBitsStay) {
  const Layer kLayers[] = {
      {.slice = 1,
       .length = 3967,
       .kernel = 255,
       .stride = 128,
       .filters = 5,
       .is_column = true},                                           // torch.stft, 256 and 128
      {.length = 4000, .kernel = 400, .stride = 160, .filters = 4},  // 25 ms of 16 kHz, each 10 ms
      {.length = 32,
       .channels = 3,
       .rows = 8,
       .kernel = 8,
       .other_kernel = 8,
       .stride = 8,
       .filters = 4},  // patches of an image
      {.length = 64, .kernel = 11, .stride = 4, .before = 5, .after = 5},
      {.length = 61, .channels = 2, .kernel = 7, .stride = 4, .before = 3, .after = 2},
  };
  std::mt19937 random(1);
  std::vector<Layer> layers(std::begin(kLayers), std::end(kLayers));
  const auto draw = [&](i64 low, i64 high) {
    return std::uniform_int_distribution<i64>(low, high)(random);
  };
  while (layers.size() < 80) {
    Layer l{.length = draw(20, 150),
            .channels = draw(1, 3),
            .kernel = draw(2, 40),
            .stride = draw(2, 24),
            .filters = draw(1, 4)};
    if (draw(0, 1)) l.before = draw(0, l.kernel - 1), l.after = draw(0, l.kernel - 1);
    else l.slice = draw(0, 9);
    l.is_column = draw(0, 1) == 1;
    if (l.slice == 0 && !l.is_column) l.rows = draw(1, 4), l.other_kernel = draw(1, l.rows);
    if (l.length + l.before + l.after >= l.kernel) layers.push_back(l);
  }
  i64 folded = 0;
  for (const Layer& l : layers) {
    const std::string text = to_text(l, random);
    std::vector<float> x(
        static_cast<size_t>((l.slice > 0 ? l.source() : l.rows * l.length) * l.channels));
    for (float& v : x) v = 0.05f * static_cast<float>(draw(-128, 127) - 7);
    const FoldedRun with = compiled(text, true, x), without = compiled(text, false, x);
    EXPECT_EQ(with.bits, without.bits) << text.substr(0, 120) << text.substr(text.rfind("y = "));
    folded += with.channels > without.channels;
  }
  EXPECT_GT(folded, 25);
}

}  // namespace
}  // namespace deuteron
