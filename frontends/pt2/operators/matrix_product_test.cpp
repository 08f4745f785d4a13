// SPDX-License-Identifier: Apache-2.0
// Matrix products of any ranks against sums written out, and what is refused. That the numbers are
// torch's is shown by fixtures_test.cpp.
#include "frontends/pt2/operators/matrix_product.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/test_diagnostics.h"
#include "compile/calibrate/float_executor.h"
#include "compile/calibrate/test_graph.h"
#include "frontends/pt2/operators/torch_case.h"
#include "frontends/pt2/test_archive.h"
#include "ir/verify.h"

namespace deuteron::pt2 {
namespace {

using ::testing::HasSubstr;

std::vector<float> run(const TestModel& model, const std::vector<std::vector<float>>& inputs) {
  Diagnostics diagnostics;
  const auto g = import_bytes(model.bytes(), diagnostics);
  EXPECT_TRUE(g) << said(diagnostics);
  if (!g) return {};
  EXPECT_EQ(find_fault(*g), std::nullopt);
  return FloatExecutor(*g).run(inputs, {})[0];
}

std::string refusal(const TestModel& model) {
  Diagnostics diagnostics;
  EXPECT_FALSE(import_bytes(model.bytes(), diagnostics));
  return said(diagnostics);
}

// torch.matmul, element by element.
struct Product {
  Shape shape;
  std::vector<float> data;
};
Product expected_product(Shape a, Shape b, const std::vector<float>& da,
                         const std::vector<float>& db) {
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  const size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), 1), b.insert(b.begin(), rank - b.size(), 1);
  const i64 m = a[rank - 2], k = a[rank - 1], n = b[rank - 1];
  Product p;
  for (size_t i = 0; i + 2 < rank; ++i) p.shape.push_back(std::max(a[i], b[i]));
  const i64 batches = numel(p.shape);
  for (i64 at = 0; at < batches; ++at) {
    i64 left = 0, right = 0, rest = at, step_a = 1, step_b = 1;
    for (size_t i = rank - 2; i-- > 0;) {
      const i64 index = rest % p.shape[i];
      rest /= p.shape[i];
      left += (a[i] == 1 ? 0 : index) * step_a, right += (b[i] == 1 ? 0 : index) * step_b;
      step_a *= a[i], step_b *= b[i];
    }
    for (i64 r = 0; r < m; ++r)
      for (i64 c = 0; c < n; ++c) {
        double sum = 0;
        for (i64 i = 0; i < k; ++i)
          sum += double{da[(left * m + r) * k + i]} * db[(right * k + i) * n + c];
        p.data.push_back(static_cast<float>(sum));
      }
  }
  if (!row) p.shape.push_back(m);
  if (!column) p.shape.push_back(n);
  return p;
}

TEST(MatrixProduct, BroadcastsAsTorchDoes) {
  const std::pair<Shape, Shape> cases[] = {{{3, 5}, {5, 4}},
                                           {{2, 3, 5}, {2, 5, 4}},
                                           {{2, 3, 5}, {5, 4}},
                                           {{3, 5}, {2, 5, 4}},
                                           {{2, 1, 3, 5}, {1, 6, 5, 4}},
                                           {{6, 3, 5}, {2, 6, 5, 4}},
                                           {{2, 6, 3, 5}, {2, 1, 5, 4}},
                                           {{2, 1, 3, 5}, {2, 6, 5, 4}},
                                           {{7, 1, 2, 3, 5}, {6, 2, 5, 4}},
                                           {{3, 1, 2, 1, 4, 5}, {1, 2, 2, 3, 5, 6}},
                                           {{5}, {5}},
                                           {{5}, {5, 4}},
                                           {{3, 5}, {5}},
                                           {{2, 6, 3, 5}, {5}},
                                           {{5}, {2, 6, 5, 4}},
                                           {{1, 1, 5}, {1, 5, 1}}};
  for (const auto& [a, b] : cases)
    for (const char* parameter : {"", "a", "b"}) {  // which side is a parameter
      SCOPED_TRACE(fmt::format("{} x {}, parameter {}", to_text(a), to_text(b), parameter));
      const std::vector<float> da = random_floats(numel(a), 1), db = random_floats(numel(b), 2);
      const Product expected = expected_product(a, b, da, db);
      TestModel m;
      std::vector<std::vector<float>> inputs;
      const auto side = [&](const std::string& name, const Shape& shape,
                            const std::vector<float>& data) {
        if (name == parameter) return m.parameter(name, shape, data), as_tensor("p_" + name);
        inputs.push_back(data);
        return m.input(name, shape), as_tensor(name);
      };
      const json left = side("a", a, da), right = side("b", b, db);
      m.node("aten.matmul.default", {{"y", expected.shape}}, {{"self", left}, {"other", right}});
      m.output("y");
      const std::vector<float> y = run(m, inputs);
      ASSERT_EQ(y.size(), expected.data.size());
      for (size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected.data[i], 1e-5) << i;
    }
}

