// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/operators/complex_products.h"

#include <algorithm>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/matrix_product.h"

namespace deuteron::pt2 {
namespace {

using Complex = Call::Complex;

Complex without_zero_part(Call& c, Complex z) {
  if (!c.ok() || z.im < 0) return z;
  const auto known = c.known_numbers(z.im);
  return known && std::all_of(known->begin(), known->end(), [](float v) { return v == 0; })
             ? Complex{z.re, -1}
             : z;
}

// One behind the other, along an axis that is counted from the end.
ValueId joined_parts(Call& c, i64 from_end, ValueId a, ValueId b, std::string_view suffix) {
  return c.ok() ? c.add(Concat{c.rank(a) - from_end}, {a, b}, suffix) : -1;
}

// The two halves of an axis that is counted from the end.
Complex two_halves(Call& c, i64 from_end, ValueId y) {
  if (!c.ok()) return {};
  const i64 axis = c.rank(y) - from_end, half = c.shape(y)[axis] / 2;
  return {c.add(Slice{axis, 0, half, 1}, {y}, "real"),
          c.add(Slice{axis, half, half, 1}, {y}, "imaginary")};
}

// Of matrices, one of which at least is complex.
Complex product_of_matrices(Call& c, Complex a, Complex b) {
  if (b.im < 0)
    return two_halves(
        c, 2, matrix_product(c, joined_parts(c, 2, a.re, a.im, "rows"), b.re, 1, "product"));
  const ValueId row = joined_parts(c, 1, b.re, b.im, "columns");
  if (a.im < 0) return two_halves(c, 1, matrix_product(c, a.re, row, 1, "product"));
  const ValueId turned =
      joined_parts(c, 1, apply(c, UnaryFn::neg, b.im, "negated"), b.re, "turned");
  return two_halves(c, 1,
                    matrix_product(c, joined_parts(c, 1, a.re, a.im, "row"),
                                   joined_parts(c, 2, row, turned, "weight"), 1, "product"));
}

}  // namespace

Complex complex_product(Call& c, Complex a, Complex b) {
  if (!c.ok()) return {};
  if (a.im < 0) std::swap(a, b);
  if (a.im < 0) return {product(c, a.re, b.re, "product"), -1};
  if (b.im < 0) return {product(c, a.re, b.re, "real"), product(c, a.im, b.re, "imaginary")};
  const ValueId re = difference(c, product(c, a.re, b.re, "real_real"),
                                product(c, a.im, b.im, "imaginary_imaginary"), "real");
  return {re, sum(c, product(c, a.re, b.im, "real_imaginary"),
                  product(c, a.im, b.re, "imaginary_real"), "imaginary")};
}

Complex complex_matrix_product(Call& c, Complex a, Complex b) {
  a = without_zero_part(c, a), b = without_zero_part(c, b);
  if (!c.ok()) return {};
  if (a.im < 0 && b.im < 0) return {matrix_product(c, a.re, b.re, 1, "product"), -1};
  const i64 of_a = c.rank(a.re), of_b = c.rank(b.re);
  c.require(of_a > 0 && of_b > 0, "multiplies a tensor without axes", to_text(c.shape(a.re)),
            to_text(c.shape(b.re)), "pt2.matmul.rank");
  if (!c.ok()) return {};
  if (of_a == 1)
    a = each_part(a, [&](ValueId v) { return c.reshape(v, {1, c.shape(v)[0]}, "row"); });
  if (of_b == 1)
    b = each_part(b, [&](ValueId v) { return c.reshape(v, {c.shape(v)[0], 1}, "column"); });
  if (!c.ok()) return {};
  const Complex y = product_of_matrices(c, a, b);
  if (!c.ok() || (of_a > 1 && of_b > 1)) return y;
  Shape shape = c.shape(y.re);
  if (of_b == 1) shape.pop_back();
  if (of_a == 1) shape.erase(shape.end() - (of_b == 1 ? 1 : 2));
  return each_part(y, [&](ValueId v) { return c.reshape(v, shape, "vector"); });
}

Complex with_imaginary_part(Call& c, Complex z) {
  if (!c.ok() || z.im >= 0 || !c.may_make(c.type(z.re).elements())) return z;
  return {z.re, c.constant("imaginary", c.shape(z.re),
                           std::vector<float>(static_cast<size_t>(c.type(z.re).elements()), 0.0f))};
}

}  // namespace deuteron::pt2
