// SPDX-License-Identifier: Apache-2.0
// What operators say of themselves, held against what they compute: every example of every
// operator, in float.
#include "ops/families.h"

#include <algorithm>
#include <set>

#include "base/tensor/axes.h"
#include "compile/calibrate/test_graph.h"
#include "ir/text.h"
#include "ops/form.h"
#include "ops/unary/functions.h"

namespace deuteron {
namespace {

using Operands = std::vector<std::pair<Shape, std::vector<float>>>;

struct Case {
  const AnyExample& example;
  OpFacts facts;
  Operands operands;
  std::vector<float> y;
  Shape shape;
};

Operands operands_of(const AnyExample& example) {
  Operands operands;
  unsigned seed = 1;
  for (const Shape& shape : example.operands)
    operands.emplace_back(shape, random_floats(numel(shape), seed++, 0.1f, 2));
  return operands;
}

Shape shape_of(const Op& op, const Operands& operands) {
  std::vector<Type> types;
  for (const auto& [shape, data] : operands) types.push_back({DType::f32, shape, {}});
  std::vector<const Type*> pointers;
  for (const Type& t : types) pointers.push_back(&t);
  const auto result = infer(op, TypeView(pointers));
  return result ? (*result)[0].shape : Shape{};
}

// Every example but those of quantize, dequantize and recurrent layers, which take or make
// something else than one float tensor.
std::vector<Case> runs(const std::vector<AnyExample>& examples) {
  std::vector<Case> all;
  for (const AnyExample& example : examples) {
    if (is_quantize_or_dequantize(example.op) || recurrent_form(example.op)) continue;
    Case r{example, facts_of(example.op), operands_of(example), {}, {}};
    r.y = run_op(example.op, r.operands);
    r.shape = shape_of(example.op, r.operands);
    all.push_back(std::move(r));
  }
  return all;
}

std::vector<Case> runs() {
  static const std::vector<AnyExample> examples = all_examples();
  return runs(examples);
}

std::string name(const Case& r) {
  return std::string(name_of(r.example.op)) + ", " + r.example.name;
}

TEST(Examples, EveryOperatorHasSomeThatItTakes) {
  std::set<std::string> names;
  for (const AnyExample& example : all_examples()) {
    names.emplace(name_of(example.op));
    if (is_quantize_or_dequantize(example.op)) continue;
    EXPECT_FALSE(shape_of(example.op, operands_of(example)).empty())
        << name_of(example.op) << ", " << example.name;
  }
  EXPECT_EQ(names.size(), std::variant_size_v<AnyOp> - 2) << "all but kernel calls and delegates";
  for (const Case& r : runs())
    for (const float v : r.y) ASSERT_TRUE(std::isfinite(v)) << name(r);
}

TEST(Facts, SayWhereTheNumbersComeFrom) {
  for (const Case& r : runs()) {
    std::vector<float> given;
    for (const auto& [shape, data] : r.operands)
      given.insert(given.end(), data.begin(), data.end());
    const std::vector<float>& x = r.operands[0].second;
    const auto is_given = [&](float v) {
      return std::find(given.begin(), given.end(), v) != given.end();
    };
    const float least = *std::min_element(x.begin(), x.end()),
                most = *std::max_element(x.begin(), x.end());
    const bool given_only = std::all_of(r.y.begin(), r.y.end(), is_given);
    switch (r.facts.values) {
      case Values::same:
        EXPECT_EQ(r.y, x) << name(r);
        break;
      case Values::moved:
      case Values::chosen:
        EXPECT_TRUE(given_only) << name(r);
        break;
      case Values::padded: {
        std::set<float> others;
        for (const float v : r.y)
          if (!is_given(v)) others.insert(v);
        EXPECT_LE(others.size(), 1U) << name(r);
        break;
      }
      case Values::interpolated:
        EXPECT_FALSE(given_only) << name(r);
        for (const float v : r.y) EXPECT_TRUE(v >= least && v <= most) << name(r);
        break;
      case Values::computed:
        break;
    }
  }
}

// No text and no model makes one of these; a rewrite that did would be told.
TEST(Inference, RefusesWhatOnlyAWrongRewriteMakes) {
  const auto rule = [](const Op& op) {
    const Type x{DType::f32, {2, 3}, {}};
    const std::vector<const Type*> in{&x};
    return infer(op, TypeView(in)).why.rule;
  };
  PointStep forward;
  forward.a.from = 0;  // its own result
  EXPECT_EQ(rule(Pointwise{PointProgram{{forward}}}), "pointwise.order");
  EXPECT_EQ(rule(Pointwise{PointProgram{std::vector<PointStep>(kMostPointSteps + 1)}}),
            "pointwise.steps");
  EXPECT_EQ(rule(KernelCall{}), "ir.kernel_call");
}

// The pass that lowers asks for none of these: views have no kernel, calls are there already, and
// quantize makes int8.
TEST(Lowering, RefusesWhatNoPassAsksFor) {
  const auto rule = [](const Op& op) {
    const Type x{DType::f32, {2, 3}, {}};
    const std::vector<const Type*> one{&x};
    const std::vector<const Constant*> data{nullptr};
    return lower_to_cortex_m(op, {TypeView(one), TypeView(one), data, Isa::scalar}).why.rule;
  };
  EXPECT_EQ(rule(Reshape{{3, 2}}), "cortex_m.reshape");
  EXPECT_EQ(rule(Quantize{}), "cortex_m.quantize.dtype");
  EXPECT_EQ(rule(KernelCall{}), "cortex_m.kernel_call");
}

TEST(Facts, OfElementwiseOperatorsHoldElementByElement) {
  size_t seen = 0;
  for (const Case& r : runs()) {
    if (!is_elementwise(r.example.op)) continue;
    ++seen;
    EXPECT_EQ(r.shape, r.operands[0].first) << name(r);
    for (const size_t i : {size_t{0}, r.y.size() / 2, r.y.size() - 1})
      EXPECT_EQ(run_op(r.example.op, {{{1}, {r.operands[0].second[i]}}})[0], r.y[i]) << name(r);
    const Bounds useful = r.facts.useful;
    for (const auto& [bound, outside] :
         {std::pair(useful.low, useful.low - 7), std::pair(useful.high, useful.high + 7)})
      if (std::isfinite(bound)) {
        EXPECT_EQ(run_op(r.example.op, {{{1}, {bound}}})[0],
                  run_op(r.example.op, {{{1}, {outside}}})[0])
            << name(r);
      }
  }
  EXPECT_GT(seen, unary_functions().size());
}

// f(permute(x)) is permute(f'(x)) with f' what `reordered` gives.
TEST(AxisRules, GiveTheSameNumbersAlongOtherAxes) {
  size_t seen = 0;
  for (const Case& r : runs()) {
    const size_t rank = r.shape.size();
    for (Axes perm :
         {Axes{0, 2, 3, 1}, Axes{0, 3, 1, 2}, Axes{3, 1, 2, 0}, Axes{1, 0}, Axes{2, 0, 1}}) {
      if (perm.size() != rank) continue;
      const std::optional<Op> moved = reordered(r.example.op, perm);
      if (!moved) continue;
      ++seen;
      Operands turned = r.operands;  // operands of f', of which those of f are the permuted ones
      for (auto& [shape, data] : turned) {
        data = run_op(Permute{inverse(perm)}, {{shape, data}});
        shape = permuted(shape, inverse(perm));
      }
      const Shape shape = shape_of(*moved, turned);
      EXPECT_EQ(run_op(Permute{perm}, {{shape, run_op(*moved, turned)}}), r.y)
          << name(r) << " by " << to_text(perm);
    }
  }
  EXPECT_GE(seen, 20U);
}

// Every band of one row, computed from the rows that its window sees, is a part of the whole. Gives
// how many bands there were.
size_t check_bands(const Case& r) {
  const Operands& operands = r.operands;
  if (operands[0].first.size() != 4) return 0;
  std::vector<Type> types{{DType::f32, r.shape, {}}};
  for (const auto& [shape, data] : operands) types.push_back({DType::f32, shape, {}});
  std::vector<const Type*> in, out{&types[0]};
  for (size_t k = 1; k < types.size(); ++k) in.push_back(&types[k]);
  const std::optional<ImageWindow> window = window_of(r.example.op, TypeView(in));
  if (!window || !has_bands(r.example.op, TypeView(in), TypeView(out))) return 0;
  const i64 axis = band_axis(r.shape);
  const auto rows = [&](const std::vector<float>& image, const Shape& shape, i64 first, i64 count) {
    return run_op(Slice{axis, first, count, 1}, {{shape, image}});
  };
  const AxisWindow w = window->along(axis);
  const i64 extent = operands[0].first[axis];
  size_t seen = 0;
  for (i64 row = 0; row < r.shape[axis]; ++row) {
    const i64 begin = row * w.stride - w.pad, end = begin + (w.kernel - 1) * w.dilation + 1;
    const i64 first = std::max<i64>(begin, 0), last = std::min(end, extent);
    const RowBand band{last - first, 1, std::max<i64>(-begin, 0), std::max<i64>(end - extent, 0)};
    const std::optional<Op> part = band_of(r.example.op, TypeView(in), TypeView(out), band);
    if (!part) continue;
    ++seen;
    Operands of_band = operands;
    of_band[0].second = rows(operands[0].second, operands[0].first, first, last - first);
    of_band[0].first[axis] = last - first;
    const std::vector<float> whole = rows(r.y, r.shape, row, 1), y = run_op(*part, of_band);
    EXPECT_EQ(y.size(), whole.size()) << name(r);
    for (size_t k = 0; k < std::min(y.size(), whole.size()); ++k)
      EXPECT_NEAR(y[k], whole[k], 1e-4f) << name(r) << ", row " << row;
  }
  return seen;
}

TEST(AxisRules, BandsGiveTheNumbersOfTheWhole) {
  size_t seen = 0;
  for (const Case& r : runs()) seen += check_bands(r);
  EXPECT_GE(seen, 20U);
}

// Of an image of one row they are columns.
TEST(AxisRules, BandsOfColumnsGiveTheNumbersOfTheWhole) {
  Conv2d uneven, strided, depthwise;
  uneven.dilation = {1, 2}, uneven.pad_before = {0, 3}, uneven.pad_after = {0, 1};
  strided.stride = {1, 3}, strided.pad_before = {0, 1};
  depthwise.groups = 4, depthwise.pad_before = depthwise.pad_after = {0, 1};
  MaxPool2d max;
  max.kernel = {1, 3}, max.stride = {1, 2}, max.dilation = {1, 2};
  AvgPool2d mean;
  mean.kernel = {1, 4}, mean.stride = {1, 3};
  const std::vector<AnyExample> examples{
      {"uneven", uneven, {{1, 1, 13, 4}, {5, 1, 3, 4}, {5}}},
      {"strided", strided, {{1, 1, 14, 3}, {2, 1, 4, 3}}},
      {"depthwise", depthwise, {{1, 1, 9, 4}, {4, 1, 3, 1}, {4}}},
      {"maximum", max, {{1, 1, 15, 3}}},
      {"mean", mean, {{1, 1, 16, 3}}}};
  for (const Case& r : runs(examples))
    EXPECT_EQ(check_bands(r), static_cast<size_t>(r.shape[2])) << name(r);
  // Parts of several rows do not lie together, and padding above has no parts.
  Conv2d flat, padded;
  padded.pad_before = {1, 0}, padded.pad_after = {1, 0};
  const std::vector<AnyExample> others{{"all rows", flat, {{1, 3, 9, 4}, {5, 3, 3, 4}}},
                                       {"padded", padded, {{1, 1, 9, 4}, {5, 3, 3, 4}}}};
  for (const Case& r : runs(others)) EXPECT_EQ(check_bands(r), 0U) << name(r);
}

TEST(Facts, SayWhereAResultLiesInItsOperand) {
  size_t seen = 0;
  for (const Case& r : runs()) {
    std::vector<Type> types{{DType::f32, r.operands[0].first, {}}};
    const std::vector<const Type*> in{&types[0]};
    const std::optional<i64> first = view_of(r.example.op, TypeView(in));
    if (!first) continue;
    ++seen;
    EXPECT_EQ(r.facts.storage, Storage::in_operand) << name(r);
    const auto begin = r.operands[0].second.begin() + *first;
    EXPECT_EQ(std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(r.y.size())), r.y)
        << name(r);
  }
  EXPECT_GE(seen, 3U);
}

// What an operator becomes computes what it did.
TEST(Forms, InFloatComputeTheSame) {
  size_t seen = 0;
  for (const Case& r : runs())
    for (const FormKind kind : {FormKind::simpler, FormKind::kernel, FormKind::portable}) {
      std::vector<Type> types;
      std::vector<Constant> constants;
      for (const auto& [shape, data] : r.operands)
        types.push_back({DType::f32, shape, {}}), constants.push_back(constant_of(data));
      const std::string text = "v";
      std::vector<FormOperand> operands;
      for (size_t k = 0; k < types.size(); ++k)
        operands.push_back({&types[k], k == 0 ? nullptr : &constants[k], &text, nullptr, nullptr});
      const Type result{DType::f32, r.shape, {}};
      FormSite site;
      site.operands = operands, site.result = &result, site.name = &text;
      FormBuilder builder(site);
      if (!write_form(r.example.op, kind, builder)) continue;
      const Form form = builder.take();
      const auto is_call = [](const Form::Step& step) { return is_lowered(step.op); };
      if (std::ranges::any_of(form.steps, is_call))
        continue;  // of the device; what it computes is for tests of its kernel
      Operands values = r.operands;
      for (const Form::Value& value : form.values) {
        values.emplace_back(value.type.shape, std::vector<float>());
        if (value.constant)
          values.back().second.assign(value.constant->as<float>().begin(),
                                      value.constant->as<float>().end());
      }
      for (const Form::Step& step : form.steps) {
        Operands in;
        for (const ValueId v : step.inputs) in.push_back(values[static_cast<size_t>(v)]);
        values[static_cast<size_t>(step.output)].second = run_op(step.op, in);
      }
      const std::vector<float>& y = values[static_cast<size_t>(form.result)].second;
      ASSERT_EQ(y.size(), r.y.size()) << name(r);
      for (size_t k = 0; k < y.size(); ++k)
        ASSERT_NEAR(y[k], r.y[k], 1e-5f * (1 + std::abs(r.y[k]))) << name(r);
      ++seen;
    }
  EXPECT_GE(seen, 10U);
}

TEST(UnaryFunctions, AreNowhereSteeperThanTheirRowSays) {
  for (const UnaryFunction& row : unary_functions()) {
    if (!std::isfinite(row.steepest)) continue;
    double steepest = 0;
    for (const float alpha : {0.0f, 0.3f, 1.0f})
      for (int k = -80000; k < 80000; ++k) {
        const double x = k * 1e-4, h = 1e-3;
        const double rise =
            row.value(static_cast<float>(x + h), alpha) - row.value(static_cast<float>(x), alpha);
        steepest = std::max(steepest, std::abs(rise) / h);
      }
    EXPECT_LE(steepest, row.steepest + 2e-3) << row.name;
    EXPECT_GE(steepest, 0.97 * row.steepest) << row.name;
  }
}

TEST(UnaryFunctions, AreWhatTheirBuiltinsCompute) {
  for (const UnaryFunction& row : unary_functions()) {
    if (!row.builtins) continue;
    for (const float alpha : {1.0f, 2.0f, 3.0f}) {
      PointWriter writer(16);
      row.builtins(writer, {}, alpha);
      EXPECT_EQ(writer.fits(), row.fn != UnaryFn::pow || alpha != 1) << row.name;
      for (const PointStep& s : writer.program().steps)
        if (s.fn == PointFn::unary) {
          EXPECT_FALSE(row_of(s.unary).neutron.empty()) << row.name << " of " << name_of(s.unary);
        }
      if (!writer.fits()) continue;
      for (int k = -60; k <= 60; ++k) {
        const float x = static_cast<float>(k) / 10, y = row.value(x, alpha);
        if (std::isfinite(y)) {
          EXPECT_NEAR(evaluate(writer.program(), x), y, 1e-3f * (1 + std::abs(y)))
              << row.name << " " << x;
        }
      }
    }
  }
}

}  // namespace
}  // namespace deuteron
