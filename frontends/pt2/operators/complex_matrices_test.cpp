// SPDX-License-Identifier: Apache-2.0
// Expected numbers are torch's.
#include "frontends/pt2/operators/test_run.h"

namespace deuteron::pt2 {
namespace {

constexpr int kOfPairs = 10;  // complex64

// Complex operands a, b, .. of these shapes: element k of part i is ((7 k + 3 i) mod 11 - 5) / 4,
// real parts first. The result as pairs.
class ComplexCase {
 public:
  explicit ComplexCase(const std::vector<Shape>& shapes) {
    for (const Shape& shape : shapes) {
      const std::string name = std::string(1, static_cast<char>('a' + inputs_.size() / 2));
      add(name + "r", shape), add(name + "i", shape);
      model_.node("aten.complex.default", {{name, shape, kOfPairs}},
                  {{"real", as_tensor(name + "r")}, {"imag", as_tensor(name + "i")}});
    }
  }
  void gives(const std::string& target, const Arguments& arguments, const Shape& shape,
             const std::vector<float>& expected) {
    Shape pairs = shape;
    pairs.push_back(2);
    model_.node(target, {{"y", shape, kOfPairs}}, arguments);
    model_.node("aten.view_as_real.default", {{"z", pairs}}, {{"self", as_tensor("y")}});
    model_.output("z");
    expect_near(results_of(model_, inputs_)[0], expected, target);
  }

