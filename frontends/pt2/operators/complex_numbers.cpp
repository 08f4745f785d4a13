// SPDX-License-Identifier: Apache-2.0
// Complex tensors: two real ones. Most operators work on either part alone; products, magnitudes
// and angles are compositions of both.
#include <fmt/format.h>

#include <cmath>

#include "frontends/pt2/operators/complex_products.h"
#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/kernel_result.h"

namespace deuteron::pt2 {
namespace {

using Complex = Call::Complex;

ValueId negated(Call& c, ValueId x, std::string_view suffix) {
  return apply(c, UnaryFn::neg, x, suffix);
}

ValueId power_of(Call& c, Complex z, std::string_view suffix) {
  return sum(c, apply(c, UnaryFn::pow, z.re, "real_squared", 2),
             apply(c, UnaryFn::pow, z.im, "imaginary_squared", 2), suffix);
}

bool is_complex_number(Call& c, std::string_view argument) {
  const Argument* a = c.argument(argument);
  return a && a->kind == Argument::Kind::complex;
}

// A complex or real tensor, or a number.
Complex complex_operand(Call& c, std::string_view argument) {
  if (is_complex_number(c, argument))
    return {number(c, c.argument(argument)->reals[0]), number(c, c.argument(argument)->reals[1])};
  return c.is_tensor(argument) ? c.complex_tensor(argument, true)
                               : Complex{c.operand(argument), -1};
}

void require_complex(Call& c, Complex a, Complex b) {
  c.require(!c.ok() || a.im >= 0 || b.im >= 0, "has a complex result of real operands", "", "",
            "pt2.operand.complex");
}

// [..] as an element of pairs, [..,1]
ValueId as_column(Call& c, ValueId x, std::string_view suffix) {
  if (!c.ok()) return -1;
  Shape s = c.shape(x);
  s.push_back(1);
  return c.reshape(x, std::move(s), suffix);
}

}  // namespace

// full, zeros and their like
static void import_complex_constant(Call& c) {
  const std::string_view name = c.operator_name();
  const TensorMeta* declared = c.result_meta(0);
  double re = name.find("ones") == std::string_view::npos ? 0 : 1, im = 0;
  if (is_complex_number(c, "fill_value"))
    re = c.argument("fill_value")->reals[0], im = c.argument("fill_value")->reals[1];
  else if (name.find("full") != std::string_view::npos) re = c.number("fill_value");
  if (!c.ok() || !c.may_make(2 * numel(declared->sizes))) return;
  const auto filled = [&](std::string_view suffix, double value) {
    return c.constant(
        suffix, declared->sizes,
        std::vector<float>(static_cast<size_t>(numel(declared->sizes)), static_cast<float>(value)));
  };
  c.complex_result(0, {filled("real", re), filled("imaginary", im)});
}

// Operators that are linear over the real numbers: each part alone.
static void import_each_part(Call& c) {
  const FoundRow found = find_import(c.target());
  DEUTERON_CHECK(found.row, std::string(c.target()));
  c.import_parts(found.row->import);
}

static void import_complex_add(Call& c) {
  Complex a = complex_operand(c, "self"), b = complex_operand(c, "other");
  const double factor =
      (c.has("alpha") ? c.number("alpha") : 1) * (c.operator_name() == "sub" ? -1 : 1);
  require_complex(c, a, b);
  if (!c.ok()) return;
  const ValueId re = sum(c, a.re, b.re, "real", factor);
  ValueId im = -1;
  if (a.im >= 0 && b.im >= 0) im = sum(c, a.im, b.im, "imaginary", factor);
  else im = a.im >= 0 ? a.im : product(c, b.im, number(c, factor), "imaginary");
  // A part that only one operand has is repeated as the other one is.
  if (c.ok()) im = expanded(c, im, Shape(c.shape(re)), "repeated");
  c.complex_result(0, {re, im});
}

// re * factor + im * other, of which nothing is computed that is times 0.
static ValueId scaled_sum(Call& c, Complex z, double of_real, double of_imaginary,
                          std::string_view suffix) {
  const auto part = [&](ValueId v, double factor) {
    return v < 0 || factor == 0 ? -1 : factor == 1 ? v : product(c, v, number(c, factor), suffix);
  };
  const ValueId a = part(z.re, of_real), b = part(z.im, of_imaginary);
  if (a >= 0 && b >= 0) return sum(c, a, b, suffix);
  if (a < 0 && b < 0) return with_imaginary_part(c, {z.re, -1}).im;  // zeros
  return std::max(a, b);
}

static void import_complex_mul(Call& c) {
  if (is_complex_number(c, "other")) {
    const Complex z = c.complex_tensor("self", true);
    const double re = c.argument("other")->reals[0], im = c.argument("other")->reals[1];
    if (c.ok())
      c.complex_result(0,
                       {scaled_sum(c, z, re, -im, "real"), scaled_sum(c, z, im, re, "imaginary")});
    return;
  }
  const Complex a = complex_operand(c, "self"), b = complex_operand(c, "other");
  require_complex(c, a, b);
  c.complex_result(0, complex_product(c, a, b));
}

// a conj(b) / |b|^2
static void import_complex_div(Call& c) {
  const Complex a = complex_operand(c, "self"), b = complex_operand(c, "other");
  require_complex(c, a, b);
  if (!c.ok()) return;
  if (b.im < 0)
    return c.complex_result(
        0, {quotient(c, a.re, b.re, "real"), quotient(c, a.im, b.re, "imaginary")});
  const Complex up = complex_product(c, a, {b.re, negated(c, b.im, "conjugate")});
  if (a.im < 0) {  // a real number by a complex one
    const ValueId factor = quotient(c, a.re, power_of(c, b, "power"), "factor");
    return c.complex_result(0, {product(c, factor, b.re, "real_part"),
                                product(c, factor, negated(c, b.im, "turned"), "imaginary_part")});
  }
  const ValueId down = power_of(c, b, "power");
  c.complex_result(
      0, {quotient(c, up.re, down, "real_part"), quotient(c, up.im, down, "imaginary_part")});
}

// conj(z) / |z|^2
static void import_complex_reciprocal(Call& c) {
  const Complex z = c.complex_tensor("self");
  const ValueId power = power_of(c, z, "power");
  c.complex_result(0, {quotient(c, z.re, power, "real"),
                       quotient(c, negated(c, z.im, "conjugate"), power, "imaginary")});
}

// z z .. z
static void import_complex_power(Call& c) {
  constexpr double kMostFactors = 8;
  const Complex z = c.complex_tensor("self");
  const double exponent = c.operator_name() == "square" ? 2 : c.number("exponent");
  c.require(
      !c.ok() || (exponent >= 1 && exponent <= kMostFactors && exponent == std::trunc(exponent)),
      "is a power of a complex number that is not a product of a few", fmt::format("{}", exponent),
      fmt::format("1..{}", kMostFactors), "pt2.complex.power");
  Complex y = z;
  for (double k = 1; k < exponent && c.ok(); ++k) y = complex_product(c, y, z);
  c.complex_result(0, y);
}

// What is padded has the value in its real part alone.
static void import_complex_pad(Call& c) {
  const double value = c.has("value") ? c.number("value") : 0;
  c.require(!c.ok() || value == 0, "pads complex numbers with another one than 0",
            fmt::format("{}", value), "0", "pt2.complex.pad");
  if (c.ok()) import_each_part(c);
}

// A real tensor as a complex one, or a complex one as it is.
static void import_complex_conversion(Call& c) {
  const Complex z = c.complex_tensor("self", true);
  const TensorMeta* declared = c.result_meta(0);
  c.require(!c.ok() || declared->dtype_code == kComplex64,
            "drops the imaginary part of a complex tensor", "", "", "pt2.complex.conversion");
  c.complex_result(0, with_imaginary_part(c, z));
}

static void import_complex_abs(Call& c) {
  c.result(apply(c, UnaryFn::sqrt, power_of(c, c.complex_tensor("self"), "power")));
}

// atan2(im, re), in float
static void import_complex_angle(Call& c) {
  const Complex z = c.complex_tensor("self");
  if (c.ok())
    c.result(kernel_result(c, "aten::atan2.out", {z.im, z.re}, {DType::f32, c.shape(z.re), {}}));
}

// A real tensor is its own real part.
static void import_real_part(Call& c) { c.result(c.complex_tensor("self", true).re); }
static void import_imaginary_part(Call& c) { c.result(c.complex_tensor("self").im); }

static void import_view_as_real(Call& c) {
  const Complex z = c.complex_tensor("self");
  if (!c.ok()) return;
  c.result(
      c.add(Concat{c.rank(z.re)}, {as_column(c, z.re, "real"), as_column(c, z.im, "imaginary")}));
}

static void import_view_as_complex(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 last = c.rank(x) - 1;
  c.require(!c.ok() || (last >= 0 && c.shape(x)[last] == 2), "the last axis is not a pair",
            c.ok() ? to_text(c.shape(x)) : "", "2", "pt2.complex.pair");
  if (!c.ok()) return;
  Shape s = c.shape(x);
  s.pop_back();
  const auto part = [&](i64 at, std::string_view name) {
    return c.reshape(c.add(Slice{last, at, 1, 1}, {x}, name), s, name);
  };
  c.complex_result(0, {part(0, "real"), part(1, "imaginary")});
}

static void import_complex(Call& c) { c.complex_result(0, {c.tensor("real"), c.tensor("imag")}); }

static void import_polar(Call& c) {
  const ValueId length = c.tensor("abs"), angle = c.tensor("angle");
  c.complex_result(0, {product(c, length, apply(c, UnaryFn::cos, angle, "cos"), "real"),
                       product(c, length, apply(c, UnaryFn::sin, angle, "sin"), "imaginary")});
}

// exp(re) (cos(im) + i sin(im))
static void import_complex_exp(Call& c) {
  const Complex z = c.complex_tensor("self");
  const ValueId length = apply(c, UnaryFn::exp, z.re, "length");
  c.complex_result(0, {product(c, length, apply(c, UnaryFn::cos, z.im, "cos"), "real"),
                       product(c, length, apply(c, UnaryFn::sin, z.im, "sin"), "imaginary")});
}

// Of a real tensor: itself.
static void import_conjugate(Call& c) {
  if (!c.is_complex("self")) return c.identity("self");
  const Complex z = c.complex_tensor("self");
  c.complex_result(0, {z.re, negated(c, z.im, "conjugate")});
}

// conj is lazy in torch: what makes it so is nothing here.
static void import_resolved(Call& c) {
  if (!c.is_complex("self")) return c.identity("self");
  c.complex_result(0, c.complex_tensor("self"));
}

static constexpr ImportRow kComplexNumbersRows[] = {
    {"aten._conj.default", import_conjugate},
    {"aten._conj_physical.default", import_conjugate},
    {"aten._to_copy.default", import_complex_conversion},
    {"aten._unsafe_view.default", import_each_part},
    {"aten.abs.default", import_complex_abs},
    {"aten.add.Tensor", import_complex_add, true},
    {"aten.alias.default", import_each_part},
    {"aten.angle.default", import_complex_angle},
    {"aten.cat.default", import_each_part},
    {"aten.chunk.default", import_each_part},
    {"aten.clone.default", import_each_part},
    {"aten.complex.default", import_complex},
    {"aten.conj.default", import_conjugate},
    {"aten.conj_physical.default", import_conjugate},
    {"aten.constant_pad_nd.default", import_complex_pad},
    {"aten.contiguous.default", import_each_part},
    {"aten.detach.default", import_each_part},
    {"aten.div.Tensor", import_complex_div, true},
    {"aten.exp.default", import_complex_exp},
    {"aten.expand.default", import_each_part},
    {"aten.fft_fftshift.default", import_each_part},
    {"aten.fft_ifftshift.default", import_each_part},
    {"aten.flatten.using_ints", import_each_part},
    {"aten.flip.default", import_each_part},
    {"aten.full.default", import_complex_constant},
    {"aten.full_like.default", import_complex_constant},
    {"aten.imag.default", import_imaginary_part},
    {"aten.index.Tensor", import_each_part},
    {"aten.index_select.default", import_each_part},
    {"aten.mean.dim", import_each_part},
    {"aten.movedim.int", import_each_part},
    {"aten.mul.Scalar", import_complex_mul, true},
    {"aten.mul.Tensor", import_complex_mul, true},
    {"aten.narrow.default", import_each_part},
    {"aten.neg.default", import_each_part},
    {"aten.new_zeros.default", import_complex_constant},
    {"aten.ones.default", import_complex_constant},
    {"aten.pad.default", import_complex_pad},
    {"aten.permute.default", import_each_part},
    {"aten.polar.default", import_polar},
    {"aten.pow.Tensor_Scalar", import_complex_power},
    {"aten.real.default", import_real_part},
    {"aten.reciprocal.default", import_complex_reciprocal},
    {"aten.repeat.default", import_each_part},
    {"aten.reshape.default", import_each_part},
    {"aten.resolve_conj.default", import_resolved},
    {"aten.resolve_neg.default", import_resolved},
    {"aten.roll.default", import_each_part},
    {"aten.select.int", import_each_part},
    {"aten.slice.Tensor", import_each_part},
    {"aten.split.Tensor", import_each_part},
    {"aten.split_with_sizes.default", import_each_part},
    {"aten.square.default", import_complex_power},
    {"aten.squeeze.default", import_each_part},
    {"aten.squeeze.dim", import_each_part},
    {"aten.squeeze.dims", import_each_part},
    {"aten.stack.default", import_each_part},
    {"aten.sub.Tensor", import_complex_add, true},
    {"aten.sum.default", import_each_part},
    {"aten.sum.dim_IntList", import_each_part},
    {"aten.to.dtype", import_complex_conversion},
    {"aten.transpose.int", import_each_part},
    {"aten.unbind.int", import_each_part},
    {"aten.unflatten.int", import_each_part},
    {"aten.unsqueeze.default", import_each_part},
    {"aten.view.default", import_each_part},
    {"aten.view_as_complex.default", import_view_as_complex},
    {"aten.view_as_complex_copy.default", import_view_as_complex},
    {"aten.view_as_real.default", import_view_as_real},
    {"aten.view_as_real_copy.default", import_view_as_real},
    {"aten.where.self", import_each_part},
    {"aten.zeros.default", import_complex_constant},
    {"aten.zeros_like.default", import_complex_constant},
};
ImportRows complex_numbers_rows() { return kComplexNumbersRows; }

}  // namespace deuteron::pt2
