// Fully connected layers: linear, and matrix products with a parameter on one side.
#include "frontends/pt2/import_table.h"

namespace deuteron::pt2 {
namespace {

// x [..,in] times weight [out,in]; a bias that is no parameter of shape [out] is added afterwards.
ValueId linear(Call& c, ValueId x, ValueId weight, ValueId bias) {
  if (!c.ok()) return -1;
  if (c.rank(weight) != 2) {
    c.refuse({"the weight of a fully connected layer has two axes", std::to_string(c.rank(weight)), "2", "pt2.linear.rank"});
    return -1;
  }
  if (bias < 0) return c.add(Linear{}, {x, weight});
  if (c.is_derived_from_constants(bias) && c.shape(bias) == Shape{c.shape(weight)[0]}) return c.add(Linear{}, {x, weight, bias});
  const ValueId y = c.add(Linear{}, {x, weight}, "product");
  return c.add(Add{}, {y, bias});
}

ValueId transposed(Call& c, ValueId matrix, std::string_view suffix) {
  c.require(!c.ok() || c.rank(matrix) == 2, "multiplies matrices", "rank " + std::to_string(c.rank(matrix)), "2", "pt2.linear.rank");
  return c.permute(matrix, {1, 0}, suffix);
}

// a [n,k] times b [k,m], one of them a parameter. With the parameter on the left: (b' a')'.
ValueId product(Call& c, ValueId a, ValueId b, ValueId bias) {
  if (!c.ok()) return -1;
  if (c.is_derived_from_constants(b)) return linear(c, a, transposed(c, b, "weight"), bias);
  if (!c.is_derived_from_constants(a)) {
    c.refuse({"multiplies two computed matrices, which is not supported", "", "", "pt2.linear.weight"});
    return -1;
  }
  const ValueId x = transposed(c, b, "in");
  const ValueId y = transposed(c, c.add(Linear{}, {x, a}, "out"), bias < 0 ? "" : "product");
  return bias < 0 ? y : c.add(Add{}, {y, bias});
}

}  // namespace

void import_linear(Call& c) {
  const ValueId x = c.tensor("input"), weight = c.parameter("weight");
  const ValueId bias = c.has("bias") ? c.tensor("bias") : -1;
  c.result(linear(c, x, weight, bias));
}

void import_addmm(Call& c) {
  const double alpha = c.number("alpha"), beta = c.number("beta");
  c.require(!c.ok() || (alpha == 1 && beta == 1), "alpha and beta other than 1 are not supported",
            std::to_string(alpha) + ", " + std::to_string(beta), "1, 1", "pt2.linear.alpha");
  const ValueId bias = c.tensor("self"), a = c.tensor("mat1"), b = c.tensor("mat2");
  c.result(product(c, a, b, bias));
}

void import_mm(Call& c) {
  const ValueId a = c.tensor("self"), b = c.tensor("mat2");
  c.result(product(c, a, b, -1));
}

void import_matmul(Call& c) {
  const ValueId a = c.tensor("self"), b = c.tensor("other");
  if (c.ok() && c.rank(b) == 2 && c.is_derived_from_constants(b)) return c.result(linear(c, a, transposed(c, b, "weight"), -1));
  c.require(!c.ok() || (c.rank(a) == 2 && c.rank(b) == 2), "a product of stacks of matrices is not supported",
            to_text(c.shape(a)) + " x " + to_text(c.shape(b)), "x [..,k] times a parameter [k,m]", "pt2.linear.batch");
  c.result(product(c, a, b, -1));
}

}  // namespace deuteron::pt2
