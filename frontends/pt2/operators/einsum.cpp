// SPDX-License-Identifier: Apache-2.0
// einsum as permutes, sums and matrix products: operands are joined from the left, two at a time.
#include "frontends/pt2/operators/einsum.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "frontends/pt2/operators/complex_products.h"
#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/matrices.h"
#include "frontends/pt2/operators/reductions.h"

namespace deuteron::pt2 {
namespace {

// A value whose axes have names, a letter each.
struct Named {
  Call::Complex value;
  std::string axes;
};
const Shape& shape_of(Call& c, const Named& x) { return c.shape(x.value.re); }

bool has(const std::string& axes, char letter) { return axes.find(letter) != std::string::npos; }

Axes places_of(const std::string& wanted, const std::string& axes) {
  Axes places;
  for (const char letter : wanted) places.push_back(static_cast<i64>(axes.find(letter)));
  return places;
}

void require_same(Call& c, char letter, i64 left, i64 right) {
  c.require(left == right, fmt::format("axis `{}` has two extents", letter), std::to_string(left),
            std::to_string(right), "pt2.einsum.extent");
}

// Sums over the axes that are not in `kept`.
Named without_others(Call& c, Named x, const std::string& kept) {
  if (!c.ok()) return x;
  Axes gone;
  Shape shape;
  std::string axes;
  for (size_t k = 0; k < x.axes.size(); ++k) {
    if (!has(kept, x.axes[k])) gone.push_back(static_cast<i64>(k));
    else axes += x.axes[k], shape.push_back(shape_of(c, x)[k]);
  }
  if (gone.empty()) return x;
  return {each_part(x.value,
                    [&](ValueId v) {
                      return c.reshape(reduced(c, Reduce::kSum, v, gone, "summed"), shape,
                                       "summed");
                    }),
          axes};
}

// One axis for each letter: of two with the same one the diagonal is meant.
Named without_repeats(Call& c, Named x) {
  for (size_t a = 0; a < x.axes.size() && c.ok();) {
    const char letter = x.axes[a];
    const size_t b = x.axes.find(letter, a + 1);
    if (b == std::string::npos) {
      ++a;
      continue;
    }
    require_same(c, letter, shape_of(c, x)[a], shape_of(c, x)[b]);
    x.value = each_part(x.value, [&](ValueId v) {
      return diagonal_of(c, v, 0, static_cast<i64>(a), static_cast<i64>(b), "diagonal");
    });
    x.axes.erase(b, 1).erase(a, 1);
    x.axes += letter;
  }
  return x;
}

i64 extent(Call& c, const Named& x, const std::string& letters) {
  i64 product = 1;
  for (const char letter : letters) product *= shape_of(c, x)[x.axes.find(letter)];
  return product;
}

// With the axes in `order`, and then in that shape.
Call::Complex arranged(Call& c, const Named& x, const std::string& order, const Shape& shape,
                       std::string_view suffix) {
  if (!c.ok()) return {};
  return each_part(x.value, [&](ValueId v) {
    return c.reshape(c.permute(v, places_of(order, x.axes), suffix), shape, suffix);
  });
}

// What `a` and `b` make of each other, with the axes that anybody still wants.
Named joined(Call& c, Named a, Named b, const std::string& wanted) {
  a = without_others(c, a, wanted + b.axes);
  b = without_others(c, b, wanted + a.axes);
  if (!c.ok()) return {};
  std::string batch, inner, of_a, of_b;
  for (const char letter : a.axes)
    (has(b.axes, letter) ? has(wanted, letter) ? batch : inner : of_a) += letter;
  for (const char letter : b.axes)
    if (!has(a.axes, letter)) of_b += letter;
  for (const char letter : batch + inner)
    require_same(c, letter, shape_of(c, a)[a.axes.find(letter)],
                 shape_of(c, b)[b.axes.find(letter)]);
  if (!c.ok()) return {};
  Shape batches, result;
  for (const char letter : batch) batches.push_back(shape_of(c, a)[a.axes.find(letter)]);
  result = batches;
  for (const char letter : of_a) result.push_back(shape_of(c, a)[a.axes.find(letter)]);
  for (const char letter : of_b) result.push_back(shape_of(c, b)[b.axes.find(letter)]);
  const i64 rows = extent(c, a, of_a), columns = extent(c, b, of_b), depth = extent(c, a, inner);
  Shape left = batches, right = batches;
  left.insert(left.end(), {rows, depth});
  right.insert(right.end(), {depth, columns});
  const Call::Complex x = arranged(c, a, batch + of_a + inner, left, "left"),
                      y = arranged(c, b, batch + inner + of_b, right, "right");
  const Call::Complex z =
      inner.empty() ? complex_product(c, x, y) : complex_matrix_product(c, x, y);
  if (!c.ok()) return {};
  return {each_part(z, [&](ValueId v) { return c.reshape(v, result, "joined"); }),
          batch + of_a + of_b};
}

// "bthd,bshd->bhts" as a list of names and the result's; `...` becomes letters that nobody uses.
struct Equation {
  std::vector<std::string> operands;
  std::string result;
};

std::optional<Equation> parse(const std::string& text, const std::vector<i64>& ranks) {
  Equation e;
  std::string plain;
  for (const char letter : text)
    if (letter != ' ') plain += letter;
  const size_t arrow = plain.find("->");
  std::string left = plain.substr(0, arrow);
  for (size_t at = 0; at <= left.size();) {
    const size_t end = std::min(left.find(',', at), left.size());
    e.operands.push_back(left.substr(at, end - at));
    at = end + 1;
  }
  if (e.operands.size() != ranks.size()) return std::nullopt;
  i64 most = 0;  // axes behind `...`
  for (size_t k = 0; k < ranks.size(); ++k)
    if (has(e.operands[k], '.'))
      most = std::max(most, ranks[k] - static_cast<i64>(e.operands[k].size()) + 3);
  if (most > 8) return std::nullopt;
  const std::string hidden = std::string("01234567").substr(0, static_cast<size_t>(most));
  const auto expand = [&](std::string& names, i64 count) {
    const size_t dots = names.find("...");
    if (dots == std::string::npos) return;
    names.replace(
        dots, 3,
        hidden.substr(hidden.size() - static_cast<size_t>(std::clamp<i64>(count, 0, most))));
  };
  for (size_t k = 0; k < ranks.size(); ++k) {
    std::string& names = e.operands[k];
    expand(names, ranks[k] - static_cast<i64>(names.size()) + 3);
    if (static_cast<i64>(names.size()) != ranks[k]) return std::nullopt;
  }
  if (arrow != std::string::npos) {
    e.result = plain.substr(arrow + 2);
    expand(e.result, most);
  } else {  // the hidden ones, then what occurs once, in order of the alphabet
    std::string all;
    for (const std::string& names : e.operands) all += names;
    std::sort(all.begin(), all.end());
    for (const char letter : all)
      if (has(hidden, letter) ? !has(e.result, letter)
                              : std::count(all.begin(), all.end(), letter) == 1)
        e.result += letter;
  }
  for (const std::string& names : e.operands)
    for (const char letter : names)
      if (!std::isalnum(static_cast<unsigned char>(letter))) return std::nullopt;
  for (const char letter : e.result)
    if (std::none_of(e.operands.begin(), e.operands.end(),
                     [&](const std::string& names) { return has(names, letter); }) ||
        std::count(e.result.begin(), e.result.end(), letter) != 1)
      return std::nullopt;
  return e;
}

}  // namespace

// Of real and complex operands.
static Call::Complex summed_products(Call& c, const std::string& text,
                                     const std::vector<Call::Complex>& operands) {
  if (!c.ok()) return {};
  std::vector<i64> ranks;
  for (const Call::Complex z : operands) ranks.push_back(c.rank(z.re));
  const std::optional<Equation> e = parse(text, ranks);
  c.require(e.has_value() && !operands.empty(),
            "the equation does not fit its operands, or repeats an axis of the result", text,
            "each axis once in the result", "pt2.einsum.equation");
  if (!c.ok()) return {};
  Named y = without_repeats(c, {operands[0], e->operands[0]});
  for (size_t k = 1; k < operands.size() && c.ok(); ++k) {
    std::string wanted = e->result;
    for (size_t later = k + 1; later < operands.size(); ++later) wanted += e->operands[later];
    y = joined(c, y, without_repeats(c, {operands[k], e->operands[k]}), wanted);
  }
  y = without_others(c, y, e->result);
  if (!c.ok()) return {};
  return each_part(y.value, [&](ValueId v) { return c.permute(v, places_of(e->result, y.axes)); });
}

Call::Complex einsum(Call& c, const std::vector<Call::Complex>& operands) {
  return summed_products(c, c.text("equation"), operands);
}

// The sum over some axes of a product of three tensors, each of which lacks the axes that its list
// names.
static void import_trilinear(Call& c) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOperands = {
      {{"i1", "expand1"}, {"i2", "expand2"}, {"i3", "expand3"}}};
  constexpr std::string_view kLetters = "abcdefgh";
  std::vector<Call::Complex> operands;
  std::vector<std::string> names;
  for (const auto& [operand, expanded_axes] : kOperands) {
    const ValueId x = c.tensor(operand);
    const i64 rank = c.rank(x) + static_cast<i64>(c.integers(expanded_axes).size());
    c.require(!c.ok() || rank <= static_cast<i64>(kLetters.size()), "has too many axes",
              std::to_string(rank), std::to_string(kLetters.size()), "pt2.einsum.rank");
    if (!c.ok()) return;
    std::string axes(kLetters.substr(0, static_cast<size_t>(rank)));
    for (const i64 axis : c.axes(expanded_axes, rank)) axes[static_cast<size_t>(axis)] = ' ';
    std::erase(axes, ' ');
    operands.push_back({x, -1});
    names.push_back(std::move(axes));
  }
  const i64 rank = c.rank(operands[0].re) + static_cast<i64>(c.integers("expand1").size());
  std::string result(kLetters.substr(0, static_cast<size_t>(rank)));
  for (const i64 axis : c.axes("sumdim", rank)) result[static_cast<size_t>(axis)] = ' ';
  std::erase(result, ' ');
  c.result(summed_products(c, fmt::format("{}->{}", fmt::join(names, ","), result), operands).re);
}

static void import_einsum(Call& c) {
  std::vector<Call::Complex> operands;
  for (const ValueId v : c.tensors("tensors")) operands.push_back({v, -1});
  c.result(einsum(c, operands).re);
}

static constexpr ImportRow kEinsumRows[] = {
    {"aten._trilinear.default", import_trilinear},
    {"aten.einsum.default", import_einsum},
};
ImportRows einsum_rows() { return kEinsumRows; }

}  // namespace deuteron::pt2
