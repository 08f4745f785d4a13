// SPDX-License-Identifier: Apache-2.0
// Every int8 form that the rules make fits its kernel, keeps the type of what it replaces, and
// moves the elements that it should.
#include "ir/rewrite/forms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "ir/rewrite/view_rules.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "ops/conv_transpose2d/stock_limits.h"
#include "ops/permute/collapse.h"

namespace deuteron {
namespace {

struct Int8Graph {
  Graph g;
  Quant q = per_tensor(0.5f, 3);
  ValueId input(Shape shape) {
    Axes order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    const ValueId v = g.add_value("x", {DType::s8, std::move(shape), q});
    g.inputs.push_back({v, "x", order});
    return v;
  }
  void output(Op op, std::vector<ValueId> inputs, Shape shape) {
    Axes order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    g.sources.push_back({"y", "aten.y.default", "", ""});
    const ValueId v =
        g.add_node(std::move(op), std::move(inputs), {{DType::s8, std::move(shape), q}}, "y", {0});
    g.outputs.push_back({v, "y", order});
  }
  void apply_rule(Rule rule) {
    i64 budget = -1;
    const Rule rules[] = {rule};
    rewrite(g, rules, &budget);
    EXPECT_EQ(find_fault(g), std::nullopt) << print(g);
  }
};

// What a graph of movements does to the positions 0, 1, 2, ..: those of the result's elements.
std::vector<float> positions(const Graph& g) {
  std::vector<std::vector<float>> data(g.values.size());
  data[g.inputs[0].value].resize(static_cast<size_t>(g.type(g.inputs[0].value).elements()));
  std::iota(data[g.inputs[0].value].begin(), data[g.inputs[0].value].end(), 0.0f);
  for (const Node& node : g.nodes) {
    std::vector<HostTensor> in;
    for (const ValueId v : node.inputs) in.push_back({&g.type(v), data[v].data()});
    const ValueId y = node.outputs[0];
    data[y].resize(static_cast<size_t>(g.type(y).elements()));
    const HostTensor out{&g.type(y), data[y].data()};
    execute(node.op, in, {&out, 1});
  }
  return data[g.outputs[0].value];
}

TEST(KernelForms, APermuteOfAnyRankIsTakenApart) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const size_t rank = 3 + random() % 5;
    Shape shape;
    for (size_t k = 0; k < rank; ++k) shape.push_back(1 + static_cast<i64>(random() % 4));
    Axes perm(rank);
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random);
    Int8Graph t;
    t.output(Permute{perm}, {t.input(shape)}, permuted(shape, perm));
    const std::vector<float> expected = positions(t.g);
    t.apply_rule(last_form);
    EXPECT_EQ(positions(t.g), expected) << to_text(shape) << " by " << to_text(perm);
    for (const Node& node : t.g.nodes)
      if (const Permute* p = std::get_if<Permute>(&node.op)) {
        EXPECT_LE(collapse(t.g.type(node.inputs[0]).shape, p->perm).shape.size(), kKernelAxes);
      }
  }
}

TEST(KernelForms, ADilatedMaximumPoolGathersItsTaps) {
  std::mt19937 random(12);
  const auto in = [&](i64 low, i64 high) {
    return low + static_cast<i64>(random() % static_cast<unsigned>(high - low + 1));
  };
  int made = 0;
  for (int round = 0; round < 200; ++round) {
    MaxPool2d pool;
    pool.kernel = {in(1, 4), in(1, 4)}, pool.stride = {in(1, 3), in(1, 3)},
    pool.dilation = {in(1, 3), in(2, 3)};
    pool.pad = {in(0, pool.kernel.h / 2), in(0, pool.kernel.w / 2)};
    pool.ceil_mode = in(0, 1) == 1;
    const Shape x{in(1, 2), in(3, 11), in(3, 12), in(1, 3)};
    const Type type{DType::s8, x, {}};
    const Type* types[] = {&type};
    const auto y = infer(Op(pool), TypeView(types));
    if (!y) continue;
    Int8Graph t;
    t.output(pool, {t.input(x)}, (*y)[0].shape);
    const std::vector<float> expected = positions(t.g);
    t.apply_rule(kernel_form({}));
    EXPECT_EQ(positions(t.g), expected) << print(t.g);
    for (const Node& node : t.g.nodes)
      if (const MaxPool2d* p = std::get_if<MaxPool2d>(&node.op)) {
        EXPECT_EQ(p->dilation, (HW{1, 1}));
      }
    ++made;
  }
  EXPECT_GT(made, 100);
}