TestModel two_operands(const std::string& target, const Shape& a, const Shape& b, const Shape& y,
                       const std::string& second) {
  TestModel m;
  m.input("a", a);
  m.input("b", b);
  m.node(target, {{"y", y}}, {{"self", as_tensor("a")}, {second, as_tensor("b")}});
  m.output("y");
  return m;
}

TEST(MatrixProduct, RefusesShapesThatDoNotFit) {
  EXPECT_THAT(refusal(two_operands("aten.bmm.default", {2, 3, 5}, {2, 6, 4}, {2, 3, 4}, "mat2")),
              HasSubstr("[pt2.matmul.inner]"));
  EXPECT_THAT(refusal(two_operands("aten.bmm.default", {2, 3, 5}, {3, 5, 4}, {2, 3, 4}, "mat2")),
              HasSubstr("[pt2.matmul.batch]"));
  EXPECT_THAT(refusal(two_operands("aten.bmm.default", {3, 5}, {5, 4}, {3, 4}, "mat2")),
              HasSubstr("[pt2.matmul.batch]"));
  EXPECT_THAT(
      refusal(two_operands("aten.matmul.default", {2, 3, 5}, {3, 5, 4}, {3, 3, 4}, "other")),
      HasSubstr("[pt2.matmul.batch]"));
  EXPECT_THAT(refusal(two_operands("aten.matmul.default", {5}, {4}, {}, "other")),
              HasSubstr("[pt2.matmul.inner]"));
  EXPECT_THAT(refusal(two_operands("aten.mm.default", {3, 5}, {4, 5}, {3, 5}, "mat2")),
              HasSubstr("[pt2.matmul.inner]"));
  EXPECT_THAT(refusal(two_operands("aten.mm.default", {2, 3, 5}, {2, 5, 4}, {2, 3, 4}, "mat2")),
              HasSubstr("[pt2.linear.rank]"));
}

// beta * c + alpha * a b
TEST(MatrixProduct, AddmmAndBaddbmmHaveFactors) {
  for (const bool series : {false, true})
    for (const double beta : {1.0, 0.5, 0.0})
      for (const double alpha : {1.0, 0.25}) {
        const Shape a{2, 3, 5}, b{2, 5, 4}, y{2, 3, 4};
        const auto shape = [&](const Shape& s) { return series ? s : Shape{s[1], s[2]}; };
        const std::vector<float> da = random_floats(numel(shape(a)), 1),
                                 db = random_floats(numel(shape(b)), 2),
                                 dc = random_floats(numel(shape(y)), 3);
        TestModel m;
        m.input("c", shape(y)), m.input("a", shape(a)), m.input("b", shape(b));
        m.node(series ? "aten.baddbmm.default" : "aten.addmm.default", {{"y", shape(y)}},
               {{"self", as_tensor("c")},
                {series ? "batch1" : "mat1", as_tensor("a")},
                {series ? "batch2" : "mat2", as_tensor("b")},
                {"beta", as_float(beta)},
                {"alpha", as_float(alpha)}});
        m.output("y");
        const Product product = expected_product(shape(a), shape(b), da, db);
        const std::vector<float> actual = run(m, {dc, da, db});
        ASSERT_EQ(actual.size(), product.data.size());
        for (size_t i = 0; i < actual.size(); ++i)
          ASSERT_NEAR(actual[i], beta * dc[i] + alpha * product.data[i], 1e-5)
              << series << beta << alpha << " at " << i;
      }
}

TEST(MatrixProduct, LinearTakesAComputedWeight) {
  TestModel m;
  m.input("x", {2, 3, 5}), m.input("w", {4, 5}), m.input("bias", {4});
  m.node("aten.linear.default", {{"y", {2, 3, 4}}},
         {{"input", as_tensor("x")}, {"weight", as_tensor("w")}, {"bias", as_tensor("bias")}});
  m.output("y");
  const std::vector<float> x = random_floats(30, 1), w = random_floats(20, 2),
                           bias = random_floats(4, 3), y = run(m, {x, w, bias});
  ASSERT_EQ(y.size(), 24u);
  for (i64 r = 0; r < 6; ++r)
    for (i64 o = 0; o < 4; ++o) {
      double sum = bias[o];
      for (i64 i = 0; i < 5; ++i) sum += double{x[r * 5 + i]} * w[o * 5 + i];
      EXPECT_NEAR(y[r * 4 + o], sum, 1e-5);
    }
}