 private:
  void add(const std::string& name, const Shape& shape) {
    std::vector<float> x;
    for (i64 k = 0; k < numel(shape); ++k)
      x.push_back(static_cast<float>((7 * k + 3 * static_cast<i64>(inputs_.size())) % 11 - 5) / 4);
    model_.input(name, shape);
    inputs_.push_back(std::move(x));
  }
  TestModel model_;
  std::vector<std::vector<float>> inputs_;
};

Arguments operands(const std::string& second) {
  return {{"self", as_tensor("a")}, {second, as_tensor("b")}};
}
json as_complex(double re, double im) { return {{"as_complex", {{"real", re}, {"imag", im}}}}; }
Arguments of_equation(const std::string& equation) {
  return {{"equation", as_text(equation)},
          {"tensors", {{"as_tensors", {{{"name", "a"}}, {{"name", "b"}}}}}}};
}

TEST(ComplexMatrices, ProductsOfMatricesAndVectors) {
  ComplexCase({{2, 3}, {3, 2}})
      .gives("aten.mm.default", operands("mat2"), {2, 2},
             {2.5f, -0.75f, -0.0625f, 1.5625f, 3.0625f, 2, -2.25f, 1.6875f});
  ComplexCase({{2, 2, 3}, {3, 2}})
      .gives("aten.matmul.default", operands("other"), {2, 2, 2},
             {2.5f, -0.75f, -0.0625f, 1.5625f, 3.0625f, 2, -2.25f, 1.6875f, 2.9375f, 2, -2.375f,
              1.8125f, 2.8125f, 2, -2.5f, 1.9375f});
  ComplexCase({{2, 3}, {3}})
      .gives("aten.mv.default", operands("vec"), {2}, {-0.4375f, -1.5625f, 0.125f, 1.0625f});
  ComplexCase({{3}, {3, 2}})
      .gives("aten.matmul.default", operands("other"), {2}, {2.5f, -0.75f, -0.0625f, 1.5625f});
  ComplexCase({{3}, {3}}).gives("aten.dot.default", operands("tensor"), {}, {-0.4375f, -1.5625f});
  ComplexCase({{3}, {3}}).gives("aten.vdot.default", operands("other"), {}, {-1.9375f, 0.0625f});
  ComplexCase({{2, 3}}).gives(
      "aten.mH.default", {{"self", as_tensor("a")}}, {3, 2},
      {-1.25f, 0.5f, 1.25f, 0.75f, 0.5f, -1.25f, 0.25f, -1, -0.5f, -0.25f, -0.75f, 0});
}

TEST(ComplexMatrices, TheAdjointOfARealMatrixIsReal) {
  expect_near(results_of(model_of("aten.mH.default", {2, 3}, {3, 2}), {{1, 2, 3, 4, 5, 6}})[0],
              {1, 4, 2, 5, 3, 6}, "mH");
}

TEST(ComplexMatrices, ProductsWithAFactorAndATermBeside) {
  Arguments arguments = {
      {"self", as_tensor("c")}, {"mat1", as_tensor("a")}, {"mat2", as_tensor("b")}};
  arguments.insert(arguments.end(), {{"beta", as_float(0.5)}, {"alpha", as_float(2)}});
  ComplexCase({{2, 3}, {3, 2}, {2, 2}})
      .gives("aten.addmm.default", arguments, {2, 2},
             {4.5f, -1.625f, 0.25f, 2.5f, 6, 4.25f, -5.125f, 3.125f});
}

TEST(ComplexMatrices, Einsum) {
  ComplexCase({{2, 3}, {2, 3, 2}})
      .gives("aten.einsum.default", of_equation("fc,fct->ft"), {2, 2},
             {2.5f, -0.75f, -0.0625f, 1.5625f, -2, 2.1875f, -2.5f, -0.875f});
  ComplexCase({{2}, {3}})
      .gives("aten.einsum.default", of_equation("a,b->ab"), {2, 3},
             {0.1875f, -1.375f, 0.9375f, 0.375f, -1.75f, 0.75f, -1.125f, 0.8125f, -0.375f, -0.9375f,
              1.75f, 0.75f});
  ComplexCase({{2, 3}, {2, 2}})
      .gives("aten.einsum.default", of_equation("ab,ac->b"), {3},
             {2.1875f, -2.0625f, -1, 0.8125f, -0.75f, -0.4375f});
}

TEST(ComplexMatrices, ComplexNumbersAndPowers) {
  const auto times = [](const json& number) {
    return Arguments{{"self", as_tensor("a")}, {"other", number}};
  };
  ComplexCase({Shape{3}})
      .gives("aten.mul.Tensor", times(as_complex(0, 1)), {3},
             {0.5f, -1.25f, -1.25f, 0.5f, -0.25f, -0.5f});
  ComplexCase({Shape{3}})
      .gives("aten.mul.Tensor", times(as_complex(2, -0.5)), {3},
             {-2.75f, -0.375f, 1.625f, 2.25f, -0.875f, 0.75f});
  ComplexCase({Shape{3}})
      .gives("aten.pow.Tensor_Scalar", {{"self", as_tensor("a")}, {"exponent", as_int(3)}}, {3},
             {-1.015625f, -2.21875f, -2.21875f, -1.015625f, -0.03125f, 0.171875f});
}

// A real tensor made complex has a part of zeros, which has no part in a product.
TEST(ComplexMatrices, ZerosAreNotMultiplied) {
  TestModel m;
  m.input("x", {3, 2});
  m.parameter("w", {2, 2}, std::vector<float>{0.5f, 0, 0, 1, -0.25f, 0.5f, 0.125f, -0.125f},
              kOfPairs);
  m.node("aten.to.dtype", {{"a", {3, 2}, kOfPairs}},
         {{"self", as_tensor("x")}, {"dtype", as_dtype(kOfPairs)}});
  m.node("aten.matmul.default", {{"y", {3, 2}, kOfPairs}},
         {{"self", as_tensor("a")}, {"other", as_tensor("p_w")}});
  m.node("aten.view_as_real.default", {{"z", {3, 2, 2}}}, {{"self", as_tensor("y")}});
  m.output("z");
  expect_near(results_of(m, {{-1.25f, 0.5f, -0.5f, 1.25f, 0.25f, -0.75f}})[0],
              {-0.75f, 0.25f, 0.0625f, -1.3125f, -0.5625f, 0.625f, 0.15625f, -0.65625f, 0.3125f,
               -0.375f, -0.09375f, 0.34375f},
              "matmul");
  const Graph g = imported(m);
  const auto layers = std::count_if(g.nodes.begin(), g.nodes.end(), [](const Node& n) {
    return std::holds_alternative<Linear>(n.op);
  });
  EXPECT_EQ(layers, 1);
  for (const Node& n : g.nodes) {
    if (std::holds_alternative<Linear>(n.op)) {
      EXPECT_EQ(g.type(n.inputs[1]).shape, (Shape{4, 2}));
    }
  }
}

TEST(ComplexMatrices, TensordotSumsOverSeveralAxes) {
  ComplexCase({{2, 3}, {3, 2, 2}})
      .gives("aten.tensordot.default",
             {{"self", as_tensor("a")},
              {"other", as_tensor("b")},
              {"dims_self", as_ints({1, 0})},
              {"dims_other", as_ints({0, 2})}},
             {2}, {0.3125f, -2.4375f, -2.375f, 0.1875f});
}

TEST(ComplexMatrices, AConstantThatTheModelMakes) {
  TestModel m;
  m.input("r", {2}), m.input("i", {2});
  m.node("aten.complex.default", {{"a", {2}, kOfPairs}},
         {{"real", as_tensor("r")}, {"imag", as_tensor("i")}});
  m.node("aten.full.default", {{"f", {2}, kOfPairs}},
         {{"size", as_ints({2})}, {"fill_value", as_complex(1, -2)}});
  m.node("aten.mul.Tensor", {{"y", {2}, kOfPairs}},
         {{"self", as_tensor("a")}, {"other", as_tensor("f")}});
  m.node("aten.view_as_real.default", {{"z", {2, 2}}}, {{"self", as_tensor("y")}});
  m.output("z");
  expect_near(results_of(m, {{-1.25f, 0.5f}, {-0.5f, 1.25f}})[0], {-2.25f, 2, 3, 0.25f}, "full");
}

TEST(ComplexMatrices, EachNameOfWhatIsChangedInPlaceSeesBothParts) {
  TestModel m;
  m.input("r", {2}), m.input("i", {2});
  m.node("aten.complex.default", {{"a", {2}, kOfPairs}},
         {{"real", as_tensor("r")}, {"imag", as_tensor("i")}});
  m.node("aten.mul_.Tensor", {{"y", {2}, kOfPairs}},
         {{"self", as_tensor("a")}, {"other", as_tensor("r")}});
  m.node("aten.view_as_real.default", {{"z", {2, 2}}}, {{"self", as_tensor("a")}});
  m.output("z");
  expect_near(results_of(m, {{-1.25f, 0.5f}, {-0.5f, 1.25f}})[0], {1.5625f, 0.625f, 0.25f, 0.625f},
              "mul_");
}

}  // namespace
}  // namespace deuteron::pt2