// The rewritten graph in float on small whole numbers, where every sum is exact.
std::vector<float> small_sums(const Graph& g) {
  std::vector<std::vector<float>> data(g.values.size());
  for (size_t v = 0; v < g.values.size(); ++v) {
    data[v].resize(static_cast<size_t>(g.values[v].type.elements()));
    if (!g.values[v].constant) continue;
    const auto steps = g.values[v].constant->as<int8_t>();
    std::copy(steps.begin(), steps.end(), data[v].begin());
  }
  std::vector<float>& x = data[g.inputs[0].value];
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(static_cast<int>(i * 37 % 19) - 9);
  for (const Node& node : g.nodes) {
    std::vector<HostTensor> in;
    for (const ValueId v : node.inputs) in.push_back({&g.type(v), data[v].data()});
    const ValueId y = node.outputs[0];
    const HostTensor out{&g.type(y), data[y].data()};
    execute(node.op, in, {&out, 1});
  }
  return data[g.outputs[0].value];
}

TEST(KernelForms, ATransposedConvolutionStaysWithinTheStockKernel) {
  std::mt19937 random(13);
  const auto in = [&](i64 low, i64 high) {
    return low + static_cast<i64>(random() % static_cast<unsigned>(high - low + 1));
  };
  int made = 0, cropped = 0;
  for (int round = 0; round < 600; ++round) {
    ConvTranspose2d conv;
    conv.groups = in(1, 3);
    conv.stride = {in(1, 4), in(1, 4)}, conv.dilation = {in(1, 2), in(1, 3)},
    conv.pad = {in(0, 3), in(0, 3)};
    conv.output_pad = {in(0, 1), in(0, 2)};
    const i64 cg = in(1, 3) * (round % 7 == 0 ? 9 : 1);
    const Shape x{in(1, 2), in(1, 5), in(1, 6), cg * conv.groups},
        w{conv.groups * in(1, 2), in(1, 4), in(1, 4), cg};
    const Type tx{DType::s8, x, {}}, tw{DType::s8, w, {}};
    const Type* types[] = {&tx, &tw};
    const auto y = infer(Op(conv), TypeView(types));
    if (!y) continue;
    Int8Graph t;
    std::vector<int8_t> weight(static_cast<size_t>(numel(w)));
    for (int8_t& v : weight) v = static_cast<int8_t>(in(-9, 9));
    const ValueId input = t.input(x);
    const ValueId constant =
        t.g.add_value("w", {DType::s8, w, per_tensor(0.25f, 0)}, constant_of(std::move(weight)));
    t.output(conv, {input, constant}, (*y)[0].shape);
    const std::vector<float> expected = small_sums(t.g);
    t.apply_rule(kernel_form({}));
    EXPECT_EQ(small_sums(t.g), expected) << print(t.g);
    for (const Node& node : t.g.nodes) {
      cropped += std::holds_alternative<Slice>(node.op);
      const ConvTranspose2d* c = std::get_if<ConvTranspose2d>(&node.op);
      if (!c) continue;
      EXPECT_EQ(c->groups, 1);
      EXPECT_EQ(c->dilation, (HW{1, 1}));
      const char* why = why_stock_conv_transpose2d_differs(
          kernel_args(*c, t.g.type(node.inputs[0]).shape, t.g.type(node.inputs[1]).shape,
                      t.g.type(node.outputs[0]).shape),
          CmsisNn::at_dbf45dbf);
      EXPECT_EQ(why, nullptr) << why << "\n" << print(t.g);
    }
    ++made;
  }
  EXPECT_GT(made, 200);
  EXPECT_GT(cropped, 20);
}

}  // namespace
}  // namespace deuteron