// softmax(q k' / sqrt(e) + mask) v
TEST(MatrixProduct, AttentionWithMasks) {
  enum class Mask { none, causal, boolean, additive };
  const i64 batch = 2, heads = 3, rows = 4, keys = 5, width = 6, out = 7;
  const std::vector<float> q = random_floats(batch * heads * rows * width, 1),
                           k = random_floats(batch * heads * keys * width, 2),
                           v = random_floats(batch * heads * keys * out, 3);
  for (const Mask kind : {Mask::none, Mask::causal, Mask::boolean, Mask::additive}) {
    TestModel m;
    m.input("q", {batch, heads, rows, width}), m.input("k", {batch, heads, keys, width}),
        m.input("v", {batch, heads, keys, out});
    std::vector<std::pair<std::string, json>> arguments{
        {"query", as_tensor("q")}, {"key", as_tensor("k")}, {"value", as_tensor("v")}};
    const auto blocked = [&](i64 r, i64 c) {
      return kind == Mask::causal ? c > r : kind != Mask::none && (r + c) % 3 == 1;
    };
    const auto extra = [&](i64 r, i64 c) {
      return kind == Mask::additive ? 0.25 * static_cast<double>(r - c) : 0.0;
    };
    if (kind == Mask::causal) arguments.emplace_back("is_causal", as_bool(true));
    if (kind == Mask::boolean || kind == Mask::additive) {
      std::vector<uint8_t> flags;
      std::vector<float> numbers;
      for (i64 r = 0; r < rows; ++r)
        for (i64 c = 0; c < keys; ++c) {
          flags.push_back(!blocked(r, c));
          numbers.push_back(blocked(r, c) ? -std::numeric_limits<float>::max()
                                          : static_cast<float>(extra(r, c)));
        }
      constexpr int kBool = 12;
      if (kind == Mask::boolean) m.parameter("mask", {1, rows, keys}, flags, kBool);
      else m.parameter("mask", {rows, keys}, numbers);
      arguments.emplace_back("attn_mask", as_tensor("p_mask"));
    }
    m.node("aten.scaled_dot_product_attention.default", {{"y", {batch, heads, rows, out}}},
           arguments);
    m.output("y");
    const std::vector<float> y = run(m, {q, k, v});
    ASSERT_EQ(static_cast<i64>(y.size()), batch * heads * rows * out);
    for (i64 h = 0; h < batch * heads; ++h)
      for (i64 r = 0; r < rows; ++r) {
        std::vector<double> weight;
        double total = 0;
        for (i64 c = 0; c < keys; ++c) {
          double score = 0;
          for (i64 i = 0; i < width; ++i)
            score += double{q[(h * rows + r) * width + i]} * k[(h * keys + c) * width + i];
          weight.push_back(blocked(r, c) ? 0
                                         : std::exp(score / std::sqrt(static_cast<double>(width)) +
                                                    extra(r, c)));
          total += weight.back();
        }
        for (i64 o = 0; o < out; ++o) {
          double sum = 0;
          for (i64 c = 0; c < keys; ++c) sum += weight[c] / total * v[(h * keys + c) * out + o];
          ASSERT_NEAR(y[(h * rows + r) * out + o], sum, 1e-5) << static_cast<int>(kind);
        }
      }
  }
}

TEST(MatrixProduct, HeadsOfQueriesShareKeys) {
  TorchCase("aten.scaled_dot_product_attention.default")
      .input("query", {1, 4, 2, 3})
      .input("key", {1, 2, 2, 3})
      .input("value", {1, 2, 2, 3})
      .with("enable_gqa", as_bool(true))
      .gives({1, 4, 2, 3},
             {0.11375412f,  -0.88624597f, 0.86375415f, 0.13175923f,  -0.86824077f,  0.88175923f,
              0.125f,       -0.875f,      0.875f,      0.11824078f,  -0.88175923f,  0.86824077f,
              -0.36375412f, -0.11245883f, 0.38624591f, -0.37049142f, -0.045085914f, 0.37950858f,
              -0.37725505f, 0.0225503f,   0.37274498f, -0.38400546f, 0.090054661f,  0.36599451f});
}

}  // namespace
}  // namespace deuteron::pt2
