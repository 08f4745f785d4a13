// SPDX-License-Identifier: Apache-2.0
// Resize2d against torch's results, and what becomes of it on Cortex-M.
#include "ops/resize2d/resize2d.h"

#include <cmath>
#include <random>

#include "compile/calibrate/test_graph.h"
#include "ir/rewrite/forms.h"
#include "ir/rewrite/kernel_forms.h"
#include "kernels/resize2d/kernel.h"

#include "compile/calibrate/samples.h"

namespace deuteron {
namespace {

// torch.arange(1, 7).reshape(1, 1, 2, 3) brought to 3 x 5 by torch.nn.functional.interpolate.
TEST(Resize2d, IsWhatTorchComputes) {
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  const std::pair<Resize2d, std::vector<float>> cases[] = {
      {{Resize2d::kBilinear, {3, 5}, false, true},
       {1, 1.4f, 2, 2.6f, 3, 2.5f, 2.9f, 3.5f, 4.1f, 4.5f, 4, 4.4f, 5, 5.6f, 6}},
      {{Resize2d::kBilinear, {3, 5}, true, false},
       {1, 1.5f, 2, 2.5f, 3, 2.5f, 3, 3.5f, 4, 4.5f, 4, 4.5f, 5, 5.5f, 6}},
      {{Resize2d::kNearest, {3, 5}, false, false}, {1, 1, 2, 2, 3, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6}},
      {{Resize2d::kNearest, {3, 5}, false, true}, {1, 1, 2, 3, 3, 4, 4, 5, 6, 6, 4, 4, 5, 6, 6}},
      {{Resize2d::kNearest, {1, 1}, true, false}, {1}},
      {{Resize2d::kBilinear, {1, 1}, true, false}, {1}}};
  for (const auto& [op, expected] : cases) {
    const std::vector<float> y = run_op(op, {{{1, 2, 3, 1}, x}});
    ASSERT_EQ(y.size(), expected.size());
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-6) << i;
  }
}

TEST(Resize2d, KeepsBatchAndChannelsApart) {
  const std::vector<float> x = random_floats(2 * 3 * 4 * 5, 7);
  for (const i64 mode : {Resize2d::kNearest, Resize2d::kBilinear}) {
    const Resize2d op{mode, {7, 2}, false, mode == Resize2d::kBilinear};
    const std::vector<float> y = run_op(op, {{{2, 3, 4, 5}, x}});
    for (i64 n = 0; n < 2; ++n)
      for (i64 c = 0; c < 5; ++c) {
        std::vector<float> plane;
        for (i64 p = 0; p < 12; ++p) plane.push_back(x[(n * 12 + p) * 5 + c]);
        const std::vector<float> alone = run_op(op, {{{1, 3, 4, 1}, plane}});
        for (i64 p = 0; p < 14; ++p) ASSERT_EQ(y[(n * 14 + p) * 5 + c], alone[p]);
      }
  }
}

TEST(Resize2d, RefusesWhatHasNoMeaning) {
  const Type image{DType::f32, {1, 2, 3, 4}, {}}, flat{DType::f32, {2, 3}, {}};
  const auto rule = [](const Resize2d& op, const Type& x) {
    const Type* in[] = {&x};
    const auto types = infer(Op(op), TypeView(in));
    return types ? std::string("accepted") : types.why.rule;
  };
  EXPECT_EQ(rule({0, {3, 5}, false, false}, image), "accepted");
  EXPECT_EQ(rule({0, {3, 5}, false, false}, flat), "resize2d.rank");
  EXPECT_EQ(rule({2, {3, 5}, false, false}, image), "resize2d.mode");
  EXPECT_EQ(rule({0, {0, 5}, false, false}, image), "resize2d.extent");
  EXPECT_EQ(rule({1, {3, 5}, true, true}, image), "resize2d.position");
}

std::vector<std::string> after_rules(Graph& g) {
  i64 budget = -1;
  const Rule rules[] = {bilinear_in_float, kernel_form({})};
  rewrite(g, rules, &budget);
  EXPECT_EQ(find_fault(g), std::nullopt);
  std::vector<std::string> names;
  for (const Node& node : g.nodes) names.emplace_back(name_of(node.op));
  return names;
}

TEST(Resize2d, NearestBecomesTheCopiesThatPickTheSameElements) {
  for (const Resize2d& op : {Resize2d{0, {5, 9}, false, false}, Resize2d{0, {5, 3}, false, true},
                             Resize2d{0, {2, 4}, true, false}}) {
    TestGraph t;
    t.output(t.node("y", op, {t.input("x", {2, 5, 4, 3})}));
    const std::vector<float> x = random_floats(2 * 5 * 4 * 3, 5);
    std::vector<float> between = x;
    Shape shape{2, 5, 4, 3};
    const std::vector<std::string> names = after_rules(t.g);
    EXPECT_EQ(std::count(names.begin(), names.end(), "gather"), static_cast<i64>(names.size()));
    for (const Node& node : t.g.nodes) {
      between = run_op(node.op, {{shape, between}});
      shape = t.g.type(node.outputs[0]).shape;
    }
    EXPECT_EQ(between, run_op(op, {{{2, 5, 4, 3}, x}}));
  }
}

TEST(Resize2d, BilinearRunsInFloatWithoutRoundingWhereFloatIsBesideIt) {
  TestGraph t;
  const Quant q = per_tensor(0.25f, -4);
  const auto int8 = [&](const std::string& name, Op op, ValueId x, Shape shape) {
    t.g.sources.push_back({name, name, name, ""});
    return t.g.add_node(std::move(op), {x}, {Type{DType::s8, std::move(shape), q}}, name,
                        {static_cast<i32>(t.g.sources.size()) - 1});
  };
  const ValueId steps = int8("steps", Quantize{q}, t.input("x", {1, 2, 3, 4}), {1, 2, 3, 4});
  const ValueId resized =
      int8("y", Resize2d{Resize2d::kBilinear, {4, 6}, false, true}, steps, {1, 4, 6, 4});
  t.output(t.node("real", Dequantize{}, {resized}));
  EXPECT_EQ(after_rules(t.g), (std::vector<std::string>{"resize2d"}));
}

// The compiler's tables: what the kernel computes of x is the float operator of the same steps, but
// for one rounding of the result to a step and two of a weight to 2^-11, each of which moves a
// number by at most 255 steps * 2^-12.
TEST(Resize2d, IsTheFloatOperatorRoundedToSteps) {
  const Resize2d cases[] = {{Resize2d::kBilinear, {10, 6}, false, true},
                            {Resize2d::kBilinear, {9, 17}, true, false},
                            {Resize2d::kBilinear, {3, 2}, false, true},
                            {Resize2d::kBilinear, {1, 1}, true, false},
                            {Resize2d::kBilinear, {7, 11}, false, false}};
  for (const Resize2d& op : cases) {
    const Type x{DType::s8, {2, 5, 4, 3}, per_tensor(0.05f, -3)},
        real_type{DType::f32, x.shape, {}};
    Type y = x;
    y.shape = {2, op.size.h, op.size.w, 3};
    const Type real_result{DType::f32, y.shape, {}};
    const Type *in[] = {&x}, *out[] = {&y};
    const Constant* data[] = {nullptr};
    const auto call = lower_to_cortex_m(op, {TypeView(in), TypeView(out), data, Isa::mve});
    ASSERT_TRUE(call);
    std::mt19937 random(17);
    std::vector<int8_t> steps(static_cast<size_t>(x.elements())),
        result(static_cast<size_t>(y.elements()));
    std::vector<float> numbers(steps.size()), expected(result.size());
    for (size_t i = 0; i < steps.size(); ++i)
      numbers[i] = steps[i] = static_cast<int8_t>(static_cast<int>(random() % 256) - 128);
    const HostTensor from[] = {{&real_type, numbers.data()}},
                     to[] = {{&real_result, expected.data()}};
    execute(op, from, to);
    const auto table = [&](size_t k) { return call->constants[k].data.as<i32>().data(); };
    resize2d_s8({2, 5, 4, 3, static_cast<int32_t>(op.size.h), static_cast<int32_t>(op.size.w)},
                steps.data(), table(0), table(1), result.data());
    for (size_t i = 0; i < result.size(); ++i)
      EXPECT_LE(std::abs(result[i] - expected[i]), 0.5 + 2 * 255.0 / 4096 + 1e-4) << i;
  }
}

}  // namespace
}  // namespace deuteron
